//! Runs every check.

use super::{catalog, log};
use crate::catalog::Catalog;
use crate::error::StoreError;
use crate::log::EventLog;

/// Runs every check on the store that `open` opens; it is opened again to see what has remained, while
/// the store it gave before is already dropped.
///
/// # Errors
/// Whatever the store answers where it should not.
///
/// # Panics
/// When the store does not do what it should.
pub async fn check<S: EventLog + Catalog>(open: impl AsyncFn() -> S) -> Result<(), StoreError> {
    let store = open().await;
    log::every_type_round_trips(&store).await?;
    log::only_the_next_event_is_taken(&store).await?;
    log::a_refused_append_leaves_nothing(&store).await?;
    log::since_and_limit(&store).await?;
    log::unknown_sessions(&store).await?;
    log::soon_is_readable_at_once(&store).await?;
    log::sessions_side_by_side(&store).await?;
    log::a_hundred_thousand_events(&store).await?;
    catalog::find_by_prefix(&store).await?;
    catalog::list_by_last_use(&store).await?;
    catalog::create_and_rename(&store).await?;
    drop(store);
    log::everything_remains(&open).await
}
