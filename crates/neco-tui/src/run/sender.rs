//! Commands go to the session in their order, but none waits long for another: Esc is heard behind anything.

use std::sync::Arc;
use std::time::Duration;

use futures::StreamExt;
use futures::future::BoxFuture;
use futures::stream::FuturesUnordered;
use neco_proto::{Client, ClientError, Command, MessageId, MessagePiece};
use tokio::sync::mpsc;
use tokio::task::JoinHandle;

use crate::update::{News, Unsent};

/// How long the next command waits for the one before it.
const PATIENCE: Duration = Duration::from_millis(30);

/// How long what was sent is waited for when the session is left.
const LEAVING: Duration = Duration::from_secs(2);

/// What came of a command: what the person is to know when it was refused.
type Outcome = Result<(), News>;

/// The way to a session.
pub(super) struct Sender {
    commands: mpsc::UnboundedSender<Command>,
    task: JoinHandle<()>,
}

impl Sender {
    /// To `client`; what is refused is told as news.
    pub(super) fn new(client: Arc<dyn Client>, tell: impl Fn(News) + Send + Sync + 'static) -> Self {
        // Unbounded: a person's keys fill it, none may be lost, and each leaves it after a moment at the latest.
        let (commands, taken) = mpsc::unbounded_channel();
        let task = tokio::spawn(hand_over(client, taken, tell));
        Self { commands, task }
    }

    /// Sends a command; whether there is still somebody who hands it over.
    pub(super) fn send(&self, command: Command) -> bool {
        self.commands.send(command).is_ok()
    }

    /// Nothing more is sent: waits until the session has taken what was, but not for one that takes nothing.
    pub(super) async fn finish(self) {
        drop(self.commands);
        // A task that panicked has nothing more to hand over.
        let _ = self.task.await;
    }
}

async fn hand_over(
    client: Arc<dyn Client>,
    mut commands: mpsc::UnboundedReceiver<Command>,
    tell: impl Fn(News) + Send + Sync + 'static,
) {
    let mut late: FuturesUnordered<BoxFuture<'static, Outcome>> = FuturesUnordered::new();
    let report = |outcome: Outcome| {
        if let Err(news) = outcome {
            tell(news);
        }
    };
    loop {
        tokio::select! {
            biased;
            command = commands.recv() => {
                let Some(command) = command else { break };
                let mut sending = hand(Arc::clone(&client), command);
                match tokio::time::timeout(PATIENCE, &mut sending).await {
                    Ok(outcome) => report(outcome),
                    Err(_) => late.push(sending),
                }
            }
            Some(outcome) = late.next(), if !late.is_empty() => report(outcome),
        }
    }
    let rest = async {
        while let Some(outcome) = late.next().await {
            report(outcome);
        }
    };
    let _ = tokio::time::timeout(LEAVING, rest).await;
}

fn hand(client: Arc<dyn Client>, command: Command) -> BoxFuture<'static, Outcome> {
    let not_taken = match &command {
        Command::UserMessage { content, attachments } => {
            NotTaken::Said(Unsent { text: content.clone(), pictures: attachments.clone() })
        }
        Command::Steer { text } => NotTaken::Said(Unsent { text: text.clone(), pictures: Vec::new() }),
        Command::CommandMessage { pieces, attachments, .. } => {
            NotTaken::Said(Unsent { text: MessagePiece::joined(pieces), pictures: attachments.clone() })
        }
        Command::Approve { .. } | Command::Answer { .. } => NotTaken::Decided(Box::new(command.clone())),
        Command::Withdraw { message_ids } => NotTaken::Back(message_ids.clone()),
        Command::SetModel { model } => NotTaken::Written(format!("/model {model}")),
        _ => NotTaken::Other,
    };
    Box::pin(async move { client.send(command).await.map(drop).map_err(|error| not_taken.news(error)) })
}

/// What a command was about, should it be refused.
enum NotTaken {
    /// This was to be said.
    Said(Unsent),
    /// A question was answered so.
    Decided(Box<Command>),
    /// These were to be taken back.
    Back(Vec<MessageId>),
    /// A command that is written so.
    Written(String),
    /// Nothing that could be kept.
    Other,
}

impl NotTaken {
    fn news(self, error: ClientError) -> News {
        match self {
            Self::Said(unsent) => News::Refused(error, Some(unsent)),
            Self::Decided(answer) => News::NotDecided(error, answer),
            Self::Back(ids) => News::NotTakenBack(ids),
            Self::Written(line) => News::NotRun(error, line),
            Self::Other => News::Refused(error, None),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Mutex;

    use futures::FutureExt;
    use neco_proto::{Actor, Answer, EventStream, Query, Receipt};

    use super::*;

    /// Takes no message before it is let go, and everything else at once.
    #[derive(Default)]
    struct Stuck(Mutex<Vec<Command>>, tokio::sync::Notify, tokio::sync::Notify);

    impl Client for Stuck {
        fn send_as(&self, _: Actor, command: Command) -> BoxFuture<'_, Result<Receipt, ClientError>> {
            async move {
                if matches!(command, Command::UserMessage { .. }) {
                    self.2.notified().await;
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
        assert!(sender.send(Command::UserMessage { content: "hello".into(), attachments: Vec::new() }));
        assert!(sender.send(Command::Cancel));
        client.1.notified().await;
        assert_eq!(*client.0.lock().unwrap(), [Command::Cancel]);
        // What it has not taken yet is not lost with the window.
        let leaving = tokio::spawn(sender.finish());
        tokio::task::yield_now().await;
        client.2.notify_one();
        leaving.await.unwrap();
        assert_eq!(client.0.lock().unwrap().len(), 2);
    }
}
