//! Gemini CLI: `~/.gemini` and `.gemini` of a project.

use std::path::Path;

use neco_proto::app::port::Program;
use neco_proto::app::setups::SetupKind;
use serde_json::{Value, json};

use super::models::{choose, key, model};
use super::permissions::{self, Ruling};
use super::piece::Level;
use super::reading::{HOLDS_KEY, Reading, Source, name_of};
use super::{hooks, references, servers, taken, texts as copied};

/// Why a section of a policy file is not taken.
const NO_CHECKERS: &str = "safety checkers are programs inside Gemini CLI; write a rule that asks or denies";

/// Units of a time-out that are a second.
const MILLISECONDS: f64 = 1000.0;

/// Settings that have no meaning here, and why.
const NOT_HERE: [(&str, &str); 4] = [
    ("tools.sandbox", "commands run in Neco's own sandbox"),
    ("ui.theme", "`tui.theme` sets the theme"),
    ("tools.core", "--tools, or `tools` in an agent's definition, narrows the tools"),
    ("telemetry", "nothing is sent anywhere"),
];

pub(super) fn read(reading: &mut Reading) {
    let folder = reading.places.homes.gemini_cli.clone();
    let file = folder.join("settings.json");
    let from = Source::person(&file);
    if let Some(settings) = reading.json(from) {
        of_settings(reading, settings, from);
    }
    reading.in_place(SetupKind::Rules, Source::person(&folder.join("GEMINI.md")), "");
    of_folder(reading, &folder, Level::Person);
    extensions(reading, &folder.join("extensions"));
    keys(reading, &folder);
    if let Some(project) = reading.project.clone() {
        let folder = project.join(".gemini");
        let file = folder.join("settings.json");
        let from = Source::project(&file);
        if let Some(settings) = reading.json(from) {
            of_settings(reading, settings, from);
        }
        reading.in_place(SetupKind::Rules, Source::project(&project.join("GEMINI.md")), "");
        of_folder(reading, &folder, Level::Project);
    }
    copied::sessions(reading, Program::GeminiCli);
}

/// Commands, agents, skills and policies.
fn of_folder(reading: &mut Reading, folder: &Path, level: Level) {
    reading.in_place(SetupKind::Command, Source { file: &folder.join("commands"), level }, "");
    copied::markdown(reading, SetupKind::Agent, Source { file: &folder.join("agents"), level }, "agents");
    copied::skills(reading, Source { file: &folder.join("skills"), level });
    let policies = folder.join("policies");
    for (file, _) in copied::files_below(reading, Source { file: &policies, level }, "toml", 1) {
        let from = Source { file: &file, level };
        let Some(mut file) = reading.toml(from) else { continue };
        for rule in ["rule", "rules"].iter().filter_map(|name| taken::any(&mut file, name)) {
            let rules = if let Value::Array(rules) = rule { rules } else { vec![rule] };
            rules.into_iter().for_each(|rule| policy(reading, rule, from));
        }
        reading.rest(file, &[("safety_checker", NO_CHECKERS), ("safety_checkers", NO_CHECKERS)], from);
    }
}

/// A rule of its policies, which Neco reads as it is.
fn policy(reading: &mut Reading, rule: Value, from: Source<'_>) {
    let said = |field: &str| match rule.get(field)? {
        Value::Array(texts) => Some(texts.iter().filter_map(Value::as_str).collect::<Vec<_>>().join(", ")),
        value => value.as_str().map(str::to_owned),
    };
    let tool = match (said("mcpName"), said("toolName")) {
        (Some(server), tool) => format!("mcp__{server}__{}", tool.as_deref().unwrap_or("*")),
        (None, tool) => tool.unwrap_or_else(|| "run_shell_command".to_owned()),
    };
    let about = ["commandPrefix", "commandRegex", "argsPattern"].into_iter().find_map(said).unwrap_or_default();
    let shown = if about.is_empty() { String::new() } else { format!("({})", references::shown(&about)) };
    let name = format!("{} {tool}{shown}", said("decision").unwrap_or_default());
    if references::holds_secret(&about) {
        return reading.leave(SetupKind::Permission, name, from, HOLDS_KEY);
    }
    match toml::to_string(&json!({ "rule": [rule] })) {
        Ok(text) => permissions::add_rule(reading, name, text, from),
        Err(_) => reading.refuse(SetupKind::Permission, name, from, permissions::UNREADABLE),
    }
}

