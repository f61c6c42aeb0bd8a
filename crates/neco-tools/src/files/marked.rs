//! What the model was shown with a mark in it must not be written back with the mark.

use neco_proto::ErrorCode;
use neco_safety::secrets::Redactor;
use neco_toolkit::{ToolError, taken_out};

/// Refuses text that holds the mark of a secret that was taken out, or that is the mark of what was taken out to make
/// room, unless the file has that very mark.
/// Fails with [`ErrorCode::InvalidArguments`], with what to do instead.
pub fn check(redactor: &Redactor, text: &str, old: &str, shown: &str) -> Result<(), ToolError> {
    if taken_out::is_mark(text) && !old.contains(text.trim()) {
        return Err(was_taken_out(text));
    }
    let Some(mark) = redactor.unseen_mark(text, old) else { return Ok(()) };
    let words = format!(
        "{mark} is not in {shown}: it stands for a secret that you are not shown. Writing it would destroy the \
         secret. Change only other parts of the file, so that this part stays as it is."
    );
    Err(ToolError::new(ErrorCode::InvalidArguments, words))
}

/// Refuses text that is nothing but the mark of what was taken out of an earlier call to make room.
/// Fails with [`ErrorCode::InvalidArguments`], with what to do instead.
pub fn check_whole(text: &str) -> Result<(), ToolError> {
    if taken_out::is_mark(text) { Err(was_taken_out(text)) } else { Ok(()) }
}

fn was_taken_out(text: &str) -> ToolError {
    let words = format!(
        "{} is no text of yours: it stands in an earlier call for a text that was taken out to make room. Write the \
         text itself in full; if you do not have it any more, read the file first.",
        text.trim()
    );
    ToolError::new(ErrorCode::InvalidArguments, words)
}
