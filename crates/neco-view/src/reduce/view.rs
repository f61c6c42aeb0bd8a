//! The reducer's state: what a person sees of a session, event by event.

use neco_proto::event::{
    Admission, AgentNode, AgentState, HookOutcome, HookRun, MessageQueued, PermissionDecision, PermissionRequest,
    PlanUpdate, QuestionAnswer, Rewind, WorkflowGraph,
};
use neco_proto::{AgentId, Event, EventBody, Message, Part, Plan, PlanStatus, Question, Role, Seq, Todo};
use serde::Serialize;

use super::agents::Agents;
use super::block::{Approval, Asked, Block, BlockBody, BlockId, Context, Planned, Said, WorkEnd};
use super::counting::Counting;
use super::idle::IdleTracker;
use super::work::Work;
use super::workflows;

/// What a person sees of a session: of the root everything, of the agents below it that they are there.
///
/// ```
/// use neco_view::reduce::{BlockBody, Change, View};
///
/// let line = r#"{"seq":1,"ts":"2026-11-16T12:00:00.000Z","session_id":"0199a1b2-0000-7000-8000-000000000001",
///     "agent_id":"0199a1b2-0000-7000-8000-000000000002","type":"stream_chunk","text":"Hello"}"#;
/// let event = serde_json::from_str(line)?;
/// let mut view = View::default();
/// assert_eq!(view.apply(&event), [Change::Added(1), Change::Grew(1, "Hello")]);
/// assert!(matches!(&view.block(1).unwrap().body, BlockBody::Answer(answer) if answer.text == "Hello"));
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Clone, Debug, Default, Serialize)]
pub struct View {
    /// What there is to see, in the order in which it began.
    pub blocks: Vec<Block>,
    /// What the root does.
    pub state: AgentState,
    /// Who is waited for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub waits_for: Option<WaitsFor>,
    /// The title.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// The todo list.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub todos: Vec<Todo>,
    /// The plan.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub plan: Option<Plan>,
    /// What was found out.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub findings: Vec<String>,
    /// The agents below the root.
    pub agents: Agents,
    /// The workflows.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub workflows: Vec<WorkflowGraph>,
    /// What the conversation takes of the model's window.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub context: Option<Context>,
    /// Whether the root is done, nobody works, and nothing is on its way that lets it go on.
    pub over: bool,
    #[serde(skip)]
    pub(super) root: Option<AgentId>,
    #[serde(skip)]
    pub(super) idle: IdleTracker,
    #[serde(skip)]
    pub(super) work: Work,
    #[serde(skip)]
    counting: Counting,
    #[serde(skip)]
    pub(super) last_id: BlockId,
    /// The event that is taken in, and when it happened.
    #[serde(skip)]
    pub(super) at: (Seq, i64),
    /// The block whose words are being written.
    #[serde(skip)]
    pub(super) writing: Option<BlockId>,
    /// The last block before this turn.
    #[serde(skip)]
    pub(super) before_turn: BlockId,
    /// Whether words of the message that is being written have come in pieces.
    #[serde(skip)]
    pub(super) streamed: bool,
}

/// Who is waited for.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum WaitsFor {
    /// The model, to begin with a turn.
    Model {
        /// The model or group that is asked.
        name: String,
    },
    /// The model, to write the arguments of a call.
    Arguments {
        /// The tool.
        tool: String,
    },
}

