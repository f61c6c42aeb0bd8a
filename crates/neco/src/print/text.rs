//! A run as text: the model's words on stdout, everything else on stderr.

use std::collections::{HashMap, HashSet};
use std::io;
use std::time::Duration;

use neco_proto::event::{
    AgentComplete, CallStatus, CompleteReason, ErrorEvent, ModelRetry, ModelSwitch, NotificationLevel, OutputStream,
    SessionStart, ToolCallEnd, ToolCallUpdate, ToolOutputChunk,
};
use neco_proto::{CallId, Decision, ErrorCode, Event, EventBody, Role};

use super::clean::{Cleaner, clean_line};
use super::screen::Screen;
use super::tail::Tail;
use super::{card, figures};

/// Draws a run as text.
pub struct TextPrinter {
    screen: Screen,
    words: Cleaner,
    thoughts: Cleaner,
    running: HashMap<CallId, Running>,
    /// Calls whose change the person has seen when they were asked.
    diff_seen: HashSet<CallId>,
    /// Whether words of this turn are on the screen that a retry would void.
    spoke: bool,
    /// How this session is gone on with.
    continue_with: Option<String>,
}

/// A call that runs.
#[derive(Default)]
struct Running {
    tail: Tail,
    /// The line of its start, as long as that is not on the screen for good.
    start: Option<String>,
}

impl TextPrinter {
    /// Draws on `screen`.
    #[must_use]
    pub fn new(screen: Screen) -> Self {
        Self {
            screen,
            words: Cleaner::default(),
            thoughts: Cleaner::default(),
            running: HashMap::new(),
            diff_seen: HashSet::new(),
            spoke: false,
            continue_with: None,
        }
    }

    /// The id that the last line tells people to go on with.
    pub fn set_session(&mut self, id: String) {
        self.continue_with = Some(id);
    }

    /// A line for the person that is no event.
    ///
    /// # Errors
    /// When nobody reads the model's words any more.
    pub fn note(&mut self, line: &str) -> io::Result<()> {
        self.screen.line(line)
    }

    /// Finishes the line that is open, so that others can write to the terminal.
    ///
    /// # Errors
    /// When nobody reads the model's words any more.
    pub fn settle(&mut self) -> io::Result<()> {
        self.screen.settle()
    }

    /// Draws an event.
    ///
    /// # Errors
    /// When nobody reads the model's words any more.
    pub fn event(&mut self, event: &Event) -> io::Result<()> {
        match &event.body {
            EventBody::SessionStart(start) => self.session_start(start),
            EventBody::TurnStart(start) => {
                self.spoke = false;
                self.screen.passing(&format!("… {}", clean_line(&start.model)))
            }
            EventBody::StreamChunk(chunk) => self.speak(&chunk.text),
            EventBody::ReasoningChunk(chunk) => {
                let text = self.thoughts.push(&chunk.text).replace('\r', "");
                self.screen.thoughts(&text)
            }
            EventBody::StreamToolCallStart(start) => self.screen.passing(&format!("… {}", clean_line(&start.name))),
            EventBody::ModelRetry(retry) => self.retry(retry),
            EventBody::ModelSwitch(switch) => self.switch(switch),
            EventBody::ToolCallUpdate(update) => self.update(update),
            EventBody::ToolOutputChunk(chunk) => self.output(chunk),
            EventBody::ToolCallEnd(end) => self.end(end),
            EventBody::PermissionRequest(request) => {
                if !request.diff.is_empty() {
                    self.diff_seen.insert(request.call_id.clone());
                }
                self.screen.settle()
            }
            EventBody::PermissionDecision(decided) => {
                // Other arguments make another change.
                if matches!(decided.decision, Decision::Edit { .. }) {
                    self.diff_seen.remove(&decided.call_id);
                }
                Ok(())
            }
            EventBody::Notification(notification) => {
                let paint = self.screen.paint();
                let text = clean_line(&notification.text);
                self.screen.line(&match notification.level {
                    NotificationLevel::Info => paint.dim(&format!("i {text}")),
                    NotificationLevel::Warning => paint.yellow(&format!("! {text}")),
                })
            }
            EventBody::Message(message) if message.role == Role::Assistant => {
                // A sequence that was left open must not swallow the next answer.
                (self.words, self.thoughts) = (Cleaner::default(), Cleaner::default());
                self.screen.settle()
            }
            EventBody::Error(error) => self.error(error),
            EventBody::AgentComplete(complete) => self.complete(complete),
            EventBody::StateChange(_)
            | EventBody::StreamToolCallDelta(_)
            | EventBody::ModeChange(_)
            | EventBody::Usage(_)
            | EventBody::MessageQueued(_)
            | EventBody::Message(_)
            | EventBody::TurnEnd(_) => Ok(()),
        }
    }

    fn session_start(&mut self, start: &SessionStart) -> io::Result<()> {
        let scripted = if start.scripted { " (scripted, not a model)" } else { "" };
        let again = if start.resumed { " · resumed" } else { "" };
        let line = format!(
            "neco {} · {}{scripted} · {} · approval {} · {}{again}",
            start.version,
            clean_line(&start.model),
            start.mode,
            start.approval,
            clean_line(&start.cwd)
        );
        self.screen.line(&self.screen.paint().dim(&line))
    }

