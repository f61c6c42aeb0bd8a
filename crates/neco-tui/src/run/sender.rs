//! Commands go to the session in their order, but none waits long for another: Esc is heard behind anything.

use std::sync::Arc;
use std::time::Duration;

use futures::StreamExt;
use futures::future::BoxFuture;
use futures::stream::FuturesUnordered;
use neco_proto::{Client, ClientError, Command};
use tokio::sync::mpsc;

use crate::update::News;

/// How long the next command waits for the one before it.
const PATIENCE: Duration = Duration::from_millis(30);

/// What came of a command: why it was refused, and what it was to say.
type Outcome = Result<(), (ClientError, Option<String>)>;

/// The way to a session.
#[derive(Clone)]
pub(super) struct Sender {
    commands: mpsc::UnboundedSender<Command>,
}

impl Sender {
    /// To `client`; what is refused is told as news.
    pub(super) fn new(client: Arc<dyn Client>, tell: impl Fn(News) + Send + Sync + 'static) -> Self {
        let (commands, taken) = mpsc::unbounded_channel();
        tokio::spawn(hand_over(client, taken, tell));
        Self { commands }
    }

    /// Sends a command.
    pub(super) fn send(&self, command: Command) {
        // The task ends only when the sender does.
        let _ = self.commands.send(command);
    }
}

async fn hand_over(
    client: Arc<dyn Client>,
    mut commands: mpsc::UnboundedReceiver<Command>,
    tell: impl Fn(News) + Send + Sync + 'static,
) {
    let mut late: FuturesUnordered<BoxFuture<'static, Outcome>> = FuturesUnordered::new();
    let report = |outcome: Outcome| {
        if let Err((error, unsent)) = outcome {
            tell(News::Refused(error, unsent));
        }
    };
    loop {
        tokio::select! {
            biased;
            command = commands.recv() => {
                let Some(command) = command else { return };
                let mut sending = hand(Arc::clone(&client), command);
                match tokio::time::timeout(PATIENCE, &mut sending).await {
                    Ok(outcome) => report(outcome),
                    Err(_) => late.push(sending),
                }
            }
            Some(outcome) = late.next(), if !late.is_empty() => report(outcome),
        }
    }
}

fn hand(client: Arc<dyn Client>, command: Command) -> BoxFuture<'static, Outcome> {
    let unsent = match &command {
        Command::UserMessage { content, .. } => Some(content.clone()),
        Command::Steer { text } => Some(text.clone()),
        _ => None,
    };
    Box::pin(async move { client.send(command).await.map(drop).map_err(|error| (error, unsent)) })
}

#[cfg(test)]
mod tests {
    use std::sync::Mutex;

    use futures::FutureExt;
    use neco_proto::{Answer, EventStream, Query, Receipt};

    use super::*;

    /// Never takes a message, and takes everything else at once.
    #[derive(Default)]
    struct Stuck(Mutex<Vec<Command>>, tokio::sync::Notify);

    impl Client for Stuck {
        fn send(&self, command: Command) -> BoxFuture<'_, Result<Receipt, ClientError>> {
            async move {
                if matches!(command, Command::UserMessage { .. }) {
                    std::future::pending::<()>().await;
                }
                self.0.lock().unwrap().push(command);
                self.1.notify_one();
                Ok(Receipt { seq: 0, message_id: None })
            }
            .boxed()
        }

        fn events(&self, _since: u64) -> EventStream {
            futures::stream::pending().boxed()
        }

        fn ask(&self, _query: Query) -> BoxFuture<'_, Result<Answer, ClientError>> {
            async { Err(ClientError::Gone) }.boxed()
        }
    }

    #[tokio::test]
    async fn esc_overtakes_a_session_that_takes_nothing() {
        let client = Arc::new(Stuck::default());
        let sender = Sender::new(Arc::clone(&client) as Arc<dyn Client>, |_| {});
        sender.send(Command::UserMessage { content: "hello".into(), attachments: Vec::new() });
        sender.send(Command::Cancel);
        client.1.notified().await;
        assert_eq!(*client.0.lock().unwrap(), [Command::Cancel]);
    }
}
