//! What a model would be told, and how much room each part takes.
//!
//! Nothing is asked and nothing is kept: a session is opened on a store in memory, with what the real
//! store has of it, and says what it would send.

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use neco_config::{Config, Env, Loaded};
use neco_ext::mcp::{ServerState, Servers};
use neco_model::route::Timeouts;
use neco_model::scripted::ScriptedModel;
use neco_model::{Models, Provider, SetupError};
use neco_proto::app::AppError;
use neco_proto::app::opening::OpenSession;
use neco_proto::app::rules::GivenRules;
use neco_proto::{Answer, Client, ClientError, Mode, PromptReport, Query};
use neco_safety::policy::LoadedPolicy;
use neco_safety::secrets::Redactor;
use neco_sandbox::Ask;
use neco_session::Hub;
use neco_session::hub::FindModel;
use neco_store::{Catalog, Durability, EventLog, MemoryStore, SessionRecord, SqliteStore, lease_and_append};

use crate::app::StorelessApp;
use crate::error::{failed, of_session, of_store};
use crate::memory;
use crate::opening::Opening;
use crate::services::{self, ServiceSetup};
use crate::workspace::plugged::Plugged;
use crate::workspace::rules::RuleFlags;
use crate::workspace::told_files::ToldFiles;
use crate::workspace::{rules, sandbox};

/// How many events are read from a log at a time.
const PAGE: usize = 2048;

/// What is to be said of an answer, or was found before it failed.
#[derive(Clone, Default)]
struct Notes(Arc<Mutex<Vec<String>>>);

impl Notes {
    /// Adds a note, once.
    fn add(&self, words: impl ToString) {
        let (mut notes, words) = (self.0.lock().unwrap_or_else(PoisonError::into_inner), words.to_string());
        if !notes.contains(&words) {
            notes.push(words);
        }
    }

