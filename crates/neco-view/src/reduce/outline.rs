//! What lies ahead in a log: what was asked, what was taken back, what it cost. The first of two passes.

use std::ops::RangeInclusive;

use jiff::Timestamp;
use neco_proto::clean::clean_line;
use neco_proto::event::{AgentNode, CallStatus};
use neco_proto::rewinds::Rewinds;
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
    rewinds: Rewinds,
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
        self.rewinds.note(event);
        let is_root = *self.root.get_or_insert(event.agent_id) == event.agent_id;
        match &event.body {
            // What agents are told is no word of the person.
            EventBody::Message(message) if is_root => self.message(event, message),
            EventBody::Title(title) => self.title = Some(title.title.clone()),
            EventBody::TodoUpdate(_) if !self.is_below(event.agent_id) => self.last_todos = Some(event.seq),
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
            EventBody::AgentComplete(complete) if is_root => {
                self.worked_ms = self.worked_ms.saturating_add(complete.worked_ms());
            }
            // The rest is told where it happened.
            _ => {}
        }
    }

    /// Whether an agent is one below the root, which is told of for itself.
    pub fn is_below(&self, agent: AgentId) -> bool {
        self.agents.iter().any(|node| node.id == agent)
    }

    /// The stretches of the log that no longer count, oldest first and apart from each other.
    pub fn taken_back(&self) -> Vec<RangeInclusive<Seq>> {
        self.rewinds.effective(self.last).gaps()
    }

    /// What was asked within a stretch of the log.
    pub fn asked_within(&self, range: &RangeInclusive<Seq>) -> u64 {
        self.asked.iter().filter(|asked| range.contains(&asked.seq)).count() as u64
    }

    fn agent(&mut self, node: &AgentNode) {
        match self.agents.iter_mut().find(|known| known.id == node.id) {
            Some(known) => known.clone_from(node),
            None => self.agents.push(node.clone()),
        }
    }

    fn message(&mut self, event: &Event, message: &Message) {
        if message.role != Role::User || message.is_neco() {
            return;
        }
        let text = clean_line(Message::written(&message.text()));
        let cut: String = text.chars().take(HEADING).collect();
        let text = if cut.len() < text.len() { format!("{}…", cut.trim_end()) } else { cut };
        self.asked.push(Asked { seq: event.seq, at: event.ts, text });
    }
}
