//! Settings, servers, hooks and rules of a set-up, written where they belong.

use std::path::Path;

use neco_config::{policy_folder, read_small_file};
use neco_port::setups::Level;
use neco_port::setups::piece::NewHook;
use neco_proto::app::AppError;
use neco_proto::app::mcp::AddServer;
use neco_proto::app::settings::{CheckSettings, NewSetting, SetSettings};
use neco_safety::policy;
use serde_json::{Map, Value as Json};
use toml_edit::{ArrayOfTables, DocumentMut, InlineTable, Item, Key, Table, TomlError};

use super::copied::no_links;
use super::take::{Done, Taking};
use crate::error::{failed, invalid};
use crate::settings::{self, own_file};
use crate::{mcp_settings, settings::as_toml};

/// Writes settings that are not set.
pub(super) async fn set(taking: &Taking<'_>, settings: Vec<NewSetting>) -> Result<Done, AppError> {
    let to = taking.app.env.shown(&own_file(&taking.app.env));
    let present = own_settings(taking)?;
    let (mut missing, mut other) = (Vec::new(), None);
    for new in settings {
        match at(&present, &new.key)? {
            None => missing.push(new),
            Some(item) if is_same(item, &new.value) => {}
            Some(_) => other = Some(new.key),
        }
    }
    if let Some(key) = other {
        return Ok(Done::stays(to, format!("{key} is set otherwise, and stays")));
    }
    if missing.is_empty() {
        return Ok(Done::already(to));
    }
    let written = missing.iter().map(|new| format!("{}={}", new.key, new.value)).collect();
    settings::check(taking.app, CheckSettings { folder: taking.wanted.folder.clone(), written }).await?;
    if taking.wanted.writes {
        settings::set(taking.app, SetSettings { folder: taking.wanted.folder.clone(), settings: missing }).await?;
    }
    Ok(Done::taken(to))
}

/// Adds a server, unless one of its name is there.
pub(super) async fn server(
    taking: &Taking<'_>,
    name: &str,
    level: Level,
    server: Map<String, Json>,
) -> Result<Done, AppError> {
    let (folder, file) = match level {
        Level::Person => (taking.wanted.folder.clone(), own_file(&taking.app.env)),
        Level::Project => {
            let project = taking.project()?;
            no_links(project, Path::new(".mcp.json"))?;
            (project.display().to_string(), project.join(".mcp.json"))
        }
    };
    let to = taking.app.env.shown(&file);
    if let Some(there) = known_server(taking, name, level, &file)? {
        let new = match level {
            Level::Person => server,
            Level::Project => mcp_settings::for_all_agents(server),
        };
        return Ok(match different(&there, &new) {
            fields if fields.is_empty() => Done::already(to),
            fields => {
                let words =
                    format!("a server of that name is there with other settings ({}), and stays", fields.join(", "));
                Done::stays(to, words)
            }
        });
    }
    mcp_settings::refuse(taking.app, name, &server, level.scope())?;
    if taking.wanted.writes {
        let server = Json::Object(server);
        let request = AddServer { folder, name: name.to_owned(), scope: level.scope(), server };
        mcp_settings::add(taking.app, request).await?;
    }
    Ok(Done::taken(to))
}

/// A server that is there.
fn known_server(
    taking: &Taking<'_>,
    name: &str,
    level: Level,
    file: &Path,
) -> Result<Option<Map<String, Json>>, AppError> {
    let server = match level {
        Level::Person => {
            let present = own_settings(taking)?;
            present.get("mcp_servers").and_then(|servers| servers.get(name)).map(settings::item_as_json)
        }
        Level::Project => {
            // It is a file of the project: anything may be in its place.
            let read = read_small_file(file, true).map_err(|error| failed(format!("{}: {error}", file.display())))?;
            let present: Json = serde_json::from_slice(&read.unwrap_or_default()).unwrap_or_default();
            present.get("mcpServers").and_then(|servers| servers.get(name)).cloned()
        }
    };
    Ok(server.map(|server| server.as_object().cloned().unwrap_or_default()))
}

