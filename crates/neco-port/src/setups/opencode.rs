//! opencode: `~/.config/opencode`, `opencode.json` and `.opencode` of a project.

use std::path::{Component, Path};

use neco_proto::app::port::Program;
use neco_proto::app::setups::SetupKind;
use serde_json::Value;

use super::models::{TheirProvider, choose, key, model, own_model, provide};
use super::permissions::{self, Ruling};
use super::piece::{Level, Take};
use super::reading::{Reading, Source};
use super::{servers, taken, texts as copied};

/// Tools that permissions name, as Claude Code calls them.
const TOOLS: [(&str, &str); 8] = [
    ("bash", "Bash"),
    ("edit", "Edit"),
    ("write", "Write"),
    ("read", "Read"),
    ("webfetch", "WebFetch"),
    ("websearch", "WebSearch"),
    ("grep", "Grep"),
    ("glob", "Glob"),
];

/// How far below the person's own a rule may stand.
const LOWEST: i64 = 900;

/// Settings that have no meaning here, and why.
const NOT_HERE: [(&str, &str); 8] = [
    ("plugin", "plugins of opencode are programs that only it can run"),
    ("formatter", "run formatters in a hook of the moment PostToolUse"),
    ("lsp", "`diagnostics` runs the project's own checkers"),
    ("small_model", "`model_groups` says which model does small work"),
    ("theme", "`tui.theme` sets the theme"),
    ("keybinds", "keys are set under [tui]"),
    ("share", "sessions are never uploaded"),
    ("autoupdate", "nothing is updated by itself"),
];

pub(super) fn read(reading: &mut Reading) {
    let folder = reading.places.opencode.clone();
    for name in ["opencode.json", "opencode.jsonc", "config.json"] {
        let file = folder.join(name);
        of_settings(reading, Source::person(&file));
    }
    copied::rules(reading, Source::person(&folder.join("AGENTS.md")), "opencode");
    of_folder(reading, &folder, Level::Person);
    let keys = reading.places.homes.opencode.join("auth.json");
    let from = Source::person(&keys);
    if let Some(kept) = reading.json(from) {
        for (name, entry) in kept.as_object().into_iter().flatten() {
            key(reading, name, from, entry.get("type").and_then(Value::as_str) != Some("api"));
        }
    }
    if let Some(project) = reading.project.clone() {
        for file in ["opencode.json", "opencode.jsonc", ".opencode/opencode.json"].map(|name| project.join(name)) {
            of_settings(reading, Source::project(&file));
        }
        of_folder(reading, &project.join(".opencode"), Level::Project);
        reading.in_place(SetupKind::Rules, Source::project(&project.join("AGENTS.md")), "");
    }
    copied::sessions(reading, Program::Opencode);
}

/// Commands, agents and skills, whose folders have two names each.
fn of_folder(reading: &mut Reading, folder: &Path, level: Level) {
    for name in ["command", "commands"] {
        reading.in_place(SetupKind::Command, Source { file: &folder.join(name), level }, "");
    }
    for name in ["agent", "agents", "mode", "modes"] {
        copied::markdown(reading, SetupKind::Agent, Source { file: &folder.join(name), level }, "agents");
    }
    for name in ["skill", "skills"] {
        copied::skills(reading, Source { file: &folder.join(name), level });
    }
    for name in ["tool", "tools", "plugin", "plugins"] {
        let file = folder.join(name);
        if file.is_dir() {
            let words = "tools and plugins of opencode are programs that only it can run";
            reading.refuse(SetupKind::Plugin, name, Source { file: &file, level }, words);
        }
    }
}

