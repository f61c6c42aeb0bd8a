//! MCP servers in files: added, taken out, switched on and off. Everything else in the files stays as it is.

use std::fmt::Display;
use std::fs::{self, File};
use std::io::{self, ErrorKind, Write};
use std::path::{Path, PathBuf};

use neco_config::section::McpServerSection;
use neco_config::{Env, LoadOptions, shared_servers};
use neco_ext::mcp::{Servers, is_server_name};
use neco_proto::app::AppError;
use neco_proto::app::mcp::{AddServer, RemoveServer, ServerScope, ServerState, SetServerEnabled, WrittenServer};
use neco_proto::app::settings::{NewSetting, SetSettings};
use serde_json::{Map, Value as Json};
use toml_edit::{DocumentMut, Item, Key, TomlError};

use crate::app::StorelessApp;
use crate::error::{failed, invalid};
use crate::mcp::Here;
use crate::mcp_login;
use crate::settings::{self, changed, own_file};
use crate::workspace::wanted_logins;

/// The section of servers in the person's own settings.
const SECTION: &str = "mcp_servers";

/// The file of a folder that every agent reads, and the servers in it.
const SHARED_FILE: &str = ".mcp.json";
const IN_SHARED_FILE: &str = "mcpServers";

pub(crate) async fn add(app: &StorelessApp, request: AddServer) -> Result<WrittenServer, AppError> {
    let AddServer { folder, name, scope, server } = request;
    if !is_server_name(&name) {
        let words = "the name of a server has 1 to 64 letters, digits, `_` and `-`, and no `__`";
        return Err(invalid(words).hint("Give it another name."));
    }
    let Json::Object(server) = server else {
        let example = "{\"command\": \"npx\", \"args\": [\"-y\", \"server\"]} or {\"url\": \"https://…\"}";
        return Err(invalid("a server is written as a JSON object").hint(format!("Such as {example}.")));
    };
    let settings = flattened(&key(&name), &server);
    check(&app.env, &name, &settings, scope)?;
    let file = match scope {
        ServerScope::User if own_fields(&app.env, &name)?.is_some() => {
            return Err(taken(&name, &app.env.shown(&own_file(&app.env))));
        }
        ServerScope::User => settings::set(app, SetSettings { folder: folder.clone(), settings }).await?.file,
        ServerScope::Project => {
            let file = Path::new(&folder).join(SHARED_FILE);
            let shown = app.env.shown(&file);
            change_shared(&file, &shown, |servers| {
                if servers.contains_key(&name) {
                    return Err(taken(&name, &shown));
                }
                servers.insert(name.clone(), Json::Object(for_all_agents(server)));
                Ok(())
            })?;
            shown
        }
    };
    written(app, &folder, &name, file)
}

pub(crate) async fn remove(app: &StorelessApp, request: RemoveServer) -> Result<WrittenServer, AppError> {
    let RemoveServer { folder, name, scope } = request;
    let is_own = own_fields(&app.env, &name)?.is_some();
    let shared = shared_file(&app.env, Path::new(&folder), &name);
    let file = match (scope, is_own, shared) {
        (None, true, Some(shared)) => {
            let (own, shared) = (app.env.shown(&own_file(&app.env)), app.env.shown(&shared));
            return Err(invalid(format!("{name} is written in {own} and in {shared}"))
                .hint("--scope user means the first, --scope project the second."));
        }
        (None | Some(ServerScope::User), true, _) => {
            let gone = vec![NewSetting { key: key(&name), value: Json::Null }];
            settings::set(app, SetSettings { folder: folder.clone(), settings: gone }).await?.file
        }
        (None | Some(ServerScope::Project), _, Some(file)) => {
            let shown = app.env.shown(&file);
            change_shared(&file, &shown, |servers| {
                servers.shift_remove(&name);
                Ok(())
            })?;
            shown
        }
        (Some(_), _, None) | (None, false, None) | (Some(ServerScope::User), false, Some(_)) => {
            let there = Here::shared(app, &folder)?.row(&name)?;
            return Err(invalid(format!("{name} is written in {}, which this does not change", there.file))
                .hint(format!("Take it out of that file, or `neco mcp disable {name}` switches it off.")));
        }
    };
    let written = written(app, &folder, &name, file)?;
    if written.server.is_none() {
        Servers::forget(app.env.data_dir(), &name);
        wanted_logins::forget(app.env.data_dir(), &name);
        mcp_login::forget(app, &name)?;
    }
    Ok(written)
}

