//! The client behind one request: what it can be told and asked while the request is answered.

use rmcp::RoleServer;
use rmcp::model::{
    CallToolResult, ElicitRequest, InputRequest, InputRequests, InputRequiredResult, InputResponses,
    ProgressNotificationParam, ProgressToken, ProtocolVersion,
};
use rmcp::service::{Peer, RequestContext};

use super::ask::{Answered, Asked};
use super::work::{Step, Work};

/// The name of the one question of a round.
const ROUND: &str = "neco";

/// The client behind one request.
pub(super) struct Talk {
    peer: Peer<RoleServer>,
    progress: Option<ProgressToken>,
    /// Whether a person can be asked by way of it.
    pub asks: bool,
    /// Whether it is asked by an answer that it comes back with, and never by a request.
    in_rounds: bool,
}

/// How far a work was followed.
pub(super) enum Followed {
    Ended(CallToolResult),
    /// It goes on when the client comes back with the answer.
    Asks(Asked),
}

impl Talk {
    /// What the request says of its client, or the handshake did.
    pub fn of(context: &RequestContext<RoleServer>) -> Self {
        let version = context.protocol_version();
        let capability = context.client_capabilities().and_then(|capabilities| capabilities.elicitation);
        Self {
            peer: context.peer.clone(),
            progress: context.meta.get_progress_token(),
            // Where nothing is said, forms are meant.
            asks: capability.is_some_and(|capability| capability.form.is_some() || capability.url.is_none()),
            in_rounds: version.is_some_and(|version| version >= ProtocolVersion::V_2026_07_28),
        }
    }

    /// Follows a work until it is over, or asks what only the client's next request can answer.
    pub async fn follow(&self, work: &mut Work) -> Followed {
        loop {
            match work.next().await {
                Step::Does(words) => self.tell(work, words).await,
                Step::Ended(result) => return Followed::Ended(result),
                Step::Asks(asked) if !self.asks => work.decide(&asked, &Answered::Nobody).await,
                Step::Asks(asked) if self.in_rounds => return Followed::Asks(asked),
                Step::Asks(asked) => {
                    let id = asked.id();
                    let answered = tokio::select! {
                        answered = self.ask(&asked) => Some(answered),
                        () = work.settled(&id) => None,
                    };
                    if let Some(answered) = answered {
                        work.decide(&asked, &answered).await;
                    }
                }
            }
        }
    }

    async fn tell(&self, work: &mut Work, words: String) {
        work.told += 1;
        let Some(token) = self.progress.clone() else { return };
        #[allow(clippy::cast_precision_loss, reason = "nothing is told so often")]
        let told = work.told as f64;
        let progress = ProgressNotificationParam::new(token, told).with_message(words);
        if let Err(error) = self.peer.notify_progress(progress).await {
            tracing::debug!(%error, "the client is not told what is done");
        }
    }

    async fn ask(&self, asked: &Asked) -> Answered {
        match self.peer.create_elicitation(asked.form()).await {
            Ok(answer) => Answered::By(answer),
            Err(error) => {
                tracing::debug!(%error, "the client can't ask");
                Answered::Nobody
            }
        }
    }
}

/// The answer that asks something, with the word by which the client comes back.
pub(super) fn round(asked: &Asked, state: String) -> InputRequiredResult {
    let request = InputRequest::Elicitation(ElicitRequest::new(asked.form()));
    InputRequiredResult::new(Some(InputRequests::from([(ROUND.to_owned(), request)])), Some(state))
}

/// What the client came back with.
pub(super) fn answer_in(responses: Option<&InputResponses>) -> Answered {
    let answer = responses.and_then(|responses| responses.get(ROUND));
    match answer.and_then(|answer| serde_json::from_value(answer.clone()).ok()) {
        Some(answer) => Answered::By(answer),
        None => Answered::Nobody,
    }
}
