//! MCP servers from what people write to what is meant.

#![allow(clippy::unwrap_used, reason = "tests")]

use std::fs;
use std::path::PathBuf;
use std::time::Duration;

use neco_config::section::McpSampling;
use neco_config::{Env, LoadOptions, load};
use neco_ext::mcp::{FoundServer, FoundServers, Reach, ServerAddress, ServerProgram, find};
use neco_ext::plugins::{ActivePlugin, Manifest};
use secrecy::ExposeSecret;
use serde_json::Map;
use tempfile::TempDir;

const USER: &str = "home/.config/neco/config.toml";
const PROJECT: &str = "repo/.neco/config.toml";
const LOCAL: &str = "repo/.neco/config.local.toml";
const SHARED: &str = "repo/.mcp.json";

/// A home and a repository.
struct World {
    folder: TempDir,
}

impl World {
    fn new(files: &[(&str, &str)]) -> Self {
        let world = Self { folder: tempfile::tempdir().unwrap() };
        for (path, text) in files.iter().chain(&[("repo/.git/HEAD", ""), ("repo/part/x", "")]) {
            fs::create_dir_all(world.path(path).parent().unwrap()).unwrap();
            fs::write(world.path(path), text).unwrap();
        }
        world
    }

    fn path(&self, path: &str) -> PathBuf {
        self.folder.path().join(path)
    }

    /// What is found in a folder, with the folder of this world cut off from what is said.
    fn find(&self, folder: &str) -> FoundServers {
        let env = Env::for_test([("TOKEN", "sesame"), ("EMPTY", ""), ("DIR", "/srv/my data")], self.path("home"));
        let folder = self.path(folder);
        let loaded = load(LoadOptions { env: &env, cwd: &folder, overrides: &[] }).unwrap();
        assert_eq!(loaded.warnings, []);
        let mut found = find(&env, &folder, &loaded, &[]);
        let root = format!("{}/", self.folder.path().display());
        found.notices.iter_mut().for_each(|notice| *notice = notice.replace(&root, ""));
        found
    }
}

/// The one server of the user's with these settings.
fn own(settings: &str) -> FoundServer {
    let mut found = World::new(&[(USER, &format!("[mcp_servers.x]\n{settings}"))]).find("repo");
    assert!(found.notices.is_empty(), "{settings}: {:?}", found.notices);
    found.servers.remove(0)
}

/// Why the one server of the user's with these settings is left out.
fn flaw(settings: &str) -> String {
    let found = World::new(&[(USER, &format!("[mcp_servers.x]\n{settings}"))]).find("repo");
    assert!(found.servers.is_empty() && found.notices.len() == 1, "{settings}: {found:?}");
    found.notices[0].clone()
}

fn program(server: &FoundServer) -> &ServerProgram {
    let Reach::Program(program) = &server.settings.reach else { panic!("{server:?}") };
    program
}

fn address(server: &FoundServer) -> &ServerAddress {
    let Reach::Address(address) = &server.settings.reach else { panic!("{server:?}") };
    address
}

fn line(server: &FoundServer) -> Vec<&str> {
    let program = program(server);
    std::iter::once(&program.program).chain(&program.arguments).map(String::as_str).collect()
}

#[test]
fn a_program_is_what_is_written_with_its_variables_filled_in() {
    for (settings, expected) in [
        ("transport = { type = 'stdio', command = 'npx -y \"a b\" /path' }", &["npx", "-y", "a b", "/path"][..]),
        ("command = 'npx'\nargs = ['-y', 'a b']", &["npx", "-y", "a b"]),
        ("command = '/opt/my tools/run'\nargs = []", &["/opt/my tools/run"]),
        ("command = 'run --in ${DIR} ${NONE:-a b}${EMPTY:-!}'", &["run", "--in", "/srv/my data", "a b!"]),
        ("command = '${NONE:-run}'\nargs = ['${EMPTY}', '$DIR']", &["run", "", "$DIR"]),
    ] {
        assert_eq!(line(&own(settings)), expected, "{settings}");
    }
    let server = own(
        "command = 'run'\nenv = { A = 'x${TOKEN}' }\nenv_vars = ['DIR', 'NONE']\nnetwork = false\nwritable = ['~/w', 'v']",
    );
    let variables = program(&server).variables.iter().map(|(name, value)| (name.as_str(), value.expose_secret()));
    assert_eq!(variables.collect::<Vec<_>>(), [("A", "xsesame"), ("DIR", "/srv/my data")]);
    assert!(!program(&server).network && !program(&server).unboxed && program(&server).folder.is_none());
    assert!(program(&server).writable[0].ends_with("home/w") && program(&server).writable[1].ends_with("repo/v"));
    assert!(program(&own("command = 'run'\nsandbox = false")).unboxed && program(&own("command = 'run'")).network);
    assert!(!format!("{server:?}").contains("sesame"));
    assert_eq!(own("command = 'run --token ${TOKEN} -v'").settings.in_short(), "run --token *** -v");
    assert_eq!(own("url = 'http://h/mcp?k=${TOKEN}'").settings.in_short(), "http://h/mcp?k=***");
}

