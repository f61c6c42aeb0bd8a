//! Where a conversation is cut when it is compacted, and what it becomes by each strategy.
//!
//! A cut never parts a call from its result: it lies before something that was said or before an answer.

use neco_model::tokens::{Family, estimate};
use neco_model::{Entry, History, ModelError};
use neco_proto::event::{Compaction, CompactionCause, CompactionStrategy};
use neco_proto::{Author, Message, MessageId, Role};

use super::meter::{tokens_of, tokens_of_all};
use super::outputs::{clipped, dropped, recent_from};
use super::replay::compact_history;
use super::space::Space;

/// Turns of the beginning that stay as they are, where they fit.
const FIRST_TURNS: usize = 3;

/// How the message begins that stands in place of an older part.
const SUMMARY: &str = "[Neco] The older part of this conversation was taken away to make room.";

/// Compaction aims at so much of what it begins at, in percent, so that it need not begin again soon.
const AIM: u64 = 75;

/// A summary that was asked for stands for at least this part of the conversation, where it can.
const ENOUGH: u64 = 3;

/// Notes have at least this part of the tokens that they stand for …
const LEAST_OF: u64 = 20;
/// … or so many, if that is less.
const LEAST_NOTES: u64 = 16;

/// Shorter notes than this are of no use.
const SHORTEST_NOTES: u64 = 200;
/// Tokens of the words around the notes.
const AROUND_NOTES: u64 = 80;

/// Why a conversation gets no summary.
#[derive(Debug, thiserror::Error)]
#[allow(missing_docs, reason = "the message says what each one is")]
pub enum SummaryError {
    #[error("the model called a tool instead of writing notes")]
    CalledTool,
    #[error("the summary was cut off")]
    CutOff,
    #[error("the model wrote no summary")]
    NotWritten,
    #[error("the summary failed: {0}")]
    Failed(ModelError),
    #[error("the summary ended without an end")]
    NoEnd,
    #[error("the summary was empty")]
    Empty,
    #[error("the model wrote no notes but {begins:?}, for about {gone} tokens")]
    TooShort { begins: String, gone: u64 },
    #[error("the summary was not shorter than what it stands for ({tokens} tokens)")]
    NotShorter { tokens: u64 },
}

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
    /// What holds beyond the conversation and is told with what stands in place of the older part.
    pub standing: Option<&'a str>,
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
    /// Whether turns of the beginning stay, and not the user's words alone.
    pub first_turns: bool,
}

/// Whether a message stands in place of an older part.
pub fn is_summary(message: &Message) -> bool {
    message.stands_for.older_part
}

/// What stays of an older part, in words.
pub fn stays_of_older(first_turns: bool) -> &'static str {
    if first_turns { "Its first turns and the user's last message" } else { "The user's first and last messages" }
}

