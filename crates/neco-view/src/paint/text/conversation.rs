//! What was said and done in a session, event by event.

use jiff::tz::TimeZone;
use neco_proto::app::sessions::SessionRow;
use neco_proto::clean::{clean, clean_line};
use neco_proto::event::{
    AgentMessage, CallStatus, CompleteReason, Letter, ModelRetry, ModelSwitch, NotificationLevel, OutputStream,
    ToolCallEnd, Up,
};
use neco_proto::{AgentId, CallId, Event, EventBody, Message, Part, QuestionItem, Role, SessionId, Subject, agent_ask};

use super::tail::Tail;
use super::{card, plan};
use crate::figures;
use crate::paint::colour::Paint;
use crate::paint::wrap::fitting;
use crate::reduce::block::Planned;
use crate::short_id::short_id;
use crate::wording::{answers, calls, notices};

/// Columns of a line about an agent: what it was asked and what came of it is read elsewhere in full.
const TOLD_OF_AGENT: usize = 160;

/// Reads a session's events as its conversation.
#[derive(Debug)]
pub struct Conversation {
    session: SessionId,
    paint: Paint,
    zone: TimeZone,
    /// Whose conversation it is; the root's unless an agent below it is read. Of those below it is told in a line when
    /// one begins or ends.
    whose: Option<AgentId>,
    /// Whether it is an agent below the root that is read.
    below: bool,
    /// Calls that began and have no end yet, oldest first.
    open: Vec<Open>,
    /// Words that have not become a message.
    partial: String,
    /// How many findings were shown.
    findings: usize,
    /// How many messages of the person were left out since the last line: they no longer count.
    left_out: u64,
}

/// A call without an end.
#[derive(Debug)]
struct Open {
    id: CallId,
    summary: String,
    /// What stands between it and its end.
    waits: &'static str,
    /// Whether it runs, as far as is known.
    runs: bool,
    tail: Tail,
    lines: Vec<String>,
}

/// The first lines: what a session is called, and where it comes from.
pub fn heading(session: &SessionRow, paint: Paint) -> String {
    let title = match clean_line(&session.title) {
        title if title.is_empty() => String::new(),
        title => format!("{}\n", paint.bold(&title)),
    };
    let fork = session.forked_from.map(|from| format!(" · fork of {}", short_id(from.session_id))).unwrap_or_default();
    let line = format!("session {} · {}{fork}", session.id, clean_line(&session.cwd));
    format!("{title}{}\n", paint.dim(&line))
}

impl Conversation {
    /// What was said and done in `session`, or by an agent below its root; times are those of `zone`.
    pub fn of(session: SessionId, agent: Option<AgentId>, zone: TimeZone, paint: Paint) -> Self {
        Self {
            session,
            paint,
            zone,
            whose: agent,
            below: agent.is_some(),
            open: Vec::new(),
            partial: String::new(),
            findings: 0,
            left_out: 0,
        }
    }

    /// An event as a reader of the conversation wants it; most are not wanted, and what was gone back over is no part of it.
    pub fn next(&mut self, event: &Event, counts: bool) -> String {
        if !counts {
            let is_said = matches!(&event.body, EventBody::Message(said) if said.role == Role::User && !said.is_neco());
            self.left_out += u64::from(is_said && !self.below);
            return String::new();
        }
        let gone = match std::mem::take(&mut self.left_out) {
            0 => String::new(),
            messages => {
                let (count, id) = (figures::count(messages, "message"), short_id(self.session));
                let told = format!("── {count} removed from the conversation; neco session log {id} has them ──");
                format!("\n{}\n", self.paint.dim(&told))
            }
        };
        gone + &self.shown(event)
    }

