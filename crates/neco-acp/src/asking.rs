//! What a person is asked, brought to them by way of their editor.

use agent_client_protocol::Error;
use agent_client_protocol::v1::schema as acp;
use neco_proto::Command;

use crate::forms;
use crate::permission::Asked;
use crate::window::Base;

/// What came of bringing a question to the person.
pub(crate) enum Brought {
    /// The session is told this.
    Answer(Command),
    /// This was chosen, or nothing.
    Chose(Option<String>),
    /// It is left to others.
    Nothing,
}

/// Brings a round of a question to the person; a form is the only one. An editor that has gone decides nothing, and one
/// that can't ask leaves it to others who have the session open.
pub(crate) async fn bring(base: &Base, asked: &Asked, round: usize, about: acp::ToolCallUpdateFields) -> Brought {
    let unasked = |error: Error| {
        let is_gone = base.shared || agent_client_protocol::is_incoming_transport_closed(&error);
        if is_gone { Brought::Nothing } else { Brought::Answer(asked.unasked(&error.message)) }
    };
    if let Some((question, items)) = asked.form(base.forms) {
        let form = forms::form(&base.id, asked.call(), items);
        return match base.editor.send_request(form).block_task().await {
            Ok(answer) => {
                let (question_id, reply) = (question.question_id, forms::reply(items, answer));
                Brought::Answer(Command::Answer { question_id, reply })
            }
            Err(error) => unasked(error),
        };
    }
    let Some(options) = asked.rounds().into_iter().nth(round) else { return Brought::Nothing };
    let about = match asked.title(round) {
        Some(title) => about.title(title),
        None => about,
    };
    let call = acp::ToolCallUpdate::new(asked.call(), about);
    let request = acp::RequestPermissionRequest::new(base.id.clone(), call, options);
    match base.editor.send_request(request).block_task().await {
        Ok(acp::RequestPermissionResponse { outcome: acp::RequestPermissionOutcome::Selected(one), .. }) => {
            Brought::Chose(Some(one.option_id.0.to_string()))
        }
        Ok(_) => Brought::Chose(None),
        Err(error) => unasked(error),
    }
}
