//! A run as text: the model's words on stdout, everything else on stderr.
//!
//! On a terminal the words are written as they come. Elsewhere stdout is what a program reads: only the
//! answer goes there, once it is final, and what the model says on the way goes to stderr.

use std::collections::HashMap;
use std::io;
use std::time::{Duration, Instant};

use neco_agent::CapabilityLevel;
use neco_proto::event::{
    AgentComplete, CallStatus, ErrorEvent, HookRun, MessageQueued, ModelRetry, ModelSwitch, NotificationLevel,
    OutputStream, PlanUpdate, SessionStart, ToolCallEnd, ToolCallUpdate, ToolOutputChunk,
};
use neco_proto::{AgentId, CallId, Event, EventBody, Message, PlanStatus, Role};
use neco_view::reduce::IdleTracker;

use super::children::Children;
use super::clean::{Cleaner, clean, clean_line};
use super::others::Others;
use super::screen::Screen;
use super::tail::Tail;
use super::tally::Tally;
use super::workflow::WorkflowLines;
use super::{card, figures, plan, told};
use crate::outcome::note_model;

/// What stands between commands and the machine when nobody chose otherwise; anything else is said.
const USUAL_SANDBOX: &str = "strong: workspace_write, network off";

/// A wait that is shorter says nothing about its time.
const WORTH_SAYING: Duration = Duration::from_secs(2);
/// Who is silent for longer in the middle of a line is said to be.
const STALLED: Duration = Duration::from_secs(5);

/// Draws a run as text.
pub struct TextPrinter {
    pub(super) screen: Screen,
    words: Cleaner,
    thoughts: Cleaner,
    running: HashMap<CallId, Running>,
    /// What is known of calls beyond their own events.
    pub(super) tally: Tally,
    /// Whether words of this turn are on the screen that a retry would void.
    spoke: bool,
    /// Words of this turn that are not final, where stdout is no terminal.
    held: String,
    /// The last whole message without calls, where stdout is no terminal.
    pub(super) answer: Option<String>,
    /// The model that is waited for, and since when.
    pub(super) waiting: Option<(String, Instant)>,
    /// What is tried again, and when.
    resting: Option<(String, Instant)>,
    /// The models that answered, the last one last.
    pub(super) models: Vec<String>,
    /// How this session is gone on with.
    pub(super) continue_with: Option<String>,
    /// What the conversation takes of the model's window.
    pub(super) context: Option<String>,
    /// How many findings are on the screen.
    findings: usize,
    /// Whether the person dropped the plan.
    pub(super) plan_dropped: bool,
    /// What was said by others than whoever started this.
    others: Others,
    /// What is on the screen of workflows.
    workflows: WorkflowLines,
    children: Children,
    /// Whether everybody is done.
    pub(super) rest: IdleTracker,
    /// What came of the root's work so far, while others still work.
    pub(super) so_far: Option<AgentComplete>,
}

