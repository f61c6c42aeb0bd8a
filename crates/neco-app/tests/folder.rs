//! What the program answers from the files of a folder and of the person.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use neco_app::LocalApp;
use neco_app::services::{ServiceSetup, hub, open_store};
use neco_config::{Config, Env};
use neco_proto::app::agents::{CheckAgents, Level, ListAgents, ShowAgent};
use neco_proto::app::memory::{AddMemory, ListMemory, MemoryReach, MemoryWords, RemoveMemory, ShowMemory};
use neco_proto::app::plans::{ClosePlan, ListPlans, ShowPlan};
use neco_proto::app::workflows::{CheckWorkflows, ListWorkflows, ShowWorkflow, ShowWorkflowRun, WorkflowRun};
use neco_proto::app::{App, AppError, Caller, Origin, Page, Request, Trouble};
use neco_proto::event::{MemoryAction, PlanUpdate, TaskState, WorkflowState};
use neco_proto::{Plan, PlanStatus, PlanStep, SessionId, WorkflowId};
use neco_session::plans::PlanFiles;
use neco_session::workflow::RunFiles;
use tempfile::TempDir;

struct House {
    _root: TempDir,
    env: Env,
    project: PathBuf,
    app: LocalApp,
}

impl House {
    async fn new() -> Self {
        let root = tempfile::tempdir().unwrap();
        let (home, project) = (root.path().join("home"), root.path().join("project"));
        fs::create_dir_all(&project).unwrap();
        let env = Env::for_test([], home);
        let store = open_store(env.data_dir()).await.unwrap();
        let hub = hub(&store, ServiceSetup::bare(&env, &Config::built_in())).unwrap();
        let app = LocalApp::new(Arc::clone(&store), hub, env.clone(), Vec::new());
        Self { _root: root, env, project: project.canonicalize().unwrap(), app }
    }

    fn folder(&self) -> String {
        self.project.display().to_string()
    }

    async fn ask<R: Request>(&self, request: &R) -> Result<R::Answer, AppError> {
        let app: &dyn App = &self.app;
        app.ask(&Caller::person(), request).await
    }
}

fn put(path: &Path, text: &str) {
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, text).unwrap();
}

const CHAIN: &str = "
name: chain
description: One after the other
inputs: { word: { description: what is said, default: first } }
tasks:
  - { id: one, command: 'echo {{ inputs.word | quote }}' }
  - { id: two, needs: [one], agent: explore, prompt: look }
";

#[tokio::test]
async fn workflows_are_listed_with_their_origin_and_what_makes_them_unusable() {
    let house = House::new().await;
    put(&house.project.join(".neco/workflows/chain.yaml"), CHAIN);
    put(&house.env.config_dir().join("workflows/broken.toml"), "name = 3");
    let list = house.ask(&ListWorkflows { folder: house.folder(), ..ListWorkflows::default() }).await.unwrap();
    let named = |name: &str| list.workflows.iter().find(|one| one.name == name).unwrap();
    assert_eq!(named("delivery").source, Origin::BuiltIn);
    assert_eq!((named("delivery").file.clone(), named("delivery").error.clone()), (None, None));
    let chain = named("chain");
    assert_eq!(
        (chain.source, chain.tasks, chain.description.as_deref()),
        (Origin::Folder, Some(2), Some("One after the other"))
    );
    let broken = named("broken");
    assert_eq!((broken.source, broken.tasks, broken.description.clone()), (Origin::Person, None, None));
    assert!(broken.error.is_some() && broken.file.as_ref().unwrap().ends_with("broken.toml"));

    // Runs are those of the folder, or all of them.
    let run = WorkflowRun {
        workflow_id: WorkflowId::new(),
        name: "chain".to_owned(),
        session: SessionId::new(),
        cwd: house.folder(),
        state: WorkflowState::Partly,
        began_ms: 1_000,
        changed_ms: 2_000,
    };
    let elsewhere = WorkflowRun { workflow_id: WorkflowId::new(), cwd: "/elsewhere".to_owned(), ..run.clone() };
    for run in [&run, &elsewhere] {
        RunFiles::new(house.env.data_dir()).keep(run).await.unwrap();
    }
    let here = house.ask(&ListWorkflows { folder: house.folder(), ..ListWorkflows::default() }).await.unwrap().runs;
    let all =
        house.ask(&ListWorkflows { folder: house.folder(), all: true, ..ListWorkflows::default() }).await.unwrap().runs;
    assert_eq!((here, all.len()), (vec![run.clone()], 2));
    let page = |cursor| ListWorkflows { all: true, page: Page { limit: Some(1), cursor }, ..ListWorkflows::default() };
    let first = house.ask(&page(None)).await.unwrap();
    let second = house.ask(&page(first.next.clone())).await.unwrap();
    assert_eq!(([first.runs, second.runs].concat(), second.next), (all, None));
    assert!(first.next.is_some());
    let shown = house.ask(&ShowWorkflowRun { run: run.workflow_id.to_string() }).await.unwrap();
    assert_eq!((shown.run, shown.graph), (run, None), "its session is gone");
    let missing = house.ask(&ShowWorkflowRun { run: "ffff".to_owned() }).await.unwrap_err();
    assert_eq!(missing.trouble, Trouble::NotFound);
}

