//! Whose work would be overwritten by going back: what somebody else than the session changed since.
//!
//! A file is somebody else's from their change on, whatever the session does to it after that: their words may still
//! be in it. It is theirs no longer when it holds what it held since the state that is gone back to, or when the session
//! put it into an earlier state: nothing of theirs is in it then. What they put into an earlier state themselves, as by
//! switching branches, is theirs.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use super::cache::nanoseconds;
use super::checkpoints::Unfinished;
use super::tree::{Item, TreeChange};

/// The clock of a file system may be so much behind.
pub(super) const SLACK_MS: i64 = 10;

/// Whose work is in the files that were changed since a state.
#[derive(Debug, Default)]
pub struct ChangedBy {
    /// The files that hold somebody else's work.
    pub others: BTreeSet<Vec<u8>>,
    /// Those that a turn of the session changed.
    pub turns: BTreeSet<Vec<u8>>,
    /// Those that were changed while a call ran, by the call or by anybody else.
    pub unsure: BTreeSet<Vec<u8>>,
}

impl ChangedBy {
    /// Whether nobody but others changed a file.
    pub fn is_only_by_others(&self, path: &[u8]) -> bool {
        self.others.contains(path) && !self.turns.contains(path)
    }
}

/// Who made a change.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Hand {
    /// The session that goes back.
    Own,
    /// A call of the session, or anybody else while it ran.
    Unsure,
    /// A turn that counts as the session's and that another one made.
    Turn,
    /// Anybody else, after a tool of the session wrote or removed the file in the same turn.
    Over,
    /// Anybody else.
    Others,
}

/// Work, or a restore, that was cut short.
#[derive(Debug)]
pub enum Cut<'a> {
    /// Work: what was changed while it went on is its own.
    Work(&'a Unfinished),
    /// A restore, with all that it was about to do: what holds what it writes is its own.
    Restore(Vec<TreeChange>),
}

impl Cut<'_> {
    /// Whether a change came of it.
    pub fn made(&self, root: &Path, change: &TreeChange) -> bool {
        match self {
            Self::Work(work) => is_of(root, change, work),
            Self::Restore(steps) => {
                let step = steps.binary_search_by(|step| step.path.cmp(&change.path)).ok();
                let step = step.and_then(|at| steps.get(at));
                step.is_some_and(|step| (step.after, step.modes.1) == (change.after, change.modes.1))
            }
        }
    }
}

/// Whether a file was changed last while work went on that was cut short. That one is gone can't be dated, and brings
/// nothing of anybody's with it.
fn is_of(root: &Path, change: &TreeChange, cut: &Unfinished) -> bool {
    let Some(at) = changed_ms(root, change) else { return change.after.is_none() };
    (cut.since_ms.saturating_sub(SLACK_MS)..=cut.until_ms).contains(&at)
}

/// When a file that is there was changed last, in milliseconds since 1970. That can't be set back, as when it was written
/// can.
pub(super) fn changed_ms(root: &Path, change: &TreeChange) -> Option<i64> {
    let facts = rustix::fs::lstat(root.join(OsStr::from_bytes(&change.path))).ok()?;
    Some(facts.st_ctime.saturating_mul(1000).saturating_add(nanoseconds(facts.st_ctime_nsec) / 1_000_000))
}

/// What a file is at a moment: its content, and permissions that are others than usual.
type Look = (Option<Item>, Option<u32>);

/// What is known of every file that was changed.
#[derive(Debug, Default)]
pub struct Others {
    files: BTreeMap<Vec<u8>, Story>,
}

#[derive(Debug)]
struct Story {
    /// What it was when nothing of others was in it.
    ours: Vec<Look>,
    is_theirs: bool,
    /// Whether a turn of the session changed it.
    is_turned: bool,
    /// Whether it may be somebody else's.
    is_unsure: bool,
    /// Who changed it last.
    last: Hand,
}

impl Others {
    /// Takes note of what was changed next, by whom as `by` says.
    pub fn note_all(&mut self, changes: Vec<TreeChange>, by: impl Fn(&TreeChange) -> Hand) {
        for change in changes {
            let hand = by(&change);
            let (before, now) = ((change.before, change.modes.0), (change.after, change.modes.1));
            let story = self.files.entry(change.path).or_insert_with(|| Story::of(before));
            let is_known = story.ours.contains(&now);
            story.is_theirs = !is_known && (story.is_theirs || matches!(hand, Hand::Turn | Hand::Over | Hand::Others));
            story.is_unsure = !is_known && (story.is_unsure || hand == Hand::Unsure);
            story.is_turned |= hand != Hand::Others;
            story.last = hand;
            if !is_known && !story.is_theirs && !story.is_unsure {
                story.ours.push(now);
            }
        }
    }

    /// Files are nobody else's that the session left as they were in an earlier state; `since` is what is different now
    /// from that.
    pub fn forget(&mut self, since: &[TreeChange]) {
        let different: BTreeSet<&Vec<u8>> = since.iter().map(|change| &change.path).collect();
        for (path, story) in self.files.iter_mut().filter(|(_, story)| story.may_be_forgotten()) {
            story.is_theirs = different.contains(path);
        }
    }

