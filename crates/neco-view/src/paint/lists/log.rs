//! The log of a session event by event, as lines.

use std::fmt::Write;

use jiff::tz::TimeZone;
use neco_proto::clean::clean_line;
use neco_proto::event::{Admission, GivenPiece, NotificationLevel};
use neco_proto::{CallId, Event, EventBody, Role, Seq, Subject, agent_ask};

use crate::figures;
use crate::paint::wrap::fitting;
use crate::wording::notices;
use crate::wording::rewind::moment;

/// Columns before what an event holds.
const BEFORE: usize = 46;

/// Events as lines; those that come in pieces share one.
#[derive(Debug)]
pub struct LogLines {
    width: usize,
    zone: TimeZone,
    running: Option<Running>,
    /// The day of the last line.
    day: String,
}

/// Pieces of the same thing.
#[derive(Debug)]
struct Running {
    first: Event,
    last: Seq,
    characters: usize,
    counts: bool,
}

impl LogLines {
    /// Lines of at most `width` columns, with the times of a zone.
    pub fn new(width: usize, zone: TimeZone) -> Self {
        Self { width, zone, running: None, day: String::new() }
    }

    /// The lines that are whole with this event, which counts or was gone back over.
    pub fn next(&mut self, event: &Event, counts: bool) -> String {
        let Some((about, characters)) = piece(event) else {
            let before = self.rest();
            return before + &self.line(event.seq, event.seq, event, &detail(&event.body), counts);
        };
        match &mut self.running {
            Some(running)
                if piece(&running.first).map(|(about, _)| about) == Some(about) && running.counts == counts =>
            {
                running.last = event.seq;
                running.characters += characters;
                String::new()
            }
            Some(_) | None => {
                let before = self.rest();
                self.running = Some(Running { first: event.clone(), last: event.seq, characters, counts });
                before
            }
        }
    }

    /// What waits for more pieces.
    pub fn rest(&mut self) -> String {
        let Some(running) = self.running.take() else { return String::new() };
        let words = figures::count(running.characters as u64, "character");
        self.line(running.first.seq, running.last, &running.first, &words, running.counts)
    }

    /// Events that no longer count have a mark before them.
    fn line(&mut self, first: Seq, last: Seq, event: &Event, detail: &str, counts: bool) -> String {
        let seqs = if first == last { first.to_string() } else { format!("{first}–{last}") };
        let mark = if counts { ' ' } else { '-' };
        let mut text = String::new();
        let time = event.ts.to_zoned(self.zone.clone());
        let day = time.strftime("%Y-%m-%d").to_string();
        if day != self.day {
            let _ = writeln!(text, "{day}");
            self.day = day;
        }
        let detail = fitting(&clean_line(detail), self.width.saturating_sub(BEFORE));
        let clock = time.strftime("%H:%M:%S");
        let line = format!("{mark}{seqs:>9}  {clock}  {:<24}{detail}", event.body.type_name());
        let _ = writeln!(text, "{}", line.trim_end());
        text
    }
}

/// What a piece is a piece of, and how long it is.
fn piece(event: &Event) -> Option<((&str, Option<&CallId>), usize)> {
    let (call, text) = match &event.body {
        EventBody::StreamChunk(chunk) | EventBody::ReasoningChunk(chunk) => (None, &chunk.text),
        EventBody::StreamToolCallDelta(delta) => (Some(&delta.call_id), &delta.partial_args),
        EventBody::ToolOutputChunk(chunk) => (Some(&chunk.call_id), &chunk.text),
        _ => return None,
    };
    Some(((event.body.type_name(), call), text.chars().count()))
}

