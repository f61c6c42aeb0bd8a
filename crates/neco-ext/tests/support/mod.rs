//! A folder with hooks in it, and the gate they stand at.

#![allow(dead_code, missing_docs, clippy::unwrap_used, clippy::disallowed_methods, reason = "tests")]

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use neco_agent::gate::{Gate, GatedCall, HookContext, HookDecision, HookPoint};
use neco_ext::hooks::{Hook, Hooks, HooksSetup, Matcher, Origin};
use neco_proto::event::HookEvent;
use neco_proto::{ApprovalMode, CallId, Mode, SessionId, ToolOrigin, TurnId};
use neco_sandbox::Spawner;
use serde_json::{Value, json};
use tempfile::TempDir;
use tokio_util::sync::CancellationToken;

pub struct Place {
    pub folder: TempDir,
    pub hooks: Vec<Hook>,
    /// Where is worked; the folder itself unless something is said.
    pub cwd: Option<PathBuf>,
}

impl Place {
    pub fn new() -> Self {
        Self { folder: tempfile::tempdir().unwrap(), hooks: Vec::new(), cwd: None }
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    pub fn with(mut self, event: HookEvent, matcher: &str, command: &str) -> Self {
        self.hooks.push(self.hook(event, matcher, command));
        self
    }

    pub fn within(mut self, limit: Duration) -> Self {
        self.hooks.last_mut().unwrap().timeout = Some(limit);
        self
    }

    pub fn hook(&self, event: HookEvent, matcher: &str, command: &str) -> Hook {
        Hook {
            event,
            matcher: Matcher::new(matcher).unwrap(),
            command: command.to_owned(),
            timeout: None,
            origin: Origin::User { file: "settings.json".into() },
            trusted_as: None,
        }
    }

    pub fn gate(&self) -> Hooks {
        let mut environment: Vec<_> =
            std::env::vars_os().filter(|(name, _)| name == "PATH" || name == "HOME").collect();
        environment.push(("OPENAI_API_KEY".into(), "sk-hidden".into()));
        Hooks::new(HooksSetup {
            hooks: self.hooks.clone(),
            processes: Arc::new(Spawner::new(environment, &["*_API_KEY".to_owned()])),
            shell: "bash".to_owned(),
            session: SessionId::new(),
            cwd: self.cwd.clone().unwrap_or_else(|| self.folder.path().to_owned()),
        })
    }

    pub async fn ask(&self, moment: HookPoint) -> HookDecision {
        self.gate().ask(moment, scene(), CancellationToken::new()).await
    }
}

pub fn scene() -> HookContext {
    HookContext {
        mode: Mode::Agent,
        approval: ApprovalMode::AskFirst,
        person_present: true,
        model: "stage/actor".to_owned(),
        turn: Some(TurnId::new()),
        agent: None,
    }
}

pub fn call(tool: &str, arguments: Value) -> GatedCall {
    GatedCall { id: CallId::generate(), tool: tool.to_owned(), origin: ToolOrigin::BuiltIn, arguments }
}

pub fn bash() -> HookPoint {
    HookPoint::BeforeCall(call("bash", json!({"command": "ls"})))
}

/// Processes whose command line holds `word`.
pub fn alive(word: &str) -> Vec<String> {
    let entries = std::fs::read_dir("/proc").unwrap().filter_map(Result::ok);
    let lines = entries.filter_map(|entry| std::fs::read(entry.path().join("cmdline")).ok());
    let lines = lines.map(|line| String::from_utf8_lossy(&line).replace('\0', " "));
    lines.filter(|line| line.contains(word)).collect()
}

pub fn exists(path: &Path) -> bool {
    path.exists()
}
