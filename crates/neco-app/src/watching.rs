//! Answers that come bit by bit.

use std::future::ready;

use futures::channel::mpsc;
use futures::stream::{BoxStream, once, select};
use futures::{SinkExt, StreamExt};
use neco_proto::app::{AppError, Watch};
use serde_json::Value;
use tokio::runtime::Handle;
use tokio_util::sync::CancellationToken;

use crate::error::failed;

/// Where what is found goes, one after the other. Whoever finds waits until it is taken.
pub(crate) struct Told<T>(mpsc::Sender<T>);

impl<T> Told<T> {
    /// Tells of one.
    pub async fn tell(&mut self, item: T) {
        // Whoever does not listen any more drops the work as well.
        let _ = self.0.send(item).await;
    }

    /// Tells of several.
    pub async fn tell_all(&mut self, items: impl IntoIterator<Item = T>) {
        for item in items {
            self.tell(item).await;
        }
    }
}

/// What `work` tells, and its error at the end. It goes on as far as somebody listens, and ends with them.
pub(crate) fn told<'a, T, W>(work: impl FnOnce(Told<T>) -> W) -> BoxStream<'a, Result<T, AppError>>
where
    T: Send + 'a,
    W: Future<Output = Result<(), AppError>> + Send + 'a,
{
    let (sender, items) = mpsc::channel(0);
    let ends = once(work(Told(sender))).filter_map(|done| ready(done.err().map(Err)));
    select(items.map(Ok), ends).boxed()
}

/// The same as wires carry it.
pub(crate) fn values<R: Watch>(
    items: BoxStream<'_, Result<R::Item, AppError>>,
) -> BoxStream<'_, Result<Value, AppError>> {
    let written = |item| serde_json::to_value(item).map_err(|error| AppError::not_understood(R::ROUTE.name, &error));
    items.map(move |item| item.and_then(written)).boxed()
}

/// An error instead of anything else.
pub(crate) fn nothing_but(error: AppError) -> BoxStream<'static, Result<Value, AppError>> {
    once(ready(Err(error))).boxed()
}

/// What `work` answers on a thread of its own, as it may read files and ask a keyring; it ends when nobody waits for it.
pub(crate) async fn answered<W>(work: W) -> Result<Value, AppError>
where
    W: Future<Output = Result<Value, AppError>> + Send + 'static,
{
    let (waits, runtime) = (CancellationToken::new(), Handle::current());
    let _ends = waits.clone().drop_guard();
    let working = tokio::task::spawn_blocking(move || runtime.block_on(waits.run_until_cancelled(work)));
    working.await.map_err(failed)?.unwrap_or_else(|| Err(failed("nobody waits for it")))
}

/// What `work` tells in the same way; it ends when nobody listens any more.
pub(crate) fn apart<W>(
    work: impl FnOnce(mpsc::Sender<Result<Value, AppError>>) -> W,
) -> BoxStream<'static, Result<Value, AppError>>
where
    W: Future<Output = ()> + Send + 'static,
{
    let (sender, items) = mpsc::channel(0);
    let work = work(sender);
    // It begins when somebody listens: whoever asks for it may not be on the runtime yet.
    let begin = async move {
        let (waits, runtime) = (CancellationToken::new(), Handle::current());
        let ends = waits.clone().drop_guard();
        let working = tokio::task::spawn_blocking(move || runtime.block_on(waits.run_until_cancelled(work)));
        // Whoever listens learns that the rest is missing.
        let broke = once(working).filter_map(|done| ready(done.err().map(|error| Err(failed(error)))));
        items.chain(broke).inspect(move |_| _ = &ends)
    };
    once(begin).flatten().boxed()
}

#[cfg(test)]
mod tests {
    use std::future::pending;
    use std::sync::Arc;

    use futures::TryStreamExt;
    use serde_json::json;

    use super::*;

    #[tokio::test]
    async fn what_is_told_comes_in_order_and_an_error_comes_last() {
        let mut items = told(|mut told| async move {
            told.tell_all([1, 2, 3]).await;
            Err(failed("no more"))
        });
        assert_eq!((items.next().await, items.next().await), (Some(Ok(1)), Some(Ok(2))));
        let rest: Result<Vec<i32>, AppError> = items.try_collect().await;
        assert_eq!(rest, Err(failed("no more")));
    }

    #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
    async fn whoever_stops_listening_ends_the_work() {
        let works = Arc::new(());
        let ended = Arc::downgrade(&works);
        let mut items = apart(|mut told| async move {
            let _works = works;
            let _ = told.send(Ok(json!(1))).await;
            pending().await
        });
        assert_eq!(items.next().await, Some(Ok(json!(1))));
        drop(items);
        while ended.strong_count() > 0 {
            tokio::task::yield_now().await;
        }
    }

    #[tokio::test]
    async fn what_keeps_a_thread_keeps_nobody_else() {
        let (go_on, waits) = std::sync::mpsc::channel();
        let work = answered(async move { waits.recv().map_err(failed).map(|()| json!(1)) });
        let (answer, sent) = futures::join!(work, async { go_on.send(()) });
        assert_eq!((answer, sent), (Ok(json!(1)), Ok(())));
    }

    #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
    async fn a_mistake_is_no_end() {
        let items = apart(|mut told| async move {
            let _ = told.send(Ok(json!(1))).await;
            panic!("a mistake of the program");
        });
        let told: Vec<_> = items.collect().await;
        assert!(matches!(told.as_slice(), [Ok(_), Err(error)] if error.message.contains("panicked")), "{told:?}");
    }
}