/// The message that stands in place of an older part.
pub fn summary_message(notes: &str, first_turns: bool, standing: Option<&str>) -> Message {
    let kept = stays_of_older(first_turns);
    let mut text = format!(
        "{SUMMARY} {kept} of it are kept, the latest turns follow, and these are the notes that were written from the \
         rest:\n\n{}",
        notes.trim()
    );
    if let Some(standing) = standing.filter(|standing| !standing.trim().is_empty()) {
        text.push_str("\n\n");
        text.push_str(standing.trim());
    }
    Message { author: Some(Author::Neco), ..Message::user(text) }
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

    /// The cut that leaves as many of the last turns as should stay, and as fit beside what stays of the
    /// older part; and of the first ones as many as fit besides.
    pub fn cut(&self) -> Option<Cut> {
        let counted: Vec<u64> = self.history.iter().map(|entry| tokens_of(entry.message(), self.family)).collect();
        let room = self.aim().saturating_sub(self.beside());
        let kept = self.space.settings().keep_turns;
        // Fewer turns stay only when more would not fit.
        let turns = (1..=kept).rev().find(|turns| self.tokens_kept(&counted, 0, *turns) <= room).unwrap_or(1);
        match self.cause {
            CompactionCause::Full | CompactionCause::TooLong => self.cuts(&counted, room, turns).next(),
            CompactionCause::Asked => self.cut_as_asked(&counted, room, turns),
        }
    }

    /// The cuts before the last `turns` turns: with as many of the first ones as fit, then with fewer.
    fn cuts<'a>(&'a self, counted: &'a [u64], room: u64, turns: usize) -> impl Iterator<Item = Cut> + 'a {
        let fits = move |first: &usize| *first == 0 || self.tokens_kept(counted, *first, turns) <= room;
        (0..=FIRST_TURNS).rev().filter(fits).filter_map(move |first| cut_before(self.history, first, turns))
    }

    /// Whoever asks wants it shorter, also when all of it is recent: fewer turns stay when the usual ones are most of
    /// the conversation.
    fn cut_as_asked(&self, counted: &[u64], room: u64, turns: usize) -> Option<Cut> {
        let cuts = || (1..=turns).rev().flat_map(|turns| self.cuts(counted, room, turns));
        let all: u64 = counted.iter().sum();
        let takes_enough = |cut: &Cut| {
            let gone = self.history.iter().take(cut.from).zip(counted);
            let gone = gone.filter(|(entry, _)| !cut.pinned.contains(&entry.message().id));
            gone.map(|(_, tokens)| tokens).sum::<u64>() >= all / ENOUGH
        };
        cuts().find(takes_enough).or_else(|| cuts().next())
    }

    /// Whether a summary would leave the context less full than it may be: otherwise the next turn would
    /// want another one.
    pub fn is_worth_a_summary(&self, cut: &Cut) -> bool {
        let left = self.tokens_left(cut);
        self.space.compact_at().is_none_or(|full| self.beside().saturating_add(left) < full)
    }

    /// Whether notes of any use would fit beside what stays: then they are better than nothing, even if the
    /// context is nearly full again with them.
    pub fn has_room_for_notes(&self, cut: &Cut) -> bool {
        self.room_for_notes(cut) >= SHORTEST_NOTES
    }

    /// Tokens that the notes may have: as many as a summary has elsewhere, or what is left in a window that is
    /// nearly full of what must stay.
    pub fn room_for_notes(&self, cut: &Cut) -> u64 {
        let taken = self.fixed.saturating_add(self.standing_tokens()).saturating_add(self.tokens_left(cut));
        let left = self.space.usable().map_or(u64::MAX, |usable| usable.saturating_sub(taken + AROUND_NOTES));
        self.space.summary().min(left)
    }

    /// Tokens of what stays of the conversation.
    fn tokens_left(&self, cut: &Cut) -> u64 {
        let stays = |at: usize, id: MessageId| at >= cut.from || cut.pinned.contains(&id);
        let messages = self.history.iter().map(Entry::message).enumerate();
        messages
            .filter(|(at, message)| stays(*at, message.id))
            .map(|(_, message)| tokens_of(message, self.family))
            .sum()
    }

    /// Tokens of all that stands beside what stays of the conversation.
    fn beside(&self) -> u64 {
        self.fixed.saturating_add(self.space.summary()).saturating_add(self.standing_tokens())
    }

    fn standing_tokens(&self) -> u64 {
        self.standing.map_or(0, |standing| estimate(standing, self.family))
    }

    /// Tokens of the last `turns` turns and of what stays of the older part before them, with its `first` turns.
    fn tokens_kept(&self, counted: &[u64], first: usize, turns: usize) -> u64 {
        let from = recent_from(self.history, turns).unwrap_or(0);
        let pinned = pinned(self.history, first, from);
        let at = |(at, entry): (usize, &Entry)| pinned.contains(&entry.message().id).then(|| counted.get(at)).flatten();
        let older: u64 = self.history.iter().take(from).enumerate().filter_map(at).sum();
        counted.iter().skip(from).sum::<u64>().saturating_add(older)
    }

    /// With a summary of the older part; the reason when that is no gain.
    pub fn summed_up(&self, cut: &Cut, notes: &str) -> Result<Compaction, SummaryError> {
        self.has_substance(cut, notes)?;
        let notes = self.bounded(cut, notes);
        let compaction =
            self.at(cut, CompactionStrategy::Summary, Some(summary_message(&notes, cut.first_turns, self.standing)));
        if compaction.after >= compaction.before {
            return Err(SummaryError::NotShorter { tokens: compaction.after });
        }
        Ok(compaction)
    }

    /// A word or two are no notes of a long conversation: what they stand for would be lost.
    fn has_substance(&self, cut: &Cut, notes: &str) -> Result<(), SummaryError> {
        let notes = notes.trim();
        if notes.is_empty() {
            return Err(SummaryError::Empty);
        }
        let gone = self.history.iter().take(cut.from).map(Entry::message);
        let gone = gone.filter(|message| !cut.pinned.contains(&message.id));
        let gone: u64 = gone.map(|message| tokens_of(message, self.family)).sum();
        let least = (gone / LEAST_OF).min(LEAST_NOTES);
        if estimate(notes, self.family) >= least {
            return Ok(());
        }
        Err(SummaryError::TooShort { begins: notes.chars().take(40).collect(), gone })
    }

    /// Notes that are much longer than they may be are cut.
    fn bounded(&self, cut: &Cut, notes: &str) -> String {
        let (usual, room) = (self.space.summary(), self.room_for_notes(cut));
        let most = if room < usual { room } else { usual.saturating_mul(2) };
        if estimate(notes, self.family) <= most {
            return notes.to_owned();
        }
        let bytes = usize::try_from(most.saturating_mul(2)).unwrap_or(usize::MAX);
        clipped(notes, bytes / 4 * 3, bytes / 4)
    }

    /// Without the oldest outputs of tools; nothing when that does not help enough.
    pub fn without_outputs(&self) -> Option<Compaction> {
        let recent = recent_from(self.history, self.space.settings().keep_turns)?;
        let too_many = self.tokens.saturating_sub(self.aim());
        let dropped = dropped(self.history, 0, recent, too_many, self.family);
        let mut compaction = self.bare(CompactionStrategy::Outputs);
        (compaction.outputs, compaction.arguments) = (dropped.outputs, dropped.arguments);
        compaction.kept = self.history.len() as u64;
        self.weighed(compaction).filter(|done| done.after <= self.aim())
    }

    /// Without the older part, and without long outputs in the rest where it must be; nothing when even
    /// that is no gain.
    pub fn windowed(&self) -> Option<Compaction> {
        let note = "Nothing is left of it; look again at what is needed.";
        let cut = self.cut();
        let mut compaction = match &cut {
            Some(cut) => {
                self.at(cut, CompactionStrategy::Window, Some(summary_message(note, cut.first_turns, self.standing)))
            }
            None => self.bare(CompactionStrategy::Outputs),
        };
        if cut.is_none() {
            compaction.kept = self.history.len() as u64;
        }
        if compaction.after > self.aim() {
            let from = cut.as_ref().map_or(0, |cut| cut.from);
            let recent = recent_from(self.history, 1).unwrap_or(0);
            let too_many = compaction.after.saturating_sub(self.aim());
            let dropped = dropped(self.history, from, recent, too_many, self.family);
            (compaction.outputs, compaction.arguments) = (dropped.outputs, dropped.arguments);
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
            by: None,
            pinned: Vec::new(),
            summary: None,
            since: None,
            outputs: Vec::new(),
            arguments: Vec::new(),
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

/// The cut between the first and the last turns; nothing when that would take nothing away, or only a summary.
fn cut_before(history: &History, first: usize, turns: usize) -> Option<Cut> {
    let from = recent_from(history, turns)?;
    let since = history.iter().nth(from)?.message().id;
    let pinned = pinned(history, first, from);
    let older = history.iter().take(from).map(Entry::message);
    let gone: Vec<&Message> = older.filter(|message| !pinned.contains(&message.id)).collect();
    let something_new = gone.iter().any(|message| !is_summary(message));
    let removed = gone.len() as u64;
    something_new.then_some(Cut { pinned, since, from, removed, first_turns: first > 0 })
}

/// What stays of the first `count` messages: the first turns, the task, and what the person wants now, all in their
/// own words.
fn pinned(history: &History, first: usize, count: usize) -> Vec<MessageId> {
    let older = || history.iter().take(count).map(Entry::message);
    let beginning = beginning(older(), first);
    let is_said = |message: &Message| message.role == Role::User && !message.is_neco();
    let said: Vec<MessageId> = older().filter(|message| is_said(message)).map(|message| message.id).collect();
    let outer = |id: &MessageId| said.first() == Some(id) || said.last() == Some(id);
    let stays = |(at, message): &(usize, &Message)| *at < beginning || outer(&message.id);
    older().enumerate().filter(stays).map(|(_, message)| message.id).collect()
}

/// How many messages the first `turns` turns have: what was said before them, the answers, and what came of their
/// calls. What stands in place of an older part is no beginning.
fn beginning<'a>(messages: impl Iterator<Item = &'a Message>, turns: usize) -> usize {
    if turns == 0 {
        return 0;
    }
    let mut answers = 0;
    let mut end = 0;
    for (at, message) in messages.enumerate() {
        answers += usize::from(message.role == Role::Assistant);
        if is_summary(message) || answers > turns {
            break;
        }
        // What is said after the last of them belongs to the next one.
        if message.role != Role::User {
            end = at + 1;
        }
    }
    end
}
