//! What stands around a window at a terminal: sessions that are opened, an editor, a clipboard, a history.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use futures::future::BoxFuture;
use futures::{FutureExt, TryFutureExt};
use neco_proto::app::opening::{OpenSession, OpenedSession, WhichSession};
use neco_proto::app::port::ExportSession;
use neco_proto::app::rules::GivenRules;
use neco_proto::app::{App, AppError, Caller, Trouble};
use neco_proto::clean::clean_line;
use neco_proto::{Answer, Attachment, Client, Query, RewindPoint, SessionId, SessionSnapshot};
use neco_view::export_line::{ExportLine, format_of};
use neco_view::short_id::short_id;
use ratatui::text::Line;
use serde_json::Value;
use tokio::sync::Notify;

use crate::clipboard::{self, PicturePrinter};
use crate::draft_files::DraftFiles;
use crate::editing::Editing;
use crate::history_file::HistoryFile;
use crate::host::{Edited, Host, ImageSource, LineOf, Printed, Wanted};
use crate::line::say;
use crate::line::signals::InterruptMask;
use crate::status_line;
use crate::text::figures;
use crate::text::wrap::cut;

/// How long a picture may take to be read.
const PICTURE: Duration = Duration::from_secs(5);

/// How long is waited for what is only nice to know, and columns of a title.
const SOON: Duration = Duration::from_millis(250);
const TITLE: usize = 60;

/// What a host has from the machine below it.
pub trait Machine: Send + Sync {
    /// Runs a command line in `folder`; `loosened` says whether what the command line of this process
    /// loosens holds there.
    fn shell(
        &self,
        folder: PathBuf,
        loosened: bool,
        command: (String, LineOf),
        output: Printed,
    ) -> BoxFuture<'_, Result<Option<i32>, AppError>>;

    /// Has a session go on in the background, once what runs in it is over, or `hurry` is told.
    fn hand_over<'a>(&'a self, session: SessionId, hurry: &'a Notify) -> BoxFuture<'a, Result<(), AppError>>;

    /// A picture from its bytes, which people know as `shown`.
    fn picture(&self, bytes: &[u8], shown: &str) -> Result<Attachment, AppError>;

    /// A picture from a file; may take long.
    fn picture_file(&self, file: PathBuf) -> BoxFuture<'static, Result<Option<Attachment>, AppError>>;
}

/// What a host is made of.
pub struct HostSetup {
    /// The whole program.
    pub app: Arc<dyn App>,
    /// The machine below it.
    pub machine: Arc<dyn Machine>,
    /// Whether sessions are of a server, and go on there when the window is closed.
    pub of_server: bool,
    /// The session of the command line; what it says beside which one holds for new ones too.
    pub wanted: OpenSession,
    /// What is said when it is open in another process: what of the command line means nothing then.
    pub left_out: Option<String>,
    /// The person's editor.
    pub editor: OsString,
    /// Whose an interrupt is.
    pub mask: InterruptMask,
    /// What prints the picture in the clipboard.
    pub clipboard: Option<PicturePrinter>,
    /// The person's command for the status line.
    pub status_line: Option<String>,
    /// What was written in earlier windows.
    pub history: HistoryFile,
    /// What was not sent there.
    pub drafts: DraftFiles,
    /// The person's home folder.
    pub home: PathBuf,
    /// The file that this process logs to when it is told to.
    pub log_file: String,
}

/// The program around a window.
pub struct TerminalHost {
    setup: HostSetup,
    editing: Editing,
    /// The sessions that were opened, and not handed back yet.
    opened: Mutex<Vec<OpenedSession>>,
    /// The one on the screen.
    shown: Mutex<Option<OpenedSession>>,
    /// The last session that was left and in which something was said.
    said: Mutex<Option<SessionId>>,
    /// Where the first session works, of which the command line was said.
    said_of: Mutex<Option<String>>,
    /// What was opened before there was a window.
    first: Mutex<Option<Arc<dyn Client>>>,
}

impl TerminalHost {
    /// For work as the command line asks for it.
    #[must_use]
    pub fn new(setup: HostSetup) -> Self {
        Self {
            editing: Editing::new(setup.editor.clone(), setup.mask.clone()),
            setup,
            opened: Mutex::default(),
            shown: Mutex::default(),
            said: Mutex::default(),
            said_of: Mutex::default(),
            first: Mutex::default(),
        }
    }