    fn shown(&mut self, event: &Event) -> String {
        let paint = self.paint;
        if matches!(event.body, EventBody::SessionStart(_)) && !self.below {
            self.whose = Some(event.agent_id);
        }
        let told =
            matches!(event.body, EventBody::AgentUpdate(_) | EventBody::AgentMessage(_) | EventBody::SharedState(_));
        if (!told || self.below) && self.whose.is_some_and(|whose| whose != event.agent_id) {
            return String::new();
        }
        let info = |text: String| vec![paint.dim(&format!("i {text}"))];
        let lines = match &event.body {
            EventBody::Message(message) => {
                let said = clean(&message.text());
                if message.role == Role::Assistant {
                    self.partial.clear();
                }
                match message.role {
                    Role::User if message.is_neco() => said.lines().map(|line| paint.dim(line)).collect(),
                    Role::User => {
                        let said = format!("\n{}", paint.bold(&quoted(&said)));
                        let pictures = pictures(message).map(|words| paint.dim(&words));
                        std::iter::once(said).chain(pictures).collect()
                    }
                    Role::Assistant if !said.trim().is_empty() => vec![format!("\n{}\n", said.trim())],
                    Role::Assistant | Role::Tool => Vec::new(),
                }
            }
            EventBody::ToolCallUpdate(update) => {
                self.update(&update.call_id, &update.summary, update.status);
                Vec::new()
            }
            EventBody::ToolOutputChunk(chunk) => {
                let open = self.open.iter_mut().find(|open| open.id == chunk.call_id);
                if let Some(open) = open.filter(|_| chunk.stream == OutputStream::Output) {
                    let lines = open.tail.push(&chunk.text);
                    open.lines.extend(lines);
                }
                Vec::new()
            }
            EventBody::ToolCallEnd(end) => self.ended(end),
            EventBody::StreamChunk(chunk) => {
                self.partial.push_str(&chunk.text);
                Vec::new()
            }
            EventBody::TurnStart(_)
            | EventBody::ModelRetry(ModelRetry { discards: true, .. })
            | EventBody::ModelSwitch(ModelSwitch { discards: true, .. }) => {
                self.partial.clear();
                Vec::new()
            }
            EventBody::Notification(told) => match told.level {
                NotificationLevel::Info => info(clean_line(&told.text)),
                NotificationLevel::Warning => vec![paint.yellow(&format!("! {}", clean_line(&told.text)))],
            },
            EventBody::Compaction(compaction) => info(notices::compaction(compaction)),
            EventBody::Rewind(rewind) => info(notices::rewind(rewind)),
            EventBody::Imported(imported) => info(notices::imported(imported)),
            EventBody::AgentUpdate(update) if update.setup.is_some() || !update.node.state.is_live() => {
                info(fitting(&notices::node(&update.node), TOLD_OF_AGENT))
            }
            // Its last update tells that, and all of it is in what the one above it reads.
            EventBody::AgentMessage(AgentMessage { letter: Letter::Up(Up::Ended { .. }), .. }) => Vec::new(),
            EventBody::AgentMessage(message) => info(notices::letter(&message.letter)),
            EventBody::Stop(stop) => {
                agent_ask::stopped(stop).map(|words| paint.dim(&format!("‖ {words}"))).into_iter().collect()
            }
            EventBody::WorkflowUpdate(update) => {
                info(format!("workflow {}: {}", clean_line(&update.name), update.state))
            }
            EventBody::HookRun(run) => card::hook(run, paint).into_iter().collect(),
            EventBody::Question(question) => vec![paint.yellow(&format!("? {}", asked(&question.subject)))],
            EventBody::QuestionAnswer(answer) => {
                vec![paint.bold(&format!("› {}", answers::reply(answer.reply.as_ref())))]
            }
            EventBody::TodoUpdate(update) => plan::todos(&update.todos, paint),
            EventBody::PlanUpdate(update) => {
                let before = std::mem::replace(&mut self.findings, update.findings.len());
                let found = update.findings.iter().skip(before).cloned().collect();
                plan::planned(&Planned { plan: update.plan.clone(), found }, paint)
            }
            EventBody::SharedState(update) => info(notices::shared(update)),
            EventBody::ModeChange(change) => plan::mode_change(change, paint).into_iter().collect(),
            EventBody::Error(error) => {
                vec![paint.red(&format!("✗ error {}: {}", error.code, clean_line(&error.message)))]
            }
            EventBody::AgentComplete(complete) => {
                let reason = match complete.reason {
                    CompleteReason::Natural => "done".to_owned(),
                    other => other.to_string().replace('_', " "),
                };
                let mut parts = vec![reason, figures::count(complete.turns.into(), "turn")];
                parts.extend(figures::usage(&complete.usage));
                vec![paint.dim(&parts.join(" · "))]
            }
            EventBody::SessionStart(start) => {
                let scripted = if start.scripted { " (scripted)" } else { "" };
                let model = match clean_line(&start.model) {
                    model if model.is_empty() => String::new(),
                    model => format!(" · {model}{scripted}"),
                };
                vec![paint.dim(&format!("{}{model}", event.ts.to_zoned(self.zone.clone()).strftime("%Y-%m-%d %H:%M")))]
            }
            // The rest is no part of a conversation.
            _ => Vec::new(),
        };
        joined(&lines)
    }

