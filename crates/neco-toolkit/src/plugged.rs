//! Tools that come and go while agents live.

use std::sync::Arc;

use neco_proto::ToolOrigin;
use tokio::sync::watch;

use crate::tool::DynTool;

/// Tools that come and go while agents live: those of servers, plugins and scripts. Clones are the same set; a
/// [`crate::Registry`] follows it and takes up what changed when a turn begins.
///
/// ```
/// use neco_proto::ToolOrigin;
/// use neco_toolkit::PluggedTools;
///
/// let plugged = PluggedTools::default();
/// let server = ToolOrigin::Mcp { server: "github".to_owned() };
/// // What the server lists now takes the place of what it listed before.
/// plugged.set(&server, Vec::new());
/// ```
#[derive(Clone)]
pub struct PluggedTools {
    tools: Arc<watch::Sender<Vec<Arc<dyn DynTool>>>>,
}

impl Default for PluggedTools {
    fn default() -> Self {
        Self { tools: Arc::new(watch::Sender::new(Vec::new())) }
    }
}

impl PluggedTools {
    /// Puts the tools of an origin in the place of those that it had; with none, it is pulled out.
    pub fn set(&self, origin: &ToolOrigin, tools: Vec<Arc<dyn DynTool>>) {
        self.tools.send_modify(|all| {
            // The place of an origin stays: of two tools of one name, the same one counts after a change.
            let before = all.iter().take_while(|tool| tool.origin() != origin).count();
            all.retain(|tool| tool.origin() != origin);
            all.splice(before..before, tools);
        });
    }

    pub(crate) fn watch(&self) -> watch::Receiver<Vec<Arc<dyn DynTool>>> {
        self.tools.subscribe()
    }
}
