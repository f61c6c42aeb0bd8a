//! What a path on a command line leads to, judged by its text.

use std::borrow::Cow;
use std::path::{Path, PathBuf};

use super::examined::{Opened, Word};
use super::pattern;
use super::place::Place;
use crate::listed::is_listed;
use crate::path::later::later;
use crate::path::sensitive::{is_in_git_folder, is_sensitive, is_sensitive_below, is_unread_below};

/// Where the parts of a line stand: the place, and every folder they may be in by now.
#[derive(Debug)]
pub(crate) struct Ground<'a> {
    pub(crate) place: &'a Place,
    /// Each relative path is judged from each of them.
    pub(crate) folders: &'a [PathBuf],
    /// Whether it may also be in a folder that nobody can tell.
    pub(crate) adrift: bool,
}

impl Ground<'_> {
    /// Whether losing this would lose the system or all that a person has.
    pub(crate) fn is_vital(&self, word: &Word) -> bool {
        let text = word.text.trim_end_matches('/');
        if matches!(text, "~" | "$HOME" | "${HOME}") || text.starts_with("${HOME:") {
            return true;
        }
        if text.strip_prefix('~').is_some_and(|user| !user.contains('/')) {
            return true;
        }
        let (folder, all) = match text.rsplit_once('/') {
            Some((folder, last)) if pattern::is_everything(last) => {
                (if folder.is_empty() { "/" } else { folder }, true)
            }
            _ => (if text.is_empty() { &word.text } else { text }, false),
        };
        if matches!(folder, "~" | "$HOME" | "${HOME}") || text == "~/.." {
            return true;
        }
        // In a folder that is itself vital, `*` and `.` are all there is.
        let everything_here = pattern::is_everything(text);
        self.every(if everything_here { "." } else { folder })
            .any(|path| self.is_vital_path(&path) || !all && !everything_here && is_pattern_at_top(&path))
    }

    fn is_vital_path(&self, path: &Path) -> bool {
        let holds_home = self.place.home.as_deref().is_some_and(|home| home.starts_with(path));
        let names: Vec<String> = path.iter().skip(1).map(|name| name.to_string_lossy().to_ascii_lowercase()).collect();
        match names.as_slice() {
            [] => true,
            [top] => holds_home || is_system_folder(top),
            [top, _] => {
                holds_home || matches!(top.as_str(), "home" | "users") && self.place.root_of(path) != Some(path)
            }
            _ => holds_home,
        }
    }

    /// Why a word that may be a path is sensitive to whoever reads there.
    pub(crate) fn sensitive(&self, word: &Word) -> Option<&'static str> {
        self.paths_in(word).find_map(|path| self.unread_path(&path))
    }

    fn unread_path(&self, path: &Path) -> Option<&'static str> {
        match self.place.readable.iter().find(|folder| path.starts_with(folder)) {
            Some(folder) => is_unread_below(folder, path).or_else(|| pattern_finds_sensitive(path)),
            None => self.sensitive_path(path),
        }
    }

    /// Why a path is sensitive to whoever changes it.
    pub(super) fn sensitive_path(&self, path: &Path) -> Option<&'static str> {
        let by_name = match self.place.root_of(path) {
            Some(root) => is_sensitive_below(root, path),
            None => is_sensitive(path).or_else(|| system_secret(path)),
        };
        by_name.or_else(|| pattern_finds_sensitive(path))
    }

    /// Why writing there is more than writing a file.
    pub(crate) fn guarded(&self, word: &Word) -> Option<&'static str> {
        let by_name = self.paths_in(word).find_map(|path| self.sensitive_path(&path));
        let kept = |path: PathBuf| is_in_git_folder(&path).or_else(|| self.runs_later(&path));
        by_name.or_else(|| self.every(&word.text).find_map(kept))
    }

    /// Why reading there is more than reading a file: git's own files are left to git.
    pub(crate) fn unread(&self, word: &Word) -> Option<&'static str> {
        self.sensitive(word).or_else(|| self.every(&word.text).find_map(|path| is_in_git_folder(&path)))
    }

    fn runs_later(&self, path: &Path) -> Option<&'static str> {
        later(self.place.root_of(path)?, path)?.asks()
    }

    /// The sensitive files that a word names, as read.
    pub(crate) fn read_by(&self, word: &Word) -> Vec<Opened> {
        self.opened_by(word, false)
    }

    /// The same, as changed.
    pub(crate) fn changed_by(&self, word: &Word) -> Vec<Opened> {
        self.opened_by(word, true)
    }

    fn opened_by(&self, word: &Word, changes: bool) -> Vec<Opened> {
        let is_closed = |path: &PathBuf| {
            let sensitive = if changes { self.sensitive_path(path) } else { self.unread_path(path) };
            let to_all = sensitive.is_some() || is_in_git_folder(path).is_some();
            to_all || changes && self.runs_later(path).is_some()
        };
        self.paths_in(word).filter(is_closed).map(|path| Opened { path, changes }).collect()
    }

    /// Whether a path leads out of what the person opened. Temporary files and the harmless devices do not.
    pub(crate) fn is_outside(&self, word: &Word) -> bool {
        self.leads_to(word, |path| is_elsewhere(self.place, path))
    }

    /// Whether what is put there may be gone soon: it is a folder for temporary files, or the memory, and not one that
    /// the person opened.
    pub(crate) fn may_be_passing(&self, word: &Word) -> bool {
        const VARIABLES: [&str; 6] = ["$TMP", "${TMP", "$TEMP", "${TEMP", "$(mktemp", "`mktemp"];
        let by_variable = !word.exact && VARIABLES.iter().any(|start| word.text.starts_with(start));
        by_variable || self.every(&word.text).any(|path| self.is_passing(&path))
    }

    /// Whether what lies there is surely no more than that.
    pub(crate) fn is_surely_passing(&self, word: &Word) -> bool {
        (word.exact || word.pattern) && !self.adrift && self.every(&word.text).all(|path| self.is_passing(&path))
    }

    fn is_passing(&self, path: &Path) -> bool {
        let in_folder = TEMPORARY.iter().any(|folder| path.starts_with(folder));
        (in_folder || is_harmless_device(path)) && self.place.root_of(path).is_none()
    }

    /// The file outside that a word names, as changed: nothing where it may name another one, or none can be told.
    pub(crate) fn file_outside(&self, word: &Word) -> Option<Opened> {
        // What is opened is read as a pattern.
        let is_one = word.exact && !self.adrift && !word.text.ends_with('/') && !word.text.contains(['*', '?', '[']);
        let mut paths = self.every(&word.text).filter(|_| is_one);
        let path = paths.next().filter(|path| is_elsewhere(self.place, path))?;
        paths.all(|other| other == path).then_some(Opened { path, changes: true })
    }

    fn leads_to(&self, word: &Word, away: impl Fn(&Path) -> bool) -> bool {
        let unknown_home = word.text.starts_with('~') && !word.exact || word.text.starts_with("$HOME");
        unknown_home || self.adrift && !word.text.starts_with('/') || self.every(&word.text).any(|path| away(&path))
    }

    /// Whether a word that is perhaps no path at all looks like one that leads to files of others, the
    /// temporary ones included.
    pub(crate) fn looks_outside(&self, word: &Word) -> bool {
        spellings(&word.text).any(|text| {
            let is_path = text.starts_with(['/', '~']) || text.split('/').any(|name| name == "..");
            let is_range = text.contains("..") && !text.contains('/') && text != "..";
            let away = |path: &Path| self.place.root_of(path).is_none() && !is_harmless_device(path);
            is_path && !is_range && self.leads_to(&Word::of(text.into_owned(), word.exact), away)
        })
    }

    /// Whether the folder the command runs in is one the person opened.
    pub(crate) fn is_home_ground(&self) -> bool {
        !self.adrift && self.folders.iter().all(|folder| self.place.root_of(folder).is_some())
    }

    /// Whether the folder the command runs in is the very one the person opened, not one below it.
    pub(crate) fn is_root(&self) -> bool {
        !self.adrift && self.folders.iter().all(|folder| self.place.root_of(folder) == Some(folder))
    }

    /// Whether writing there overwrites a disk or the memory of the machine.
    pub(crate) fn is_device(&self, word: &Word) -> bool {
        self.every(&word.text).any(|path| {
            let dev = path.starts_with("/dev") && path != Path::new("/dev") && !is_harmless_device(&path);
            dev || path == Path::new("/proc/sysrq-trigger") || path.starts_with("/sys/firmware")
        })
    }

    /// Whether it is the record of what was typed into a shell.
    pub(crate) fn is_history(&self, word: &Word) -> bool {
        const RECORDS: &str = ".bash_history .zsh_history .zhistory .histfile .sh_history .history fish_history \
            .python_history .ksh_history";
        let text = word.text.rsplit(['/', '=']).next().unwrap_or_default();
        is_listed(text, RECORDS) || text == "$HISTFILE" || text == "${HISTFILE}"
    }

    pub(crate) fn is_own_settings(&self, word: &Word) -> bool {
        self.every(&word.text).any(|path| {
            let names: Vec<_> = path.iter().collect();
            let in_config = names.windows(2).any(|pair| pair[0] == ".config" && pair[1] == "neco");
            in_config || names.contains(&std::ffi::OsStr::new(".neco")) && is_sensitive(&path).is_some()
        })
    }

    /// Every path that a word may name.
    pub(super) fn paths_in(&self, word: &Word) -> impl Iterator<Item = PathBuf> {
        spellings(&word.text).flat_map(|text| self.every(&text).collect::<Vec<_>>())
    }

    /// The same with `..` as it is written: behind a link it leads elsewhere.
    pub(super) fn written_in(&self, word: &Word) -> impl Iterator<Item = PathBuf> {
        let written = |text: Cow<'_, str>| {
            let (text, folders) = self.meant_from(&text);
            folders.iter().map(|folder| folder.join(&*text)).collect::<Vec<_>>()
        };
        spellings(&word.text).flat_map(written).chain(self.paths_in(word))
    }

    /// The absolute path a text means, from every folder the line may be in.
    fn every(&self, text: &str) -> impl Iterator<Item = PathBuf> {
        let (text, folders) = self.meant_from(text);
        let paths: Vec<_> = folders.iter().map(|folder| self.place.absolute_from(folder, &text)).collect();
        paths.into_iter()
    }

    /// A text with the home folder in it, and the folders that it is meant from.
    fn meant_from<'t>(&self, text: &'t str) -> (Cow<'t, str>, &[PathBuf]) {
        let text = match (text.strip_prefix("~/").or_else(|| text.strip_prefix("$HOME/")), &self.place.home) {
            (Some(rest), Some(home)) => Cow::Owned(format!("{}/{rest}", home.display())),
            _ => Cow::Borrowed(text),
        };
        let folders = if text.starts_with('/') { self.folders.get(..1) } else { Some(self.folders) };
        (text, folders.unwrap_or_default())
    }
}

