//! The log file, for those who want one: what happened and how long it took, never what was said.

use std::fs::{self, DirBuilder, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::sync::{LazyLock, Mutex, PoisonError};

use neco_config::Env;
use neco_proto::event::CallStatus;
use neco_proto::{Event, EventBody};
use neco_safety::secrets::{Redactor, Scope};
use tracing_appender::non_blocking::WorkerGuard;
use tracing_subscriber::EnvFilter;

use crate::failure::Failure;
use crate::say;

/// What `--debug` writes.
const DEBUG: &str = "neco=debug,warn";
/// A log that is larger is put aside.
const LARGEST: u64 = 10 * 1024 * 1024;

/// Writes what waits when it is dropped. Not in somebody's hands, because a process may end anywhere.
static GUARD: Mutex<Option<WorkerGuard>> = Mutex::new(None);

/// Takes secrets out of what is logged: the one log of a process has what several folders bring along. It knows each
/// secret once, and what was one stays out of the log.
static HIDDEN: LazyLock<Redactor> = LazyLock::new(Redactor::default);

/// From now on nothing is logged that `redactor` knows, or learns later.
pub fn hide(redactor: &Redactor) {
    redactor.teach(&HIDDEN);
}

/// `text` without the secrets that are known, and without what looks like one.
pub fn redacted(text: &str, scope: Scope) -> String {
    HIDDEN.redact(text, scope).into_owned()
}

/// A file that no secret is written to; what is written comes line by line.
struct WithoutSecrets<W>(W);

impl<W: Write> Write for WithoutSecrets<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let text = String::from_utf8_lossy(bytes);
        let redacted = redacted(&text, Scope::Outside);
        self.0.write_all(redacted.as_bytes())?;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.0.flush()
    }
}

/// Where the log file lies.
pub fn path(env: &Env) -> PathBuf {
    env.data_dir().join("logs").join("neco.log")
}

/// Begins to log if `--debug` or `NECO_LOG` asks for it; [`finish`] ends it. Nothing is set up
/// otherwise: it would be paid for at every start.
pub fn start(env: &Env, debug: bool) -> Result<(), Failure> {
    let wanted = env.var("NECO_LOG").filter(|filter| !filter.is_empty());
    let Some(filter) = wanted.or(debug.then_some(DEBUG)) else { return Ok(()) };
    let filter =
        EnvFilter::try_new(filter).map_err(|error| Failure::usage(format!("NECO_LOG is not understood: {error}")))?;
    let path = path(env);
    let file =
        open(&path).map_err(|error| Failure::usage(format!("the log {} can't be written: {error}", path.display())))?;
    let (writer, guard) = tracing_appender::non_blocking(WithoutSecrets(file));
    tracing_subscriber::fmt().with_env_filter(filter).with_writer(writer).with_ansi(false).init();
    *GUARD.lock().unwrap_or_else(PoisonError::into_inner) = Some(guard);
    say::note(&format!("log: {}", path.display()));
    tracing::info!(version = env!("CARGO_PKG_VERSION"), pid = std::process::id(), "neco starts");
    Ok(())
}

/// Everything that was logged is on the disk after this; what comes later is not logged.
pub fn finish() {
    drop(GUARD.lock().unwrap_or_else(PoisonError::into_inner).take());
}

