//! What is said when nobody answered.

use crate::error::ModelError;

/// Someone who was asked and will not be asked again.
pub(super) struct Fallen {
    /// Which model of the group.
    pub(super) model: usize,
    /// `provider/model`, with the number of the key where there are several.
    pub(super) name: String,
    pub(super) error: ModelError,
}

/// One error for all of them, with the reason of each; none when at most one was asked. It is of the
/// kind of the one that is most likely to pass.
pub(super) fn none_answered(label: &str, fallen: Vec<Fallen>) -> Option<ModelError> {
    if fallen.len() < 2 {
        return None;
    }
    let mut models: Vec<usize> = fallen.iter().map(|fallen| fallen.model).collect();
    models.sort_unstable();
    models.dedup();
    let count = if models.len() > 1 {
        format!("none of the {} models of `{label}` answered", models.len())
    } else {
        format!("none of the {} keys of `{label}` got an answer", fallen.len())
    };
    let reasons: Vec<String> =
        fallen.iter().map(|fallen| format!("{}: {}", fallen.name, fallen.error.message)).collect();
    let told = fallen.iter().find(|fallen| fallen.error.retryable()).or(fallen.last())?;
    Some(ModelError { message: format!("{count}: {}", reasons.join("; ")), ..told.error.clone() })
}
