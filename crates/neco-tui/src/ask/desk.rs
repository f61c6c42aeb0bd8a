//! Whose turn it is: questions wait in line, the oldest is on the screen.

use std::collections::{HashMap, VecDeque};

use neco_proto::event::{AskedAhead, PermissionDecision, PermissionRequest, QuestionAnswer, ToolCallEnd};
use neco_proto::{Actor, AgentId, CallId, Command, Decision, Event, EventBody, Question, QuestionId, Reply, Subject};
use neco_view::reduce::Agents;
use ratatui::style::Modifier;
use ratatui::text::{Line, Span};

use super::approval::{ApprovalBox, Asks};
use super::choices::Choices;
use super::edge::Tints;
use super::going_on::LoopBox;
use super::no_model::{Heard, NoModelBox, Silence};
use super::plan::PlanBox;
use super::rest::{Mark, Other, Rest, counts, held, is_mild, not_covered};
use crate::host::Edited;
use crate::text::wrap::cut;
use crate::theme::Theme;

/// Who asks, as far as that is known, and whether it is another than the root.
pub type Who = (Option<AgentId>, bool);

/// A question on the desk.
#[derive(Clone, Debug)]
pub enum Asked {
    /// May this run?
    Approval(Box<ApprovalBox>),
    /// Which of these?
    Choices(QuestionId, Choices),
    /// Is this the plan?
    Plan(QuestionId, PlanBox),
    /// May it go on although it repeats itself?
    Loop(QuestionId, LoopBox),
    /// What now, where no model answers?
    NoModel(NoModelBox),
}

#[derive(Clone, Debug)]
struct Waiting {
    /// Which one it is of all that were ever asked.
    number: u64,
    /// Whether the person has answered, and the session has not taken it yet.
    answered: bool,
    /// Who asks, as far as that is known of what waited before the window opened.
    agent: Option<AgentId>,
    /// Whether that is another than the root.
    is_child: bool,
    /// What it is called, when it is not the root.
    name: Option<String>,
    asked: Asked,
}

impl Waiting {
    /// The call that it is about.
    fn call(&self) -> Option<&CallId> {
        match &self.asked {
            Asked::Approval(approval) => Some(&approval.asked.request.call_id),
            Asked::Choices(..) | Asked::Plan(..) | Asked::Loop(..) | Asked::NoModel(_) => None,
        }
    }

    /// A call's line without the name of whoever wants it, which is told beside it.
    fn own_words<'a>(&self, summary: &'a str) -> &'a str {
        let named = self.name.as_ref().and_then(|name| summary.strip_prefix(name.as_str()));
        named.and_then(|rest| rest.strip_prefix(": ")).unwrap_or(summary)
    }

    /// The question that it is.
    fn question(&self) -> Option<QuestionId> {
        match &self.asked {
            Asked::Choices(id, _) | Asked::Plan(id, _) | Asked::Loop(id, _) => Some(*id),
            Asked::Approval(_) | Asked::NoModel(_) => None,
        }
    }
}

/// Calls of one agent that are asked about one after the other.
#[derive(Debug, Default)]
struct CallRow {
    /// How many were answered.
    done: usize,
    /// Those that are to follow.
    follow: Vec<CallId>,
}

/// The questions that wait.
#[derive(Debug, Default)]
pub struct Desk {
    waiting: VecDeque<Waiting>,
    asked: u64,
    /// The calls that each agent asks about one after the other.
    call_rows: HashMap<Option<AgentId>, CallRow>,
    /// What the person said of calls that nobody was asked about yet.
    rest: Option<Rest>,
    /// Whether models answer the root.
    silence: Silence,
}

