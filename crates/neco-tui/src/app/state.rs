//! The window as a whole.

use crossterm::event::KeyEvent;
use jiff::tz::TimeZone;
use neco_proto::clean::clean_line;
use neco_proto::event::{SessionTitle, TitleSource};
use neco_proto::{Actor, AgentId, Event, EventBody, Query, SessionSnapshot, Subject, Usage};
use neco_view::ContextView;
use neco_view::ask::accepted_plan;
use neco_view::reduce::{Agents, Standing};

use super::background::Background;
use super::detaching::Detaching;
use super::diff_screen::DiffScreen;
use super::facing::Facing;
use super::past;
use super::person::Person;
use super::picker::{Picker, Reach};
use super::purpose::{FieldOwner, Purpose, drop_void_purpose, settle_field};
use super::secret::SecretEntry;
use super::shell::Shell;
use super::watched::Watched;
use crate::ask::Desk;
use crate::input::{History, Keymap, Prompt, Written};
use crate::looks::Looks;
use crate::set_up::list;
use crate::term::Depth;
use crate::theme::Theme;
use crate::transcript::Transcript;
use crate::transcript::block::{Drawn, Tone};
use crate::transcript::ledger::prose_width;
use crate::transcript::start::{self, Beside, Start};
use crate::update::{
    ComingBack, Effect, News, Offers, asked, background, commands, going_back, keys, news, picking, stopping,
    taking_back,
};
use crate::view::Leaving;

/// How long a word to the person stays at most, and how long at least, in milliseconds.
const WORD_MS: i64 = 3000;
const READ_MS: i64 = 1000;

/// A way back that a command asked for: what a list shows of others is no answer to it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RewindWanted {
    /// A message by its number, or a state of the files.
    Named(String),
    /// One step, as `/undo` and `/redo` go.
    Step,
}

/// A message whose pictures are being looked at.
#[derive(Clone, Debug)]
pub struct Naming {
    pub written: Written,
    /// Whether it is for after the work.
    pub after_work: bool,
    /// The files that were not looked at yet, each with how it stands in the message.
    pub files: Vec<(String, String)>,
}

/// What stands between what happened and the field, besides questions.
#[derive(Clone, Copy, Debug, Default)]
pub struct Panels {
    /// The todo list and the agents at work.
    pub work: bool,
    /// What is left of them when nobody works: all of it, where the person wants to see it.
    pub at_rest: bool,
    /// Whether the todo list is hidden until it changes.
    pub hides_todos: bool,
    /// The keys.
    pub help: bool,
    /// How many rows of them were scrolled past.
    pub help_from: usize,
}

