//! What was edited while a session is open: what it takes up, and what the person should know of that.

use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};

use neco_config::section::SandboxLevel;
use neco_safety::secrets::Redactor;
use neco_session::hub::{LookAgain, Looked};

use crate::opening::Opening;
use crate::session_models::SessionModels;
use crate::workspace::{FolderState, Workspace};

/// Settings that a session has of its own from when it was opened.
pub(crate) const OF_SESSIONS: &[&str] = &[
    "model",
    "mode",
    "approval",
    "agent.max_turns",
    "agent.max_cost",
    "agent.max_tokens",
    "agent.max_seconds",
    "agent.generation",
];

/// What a person should know of settings that are others now: those of the sandbox hold from here on, those that a
/// session has of its own do not.
fn changed(before: &FolderState, now: &FolderState) -> Vec<String> {
    let value = |state: &FolderState, key: &str| state.loaded.origins.get(key).map(|set| set.value.clone());
    let keys = [before, now].into_iter().flat_map(|state| state.loaded.origins.settings());
    let mut keys: Vec<&str> = keys.map(|set| set.key.as_str()).collect();
    keys.sort_unstable();
    keys.dedup();
    let words = keys.into_iter().filter(|key| value(before, key) != value(now, key)).filter_map(|key| {
        let set = value(now, key).map_or_else(|| format!("{key} is no longer set"), |value| format!("{key} = {value}"));
        match OF_SESSIONS.contains(&key) {
            true => Some(format!("Setting {set}: takes effect in new sessions, not in this one")),
            false => key.starts_with("sandbox.").then(|| format!("Setting {set}: in effect now")),
        }
    });
    words.collect()
}

/// What a session was made of, or took up last.
pub(crate) struct Used {
    pub state: Arc<FolderState>,
    /// What was said of its rules.
    pub warnings: Vec<String>,
    /// The folders that had been added to it.
    pub added: Vec<PathBuf>,
    /// The level of the sandbox that it had been given.
    pub level: Option<SandboxLevel>,
}

/// Looks whether what the folder brings was edited since this opening took it up last. What can't be used is tried again
/// at the next look: the reason may pass.
pub(crate) fn look_again(
    workspace: &Arc<Workspace>,
    used: Used,
    opening: Opening,
    redactor: Redactor,
    models: Arc<SessionModels>,
) -> LookAgain {
    let (workspace, used) = (Arc::clone(workspace), Mutex::new(used));
    Arc::new(move || {
        let state = match workspace.look_again() {
            Ok(state) => state,
            Err(error) => return Looked::Broken(error.message),
        };
        models.renew(&state, workspace.env());
        let mut used = used.lock().unwrap_or_else(PoisonError::into_inner);
        // The last word counts: a level that is set anew takes the place of what the session was given before.
        let set = |state: &FolderState| state.loaded.config.sandbox.level;
        if set(&state) != set(&used.state) {
            opening.level.set(None);
        }
        let (added, level) = (opening.added.all(), opening.level.get());
        if Arc::ptr_eq(&state, &used.state) && added == used.added && level == used.level {
            return Looked::Same;
        }
        match opening.deps(&workspace, &state, &redactor) {
            Ok((deps, warnings)) => {
                let before = [used.state.notes(), std::mem::take(&mut used.warnings)].concat();
                let now = state.notes().into_iter().chain(warnings.iter().cloned());
                let news = now.filter(|note| !before.contains(note)).chain(changed(&used.state, &state)).collect();
                *used = Used { state, warnings, added, level };
                Looked::Anew(Box::new(deps), news)
            }
            Err(error) => Looked::Broken(error.message),
        }
    })
}
