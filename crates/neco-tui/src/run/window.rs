//! The window at work.

use std::io;
use std::sync::Arc;
use std::task::Poll;
use std::time::Duration;

use crossterm::event::Event as TermEvent;
use futures::StreamExt;
use jiff::Timestamp;
use jiff::tz::TimeZone;
use neco_proto::app::App as Program;
use neco_proto::{ClientError, Command, Event, EventBody, EventStream, Query, SessionSnapshot};
use tokio::sync::mpsc;
use tokio::time::{Instant, sleep_until};

use super::bursts::pasted;
use super::draft::Draft;
use super::early::{chooses_session, waits};
use super::errands::{Back, Errands};
use super::opening::{Opening, Retold};
use super::sender::Sender;
use super::shown_session::ShownSession;
use super::signals::{Asked, Signals};
use super::start::WindowError;
use super::terminal::{TICK, Terminal};
use crate::app::WindowState;
use crate::host::Host;
use crate::input::History;
use crate::looks::Looks;
use crate::term::keys::Came;
use crate::term::{Keys, guard, notify};
use crate::transcript::block::Tone;
use crate::transcript::start::Beside;
use crate::update::{Effect, News, say_first};

/// A frame is drawn at most so often: faster than an eye, slower than a model.
const FRAME: Duration = Duration::from_millis(16);

/// How long events are taken in before the keys are looked at again.
const AT_ONCE: Duration = Duration::from_millis(4);

/// Keys that follow a paste so closely belong to it.
const ONE_PASTE: Duration = Duration::from_millis(40);

/// Keys that are taken in before a frame is drawn: pastes of terminals that do not mark them.
const KEYS_AT_ONCE: usize = 256;

/// What is said where the field holds what was not sent before the last window of the session was killed.
const DRAFT_IS_BACK: &str = "What you had not sent is here again";

/// The window and all that it shows.
pub(super) struct Window {
    pub(super) host: Arc<dyn Host>,
    pub(super) errands: Errands,
    pub(super) back: mpsc::UnboundedReceiver<Back>,
    pub(super) session: ShownSession,
    /// What is to be said when it is.
    first: Option<String>,
    /// What the person did before it was.
    pub(super) early: Vec<Effect>,
    /// What stands in the field, as it is kept.
    draft: Draft,
    /// Whether the first rows of the window were drawn.
    greeted: bool,
    /// The session that nobody chose yet, below which those to choose from are listed: it has no rows above it.
    unchosen: Option<(SessionSnapshot, Beside)>,
    pub(super) app: WindowState,
    looks: Looks,
    pub(super) terminal: Terminal,
    /// When keys came last that nobody typed.
    pasted: Option<Instant>,
    /// Whether the person's own status line is to be asked for again soon.
    looks_again: bool,
    /// Whether the process was stopped by its own wish and goes on.
    pub(super) went_on: bool,
    /// Whether the session is being opened here because the process that had it is gone.
    pub(super) takes_over: bool,
    /// Whether the session ended without the person.
    pub(super) over: bool,
    pub(super) quits: bool,
    /// Why no session could be opened.
    pub(super) failed: Option<String>,
    /// Why the session can't go on.
    pub(super) lost: Option<ClientError>,
}

impl Window {
    pub(super) fn new(
        host: Arc<dyn Host>,
        program: Arc<dyn Program>,
        first: Option<String>,
        looks: Looks,
    ) -> Result<Self, WindowError> {
        // Unbounded: what comes back is one answer to each errand that the window sent somebody on.
        let (sender, back) = mpsc::unbounded_channel();
        let mut app = WindowState::new(&looks, History::new(host.history()));
        app.opening = true;
        app.zone = Some(TimeZone::system());
        app.leaving.portion = 0;
        Ok(Self {
            errands: Errands::new(Arc::clone(&host), program, sender),
            back,
            session: ShownSession::default(),
            first,
            early: Vec::new(),
            draft: Draft::default(),
            greeted: false,
            unchosen: None,
            app,
            terminal: Terminal::new(&looks)?,
            pasted: None,
            looks_again: false,
            went_on: false,
            takes_over: false,
            over: false,
            quits: false,
            failed: None,
            lost: None,
            host,
            looks,
        })
    }

