//! Whose work would be overwritten by going back: what somebody else than the session changed since.
//!
//! A file is somebody else's from their change on, whatever the session does to it after that: their words may still
//! be in it. It is theirs no longer when it holds what it held before, for then nothing of theirs is in it.

use std::collections::{BTreeMap, BTreeSet};

use super::tree::{Item, TreeChange};

/// Whose work is in the files that were changed since a state.
#[derive(Debug, Default)]
pub struct ChangedBy {
    /// The files that hold somebody else's work.
    pub others: BTreeSet<Vec<u8>>,
    /// Those that a turn of the session changed.
    pub turns: BTreeSet<Vec<u8>>,
}

impl ChangedBy {
    /// Whether nobody but others changed a file. One that holds what an earlier state has is nobody's: a rewind that was
    /// cut short leaves such files.
    pub fn is_only_by_others(&self, path: &[u8]) -> bool {
        self.others.contains(path) && !self.turns.contains(path)
    }
}

/// Who made a change.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Hand {
    /// The session that goes back.
    Own,
    /// Anybody else.
    Others,
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
}

impl Others {
    /// Takes note of what was changed next, by whom as `is_own` says.
    pub fn note_all(&mut self, changes: Vec<TreeChange>, is_own: impl Fn(&TreeChange) -> bool) {
        let (own, theirs) = changes.into_iter().partition(is_own);
        self.note(own, Hand::Own);
        self.note(theirs, Hand::Others);
    }

    fn note(&mut self, changes: Vec<TreeChange>, hand: Hand) {
        for change in changes {
            let (before, now) = ((change.before, change.modes.0), (change.after, change.modes.1));
            let story = self.files.entry(change.path).or_insert_with(|| Story { ours: vec![before], is_theirs: false });
            let is_known = story.ours.contains(&now);
            story.is_theirs = !is_known && (story.is_theirs || hand == Hand::Others);
            if !is_known && !story.is_theirs {
                story.ours.push(now);
            }
        }
    }

    /// Files are nobody else's that hold what they held in an earlier state; `since` is what is different now from that.
    pub fn forget(&mut self, since: &[TreeChange]) {
        let different: BTreeSet<&Vec<u8>> = since.iter().map(|change| &change.path).collect();
        for (path, story) in self.files.iter_mut().filter(|(_, story)| story.is_theirs) {
            story.is_theirs = different.contains(path);
        }
    }

    /// Whether nothing is somebody else's.
    pub fn is_empty(&self) -> bool {
        !self.files.values().any(|story| story.is_theirs)
    }

    /// The files that hold somebody else's work.
    pub fn paths(self) -> BTreeSet<Vec<u8>> {
        self.files.into_iter().filter(|(_, story)| story.is_theirs).map(|(path, _)| path).collect()
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
            others.note(vec![TreeChange { path: b"a".to_vec(), before, after, modes: (None, None) }], hand);
        }
        !others.is_empty()
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

    #[test]
    fn permissions_are_part_of_what_a_file_is() {
        let change = |modes| TreeChange { path: b"a".to_vec(), before: item("one"), after: item("one"), modes };
        let mut others = Others::default();
        others.note(vec![change((Some(0o600), None))], Hand::Others);
        assert!(!others.is_empty());
        others.note(vec![change((None, Some(0o600)))], Hand::Own);
        assert!(others.is_empty());
    }

    #[test]
    fn what_an_earlier_state_holds_is_nobody_elses() {
        let change = TreeChange { path: b"a".to_vec(), before: item("one"), after: item("two"), modes: (None, None) };
        let mut others = Others::default();
        others.note(vec![change.clone()], Hand::Others);
        others.forget(&[TreeChange { before: item("three"), ..change }]);
        assert!(!others.is_empty());
        others.forget(&[]);
        assert!(others.paths().is_empty());
    }
}
