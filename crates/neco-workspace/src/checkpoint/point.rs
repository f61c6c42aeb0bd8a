//! A point as it is stored: a git commit whose message says what was going on.

use gix::ObjectId;
use neco_proto::event::CheckpointWhen;

use super::checkpoints::{Note, Point};
use super::error::CheckpointError;

/// Lines at the end of a message.
const WHEN: &str = "Neco-When: ";
const SESSION: &str = "Neco-Session: ";
const DETAILS: &str = "Neco-Details: ";

/// Characters of a label that are kept.
const LABEL: usize = 200;

/// A point as it is stored.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StoredPoint {
    pub id: ObjectId,
    /// What the workspace held.
    pub tree: ObjectId,
    /// The point before it.
    pub parent: Option<ObjectId>,
    /// What was said of it.
    pub note: Note,
    /// What git's objects can't say: see [`super::details`].
    pub details: Option<ObjectId>,
    /// In seconds since 1970.
    pub seconds: i64,
}

impl StoredPoint {
    /// Reads a commit object.
    pub fn parse(id: ObjectId, bytes: &[u8]) -> Result<Self, CheckpointError> {
        Self::read(id, bytes).ok_or_else(|| CheckpointError::Damaged(format!("{id} is no commit")))
    }

    fn read(id: ObjectId, bytes: &[u8]) -> Option<Self> {
        let text = String::from_utf8_lossy(bytes);
        let (head, message) = text.split_once("\n\n")?;
        let of_head = |name: &str| head.lines().find_map(|line| line.strip_prefix(name));
        let seconds = of_head("committer ")?.rsplit(' ').nth(1)?.parse().ok()?;
        let of_message = |name: &str| message.lines().rev().find_map(|line| line.strip_prefix(name));
        let when = of_message(WHEN).and_then(when).unwrap_or(CheckpointWhen::Before);
        let subject = message.lines().next().unwrap_or_default();
        Some(Self {
            id,
            tree: of_head("tree ")?.parse().ok()?,
            parent: of_head("parent ").and_then(|id| id.parse().ok()),
            note: Note {
                when,
                label: subject.strip_suffix(&mark(when)).unwrap_or(subject).to_owned(),
                session: of_message(SESSION).unwrap_or_default().to_owned(),
            },
            details: of_message(DETAILS).and_then(|id| id.parse().ok()),
            seconds,
        })
    }

    /// As others see it.
    pub fn shown(&self) -> Point {
        Point {
            rev: self.id.to_string(),
            parent: self.parent.map(|parent| parent.to_string()),
            note: self.note.clone(),
            time_ms: self.seconds.saturating_mul(1000),
        }
    }
}

pub fn message(note: &Note, details: ObjectId) -> String {
    let label: String = note.label.split_whitespace().collect::<Vec<_>>().join(" ").chars().take(LABEL).collect();
    let label = if label.is_empty() { "checkpoint" } else { &label };
    let session: String = note.session.chars().filter(|letter| !letter.is_control()).collect();
    format!("{label}{}\n\n{WHEN}{}\n{SESSION}{session}\n{DETAILS}{details}\n", mark(note.when), note.when)
}

/// What tells two points of the same work apart in a log of subjects. What a restore is made after says so itself.
fn mark(when: CheckpointWhen) -> String {
    match when {
        CheckpointWhen::Before | CheckpointWhen::After => format!(" ({when})"),
        CheckpointWhen::Restore => String::new(),
    }
}

/// A commit object, for the backends that write it themselves.
pub fn commit_object(tree: ObjectId, parent: Option<ObjectId>, message: &str, seconds: i64) -> Vec<u8> {
    let parent = parent.map(|parent| format!("parent {parent}\n")).unwrap_or_default();
    let who = format!("Neco <neco@localhost> {seconds} +0000");
    format!("tree {tree}\n{parent}author {who}\ncommitter {who}\n\n{message}").into_bytes()
}

fn when(name: &str) -> Option<CheckpointWhen> {
    [CheckpointWhen::Before, CheckpointWhen::After, CheckpointWhen::Restore]
        .into_iter()
        .find(|when| when.to_string() == name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_point_is_read_as_it_was_written() {
        let id = ObjectId::empty_tree(gix::hash::Kind::Sha1);
        for when in [CheckpointWhen::Before, CheckpointWhen::After, CheckpointWhen::Restore] {
            let note = Note { when, label: "bash:\n rm\t-rf Neco-When: x".to_owned(), session: "s-1".to_owned() };
            for parent in [None, Some(id)] {
                let bytes = commit_object(id, parent, &message(&note, id), 1234);
                let point = StoredPoint::parse(id, &bytes).unwrap();
                assert_eq!(point.note, Note { label: "bash: rm -rf Neco-When: x".to_owned(), ..note.clone() });
                assert_eq!((point.tree, point.parent, point.details), (id, parent, Some(id)));
                assert_eq!(point.shown().time_ms, 1_234_000);
            }
        }
        let note = Note { when: CheckpointWhen::After, label: "tidy up".to_owned(), session: String::new() };
        assert!(message(&note, id).starts_with("tidy up (after)\n\n"));
        let old = message(&note, id).replacen(" (after)", "", 1);
        let old = StoredPoint::parse(id, &commit_object(id, None, &old, 1234)).unwrap();
        assert_eq!(old.note, note, "what older versions wrote reads the same");
        assert!(StoredPoint::parse(id, b"tree nonsense\n\nx").unwrap_err().is_damage());
    }
}