    /// Whether an earlier state could say of a file that it is nobody else's.
    pub fn may_forget(&self) -> bool {
        self.files.values().any(Story::may_be_forgotten)
    }

    /// What came of it.
    pub fn changed_by(self) -> ChangedBy {
        let mut changed = ChangedBy::default();
        for (path, story) in self.files {
            if story.is_turned {
                changed.turns.insert(path.clone());
            }
            if story.is_theirs {
                changed.others.insert(path);
            } else if story.is_unsure {
                changed.unsure.insert(path);
            }
        }
        changed
    }
}

impl Story {
    fn of(look: Look) -> Self {
        Self { ours: vec![look], is_theirs: false, is_turned: false, is_unsure: false, last: Hand::Others }
    }

    fn may_be_forgotten(&self) -> bool {
        self.is_theirs && !matches!(self.last, Hand::Over | Hand::Others)
    }
}

#[cfg(test)]
mod tests {
    use gix::ObjectId;
    use gix::objs::Kind;

    use super::super::tree::{ItemKind, id_of};
    use super::*;

    fn item(text: &str) -> Option<Item> {
        let id: ObjectId = id_of(Kind::Blob, text.as_bytes()).unwrap();
        (!text.is_empty()).then_some(Item { kind: ItemKind::File, id })
    }

    /// Whether a file is theirs that became each of these, one after the other, `+` by the session.
    fn is_theirs(steps: &[&str]) -> bool {
        let mut others = Others::default();
        for pair in steps.windows(2) {
            let text = |step: &str| item(step.trim_start_matches('+'));
            let hand = if pair[1].starts_with('+') { Hand::Own } else { Hand::Others };
            let (before, after) = (text(pair[0]), text(pair[1]));
            others.note_all(vec![TreeChange { path: b"a".to_vec(), before, after, modes: (None, None) }], |_| hand);
        }
        has_theirs(others)
    }

    fn has_theirs(others: Others) -> bool {
        !others.changed_by().others.is_empty()
    }

    #[test]
    fn what_others_wrote_is_theirs_until_nothing_of_it_is_left() {
        assert!(!is_theirs(&["one", "+two"]));
        assert!(is_theirs(&["one", "+two", "three"]));
        assert!(is_theirs(&["one", "three", "+four"]), "what they wrote may still be in it");
        assert!(!is_theirs(&["one", "+two", "three", "+two"]), "it was put back");
        assert!(!is_theirs(&["one", "two", "one"]), "they put it back themselves");
        assert!(!is_theirs(&["one", "two", "+one", "+four"]));
        assert!(is_theirs(&["one", "two", "+one", "+four", "five"]));
        assert!(is_theirs(&["one", "+two", ""]), "they deleted it");
    }

    /// What a file was and became, and whose hand it was.
    type Step = ((Option<u32>, Option<u32>), Hand);

    #[test]
    fn permissions_are_part_of_what_a_file_is() {
        let change = |modes| TreeChange { path: b"a".to_vec(), before: item("one"), after: item("one"), modes };
        let noted = |steps: &[Step]| {
            let mut others = Others::default();
            steps.iter().for_each(|(modes, hand)| others.note_all(vec![change(*modes)], |_| *hand));
            others
        };
        let theirs = ((Some(0o600), None), Hand::Others);
        assert!(has_theirs(noted(&[theirs])));
        assert!(!has_theirs(noted(&[theirs, ((None, Some(0o600)), Hand::Own)])));
    }

    #[test]
    fn what_the_session_put_into_an_earlier_state_is_nobody_elses_and_what_others_put_there_is_theirs() {
        let change = |before: &str, after: &str| TreeChange {
            path: b"a".to_vec(),
            before: item(before),
            after: item(after),
            modes: (None, None),
        };
        for (hand, stays) in [(Hand::Own, false), (Hand::Turn, false), (Hand::Over, true), (Hand::Others, true)] {
            let mut others = Others::default();
            others.note_all(vec![change("one", "two")], |_| Hand::Others);
            others.note_all(vec![change("two", "zero")], |_| hand);
            others.forget(&[change("another", "zero")]);
            assert_eq!(others.may_forget(), !stays, "{hand:?}");
            // An earlier state holds what is there now.
            others.forget(&[]);
            assert_eq!(has_theirs(others), stays, "{hand:?}");
        }
    }

    #[test]
    fn what_holds_what_an_interrupted_restore_writes_came_of_it() {
        let change = |path: &str, after: &str, mode: Option<u32>| TreeChange {
            path: path.as_bytes().to_vec(),
            before: item("new"),
            after: item(after),
            modes: (None, mode),
        };
        let cut = Cut::Restore(vec![change("a", "old", None), change("b", "", None)]);
        let made = |change: TreeChange| cut.made(Path::new("/none"), &change);
        assert!(made(change("a", "old", None)) && made(change("b", "", None)));
        assert!(!made(change("a", "by hand", None)) && !made(change("a", "old", Some(0o600))));
        assert!(!made(change("c", "old", None)), "it was not about to touch it");
    }
}
