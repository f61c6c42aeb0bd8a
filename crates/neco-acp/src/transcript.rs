//! A session's events as updates for an editor: what is said and thought, calls, agents and workflows, plans, how it is
//! set and what it used.

use std::collections::{BTreeSet, HashMap, HashSet};
use std::mem;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use agent_client_protocol::v1::schema as acp;
use neco_proto::agent_ask::stopped;
use neco_proto::clean::{clean, clean_line};
use neco_proto::event::{NodeState, WorkflowState};
use neco_proto::{AgentId, CallId, Event, EventBody, Message, MessageId, SessionSnapshot, Todo, TodoStatus};
use neco_view::View;
use neco_view::paint::colour::Paint;
use neco_view::paint::text::workflow;
use neco_view::reduce::block::{AgentLetter, AgentStep, Call, Context, WorkflowStep};
use neco_view::reduce::{BlockBody, BlockId, Change, Outline, Reader};
use neco_view::wording::lines::{Tone, lines};
use neco_view::wording::{agents, notices};

use crate::calls;
use crate::options::Settings;
use crate::permission::Asked;
use crate::terminal::Terminals;

/// What an event comes to.
#[derive(Default)]
pub(crate) struct News {
    /// What the editor is told, in order.
    pub updates: Vec<acp::SessionUpdate>,
    /// What waits for the person now.
    pub asks: Vec<Asked>,
    /// Whether something is set otherwise.
    pub set: bool,
}

/// A session as an editor has been told of it.
pub(crate) struct Transcript {
    view: View,
    root: AgentId,
    folder: PathBuf,
    /// Calls, agents and workflows that the editor knows.
    told: HashMap<String, acp::ToolCallUpdateFields>,
    /// Calls that printed something since the editor was told.
    printed: BTreeSet<BlockId>,
    /// Messages of this editor, which shows them itself.
    own: HashSet<MessageId>,
    title: Option<String>,
    used: Option<(Context, Option<f64>)>,
    settings: Option<Settings>,
    todos: Vec<Todo>,
    /// The editor's terminals, where it shows commands in them.
    terminals: Option<Arc<Terminals>>,
}

impl Transcript {
    /// Of a session that stands so, whose past is not shown.
    pub fn new(
        session: &SessionSnapshot,
        nodes: Vec<neco_proto::event::AgentNode>,
        terminals: Option<Arc<Terminals>>,
    ) -> Self {
        let mut view = View::of(session.root_agent);
        view.opened(session);
        view.found(nodes);
        Self {
            settings: Some(Settings::from(&view.standing)),
            title: view.title.clone(),
            todos: Vec::new(),
            terminals,
            folder: PathBuf::from(&session.cwd),
            root: session.root_agent,
            view,
            told: HashMap::new(),
            printed: BTreeSet::new(),
            own: HashSet::new(),
            used: None,
        }
    }

    /// Where the session works.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// The view that it is told from.
    pub fn view(&self) -> &View {
        &self.view
    }

    /// How the session is set, as far as its events tell.
    pub fn settings(&self) -> Settings {
        Settings::from(&self.view.standing)
    }

    /// A message of this editor is on its way.
    pub fn said(&mut self, message: MessageId) {
        self.own.insert(message);
    }

    /// Everything that was said and done until now and counts, for an editor that has not seen it.
    pub fn replay(&mut self, past: &[Event], session: &SessionSnapshot) -> Vec<acp::SessionUpdate> {
        let mut outline = Outline::default();
        past.iter().for_each(|event| outline.read(event));
        let gone = outline.taken_back();
        let mut reader = Reader::default();
        let mut updates = Vec::new();
        let view = mem::take(&mut self.view);
        for event in past {
            let counts = !gone.iter().any(|range| range.contains(&event.seq));
            let seen = reader.read(event);
            if counts {
                updates.extend(seen.into_iter().flat_map(|seen| self.whole(&seen.block.body, &seen.printed, &view)));
                updates.extend(self.below(event, &view));
            }
        }
        updates.extend(reader.rest().into_iter().flat_map(|seen| self.whole(&seen.block.body, &seen.printed, &view)));
        self.view = view;
        updates.extend((!session.todos.is_empty()).then(|| plan_of(&session.todos)));
        self.todos.clone_from(&session.todos);
        updates
    }

