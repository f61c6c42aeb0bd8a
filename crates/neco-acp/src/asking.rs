//! What a person is asked, brought to them by way of their editor.

use agent_client_protocol::Error;
use agent_client_protocol::v1::schema as acp;
use neco_proto::{Command, Subject};

use crate::forms;
use crate::permission::Asked;
use crate::window::Base;

/// Brings a question to the person; what the session is told of their answer. An editor that has gone decides nothing, and
/// one that can't ask leaves it to others who have the session open.
pub(crate) async fn bring(base: &Base, asked: &Asked, about: acp::ToolCallUpdateFields) -> Option<Command> {
    let unasked = |error: Error| {
        let is_gone = base.shared || agent_client_protocol::is_incoming_transport_closed(&error);
        (!is_gone).then(|| asked.unasked(&error.message))
    };
    if let Asked::Question(question) = asked
        && let Subject::Choices { items } = &question.subject
        && base.forms
    {
        let form = forms::form(&base.id, asked.call(), items);
        return match base.editor.send_request(form).block_task().await {
            Ok(answer) => {
                let (question_id, reply) = (question.question_id, forms::reply(items, answer));
                Some(Command::Answer { question_id, reply })
            }
            Err(error) => unasked(error),
        };
    }
    let mut chosen = Vec::new();
    for options in asked.rounds() {
        let call = acp::ToolCallUpdate::new(asked.call(), about.clone());
        let request = acp::RequestPermissionRequest::new(base.id.clone(), call, options);
        match base.editor.send_request(request).block_task().await {
            Ok(acp::RequestPermissionResponse { outcome: acp::RequestPermissionOutcome::Selected(one), .. }) => {
                chosen.push(Some(one.option_id.0.to_string()));
            }
            Ok(_) => chosen.push(None),
            Err(error) => return unasked(error),
        }
    }
    Some(asked.command(&chosen))
}