#[tokio::test]
async fn a_workflow_is_shown_as_it_would_begin_and_checked_before_anything_runs() {
    let house = House::new().await;
    put(&house.project.join(".neco/workflows/chain.yaml"), CHAIN);
    put(&house.project.join("bad.yaml"), &CHAIN.replace("[one]", "[none]").replace("explore", "nobody"));
    let show = |name: &str| ShowWorkflow { folder: house.folder(), name: name.to_owned() };
    let shown = house.ask(&show("chain")).await.unwrap();
    assert_eq!(shown.inputs["word"].default, Some("first".into()));
    let tasks: Vec<_> = shown.tasks.iter().map(|task| (task.id.as_str(), task.state)).collect();
    assert_eq!(tasks, [("one", TaskState::Pending), ("two", TaskState::Pending)]);
    assert_eq!(shown.definition["tasks"][1]["agent"], "explore");
    assert_eq!(house.ask(&show("nothing")).await.unwrap_err().trouble, Trouble::NotFound);
    assert_eq!(house.ask(&show("nothing.yaml")).await.unwrap_err().trouble, Trouble::Invalid);

    let files = ["chain", "bad.yaml", "nothing"].map(str::to_owned).to_vec();
    let checked = house.ask(&CheckWorkflows { folder: house.folder(), files }).await.unwrap().workflows;
    let facts: Vec<_> = checked.iter().map(|one| (one.file.as_str(), one.valid, one.tasks, one.errors.len())).collect();
    assert_eq!(facts, [("chain", true, Some(2), 0), ("bad.yaml", false, None, 2), ("nothing", false, None, 1)]);
}

#[tokio::test]
async fn agents_are_listed_shown_and_checked() {
    let house = House::new().await;
    put(
        &house.env.config_dir().join("agents/db.md"),
        "---\nname: db\ndescription: Knows the database\nmodel: inherit\ntools: Read\ntimeout: 90\n---\nYou know it.\n",
    );
    put(&house.project.join(".neco/agents/bad.md"), "---\nname: bad\ndescription: x\ntool: Read\n---\nYou do.\n");
    let list = house.ask(&ListAgents { folder: house.folder() }).await.unwrap();
    assert!(list.agents.iter().any(|one| one.name == "explore" && one.origin == Origin::BuiltIn));
    assert_eq!(list.problems.len(), 1, "{:?}", list.problems);
    assert_eq!((list.problems[0].line, list.problems[0].file.as_str()), (4, ".neco/agents/bad.md"));

    let show = |name: &str| ShowAgent { folder: house.folder(), name: name.to_owned() };
    let db = house.ask(&show("db")).await.unwrap();
    assert_eq!((db.definition.origin, db.definition.model.clone()), (Origin::Person, None));
    assert_eq!((db.definition.timeout, db.prompt.trim()), (Some(90.0), "You know it."));
    let explore = house.ask(&show("explore")).await.unwrap();
    assert!(explore.definition.model.is_some() && explore.definition.file.is_none());
    assert_eq!(house.ask(&show("nobody")).await.unwrap_err().trouble, Trouble::NotFound);

    let check =
        |files: &[&str]| CheckAgents { folder: house.folder(), files: files.iter().map(ToString::to_string).collect() };
    assert_eq!(house.ask(&check(&[])).await.unwrap().problems, list.problems);
    let named = house.ask(&check(&[".neco/agents/bad.md"])).await.unwrap().problems;
    assert_eq!((named[0].level, named[0].line), (Level::Error, 4));
    assert_eq!(house.ask(&check(&["nowhere.md"])).await.unwrap_err().trouble, Trouble::Invalid);
}

