//! The window at work.

use std::future::poll_fn;
use std::io;
use std::os::fd::AsFd;
use std::sync::Arc;
use std::task::Poll;
use std::time::Duration;

use crossterm::event::{Event as TermEvent, EventStream as Keys};
use futures::StreamExt;
use jiff::Timestamp;
use neco_proto::{Client, ClientError, Command, Event, EventStream};
use tokio::sync::mpsc;
use tokio::task::JoinHandle;
use tokio::time::{Instant, sleep_until};

use super::errands::{Back, Errands};
use super::opening::Opening;
use super::sender::Sender;
use super::signals::{Signals, suspend};
use crate::app::App;
use crate::host::{Host, Wanted};
use crate::input::History;
use crate::looks::Looks;
use crate::term::{Guard, Screen, Writer, give_back, is_taken, notify, retake};
use crate::text::highlight;
use crate::theme::ThemeName;
use crate::transcript::block::Tone;
use crate::update::{Effect, News};

/// A frame is drawn at most so often: faster than an eye, slower than a model.
const FRAME: Duration = Duration::from_millis(16);

/// How often marks turn while something runs.
const TICK: Duration = Duration::from_millis(120);

/// How long events are taken in before the keys are looked at again.
const AT_ONCE: Duration = Duration::from_millis(4);

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
}

/// Shows sessions until the person leaves; `first` is said at once.
///
/// # Errors
/// When the terminal can't be used, or the first session can't be opened.
pub async fn run(host: Arc<dyn Host>, wanted: Wanted, first: Option<String>, looks: Looks) -> Result<(), WindowError> {
    let guard = Guard::take()?;
    let mut window = Window::new(host, first, looks)?;
    window.errands.open(wanted);
    let outcome = window.work().await;
    window.leave(guard);
    window.close().await;
    outcome
}

struct Window {
    host: Arc<dyn Host>,
    errands: Errands,
    back: mpsc::UnboundedReceiver<Back>,
    /// The session and the way to it, once it is open.
    session: Option<(Arc<dyn Client>, Sender)>,
    /// What is to be said when it is.
    first: Option<String>,
    /// What the person did before it was.
    early: Vec<Command>,
    app: App,
    looks: Looks,
    screen: Screen<Vec<u8>>,
    writer: Writer,
    keys: Option<Keys>,
    size: (u16, u16),
    closing: Vec<JoinHandle<()>>,
    /// Whether the person's own status line is to be asked for again soon.
    looks_again: bool,
    quits: bool,
    failed: Option<String>,
}

