//! OpenClaw: `~/.openclaw/openclaw.json`, its workspace, skills and memory; and settings with `model_groups`.

use std::path::{Path, PathBuf};

use neco_proto::app::port::Program;
use neco_proto::app::settings::NewSetting;
use neco_proto::app::setups::SetupKind;
use serde_json::{Value, json};

use super::models::{TheirProvider, choose, key, own_model, provide, quoted_key};
use super::permissions::{self, Ruling};
use super::piece::Take;
use super::reading::{Reading, Source};
use super::{servers, taken, texts as copied};

/// Names that stand for several of its tools.
const GROUPS: [(&str, &[&str]); 5] = [
    ("group:fs", &["read", "write", "edit", "apply_patch"]),
    ("group:runtime", &["exec", "process"]),
    ("group:web", &["web_search", "web_fetch"]),
    ("group:memory", &["memory_search", "memory_get"]),
    ("group:sessions", &["sessions_spawn"]),
];

/// Parts of its settings that have no meaning here, and why.
const NOT_HERE: [(&str, &str); 8] = [
    ("channels", "Neco has no chat channels"),
    ("gateway", "Neco is no gateway"),
    ("cron", "nothing runs at set times; `neco -m` in cron does"),
    ("bindings", "Neco has no chat channels"),
    ("plugins", "plugins of OpenClaw are programs that only it can run"),
    ("browser", "an MCP server brings a browser"),
    ("messages", "Neco has no chat channels"),
    ("hooks", "its hooks are called over the web; those of Neco are commands"),
];

/// Files of its workspace that are about an assistant in chats, and no rules for work on code.
const OF_ASSISTANT: [&str; 6] = ["AGENTS.md", "SOUL.md", "IDENTITY.md", "TOOLS.md", "HEARTBEAT.md", "BOOTSTRAP.md"];

const NO_GROUPS: &str = "invalid settings: `model_groups` is an object of objects with `models`, a list of texts";

pub(super) fn read(reading: &mut Reading) {
    let folder = reading.places.homes.openclaw.clone();
    let mut workspaces = vec![folder.join("workspace")];
    for name in ["openclaw.json", "clawdbot.json", "moltbot.json", "config.json"] {
        let file = folder.join(name);
        let from = Source::person(&file);
        if let Some(mut settings) = reading.json(from) {
            workspaces.extend(workspaces_of(&mut settings, &reading.places.home));
            of_settings(reading, settings, from);
        }
    }
    copied::skills(reading, Source::person(&folder.join("skills")));
    workspaces.sort();
    workspaces.dedup();
    for workspace in workspaces {
        of_workspace(reading, &workspace);
    }
    for agent in reading.entries(Source::person(&folder.join("agents"))) {
        let file = agent.join("agent").join("auth-profiles.json");
        let from = Source::person(&file);
        let Some(mut kept) = reading.json(from) else { continue };
        for (name, mut profile) in taken::entries(&mut kept, "profiles") {
            let named = taken::text(&mut profile, "provider");
            let theirs = named.as_deref().unwrap_or_else(|| name.split(':').next().unwrap_or(&name));
            key(reading, theirs, from, taken::text(&mut profile, "type").as_deref() == Some("oauth"));
        }
    }
    copied::sessions(reading, Program::Openclaw);
}

fn of_settings(reading: &mut Reading, mut settings: Value, from: Source<'_>) {
    let providers = taken::entries(&mut settings, "models.providers");
    let described: Vec<String> = providers.keys().cloned().collect();
    for (name, mut theirs) in providers {
        let kind = match taken::text(&mut theirs, "api").as_deref() {
            Some("anthropic-messages") => Some("anthropic"),
            Some("openai-responses") => Some("responses"),
            Some("google-generative-ai") => Some("gemini"),
            Some(_) => Some("openai"),
            None => None,
        };
        let base = taken::text(&mut theirs, "baseUrl");
        let (key, variable) = (taken::text(&mut theirs, "apiKey"), taken::text(&mut theirs, "apiKey.id"));
        provide(reading, TheirProvider { name, title: None, kind, base, variable, key, rest: theirs }, from);
    }
    default_model(reading, &mut settings, &described, from);
    model_groups(reading, &mut settings, &described, from);
    for (name, server) in ["mcp.servers", "mcpServers"].into_iter().flat_map(|path| taken::entries(&mut settings, path))
    {
        servers::add(reading, &name, server, from);
    }
    denied(reading, &mut settings, from);
    let folders = taken::texts(&mut settings, "skills.load.extraDirs");
    if !folders.is_empty() {
        let set = vec![NewSetting { key: "skills.folders".to_owned(), value: json!(folders) }];
        let words = vec!["it is `skills.folders`".to_owned()];
        reading.add(SetupKind::Setting, "skills.load.extraDirs", from, Take::Set(set), words);
    }
    for path in ["env.vars", "env"] {
        for (name, value) in taken::entries(&mut settings, path) {
            let words = "values of variables are not copied: set it in your environment, or run `neco login`";
            match value.is_string() {
                true => reading.leave(SetupKind::Key, name, from, words),
                false => reading.refuse(SetupKind::Setting, format!("env.{name}"), from, "it is no variable"),
            }
        }
    }
    reading.rest(settings, &NOT_HERE, from);
}

