//! The editor's files, for the session that it opened: what is typed there and not saved is what is read; and what runs
//! on this machine and can be ended in the editor.
//!
//! An editor that does not answer holds nothing up: after a moment the disk has the file, and the editor is left alone for
//! a while. A text that it was handed it may still save, so that nobody writes that file until it has said what came of it.

use std::collections::{HashMap, HashSet};
use std::path::{Path, PathBuf};
use std::pin::pin;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::Duration;

use agent_client_protocol::v1::ConnectionTo;
use agent_client_protocol::v1::schema as acp;
use agent_client_protocol::{Client as Connected, JsonRpcRequest};
use futures::FutureExt;
use futures::future::BoxFuture;
use neco_proto::CallId;
use neco_proto::app::opening::{Editor, EditorFiles, Kill};
use neco_proto::app::{AppError, Trouble};
use tokio::runtime::Handle;
use tokio::sync::oneshot;
use tokio::time::Instant;

use crate::transport::Room;
use crate::updates::aside;

/// How long an editor may take for a file; then the disk has it.
const SOON: Duration = Duration::from_secs(2);

/// How long an editor that took longer is not asked again.
const A_WHILE: Duration = Duration::from_secs(60);

/// Names of files that are kept which lead through links.
const MOST_LINKS: usize = 1000;

/// What ends the processes of calls.
pub(crate) type Kills = Arc<Mutex<HashMap<CallId, Kill>>>;

/// The files of an editor.
#[derive(Clone)]
pub(crate) struct OpenFiles {
    editor: ConnectionTo<Connected>,
    room: Room,
    offered: acp::ClientCapabilities,
    runtime: Handle,
    /// The folders that it opened: where they are, and how it names them.
    folders: Arc<[(PathBuf, PathBuf)]>,
    /// The names of files that it has said besides: where links lead, and how it names them.
    links: Arc<Mutex<HashMap<PathBuf, PathBuf>>>,
    /// Until when it is not asked, as it does not answer.
    silent: Arc<Mutex<Option<Instant>>>,
    /// Its names of the files that it was to save, and may still save.
    unsure: Arc<Mutex<HashSet<PathBuf>>>,
    /// What ends the processes of calls, where the editor shows these.
    pub kills: Kills,
    /// The session, once it has a name: nobody is asked before.
    pub session: Arc<OnceLock<acp::SessionId>>,
}

