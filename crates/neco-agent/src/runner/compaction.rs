//! Room for the conversation: what happens between the wish to ask the model and the question itself.
//!
//! Outdated outputs are shortened first, in batches. When that is not enough the conversation is compacted: a model
//! call beside the work, which a cancel ends like any other and whose failure only means the next strategy.

use std::sync::Arc;

use futures::StreamExt;
use neco_model::tokens::Family;
use neco_model::{Answer, Delta, DeltaStream, FinishReason, History, ModelError, Request};
use neco_proto::event::{
    Compaction, CompactionCause, ContextTrim, ErrorEvent, Notification, NotificationLevel, NotificationTopic,
    UsageEvent,
};
use neco_proto::{ContextReport, ErrorCode, EventBody, Message, PromptReport, Role};

use super::agent::Agent;
use super::inputs::InputError;
use super::no_room::{biggest, refused_as_too_long, too_long_to_fit, too_small};
use super::stream::Streaming;
use crate::context::{
    Assembled, ContextSettings, Counted, Cut, Meter, Situation, Space, TooLong, compact_history, prompt_report,
    recent_from, report, transcript, trim_history, used_up,
};
use crate::machine::{End, Input, Stamp, State};
use crate::ports::SinkError;

/// Tokens that are summed up at once where the window is not known.
const UNKNOWN_WINDOW: u64 = 100_000;
/// Tokens that the instructions for a summary and what stands around it take.
const INSTRUCTIONS: u64 = 1_000;
/// Turns between looks whether shortening outputs is a gain.
const LOOK_EVERY: usize = 4;
/// What whoever asks for less is told when it can't be less.
const NOTHING_TO_COMPACT: &str = "there is nothing to compact yet: what was said before the last turn is too little";
/// Words of a token, in percent.
const WORDS: u64 = 60;

/// What an agent knows about the room of its conversation.
pub(super) struct Room {
    settings: ContextSettings,
    pub(super) meter: Meter,
    compacting: Option<Compacting>,
    /// What the person asked to be compacted, with what to pay attention to.
    asked: Option<Option<String>>,
    /// How long the conversation was after the last compaction: without anything new there is no other.
    compacted_at: Option<usize>,
    /// Whether the present question was refused as too long once.
    pub(super) refused: bool,
    /// Whether the person knows that what must stay takes too much room.
    stuck_told: bool,
}

/// A summary that is being written.
pub(super) struct Compacting {
    cause: CompactionCause,
    focus: Option<String>,
    cut: Cut,
    stream: DeltaStream,
    answer: Answer,
    /// What the model said when it refused the last question.
    refusal: Option<String>,
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

    /// The next piece of a summary; waits for ever when none is written.
    pub(super) async fn next(&mut self) -> Option<Result<Delta, ModelError>> {
        match &mut self.compacting {
            Some(compacting) => compacting.stream.next().await,
            None => std::future::pending().await,
        }
    }

    /// Drops a summary that is being written or was asked for. Says whether the person had asked for it.
    pub(super) fn drop_compaction(&mut self) -> bool {
        let asked = self.asked.take().is_some();
        let written = self.compacting.take().is_some_and(|compacting| compacting.cause == CompactionCause::Asked);
        asked || written
    }
}

impl Agent {
    /// Asks the model, as soon as there is room for the question.
    pub(super) async fn ask_within_room(&mut self, stamp: Stamp) -> Result<(), SinkError> {
        if self.room.compacting.is_some() {
            return Box::pin(self.on(Input::Compacts { stamp })).await;
        }
        let assembled = self.assembled();
        let space = self.space();
        if space.usable().is_some_and(|usable| assembled.tokens() >= usable) {
            let words = too_small(&assembled, &space, self.provider.label());
            return self.no_room(stamp, words).await;
        }
        let tokens = self.trim(&assembled, &space).await?;
        let full = space.compact_at().is_some_and(|full| tokens > full);
        if let Some(focus) = self.room.asked.take() {
            return self.compact(CompactionCause::Asked, focus, None).await;
        }
        if full && self.may_compact() && self.is_worth_a_summary(&assembled, &space).await? {
            return self.compact(CompactionCause::Full, None, None).await;
        }
        if space.usable().is_some_and(|usable| tokens > usable) && self.may_be_summed_up(&assembled, &space) {
            return self.compact(CompactionCause::Full, None, None).await;
        }
        self.ask_if_it_fits(stamp).await
    }

