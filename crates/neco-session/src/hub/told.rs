//! What agents in a folder are made of that files decide: their rules, their world, and what the model is told before
//! the conversation.

use std::path::Path;
use std::sync::Arc;

use jiff::tz::TimeZone;
use jiff::{Timestamp, civil::Date};
use neco_agent::context::{ContextSettings, Layer, PromptValues, Prompts, Source, Space};
use neco_agent::{FolderRules, Gate, RequestFiles, SkillShelf};
use neco_model::Provider;
use neco_proto::event::{EnvironmentTold, Notification, NotificationLevel};
use neco_proto::{EventBody, Message};
use neco_safety::policy::Telling;
use neco_safety::secrets::Scope;
use neco_safety::world::Files;
use neco_safety::{Policy, World, invisible};
use neco_store::SessionRecord;
use neco_toolkit::{DynTool, Registry};
use neco_workspace::{GitFacts, changed_files};

use super::hub::{unusable, usable_folder};
use super::options::AgentDeps;
use super::renewal::WorkPlace;
use crate::error::SessionError;
use crate::fold::Fold;
use crate::roles::{DefinitionPlaces, Definitions};
use crate::sources::{Facts, Fixed, PiecesBelow, Rules, RulesBelow, RulesSearch, map_of_repository, programs};
use crate::workflow::WorkflowPlaces;

/// Files that a person is told about one by one.
const MOST_NOTICES: usize = 10;

/// What an agent is made of that files decide.
pub(super) struct WorkParts {
    /// The rules that its calls are judged by.
    pub policy: Policy,
    /// What its tools can touch.
    pub world: Arc<dyn World>,
    /// What the model is told before the conversation.
    pub told: Told,
    /// Finds rules files of folders that it touches.
    pub folder_rules: Arc<dyn FolderRules>,
    /// Finds pieces of files that fit what the person says.
    pub request_files: Arc<dyn RequestFiles>,
    /// What people plugged into its moments.
    pub gate: Arc<dyn Gate>,
    /// The skills that it can use.
    pub skills: Option<Arc<dyn SkillShelf>>,
}

/// What the model is told before the conversation.
pub(super) struct Told {
    /// The layers that a session brings.
    pub sources: Vec<Arc<dyn Source>>,
    pub prompts: Arc<Prompts>,
}

impl AgentDeps {
    /// The tools of an agent: those that are made for it, of which the given ones are its session's, and what is
    /// plugged in.
    pub(super) fn registry(&self, own: Vec<Arc<dyn DynTool>>) -> Registry {
        (self.tools)(own).following(&self.plugged)
    }

    /// What an agent is made of that files decide which a person may edit meanwhile.
    pub(super) fn parts(&self, place: &WorkPlace, rules: &Arc<Rules>) -> Result<WorkParts, SessionError> {
        let cwd = &place.cwd;
        let roots = self.roots.iter().map(|root| usable_folder(root)).collect::<Result<Vec<_>, _>>()?;
        let skills = self.skills.as_ref().map(|skills| skills(place.session, cwd));
        let policy = (self.policy)(cwd);
        let readable = [place.readable.clone(), policy.place().read_only(cwd, &roots)].concat();
        let files = Files::new(cwd, readable).map_err(|error| unusable(cwd, &error))?;
        let files = files.with_roots(&roots).map_err(|error| unusable(cwd, &error))?.with_closed(policy.closed());
        Ok(WorkParts {
            policy,
            world: (self.world)(files).map_err(|error| unusable(cwd, &error))?,
            told: self.told(cwd, place.environment.as_ref(), rules)?,
            folder_rules: Arc::new(RulesBelow::new(self.rules_search(cwd), rules)),
            request_files: Arc::new(PiecesBelow::new(cwd, &self.indexes)),
            gate: (self.gate)(place.session, cwd),
            skills,
        })
    }

    /// The definitions of agents for work in a folder, read aside.
    pub(super) async fn definitions(&self, cwd: &Path) -> Arc<Definitions> {
        let places = DefinitionPlaces { telling: self.telling(cwd), ..self.definitions.clone() };
        let cwd = cwd.to_owned();
        let loaded = tokio::task::spawn_blocking(move || Definitions::load(&places, &cwd)).await;
        Arc::new(loaded.unwrap_or_else(|error| {
            tracing::warn!(%error, "the definitions of agents could not be read");
            Definitions::built_in()
        }))
    }

    /// What the model is told in `cwd`, with what it is told of the place.
    fn told(&self, cwd: &Path, place: Option<&EnvironmentTold>, rules: &Arc<Rules>) -> Result<Told, SessionError> {
        let values = PromptValues {
            version: self.version.clone(),
            workspace: cwd.display().to_string(),
            os: std::env::consts::OS.to_owned(),
            shell: self.shell.clone(),
        };
        let prompts = Arc::new(Prompts::new(self.prompts.clone(), values)?);
        let mut sources: Vec<Arc<dyn Source>> = vec![Arc::clone(rules) as Arc<dyn Source>];
        if let Some(place) = place {
            sources.push(Arc::new(Fixed(Layer::Environment, place.text.clone())));
            sources.extend(place.repo_map.clone().map(|map| Arc::new(Fixed(Layer::RepoMap, map)) as Arc<dyn Source>));
        }
        sources.extend(self.role.clone().map(|role| Arc::new(Fixed(Layer::Role, role)) as Arc<dyn Source>));
        Ok(Told { sources, prompts })
    }

