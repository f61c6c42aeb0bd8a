//! One question: what is shown, and what each key means.

use neco_proto::event::PermissionRequest;
use neco_proto::{Decision, Risk};

use crate::print::clean::{clean, clean_line};
use crate::print::diff;
use crate::print::paint::Paint;

/// Lines of a change that are shown before `d` shows all of it.
const DIFF_LINES: usize = 30;
/// Lines of arguments that are shown when there is neither a change nor a command.
const ARGUMENT_LINES: usize = 20;

/// What is to be read from the terminal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Want {
    /// One key, without Enter.
    Key,
    /// A line.
    Line,
}

/// What was typed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Typed {
    /// A key.
    Key(char),
    /// A line, without its end.
    Line(String),
    /// The terminal is gone, or Ctrl-D.
    End,
}

/// What follows from what was typed.
#[derive(Clone, Debug, PartialEq)]
pub enum Step {
    /// More is to be read.
    Read(Want),
    /// The person decided.
    Decide(Decision),
    /// The person wants to change the call first.
    Edit,
}

/// A question that is on the screen.
pub struct Question {
    request: PermissionRequest,
    paint: Paint,
    /// Whether the reason of a rejection is being asked for.
    rejecting: bool,
}

impl Question {
    /// The question about `request`.
    #[must_use]
    pub fn new(request: PermissionRequest, paint: Paint) -> Self {
        Self { request, paint, rejecting: false }
    }

    /// What it is about.
    #[must_use]
    pub fn request(&self) -> &PermissionRequest {
        &self.request
    }

    /// The question as it is shown.
    #[must_use]
    pub fn shown(&self, more_waiting: usize) -> String {
        let paint = self.paint;
        let request = &self.request;
        let mut lines = vec![format!(
            "{} {} {}",
            paint.yellow("?"),
            paint.bold(&clean_line(&request.summary)),
            risk(request.risk, paint)
        )];
        lines.push(paint.dim(&format!("  why: {}", clean_line(&request.reason))));
        lines.extend(self.subject(DIFF_LINES));
        lines.push(self.keys());
        if more_waiting > 0 {
            lines.push(paint.dim(&format!("  ({more_waiting} more after this)")));
        }
        format!("{}\n{}", lines.join("\n"), self.prompt())
    }

    /// Takes what was typed; gives what to write and what follows.
    pub fn on(&mut self, typed: Typed) -> (String, Step) {
        match typed {
            Typed::End => (self.chosen("rejected"), Step::Decide(Decision::Reject { reason: None })),
            Typed::Line(line) => self.line(&line),
            Typed::Key(key) if self.rejecting => self.line(&key.to_string()),
            Typed::Key(key) => self.key(key),
        }
    }

    /// What a person reads when an answer was not taken.
    #[must_use]
    pub fn again(&self, words: &str) -> String {
        format!("{}\n{}", self.paint.yellow(&format!("  {}", clean(words))), self.prompt())
    }

    fn key(&mut self, key: char) -> (String, Step) {
        match key.to_ascii_lowercase() {
            'y' => (self.chosen("once"), Step::Decide(Decision::Once)),
            's' => (self.chosen("for this session"), Step::Decide(Decision::Session)),
            'e' => (self.chosen("editing…"), Step::Edit),
            'n' => {
                self.rejecting = true;
                let ask = self.paint.dim("  what should the agent do instead? (Enter: nothing) ");
                (format!("{}{ask}", self.chosen("rejected")), Step::Read(Want::Line))
            }
            'd' if !self.request.diff.is_empty() => {
                let lines = self.subject(usize::MAX);
                (format!("\n{}\n{}\n{}", lines.join("\n"), self.keys(), self.prompt()), Step::Read(Want::Key))
            }
            _ => (String::new(), Step::Read(Want::Key)),
        }
    }

    fn line(&mut self, line: &str) -> (String, Step) {
        let reason = Some(line.trim()).filter(|line| !line.is_empty()).map(str::to_owned);
        (String::new(), Step::Decide(Decision::Reject { reason }))
    }

    fn chosen(&self, words: &str) -> String {
        format!("{}\n", self.paint.bold(words))
    }

    fn prompt(&self) -> String {
        self.paint.yellow("  › ")
    }

