//! Taking up what was edited while a session is open: settings, rules files, prompts, hooks and definitions.
//!
//! Whoever made the hub knows which files it was made of and looks at them again; here their place in the session is
//! given to what they say now. What an edit broke changes nothing, and is said once.

use std::collections::HashSet;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError, Weak};
use std::time::Duration;

use futures::future::BoxFuture;
use neco_agent::context::Source;
use neco_agent::{EventSink, Renewal, Renewed, SinkError};
use neco_model::Provider;
use neco_proto::event::{EnvironmentTold, Notification, NotificationLevel};
use neco_proto::{EventBody, SessionId};
use neco_safety::policy::Rule;
use neco_toolkit::{DynTool, Registry};

use super::children::{AgentList, ChildFactory};
use super::hub::Hub;
use super::options::{AgentDeps, Preparation};
use crate::error::SessionError;
use crate::memory::tools as memory_tools;
use crate::roles::Definitions;
use crate::sources::Rules;
use crate::tree::AgentSupervisor;

/// What takes no longer is not spoken of.
const SOON: Duration = Duration::from_secs(1);

/// What came of looking at the files that a hub was made of.
pub enum Looked {
    /// Nothing was edited since the last look.
    Same,
    /// This takes the place of what there was, and a person should know the rest.
    Anew(Box<AgentDeps>, Vec<String>),
    /// Something was edited so that it can't be used; says what.
    Broken(String),
}

/// Looks whether the files that a hub was made of were edited. It may block.
pub type LookAgain = Arc<dyn Fn() -> Looked + Send + Sync>;

/// Makes the tools of a session that say what definitions and workflows there are.
pub(super) type OwnTools = Box<dyn Fn(&AgentDeps, &Definitions) -> Vec<Arc<dyn DynTool>> + Send + Sync>;

/// What files say in a session, as it was read last; a clone is the same.
#[derive(Clone)]
pub struct Current(Arc<Mutex<Told>>);

struct Told {
    rules: Arc<Rules>,
    definitions: Arc<Definitions>,
    /// The permission rules that are kept for good, if they changed since everything was read.
    kept: Option<Vec<Rule>>,
    /// What was edited and could not be taken up yet, with what is to be said of it: the reason may pass.
    waiting: Option<Waiting>,
}

type Waiting = (Arc<AgentDeps>, Vec<String>);

impl Current {
    /// As they were just read.
    pub fn new(rules: Arc<Rules>, definitions: Arc<Definitions>) -> Self {
        Self(Arc::new(Mutex::new(Told { rules, definitions, kept: None, waiting: None })))
    }

    /// The rules files.
    pub fn rules(&self) -> Arc<Rules> {
        Arc::clone(&self.0.lock().unwrap_or_else(PoisonError::into_inner).rules)
    }

    /// Who agents can be.
    pub fn definitions(&self) -> Arc<Definitions> {
        Arc::clone(&self.0.lock().unwrap_or_else(PoisonError::into_inner).definitions)
    }

    /// The permission rules that are kept for good, if they changed since everything was read.
    pub fn kept(&self) -> Option<Vec<Rule>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).kept.clone()
    }

    /// The permission rules that are kept for good are these now.
    pub fn keep(&self, rules: Vec<Rule>) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).kept = Some(rules);
    }

    /// This was edited and can't be taken up yet. It waits although the agents are made anew, as by a rewind.
    fn wait(&self, waiting: Option<Waiting>) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).waiting = waiting;
    }

    fn take_waiting(&self) -> Option<Waiting> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).waiting.take()
    }

    /// The rules files say the same, and were looked for anew.
    fn look_with(&self, rules: Arc<Rules>) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).rules = rules;
    }

    /// What files say is this now; `kept` are the permission rules that are kept for good, if they were not read with it.
    fn replace(&self, rules: Arc<Rules>, definitions: Arc<Definitions>, kept: Option<Vec<Rule>>) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = Told { rules, definitions, kept, waiting: None };
    }
}

/// Where an agent works, and what is known of that which no edit changes.
#[derive(Clone)]
pub struct WorkPlace {
    pub session: SessionId,
    pub cwd: PathBuf,
    /// Folders of big outputs that it may read.
    pub readable: Vec<PathBuf>,
    /// What the model is told of the place.
    pub environment: Option<EnvironmentTold>,
}

/// Looks before every turn of any agent of a session whether what they work with was edited.
pub(super) struct SessionRenewal {
    pub hub: Hub,
    pub place: WorkPlace,
    pub sink: Arc<dyn EventSink>,
    pub provider: Arc<dyn Provider>,
    pub current: Current,
    /// What is put before the model of what was remembered.
    pub recalled: Option<Arc<dyn Source>>,
    /// The tools that the root was made with. They know files and have processes, so they stay.
    pub tools: Registry,
    /// Makes those of the session's tools that say what definitions and workflows there are.
    pub own_tools: OwnTools,
    pub factory: Arc<ChildFactory>,
    pub supervisor: Weak<AgentSupervisor>,
    pub seen: tokio::sync::Mutex<Seen>,
    /// What was said already.
    pub said: Mutex<HashSet<String>>,
}

