//! Running one call: in its time, its output bounded.

use std::sync::Arc;
use std::time::Duration;

use neco_proto::ErrorCode;
use neco_proto::event::CallStatus;
use neco_toolkit::{Bounded, PreparedCall, ToolContext, ToolError, ToolOutput};

use super::call::Outcome;
use super::present::present;
use crate::ports::Clock;

/// How long a tool that was told to stop may take to kill what it runs and say what it got.
pub(super) const GRACE: Duration = Duration::from_millis(500);

/// Runs a call to its end.
pub(super) async fn execute(
    prepared: Box<dyn PreparedCall>,
    ctx: ToolContext,
    limit: Duration,
    clock: Arc<dyn Clock>,
) -> Outcome {
    let started = clock.now();
    let result = in_time(prepared, ctx.clone(), limit).await;
    let duration = clock.now().saturating_sub(started);
    let output = match result {
        Ok(output) => present(&ctx.call_id, bound(output, &ctx).await, &ctx.spill.redactor()),
        Err(error) => return Outcome::error(&error, duration),
    };
    let status = if output.error_code.is_some() { CallStatus::Error } else { CallStatus::Success };
    Outcome {
        parts: output.parts,
        error_code: output.error_code,
        duration,
        display: output.display,
        spilled_to: output.spilled_to,
        known: output.known,
        acting: output.acting,
        touched: output.touched,
        intents: output.intents,
        ..Outcome::new(status, output.model)
    }
}

async fn in_time(prepared: Box<dyn PreparedCall>, ctx: ToolContext, limit: Duration) -> Result<ToolOutput, ToolError> {
    let cancel = ctx.cancel.clone();
    let run = prepared.run(ctx);
    tokio::pin!(run);
    tokio::select! {
        result = &mut run => result,
        () = tokio::time::sleep(limit) => {
            cancel.cancel();
            // Whether it ends in time or not, what it left running ends when it is dropped here.
            let _ = tokio::time::timeout(GRACE, run).await;
            Err(ToolError::new(ErrorCode::ToolTimedOut, format!("stopped after {} s", limit.as_secs_f32())))
        }
    }
}

/// A tool that did not bound its own output has it bounded here.
async fn bound(mut output: ToolOutput, ctx: &ToolContext) -> ToolOutput {
    // The text of what is too big is bounded with the rest.
    output.parts.retain(|part| serde_json::to_vec(part).is_ok_and(|part| part.len() <= ctx.max_output));
    // A tool that spilled by itself adds a few lines of its own to what it kept.
    if output.spilled_to.is_some() || output.model.len() <= ctx.max_output {
        return output;
    }
    let mut bounded = Bounded::new(ctx.call_id.clone(), Arc::clone(&ctx.spill), ctx.max_output);
    bounded.push(output.model.as_bytes()).await;
    let text = bounded.finish().await;
    let source = output.outside.map(|outside| outside.source);
    let bounded = ToolOutput { model: text.text, spilled_to: text.spilled_to, outside: None, ..output };
    match source {
        Some(source) => bounded.outside(.., source),
        None => bounded,
    }
}
