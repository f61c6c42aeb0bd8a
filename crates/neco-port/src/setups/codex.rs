//! Codex: `~/.codex` and `.codex` of a project.

use std::path::Path;

use neco_proto::app::port::Program;
use neco_proto::app::settings::NewSetting;
use neco_proto::app::setups::SetupKind;
use serde_json::Value;

use super::models::{TheirProvider, choose, key, model, provide, provider};
use super::permissions::{self, Ruling};
use super::piece::{Level, Take};
use super::reading::{Reading, Source, name_of};
use super::{hooks, relaxed, servers, taken, texts as copied};

/// The most commands that one rule with alternatives stands for.
const MOST_ALTERNATIVES: usize = 64;

const NO_PROFILES: &str = "there are no profiles; -c KEY=VALUE sets a setting for one run";

/// Settings that have no meaning here, and why.
const NOT_HERE: [(&str, &str); 9] = [
    ("profile", NO_PROFILES),
    ("profiles", NO_PROFILES),
    ("notify", "a hook of the moment Notification does that, and reads other JSON"),
    ("projects", "trust is asked for anew, folder by folder"),
    ("plugins", "plugins are installed anew"),
    ("otel", "nothing is sent anywhere"),
    ("shell_environment_policy", "`tools.hidden_env` says which variables commands don't see"),
    ("features", "what Neco can do is not switched on by names"),
    ("history", "sessions are kept, and `neco session delete` deletes them"),
];

/// Settings that only the person's own files have here, and why.
const OF_PERSON: [(&str, &str); 3] = [
    ("approval_policy", "a project can't say when you are asked"),
    ("sandbox_mode", "a project narrows the sandbox in its .neco/config.toml"),
    ("sandbox_workspace_write", "a project narrows the sandbox in its .neco/config.toml"),
];

pub(super) fn read(reading: &mut Reading) {
    let folder = reading.places.homes.codex.clone();
    let file = folder.join("config.toml");
    let from = Source::person(&file);
    if let Some(settings) = reading.toml(from) {
        of_settings(reading, settings, from);
    }
    if folder == reading.places.home.join(".codex") {
        reading.in_place(SetupKind::Rules, Source::person(&folder.join("AGENTS.md")), "");
    } else {
        copied::rules(reading, Source::person(&folder.join("AGENTS.md")), "codex");
    }
    copied::rules(reading, Source::person(&folder.join("AGENTS.override.md")), "codex-override");
    let prompts = folder.join("prompts");
    // Neco looks in the home folder, wherever the variable of Codex points to.
    if folder == reading.places.home.join(".codex") {
        reading.in_place(SetupKind::Command, Source::person(&prompts), "each is /NAME, and /prompts:NAME as in Codex");
    } else {
        copied::markdown_with(reading, SetupKind::Command, Source::person(&prompts), "commands", prompt);
    }
    for file in reading.entries(Source::person(&folder)) {
        if let Some(profile) = name_of(&file).strip_suffix(".config.toml") {
            reading.refuse(SetupKind::Setting, format!("profile {profile}"), Source::person(&file), NO_PROFILES);
        }
    }
    copied::skills(reading, Source::person(&folder.join("skills")));
    let shared = reading.in_place.join("skills");
    reading.in_place(SetupKind::Skill, Source::person(&shared), "");
    agents(reading, Source::person(&folder.join("agents")));
    command_rules(reading, Source::person(&folder.join("rules")));
    hook_file(reading, Source::person(&folder.join("hooks.json")));
    keys(reading, &folder.join("auth.json"));
    if let Some(project) = reading.project.clone() {
        of_project(reading, &project);
    }
    copied::sessions(reading, Program::Codex);
}

