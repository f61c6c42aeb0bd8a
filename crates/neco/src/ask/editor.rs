//! The person's own programs in the foreground of the terminal: their editor and their pager.

use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io::Write;
use std::process::{Command, Stdio};

use neco_config::Env;

/// The editor when nobody names one.
const USUAL_EDITOR: &str = "vi";
/// The pager when nobody names one: keeps colours, and what was shown.
const USUAL_PAGER: &str = "less -R -X";

/// The programs that the person wants.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Programs {
    /// Opens a file.
    pub editor: OsString,
    /// Shows what does not fit on the screen; `None` when there is none.
    pub pager: Option<OsString>,
}

impl Programs {
    /// As the environment has them.
    #[must_use]
    pub fn wanted(env: &Env) -> Self {
        let set = |name: &str| env.var_os(name).filter(|value| !value.is_empty()).map(OsStr::to_owned);
        Self {
            editor: set("VISUAL").or_else(|| set("EDITOR")).unwrap_or_else(|| USUAL_EDITOR.into()),
            pager: set("PAGER").or_else(|| env.find_program("less").map(|_| USUAL_PAGER.into())),
        }
    }
}

/// Opens `text` in `editor` on `terminal`, in a file called `name`, and gives back what was saved.
///
/// # Errors
/// In words for the person.
pub fn edit(text: &str, name: &str, editor: &OsStr, terminal: &File) -> Result<String, String> {
    let failed = |what: &str, error: std::io::Error| format!("{what}: {error}");
    // A folder of its own, for its owner alone, so that the file can have the name that editors know.
    let folder = tempfile::Builder::new()
        .prefix("neco-")
        .tempdir()
        .map_err(|error| failed("no temporary folder could be made", error))?;
    let file = folder.path().join(name);
    std::fs::write(&file, text).map_err(|error| failed("the temporary file could not be written", error))?;
    let on_terminal =
        || terminal.try_clone().map(Stdio::from).map_err(|error| failed("the terminal can't be used", error));
    // Through a shell, as everybody does: people write `code --wait` there.
    let mut line = editor.to_owned();
    line.push(" \"$1\"");
    let status = Command::new("sh")
        .args([OsStr::new("-c"), &line, OsStr::new("editor"), file.as_os_str()])
        .stdin(on_terminal()?)
        .stdout(on_terminal()?)
        .stderr(on_terminal()?)
        .status()
        .map_err(|error| failed("the editor could not be started", error))?;
    if !status.success() {
        return Err(format!("the editor ({}) ended with {status}; nothing was changed", editor.display()));
    }
    let saved = std::fs::read(&file).map_err(|error| failed("what was saved can't be read", error))?;
    String::from_utf8(saved).map_err(|_| "what was saved is not UTF-8 text".to_owned())
}

/// Shows `text` in `pager` on `terminal`; whether that worked.
#[must_use]
pub fn page(text: &str, pager: &OsStr, terminal: &File) -> bool {
    let (Ok(out), Ok(err)) = (terminal.try_clone(), terminal.try_clone()) else { return false };
    let mut command = Command::new("sh");
    command.args([OsStr::new("-c"), pager]).stdin(Stdio::piped()).stdout(out).stderr(err);
    let Ok(mut child) = command.spawn() else { return false };
    if let Some(mut stdin) = child.stdin.take() {
        // A person who has seen enough leaves before the end.
        let _ = stdin.write_all(text.as_bytes());
    }
    child.wait().is_ok_and(|status| status.success())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn nowhere() -> File {
        File::options().read(true).write(true).open("/dev/null").unwrap()
    }

    #[test]
    fn what_is_saved_comes_back() {
        let terminal = nowhere();
        let edit = |editor: &str| edit("one\n", "a.txt", OsStr::new(editor), &terminal);
        assert_eq!(edit("sed -i s/one/two/").unwrap(), "two\n");
        assert_eq!(edit("true").unwrap(), "one\n");
        assert_eq!(edit("basename >/dev/null").unwrap(), "one\n");
        assert!(edit("false").unwrap_err().contains("nothing was changed"));
        assert!(edit("no-such-editor-here").unwrap_err().contains("127"));
    }

    #[test]
    fn a_pager_that_does_not_work_is_noticed() {
        assert!(page(&"line\n".repeat(100_000), OsStr::new("head -1"), &nowhere()));
        assert!(!page("line\n", OsStr::new("no-such-pager-here"), &nowhere()));
    }

    #[test]
    fn visual_comes_before_editor() {
        let wanted =
            |vars: &[(&'static str, &'static str)]| Programs::wanted(&Env::for_test(vars.iter().copied(), "/h"));
        assert_eq!(wanted(&[("VISUAL", "a b"), ("EDITOR", "c")]).editor, "a b");
        assert_eq!(wanted(&[("VISUAL", ""), ("EDITOR", "c")]).editor, "c");
        assert_eq!(wanted(&[]), Programs { editor: "vi".into(), pager: None });
        assert_eq!(wanted(&[("PAGER", "more")]).pager, Some("more".into()));
    }
}
