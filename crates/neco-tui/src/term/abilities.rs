//! What a terminal can do, as far as the variables of its programs tell.

use std::time::Duration;

use super::{Depth, Notify};
use crate::theme::ThemeName;

/// Terminals that do not fold their rows anew when they get narrower, by how their names begin.
const DO_NOT_REFLOW: [&str; 4] = ["xterm", "rxvt", "screen", "linux"];

/// Terminals that do not say what was pasted, by how their names begin.
const DO_NOT_MARK_PASTES: [&str; 5] = ["screen", "linux", "vt", "ansi", "cons"];

/// Variables of terminals that understand OSC 9, and of those that understand OSC 777.
const OSC9: [&str; 5] = ["KITTY_WINDOW_ID", "WEZTERM_PANE", "WT_SESSION", "GHOSTTY_RESOURCES_DIR", "ITERM_SESSION_ID"];
const OSC777: [&str; 1] = ["VTE_VERSION"];

/// How long a terminal beside us, and one far away, may take for an answer.
const NEAR: Duration = Duration::from_millis(300);
const FAR: Duration = Duration::from_secs(1);

/// Finds a variable.
type Variables<'a> = Box<dyn Fn(&str) -> Option<&'a str> + 'a>;

/// What the variables say of a terminal.
pub struct Abilities<'a>(Variables<'a>);

impl<'a> Abilities<'a> {
    /// Of the terminal of a process with these variables.
    pub fn new(var: impl Fn(&str) -> Option<&'a str> + 'a) -> Self {
        Self(Box::new(var))
    }

    fn is_set(&self, name: &str) -> bool {
        (self.0)(name).is_some_and(|value| !value.is_empty())
    }

    fn term(&self) -> &'a str {
        (self.0)("TERM").unwrap_or_default()
    }

    /// Whether tmux is in between.
    pub fn tmux(&self) -> bool {
        self.is_set("TMUX")
    }

    /// Whether rows are folded anew when it gets narrower.
    pub fn reflows(&self) -> bool {
        // Most terminals call themselves xterm; those that are more say so in another variable.
        let more = ["TMUX", "VTE_VERSION", "TERM_PROGRAM", "COLORTERM"].iter().any(|name| self.is_set(name));
        more || !DO_NOT_REFLOW.iter().any(|name| self.term().starts_with(name))
    }

    /// Whether it says what was pasted. One that says nothing of itself is taken for one that can do little.
    pub fn marks_pastes(&self) -> bool {
        let term = self.term();
        self.tmux() || !(term.is_empty() || DO_NOT_MARK_PASTES.iter().any(|name| term.starts_with(name)))
    }

    /// How somebody who looks elsewhere is told.
    pub fn notify(&self) -> Notify {
        let any = |variables: &[&str]| variables.iter().any(|variable| self.is_set(variable));
        if any(&OSC9) {
            Notify::Osc9
        } else if any(&OSC777) || self.term().starts_with("foot") {
            Notify::Osc777
        } else {
            Notify::Bell
        }
    }

    /// How many colours it has.
    pub fn depth(&self) -> Depth {
        let term = self.term();
        let many = (self.0)("COLORTERM").unwrap_or_default();
        if self.is_set("NO_COLOR") || term == "dumb" {
            Depth::None
        } else if many == "truecolor" || many == "24bit" || term.ends_with("-direct") {
            Depth::True
        } else if term.contains("256color") || ["alacritty", "xterm-kitty", "foot", "wezterm"].contains(&term) {
            Depth::Many
        } else {
            Depth::Sixteen
        }
    }

    /// The colours that fit it.
    pub fn theme(&self) -> ThemeName {
        match self.depth() {
            Depth::None => ThemeName::Plain,
            Depth::Sixteen => ThemeName::Sixteen,
            Depth::Many | Depth::True if self.is_light() => ThemeName::Light,
            Depth::Many | Depth::True => ThemeName::Dark,
        }
    }

    /// How long the terminal may take to say whether its ground is dark or light; none where it has said so already, or has
    /// no colours that depend on it.
    pub fn ground_patience(&self) -> Option<Duration> {
        let has_grounds = matches!(self.depth(), Depth::Many | Depth::True);
        let far = ["SSH_CONNECTION", "SSH_TTY"].iter().any(|name| self.is_set(name));
        (has_grounds && !self.is_set("COLORFGBG")).then_some(if far { FAR } else { NEAR })
    }

    /// Some terminals tell their colours, as numbers of the sixteen: `foreground;background`.
    fn is_light(&self) -> bool {
        let background = (self.0)("COLORFGBG").and_then(|colours| colours.rsplit(';').next()?.parse::<u8>().ok());
        background.is_some_and(|colour| colour == 7 || (9..=15).contains(&colour))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_terminal_says_what_it_can() {
        let of = |vars: &'static [(&'static str, &'static str)]| {
            Abilities::new(move |name| vars.iter().find(|(known, _)| *known == name).map(|(_, value)| *value))
        };
        let looks = |vars| (of(vars).depth(), of(vars).theme());
        assert_eq!(looks(&[("TERM", "xterm")]), (Depth::Sixteen, ThemeName::Sixteen));
        assert_eq!(looks(&[("TERM", "screen-256color")]), (Depth::Many, ThemeName::Dark));
        assert_eq!(looks(&[("COLORTERM", "truecolor"), ("COLORFGBG", "0;15")]), (Depth::True, ThemeName::Light));
        assert_eq!(looks(&[("TERM", "xterm"), ("NO_COLOR", "1")]), (Depth::None, ThemeName::Plain));
        let patience = |vars| of(vars).ground_patience();
        assert_eq!(patience(&[("TERM", "xterm-256color")]), Some(NEAR));
        assert_eq!(patience(&[("TERM", "xterm-256color"), ("SSH_TTY", "/dev/pts/1")]), Some(FAR));
        assert_eq!((patience(&[("TERM", "xterm")]), patience(&[("COLORFGBG", "0;15")])), (None, None));
        let marks = |vars| of(vars).marks_pastes();
        assert!(marks(&[("TERM", "xterm-256color")]) && marks(&[("TERM", "screen-256color"), ("TMUX", "/t,1,0")]));
        assert!(!marks(&[("TERM", "screen")]) && !marks(&[("TERM", "linux")]) && !marks(&[]));
    }
}
