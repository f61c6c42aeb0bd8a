//! Plans that are not finished, a file a session: a new session in the same folder is told of those that
//! earlier sessions left.

use std::io;
use std::path::{Path, PathBuf};

use futures::future::BoxFuture;
use jiff::Timestamp;
use neco_agent::{EventSink, SinkError};
use neco_proto::app::plans::UnfinishedPlan;
use neco_proto::event::PlanUpdate;
use neco_proto::{EventBody, SessionId, TurnId};
use neco_safety::secrets::{Redactor, Scope};
use neco_safety::untrusted;
use sha2::{Digest, Sha256};
use tokio::io::AsyncWriteExt;

use crate::journal::AgentSink;
use crate::spill::{create_private, make_private};

/// A plan that was left alone for longer is not spoken of.
const FRESH_MS: i64 = 30 * 24 * 60 * 60 * 1000;
/// Plans that a new session is told of, the newest first.
pub const MOST_TOLD: usize = 3;

/// What the model of another session is told of a plan. What it and its findings say was written by a model, from
/// whatever that had read.
pub(crate) fn told(plan: &UnfinishedPlan) -> String {
    let line =
        |step: &neco_proto::PlanStep| format!("[{}] {}. {}", if step.done { "x" } else { " " }, step.id, step.text);
    let steps: Vec<String> = plan.plan.steps.iter().map(line).collect();
    let text = if steps.is_empty() { plan.plan.text.trim().to_owned() } else { steps.join("\n") };
    let found: String = plan.findings.iter().map(|finding| format!("\n- {finding}")).collect();
    let found = if found.is_empty() { found } else { format!("\nFound out with it:{found}") };
    let whose = if plan.plan.unseen { "that no user had seen" } else { "that the user had accepted" };
    let id = plan.session.to_string();
    format!(
        "An earlier session in this workspace left a plan unfinished {whose} ({}):\n{}\n\
         When the user wants to go on with it, look how far it really is and make its open steps your list. \
         Otherwise leave it alone and do not bring it up.",
        plan.progress(),
        untrusted::wrap(&id, "the plan of an earlier session", &format!("{text}{found}")),
    )
}

/// Where unfinished plans are.
#[derive(Clone, Debug)]
pub struct PlanFiles {
    folder: PathBuf,
}

impl PlanFiles {
    /// Plans in the data folder.
    pub fn new(data_dir: &Path) -> Self {
        Self { folder: data_dir.join("plans") }
    }

    /// The plans that sessions left unfinished in `cwd` and that are not too old, the newest first. What
    /// can't be read is none.
    pub async fn unfinished(&self, cwd: &str) -> Vec<UnfinishedPlan> {
        let mut found = self.plans(Some(cwd)).await;
        let now = Timestamp::now().as_millisecond();
        found.retain(|plan| now.saturating_sub(plan.saved_ms) < FRESH_MS);
        found
    }

    /// All unfinished plans, or those of one folder, however old they are, the newest first.
    pub async fn plans(&self, cwd: Option<&str>) -> Vec<UnfinishedPlan> {
        let mut found = Vec::new();
        let Ok(mut folder) = tokio::fs::read_dir(&self.folder).await else { return found };
        let here = cwd.map(prefix);
        while let Ok(Some(entry)) = folder.next_entry().await {
            let name = entry.file_name().to_string_lossy().into_owned();
            // Files of earlier versions are named after their folder alone, in another way.
            let may_be = name.ends_with(".json")
                && here.as_ref().is_none_or(|here| name.starts_with(here) || !name.contains('-'));
            if !may_be {
                continue;
            }
            let Ok(bytes) = tokio::fs::read(entry.path()).await else { continue };
            let Ok(mut plan) = serde_json::from_slice::<UnfinishedPlan>(&bytes) else { continue };
            if plan.plan.is_unfinished() && cwd.is_none_or(|cwd| plan.cwd == cwd) {
                let told = tokio::fs::read_to_string(self.told_file(&plan)).await;
                plan.told |= told.is_ok_and(|saved_ms| saved_ms == plan.saved_ms.to_string());
                found.push(plan);
            }
        }
        found.sort_by_key(|plan| std::cmp::Reverse(plan.saved_ms));
        // A session whose plan an earlier version kept has it in two files.
        let mut seen = std::collections::HashSet::new();
        found.retain(|plan| seen.insert(plan.session));
        found
    }

