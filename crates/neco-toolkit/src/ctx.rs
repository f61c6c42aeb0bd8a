//! What a tool is handed for one call.

use std::sync::Arc;

use neco_proto::CallId;
use neco_proto::event::OutputStream;
use neco_safety::World;
use tokio_util::sync::CancellationToken;

use crate::bound::Spill;

/// Where a running tool's live output goes. Never blocks the tool and never fails it: whoever
/// listens decides how much of it a window gets to see.
pub trait LiveOutput: Send + Sync {
    /// Takes the next piece of output.
    fn push(&self, stream: OutputStream, text: &str);
}

/// What a tool is handed for one call.
#[derive(Clone)]
pub struct ToolContext {
    /// The call.
    pub call_id: CallId,
    /// Files and processes.
    pub world: Arc<dyn World>,
    /// Live output.
    pub live: Arc<dyn LiveOutput>,
    /// Set when the call is to stop. A tool that runs a process kills its group before it returns; one that ends
    /// before its time because of it fails, or says so with [`crate::ToolOutput::interrupted`].
    pub cancel: CancellationToken,
    /// Where output that is too big for the model goes.
    pub spill: Arc<dyn Spill>,
    /// Bytes of output that the model gets at most.
    pub max_output: usize,
    /// Whether calls of the same turn that write wait behind this one.
    pub more_writes: bool,
    /// Whether a person was asked about this very call and said yes.
    pub approved: bool,
}
