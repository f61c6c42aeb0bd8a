//! What only whoever may do everything says to a session: from then on less is asked, or more can be done, than its
//! settings and the sandbox allow.

use neco_proto::app::{AppError, Trouble};
use neco_proto::event::PermissionRequest;
use neco_proto::{Answer, ApprovalMode, Client, ClientError, Command, Decision, Query, Reply, Risk, SessionSnapshot};

/// Why a command is refused to whoever may not do everything; nothing where it loosens nothing. What is asked about is
/// looked up in the session: whoever answers may name any call.
pub(super) async fn refused(client: &dyn Client, command: &Command) -> Result<Option<AppError>, ClientError> {
    let why = match command {
        Command::SetApproval { approval } => asks_less(client, *approval).await?,
        Command::Answer { reply: Reply::AcceptPlan { approval: Some(approval), .. }, .. } => {
            asks_less(client, *approval).await?
        }
        Command::CommandMessage { allow, .. } if !allow.is_empty() => Some("it allows calls that are asked about"),
        Command::Approve { decision: Decision::Reject { .. }, .. } => None,
        Command::Approve { decision: Decision::Always, .. } => Some("it keeps a rule for good"),
        Command::Approve { call_id, decision: Decision::Once | Decision::Session | Decision::Edit { .. } } => {
            let waits = snapshot(client).await?.pending.into_iter().find(|asked| asked.call_id == *call_id);
            let nothing = || ClientError::Refused(format!("call {call_id} does not wait for an approval"));
            reaches_out(&waits.ok_or_else(nothing)?)
        }
        _ => None,
    };
    let refused = |why: &str| {
        AppError::new(Trouble::NotAllowed, format!("this is not for whoever may only steer: {why}"))
            .hint("Say it with an admin token, or at the machine of the server.")
    };
    Ok(why.map(refused))
}

/// Whether a session would ask about less.
async fn asks_less(client: &dyn Client, wanted: ApprovalMode) -> Result<Option<&'static str>, ClientError> {
    Ok((wanted < snapshot(client).await?.approval).then_some("the session would ask about less than now"))
}

/// Whether a yes gives more than work in the folder: what is sensitive there, files outside of it, or a command that
/// nothing holds. Whoever can do that can have the admin's token, too.
fn reaches_out(asked: &PermissionRequest) -> Option<&'static str> {
    match (asked.risk, asked.sandboxed) {
        (Risk::Critical, _) => Some("a yes to a call of critical risk opens what is closed otherwise"),
        (_, Some(false)) => Some("a command outside of the sandbox can do all that the server's account can"),
        (Risk::Safe | Risk::Low | Risk::Medium | Risk::High, Some(true) | None) => None,
    }
}

async fn snapshot(client: &dyn Client) -> Result<SessionSnapshot, ClientError> {
    match client.ask(Query::Snapshot).await? {
        Answer::Snapshot(snapshot) => Ok(snapshot),
        _ => Err(ClientError::Refused("the session does not say how it stands".to_owned())),
    }
}
