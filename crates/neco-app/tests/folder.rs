//! What the program answers from the files of a folder and of the person.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use neco_app::LocalApp;
use neco_app::services::{ServiceSetup, hub, open_store};
use neco_config::{Config, Env};
use neco_proto::app::workflows::{CheckWorkflows, ListWorkflows, ShowWorkflow, ShowWorkflowRun, WorkflowRun};
use neco_proto::app::{App, AppError, Caller, Origin, Request, Trouble};
use neco_proto::event::{TaskState, WorkflowState};
use neco_proto::{SessionId, WorkflowId};
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
    let list = house.ask(&ListWorkflows { folder: house.folder(), all: false }).await.unwrap();
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
    let here = house.ask(&ListWorkflows { folder: house.folder(), all: false }).await.unwrap().runs;
    let all = house.ask(&ListWorkflows { folder: house.folder(), all: true }).await.unwrap().runs;
    assert_eq!((here, all.len()), (vec![run.clone()], 2));
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