#[test]
fn paths_lead_on_from_the_folder_that_they_are_written_in() {
    let shared = r#"{"mcpServers": {"a": {"command": "./bin/server", "args": ["${CLAUDE_PROJECT_DIR}/x"]},
        "b": {"command": "~/server", "cwd": "tools"}, "c": {"command": "./server", "cwd": "tools"}}}"#;
    let world = World::new(&[(SHARED, shared), (USER, "[mcp_servers.own]\ncommand = './run ${NECO_PROJECT_DIR}'")]);
    let found = world.find("repo/part");
    let at = |path: &str| world.path(path).display().to_string();
    let told: Vec<_> = found.servers.iter().map(|server| (line(server), program(server).folder.clone())).collect();
    assert_eq!(
        told,
        [
            (vec![at("repo/part/run").as_str(), at("repo/part").as_str()], None),
            (vec![at("repo/bin/server").as_str(), at("repo/x").as_str()], Some(world.path("repo"))),
            (vec![at("home/server").as_str()], Some(world.path("repo/tools"))),
            (vec![at("repo/tools/server").as_str()], Some(world.path("repo/tools"))),
        ]
    );
}

#[test]
fn an_address_is_reached_with_its_headers_and_tokens() {
    let server = own(
        "url = 'https://${NONE:-host}/mcp'\nheaders = { a = 'x${TOKEN}' }\nenv_http_headers = { b = 'TOKEN' }\n\
         bearer_token_env_var = 'TOKEN'\noauth = { client_id = 'i', client_secret_env = 'TOKEN', scopes = ['s'], callback_port = 80 }",
    );
    let address = address(&server);
    assert_eq!(address.url, "https://host/mcp");
    let headers = address.headers.iter().map(|(name, value)| (name.as_str(), value.expose_secret()));
    assert_eq!(headers.collect::<Vec<_>>(), [("a", "xsesame"), ("b", "sesame")]);
    assert_eq!(address.bearer.as_ref().map(|secret| secret.expose_secret()), Some("sesame"));
    let login = &address.login;
    assert_eq!((login.client_id.as_deref(), login.scopes.len(), login.port), (Some("i"), 1, Some(80)));
    assert_eq!(login.client_secret.as_ref().map(|secret| secret.expose_secret()), Some("sesame"));
    assert!(!format!("{server:?}").contains("sesame"));
    let both = "command = 'run'\nurl = 'http://h'\n";
    assert!(matches!(own(&format!("type = 'http'\n{both}")).settings.reach, Reach::Address(_)));
    assert!(matches!(own(&format!("type = 'stdio'\n{both}")).settings.reach, Reach::Program(_)));
}

#[test]
fn limits_and_switches_are_as_they_are_said() {
    let settings = own("command = 'x'\ntools = { include = ['a*'], exclude = ['b'] }\nstartup_timeout = 0.5\ntool_timeout = 7\nidle_timeout = 9\nauto_start = true\nsampling = 'deny'").settings;
    assert_eq!((settings.include, settings.exclude), (vec!["a*".to_owned()], vec!["b".to_owned()]));
    let times = (settings.start_timeout, settings.call_timeout, settings.idle);
    assert_eq!(times, (Duration::from_millis(500), Duration::from_secs(7), Duration::from_secs(9)));
    assert!(settings.enabled && settings.auto_start && settings.sampling == McpSampling::Deny);
    assert_eq!((settings.name.as_str(), settings.file.as_str()), ("x", "~/.config/neco/config.toml"));
    assert!(!own("command = 'x ${NONE}'\nenabled = false").settings.enabled, "off, it needs no variables");
    assert!(!own("type = 'sse'\nurl = 'http://h/sse'\ndisabled = true").settings.enabled);
}

