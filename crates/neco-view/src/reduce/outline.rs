//! What lies ahead in a log: what was asked, what was taken back, what it cost. The first of two passes.

use std::ops::RangeInclusive;

use jiff::Timestamp;
use neco_proto::clean::clean_line;
use neco_proto::event::{AgentNode, CallStatus, Rewind};
use neco_proto::{AgentId, Event, EventBody, Message, Role, Seq, Usage};

/// The most characters of a message that stand in a list of messages.
const HEADING: usize = 120;

/// What lies ahead in a log.
#[derive(Clone, Debug, Default)]
pub struct Outline {
    /// The last event.
    pub last: Seq,
    /// What the person asked, oldest first.
    pub asked: Vec<Asked>,
    /// The last title that was given.
    pub title: Option<String>,
    /// The folder it works in.
    pub cwd: Option<String>,
    /// Models that answered, and what each used.
    pub models: Vec<(String, Usage)>,
    /// Everything that was used, also in what was taken back.
    pub usage: Usage,
    /// Milliseconds of work.
    pub worked_ms: u64,
    /// When the first event happened.
    pub began: Option<Timestamp>,
    /// When the last one did.
    pub ended: Option<Timestamp>,
    /// How many calls ended.
    pub calls: u64,
    /// How many of them did not do what they should.
    pub failed_calls: u64,
    /// The agent that the person talks to.
    pub root: Option<AgentId>,
    /// The agents below it as they were last, in the order in which they came.
    pub agents: Vec<AgentNode>,
    /// The last todo list.
    pub last_todos: Option<Seq>,
    /// Each rewind, and what is taken back from it on.
    rewinds: Vec<(Seq, Vec<RangeInclusive<Seq>>)>,
}

/// Something that the person asked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Asked {
    /// Its event.
    pub seq: Seq,
    /// When.
    pub at: Timestamp,
    /// The beginning, in one line, without what steers a terminal.
    pub text: String,
}

impl Outline {
    /// Takes in the next event.
    pub fn read(&mut self, event: &Event) {
        self.last = event.seq;
        self.began.get_or_insert(event.ts);
        self.ended = Some(event.ts);
        self.root.get_or_insert(event.agent_id);
        match &event.body {
            // What agents are told is no word of the person.
            EventBody::Message(message) if self.root == Some(event.agent_id) => self.message(event, message),
            EventBody::Rewind(rewind) => self.rewind(event.seq, rewind),
            EventBody::Title(title) => self.title = Some(title.title.clone()),
            EventBody::SessionStart(start) => self.cwd = Some(start.cwd.clone()),
            EventBody::TodoUpdate(_) if self.is_below(event.agent_id) => {}
            EventBody::TodoUpdate(_) => self.last_todos = Some(event.seq),
            EventBody::AgentUpdate(update) => self.agent(&update.node),
            EventBody::Usage(used) => {
                self.usage += used.usage;
                match self.models.iter_mut().find(|(model, _)| *model == used.model) {
                    Some((_, usage)) => *usage += used.usage,
                    None => self.models.push((used.model.clone(), used.usage)),
                }
            }
            EventBody::ToolCallEnd(end) => {
                self.calls += 1;
                self.failed_calls += u64::from(end.status != CallStatus::Success);
            }
            EventBody::AgentComplete(complete) if self.root == Some(event.agent_id) => {
                self.worked_ms = self.worked_ms.saturating_add(complete.worked_ms());
            }
            EventBody::StateChange(_)
            | EventBody::TurnStart(_)
            | EventBody::StreamChunk(_)
            | EventBody::ReasoningChunk(_)
            | EventBody::StreamToolCallStart(_)
            | EventBody::StreamToolCallDelta(_)
            | EventBody::ModelRetry(_)
            | EventBody::ModelSwitch(_)
            | EventBody::ToolCallUpdate(_)
            | EventBody::ToolOutputChunk(_)
            | EventBody::PermissionRequest(_)
            | EventBody::PermissionDecision(_)
            | EventBody::HookRun(_)
            | EventBody::MemoryUpdate(_)
            | EventBody::Question(_)
            | EventBody::QuestionAnswer(_)
            | EventBody::PlanUpdate(_)
            | EventBody::ModeChange(_)
            | EventBody::Notification(_)
            | EventBody::MessageQueued(_)
            | EventBody::Environment(_)
            | EventBody::IdeContext(_)
            | EventBody::RulesTold(_)
            | EventBody::ContextTrim(_)
            | EventBody::Compaction(_)
            | EventBody::Checkpoint(_)
            | EventBody::FilesBack(_)
            | EventBody::Imported(_)
            | EventBody::AgentMessage(_)
            | EventBody::Stop(_)
            | EventBody::WorkflowUpdate(_)
            | EventBody::Error(_)
            | EventBody::TurnEnd(_)
            | EventBody::Message(_)
            | EventBody::AgentComplete(_)
            | EventBody::Unknown(_) => {}
        }
    }

    /// Whether an agent is one below the root, which is told of for itself.
    #[must_use]
    pub fn is_below(&self, agent: AgentId) -> bool {
        self.agents.iter().any(|node| node.id == agent)
    }

    fn agent(&mut self, node: &AgentNode) {
        match self.agents.iter_mut().find(|known| known.id == node.id) {
            Some(known) => known.clone_from(node),
            None => self.agents.push(node.clone()),
        }
    }

    /// The stretches of the log that no longer count, oldest first and apart from each other.
    #[must_use]
    pub fn taken_back(&self) -> &[RangeInclusive<Seq>] {
        self.rewinds.last().map(|(_, dead)| dead.as_slice()).unwrap_or_default()
    }

    /// Whether the event no longer counts.
    #[must_use]
    pub fn is_taken_back(&self, seq: Seq) -> bool {
        self.taken_back().iter().any(|range| range.contains(&seq))
    }

    /// What was asked within a stretch of the log.
    #[must_use]
    pub fn asked_within(&self, range: &RangeInclusive<Seq>) -> u64 {
        self.asked.iter().filter(|asked| range.contains(&asked.seq)).count() as u64
    }

    fn message(&mut self, event: &Event, message: &Message) {
        if message.role != Role::User || message.is_neco() || self.root != Some(event.agent_id) {
            return;
        }
        let text = clean_line(&message.text());
        let cut: String = text.chars().take(HEADING).collect();
        let text = if cut.len() < text.len() { format!("{}…", cut.trim_end()) } else { cut };
        self.asked.push(Asked { seq: event.seq, at: event.ts, text });
    }

    /// What counts from a rewind on is what counted at the event it goes back to: a rewind that takes
    /// another one back makes what that one took away count again.
    fn rewind(&mut self, seq: Seq, rewind: &Rewind) {
        if !rewind.conversation || rewind.to >= seq {
            return;
        }
        let before = self.rewinds.iter().rev().find(|(at, _)| *at <= rewind.to);
        let mut dead = before.map(|(_, dead)| dead.clone()).unwrap_or_default();
        dead.retain(|range| *range.start() <= rewind.to);
        if rewind.to + 1 < seq {
            dead.push(rewind.to + 1..=seq - 1);
        }
        self.rewinds.push((seq, dead));
    }
}