/// The model of all agents, with those that stand in for it.
fn default_model(reading: &mut Reading, settings: &mut Value, described: &[String], from: Source<'_>) {
    for path in ["agents.defaults.model", "agent.model"] {
        let primary = taken::text(settings, path).or_else(|| taken::text(settings, &format!("{path}.primary")));
        let Some(primary) = primary else { continue };
        choose(reading, &primary, own_model(described, &primary), from);
        let fallbacks = taken::texts(settings, &format!("{path}.fallbacks"));
        if !fallbacks.is_empty() {
            let all: Vec<&str> = std::iter::once(&primary).chain(&fallbacks).map(String::as_str).collect();
            group(reading, described, "openclaw", &all, from);
        }
    }
}

fn model_groups(reading: &mut Reading, settings: &mut Value, described: &[String], from: Source<'_>) {
    let Some(groups) = taken::any(settings, "model_groups") else { return };
    let Value::Object(groups) = groups else {
        return reading.add(SetupKind::Group, "model_groups", from, Take::Failed, vec![NO_GROUPS.to_owned()]);
    };
    for (name, written) in groups {
        let models = written.get("models").and_then(Value::as_array);
        let models: Option<Vec<&str>> = models.and_then(|models| models.iter().map(Value::as_str).collect());
        match models {
            Some(models) => group(reading, described, &name, &models, from),
            None => reading.add(SetupKind::Group, name, from, Take::Failed, vec![NO_GROUPS.to_owned()]),
        }
    }
}

/// Models that stand in for each other, in their order.
fn group(reading: &mut Reading, described: &[String], name: &str, models: &[&str], from: Source<'_>) {
    let (mut own, mut unknown) = (Vec::new(), Vec::new());
    for theirs in models {
        match own_model(described, theirs) {
            Some(model) => own.push(model),
            None => unknown.push(*theirs),
        }
    }
    if own.is_empty() {
        return reading.refuse(SetupKind::Group, name, from, "none of its models has a provider that is known here");
    }
    let mut words = vec![format!("`--model {name}` asks it")];
    if !unknown.is_empty() {
        words.push(format!("without {}: the provider is unknown", unknown.join(", ")));
    }
    let section = |field: &str| format!("model_groups.{}.{field}", quoted_key(name));
    let set = vec![
        NewSetting { key: section("models"), value: json!(own) },
        NewSetting { key: section("strategy"), value: json!("first") },
    ];
    reading.add(SetupKind::Group, name, from, Take::Set(set), words);
}

/// Tools that its agents must not have.
fn denied(reading: &mut Reading, settings: &mut Value, from: Source<'_>) {
    let base = reading.places.home.clone();
    for name in taken::texts(settings, "tools.deny") {
        let one = [name.as_str()];
        let several = GROUPS.iter().find(|(group, _)| *group == name).map_or(&one[..], |(_, tools)| tools);
        for tool in several {
            permissions::add(reading, tool, Ruling::Deny, from, &base);
        }
    }
    let allowed = taken::texts(settings, "tools.allow");
    if !allowed.is_empty() {
        let words = "it says which tools there are, not which are run unasked; --tools narrows them here";
        reading.refuse(SetupKind::Permission, format!("allow {}", allowed.join(", ")), from, words);
    }
}

/// Takes out the folders that its agents live in.
fn workspaces_of(settings: &mut Value, home: &Path) -> Vec<PathBuf> {
    let agents = settings.pointer("/agents/list").and_then(Value::as_array).into_iter().flatten();
    let own = agents.filter_map(|agent| agent.get("workspace")?.as_str()).map(str::to_owned);
    let mut all: Vec<String> = own.collect();
    all.extend(
        ["agents.defaults.workspace", "agent.workspace"].into_iter().filter_map(|path| taken::text(settings, path)),
    );
    let path = |written: &String| match written.strip_prefix("~/") {
        Some(rest) => home.join(rest),
        None => PathBuf::from(written),
    };
    all.iter().map(path).filter(|path| path.is_absolute()).collect()
}

fn of_workspace(reading: &mut Reading, workspace: &Path) {
    for name in OF_ASSISTANT {
        let file = workspace.join(name);
        if file.is_file() {
            let words = "it is about an assistant in chats; put what holds for code into AGENTS.md of Neco's folder";
            reading.leave(SetupKind::Rules, name, Source::person(&file), words);
        }
    }
    let notes = copied::files_below(reading, Source::person(&workspace.join("memory")), "md", 2);
    let files = ["USER.md", "MEMORY.md"].map(|name| workspace.join(name)).into_iter();
    let shown = match workspace.strip_prefix(&reading.places.home) {
        Ok(below) => format!("~/{}", below.display()),
        Err(_) => workspace.display().to_string(),
    };
    for file in files.chain(notes.into_iter().map(|(file, _)| file)) {
        // Another workspace has files of the same names.
        let name = file.strip_prefix(workspace).unwrap_or(&file).display();
        let title = format!("{name} of OpenClaw in {shown}");
        copied::remember(reading, Source::person(&file), &title, None);
    }
    copied::skills(reading, Source::person(&workspace.join("skills")));
}
