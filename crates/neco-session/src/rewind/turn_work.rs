//! What the calls of each turn did, as the log tells it: going back takes back no more than that.

use std::collections::HashMap;

use neco_proto::event::{CallStatus, CheckpointWhen, ToolCallEnd, ToolCallUpdate};
use neco_proto::{AgentId, CallId, Diff, Display, Event, EventBody};
use neco_safety::tools::{Effects, effects, is_known};
use neco_workspace::checkpoint::{TurnWork, Written};

/// Tools of ours that change no file of the workspace, whatever they are asked.
const CHANGE_NOTHING: &[&str] = &[
    "activate",
    "agent_message",
    "agent_status",
    "agent_wait",
    "ask_user",
    "complete_task",
    "enter_plan_mode",
    "exit_plan_mode",
    "report",
    "state_get",
    "state_set",
    "todo_write",
    "web_fetch",
    "web_search",
];

/// The tool that does more than starting agents.
const WORKFLOW: &str = "workflow";

/// What stands between the names of a file that a patch moved or copied. Nothing but the name that people are shown tells
/// of that.
const MOVED: &str = " → ";

/// What calls did between the states of the files that were kept.
#[derive(Clone, Debug)]
pub(super) struct TurnWorks {
    /// Oldest first; the last one is under way.
    spans: Vec<Span>,
    /// Calls that run: the span in which each began, and when.
    running: HashMap<(AgentId, CallId), (usize, i64)>,
    /// When a command began that runs in the background.
    background: Option<i64>,
}

/// What lies between two states.
#[derive(Clone, Debug, Default)]
struct Span {
    /// The state after a turn that it led to.
    led_to: Option<String>,
    /// Whether the log tells of calls in it, also of those that change nothing.
    has_calls: bool,
    work: TurnWork,
}

impl Default for TurnWorks {
    fn default() -> Self {
        Self { spans: vec![Span::default()], running: HashMap::new(), background: None }
    }
}

impl TurnWorks {
    /// Takes note of the next event, of whatever agent.
    pub(super) fn note(&mut self, event: &Event) {
        let (agent, ms) = (event.agent_id, event.ts.as_millisecond());
        match &event.body {
            EventBody::ToolCallUpdate(update) if update.status == CallStatus::Executing => {
                self.spans.last_mut().into_iter().for_each(|span| span.has_calls = true);
                if may_change(update) {
                    self.running.insert((agent, update.call_id.clone()), (self.last(), ms));
                }
            }
            EventBody::ToolCallEnd(end) => self.ended(agent, end, ms),
            EventBody::HookRun(hook) => {
                let took = i64::try_from(hook.duration_ms).unwrap_or(i64::MAX);
                self.ran(self.last(), (ms.saturating_sub(took), ms));
            }
            EventBody::Checkpoint(kept) => {
                let rev = (kept.when == CheckpointWhen::After).then(|| kept.rev.clone());
                self.kept(rev, ms);
            }
            // Whoever ran what was under way is gone.
            EventBody::SessionStart(_) => {
                self.cut(ms);
                self.background = None;
            }
            EventBody::Rewind(_) => self.background = None,
            // Nothing else tells of it.
            _ => {}
        }
    }

    /// What is known of turns, by the states after them. Of one in which no call is known to have run nothing is.
    pub(super) fn by_state(&self) -> HashMap<String, TurnWork> {
        let mut all = self.clone();
        all.cut(i64::MAX);
        let known = all.spans.into_iter().filter(|span| span.has_calls || !span.work.ran.is_empty());
        known.filter_map(|span| Some((span.led_to?, span.work))).collect()
    }

    fn last(&self) -> usize {
        self.spans.len().saturating_sub(1)
    }

    /// Something ran since the span `first`.
    fn ran(&mut self, first: usize, ran: (i64, i64)) {
        self.spans.iter_mut().skip(first).for_each(|span| span.work.ran.push(ran));
    }

