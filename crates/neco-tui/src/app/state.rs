//! The window as a whole.

use neco_proto::clean::clean_line;
use neco_proto::slash::Custom;
use neco_proto::{AgentId, CallId, Decision, Event, EventBody, QuestionId, SessionSnapshot, Subject};

use ratatui::text::{Line, Span};

use super::agents::Agents;
use super::picker::Picker;
use super::standing::Standing;
use crate::ask::Desk;
use crate::input::{History, Keymap, Prompt};
use crate::looks::Looks;
use crate::theme::Theme;
use crate::transcript::Transcript;
use crate::transcript::tail::Tail;
use crate::update::Effect;

/// Somebody who did not type for so long may look elsewhere, in milliseconds.
const AWAY_MS: i64 = 10_000;

/// Why the next message is written.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub enum Purpose {
    /// For the agent.
    #[default]
    Message,
    /// Why a call is rejected.
    Reason(CallId),
    /// What should be different in the plan of a question.
    Revision(QuestionId),
    /// A correction for one of the other agents.
    Agent(AgentId),
    /// A permission rule.
    Rule,
}

/// A command line of the person that runs.
#[derive(Clone, Debug)]
pub struct Shell {
    /// The command line.
    pub command: String,
    /// What it printed last.
    pub tail: Tail,
    /// All it printed, as far as the model will be told.
    pub output: String,
}

/// What stands between what happened and the field, besides questions.
#[derive(Clone, Copy, Debug)]
pub struct Panels {
    /// The todo list and the agents at work.
    pub work: bool,
    /// The keys.
    pub help: bool,
}

/// The window.
#[derive(Debug)]
pub struct App {
    /// What happened.
    pub transcript: Transcript,
    /// What is asked.
    pub desk: Desk,
    /// What is being written.
    pub prompt: Prompt,
    /// How the session stands.
    pub standing: Standing,
    /// The other agents.
    pub agents: Agents,
    /// What is being chosen.
    pub picker: Option<Picker>,
    /// The colours.
    pub theme: Theme,
    /// Which keys do what.
    pub keymap: Keymap,
    /// Why the next message is written.
    pub purpose: Purpose,
    /// What is shown above the field.
    pub panels: Panels,
    /// The command line of the person that runs.
    pub shell: Option<Shell>,
    /// What the person ran and the model was not told yet.
    pub ran: Vec<String>,
    /// Turns marks.
    pub frame: usize,
    /// Now, in milliseconds.
    pub now_ms: i64,
    /// The last answer as it was written.
    pub last_answer: String,
    /// How many calls back the next expansion looks.
    pub expands: usize,
    /// Whether more is shown of what runs.
    pub expanded: bool,
    /// When a key was pressed that means more the second time.
    pub pressed: Option<(char, i64)>,
    /// When the person typed last, in milliseconds.
    pub typed_ms: Option<i64>,
    /// Whether the person was typing when a question came, and has not paused since: their keys were not for it.
    pub startled: bool,
    /// What the person said of calls that nobody was asked about yet.
    pub rest: Option<(Decision, Vec<CallId>)>,
    /// The rule that is being added.
    pub tried_rule: Option<String>,
    /// A word to the person in place of the status line, and until when.
    pub word: Option<(String, i64)>,
    /// The status line of the person's own command.
    pub status_line: Option<String>,
    /// The columns of the terminal.
    pub width: usize,
    /// The rows of the terminal.
    pub height: usize,
    /// Whether the person looks at this terminal, once it has said so.
    pub focused: Option<bool>,
    /// The files of the workspace, once they were asked for.
    pub files: Option<Vec<String>>,
    /// The commands that the person or the folder brought along.
    pub custom: Vec<Custom>,
    root: Option<AgentId>,
    wanted: Vec<Effect>,
    /// Work that took longer is worth a notification when it ends.
    long_ms: i64,
}

impl App {
    /// A window that looks so.
    #[must_use]
    pub fn new(looks: &Looks, history: History) -> Self {
        let mut prompt = Prompt::new(history);
        prompt.set_vi(looks.vi);
        Self {
            transcript: Transcript::default(),
            desk: Desk::default(),
            prompt,
            standing: Standing { most_iterations: looks.most_iterations, ..Standing::default() },
            agents: Agents::default(),
            picker: None,
            theme: Theme::new(looks.theme),
            keymap: looks.keys.clone(),
            purpose: Purpose::default(),
            panels: Panels { work: true, help: false },
            shell: None,
            ran: Vec::new(),
            frame: 0,
            now_ms: 0,
            last_answer: String::new(),
            expands: 0,
            expanded: false,
            pressed: None,
            typed_ms: None,
            startled: false,
            rest: None,
            tried_rule: None,
            word: None,
            status_line: None,
            width: 80,
            height: 24,
            focused: None,
            files: None,
            custom: Vec::new(),
            root: None,
            wanted: Vec::new(),
            long_ms: i64::try_from(looks.notify_after.as_millis()).unwrap_or(i64::MAX),
        }
    }

    /// Something is to be done.
    pub fn wants(&mut self, effects: Vec<Effect>) {
        self.wanted.extend(effects);
    }

    /// What is to be done, once.
    pub fn take_wanted(&mut self) -> Vec<Effect> {
        std::mem::take(&mut self.wanted)
    }

