//! The conversation: messages, results paired with their calls, and what is still open.

use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::path::{Path, PathBuf};

use neco_agent::context::{Counted, Given, compact_messages, trim_messages};
use neco_agent::skills::SkillsUsed;
use neco_proto::event::{
    Admission, CallStatus, Compaction, CompleteReason, EnvironmentTold, HookOutcome, KnownFile, MemoryAction,
    MemoryUpdate, ModelRetry, ModelSwitch, NotificationTopic,
};
use neco_proto::{AgentId, CallId, Event, EventBody, IdeContext, Message, Role, ToolOrigin, ToolResult, TurnId};

use super::standing::Standing;
use crate::tree::TreeHistory;
use neco_proto::rewinds::{Effective, Rewinds};

/// A call that has no result yet.
#[derive(Clone, Debug, PartialEq)]
pub struct OpenCall {
    pub id: CallId,
    /// The tool as the model wrote it.
    pub name: String,
    /// Where the tool comes from, once that is known.
    pub origin: ToolOrigin,
    /// The call in one line, once it is known.
    pub summary: String,
    /// Whether the mark that it is about to run is in the log.
    pub started: bool,
    /// How it ended, where only what hooks say of it is missing.
    pub ended: Option<CallStatus>,
    /// The end of what it printed.
    pub printed: String,
}

/// Of what a call printed before it was cut off no more is told.
const MOST_PRINTED: usize = 16 * 1024;

impl OpenCall {
    fn new(id: CallId, name: String) -> Self {
        let (origin, summary, printed) = <_>::default();
        Self { id, name, origin, summary, started: false, ended: None, printed }
    }

    /// What a person knows it by.
    pub fn shown(&self) -> &str {
        if self.summary.is_empty() { &self.name } else { &self.summary }
    }

    fn print(&mut self, text: &str) {
        self.printed.push_str(text);
        let too_many = self.printed.len().saturating_sub(MOST_PRINTED);
        if let Some(cut) = (too_many..self.printed.len()).find(|at| self.printed.is_char_boundary(*at)) {
            self.printed.drain(..cut);
        }
    }
}

/// A whole session, as its log has it.
#[derive(Clone, Debug, Default)]
pub struct Fold {
    /// Everything but the conversation.
    pub standing: Standing,
    /// The conversation, oldest first.
    pub messages: Vec<Message>,
    /// Said but not yet admitted.
    pub queued: Vec<(Admission, Message)>,
    /// Calls of the last assistant message that have no result.
    pub open: Vec<OpenCall>,
    /// Text of an answer that has not become a message.
    pub partial: String,
    /// The last turn, for events that mend it.
    pub turn: Option<TurnId>,
    /// Whether something was asked and the work on it has not ended.
    pub working: bool,
    /// Whether the process that had it open handed it over: its work goes on with whoever opens it.
    pub handed_over: bool,
    /// What the model is told of the place where it works.
    pub environment: Option<EnvironmentTold>,
    /// What the model is told of earlier sessions.
    pub recalled: Option<String>,
    /// What the model was last told about the person's editor.
    pub ide_told: Option<IdeContext>,
    /// The rules files below the workspace that the model was told of, as far as it still has them; also those of
    /// which it was told that they were not read.
    pub rules_told: BTreeSet<String>,
    /// Pieces of files that were given with what the person said.
    pub given: Given,
    /// The skills that were brought in.
    pub skills_used: SkillsUsed,
    /// Whether the conversation was compacted and nothing was said since.
    pub just_compacted: bool,
    /// The ids of all calls that were ever made, those included that no longer count.
    pub call_ids: HashSet<CallId>,
    /// What the model knows of files, by their path.
    pub known: BTreeMap<String, KnownFile>,
    /// The folders that outputs lie in which were too big for the model.
    pub spilled: BTreeSet<PathBuf>,
    /// The agents that there were.
    pub tree: TreeHistory,
    /// What the vendor counted of the conversation last, if all that the model is told is as it was then.
    pub counted: Option<Counted>,
    /// Tokens of the last request, until its answer is there.
    asked: Option<u64>,
    /// Results of calls of the last assistant message, until all of them have one.
    pub results: Vec<ToolResult>,
}