    /// Whether what does not fit any more can be summed up, if only in short, before it is dropped.
    fn may_be_summed_up(&mut self, assembled: &Assembled, space: &Space) -> bool {
        if !self.may_compact() {
            return false;
        }
        let standing = self.standing_words();
        let too_long = self.too_long(assembled, space, CompactionCause::Full, standing.as_deref());
        too_long.cut().is_some_and(|cut| too_long.has_room_for_notes(&cut))
    }

    /// Whether the context would be less full afterwards than it may be. What must stay can be so long that
    /// every turn would want another summary; then the conversation goes on until it does not fit at all.
    async fn is_worth_a_summary(&mut self, assembled: &Assembled, space: &Space) -> Result<bool, SinkError> {
        let standing = self.standing_words();
        let too_long = self.too_long(assembled, space, CompactionCause::Full, standing.as_deref());
        let worth_it = too_long.cut().is_none_or(|cut| too_long.is_worth_a_summary(&cut));
        if !worth_it && !std::mem::replace(&mut self.room.stuck_told, true) {
            let (biggest, tokens) = biggest(assembled, &self.history, self.family());
            // What the person can do something about.
            let remedy = Some(assembled.remedy()).filter(|words| !words.is_empty() && biggest == assembled.biggest().0);
            let advice = remedy.map(|remedy| format!(". {remedy}")).unwrap_or_default();
            self.warn(&format!(
                "the context window is small for what must stay in it, so older turns will be summed up often and in \
                 few words; the biggest part is {biggest} (about {tokens} tokens){advice}"
            ))
            .await?;
        }
        Ok(worth_it)
    }

    /// What the person asked to be compacted while the agent worked, when it has nothing more to do.
    pub(super) async fn compact_at_last(&mut self) -> Result<(), SinkError> {
        let Some(focus) = self.room.asked.take() else { return Ok(()) };
        if self.budget.reached(&self.session_usage, self.worked()).is_some() {
            return self.not_compacted("the budget is used up").await;
        }
        self.compact(CompactionCause::Asked, focus, None).await
    }

    /// Makes the conversation shorter because the person asks for it.
    ///
    /// # Errors
    /// When there is nothing to make shorter.
    pub(super) async fn compact_as_asked(&mut self, focus: Option<String>) -> Result<(), InputError> {
        let focus = focus.filter(|focus| !focus.trim().is_empty());
        if self.room.compacting.is_some() {
            return Err(InputError::Refused("the conversation is being compacted already".to_owned()));
        }
        if self.budget.reached(&self.session_usage, self.worked()).is_some() {
            return Err(InputError::Refused("the budget is used up".to_owned()));
        }
        if self.machine.busy() {
            self.room.asked = Some(focus);
            return Ok(());
        }
        let (assembled, space, standing) = (self.assembled(), self.space(), self.standing_words());
        let too_long = self.too_long(&assembled, &space, CompactionCause::Asked, standing.as_deref());
        if too_long.cut().is_none() || !self.may_compact() {
            return Err(InputError::Refused(NOTHING_TO_COMPACT.to_owned()));
        }
        let text = "the conversation is being compacted".to_owned();
        let begins = Notification::new(NotificationLevel::Info, text).about(NotificationTopic::CompactionBegins);
        self.sink.emit(self.turn_id, EventBody::Notification(begins)).await?;
        Ok(self.compact(CompactionCause::Asked, focus, None).await?)
    }

    /// The model refused the question as too long: it is asked once more, about less.
    pub(super) async fn ask_about_less(&mut self, streaming: Streaming, refusal: &ModelError) -> Result<(), SinkError> {
        self.room.refused = true;
        let stamp = streaming.stamp();
        self.keep_partial(streaming).await?;
        if self.ends_with_budget(stamp).await? {
            return Ok(());
        }
        self.compact(CompactionCause::TooLong, None, Some(refusal.to_string())).await
    }

    /// How much room everything takes.
    pub(super) fn context_report(&mut self) -> ContextReport {
        let assembled = self.assembled();
        report(self.provider.label(), &assembled, &self.history, &self.space(), self.family())
    }

