//! What git sees in a box of files that are hidden there. A hidden file that is tracked is seen as it was
//! added: to git it is unchanged, and what was added can be read from the repository anyway. One that is not
//! tracked is ignored, so that adding everything does not stumble over it. What was put aside after a command is ignored
//! too: it is no part of anybody's work.

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::fs;
use std::io::{self, Read, Write};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::{Mutex, OnceLock, PoisonError, mpsc};
use std::time::Duration;

use crate::after::hands::aside_patterns;
use crate::git::linked::gitdir_of;
use neco_safety::path::open_without_links;

/// Bigger files are hidden as others are.
const MOST_BYTES: usize = 1024 * 1024;

/// What git is listened to in all, and how long.
const MOST_ANSWERS: u64 = 64 * 1024 * 1024;
const PATIENCE: Duration = Duration::from_secs(5);

/// What git is asked with, and where answers are kept.
#[derive(Debug)]
pub(crate) struct GitView {
    /// A folder of the session's that boxes see and can't write to.
    seen: PathBuf,
    /// One that they don't.
    unseen: PathBuf,
    home: Option<PathBuf>,
    known: Mutex<BTreeMap<PathBuf, Known>>,
    /// What the person ignores everywhere.
    ignored: OnceLock<Vec<u8>>,
}

/// How hidden files are to be seen.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Shown {
    /// Hidden files that are tracked, and files with what was added of them.
    pub(crate) instead: Vec<(PathBuf, PathBuf)>,
    /// The settings of git that hold in the box.
    pub(crate) settings: Vec<(String, PathBuf)>,
}

/// What is known of one repository.
#[derive(Debug)]
struct Known {
    index: Stamp,
    hidden: Vec<PathBuf>,
    instead: Vec<(PathBuf, PathBuf)>,
}

/// What changes whenever git writes a file anew.
type Stamp = Option<(u64, i64, i64, u64)>;

impl GitView {
    pub(crate) fn new(seen: PathBuf, unseen: PathBuf, home: Option<PathBuf>) -> Self {
        Self { seen, unseen, home, known: Mutex::default(), ignored: OnceLock::new() }
    }

    /// How these hidden files are to be seen, of repositories whose git folders are these, and whether there is something
    /// that was put aside.
    pub(crate) fn of(
        &self,
        hidden: &[PathBuf],
        repositories: &[PathBuf],
        put_aside: bool,
        git: impl Fn() -> Option<PathBuf>,
    ) -> Shown {
        let mut by_repository: BTreeMap<&Path, Vec<PathBuf>> = BTreeMap::new();
        for path in hidden {
            let nearest = repositories.iter().filter(|git| git.parent().is_some_and(|top| path.starts_with(top)));
            if let Some(git) = nearest.max_by_key(|git| git.components().count()) {
                by_repository.entry(git).or_default().push(path.clone());
            }
        }
        let mut shown = Shown::default();
        if by_repository.is_empty() && !put_aside {
            return shown;
        }
        let Some(program) = git() else { return shown };
        let mut ignored: Vec<Vec<u8>> = Vec::new();
        if put_aside {
            ignored.extend(aside_patterns().map(String::into_bytes));
        }
        for (repository, hidden) in by_repository {
            let Some(top) = repository.parent() else { continue };
            let instead = self.tracked(&program, repository, top, &hidden);
            let untracked = hidden.iter().filter(|path| instead.iter().all(|(own, _)| own != *path));
            ignored.extend(untracked.filter_map(|path| path.strip_prefix(top).ok()).map(pattern));
            shown.instead.extend(instead);
        }
        if !ignored.is_empty() {
            let written = self.write_ignored(&program, &ignored);
            shown.settings.extend(written.ok().map(|file| ("core.excludesFile".to_owned(), file)));
        }
        shown
    }

    fn tracked(&self, program: &Path, git: &Path, top: &Path, hidden: &[PathBuf]) -> Vec<(PathBuf, PathBuf)> {
        let index = stamp(&index_of(git));
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(known) = known.get(git).filter(|known| known.index == index && known.hidden == hidden) {
            return known.instead.clone();
        }
        let instead = self.ask(program, top, hidden).unwrap_or_default();
        known.insert(git.to_path_buf(), Known { index, hidden: hidden.to_vec(), instead: instead.clone() });
        instead
    }

