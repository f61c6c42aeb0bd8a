//! The program, as subcommands ask it that need no session.

use neco_app::StorelessApp;
use neco_config::Env;
use neco_proto::app::{App, AppError, Caller, Request};

use crate::args::EverywhereArgs;
use crate::failure::Failure;
use crate::{compose, say};

/// The program without its store.
#[must_use]
pub fn without_store(everywhere: &EverywhereArgs, env: &Env) -> StorelessApp {
    StorelessApp::new(env.clone(), everywhere.overrides.clone())
}

/// Asks the program, and says what it found on the way to a failure.
///
/// # Errors
/// When what was asked for can't be had.
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
    Ok(compose::runtime()?.block_on(app.ask(&Caller::person(), request)))
}

/// Says what an answer has to be read with.
pub fn notes(warnings: &[String]) {
    warnings.iter().for_each(|warning| say::note(warning));
}

/// The folder to work in, as requests name it.
///
/// # Errors
/// When it can't be used.
pub fn folder(everywhere: &EverywhereArgs) -> Result<String, Failure> {
    Ok(crate::folder(everywhere)?.display().to_string())
}