impl Desk {
    /// Takes in the next event: questions come, and go when any window has answered.
    pub fn apply(&mut self, event: &Event, is_child: bool, name: Option<String>) {
        let agent = Some(event.agent_id);
        if !is_child && matches!(event.body, EventBody::TurnStart(_) | EventBody::AgentComplete(_)) {
            self.rest = None;
        }
        match &event.body {
            // Another process goes on with the session, and asks again what is still open.
            EventBody::SessionStart(_) => self.waiting.clear(),
            EventBody::PermissionRequest(request) => self.ask((agent, is_child), name, request.clone()),
            EventBody::PermissionDecision(PermissionDecision { call_id, .. })
            | EventBody::ToolCallEnd(ToolCallEnd { call_id, .. }) => self.drop_call(call_id),
            EventBody::Question(question) => self.pose((agent, is_child), name, question.clone()),
            EventBody::QuestionAnswer(QuestionAnswer { question_id, .. }) => {
                self.waiting.retain(|waiting| waiting.question() != Some(*question_id));
            }
            EventBody::AgentComplete(_) => {
                self.waiting.retain(|waiting| waiting.agent != agent);
                self.call_rows.remove(&agent);
            }
            _ => {}
        }
        if !is_child {
            match self.silence.note(event) {
                Heard::Silence(asked) => self.ask_without_model(event.agent_id, asked),
                Heard::Answer => self.drop_no_model(),
                Heard::Nothing => {}
            }
        }
    }

    /// No model answers the root: one that did not answer once more is the same question.
    fn ask_without_model(&mut self, root: AgentId, asked: NoModelBox) {
        let before = self.waiting.iter_mut().find_map(|waiting| match &mut waiting.asked {
            Asked::NoModel(before) => Some(before),
            Asked::Approval(_) | Asked::Choices(..) | Asked::Plan(..) | Asked::Loop(..) => None,
        });
        match before {
            Some(before) => before.again(asked),
            None => self.push((Some(root), false), None, Asked::NoModel(asked)),
        }
    }

    /// It is not asked any more what to do where no model answers.
    pub fn drop_no_model(&mut self) {
        self.waiting.retain(|waiting| !matches!(waiting.asked, Asked::NoModel(_)));
    }

    /// The person waits until a model is tried again by itself, and is not asked about that in this turn.
    pub fn wait_for_model(&mut self) {
        self.silence.wait();
        self.drop_no_model();
    }

    /// Who answered the question on the screen, when that was not this window.
    pub fn answered_elsewhere(&self, event: &Event) -> Option<Actor> {
        let front = self.waiting.front().filter(|waiting| !waiting.answered)?;
        let by = match &event.body {
            EventBody::PermissionDecision(decision) if front.call() == Some(&decision.call_id) => &decision.by,
            EventBody::QuestionAnswer(answer) if front.question() == Some(answer.question_id) => &answer.by,
            _ => return None,
        };
        Some(by.clone().unwrap_or_default())
    }

    /// A session is opened in which this waits; its questions are counted from the first.
    pub fn open(&mut self, root: AgentId, calls: Vec<PermissionRequest>, questions: Vec<Question>, agents: &Agents) {
        *self = Self { rest: self.rest.take(), ..Self::default() };
        let who = |id: &str| {
            let agent = agents.asker(id);
            (agent, agent.is_some_and(|agent| agent != root))
        };
        for request in calls {
            self.ask(who(&request.call_id.to_string()), None, request);
        }
        for question in questions {
            self.pose(who(&question.question_id.to_string()), None, question);
        }
    }

    /// A call is not asked about any more.
    fn drop_call(&mut self, call: &CallId) {
        let Some(place) = self.waiting.iter().position(|waiting| waiting.call() == Some(call)) else { return };
        if let Some(Waiting { agent, asked: Asked::Approval(approval), .. }) = self.waiting.remove(place) {
            let row = self.call_rows.entry(agent).or_default();
            row.done += 1;
            row.follow = approval.asked.request.ahead.into_iter().map(|ahead| ahead.call_id).collect();
        }
    }

    /// A call waits for the person.
    fn ask(&mut self, who: Who, name: Option<String>, request: PermissionRequest) {
        let (agent, _) = who;
        let follows = self.call_rows.get(&agent).is_some_and(|row| row.follow.contains(&request.call_id));
        let is_next = follows || self.waiting.iter().any(|other| other.agent == agent && other.call().is_some());
        if !is_next {
            self.call_rows.remove(&agent);
        }
        self.push(who, name, Asked::Approval(Box::new(ApprovalBox::new(request))));
    }

    fn push(&mut self, (agent, is_child): Who, name: Option<String>, asked: Asked) {
        self.asked += 1;
        let number = self.asked;
        self.waiting.push_back(Waiting { number, answered: false, agent, is_child, name, asked });
    }