    fn ended(&mut self, agent: AgentId, end: &ToolCallEnd, ms: i64) {
        let Some((first, since)) = self.running.remove(&(agent, end.call_id.clone())) else { return };
        self.ran(first, (since, ms));
        match &end.display {
            Some(Display::Diff { files }) if effects(&end.tool).overlap(Effects::WRITES) => {
                for (path, written) in files.iter().flat_map(|file| written_by(end, file)) {
                    let spans = self.spans.iter_mut().skip(first);
                    spans.for_each(|span| drop(span.work.written.insert(path.to_owned(), written.clone())));
                }
            }
            Some(Display::Terminal { background: Some(_), .. }) => {
                self.background = self.background.or(Some(since));
                self.ran(self.last(), (since, i64::MAX));
            }
            // Nothing else tells what it did.
            _ => {}
        }
    }

    /// A state was kept; what is done from now on leads to another.
    fn kept(&mut self, rev: Option<String>, ms: i64) {
        if let Some(span) = self.spans.last_mut() {
            (span.led_to, span.work.until_ms) = (rev, ms);
        }
        let ran = self.background.map(|since| (since, i64::MAX)).into_iter().collect();
        let work = TurnWork { ran, since_ms: ms, ..TurnWork::default() };
        self.spans.push(Span { work, ..Span::default() });
    }

    /// What runs came to no end that is known.
    fn cut(&mut self, ms: i64) {
        for (first, since) in std::mem::take(&mut self.running).into_values() {
            self.ran(first, (since, ms));
        }
    }
}

/// The files that a call wrote or removed, by what it shows of one. Whether the first name of two is that of a file that
/// was moved away or that was copied is not known.
fn written_by<'a>(end: &ToolCallEnd, file: &'a Diff) -> Vec<(&'a str, Written)> {
    let sum = |path: &str| end.known.iter().find(|known| known.path == path).map(|known| known.sha256.clone());
    let written = |path: &str| sum(path).map_or(Written::Unknown, Written::Sum);
    let path = file.path.as_str();
    if file.deleted {
        return vec![(path, Written::Removed)];
    }
    let mut all = vec![(path, written(path))];
    if sum(path).is_none() && path.contains(MOVED) {
        all.extend(path.split(MOVED).map(|name| (name, written(name))));
    }
    all
}