    /// Keeps a plan as long as it is unfinished. One that is not takes its own file away, and no other's.
    pub async fn keep(&self, session: SessionId, cwd: &str, update: &PlanUpdate) -> io::Result<()> {
        let Some(plan) = &update.plan else { return Ok(()) };
        if plan.is_unfinished() {
            let saved_ms = Timestamp::now().as_millisecond();
            let (plan, findings) = (plan.clone(), update.findings.clone());
            let kept = UnfinishedPlan { session, cwd: cwd.to_owned(), saved_ms, plan, findings, told: false };
            return self.write(&kept).await;
        }
        self.forget(session).await
    }

    /// A person was told of a plan as it is. The plan's own file is its session's, which may be writing it.
    pub async fn note_told(&self, plan: &UnfinishedPlan) -> io::Result<()> {
        let mut open = create_private(&self.told_file(plan)).await?;
        open.write_all(plan.saved_ms.to_string().as_bytes()).await?;
        open.flush().await
    }

    /// Where it stands when the plan was saved that a person was told of.
    fn told_file(&self, plan: &UnfinishedPlan) -> PathBuf {
        self.folder.join(format!("{}{}.told", prefix(&plan.cwd), plan.session))
    }

    /// Takes away what is kept of a session's plan. No plan is fine too.
    pub async fn forget(&self, session: SessionId) -> io::Result<()> {
        let Ok(mut folder) = tokio::fs::read_dir(&self.folder).await else { return Ok(()) };
        let own = [format!("-{session}.json"), format!("-{session}.told")];
        while let Ok(Some(entry)) = folder.next_entry().await {
            let name = entry.file_name().to_string_lossy().into_owned();
            let is_own = own.iter().any(|own| name.ends_with(own))
                || (!name.contains('-') && is_of(&entry.path(), session).await);
            if is_own {
                tokio::fs::remove_file(entry.path()).await?;
            }
        }
        Ok(())
    }

    /// Whole or not at all, and for its owner alone.
    async fn write(&self, kept: &UnfinishedPlan) -> io::Result<()> {
        make_private(&self.folder).await?;
        let file = self.folder.join(format!("{}{}.json", prefix(&kept.cwd), kept.session));
        let beside = file.with_extension(format!("{}.new", kept.session));
        let mut open = create_private(&beside).await?;
        open.write_all(&serde_json::to_vec(kept)?).await?;
        open.flush().await?;
        drop(open);
        tokio::fs::rename(&beside, file).await
    }
}

/// What the names of a folder's plans begin with.
fn prefix(cwd: &str) -> String {
    let digest = Sha256::digest(cwd.as_bytes());
    let start: String = digest.iter().take(8).map(|byte| format!("{byte:02x}")).collect();
    format!("{start}-")
}

/// Whether a file holds the plan of a session.
async fn is_of(path: &Path, session: SessionId) -> bool {
    let Ok(bytes) = tokio::fs::read(path).await else { return false };
    serde_json::from_slice::<UnfinishedPlan>(&bytes).is_ok_and(|plan| plan.session == session)
}

/// An agent's end of the journal that keeps the plan of the session besides.
pub(crate) struct PlanKeeper {
    pub sink: AgentSink,
    pub files: PlanFiles,
    pub session: SessionId,
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
    use neco_proto::{Plan, PlanStatus, PlanStep};

    use super::*;

    fn update(status: PlanStatus, done: bool) -> PlanUpdate {
        let step = |id: &str, done| PlanStep { id: id.to_owned(), text: format!("step {id}"), done };
        let steps = vec![step("1", done), step("2", false)];
        let plan = Plan { text: "1. a\n2. b".to_owned(), status, steps, unseen: false };
        PlanUpdate { plan: Some(plan), findings: vec!["it is so".to_owned()], by: None }
    }

