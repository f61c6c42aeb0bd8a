//! The person's own programs in the foreground of the terminal: their editor and their pager.

use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io::Write;
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};

use rustix::process::{Pid, Signal, kill_process};

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
    /// As the environment has them: its variables, and whether there is `less`.
    pub fn wanted<'a>(var: impl Fn(&str) -> Option<&'a OsStr>, has_less: bool) -> Self {
        let set = |name: &str| var(name).filter(|value| !value.is_empty()).map(OsStr::to_owned);
        Self {
            editor: set("VISUAL").or_else(|| set("EDITOR")).unwrap_or_else(|| USUAL_EDITOR.into()),
            pager: set("PAGER").or_else(|| has_less.then(|| USUAL_PAGER.into())),
        }
    }
}

/// An editor that may be open, so that whoever ends before it can tell it to end as well.
#[derive(Debug, Default)]
pub struct Open {
    /// The process; 0 when there is none.
    id: AtomicU32,
    ended: AtomicBool,
}

impl Open {
    /// Tells the editor that the terminal is gone; the second time it has to go. Through a shell it may be a child of
    /// what was started.
    pub fn end(&self) {
        let signal = if self.ended.swap(true, Ordering::SeqCst) { Signal::KILL } else { Signal::HUP };
        let id = self.id.load(Ordering::SeqCst);
        let Some(shell) = i32::try_from(id).ok().and_then(Pid::from_raw) else { return };
        let children = std::fs::read_to_string(format!("/proc/{id}/task/{id}/children")).unwrap_or_default();
        let children = children.split_whitespace().filter_map(|id| Pid::from_raw(id.parse().ok()?));
        for process in children.chain([shell]) {
            // It may have ended meanwhile.
            let _ = kill_process(process, signal);
        }
    }
}

/// Opens `text` in `editor` on `terminal`, in a file called `name`, and gives back what was saved; also when the editor
/// was told to end.
pub fn edit(text: &str, name: &str, editor: &OsStr, terminal: &File, open: &Open) -> Result<String, String> {
    let failed = |what: &str, error: std::io::Error| format!("{what}: {error}");
    // A folder of its own, for its owner alone, so that the file can have the name that editors know.
    let folder = tempfile::Builder::new()
        .prefix("neco-")
        .tempdir()
        .map_err(|error| failed("no temporary folder could be made", error))?;
    let file = folder.path().join(name);
    std::fs::write(&file, text).map_err(|error| failed("the temporary file could not be written", error))?;
    run(&file, editor, terminal, open)?;
    let saved = std::fs::read(&file).map_err(|error| failed("what was saved can't be read", error))?;
    String::from_utf8(saved).map_err(|_| "what was saved is not UTF-8 text".to_owned())
}

/// Opens a file itself in `editor` on `terminal`; whether it is another one afterwards. What it holds does not matter.
/// A link stays one: the file that it names is opened.
pub fn edit_file(path: &Path, editor: &OsStr, terminal: &File, open: &Open) -> Result<bool, String> {
    let in_file = |error: std::io::Error| format!("{}: {error}", path.display());
    let file = path.canonicalize().map_err(in_file)?;
    let before = std::fs::read(&file).map_err(in_file)?;
    let ended = run(&file, editor, terminal, open);
    let changed = std::fs::read(&file).map_err(in_file)? != before;
    // An editor that fails may have saved before.
    if changed { Ok(true) } else { ended.map(|()| false) }
}

/// Runs `editor` on `terminal` until it is closed, also when it was told to end.
fn run(file: &Path, editor: &OsStr, terminal: &File, open: &Open) -> Result<(), String> {
    let failed = |what: &str, error: std::io::Error| format!("{what}: {error}");
    let on_terminal =
        || terminal.try_clone().map(Stdio::from).map_err(|error| failed("the terminal can't be used", error));
    // Through a shell, as everybody does: people write `code --wait` there.
    let mut line = editor.to_owned();
    line.push(" \"$1\"");
    let mut child = Command::new("sh")
        .args([OsStr::new("-c"), &line, OsStr::new("editor"), file.as_os_str()])
        .stdin(on_terminal()?)
        .stdout(on_terminal()?)
        .stderr(on_terminal()?)
        .spawn()
        .map_err(|error| failed("the editor could not be started", error))?;
    open.ended.store(false, Ordering::SeqCst);
    open.id.store(child.id(), Ordering::SeqCst);
    let status = child.wait();
    open.id.store(0, Ordering::SeqCst);
    let status = status.map_err(|error| failed("the editor could not be waited for", error))?;
    if !status.success() && !open.ended.load(Ordering::SeqCst) {
        return Err(format!("the editor ({}) ended with {status}; nothing was changed", editor.display()));
    }
    Ok(())
}

