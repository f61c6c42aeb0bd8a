//! The log that a session of another agent becomes.

use std::collections::{HashMap, HashSet, VecDeque};

use jiff::Timestamp;
use neco_proto::app::port::Program;
use neco_proto::event::{
    AgentComplete, CallStatus, Compaction, CompactionCause, CompactionStrategy, CompleteReason, Imported, SessionStart,
    SessionTitle, TitleSource, TodoUpdate, ToolCallEnd, UsageEvent,
};
use neco_proto::{
    AgentId, ApprovalMode, Author, CallId, ErrorCode, Event, EventBody, Message, Mode, Part, Role, SessionId, ToolCall,
    TurnId, Usage,
};
use serde_json::Value;
use sha2::{Digest, Sha256};

use super::foreign::{Answer, Foreign, Outcome, What, is_empty};
use super::{card, names};

/// The most characters of a title that is made of first words.
const TITLE: usize = 80;
const NO_RESULT: &str = "The imported session has no result of this call. Whether it took effect is not known; look \
                         before you repeat it.";

/// Where a session comes from and where it goes.
#[derive(Clone, Debug)]
pub struct Source<'a> {
    /// The program that wrote it.
    pub from: Program,
    /// The file.
    pub file: &'a str,
    /// The folder it works in here.
    pub cwd: &'a str,
    /// The version of Neco.
    pub version: &'a str,
    /// The id it gets.
    pub session: SessionId,
    /// When it began, for sessions that do not say so.
    pub now: Timestamp,
}

/// A log that is ready to be kept.
#[derive(Clone, Debug)]
pub struct Log {
    /// The title.
    pub title: String,
    /// Who made it.
    pub title_by: TitleSource,
    /// The events, from 1.
    pub events: Vec<Event>,
}

/// The id of a foreign session here: the same whenever it is imported, and in order of time as all ids
/// are.
pub fn session_id(from: Program, foreign: &Foreign) -> SessionId {
    let mut hash = Sha256::new();
    hash.update(from.name());
    hash.update([0]);
    match &foreign.id {
        Some(id) => hash.update(id),
        None => hash.update(format!("{:?}", foreign.items)),
    }
    let digest = hash.finalize();
    let began = foreign.items.iter().find_map(|item| item.at).map_or(0, Timestamp::as_millisecond);
    let mut bytes = [0; 16];
    for (place, byte) in bytes.iter_mut().zip(began.max(0).to_be_bytes().iter().skip(2).chain(digest.iter())) {
        *place = *byte;
    }
    bytes[6] = bytes[6] & 0x0f | 0x70;
    bytes[8] = bytes[8] & 0x3f | 0x80;
    SessionId::from(uuid::Uuid::from_bytes(bytes))
}

/// Makes the log of a foreign session.
pub fn log(foreign: &mut Foreign, source: &Source<'_>) -> Log {
    let mut maker = Maker::new(foreign, source);
    let items = std::mem::take(&mut foreign.items);
    for item in &items {
        if let Some(at) = item.at {
            maker.now = maker.now.max(to_millisecond(at));
        }
        match &item.what {
            What::User(parts) => maker.user(parts),
            What::Assistant(answer) => maker.answer(answer),
            What::Compacted(summary) => maker.compacted(summary),
            What::Interrupted => maker.close(CompleteReason::Cancelled),
            // Told with the call that it answers.
            What::Result(_) => {}
        }
    }
    maker.end();
    for _ in 0..maker.outcomes.values().map(VecDeque::len).sum() {
        foreign.skipped.count("result without a call");
    }
    foreign.items = items;
    maker.log(foreign)
}

struct Maker<'a> {
    source: &'a Source<'a>,
    began: Timestamp,
    now: Timestamp,
    bodies: Vec<(Timestamp, Option<TurnId>, EventBody)>,
    outcomes: HashMap<String, VecDeque<(Option<Timestamp>, Outcome)>>,
    taken: HashSet<CallId>,
    exchange: Option<Exchange>,
    used: Usage,
    /// How much the model has before it: messages, and bytes of text.
    context: (u64, u64),
    first_words: String,
}

/// What the person asked, and what came of it so far.
struct Exchange {
    began: Timestamp,
    turns: u32,
    usage: Usage,
    last_words: String,
}

impl<'a> Maker<'a> {
    fn new(foreign: &Foreign, source: &'a Source<'a>) -> Self {
        let began = foreign.items.iter().find_map(|item| item.at).map_or(source.now, to_millisecond);
        let mut outcomes: HashMap<String, VecDeque<_>> = HashMap::new();
        for item in &foreign.items {
            if let What::Result(outcome) = &item.what {
                outcomes.entry(outcome.call.clone()).or_default().push_back((item.at, outcome.clone()));
            }
        }
        Self {
            source,
            began,
            now: began,
            bodies: Vec::new(),
            outcomes,
            taken: HashSet::new(),
            exchange: None,
            used: Usage::default(),
            context: (0, 0),
            first_words: String::new(),
        }
    }

