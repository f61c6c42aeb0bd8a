//! The shell that runs commands, and the script it is given.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};

use neco_safety::world::Processes;

/// The shell that runs commands.
#[derive(Clone, Debug)]
pub(crate) struct Interpreter {
    pub(crate) program: PathBuf,
    /// What the model is told about the choice.
    pub(super) note: Option<String>,
}

/// Shells that read a line as it was judged. To others the same line may mean something else, so no
/// judgement and no rule would hold for what they run.
const JUDGED_SHELLS: &[&str] = &["sh", "bash", "dash", "ash"];

impl Interpreter {
    /// The wanted shell, or `sh` with a note where there is no such shell or lines are not judged as it
    /// reads them. Nothing when there is neither.
    pub(crate) fn find(wanted: &str, processes: &dyn Processes) -> Option<Self> {
        let found = processes.find_program(OsStr::new(wanted));
        let problem = match found {
            Some(program) if is_judged(&program) => return Some(Self { program, note: None }),
            Some(_) => format!("the shell {wanted:?} does not read commands as they are judged"),
            None => format!("there is no shell {wanted:?}"),
        };
        let program = processes.find_program(OsStr::new("sh"))?;
        let note = format!("{problem}: the command ran with {}", program.display());
        Some(Self { program, note: Some(note) })
    }

    /// What stands before a command for its shell to write where it stands at its end to a file: also
    /// after `exit`, not after `exec` or when the shell is killed. Nothing for a file whose name is no text.
    ///
    /// The trap stands on the command's own first line, so that line numbers in error messages are right.
    pub(super) fn reporting(file: &Path) -> Option<String> {
        let file = file.to_str()?;
        let report = format!("{{ command pwd -P >|{}; }} 2>/dev/null", quoted(file));
        Some(format!("trap {} EXIT; ", quoted(&report)))
    }
}

fn is_judged(program: &Path) -> bool {
    program.file_name().and_then(OsStr::to_str).is_some_and(|name| JUDGED_SHELLS.contains(&name))
}

pub(super) fn quoted(text: &str) -> String {
    format!("'{}'", text.replace('\'', r"'\''"))
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::fs::PermissionsExt;

    use neco_sandbox::Spawner;

    use super::*;

    #[test]
    fn a_shell_that_reads_lines_otherwise_is_not_used() {
        let folder = tempfile::tempdir().unwrap();
        let spawner = Spawner::new(Vec::new(), &[]);
        for name in ["zsh", "fish", "ksh", "nu", "bash", "dash"] {
            let program = folder.path().join(name);
            fs::write(&program, "#!/bin/sh\n").unwrap();
            fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).unwrap();
            let found = Interpreter::find(program.to_str().unwrap(), &spawner).unwrap();
            if matches!(name, "bash" | "dash") {
                assert_eq!((found.program, found.note), (program, None));
            } else {
                assert!(found.program.ends_with("sh") && found.program.parent() != program.parent(), "{found:?}");
                assert!(found.note.is_some_and(|note| note.contains("as they are judged")), "{name}");
            }
        }
    }
}
