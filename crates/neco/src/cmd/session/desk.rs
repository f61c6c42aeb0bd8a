//! What the subcommands work with: the program on its store, or that of a server.

use std::path::Path;

use futures::StreamExt;
use neco_app::LocalApp;
use neco_app::{disk, services, sessions};
use neco_config::Env;
use neco_proto::app::opening::{OpenSession, WhichSession};
use neco_proto::app::sessions::{ListSessions, SessionRow, SessionState};
use neco_proto::app::{App, AppError, Caller, Request, Trouble};
use neco_proto::{Answer, Event, Query, SessionId, SessionSnapshot};
use neco_server::RemoteClient;
use neco_store::SqliteStore;
use tempfile::TempDir;

use crate::args::EverywhereArgs;
use crate::cmd::program::on_store;
use crate::compose;
use crate::failure::Failure;
use crate::print::paint::Paint;
use crate::say;
use crate::server;
use crate::short_id::ShortIds;
use crate::terminal;

/// What the subcommands work with.
pub struct Desk<'a> {
    /// The environment.
    pub env: &'a Env,
    /// What holds for every subcommand.
    pub everywhere: &'a EverywhereArgs,
    app: Program,
    /// Where the store is a copy, its folder.
    _copy: Option<TempDir>,
}

/// The program that is asked.
enum Program {
    /// This one, on its store.
    Here(LocalApp),
    /// That of a server.
    Server(RemoteClient),
}

/// Sessions of a server that are looked through for an id.
const LOOKED_THROUGH: usize = 10_000;

/// Sessions of a folder of which it is looked up how they stand.
const LAST: usize = 200;

impl<'a> Desk<'a> {
    /// Opens the store, or reaches the server that was named.
    pub async fn open(everywhere: &'a EverywhereArgs, env: &'a Env) -> Result<Self, Failure> {
        if let Some(url) = server::named(everywhere, env) {
            let app = Program::Server(server::reach(url, env).await?);
            return Ok(Self { env, everywhere, app, _copy: None });
        }
        let app = on_store(compose::open_store(env.data_dir()).await?, everywhere, env)?;
        Ok(Self { env, everywhere, app: Program::Here(app), _copy: None })
    }

    /// Opens the store to read in it. One that can't be written, as a backup or on a full disk, is read all the same.
    pub async fn open_to_read(everywhere: &'a EverywhereArgs, env: &'a Env) -> Result<Self, Failure> {
        let failure = match Self::open(everywhere, env).await {
            Err(failure) if !disk::has_room(env.data_dir()) => failure,
            opened => return opened,
        };
        let Ok(copy) = disk::copy_store(env.data_dir()) else { return Err(failure) };
        say::note("The data folder can't be written: what follows is read from a copy of it");
        let app = on_store(compose::open_store(copy.path()).await?, everywhere, env)?;
        Ok(Self { env, everywhere, app: Program::Here(app), _copy: Some(copy) })
    }

    /// Opens the store to remove something from it. On a full disk room is made first.
    pub async fn open_to_remove(everywhere: &'a EverywhereArgs, env: &'a Env) -> Result<Self, Failure> {
        let store = env.data_dir().join(services::STORE_FILE);
        loop {
            match Self::open(everywhere, env).await {
                // Each time something goes that was there.
                Err(_) if disk::is_full(env.data_dir()) && SqliteStore::make_room(&store).await => {}
                Err(failure) if disk::is_full(env.data_dir()) => return Err(failure.hint(disk::NO_ROOM)),
                opened => return opened,
            }
        }
    }

    /// The program.
    fn app(&self) -> &dyn App {
        match &self.app {
            Program::Here(app) => app,
            Program::Server(server) => server,
        }
    }

    /// Asks the program.
    pub async fn ask<R: Request>(&self, request: &R) -> Result<R::Answer, AppError> {
        self.app().ask(&Caller::person(), request).await
    }

