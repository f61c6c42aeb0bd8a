//! Many folders in one process: neither sees what is the other's, and what is edited is taken up.

#![allow(clippy::unwrap_used, clippy::indexing_slicing, reason = "a test may panic")]

use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use futures::StreamExt;
use neco_app::opening::Opening;
use neco_app::services::Services;
use neco_app::workspace::plugged::Scope;
use neco_app::workspace::{Workspace, Workspaces, keys};
use neco_config::Env;
use neco_model::route::Kept;
use neco_proto::event::{CallStatus, ToolCallEnd};
use neco_proto::{Answer, Client, Command, Decision, Event, EventBody, Query, Seq};
use neco_safety::Trust;
use neco_session::Session;
use neco_store::{Catalog, EventLog, lock_folder};
use serde_json::{Value, json};
use tempfile::TempDir;

/// A home with a scripted model, and folders beside it.
struct Stage {
    folder: TempDir,
    workspaces: Workspaces,
    /// Whether a person sits in front of its sessions.
    is_attended: bool,
}

/// An open session, and how far it was looked at.
struct Open {
    services: Services,
    session: Session,
    workspace: Arc<Workspace>,
    seen: Seq,
}

impl Stage {
    fn new(turns: &Value) -> Self {
        Self::playing(&json!({ "turns": turns }))
    }

    fn playing(script: &Value) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        fs::create_dir(at("home")).unwrap();
        fs::write(at("script.json"), script.to_string()).unwrap();
        let home = at("home");
        let path = std::env::var("PATH").unwrap();
        let env = Env::for_test([("PATH", path.as_str()), ("NECO_HOME", home.to_str().unwrap())], &home);
        let stage = Self { workspaces: Workspaces::new(env), folder, is_attended: false };
        stage.configure("");
        stage
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// The person's own settings.
    fn configure(&self, more: &str) {
        self.configure_with("", more);
    }

    /// The same, with settings that belong to no section.
    fn configure_with(&self, top: &str, more: &str) {
        let script = self.path("script.json");
        let config = format!(
            "{top}model = \"play/a\"\n[model_providers.play]\ntype = \"scripted\"\nscript = \"{}\"\n{more}",
            script.display()
        );
        fs::write(self.path("home/config.toml"), config).unwrap();
    }

    /// A key that somebody sets elsewhere.
    fn set_key(&self, provider: &str, key: &str) {
        let kept = Kept { keys: vec![key.to_owned().into()], login: None };
        keys::file(self.workspaces.env()).change(|keys| keys.insert(provider.to_owned(), kept)).unwrap();
    }

    /// A folder with these files.
    fn project(&self, name: &str, files: &[(&str, &str)]) -> PathBuf {
        for (file, text) in files {
            let path = self.path(name).join(file);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        }
        self.path(name).canonicalize().unwrap()
    }

    async fn open(&self, folder: &Path, token: &str, trusted: bool) -> Open {
        self.open_with(folder, token, trusted, &[]).await
    }

    async fn open_with(&self, folder: &Path, token: &str, trusted: bool, overrides: &[String]) -> Open {
        let workspace = self.workspaces.at(folder, overrides).await.unwrap();
        if trusted {
            workspace.decide(|plugged| plugged.decide(Scope::All, true)).unwrap().unwrap();
        }
        let (store, _) = self.workspaces.store().await.unwrap();
        let path = std::env::var("PATH").unwrap();
        let environment = [("PATH", path.as_str()), ("SERVICE_TOKEN", token)];
        let environment = environment.map(|(name, value)| (name.into(), value.into())).to_vec();
        let opening = Opening { environment, attended: self.is_attended, ..Opening::default() };
        let mut notes = Vec::new();
        let model = opening.default_model(&workspace.now(), false, &mut notes).await.unwrap();
        let opened = opening.open(&workspace, store, None, model, |_| (), &mut notes).await;
        let Ok((services, session)) = opened else { panic!("the session can't be opened") };
        Open { services, session, workspace, seen: 0 }
    }
}

