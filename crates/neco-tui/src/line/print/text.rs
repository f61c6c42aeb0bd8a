//! A run as text: the model's words on stdout, everything else on stderr.
//!
//! On a terminal the words are written as they come. Elsewhere stdout is what a program reads: only the
//! answer goes there, once it is final, and what the model says on the way goes to stderr.

use std::collections::HashMap;
use std::io;
use std::time::{Duration, Instant};

use neco_proto::clean::{Cleaner, clean, clean_line};
use neco_proto::event::{CallStatus, CompleteReason, ModelRetry, ModelSwitch, SessionStart, ToolCallEnd};
use neco_proto::{AgentId, Display, Event, Plan, PlanStatus};
use neco_view::figures;
use neco_view::paint::text::{card, end, notice, tail::Tail};
use neco_view::reduce::block::{BlockBody, BlockId, Call, Planned, Said, WorkEnd};
use neco_view::reduce::view::WaitsFor;
use neco_view::reduce::{Agents, Change, IdleTracker, View};
use neco_view::wording::ending::going_on;
use neco_view::wording::notices as told;

use super::patience::Patience;
use super::screen::Screen;
use super::waits::{Wait, Waits};

/// A wait that is shorter says nothing about its time.
const WORTH_SAYING: Duration = Duration::from_secs(2);
/// Who is silent for longer in the middle of a line is said to be.
const STALLED: Duration = Duration::from_secs(5);

/// Draws a run as text; fails once nobody reads the model's words any more.
pub struct TextPrinter {
    screen: Screen,
    view: View,
    words: Cleaner,
    thoughts: Cleaner,
    running: HashMap<BlockId, Running>,
    /// Whether words of this turn are on the screen that a retry would void.
    spoke: bool,
    /// Words of this turn that are not final, where stdout is no terminal.
    held: String,
    /// The last whole message without calls, where stdout is no terminal.
    answer: Option<String>,
    waits: Waits,
    /// What is tried again, and when.
    resting: Option<(String, Instant)>,
    /// When a wait is told of, where time can't be shown.
    patience: Patience,
    /// How this session is gone on with.
    continue_with: Option<String>,
    /// Whether messages of people are drawn: all but the one that this process was started with.
    shows_messages: bool,
    /// The generation that is not worth saying.
    usual_generation: u8,
}

/// A call that runs.
struct Running {
    tail: Tail,
    summary: String,
    /// Whether the line of its start is on the screen for good.
    announced: bool,
}

impl TextPrinter {
    /// Draws on `screen`; of generations, all but the usual one are told.
    pub fn new(screen: Screen, usual_generation: u8) -> Self {
        Self {
            screen,
            view: View::default(),
            words: Cleaner::default(),
            thoughts: Cleaner::default(),
            running: HashMap::new(),
            spoke: false,
            held: String::new(),
            answer: None,
            waits: Waits::default(),
            resting: None,
            patience: Patience::default(),
            continue_with: None,
            shows_messages: false,
            usual_generation,
        }
    }

    /// Goes on from where another printer was: who works, and the agents that it has shown.
    pub fn follow(&mut self, idle: IdleTracker, agents: Agents) {
        self.view.follow(idle, agents);
    }

    /// The agents that were shown, for a printer that follows this one.
    pub fn into_agents(self) -> Agents {
        self.view.agents
    }

    /// Draws every message of a person, also the first: none of them was typed here.
    pub fn show_messages(&mut self) {
        self.shows_messages = true;
    }

    /// The root of the session, for whoever has not seen its beginning.
    pub fn set_root(&mut self, root: AgentId) {
        self.view = View::of(root);
    }

    /// The id that the last line tells people to go on with.
    pub fn set_session(&mut self, id: String) {
        self.continue_with = Some(id);
    }

    /// The agent whose definition the session works with: that is said anew when it is gone on with.
    pub fn name_agent(&mut self, name: &str) {
        self.continue_with.iter_mut().for_each(|id| id.push_str(&format!(" --agent {name}")));
    }

