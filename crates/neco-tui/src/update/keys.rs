//! The keys of the field.

use crossterm::event::{KeyCode, KeyEvent, KeyEventKind, KeyModifiers};
use neco_proto::Query;
use neco_proto::clean::clean_line;
use neco_view::slash::Slash;

use super::completing::{is_meant, is_whole, wants_nothing_more};
use super::effect::Effect;
use super::{asked, commands, logging_in, menu, next_mode, picking, sending, stopping, taking_back, watching};
use crate::app::{Person, Purpose, WindowState, looks_like_key};
use crate::host::ImageSource;
use crate::input::{Action, Edit, Move, ViMode, picture_file};
use crate::told::is_command;

/// A key was pressed.
pub(crate) fn key(window: &mut WindowState, key: KeyEvent) -> Vec<Effect> {
    if key.kind == KeyEventKind::Release {
        return Vec::new();
    }
    // Two quick presses of Esc arrive as one with Alt.
    if key.code == KeyCode::Esc && key.modifiers == KeyModifiers::ALT {
        let once = KeyEvent { modifiers: KeyModifiers::NONE, ..key };
        return [window.key(once), window.key(once)].concat();
    }
    if window.secret.is_some() {
        return logging_in::secret_key(window, key);
    }
    if window.diff.is_some() {
        return diff_key(window, key);
    }
    forget_word(window, key);
    let again = window.person.pressed.take();
    if window.prompt.searches() {
        return search_key(window, key);
    }
    if window.picker.is_some() {
        return picking::picker_key(window, key);
    }
    if let Some(effects) = asked::question_key(window, key) {
        return effects;
    }
    if window.asking().is_none()
        && let Some(effects) = watching::watched_key(window, key)
    {
        return effects;
    }
    let was_empty = window.prompt.text.is_empty();
    window.person.types(key.code, was_empty, window.now_ms);
    let effects = field_key(window, key, again);
    if !was_empty && window.prompt.text.is_empty() {
        window.facing.emptied(window.now_ms);
    }
    effects
}

/// A word to the person goes with the next key; what leaving means stays for the key that leaves, and that it is being
/// stopped until it is.
fn forget_word(window: &mut WindowState, key: KeyEvent) {
    let may_leave = window.leaving_said && key.modifiers.contains(KeyModifiers::CONTROL);
    if !may_leave && !window.stopping {
        window.word = None;
    }
}

/// A key while the person looks at what was changed.
fn diff_key(window: &mut WindowState, key: KeyEvent) -> Vec<Effect> {
    match window.keymap.action(key) {
        Some(Action::Redraw) => return vec![Effect::Redraw],
        Some(Action::Suspend) => return vec![Effect::Suspend],
        Some(_) | None => {}
    }
    let Some(diff) = &mut window.diff else { return Vec::new() };
    let control = key.modifiers.contains(KeyModifiers::CONTROL);
    match key.code {
        KeyCode::Char('c') if control => window.diff = None,
        KeyCode::Char('d') if control => diff.turn(1),
        KeyCode::Char('u') if control => diff.turn(-1),
        KeyCode::Esc | KeyCode::Char('q') => window.diff = None,
        KeyCode::Up | KeyCode::Char('k') => diff.scroll(-1),
        KeyCode::Down | KeyCode::Char('j') | KeyCode::Enter => diff.scroll(1),
        KeyCode::PageUp => diff.turn(-1),
        KeyCode::PageDown | KeyCode::Char(' ') => diff.turn(1),
        KeyCode::Home | KeyCode::Char('g') => diff.scroll(isize::MIN),
        KeyCode::End | KeyCode::Char('G') => diff.scroll(isize::MAX),
        KeyCode::Tab | KeyCode::Right | KeyCode::Char('n') => diff.go_to_file(true),
        KeyCode::BackTab | KeyCode::Left | KeyCode::Char('p') => diff.go_to_file(false),
        _ => {}
    }
    Vec::new()
}

/// Something was pasted, or a file dropped.
pub(crate) fn paste(window: &mut WindowState, text: &str) -> Vec<Effect> {
    if let Some(secret) = &mut window.secret {
        secret.push(text);
        return Vec::new();
    }
    // The field is hidden behind what was changed.
    if window.diff.is_some() {
        return Vec::new();
    }
    // A list that asks something is answered in it, whatever is pasted.
    if window.picker.as_ref().is_some_and(|picker| picker.question().is_some()) {
        return picking::narrow(window, &clean_line(text)).unwrap_or_default();
    }
    let word = text.trim_end_matches(['\r', '\n']);
    let is_word = !word.contains(char::is_control) && picture_file(text).is_none();
    if window.prompt.searches() && is_word {
        word.chars().for_each(|char| window.prompt.search_for(Some(char)));
        return Vec::new();
    }
    if is_word && let Some(effects) = picking::narrow(window, word) {
        return effects;
    }
    window.prompt.leave_search();
    let looks = menu::leave_for_field(window);
    looks.into_iter().chain(paste_into_field(window, text)).collect()
}

