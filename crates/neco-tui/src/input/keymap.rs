//! Which keys do what, as people may choose themselves.

use std::fmt;

use crossterm::event::{KeyCode, KeyEvent, KeyModifiers};

/// Something that a key does; [`ACTIONS`] says what.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Action {
    Submit,
    Newline,
    Later,
    Cancel,
    Interrupt,
    Leave,
    Mode,
    Search,
    Redraw,
    Panel,
    Expand,
    Background,
    Editor,
    Picture,
    Copy,
    Suspend,
    Model,
    Help,
}

/// Every action with its name, its keys and what it does.
pub const ACTIONS: &[(Action, &str, &[&str], &str)] = &[
    (Action::Submit, "submit", &["enter"], "send; steers it at work"),
    (Action::Later, "later", &["tab"], "queue for after the work"),
    (Action::Newline, "newline", &["shift-enter", "alt-enter", "ctrl-j"], "new line, as \\ at the end"),
    (Action::Search, "search", &["ctrl-r"], "search the history"),
    (Action::Editor, "editor", &["ctrl-g"], "write in your editor"),
    (Action::Picture, "picture", &["ctrl-v", "alt-v"], "paste a picture"),
    (Action::Cancel, "cancel", &["esc"], "stop; again: pause agents"),
    (Action::Interrupt, "interrupt", &["ctrl-c"], "clear, stop; twice: leave"),
    (Action::Leave, "leave", &["ctrl-d"], "leave, if nothing is typed"),
    (Action::Suspend, "suspend", &["ctrl-z"], "to the shell; `fg` returns"),
    (Action::Expand, "expand", &["ctrl-o"], "unfold calls, thoughts"),
    (Action::Background, "background", &["ctrl-b"], "command to background"),
    (Action::Panel, "panel", &["ctrl-t"], "agents and todo"),
    (Action::Copy, "copy", &["alt-c"], "copy the last answer"),
    (Action::Redraw, "redraw", &["ctrl-l"], "redraw the screen"),
    (Action::Mode, "mode", &["shift-tab"], "ask, accept edits, plan"),
    (Action::Model, "model", &["alt-p"], "model"),
    (Action::Help, "help", &["?"], "these keys"),
];

/// A key with what is held down with it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Chord {
    code: KeyCode,
    modifiers: KeyModifiers,
}

/// Which keys do what.
#[derive(Clone, Debug)]
pub struct Keymap {
    keys: Vec<(Chord, Action)>,
}

impl Default for Keymap {
    fn default() -> Self {
        let of = |(action, _, keys, _): &(Action, &str, &[&str], &str)| {
            let action = *action;
            keys.iter().filter_map(move |key| Some((Chord::read(key)?, action))).collect::<Vec<_>>()
        };
        Self { keys: ACTIONS.iter().flat_map(of).collect() }
    }
}

impl Keymap {
    /// The usual keys, with those of the person in their place: the name of an action and its keys, separated by
    /// blanks; no keys at all take it off the keyboard.
    ///
    /// # Errors
    /// What is wrong, in words.
    pub fn with<'a>(settings: impl IntoIterator<Item = (&'a str, &'a str)>) -> Result<Self, String> {
        let mut keymap = Self::default();
        for (name, keys) in settings {
            let action = ACTIONS.iter().find(|(_, known, ..)| *known == name).map(|(action, ..)| *action);
            let action = action.ok_or_else(|| no_action(name))?;
            keymap.keys.retain(|(_, known)| *known != action);
            for key in keys.split_whitespace() {
                let chord = Chord::read(key)
                    .ok_or_else(|| format!("{name} = “{key}”: no such key; such as ctrl-o, alt-enter, f2"))?;
                keymap.keys.retain(|(known, _)| *known != chord);
                keymap.keys.push((chord, action));
            }
        }
        Ok(keymap)
    }

    /// What a key does.
    pub fn action(&self, key: KeyEvent) -> Option<Action> {
        let chord = Chord::of(key);
        self.keys.iter().find(|(known, _)| *known == chord).map(|(_, action)| *action)
    }

    /// The keys of an action, as people write them.
    pub fn keys(&self, action: Action) -> String {
        let keys: Vec<String> =
            self.keys.iter().filter(|(_, known)| *known == action).map(|(chord, _)| chord.to_string()).collect();
        keys.join(", ")
    }
}

/// That there is no such action, and which one may be meant.
fn no_action(name: &str) -> String {
    let names = || ACTIONS.iter().map(|(_, name, ..)| *name);
    match neco_view::slash::nearest(name, names()) {
        Some(meant) => format!("there is no action “{name}”; did you mean “{meant}”?"),
        None => format!("there is no action “{name}”; there are {}", names().collect::<Vec<_>>().join(", ")),
    }
}

