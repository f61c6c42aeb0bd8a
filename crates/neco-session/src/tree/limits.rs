//! How big a tree may grow and what its parts may use.

use neco_proto::Usage;
use neco_proto::event::{NodeType, SubtreeBudget};

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
    /// What was used.
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
