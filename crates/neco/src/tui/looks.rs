//! How the window looks and behaves: what the settings say, and what the terminal can do.

use std::time::Duration;

use neco_config::section::{
    GroupSection, SandboxLevel, SandboxNetwork, SandboxSection, Strategy, TuiNotifications, TuiTheme,
};
use neco_config::{Env, Loaded};
use neco_tui::input::Keymap;
use neco_tui::looks::Looks;
use neco_tui::term::{Abilities, Notify};
use neco_tui::theme::ThemeName;

use crate::failure::Failure;

/// How the window of these settings looks in this terminal.
pub fn of(loaded: &Loaded, env: &Env, most_turns: u32) -> Result<Looks, Failure> {
    let (tui, terminal) = (&loaded.config.tui, Abilities::new(|name| env.var(name)));
    Ok(Looks {
        theme: match tui.theme {
            TuiTheme::Dark => ThemeName::Dark,
            TuiTheme::Light => ThemeName::Light,
            TuiTheme::Sixteen => ThemeName::Sixteen,
            TuiTheme::Plain => ThemeName::Plain,
            TuiTheme::Auto => terminal.theme(),
        },
        ground: None,
        asks_ground: terminal.ground_patience().filter(|_| matches!(tui.theme, TuiTheme::Auto)),
        depth: terminal.depth(),
        reflows: terminal.reflows(),
        tmux: terminal.tmux(),
        marks_pastes: terminal.marks_pastes(),
        set_up: false,
        resume: None,
        vi: tui.vi,
        keys: keys(loaded)?,
        notify: match tui.notifications {
            TuiNotifications::Off => Notify::Off,
            TuiNotifications::Bell => Notify::Bell,
            TuiNotifications::Auto => terminal.notify(),
        },
        notify_after: Duration::try_from_secs_f64(tui.notify_after).unwrap_or(Duration::MAX),
        most_iterations: Some(most_turns),
        most_cost: loaded.config.agent.max_cost,
        home: env.var("HOME").map(str::to_owned),
        greeting: format!("Neco {}", env!("CARGO_PKG_VERSION")),
        groups: groups(loaded),
        facts: vec![("Sandbox", sandbox(&loaded.config.sandbox), "/sandbox")],
    })
}

/// The groups of models, each with who of it answers.
fn groups(loaded: &Loaded) -> Vec<(String, String)> {
    let words = |(name, group): (&String, &GroupSection)| {
        let models: Vec<String> = group.models.iter().map(String::as_str).map(bare).collect();
        let first = models.first()?;
        let words = match group.strategy {
            Strategy::First => format!("{first} · first of the group {name}"),
            Strategy::RoundRobin if models.len() == 1 => format!("{first} · all of the group {name}"),
            Strategy::RoundRobin => format!("{} · in turn, the group {name}", models.join(", ")),
            Strategy::Cheapest => format!("the cheapest of the group {name}"),
        };
        Some((name.clone(), words))
    };
    loaded.config.model_groups.iter().filter_map(words).collect()
}

/// `glm-4.7` of `zhipu/glm-4.7?effort=low`.
fn bare(model: &str) -> String {
    neco_view::wording::notices::model_name(model.split('?').next().unwrap_or(model))
}

/// What commands may touch, in a few words.
fn sandbox(sandbox: &SandboxSection) -> String {
    let writes = match sandbox.level {
        SandboxLevel::Full => return "none: commands can do anything you can".to_owned(),
        SandboxLevel::ReadOnly => "commands read, and write only to a temporary folder",
        SandboxLevel::WorkspaceWrite => "writes in this folder and a /tmp of its own",
    };
    let network = match sandbox.network {
        SandboxNetwork::On => "network",
        SandboxNetwork::Off => "no network",
    };
    format!("{writes}, {network}")
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
