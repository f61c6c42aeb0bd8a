//! `neco mcp login` and `neco mcp logout`: logins at MCP servers with an address.

use std::process::{Command, Stdio};

use futures::StreamExt;
use neco_config::Env;
use neco_proto::app::mcp::{LogInServer, LogOutServer, ServerLogin};
use neco_proto::app::{App, Caller};
use neco_tui::line::run::listen;

use super::program::{ask, notes, without_store};
use crate::args::EverywhereArgs;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::print::clean::clean_line;
use crate::signals::InterruptMask;
use crate::{compose, say};

/// What opens a page in the person's browser.
const OPENER: &str = if cfg!(target_os = "macos") { "open" } else { "xdg-open" };

/// Variables that tell that a browser can be opened here.
const SCREENS: [&str; 3] = ["DISPLAY", "WAYLAND_DISPLAY", "BROWSER"];

/// Logs in at a server and keeps what that gives.
///
/// # Errors
/// When there is no such server or login, or it fails; then nothing is changed.
pub(super) fn log_in(request: LogInServer, everywhere: &EverywhereArgs, env: &Env) -> Result<Exit, Failure> {
    let no_browser = request.no_browser || !(cfg!(target_os = "macos") || SCREENS.iter().any(|name| env.is_set(name)));
    let request = LogInServer { no_browser, ..request };
    let app: &dyn App = &without_store(everywhere, env);
    let (runtime, caller) = (compose::runtime()?, Caller::person());
    let mut signals = listen(&runtime, &InterruptMask::default())?;
    let mut steps = app.watch(&caller, &request);
    loop {
        let step = runtime.block_on(async {
            tokio::select! {
                step = steps.next() => Ok(step),
                signal = signals.next() => Err(signal),
            }
        });
        match step {
            Ok(Some(step)) => {
                let step = step.inspect_err(|error| notes(&error.warnings))?;
                if let ServerLogin::LoggedIn(logged_in) = &step {
                    let name = clean_line(&request.name);
                    say::out(&format!("logged in; the login of {name} is saved in {}\n", logged_in.file))?;
                    return Ok(Exit::Done);
                }
                show(&step, no_browser)?;
            }
            Ok(None) => return Ok(Exit::Failed),
            Err(signal) => {
                say::note("cancelled; nothing was changed");
                return Ok(Exit::Stopped(signal));
            }
        }
    }
}

/// Says what the person has to do.
fn show(step: &ServerLogin, no_browser: bool) -> Result<(), Failure> {
    let words = match step {
        ServerLogin::OpenPage(page) if no_browser => {
            format!("Open this page in a browser on this machine:\n\n  {}\n", clean_line(page))
        }
        ServerLogin::OpenPage(page) => {
            open(page);
            format!("Your browser opens this page; open it yourself if it does not:\n\n  {}\n", clean_line(page))
        }
        ServerLogin::EnterCode { page, code } => format!("Open  {}\nType  {}\n", clean_line(page), clean_line(code)),
        ServerLogin::LoggedIn(_) | ServerLogin::Other(_) => return Ok(()),
    };
    say::out(&format!("{words}\nWaiting for you to log in (Ctrl-C cancels)…\n"))
}

/// Opens a page in the person's browser, if there is one; the page is shown in any case.
fn open(page: &str) {
    let mut command = Command::new(OPENER);
    command.arg(page).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    // Some stay until the browser is closed.
    std::thread::spawn(move || command.status());
}

/// Forgets the login at a server.
///
/// # Errors
/// When there is no such server, or its login is still kept.
pub(super) fn log_out(request: &LogOutServer, everywhere: &EverywhereArgs, env: &Env) -> Result<Exit, Failure> {
    let (logged_out, name) = (ask(request, everywhere, env)?, clean_line(&request.name));
    if !logged_out.was_logged_in {
        say::out(&format!("there was no login of {name}\n"))?;
        return Ok(Exit::Done);
    }
    say::out(&format!("logged out of {name}\n"))?;
    if let Some(problem) = logged_out.problem {
        say::note(&format!("the server could not be told, so that it may take the login until that ends: {problem}"));
    }
    Ok(Exit::Done)
}
