//! What the commands of a killed process left, and putting it right as it would have done itself.

use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use super::bare::unmake;
use super::git_check::Aftermath;
use super::hands::Hands;
use super::watch::Watch;

/// What is to be put right if nobody else does.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Note {
    pub(super) kind: NoteKind,
    /// Absolute.
    pub(super) path: PathBuf,
}

/// What a note is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum NoteKind {
    /// Settings that were not there.
    Settings,
    /// What leads git elsewhere and was not there.
    Unwanted,
    /// A folder that was no repository by itself.
    NeverBare,
    /// A folder that commands worked in.
    Root,
    /// A git folder that was there.
    Known,
}

impl NoteKind {
    const ALL: [(Self, u8); 5] = [
        (Self::Settings, b's'),
        (Self::Unwanted, b'u'),
        (Self::NeverBare, b'b'),
        (Self::Root, b'r'),
        (Self::Known, b'k'),
    ];

    /// How it stands in a list.
    pub(super) fn sign(self) -> u8 {
        Self::ALL.iter().find(|(kind, _)| *kind == self).map_or(b'?', |(_, sign)| *sign)
    }

    /// What stands in a list.
    pub(super) fn of(sign: u8) -> Option<Self> {
        Self::ALL.iter().find(|(_, own)| *own == sign).map(|(kind, _)| *kind)
    }
}

/// Puts right what was noted. What changed after the machine was started anew is the person's.
pub(super) fn put_right(notes: &[Note], written: Option<SystemTime>) {
    let booted = booted();
    let before_boot = booted.zip(written).is_some_and(|(booted, written)| written < booted);
    let is_commands = |path: &Path| {
        let Ok(found) = fs::symlink_metadata(path) else { return false };
        let changed = SystemTime::UNIX_EPOCH + Duration::from_secs(u64::try_from(found.ctime()).unwrap_or_default());
        !before_boot || booted.is_none_or(|booted| changed < booted)
    };
    let mut aftermath = Aftermath::default();
    for Note { kind, path } in notes {
        match kind {
            NoteKind::Settings | NoteKind::Unwanted if is_commands(path) => {
                if let Some(hands) = path.parent().and_then(|folder| Hands::open_straight(folder).ok()) {
                    aftermath.note(path, hands.put_aside(path, "refused"));
                }
            }
            NoteKind::NeverBare if is_commands(&path.join("HEAD")) => {
                if let Some(done) = Hands::open_straight(path).ok().and_then(|hands| unmake(&hands, path)) {
                    aftermath.note(path, done);
                }
            }
            NoteKind::Settings | NoteKind::Unwanted | NoteKind::NeverBare | NoteKind::Root | NoteKind::Known => {}
        }
    }
    let of = |wanted: NoteKind| notes.iter().filter(move |note| note.kind == wanted).map(|note| note.path.clone());
    let roots: Vec<PathBuf> = of(NoteKind::Root).filter(|root| root.is_dir()).collect();
    if !before_boot && let Ok(watch) = Watch::new(&roots, true, &[PathBuf::from("/")]) {
        watch.sweep(of(NoteKind::Known), &mut aftermath);
    }
}

fn booted() -> Option<SystemTime> {
    let text = fs::read_to_string("/proc/uptime").ok()?;
    let seconds: f64 = text.split_whitespace().next()?.parse().ok()?;
    SystemTime::now().checked_sub(Duration::try_from_secs_f64(seconds).ok()?)
}