fn paste_into_field(window: &mut WindowState, text: &str) -> Vec<Effect> {
    window.prompt.completion = None;
    window.word = None;
    window.person.pastes();
    asked::go_to_field(window);
    if let Some(watched) =
        window.watched.as_ref().filter(|_| window.purpose == Purpose::Message && window.asking().is_none())
    {
        window.purpose = Purpose::Agent(watched.agent);
    }
    // It stands in its place at once; should it be a picture, that takes its place later.
    if let Some(file) = picture_file(text) {
        window.dropped.push((file.clone(), window.prompt.paste(text)));
        return vec![Effect::Image(ImageSource::File(file))];
    }
    window.prompt.paste(text);
    Vec::new()
}

fn field_key(window: &mut WindowState, key: KeyEvent, again: Option<(char, i64)>) -> Vec<Effect> {
    let closes = key.code == KeyCode::Esc && (window.prompt.completion.is_some() || window.panels.help);
    if !closes && window.prompt.vi_key(key).is_some() {
        // Nothing is offered to whoever only moves.
        let writes = window.prompt.vi_mode() == Some(ViMode::Insert);
        window.prompt.completion = None;
        return if writes { window.offer() } else { Vec::new() };
    }
    let empty = window.prompt.text.is_empty();
    if window.panels.help && scroll_help(window, key.code) {
        return Vec::new();
    }
    match window.keymap.action(key) {
        Some(Action::Submit) => submit(window),
        Some(Action::Newline) => newline(window),
        Some(Action::Later) => later(window),
        Some(Action::Cancel) => escape(window, again),
        Some(Action::Interrupt) => interrupt(window),
        Some(Action::Leave) if empty => end(window),
        Some(Action::Mode) => {
            // What is set is seen where the word stood.
            window.word = None;
            next_mode::next(window)
        }
        Some(Action::Search) => {
            window.prompt.search();
            Vec::new()
        }
        Some(Action::Redraw) => vec![Effect::Redraw],
        Some(Action::Panel) => picking::panel(window),
        Some(Action::Expand) => commands::expand(window),
        Some(Action::Background) if empty && window.transcript.running_command().is_some() => {
            commands::run(window, &Slash::Background)
        }
        Some(Action::Background) if empty && window.shell.runs() => window.only_tell(commands::OWN_STAYS),
        Some(Action::Editor) => vec![Effect::EditPrompt(window.prompt.text.as_str().to_owned())],
        Some(Action::Picture) => vec![Effect::Image(ImageSource::Clipboard)],
        Some(Action::Copy) => commands::run(window, &Slash::Copy),
        Some(Action::Suspend) => vec![Effect::Suspend],
        Some(Action::Model) => picking::ask_for_list(window, Effect::Models),
        Some(Action::Help) if empty => {
            window.panels.help = !window.panels.help;
            window.panels.help_from = 0;
            Vec::new()
        }
        Some(Action::Leave | Action::Help | Action::Background) | None => edit_key(window, key),
    }
}

/// Not all keys have room on a small terminal.
fn scroll_help(window: &mut WindowState, key: KeyCode) -> bool {
    let by = match key {
        KeyCode::Up => -1,
        KeyCode::Down => 1,
        KeyCode::PageUp => -8,
        KeyCode::PageDown => 8,
        _ => return false,
    };
    window.panels.help_from = window.panels.help_from.saturating_add_signed(by);
    true
}

fn edit_key(window: &mut WindowState, key: KeyEvent) -> Vec<Effect> {
    match key.code {
        KeyCode::Up if key.modifiers.is_empty() => vertical(window, false),
        KeyCode::Down if key.modifiers.is_empty() => vertical(window, true),
        KeyCode::Char('p') if key.modifiers == KeyModifiers::CONTROL => vertical(window, false),
        KeyCode::Char('n') if key.modifiers == KeyModifiers::CONTROL => vertical(window, true),
        _ => {
            let Some(edit) = edit_of(key) else { return Vec::new() };
            let was_help = std::mem::take(&mut window.panels.help);
            if let Edit::Insert(letter) = edit
                && was_help
                && letter.is_alphanumeric()
            {
                picking::search_help(window, Some(letter));
                return Vec::new();
            }
            window.prompt.edit(edit);
            window.offer()
        }
    }
}