impl Open {
    /// Says something, and gives all that happens until the agent is done.
    async fn ask(&mut self, words: &str) -> Vec<Event> {
        self.ask_of(words, 1).await
    }

    /// The same until so many agents are done. Whatever a person is asked they allow always.
    async fn ask_of(&mut self, words: &str, mut agents: usize) -> Vec<Event> {
        let message = Command::UserMessage { content: words.to_owned(), attachments: Vec::new() };
        self.session.send(message).await.unwrap();
        let mut events = self.session.events(self.seen);
        let mut happened = Vec::new();
        while let Some(event) = events.next().await {
            let event = event.unwrap();
            self.seen = event.seq;
            if let EventBody::PermissionRequest(asked) = &event.body {
                let decision = Decision::Always;
                self.session.send(Command::Approve { call_id: asked.call_id.clone(), decision }).await.unwrap();
            }
            agents -= usize::from(matches!(event.body, EventBody::AgentComplete(_)));
            happened.push(event);
            if agents == 0 {
                break;
            }
        }
        happened
    }

    /// The whole prompt, as the model is told it.
    async fn prompt(&self) -> String {
        let Ok(Answer::Prompt(report)) = self.session.ask(Query::Prompt).await else { panic!("no prompt") };
        report.system.iter().map(|layer| layer.text.clone()).collect::<Vec<_>>().join("\n")
    }

    async fn close(self) {
        self.session.close().await;
        self.services.leave().await.unwrap();
    }
}

fn ends(events: &[Event]) -> Vec<&ToolCallEnd> {
    let ends = events.iter().filter_map(|event| match &event.body {
        EventBody::ToolCallEnd(end) => Some(end),
        _ => None,
    });
    ends.collect()
}

/// How the one call came out.
fn status(events: &[Event]) -> CallStatus {
    let ends = ends(events);
    assert_eq!(ends.len(), 1);
    ends[0].status
}

fn warnings(events: &[Event]) -> Vec<&str> {
    said(events, "an edit is not taken up")
}

/// What the person is told with these words in it.
fn said<'a>(events: &'a [Event], words: &str) -> Vec<&'a str> {
    let told = events.iter().filter_map(|event| match &event.body {
        EventBody::Notification(told) => Some(told.text.as_str()),
        _ => None,
    });
    told.filter(|text| text.contains(words)).collect()
}

fn call(name: &str, arguments: &Value) -> Value {
    json!({ "calls": [{ "name": name, "arguments": arguments }] })
}

const HOOK: &str = r#"{"hooks": {"PostToolUse": [{"matcher": "read_file", "hooks":
    [{"type": "command", "command": "echo ran >> ran"}]}]}}"#;