    /// Opens the session of the command line, while the terminal is free: the person may be asked.
    pub async fn open_first(&self) -> Result<Arc<dyn Client>, AppError> {
        let OpenedSession { client, folder, .. } = self.open_session(self.setup.wanted.clone()).await?;
        Host::shown(self, &client);
        *locked(&self.said_of) = Some(folder);
        *locked(&self.first) = Some(Arc::clone(&client));
        Ok(client)
    }

    /// A session was handed back.
    pub fn left(&self, left: Result<Option<SessionId>, AppError>) {
        let said = left.unwrap_or_else(|error| {
            say::note(&error.message);
            error.session
        });
        if said.is_some() {
            *locked(&self.said) = said;
        }
    }

    /// The last session that was left and in which something was said, as people write it.
    #[must_use]
    pub fn last_said(&self) -> Option<String> {
        locked(&self.said).map(short_id)
    }

    /// The session on the screen as people write it, with what is told of it when it is left; none where nothing was
    /// said in it, or that is not known soon.
    pub async fn about_shown(&self) -> Option<(String, String)> {
        let client = Arc::clone(&locked(&self.shown).as_ref()?.client);
        let (snapshot, points, tree) = (Query::Snapshot, Query::RewindPoints, Query::Tree);
        let asked = async { tokio::join!(client.ask(snapshot), client.ask(points), client.ask(tree)) };
        match tokio::time::timeout(SOON, asked).await.ok()? {
            (Ok(Answer::Snapshot(snapshot)), Ok(Answer::RewindPoints { points }), tree) => {
                let agents = if let Ok(Answer::Tree { nodes }) = tree { nodes } else { Vec::new() };
                let live = agents.iter().skip(1).filter(|node| node.state.is_live()).count();
                Some((short_id(snapshot.session_id), told_of(&snapshot, &points, live)?))
            }
            _ => None,
        }
    }

    /// Where the session on the screen works.
    fn works_in(&self) -> PathBuf {
        let shown = locked(&self.shown);
        PathBuf::from(shown.as_ref().map_or(&self.setup.wanted.folder, |shown| &shown.folder))
    }

    /// The session on the screen, when another process has it open.
    fn attached(&self) -> Option<String> {
        let shown = locked(&self.shown);
        let shown = shown.as_ref().filter(|shown| self.setup.of_server || shown.owner.is_some());
        shown.map(|shown| short_id(shown.id))
    }

    async fn open_wanted(&self, wanted: Wanted) -> Result<Arc<dyn Client>, AppError> {
        if let Some(first) = locked(&self.first).take() {
            return Ok(first);
        }
        let base = OpenSession {
            folder: self.works_in().display().to_string(),
            loosens_in: locked(&self.said_of).clone(),
            ..self.setup.wanted.clone()
        };
        // What the command line said about the first session holds for new ones; others have their own.
        let theirs = |which| OpenSession { which, model: None, mode: None, generation: None, ..base.clone() };
        let wanted = match wanted {
            Wanted::New => OpenSession { which: WhichSession::New, ..base },
            Wanted::Latest => theirs(WhichSession::Latest),
            Wanted::Id(id) => theirs(WhichSession::Id(id)),
        };
        Ok(self.open_session(wanted).await?.client)
    }

    /// Opens the session that is wanted, or attaches to the process that has it open. What the person should know is
    /// said.
    async fn open_session(&self, wanted: OpenSession) -> Result<OpenedSession, AppError> {
        let opened = self.setup.app.open(&Caller::person(), wanted).await?;
        match opened.owner {
            Some(owner) if owner == std::process::id() => {
                self.setup.app.close(opened.client).await?;
                return Err(AppError::new(Trouble::Invalid, "This window is already in that session"));
            }
            Some(_) => {
                self.setup.left_out.iter().for_each(|words| say::note(words));
                say::note("Also open in another window; both show the same");
            }
            None => opened.notes.iter().for_each(|words| say::note(words)),
        }
        locked(&self.opened).push(opened.clone());
        Ok(opened)
    }

