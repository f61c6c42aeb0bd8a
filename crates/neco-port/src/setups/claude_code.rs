//! Claude Code: `~/.claude`, `~/.claude.json`, `.claude` and `.mcp.json` of a project.

use std::path::Path;

use neco_proto::app::port::Program;
use neco_proto::app::setups::SetupKind;
use neco_view::figures::count;
use serde_json::{Map, Value};

use super::claude_plugins::Marketplaces;
use super::models::{TheirProvider, choose, key, model, provide};
use super::permissions::{self, Ruling};
use super::piece::Take;
use super::reading::{Reading, Source};
use super::{servers, taken, texts as copied};

/// What stands for the newest model of a kind.
const ALIASES: [(&str, &str); 3] =
    [("opus", "claude-opus-5-5"), ("sonnet", "claude-sonnet-5-5"), ("haiku", "claude-haiku-5-5")];

const TRUSTED: &str = "once the folder is trusted";

/// What is said of a server that counts in one project.
const IN_PROJECT: &str = "it counts in this project alone, so it is in its .mcp.json, which others get with the project; it is on once the \
    folder is trusted";

/// Settings that have no meaning here, and why.
const NOT_HERE: [(&str, &str); 3] = [
    ("statusLine", "the status line is set under [tui]"),
    ("outputStyle", "there are no output styles; `neco config` and AGENTS.md say how answers read"),
    ("apiKeyHelper", "a program that prints a key is not run; `neco login anthropic` keeps one"),
];

pub(super) fn read(reading: &mut Reading) {
    let folder = reading.places.homes.claude_code.clone();
    let mut marketplaces = Marketplaces::known(reading);
    for name in ["settings.json", "settings.local.json"] {
        let file = folder.join(name);
        let from = Source::person(&file);
        if let Some(mut settings) = reading.json(from) {
            marketplaces.wanted(reading, &mut settings, from);
            of_person(reading, settings, from);
        }
    }
    own_state(reading);
    for (kind, name) in [
        (SetupKind::Rules, "CLAUDE.md"),
        (SetupKind::Command, "commands"),
        (SetupKind::Agent, "agents"),
        (SetupKind::Skill, "skills"),
    ] {
        // Neco looks in the home folder, wherever the variable of Claude Code points to.
        let there = folder.join(name);
        if folder == reading.places.home.join(".claude") {
            reading.in_place(kind, Source::person(&there), "");
        } else {
            elsewhere(reading, kind, &there);
        }
    }
    let credentials = folder.join(".credentials.json");
    if credentials.is_file() {
        key(reading, "anthropic", Source::person(&credentials), true);
    }
    let memory = reading.project.clone().map(|project| (folder.join("projects").join(dashed(&project)), project));
    if let Some((kept, project)) = memory {
        memories(reading, &kept.join("memory"), &project);
    }
    if let Some(project) = reading.project.clone() {
        of_project(reading, &project, &mut marketplaces);
    }
    copied::sessions(reading, Program::ClaudeCode);
}

fn elsewhere(reading: &mut Reading, kind: SetupKind, there: &Path) {
    let from = Source::person(there);
    match kind {
        SetupKind::Rules => copied::rules(reading, from, "claude-code"),
        SetupKind::Skill => copied::skills(reading, from),
        SetupKind::Command => copied::markdown(reading, kind, from, "commands"),
        _ => copied::markdown(reading, kind, from, "agents"),
    }
}

fn of_person(reading: &mut Reading, mut settings: Value, from: Source<'_>) {
    if let Some(theirs) = taken::text(&mut settings, "model").filter(|theirs| theirs != "default") {
        choose(reading, &theirs, model_here(&theirs), from);
    }
    environment(reading, &mut settings, from);
    // Neco reads that file in place.
    let is_usual = from.file == reading.places.home.join(".claude/settings.json");
    permitted(reading, &mut settings, from, is_usual);
    hooks(reading, taken::entries(&mut settings, "hooks"), from, is_usual);
    reading.rest(settings, &NOT_HERE, from);
}