#[tokio::test(flavor = "multi_thread")]
async fn two_folders_in_one_process_see_nothing_of_each_other() {
    let reads = ["closed.txt", "notes.txt"].map(|path| call("read_file", &json!({ "path": path })));
    let stage = Stage::new(&json!([reads[0], reads[1], { "say": "Seen." }]));
    let notes = ("notes.txt", "first-secret-value-1 and second-secret-value-2\n");
    let closed = ("closed.txt", "x\n");
    let rule = "[[rule]]\ntool = 'read_file'\npath = 'closed.txt'\ndecision = 'deny'\n";
    let one = stage.project(
        "one",
        &[
            notes,
            closed,
            ("AGENTS.md", "Rules of one.\n"),
            (".neco/policy/p.toml", rule),
            (".claude/settings.json", HOOK),
        ],
    );
    let two = stage.project("two", &[notes, closed, ("AGENTS.md", "Rules of two.\n"), (".claude/settings.json", HOOK)]);
    let mut first = stage.open(&one, "first-secret-value-1", true).await;
    let narrow = ["sandbox.level=read_only".to_owned()];
    let mut second = stage.open_with(&two, "second-secret-value-2", false, &narrow).await;
    let (in_one, in_two) = tokio::join!(first.ask("look"), second.ask("look"));

    let (in_one, in_two) = (ends(&in_one), ends(&in_two));
    assert_ne!(in_one[0].status, CallStatus::Success, "its rule is the first one's");
    assert_eq!(in_two[0].status, CallStatus::Success);
    let (read_one, read_two) = (&in_one[1].output, &in_two[1].output);
    assert!(read_one.contains("[redacted: SERVICE_TOKEN] and second-secret-value-2"), "{read_one}");
    assert!(read_two.contains("first-secret-value-1 and [redacted: SERVICE_TOKEN]"), "{read_two}");
    assert!(one.join("ran").exists(), "the hook of a folder that is trusted runs");
    assert!(!two.join("ran").exists(), "that of the other one does not");
    let (told_one, told_two) = (first.prompt().await, second.prompt().await);
    assert!(told_one.contains("Rules of one.") && !told_one.contains("Rules of two."));
    assert!(told_two.contains("Rules of two.") && !told_two.contains("Rules of one."));
    let level = |open: &Open| open.workspace.now().loaded.config.sandbox.level;
    assert_ne!(level(&first), level(&second));
    let report = |open: &Open| open.workspace.now().sandbox.report().clone();
    assert_ne!(format!("{:?}", report(&first)), format!("{:?}", report(&second)));
    let (hides_one, hides_two) = (first.services.hub.redactor(), second.services.hub.redactor());
    let said = "first-secret-value-1 second-secret-value-2";
    let scope = neco_safety::secrets::Scope::Outside;
    assert_eq!(hides_one.redact(said, scope), "[redacted: SERVICE_TOKEN] second-secret-value-2");
    assert_eq!(hides_two.redact(said, scope), "first-secret-value-1 [redacted: SERVICE_TOKEN]");

    assert!(Arc::ptr_eq(&first.workspace, &stage.workspaces.at(&one, &[]).await.unwrap()), "a folder is made once");
    let (store, again) = (stage.workspaces.store().await.unwrap().0, stage.workspaces.store().await.unwrap().0);
    assert!(Arc::ptr_eq(&store, &again), "one store for all");
    drop((store, again));
    first.close().await;
    second.close().await;
    stage.workspaces.close().await.unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn an_edit_is_taken_up_at_the_next_turn() {
    let read = call("read_file", &json!({ "path": "notes.txt" }));
    let stage = Stage::new(&json!([read, { "say": "One." }, read, { "say": "Two." }, read, { "say": "Three." }]));
    let one = stage.project("one", &[("notes.txt", "x\n"), ("AGENTS.md", "Say alpha.\n")]);
    let mut open = stage.open(&one, "", false).await;
    assert_eq!(status(&open.ask("one").await), CallStatus::Success);
    let before = open.prompt().await;
    assert!(before.contains("Say alpha.") && !before.contains("- helper:"), "{before}");

    // The hook edits the rules file while the second message is worked on: the turn after the call is told of it.
    stage.configure("[[hooks.PostToolUse]]\nmatcher = \"read_file\"\ncommand = \"echo Say gamma. > AGENTS.md\"\n");
    stage.project(
        "one",
        &[
            ("AGENTS.md", "Say beta.\n"),
            (".neco/agents/helper.md", "---\nname: helper\ndescription: helps\n---\nHelp.\n"),
        ],
    );
    let second = open.ask("two").await;
    assert_eq!(status(&second), CallStatus::Success);
    let hooks = second.iter().filter(|event| matches!(event.body, EventBody::HookRun(_))).count();
    assert_eq!(hooks, 1, "the hook that is new runs");
    let after = open.prompt().await;
    assert!(after.contains("Say gamma.") && !after.contains("Say alpha.") && after.contains("- helper:"), "{after}");

    stage.project("home/policy", &[("mine.toml", "[[rule]]\ntool = 'read_file'\ndecision = 'deny'\n")]);
    assert_ne!(status(&open.ask("three").await), CallStatus::Success, "the rule holds");
    open.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_broken_edit_keeps_what_there_was_and_says_so_once() {
    let read = call("read_file", &json!({ "path": "notes.txt" }));
    let turns =
        json!([read, { "say": "One." }, read, { "say": "Two." }, read, { "say": "Three." }, { "say": "Four." }]);
    let stage = Stage::new(&turns);
    let one = stage.project("one", &[("notes.txt", "x\n")]);
    let deny = "[[policy.rules]]\ntool = \"read_file\"\ndecision = \"deny\"\n";
    stage.configure(deny);
    let mut open = stage.open(&one, "", false).await;
    assert_ne!(status(&open.ask("one").await), CallStatus::Success);

    stage.configure("mode = ");
    let events = open.ask("two").await;
    assert_ne!(status(&events), CallStatus::Success, "what held before holds on");
    assert_eq!(warnings(&events).len(), 1, "two turns, one warning: {:?}", warnings(&events));
    assert!(stage.workspaces.at(&one, &[]).await.is_err(), "a session that begins now is told");

    stage.configure("");
    let events = open.ask("three").await;
    assert_eq!(status(&events), CallStatus::Success, "what is mended is taken up");
    stage.project("one", &[(".neco/prompts/base.md", "{{no such thing}}")]);
    assert_eq!(warnings(&open.ask("four").await), Vec::<&str>::new(), "what is not trusted does not count at all");
    open.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn what_a_trusted_folder_forbids_is_not_switched_off_by_an_edit() {
    let read = call("read_file", &json!({ "path": "notes.txt" }));
    let list = call("list_directory", &json!({ "path": "." }));
    let turns = json!([
        read, { "say": "One." }, read, { "say": "Two." }, read, { "say": "Three." }, list, { "say": "Four." },
        read, { "say": "Five." },
    ]);
    let stage = Stage::new(&turns);
    let deny = "[[rule]]\ntool = 'read_file'\ndecision = 'deny'\n";
    let one = stage.project("one", &[("notes.txt", "x\n"), (".neco/policy/team.toml", deny)]);
    let mut open = stage.open(&one, "", true).await;
    assert_ne!(status(&open.ask("one").await), CallStatus::Success);

    // Changed, and one more that nobody has seen.
    stage.project("one", &[(".neco/policy/team.toml", "# nothing\n"), (".neco/policy/more.toml", "# nothing\n")]);
    let events = open.ask("two").await;
    assert_ne!(status(&events), CallStatus::Success, "what was trusted holds on");
    assert_eq!(said(&events, "what was trusted holds").len(), 1);
    assert_eq!(said(&events, "is new or changed and not trusted").len(), 2);
    fs::remove_dir_all(one.join(".neco/policy")).unwrap();
    assert_ne!(status(&open.ask("three").await), CallStatus::Success, "gone is not switched off either");

    // What the person edits is taken up all the same.
    let mine = "[[rule]]\ntool = 'list_directory'\ndecision = 'deny'\n";
    stage.project("home/policy", &[("mine.toml", mine)]);
    assert_ne!(status(&open.ask("four").await), CallStatus::Success, "the person's own rule holds at once");

    fs::remove_file(stage.path("home/policy/mine.toml")).unwrap();
    let mut trust = Trust::open(stage.workspaces.env().config_dir()).unwrap();
    assert!(trust.forget(&one).unwrap());
    let events = open.ask("five").await;
    assert_eq!(status(&events), CallStatus::Success, "who is no longer trusted forbids nothing: {:?}", ends(&events));
    open.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_key_that_comes_later_is_hidden_wherever_it_is_told() {
    let read = call("read_file", &json!({ "path": "notes.txt" }));
    let stage = Stage::new(&json!([{ "say": "One." }, read, { "say": "It is sk-later-key-1." }]));
    let (one, two) = (stage.project("one", &[("notes.txt", "sk-later-key-1 other-folder-key-2\n")]), "two");
    let mut open = stage.open(&one, "", false).await;
    open.ask("one").await;
    let (elsewhere, scope) = (open.services.hub.redactor(), neco_safety::secrets::Scope::Said);
    stage.set_key("openai", "sk-later-key-1");
    let of_two = ["model_providers.anthropic.api_key=other-folder-key-2".to_owned()];
    let second = stage.open_with(&stage.project(two, &[("x", "")]), "", false, &of_two).await;
    let events = open.ask("two").await;
    let told = serde_json::to_string(&events).unwrap();
    assert!(told.contains("[redacted: the keys file] [redacted: the configuration]"), "{told}");
    assert!(!told.contains("later-key-1") && !told.contains("folder-key-2"), "{told}");
    assert_eq!(elsewhere.redact("sk-later-key-1", scope), "[redacted: the keys file]", "whoever has it knows it, too");
    stage.set_key("openai", "sk-newest-key-3");
    stage.workspaces.at(&one, &[]).await.unwrap();
    let both = elsewhere.redact("sk-later-key-1 sk-newest-key-3", scope).into_owned();
    assert_eq!(both, "[redacted: the keys file] [redacted: the keys file]", "what was a key once stays hidden");
    second.close().await;
    open.close().await;
}

/// A model on loopback that has one thing to say, and the keys that it was asked with.
fn model_server() -> (String, Arc<Mutex<Vec<String>>>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let (base, asked) = (format!("http://{}/v1", listener.local_addr().unwrap()), Arc::new(Mutex::new(Vec::new())));
    let seen = Arc::clone(&asked);
    std::thread::spawn(move || {
        for mut stream in listener.incoming().flatten() {
            let mut reader = BufReader::new(stream.try_clone().unwrap());
            let (mut length, mut key, mut line) = (0, String::new(), String::new());
            while reader.read_line(&mut line).is_ok_and(|read| read > 2) {
                match line.trim().split_once(": ") {
                    Some((name, value)) if name.eq_ignore_ascii_case("content-length") => {
                        length = value.parse().unwrap()
                    }
                    Some((name, value)) if name.eq_ignore_ascii_case("authorization") => key = value.to_owned(),
                    _ => {}
                }
                line.clear();
            }
            let mut body = vec![0; length];
            if reader.read_exact(&mut body).is_ok() && length > 0 {
                seen.lock().unwrap().push(key);
            }
            let said = json!({ "choices": [{ "delta": { "content": "Hi." }, "finish_reason": "stop" }] });
            let head = "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\nconnection: close\r\n\r\n";
            let _ = write!(stream, "{head}data: {said}\n\ndata: [DONE]\n\n");
        }
    });
    (base, asked)
}

#[tokio::test(flavor = "multi_thread")]
async fn a_key_that_is_changed_elsewhere_is_used_at_the_next_turn() {
    let (base, asked) = model_server();
    let stage = Stage::new(&json!([]));
    let config = format!(
        "model = \"web/m\"\n[model_providers.web]\ntype = \"openai\"\nbase = \"{base}\"\n[sessions]\nmodel_title = false\n"
    );
    fs::write(stage.path("home/config.toml"), &config).unwrap();
    stage.set_key("web", "sk-first-key-1");
    let mut open = stage.open(&stage.project("one", &[("x", "")]), "", false).await;
    open.ask("one").await;
    stage.set_key("web", "sk-second-key-2");
    open.ask("two").await;
    // A key among the settings comes before one that is kept.
    fs::write(stage.path("home/config.toml"), config.replace("base =", "api_key = \"sk-third-key-3\"\nbase ="))
        .unwrap();
    open.ask("three").await;
    let keys = asked.lock().unwrap().clone();
    assert_eq!(keys, ["Bearer sk-first-key-1", "Bearer sk-second-key-2", "Bearer sk-third-key-3"]);
    open.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_always_allowed_and_could_not_be_kept_holds_after_an_edit() {
    let read = call("read_file", &json!({ "path": "notes.txt" }));
    let mut stage = Stage::new(&json!([read, { "say": "One." }, read, { "say": "Two." }]));
    stage.is_attended = true;
    let asks = "[[policy.rules]]\ntool = \"read_file\"\ndecision = \"ask\"\n[memory]\nextract = false\n";
    stage.configure(asks);
    let one = stage.project("one", &[("notes.txt", "x\n")]);
    let mut open = stage.open(&one, "", false).await;
    fs::write(stage.path("home/policy"), "in the way").unwrap();
    let asked = |events: &[Event]| events.iter().any(|event| matches!(event.body, EventBody::PermissionRequest(_)));
    let events = open.ask("one").await;
    assert!(asked(&events) && status(&events) == CallStatus::Success);
    assert_eq!(said(&events, "the rule holds for this session only").len(), 1);
    stage.configure(&format!("{asks}# edited\n"));
    let events = open.ask("two").await;
    assert!(!asked(&events) && status(&events) == CallStatus::Success, "{:?}", ends(&events));
    open.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn an_edit_that_fails_for_a_reason_that_passes_is_tried_again() {
    let read = call("read_file", &json!({ "path": "notes.txt" }));
    let turns = json!([read, { "say": "One." }, read, { "say": "Two." }, read, { "say": "Three." }]);
    let stage = Stage::new(&turns);
    let one = stage.project("one", &[("notes.txt", "x\n")]);
    let mut open = stage.open(&one, "", false).await;
    let deny = "[[policy.rules]]\ntool = \"read_file\"\ndecision = \"deny\"\n";
    // The folder that it opens is not there yet, which no file that was edited says.
    stage.configure_with(&format!("roots = [\"{}\"]\n", stage.path("later").display()), deny);
    let (first, second) = (open.ask("one").await, open.ask("two").await);
    assert_eq!((status(&first), status(&second)), (CallStatus::Success, CallStatus::Success), "it is not taken up");
    assert_eq!((warnings(&first).len(), warnings(&second).len()), (1, 0), "four turns, one warning");
    fs::create_dir(stage.path("later")).unwrap();
    assert_ne!(status(&open.ask("three").await), CallStatus::Success, "the same files, and now they can be used");
    open.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn an_agent_at_work_below_the_root_takes_up_an_edit() {
    let (read, list) = (json!({ "path": "notes.txt" }), json!({ "path": "." }));
    let script = json!({
        "turns": [call("spawn_agent", &json!({ "agent": "general", "task": "look" })), call("agent_wait", &json!({})), { "say": "All." }],
        "agents": [{ "role": "general", "turns": [call("read_file", &read), call("list_directory", &list), { "say": "Looked." }] }],
    });
    let stage = Stage::playing(&script);
    let rule = "[[rule]]\ntool = 'list_directory'\ndecision = 'deny'\n";
    let one = stage.project("one", &[("notes.txt", "x\n"), ("rule.toml", rule)]);
    stage.project("home/policy", &[("first.toml", "# nothing\n")]);
    // The hook runs while the child is at work, and its root waits for it.
    let hook = "mkdir -p ../home/policy && cp rule.toml ../home/policy/mine.toml";
    stage.configure(&format!("[[hooks.PostToolUse]]\nmatcher = \"read_file\"\ncommand = \"{hook}\"\n"));
    let mut open = stage.open(&one, "", false).await;
    let events = open.ask_of("go", 2).await;
    let of = |tool: &str| ends(&events).iter().find(|end| end.tool == tool).map(|end| end.status);
    assert_eq!(of("read_file"), Some(CallStatus::Success));
    assert!(of("list_directory").is_some_and(|status| status != CallStatus::Success), "{:?}", ends(&events));
    open.close().await;
}

/// How many sessions are locked.
fn locked(stage: &Stage) -> usize {
    fs::read_dir(lock_folder(&stage.path("home/data"))).into_iter().flatten().count()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_start_that_fails_leaves_nothing_behind_at_any_step() {
    let stage = Stage::new(&json!([{ "say": "Done." }]));
    let (one, data) = (stage.project("one", &[("notes.txt", "x\n")]), stage.path("home/data"));
    // Settings.
    stage.configure("mode = ");
    assert!(stage.workspaces.at(&one, &[]).await.is_err());
    assert!(!data.exists());
    stage.configure("");
    let workspace = stage.workspaces.at(&one, &[]).await.unwrap();
    // The store.
    fs::remove_dir_all(&data).unwrap_or_default();
    fs::write(&data, "in the way").unwrap();
    assert!(stage.workspaces.store().await.is_err());
    fs::remove_file(&data).unwrap();
    let (store, _) = stage.workspaces.store().await.unwrap();
    // Models, and agents.
    let fails = [
        Opening { model: Some("nobody/x".to_owned()), ..Opening::default() },
        Opening { generation: Some(99), ..Opening::default() },
        Opening { tools: vec!["nonsense".to_owned()], ..Opening::default() },
    ];
    for opening in fails {
        let (model, mut notes) = ("play/a".to_owned(), Vec::new());
        let opened = opening.open(&workspace, Arc::clone(&store), None, model, |_| (), &mut notes).await;
        assert!(opened.is_err());
        assert_eq!((store.list(None, 9).await.unwrap().len(), locked(&stage)), (0, 0));
    }
    // And the way down again.
    let mut open = stage.open(&one, "", false).await;
    open.ask("go").await;
    assert_eq!(locked(&stage), 1);
    open.close().await;
    assert_eq!(locked(&stage), 0);
    stage.workspaces.close().await.unwrap();
    assert!(store.list(None, 9).await.is_err(), "the store is closed");
    assert_eq!(stage.workspaces.store().await.unwrap().0.list(None, 9).await.unwrap().len(), 1, "and has it all");
}

/// Processes with these words in their command line.
fn processes(words: &str) -> usize {
    let all = fs::read_dir("/proc").into_iter().flatten().flatten();
    let lines = all.filter_map(|process| fs::read(process.path().join("cmdline")).ok());
    lines.filter(|line| String::from_utf8_lossy(line).contains(words)).count()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_shutdown_at_any_step_leaves_nothing_behind() {
    let runs = call("bash", &json!({ "command": "touch ../begun; exec sleep 86.4913" }));
    let stage = Stage::new(&json!([runs, { "say": "Done." }]));
    stage.configure("[[policy.rules]]\ntool = \"bash\"\ndecision = \"allow\"\n");
    let one = stage.project("one", &[("notes.txt", "x\n")]);
    let log = stage.path("home/data/neco.db-wal");
    let left = || (locked(&stage), processes("86.4913"), log.exists());
    // Settings alone.
    let workspace = stage.workspaces.at(&one, &[]).await.unwrap();
    stage.workspaces.close().await.unwrap();
    assert_eq!((Arc::strong_count(&workspace), left()), (2, (0, 0, false)));
    // The store.
    drop(stage.workspaces.store().await.unwrap());
    stage.workspaces.close().await.unwrap();
    assert_eq!(left(), (0, 0, false));
    // Agents, before and while they work.
    for works in [false, true] {
        let open = stage.open_with(&one, "", false, &["sandbox.level=full".to_owned()]).await;
        let id = open.session.id();
        if works {
            let content = "go".to_owned();
            open.session.send(Command::UserMessage { content, attachments: Vec::new() }).await.unwrap();
            while !stage.path("begun").exists() {
                tokio::time::sleep(Duration::from_millis(20)).await;
            }
        }
        open.close().await;
        stage.workspaces.close().await.unwrap();
        assert_eq!(left(), (0, 0, false));
        let (store, aside) = stage.workspaces.store().await.unwrap();
        assert!(aside.is_none(), "nothing of the log is half written");
        let events = store.read(id, 0, 1000).await.unwrap();
        let seqs: Vec<Seq> = events.iter().map(|event| event.seq).collect();
        assert_eq!(seqs, (1..=seqs.len() as Seq).collect::<Vec<_>>());
    }
    stage.workspaces.close().await.unwrap();
}