impl Fold {
    /// The fold of a log.
    pub fn of(events: &[Event]) -> Self {
        let last = events.last().map_or(0, |event| event.seq);
        let effective = Rewinds::of(events).effective(last);
        let mut fold = Self::default();
        events.iter().for_each(|event| fold.take(event, &effective));
        fold
    }

    /// Nothing yet, of one agent: what happens to others is not its.
    pub fn of_agent(agent: AgentId) -> Self {
        Self { standing: Standing { root_agent: Some(agent), ..Standing::default() }, ..Self::default() }
    }

    /// Whether the root was at work when the session was handed over, so that it goes on by itself.
    pub fn goes_on(&self) -> bool {
        self.handed_over && self.standing.state.is_at_work()
    }

    /// Takes in the next event of a log of which only `effective` counts.
    pub fn take(&mut self, event: &Event, effective: &Effective) {
        if effective.counts(event.seq) {
            return self.apply(event);
        }
        self.standing.pass_over(event);
        self.note(event);
    }

    /// Takes in the next event, which counts, as does everything that was taken in before.
    pub fn apply(&mut self, event: &Event) {
        self.standing.apply(event);
        self.note(event);
        if !self.standing.is_own(event) {
            return;
        }
        match &event.body {
            EventBody::Message(message) => self.message(message),
            EventBody::MessageQueued(told) if told.when == Admission::Withdrawn => {
                self.queued.retain(|(_, queued)| queued.id != told.message.id);
            }
            EventBody::MessageQueued(queued) => self.queued.push((queued.when, queued.message.clone())),
            EventBody::HookRun(run) if matches!(run.outcome, HookOutcome::Blocked | HookOutcome::Stopped) => {
                self.queued.retain(|(_, queued)| Some(queued.id) != run.message_id);
            }
            EventBody::TurnStart(_) => {
                self.partial.clear();
                self.turn = event.turn_id;
            }
            EventBody::StreamChunk(chunk) => self.partial.push_str(&chunk.text),
            EventBody::ModelRetry(ModelRetry { discards: true, .. })
            | EventBody::ModelSwitch(ModelSwitch { discards: true, .. }) => self.partial.clear(),
            EventBody::ToolCallUpdate(update) => {
                for call in self.open.iter_mut().filter(|call| call.id == update.call_id) {
                    call.started |= update.status == CallStatus::Executing;
                    call.summary.clone_from(&update.summary);
                    call.origin.clone_from(&update.origin);
                    if matches!(update.status, CallStatus::Success | CallStatus::Error) {
                        call.ended = Some(update.status);
                    }
                }
            }
            EventBody::ToolOutputChunk(chunk) => {
                for call in self.open.iter_mut().filter(|call| call.id == chunk.call_id) {
                    call.print(&chunk.text);
                }
            }
            EventBody::ToolCallEnd(end) => {
                let folder = end.spilled_to.as_deref().and_then(|file| Path::new(file).parent());
                self.spilled.extend(folder.map(Path::to_path_buf));
                end.known.iter().for_each(|file| self.given.open(&file.path));
                self.known.extend(end.known.iter().map(|file| (file.path.clone(), file.clone())));
                self.result(ToolResult {
                    call_id: end.call_id.clone(),
                    output: end.output.clone(),
                    error_code: end.error_code,
                });
            }
            EventBody::Environment(told) => self.environment = Some(told.clone()),
            EventBody::IdeContext(told) => self.ide_told = Some(told.clone()),
            EventBody::PiecesGiven(given) => self.given.give(given),
            EventBody::SkillUsed(used) => self.skills_used.add(&used.name, used.cause),
            EventBody::RulesTold(told) => self.rules_told.extend(told.files.iter().chain(&told.unread).cloned()),
            EventBody::ContextTrim(trim) => {
                trim_messages(&mut self.messages, &trim.outputs, &trim.arguments);
                self.forget_count();
            }
            EventBody::Usage(used) if used.aside.is_none() => {
                self.asked = Some(used.usage.input).filter(|tokens| *tokens > 0)
            }
            EventBody::ModeChange(_) => self.forget_count(),
            EventBody::Compaction(compaction) => self.compaction(compaction),
            EventBody::MemoryUpdate(MemoryUpdate { action: MemoryAction::Recalled, text, .. }) => {
                self.recalled.clone_from(text);
            }
            EventBody::AgentComplete(complete) => {
                self.working = false;
                if complete.reason == CompleteReason::Natural {
                    self.skills_used.in_use.clear();
                }
            }
            EventBody::SessionStart(_) => (self.working, self.handed_over) = (false, false),
            EventBody::Notification(told) => self.handed_over |= told.topic() == Some(NotificationTopic::HandedOver),
            EventBody::Rewind(rewind) if rewind.conversation => self.went_back(),
            EventBody::AgentUpdate(update) if update.anew => self.begin_anew(),
            // Everything else is no part of the conversation.
            _ => {}
        }
    }