    pub(super) async fn work(&mut self, mut signals: Signals) -> Result<(), WindowError> {
        let mut events: Option<EventStream> = None;
        let mut drawn = Instant::now();
        let mut due = drawn;
        self.app.now_ms = Timestamp::now().as_millisecond();
        while !self.quits && !self.terminal.writer.is_broken() {
            self.greet_if_kept();
            self.draft.keep(&self.app, self.host.as_ref());
            self.terminal.ask();
            due = due.max(self.terminal.still);
            if Instant::now() >= due && self.terminal.draw(&mut self.app)? {
                self.looks_again = self.errands.ask_status(&self.app);
                drawn = Instant::now();
                due = drawn + self.terminal.rest(&self.app, self.looks_again);
            }
            let wakes = self.terminal.wakes(due, &self.app);
            tokio::select! {
                biased;
                asked = signals.next(self.terminal.keys.is_none()) => match asked {
                    Asked::End => self.end_editor().await,
                    Asked::Stop => self.put_away().await?,
                    Asked::GoOn => self.goes_on()?,
                    Asked::Look => self.terminal.look(),
                },
                came = next_key(&mut self.terminal.keys) => {
                    self.now();
                    let event = match came? {
                        Came::Event(event) => event,
                        Came::Answer(took) => {
                            self.terminal.answered(took);
                            due = Instant::now();
                            continue;
                        }
                    };
                    self.take_keys(event).await?;
                    due = Instant::now();
                    self.carry_out().await?;
                    continue;
                }
                Some(back) = self.back.recv() => {
                    self.now();
                    self.came_back(back, &mut events)?;
                    self.take_ready(&mut events).await;
                }
                event = next_event(&mut events) => {
                    self.now();
                    self.take(event, &mut events);
                    self.take_ready(&mut events).await;
                }
                () = self.terminal.writer.freed(), if !self.terminal.writer.is_free() => {}
                () = sleep_until(wakes) => {
                    self.now();
                    continue;
                }
            }
            self.carry_out().await?;
            // What came together is drawn together.
            due = due.min(drawn + FRAME);
        }
        match (self.lost.take(), self.failed.take()) {
            (Some(error), _) => Err(WindowError::Lost(error)),
            (None, Some(words)) => Err(WindowError::Open(words)),
            (None, None) => Ok(()),
        }
    }

    fn now(&mut self) {
        self.app.now_ms = Timestamp::now().as_millisecond();
        let ticks = self.app.now_ms.unsigned_abs() / u64::try_from(TICK.as_millis()).unwrap_or(1);
        let turns = self.app.leaving.slow.is_none();
        self.app.frame = if turns { usize::try_from(ticks % 1024).unwrap_or_default() } else { 0 };
        if self.terminal.is_stuck() {
            self.app.unseen(self.app.now_ms);
        }
    }

    async fn take_keys(&mut self, first: TermEvent) -> Result<(), WindowError> {
        let mut events = vec![first];
        while events.len() < KEYS_AT_ONCE {
            let Some(keys) = &mut self.terminal.keys else { break };
            let Some(next) = keys.ready().await else { break };
            events.push(next?);
        }
        self.terminal.typed = true;
        self.take_together(events);
        Ok(())
    }

    /// Takes in what came together, which may be a paste that the terminal does not mark.
    pub(super) fn take_together(&mut self, events: Vec<TermEvent>) {
        let goes_on = self.pasted.is_some_and(|pasted| pasted.elapsed() < ONE_PASTE);
        let Some(text) = pasted(&events, goes_on).filter(|_| !self.looks.marks_pastes) else {
            return events.into_iter().for_each(|event| self.input(event));
        };
        self.pasted = Some(Instant::now());
        self.input(TermEvent::Paste(text));
    }

    fn input(&mut self, event: TermEvent) {
        let effects = match event {
            TermEvent::Key(key) => self.app.key(key),
            TermEvent::Paste(text) => self.app.paste(&text),
            TermEvent::Resize(width, height) => return self.terminal.resized((width, height)),
            TermEvent::FocusGained => return self.app.person.focused = Some(true),
            TermEvent::FocusLost => return self.app.person.focused = Some(false),
            TermEvent::Mouse(_) => return,
        };
        self.app.wants(effects);
    }

    /// What is there already, but not for so long that a key would wait.
    async fn take_ready(&mut self, events: &mut Option<EventStream>) {
        let began = std::time::Instant::now();
        while began.elapsed() < AT_ONCE {
            let Some(stream) = events else { return };
            let Poll::Ready(event) = futures::poll!(stream.next()) else { return };
            self.take(event, events);
        }
    }

    pub(super) fn take(&mut self, event: Option<Result<Event, ClientError>>, events: &mut Option<EventStream>) {
        match event {
            Some(Ok(event)) => {
                let effects = self.app.event(&event);
                self.app.wants(effects);
                if self.app.transcript.view.is_own(&event) && may_change_rules(&event) {
                    self.ask_for_rules();
                }
            }
            Some(Err(ClientError::Gone)) | None => {
                *events = None;
                self.goes_on_alone();
            }
            Some(Err(error)) => self.lose(error),
        }
    }

