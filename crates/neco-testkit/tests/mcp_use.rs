//! What people use of MCP servers by name, through the whole program: lists start nothing, a prompt is filled in, a
//! resource goes with a message.

#![allow(clippy::unwrap_used, clippy::panic, reason = "tests stop at the first thing that is wrong")]

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use futures::StreamExt;
use neco_app::StorelessApp;
use neco_app::shared::SharedApp;
use neco_app::workspace::Workspaces;
use neco_config::Env;
use neco_proto::app::mcp_use::{FillPrompt, ListPromptCommands, ListResources};
use neco_proto::app::opening::OpenSession;
use neco_proto::app::{App, AppError, Caller, Request, Trouble};
use neco_proto::{Command, ErrorCode, EventBody, Message, Role};
use serde_json::{Value, json};
use tempfile::TempDir;

/// A home whose settings have the fake server, and a folder beside it.
struct House {
    dir: TempDir,
    app: StorelessApp,
}

impl House {
    fn new(turns: &Value) -> Self {
        let dir = tempfile::tempdir().unwrap();
        let at = |name: &str| dir.path().join(name);
        [at("home"), at("project")].iter().for_each(|folder| fs::create_dir(folder).unwrap());
        fs::write(at("script.json"), json!({ "turns": turns }).to_string()).unwrap();
        let (script, record) = (at("script.json"), at("record"));
        let settings = format!(
            "model = \"play/a\"\n[model_providers.play]\ntype = \"scripted\"\nscript = \"{}\"\n\
             [mcp_servers.x]\ncommand = \"{}\"\nargs = [\"--record\", \"{}\"]\nsandbox = false\n",
            script.display(),
            env!("CARGO_BIN_EXE_fake-mcp"),
            record.display(),
        );
        fs::write(at("home/config.toml"), settings).unwrap();
        let app = StorelessApp::new(env(&at("home")), Vec::new());
        Self { dir, app }
    }

    fn folder(&self) -> PathBuf {
        self.dir.path().join("project").canonicalize().unwrap()
    }

    async fn asks<R: Request>(&self, request: R) -> Result<R::Answer, AppError> {
        (&self.app as &dyn App).ask(&Caller::person(), &request).await
    }

    async fn fills(&self, name: &str, argument: &str) -> Result<String, AppError> {
        let folder = self.folder().display().to_string();
        let (name, argument) = (name.to_owned(), argument.to_owned());
        Ok(self.asks(FillPrompt { folder, session: None, name, argument }).await?.text)
    }

    async fn commands(&self) -> Vec<(String, String, String)> {
        let folder = self.folder().display().to_string();
        let list = self.asks(ListPromptCommands { folder, session: None }).await.unwrap();
        list.prompts.into_iter().map(|one| (one.name, one.argument, one.help)).collect()
    }

    /// How often the server was started.
    fn starts(&self) -> usize {
        let record = fs::read_to_string(self.dir.path().join("record")).unwrap_or_default();
        record.lines().filter(|line| line.starts_with("started ")).count()
    }
}

fn env(home: &Path) -> Env {
    let path = std::env::var("PATH").unwrap();
    Env::for_test([("PATH", path.as_str()), ("NECO_HOME", home.to_str().unwrap())], home)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_prompt_is_filled_in_and_lists_start_nothing() {
    let house = House::new(&json!([]));
    assert!(house.commands().await.is_empty());
    assert_eq!(house.starts(), 0, "a list starts nothing");
    let text = house.fills("mcp__x__greet", "Ann").await.unwrap();
    assert_eq!(text, format!("/mcp__x__greet Ann{}Say hello to Ann.", Message::PROMPT));
    assert_eq!(house.starts(), 1);

    let greet = ("mcp__x__greet".to_owned(), "name".to_owned(), "Greets somebody.".to_owned());
    let plain = ("mcp__x__plain".to_owned(), String::new(), "Takes no arguments.".to_owned());
    assert_eq!(house.commands().await, [greet, plain]);
    let folder = house.folder().display().to_string();
    let list = house.asks(ListResources { folder }).await.unwrap();
    let named: Vec<(&str, bool)> = list.resources.iter().map(|one| (one.uri.as_str(), one.template)).collect();
    assert_eq!(named, [("test://text", false), ("test://blob", false), ("test://item/{id}", true)]);
    assert_eq!(list.servers, ["x"]);

    let needs = house.fills("x:greet", "").await.unwrap_err();
    assert_eq!(needs.trouble, Trouble::Invalid);
    assert_eq!(needs.message, "/mcp__x__greet needs name: /mcp__x__greet name");
    let gone = house.fills("mcp__x__gret", "").await.unwrap_err();
    assert_eq!((gone.trouble, gone.code), (Trouble::NotFound, None));
    assert!(gone.message.contains("did you mean /mcp__x__greet?"), "{}", gone.message);
    let nobody = house.fills("mcp__nobody__x", "").await.unwrap_err();
    assert_eq!((nobody.trouble, nobody.code), (Trouble::NotFound, Some(ErrorCode::ServerNotFound)));
    assert_eq!(house.starts(), 1, "what can't be filled in starts nothing");
    assert!(house.fills("x:plain", "").await.unwrap().ends_with("Say something plain."));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_resource_goes_with_the_message_that_names_it() {
    let expect = json!({ "last_user_contains": "The text of the resource." });
    let house = House::new(&json!([{ "expect": expect, "say": "Read." }]));
    let (folder, home) = (house.folder(), house.dir.path().join("home"));
    let workspaces = Arc::new(Workspaces::new(env(&home)));
    let app = Arc::new(SharedApp::new(workspaces, Vec::new(), &folder, Arc::new(())));
    let wanted = OpenSession { folder: folder.display().to_string(), interactive: true, ..OpenSession::default() };
    let opened = app.open(&Caller::person(), wanted).await.unwrap();
    let content = "read @x:test://text, @x:test://item/7 and @x:test://blob, not @x:none or @y:z".to_owned();
    let message = Command::UserMessage { content: content.clone(), attachments: Vec::new() };
    opened.client.send(message).await.unwrap();
    let (mut events, mut said, mut told) = (opened.client.events(opened.since), None, Vec::new());
    loop {
        match events.next().await.unwrap().unwrap().body {
            EventBody::Message(message) if message.role == Role::User && !message.is_neco() => said = Some(message),
            EventBody::Notification(note) => told.push(note.text),
            EventBody::AgentComplete(_) => break,
            _ => {}
        }
    }
    let text = said.unwrap().text();
    assert_eq!(Message::written(&text), content);
    for words in ["x:test://text:\n```\n<untrusted", "source=\"MCP server x\"", "Item 7."] {
        assert!(text.contains(words), "{words:?} is not in {text}");
    }
    let only_named: Vec<&String> = told.iter().filter(|words| words.contains("is only named")).collect();
    let [blob, none] = only_named.as_slice() else { panic!("{told:?}") };
    assert!(blob.contains("Resource x:test://blob") && blob.contains("it is not text"), "{blob}");
    assert!(none.contains("Resource x:none"), "{none}");
    assert_eq!(house.starts(), 1);
    drop(events);
    app.close(opened.client).await.unwrap();
    app.stop().await.unwrap();
}
