//! The list, the plan and the findings of one agent together.

use neco_proto::event::{PlanUpdate, TodoUpdate};
use neco_proto::{EventBody, Plan, PlanStatus, PlanStep, Todo, TodoStatus};
use neco_toolkit::{TodoChange, ToolError};

use super::todos::Todos;

/// Findings that are kept; older ones go.
const FINDINGS: usize = 60;
/// Characters of a finding.
const LONGEST: usize = 600;

/// How far the work has come.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Progress {
    /// What is left to do, in order.
    pub open: Vec<String>,
    /// How much is done.
    pub done: usize,
}

/// The list, the plan and the findings of one agent.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PlanBook {
    todos: Todos,
    plan: Option<Plan>,
    findings: Vec<String>,
}

impl PlanBook {
    /// A book as the log has it.
    pub fn new(todos: Vec<Todo>, plan: Option<Plan>, findings: Vec<String>) -> Self {
        Self { todos: Todos::new(todos), plan, findings }
    }

    /// The todo list.
    pub fn todos(&self) -> &[Todo] {
        self.todos.items()
    }

    /// What was found out.
    pub fn findings(&self) -> &[String] {
        &self.findings
    }

    /// Changes the list, and ticks off the steps of the plan that are done with it. Gives the events,
    /// and what had to be put right in the list.
    /// The error is what is wrong and what to do about it; nothing is changed then.
    pub fn write_todos(&mut self, change: &TodoChange) -> Result<(Vec<EventBody>, Vec<String>), ToolError> {
        let (todos, notes) = self.todos.changed(change)?;
        let mut events = Vec::new();
        if todos != self.todos {
            self.todos = todos;
            events.push(self.todo_update());
        }
        if self.tick_off() {
            events.push(self.plan_update());
        }
        Ok((events, notes))
    }

    /// Keeps what was found out. Gives the events.
    pub fn note(&mut self, findings: &[String]) -> Vec<EventBody> {
        let before = self.findings.clone();
        for finding in findings.iter().map(|finding| finding.trim()).filter(|finding| !finding.is_empty()) {
            let finding: String = finding.chars().take(LONGEST).collect();
            if !self.findings.contains(&finding) {
                self.findings.push(finding);
            }
        }
        let older = self.findings.len().saturating_sub(FINDINGS);
        self.findings.drain(..older);
        if self.findings == before { Vec::new() } else { vec![self.plan_update()] }
    }

    /// A plan becomes the plan. One that is carried out gives the list its todos. Gives the events.
    pub fn settle(&mut self, text: &str, status: PlanStatus) -> Vec<EventBody> {
        self.take(Plan { text: text.to_owned(), status, steps: steps(text), unseen: false })
    }

    /// A plan that nobody saw is carried out all the same. Gives the events.
    pub fn settle_unseen(&mut self, text: &str) -> Vec<EventBody> {
        self.take(Plan { text: text.to_owned(), status: PlanStatus::Accepted, steps: steps(text), unseen: true })
    }

    fn take(&mut self, mut plan: Plan) -> Vec<EventBody> {
        let mut events = Vec::new();
        if plan.is_unfinished() && !plan.steps.is_empty() {
            let todo = |step: &PlanStep| Todo {
                id: step.id.clone(),
                text: step.text.clone(),
                status: if step.done { TodoStatus::Completed } else { TodoStatus::Pending },
                parent: None,
            };
            self.todos = Todos::new(plan.steps.iter().map(todo).collect());
            events.push(self.todo_update());
            if plan.steps.iter().all(|step| step.done) {
                plan.status = PlanStatus::Finished;
            }
        }
        self.plan = Some(plan);
        events.insert(0, self.plan_update());
        events
    }

    /// The work is done. A plan whose steps can't be told apart is done with it, and so is one that nobody saw and of
    /// which no step was ever ticked off: nobody waits for its rest.
    pub fn end_work(&mut self) -> Vec<EventBody> {
        match &mut self.plan {
            Some(plan) if plan.is_unfinished() && (plan.steps.is_empty() || is_untouched(plan)) => {
                plan.status = PlanStatus::Finished;
                vec![self.plan_update()]
            }
            Some(_) | None => Vec::new(),
        }
    }