    fn keys(&self) -> String {
        let paint = self.paint;
        let key = |key: &str, words: &str| format!("{} {words}", paint.bold(key));
        let rule = clean_line(&self.request.session_rule);
        let mut first = vec![key("y", "once"), key("e", "edit first"), key("n", "reject")];
        if self.request.diff.iter().any(|file| diff::is_cut(file, DIFF_LINES)) {
            first.push(key("d", "full diff"));
        }
        format!("  {}\n  {}", first.join(" · "), key("s", &format!("session: {rule}")))
    }

    /// What the call would do, in full or in part.
    fn subject(&self, most: usize) -> Vec<String> {
        let paint = self.paint;
        if !self.request.diff.is_empty() {
            let files = self.request.diff.iter().flat_map(|file| diff::lines(file, paint, most));
            return files.map(|line| format!("  {line}")).collect();
        }
        if let Some(command) = self.request.args.get("command").and_then(serde_json::Value::as_str) {
            // Every line of it: what can't be seen can't be judged.
            let marks = std::iter::once("  $ ").chain(std::iter::repeat("    "));
            return clean(command)
                .trim()
                .lines()
                .zip(marks)
                .map(|(line, mark)| format!("{mark}{}", paint.cyan(line)))
                .collect();
        }
        let arguments = serde_json::to_string_pretty(&self.request.args).unwrap_or_default();
        let arguments = clean(&arguments);
        arguments.lines().take(most.min(ARGUMENT_LINES)).map(|line| format!("  {line}")).collect()
    }
}

fn risk(risk: Risk, paint: Paint) -> String {
    let words = format!("[{risk} risk]");
    match risk {
        Risk::Safe | Risk::Low => paint.dim(&words),
        Risk::Medium => paint.yellow(&words),
        Risk::High | Risk::Critical => paint.red(&words),
    }
}

#[cfg(test)]
mod tests {
    use neco_proto::{CallId, Diff};
    use serde_json::json;

    use super::*;

    fn command() -> PermissionRequest {
        PermissionRequest {
            call_id: CallId::from("call-1"),
            tool: "bash".into(),
            summary: "Run make test…".into(),
            args: json!({ "command": "make test\nrm -rf \u{1b}[8mbuild\u{1b}[0m" }),
            risk: Risk::High,
            reason: "high risk is asked about in approval mode ask_first".into(),
            diff: Vec::new(),
            session_rule: "run exactly `make test…` without asking, until the session ends".into(),
        }
    }

    fn edit() -> PermissionRequest {
        let unified: String = (0..50).map(|line| format!("+line {line}\n")).collect();
        let diff = vec![Diff { path: "src/a.rs".into(), unified, added: 50, removed: 0, created: false }];
        PermissionRequest {
            tool: "edit_file".into(),
            summary: "Edit src/a.rs".into(),
            args: json!({}),
            risk: Risk::Medium,
            diff,
            ..command()
        }
    }

    #[test]
    fn a_command_is_shown_whole_and_without_escapes() {
        insta::assert_snapshot!(Question::new(command(), Paint::default()).shown(2));
    }

    #[test]
    fn a_change_is_shown_in_part_and_d_shows_all() {
        let mut question = Question::new(edit(), Paint::default());
        insta::assert_snapshot!(question.shown(0));
        let (all, step) = question.on(Typed::Key('d'));
        assert!(all.contains("+line 49") && !all.contains("more lines"));
        assert_eq!(step, Step::Read(Want::Key));
    }

    #[test]
    fn keys_mean_what_they_say() {
        let step = |key| Question::new(command(), Paint::default()).on(Typed::Key(key)).1;
        assert_eq!(step('y'), Step::Decide(Decision::Once));
        assert_eq!(step('Y'), Step::Decide(Decision::Once));
        assert_eq!(step('s'), Step::Decide(Decision::Session));
        assert_eq!(step('e'), Step::Edit);
        assert_eq!(step('d'), Step::Read(Want::Key));
        for meaningless in ['\n', ' ', 'x', '\u{1b}', 'a'] {
            assert_eq!(step(meaningless), Step::Read(Want::Key), "{meaningless:?}");
        }
        let ended = Question::new(command(), Paint::default()).on(Typed::End).1;
        assert_eq!(ended, Step::Decide(Decision::Reject { reason: None }));
    }

    #[test]
    fn a_rejection_takes_a_reason() {
        for (line, reason) in [("", None), ("  use cargo instead ", Some("use cargo instead".to_owned()))] {
            let mut question = Question::new(command(), Paint::default());
            assert_eq!(question.on(Typed::Key('n')).1, Step::Read(Want::Line));
            assert_eq!(question.on(Typed::Line(line.into())).1, Step::Decide(Decision::Reject { reason }));
        }
    }
}