/// Logs what happened. Neither words nor arguments: a log is sent to others.
pub fn event(event: &Event) {
    let seq = event.seq;
    match &event.body {
        EventBody::SessionStart(start) => {
            tracing::info!(seq, session = %event.session_id, model = %start.model, mode = %start.mode,
                approval = %start.approval, resumed = start.resumed, "session");
        }
        EventBody::StateChange(change) => tracing::debug!(seq, from = %change.from, to = %change.to, "state"),
        EventBody::TurnStart(start) => tracing::info!(seq, turn = start.iteration, model = %start.model, "request"),
        EventBody::StreamChunk(chunk) => tracing::trace!(seq, bytes = chunk.text.len(), "words"),
        EventBody::ReasoningChunk(chunk) => tracing::trace!(seq, bytes = chunk.text.len(), "thoughts"),
        EventBody::StreamToolCallStart(start) => {
            tracing::trace!(seq, call = %start.call_id, tool = %start.name, "call comes")
        }
        EventBody::StreamToolCallDelta(delta) => tracing::trace!(seq, bytes = delta.partial_args.len(), "arguments"),
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
        EventBody::ToolCallUpdate(update) => {
            tracing::debug!(seq, call = %update.call_id, tool = %update.tool, status = %update.status, "call");
        }
        EventBody::ToolOutputChunk(chunk) => {
            tracing::trace!(seq, call = %chunk.call_id, bytes = chunk.text.len(), "output")
        }
        EventBody::ToolCallEnd(end) => {
            tracing::info!(seq, call = %end.call_id, tool = %end.tool, status = %end.status,
                code = end.error_code.map(tracing::field::display), ms = end.duration_ms, bytes = end.output.len(), "call ends");
        }
        EventBody::PermissionRequest(request) => {
            tracing::info!(seq, call = %request.call_id, tool = %request.tool, risk = %request.risk, "asked");
        }
        EventBody::PermissionDecision(decided) => tracing::info!(seq, call = %decided.call_id, "answered"),
        EventBody::HookRun(run) => {
            tracing::info!(seq, event = %run.event, outcome = %run.outcome, ms = run.duration_ms, "hook");
        }
        EventBody::MemoryUpdate(update) => {
            tracing::info!(seq, action = %update.action, entries = update.entries.len(), "memory");
        }
        EventBody::Question(question) => tracing::info!(seq, question = %question.question_id, "question"),
        EventBody::QuestionAnswer(answer) => tracing::info!(seq, question = %answer.question_id, "question is over"),
        EventBody::TodoUpdate(update) => tracing::info!(seq, todos = update.todos.len(), "todos"),
        EventBody::PlanUpdate(update) => {
            tracing::info!(
                seq,
                status = update.plan.as_ref().map(|plan| tracing::field::display(plan.status)),
                findings = update.findings.len(),
                "plan"
            );
        }
        EventBody::ModeChange(_) => tracing::info!(seq, "settings of the session changed"),
        EventBody::Usage(usage) => {
            tracing::info!(seq, model = %usage.model, input = usage.usage.input, output = usage.usage.output,
                cached = usage.usage.cache_read, "usage");
        }
        EventBody::Notification(notification) => tracing::info!(seq, text = %notification.text, "told"),
        EventBody::MessageQueued(_) => tracing::debug!(seq, "message waits"),
        EventBody::Message(message) => {
            tracing::debug!(seq, role = ?message.role, bytes = message.text().len(), calls = message.tool_calls().count(), "message");
        }
        EventBody::Environment(_) => tracing::debug!(seq, "environment"),
        EventBody::IdeContext(_) => tracing::debug!(seq, "what is open in the editor"),
        EventBody::RulesTold(told) => tracing::info!(seq, files = ?told.files, "rules of folders"),
        EventBody::ContextTrim(trim) => {
            tracing::info!(seq, before = trim.before, after = trim.after, outputs = trim.outputs.len(), "trimmed");
        }
        EventBody::Compaction(done) => {
            tracing::info!(seq, cause = %done.cause, strategy = %done.strategy, before = done.before,
                after = done.after, "compacted");
        }
        EventBody::Checkpoint(kept) => {
            tracing::info!(seq, rev = %kept.rev, when = %kept.when, changed = kept.changed_count(), "checkpoint");
        }
        EventBody::SideCall(call) => {
            tracing::debug!(seq, purpose = %call.purpose, running = call.running, "side call");
        }
        EventBody::FilesBack(back) => tracing::debug!(seq, done = back.done, total = back.total, "files back"),
        EventBody::Rewind(back) => {
            tracing::info!(seq, to = back.to, conversation = back.conversation, files = back.files.is_some(), "rewind");
        }
        EventBody::AgentUpdate(update) => {
            tracing::info!(seq, agent = %update.node.id, role = %update.node.role, state = %update.node.state, "agent");
        }
        EventBody::AgentMessage(message) => tracing::info!(seq, to = %message.to, "letter"),
        EventBody::Stop(stop) => tracing::info!(seq, paused = stop.paused.len(), "everything was stopped"),
        EventBody::WorkflowUpdate(update) => {
            tracing::info!(seq, workflow = %update.workflow_id, state = %update.state, tasks = update.tasks.len(), "workflow");
        }
        EventBody::Title(title) => tracing::info!(seq, by = %title.by, "title"),
        EventBody::Imported(from) => tracing::info!(seq, from = %from.from, skipped = from.skipped, "imported"),
        EventBody::Error(error) => {
            tracing::error!(seq, code = %error.code, message = %error.message, retryable = error.retryable, "error");
        }
        EventBody::Unknown(unknown) => tracing::debug!(seq, kind = unknown.name, "an event of another version"),
        EventBody::TurnEnd(_) => tracing::debug!(seq, "turn ends"),
        EventBody::AgentComplete(complete) => {
            tracing::info!(seq, reason = %complete.reason, code = complete.error_code.map(tracing::field::display),
                turns = complete.turns, ms = complete.duration_ms, "complete");
        }
    }
}

/// A log tells what was worked on, so it is for its owner alone.
fn open(path: &Path) -> io::Result<fs::File> {
    if let Some(folder) = path.parent() {
        DirBuilder::new().recursive(true).mode(0o700).create(folder)?;
    }
    if fs::metadata(path).is_ok_and(|file| file.len() > LARGEST) {
        fs::rename(path, path.with_extension("log.1"))?;
    }
    OpenOptions::new().create(true).append(true).mode(0o600).open(path)
}

#[cfg(test)]
mod tests {
    use neco_safety::secrets::KnownSecret;

    use super::*;

    #[test]
    fn the_secrets_of_every_folder_stay_out_of_the_one_log() {
        let known = |value: &str| KnownSecret { what: "KEY".to_owned(), value: value.to_owned() };
        let (first, second) = ("first-secret-value-1", "second-secret-value-2");
        hide(&Redactor::new([known(first)]));
        let learns = Redactor::default();
        hide(&learns);
        learns.learn([known(second)]);
        // What is looked up without any secret takes none away.
        hide(&Redactor::default());
        let logged = redacted(&format!("{first} {second}"), Scope::Outside);
        assert_eq!(logged, "[redacted: KEY] [redacted: KEY]");
    }
}