impl OpenFiles {
    /// Those of an editor that offers to read or write files, in the folders that it names, or to show commands; nothing
    /// where it does not.
    pub fn of<'a>(
        editor: &ConnectionTo<Connected>,
        room: &Room,
        offered: &acp::ClientCapabilities,
        folders: impl Iterator<Item = &'a Path>,
    ) -> Option<Self> {
        let is_offered = offered.fs.read_text_file || offered.fs.write_text_file || offered.terminal;
        let resolved = |named: &Path| Some((named.canonicalize().ok()?, named.to_owned()));
        is_offered.then(|| Self {
            editor: editor.clone(),
            room: room.clone(),
            offered: offered.clone(),
            runtime: Handle::current(),
            folders: folders.filter_map(resolved).collect(),
            links: Arc::default(),
            silent: Arc::default(),
            unsure: Arc::default(),
            kills: Kills::default(),
            session: Arc::default(),
        })
    }

    /// The editor has these files open, or somebody mentioned them there. It may wait for the disk.
    pub fn learn(&self, files: impl Iterator<Item = PathBuf>) {
        let through_links = files.filter_map(|named| {
            let resolved = named.canonicalize().ok().filter(|resolved| *resolved != named)?;
            Some((resolved, named))
        });
        let through_links: Vec<_> = through_links.take(MOST_LINKS).collect();
        let mut links = self.links.lock().unwrap_or_else(PoisonError::into_inner);
        if links.len() + through_links.len() > MOST_LINKS {
            links.clear();
        }
        links.extend(through_links);
    }

    /// The same, as sessions are handed it.
    pub fn handed_over(&self) -> Editor {
        Editor(Arc::new(self.clone()))
    }

    /// Asks the editor on the runtime: whoever waits for it may be on no thread of that. What is to be saved in a file is
    /// taken back when nobody waits for it any more.
    fn ask<Req: JsonRpcRequest>(
        &self,
        saves: Option<PathBuf>,
        request: impl FnOnce(acp::SessionId) -> Req,
    ) -> BoxFuture<'static, Result<Req::Response, AppError>> {
        let Some(session) = self.session.get().cloned() else {
            return std::future::ready(Err(failed("the session has no name yet"))).boxed();
        };
        if self.silence().is_some_and(|until| Instant::now() < until) {
            return std::future::ready(Err(failed("it did not answer a moment ago"))).boxed();
        }
        let sent = self.editor.send_request(request(session.clone()));
        let (mut sender, answer) = oneshot::channel();
        let files = self.clone();
        self.runtime.spawn(async move {
            let taking_back = sent.cancellation_handle();
            let mut asked = pin!(sent.block_task());
            let in_time = tokio::select! {
                biased;
                told = &mut asked => Some(told),
                () = sender.closed(), if saves.is_some() => None,
                () = tokio::time::sleep(SOON) => None,
            };
            if let Some(told) = in_time {
                let _ = sender.send(told.map_err(|error| refused(&error)));
                return;
            }
            let is_stopped = sender.is_closed();
            let late = match &saves {
                Some(path) => {
                    files.unsure().insert(path.clone());
                    if let Err(error) = taking_back.cancel() {
                        tracing::debug!(%error, "the editor is gone");
                    }
                    unsure()
                }
                None => failed("it did not answer in time"),
            };
            // Before whoever asked goes on: they would ask again.
            if !is_stopped {
                files.went_silent(session).await;
            }
            let _ = sender.send(Err(late));
            if asked.await.is_ok() {
                *files.silence() = None;
            }
            if let Some(path) = &saves {
                files.unsure().remove(path);
            }
        });
        async move { answer.await.unwrap_or_else(|_| Err(failed("the editor is gone"))) }.boxed()
    }

    fn unsure(&self) -> MutexGuard<'_, HashSet<PathBuf>> {
        self.unsure.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn silence(&self) -> MutexGuard<'_, Option<Instant>> {
        self.silent.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// It is left alone for a while, and the person is told once in that.
    async fn went_silent(&self, session: acp::SessionId) {
        let before = self.silence().replace(Instant::now() + A_WHILE);
        if before.is_some_and(|until| Instant::now() < until) {
            return;
        }
        let words = "The editor does not answer for its files, so they are read and written as they are on the disk";
        if tokio::time::timeout(SOON, self.room.take()).await.is_err() {
            return;
        }
        let told = self.editor.send_notification(acp::SessionNotification::new(session, aside(words)));
        if let Err(error) = told {
            tracing::debug!(%error, "the editor is gone");
        }
    }
}

fn failed(words: &str) -> AppError {
    AppError::new(Trouble::Failed, words)
}

/// What the editor said no to.
fn refused(error: &agent_client_protocol::Error) -> AppError {
    let is_gone = agent_client_protocol::is_incoming_transport_closed(error);
    let more = error.data.as_ref().and_then(|data| data.as_str().or_else(|| data.get("details")?.as_str()));
    let words = more.map_or_else(|| error.message.clone(), |more| format!("{}: {more}", error.message));
    AppError::new(if is_gone { Trouble::Gone } else { Trouble::NotAllowed }, words)
}

fn unsure() -> AppError {
    AppError::new(Trouble::InUse, "it has not said whether it saved the text, and may still do so")
}

impl EditorFiles for OpenFiles {
    fn reads(&self) -> bool {
        self.offered.fs.read_text_file
    }

    fn writes(&self) -> bool {
        self.offered.fs.write_text_file
    }

    fn names(&self, path: &Path) -> Vec<PathBuf> {
        let named = |(resolved, named): &(PathBuf, PathBuf)| Some(named.join(path.strip_prefix(resolved).ok()?));
        let link = self.links.lock().unwrap_or_else(PoisonError::into_inner).get(path).cloned();
        link.into_iter().chain(self.folders.iter().filter_map(named)).collect()
    }

    fn has_folder_of(&self, path: &Path) -> bool {
        self.folders.iter().any(|(resolved, _)| path.starts_with(resolved))
    }

    fn read(&self, path: PathBuf) -> BoxFuture<'static, Result<String, AppError>> {
        let asked = self.ask(None, |session| acp::ReadTextFileRequest::new(session, path));
        async move { Ok(asked.await?.content) }.boxed()
    }

    fn write(&self, path: PathBuf, text: String) -> BoxFuture<'static, Result<(), AppError>> {
        if self.unsure().contains(&path) {
            return std::future::ready(Err(unsure())).boxed();
        }
        let asked = self.ask(Some(path.clone()), |session| acp::WriteTextFileRequest::new(session, path, text));
        async move { asked.await.map(drop) }.boxed()
    }

    fn runs(&self, call: &CallId, kill: Kill) {
        if self.offered.terminal {
            self.kills.lock().unwrap_or_else(PoisonError::into_inner).insert(call.clone(), kill);
        }
    }
}
