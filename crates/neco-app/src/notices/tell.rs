//! How a person is told: on the desktop, by a command of theirs, by a webhook.

use std::ffi::OsString;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use neco_config::section::NotificationsSection;
use neco_config::{Config, Env, LoadOptions, load};
use neco_proto::app::AppError;
use neco_safety::world::{Allowance, Exit, Launch, Leftovers, Processes, Progress, Stdin};
use neco_sandbox::Spawner;
use tokio::sync::{Semaphore, SemaphorePermit};

use super::watch::Notice;
use super::webhook::Webhook;
use crate::error::failed;
use crate::opening::on_thread;
use crate::services::{environment, hidden_variables};

/// Notices that are on their way at a time, each way by itself; what is more is logged and not told.
const MOST: usize = 32;

/// How long a program may take that shows a notice or hands it on.
const PATIENCE: Duration = Duration::from_secs(30);

/// Tells a person. Clones share what they have on their way.
#[derive(Clone)]
pub(crate) struct Teller {
    env: Env,
    overrides: Arc<[String]>,
    /// Those for which the settings are just read.
    begun: Arc<Semaphore>,
    ways: Arc<Ways>,
}

/// What is on its way, by each of the ways: one that leads nowhere keeps the others from nothing.
struct Ways {
    desktop: Semaphore,
    command: Semaphore,
    webhook: Semaphore,
}

impl Teller {
    /// With the settings of the person, which are read for every notice, and of the command line.
    pub fn new(env: &Env, overrides: &[String]) -> Self {
        let way = || Semaphore::new(MOST);
        let ways = Arc::new(Ways { desktop: way(), command: way(), webhook: way() });
        Self { env: env.clone(), overrides: overrides.into(), begun: Arc::new(way()), ways }
    }

    /// Tells it in every way that the settings name. Nobody waits for that.
    pub fn tell(&self, notice: Notice) {
        let Ok(permit) = Arc::clone(&self.begun).try_acquire_owned() else {
            tracing::warn!(session = %notice.session, "a notice is not told: too many are on their way");
            return;
        };
        let teller = self.clone();
        tokio::spawn(async move {
            let Some(config) = teller.config().await else { return };
            drop(permit);
            teller.tell_all(&config, &notice).await;
        });
    }

    async fn tell_all(&self, config: &Config, notice: &Notice) {
        let NotificationsSection { desktop, command, webhook, webhook_secret_env, webhook_private } =
            &config.notifications;
        let on_desktop = async {
            if *desktop && let Some(_place) = place(&self.ways.desktop, "the desktop") {
                let (program, arguments) = shows(notice);
                logged("the desktop", self.run(config, program, arguments, Vec::new()).await);
            }
        };
        let by_command = async {
            if let Some(command) = command
                && let Some(_place) = place(&self.ways.command, "the command of notifications")
            {
                let json = serde_json::to_vec(notice).unwrap_or_default();
                let arguments = vec!["-c".into(), command.into()];
                logged("the command of notifications", self.run(config, "sh", arguments, json).await);
            }
        };
        let by_webhook = async {
            if let Some(address) = webhook
                && let Some(_place) = place(&self.ways.webhook, "the webhook")
            {
                let environment = environment(&self.env);
                let hook = Webhook::new(address, webhook_secret_env.as_deref(), *webhook_private, &environment);
                let told = async { hook?.tell(notice).await };
                logged("the webhook", told.await);
            }
        };
        futures::join!(on_desktop, by_command, by_webhook);
    }

    /// The settings of the person alone: no repository decides what is run or sent.
    async fn config(&self) -> Option<Config> {
        let (env, overrides) = (self.env.clone(), Arc::clone(&self.overrides));
        let loaded = on_thread(move || {
            let loaded = load(LoadOptions { env: &env, cwd: env.home(), overrides: &overrides });
            loaded.map(|loaded| loaded.config).map_err(failed)
        });
        loaded
            .await
            .inspect_err(|error| tracing::warn!(%error, "a notice is not told: the settings can't be read"))
            .ok()
    }

    /// Runs a program of the person's, outside of the box, without the keys of this process.
    async fn run(
        &self,
        config: &Config,
        program: &str,
        arguments: Vec<OsString>,
        input: Vec<u8>,
    ) -> Result<(), AppError> {
        let spawner = Spawner::new(environment(&self.env), &hidden_variables(config));
        let launch = Launch {
            program: program.into(),
            arguments,
            folder: PathBuf::from(self.env.home()),
            stdin: Stdin::Piped,
            terminal: false,
            leftovers: Leftovers::End,
            variables: Vec::new(),
            errors: None,
        };
        let mut running = Processes::run(&spawner, launch, Allowance::default()).await.map_err(failed)?;
        let pipe = running.take_input();
        // Whoever does not read what it is told has its reasons.
        let feed = async move {
            if let Some(mut pipe) = pipe
                && pipe.write_all(&input).await.is_ok()
            {
                let _ = pipe.end().await;
            }
        };
        let ends = async {
            loop {
                if let Progress::Ended(ending) = running.next().await {
                    return ending.exit;
                }
            }
        };
        // Dropping the process kills its group.
        match tokio::time::timeout(PATIENCE, futures::future::join(ends, feed)).await {
            Ok((Exit::Code(0), ())) => Ok(()),
            Ok((exit, ())) => Err(failed(format!("{program}: {exit:?}"))),
            Err(_) => Err(failed(format!("{program} took longer than {} s", PATIENCE.as_secs()))),
        }
    }
}

/// A place among what is on its way, if there is one.
fn place<'a>(way: &'a Semaphore, by: &str) -> Option<SemaphorePermit<'a>> {
    let place = way.try_acquire();
    place.inspect_err(|_| tracing::warn!(by, "a notice is not told: too many are on their way")).ok()
}

fn logged(by: &str, told: Result<(), AppError>) {
    if let Err(error) = told {
        tracing::warn!(%error, by, "a notice was not told");
    }
}

/// The program that shows a notice on the desktop.
fn shows(notice: &Notice) -> (&'static str, Vec<OsString>) {
    let (title, text) = ("Neco".to_owned(), notice.line());
    match cfg!(target_os = "macos") {
        true => {
            let script = "on run argv\ndisplay notification (item 2 of argv) with title (item 1 of argv)\nend run";
            ("osascript", ["-e".to_owned(), script.to_owned(), title, text].map(OsString::from).into())
        }
        false => {
            let name = "--app-name=Neco".to_owned();
            ("notify-send", [name, "--".to_owned(), title, text].map(OsString::from).into())
        }
    }
}
