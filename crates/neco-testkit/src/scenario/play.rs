//! The performance: a real session on a real folder, the person's part played from the cues.

use std::collections::VecDeque;
use std::sync::Arc;
use std::time::Duration;

use futures::StreamExt;
use neco_proto::{
    AgentId, Answer, CallId, Client, Command, Event, EventBody, ItemAnswer, MessageId, Query, Question, Reply,
    RevertedFile, SessionId, Subject,
};

use neco_view::reduce::IdleTracker;
use neco_workspace::review::Review;

use super::expect;
use super::parse::{Act, Cue, Saying, Scenario};
use crate::stage::{Stage, StageSetup};

/// Longer than any scenario takes; a scenario that hangs fails instead.
const PATIENCE: Duration = Duration::from_secs(60);

/// Plays a scenario and holds what happened against what it expects.
///
/// # Errors
/// What went differently, in words.
pub async fn play(scenario: &Scenario) -> Result<Vec<Event>, String> {
    play_through(scenario, async |_, client| Ok(client)).await
}

/// The same where the person reaches the session by another door, which is made of the session and its id.
///
/// # Errors
/// What went differently, in words.
pub async fn play_through(
    scenario: &Scenario,
    door: impl AsyncFnOnce(SessionId, Arc<dyn Client>) -> Result<Arc<dyn Client>, String>,
) -> Result<Vec<Event>, String> {
    let stage = Stage::new(StageSetup {
        files: scenario.files.clone(),
        script: super::script::compile(&scenario.script)?,
        setup: scenario.setup.clone(),
    })?;
    let mut events = Vec::new();
    let played = tokio::time::timeout(PATIENCE, perform(&stage, scenario, door, &mut events)).await;
    played.map_err(|_| format!("{:?} hangs\n{}", scenario.title, expect::transcript(&events)))??;
    expect::check(&scenario.events, &events)?;
    for (path, expected) in &scenario.expected_files {
        let found = stage.read(path)?;
        if found != *expected {
            return Err(format!("{path} holds {found:?}, not {expected:?}"));
        }
    }
    Ok(events)
}

async fn perform(
    stage: &Stage,
    scenario: &Scenario,
    door: impl AsyncFnOnce(SessionId, Arc<dyn Client>) -> Result<Arc<dyn Client>, String>,
    events: &mut Vec<Event>,
) -> Result<(), String> {
    let session = stage.open().await?;
    let client = door(session.id(), Arc::new(session.clone())).await?;
    let mut stream = client.events(session.first_seq());
    let mut person = Person {
        stage,
        client: client.as_ref(),
        cues: scenario.cues.iter().cloned().collect(),
        asked: None,
        question: None,
        ended: None,
    };
    let mut rest = IdleTracker::default();
    person.act(None).await?;
    while let Some(event) = stream.next().await {
        let event = event.map_err(|error| error.to_string())?;
        rest.apply(&event);
        let left = person.cues.len();
        let over = rest.is_over() && left == 0;
        person.act(Some(&event)).await?;
        if person.cues.len() < left {
            rest.goes_on();
        }
        events.push(event);
        if over {
            break;
        }
    }
    let left = std::mem::take(&mut person.cues);
    session.close().await;
    if left.is_empty() { Ok(()) } else { Err(format!("the person never got to: {left:?}")) }
}

/// The person, who plays from the cues.
struct Person<'a> {
    stage: &'a Stage,
    client: &'a dyn Client,
    cues: VecDeque<Cue>,
    /// The call that the person was last asked about.
    asked: Option<CallId>,
    /// The question that the person was last asked.
    question: Option<Question>,
    /// The call that ended last.
    ended: Option<CallId>,
}

impl Person<'_> {
    /// Does what its moment has come for. A change by someone else can share its moment with what follows it.
    async fn act(&mut self, event: Option<&Event>) -> Result<(), String> {
        if let Some(EventBody::PermissionRequest(request)) = event.map(|event| &event.body) {
            self.asked = Some(request.call_id.clone());
        }
        if let Some(EventBody::Question(question)) = event.map(|event| &event.body) {
            self.question = Some(question.clone());
        }
        if let Some(EventBody::ToolCallEnd(end)) = event.map(|event| &event.body) {
            self.ended = Some(end.call_id.clone());
        }
        while self.cues.front().is_some_and(|cue| its_moment(cue, event)) {
            let Some(cue) = self.cues.pop_front() else { return Ok(()) };
            let shares_its_moment = matches!(cue.act, Act::Write(..) | Act::Editor(_));
            self.carry_out(cue.act).await?;
            if !shares_its_moment {
                return Ok(());
            }
        }
        Ok(())
    }

    async fn carry_out(&self, act: Act) -> Result<(), String> {
        let command = match act {
            Act::User(content) => Command::UserMessage { content, attachments: Vec::new() },
            Act::Steer(text) => Command::Steer { text },
            Act::Agent(name, order) => Command::AgentCommand { agent_id: self.agent(&name).await?, order },
            Act::Cancel => Command::Cancel,
            Act::StopAll => Command::StopAll,
            Act::Rewind(number, what) => {
                let message_id = self.message(number).await?;
                // As every window does: what goes with it is seen before. Where that fails, the command does too.
                let _ = self.client.ask(Query::RewindPreview { message_id, what }).await;
                Command::Rewind { message_id, what }
            }
            Act::UndoRewind => {
                // As every window does: what goes with it is seen before.
                self.client.ask(Query::UndoPreview).await.map_err(|error| error.to_string())?;
                Command::UndoRewind
            }
            Act::Revert(path, numbers) => {
                let changes = vec![self.shown(path, &numbers).await?];
                Command::RevertFiles { from: String::new(), changes }
            }
            Act::RetryCall => {
                let call_id = self.ended.clone().ok_or("no call has ended that could be tried again")?;
                Command::RetryCall { call_id }
            }
            Act::Rename(title) => Command::Rename { title },
            Act::Compact(focus) => Command::Compact { focus },
            Act::Editor(context) => Command::SetIdeContext { context },
            Act::Generation(generation) => Command::SetGeneration { generation },
            Act::Mode(mode) => Command::SetMode { mode },
            Act::Reply(saying) => {
                let question = self.question.as_ref().ok_or("an answer without a question")?;
                Command::Answer { question_id: question.question_id, reply: reply(saying, &question.subject) }
            }
            Act::Write(path, content) => return self.stage.write(&path, &content),
            Act::Decide(decision) => {
                let call_id = self.asked.clone().ok_or("a decision without a question")?;
                Command::Approve { call_id, decision }
            }
        };
        self.client.send(command).await.map(|_| ()).map_err(|error| error.to_string())
    }
}