    /// Takes in the next event.
    pub fn apply(&mut self, event: &Event) -> News {
        let mut news = News::default();
        let mut view = mem::take(&mut self.view);
        for change in view.apply(event) {
            match change {
                Change::Added(id) | Change::Changed(id) => {
                    let is_new = matches!(change, Change::Added(_));
                    if let Some(block) = view.block(id) {
                        self.block(&block.body, is_new, &view, &mut news);
                    }
                }
                Change::Grew(id, words) => match view.block(id).map(|block| &block.body) {
                    Some(BlockBody::Answer(_)) => news.updates.push(said(words)),
                    Some(BlockBody::Thinking(_)) => news.updates.push(thought(words)),
                    Some(BlockBody::Call(_)) => drop(self.printed.insert(id)),
                    _ => {}
                },
                Change::Noted(..) | Change::Said { .. } | Change::Waits => {}
            }
        }
        news.updates.extend(self.below(event, &view));
        self.view = view;
        self.standing(&mut news);
        self.view.take_over();
        news
    }

    /// What calls printed since this was asked last.
    pub fn printed(&mut self) -> Vec<acp::SessionUpdate> {
        let printed = mem::take(&mut self.printed);
        let calls = printed.into_iter().filter_map(|id| match &self.view.block(id)?.body {
            BlockBody::Call(call) if !call.is_over() && self.terminal(call).is_none() => {
                Some(update(&call.call_id, calls::fields(call, &self.folder, None)))
            }
            _ => None,
        });
        calls.collect()
    }

    /// Whether calls printed something that the editor does not know.
    pub fn has_printed(&self) -> bool {
        !self.printed.is_empty()
    }

    /// The call that a question is shown with: an editor knows it before it is asked.
    pub fn call_of(&mut self, asked: &Asked) -> Option<acp::SessionUpdate> {
        let id = asked.call();
        let is_known = self.told.contains_key(&*id.0);
        (!is_known).then(|| self.upsert(id, asked.about(&self.folder))).flatten()
    }

    /// A block that is new or stands otherwise.
    fn block(&mut self, body: &BlockBody, is_new: bool, view: &View, news: &mut News) {
        match body {
            BlockBody::Message(message) if is_new && !self.own.contains(&message.message_id) => {
                news.updates.push(heard(&message.text));
            }
            BlockBody::Answer(written) if is_new && written.over => news.updates.push(said(&written.text)),
            BlockBody::Call(call) => news.updates.extend(self.call(call)),
            BlockBody::Approval(approval) if is_new && approval.open => {
                news.asks.push(Asked::Call(Box::new(approval.request.clone())));
            }
            BlockBody::Question(asked) if is_new && asked.open => {
                news.asks.push(Asked::Question(asked.question.clone()));
            }
            body if is_new => news.updates.extend(self.notice(body, view)),
            _ => {}
        }
    }

    /// A block that can't change any more, with what a call printed.
    fn whole(&mut self, body: &BlockBody, printed: &str, view: &View) -> Vec<acp::SessionUpdate> {
        match body {
            BlockBody::Message(message) => vec![heard(&message.text)],
            BlockBody::Answer(written) => vec![said(&written.text)],
            BlockBody::Thinking(written) => vec![thought(&written.text)],
            BlockBody::Call(call) if call.printed.is_empty() => {
                self.call(&Call { printed: printed.to_owned(), ..(**call).clone() }).into_iter().collect()
            }
            BlockBody::Call(call) => self.call(call).into_iter().collect(),
            BlockBody::Approval(_) | BlockBody::Todos(_) => Vec::new(),
            body => self.notice(body, view),
        }
    }

