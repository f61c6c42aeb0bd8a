//! Room for the conversation: what happens between the wish to ask the model and the question itself.
//!
//! Outdated outputs are shortened first, in batches. When that is not enough the conversation is compacted: a model
//! call beside the work, which a cancel ends like any other and whose failure only means the next strategy.

use std::sync::Arc;

use futures::StreamExt;
use neco_model::tokens::{Family, estimate};
use neco_model::{Answer, Delta, DeltaStream, Entry, FinishReason, ModelError};
use neco_proto::event::{Compaction, CompactionCause, ContextTrim};
use neco_proto::{Actor, EventBody, Message, Role};

use super::conversation::Conversation;
use super::gated::{AtGate, GateScene};
use super::model::Model;
use super::no_room::{biggest, refused_as_too_long, too_long_to_fit, too_small};
use super::reports::Reports;
use crate::context::{
    Assembled, ContextSettings, Counted, Cut, Meter, Prompts, Space, SummaryError, TooLong, compact_history,
    recent_from, stays_of_older, transcript_of, trim_history, used_up,
};
use crate::ports::SinkError;

/// Tokens that are summed up at once where the window is not known.
const UNKNOWN_WINDOW: u64 = 100_000;
/// Tokens that the instructions for a summary and what stands around it take.
const INSTRUCTIONS: u64 = 1_000;
/// The part of these that the user's words which stay may take.
const WORDS_THAT_STAY: u64 = 8;
/// Turns between looks whether shortening outputs is a gain.
const LOOK_EVERY: usize = 4;
/// What whoever asks for less is told when it can't be less.
pub(super) const NOTHING_TO_COMPACT: &str =
    "There is nothing to compact yet: what was said before the last turn is too little";
/// Words of a token, in percent.
const WORDS: u64 = 60;

/// What an agent knows about the room of its conversation.
pub(super) struct Room {
    settings: ContextSettings,
    pub(super) meter: Meter,
    compacting: Option<Compacting>,
    /// What was asked to be compacted while the agent works.
    asked: Option<Asked>,
    /// How long the conversation was after the last compaction: without anything new there is no other.
    compacted_at: Option<usize>,
    /// Whether the present question was refused as too long once.
    refused: bool,
    /// Whether the person knows that what must stay takes too much room.
    stuck_told: bool,
}

/// What was asked to be compacted.
#[derive(Default)]
pub(super) struct Asked {
    /// What to pay attention to.
    pub(super) focus: Option<String>,
    pub(super) by: Option<Actor>,
}

/// A summary that is being written.
pub(super) struct Compacting {
    cause: CompactionCause,
    asked: Asked,
    cut: Cut,
    stream: DeltaStream,
    pub(super) answer: Answer,
    /// What the model said when it refused the last question.
    refusal: Option<String>,
}

/// A summary that came to its end: the notes, or why there are none.
pub(super) type Written = (Compacting, Result<String, SummaryError>);

/// What a question would be made of now.
pub(super) struct Talk<'a> {
    pub(super) assembled: Arc<Assembled>,
    pub(super) space: Space,
    /// What holds beyond the conversation and must outlive it: open todos and the plan.
    pub(super) standing: Option<String>,
    pub(super) prompts: &'a Prompts,
    pub(super) model: &'a mut Model,
    pub(super) conversation: &'a mut Conversation,
    pub(super) reports: &'a Reports,
    pub(super) gate: &'a mut AtGate,
    pub(super) scene: GateScene,
}

/// What came of the wish for room.
pub(super) enum Making {
    /// There is nothing to make.
    Ready,
    /// A summary is being written.
    Compacting,
    /// There is as much as can be made.
    Made,
    /// There is none, for a reason that the person can read.
    NoRoom(String),
}

impl Talk<'_> {
    fn family(&self) -> Family {
        self.model.family()
    }

    fn tell_gate(&mut self, done: bool, cause: CompactionCause) {
        self.gate.tell_of_compaction(done, cause, &self.scene);
    }
}

