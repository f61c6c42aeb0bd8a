//! The person, as a running call can ask them something.

use futures::FutureExt;
use futures::future::BoxFuture;
use neco_proto::{ItemAnswer, QuestionItem};

/// Asks the person while a call runs. `()` is for where nobody is there.
pub trait AskPerson: Send + Sync {
    /// Asks and waits; nothing when nobody is there or wants to answer.
    fn ask(&self, items: Vec<QuestionItem>) -> BoxFuture<'static, Option<Vec<ItemAnswer>>>;
}

impl AskPerson for () {
    fn ask(&self, _: Vec<QuestionItem>) -> BoxFuture<'static, Option<Vec<ItemAnswer>>> {
        std::future::ready(None).boxed()
    }
}
