//! What an agent is made of.

use std::collections::{BTreeSet, HashSet};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use neco_config::section::GuardsSection;
use neco_model::{History, Provider};
use neco_proto::event::{Admission, BudgetReached};
use neco_proto::{ApprovalMode, CallId, IdeContext, Message, Mode, ToolResult, TurnId, Usage};
use neco_safety::{Confinement, Policy, World};
use neco_toolkit::{AskModel, Registry, Spill};

use super::renewal::Renewal;
use crate::capability_level::CapabilityLevel;
use crate::context::{ContextSettings, Counted, Given, Prompts, Source};
use crate::gate::Gate;
use crate::plan::PlanBook;
use crate::ports::{Checkpointer, Clock, EventSink, FolderRules, RequestFiles, RuleBook};
use crate::scheduler::Limits;
use crate::skills::{SkillModels, SkillShelf, SkillsUsed};

/// What can change while an agent lives.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Settings {
    /// The mode.
    pub mode: Mode,
    /// When the person is asked.
    pub approval: ApprovalMode,
    /// Whether there is a person to ask.
    pub person_present: bool,
    /// What stands between its commands and the machine.
    pub confinement: Confinement,
    /// Whether its commands reach the network.
    pub network: bool,
}

/// What a session may use in all; `None` is no limit.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Budget {
    /// US dollars.
    pub cost: Option<f64>,
    /// Input and output tokens together.
    pub tokens: Option<u64>,
    /// Time of work; waiting for the person is none.
    pub time: Option<Duration>,
}

impl Budget {
    /// The limit that `usage` or the time of work reaches, if one does.
    pub fn reached(&self, usage: &Usage, worked: Duration) -> Option<BudgetReached> {
        let (spent, tokens) = (usage.cost.unwrap_or(0.0), usage.input.saturating_add(usage.output));
        let cost = self.cost.filter(|limit| spent >= *limit);
        let cost = cost.map(|limit| BudgetReached::Cost { limit, used: spent });
        let tokens =
            self.tokens.filter(|limit| tokens >= *limit).map(|limit| BudgetReached::Tokens { limit, used: tokens });
        let time = self.time.filter(|limit| worked >= *limit);
        let time = time.map(|limit| BudgetReached::Time { limit: limit.as_secs_f64(), used: worked.as_secs_f64() });
        cost.or(tokens).or(time)
    }
}

/// The ids of calls that are taken in a session; a clone is the same set. A result must reach its own call,
/// and a window must know which of several agents it answers.
#[derive(Clone, Debug, Default)]
pub struct CallIds(Arc<Mutex<HashSet<CallId>>>);

impl CallIds {
    /// These are taken.
    pub fn new(taken: HashSet<CallId>) -> Self {
        Self(Arc::new(Mutex::new(taken)))
    }

    /// Takes the wanted id if it is free, otherwise one of our own.
    pub fn take(&self, wanted: Option<CallId>) -> CallId {
        let mut taken = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let free = wanted.filter(|id| !taken.contains(id)).unwrap_or_else(CallId::generate);
        taken.insert(free.clone());
        free
    }
}

/// Work that another process handed over in the middle.
#[derive(Clone, Debug, Default)]
pub struct Unfinished {
    /// The turn that it was in.
    pub turn: Option<TurnId>,
    /// The results that calls of its last answer have; those without one are run.
    pub results: Vec<ToolResult>,
}

