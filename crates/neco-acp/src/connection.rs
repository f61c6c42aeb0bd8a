//! The connection to an editor: which message is answered by what.
//!
//! Messages are taken in their order. What takes a while is answered beside it, so that a cancel is never behind a prompt.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use agent_client_protocol::v1::schema as acp;
use agent_client_protocol::v1::{ConnectionTo, Responder};
use agent_client_protocol::{
    Agent, Channel, Client as Editor, Error, JsonRpcResponse, on_receive_notification, on_receive_request,
};
use neco_proto::app::opening::OpenSession;
use neco_proto::app::{App, AppError};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio_util::sync::CancellationToken;

use crate::prompt::CheckPictures;
use crate::sessions::{Opening, Sessions, Which};
use crate::transport::{Room, read, write};
use crate::window::Past;

/// How long the last messages may take to be written once everything has ended.
const LAST_WORDS: Duration = Duration::from_millis(200);

/// What is served.
pub struct AcpSetup {
    /// The program.
    pub app: Arc<dyn App>,
    /// How sessions are opened; the folder of each is the editor's choice, this one says whose keys are set.
    pub wanted: OpenSession,
    /// Checks pictures that come with a message.
    pub pictures: CheckPictures,
    /// The version of the program.
    pub version: &'static str,
}

/// Serves an editor until its input ends or `stop` is set; then everything that it began is stopped, and its sessions
/// are handed back.
///
/// # Errors
/// When the streams can't be used.
pub async fn serve(
    setup: AcpSetup,
    input: impl AsyncRead + Send + 'static,
    output: impl AsyncWrite + Send + 'static,
    stop: CancellationToken,
) -> Result<(), AppError> {
    let room = Room::default();
    let sessions = Arc::new(Sessions::new(setup, room.clone()));
    let (agent, editor) = Channel::duplex();
    let (outgoing, incoming) = editor.into_parts();
    let mut written = tokio::spawn(write(outgoing, output, room));
    let of_connection = Arc::clone(&sessions);
    let mut connected = tokio::spawn(async move { connect(&of_connection, agent).await });
    tokio::select! {
        read = read(input, incoming) => if let Err(error) = read {
            tracing::error!(%error, "the editor can't be heard any more");
        },
        // Whoever does not listen any more is gone, too.
        _ = &mut written => {}
        ended = &mut connected => if let Ok(Err(error)) = ended {
            tracing::error!(%error, "the connection ended");
        },
        () = stop.cancelled() => {}
    }
    sessions.end().await;
    // What is said last is written, unless nobody reads it.
    if !written.is_finished() {
        let _ = tokio::time::timeout(LAST_WORDS, &mut written).await;
    }
    written.abort();
    connected.abort();
    Ok(())
}

