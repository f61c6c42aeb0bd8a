//! Commands in the terminals of an editor that offers these.
//!
//! A command runs as always, in its box and with its limits. The editor's terminal runs our own program, which prints what
//! the command prints ([`crate::relay`]); when that is ended before the command is, the command is ended. An editor that does
//! not answer holds no command up, and what it does not show in a terminal it shows as text.

use std::collections::HashMap;
use std::fs::Permissions;
use std::io;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::pin::pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use agent_client_protocol::v1::ConnectionTo;
use agent_client_protocol::v1::schema as acp;
use agent_client_protocol::{Client as Editor, Error};
use neco_proto::clean::Cleaner;
use neco_proto::event::CallStatus;
use neco_proto::{CallId, Display, Event, EventBody};
use neco_view::View;
use neco_view::reduce::BlockBody;
use neco_view::reduce::block::Block;
use serde_json::json;
use tempfile::TempDir;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{UnixListener, UnixStream};
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, WeakUnboundedSender, unbounded_channel};
use tokio::sync::oneshot;

use crate::relay::ASKED;
use crate::updates::update;
use crate::window::Order;
use crate::world::Kills;

/// The tool that runs commands.
const COMMANDS: &str = "bash";

/// A command that is over by then needs no terminal: it is shown as what came of it.
/// So is one that goes on in the background, which is known after a moment.
const AT_ONCE: Duration = Duration::from_millis(300);

/// Letters of what a terminal is called.
const LONGEST_NAME: usize = 60;

/// How long a terminal may take to begin, and to show the rest of what was printed.
const SOON: Duration = Duration::from_secs(5);

/// What a terminal is told.
enum Piece {
    Printed(String),
    /// The command is over, with this exit code if it has one.
    Over(Option<i32>),
}

/// The terminals of an editor in a session.
pub(crate) struct Terminals {
    editor: ConnectionTo<Editor>,
    session: acp::SessionId,
    folder: PathBuf,
    /// What ends the commands that run.
    kills: Kills,
    shown: Mutex<HashMap<CallId, Shown>>,
}

/// A call whose command is shown in a terminal, or will be.
struct Shown {
    /// Nothing when the call is over.
    pieces: Option<UnboundedSender<Piece>>,
    /// As long as it is there.
    terminal: Option<acp::TerminalId>,
}

impl Terminals {
    /// Those for a session that works in a folder.
    pub fn new(editor: ConnectionTo<Editor>, session: acp::SessionId, folder: &str, kills: Kills) -> Arc<Self> {
        Arc::new(Self { editor, session, folder: PathBuf::from(folder), kills, shown: Mutex::default() })
    }

    /// The terminal that a call is shown in.
    pub fn of(&self, call: &CallId) -> Option<acp::TerminalId> {
        self.shown().get(call)?.terminal.clone()
    }

    /// Takes in what happens to the calls of the root, and the end of others.
    pub fn event(self: &Arc<Self>, event: &Event, view: &View, orders: &WeakUnboundedSender<Order>) {
        match &event.body {
            EventBody::ToolCallUpdate(told) if told.tool == COMMANDS && told.status == CallStatus::Executing => {
                self.begin(&told.call_id, named(command(view, &told.call_id).unwrap_or(&told.summary)), orders);
            }
            EventBody::ToolOutputChunk(chunk) => self.tell(&chunk.call_id, Piece::Printed(chunk.text.clone())),
            EventBody::ToolCallEnd(end) => {
                let code = match &end.display {
                    // What goes on in the background did not fail.
                    Some(Display::Terminal { background: Some(_), .. }) => Some(0),
                    Some(Display::Terminal { exit_code, .. }) => *exit_code,
                    _ => None,
                };
                self.tell(&end.call_id, Piece::Over(code));
                if let Some(shown) = self.shown().get_mut(&end.call_id) {
                    shown.pieces = None;
                }
                self.kills.lock().unwrap_or_else(PoisonError::into_inner).remove(&end.call_id);
            }
            // Nothing else is of commands.
            _ => {}
        }
    }

    fn begin(self: &Arc<Self>, call: &CallId, name: Vec<String>, orders: &WeakUnboundedSender<Order>) {
        let mut shown = self.shown();
        if shown.contains_key(call) {
            return;
        }
        // Unbounded: a call prints so much at most.
        let (sender, pieces) = unbounded_channel();
        shown.insert(call.clone(), Shown { pieces: Some(sender), terminal: None });
        let (terminals, call, orders) = (Arc::clone(self), call.clone(), orders.clone());
        tokio::spawn(async move {
            if let Err(error) = terminals.show(&call, name, pieces, &orders).await {
                tracing::info!(%error, "a command is not shown in a terminal");
            }
            terminals.shown().remove(&call);
        });
    }

    fn tell(&self, call: &CallId, piece: Piece) {
        if let Some(pieces) = self.shown().get(call).and_then(|shown| shown.pieces.as_ref()) {
            // A terminal that is gone shows nothing more.
            let _ = pieces.send(piece);
        }
    }

