//! Telling somebody who looks elsewhere, and putting text into their clipboard: over ssh and through tmux too.

use base64::Engine as _;
use neco_proto::clean::clean_line;

const LONGEST: usize = 120;

/// Bytes that terminals put into the clipboard; most take no more than 100,000 in their coding, and say nothing.
const SURE: usize = 72_000;

/// How somebody who looks elsewhere is told.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Notify {
    /// Not at all.
    Off,
    /// By the bell, which every terminal knows and most show as a mark.
    #[default]
    Bell,
    /// By OSC 9: iTerm2, kitty, WezTerm, Ghostty, Windows Terminal.
    Osc9,
    /// By OSC 777: VTE, foot, urxvt.
    Osc777,
}

impl Notify {
    /// Its name in settings, and back.
    pub fn named(name: &str) -> Option<Self> {
        Some(match name {
            "off" => Self::Off,
            "bell" => Self::Bell,
            "osc9" => Self::Osc9,
            "osc777" => Self::Osc777,
            _ => return None,
        })
    }

    /// What tells of `text`.
    pub fn bytes(self, text: &str, tmux: bool) -> String {
        let text: String = clean_line(text).chars().filter(|char| *char != ';').take(LONGEST).collect();
        match self {
            Self::Off => String::new(),
            Self::Bell => "\x07".to_owned(),
            Self::Osc9 => through(&format!("\x1b]9;Neco {text}\x07"), tmux) + "\x07",
            Self::Osc777 => through(&format!("\x1b]777;notify;Neco;{text}\x07"), tmux) + "\x07",
        }
    }
}

/// What puts `text` into the clipboard of the person's own machine.
pub fn copy(text: &str, tmux: bool) -> String {
    let coded = base64::engine::general_purpose::STANDARD.encode(text);
    let plain = format!("\x1b]52;c;{coded}\x07");
    // tmux takes it itself or hands it on, depending on its settings: one of the two is heard.
    if tmux { format!("{plain}{}", through(&plain, true)) } else { plain }
}

/// What is said of a text that was put there: tmux and terminals do not say whether they took it.
pub fn copied(text: &str, tmux: bool) -> &'static str {
    match (text.len() > SURE, tmux) {
        (true, _) => "Sent to the clipboard; many terminals don't take so much",
        (false, true) => "Sent to the clipboard; tmux takes it if set-clipboard is on",
        (false, false) => "Copied, if your terminal allows it",
    }
}

/// A sequence in the wrapping that tmux hands on.
fn through(sequence: &str, tmux: bool) -> String {
    if tmux { format!("\x1bPtmux;{}\x1b\\", sequence.replace('\x1b', "\x1b\x1b")) } else { sequence.to_owned() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_in_the_text_ends_the_sequence() {
        assert_eq!(Notify::Osc9.bytes("is done\x07\x1b]0;x\x07; now", false), "\x1b]9;Neco is done now\x07\x07");
        assert_eq!(Notify::Osc777.bytes("a", true), "\x1bPtmux;\x1b\x1b]777;notify;Neco;a\x07\x1b\\\x07");
        assert_eq!(Notify::Off.bytes("a", false), "");
        assert_eq!(copy("hi", false), "\x1b]52;c;aGk=\x07");
    }
}