    fn speak(&mut self, text: &str) -> io::Result<()> {
        let text = self.words.push(text).replace('\r', "");
        self.spoke |= !text.is_empty();
        self.screen.words(&text)
    }

    fn retry(&mut self, retry: &ModelRetry) -> io::Result<()> {
        let wait = figures::duration(Duration::from_millis(retry.wait_ms));
        let limited = retry.code == ErrorCode::RateLimited;
        let why = if limited { "rate limited".to_owned() } else { clean_line(&retry.message) };
        let line = format!("↻ {why}; waiting {wait}, attempt {}{}", retry.attempt, self.voided(retry.discards));
        self.screen.line(&self.screen.paint().yellow(&line))
    }

    fn switch(&mut self, switch: &ModelSwitch) -> io::Result<()> {
        let (from, to) = (clean_line(&switch.from), clean_line(&switch.to));
        let line =
            format!("↻ {from}: {}; now asking {to}{}", clean_line(&switch.message), self.voided(switch.discards));
        self.screen.line(&self.screen.paint().yellow(&line))
    }

    /// Words can't be taken back, but they can be marked.
    fn voided(&mut self, discards: bool) -> &'static str {
        self.words = Cleaner::default();
        if discards && std::mem::take(&mut self.spoke) {
            "; the answer begins again, the text above is void"
        } else {
            ""
        }
    }

    fn update(&mut self, update: &ToolCallUpdate) -> io::Result<()> {
        match update.status {
            CallStatus::Executing => {
                let start = card::start(&update.summary);
                self.running
                    .insert(update.call_id.clone(), Running { tail: Tail::default(), start: Some(start.clone()) });
                // Where a line can be written over, the line of the end takes the place of this one.
                if self.screen.overwrites() { self.screen.passing(&start) } else { self.announce(&update.call_id) }
            }
            CallStatus::Validating
            | CallStatus::Scheduled
            | CallStatus::AwaitingApproval
            | CallStatus::Success
            | CallStatus::Error
            | CallStatus::Cancelled => Ok(()),
        }
    }

    /// The line of the start, once, above what the call prints.
    fn announce(&mut self, call: &CallId) -> io::Result<()> {
        match self.running.get_mut(call).and_then(|running| running.start.take()) {
            Some(start) => self.screen.line(&self.screen.paint().dim(&start)),
            None => Ok(()),
        }
    }

    fn output(&mut self, chunk: &ToolOutputChunk) -> io::Result<()> {
        let lines = match chunk.stream {
            OutputStream::Output => match self.running.get_mut(&chunk.call_id) {
                Some(running) => running.tail.push(&chunk.text),
                None => Vec::new(),
            },
            OutputStream::Note => vec![format!("[{}]", clean_line(&chunk.text))],
        };
        if !lines.is_empty() {
            self.announce(&chunk.call_id)?;
        }
        self.lines(&card::indented(&lines, self.screen.paint()))
    }

    fn end(&mut self, end: &ToolCallEnd) -> io::Result<()> {
        let paint = self.screen.paint();
        let mut running = self.running.remove(&end.call_id).unwrap_or_default();
        let diff_seen = self.diff_seen.remove(&end.call_id);
        let printed_live = !running.tail.is_empty();
        self.lines(&card::indented(&running.tail.finish(), paint))?;
        self.screen.line(&card::end(end, paint))?;
        self.lines(&card::body(end, printed_live, diff_seen, paint))
    }

    fn lines(&mut self, lines: &[String]) -> io::Result<()> {
        lines.iter().try_for_each(|line| self.screen.line(line))
    }

    fn error(&mut self, error: &ErrorEvent) -> io::Result<()> {
        let line = format!("✗ error {}: {}", error.code, clean_line(&error.message));
        self.screen.line(&self.screen.paint().red(&line))
    }

    fn complete(&mut self, complete: &AgentComplete) -> io::Result<()> {
        let paint = self.screen.paint();
        let (word, took) = (ending(complete), figures::duration(Duration::from_millis(complete.duration_ms)));
        let mut parts = vec![format!("{word} {took}"), figures::count(complete.turns.into(), "turn")];
        parts.extend(figures::usage(&complete.usage));
        self.screen.line(&paint.dim(&parts.join(" · ")))?;
        match self.continue_with.take() {
            Some(id) => self.screen.line(&paint.dim(&format!("continue: neco -m \"…\" --session {id}"))),
            None => Ok(()),
        }
    }
}

fn ending(complete: &AgentComplete) -> &'static str {
    match complete.reason {
        CompleteReason::Natural => "done in",
        CompleteReason::IterationLimit => "stopped at the limit of turns after",
        CompleteReason::Budget => "stopped because the budget is used up, after",
        CompleteReason::Cancelled => "cancelled after",
        CompleteReason::Failed => "failed after",
    }
}
