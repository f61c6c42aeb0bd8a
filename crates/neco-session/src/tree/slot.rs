//! Where an agent sits while it runs: the way to it, what waits for it, what is known of its work.

use std::collections::{HashMap, VecDeque};
use std::sync::Arc;

use neco_agent::{AgentHandle, AgentInput};
use neco_proto::event::{AgentComplete, AgentMessage, Letter, NodeResult, Up};
use neco_proto::{Actor, AgentId, MessageId};
use neco_safety::Policy;
use neco_toolkit::Registry;
use serde_json::Value;
use tokio::sync::{Notify, mpsc, oneshot, watch};
use tokio::task::JoinHandle;

use super::spec::ChildSpec;

/// Why an agent ended that somebody stopped.
pub(super) const STOPPED: &str = "it was stopped";

/// Where an agent sits while it runs.
#[derive(Default)]
pub(super) struct AgentSlot {
    /// The way to it; nothing while it waits to be made again.
    pub line: Option<Line>,
    /// What it is made from; nothing for the root.
    pub spec: Option<ChildSpec>,
    /// The rules that it is judged by, of which those below it may have no more.
    pub policy: Policy,
    /// The tools that exist for it; those below it may have no others.
    pub tools: Registry,
    /// What waits for it.
    pub mailbox: Mailbox,
    /// What is on its way into its conversation.
    pub in_flight: InFlight,
    /// The last report of each child that is on its way.
    pub reports: HashMap<AgentId, MessageId>,
    /// Rings when something is put into its mailbox.
    pub posted: Arc<Notify>,
    pub at_work: bool,
    /// Whether letters are no reason for it to begin: nobody has said anything since the session was opened.
    pub quiet: bool,
    /// What it finishes with.
    pub output: Option<Value>,
    /// How often that did not fit.
    pub misfits: u32,
    /// Whether it was reminded to finish properly.
    pub reminded: bool,
    /// What went wrong last.
    pub error: Option<String>,
    /// What it asks its parent, until that is answered.
    question: Option<Asked>,
    /// How its work ended while it was paused: what follows waits until it goes on.
    pub ended_paused: Option<AgentComplete>,
    /// Whether the person paused it, who will know when it is to go on.
    pub held: bool,
    /// Whether it was told that those it waits for are paused.
    pub told_of_paused: bool,
    /// How often it began its task anew.
    pub round: u32,
    /// Whether it is being stopped to begin its task anew: how that ends is no end of its task.
    pub starting_over: bool,
    /// Whether it was paused, or everybody stopped, since that began: it does not begin anew then.
    pub called_off: bool,
    /// Whether it was said that nothing is heard of it.
    pub silent: watch::Sender<bool>,
    /// Tells what came of its task.
    pub ended: watch::Sender<Option<NodeResult>>,
}

/// A question that waits for its answer.
struct Asked(oneshot::Sender<Answered>);

/// What is on its way into a conversation, in order: letters, and what Neco itself says.
#[derive(Default)]
pub(super) struct InFlight(Vec<(MessageId, Option<AgentMessage>)>);

impl InFlight {
    /// A letter is on its way.
    pub fn letter(&mut self, letter: AgentMessage) {
        self.0.push((letter.message_id, Some(letter)));
    }

    /// Something that is no letter is on its way.
    pub fn message(&mut self, message: MessageId) {
        self.0.push((message, None));
    }

    /// One is no longer on its way; says whether it was.
    pub fn remove(&mut self, message: MessageId) -> bool {
        let before = self.0.len();
        self.0.retain(|(id, _)| *id != message);
        self.0.len() < before
    }

    /// Whether nothing is on its way.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Whether something is on its way that is a reason to go on.
    pub fn wakes(&self) -> bool {
        self.0.iter().any(|(_, letter)| letter.as_ref().is_none_or(AgentMessage::wakes))
    }

    /// The letters that did not arrive, oldest first.
    pub fn take_letters(&mut self) -> Vec<AgentMessage> {
        self.0.drain(..).filter_map(|(_, letter)| letter).collect()
    }
}

