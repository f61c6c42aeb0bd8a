//! The model of the session, as a running call can ask it something.

use futures::FutureExt;
use futures::future::BoxFuture;
use neco_proto::Message;
use tokio_util::sync::CancellationToken;

/// What a call wants to have answered: the model sees this alone, and has no tools.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ModelQuestion {
    /// What it is told before.
    pub system: String,
    /// What is said so far; the last is what it answers.
    pub messages: Vec<Message>,
    /// Most tokens of the answer.
    pub max_output: u64,
    /// How freely it should choose its words.
    pub temperature: Option<f64>,
}

/// What the model answers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ModelAnswer {
    /// `provider/model` that gave it.
    pub model: String,
    /// What it said.
    pub text: String,
    /// Whether it had more to say than it may.
    pub cut_off: bool,
}

/// Why there is no answer, in words for whoever asked.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct NoAnswer(pub String);

/// Asks the model of the session while a call runs; what that takes counts as the session's. `()` is for where there is
/// none.
pub trait AskModel: Send + Sync {
    /// Asks and waits, until `cancel` is set at most.
    fn ask(
        &self,
        question: ModelQuestion,
        cancel: CancellationToken,
    ) -> BoxFuture<'static, Result<ModelAnswer, NoAnswer>>;
}

impl AskModel for () {
    fn ask(&self, _: ModelQuestion, _: CancellationToken) -> BoxFuture<'static, Result<ModelAnswer, NoAnswer>> {
        std::future::ready(Err(NoAnswer("there is no model to ask".to_owned()))).boxed()
    }
}
