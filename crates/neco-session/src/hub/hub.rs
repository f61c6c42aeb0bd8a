//! Making, finding and opening sessions.

use std::ops::Deref;
use std::path::{Path, PathBuf};
use std::sync::{Arc, PoisonError, RwLock};

use jiff::Timestamp;
use neco_agent::context::{ContextSettings, Space};
use neco_agent::{Budget, Unfinished};
use neco_model::Provider;
use neco_model::tokens::Family;
use neco_proto::app::plans::UnfinishedPlan;
use neco_proto::event::{
    Admission, ForkedFrom, MessageQueued, ModeChange, Notification, NotificationLevel, QuestionAnswer, SessionStart,
};
use neco_proto::{Actor, AgentId, AgentOrder, CallId, Event, EventBody, Layer, Message, PROTOCOL, SessionId};
use neco_safety::secrets::Redactor;
use neco_store::{Lease, SessionRecord};

use super::context::{SessionContext, SessionCore};
use super::find::Finder;
use super::options::{AgentDeps, Extract, HubSetup, SessionOptions};
use super::renewal::{Current, Looked};
use crate::actor::{ActorSetup, Session};
use crate::aside::Aside;
use crate::error::{SessionError, short};
use crate::fold::{Fold, Standing, each_event, fold_log};
use crate::folder::{identity, why_closed};
use crate::journal::Journal;
use crate::memory::{Extraction, Memory, MemorySetup, Recall, RecallLimits};
use crate::plans::{MOST_TOLD, PlanFiles, told};
use crate::resume::{agents_interrupted, ended_with_the_run, mend, working};
use crate::sources::Rules;

/// Makes and opens sessions; a clone is the same hub.
#[derive(Clone)]
pub struct Hub {
    pub(crate) setup: Arc<HubSetup>,
    finder: Finder,
    /// As the files that they are made of say now.
    deps: Arc<RwLock<Arc<AgentDeps>>>,
}

/// Whoever opens sessions finds them, too.
impl Deref for Hub {
    type Target = Finder;

    fn deref(&self) -> &Finder {
        &self.finder
    }
}

impl Hub {
    /// A hub.
    pub fn new(setup: HubSetup) -> Self {
        let finder = Finder::new(Arc::clone(&setup.catalog), setup.data_dir.clone());
        let deps = Arc::new(RwLock::new(Arc::clone(&setup.deps)));
        Self { setup: Arc::new(setup), finder, deps }
    }

    /// Makes a session in `cwd`.
    /// Fails when the folder or the model can't be used, or the store fails.
    pub async fn create(&self, cwd: &Path, options: SessionOptions) -> Result<Session, SessionError> {
        let cwd = usable_folder(cwd)?;
        let now = Timestamp::now().as_millisecond();
        let record = SessionRecord {
            folder: identity(&cwd),
            ..SessionRecord::new(SessionId::new(), cwd.display().to_string(), now)
        };
        let provider = self.provider(&options, None)?;
        let lease = Arc::new(self.setup.log.lease(record.id).await?);
        self.setup.catalog.create(record.clone()).await?;
        let id = record.id;
        let started = self.start(record, Fold::default(), lease, provider, options).await;
        if started.is_err() {
            // Nothing stays of a session that never began; that it can't be removed says less than why it failed.
            let _ = self.setup.catalog.remove(id).await;
        }
        started
    }

    /// Opens a session again: mends its log and goes on with its conversation.
    /// Fails when it is open elsewhere, its folder or model can't be used, or the store fails.
    pub async fn open(&self, record: SessionRecord, options: SessionOptions) -> Result<Session, SessionError> {
        let folder = usable_folder(Path::new(&record.cwd))?;
        let lease = Arc::new(self.setup.log.lease(record.id).await?);
        let identity = identity(&folder);
        if identity.is_some() && identity != record.folder {
            self.setup.catalog.set_folder(record.id, &record.cwd, identity.as_deref()).await?;
        }
        let fold = self.fold_to_write(record.id).await?;
        let provider = self.provider(&options, Some(&fold.standing.model))?;
        self.start(record, fold, lease, provider, options).await
    }

    /// What a session's log adds up to, without opening it.
    pub async fn fold(&self, session: SessionId) -> Result<Fold, SessionError> {
        Ok(fold_log(self.setup.log.as_ref(), session).await?)
    }

