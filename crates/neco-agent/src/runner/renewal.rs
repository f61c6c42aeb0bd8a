//! What an agent works with and was edited meanwhile: it is taken up before the next turn begins.

use std::sync::Arc;

use futures::future::BoxFuture;
use neco_safety::{Confinement, Policy, World};
use neco_toolkit::Registry;

use crate::context::{Prompts, Source};
use crate::gate::Gate;
use crate::ports::{FolderRules, RequestFiles, SinkError};
use crate::scheduler::Limits;
use crate::skills::SkillShelf;

/// Looks, whenever a turn is about to begin, whether what the agent was made of is still what counts.
/// ```
/// use futures::future::BoxFuture;
/// use neco_agent::{Renewal, Renewed, SinkError};
///
/// /// Nothing is edited while the agent lives.
/// struct Fixed;
///
/// impl Renewal for Fixed {
///     fn renew(&self) -> BoxFuture<'_, Result<Option<Renewed>, SinkError>> {
///         Box::pin(async { Ok(None) })
///     }
/// }
/// # let _: Box<dyn Renewal> = Box::new(Fixed);
/// ```
pub trait Renewal: Send + Sync {
    /// What takes the place of what the agent has; nothing when nothing was edited, or an edit can't be used.
    fn renew(&self) -> BoxFuture<'_, Result<Option<Renewed>, SinkError>>;
}

/// What takes the place of what an agent was made of. Its model, its mode and what was granted in the session stay.
#[derive(Clone)]
pub struct Renewed {
    /// The rules that its calls are judged by.
    pub policy: Policy,
    /// What its tools can touch.
    pub world: Arc<dyn World>,
    /// The tools that exist for it; nothing where those that it has stay.
    pub registry: Option<Registry>,
    /// What people plugged into its moments.
    pub gate: Arc<dyn Gate>,
    /// The prompts.
    pub prompts: Arc<Prompts>,
    /// What it is told besides them.
    pub sources: Vec<Arc<dyn Source>>,
    /// Finds rules files of folders that it touches.
    pub folder_rules: Option<Arc<dyn FolderRules>>,
    /// Finds pieces of files that fit what the person says.
    pub request_files: Option<Arc<dyn RequestFiles>>,
    /// The skills that it can use.
    pub skills: Option<Arc<dyn SkillShelf>>,
    /// Limits of its calls.
    pub limits: Limits,
    /// What stands between its commands and the machine.
    pub confinement: Confinement,
    /// Whether its commands reach the network.
    pub network: bool,
}
