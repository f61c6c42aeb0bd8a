//! The todo list: what may become of a todo, and of the list as a whole.

use std::collections::BTreeMap;

use neco_proto::{ErrorCode, Todo, TodoStatus};
use neco_toolkit::{TodoChange, TodoItem, ToolError};

/// Todos that a list may hold.
const MOST: usize = 100;
/// Characters of a todo's text.
const LONGEST: usize = 500;
/// Characters of a todo's id.
const LONGEST_ID: usize = 40;
const DEEPEST: usize = 5;
/// Mistakes of one change that are told.
const TOLD: usize = 5;
/// Todos that are named when they are dropped.
const DROPPED: usize = 10;
/// Characters of each of them.
const DROPPED_TEXT: usize = 60;

/// The todo list.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Todos {
    items: Vec<Todo>,
}

impl Todos {
    /// A list as it was kept.
    pub fn new(items: Vec<Todo>) -> Self {
        Self { items }
    }

    /// The todos, in order.
    pub fn items(&self) -> &[Todo] {
        &self.items
    }

    /// The list after a change, and what had to be put right in it, for the model: all of it or nothing. What can
    /// only be meant in one way is taken as meant.
    /// The error is what is wrong and what to do about it.
    pub fn changed(&self, change: &TodoChange) -> Result<(Self, Vec<String>), ToolError> {
        let mut list = self.clone();
        let mut named = Vec::new();
        let (mut mistakes, mut notes) = (Vec::new(), Vec::new());
        let mut by_text = BTreeMap::new();
        for item in &change.items {
            match list.change(item, &mut by_text, &mut notes) {
                Ok(id) => named.push(id),
                Err(mistake) => mistakes.push(mistake),
            }
        }
        if self.is_replaced_by(change) {
            notes.extend(list.keep_only(&named));
        }
        notes.extend(list.free_parts());
        notes.extend(list.one_in_progress(&named));
        mistakes.extend(list.mistakes());
        if mistakes.is_empty() {
            return Ok((list, notes));
        }
        let mut told: Vec<String> = mistakes.iter().take(TOLD).map(ToString::to_string).collect();
        if mistakes.len() > TOLD {
            told.push(format!("and {} more", mistakes.len() - TOLD));
        }
        Err(ToolError::new(ErrorCode::InvalidArguments, format!("nothing was changed: {}", told.join("; "))))
    }

    /// Whether a change drops what it does not name. Where it does not say so, todos that all have a text are the list,
    /// but not where each of them is one of the list by its id and others are missing: models send what changes with
    /// its text.
    fn is_replaced_by(&self, change: &TodoChange) -> bool {
        let id = |item: &TodoItem| item.id.as_deref().map(str::trim).map(str::to_owned);
        let ids: Vec<Option<String>> = change.items.iter().map(id).collect();
        let is_known = |id: &Option<String>| id.as_deref().is_some_and(|id| self.find(id).is_some());
        let misses_some = self.items.iter().any(|todo| !ids.iter().flatten().any(|id| *id == todo.id));
        let is_part = ids.iter().all(is_known) && misses_some;
        let has_text = |item: &TodoItem| item.text.as_deref().is_some_and(|text| !text.trim().is_empty());
        change.replace.unwrap_or_else(|| !is_part && change.items.iter().all(has_text))
    }