/// What may stand before a path in a word: `--file=x`, `@x`, `HEAD:x`, `-Wl,x`, `:(top)x`.
const BEFORE_A_PATH: &str = "=@:,)";

/// More such marks in one word are not looked behind.
const MOST_MARKS: usize = 8;

/// The texts in a word that may be paths: itself, what stands behind a mark, and behind letters of an option.
fn spellings(text: &str) -> impl Iterator<Item = Cow<'_, str>> {
    let is_option = text.starts_with('-');
    let whole = (!is_option).then_some(text);
    let marked = if text.contains("://") { "" } else { text };
    let marks = marked.char_indices().filter(|(_, letter)| BEFORE_A_PATH.contains(*letter)).take(MOST_MARKS);
    let behind = marks.filter_map(|(at, mark)| marked.get(at + mark.len_utf8()..)).flat_map(|rest| {
        let first = rest.split_once(|letter: char| BEFORE_A_PATH.contains(letter)).map(|(first, _)| first);
        [Some(rest), first]
    });
    let letters = text.strip_prefix('-').filter(|rest| !rest.starts_with('-'));
    // Several letters may stand together, as in `-xzffile`.
    let together = letters.filter(|rest| rest.contains(['/', '.']));
    let glued = [letters.and_then(|rest| rest.get(1..))]
        .into_iter()
        .chain((2..5).map(move |from| together.and_then(|rest| rest.get(from..))));
    let found = [whole, text.strip_prefix("file://")].into_iter().chain(behind).chain(glued);
    found.flatten().filter(|text| !text.is_empty()).map(Cow::Borrowed)
}

