//! Plans that are not finished, a file a workspace: a new session in the same folder is told of the one
//! that an earlier session left.

use std::hash::{DefaultHasher, Hash, Hasher};
use std::io;
use std::path::{Path, PathBuf};

use futures::future::BoxFuture;
use jiff::Timestamp;
use neco_agent::{EventSink, SinkError};
use neco_proto::event::PlanUpdate;
use neco_proto::{EventBody, Plan, SessionId, TurnId};
use neco_safety::secrets::{Redactor, Scope};
use serde::{Deserialize, Serialize};
use tokio::io::AsyncWriteExt;

use crate::journal::AgentSink;

/// A plan that was left alone for longer is not spoken of.
const FRESH_MS: i64 = 30 * 24 * 60 * 60 * 1000;

/// A plan that a session left unfinished.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct UnfinishedPlan {
    /// The session that carries it out.
    pub session: SessionId,
    /// Its workspace.
    pub cwd: String,
    /// When it was last changed.
    pub saved_ms: i64,
    /// The plan.
    pub plan: Plan,
    /// What was found out with it.
    #[serde(default)]
    pub findings: Vec<String>,
}

impl UnfinishedPlan {
    /// How much of it is done, in words.
    #[must_use]
    pub fn progress(&self) -> String {
        let done = self.plan.steps.iter().filter(|step| step.done).count();
        match self.plan.steps.len() {
            0 => "its steps can't be told apart".to_owned(),
            all => format!("{done} of {all} steps done"),
        }
    }

    /// What the model of another session is told of it.
    #[must_use]
    pub fn told(&self) -> String {
        let line =
            |step: &neco_proto::PlanStep| format!("[{}] {}. {}", if step.done { "x" } else { " " }, step.id, step.text);
        let steps: Vec<String> = self.plan.steps.iter().map(line).collect();
        let plan = if steps.is_empty() { self.plan.text.trim().to_owned() } else { steps.join("\n") };
        let found: String = self.findings.iter().map(|finding| format!("\n- {finding}")).collect();
        let found = if found.is_empty() { found } else { format!("\nFound out with it:{found}") };
        format!(
            "An earlier session in this workspace left a plan unfinished that the user had accepted ({}):\n{plan}{found}\n\
             When the user wants to go on with it, look how far it really is and make its open steps your list. \
             Otherwise leave it alone and do not bring it up.",
            self.progress()
        )
    }
}

/// Where unfinished plans are.
#[derive(Clone, Debug)]
pub struct PlanFiles {
    folder: PathBuf,
}

impl PlanFiles {
    /// Plans in the data folder.
    #[must_use]
    pub fn new(data_dir: &Path) -> Self {
        Self { folder: data_dir.join("plans") }
    }

    /// The plan that a session left unfinished in `cwd`, if it is not too old. What can't be read is none.
    pub async fn unfinished(&self, cwd: &str) -> Option<UnfinishedPlan> {
        let bytes = tokio::fs::read(self.file(cwd)).await.ok()?;
        let found: UnfinishedPlan = serde_json::from_slice(&bytes).ok()?;
        let age = Timestamp::now().as_millisecond().saturating_sub(found.saved_ms);
        (found.cwd == cwd && found.plan.is_unfinished() && age < FRESH_MS).then_some(found)
    }

    /// Keeps a plan as long as it is unfinished. One that is not takes its own file away, and no other's.
    ///
    /// # Errors
    /// When the file can't be written.
    pub async fn keep(&self, session: SessionId, cwd: &str, update: &PlanUpdate) -> io::Result<()> {
        let Some(plan) = &update.plan else { return Ok(()) };
        if plan.is_unfinished() {
            let saved_ms = Timestamp::now().as_millisecond();
            let (plan, findings) = (plan.clone(), update.findings.clone());
            let kept = UnfinishedPlan { session, cwd: cwd.to_owned(), saved_ms, plan, findings };
            return self.write(&self.file(cwd), &kept).await;
        }
        match self.unfinished(cwd).await {
            Some(found) if found.session == session => tokio::fs::remove_file(self.file(cwd)).await,
            Some(_) | None => Ok(()),
        }
    }