fn of_settings(reading: &mut Reading, from: Source<'_>) {
    let Some(mut settings) = reading.json(from) else { return };
    let providers = taken::entries(&mut settings, "provider");
    let described: Vec<String> = providers.keys().cloned().collect();
    for (name, mut theirs) in providers {
        let described = TheirProvider {
            name,
            title: taken::text(&mut theirs, "name"),
            kind: taken::text(&mut theirs, "npm").as_deref().and_then(wire_format),
            base: taken::text(&mut theirs, "options.baseURL"),
            variable: None,
            key: taken::text(&mut theirs, "options.apiKey"),
            rest: theirs,
        };
        provide(reading, described, from);
    }
    if let Some(theirs) = taken::text(&mut settings, "model") {
        choose(reading, &theirs, own_model(&described, &theirs), from);
    }
    for (name, server) in taken::entries(&mut settings, "mcp") {
        servers::add(reading, &name, server, from);
    }
    permitted(reading, &mut settings, from);
    for (name, command) in taken::entries(&mut settings, "command") {
        commands(reading, &name, command, from);
    }
    for (name, agent) in ["agent", "mode"].into_iter().flat_map(|field| taken::entries(&mut settings, field)) {
        agents(reading, &name, agent, from);
    }
    for file in taken::texts(&mut settings, "instructions") {
        reading.leave(SetupKind::Rules, file, from, "name it in AGENTS.md as @file, and it is read");
    }
    reading.rest(settings, &NOT_HERE, from);
}

/// A command in the settings. Neco reads it there, but only in the usual place.
fn commands(reading: &mut Reading, name: &str, mut command: Value, from: Source<'_>) {
    let Some(template) = taken::text(&mut command, "template") else {
        return reading.refuse(SetupKind::Command, name, from, "it has no template");
    };
    if name.contains(|char: char| char.is_whitespace() || char.is_control() || char == '/') {
        return reading.refuse(SetupKind::Command, name, from, "its name can't be that of a command");
    }
    let values = ["description", "agent", "model"].map(|field| (field, taken::text(&mut command, field)));
    let is_subtask = taken::switch(&mut command, "subtask").filter(|is| *is).map(|_| "true");
    let without = taken::without(&command);
    let is_usual =
        from.level == Level::Project || reading.places.opencode == reading.places.home.join(".config/opencode");
    if is_usual {
        return reading.add(SetupKind::Command, name, from, Take::InPlace, without.into_iter().collect());
    }
    let head: Vec<(&str, Option<&str>)> = values.iter().map(|(field, value)| (*field, value.as_deref())).collect();
    let content = copied::headed(&[head, vec![("subtask", is_subtask)]].concat(), &template);
    let words: Vec<&str> = std::iter::once("it is a file now").chain(without.as_deref()).collect();
    copied::inline(reading, SetupKind::Command, name, from, ("commands", &content), &words);
}

/// The wire format of a package that opencode asks a provider with.
fn wire_format(package: &str) -> Option<&'static str> {
    Some(match package {
        "@ai-sdk/anthropic" => "anthropic",
        "@ai-sdk/google" => "gemini",
        "@ai-sdk/openai" => "responses",
        _ => "openai",
    })
}

/// The text of the file that is all of a prompt, where it lies beside the settings.
fn in_file(reading: &mut Reading, from: Source<'_>, prompt: &str) -> Option<String> {
    let path = Path::new(prompt.trim().strip_prefix("{file:")?.strip_suffix('}')?);
    let is_below = path.components().all(|part| matches!(part, Component::Normal(_) | Component::CurDir));
    let file = from.file.parent()?.join(path);
    if is_below { copied::text(reading, SetupKind::Agent, Source { file: &file, ..from }) } else { None }
}