#[test]
fn what_can_not_be_used_is_told_with_its_place_and_why() {
    let of = "The MCP server \"x\" of ~/.config/neco/config.toml";
    for (settings, expected) in [
        ("auto_start = true", format!("{of} is left out: it has neither a `command` nor a `url`")),
        ("command = ' '", format!("{of}:2:11 is left out: it has neither")),
        ("command = 'a'\nurl = 'http://b'", format!("{of}:2:11 is left out: it has both")),
        ("type = 'http'\ncommand = 'a'", format!("{of}:3:11 is left out: its `type` needs a `url`")),
        ("type = 'stdio'\nurl = 'http://a'", format!("{of}:3:7 is left out: its `type` needs a `command`")),
        ("command = 'a \"b'", format!("{of}:2:11 is left out: a quote or a `${{` in its `command` never ends")),
        ("url = 'ftp://h'", format!("{of}:2:7 is left out: its `url` does not begin with")),
        ("type = 'sse'\nurl = 'http://h/sse'", format!("{of}:3:7 is left out: `sse`, the old transport")),
        (
            "url = '${HOST}/mcp'",
            format!(
                "{of}:2:7 is left out: the variable HOST is not set; set it, or give it a default as in `${{HOST:-default}}`"
            ),
        ),
        ("command = 'a'\nenv = { T = '${NONE}' }", format!("{of}:2:11 is left out: the variable NONE is not set")),
        ("url = 'http://h'\nbearer_token_env_var = 'NONE'", format!("{of}:2:7 is left out: the variable NONE")),
        ("url = 'http://h'\nenv_http_headers = { a = 'NONE' }", format!("{of}:2:7 is left out: the variable NONE")),
    ] {
        assert!(flaw(settings).starts_with(&expected), "{settings}: {}", flaw(settings));
    }
    let long = "x".repeat(65);
    for name in ["", "a b", "a.b", "a__b", "ä", long.as_str()] {
        let text = format!(
            "{{\"mcpServers\": {{\n\"{name}\": {{\"command\": \"x\"}},\n\"good-1_\": {{\"command\": \"x\"}}}}}}"
        );
        let found = World::new(&[(SHARED, &text)]).find("repo");
        assert_eq!(found.servers.len(), 1, "{name}");
        assert!(found.notices.len() == 1 && found.notices[0].contains("repo/.mcp.json:2:"), "{:?}", found.notices);
    }
}

#[test]
fn later_files_win_by_name_and_that_is_told_when_they_count() {
    let shared = |command: &str| format!("{{\"mcpServers\": {{\"x\": {{\"command\": \"{command}\"}}}}}}");
    let world = World::new(&[
        (USER, "[mcp_servers.x]\ncommand = 'one'\n[mcp_servers.y]\ncommand = 'y'"),
        (PROJECT, "[mcp_servers.x]\ncommand = 'two'"),
        (SHARED, &shared("three")),
        ("repo/part/.mcp.json", &shared("four")),
    ]);
    let found = world.find("repo/part");
    let told: Vec<_> = found.servers.iter().map(|server| (line(server)[0], server.folder.clone())).collect();
    let (repo, part) = (Some(world.path("repo")), Some(world.path("repo/part")));
    assert_eq!(told, [("one", None), ("y", None), ("two", repo.clone()), ("three", repo), ("four", part)]);
    assert!(found.notices.is_empty(), "{:?}", found.notices);
    let root = format!("{}/", world.folder.path().display());
    let replacing = |counts: &[usize]| -> Vec<String> {
        let counts: Vec<_> = counts.iter().map(|at| found.servers[*at].settings.clone()).collect();
        found.replacing(&counts).iter().map(|words| words.replace(&root, "")).collect()
    };
    assert_eq!(
        replacing(&[1, 4]),
        ["The MCP server x of repo/part/.mcp.json takes the place of that of ~/.config/neco/config.toml, \
          repo/.neco/config.toml, repo/.mcp.json"]
    );
    assert!(replacing(&[0, 1]).is_empty(), "nobody trusted another one");
}

