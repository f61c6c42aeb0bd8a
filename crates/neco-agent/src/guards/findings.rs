//! Findings: after every two look-ups the agent is reminded to write down what it found.

use super::guard::{CallSeen, Guard, Hint, Scene, Seen};
use crate::plan::TODO_WRITE;

/// Tools that look something up that is not at hand.
const LOOK_UPS: &[&str] = &["web_fetch", "web_search", "screenshot", "code_search"];

/// Look-ups between reminders.
const EVERY: u32 = 2;

/// Counts look-ups since something was written down.
#[derive(Default)]
pub(super) struct Findings {
    look_ups: u32,
}

impl Guard for Findings {
    fn watch(&mut self, seen: &Seen<'_>, scene: &Scene) -> Option<Hint> {
        match seen {
            Seen::Request(_) => self.look_ups = 0,
            Seen::Call(CallSeen { tool, arguments, error: None, .. }) if *tool == TODO_WRITE => {
                if arguments.contains("\"findings\":[\"") {
                    self.look_ups = 0;
                }
            }
            Seen::Call(CallSeen { tool, error: None, .. }) if LOOK_UPS.contains(tool) => self.look_ups += 1,
            Seen::Call(_) | Seen::Words(_) | Seen::End(_) => return None,
        }
        if self.look_ups < EVERY || !scene.has_todos {
            return None;
        }
        self.look_ups = 0;
        Some(Hint::Tell(format!(
            "You looked up {EVERY} things since you last wrote something down. What you will need later belongs into \
             the findings of {TODO_WRITE}, a sentence each with where it comes from."
        )))
    }
}

#[cfg(test)]
mod tests {
    use super::super::guard::{Failure, Scene};
    use super::*;
    use neco_proto::{ErrorCode, Mode};
    use neco_safety::SideEffect;

    fn call(tool: &'static str, arguments: &str, failed: bool) -> Seen<'static> {
        Seen::Call(CallSeen {
            tool,
            arguments: arguments.to_owned(),
            target: String::new(),
            touch: SideEffect::Network,
            is_first: true,
            error: failed.then_some(Failure::Code(ErrorCode::ToolFailed)),
            output: "",
        })
    }

    #[test]
    fn every_second_look_up_that_gave_something_is_followed_by_a_reminder() {
        type Look = (&'static str, &'static str, bool);
        let noted = "{\"findings\":[\"a\"],\"todos\":[]}";
        let table: &[(&[Look], usize)] = &[
            (&[("web_fetch", "", false)], 0),
            (&[("web_fetch", "", false), ("web_search", "", false)], 1),
            (&[("web_fetch", "", false), ("read_file", "", false), ("code_search", "", false)], 1),
            (&[("web_fetch", "", false), ("web_fetch", "", true)], 0),
            (&[("web_fetch", "", false), ("todo_write", noted, false), ("web_fetch", "", false)], 0),
            (&[("web_fetch", "", false), ("todo_write", "{\"findings\":[]}", false), ("web_fetch", "", false)], 1),
            (&[("web_fetch", "", false); 4], 2),
            (&[("grep", "", false); 6], 0),
        ];
        for (calls, reminders) in table {
            let scene = Scene { mode: Mode::Agent, can_ask: true, has_todos: true, can_plan: true };
            let mut guard = Findings::default();
            let count = calls
                .iter()
                .filter(|(tool, args, failed)| guard.watch(&call(tool, args, *failed), &scene).is_some())
                .count();
            assert_eq!(count, *reminders, "{calls:?}");
        }
        let scene = Scene { mode: Mode::Agent, can_ask: true, has_todos: false, can_plan: true };
        let mut guard = Findings::default();
        assert!((0..4).all(|_| guard.watch(&call("web_fetch", "", false), &scene).is_none()), "nowhere to write");
    }
}
