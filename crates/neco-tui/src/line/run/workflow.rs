//! A workflow at work: draws what happens, asks the person, ends with the workflow.

use std::io;
use std::sync::Arc;

use neco_proto::app::AppError;
use neco_proto::clean::clean_line;
use neco_proto::event::{WorkflowGraph, WorkflowState, WorkflowUpdate};
use neco_proto::{Answer, Client, ClientError, Command, EventBody, Query, Seq, SessionId, WorkflowId};
use neco_view::paint::colour::Paint;
use neco_view::paint::text::end::refused;
use neco_view::paint::text::workflow::{outcome as output, tree};
use serde_json::json;
use tokio::runtime::Runtime;
use tokio::sync::mpsc::Receiver;

use super::exit::Exit;
use super::outcome::Outcome;
use super::see::{Run, RunUi, window_on};
use crate::line::print::Printer;
use crate::line::signals::Signal;
use crate::line::{LineWindow, LoopEvent, say};

/// Sends `command`, then draws and asks until the workflow `id` is over, or the next one that begins where it is not
/// known.
pub fn until_over<W: Future<Output = ()> + Send + 'static>(
    runtime: &Runtime,
    run: Run<W>,
    ui: RunUi,
    command: Command,
    id: Option<WorkflowId>,
) -> Result<Exit, AppError> {
    let (session, client) = (run.id, Arc::clone(&run.client));
    let (window, mut happenings, stopped) = window_on(runtime, run, (ui.printer, ui.person), ui.quit)?;
    let after = window.send(command)?.seq;
    let mut following = Following { window, id, after, outcome: Outcome::default(), ended: None };
    let lost = following.until_over(&mut happenings);
    let (state, id) = match (following.ended, lost) {
        (Some(ended), _) => ended,
        (None, lost) => return Err(lost.unwrap_or(ClientError::Gone).into()),
    };
    let Following { mut window, outcome, .. } = following;
    let printer = window.close();
    let exit = exit(state, outcome.was_refused(), stopped.get().copied());
    if let Some(graph) = runtime.block_on(graph(client.as_ref(), id)) {
        tell(&graph, session, &outcome, printer).map_err(|error| say::unwritten(&error))?;
    }
    let calls: Vec<String> = outcome.denials.iter().map(|denial| denial.summary.clone()).collect();
    if let Some(refused) = refused(&calls) {
        let why = outcome.denials.last().map(|denial| denial.reason.as_str()).unwrap_or_default();
        say::note(&clean_line(&format!("{refused}: {why}")));
    }
    Ok(exit)
}

struct Following {
    window: LineWindow,
    id: Option<WorkflowId>,
    /// What happened up to here happened before.
    after: Seq,
    outcome: Outcome,
    ended: Option<(WorkflowState, WorkflowId)>,
}

impl Following {
    fn until_over(&mut self, happenings: &mut Receiver<LoopEvent>) -> Option<ClientError> {
        let mut told_unread = false;
        while self.ended.is_none() {
            match happenings.blocking_recv() {
                Some(LoopEvent::Event(event)) => {
                    if let EventBody::WorkflowUpdate(update) = &event.body
                        && event.seq > self.after
                    {
                        self.note(update);
                    }
                    self.outcome.apply(&event);
                    self.window.event(event);
                }
                Some(LoopEvent::Typed(number, typed)) => self.window.typed(number, typed),
                Some(LoopEvent::Tick) => self.window.tick(),
                Some(LoopEvent::Stopped(signal)) => self.window.note(match signal {
                    Signal::Interrupt => "interrupting… press Ctrl-C again to quit",
                    Signal::Terminate | Signal::HangUp => "interrupting…",
                }),
                Some(LoopEvent::Lost(error)) => return Some(error),
                Some(LoopEvent::Over) | None => return None,
                Some(LoopEvent::Leave { .. }) => {}
            }
            if self.window.unread().is_some() && !std::mem::replace(&mut told_unread, true) {
                // A session that is gone has stopped its work.
                let _ = self.window.send(Command::StopAll);
            }
        }
        None
    }

    fn note(&mut self, update: &WorkflowUpdate) {
        let id = *self.id.get_or_insert(update.workflow_id);
        if id == update.workflow_id && update.state != WorkflowState::Running {
            self.ended = Some((update.state, id));
        }
    }
}

async fn graph(client: &dyn Client, id: WorkflowId) -> Option<WorkflowGraph> {
    match client.ask(Query::Workflows).await {
        Ok(Answer::Workflows { workflows }) => workflows.into_iter().find(|graph| graph.workflow_id == id),
        Ok(_) | Err(_) => None,
    }
}

/// What is said at the very end: what came of it on stdout, how it went on stderr.
fn tell(graph: &WorkflowGraph, session: SessionId, outcome: &Outcome, printer: &Printer) -> io::Result<()> {
    match printer {
        Printer::Text(_) => {
            say::plain(&tree(graph, Paint::new(false)));
            say::out(&output(graph))
        }
        Printer::Json(_) => {
            let mut value = json!(graph);
            if let Some(fields) = value.as_object_mut() {
                fields.insert("session_id".to_owned(), json!(session));
                fields.insert("permission_denials".to_owned(), json!(outcome.denials));
            }
            say::out(&format!("{value}\n"))
        }
        Printer::StreamJson(_) | Printer::Claude(_) => Ok(()),
    }
}

/// A workflow whose last wishes were refused did less than it says, however it stands.
fn exit(state: WorkflowState, refused: bool, stopped: Option<Signal>) -> Exit {
    match state {
        WorkflowState::Completed | WorkflowState::Partly | WorkflowState::Failed if refused => Exit::Refused,
        WorkflowState::Completed => Exit::Done,
        WorkflowState::Partly | WorkflowState::Failed | WorkflowState::Running => Exit::Failed,
        WorkflowState::Cancelled | WorkflowState::Interrupted => Exit::Stopped(stopped.unwrap_or(Signal::Interrupt)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_refused_is_told_by_the_exit_code_unless_it_was_stopped() {
        let code = |state, refused| exit(state, refused, None).number();
        assert_eq!(code(WorkflowState::Completed, false), 0);
        assert_eq!((code(WorkflowState::Completed, true), code(WorkflowState::Failed, true)), (3, 3));
        assert_eq!((code(WorkflowState::Failed, false), code(WorkflowState::Partly, false)), (1, 1));
        assert_eq!(code(WorkflowState::Interrupted, true), 130);
    }
}