/// What a session has taken up so far.
pub(super) struct Seen {
    deps: Arc<AgentDeps>,
    /// How often something was taken up, and what it was last.
    last: (u64, Option<Renewed>),
}

impl Seen {
    /// Nothing but what the session was made of.
    pub fn new(deps: Arc<AgentDeps>) -> Self {
        Self { deps, last: (0, None) }
    }
}

/// Makes what the root takes up into what a child does.
pub(super) type Narrow = Box<dyn Fn(Renewed) -> Renewed + Send + Sync>;

/// The way of agents to their session's renewal, which the root keeps; a clone is the same.
#[derive(Clone, Default)]
pub(super) struct RenewalLine(Arc<Mutex<Weak<SessionRenewal>>>);

impl RenewalLine {
    /// The root was made of what the session has now.
    pub fn begin(&self, renewal: &Arc<SessionRenewal>) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = Arc::downgrade(renewal);
    }

    /// Has the session take up what was edited, before a turn does.
    pub async fn take_up(&self) -> Result<(), SinkError> {
        let Some(session) = self.session() else { return Ok(()) };
        session.look().await.map(drop)
    }

    fn session(&self) -> Option<Arc<SessionRenewal>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).upgrade()
    }
}

/// Has one agent take up what its session has taken up.
pub(super) struct AgentRenewal {
    line: RenewalLine,
    taken: Mutex<u64>,
    narrow: Narrow,
    /// The root's keeps what all of them ask.
    _kept: Option<Arc<SessionRenewal>>,
}

impl AgentRenewal {
    pub fn of_root(line: &RenewalLine, renewal: Arc<SessionRenewal>) -> Self {
        line.begin(&renewal);
        Self { _kept: Some(renewal), ..Self::of_child(line, Box::new(|renewed| renewed)) }
    }

    /// For a child. Before its first turn it takes up what the session took up last: that may have been while it was made.
    pub fn of_child(line: &RenewalLine, narrow: Narrow) -> Self {
        Self { line: line.clone(), taken: Mutex::new(0), narrow, _kept: None }
    }

    async fn look(&self) -> Result<Option<Renewed>, SinkError> {
        let Some(session) = self.line.session() else { return Ok(None) };
        let (number, renewed) = session.look().await?;
        let before = std::mem::replace(&mut *self.taken.lock().unwrap_or_else(PoisonError::into_inner), number);
        Ok(renewed.filter(|_| number != before).map(&self.narrow))
    }
}

impl Renewal for AgentRenewal {
    fn renew(&self) -> BoxFuture<'_, Result<Option<Renewed>, SinkError>> {
        Box::pin(self.look())
    }
}

impl SessionRenewal {
    /// How often something was taken up so far, and what it was last.
    async fn look(&self) -> Result<(u64, Option<Renewed>), SinkError> {
        let mut seen = self.seen.lock().await;
        self.prepare().await?;
        self.take_up(&mut seen).await?;
        Ok(seen.last.clone())
    }

    /// Waits for what has to be there first.
    async fn prepare(&self) -> Result<(), SinkError> {
        let Some(Preparation { words, mut work }) = self.hub.deps().prepare.as_ref().and_then(|prepare| prepare())
        else {
            return Ok(());
        };
        let told = match tokio::time::timeout(SOON, &mut work).await {
            Ok(told) => told,
            Err(_) => {
                let waits = Notification::new(NotificationLevel::Info, words());
                self.sink.emit(None, EventBody::Notification(waits)).await?;
                work.await
            }
        };
        for words in told {
            self.say(words).await?;
        }
        Ok(())
    }

