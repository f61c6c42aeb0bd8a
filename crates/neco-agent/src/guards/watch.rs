//! All guards of an agent: they are shown the conversation as it grows, and what they say is collected.

use std::collections::HashMap;

use neco_config::section::GuardsSection;
use neco_model::{Entry, History};
use neco_proto::{Message, MessageId, Part, Role, ToolCall, ToolResult};
use neco_safety::policy::canonical::canonical;
use neco_safety::{SideEffect, untrusted};
use neco_toolkit::Registry;
use neco_toolkit::repair::read_arguments;
use serde_json::Value;

use super::advice::Advice;
use super::anti_pattern::AntiPattern;
use super::complexity::ComplexityGuard;
use super::errors::ErrorTracker;
use super::findings::Findings;
use super::guard::{CallSeen, Failure, Guard, Hint, Objection, Scene, Seen};
use super::loops::Loops;
use super::stop_check::StopCheck;
use crate::plan::Progress;

/// What the guards have to say at a turn boundary.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Said {
    /// What the model should know.
    pub hints: Vec<String>,
    /// What the person should know of that.
    pub notices: Vec<&'static str>,
    /// Why the agent should not go on without the person.
    pub stop: Option<String>,
}

impl Said {
    /// The same is said once.
    fn tell(&mut self, text: String) {
        if !self.hints.contains(&text) {
            self.hints.push(text);
        }
    }
}

/// All guards of an agent.
pub struct Guards {
    guards: Vec<Box<dyn Guard>>,
    said: Said,
    seen: Option<MessageId>,
    /// The message before the next one that is not Neco's own.
    last: Last,
    /// Calls without a result yet.
    calls: HashMap<String, ToolCall>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Last {
    /// Nothing, or an answer: what the person says next is a request.
    Answer,
    /// Anything else: what the person says next belongs to the work under way.
    Work,
}

impl Guards {
    /// The guards that are switched on.
    pub fn new(switches: &GuardsSection) -> Self {
        let all: [(bool, Box<dyn Guard>); 7] = [
            (switches.complexity, Box::new(ComplexityGuard)),
            (switches.findings, Box::new(Findings::default())),
            (switches.errors, Box::new(ErrorTracker::default())),
            (switches.anti_pattern, Box::new(AntiPattern::default())),
            (switches.loops, Box::new(Loops::default())),
            (switches.stop_check, Box::new(StopCheck::default())),
            (switches.advice, Box::new(Advice::default())),
        ];
        let guards = all.into_iter().filter(|(on, _)| *on).map(|(_, guard)| guard).collect();
        Self { guards, said: Said::default(), seen: None, last: Last::Answer, calls: HashMap::new() }
    }

    /// Shows them what was added to the conversation since the last time.
    pub fn catch_up(&mut self, history: &History, tools: &Registry, scene: &Scene) {
        for message in self.unseen(history).into_iter().rev() {
            self.see(message, tools, scene);
        }
        self.seen = history.last().map(|message| message.id);
    }

