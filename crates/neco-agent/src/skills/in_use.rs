//! The skills that an agent has in use, as whoever starts another one for it sees them.

use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use serde::{Deserialize, Serialize};

/// What holds for an agent that uses a skill, and for those below it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct SkillLimit {
    /// The skill.
    pub name: String,
    /// Its folder, which may be read.
    pub folder: PathBuf,
    /// The calls that it leaves, as rules are written; none for no limit.
    pub allowed_tools: Option<Vec<String>>,
    /// Whether its hooks guard the calls.
    #[serde(default)]
    pub hooks: bool,
}

/// The skills of an agent's present request; clones tell of the same agent.
#[derive(Clone, Debug, Default)]
pub struct InUse(Arc<Mutex<OfRequest>>);

#[derive(Debug, Default)]
struct OfRequest {
    limits: Vec<SkillLimit>,
    /// Those that the person named, in use or left to an agent of its own.
    asked: Vec<String>,
}

impl InUse {
    /// What holds for those that the agent starts.
    pub fn limits(&self) -> Vec<SkillLimit> {
        self.of_request().limits.clone()
    }

    /// Whether the person asked for the skill of a name: it is theirs to have used.
    pub fn was_asked_for(&self, name: &str) -> bool {
        let bare = name.trim().trim_start_matches(['$', '/']);
        self.of_request().asked.iter().any(|asked| asked.eq_ignore_ascii_case(bare))
    }

    pub(crate) fn ask_for(&self, name: &str) {
        self.of_request().asked.push(name.to_owned());
    }

    pub(crate) fn hold(&self, limits: Vec<SkillLimit>) {
        self.of_request().limits = limits;
    }

    /// The request has ended.
    pub(crate) fn end(&self) {
        *self.of_request() = OfRequest::default();
    }

    fn of_request(&self) -> MutexGuard<'_, OfRequest> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
