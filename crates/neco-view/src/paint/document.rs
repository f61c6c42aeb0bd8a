//! A session as a document: what every format of one says in the same words.

use std::borrow::Cow;
use std::time::Duration;

use jiff::Timestamp;
use neco_proto::agent_ask::stopped;
use neco_proto::clean::without_marks;
use neco_proto::event::{AgentNode, CallStatus, CompleteReason, HookOutcome, NotificationLevel};
use neco_proto::{Display, PlanStatus, Seq, SessionId};
use serde_json::Value;

use crate::figures;
use crate::reduce::block::{BlockBody, Call, Planned, WorkEnd};
use crate::reduce::{Outline, Seen};
use crate::wording::{answers, calls, notices};

/// A format of documents. What it is told comes in the order in which it is to be read; what it gives is put one behind the
/// other.
pub trait DocumentPainter: Default {
    /// The beginning.
    fn head(&mut self, head: &Head<'_>) -> String;

    /// A block that can't change any more.
    fn block(&mut self, seen: &Seen<'_>) -> String;

    /// Something in a line.
    fn note(&mut self, level: NotificationLevel, text: &str) -> String;

    /// What Neco or a hook says in the person's place.
    fn told(&mut self, text: &str) -> String;

    /// What follows was taken back by a rewind, with so many messages of the person, until [`DocumentPainter::close`].
    fn taken_back(&mut self, messages: u64) -> String;

    /// What follows is what an agent did, until [`DocumentPainter::close`].
    fn agent(&mut self, node: &AgentNode, is_first: bool) -> String;

    /// The end of what was taken back, or of what an agent did.
    fn close(&mut self) -> String;

    /// The end.
    fn foot(&mut self, outline: &Outline) -> String;
}

/// What a document is about.
#[derive(Clone, Copy, Debug)]
pub struct Head<'a> {
    /// The session.
    pub id: SessionId,
    /// What it is called, unless the log knows better.
    pub title: &'a str,
    /// The folder that it works in.
    pub cwd: &'a str,
    /// What lies ahead.
    pub outline: &'a Outline,
}

impl Head<'_> {
    /// The title of the document.
    pub fn title(&self) -> &str {
        let first = self.outline.asked.first().map(|asked| asked.text.as_str());
        let known = [self.outline.title.as_deref(), Some(self.title), first];
        let said = known.into_iter().flatten().map(str::trim).find(|title| !title.is_empty());
        said.unwrap_or("A session with Neco")
    }

    /// What the session is and what it used.
    pub fn facts(&self) -> Vec<(&'static str, String)> {
        let outline = self.outline;
        let mut facts = Vec::new();
        if let (Some(began), Some(ended)) = (outline.began, outline.ended) {
            let (from, until) = (minute(began), minute(ended));
            // The day is said once.
            let until = match (from == until, from.split_once(' '), until.split_once(' ')) {
                (true, _, _) => String::new(),
                (false, Some((day, _)), Some((same, time))) if day == same => format!(" – {time}"),
                (false, _, _) => format!(" – {until}"),
            };
            facts.push(("When", format!("{from}{until} UTC")));
        }
        facts.push(("Folder", self.cwd.to_owned()));
        let models: Vec<&str> = outline.models.iter().map(|(model, _)| model.as_str()).collect();
        if !models.is_empty() {
            facts.push(("Model", models.join(", ")));
        }
        facts.push(("Work", work(outline)));
        facts.extend(figures::usage(&outline.usage).map(|used| ("Used", used)));
        facts.push(("Session", self.id.to_string()));
        facts
    }
}

fn work(outline: &Outline) -> String {
    let mut work = vec![figures::count(outline.asked.len() as u64, "message")];
    work.push(match outline.failed_calls {
        0 => figures::count(outline.calls, "call"),
        failed => format!("{} ({failed} failed)", figures::count(outline.calls, "call")),
    });
    if outline.worked_ms > 0 {
        work.push(format!("{} of work", figures::duration(Duration::from_millis(outline.worked_ms))));
    }
    work.join(" · ")
}

/// `2026-11-15 12:49`, in UTC.
pub(super) fn minute(at: Timestamp) -> String {
    at.strftime("%Y-%m-%d %H:%M").to_string()
}

/// When a block began.
pub(super) fn at(seen: &Seen<'_>) -> Timestamp {
    Timestamp::from_millisecond(seen.block.at_ms).unwrap_or_default()
}