    /// The same for whoever adds to the log.
    /// Fails when a newer version wrote something that this one must not write after, or the store fails.
    pub(super) async fn fold_to_write(&self, session: SessionId) -> Result<Fold, SessionError> {
        let fold = self.fold(session).await?;
        match fold.standing.needs {
            needs if needs > PROTOCOL => Err(SessionError::Newer { id: session, needs }),
            _ => Ok(fold),
        }
    }

    /// Calls `take` with every event of a session, oldest first.
    pub async fn each_event(&self, session: SessionId, mut take: impl FnMut(&Event)) -> Result<(), SessionError> {
        Ok(each_event(self.setup.log.as_ref(), session, 0, |event| take(&event)).await?)
    }

    /// What takes secrets out of all that its sessions keep.
    pub fn redactor(&self) -> Redactor {
        self.deps().redactor.clone()
    }

    /// What agents are given to work with, as it is now.
    pub(crate) fn deps(&self) -> Arc<AgentDeps> {
        Arc::clone(&self.deps.read().unwrap_or_else(PoisonError::into_inner))
    }

    /// From now on agents are given this.
    pub(super) fn replace(&self, deps: Arc<AgentDeps>) {
        *self.deps.write().unwrap_or_else(PoisonError::into_inner) = deps;
    }

    /// Looks, aside, whether what it was made of was edited, and whether these rules files are as they were read.
    pub(super) async fn look_again(&self, rules: Arc<Rules>) -> (Looked, bool) {
        // Without anybody who knows what it was made of, nothing is ever edited.
        let Some(look) = self.setup.look_again.clone() else { return (Looked::Same, true) };
        tokio::task::spawn_blocking(move || (look(), rules.is_current())).await.unwrap_or_else(|error| {
            tracing::warn!(%error, "nobody could look at what was edited");
            (Looked::Same, true)
        })
    }

    pub(super) fn provider(
        &self,
        options: &SessionOptions,
        own: Option<&String>,
    ) -> Result<Arc<dyn Provider>, SessionError> {
        let had = |name: &str| (self.setup.find_model)(name).map_err(Box::new);
        let find = |name: &str| had(name).map_err(|error| SessionError::Model { model: name.to_owned(), error });
        if let Some(model) = &options.model {
            return find(model);
        }
        // A conversation is not sent to another vendor without a word: when its own model is gone, the person chooses.
        match own.filter(|own| !own.is_empty()) {
            Some(own) => had(own).map_err(|error| SessionError::OwnModel { model: own.clone(), error }),
            None => find(&options.default_model),
        }
    }