/// What says which server it is: the person adds nothing to it.
const OF_SERVER: [&str; 9] =
    ["command", "args", "env", "env_vars", "cwd", "url", "headers", "env_http_headers", "bearer_token_env_var"];

/// The settings that two servers of one name have otherwise. What else is set here is the person's choice.
fn different(present: &Map<String, Json>, new: &Map<String, Json>) -> Vec<String> {
    let is_given = |value: &&Json| match value {
        Json::Array(items) => !items.is_empty(),
        Json::Object(fields) => !fields.is_empty(),
        value => !value.is_null(),
    };
    let of = |server: &Map<String, Json>, field: &str| server.get(field).filter(is_given).cloned();
    let others = new.keys().map(String::as_str).filter(|field| !OF_SERVER.contains(field));
    let all = OF_SERVER.into_iter().chain(others);
    all.filter(|field| of(present, field) != of(new, field)).map(str::to_owned).collect()
}

/// Adds a hook of the person's, unless it is there.
pub(super) fn hook(taking: &Taking<'_>, hook: &NewHook) -> Result<Done, AppError> {
    let env = &taking.app.env;
    let to = env.shown(&own_file(env));
    let with_hook = |present: &str| -> Result<Option<String>, AppError> {
        let mut settings: DocumentMut = present.parse().map_err(|error: TomlError| invalid(error.message()))?;
        let text = add_hook(&mut settings, hook)?.then(|| settings.to_string());
        text.iter().try_for_each(|text| settings::refuse_text(env, text))?;
        Ok(text)
    };
    let is_new = match taking.wanted.writes {
        true => settings::change(env, with_hook)?,
        false => with_hook(&settings::own_text(env)?)?.is_some(),
    };
    Ok(if is_new { Done::taken(to) } else { Done::already(to) })
}

/// Adds a rule to the policy file of the agent.
pub(super) fn rule(taking: &Taking<'_>, level: Level, text: &str) -> Result<Done, AppError> {
    let name = format!("{}.toml", taking.wanted.agent.name());
    let file = match level {
        Level::Person => policy_folder(&taking.app.env).join(name),
        Level::Project => {
            let folder = taking.own_folder(level)?;
            no_links(taking.project()?, &Path::new(".neco/policy").join(&name))?;
            folder.join("policy").join(name)
        }
    };
    let to = taking.app.env.shown(&file);
    let present = read_small_file(&file, level == Level::Project).map_err(|error| failed(format!("{to}: {error}")))?;
    if present.is_some_and(|present| String::from_utf8_lossy(&present).contains(text.trim())) {
        return Ok(Done::already(to));
    }
    if taking.wanted.writes {
        let head = format!("# Taken over from {}. Change the rules as you like.\n", taking.wanted.agent.title());
        policy::keep_below(&file, &head, text).map_err(|error| failed(format!("{to}: {error}")))?;
    }
    Ok(Done::taken(to))
}

fn own_settings(taking: &Taking<'_>) -> Result<DocumentMut, AppError> {
    settings::own_text(&taking.app.env)?.parse().map_err(|error: TomlError| invalid(error.message()))
}

/// What stands at a dotted key.
fn at<'a>(settings: &'a DocumentMut, key: &str) -> Result<Option<&'a Item>, AppError> {
    let keys = Key::parse(key).map_err(failed)?;
    let mut item = settings.as_item();
    for key in &keys {
        let Some(inside) = item.get(key.get()) else { return Ok(None) };
        item = inside;
    }
    Ok(Some(item))
}

fn is_same(item: &Item, value: &Json) -> bool {
    let written = item.as_value().map(|value| value.clone().decorated("", "").to_string());
    let same = |written: &String| written.split_whitespace().collect::<String>();
    let new = as_toml(value).map(|value| value.to_string());
    written.as_ref().map(same) == new.ok().as_ref().map(same)
}

