//! `neco web`: Neco in a browser, with the server of this machine behind it.

use std::process::{Command, Stdio};

use clap::Args;
use neco_config::Env;
use neco_server::http::PageFile;

use super::program::folder;
use super::serve::link_of;
use crate::args::EverywhereArgs;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::say;
use crate::server::started;

/// The files of the page; none where it was not built before this program.
pub static PAGE: &[PageFile] = include!(concat!(env!("OUT_DIR"), "/page.rs"));

/// After `neco web --help`.
pub const WEB: &str = "\
Examples:
  neco web                opens the browser, signed in, with this folder chosen
  neco web --no-open      prints the link: open it within ten minutes, it works once
Over SSH: ssh -L 7420:127.0.0.1:7420 HOST, then open there what --no-open prints.";

/// What opens an address, the first that is there.
const OPENERS: &[&str] = if cfg!(target_os = "macos") { &["open"] } else { &["xdg-open", "wslview"] };

/// `neco web`
#[derive(Clone, Debug, Args)]
pub struct WebArgs {
    /// Opens no browser, and only prints the link
    #[arg(long)]
    pub no_open: bool,
}

/// Runs `neco web`.
pub fn run(args: &WebArgs, everywhere: &EverywhereArgs, env: &Env) -> Result<Exit, Failure> {
    if PAGE.is_empty() {
        return Err(Failure::new(Exit::Failed, "this build of Neco has no page")
            .hint("`cargo xtask web` builds it, and the next build of Neco has it. Released binaries have it."));
    }
    let found = started(env)?;
    let link = in_folder(&link_of(&found, env)?, &folder(everywhere)?);
    say::out(&format!("{link}\n"))?;
    if !args.no_open && !opened(&link, env) {
        say::note("No browser could be opened; open the link in one, within ten minutes");
    }
    Ok(Exit::Done)
}

/// The link with a folder that is chosen when it is opened.
fn in_folder(link: &str, folder: &str) -> String {
    let query: String = folder.bytes().map(escaped).collect();
    link.replacen("/#", &format!("/?folder={query}#"), 1)
}

fn escaped(byte: u8) -> String {
    match byte {
        b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'/' | b'-' | b'_' | b'.' | b'~' => char::from(byte).to_string(),
        _ => format!("%{byte:02X}"),
    }
}

/// Whether something was there that opens browsers. The link is a secret until it is used, and what is given to a program
/// can be seen by others of this machine who are the same person; it works once.
fn opened(link: &str, env: &Env) -> bool {
    let has_screen = cfg!(target_os = "macos")
        || ["DISPLAY", "WAYLAND_DISPLAY", "WSL_DISTRO_NAME"].iter().any(|name| env.var(name).is_some());
    has_screen
        && OPENERS.iter().any(|opener| {
            let mut command = Command::new(opener);
            command.arg(link).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
            command.spawn().is_ok()
        })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_link_chooses_the_folder_whatever_that_is_called() {
        let link = in_folder("http://127.0.0.1:7420/#code=a1", "/srv/my project & 项");
        assert_eq!(link, "http://127.0.0.1:7420/?folder=/srv/my%20project%20%26%20%E9%A1%B9#code=a1");
    }
}
