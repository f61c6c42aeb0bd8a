//! What happens in a session, as lines of the program's log.

use neco_proto::event::CallStatus;
use neco_proto::{Event, EventBody};

/// Logs what happened. Neither what was said nor arguments: a log is sent to others. What a vendor answered to a request
/// that failed is logged, without keys.
pub(crate) fn event(event: &Event) {
    let seq = event.seq;
    match &event.body {
        EventBody::SessionStart(start) => {
            tracing::info!(seq, session = %event.session_id, model = %start.model, mode = %start.mode,
                approval = %start.approval, resumed = start.resumed, "session");
        }
        EventBody::TurnStart(start) => tracing::info!(seq, turn = start.iteration, model = %start.model, "request"),
        EventBody::ModelRetry(retry) => {
            tracing::warn!(seq, attempt = retry.attempt, wait_ms = retry.wait_ms, code = %retry.code,
                message = %retry.message, discards = retry.discards, "retry");
        }
        EventBody::ModelSwitch(switch) => {
            tracing::warn!(seq, from = %switch.from, to = %switch.to, code = %switch.code,
                message = %switch.message, "other model");
        }
        EventBody::ToolCallUpdate(update) if update.status == CallStatus::Executing => {
            tracing::info!(seq, call = %update.call_id, tool = %update.tool, "call runs");
        }
        EventBody::ToolCallEnd(end) => {
            tracing::info!(seq, call = %end.call_id, tool = %end.tool, status = %end.status,
                code = end.error_code.map(tracing::field::display), ms = end.duration_ms, bytes = end.output.len(), "call ends");
        }
        EventBody::PermissionRequest(request) => {
            tracing::info!(seq, call = %request.call_id, tool = %request.tool, risk = %request.risk, "asked");
        }
        EventBody::HookRun(run) => {
            tracing::info!(seq, event = %run.event, outcome = %run.outcome, ms = run.duration_ms, "hook");
        }
        EventBody::Usage(usage) => {
            tracing::info!(seq, model = %usage.model, input = usage.usage.input, output = usage.usage.output,
                cached = usage.usage.cache_read, "usage");
        }
        EventBody::Compaction(done) => {
            tracing::info!(seq, cause = %done.cause, strategy = %done.strategy, before = done.before,
                after = done.after, "compacted");
        }
        EventBody::AgentUpdate(update) => {
            tracing::info!(seq, agent = %update.node.id, role = %update.node.role, state = %update.node.state, "agent");
        }
        EventBody::Error(error) => {
            tracing::error!(seq, code = %error.code, message = %error.message, retryable = error.retryable, "error");
        }
        EventBody::AgentComplete(complete) => {
            tracing::info!(seq, reason = %complete.reason, code = complete.error_code.map(tracing::field::display),
                turns = complete.turns, ms = complete.duration_ms, "complete");
        }
        // Of the others that they happened is enough; pieces of an answer come by the thousand.
        body if body.is_passing() => tracing::trace!(seq, "{}", body.type_name()),
        body => tracing::debug!(seq, "{}", body.type_name()),
    }
}
