//! Questions to the person that the agent waits for: what a call wants to know, a plan, a loop.

use neco_proto::event::QuestionAnswer;
use neco_proto::{Actor, CallId, EventBody, ItemAnswer, Question, QuestionId, Reply, Subject};
use tokio::sync::oneshot;

use super::inputs::InputError;
use super::reports::Reports;
use crate::machine::Stamp;
use crate::plan::check_reply;
use crate::ports::SinkError;

/// The questions that wait for their answers.
#[derive(Default)]
pub(super) struct Questions(Vec<(Question, Asker)>);

/// Who waits for an answer.
pub(super) enum Asker {
    Call(CallId),
    /// A call that goes on with the answer while it runs.
    Running(CallId, oneshot::Sender<Option<Vec<ItemAnswer>>>),
    /// A turn that begins with it.
    Turn(Stamp),
}

impl Questions {
    pub(super) async fn pose(&mut self, asker: Asker, subject: Subject, reports: &Reports) -> Result<(), SinkError> {
        let call_id = match &asker {
            Asker::Call(call_id) | Asker::Running(call_id, _) => Some(call_id.clone()),
            Asker::Turn(_) => None,
        };
        let question = Question { question_id: QuestionId::new(), call_id, subject };
        self.0.push((question.clone(), asker));
        reports.commit(EventBody::Question(question)).await
    }

    /// Takes the person's answer to what waits for it.
    pub(super) async fn answer(
        &mut self,
        id: QuestionId,
        reply: &Reply,
        by: Option<Actor>,
        reports: &Reports,
    ) -> Result<(Asker, Subject), InputError> {
        let Some(at) = self.0.iter().position(|(question, _)| question.question_id == id) else {
            return Err(InputError::Refused(format!("question {id} does not wait for an answer")));
        };
        if let Some((question, _)) = self.0.get(at) {
            check_reply(&question.subject, reply)?;
        }
        let (question, asker) = self.0.remove(at);
        let answer = QuestionAnswer { question_id: id, reply: Some(reply.clone()), by };
        reports.commit(EventBody::QuestionAnswer(answer)).await?;
        Ok((asker, question.subject))
    }

    /// How many running calls wait for an answer.
    pub(super) fn running_calls(&self) -> usize {
        let mut calls: Vec<&CallId> = Vec::new();
        for (_, asker) in &self.0 {
            if let Asker::Running(call_id, _) = asker
                && !calls.contains(&call_id)
            {
                calls.push(call_id);
            }
        }
        calls.len()
    }

    /// Takes back what was asked by calls that are over: nobody waits for the answers.
    pub(super) async fn withdraw_unwanted(&mut self, reports: &Reports) -> Result<(), SinkError> {
        let is_unwanted = |asker: &Asker| matches!(asker, Asker::Running(_, answer) if answer.is_closed());
        let unwanted: Vec<_> = self.0.extract_if(.., |(_, asker)| is_unwanted(asker)).collect();
        for (question, _) in unwanted {
            withdraw(question, reports).await?;
        }
        Ok(())
    }

    /// The work ends: nobody waits for answers any more.
    pub(super) async fn withdraw(&mut self, reports: &Reports) -> Result<(), SinkError> {
        for (question, _) in std::mem::take(&mut self.0) {
            withdraw(question, reports).await?;
        }
        Ok(())
    }
}

async fn withdraw(question: Question, reports: &Reports) -> Result<(), SinkError> {
    let answer = QuestionAnswer { question_id: question.question_id, reply: None, by: None };
    reports.emit(EventBody::QuestionAnswer(answer)).await
}