fn of_settings(reading: &mut Reading, mut settings: Value, from: Source<'_>) {
    // Older versions have a text, newer ones an object.
    let theirs = taken::text(&mut settings, "model").or_else(|| taken::text(&mut settings, "model.name"));
    if let Some(theirs) = theirs {
        let own = model(&theirs).unwrap_or_else(|| format!("gemini/{theirs}"));
        choose(reading, &theirs, Some(own), from);
    }
    for (name, server) in taken::entries(&mut settings, "mcpServers") {
        let is_unsaid = server.get("url").is_some() && server.get("httpUrl").is_none() && server.get("type").is_none();
        let words = format!("`url` may mean SSE there, which is not supported: `neco mcp test {name}` tells");
        servers::add_with(reading, &name, server, from, is_unsaid.then_some(words.as_str()));
    }
    permitted(reading, &mut settings, from);
    hooks::add(reading, taken::entries(&mut settings, "hooks"), from, MILLISECONDS);
    for path in ["context.fileName", "contextFileName"] {
        let names =
            taken::text(&mut settings, path).map_or_else(|| taken::texts(&mut settings, path), |name| vec![name]);
        for name in names.into_iter().filter(|name| !matches!(name.as_str(), "GEMINI.md" | "AGENTS.md" | "CLAUDE.md")) {
            reading.leave(SetupKind::Rules, name, from, "name it in AGENTS.md as @file, and it is read");
        }
    }
    reading.rest(settings, &NOT_HERE, from);
}

/// `tools.allowed`, `tools.exclude` and what they were called before: `run_shell_command(git)`.
fn permitted(reading: &mut Reading, settings: &mut Value, from: Source<'_>) {
    let base = reading.places.home.clone();
    let lists = [
        ("tools.allowed", Ruling::Allow),
        ("allowedTools", Ruling::Allow),
        ("tools.exclude", Ruling::Deny),
        ("excludeTools", Ruling::Deny),
    ];
    for (list, ruling) in lists {
        for written in taken::texts(settings, list) {
            let meant = match written.split_once('(') {
                // A command there is the beginning of one, and the tool has an older name.
                Some((tool, inside)) if !inside.contains('*') => {
                    let tool = if tool == "ShellTool" { "run_shell_command" } else { tool };
                    format!("{tool}({}:*)", inside.trim_end_matches(')'))
                }
                Some(_) | None => written,
            };
            permissions::add(reading, &meant, ruling, from, &base);
        }
    }
}

/// Extensions are folders with a manifest.
fn extensions(reading: &mut Reading, folder: &Path) {
    for extension in reading.entries(Source::person(folder)) {
        let manifest = extension.join("gemini-extension.json");
        if manifest.is_file() {
            let words = format!(
                "an extension is installed anew, as a plugin, where it brings what Neco knows: `neco plugin add {}`",
                extension.display()
            );
            reading.leave(SetupKind::Plugin, name_of(&extension), Source::person(&manifest), &words);
        }
    }
}

fn keys(reading: &mut Reading, folder: &Path) {
    let login = folder.join("oauth_creds.json");
    if login.is_file() {
        key(reading, "gemini", Source::person(&login), true);
    }
    let file = folder.join(".env");
    let from = Source::person(&file);
    let Some(text) = reading.text(from) else { return };
    for line in text.lines() {
        let Some((name, _)) = line.trim().trim_start_matches("export ").split_once('=') else { continue };
        let name = name.trim();
        if name.starts_with('#') || name.is_empty() {
            continue;
        }
        match name {
            "GEMINI_API_KEY" | "GOOGLE_API_KEY" => key(reading, "gemini", from, false),
            _ => reading.leave(SetupKind::Setting, name, from, "set this variable in your shell if commands need it"),
        }
    }
}
