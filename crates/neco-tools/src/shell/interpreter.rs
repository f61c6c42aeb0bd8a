//! The shell that runs commands, and the script it is given.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};

use neco_safety::world::Spawner;

/// The shell that runs commands.
#[derive(Clone, Debug)]
pub(super) struct Interpreter {
    /// The program.
    pub(super) program: PathBuf,
    /// Whether it can be asked where it stands when it ends.
    reports: bool,
    /// What the model is told about the choice.
    pub(super) note: Option<String>,
}

/// Shells that understand `trap … EXIT` and redirection as POSIX has it.
const POSIX_SHELLS: &[&str] = &["sh", "bash", "dash", "ash", "zsh", "ksh", "mksh"];

impl Interpreter {
    /// The wanted shell, or `sh` with a note. Nothing when there is neither.
    pub(super) fn find(wanted: &str, spawner: &Spawner) -> Option<Self> {
        if let Some(program) = spawner.find_program(OsStr::new(wanted)) {
            return Some(Self { reports: is_posix(&program), program, note: None });
        }
        let program = spawner.find_program(OsStr::new("sh"))?;
        let note = format!("there is no shell {wanted:?}: the command ran with {}", program.display());
        Some(Self { program, reports: true, note: Some(note) })
    }

    /// The script that runs a command and writes where the shell stands at its end to a file: also
    /// after `exit`, not after `exec` or when the shell is killed. Nothing for a shell that can't.
    ///
    /// The trap stands on the command's own first line, so that line numbers in error messages are right.
    pub(super) fn reporting(&self, command: &str, file: &Path) -> Option<String> {
        let file = file.to_str().filter(|_| self.reports)?;
        let report = format!("{{ command pwd -P >|{}; }} 2>/dev/null", quoted(file));
        Some(format!("trap {} EXIT; {command}", quoted(&report)))
    }
}

fn is_posix(program: &Path) -> bool {
    program.file_name().and_then(OsStr::to_str).is_some_and(|name| POSIX_SHELLS.contains(&name))
}

fn quoted(text: &str) -> String {
    format!("'{}'", text.replace('\'', r"'\''"))
}