    /// Asks git for what was added of each of them.
    fn ask(&self, program: &Path, top: &Path, hidden: &[PathBuf]) -> io::Result<Vec<(PathBuf, PathBuf)>> {
        let asked: Vec<(&PathBuf, &Path)> = hidden
            .iter()
            .filter_map(|path| Some((path, path.strip_prefix(top).ok()?)))
            .filter(|(_, relative)| !relative.as_os_str().as_bytes().contains(&b'\n'))
            .collect();
        let mut names = Vec::new();
        for (_, relative) in &asked {
            names.extend([b":".as_slice(), relative.as_os_str().as_bytes(), b"\n"].concat());
        }
        let quiet = ["-c", "core.fsmonitor=false", "-c", "protocol.allow=never"];
        let mut command = self.command(program);
        command.arg("-C").arg(top).args(quiet).args(["cat-file", "--batch"]);
        let output = answers(command, names)?;
        let mut rest = output.as_slice();
        let mut instead = Vec::new();
        for (path, _) in asked {
            let Some(answer) = next_answer(&mut rest) else { break };
            if let Answer::Blob(content) = answer
                && content.len() <= MOST_BYTES
            {
                instead.push((path.clone(), self.keep(content)?));
            }
        }
        Ok(instead)
    }

    fn keep(&self, content: &[u8]) -> io::Result<PathBuf> {
        let mut file = tempfile::Builder::new().prefix("added-").tempfile_in(&self.unseen)?;
        file.write_all(content)?;
        Ok(file.into_temp_path().keep()?)
    }

    /// What is to be ignored besides what the person ignores everywhere.
    fn write_ignored(&self, program: &Path, patterns: &[Vec<u8>]) -> io::Result<PathBuf> {
        let mut text = self.ignored.get_or_init(|| self.ignored_everywhere(program)).clone();
        text.push(b'\n');
        text.extend(patterns.join(b"\n".as_slice()));
        text.push(b'\n');
        let file = self.seen.join("git-ignored");
        if fs::read(&file).is_ok_and(|now| now == text) {
            return Ok(file);
        }
        let mut fresh = tempfile::NamedTempFile::new_in(&self.seen)?;
        fresh.write_all(&text)?;
        fresh.persist(&file)?;
        Ok(file)
    }

    fn ignored_everywhere(&self, program: &Path) -> Vec<u8> {
        // Only the person's own setting: a repository must not choose which file is read here.
        let mut command = self.command(program);
        command.current_dir("/").args(["config", "--global", "--type=path", "--get", "core.excludesFile"]);
        let answer = answers(command, Vec::new()).unwrap_or_default();
        // Without one nothing is answered.
        let named = answer.strip_suffix(b"\n").map(|path| PathBuf::from(OsStr::from_bytes(path)));
        let usual = self.home.as_ref().map(|home| home.join(".config/git/ignore"));
        let Some(path) = named.or(usual) else { return Vec::new() };
        // Apart: a folder of another machine may answer never.
        let (tell, told) = mpsc::channel();
        std::thread::spawn(move || tell.send(text_of(&path).unwrap_or_default()));
        told.recv_timeout(PATIENCE).unwrap_or_default()
    }

    /// Git with nothing of the environment but the person's settings; it fetches nothing and writes nothing.
    fn command(&self, program: &Path) -> Command {
        let mut command = Command::new(program);
        command.env_clear().stdin(Stdio::null()).stderr(Stdio::null());
        command.envs([("GIT_NO_LAZY_FETCH", "1"), ("GIT_OPTIONAL_LOCKS", "0"), ("GIT_TERMINAL_PROMPT", "0")]);
        command.envs(self.home.iter().map(|home| ("HOME", home)));
        command
    }
}

fn text_of(path: &Path) -> Option<Vec<u8>> {
    let file = open_without_links(&fs::canonicalize(path).ok()?).ok()?;
    file.metadata().ok().filter(|found| found.is_file())?;
    let mut text = Vec::new();
    file.take(MOST_BYTES as u64).read_to_end(&mut text).ok()?;
    Some(text)
}