/// Adds a hook to the settings; says whether it was not there.
fn add_hook(settings: &mut DocumentMut, hook: &NewHook) -> Result<bool, AppError> {
    let sections = settings.entry("hooks").or_insert_with(|| {
        let mut table = Table::new();
        table.set_implicit(true);
        Item::Table(table)
    });
    let section = sections.as_table_like_mut().ok_or_else(|| invalid("`hooks` is no section"))?;
    let list = section.entry(hook.event.name()).or_insert_with(|| Item::ArrayOfTables(ArrayOfTables::new()));
    let is_it = |field: &dyn Fn(&str) -> Option<String>| {
        field("command").as_deref() == Some(hook.command.as_str())
            && field("matcher").unwrap_or_default() == hook.matcher
    };
    match list {
        Item::ArrayOfTables(tables) => {
            let field = |table: &Table, name: &str| table.get(name).and_then(Item::as_str).map(str::to_owned);
            if tables.iter().any(|table| is_it(&|name| field(table, name))) {
                return Ok(false);
            }
            let mut table = Table::new();
            hook_fields(hook, |name, value| drop(table.insert(name, Item::Value(value))));
            tables.push(table);
        }
        Item::Value(toml_edit::Value::Array(inline)) => {
            let field = |value: &toml_edit::Value, name: &str| {
                value
                    .as_inline_table()
                    .and_then(|table| table.get(name))
                    .and_then(|value| value.as_str().map(str::to_owned))
            };
            if inline.iter().any(|value| is_it(&|name| field(value, name))) {
                return Ok(false);
            }
            let mut table = InlineTable::new();
            hook_fields(hook, |name, value| drop(table.insert(name, value)));
            inline.push(table);
        }
        _ => return Err(invalid(format!("`hooks.{}` is no list", hook.event))),
    }
    Ok(true)
}

fn hook_fields(hook: &NewHook, mut put: impl FnMut(&str, toml_edit::Value)) {
    if !hook.matcher.is_empty() {
        put("matcher", hook.matcher.clone().into());
    }
    put("command", hook.command.clone().into());
    if let Some(timeout) = hook.timeout {
        put("timeout", timeout.into());
    }
}

#[cfg(test)]
mod tests {
    use neco_proto::event::HookEvent;
    use serde_json::json;

    use super::*;

    #[test]
    fn a_server_is_the_same_only_with_the_same_settings() {
        let table = |value: Json| value.as_object().cloned().unwrap();
        let new = json!({ "command": "x", "args": [], "env": { "A": "1" }, "tool_timeout": 20.0 });
        let present: DocumentMut =
            "[s]\ncommand = 'x'\ntool_timeout = 20.0\nsandbox = false\n[s.env]\nA = '1'\n".parse().unwrap();
        let present = table(settings::item_as_json(&present["s"]));
        let differs = |new: Json| different(&present, &table(new)).join(" ");
        assert_eq!(differs(new.clone()), "", "what the person adds is theirs");
        assert_eq!(differs(json!({ "command": "x", "args": ["-v"], "env": { "A": "2" } })), "args env");
        assert_eq!(differs(json!({ "command": "x", "tool_timeout": 30.0 })), "env tool_timeout");
        assert_eq!(differs(json!({ "url": "https://h", "headers": { "B": "1" } })), "command env url headers");
    }

    #[test]
    fn a_hook_is_added_once_however_the_list_is_written() {
        let hook = |command: &str| NewHook {
            event: HookEvent::PreToolUse,
            matcher: "Bash".to_owned(),
            command: command.to_owned(),
            timeout: Some(5.0),
        };
        for present in [
            "",
            "# mine\n[[hooks.PreToolUse]]\ncommand = \"a\" # first\n",
            "[hooks]\nPreToolUse = [{ command = \"a\" }]\n",
        ] {
            let mut settings: DocumentMut = present.parse().unwrap();
            assert!(add_hook(&mut settings, &hook("b")).unwrap());
            assert!(!add_hook(&mut settings, &hook("b")).unwrap(), "{settings}");
            let text = settings.to_string();
            assert!(text.starts_with(present.trim_end().trim_end_matches("]")), "{text}");
            let read: DocumentMut = text.parse().unwrap();
            assert!(read["hooks"]["PreToolUse"].is_array_of_tables() || read["hooks"]["PreToolUse"].is_array());
        }
        let mut odd: DocumentMut = "hooks = 3".parse().unwrap();
        assert!(add_hook(&mut odd, &hook("b")).is_err());
    }
}
