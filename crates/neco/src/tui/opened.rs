//! The sessions that windows of this process have open, and what each stands on.

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use neco_app::opening::Opened;
use neco_app::services::Services;
use neco_app::workspace::Workspaces;
use neco_config::Env;
use neco_proto::{Client, Command, ErrorCode, Seq};
use neco_session::Session;
use neco_tui::line::repl::signals::was_said;
use neco_workspace::worktree::Held;
use tokio::runtime::Handle;

use crate::args::{EverywhereArgs, RunArgs};
use crate::ask::Tty;
use crate::compose;
use crate::failure::Failure;
use crate::run::attach::{self, Which};
use crate::run::guest;
use crate::run::request::Request;
use crate::run::socket::SocketServer;
use crate::say;
use crate::short_id::short_id;

/// How long sessions may take to end when the process does.
const LAST_WORDS: Duration = Duration::from_secs(30);

/// How long a session may take to say how it stands.
const SOON: Duration = Duration::from_secs(2);

/// A session that is open.
struct Kept {
    client: Arc<dyn Client>,
    /// Nothing when another process has it open.
    own: Option<(Services, Session, SocketServer)>,
    /// That somebody works there, should it be a worktree of ours.
    _held: Option<Held>,
}

/// The sessions that are open.
pub struct OpenSessions {
    everywhere: EverywhereArgs,
    env: Env,
    workspaces: Arc<Workspaces>,
    runtime: Handle,
    kept: Mutex<Vec<Kept>>,
    said: Mutex<Option<String>>,
    /// The session opened last and the process that has it open, when that is another one.
    attached: Mutex<Option<(String, u32)>>,
}

/// A session that was just opened.
pub struct Fresh {
    /// The way to it.
    pub client: Arc<dyn Client>,
    /// Where it works.
    pub folder: PathBuf,
}

impl OpenSessions {
    /// None yet.
    #[must_use]
    pub fn new(everywhere: EverywhereArgs, env: Env, runtime: Handle) -> Self {
        let workspaces = Arc::new(Workspaces::new(env.clone()));
        Self {
            everywhere,
            env,
            workspaces,
            runtime,
            kept: Mutex::default(),
            said: Mutex::default(),
            attached: Mutex::default(),
        }
    }

    /// The folders that they work in, and the one store of all of them.
    #[must_use]
    pub fn workspaces(&self) -> &Arc<Workspaces> {
        &self.workspaces
    }

    /// Opens the session that `args` ask for, for work in `folder`, or attaches to the process that has it
    /// open. What the person should know is said. `tty` is where they can be asked, while nothing else has the
    /// terminal; `loosens_in` is the only folder in which what `args` loosen holds.
    ///
    /// # Errors
    /// When it can't be opened.
    pub async fn open(
        &self,
        args: &RunArgs,
        folder: &Path,
        tty: Option<&Tty>,
        loosens_in: Option<&Path>,
    ) -> Result<Fresh, Failure> {
        if let Some(fresh) = self.attach(args, folder).await? {
            return Ok(fresh);
        }
        let (everywhere, env) = (&self.everywhere, &self.env);
        let workspaces = &self.workspaces;
        let request = Request { args, everywhere, env, workspaces, tty, loosens_in, attended: true, interactive: true };
        let Opened { services, session, folder, held, notes } = request.open(folder).await?;
        notes.iter().for_each(|words| say::note(words));
        let others = SocketServer::serve(&self.runtime, &session, &services, everywhere, env);
        *self.attached.lock().unwrap_or_else(PoisonError::into_inner) = None;
        let client: Arc<dyn Client> = Arc::new(session.clone());
        self.keep(Kept { client: Arc::clone(&client), own: Some((services, session, others)), _held: held });
        Ok(Fresh { client, folder })
    }

    async fn attach(&self, args: &RunArgs, folder: &Path) -> Result<Option<Fresh>, Failure> {
        let which = match (&args.session, args.continue_latest) {
            (Some(id), _) => Which::Id(id),
            (None, true) => Which::Latest(folder),
            (None, false) => return Ok(None),
        };
        let Some(begun) = guest::begin(which, &self.env, None).await? else { return Ok(None) };
        if begun.owner == std::process::id() {
            return Err(Failure::usage("this window has that session open already".to_owned()));
        }
        attach::left_out(args).iter().for_each(|words| say::note(words));
        let id = short_id(begun.id());
        say::note("Also open in another window; both show the same");
        *self.attached.lock().unwrap_or_else(PoisonError::into_inner) = Some((id, begun.owner));
        let folder = begun.folder();
        self.keep(Kept { client: Arc::clone(&begun.client), own: None, _held: None });
        Ok(Some(Fresh { client: begun.client, folder }))
    }

