//! What the commands of a killed process left, and putting it right as it would have done itself.

use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use crate::after::hands::Hands;
use crate::after::known::Mark;
use crate::after::watch::Watch;
use crate::git::bare::unmake;
use crate::git::check::Aftermath;

/// What is to be put right if nobody else does; the paths are absolute.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Note {
    Settings(PathBuf),
    /// What leads git elsewhere and was not there.
    Unwanted(PathBuf),
    /// A folder that was no repository by itself.
    NeverBare(PathBuf),
    /// A folder that commands worked in, and since when.
    Root(PathBuf, SystemTime),
    /// A git folder that was there, and which one it was: another may be in its place by now.
    Known(PathBuf, Mark),
}

impl Note {
    /// How it stands in a list.
    pub(crate) fn line(&self) -> Vec<u8> {
        let (sign, mark, path) = match self {
            Self::Settings(path) => ("s", String::new(), path),
            Self::Unwanted(path) => ("u", String::new(), path),
            Self::NeverBare(path) => ("b", String::new(), path),
            Self::Root(path, since) => {
                let since = since.duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
                ("r", since.as_nanos().to_string(), path)
            }
            Self::Known(path, mark) => ("k", mark.written(), path),
        };
        [sign.as_bytes(), mark.as_bytes(), path.as_os_str().as_bytes(), &[0]].concat()
    }

    /// What stands in a list; nothing for what is none of these.
    pub(crate) fn read(line: &[u8]) -> Option<Self> {
        let (front, path) = line.split_at_checked(line.iter().position(|byte| *byte == b'/')?)?;
        let (sign, mark) = front.split_first()?;
        let path = PathBuf::from(OsStr::from_bytes(path));
        match (sign, mark) {
            (b's', b"") => Some(Self::Settings(path)),
            (b'u', b"") => Some(Self::Unwanted(path)),
            (b'b', b"") => Some(Self::NeverBare(path)),
            (b'r', since) => {
                let since = std::str::from_utf8(since).ok()?.parse().ok()?;
                Some(Self::Root(path, SystemTime::UNIX_EPOCH + Duration::from_nanos(since)))
            }
            (b'k', mark) => Some(Self::Known(path, Mark::read(std::str::from_utf8(mark).ok()?)?)),
            _ => None,
        }
    }
}

/// Puts right what was noted. What changed after the machine was started anew is the person's.
pub(crate) fn put_right(notes: &[Note], written: Option<SystemTime>) {
    let booted = booted();
    let before_boot = booted.zip(written).is_some_and(|(booted, written)| written < booted);
    let is_commands = |path: &Path| {
        let Ok(found) = fs::symlink_metadata(path) else { return false };
        let changed = SystemTime::UNIX_EPOCH + Duration::from_secs(u64::try_from(found.ctime()).unwrap_or_default());
        !before_boot || booted.is_none_or(|booted| changed < booted)
    };
    let mut aftermath = Aftermath::default();
    let (mut roots, mut known, mut began) = (Vec::new(), Vec::new(), None);
    for note in notes {
        match note {
            Note::Settings(path) | Note::Unwanted(path) => {
                let hands = path.parent().and_then(|folder| Hands::open_straight(folder).ok());
                if let Some(hands) = hands.filter(|_| is_commands(path)) {
                    aftermath.note(path, hands.put_aside(path, "refused"));
                }
            }
            Note::NeverBare(path) => {
                let hands = Hands::open_straight(path).ok().filter(|_| is_commands(&path.join("HEAD")));
                if let Some(done) = hands.and_then(|hands| unmake(&hands, path)) {
                    aftermath.note(path, done);
                }
            }
            Note::Root(path, since) => {
                roots.extend(path.is_dir().then(|| path.clone()));
                began = Some(began.map_or(*since, |began: SystemTime| began.min(*since)));
            }
            Note::Known(path, mark) => known.push((path.clone(), *mark)),
        }
    }
    if let Some(began) = began.filter(|_| !before_boot)
        && let Ok(watch) = Watch::new(&roots, true, &[PathBuf::from("/")])
    {
        watch.instead_of(began).sweep(known.into_iter(), &mut aftermath);
    }
}

fn booted() -> Option<SystemTime> {
    let text = fs::read_to_string("/proc/uptime").ok()?;
    let seconds: f64 = text.split_whitespace().next()?.parse().ok()?;
    SystemTime::now().checked_sub(Duration::try_from_secs_f64(seconds).ok()?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn notes_are_read_as_they_were_written() {
        let mark = Mark::read("1 2 3 -").unwrap();
        let path = || PathBuf::from(OsStr::from_bytes(b"/a b/\xff"));
        let (one, other) = (Note::Settings(path()), Note::Unwanted(path()));
        for note in
            [one, other, Note::NeverBare(path()), Note::Root(path(), SystemTime::UNIX_EPOCH), Note::Known(path(), mark)]
        {
            let line = note.line();
            assert_eq!(Note::read(line.strip_suffix(&[0]).unwrap()), Some(note));
        }
        for odd in [b"k/a".as_slice(), b"", b"s", b"x/a", b"s1/a"] {
            assert_eq!(Note::read(odd), None, "{odd:?}");
        }
    }
}
