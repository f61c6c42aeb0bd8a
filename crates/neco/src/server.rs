//! The server: the one of this machine and data folder, found or started, and those elsewhere.

use std::fs::File;
use std::io;
use std::net::Ipv4Addr;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use neco_config::Env;
use neco_server::http::access::main_token;
use neco_server::http::found::{self, Found, find, is_taken};
use neco_server::http::tls::shown_certificate;
use neco_server::http::trust::Trust;
use neco_server::http::{DEFAULT_PORT, can_be_read, connect_trusting};
use neco_server::{AttachError, RemoteClient};

use crate::args::EverywhereArgs;
use crate::exit::Exit;
use crate::failure::Failure;

/// How long a server may take until it listens.
const START: Duration = Duration::from_secs(20);

/// How long another process may take that is just starting one, or ending.
const OTHERS: Duration = Duration::from_secs(60);

/// How long until it is looked again.
const PAUSE: Duration = Duration::from_millis(30);

/// The folder of the server of this data folder.
pub fn run_folder(env: &Env) -> PathBuf {
    found::folder(env.data_dir())
}

/// The server that the command line, or the environment, names.
pub fn named<'a>(everywhere: &'a EverywhereArgs, env: &'a Env) -> Option<&'a str> {
    everywhere.server.as_deref().or_else(|| env.var("NECO_SERVER")).filter(|url| !url.is_empty())
}

/// The server of this machine and data folder, if one runs.
pub fn here(env: &Env) -> Result<Option<Found>, Failure> {
    let folder = run_folder(env);
    find(&folder).map_err(|error| unusable(&folder.display().to_string(), &error))
}

/// The same, started if none runs.
pub fn started(env: &Env) -> Result<Found, Failure> {
    match here(env)? {
        Some(found) => Ok(found),
        None => start(&["--on-demand".to_owned()], env),
    }
}

/// Starts a server that goes on when this process ends.
pub fn start(flags: &[String], env: &Env) -> Result<Found, Failure> {
    let cannot =
        |error: &dyn std::fmt::Display| Failure::new(Exit::Failed, format!("the server can't be started: {error}"));
    let folder = run_folder(env);
    std::fs::create_dir_all(&folder).map_err(|error| cannot(&error))?;
    let told = folder.join("server.log");
    let taken = || is_taken(&folder).map_err(|error| cannot(&error));
    let spawn = || spawn(flags, &told, taken()?, env).map_err(|error| cannot(&error));
    let (mut until, mut child, mut is_late) = (Instant::now() + START, spawn()?, false);
    loop {
        if let Some(found) = here(env)? {
            return Ok(found);
        }
        if let Ok(Some(_)) = child.try_wait() {
            match taken()? {
                // Another process was faster and listens in a moment, or has not ended yet.
                true if is_late => {}
                true => (until, is_late) = (Instant::now() + OTHERS, true),
                false if is_late => (until, child, is_late) = (Instant::now() + START, spawn()?, false),
                false => {
                    let words = std::fs::read_to_string(&told).unwrap_or_default();
                    return Err(cannot(&words.trim().trim_start_matches("error: ")));
                }
            }
        }
        if Instant::now() > until {
            return Err(cannot(&format!("it does not listen yet; {} may say why", told.display())));
        }
        std::thread::sleep(PAUSE);
    }
}

/// Starts the process of a server. What it says begins its file, but for that of one that is there.
fn spawn(flags: &[String], told: &Path, is_taken: bool, env: &Env) -> io::Result<Child> {
    let mut log = File::options();
    log.create(true).append(true);
    let log = log.open(told)?;
    if !is_taken {
        log.set_len(0)?;
    }
    Command::new(neco_app::workspace::sandbox::own_program())
        .arg("serve")
        .arg("--detached")
        .args(flags)
        .current_dir(env.home())
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(log)
        .spawn()
}

/// The token of the server of this machine.
pub fn token_here(env: &Env) -> Result<String, Failure> {
    let folder = run_folder(env);
    let token = main_token(&folder).map_err(|error| unusable(&folder.display().to_string(), &error))?;
    token.ok_or_else(|| Failure::usage("there is no token yet").hint("`neco serve` makes one when it starts."))
}

/// Whether a server is the one of this machine and data folder.
fn is_here(url: &str, env: &Env) -> Result<bool, Failure> {
    Ok(here(env)?.is_some_and(|found| found.url.trim_end_matches('/') == url.trim_end_matches('/')))
}

/// Whom a client of a server believes: the server here by the certificate that it shows, others by the authorities of this
/// machine or of the environment.
pub fn trust(url: &str, env: &Env) -> Result<Trust, Failure> {
    if is_here(url, env)? {
        return Ok(Trust::Only(shown_certificate(&run_folder(env))));
    }
    let own = env.var("NECO_SERVER_CA").filter(|file| !file.is_empty());
    Ok(own.map_or(Trust::System, |file| Trust::Authorities(file.into())))
}

/// The token for a server: that of this machine where it is the server here, or the one of the environment.
fn token(url: &str, env: &Env) -> Result<String, Failure> {
    if is_here(url, env)? {
        return token_here(env);
    }
    let token = env.var("NECO_SERVER_TOKEN").filter(|token| !token.is_empty());
    token.map(str::to_owned).ok_or_else(|| {
        Failure::usage(format!("{url} needs a token"))
            .hint("Set NECO_SERVER_TOKEN to what `neco serve token` prints on its machine.")
    })
}

/// The program of a server.
pub async fn reach(url: &str, env: &Env) -> Result<RemoteClient, Failure> {
    if can_be_read(url) && env.var("NECO_SERVER_INSECURE").is_none_or(str::is_empty) {
        return Err(Failure::usage(format!("the token for {url} would be sent there for everybody to read")).hint(
            "Give the server a certificate (`neco serve --tls-cert`), or reach it with `ssh -L 7420:127.0.0.1:7420 HOST`; \
             NECO_SERVER_INSECURE=1 sends it all the same.",
        ));
    }
    let reached = connect_trusting(url, &token(url, env)?, trust(url, env)?).await;
    reached.map_err(|error| match error {
        AttachError::NotThere => Failure::new(Exit::Failed, format!("no server listens at {url}"))
            .hint("`neco serve` starts one on its machine; `ssh -L` brings one of another machine here."),
        error => Failure::new(Exit::Failed, format!("the server at {url} can't be used: {error}")),
    })
}

/// Where a server listens unless told otherwise.
pub fn usual() -> std::net::SocketAddr {
    (Ipv4Addr::LOCALHOST, DEFAULT_PORT).into()
}

fn unusable(what: &str, error: &io::Error) -> Failure {
    Failure::new(Exit::Failed, format!("{what} can't be used: {error}"))
}