    fn came_back(&mut self, back: Back, events: &mut Option<EventStream>) -> Result<(), WindowError> {
        match back {
            Back::News(session, news) if self.errands.is_stale(session, &news) => {}
            Back::News(_, news) => self.unless_lost(news, events).into_iter().for_each(|news| self.news(news)),
            Back::Prints(number) => self.errands.printed(number).into_iter().for_each(|news| self.news(news)),
            Back::ShellEnded(number, ended) => {
                self.errands.shell_ended(number, ended).into_iter().for_each(|news| self.news(news));
            }
            Back::LineBegins(number, line) => {
                self.errands.line_begins(number, line).into_iter().for_each(|news| self.news(news));
            }
            Back::Custom(number, session, said) => {
                self.errands.custom_came(number, session, said).into_iter().for_each(|news| self.news(news));
            }
            Back::Edited(news) => {
                guard::mend();
                self.terminal.step_in()?;
                self.news(news);
                self.end_if_over();
            }
            Back::Opened(opened) => match *opened {
                Ok(opening) => *events = Some(self.opened(opening)),
                Err(error) => self.not_opened(&error),
            },
        }
        Ok(())
    }

    /// A session is open. What it says of how it was left is news where the person sat all the while.
    fn opened(&mut self, opening: Opening) -> EventStream {
        let seen = std::mem::take(&mut self.takes_over).then(|| self.app.transcript.view.last_seq());
        let is_news = |event: &&Event| {
            matches!(event.body, EventBody::Notification(_)) && seen.is_some_and(|seen| event.seq > seen)
        };
        let left: Vec<Event> = opening.past.iter().filter(is_news).cloned().collect();
        let events = self.show(opening);
        left.iter().for_each(|event| self.app.transcript.past(event));
        for note in self.host.notes() {
            self.app.transcript.say(Tone::Warning, note);
        }
        events
    }

    pub(super) fn news(&mut self, news: News) {
        if let News::Status(line) = &news {
            self.errands.status_came(line.as_ref());
        }
        if let News::RuleChanged(Ok(_)) = &news {
            self.ask_for_rules();
        }
        // They came for a list of sessions alone, and there is none to wait for.
        if let News::Sessions(Err(error)) | News::AllSessions(Err(error)) = &news
            && self.app.unchosen
            && self.app.picker.is_none()
        {
            (self.failed, self.quits) = (Some(error.words()), true);
            return;
        }
        let effects = self.app.news(news);
        self.app.wants(effects);
    }

    /// Asks what is allowed now; a session that is being opened is asked when it is.
    fn ask_for_rules(&mut self) {
        if !self.app.opening {
            self.app.wants(vec![Effect::Ask(Query::Rules)]);
        }
    }

    /// A session takes the place of the one before it.
    fn show(&mut self, opening: Opening) -> EventStream {
        let Opening { retold, client, snapshot, past, more, events, beside, draft } = opening;
        // What was to be said in the one before it is said nowhere.
        self.errands.stop_custom();
        self.app.shell.lines_end();
        self.errands.session += 1;
        self.host.shown(&client);
        let sender = Sender::new(Arc::clone(&client), self.errands.teller());
        if self.session.replace(client, sender, &self.host) {
            match retold {
                Retold::Whole => self.app.closed(),
                Retold::Not => self.app.left(),
            }
        }
        self.app.set_root(snapshot.root_agent);
        self.draft.belongs_to(snapshot.session_id);
        match retold {
            Retold::Whole => {
                self.unchosen = None;
                self.app.unchosen = self.first.as_deref().is_some_and(chooses_session);
                match self.app.unchosen {
                    true => self.unchosen = Some((snapshot.clone(), beside)),
                    false => self.greet(&snapshot, &beside),
                }
                past.iter().for_each(|event| self.app.past(event));
                if more || self.app.transcript.left_out {
                    self.app.transcript.say(Tone::Plain, "Earlier messages: neco session show");
                }
            }
            Retold::Not => past.iter().for_each(|event| self.app.past_unseen(event)),
        }
        let effects = self.app.opened(snapshot);
        self.app.attached = self.host.successor().is_some();
        self.app.wants(effects);
        self.ask_for_rules();
        if let Some(draft) = draft {
            self.app.prompt.restore(&draft, Vec::new());
            self.app.tell(DRAFT_IS_BACK);
        }
        if let Some(content) = self.first.take() {
            let effects = say_first(&mut self.app, content);
            self.app.wants(effects);
        }
        // What was said and asked while it was being opened is said and asked now.
        self.app.wants(std::mem::take(&mut self.early));
        events
    }

