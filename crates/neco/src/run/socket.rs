//! Windows of other processes on the session that this one has open.

use std::sync::Arc;

use neco_app::services::Services;
use neco_config::Env;
use neco_proto::{Answer, Client, Query};
use neco_server::Server;
use neco_session::Session;
use tokio::runtime::Handle;

use crate::args::EverywhereArgs;
use crate::compose;

/// Windows of other processes. They come and go without anything being set up for them.
#[derive(Default)]
pub struct SocketServer {
    /// Nothing where they can't be served.
    server: Option<Server>,
}

impl SocketServer {
    /// Serves them from now on. Where that is not possible the session works all the same, alone.
    #[must_use]
    pub fn serve(
        runtime: &Handle,
        session: &Session,
        services: &Services,
        everywhere: &EverywhereArgs,
        env: &Env,
    ) -> Self {
        let _entered = runtime.enter();
        let (client, app) = (Arc::new(session.clone()), Arc::new(services.app(env, &everywhere.overrides)));
        let opened = Server::open(client, app, session.id(), &compose::sockets(env), env!("CARGO_PKG_VERSION"));
        if let Err(error) = &opened {
            tracing::warn!(%error, "other windows can't attach to the session");
        }
        Self { server: opened.ok() }
    }

    /// Whether the agent, which was done a moment ago, works on something that another window said.
    /// When it does not, nothing more is taken of them.
    pub async fn go_on(&self, session: &Session) -> bool {
        let Some(server) = &self.server else { return false };
        if !server.hold().await {
            return false;
        }
        // The agent answers this after all that it was told before, so what it does then is what follows from that.
        let _ = session.ask(Query::Context).await;
        let snapshot = session.ask(Query::Snapshot).await;
        let busy = matches!(snapshot, Ok(Answer::Snapshot(snapshot)) if snapshot.state.is_at_work());
        if busy {
            server.release().await;
        }
        busy
    }

    /// Takes no more windows; before the session ends.
    pub fn leave(&mut self) {
        if let Some(server) = &mut self.server {
            server.leave();
        }
    }

    /// Tells those that are left of the end; after the session has ended.
    pub async fn end(self) {
        if let Some(server) = self.server {
            server.end().await;
        }
    }
}