    /// The rules files for work in `cwd`, read aside: there may be many, on a slow disk.
    pub(super) async fn rules(&self, cwd: &Path) -> Arc<Rules> {
        let search = self.rules_search(cwd);
        let found = tokio::task::spawn_blocking(move || search.find()).await;
        Arc::new(found.unwrap_or_else(|error| {
            tracing::warn!(%error, "the rules files could not be read");
            Rules::new(Vec::new())
        }))
    }

    /// Where rules files for work in `cwd` are looked for.
    pub(super) fn rules_search(&self, cwd: &Path) -> RulesSearch {
        RulesSearch {
            cwd: cwd.to_path_buf(),
            own: self.rules.clone(),
            settings: self.context.clone(),
            telling: self.telling(cwd),
        }
    }

    /// What a person should know of the files that the model is told: what was not told of them, what is hidden in
    /// them, and whether this model has room for all rules.
    pub(super) fn notices(&self, rules: &Rules, definitions: &Definitions, provider: &dyn Provider) -> Vec<EventBody> {
        let space = Space::new(ContextSettings::from(&self.context), provider.context_window());
        let left_out = rules.warning(space.rooms().of(Layer::Rules));
        let notices = rules.notices().into_iter().chain(definitions.hidden());
        let mut texts: Vec<String> = notices.take(MOST_NOTICES + 1).collect();
        if texts.len() > MOST_NOTICES {
            texts.pop();
            texts.push("More files that the model is told have parts that were not told or can't be seen".to_owned());
        }
        let warning = |text| EventBody::Notification(Notification::new(NotificationLevel::Warning, text));
        texts.into_iter().chain(left_out).map(warning).collect()
    }

    /// What is to be recorded of the place when a session begins, which the fold then has: all of it the
    /// first time, afterwards only that the day is another one. What was told stays as it was, so that the
    /// prompt does.
    pub(super) async fn place(&self, record: &SessionRecord, fold: &mut Fold) -> Vec<EventBody> {
        let is_named = self.zone.is_some();
        let today = tokio::task::spawn_blocking(move || today(is_named)).await;
        let today = today.unwrap_or_else(|_| date_in(TimeZone::UTC));
        let date = today.to_string();
        let (told, said) = match &fold.environment {
            None => {
                let mut text = self.facts(record, date.clone()).await;
                text = invisible::seen(&text).text.into_owned();
                // As it will stand in the log: a resumed session must say the same.
                self.redactor.redact_in(&mut text, Scope::Said);
                (EnvironmentTold { text, date, repo_map: self.repo_map(record).await }, None)
            }
            Some(before) if before.date == date || fold.messages.is_empty() => return Vec::new(),
            Some(before) => {
                let said = Message::neco(format!("The session goes on; today is {date}."));
                (EnvironmentTold { date, ..before.clone() }, Some(said))
            }
        };
        fold.environment = Some(told.clone());
        fold.messages.extend(said.clone());
        std::iter::once(EventBody::Environment(told)).chain(said.map(EventBody::Message)).collect()
    }

    /// What judges the files that are told without a call.
    pub(crate) fn telling(&self, cwd: &Path) -> Telling {
        (self.policy)(cwd).telling()
    }

    /// Where workflows for work in `cwd` are.
    pub(super) fn workflow_places(&self, cwd: &Path) -> WorkflowPlaces {
        WorkflowPlaces { telling: self.telling(cwd), ..self.workflows.clone() }
    }

    /// The map of the repository, if it is wanted and can be had soon.
    async fn repo_map(&self, record: &SessionRecord) -> Option<String> {
        let (tokens, indexes) = (self.context.repo_map as usize, &self.indexes);
        let folder = Path::new(&record.cwd);
        let mut map = map_of_repository(folder, indexes, tokens, self.telling(folder)).await?;
        self.redactor.redact_in(&mut map, Scope::Said);
        Some(map)
    }

    /// What is known of the place, in words; gathered aside, since every tracked file is looked at.
    async fn facts(&self, record: &SessionRecord, date: String) -> String {
        let (cwd, shell, path) = (record.cwd.clone(), self.shell.clone(), self.path.clone());
        let gather = move || {
            let folder = Path::new(&cwd);
            let facts = Facts {
                os: std::env::consts::OS.to_owned(),
                shell,
                head: GitFacts::of(folder).map(|facts| facts.head),
                changed: changed_files(folder),
                programs: path.as_deref().map(programs).unwrap_or_default(),
                date,
                cwd: cwd.clone(),
            };
            facts.text()
        };
        tokio::task::spawn_blocking(gather).await.unwrap_or_else(|error| {
            tracing::warn!(%error, "the place could not be looked at");
            format!("Environment\n- workspace: {}", record.cwd)
        })
    }
}

/// The day where the machine is, or in the zone that the environment names. The zone's own file says it at once; by its
/// name it would be looked for in a list of all zones there are, which takes longer than the rest of a start.
fn today(is_named: bool) -> Date {
    let local = (!is_named).then(|| std::fs::read("/etc/localtime").ok()).flatten();
    date_in(local.and_then(|zone| TimeZone::tzif("local", &zone).ok()).unwrap_or_else(TimeZone::system))
}

fn date_in(zone: TimeZone) -> Date {
    Timestamp::now().to_zoned(zone).date()
}
