//! The program, as subcommands ask it that need no session: without its store, with files alone, with its store; or that
//! of a server.

use std::sync::Arc;

use neco_app::services::{self, STORE_FILE, ServiceSetup};
use neco_app::{LocalApp, StorelessApp};
use neco_config::{Config, Env, LoadOptions};
use neco_proto::app::{App, AppError, Caller, Request};
use neco_store::SqliteStore;
use serde::Serialize;
use serde_json::json;
use tokio::runtime::Runtime;

use crate::args::{EverywhereArgs, JsonArg};
use crate::exit::Exit;
use crate::failure::Failure;
use crate::run::opener::TerminalOpener;
use crate::{compose, log, say, server};

/// The program without its store.
pub fn without_store(everywhere: &EverywhereArgs, env: &Env) -> StorelessApp {
    StorelessApp::new(env.clone(), everywhere.overrides.clone())
}

/// The same, or that of the server that is named. It is reached on this runtime.
pub fn without_store_or_server(
    everywhere: &EverywhereArgs,
    env: &Env,
    runtime: &Runtime,
) -> Result<Box<dyn App>, Failure> {
    match server::named(everywhere, env) {
        Some(url) => Ok(Box::new(runtime.block_on(server::reach(url, env))?)),
        None => Ok(Box::new(without_store(everywhere, env))),
    }
}

/// Asks the program, and says what it found on the way to a failure.
pub fn ask<R: Request>(request: &R, everywhere: &EverywhereArgs, env: &Env) -> Result<R::Answer, Failure> {
    asked(request, everywhere, env)?.map_err(|error| {
        notes(&error.warnings);
        error.into()
    })
}

/// The same where what it finds on the way was said already.
///
/// # Errors
/// When nothing can be asked; the program's own error is its answer.
pub fn asked<R: Request>(
    request: &R,
    everywhere: &EverywhereArgs,
    env: &Env,
) -> Result<Result<R::Answer, AppError>, Failure> {
    let app: &dyn App = &without_store(everywhere, env);
    block_on(async {
        match server::named(everywhere, env) {
            Some(url) => Ok((&server::reach(url, env).await? as &dyn App).ask(&Caller::person(), request).await),
            None => Ok(app.ask(&Caller::person(), request).await),
        }
    })
}

/// Says what an answer has to be read with.
pub fn notes(warnings: &[String]) {
    warnings.iter().for_each(|warning| say::note(warning));
}

/// Prints an answer: as JSON for programs, as lines for people.
pub fn print(json: JsonArg, answer: &impl Serialize, lines: impl FnOnce() -> String) -> Result<Exit, Failure> {
    say::out(&if json.json { format!("{:#}\n", json!(answer)) } else { lines() })?;
    Ok(Exit::Done)
}

/// The same where lines are broken between words; what follows stands `hanging` columns from the left.
pub fn print_hanging(
    json: JsonArg,
    answer: &impl Serialize,
    hanging: usize,
    lines: impl FnOnce() -> String,
) -> Result<Exit, Failure> {
    match json.json {
        true => print(json, answer, String::new),
        false => say::lines(&lines(), hanging).map(|()| Exit::Done),
    }
}

/// The folder to work in, as requests name it.
pub fn folder(everywhere: &EverywhereArgs) -> Result<String, Failure> {
    Ok(crate::folder(everywhere)?.display().to_string())
}

/// Asks a program that is open.
pub async fn ask_of<R: Request>(app: &dyn App, request: &R) -> Result<R::Answer, Failure> {
    Ok(app.ask(&Caller::person(), request).await?)
}

/// Asks the program one thing that is in files.
pub fn ask_once<R: Request>(request: &R, everywhere: &EverywhereArgs, env: &Env) -> Result<R::Answer, Failure> {
    with_files(everywhere, env, async |app| ask_of(app, request).await)
}

/// Does something with the program that is in files. It is told although the store can't be opened, or is not there
/// yet: an empty one stands in for it then, and nothing that is written to it stays.
pub fn with_files<T>(
    everywhere: &EverywhereArgs,
    env: &Env,
    does: impl AsyncFnOnce(&dyn App) -> Result<T, Failure>,
) -> Result<T, Failure> {
    block_on(async {
        if let Some(url) = server::named(everywhere, env) {
            return does(&server::reach(url, env).await?).await;
        }
        let there = env.data_dir().join(STORE_FILE).exists();
        let opened = if there { Some(compose::open_store(env.data_dir()).await) } else { None };
        let unopened = match opened {
            Some(Ok(store)) => return on(store, everywhere, env, does).await,
            Some(Err(failure)) => Some(failure),
            None => None,
        };
        let no_folder = |error| Failure::new(Exit::Failed, format!("a temporary folder can't be made: {error}"));
        let empty = match tempfile::tempdir() {
            Ok(empty) => empty,
            Err(error) => return Err(unopened.unwrap_or_else(|| no_folder(error))),
        };
        let done = on(compose::open_store(empty.path()).await?, everywhere, env, does).await;
        // What failed may be something that only the store knows.
        done.map_err(|failure| unopened.filter(|_| failure.exit == Exit::Failed).unwrap_or(failure))
    })
}

/// Does something with the program that is in the store.
pub async fn with_store<T>(
    everywhere: &EverywhereArgs,
    env: &Env,
    does: impl AsyncFnOnce(&dyn App) -> Result<T, Failure>,
) -> Result<T, Failure> {
    if let Some(url) = server::named(everywhere, env) {
        return does(&server::reach(url, env).await?).await;
    }
    on(compose::open_store(env.data_dir()).await?, everywhere, env, does).await
}

/// Waits for something that needs no session.
pub fn block_on<T>(done: impl Future<Output = Result<T, Failure>>) -> Result<T, Failure> {
    let runtime = compose::runtime()?;
    let done = runtime.block_on(done);
    // A read that hangs on a dead disk must not keep the process.
    runtime.shutdown_background();
    done
}

async fn on<T>(
    store: Arc<SqliteStore>,
    everywhere: &EverywhereArgs,
    env: &Env,
    does: impl AsyncFnOnce(&dyn App) -> Result<T, Failure>,
) -> Result<T, Failure> {
    let app = on_store(store, everywhere, env)?;
    let done = does(&app).await;
    app.close().await?;
    done
}

/// The program on a store, with the settings of the folder that is worked in: broken ones are no reason not to show what
/// was said.
pub fn on_store(store: Arc<SqliteStore>, everywhere: &EverywhereArgs, env: &Env) -> Result<LocalApp, Failure> {
    let here = everywhere.cwd.clone().or_else(|| std::env::current_dir().ok()).unwrap_or_default();
    let loaded = neco_config::load(LoadOptions { env, cwd: &here, overrides: &everywhere.overrides });
    let config = loaded.map_or_else(|_| Config::built_in(), |loaded| loaded.config);
    let setup = ServiceSetup { environment: services::environment(env), ..ServiceSetup::bare(env, &config) };
    let hub = services::hub(&store, setup)?;
    log::hide(&hub.redactor());
    let app = LocalApp::new(store, hub, env.clone(), everywhere.overrides.clone());
    Ok(app.reaching(Arc::new(TerminalOpener::new(env, false, false))))
}
