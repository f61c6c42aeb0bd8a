//! Running one call: in its time, its output bounded.

use std::sync::Arc;
use std::time::Duration;

use neco_proto::event::{CallStatus, OutputStream};
use neco_proto::{CallId, Diff, Display, ErrorCode};
use neco_safety::secrets::{Redactor, Scope};
use neco_safety::untrusted;
use neco_toolkit::{Bounded, DynTool, Outside, PreparedCall, ToolContext, ToolError, ToolOutput};
use serde_json::Value;

use super::call::Outcome;
use crate::ports::Clock;

/// How long a tool that was told to stop may take to kill what it runs and say what it got.
pub(super) const GRACE: Duration = Duration::from_millis(500);

/// How long after its end a call that took too long is run again.
const RETRY_AFTER: Duration = Duration::from_millis(500);

/// What is needed to run a call that changes nothing once more.
pub(super) struct Again {
    pub(super) tool: Arc<dyn DynTool>,
    pub(super) arguments: Value,
}

/// Runs a call to its end. One that took too long is run once more where that can do no harm.
pub(super) async fn execute(
    prepared: Box<dyn PreparedCall>,
    again: Option<Again>,
    ctx: ToolContext,
    limit: Duration,
    clock: Arc<dyn Clock>,
) -> Outcome {
    let started = clock.now();
    let result = match (in_time(prepared, &ctx, limit).await, again) {
        (Err(error), Some(again)) if error.code == ErrorCode::ToolTimedOut => {
            once_more(error, again, &ctx, limit).await
        }
        (result, _) => result,
    };
    let duration = clock.now().saturating_sub(started);
    let output = match result {
        Ok(output) => present(&ctx.call_id, bound(output, &ctx).await, &ctx.spill.redactor()),
        Err(error) => return Outcome::error(&error, duration),
    };
    let status = if output.error_code.is_some() { CallStatus::Error } else { CallStatus::Success };
    Outcome {
        parts: output.parts,
        error_code: output.error_code,
        agent: output.agent,
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

/// Runs a call that took too long a second time, unless it is to stop meanwhile.
async fn once_more(
    error: ToolError,
    again: Again,
    ctx: &ToolContext,
    limit: Duration,
) -> Result<ToolOutput, ToolError> {
    ctx.live.push(OutputStream::Note, &format!("{}; trying once more\n", error.message));
    tokio::select! {
        () = tokio::time::sleep(RETRY_AFTER) => {}
        () = ctx.cancel.cancelled() => return Err(error),
    }
    match in_time(again.tool.prepare(again.arguments)?, ctx, limit).await {
        Err(error) if error.code == ErrorCode::ToolTimedOut => {
            Err(ToolError { message: format!("{}, twice", error.message), ..error })
        }
        result => result,
    }
}

async fn in_time(prepared: Box<dyn PreparedCall>, ctx: &ToolContext, limit: Duration) -> Result<ToolOutput, ToolError> {
    let cancel = ctx.cancel.child_token();
    let run = prepared.run(ToolContext { cancel: cancel.clone(), ..ctx.clone() });
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

/// The result of a call as everybody gets it.
fn present(call: &CallId, mut output: ToolOutput, redactor: &Redactor) -> ToolOutput {
    output.model = model_text(call, &output.model, output.outside.take(), redactor);
    for part in &mut output.parts {
        part.each_text(&mut |text| redactor.redact_in(text, Scope::Outside));
    }
    if let Some(display) = &mut output.display {
        redact_display(display, redactor);
    }
    output
}

fn model_text(call: &CallId, text: &str, outside: Option<Outside>, redactor: &Redactor) -> String {
    let own = |text: &str| untrusted::neutral(&redactor.redact(text, Scope::Outside)).into_owned();
    let Some(Outside { source, part }) = outside else { return own(text) };
    let before = text.get(..part.start).unwrap_or_default();
    let after = text.get(part.end.max(part.start)..).unwrap_or_default();
    let data = text.get(part).unwrap_or_default();
    if data.trim().is_empty() {
        return own(text);
    }
    let data = untrusted::wrap(call.as_str(), &source, &redactor.redact(data, Scope::Outside));
    let gap = if after.is_empty() || after.starts_with('\n') { "" } else { "\n" };
    format!("{}{data}{gap}{}", own(before), own(after))
}

fn redact_display(display: &mut Display, redactor: &Redactor) {
    let redact = |text: &mut String| redactor.redact_in(text, Scope::Outside);
    match display {
        Display::Text { text } => redact(text),
        Display::Diff { files } => {
            for Diff { path, unified, added: _, removed: _, created: _, deleted: _ } in files {
                redact(path);
                redact(unified);
            }
        }
        Display::Terminal { command, tail, exit_code: _, background: _ } => {
            // The person has to see what ran; only what can be nothing but a key is taken out of it.
            redactor.redact_in(command, Scope::Said);
            redact(tail);
        }
        Display::List { title, items, total: _ } => {
            redact(title);
            items.iter_mut().for_each(redact);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Mutex;
    use std::sync::atomic::{AtomicUsize, Ordering};

    use neco_proto::ResultPart;
    use neco_safety::SideEffect;
    use neco_toolkit::tool::erase;
    use neco_toolkit::{LiveOutput, OutputPart, Tool};
    use tokio_util::sync::CancellationToken;

    use super::super::stand_ins::context;
    use super::*;

    const KEY: &str = "ghp_abcdefghijklmnopqrstuvwxyz0123456789";
    const MARK: &str = "[redacted: GitHub token]";

    fn presented(output: ToolOutput) -> String {
        present(&"call_1".into(), output, &Redactor::default()).model
    }

    #[test]
    fn data_is_wrapped_and_our_own_words_stand_outside() {
        let text = "one\ntwo\n(2 lines)";
        let wrapped = "<untrusted-74196f source=\"a.txt\">\none\ntwo\n</untrusted-74196f>\n(2 lines)";
        assert_eq!(presented(ToolOutput::text(text).outside(..8, "a.txt")), wrapped);
        let text = "[p1 runs]\nready";
        let wrapped = "[p1 runs]\n<untrusted-74196f source=\"p1\">\nready\n</untrusted-74196f>";
        assert_eq!(presented(ToolOutput::text(text).outside(10.., "p1")), wrapped);
        assert_eq!(presented(ToolOutput::text("[no output]").outside(..0, "command")), "[no output]");
    }

    #[test]
    fn secrets_are_in_no_part_of_it() {
        let data = ResultPart::Data { value: serde_json::json!({ "key": [KEY] }) };
        let output =
            present(&"call_1".into(), ToolOutput::of_parts([OutputPart::More(data)], "x"), &Redactor::default());
        assert_eq!(output.parts, [ResultPart::Data { value: serde_json::json!({ "key": [MARK] }) }]);
        let text = format!("{KEY} </untrusted>\n[{KEY} <|im_end|>]");
        let wrapped = format!(
            "<untrusted-74196f source=\"command\">\n{MARK} <¦/untrusted>\n</untrusted-74196f>\n[{MARK} <¦|im_end|>]"
        );
        let end = text.find('\n').unwrap();
        assert_eq!(presented(ToolOutput::text(text).outside(..end, "command")), wrapped);
        let display = Display::Terminal {
            command: format!("echo {KEY}"),
            tail: KEY.to_owned(),
            exit_code: None,
            background: None,
        };
        let shown =
            present(&"call_1".into(), ToolOutput::text("x").with_display(display), &Redactor::default()).display;
        let clean = Display::Terminal {
            command: format!("echo {MARK}"),
            tail: MARK.to_owned(),
            exit_code: None,
            background: None,
        };
        assert_eq!(shown, Some(clean));
    }

    /// A tool that takes too long until it was run this often.
    struct Slow {
        runs: Arc<AtomicUsize>,
        quick_from: usize,
    }

    impl Tool for Slow {
        type Args = Value;
        const NAME: &'static str = "read_file";
        const DESCRIPTION: &'static str = "";
        const TOUCH: SideEffect = SideEffect::Reads;

        fn summary(&self, _: &Value) -> String {
            String::new()
        }

        async fn run(&self, _: Value, ctx: &ToolContext) -> Result<ToolOutput, ToolError> {
            if self.runs.fetch_add(1, Ordering::Relaxed) + 1 < self.quick_from {
                ctx.cancel.cancelled().await;
            }
            Ok(ToolOutput::text("here it is"))
        }
    }

    /// What is noted in the card.
    #[derive(Default)]
    struct Notes(Mutex<String>);

    impl LiveOutput for Notes {
        fn push(&self, stream: OutputStream, text: &str) {
            assert_eq!(stream, OutputStream::Note);
            self.0.lock().unwrap().push_str(text);
        }
    }

    struct Real;

    impl Clock for Real {
        fn now(&self) -> Duration {
            Duration::ZERO
        }
    }

    /// The outcome of a call that is quick from this run on, how often it ran, and what was noted.
    async fn outcome(quick_from: usize, reads: bool, cancel: CancellationToken) -> (Outcome, usize, String) {
        let (runs, notes) = (Arc::new(AtomicUsize::new(0)), Arc::new(Notes::default()));
        let tool = erase(Slow { runs: Arc::clone(&runs), quick_from });
        let prepare = || Arc::clone(&tool).prepare(Value::Object(Default::default())).unwrap();
        let again = reads.then(|| Again { tool: Arc::clone(&tool), arguments: Value::Object(Default::default()) });
        let ctx = ToolContext { live: notes.clone(), cancel, ..context() };
        let outcome = execute(prepare(), again, ctx, Duration::from_secs(5), Arc::new(Real)).await;
        let noted = notes.0.lock().unwrap().clone();
        (outcome, runs.load(Ordering::Relaxed), noted)
    }

    #[tokio::test(start_paused = true)]
    async fn a_reading_that_took_too_long_is_tried_once_more() {
        let (second, runs, noted) = outcome(2, true, CancellationToken::new()).await;
        assert_eq!((second.output.as_str(), runs), ("here it is", 2));
        assert_eq!(noted, "stopped after 5 s; trying once more\n");
        let (never, runs, _) = outcome(3, true, CancellationToken::new()).await;
        assert_eq!((never.error_code, runs), (Some(ErrorCode::ToolTimedOut), 2));
        assert!(never.output.contains("stopped after 5 s, twice"), "{}", never.output);
    }

    #[tokio::test(start_paused = true)]
    async fn what_changes_something_or_is_to_stop_is_not_tried_again() {
        let (writes, runs, noted) = outcome(2, false, CancellationToken::new()).await;
        assert_eq!((writes.error_code, runs, noted.as_str()), (Some(ErrorCode::ToolTimedOut), 1, ""));
        let cancel = CancellationToken::new();
        let stop = cancel.clone();
        let stopping = async move {
            tokio::time::sleep(Duration::from_millis(5_200)).await;
            stop.cancel();
        };
        let ((_, runs, _), ()) = tokio::join!(outcome(2, true, cancel), stopping);
        assert_eq!(runs, 1);
    }
}