impl Room {
    pub(super) fn new(settings: ContextSettings, compacted_at: Option<usize>, counted: Option<Counted>) -> Self {
        Self {
            settings,
            meter: Meter::new(counted),
            compacting: None,
            asked: None,
            compacted_at,
            refused: false,
            stuck_told: false,
        }
    }

    /// How the window of a model is shared out.
    pub(super) fn space(&self, model: &Model) -> Space {
        Space::new(self.settings, model.provider.context_window())
    }

    /// The next piece of a summary; waits for ever when none is written.
    pub(super) async fn next(&mut self) -> Option<Result<Delta, ModelError>> {
        match &mut self.compacting {
            Some(compacting) => compacting.stream.next().await,
            None => std::future::pending().await,
        }
    }

    /// Whether a summary is being written.
    pub(super) fn is_compacting(&self) -> bool {
        self.compacting.is_some()
    }

    /// The person asks for less, as soon as there is a turn or the work is over.
    pub(super) fn ask_later(&mut self, asked: Asked) {
        self.asked = Some(asked);
    }

    /// What the person asked for while the agent worked.
    pub(super) fn take_asked(&mut self) -> Option<Asked> {
        self.asked.take()
    }

    /// Drops a summary that is being written or was asked for. Says whether the person had asked for it.
    pub(super) fn drop_compaction(&mut self) -> bool {
        let asked = self.asked.take().is_some();
        let written = self.compacting.take().is_some_and(|compacting| compacting.cause == CompactionCause::Asked);
        asked || written
    }

    pub(super) fn begin_turn(&mut self) {
        self.refused = false;
    }

    /// The model refused the question as too long. False when it did so before in this turn.
    pub(super) fn refuse(&mut self) -> bool {
        !std::mem::replace(&mut self.refused, true)
    }

    /// Makes room for the next question.
    pub(super) async fn make(&mut self, talk: &mut Talk<'_>) -> Result<Making, SinkError> {
        if self.compacting.is_some() {
            return Ok(Making::Compacting);
        }
        if talk.space.usable().is_some_and(|usable| talk.assembled.tokens() >= usable) {
            return Ok(Making::NoRoom(too_small(&talk.assembled, &talk.space, talk.model.label())));
        }
        let tokens = self.trim(talk).await?;
        let full = talk.space.compact_at().is_some_and(|full| tokens > full);
        if let Some(asked) = self.asked.take() {
            return self.compact(CompactionCause::Asked, asked, None, talk).await;
        }
        if full && self.may_compact(talk) && self.is_worth_a_summary(talk).await? {
            return self.compact(CompactionCause::Full, Asked::default(), None, talk).await;
        }
        if talk.space.usable().is_some_and(|usable| tokens > usable) && self.may_be_summed_up(talk) {
            return self.compact(CompactionCause::Full, Asked::default(), None, talk).await;
        }
        Ok(Making::Ready)
    }

    /// Whether what does not fit any more can be summed up, if only in short, before it is dropped.
    fn may_be_summed_up(&mut self, talk: &Talk<'_>) -> bool {
        if !self.may_compact(talk) {
            return false;
        }
        let too_long = self.too_long(talk, CompactionCause::Full);
        too_long.cut().is_some_and(|cut| too_long.has_room_for_notes(&cut))
    }

    /// Whether the context would be less full afterwards than it may be. What must stay can be so long that
    /// every turn would want another summary; then the conversation goes on until it does not fit at all.
    async fn is_worth_a_summary(&mut self, talk: &mut Talk<'_>) -> Result<bool, SinkError> {
        let too_long = self.too_long(talk, CompactionCause::Full);
        let worth_it = too_long.cut().is_none_or(|cut| too_long.is_worth_a_summary(&cut));
        if !worth_it && !std::mem::replace(&mut self.stuck_told, true) {
            let assembled = &talk.assembled;
            let (biggest, tokens) = biggest(assembled, &talk.conversation.history, talk.family());
            // What the person can do something about.
            let remedy = Some(assembled.remedy()).filter(|words| !words.is_empty() && biggest == assembled.biggest().0);
            let advice = remedy.map(|remedy| format!(". {remedy}")).unwrap_or_default();
            let words = format!(
                "The context window is small for what must stay in it, so older turns will be summed up often and in \
                 few words; the biggest part is {biggest} (about {tokens} tokens){advice}"
            );
            talk.reports.warn(&words).await?;
        }
        Ok(worth_it)
    }