    fn push(&mut self, turn: Option<TurnId>, body: EventBody) {
        self.bodies.push((self.now, turn, body));
    }

    fn message(&mut self, turn: Option<TurnId>, message: Message) {
        let size: usize = message.parts.iter().map(size).sum();
        self.context.0 += 1;
        self.context.1 = self.context.1.saturating_add(size as u64);
        self.push(turn, EventBody::Message(message));
    }

    fn user(&mut self, parts: &[Part]) {
        let parts: Vec<Part> = parts.iter().filter(|part| !is_empty(part)).cloned().collect();
        if parts.is_empty() {
            return;
        }
        if self.exchange.as_ref().is_some_and(|exchange| exchange.turns > 0) {
            self.close(CompleteReason::Natural);
        }
        let message = Message { author: Some(Author::Person), ..Message::new(Role::User, parts) };
        if self.first_words.is_empty() {
            self.first_words = message.text();
        }
        self.begin();
        self.message(None, message);
    }

    fn begin(&mut self) -> &mut Exchange {
        let began = self.now;
        let fresh = || Exchange { began, turns: 0, usage: Usage::default(), last_words: String::new() };
        self.exchange.get_or_insert_with(fresh)
    }

    fn answer(&mut self, answer: &Answer) {
        let parts: Vec<Part> = answer.parts.iter().filter(|part| !is_empty(part)).cloned().collect();
        if parts.is_empty() {
            return;
        }
        let turn = Some(TurnId::new());
        let mut ends = Vec::new();
        let parts = parts.into_iter().map(|part| self.part(part, &mut ends)).collect();
        let model = answer.model.as_ref().map(|model| format!("{}/{model}", self.source.from.name()));
        let message = Message { model: model.clone(), ..Message::new(Role::Assistant, parts) };
        let words = message.text();
        let exchange = self.begin();
        exchange.turns += 1;
        exchange.last_words = words;
        self.message(turn, message);
        if let Some(usage) = answer.usage.filter(|usage| *usage != Usage::default()) {
            self.usage(turn, model, usage);
        }
        let asked = self.now;
        let any = !ends.is_empty();
        for (at, mut end, todos) in ends {
            let at = at.map(to_millisecond).filter(|at| *at >= asked).unwrap_or(asked);
            end.duration_ms = u64::try_from(at.as_millisecond() - asked.as_millisecond()).unwrap_or_default();
            self.now = self.now.max(at);
            self.context.1 = self.context.1.saturating_add(end.output.len() as u64);
            self.push(turn, EventBody::ToolCallEnd(end));
            if let Some(todos) = todos {
                self.push(turn, EventBody::TodoUpdate(TodoUpdate { todos }));
            }
        }
        self.context.0 += u64::from(any);
    }

    fn usage(&mut self, turn: Option<TurnId>, model: Option<String>, usage: Usage) {
        let usage = Usage { unpriced: u32::from(usage.cost.is_none()), ..usage };
        self.used += usage;
        self.begin().usage += usage;
        let model = model.unwrap_or_else(|| self.source.from.name().to_owned());
        self.push(turn, EventBody::Usage(UsageEvent { model, usage, context_window: None, aside: None }));
    }

    /// A part as it is kept; the end of a call is put aside until its message is told.
    fn part(&mut self, part: Part, ends: &mut Vec<Ended>) -> Part {
        let call = match part {
            Part::ToolCall(call) => call,
            Part::Reasoning { text, .. } => return Part::Reasoning { text, opaque: None },
            other => return other,
        };
        let theirs = call.id.as_str().to_owned();
        let id = if theirs.is_empty() || !self.taken.insert(call.id.clone()) { CallId::generate() } else { call.id };
        self.taken.insert(id.clone());
        let (name, arguments) = names::ours(&call.name, &call.arguments);
        let arguments = match names::with_command(&name, arguments) {
            empty if empty.trim().is_empty() => "{}".to_owned(),
            arguments => arguments,
        };
        let outcome = self.outcomes.get_mut(&theirs).and_then(VecDeque::pop_front);
        ends.push(ended(&id, &name, &arguments, outcome));
        Part::ToolCall(ToolCall { id, name, arguments, opaque: None })
    }

    /// The summary is a message, and what was before it is no longer sent.
    fn compacted(&mut self, summary: &str) {
        if summary.trim().is_empty() {
            return;
        }
        let (removed, before) = self.context;
        let from = self.source.from.name();
        let message = Message::neco(format!("The conversation so far, as {from} summed it up:\n\n{}", summary.trim()));
        let since = message.id;
        self.context = (0, 0);
        self.message(None, message);
        if removed > 0 {
            self.push(
                None,
                EventBody::Compaction(Compaction {
                    cause: CompactionCause::Full,
                    strategy: CompactionStrategy::Summary,
                    before: before / 4,
                    after: self.context.1 / 4,
                    kept: 1,
                    removed,
                    focus: None,
                    by: None,
                    pinned: Vec::new(),
                    summary: None,
                    since: Some(since),
                    outputs: Vec::new(),
                    arguments: Vec::new(),
                    notes: Vec::new(),
                }),
            );
        }
    }