    fn call(&mut self, call: &Call) -> Option<acp::SessionUpdate> {
        let id = acp::ToolCallId::new(call.call_id.as_str());
        let fields = calls::fields(call, &self.folder, self.terminal(call).as_ref());
        self.upsert(id, fields)
    }

    /// The terminal that a call is shown in.
    fn terminal(&self, call: &Call) -> Option<acp::TerminalId> {
        self.terminals.as_ref()?.of(&call.call_id)
    }

    /// The first word of a call, an agent or a workflow, or what is new of it; nothing where nothing is.
    fn upsert(&mut self, id: acp::ToolCallId, fields: acp::ToolCallUpdateFields) -> Option<acp::SessionUpdate> {
        let is_over = matches!(fields.status, Some(acp::ToolCallStatus::Completed | acp::ToolCallStatus::Failed));
        // What is over needs no more room than its name.
        let kept = if is_over { acp::ToolCallUpdateFields::new() } else { fields.clone() };
        if let Some(before) = self.told.insert(id.0.to_string(), kept) {
            let fields = calls::news(&before, fields)?;
            return Some(acp::SessionUpdate::ToolCallUpdate(acp::ToolCallUpdate::new(id, fields)));
        }
        let call = acp::ToolCall::new(id, fields.title.unwrap_or_default())
            .kind(fields.kind.unwrap_or_default())
            .status(fields.status.unwrap_or_default())
            .content(fields.content.unwrap_or_default())
            .locations(fields.locations.unwrap_or_default())
            .raw_input(fields.raw_input)
            .raw_output(fields.raw_output);
        Some(acp::SessionUpdate::ToolCall(call))
    }

    /// What is told in a few words, or stands as something that goes on.
    fn notice(&mut self, body: &BlockBody, view: &View) -> Vec<acp::SessionUpdate> {
        match body {
            BlockBody::Agent(step) => self.agent(step).into_iter().collect(),
            BlockBody::Letter(letter) => self.letter(letter),
            BlockBody::Stop(stop) => stopped(stop).map(|words| thought_aside(&words)).into_iter().collect(),
            BlockBody::Workflow(step) => self.workflow(step, view).into_iter().collect(),
            BlockBody::Todos(update) => {
                let is_new = self.todos != update.todos;
                self.todos.clone_from(&update.todos);
                if is_new { vec![plan_of(&update.todos)] } else { Vec::new() }
            }
            BlockBody::Error(error) => vec![aside(&clean(&error.message))],
            BlockBody::ModelRetry(retry) => {
                let broken = if retry.discards { "The answer broke off and begins anew. " } else { "" };
                vec![thought_aside(&format!("{broken}{}", notices::retry(retry)))]
            }
            BlockBody::ModelSwitch(switch) => {
                let broken = if switch.discards { "The answer broke off and begins anew. " } else { "" };
                vec![thought_aside(&format!("{broken}{}", notices::switch(switch)))]
            }
            BlockBody::ModeChange(change) => match &change.reason {
                Some(_) => vec![thought_aside(&notices::mode_change(change))],
                None => Vec::new(),
            },
            BlockBody::Plan(planned) => {
                let found: Vec<String> =
                    planned.found.iter().map(|found| format!("Found out: {}", clean(found))).collect();
                let told = lines(body, view).into_iter().map(|(_, words)| words);
                found.into_iter().chain(told).map(|words| thought_aside(&words)).collect()
            }
            body => lines(body, view)
                .into_iter()
                .map(|(tone, words)| match tone {
                    Tone::Warning | Tone::Bad | Tone::Stop | Tone::Fence => aside(&words),
                    Tone::Plain | Tone::Note | Tone::Good | Tone::Pause => thought_aside(&words),
                })
                .collect(),
        }
    }

