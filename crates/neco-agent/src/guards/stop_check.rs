//! Stop check: a model that wants to be done with most of its plan open is told once what is open, and one that
//! writes its plan into its answer instead of handing it over is told once how that is done.

use neco_proto::Mode;

use super::guard::{Guard, Hint, Scene, Seen};
use crate::plan::steps;

/// Open steps that it may leave.
const OPEN: usize = 3;
/// Plans of so few steps are left alone.
const SMALL: usize = 4;
/// Steps that are named.
const NAMED: usize = 10;

/// Steps that make an answer a plan.
const PLANNED: usize = 2;

const WORDS: [&str; 5] = ["plan", "step", "计划", "方案", "步骤"];

/// Objects once to each request's end.
#[derive(Default)]
pub(super) struct StopCheck {
    objected: bool,
    /// Whether what was said last reads like a plan.
    planned: bool,
}

impl StopCheck {
    /// A plan that is only said reaches nobody who could accept it.
    fn unhanded(&mut self) -> Option<Hint> {
        if !self.planned {
            return None;
        }
        if std::mem::replace(&mut self.objected, true) {
            return Some(Hint::Note(
                "The plan was written but not submitted, so it is not saved; to carry it out, continue in mode agent",
            ));
        }
        Some(Hint::Hold {
            text: "You are in plan mode, and a plan in your answer can't be accepted. If that was your plan, hand it over \
                   with exit_plan_mode; if it was only an answer, end with one short sentence. You are told this once."
                .to_owned(),
            notice: "The agent said its plan instead of handing it over, and was told how",
        })
    }
}

/// Steps, and a word that says what they are: other lists are answers.
fn reads_like_a_plan(text: &str) -> bool {
    let folded = text.to_lowercase();
    WORDS.iter().any(|word| folded.contains(word)) && steps(text).len() >= PLANNED
}

impl Guard for StopCheck {
    fn watch(&mut self, seen: &Seen<'_>, scene: &Scene) -> Option<Hint> {
        match seen {
            Seen::Request(_) => {
                *self = Self::default();
                None
            }
            Seen::Words(text) => {
                // Once it was told, its steps are its plan, whatever it calls them.
                let planned = reads_like_a_plan(text) || (self.objected && steps(text).len() >= PLANNED);
                self.planned = scene.mode == Mode::Plan && scene.can_plan && planned;
                None
            }
            Seen::End(_) if scene.mode == Mode::Plan => self.unhanded(),
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
                let text = format!(
                    "{open} of {} steps are open:\n{}\nGo on with them. If they are done or not needed, say so in the todo \
                     list; if you need the user, say what for. You are told this once.",
                    open + done,
                    named.join("\n")
                );
                let notice = "Most steps were still open; the agent was told to go on with them";
                Some(Hint::Hold { text, notice })
            }
            Seen::Call(_) => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plan::Progress;

    const SCENE: Scene = Scene { mode: Mode::Agent, can_ask: true, has_todos: true, can_plan: true };

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
        let Some(Hint::Hold { text, .. }) = guard.watch(&Seen::End(&plan), &SCENE) else { panic!("no objection") };
        assert!(text.starts_with("12 of 12 steps are open:\n- step 0\n") && text.contains("- and 2 more"), "{text}");
        assert_eq!(guard.watch(&Seen::End(&plan), &SCENE), None);
        guard.watch(&Seen::Request("and now"), &SCENE);
        assert!(guard.watch(&Seen::End(&plan), &SCENE).is_some());
    }

    #[test]
    fn a_plan_that_stays_with_words_is_told_to_the_person_whatever_it_is_called() {
        let scene = Scene { mode: Mode::Plan, ..SCENE };
        for (again, noted) in [("As I said:\n1. Do this\n2. Do that", true), ("It was only an answer.", false)] {
            let mut guard = StopCheck::default();
            guard.watch(&Seen::Words("My plan:\n1. Do this\n2. Do that"), &scene);
            assert!(matches!(guard.watch(&Seen::End(&progress(0, 0)), &scene), Some(Hint::Hold { .. })));
            guard.watch(&Seen::Words(again), &scene);
            let end = guard.watch(&Seen::End(&progress(0, 0)), &scene);
            assert_eq!(matches!(end, Some(Hint::Note(_))), noted, "{again}");
        }
    }

    #[test]
    fn a_plan_that_is_only_said_is_held_once_in_plan_mode() {
        let plan = "Here is my plan:\n1. Read the parser\n2. Change it\n3. Run the tests";
        for (mode, can_plan, text, held) in [
            (Mode::Plan, true, plan, true),
            (Mode::Plan, true, "计划：\n1. 读\n2. 改", true),
            (Mode::Plan, false, plan, false),
            (Mode::Agent, true, plan, false),
            (Mode::Plan, true, "The files are:\n- a.rs\n- b.rs", false),
            (Mode::Plan, true, "The plan is good.", false),
        ] {
            let scene = Scene { mode, can_plan, ..SCENE };
            let mut guard = StopCheck::default();
            assert_eq!(guard.watch(&Seen::Words(text), &scene), None);
            let first = guard.watch(&Seen::End(&progress(0, 0)), &scene);
            assert_eq!(matches!(first, Some(Hint::Hold { .. })), held, "{mode:?} {text}");
            let again = guard.watch(&Seen::End(&progress(0, 0)), &scene);
            assert_eq!(matches!(again, Some(Hint::Note(_))), held, "the person is told where it went");
        }
    }
}