    async fn start(
        &self,
        record: SessionRecord,
        mut fold: Fold,
        lease: Arc<Lease>,
        provider: Arc<dyn Provider>,
        mut options: SessionOptions,
    ) -> Result<Session, SessionError> {
        let root = fold.standing.root_agent.unwrap_or_else(AgentId::new);
        let resumed = fold.standing.last_seq > 0;
        if resumed && options.keeps_approval {
            options.approval = fold.standing.approval;
        }
        let elsewhere = !fold.standing.cwd.is_empty() && fold.standing.cwd != record.cwd;
        let moved =
            (resumed && elsewhere && !fold.messages.is_empty()).then(|| moved_words(&fold.standing.cwd, &record.cwd));
        // What it is called is the list's to say: a fork may have a title of its own.
        let standing = Standing { title: record.title.clone(), ..fold.standing.clone() };
        let journal = Arc::new(self.journal(&lease, standing));
        let deps = self.deps();
        let first_new = fold.standing.last_seq;
        let begins = record.parent.is_some_and(|(_, at)| at == first_new);
        let (mended, interrupted) = mend(&fold, begins);
        let (goes_on, turn) = (fold.goes_on() && !begins, fold.turn);
        // Those who worked when it was handed over go on as well.
        let go_on: Vec<AgentId> = match fold.handed_over && !begins {
            true => working(&fold.tree.present()).map(|node| node.id).collect(),
            false => Vec::new(),
        };
        let paused = agents_interrupted(&fold.tree.present()).filter(|_| !begins && go_on.is_empty());
        for body in mended.into_iter().chain(asked_again(&fold).filter(|_| goes_on)) {
            journal.emit(root, fold.turn, body).await?;
        }
        // What is mended belongs to the run before: whoever follows this one sees first that it starts.
        let first_seq = journal.standing().last_seq;
        // A single request is about itself.
        let tells_plans = options.interactive && !resumed;
        let left_over = async { if tells_plans { self.left_over(&record).await } else { Default::default() } };
        let stopped_before = async { if resumed { None } else { self.stopped_before(&record).await } };
        // None of these needs another.
        let ((mut left, told_of), stopped_before, cut_short) =
            futures::join!(left_over, stopped_before, self.cut_short(&record));
        left.extend(interrupted.into_iter().chain(paused));
        if !begins {
            let ended = ended_with_the_run(&fold.standing.in_background).into_iter();
            // Nothing comes between calls that are still to be run and their results.
            left.extend(ended.map(|body| if goes_on { said_at_boundary(body) } else { body }));
        }
        left.extend(stopped_before.into_iter().chain(cut_short));
        let must_read = resumed || !left.is_empty();
        let (mode, generation) = options.ways(&fold.standing);
        let start = SessionStart {
            version: deps.version.clone(),
            cwd: record.cwd.clone(),
            model: provider.label().to_owned(),
            scripted: provider.scripted(),
            mode,
            approval: options.approval,
            generation: generation.number(),
            sandbox: deps.sandbox.clone(),
            usual_sandbox: deps.usual_sandbox,
            resumed,
            single: !options.interactive,
            // Told once: afterwards the log has events of its own.
            forked_from: record
                .parent
                .filter(|(_, at)| *at == first_new)
                .map(|(session_id, seq)| ForkedFrom { session_id, seq }),
        };
        if (fold.standing.mode, fold.standing.generation, fold.standing.model.as_str())
            != (mode, generation.number(), provider.label())
        {
            // The model is told something else than what was counted.
            fold.counted = None;
        }
        let started = std::iter::once(EventBody::SessionStart(start)).chain(left);
        journal.emit_all(started.map(|body| (root, body)).collect()).await?;
        if fold.standing.plans_from.is_some() && options.mode.is_some() {
            // A mode that was asked for is the person's, whatever the agent chose before.
            let change = ModeChange { mode: Some(mode), by: Some(Actor::Person), ..ModeChange::default() };
            journal.emit(root, None, EventBody::ModeChange(change)).await?;
        }
        if must_read {
            each_event(self.setup.log.as_ref(), record.id, first_new, |event| fold.apply(&event)).await?;
        }
        if let Some(said) = moved {
            journal.emit(root, None, EventBody::Message(said.clone())).await?;
            fold.messages.push(said);
            // Its prompt names the old place.
            fold.environment = None;
        }
        let cwd = Path::new(&record.cwd);
        let place = async { if goes_on { Vec::new() } else { deps.place(&record, &mut fold).await } };
        // The disk takes a while, and nothing that is read meanwhile needs it.
        let (lasts, place, rules, definitions) =
            futures::join!(journal.lasts(), place, deps.rules(cwd), deps.definitions(cwd));
        lasts?;
        self.note_told(&told_of).await;
        for body in place {
            journal.emit(root, None, body).await?;
        }
        let untold = fold.messages.iter().all(Message::is_neco);
        let recalled = fold.recalled.take();
        for warning in deps.notices(&rules, &definitions, provider.as_ref()) {
            journal.emit(root, None, warning).await?;
        }
        if let Some(words) = definitions.broken() {
            let warning = Notification::new(NotificationLevel::Warning, words);
            journal.emit(root, None, EventBody::Notification(warning)).await?;
        }
        let current = Current::new(rules, definitions);
        let (budget, aside) = (options.budget, Aside::default());
        let core = SessionCore { hub: self.clone(), record, root, journal, budget, aside };
        let remembering = Remembering::of(&core, &options, recalled, untold, provider.as_ref());
        // Those included that were removed: the logs of their forks still name their outputs.
        let lineage = match core.record.parent {
            Some(_) => self.setup.catalog.ancestors(core.id()).await?,
            None => Vec::new(),
        };
        let ctx = SessionContext::new(core, lineage, options, current, provider, &mut fold);
        let unfinished = goes_on.then(|| Unfinished { turn, results: std::mem::take(&mut fold.results) });
        let made = ctx.agent(fold, remembering.as_ref(), (resumed, unfinished))?;
        ctx.supervisor.fill_root(made.handle.clone(), made.policy, made.tools).await;
        ctx.supervisor.open().await.map_err(|error| SessionError::Tree(error.to_string()))?;
        for agent in go_on {
            // Who went on with whoever it works for needs no order of its own.
            let _ = ctx.supervisor.order(Actor::Person, agent, AgentOrder::Resume).await;
        }
        let (agent, handle) = (made.agent, made.handle);
        Ok(Session::start(ActorSetup { ctx, agent, handle, lease, first_seq, remembering }))
    }

