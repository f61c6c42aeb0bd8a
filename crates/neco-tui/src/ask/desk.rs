//! Whose turn it is: questions wait in line, the oldest is on the screen.

use std::collections::VecDeque;

use neco_proto::clean::clean_line;
use neco_proto::event::{PermissionDecision, PermissionRequest, QuestionAnswer, ToolCallEnd};
use neco_proto::{AgentId, CallId, Command, Decision, Event, EventBody, Question, QuestionId, Reply, Subject};
use ratatui::text::{Line, Span};

use super::approval::{Approval, Asks};
use super::choices::Choices;
use super::plan::PlanBox;
use crate::text::wrap::{Indent, cut, wrap};
use crate::theme::Theme;

/// A question on the desk.
#[derive(Clone, Debug)]
pub enum Asked {
    /// May this run?
    Approval(Approval),
    /// Which of these?
    Choices(QuestionId, Choices),
    /// Is this the plan?
    Plan(QuestionId, PlanBox),
    /// May it go on although it repeats itself?
    Loop(QuestionId, String),
}

#[derive(Clone, Debug)]
struct Waiting {
    /// Who asks; not known for what waited before the window opened.
    agent: Option<AgentId>,
    /// What it is called, when it is not the root.
    name: Option<String>,
    asked: Asked,
}

/// The questions that wait.
#[derive(Debug, Default)]
pub struct Desk {
    waiting: VecDeque<Waiting>,
}

impl Desk {
    /// Takes in the next event: questions come, and go when any window has answered.
    pub fn apply(&mut self, event: &Event, is_child: bool, name: Option<String>) {
        let agent = Some(event.agent_id);
        match &event.body {
            EventBody::PermissionRequest(request) => self.ask(agent, name, request.clone()),
            EventBody::PermissionDecision(PermissionDecision { call_id, .. }) => self.take_call(call_id),
            EventBody::ToolCallEnd(ToolCallEnd { call_id, .. }) => self.take_call(call_id),
            EventBody::Question(question) => self.pose(agent, name, question.clone()),
            EventBody::QuestionAnswer(QuestionAnswer { question_id, .. }) => self.take_question(*question_id),
            EventBody::AgentComplete(_) => {
                self.waiting.retain(|waiting| match waiting.agent {
                    Some(agent) => agent != event.agent_id,
                    None => is_child,
                });
            }
            _ => {}
        }
    }

    /// A call waits for the person.
    pub fn ask(&mut self, agent: Option<AgentId>, name: Option<String>, request: PermissionRequest) {
        self.waiting.push_back(Waiting { agent, name, asked: Asked::Approval(Approval::new(request)) });
    }

    /// An agent wants to know something.
    pub fn pose(&mut self, agent: Option<AgentId>, name: Option<String>, question: Question) {
        let id = question.question_id;
        let asked = match question.subject {
            Subject::Choices { items } => Asked::Choices(id, Choices::new(items)),
            Subject::Plan { .. } => Asked::Plan(id, PlanBox::new()),
            Subject::Loop { text } => Asked::Loop(id, text),
        };
        self.waiting.push_back(Waiting { agent, name, asked });
    }

    /// The question on the screen.
    pub fn present(&mut self) -> Option<&mut Asked> {
        self.waiting.front_mut().map(|waiting| &mut waiting.asked)
    }

    /// Whether there is none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.waiting.is_empty()
    }

    /// Whether this call waits.
    #[must_use]
    pub fn holds_call(&self, call: &CallId) -> bool {
        let is = |waiting: &Waiting| matches!(&waiting.asked, Asked::Approval(approval) if approval.request.call_id == *call);
        self.waiting.iter().any(is)
    }

    /// Whether this question waits.
    #[must_use]
    pub fn holds_question(&self, question: QuestionId) -> bool {
        self.waiting.iter().any(|waiting| match &waiting.asked {
            Asked::Choices(id, _) | Asked::Plan(id, _) | Asked::Loop(id, _) => *id == question,
            Asked::Approval(_) => false,
        })
    }

    /// The same answer for every call that waits.
    #[must_use]
    pub fn decide_all(&self, decision: &Decision) -> Vec<Command> {
        let command = |waiting: &Waiting| match &waiting.asked {
            Asked::Approval(approval) => Some(approval.command(decision.clone())),
            Asked::Choices(..) | Asked::Plan(..) | Asked::Loop(..) => None,
        };
        self.waiting.iter().filter_map(command).collect()
    }

    /// What the field is for while the question on the screen waits.
    #[must_use]
    pub fn hint(&self) -> Option<&'static str> {
        Some(match &self.waiting.front()?.asked {
            Asked::Approval(_) => "or write something for its next turn",
            Asked::Choices(_, choices) if choices.wants_words() => "write your answer",
            Asked::Choices(..) => "or write an answer of your own",
            Asked::Plan(..) => "or write what should be different",
            Asked::Loop(..) => "or write what it should do instead",
        })
    }

    /// Whether the question on the screen is the root's.
    #[must_use]
    pub fn is_of_root(&self) -> bool {
        self.waiting.front().is_some_and(|waiting| waiting.name.is_none())
    }

    /// How many calls wait besides the one on the screen.
    fn other_calls(&self) -> usize {
        let calls = self.waiting.iter().skip(1);
        calls.filter(|waiting| matches!(waiting.asked, Asked::Approval(_))).count()
    }

    /// The rows of the question on the screen; the keys have room however small `room` is.
    #[must_use]
    pub fn rows(&self, asks: Asks<'_>, width: usize, room: usize, theme: &Theme) -> Vec<Line<'static>> {
        let Some(Waiting { name, asked, .. }) = self.waiting.front() else { return Vec::new() };
        let asks = Asks { who: name.as_deref(), others: self.other_calls(), ..asks };
        let named = name.iter().map(|name| cut(&Line::styled(format!("{name} asks"), theme.dim), width));
        match asked {
            Asked::Approval(approval) => approval.rows(asks, width, room, theme),
            Asked::Choices(_, choices) => {
                let room = room.saturating_sub(usize::from(name.is_some()));
                named.chain(choices.rows(width, room, theme)).collect()
            }
            Asked::Plan(_, plan) => named.chain(plan.rows(width, theme)).collect(),
            Asked::Loop(_, text) => named.chain(loop_rows(text, width, theme)).collect(),
        }
    }

    fn take_call(&mut self, call: &CallId) {
        self.waiting.retain(
            |waiting| !matches!(&waiting.asked, Asked::Approval(approval) if approval.request.call_id == *call),
        );
    }

    fn take_question(&mut self, question: QuestionId) {
        self.waiting.retain(|waiting| match &waiting.asked {
            Asked::Choices(id, _) | Asked::Plan(id, _) | Asked::Loop(id, _) => *id != question,
            Asked::Approval(_) => true,
        });
    }
}

fn loop_rows(text: &str, width: usize, theme: &Theme) -> Vec<Line<'static>> {
    let heading = Line::styled(format!("The agent repeats itself: {}", clean_line(text)), theme.accent);
    let mut rows = wrap(&heading, width, &Indent::hanging(Span::styled("? ", theme.accent)));
    rows.push(cut(&Line::styled("  y it may go on · n it stays stopped", theme.dim), width));
    rows
}

/// The answer to a question as a command.
#[must_use]
pub fn answer(question_id: QuestionId, reply: Reply) -> Command {
    Command::Answer { question_id, reply }
}
