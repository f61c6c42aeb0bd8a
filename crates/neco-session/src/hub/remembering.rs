//! What a session remembers with: its recall, its tools, and the look at its end.

use std::sync::Arc;

use neco_agent::Budget;
use neco_agent::context::{ContextSettings, Space};
use neco_model::Provider;
use neco_model::tokens::Family;
use neco_proto::Layer;

use super::context::SessionCore;
use super::options::{Extract, SessionOptions};
use crate::memory::{Extraction, Memory, MemorySetup, Recall, RecallLimits};

/// What a session remembers with.
pub struct Remembering {
    /// What is put before the model.
    pub recall: Recall,
    /// How the session is looked through when it ends.
    pub extraction: Option<Extraction>,
    /// The model that is asked then; `None` stands for the session's own.
    pub extract_model: Option<String>,
    /// What the session may use in all.
    pub budget: Budget,
}

impl Remembering {
    /// What a session remembers with that was told `recalled` before; `untold` when nobody has said anything
    /// in it yet. Nothing is opened or read here.
    pub fn of(
        core: &SessionCore,
        options: &SessionOptions,
        recalled: Option<String>,
        untold: bool,
        provider: &dyn Provider,
    ) -> Option<Self> {
        let deps = core.hub.deps();
        let settings = deps.memory.as_ref()?;
        let setup = MemorySetup::new(&core.hub.setup.data_dir, core.cwd(), deps.redactor.clone());
        let memory = Arc::new(Memory::new(MemorySetup { telling: deps.telling(core.cwd()), ..setup }));
        let space = Space::new(ContextSettings::from(&deps.context), provider.context_window());
        let limits = RecallLimits {
            entries: settings.entries,
            tokens: space.rooms().of(Layer::Memory),
            family: Family::of(provider.label()),
        };
        let extraction = (settings.extract != Extract::Never).then(|| Extraction {
            memory: Arc::clone(&memory),
            source: format!("session {}", core.id()),
            timeout: settings.extract_timeout,
            scripted_too: settings.extract == Extract::Always,
        });
        Some(Self {
            recall: Recall::new(memory, limits, recalled, untold),
            extraction,
            extract_model: settings.extract_model.clone(),
            budget: options.budget,
        })
    }
}
