//! One model that can be asked.

use futures::future::BoxFuture;
use futures::stream::BoxStream;

use crate::delta::Delta;
use crate::error::ModelError;
use crate::request::Request;

/// What a model sends, piece by piece. It ends after [`Delta::Finish`] or after an error;
/// dropping it ends the call.
pub type DeltaStream = BoxStream<'static, Result<Delta, ModelError>>;

/// One model that can be asked. Retry, group and scripted are providers too.
/// ```
/// use futures::StreamExt;
/// use neco_model::{Delta, DeltaStream, FinishReason, Provider, Request};
///
/// /// A model that has nothing to say.
/// struct Silent;
///
/// impl Provider for Silent {
///     fn label(&self) -> &str {
///         "example/silent"
///     }
///
///     fn stream(&self, _: Request) -> DeltaStream {
///         futures::stream::iter([Ok(Delta::Finish(FinishReason::Stop))]).boxed()
///     }
/// }
/// # assert_eq!(Silent.label(), "example/silent");
/// ```
pub trait Provider: Send + Sync {
    /// `provider/model`, or the name of a group.
    fn label(&self) -> &str;

    /// Whether the answers are written beforehand rather than by a model.
    fn scripted(&self) -> bool {
        false
    }

    /// Tokens that fit into one request and its answer, as they are known or else assumed; of a group,
    /// what fits all its models. None where nothing limits them.
    fn context_window(&self) -> Option<u64> {
        None
    }

    /// Whether that is only assumed: neither the settings nor the catalogue nor a server say it. Of a group, whether it is
    /// for one of its models.
    fn window_is_assumed(&self) -> bool {
        false
    }

    /// Finds out what is to be known before the first prompt is made for it: the window of a server on this machine.
    /// Takes a moment at most, and no time where nothing is to be found out.
    fn ready(&self) -> BoxFuture<'_, ()> {
        Box::pin(std::future::ready(()))
    }

    /// Whether a picture of this kind, such as `image/png`, reaches the model; of a group, whether it
    /// reaches one of its models, which is then asked first.
    fn sees(&self, media_type: &str) -> bool {
        let _ = media_type;
        true
    }

    /// Asks. Nothing is sent before the stream is first polled.
    fn stream(&self, request: Request) -> DeltaStream;

    /// The same for side calls that nobody watches, such as titles and summaries: the vendor sends the
    /// answer when it is whole, where it can.
    fn whole(&self, request: Request) -> DeltaStream {
        self.stream(request)
    }
}
