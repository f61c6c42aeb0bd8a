//! A call or a task under way: what it does, what it asks, and what comes of it.

use std::collections::VecDeque;
use std::sync::Arc;

use futures::StreamExt;
use futures::future::BoxFuture;
use neco_proto::app::AppError;
use neco_proto::app::tools::CalledTool;
use neco_proto::clean::clean_line;
use neco_proto::event::{AgentComplete, CallStatus, CompleteReason};
use neco_proto::{AgentId, CallId, Client, ClientError, Command, Event, EventBody, EventStream, Receipt, SessionId};
use neco_view::reduce::IdleTracker;
use neco_view::reduce::work::joined;
use rmcp::model::{CallToolResult, ContentBlock};
use serde_json::json;
use tokio::sync::OwnedSemaphorePermit;

use super::ask::{Answered, Asked, AskedId};
use super::call_sessions::TakenSession;
use super::server::Says;

/// Characters of what is told of its progress.
const LONGEST_PROGRESS: usize = 200;

/// A call or a task under way.
pub(super) struct Work {
    client: Arc<dyn Client>,
    /// How a client's commands reach the session.
    says: Arc<dyn Says>,
    events: EventStream,
    /// What waits for a person and was not brought to one yet.
    waiting: VecDeque<Asked>,
    /// What came of it.
    ended: Option<CallToolResult>,
    kind: Kind,
    /// How often it said what it does.
    pub told: u64,
    /// One of those that may be under way.
    _permit: OwnedSemaphorePermit,
}

/// What it is.
pub(super) enum Kind {
    /// One call of a tool.
    Call {
        /// What events call it.
        id: CallId,
        /// Ready with what came of it; dropping it stops it.
        done: BoxFuture<'static, Result<CalledTool, AppError>>,
        /// The session that it is made in.
        session: TakenSession,
    },
    /// An agent in a session of its own.
    Task(Box<Task>),
}

/// An agent at work.
pub(super) struct Task {
    session: SessionId,
    idle: IdleTracker,
    complete: Option<AgentComplete>,
    /// What went wrong last.
    error: Option<String>,
}

impl Task {
    /// The work of a session whose root is this agent.
    pub fn new(session: SessionId, root: AgentId) -> Self {
        Self { session, idle: IdleTracker::of(root), complete: None, error: None }
    }
}

/// What a work does next.
pub(super) enum Step {
    /// It says what it does.
    Does(String),
    /// It waits for a person.
    Asks(Asked),
    /// It is over.
    Ended(CallToolResult),
}

impl Work {
    /// A work whose events come after those that are known.
    pub fn new(
        client: Arc<dyn Client>,
        says: Arc<dyn Says>,
        events: EventStream,
        kind: Kind,
        permit: OwnedSemaphorePermit,
    ) -> Self {
        Self { client, says, events, waiting: VecDeque::new(), ended: None, kind, told: 0, _permit: permit }
    }

    /// What it does next.
    pub async fn next(&mut self) -> Step {
        loop {
            if let Some(result) = self.ended.take() {
                return Step::Ended(result);
            }
            if let Some(asked) = self.waiting.pop_front() {
                return Step::Asks(asked);
            }
            let event = match &mut self.kind {
                Kind::Call { done, .. } => tokio::select! {
                    called = &mut *done => return Step::Ended(of_call(called)),
                    event = self.events.next() => match event {
                        Some(Ok(event)) => event,
                        Some(Err(_)) | None => return Step::Ended(of_call((&mut *done).await)),
                    },
                },
                Kind::Task(_) => match self.events.next().await.unwrap_or(Err(ClientError::Gone)) {
                    Ok(event) => event,
                    Err(error) => return Step::Ended(failed(format!("the session is gone: {error}"))),
                },
            };
            if let Some(words) = self.take(event) {
                return Step::Does(words);
            }
        }
    }

    /// Ready when a question is answered elsewhere, or void.
    pub async fn settled(&mut self, asked: &AskedId) {
        while let Some(Ok(event)) = self.events.next().await {
            let is_settled = match (&event.body, asked) {
                (EventBody::PermissionDecision(decided), AskedId::Call(id)) => decided.call_id == *id,
                (EventBody::ToolCallEnd(end), AskedId::Call(id)) => end.call_id == *id,
                (EventBody::QuestionAnswer(answer), AskedId::Question(id)) => answer.question_id == *id,
                _ => false,
            };
            self.take(event);
            if is_settled || self.ended.is_some() {
                return;
            }
        }
    }

