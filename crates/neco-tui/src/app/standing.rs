//! How the session stands, for the status line and the panels, as far as the view does not say it.

use neco_proto::event::{AgentState, NotificationLevel, NotificationTopic, SidePurpose};
use neco_proto::{ApprovalMode, Event, EventBody, Mode, SessionSnapshot, Usage};
use serde_json::{Value, json};

/// How the session stands.
#[derive(Clone, Debug, Default)]
pub struct Standing {
    pub session_id: String,
    /// The model or group.
    pub model: String,
    /// The model that answered last.
    pub answers: Option<String>,
    pub mode: Mode,
    pub approval: ApprovalMode,
    pub generation: u8,
    /// What the agent does.
    pub state: AgentState,
    /// Whether the conversation is being compacted while the agent rests.
    pub compacting: bool,
    /// The session is being brought back to an earlier point.
    pub going_back: Option<GoingBack>,
    /// Used in all, children included.
    pub usage: Usage,
    /// Of that, what the session itself asked models for.
    pub aside: Usage,
    /// What it asks one for now.
    pub asks_aside: Option<SidePurpose>,
    /// Tokens of the last request and its answer, and how many fit.
    pub filled: Option<(u64, u64)>,
    /// The iteration of the present work.
    pub iteration: u32,
    /// How many there may be, when that is known.
    pub most_iterations: Option<u32>,
    /// What the session may cost, when that is known.
    pub most_cost: Option<f64>,
    /// When the present work began, in milliseconds.
    pub since_ms: Option<i64>,
    /// The workspace.
    pub cwd: String,
    /// The branch, if there is one.
    pub branch: Option<String>,
}

/// How far going back is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct GoingBack {
    /// When it began, in milliseconds.
    pub since_ms: i64,
    /// How many files of how many are put back, once that is told.
    pub files: Option<(u64, u64)>,
}

impl Standing {
    /// As a session says when it is opened; what the snapshot does not know stays.
    pub fn of(snapshot: &SessionSnapshot, before: &Self) -> Self {
        Self {
            session_id: snapshot.session_id.to_string(),
            model: snapshot.model.clone(),
            mode: snapshot.mode,
            approval: snapshot.approval,
            generation: snapshot.generation,
            state: snapshot.state,
            usage: snapshot.usage,
            aside: snapshot.aside,
            cwd: snapshot.cwd.clone(),
            branch: before.branch.clone(),
            filled: before.filled,
            most_iterations: before.most_iterations,
            most_cost: before.most_cost,
            ..Self::default()
        }
    }

    /// Whether the agent is at work.
    pub fn works(&self) -> bool {
        self.state.is_at_work() || self.compacting
    }

    /// The part of the context that is filled, in percent.
    pub fn context_percent(&self) -> Option<u64> {
        let (filled, window) = self.filled.filter(|(_, window)| *window > 0)?;
        Some((filled.saturating_mul(100) / window).min(100))
    }

    /// Takes in an event of the root agent.
    pub fn apply(&mut self, event: &Event) {
        self.past(event);
        match &event.body {
            EventBody::SessionStart(start) => {
                self.model.clone_from(&start.model);
                self.mode = start.mode;
                self.approval = start.approval;
                self.generation = start.generation;
            }
            EventBody::FilesBack(back) => {
                let since_ms = self.going_back.map_or(event.ts.as_millisecond(), |going| going.since_ms);
                self.going_back = Some(GoingBack { since_ms, files: Some((back.done, back.total)) });
            }
            EventBody::Rewind(_) => self.going_back = None,
            EventBody::StateChange(change) => self.enter(change.to, event.ts.as_millisecond()),
            EventBody::TurnStart(start) => {
                self.iteration = start.iteration;
                self.answers = Some(start.model.clone()).filter(|model| !model.is_empty());
            }
            EventBody::ModeChange(change) => {
                self.mode = change.mode.unwrap_or(self.mode);
                self.approval = change.approval.unwrap_or(self.approval);
                self.generation = change.generation.unwrap_or(self.generation);
                if let Some(model) = &change.model {
                    self.model.clone_from(model);
                    self.answers = None;
                }
            }
            EventBody::Usage(used) => {
                self.usage += used.usage;
                if used.aside.is_some() {
                    self.aside += used.usage;
                }
            }
            EventBody::SideCall(call) => self.asks_aside = call.running.then_some(call.purpose),
            EventBody::Notification(told) => match told.about {
                Some(NotificationTopic::CompactionBegins) => self.compact(Some(event)),
                Some(NotificationTopic::CompactionFailed) => self.compact(None),
                // Going back did not come to its end.
                Some(NotificationTopic::NotKept) | None if told.level == NotificationLevel::Warning => {
                    self.going_back = None;
                }
                Some(NotificationTopic::NotKept) | None => {}
            },
            EventBody::Compaction(_) => self.compact(None),
            // What was used is counted here: the agent does not know of what the session asks models itself.
            EventBody::AgentComplete(_) => self.since_ms = None,
            _ => {}
        }
    }

    /// Takes in an event of before the window opened; what the session says itself is known otherwise.
    pub fn past(&mut self, event: &Event) {
        match &event.body {
            // What is asked beside the conversation, such as for a title, belongs to no turn and fills nothing.
            EventBody::Usage(used) if event.turn_id.is_some() => {
                self.filled = used.context_window.map(|window| (used.usage.input + used.usage.output, window));
            }
            EventBody::Compaction(compaction) => {
                self.filled = self.filled.map(|(_, window)| (compaction.after, window));
            }
            _ => {}
        }
    }

    /// What a child used counts for the session.
    pub fn child(&mut self, event: &Event) {
        if let EventBody::Usage(used) = &event.body {
            self.usage += used.usage;
        }
    }

    fn compact(&mut self, begun: Option<&Event>) {
        if self.state.is_at_work() {
            return;
        }
        self.compacting = begun.is_some();
        self.since_ms = begun.map(|event| event.ts.as_millisecond());
    }

    fn enter(&mut self, state: AgentState, now_ms: i64) {
        let worked = self.state.is_at_work();
        self.compacting = false;
        self.state = state;
        match (worked, self.works()) {
            (false, true) => self.since_ms = Some(now_ms),
            (_, false) => self.since_ms = None,
            (true, true) => {}
        }
    }

    /// For a command of the person that writes the status line.
    pub fn told(&self, title: &str, agents: usize) -> Value {
        json!({
            "session_id": self.session_id,
            "title": title,
            "model": self.model,
            "mode": self.mode.to_string(),
            "approval": self.approval.to_string(),
            "generation": self.generation,
            "state": self.state.to_string(),
            "cwd": self.cwd,
            "branch": self.branch,
            "context_percent": self.context_percent(),
            "context_tokens": self.filled.map(|(filled, _)| filled),
            "context_window": self.filled.map(|(_, window)| window),
            "tokens": self.usage.input + self.usage.output,
            "cost_usd": self.usage.cost,
            "agents": agents,
            "iteration": self.iteration,
            "max_iterations": self.most_iterations,
        })
    }
}
