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
use neco_proto::{AgentId, Event, EventBody, MessageId, Role, SessionSnapshot, Todo, TurnId};
use neco_view::View;
use neco_view::paint::colour::Paint;
use neco_view::paint::text::workflow;
use neco_view::reduce::block::{AgentLetter, AgentStep, Call, Context, WorkflowStep};
use neco_view::reduce::{BlockBody, BlockId, Change};
use neco_view::wording::lines::{Tone, lines};
use neco_view::wording::{agents, notices};

use crate::below::Below;
use crate::calls;
use crate::options::Settings;
use crate::permission::Asked;
use crate::pictures::CallPictures;
use crate::terminal::Terminals;
use crate::updates::{aside, fenced, heard, pictures, plan_of, said, thought, thought_aside, update};

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
    /// Calls of agents below the root.
    below: Below,
    pictures: CallPictures,
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
            below: Below::default(),
            pictures: CallPictures::default(),
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

    /// Whether it is a message of this editor.
    pub fn is_own(&self, message: MessageId) -> bool {
        self.own.contains(&message)
    }

    /// Whether no event was taken in yet.
    pub fn is_new(&self) -> bool {
        self.view.last_seq() == 0
    }

    /// The editor is told everything anew.
    pub fn forget(&mut self) {
        self.told.clear();
        self.own.clear();
        self.todos.clear();
        self.used = None;
    }

    /// Goes on with what is open where the past was read.
    pub fn follow(&mut self, past: View) {
        self.view.go_on_from(past);
    }

    /// What goes on, as far as it came; `past` is the view of what was told.
    pub fn open(&mut self, past: &View, turn: Option<TurnId>) -> Vec<acp::SessionUpdate> {
        let mut updates = Vec::new();
        for block in &past.blocks {
            updates.extend(match &block.body {
                BlockBody::Answer(written) => vec![said(&written.text, turn)],
                BlockBody::Thinking(written) => vec![thought(&written.text, turn)],
                BlockBody::Call(call) => self.call(call).into_iter().collect(),
                BlockBody::Message(message) => vec![heard(message.message_id, &message.text)],
                // What is asked is brought to the person apart from this.
                _ => Vec::new(),
            });
        }
        // What waits to be read is known to whoever follows.
        updates.extend(self.view.unread().map(|message| heard(message.message_id, &message.text)));
        updates
    }

    /// How everything stands that an editor shows apart from what was said.
    pub fn stands(&mut self) -> Vec<acp::SessionUpdate> {
        let mut news = News::default();
        self.todos.clone_from(&self.view.todos);
        news.updates.extend((!self.todos.is_empty()).then(|| plan_of(&self.todos)));
        news.updates.extend(self.view.title.is_some().then(|| self.info()));
        self.standing(&mut news);
        news.updates
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
                        self.block(&block.body, is_new, event, &view, &mut news);
                    }
                }
                Change::Grew(id, words) => match view.block(id).map(|block| &block.body) {
                    Some(BlockBody::Answer(_)) => news.updates.push(said(words, event.turn_id)),
                    Some(BlockBody::Thinking(_)) => news.updates.push(thought(words, event.turn_id)),
                    Some(BlockBody::Call(_)) => drop(self.printed.insert(id)),
                    _ => {}
                },
                Change::Noted(..) | Change::Said { .. } | Change::Waits => {}
            }
        }
        news.updates.extend(self.aside_of(event, &view));
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
        let mut updates: Vec<_> = calls.collect();
        let below = self.below.printed().into_iter().filter(|call| self.told.contains_key(call.call_id.as_str()));
        updates.extend(below.map(|call| update(&call.call_id, calls::fields(&call, &self.folder, None))));
        updates
    }

    /// Whether calls printed something that the editor does not know.
    pub fn has_printed(&self) -> bool {
        !self.printed.is_empty() || self.below.has_printed()
    }

    /// What goes on is over for the editor, which is told no more of it.
    pub fn give_up(&mut self) -> Vec<acp::SessionUpdate> {
        let goes_on = |fields: &acp::ToolCallUpdateFields| {
            matches!(fields.status, Some(acp::ToolCallStatus::Pending | acp::ToolCallStatus::InProgress))
        };
        let open: Vec<String> =
            self.told.iter().filter(|(_, fields)| goes_on(fields)).map(|(id, _)| id.clone()).collect();
        let failed = || acp::ToolCallUpdateFields::new().status(acp::ToolCallStatus::Failed);
        open.into_iter().filter_map(|id| self.upsert(acp::ToolCallId::new(id), failed())).collect()
    }

    /// The editor was not told of a call.
    pub fn untold(&mut self, call: &acp::ToolCallId) {
        self.told.remove(&*call.0);
    }

    /// How everything stands, where the editor may not have been told of all of it.
    pub fn stands_again(&mut self) -> Vec<acp::SessionUpdate> {
        self.used = None;
        self.stands()
    }

    /// The call that a question is shown with: an editor knows it before it is asked.
    pub fn call_of(&mut self, asked: &Asked) -> Option<acp::SessionUpdate> {
        let id = asked.call();
        let is_known = self.told.contains_key(&*id.0);
        (!is_known).then(|| self.upsert(id, asked.about(&self.folder))).flatten()
    }

    /// What an event comes to beside the blocks of the root: calls of others, questions, pictures of calls.
    pub fn aside_of(&mut self, event: &Event, view: &View) -> Vec<acp::SessionUpdate> {
        let asked = match &event.body {
            EventBody::PermissionRequest(request) => self.call_of(&Asked::Call(Box::new(request.clone()))),
            EventBody::Question(question) => self.call_of(&Asked::Question(question.clone())),
            // One that no call asks is shown as a call of its own.
            EventBody::QuestionAnswer(answer) if self.told.contains_key(&answer.question_id.to_string()) => {
                let fields = acp::ToolCallUpdateFields::new().status(acp::ToolCallStatus::Completed);
                self.upsert(acp::ToolCallId::new(answer.question_id.to_string()), fields)
            }
            _ => None,
        };
        asked.into_iter().chain(self.below(event, view)).chain(self.pictures.read(event)).collect()
    }

    /// A block that is new or stands otherwise.
    fn block(&mut self, body: &BlockBody, is_new: bool, event: &Event, view: &View, news: &mut News) {
        match body {
            BlockBody::Message(message) if is_new && !self.own.contains(&message.message_id) => {
                news.updates.push(heard(message.message_id, &message.text));
                news.updates.extend(pictures(event));
            }
            BlockBody::Answer(written) if is_new && written.over => {
                news.updates.push(said(&written.text, event.turn_id));
            }
            BlockBody::Call(call) => news.updates.extend(self.call(call)),
            BlockBody::Approval(approval) if is_new && approval.open => {
                news.asks.push(Asked::Call(Box::new(approval.request.clone())));
            }
            BlockBody::Question(asked) if is_new && asked.open => {
                news.asks.push(Asked::Question(asked.question.clone()));
            }
            // Others are told of by the call that asks them.
            BlockBody::Question(asked) if !asked.open && asked.question.call_id.is_none() => {
                news.updates.extend(self.notice(body, view));
            }
            body if is_new => news.updates.extend(self.notice(body, view)),
            _ => {}
        }
    }

    /// A block that can't change any more since an event, with what a call printed.
    pub fn whole(&mut self, body: &BlockBody, printed: &str, event: &Event, view: &View) -> Vec<acp::SessionUpdate> {
        match body {
            BlockBody::Message(message) => {
                let words = heard(message.message_id, &message.text);
                std::iter::once(words).chain(pictures(event)).collect()
            }
            BlockBody::Answer(written) => vec![said(&written.text, event.turn_id)],
            BlockBody::Thinking(written) => vec![thought(&written.text, event.turn_id)],
            BlockBody::Call(call) if call.printed.is_empty() => {
                self.call(&Call { printed: printed.to_owned(), ..(**call).clone() }).into_iter().collect()
            }
            BlockBody::Call(call) => self.call(call).into_iter().collect(),
            // How the todo list is now is told at the end.
            BlockBody::Approval(_) | BlockBody::Todos(_) => Vec::new(),
            BlockBody::Question(asked) if asked.question.call_id.is_some() => Vec::new(),
            body => self.notice(body, view),
        }
    }

    /// The calls that a message of the root begins with: what comes of them meanwhile stands behind them.
    pub fn begun(&mut self, event: &Event, view: &View) -> Vec<acp::SessionUpdate> {
        let EventBody::Message(message) = &event.body else { return Vec::new() };
        let mut updates = Vec::new();
        for asked in message.tool_calls().filter(|_| view.is_own(event)) {
            let is_it = |call: &&Call| call.call_id == asked.id;
            let mut calls = view.blocks.iter().filter_map(|block| match &block.body {
                BlockBody::Call(call) => Some(call.as_ref()),
                _ => None,
            });
            updates.extend(calls.find(is_it).and_then(|call| self.call(call)));
        }
        updates
    }

    fn call(&mut self, call: &Call) -> Option<acp::SessionUpdate> {
        let id = acp::ToolCallId::new(call.call_id.as_str());
        let fields = calls::fields(call, &self.folder, self.terminal(call).as_ref());
        call.end.iter().for_each(|end| self.pictures.ended(self.root, end, &fields));
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
            BlockBody::End(end) => {
                let runs = end.background.iter().map(|left| {
                    let (name, what) = (clean_line(&left.name), clean_line(&left.summary));
                    thought_aside(&format!("{name} still runs in the background: {what}"))
                });
                let ended = lines(body, view).into_iter().map(|(_, words)| aside(&words));
                runs.chain(ended).collect()
            }
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
            NodeState::Running => acp::ToolCallStatus::InProgress,
            NodeState::Completed => acp::ToolCallStatus::Completed,
            // One that rests is no call that goes on: an editor would show it at work for ever.
            NodeState::Paused | NodeState::Failed | NodeState::Cancelled => acp::ToolCallStatus::Failed,
        };
        let title = format!("{} · {}", clean_line(&node.name), agents::in_one_line(&node.task_for_people()));
        let words = node.result.as_ref().map(notices::result).or_else(|| node.last_message.clone());
        let words = match node.state {
            NodeState::Paused => {
                "It is paused, and what it did is kept: your next message can have it go on.".to_owned()
            }
            state => words.unwrap_or_else(|| agents::state(state).to_owned()),
        };
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
            .content(vec![calls::text(fenced(&tree))]);
        self.upsert(acp::ToolCallId::new(format!("workflow-{}", step.workflow_id)), fields)
    }

    /// What agents below the root do and say.
    fn below(&mut self, event: &Event, view: &View) -> Vec<acp::SessionUpdate> {
        if self.root == event.agent_id {
            return Vec::new();
        }
        let mut updates: Vec<_> = self.below_said(event).into_iter().collect();
        for call in self.below.read(event, view.agents.name(event.agent_id).as_deref()) {
            let fields = calls::fields(&call, &self.folder, None);
            call.end.iter().for_each(|end| self.pictures.ended(event.agent_id, end, &fields));
            updates.extend(self.upsert(acp::ToolCallId::new(call.call_id.as_str()), fields));
        }
        updates
    }

    /// What an agent says while it works, which stands with it.
    fn below_said(&mut self, event: &Event) -> Option<acp::SessionUpdate> {
        let EventBody::Message(message) = &event.body else { return None };
        let text = Some(message.text()).filter(|text| message.role == Role::Assistant && !text.trim().is_empty())?;
        let id = format!("agent-{}", event.agent_id);
        let known = self.told.get(&id).filter(|known| known.status == Some(acp::ToolCallStatus::InProgress))?.clone();
        self.upsert(acp::ToolCallId::new(id), known.content(vec![calls::text(clean(&text))]))
    }

    /// What the session is called.
    fn info(&self) -> acp::SessionUpdate {
        let title = self.view.title.as_deref().map(clean_line);
        acp::SessionUpdate::SessionInfoUpdate(acp::SessionInfoUpdate::new().title(title))
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
            news.updates.push(self.info());
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
