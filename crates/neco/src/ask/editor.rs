//! The person's editor, in the foreground of the terminal.

use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io::Write;
use std::process::{Command, Stdio};

use neco_config::Env;

/// The editor when nobody names one.
const USUAL: &str = "vi";

/// The editor that the person wants.
#[must_use]
pub fn wanted(env: &Env) -> OsString {
    let set = |name: &str| env.var_os(name).filter(|value| !value.is_empty());
    set("VISUAL").or_else(|| set("EDITOR")).unwrap_or(OsStr::new(USUAL)).to_owned()
}

/// Opens `text` in `editor` on `terminal` and gives back what was saved.
///
/// # Errors
/// In words for the person.
pub fn edit(text: &str, ending: &str, editor: &OsStr, terminal: &File) -> Result<String, String> {
    let failed = |what: &str, error: std::io::Error| format!("{what}: {error}");
    let mut file = tempfile::Builder::new()
        .prefix("neco-")
        .suffix(ending)
        .tempfile()
        .map_err(|error| failed("no temporary file could be made", error))?;
    file.write_all(text.as_bytes()).map_err(|error| failed("the temporary file could not be written", error))?;
    let on_terminal =
        || terminal.try_clone().map(Stdio::from).map_err(|error| failed("the terminal can't be used", error));
    // Through a shell, as everybody does: people write `code --wait` there.
    let mut line = editor.to_owned();
    line.push(" \"$1\"");
    let status = Command::new("sh")
        .args([OsStr::new("-c"), &line, OsStr::new("editor"), file.path().as_os_str()])
        .stdin(on_terminal()?)
        .stdout(on_terminal()?)
        .stderr(on_terminal()?)
        .status()
        .map_err(|error| failed("the editor could not be started", error))?;
    if !status.success() {
        return Err(format!("the editor ({}) ended with {status}; nothing was changed", editor.display()));
    }
    let saved = std::fs::read(file.path()).map_err(|error| failed("what was saved can't be read", error))?;
    String::from_utf8(saved).map_err(|_| "what was saved is not UTF-8 text".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_saved_comes_back() {
        let terminal = File::options().read(true).write(true).open("/dev/null").unwrap();
        let edit = |editor: &str| edit("one\n", ".txt", OsStr::new(editor), &terminal);
        assert_eq!(edit("sed -i s/one/two/").unwrap(), "two\n");
        assert_eq!(edit("true").unwrap(), "one\n");
        assert!(edit("false").unwrap_err().contains("nothing was changed"));
        assert!(edit("no-such-editor-here").unwrap_err().contains("127"));
    }

    #[test]
    fn visual_comes_before_editor() {
        let env = |vars: &[(&'static str, &'static str)]| wanted(&Env::for_test(vars.iter().copied(), "/h"));
        assert_eq!(env(&[("VISUAL", "a b"), ("EDITOR", "c")]), "a b");
        assert_eq!(env(&[("VISUAL", ""), ("EDITOR", "c")]), "c");
        assert_eq!(env(&[]), "vi");
    }
}
