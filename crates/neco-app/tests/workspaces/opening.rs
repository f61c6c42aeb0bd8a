//! Sessions that are opened through the program alone.

use std::path::Path;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use futures::future::BoxFuture;
use futures::{FutureExt, StreamExt, TryStreamExt};
use neco_app::app::ROUTES;
use neco_app::opening::Opener;
use neco_app::other_processes::Served;
use neco_app::shared::SharedApp;
use neco_proto::app::doctor::{Examine, Finding};
use neco_proto::app::models::{ModelTest, TestModels};
use neco_proto::app::opening::{OpenSession, OpenedSession, WhichSession};
use neco_proto::app::rules::GivenRules;
use neco_proto::app::sessions::{ListSessions, SearchSessions};
use neco_proto::app::{App, Call, Caller, Scope, Trouble};
use neco_proto::{ApprovalMode, Client, Command, EventBody, SessionId};
use serde_json::json;

use super::stage::Stage;

fn program(stage: &Stage, folder: &Path) -> Arc<SharedApp> {
    Arc::new(SharedApp::new(Arc::clone(&stage.workspaces), Vec::new(), folder, Arc::new(())))
}

fn new(folder: &Path) -> OpenSession {
    OpenSession { folder: folder.display().to_string(), interactive: true, ..OpenSession::default() }
}

fn named(opened: &OpenedSession, folder: &Path) -> OpenSession {
    OpenSession { which: WhichSession::Id(opened.id.to_string()), ..new(folder) }
}

/// Says something, and waits until the agent is done.
async fn say(opened: &OpenedSession, words: &str) {
    let message = Command::UserMessage { content: words.to_owned(), attachments: Vec::new() };
    let since = opened.client.send(message).await.unwrap().seq;
    let mut events = opened.client.events(since);
    while !matches!(events.next().await.unwrap().unwrap().body, EventBody::AgentComplete(_)) {}
}

#[tokio::test(flavor = "multi_thread")]
async fn one_program_opens_sessions_in_two_folders_and_nothing_else_is_needed() {
    let stage = Stage::new(&json!([{ "say": "One." }, { "say": "Two." }]));
    let [one, two] = ["one", "two"].map(|name| stage.project(name, &[("x", "")]));
    let shared = program(&stage, &one);
    let (app, person): (Arc<dyn App>, _) = (Arc::clone(&shared) as _, Caller::person());
    let first = app.open(&person, new(&one)).await.unwrap();
    let second = app.open(&person, new(&two)).await.unwrap();
    assert_eq!((Path::new(&first.folder), Path::new(&second.folder)), (one.as_path(), two.as_path()));
    assert_eq!((first.owner, first.since, first.id == second.id), (None, 0, false));
    say(&first, "hello").await;

    let again = app.open(&person, named(&first, &two)).await.unwrap();
    assert!(Arc::ptr_eq(&again.client, &first.client), "whoever has it open shares it");
    assert_eq!(again.owner, Some(std::process::id()));
    assert_eq!(app.close(again.client).await.unwrap(), None, "it goes on for the other one");
    say(&first, "and again").await;
    assert_eq!(app.close(Arc::clone(&first.client)).await.unwrap(), Some(first.id));
    assert_eq!(app.close(second.client).await.unwrap(), None, "nothing was said in it");
    let page = app.ask(&person, &ListSessions::default()).await.unwrap();
    assert_eq!(page.sessions.iter().map(|row| row.id).collect::<Vec<_>>(), [first.id], "so nothing stays of it");

    let on = app.open(&person, named(&first, &two)).await.unwrap();
    assert_eq!((on.id, Path::new(&on.folder), on.owner), (first.id, one.as_path(), None));
    assert!(on.since > 0 && !Arc::ptr_eq(&on.client, &first.client));
    let left = shared.close_all().await;
    assert_eq!(left, [Ok(Some(first.id))]);
    shared.stop().await.unwrap();
}

