//! How the session stands: its settings, what its root does, what was used and how full the model's window is.

use neco_proto::event::{AgentState, NotificationLevel, NotificationTopic, SidePurpose, UsageEvent};
use neco_proto::{ApprovalMode, Event, EventBody, Mode, SessionRules, SessionSnapshot, Usage};
use serde::Serialize;

use super::block::Context;

/// How the session stands.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Standing {
    /// The session; empty until it is known.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub session_id: String,
    /// The workspace.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub cwd: String,
    /// The model or group that the root asks.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub model: String,
    /// The model that answered last, since that was chosen.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub answers: Option<String>,
    /// The mode.
    pub mode: Mode,
    /// The approval mode.
    pub approval: ApprovalMode,
    /// What is done without asking because of rules, as the session said when it was asked last: no event tells it.
    #[serde(skip)]
    pub rules: SessionRules,
    /// The generation.
    pub generation: u8,
    /// What the root does.
    pub state: AgentState,
    /// When the present work began, in milliseconds since 1970.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub since_ms: Option<i64>,
    /// The iteration of the present work, or of the last; 0 before the first.
    pub iteration: u32,
    /// Whether the conversation is being compacted while the root rests.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub compacting: bool,
    /// The session is being brought back to an earlier point.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub going_back: Option<GoingBack>,
    /// What was used in all, by everybody.
    pub usage: Usage,
    /// What was used in all before the present work began.
    #[serde(skip)]
    pub used_before: Usage,
    /// Of what was used in all, what the session itself asked models for.
    #[serde(skip_serializing_if = "is_nothing")]
    pub aside: Usage,
    /// What it asks one for now.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub asks_aside: Option<SidePurpose>,
    /// What the conversation takes of the model's window.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub context: Option<Context>,
}

/// How far going back is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct GoingBack {
    /// When it began, in milliseconds since 1970.
    pub since_ms: i64,
    /// How many files of how many are put back, once that is told.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub files: Option<(u64, u64)>,
}

impl Standing {
    /// As a session says when it is opened; how full the window is was told by its events alone.
    pub(super) fn of(snapshot: &SessionSnapshot, context: Option<Context>) -> Self {
        Self {
            session_id: snapshot.session_id.to_string(),
            cwd: snapshot.cwd.clone(),
            model: snapshot.model.clone(),
            mode: snapshot.mode,
            approval: snapshot.approval,
            generation: snapshot.generation,
            state: snapshot.state,
            usage: snapshot.usage,
            used_before: snapshot.usage,
            aside: snapshot.aside,
            context,
            ..Self::default()
        }
    }

    /// Whether the root is at work.
    pub fn works(&self) -> bool {
        self.state.is_at_work() || self.compacting
    }

    /// Whether a group was chosen: a model is named with its provider.
    fn is_group(&self) -> bool {
        !self.model.contains('/')
    }

    /// Takes in the next event; `own` are the root's. What a child used counts for the session.
    pub(super) fn apply(&mut self, event: &Event, own: bool) {
        match &event.body {
            EventBody::Usage(used) => {
                self.usage += used.usage;
                if own && used.aside.is_some() {
                    self.aside += used.usage;
                } else if own && event.turn_id.is_some() && self.is_group() && !used.model.is_empty() {
                    self.answers = Some(used.model.clone());
                }
            }
            body if own => self.own(body, event),
            _ => {}
        }
        if own {
            self.fill(event);
        }
    }

    fn own(&mut self, body: &EventBody, event: &Event) {
        let now_ms = event.ts.as_millisecond();
        match body {
            EventBody::SessionStart(start) => {
                self.session_id = event.session_id.to_string();
                self.cwd.clone_from(&start.cwd);
                self.model.clone_from(&start.model);
                self.mode = start.mode;
                self.approval = start.approval;
                self.generation = start.generation;
            }
            EventBody::FilesBack(back) => {
                let since_ms = self.going_back.map_or(now_ms, |going| going.since_ms);
                self.going_back = Some(GoingBack { since_ms, files: Some((back.done, back.total)) });
            }
            EventBody::Rewind(_) => self.going_back = None,
            EventBody::StateChange(change) => self.enter(change.to, now_ms),
            EventBody::TurnStart(start) => {
                self.iteration = start.iteration;
                // Which model of a group answers is known once it has, and is most likely the same the next time.
                if self.answers.is_none() || start.model != self.model {
                    self.answers = Some(start.model.clone()).filter(|model| !model.is_empty());
                }
            }
            EventBody::ModeChange(change) => {
                self.mode = change.mode.unwrap_or(self.mode);
                self.approval = change.approval.unwrap_or(self.approval);
                // What passed in another mode may be asked about in this one; the session is asked anew.
                self.rules.edits &= change.mode.is_none() && change.approval.is_none();
                self.generation = change.generation.unwrap_or(self.generation);
                if let Some(model) = &change.model {
                    self.model.clone_from(model);
                    self.answers = None;
                }
            }
            EventBody::SideCall(call) => self.asks_aside = call.running.then_some(call.purpose),
            EventBody::Notification(told) => {
                self.generation = told.fitted.unwrap_or(self.generation);
                match told.about {
                    Some(NotificationTopic::CompactionBegins) => self.compact(Some(now_ms)),
                    Some(NotificationTopic::CompactionFailed) => self.compact(None),
                    // Going back did not come to its end.
                    Some(NotificationTopic::NotKept) | None if told.level == NotificationLevel::Warning => {
                        self.going_back = None;
                    }
                    Some(NotificationTopic::NotKept | NotificationTopic::HandedOver) | None => {}
                }
            }
            EventBody::Compaction(_) => self.compact(None),
            // What was used is counted here: the agent does not know of what the session asks models itself.
            EventBody::AgentComplete(_) => self.since_ms = None,
            _ => {}
        }
    }

    /// Takes note of how full the model's window is.
    pub(super) fn fill(&mut self, event: &Event) {
        match &event.body {
            // What is asked beside the conversation, such as for a title, belongs to no turn and fills nothing.
            EventBody::Usage(used) if event.turn_id.is_some() => self.context = context(used),
            EventBody::Compaction(compaction) => {
                self.context = self.context.map(|context| Context { tokens: compaction.after, ..context });
            }
            _ => {}
        }
    }

    fn compact(&mut self, since_ms: Option<i64>) {
        if self.state.is_at_work() {
            return;
        }
        self.compacting = since_ms.is_some();
        self.since_ms = since_ms;
    }

    fn enter(&mut self, state: AgentState, now_ms: i64) {
        let worked = self.state.is_at_work();
        self.compacting = false;
        self.state = state;
        match (worked, self.works()) {
            (false, true) => (self.since_ms, self.used_before) = (Some(now_ms), self.usage),
            (_, false) => self.since_ms = None,
            (true, true) => {}
        }
    }
}

fn context(used: &UsageEvent) -> Option<Context> {
    let window = used.context_window.filter(|window| *window > 0)?;
    let tokens = used.usage.input.saturating_add(used.usage.output);
    (tokens > 0).then_some(Context { tokens, window })
}

fn is_nothing(usage: &Usage) -> bool {
    *usage == Usage::default()
}
