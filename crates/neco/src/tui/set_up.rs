//! Whether there is a model, and the window that offers one when there is none.

use std::path::Path;
use std::sync::Arc;

use neco_app::{StorelessApp, services};
use neco_config::{Env, LoadOptions};
use neco_model::SetupError;
use neco_tui::Looks;
use neco_tui::line::run::listen;
use neco_tui::set_up::{self, Talked};
use tokio::sync::oneshot;

use super::looks;
use super::open::until_closed;
use crate::args::{EverywhereArgs, RunArgs};
use crate::cmd;
use crate::compose;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::say;
use crate::signals::InterruptMask;

/// What came of it.
pub enum Outcome {
    /// There is a model, or it is not for us to say.
    Ready,
    /// The person left.
    Left(Exit),
}

/// Offers a model when there is none. A session that goes on has its own, and `--model` names one.
pub fn offer(
    args: &RunArgs,
    goes_on: bool,
    folder: &Path,
    everywhere: &EverywhereArgs,
    env: &Env,
) -> Result<Outcome, Failure> {
    if goes_on || args.model.is_some() {
        return Ok(Outcome::Ready);
    }
    let mut typed = None;
    let mut is_first = true;
    // The person wants another model than that of the settings.
    let mut is_refused = false;
    loop {
        let loaded = neco_config::load(LoadOptions { env, cwd: folder, overrides: &everywhere.overrides })?;
        let models = services::models(&loaded.config, env)?;
        let default = models.default_name();
        if !matches!(default, Err(SetupError::NoModel(_))) && typed.is_none() && !is_refused {
            let keyless = default.and_then(|name| models.provider_for(&name).map(|_| name));
            let Err(SetupError::MissingKey { provider, .. }) = keyless else { return Ok(Outcome::Ready) };
            say::note(&format!("The model of your settings is one of {provider}, which needs a key"));
            say::out("   Esc for other models   Ctrl-C leave\n")?;
            match cmd::auth::set_below_window(&provider, false, everywhere, env)? {
                Some(Exit::Done) => continue,
                Some(stopped) => {
                    say::note("No key typed. `neco` asks again");
                    return Ok(Outcome::Left(stopped));
                }
                None => is_refused = true,
            }
        }
        let looks = looks::of(&loaded, env, loaded.config.agent.max_turns)?;
        // The first window said who asks; the next one goes on below it.
        let greeting = if std::mem::take(&mut is_first) { looks.greeting } else { String::new() };
        let looks = Looks { greeting, ..looks };
        let talked = match show(folder, typed.take(), looks, everywhere, env)? {
            Ok(talked) => talked,
            Err(stopped) => return Ok(Outcome::Left(stopped)),
        };
        match talked {
            Talked::Done => return Ok(Outcome::Ready),
            Talked::Again => {}
            Talked::Left => {
                say::note("No model chosen. `neco` asks again; `neco demo` works without one");
                return Ok(Outcome::Left(Exit::Done));
            }
            Talked::NeedsKey(provider) => {
                // One that is kept already was refused.
                let replace = !services::models(&loaded.config, env)?.key_sources(&provider).is_empty();
                say::out("\n   Esc back to the list   Ctrl-C leave\n")?;
                match cmd::auth::set_below_window(&provider, replace, everywhere, env) {
                    Ok(Some(Exit::Done)) => typed = Some(provider),
                    Ok(Some(stopped)) => {
                        say::note("No key typed. `neco` asks again");
                        return Ok(Outcome::Left(stopped));
                    }
                    Ok(None) => say::out("   No key was saved\n")?,
                    Err(failure) => say::note(&failure.message),
                }
            }
        }
    }
}

/// Shows the window while the talk goes on; gives what it came to, or the signal that ended it.
fn show(
    folder: &Path,
    typed: Option<String>,
    looks: Looks,
    everywhere: &EverywhereArgs,
    env: &Env,
) -> Result<Result<Talked, Exit>, Failure> {
    let runtime = compose::runtime()?;
    let signals = listen(&runtime, &InterruptMask::default())?;
    let app = Arc::new(StorelessApp::new(env.clone(), everywhere.overrides.clone()));
    let mut talked = Talked::Left;
    let window = async {
        talked = set_up::run(app, folder.display().to_string(), typed, looks).await?;
        Ok(())
    };
    // Nothing is told of a session here.
    let (_, is_written) = oneshot::channel();
    let seen = runtime.block_on(until_closed(window, signals, is_written));
    runtime.shutdown_background();
    Ok(match seen? {
        Exit::Done => Ok(talked),
        stopped => Err(stopped),
    })
}
