//! The performance: a real session on a real folder, the person's part played from the cues.

use std::collections::VecDeque;
use std::time::Duration;

use futures::StreamExt;
use neco_proto::{CallId, Client, Command, Event, EventBody};

use super::expect;
use super::parse::{Act, Cue, Scenario};
use crate::stage::{Stage, StageSetup};

/// Longer than any scenario takes; a scenario that hangs fails instead.
const PATIENCE: Duration = Duration::from_secs(60);

/// Plays a scenario and holds what happened against what it expects.
///
/// # Errors
/// What went differently, in words.
pub async fn play(scenario: &Scenario) -> Result<Vec<Event>, String> {
    let stage = Stage::new(StageSetup {
        files: scenario.files.clone(),
        script: super::script::compile(&scenario.script)?,
        setup: scenario.setup.clone(),
    })?;
    let events = tokio::time::timeout(PATIENCE, perform(&stage, scenario))
        .await
        .map_err(|_| format!("{:?} hangs", scenario.title))??;
    expect::check(&scenario.events, &events)?;
    for (path, expected) in &scenario.expected_files {
        let found = stage.read(path)?;
        if found != *expected {
            return Err(format!("{path} holds {found:?}, not {expected:?}"));
        }
    }
    Ok(events)
}

async fn perform(stage: &Stage, scenario: &Scenario) -> Result<Vec<Event>, String> {
    let session = stage.open().await?;
    let mut stream = session.events(session.first_seq());
    let mut person = Person { stage, client: &session, cues: scenario.cues.iter().cloned().collect(), asked: None };
    let mut events = Vec::new();
    person.act(None).await?;
    while let Some(event) = stream.next().await {
        let event = event.map_err(|error| error.to_string())?;
        let over = matches!(event.body, EventBody::AgentComplete(_)) && person.cues.is_empty();
        person.act(Some(&event)).await?;
        events.push(event);
        if over {
            break;
        }
    }
    let left = std::mem::take(&mut person.cues);
    session.close().await;
    if left.is_empty() { Ok(events) } else { Err(format!("the person never got to: {left:?}")) }
}

/// The person, who plays from the cues.
struct Person<'a> {
    stage: &'a Stage,
    client: &'a dyn Client,
    cues: VecDeque<Cue>,
    /// The call that the person was last asked about.
    asked: Option<CallId>,
}

impl Person<'_> {
    /// Does what its moment has come for. A change by someone else can share its moment with what follows it.
    async fn act(&mut self, event: Option<&Event>) -> Result<(), String> {
        if let Some(EventBody::PermissionRequest(request)) = event.map(|event| &event.body) {
            self.asked = Some(request.call_id.clone());
        }
        while self.cues.front().is_some_and(|cue| its_moment(cue, event)) {
            let Some(cue) = self.cues.pop_front() else { return Ok(()) };
            let shares_its_moment = matches!(cue.act, Act::Write(..));
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
            Act::Cancel => Command::Cancel,
            Act::Write(path, content) => return self.stage.write(&path, &content),
            Act::Decide(decision) => {
                let call_id = self.asked.clone().ok_or("a decision without a question")?;
                Command::Approve { call_id, decision }
            }
        };
        self.client.send(command).await.map(|_| ()).map_err(|error| error.to_string())
    }
}

fn its_moment(cue: &Cue, event: Option<&Event>) -> bool {
    match (&cue.when, event) {
        (Some(when), Some(event)) => expect::matches(when, event),
        (Some(_), None) => false,
        (None, None) => matches!(cue.act, Act::User(_)),
        (None, Some(event)) => match cue.act {
            Act::User(_) => matches!(event.body, EventBody::AgentComplete(_)),
            Act::Decide(_) => matches!(event.body, EventBody::PermissionRequest(_)),
            Act::Steer(_) | Act::Cancel | Act::Write(..) => true,
        },
    }
}
