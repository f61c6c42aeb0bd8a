//! What the agent means to do, as lines: its todo list, its plan, its mode.

use neco_proto::event::ModeChange;
use neco_proto::{PlanStatus, Todo, TodoStatus};

use crate::figures;
use crate::paint::colour::Paint;
use crate::paint::wrap::fitting;
use crate::reduce::block::Planned;
use neco_proto::clean::clean_line;

/// Todos that are shown; of more the closed ones are summed up.
const SHOWN: usize = 12;
/// Columns of a todo.
const WIDEST: usize = 100;

/// The todo list: a heading and a line each.
pub fn todos(todos: &[Todo], paint: Paint) -> Vec<String> {
    let closed = todos.iter().filter(|todo| todo.status.is_closed()).count();
    let how_many = if todos.is_empty() { "cleared".to_owned() } else { format!("{closed} of {}", todos.len()) };
    let mut lines = vec![format!("  {} {}", paint.bold("todos"), paint.dim(&how_many))];
    let all = Todo::outline(todos);
    let closed = all.iter().filter(|(_, todo)| todo.status.is_closed() && all.len() > SHOWN);
    let hidden: Vec<&str> = closed.map(|(_, todo)| todo.id.as_str()).collect();
    if !hidden.is_empty() {
        lines.push(paint.dim(&format!("  ✓ {} above", figures::count(hidden.len() as u64, "closed todo"))));
    }
    let open: Vec<&(usize, &Todo)> = all.iter().filter(|(_, todo)| !hidden.contains(&todo.id.as_str())).collect();
    lines.extend(open.iter().take(SHOWN).map(|(depth, todo)| todo_line(*depth, todo, paint)));
    if open.len() > SHOWN {
        lines.push(paint.dim(&format!("  … {} more", open.len() - SHOWN)));
    }
    lines
}

/// What became of the plan, or what was found out; the plan itself was shown when it was asked about.
pub fn planned(planned: &Planned, paint: Paint) -> Vec<String> {
    let found = planned.found.iter().map(|finding| paint.dim(&format!("  ✎ {}", clean_line(finding))));
    let mut lines: Vec<String> = found.collect();
    if let Some(plan) = planned.plan.as_ref().filter(|_| lines.is_empty()) {
        let done = plan.steps.iter().filter(|step| step.done).count();
        let line = match plan.status {
            PlanStatus::Accepted if done == 0 && plan.unseen => {
                let plan_of = match plan.steps.len() as u64 {
                    0 => "a plan".to_owned(),
                    count => format!("a plan of {}", figures::count(count, "step")),
                };
                lines.push(
                    paint.yellow(&format!("! {plan_of} is carried out without approval: nobody can be asked here")),
                );
                // The list shows its steps; one without any is shown as it is.
                let text = plan.text.trim().lines().filter(|_| plan.steps.is_empty()).take(SHOWN);
                lines.extend(text.map(|line| paint.dim(&format!("  {}", clean_line(line)))));
                return lines;
            }
            PlanStatus::Accepted if plan.steps.is_empty() => paint.green("✓ plan accepted"),
            PlanStatus::Accepted if done == 0 => {
                paint.green(&format!("✓ plan accepted: {}", figures::count(plan.steps.len() as u64, "step")))
            }
            // The list shows how far it is.
            PlanStatus::Accepted => return lines,
            PlanStatus::Finished => paint.green("✓ plan finished"),
            PlanStatus::SentBack => paint.yellow("↺ plan: changes requested"),
            PlanStatus::Dropped => paint.yellow("⊘ plan dropped"),
            PlanStatus::Proposed => paint.dim("i nobody can approve the plan here; it is the answer"),
        };
        lines.push(line);
    }
    lines
}

/// A mode that the agent chose itself; the person knows what they chose.
pub fn mode_change(change: &ModeChange, paint: Paint) -> Option<String> {
    let (mode, reason) = (change.mode?, change.reason.as_ref()?);
    let approval = change.approval.map(|approval| format!(", approval {approval}")).unwrap_or_default();
    Some(paint.dim(&format!("i now in {mode} mode{approval}: {}", clean_line(reason))))
}

fn todo_line(depth: usize, todo: &Todo, paint: Paint) -> String {
    let indent = "  ".repeat(depth + 1);
    let text = fitting(&clean_line(&todo.text), WIDEST);
    match todo.status {
        TodoStatus::Pending => format!("{indent}○ {text}"),
        TodoStatus::InProgress => format!("{indent}{} {}", paint.cyan("▸"), paint.bold(&text)),
        TodoStatus::Completed => format!("{indent}{} {}", paint.green("✓"), paint.dim(&text)),
        TodoStatus::Cancelled => paint.dim(&format!("{indent}– {text}")),
    }
}

#[cfg(test)]
mod tests {
    use neco_proto::{Plan, PlanStep};

    use super::*;

    fn todo(id: &str, status: TodoStatus, parent: Option<&str>) -> Todo {
        Todo { id: id.to_owned(), text: format!("step {id}"), status, parent: parent.map(str::to_owned) }
    }

    #[test]
    fn a_list_is_drawn_with_its_parts() {
        let list = [
            todo("1", TodoStatus::Completed, None),
            todo("2", TodoStatus::InProgress, None),
            todo("3", TodoStatus::Cancelled, None),
            todo("2a", TodoStatus::Pending, Some("2")),
        ];
        let expected = ["  todos 2 of 4", "  ✓ step 1", "  ▸ step 2", "    ○ step 2a", "  – step 3"];
        assert_eq!(todos(&list, Paint::default()), expected);
    }

    #[test]
    fn a_long_list_shows_what_is_open() {
        let status = |number| if number < 20 { TodoStatus::Completed } else { TodoStatus::Pending };
        let list: Vec<Todo> = (0..40).map(|number| todo(&number.to_string(), status(number), None)).collect();
        let lines = todos(&list, Paint::default());
        assert_eq!((lines.len(), lines[1].as_str()), (15, "  ✓ 20 closed todos above"));
        assert_eq!((lines[2].as_str(), lines[14].as_str()), ("  ○ step 20", "  … 8 more"));
    }

    #[test]
    fn what_became_of_a_plan_is_one_line_and_news_are_told_once() {
        let step = |done| PlanStep { id: "1".to_owned(), text: "a".to_owned(), done };
        let plan =
            |status, done| Plan { text: String::new(), status, steps: vec![step(done), step(false)], unseen: false };
        let lines =
            |status, done| planned(&Planned { plan: Some(plan(status, done)), found: Vec::new() }, Paint::default());
        assert_eq!(lines(PlanStatus::Accepted, false), ["✓ plan accepted: 2 steps"]);
        assert!(lines(PlanStatus::Accepted, true).is_empty());
        assert_eq!(lines(PlanStatus::Dropped, false), ["⊘ plan dropped"]);
        let found = Planned { plan: None, found: vec!["it is\nso \u{1b}[1m".to_owned()] };
        assert_eq!(planned(&found, Paint::default()), ["  ✎ it is so"]);
    }
}
