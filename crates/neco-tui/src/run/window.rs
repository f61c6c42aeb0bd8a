//! The window at work.

use std::io;
use std::os::fd::AsFd;
use std::sync::Arc;
use std::task::Poll;
use std::time::Duration;

use crossterm::event::Event as TermEvent;
use futures::StreamExt;
use jiff::Timestamp;
use neco_proto::app::App as Program;
use neco_proto::{Client, ClientError, Command, Event, EventStream};
use tokio::sync::mpsc;
use tokio::task::JoinHandle;
use tokio::time::{Instant, sleep_until};

use super::bursts::pasted;
use super::drawing::{TICK, size};
use super::early::waits;
use super::errands::{Back, Errands};
use super::inputs::{next_event, next_key};
use super::opening::{Opening, Retold};
use super::pace::Pace;
use super::sender::Sender;
use super::signals::{Asked, Signals};
use crate::app::WindowState;
use crate::host::{Host, Wanted};
use crate::input::History;
use crate::looks::Looks;
use crate::term::keys::Came;
use crate::term::{Guard, Keys, Screen, Writer, guard, notify};
use crate::text::highlight;
use crate::theme::ThemeName;
use crate::transcript::block::Tone;
use crate::update::{Effect, News};

/// A frame is drawn at most so often: faster than an eye, slower than a model.
const FRAME: Duration = Duration::from_millis(16);

/// How long events are taken in before the keys are looked at again.
const AT_ONCE: Duration = Duration::from_millis(4);

/// A frame that takes longer to be written is not on the screen.
const SLOW: Duration = Duration::from_millis(100);

/// How long a session that is left may take to stop whatever works.
const STOPPING: Duration = Duration::from_secs(2);

/// Keys that follow a paste so closely belong to it.
const ONE_PASTE: Duration = Duration::from_millis(40);

/// Keys that are taken in before a frame is drawn: pastes of terminals that do not mark them.
const KEYS_AT_ONCE: usize = 256;

/// Why a window could not be opened, or closed before its time.
#[derive(Debug, thiserror::Error)]
pub enum WindowError {
    /// The terminal does not let us.
    #[error("the terminal can't be used: {0}")]
    Terminal(#[from] io::Error),
    /// The session could not be opened.
    #[error("{0}")]
    Open(String),
    /// What happens in the session can't be kept any more.
    #[error("{0}")]
    Lost(ClientError),
}

/// Shows sessions until the person leaves; `first` is said at once, and `program` is asked what no session knows.
///
/// # Errors
/// When the terminal can't be used, or the first session can't be opened.
pub async fn run(
    host: Arc<dyn Host>,
    program: Arc<dyn Program>,
    wanted: Wanted,
    first: Option<String>,
    looks: Looks,
) -> Result<(), WindowError> {
    let guard = Guard::take()?;
    // Meanwhile a session is opened, and the first program in it does not wait.
    if looks.theme != ThemeName::Plain {
        std::thread::spawn(highlight::warm);
    }
    let mut window = Window::new(host, program, first, looks)?;
    window.first_answers().await?;
    window.errands.open(wanted, Retold::Whole);
    let outcome = window.work().await;
    window.hear_out().await;
    window.leave(guard);
    window.close().await;
    outcome
}

pub(super) struct Window {
    pub(super) host: Arc<dyn Host>,
    pub(super) errands: Errands,
    pub(super) back: mpsc::UnboundedReceiver<Back>,
    /// The session and the way to it, once it is open.
    session: Option<(Arc<dyn Client>, Sender)>,
    /// What is to be said when it is.
    first: Option<String>,
    /// What the person did before it was.
    pub(super) early: Vec<Effect>,
    pub(super) app: WindowState,
    looks: Looks,
    pub(super) screen: Screen<Vec<u8>>,
    pub(super) writer: Writer,
    pub(super) keys: Option<Keys>,
    pub(super) size: (u16, u16),
    closing: Vec<JoinHandle<()>>,
    /// When keys came last that nobody typed.
    pasted: Option<Instant>,
    pub(super) pace: Pace,
    /// Whether keys came since the last frame.
    pub(super) typed: bool,
    /// The bytes of the last frame, if the terminal is to be asked behind it.
    pub(super) asks: Option<usize>,
    /// Whether the last frame is not all there is to draw.
    pub(super) behind: bool,
    /// The question of the last frame.
    pub(super) question: Option<u64>,
    /// Whether the person's own status line is to be asked for again soon.
    pub(super) looks_again: bool,
    /// Until when nothing is drawn, because an edge is being dragged.
    pub(super) still: Instant,
    /// When the last frame was handed to the writer.
    pub(super) flushed: Instant,
    /// Whether the process was stopped by its own wish and goes on.
    pub(super) went_on: bool,
    /// Whether the session is being opened here because the process that had it is gone.
    pub(super) takes_over: bool,
    /// Whether the session ended without the person.
    pub(super) over: bool,
    pub(super) quits: bool,
    /// Whether whatever works is stopped before the session is left.
    stops: bool,
    failed: Option<String>,
    /// Why the session can't go on.
    pub(super) lost: Option<ClientError>,
}

impl Window {
    fn new(
        host: Arc<dyn Host>,
        program: Arc<dyn Program>,
        first: Option<String>,
        looks: Looks,
    ) -> Result<Self, WindowError> {
        // Unbounded: what comes back is one answer to each errand that the window sent somebody on.
        let (sender, back) = mpsc::unbounded_channel();
        let screen = Screen::new(Vec::new(), looks.depth);
        let out = std::fs::File::from(io::stdout().as_fd().try_clone_to_owned()?);
        let mut app = WindowState::new(&looks, History::new(host.history()));
        app.opening = true;
        app.leaving.portion = 0;
        Ok(Self {
            errands: Errands::new(Arc::clone(&host), program, sender),
            back,
            session: None,
            first,
            early: Vec::new(),
            app,
            screen: if looks.reflows { screen } else { screen.without_reflow() },
            writer: Writer::new(out)?,
            keys: Some(Keys::ask()),
            size: size().or_else(|| crossterm::terminal::size().ok()).unwrap_or((80, 24)),
            closing: Vec::new(),
            pasted: None,
            pace: Pace::default(),
            typed: false,
            asks: None,
            behind: false,
            question: None,
            looks_again: false,
            still: Instant::now(),
            flushed: Instant::now(),
            went_on: false,
            takes_over: false,
            over: false,
            quits: false,
            stops: false,
            failed: None,
            lost: None,
            host,
            looks,
        })
    }

