//! What is to be known of the folder that a session goes on in.

use neco_proto::app::history::PlaceNote;

/// In words.
pub fn words(note: &PlaceNote) -> String {
    match note {
        PlaceNote::Moved { from, folder } => format!("the session's folder was {from}; it goes on in {folder}"),
        PlaceNote::MadeAgain { folder } => format!("the session's worktree was made again, {folder}"),
        PlaceNote::Replaced { folder } => format!(
            "{folder} is another folder than the one the session worked in; should that have been moved, go on there"
        ),
    }
}