fn permitted(reading: &mut Reading, settings: &mut Value, from: Source<'_>, is_usual: bool) {
    let base = reading.places.home.clone();
    for (list, ruling) in
        [("permissions.deny", Ruling::Deny), ("permissions.ask", Ruling::Ask), ("permissions.allow", Ruling::Allow)]
    {
        for written in taken::texts(settings, list) {
            // What asks and denies holds without being copied.
            if is_usual && ruling != Ruling::Allow {
                let words = vec!["`policy.other_agents` says how far it counts".to_owned()];
                let name = format!("{} {written}", ruling.name());
                reading.add(SetupKind::Permission, name, from, Take::InPlace, words);
            } else {
                permissions::add(reading, &written, ruling, from, &base);
            }
        }
    }
    for folder in taken::texts(settings, "permissions.additionalDirectories") {
        reading.leave(SetupKind::Setting, folder, from, "`roots` in your settings, or --add-dir, opens another folder");
    }
    match taken::text(settings, "permissions.defaultMode").as_deref() {
        Some("acceptEdits") => approval(reading, "accept_edits", from),
        Some("plan") => reading.leave(SetupKind::Setting, "plan", from, "`--mode plan`, or Shift-Tab, plans first"),
        Some("dontAsk") => {
            let words = "where nobody is there to be asked, what no rule allows is refused anyway";
            reading.leave(SetupKind::Setting, "dontAsk", from, words);
        }
        Some(name @ ("auto" | "bypassPermissions")) => {
            let words = "--yes, or `approval = \"auto\"`, asks only about what is high risk";
            reading.leave(SetupKind::Setting, name, from, words);
        }
        Some("default") => reading.add(SetupKind::Setting, "defaultMode", from, Take::Already, Vec::new()),
        Some(other) => reading.refuse(SetupKind::Setting, "defaultMode", from, &format!("{other} is not known here")),
        None => {}
    }
}

fn hooks(reading: &mut Reading, hooks: Map<String, Value>, from: Source<'_>, is_usual: bool) {
    if !is_usual {
        return super::hooks::add(reading, hooks, from, 1.0);
    }
    for (event, groups) in hooks {
        match neco_proto::event::HookEvent::named(&event) {
            Some(_) if groups.is_array() => {
                let hooks = groups.as_array().into_iter().flatten().filter_map(|group| group.get("hooks")?.as_array());
                let kinds = hooks.flatten().map(|hook| hook.get("type").and_then(Value::as_str).unwrap_or("command"));
                let (commands, others): (Vec<&str>, Vec<&str>) = kinds.partition(|kind| *kind == "command");
                for kind in others {
                    reading.refuse(SetupKind::Hook, format!("{event} {kind}"), from, super::hooks::NO_COMMAND);
                }
                if !commands.is_empty() {
                    reading.add(SetupKind::Hook, event, from, Take::InPlace, Vec::new());
                }
            }
            Some(_) => reading.refuse(SetupKind::Hook, event, from, "it is no list of hooks"),
            None => reading.refuse(SetupKind::Hook, event, from, "Neco has no such moment"),
        }
    }
}

fn approval(reading: &mut Reading, value: &str, from: Source<'_>) {
    let set = vec![neco_proto::app::settings::NewSetting { key: "approval".to_owned(), value: value.into() }];
    reading.add(SetupKind::Setting, "acceptEdits", from, Take::Set(set), vec![format!("`approval = \"{value}\"`")]);
}

fn model_here(theirs: &str) -> Option<String> {
    // `sonnet[1m]` asks for a longer window.
    let bare = theirs.split('[').next().unwrap_or(theirs);
    let bare = if matches!(bare, "opusplan" | "best") { "opus" } else { bare };
    let newest = ALIASES.iter().find(|(alias, _)| *alias == bare).map(|(_, newest)| format!("anthropic/{newest}"));
    newest.or_else(|| model(bare))
}

/// Variables that say whom to ask.
fn environment(reading: &mut Reading, settings: &mut Value, from: Source<'_>) {
    let has_token = settings.pointer("/env/ANTHROPIC_AUTH_TOKEN").is_some();
    if let Some(base) = taken::text(settings, "env.ANTHROPIC_BASE_URL") {
        let provider = TheirProvider {
            name: "claude-code".to_owned(),
            title: Some("Claude Code's server".to_owned()),
            kind: Some("anthropic"),
            base: Some(base),
            variable: Some(if has_token { "ANTHROPIC_AUTH_TOKEN" } else { "ANTHROPIC_API_KEY" }.to_owned()),
            ..TheirProvider::default()
        };
        provide(reading, provider, from);
        if let Some(theirs) = taken::text(settings, "env.ANTHROPIC_MODEL") {
            choose(reading, &theirs, Some(format!("claude-code/{theirs}")), from);
        }
    }
    for (name, _) in taken::entries(settings, "env") {
        match name.as_str() {
            "ANTHROPIC_API_KEY" | "ANTHROPIC_AUTH_TOKEN" => {
                let words =
                    format!("keys are not copied: set {name} in your environment, or run `neco login anthropic`");
                reading.leave(SetupKind::Key, name, from, &words);
            }
            "ANTHROPIC_MODEL" => reading.leave(SetupKind::Model, name, from, "--model, or `model`, chooses one"),
            _ => reading.leave(SetupKind::Setting, name, from, "set this variable in your shell if commands need it"),
        }
    }
}