fn pattern_finds_sensitive(path: &Path) -> Option<&'static str> {
    pattern::finds_sensitive(path).then_some("the pattern finds files that may hold secrets")
}

fn is_system_folder(top: &str) -> bool {
    const FOLDERS: &str = "bin boot dev etc home lib lib32 lib64 libx32 media mnt opt proc root run sbin srv sys usr \
        var users system library applications private volumes";
    is_listed(top, FOLDERS)
}

/// A pattern in the root itself, such as `/u*`.
fn is_pattern_at_top(path: &Path) -> bool {
    let mut names = path.iter().skip(1);
    names.next().is_some_and(|name| name.to_string_lossy().contains(['*', '?', '['])) && names.next().is_none()
}

/// Whether a path lies in nothing that the person opened, and is neither a temporary file nor a harmless device.
pub(super) fn is_elsewhere(place: &Place, path: &Path) -> bool {
    place.root_of(path).is_none() && !is_temporary(path) && !is_harmless_device(path)
}

/// Folders for temporary files: in a box they are its own.
const TEMPORARY: [&str; 3] = ["/tmp", "/var/tmp", "/private/tmp"];

pub(super) fn is_temporary(path: &Path) -> bool {
    TEMPORARY.iter().any(|folder| path.starts_with(folder) && path != Path::new(folder))
}

