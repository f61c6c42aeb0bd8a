//! What the model was shown with a mark in it must not be written back with the mark.

use neco_proto::ErrorCode;
use neco_safety::secrets::unseen_mark;
use neco_toolkit::ToolError;

/// Refuses text that holds the mark of a secret that was taken out, unless the file has that very mark.
///
/// # Errors
/// [`ErrorCode::InvalidArguments`], with what to do instead.
pub fn check(text: &str, old: &str, shown: &str) -> Result<(), ToolError> {
    let Some(mark) = unseen_mark(text, old) else { return Ok(()) };
    let words = format!(
        "{mark} is not in {shown}: it stands for a secret that you are not shown. Writing it would destroy the \
         secret. Use edit_file with an old_string and a new_string that leave that part of the file out."
    );
    Err(ToolError::new(ErrorCode::InvalidArguments, words))
}