    /// Makes one todo what a change says. `by_text` has the ids of todos that the change named by their texts, as they
    /// were written: texts that are cut may be the same then, and are two todos all the same.
    fn change<'a>(
        &mut self,
        item: &'a TodoItem,
        by_text: &mut BTreeMap<&'a str, String>,
        notes: &mut Vec<String>,
    ) -> Result<String, Mistake> {
        let given = item.id.as_deref().map(str::trim).filter(|id| !id.is_empty());
        let text = item.text.as_deref().map(str::trim).filter(|text| !text.is_empty());
        let short = text.map(|text| shortened(text, LONGEST));
        if let Some(short) = short.as_ref().filter(|short| Some(short.as_str()) != text) {
            let start: String = short.chars().take(40).collect();
            notes.push(format!("the text {start:?}… was longer than {LONGEST} characters and was cut"));
        }
        let at = match (given, text, &short) {
            (Some(id), _, _) => self.items.iter().position(|todo| todo.id == id),
            (None, Some(text), Some(short)) => self.position_by_text(text, short, by_text),
            (None, _, _) => None,
        };
        let id = match at.and_then(|at| self.items.get_mut(at)) {
            Some(todo) => change_known(todo, item, short.as_deref()),
            None => self.add(given, item, short.as_deref())?,
        };
        if let (None, Some(text)) = (given, text) {
            by_text.insert(text, id.clone());
        }
        Ok(id)
    }

    fn add(&mut self, id: Option<&str>, item: &TodoItem, text: Option<&str>) -> Result<String, Mistake> {
        // Two ids may begin alike, so none is cut.
        if let Some(id) = id.filter(|id| id.chars().count() > LONGEST_ID) {
            return Err(Mistake::LongId { start: shortened(id, LONGEST_ID) });
        }
        let id = id.map_or_else(|| self.free_id(), str::to_owned);
        let Some(text) = text else { return Err(Mistake::NoText { id }) };
        let parent = item.parent.as_deref().map(str::trim).filter(|parent| !parent.is_empty()).map(str::to_owned);
        let status = item.status.unwrap_or_default();
        self.items.push(Todo { id: id.clone(), text: text.to_owned(), status, parent });
        Ok(id)
    }

    /// The todo that a text means: the one that the change named so before, or an open one that it did not name yet.
    fn position_by_text(&self, text: &str, short: &str, by_text: &BTreeMap<&str, String>) -> Option<usize> {
        if let Some(known) = by_text.get(text) {
            return self.items.iter().position(|todo| todo.id == *known);
        }
        let fits = |todo: &Todo| todo.text == short && !by_text.values().any(|named| *named == todo.id);
        let open = self.items.iter().position(|todo| fits(todo) && !todo.status.is_closed());
        open.or_else(|| self.items.iter().position(fits))
    }

    fn free_id(&self) -> String {
        let taken = |id: &String| self.items.iter().any(|todo| todo.id == *id);
        (1..).map(|number: usize| number.to_string()).find(|id| !taken(id)).unwrap_or_default()
    }

    /// Drops what is not named; says what that is.
    fn keep_only(&mut self, named: &[String]) -> Option<String> {
        let place = |todo: &Todo| named.iter().position(|id| *id == todo.id);
        let dropped: Vec<Todo> = self.items.extract_if(.., |todo| place(todo).is_none()).collect();
        self.items.sort_by_key(place);
        let first_line = |todo: &Todo| shortened(todo.text.lines().next().unwrap_or_default(), DROPPED_TEXT);
        let shown = dropped.iter().take(DROPPED).map(first_line);
        let mut words = shown.collect::<Vec<_>>().join(", ");
        if dropped.len() > DROPPED {
            words.push_str(&format!(" and {} more", dropped.len() - DROPPED));
        }
        (!dropped.is_empty()).then(|| format!("left out: {words}"))
    }

    /// What is wrong with the list as a whole.
    fn mistakes(&self) -> impl Iterator<Item = Mistake> {
        let count = self.items.len();
        let too_many = (count > MOST).then_some(Mistake::TooMany { count });
        too_many.into_iter().chain(self.items.iter().filter_map(|todo| self.misplaced(todo)))
    }

    /// What is said to be a part of something that is not in the list stands by itself.
    fn free_parts(&mut self) -> Vec<String> {
        let ids: Vec<String> = self.items.iter().map(|todo| todo.id.clone()).collect();
        let mut notes = Vec::new();
        for todo in &mut self.items {
            if let Some(parent) = todo.parent.take_if(|parent| !ids.contains(parent)) {
                notes.push(format!("todo {:?} stands by itself: there is no todo {parent:?} to be a part of", todo.id));
            }
        }
        notes
    }

    /// One is in progress at a time, and what it is a part of: the first that the change names, or else the first.
    fn one_in_progress(&mut self, named: &[String]) -> Vec<String> {
        let busy: Vec<String> = self.busy_ends().into_iter().map(|todo| todo.id.clone()).collect();
        let stays = named.iter().find(|id| busy.contains(id)).or(busy.first()).cloned();
        let (Some(stays), true) = (stays, busy.len() > 1) else { return Vec::new() };
        let above: Vec<String> =
            self.find(&stays).into_iter().flat_map(|todo| self.ancestors(todo)).map(|todo| todo.id.clone()).collect();
        let is_other =
            |todo: &&Todo| todo.status == TodoStatus::InProgress && todo.id != stays && !above.contains(&todo.id);
        let others: Vec<String> = self.items.iter().filter(is_other).map(|todo| todo.id.clone()).collect();
        for todo in self.items.iter_mut().filter(|todo| others.contains(&todo.id)) {
            todo.status = TodoStatus::Pending;
        }
        vec![format!(
            "one todo is in_progress at a time: {stays:?} is, and {} went back to pending; complete it if it is done",
            others.iter().map(|id| format!("{id:?}")).collect::<Vec<_>>().join(", ")
        )]
    }

    fn misplaced(&self, todo: &Todo) -> Option<Mistake> {
        let Some(parent) = &todo.parent else { return None };
        let above = self.find(parent)?;
        if self.ancestors(todo).count() > DEEPEST {
            return Some(Mistake::TooDeep { id: todo.id.clone() });
        }
        if above.status.is_closed() && !todo.status.is_closed() {
            return Some(Mistake::OpenPart { whole: Box::new(above.clone()), part: Box::new(todo.clone()) });
        }
        None
    }

    /// The todos in progress that no other one in progress is a part of: what is above one may be in progress too.
    fn busy_ends(&self) -> Vec<&Todo> {
        let busy: Vec<&Todo> = self.items.iter().filter(|todo| todo.status == TodoStatus::InProgress).collect();
        let is_above = |one: &Todo| busy.iter().any(|other| self.ancestors(other).any(|above| above.id == one.id));
        busy.iter().copied().filter(|todo| !is_above(todo)).collect()
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

/// What is wrong with a change of the list.
#[derive(thiserror::Error, Debug)]
enum Mistake {
    #[error("the id {start:?}… is longer than {LONGEST_ID} characters: give a shorter one, or none")]
    LongId { start: String },
    #[error("there is no todo {id:?} and it has no text: use an id of the list, or give a text")]
    NoText { id: String },
    #[error("the list would have {count} todos, {MOST} are the most: sum some up")]
    TooMany { count: usize },
    #[error("todo {id:?} is its own parent, or nests deeper than {DEEPEST}")]
    TooDeep { id: String },
    #[error("todo {:?} is {} while its part {:?} is {}: close the parts first", whole.id, whole.status, part.id, part.status)]
    OpenPart { whole: Box<Todo>, part: Box<Todo> },
}

fn change_known(todo: &mut Todo, item: &TodoItem, text: Option<&str>) -> String {
    todo.status = item.status.unwrap_or(todo.status);
    if let Some(text) = text {
        text.clone_into(&mut todo.text);
    }
    if let Some(parent) = &item.parent {
        todo.parent = Some(parent.trim().to_owned()).filter(|parent| !parent.is_empty());
    }
    todo.id.clone()
}

fn shortened(text: &str, most: usize) -> String {
    text.chars().take(most).collect()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn item(id: &str, status: TodoStatus) -> TodoItem {
        TodoItem { id: Some(id.to_owned()), text: Some(format!("do {id}")), status: Some(status), parent: None }
    }

    fn change(items: Vec<TodoItem>) -> TodoChange {
        TodoChange { replace: Some(false), items }
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

    fn after(list: &Todos, items: Vec<TodoItem>) -> (Vec<(String, TodoStatus)>, Vec<String>) {
        let (list, notes) = list.changed(&change(items)).unwrap();
        (list.items().iter().map(|todo| (todo.id.clone(), todo.status)).collect(), notes)
    }

    #[test]
    fn a_todo_may_become_anything_also_with_steps_left_out() {
        use TodoStatus::{Cancelled, Completed, InProgress, Pending};
        for from in [Pending, InProgress, Completed, Cancelled] {
            for to in [Pending, InProgress, Completed, Cancelled] {
                let (found, notes) = after(&list(&[("1", from, None)]), vec![item("1", to)]);
                assert_eq!((found, notes), (vec![("1".to_owned(), to)], Vec::new()), "{from} → {to}");
            }
        }
        let (first, notes) = after(&Todos::default(), vec![item("1", Completed), item("2", InProgress)]);
        assert_eq!(first, [("1".to_owned(), Completed), ("2".to_owned(), InProgress)]);
        assert_eq!(notes, [] as [&str; 0], "a first list may hold what is done");
    }

    #[test]
    fn one_is_in_progress_at_a_time_whatever_the_order_of_a_change() {
        use TodoStatus::{Completed, InProgress, Pending};
        let two = list(&[("1", InProgress, None), ("2", Pending, None)]);
        let (found, notes) = after(&two, vec![item("2", InProgress)]);
        assert_eq!(found, [("1".to_owned(), Pending), ("2".to_owned(), InProgress)], "what is named counts");
        assert!(notes[0].contains("\"2\" is, and \"1\" went back to pending"), "{notes:?}");
        let (found, _) = after(&Todos::default(), vec![item("1", InProgress), item("2", InProgress)]);
        assert_eq!(found, [("1".to_owned(), InProgress), ("2".to_owned(), Pending)], "the first counts");
        for items in [
            vec![item("1", Completed), item("2", InProgress)],
            vec![item("2", InProgress), item("1", Completed)],
            vec![item("1", Pending), item("2", InProgress)],
        ] {
            assert_eq!(after(&two, items).1, [] as [&str; 0]);
        }
        let busy = list(&[("1", InProgress, None), ("1a", InProgress, Some("1")), ("2", Pending, None)]);
        let (found, notes) = after(&busy, vec![item("2", InProgress)]);
        let wanted = [("1".to_owned(), Pending), ("1a".to_owned(), Pending), ("2".to_owned(), InProgress)];
        assert_eq!(found, wanted, "what is above another goes back with it");
        assert!(notes[0].contains("\"2\" is, and \"1\", \"1a\" went back to pending"), "{notes:?}");
        let nested = list(&[("1", InProgress, None), ("1a", Pending, Some("1"))]);
        let (found, notes) = after(&nested, vec![item("1a", InProgress)]);
        assert_eq!(found, [("1".to_owned(), InProgress), ("1a".to_owned(), InProgress)], "what is above it may be too");
        assert_eq!(notes, [] as [&str; 0]);
    }

    #[test]
    fn what_is_too_long_is_cut_and_that_is_said() {
        let long = TodoItem { text: Some("x".repeat(900)), ..item("1", TodoStatus::Pending) };
        let (list, notes) = Todos::default().changed(&change(vec![long])).unwrap();
        assert_eq!((list.items()[0].text.len(), notes.len()), (LONGEST, 1));
    }

    #[test]
    fn todos_that_begin_alike_stay_two() {
        use TodoStatus::{Completed, InProgress, Pending};
        let long = |end: &str| format!("{}{end}", "i".repeat(60));
        let items = vec![item(&long("a"), Pending), item(&long("b"), Pending)];
        let error = Todos::default().changed(&change(items)).unwrap_err().message;
        assert!(error.contains("is longer than 40 characters: give a shorter one"), "{error}");
        let text = |end: &str| format!("{}{end}", "x".repeat(600));
        let by_text =
            |end: &str, status| TodoItem { text: Some(text(end)), status: Some(status), ..TodoItem::default() };
        let (two, _) = Todos::default()
            .changed(&change(vec![by_text("a", Pending), by_text("b", Pending), by_text("a", InProgress)]))
            .unwrap();
        let shown = |list: &Todos| -> Vec<(String, TodoStatus)> {
            list.items().iter().map(|todo| (todo.id.clone(), todo.status)).collect()
        };
        assert_eq!(shown(&two), [("1".to_owned(), InProgress), ("2".to_owned(), Pending)]);
        let again = TodoChange { replace: Some(true), items: vec![by_text("a", Completed), by_text("b", InProgress)] };
        let (two, _) = two.changed(&again).unwrap();
        assert_eq!(shown(&two), [("1".to_owned(), Completed), ("2".to_owned(), InProgress)]);
    }

    #[test]
    fn parts_are_closed_before_the_whole_and_know_it() {
        use TodoStatus::{Completed, InProgress, Pending};
        let nested = list(&[("1", InProgress, None), ("1a", Pending, Some("1"))]);
        let error = nested.changed(&change(vec![item("1", Completed)])).unwrap_err().message;
        assert!(error.contains("close the parts first"), "{error}");
        let orphan = TodoItem { parent: Some("9".to_owned()), ..item("2", Pending) };
        let (list, notes) = nested.changed(&change(vec![orphan])).unwrap();
        assert_eq!((list.items()[2].parent.as_deref(), notes.len()), (None, 1), "it stands by itself");
        let circle = TodoItem { parent: Some("1a".to_owned()), ..item("1", InProgress) };
        assert!(nested.changed(&change(vec![circle])).unwrap_err().message.contains("its own parent"));
    }

    #[test]
    fn what_a_list_leaves_out_is_dropped_and_named() {
        use TodoStatus::{Completed, Pending};
        let three = list(&[("1", Completed, None), ("2", Pending, None), ("3", Pending, None)]);
        let shorter = TodoChange { replace: Some(true), items: vec![item("3", Pending)] };
        let (left, notes) = three.changed(&shorter).unwrap();
        assert_eq!((left.items().len(), left.items()[0].id.as_str()), (1, "3"));
        assert_eq!(notes, ["left out: do 1, do 2"]);
        let (left, notes) = left.changed(&TodoChange { replace: Some(true), items: Vec::new() }).unwrap();
        assert_eq!((left, notes), (Todos::default(), vec!["left out: do 3".to_owned()]));
        let ids: Vec<String> = (0..12).map(|number| number.to_string()).collect();
        let many: Vec<_> = ids.iter().map(|id| (id.as_str(), Pending, None)).collect();
        let (_, notes) = list(&many).changed(&TodoChange { replace: Some(true), items: Vec::new() }).unwrap();
        assert!(notes[0].ends_with("do 9 and 2 more"), "{notes:?}");
    }

    #[test]
    fn a_list_of_texts_is_the_list_and_some_of_its_ids_are_not() {
        use TodoStatus::{Completed, InProgress, Pending};
        let three = list(&[("1", Pending, None), ("2", Pending, None), ("3", Pending, None)]);
        let unsaid = |items: Vec<TodoItem>| TodoChange { replace: None, items };
        let ids = |change: &TodoChange| -> String {
            three.changed(change).unwrap().0.items().iter().map(|todo| todo.id.as_str()).collect()
        };
        let by_text = |text: &str| TodoItem { text: Some(text.to_owned()), ..TodoItem::default() };
        let by_id = |id: &str| TodoItem { id: Some(id.to_owned()), ..TodoItem::default() };
        for (items, left) in [
            (vec![item("2", Completed)], "123"),
            (vec![item(" 3 ", InProgress), item("1", Completed)], "123"),
            (vec![by_id("2")], "123"),
            (vec![by_text("one more"), by_id("2")], "1234"),
            (vec![item("3", Pending), item("1", Pending), item("2", Pending)], "312"),
            (vec![item("2", Pending), item("4", Pending)], "24"),
            (vec![by_text("do 3"), by_text("do 1")], "31"),
            (vec![item("2", Pending), by_text("one more")], "24"),
        ] {
            assert_eq!(ids(&unsaid(items.clone())), left, "{items:?}");
        }
        let said = TodoChange { replace: Some(true), items: vec![item("2", Completed)] };
        assert_eq!(ids(&said), "2");
        assert!(list(&[]).is_replaced_by(&unsaid(vec![item("1", Pending)])), "a first list is one");
    }

    #[test]
    fn a_wrong_change_changes_nothing_and_names_every_mistake() {
        use TodoStatus::{Completed, Pending};
        let list = list(&[("1", Pending, None)]);
        let error = list
            .changed(&change(vec![item("1", Completed), TodoItem { id: Some("7".to_owned()), ..TodoItem::default() }]))
            .unwrap_err()
            .message;
        assert!(error.starts_with("nothing was changed: there is no todo \"7\""), "{error}");
    }

    #[test]
    fn a_todo_without_an_id_is_found_by_its_text_or_new() {
        use TodoStatus::{InProgress, Pending};
        let by_text =
            |text: &str, status| TodoItem { text: Some(text.to_owned()), status: Some(status), ..TodoItem::default() };
        let changed = Todos::default().changed(&change(vec![by_text("a", Pending), by_text("b", Pending)])).unwrap().0;
        let changed = changed.changed(&change(vec![by_text(" b ", InProgress), by_text("c", Pending)])).unwrap().0;
        let shown: Vec<_> =
            changed.items().iter().map(|todo| (todo.id.as_str(), todo.text.as_str(), todo.status)).collect();
        assert_eq!(shown, [("1", "a", Pending), ("2", "b", InProgress), ("3", "c", Pending)]);
        let replaced = changed
            .changed(&TodoChange { replace: Some(true), items: vec![by_text("c", Pending), by_text("d", Pending)] });
        let ids: Vec<String> = replaced.unwrap().0.items().iter().map(|todo| todo.id.clone()).collect();
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
        (prop::option::of(any::<bool>()), prop::collection::vec(item, 0..5))
            .prop_map(|(replace, items)| TodoChange { replace, items })
    }

    proptest! {
        /// Whatever a model writes, in whatever order: the list stays sane.
        #[test]
        fn any_changes_keep_the_list_sane(changes in prop::collection::vec(any_change(), 0..30)) {
            let mut list = Todos::default();
            for change in changes {
                let Ok((next, _)) = list.changed(&change) else { continue };
                for todo in next.items() {
                    prop_assert!(todo.parent.as_ref().is_none_or(|parent| next.find(parent).is_some()));
                    prop_assert!(next.ancestors(todo).count() <= DEEPEST);
                    prop_assert!(next.items().iter().filter(|other| other.id == todo.id).count() == 1);
                    let parent = todo.parent.as_ref().and_then(|parent| next.find(parent));
                    prop_assert!(parent.is_none_or(|parent| !parent.status.is_closed() || todo.status.is_closed()));
                }
                prop_assert!(next.busy_ends().len() <= 1);
                prop_assert_eq!(Todo::outline(next.items()).len(), next.items().len(), "every todo is shown once");
                list = next;
            }
        }
    }
}