    fn close(&mut self, reason: CompleteReason) {
        let Some(exchange) = self.exchange.take() else { return };
        let duration = u64::try_from(self.now.as_millisecond() - exchange.began.as_millisecond()).unwrap_or_default();
        let complete = AgentComplete {
            reason,
            error_code: None,
            final_text: exchange.last_words,
            turns: exchange.turns,
            usage: exchange.usage,
            session_usage: self.used,
            duration_ms: duration,
            // How much of it was work is not known, and none of it counts against a limit here.
            waited_ms: duration,
            budget: None,
            by: None,
        };
        self.push(None, EventBody::AgentComplete(complete));
    }

    fn end(&mut self) {
        let reason = match &self.exchange {
            Some(exchange) if exchange.turns > 0 => CompleteReason::Natural,
            Some(_) | None => CompleteReason::Cancelled,
        };
        self.close(reason);
    }

    fn log(self, foreign: &Foreign) -> Log {
        let (title, title_by) = match foreign.title.as_deref().map(one_line).filter(|title| !title.is_empty()) {
            Some(title) => (title, TitleSource::Model),
            None => (one_line(&self.first_words), TitleSource::FirstWords),
        };
        let start = SessionStart {
            version: self.source.version.to_owned(),
            cwd: self.source.cwd.to_owned(),
            // None of ours: who goes on with it says which, or gets the default one.
            model: String::new(),
            scripted: false,
            mode: Mode::default(),
            approval: ApprovalMode::default(),
            generation: 0,
            sandbox: "none".to_owned(),
            usual_sandbox: false,
            resumed: false,
            single: false,
            forked_from: None,
        };
        let imported = Imported {
            from: self.source.from.name().to_owned(),
            file: self.source.file.to_owned(),
            id: foreign.id.clone(),
            skipped: foreign.skipped.total(),
        };
        let mut head = vec![EventBody::SessionStart(start), EventBody::Imported(imported)];
        if !title.is_empty() {
            head.push(EventBody::Title(SessionTitle { title: title.clone(), by: title_by }));
        }
        let head = head.into_iter().map(|body| (self.began, None, body));
        let (session_id, agent_id) = (self.source.session, AgentId::new());
        let events = head
            .chain(self.bodies)
            .zip(1..)
            .map(|((ts, turn_id, body), seq)| Event::new(seq, ts, session_id, agent_id, turn_id, body));
        Log { title, title_by, events: events.collect() }
    }
}

type Ended = (Option<Timestamp>, ToolCallEnd, Option<Vec<neco_proto::Todo>>);

fn ended(id: &CallId, tool: &str, arguments: &str, outcome: Option<(Option<Timestamp>, Outcome)>) -> Ended {
    let arguments: Value = serde_json::from_str(arguments).unwrap_or_default();
    let (at, output, status) = match outcome {
        Some((at, outcome)) if outcome.failed => (at, outcome.output, CallStatus::Error),
        Some((at, outcome)) => (at, outcome.output, CallStatus::Success),
        None => (None, NO_RESULT.to_owned(), CallStatus::Cancelled),
    };
    let done = status == CallStatus::Success;
    let end = ToolCallEnd {
        call_id: id.clone(),
        origin: neco_proto::ToolOrigin::BuiltIn,
        parts: Vec::new(),
        tool: tool.to_owned(),
        summary: card::summary(tool, &arguments),
        status,
        display: done.then(|| card::display(tool, &arguments, &output)).flatten(),
        output,
        error_code: (!done).then_some(ErrorCode::ToolFailed),
        advice: None,
        agent: None,
        duration_ms: 0,
        spilled_to: None,
        known: Vec::new(),
    };
    (at, end, done.then(|| card::todos(tool, &arguments)).flatten())
}

fn size(part: &Part) -> usize {
    match part {
        Part::Text { text } | Part::Reasoning { text, .. } => text.len(),
        Part::ToolCall(call) => call.arguments.len(),
        Part::ToolResult(result) => result.output.len(),
        Part::Image { .. } => 4000,
    }
}

fn one_line(text: &str) -> String {
    let line = neco_proto::clean::clean_line(text);
    match line.char_indices().nth(TITLE) {
        Some((at, _)) => format!("{}…", line.get(..at).unwrap_or_default().trim_end()),
        None => line,
    }
}

/// Logs know milliseconds.
fn to_millisecond(at: Timestamp) -> Timestamp {
    Timestamp::from_millisecond(at.as_millisecond()).unwrap_or(at)
}