    /// Whether an event would tear the line apart that the model writes: it is of another agent, and can wait.
    pub fn tears(&self, event: &Event) -> bool {
        self.screen.is_speaking() && !self.view.is_own(event)
    }

    /// A line for the person that is no event.
    pub fn note(&mut self, line: &str) -> io::Result<()> {
        self.screen.line(line)
    }

    /// Shows how long the model or a command has been waited for, or how long is waited still.
    pub fn tick(&mut self, now: Instant) -> io::Result<()> {
        if !self.screen.overwrites() {
            return self.tell_of_wait(now);
        }
        if !self.screen.is_free() {
            self.mark_silence(now);
            return Ok(());
        }
        if let Some((words, until)) = self.resting.as_ref().filter(|(_, until)| now < *until) {
            // A second that has begun is counted.
            let left = until.saturating_duration_since(now) + Duration::from_millis(999);
            return self.screen.passing(words, &format!(" in {}", figures::elapsed(left)));
        }
        let Some(Wait { words, since, is_call }) = self.waits.now() else {
            return notice::at_work(&self.view.agents).map_or(Ok(()), |words| self.screen.passing(&words, ""));
        };
        let elapsed = now.saturating_duration_since(since);
        if elapsed < WORTH_SAYING {
            return Ok(());
        }
        let mark = if is_call { "·" } else { "…" };
        self.screen.passing(&format!("{mark} {words}"), &format!(" · {}", figures::elapsed(elapsed)))
    }

    /// Where no line can be written over, a long wait has one of its own, once a while.
    fn tell_of_wait(&mut self, now: Instant) -> io::Result<()> {
        let Some(Wait { words, since, .. }) = self.waits.now() else { return Ok(()) };
        if !self.patience.is_over(since, now) {
            return Ok(());
        }
        let elapsed = figures::elapsed(now.saturating_duration_since(since));
        self.screen.line(&self.screen.paint().dim(&format!("… waiting for {words} · {elapsed}")))
    }

    /// A line that stays unfinished for long says so, until it goes on.
    fn mark_silence(&mut self, now: Instant) {
        let silence = self.waits.model().map(|(_, since)| now.saturating_duration_since(since));
        if let Some(silence) = silence.filter(|silence| *silence >= STALLED) {
            self.screen.mark(&format!("silent for {}", figures::elapsed(silence)));
        }
    }

    /// Writes what is left when the run is over.
    pub fn finish(&mut self) -> io::Result<()> {
        self.leave()?;
        self.view.close().map_or(Ok(()), |end| self.sum_up(&end))
    }

    /// Writes what is left.
    fn leave(&mut self) -> io::Result<()> {
        let left = std::mem::take(&mut self.held);
        self.aside(&left)?;
        self.screen.settle()
    }

    /// Draws an event.
    pub fn event(&mut self, event: &Event) -> io::Result<()> {
        let mut view = std::mem::take(&mut self.view);
        if view.is_own(event) {
            self.resting = None;
        }
        let drawn = view.apply(event).iter().try_for_each(|change| self.change(&view, change));
        // What is on the screen is not needed any more.
        drop(view.take_over());
        self.view = view;
        drawn
    }

    fn change(&mut self, view: &View, change: &Change<'_>) -> io::Result<()> {
        let body = |id: &BlockId| view.block(*id).map(|block| &block.body);
        self.waits.apply(view, change);
        match change {
            Change::Waits => {
                self.spoke &= !matches!(view.waits_for, Some(WaitsFor::Model { .. }));
                let line = self.waits.model().map(|(words, _)| format!("… {words}"));
                line.map_or(Ok(()), |line| self.screen.passing(&line, ""))
            }
            Change::Said { calls } => self.said(*calls),
            Change::Added(id) => body(id).map_or(Ok(()), |body| self.added(body)),
            Change::Changed(id) => match body(id) {
                Some(BlockBody::Call(call)) => self.call(*id, call),
                Some(BlockBody::Message(said)) if said.waits.is_some() => self.message(said),
                Some(_) | None => Ok(()),
            },
            Change::Grew(id, text) => match body(id) {
                Some(BlockBody::Answer(_)) => self.speak(text),
                Some(BlockBody::Thinking(_)) => {
                    let text = self.thoughts.push(text).replace('\r', "");
                    self.screen.thoughts(&text)
                }
                Some(_) | None => {
                    let lines = self.running.get_mut(id).map(|running| running.tail.push(text)).unwrap_or_default();
                    self.output(*id, &lines)
                }
            },
            Change::Noted(id, text) => self.output(*id, &[format!("[{}]", clean_line(text))]),
        }
    }