    /// Everything that the model would be told.
    pub(super) fn prompt_report(&mut self) -> PromptReport {
        let context = self.context_report();
        prompt_report(context, &self.assembled(), &self.history, self.family())
    }

    /// Takes in a piece of a summary.
    pub(super) async fn take_note(&mut self, note: Option<Result<Delta, ModelError>>) -> Result<(), SinkError> {
        let Some(compacting) = &mut self.room.compacting else { return Ok(()) };
        let written = match note {
            Some(Ok(delta)) => {
                compacting.answer.add(&delta);
                match delta {
                    Delta::Finish(_) if !compacting.answer.calls.is_empty() => {
                        Err("the model called a tool instead of writing notes".to_owned())
                    }
                    Delta::Finish(FinishReason::Stop | FinishReason::ToolCalls) => Ok(compacting.answer.text.clone()),
                    Delta::Finish(FinishReason::Length | FinishReason::Bound(_)) => {
                        Err("the summary was cut off".to_owned())
                    }
                    Delta::Finish(FinishReason::ContentFilter | FinishReason::Refusal | FinishReason::Pause) => {
                        Err("the model wrote no summary".to_owned())
                    }
                    Delta::Retry(mut retry) => {
                        retry.discards = false;
                        return self.sink.emit(self.turn_id, EventBody::ModelRetry(retry)).await;
                    }
                    Delta::Switch(mut switch) => {
                        switch.discards = false;
                        return self.sink.emit(self.turn_id, EventBody::ModelSwitch(switch)).await;
                    }
                    Delta::Begin { .. }
                    | Delta::Text(_)
                    | Delta::Reasoning { .. }
                    | Delta::CallStart { .. }
                    | Delta::CallArguments { .. }
                    | Delta::CallOpaque { .. }
                    | Delta::Usage(_) => return Ok(()),
                }
            }
            Some(Err(error)) => Err(format!("the summary failed: {error}")),
            None => Err("the summary ended without an end".to_owned()),
        };
        let Some(compacting) = self.room.compacting.take() else { return Ok(()) };
        self.pay_for(&compacting.answer).await?;
        self.finish_compaction(compacting, written).await
    }

    async fn pay_for(&mut self, answer: &Answer) -> Result<(), SinkError> {
        let Some(usage) = answer.usage else { return Ok(()) };
        let used = UsageEvent::of(&answer.model, usage, self.provider.scripted());
        self.usage += used.usage;
        self.session_usage += used.usage;
        self.sink.emit(self.turn_id, EventBody::Usage(used)).await?;
        self.check_budget().await
    }

    /// Ends the turn when the budget is used up before the model is asked; says whether it did.
    async fn ends_with_budget(&mut self, stamp: Stamp) -> Result<bool, SinkError> {
        let reached = self.budget.reached(&self.session_usage, self.worked()).is_some();
        if reached {
            Box::pin(self.on(Input::Blocked { stamp, end: End::BUDGET })).await?;
        }
        Ok(reached)
    }

    /// Shortens outputs that are outdated or used up, when it is time and worth it; says how many tokens
    /// the next question has then.
    async fn trim(&mut self, assembled: &Assembled, space: &Space) -> Result<u64, SinkError> {
        let family = self.family();
        let before = self.room.meter.measure(assembled, &self.history, family);
        if space.trim_at().is_none_or(|trim_at| before < trim_at) || !self.looks_at_outputs(before, space) {
            return Ok(before);
        }
        let recent = recent_from(&self.history, self.room.settings.keep_turns).unwrap_or(0);
        let used_up = used_up(&self.history, recent);
        let gain = used_up.saves(family);
        // Where it spares a summary, less is worth it too.
        let spares = space.compact_at().is_some_and(|full| before > full && before.saturating_sub(gain) <= full);
        let least = if spares { space.trim_gain() / 4 } else { space.trim_gain() };
        if gain < least {
            return Ok(before);
        }
        let outputs = used_up.outputs();
        let history = trim_history(&self.history, &outputs);
        self.room.meter.start_over();
        let after = self.room.meter.measure(assembled, &history, family);
        self.sink.commit(self.turn_id, EventBody::ContextTrim(ContextTrim { before, after, outputs })).await?;
        self.history = history;
        Ok(after)
    }

