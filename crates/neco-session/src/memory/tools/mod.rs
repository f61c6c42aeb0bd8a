//! The model's hands in the memory.
//!
//! They live with the memory and not with the other tools, as a tool lives with the state it changes.
//!
//! Reading order: [`store`], [`search`], [`get`].

mod get;
mod search;
mod store;

use std::path::Path;
use std::sync::Arc;

use neco_agent::EventSink;
use neco_proto::{ErrorCode, SessionId};
use neco_safety::secrets::Redactor;
use neco_toolkit::tool::erase;
use neco_toolkit::{DynTool, ToolError};

use super::memory::{Memory, MemoryError, MemorySetup};

/// The tools of one agent; what it keeps is told to `sink`.
pub fn tools(memory: &Arc<Memory>, sink: Arc<dyn EventSink>, session: SessionId) -> Vec<Arc<dyn DynTool>> {
    made(memory, Some(sink), format!("session {session}"))
}

/// The same tools without a session, for lists of what there is.
pub fn listed() -> Vec<Arc<dyn DynTool>> {
    let nowhere = MemorySetup::new(Path::new(""), Path::new(""), Redactor::default());
    made(&Arc::new(Memory::new(nowhere)), None, String::new())
}

fn made(memory: &Arc<Memory>, sink: Option<Arc<dyn EventSink>>, source: String) -> Vec<Arc<dyn DynTool>> {
    vec![
        erase(store::MemoryStore { memory: Arc::clone(memory), sink, source }),
        erase(search::MemorySearch(Arc::clone(memory))),
        erase(get::MemoryGet(Arc::clone(memory))),
    ]
}

fn refused(error: MemoryError) -> ToolError {
    let code = match &error {
        MemoryError::Unknown { .. } | MemoryError::Refused(_) => ErrorCode::InvalidArguments,
        MemoryError::File(_) | MemoryError::Index(_) => ErrorCode::ToolFailed,
    };
    ToolError::new(code, error.to_string())
}
