//! The session on the screen and the way to it, and those before it that are being closed.

use std::sync::Arc;

use neco_proto::Client;
use tokio::task::JoinHandle;

use super::sender::Sender;
use crate::host::Host;

/// The session on the screen, once one is open.
#[derive(Default)]
pub(super) struct ShownSession {
    open: Option<(Arc<dyn Client>, Sender)>,
    closing: Vec<JoinHandle<()>>,
}

impl ShownSession {
    /// Whether there is one.
    pub(super) fn is_open(&self) -> bool {
        self.open.is_some()
    }

    /// The session.
    pub(super) fn client(&self) -> Option<&Arc<dyn Client>> {
        self.open.as_ref().map(|(client, _)| client)
    }

    /// The way to it.
    pub(super) fn sender(&self) -> Option<&Sender> {
        self.open.as_ref().map(|(_, sender)| sender)
    }

    /// Another session takes its place. Says whether there was one, which is closed when it has taken what was sent.
    pub(super) fn replace(&mut self, client: Arc<dyn Client>, sender: Sender, host: &Arc<dyn Host>) -> bool {
        let Some((before, sender)) = self.open.replace((client, sender)) else { return false };
        let host = Arc::clone(host);
        self.closing.push(tokio::spawn(async move {
            sender.finish().await;
            host.close(before).await;
        }));
        true
    }

    /// Closes it, and waits for those before it.
    pub(super) async fn close(&mut self, host: &dyn Host) {
        if let Some((client, sender)) = self.open.take() {
            sender.finish().await;
            host.close(client).await;
        }
        for closing in self.closing.drain(..) {
            // A task that panicked has nothing more to write.
            let _ = closing.await;
        }
    }
}
