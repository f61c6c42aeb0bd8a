//! The editor's files, for the session that it opened: what is typed there and not saved is what is read.

use std::path::PathBuf;
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use agent_client_protocol::v1::ConnectionTo;
use agent_client_protocol::v1::schema as acp;
use agent_client_protocol::{Client as Connected, Error};
use futures::FutureExt;
use futures::future::BoxFuture;
use neco_proto::app::opening::{Editor, EditorFiles};
use neco_proto::app::{AppError, Trouble};
use tokio::runtime::Handle;
use tokio::sync::oneshot;

/// How long an editor may take for a file; then the disk has it.
const SOON: Duration = Duration::from_secs(10);

/// The files of an editor.
#[derive(Clone)]
pub(crate) struct OpenFiles {
    editor: ConnectionTo<Connected>,
    offered: acp::FileSystemCapabilities,
    runtime: Handle,
    /// The session, once it has a name: nobody is asked before.
    pub session: Arc<OnceLock<acp::SessionId>>,
}

impl OpenFiles {
    /// Those of an editor that offers to read or write files; nothing where it does not.
    pub fn of(editor: &ConnectionTo<Connected>, offered: &acp::FileSystemCapabilities) -> Option<Self> {
        let is_offered = offered.read_text_file || offered.write_text_file;
        is_offered.then(|| Self {
            editor: editor.clone(),
            offered: offered.clone(),
            runtime: Handle::current(),
            session: Arc::default(),
        })
    }

    /// The same, as sessions are handed it.
    pub fn handed_over(&self) -> Editor {
        Editor(Arc::new(self.clone()))
    }

    /// Asks the editor on the runtime: whoever waits for it may be on no thread of that.
    fn ask<T: Send + 'static>(
        &self,
        asks: impl FnOnce(ConnectionTo<Connected>, acp::SessionId) -> BoxFuture<'static, Result<T, Error>> + Send + 'static,
    ) -> BoxFuture<'static, Result<T, AppError>> {
        let Some(session) = self.session.get().cloned() else {
            return std::future::ready(Err(failed("the session has no name yet"))).boxed();
        };
        let (sender, answer) = oneshot::channel();
        let asked = asks(self.editor.clone(), session);
        self.runtime.spawn(async move {
            let answer = match tokio::time::timeout(SOON, asked).await {
                Ok(answer) => answer.map_err(|error| failed(&error.message)),
                Err(_) => Err(failed("it did not answer in time")),
            };
            let _ = sender.send(answer);
        });
        async move { answer.await.unwrap_or_else(|_| Err(failed("the editor is gone"))) }.boxed()
    }
}

fn failed(words: &str) -> AppError {
    AppError::new(Trouble::Failed, words)
}

impl EditorFiles for OpenFiles {
    fn reads(&self) -> bool {
        self.offered.read_text_file
    }

    fn writes(&self) -> bool {
        self.offered.write_text_file
    }

    fn read(&self, path: PathBuf) -> BoxFuture<'static, Result<String, AppError>> {
        self.ask(|editor, session| {
            let request = acp::ReadTextFileRequest::new(session, path);
            async move { Ok(editor.send_request(request).block_task().await?.content) }.boxed()
        })
    }

    fn write(&self, path: PathBuf, text: String) -> BoxFuture<'static, Result<(), AppError>> {
        self.ask(|editor, session| {
            let request = acp::WriteTextFileRequest::new(session, path, text);
            async move { editor.send_request(request).block_task().await.map(drop) }.boxed()
        })
    }
}
