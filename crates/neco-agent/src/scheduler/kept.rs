//! The workspace is kept before the first call of a turn that writes or runs something.
//!
//! Keeping it begins when that call is cleared, beside the writing of its mark, and the call waits for
//! it. A cancel does not: the call then never begins.

use std::sync::Arc;
use std::time::Duration;

use futures::future::BoxFuture;
use neco_safety::secrets::Scope;
use neco_toolkit::{PreparedCall, ToolContext};

use super::call::{Outcome, Phase};
use super::execute::{Again, execute};
use super::schedule::Scheduler;
use crate::ports::{Checkpointer, Clock, WayBack};

/// Characters of what was asked that are part of a label.
const ASKED: usize = 60;

/// What is kept of the workspace in the present turn.
#[derive(Default)]
pub(super) struct Keeping {
    with: Option<Arc<dyn Checkpointer>>,
    /// What the person asked for, in a few words.
    asked: String,
    /// Whether it was begun in this turn.
    begun: bool,
    /// What the first call waits for.
    before: Option<BoxFuture<'static, ()>>,
}

impl Keeping {
    /// A new turn begins.
    pub(super) fn start_over(&mut self) {
        (self.begun, self.before) = (false, None);
    }

    /// Where what the present turn changes is taken back to.
    pub(super) fn way_back(&self) -> Option<WayBack> {
        self.with.as_ref().filter(|_| self.begun)?.way_back()
    }

    /// What the call that begins now waits for.
    pub(super) fn take_before(&mut self) -> Option<BoxFuture<'static, ()>> {
        self.before.take()
    }
}

impl Scheduler {
    /// Has the workspace kept before calls that change something.
    #[must_use]
    pub fn with_checkpoints(mut self, with: Option<Arc<dyn Checkpointer>>) -> Self {
        self.keeping.with = with;
        self
    }

    /// What the present calls are made for, as the person said it.
    pub fn set_asked(&mut self, asked: &str) {
        let line = asked.trim().lines().next().unwrap_or_default();
        self.keeping.asked = match line.char_indices().nth(ASKED) {
            Some((end, _)) => format!("{}…", line.get(..end).unwrap_or(line).trim_end()),
            None => line.to_owned(),
        };
    }

    /// Whether the workspace was kept before a call of this turn, so that it is to be kept after it. Said once.
    pub fn take_kept(&mut self) -> bool {
        std::mem::take(&mut self.keeping.begun)
    }

    /// Begins to keep the workspace, if a cleared call is the first of its turn that changes something.
    pub(super) fn keep_before(&mut self, index: usize) {
        let Some(call) = self.calls.get(index) else { return };
        let changes = matches!(&call.phase, Phase::Cleared(prepared) if !prepared.touch().changes_nothing());
        let Some(with) = self.keeping.with.as_ref().filter(|_| changes && !self.keeping.begun) else { return };
        let asked = call.redactor.redact(&self.keeping.asked, Scope::Said);
        let summary = call.redactor.redact(&call.summary, Scope::Outside);
        let between = if asked.is_empty() { "" } else { " · " };
        let label = format!("{asked}{between}{summary}");
        let turn = self.scene.as_ref().and_then(|scene| scene.turn);
        self.keeping.before = Some(with.before(turn, label));
        self.keeping.begun = true;
    }
}

/// Runs a call to its end, once the workspace is kept.
pub(super) async fn execute_kept(
    before: Option<BoxFuture<'static, ()>>,
    prepared: Box<dyn PreparedCall>,
    again: Option<Again>,
    ctx: ToolContext,
    limit: Duration,
    clock: Arc<dyn Clock>,
) -> Outcome {
    if let Some(before) = before {
        tokio::select! {
            () = before => {}
            () = ctx.cancel.cancelled() => return Outcome::cancelled(false),
        }
    }
    execute(prepared, again, ctx, limit, clock).await
}

#[cfg(test)]
mod tests {
    use std::sync::Mutex;

    use neco_proto::{CallId, TurnId};
    use neco_safety::SideEffect;
    use tokio::sync::oneshot;

    use super::super::call::Call;
    use super::super::progress::{Progress, Work};
    use super::super::stand_ins::{Stub, idle};
    use super::*;

    /// Keeps the workspace when it is told to.
    #[derive(Default)]
    struct Slow {
        asked: Mutex<Vec<String>>,
        done: Mutex<Option<oneshot::Receiver<()>>>,
    }

    impl Checkpointer for Slow {
        fn before(&self, _: Option<TurnId>, label: String) -> BoxFuture<'static, ()> {
            self.asked.lock().unwrap().push(label);
            let done = self.done.lock().unwrap().take();
            Box::pin(async move { drop(done.unwrap().await) })
        }

        fn after(&self, _: Option<TurnId>) {}

        fn settled(&self) -> BoxFuture<'_, ()> {
            Box::pin(async {})
        }

        fn way_back(&self) -> Option<WayBack> {
            None
        }
    }

    fn scheduler(touch: SideEffect) -> (Scheduler, Arc<Slow>, oneshot::Sender<()>) {
        let (sender, done) = oneshot::channel();
        let slow = Arc::new(Slow { done: Mutex::new(Some(done)), ..Slow::default() });
        let mut scheduler = idle().with_checkpoints(Some(slow.clone()));
        scheduler.set_asked("  tidy up\nand more");
        scheduler.calls.push(Call {
            summary: "rm x".to_owned(),
            ..Call::new(CallId::generate(), "bash".to_owned(), Phase::Cleared(Box::new(Stub(touch))))
        });
        scheduler.announce(0);
        scheduler.launch();
        (scheduler, slow, sender)
    }

    #[tokio::test]
    async fn a_call_that_changes_something_waits_until_the_workspace_is_kept() {
        let (mut scheduler, slow, done) = scheduler(SideEffect::Runs);
        let waiting = tokio::time::timeout(Duration::from_millis(30), scheduler.progress()).await;
        assert!(waiting.is_err(), "it must not run yet");
        assert_eq!(*slow.asked.lock().unwrap(), ["tidy up · rm x"]);
        done.send(()).unwrap();
        let Progress(Work::Ran { outcome, .. }) = scheduler.progress().await else { panic!("it did not run") };
        assert!(outcome.output.contains("it ran"));
        assert!(scheduler.take_kept());
        assert!(!scheduler.take_kept(), "said once");
    }

    #[test]
    fn what_was_asked_at_length_is_cut_with_a_mark() {
        let mut scheduler = idle();
        scheduler.set_asked(&"tidy ".repeat(20));
        assert_eq!(scheduler.keeping.asked, format!("{}…", "tidy ".repeat(12).trim_end()));
    }

    #[tokio::test]
    async fn a_cancel_does_not_wait_and_the_call_never_runs() {
        let (mut scheduler, _, _done) = scheduler(SideEffect::Writes);
        scheduler.stop().await;
        assert!(scheduler.take_results()[0].output.contains("before it ran"));
    }

    #[tokio::test]
    async fn a_call_that_reads_keeps_nothing() {
        let (mut scheduler, slow, _done) = scheduler(SideEffect::Reads);
        let Progress(Work::Ran { outcome, .. }) = scheduler.progress().await else { panic!("it did not run") };
        assert!(outcome.output.contains("it ran") && slow.asked.lock().unwrap().is_empty());
        assert!(!scheduler.take_kept());
    }
}
