//! One folder: what it brings is made once, shared by the sessions in it, and made anew when its files change.

use std::mem;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::time::{Duration, Instant};

use neco_config::{Env, LoadOptions, Loaded};
use neco_ext::mcp::{ServerState, Servers};
use neco_model::{LocalServer, Models};
use neco_proto::app::AppError;
use neco_safety::path::sensitive::guard_settings;
use neco_safety::secrets::Redactor;
use neco_sandbox::{Ask, Sandbox};
use neco_workspace::Watched;
use secrecy::{ExposeSecret, SecretString};

use crate::running_sessions::RunningSessions;
use crate::workspace::fingerprint::Fingerprint;
use crate::workspace::plugged::Plugged;
use crate::workspace::told_files::ToldFiles;
use crate::workspace::{keys, sandbox, servers, wanted_logins};
use crate::{error, services};

/// How long what the keyring said is believed.
const KEYRING: Duration = Duration::from_secs(30);

/// Between the opening of a folder and the first turn in it, where nobody waits between the two.
const ONE_GO: Duration = Duration::from_millis(100);

/// What a folder brings, as its files were when they were read.
pub struct FolderState {
    /// The settings.
    pub loaded: Loaded,
    /// The models.
    pub models: Arc<Models>,
    /// What it would switch on, and how far that is trusted.
    pub plugged: Plugged,
    /// Files that tell the model something.
    pub told: ToldFiles,
    /// What commands run in.
    pub sandbox: Sandbox,
    /// Servers of this machine that answered when no other model was there.
    local: Mutex<Vec<LocalServer>>,
    /// Whether a session has the models for its own.
    is_taken: AtomicBool,
}

impl FolderState {
    /// Has the models of servers that answered.
    pub fn use_local(&self, servers: Vec<LocalServer>) {
        self.models.use_local(&servers);
        *self.local.lock().unwrap_or_else(PoisonError::into_inner) = servers;
    }

    /// The same models for one session: which of a group answers, and where a script is, is nobody else's. The first
    /// session has those that are there.
    pub(crate) fn own_models(&self, env: &Env) -> Result<Arc<Models>, AppError> {
        if !self.is_taken.swap(true, Ordering::Relaxed) {
            return Ok(Arc::clone(&self.models));
        }
        let models = services::models(&self.loaded.config, env)?;
        let local = self.local.lock().unwrap_or_else(PoisonError::into_inner);
        if !local.is_empty() {
            models.use_local(&local);
        }
        Ok(Arc::new(models))
    }

    /// Whether the models are the same, and asked with the same keys.
    pub(crate) fn has_models_of(&self, other: &Self) -> bool {
        fn shown<'a>((place, key): (&'a str, &'a SecretString)) -> (&'a str, &'a str) {
            (place, key.expose_secret())
        }
        let (own, theirs) = (&self.loaded.config, &other.loaded.config);
        own.model == theirs.model
            && own.model_groups == theirs.model_groups
            && own.models == theirs.models
            && own.model_providers == theirs.model_providers
            && own.network == theirs.network
            && self.models.secrets().map(shown).eq(other.models.secrets().map(shown))
    }

    /// What a person should know of it.
    pub(crate) fn notes(&self) -> Vec<String> {
        let warnings = self.loaded.warnings.iter().map(ToString::to_string);
        warnings.chain(self.plugged.notices.iter().cloned()).chain(self.plugged.note()).collect()
    }
}

/// One folder and what it brings to the work in it.
///
/// What belongs to the opening of a session is not in here: its environment, its flags and what they grant.
pub struct Workspace {
    env: Env,
    folder: PathBuf,
    overrides: Vec<String>,
    /// Hides the keys of all folders of the process.
    redactor: Redactor,
    open: RunningSessions,
    now: Mutex<Arc<FolderState>>,
    /// Its MCP servers, once somebody works in it.
    servers: OnceLock<Servers>,
    /// What `now` was made of. Held while files are read, by threads that may wait: whoever asks what there is does not.
    seen: Mutex<Seen>,
}

/// What a state was made of.
struct Seen {
    files: Fingerprint,
    skills: Watched,
    /// What tells that the keyring has other keys, and when it was asked: it is another process, which may ask a person.
    keyring: Option<String>,
    asked: Instant,
    /// Whether nobody looked again since.
    is_new: bool,
}