    /// What came after the message that was seen last, newest first. A conversation that was made shorter
    /// still ends with that one; in one that does not hold it nothing is new.
    fn unseen<'a>(&self, history: &'a History) -> Vec<&'a Message> {
        let Some(seen) = self.seen else { return since_request(history) };
        let mut unseen = Vec::new();
        for message in history.iter().rev().map(Entry::message) {
            if message.id == seen {
                return unseen;
            }
            unseen.push(message);
        }
        Vec::new()
    }

    /// What they had to say since the last time.
    pub fn take(&mut self) -> Said {
        std::mem::take(&mut self.said)
    }

    /// The model wants to be done: an objection, if there is one. What is against its last words comes first: nobody
    /// would say it otherwise.
    pub fn object(&mut self, progress: &Progress, scene: &Scene) -> Option<Objection> {
        let hints = self.show(&Seen::End(progress), scene);
        if let Some(reason) = self.said.stop.take() {
            return Some(Objection::Stop(reason));
        }
        if let (Some(notice), [text, ..]) = (self.said.notices.first(), self.said.hints.as_slice()) {
            let objection = Objection::Hold { text: text.clone(), notice };
            self.said = Said::default();
            return Some(objection);
        }
        hints.into_iter().find_map(|hint| match hint {
            Hint::Hold { text, notice } => Some(Objection::Hold { text, notice }),
            Hint::Note(notice) => Some(Objection::Note(notice)),
            Hint::Tell(_) | Hint::Warn { .. } | Hint::Stop(_) => None,
        })
    }

    fn see(&mut self, message: &Message, tools: &Registry, scene: &Scene) {
        match message.role {
            Role::User if message.is_neco() => {}
            Role::User => {
                if self.last == Last::Answer {
                    // What was said about the last request is not about this one.
                    self.said = Said::default();
                    self.collect(&Seen::Request(&message.said()), scene);
                }
                self.last = Last::Work;
            }
            Role::Assistant => {
                let calls: Vec<&ToolCall> = message.tool_calls().collect();
                self.last = if calls.is_empty() { Last::Answer } else { Last::Work };
                self.calls = calls.into_iter().map(|call| (call.id.to_string(), call.clone())).collect();
                let text = message.text();
                if !text.trim().is_empty() {
                    self.collect(&Seen::Words(&text), scene);
                }
            }
            Role::Tool => self.see_results(message, tools, scene),
        }
    }

    fn see_results(&mut self, message: &Message, tools: &Registry, scene: &Scene) {
        for (at, part) in message.parts.iter().enumerate() {
            let Part::ToolResult(result) = part else { continue };
            let Some(call) = self.calls.remove(result.call_id.as_str()) else { continue };
            let tool = tools.find(&call.name).ok();
            let name = tool.map_or(call.name.as_str(), |tool| tool.name());
            let arguments = read_arguments(&call.arguments).map_or(Value::Null, |arguments| arguments.value);
            let output = told(&result.output);
            let seen = CallSeen {
                tool: name,
                target: target(name, &arguments),
                is_first: at == 0,
                arguments: canonical(&arguments),
                touch: tool.map_or(SideEffect::Reads, |tool| tool.most_touch()),
                error: failure(result),
                output: &output,
            };
            self.collect(&Seen::Call(seen), scene);
        }
    }

    fn collect(&mut self, seen: &Seen<'_>, scene: &Scene) {
        for hint in self.show(seen, scene) {
            match hint {
                Hint::Tell(text) => self.said.tell(text),
                Hint::Warn { text, notice } => {
                    self.said.tell(text);
                    if !self.said.notices.contains(&notice) {
                        self.said.notices.push(notice);
                    }
                }
                Hint::Stop(text) => self.said.stop = Some(text),
                Hint::Hold { .. } | Hint::Note(_) => {}
            }
        }
    }

    fn show(&mut self, seen: &Seen<'_>, scene: &Scene) -> Vec<Hint> {
        self.guards.iter_mut().filter_map(|guard| guard.watch(seen, scene)).collect()
    }
}

/// The last request and what came after it, newest first. A request wipes every guard's slate, so that nothing of a long
/// conversation needs to be shown that came before.
fn since_request(history: &History) -> Vec<&Message> {
    let mut since = Vec::new();
    let mut messages = history.iter().rev().map(Entry::message).peekable();
    while let Some(message) = messages.next() {
        since.push(message);
        let is_said = message.role == Role::User && !message.is_neco();
        while let Some(own) = messages.next_if(|before| is_said && before.role == Role::User && before.is_neco()) {
            since.push(own);
        }
        let is_answer = |before: &&Message| before.role == Role::Assistant && before.tool_calls().next().is_none();
        if is_said && messages.peek().is_none_or(is_answer) {
            break;
        }
    }
    since
}

/// Arguments that say what a call is about, the plainest first.
const SUBJECTS: &[&str] = &["path", "file_path", "url", "pattern", "query", "name", "id", "title", "action"];

/// Characters of a target.
const LONGEST: usize = 120;

/// What a call is about: a file, an address, or the program of a command with its first word.
pub(super) fn target(tool: &str, arguments: &Value) -> String {
    let text = |name: &str| arguments.get(name).and_then(Value::as_str);
    if let Some(command) = text("command") {
        return short(&program(command));
    }
    let subject = SUBJECTS.iter().find_map(|name| text(name));
    short(subject.map(str::trim).filter(|subject| !subject.is_empty()).unwrap_or(tool))
}