    /// Those that this process has open.
    fn own(&self) -> Vec<Session> {
        let kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        kept.iter().filter_map(|kept| kept.own.as_ref().map(|(_, session, _)| session.clone())).collect()
    }

    fn keep(&self, kept: Kept) {
        self.kept.lock().unwrap_or_else(PoisonError::into_inner).push(kept);
    }

    /// Ends a session; one of another process is left. The last one stays open until the process ends: what is
    /// done at its end may take a while, and the person is told of it once the terminal is free.
    pub async fn close(&self, client: &Arc<dyn Client>) {
        let kept = {
            let mut all = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
            let place = all.iter().position(|kept| Arc::ptr_eq(&kept.client, client));
            place.filter(|_| all.len() > 1).map(|place| all.swap_remove(place))
        };
        if let Some(kept) = kept {
            self.put_away(kept).await;
        }
    }

    /// Stops everything that the sessions of this process do: nothing is asked of a model when they end.
    pub async fn stop_all(&self) {
        let sessions = self.own();
        let stops = sessions.iter().map(|session| session.send(Command::StopAll));
        // One that does not answer is ended all the same.
        let _ = tokio::time::timeout(SOON, futures::future::join_all(stops)).await;
    }

    /// Ends all that are left.
    pub async fn close_all(&self) {
        let all = std::mem::take(&mut *self.kept.lock().unwrap_or_else(PoisonError::into_inner));
        let ends = futures::future::join_all(all.into_iter().map(|kept| self.put_away(kept)));
        if tokio::time::timeout(LAST_WORDS, ends).await.is_err() {
            say::note("not everything could be ended in time; what was said is kept");
            return;
        }
        // What could not be written is told already, with the end of its session.
        if let Err(error) = self.workspaces.close().await {
            tracing::warn!(%error, "the store could not be closed");
        }
    }

    /// The last session that was left and in which something was said, as people write it.
    #[must_use]
    pub fn last_said(&self) -> Option<String> {
        self.said.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// The session on the screen and the process that has it open, when that is another one.
    #[must_use]
    pub fn attached(&self) -> Option<(String, u32)> {
        self.attached.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// What a person should know when the session on the screen ends without their doing.
    #[must_use]
    pub fn ended(&self) -> String {
        match &*self.attached.lock().unwrap_or_else(PoisonError::into_inner) {
            Some((id, owner)) => {
                format!("process {owner}, which had this session open, has left it; go on with it: neco --session {id}")
            }
            None => "the session has ended".to_owned(),
        }
    }

    /// Nothing stays of a session in which nothing was said.
    async fn put_away(&self, kept: Kept) {
        let asked = tokio::time::timeout(SOON, was_said(kept.client.as_ref())).await;
        let is_over = matches!(asked, Ok(Err(_)));
        let said = match asked {
            Ok(Ok(said)) => Some(said),
            // The session is over, for it could not be kept any more: its log says what was said.
            Ok(Err(_)) => of_log(kept.own.as_ref()).await,
            Err(_) => None,
        };
        // Whoever does not answer may well have something to keep.
        let keep = said.as_ref().is_none_or(Option::is_some);
        if let Some(Some(id)) = said {
            *self.said.lock().unwrap_or_else(PoisonError::into_inner) = Some(id);
        }
        let Some((services, session, others)) = kept.own else { return };
        drop(kept.client);
        // What could not be written is told already, with the end of the session.
        if let Err(failure) = compose::put_away(services, session, others, keep).await
            && !(is_over && failure.code == Some(ErrorCode::StoreFailed))
        {
            say::note(&failure.message);
        }
    }
}

/// The session as people write it, if anything was said in one that does not answer any more; nothing when its log can't be read.
async fn of_log(own: Option<&(Services, Session, SocketServer)>) -> Option<Option<String>> {
    let (services, session, _) = own?;
    let course = services.hub.course(session.id()).await.ok()?;
    Some(course.is_said(Seq::MAX).then(|| short_id(session.id())))
}
