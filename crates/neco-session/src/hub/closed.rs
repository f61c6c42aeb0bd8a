//! Sessions that nobody has open: going back in them, forking, naming and removing them, their plans, agents and
//! workflows.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use jiff::Timestamp;
use neco_proto::app::plans::UnfinishedPlan;
use neco_proto::app::sessions::SessionState;
use neco_proto::app::workflows::WorkflowRun;
use neco_proto::event::{
    AgentNode, NodeState, Notification, NotificationLevel, PlanUpdate, TitleSource, WorkflowGraph, WorkflowState,
};
use neco_proto::{Actor, AgentId, EventBody, Plan, PlanStatus, RewindPreview, Seq, SessionId};
use neco_safety::secrets::Scope;
use neco_store::{Lease, Prune, Pruned, SessionRecord, StoreError};
use neco_workspace::checkpoint::{Agreed, CheckpointError, Checkpoints, forget_sessions, stores_in};

use super::find::{Found, is_unfinished};
use super::hub::Hub;
use crate::error::{SessionError, short};
use crate::exchanges::keep_closed;
use crate::fold::Fold;
use crate::folder::identity;
use crate::journal::Journal;
use crate::plans::PlanFiles;
use crate::rewind::{Going, RewindHistory, RewindPlan, Went, go_back, preview, preview_from};
use crate::title::{tidy, title_event};
use crate::workflow::{Board, RunFiles, cancelled};

/// How long the end of a session waits for its checkpoints to be on the disk for good.
const SETTLING: Duration = Duration::from_secs(1);

impl Hub {
    /// What the log of a session says about going back.
    pub async fn course(&self, session: SessionId) -> Result<RewindHistory, SessionError> {
        Ok(RewindHistory::read(self.setup.log.as_ref(), session).await?)
    }

    /// What a way back in a session, of which this is the [`RewindHistory`], would do. Nothing is made for that.
    pub async fn preview(
        &self,
        found: &Found,
        course: &RewindHistory,
        way: &RewindPlan,
    ) -> Result<RewindPreview, SessionError> {
        let record = &found.record;
        let checkpoints = self.checkpoints(Path::new(&record.cwd)).await;
        Ok(match course.files_at(Seq::MAX).filter(|_| found.is_removed()) {
            Some(left) => preview_from(way, left, checkpoints).await?,
            None => preview(way, record.id, checkpoints).await?,
        })
    }

    /// Goes a way back, on behalf of `by`, that was found in the session's [`RewindHistory`]; `agreed` says what of others' work may be
    /// overwritten by it. Whoever stops waiting for it stops nothing: the files and the log come to the same end, and
    /// nobody else writes the session before.
    /// Fails when the session is open elsewhere or has gone on since, or the files or the log can't be written.
    pub async fn go_back(
        &self,
        found: Found,
        course: &RewindHistory,
        (by, way): (&Actor, &RewindPlan),
        agreed: Agreed,
    ) -> Result<Went, SessionError> {
        let (hub, path, last_seq) = (self.clone(), found.record.cwd.clone(), course.last_seq);
        let whole_way = (by.clone(), way.clone());
        let going = tokio::spawn(async move { hub.go_whole_way(found, last_seq, whole_way, agreed).await });
        going.await.unwrap_or_else(|error| Err(SessionError::Workspace { path, reason: error.to_string() }))
    }

    async fn go_whole_way(
        &self,
        found: Found,
        last_seq: Seq,
        (by, way): (Actor, RewindPlan),
        agreed: Agreed,
    ) -> Result<Went, SessionError> {
        let session = found.record.id;
        let Writing { root: agent, journal, fold, lease: _lease } = self.writing(session).await?;
        if fold.standing.last_seq != last_seq {
            return Err(SessionError::GoneOn(session));
        }
        let record = self.settle(found).await?;
        let checkpoints = self.checkpoints(Path::new(&record.cwd)).await;
        let went = go_back(Going { way: &way, by, session, agent, journal: &journal, checkpoints, agreed }).await;
        if went.is_ok() {
            keep_closed(self, &record).await;
        }
        self.settle_checkpoints(Path::new(&record.cwd)).await;
        Ok(went?)
    }

    /// Has the states of a workspace on the disk for good, as far as that takes a moment only. What is left
    /// is done by whoever keeps the next one.
    pub async fn settle_checkpoints(&self, cwd: &Path) {
        let Some(checkpoints) = self.checkpoints(cwd).await else { return };
        let settle = move || if checkpoints.is_settled() { Ok(()) } else { checkpoints.settle_at_once() };
        match tokio::time::timeout(SETTLING, tokio::task::spawn_blocking(settle)).await {
            Ok(Ok(Err(error))) => tracing::warn!(%error, "checkpoints are not on the disk for good yet"),
            Ok(Err(error)) => tracing::warn!(%error, "checkpoints are not on the disk for good yet"),
            Ok(Ok(Ok(()))) | Err(_) => {}
        }
    }