    /// An agent below the root, as a call that goes on as long as it works.
    fn agent(&mut self, step: &AgentStep) -> Option<acp::SessionUpdate> {
        let node = &step.node;
        let status = match node.state {
            NodeState::Created => acp::ToolCallStatus::Pending,
            NodeState::Running | NodeState::Paused => acp::ToolCallStatus::InProgress,
            NodeState::Completed => acp::ToolCallStatus::Completed,
            NodeState::Failed | NodeState::Cancelled => acp::ToolCallStatus::Failed,
        };
        let title = format!("{} · {}", clean_line(&node.name), agents::in_one_line(&node.task_for_people()));
        let words = node.result.as_ref().map(notices::result).or_else(|| node.last_message.clone());
        let words = words.unwrap_or_else(|| agents::state(node.state).to_owned());
        let fields = acp::ToolCallUpdateFields::new()
            .title(title)
            .kind(acp::ToolKind::Think)
            .status(status)
            .content(vec![calls::text(clean(&words))]);
        self.upsert(acp::ToolCallId::new(format!("agent-{}", node.id)), fields)
    }

    /// What an agent said to the one above it, or was told.
    fn letter(&mut self, letter: &AgentLetter) -> Vec<acp::SessionUpdate> {
        let id = format!("agent-{}", letter.agent_id);
        let words = notices::letter(&letter.letter);
        if !self.told.contains_key(&id) {
            return vec![thought_aside(&format!("{}: {words}", clean_line(&letter.name)))];
        }
        let fields = acp::ToolCallUpdateFields::new().content(vec![calls::text(words)]);
        self.upsert(acp::ToolCallId::new(id), fields).into_iter().collect()
    }

    /// A workflow, as a call that goes on as long as it runs.
    fn workflow(&mut self, step: &WorkflowStep, view: &View) -> Option<acp::SessionUpdate> {
        let status = match step.state {
            WorkflowState::Running => acp::ToolCallStatus::InProgress,
            WorkflowState::Completed | WorkflowState::Partly => acp::ToolCallStatus::Completed,
            WorkflowState::Interrupted | WorkflowState::Failed | WorkflowState::Cancelled => {
                acp::ToolCallStatus::Failed
            }
        };
        let graph = view.workflows.iter().find(|graph| graph.workflow_id == step.workflow_id);
        let tasks = graph.map_or(step.tasks.as_slice(), |graph| graph.tasks.as_slice());
        let tree = workflow::tree_lines(tasks, Paint::default()).join("\n");
        let fields = acp::ToolCallUpdateFields::new()
            .title(format!("Workflow {} · {}", clean_line(&step.name), step.state))
            .kind(acp::ToolKind::Think)
            .status(status)
            .content(vec![calls::text(format!("```\n{tree}\n```"))]);
        self.upsert(acp::ToolCallId::new(format!("workflow-{}", step.workflow_id)), fields)
    }

    /// Calls of agents below the root: they are shown as the root's are, with the name of whoever makes them.
    fn below(&mut self, event: &Event, view: &View) -> Option<acp::SessionUpdate> {
        if self.root == event.agent_id {
            return None;
        }
        let who = view.agents.name(event.agent_id);
        let who = who.map(|name| format!("{} · ", clean_line(&name))).unwrap_or_default();
        let call = |id: &CallId| acp::ToolCallId::new(id.as_str());
        match &event.body {
            EventBody::ToolCallUpdate(told) => {
                let fields = acp::ToolCallUpdateFields::new()
                    .title(format!("{who}{}", clean_line(&told.summary)))
                    .kind(calls::kind(&told.tool))
                    .status(calls::status(told.status));
                self.upsert(call(&told.call_id), fields)
            }
            EventBody::ToolCallEnd(end) => {
                let fields = acp::ToolCallUpdateFields::new()
                    .title(format!("{who}{}", clean_line(&end.summary)))
                    .kind(calls::kind(&end.tool));
                let fields = calls::ended(fields, end, &self.folder, calls::Live::Text(""));
                self.upsert(call(&end.call_id), fields)
            }
            // Of what else it does its own update tells.
            _ => None,
        }
    }