    /// Calls `take` with every event of a session, oldest first, and whether it counts; all of those of a server do.
    pub async fn each_event(&self, id: SessionId, mut take: impl FnMut(&Event, bool)) -> Result<(), AppError> {
        let server = match &self.app {
            Program::Here(app) => return sessions::each_event(app, id, take).await,
            Program::Server(server) => server,
        };
        let wanted = OpenSession { which: WhichSession::Id(id.to_string()), attended: true, ..OpenSession::default() };
        let opened = server.open(&Caller::person(), wanted).await?;
        let Answer::Snapshot(SessionSnapshot { last_seq, .. }) = opened.client.ask(Query::Snapshot).await? else {
            return Err(AppError::new(Trouble::Failed, "the session does not answer"));
        };
        let mut events = opened.client.events(0).take(usize::try_from(last_seq).unwrap_or(usize::MAX));
        while let Some(event) = events.next().await {
            take(&event?, true);
        }
        Ok(())
    }

    /// Whether a session was left before its work was done; that of a server may always go on.
    pub async fn is_unfinished(&self, id: SessionId) -> Result<bool, AppError> {
        match &self.app {
            Program::Here(app) => sessions::is_unfinished(app, id).await,
            Program::Server(_) => Ok(true),
        }
    }

    /// The session whose id begins so; without one the last one of this folder.
    pub async fn named(&self, id: Option<&str>) -> Result<SessionRow, Failure> {
        let folder = self.folder(id.is_none())?;
        if let Program::Here(app) = &self.app {
            return Ok(sessions::session(app, id, Path::new(&folder)).await?);
        }
        let mut found = self.rows(id.is_none().then_some(folder)).await?;
        found.retain(|row| id.is_none_or(|id| row.id.to_string().starts_with(id)));
        let (several, first) = (found.len() > 1 && id.is_some(), found.into_iter().next());
        match first {
            Some(_) if several => Err(Failure::usage("several sessions have an id that begins so")),
            Some(row) => Ok(row),
            None => Err(Failure::usage("the server has no such session").hint("`neco session list --all` shows them.")),
        }
    }

    /// Whether a process has a session open, as far as it is among the last ones of its folder.
    pub async fn is_open(&self, session: &SessionRow) -> Result<bool, AppError> {
        let folder = Some(session.cwd.clone());
        let request = ListSessions { folder, limit: LAST, states: true, ..ListSessions::default() };
        let row = self.ask(&request).await?.sessions.into_iter().find(|row| row.id == session.id);
        Ok(row.is_some_and(|row| row.state == Some(SessionState::Open)))
    }

    async fn rows(&self, folder: Option<String>) -> Result<Vec<SessionRow>, AppError> {
        let request = ListSessions { folder, limit: LOOKED_THROUGH, ..ListSessions::default() };
        Ok(self.ask(&request).await?.sessions)
    }

    /// Writes what waits and closes the store.
    pub async fn close(self) -> Result<(), Failure> {
        match self.app {
            Program::Here(app) => Ok(app.close().await?),
            Program::Server(_) => Ok(()),
        }
    }

    /// Ids as short as they can be.
    pub async fn short_ids(&self) -> Result<ShortIds, Failure> {
        Ok(ShortIds::of(match &self.app {
            Program::Here(app) => sessions::ids(app).await?,
            Program::Server(_) => self.rows(None).await?.into_iter().map(|row| row.id).collect(),
        }))
    }

    /// The folder that is worked in; one that can't be used is an error only where its sessions are meant.
    pub fn folder(&self, is_meant: bool) -> Result<String, Failure> {
        let folder = match crate::folder(self.everywhere) {
            Err(_) if !is_meant => self.everywhere.cwd.clone().unwrap_or_default(),
            folder => folder?,
        };
        Ok(folder.display().to_string())
    }

    /// Colours for what is printed.
    pub fn paint(&self) -> Paint {
        terminal::look_at(self.env).stdout_paint()
    }

    /// Columns for what is printed; unlimited when a program reads it.
    pub fn width(&self) -> usize {
        terminal::look_at(self.env).stdout_width()
    }
}