    /// Whether it is time to look through all outputs: every few turns, and before the conversation is
    /// compacted. It follows from the conversation alone, so that a resumed session does the same.
    fn looks_at_outputs(&self, tokens: u64, space: &Space) -> bool {
        let turns = self.history.iter().filter(|entry| entry.message().role == Role::Assistant).count();
        turns % LOOK_EVERY == 0 || space.compact_at().is_some_and(|full| tokens > full)
    }

    async fn compact(
        &mut self,
        cause: CompactionCause,
        focus: Option<String>,
        refusal: Option<String>,
    ) -> Result<(), SinkError> {
        Box::pin(self.on(Input::Compacts { stamp: self.machine.stamp() })).await?;
        self.tell_of_compaction(false, cause);
        let (assembled, space, standing) = (self.assembled(), self.space(), self.standing_words());
        let too_long = self.too_long(&assembled, &space, cause, standing.as_deref());
        let Some(cut) = too_long.cut() else {
            // What the person did not ask to be thrown away is not thrown away.
            if cause == CompactionCause::Asked {
                self.warn(NOTHING_TO_COMPACT).await?;
                return self.go_on_after(false, refusal).await;
            }
            let shorter = self.shorten(cause, focus, vec!["there is no older part to sum up".to_owned()]).await?;
            return self.go_on_after(shorter, refusal).await;
        };
        let notes = too_long.room_for_notes(&cut).max(1);
        let request = self.summary_request(&cut, focus.as_deref(), &space, notes);
        let stream = self.provider.whole(request);
        let compacting = Compacting { cause, focus, cut, stream, answer: Answer::default(), refusal };
        self.room.compacting = Some(compacting);
        Ok(())
    }

    /// A question without tools: the conversation is text in it.
    fn summary_request(&self, cut: &Cut, focus: Option<&str>, space: &Space, notes: u64) -> Request {
        let words = (notes * WORDS / 100).max(1).to_string();
        let focus = focus.unwrap_or_default().to_owned();
        let system = self.context.prompts().with("compact", &[("focus", focus), ("words", words)]).unwrap_or_default();
        let room = space.usable().unwrap_or(UNKNOWN_WINDOW).saturating_sub(space.summary() + INSTRUCTIONS);
        let told = transcript(&self.history, cut.from, room, self.family());
        let asked = format!("<conversation>\n{}\n</conversation>\n\nWrite the notes now.", told.trim());
        Request {
            system: system.into(),
            tools: Arc::from([]),
            history: History::from_iter([Message::user(asked)]),
            cache_key: format!("{}-notes", self.cache_key),
            output: None,
            temperature: None,
        }
    }

    async fn finish_compaction(
        &mut self,
        compacting: Compacting,
        written: Result<String, String>,
    ) -> Result<(), SinkError> {
        let Compacting { cause, focus, cut, refusal, .. } = compacting;
        let (assembled, space) = (self.assembled(), self.space());
        let standing = self.standing_words();
        let summed_up = written
            .and_then(|notes| self.too_long(&assembled, &space, cause, standing.as_deref()).summed_up(&cut, &notes));
        let shorter = match summed_up {
            Ok(compaction) => {
                self.take_compaction(Compaction { focus, ..compaction }).await?;
                true
            }
            // What the person did not ask to be thrown away is not thrown away.
            Err(reason) if cause == CompactionCause::Asked => {
                self.not_compacted(&reason).await?;
                false
            }
            Err(reason) => self.shorten(cause, focus, vec![reason]).await?,
        };
        self.go_on_after(shorter, refusal).await
    }

    /// Makes the conversation shorter without a summary; false when nothing can be made of it.
    async fn shorten(
        &mut self,
        cause: CompactionCause,
        focus: Option<String>,
        notes: Vec<String>,
    ) -> Result<bool, SinkError> {
        let (assembled, space) = (self.assembled(), self.space());
        let standing = self.standing_words();
        let too_long = self.too_long(&assembled, &space, cause, standing.as_deref());
        let Some(compaction) = too_long.without_outputs().or_else(|| too_long.windowed()) else {
            return Ok(false);
        };
        self.take_compaction(Compaction { focus, notes, ..compaction }).await?;
        Ok(true)
    }

