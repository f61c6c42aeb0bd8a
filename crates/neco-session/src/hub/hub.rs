//! Making, finding and opening sessions.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use jiff::Timestamp;
use neco_agent::context::ContextSettings;
use neco_agent::plan::PlanBook;
use neco_agent::{Agent, AgentSetup, Settings};
use neco_model::Provider;
use neco_proto::event::{Notification, NotificationLevel, SessionStart};
use neco_proto::{AgentId, Event, EventBody, Message, SessionId};
use neco_safety::World;
use neco_safety::sandbox::Roots;
use neco_safety::world::Files;
use neco_store::{SessionLock, SessionRecord};
use neco_toolkit::Registry;

use super::options::{HubSetup, SessionOptions};
use crate::actor::{ActorSetup, Session};
use crate::clock::SessionClock;
use crate::error::SessionError;
use crate::fold::Fold;
use crate::journal::{AgentSink, Journal};
use crate::plans::{PlanFiles, PlanKeeper};
use crate::resume::mend;
use crate::spill::SpillFolder;

/// How many events are read from a log at a time.
const PAGE: usize = 2048;

/// Makes and opens sessions.
pub struct Hub {
    pub(super) setup: HubSetup,
}

impl Hub {
    /// A hub.
    #[must_use]
    pub fn new(setup: HubSetup) -> Self {
        Self { setup }
    }

    /// Makes a session in `cwd`.
    ///
    /// # Errors
    /// When the folder or the model can't be used, or the store fails.
    pub async fn create(&self, cwd: &Path, options: SessionOptions) -> Result<Session, SessionError> {
        let cwd = usable_folder(cwd)?;
        let now = Timestamp::now().as_millisecond();
        let record = SessionRecord {
            id: SessionId::new(),
            cwd: cwd.display().to_string(),
            title: String::new(),
            created_ms: now,
            updated_ms: now,
            events: 0,
        };
        let provider = self.provider(&options, None)?;
        let lock = SessionLock::acquire(&self.locks(), record.id)?;
        self.setup.catalog.create(record.clone()).await?;
        self.start(record, Fold::default(), lock, provider, options).await
    }

    /// Opens a session again: mends its log and goes on with its conversation.
    ///
    /// # Errors
    /// When it is open elsewhere, its folder or model can't be used, or the store fails.
    pub async fn open(&self, record: SessionRecord, options: SessionOptions) -> Result<Session, SessionError> {
        usable_folder(Path::new(&record.cwd))?;
        let lock = SessionLock::acquire(&self.locks(), record.id)?;
        let fold = self.fold(record.id).await?;
        let provider = self.provider(&options, Some(&fold.standing.model))?;
        self.start(record, fold, lock, provider, options).await
    }

    /// The one session whose id begins with `prefix`.
    ///
    /// # Errors
    /// When there is none or several.
    pub async fn find(&self, prefix: &str) -> Result<SessionRecord, SessionError> {
        let mut found = self.setup.catalog.find(prefix, 5).await?;
        match found.len() {
            0 => Err(SessionError::NotFound(prefix.to_owned())),
            1 => Ok(found.remove(0)),
            _ => Err(SessionError::Ambiguous {
                prefix: prefix.to_owned(),
                matches: found.iter().map(|record| record.id.to_string()).collect(),
            }),
        }
    }

    /// The session last used in `cwd`.
    ///
    /// # Errors
    /// When there is none.
    pub async fn latest(&self, cwd: &Path) -> Result<SessionRecord, SessionError> {
        let cwd = usable_folder(cwd)?.display().to_string();
        let mut found = self.setup.catalog.list(Some(&cwd), 1).await?;
        if found.is_empty() {
            return Err(SessionError::NoneHere(cwd));
        }
        Ok(found.remove(0))
    }

    /// Sessions by last use, newest first.
    ///
    /// # Errors
    /// When the store fails.
    pub async fn list(&self, cwd: Option<&Path>, limit: usize) -> Result<Vec<SessionRecord>, SessionError> {
        let cwd = cwd.map(usable_folder).transpose()?.map(|cwd| cwd.display().to_string());
        Ok(self.setup.catalog.list(cwd.as_deref(), limit).await?)
    }

