//! Tools for whoever is no model of this program. Such a caller stands in the place of a session's model, so that its
//! calls go the way of all calls: checked, judged, asked about, kept, boxed and written down.

use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};

use futures::{StreamExt, stream};
use neco_model::{Delta, DeltaStream, FinishReason, Provider, Request};
use neco_proto::app::AppError;
use neco_proto::app::tools::{CALLER_MODEL, CallTool, CalledTool, ListTools, OfferedTool, ToolList, ToolPicture};
use neco_proto::event::{CallStatus, ToolCallEnd};
use neco_proto::{Actor, CallId, Client, ClientError, Command, EventBody, Message, Part, Receipt};
use neco_safety::SideEffect;
use neco_safety::policy::ToolPattern;
use neco_session::Session;
use neco_toolkit::DynTool;
use tokio_util::sync::CancellationToken;

use crate::app::{LocalApp, StorelessApp};
use crate::error::{failed, invalid};
use crate::opening::on_thread;
use crate::services;

/// What the model of a session for calls says when a call is made.
const DONE: &str = "Done.";

/// What it says to whoever talks to it.
const NO_MODEL: &str = "This session makes the calls of a client, and no model answers in it. Choose a model to go on.";

pub(crate) async fn list(app: &StorelessApp, request: ListTools) -> Result<ToolList, AppError> {
    let app = app.clone();
    on_thread(move || listed(&app, request)).await
}

fn listed(app: &StorelessApp, request: ListTools) -> Result<ToolList, AppError> {
    let folder = Path::new(&request.folder);
    let settings = app.settings(folder)?.config.tools;
    let indexes = services::indexes(app.env.data_dir());
    let all = match request.all {
        true => services::all_tools(&settings, &indexes).following(app.own_workspace(folder)?.servers().plugged()),
        false => neco_tools::builtin::registry(&settings, &indexes),
    };
    let all = if settings.only.is_empty() { all } else { all.named(&settings.only) };
    let patterns: Vec<ToolPattern> = request.only.iter().map(|name| ToolPattern::new(name)).collect();
    let offered = || all.iter().filter(|tool| tool.is_offered());
    if let Some(none) = patterns.iter().find(|pattern| !offered().any(|tool| pattern.fits(tool.name()))) {
        let names: Vec<&str> = offered().map(|tool| tool.name()).collect();
        return Err(
            invalid(format!("there is no tool {none} to offer")).hint(format!("There are: {}", names.join(", ")))
        );
    }
    let is_wanted = |name: &str| patterns.is_empty() || patterns.iter().any(|pattern| pattern.fits(name));
    let tools = offered().filter(|tool| is_wanted(tool.name())).map(|tool| described(tool.as_ref())).collect();
    Ok(ToolList { tools })
}

fn described(tool: &dyn DynTool) -> OfferedTool {
    OfferedTool {
        name: tool.name().to_owned(),
        description: tool.description().to_owned(),
        schema: tool.schema().clone(),
        reads_only: tool.most_touch().changes_nothing(),
        network: tool.most_touch() == SideEffect::Network,
        origin: tool.origin().to_string(),
    }
}

pub(crate) async fn call(app: &LocalApp, by: Actor, request: CallTool) -> Result<CalledTool, AppError> {
    let open = app.open.find(&request.session).ok_or_else(|| invalid("the session is not open in this process"))?;
    let (session, calls) = open.for_calls()?;
    let stop = CancellationToken::new();
    let _stops = stop.clone().drop_guard();
    // It sees itself through: who drops the call stops it, and the next one begins when it is over.
    tokio::spawn(calls.make(session, by, request, stop)).await.map_err(failed)?
}

/// The calls that somebody outside makes in a session, where they stand in a model's place; clones are those of the
/// same session.
#[derive(Clone, Default)]
pub struct OutsideCalls(Arc<Desk>);

#[derive(Default)]
struct Desk {
    next: Mutex<Next>,
    /// Held by whoever makes a call.
    turn: tokio::sync::Mutex<()>,
}

/// The call that is to be made when the model is asked.
#[derive(Default)]
enum Next {
    #[default]
    Nothing,
    Call(Asked),
    /// It was made.
    Made,
}

struct Asked {
    id: CallId,
    tool: String,
    arguments: String,
}

impl OutsideCalls {
    fn put(&self, next: Next) -> Next {
        std::mem::replace(&mut *self.0.next.lock().unwrap_or_else(PoisonError::into_inner), next)
    }

