//! Stop check: a model that wants to be done with most of its plan open is told once what is open.

use super::guard::{Guard, Hint, Scene, Seen};

/// Open steps that it may leave.
const OPEN: usize = 3;
/// Plans of so few steps are left alone.
const SMALL: usize = 4;
/// Steps that are named.
const NAMED: usize = 10;

/// Objects once to each request's end.
#[derive(Default)]
pub(super) struct StopCheck {
    objected: bool,
}

impl Guard for StopCheck {
    fn watch(&mut self, seen: &Seen<'_>, _: &Scene) -> Option<Hint> {
        match seen {
            Seen::Request(_) => {
                self.objected = false;
                None
            }
            Seen::End(progress) => {
                let (open, done) = (progress.open.len(), progress.done);
                let unfinished = open > OPEN && open + done > SMALL && done < open;
                if !unfinished || std::mem::replace(&mut self.objected, true) {
                    return None;
                }
                let mut named: Vec<String> = progress.open.iter().take(NAMED).map(|step| format!("- {step}")).collect();
                if open > NAMED {
                    named.push(format!("- and {} more", open - NAMED));
                }
                Some(Hint::Hold(format!(
                    "{open} of {} steps are open:\n{}\nGo on with them. If they are done or not needed, say so in the todo \
                     list; if you need the user, say what for. You are told this once.",
                    open + done,
                    named.join("\n")
                )))
            }
            Seen::Call(_) | Seen::Words(_) => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use neco_proto::Mode;

    use super::*;
    use crate::plan::Progress;

    const SCENE: Scene = Scene { mode: Mode::Agent, can_ask: true, has_todos: true };

    fn progress(open: usize, done: usize) -> Progress {
        Progress { open: (0..open).map(|number| format!("step {number}")).collect(), done }
    }

    #[test]
    fn the_table_of_plans_that_may_stop() {
        for (open, done, objects) in [
            (0, 0, false),
            (0, 9, false),
            (3, 0, false),
            (4, 0, false),
            (4, 1, true),
            (5, 0, true),
            (5, 4, true),
            (5, 5, false),
            (4, 4, false),
            (3, 2, false),
            (20, 3, true),
        ] {
            let hint = StopCheck::default().watch(&Seen::End(&progress(open, done)), &SCENE);
            assert_eq!(hint.is_some(), objects, "{open} open, {done} done");
        }
    }

    #[test]
    fn it_objects_once_a_request_and_names_what_is_open() {
        let mut guard = StopCheck::default();
        let plan = progress(12, 0);
        let Some(Hint::Hold(text)) = guard.watch(&Seen::End(&plan), &SCENE) else { panic!("no objection") };
        assert!(text.starts_with("12 of 12 steps are open:\n- step 0\n") && text.contains("- and 2 more"), "{text}");
        assert_eq!(guard.watch(&Seen::End(&plan), &SCENE), None);
        guard.watch(&Seen::Request("and now"), &SCENE);
        assert!(guard.watch(&Seen::End(&plan), &SCENE).is_some());
    }
}
