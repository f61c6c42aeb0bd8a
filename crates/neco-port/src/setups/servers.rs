//! MCP servers, in the ways that other agents write them.

use neco_proto::app::setups::SetupKind;
use serde_json::{Map, Value, json};

use super::piece::Take;
use super::reading::{Reading, Source};
use super::references::{Variables, told};
use super::taken;

/// The most that a name has.
const LONGEST_NAME: usize = 64;

/// What the old way with two addresses is told with.
const TWO_ADDRESSES: &str =
    "it is reached over SSE, which is not supported; ask its maker for a streamable HTTP address";

/// Adds a server.
pub(super) fn add(reading: &mut Reading, name: &str, server: Value, from: Source<'_>) {
    add_with(reading, name, server, from, None);
}

/// Adds a server, of which something is to be said.
pub(super) fn add_with(reading: &mut Reading, name: &str, server: Value, from: Source<'_>, said: Option<&str>) {
    let Some(own) = own_name(name) else {
        return reading.refuse(SetupKind::Server, name, from, "its name has no letters or digits");
    };
    if is_two_addresses(&server) {
        return reading.refuse(SetupKind::Server, name, from, TWO_ADDRESSES);
    }
    match converted(&mut reading.variables, &own, server) {
        Ok((server, words)) => {
            let called = (own != name).then(|| format!("it was called {name}"));
            let words = called.into_iter().chain(said.map(str::to_owned)).chain(words).collect();
            reading.add(SetupKind::Server, own, from, Take::Server(from.level, server), words);
        }
        Err(why) => reading.refuse(SetupKind::Server, name, from, why),
    }
}

fn is_two_addresses(server: &Value) -> bool {
    let kind = server.get("type").or_else(|| server.get("transport")).and_then(Value::as_str);
    let address = ["url", "serverUrl"].iter().find_map(|field| server.get(*field)?.as_str()).unwrap_or_default();
    let path = address.split(['?', '#']).next().unwrap_or_default().trim_end_matches('/');
    // Nobody else calls his address so.
    kind.map_or(path.ends_with("/sse"), |kind| kind.eq_ignore_ascii_case("sse"))
}

/// The server as our settings have it, and what is different.
fn converted(
    variables: &mut Variables,
    name: &str,
    mut server: Value,
) -> Result<(Map<String, Value>, Vec<String>), &'static str> {
    if !server.is_object() {
        return Err("it is no object");
    }
    let (mut ours, mut set) = (Map::new(), Vec::new());
    if let Some(line) = command(&mut server)? {
        let (line, secrets) = variables.of_words(name, &line);
        set.extend(secrets);
        let mut line = line.into_iter();
        ours.insert("command".to_owned(), line.next().unwrap_or_default().into());
        ours.insert("args".to_owned(), line.collect());
    } else {
        let address = address(&mut server).ok_or("it has neither a command nor an address")?;
        let (address, secrets) = variables.of_address(name, &address);
        set.extend(secrets);
        ours.insert("url".to_owned(), address.into());
    }
    // Its command or its address says how it is reached.
    for field in ["type", "transport"] {
        taken::text(&mut server, field);
    }
    environment((&mut *variables, name), &mut server, &mut ours, &mut set);
    own_variables(&mut ours);
    headers((variables, name), &mut server, &mut ours, &mut set);
    limits(&mut server, &mut ours);
    for field in ["cwd", "bearer_token_env_var", "name"] {
        if let Some(value) = taken::text(&mut server, field) {
            ours.insert(field.to_owned(), value.into());
        }
    }
    let words = told(&set).into_iter().chain(taken::without(&server)).collect();
    Ok((ours, words))
}

/// Takes out the words of its command line.
fn command(server: &mut Value) -> Result<Option<Vec<String>>, &'static str> {
    // Without arguments it is a whole line.
    let is_whole = server.get("args").is_none();
    let arguments = taken::any(server, "args");
    let words = match taken::any(server, "command") {
        Some(Value::String(line)) if is_whole && line.contains(' ') => neco_config::words(&line),
        Some(Value::String(program)) => Some(vec![program]),
        Some(Value::Array(words)) => plain_words(&words),
        Some(_) => None,
        None => return Ok(None),
    };
    let arguments = match arguments {
        Some(Value::Array(arguments)) => plain_words(&arguments),
        Some(_) => None,
        None => Some(Vec::new()),
    };
    // Half of a command line is another one.
    let line = words.zip(arguments).map(|(words, arguments)| [words, arguments].concat());
    let is_line = |line: &Vec<String>| line.first().is_some_and(|program| !program.trim().is_empty());
    line.filter(is_line).map(Some).ok_or("its command line can't be read")
}

