//! What a reader wants of a log, block by block: the second of two passes.
//!
//! A call is told when it ends, as one card with what was asked, decided and printed; words that never
//! became a message, and calls without an end, are told last.

use std::collections::HashMap;

use jiff::Timestamp;
use neco_proto::agent_ask;
use neco_proto::clean::without_marks;
use neco_proto::event::{
    AgentComplete, CallStatus, Compaction, ErrorEvent, NotificationLevel, OutputStream, PermissionRequest, PlanUpdate,
    TodoUpdate, ToolCallEnd,
};
use neco_proto::{
    AgentId, CallId, Decision, Display, ErrorCode, Event, EventBody, Message, Part, Question, Reply, Role, Seq,
    ToolResult,
};

use super::one_line;

/// The most bytes that are kept of what a call prints, until it ends.
const TAIL: usize = 64 * 1024;

/// One thing that is told.
#[derive(Debug)]
pub struct Told<'a> {
    /// Its event.
    pub seq: Seq,
    /// When.
    pub at: Timestamp,
    /// The agent, when it is not the one that the person talks to.
    pub agent: Option<AgentId>,
    /// What.
    pub block: Block<'a>,
}

/// What is told.
#[derive(Debug)]
pub enum Block<'a> {
    /// The person says something.
    Person(&'a Message),
    /// Neco, or a hook, says something in the person's place.
    Neco(&'a Message),
    /// The model says something.
    Model(&'a Message),
    /// Words of the model that never became a message.
    Unfinished(String),
    /// A call.
    Call(Box<Card<'a>>),
    /// The agent asks something.
    Question(&'a Question),
    /// The answer; nothing when the question is void.
    Answer(Option<&'a Reply>),
    /// The todo list.
    Todos(&'a TodoUpdate),
    /// The plan and what was found out.
    Plan(&'a PlanUpdate),
    /// The conversation was made shorter.
    Compaction(&'a Compaction),
    /// Something in one line.
    Note(NotificationLevel, String),
    /// What an agent below the root is at, in one line.
    Agent(AgentId, String),
    /// Something went wrong.
    Error(&'a ErrorEvent),
    /// The agent is done.
    Complete(&'a AgentComplete),
}

/// A call as a whole.
#[derive(Debug)]
pub struct Card<'a> {
    /// The tool.
    pub tool: String,
    /// The call in one line.
    pub summary: String,
    /// The arguments as the model wrote them, when they are known.
    pub arguments: Option<String>,
    /// How it ended; nothing when no end was recorded.
    pub status: Option<CallStatus>,
    /// What the model reads, or what was printed until the record ends.
    pub output: String,
    /// What the person sees.
    pub display: Option<&'a Display>,
    /// Why it failed.
    pub error: Option<ErrorCode>,
    /// How long it took; nothing when that is not known.
    pub duration_ms: Option<u64>,
    /// The file that holds all of a big output.
    pub spilled_to: Option<&'a str>,
    /// What a person decided about it, in words.
    pub decided: Option<String>,
}

/// Tells the events of one session in their order.
#[derive(Debug, Default)]
pub struct Teller {
    root: Option<AgentId>,
    partial: HashMap<AgentId, String>,
    /// Calls that have no end yet, oldest first.
    open: Vec<Open>,
    findings: usize,
    plan: String,
}

#[derive(Debug)]
struct Open {
    id: CallId,
    seq: Seq,
    at: Timestamp,
    agent: AgentId,
    tool: String,
    summary: String,
    arguments: Option<String>,
    asked: bool,
    decided: Option<Decision>,
    printed: String,
}

impl Teller {
    /// Tells the events of one agent as if the person talked to it.
    #[must_use]
    pub fn of(agent: AgentId) -> Self {
        Self { root: Some(agent), ..Self::default() }
    }

    /// What is told of the next event.
    pub fn tell<'a>(&mut self, event: &'a Event) -> Vec<Told<'a>> {
        self.root.get_or_insert(event.agent_id);
        let block = match &event.body {
            EventBody::Message(message) => return self.message(event, message),
            EventBody::ToolCallEnd(end) => Some(Block::Call(Box::new(self.ended(end)))),
            EventBody::ToolCallUpdate(update) => {
                // How it ends is told by its end, which may have come already.
                if matches!(
                    update.status,
                    CallStatus::Validating
                        | CallStatus::Scheduled
                        | CallStatus::AwaitingApproval
                        | CallStatus::Executing
                ) {
                    let open = self.open_call(event, &update.call_id);
                    open.tool.clone_from(&update.tool);
                    open.summary.clone_from(&update.summary);
                }
                None
            }
            EventBody::ToolOutputChunk(chunk) => {
                let open = self.open.iter_mut().find(|open| open.id == chunk.call_id);
                if let Some(open) = open.filter(|_| chunk.stream == OutputStream::Output) {
                    push_tail(&mut open.printed, &chunk.text);
                }
                None
            }
            EventBody::PermissionRequest(PermissionRequest { call_id, .. }) => {
                self.open.iter_mut().filter(|open| open.id == *call_id).for_each(|open| open.asked = true);
                None
            }
            EventBody::PermissionDecision(decided) => {
                let open = self.open.iter_mut().find(|open| open.id == decided.call_id);
                if let Some(open) = open {
                    open.decided = Some(decided.decision.clone());
                }
                None
            }
            EventBody::StreamChunk(chunk) => {
                self.partial.entry(event.agent_id).or_default().push_str(&chunk.text);
                None
            }
            EventBody::TurnStart(_) => {
                self.partial.remove(&event.agent_id);
                None
            }
            EventBody::ModelRetry(retry) => {
                if retry.discards {
                    self.partial.remove(&event.agent_id);
                }
                Some(Block::Note(NotificationLevel::Warning, one_line::retry(retry)))
            }
            EventBody::ModelSwitch(switch) => {
                if switch.discards {
                    self.partial.remove(&event.agent_id);
                }
                Some(Block::Note(NotificationLevel::Warning, one_line::switch(switch)))
            }
            EventBody::PlanUpdate(update) => self.plan(update).then_some(Block::Plan(update)),
            EventBody::TodoUpdate(update) => Some(Block::Todos(update)),
            EventBody::Question(question) => Some(Block::Question(question)),
            EventBody::QuestionAnswer(answer) => Some(Block::Answer(answer.reply.as_ref())),
            EventBody::Compaction(compaction) => Some(Block::Compaction(compaction)),
            EventBody::Error(error) => Some(Block::Error(error)),
            EventBody::AgentComplete(complete) => Some(Block::Complete(complete)),
            EventBody::Notification(notification) => Some(Block::Note(notification.level, notification.text.clone())),
            EventBody::SessionStart(start) => Some(info(one_line::began(start))),
            EventBody::Imported(imported) => Some(info(one_line::imported(imported))),
            EventBody::Rewind(rewind) => Some(info(one_line::rewind(rewind))),
            EventBody::Checkpoint(checkpoint) if checkpoint.changed_count() > 0 => {
                Some(info(one_line::checkpoint(checkpoint)))
            }
            EventBody::ModeChange(change) => Some(info(one_line::mode_change(change))),
            // Of what was not read a notification told.
            EventBody::RulesTold(told) => (!told.files.is_empty()).then(|| info(told.words())),
            EventBody::HookRun(run) => one_line::hook(run).map(info),
            EventBody::AgentUpdate(update) => one_line::node(update).map(|text| Block::Agent(update.node.id, text)),
            EventBody::AgentMessage(message) => Some(info(one_line::letter(&message.letter))),
            EventBody::Stop(stop) => agent_ask::stopped(stop).map(|text| info(format!("Stopped: {text}"))),
            EventBody::WorkflowUpdate(update) => Some(info(one_line::workflow(update))),
            EventBody::MemoryUpdate(update) => one_line::memory(update).map(info),
            EventBody::StateChange(_)
            | EventBody::ReasoningChunk(_)
            | EventBody::StreamToolCallStart(_)
            | EventBody::StreamToolCallDelta(_)
            | EventBody::Checkpoint(_)
            | EventBody::FilesBack(_)
            | EventBody::Title(_)
            | EventBody::Usage(_)
            | EventBody::Environment(_)
            | EventBody::IdeContext(_)
            | EventBody::ContextTrim(_)
            | EventBody::MessageQueued(_)
            | EventBody::TurnEnd(_)
            | EventBody::Unknown(_) => None,
        };
        block.into_iter().map(|block| self.told(event, block)).collect()
    }

    /// What never ended: the session runs elsewhere, or was killed.
    pub fn end(&mut self) -> Vec<Told<'static>> {
        let mut all = Vec::new();
        let (root, last) = (self.root, self.open.last().map(|open| (open.seq, open.at)));
        let not_root = |agent: AgentId| (Some(agent) != root).then_some(agent);
        let (seq, at) = last.unwrap_or((0, Timestamp::UNIX_EPOCH));
        for (agent, text) in self.partial.drain().filter(|(_, text)| !text.trim().is_empty()) {
            all.push(Told { seq, at, agent: not_root(agent), block: Block::Unfinished(text) });
        }
        for open in self.open.drain(..) {
            let (seq, at, agent) = (open.seq, open.at, not_root(open.agent));
            all.push(Told { seq, at, agent, block: Block::Call(Box::new(open.unended())) });
        }
        all
    }

    fn told<'a>(&self, event: &Event, block: Block<'a>) -> Told<'a> {
        let agent = (self.root != Some(event.agent_id)).then_some(event.agent_id);
        Told { seq: event.seq, at: event.ts, agent, block }
    }

    fn message<'a>(&mut self, event: &'a Event, message: &'a Message) -> Vec<Told<'a>> {
        let block = match message.role {
            // An agent is told its task by another one.
            Role::User if message.is_neco() || self.root != Some(event.agent_id) => Block::Neco(message),
            Role::User => Block::Person(message),
            Role::Assistant => {
                self.partial.remove(&event.agent_id);
                for call in message.tool_calls() {
                    let open = self.open_call(event, &call.id);
                    open.arguments = Some(call.arguments.clone());
                    open.tool.clone_from(&call.name);
                    open.summary.clone_from(&call.name);
                }
                Block::Model(message)
            }
            Role::Tool => {
                // A log has results as ends of calls; what has none is told from the message.
                let results = message.parts.iter().filter_map(|part| match part {
                    Part::ToolResult(result) => self.result(result),
                    Part::Text { .. } | Part::Image { .. } | Part::Reasoning { .. } | Part::ToolCall(_) => None,
                });
                let cards: Vec<_> = results.map(|card| Block::Call(Box::new(card))).collect();
                return cards.into_iter().map(|block| self.told(event, block)).collect();
            }
        };
        let says_nothing = match &block {
            Block::Model(message) => message.parts.iter().all(|part| match part {
                Part::Text { text } | Part::Reasoning { text, .. } => text.trim().is_empty(),
                Part::Image { .. } => false,
                Part::ToolCall(_) | Part::ToolResult(_) => true,
            }),
            _ => false,
        };
        if says_nothing { Vec::new() } else { vec![self.told(event, block)] }
    }

    fn open_call(&mut self, event: &Event, id: &CallId) -> &mut Open {
        let at = match self.open.iter().position(|open| open.id == *id) {
            Some(at) => at,
            None => {
                self.open.push(Open {
                    id: id.clone(),
                    seq: event.seq,
                    at: event.ts,
                    agent: event.agent_id,
                    tool: String::new(),
                    summary: String::new(),
                    arguments: None,
                    asked: false,
                    decided: None,
                    printed: String::new(),
                });
                self.open.len() - 1
            }
        };
        &mut self.open[at]
    }

    fn take(&mut self, id: &CallId) -> Option<Open> {
        let at = self.open.iter().position(|open| open.id == *id)?;
        Some(self.open.remove(at))
    }

    fn ended<'a>(&mut self, end: &'a ToolCallEnd) -> Card<'a> {
        let open = self.take(&end.call_id);
        let decided = open.as_ref().and_then(|open| open.decided.as_ref()).map(one_line::decision);
        Card {
            tool: end.tool.clone(),
            summary: end.summary.clone(),
            arguments: open.and_then(|open| open.arguments),
            status: Some(end.status),
            output: without_marks(&end.output).into_owned(),
            display: end.display.as_ref(),
            error: end.error_code,
            duration_ms: Some(end.duration_ms).filter(|ms| *ms > 0),
            spilled_to: end.spilled_to.as_deref(),
            decided,
        }
    }

    fn result(&mut self, result: &ToolResult) -> Option<Card<'static>> {
        let mut card = self.take(&result.call_id)?.unended();
        card.status = Some(if result.error_code.is_some() { CallStatus::Error } else { CallStatus::Success });
        card.output = without_marks(&result.output).into_owned();
        card.error = result.error_code;
        Some(card)
    }

    /// Whether a plan has something new to show: another text, another status or another finding.
    fn plan(&mut self, update: &PlanUpdate) -> bool {
        let shown = update.plan.as_ref().map(|plan| format!("{}\n{}", plan.status, plan.text)).unwrap_or_default();
        let new_finding = update.findings.len() > self.findings;
        self.findings = update.findings.len();
        let new_plan = shown != self.plan && !shown.is_empty();
        self.plan = shown;
        new_plan || new_finding
    }
}

impl Open {
    fn unended(self) -> Card<'static> {
        let waited = (self.asked && self.decided.is_none()).then(|| "waited for an answer".to_owned());
        Card {
            tool: self.tool,
            summary: self.summary,
            arguments: self.arguments,
            status: None,
            output: self.printed,
            display: None,
            error: None,
            duration_ms: None,
            spilled_to: None,
            decided: self.decided.as_ref().map(one_line::decision).or(waited),
        }
    }
}

fn info(text: String) -> Block<'static> {
    Block::Note(NotificationLevel::Info, text)
}

/// Keeps the end of what is printed.
fn push_tail(printed: &mut String, piece: &str) {
    printed.push_str(piece);
    if printed.len() > 2 * TAIL {
        let from = printed.char_indices().map(|(at, _)| at).find(|at| printed.len() - at <= TAIL).unwrap_or_default();
        printed.drain(..from);
    }
}
