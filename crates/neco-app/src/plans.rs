//! Plans that sessions left unfinished: which there are, and closing one.

use neco_proto::Actor;
use neco_proto::app::plans::{ClosePlan, ListPlans, PlanList, ShowPlan, UnfinishedPlan};
use neco_proto::app::{AppError, Trouble};
use neco_session::Hub;

use crate::app::LocalApp;
use crate::error::{invalid, of_session};
use crate::paging::page;

pub(crate) async fn list(app: &LocalApp, request: ListPlans) -> Result<PlanList, AppError> {
    let plans = app.hub.unfinished_plans(request.folder.as_deref()).await;
    let page = page(plans, &request.page, |plan| (plan.saved_ms, plan.session.to_string()))?;
    Ok(PlanList { plans: page.items, next: page.next })
}

pub(crate) async fn show(app: &LocalApp, request: ShowPlan) -> Result<UnfinishedPlan, AppError> {
    find(&app.hub, &request.session).await
}

pub(crate) async fn close(app: &LocalApp, by: Actor, request: ClosePlan) -> Result<UnfinishedPlan, AppError> {
    let plan = find(&app.hub, &request.session).await?;
    app.hub.close_plan(by, plan.session).await.map_err(of_session)?;
    Ok(plan)
}

/// The one plan of a session that has this in its id, wherever it works.
async fn find(hub: &Hub, prefix: &str) -> Result<UnfinishedPlan, AppError> {
    let mut plans = hub.unfinished_plans(None).await;
    plans.retain(|plan| !prefix.is_empty() && plan.session.to_string().contains(prefix));
    match plans.len() {
        1 => Ok(plans.remove(0)),
        0 => Err(AppError::new(Trouble::NotFound, format!("no session {prefix:?} left a plan unfinished"))
            .hint("`neco plan list --all` lists the plans of all folders.")),
        several => {
            let words = format!("{several} sessions have {prefix:?} in their ids: give more of the id");
            Err(invalid(words))
        }
    }
}
