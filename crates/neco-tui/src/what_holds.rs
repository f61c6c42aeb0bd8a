//! What holds in a session, and how it is changed: settings, the sandbox, hooks.
//!
//! A file of settings that can't be used hides nothing: what holds all the same is told, and what is wrong before it.

use std::fmt::Write;

use neco_proto::app::AppError;
use neco_proto::app::Known;
use neco_proto::app::commands::ListHooks;
use neco_proto::app::doctor::{SetSandbox, ShowSandbox, ShownSandbox};
use neco_proto::app::folders::{ListFolders, OpenFolders};
use neco_proto::app::settings::{
    CheckSettings, FindSettings, HoldsFrom, ListSettings, SetSettings, SettingList, SettingProblem, SettingRow,
};
use neco_proto::clean::clean_line;
use neco_view::figures;
use neco_view::paint::lists::settings;
use neco_view::setting::Setting;
use neco_view::short_id::short_id;
use neco_view::slash::{Outside, nearest};
use neco_view::wording::notices;

use crate::host::{Agreement, CommandOutcome};
use crate::outside::{Beyond, THEME, print, usage};

/// The setting of the sandbox's level.
const LEVEL: &str = "sandbox.level";

/// Whether a person has agreed that agents become freer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Freer {
    Agreed,
    Unasked,
}

/// `/config`, `/config KEY`, `/config KEY VALUE`.
pub(crate) async fn config(beyond: &Beyond<'_>, text: &str) -> Result<CommandOutcome, AppError> {
    if text.contains(char::is_whitespace) {
        return set(beyond, text, Freer::Unasked).await;
    }
    let list = beyond.ask(&ListSettings { folder: beyond.folder() }).await?;
    let told = match text {
        "" => settings::as_lines(&list.settings, true),
        key => one(&list, key)?,
    };
    Ok(print(&format!("{}{told}", broken(&list.problems))))
}

/// One setting, and where it comes from.
fn one(list: &SettingList, key: &str) -> Result<String, AppError> {
    let is_below = |row: &&SettingRow| row.key.strip_prefix(key).is_some_and(|rest| rest.starts_with('.'));
    let all = || list.settings.iter().chain(&list.unset);
    let Some(row) = all().find(|row| row.key == key) else {
        let below: Vec<SettingRow> = list.settings.iter().filter(is_below).cloned().collect();
        let near = nearest(key, all().map(|row| row.key.as_str()));
        return match (below.is_empty(), near) {
            (false, _) => Ok(settings::as_lines(&below, true)),
            (true, Some(near)) => Err(usage(format!("There is no setting {key}; did you mean {near}?"))),
            (true, None) => Err(usage(format!("There is no setting {key}; /config lists them"))),
        };
    };
    let mut text = match row.value.as_str() {
        "" => format!("{key} is not set\n"),
        value => format!("{key} = {value}\n  from {}\n", row.origins.join(", ")),
    };
    for line in [&row.meaning, &row.takes].into_iter().filter(|line| !line.is_empty()) {
        let _ = writeln!(text, "  {}", clean_line(line));
    }
    let _ = writeln!(text, "/config {key} VALUE sets it");
    Ok(text)
}

/// Writes to the person's own settings, and asks before where agents would be freer.
pub(crate) async fn set(beyond: &Beyond<'_>, text: &str, freer: Freer) -> Result<CommandOutcome, AppError> {
    let (key, value) = text.split_once(char::is_whitespace).unwrap_or((text, ""));
    if let Some(provider) = key.strip_prefix("model_providers.").and_then(|rest| rest.strip_suffix(".api_key")) {
        return Err(usage(format!("A key never follows a command: /login {provider} asks for it, hidden")));
    }
    let folder = beyond.folder();
    let check = CheckSettings { folder: folder.clone(), written: vec![format!("{key}={}", value.trim())] };
    let checked = beyond.ask(&check).await?;
    if checked.loosens && freer == Freer::Unasked {
        return Ok(CommandOutcome::Ask(Agreement {
            question: format!("Set {key} = {} in your settings?", value.trim()),
            means: "agents are freer then, in all sessions".to_owned(),
            yes: (Outside::FreerConfig, text.to_owned()),
        }));
    }
    let written = beyond.ask(&SetSettings { folder: folder.clone(), settings: checked.settings }).await?;
    let since = match written.from {
        Known::This(HoldsFrom::Window) if key == THEME => "later windows use it too",
        Known::This(HoldsFrom::Window) => "later windows use it",
        Known::This(HoldsFrom::Session) => "new sessions use it, this one does not",
        Known::This(HoldsFrom::Turn) => "in effect from the next turn on",
        Known::Newer(_) => "it is in effect later",
    };
    let now = beyond.ask(&ListSettings { folder }).await?;
    let hidden = now.settings.iter().find(|row| row.key == key && row.layer != "user");
    let hidden = hidden.and_then(|row| {
        let (value, origin) = (&row.value, row.origins.first()?);
        Some(match written.from {
            // The window itself may have it already.
            Known::This(HoldsFrom::Window) => {
                format!("\n{origin} comes before it in windows that are opened later: {value}")
            }
            Known::This(HoldsFrom::Session | HoldsFrom::Turn) | Known::Newer(_) => {
                format!("\nHere it is still {value}: {origin} comes before")
            }
        })
    });
    Ok(CommandOutcome::Say(format!("{key} is set in {}; {since}{}", written.file, hidden.unwrap_or_default())))
}