    /// An agent wants to know something.
    fn pose(&mut self, who: Who, name: Option<String>, question: Question) {
        let id = question.question_id;
        let asked = match question.subject {
            Subject::Choices { items } => Asked::Choices(id, Choices::new(items)),
            Subject::Plan { plan } => Asked::Plan(id, PlanBox::new(plan)),
            Subject::Loop { text } => Asked::Loop(id, LoopBox::new(text)),
        };
        self.push(who, name, asked);
    }

    /// What agents are called that asked before that was known.
    pub fn set_names(&mut self, name: impl Fn(AgentId) -> Option<String>) {
        for waiting in self.waiting.iter_mut().filter(|waiting| waiting.is_child && waiting.name.is_none()) {
            waiting.name = waiting.agent.and_then(&name);
        }
    }

    /// Whether the one on the screen is about a call.
    pub fn is_approval(&self) -> bool {
        matches!(self.waiting.front(), Some(Waiting { asked: Asked::Approval(_), .. }))
    }

    /// Whether all of the call on the screen is shown in place of its beginning.
    pub fn shows_details(&self) -> bool {
        match self.waiting.front().map(|waiting| &waiting.asked) {
            Some(Asked::Approval(approval)) => approval.details.is_whole(),
            Some(Asked::Choices(..) | Asked::Plan(..) | Asked::Loop(..) | Asked::NoModel(_)) | None => false,
        }
    }

    /// Whether words answer the one on the screen.
    pub fn takes_words(&self) -> bool {
        match self.waiting.front().map(|waiting| &waiting.asked) {
            Some(Asked::Choices(..) | Asked::Plan(..) | Asked::Loop(..)) => true,
            Some(Asked::Approval(_) | Asked::NoModel(_)) | None => false,
        }
    }

    /// Who asks the one on the screen, when that is another than the root.
    pub fn child(&self) -> Option<AgentId> {
        self.waiting.front().filter(|waiting| waiting.is_child)?.agent
    }

    /// Whether another than the root asks the one on the screen.
    pub fn is_of_child(&self) -> bool {
        self.waiting.front().is_some_and(|waiting| waiting.is_child)
    }

    /// Whether the one on the screen can only be answered in words.
    pub fn wants_words(&self) -> bool {
        matches!(self.waiting.front(), Some(Waiting { asked: Asked::Choices(_, choices), .. }) if choices.wants_words())
    }

    /// Which question is on the screen, of all that were ever asked.
    pub fn front(&self) -> Option<u64> {
        self.waiting.front().map(|waiting| waiting.number)
    }

    /// Whether the person has answered the one on the screen.
    pub fn is_answered(&self) -> bool {
        self.waiting.front().is_some_and(|waiting| waiting.answered)
    }

    /// The person has answered this.
    pub fn answer(&mut self, command: &Command) {
        self.set_answered(command, true);
    }

    /// The session did not take an answer: it is asked as before.
    pub fn not_taken(&mut self, command: &Command) {
        self.set_answered(command, false);
    }

    fn set_answered(&mut self, command: &Command, answered: bool) {
        let answers = |waiting: &&mut Waiting| match command {
            Command::Approve { call_id, .. } => waiting.call() == Some(call_id),
            Command::Answer { question_id, .. } => waiting.question() == Some(*question_id),
            _ => false,
        };
        self.waiting.iter_mut().filter(answers).for_each(|waiting| waiting.answered = answered);
    }

    /// The person changed a call: it is shown as it is now. False when it does not wait any more.
    pub fn revise(&mut self, call: &CallId, edited: Edited) -> bool {
        self.approval(call).map(|approval| approval.revise(edited)).is_some()
    }

    /// The box of a call that waits.
    fn approval(&mut self, call: &CallId) -> Option<&mut ApprovalBox> {
        self.waiting.iter_mut().find_map(|waiting| match &mut waiting.asked {
            Asked::Approval(approval) if approval.asked.request.call_id == *call => Some(approval.as_mut()),
            Asked::Approval(_) | Asked::Choices(..) | Asked::Plan(..) | Asked::Loop(..) | Asked::NoModel(_) => None,
        })
    }

    /// The question on the screen.
    pub fn present(&mut self) -> Option<&mut Asked> {
        self.waiting.front_mut().map(|waiting| &mut waiting.asked)
    }