    /// Writes a session to the file that is named behind `/export`.
    async fn write(&self, session: SessionId, argument: &str) -> Result<String, AppError> {
        let line = ExportLine::read(argument)?;
        let named = Some(line.file).filter(|file| !file.is_empty());
        let file = self.works_in().join(named.unwrap_or_else(|| format!("neco-{}.md", short_id(session))));
        let request = ExportSession {
            session: Some(session.to_string()),
            folder: Host::folder(self),
            format: format_of(line.format, Some(&file))?,
            file: file.display().to_string(),
            over: line.over,
            with_keys: line.with_keys,
        };
        self.setup.app.ask(&Caller::person(), &request).await?;
        Ok(file.display().to_string())
    }

    async fn read_picture(&self, source: ImageSource) -> Result<Option<Attachment>, AppError> {
        match source {
            ImageSource::Clipboard => {
                let Some(bytes) = clipboard::picture(self.setup.clipboard.clone()).await.map_err(failed)? else {
                    return Ok(None);
                };
                self.setup.machine.picture(&bytes, "the picture in the clipboard").map(Some)
            }
            ImageSource::File(name) => {
                let path = self.works_in().join(name.strip_prefix("file://").unwrap_or(&name));
                // What has the name of a picture may be a pipe that never ends.
                tokio::time::timeout(PICTURE, self.setup.machine.picture_file(path))
                    .await
                    .map_err(|_| failed(format!("{name} takes too long to be read")))?
            }
        }
    }
}

impl Host for TerminalHost {
    fn open(&self, wanted: Wanted) -> BoxFuture<'_, Result<Arc<dyn Client>, AppError>> {
        self.open_wanted(wanted).boxed()
    }

    fn shown(&self, client: &Arc<dyn Client>) {
        let opened = locked(&self.opened).iter().find(|opened| Arc::ptr_eq(&opened.client, client)).cloned();
        *locked(&self.shown) = opened;
    }

    /// The one on the screen stays open until the process ends: what is done at its end may take a while, and the person
    /// is told of it once the terminal is free.
    fn close(&self, client: Arc<dyn Client>) -> BoxFuture<'_, ()> {
        if locked(&self.shown).as_ref().is_some_and(|shown| Arc::ptr_eq(&shown.client, &client)) {
            return async {}.boxed();
        }
        locked(&self.opened).retain(|opened| !Arc::ptr_eq(&opened.client, &client));
        async move { self.left(self.setup.app.close(client).await) }.boxed()
    }

    fn folder(&self) -> String {
        self.works_in().display().to_string()
    }

    fn home(&self) -> PathBuf {
        self.setup.home.clone()
    }

    fn given(&self) -> GivenRules {
        self.setup.wanted.given.clone()
    }

    fn log_file(&self) -> String {
        self.setup.log_file.clone()
    }

    fn edit_text(&self, text: String) -> BoxFuture<'_, Result<Option<String>, AppError>> {
        self.editing.text(text).map_err(failed).boxed()
    }

    fn edit_call(&self, tool: String, arguments: Value) -> BoxFuture<'_, Result<Option<Edited>, AppError>> {
        let folder = self.works_in();
        async move { self.editing.call(&tool, arguments, &folder).await.map_err(failed) }.boxed()
    }

    fn edit_file(&self, file: String) -> BoxFuture<'_, Result<bool, AppError>> {
        async move { self.editing.file(Path::new(&file)).await.map_err(failed) }.boxed()
    }

    fn end_editor(&self) {
        self.editing.end();
    }

    fn history(&self) -> Vec<String> {
        self.setup.history.read()
    }

    fn remember(&self, text: &str) {
        self.setup.history.remember(text);
    }

    fn draft(&self, session: SessionId) -> Option<String> {
        self.setup.drafts.read(session)
    }

    fn keep_draft(&self, session: SessionId, text: String) {
        self.setup.drafts.keep(session, text);
    }

    fn notes(&self) -> Vec<String> {
        say::held_notes()
    }

    fn successor(&self) -> Option<(Wanted, String)> {
        let id = self.attached()?;
        let told = match self.setup.of_server {
            true => "The server does not answer; it is asked once more",
            false => "The other window is gone; this one took over",
        };
        Some((Wanted::Id(id), told.to_owned()))
    }

    fn ended(&self) -> Option<String> {
        Some(match self.attached() {
            Some(id) if self.setup.of_server => {
                format!("The server has ended. Resume the session with  neco resume {id}")
            }
            Some(id) => {
                format!("The other window closed this session. Resume it with  neco resume {id}")
            }
            None => "the session has ended".to_owned(),
        })
    }

    fn shell(&self, command: String, of: LineOf, output: Printed) -> BoxFuture<'_, Result<Option<i32>, AppError>> {
        let folder = self.works_in();
        // What loosens holds where it was said.
        let loosened = locked(&self.said_of).as_ref().is_none_or(|said_of| Path::new(said_of) == folder);
        self.setup.machine.shell(folder, loosened, (command, of), output)
    }

    fn detach<'a>(&'a self, hurry: &'a Notify) -> BoxFuture<'a, Result<String, AppError>> {
        async move {
            let shown = locked(&self.shown).clone().filter(|shown| shown.owner.is_none());
            let Some(OpenedSession { id, client, .. }) = shown else {
                return Err(failed("this window has no session of its own"));
            };
            self.setup.machine.hand_over(id, hurry).await?;
            // What is told of it at the end is told of another process's.
            locked(&self.opened).retain(|opened| !Arc::ptr_eq(&opened.client, &client));
            locked(&self.shown).take();
            let id = short_id(id);
            Ok(format!(
                "It works on in the background. neco resume {id} opens a window on it, neco logs -f {id} follows it, \
                 neco stop {id} stops it"
            ))
        }
        .boxed()
    }

    fn image(&self, source: ImageSource) -> BoxFuture<'_, Result<Option<Attachment>, AppError>> {
        self.read_picture(source).boxed()
    }

    fn export(&self, session: SessionId, argument: String) -> BoxFuture<'_, Result<String, AppError>> {
        async move { self.write(session, &argument).await }.boxed()
    }

    fn has_status(&self) -> bool {
        self.setup.status_line.is_some()
    }

    fn status(&self, standing: Value) -> BoxFuture<'_, Option<String>> {
        async move { status_line::line(self.setup.status_line.as_ref()?, &standing, &self.works_in()).await }.boxed()
    }
}

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