fn plain_words(words: &[Value]) -> Option<Vec<String>> {
    words.iter().map(|word| (!word.is_object() && !word.is_array()).then(|| plain(word))).collect()
}

/// Takes out its address, with what its query is given apart.
fn address(server: &mut Value) -> Option<String> {
    let mut address = ["httpUrl", "url", "serverUrl"].into_iter().find_map(|field| taken::text(server, field))?;
    let is_plain = |text: &str| text.chars().all(|char| char.is_ascii_alphanumeric() || "-._~:${}".contains(char));
    let mut others = Map::new();
    for (name, value) in taken::entries(server, "query_params") {
        let written = plain(&value);
        if !is_plain(&name) || !is_plain(&written) {
            others.insert(name, value);
            continue;
        }
        let sign = if address.contains('?') { '&' } else { '?' };
        address.push_str(&format!("{sign}{name}={written}"));
    }
    if let Some(fields) = server.as_object_mut().filter(|_| !others.is_empty()) {
        fields.insert("query_params".to_owned(), Value::Object(others));
    }
    Some(address)
}

fn environment(
    (variables, server_name): (&mut Variables, &str),
    server: &mut Value,
    ours: &mut Map<String, Value>,
    set: &mut Vec<String>,
) {
    let mut environment = Map::new();
    for (name, value) in ["env", "environment"].into_iter().flat_map(|field| taken::entries(server, field)) {
        let referred = variables.of_variable(server_name, &name, &plain(&value));
        set.extend(referred.set);
        environment.insert(name, referred.value.into());
    }
    if !environment.is_empty() {
        ours.insert("env".to_owned(), Value::Object(environment));
    }
    let passed = taken::texts(server, "env_vars");
    if !passed.is_empty() {
        ours.insert("env_vars".to_owned(), json!(passed));
    }
}

/// Puts the server's own variables into its arguments, as the servers do that are told of a header so: here only the
/// person's environment is looked at for them.
fn own_variables(ours: &mut Map<String, Value>) {
    let own = ours.get("env").and_then(Value::as_object).cloned().unwrap_or_default();
    for argument in ours.get_mut("args").and_then(Value::as_array_mut).into_iter().flatten() {
        let Some(mut text) = argument.as_str().map(str::to_owned) else { continue };
        for (name, value) in &own {
            text = text.replace(&format!("${{{name}}}"), value.as_str().unwrap_or_default());
        }
        *argument = text.into();
    }
}

fn headers(
    (variables, server_name): (&mut Variables, &str),
    server: &mut Value,
    ours: &mut Map<String, Value>,
    set: &mut Vec<String>,
) {
    let mut headers = Map::new();
    for (header, value) in ["headers", "http_headers"].into_iter().flat_map(|field| taken::entries(server, field)) {
        let referred = variables.of_header(server_name, &header, &plain(&value));
        set.extend(referred.set);
        headers.insert(header, referred.value.into());
    }
    let named = taken::entries(server, "env_http_headers");
    for (field, table) in [("headers", headers), ("env_http_headers", named)] {
        if !table.is_empty() {
            ours.insert(field.to_owned(), Value::Object(table));
        }
    }
}

/// Whether it is on, how long it may take, and which of its tools there are.
fn limits(server: &mut Value, ours: &mut Map<String, Value>) {
    let switches = (taken::switch(server, "enabled"), taken::switch(server, "disabled"));
    if matches!(switches, (Some(false), _) | (_, Some(true))) {
        ours.insert("enabled".to_owned(), false.into());
    }
    let thousandth = |number: f64| if number > 1000.0 { number / 1000.0 } else { number };
    let startup = taken::number(server, "startup_timeout_sec")
        .or_else(|| taken::number(server, "startup_timeout_ms").map(|time| time / 1000.0));
    let call = taken::number(server, "tool_timeout_sec").or_else(|| taken::number(server, "timeout").map(thousandth));
    for (field, seconds) in [("startup_timeout", startup), ("tool_timeout", call)] {
        if let Some(seconds) = seconds {
            ours.insert(field.to_owned(), seconds.min(86_400.0).into());
        }
    }
    let lists = [("include", ["includeTools", "enabled_tools"]), ("exclude", ["excludeTools", "disabled_tools"])];
    let mut tools = Map::new();
    for (field, theirs) in lists {
        let names: Vec<String> = theirs.into_iter().flat_map(|theirs| taken::texts(server, theirs)).collect();
        if !names.is_empty() {
            tools.insert(field.to_owned(), json!(names));
        }
    }
    if !tools.is_empty() {
        ours.insert("tools".to_owned(), Value::Object(tools));
    }
}

/// A value as the text that an environment has.
fn plain(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        other => other.to_string(),
    }
}