/// Shows `text` in `pager` on `terminal`; whether that worked.
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
        let edit = |editor: &str| edit("one\n", "a.txt", OsStr::new(editor), &terminal, &Open::default());
        assert_eq!(edit("sed -i s/one/two/").unwrap(), "two\n");
        assert_eq!(edit("true").unwrap(), "one\n");
        assert_eq!(edit("basename >/dev/null").unwrap(), "one\n");
        assert!(edit("false").unwrap_err().contains("nothing was changed"));
        assert!(edit("no-such-editor-here").unwrap_err().contains("127"));
    }

    #[test]
    fn a_file_is_edited_itself() {
        let (terminal, folder) = (nowhere(), tempfile::tempdir().unwrap());
        let (file, link) = (folder.path().join("a.txt"), folder.path().join("link"));
        std::fs::write(&file, b"one \xff\n").unwrap();
        std::os::unix::fs::symlink(&file, &link).unwrap();
        let edit = |editor: &str| edit_file(&link, OsStr::new(editor), &terminal, &Open::default());
        assert_eq!(edit("true"), Ok(false));
        assert!(edit("false").unwrap_err().contains("nothing was changed"));
        assert_eq!(edit("f() { echo two >> \"$1\"; }; f"), Ok(true));
        assert_eq!(edit("f() { echo three >> \"$1\"; false; }; f"), Ok(true), "it was saved before");
        assert_eq!(edit("f() { cp \"$1\" \"$1.new\"; echo four >> \"$1.new\"; mv \"$1.new\" \"$1\"; }; f"), Ok(true));
        assert!(link.is_symlink());
        assert_eq!(std::fs::read(&file).unwrap(), b"one \xff\ntwo\nthree\nfour\n");
        std::fs::remove_file(&file).unwrap();
        assert!(edit("true").is_err());
    }

    #[test]
    fn an_editor_that_is_told_to_end_gives_back_what_it_saved() {
        let open = Open::default();
        let saved = std::thread::scope(|scope| {
            let editing = scope.spawn(|| {
                let line = "f() { echo two > \"$1\"; sleep 600; }; f";
                edit("one\n", "a.txt", OsStr::new(line), &nowhere(), &open)
            });
            while !editing.is_finished() {
                // Not before it has saved; `end` may be said again.
                std::thread::sleep(std::time::Duration::from_millis(100));
                open.end();
            }
            editing.join().unwrap()
        });
        assert_eq!(saved.unwrap(), "two\n");
    }

    #[test]
    fn a_pager_that_does_not_work_is_noticed() {
        assert!(page(&"line\n".repeat(100_000), OsStr::new("head -1"), &nowhere()));
        assert!(!page("line\n", OsStr::new("no-such-pager-here"), &nowhere()));
    }

    #[test]
    fn visual_comes_before_editor() {
        let wanted = |vars: &[(&str, &'static str)]| {
            let var = |name: &str| vars.iter().find(|(known, _)| *known == name).map(|(_, value)| OsStr::new(*value));
            Programs::wanted(var, false)
        };
        assert_eq!(wanted(&[("VISUAL", "a b"), ("EDITOR", "c")]).editor, "a b");
        assert_eq!(wanted(&[("VISUAL", ""), ("EDITOR", "c")]).editor, "c");
        assert_eq!(wanted(&[]), Programs { editor: "vi".into(), pager: None });
        assert_eq!(wanted(&[("PAGER", "more")]).pager, Some("more".into()));
    }
}
