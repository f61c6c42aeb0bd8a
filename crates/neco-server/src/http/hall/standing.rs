//! How a session stands, for whoever wants to put it away or to end.

use std::time::Duration;

use neco_proto::event::NodeState;
use neco_proto::{Answer, Client, ClientError, Query, SessionSnapshot};

/// How long a session may take to say how it stands.
const SOON: Duration = Duration::from_secs(5);

/// Whether an agent of a session works and waits for nobody.
pub(super) async fn is_at_work(client: &dyn Client) -> bool {
    match asked(client, Query::Snapshot).await {
        Some(Ok(Answer::Snapshot(snapshot))) if snapshot.agents > 0 => works_below(client, &snapshot).await,
        Some(Ok(Answer::Snapshot(snapshot))) => snapshot.state.is_at_work() && waiting(&snapshot) == 0,
        Some(Ok(_) | Err(_)) | None => false,
    }
}

/// Whether more agents work than there are questions to the person: one that asks works no further.
async fn works_below(client: &dyn Client, snapshot: &SessionSnapshot) -> bool {
    let Some(Ok(Answer::Tree { nodes })) = asked(client, Query::Tree).await else { return false };
    let works = nodes.iter().filter(|node| node.id != snapshot.root_agent);
    let works = works.filter(|node| matches!(node.state, NodeState::Created | NodeState::Running)).count();
    works + usize::from(snapshot.state.is_at_work()) > waiting(snapshot)
}

fn waiting(snapshot: &SessionSnapshot) -> usize {
    snapshot.pending.len() + snapshot.questions.len()
}

/// Whether nothing can be asked of a session any more.
pub(super) async fn is_gone(client: &dyn Client) -> bool {
    matches!(asked(client, Query::Snapshot).await, Some(Err(ClientError::Gone)))
}

/// Whether somebody works in a session or waits for a person.
pub(super) async fn is_busy(client: &dyn Client) -> bool {
    match asked(client, Query::Snapshot).await {
        Some(Ok(Answer::Snapshot(snapshot))) => {
            snapshot.state.is_at_work() || snapshot.agents > 0 || waiting(&snapshot) > 0
        }
        // Whoever does not answer may well be at work.
        None => true,
        Some(_) => false,
    }
}

/// What a session answers; nothing where it takes too long.
async fn asked(client: &dyn Client, query: Query) -> Option<Result<Answer, ClientError>> {
    tokio::time::timeout(SOON, client.ask(query)).await.ok()
}