    /// Whether there is anything to compact for the person who asks for it.
    pub(super) fn can_compact(&mut self, talk: &Talk<'_>) -> bool {
        self.too_long(talk, CompactionCause::Asked).cut().is_some() && self.may_compact(talk)
    }

    /// Takes in a piece of a summary; gives the summary when it has come to its end.
    pub(super) async fn take_note(
        &mut self,
        note: Option<Result<Delta, ModelError>>,
        reports: &Reports,
    ) -> Result<Option<Written>, SinkError> {
        let Some(compacting) = &mut self.compacting else { return Ok(None) };
        let written = match note {
            Some(Ok(delta)) => {
                compacting.answer.add(&delta);
                match delta {
                    Delta::Finish(_) if !compacting.answer.calls.is_empty() => Err(SummaryError::CalledTool),
                    Delta::Finish(FinishReason::Stop | FinishReason::ToolCalls) => Ok(compacting.answer.text.clone()),
                    Delta::Finish(FinishReason::Length | FinishReason::Bound(_)) => Err(SummaryError::CutOff),
                    Delta::Finish(FinishReason::ContentFilter | FinishReason::Refusal | FinishReason::Pause) => {
                        Err(SummaryError::NotWritten)
                    }
                    Delta::Retry(mut retry) => {
                        retry.discards = false;
                        return reports.emit(EventBody::ModelRetry(retry)).await.map(|()| None);
                    }
                    Delta::Switch(mut switch) => {
                        switch.discards = false;
                        return reports.emit(EventBody::ModelSwitch(switch)).await.map(|()| None);
                    }
                    Delta::Begin { .. }
                    | Delta::Text(_)
                    | Delta::Reasoning { .. }
                    | Delta::CallStart { .. }
                    | Delta::CallArguments { .. }
                    | Delta::CallOpaque { .. }
                    | Delta::Usage(_) => return Ok(None),
                }
            }
            Some(Err(error)) => Err(SummaryError::Failed(error)),
            None => Err(SummaryError::NoEnd),
        };
        Ok(self.compacting.take().map(|compacting| (compacting, written)))
    }

    /// Shortens outputs that are outdated or used up, when it is time and worth it; says how many tokens
    /// the next question has then.
    async fn trim(&mut self, talk: &mut Talk<'_>) -> Result<u64, SinkError> {
        let (family, space) = (talk.family(), &talk.space);
        let history = &talk.conversation.history;
        let before = self.meter.measure(&talk.assembled, history, family);
        if space.trim_at().is_none_or(|trim_at| before < trim_at) || !looks_at_outputs(talk, before) {
            return Ok(before);
        }
        let recent = recent_from(history, self.settings.keep_turns).unwrap_or(0);
        let is_worth_it = |gain: u64| {
            // Where it spares a summary, less is worth it too.
            let spares = space.compact_at().is_some_and(|full| before > full && before.saturating_sub(gain) <= full);
            gain >= if spares { space.trim_gain() / 4 } else { space.trim_gain() }
        };
        let (outputs, arguments) = {
            let used_up = used_up(history, recent);
            // What can't be worth it is not looked at closely.
            if !is_worth_it(used_up.saves_at_most(family)) || !is_worth_it(used_up.saves(family)) {
                return Ok(before);
            }
            (used_up.outputs(), used_up.arguments())
        };
        let shorter = trim_history(history, &outputs, &arguments);
        self.meter.start_over();
        let after = self.meter.measure(&talk.assembled, &shorter, family);
        talk.reports.commit(EventBody::ContextTrim(ContextTrim { before, after, outputs, arguments })).await?;
        talk.conversation.history = shorter;
        Ok(after)
    }