    /// The rows above a session: a few in a new window, one where it takes the place of another.
    fn greet(&mut self, snapshot: &SessionSnapshot, beside: &Beside) {
        match std::mem::replace(&mut self.greeted, true) {
            false => {
                self.app.greet(&self.looks, snapshot, beside);
                if !self.looks.set_up {
                    self.errands.look_at_project();
                }
            }
            true => self.app.greet_next(&self.looks, snapshot, beside),
        }
    }

    /// Whoever came for a list that there is none of stays in the session that was opened for it.
    fn greet_if_kept(&mut self) {
        let chooses = self.app.opening || self.app.picker.is_some() || self.app.person.waits_for_list();
        if let Some((snapshot, beside)) = self.unchosen.take_if(|_| !chooses) {
            self.app.unchosen = false;
            self.greet(&snapshot, &beside);
        }
    }

    /// Does what is to be done.
    async fn carry_out(&mut self) -> Result<(), WindowError> {
        for effect in self.app.take_wanted() {
            match effect {
                Effect::Send(command) => self.send(command),
                effect if waits(&effect) && (self.app.opening || !self.session.is_open()) => self.early.push(effect),
                Effect::Ask(query) => {
                    if let Some(client) = self.session.client() {
                        self.errands.ask(Arc::clone(client), query);
                    }
                }
                Effect::Open(wanted) => self.errands.open(wanted, Retold::Whole),
                Effect::GoOn(wanted) => self.errands.open(wanted, Retold::Not),
                Effect::Look(agent) => {
                    if let Some(client) = self.session.client() {
                        self.errands.look(Arc::clone(client), agent);
                    }
                }
                Effect::EditPrompt(text) => {
                    self.terminal.step_aside().await?;
                    self.errands.edit_prompt(text);
                }
                Effect::EditCall(call, tool, arguments) => {
                    self.terminal.step_aside().await?;
                    self.errands.edit_call(call, tool, arguments);
                }
                Effect::EditFile(file) => {
                    self.terminal.step_aside().await?;
                    self.errands.edit_file(file);
                }
                Effect::EditPlan(question, plan) => {
                    self.terminal.step_aside().await?;
                    self.errands.edit_plan(question, plan);
                }
                Effect::Copy(text) => {
                    self.terminal.writer.write(notify::copy(&text, self.looks.tmux).into_bytes());
                }
                Effect::Notify(text) => {
                    self.terminal.writer.write(self.looks.notify.bytes(&text, self.looks.tmux).into_bytes());
                }
                Effect::Redraw => self.terminal.screen.wipe(self.terminal.size.1)?,
                Effect::Suspend => self.put_away().await?,
                Effect::StopShell => {
                    let news = self.errands.stop_shell(self.app.shell.runs_line());
                    news.into_iter().for_each(|news| self.news(news));
                }
                Effect::Quit => self.quits = true,
                errand => self.errands.run(errand, self.session.client()),
            }
        }
        Ok(())
    }

    fn send(&mut self, command: Command) {
        match self.session.sender() {
            // Stopping is for what is on the screen.
            Some(sender) if !self.app.opening || matches!(command, Command::Cancel | Command::StopAll) => {
                if !sender.send(command) {
                    let words = "This window lost its session, by a bug in Neco. Resume it with  neco --continue";
                    self.app.transcript.say(Tone::Bad, words);
                }
            }
            // What is said while a session is being opened is said when it is.
            Some(_) | None => self.early.push(Effect::Send(command)),
        }
    }
}

/// Whether other things may be allowed after this than before: rules of files are read anew with every turn.
fn may_change_rules(event: &Event) -> bool {
    matches!(
        event.body,
        EventBody::PermissionDecision(_) | EventBody::ModeChange(_) | EventBody::TurnStart(_) | EventBody::Rewind(_)
    )
}

/// What comes from the terminal; nothing does while it is somebody else's.
async fn next_key(keys: &mut Option<Keys>) -> io::Result<Came> {
    match keys {
        Some(keys) => keys.next().await,
        None => std::future::pending().await,
    }
}

/// The next event; none comes before there is a session.
async fn next_event(events: &mut Option<EventStream>) -> Option<Result<Event, ClientError>> {
    match events {
        Some(stream) => stream.next().await,
        None => std::future::pending().await,
    }
}
