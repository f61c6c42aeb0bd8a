//! The keys of the field.

use crossterm::event::{KeyCode, KeyEvent, KeyEventKind, KeyModifiers};
use neco_proto::{Command, Mode, Query};
use neco_view::slash::Slash;

use super::completing::wants_nothing_more;
use super::effect::Effect;
use super::{picking, stopping, taking_back, watching};
use crate::app::{Purpose, STOPPING, WindowState};
use crate::host::ImageSource;
use crate::input::{Action, Edit, Move, ViMode, picture_file};
use crate::told::is_command;

/// How long the second press of a key counts as one, in milliseconds.
const AGAIN_MS: i64 = 1500;

impl WindowState {
    /// A key was pressed.
    pub fn key(&mut self, key: KeyEvent) -> Vec<Effect> {
        if key.kind == KeyEventKind::Release {
            return Vec::new();
        }
        // Two quick presses of Esc arrive as one with Alt.
        if key.code == KeyCode::Esc && key.modifiers == KeyModifiers::ALT {
            let once = KeyEvent { modifiers: KeyModifiers::NONE, ..key };
            return [self.key(once), self.key(once)].concat();
        }
        let again = self.pressed.take();
        if self.prompt.searches() {
            return self.search_key(key);
        }
        if self.picker.is_some() {
            return picking::picker_key(self, key);
        }
        if let Some(effects) = self.question_key(key) {
            return effects;
        }
        if self.desk.is_empty()
            && let Some(effects) = watching::watched_key(self, key)
        {
            return effects;
        }
        self.typed_ms = Some(self.now_ms);
        self.strokes += u64::from(matches!(key.code, KeyCode::Char(_) | KeyCode::Enter));
        let stood = !self.prompt.text.is_empty();
        let effects = self.field_key(key, again);
        if stood && self.prompt.text.is_empty() {
            self.facing.emptied(self.now_ms);
        }
        effects
    }

    /// Something was pasted, or a file dropped.
    pub fn paste(&mut self, text: &str) -> Vec<Effect> {
        if self.prompt.searches() || self.picker.is_some() {
            return Vec::new();
        }
        self.prompt.completion = None;
        self.word = None;
        self.strokes += 1;
        self.go_to_field();
        if let Some(watched) =
            self.watched.as_ref().filter(|_| self.purpose == Purpose::Message && self.desk.is_empty())
        {
            self.purpose = Purpose::Agent(watched.agent);
        }
        // It stands in its place at once; should it be a picture, that takes its place later.
        if let Some(file) = picture_file(text) {
            self.dropped.push((file.clone(), self.prompt.paste(text)));
            return vec![Effect::Image(ImageSource::File(file))];
        }
        self.prompt.paste(text);
        Vec::new()
    }

    fn field_key(&mut self, key: KeyEvent, again: Option<(char, i64)>) -> Vec<Effect> {
        let closes = key.code == KeyCode::Esc && (self.prompt.completion.is_some() || self.panels.help);
        if !closes && self.prompt.vi_key(key).is_some() {
            // Nothing is offered to whoever only moves.
            let writes = self.prompt.vi_mode() == Some(ViMode::Insert);
            self.prompt.completion = None;
            return if writes { self.offer() } else { Vec::new() };
        }
        let empty = self.prompt.text.is_empty();
        if self.panels.help && self.scroll_help(key.code) {
            return Vec::new();
        }
        match self.keymap.action(key) {
            Some(Action::Submit) => self.submit(),
            Some(Action::Newline) => self.newline(),
            Some(Action::Later) => self.later(),
            Some(Action::Cancel) => self.escape(again),
            Some(Action::Interrupt) => self.interrupt(again),
            Some(Action::Leave) if empty => vec![Effect::Quit],
            Some(Action::Mode) => vec![Effect::Send(Command::SetMode { mode: next(self.standing.mode) })],
            Some(Action::Search) => {
                self.prompt.search();
                Vec::new()
            }
            Some(Action::Redraw) => vec![Effect::Redraw],
            Some(Action::Panel) => picking::panel(self),
            Some(Action::Expand) => self.expand(),
            Some(Action::Editor) => vec![Effect::EditPrompt(self.prompt.text.as_str().to_owned())],
            Some(Action::Picture) => vec![Effect::Image(ImageSource::Clipboard)],
            Some(Action::Copy) => self.run(&Slash::Copy),
            Some(Action::Suspend) => vec![Effect::Suspend],
            Some(Action::Help) if empty => {
                self.panels.help = !self.panels.help;
                self.panels.help_from = 0;
                Vec::new()
            }
            Some(Action::Leave | Action::Help) | None => self.edit_key(key),
        }
    }

    /// Not all keys have room on a small terminal.
    fn scroll_help(&mut self, key: KeyCode) -> bool {
        let by = match key {
            KeyCode::Up => -1,
            KeyCode::Down => 1,
            KeyCode::PageUp => -8,
            KeyCode::PageDown => 8,
            _ => return false,
        };
        self.panels.help_from = self.panels.help_from.saturating_add_signed(by);
        true
    }

    fn edit_key(&mut self, key: KeyEvent) -> Vec<Effect> {
        match key.code {
            KeyCode::Up if key.modifiers.is_empty() => self.vertical(false),
            KeyCode::Down if key.modifiers.is_empty() => self.vertical(true),
            KeyCode::Char('p') if key.modifiers == KeyModifiers::CONTROL => self.vertical(false),
            KeyCode::Char('n') if key.modifiers == KeyModifiers::CONTROL => self.vertical(true),
            _ => {
                let Some(edit) = edit_of(key) else { return Vec::new() };
                self.panels.help = false;
                self.prompt.edit(edit);
                self.offer()
            }
        }
    }

