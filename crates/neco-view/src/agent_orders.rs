//! What a person asks of the agents of an open session, carried out.

use neco_proto::event::{AgentNode, AgentState};
use neco_proto::{Answer, Client, ClientError, Command, Query};

use crate::agent_ask::{self, AgentAsk, AgentAskError};
use crate::paint::colour::Paint;
use crate::paint::text::agents;

/// Why an order was not carried out.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum OrderError {
    /// Nobody is meant by it.
    #[error(transparent)]
    Ask(#[from] AgentAskError),
    /// The session does not take it.
    #[error(transparent)]
    Client(#[from] ClientError),
}

/// Carries it out; gives what is said about it. `lead` is what stands before such orders: `/agents`.
///
/// # Errors
/// When there is no such agent, or it can't be done now.
pub async fn carry_out(
    client: &dyn Client,
    ask: AgentAsk,
    lead: &str,
    width: usize,
    paint: Paint,
) -> Result<String, OrderError> {
    let nodes = nodes(client).await?;
    match ask {
        AgentAsk::Status { agent: None } => Ok(agents::open_tree(&nodes, root_does(client).await?, width, paint)),
        AgentAsk::Status { agent: Some(agent) } => Ok(agents::one(agent_ask::find(&nodes, &agent)?, &nodes)),
        AgentAsk::Order { agent, order } => {
            let node = agent_ask::find(&nodes, &agent)?;
            let words = agent_ask::taken(node, &order, lead);
            let command = Command::AgentCommand { agent_id: node.id, order };
            client.send(command).await?;
            Ok(words)
        }
    }
}

/// What the root of a session does now.
///
/// # Errors
/// When the session does not answer.
pub async fn root_does(client: &dyn Client) -> Result<AgentState, ClientError> {
    match client.ask(Query::Snapshot).await? {
        Answer::Snapshot(snapshot) => Ok(snapshot.state),
        _ => Err(ClientError::Refused("the session does not answer".to_owned())),
    }
}

/// The agents of a session, the root first.
///
/// # Errors
/// When the session does not answer.
pub async fn nodes(client: &dyn Client) -> Result<Vec<AgentNode>, ClientError> {
    match client.ask(Query::Tree).await? {
        Answer::Tree { nodes } => Ok(nodes),
        _ => Err(ClientError::Refused("the session does not answer".to_owned())),
    }
}
