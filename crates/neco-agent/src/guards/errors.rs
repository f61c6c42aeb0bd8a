//! Error tracker: three failures of the same kind on the same target are a strike-out.

use std::collections::HashMap;

use neco_proto::ErrorCode;
use neco_safety::untrusted;

use super::guard::{CallSeen, Failure, Guard, Hint, Scene, Seen};
use crate::plan::EXIT_PLAN_MODE;

/// Failures that make a strike-out.
const STRIKES: usize = 3;
/// Characters of an error that are shown again.
const SHOWN: usize = 160;

/// What failed, on what, with which code, and in which words where the code alone says little.
type Kind = (String, String, Failure, String);

/// Counts failures. Somebody who says something, or a success on the target, wipes the slate.
#[derive(Default)]
pub(super) struct ErrorTracker {
    failures: HashMap<Kind, Failures>,
}

#[derive(Default)]
struct Failures {
    /// Since the last strike-out, as the model was told.
    errors: Vec<String>,
    strike_outs: usize,
}

impl Guard for ErrorTracker {
    fn watch(&mut self, seen: &Seen<'_>, scene: &Scene) -> Option<Hint> {
        match seen {
            Seen::Request(_) => {
                self.failures.clear();
                None
            }
            Seen::Call(call) => match call.error {
                // A plan may come back as often as the person has something to say about it.
                Some(Failure::Code(ErrorCode::RejectedByUser)) if call.tool == EXIT_PLAN_MODE => None,
                Some(failure) => self.failed(call, failure, scene),
                None => {
                    let is_other = |target: &str| !target.is_empty() && target != call.target;
                    self.failures.retain(|(tool, target, ..), _| tool != call.tool || is_other(target));
                    None
                }
            },
            Seen::Words(_) | Seen::End(_) => None,
        }
    }
}

impl ErrorTracker {
    fn failed(&mut self, call: &CallSeen<'_>, failure: Failure, scene: &Scene) -> Option<Hint> {
        let said = words(call.output);
        // One call can be made wrong in many ways, each of which has its own words, whatever it is about.
        let (target, how) = if failure == Failure::Code(ErrorCode::InvalidArguments) {
            (String::new(), without_values(&said))
        } else {
            (call.target.clone(), String::new())
        };
        let what = if target.is_empty() { call.tool.to_owned() } else { format!("{} on {:?}", call.tool, call.target) };
        let failures = self.failures.entry((call.tool.to_owned(), target, failure, how)).or_default();
        failures.errors.push(said);
        // What is not allowed says so well enough the first two times.
        let least = if failure.is_refusal() { STRIKES } else { 2 };
        if failures.errors.len() < least {
            return None;
        }
        let errors = std::mem::take(&mut failures.errors);
        let mut list: Vec<String> = errors.iter().map(|error| format!("- {error}")).collect();
        list.dedup();
        if let [only] = list.as_mut_slice() {
            only.push_str(" (each time)");
        }
        // The words of a tool or file are nobody's advice, also when a guard repeats them.
        let earlier = format!("\n{}", untrusted::wrap(&what, call.tool, &list.join("\n")));
        if errors.len() < STRIKES {
            failures.errors = errors;
            return Some(Hint::Tell(format!(
                "{what} failed before, in the same way. Read what it said first:{earlier}"
            )));
        }
        failures.strike_outs += 1;
        let advice = match (failures.strike_outs, scene.can_ask) {
            (1, _) => {
                "Do not try it a fourth time like that: say what the errors have in common, and take another approach."
            }
            (2, _) => {
                "This approach fails too. Step back: check what you took for granted, read what is really there, and do \
                 something of another kind."
            }
            (_, true) => {
                "Stop trying. Ask the user with ask_user: say what you tried, what happened, and what you need."
            }
            (_, false) => {
                "Stop trying: nobody is there to ask. Go on without it if you can, or end and say what you tried, what \
                 happened, and what is needed."
            }
        };
        let (came_to, notice) = match failure {
            Failure::Code(ErrorCode::RejectedByUser) => {
                ("was rejected", "You said no three times; the agent was told to change its approach")
            }
            failure if failure.is_refusal() => {
                ("was refused", "Three calls were not allowed; the agent was told to change its approach")
            }
            _ => ("failed", "Three calls failed in the same way; the agent was told to change its approach"),
        };
        Some(Hint::Warn {
            text: format!("{what} {came_to} {STRIKES} times in the same way:{earlier}\n{advice}"),
            notice,
        })
    }
}