    /// Whole or not at all, and for its owner alone.
    async fn write(&self, file: &Path, kept: &UnfinishedPlan) -> io::Result<()> {
        let mut folder = tokio::fs::DirBuilder::new();
        folder.recursive(true);
        #[cfg(unix)]
        folder.mode(0o700);
        folder.create(&self.folder).await?;
        let beside = file.with_extension(format!("{}.new", kept.session));
        let mut options = tokio::fs::OpenOptions::new();
        options.create(true).truncate(true).write(true);
        #[cfg(unix)]
        options.mode(0o600);
        let mut open = options.open(&beside).await?;
        open.write_all(&serde_json::to_vec(kept)?).await?;
        open.flush().await?;
        drop(open);
        tokio::fs::rename(&beside, file).await
    }

    fn file(&self, cwd: &str) -> PathBuf {
        let mut hasher = DefaultHasher::new();
        cwd.hash(&mut hasher);
        self.folder.join(format!("{:016x}.json", hasher.finish()))
    }
}

/// An agent's end of the journal that keeps the plan of the session besides.
pub struct PlanKeeper {
    /// The journal.
    pub sink: AgentSink,
    /// Where plans are.
    pub files: PlanFiles,
    /// The session.
    pub session: SessionId,
    /// Its workspace.
    pub cwd: String,
    /// Takes secrets out of what is kept.
    pub redactor: Redactor,
}

impl PlanKeeper {
    /// What the log has counts: a file that can't be written is a pity and no more.
    async fn keep(&self, update: Option<PlanUpdate>) {
        let Some(mut update) = update else { return };
        let plan = update
            .plan
            .iter_mut()
            .flat_map(|plan| std::iter::once(&mut plan.text).chain(plan.steps.iter_mut().map(|step| &mut step.text)));
        plan.chain(&mut update.findings).for_each(|text| self.redactor.redact_in(text, Scope::Said));
        if let Err(error) = self.files.keep(self.session, &self.cwd, &update).await {
            tracing::warn!(%error, "the plan could not be kept for other sessions");
        }
    }
}

fn plan_of(body: &EventBody) -> Option<PlanUpdate> {
    match body {
        EventBody::PlanUpdate(update) => Some(update.clone()),
        _ => None,
    }
}

impl EventSink for PlanKeeper {
    fn emit(&self, turn: Option<TurnId>, body: EventBody) -> BoxFuture<'_, Result<(), SinkError>> {
        Box::pin(async move {
            let plan = plan_of(&body);
            self.sink.emit(turn, body).await?;
            self.keep(plan).await;
            Ok(())
        })
    }

    fn commit(&self, turn: Option<TurnId>, body: EventBody) -> BoxFuture<'_, Result<(), SinkError>> {
        Box::pin(async move {
            let plan = plan_of(&body);
            self.sink.commit(turn, body).await?;
            self.keep(plan).await;
            Ok(())
        })
    }
}

#[cfg(test)]
mod tests {
    use neco_proto::{PlanStatus, PlanStep};

    use super::*;

    fn update(status: PlanStatus, done: bool) -> PlanUpdate {
        let step = |id: &str, done| PlanStep { id: id.to_owned(), text: format!("step {id}"), done };
        let plan = Plan { text: "1. a\n2. b".to_owned(), status, steps: vec![step("1", done), step("2", false)] };
        PlanUpdate { plan: Some(plan), findings: vec!["it is so".to_owned()] }
    }

    #[tokio::test]
    async fn a_plan_is_kept_as_long_as_it_is_unfinished_and_for_its_folder() {
        let folder = tempfile::tempdir().unwrap();
        let (files, session) = (PlanFiles::new(folder.path()), SessionId::new());
        assert_eq!(files.unfinished("/a").await, None);
        files.keep(session, "/a", &update(PlanStatus::Accepted, true)).await.unwrap();
        let found = files.unfinished("/a").await.unwrap();
        assert_eq!((found.session, found.progress().as_str()), (session, "1 of 2 steps done"));
        let told = found.told();
        assert!(told.contains("[x] 1. step 1\n[ ] 2. step 2\nFound out with it:\n- it is so"), "{told}");
        assert_eq!(files.unfinished("/b").await, None);
        files.keep(SessionId::new(), "/a", &update(PlanStatus::Dropped, false)).await.unwrap();
        assert!(files.unfinished("/a").await.is_some(), "another session's plan is not this one's to end");
        files.keep(session, "/a", &update(PlanStatus::Finished, true)).await.unwrap();
        assert_eq!(files.unfinished("/a").await, None);
    }
}