    /// Shows a command in a terminal from its beginning to its end.
    async fn show(
        &self,
        call: &CallId,
        name: Vec<String>,
        mut pieces: UnboundedReceiver<Piece>,
        orders: &WeakUnboundedSender<Order>,
    ) -> Result<(), Error> {
        tokio::time::sleep(AT_ONCE).await;
        if self.is_over(call) {
            return Ok(());
        }
        let folder = tempfile::Builder::new().prefix("neco-").tempdir().map_err(failed)?;
        let (listener, socket) = listen(&folder).map_err(failed)?;
        let (program, args) = program(&folder, name).map_err(failed)?;
        let create = acp::CreateTerminalRequest::new(self.session.clone(), program.display().to_string());
        let asked = acp::EnvVariable::new(ASKED, socket.display().to_string());
        let create = create.args(args).env(vec![asked]).cwd(self.folder.clone());
        let creating = self.editor.send_request(create);
        let taking_back = creating.cancellation_handle();
        let mut created = pin!(creating.block_task());
        let terminal = match tokio::time::timeout(SOON, &mut created).await {
            Ok(created) => created?.terminal_id,
            Err(_) => {
                drop((pieces, listener, folder));
                taking_back.cancel()?;
                // It may begin all the same.
                let terminal = created.await?.terminal_id;
                return self.release(terminal).await;
            }
        };
        let connected = tokio::time::timeout(SOON, listener.accept()).await;
        drop((listener, folder));
        if let Ok(Ok((stream, _))) = connected {
            if let Some(orders) = orders.upgrade() {
                // Nobody follows a session that is closed.
                let _ = orders.send(Order::PrintsIn(call.clone(), terminal.clone()));
            }
            if follow(stream, &mut pieces).await.is_err() {
                self.kill(call);
            }
            // How the call ended is told with its terminal.
            while pieces.recv().await.is_some() {}
            let wait = acp::WaitForTerminalExitRequest::new(self.session.clone(), terminal.clone());
            // What it shows stays; an editor that does not say that it ended has shown what it will.
            let _ = tokio::time::timeout(SOON, self.editor.send_request(wait).block_task()).await;
        }
        let (told, is_told) = oneshot::channel();
        match orders.upgrade() {
            Some(orders) => drop(orders.send(Order::LetGo(call.clone(), told))),
            None => drop(told),
        }
        // The error is that nobody tells of it any more.
        let _ = is_told.await;
        self.release(terminal).await
    }

    async fn release(&self, terminal: acp::TerminalId) -> Result<(), Error> {
        let release = acp::ReleaseTerminalRequest::new(self.session.clone(), terminal);
        self.editor.send_request(release).block_task().await.map(drop)
    }

    /// Nobody follows the session any more: nothing more comes to its terminals.
    pub fn end(&self) {
        self.shown().values_mut().for_each(|shown| shown.pieces = None);
    }

    /// A call is shown in a terminal from now on; nothing where it is over, as the editor knows already what came of it.
    pub fn prints_in(&self, call: &CallId, terminal: acp::TerminalId) -> Option<acp::SessionUpdate> {
        let mut all = self.shown();
        let shown = all.get_mut(call).filter(|shown| shown.pieces.is_some())?;
        let fields = acp::ToolCallUpdateFields::new().content(vec![content(&terminal)]);
        shown.terminal = Some(terminal);
        Some(update(call, fields))
    }

    /// A call is told without its terminal from now on.
    pub fn let_go(&self, call: &CallId) {
        if let Some(shown) = self.shown().get_mut(call) {
            shown.terminal = None;
        }
    }

    fn is_over(&self, call: &CallId) -> bool {
        self.shown().get(call).is_none_or(|shown| shown.pieces.is_none())
    }

    fn kill(&self, call: &CallId) {
        let kill = self.kills.lock().unwrap_or_else(PoisonError::into_inner).remove(call);
        kill.into_iter().for_each(|kill| kill());
    }

    fn shown(&self) -> MutexGuard<'_, HashMap<CallId, Shown>> {
        self.shown.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A terminal as what a call shows.
pub(crate) fn content(terminal: &acp::TerminalId) -> acp::ToolCallContent {
    acp::ToolCallContent::Terminal(acp::Terminal::new(terminal.clone()))
}

/// What a call runs, as the model wrote it.
fn command<'a>(view: &'a View, call: &CallId) -> Option<&'a str> {
    let is_it = |block: &'a Block| match &block.body {
        BlockBody::Call(known) if known.call_id == *call => known.arguments.as_ref()?.get("command")?.as_str(),
        _ => None,
    };
    view.blocks.iter().rev().find_map(is_it)
}