/// What an event holds, in a few words.
fn detail(body: &EventBody) -> String {
    match body {
        EventBody::SessionStart(start) => {
            let how = if start.resumed { " · resumed" } else { "" };
            let fork = start.forked_from.map(|from| format!(" · fork of {} at {}", from.session_id, from.seq));
            format!("{} · {}{how}{}", start.model, start.cwd, fork.unwrap_or_default())
        }
        EventBody::StateChange(change) => format!("{} → {}", change.from, change.to),
        EventBody::TurnStart(turn) => format!("{} · {}", turn.iteration, turn.model),
        EventBody::TurnEnd(turn) => turn.iteration.to_string(),
        EventBody::StreamToolCallStart(start) => start.name.clone(),
        EventBody::ModelRetry(retry) => notices::retry(retry),
        EventBody::ModelSwitch(switch) => notices::switch(switch),
        EventBody::ToolCallUpdate(update) => format!("{} · {}", update.status, update.summary),
        EventBody::ToolCallEnd(end) => {
            let code = end.error_code.map(|code| format!(" {code}")).unwrap_or_default();
            format!("{}{code} · {}", end.status, end.summary)
        }
        EventBody::PermissionRequest(request) => format!("{} · {}", request.risk, request.summary),
        EventBody::PermissionDecision(decided) => decided.call_id.to_string(),
        EventBody::HookRun(run) => format!("{} {} · {}", run.event, run.outcome, run.hook),
        EventBody::MemoryUpdate(update) => {
            format!("{} · {}", update.action, figures::count(update.entries.len() as u64, "note"))
        }
        EventBody::Question(question) => match &question.subject {
            Subject::Choices { items } => items.iter().map(|item| item.text.as_str()).collect::<Vec<_>>().join(" · "),
            Subject::Plan { .. } => "a plan to approve".to_owned(),
            Subject::Loop { .. } => "whether to go on".to_owned(),
        },
        EventBody::QuestionAnswer(answer) => if answer.reply.is_some() { "answered" } else { "void" }.to_owned(),
        EventBody::TodoUpdate(update) => figures::count(update.todos.len() as u64, "step"),
        EventBody::PlanUpdate(update) => {
            update.plan.as_ref().map_or_else(|| "findings".to_owned(), |plan| plan.status.to_string())
        }
        EventBody::SharedState(update) => notices::shared(update),
        EventBody::ModeChange(change) => notices::mode_parts(change).join(" · "),
        EventBody::Usage(used) => {
            let (read, written) = (figures::tokens(used.usage.input), figures::tokens(used.usage.output));
            format!("{} · {read} in, {written} out", used.model)
        }
        EventBody::Notification(notification) => match notification.level {
            NotificationLevel::Info => notification.text.clone(),
            NotificationLevel::Warning => format!("! {}", notification.text),
        },
        EventBody::MessageQueued(queued) => {
            let when = match queued.when {
                Admission::TurnBoundary => "at the next turn",
                Admission::AfterWork => "after the work",
                Admission::Withdrawn => "taken back",
            };
            format!("{when} · {}", queued.message.text())
        }
        EventBody::Message(message) => {
            let who = match message.role {
                Role::User if message.is_neco() => "neco",
                Role::User => "user",
                Role::Assistant => "model",
                Role::Tool => "tool",
            };
            let calls = match message.tool_calls().count() {
                0 => String::new(),
                calls => format!(" · {}", figures::count(calls as u64, "call")),
            };
            format!("{who}{calls} · {}", message.text())
        }
        EventBody::Environment(told) => told.date.clone(),
        EventBody::IdeContext(open) => open.active_file.clone().unwrap_or_default(),
        EventBody::RulesTold(told) => told.files.join(", "),
        EventBody::SkillUsed(used) => used.name.clone(),
        EventBody::PiecesGiven(given) => given.pieces.iter().map(GivenPiece::place).collect::<Vec<_>>().join(", "),
        EventBody::ContextTrim(trim) => {
            let outputs = figures::count(trim.outputs.len() as u64, "output");
            match trim.arguments.len() as u64 {
                0 => outputs,
                calls => format!("{outputs}, arguments of {}", figures::count(calls, "call")),
            }
        }
        EventBody::Compaction(done) => notices::compaction(done),
        EventBody::Checkpoint(kept) => {
            let rev: String = kept.rev.chars().take(12).collect();
            let moment = moment(kept.when, &kept.label);
            format!("{rev} · {moment} · {} changed", figures::count(kept.changed_count(), "file"))
        }
        EventBody::SideCall(call) => format!("{} {}", call.purpose, if call.running { "begins" } else { "is over" }),
        EventBody::FilesBack(back) => format!("{} of {}", back.done, back.total),
        EventBody::Rewind(rewind) => format!("to {} · {}", rewind.to, notices::rewind(rewind)),
        EventBody::AgentUpdate(update) => notices::node(&update.node),
        EventBody::AgentMessage(message) => notices::letter(&message.letter),
        EventBody::Stop(stop) => agent_ask::stopped(stop).unwrap_or_default(),
        EventBody::WorkflowUpdate(update) => format!("{} · {}", update.name, update.state),
        EventBody::Title(title) => format!("{} · {}", title.by, title.title),
        EventBody::Imported(imported) => notices::imported(imported),
        EventBody::Error(error) => format!("{} · {}", error.code, error.message),
        EventBody::AgentComplete(complete) => complete.reason.to_string(),
        EventBody::Unknown(_) => "from another version of Neco; left as it is".to_owned(),
        EventBody::StreamChunk(_)
        | EventBody::ReasoningChunk(_)
        | EventBody::StreamToolCallDelta(_)
        | EventBody::ToolOutputChunk(_) => String::new(),
    }
}

#[cfg(test)]
mod tests {
    use jiff::Timestamp;
    use neco_proto::event::{StreamChunk, TurnStart};
    use neco_proto::{AgentId, Message, SessionId};

    use super::*;

    #[test]
    fn pieces_share_a_line_and_what_no_longer_counts_is_marked() {
        let (session_id, agent_id) = (SessionId::new(), AgentId::new());
        let chunk = |text: &str| EventBody::StreamChunk(StreamChunk { text: text.to_owned() });
        let bodies = [
            EventBody::Message(Message::user("say\nsomething \u{1b}[2Jlong ".repeat(9))),
            EventBody::TurnStart(TurnStart { iteration: 1, model: "play/a".to_owned() }),
            chunk("one "),
            chunk("two"),
            EventBody::ReasoningChunk(StreamChunk { text: "hm".to_owned() }),
            chunk("three"),
        ];
        let mut lines = LogLines::new(60, TimeZone::UTC);
        let mut text = String::new();
        for (seq, body) in (1..).zip(bodies) {
            let event = Event::new(seq, Timestamp::UNIX_EPOCH, session_id, agent_id, None, body);
            text.push_str(&lines.next(&event, seq < 6));
        }
        text.push_str(&lines.rest());
        insta::assert_snapshot!("log_60", text.replace("00:00:00", "HH:MM:SS").replace("1970-01-01", "YYYY-MM-DD"));
    }
}
