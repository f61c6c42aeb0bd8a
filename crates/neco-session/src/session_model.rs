//! The model of a session, as its running calls ask it: an MCP server may want something answered.

use std::sync::Arc;
use std::time::Duration;

use futures::FutureExt;
use futures::future::BoxFuture;
use neco_model::{FinishReason, History, Provider, Request};
use neco_proto::event::{SidePurpose, UsageEvent};
use neco_proto::{EventBody, Part};
use neco_safety::secrets::{Redactor, Scope};
use neco_toolkit::{AskModel, ModelAnswer, ModelQuestion, NoAnswer};
use tokio_util::sync::CancellationToken;

use crate::aside::{self, AsideError};
use crate::hub::SessionCore;

/// How long a model may take.
const TIMEOUT: Duration = Duration::from_secs(5 * 60);

/// The model that the calls of a session may ask.
pub(crate) fn session_model(core: &SessionCore) -> Arc<dyn AskModel> {
    Arc::new(SessionModel(core.clone()))
}

/// The model of a session. What it is asked counts as the session's, and nothing is asked past its budget.
struct SessionModel(SessionCore);

impl AskModel for SessionModel {
    fn ask(
        &self,
        question: ModelQuestion,
        cancel: CancellationToken,
    ) -> BoxFuture<'static, Result<ModelAnswer, NoAnswer>> {
        let core = self.0.clone();
        // A task of its own: windows are told that it is over, also when nobody waits for the answer any more.
        let asked = tokio::spawn(async move { ask(&core, question, &cancel).await });
        async move { asked.await.unwrap_or_else(|error| Err(NoAnswer(error.to_string()))) }.boxed()
    }
}

async fn ask(core: &SessionCore, question: ModelQuestion, cancel: &CancellationToken) -> Result<ModelAnswer, NoAnswer> {
    let standing = core.journal.standing();
    if core.budget.reached(&standing.usage, Duration::from_millis(standing.worked_ms)).is_some() {
        return Err(NoAnswer("the budget of the session is used up".to_owned()));
    }
    let asks = core.aside.unless_stopped(tokio::time::timeout(TIMEOUT, answered(core, &standing.model, question)));
    let asks = async { cancel.run_until_cancelled(asks).await.flatten() };
    match aside::told(core, SidePurpose::Sampling, asks).await {
        Some(Ok(Ok(answer))) => Ok(answer),
        Some(Ok(Err(error))) => Err(NoAnswer(error.to_string())),
        Some(Err(_)) => Err(NoAnswer(AsideError::TooSlow.to_string())),
        None => Err(NoAnswer("the work was stopped".to_owned())),
    }
}

async fn answered(core: &SessionCore, model: &str, question: ModelQuestion) -> Result<ModelAnswer, AsideError> {
    let provider = core.model(model)?;
    let request = request(provider.as_ref(), question, &core.hub.deps().redactor)?;
    let (answer, reason) = aside::answer(provider.as_ref(), request).await?;
    // An answer that was cut off costs as much as a whole one.
    if let Some(usage) = answer.usage {
        let (context_window, aside) = (provider.context_window(), Some(SidePurpose::Sampling));
        let used = UsageEvent::of(&answer.model, usage, provider.scripted());
        core.emit(EventBody::Usage(UsageEvent { context_window, aside, ..used })).await?;
    }
    let cut_off = match reason {
        FinishReason::Stop | FinishReason::ToolCalls => false,
        FinishReason::Length | FinishReason::Pause | FinishReason::Bound(_) => true,
        FinishReason::ContentFilter | FinishReason::Refusal => return Err(AsideError::NotWhole(reason)),
    };
    Ok(ModelAnswer { model: answer.model, text: answer.text, cut_off })
}

/// The question without secrets; an error when it has pictures that the model does not see.
fn request(provider: &dyn Provider, question: ModelQuestion, redactor: &Redactor) -> Result<Request, AsideError> {
    let ModelQuestion { system, mut messages, max_output, temperature } = question;
    for part in messages.iter_mut().flat_map(|message| &mut message.parts) {
        match part {
            Part::Text { text } => *text = redactor.redact(text, Scope::Outside).to_string(),
            Part::Image { media_type, .. } if !provider.sees(media_type) => {
                return Err(AsideError::Unseen(std::mem::take(media_type)));
            }
            Part::Image { .. } | Part::Reasoning { .. } | Part::ToolCall(_) | Part::ToolResult(_) => {}
        }
    }
    let system = redactor.redact(&system, Scope::Outside);
    let history: History = messages.into_iter().collect();
    Ok(Request { max_output: Some(max_output), temperature, ..aside::request(&system, history) })
}