    /// What a session's log adds up to, without opening it.
    ///
    /// # Errors
    /// When the store fails.
    pub async fn fold(&self, session: SessionId) -> Result<Fold, SessionError> {
        let mut fold = Fold::default();
        self.each_event(session, |event| fold.apply(event)).await?;
        Ok(fold)
    }

    /// Calls `take` with every event of a session, oldest first.
    ///
    /// # Errors
    /// When the store fails.
    pub async fn each_event(&self, session: SessionId, mut take: impl FnMut(&Event)) -> Result<(), SessionError> {
        let mut since = 0;
        loop {
            let page = self.setup.log.read(session, since, PAGE).await?;
            page.iter().for_each(&mut take);
            match page.last() {
                Some(event) if page.len() == PAGE => since = event.seq,
                Some(_) | None => return Ok(()),
            }
        }
    }

    fn locks(&self) -> PathBuf {
        self.setup.data_dir.join("locks")
    }

    fn provider(&self, options: &SessionOptions, own: Option<&String>) -> Result<Arc<dyn Provider>, SessionError> {
        let find = |name: &str| (self.setup.find_model)(name).map_err(SessionError::Model);
        if let Some(model) = &options.model {
            return find(model);
        }
        // A conversation is not sent to another vendor without a word: when its own model is gone, the person chooses.
        match own.filter(|own| !own.is_empty()) {
            Some(own) => {
                (self.setup.find_model)(own).map_err(|reason| SessionError::OwnModel { model: own.clone(), reason })
            }
            None => find(&options.default_model),
        }
    }

    async fn start(
        &self,
        record: SessionRecord,
        mut fold: Fold,
        lock: SessionLock,
        provider: Arc<dyn Provider>,
        options: SessionOptions,
    ) -> Result<Session, SessionError> {
        let root = fold.standing.root_agent.unwrap_or_else(AgentId::new);
        let resumed = fold.standing.last_seq > 0;
        let journal = Arc::new(Journal::new(
            record.id,
            Arc::clone(&self.setup.log),
            fold.standing.clone(),
            self.setup.workshop.redactor.clone(),
        ));
        let first_new = fold.standing.last_seq;
        for body in mend(&fold) {
            journal.emit(root, fold.turn, body).await?;
        }
        let left = if resumed { Vec::new() } else { self.left_over(&record).await };
        let must_read = resumed || !left.is_empty();
        for body in left {
            journal.emit(root, None, body).await?;
        }
        let (mode, generation) = options.ways(&fold.standing);
        let start = SessionStart {
            mode,
            generation: generation.number(),
            ..self.session_start(&record, provider.as_ref(), &options, resumed)
        };
        journal.commit(root, None, EventBody::SessionStart(start)).await?;
        if must_read {
            for event in self.setup.log.read(record.id, first_new, PAGE).await? {
                fold.apply(&event);
            }
        }
        for body in self.place(&record, &mut fold).await {
            journal.emit(root, None, body).await?;
        }
        let remembering = self.remembering(&record, fold.recalled.take(), provider.as_ref());
        let setup = self.agent(&record, fold, Arc::clone(&journal), root, provider, &options)?;
        let settings = Settings { mode, ..setup.settings };
        let setup = AgentSetup { resumed, generation, settings, ..setup };
        let setup = self.with_memory(setup, remembering.as_ref(), record.id);
        let (agent, handle) = Agent::new(setup);
        Ok(Session::start(ActorSetup {
            record,
            root,
            journal,
            agent,
            handle,
            lock,
            first_seq: first_new,
            log: Arc::clone(&self.setup.log),
            catalog: Arc::clone(&self.setup.catalog),
            find_model: Arc::clone(&self.setup.find_model),
            redactor: self.setup.workshop.redactor.clone(),
            remembering,
        }))
    }

    /// What a new session is told of one before it.
    async fn left_over(&self, record: &SessionRecord) -> Vec<EventBody> {
        let Some(left) = PlanFiles::new(&self.setup.data_dir).unfinished(&record.cwd).await else { return Vec::new() };
        let id = left.session.to_string();
        // As much of it as tells sessions of the same minute apart.
        let short = id.get(..18).unwrap_or(&id);
        let text = format!(
            "session {short} left a plan unfinished here ({}); go on with it there: neco --session {short} -m continue",
            left.progress()
        );
        vec![
            EventBody::Notification(Notification { level: NotificationLevel::Info, text }),
            EventBody::Message(Message::neco(left.told())),
        ]
    }