    /// Makes a session that begins with the events of another one up to `at` and then goes its own way.
    /// Nothing is copied.
    pub async fn fork(
        &self,
        parent: &SessionRecord,
        at: Seq,
        title: Option<&str>,
    ) -> Result<SessionRecord, SessionError> {
        let now = Timestamp::now().as_millisecond();
        // A title that comes from what was said is none for a fork in which nothing was.
        let own = match title {
            Some(title) => (self.title_of(title), Some(TitleSource::Person)),
            None if parent.title_by == Some(TitleSource::Person) || self.course(parent.id).await?.is_said(at) => {
                (parent.title.clone(), parent.title_by)
            }
            None => (String::new(), None),
        };
        let record = SessionRecord {
            folder: parent.folder.clone().or_else(|| identity(Path::new(&parent.cwd))),
            title: own.0,
            title_by: own.1,
            events: at,
            parent: Some((parent.id, at)),
            ..SessionRecord::new(SessionId::new(), parent.cwd.clone(), now)
        };
        self.setup.catalog.fork(record.clone(), parent.id, at).await?;
        Ok(record)
    }

    /// Gives a session a title that no model replaces.
    /// Fails when it is open elsewhere, or the store fails.
    pub async fn rename(&self, record: &SessionRecord, title: &str) -> Result<String, SessionError> {
        let Writing { root, journal, fold, lease: _lease } = self.writing(record.id).await?;
        let title = self.title_of(title);
        if title.is_empty() {
            return Err(SessionError::EmptyTitle);
        }
        if fold.standing.root_agent.is_some() {
            journal.commit(root, None, title_event(&title, TitleSource::Person)).await?;
        }
        self.setup.catalog.set_title(record.id, &title, TitleSource::Person).await?;
        Ok(title)
    }

    /// Removes sessions for good; what their forks have of them stays. All of them go, or none: when one is
    /// open elsewhere nothing is removed.
    /// Fails when one is open elsewhere, or the store or the repositories of checkpoints fail.
    pub async fn remove(&self, records: &[SessionRecord]) -> Result<(), SessionError> {
        let (_leases, open) = self.lease_all(records).await?;
        if let Some(error) = open.into_values().next() {
            return Err(error.into());
        }
        self.forget_exchanges(records.iter().map(|record| record.id).collect()).await?;
        let mut gone = Vec::new();
        let mut removed = Ok(());
        for record in records {
            removed = self.setup.catalog.remove(record.id).await;
            if removed.is_err() {
                break;
            }
            gone.push(record.clone());
        }
        self.forget_beside(&gone).await;
        Ok(removed?)
    }

    /// Removes old sessions, or says which ones would go. Those that are open stay, and none is opened meanwhile.
    pub async fn prune(&self, prune: Prune) -> Result<Pruned, SessionError> {
        let dry = Prune { dry_run: true, ..prune.clone() };
        let wanted = self.setup.catalog.prune(dry).await?.sessions;
        let (_leases, open) = self.lease_all(&wanted).await?;
        let mut spare = prune.spare.clone();
        spare.extend(open.keys());
        let dry_run = prune.dry_run;
        let only = Some(wanted.iter().map(|record| record.id).collect());
        if !dry_run {
            let going = wanted.iter().map(|record| record.id).filter(|id| !spare.contains(id));
            self.forget_exchanges(going.collect()).await?;
        }
        let pruned = self.setup.catalog.prune(Prune { spare, only, ..prune }).await?;
        if !dry_run {
            self.forget_beside(&pruned.sessions).await;
        }
        Ok(pruned)
    }

    /// Removes what was said in sessions from the repositories of checkpoints. It goes before the log, which can write it
    /// again; without the log nobody would find it any more.
    async fn forget_exchanges(&self, sessions: Vec<SessionId>) -> Result<(), SessionError> {
        let stores = stores_in(&self.setup.data_dir);
        match tokio::task::spawn_blocking(move || forget_sessions(&stores, &sessions)).await {
            Ok(forgotten) => forgotten.map_err(SessionError::Exchanges),
            Err(error) => Err(SessionError::Exchanges(CheckpointError::Damaged(error.to_string()))),
        }
    }