    async fn take_up(&self, seen: &mut Seen) -> Result<(), SinkError> {
        let (looked, are_current) = self.hub.look_again(self.current.rules()).await;
        let (deps, notes) = match (looked, self.current.take_waiting()) {
            (Looked::Same, None) if are_current => return Ok(()),
            (Looked::Same, waiting) => waiting.unwrap_or_else(|| (self.hub.deps(), Vec::new())),
            (Looked::Anew(mut deps, notes), waiting) => {
                // Whoever keeps the states of the workspace has begun, and nobody does it beside them.
                deps.checkpoints = Arc::clone(&self.hub.deps().checkpoints);
                // What is plugged in is no file's to say.
                (deps.plugged, deps.prepare) = (self.hub.deps().plugged.clone(), self.hub.deps().prepare.clone());
                deps.resources = self.hub.deps().resources.clone();
                let unsaid = waiting.into_iter().flat_map(|(_, notes)| notes);
                (Arc::from(deps), unsaid.chain(notes).collect())
            }
            (Looked::Broken(words), waiting) => {
                self.current.wait(waiting);
                return self.keep_on(&words).await;
            }
        };
        // Rules files bring others along from anywhere, so what they say is compared, and not where they are.
        let rules = deps.rules(&self.place.cwd).await;
        let is_same = Arc::ptr_eq(&deps, &seen.deps);
        if is_same && rules.say_the_same(&self.current.rules()) {
            self.current.look_with(rules);
            return Ok(());
        }
        let (definitions, broken) = self.definitions(&deps).await;
        // The rules of older deps are as old as they are.
        let kept = self.current.kept().filter(|_| is_same);
        let renewed = match self.make(&deps, &rules, &definitions) {
            Ok(mut renewed) => {
                kept.iter().for_each(|kept| renewed.policy.renew_kept(kept.clone()));
                renewed
            }
            Err(error) => {
                self.current.wait(Some((deps, notes)));
                return self.keep_on(&error.to_string()).await;
            }
        };
        let before =
            self.hub.deps().notices(&self.current.rules(), &self.current.definitions(), self.provider.as_ref());
        let notices = deps.notices(&rules, &definitions, self.provider.as_ref());
        let news = notices.into_iter().filter(|notice| !before.contains(notice));
        self.hub.replace(Arc::clone(&deps));
        self.current.replace(rules, definitions, kept);
        *seen = Seen { deps, last: (seen.last.0 + 1, Some(renewed.clone())) };
        self.factory.renew(&renewed);
        if let (Some(supervisor), Some(tools)) = (self.supervisor.upgrade(), renewed.registry) {
            let number = seen.last.0;
            // Beside the agent: whoever has the tree may just be saying something to it.
            tokio::spawn(async move { supervisor.renew_root(number, renewed.policy, tools).await });
        }
        for notice in news {
            self.sink.emit(None, notice).await?;
        }
        for words in broken.into_iter().chain(notes) {
            self.say(words).await?;
        }
        Ok(())
    }

    /// Who agents can be now. Where files were edited so that they can't be used, everybody stays who they were.
    async fn definitions(&self, deps: &AgentDeps) -> (Arc<Definitions>, Option<String>) {
        let (new, old) = (deps.definitions(&self.place.cwd).await, self.current.definitions());
        match new.broken() {
            Some(words) if old.broken().as_ref() != Some(&words) => {
                (old, Some(format!("{words}; agents are as they were before that edit")))
            }
            Some(_) | None => (new, None),
        }
    }

    fn make(
        &self,
        deps: &AgentDeps,
        rules: &Arc<Rules>,
        definitions: &Arc<Definitions>,
    ) -> Result<Renewed, SessionError> {
        let parts = deps.parts(&self.place, rules)?;
        let mut sources = parts.told.sources;
        sources.extend(self.recalled.clone());
        sources.push(Arc::new(AgentList(Arc::clone(definitions))));
        Ok(Renewed {
            policy: parts.policy,
            world: parts.world,
            registry: Some(self.registry(deps, definitions)),
            gate: parts.gate,
            prompts: parts.told.prompts,
            sources,
            folder_rules: Some(parts.folder_rules),
            request_files: Some(parts.request_files),
            skills: parts.skills,
            limits: deps.limits,
            confinement: deps.confinement,
            network: deps.network,
        })
    }

    /// The tools that there are now, each of them the one that the agent has where it has it.
    fn registry(&self, deps: &AgentDeps, definitions: &Definitions) -> Registry {
        let mut own = (self.own_tools)(deps, definitions);
        let new: HashSet<String> = own.iter().map(|tool| tool.name().to_owned()).collect();
        let has = |name: &str| self.tools.iter().find(|tool| tool.name() == name).cloned();
        own.extend(memory_tools::listed().iter().filter_map(|tool| has(tool.name())));
        deps.registry(own).keeping(|tool| has(tool.name()).filter(|_| !new.contains(tool.name())))
    }

    /// Says that an edit can't be used: the session goes on with what it has.
    async fn keep_on(&self, words: &str) -> Result<(), SinkError> {
        self.say(format!("An edit of the settings is not used, the old ones stay in effect: {words}")).await
    }

    async fn say(&self, words: String) -> Result<(), SinkError> {
        if !self.said.lock().unwrap_or_else(PoisonError::into_inner).insert(words.clone()) {
            return Ok(());
        }
        self.sink.emit(None, EventBody::Notification(Notification::new(NotificationLevel::Warning, words))).await
    }
}