    /// Another of the questions that wait comes to the screen; the order in which they wait stays.
    pub fn turn(&mut self, forward: bool) {
        if self.waiting.len() < 2 {
            return;
        }
        if forward {
            self.waiting.rotate_left(1);
        } else {
            self.waiting.rotate_right(1);
        }
    }

    /// What this agent asks comes to the screen; whether it asks anything.
    pub fn bring(&mut self, agent: AgentId) -> bool {
        let place = self.waiting.iter().position(|waiting| waiting.agent == Some(agent));
        place.into_iter().for_each(|place| self.waiting.rotate_left(place));
        place.is_some()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.waiting.is_empty()
    }

    /// How many there are.
    pub fn count(&self) -> usize {
        self.waiting.len()
    }

    /// Whether this call waits.
    pub fn holds_call(&self, call: &CallId) -> bool {
        self.waiting.iter().any(|waiting| waiting.call() == Some(call))
    }

    /// Whether this question waits.
    pub fn holds_question(&self, question: QuestionId) -> bool {
        self.waiting.iter().any(|waiting| waiting.question() == Some(question))
    }

    /// The calls that wait, the one on the screen first.
    fn calls(&self) -> impl Iterator<Item = (&Waiting, &ApprovalBox)> {
        self.waiting.iter().filter(|waiting| !waiting.answered).filter_map(|waiting| match &waiting.asked {
            Asked::Approval(approval) => Some((waiting, approval.as_ref())),
            Asked::Choices(..) | Asked::Plan(..) | Asked::Loop(..) | Asked::NoModel(_) => None,
        })
    }

    /// Yes to the call on the screen and to those that were `named` below it; those that could do much harm are asked
    /// about by themselves, and say why.
    pub fn allow_named(&mut self, named: &[CallId]) -> Vec<Command> {
        let ahead: Vec<AskedAhead> = self.ahead().into_iter().map(|(_, ahead)| ahead).collect();
        self.rest = Some(Rest::yes(&ahead, named).after(self.rest.take()));
        let mut commands = Vec::new();
        for waiting in self.waiting.iter_mut().filter(|waiting| !waiting.answered) {
            let Asked::Approval(approval) = &mut waiting.asked else { continue };
            let risk = Some(approval.asked.request.risk);
            if commands.is_empty() || is_mild(risk) && named.contains(&approval.asked.request.call_id) {
                commands.push(approval.asked.decide(approval.asked.yes()));
            } else {
                approval.note = Some(not_covered(risk));
            }
        }
        commands
    }

    /// What the person said of this call before its turn came. What looks worse than it did then is asked about all
    /// the same, and says so.
    pub fn said_before(&mut self, request: &PermissionRequest) -> Option<Command> {
        match self.rest.as_ref()?.of(request)? {
            Ok(decision) => Some(Command::Approve { call_id: request.call_id.clone(), decision }),
            // Why it is asked about although something was said of it before.
            Err(words) => {
                self.approval(&request.call_id).into_iter().for_each(|approval| approval.note = Some(words.clone()));
                None
            }
        }
    }

    /// The calls behind those that wait that will be asked about when their turn comes, each with who wants it.
    fn ahead(&self) -> Vec<(Option<&String>, AskedAhead)> {
        let mut found: Vec<(Option<&String>, AskedAhead)> = Vec::new();
        for waiting in self.waiting.iter().filter(|_| self.is_approval()) {
            let Asked::Approval(approval) = &waiting.asked else { continue };
            for ahead in &approval.asked.request.ahead {
                let is_known = found.iter().any(|(_, known)| known.call_id == ahead.call_id);
                if !is_known && !self.holds_call(&ahead.call_id) {
                    found.push((waiting.name.as_ref(), ahead.clone()));
                }
            }
        }
        found
    }

    /// No to every call that waits, and to those that would be asked about next.
    pub fn refuse_all(&mut self) -> Vec<Command> {
        let ahead: Vec<AskedAhead> = self.ahead().into_iter().map(|(_, ahead)| ahead).collect();
        self.rest = Some(Rest::no(&ahead));
        self.calls().map(|(_, approval)| approval.asked.decide(Decision::Reject { reason: None })).collect()
    }