async fn connect(sessions: &Arc<Sessions>, editor: Channel) -> Result<(), Error> {
    let of = || Arc::clone(sessions);
    let (initialize, authenticate, log_out, new, load, resume, fork) = (of(), of(), of(), of(), of(), of(), of());
    let (list, delete, close, prompt, cancel, mode, option) = (of(), of(), of(), of(), of(), of(), of());
    Agent
        .v1()
        .name("neco")
        .on_receive_request(
            async move |request: acp::InitializeRequest, responder, _cx| {
                responder.respond(initialize.initialize(request))
            },
            on_receive_request!(),
        )
        .on_receive_request(
            async move |request: acp::AuthenticateRequest, responder, _cx| {
                let sessions = Arc::clone(&authenticate);
                beside(&authenticate, responder, async move { sessions.authenticate(request).await })
            },
            on_receive_request!(),
        )
        .on_receive_request(
            async move |request: acp::LogoutRequest, responder, _cx| {
                let sessions = Arc::clone(&log_out);
                beside(&log_out, responder, async move { sessions.log_out(request).await })
            },
            on_receive_request!(),
        )
        .on_receive_request(
            async move |request: acp::NewSessionRequest, responder, cx: ConnectionTo<Editor>| {
                let acp::NewSessionRequest { cwd, additional_directories: also, mcp_servers: servers, .. } = request;
                let opening = Opening { which: Which::New, cwd, also, servers, past: Past::Known };
                open(&new, cx, responder, opening, |id, modes, options| {
                    acp::NewSessionResponse::new(id).modes(modes).config_options(options)
                })
            },
            on_receive_request!(),
        )
        .on_receive_request(
            async move |request: acp::LoadSessionRequest, responder, cx: ConnectionTo<Editor>| {
                let acp::LoadSessionRequest { session_id, cwd, additional_directories, mcp_servers, .. } = request;
                let known = known(session_id, cwd, additional_directories, mcp_servers);
                open(&load, cx, responder, Opening { past: Past::Shown, ..known }, |_, modes, options| {
                    acp::LoadSessionResponse::new().modes(modes).config_options(options)
                })
            },
            on_receive_request!(),
        )
        .on_receive_request(
            async move |request: acp::ResumeSessionRequest, responder, cx: ConnectionTo<Editor>| {
                let acp::ResumeSessionRequest { session_id, cwd, additional_directories, mcp_servers, .. } = request;
                let known = known(session_id, cwd, additional_directories, mcp_servers);
                open(&resume, cx, responder, known, |_, modes, options| {
                    acp::ResumeSessionResponse::new().modes(modes).config_options(options)
                })
            },
            on_receive_request!(),
        )
        .on_receive_request(
            async move |request: acp::ForkSessionRequest, responder, cx: ConnectionTo<Editor>| {
                let acp::ForkSessionRequest { session_id, cwd, additional_directories, mcp_servers, .. } = request;
                let which = Which::Fork(session_id.0.to_string());
                let known = known(session_id, cwd, additional_directories, mcp_servers);
                open(&fork, cx, responder, Opening { which, ..known }, |id, modes, options| {
                    acp::ForkSessionResponse::new(id).modes(modes).config_options(options)
                })
            },
            on_receive_request!(),
        )
        .on_receive_request(
            async move |request: acp::ListSessionsRequest, responder, _cx| {
                let sessions = Arc::clone(&list);
                beside(&list, responder, async move { sessions.list(request).await })
            },
            on_receive_request!(),
        )
        .on_receive_request(
            async move |request: acp::DeleteSessionRequest, responder, _cx| {
                let sessions = Arc::clone(&delete);
                beside(&delete, responder, async move {
                    sessions.delete(&request.session_id).await.map(|()| acp::DeleteSessionResponse::new())
                })
            },
            on_receive_request!(),
        )
        .on_receive_request(
            async move |request: acp::CloseSessionRequest, responder, _cx| {
                let sessions = Arc::clone(&close);
                beside(&close, responder, async move {
                    sessions.close_soon(request.session_id).await;
                    Ok(acp::CloseSessionResponse::new())
                })
            },
            on_receive_request!(),
        )
        .on_receive_request(
            async move |request: acp::PromptRequest, responder: Responder<acp::PromptResponse>, _cx| {
                prompt.prompt(request, responder)
            },
            on_receive_request!(),
        )
        .on_receive_notification(
            async move |notification: acp::CancelNotification, _cx| {
                cancel.cancel(&notification.session_id);
                Ok(())
            },
            on_receive_notification!(),
        )
        .on_receive_request(
            async move |request: acp::SetSessionModeRequest, responder, _cx| {
                mode.set_mode(&request, |set| {
                    respond(responder, set.map(|_| acp::SetSessionModeResponse::new()));
                });
                Ok(())
            },
            on_receive_request!(),
        )
        .on_receive_request(
            async move |request: acp::SetSessionConfigOptionRequest, responder, _cx| {
                option.set_option(&request, |set| {
                    respond(responder, set.map(acp::SetSessionConfigOptionResponse::new));
                });
                Ok(())
            },
            on_receive_request!(),
        )
        .connect_to(editor)
        .await
}

/// A session that is there, whose past the editor knows.
fn known(id: acp::SessionId, cwd: PathBuf, also: Vec<PathBuf>, servers: Vec<acp::McpServer>) -> Opening {
    Opening { which: Which::Known(id.0.to_string()), cwd, also, servers, past: Past::Known }
}

/// Answers beside the messages that follow, unless the editor takes the request back.
fn beside<T: JsonRpcResponse>(
    sessions: &Sessions,
    responder: Responder<T>,
    work: impl Future<Output = Result<T, Error>> + Send + 'static,
) -> Result<(), Error> {
    let taken_back = responder.cancellation();
    sessions.begin(async move {
        let answer = taken_back.run_until_cancelled(work).await;
        respond(responder, answer);
    });
    Ok(())
}

/// Opens a session beside the messages that follow. What the past holds is told before the answer, everything else behind
/// it; nothing stays open of what the editor takes back.
fn open<T: JsonRpcResponse>(
    sessions: &Arc<Sessions>,
    editor: ConnectionTo<Editor>,
    responder: Responder<T>,
    opening: Opening,
    answer: fn(acp::SessionId, acp::SessionModeState, Vec<acp::SessionConfigOption>) -> T,
) -> Result<(), Error> {
    let (taken_back, all) = (responder.cancellation(), Arc::clone(sessions));
    sessions.begin(async move {
        let mut opened = match taken_back.run_until_cancelled(all.open(opening, editor)).await {
            Ok(opened) => opened,
            Err(error) => return respond(responder, Err(error)),
        };
        match taken_back.run_until_cancelled(opened.shown()).await {
            Ok((modes, options)) => {
                respond(responder, Ok(answer(opened.id(), modes, options)));
                all.introduce(opened);
            }
            Err(error) => {
                all.take_back(opened).await;
                respond(responder, Err(error));
            }
        }
    });
    Ok(())
}

fn respond<T: JsonRpcResponse>(responder: Responder<T>, answer: Result<T, Error>) {
    if let Err(error) = responder.respond_with_result(answer) {
        tracing::debug!(%error, "nobody waits for the answer");
    }
}