/// What a program answers to this. It has some seconds, and answers that are too long are cut.
fn answers(mut command: Command, asked: Vec<u8>) -> io::Result<Vec<u8>> {
    let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn()?;
    let (input, output) = (child.stdin.take(), child.stdout.take());
    // Apart: whoever writes everything before reading anything may wait for ever.
    let writing = std::thread::spawn(move || input.map(|mut input| input.write_all(&asked)));
    let (tell, told) = mpsc::channel();
    std::thread::spawn(move || {
        let mut text = Vec::new();
        let read = output.map(|output| output.take(MOST_ANSWERS).read_to_end(&mut text));
        let _ = tell.send(read.transpose().map(|_| text));
    });
    let text = told.recv_timeout(PATIENCE).unwrap_or_else(|_| Err(io::ErrorKind::TimedOut.into()));
    let _ = child.kill();
    let _ = child.wait();
    let _ = writing.join();
    text
}

enum Answer<'a> {
    Blob(&'a [u8]),
    Nothing,
}

/// The next answer of `git cat-file --batch`: a line, and what it announces.
fn next_answer<'a>(rest: &mut &'a [u8]) -> Option<Answer<'a>> {
    let end = rest.iter().position(|byte| *byte == b'\n')?;
    let (line, after) = rest.split_at_checked(end)?;
    let after = after.get(1..)?;
    let words: Vec<&[u8]> = line.split(|byte| *byte == b' ').collect();
    let [_, b"blob", size] = words.as_slice() else {
        *rest = after;
        return Some(Answer::Nothing);
    };
    let size: usize = std::str::from_utf8(size).ok()?.parse().ok()?;
    let (content, after) = after.split_at_checked(size)?;
    *rest = after.get(1..).unwrap_or_default();
    Some(Answer::Blob(content))
}

/// Where git keeps what was added.
fn index_of(git: &Path) -> PathBuf {
    gitdir_of(git).unwrap_or_else(|| git.to_path_buf()).join("index")
}

fn stamp(path: &Path) -> Stamp {
    let found = fs::metadata(path).ok()?;
    Some((found.ino(), found.mtime(), found.mtime_nsec(), found.len()))
}

/// A line of an ignore file for exactly this path from the top.
fn pattern(relative: &Path) -> Vec<u8> {
    let mut pattern = vec![b'/'];
    for byte in relative.as_os_str().as_bytes() {
        if b"*?[]\\ !#".contains(byte) {
            pattern.push(b'\\');
        }
        pattern.push(*byte);
    }
    pattern
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn answers_are_read_one_after_the_other() {
        let mut rest = b"0a blob 4\na\nb\n\n:x missing\n0b blob 0\n\n".as_slice();
        assert!(matches!(next_answer(&mut rest), Some(Answer::Blob(b"a\nb\n"))));
        assert!(matches!(next_answer(&mut rest), Some(Answer::Nothing)));
        assert!(matches!(next_answer(&mut rest), Some(Answer::Blob(b""))));
        assert!(next_answer(&mut rest).is_none());
        assert!(next_answer(&mut b"0a blob 9\nshort".as_slice()).is_none());
    }

    #[test]
    fn what_was_put_aside_is_ignored_besides_what_the_person_ignores() {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        for name in ["seen", "unseen", "home/.config/git"] {
            fs::create_dir_all(at(name)).unwrap();
        }
        fs::write(at("home/.config/git/ignore"), "*.mine").unwrap();
        let view = GitView::new(at("seen"), at("unseen"), Some(at("home")));
        let folders = std::env::var_os("PATH").unwrap();
        let git = || std::env::split_paths(&folders).map(|folder| folder.join("git")).find(|path| path.is_file());
        assert_eq!(view.of(&[], &[], false, git), Shown::default());
        let shown = view.of(&[], &[], true, git);
        let [(name, file)] = shown.settings.as_slice() else { panic!("{shown:?}") };
        let text = fs::read_to_string(file).unwrap();
        let lines: Vec<&str> = text.lines().collect();
        assert_eq!((name.as_str(), lines.first()), ("core.excludesFile", Some(&"*.mine")));
        assert!(lines.contains(&"*.refused-[1-9]") && lines.contains(&"*.replaced-[1-9]"), "{text}");
    }

    #[test]
    fn patterns_mean_one_path() {
        assert_eq!(pattern(Path::new("a/.env")), b"/a/.env");
        assert_eq!(pattern(Path::new("a b/.env*")), b"/a\\ b/.env\\*");
    }
}
