//! Clients that come over HTTP: those of one token that ask for the same share the sessions that calls are made in.

use std::convert::Infallible;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use http::{Request, Response};
use http_body_util::Full;
use http_body_util::combinators::BoxBody;
use neco_proto::app::AppError;
use rmcp::transport::streamable_http_server::session::local::{LocalSessionManager, SessionConfig};
use rmcp::transport::{StreamableHttpServerConfig, StreamableHttpService};
use tokio_util::sync::CancellationToken;

use super::server::{McpServer, McpSetup, Says, Served};

/// How long a client of the older era may be silent, who did not say that it is gone; a task may say nothing for long.
const SILENCE: Duration = Duration::from_secs(24 * 60 * 60);

/// What clients over HTTP are served with.
pub(crate) struct HttpClients {
    served: Arc<Served>,
    service: StreamableHttpService<McpServer, LocalSessionManager>,
    over: CancellationToken,
}

impl HttpClients {
    /// Looks which tools there are. Bodies have at most so many bytes.
    pub async fn open(setup: McpSetup, says: Arc<dyn Says>, longest_body: usize) -> Result<Self, AppError> {
        let over = CancellationToken::new();
        let served = Served::open(setup, says, CancellationToken::new()).await?;
        let mut sessions = SessionConfig::default();
        sessions.keep_alive = Some(SILENCE);
        let mut manager = LocalSessionManager::default();
        manager.session_config = sessions;
        // Names and origins were looked at before.
        let config = StreamableHttpServerConfig::default()
            .disable_allowed_hosts()
            .with_max_request_body_bytes(longest_body)
            .with_cancellation_token(over.clone());
        let of_each = Arc::clone(&served);
        let service =
            StreamableHttpService::new(move || Ok(McpServer(Arc::clone(&of_each))), Arc::new(manager), config);
        Ok(Self { served, service, over })
    }

    /// Answers a request.
    pub async fn answer(&self, request: Request<Full<Bytes>>) -> Response<BoxBody<Bytes, Infallible>> {
        self.service.handle(request).await
    }

    /// Whether a request is answered, or a client waited for.
    pub fn is_at_work(&self) -> bool {
        self.served.is_at_work()
    }

    /// Stops everything that was begun, and closes every session.
    pub async fn end(&self) {
        self.over.cancel();
        self.served.end().await;
    }
}
