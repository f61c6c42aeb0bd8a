//! Answers to what windows ask. They are made aside: a long log must not keep a cancel waiting.

use std::sync::Arc;
use std::time::Duration;

use jiff::Timestamp;
use neco_agent::AgentHandle;
use neco_proto::{
    AgentId, Answer, BackgroundCommand, BackgroundEnd, ClientError, GrantedRule, Query, SessionRules, SessionSnapshot,
};
use neco_safety::secrets::{Redactor, Scope};
use neco_toolkit::InBackground;

use super::run::not_taken;
use super::shown::Shown;
use crate::fold::fold_log;
use crate::hub::SessionContext;
use crate::rewind::{RewindHistory, RewindPlan, preview};

/// Lines of what a command in the background printed that a window gets.
const SHOWN_LINES: usize = 200;

/// What answers are made from.
pub(super) struct Answers {
    pub ctx: SessionContext,
    pub handle: AgentHandle,
    pub shown: Shown,
}

/// What runs, or ran, by this name in the background of an agent.
///
/// # Errors
/// When there is none.
pub(super) async fn background_of(
    ctx: &SessionContext,
    agent: AgentId,
    name: &str,
) -> Result<Arc<dyn InBackground>, ClientError> {
    let found = ctx.supervisor.in_background().await;
    let wanted = found.into_iter().find(|(by, one)| *by == agent && one.name() == name);
    wanted.map(|(_, one)| one).ok_or_else(|| ClientError::Refused(format!("no command {name} runs in the background")))
}

/// A command in the background as windows list it, without secrets.
fn told_of(agent_id: AgentId, one: &dyn InBackground, redactor: &Redactor) -> BackgroundCommand {
    let milliseconds = |time: Duration| u64::try_from(time.as_millis()).unwrap_or(u64::MAX);
    let now = Timestamp::now();
    BackgroundCommand {
        agent_id,
        name: one.name().to_owned(),
        command: redactor.redact(one.command(), Scope::Outside).into_owned(),
        started: now.checked_sub(one.age()).unwrap_or(now),
        ended: one.ended().map(|(exit_code, took)| BackgroundEnd { exit_code, took_ms: milliseconds(took) }),
    }
}

impl Answers {
    pub async fn answer(&self, query: Query) -> Result<Answer, ClientError> {
        match query {
            Query::Snapshot => Ok(Answer::Snapshot(self.snapshot().await)),
            Query::Context => Ok(Answer::Context(self.handle.report().await.map_err(not_taken)?)),
            Query::Prompt => Ok(Answer::Prompt(self.handle.prompt().await.map_err(not_taken)?)),
            Query::Messages => {
                let fold = fold_log(self.ctx.log().as_ref(), self.ctx.id()).await?;
                Ok(Answer::Messages { messages: fold.messages })
            }
            Query::Checkpoints => Ok(Answer::Checkpoints { checkpoints: self.course().await?.checkpoint_infos() }),
            Query::RewindPoints => Ok(Answer::RewindPoints { points: self.course().await?.points.clone() }),
            Query::RewindPreview { message_id, what } => {
                let course = self.course().await?;
                self.preview(&course.way(course.point(message_id)?, what)?).await
            }
            Query::CheckpointPreview { rev } => {
                let course = self.course().await?;
                self.preview(&course.way_to_state(course.state(&rev)?)).await
            }
            Query::UndoPreview => self.preview(&self.course().await?.undo()?).await,
            Query::RedoPreview => self.preview(&self.course().await?.redo()?).await,
            Query::BackPreview => self.preview(&self.course().await?.back()?).await,
            Query::ForthPreview => self.preview(&self.course().await?.forth()?).await,
            Query::Tree => Ok(Answer::Tree { nodes: self.ctx.supervisor.nodes().await }),
            Query::Workflows => {
                let workflows = self.ctx.workflows.graphs().await?;
                Ok(Answer::Workflows { workflows })
            }
            Query::Rules => Ok(Answer::Rules(self.rules().await?)),
            Query::Background => {
                let (found, redactor) = (self.ctx.supervisor.in_background().await, self.ctx.hub.redactor());
                let commands = found.iter().map(|(agent, one)| told_of(*agent, one.as_ref(), &redactor)).collect();
                Ok(Answer::Background { commands })
            }
            Query::BackgroundOutput { agent_id, name } => {
                let one = background_of(&self.ctx, agent_id, &name).await?;
                let redactor = self.ctx.hub.redactor();
                let tail = redactor.redact(&one.tail(SHOWN_LINES), Scope::Outside).into_owned();
                Ok(Answer::BackgroundOutput { command: told_of(agent_id, one.as_ref(), &redactor), tail })
            }
        }
    }

    /// What is done without asking because of rules: the root's, and what other agents were allowed. Without secrets.
    async fn rules(&self) -> Result<SessionRules, ClientError> {
        let mut rules = self.handle.rules().await.map_err(not_taken)?;
        for (name, agent) in self.ctx.supervisor.running().await {
            // One that has ended meanwhile does nothing any more.
            let granted = agent.rules().await.unwrap_or_default().granted;
            rules.granted.extend(granted.into_iter().map(|rule| GrantedRule { agent: Some(name.clone()), ..rule }));
        }
        let redactor = self.ctx.hub.redactor();
        for rule in &mut rules.granted {
            rule.allows = redactor.redact(&rule.allows, Scope::Outside).into_owned();
        }
        Ok(rules)
    }

    async fn preview(&self, way: &RewindPlan) -> Result<Answer, ClientError> {
        let checkpoints = self.ctx.hub.checkpoints(self.ctx.cwd()).await;
        let preview = preview(way, self.ctx.id(), checkpoints).await?;
        self.shown.note(way, &preview);
        Ok(Answer::RewindPreview(preview))
    }

    /// The course of the session, which is read again only when something has happened since.
    async fn course(&self) -> Result<Arc<RewindHistory>, ClientError> {
        let mut read = self.shown.course.lock().await;
        let last_seq = self.ctx.journal.standing().last_seq;
        if let Some(course) = read.as_ref().filter(|course| course.last_seq == last_seq) {
            return Ok(Arc::clone(course));
        }
        let course = Arc::new(RewindHistory::read(self.ctx.log().as_ref(), self.ctx.id()).await?);
        *read = Some(Arc::clone(&course));
        Ok(course)
    }

    async fn snapshot(&self) -> SessionSnapshot {
        let standing = self.ctx.journal.standing();
        SessionSnapshot {
            session_id: self.ctx.id(),
            root_agent: self.ctx.root,
            last_seq: standing.last_seq,
            cwd: standing.cwd,
            title: standing.title,
            model: standing.model,
            mode: standing.mode,
            approval: standing.approval,
            state: standing.state,
            usage: standing.usage,
            aside: standing.aside,
            pending: standing.pending,
            questions: standing.questions,
            generation: standing.fitted.unwrap_or(standing.generation),
            todos: standing.todos,
            plan: standing.plan,
            findings: standing.findings,
            shared: standing.shared.iter().cloned().collect(),
            agents: u32::try_from(self.ctx.supervisor.live_count().await).unwrap_or(u32::MAX),
        }
    }
}
