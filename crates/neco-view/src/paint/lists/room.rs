//! The room that sessions take, when nobody said what may go: the oldest, the biggest, and what is kept beside them.

use std::cmp::Reverse;

use neco_proto::app::sessions::{Kept, SessionRow};

use super::sessions::{Shape, as_lines};
use crate::figures;
use crate::short_id::ShortIds;

/// Sessions of each kind that are shown.
const SHOWN: usize = 5;

/// What takes room.
#[derive(Debug)]
pub struct Room<'a> {
    /// The sessions, the one used last first.
    pub sessions: Vec<SessionRow>,
    /// Whether those are only the ones of the folder that is worked in.
    pub here: bool,
    /// What is kept beside them.
    pub kept: &'a Kept,
    /// Their worktrees, a line each.
    pub worktrees: Vec<String>,
}

impl Room<'_> {
    /// All of it.
    pub fn into_lines(self, ids: &ShortIds, shape: &Shape<'_>) -> String {
        let Self { sessions: mut all, here, kept, worktrees } = self;
        let total = figures::bytes(all.iter().filter_map(|session| session.bytes).sum());
        let mut text = match (all.len(), here) {
            (0, _) => "there are no sessions\n".to_owned(),
            (1, _) => format!("1 session, {total}\n"),
            (some, true) => format!("{some} sessions of this folder, {total} together\n"),
            (some, false) => format!("{some} sessions, {total} together\n"),
        };
        let part = |name: &str, some: &[SessionRow]| format!("\n{name}:\n{}", as_lines(some, ids, shape));
        if all.len() > SHOWN {
            let oldest: Vec<SessionRow> = all.iter().rev().take(SHOWN).cloned().collect();
            text += &part("unused for longest", &oldest);
            all.sort_by_key(|session| Reverse(session.bytes));
            all.truncate(SHOWN);
            text += &part("the biggest", &all);
        } else if !all.is_empty() {
            text += &part("all of them", &all);
        }
        if kept.state_bytes > 0 {
            let (bytes, days) = (figures::bytes(kept.state_bytes), kept.keep_days);
            text += &format!("\ncheckpoints: {bytes}; pruning removes those older than {days} days\n");
        }
        if kept.orphan_bytes > 0 {
            let bytes = figures::bytes(kept.orphan_bytes);
            text += &format!("\ncheckpoints of folders without a session: {bytes}; pruning removes them\n");
        }
        if !worktrees.is_empty() {
            let lines = worktrees.join("\n");
            text += "\nworktrees of sessions; pruning removes those that are merged or unused for 30 days:\n";
            text += &format!("{lines}\n");
        }
        text
    }
}