/// What an event changed, in order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Change<'e> {
    /// A block is new.
    Added(BlockId),
    /// A block stands otherwise.
    Changed(BlockId),
    /// Words were added to a block of the model, or a call printed something.
    Grew(BlockId, &'e str),
    /// Something is to be known about what a call printed.
    Noted(BlockId, &'e str),
    /// The model has said its message to the end.
    Said {
        /// Whether calls follow.
        calls: bool,
    },
    /// Somebody else is waited for.
    Waits,
}

impl View {
    /// The view of whoever has not seen the beginning of the session.
    pub fn of(root: AgentId) -> Self {
        Self { root: Some(root), idle: IdleTracker::of(root), ..Self::default() }
    }

    /// Whose events are the conversation, for whoever has not seen the beginning of the session.
    pub fn set_root(&mut self, root: AgentId) {
        self.root = Some(root);
        self.idle = IdleTracker::of(root);
    }

    /// These agents were there before the first event that is taken in, the root among them.
    pub fn found(&mut self, mut nodes: Vec<AgentNode>) {
        // An event may have overtaken what was asked for.
        nodes.retain(|node| node.parent.is_some() && !self.agents.is_newer(node));
        self.idle.found(&nodes);
        for node in &nodes {
            self.agents.stands(node);
        }
        self.over = self.idle.is_over();
    }

    /// Takes in an event of which nothing is to be seen: whether the session has come to rest follows from it.
    pub fn note(&mut self, event: &Event) {
        self.idle.apply(event);
    }

    /// Another session comes: only what is still to be seen of this one stays.
    pub fn forget(&mut self) {
        let blocks = std::mem::take(&mut self.blocks);
        *self = Self { blocks, last_id: self.last_id, ..Self::default() };
    }

    /// Goes on from where another view was: who works, and the agents that it knows.
    pub fn follow(&mut self, idle: IdleTracker, agents: Agents) {
        self.root = self.root.or(idle.root());
        (self.idle, self.agents) = (idle, agents);
    }

    /// A block that was not let go of.
    pub fn block(&self, id: BlockId) -> Option<&Block> {
        let at = self.blocks.binary_search_by_key(&id, |block| block.id).ok()?;
        self.blocks.get(at)
    }

    /// Lets go of a block.
    pub fn take(&mut self, id: BlockId) -> Option<Block> {
        let at = self.blocks.binary_search_by_key(&id, |block| block.id).ok()?;
        Some(self.blocks.remove(at))
    }

    /// What was said and waits until the agent reads it.
    pub fn unread(&self) -> impl DoubleEndedIterator<Item = &Said> {
        self.blocks.iter().filter_map(|block| match &block.body {
            BlockBody::Message(said) => said.waits.filter(|waits| *waits != Admission::Withdrawn).map(|_| said),
            _ => None,
        })
    }

    /// Whether the model is in the middle of a text.
    pub fn is_writing(&self) -> bool {
        self.writing.is_some()
    }

    /// Gives the blocks that can't change any more, and forgets them.
    pub fn take_over(&mut self) -> Vec<Block> {
        self.blocks.extract_if(.., |block| block.body.is_over()).collect()
    }

    /// The end of work that others were still at, for whoever looks no longer.
    pub fn close(&mut self) -> Option<WorkEnd> {
        self.work.close()
    }

    /// The last event that was taken in.
    pub fn last_seq(&self) -> Seq {
        self.at.0
    }

    /// Whether an event is the root's own.
    pub fn is_own(&self, event: &Event) -> bool {
        self.root.is_none_or(|root| root == event.agent_id)
    }

    /// Takes in the next event; tells what it changed.
    pub fn apply<'e>(&mut self, event: &'e Event) -> Vec<Change<'e>> {
        if matches!(event.body, EventBody::SessionStart(_)) {
            self.root = Some(event.agent_id);
        }
        self.at = (event.seq, event.ts.as_millisecond());
        self.idle.apply(event);
        self.over = self.idle.is_over();
        let own = self.is_own(event);
        self.counting.note(event, own);
        self.work.apply(event, own);
        self.context = self.work.context;
        match &event.body {
            EventBody::AgentUpdate(update) => {
                let step = self.agents.update(update);
                self.some(step.map(|step| BlockBody::Agent(Box::new(step))))
            }
            EventBody::AgentMessage(message) => self.some(self.agents.letter(message).map(BlockBody::Letter)),
            EventBody::Stop(stop) => self.add(BlockBody::Stop(stop.clone())),
            EventBody::WorkflowUpdate(update) => {
                self.agents.in_workflow = true;
                let step = workflows::update(&mut self.workflows, update);
                self.some(step.map(BlockBody::Workflow))
            }
            // Whoever is asked sees it, whoever asks.
            EventBody::PermissionRequest(request) => self.approval(event, request, own),
            EventBody::PermissionDecision(decided) => self.decided(decided),
            EventBody::Question(question) => {
                self.ask((!own).then_some(event.agent_id), question);
                vec![Change::Added(self.last_id)]
            }
            EventBody::QuestionAnswer(answer) => self.answered(answer),
            // So does whoever is to know what acts later, whoever changed it.
            EventBody::Notification(told) if own || told.changed.is_some() => {
                self.add(BlockBody::Notification(told.clone()))
            }
            EventBody::Rewind(rewind) if own => self.went_back(event, rewind),
            body if own => self.own(body),
            body => {
                self.agents.note(event.agent_id, body);
                match body {
                    // A call that is stopped while it is asked about ends without a decision.
                    EventBody::ToolCallEnd(end) => {
                        self.work.forget(&end.call_id);
                        self.close_approval(&end.call_id)
                    }
                    _ => Vec::new(),
                }
            }
        }
    }

    /// What the root does.
    fn own<'e>(&mut self, body: &'e EventBody) -> Vec<Change<'e>> {
        match body {
            EventBody::SessionStart(start) => self.add(BlockBody::SessionStart(start.clone())),
            EventBody::StateChange(change) => {
                self.state = change.to;
                Vec::new()
            }
            EventBody::TurnStart(start) => self.turn(&start.model),
            EventBody::StreamChunk(chunk) => self.words(&chunk.text, BlockBody::Answer),
            EventBody::ReasoningChunk(chunk) => self.words(&chunk.text, BlockBody::Thinking),
            EventBody::StreamToolCallStart(start) => self.call_begins(start),
            EventBody::StreamToolCallDelta(delta) => {
                if let Some((_, call)) = self.call(&delta.call_id) {
                    call.written += delta.partial_args.len();
                }
                Vec::new()
            }
            EventBody::ToolCallUpdate(update) => self.call_goes_on(update),
            EventBody::ToolOutputChunk(chunk) => self.call_prints(chunk),
            EventBody::ToolCallEnd(end) => self.call_ends(end),
            EventBody::ModelRetry(retry) => {
                [self.break_off(retry.discards), self.add(BlockBody::ModelRetry(retry.clone()))].concat()
            }
            EventBody::ModelSwitch(switch) => {
                [self.break_off(switch.discards), self.add(BlockBody::ModelSwitch(switch.clone()))].concat()
            }
            EventBody::HookRun(run) if run.outcome == HookOutcome::Passed && run.message.is_none() => Vec::new(),
            EventBody::HookRun(run) => {
                self.blocked(run);
                self.add(BlockBody::HookRun(run.clone()))
            }
            EventBody::TodoUpdate(update) => {
                self.todos.clone_from(&update.todos);
                self.add(BlockBody::Todos(update.clone()))
            }
            EventBody::PlanUpdate(update) => self.planned(update),
            EventBody::ModeChange(change) => self.add(BlockBody::ModeChange(change.clone())),
            EventBody::MessageQueued(queued) => self.queued(queued),
            EventBody::Message(message) => match message.role {
                Role::User => self.admitted(message),
                Role::Assistant => self.said(message),
                Role::Tool => Vec::new(),
            },
            // Of what was not read a notification told.
            EventBody::RulesTold(told) if told.files.is_empty() => Vec::new(),
            EventBody::RulesTold(told) => self.add(BlockBody::RulesTold(told.clone())),
            EventBody::Compaction(compaction) => self.add(BlockBody::Compaction(Box::new(compaction.clone()))),
            EventBody::Title(title) => {
                self.title = Some(title.title.clone());
                Vec::new()
            }
            EventBody::Imported(imported) => self.add(BlockBody::Imported(imported.clone())),
            EventBody::Error(error) => [self.end_words(), self.add(BlockBody::Error(error.clone()))].concat(),
            EventBody::AgentComplete(complete) => {
                let words = self.end_words();
                self.end_calls();
                self.waits_for = None;
                let dropped = self.plan.as_ref().is_some_and(|plan| plan.status == PlanStatus::Dropped);
                let end = self.work.complete(complete, self.over, dropped);
                [words, self.add(BlockBody::End(Box::new(end)))].concat()
            }
            EventBody::Notification(_)
            | EventBody::Rewind(_)
            | EventBody::PermissionRequest(_)
            | EventBody::PermissionDecision(_)
            | EventBody::Question(_)
            | EventBody::QuestionAnswer(_)
            | EventBody::AgentUpdate(_)
            | EventBody::AgentMessage(_)
            | EventBody::Stop(_)
            | EventBody::WorkflowUpdate(_)
            | EventBody::MemoryUpdate(_)
            | EventBody::Usage(_)
            | EventBody::Environment(_)
            | EventBody::IdeContext(_)
            | EventBody::ContextTrim(_)
            | EventBody::Checkpoint(_)
            | EventBody::FilesBack(_)
            | EventBody::SideCall(_)
            | EventBody::TurnEnd(_)
            | EventBody::Unknown(_) => Vec::new(),
        }
    }

    /// Adds a block at the end.
    pub(super) fn add<'e>(&mut self, body: BlockBody) -> Vec<Change<'e>> {
        self.last_id += 1;
        let (seq, at_ms) = self.at;
        self.blocks.push(Block { id: self.last_id, seq, at_ms, void: false, body });
        vec![Change::Added(self.last_id)]
    }

    fn some<'e>(&mut self, body: Option<BlockBody>) -> Vec<Change<'e>> {
        body.map(|body| self.add(body)).unwrap_or_default()
    }

    /// The last block that `of` finds something in, and what.
    pub(super) fn last<T>(&mut self, of: impl Fn(&mut BlockBody) -> Option<&mut T>) -> Option<(BlockId, &mut T)> {
        self.blocks.iter_mut().rev().find_map(|block| of(&mut block.body).map(|found| (block.id, found)))
    }

    fn approval<'e>(&mut self, event: &Event, request: &PermissionRequest, own: bool) -> Vec<Change<'e>> {
        let agent_id = (!own).then_some(event.agent_id);
        let approval = Approval { agent_id, request: request.clone(), decision: None, open: true };
        self.add(BlockBody::Approval(Box::new(approval)))
    }

    fn decided<'e>(&mut self, decided: &PermissionDecision) -> Vec<Change<'e>> {
        let found = self.last(|body| match body {
            BlockBody::Approval(approval) if approval.request.call_id == decided.call_id => Some(approval),
            _ => None,
        });
        let Some((id, approval)) = found else { return Vec::new() };
        (approval.decision, approval.open) = (Some(decided.decision.clone()), false);
        vec![Change::Changed(id)]
    }

    /// A person is asked something, by the root unless another agent is named.
    pub fn ask(&mut self, agent_id: Option<AgentId>, question: &Question) -> BlockId {
        self.add(BlockBody::Question(Asked { agent_id, question: question.clone(), reply: None, open: true }));
        self.last_id
    }

    fn went_back<'e>(&mut self, event: &Event, rewind: &Rewind) -> Vec<Change<'e>> {
        let went_back = self.counting.went_back(event, rewind);
        if rewind.conversation {
            let effective = self.counting.effective(event.seq);
            self.blocks.iter_mut().for_each(|block| block.void = !effective.counts(block.counts_from()));
        }
        self.add(BlockBody::Rewind(Box::new(went_back)))
    }

    fn answered<'e>(&mut self, answer: &QuestionAnswer) -> Vec<Change<'e>> {
        let found = self.last(|body| match body {
            BlockBody::Question(asked) if asked.question.question_id == answer.question_id => Some(asked),
            _ => None,
        });
        let Some((id, asked)) = found else { return Vec::new() };
        (asked.reply, asked.open) = (answer.reply.clone(), false);
        vec![Change::Changed(id)]
    }

    fn planned<'e>(&mut self, update: &PlanUpdate) -> Vec<Change<'e>> {
        let found = update.findings.iter().skip(self.findings.len()).cloned().collect();
        self.plan.clone_from(&update.plan);
        self.findings.clone_from(&update.findings);
        self.add(BlockBody::Plan(Planned { plan: update.plan.clone(), found }))
    }

    fn queued<'e>(&mut self, MessageQueued { when, message }: &MessageQueued) -> Vec<Change<'e>> {
        match self.waiting(message) {
            Some((id, said)) => {
                said.waits = Some(*when);
                vec![Change::Changed(id)]
            }
            None => self.add(BlockBody::Message(Said { waits: Some(*when), ..said(message) })),
        }
    }

    /// What Neco or a hook says in the person's place is for the model.
    fn admitted<'e>(&mut self, message: &Message) -> Vec<Change<'e>> {
        let seq = self.at.0;
        match self.waiting(message) {
            Some((id, said)) => {
                (said.waits, said.read) = (None, Some(seq));
                vec![Change::Changed(id)]
            }
            None if message.is_neco() => Vec::new(),
            None => [self.end_words(), self.add(BlockBody::Message(said(message)))].concat(),
        }
    }

    /// A message that a hook blocked is never read.
    fn blocked(&mut self, run: &HookRun) {
        let waits = self.last(|body| match body {
            BlockBody::Message(said) if Some(said.message_id) == run.message_id => said.waits.as_mut(),
            _ => None,
        });
        if let (Some((_, waits)), HookOutcome::Blocked | HookOutcome::Stopped) = (waits, run.outcome) {
            *waits = Admission::Withdrawn;
        }
    }

    fn waiting(&mut self, message: &Message) -> Option<(BlockId, &mut Said)> {
        self.last(|body| match body {
            BlockBody::Message(said) if said.message_id == message.id => Some(said),
            _ => None,
        })
    }
}