#[tokio::test]
async fn tools_of_servers_that_are_not_in_use_are_told_where_they_are_named() {
    let house = House::new().await;
    put(&house.env.config_dir().join("config.toml"), "[mcp_servers.py]\ncommand = 'py'\n");
    let text = "---\nname: x\ndescription: x\ntools:\n  - mcp__py__echo\n  - mcp__nosuch__x\n---\nYou do.\n";
    put(&house.project.join(".neco/agents/x.md"), text);
    for files in [Vec::new(), vec![".neco/agents/x.md".to_owned()]] {
        let problems = house.ask(&CheckAgents { folder: house.folder(), files }).await.unwrap().problems;
        let [problem] = problems.as_slice() else { panic!("{problems:?}") };
        assert_eq!((problem.level, problem.line, &*problem.file), (Level::Warning, 6, ".neco/agents/x.md"));
        assert!(problem.what.contains("no MCP server nosuch is in use here"), "{}", problem.what);
    }
}

#[tokio::test]
async fn what_is_remembered_is_found_shown_replaced_and_removed() {
    let house = House::new().await;
    let add = |title: &str, reach| AddMemory {
        folder: house.folder(),
        title: title.to_owned(),
        content: format!("{title}, as was said"),
        reach,
        ..AddMemory::default()
    };
    let tabs = house.ask(&add("Use tabs", MemoryReach::Global)).await.unwrap();
    assert_eq!((tabs.action, tabs.redacted, tabs.resembles), (Some(MemoryAction::Stored), false, None));
    let redis = house.ask(&add("Tests need redis", MemoryReach::Directory)).await.unwrap();
    house.ask(&add("The linker is slow here", MemoryReach::Private)).await.unwrap();
    let list = |words: Option<&str>, only| ListMemory {
        folder: house.folder(),
        words: words.map(|text| MemoryWords { text: text.to_owned(), limit: 5 }),
        only,
        ..ListMemory::default()
    };
    let all = house.ask(&list(None, None)).await.unwrap().entries;
    let kinds: Vec<_> =
        all.iter().map(|entry| (entry.title.as_str(), entry.category.to_string(), entry.scope.to_string())).collect();
    assert_eq!(kinds.len(), 3);
    assert!(kinds.contains(&("Use tabs", "preference".to_owned(), "global".to_owned())), "{kinds:?}");
    assert!(kinds.contains(&("Tests need redis", "directory".to_owned(), "directory".to_owned())), "{kinds:?}");
    let private = house.ask(&list(None, Some(MemoryReach::Private))).await.unwrap().entries;
    assert_eq!(private[0].directory, Some(house.folder()));
    for words in [None, Some("redis here slow")] {
        let whole = house.ask(&list(words, None)).await.unwrap().entries;
        let (mut paged, mut cursor) = (Vec::new(), None);
        loop {
            let page = Page { limit: Some(1), cursor };
            let found = house.ask(&ListMemory { page, ..list(words, None) }).await.unwrap();
            paged.extend(found.entries);
            cursor = found.next;
            if cursor.is_none() {
                break;
            }
        }
        assert!(whole.len() > 1 && paged == whole, "{words:?}");
    }
    let hits = house.ask(&list(Some("redis"), None)).await.unwrap().entries;
    assert_eq!(hits.iter().map(|entry| &entry.id).collect::<Vec<_>>(), [&redis.note.id]);

    let show = |id: &str| ShowMemory { folder: house.folder(), id: id.to_owned() };
    let shown = house.ask(&show(&redis.note.id)).await.unwrap();
    assert_eq!((shown.content.as_str(), shown.unreadable), ("Tests need redis, as was said", None));
    assert_eq!(shown.entry.path, redis.note.path);
    let other = AddMemory {
        replaces: Some(tabs.note.id.clone()),
        content: "Spaces".to_owned(),
        ..add("Use tabs", MemoryReach::Global)
    };
    assert_eq!(house.ask(&other).await.unwrap().action, Some(MemoryAction::Updated));
    assert_eq!(house.ask(&show(&tabs.note.id)).await.unwrap().content, "Spaces");

    let remove =
        |ids: &[&str]| RemoveMemory { folder: house.folder(), ids: ids.iter().map(ToString::to_string).collect() };
    let half = house.ask(&remove(&[&tabs.note.id, "nothing"])).await.unwrap_err();
    assert_eq!(half.trouble, Trouble::NotFound, "half of what was asked is not done");
    let removed = house.ask(&remove(&[&tabs.note.id, &redis.note.id, &tabs.note.id])).await.unwrap();
    assert_eq!(removed.paths, [tabs.note.path, redis.note.path]);
    assert_eq!(house.ask(&list(None, None)).await.unwrap().entries.len(), 1);
    let empty = AddMemory { folder: house.folder(), ..AddMemory::default() };
    assert_eq!(house.ask(&empty).await.unwrap_err().trouble, Trouble::Invalid);
}

