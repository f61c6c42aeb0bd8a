//! Plan mode: how an agent gets into it, and what comes of its plan.

use neco_proto::event::ToolCallEnd;
use neco_proto::{Actor, ApprovalMode, ErrorCode, EventBody, Mode, PlanStatus, Reply};
use neco_toolkit::ToolError;

use super::reports::Reports;
use super::terms::Terms;
use crate::plan::PlanBook;
use crate::ports::SinkError;
use crate::scheduler::Fulfilled;

/// The list, plan and findings of an agent, and the mode that it left for plan mode by itself.
pub(super) struct Planning {
    pub(super) book: PlanBook,
    pub(super) left: Option<Mode>,
}

/// What comes of a plan that is handed over.
pub(super) enum Proposed {
    /// The call has its result.
    Settled(Fulfilled),
    AskPerson,
    /// It is the answer, and the work ends.
    IsAnswer(Fulfilled),
}

/// What comes of the person's word about a plan.
pub(super) struct Decided {
    pub(super) fulfilled: Fulfilled,
    pub(super) stops: bool,
}

impl Planning {
    /// The agent goes into plan mode.
    pub(super) async fn enter(
        &mut self,
        reason: String,
        terms: &mut Terms,
        reports: &Reports,
    ) -> Result<Fulfilled, SinkError> {
        let from = match terms.settings.mode {
            mode @ (Mode::Agent | Mode::Debug) => mode,
            Mode::Plan => return Ok(Fulfilled::Done("You are in plan mode already.".to_owned())),
            Mode::Ask => return Ok(refused("in ask mode nothing is changed, so there is nothing to plan".to_owned())),
        };
        self.left = Some(from);
        terms.enter((Mode::Plan, None), reason, None, reports).await?;
        Ok(Fulfilled::Done(
            "You are in plan mode: look around, change nothing, and hand over the plan with exit_plan_mode.".to_owned(),
        ))
    }

    /// The agent hands its plan over.
    pub(super) async fn propose(
        &mut self,
        plan: &str,
        terms: &mut Terms,
        reports: &Reports,
    ) -> Result<Proposed, SinkError> {
        if terms.settings.mode != Mode::Plan {
            let (words, advice) = match terms.settings.mode {
                Mode::Ask => ("in ask mode nothing is changed, so there is no plan to hand over", "answer in words"),
                Mode::Agent | Mode::Plan | Mode::Debug => {
                    ("a plan is handed over in plan mode only", "do the work, or call enter_plan_mode first")
                }
            };
            let error = ToolError::new(ErrorCode::InvalidArguments, words).advising(advice);
            return Ok(Proposed::Settled(Fulfilled::Failed(error)));
        }
        if terms.settings.person_present {
            return Ok(Proposed::AskPerson);
        }
        if let Some(mode) = self.left {
            // Whoever started this asked for the work, not for a plan.
            let events = self.book.settle_unseen(plan);
            self.accept(events, (mode, None), ("nobody is there to approve the plan", None), terms, reports).await?;
            return Ok(Proposed::Settled(Fulfilled::Done(format!(
                "Nobody is there to approve the plan, and the work was asked for, not only a plan: carry it out, and say \
                 in your final answer what you decided by yourself. {}",
                self.book.list_text()
            ))));
        }
        reports.commit_all(self.book.settle(plan, PlanStatus::Proposed)).await?;
        let words = "Nobody is there to approve the plan: it is the answer, and the work ends here.";
        Ok(Proposed::IsAnswer(Fulfilled::Done(words.to_owned())))
    }

    /// What the person makes of a plan; one that is not carried out is a rejected call.
    pub(super) async fn decide(
        &mut self,
        plan: &str,
        (reply, by): (Reply, Option<Actor>),
        terms: &mut Terms,
        reports: &Reports,
    ) -> Result<Decided, SinkError> {
        let fulfilled = match reply {
            Reply::AcceptPlan { approval, comments } => {
                let list = self.carry_out(plan, approval, by, terms, reports).await?;
                let comments = comments.filter(|comments| !comments.trim().is_empty());
                let mind = comments.map(|comments| format!(" The user adds: {}", comments.trim())).unwrap_or_default();
                Fulfilled::Done(format!("The user accepted the plan: carry it out.{mind}{list}"))
            }
            Reply::AcceptChangedPlan { plan } => {
                let list = self.carry_out(&plan, None, by, terms, reports).await?;
                let plan = plan.trim();
                let words = format!("The user changed the plan. Carry this one out, not yours:\n\n{plan}\n{list}");
                Fulfilled::Done(words)
            }
            Reply::RevisePlan { comments } => {
                reports.commit_all(self.book.settle(plan, PlanStatus::SentBack)).await?;
                rejected(format!(
                    "the user sent the plan back (you are still in plan mode: make it better and hand it over \
                     again){}{}",
                    ToolCallEnd::SAID,
                    comments.trim()
                ))
            }
            Reply::DropPlan | Reply::Choices { .. } | Reply::GoOn { .. } | Reply::Dismiss => {
                reports.commit_all(self.book.settle(plan, PlanStatus::Dropped)).await?;
                let words = "the user dropped the plan: nothing comes of it; wait for what they want instead";
                return Ok(Decided { fulfilled: rejected(words.to_owned()), stops: true });
            }
        };
        Ok(Decided { fulfilled, stops: false })
    }

    /// A person accepted this plan; gives the list that it became, for the model.
    async fn carry_out(
        &mut self,
        plan: &str,
        approval: Option<ApprovalMode>,
        by: Option<Actor>,
        terms: &mut Terms,
        reports: &Reports,
    ) -> Result<String, SinkError> {
        let mode = self.left.unwrap_or(Mode::Agent);
        let events = self.book.settle(plan, PlanStatus::Accepted);
        self.accept(events, (mode, approval), ("the plan was accepted", by), terms, reports).await?;
        Ok(if self.book.todos().is_empty() { String::new() } else { format!("\n{}", self.book.list_text()) })
    }

    /// The plan is carried out from the next turn on.
    async fn accept(
        &mut self,
        settled: Vec<EventBody>,
        (mode, approval): (Mode, Option<ApprovalMode>),
        (reason, by): (&str, Option<Actor>),
        terms: &mut Terms,
        reports: &Reports,
    ) -> Result<(), SinkError> {
        reports.commit_all(settled).await?;
        self.left = None;
        terms.enter((mode, approval), reason.to_owned(), by, reports).await
    }
}

/// A call that makes no sense now.
fn refused(words: String) -> Fulfilled {
    Fulfilled::Failed(ToolError::new(ErrorCode::InvalidArguments, words))
}

fn rejected(words: String) -> Fulfilled {
    Fulfilled::Failed(ToolError::new(ErrorCode::RejectedByUser, words))
}
