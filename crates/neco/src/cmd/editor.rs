//! A file in the person's editor.

use std::ffi::OsStr;
use std::io::IsTerminal;
use std::path::Path;
use std::process::Command;

use neco_config::Env;

use crate::ask::{self, Tty};
use crate::exit::Exit;
use crate::failure::Failure;

/// Opens a file in the person's editor, until that is closed.
///
/// # Errors
/// When there is no terminal for it, or it fails; the file is named then.
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
