//! MCP servers in settings: added, shown, switched off, taken out; and what is told of those that a repository brings.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

use std::fs;
use std::path::PathBuf;

use futures::StreamExt;
use neco_app::StorelessApp;
use neco_config::Env;
use neco_proto::app::doctor::{Examine, Health};
use neco_proto::app::mcp::{
    AddServer, GetServer, ListServers, ReadServerLog, RemoveServer, RestartServer, ServerScope, ServerState,
    SetServerEnabled, TestServer,
};
use neco_proto::app::{App, AppError, Caller, Request, Trouble};
use serde_json::{Value, json};
use tempfile::TempDir;

struct House {
    dir: TempDir,
    app: StorelessApp,
}

impl House {
    fn new(settings: &str) -> Self {
        let dir = tempfile::tempdir().unwrap();
        fs::create_dir_all(dir.path().join("project")).unwrap();
        let home = dir.path().join("home").display().to_string();
        let path = std::env::var("PATH").unwrap();
        let env = Env::for_test([("NECO_HOME", home.as_str()), ("PATH", path.as_str())], dir.path());
        let house = Self { app: StorelessApp::new(env, Vec::new()), dir };
        house.write("home/config.toml", settings);
        house
    }

    fn path(&self, name: &str) -> PathBuf {
        self.dir.path().join(name)
    }

    fn write(&self, name: &str, text: &str) {
        fs::create_dir_all(self.path(name).parent().unwrap()).unwrap();
        fs::write(self.path(name), text).unwrap();
    }

    fn read(&self, name: &str) -> String {
        fs::read_to_string(self.path(name)).unwrap()
    }

    fn folder(&self) -> String {
        self.path("project").canonicalize().unwrap().display().to_string()
    }

    async fn asks<R: Request>(&self, request: R) -> Result<R::Answer, AppError> {
        (&self.app as &dyn App).ask(&Caller::person(), &request).await
    }

    fn add(&self, name: &str, scope: ServerScope, server: Value) -> AddServer {
        AddServer { folder: self.folder(), name: name.to_owned(), scope, server }
    }

    fn enable(&self, name: &str, enabled: bool) -> SetServerEnabled {
        SetServerEnabled { folder: self.folder(), name: name.to_owned(), enabled }
    }

    fn remove(&self, name: &str) -> RemoveServer {
        RemoveServer { folder: self.folder(), name: name.to_owned(), scope: None }
    }

    async fn states(&self) -> Vec<(String, ServerState)> {
        let list = self.asks(ListServers { folder: self.folder() }).await.unwrap();
        list.servers.into_iter().map(|row| (row.name, row.state)).collect()
    }
}

#[tokio::test]
async fn a_server_of_ones_own_is_added_switched_off_and_taken_out_and_the_file_stays_as_it_is() {
    let settings = "# mine\nmode = \"plan\"\n";
    let house = House::new(settings);
    let server = json!({ "command": "sh", "args": ["-c", "true"], "env": { "TOKEN": "${PATH}" } });
    let add = house.add("files", ServerScope::User, server);
    let written = house.asks(add.clone()).await.unwrap();
    let row = written.server.unwrap();
    assert_eq!((written.file.as_str(), row.file.as_str()), ("~/home/config.toml", "~/home/config.toml"));
    assert_eq!((row.state, row.in_short.as_str()), (ServerState::Configured, "sh -c true"));
    let text = house.read("home/config.toml");
    assert!(text.starts_with(settings) && text.contains("[mcp_servers.files]"), "{text}");

    let again = house.asks(add).await.unwrap_err();
    assert!(again.trouble == Trouble::Invalid && again.message.contains("already"), "{again:?}");
    let shown = house.asks(GetServer { folder: house.folder(), name: "files".into() }).await.unwrap();
    assert_eq!((shown.given, shown.tools.len()), (vec!["TOKEN".to_owned()], 0));
    let near = house.asks(GetServer { folder: house.folder(), name: "flies".into() }).await.unwrap_err();
    assert_eq!(
        (near.trouble, near.message.as_str()),
        (Trouble::NotFound, "there is no MCP server flies; did you mean files?")
    );

    let off = house.asks(house.enable("files", false)).await.unwrap();
    assert_eq!(off.server.unwrap().state, ServerState::Disabled);
    let test = TestServer { folder: house.folder(), name: "files".into() };
    assert!(house.asks(test).await.unwrap_err().message.contains("is disabled"));
    let on = house.asks(house.enable("files", true)).await.unwrap();
    assert_eq!(on.server.unwrap().state, ServerState::Configured);
    let restart = RestartServer { folder: house.folder(), name: "files".into() };
    assert!(house.asks(restart).await.unwrap_err().message.contains("no session is open"));

    house.write("home/data/mcp/logs/files.log", "x\n");
    assert_eq!(house.asks(house.remove("files")).await.unwrap().server, None);
    assert_eq!(house.read("home/config.toml"), settings);
    assert!(!house.path("home/data/mcp/logs/files.log").exists(), "what was known of it is forgotten");
    assert_eq!(house.asks(house.remove("files")).await.unwrap_err().trouble, Trouble::NotFound);
}