    /// Keeps sessions from being opened, and says which ones are open. On a full disk no right to write can be had, but
    /// then nobody else can have it either.
    async fn lease_all(
        &self,
        records: &[SessionRecord],
    ) -> Result<(Vec<Lease>, HashMap<SessionId, StoreError>), SessionError> {
        let (mut leases, mut open) = (Vec::new(), HashMap::new());
        for id in records.iter().map(|record| record.id) {
            match self.setup.log.lease(id).await {
                Ok(lease) => leases.push(lease),
                Err(error @ StoreError::InUse { .. }) => drop(open.insert(id, error)),
                Err(StoreError::Write(_)) if !self.setup.log.is_leased(id).await => {}
                Err(error) => return Err(error.into()),
            }
        }
        Ok((leases, open))
    }

    /// The states of the files of a workspace; `None` where none are kept. Opening them may take a moment,
    /// so it is done aside.
    pub async fn checkpoints(&self, cwd: &Path) -> Option<Arc<dyn Checkpoints>> {
        let (open, cwd) = (Arc::clone(&self.deps().checkpoints), cwd.to_owned());
        tokio::task::spawn_blocking(move || open(&cwd)).await.ok().flatten()
    }

    fn title_of(&self, title: &str) -> String {
        tidy(&self.deps().redactor.redact(title, Scope::Said))
    }

    /// What lies beside the store of sessions that were removed. What can't be removed is in nobody's way.
    async fn forget_beside(&self, removed: &[SessionRecord]) {
        let plans = PlanFiles::new(&self.setup.data_dir);
        for record in removed {
            if let Err(error) = plans.forget(record.id).await {
                tracing::warn!(%error, session = %record.id, "the plan of a removed session is left");
            }
        }
        let gone: Vec<SessionId> = removed.iter().map(|record| record.id).collect();
        RunFiles::new(&self.setup.data_dir).forget(&gone).await;
        if let Err(error) = self.remove_outputs().await {
            tracing::warn!(%error, "outputs of removed sessions are left");
        }
    }

    /// Removes big outputs that no log names any more. A session is in the store before it has any, so what is
    /// seen first and then not found there is nobody's.
    async fn remove_outputs(&self) -> Result<(), SessionError> {
        let folder = self.setup.data_dir.join("sessions");
        let of =
            |entry: std::fs::DirEntry| Some((entry.file_name().to_str()?.parse::<SessionId>().ok()?, entry.path()));
        let seen: Vec<(SessionId, PathBuf)> =
            std::fs::read_dir(&folder).into_iter().flatten().flatten().filter_map(of).collect();
        let kept = self.setup.catalog.kept().await?;
        for (_, folder) in seen.into_iter().filter(|(session, _)| !kept.contains(session)) {
            if let Err(error) = tokio::fs::remove_dir_all(&folder).await
                && error.kind() != std::io::ErrorKind::NotFound
            {
                tracing::warn!(%error, folder = %folder.display(), "outputs of a removed session are left");
            }
        }
        Ok(())
    }

    /// All agents that a session ever had, the root first. Of a session that nobody has open nobody works:
    /// whoever did is paused, as it will be when the session is opened.
    pub async fn agents_of(&self, session: SessionId) -> Result<Vec<AgentNode>, SessionError> {
        let mut nodes = self.fold(session).await?.tree.all();
        if !self.setup.log.is_leased(session).await {
            let worked = |node: &&mut AgentNode| matches!(node.state, NodeState::Created | NodeState::Running);
            nodes.iter_mut().skip(1).filter(worked).for_each(|node| node.state = NodeState::Paused);
        }
        Ok(nodes)
    }

    /// That the last session of the folder was stopped in the middle of its work, if it was: it is offered
    /// once, as afterwards the new session is the last one. What can't be read is not spoken of.
    pub(super) async fn stopped_before(&self, record: &SessionRecord) -> Option<EventBody> {
        let last = self.setup.catalog.list(Some(&record.cwd), 2).await.ok()?;
        let last = last.into_iter().find(|other| other.id != record.id)?;
        if !is_unfinished(self.setup.log.as_ref(), &last).await? {
            return None;
        }
        // One that is at work in another process was not stopped.
        if self.setup.log.is_leased(last.id).await {
            return None;
        }
        let short = short(last.id);
        let text =
            format!("Session {short} was interrupted here. Resume it with  /resume {short}  or  neco resume {short}");
        Some(EventBody::Notification(Notification::new(NotificationLevel::Info, text)))
    }

    /// That going back was cut short in the folder, if it was: nobody should work on the half of it unknowingly.
    pub(super) async fn cut_short(&self, record: &SessionRecord) -> Option<EventBody> {
        let checkpoints = self.checkpoints(Path::new(&record.cwd)).await?;
        let looked = tokio::task::spawn_blocking(move || {
            let notice = checkpoints.cut_short();
            notice.inspect(|_| checkpoints.told())
        });
        let text = looked.await.ok()??;
        Some(EventBody::Notification(Notification::new(NotificationLevel::Warning, text)))
    }