    fn newline(&mut self) -> Vec<Effect> {
        self.prompt.edit(Edit::Insert('\n'));
        self.prompt.completion = None;
        Vec::new()
    }

    /// Up in an empty field takes back what waits, before it goes to earlier messages.
    fn vertical(&mut self, down: bool) -> Vec<Effect> {
        let waits = self.transcript.waiting().next().is_some();
        let is_empty = self.prompt.text.is_empty() && !self.prompt.has_put_away();
        let takes_back = waits && !down && is_empty && self.purpose == Purpose::Message;
        match &mut self.prompt.completion {
            Some(completion) => completion.step(down),
            None if down => self.prompt.down(),
            None if takes_back => return taking_back::take_back_last(self).into_iter().collect(),
            None => self.prompt.up(),
        }
        Vec::new()
    }

    fn submit(&mut self) -> Vec<Effect> {
        if self.prompt.completion.is_some() && !self.offers.is_written_out(&self.prompt) {
            let effects = self.accept();
            return if wants_nothing_more(self.prompt.text.as_str()) { self.send(false) } else { effects };
        }
        let text = self.prompt.text.as_str();
        if text.ends_with('\\') && self.prompt.text.cursor() == text.len() {
            self.prompt.edit(Edit::Delete(Move::Left));
            return self.newline();
        }
        if text.trim().is_empty() && !matches!(self.purpose, Purpose::Reason(_)) {
            return Vec::new();
        }
        if self.set_up && self.desk.is_empty() && !is_command(text.trim()) {
            self.tell("nothing is asked right now: what you wrote waits here");
            return Vec::new();
        }
        self.send(false)
    }

    /// Takes what is chosen of what is offered.
    fn accept(&mut self) -> Vec<Effect> {
        if self.prompt.complete() { self.offer() } else { Vec::new() }
    }

    /// What is written is for after the work.
    fn later(&mut self) -> Vec<Effect> {
        if self.prompt.completion.is_some() {
            return self.accept();
        }
        let written = !self.prompt.text.as_str().trim().is_empty() && !self.set_up;
        if written && self.standing.works() { self.send(true) } else { Vec::new() }
    }

    /// Closes what is open, then stops the work, then the agents; twice without work goes back.
    fn escape(&mut self, again: Option<(char, i64)>) -> Vec<Effect> {
        if std::mem::take(&mut self.panels.help) || self.prompt.completion.take().is_some() {
            return Vec::new();
        }
        if self.purpose != Purpose::Message {
            self.purpose = Purpose::Message;
            return Vec::new();
        }
        if self.shell.is_some() {
            return vec![Effect::StopShell];
        }
        if self.standing.works() {
            return stopping::stop_work(self, STOPPING.to_owned());
        }
        if self.standing.going_back.is_some() {
            self.tell("going back is not stopped halfway; /undo takes it back when it is done");
            return Vec::new();
        }
        if self.set_up {
            return Vec::new();
        }
        if self.agents.working().count() > 0 {
            return stopping::stop_agents(self);
        }
        if self.is_again('e', again) {
            self.word = None;
            return picking::ask_for_list(self, Effect::Ask(Query::RewindPoints));
        }
        self.pressed = Some(('e', self.now_ms));
        self.tell("Esc again goes back to an earlier message");
        Vec::new()
    }

    /// Empties the field, then stops the work, then the agents, then ends.
    fn interrupt(&mut self, again: Option<(char, i64)>) -> Vec<Effect> {
        if !self.prompt.text.is_empty() {
            self.prompt.put_away();
            self.tell("↑ brings it back");
            return Vec::new();
        }
        if self.is_again('c', again) {
            return vec![stopping::leave(self)];
        }
        self.pressed = Some(('c', self.now_ms));
        if self.shell.is_some() {
            return vec![Effect::StopShell];
        }
        if self.standing.works() {
            let leaves = stopping::leaving(self);
            return stopping::stop_work(self, format!("{STOPPING}; {leaves}"));
        }
        if self.agents.working().count() > 0 {
            return stopping::stop_all(self, "; again leaves");
        }
        self.tell("again leaves; the session can be continued");
        Vec::new()
    }

    fn is_again(&self, key: char, pressed: Option<(char, i64)>) -> bool {
        pressed.is_some_and(|(before, when)| before == key && self.now_ms - when <= AGAIN_MS)
    }

    fn search_key(&mut self, key: KeyEvent) -> Vec<Effect> {
        let control = key.modifiers.contains(KeyModifiers::CONTROL);
        match key.code {
            KeyCode::Char('r') if control => self.prompt.search(),
            KeyCode::Char('c' | 'g') if control => self.prompt.leave_search(),
            KeyCode::Char(char) if !control => self.prompt.search_for(Some(char)),
            KeyCode::Backspace => self.prompt.search_for(None),
            KeyCode::Esc => self.prompt.leave_search(),
            _ => self.prompt.end_search(),
        }
        Vec::new()
    }
}

fn edit_of(key: KeyEvent) -> Option<Edit> {
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

fn next(mode: Mode) -> Mode {
    match mode {
        Mode::Agent => Mode::Plan,
        Mode::Plan => Mode::Ask,
        Mode::Ask => Mode::Debug,
        Mode::Debug => Mode::Agent,
    }
}
