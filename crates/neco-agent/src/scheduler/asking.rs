//! What running calls ask the person.

use std::sync::{Arc, Mutex, PoisonError};

use futures::FutureExt;
use futures::future::BoxFuture;
use neco_proto::{CallId, ItemAnswer, QuestionItem};
use neco_toolkit::AskPerson;
use tokio::sync::{Notify, oneshot};

/// Something that a running call wants to know of the person.
pub struct AskedByCall {
    /// The call.
    pub call_id: CallId,
    /// What it wants to know.
    pub items: Vec<QuestionItem>,
    /// Where the answer goes; closed when nobody waits for it any more.
    pub answer: oneshot::Sender<Option<Vec<ItemAnswer>>>,
}

/// What running calls ask and nobody has put before the person yet.
#[derive(Default)]
pub struct Asking {
    waiting: Mutex<Vec<AskedByCall>>,
    ready: Notify,
}

impl Asking {
    /// The person, as one call asks them.
    pub fn of(self: &Arc<Self>, call_id: CallId) -> Arc<dyn AskPerson> {
        Arc::new(Asker { asking: Arc::clone(self), call_id })
    }

    /// Ready when something is asked. May be dropped and called again at any time without losing anything.
    pub async fn asked(&self) {
        if self.waiting.lock().unwrap_or_else(PoisonError::into_inner).is_empty() {
            self.ready.notified().await;
        }
    }

    /// What is asked now.
    pub fn take(&self) -> Vec<AskedByCall> {
        std::mem::take(&mut *self.waiting.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

struct Asker {
    asking: Arc<Asking>,
    call_id: CallId,
}

impl AskPerson for Asker {
    fn ask(&self, items: Vec<QuestionItem>) -> BoxFuture<'static, Option<Vec<ItemAnswer>>> {
        let (answer, answered) = oneshot::channel();
        let asked = AskedByCall { call_id: self.call_id.clone(), items, answer };
        self.asking.waiting.lock().unwrap_or_else(PoisonError::into_inner).push(asked);
        self.asking.ready.notify_one();
        async move { answered.await.ok().flatten() }.boxed()
    }
}