/// Whether a call may change files, by itself or by what it runs.
fn may_change(update: &ToolCallUpdate) -> bool {
    let tool = update.tool.as_str();
    let looks = effects(tool).overlap(Effects::READS.and(Effects::RECALLS)) || CHANGE_NOTHING.contains(&tool);
    // What an agent does that a call starts are calls of that agent, in the same log.
    let starts_agent = effects(tool).overlap(Effects::AGENTS) && tool != WORKFLOW;
    !(update.origin.is_built_in() && is_known(tool) && (looks || starts_agent))
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use jiff::Timestamp;
    use neco_proto::SessionId;
    use serde_json::{Value, json};

    use super::*;

    /// What is known of the turn that a log of these events ends with, each a second after the one before.
    fn work(bodies: Vec<EventBody>) -> TurnWork {
        let (session, agent) = (SessionId::new(), AgentId::new());
        let mut works = TurnWorks::default();
        for (body, seq) in bodies.into_iter().zip(1..) {
            let ts = Timestamp::from_second(seq).unwrap();
            works.note(&Event::new(seq.unsigned_abs(), ts, session, agent, None, body));
        }
        works.by_state().remove("after").unwrap_or_default()
    }

    fn begins(id: &str, tool: &str) -> EventBody {
        let update = json!({ "call_id": id, "tool": tool, "status": "executing", "summary": "" });
        EventBody::ToolCallUpdate(serde_json::from_value(update).unwrap())
    }

    fn ends(id: &str, tool: &str, display: Value) -> EventBody {
        let known = json!([{ "path": "b", "sha256": "00" }]);
        let end = json!({
            "call_id": id, "tool": tool, "summary": "", "status": "success", "output": "", "duration_ms": 0,
            "display": display, "known": known
        });
        EventBody::ToolCallEnd(serde_json::from_value(end).unwrap())
    }

    fn kept(rev: &str) -> EventBody {
        EventBody::Checkpoint(serde_json::from_value(json!({ "rev": rev, "when": rev, "label": "" })).unwrap())
    }

    #[test]
    fn what_file_tools_wrote_is_known_and_when_calls_ran_and_a_question_is_no_such_call() {
        let moved = json!({ "path": "a → b", "unified": "", "added": 1, "removed": 0, "created": false });
        let found = work(vec![
            kept("before"),
            begins("1", "apply_patch"),
            ends("1", "apply_patch", json!({ "kind": "diff", "files": [moved] })),
            begins("2", "ask_user"),
            ends("2", "ask_user", Value::Null),
            kept("after"),
        ]);
        assert_eq!(found.ran, [(2000, 3000)]);
        assert_eq!((found.since_ms, found.until_ms), (1000, 6000));
        assert_eq!(found.written.get("a"), Some(&Written::Unknown), "moved or copied");
        assert_eq!(found.written.get("b"), Some(&Written::Sum("00".to_owned())));
        assert_eq!(work(vec![kept("before"), kept("after")]), TurnWork::default(), "nothing is known of it");
    }

    #[test]
    fn a_file_that_was_removed_is_told_from_one_whose_text_is_not_known() {
        let file = |path: &str, deleted: bool| -> Value {
            json!({ "path": path, "unified": "", "added": 0, "removed": 1, "created": false, "deleted": deleted })
        };
        let files = [file("gone", true), file("x → y", true), file("big", false), file("b", false)];
        let found = work(vec![
            kept("before"),
            begins("1", "apply_patch"),
            ends("1", "apply_patch", json!({ "kind": "diff", "files": files })),
            kept("after"),
        ]);
        let expected = [
            ("b", Written::Sum("00".to_owned())),
            ("big", Written::Unknown),
            ("gone", Written::Removed),
            ("x → y", Written::Removed),
        ];
        assert_eq!(found.written, BTreeMap::from(expected.map(|(path, written)| (path.to_owned(), written))));
    }

    #[test]
    fn a_call_that_waits_for_another_agent_changes_nothing_itself() {
        for tool in ["task", "spawn_agent", "agent__reviewer", "agent_wait"] {
            let found = work(vec![kept("before"), begins("1", tool), ends("1", tool, Value::Null), kept("after")]);
            assert_eq!((found.ran.len(), found.since_ms, found.until_ms), (0, 1000, 4000), "{tool}: the turn is known");
        }
        let found = work(vec![kept("before"), begins("1", WORKFLOW), kept("after")]);
        assert_eq!(found.ran.len(), 1);
    }

    #[test]
    fn every_tool_that_changes_nothing_is_a_known_one() {
        let names = CHANGE_NOTHING.iter().chain([&WORKFLOW]);
        let unknown: Vec<&&str> = names.filter(|tool| !is_known(tool)).collect();
        assert!(unknown.is_empty(), "{unknown:?}");
        assert!(CHANGE_NOTHING.iter().all(|tool| !effects(tool).overlap(Effects::WRITES.and(Effects::RUNS))));
        assert!(CHANGE_NOTHING.is_sorted());
    }

    #[test]
    fn what_runs_on_ran_in_every_turn_since() {
        let background =
            json!({ "kind": "terminal", "command": "x", "tail": "", "exit_code": null, "background": "p1" });
        let of_two = |calls: Vec<EventBody>| {
            let mut log = vec![kept("before")];
            log.extend(calls);
            log.extend([
                kept("before"),
                begins("9", "write_file"),
                ends("9", "write_file", Value::Null),
                kept("after"),
            ]);
            work(log).ran
        };
        assert!(of_two(vec![begins("1", "bash"), ends("1", "bash", background)]).contains(&(2000, i64::MAX)));
        assert!(of_two(vec![begins("1", "bash")]).contains(&(2000, i64::MAX)), "no end of it is known");
        assert_eq!(of_two(vec![begins("1", "bash"), ends("1", "bash", Value::Null)]), [(5000, 6000)]);
    }
}