    /// Whether something was begun that has no end.
    pub fn has_open(&self) -> bool {
        !self.open.is_empty() || !self.partial.is_empty()
    }

    /// What has no end: a process `goes_on` with it, or was killed.
    pub fn left_open(&mut self, goes_on: bool) -> String {
        let mut lines = Vec::new();
        let partial = clean(&std::mem::take(&mut self.partial));
        if !partial.trim().is_empty() {
            lines.push(format!("\n{} {}", partial.trim_end(), self.paint.yellow("(not finished)")));
        }
        for mut open in std::mem::take(&mut self.open) {
            let waits = if goes_on && open.runs { calls::RUNS } else { open.waits };
            let words = self.paint.yellow(waits);
            lines.push(format!("{} {} · {words}", self.paint.yellow(calls::UNKNOWN), clean_line(&open.summary)));
            lines.extend(card::indented(&open.output(), self.paint));
        }
        joined(&lines)
    }

    fn update(&mut self, id: &CallId, summary: &str, status: CallStatus) {
        let waits = match status {
            CallStatus::Validating | CallStatus::Scheduled => calls::NOT_STARTED,
            CallStatus::AwaitingApproval => "waits for an answer; not started",
            CallStatus::Executing => calls::INTERRUPTED,
            CallStatus::Success | CallStatus::Error | CallStatus::Cancelled => return,
        };
        let runs = status == CallStatus::Executing;
        match self.open.iter_mut().find(|open| open.id == *id) {
            Some(open) => (open.waits, open.runs, open.summary) = (waits, runs, summary.to_owned()),
            None => self.open.push(Open {
                id: id.clone(),
                summary: summary.to_owned(),
                waits,
                runs,
                tail: Tail::default(),
                lines: Vec::new(),
            }),
        }
    }

    fn ended(&mut self, end: &ToolCallEnd) -> Vec<String> {
        let at = self.open.iter().position(|open| open.id == end.call_id);
        let output = at.map(|at| self.open.remove(at).output()).unwrap_or_default();
        let mut lines = vec![card::end(end, false, self.paint)];
        lines.extend(card::body(end, false, false, self.paint));
        // A call that was cut off has nothing to show but what it had printed until then.
        if end.display.is_none() {
            lines.extend(card::indented(&output, self.paint));
        }
        lines
    }
}

impl Open {
    fn output(&mut self) -> Vec<String> {
        let rest = self.tail.finish();
        let mut lines = std::mem::take(&mut self.lines);
        lines.extend(rest);
        lines
    }
}

/// A question as it was asked, with what could be chosen.
fn asked(subject: &Subject) -> String {
    match subject {
        Subject::Choices { items } => {
            let item = |item: &QuestionItem| {
                let options: Vec<String> = item.options.iter().map(|option| clean_line(&option.label)).collect();
                let options = if options.is_empty() { String::new() } else { format!(" ({})", options.join(" / ")) };
                format!("{}{options}", clean_line(&item.text))
            };
            items.iter().map(item).collect::<Vec<_>>().join("\n  ")
        }
        Subject::Plan { plan } => format!("the plan:\n{}", clean(plan)),
        Subject::Loop { text } => format!("the model is repeating itself: {}", clean_line(text)),
    }
}

fn joined(lines: &[String]) -> String {
    lines.iter().map(|line| format!("{line}\n")).collect()
}

/// What stands for pictures where there are only words.
fn pictures(message: &Message) -> Option<String> {
    let is_picture = |part: &&Part| matches!(part, Part::Image { .. });
    let count = message.parts.iter().filter(is_picture).count() as u64;
    (count > 0).then(|| format!("  with {}", figures::count(count, "picture")))
}

fn quoted(said: &str) -> String {
    said.trim().lines().map(|line| format!("> {line}")).collect::<Vec<_>>().join("\n")
}