    /// Makes the conversation shorter. `refusal` is what the model said when it refused the last question.
    pub(super) async fn compact(
        &mut self,
        cause: CompactionCause,
        asked: Asked,
        refusal: Option<String>,
        talk: &mut Talk<'_>,
    ) -> Result<Making, SinkError> {
        talk.tell_gate(false, cause);
        let too_long = self.too_long(talk, cause);
        let Some(cut) = too_long.cut() else {
            // What the person did not ask to be thrown away is not thrown away.
            if cause == CompactionCause::Asked {
                talk.reports.warn(NOTHING_TO_COMPACT).await?;
                return Ok(made(talk, false, refusal));
            }
            let notes = vec!["there is no older part to sum up".to_owned()];
            let shorter = self.shorten(cause, asked, notes, talk).await?;
            return Ok(made(talk, shorter, refusal));
        };
        let notes = too_long.room_for_notes(&cut).max(1);
        let stream = summary(&cut, asked.focus.as_deref(), notes, talk);
        self.compacting = Some(Compacting { cause, asked, cut, stream, answer: Answer::default(), refusal });
        Ok(Making::Compacting)
    }

    /// Makes the conversation shorter by a summary, or otherwise where there is none.
    pub(super) async fn finish(
        &mut self,
        (compacting, written): Written,
        talk: &mut Talk<'_>,
    ) -> Result<Making, SinkError> {
        let Compacting { cause, asked, cut, refusal, .. } = compacting;
        let summed_up = written.and_then(|notes| self.too_long(talk, cause).summed_up(&cut, &notes));
        let shorter = match summed_up {
            Ok(compaction) => {
                self.take_compaction(Compaction { focus: asked.focus, by: asked.by, ..compaction }, talk).await?;
                true
            }
            // What the person did not ask to be thrown away is not thrown away.
            Err(reason) if cause == CompactionCause::Asked => {
                talk.reports.not_compacted(&reason.to_string()).await?;
                false
            }
            Err(reason) => self.shorten(cause, asked, vec![reason.to_string()], talk).await?,
        };
        Ok(made(talk, shorter, refusal))
    }

    /// Makes the conversation shorter without a summary; false when nothing can be made of it.
    async fn shorten(
        &mut self,
        cause: CompactionCause,
        asked: Asked,
        notes: Vec<String>,
        talk: &mut Talk<'_>,
    ) -> Result<bool, SinkError> {
        let too_long = self.too_long(talk, cause);
        let Some(compaction) = too_long.without_outputs().or_else(|| too_long.windowed()) else {
            return Ok(false);
        };
        self.take_compaction(Compaction { focus: asked.focus, by: asked.by, notes, ..compaction }, talk).await?;
        Ok(true)
    }

    async fn take_compaction(&mut self, compaction: Compaction, talk: &mut Talk<'_>) -> Result<(), SinkError> {
        talk.conversation.shorten(compact_history(&talk.conversation.history, &compaction));
        self.meter.start_over();
        self.compacted_at = Some(talk.conversation.history.len());
        let cause = compaction.cause;
        talk.reports.commit(EventBody::Compaction(compaction)).await?;
        talk.tell_gate(true, cause);
        Ok(())
    }