    /// How sessions stand, in their order: those that a process has open, and those that were stopped at work.
    pub async fn stages(&self, records: &[SessionRecord]) -> Vec<SessionState> {
        let mut stages = Vec::with_capacity(records.len());
        for record in records {
            stages.push(if self.setup.log.is_leased(record.id).await {
                SessionState::Open
            } else if is_unfinished(self.setup.log.as_ref(), record).await == Some(true) {
                SessionState::Stopped
            } else {
                SessionState::AtRest
            });
        }
        stages
    }

    /// The plans that are unfinished, in all folders or in one, however old, the newest first.
    pub async fn unfinished_plans(&self, cwd: Option<&str>) -> Vec<UnfinishedPlan> {
        PlanFiles::new(&self.setup.data_dir).plans(cwd).await
    }

    /// Closes the plan of a session on behalf of `by`: nothing comes of what is left of it. A session that is gone leaves only
    /// what was kept of its plan.
    /// Fails when the session is in use, or its log or the file can't be written.
    pub async fn close_plan(&self, by: Actor, session: SessionId) -> Result<(), SessionError> {
        let files = PlanFiles::new(&self.setup.data_dir);
        if !self.setup.catalog.find(&session.to_string(), 1).await?.is_empty() {
            let Writing { root, journal, fold, lease: _lease } = self.writing(session).await?;
            let (plan, findings) = (fold.standing.plan, fold.standing.findings);
            if let Some(plan) = plan.filter(Plan::is_unfinished) {
                let plan = Some(Plan { status: PlanStatus::Dropped, ..plan });
                let update = PlanUpdate { plan, findings, by: Some(by) };
                journal.commit(root, None, EventBody::PlanUpdate(update)).await?;
            }
        }
        files.forget(session).await.map_err(|error| SessionError::Workspace {
            path: self.setup.data_dir.join("plans").display().to_string(),
            reason: error.to_string(),
        })
    }

    /// The runs of workflows, in all folders or in one, the newest first. One that nobody runs any more is
    /// interrupted.
    pub async fn workflow_runs(&self, cwd: Option<&str>) -> Vec<WorkflowRun> {
        let mut runs = RunFiles::new(&self.setup.data_dir).list(cwd).await;
        for run in runs.iter_mut().filter(|run| run.state == WorkflowState::Running) {
            if !self.setup.log.is_leased(run.session).await {
                run.state = WorkflowState::Interrupted;
            }
        }
        runs
    }

    /// How a run stands according to the log of its session.
    pub async fn workflow(&self, run: &WorkflowRun) -> Result<Option<WorkflowGraph>, SessionError> {
        let board = Board::read(self.setup.log.as_ref(), run.session).await?;
        let runs = run.state == WorkflowState::Running;
        Ok(board.graphs(|_| runs).into_iter().find(|graph| graph.workflow_id == run.workflow_id))
    }

    /// Stops a run for good that nobody runs.
    /// Fails when its session is in use, or it is over.
    pub async fn cancel_workflow(&self, by: Actor, run: &WorkflowRun) -> Result<(), SessionError> {
        let Writing { root, journal, fold, lease: _lease } = self.writing(run.session).await?;
        let board = Board::read(self.setup.log.as_ref(), run.session).await?;
        let gone = || SessionError::Workflow(format!("session {} has no such workflow", run.session));
        let recorded = board.find(run.workflow_id).ok_or_else(gone)?;
        let update = cancelled(recorded, by).map_err(|error| SessionError::Workflow(error.to_string()))?;
        let left = fold.tree.without_workflow(root, run.workflow_id);
        // What an earlier process left of it waits to be resumed, and never will be.
        let mut events = left;
        events.push((root, EventBody::WorkflowUpdate(update)));
        journal.commit_all(events).await?;
        let note = run.now(WorkflowState::Cancelled);
        if let Err(error) = RunFiles::new(&self.setup.data_dir).keep(&note).await {
            tracing::warn!(%error, "a workflow is not listed");
        }
        Ok(())
    }

    /// The right to write a session that nobody has open, and what its log adds up to.
    async fn writing(&self, session: SessionId) -> Result<Writing, SessionError> {
        let lease = Arc::new(self.setup.log.lease(session).await?);
        let fold = self.fold_to_write(session).await?;
        let root = fold.standing.root_agent.unwrap_or_else(AgentId::new);
        let journal = Arc::new(self.journal(&lease, fold.standing.clone()));
        Ok(Writing { root, journal, fold, lease })
    }
}

/// A session that nobody else writes as long as this is there.
struct Writing {
    root: AgentId,
    journal: Arc<Journal>,
    fold: Fold,
    lease: Arc<Lease>,
}