impl Workspace {
    /// Reads what a folder brings; `overrides` are settings that outrank those of files, and `redactor` learns the keys.
    ///
    /// # Errors
    /// When its files can't be used.
    pub(crate) fn open(
        env: &Env,
        folder: &Path,
        overrides: &[String],
        redactor: &Redactor,
        open: RunningSessions,
    ) -> Result<Self, AppError> {
        let config_dir = env.config_dir();
        guard_settings(config_dir.canonicalize().unwrap_or_else(|_| config_dir.to_owned()));
        let files = Fingerprint::take(env, folder);
        let loaded = load(env, folder, overrides)?;
        let keyring = keys::in_keyring(&loaded.config);
        let mut plugged = Plugged::look(env, folder, &loaded);
        let skills = mem::take(&mut plugged.skill_files);
        let seen = Seen { files, skills, keyring, asked: Instant::now(), is_new: true };
        let state = made(env, plugged, loaded, None, redactor)?;
        Ok(Self {
            env: env.clone(),
            folder: folder.to_owned(),
            overrides: overrides.to_vec(),
            redactor: redactor.clone(),
            open,
            now: Mutex::new(Arc::new(state)),
            servers: OnceLock::new(),
            seen: Mutex::new(seen),
        })
    }

    /// The folder.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// The environment that its settings were found with.
    pub fn env(&self) -> &Env {
        &self.env
    }

    /// Hides the keys of all folders of the process.
    pub(crate) fn redactor(&self) -> &Redactor {
        &self.redactor
    }

    /// The sessions that the process has open, in whatever folder.
    pub(crate) fn running_sessions(&self) -> &RunningSessions {
        &self.open
    }

    /// Its MCP servers: made once, shared by the sessions in it. None is started by that.
    pub fn servers(self: &Arc<Self>) -> &Servers {
        let mut made_of = None;
        let servers = self.servers.get_or_init(|| servers::servers(self, made_of.insert(self.now())));
        // Files may have been edited since, and whoever read them saw no servers yet.
        while let Some(state) = made_of.take() {
            let now = self.now();
            if !Arc::ptr_eq(&state, &now) {
                servers.renew(servers::known(self, &now));
                servers::plug_in_scripts(servers, &now);
                made_of = Some(now);
            }
        }
        servers
    }

    /// Ends those of its MCP servers that run; ready when they are gone. They are started again when they are needed.
    pub(crate) async fn end_servers(&self) {
        let Some(servers) = self.servers.get() else { return };
        let data_dir = self.env.data_dir().to_owned();
        let asked = servers.standing(|_, state| matches!(state, ServerState::NeedsLogin | ServerState::Running));
        let keeping = tokio::task::spawn_blocking(move || wanted_logins::keep(&data_dir, &asked));
        // What could not be kept is found out again.
        let _ = keeping.await;
        servers.close().await;
    }

