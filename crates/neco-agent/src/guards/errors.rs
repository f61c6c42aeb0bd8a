//! Error tracker: three failures of the same kind on the same target are a strike-out.

use std::collections::HashMap;

use neco_proto::ErrorCode;
use neco_safety::untrusted;

use super::guard::{CallSeen, Failure, Guard, Hint, Scene, Seen};

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
                Some(failure) => self.failed(call, failure, scene),
                None => {
                    self.failures.retain(|(tool, target, ..), _| tool != call.tool || *target != call.target);
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
        // One call can be made wrong in many ways, each of which has its own words.
        let how = if failure == Failure::Code(ErrorCode::InvalidArguments) { said.clone() } else { String::new() };
        let key = (call.tool.to_owned(), call.target.clone(), failure, how);
        let failures = self.failures.entry(key).or_default();
        failures.errors.push(said);
        let what = format!("{} on {:?}", call.tool, call.target);
        // What is not allowed says so well enough the first two times.
        let least = if is_refusal(failure) { STRIKES } else { 2 };
        if failures.errors.len() < least {
            return None;
        }
        let errors = std::mem::take(&mut failures.errors);
        let list: Vec<String> = errors.iter().map(|error| format!("- {error}")).collect();
        // The words of a tool or file are nobody's advice, also when a guard repeats them.
        let earlier = format!("\n{}", untrusted::wrap(&what, call.tool, &list.join("\n")));
        if errors.len() < STRIKES {
            failures.errors = errors;
            return Some(Hint::Tell(format!(
                "{what} failed before, in the same way. Read both errors first:{earlier}"
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
        Some(Hint::Warn {
            text: format!("{what} failed {STRIKES} times in the same way:{earlier}\n{advice}"),
            notice: "the same call failed three times in the same way; the agent was told to change its approach",
        })
    }
}

/// Whether nothing failed but something was not allowed.
fn is_refusal(failure: Failure) -> bool {
    let refusals = [ErrorCode::BlockedByPolicy, ErrorCode::RejectedByUser, ErrorCode::CommandBlocked];
    refusals.iter().any(|code| failure == Failure::Code(*code))
}

/// How an error begins; a command says most at its end.
fn words(output: &str) -> String {
    let line = |text: &str| -> String {
        let text = text.trim();
        let cut: String = text.chars().take(SHOWN).collect();
        if cut.len() == text.len() { cut } else { format!("{}…", cut.trim_end()) }
    };
    let lines: Vec<&str> = output.lines().filter(|line| !line.trim().is_empty()).collect();
    match lines.as_slice() {
        [.., said, end] if end.starts_with("[exit code") => format!("{} {}", line(said), line(end)),
        [first, ..] => line(first),
        [] => "(it said nothing)".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::super::guard::Scene;
    use super::*;
    use neco_proto::Mode;
    use neco_safety::Touch;

    fn call(target: &str, error: Option<ErrorCode>) -> Seen<'static> {
        Seen::Call(CallSeen {
            tool: "edit_file",
            arguments: String::new(),
            target: target.to_owned(),
            touch: Touch::Writes,
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
    fn a_command_is_quoted_from_its_end() {
        assert_eq!(words("compiling\nerror: no\n[exit code 101]"), "error: no [exit code 101]");
        assert_eq!(
            (words("Error 2005: no\nadvice").as_str(), words(" \n").as_str()),
            ("Error 2005: no", "(it said nothing)")
        );
    }
}