#[tokio::test]
async fn plans_are_listed_by_folder_and_closed() {
    let house = House::new().await;
    let step = PlanStep { id: "1".to_owned(), text: "look".to_owned(), done: false };
    let plan = Plan { text: "1. look".to_owned(), status: PlanStatus::Accepted, steps: vec![step], unseen: false };
    let update = PlanUpdate { plan: Some(plan.clone()), findings: vec!["it is so".to_owned()], by: None };
    let (here, elsewhere) = (SessionId::new(), SessionId::new());
    let files = PlanFiles::new(house.env.data_dir());
    files.keep(here, &house.folder(), &update).await.unwrap();
    files.keep(elsewhere, "/elsewhere", &update).await.unwrap();
    let listed = house.ask(&ListPlans { folder: Some(house.folder()), ..ListPlans::default() }).await.unwrap().plans;
    assert_eq!((listed.len(), listed[0].session, &listed[0].plan), (1, here, &plan));
    let all = house.ask(&ListPlans::default()).await.unwrap();
    assert_eq!((all.plans.len(), all.next), (2, None));
    let page = |cursor| ListPlans { page: Page { limit: Some(1), cursor }, ..ListPlans::default() };
    let first = house.ask(&page(None)).await.unwrap();
    assert_eq!(house.ask(&page(Some("nowhere".to_owned()))).await.unwrap_err().trouble, Trouble::Invalid);
    let second = house.ask(&page(first.next)).await.unwrap();
    assert_eq!(([first.plans, second.plans].concat(), second.next), (all.plans, None));
    let shown = house.ask(&ShowPlan { session: here.to_string() }).await.unwrap();
    assert_eq!(shown.findings, ["it is so"]);
    assert_eq!(house.ask(&ShowPlan::default()).await.unwrap_err().trouble, Trouble::NotFound);
    let closed = house.ask(&ClosePlan { session: here.to_string() }).await.unwrap();
    assert_eq!(closed.session, here);
    assert!(
        house.ask(&ListPlans { folder: Some(house.folder()), ..ListPlans::default() }).await.unwrap().plans.is_empty()
    );
}