    /// What else is asked about besides the call on the screen, or will be when its turn comes.
    pub fn others(&self) -> Vec<Other> {
        let other = |(waiting, approval): (&Waiting, &ApprovalBox)| {
            let risk = Some(approval.asked.request.risk);
            Other {
                call: approval.asked.request.call_id.clone(),
                mark: Mark::of(risk, approval.asked.request.says()),
                who: waiting.name.clone(),
                risk,
                counts: counts(&approval.asked.request.diff),
                held: if approval.asked.revised { "" } else { held(&approval.asked.request) },
                summary: waiting.own_words(&approval.asked.request.summary).to_owned(),
                says: approval.asked.request.says(),
            }
        };
        let ahead = self.ahead().into_iter().map(|(who, ahead)| {
            let mark = match &self.rest {
                Some(rest) if rest.says_yes(&ahead.call_id) => Mark::Said,
                Some(_) | None => Mark::of(ahead.risk, ahead.says),
            };
            let AskedAhead { call_id, risk, summary, says } = ahead;
            Other { call: call_id, mark, who: who.cloned(), risk, counts: String::new(), held: "", summary, says }
        });
        self.calls().skip(1).map(other).chain(ahead).collect()
    }

    /// Why yes to all would say yes to nothing but the call on the screen.
    pub fn why_alone(&self) -> String {
        let mut whys: Vec<&str> = Vec::new();
        for other in self.others().iter().filter(|other| other.mark != Mark::Said) {
            if !whys.contains(&other.why_alone()) {
                whys.push(other.why_alone());
            }
        }
        match self.waiting.iter().filter(|waiting| !waiting.answered).count() {
            _ if !whys.is_empty() => {
                format!("The others are asked one by one ({}): y allows this one", whys.join(", "))
            }
            0 | 1 => "Only this one is waiting: y allows it".to_owned(),
            _ => "The others are questions, asked one by one: y allows this one".to_owned(),
        }
    }

    /// What the field is for while the question on the screen waits.
    pub fn hint(&self) -> Option<&'static str> {
        Some(match &self.waiting.front()?.asked {
            Asked::Approval(_) if self.is_of_child() => "Tab writes a message to root",
            Asked::Approval(_) | Asked::NoModel(_) => "Tab writes a message",
            Asked::Choices(..) => "Your answer",
            Asked::Plan(..) => "Tab writes what should be different",
            Asked::Loop(..) => "Tab writes what it should do instead",
        })
    }

    /// The rows of the question on the screen, and how many others are named there; the keys have room however small
    /// `room` is.
    pub fn rows(&mut self, asks: Asks<'_>, width: usize, room: usize, theme: &Theme) -> (Vec<Line<'static>>, usize) {
        let waiting = self.waiting.len().saturating_sub(1);
        let number = self.front();
        let before = |other: &&Waiting| other.call().is_some() && Some(other.number) < number;
        let before = self.waiting.iter().filter(before).count();
        let row = self.waiting.front().and_then(|waiting| self.call_rows.get(&waiting.agent));
        let done = row.map_or(0, |row| row.done);
        let Some(Waiting { name, asked, answered, is_child, .. }) = self.waiting.front_mut() else {
            return (Vec::new(), 0);
        };
        let somebody = "an agent".to_owned();
        let name = name.as_ref().or(is_child.then_some(&somebody));
        let who = name.map(String::as_str);
        let asks = Asks { who, waiting, done, before, answered: *answered, ..asks };
        let tints = Tints::of(theme);
        let asks_name = |name: &String| {
            let spans = vec![Span::styled(format!("  {name}"), Modifier::BOLD), Span::styled(" asks", tints.meta)];
            tints.row(cut(&Line::from(spans), width.saturating_sub(1)))
        };
        let named = name.into_iter().map(asks_name);
        let left = room.saturating_sub(usize::from(name.is_some()));
        let rows = match asked {
            Asked::Approval(approval) => return approval.rows(asks, width, room, theme),
            Asked::Choices(_, choices) => named.chain(choices.rows(asks, width, left, theme)).collect(),
            Asked::Plan(_, plan) => named.chain(plan.rows(asks, width, left, theme)).collect(),
            // Who it is stands in its head.
            Asked::Loop(_, repeats) => repeats.rows(who, asks.elsewhere, width, theme),
            Asked::NoModel(silence) => silence.rows(asks, width, room, theme),
        };
        (rows, 0)
    }
}

/// The answer to a question as a command.
pub fn answer(question_id: QuestionId, reply: Reply) -> Command {
    Command::Answer { question_id, reply }
}