    /// Tells the session what a person said. What was answered meanwhile is answered.
    pub async fn decide(&mut self, asked: &Asked, answered: &Answered) {
        let Err(error) = self.say(asked.command(answered)).await else { return };
        tracing::debug!(%error, "an answer was refused, or came too late");
        // Nobody else may be there to say no, and the call would wait for ever.
        if let Err(error) = self.say(asked.refused(&error.words())).await {
            tracing::debug!(%error, "an answer came too late");
        }
    }

    async fn say(&mut self, command: Command) -> Result<Receipt, AppError> {
        let session = self.session();
        self.says.say(session, self.client.as_ref(), command).await
    }

    fn session(&self) -> SessionId {
        match &self.kind {
            Kind::Call { session, .. } => session.id,
            Kind::Task(task) => task.session,
        }
    }

    /// The session that is to be closed after it, where it has one of its own.
    pub fn into_own_session(self) -> Option<(SessionId, Arc<dyn Client>)> {
        match self.kind {
            Kind::Task(task) => Some((task.session, self.client)),
            Kind::Call { .. } => None,
        }
    }

    fn is_mine(&self, call: &CallId) -> bool {
        match &self.kind {
            Kind::Call { id, .. } => id == call,
            Kind::Task(_) => true,
        }
    }

    /// Takes in an event; what it does now, where the event says that.
    fn take(&mut self, event: Event) -> Option<String> {
        if let Kind::Task(task) = &mut self.kind {
            task.take(&event);
            if task.idle.is_over() && task.complete.is_some() {
                self.ended = Some(of_task(task));
            }
        }
        match event.body {
            EventBody::PermissionRequest(request) if self.is_mine(&request.call_id) => {
                self.waiting.push_back(Asked::Call(Box::new(request)));
                None
            }
            EventBody::Question(question) if question.call_id.as_ref().is_none_or(|call| self.is_mine(call)) => {
                self.waiting.push_back(Asked::Question(question));
                None
            }
            EventBody::ToolCallUpdate(update) if self.is_mine(&update.call_id) => {
                (update.status == CallStatus::Executing).then(|| in_short(&update.summary))
            }
            EventBody::ToolOutputChunk(chunk) if self.is_mine(&chunk.call_id) => {
                let is_call = matches!(self.kind, Kind::Call { .. });
                chunk.text.lines().rfind(|line| is_call && !line.trim().is_empty()).map(in_short)
            }
            // Nothing else says what it does.
            _ => None,
        }
    }
}

impl Task {
    fn take(&mut self, event: &Event) {
        self.idle.apply(event);
        match &event.body {
            EventBody::AgentComplete(complete) if self.idle.is_root(event) => {
                self.complete = Some(joined(self.complete.take(), complete));
            }
            EventBody::Error(error) => self.error = Some(error.message.clone()),
            // Nothing else decides what comes of it.
            _ => {}
        }
    }
}

fn in_short(words: &str) -> String {
    clean_line(words).chars().take(LONGEST_PROGRESS).collect()
}

/// What a client is told of what went wrong; whoever asked reads it.
pub(super) fn failed(words: impl Into<String>) -> CallToolResult {
    CallToolResult::error(vec![ContentBlock::text(words)])
}

fn of_call(called: Result<CalledTool, AppError>) -> CallToolResult {
    match called {
        Ok(CalledTool { ok, output, pictures, .. }) => {
            let pictures = pictures.into_iter().map(|picture| ContentBlock::image(picture.data, picture.media_type));
            let content = std::iter::once(ContentBlock::text(output)).chain(pictures).collect();
            if ok { CallToolResult::success(content) } else { CallToolResult::error(content) }
        }
        Err(error) => failed(error.words()),
    }
}

/// The agent's last words, the session, and why it is over.
fn of_task(task: &Task) -> CallToolResult {
    let Some(complete) = &task.complete else { return failed("the agent did not begin") };
    let mut words: Vec<String> =
        Some(complete.final_text.clone()).filter(|text| !text.is_empty()).into_iter().collect();
    let is_done = complete.reason == CompleteReason::Natural;
    if !is_done {
        words.push(format!("The task is not done: {}", complete.reason));
        words.extend(task.error.clone());
    }
    let content = vec![ContentBlock::text(words.join("\n"))];
    let mut result = if is_done { CallToolResult::success(content) } else { CallToolResult::error(content) };
    result.structured_content = Some(json!({
        "session_id": task.session,
        "reason": complete.reason,
        "turns": complete.turns,
        "answer": complete.final_text,
    }));
    result
}