    /// What was told of the editor and of folders, and what was given of files, may be gone with the older messages, so
    /// the next time all of it is told.
    fn compaction(&mut self, compaction: &Compaction) {
        compact_messages(&mut self.messages, compaction);
        self.ide_told = None;
        self.rules_told.clear();
        self.given.forget();
        self.just_compacted = true;
        self.forget_count();
    }

    fn forget_count(&mut self) {
        self.counted = None;
        self.asked = None;
    }

    /// Takes note of what is known of every event, whosever it is and whether it counts.
    fn note(&mut self, event: &Event) {
        self.tree.apply(event);
        if let EventBody::Message(message) = &event.body {
            self.call_ids.extend(message.tool_calls().map(|call| call.id.clone()));
        }
    }

    /// Nothing is under way at the point that was gone back to, and what the model was told of the editor and of
    /// folders may have been told with what no longer counts.
    fn went_back(&mut self) {
        self.queued.clear();
        self.ide_told = None;
        self.rules_told.clear();
        self.working = false;
        self.forget_count();
    }

    /// What the agent said and did before is no part of its conversation.
    fn begin_anew(&mut self) {
        *self = Self {
            standing: std::mem::take(&mut self.standing).anew(),
            call_ids: std::mem::take(&mut self.call_ids),
            spilled: std::mem::take(&mut self.spilled),
            tree: std::mem::take(&mut self.tree),
            ..Self::default()
        };
    }

    fn message(&mut self, message: &Message) {
        self.just_compacted = false;
        self.queued.retain(|(_, queued)| queued.id != message.id);
        // What was in use for work that was stopped is not for another request.
        if message.role == Role::User && !self.working && !message.is_neco() && !message.asks_to_go_on() {
            self.skills_used.in_use.clear();
        }
        // What Neco says by itself is no work that somebody waits for.
        self.working |= !message.is_neco();
        if message.role == Role::Assistant {
            // What was asked is all that was said before the answer.
            let count = |tokens| Counted { tokens, messages: self.messages.len() };
            self.counted = self.asked.take().map(count);
            self.partial.clear();
            let call = |call: &neco_proto::ToolCall| OpenCall::new(call.id.clone(), call.name.clone());
            self.open = message.tool_calls().map(call).collect();
        }
        self.messages.push(message.clone());
    }

    /// Results come in the order the calls ended; the model gets them in the order it asked.
    fn result(&mut self, result: ToolResult) {
        if !self.open.iter().any(|call| call.id == result.call_id) {
            return;
        }
        self.open.retain(|call| call.id != result.call_id);
        self.results.push(result);
        if !self.open.is_empty() {
            return;
        }
        let Some(asked) = self.messages.last() else { return };
        let order: Vec<CallId> = asked.tool_calls().map(|call| call.id.clone()).collect();
        let mut results = std::mem::take(&mut self.results);
        results.sort_by_key(|result| order.iter().position(|id| *id == result.call_id));
        self.messages.push(Message::results_of(asked.id, results));
    }
}
