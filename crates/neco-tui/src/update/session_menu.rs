//! What can be done to a session of the list: a menu behind Ctrl-X.

use unicode_width::UnicodeWidthStr;

use super::effect::Effect;
use super::menu::{HINT, numbered};
use super::picking::ask_for_list;
use crate::app::picker::{Entry, Letters, lists};
use crate::app::{Picked, Picker, Reach, WindowState};
use crate::host::SessionOrder;

/// What is asked before a session is deleted; what it is called follows.
const ASKS: &str = "Delete this session?";

/// Columns beside a heading.
const MARGIN: usize = 4;

/// Opens the menu of the session that is chosen.
pub(super) fn open(window: &mut WindowState, id: &str) {
    let Some(name) = chosen_name(window) else { return };
    let order = |letter: char, text: &str, about: &str, order: SessionOrder| {
        let picked = Picked::OfSession(letter, Some(order), id.to_owned());
        (letter, text.to_owned(), about.to_owned(), picked)
    };
    let entries = vec![
        order('f', "Fork", "a second session that goes on from its end", SessionOrder::Fork),
        order('x', "Delete", "for good; files in the folder stay as they are", SessionOrder::Delete),
    ];
    window.picker = Some(Picker::new(name, HINT, Letters::Command, numbered(entries)));
}

/// What was chosen in the menu of the session that is called `name`. It is asked before a session is deleted.
pub(super) fn chosen(
    window: &mut WindowState,
    (letter, order): (char, Option<SessionOrder>),
    id: String,
    name: &str,
) -> Vec<Effect> {
    match order {
        None => list_again(window, Some(id)),
        Some(SessionOrder::Delete) if id == window.standing().session_id => {
            window.warn("This window is in that session: open another one first");
            list_again(window, Some(id))
        }
        Some(SessionOrder::Delete) if letter != 'y' => {
            ask_to_delete(window, id, name);
            Vec::new()
        }
        Some(order) => {
            window.left_session = Some(id.clone());
            vec![Effect::ToSession(order, id)]
        }
    }
}

fn ask_to_delete(window: &mut WindowState, id: String, name: &str) {
    let entries = vec![
        Entry::new("No, keep it", "", Picked::OfSession('n', None, id.clone())),
        Entry::new("Yes, delete it", "it can't be undone", Picked::OfSession('y', Some(SessionOrder::Delete), id)),
    ];
    let hint = "y confirm   n, Enter or Esc cancel";
    window.picker = Some(Picker::new(format!("{ASKS} {name}"), hint, Letters::Command, entries));
}

/// Lists the sessions that were listed before; the one that was `left` is chosen, if it is still there.
pub(super) fn list_again(window: &mut WindowState, left: Option<String>) -> Vec<Effect> {
    window.picker = None;
    let list = match window.listed {
        Reach::Folder => Effect::Sessions,
        Reach::Everywhere => Effect::AllSessions,
    };
    let effects = ask_for_list(window, list);
    window.left_session = left;
    effects
}

/// The session that is chosen: its title, its id and how much was said, in a row that has room for the question, too.
fn chosen_name(window: &WindowState) -> Option<String> {
    let room = window.width.saturating_sub(MARGIN + ASKS.width() + 1);
    window.picker.as_ref().and_then(Picker::chosen).map(|entry| lists::session_name(entry, room))
}
