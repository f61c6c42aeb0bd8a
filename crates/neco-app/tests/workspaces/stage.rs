//! A process with folders, and sessions that are open in them.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use futures::StreamExt;
use neco_app::opening::{Opened, Opening};
use neco_app::services::Services;
use neco_app::workspace::plugged::Scope;
use neco_app::workspace::{Workspace, Workspaces, keys};
use neco_config::Env;
use neco_model::route::Kept;
use neco_proto::app::opening::OpenSession;
use neco_proto::event::{CallStatus, ToolCallEnd};
use neco_proto::{Answer, Client, Command, Decision, Event, EventBody, Query, Seq};
use neco_session::Session;
use serde_json::{Value, json};
use tempfile::TempDir;

/// A home with a scripted model, and folders beside it.
pub struct Stage {
    pub folder: TempDir,
    pub workspaces: Arc<Workspaces>,
    /// Whether a person sits in front of its sessions.
    pub is_attended: bool,
}

/// An open session, and how far it was looked at.
pub struct Open {
    pub services: Services,
    pub session: Session,
    pub workspace: Arc<Workspace>,
    pub seen: Seq,
}

impl Stage {
    pub fn new(turns: &Value) -> Self {
        Self::playing(&json!({ "turns": turns }))
    }

    pub fn playing(script: &Value) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        fs::create_dir(at("home")).unwrap();
        fs::write(at("script.json"), script.to_string()).unwrap();
        let home = at("home");
        let path = std::env::var("PATH").unwrap();
        let env = Env::for_test([("PATH", path.as_str()), ("NECO_HOME", home.to_str().unwrap())], &home);
        let stage = Self { workspaces: Arc::new(Workspaces::new(env)), folder, is_attended: false };
        stage.configure("");
        stage
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// The person's own settings.
    pub fn configure(&self, more: &str) {
        self.configure_with("", more);
    }

    /// The same, with settings that belong to no section.
    pub fn configure_with(&self, top: &str, more: &str) {
        let script = self.path("script.json");
        let config = format!(
            "{top}model = \"play/a\"\n[model_providers.play]\ntype = \"scripted\"\nscript = \"{}\"\n{more}",
            script.display()
        );
        fs::write(self.path("home/config.toml"), config).unwrap();
    }

    /// A key that somebody sets elsewhere.
    pub fn set_key(&self, provider: &str, key: &str) {
        let kept = Kept { keys: vec![key.to_owned().into()], login: None };
        keys::file(self.workspaces.env()).change(|keys| keys.insert(provider.to_owned(), kept)).unwrap();
    }

    /// A folder with these files.
    pub fn project(&self, name: &str, files: &[(&str, &str)]) -> PathBuf {
        for (file, text) in files {
            let path = self.path(name).join(file);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        }
        self.path(name).canonicalize().unwrap()
    }

    pub async fn open(&self, folder: &Path, token: &str, trusted: bool) -> Open {
        self.open_with(folder, token, trusted, &[]).await
    }

    pub async fn open_with(&self, folder: &Path, token: &str, trusted: bool, overrides: &[String]) -> Open {
        let workspace = self.workspaces.at(folder, overrides).await.unwrap();
        if trusted {
            let mut plugged = workspace.plugged();
            plugged.decide(Scope::All, true).unwrap();
            workspace.switch(plugged).unwrap();
        }
        let path = std::env::var("PATH").unwrap();
        let environment = [("PATH", path.as_str()), ("SERVICE_TOKEN", token)];
        let environment = environment.map(|(name, value)| (name.into(), value.into())).to_vec();
        let overrides = overrides.to_vec();
        let folder = folder.display().to_string();
        let wanted = OpenSession { folder, attended: self.is_attended, ..OpenSession::default() };
        let opening = Opening { wanted, environment, overrides, ..Opening::default() };
        let Opened { services, session, .. } = opening.open(&self.workspaces, &()).await.unwrap();
        Open { services, session, workspace, seen: 0 }
    }
}

impl Open {
    /// Says something, and gives all that happens until the agent is done.
    pub async fn ask(&mut self, words: &str) -> Vec<Event> {
        self.ask_of(words, 1).await
    }

    /// The same until so many agents are done. Whatever a person is asked they allow always.
    pub async fn ask_of(&mut self, words: &str, mut agents: usize) -> Vec<Event> {
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
    pub async fn prompt(&self) -> String {
        let Ok(Answer::Prompt(report)) = self.session.ask(Query::Prompt).await else { panic!("no prompt") };
        report.system.iter().map(|layer| layer.text.clone()).collect::<Vec<_>>().join("\n")
    }

    pub async fn close(self) {
        self.session.close().await;
        self.services.leave().await.unwrap();
    }
}

pub fn ends(events: &[Event]) -> Vec<&ToolCallEnd> {
    let ends = events.iter().filter_map(|event| match &event.body {
        EventBody::ToolCallEnd(end) => Some(end),
        _ => None,
    });
    ends.collect()
}

/// How the one call came out.
pub fn status(events: &[Event]) -> CallStatus {
    let ends = ends(events);
    assert_eq!(ends.len(), 1);
    ends[0].status
}

pub fn warnings(events: &[Event]) -> Vec<&str> {
    said(events, "An edit of the settings is not used")
}

/// What the person is told with these words in it.
pub fn said<'a>(events: &'a [Event], words: &str) -> Vec<&'a str> {
    let told = events.iter().filter_map(|event| match &event.body {
        EventBody::Notification(told) => Some(told.text.as_str()),
        _ => None,
    });
    told.filter(|text| text.contains(words)).collect()
}

pub fn call(name: &str, arguments: &Value) -> Value {
    json!({ "calls": [{ "name": name, "arguments": arguments }] })
}