fn said(message: &Message) -> Said {
    let pictures = message.parts.iter().filter(|part| matches!(part, Part::Image { .. })).count();
    Said { message_id: message.id, text: message.text(), pictures, waits: None, read: None }
}

#[cfg(test)]
mod tests {
    use jiff::Timestamp;
    use neco_proto::event::{
        CallStatus, ModelRetry, Notification, NotificationLevel, StreamChunk, ToolCallStart, ToolCallUpdate,
    };
    use neco_proto::{ErrorCode, SessionId, ToolOrigin};

    use super::*;
    use crate::reduce::block::Written;

    fn view(bodies: Vec<EventBody>) -> View {
        let (session_id, agent_id) = (SessionId::new(), AgentId::new());
        let mut view = View::default();
        for (seq, body) in (1..).zip(bodies) {
            let ts = Timestamp::UNIX_EPOCH;
            view.apply(&Event::new(seq, ts, session_id, agent_id, None, body));
        }
        view
    }

    fn words(text: &str) -> EventBody {
        EventBody::StreamChunk(StreamChunk { text: text.to_owned() })
    }

    fn writes_call() -> EventBody {
        let start = ToolCallStart { index: 0, call_id: "c".into(), name: "bash".to_owned() };
        EventBody::StreamToolCallStart(start)
    }

