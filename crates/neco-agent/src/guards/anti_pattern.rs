//! Anti-pattern: reading on and on. A nudge, never a block. What one answer asks to read together is one
//! reading: to ask for it together is what a model should do.

use neco_proto::Mode;
use neco_safety::SideEffect;

use super::guard::{CallSeen, Guard, Hint, Scene, Seen};
use crate::catalogue::ACTIVATE;
use crate::plan::{ASK_USER, ENTER_PLAN_MODE, EXIT_PLAN_MODE, TODO_WRITE};

/// Reads in a row before anything was written.
const BEFORE: u32 = 5;
/// Reads in a row after something was.
const AFTER: u32 = 10;

/// Counts reads in a row.
#[derive(Default)]
pub(super) struct AntiPattern {
    reads: u32,
    has_written: bool,
    /// Whether a read of the present answer is counted.
    counted: bool,
}

impl Guard for AntiPattern {
    fn watch(&mut self, seen: &Seen<'_>, scene: &Scene) -> Option<Hint> {
        match seen {
            Seen::Request(_) => *self = Self::default(),
            Seen::Call(call) => self.count(call),
            Seen::Words(_) | Seen::End(_) => return None,
        }
        let most = if self.has_written { AFTER } else { BEFORE };
        let active = match scene.mode {
            Mode::Agent | Mode::Debug => true,
            Mode::Ask | Mode::Plan => false,
        };
        if self.reads < most || !active {
            return None;
        }
        self.reads = 0;
        Some(Hint::Warn {
            text: format!(
                "You have read {most} times in a row without doing anything. If you know enough, act or answer; if not, \
                 say what you are still looking for and look for that only."
            ),
            notice: "The agent reads on and on, and was told so",
        })
    }
}

impl AntiPattern {
    fn count(&mut self, call: &CallSeen<'_>) {
        self.counted &= !call.is_first;
        // Nor is it reading to see to other agents.
        let sees_to_others = call.tool.starts_with("agent_") || ["task", "spawn_agent", "report"].contains(&call.tool);
        if sees_to_others || [TODO_WRITE, ASK_USER, ENTER_PLAN_MODE, EXIT_PLAN_MODE, ACTIVATE].contains(&call.tool) {
            return;
        }
        match call.touch {
            // What failed or was refused told it nothing to read.
            SideEffect::Reads | SideEffect::Network if call.error.is_some() => {}
            SideEffect::Reads | SideEffect::Network => {
                self.reads += u32::from(!self.counted);
                self.counted = true;
            }
            SideEffect::Writes => (self.reads, self.has_written) = (0, true),
            SideEffect::Runs => self.reads = 0,
        }
    }
}

#[cfg(test)]
mod tests {
    use neco_proto::ErrorCode;

    use super::super::guard::Failure;
    use super::*;

    fn nudges(touches: &str, mode: Mode) -> Vec<usize> {
        let scene = Scene { mode, can_ask: true, has_todos: true, can_plan: true };
        let mut guard = AntiPattern::default();
        let call = |tool: &'static str, touch| CallSeen {
            tool,
            arguments: String::new(),
            target: String::new(),
            touch,
            is_first: true,
            error: None,
            output: "",
        };
        let seen = |char| match char {
            'r' => Seen::Call(call("read_file", SideEffect::Reads)),
            '+' => Seen::Call(CallSeen { is_first: false, ..call("read_file", SideEffect::Reads) }),
            'f' => {
                let error = Some(Failure::Code(ErrorCode::InvalidArguments));
                Seen::Call(CallSeen { error, ..call("read_file", SideEffect::Reads) })
            }
            't' => Seen::Call(call(TODO_WRITE, SideEffect::Reads)),
            'w' => Seen::Call(call("edit_file", SideEffect::Writes)),
            'x' => Seen::Call(call("bash", SideEffect::Runs)),
            _ => Seen::Request("next"),
        };
        let nudged = |(index, char)| guard.watch(&seen(char), &scene).map(|_| index);
        touches.chars().enumerate().filter_map(nudged).collect()
    }

    #[test]
    fn reading_on_is_nudged_and_nothing_else() {
        for (touches, expected) in [
            ("rrrr", &[][..]),
            ("rrrrr", &[4]),
            ("rrrrrrrrrr", &[4, 9]),
            ("rrrrwrrrrr", &[]),
            ("wrrrrrrrrrr", &[10]),
            ("rrrrxrrrr", &[]),
            ("rrttttrr", &[]),
            ("ffffffffffff", &[]),
            ("rrffrfrr", &[7]),
            ("r++++++++r+++", &[]),
            ("r++r+rr+r", &[8]),
            ("t+t+t+t+t+", &[9]),
            ("wrrrrr|rrrrr", &[11]),
        ] {
            assert_eq!(nudges(touches, Mode::Agent), expected, "{touches}");
        }
        for mode in [Mode::Ask, Mode::Plan] {
            assert!(nudges("rrrrrrrrrrrr", mode).is_empty(), "off in {mode}");
        }
    }
}
