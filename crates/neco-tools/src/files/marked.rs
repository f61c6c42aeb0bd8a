//! What the model was shown with a mark in it must not be written back with the mark.

use neco_proto::ErrorCode;
use neco_safety::secrets::Redactor;
use neco_toolkit::ToolError;

/// Refuses text that holds the mark of a secret that was taken out, unless the file has that very mark.
/// Fails with [`ErrorCode::InvalidArguments`], with what to do instead.
pub fn check(redactor: &Redactor, text: &str, old: &str, shown: &str) -> Result<(), ToolError> {
    let Some(mark) = redactor.unseen_mark(text, old) else { return Ok(()) };
    let words = format!(
        "{mark} is not in {shown}: it stands for a secret that you are not shown. Writing it would destroy the \
         secret. Change only other parts of the file, so that this part stays as it is."
    );
    Err(ToolError::new(ErrorCode::InvalidArguments, words))
}