#[tokio::test]
async fn what_can_t_be_a_server_is_not_written() {
    let house = House::new("");
    for (name, server, words) in [
        ("a__b", json!({ "command": "x" }), "the name of a server"),
        ("a b", json!({ "command": "x" }), "the name of a server"),
        ("a", json!("npx"), "a JSON object"),
        ("a", json!({ "command": ["npx"] }), "mcp_servers.a.command: expected a string"),
        ("a", json!({ "comand": "npx" }), "unknown setting"),
        ("a", json!({}), "neither"),
    ] {
        let refused = house.asks(house.add(name, ServerScope::User, server)).await.unwrap_err();
        assert!(refused.trouble == Trouble::Invalid && refused.message.contains(words), "{refused:?}");
    }
    assert_eq!(house.read("home/config.toml"), "");
    // A variable may be set later: it is written, and why it is left out for now is told.
    let server = json!({ "command": "sh", "env": { "A": "${NOBODY_SET_THIS}" } });
    let written = house.asks(house.add("later", ServerScope::User, server)).await.unwrap();
    assert!(written.server.is_none() && written.warnings[0].contains("NOBODY_SET_THIS"), "{written:?}");
    house.asks(house.enable("later", false)).await.unwrap();
    assert_eq!(house.states().await, [("later".to_owned(), ServerState::Disabled)]);
}

#[tokio::test]
async fn a_server_of_the_folder_is_listed_as_not_trusted_and_can_be_switched_off_and_taken_out() {
    let house = House::new("");
    house.write("project/.mcp.json", "{\"of\": \"others\", \"mcpServers\": {\"x\": {\"command\": \"sh\"}}}");
    let y = house.add("y", ServerScope::Project, json!({ "url": "https://h/mcp", "bearer_token_env_var": "PATH" }));
    let written = house.asks(y).await.unwrap();
    assert_eq!((written.file.as_str(), written.server.unwrap().state), ("~/project/.mcp.json", ServerState::Untrusted));
    let text: Value = serde_json::from_str(&house.read("project/.mcp.json")).unwrap();
    let y = json!({ "url": "https://h/mcp", "type": "http", "headers": { "Authorization": "Bearer ${PATH}" } });
    assert_eq!(text, json!({ "of": "others", "mcpServers": { "x": { "command": "sh" }, "y": y } }));

    let test = TestServer { folder: house.folder(), name: "x".into() };
    assert_eq!(house.asks(test).await.unwrap_err().trouble, Trouble::NotAllowed);
    let off = house.asks(house.enable("x", false)).await.unwrap();
    assert_eq!((off.file.as_str(), off.server.unwrap().state), ("~/home/config.toml", ServerState::Disabled));
    let on = house.asks(house.enable("x", true)).await.unwrap();
    assert_eq!((on.server.unwrap().state, house.read("home/config.toml").as_str()), (ServerState::Untrusted, ""));

    house.asks(house.remove("x")).await.unwrap();
    assert_eq!(house.states().await, [("y".to_owned(), ServerState::Untrusted)]);
    house.asks(house.add("y", ServerScope::User, json!({ "command": "sh" }))).await.unwrap();
    let both = house.asks(house.remove("y")).await.unwrap_err();
    assert!(both.hint.unwrap().contains("--scope project"));
    house.asks(RemoveServer { scope: Some(ServerScope::Project), ..house.remove("y") }).await.unwrap();
    assert_eq!(house.states().await, [("y".to_owned(), ServerState::Configured)]);
}