fn newline(window: &mut WindowState) -> Vec<Effect> {
    window.prompt.edit(Edit::Insert('\n'));
    window.prompt.completion = None;
    Vec::new()
}

/// Up in an empty field takes back what waits, before it goes to earlier messages.
fn vertical(window: &mut WindowState, down: bool) -> Vec<Effect> {
    let waits = window.transcript.waiting().next().is_some();
    let is_empty = window.prompt.text.is_empty() && !window.prompt.has_put_away();
    let takes_back = waits && !down && is_empty && window.purpose == Purpose::Message;
    match &mut window.prompt.completion {
        Some(completion) => completion.step(down),
        None if down => window.prompt.down(),
        None if takes_back => return taking_back::take_back_last(window).into_iter().collect(),
        None => window.prompt.up(),
    }
    Vec::new()
}

fn submit(window: &mut WindowState) -> Vec<Effect> {
    if window.set_up && window.prompt.holds(looks_like_key) {
        return asked::refuse_key(window);
    }
    if window.prompt.completion.is_some() && !window.offers.is_written_out(&window.prompt) {
        let meant = is_meant(&window.prompt);
        let effects = accept(window);
        let text = window.prompt.text.as_str();
        let runs = wants_nothing_more(text) || meant && is_whole(text);
        return if runs { sending::send(window, false) } else { effects };
    }
    let text = window.prompt.text.as_str();
    if text.ends_with('\\') && window.prompt.text.cursor() == text.len() {
        window.prompt.edit(Edit::Delete(Move::Left));
        return newline(window);
    }
    if text.trim().is_empty() && !matches!(window.purpose, Purpose::Reason(_)) {
        return asked::answer_with_nothing(window).unwrap_or_else(|| stopping::go_on(window));
    }
    if window.set_up && window.desk.is_empty() && !is_command(text.trim()) {
        return window.only_tell("Nothing is being asked; your draft stays here");
    }
    sending::send(window, false)
}

/// Takes what is chosen of what is offered.
fn accept(window: &mut WindowState) -> Vec<Effect> {
    if window.prompt.complete() { window.offer() } else { Vec::new() }
}

/// What is written is for after the work.
fn later(window: &mut WindowState) -> Vec<Effect> {
    if window.prompt.completion.is_some() {
        return accept(window);
    }
    let written = !window.prompt.text.as_str().trim().is_empty() && !window.set_up;
    if written && window.standing().works() { sending::send(window, true) } else { Vec::new() }
}

/// Closes what is open, then stops the work, then the agents; twice without work goes back.
fn escape(window: &mut WindowState, again: Option<(char, i64)>) -> Vec<Effect> {
    if std::mem::take(&mut window.panels.help) || window.prompt.completion.take().is_some() {
        return Vec::new();
    }
    if window.purpose != Purpose::Message {
        let is_answer = matches!(window.purpose, Purpose::Reason(_) | Purpose::Revision(_));
        window.purpose = Purpose::Message;
        return if is_answer { Vec::new() } else { asked::go_to_box(window) };
    }
    // They came for a list of sessions and do not wait for it.
    if window.unchosen {
        return stopping::leave(window);
    }
    if window.shell.runs() {
        return vec![Effect::StopShell];
    }
    if window.standing().works() {
        return stopping::stop_work(window);
    }
    if window.standing().going_back.is_some() {
        return window.only_tell("Rewinding can't be stopped halfway; /redo restores it");
    }
    if window.set_up {
        return Vec::new();
    }
    if window.agents().working().count() > 0 {
        return stopping::stop_rest(window);
    }
    if Person::is_again('e', again, window.now_ms) {
        window.word = None;
        return picking::ask_for_list(window, Effect::Ask(Query::RewindPoints));
    }
    window.person.pressed = Some(('e', window.now_ms));
    window.only_tell("Esc again rewinds")
}

