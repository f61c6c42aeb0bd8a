//! What the scheduler's own tests work with: a call that does nothing, and a scheduler that keeps nothing.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use futures::future::BoxFuture;
use neco_proto::CallId;
use neco_proto::event::OutputStream;
use neco_safety::SideEffect;
use neco_safety::world::Files;
use neco_sandbox::{LocalNet, LocalWorld, Spawner};
use neco_toolkit::bound::SpillFile;
use neco_toolkit::{LiveOutput, Plan, PreparedCall, Registry, Spill, ToBackground, ToolContext, ToolError, ToolOutput};
use serde_json::Value;
use tokio_util::sync::CancellationToken;

use super::schedule::{Limits, Scheduler};
use crate::ports::Clock;

/// A call that touches this much and always fails, with words that say that it ran.
pub(super) struct Stub(pub(super) SideEffect);

impl PreparedCall for Stub {
    fn touch(&self) -> SideEffect {
        self.0
    }

    fn timeout(&self) -> Option<Duration> {
        None
    }

    fn summary(&self) -> String {
        String::new()
    }

    fn arguments(&self) -> &Value {
        &Value::Null
    }

    fn plan<'a>(&'a self, _: &'a ToolContext) -> BoxFuture<'a, Result<Plan, ToolError>> {
        Box::pin(async { Err(ToolError::failed("a stub")) })
    }

    fn run(self: Box<Self>, _: ToolContext) -> BoxFuture<'static, Result<ToolOutput, ToolError>> {
        Box::pin(async { Err(ToolError::failed("it ran")) })
    }
}

/// Keeps no output, and no time goes by.
struct Nothing;

impl Spill for Nothing {
    fn open(&self, _: &CallId) -> BoxFuture<'_, Result<Box<dyn SpillFile>, ToolError>> {
        Box::pin(async { Err(ToolError::failed("nothing is kept")) })
    }
}

impl Clock for Nothing {
    fn now(&self) -> Duration {
        Duration::ZERO
    }
}

impl LiveOutput for Nothing {
    fn push(&self, _: OutputStream, _: &str) {}
}

fn world() -> Arc<LocalWorld> {
    let files = Files::new(Path::new("/"), Vec::new()).unwrap();
    Arc::new(LocalWorld { files, spawn: Spawner::new(Vec::new(), &[]), net: LocalNet::default() })
}

/// What a call of no scheduler is handed.
pub(super) fn context() -> ToolContext {
    ToolContext {
        call_id: CallId::generate(),
        world: world(),
        live: Arc::new(Nothing),
        cancel: CancellationToken::new(),
        person: Arc::new(()),
        model: Arc::new(()),
        background: ToBackground::default(),
        spill: Arc::new(Nothing),
        max_output: 100,
        more_writes: false,
        approved: false,
    }
}

/// A scheduler without tools and without calls.
pub(super) fn idle() -> Scheduler {
    let world = world();
    let limits = Limits { parallel_reads: 1, timeout: Duration::from_secs(1), max_output: 100, approval: None };
    Scheduler::new(Registry::new(Vec::new()), world, Arc::new(Nothing), Arc::new(Nothing), limits)
}
