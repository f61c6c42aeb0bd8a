//! The todo list: what may become of a todo, and of the list as a whole.

use neco_proto::{Todo, TodoStatus};
use neco_toolkit::{TodoChange, TodoItem};

/// Todos that a list may hold.
const MOST: usize = 100;
/// Characters of a todo's text.
const LONGEST: usize = 500;
/// How deep todos nest.
const DEEPEST: usize = 5;
/// Mistakes of one change that are told.
const TOLD: usize = 5;

/// The todo list.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Todos {
    items: Vec<Todo>,
}

impl Todos {
    /// A list as it was kept.
    #[must_use]
    pub fn new(items: Vec<Todo>) -> Self {
        Self { items }
    }

    /// The todos, in order.
    #[must_use]
    pub fn items(&self) -> &[Todo] {
        &self.items
    }

    /// The list after a change: all of it or nothing.
    ///
    /// # Errors
    /// What is wrong and what to do about it, for the model.
    pub fn changed(&self, change: &TodoChange) -> Result<Self, String> {
        let mut list = self.clone();
        let mut named = Vec::new();
        let mut mistakes = Vec::new();
        for item in &change.items {
            match list.change(item) {
                Ok(id) => named.push(id),
                Err(mistake) => mistakes.push(mistake),
            }
        }
        if change.replace {
            list.keep_only(&named);
        }
        mistakes.extend(list.mistakes());
        if mistakes.is_empty() {
            return Ok(list);
        }
        let more = mistakes.len().saturating_sub(TOLD);
        mistakes.truncate(TOLD);
        if more > 0 {
            mistakes.push(format!("and {more} more"));
        }
        Err(format!("nothing was changed: {}", mistakes.join("; ")))
    }

    fn change(&mut self, item: &TodoItem) -> Result<String, String> {
        let text = item.text.as_deref().map(str::trim).filter(|text| !text.is_empty());
        if let Some(text) = text.filter(|text| text.chars().count() > LONGEST) {
            let start: String = text.chars().take(40).collect();
            return Err(format!("the text {start:?}… is longer than {LONGEST} characters: shorten it"));
        }
        match self.position(item.id.as_deref(), text) {
            Some(at) => self.change_known(at, item, text),
            None => self.add(item, text),
        }
    }

    fn change_known(&mut self, at: usize, item: &TodoItem, text: Option<&str>) -> Result<String, String> {
        let Some(todo) = self.items.get_mut(at) else { return Err("the todo is gone".to_owned()) };
        let status = item.status.unwrap_or(todo.status);
        may_become(todo, status)?;
        todo.status = status;
        if let Some(text) = text {
            text.clone_into(&mut todo.text);
        }
        if let Some(parent) = &item.parent {
            todo.parent = Some(parent.trim().to_owned()).filter(|parent| !parent.is_empty());
        }
        Ok(todo.id.clone())
    }

    fn add(&mut self, item: &TodoItem, text: Option<&str>) -> Result<String, String> {
        let id = match item.id.as_deref().map(str::trim).filter(|id| !id.is_empty()) {
            Some(id) if id.chars().count() <= 40 => id.to_owned(),
            Some(_) => return Err("an id is longer than 40 characters: use a short one".to_owned()),
            None => self.free_id(),
        };
        let Some(text) = text else {
            return Err(format!("there is no todo {id:?} and it has no text: use an id of the list, or give a text"));
        };
        let status = item.status.unwrap_or_default();
        let todo = Todo { id, text: text.to_owned(), status: TodoStatus::Pending, parent: item.parent.clone() };
        may_become(&todo, status)?;
        let id = todo.id.clone();
        self.items.push(Todo { status, ..todo });
        Ok(id)
    }

    /// The todo that is meant: by its id, or an open one by its text.
    fn position(&self, id: Option<&str>, text: Option<&str>) -> Option<usize> {
        match id.map(str::trim).filter(|id| !id.is_empty()) {
            Some(id) => self.items.iter().position(|todo| todo.id == id),
            None => {
                let text = text?;
                let open = self.items.iter().position(|todo| todo.text == text && !todo.status.is_closed());
                open.or_else(|| self.items.iter().position(|todo| todo.text == text))
            }
        }
    }

    fn free_id(&self) -> String {
        let taken = |id: &String| self.items.iter().any(|todo| todo.id == *id);
        (1..).map(|number: usize| number.to_string()).find(|id| !taken(id)).unwrap_or_default()
    }

    fn keep_only(&mut self, named: &[String]) {
        let place = |todo: &Todo| named.iter().position(|id| *id == todo.id);
        self.items.retain(|todo| place(todo).is_some());
        self.items.sort_by_key(place);
    }

