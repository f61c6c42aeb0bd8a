//! The prompts of an editor that are not answered yet, each with what it waits for.

use agent_client_protocol::Error;
use agent_client_protocol::v1::Responder;
use agent_client_protocol::v1::schema as acp;
use neco_proto::{MessageId, QuestionId, Seq};
use tokio::sync::mpsc::WeakUnboundedSender;

use crate::window::{Order, Task};

/// The answer to a prompt.
pub(crate) type Prompted = Responder<acp::PromptResponse>;

/// Answers a prompt.
pub(crate) fn answer(prompted: Prompted, result: Result<acp::PromptResponse, Error>) {
    if let Err(error) = prompted.respond_with_result(result) {
        tracing::debug!(%error, "nobody waits for the answer");
    }
}

/// A prompt that is not answered yet.
pub(crate) struct Pending {
    pub number: u64,
    pub prompted: Prompted,
    pub awaits: Awaits,
    /// Whether the editor wants it stopped.
    pub cancelled: bool,
    /// The questions that were open when it came, first the one that it may answer.
    pub open: Vec<QuestionId>,
    /// Whoever looks whether the editor takes the request back.
    _watch: Task,
}

/// What a prompt waits for.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Awaits {
    /// Nobody has begun with it.
    Turn,
    /// It is on its way to the session.
    Taking,
    /// The agent has not read the message yet.
    Reading(MessageId),
    /// The end of the work.
    Work,
    /// What the session tells until this event.
    Event(Seq),
}

/// The prompts that are not answered yet.
#[derive(Default)]
pub(crate) struct Prompts {
    pending: Vec<Pending>,
    last: u64,
}

impl Prompts {
    /// A prompt came while these questions were `open`; its number. Whoever takes orders is told when the editor takes
    /// it back.
    pub fn add(&mut self, prompted: Prompted, orders: WeakUnboundedSender<Order>, open: Vec<QuestionId>) -> u64 {
        self.last += 1;
        let (number, taken_back) = (self.last, prompted.cancellation());
        let watch = Task::spawn(async move {
            taken_back.cancelled().await;
            if let Some(orders) = orders.upgrade() {
                let _ = orders.send(Order::Cancel(Some(number)));
            }
        });
        self.pending.push(Pending { number, prompted, awaits: Awaits::Turn, cancelled: false, open, _watch: watch });
        number
    }

    pub fn is_empty(&self) -> bool {
        self.pending.is_empty()
    }

    pub fn iter_mut(&mut self) -> impl Iterator<Item = &mut Pending> {
        self.pending.iter_mut()
    }

    pub fn get(&mut self, number: u64) -> Option<&mut Pending> {
        self.pending.iter_mut().find(|pending| pending.number == number)
    }

    /// The prompt whose message nobody has read yet.
    pub fn unread(&mut self, message: MessageId) -> Option<&mut Pending> {
        self.pending.iter_mut().find(|pending| pending.awaits == Awaits::Reading(message))
    }

    /// Takes those out that fit.
    pub fn take(&mut self, fits: impl FnMut(&mut Pending) -> bool) -> Vec<Pending> {
        self.pending.extract_if(.., fits).collect()
    }
}