    /// How far the work has come: by the plan that is carried out, or else by the list.
    pub fn progress(&self) -> Progress {
        if let Some(plan) = self.plan.as_ref().filter(|plan| plan.is_unfinished() && !plan.steps.is_empty()) {
            let open = plan.steps.iter().filter(|step| !step.done).map(|step| step.text.clone()).collect();
            return Progress { open, done: plan.steps.iter().filter(|step| step.done).count() };
        }
        let todos = self.todos.items();
        let is_whole = |todo: &Todo| todos.iter().any(|other| other.parent.as_ref() == Some(&todo.id));
        let leaves = || todos.iter().filter(|todo| !is_whole(todo));
        Progress {
            open: leaves().filter(|todo| !todo.status.is_closed()).map(|todo| todo.text.clone()).collect(),
            done: leaves().filter(|todo| todo.status.is_closed()).count(),
        }
    }

    /// The list as the model reads it.
    pub fn list_text(&self) -> String {
        let items = self.todos.items();
        if items.is_empty() {
            return "The todo list is empty.".to_owned();
        }
        let done = items.iter().filter(|todo| todo.status.is_closed()).count();
        let line = |(depth, todo): (usize, &Todo)| {
            format!("{}{} {}: {}", "  ".repeat(depth), mark(todo.status), todo.id, todo.text)
        };
        let lines: Vec<String> = Todo::outline(items).into_iter().map(line).collect();
        format!("Todos ({done} of {} closed):\n{}", items.len(), lines.join("\n"))
    }

    /// Everything that has to outlive a conversation that is made shorter; nothing when there is nothing.
    pub fn text(&self) -> Option<String> {
        let mut parts = Vec::new();
        if let Some(plan) = self.plan.as_ref().filter(|plan| plan.is_unfinished()) {
            let whose =
                if plan.unseen { "Your plan, which no user has seen" } else { "The plan that the user accepted" };
            parts.push(format!("{whose}:\n{}", plan.text.trim()));
        }
        if !self.todos.items().is_empty() {
            parts.push(self.list_text());
        }
        if !self.findings.is_empty() {
            parts.push(findings_text(&self.findings));
        }
        (!parts.is_empty()).then(|| parts.join("\n\n"))
    }

    /// Ticks off what is completed in the list. A todo stands for a step when it has its id and still says
    /// the same: lists that were written anew count from one again. Says whether anything changed.
    fn tick_off(&mut self) -> bool {
        let todos = self.todos.items();
        let is_done = |step: &PlanStep| {
            let mut same = todos.iter().filter(|todo| todo.id == step.id && is_alike(&todo.text, &step.text));
            same.any(|todo| todo.status == TodoStatus::Completed)
        };
        let Some(plan) = self.plan.as_mut().filter(|plan| plan.is_unfinished()) else { return false };
        let mut changed = false;
        for step in plan.steps.iter_mut().filter(|step| !step.done && is_done(step)) {
            step.done = true;
            changed = true;
        }
        if changed && plan.steps.iter().all(|step| step.done) {
            plan.status = PlanStatus::Finished;
        }
        changed
    }

    fn todo_update(&self) -> EventBody {
        EventBody::TodoUpdate(TodoUpdate { todos: self.todos.items().to_vec() })
    }

    fn plan_update(&self) -> EventBody {
        EventBody::PlanUpdate(PlanUpdate { plan: self.plan.clone(), findings: self.findings.clone(), by: None })
    }
}

/// Whether one text is the other said a little differently: more than half of the words of the shorter one
/// are in both.
fn is_alike(one: &str, other: &str) -> bool {
    let words = |text: &str| -> Vec<String> {
        let lower = text.to_lowercase();
        let words: Vec<String> = lower
            .split(|char: char| !char.is_alphanumeric())
            .filter(|word| !word.is_empty())
            .map(str::to_owned)
            .collect();
        // What is written without blanks is compared sign by sign.
        if words.len() > 1 { words } else { lower.chars().map(String::from).collect() }
    };
    let (one, other) = (words(one), words(other));
    let (few, many) = if one.len() < other.len() { (one, other) } else { (other, one) };
    let shared = few.iter().filter(|word| many.contains(word)).count();
    few == many || shared * 2 > few.len()
}