impl Chord {
    fn of(key: KeyEvent) -> Self {
        let held = key.modifiers & (KeyModifiers::CONTROL | KeyModifiers::ALT | KeyModifiers::SHIFT);
        match key.code {
            // Shift is in the character already; terminals differ in whether they say it again.
            KeyCode::Char(char) if held.contains(KeyModifiers::CONTROL) => {
                Self { code: KeyCode::Char(char.to_ascii_lowercase()), modifiers: held - KeyModifiers::SHIFT }
            }
            KeyCode::Char(_) => Self { code: key.code, modifiers: held - KeyModifiers::SHIFT },
            KeyCode::BackTab => Self { code: KeyCode::Tab, modifiers: held | KeyModifiers::SHIFT },
            code => Self { code, modifiers: held },
        }
    }

    /// A key as people write it.
    pub fn read(text: &str) -> Option<Self> {
        let mut modifiers = KeyModifiers::NONE;
        let mut rest = text;
        loop {
            let held = [("ctrl-", KeyModifiers::CONTROL), ("alt-", KeyModifiers::ALT), ("shift-", KeyModifiers::SHIFT)];
            let found = held.into_iter().find_map(|(name, held)| Some((rest.strip_prefix(name)?, held)));
            match found.filter(|(after, _)| !after.is_empty()) {
                Some((after, held)) => {
                    rest = after;
                    modifiers |= held;
                }
                None => break,
            }
        }
        let code = match rest {
            "enter" => KeyCode::Enter,
            "esc" => KeyCode::Esc,
            "tab" => KeyCode::Tab,
            "space" => KeyCode::Char(' '),
            "up" => KeyCode::Up,
            "down" => KeyCode::Down,
            "left" => KeyCode::Left,
            "right" => KeyCode::Right,
            "home" => KeyCode::Home,
            "end" => KeyCode::End,
            "pageup" => KeyCode::PageUp,
            "pagedown" => KeyCode::PageDown,
            "delete" => KeyCode::Delete,
            "backspace" => KeyCode::Backspace,
            other => named(other)?,
        };
        Some(Self { code, modifiers })
    }
}

fn named(text: &str) -> Option<KeyCode> {
    let mut chars = text.chars();
    match (chars.next()?, chars.as_str()) {
        (char, "") => Some(KeyCode::Char(char)),
        ('f', number) => number.parse().ok().filter(|number| (1..=24).contains(number)).map(KeyCode::F),
        _ => None,
    }
}

impl fmt::Display for Chord {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (held, name) in
            [(KeyModifiers::CONTROL, "Ctrl-"), (KeyModifiers::ALT, "Alt-"), (KeyModifiers::SHIFT, "Shift-")]
        {
            if self.modifiers.contains(held) {
                out.write_str(name)?;
            }
        }
        match self.code {
            KeyCode::Char(' ') => out.write_str("Space"),
            KeyCode::Char(char) if self.modifiers.is_empty() => write!(out, "{char}"),
            KeyCode::Char(char) => write!(out, "{}", char.to_uppercase()),
            code => write!(out, "{code}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn key(code: KeyCode, modifiers: KeyModifiers) -> KeyEvent {
        KeyEvent::new(code, modifiers)
    }

    #[test]
    fn every_action_has_keys_that_read() {
        for (action, name, keys, help) in ACTIONS {
            assert!(!help.is_empty() && !keys.is_empty(), "{name}");
            for text in *keys {
                let chord = Chord::read(text).unwrap();
                let found = Keymap::default().keys.iter().filter(|(known, _)| *known == chord).count();
                assert_eq!(found, 1, "{text}");
            }
            assert_ne!(Keymap::default().keys(*action), "");
        }
    }

    #[test]
    fn people_choose_their_own() {
        let keymap = Keymap::with([("expand", "f2 ctrl-e"), ("suspend", "")]).unwrap();
        assert_eq!(keymap.action(key(KeyCode::F(2), KeyModifiers::NONE)), Some(Action::Expand));
        assert_eq!(keymap.action(key(KeyCode::Char('o'), KeyModifiers::CONTROL)), None);
        assert_eq!(keymap.action(key(KeyCode::Char('z'), KeyModifiers::CONTROL)), None);
        assert_eq!(keymap.keys(Action::Expand), "F2, Ctrl-E");
        assert!(Keymap::with([("expnd", "f2")]).unwrap_err().contains("expand"));
        assert!(Keymap::with([("expand", "hyper-x")]).is_err());
    }

    #[test]
    fn terminals_say_shift_in_their_own_ways() {
        let keymap = Keymap::default();
        assert_eq!(keymap.action(key(KeyCode::BackTab, KeyModifiers::SHIFT)), Some(Action::Mode));
        assert_eq!(keymap.action(key(KeyCode::BackTab, KeyModifiers::NONE)), Some(Action::Mode));
        assert_eq!(keymap.action(key(KeyCode::Char('?'), KeyModifiers::SHIFT)), Some(Action::Help));
        assert_eq!(keymap.action(key(KeyCode::Enter, KeyModifiers::SHIFT)), Some(Action::Newline));
    }
}
