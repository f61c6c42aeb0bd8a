//! The program on the store that the sessions of a process have, which is opened when it is first needed.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use futures::future::BoxFuture;
use futures::stream::BoxStream;
use futures::{FutureExt, StreamExt};
use neco_proto::app::opening::{OpenSession, OpenedSession};
use neco_proto::app::rules::GivenRules;
use neco_proto::app::{App, AppError, Call, Caller, Scope, Trouble};
use neco_proto::{ApprovalMode, Client, SessionId};
use neco_store::{SessionRecord, SqliteStore};
use serde_json::Value;
use tokio::sync::Mutex;

use crate::app::{LocalApp, ROUTES, StorelessApp, may, needs_store, whole};
use crate::error::{failed, of_session};
use crate::open_sessions::{Around, OpenSessions};
use crate::opening::Opener;
use crate::watching::nothing_but;
use crate::workspace::Workspaces;
use crate::{disk, services};

pub use crate::open_sessions::HeldSessions;

/// The program of a process that opens sessions: on their store, and they are told what must reach them at once.
///
/// ```no_run
/// # async fn example(env: neco_config::Env) -> Result<(), neco_proto::app::AppError> {
/// use std::sync::Arc;
///
/// use neco_app::shared::SharedApp;
/// use neco_app::workspace::Workspaces;
/// use neco_proto::app::opening::OpenSession;
/// use neco_proto::app::{App, Caller};
///
/// let workspaces = Arc::new(Workspaces::new(env));
/// let app = SharedApp::new(workspaces, Vec::new(), "/srv/one".as_ref(), Arc::new(()));
/// let wanted = OpenSession { folder: "/srv/two".to_owned(), ..OpenSession::default() };
/// let opened = app.open(&Caller::person(), wanted).await?;
/// app.close(opened.client).await?;
/// app.stop().await
/// # }
/// ```
pub struct SharedApp {
    workspaces: Arc<Workspaces>,
    /// The folder whose settings say where files of sessions are kept.
    folder: PathBuf,
    /// Settings that were given with `-c`.
    overrides: Vec<String>,
    opener: Arc<dyn Opener>,
    storeless: StorelessApp,
    opened: Mutex<Option<Arc<LocalApp>>>,
    sessions: OpenSessions,
}

impl SharedApp {
    /// With the settings that were given with `-c`, and those of `folder` about where files of sessions are kept.
    pub fn new(workspaces: Arc<Workspaces>, overrides: Vec<String>, folder: &Path, opener: Arc<dyn Opener>) -> Self {
        let storeless = StorelessApp::new(workspaces.env().clone(), overrides.clone());
        let storeless = storeless.knowing(workspaces.running_sessions());
        let (folder, sessions) = (folder.to_owned(), OpenSessions::default());
        Self { workspaces, folder, overrides, opener, storeless, opened: Mutex::default(), sessions }
    }

    /// The folders that are worked in, and the one store of all of them.
    pub fn workspaces(&self) -> &Workspaces {
        &self.workspaces
    }

    /// Whether the agent of a session, which was done a moment ago, works on something that a window of another process
    /// said. When it does not, nothing more is taken of them.
    pub async fn goes_on(&self, client: &Arc<dyn Client>) -> bool {
        self.sessions.goes_on(client).await
    }

    /// Hands a session over to another process, which opens it with what is given back: it goes on there with its work.
    /// Begins no turn any more, waits until the present one is over or `hurry` is ready, and cuts short what runs then.
    /// Whoever stops waiting has it go on here.
    ///
    /// # Errors
    /// When this process does not have it open, or it can't be gone on with elsewhere.
    pub async fn hand_over(
        &self,
        session: SessionId,
        hurry: impl Future<Output = ()>,
    ) -> Result<OpenSession, AppError> {
        self.sessions.hand_over(session, hurry).await
    }

    /// Has all sessions of this process begin no turn any more, as long as what is given back is there, and waits at most
    /// so long until the present ones are over.
    pub async fn hold_all(&self, patience: Duration) -> HeldSessions {
        self.sessions.hold_all(patience).await
    }

    /// Hands all sessions of this process over as they are; those that can't be are left, and ended with the process.
    pub async fn hand_all_over(&self) -> Vec<OpenSession> {
        self.sessions.hand_all_over().await
    }

    /// Leaves the work of the sessions of this process to whoever resumes it, as a crash would.
    pub async fn leave_work(&self) {
        self.sessions.leave_work().await;
    }