/// Findings as the model reads them.
fn findings_text(findings: &[String]) -> String {
    let lines: Vec<String> = findings.iter().map(|finding| format!("- {finding}")).collect();
    format!("Found out so far:\n{}", lines.join("\n"))
}

fn mark(status: TodoStatus) -> &'static str {
    match status {
        TodoStatus::Pending => "[ ]",
        TodoStatus::InProgress => "[>]",
        TodoStatus::Completed => "[x]",
        TodoStatus::Cancelled => "[-]",
    }
}

fn is_untouched(plan: &Plan) -> bool {
    plan.unseen && plan.steps.iter().all(|step| !step.done)
}

/// Steps that are told apart.
const MOST: usize = 50;
/// Characters of a step's text.
const LONGEST_STEP: usize = 200;

/// Words in a heading above what is not to be done.
const ASIDE: &[&str] =
    &["question", "decide", "decision", "risk", "alternative", "out of scope", "note", "问题", "待定", "风险", "决定"];

/// The steps of a plan: its outermost numbered items, or its checkboxes where nothing is numbered, or
/// else its outermost bullets. What stands in code or under a heading of questions is no step.
pub fn steps(plan: &str) -> Vec<PlanStep> {
    let lines = lines(plan);
    let kinds: [fn(&str) -> Option<&str>; 3] = [numbered, checkbox, bullet];
    let found = kinds.iter().map(|kind| of_kind(&lines, *kind)).find(|found| !found.is_empty()).unwrap_or_default();
    let step = |(index, (done, text)): (usize, (bool, String))| PlanStep { id: (index + 1).to_string(), text, done };
    found.into_iter().take(MOST).enumerate().map(step).collect()
}

/// The lines that may be steps.
fn lines(plan: &str) -> Vec<&str> {
    let (mut in_code, mut aside) = (false, false);
    let mut lines = Vec::new();
    for line in plan.lines() {
        if line.trim_start().starts_with("```") {
            in_code = !in_code;
        } else if !in_code && line.starts_with('#') {
            let heading = line.to_lowercase();
            aside = ASIDE.iter().any(|word| heading.contains(word));
        } else if !in_code && !aside {
            lines.push(line);
        }
    }
    lines
}

/// What is to be done and whether it is.
fn of_kind(lines: &[&str], kind: fn(&str) -> Option<&str>) -> Vec<(bool, String)> {
    let indent = |line: &str| line.len() - line.trim_start().len();
    let items = || lines.iter().filter_map(|line| Some((indent(line), kind(line.trim_start())?)));
    let outermost = items().map(|(indent, _)| indent).min().unwrap_or_default();
    items()
        .filter(|(indent, _)| *indent == outermost)
        .map(|(_, text)| match checkbox_text(text) {
            Some((done, text)) => (done, plain(text)),
            None => (false, plain(text)),
        })
        .filter(|(_, text)| !text.is_empty())
        .collect()
}

/// `1. text` or `1) text`, with a checkbox or without.
fn numbered(line: &str) -> Option<&str> {
    let rest = line.trim_start_matches(|char: char| char.is_ascii_digit());
    let after = rest.strip_prefix(". ").or_else(|| rest.strip_prefix(") ")).or_else(|| rest.strip_prefix('、'))?;
    (rest.len() < line.len()).then_some(after)
}

fn checkbox(line: &str) -> Option<&str> {
    bullet(line).filter(|text| checkbox_text(text).is_some())
}

/// Whether the box is ticked, and what stands behind it.
fn checkbox_text(text: &str) -> Option<(bool, &str)> {
    let marks = [("[ ] ", false), ("[x] ", true), ("[X] ", true)];
    marks.iter().find_map(|(mark, done)| Some((*done, text.trim_start().strip_prefix(mark)?)))
}

fn bullet(line: &str) -> Option<&str> {
    ["- ", "* ", "+ "].iter().find_map(|mark| line.strip_prefix(mark))
}

