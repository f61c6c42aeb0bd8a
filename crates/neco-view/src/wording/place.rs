//! What is to be known of the folder that a session goes on in.

use neco_proto::app::history::PlaceNote;

use super::told::NEWER;

/// In words.
pub fn words(note: &PlaceNote) -> String {
    match note {
        PlaceNote::Moved { from, folder } => format!("The session's folder was moved: {from} is {folder} now"),
        PlaceNote::Removed { folder } => {
            format!("The session's worktree was removed and is restored when the session is resumed: {folder}")
        }
        PlaceNote::MadeAgain { folder } => format!("The session's worktree was restored: {folder}"),
        PlaceNote::Replaced { folder } => {
            format!("The session did not work in {folder}; if its folder was moved, resume the session there")
        }
        PlaceNote::Other => format!("The session's folder {NEWER}"),
    }
}