/// An error without what is another each time: what is quoted, and numbers.
fn without_values(said: &str) -> String {
    let unquoted: Vec<&str> = said.split('"').step_by(2).collect();
    unquoted.join("\"").chars().filter(|char| !char.is_ascii_digit()).collect()
}

/// Whether a line of what a command printed says what went wrong.
fn is_telling(line: &str) -> bool {
    let line = line.trim().to_lowercase();
    let begins = ["error", "fatal", "failed", "panicked"].iter().any(|word| line.starts_with(word));
    begins || line.contains("error: ") || line.contains("panicked at")
}

/// How an error begins. A command says most where it speaks of an error, or else at its end.
fn words(output: &str) -> String {
    let line = |text: &str| -> String {
        let text = text.trim();
        let cut: String = text.chars().take(SHOWN).collect();
        if cut.len() == text.len() { cut } else { format!("{}…", cut.trim_end()) }
    };
    let lines: Vec<&str> = output.lines().filter(|line| !line.trim().is_empty()).collect();
    match lines.as_slice() {
        [said @ .., end] if end.starts_with("[exit code") => {
            let telling = said.iter().find(|line| is_telling(line)).or(said.last()).copied().unwrap_or_default();
            format!("{} {}", line(telling), line(end)).trim_start().to_owned()
        }
        [first, ..] => line(first),
        [] => "(it said nothing)".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::super::guard::Scene;
    use super::*;
    use neco_proto::Mode;
    use neco_safety::SideEffect;

    fn call(target: &str, error: Option<ErrorCode>) -> Seen<'static> {
        Seen::Call(CallSeen {
            tool: "edit_file",
            arguments: String::new(),
            target: target.to_owned(),
            touch: SideEffect::Writes,
            is_first: true,
            error: error.map(Failure::Code),
            output: "Error 2005: no such text\nadvice",
        })
    }

    fn wrong(output: &'static str) -> Seen<'static> {
        match call("git", Some(ErrorCode::InvalidArguments)) {
            Seen::Call(call) => Seen::Call(CallSeen { output, ..call }),
            other => other,
        }
    }

    #[test]
    fn other_mistakes_are_not_the_same_and_a_refusal_is_no_failure_until_it_is_tried_on_and_on() {
        let mut guard = ErrorTracker::default();
        assert_eq!(told(&mut guard, &wrong("Error 1002: no action push"), true), "");
        assert_eq!(told(&mut guard, &wrong("Error 1002: blame is of one file"), true), "");
        assert!(told(&mut guard, &wrong("Error 1002: no action push"), true).contains("failed before"));
        let refused = || call("touch x", Some(ErrorCode::CommandBlocked));
        assert_eq!(told(&mut guard, &refused(), true) + &told(&mut guard, &refused(), true), "");
        assert!(told(&mut guard, &refused(), true).contains("another approach"));
        // Whoever said no reads that, and not that something failed.
        let mut guard = ErrorTracker::default();
        let scene = Scene { mode: Mode::Agent, can_ask: true, has_todos: true, can_plan: true };
        let rejected = call("touch x", Some(ErrorCode::RejectedByUser));
        let hint = (0..3).filter_map(|_| guard.watch(&rejected, &scene)).last();
        let Some(Hint::Warn { text, notice }) = &hint else { panic!("{hint:?}") };
        assert!(text.contains("was rejected 3 times") && notice.starts_with("You said no three times"), "{text}");
    }

    #[test]
    fn a_plan_that_comes_back_again_and_again_is_no_strike_out() {
        let mut guard = ErrorTracker::default();
        let sent_back = || match call("plan", Some(ErrorCode::RejectedByUser)) {
            Seen::Call(call) => Seen::Call(CallSeen { tool: EXIT_PLAN_MODE, ..call }),
            other => other,
        };
        assert!((0..5).all(|_| told(&mut guard, &sent_back(), true).is_empty()));
    }

    fn told(guard: &mut ErrorTracker, seen: &Seen<'_>, can_ask: bool) -> String {
        let scene = Scene { mode: Mode::Agent, can_ask, has_todos: true, can_plan: true };
        match guard.watch(seen, &scene) {
            Some(Hint::Tell(text) | Hint::Warn { text, .. }) => text,
            None => String::new(),
            Some(other) => panic!("{other:?}"),
        }
    }

    const MISS: Option<ErrorCode> = Some(ErrorCode::EditTextNotFound);

    #[test]
    fn the_second_failure_shows_the_first_and_the_third_is_a_strike_out() {
        let mut guard = ErrorTracker::default();
        let words = [
            "",
            "failed before",
            "another approach",
            "",
            "failed before",
            "This approach fails too",
            "",
            "failed before",
        ];
        for (number, expected) in words.iter().enumerate() {
            let told = told(&mut guard, &call("a", MISS), true);
            assert_eq!(told.is_empty(), expected.is_empty(), "{number}: {told}");
            assert!(told.contains(expected), "{number}: {told}");
        }
        assert!(told(&mut guard, &call("a", MISS), true).contains("ask_user"));
        assert!(told(&mut guard, &call("a", MISS), true).is_empty());
    }

    #[test]
    fn with_nobody_to_ask_the_third_strike_out_says_how_to_end() {
        let mut guard = ErrorTracker::default();
        let last = (0..9).map(|_| told(&mut guard, &call("a", MISS), false)).last().unwrap();
        assert!(last.contains("nobody is there to ask") && !last.contains("ask_user"), "{last}");
    }

    #[test]
    fn other_kinds_other_targets_and_successes_do_not_add_up() {
        let other = Some(ErrorCode::FileChanged);
        for calls in [
            vec![call("a", MISS), call("b", MISS), call("a", other)],
            vec![call("a", MISS), call("a", None), call("a", MISS)],
            vec![call("a", MISS), Seen::Request("again"), call("a", MISS)],
        ] {
            let mut guard = ErrorTracker::default();
            assert!(calls.iter().all(|seen| told(&mut guard, seen, true).is_empty()), "{calls:?}");
        }
    }

    #[test]
    fn a_command_is_quoted_where_it_speaks_of_an_error() {
        let backtrace =
            "error: no toolchain\nhelp: get one\n   0: anyhow::error::<impl>\n  13: <unknown>\n[exit code 1]";
        assert_eq!(words(backtrace), "error: no toolchain [exit code 1]");
        let python = "Traceback (most recent call last):\n  File \"a.py\"\nValueError: no\n[exit code 1]";
        assert_eq!(words(python), "ValueError: no [exit code 1]");
        assert_eq!(words("one\ntwo\n[exit code 2]"), "two [exit code 2]");
        assert_eq!(words("[exit code 2]"), "[exit code 2]");
    }

    #[test]
    fn the_same_wrong_argument_is_the_same_whatever_its_value() {
        let mut guard = ErrorTracker::default();
        let of = |target: &str, output: &'static str| match wrong(output) {
            Seen::Call(call) => Seen::Call(CallSeen { target: target.to_owned(), ..call }),
            other => other,
        };
        assert_eq!(told(&mut guard, &of("a", "Error 1002: offset: expected a number, found \"1\""), true), "");
        let second = told(&mut guard, &of("b", "Error 1002: offset: expected a number, found \"2\""), true);
        assert!(second.contains("edit_file failed before"), "{second}");
        let third = told(&mut guard, &of("c", "Error 1002: offset: expected a number, found \"3\""), true);
        assert!(third.contains("another approach"), "{third}");
    }

    #[test]
    fn what_is_said_each_time_is_shown_once() {
        let mut guard = ErrorTracker::default();
        told(&mut guard, &call("a", MISS), true);
        let again = told(&mut guard, &call("a", MISS), true);
        assert_eq!(again.matches("Error 2005").count(), 1, "{again}");
    }

    #[test]
    fn a_command_is_quoted_from_its_end() {
        assert_eq!(words("compiling\nerror: no\n[exit code 101]"), "error: no [exit code 101]");
        assert_eq!(
            (words("Error 2005: no\nadvice").as_str(), words(" \n").as_str()),
            ("Error 2005: no", "(it said nothing)")
        );
    }
}