pub(crate) async fn set_enabled(app: &StorelessApp, request: SetServerEnabled) -> Result<WrittenServer, AppError> {
    let SetServerEnabled { folder, name, enabled } = request;
    let own = own_fields(&app.env, &name)?;
    let set = |field: &str, value: Json| NewSetting { key: format!("{}.{field}", key(&name)), value };
    let settings = match own.as_deref() {
        // It is there only to switch off what a repository brings.
        Some([only]) if enabled && (only == "enabled" || only == "disabled") => {
            vec![NewSetting { key: key(&name), value: Json::Null }]
        }
        Some(fields) => {
            let opposite = fields.iter().any(|field| field == "disabled").then(|| set("disabled", Json::Null));
            opposite.into_iter().chain([set("enabled", Json::Bool(enabled))]).collect()
        }
        None => {
            let there = Here::shared(app, &folder)?.row(&name)?;
            match (enabled, there.state == ServerState::Disabled) {
                (true, true) => {
                    return Err(invalid(format!("{} switches {name} off", there.file)).hint("Switch it on there."));
                }
                (true, false) => return written(app, &folder, &name, there.file),
                (false, _) => vec![set("enabled", Json::Bool(false))],
            }
        }
    };
    let file = settings::set(app, SetSettings { folder: folder.clone(), settings }).await?.file;
    written(app, &folder, &name, file)
}

/// How it stands with a server after something was written about it; sessions that are open in the folder know it too.
fn written(app: &StorelessApp, folder: &str, name: &str, file: String) -> Result<WrittenServer, AppError> {
    let here = Here::shared(app, folder)?;
    Ok(WrittenServer { file, server: here.row(name).ok(), warnings: here.warnings })
}

fn taken(name: &str, file: &str) -> AppError {
    invalid(format!("there is an MCP server {name} in {file} already"))
        .hint(format!("Choose another name, or take that one out first: `neco mcp remove {name}`."))
}

/// The dotted key of a server.
fn key(name: &str) -> String {
    format!("{SECTION}.{}", Key::new(name))
}

/// The settings of a table, each by its dotted key. What is null is not given.
fn flattened(key: &str, table: &Map<String, Json>) -> Vec<NewSetting> {
    let settings = |(name, value): (&String, &Json)| {
        let key = format!("{key}.{}", Key::new(name));
        match value {
            Json::Null => Vec::new(),
            Json::Object(inner) => flattened(&key, inner),
            value => vec![NewSetting { key, value: value.clone() }],
        }
    };
    table.iter().flat_map(settings).collect()
}

/// Refuses a server that could not be added.
pub(crate) fn refuse(
    app: &StorelessApp,
    name: &str,
    server: &Map<String, Json>,
    scope: ServerScope,
) -> Result<(), AppError> {
    check(&app.env, name, &flattened(&key(name), server), scope)
}