fn of_project(reading: &mut Reading, project: &Path) {
    let folder = project.join(".codex");
    let file = folder.join("config.toml");
    let from = Source::project(&file);
    if let Some(settings) = reading.toml(from) {
        of_settings(reading, settings, from);
    }
    command_rules(reading, Source::project(&folder.join("rules")));
    hook_file(reading, Source::project(&folder.join("hooks.json")));
    agents(reading, Source::project(&folder.join("agents")));
    copied::skills(reading, Source::project(&folder.join("skills")));
    for (kind, name) in [(SetupKind::Rules, "AGENTS.md"), (SetupKind::Skill, ".agents/skills")] {
        reading.in_place(kind, Source::project(&project.join(name)), "");
    }
}

fn of_settings(reading: &mut Reading, mut settings: Value, from: Source<'_>) {
    for (name, mut theirs) in taken::entries(&mut settings, "model_providers") {
        let kind = match taken::text(&mut theirs, "wire_api").as_deref() {
            Some("responses") => "responses",
            Some(_) | None => "openai",
        };
        let provider = TheirProvider {
            name,
            title: taken::text(&mut theirs, "name"),
            kind: Some(kind),
            base: taken::text(&mut theirs, "base_url"),
            variable: taken::text(&mut theirs, "env_key"),
            key: taken::text(&mut theirs, "experimental_bearer_token"),
            rest: theirs,
        };
        provide(reading, provider, from);
    }
    chosen_model(reading, &mut settings, from);
    for (name, server) in taken::entries(&mut settings, "mcp_servers") {
        servers::add(reading, &name, server, from);
    }
    hooks::add(reading, taken::entries(&mut settings, "hooks"), from, 1.0);
    if from.level == Level::Project {
        return reading.rest(settings, &[&OF_PERSON[..], &NOT_HERE[..]].concat(), from);
    }
    // Those whose file lies in the folder of agents come in from there.
    if let Some(agents) = settings.get_mut("agents").and_then(Value::as_object_mut) {
        let is_below = |file: &str| file.trim_start_matches("./").starts_with("agents/");
        agents.retain(|_, agent| !agent.get("config_file").and_then(Value::as_str).is_some_and(is_below));
    }
    safety(reading, &mut settings, from);
    sandbox(reading, &mut settings, from);
    reading.rest(settings, &NOT_HERE, from);
}

fn chosen_model(reading: &mut Reading, settings: &mut Value, from: Source<'_>) {
    let Some(theirs) = taken::text(settings, "model") else { return };
    let own = match taken::text(settings, "model_provider") {
        None => model(&theirs).unwrap_or_else(|| format!("openai/{theirs}")),
        Some(name) => format!("{}/{theirs}", provider(&name).unwrap_or(&name)),
    };
    let own = match taken::text(settings, "model_reasoning_effort") {
        Some(effort) => format!("{own}?reasoning={effort}"),
        None => own,
    };
    choose(reading, &theirs, Some(own), from);
}

/// When a person is asked. What would make agents freer is left to the person.
fn safety(reading: &mut Reading, settings: &mut Value, from: Source<'_>) {
    let name = "approval_policy";
    match taken::text(settings, name).as_deref() {
        Some("untrusted") => set(reading, name, ("approval", "ask_first".into()), from),
        Some("on-request") => {
            reading.leave(SetupKind::Setting, name, from, "`approval = \"accept_edits\"` comes closest");
        }
        Some("never" | "on-failure") => {
            let words = "--yes, or `approval = \"auto\"`, asks only about what is high risk";
            reading.leave(SetupKind::Setting, name, from, words);
        }
        Some(other) => reading.refuse(SetupKind::Setting, name, from, &format!("{other} is not known here")),
        None => {}
    }
    match web_search(settings) {
        Some(false) => permissions::add(reading, "WebSearch", Ruling::Deny, from, Path::new("/")),
        Some(true) => {
            let words = "`tools.web_search` says who answers searches";
            reading.leave(SetupKind::Setting, "web_search", from, words);
        }
        None => {}
    }
}

/// Whether the web is searched, in whichever of its places that stands.
fn web_search(settings: &mut Value) -> Option<bool> {
    let switched = taken::switch(settings, "tools.web_search");
    let named = taken::text(settings, "web_search").map(|says| says != "disabled");
    named.or(switched)
}

