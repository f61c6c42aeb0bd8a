//! Plans that sessions left unfinished.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::request::{Page, request};
use crate::ids::SessionId;
use crate::plan::Plan;

/// Lists plans that sessions left unfinished, the newest first.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct ListPlans {
    /// Only those of this folder.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub folder: Option<String>,
    /// Which part of the list is wanted.
    #[serde(flatten)]
    pub page: Page,
}

request!(ListPlans => PlanList, "plans.list", Get "/plans", Read, repeatable);

/// Plans that sessions left unfinished.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct PlanList {
    /// The plans.
    pub plans: Vec<UnfinishedPlan>,
    /// The cursor of the page that follows, where there are more.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub next: Option<String>,
}

/// A plan that a session left unfinished.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct UnfinishedPlan {
    /// The session that carries it out.
    pub session: SessionId,
    /// Its workspace.
    pub cwd: String,
    /// When it was last changed.
    pub saved_ms: i64,
    /// The plan.
    pub plan: Plan,
    /// What was found out with it.
    #[serde(default)]
    pub findings: Vec<String>,
    /// Whether a person was told of it as it is.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub told: bool,
}

impl UnfinishedPlan {
    /// How much of it is done, in words.
    #[must_use]
    pub fn progress(&self) -> String {
        let done = self.plan.steps.iter().filter(|step| step.done).count();
        match self.plan.steps.len() {
            0 => "its steps can't be told apart".to_owned(),
            all => format!("{done} of {all} steps done"),
        }
    }
}

/// Shows the plan that a session left unfinished.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct ShowPlan {
    /// The session, by the beginning of its id.
    pub session: String,
}

request!(ShowPlan => UnfinishedPlan, "plans.show", Get "/plans/{session}", Read, repeatable);

/// Closes the plan that a session left unfinished: nothing comes of what is left of it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct ClosePlan {
    /// The session, by the beginning of its id.
    pub session: String,
}

request!(ClosePlan => UnfinishedPlan, "plans.close", Delete "/plans/{session}", Work, once);
