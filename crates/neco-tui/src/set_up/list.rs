//! A question with options, as a list below the field that letters narrow down.
//!
//! The items of the question are the groups of the list, each below its title; one without a title is found by searching
//! alone. The first line of the first item's text is what the field says, the next one what the keys do.

use crossterm::event::{KeyCode, KeyEvent, KeyModifiers};
use neco_proto::{ItemAnswer, Question, QuestionItem, QuestionOption, Reply, Subject};
use neco_view::slash::{self, Slash};

use crate::app::picker::{Entry, Letters};
use crate::app::{Picked, Picker, WindowState, looks_like_key};
use crate::ask::answer;
use crate::told::is_command;
use crate::update::{Effect, say_first};

/// What is said of a key that was written where the name of a model goes.
pub(crate) const NO_KEY: &str = "Not used: it looks like a key. Choose its provider, then type it hidden";

/// What is said of a command.
const NO_COMMAND: &str = "Commands work once there is a model; /exit or Esc leaves";

/// What is said of words that fit nothing.
const OTHERWISE: &str = "Not in the list: Enter takes it as an address or the name of a model";

/// The list of a question; none when only words answer it.
pub(crate) fn of(question: &Question) -> Option<Picker> {
    let Subject::Choices { items } = &question.subject else { return None };
    let first = items.first().filter(|first| !first.options.is_empty())?;
    let (heading, keys) = first.text.split_once('\n').unwrap_or((&first.text, ""));
    let is_grouped = items.len() > 1;
    let mut entries = Vec::new();
    for (number, item) in items.iter().enumerate() {
        if is_grouped && !item.title.is_empty() {
            // A blank row stands between the groups.
            entries.extend((number > 0).then(|| Entry::heading("")));
            entries.push(Entry::heading(&item.title));
        }
        let entry = |option: &QuestionOption| {
            let picked = Picked::Answer(question.question_id, chosen(items, number, option));
            let entry = Entry::aligned(&option.label, &option.description, picked);
            if is_grouped && item.title.is_empty() { entry.folded() } else { entry }
        };
        entries.extend(item.options.iter().map(entry));
    }
    Some(Picker::new(heading, keys, Letters::Filter, entries).tall().otherwise(OTHERWISE))
}

/// An option of the item of this number, and nothing of the others.
fn chosen(items: &[QuestionItem], number: usize, option: &QuestionOption) -> Reply {
    let mut answers = vec![ItemAnswer::default(); items.len()];
    answers.iter_mut().skip(number).take(1).for_each(|answer| answer.chosen.push(option.label.clone()));
    Reply::Choices { answers }
}

/// Opens a list; what was being written is searched for in it.
pub(crate) fn open(window: &mut WindowState, mut picker: Picker) {
    window.prompt.text.as_str().chars().for_each(|letter| picker.narrow(Some(letter)));
    window.prompt.forget();
    window.picker = Some(picker);
}

/// What a key does in such a list; none where it does what it does in all of them.
pub(crate) fn key(window: &mut WindowState, key: KeyEvent) -> Option<Vec<Effect>> {
    let picker = window.picker.as_mut()?;
    let question = picker.question()?;
    let held = key.modifiers.intersects(KeyModifiers::CONTROL | KeyModifiers::ALT);
    let leaves =
        key.code == KeyCode::Esc || key.code == KeyCode::Char('c') && key.modifiers.contains(KeyModifiers::CONTROL);
    let words = picker.filter().trim().to_owned();
    match key.code {
        // What is searched for goes first, then the list.
        _ if leaves && !words.is_empty() => {
            picker.clear();
            Some(Vec::new())
        }
        _ if leaves => {
            window.picker = None;
            Some(vec![Effect::Send(answer(question, Reply::Dismiss))])
        }
        // Nothing else closes it: behind it there is nothing to be done.
        KeyCode::Char('c' | 't') if held => Some(Vec::new()),
        KeyCode::Enter if looks_like_key(&words) => {
            picker.clear();
            Some(window.only_tell(NO_KEY))
        }
        // Another list would take the place of this one.
        KeyCode::Enter if is_command(&words) => {
            picker.clear();
            let leaves = matches!(slash::parse(&words, &[]), Ok(Slash::Exit));
            Some(if leaves { say_first(window, words) } else { window.only_tell(NO_COMMAND) })
        }
        KeyCode::Enter if picker.chosen().is_none() && !words.is_empty() => {
            window.picker = None;
            let answers = vec![ItemAnswer { chosen: Vec::new(), text: Some(words) }];
            Some(vec![Effect::Send(answer(question, Reply::Choices { answers }))])
        }
        _ => None,
    }
}