    /// What is wrong with the list as a whole.
    fn mistakes(&self) -> Vec<String> {
        let mut mistakes = Vec::new();
        if self.items.len() > MOST {
            mistakes.push(format!("the list would have {} todos, {MOST} are the most: sum some up", self.items.len()));
        }
        for todo in &self.items {
            mistakes.extend(self.misplaced(todo));
        }
        if mistakes.is_empty() {
            mistakes.extend(self.too_many_in_progress());
        }
        mistakes
    }

    fn misplaced(&self, todo: &Todo) -> Option<String> {
        let Some(parent) = &todo.parent else { return None };
        let Some(above) = self.find(parent) else {
            return Some(format!("the parent {parent:?} of todo {:?} is not in the list: add it first", todo.id));
        };
        if self.ancestors(todo).count() > DEEPEST {
            return Some(format!("todo {:?} is its own parent, or nests deeper than {DEEPEST}", todo.id));
        }
        if above.status.is_closed() && !todo.status.is_closed() {
            return Some(format!(
                "todo {parent:?} is {} while its part {:?} is {}: close the parts first",
                above.status, todo.id, todo.status
            ));
        }
        None
    }

    /// What is above the one thing in progress may be in progress too.
    fn too_many_in_progress(&self) -> Option<String> {
        let busy: Vec<&Todo> = self.items.iter().filter(|todo| todo.status == TodoStatus::InProgress).collect();
        let is_above = |one: &Todo| busy.iter().any(|other| self.ancestors(other).any(|above| above.id == one.id));
        let ends: Vec<String> =
            busy.iter().filter(|todo| !is_above(todo)).map(|todo| format!("{:?}", todo.id)).collect();
        (ends.len() > 1).then(|| {
            format!(
                "{} would be in_progress at once, and one is the most: complete one, or set it back to pending",
                ends.join(" and ")
            )
        })
    }

    fn find(&self, id: &str) -> Option<&Todo> {
        self.items.iter().find(|todo| todo.id == id)
    }

    /// What a todo is a part of, from the nearest; ends where it would go round in circles.
    fn ancestors<'a>(&'a self, todo: &'a Todo) -> impl Iterator<Item = &'a Todo> {
        let above = |todo: &&'a Todo| todo.parent.as_deref().and_then(|parent| self.find(parent));
        std::iter::successors(above(&todo), above).take(DEEPEST + 1)
    }
}