    /// Stops everything that the sessions of this process do: nothing is asked of a model when they end.
    pub async fn stop_all(&self) {
        self.sessions.stop_all().await;
    }

    /// Ends all sessions that were not handed back, each as [`close`](App::close) does.
    pub async fn close_all(&self) -> Vec<Result<Option<SessionId>, AppError>> {
        self.sessions.close_all(self.opener.as_ref()).await
    }

    /// Writes what waits and closes the store; after all sessions have ended.
    ///
    /// # Errors
    /// When something could not be written.
    pub async fn stop(&self) -> Result<(), AppError> {
        self.let_go().await;
        self.workspaces.close().await
    }

    /// Writes what waits, for whoever ends the process without stopping anything.
    pub fn write_all(&self) -> impl Future<Output = ()> + Send + 'static {
        let workspaces = Arc::clone(&self.workspaces);
        async move { workspaces.write_all().await }
    }

    /// Lets go of the store; the next question takes it again.
    async fn let_go(&self) {
        self.opened.lock().await.take();
    }

    async fn opened(&self) -> Result<Arc<LocalApp>, AppError> {
        let mut opened = self.opened.lock().await;
        if let Some(app) = opened.as_ref() {
            return Ok(Arc::clone(app));
        }
        let (store, aside) = self.workspaces.store().await?;
        aside.iter().for_each(|aside| self.opener.tell(&aside.to_string()));
        let app = Arc::new(self.on(store).await?.reaching(Arc::clone(&self.opener)));
        *opened = Some(Arc::clone(&app));
        Ok(app)
    }

    /// The program on a store. Settings are read for it, and a keyring is asked.
    async fn on(&self, store: Arc<SqliteStore>) -> Result<LocalApp, AppError> {
        let (storeless, folder) = (self.storeless.clone(), self.folder.clone());
        tokio::task::spawn_blocking(move || LocalApp::on(storeless, store, &folder)).await.map_err(failed)?
    }

    /// Refuses whoever may only read a look into a folder that no session works in: any folder of the machine can be
    /// named.
    async fn may_look(&self, caller: &Caller, call: &Call) -> Result<(), AppError> {
        let folder = call.arguments.get("folder").and_then(Value::as_str).filter(|folder| !folder.is_empty());
        let Some(folder) = folder.filter(|_| caller.scope < Scope::Work) else { return Ok(()) };
        let works_there = |record: &SessionRecord| Path::new(&record.cwd) == Path::new(folder);
        let sessions =
            self.opened().await?.hub.list(Some(Path::new(folder)), usize::MAX >> 1).await.map_err(of_session)?;
        if sessions.iter().any(works_there) {
            return Ok(());
        }
        let words = format!("no session works in {folder}, and others are not for whoever may only {}", caller.scope);
        Err(AppError::new(Trouble::NotAllowed, words).hint("A token of scope steer may look into any folder."))
    }

    async fn answer(&self, caller: &Caller, call: Call) -> Result<Value, AppError> {
        self.may_look(caller, &call).await?;
        if !needs_store(&call) {
            return self.storeless.call(caller, call).await;
        }
        let data_dir = self.workspaces.env().data_dir();
        let app = match self.opened().await {
            Ok(app) => app,
            Err(_) if only_reads(&call) && !disk::has_room(data_dir) => {
                return self.answer_from_copy(caller, call).await;
            }
            Err(error) => return Err(error),
        };
        let answer = app.call(caller, call).await;
        // What was found damaged is set aside when it is opened again.
        if answer.is_err() && disk::is_doubted(data_dir) {
            self.let_go().await;
        }
        answer
    }

    /// A store that can't be written is read all the same.
    async fn answer_from_copy(&self, caller: &Caller, call: Call) -> Result<Value, AppError> {
        let cannot = |error| failed(format!("the store can't be copied: {error}"));
        let data_dir = self.workspaces.env().data_dir().to_owned();
        let copied = tokio::task::spawn_blocking(move || disk::copy_store(&data_dir)).await;
        let copy = copied.map_err(failed)?.map_err(cannot)?;
        self.opener.tell("The data folder can't be written: what follows is read from a copy of it");
        let store = services::open_store(copy.path()).await?;
        let app = self.on(store).await?;
        let answer = app.call(caller, call).await;
        app.close().await?;
        answer
    }
}

