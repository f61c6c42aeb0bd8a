//! How a session stands: everything but the conversation.

use neco_proto::event::{AgentState, ModeChange, PermissionRequest, ToolCallEnd, UsageEvent};
use neco_proto::{AgentId, ApprovalMode, Display, Event, EventBody, Mode, Plan, Question, Seq, Todo, Usage};

use super::shared::SharedState;

/// How a session stands.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Standing {
    pub last_seq: Seq,
    /// The root agent; `None` before the first event.
    pub root_agent: Option<AgentId>,
    pub cwd: String,
    pub model: String,
    pub mode: Mode,
    pub approval: ApprovalMode,
    /// What the root agent is doing.
    pub state: AgentState,
    /// The title that was given last, whatever else does not count.
    pub title: String,
    pub usage: Usage,
    /// Of that, what the session itself asked models for.
    pub aside: Usage,
    pub pending: Vec<PermissionRequest>,
    pub questions: Vec<Question>,
    /// The generation; 0 when none was ever chosen.
    pub generation: u8,
    /// The one that was taken instead, because it fits the model's window and nobody chose one.
    pub fitted: Option<u8>,
    /// Whether a person chose it in the course of the session.
    pub generation_is_chosen: bool,
    /// The commands that were left in the background since the session was last opened, without those that were seen to
    /// have ended.
    pub in_background: Vec<LeftRunning>,
    /// The mode that the agent itself left for plan mode.
    pub plans_from: Option<Mode>,
    pub todos: Vec<Todo>,
    pub plan: Option<Plan>,
    pub findings: Vec<String>,
    /// What all agents share, whoever set it.
    pub shared: SharedState,
    /// The protocol that whoever adds to the log has to know.
    pub(crate) needs: u32,
    pub worked_ms: u64,
    /// Whether what happens now happened in another program, and was imported.
    pub(crate) elsewhere: bool,
}

/// A command that was left in the background.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LeftRunning {
    /// What it is called there, such as `bg-1`.
    pub name: String,
    /// The command line.
    pub command: String,
    /// The call that started it, in a line.
    pub summary: String,
}

impl Standing {
    /// Takes in the next event.
    pub fn apply(&mut self, event: &Event) {
        self.needs = self.needs.max(event.needs.unwrap_or_default());
        self.pass_over(event);
        if let EventBody::SharedState(update) = &event.body {
            self.shared.apply(update);
        }
        if !self.is_own(event) {
            return;
        }
        self.wait(event);
        match &event.body {
            EventBody::SessionStart(start) => {
                self.model.clone_from(&start.model);
                self.mode = start.mode;
                self.generation = start.generation;
                self.settle();
            }
            EventBody::StateChange(change) => self.state = change.to,
            EventBody::ModeChange(change) => {
                self.change_mode(change);
                self.generation = change.generation.unwrap_or(self.generation);
                // What Neco changes by itself has a reason.
                self.generation_is_chosen |= change.generation.is_some() && change.reason.is_none();
                if let Some(model) = &change.model {
                    self.model.clone_from(model);
                }
            }
            EventBody::TodoUpdate(update) => self.todos.clone_from(&update.todos),
            EventBody::PlanUpdate(update) => {
                self.plan.clone_from(&update.plan);
                self.findings.clone_from(&update.findings);
            }
            EventBody::ToolCallEnd(end) => self.note_background(end),
            EventBody::Rewind(rewind) if rewind.conversation => self.settle(),
            // Everything else changes nothing of how the session stands.
            _ => {}
        }
    }

    /// Takes in what an event says that holds also when it no longer counts: what was spent is spent, and where the
    /// session works and when the person is asked are not part of what was said.
    pub fn pass_over(&mut self, event: &Event) {
        self.last_seq = event.seq;
        self.root_agent.get_or_insert(event.agent_id);
        if let EventBody::Usage(used) = &event.body {
            self.spend(used);
        }
        if !self.is_own(event) {
            return self.wait(event);
        }
        match &event.body {
            EventBody::SessionStart(start) => {
                self.elsewhere = false;
                self.cwd.clone_from(&start.cwd);
                self.approval = start.approval;
                self.fitted = None;
                self.in_background.clear();
            }
            EventBody::Notification(told) => self.fitted = told.fitted.or(self.fitted),
            EventBody::Imported(_) => self.elsewhere = true,
            EventBody::Title(title) => self.title.clone_from(&title.title),
            EventBody::ModeChange(change) => {
                self.approval = change.approval.unwrap_or(self.approval);
                self.fitted = self.fitted.filter(|_| change.generation.is_none());
            }
            EventBody::AgentComplete(complete) => self.worked_ms = self.worked_ms.saturating_add(complete.worked_ms()),
            _ => {}
        }
    }

    /// How the agent stands that begins its task anew.
    pub(super) fn anew(mut self) -> Self {
        self.settle();
        Self { plans_from: None, todos: Vec::new(), plan: None, findings: Vec::new(), worked_ms: 0, ..self }
    }

    /// Whether an event is about the agent whose standing this is: the root, unless it was begun with another.
    pub fn is_own(&self, event: &Event) -> bool {
        self.root_agent.is_none_or(|own| own == event.agent_id)
    }

    /// Takes in what an agent asks, and what ends that: all of it waits for the same person.
    fn wait(&mut self, event: &Event) {
        match &event.body {
            EventBody::PermissionRequest(request) => self.pending.push(request.clone()),
            EventBody::PermissionDecision(decided) => {
                self.pending.retain(|request| request.call_id != decided.call_id);
            }
            EventBody::ToolCallEnd(end) => self.pending.retain(|request| request.call_id != end.call_id),
            EventBody::Question(question) => self.questions.push(question.clone()),
            EventBody::QuestionAnswer(answer) => {
                self.questions.retain(|question| question.question_id != answer.question_id);
            }
            _ => {}
        }
    }

    /// Takes in that a command runs on in the background, or was seen to have ended there.
    fn note_background(&mut self, end: &ToolCallEnd) {
        let Some(Display::Terminal { command, background, .. }) = &end.display else { return };
        match (end.tool.as_str(), background) {
            ("bash", Some(name)) => {
                self.in_background.retain(|left| left.name != *name);
                let (name, command, summary) = (name.clone(), command.clone(), end.summary.clone());
                self.in_background.push(LeftRunning { name, command, summary });
            }
            // What has ended is told without its name there.
            ("process", None) => {
                if let Some(ended) = self.in_background.iter().position(|left| left.command == *command) {
                    self.in_background.remove(ended);
                }
            }
            // Whoever looks at one that runs on starts none.
            _ => {}
        }
    }

    /// What another agent program used is no part of what may be used here.
    fn spend(&mut self, used: &UsageEvent) {
        if self.elsewhere {
            return;
        }
        self.usage += used.usage;
        if used.aside.is_some() {
            self.aside += used.usage;
        }
    }

    /// Nothing waits and nothing is under way.
    fn settle(&mut self) {
        self.state = AgentState::Idle;
        self.pending.clear();
        self.questions.clear();
    }

    /// A mode that the agent chose itself is left for the one before it.
    fn change_mode(&mut self, change: &ModeChange) {
        let Some(mode) = change.mode else { return };
        self.plans_from = (mode == Mode::Plan && change.reason.is_some()).then_some(self.mode);
        self.mode = mode;
    }
}