    fn retry(discards: bool) -> EventBody {
        EventBody::ModelRetry(ModelRetry {
            attempt: 2,
            attempts: 4,
            model: String::new(),
            wait_ms: 1,
            code: ErrorCode::ProviderUnavailable,
            message: String::new(),
            discards,
        })
    }

    #[test]
    fn what_a_retry_discards_is_gone_and_what_it_keeps_is_over() {
        let thought = EventBody::ReasoningChunk(StreamChunk { text: "hm".to_owned() });
        let view = view(vec![thought, words("Half"), writes_call(), retry(true), words("Again"), retry(false)]);
        assert!(matches!(
            view.blocks.iter().map(|block| &block.body).collect::<Vec<_>>()[..],
            [BlockBody::ModelRetry(_), BlockBody::Answer(Written { over: true, .. }), BlockBody::ModelRetry(_)]
        ));
    }

    #[test]
    fn the_end_of_a_thought_is_told() {
        let (session_id, agent_id) = (SessionId::new(), AgentId::new());
        let mut view = View::default();
        let event = |seq, body| Event::new(seq, Timestamp::UNIX_EPOCH, session_id, agent_id, None, body);
        view.apply(&event(1, EventBody::ReasoningChunk(StreamChunk { text: "hm".to_owned() })));
        let said = event(2, words("Yes"));
        assert_eq!(view.apply(&said), [Change::Changed(1), Change::Added(2), Change::Grew(2, "Yes")]);
        let call = event(3, writes_call());
        assert_eq!(view.apply(&call).first(), Some(&Change::Changed(2)));
    }