/// A name that servers can have here: letters, digits, `-` and single `_`.
fn own_name(name: &str) -> Option<String> {
    let letter = |char: char| if char.is_ascii_alphanumeric() || char == '_' { char } else { '-' };
    let mut own: String = name.chars().map(letter).collect();
    while own.contains("__") {
        own = own.replace("__", "_");
    }
    let own: String = own.trim_matches('-').chars().take(LONGEST_NAME).collect();
    own.contains(|char: char| char.is_ascii_alphanumeric()).then_some(own)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(server: Value) -> (Value, String) {
        let (ours, words) = converted(&mut Variables::default(), "x", server).unwrap();
        (Value::Object(ours), words.join("; "))
    }

    #[test]
    fn every_agents_way_is_read() {
        let ours = json!({ "command": "npx", "args": ["-y", "s"], "env": { "A": "1" } });
        for theirs in [
            json!({ "command": "npx", "args": ["-y", "s"], "env": { "A": 1 } }),
            json!({ "type": "local", "command": ["npx", "-y", "s"], "environment": { "A": "1" } }),
            json!({ "command": "npx -y s", "env": { "A": "1" }, "enabled": true }),
        ] {
            assert_eq!(of(theirs), (ours.clone(), String::new()));
        }
        let (ours, _) = of(json!({ "httpUrl": "https://h/mcp", "timeout": 30000, "includeTools": ["a"] }));
        assert_eq!(ours, json!({ "url": "https://h/mcp", "tool_timeout": 30.0, "tools": { "include": ["a"] } }));
        let (_, words) = of(json!({ "command": "x", "trust": true, "disabled": true }));
        assert_eq!(words, "without trust");
    }

    #[test]
    fn a_servers_own_variables_stand_in_its_arguments() {
        let theirs = json!({
            "command": "npx", "args": ["mcp-remote", "https://h/mcp", "--header", "Authorization:${AUTH_HEADER}"],
            "env": { "AUTH_HEADER": "Bearer abc" },
        });
        let (ours, words) = of(theirs);
        assert_eq!(ours["args"][3], "Authorization:Bearer ${X_AUTH_HEADER}");
        assert!(words.contains("set X_AUTH_HEADER"), "{words}");
    }

    #[test]
    fn no_field_passes_in_silence() {
        let codex = json!({
            "url": "https://h/mcp", "http_headers": { "Accept": "a" }, "headers": { "Origin": "b" },
            "env_http_headers": { "X-Key": "KEY" }, "query_params": { "team": "${TEAM}", "odd": "a b" },
            "startup_timeout_sec": 20, "tool_timeout_sec": 30, "enabled_tools": ["a"], "disabled_tools": ["b", 3],
            "command": null, "required": true, "oauth": { "scopes": ["c"] }, "description": "d",
        });
        let ours = json!({
            "url": "https://h/mcp?team=${TEAM}", "headers": { "Origin": "b", "Accept": "a" },
            "env_http_headers": { "X-Key": "KEY" }, "startup_timeout": 20.0, "tool_timeout": 30.0,
            "tools": { "include": ["a"], "exclude": ["b"] },
        });
        let left = "without disabled_tools, required, oauth.scopes, description, query_params.odd";
        assert_eq!(of(codex), (ours, left.to_owned()));
        let (_, words) = of(json!({ "command": "x", "url": "https://h/mcp", "timeout": "soon" }));
        assert_eq!(words, "without url, timeout");
    }

    #[test]
    fn a_secret_that_two_servers_name_alike_has_two_variables() {
        let mut variables = Variables::default();
        let mut key = |name: &str, value: &str| {
            let server = json!({ "command": "x", "env": { "API_KEY": value } });
            converted(&mut variables, name, server).unwrap().0["env"]["API_KEY"].clone()
        };
        assert_eq!((key("one", "a"), key("two", "b")), (json!("${ONE_API_KEY}"), json!("${TWO_API_KEY}")));
    }

    #[test]
    fn what_is_no_server_is_told() {
        for server in [
            json!(1),
            json!({}),
            json!({ "command": "" }),
            json!({ "command": "'open x" }),
            json!({ "command": "x", "args": [{}] }),
        ] {
            assert!(converted(&mut Variables::default(), "x", server.clone()).is_err(), "{server}");
        }
        assert!(is_two_addresses(&json!({ "type": "sse", "url": "https://h" })));
        assert!(is_two_addresses(&json!({ "url": "https://h/a/sse/?k=1" })));
        assert!(!is_two_addresses(&json!({ "type": "http", "url": "https://h/sse" })));
        assert!(!is_two_addresses(&json!({ "url": "https://h/mcp?from=/sse" })));
        assert_eq!(own_name("my server__a").as_deref(), Some("my-server_a"));
        assert_eq!(own_name("../../"), None);
    }
}
