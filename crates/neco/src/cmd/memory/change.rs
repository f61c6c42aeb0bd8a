//! Editing and removing entries.

use std::ffi::OsStr;
use std::io::{BufRead, BufReader, IsTerminal, Write};
use std::path::Path;
use std::process::Command;

use neco_config::Env;
use neco_proto::app::App;
use neco_proto::app::memory::{MemoryEntry, RemoveMemory, ShowMemory};

use crate::ask::{self, Tty};
use crate::cmd::program::ask_of;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::print::clean::clean_line;
use crate::say;

/// Opens the entry's own file in the person's editor.
pub(super) fn edit(path: &Path, env: &Env) -> Result<(), Failure> {
    // An editor without a terminal would pour its screen into a pipe.
    if Tty::open().is_none() || !std::io::stdin().is_terminal() {
        let words = "there is no terminal for an editor here";
        return Err(Failure::usage(words).hint(format!("The file is {}.", path.display())));
    }
    let editor = ask::programs(env).editor;
    // Through a shell, as everybody does: people write `code --wait` there.
    let mut line = editor.clone();
    line.push(" \"$1\"");
    let status = Command::new("sh").args([OsStr::new("-c"), &line, OsStr::new("editor"), path.as_os_str()]).status();
    match status {
        Ok(status) if status.success() => Ok(()),
        Ok(status) => {
            let words = format!("the editor ({}) ended with {status}", editor.display());
            Err(Failure::new(Exit::Failed, words).hint(format!("The file is {}.", path.display())))
        }
        Err(error) => Err(Failure::new(Exit::Failed, format!("the editor could not be started: {error}"))),
    }
}

/// Removes entries, after asking. All of them must be there: half of what was asked is not done.
pub(super) async fn remove(ids: &[String], yes: bool, folder: String, app: &dyn App) -> Result<Exit, Failure> {
    let mut entries: Vec<MemoryEntry> = Vec::new();
    for id in ids {
        let found = ask_of(app, &ShowMemory { folder: folder.clone(), id: id.clone() }).await?.entry;
        if !entries.contains(&found) {
            entries.push(found);
        }
    }
    if !yes && !is_meant(&entries)? {
        say::out("nothing was removed\n")?;
        return Ok(Exit::Refused);
    }
    let ids = entries.into_iter().map(|entry| entry.id).collect();
    for path in ask_of(app, &RemoveMemory { folder, ids }).await?.paths {
        say::out(&format!("removed {}\n", clean_line(&path)))?;
    }
    Ok(Exit::Done)
}

fn is_meant(entries: &[MemoryEntry]) -> Result<bool, Failure> {
    let nobody = || Failure::usage("nobody can be asked here").hint("Pass --yes to remove without asking.");
    let tty = Tty::open().ok_or_else(nobody)?;
    tty.forget_typed();
    let mut terminal = tty.lend().map_err(|_| nobody())?;
    let lines: String =
        entries.iter().map(|found| format!("  {}  {}\n", clean_line(&found.id), clean_line(&found.title))).collect();
    let asked = write!(terminal, "{lines}Remove {} for good? [y/N] ", if entries.len() == 1 { "it" } else { "them" });
    asked.and_then(|()| terminal.flush()).map_err(|_| nobody())?;
    let mut answer = String::new();
    BufReader::new(terminal).read_line(&mut answer).map_err(|_| nobody())?;
    Ok(matches!(answer.trim().to_lowercase().as_str(), "y" | "yes"))
}
