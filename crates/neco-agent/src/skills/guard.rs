//! The hooks of a skill that an agent was started to do. They guard it from its first call on, also when it is
//! made again from the log: then they are those of the skill as it is by then.

use std::sync::Arc;

use futures::future::BoxFuture;
use neco_proto::event::{HookEvent, SkillCause};
use neco_toolkit::ToolError;
use tokio::sync::OnceCell;
use tokio_util::sync::CancellationToken;

use super::shelf::{SkillShelf, SkillWish};
use crate::gate::{Gate, GateRuling, HookContext, HookDecision, HookPoint};

/// The gate that the hooks of a skill stand at, which are read when they are first asked.
pub struct SkillGuard {
    shelf: Option<Arc<dyn SkillShelf>>,
    name: String,
    /// What the skill plugs in, once it was read.
    hooks: Arc<OnceCell<Option<Arc<dyn Gate>>>>,
}

impl SkillGuard {
    /// The gate of the skill of a name.
    pub fn new(shelf: Option<Arc<dyn SkillShelf>>, name: String) -> Self {
        Self { shelf, name, hooks: Arc::default() }
    }
}

impl Gate for SkillGuard {
    fn attends(&self, event: HookEvent, tool: Option<&str>) -> bool {
        self.hooks.get().is_none_or(|hooks| hooks.as_ref().is_some_and(|hooks| hooks.attends(event, tool)))
    }

    fn ask(
        &self,
        moment: HookPoint,
        scene: HookContext,
        cancel: CancellationToken,
    ) -> BoxFuture<'static, HookDecision> {
        let (shelf, name, hooks) = (self.shelf.clone(), self.name.clone(), Arc::clone(&self.hooks));
        Box::pin(async move {
            match hooks.get_or_try_init(|| read(shelf, name.clone())).await {
                Ok(Some(hooks)) => hooks.ask(moment, scene, cancel).await,
                Ok(None) => HookDecision::default(),
                Err(error) => unguarded(&moment, &name, &error),
            }
        })
    }
}

async fn read(shelf: Option<Arc<dyn SkillShelf>>, name: String) -> Result<Option<Arc<dyn Gate>>, ToolError> {
    let shelf = shelf.ok_or_else(|| ToolError::failed("there are no skills here"))?;
    Ok(shelf.open(SkillWish::new(name, String::new()), SkillCause::Definition).await?.gate)
}

/// A call that nobody can guard is not made.
fn unguarded(moment: &HookPoint, name: &str, error: &ToolError) -> HookDecision {
    let words = || format!("the hooks of the skill {name} guard this call: {}", error.message);
    let ruling = matches!(moment, HookPoint::BeforeCall(_)).then(|| GateRuling::Block(words()));
    HookDecision { ruling, ..HookDecision::default() }
}
