//! What tools want of the agent: done or refused, and the call's result says which.

use neco_proto::event::ModeChange;
use neco_proto::{ApprovalMode, CallId, ErrorCode, EventBody, Message, Mode, Part, PlanStatus, QuestionItem, Subject};
use neco_toolkit::{Intent, Picture, ToolError};

use super::agent::Agent;
use crate::machine::{End, Input};
use crate::ports::SinkError;
use crate::scheduler::{Fulfilled, Progress};

impl Agent {
    /// Does what a call wants that has just run.
    pub(super) async fn fulfil(&mut self, progress: &mut Progress) -> Result<(), SinkError> {
        let Some((call_id, intents)) = self.scheduler.intents(progress) else { return Ok(()) };
        for intent in intents {
            let fulfilled = match intent {
                Intent::WriteTodos(change) => match self.book.write_todos(&change) {
                    Ok((events, notes)) => {
                        self.tell_all(events).await?;
                        let notes = notes.iter().map(|note| format!("\n[note: {note}]"));
                        Fulfilled::Done(self.book.list_text() + &notes.collect::<String>())
                    }
                    Err(words) => refused(words),
                },
                Intent::NoteFindings(findings) => {
                    let events = self.book.note(&findings);
                    self.tell_all(events).await?;
                    Fulfilled::Done(format!("{} findings are kept.", self.book.findings().len()))
                }
                Intent::AskPerson(items) => self.ask_person(&call_id, items).await?,
                Intent::EnterPlanMode(reason) => self.enter_plan_mode(reason).await?,
                Intent::ProposePlan(plan) => self.propose(&call_id, plan).await?,
                Intent::ShowPicture(picture) => self.show_picture(picture),
                Intent::OfferPicture(picture) => match self.show_picture(picture) {
                    Fulfilled::Failed(error) => Fulfilled::Done(format!("[{}]", error.message)),
                    shown @ (Fulfilled::Done(_) | Fulfilled::Waits) => shown,
                },
            };
            let failed = matches!(fulfilled, Fulfilled::Failed(_));
            progress.settle(fulfilled);
            if failed {
                break;
            }
        }
        Ok(())
    }

    /// Records what changed.
    pub(super) async fn tell_all(&mut self, events: Vec<EventBody>) -> Result<(), SinkError> {
        for event in events {
            self.sink.commit(self.turn_id, event).await?;
        }
        Ok(())
    }

    async fn ask_person(&mut self, call_id: &CallId, items: Vec<QuestionItem>) -> Result<Fulfilled, SinkError> {
        if !self.settings.person_present {
            self.inform("nobody is there to answer the agent's questions; it decides by itself").await?;
            return Ok(Fulfilled::Done(
                "Nobody is there to answer. Decide yourself, as a careful colleague would, and say in your final \
                 answer what you assumed."
                    .to_owned(),
            ));
        }
        self.pose(Some(call_id.clone()), Subject::Choices { items }).await?;
        Ok(Fulfilled::Waits)
    }

    /// A picture follows the results of the turn's calls.
    fn show_picture(&mut self, picture: Picture) -> Fulfilled {
        if !self.provider.sees(&picture.media_type) {
            let words = format!("{} can't be shown: the model does not see {}", picture.source, picture.media_type);
            return Fulfilled::Failed(ToolError::failed(words));
        }
        let text = format!("{} follows the results of these calls.", picture.source);
        self.pictures.push(picture);
        Fulfilled::Done(text)
    }

    /// Pictures enter the conversation after the results that speak of them.
    pub(super) async fn admit_pictures(&mut self) -> Result<(), SinkError> {
        for Picture { source, media_type, data } in std::mem::take(&mut self.pictures) {
            let mut message = Message::neco(format!("The picture {source}:"));
            message.parts.push(Part::Image { media_type, data });
            self.admit(message).await?;
        }
        Ok(())
    }

    async fn enter_plan_mode(&mut self, reason: String) -> Result<Fulfilled, SinkError> {
        let from = match self.settings.mode {
            mode @ (Mode::Agent | Mode::Debug) => mode,
            Mode::Plan => return Ok(Fulfilled::Done("You are in plan mode already.".to_owned())),
            Mode::Ask => return Ok(refused("in ask mode nothing is changed, so there is nothing to plan".to_owned())),
        };
        self.plans_from = Some(from);
        self.settings.mode = Mode::Plan;
        let change = ModeChange { mode: Some(Mode::Plan), reason: Some(reason), ..ModeChange::default() };
        self.sink.commit(self.turn_id, EventBody::ModeChange(change)).await?;
        Ok(Fulfilled::Done(
            "You are in plan mode: look around, change nothing, and hand over the plan with exit_plan_mode.".to_owned(),
        ))
    }

    async fn propose(&mut self, call_id: &CallId, plan: String) -> Result<Fulfilled, SinkError> {
        if self.settings.mode != Mode::Plan {
            let words = match self.settings.mode {
                Mode::Ask => "in ask mode nothing is changed, so there is no plan to hand over: answer in words",
                Mode::Agent | Mode::Plan | Mode::Debug => {
                    "you are not in plan mode: do the work, or call enter_plan_mode first"
                }
            };
            return Ok(refused(words.to_owned()));
        }
        if self.settings.person_present {
            self.pose(Some(call_id.clone()), Subject::Plan { plan }).await?;
            return Ok(Fulfilled::Waits);
        }
        if let Some(mode) = self.plans_from {
            // Whoever started this asked for the work, not for a plan.
            let events = self.book.settle_unseen(&plan);
            self.accept_plan(events, mode, None, "nobody is there to approve the plan").await?;
            return Ok(Fulfilled::Done(format!(
                "Nobody is there to approve the plan, and the work was asked for, not only a plan: carry it out, and say \
                 in your final answer what you decided by yourself. {}",
                self.book.list_text()
            )));
        }
        let events = self.book.settle(&plan, PlanStatus::Proposed);
        self.tell_all(events).await?;
        self.final_text = plan;
        self.on(Input::Halt(End::DONE)).await?;
        Ok(Fulfilled::Done("Nobody is there to approve the plan: it is the answer, and the work ends here.".to_owned()))
    }

    /// The plan is carried out from the next turn on.
    pub(super) async fn accept_plan(
        &mut self,
        settled: Vec<EventBody>,
        mode: Mode,
        approval: Option<ApprovalMode>,
        reason: &str,
    ) -> Result<(), SinkError> {
        self.tell_all(settled).await?;
        self.plans_from = None;
        self.settings.mode = mode;
        self.settings.approval = approval.unwrap_or(self.settings.approval);
        let change =
            ModeChange { mode: Some(mode), approval, reason: Some(reason.to_owned()), ..ModeChange::default() };
        self.sink.commit(self.turn_id, EventBody::ModeChange(change)).await
    }
}

fn refused(words: String) -> Fulfilled {
    Fulfilled::Failed(ToolError::new(ErrorCode::InvalidArguments, words))
}
