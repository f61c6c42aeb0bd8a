//! Running a call once more that failed: a turn whose answer is there already.

use neco_proto::event::{ToolCallDelta, ToolCallStart};
use neco_proto::{CallId, EventBody, Message, Part, Role, ToolCall};

use super::agent::Agent;
use super::inputs::InputError;
use crate::machine::Input;

/// Runs a call once more that failed, with the same arguments: it is judged as any other, and with its result the work
/// goes on.
/// Fails when the agent works, or there is no such call that failed.
pub(super) async fn retry(agent: &mut Agent, id: &CallId) -> Result<(), InputError> {
    let refused = |words: &str| InputError::Refused(words.to_owned());
    if agent.machine.busy() {
        return Err(refused("the agent is working; stop it or wait, then retry the call"));
    }
    let failed = match agent.conversation.call(id) {
        Some((call, true)) => call,
        Some((_, false)) => return Err(refused("the call did not fail, so there is nothing to retry")),
        None => return Err(refused("the call is no longer part of the conversation, so it can't be retried")),
    };
    if agent.accounts.reached().is_some() {
        return Err(refused("the budget is used up"));
    }
    // What holds now decides about it, and not what held when it failed.
    agent.renew().await?;
    agent.skilling().recall().await?;
    agent.start_over();
    let words = format!(
        "The user has your call of {} run once more that failed, with the same arguments. Its result follows.",
        failed.name
    );
    agent.admit_neco(&words).await?;
    agent.name_turn(1).await?;
    let call = ToolCall { id: agent.model.free_id(None), opaque: None, ..failed };
    // Windows see it as they see a call that a model writes.
    let (call_id, name, partial_args) = (call.id.clone(), call.name.clone(), call.arguments.clone());
    let start = ToolCallStart { index: 0, call_id: call_id.clone(), name };
    agent.reports.emit(EventBody::StreamToolCallStart(start)).await?;
    agent.reports.emit(EventBody::StreamToolCallDelta(ToolCallDelta { call_id, partial_args })).await?;
    // No model wrote it, so none is named.
    let message = Message::new(Role::Assistant, vec![Part::ToolCall(call)]);
    agent.conversation.answer(message, &agent.reports).await?;
    agent.check_budget();
    Ok(agent.on(Input::TakeUp).await?)
}
