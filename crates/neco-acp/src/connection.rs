//! The connection to an editor: which message is answered by what.
//!
//! Messages are taken in their order. What takes a while is answered beside it, so that a cancel is never behind a prompt.

use std::sync::Arc;

use agent_client_protocol::v1::schema as acp;
use agent_client_protocol::v1::{ConnectionTo, Responder};
use agent_client_protocol::{
    Agent, ByteStreams, Client as Editor, Error, JsonRpcResponse, on_receive_notification, on_receive_request,
};
use neco_proto::app::opening::{OpenSession, WhichSession};
use neco_proto::app::{App, AppError};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio_util::compat::{TokioAsyncReadCompatExt, TokioAsyncWriteCompatExt};
use tokio_util::sync::CancellationToken;

use crate::sessions::{Asks, Opened, Past, Sessions};

/// What is served.
pub struct AcpSetup {
    /// The program.
    pub app: Arc<dyn App>,
    /// How sessions are opened; the folder of each is the editor's choice, this one says whose keys are set.
    pub wanted: OpenSession,
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
    let sessions = Arc::new(Sessions::new(setup));
    tokio::select! {
        served = connect(&sessions, input, output) => if let Err(error) = served {
            tracing::error!(%error, "the connection ended");
        },
        () = stop.cancelled() => {}
    }
    sessions.end().await;
    Ok(())
}

async fn connect(
    sessions: &Arc<Sessions>,
    input: impl AsyncRead + Send + 'static,
    output: impl AsyncWrite + Send + 'static,
) -> Result<(), Error> {
    let of = || Arc::clone(sessions);
    let (initialize, authenticate, new, load, resume) = (of(), of(), of(), of(), of());
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
            async move |request: acp::NewSessionRequest, responder, cx: ConnectionTo<Editor>| {
                let sessions = Arc::clone(&new);
                let opens = async move {
                    let acp::NewSessionRequest { cwd, additional_directories: also, mcp_servers: servers, .. } =
                        request;
                    let asks = Asks { cwd, also, servers };
                    let (id, opened) = sessions.open(WhichSession::New, asks, Past::Known, cx).await?;
                    let (modes, options) = (opened.modes.clone(), opened.options.clone());
                    Ok((acp::NewSessionResponse::new(id).modes(modes).config_options(options), opened))
                };
                opened(&new, responder, opens)
            },
            on_receive_request!(),
        )
        .on_receive_request(
            async move |request: acp::LoadSessionRequest, responder, cx: ConnectionTo<Editor>| {
                let sessions = Arc::clone(&load);
                let opens = async move {
                    let acp::LoadSessionRequest {
                        session_id,
                        cwd,
                        additional_directories: also,
                        mcp_servers: servers,
                        ..
                    } = request;
                    let asks = Asks { cwd, also, servers };
                    let which = WhichSession::Id(session_id.0.to_string());
                    let (_, opened) = sessions.open(which, asks, Past::Shown, cx).await?;
                    let (modes, options) = (opened.modes.clone(), opened.options.clone());
                    Ok((acp::LoadSessionResponse::new().modes(modes).config_options(options), opened))
                };
                opened(&load, responder, opens)
            },
            on_receive_request!(),
        )
        .on_receive_request(
            async move |request: acp::ResumeSessionRequest, responder, cx: ConnectionTo<Editor>| {
                let sessions = Arc::clone(&resume);
                let opens = async move {
                    let acp::ResumeSessionRequest {
                        session_id,
                        cwd,
                        additional_directories: also,
                        mcp_servers: servers,
                        ..
                    } = request;
                    let asks = Asks { cwd, also, servers };
                    let which = WhichSession::Id(session_id.0.to_string());
                    let (_, opened) = sessions.open(which, asks, Past::Known, cx).await?;
                    let (modes, options) = (opened.modes.clone(), opened.options.clone());
                    Ok((acp::ResumeSessionResponse::new().modes(modes).config_options(options), opened))
                };
                opened(&resume, responder, opens)
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
                let sessions = Arc::clone(&mode);
                beside(&mode, responder, async move {
                    let set = sessions.set_mode(&request.session_id, &request.mode_id).await;
                    set.map(|()| acp::SetSessionModeResponse::new())
                })
            },
            on_receive_request!(),
        )
        .on_receive_request(
            async move |request: acp::SetSessionConfigOptionRequest, responder, _cx| {
                let sessions = Arc::clone(&option);
                beside(&option, responder, async move {
                    sessions.set_option(request).await.map(acp::SetSessionConfigOptionResponse::new)
                })
            },
            on_receive_request!(),
        )
        .connect_to(ByteStreams::new(output.compat_write(), input.compat()))
        .await
}

/// Answers beside the messages that follow, unless the editor takes the request back.
fn beside<T: JsonRpcResponse>(
    sessions: &Sessions,
    responder: Responder<T>,
    work: impl Future<Output = Result<T, Error>> + Send + 'static,
) -> Result<(), Error> {
    let taken_back = responder.cancellation();
    sessions.underway.spawn(async move {
        let answer = taken_back.run_until_cancelled(work).await;
        respond(responder, answer);
    });
    Ok(())
}

/// The same for a session that is opened, of which more is told behind the answer.
fn opened<T: JsonRpcResponse>(
    sessions: &Arc<Sessions>,
    responder: Responder<T>,
    opens: impl Future<Output = Result<(T, Opened), Error>> + Send + 'static,
) -> Result<(), Error> {
    let (taken_back, all) = (responder.cancellation(), Arc::clone(sessions));
    sessions.underway.spawn(async move {
        match taken_back.run_until_cancelled(opens).await {
            Ok((answer, opened)) => {
                respond(responder, Ok(answer));
                all.introduce(opened).await;
            }
            Err(error) => respond(responder, Err(error)),
        }
    });
    Ok(())
}

fn respond<T: JsonRpcResponse>(responder: Responder<T>, answer: Result<T, Error>) {
    if let Err(error) = responder.respond_with_result(answer) {
        tracing::debug!(%error, "nobody waits for the answer");
    }
}