/// The table of transitions.
fn may_become(todo: &Todo, to: TodoStatus) -> Result<(), String> {
    use TodoStatus::{Cancelled, Completed, InProgress, Pending};
    let id = &todo.id;
    match (todo.status, to) {
        (Pending, Pending | InProgress | Cancelled)
        | (InProgress, InProgress | Completed | Cancelled | Pending)
        | (Completed, Completed)
        | (Cancelled, Cancelled) => Ok(()),
        (Pending, Completed) => Err(format!(
            "todo {id:?} is pending and can't become completed: set it to in_progress when you begin it (it may be \
             named twice in one call)"
        )),
        (Completed | Cancelled, _) => {
            Err(format!("todo {id:?} is {} and stays so: add a new todo for what is left to do", todo.status))
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn item(id: &str, status: TodoStatus) -> TodoItem {
        TodoItem { id: Some(id.to_owned()), text: Some(format!("do {id}")), status: Some(status), parent: None }
    }

    fn change(items: Vec<TodoItem>) -> TodoChange {
        TodoChange { replace: false, items }
    }

    fn list(statuses: &[(&str, TodoStatus, Option<&str>)]) -> Todos {
        let todo = |(id, status, parent): &(&str, TodoStatus, Option<&str>)| Todo {
            id: (*id).to_owned(),
            text: format!("do {id}"),
            status: *status,
            parent: parent.map(str::to_owned),
        };
        Todos::new(statuses.iter().map(todo).collect())
    }

    #[test]
    fn the_table_of_transitions() {
        use TodoStatus::{Cancelled, Completed, InProgress, Pending};
        let all = [Pending, InProgress, Completed, Cancelled];
        let allowed = [
            (Pending, InProgress),
            (Pending, Cancelled),
            (InProgress, Completed),
            (InProgress, Cancelled),
            (InProgress, Pending),
        ];
        for from in all {
            for to in all {
                let result = list(&[("1", from, None)]).changed(&change(vec![item("1", to)]));
                assert_eq!(result.is_ok(), from == to || allowed.contains(&(from, to)), "{from} → {to}: {result:?}");
            }
        }
        let error = list(&[("1", Pending, None)]).changed(&change(vec![item("1", Completed)])).unwrap_err();
        assert!(error.contains("set it to in_progress when you begin it"), "{error}");
        let both = change(vec![item("1", InProgress), item("1", Completed)]);
        assert!(list(&[("1", Pending, None)]).changed(&both).is_ok(), "in one call");
    }

    #[test]
    fn one_is_in_progress_at_a_time_whatever_the_order_of_a_change() {
        use TodoStatus::{Completed, InProgress, Pending};
        let two = list(&[("1", InProgress, None), ("2", Pending, None)]);
        let error = two.changed(&change(vec![item("2", InProgress)])).unwrap_err();
        assert!(error.contains("\"1\" and \"2\" would be in_progress at once"), "{error}");
        for items in [
            vec![item("1", Completed), item("2", InProgress)],
            vec![item("2", InProgress), item("1", Completed)],
            vec![item("1", Pending), item("2", InProgress)],
        ] {
            assert!(two.changed(&change(items)).is_ok());
        }
        let nested = list(&[("1", InProgress, None), ("1a", Pending, Some("1"))]);
        assert!(nested.changed(&change(vec![item("1a", InProgress)])).is_ok(), "what is above it may be too");
    }

    #[test]
    fn parts_are_closed_before_the_whole_and_know_it() {
        use TodoStatus::{Completed, InProgress, Pending};
        let nested = list(&[("1", InProgress, None), ("1a", Pending, Some("1"))]);
        let error = nested.changed(&change(vec![item("1", Completed)])).unwrap_err();
        assert!(error.contains("close the parts first"), "{error}");
        let orphan = TodoItem { parent: Some("9".to_owned()), ..item("2", Pending) };
        assert!(nested.changed(&change(vec![orphan])).unwrap_err().contains("the parent \"9\""));
        let circle = TodoItem { parent: Some("1a".to_owned()), ..item("1", InProgress) };
        assert!(nested.changed(&change(vec![circle])).unwrap_err().contains("its own parent"));
    }

    #[test]
    fn a_wrong_change_changes_nothing_and_names_every_mistake() {
        use TodoStatus::{Completed, Pending};
        let list = list(&[("1", Pending, None)]);
        let error = list
            .changed(&change(vec![item("1", Completed), TodoItem { id: Some("7".to_owned()), ..TodoItem::default() }]))
            .unwrap_err();
        assert!(error.starts_with("nothing was changed: todo \"1\"") && error.contains("no todo \"7\""), "{error}");
    }

    #[test]
    fn a_todo_without_an_id_is_found_by_its_text_or_new() {
        use TodoStatus::{InProgress, Pending};
        let by_text =
            |text: &str, status| TodoItem { text: Some(text.to_owned()), status: Some(status), ..TodoItem::default() };
        let changed = Todos::default().changed(&change(vec![by_text("a", Pending), by_text("b", Pending)])).unwrap();
        let changed = changed.changed(&change(vec![by_text(" b ", InProgress), by_text("c", Pending)])).unwrap();
        let shown: Vec<_> =
            changed.items().iter().map(|todo| (todo.id.as_str(), todo.text.as_str(), todo.status)).collect();
        assert_eq!(shown, [("1", "a", Pending), ("2", "b", InProgress), ("3", "c", Pending)]);
        let replaced =
            changed.changed(&TodoChange { replace: true, items: vec![by_text("c", Pending), by_text("d", Pending)] });
        let ids: Vec<String> = replaced.unwrap().items().iter().map(|todo| todo.id.clone()).collect();
        assert_eq!(ids, ["3", "4"]);
    }

    fn any_status() -> impl Strategy<Value = TodoStatus> {
        prop_oneof![
            Just(TodoStatus::Pending),
            Just(TodoStatus::InProgress),
            Just(TodoStatus::Completed),
            Just(TodoStatus::Cancelled)
        ]
    }

    fn any_change() -> impl Strategy<Value = TodoChange> {
        let item = (
            prop::option::of("[1-6]"),
            prop::option::of("[a-d]"),
            prop::option::of(any_status()),
            prop::option::of("[1-6]"),
        )
            .prop_map(|(id, text, status, parent)| TodoItem { id, text, status, parent });
        (any::<bool>(), prop::collection::vec(item, 0..5)).prop_map(|(replace, items)| TodoChange { replace, items })
    }

    proptest! {
        /// Whatever a model writes, in whatever order: the list stays sane.
        #[test]
        fn any_changes_keep_the_list_sane(changes in prop::collection::vec(any_change(), 0..30)) {
            let mut list = Todos::default();
            for change in changes {
                let Ok(next) = list.changed(&change) else { continue };
                for todo in next.items() {
                    let before = list.find(&todo.id);
                    prop_assert!(before.is_none_or(|before| !before.status.is_closed() || before.status == todo.status));
                    prop_assert!(todo.parent.as_ref().is_none_or(|parent| next.find(parent).is_some()));
                    prop_assert!(next.ancestors(todo).count() <= DEEPEST);
                    prop_assert!(next.items().iter().filter(|other| other.id == todo.id).count() == 1);
                    let parent = todo.parent.as_ref().and_then(|parent| next.find(parent));
                    prop_assert!(parent.is_none_or(|parent| !parent.status.is_closed() || todo.status.is_closed()));
                }
                prop_assert!(next.too_many_in_progress().is_none());
                prop_assert_eq!(Todo::outline(next.items()).len(), next.items().len(), "every todo is shown once");
                list = next;
            }
        }
    }
}