/// `cargo test` of `cd a && RUST_LOG=x cargo test --all`: what tells one command from another.
fn program(command: &str) -> String {
    let last = command.lines().map(str::trim).rfind(|line| !line.is_empty()).unwrap_or_default();
    let after_cd = last.rsplit("&&").map(str::trim).find(|part| !part.starts_with("cd ")).unwrap_or(last);
    let words = after_cd.split_whitespace().skip_while(|word| word.contains('=') && !word.starts_with('-'));
    words.take(2).collect::<Vec<_>>().join(" ")
}

/// Why a call failed. A command that ran is a success of its tool whatever its exit code, which the tool
/// tells in brackets at the end.
pub(super) fn failure(result: &ToolResult) -> Option<Failure> {
    if let Some(code) = result.error_code {
        return Some(Failure::Code(code));
    }
    let mut notes = result.output.lines().rev().map(str::trim).skip_while(|line| line.is_empty());
    let code =
        notes.by_ref().take_while(|line| line.starts_with('[')).find_map(|line| line.split_once("exit code "))?.1;
    let digits: String = code.chars().take_while(|char| char.is_ascii_digit() || *char == '-').collect();
    digits.parse().ok().filter(|code| *code != 0).map(Failure::Exit)
}

/// What a call gave, without what is another each time: the tags around text from outside, and how long
/// a command took.
pub(super) fn told(output: &str) -> String {
    let text = untrusted::unwrapped(output);
    let timeless = |line: &str| match line.split_once(" after ") {
        Some((word, _)) if line.starts_with('[') => format!("{word}]"),
        Some(_) | None => line.to_owned(),
    };
    text.lines().map(timeless).collect::<Vec<_>>().join("\n")
}

fn short(text: &str) -> String {
    let line = text.split_whitespace().collect::<Vec<_>>().join(" ");
    line.chars().take(LONGEST).collect()
}

#[cfg(test)]
mod tests {
    use neco_proto::ErrorCode;
    use serde_json::json;

    use super::*;

    #[test]
    fn a_call_is_about_something() {
        for (tool, arguments, expected) in [
            ("read_file", json!({ "path": "src/a.rs", "limit": 5 }), "src/a.rs"),
            ("bash", json!({ "command": "cd a && RUST_LOG=x cargo test --all" }), "cargo test"),
            ("bash", json!({ "command": "make" }), "make"),
            ("grep", json!({ "pattern": "fn main" }), "fn main"),
            ("web_fetch", json!({ "url": "http://x/y" }), "http://x/y"),
            ("todo_write", json!({ "todos": [] }), "todo_write"),
            ("memory_store", json!({ "title": "Build order", "summary": "x" }), "Build order"),
            ("bash", json!({ "command": "" }), ""),
        ] {
            assert_eq!(target(tool, &arguments), expected, "{tool} {arguments}");
        }
    }

    #[test]
    fn a_command_fails_by_its_exit_code() {
        let result =
            |output: &str, error_code| ToolResult { call_id: "c".into(), output: output.to_owned(), error_code };
        for (output, code, expected) in [
            ("ok", None, None),
            ("text\n[exit code 101]", None, Some(Failure::Exit(101))),
            ("text\n[exit code 0]", None, None),
            ("[exit code 2]\nmore", None, None),
            ("text\n[exit code 1 after 0.3 s]\n[note: mended]\n", None, Some(Failure::Exit(1))),
            ("[no output, exit code 2 after 0.1 s]", None, Some(Failure::Exit(2))),
            ("x", Some(ErrorCode::EditTextNotFound), Some(Failure::Code(ErrorCode::EditTextNotFound))),
        ] {
            assert_eq!(failure(&result(output, code)), expected, "{output}");
        }
    }

    #[test]
    fn the_same_result_reads_the_same_whenever_it_comes() {
        let of =
            |id: &str, took: &str| format!("{}\n[exit code 1 after {took} s]", untrusted::wrap(id, "command", "no"));
        assert_ne!(of("a", "0.3"), of("b", "0.4"));
        assert_eq!(told(&of("a", "0.3")), told(&of("b", "0.4")));
        assert_eq!(told(&of("a", "0.3")), "no\n[exit code 1]");
        assert_eq!(told("one after two"), "one after two");
    }
}