/// The window.
#[derive(Debug, Default)]
pub struct WindowState {
    /// What happened.
    pub transcript: Transcript,
    /// What is asked.
    pub desk: Desk,
    /// What is being written.
    pub prompt: Prompt,
    /// What can be offered for it.
    pub offers: Offers,
    /// The branch of the workspace, if there is one.
    pub branch: Option<String>,
    /// How many iterations the work may take, when that is known.
    pub most_iterations: Option<u32>,
    /// What the session may cost, when that is known.
    pub most_cost: Option<f64>,
    /// What is being chosen.
    pub picker: Option<Picker>,
    /// What the session changed, while the person looks at it.
    pub diff: Option<DiffScreen>,
    /// The key of a provider that is being typed.
    pub secret: Option<SecretEntry>,
    /// The colours.
    pub theme: Theme,
    /// Whether the terminal has colours and is to show them.
    pub has_colours: bool,
    /// The colour of the terminal's ground, where that is known.
    pub ground: Option<[u8; 3]>,
    /// Which keys do what.
    pub keymap: Keymap,
    /// Why the next message is written.
    pub purpose: Purpose,
    /// Whose the field was when that was settled last.
    pub(super) field_owner: FieldOwner,
    /// What is shown above the field.
    pub panels: Panels,
    /// The commands in the background of the agents.
    pub background: Background,
    /// The command lines of the person.
    pub shell: Shell,
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
    /// Whether the person stopped the work, or was told who works besides: the next Esc stops those.
    pub stopped: bool,
    /// Who is at the keys.
    pub person: Person,
    /// The question that the person has before them.
    pub facing: Facing,
    /// The agent that is looked at.
    pub watched: Option<Watched>,
    /// Messages that are being taken back, and those that have come.
    pub coming_back: ComingBack,
    /// Whether another session is being opened.
    pub opening: bool,
    /// Whether the person came to choose a session and has not yet: who leaves the list leaves the window.
    pub unchosen: bool,
    /// A command of the person as they wrote it, until what it says is said and the session called so.
    pub tried_command: Option<String>,
    /// The way back that was asked for and is being looked at.
    pub rewind_wanted: Option<RewindWanted>,
    /// What comes back into the field when the session went back.
    pub said_better: Option<String>,
    /// Which messages of the context were asked for.
    pub context_view: ContextView,
    /// Whether the rules that come with Neco are listed, too.
    pub built_in_rules: bool,
    /// Which sessions were listed last.
    pub listed: Reach,
    /// The session whose menu was left: the list that comes next has it chosen.
    pub left_session: Option<String>,
    /// The rule that is being added.
    pub tried_rule: Option<String>,
    /// A word to the person in place of the status line, and until when.
    pub word: Option<(String, i64)>,
    /// Whether that word says that the work is being stopped.
    pub stopping: bool,
    /// Whether it says what leaving means.
    pub leaving_said: bool,
    /// Whether the work was stopped, or agents paused, and Enter alone goes on.
    pub can_go_on: bool,
    /// Whether tmux stands between the window and the terminal.
    pub tmux: bool,
    /// Whether another process has the session open, and this window looks on.
    pub attached: bool,
    /// How far the session is on its way into the background.
    pub detaching: Detaching,
    /// The status line of the person's own command.
    pub status_line: Option<String>,
    /// What is finished and on its way to the terminal.
    pub leaving: Leaving,
    /// The columns of the terminal.
    pub width: usize,
    /// The rows of the terminal.
    pub height: usize,
    /// Files that were dropped and may be pictures: the file, and what stands in the field for it.
    pub dropped: Vec<(String, String)>,
    /// Messages that name files which may be pictures: each is sent when all of its were looked at.
    pub naming: Vec<Naming>,
    /// Whether there is no model yet: what is written answers a question, and nothing else.
    pub set_up: bool,
    /// The command that comes back to a session; nothing where sessions are gone with the window.
    pub resume: Option<String>,
    /// The time zone that times are told in.
    pub zone: Option<TimeZone>,
    /// Whether what happened before the window opened ended in the middle of something.
    pub(super) left_in_middle: bool,
    wanted: Vec<Effect>,
}

impl WindowState {
    /// Takes in an event of before the window opened: what was asked then is known from how the session stands.
    pub fn past(&mut self, event: &Event) {
        past::past(self, event);
    }

    /// Takes in an event of before the window opened whose place on the screen is taken already.
    pub fn past_unseen(&mut self, event: &Event) {
        past::past_unseen(self, event);
    }

    /// A window that looks so.
    pub fn new(looks: &Looks, history: History) -> Self {
        let mut prompt = Prompt::new(history);
        prompt.set_vi(looks.vi);
        Self {
            prompt,
            most_iterations: looks.most_iterations,
            most_cost: looks.most_cost,
            theme: Theme::new(looks.shown(looks.theme)).on(looks.ground),
            has_colours: looks.depth != Depth::None,
            ground: looks.ground,
            keymap: looks.keys.clone(),
            panels: Panels { work: true, ..Panels::default() },
            person: Person::new(i64::try_from(looks.notify_after.as_millis()).unwrap_or(i64::MAX)),
            width: 80,
            height: 24,
            set_up: looks.set_up,
            resume: looks.resume.clone(),
            tmux: looks.tmux,
            ..Self::default()
        }
    }

    /// How the session stands.
    pub(crate) fn standing(&self) -> &Standing {
        &self.transcript.view.standing
    }

    /// The other agents.
    pub(crate) fn agents(&self) -> &Agents {
        &self.transcript.view.agents
    }

    /// The question that has the screen. One that waited when the person opened an agent waits behind that.
    pub(crate) fn asking(&self) -> Option<u64> {
        let front = self.desk.front()?;
        let is_behind = self.watched.as_ref().is_some_and(|watched| watched.over == Some(front));
        (!is_behind).then_some(front)
    }

