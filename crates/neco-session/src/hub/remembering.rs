//! What a session remembers with: its recall, its tools, and the look at its end.

use std::path::Path;
use std::sync::Arc;

use neco_agent::context::{ContextSettings, Space};
use neco_agent::{AgentSetup, Budget};
use neco_model::Provider;
use neco_model::tokens::Family;
use neco_proto::{Layer, SessionId};
use neco_store::SessionRecord;
use neco_toolkit::DynTool;

use super::hub::Hub;
use super::options::Extract;
use crate::memory::{Extraction, Memory, MemorySetup, Recall, RecallLimits, tools};

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

impl Hub {
    /// What a session remembers with that was told `recalled` before; `untold` when nobody has said anything
    /// in it yet. Nothing is opened or read here.
    pub(super) fn remembering(
        &self,
        record: &SessionRecord,
        recalled: Option<String>,
        untold: bool,
        provider: &dyn Provider,
    ) -> Option<Remembering> {
        let deps = &self.deps();
        let settings = deps.memory.as_ref()?;
        let cwd = Path::new(&record.cwd);
        let setup = MemorySetup::new(&self.setup.data_dir, cwd, deps.redactor.clone());
        let setup = MemorySetup { telling: self.telling(cwd), ..setup };
        let memory = Arc::new(Memory::new(setup));
        let space = Space::new(ContextSettings::from(&deps.context), provider.context_window());
        let limits = RecallLimits {
            entries: settings.entries,
            tokens: space.rooms().of(Layer::Memory),
            family: Family::of(provider.label()),
        };
        let extraction = (settings.extract != Extract::Never).then(|| Extraction {
            memory: Arc::clone(&memory),
            source: source_of(record.id),
            timeout: settings.extract_timeout,
            scripted_too: settings.extract == Extract::Always,
        });
        let recall = Recall::new(memory, limits, recalled, untold);
        Some(Remembering {
            recall,
            extraction,
            extract_model: settings.extract_model.clone(),
            budget: Budget::default(),
        })
    }

    /// An agent with its tools, its `own` and those of the memory among them, and with what is recalled.
    pub(super) fn with_memory(
        &self,
        mut setup: AgentSetup,
        remembering: Option<&Remembering>,
        session: SessionId,
        mut own: Vec<Arc<dyn DynTool>>,
    ) -> AgentSetup {
        if let Some(remembering) = remembering {
            setup.sources.push(remembering.recall.source());
            own.extend(tools::tools(remembering.recall.memory(), Arc::clone(&setup.sink), session));
        }
        AgentSetup { registry: self.deps().registry(own), ..setup }
    }
}

fn source_of(session: SessionId) -> String {
    format!("session {session}")
}