/// Windows of other processes that take long to leave.
#[derive(Default)]
struct SlowWindows {
    leave: tokio::sync::Notify,
    may_end: tokio::sync::Notify,
    told: Mutex<Vec<String>>,
}

struct SlowOpener(Arc<SlowWindows>);

impl Opener for SlowOpener {
    fn tell(&self, words: &str) {
        self.0.told.lock().unwrap().push(words.to_owned());
    }

    fn serve(&self, _: SessionId, _: Arc<dyn Client>, _: Arc<dyn App>) -> Option<Arc<dyn Served>> {
        Some(Arc::clone(&self.0) as _)
    }
}

impl Served for SlowWindows {
    fn hold(&self) -> BoxFuture<'_, bool> {
        std::future::ready(false).boxed()
    }

    fn release(&self) -> BoxFuture<'_, ()> {
        std::future::ready(()).boxed()
    }

    fn is_watched(&self) -> bool {
        false
    }

    fn leave(&self) {
        self.leave.notify_one();
    }

    fn end(&self) -> BoxFuture<'_, ()> {
        self.may_end.notified().boxed()
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn whoever_opens_what_this_process_just_ends_waits_for_that() {
    let stage = Stage::new(&json!([{ "say": "One." }]));
    let one = stage.project("one", &[("x", "")]);
    let windows = Arc::new(SlowWindows::default());
    let opener = Arc::new(SlowOpener(Arc::clone(&windows)));
    let app = SharedApp::new(Arc::clone(&stage.workspaces), Vec::new(), &one, opener);
    let person = Caller::person();
    let first = app.open(&person, new(&one)).await.unwrap();
    say(&first, "hello").await;
    let wanted = named(&first, &one);
    let again = async {
        windows.leave.notified().await;
        app.open(&person, wanted).await
    };
    let leaves = async {
        tokio::time::sleep(Duration::from_millis(1500)).await;
        windows.may_end.notify_one();
    };
    let (closed, opened, ()) = futures::join!(app.close(Arc::clone(&first.client)), again, leaves);
    let opened = opened.unwrap();
    assert_eq!((closed.unwrap(), opened.id, opened.owner), (Some(first.id), first.id, None));
    assert_eq!(*windows.told.lock().unwrap(), [""; 0], "nobody is told to wait for this process");
    windows.may_end.notify_one();
    app.close(opened.client).await.unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn what_can_not_be_opened_is_told_by_a_type() {
    let stage = Stage::new(&json!([{ "say": "One." }]));
    let one = stage.project("one", &[("x", "")]);
    let (app, person): (Arc<dyn App>, _) = (program(&stage, &one), Caller::person());
    let looks = Caller { scope: Scope::Read, ..Caller::person() };
    let works = Caller { scope: Scope::Work, ..Caller::person() };
    let allows = GivenRules { allow: vec!["bash".to_owned()], ..GivenRules::default() };
    let opens = GivenRules { add_dir: vec!["/".to_owned()], ..GivenRules::default() };
    let strict = OpenSession { approval: Some(ApprovalMode::Manual), ..new(&one) };
    app.close(app.open(&works, strict).await.unwrap().client).await.unwrap();
    let unknown = OpenSession { which: WhichSession::Id("0199".to_owned()), ..new(&one) };
    for (caller, wanted, trouble) in [
        (&looks, new(&one), Trouble::NotAllowed),
        (&works, OpenSession { approval: Some(ApprovalMode::Auto), ..new(&one) }, Trouble::NotAllowed),
        (&works, OpenSession { given: allows, ..new(&one) }, Trouble::NotAllowed),
        (&works, OpenSession { given: opens, ..new(&one) }, Trouble::NotAllowed),
        (&person, new(Path::new("one")), Trouble::Invalid),
        (&person, unknown, Trouble::NotFound),
        (&person, OpenSession { which: WhichSession::Latest, ..new(&one) }, Trouble::NotFound),
    ] {
        let told = format!("{wanted:?}");
        assert_eq!(app.open(caller, wanted).await.err().map(|error| error.trouble), Some(trouble), "{told}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_found_out_bit_by_bit_is_told_so() {
    let stage = Stage::new(&json!([{ "say": "the needle" }]));
    let one = stage.project("one", &[("x", "")]);
    let folder = one.display().to_string();
    let (app, person): (Arc<dyn App>, _) = (program(&stage, &one), Caller::person());
    let opened = app.open(&person, new(&one)).await.unwrap();
    say(&opened, "where is the needle?").await;

    let examine = Examine { folder: folder.clone() };
    let findings: Vec<Finding> = app.watch(&person, &examine).try_collect().await.unwrap();
    let subjects = |findings: &[Finding]| findings.iter().map(|found| found.subject.clone()).collect::<Vec<_>>();
    assert_eq!(subjects(&findings), subjects(&app.ask(&person, &examine).await.unwrap().findings));

    let tests = TestModels { folder, name: None };
    let tests: Vec<ModelTest> = app.watch(&person, &tests).try_collect().await.unwrap();
    let [ModelTest::Begins { name, .. }, ModelTest::Asked { name: asked }, ModelTest::Tested(tested)] = &tests[..]
    else {
        panic!("{tests:?}")
    };
    assert_eq!((name, asked), (&"play/a".to_owned(), &tested.name));

    let rows: Vec<_> = app.watch(&person, &ListSessions::default()).try_collect().await.unwrap();
    assert_eq!(rows.len(), 1);
    let needle = SearchSessions { words: "needle".to_owned(), ..SearchSessions::default() };
    let places: Vec<_> = app.watch(&person, &needle).try_collect().await.unwrap();
    assert_eq!(places, app.ask(&person, &needle).await.unwrap().places);
    assert!(places.len() >= 2, "{places:?}");
    app.close(opened.client).await.unwrap();
}

/// A process that opens sessions again that it put away.
struct Again(std::path::PathBuf);

impl Opener for Again {
    fn keeps_openings(&self) -> Option<std::path::PathBuf> {
        Some(self.0.clone())
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_session_that_a_server_opens_again_works_as_it_was_opened() {
    let stage = Stage::new(&json!([{ "say": "One." }, { "say": "Two." }]));
    stage.configure_with("approval = \"auto\"\n", "");
    let (one, kept) = (stage.project("one", &[("x", "")]), stage.path("openings"));
    let program = || {
        let opener = Arc::new(Again(kept.clone()));
        Arc::new(SharedApp::new(Arc::clone(&stage.workspaces), vec!["agent.max_turns=7".to_owned()], &one, opener))
    };
    let shared = program();
    let (app, person): (Arc<dyn App>, _) = (Arc::clone(&shared) as _, Caller::person());
    let works = Caller { scope: Scope::Work, ..Caller::person() };
    let deny =
        GivenRules { deny: vec!["bash".to_owned()], allow: vec!["edit_file".to_owned()], ..GivenRules::default() };
    let wanted = OpenSession {
        approval: Some(ApprovalMode::AcceptEdits),
        given: deny.clone(),
        tools: vec!["read_file".to_owned()],
        max_cost: Some(1.0),
        settings: vec!["agent.max_seconds=60.0".to_owned()],
        ..new(&one)
    };
    let first = app.open(&person, wanted).await.unwrap();
    let file = kept.join(format!("{}.json", first.id));
    let mode = std::os::unix::fs::PermissionsExt::mode(&std::fs::metadata(&file).unwrap().permissions());
    assert_eq!(mode & 0o777, 0o600);
    say(&first, "hello").await;
    first.client.send(Command::SetApproval { approval: ApprovalMode::Manual }).await.unwrap();
    app.close(Arc::clone(&first.client)).await.unwrap();

    // Another process, as after a crash; whoever may less has it opened again as it was.
    let shared = program();
    let app: Arc<dyn App> = Arc::clone(&shared) as _;
    let again = app.open(&works, OpenSession { folder: String::new(), ..named(&first, &one) }).await.unwrap();
    let handed = shared.hand_over(again.id, std::future::ready(())).await.unwrap();
    assert_eq!(handed.approval, Some(ApprovalMode::Manual), "as it was at last, and not as the settings say");
    assert_eq!((&handed.given, handed.tools.as_slice()), (&deny, ["read_file".to_owned()].as_slice()));
    assert_eq!(handed.max_cost, Some(1.0));
    assert_eq!(handed.settings, ["agent.max_turns=7", "agent.max_seconds=60.0"], "those of the process came once");

    let looser = OpenSession { approval: Some(ApprovalMode::Auto), ..named(&first, &one) };
    let said = app.open(&person, looser).await.unwrap();
    let handed = shared.hand_over(said.id, std::future::ready(())).await.unwrap();
    assert_eq!(
        (handed.approval, handed.given),
        (Some(ApprovalMode::Auto), GivenRules::default()),
        "who says how counts"
    );
    std::fs::write(&file, "{").unwrap();
    assert!(app.open(&person, named(&first, &one)).await.is_err(), "what it may not do is not known");

    let empty = app.open(&person, new(&one)).await.unwrap();
    assert!(kept.join(format!("{}.json", empty.id)).exists());
    app.close(empty.client).await.unwrap();
    assert!(!kept.join(format!("{}.json", empty.id)).exists(), "nothing is kept of what is gone");
}

#[tokio::test(flavor = "multi_thread")]
async fn whoever_may_only_read_sees_nothing_of_the_home_where_no_folder_is_named() {
    const MARK: &str = "drive-on-the-left-73317";
    let stage = Stage::new(&json!([{ "say": "One." }]));
    let one = stage.project("one", &[("x", "")]);
    let home = stage.path("home");
    for (file, text) in [
        (".claude/CLAUDE.md", format!("# Rules\n{MARK}\n")),
        (".claude/settings.json", json!({ "env": { "ROAD": MARK } }).to_string()),
        (".codex/config.toml", format!("model = \"{MARK}\"\n")),
        (".codex/AGENTS.md", MARK.to_owned()),
        ("notes.txt", MARK.to_owned()),
    ] {
        std::fs::create_dir_all(home.join(file).parent().unwrap()).unwrap();
        std::fs::write(home.join(file), text).unwrap();
    }
    let (app, person): (Arc<dyn App>, _) = (program(&stage, &one), Caller::person());
    let reader = Caller { scope: Scope::Read, ..Caller::person() };
    let asked = |route: &'static str, caller: &Caller| {
        let (app, caller) = (Arc::clone(&app), caller.clone());
        let arguments = json!({ "agent": "claude-code", "name": "drive", "folder": "" });
        async move { app.call(&caller, Call { name: route.to_owned(), arguments }).await }
    };
    let shown = asked("setups.preview", &person).await.unwrap().to_string();
    assert!(shown.contains("CLAUDE.md"), "the person is shown what there is: {shown}");
    // What the process has around it, too.
    let around: Vec<String> =
        std::fs::read_dir(".").unwrap().flatten().map(|entry| entry.path().display().to_string()).collect();
    assert!(around.iter().any(|name| name.ends_with("Cargo.toml")));
    for route in ROUTES.iter().filter(|route| route.scope == Scope::Read) {
        let told = asked(route.name, &reader).await.map_or_else(|error| error.message, |told| told.to_string());
        for secret in [MARK, "notes.txt", "Cargo.toml"] {
            assert!(!told.contains(secret), "{} tells of {secret}: {told}", route.name);
        }
    }
    for (name, arguments) in [
        ("setups.find", json!({})),
        ("setups.preview", json!({ "agent": "claude-code" })),
        ("models.served", json!({ "base": "http://127.0.0.1:9/v1" })),
    ] {
        let works =
            Caller { scope: if name == "models.served" { Scope::Work } else { Scope::Read }, ..Caller::person() };
        let told = app.call(&works, Call { name: name.to_owned(), arguments }).await;
        assert_eq!(told.err().map(|error| error.trouble), Some(Trouble::NotAllowed), "{name}");
    }
}
