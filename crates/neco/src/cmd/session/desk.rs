//! What the subcommands work with: the program on its store.

use std::path::Path;

use neco_app::LocalApp;
use neco_app::{disk, services, sessions};
use neco_config::Env;
use neco_proto::app::sessions::SessionRow;
use neco_proto::app::{App, AppError, Caller, Request};
use neco_store::SqliteStore;
use tempfile::TempDir;

use crate::args::EverywhereArgs;
use crate::cmd::program::on_store;
use crate::compose;
use crate::failure::Failure;
use crate::print::paint::Paint;
use crate::say;
use crate::short_id::ShortIds;
use crate::terminal;

/// What the subcommands work with.
pub struct Desk<'a> {
    /// The environment.
    pub env: &'a Env,
    /// What holds for every subcommand.
    pub everywhere: &'a EverywhereArgs,
    app: LocalApp,
    /// Where the store is a copy, its folder.
    _copy: Option<TempDir>,
}

impl<'a> Desk<'a> {
    /// Opens the store.
    pub async fn open(everywhere: &'a EverywhereArgs, env: &'a Env) -> Result<Self, Failure> {
        let app = on_store(compose::open_store(env.data_dir()).await?, everywhere, env)?;
        Ok(Self { env, everywhere, app, _copy: None })
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
        Ok(Self { env, everywhere, app, _copy: Some(copy) })
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

    /// The program on this store.
    pub fn app(&self) -> &LocalApp {
        &self.app
    }

    /// Asks the program.
    pub async fn ask<R: Request>(&self, request: &R) -> Result<R::Answer, AppError> {
        let app: &dyn App = &self.app;
        app.ask(&Caller::person(), request).await
    }

    /// The session whose id begins so; without one the last one of this folder.
    pub async fn named(&self, id: Option<&str>) -> Result<SessionRow, Failure> {
        Ok(sessions::session(&self.app, id, Path::new(&self.folder(id.is_none())?)).await?)
    }

    /// Writes what waits and closes the store.
    pub async fn close(self) -> Result<(), Failure> {
        Ok(self.app.close().await?)
    }

    /// Ids as short as they can be.
    pub async fn short_ids(&self) -> Result<ShortIds, Failure> {
        Ok(ShortIds::of(sessions::ids(&self.app).await?))
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
