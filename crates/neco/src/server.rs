//! The server: the one of this machine and data folder, found or started, and those elsewhere.

use std::fs::File;
use std::io;
use std::net::Ipv4Addr;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use neco_app::services::{environment, given_environment};
use neco_config::section::UseServer;
use neco_config::{Env, LoadOptions};
use neco_proto::app::opening::OpenSession;
use neco_server::http::access::main_token;
use neco_server::http::found::{self, Found, find, is_taken};
use neco_server::http::tls::shown_certificate;
use neco_server::http::trust::Trust;
use neco_server::http::{DEFAULT_PORT, can_be_read, connect_trusting};
use neco_server::{AttachError, RemoteClient};

use crate::args::{EverywhereArgs, InputFormat, RunArgs};
use crate::exit::Exit;
use crate::failure::Failure;
use crate::say;

/// How long a server may take until it listens.
const START: Duration = Duration::from_secs(20);

/// How long another process may take that is just starting one, or ending.
const OTHERS: Duration = Duration::from_secs(60);

/// How long a server may take until it listens in the place of another one, which ends its turns before.
const REPLACE: Duration = Duration::from_secs(150);

/// How long it may take to see that another command has replaced a server that hands nothing over to this one.
const STAYS: Duration = Duration::from_secs(3);

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

/// The command line, with the server of this machine where flags or settings say that sessions work in it.
pub fn chosen(args: &RunArgs, everywhere: &EverywhereArgs, env: &Env) -> Result<EverywhereArgs, Failure> {
    let mut chosen = everywhere.clone();
    // Whoever says more of it has it done in this process, or by the server that they name.
    let is_here = args.background || args.passing || args.timeout.is_some() || args.input_format != InputFormat::Text;
    if named(everywhere, env).is_some() || is_here && !args.serve {
        return Ok(chosen);
    }
    let cwd = crate::folder(everywhere)?;
    let loaded = neco_config::load(LoadOptions { env, cwd: &cwd, overrides: &everywhere.overrides });
    let found = match loaded.map_or(UseServer::Never, |loaded| loaded.config.server.use_for) {
        _ if args.serve => Some(started(env)?),
        UseServer::Always => Some(started(env)?),
        UseServer::Auto => here(env)?,
        // What is wrong with the settings is told by whoever needs them.
        UseServer::Never => None,
    };
    chosen.server = found.map(|found| found.url);
    Ok(chosen)
}

/// Whether a server is named, and it is not the one of this machine and data folder.
pub fn is_elsewhere(everywhere: &EverywhereArgs, env: &Env) -> Result<bool, Failure> {
    let Some(named) = named(everywhere, env) else { return Ok(false) };
    Ok(here(env)?.is_none_or(|found| found.url.trim_end_matches('/') != named.trim_end_matches('/')))
}

/// What goes along to the server of this machine, which works in another process: settings of the command line, and the
/// variables of this process that are no secrets.
pub fn along(
    wanted: OpenSession,
    (settings, everywhere): (Vec<String>, &EverywhereArgs),
    env: &Env,
) -> Result<OpenSession, Failure> {
    let cwd = crate::folder(everywhere)?;
    let loaded = neco_config::load(LoadOptions { env, cwd: &cwd, overrides: &settings })?;
    let environment = Some(given_environment(environment(env), &loaded.config));
    Ok(OpenSession { settings, environment, ..wanted })
}

/// The command that comes back to a session whose id stands behind it.
pub fn resume(everywhere: &EverywhereArgs, env: &Env) -> String {
    named(everywhere, env).map_or_else(|| "neco resume".to_owned(), |url| format!("neco attach {url}"))
}

/// The server of this machine and data folder, if one runs.
pub fn here(env: &Env) -> Result<Option<Found>, Failure> {
    let folder = run_folder(env);
    find(&folder).map_err(|error| unusable(&folder.display().to_string(), &error))
}

/// The same, started if none runs. One of an older version hands over to one of this.
pub fn started(env: &Env) -> Result<Found, Failure> {
    match here(env)? {
        Some(found) if is_older(&found.version, env!("CARGO_PKG_VERSION")) => {
            say::note(&format!("The server is neco {}: one of this version takes its place", found.version));
            replace(&found, env).or_else(|failure| match here(env)? {
                // One that systemd runs hands nothing over, and does what it could do before.
                Some(there) => {
                    say::note(&format!("It is used as it is: {}", failure.message));
                    Ok(there)
                }
                None => Err(failure),
            })
        }
        Some(found) => Ok(found),
        None => start(&["--on-demand".to_owned()], env),
    }
}

/// Whether a version comes before another one. What is no version is not older.
fn is_older(version: &str, other: &str) -> bool {
    let numbers = |version: &str| -> Option<Vec<u64>> {
        version.split(['-', '+']).next()?.split('.').map(|number| number.parse().ok()).collect()
    };
    matches!((numbers(version), numbers(other)), (Some(version), Some(other)) if version < other)
}

/// Starts a server in the place of the one that runs, or finds the one that another command has just started there.
pub fn replace(before: &Found, env: &Env) -> Result<Found, Failure> {
    let cannot =
        |error: &dyn std::fmt::Display| Failure::new(Exit::Failed, format!("the server can't be replaced: {error}"));
    let folder = run_folder(env);
    let told = folder.join("server.log");
    let begin = std::fs::metadata(&told).map_or(0, |there| there.len());
    let mut child = spawn(&["--take-over".to_owned()], &told, true, env).map_err(|error| cannot(&error))?;
    let (until, mut ended) = (Instant::now() + REPLACE, None);
    loop {
        let found = here(env)?;
        let is_it = |found: &Found| {
            let is_other = found.pid != before.pid && !is_older(&found.version, env!("CARGO_PKG_VERSION"));
            found.pid == child.id() || is_other
        };
        let patience = if found.is_some() { STAYS } else { OTHERS };
        if let Some(found) = found.filter(is_it) {
            return Ok(found);
        }
        if ended.is_none() && matches!(child.try_wait(), Ok(Some(_))) {
            let words = std::fs::read(&told).unwrap_or_default();
            let words = words.get(usize::try_from(begin).unwrap_or_default()..).unwrap_or_default();
            let words = String::from_utf8_lossy(words).trim().trim_start_matches("error: ").to_owned();
            ended = Some((Instant::now(), words));
        }
        // It may have come second, after one of another command that listens in a moment.
        if let Some((at, words)) = &ended
            && (at.elapsed() > patience || !is_taken(&folder).map_err(|error| cannot(&error))?)
        {
            return Err(cannot(words));
        }
        if Instant::now() > until {
            return Err(cannot(&format!("it does not listen yet; {} may say why", told.display())));
        }
        std::thread::sleep(PAUSE);
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