/// Whether an opening allows what only whoever manages the rules may allow.
fn loosens(wanted: &OpenSession) -> bool {
    // All fields stand here: whoever adds one decides about it.
    let OpenSession {
        given: GivenRules { allow, add_dir, ask: _, deny: _ },
        approval,
        servers,
        settings,
        environment,
        which: _,
        folder: _,
        chose_folder: _,
        loosens_in: _,
        tools: _,
        model: _,
        mode: _,
        generation: _,
        max_turns: _,
        max_cost: _,
        max_tokens: _,
        role: _,
        beside: _,
        editor: _,
        attended: _,
        interactive: _,
    } = wanted;
    // A server is a program that is started, outside of the box where its settings say so; a variable says which programs
    // are.
    let starts = !servers.is_empty() || !settings.is_empty() || environment.is_some();
    !allow.is_empty() || !add_dir.is_empty() || approval.is_some_and(may_ask_less) || starts
}

/// Whether less may be asked than the settings say, whatever they say.
fn may_ask_less(approval: ApprovalMode) -> bool {
    approval < ApprovalMode::Manual
}

fn only_reads(call: &Call) -> bool {
    ROUTES.iter().any(|route| route.name == call.name && route.scope == Scope::Read)
}

impl App for SharedApp {
    fn call<'a>(&'a self, caller: &'a Caller, call: Call) -> BoxFuture<'a, Result<Value, AppError>> {
        self.answer(caller, call).boxed()
    }

    fn stream<'a>(&'a self, caller: &'a Caller, call: Call) -> BoxStream<'a, Result<Value, AppError>> {
        async move {
            match self.may_look(caller, &call).await {
                Err(error) => return nothing_but(error),
                Ok(()) if !needs_store(&call) => return self.storeless.stream(caller, call),
                Ok(()) => {}
            }
            match self.opened().await {
                Ok(app) => app.items(caller, call),
                Err(error) => nothing_but(error),
            }
        }
        .flatten_stream()
        .boxed()
    }

    fn open<'a>(&'a self, caller: &'a Caller, wanted: OpenSession) -> BoxFuture<'a, Result<OpenedSession, AppError>> {
        async move {
            let scope = if loosens(&wanted) { Scope::Manage } else { Scope::Work };
            may(caller, scope, "opening a session so")?;
            whole(&wanted.folder)?;
            let (overrides, opener) = (self.overrides.as_slice(), self.opener.as_ref());
            let opened = self.sessions.open(wanted, Around { workspaces: &self.workspaces, overrides, opener }).await;
            // What was found damaged is set aside when it is opened again.
            if opened.is_err() && disk::is_doubted(self.workspaces.env().data_dir()) {
                self.let_go().await;
            }
            opened
        }
        .boxed()
    }

    fn close(&self, client: Arc<dyn Client>) -> BoxFuture<'_, Result<Option<SessionId>, AppError>> {
        async move { self.sessions.close(&client, self.opener.as_ref()).await }.boxed()
    }

    fn is_watched(&self, session: SessionId) -> bool {
        self.sessions.is_watched(session)
    }
}

#[cfg(test)]
mod tests {
    use neco_proto::ApprovalMode;
    use neco_proto::app::opening::{Environment, GivenServer};

    use super::*;

    #[test]
    fn an_opening_that_starts_programs_or_asks_less_loosens() {
        let given = |given: GivenRules| OpenSession { given, ..OpenSession::default() };
        let some = || vec!["x".to_owned()];
        let server = GivenServer {
            name: "x".to_owned(),
            server: serde_json::json!({ "command": "sh", "args": ["-c", "id"], "sandbox": false }),
        };
        assert!(loosens(&OpenSession { servers: vec![server], ..OpenSession::default() }));
        assert!(loosens(&OpenSession { settings: some(), ..OpenSession::default() }));
        assert!(loosens(&OpenSession { environment: Some(Environment::default()), ..OpenSession::default() }));
        for approval in [ApprovalMode::Auto, ApprovalMode::AcceptEdits, ApprovalMode::AskFirst] {
            assert!(loosens(&OpenSession { approval: Some(approval), ..OpenSession::default() }), "{approval}");
        }
        assert!(!loosens(&OpenSession { approval: Some(ApprovalMode::Manual), ..OpenSession::default() }));
        assert!(loosens(&given(GivenRules { allow: some(), ..GivenRules::default() })));
        assert!(loosens(&given(GivenRules { add_dir: some(), ..GivenRules::default() })));
        assert!(!loosens(&given(GivenRules { ask: some(), deny: some(), ..GivenRules::default() })));
        assert!(!loosens(&OpenSession { folder: "/project".to_owned(), tools: some(), ..OpenSession::default() }));
    }
}