/// A call that runs.
struct Running {
    tail: Tail,
    summary: String,
    since: Instant,
    /// Whether the line of its start is on the screen for good.
    announced: bool,
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
            tally: Tally::default(),
            spoke: false,
            held: String::new(),
            answer: None,
            waiting: None,
            resting: None,
            models: Vec::new(),
            continue_with: None,
            context: None,
            findings: 0,
            plan_dropped: false,
            others: Others::default(),
            workflows: WorkflowLines::default(),
            children: Children::default(),
            rest: IdleTracker::default(),
            so_far: None,
        }
    }

    /// Goes on from where another printer was: who works, and the agents that it has shown.
    pub fn follow(&mut self, rest: IdleTracker, children: Children) {
        (self.rest, self.children) = (rest, children);
    }

    /// The agents that were shown, for a printer that follows this one.
    pub fn into_children(self) -> Children {
        self.children
    }

    /// Draws every message of a person, also the first: none of them was typed here.
    pub fn show_messages(&mut self) {
        self.others.show_all();
    }

    /// The root of the session, for whoever has not seen its beginning.
    pub fn set_root(&mut self, root: AgentId) {
        self.children.set_root(root);
        self.rest = IdleTracker::of(root);
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

    /// Whether time that goes by can be shown.
    #[must_use]
    pub fn shows_time(&self) -> bool {
        self.screen.overwrites()
    }

    /// Shows how long the model or a command has been waited for, or how long is waited still.
    ///
    /// # Errors
    /// When nobody reads the model's words any more.
    pub fn tick(&mut self, now: Instant) -> io::Result<()> {
        if !self.screen.is_free() {
            self.mark_silence(now);
            return Ok(());
        }
        if let Some((words, until)) = self.resting.as_ref().filter(|(_, until)| now < *until) {
            // A second that has begun is counted.
            let left = until.saturating_duration_since(now) + Duration::from_millis(999);
            return self.screen.passing(words, &format!(" in {}", figures::elapsed(left)));
        }
        let longest = self.running.values().min_by_key(|running| running.since);
        let (words, since) = match (longest, &self.waiting) {
            (Some(running), _) => {
                let more = match self.running.len() {
                    1 => String::new(),
                    count => format!(" (+{} more)", count - 1),
                };
                (format!("{}{more}", card::start(&running.summary)), running.since)
            }
            (None, Some((model, since))) => (format!("… {model}"), *since),
            (None, None) => return self.children.at_work().map_or(Ok(()), |words| self.screen.passing(&words, "")),
        };
        let elapsed = now.saturating_duration_since(since);
        if elapsed < WORTH_SAYING {
            return Ok(());
        }
        self.screen.passing(&words, &format!(" · {}", figures::elapsed(elapsed)))
    }

    /// A line that stays unfinished for long says so, until it goes on.
    fn mark_silence(&mut self, now: Instant) {
        let silence = self.waiting.as_ref().map(|(_, since)| now.saturating_duration_since(*since));
        if let Some(silence) = silence.filter(|silence| *silence >= STALLED) {
            self.screen.mark(&format!("silent for {}", figures::elapsed(silence)));
        }
    }

    /// Writes what is left when the run is over.
    ///
    /// # Errors
    /// When nobody reads the model's words any more.
    pub fn finish(&mut self) -> io::Result<()> {
        self.leave()?;
        match self.so_far.take() {
            Some(complete) => self.sum_up(&complete),
            None => Ok(()),
        }
    }

    /// Writes what is left.
    pub(super) fn leave(&mut self) -> io::Result<()> {
        let left = std::mem::take(&mut self.held);
        self.aside(&left)?;
        self.screen.settle()
    }

    /// Draws an event.
    ///
    /// # Errors
    /// When nobody reads the model's words any more.
    pub fn event(&mut self, event: &Event) -> io::Result<()> {
        self.tally.apply(event);
        self.rest.apply(event);
        if let Some(lines) = self.children.event(event, self.screen.paint()) {
            return self.lines(&lines);
        }
        self.resting = None;
        match &event.body {
            EventBody::SessionStart(start) => self.session_start(start),
            EventBody::TurnStart(start) => {
                self.spoke = false;
                self.wait_for(&start.model)
            }
            EventBody::StreamChunk(chunk) => self.speak(&chunk.text),
            EventBody::ReasoningChunk(chunk) => {
                let text = self.thoughts.push(&chunk.text).replace('\r', "");
                self.heard();
                self.screen.thoughts(&text)
            }
            EventBody::StreamToolCallStart(start) => self.wait_for(&start.name),
            EventBody::ModelRetry(retry) => self.retry(retry),
            EventBody::ModelSwitch(switch) => self.switch(switch),
            EventBody::ToolCallUpdate(update) => self.update(update),
            EventBody::ToolOutputChunk(chunk) => self.output(chunk),
            EventBody::ToolCallEnd(end) => self.end(end),
            EventBody::PermissionRequest(_) | EventBody::Question(_) => self.screen.settle(),
            EventBody::TodoUpdate(update) => self.lines(&plan::todos(&update.todos, self.screen.paint())),
            EventBody::PlanUpdate(update) => self.plan(update),
            EventBody::ModeChange(change) => match plan::mode_change(change, self.screen.paint()) {
                Some(line) => self.screen.line(&line),
                None => Ok(()),
            },
            EventBody::Notification(notification) => {
                let paint = self.screen.paint();
                let text = clean_line(&notification.text);
                self.screen.line(&match notification.level {
                    NotificationLevel::Info => paint.dim(&format!("i {text}")),
                    NotificationLevel::Warning => paint.yellow(&format!("! {text}")),
                })
            }
            EventBody::Message(message) if message.role == Role::Assistant => self.said(message),
            EventBody::MessageQueued(MessageQueued { when, message }) => {
                let line = self.others.queued(*when, message, self.screen.paint());
                self.lines(line.as_slice())
            }
            EventBody::Message(message) if message.role == Role::User => {
                let line = self.others.admitted(message, self.screen.paint());
                self.lines(line.as_slice())
            }
            EventBody::HookRun(run) => self.hook(run),
            EventBody::WorkflowUpdate(update) => {
                let lines = self.workflows.take(update, self.screen.paint());
                self.lines(&lines)
            }
            EventBody::Compaction(compaction) => self.info(&told::compaction(compaction)),
            EventBody::RulesTold(told) if told.files.is_empty() => Ok(()),
            EventBody::RulesTold(told) => self.info(&clean_line(&told.words())),
            EventBody::Rewind(rewind) => self.info(&told::rewind(rewind)),
            EventBody::Imported(imported) => self.info(&told::imported(imported)),
            EventBody::Error(error) => self.error(error),
            EventBody::AgentComplete(complete) => self.complete(complete),
            EventBody::Usage(used) => {
                self.context = figures::context(used);
                Ok(())
            }
            EventBody::StateChange(_)
            | EventBody::StreamToolCallDelta(_)
            | EventBody::AgentUpdate(_)
            | EventBody::AgentMessage(_)
            | EventBody::Stop(_)
            | EventBody::MemoryUpdate(_)
            | EventBody::PermissionDecision(_)
            | EventBody::QuestionAnswer(_)
            | EventBody::Checkpoint(_)
            | EventBody::FilesBack(_)
            | EventBody::Title(_)
            | EventBody::Environment(_)
            | EventBody::IdeContext(_)
            | EventBody::ContextTrim(_)
            | EventBody::Message(_)
            | EventBody::TurnEnd(_)
            | EventBody::Unknown(_) => Ok(()),
        }
    }

    fn info(&mut self, text: &str) -> io::Result<()> {
        self.screen.line(&self.screen.paint().dim(&format!("i {text}")))
    }

    fn session_start(&mut self, start: &SessionStart) -> io::Result<()> {
        let scripted = if start.scripted { " (scripted, not a model)" } else { "" };
        let again = if start.resumed { " · resumed" } else { "" };
        let highest = CapabilityLevel::highest().number();
        let generation = match start.generation {
            0 => String::new(),
            number if number == highest => String::new(),
            number => format!(" · generation {number}"),
        };
        let line = format!(
            "neco {} · {}{scripted} · {}{generation} · approval {} · {}{again}",
            start.version,
            clean_line(&start.model),
            start.mode,
            start.approval,
            clean_line(&start.cwd)
        );
        self.screen.line(&self.screen.paint().dim(&line))?;
        if start.sandbox == USUAL_SANDBOX {
            return Ok(());
        }
        let line = format!("! sandbox of commands: {}", clean_line(&start.sandbox));
        self.screen.line(&self.screen.paint().yellow(&line))
    }

    fn wait_for(&mut self, what: &str) -> io::Result<()> {
        let what = clean_line(what);
        self.screen.passing(&format!("… {what}"), "")?;
        self.waiting = Some((what, Instant::now()));
        Ok(())
    }

    /// Who speaks is not waited for; who falls silent is, from then on.
    fn heard(&mut self) {
        if let Some((_, since)) = &mut self.waiting {
            *since = Instant::now();
        }
    }

    fn speak(&mut self, text: &str) -> io::Result<()> {
        let text = self.words.push(text).replace('\r', "");
        if !self.screen.streams() {
            self.held.push_str(&text);
            return Ok(());
        }
        self.heard();
        self.spoke |= !text.is_empty();
        self.screen.words(&text)
    }

    /// The model has said something to its end. With calls it is on its way, without it is the answer,
    /// unless another one follows.
    fn said(&mut self, message: &Message) -> io::Result<()> {
        note_model(&mut self.models, message);
        // A sequence that was left open must not swallow the next answer.
        (self.words, self.thoughts) = (Cleaner::default(), Cleaner::default());
        self.waiting = None;
        self.screen.settle()?;
        let said = std::mem::take(&mut self.held);
        let earlier = self.answer.take().unwrap_or_default();
        self.aside(&earlier)?;
        if message.tool_calls().next().is_some() {
            return self.aside(&said);
        }
        self.answer = Some(said).filter(|said| !said.trim().is_empty());
        Ok(())
    }

    /// Words that are not the answer, where stdout has nothing but the answer.
    pub(super) fn aside(&mut self, words: &str) -> io::Result<()> {
        words.trim_end().lines().try_for_each(|line| self.screen.verbatim(line))
    }

    fn retry(&mut self, retry: &ModelRetry) -> io::Result<()> {
        let void = self.voided(retry.discards);
        let line = format!("↻ {}{void}", told::retry(retry));
        self.screen.line(&self.screen.paint().yellow(&line))?;
        let now = Instant::now();
        let until = now.checked_add(Duration::from_millis(retry.wait_ms)).unwrap_or(now);
        if let Some((_, since)) = &mut self.waiting {
            *since = until;
        }
        self.resting = Some((format!("↻ {}", told::next_attempt(retry)), until));
        self.tick(now)
    }

    fn switch(&mut self, switch: &ModelSwitch) -> io::Result<()> {
        let line = format!("↻ {}{}", told::switch(switch), self.voided(switch.discards));
        self.screen.line(&self.screen.paint().yellow(&line))
    }

    /// Words can't be taken back, but they can be marked.
    fn voided(&mut self, discards: bool) -> &'static str {
        self.words = Cleaner::default();
        self.heard();
        if discards {
            self.held.clear();
        }
        if discards && std::mem::take(&mut self.spoke) {
            "; the answer begins again, the text above is void"
        } else {
            ""
        }
    }

    fn update(&mut self, update: &ToolCallUpdate) -> io::Result<()> {
        match update.status {
            CallStatus::Executing => {
                let running = Running {
                    tail: Tail::default(),
                    summary: update.summary.clone(),
                    since: Instant::now(),
                    announced: false,
                };
                self.running.insert(update.call_id.clone(), running);
                // Where a line can be written over, the line of the end takes the place of this one.
                match self.screen.overwrites() {
                    true => self.screen.passing(&card::start(&update.summary), ""),
                    false => self.announce(&update.call_id),
                }
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
        match self.running.get_mut(call).filter(|running| !running.announced) {
            Some(running) => {
                running.announced = true;
                let start = card::start(&running.summary);
                self.screen.line(&self.screen.paint().dim(&start))
            }
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
        let mut tail = self.running.remove(&end.call_id).map(|running| running.tail).unwrap_or_default();
        let printed_live = !tail.is_empty();
        self.lines(&card::indented(&tail.finish(), paint))?;
        let card = card::end(end, self.tally.is_background(&end.call_id), paint);
        self.screen.line(&card)?;
        let diff_seen = self.tally.take_diff_seen(&end.call_id);
        self.lines(&card::body(end, printed_live, diff_seen, paint))
    }

    fn lines(&mut self, lines: &[String]) -> io::Result<()> {
        lines.iter().try_for_each(|line| self.screen.verbatim(line))
    }

    /// A hook that had nothing to say is not spoken of.
    fn hook(&mut self, run: &HookRun) -> io::Result<()> {
        match card::hook(run, self.screen.paint()) {
            Some(line) => self.screen.line(&line),
            None => Ok(()),
        }
    }

    /// A plan that nobody is there to approve is the answer.
    fn plan(&mut self, update: &PlanUpdate) -> io::Result<()> {
        let status = update.plan.as_ref().map(|plan| plan.status);
        self.plan_dropped = status == Some(PlanStatus::Dropped);
        let lines = plan::update(update, self.findings, self.screen.paint());
        self.findings = update.findings.len();
        self.lines(&lines)?;
        if let Some(plan) = update.plan.as_ref().filter(|plan| plan.status == PlanStatus::Proposed) {
            self.answer = Some(clean(&plan.text));
        }
        Ok(())
    }

    fn error(&mut self, error: &ErrorEvent) -> io::Result<()> {
        let line = format!("✗ error {}: {}", error.code, clean_line(&error.message));
        self.screen.line(&self.screen.paint().red(&line))
    }
}