fn plain(text: &str) -> String {
    let text = text.replace("**", "");
    let text = text.trim();
    if text.chars().count() <= LONGEST_STEP {
        return text.to_owned();
    }
    let cut: String = text.chars().take(LONGEST_STEP - 1).collect();
    format!("{}…", cut.trim_end())
}

#[cfg(test)]
mod tests {
    use neco_toolkit::TodoItem;

    use super::*;

    fn set(id: &str, status: TodoStatus) -> TodoItem {
        TodoItem { id: Some(id.to_owned()), status: Some(status), ..TodoItem::default() }
    }

    fn do_step(book: &mut PlanBook, id: &str) -> Vec<EventBody> {
        let items = vec![set(id, TodoStatus::InProgress), set(id, TodoStatus::Completed)];
        book.write_todos(&TodoChange { replace: Some(false), items }).unwrap().0
    }

    #[test]
    fn an_accepted_plan_becomes_the_list_and_is_ticked_off_with_it() {
        let mut book = PlanBook::default();
        let events = book.settle("1. look\n2. change\n", PlanStatus::Accepted);
        assert_eq!(events.iter().map(EventBody::type_name).collect::<Vec<_>>(), ["plan_update", "todo_update"]);
        assert_eq!(book.list_text(), "Todos (0 of 2 closed):\n[ ] 1: look\n[ ] 2: change");
        assert_eq!(do_step(&mut book, "1").len(), 2);
        assert_eq!(book.progress(), Progress { open: vec!["change".to_owned()], done: 1 });
        assert!(book.plan.as_ref().unwrap().is_unfinished());
        do_step(&mut book, "2");
        assert_eq!(book.plan.as_ref().unwrap().status, PlanStatus::Finished);
        assert_eq!(book.text().unwrap(), "Todos (2 of 2 closed):\n[x] 1: look\n[x] 2: change");
    }

    #[test]
    fn another_todo_of_the_same_id_and_a_cancelled_one_tick_nothing_off() {
        let mut book = PlanBook::default();
        book.settle("1. look at the parser\n2. change the parser\n", PlanStatus::Accepted);
        let item = |text: &str| TodoItem { text: Some(text.to_owned()), ..TodoItem::default() };
        let anew = TodoChange { replace: Some(true), items: vec![item("write a letter"), item("post it")] };
        book.write_todos(&TodoChange { replace: Some(true), items: Vec::new() }).unwrap();
        book.write_todos(&anew).unwrap();
        do_step(&mut book, "1");
        assert_eq!(book.plan.as_ref().unwrap().steps.iter().filter(|step| step.done).count(), 0);

        book.settle("1. look at the parser\n2. change the parser\n", PlanStatus::Accepted);
        let cancel = TodoChange { replace: Some(false), items: vec![set("1", TodoStatus::Cancelled)] };
        book.write_todos(&cancel).unwrap();
        assert!(!book.plan.as_ref().unwrap().steps[0].done);
        let said =
            TodoItem { text: Some("Change the parser, carefully".to_owned()), ..set("2", TodoStatus::InProgress) };
        let change = TodoChange { replace: Some(false), items: vec![said, set("2", TodoStatus::Completed)] };
        book.write_todos(&change).unwrap();
        assert!(book.plan.as_ref().unwrap().steps[1].done);
    }

    #[test]
    fn a_plan_that_nobody_saw_is_not_called_accepted() {
        let mut book = PlanBook::default();
        book.settle_unseen("1. look\n2. change");
        assert!(book.plan.as_ref().unwrap().is_unfinished() && book.plan.as_ref().unwrap().unseen);
        let text = book.text().unwrap();
        assert!(text.contains("no user has seen") && !text.contains("accepted"), "{text}");
    }

