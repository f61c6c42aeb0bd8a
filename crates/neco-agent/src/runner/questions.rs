//! Questions to the person that the agent waits for: what a call wants to know, a plan, a loop.

use neco_proto::event::{Admission, MessageQueued, QuestionAnswer};
use neco_proto::{CallId, ErrorCode, EventBody, Message, Mode, PlanStatus, Question, QuestionId, Reply, Subject};
use neco_toolkit::ToolError;

use super::agent::Agent;
use super::inputs::InputError;
use crate::machine::{End, Input, Stamp};
use crate::plan::{answer_text, check_reply};
use crate::ports::SinkError;
use crate::scheduler::Fulfilled;

/// A question that waits for its answer.
pub(super) struct Posed {
    question: Question,
    /// The turn that begins when it is answered, where no call waits.
    then: Option<Stamp>,
}

impl Agent {
    /// Asks the person for a call.
    pub(super) async fn pose(&mut self, call_id: Option<CallId>, subject: Subject) -> Result<(), SinkError> {
        self.pose_before(call_id, subject, None).await
    }

    /// Asks the person before a turn begins.
    pub(super) async fn pose_before(
        &mut self,
        call_id: Option<CallId>,
        subject: Subject,
        then: Option<Stamp>,
    ) -> Result<(), SinkError> {
        let question = Question { question_id: QuestionId::new(), call_id, subject };
        self.posed.push(Posed { question: question.clone(), then });
        self.sink.commit(self.turn_id, EventBody::Question(question)).await
    }

    /// Takes the person's answer.
    pub(super) async fn take_reply(&mut self, id: QuestionId, reply: Reply) -> Result<(), InputError> {
        let Some(at) = self.posed.iter().position(|posed| posed.question.question_id == id) else {
            return Err(InputError::Refused(format!("question {id} does not wait for an answer")));
        };
        if let Some(posed) = self.posed.get(at) {
            check_reply(&posed.question.subject, &reply).map_err(InputError::Refused)?;
        }
        let Posed { question, then } = self.posed.remove(at);
        let answer = QuestionAnswer { question_id: id, reply: Some(reply.clone()) };
        self.sink.commit(self.turn_id, EventBody::QuestionAnswer(answer)).await?;
        match (question.call_id, then) {
            (Some(call_id), _) => Ok(self.answer_call(&call_id, question.subject, reply).await?),
            (None, Some(stamp)) => match question.subject {
                Subject::Loop { text } => Ok(self.after_loop(stamp, &text, reply).await?),
                Subject::Choices { .. } | Subject::Plan { .. } => Ok(()),
            },
            (None, None) => Ok(()),
        }
    }

    /// The work ends: nobody waits for answers any more.
    pub(super) async fn withdraw_questions(&mut self) -> Result<(), SinkError> {
        for Posed { question, .. } in std::mem::take(&mut self.posed) {
            let answer = QuestionAnswer { question_id: question.question_id, reply: None };
            self.sink.emit(self.turn_id, EventBody::QuestionAnswer(answer)).await?;
        }
        Ok(())
    }

    async fn answer_call(&mut self, call_id: &CallId, subject: Subject, reply: Reply) -> Result<(), SinkError> {
        let fulfilled = match (subject, reply) {
            (Subject::Choices { items }, Reply::Choices { answers }) => Fulfilled::Done(answer_text(&items, &answers)),
            (Subject::Plan { plan }, reply) => self.decide_plan(&plan, reply).await?,
            (Subject::Choices { .. } | Subject::Loop { .. }, _) => Fulfilled::Done(
                "The user does not want to answer. Decide yourself and say what you assumed.".to_owned(),
            ),
        };
        let records = self.scheduler.answer(call_id, fulfilled);
        self.record(records).await?;
        self.calls_moved().await
    }

    /// What the person makes of a plan; one that is not carried out is a rejected call.
    async fn decide_plan(&mut self, plan: &str, reply: Reply) -> Result<Fulfilled, SinkError> {
        match reply {
            Reply::AcceptPlan { approval, comments } => {
                let mode = self.plans_from.unwrap_or(Mode::Agent);
                let events = self.book.settle(plan, PlanStatus::Accepted);
                self.accept_plan(events, mode, approval, "the plan was accepted").await?;
                let comments = comments.filter(|comments| !comments.trim().is_empty());
                let mind = comments.map(|comments| format!(" The user adds: {}", comments.trim())).unwrap_or_default();
                let list =
                    if self.book.todos().is_empty() { String::new() } else { format!("\n{}", self.book.list_text()) };
                Ok(Fulfilled::Done(format!("The user accepted the plan: carry it out.{mind}{list}")))
            }
            Reply::RevisePlan { comments } => {
                let events = self.book.settle(plan, PlanStatus::SentBack);
                self.tell_all(events).await?;
                Ok(rejected(format!(
                    "the user sent the plan back (you are still in plan mode: make it better and hand it over again) \
                     and said: {}",
                    comments.trim()
                )))
            }
            Reply::DropPlan | Reply::Choices { .. } | Reply::GoOn { .. } | Reply::Dismiss => {
                let events = self.book.settle(plan, PlanStatus::Dropped);
                self.tell_all(events).await?;
                self.on(Input::Halt(End::STOPPED)).await?;
                Ok(rejected(
                    "the user dropped the plan: nothing comes of it; wait for what they want instead".to_owned(),
                ))
            }
        }
    }

    /// The agent repeated itself and the person decided.
    async fn after_loop(&mut self, stamp: Stamp, text: &str, reply: Reply) -> Result<(), SinkError> {
        let Reply::GoOn { comments } = reply else {
            self.tell_of_loop(text).await?;
            return self.on(Input::Blocked { stamp, end: End::LOOP }).await;
        };
        if let Some(comments) = comments.filter(|comments| !comments.trim().is_empty()) {
            let message = Message::user(comments);
            if self.messages_are_gated() {
                // It goes through the gate like everything that the person says.
                let queued = MessageQueued { when: Admission::TurnBoundary, message: message.clone() };
                self.sink.commit(self.turn_id, EventBody::MessageQueued(queued)).await?;
                self.queued.push_back((Admission::TurnBoundary, message));
            } else {
                self.admit_said(message).await?;
            }
        }
        self.on(Input::GoesOn { stamp }).await
    }
}

fn rejected(words: String) -> Fulfilled {
    Fulfilled::Failed(ToolError::new(ErrorCode::RejectedByUser, words))
}