/// A block that is told in a line; nothing for those that take more, or are told with another one.
pub(super) fn line(body: &BlockBody) -> Option<(NotificationLevel, String)> {
    let info = |text: String| Some((NotificationLevel::Info, text));
    let warning = |text: String| Some((NotificationLevel::Warning, text));
    match body {
        BlockBody::SessionStart(start) => info(sentence(&notices::began(start))),
        BlockBody::Notification(told) => Some((told.level, told.text.clone())),
        BlockBody::ModelRetry(retry) => warning(notices::retry(retry)),
        BlockBody::ModelSwitch(switch) => warning(notices::switch(switch)),
        BlockBody::ModeChange(change) => info(sentence(&notices::mode_change(change))),
        BlockBody::HookRun(run) if run.outcome == HookOutcome::Allowed && run.message.is_none() => None,
        BlockBody::HookRun(run) => {
            let message = run.message.as_ref().map(|message| format!(": {message}")).unwrap_or_default();
            info(format!("{} hook {} · {}{message}", run.event.name(), run.outcome, run.hook))
        }
        BlockBody::RulesTold(told) => info(told.words()),
        BlockBody::SkillUsed(used) => info(used.words()),
        BlockBody::PiecesGiven(given) => info(given.words()),
        BlockBody::Compaction(compaction) => info(sentence(&notices::compaction(compaction))),
        BlockBody::Rewind(back) => info(sentence(&notices::rewind(&back.rewind))),
        BlockBody::Imported(imported) => info(sentence(&notices::imported(imported))),
        BlockBody::Stop(stop) => stopped(stop).and_then(info),
        BlockBody::Agent(step) => info(notices::node(&step.node)),
        BlockBody::Letter(letter) => info(format!("{} · {}", letter.name, notices::letter(&letter.letter))),
        BlockBody::Workflow(step) => info(sentence(&notices::workflow(step))),
        BlockBody::Message(_)
        | BlockBody::Thinking(_)
        | BlockBody::Answer(_)
        | BlockBody::Call(_)
        | BlockBody::Approval(_)
        | BlockBody::Question(_)
        | BlockBody::Todos(_)
        | BlockBody::Plan(_)
        | BlockBody::Error(_)
        | BlockBody::End(_) => None,
    }
}

/// The words with a capital in front.
fn sentence(words: &str) -> String {
    let mut characters = words.chars();
    let first = characters.next().into_iter().flat_map(char::to_uppercase);
    first.chain(characters).collect()
}

/// What stands in the line of a call behind what it does. `tool` is its tool, where that is to be named.
pub(super) fn call_facts(call: &Call, tool: Option<&str>) -> Vec<String> {
    let mut facts = Vec::new();
    if let Some(Display::Diff { files }) = display(call) {
        let (added, removed) = files.iter().fold((0_u64, 0_u64), |(added, removed), file| {
            (added + u64::from(file.added), removed + u64::from(file.removed))
        });
        facts.push(format!("+{added} −{removed}"));
    }
    facts.extend(exit_code(call).map(|code| format!("exit {code}")));
    let end = call.end.as_ref();
    facts.extend(end.and_then(|end| end.error_code).map(|code| format!("error {code}")));
    facts.extend(tool.map(str::to_owned));
    let took = end.map(|end| end.duration_ms).filter(|ms| *ms > 0);
    facts.extend(took.map(|ms| figures::duration(Duration::from_millis(ms))));
    if call.is_interrupted() || end.is_none() && call.started_ms.is_some() {
        facts.push(calls::INTERRUPTED.to_owned());
    } else if end.is_none() {
        facts.push(calls::NOT_STARTED.to_owned());
    }
    facts
}

/// The mark of a call.
pub(super) fn call_mark(call: &Call) -> &'static str {
    match call.end.as_ref().map(|end| end.status) {
        _ if call.is_interrupted() => calls::UNKNOWN,
        Some(CallStatus::Success) => "✓",
        Some(CallStatus::Cancelled) => "⊘",
        Some(_) => "✗",
        None => calls::UNKNOWN,
    }
}

/// The call in one line.
pub(super) fn call_summary(call: &Call) -> &str {
    if call.summary.trim().is_empty() { &call.tool } else { &call.summary }
}

/// What a person sees of a call.
pub(super) fn display(call: &Call) -> Option<&Display> {
    call.end.as_ref()?.display.as_ref()
}

