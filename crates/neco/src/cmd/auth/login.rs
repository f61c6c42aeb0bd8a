//! `neco auth login`: a login in the browser instead of a key.

use neco_app::login::{BrowserLogin, InBrowser};
use neco_config::Env;
use neco_proto::app::Trouble;
use neco_tui::line::run::listen;

use crate::args::EverywhereArgs;
use crate::cmd::program::{folder, notes, without_store};
use crate::exit::Exit;
use crate::failure::Failure;
use crate::print::clean::clean_line;
use crate::signals::InterruptMask;
use crate::{compose, say};

/// Logs in at `provider` and keeps what that gives.
///
/// # Errors
/// When there is no such login, or it fails; then nothing is changed.
pub fn run(provider: &str, everywhere: &EverywhereArgs, env: &Env) -> Result<Exit, Failure> {
    let login = BrowserLogin::find(&without_store(everywhere, env), &folder(everywhere)?, provider)?;
    notes(&login.warnings);
    let runtime = compose::runtime()?;
    let mut signals = listen(&runtime, &InterruptMask::default())?;
    let kept = runtime.block_on(async {
        tokio::select! {
            kept = login.run(show) => Ok(kept),
            signal = signals.next() => Err(signal),
        }
    });
    match kept {
        Ok(Ok(file)) => {
            say::out(&format!("logged in; the login of {provider} is saved in {file}\n"))?;
            Ok(Exit::Done)
        }
        // The person said no in the browser.
        Ok(Err(error)) if error.trouble == Trouble::NotAllowed => Err(Failure { exit: Exit::Refused, ..error.into() }),
        Ok(Err(error)) => Err(error.into()),
        Err(signal) => {
            say::note("cancelled; nothing was changed");
            Ok(Exit::Stopped(signal))
        }
    }
}

fn show(InBrowser { page, code, minutes }: InBrowser) {
    let (page, code) = (clean_line(&page), clean_line(&code));
    // Where nobody reads it, the code runs out.
    let _ = say::out(&format!(
        "Open  {page}\nType  {code}\n\nThe code is valid for {minutes} minutes. Waiting for you (Ctrl-C cancels)…\n"
    ));
}
