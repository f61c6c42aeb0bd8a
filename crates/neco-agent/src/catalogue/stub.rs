//! A tool that nobody calls.

use std::sync::Arc;

use neco_proto::ToolOrigin;
use neco_safety::SideEffect;
use neco_toolkit::{DynTool, PreparedCall, ToolError};
use serde_json::{Value, json};

pub(crate) struct Stub {
    name: String,
    description: String,
    origin: ToolOrigin,
    schema: Value,
}

/// One of this origin.
pub(crate) fn stub(name: &str, description: &str, origin: &ToolOrigin) -> Arc<dyn DynTool> {
    let (name, description) = (name.to_owned(), description.to_owned());
    Arc::new(Stub { name, description, origin: origin.clone(), schema: json!({ "type": "object" }) })
}

impl DynTool for Stub {
    fn name(&self) -> &str {
        &self.name
    }

    fn description(&self) -> &str {
        &self.description
    }

    fn schema(&self) -> &Value {
        &self.schema
    }

    fn most_touch(&self) -> SideEffect {
        SideEffect::Reads
    }

    fn origin(&self) -> &ToolOrigin {
        &self.origin
    }

    fn prepare(self: Arc<Self>, _: Value) -> Result<Box<dyn PreparedCall>, ToolError> {
        Err(ToolError::failed("nobody calls it"))
    }
}