/// The code with which a command ended that did not end well.
pub(super) fn exit_code(call: &Call) -> Option<i32> {
    match display(call) {
        Some(Display::Terminal { exit_code, .. }) => exit_code.filter(|code| *code != 0),
        Some(_) | None => None,
    }
}

/// What the model reads of a call, or what was printed until the record ends.
pub(super) fn output<'a>(seen: &'a Seen<'_>, call: &'a Call) -> Cow<'a, str> {
    call.end.as_ref().map_or(Cow::Borrowed(seen.printed.as_str()), |end| without_marks(&end.output))
}

/// The arguments of a call, if it has any.
pub(super) fn arguments(call: &Call) -> Option<&Value> {
    call.arguments.as_ref().filter(|arguments| match arguments {
        Value::Object(fields) => !fields.is_empty(),
        Value::String(text) => !text.trim().is_empty(),
        Value::Null => false,
        Value::Bool(_) | Value::Number(_) | Value::Array(_) => true,
    })
}

/// Arguments as the model wrote them.
pub(super) fn as_written(arguments: &Value) -> String {
    arguments.as_str().map_or_else(|| arguments.to_string(), str::to_owned)
}

/// What a person decided about a call, in words.
pub(super) fn decided(seen: &Seen<'_>, call: &Call) -> Option<String> {
    let waited = call.end.is_none() && call.status == CallStatus::AwaitingApproval;
    let waited = waited.then(|| "waited for an answer".to_owned());
    seen.decision.as_ref().map(answers::decision).or(waited)
}

/// How the work ended and what it took.
pub(super) fn end(end: &WorkEnd) -> String {
    let mut parts = vec![reason(end.reason).to_owned()];
    parts.extend(end.error_code.map(|code| format!("error {code}")));
    parts.push(figures::count(end.turns.into(), "turn"));
    let worked = end.duration_ms.saturating_sub(end.waited_ms);
    parts.extend((worked > 0).then(|| figures::duration(Duration::from_millis(worked))));
    parts.extend(figures::usage(&end.usage));
    parts.join(" · ")
}

fn reason(reason: CompleteReason) -> &'static str {
    match reason {
        CompleteReason::Natural => "Done",
        CompleteReason::IterationLimit => "Stopped: limit of turns",
        CompleteReason::Cancelled => "Cancelled",
        CompleteReason::Failed => "Failed",
        CompleteReason::Budget => "Stopped: budget reached",
        CompleteReason::Stopped => "Stopped",
        CompleteReason::LoopDetected => "Stopped: it was repeating itself",
    }
}

/// How far a document is written.
#[derive(Debug, Default)]
pub(super) struct Progress {
    /// Messages of the person so far.
    pub(super) number: u64,
    /// Whose words stand above, so that a name is written once.
    pub(super) speaker: Option<String>,
    pub(super) last_todos: Option<Seq>,
    pub(super) plan: LastPlan,
    /// Whether it is an agent below the root that is written.
    pub(super) below: bool,
}

impl Progress {
    /// The model that said it, where that is not plain from what stands above.
    pub(super) fn new_speaker<'e>(&mut self, seen: &Seen<'e>) -> Option<&'e str> {
        let name = seen.message.and_then(|message| message.model.as_deref()).unwrap_or("Model");
        let is_new = self.speaker.as_deref() != Some(name);
        self.speaker = Some(name.to_owned());
        is_new.then_some(name)
    }
}

/// The plan that was shown last: one that is the same is not shown again.
#[derive(Debug, Default)]
pub(super) struct LastPlan(Option<(PlanStatus, String)>);

impl LastPlan {
    /// The heading and the text of a plan that is another one now.
    pub(super) fn changed<'p>(&mut self, planned: &'p Planned) -> Option<(&'static str, &'p str)> {
        let plan = planned.plan.as_ref()?;
        let shown = Some((plan.status, plan.text.clone()));
        let is_same = self.0 == shown;
        self.0 = shown;
        let status = match plan.status {
            PlanStatus::Proposed => "Plan · proposed",
            PlanStatus::Accepted => "Plan · accepted",
            PlanStatus::SentBack => "Plan · changes requested",
            PlanStatus::Dropped => "Plan · dropped",
            PlanStatus::Finished => "Plan · finished",
        };
        (!is_same).then_some((status, plan.text.as_str()))
    }
}
