//! Where a conversation is cut when it is compacted, and what it becomes by each strategy.
//!
//! A cut never parts a call from its result: it lies before something that was said or before an answer.

use neco_model::tokens::{Family, estimate};
use neco_model::{Entry, History};
use neco_proto::event::{Compaction, CompactionCause, CompactionStrategy};
use neco_proto::{Message, MessageId, Role};

use super::meter::{tokens_of, tokens_of_all};
use super::outputs::{clipped, dropped, recent_from};
use super::replay::compact_history;
use super::space::Space;

/// How the message begins that stands in place of an older part.
const SUMMARY: &str = "[Neco] The older part of this conversation was taken away to make room.";

/// Compaction aims at so much of what it begins at, in percent, so that it need not begin again soon.
const AIM: u64 = 75;

/// A conversation that is too long, and the room there is for it.
#[derive(Clone, Copy)]
pub struct TooLong<'a> {
    /// The conversation.
    pub history: &'a History,
    /// Tokens of everything, as far as is known.
    pub tokens: u64,
    /// Tokens of all that is not the conversation.
    pub fixed: u64,
    /// The room.
    pub space: &'a Space,
    /// How text is counted.
    pub family: Family,
    /// Why it has to be shorter.
    pub cause: CompactionCause,
}

/// Where a conversation is cut.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Cut {
    /// What stays of the older part.
    pub pinned: Vec<MessageId>,
    /// Where the part begins that stays.
    pub since: MessageId,
    /// Its place.
    pub from: usize,
    /// How many messages go.
    pub removed: u64,
}

/// Whether a message stands in place of an older part.
#[must_use]
pub fn is_summary(message: &Message) -> bool {
    message.role == Role::User && message.text().starts_with(SUMMARY)
}

/// The message that stands in place of an older part.
#[must_use]
pub fn summary_message(notes: &str, standing: Option<&str>) -> Message {
    let mut text = format!(
        "{SUMMARY} The user's first and last messages of it are kept, the latest turns follow, and these are the notes \
         that were written from the rest:\n\n{}",
        notes.trim()
    );
    if let Some(standing) = standing.filter(|standing| !standing.trim().is_empty()) {
        text.push_str("\n\n");
        text.push_str(standing.trim());
    }
    Message::user(text)
}