    async fn work(&mut self) -> Result<(), WindowError> {
        let mut signals = Signals::listen();
        let mut events: Option<EventStream> = None;
        let mut drawn = Instant::now();
        let mut due = drawn;
        self.app.now_ms = Timestamp::now().as_millisecond();
        while !self.quits && !self.writer.is_broken() {
            self.ask();
            due = due.max(self.still);
            if Instant::now() >= due && self.draw()? {
                drawn = Instant::now();
                due = drawn + self.rest();
            }
            let wakes = self.wakes(due);
            tokio::select! {
                biased;
                asked = signals.next(self.keys.is_none()) => match asked {
                    Asked::End => self.end_editor().await,
                    Asked::Stop => self.put_away().await?,
                    Asked::GoOn => self.goes_on()?,
                    Asked::Look => self.look(),
                },
                came = next_key(&mut self.keys) => {
                    self.now();
                    let event = match came? {
                        Came::Event(event) => event,
                        Came::Answer(took) => {
                            self.answered(took);
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
                () = self.writer.freed(), if !self.writer.is_free() => {}
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
        if !self.writer.is_free() && self.flushed.elapsed() > SLOW {
            self.app.unseen(self.app.now_ms);
        }
    }

    async fn take_keys(&mut self, first: TermEvent) -> Result<(), WindowError> {
        let mut events = vec![first];
        while events.len() < KEYS_AT_ONCE {
            let Some(keys) = &mut self.keys else { break };
            let Some(next) = keys.ready().await else { break };
            events.push(next?);
        }
        self.typed = true;
        let goes_on = self.pasted.is_some_and(|pasted| pasted.elapsed() < ONE_PASTE);
        let Some(text) = pasted(&events, goes_on).filter(|_| !self.looks.marks_pastes) else {
            events.into_iter().for_each(|event| self.input(event));
            return Ok(());
        };
        self.pasted = Some(Instant::now());
        self.input(TermEvent::Paste(text));
        Ok(())
    }

    fn input(&mut self, event: TermEvent) {
        let effects = match event {
            TermEvent::Key(key) => self.app.key(key),
            TermEvent::Paste(text) => self.app.paste(&text),
            TermEvent::Resize(width, height) => return self.resized((width, height)),
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
            Back::Edited(news) => {
                guard::mend();
                self.step_in()?;
                self.news(news);
                self.end_if_over();
            }
            Back::Opened(opened) => match *opened {
                Ok(opening) => {
                    self.takes_over = false;
                    *events = Some(self.show(opening));
                    for note in self.host.notes() {
                        self.app.transcript.say(Tone::Warning, note);
                    }
                }
                Err(words) if self.session.is_none() => match self.host.successor() {
                    // The process that had it open is gone since: it is opened here.
                    Some((wanted, told)) if !self.takes_over => {
                        self.takes_over = true;
                        self.app.transcript.say(Tone::Warning, told);
                        self.errands.open(wanted, Retold::Whole);
                    }
                    Some(_) | None => {
                        self.failed = Some(words);
                        self.quits = true;
                    }
                },
                // Nobody has the session any more, and it can't be gone on with here.
                Err(words) if std::mem::take(&mut self.takes_over) => {
                    self.app.transcript.say(Tone::Warning, words);
                    self.over = true;
                    self.end_if_over();
                }
                Err(words) => {
                    self.app.transcript.say(Tone::Warning, words);
                    self.app.opening = false;
                    self.stay();
                }
            },
        }
        Ok(())
    }

    pub(super) fn news(&mut self, news: News) {
        if let News::Status(line) = &news {
            self.errands.status_came(line.as_ref());
        }
        let effects = self.app.news(news);
        self.app.wants(effects);
    }

    /// A session takes the place of the one before it.
    fn show(&mut self, opening: Opening) -> EventStream {
        let Opening { retold, client, snapshot, past, more, events } = opening;
        self.errands.next_session();
        let sender = Sender::new(Arc::clone(&client), self.errands.teller());
        if let Some((before, _)) = self.session.replace((client, sender)) {
            match retold {
                Retold::Whole => self.app.closed(),
                Retold::Not => self.app.left(),
            }
            let host = Arc::clone(&self.host);
            self.closing.push(tokio::spawn(async move { host.close(before).await }));
        }
        self.app.set_root(snapshot.root_agent);
        match retold {
            Retold::Whole => {
                self.app.greet(&self.looks.greeting, &snapshot);
                past.iter().for_each(|event| self.app.past(event));
                if more || self.app.transcript.leaves_out() {
                    self.app.transcript.say(Tone::Plain, "what happened earlier is in the log: `neco session show`");
                }
            }
            Retold::Not => past.iter().for_each(|event| self.app.past_unseen(event)),
        }
        let effects = self.app.opened(snapshot);
        self.app.wants(effects);
        if let Some(content) = self.first.take() {
            self.app.wants(vec![Effect::Send(Command::UserMessage { content, attachments: Vec::new() })]);
        }
        self.send_early();
        events
    }

    /// Does what is to be done.
    async fn carry_out(&mut self) -> Result<(), WindowError> {
        for effect in self.app.take_wanted() {
            match effect {
                Effect::Send(command) => self.send(command),
                effect if waits(&effect) && (self.app.opening || self.session.is_none()) => self.early.push(effect),
                Effect::Ask(query) => {
                    if let Some((client, _)) = &self.session {
                        self.errands.ask(Arc::clone(client), query);
                    }
                }
                Effect::Open(wanted) => self.errands.open(wanted, Retold::Whole),
                Effect::GoOn(wanted) => self.errands.open(wanted, Retold::Not),
                Effect::Look(agent) => {
                    if let Some((client, _)) = &self.session {
                        self.errands.look(Arc::clone(client), agent);
                    }
                }
                Effect::EditPrompt(text) => {
                    self.step_aside().await?;
                    self.errands.edit_prompt(text);
                }
                Effect::EditCall(call, tool, arguments) => {
                    self.step_aside().await?;
                    self.errands.edit_call(call, tool, arguments);
                }
                Effect::Copy(text) => {
                    self.writer.write(notify::copy(&text, self.looks.tmux).into_bytes());
                    if text.len() > notify::SURE {
                        self.app.tell("copied, if your terminal takes so much; many don't");
                    }
                }
                Effect::Notify(text) => {
                    self.writer.write(self.looks.notify.bytes(&text, self.looks.tmux).into_bytes());
                }
                Effect::Redraw => self.screen.wipe(self.size.1)?,
                Effect::Suspend => self.put_away().await?,
                Effect::StopShell => self.errands.stop_shell().into_iter().for_each(|news| self.news(news)),
                Effect::StopAndQuit => (self.stops, self.quits) = (true, true),
                Effect::Quit => self.quits = true,
                errand @ (Effect::Files
                | Effect::Branch
                | Effect::Commands(_)
                | Effect::Sessions
                | Effect::Models
                | Effect::Rules
                | Effect::AddRule(_)
                | Effect::DropRule(_)
                | Effect::Arguments(_)
                | Effect::Outside(..)
                | Effect::Custom(..)
                | Effect::Shell(_)
                | Effect::Keep(_)
                | Effect::Image(_)
                | Effect::Remember(_)) => self.errands.run(errand, self.session.as_ref().map(|(client, _)| client)),
            }
        }
        Ok(())
    }

    fn send(&mut self, command: Command) {
        match &self.session {
            // Stopping is for what is on the screen.
            Some((_, sender)) if !self.app.opening || matches!(command, Command::Cancel | Command::StopAll) => {
                if !sender.send(command) {
                    let words = "the session can't be told anything any more, by a defect in Neco: `neco --continue` goes on with it";
                    self.app.transcript.say(Tone::Bad, words);
                }
            }
            // What is said while a session is being opened is said when it is.
            Some(_) | None => self.early.push(Effect::Send(command)),
        }
    }

    async fn close(&mut self) {
        if let Some((client, _)) = self.session.take() {
            if self.stops {
                // Another process may have it open, and would go on. One that does not answer is not waited for.
                let _ = tokio::time::timeout(STOPPING, client.send(Command::StopAll)).await;
            }
            self.host.close(client).await;
        }
        for closing in self.closing.drain(..) {
            // A task that panicked has nothing more to write.
            let _ = closing.await;
        }
    }
}
