//! How the window looks and behaves: what the settings say, and what the terminal can do.

use std::time::Duration;

use neco_config::section::{TuiNotifications, TuiSection, TuiTheme};
use neco_config::{Env, Loaded};
use neco_tui::input::Keymap;
use neco_tui::looks::Looks;
use neco_tui::term::{Depth, Notify};
use neco_tui::theme::ThemeName;

use crate::failure::Failure;

/// Terminals that do not fold their rows anew when they get narrower, by how their names begin.
const DO_NOT_REFLOW: [&str; 4] = ["xterm", "rxvt", "screen", "linux"];

/// Terminals that do not say what was pasted, by how their names begin.
const DO_NOT_MARK_PASTES: [&str; 5] = ["screen", "linux", "vt", "ansi", "cons"];

/// Variables of terminals that understand OSC 9, and of those that understand OSC 777.
const OSC9: [&str; 5] = ["KITTY_WINDOW_ID", "WEZTERM_PANE", "WT_SESSION", "GHOSTTY_RESOURCES_DIR", "ITERM_SESSION_ID"];
const OSC777: [&str; 1] = ["VTE_VERSION"];

/// How the window of these settings looks in this terminal.
///
/// # Errors
/// When a key of the settings is none.
pub fn of(loaded: &Loaded, env: &Env, most_turns: u32) -> Result<Looks, Failure> {
    let config = &loaded.config;
    let keys = keys(loaded)?;
    Ok(Looks {
        theme: theme(&config.tui, env),
        depth: depth(env),
        reflows: reflows(env),
        tmux: env.is_set("TMUX"),
        marks_pastes: marks_pastes(env),
        set_up: false,
        vi: config.tui.vi,
        keys,
        notify: notify(&config.tui, env),
        notify_after: Duration::try_from_secs_f64(config.tui.notify_after).unwrap_or(Duration::MAX),
        most_iterations: Some(most_turns),
        greeting: format!("Neco {}", env!("CARGO_PKG_VERSION")),
    })
}

fn keys(loaded: &Loaded) -> Result<Keymap, Failure> {
    let all = || loaded.config.tui.keys.iter().map(|(name, keys)| (name.as_str(), keys.as_str()));
    Keymap::with(all()).map_err(|words| {
        let wrong = all().find(|entry| Keymap::with([*entry]).is_err());
        let setting = wrong.and_then(|(name, _)| loaded.origins.get(&format!("tui.keys.{name}")));
        let place = setting.map(|setting| format!("{}: ", setting.origin)).unwrap_or_default();
        Failure::usage(format!("{place}[tui.keys] {words}"))
    })
}

fn reflows(env: &Env) -> bool {
    let term = env.var("TERM").unwrap_or_default();
    // Most terminals call themselves xterm; those that are more say so in another variable.
    let more = env.is_set("TMUX") || env.is_set("VTE_VERSION") || env.is_set("TERM_PROGRAM") || env.is_set("COLORTERM");
    more || !DO_NOT_REFLOW.iter().any(|name| term.starts_with(name))
}

/// A terminal that says nothing of itself is taken for one that can do little.
fn marks_pastes(env: &Env) -> bool {
    let term = env.var("TERM").unwrap_or_default();
    env.is_set("TMUX") || !(term.is_empty() || DO_NOT_MARK_PASTES.iter().any(|name| term.starts_with(name)))
}

fn notify(section: &TuiSection, env: &Env) -> Notify {
    let any = |variables: &[&str]| variables.iter().any(|variable| env.is_set(variable));
    match section.notifications {
        TuiNotifications::Off => Notify::Off,
        TuiNotifications::Bell => Notify::Bell,
        TuiNotifications::Auto if any(&OSC9) => Notify::Osc9,
        TuiNotifications::Auto if any(&OSC777) || env.var("TERM").is_some_and(|term| term.starts_with("foot")) => {
            Notify::Osc777
        }
        TuiNotifications::Auto => Notify::Bell,
    }
}

/// How many colours the terminal has, as far as its variables tell.
#[must_use]
pub fn depth(env: &Env) -> Depth {
    let term = env.var("TERM").unwrap_or_default();
    let many = env.var("COLORTERM").unwrap_or_default();
    if env.is_set("NO_COLOR") || term == "dumb" {
        Depth::None
    } else if many == "truecolor" || many == "24bit" || term.ends_with("-direct") {
        Depth::True
    } else if term.contains("256color") || ["alacritty", "xterm-kitty", "foot", "wezterm"].contains(&term) {
        Depth::Many
    } else {
        Depth::Sixteen
    }
}

/// The colours: those of the settings, else what fits the terminal.
#[must_use]
pub fn theme(section: &TuiSection, env: &Env) -> ThemeName {
    match section.theme {
        TuiTheme::Dark => ThemeName::Dark,
        TuiTheme::Light => ThemeName::Light,
        TuiTheme::Sixteen => ThemeName::Sixteen,
        TuiTheme::Plain => ThemeName::Plain,
        TuiTheme::Auto => match depth(env) {
            Depth::None => ThemeName::Plain,
            Depth::Sixteen => ThemeName::Sixteen,
            Depth::Many | Depth::True if is_light(env) => ThemeName::Light,
            Depth::Many | Depth::True => ThemeName::Dark,
        },
    }
}

/// Some terminals tell their colours, as numbers of the sixteen: `foreground;background`.
fn is_light(env: &Env) -> bool {
    let background = env.var("COLORFGBG").and_then(|colours| colours.rsplit(';').next()?.parse::<u8>().ok());
    background.is_some_and(|colour| colour == 7 || (9..=15).contains(&colour))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_terminal_says_what_it_can() {
        let env = |vars: &[(&'static str, &'static str)]| Env::for_test(vars.iter().copied(), "/h");
        let auto = TuiSection::default();
        let looks = |vars: &[(&'static str, &'static str)]| (depth(&env(vars)), theme(&auto, &env(vars)));
        assert_eq!(looks(&[("TERM", "xterm")]), (Depth::Sixteen, ThemeName::Sixteen));
        assert_eq!(looks(&[("TERM", "screen-256color")]), (Depth::Many, ThemeName::Dark));
        assert_eq!(looks(&[("COLORTERM", "truecolor"), ("COLORFGBG", "0;15")]), (Depth::True, ThemeName::Light));
        assert_eq!(looks(&[("TERM", "xterm"), ("NO_COLOR", "1")]), (Depth::None, ThemeName::Plain));
        let marks = |vars: &[(&'static str, &'static str)]| marks_pastes(&env(vars));
        assert!(marks(&[("TERM", "xterm-256color")]) && marks(&[("TERM", "screen-256color"), ("TMUX", "/t,1,0")]));
        assert!(!marks(&[("TERM", "screen")]) && !marks(&[("TERM", "linux")]) && !marks(&[]));
        let light = TuiSection { theme: TuiTheme::Light, ..TuiSection::default() };
        assert_eq!(theme(&light, &env(&[])), ThemeName::Light);
    }
}