    /// The first words above a session.
    pub fn greet(&mut self, greeting: &str, snapshot: &SessionSnapshot) {
        let name = if greeting.is_empty() { "Neco" } else { greeting };
        let line = Line::from(vec![
            Span::styled(clean_line(name), self.theme.heading),
            Span::styled(format!("  {} · {}", clean_line(&snapshot.model), clean_line(&snapshot.cwd)), self.theme.dim),
        ]);
        self.transcript.show(vec![line]);
    }

    /// The session stands so when the window opens; its events of before were told already.
    pub fn opened(&mut self, snapshot: SessionSnapshot) -> Vec<Effect> {
        self.standing = Standing::of(&snapshot, &self.standing);
        self.transcript.caught_up(self.standing.works());
        self.root = Some(snapshot.root_agent);
        self.desk = Desk::default();
        for request in snapshot.pending {
            self.desk.ask(None, None, request);
        }
        for question in snapshot.questions {
            if let Subject::Plan { plan } = &question.subject {
                self.transcript.show_plan(plan);
            }
            self.desk.pose(None, None, question);
        }
        self.agents = Agents::default();
        let mut effects = vec![Effect::Branch, Effect::Commands];
        if snapshot.agents > 0 {
            effects.push(Effect::Ask(neco_proto::Query::Tree));
            effects.push(Effect::Ask(neco_proto::Query::Workflows));
        }
        effects
    }

    /// Another session takes the place of this one.
    pub fn closed(&mut self) {
        self.transcript.close();
        self.picker = None;
        self.purpose = Purpose::default();
        self.expands = 0;
        self.last_answer.clear();
        self.ran.clear();
        self.standing.title.clear();
        self.standing.filled = None;
        self.root = None;
        self.files = None;
    }

    /// Takes in the next event.
    pub fn event(&mut self, event: &Event) -> Vec<Effect> {
        let is_child = self.root.is_some_and(|root| root != event.agent_id);
        let was_free = self.desk.is_empty();
        let since = self.standing.since_ms;
        if let Some((tone, text)) = self.agents.ended(event) {
            self.transcript.tell(tone, text);
        }
        self.agents.apply(event);
        self.refresh_picker();
        let name = if is_child { self.agents.name(event.agent_id) } else { None };
        self.desk.apply(event, is_child, name);
        if was_free && !self.desk.is_empty() {
            self.startled = self.is_typing();
        }
        self.drop_void_purpose();
        if is_child {
            self.standing.child(event);
        } else {
            self.standing.apply(event);
            self.own(event);
        }
        if let EventBody::PermissionRequest(request) = &event.body
            && let Some(command) = self.said_before(request)
        {
            return vec![Effect::Send(command)];
        }
        self.notification(event, is_child, was_free, since).map(Effect::Notify).into_iter().collect()
    }

    /// Takes in an event of before the window opened: what was asked then is known from how the session stands.
    pub fn past(&mut self, event: &Event) {
        if self.root.is_none_or(|root| root == event.agent_id) {
            self.transcript.past(event);
            self.remember_answer(event);
            self.standing.past(event);
        }
    }

    /// Whose events are the conversation; known before the first of them is told.
    pub fn set_root(&mut self, root: AgentId) {
        self.root = Some(root);
    }

    /// A word to the person that goes by itself.
    pub fn tell(&mut self, word: impl Into<String>) {
        self.word = Some((word.into(), self.now_ms + 3000));
    }

    /// Whether marks turn or a word is to go, so that frames come without anything happening.
    #[must_use]
    pub fn moves(&self) -> bool {
        self.standing.works() || self.shell.is_some() || self.word.is_some() || self.agents.live() > 0
    }

    /// Words that were to go with an answer are a message once somebody else has answered.
    fn drop_void_purpose(&mut self) {
        let holds = match &self.purpose {
            Purpose::Reason(call) => self.desk.holds_call(call),
            Purpose::Revision(question) => self.desk.holds_question(*question),
            Purpose::Message | Purpose::Agent(_) | Purpose::Rule => true,
        };
        if !holds {
            self.purpose = Purpose::Message;
            self.tell("that was answered in another window");
        }
    }

    fn own(&mut self, event: &Event) {
        if matches!(event.body, EventBody::TurnStart(_) | EventBody::AgentComplete(_)) {
            self.rest = None;
        }
        self.transcript.apply(event);
        self.remember_answer(event);
    }

    fn remember_answer(&mut self, event: &Event) {
        if let EventBody::AgentComplete(complete) = &event.body {
            self.last_answer.clone_from(&complete.final_text);
            self.expands = 0;
            self.expanded = false;
            self.word = None;
            // There may be new ones.
            self.files = None;
        }
    }

    /// Many terminals do not say where the person looks; one who did not type for a while may look elsewhere.
    fn looks_elsewhere(&self) -> bool {
        match self.focused {
            Some(focused) => !focused,
            None => self.typed_ms.is_none_or(|typed| self.now_ms - typed >= AWAY_MS),
        }
    }

    /// What somebody who looks elsewhere should know.
    fn notification(&self, event: &Event, is_child: bool, was_free: bool, since: Option<i64>) -> Option<String> {
        if !self.looks_elsewhere() {
            return None;
        }
        match &event.body {
            EventBody::PermissionRequest(request) if was_free => Some(format!("waits for you: {}", request.summary)),
            EventBody::Question(_) if was_free => Some("has a question".to_owned()),
            EventBody::AgentComplete(_) if !is_child => {
                let long = since.is_some_and(|since| event.ts.as_millisecond() - since >= self.long_ms);
                long.then(|| "is done".to_owned())
            }
            _ => None,
        }
    }
}