/// Devices that hold nothing.
pub(crate) fn is_harmless_device(path: &Path) -> bool {
    const DEVICES: [&str; 10] =
        ["null", "zero", "full", "random", "urandom", "tty", "stdin", "stdout", "stderr", "ptmx"];
    path.strip_prefix("/dev").is_ok_and(|rest| {
        let first = rest.iter().next().unwrap_or_default().to_string_lossy();
        DEVICES.contains(&first.as_ref()) && rest.iter().count() == 1 || matches!(first.as_ref(), "fd" | "pts" | "shm")
    })
}

fn system_secret(path: &Path) -> Option<&'static str> {
    let text = path.to_string_lossy();
    let in_process = text.starts_with("/proc/") && ["/environ", "/mem", "/maps"].iter().any(|end| text.ends_with(end));
    let known = ["/etc/shadow", "/etc/gshadow", "/etc/sudoers", "/etc/ssh", "/etc/krb5.keytab", "/run/secrets"];
    let is_secret = in_process || known.iter().any(|start| text.starts_with(start)) || text.contains("_history");
    is_secret.then_some("it may hold secrets")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn with_ground(check: impl Fn(&Ground<'_>)) {
        let place = Place::new("/home/me/app").with_home("/home/me");
        let folders = [PathBuf::from("/home/me/app")];
        check(&Ground { place: &place, folders: &folders, adrift: false });
    }

    #[test]
    fn the_root_and_the_home_are_vital_in_all_spellings() {
        with_ground(|ground| {
            for text in [
                "/",
                "//",
                "/*",
                "/.",
                "/..",
                "/usr",
                "/usr/",
                "/usr/*",
                "/etc/../",
                "~",
                "~/",
                "~/*",
                "~/.*",
                "$HOME",
                "${HOME}/",
                "/home",
                "/home/me",
                "/home/other",
                "/home/me/*",
                "..",
                "../",
                "../*",
                "../..",
                "../../..",
                "../../../usr",
                "/u*",
                "/[eu]*",
                "~root",
                "/proc/self/root",
                "/proc/1/root/usr",
                "/HOME/ME",
                "./../../*",
            ] {
                assert!(ground.is_vital(&Word::exact(text)), "{text}");
            }
            for text in
                [".", "*", "./*", "target", "/tmp/x", "~/x", "../other", "/usr/local/share/x", "/home/me/app", "a/.."]
            {
                assert!(!ground.is_vital(&Word::exact(text)), "{text}");
            }
        });
    }

    #[test]
    fn secrets_are_seen_behind_options_too() {
        with_ground(|ground| {
            for text in [
                ".env",
                "--file=.env",
                "@.env",
                "-f.env",
                "~/.ssh/id_rsa",
                "HEAD:.env",
                ".en*",
                "*.key",
                "/etc/shadow",
                "x/../.env",
                "file:///home/me/app/.env",
                "/proc/self/environ",
                ".[e]nv",
                "?env",
            ] {
                assert!(ground.sensitive(&Word::exact(text)).is_some(), "{text}");
            }
            for text in ["*.rs", "src/main.rs", "env", "-name", "a*", "HEAD~3", "--env", "*"] {
                assert_eq!(ground.sensitive(&Word::exact(text)), None, "{text}");
            }
        });
    }

    #[test]
    fn skills_among_the_settings_are_read_and_not_changed() {
        with_ground(|ground| {
            let place = Place {
                readable: vec!["/home/me/.config/neco/skills".into(), "/home/me/.neco/plugins/kit".into()],
                ..ground.place.clone()
            };
            let ground = Ground { place: &place, ..*ground };
            for text in ["~/.config/neco/skills/notes/scripts/count.sh", "~/.neco/plugins/kit/hooks/count.sh"] {
                let script = Word::exact(text);
                assert_eq!((ground.sensitive(&script), ground.read_by(&script)), (None, Vec::new()), "{text}");
                assert!(ground.guarded(&script).is_some() && ground.changed_by(&script).len() == 1, "{text}");
            }
            for text in [
                "~/.config/neco/skills/notes/.env",
                "~/.neco/plugins/kit/hooks/.env",
                "~/.neco/plugins/kit/id_rsa",
                "~/.config/neco/config.toml",
                "~/.config/neco",
            ] {
                assert!(ground.sensitive(&Word::exact(text)).is_some(), "{text}");
            }
        });
    }

    #[test]
    fn outside_is_what_nobody_opened() {
        with_ground(|ground| {
            for text in ["/etc/passwd", "../x", "~/x", "a/../../x", "/home/me/app2"] {
                assert!(ground.is_outside(&Word::exact(text)), "{text}");
            }
            for text in ["a", "./a", "/home/me/app/a", "../app/a", "/tmp/x", "/dev/null"] {
                assert!(!ground.is_outside(&Word::exact(text)), "{text}");
            }
            for text in ["HEAD~3..HEAD", "main..", "a...b", "-l", "s/a/b/", "http://a/b"] {
                assert!(!ground.looks_outside(&Word::exact(text)), "{text}");
            }
        });
    }

    #[test]
    fn one_file_outside_is_told_where_it_is_surely_that_one() {
        with_ground(|ground| {
            let path = |word: Word| ground.file_outside(&word).map(|opened| opened.path);
            assert_eq!(path(Word::exact("../x")), Some("/home/me/x".into()));
            assert_eq!(path(Word::exact("/srv/a b")), Some("/srv/a b".into()));
            for text in ["../x/", "../x*", "x", "/tmp/x"] {
                assert_eq!(path(Word::exact(text)), None, "{text}");
            }
            assert_eq!(path(Word::guess("../$x")), None);
            let folders = ["/home/me/app", "/home/me/app/src"].map(PathBuf::from);
            let several = Ground { place: ground.place, folders: &folders, adrift: false };
            assert_eq!(several.file_outside(&Word::exact("../../x")), None);
            assert!(several.file_outside(&Word::exact("/srv/x")).is_some());
        });
    }
}