    fn added(&mut self, body: &BlockBody) -> io::Result<()> {
        match body {
            BlockBody::SessionStart(start) => self.session_start(start),
            BlockBody::Message(said) => self.message(said),
            // They are drawn as they grow and change.
            BlockBody::Thinking(_) | BlockBody::Answer(_) | BlockBody::Call(_) => Ok(()),
            BlockBody::Approval(_) | BlockBody::Question(_) => self.screen.settle(),
            BlockBody::ModelRetry(retry) => self.retry(retry),
            BlockBody::ModelSwitch(switch) => self.switch(switch),
            BlockBody::End(end) => self.end_of_work(end),
            BlockBody::Plan(Planned { plan, .. }) => {
                self.lines(&notice::lines(body, self.screen.paint()))?;
                self.proposed(plan.as_ref());
                Ok(())
            }
            BlockBody::Todos(_)
            | BlockBody::Stop(_)
            | BlockBody::Agent(_)
            | BlockBody::Letter(_)
            | BlockBody::Workflow(_) => self.lines(&notice::lines(body, self.screen.paint())),
            BlockBody::Notification(_)
            | BlockBody::ModeChange(_)
            | BlockBody::HookRun(_)
            | BlockBody::RulesTold(_)
            | BlockBody::SkillUsed(_)
            | BlockBody::PiecesGiven(_)
            | BlockBody::Compaction(_)
            | BlockBody::Rewind(_)
            | BlockBody::Imported(_)
            | BlockBody::Error(_) => {
                let line = notice::line(body, self.screen.paint());
                line.map_or(Ok(()), |line| self.screen.line(&line))
            }
        }
    }

