//! The reducer's state: what a person sees of a session, event by event.

use neco_proto::event::{Admission, AgentNode, HookOutcome, PlanUpdate, Rewind, WorkflowGraph};
use neco_proto::{AgentId, Event, EventBody, Plan, PlanStatus, Question, Role, Seq, SessionSnapshot, Todo};
use serde::Serialize;

use super::agents::Agents;
use super::block::{Block, BlockBody, BlockId, Planned, Said, WorkEnd};
use super::counting::Counting;
use super::idle::IdleTracker;
use super::standing::Standing;
use super::work::Work;
use super::{asked, said, workflows};

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
    /// How the session stands.
    #[serde(flatten)]
    pub standing: Standing,
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
    /// The agents below the root, and what everybody does.
    #[serde(flatten)]
    pub agents: Agents,
    /// The workflows.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub workflows: Vec<WorkflowGraph>,
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

    /// Whose events are the conversation, for whoever has not seen the beginning of the session. The agents of another
    /// session are not known any more.
    pub fn set_root(&mut self, root: AgentId) {
        self.root = Some(root);
        self.idle = IdleTracker::of(root);
        (self.agents, self.workflows) = (Agents::default(), Vec::new());
    }

    /// The session stands so after the events that were taken in, which may be the last of many.
    pub fn opened(&mut self, snapshot: &SessionSnapshot) {
        self.root = Some(snapshot.root_agent);
        self.idle = IdleTracker::of(snapshot.root_agent);
        self.over = self.idle.is_over();
        self.standing = Standing::of(snapshot, self.standing.context);
        self.todos.clone_from(&snapshot.todos);
        self.plan.clone_from(&snapshot.plan);
        self.findings.clone_from(&snapshot.findings);
        self.title = Some(snapshot.title.clone()).filter(|title| !title.is_empty()).or(self.title.take());
        let calls = snapshot.pending.iter().map(|request| request.call_id.to_string());
        let questions = snapshot.questions.iter().map(|question| question.question_id.to_string());
        self.agents.only_asks(&calls.chain(questions).collect::<Vec<_>>());
    }

    /// These agents were there before the first event that is taken in, the root perhaps among them.
    pub fn found(&mut self, nodes: Vec<AgentNode>) {
        let nodes = self.agents.found(nodes);
        self.idle.found(&nodes);
        self.over = self.idle.is_over();
    }

    /// Takes in an event of which nothing is to be seen: how full the window is, who asks what, and whether the session
    /// has come to rest follow from it.
    pub fn note(&mut self, event: &Event) {
        self.idle.apply(event);
        self.over = self.idle.is_over();
        self.agents.note(event);
        if self.is_own(event) {
            self.standing.fill(event);
        }
    }

    /// Whether the root is all that there is.
    pub fn is_alone(&self) -> bool {
        self.workflows.is_empty() && self.agents.all().next().is_none()
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

    /// Goes on with what is open in the view of whoever has seen the beginning; how the session stands was asked of it.
    pub fn go_on_from(&mut self, before: Self) {
        let Self { standing, title, idle, over, .. } = std::mem::take(self);
        let context = standing.context.or(before.standing.context);
        *self = Self { standing: Standing { context, ..standing }, title, idle, over, ..before };
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

    /// Whether a person has said something to the root, as far as that was taken in.
    pub fn was_spoken_to(&self) -> bool {
        self.counting.has_said()
    }

    /// A person is asked something, by the root unless another agent is named.
    pub fn ask(&mut self, agent_id: Option<AgentId>, question: &Question) -> BlockId {
        asked::question(self, agent_id, question)
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
        let context = self.standing.context;
        self.work.close().map(|end| WorkEnd { context, ..end })
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
        self.standing.apply(event, own);
        self.agents.note(event);
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
            EventBody::PermissionRequest(request) => asked::approval(self, event, request, own),
            EventBody::PermissionDecision(decided) => asked::decided(self, decided),
            EventBody::Question(question) => {
                vec![Change::Added(self.ask((!own).then_some(event.agent_id), question))]
            }
            EventBody::QuestionAnswer(answer) => asked::answered(self, answer),
            // So does whoever is to know what acts later, whoever changed it.
            EventBody::Notification(told) if own || told.changed.is_some() => {
                self.add(BlockBody::Notification(told.clone()))
            }
            EventBody::Rewind(rewind) if own => self.went_back(event, rewind),
            body if own => self.own(body),
            // A call that is stopped while it is asked about ends without a decision.
            EventBody::ToolCallEnd(end) => {
                self.work.forget(&end.call_id);
                asked::close(self, &end.call_id)
            }
            _ => Vec::new(),
        }
    }

    /// What the root does.
    fn own<'e>(&mut self, body: &'e EventBody) -> Vec<Change<'e>> {
        match body {
            EventBody::SessionStart(start) => self.add(BlockBody::SessionStart(start.clone())),
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
                said::blocked(self, run);
                self.add(BlockBody::HookRun(run.clone()))
            }
            EventBody::TodoUpdate(update) => {
                self.todos.clone_from(&update.todos);
                self.add(BlockBody::Todos(update.clone()))
            }
            EventBody::PlanUpdate(update) => self.planned(update),
            EventBody::ModeChange(change) => self.add(BlockBody::ModeChange(change.clone())),
            EventBody::MessageQueued(queued) => said::queued(self, queued),
            EventBody::Message(message) => match message.role {
                Role::User => {
                    if !message.is_neco() {
                        self.agents.person_asked(self.at.1);
                    }
                    said::admitted(self, message)
                }
                Role::Assistant => self.said(message),
                Role::Tool => Vec::new(),
            },
            // Of what was not read a notification told.
            EventBody::RulesTold(told) if told.files.is_empty() => Vec::new(),
            EventBody::RulesTold(told) => self.add(BlockBody::RulesTold(told.clone())),
            EventBody::SkillUsed(used) => self.add(BlockBody::SkillUsed(used.clone())),
            EventBody::PiecesGiven(given) => self.add(BlockBody::PiecesGiven(given.clone())),
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
                let end = WorkEnd { context: self.standing.context, ..end };
                [words, self.add(BlockBody::End(Box::new(end)))].concat()
            }
            EventBody::StateChange(_)
            | EventBody::Notification(_)
            | EventBody::Rewind(_)
            | EventBody::PermissionRequest(_)
            | EventBody::PermissionDecision(_)
            | EventBody::Question(_)
            | EventBody::QuestionAnswer(_)
            | EventBody::AgentUpdate(_)
            | EventBody::AgentMessage(_)
            | EventBody::Stop(_)
            | EventBody::WorkflowUpdate(_)
            | EventBody::SharedState(_)
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

    fn went_back<'e>(&mut self, event: &Event, rewind: &Rewind) -> Vec<Change<'e>> {
        let went_back = self.counting.went_back(event, rewind);
        if rewind.conversation {
            let effective = self.counting.effective(event.seq);
            self.blocks.iter_mut().for_each(|block| block.void = !effective.counts(block.counts_from()));
        }
        self.add(BlockBody::Rewind(Box::new(went_back)))
    }

    fn planned<'e>(&mut self, update: &PlanUpdate) -> Vec<Change<'e>> {
        let found = update.findings.iter().skip(self.findings.len()).cloned().collect();
        self.plan.clone_from(&update.plan);
        self.findings.clone_from(&update.findings);
        self.add(BlockBody::Plan(Planned { plan: update.plan.clone(), found }))
    }
}

#[cfg(test)]
mod tests {
    use jiff::Timestamp;
    use neco_proto::event::{
        CallStatus, ModelRetry, Notification, NotificationLevel, StreamChunk, ToolCallStart, ToolCallUpdate,
    };
    use neco_proto::{ErrorCode, SessionId, ToolOrigin};

    use super::*;
    use crate::reduce::block::{Context, Written};

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
        assert_eq!(view.standing.context, Some(Context { tokens: 300, window: 2000 }));
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