    /// Makes a call when those before it are over, and sees it through.
    async fn make(
        self,
        session: Session,
        by: Actor,
        request: CallTool,
        stop: CancellationToken,
    ) -> Result<CalledTool, AppError> {
        let CallTool { call_id: id, tool, arguments, .. } = request;
        let waited = stop.run_until_cancelled(self.0.turn.lock()).await;
        let _turn = waited.ok_or_else(|| failed("nobody waits for the call any more"))?;
        let said = Command::UserMessage { content: format!("Call {tool}"), attachments: Vec::new() };
        self.put(Next::Call(Asked { id: id.clone(), tool, arguments: arguments.to_string() }));
        let made = match session.send_as(by.clone(), said).await {
            Ok(receipt) => see_through(&session, receipt, &id, &by, &stop).await,
            Err(error) => Err(error.into()),
        };
        // A hook may have ended the turn before the call was made.
        self.put(Next::Nothing);
        made
    }

    fn answer(&self) -> Vec<Delta> {
        let said = |words: &str| vec![Delta::Text(words.to_owned()), Delta::Finish(FinishReason::Stop)];
        let answer = match self.put(Next::Made) {
            Next::Call(Asked { id, tool, arguments }) => vec![
                Delta::CallStart { index: 0, id: Some(id.to_string()), name: tool },
                Delta::CallArguments { index: 0, text: arguments },
                Delta::Finish(FinishReason::ToolCalls),
            ],
            Next::Made => said(DONE),
            Next::Nothing => {
                self.put(Next::Nothing);
                said(NO_MODEL)
            }
        };
        [vec![Delta::Begin { model: CALLER_MODEL.to_owned() }], answer].concat()
    }
}

/// It says what is called from outside, and nothing by itself.
impl Provider for OutsideCalls {
    fn label(&self) -> &str {
        CALLER_MODEL
    }

    fn scripted(&self) -> bool {
        true
    }

    fn stream(&self, _: Request) -> DeltaStream {
        let calls = self.clone();
        // A call is taken when the answer is really wanted.
        stream::once(async move { stream::iter(calls.answer().into_iter().map(Ok)) }).flatten().boxed()
    }

    /// What is asked beside the conversation is no turn of it.
    fn whole(&self, _: Request) -> DeltaStream {
        let said = [Delta::Begin { model: CALLER_MODEL.to_owned() }, Delta::Text(DONE.to_owned())];
        stream::iter(said.into_iter().chain([Delta::Finish(FinishReason::Stop)]).map(Ok)).boxed()
    }
}

/// What came of the call that was said with this receipt, once the turn is over; `stop` cancels it.
async fn see_through(
    session: &Session,
    receipt: Receipt,
    id: &CallId,
    by: &Actor,
    stop: &CancellationToken,
) -> Result<CalledTool, AppError> {
    let mut events = session.events(receipt.seq);
    let (mut is_heard, mut is_told, mut called) = (false, false, None::<CalledTool>);
    loop {
        let event = tokio::select! {
            event = events.next() => event.unwrap_or(Err(ClientError::Gone))?,
            () = stop.cancelled(), if !is_told => {
                is_told = true;
                // A session that is gone has stopped its work.
                let _ = session.send_as(by.clone(), Command::Cancel).await;
                continue;
            }
        };
        match event.body {
            EventBody::Message(message) => match &mut called {
                Some(called) => called.pictures.extend(pictures(message)),
                None => is_heard |= receipt.message_id == Some(message.id),
            },
            EventBody::ToolCallEnd(end) if end.call_id == *id => called = Some(outcome(end)),
            EventBody::AgentComplete(complete) if is_heard => {
                let words = || failed(format!("the call was not made, the turn ended: {}", complete.reason));
                return called.ok_or_else(words);
            }
            // Nothing else says what came of it.
            _ => {}
        }
    }
}

fn outcome(end: ToolCallEnd) -> CalledTool {
    let ToolCallEnd { status, output, error_code, .. } = end;
    CalledTool { ok: status == CallStatus::Success, output, error_code, pictures: Vec::new() }
}

fn pictures(message: Message) -> impl Iterator<Item = ToolPicture> {
    message.parts.into_iter().filter_map(|part| match part {
        Part::Image { media_type, data } => Some(ToolPicture { media_type, data }),
        Part::Text { .. } | Part::Reasoning { .. } | Part::ToolCall(_) | Part::ToolResult(_) => None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_call_is_made_once_and_then_the_turn_is_over() {
        let calls = OutsideCalls::default();
        let says = |words: &str| calls.answer().contains(&Delta::Text(words.to_owned()));
        assert!(says(NO_MODEL), "nothing was called");
        assert!(says(NO_MODEL), "nor since");
        let asked = Asked { id: "c1".into(), tool: "grep".to_owned(), arguments: "{}".to_owned() };
        calls.put(Next::Call(asked));
        let start = Delta::CallStart { index: 0, id: Some("c1".to_owned()), name: "grep".to_owned() };
        let answer = calls.answer();
        assert!(
            answer.contains(&start) && answer.last() == Some(&Delta::Finish(FinishReason::ToolCalls)),
            "{answer:?}"
        );
        assert!(says(DONE) && says(DONE));
    }
}