    fn session_start(
        &self,
        record: &SessionRecord,
        provider: &dyn Provider,
        options: &SessionOptions,
        resumed: bool,
    ) -> SessionStart {
        SessionStart {
            version: self.setup.workshop.version.clone(),
            cwd: record.cwd.clone(),
            model: provider.label().to_owned(),
            scripted: provider.scripted(),
            mode: options.default_mode,
            approval: options.approval,
            generation: options.default_generation.number(),
            sandbox: self.setup.workshop.sandbox.clone(),
            resumed,
        }
    }

    fn agent(
        &self,
        record: &SessionRecord,
        fold: Fold,
        journal: Arc<Journal>,
        root: AgentId,
        provider: Arc<dyn Provider>,
        options: &SessionOptions,
    ) -> Result<AgentSetup, SessionError> {
        let workshop = &self.setup.workshop;
        let cwd = PathBuf::from(&record.cwd);
        let outputs = self.setup.data_dir.join("sessions").join(record.id.to_string()).join("outputs");
        let files = Files::new(&cwd, vec![outputs.clone()]).map_err(|error| unusable(&cwd, &error))?;
        let roots = workshop.roots.iter().map(|root| usable_folder(root)).collect::<Result<Vec<_>, _>>()?;
        let files = files.with_roots(&roots).map_err(|error| unusable(&cwd, &error))?;
        // What is too big for the model is read back from its folder, which commands would not see otherwise.
        let open =
            Roots { writable: std::iter::once(cwd.clone()).chain(roots).collect(), readable: vec![outputs.clone()] };
        let spawn = (workshop.spawner)(open).map_err(|error| unusable(&cwd, &error))?;
        let told = self.told(&cwd, fold.environment.as_ref())?;
        Ok(AgentSetup {
            provider,
            registry: Registry::default(),
            policy: (workshop.policy)(&cwd),
            rule_book: workshop.rule_book.clone(),
            world: Arc::new(World { files, spawn, net: workshop.net.clone() }),
            spill: Arc::new(SpillFolder::new(outputs, workshop.redactor.clone())),
            sink: Arc::new(PlanKeeper {
                sink: AgentSink { journal, agent: root },
                files: PlanFiles::new(&self.setup.data_dir),
                session: record.id,
                cwd: record.cwd.clone(),
                redactor: workshop.redactor.clone(),
            }),
            clock: Arc::new(SessionClock::new()),
            sources: told.sources,
            prompts: told.prompts,
            context: ContextSettings::from(&workshop.context),
            just_compacted: fold.just_compacted,
            ide_told: fold.ide_told,
            limits: workshop.limits,
            max_turns: options.max_turns,
            budget: options.budget,
            used: fold.standing.usage,
            worked: Duration::from_millis(fold.standing.worked_ms),
            generation: options.default_generation,
            book: PlanBook::new(fold.standing.todos, fold.standing.plan, fold.standing.findings),
            plans_from: fold.standing.plans_from,
            guards: workshop.guards.clone(),
            settings: Settings {
                mode: fold.standing.mode,
                approval: options.approval,
                person_present: options.person_present,
                confinement: workshop.confinement,
                network: workshop.network,
            },
            gate: (workshop.gate)(record.id, &cwd),
            resumed: false,
            history: fold.messages.into_iter().collect(),
            queued: fold.queued,
            cache_key: record.id.to_string(),
        })
    }
}

fn usable_folder(path: &Path) -> Result<PathBuf, SessionError> {
    let folder = path.canonicalize().map_err(|error| unusable(path, &error))?;
    if !folder.is_dir() {
        return Err(SessionError::Workspace {
            path: path.display().to_string(),
            reason: "it is not a folder".to_owned(),
        });
    }
    Ok(folder)
}

fn unusable(path: &Path, error: &std::io::Error) -> SessionError {
    SessionError::Workspace { path: path.display().to_string(), reason: error.to_string() }
}
