//! Plans that sessions left unfinished.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::caller::Scope;
use super::request::{Request, Route, Verb};
use crate::ids::SessionId;
use crate::plan::Plan;

/// Lists plans that sessions left unfinished, the newest first.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct ListPlans {
    /// Only those of this folder.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub folder: Option<String>,
}

impl Request for ListPlans {
    type Answer = PlanList;

    const ROUTE: Route =
        Route { name: "plans.list", verb: Verb::Get, path: "/plans", scope: Scope::Read, repeatable: true };
}

/// Plans that sessions left unfinished.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct PlanList {
    /// The plans.
    pub plans: Vec<UnfinishedPlan>,
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

impl Request for ShowPlan {
    type Answer = UnfinishedPlan;

    const ROUTE: Route =
        Route { name: "plans.show", verb: Verb::Get, path: "/plans/{session}", scope: Scope::Read, repeatable: true };
}

/// Closes the plan that a session left unfinished: nothing comes of what is left of it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct ClosePlan {
    /// The session, by the beginning of its id.
    pub session: String,
}

impl Request for ClosePlan {
    type Answer = UnfinishedPlan;

    const ROUTE: Route = Route {
        name: "plans.close",
        verb: Verb::Delete,
        path: "/plans/{session}",
        scope: Scope::Work,
        repeatable: false,
    };
}
