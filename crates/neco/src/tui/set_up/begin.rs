//! Whether there is a model, and the window that offers one when there is none.

use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};

use futures::FutureExt;
use futures::future::BoxFuture;
use neco_app::services;
use neco_config::{Env, LoadOptions, Loaded};
use neco_model::SetupError;
use neco_proto::Client;
use neco_proto::app::sessions::{ListSessions, SessionPage};
use neco_proto::app::{App, AppError, Call, Caller};
use neco_tui::Looks;
use neco_tui::host::{Edited, Host, Wanted};
use serde_json::Value;

use super::stand_in::StandIn;
use super::talk::{Talk, Talked};
use crate::args::{AuthCommand, EverywhereArgs, RunArgs};
use crate::cmd;
use crate::compose;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::run::drive::listen;
use crate::say;
use crate::signals::InterruptMask;
use crate::tui::looks;
use crate::tui::open::until_closed;

/// What came of it.
pub enum Outcome {
    /// There is a model, or it is not for us to say.
    Ready,
    /// The person left.
    Left(Exit),
}

/// Offers a model when there is none. A session that goes on has its own, and `--model` names one.
///
/// # Errors
/// When the settings can't be read, or the terminal can't be used.
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
    loop {
        let loaded = neco_config::load(LoadOptions { env, cwd: folder, overrides: &everywhere.overrides })?;
        let models = services::models(&loaded.config, env)?;
        let missing = matches!(models.default_name(), Err(SetupError::NoModel(_)));
        if !missing && typed.is_none() {
            return Ok(Outcome::Ready);
        }
        let (stand_in, answers) = StandIn::new(folder.display().to_string());
        let talk = Talk { stand_in: Arc::clone(&stand_in), answers, models, env: env.clone() };
        match show(talk, typed.take(), &stand_in, &loaded, env)? {
            Seen::Stopped(exit) => return Ok(Outcome::Left(exit)),
            Seen::Talked(Talked::Done) => return Ok(Outcome::Ready),
            Seen::Talked(Talked::Again) => {}
            Seen::Talked(Talked::Left) => {
                say::note("no model was chosen, so Neco ends; `neco` asks again, `neco demo` works without one");
                return Ok(Outcome::Left(Exit::Done));
            }
            Seen::Talked(Talked::NeedsKey(provider)) => {
                say::note("an empty line goes back to the list, Ctrl-C leaves Neco");
                // One that is kept already was refused.
                let replace = !services::models(&loaded.config, env)?.key_sources(&provider).is_empty();
                let set = AuthCommand::Set { provider: provider.clone(), replace, rest: Vec::new() };
                match cmd::auth::run(&set, everywhere, env) {
                    Ok(Exit::Done) => typed = Some(provider),
                    Ok(stopped) => {
                        say::note("no key was typed, so Neco ends");
                        return Ok(Outcome::Left(stopped));
                    }
                    Err(failure) => say::note(&failure.message),
                }
            }
        }
    }
}

/// How the window was left.
enum Seen {
    /// By the talk.
    Talked(Talked),
    /// By a signal.
    Stopped(Exit),
}

/// Shows the window while the talk goes on.
fn show(
    talk: Talk,
    typed: Option<String>,
    stand_in: &Arc<StandIn>,
    loaded: &Loaded,
    env: &Env,
) -> Result<Seen, Failure> {
    let runtime = compose::runtime()?;
    let looks = Looks { set_up: true, ..looks::of(loaded, env, loaded.config.agent.max_turns)? };
    let talked = Arc::new(Mutex::new(Talked::Left));
    let (outcome, ends) = (Arc::clone(&talked), Arc::clone(stand_in));
    runtime.spawn(async move {
        let came_to = talk.run(typed).await;
        *outcome.lock().unwrap_or_else(PoisonError::into_inner) = came_to;
        ends.end();
    });
    let host = Arc::new(SetUpHost(Arc::clone(stand_in)));
    let signals = listen(&runtime, &InterruptMask::default())?;
    let window = neco_tui::run::run(host.clone(), host, Wanted::New, None, looks);
    let seen = runtime.block_on(until_closed(window, signals));
    runtime.shutdown_background();
    match seen? {
        Exit::Done => Ok(Seen::Talked(talked.lock().unwrap_or_else(PoisonError::into_inner).clone())),
        stopped => Ok(Seen::Stopped(stopped)),
    }
}

/// A window without sessions, files or anything else.
struct SetUpHost(Arc<StandIn>);

impl Host for SetUpHost {
    fn open(&self, _: Wanted) -> BoxFuture<'_, Result<Arc<dyn Client>, AppError>> {
        let client: Arc<dyn Client> = self.0.clone();
        async move { Ok(client) }.boxed()
    }

    fn close(&self, _: Arc<dyn Client>) -> BoxFuture<'_, ()> {
        async {}.boxed()
    }

    fn folder(&self) -> String {
        String::new()
    }

    fn edit_text(&self, _: String) -> BoxFuture<'_, Result<Option<String>, AppError>> {
        async { Ok(None) }.boxed()
    }

    fn edit_call(&self, _: String, _: Value) -> BoxFuture<'_, Result<Option<Edited>, AppError>> {
        async { Ok(None) }.boxed()
    }

    fn history(&self) -> Vec<String> {
        Vec::new()
    }

    fn remember(&self, _: &str) {}

    /// The talk is over, and its last words were said.
    fn ended(&self) -> Option<String> {
        None
    }
}

/// There are no sessions yet, and there is nothing else to be asked.
impl App for SetUpHost {
    fn call<'a>(&'a self, _: &'a Caller, call: Call) -> BoxFuture<'a, Result<Value, AppError>> {
        async move { call.answer::<ListSessions>(SessionPage::default()) }.boxed()
    }
}