    /// What it brings, as far as that is known.
    pub fn now(&self) -> Arc<FolderState> {
        Arc::clone(&self.now.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// Looks whether files were edited, and reads them then. It may block.
    ///
    /// # Errors
    /// When they can't be used as they are: what there was stays, [`Workspace::now`] gives it, and the next look tries
    /// them again.
    pub fn look_again(&self) -> Result<Arc<FolderState>, AppError> {
        let mut seen = self.seen.lock().unwrap_or_else(PoisonError::into_inner);
        let before = self.now();
        // A start opens the folder and takes its first turn in one go.
        if mem::take(&mut seen.is_new) && seen.asked.elapsed() < ONE_GO {
            return Ok(before);
        }
        let mut is_same = true;
        if seen.asked.elapsed() > KEYRING {
            is_same = keys::in_keyring(&before.loaded.config) == seen.keyring;
            seen.asked = Instant::now();
        }
        is_same &= seen.skills.is_current();
        if is_same && seen.files.is_current() {
            return Ok(before);
        }
        let files = Fingerprint::take(&self.env, &self.folder);
        if is_same && files.is_of_the_same_files(&seen.files) {
            seen.files = files;
            return Ok(before);
        }
        self.read(&mut seen, &before, files)?;
        Ok(self.now())
    }

    /// Reads its files, edited or not. It may block.
    ///
    /// # Errors
    /// When they can't be used as they are: what there was stays.
    pub(crate) fn read_anew(&self) -> Result<(), AppError> {
        let mut seen = self.seen.lock().unwrap_or_else(PoisonError::into_inner);
        self.read(&mut seen, &self.now(), Fingerprint::take(&self.env, &self.folder))
    }

    /// Reads its files, which were these.
    fn read(&self, seen: &mut Seen, before: &FolderState, files: Fingerprint) -> Result<(), AppError> {
        let loaded = load(&self.env, &self.folder, &self.overrides)?;
        let keyring = keys::in_keyring(&loaded.config);
        let mut plugged = Plugged::look(&self.env, &self.folder, &loaded);
        plugged.keep_guards(&before.plugged);
        let skills = mem::take(&mut plugged.skill_files);
        self.replace(made(&self.env, plugged, loaded, Some(before), &self.redactor)?);
        *seen = Seen { files, skills, keyring, asked: Instant::now(), is_new: false };
        Ok(())
    }

    /// What the folder would switch on as it lies there now, for somebody to decide about. It may block.
    pub fn plugged(&self) -> Plugged {
        Plugged::look(&self.env, &self.folder, &self.now().loaded)
    }

    /// What was decided about holds from now on. It may block.
    ///
    /// # Errors
    /// When the files of the folder can't be used any more.
    pub fn switch(&self, plugged: Plugged) -> Result<(), AppError> {
        let _seen = self.seen.lock().unwrap_or_else(PoisonError::into_inner);
        let before = self.now();
        // Exactly what was shown counts, whatever lies there by now.
        self.replace(made(&self.env, plugged, before.loaded.clone(), Some(&before), &self.redactor)?);
        Ok(())
    }

    fn replace(&self, state: FolderState) {
        let state = Arc::new(state);
        *self.now.lock().unwrap_or_else(PoisonError::into_inner) = Arc::clone(&state);
        if let Some(servers) = self.servers.get() {
            servers.renew(servers::known(self, &state));
            servers::plug_in_scripts(servers, &state);
        }
    }
}

fn load(env: &Env, folder: &Path, overrides: &[String]) -> Result<Loaded, AppError> {
    neco_config::load(LoadOptions { env, cwd: folder, overrides }).map_err(|error| error::of_config(&error))
}

fn made(
    env: &Env,
    plugged: Plugged,
    loaded: Loaded,
    before: Option<&FolderState>,
    redactor: &Redactor,
) -> Result<FolderState, AppError> {
    let local = before.map(|before| before.local.lock().unwrap_or_else(PoisonError::into_inner).clone());
    let local = local.unwrap_or_default();
    let models = services::models(&loaded.config, env)?;
    redactor.learn(services::secrets(&models));
    if !local.is_empty() {
        models.use_local(&local);
    }
    Ok(FolderState {
        models: Arc::new(models),
        told: ToldFiles::find(env, &plugged)?,
        sandbox: sandbox::open(&loaded.config, env, Ask::IfChanged)?,
        local: Mutex::new(local),
        is_taken: AtomicBool::new(false),
        plugged,
        loaded,
    })
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn a_skill_is_seen_in_a_group_and_in_a_folder_of_the_settings() {
        let home = tempfile::tempdir().unwrap();
        let own = home.path().join("own");
        let env = Env::for_test([("NECO_HOME", own.to_str().unwrap())], home.path());
        fs::create_dir_all(&own).unwrap();
        fs::write(own.join("config.toml"), "[skills]\nfolders = [\"~/more\"]\n").unwrap();
        let folder = home.path().join("project");
        fs::create_dir(&folder).unwrap();
        let workspace = Workspace::open(&env, &folder, &[], &Redactor::default(), RunningSessions::default()).unwrap();
        for (number, place) in ["more/one", "own/skills/group/two", "more/a/b/three"].into_iter().enumerate() {
            let before = workspace.look_again().unwrap();
            assert!(Arc::ptr_eq(&before, &workspace.look_again().unwrap()), "{place}");
            let skill = home.path().join(place);
            fs::create_dir_all(&skill).unwrap();
            fs::write(skill.join("SKILL.md"), "---\ndescription: as it was\n---\n").unwrap();
            let found = || workspace.look_again().unwrap().plugged.found_skills().skills.clone();
            assert_eq!(found().len(), number + 1, "{place}");
            fs::write(skill.join("SKILL.md"), "---\ndescription: as it was edited\n---\n").unwrap();
            let is_edited = |found: &neco_ext::skills::Skill| found.head.description == "as it was edited";
            assert!(found().iter().all(is_edited), "{place}");
            let made = workspace.look_again().unwrap();
            fs::write(skill.join("beside.md"), "x").unwrap();
            assert!(Arc::ptr_eq(&made, &workspace.look_again().unwrap()), "what lies beside it is no skill");
        }
    }
}