/// Refuses a server that the next start could not read: it would not begin at all.
fn check(env: &Env, name: &str, settings: &[NewSetting], scope: ServerScope) -> Result<(), AppError> {
    let home = tempfile::tempdir().map_err(failed)?;
    let alone = env.moved_to(home.path());
    fs::write(own_file(&alone), changed("", settings)?).map_err(failed)?;
    let options = LoadOptions { env: &alone, cwd: home.path(), overrides: &[] };
    let (loaded, problems) = neco_config::load_around(options);
    // What is not known here may be known to other agents.
    let unknown = loaded.warnings.iter().filter(|_| scope == ServerScope::User);
    let wrong: Vec<String> = problems
        .iter()
        .chain(unknown)
        .map(|notice| format!("{}: {}", notice.key.as_deref().unwrap_or(name), notice.message))
        .collect();
    if !wrong.is_empty() {
        return Err(invalid(wrong.join("\n")).hint("docs/mcp.md shows how servers are written."));
    }
    let is_reached = |server: &McpServerSection| server.command.is_some() || server.url.is_some();
    match loaded.config.mcp_servers.get(name).is_some_and(is_reached) {
        true => Ok(()),
        false => Err(invalid(format!("{name} has neither a `command` nor a `url`"))),
    }
}

/// The settings of a server in the person's own file, by name; nothing where it is not in it.
fn own_fields(env: &Env, name: &str) -> Result<Option<Vec<String>>, AppError> {
    let file = own_file(env);
    let in_file = |error: &dyn Display| failed(format!("{}: {error}", env.shown(&file)));
    let text = match fs::read_to_string(&file) {
        Ok(text) => text,
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(in_file(&error)),
    };
    let document: DocumentMut = text.parse().map_err(|error: TomlError| in_file(&error))?;
    let servers = document.get(SECTION).and_then(Item::as_table_like);
    let server = servers.and_then(|servers| servers.get(name)).and_then(Item::as_table_like);
    Ok(server.map(|server| server.iter().map(|(field, _)| field.to_owned()).collect()))
}

/// The `.mcp.json` that a server is taken from.
fn shared_file(env: &Env, folder: &Path, name: &str) -> Option<PathBuf> {
    let (servers, _) = shared_servers(env, folder);
    let nearest = servers.iter().rev().find(|server| server.name == name)?;
    nearest.origin.file().map(Path::to_owned)
}

/// A server in words that other agents know, too.
pub(crate) fn for_all_agents(mut server: Map<String, Json>) -> Map<String, Json> {
    if server.contains_key("url") {
        server.entry("type").or_insert_with(|| "http".into());
    }
    if let Some(Json::String(variable)) = server.shift_remove("bearer_token_env_var") {
        let headers = server.entry("headers").or_insert_with(|| Json::Object(Map::new()));
        if let Json::Object(headers) = headers {
            headers.insert("Authorization".to_owned(), format!("Bearer ${{{variable}}}").into());
        }
    }
    server
}

/// Changes the servers of a `.mcp.json`, which need not be there yet.
fn change_shared(
    file: &Path,
    shown: &str,
    change: impl FnOnce(&mut Map<String, Json>) -> Result<(), AppError>,
) -> Result<(), AppError> {
    let in_file = |error: &dyn Display| failed(format!("{shown}: {error}"));
    let present = match fs::read_to_string(file) {
        Ok(text) => Some(text),
        Err(error) if error.kind() == ErrorKind::NotFound => None,
        Err(error) if error.kind() == ErrorKind::IsADirectory => {
            let words = "a folder holds its place while a program runs in a box that must not make it";
            return Err(in_file(&words).hint("Leave the sessions of this folder, or remove the folder, and try again."));
        }
        Err(error) => return Err(in_file(&error)),
    };
    let text = present.as_deref().unwrap_or("{}").trim_start_matches('\u{feff}');
    let mut all: Map<String, Json> = serde_json::from_str(text).map_err(|error| in_file(&error))?;
    match all.entry(IN_SHARED_FILE).or_insert_with(|| Json::Object(Map::new())) {
        Json::Object(servers) => change(servers)?,
        _ => return Err(in_file(&format!("\"{IN_SHARED_FILE}\" is not an object"))),
    }
    let text = format!("{:#}\n", Json::Object(all));
    // A new one is for everybody who works there, and not for its owner alone.
    let written = if present.is_some() { settings::write(file, &text) } else { create(file, &text) };
    written.map_err(|error| failed(format!("{shown} can't be written: {error}")))
}