#[test]
fn a_server_is_switched_off_by_its_name_alone() {
    let shared = r#"{"mcpServers": {"a": {"command": "a"}, "b": {"command": "${NONE}"}, "c": {"command": "c"}}}"#;
    let world = World::new(&[
        (USER, "[mcp_servers.a]\nenabled = false\n[mcp_servers.own]\ncommand = 'own'"),
        (LOCAL, "[mcp_servers.b]\ndisabled = true\n[mcp_servers.own]\nenabled = false"),
        (SHARED, shared),
    ]);
    let found = world.find("repo");
    let told: Vec<_> = found.servers.iter().map(|found| (&*found.settings.name, found.settings.enabled)).collect();
    assert_eq!(told, [("own", true), ("a", false), ("b", false), ("c", true)]);
    assert!(found.notices.is_empty(), "{:?}", found.notices);
}

#[test]
fn two_plugins_with_one_name_for_a_server_are_told_apart() {
    let world = World::new(&[
        ("one/.mcp.json", r#"{ "mcpServers": { "b-c": { "command": "first" } } }"#),
        ("two/.mcp.json", r#"{ "mcpServers": { "c": { "command": "second" }, "d": { "command": "other" } } }"#),
    ]);
    let plugin = |folder: &str, name: &str| {
        let manifest = Manifest::read(&world.path(folder), &Map::new()).unwrap();
        ActivePlugin { name: name.to_owned(), folder: world.path(folder), manifest }
    };
    let env = Env::for_test([], world.path("home"));
    let folder = world.path("repo");
    let loaded = load(LoadOptions { env: &env, cwd: &folder, overrides: &[] }).unwrap();
    let found = find(&env, &folder, &loaded, &[plugin("one", "a"), plugin("two", "a-b")]);
    let named: Vec<String> = found
        .servers
        .iter()
        .map(|server| format!("{}: {}", server.settings.name, server.settings.in_short()))
        .collect();
    assert_eq!(named, ["a-b-c: first", "a-b-d: other"]);
    assert!(
        found.notices[0].contains("\"a-b-c\" of the plugin a-b is left out: one of the plugin a"),
        "{:?}",
        found.notices
    );
}

#[test]
fn who_decides_sees_what_it_runs_and_what_it_is_given_but_no_values() {
    let one = |server: &str| {
        let text = format!("{{\"mcpServers\": {{\"x\": {server}}}}}");
        World::new(&[(SHARED, &text)]).find("repo").servers.remove(0)
    };
    let server = one(
        r#"{"command": "npx", "args": ["a b", "x\ny", "${TOKEN}", "${NECO_PROJECT_DIR}"], "env": {"LD_PRELOAD": "sesame"},
            "env_vars": ["AWS_KEY"], "sandbox": false, "auto_start": true, "writable": ["/", "~/x"], "cwd": "in"}"#,
    );
    assert_eq!(
        server.says,
        "npx \"a b\" \"x\\ny\" ${TOKEN} ${NECO_PROJECT_DIR}\nruns without a box; starts with the session\n\
         may write: /, ~/x\ngets from your environment: AWS_KEY, TOKEN\nsets: LD_PRELOAD\nstarts in: in"
    );
    let server = one(
        r#"{"url": "https://me:sesame@h/mcp?k=sesame", "headers": {"A": "sesame ${TOKEN:-}"}, "sampling": "allow"}"#,
    );
    assert_eq!(
        server.says,
        "https://***@h/mcp?k=***\nmay ask the model\ngets from your environment: TOKEN\nsends headers: A"
    );
    // A line of its own would push what follows out of sight.
    assert_eq!(one(r#"{"command": "a\nb\nc\nd\ne\nf\ng"}"#).says, "a⏎b⏎c⏎d⏎e⏎f⏎g");
}

#[test]
fn trust_is_in_what_is_written() {
    let hash = |server: &str| {
        let text = format!("{{\"mcpServers\": {server}}}");
        World::new(&[(SHARED, &text)]).find("repo").servers.remove(0).hash
    };
    let one = hash(r#"{"x": {"command": "run", "args": ["${TOKEN}"]}}"#);
    assert_eq!(one, hash(r#"{"x":{"args":["${TOKEN}"],   "command":"run"}}"#));
    for other in [
        r#"{"x": {"command": "run", "args": ["sesame"]}}"#,
        r#"{"x": {"command": "run", "args": ["${TOKEN:-}"]}}"#,
        r#"{"x": {"command": "run", "args": ["${TOKEN}"], "env": {"A": "b"}}}"#,
        r#"{"x": {"command": "run", "args": ["${TOKEN}"], "unheardOf": 1}}"#,
        r#"{"y": {"command": "run", "args": ["${TOKEN}"]}}"#,
    ] {
        assert_ne!(one, hash(other), "{other}");
    }
}