/// What an agent is made of.
pub struct AgentSetup {
    /// The model it asks.
    pub provider: Arc<dyn Provider>,
    /// The tools that exist for it.
    pub registry: Registry,
    /// The rules that its calls are judged by.
    pub policy: Policy,
    /// Where rules are kept that a person allows for good; `None` where they can't be.
    pub rule_book: Option<Arc<dyn RuleBook>>,
    /// What those tools can touch.
    pub world: Arc<dyn World>,
    /// Where big outputs go.
    pub spill: Arc<dyn Spill>,
    /// The model that running calls may ask.
    pub model: Arc<dyn AskModel>,
    /// Where its events go.
    pub sink: Arc<dyn EventSink>,
    /// For durations.
    pub clock: Arc<dyn Clock>,
    /// The prompts.
    pub prompts: Arc<Prompts>,
    /// How the room for the conversation is shared out.
    pub context: ContextSettings,
    /// Whether the conversation was compacted and nothing was said since.
    pub just_compacted: bool,
    /// What it was told last about the person's editor.
    pub ide_told: Option<IdeContext>,
    /// Finds rules files of folders that it touches; `None` where none are told.
    pub folder_rules: Option<Arc<dyn FolderRules>>,
    /// Those that it was told.
    pub rules_told: BTreeSet<String>,
    /// Finds pieces of files that fit what the person says; `None` where none are given.
    pub request_files: Option<Arc<dyn RequestFiles>>,
    /// Those that were given.
    pub given: Given,
    /// The skills that it can use; `None` where there are none.
    pub skills: Option<Arc<dyn SkillShelf>>,
    /// Those that it is told before it begins.
    pub skills_given: Vec<String>,
    /// Those that it used.
    pub skills_used: SkillsUsed,
    /// Finds the models that skills name; `None` where its model stays.
    pub skill_models: Option<SkillModels>,
    /// What it is told besides the base prompts.
    pub sources: Vec<Arc<dyn Source>>,
    /// Limits of its calls.
    pub limits: Limits,
    /// Most turns for one request.
    pub max_turns: u32,
    /// What the session may use in all.
    pub budget: Budget,
    /// What the session used before.
    pub used: Usage,
    /// How long the session worked before.
    pub worked: Duration,
    /// The generation.
    pub generation: CapabilityLevel,
    /// Whether somebody chose it; else it is as high as the model's window lets it be.
    pub generation_is_chosen: bool,
    /// Its list, plan and findings as the log has them.
    pub book: PlanBook,
    /// The mode that it left for plan mode by itself.
    pub plans_from: Option<Mode>,
    /// Which guards watch it.
    pub guards: GuardsSection,
    /// What can change while it lives.
    pub settings: Settings,
    /// What people plugged into its moments.
    pub gate: Arc<dyn Gate>,
    /// What keeps the workspace before and after its turns; `None` when nothing does.
    pub checkpoints: Option<Arc<dyn Checkpointer>>,
    /// What looks before every turn whether all of this still counts; `None` when it does as long as the agent lives.
    pub renewal: Option<Arc<dyn Renewal>>,
    /// Whether an earlier conversation goes on.
    pub resumed: bool,
    /// The work that it goes on with by itself; nothing where it waits for something to do.
    pub unfinished: Option<Unfinished>,
    /// What was said before.
    pub history: History,
    /// What the vendor counted of it in an earlier run, if all that it is told is as it was.
    pub counted: Option<Counted>,
    /// The ids of all calls that the session ever made, shared by its agents.
    pub call_ids: CallIds,
    /// What the policy knows it as: `root`, or the name of its definition.
    pub role: Arc<str>,
    /// What was said to it but not yet admitted.
    pub queued: Vec<(Admission, Message)>,
    /// Stable for the session.
    pub cache_key: String,
    /// How freely its model should choose its words; `None` leaves that to the model.
    pub temperature: Option<f64>,
    /// Most tokens of one answer; `None` leaves that to the model.
    pub max_output: Option<u64>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_budget_says_which_limit_is_reached() {
        let used = Usage { input: 900, output: 100, cost: Some(0.058), ..Usage::default() };
        let reached = |cost, tokens| Budget { cost, tokens, time: None }.reached(&used, Duration::MAX);
        assert_eq!(reached(None, None), None);
        assert_eq!(reached(Some(0.06), Some(1001)), None);
        assert_eq!(reached(Some(0.05), None), Some(BudgetReached::Cost { limit: 0.05, used: 0.058 }));
        assert_eq!(reached(Some(0.06), Some(1000)), Some(BudgetReached::Tokens { limit: 1000, used: 1000 }));
        let unpriced = Usage { cost: None, ..used };
        let budget = Budget { cost: Some(0.01), tokens: None, time: Some(Duration::from_secs(60)) };
        assert_eq!(budget.reached(&unpriced, Duration::from_secs(59)), None);
        let time = BudgetReached::Time { limit: 60.0, used: 61.5 };
        assert_eq!(budget.reached(&unpriced, Duration::from_millis(61_500)), Some(time));
    }
}