    /// The last look before the model is asked: what does not fit is made to, by any means. Why it can't be, if it
    /// can't.
    pub(super) async fn fit(&mut self, talk: &mut Talk<'_>) -> Result<Option<String>, SinkError> {
        if !self.fits(talk) {
            let notes = vec!["what is left was still too long".to_owned()];
            talk.tell_gate(false, CompactionCause::Full);
            self.shorten(CompactionCause::Full, Asked::default(), notes, talk).await?;
        }
        if !self.fits(talk) {
            // A vendor may have counted nonsense: our own count decides whether there is no way.
            self.meter.start_over();
        }
        if !self.fits(talk) {
            let (assembled, history) = (&talk.assembled, &talk.conversation.history);
            return Ok(Some(too_long_to_fit(assembled, history, &talk.space, talk.family(), talk.model.label())));
        }
        self.meter.asked();
        Ok(None)
    }

    fn fits(&mut self, talk: &Talk<'_>) -> bool {
        let tokens = self.meter.measure(&talk.assembled, &talk.conversation.history, talk.family());
        talk.space.usable().is_none_or(|usable| tokens <= usable)
    }

    fn may_compact(&self, talk: &Talk<'_>) -> bool {
        self.compacted_at.is_none_or(|length| talk.conversation.history.len() > length)
    }

    fn too_long<'a>(&mut self, talk: &'a Talk<'_>, cause: CompactionCause) -> TooLong<'a> {
        let (family, history) = (talk.family(), &talk.conversation.history);
        let tokens = self.meter.measure(&talk.assembled, history, family);
        let (fixed, standing) = (talk.assembled.tokens(), talk.standing.as_deref());
        TooLong { history, tokens, fixed, space: &talk.space, family, cause, standing }
    }
}

/// Whether it is time to look through all outputs: every few turns, and before the conversation is
/// compacted. It follows from the conversation alone, so that a resumed session does the same.
fn looks_at_outputs(talk: &Talk<'_>, tokens: u64) -> bool {
    let answers = talk.conversation.history.iter().filter(|entry| entry.message().role == Role::Assistant);
    answers.count() % LOOK_EVERY == 0 || talk.space.compact_at().is_some_and(|full| tokens > full)
}

/// A question without tools: the conversation is text in it.
fn summary(cut: &Cut, focus: Option<&str>, notes: u64, talk: &Talk<'_>) -> DeltaStream {
    let words = (notes * WORDS / 100).max(1).to_string();
    let focus = focus.unwrap_or_default().to_owned();
    let stays = stays_of_older(cut.first_turns).to_owned();
    let variables = [("focus", focus), ("stays", stays), ("words", words)];
    let system = talk.prompts.with("compact", &variables).unwrap_or_default();
    let space = &talk.space;
    let room = space.usable().unwrap_or(UNKNOWN_WINDOW).saturating_sub(space.summary() + INSTRUCTIONS);
    let (stays, goes) = shown(cut, room, talk);
    let asked =
        format!("<stays>\n{stays}\n</stays>\n\n<conversation>\n{goes}\n</conversation>\n\nWrite the notes now.");
    talk.model.ask_for_notes(system, asked)
}

/// What whoever sums up is shown in `room` tokens: the user's words that stay, so that they know what it is about, and
/// all that goes.
fn shown(cut: &Cut, room: u64, talk: &Talk<'_>) -> (String, String) {
    let older = talk.conversation.history.iter().take(cut.from).map(Entry::message);
    let (stay, go): (Vec<&Message>, Vec<&Message>) = older.partition(|message| cut.pinned.contains(&message.id));
    let said: Vec<&Message> =
        stay.into_iter().filter(|message| message.role == Role::User && !message.is_neco()).collect();
    let said = transcript_of(&said, room / WORDS_THAT_STAY, talk.family());
    let rest = room.saturating_sub(estimate(&said, talk.family()));
    (said.trim().to_owned(), transcript_of(&go, rest, talk.family()).trim().to_owned())
}

fn made(talk: &Talk<'_>, shorter: bool, refusal: Option<String>) -> Making {
    match refusal.filter(|_| !shorter) {
        Some(refusal) => {
            let (assembled, history) = (&talk.assembled, &talk.conversation.history);
            Making::NoRoom(refused_as_too_long(&refusal, assembled, history, talk.family()))
        }
        None => Making::Made,
    }
}