/// What commands may touch, and which variables they see.
fn sandbox(reading: &mut Reading, settings: &mut Value, from: Source<'_>) {
    match taken::text(settings, "sandbox_mode").as_deref() {
        Some("read-only") => set(reading, "sandbox_mode", ("sandbox.level", "read_only".into()), from),
        Some("workspace-write") => {
            reading.add(SetupKind::Setting, "sandbox_mode", from, Take::Already, Vec::new());
        }
        Some("danger-full-access") => {
            reading.leave(SetupKind::Setting, "sandbox_mode", from, "only `--sandbox full` takes the sandbox away");
        }
        Some(other) => reading.refuse(SetupKind::Setting, "sandbox_mode", from, &format!("{other} is not known here")),
        None => {}
    }
    match taken::switch(settings, "sandbox_workspace_write.network_access") {
        Some(true) => {
            reading.leave(SetupKind::Setting, "network_access", from, "--network, or `sandbox.network = \"on\"`");
        }
        Some(false) => reading.add(SetupKind::Setting, "network_access", from, Take::Already, Vec::new()),
        None => {}
    }
    let writable = taken::texts(settings, "sandbox_workspace_write.writable_roots");
    if !writable.is_empty() {
        set(reading, "writable_roots", ("sandbox.writable", writable.into()), from);
    }
    // They are hidden besides those that are hidden here.
    let hidden = taken::texts(settings, "shell_environment_policy.exclude");
    let hidden: Vec<String> = hidden.iter().map(|name| format!("+{name}")).collect();
    if !hidden.is_empty() {
        set(reading, "shell_environment_policy.exclude", ("tools.hidden_env", hidden.into()), from);
    }
}

fn set(reading: &mut Reading, name: &str, (key, value): (&str, Value), from: Source<'_>) {
    let words = vec![format!("`{key} = {value}`")];
    let setting = NewSetting { key: key.to_owned(), value };
    reading.add(SetupKind::Setting, name, from, Take::Set(vec![setting]), words);
}

/// A prompt, whose arguments are written in their order where it names them: in Codex they are `KEY=value`.
fn prompt(text: String) -> (String, Option<&'static str>) {
    let mut names: Vec<String> = Vec::new();
    // `$$` is a dollar there.
    for piece in text.replace("$$", "").split('$').skip(1) {
        let is_part = |char: &char| char.is_ascii_uppercase() || char.is_ascii_digit() || *char == '_';
        let name: String = piece.chars().take_while(is_part).collect();
        if name.starts_with(|char: char| char.is_ascii_uppercase()) && name != "ARGUMENTS" && !names.contains(&name) {
            names.push(name);
        }
    }
    // Only what is a place here needs a backslash.
    let mut parts = text.split("$$");
    let mut text = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let is_place = part.starts_with(|char: char| char.is_ascii_digit())
            || part.starts_with("ARGUMENTS")
            || names.iter().any(|name| part.starts_with(name.as_str()));
        text.push_str(if is_place { "\\$" } else { "$" });
        text.push_str(part);
    }
    if names.is_empty() {
        return (text, None);
    }
    let named = format!("arguments: [{}]\n", names.join(", "));
    let text = match text.strip_prefix("---\n") {
        Some(head) => format!("---\n{named}{head}"),
        None => format!("---\n{named}---\n{text}"),
    };
    (text, Some("its arguments are written in their order here, without their names"))
}