/// What commands run in; with a level, another one for this session, which is asked about where that is freer.
pub(crate) async fn sandbox(beyond: &Beyond<'_>, level: &str) -> Result<CommandOutcome, AppError> {
    let session = beyond.snapshot().await?.session_id.to_string();
    let shown = beyond.ask(&ShowSandbox { folder: beyond.folder(), session }).await?;
    if level.is_empty() {
        let told = format!("{}{}", broken(&shown.problems), described(&shown));
        return Ok(CommandOutcome::Choose(Setting::Sandbox, shown.level, told));
    }
    let rank = |level: &str| Setting::Sandbox.words().iter().position(|(known, _)| *known == level);
    if rank(level) > rank(&shown.level) {
        let means =
            Setting::Sandbox.words().iter().find(|(known, _)| *known == level).map(|(_, about)| (*about).to_owned());
        return Ok(CommandOutcome::Ask(Agreement {
            question: format!("Run the agent's commands with sandbox {level} in this session?"),
            means: means.unwrap_or_default(),
            yes: (Outside::FreerSandbox, level.to_owned()),
        }));
    }
    set_sandbox(beyond, level).await
}

/// Gives this session another sandbox.
pub(crate) async fn set_sandbox(beyond: &Beyond<'_>, level: &str) -> Result<CommandOutcome, AppError> {
    let session = beyond.snapshot().await?.session_id.to_string();
    let shown = beyond.ask(&SetSandbox { session, level: level.to_owned() }).await?;
    let words = format!(
        "From the next turn on the agent's commands run in: {}, while this session is open; /config {LEVEL} {level} is \
         for all",
        shown.in_short
    );
    Ok(CommandOutcome::Say(words))
}

fn described(shown: &ShownSandbox) -> String {
    let mut text = format!("The agent's commands run in: {}\n", shown.in_short);
    shown.gaps.iter().for_each(|gap| text.push_str(&format!("open: {gap}\n")));
    text
}

/// Every hook that is plugged in.
pub(crate) async fn hooks(beyond: &Beyond<'_>) -> Result<CommandOutcome, AppError> {
    let list = beyond.ask(&ListHooks { folder: beyond.folder() }).await?;
    let mut text = broken(&list.problems);
    for hook in &list.hooks {
        let _ = writeln!(text, "{:<18} {:<16} {}", hook.event, hook.matcher, clean_line(&hook.command));
        let _ = writeln!(text, "    {}", beyond.shown(&hook.file));
    }
    if let Some(note) = &list.note {
        let _ = writeln!(text, "{note}");
    }
    if list.hooks.is_empty() && list.note.is_none() {
        let own = beyond.ask(&FindSettings { folder: beyond.folder() }).await?.own;
        let _ = write!(
            text,
            "No hooks. They stand in {} ([[hooks.PreToolUse]] with matcher and command) or, as Claude Code has them, in \
             .claude/settings.json.",
            beyond.shown(&own)
        );
    }
    Ok(print(&text))
}

/// What holds here.
pub(crate) async fn status(beyond: &Beyond<'_>) -> Result<CommandOutcome, AppError> {
    let session = beyond.snapshot().await?;
    let id = session.session_id.to_string();
    let sandbox = beyond.ask(&ShowSandbox { folder: beyond.folder(), session: id.clone() }).await?;
    let files = beyond.ask(&FindSettings { folder: beyond.folder() }).await?;
    let used = figures::usage(&session.usage).unwrap_or_else(|| "nothing yet".to_owned());
    let rows = [
        ("Session", format!("{}  {}", short_id(session.session_id), clean_line(&session.title)), "/resume"),
        ("Folder", beyond.shown(&session.cwd), ""),
        ("Model", clean_line(&session.model), "/model"),
        ("Mode", session.mode.to_string(), "/mode"),
        ("Asks", notices::asks(session.approval).to_owned(), "/approval"),
        ("Tool level", session.generation.to_string(), "/gen"),
        ("Sandbox", sandbox.in_short, "/sandbox"),
        ("Settings", beyond.shown(&files.own), "/config"),
        ("Used", used, "/cost"),
    ];
    let allow_rules = notices::allow_rules(&beyond.session_rules().await);
    let allow_rules = allow_rules.map(|count| ("Rules", count, "/permissions"));
    // A session of another process does not say.
    let OpenFolders { folders } = beyond.ask(&ListFolders { session: id }).await.unwrap_or_default();
    let open = folders.iter().map(|folder| ("Also open", beyond.shown(folder), "/add-dir"));
    // The value stands last: however long it is, it pushes nothing out of its column.
    let line = |(name, value, with): &(&str, String, &str)| format!("{name:<11} {with:<12} {value}\n");
    let text: String = rows.into_iter().chain(allow_rules).chain(open).map(|row| line(&row)).collect();
    Ok(print(&format!("{}{text}", broken(&files.problems))))
}

/// What is wrong in files of settings, and what helps; nothing where all is well.
pub(crate) fn broken(problems: &[SettingProblem]) -> String {
    if problems.is_empty() {
        return String::new();
    }
    let lines: String = problems.iter().map(|problem| format!("  ! {}\n", clean_line(&problem.words))).collect();
    format!(
        "Your settings can't be used as they are; what is open keeps what it had:\n{lines}  /config opens the file, \
         /config KEY VALUE mends a value\n\n"
    )
}
