//! What a hub and its sessions are made with.

use std::path::PathBuf;
use std::sync::Arc;

use neco_agent::Budget;
use neco_agent::scheduler::Limits;
use neco_model::Provider;
use neco_proto::{ApprovalMode, Mode};
use neco_safety::world::Spawner;
use neco_store::{Catalog, EventLog};
use neco_toolkit::Registry;

/// Finds the model of a name: `provider/model` or a group. The error is for a person.
pub type FindModel = Arc<dyn Fn(&str) -> Result<Arc<dyn Provider>, String> + Send + Sync>;

/// What a hub is made of.
pub struct HubSetup {
    /// Where events are kept.
    pub log: Arc<dyn EventLog>,
    /// Where sessions are listed.
    pub catalog: Arc<dyn Catalog>,
    /// Where the hub keeps locks and big outputs.
    pub data_dir: PathBuf,
    /// Where models come from.
    pub find_model: FindModel,
    /// What agents are given to work with.
    pub workshop: Workshop,
}

/// What agents are given to work with.
pub struct Workshop {
    /// The tools of one agent, with state of their own.
    pub tools: Box<dyn Fn() -> Registry + Send + Sync>,
    /// What starts the processes of one agent.
    pub spawner: Box<dyn Fn() -> Spawner + Send + Sync>,
    /// Limits of calls.
    pub limits: Limits,
    /// The shell that runs commands, for the prompt.
    pub shell: String,
    /// What stands between commands and the machine, in words.
    pub sandbox: String,
    /// The version of Neco.
    pub version: String,
}

/// How a session is opened.
#[derive(Clone, Debug)]
pub struct SessionOptions {
    /// The model or group; `None` stands for the session's own, or the default one.
    pub model: Option<String>,
    /// The model or group when nobody says otherwise.
    pub default_model: String,
    /// The mode.
    pub mode: Mode,
    /// When the person is asked. Never taken from an earlier run: what was granted then was granted for then.
    pub approval: ApprovalMode,
    /// Whether there is a person to ask.
    pub person_present: bool,
    /// Most turns for one request.
    pub max_turns: u32,
    /// What the session may use in all.
    pub budget: Budget,
}
