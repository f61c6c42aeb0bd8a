//! What a child is made from, and how big and how long things may get.

use std::time::Duration;

use neco_agent::skills::SkillLimit;
use neco_config::section::AgentsSection;
use neco_proto::event::{NodeType, SubtreeBudget};
use neco_proto::{Usage, WorkflowId};
use serde::{Deserialize, Serialize};

use crate::roles::Definition;
use crate::workflow::OneCall;

/// What a child is made from; kept in the log, so that it can be made again.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ChildSpec {
    pub definition: Definition,
    /// The one call that it makes instead of asking a model.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub call: Option<OneCall>,
    /// Whether its end is told to its parent; otherwise whoever waits for it hears of it.
    pub told: bool,
    /// The workflow that it does a task of.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub workflow: Option<WorkflowId>,
}

/// An agent that is to be run.
#[derive(Clone, Debug, PartialEq)]
pub struct SpawnRequest {
    /// What it is made from.
    pub spec: ChildSpec,
    pub task: String,
    /// Another model or group than its definition's.
    pub model_group: Option<String>,
    /// What it may use, where that is less than its definition says.
    pub budget: Option<SubtreeBudget>,
}

impl SpawnRequest {
    /// An agent of a definition with a task, whose parent is told of its end.
    pub fn new(definition: Definition, task: impl Into<String>) -> Self {
        let spec = ChildSpec { definition, call: None, told: true, workflow: None };
        Self { spec, task: task.into(), model_group: None, budget: None }
    }

    /// The same, held by the skills that whoever starts it has in use.
    #[must_use]
    pub fn within(mut self, in_use: impl IntoIterator<Item = SkillLimit>) -> Self {
        let holding = in_use.into_iter().filter(|skill| skill.hooks || skill.allowed_tools.is_some());
        self.spec.definition.narrowing.within.extend(holding);
        self
    }
}

/// How the agents of a session are kept.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct TreeSettings {
    /// How big the tree may grow.
    pub limits: TreeLimits,
    /// Most turns of a child whose definition does not say.
    pub max_turns: u32,
    /// Silence after which a child is said to hang; `None` for never.
    pub max_silence: Option<Duration>,
    /// How long a child may stay paused; `None` for as long as it takes.
    pub max_pause: Option<Duration>,
    /// Letters that may wait for an agent.
    pub max_letters: usize,
}

impl From<&AgentsSection> for TreeSettings {
    fn from(section: &AgentsSection) -> Self {
        let limits = TreeLimits { depth: section.max_depth, live: section.max_live, children: section.max_children };
        let time = |seconds: f64| Duration::try_from_secs_f64(seconds).ok().filter(|time| !time.is_zero());
        Self {
            limits,
            max_turns: section.max_turns,
            max_silence: time(section.max_silence),
            max_pause: time(section.max_pause),
            max_letters: section.max_letters,
        }
    }
}

/// How big a tree may grow.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TreeLimits {
    /// Generations below the root.
    pub depth: usize,
    /// Live agents besides the root.
    pub live: usize,
    /// Live children of an agent that is not the root.
    pub children: usize,
}

impl Default for TreeLimits {
    fn default() -> Self {
        Self { depth: 4, live: 16, children: 10 }
    }
}

/// Which part of a budget.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BudgetKind {
    /// Input and output tokens together.
    Tokens,
    /// US dollars.
    Cost,
}

/// A budget that is used up.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Spent {
    pub of: BudgetKind,
    /// What may be used.
    pub limit: f64,
    pub used: f64,
}

/// How many children of a node may be live at a time; nothing when only the whole tree is limited.
pub fn most_children(kind: NodeType, limits: &TreeLimits) -> Option<usize> {
    match kind {
        NodeType::Root => None,
        NodeType::Child => Some(limits.children),
        NodeType::ActOnly => Some(0),
    }
}

/// The part of a budget that `usage` has used up, if one is.
#[allow(clippy::cast_precision_loss, reason = "no tree uses so many tokens that a token more or less is lost")]
pub fn spent(budget: &SubtreeBudget, usage: &Usage) -> Option<Spent> {
    let tokens = usage.input.saturating_add(usage.output);
    if let Some(limit) = budget.tokens.filter(|limit| tokens >= *limit) {
        return Some(Spent { of: BudgetKind::Tokens, limit: limit as f64, used: tokens as f64 });
    }
    let cost = usage.cost.unwrap_or_default();
    budget.cost.filter(|limit| cost >= *limit).map(|limit| Spent { of: BudgetKind::Cost, limit, used: cost })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_budget_is_spent_when_it_is_reached() {
        let used = |input, cost| Usage { input, output: 5, cost, ..Usage::default() };
        let both = SubtreeBudget { tokens: Some(100), cost: Some(0.5) };
        assert_eq!(spent(&both, &used(94, Some(0.49))), None);
        assert_eq!(spent(&both, &used(95, None)).map(|spent| spent.of), Some(BudgetKind::Tokens));
        assert_eq!(spent(&both, &used(1, Some(0.5))).map(|spent| spent.used), Some(0.5));
        assert_eq!(spent(&SubtreeBudget::default(), &used(u64::MAX, Some(1e9))), None);
    }
}