/// The answer to a child's question.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Answered {
    /// Somebody answers.
    By(Actor, String),
    /// Whoever was asked ended its work without an answer.
    Nobody,
}

/// The way to an agent that runs. It ends when this is gone.
pub(super) struct Line {
    /// The way to it, for whoever needs to know that it has heard.
    pub handle: AgentHandle,
    orders: mpsc::UnboundedSender<Order>,
    /// Ends when the agent has.
    pub task: JoinHandle<()>,
}

/// What goes over a line, in order.
enum Order {
    Input(Option<Actor>, Box<AgentInput>),
    /// Everything before it was heard.
    Flush(oneshot::Sender<()>),
}

impl Line {
    /// A way to an agent that keeps what is sent in order.
    pub fn new(handle: AgentHandle, task: JoinHandle<()>) -> Self {
        // Unbounded: who sends holds the whole tree and can't wait; what others say has its bound in the mailbox.
        let (orders, mut waiting) = mpsc::unbounded_channel::<Order>();
        let way = handle.clone();
        tokio::spawn(async move {
            while let Some(order) = waiting.recv().await {
                match order {
                    // An agent that is gone has no use for it.
                    Order::Input(by, input) => drop(way.send_as(by, *input).await),
                    // Who waits may be gone.
                    Order::Flush(done) => drop(done.send(())),
                }
            }
        });
        Self { handle, orders, task }
    }

    /// Sends something after all that was sent before; nobody waits for it.
    pub fn send(&self, order: AgentInput) {
        self.send_as(None, order);
    }

    fn send_as(&self, by: Option<Actor>, order: AgentInput) {
        let _ = self.orders.send(Order::Input(by, Box::new(order)));
    }

    /// Ready when everything that was sent before was heard.
    pub fn flush(&self) -> oneshot::Receiver<()> {
        let (done, flushed) = oneshot::channel();
        let _ = self.orders.send(Order::Flush(done));
        flushed
    }
}

impl AgentSlot {
    /// An empty slot.
    pub fn new(spec: Option<ChildSpec>, policy: Policy, tools: Registry, most_letters: usize) -> Self {
        Self { spec, policy, tools, mailbox: Mailbox::new(most_letters), ..Self::default() }
    }

    /// An empty slot for the same agent, which begins its task anew; whoever waits for its end waits on.
    pub fn anew(self, most_letters: usize) -> Self {
        let Self { spec, silent, ended, round, .. } = self;
        silent.send_replace(false);
        let round = round + 1;
        Self { spec, silent, ended, round, mailbox: Mailbox::new(most_letters), ..Self::default() }
    }

    /// Sends something to the agent, if it runs.
    pub fn send(&self, order: AgentInput) {
        self.send_as(None, order);
    }

    /// The same, with whom it came from.
    pub fn send_as(&self, by: Option<Actor>, order: AgentInput) {
        if let Some(line) = &self.line {
            line.send_as(by, order);
        }
    }

    /// Whether so much was said to it that it has not heard that there is no room for more.
    pub fn is_full(&self) -> bool {
        self.mailbox.is_full(self.in_flight.0.iter().filter_map(|(_, letter)| letter.as_ref()))
    }

    /// From now on it waits for an answer; the receiver has it.
    pub fn ask(&mut self) -> oneshot::Receiver<Answered> {
        let (sender, answer) = oneshot::channel();
        self.question = Some(Asked(sender));
        answer
    }

    /// Whether it waits for an answer.
    pub fn asks(&self) -> bool {
        self.question.as_ref().is_some_and(|asked| !asked.0.is_closed())
    }

    /// Gives it the answer, if it waits for one.
    pub fn answer(&mut self, answer: Answered) {
        if let Some(asked) = self.question.take() {
            // Whoever asked may have given up.
            let _ = asked.0.send(answer);
        }
    }

    /// Whether its end is told to its parent.
    pub fn is_told(&self) -> bool {
        self.spec.as_ref().is_none_or(|spec| spec.told)
    }
}

