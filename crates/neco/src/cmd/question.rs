//! Questions to the program that are answered from files, with no session open.

use neco_app::LocalApp;
use neco_app::services::{self, ServiceSetup};
use neco_config::{Config, Env};
use neco_proto::app::{App, Caller, Request};

use crate::args::EverywhereArgs;
use crate::compose;
use crate::exit::Exit;
use crate::failure::Failure;

/// Asks the program.
///
/// # Errors
/// When it can't answer.
pub async fn ask<R: Request>(app: &dyn App, request: &R) -> Result<R::Answer, Failure> {
    Ok(app.ask(&Caller::person(), request).await?)
}

/// Asks the program one thing.
///
/// # Errors
/// When it can't answer.
pub fn ask_once<R: Request>(request: &R, everywhere: &EverywhereArgs, env: &Env) -> Result<R::Answer, Failure> {
    with_app(everywhere, env, async |app| ask(app, request).await)
}

/// Does something with the program. What is in files is told although the store can't be opened: an empty one stands
/// in for it then.
///
/// # Errors
/// When that can't be done.
pub fn with_app<T>(
    everywhere: &EverywhereArgs,
    env: &Env,
    does: impl AsyncFnOnce(&dyn App) -> Result<T, Failure>,
) -> Result<T, Failure> {
    let runtime = compose::runtime()?;
    let done = runtime.block_on(async {
        let (store, stands_in) = match compose::open_store(env.data_dir()).await {
            Ok(store) => (store, None),
            Err(failure) => {
                let Ok(empty) = tempfile::tempdir() else { return Err(failure) };
                (compose::open_store(empty.path()).await?, Some((empty, failure)))
            }
        };
        let hub = services::hub(&store, ServiceSetup::bare(env, &Config::built_in()))?;
        let app = LocalApp::new(store, hub, env.clone(), everywhere.overrides.clone());
        let done = does(&app).await;
        app.close().await?;
        match (done, stands_in) {
            // It was something that only the store knows.
            (Err(failed), Some((_, failure))) if failed.exit == Exit::Failed => Err(failure),
            (done, _) => done,
        }
    });
    // A read that hangs on a dead disk must not keep the process.
    runtime.shutdown_background();
    done
}