/// Makes a file. A link that leads nowhere stands in the way: nobody can tell where a repository has it lead.
fn create(file: &Path, text: &str) -> io::Result<()> {
    File::options().write(true).create_new(true).open(file)?.write_all(text.as_bytes())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn table(value: Json) -> Map<String, Json> {
        value.as_object().unwrap().clone()
    }

    #[test]
    fn a_table_is_written_setting_by_setting() {
        let server = json!({ "command": "npx", "args": ["-y"], "env": { "A.B": "1", "C": null }, "headers": {} });
        let keys: Vec<String> = flattened(&key("x"), &table(server)).into_iter().map(|new| new.key).collect();
        assert_eq!(keys, ["mcp_servers.x.command", "mcp_servers.x.args", "mcp_servers.x.env.\"A.B\""]);
    }

    #[test]
    fn what_the_next_start_could_not_read_is_refused() {
        let env = Env::for_test([], "/nowhere");
        let refused = |server: Json, scope: ServerScope| {
            check(&env, "x", &flattened(&key("x"), &table(server)), scope).err().map(|error| error.message)
        };
        let user = ServerScope::User;
        assert_eq!(refused(json!({ "command": "npx", "args": ["-y"], "env": { "A": "${A}" } }), user), None);
        assert_eq!(refused(json!({ "type": "streamable-http", "url": "https://h/mcp", "disabled": true }), user), None);
        let list = refused(json!({ "command": ["npx", "-y"] }), user).unwrap();
        assert!(list.starts_with("mcp_servers.x.command: expected a string"), "{list}");
        let number = refused(json!({ "command": "npx", "env": { "PORT": 80 } }), user).unwrap();
        assert!(number.starts_with("mcp_servers.x.env.PORT: expected a string"), "{number}");
        let misspelt = json!({ "command": "npx", "comand": "npx" });
        assert!(refused(misspelt.clone(), user).unwrap().contains("did you mean"));
        assert_eq!(refused(misspelt, ServerScope::Project), None, "others may know it");
        assert_eq!(refused(json!({}), user).as_deref(), Some("x has neither a `command` nor a `url`"));
    }

    #[test]
    fn a_shared_file_keeps_what_others_wrote_and_its_order() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join(SHARED_FILE);
        let add = |name: &str, server: Json| {
            change_shared(&file, "f", |servers| {
                servers.insert(name.to_owned(), Json::Object(for_all_agents(table(server))));
                Ok(())
            })
        };
        add("b", json!({ "command": "npx" })).unwrap();
        add("a", json!({ "url": "https://h", "bearer_token_env_var": "T" })).unwrap();
        let read = || fs::read_to_string(&file).unwrap();
        let written: Json = serde_json::from_str(&read()).unwrap();
        let a = json!({ "url": "https://h", "type": "http", "headers": { "Authorization": "Bearer ${T}" } });
        assert_eq!(written, json!({ "mcpServers": { "b": { "command": "npx" }, "a": a } }));
        fs::write(&file, "{\"other\": 1, \"mcpServers\": {\"z\": {}, \"y\": {}, \"x\": {}}}").unwrap();
        let remove = |servers: &mut Map<String, Json>| {
            servers.shift_remove("z");
            Ok(())
        };
        change_shared(&file, "f", remove).unwrap();
        assert_eq!(read(), "{\n  \"other\": 1,\n  \"mcpServers\": {\n    \"y\": {},\n    \"x\": {}\n  }\n}\n");
        fs::write(&file, "{\"mcpServers\": [").unwrap();
        assert!(add("c", json!({ "command": "x" })).unwrap_err().message.starts_with("f: "));
        assert_eq!(read(), "{\"mcpServers\": [", "what can't be read is left alone");
        fs::remove_file(&file).unwrap();
        let elsewhere = folder.path().join("elsewhere");
        std::os::unix::fs::symlink(&elsewhere, &file).unwrap();
        assert!(add("c", json!({ "command": "x" })).is_err() && !elsewhere.exists(), "a link leads nowhere");
    }
}