    #[test]
    fn a_plan_that_nobody_saw_ends_with_the_work_unless_it_was_begun_to_be_ticked_off() {
        let mut book = PlanBook::default();
        book.settle_unseen("1. look\n2. change");
        assert_eq!(book.end_work().len(), 1);
        assert!(!book.plan.as_ref().unwrap().is_unfinished());
        book.settle_unseen("1. look\n2. change");
        do_step(&mut book, "1");
        assert!(book.end_work().is_empty() && book.plan.as_ref().unwrap().is_unfinished());
        book.settle("1. look\n2. change", PlanStatus::Accepted);
        assert!(book.end_work().is_empty(), "a person waits for it");
    }

    #[test]
    fn steps_that_are_ticked_already_are_done() {
        let mut book = PlanBook::default();
        book.settle("- [ ] one\n- [x] two", PlanStatus::Accepted);
        assert_eq!(book.list_text(), "Todos (1 of 2 closed):\n[ ] 1: one\n[x] 2: two");
        assert_eq!(book.progress(), Progress { open: vec!["one".to_owned()], done: 1 });
        do_step(&mut book, "1");
        assert_eq!(book.plan.as_ref().unwrap().status, PlanStatus::Finished);
    }

    #[test]
    fn a_plan_without_steps_ends_with_the_work_and_a_dropped_one_leaves_the_list_alone() {
        let mut book = PlanBook::default();
        book.settle("Just do it.", PlanStatus::Accepted);
        assert!(book.plan.as_ref().unwrap().is_unfinished());
        assert_eq!(book.end_work().len(), 1);
        assert!(book.end_work().is_empty() && !book.plan.as_ref().unwrap().is_unfinished());
        let events = book.settle("1. x", PlanStatus::Dropped);
        assert_eq!((events.len(), book.todos().len()), (1, 0));
    }

    #[test]
    fn findings_are_kept_once_and_not_without_end() {
        let mut book = PlanBook::default();
        let note = |text: &str| vec![text.to_owned()];
        assert_eq!(book.note(&note(" a ")).len(), 1);
        assert!(book.note(&note("a")).is_empty() && book.note(&note(" ")).is_empty());
        for number in 0..100 {
            book.note(&note(&format!("{number}")));
        }
        assert_eq!((book.findings().len(), book.findings()[0].as_str()), (FINDINGS, "40"));
    }

    #[test]
    fn progress_counts_the_parts_and_not_the_whole() {
        let todo = |id: &str, status, parent: Option<&str>| Todo {
            id: id.to_owned(),
            text: id.to_owned(),
            status,
            parent: parent.map(str::to_owned),
        };
        let todos = vec![
            todo("1", TodoStatus::InProgress, None),
            todo("1a", TodoStatus::Completed, Some("1")),
            todo("1b", TodoStatus::Pending, Some("1")),
        ];
        let book = PlanBook::new(todos, None, Vec::new());
        assert_eq!(book.progress(), Progress { open: vec!["1b".to_owned()], done: 1 });
    }

    #[test]
    fn steps_are_found_as_people_write_them() {
        for (plan, expected) in [
            (
                "# Plan\n1. **Look** at a.rs\n   - detail\n2. Change it\n\nThen done.",
                &["Look at a.rs", "Change it"][..],
            ),
            ("1) one\n2) two\n  1) nested", &["one", "two"]),
            ("- [ ] one\n- [x] two\n- a remark", &["one", "two"]),
            ("* one\n* two", &["one", "two"]),
            ("1、看代码\n2、改代码", &["看代码", "改代码"]),
            ("1. one\n```\n2. not a step\n```\n## Open questions\n1. Which?\n## Steps\n2. two", &["one", "two"]),
            ("## Phase 1\n1. a\n## Phase 2\n1. b", &["a", "b"]),
            ("Just do it.", &[]),
            ("", &[]),
        ] {
            let found: Vec<String> = steps(plan).into_iter().map(|step| step.text).collect();
            assert_eq!(found, expected, "{plan}");
        }
    }

    #[test]
    fn steps_are_counted_and_never_too_long() {
        let plan: String = (0..80).map(|number| format!("1. {} {number}\n", "x".repeat(300))).collect();
        let found = steps(&plan);
        assert_eq!((found.len(), found[1].id.as_str()), (MOST, "2"));
        assert!(found.iter().all(|step| step.text.chars().count() <= LONGEST_STEP && !step.done));
    }
}