    /// What blocks are drawn with.
    pub(crate) fn drawn<'t>(&self, theme: &'t Theme) -> Drawn<'t> {
        Drawn {
            width: self.width,
            theme,
            now_ms: self.now_ms,
            frame: self.frame,
            expanded: self.expanded,
            // With something in the field the key moves the cursor.
            sends_away: self.prompt.text.is_empty(),
        }
    }

    /// The columns that what a command of the person came to has.
    pub(crate) fn answer_width(&self) -> usize {
        prose_width(self.width)
    }

    /// Offers what may be meant by the word at the cursor.
    pub(crate) fn offer(&mut self) -> Vec<Effect> {
        self.offers.offer(&mut self.prompt, &self.transcript.view.agents)
    }

    /// A key was pressed.
    pub fn key(&mut self, key: KeyEvent) -> Vec<Effect> {
        let effects = keys::key(self, key);
        settle_field(self);
        effects
    }

    /// Something was pasted, or a file dropped.
    pub fn paste(&mut self, text: &str) -> Vec<Effect> {
        let effects = keys::paste(self, text);
        settle_field(self);
        effects
    }

    /// Something came of an effect; gives what is to be done next.
    pub fn news(&mut self, news: News) -> Vec<Effect> {
        let effects = news::news(self, news);
        settle_field(self);
        effects
    }

    /// Something is to be done.
    pub fn wants(&mut self, effects: Vec<Effect>) {
        self.wanted.extend(effects);
    }

    /// What is to be done, once.
    pub fn take_wanted(&mut self) -> Vec<Effect> {
        std::mem::take(&mut self.wanted)
    }

    /// The first rows above a session, in a new window.
    pub(crate) fn greet(&mut self, looks: &Looks, snapshot: &SessionSnapshot, beside: &Beside) {
        self.transcript.begin(Start::new(looks, snapshot, beside, self.height));
    }

    /// The row above a session that takes the place of another one.
    pub(crate) fn greet_next(&mut self, looks: &Looks, snapshot: &SessionSnapshot, beside: &Beside) {
        let row = start::next_row(looks, snapshot, beside, self.width, &self.theme);
        self.transcript.show(vec![row]);
    }

    /// The session stands so when the window opens; its events of before were told already.
    pub fn opened(&mut self, mut snapshot: SessionSnapshot) -> Vec<Effect> {
        self.opening = false;
        if self.set_up {
            let asked = snapshot.questions.iter().find_map(list::of);
            snapshot.questions.retain(|question| list::of(question).is_none());
            asked.into_iter().for_each(|picker| list::open(self, picker));
        }
        self.transcript.view.opened(&snapshot);
        self.transcript.caught_up(self.standing().works());
        self.can_go_on = std::mem::take(&mut self.left_in_middle) && !self.standing().works();
        self.facing = Facing::default();
        for question in snapshot.questions.iter().filter(|question| matches!(question.subject, Subject::Plan { .. })) {
            self.transcript.show_plan(question);
        }
        self.desk.open(snapshot.root_agent, snapshot.pending, snapshot.questions, &self.transcript.view.agents);
        let mut effects = vec![Effect::Branch, Effect::Commands(None), Effect::Ask(Query::Background)];
        self.offers.forget();
        effects.extend(self.offer());
        // Those that have ended are listed too. Of them the log may tell before the events that were read.
        let has_worked = snapshot.usage != Usage::default() || !self.transcript.view.is_alone();
        if snapshot.agents > 0 || has_worked {
            effects.push(Effect::Ask(Query::Tree));
            effects.push(Effect::Ask(Query::Workflows));
        }
        effects
    }

    /// Another session takes the place of this one.
    pub fn closed(&mut self) {
        self.left();
        self.transcript.forget();
    }

    /// A session takes its place that goes on from what is on the screen.
    pub fn left(&mut self) {
        self.transcript.close();
        for naming in std::mem::take(&mut self.naming) {
            self.prompt.restore(&naming.written.text, naming.written.pictures);
        }
        (self.picker, self.secret, self.diff) = (None, None, None);
        self.watched = None;
        self.coming_back = ComingBack::default();
        self.person.list_came();
        (self.rewind_wanted, self.said_better) = (None, None);
        (self.can_go_on, self.left_in_middle) = (false, false);
        self.purpose = Purpose::default();
        settle_field(self);
        self.panels.hides_todos = false;
        self.expands = 0;
        self.last_answer.clear();
        self.shell.forget();
        self.background = Background::default();
        (self.transcript.view.title, self.transcript.view.standing.context) = (None, None);
        self.offers.forget();
    }

    /// Takes in the next event.
    pub fn event(&mut self, event: &Event) -> Vec<Effect> {
        if let Some(picker) = self.listed(event) {
            list::open(self, picker);
            return Vec::new();
        }
        let is_child = !self.transcript.view.is_own(event);
        let was_free = self.desk.is_empty();
        let worked = self.standing().works();
        self.outdate_word(event);
        self.transcript.apply(event);
        if matches!(event.body, EventBody::AgentUpdate(_) | EventBody::WorkflowUpdate(_)) {
            picking::refresh_picker(self);
        }
        if let Some(watched) = self.watched.as_mut().filter(|watched| watched.agent == event.agent_id) {
            watched.apply(event);
        }
        let name = if is_child { self.agents().name(event.agent_id) } else { None };
        let elsewhere = self.desk.answered_elsewhere(event);
        self.desk.apply(event, is_child, name);
        drop_void_purpose(self);
        if let EventBody::QuestionAnswer(answer) = &event.body
            && !is_child
            && let Some(words) = answer.reply.as_ref().and_then(accepted_plan)
        {
            self.transcript.answer_plan(format!("Carry out this plan? → {words}"));
        }
        match elsewhere {
            Some(Actor::Person) => self.tell("Answered in another window"),
            Some(Actor::Device { name }) => self.tell(format!("Answered on {}", clean_line(&name))),
            Some(Actor::Program { name }) => self.tell(format!("Answered by {}", clean_line(&name))),
            Some(Actor::Agent { .. } | Actor::Rule { .. }) | None => {}
        }
        if !is_child {
            if worked && !self.standing().works() {
                stopping::has_stopped(self);
            }
            taking_back::comes_back(self, event);
            self.own(event);
            stopping::note_stop(self, event);
        }
        settle_field(self);
        if let EventBody::PermissionRequest(request) = &event.body
            && let Some(command) = self.desk.said_before(request)
        {
            return asked::answers(self, vec![Effect::Send(command)]);
        }
        let notify = self.person.notification(event, is_child, was_free, self.now_ms).map(Effect::Notify);
        let looks = background::begins(event).then_some(Effect::Ask(Query::Background));
        notify.into_iter().chain(looks).collect()
    }

    /// The list with which a person who has no model yet is asked something.
    pub(super) fn listed(&self, event: &Event) -> Option<Picker> {
        match &event.body {
            EventBody::Question(question) if self.set_up => list::of(question),
            _ => None,
        }
    }

    /// Whose events are the conversation; known before the first of them is told.
    pub fn set_root(&mut self, root: AgentId) {
        self.transcript.view.set_root(root);
    }

    /// What was drawn does not reach the terminal before then: what is asked is not read yet.
    pub fn unseen(&mut self, until_ms: i64) {
        self.facing.unseen(until_ms);
        self.picker.iter_mut().for_each(|picker| picker.unseen(until_ms));
    }

    /// A word to the person that goes by itself.
    pub fn tell(&mut self, word: impl Into<String>) {
        (self.stopping, self.leaving_said) = (false, false);
        self.word = Some((word.into(), self.now_ms + WORD_MS));
    }

    /// Something stands otherwise than when a word was said: it goes once it could be read.
    fn outdate_word(&mut self, event: &Event) {
        let changes = matches!(
            event.body,
            EventBody::AgentUpdate(_)
                | EventBody::StateChange(_)
                | EventBody::TurnStart(_)
                | EventBody::ToolCallEnd(_)
                | EventBody::PermissionRequest(_)
                | EventBody::Question(_)
        );
        let was_read = |until: i64| until - self.now_ms <= WORD_MS - READ_MS;
        if changes
            && !self.stopping
            && !self.leaving_said
            && self.word.as_ref().is_some_and(|(_, until)| was_read(*until))
        {
            self.word = None;
        }
    }

    /// A word to the person, and nothing to be done.
    pub(crate) fn only_tell(&mut self, word: impl Into<String>) -> Vec<Effect> {
        self.tell(word);
        Vec::new()
    }

    /// Something that was asked for was not done.
    pub(crate) fn warn(&mut self, words: impl Into<String>) {
        self.transcript.say(Tone::Warning, words);
    }

    /// Whether marks turn or a word is to go, so that frames come without anything happening.
    pub fn moves(&self) -> bool {
        let works = self.standing().works()
            || self.standing().going_back.is_some()
            || self.shell.runs()
            || self.agents().working().next().is_some();
        works || self.word.is_some() || !self.leaving.is_empty()
    }

    fn own(&mut self, event: &Event) {
        if let EventBody::Title(SessionTitle { title, by: TitleSource::Person }) = &event.body
            && self.tried_command.take_if(|tried| *tried == *title).is_none()
        {
            self.transcript.say(Tone::Plain, format!("Renamed: “{}”.", clean_line(title)));
        }
        if matches!(event.body, EventBody::TodoUpdate(_)) {
            self.panels.hides_todos = false;
        }
        if let EventBody::ModeChange(change) = &event.body {
            commands::tell_change(self, change);
        }
        if let EventBody::Rewind(rewind) = &event.body {
            going_back::went_back(self, rewind);
        }
        self.remember_answer(event);
    }

    pub(super) fn remember_answer(&mut self, event: &Event) {
        if let EventBody::AgentComplete(complete) = &event.body {
            self.last_answer.clone_from(&complete.final_text);
            self.expands = 0;
            self.expanded = false;
            self.word = None;
            self.offers.files_changed();
        }
    }
}