    /// The journal of a session that stands so, for whoever has the right to write it.
    pub(super) fn journal(&self, lease: &Arc<Lease>, standing: Standing) -> Journal {
        Journal::new(lease, Arc::clone(&self.setup.log), standing, self.redactor())
    }

    /// What a new session is told of one before it, and the plans that its person has not been told of yet.
    async fn left_over(&self, record: &SessionRecord) -> (Vec<EventBody>, Vec<UnfinishedPlan>) {
        let left = PlanFiles::new(&self.setup.data_dir).unfinished(&record.cwd).await;
        // The model knows of a plan where the person was told of it too, and that is once.
        let untold: Vec<UnfinishedPlan> = left.into_iter().filter(|plan| !plan.told).collect();
        let told: Vec<EventBody> =
            untold.iter().take(MOST_TOLD).map(|plan| EventBody::Message(Message::neco(told(plan)))).collect();
        // One line for the person, however many there are.
        let notice = untold.first().map(|plan| {
            let short = short(plan.session);
            let more = match untold.len() - 1 {
                0 => String::new(),
                more => format!(" · {more} more: neco plan list"),
            };
            let progress = plan.progress();
            let text =
                format!("A plan is unfinished here ({progress}) · /resume {short} · neco plan close {short}{more}");
            EventBody::Notification(Notification::new(NotificationLevel::Info, text))
        });
        (notice.into_iter().chain(told).collect(), untold)
    }

    /// A person was told of these plans.
    async fn note_told(&self, plans: &[UnfinishedPlan]) {
        let files = PlanFiles::new(&self.setup.data_dir);
        for plan in plans {
            if let Err(error) = files.note_told(plan).await {
                tracing::warn!(%error, "that a plan was told of can't be noted");
            }
        }
    }

    /// The folder of the big outputs of a session.
    pub fn outputs(&self, session: SessionId) -> PathBuf {
        self.setup.data_dir.join("sessions").join(session.to_string()).join("outputs")
    }
}

pub(super) fn usable_folder(path: &Path) -> Result<PathBuf, SessionError> {
    let folder = path.canonicalize().map_err(|error| unusable(path, &error))?;
    if !folder.is_dir() {
        return Err(SessionError::Workspace {
            path: path.display().to_string(),
            reason: "it is not a folder".to_owned(),
        });
    }
    Ok(folder)
}

pub(super) fn unusable(path: &Path, error: &std::io::Error) -> SessionError {
    SessionError::Workspace { path: path.display().to_string(), reason: why_closed(error) }
}

/// The root's questions are taken back: what is asked again has a number of its own.
fn asked_again(fold: &Fold) -> impl Iterator<Item = EventBody> {
    let open = &fold.open;
    let is_own = move |call: &CallId| open.iter().any(|open| open.id == *call);
    let own = fold.standing.questions.iter().filter(move |question| question.call_id.as_ref().is_none_or(is_own));
    own.map(|question| {
        let question_id = question.question_id;
        EventBody::QuestionAnswer(QuestionAnswer { question_id, reply: None, by: None })
    })
}

/// What is said waits for the next turn.
fn said_at_boundary(body: EventBody) -> EventBody {
    match body {
        EventBody::Message(message) => {
            EventBody::MessageQueued(MessageQueued { when: Admission::TurnBoundary, message })
        }
        other => other,
    }
}

/// What the model is told when the folder lies elsewhere now.
fn moved_words(from: &str, to: &str) -> Message {
    Message::neco(format!(
        "The workspace lies at {to} now; before, it was {from}. Paths named so far mean the new place."
    ))
}

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