fn failed(error: impl ToString) -> AppError {
    AppError::new(Trouble::Failed, error.to_string())
}

/// `Retry uploads when throttled  14 messages · $0.45 · 1 agent paused`; nothing of a session in which nothing was said.
/// Agents that are `live` are paused when it is left.
fn told_of(snapshot: &SessionSnapshot, said: &[RewindPoint], live: usize) -> Option<String> {
    let first = said.first()?;
    let title = if snapshot.title.trim().is_empty() { &first.text } else { &snapshot.title };
    let title = cut(&Line::raw(clean_line(title)), TITLE);
    let messages = figures::count(said.len(), "message", "messages");
    let cost = snapshot.usage.cost.filter(|cost| *cost > 0.0);
    let cost = cost.map(|cost| format!(" · {}", figures::cost(cost))).unwrap_or_default();
    let paused = match live {
        0 => String::new(),
        live => format!(" · {} paused", figures::count(live, "agent", "agents")),
    };
    Some(format!("{title}  {messages}{cost}{paused}"))
}

#[cfg(test)]
mod tests {
    use neco_proto::{AgentId, MessageId};
    use serde_json::json;

    use super::*;

    #[test]
    fn whoever_leaves_sees_what_it_was_about_and_what_it_cost() {
        let mut snapshot: SessionSnapshot = serde_json::from_value(json!({
            "session_id": SessionId::new(), "root_agent": AgentId::new(), "last_seq": 2, "cwd": "/tmp",
            "title": "Retry uploads", "model": "m", "mode": "agent", "approval": "ask_first", "state": "idle",
            "usage": { "input": 1, "output": 1, "cost": 0.45 }, "pending": []
        }))
        .unwrap();
        let point = |number: u64| {
            serde_json::from_value::<RewindPoint>(json!({
                "number": number, "message_id": MessageId::new(), "seq": number, "ts": "2026-01-01T00:00:00Z",
                "text": "Uploads die", "calls": 0, "files": false
            }))
            .unwrap()
        };
        assert_eq!(told_of(&snapshot, &[point(1), point(2)], 0).unwrap(), "Retry uploads  2 messages · $0.45");
        snapshot.title.clear();
        let paused = told_of(&snapshot, &[point(1)], 1).unwrap();
        assert_eq!(paused, "Uploads die  1 message · $0.45 · 1 agent paused");
        assert_eq!(told_of(&snapshot, &[], 0), None, "nothing was said");
    }
}