#[tokio::test]
async fn the_doctor_has_a_line_for_each_server_and_starts_none() {
    let house = House::new(
        "[mcp_servers.there]\ncommand = 'sh -c \"touch started\"'\n[mcp_servers.gone]\ncommand = 'no-such-program-here'\n\
         [mcp_servers.far]\nurl = 'https://h.invalid/mcp'\n[mcp_servers.off]\ncommand = 'nope'\nenabled = false\n\
         [mcp_servers.unset]\ncommand = 'sh'\nenv = { A = '${NOBODY_SET_THIS}' }\n",
    );
    house.write("project/.mcp.json", "{\"mcpServers\": {\"theirs\": {\"command\": \"sh\"}}}");
    let findings = house.asks(Examine { folder: house.folder() }).await.unwrap().findings;
    let of_servers: Vec<_> = findings.iter().filter(|finding| finding.subject == "mcp").collect();
    let has = |health: Health, words: &str| {
        of_servers.iter().any(|finding| finding.health == health && finding.words.contains(words))
    };
    assert!(has(Health::Info, "there runs ") && has(Health::Info, "far at https://h.invalid/mcp"), "{of_servers:?}");
    assert!(has(Health::Info, "it has not answered so far"), "a program that is there is no server yet");
    assert!(has(Health::Fail, "there is no program no-such-program-here"), "{of_servers:?}");
    assert!(has(Health::Info, "theirs of ") && has(Health::Warn, "NOBODY_SET_THIS"), "{of_servers:?}");
    assert_eq!(of_servers.len(), 5, "{of_servers:?}");
    let elsewhere = findings.iter().filter(|finding| finding.words.contains("NOBODY_SET_THIS")).count();
    assert!(elsewhere == 1 && !house.path("project/started").exists());
}

#[tokio::test]
async fn a_log_is_read_from_its_end_and_followed() {
    let house = House::new("[mcp_servers.files]\ncommand = 'sh'\n");
    let log = |lines: usize, name: &str| ReadServerLog { folder: house.folder(), name: name.to_owned(), lines };
    assert_eq!(house.asks(log(10, "files")).await.unwrap().text, "");
    for name in ["other", "../../../config"] {
        assert_eq!(house.asks(log(10, name)).await.unwrap_err().trouble, Trouble::NotFound, "{name}");
    }
    house.write("home/data/mcp/logs/files.log", "one\ntwo\nthree");
    assert_eq!(house.asks(log(2, "files")).await.unwrap().text, "two\nthree");
    let (app, person): (&dyn App, Caller) = (&house.app, Caller::person());
    let mut pieces = app.watch(&person, &log(1, "files"));
    assert_eq!(pieces.next().await.unwrap().unwrap().text, "three");
    house.write("home/data/mcp/logs/files.log", "one\ntwo\nthree\nfour\n");
    assert_eq!(pieces.next().await.unwrap().unwrap().text, "\nfour\n");
    house.write("home/data/mcp/logs/files.log", "anew\n");
    assert_eq!(pieces.next().await.unwrap().unwrap().text, "anew\n");
}