impl Window {
    fn new(host: Arc<dyn Host>, first: Option<String>, looks: Looks) -> Result<Self, WindowError> {
        let (sender, back) = mpsc::unbounded_channel();
        let screen = Screen::new(Vec::new(), looks.depth);
        let out = std::fs::File::from(io::stdout().as_fd().try_clone_to_owned()?);
        Ok(Self {
            errands: Errands::new(Arc::clone(&host), sender),
            back,
            session: None,
            first,
            early: Vec::new(),
            app: App::new(&looks, History::new(host.history())),
            screen: if looks.reflows { screen } else { screen.without_reflow() },
            writer: Writer::new(out)?,
            keys: Some(Keys::new()),
            size: crossterm::terminal::size().unwrap_or((80, 24)),
            closing: Vec::new(),
            looks_again: false,
            quits: false,
            failed: None,
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
            if Instant::now() >= due && self.draw()? {
                drawn = Instant::now();
                due = drawn + self.rest();
            }
            let wakes = if self.writer.is_free() { due } else { due.max(Instant::now() + TICK) };
            tokio::select! {
                biased;
                () = signals.ended(self.keys.is_none()) => self.quits = true,
                key = next_key(&mut self.keys) => {
                    self.now();
                    self.take_keys(key).await?;
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
        self.failed.take().map_or(Ok(()), |words| Err(WindowError::Open(words)))
    }

    fn now(&mut self) {
        self.app.now_ms = Timestamp::now().as_millisecond();
        let ticks = self.app.now_ms.unsigned_abs() / u64::try_from(TICK.as_millis()).unwrap_or(1);
        self.app.frame = usize::try_from(ticks % 1024).unwrap_or_default();
    }

    /// How long the next frame can wait when nothing happens.
    fn rest(&self) -> Duration {
        if self.app.moves() || self.looks_again { TICK } else { Duration::from_secs(3600) }
    }

    /// Draws a frame, unless the last one is not written yet or the terminal is somebody else's.
    fn draw(&mut self) -> Result<bool, WindowError> {
        if self.keys.is_none() || !self.writer.is_free() {
            return Ok(false);
        }
        // A panic in a task gives the terminal back so that its words can be read; the window goes on below them.
        if !is_taken() {
            retake()?;
            self.screen.abandon();
        }
        let frame = self.app.frame(self.size.0, self.size.1);
        self.screen.draw(frame)?;
        self.flush();
        self.looks_again = self.errands.ask_status(&self.app);
        Ok(true)
    }

    fn flush(&mut self) {
        self.writer.write(std::mem::take(self.screen.out()));
    }

    async fn take_keys(&mut self, first: io::Result<TermEvent>) -> Result<(), WindowError> {
        self.input(first?)?;
        for _ in 0..KEYS_AT_ONCE {
            let Some(keys) = &mut self.keys else { break };
            // With the waker of this task: the stream wakes only the first that found it empty.
            let next = poll_fn(|context| Poll::Ready(keys.poll_next_unpin(context))).await;
            let Poll::Ready(Some(next)) = next else { break };
            self.input(next?)?;
        }
        Ok(())
    }

    fn input(&mut self, event: TermEvent) -> Result<(), WindowError> {
        let effects = match event {
            TermEvent::Key(key) => self.app.key(key),
            TermEvent::Paste(text) => self.app.paste(&text),
            TermEvent::Resize(width, height) => {
                if (width, height) != self.size {
                    self.screen.resized(width, height)?;
                    self.size = (width, height);
                }
                Vec::new()
            }
            TermEvent::FocusGained => {
                self.app.focused = Some(true);
                Vec::new()
            }
            TermEvent::FocusLost => {
                self.app.focused = Some(false);
                Vec::new()
            }
            TermEvent::Mouse(_) => Vec::new(),
        };
        self.app.wants(effects);
        Ok(())
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

    fn take(&mut self, event: Option<Result<Event, ClientError>>, events: &mut Option<EventStream>) {
        match event {
            Some(Ok(event)) => {
                let effects = self.app.event(&event);
                self.app.wants(effects);
            }
            Some(Err(ClientError::Gone)) | None => {
                *events = None;
                self.quits = true;
                self.tell_of_end();
            }
            Some(Err(error)) => self.app.transcript.say(Tone::Warning, error.to_string()),
        }
    }

    /// The session ended without the person: they are told why, and what they were writing is kept.
    fn tell_of_end(&mut self) {
        let Some(words) = self.host.ended() else { return };
        let written = self.app.prompt.text.as_str().trim();
        let mut kept = "";
        if !written.is_empty() {
            self.host.remember(written);
            kept = "; what you were writing is the last of the history";
        }
        self.app.transcript.say(Tone::Warning, format!("{words}{kept}"));
    }

    fn came_back(&mut self, back: Back, events: &mut Option<EventStream>) -> Result<(), WindowError> {
        match back {
            Back::News(news) => self.news(news),
            Back::Edited(news) => {
                retake()?;
                self.keys = Some(Keys::new());
                self.size = crossterm::terminal::size().unwrap_or(self.size);
                self.news(news);
            }
            Back::Opened(opened) => match *opened {
                Ok(opening) => {
                    *events = Some(self.show(opening));
                    for note in self.host.notes() {
                        self.app.transcript.say(Tone::Warning, note);
                    }
                }
                Err(words) if self.session.is_none() => {
                    self.failed = Some(words);
                    self.quits = true;
                }
                Err(words) => self.app.transcript.say(Tone::Warning, words),
            },
        }
        Ok(())
    }

    fn news(&mut self, news: News) {
        if let News::Status(line) = &news {
            self.errands.status_came(line.as_ref());
        }
        let effects = self.app.news(news);
        self.app.wants(effects);
    }

    /// A session takes the place of the one before it.
    fn show(&mut self, opening: Opening) -> EventStream {
        let Opening { client, snapshot, past, more, events } = opening;
        let sender = Sender::new(Arc::clone(&client), self.errands.teller());
        if let Some((before, _)) = self.session.replace((client, sender)) {
            self.app.closed();
            let host = Arc::clone(&self.host);
            self.closing.push(tokio::spawn(async move { host.close(before).await }));
        }
        self.app.greet(&self.looks.greeting, &snapshot);
        self.app.set_root(snapshot.root_agent);
        past.iter().for_each(|event| self.app.past(event));
        if more || self.app.transcript.leaves_out() {
            self.app.transcript.say(Tone::Plain, "what happened earlier is in the log: `neco session show`");
        }
        let effects = self.app.opened(snapshot);
        self.app.wants(effects);
        if let Some(content) = self.first.take() {
            self.app.wants(vec![Effect::Send(Command::UserMessage { content, attachments: Vec::new() })]);
        }
        let early = std::mem::take(&mut self.early);
        self.app.wants(early.into_iter().map(Effect::Send).collect());
        if self.looks.theme != ThemeName::Plain {
            std::thread::spawn(highlight::warm);
        }
        events
    }

    /// Does what is to be done.
    async fn carry_out(&mut self) -> Result<(), WindowError> {
        for effect in self.app.take_wanted() {
            match effect {
                Effect::Send(command) => self.send(command),
                Effect::Ask(query) => {
                    if let Some((client, _)) = &self.session {
                        self.errands.ask(Arc::clone(client), query);
                    }
                }
                Effect::Open(wanted) => self.errands.open(wanted),
                Effect::EditPrompt(text) => {
                    self.step_aside().await?;
                    self.errands.edit_prompt(text);
                }
                Effect::EditCall(call, arguments) => {
                    self.step_aside().await?;
                    self.errands.edit_call(call, arguments);
                }
                Effect::Copy(text) => self.writer.write(notify::copy(&text, self.looks.tmux).into_bytes()),
                Effect::Notify(text) => {
                    self.writer.write(self.looks.notify.bytes(&text, self.looks.tmux).into_bytes());
                }
                Effect::Redraw => self.screen.clear()?,
                Effect::Suspend => {
                    self.step_aside().await?;
                    suspend();
                    retake()?;
                    self.keys = Some(Keys::new());
                    self.size = crossterm::terminal::size().unwrap_or(self.size);
                }
                Effect::Quit => self.quits = true,
                errand @ (Effect::Files
                | Effect::Branch
                | Effect::Commands
                | Effect::Sessions
                | Effect::Models
                | Effect::Rules
                | Effect::AddRule(_)
                | Effect::DropRule(_)
                | Effect::Outside(..)
                | Effect::Custom(..)
                | Effect::Shell(_)
                | Effect::StopShell
                | Effect::Keep(_)
                | Effect::Image(_)
                | Effect::Remember(_)) => self.errands.run(errand, self.session.as_ref().map(|(client, _)| client)),
            }
        }
        Ok(())
    }

    fn send(&mut self, command: Command) {
        match &self.session {
            Some((_, sender)) => sender.send(command),
            // What is said while the session is still being opened is said when it is.
            None => self.early.push(command),
        }
    }

    /// The terminal is another program's for a while: nobody reads its keys, nothing is drawn.
    async fn step_aside(&mut self) -> Result<(), WindowError> {
        self.screen.clear()?;
        self.flush();
        // Dropping them stops the thread that reads them.
        self.keys = None;
        let written = async {
            while !self.writer.is_free() {
                self.writer.freed().await;
            }
        };
        // A terminal that takes nothing can't be had for an editor either; the person sees why.
        let _ = tokio::time::timeout(Duration::from_secs(1), written).await;
        give_back();
        Ok(())
    }

    /// Takes the live rows off and gives the terminal back.
    fn leave(&mut self, guard: Guard) {
        self.errands.stop_shell();
        let frame = self.app.last_frame(self.size.0, self.size.1);
        // There is no better place to complain of a terminal than the terminal.
        let _ = self.screen.draw(frame);
        let _ = self.screen.clear();
        self.flush();
        self.writer.close();
        drop(guard);
    }

    async fn close(&mut self) {
        if let Some((client, _)) = self.session.take() {
            self.host.close(client).await;
        }
        for closing in self.closing.drain(..) {
            // A task that panicked has nothing more to write.
            let _ = closing.await;
        }
    }
}

async fn next_key(keys: &mut Option<Keys>) -> io::Result<TermEvent> {
    match keys {
        Some(stream) => match stream.next().await {
            Some(key) => key,
            None => Err(io::Error::new(io::ErrorKind::UnexpectedEof, "nobody is at the keys")),
        },
        None => std::future::pending().await,
    }
}

async fn next_event(events: &mut Option<EventStream>) -> Option<Result<Event, ClientError>> {
    match events {
        Some(stream) => stream.next().await,
        None => std::future::pending().await,
    }
}