    fn session_start(&mut self, start: &SessionStart) -> io::Result<()> {
        let scripted = if start.scripted { " (scripted, not a model)" } else { "" };
        let again = if start.resumed { " · resumed" } else { "" };
        let generation = match start.generation {
            0 => String::new(),
            number if number == self.usual_generation => String::new(),
            number => format!(" · tool level {number}"),
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
        if start.usual_sandbox {
            return Ok(());
        }
        let line = format!("! sandbox of commands: {}", clean_line(&start.sandbox));
        self.screen.line(&self.screen.paint().yellow(&line))
    }

    /// What was said, unless it is what this process was started with.
    fn message(&mut self, said: &Said) -> io::Result<()> {
        match std::mem::replace(&mut self.shows_messages, true) {
            true => self.screen.verbatim(&notice::said(said, self.screen.paint())),
            false => Ok(()),
        }
    }

    fn speak(&mut self, text: &str) -> io::Result<()> {
        let text = self.words.push(text).replace('\r', "");
        if !self.screen.streams() {
            self.held.push_str(&text);
            return Ok(());
        }
        self.spoke |= !text.is_empty();
        self.screen.words(&text)
    }

    /// The model has said something to its end. With calls it is on its way, without it is the answer,
    /// unless another one follows.
    fn said(&mut self, calls: bool) -> io::Result<()> {
        // A sequence that was left open must not swallow the next answer.
        (self.words, self.thoughts) = (Cleaner::default(), Cleaner::default());
        self.screen.settle()?;
        let said = std::mem::take(&mut self.held);
        let earlier = self.answer.take().unwrap_or_default();
        self.aside(&earlier)?;
        if calls {
            return self.aside(&said);
        }
        self.answer = Some(said).filter(|said| !said.trim().is_empty());
        Ok(())
    }

    /// Words that are not the answer, where stdout has nothing but the answer.
    fn aside(&mut self, words: &str) -> io::Result<()> {
        words.trim_end().lines().try_for_each(|line| self.screen.verbatim(line))
    }

    fn retry(&mut self, retry: &ModelRetry) -> io::Result<()> {
        let void = self.voided(retry.discards);
        let line = format!("↻ {}{void}", told::retry(retry));
        self.screen.line(&self.screen.paint().yellow(&line))?;
        let now = Instant::now();
        let until = now.checked_add(Duration::from_millis(retry.wait_ms)).unwrap_or(now);
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
        if discards {
            self.held.clear();
        }
        if discards && std::mem::take(&mut self.spoke) {
            "; the answer starts again, ignore the text above"
        } else {
            ""
        }
    }

    fn call(&mut self, id: BlockId, call: &Call) -> io::Result<()> {
        if let Some(end) = &call.end {
            return self.end(id, call, end);
        }
        if call.status != CallStatus::Executing {
            return Ok(());
        }
        let summary = call.summary.clone();
        self.running.insert(id, Running { tail: Tail::default(), summary, announced: false });
        // Where a line can be written over, the line of the end takes the place of this one.
        match self.screen.overwrites() {
            true => self.screen.passing(&card::start(&call.summary), ""),
            false => self.announce(id),
        }
    }

    /// The line of the start, once, above what the call prints.
    fn announce(&mut self, call: BlockId) -> io::Result<()> {
        match self.running.get_mut(&call).filter(|running| !running.announced) {
            Some(running) => {
                running.announced = true;
                let start = card::start(&running.summary);
                self.screen.line(&self.screen.paint().dim(&start))
            }
            None => Ok(()),
        }
    }

    fn output(&mut self, call: BlockId, lines: &[String]) -> io::Result<()> {
        if !lines.is_empty() {
            self.announce(call)?;
        }
        self.lines(&card::indented(lines, self.screen.paint()))
    }

    fn end(&mut self, id: BlockId, call: &Call, end: &ToolCallEnd) -> io::Result<()> {
        let paint = self.screen.paint();
        let mut tail = self.running.remove(&id).map(|running| running.tail).unwrap_or_default();
        let printed_live = !tail.is_empty();
        let rest = match &end.display {
            Some(Display::Terminal { tail: end, .. }) if printed_live => tail.finish_with(end),
            _ => tail.finish(),
        };
        self.lines(&card::indented(&rest, paint))?;
        self.screen.line(&card::end(end, call.background, paint))?;
        self.lines(&card::body(end, printed_live, call.change_seen, paint))
    }

    fn lines(&mut self, lines: &[String]) -> io::Result<()> {
        lines.iter().try_for_each(|line| self.screen.verbatim(line))
    }

    /// A plan that nobody is there to approve is the answer.
    fn proposed(&mut self, plan: Option<&Plan>) {
        if let Some(plan) = plan.filter(|plan| plan.status == PlanStatus::Proposed) {
            self.answer = Some(clean(&plan.text));
        }
    }

    /// The agent is done: its answer, then a line about the work. While others still work, what they give lets the
    /// agent go on: that is no end yet.
    fn end_of_work(&mut self, end: &WorkEnd) -> io::Result<()> {
        self.give_answer(end.reason)?;
        if end.over { self.sum_up(end) } else { Ok(()) }
    }

    /// A line about the work, and how it is gone on with.
    fn sum_up(&mut self, end: &WorkEnd) -> io::Result<()> {
        let paint = self.screen.paint();
        let going_on = self.continue_with.take().map(|id| paint.dim(&going_on(&id, end)));
        end::lines(end, paint).iter().chain(&going_on).try_for_each(|line| self.screen.line(line))
    }

    /// What is not the end of the work is no answer.
    fn give_answer(&mut self, reason: CompleteReason) -> io::Result<()> {
        let Some(answer) = self.answer.take() else { return self.leave() };
        match reason {
            CompleteReason::Natural
            | CompleteReason::IterationLimit
            | CompleteReason::Budget
            | CompleteReason::Stopped
            | CompleteReason::LoopDetected => {
                self.screen.words(&answer)?;
                self.screen.settle()
            }
            CompleteReason::Cancelled | CompleteReason::Failed => self.aside(&answer),
        }
    }
}
