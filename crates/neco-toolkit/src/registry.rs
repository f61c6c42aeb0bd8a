//! The tools that exist for one agent.

use std::sync::Arc;

use neco_proto::ErrorCode;

use crate::alias;
use crate::output::ToolError;
use crate::tool::DynTool;

/// The tools that exist for one agent, in the order they are declared. What is not in it can't be called.
#[derive(Clone, Default)]
pub struct Registry {
    tools: Vec<Arc<dyn DynTool>>,
}

impl Registry {
    /// A registry of these tools.
    #[must_use]
    pub fn new(tools: Vec<Arc<dyn DynTool>>) -> Self {
        Self { tools }
    }

    /// The tools, in the order they are declared.
    pub fn iter(&self) -> impl Iterator<Item = &Arc<dyn DynTool>> {
        self.tools.iter()
    }

    /// Only the tools named, aliases included.
    ///
    /// # Errors
    /// [`ErrorCode::ToolNotFound`] for a name that is none, with near ones.
    pub fn only(&self, names: &[String]) -> Result<Self, ToolError> {
        let wanted = names.iter().map(|name| self.find(name).cloned()).collect::<Result<Vec<_>, _>>()?;
        let keep = |tool: &&Arc<dyn DynTool>| wanted.iter().any(|one| one.name() == tool.name());
        Ok(Self { tools: self.tools.iter().filter(keep).cloned().collect() })
    }

    /// The tool of a name or alias; case does not matter.
    ///
    /// # Errors
    /// [`ErrorCode::ToolNotFound`] with near names.
    pub fn find(&self, name: &str) -> Result<&Arc<dyn DynTool>, ToolError> {
        let by_name = |wanted: &str| self.tools.iter().find(|tool| tool.name().eq_ignore_ascii_case(wanted));
        by_name(name.trim())
            .or_else(|| alias::own_name(name.trim()).and_then(by_name))
            .ok_or_else(|| ToolError::new(ErrorCode::ToolNotFound, self.not_found(name)))
    }

    fn not_found(&self, name: &str) -> String {
        let mut near: Vec<(f64, &str)> =
            self.tools.iter().map(|tool| (strsim::jaro_winkler(name, tool.name()), tool.name())).collect();
        near.sort_by(|a, b| b.0.total_cmp(&a.0));
        let near: Vec<&str> = near.iter().filter(|(score, _)| *score > 0.7).take(3).map(|(_, name)| *name).collect();
        if near.is_empty() {
            let all: Vec<&str> = self.tools.iter().map(|tool| tool.name()).collect();
            return format!("there is no tool {name:?}; there are: {}", all.join(", "));
        }
        format!("there is no tool {name:?}; did you mean {}?", near.join(" or "))
    }
}