/// Agents in TOML: they are Markdown here.
fn agents(reading: &mut Reading, from: Source<'_>) {
    for (file, relative) in copied::files_below(reading, from, "toml", 1) {
        let source = Source { file: &file, ..from };
        let Some(mut agent) = reading.toml(source) else { continue };
        let name = relative.with_extension("").to_string_lossy().into_owned();
        let prompt = taken::text(&mut agent, "developer_instructions");
        let Some(prompt) = prompt.or_else(|| taken::text(&mut agent, "instructions")) else {
            reading.refuse(SetupKind::Agent, name, source, "it has no instructions");
            continue;
        };
        let theirs = taken::text(&mut agent, "model");
        let own = theirs.map(|theirs| model(&theirs).unwrap_or_else(|| format!("openai/{theirs}")));
        let description = taken::text(&mut agent, "description");
        // Its file says how it is called.
        taken::text(&mut agent, "name");
        let heads = [("name", Some(name.as_str())), ("description", description.as_deref()), ("model", own.as_deref())];
        let content = copied::headed(&heads, &prompt);
        let without = taken::without(&agent);
        let words: Vec<&str> = std::iter::once("it is Markdown now").chain(without.as_deref()).collect();
        copied::inline(reading, SetupKind::Agent, &name, source, ("agents", &content), &words);
    }
}

fn hook_file(reading: &mut Reading, from: Source<'_>) {
    let Some(mut settings) = reading.json(from) else { return };
    match settings.get("hooks").is_some() {
        true => {
            hooks::add(reading, taken::entries(&mut settings, "hooks"), from, 1.0);
            reading.rest(settings, &[], from);
        }
        false => hooks::add(reading, settings.as_object().cloned().unwrap_or_default(), from, 1.0),
    }
}

fn keys(reading: &mut Reading, file: &Path) {
    let from = Source::person(file);
    let Some(mut kept) = reading.json(from) else { return };
    if taken::text(&mut kept, "OPENAI_API_KEY").is_some() {
        key(reading, "openai", from, false);
    }
    if kept.get("tokens").is_some_and(Value::is_object) {
        key(reading, "openai", from, true);
    }
}

/// Rules about commands: `prefix_rule(pattern = ["git", ["push", "fetch"]], decision = "prompt")`.
fn command_rules(reading: &mut Reading, from: Source<'_>) {
    for (file, _) in copied::files_below(reading, from, "rules", 1) {
        let source = Source { file: &file, ..from };
        let Some(text) = reading.text(source) else { continue };
        let base = reading.places.home.clone();
        for written in without_comments(&text).split("prefix_rule").skip(1) {
            match prefix_rule(written) {
                Some((commands, ruling)) => {
                    for command in commands {
                        permissions::add(reading, &format!("Bash({command}:*)"), ruling, source, &base);
                    }
                }
                None => {
                    let shown: String = written.lines().next().unwrap_or_default().chars().take(60).collect();
                    reading.refuse(SetupKind::Permission, shown, source, "only lists of words are understood");
                }
            }
        }
    }
}

/// The text without what follows a `#` outside of quotes.
fn without_comments(text: &str) -> String {
    let line = |line: &str| {
        let mut quote = None;
        let mut escaped = false;
        let ends = |char: char| match (quote, char) {
            _ if std::mem::take(&mut escaped) => false,
            (Some(_), '\\') => {
                escaped = true;
                false
            }
            (Some(open), close) if open == close => {
                quote = None;
                false
            }
            (None, open @ ('"' | '\'')) => {
                quote = Some(open);
                false
            }
            (None, '#') => true,
            (_, _) => false,
        };
        format!("{}\n", line.split(ends).next().unwrap_or_default())
    };
    text.lines().map(line).collect()
}

/// The commands that a rule is about, and what it says.
fn prefix_rule(written: &str) -> Option<(Vec<String>, Ruling)> {
    let said = arguments(written)?;
    let of = |name: &str| said.iter().find(|(said, _)| said == name).map(|(_, value)| value);
    let Value::Array(pattern) = of("pattern")? else { return None };
    let mut commands = vec![String::new()];
    for word in pattern {
        let words: Vec<&str> = match word {
            Value::String(word) => vec![word],
            Value::Array(words) => words.iter().filter_map(Value::as_str).collect(),
            _ => return None,
        };
        let longer = |command: &String| words.iter().map(|word| format!("{command} {word}")).collect::<Vec<_>>();
        commands = commands.iter().flat_map(longer).collect();
        if words.is_empty() || commands.len() > MOST_ALTERNATIVES {
            return None;
        }
    }
    let ruling = of("decision").map_or(Some(Ruling::Allow), |name| Ruling::named(name.as_str()?))?;
    let commands: Vec<String> = commands.into_iter().map(|command| command.trim().to_owned()).collect();
    (!pattern.is_empty()).then_some((commands, ruling))
}

