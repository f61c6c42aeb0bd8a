//! What is done to a session that is chosen in a list, whether it is open here or not.

use neco_proto::app::sessions::{ForkSession, RemoveSessions};
use neco_proto::app::{App as Program, AppError, Caller};
use neco_proto::clean::clean_line;
use neco_view::short_id::short_id;

use crate::host::SessionOrder;

/// Carries it out; gives what is said of it.
pub(super) async fn carry_out(
    program: &dyn Program,
    folder: String,
    order: SessionOrder,
    session: String,
) -> Result<String, AppError> {
    match order {
        SessionOrder::Fork => {
            let request = ForkSession { session: Some(session), folder, ..ForkSession::default() };
            let fork = program.ask(&Caller::person(), &request).await?.session;
            Ok(format!("Forked: {} is the new session", short_id(fork.id)))
        }
        SessionOrder::Delete => {
            let request = RemoveSessions { sessions: vec![session], dry_run: false };
            let removed = program.ask(&Caller::person(), &request).await?;
            let titles: Vec<String> = removed.sessions.iter().map(|session| clean_line(&session.title)).collect();
            removed.stopped_by.map_or_else(|| Ok(format!("Deleted: {}", titles.join(", "))), Err)
        }
    }
}
