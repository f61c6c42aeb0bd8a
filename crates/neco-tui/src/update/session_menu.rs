//! What can be done to a session of the list: a menu behind Ctrl-X.

use super::effect::Effect;
use super::menu::{HINT, numbered};
use super::picking::ask_for_list;
use crate::app::picker::{Entry, Letters};
use crate::app::{Picked, Picker, Reach, WindowState};
use crate::host::SessionOrder;

/// Opens the menu of the session that is chosen.
pub(super) fn open(window: &mut WindowState, id: &str) {
    let Some(title) = chosen_title(window) else { return };
    let order = |letter: char, text: &str, about: &str, order: SessionOrder| {
        let picked = Picked::OfSession(letter, Some(order), id.to_owned());
        (letter, text.to_owned(), about.to_owned(), picked)
    };
    let entries = vec![
        order('f', "Fork", "a second session that goes on from its end", SessionOrder::Fork),
        order('x', "Delete", "for good; files in the folder stay as they are", SessionOrder::Delete),
    ];
    window.picker = Some(Picker::new(title, HINT, Letters::Command, numbered(entries)));
}

/// What was chosen in the menu. It is asked before a session is deleted.
pub(super) fn chosen(window: &mut WindowState, letter: char, order: Option<SessionOrder>, id: String) -> Vec<Effect> {
    match order {
        None => list_again(window),
        Some(_) if id == window.standing().session_id && order == Some(SessionOrder::Delete) => {
            window.warn("This window is in that session: open another one first");
            list_again(window)
        }
        Some(SessionOrder::Delete) if letter != 'y' => {
            ask_to_delete(window, id);
            Vec::new()
        }
        Some(order) => vec![Effect::ToSession(order, id)],
    }
}

fn ask_to_delete(window: &mut WindowState, id: String) {
    let entries = vec![
        Entry::new("No, keep it", "", Picked::OfSession('n', None, id.clone())),
        Entry::new("Yes, delete it", "it can't be undone", Picked::OfSession('y', Some(SessionOrder::Delete), id)),
    ];
    let hint = "y confirm   n, Enter or Esc cancel";
    window.picker = Some(Picker::new("Delete this session?", hint, Letters::Command, entries));
}

/// Lists the sessions that were listed before.
pub(super) fn list_again(window: &mut WindowState) -> Vec<Effect> {
    window.picker = None;
    let list = match window.listed {
        Reach::Folder => Effect::Sessions,
        Reach::Everywhere => Effect::AllSessions,
    };
    ask_for_list(window, list)
}

fn chosen_title(window: &WindowState) -> Option<String> {
    window.picker.as_ref().and_then(Picker::chosen).map(|entry| entry.text.clone())
}
