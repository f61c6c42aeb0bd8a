//! Runs every check.

use std::sync::Arc;

use super::{catalog, forks, log, removal, search};
use crate::catalog::Catalog;
use crate::error::StoreError;
use crate::log::EventLog;

/// Runs every check on the store that `open` opens; it is opened again to see what has remained, while
/// the store it gave before is already dropped.
/// The error is whatever the store answers where it should not.
///
/// # Panics
/// When the store does not do what it should.
pub async fn check<S: EventLog + Catalog + 'static>(open: impl AsyncFn() -> S) -> Result<(), StoreError> {
    let store = open().await;
    log::every_type_round_trips(&store).await?;
    log::big_strings_round_trip(&store).await?;
    log::only_the_next_event_is_taken(&store).await?;
    log::a_refused_append_leaves_nothing(&store).await?;
    log::since_and_limit(&store).await?;
    log::unknown_sessions(&store).await?;
    log::soon_is_readable_at_once(&store).await?;
    log::sessions_side_by_side(&store).await?;
    log::a_hundred_thousand_events(&store).await?;
    log::one_writer_at_a_time(&store).await?;
    catalog::find_by_prefix(&store).await?;
    catalog::list_by_last_use(&store).await?;
    catalog::create_and_rename(&store).await?;
    catalog::messages_are_counted(&store).await?;
    catalog::single_requests_are_marked(&store).await?;
    forks::a_fork_begins_as_its_parent(&store).await?;
    forks::forks_of_forks(&store).await?;
    forks::what_can_not_be_forked(&store).await?;
    removal::nothing_is_left(&store).await?;
    removal::forks_keep_what_they_need(&store).await?;
    removal::a_chain_of_forks_goes_with_its_last(&store).await?;
    removal::old_sessions_are_pruned(&store).await?;
    search::all_words_are_found(&store).await?;
    search::what_nobody_said_is_not_found(&store).await?;
    search::by_folder_and_time(&store).await?;
    search::page_by_page(&store).await?;
    search::what_changes_is_found_as_it_is(&store).await?;
    let own = Arc::new(open().await);
    log::what_is_awaited_keeps_its_place(&own).await?;
    log::a_log_can_be_followed((own, store)).await?;
    log::everything_remains(&open).await
}