    async fn take_compaction(&mut self, compaction: Compaction) -> Result<(), SinkError> {
        self.history = compact_history(&self.history, &compaction);
        self.room.meter.start_over();
        self.room.compacted_at = Some(self.history.len());
        self.editor.forget();
        self.touched.forget();
        let cause = compaction.cause;
        self.sink.commit(self.turn_id, EventBody::Compaction(compaction)).await?;
        self.tell_of_compaction(true, cause);
        Ok(())
    }

    /// The turn goes on that waited for room, if one did.
    async fn go_on_after(&mut self, shorter: bool, refusal: Option<String>) -> Result<(), SinkError> {
        if self.machine.state() != State::Compacting {
            return Ok(());
        }
        let stamp = self.machine.stamp();
        // What the summary cost may have been the last of it.
        if self.ends_with_budget(stamp).await? {
            return Ok(());
        }
        match refusal.filter(|_| !shorter) {
            Some(refusal) => {
                let (assembled, family) = (self.assembled(), self.family());
                let words = refused_as_too_long(&refusal, &assembled, &self.history, family);
                self.no_room(stamp, words).await
            }
            None => Box::pin(self.on(Input::Compacted { stamp })).await,
        }
    }

    /// The last look: what does not fit is made to, by any means, or is not sent.
    pub(super) async fn ask_if_it_fits(&mut self, stamp: Stamp) -> Result<(), SinkError> {
        let (assembled, space) = (self.assembled(), self.space());
        let fits = |tokens: u64| space.usable().is_none_or(|usable| tokens <= usable);
        let family = self.family();
        if !fits(self.room.meter.measure(&assembled, &self.history, family)) {
            let notes = vec!["what is left was still too long".to_owned()];
            self.tell_of_compaction(false, CompactionCause::Full);
            self.shorten(CompactionCause::Full, None, notes).await?;
        }
        if !fits(self.room.meter.measure(&assembled, &self.history, family)) {
            // A vendor may have counted nonsense: our own count decides whether there is no way.
            self.room.meter.start_over();
        }
        if !fits(self.room.meter.measure(&assembled, &self.history, family)) {
            let words = too_long_to_fit(&assembled, &self.history, &space, family, self.provider.label());
            return self.no_room(stamp, words).await;
        }
        self.room.meter.asked();
        let request = Request {
            system: Arc::clone(&assembled.system),
            tools: Arc::clone(&assembled.tools),
            history: self.history.clone(),
            cache_key: self.cache_key.clone(),
            output: None,
            temperature: self.temperature,
        };
        self.streaming = Some(Streaming::new(stamp, self.provider.stream(request)));
        Ok(())
    }

    async fn no_room(&mut self, stamp: Stamp, message: String) -> Result<(), SinkError> {
        let code = ErrorCode::ContextTooLong;
        let event = ErrorEvent { code, message, retryable: code.retryable() };
        self.sink.emit(self.turn_id, EventBody::Error(event)).await?;
        // The machine may ask the model again from here.
        Box::pin(self.on(Input::ProviderFailed { stamp, code })).await
    }

    fn may_compact(&self) -> bool {
        self.room.compacted_at.is_none_or(|length| self.history.len() > length)
    }

    fn too_long<'a>(
        &'a mut self,
        assembled: &Assembled,
        space: &'a Space,
        cause: CompactionCause,
        standing: Option<&'a str>,
    ) -> TooLong<'a> {
        let family = self.family();
        let tokens = self.room.meter.measure(assembled, &self.history, family);
        TooLong { history: &self.history, tokens, fixed: assembled.tokens(), space, family, cause, standing }
    }

    pub(super) fn space(&self) -> Space {
        Space::new(self.room.settings, self.provider.context_window())
    }

    pub(super) fn family(&self) -> Family {
        Family::of(self.provider.label())
    }

    pub(super) fn assembled(&mut self) -> Arc<Assembled> {
        let situation = Situation { mode: self.turn_mode, generation: self.generation, rooms: self.space().rooms() };
        let role = Arc::clone(&self.role);
        let (who, family) = (self.who(&role), self.family());
        let rules = (self.scheduler.registry(), self.scheduler.policy());
        self.context.assemble(situation, rules, &who, family)
    }

    /// What holds beyond the conversation and must outlive it: open todos and the plan.
    fn standing_words(&self) -> Option<String> {
        self.book.text()
    }
}