/// What came of the task of an agent that was stopped.
pub(super) fn stopped() -> NodeResult {
    NodeResult::Error { code: None, message: STOPPED.to_owned() }
}

/// Who says something, as the one it is said to reads it.
pub(super) fn sender_words(from: &Actor, name: impl Fn(AgentId) -> String) -> String {
    from.agent().map_or_else(|| "the user".to_owned(), name)
}

/// Letters that wait until the agent's next turn.
#[derive(Clone, Debug, Default)]
pub struct Mailbox {
    letters: VecDeque<AgentMessage>,
    /// How many letters from above, and how many questions, may wait.
    most: usize,
}

impl Mailbox {
    /// A mailbox for `most` letters besides reports and ends, of which there is one a child at most.
    pub fn new(most: usize) -> Self {
        Self { letters: VecDeque::new(), most }
    }

    /// Puts a letter in, whether there is room or not: of reports only the newest of a child matters.
    pub fn put(&mut self, letter: AgentMessage) {
        let is_report = |letter: &AgentMessage| matches!(letter.letter, Letter::Up(Up::Report { .. }));
        if is_report(&letter) {
            let child = letter.from.agent();
            self.letters.retain(|old| !is_report(old) || old.from.agent() != child);
        }
        self.letters.push_back(letter);
    }

    /// Everything that waits, oldest first.
    pub fn take(&mut self) -> Vec<AgentMessage> {
        self.letters.drain(..).collect()
    }

    /// What waits, oldest first.
    pub fn iter(&self) -> impl Iterator<Item = &AgentMessage> {
        self.letters.iter()
    }

    /// Whether no order and no question fits in any more besides those that are `under_way`.
    pub fn is_full<'a>(&'a self, under_way: impl IntoIterator<Item = &'a AgentMessage>) -> bool {
        self.letters.iter().chain(under_way).filter(|letter| is_bounded(letter)).count() >= self.most
    }
}

/// Whether there may be only so many of its kind.
fn is_bounded(letter: &AgentMessage) -> bool {
    match letter.letter {
        Letter::Up(Up::Question { .. }) | Letter::Down(_) => true,
        Letter::Up(Up::Report { .. } | Up::Ended { .. } | Up::Stopped { .. }) => false,
    }
}

#[cfg(test)]
mod tests {
    use neco_proto::event::NodeResult;
    use neco_proto::{Actor, AgentId, MessageId};
    use serde_json::Value;

    use super::*;

    fn up(from: AgentId, letter: Up) -> AgentMessage {
        AgentMessage {
            from: Actor::Agent { id: from },
            to: AgentId::new(),
            letter: Letter::Up(letter),
            message_id: MessageId::new(),
        }
    }

    #[test]
    fn a_flood_of_reports_is_one_and_no_end_is_lost() {
        let mut mailbox = Mailbox::new(2);
        let children: Vec<AgentId> = (0..3).map(|_| AgentId::new()).collect();
        for step in 0..1000 {
            for child in &children {
                let report = Up::Report { progress: f64::from(step) / 1000.0, message: step.to_string() };
                mailbox.put(up(*child, report));
            }
        }
        assert_eq!(mailbox.iter().count(), 3);
        for _ in 0..2 {
            assert!(!mailbox.is_full([]));
            mailbox.put(up(children[0], Up::Question { text: "which?".into() }));
        }
        for child in &children {
            let result = NodeResult::Output { output: Value::Null };
            mailbox.put(up(*child, Up::Ended { result }));
        }
        assert!(mailbox.is_full([]));
        let letters = mailbox.take();
        let on_its_way: Vec<AgentMessage> = letters.iter().filter(|letter| is_bounded(letter)).cloned().collect();
        assert!(mailbox.is_full(&on_its_way), "what is on its way counts");
        assert!(!mailbox.is_full(on_its_way.first()));
        assert_eq!((letters.len(), mailbox.iter().count()), (8, 0));
        let last = |letter: &AgentMessage| matches!(&letter.letter, Letter::Up(Up::Report { message, .. }) if message == "999");
        assert!(letters.iter().take(3).all(last));
    }
}