/// Empties the field, then stops the work, then the agents, then ends: that is said before it is done, always.
fn interrupt(window: &mut WindowState) -> Vec<Effect> {
    if !window.prompt.text.is_empty() {
        // What a stop brought back does not keep the key from what was said that it does.
        let leaves = stopping::said_leaving(window) && taking_back::is_as_it_came_back(window);
        let mut effects = put_away(window);
        if leaves {
            effects.extend(stopping::leave(window));
        }
        return effects;
    }
    if window.purpose == Purpose::Rule {
        window.purpose = Purpose::Message;
        return asked::go_to_box(window);
    }
    if stopping::said_leaving(window) {
        return stopping::leave(window);
    }
    if window.shell.runs() {
        return vec![Effect::StopShell];
    }
    // What another process does goes on without this window.
    if window.attached {
        return stopping::tell_leaving(window, Action::Interrupt, "");
    }
    if window.standing().works() {
        let effects = stopping::stop_work(window);
        stopping::tell_leaving(window, Action::Interrupt, "Stopping … ");
        return effects;
    }
    stopping::tell_leaving(window, Action::Interrupt, "")
}

/// Empties the field; a message that was begun can be brought back in later windows, too.
fn put_away(window: &mut WindowState) -> Vec<Effect> {
    let text = window.prompt.put_away();
    let is_kept = window.purpose == Purpose::Message && !window.set_up && sending::may_be_kept(&text);
    window.tell("↑ restores it");
    is_kept.then_some(Effect::Remember(text)).into_iter().collect()
}

/// Ends at once where nothing works; whoever works is named before.
fn end(window: &mut WindowState) -> Vec<Effect> {
    if window.attached || !stopping::holds(window) || stopping::said_leaving(window) {
        return stopping::leave(window);
    }
    stopping::tell_leaving(window, Action::Leave, "")
}

fn search_key(window: &mut WindowState, key: KeyEvent) -> Vec<Effect> {
    let control = key.modifiers.contains(KeyModifiers::CONTROL);
    match key.code {
        KeyCode::Char('r') if control => window.prompt.search(),
        KeyCode::Char('c' | 'g') if control => window.prompt.leave_search(),
        KeyCode::Char(char) if !control => window.prompt.search_for(Some(char)),
        KeyCode::Backspace => window.prompt.search_for(None),
        KeyCode::Esc => window.prompt.leave_search(),
        _ => window.prompt.end_search(),
    }
    Vec::new()
}

/// What a key changes in the field.
pub(super) fn edit_of(key: KeyEvent) -> Option<Edit> {
    let control = key.modifiers.contains(KeyModifiers::CONTROL);
    let alt = key.modifiers.contains(KeyModifiers::ALT);
    let word = control || alt;
    Some(match key.code {
        KeyCode::Char('a') if control => Edit::Go(Move::LineStart),
        KeyCode::Char('e') if control => Edit::Go(Move::LineEnd),
        KeyCode::Char('b') if control => Edit::Go(Move::Left),
        KeyCode::Char('f') if control => Edit::Go(Move::Right),
        KeyCode::Char('b') if alt => Edit::Go(Move::WordLeft),
        KeyCode::Char('f') if alt => Edit::Go(Move::WordRight),
        KeyCode::Char('d') if alt => Edit::Delete(Move::WordRight),
        KeyCode::Char('d') if control => Edit::Delete(Move::Right),
        KeyCode::Char('h') if control => Edit::Delete(Move::Left),
        KeyCode::Char('k') if control => Edit::Delete(Move::LineEnd),
        KeyCode::Char('u') if control => Edit::Delete(Move::LineStart),
        KeyCode::Char('w') if control => Edit::Delete(Move::WordLeft),
        KeyCode::Char('y') if control => Edit::Yank,
        // Ctrl-_ is what most terminals send for Ctrl-/, and Ctrl-7 what that is read as.
        KeyCode::Char('_' | '/' | '7') if control => Edit::Undo,
        KeyCode::Char(char) if !control && !alt => Edit::Insert(char),
        KeyCode::Backspace if word => Edit::Delete(Move::WordLeft),
        KeyCode::Backspace => Edit::Delete(Move::Left),
        KeyCode::Delete if word => Edit::Delete(Move::WordRight),
        KeyCode::Delete => Edit::Delete(Move::Right),
        KeyCode::Left if word => Edit::Go(Move::WordLeft),
        KeyCode::Right if word => Edit::Go(Move::WordRight),
        KeyCode::Left => Edit::Go(Move::Left),
        KeyCode::Right => Edit::Go(Move::Right),
        KeyCode::Home if control => Edit::Go(Move::Start),
        KeyCode::End if control => Edit::Go(Move::End),
        KeyCode::Home => Edit::Go(Move::LineStart),
        KeyCode::End => Edit::Go(Move::LineEnd),
        _ => return None,
    })
}