    #[tokio::test]
    async fn a_plan_is_kept_as_long_as_it_is_unfinished_and_for_its_folder() {
        let folder = tempfile::tempdir().unwrap();
        let (files, session, other) = (PlanFiles::new(folder.path()), SessionId::new(), SessionId::new());
        assert!(files.unfinished("/a").await.is_empty());
        files.keep(session, "/a", &update(PlanStatus::Accepted, true)).await.unwrap();
        let found = files.unfinished("/a").await.remove(0);
        assert_eq!((found.session, found.progress().as_str()), (session, "1 of 2 steps done"));
        let told = told(&found);
        assert!(told.contains("[x] 1. step 1\n[ ] 2. step 2\nFound out with it:\n- it is so\n</untrusted-"), "{told}");
        assert!(told.contains("that the user had accepted"), "{told}");
        assert!(files.unfinished("/b").await.is_empty());
        files.keep(other, "/a", &update(PlanStatus::Accepted, false)).await.unwrap();
        let sessions: Vec<SessionId> = files.unfinished("/a").await.iter().map(|plan| plan.session).collect();
        assert_eq!(sessions.len(), 2, "both plans are open");
        files.keep(other, "/a", &update(PlanStatus::Finished, true)).await.unwrap();
        let left = files.unfinished("/a").await;
        assert_eq!(left.iter().map(|plan| plan.session).collect::<Vec<_>>(), [session], "its own and no other's");
        files.forget(session).await.unwrap();
        assert!(files.unfinished("/a").await.is_empty());
    }

    #[tokio::test]
    async fn that_a_plan_was_told_holds_until_it_is_kept_again_and_leaves_its_file_alone() {
        let folder = tempfile::tempdir().unwrap();
        let (files, session) = (PlanFiles::new(folder.path()), SessionId::new());
        files.keep(session, "/a", &update(PlanStatus::Accepted, false)).await.unwrap();
        let before = files.unfinished("/a").await.remove(0);
        assert!(!before.told);
        files.note_told(&before).await.unwrap();
        assert!(files.unfinished("/a").await.remove(0).told);
        std::thread::sleep(std::time::Duration::from_millis(2));
        files.keep(session, "/a", &update(PlanStatus::Accepted, true)).await.unwrap();
        // Another session read the plan before it went on.
        files.note_told(&before).await.unwrap();
        let now = files.unfinished("/a").await.remove(0);
        assert_eq!((now.told, now.progress().as_str()), (false, "1 of 2 steps done"));
        files.forget(session).await.unwrap();
        assert_eq!(std::fs::read_dir(folder.path().join("plans")).unwrap().count(), 0);
    }

    #[tokio::test]
    async fn a_plan_of_an_earlier_version_is_told_and_forgotten() {
        let folder = tempfile::tempdir().unwrap();
        let (files, session) = (PlanFiles::new(folder.path()), SessionId::new());
        let plan = update(PlanStatus::Accepted, true).plan.unwrap();
        let saved_ms = Timestamp::now().as_millisecond();
        let old = UnfinishedPlan { session, cwd: "/a".to_owned(), saved_ms, plan, findings: Vec::new(), told: false };
        std::fs::create_dir_all(folder.path().join("plans")).unwrap();
        std::fs::write(folder.path().join("plans/0123456789abcdef.json"), serde_json::to_vec(&old).unwrap()).unwrap();
        assert_eq!(files.unfinished("/a").await, [old]);
        files.keep(session, "/a", &update(PlanStatus::Accepted, true)).await.unwrap();
        assert_eq!(files.unfinished("/a").await.len(), 1);
        files.forget(session).await.unwrap();
        assert!(files.plans(None).await.is_empty());
    }

    #[test]
    fn a_plan_that_nobody_saw_is_not_called_accepted() {
        let plan = Plan { unseen: true, ..update(PlanStatus::Accepted, false).plan.unwrap() };
        let (session, cwd) = (SessionId::new(), "/a".to_owned());
        let told = told(&UnfinishedPlan { session, cwd, saved_ms: 0, plan, findings: Vec::new(), told: false });
        assert!(told.contains("that no user had seen") && !told.contains("accepted"), "{told}");
    }
}