/// `~/.claude.json`: servers, and what was allowed in a project.
fn own_state(reading: &mut Reading) {
    let file = reading.places.home.join(".claude.json");
    let from = Source::person(&file);
    let Some(mut state) = reading.json(from) else { return };
    for (name, server) in taken::entries(&mut state, "mcpServers") {
        servers::add(reading, &name, server, from);
    }
    if taken::text(&mut state, "primaryApiKey").is_some() {
        key(reading, "anthropic", from, false);
    }
    let here = reading.project.as_ref().map(|project| project.to_string_lossy().into_owned());
    let mut noted = 0;
    for (folder, mut settings) in taken::entries(&mut state, "projects") {
        if Some(&folder) == here.as_ref() {
            in_project(reading, &mut settings, &file);
        } else {
            of_other_project(reading, &folder, &settings, from);
        }
        noted += 1;
    }
    // The rest are counts and dates that Claude Code keeps for itself, which are one piece.
    let left = taken::left(&state).into_iter().map(|(name, _)| name.to_owned());
    let names: Vec<String> = left.chain((noted > 0).then(|| format!("notes on {}", count(noted, "folder")))).collect();
    if !names.is_empty() {
        let words = format!("what Claude Code keeps for itself: {}", names.join(", "));
        reading.refuse(SetupKind::Setting, "the rest", from, &words);
    }
}

/// What counts in this project alone stays with it.
fn in_project(reading: &mut Reading, settings: &mut Value, file: &Path) {
    let from = Source::project(file);
    for (name, server) in taken::entries(settings, "mcpServers") {
        servers::add_with(reading, &name, server, from, Some(IN_PROJECT));
    }
    for written in taken::texts(settings, "allowedTools") {
        let words = "it holds in this folder only there; add it with `neco policy`, or --allow";
        reading.leave(SetupKind::Permission, format!("allow {written}"), from, words);
    }
}

/// Servers of another project come in there.
fn of_other_project(reading: &mut Reading, folder: &str, settings: &Value, from: Source<'_>) {
    let servers = settings.get("mcpServers").and_then(Value::as_object);
    for name in servers.into_iter().flat_map(Map::keys) {
        let words = format!("it counts in {folder} alone: run `neco import claude-code` there");
        reading.leave(SetupKind::Server, name, from, &words);
    }
}

fn of_project(reading: &mut Reading, project: &Path, marketplaces: &mut Marketplaces) {
    let folder = project.join(".claude");
    for (kind, name, words) in [
        (SetupKind::Rules, "CLAUDE.md", ""),
        (SetupKind::Server, ".mcp.json", TRUSTED),
        (SetupKind::Command, ".claude/commands", TRUSTED),
        (SetupKind::Agent, ".claude/agents", TRUSTED),
        (SetupKind::Skill, ".claude/skills", TRUSTED),
        (SetupKind::Permission, ".claude/settings.json", "its permissions and hooks, once the folder is trusted"),
        (SetupKind::Permission, ".claude/settings.local.json", "its permissions and hooks, once the folder is trusted"),
    ] {
        reading.in_place(kind, Source::project(&project.join(name)), words);
    }
    for file in [project.join("CLAUDE.local.md"), folder.join("CLAUDE.md")] {
        copied::rules(reading, Source::project(&file), if file.starts_with(&folder) { "claude" } else { "local" });
    }
    copied::markdown(reading, SetupKind::Rules, Source::project(&folder.join("rules")), "rules");
    for name in ["settings.json", "settings.local.json"] {
        let file = folder.join(name);
        let from = Source::project(&file);
        let Some(mut settings) = reading.json(from) else { continue };
        marketplaces.wanted(reading, &mut settings, from);
        let allowed = taken::texts(&mut settings, "permissions.allow").len();
        if allowed > 0 {
            let words = "what a project allows has no effect here: it can only ask and deny";
            reading.refuse(SetupKind::Permission, format!("{allowed} that allow"), from, words);
        }
        // These are read in place.
        for path in ["permissions.ask", "permissions.deny", "hooks"] {
            taken::any(&mut settings, path);
        }
        reading.rest(settings, &NOT_HERE, from);
    }
}

/// What Claude Code remembers of a project.
fn memories(reading: &mut Reading, folder: &Path, project: &Path) {
    for (file, relative) in copied::files_below(reading, Source::person(folder), "md", 2) {
        let title = format!("Claude Code's notes: {}", relative.with_extension("").display());
        copied::remember(reading, Source::person(&file), &title, Some(project));
    }
}

/// Every character that is no letter or digit is a dash.
fn dashed(project: &Path) -> String {
    let dash = |character: char| if character.is_ascii_alphanumeric() { character } else { '-' };
    project.to_string_lossy().chars().map(dash).collect()
}