    #[test]
    fn a_compaction_counts_for_what_the_conversation_takes() {
        let event = |body: serde_json::Value| serde_json::from_value::<EventBody>(body).unwrap();
        let (session_id, agent_id) = (SessionId::new(), AgentId::new());
        let mut view = View::default();
        for (seq, body) in (1..).zip([
            serde_json::json!({
                "type": "usage", "model": "m", "input": 900, "output": 100, "cache_read": 0, "cache_write": 0,
                "reasoning": 0, "context_window": 2000
            }),
            serde_json::json!({
                "type": "compaction", "cause": "asked", "strategy": "summary", "before": 1000, "after": 300,
                "kept": 1, "removed": 5
            }),
        ]) {
            let turn = Some(neco_proto::TurnId::new());
            view.apply(&Event::new(seq, Timestamp::UNIX_EPOCH, session_id, agent_id, turn, event(body)));
        }
        assert_eq!(view.context, Some(Context { tokens: 300, window: 2000 }));
    }

    #[test]
    fn a_notice_does_not_tear_an_answer_apart() {
        let told = EventBody::Notification(Notification::new(NotificationLevel::Info, "by the way".to_owned()));
        let view = view(vec![words("One "), told, words("sentence.")]);
        let BlockBody::Answer(answer) = &view.blocks[0].body else { panic!("no answer") };
        assert_eq!((answer.text.as_str(), answer.over, view.blocks.len()), ("One sentence.", false, 2));
    }

    #[test]
    fn a_call_is_one_block_and_is_waited_for_while_it_is_written() {
        let runs = ToolCallUpdate {
            call_id: "c".into(),
            tool: "bash".to_owned(),
            origin: ToolOrigin::default(),
            status: CallStatus::Executing,
            summary: "Run make".to_owned(),
        };
        assert_eq!(view(vec![writes_call()]).waits_for, Some(WaitsFor::Arguments { tool: "bash".to_owned() }));
        let view = view(vec![writes_call(), EventBody::ToolCallUpdate(runs)]);
        let BlockBody::Call(call) = &view.blocks[0].body else { panic!("no call") };
        assert_eq!((view.blocks.len(), call.summary.as_str(), call.started_ms), (1, "Run make", Some(0)));
    }
}