/// What a terminal is called, in words: editors show its program and the arguments of that. They may hand these to a shell
/// as they stand, so that nothing of what an agent wrote is left in it that means something there.
fn named(command: &str) -> Vec<String> {
    let is_plain = |char: char| char.is_alphanumeric() || matches!(char, '_' | '-' | '.' | '/' | ':' | ',' | '+' | '@');
    let words = command.split(|char| !is_plain(char)).filter(|word| !word.is_empty());
    let words: String = words.collect::<Vec<_>>().join(" ").chars().take(LONGEST_NAME).collect();
    words.split_whitespace().map(str::to_owned).collect()
}

/// Our own program under the first word of a name, and the other words.
fn program(folder: &TempDir, name: Vec<String>) -> io::Result<(PathBuf, Vec<String>)> {
    let mut words = name.into_iter();
    let first = words.next().unwrap_or_default();
    let first = first.rsplit('/').find(|part| !part.starts_with('.') && !part.is_empty()).unwrap_or("command");
    let link = folder.path().join(first);
    std::os::unix::fs::symlink(std::env::current_exe()?, &link)?;
    Ok((link, words.collect()))
}

fn failed(error: impl ToString) -> Error {
    Error::internal_error().data(error.to_string())
}

/// A socket that nobody else of this machine can connect to.
fn listen(folder: &TempDir) -> io::Result<(UnixListener, PathBuf)> {
    let socket: PathBuf = Path::new(folder.path()).join(".socket");
    let listener = UnixListener::bind(&socket)?;
    std::fs::set_permissions(&socket, Permissions::from_mode(0o600))?;
    Ok((listener, socket))
}

/// Tells a terminal what a command prints until that is over.
/// The error is that the terminal ended before.
async fn follow(stream: UnixStream, pieces: &mut UnboundedReceiver<Piece>) -> io::Result<()> {
    let (mut reads, mut writes) = stream.into_split();
    let (mut nothing, mut cleaner) = ([0; 1], Cleaner::default());
    loop {
        let piece = tokio::select! {
            biased;
            piece = pieces.recv() => piece,
            // It has nothing to say: this is its end.
            _ = reads.read(&mut nothing) => return Err(io::ErrorKind::BrokenPipe.into()),
        };
        let (line, is_over) = match piece {
            Some(Piece::Printed(text)) => (json!({ "print": cleaner.push(&text) }), false),
            Some(Piece::Over(code)) => (json!({ "exit": code.unwrap_or(1) }), true),
            None => return Ok(()),
        };
        let line = format!("{line}\n");
        match tokio::time::timeout(SOON, writes.write_all(line.as_bytes())).await {
            Ok(written) if !is_over => written?,
            // What a terminal does not take it does not show; the command goes on.
            Ok(_) | Err(_) => return Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_name_of_a_terminal_means_nothing_to_a_shell() {
        let named = |command: &str| named(command).join(" ");
        assert_eq!(named("cargo test -p a::b"), "cargo test -p a::b");
        assert_eq!(named("`rm -rf /` && $(x) > \"y\"; 'z' *\n~ #"), "rm -rf / x y z");
        assert_eq!(named("\u{202e}$()"), "");
        assert_eq!(named(&"é".repeat(100)).chars().count(), LONGEST_NAME);
    }

    #[test]
    fn the_program_of_a_terminal_is_called_as_its_command() {
        for (name, called) in [("cargo test", "cargo"), ("./run/.x it", "run"), ("/", "command"), ("", "command")] {
            let folder = tempfile::tempdir().unwrap();
            let (program, args) = program(&folder, named(name)).unwrap();
            assert_eq!((program.parent(), program.file_name()), (Some(folder.path()), Some(called.as_ref())), "{name}");
            assert_eq!(args.len(), usize::from(name.contains(' ')), "{name}");
        }
    }

    #[tokio::test]
    async fn what_would_steer_a_terminal_is_not_printed_there() {
        let (ours, mut theirs) = UnixStream::pair().unwrap();
        // Unbounded: a test sends three pieces.
        let (sender, mut pieces) = unbounded_channel();
        for text in ["one\u{1b}]0;ti", "tle\u{7}two\r\n"] {
            assert!(sender.send(Piece::Printed(text.to_owned())).is_ok());
        }
        assert!(sender.send(Piece::Over(Some(0))).is_ok());
        follow(ours, &mut pieces).await.unwrap();
        let mut told = String::new();
        theirs.read_to_string(&mut told).await.unwrap();
        assert_eq!(told, "{\"print\":\"one\"}\n{\"print\":\"two\\r\\n\"}\n{\"exit\":0}\n");
    }

    #[tokio::test(start_paused = true)]
    async fn a_terminal_that_takes_nothing_holds_no_command_up_and_ends_none() {
        let (ours, theirs) = UnixStream::pair().unwrap();
        // Unbounded: a test sends one piece.
        let (sender, mut pieces) = unbounded_channel();
        assert!(sender.send(Piece::Printed("x".repeat(8 * 1024 * 1024))).is_ok());
        follow(ours, &mut pieces).await.unwrap();
        drop(theirs);
    }
}
