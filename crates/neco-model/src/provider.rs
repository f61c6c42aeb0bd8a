//! One model that can be asked.

use futures::stream::BoxStream;

use crate::delta::Delta;
use crate::error::ModelError;
use crate::request::Request;

/// What a model sends, piece by piece. It ends after [`Delta::Finish`] or after an error;
/// dropping it ends the call.
pub type DeltaStream = BoxStream<'static, Result<Delta, ModelError>>;

/// One model that can be asked. Retry, group and scripted are providers too.
pub trait Provider: Send + Sync {
    /// `provider/model`, or the name of a group.
    fn label(&self) -> &str;

    /// Whether the answers are written beforehand rather than by a model.
    fn scripted(&self) -> bool {
        false
    }

    /// Tokens that fit into one request and its answer, as far as that is known; of a group, what
    /// fits all its models.
    fn context_window(&self) -> Option<u64> {
        None
    }

    /// Asks. Nothing is sent before the stream is first polled.
    fn stream(&self, request: Request) -> DeltaStream;
}