    fn all(&self) -> Vec<String> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

/// Whose prompt is shown.
#[derive(Clone, Debug, Default)]
pub struct ShowPrompt {
    /// The folder that a new session would work in.
    pub folder: String,
    /// The session whose id begins so; a new one without it.
    pub session: Option<String>,
    /// The model or group, where another one is meant.
    pub model: Option<String>,
    /// The mode, where another one is meant.
    pub mode: Option<Mode>,
    /// The generation of tools and prompt, where another one is meant.
    pub generation: Option<u8>,
    /// The only tools that there are; all where none is named.
    pub tools: Vec<String>,
    /// Rules that are given besides: they say which files may be told.
    pub given: GivenRules,
}

/// What a model would be told.
#[derive(Clone, Debug)]
pub struct ShownPrompt {
    /// All of it.
    pub report: PromptReport,
    /// What it has to be read with.
    pub warnings: Vec<String>,
}

/// Shows exactly what a model would be told now.
///
/// # Errors
/// When the session, the configuration or a prompt can't be used.
pub async fn show(app: &StorelessApp, request: ShowPrompt) -> Result<ShownPrompt, AppError> {
    let notes = Notes::default();
    match told(app, &request, &notes).await {
        Ok(report) => Ok(ShownPrompt { report, warnings: notes.all() }),
        Err(error) => Err(error.after(&notes.all())),
    }
}

async fn told(app: &StorelessApp, request: &ShowPrompt, notes: &Notes) -> Result<PromptReport, AppError> {
    let memory = Arc::new(MemoryStore::default());
    let record = match &request.session {
        Some(id) => Some(copied(id, &app.env, &memory, notes).await?),
        None => None,
    };
    let folder = PathBuf::from(record.as_ref().map_or(&request.folder, |record| &record.cwd));
    let loaded = app.settings(&folder)?;
    loaded.warnings.iter().for_each(|warning| notes.add(warning));
    let kept = tempfile::tempdir().map_err(failed)?;
    let is_new = record.is_none();
    if is_new {
        plans_into(kept.path(), &app.env).map_err(failed)?;
    }
    let hub = hub(app, request, &memory, &folder, &loaded, kept.path(), notes)?;
    let wanted = OpenSession {
        model: request.model.clone(),
        mode: request.mode,
        generation: request.generation,
        attended: true,
        interactive: true,
        ..OpenSession::default()
    };
    let opening = Opening { wanted, ..Opening::default() };
    let options = opening.options(&loaded, loaded.config.model.clone().unwrap_or_default())?;
    let session = match record {
        Some(record) => hub.open(record, options).await,
        None => hub.create(&folder, options).await,
    };
    let session = session.map_err(of_session)?;
    let answer = session.ask(Query::Prompt).await;
    session.close().await;
    if is_new && loaded.config.memory.enabled && memory::count(&app.env, &folder).await > 0 {
        notes.add("what is recalled from the memory is chosen with the first message, so it is not shown here");
    }
    match answer {
        Ok(Answer::Prompt(report)) => Ok(report),
        Ok(_) | Err(ClientError::Gone) => Err(failed("the session does not answer")),
        Err(error @ (ClientError::Refused(_) | ClientError::Failed { .. })) => Err(failed(error)),
    }
}

/// A new session is told of plans that others left: they are part of what would be sent.
fn plans_into(data_dir: &Path, env: &Env) -> std::io::Result<()> {
    let Ok(plans) = std::fs::read_dir(env.data_dir().join("plans")) else { return Ok(()) };
    let folder = data_dir.join("plans");
    std::fs::create_dir_all(&folder)?;
    for plan in plans.filter_map(Result::ok) {
        std::fs::copy(plan.path(), folder.join(plan.file_name()))?;
    }
    Ok(())
}

/// Copies a session of the real store into memory: opening it adds to its log.
async fn copied(id: &str, env: &Env, memory: &Arc<MemoryStore>, notes: &Notes) -> Result<SessionRecord, AppError> {
    let store = services::open_store(env.data_dir()).await?;
    store.set_aside().into_iter().for_each(|aside| notes.add(aside));
    let hub = services::hub(&store, ServiceSetup::bare(env, &Config::built_in()))?;
    let record = hub.find(id).await.map_err(of_session)?;
    copy(&store, &record, memory).await.map_err(of_store)?;
    Ok(record)
}

async fn copy(
    store: &Arc<SqliteStore>,
    record: &SessionRecord,
    memory: &Arc<MemoryStore>,
) -> Result<(), neco_store::StoreError> {
    memory.create(record.clone()).await?;
    let mut since = 0;
    loop {
        let page = store.read(record.id, since, PAGE).await?;
        let Some(last) = page.last() else { break };
        since = last.seq;
        lease_and_append(memory.as_ref(), page, Durability::Soon).await?;
    }
    store.close().await
}

fn hub(
    app: &StorelessApp,
    request: &ShowPrompt,
    memory: &Arc<MemoryStore>,
    folder: &Path,
    loaded: &Loaded,
    data_dir: &Path,
    notes: &Notes,
) -> Result<Hub, AppError> {
    let (config, env) = (&loaded.config, &app.env);
    let models = services::models(config, env)?;
    let plugged = Plugged::look(env, folder, loaded);
    plugged.note().iter().for_each(|note| notes.add(note));
    let rules = rules::load(&RuleFlags::from(&request.given), env, folder, loaded, &plugged)?;
    let LoadedPolicy { policy, warnings, .. } = rules;
    warnings.iter().for_each(|warning| notes.add(warning));
    let redactor = Redactor::new(services::secrets(&models));
    let workspace = app.own_workspace(folder)?;
    let unknown = unknown_servers(workspace.servers());
    if !unknown.is_empty() {
        let words = "their tools are not shown, as nothing is known of them yet; `neco mcp test NAME` asks one";
        notes.add(format!("MCP servers: {}; {words}", unknown.join(", ")));
    }
    let setup = ServiceSetup {
        servers: Some(workspace.servers().clone()),
        tools: request.tools.clone(),
        policy,
        told: ToldFiles::find(env, &plugged)?,
        sandbox: Some(sandbox::open(config, env, Ask::IfChanged)?),
        environment: services::environment(env),
        redactor,
        data_dir: data_dir.to_owned(),
        find_model: find_model(models, notes.clone()),
        ..ServiceSetup::bare(env, config)
    };
    services::hub(memory, setup)
}

/// The servers of which nobody knows yet what they offer: a session starts them before its first turn, and nothing is
/// started here.
fn unknown_servers(servers: &Servers) -> Vec<String> {
    let unknown = servers.standing(|_, state| *state == ServerState::Configured);
    unknown.into_iter().map(|(settings, _)| settings.name).collect()
}

/// What would be told is worth knowing before there is a model, too.
fn find_model(models: Models, notes: Notes) -> FindModel {
    Arc::new(move |name| {
        if name.is_empty() && models.default_name().is_err() {
            notes.add("no model is configured, so nothing is known of its window");
            return Ok(Arc::new(ScriptedModel::new("no", "model", Arc::default(), Timeouts::default())));
        }
        let name = if name.is_empty() { models.default_name() } else { Ok(name.to_owned()) };
        name.and_then(|name| found_or_known(&models, &name, &notes))
    })
}

/// Nobody is asked anything here, so a model whose key is missing is as good as one that could be asked.
fn found_or_known(models: &Models, name: &str, notes: &Notes) -> Result<Arc<dyn Provider>, SetupError> {
    let error = match models.provider_for(name) {
        Err(error @ SetupError::MissingKey { .. }) => error,
        found => return found,
    };
    let (members, _) = models.members(name)?;
    let Some(member) = members.first() else { return Err(error) };
    let window = Some(models.info(name)?.context_window);
    notes.add(format!("{error}; nothing is asked here, so it is shown all the same"));
    let model = ScriptedModel::new(&member.provider, &member.model, Arc::default(), Timeouts::default());
    Ok(Arc::new(model.with_window(window)))
}