fn agents(reading: &mut Reading, name: &str, mut agent: Value, from: Source<'_>) {
    let Some(prompt) =
        taken::text(&mut agent, "prompt").map(|prompt| in_file(reading, from, &prompt).unwrap_or(prompt))
    else {
        return reading.refuse(
            SetupKind::Agent,
            name,
            from,
            "it has no prompt of its own; `[agents.roles]` sets models",
        );
    };
    if prompt.contains("{file:") {
        let words = "its prompt is in another file; copy that to agents in Neco's folder";
        return reading.leave(SetupKind::Agent, name, from, words);
    }
    if taken::switch(&mut agent, "disable") == Some(true) {
        return reading.refuse(SetupKind::Agent, name, from, "it is switched off there");
    }
    let own = taken::text(&mut agent, "model").map(|theirs| model(&theirs).unwrap_or(theirs));
    let description = taken::text(&mut agent, "description");
    let head = [("name", Some(name)), ("description", description.as_deref()), ("model", own.as_deref())];
    let mut content = copied::headed(&head, &prompt);
    // They mean the same here.
    for field in ["tools", "permission", "mode", "temperature", "steps"] {
        if let Some(value) = taken::any(&mut agent, field) {
            content = content.replacen("---\n", &format!("---\n{field}: {value}\n"), 1);
        }
    }
    let without = taken::without(&agent);
    let words: Vec<&str> = std::iter::once("it is a file now").chain(without.as_deref()).collect();
    copied::inline(reading, SetupKind::Agent, name, from, ("agents", &content), &words);
}

/// `{"edit": "ask", "bash": {"git *": "allow"}}`, and tools that are switched off.
fn permitted(reading: &mut Reading, settings: &mut Value, from: Source<'_>) {
    let base = reading.places.home.clone();
    if let Some(all) = taken::text(settings, "permission") {
        let ruling = Ruling::named(&all).unwrap_or(Ruling::Ask);
        permissions::add(reading, "*", ruling, from, &base);
    }
    for (tool, says) in taken::entries(settings, "permission") {
        let own = own_tool(&tool);
        if tool == "external_directory" {
            reading.leave(
                SetupKind::Permission,
                tool,
                from,
                "`roots` in your settings, or --add-dir, opens other folders",
            );
            continue;
        }
        match says {
            Value::Object(patterns) => {
                // The last one that fits counts there: those before it come after it. None outranks the person's own.
                let last = i64::try_from(patterns.len()).unwrap_or(LOWEST);
                let for_all = patterns.keys().position(|pattern| pattern == "*").unwrap_or(0);
                for ((at, (pattern, says)), number) in patterns.iter().enumerate().zip(1..) {
                    if at < for_all {
                        let words = "a later \"*\" of the same tool takes its place there";
                        reading.refuse(SetupKind::Permission, format!("{own}({pattern})"), from, words);
                        continue;
                    }
                    one_permission(reading, (own, Some(pattern)), (number - last).max(-LOWEST), says, from);
                }
            }
            says => one_permission(reading, (own, None), 0, &says, from),
        }
    }
    for (tool, on) in taken::entries(settings, "tools") {
        match on {
            Value::Bool(false) => permissions::add(reading, own_tool(&tool), Ruling::Deny, from, &base),
            Value::Bool(true) => usual(reading, &format!("with {tool}"), from, "no tool has to be switched on"),
            _ => reading.refuse(SetupKind::Setting, format!("tools.{tool}"), from, "it is no switch"),
        }
    }
}

fn own_tool(tool: &str) -> &str {
    TOOLS.iter().find(|(theirs, _)| *theirs == tool).map_or(tool, |(_, own)| own)
}

fn one_permission(
    reading: &mut Reading,
    (tool, pattern): (&str, Option<&str>),
    priority: i64,
    says: &Value,
    from: Source<'_>,
) {
    let base = reading.places.home.clone();
    let written = pattern.map_or_else(|| tool.to_owned(), |pattern| format!("{tool}({pattern})"));
    match says.as_str().and_then(Ruling::named) {
        // A rule of it would stand before what is allowed.
        Some(Ruling::Ask) if pattern.is_none_or(|pattern| pattern == "*") => {
            let words = "Neco asks anyway, unless a rule or the approval mode says otherwise";
            usual(reading, &format!("ask {tool}"), from, words);
        }
        Some(ruling) => permissions::add_at(reading, (&written, priority), ruling, from, &base),
        None => reading.refuse(SetupKind::Permission, written, from, "it says neither allow, ask nor deny"),
    }
}

/// Something that is so anyway.
fn usual(reading: &mut Reading, name: &str, from: Source<'_>, words: &str) {
    reading.add(SetupKind::Permission, name, from, Take::Already, vec![words.to_owned()]);
}