/// What a call says by name: texts and lists of them. Nothing where it says anything else, as half a rule is another one.
fn arguments(call: &str) -> Option<Vec<(String, Value)>> {
    let mut rest = call.trim_start().strip_prefix('(')?.trim_start();
    let mut said = Vec::new();
    while !rest.starts_with(')') {
        let (name, value) = rest.split_once('=')?;
        let value = value.trim_start();
        let text = if value.starts_with('[') { list_of(value)? } else { quoted(value)? };
        said.push((name.trim().to_owned(), relaxed::parse(text).ok()?));
        rest = value.strip_prefix(text)?.trim_start();
        rest = match rest.strip_prefix(',') {
            Some(more) => more.trim_start(),
            None => rest.starts_with(')').then_some(rest)?,
        };
    }
    Some(said)
}

/// The text in quotes that a text begins with, with its quotes.
fn quoted(text: &str) -> Option<&str> {
    let open = text.chars().next().filter(|open| matches!(open, '"' | '\''))?;
    let mut is_escaped = false;
    let ends = |&(at, char): &(usize, char)| {
        let ends = at > 0 && char == open && !is_escaped;
        is_escaped = char == '\\' && !is_escaped;
        ends
    };
    let (end, _) = text.char_indices().find(ends)?;
    text.get(..=end)
}

/// The list that a text begins with.
fn list_of(text: &str) -> Option<&str> {
    let mut depth = 0_usize;
    let mut quote = None;
    for (at, char) in text.char_indices() {
        match (quote, char) {
            (Some(open), close) if open == close => quote = None,
            (None, open @ ('"' | '\'')) => quote = Some(open),
            (None, '[') => depth += 1,
            (None, ']') if depth == 1 => return text.get(..=at),
            (None, ']') => depth = depth.checked_sub(1)?,
            (_, _) => {}
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rules_about_commands_are_read() {
        let text = "# mine ( \" [\nprefix_rule(\n  pattern = [\"git\", [\"push\", 'fetch']], # two\n\
                    decision = \"prompt\",\n)\n";
        let clean = without_comments(text);
        let rule = clean.split("prefix_rule").nth(1).and_then(prefix_rule);
        assert_eq!(rule, Some((vec!["git push".to_owned(), "git fetch".to_owned()], Ruling::Ask)));
        assert_eq!(prefix_rule("(pattern=[\"ls\"])"), Some((vec!["ls".to_owned()], Ruling::Allow)));
        assert_eq!(prefix_rule("(pattern=['rm'], decision='forbidden')"), Some((vec!["rm".to_owned()], Ruling::Deny)));
        let says_more =
            "(pattern=['a', 'b'], justification=\"A \\\"human\\\" makes this decision, = )\", decision='prompt')";
        assert_eq!(prefix_rule(says_more), Some((vec!["a b".to_owned()], Ruling::Ask)));
        for broken in [
            "",
            "(",
            "(pattern=x)",
            "(pattern=[])",
            "(pattern=[1])",
            "(pattern=['a'], decision='maybe')",
            "(pattern=['a'], decision=PROMPT)",
            "(pattern=['a'], decision='prompt'",
            "(pattern=['a'] decision='prompt')",
        ] {
            assert_eq!(prefix_rule(broken), None, "{broken}");
        }
        let wide = format!("(pattern=[{}])", "['a','b'],".repeat(20));
        assert_eq!(prefix_rule(&wide), None, "a million rules are none");
    }
}