impl TooLong<'_> {
    /// Tokens that everything should have afterwards.
    fn aim(&self) -> u64 {
        let full = self.space.compact_at().unwrap_or(u64::MAX);
        let aim = if full == u64::MAX { full } else { full / 100 * AIM };
        match self.cause {
            CompactionCause::Full | CompactionCause::Asked => aim,
            // The count was wrong or the window smaller than is known: what was refused is the measure.
            CompactionCause::TooLong => aim.min(self.tokens / 100 * 70),
        }
    }

    /// The cut that leaves as many of the last turns as should stay, and as fit.
    #[must_use]
    pub fn cut(&self) -> Option<Cut> {
        let counted: Vec<u64> = self.history.iter().map(|entry| tokens_of(entry.message(), self.family)).collect();
        let room = self.aim().saturating_sub(self.fixed).saturating_sub(self.space.summary());
        let tail = |turns: usize| counted.iter().skip(recent_from(self.history, turns).unwrap_or(0)).sum::<u64>();
        let kept = self.space.settings().keep_turns;
        // Fewer turns stay only when more would not fit.
        let turns = (1..=kept).rev().find(|turns| tail(*turns) <= room).unwrap_or(1);
        cut_before(self.history, turns)
    }

    /// With a summary of the older part; the reason when that is no gain.
    ///
    /// # Errors
    /// Why not, in words.
    pub fn summed_up(&self, cut: &Cut, notes: &str, standing: Option<&str>) -> Result<Compaction, String> {
        if notes.trim().is_empty() {
            return Err("the summary was empty".to_owned());
        }
        let notes = self.bounded(notes);
        let compaction = self.at(cut, CompactionStrategy::Summary, Some(summary_message(&notes, standing)));
        if compaction.after >= compaction.before {
            return Err(format!("the summary was not shorter than what it stands for ({} tokens)", compaction.after));
        }
        Ok(compaction)
    }

    /// Notes that are much longer than they may be are cut.
    fn bounded(&self, notes: &str) -> String {
        let most = self.space.summary().saturating_mul(2);
        if estimate(notes, self.family) <= most {
            return notes.to_owned();
        }
        let bytes = usize::try_from(most.saturating_mul(2)).unwrap_or(usize::MAX);
        clipped(notes, bytes / 4 * 3, bytes / 4)
    }

    /// Without the oldest outputs of tools; nothing when that does not help enough.
    #[must_use]
    pub fn without_outputs(&self) -> Option<Compaction> {
        let recent = recent_from(self.history, self.space.settings().keep_turns)?;
        let too_many = self.tokens.saturating_sub(self.aim());
        let outputs = dropped(self.history, 0, recent, too_many, self.family);
        let outputs: Vec<_> = outputs.into_iter().collect();
        let mut compaction = self.bare(CompactionStrategy::Outputs);
        compaction.outputs = outputs;
        compaction.kept = self.history.len() as u64;
        self.weighed(compaction).filter(|done| done.after <= self.aim())
    }

    /// Without the older part, and without long outputs in the rest where it must be; nothing when even
    /// that is no gain.
    #[must_use]
    pub fn windowed(&self, standing: Option<&str>) -> Option<Compaction> {
        let note = "Nothing is left of it; look again at what is needed.";
        let cut = self.cut();
        let mut compaction = match &cut {
            Some(cut) => self.at(cut, CompactionStrategy::Window, Some(summary_message(note, standing))),
            None => self.bare(CompactionStrategy::Outputs),
        };
        if cut.is_none() {
            compaction.kept = self.history.len() as u64;
        }
        if compaction.after > self.aim() {
            let from = cut.as_ref().map_or(0, |cut| cut.from);
            let recent = recent_from(self.history, 1).unwrap_or(0);
            let too_many = compaction.after.saturating_sub(self.aim());
            compaction.outputs = dropped(self.history, from, recent, too_many, self.family);
        }
        self.weighed(compaction)
    }

    fn at(&self, cut: &Cut, strategy: CompactionStrategy, summary: Option<Message>) -> Compaction {
        let compaction = Compaction {
            pinned: cut.pinned.clone(),
            summary,
            since: Some(cut.since),
            removed: cut.removed,
            kept: (self.history.len() as u64).saturating_sub(cut.removed),
            ..self.bare(strategy)
        };
        let after = self.after(&compaction);
        Compaction { after, ..compaction }
    }

    fn bare(&self, strategy: CompactionStrategy) -> Compaction {
        Compaction {
            cause: self.cause,
            strategy,
            before: self.fixed.saturating_add(tokens_of_all(self.history, self.family)),
            after: self.tokens,
            kept: 0,
            removed: 0,
            focus: None,
            pinned: Vec::new(),
            summary: None,
            since: None,
            outputs: Vec::new(),
            notes: Vec::new(),
        }
    }

    fn after(&self, compaction: &Compaction) -> u64 {
        self.fixed.saturating_add(tokens_of_all(&compact_history(self.history, compaction), self.family))
    }

    fn weighed(&self, compaction: Compaction) -> Option<Compaction> {
        let after = self.after(&compaction);
        (after < compaction.before).then_some(Compaction { after, ..compaction })
    }
}

/// The cut before the last `turns` turns; nothing when that would take nothing away, or only a summary.
fn cut_before(history: &History, turns: usize) -> Option<Cut> {
    let from = recent_from(history, turns)?;
    let since = history.iter().nth(from)?.message().id;
    let older: Vec<&Message> = history.iter().take(from).map(Entry::message).collect();
    let mut said = older.iter().filter(|message| message.role == Role::User && !message.is_neco());
    // The task, and what the person wants now: both in their own words.
    let pinned: Vec<MessageId> =
        [said.next(), said.next_back()].into_iter().flatten().map(|message| message.id).collect();
    let gone: Vec<&&Message> = older.iter().filter(|message| !pinned.contains(&message.id)).collect();
    let something_new = gone.iter().any(|message| !is_summary(message));
    something_new.then_some(Cut { pinned, since, from, removed: gone.len() as u64 })
}