impl Person<'_> {
    /// The agent of a name.
    async fn agent(&self, name: &str) -> Result<AgentId, String> {
        let answer = self.client.ask(Query::Tree).await.map_err(|error| error.to_string())?;
        let Answer::Tree { nodes } = answer else { return Err("not what was asked".to_owned()) };
        let node = nodes.iter().find(|node| node.name == name);
        node.map(|node| node.id).ok_or_else(|| format!("there is no agent {name}"))
    }

    /// The changes of a file since the first message that the person means by their numbers, as they are shown; all of
    /// the file without any.
    async fn shown(&self, path: String, numbers: &[usize]) -> Result<RevertedFile, String> {
        let answer = self.client.ask(Query::Checkpoints).await.map_err(|error| error.to_string())?;
        let Answer::Checkpoints { checkpoints } = answer else { return Err("not what was asked".to_owned()) };
        let first = checkpoints.first().ok_or("no checkpoint")?;
        let sides = self.stage.sides(&first.rev, &path)?;
        let review = Review::of(&sides);
        let id = |number: &usize| {
            let change = number.checked_sub(1).and_then(|index| review.changes.get(index));
            change.map(|change| change.id.clone()).ok_or_else(|| format!("{path} has no change {number}"))
        };
        let hunks = numbers.iter().map(id).collect::<Result<_, _>>()?;
        Ok(RevertedFile { mark: review.mark(), hunks, path })
    }

    /// The message that the person means by its number.
    async fn message(&self, number: usize) -> Result<MessageId, String> {
        let answer = self.client.ask(Query::RewindPoints).await.map_err(|error| error.to_string())?;
        let Answer::RewindPoints { points } = answer else { return Err("not what was asked".to_owned()) };
        let point = number.checked_sub(1).and_then(|index| points.get(index));
        point.map(|point| point.message_id).ok_or_else(|| format!("there is no message {number}"))
    }
}

fn reply(saying: Saying, subject: &Subject) -> Reply {
    match saying {
        Saying::Choose(texts) => Reply::Choices { answers: answers(texts, subject) },
        Saying::Accept(approval) => Reply::AcceptPlan { approval, comments: None },
        Saying::Revise(comments) => Reply::RevisePlan { comments },
        Saying::Drop => Reply::DropPlan,
        Saying::GoOn(comments) => Reply::GoOn { comments },
        Saying::Dismiss => Reply::Dismiss,
    }
}

/// What is on offer is chosen, anything else is written.
fn answers(texts: Vec<String>, subject: &Subject) -> Vec<ItemAnswer> {
    let items = match subject {
        Subject::Choices { items } => items.as_slice(),
        Subject::Plan { .. } | Subject::Loop { .. } => &[],
    };
    let offered = |index: usize, text: &String| {
        items.get(index).is_some_and(|item| item.options.iter().any(|option| option.label == *text))
    };
    let answer = |(index, text): (usize, String)| match offered(index, &text) {
        true => ItemAnswer { chosen: vec![text], text: None },
        false => ItemAnswer { chosen: Vec::new(), text: Some(text) },
    };
    texts.into_iter().enumerate().map(answer).collect()
}

fn its_moment(cue: &Cue, event: Option<&Event>) -> bool {
    match (&cue.when, event) {
        (Some(when), Some(event)) => expect::matches(when, event),
        (Some(_), None) => false,
        (None, None) => matches!(cue.act, Act::User(_) | Act::Editor(_)),
        (None, Some(event)) => match cue.act {
            Act::User(_) => matches!(event.body, EventBody::AgentComplete(_) | EventBody::Rewind(_)),
            Act::Rewind(..) => matches!(event.body, EventBody::AgentComplete(_)),
            Act::UndoRewind => matches!(event.body, EventBody::Rewind(_)),
            Act::Revert(..) | Act::RetryCall => matches!(event.body, EventBody::AgentComplete(_)),
            Act::Decide(_) => matches!(event.body, EventBody::PermissionRequest(_)),
            Act::Reply(_) => matches!(event.body, EventBody::Question(_)),
            Act::Compact(_) => matches!(event.body, EventBody::AgentComplete(_)),
            Act::Steer(_)
            | Act::Cancel
            | Act::StopAll
            | Act::Editor(_)
            | Act::Write(..)
            | Act::Generation(_)
            | Act::Mode(_)
            | Act::Agent(..)
            | Act::Rename(_) => true,
        },
    }
}
