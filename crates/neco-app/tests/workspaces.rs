//! Many folders in one process: neither sees what is the other's, and what is edited is taken up.

#![allow(clippy::unwrap_used, clippy::indexing_slicing, reason = "a test may panic")]

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use futures::StreamExt;
use neco_app::opening::Opening;
use neco_app::services::Services;
use neco_app::workspace::plugged::Scope;
use neco_app::workspace::{Workspace, Workspaces};
use neco_config::Env;
use neco_proto::event::{CallStatus, ToolCallEnd};
use neco_proto::{Answer, Client, Command, Event, EventBody, Query, Seq};
use neco_safety::Trust;
use neco_session::Session;
use neco_store::{Catalog, lock_folder};
use serde_json::{Value, json};
use tempfile::TempDir;

/// A home with a scripted model, and folders beside it.
struct Stage {
    folder: TempDir,
    workspaces: Workspaces,
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
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        fs::create_dir(at("home")).unwrap();
        fs::write(at("script.json"), json!({ "turns": turns }).to_string()).unwrap();
        let home = at("home");
        let path = std::env::var("PATH").unwrap();
        let env = Env::for_test([("PATH", path.as_str()), ("NECO_HOME", home.to_str().unwrap())], &home);
        let stage = Self { workspaces: Workspaces::new(env), folder };
        stage.configure("");
        stage
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// The person's own settings.
    fn configure(&self, more: &str) {
        let script = self.path("script.json");
        let config = format!(
            "model = \"play/a\"\n[model_providers.play]\ntype = \"scripted\"\nscript = \"{}\"\n{more}",
            script.display()
        );
        fs::write(self.path("home/config.toml"), config).unwrap();
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
        let opening = Opening { environment, ..Opening::default() };
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
        let message = Command::UserMessage { content: words.to_owned(), attachments: Vec::new() };
        self.session.send(message).await.unwrap();
        let mut events = self.session.events(self.seen);
        let mut happened = Vec::new();
        while let Some(event) = events.next().await {
            let event = event.unwrap();
            self.seen = event.seq;
            let is_over = matches!(event.body, EventBody::AgentComplete(_));
            happened.push(event);
            if is_over {
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