    /// What is set otherwise, what the session is called now, and what it used.
    fn standing(&mut self, news: &mut News) {
        let standing = &self.view.standing;
        let settings = Settings::from(standing);
        if self.settings.as_ref() != Some(&settings) {
            let was = self.settings.replace(settings.clone());
            news.set = true;
            if was.is_none_or(|was| was.mode() != settings.mode()) {
                let mode = acp::CurrentModeUpdate::new(settings.mode());
                news.updates.push(acp::SessionUpdate::CurrentModeUpdate(mode));
            }
        }
        if self.title != self.view.title {
            self.title.clone_from(&self.view.title);
            let title = self.title.as_deref().map(clean_line);
            let info = acp::SessionInfoUpdate::new().title(title);
            news.updates.push(acp::SessionUpdate::SessionInfoUpdate(info));
        }
        let used = standing.context.map(|context| (context, standing.usage.cost));
        if used != self.used
            && let Some((context, cost)) = used
        {
            self.used = used;
            let cost = cost.map(|dollars| acp::Cost::new(dollars, "USD"));
            let usage = acp::UsageUpdate::new(context.tokens, context.window).cost(cost);
            news.updates.push(acp::SessionUpdate::UsageUpdate(usage));
        }
    }
}

fn update(call: &CallId, fields: acp::ToolCallUpdateFields) -> acp::SessionUpdate {
    acp::SessionUpdate::ToolCallUpdate(acp::ToolCallUpdate::new(call.as_str().to_owned(), fields))
}

fn chunk(words: impl Into<String>) -> acp::ContentChunk {
    acp::ContentChunk::new(acp::ContentBlock::Text(acp::TextContent::new(words)))
}

fn said(words: &str) -> acp::SessionUpdate {
    acp::SessionUpdate::AgentMessageChunk(chunk(words))
}

fn thought(words: &str) -> acp::SessionUpdate {
    acp::SessionUpdate::AgentThoughtChunk(chunk(words))
}

/// What a person said, without what came along.
fn heard(words: &str) -> acp::SessionUpdate {
    acp::SessionUpdate::UserMessageChunk(chunk(Message::written(words)))
}

/// What a person must see, apart from what the model says.
pub(crate) fn aside(words: &str) -> acp::SessionUpdate {
    acp::SessionUpdate::AgentMessageChunk(chunk(format!("\n\n> {}\n\n", words.replace('\n', "\n> "))))
}

/// What is good to know.
fn thought_aside(words: &str) -> acp::SessionUpdate {
    acp::SessionUpdate::AgentThoughtChunk(chunk(format!("\n\n{words}\n\n")))
}

/// The todo list, parts below what they are parts of.
fn plan_of(todos: &[Todo]) -> acp::SessionUpdate {
    let entry = |(depth, todo): (usize, &Todo)| {
        let (status, mark) = match todo.status {
            TodoStatus::Pending => (acp::PlanEntryStatus::Pending, ""),
            TodoStatus::InProgress => (acp::PlanEntryStatus::InProgress, ""),
            TodoStatus::Completed => (acp::PlanEntryStatus::Completed, ""),
            TodoStatus::Cancelled => (acp::PlanEntryStatus::Completed, " (not needed any more)"),
        };
        let words = format!("{}{}{mark}", "  ".repeat(depth), clean_line(&todo.text));
        acp::PlanEntry::new(words, acp::PlanEntryPriority::Medium, status)
    };
    acp::SessionUpdate::Plan(acp::Plan::new(Todo::outline(todos).into_iter().map(entry).collect()))
}
