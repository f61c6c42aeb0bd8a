//! `neco serve`: the program and its sessions over HTTP, for windows elsewhere and for programs.

use std::net::SocketAddr;
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::sync::{Arc, LazyLock, OnceLock};
use std::time::{Duration, Instant};

use clap::{Args, Subcommand};
use neco_app::app::DESCRIBED;
use neco_config::Env;
use neco_proto::app::Described;
use neco_server::http::found::{Found, Lock, NotTheOne, is_taken};
use neco_server::http::take_over::{HandedOver, Handover, Taken};
use neco_server::http::tls::TlsFiles;
use neco_server::http::{Ending, HttpSetup, OWN_CALLS, post};
use neco_tui::line::run::listen;
use neco_tui::line::signals::InterruptMask;
use rustix::io::Errno;
use rustix::process::{Pid, Signal, kill_process, setsid};
use serde_json::json;
use tokio::net::TcpListener;
use tokio_util::sync::CancellationToken;

use super::mcp_serve::end;
use super::program::{block_on, print};
use super::serve_token::{self, TokenArgs};
use super::take_over::{self, NotGiven, SessionsEnd};
use super::web::PAGE;
use crate::args::{BoxArgs, EverywhereArgs, JsonArg, RunArgs};
use crate::compose;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::run::opener::TerminalOpener;
use crate::say;
use crate::server::{here, run_folder, start, token_here, trust, usual};
use crate::systemd;

/// After how long a server ends that was started on demand and that nobody needs.
const IDLE: Duration = Duration::from_secs(10 * 60);

/// How long a server may take to end.
const END: Duration = Duration::from_secs(60);

/// How long nothing is said while it ends.
const SILENT: Duration = Duration::from_secs(1);

/// How long until it is looked again.
const PAUSE: Duration = Duration::from_millis(50);

/// After `neco serve --help`.
pub const SERVE: &str = "\
Examples:
  neco serve                        here, until Ctrl-C; docs/server.md has the API
  neco serve --detach               goes on without this terminal
  neco serve link                   a link that signs a browser in, once
  neco -m \"fix the tests\" --background
  neco ps                           what works in the background, and what waits
  neco logs -f ID                   follows it, and asks you what it asks
  neco stop ID                      stops it
  neco attach URL ID                a window on a session of a server elsewhere
  curl -H \"Authorization: Bearer $(neco serve token)\" \\
       http://127.0.0.1:7420/api/v1/sessions
  neco --server http://127.0.0.1:7420 session list";

/// `neco serve …`
#[derive(Clone, Debug, Args)]
pub struct ServeArgs {
    /// What is done with the server that runs.
    #[command(subcommand)]
    pub command: Option<ServeCommand>,
    /// Listens at this address; port 0 takes one that is free
    #[arg(long, value_name = "ADDR:PORT")]
    pub bind: Option<SocketAddr>,
    /// Goes on without this terminal
    #[arg(long)]
    pub detach: bool,
    /// Another name that it is reached by; may be repeated
    #[arg(long = "host", value_name = "NAME")]
    pub hosts: Vec<String>,
    /// Listens beyond this machine, where a proxy of yours does TLS and asks who comes
    #[arg(long)]
    pub behind_proxy: bool,
    /// Speaks TLS with this certificate, in PEM; it is read again when it changes
    #[arg(long, value_name = "FILE", requires = "tls_key")]
    pub tls_cert: Option<PathBuf>,
    /// The private key of the certificate, in PEM
    #[arg(long, value_name = "FILE", requires = "tls_cert")]
    pub tls_key: Option<PathBuf>,
    /// Is detached already.
    #[arg(long, hide = true)]
    pub detached: bool,
    /// Ends when nobody needs it.
    #[arg(long, hide = true)]
    pub on_demand: bool,
    /// Takes the place of the one that runs.
    #[arg(long, hide = true)]
    pub take_over: bool,
    /// The box that commands run in
    #[command(flatten)]
    pub box_args: BoxArgs,
}

impl ServeArgs {
    /// Whether this process is to be the server.
    pub fn serves(&self) -> bool {
        self.command.is_none() && !self.detach
    }

    /// The files of the certificate, whatever folder this process is in.
    fn tls(&self) -> Result<Option<TlsFiles>, Failure> {
        let whole = |file: &Path| {
            let cannot = |error| Failure::usage(format!("{} is no file: {error}", file.display()));
            std::path::absolute(file).map_err(cannot)
        };
        match (&self.tls_cert, &self.tls_key) {
            (Some(certificate), Some(key)) => Ok(Some(TlsFiles { certificate: whole(certificate)?, key: whole(key)? })),
            (_, _) => Ok(None),
        }
    }
}

/// What is done with the server that runs.
#[derive(Clone, Debug, Subcommand)]
pub enum ServeCommand {
    /// Says whether a server runs, and where; exit code 1 when none does
    Status(JsonArg),
    /// Ends the server: agents may finish their turn, and what was said is saved
    Stop,
    /// Starts this neco in the place of the server that runs: its sessions go on there, and nobody is turned away
    TakeOver,
    /// Prints the token, or makes one with a name that may do less
    Token(TokenArgs),
    /// Prints a link that signs one browser in, once
    Link,
}

/// Runs `neco serve …`.
pub fn run(args: &ServeArgs, everywhere: &EverywhereArgs, env: &Env) -> Result<Exit, Failure> {
    match &args.command {
        Some(ServeCommand::Status(json)) => status(*json, env),
        Some(ServeCommand::Stop) => stop(env),
        Some(ServeCommand::TakeOver) => take_over::run(env),
        Some(ServeCommand::Token(args)) => serve_token::run(args, env),
        Some(ServeCommand::Link) => link(env),
        None if args.detach => detach(args, everywhere, env),
        None => serve(args, everywhere, env),
    }
}

fn status(json: JsonArg, env: &Env) -> Result<Exit, Failure> {
    let found = here(env)?;
    let words = || match &found {
        Some(Found { pid, version, url }) => format!("{url}  neco {version}, process {pid}\n"),
        None => "no server runs\n".to_owned(),
    };
    print(json, &found, words)?;
    Ok(if found.is_some() { Exit::Done } else { Exit::Failed })
}

fn stop(env: &Env) -> Result<Exit, Failure> {
    let Some(found) = here(env)? else {
        say::note("No server runs");
        return Ok(Exit::Done);
    };
    end_server(&found, env)?;
    // It may just have handed over to another one.
    while let Some(next) = here(env)? {
        end_server(&next, env)?;
    }
    say::note("The server has ended; `neco ps` lists what was interrupted, and `neco resume ID` goes on with it");
    Ok(Exit::Done)
}

/// Ends the process that is the server, and waits until it is that no more.
fn end_server(found: &Found, env: &Env) -> Result<(), Failure> {
    let pid = i32::try_from(found.pid).ok().and_then(Pid::from_raw);
    let cannot = |why: &dyn std::fmt::Display| {
        Failure::new(Exit::Failed, format!("process {} can't be ended: {why}", found.pid))
    };
    match kill_process(pid.ok_or_else(|| cannot(&"it has no number"))?, Signal::TERM) {
        // It has ended by itself.
        Err(Errno::SRCH) => {}
        ended => ended.map_err(|error| cannot(&error))?,
    }
    let (begun, mut told) = (Instant::now(), false);
    // It says no longer where it is once it takes nothing new, and is the server until it has ended.
    let folder = run_folder(env);
    while is_taken(&folder).map_err(|error| cannot(&error))? && here(env)?.is_none_or(|now| now.pid == found.pid) {
        if begun.elapsed() > END {
            return Err(cannot(&"it is still at work"));
        }
        if !told && begun.elapsed() > SILENT {
            say::note("Agents come to the end of their turn, for at most 30 seconds …");
            told = true;
        }
        std::thread::sleep(PAUSE);
    }
    Ok(())
}

fn link(env: &Env) -> Result<Exit, Failure> {
    let found = here(env)?.ok_or_else(|| {
        Failure::new(Exit::Failed, "no server runs").hint("`neco web` starts one; so does `neco serve`.")
    })?;
    say::out(&format!("{}\n", link_of(&found, env)?))?;
    Ok(Exit::Done)
}

/// A link of a server that signs one browser in, once.
pub fn link_of(found: &Found, env: &Env) -> Result<String, Failure> {
    let token = token_here(env)?;
    let made = block_on(async {
        let made = post(&found.url, &token, trust(&found.url, env)?, "/api/v1/auth/link", &json!({})).await;
        made.map_err(|error| Failure::new(Exit::Failed, format!("the server can't be asked: {error}")))
    })?;
    Ok(made["url"].as_str().unwrap_or_default().to_owned())
}

/// Starts another process that serves, and says where it listens.
fn detach(args: &ServeArgs, everywhere: &EverywhereArgs, env: &Env) -> Result<Exit, Failure> {
    if let Some(found) = here(env)? {
        return Err(already(Some(found)));
    }
    let mut flags: Vec<String> = Vec::new();
    flags.extend(args.bind.iter().flat_map(|bind| ["--bind".to_owned(), bind.to_string()]));
    flags.extend(args.hosts.iter().flat_map(|host| ["--host".to_owned(), host.clone()]));
    flags.extend(args.behind_proxy.then(|| "--behind-proxy".to_owned()));
    if let Some(TlsFiles { certificate, key }) = args.tls()? {
        flags.extend(["--tls-cert".to_owned(), certificate.display().to_string()]);
        flags.extend(["--tls-key".to_owned(), key.display().to_string()]);
    }
    let overrides = [everywhere.overrides.clone(), args.box_args.overrides()].concat();
    flags.extend(overrides.into_iter().flat_map(|setting| ["-c".to_owned(), setting]));
    let found = start(&flags, env)?;
    say::out(&format!("{}\n", found.url))?;
    Ok(Exit::Done)
}

fn already(found: Option<Found>) -> Failure {
    let words = match found {
        Some(found) => format!("process {} is the server already, at {}", found.pid, found.url),
        None => "another process is the server already".to_owned(),
    };
    Failure::new(Exit::Failed, words).hint("`neco serve stop` ends it.")
}

/// Serves until a signal comes.
fn serve(args: &ServeArgs, everywhere: &EverywhereArgs, env: &Env) -> Result<Exit, Failure> {
    if args.detached {
        // A terminal that closes is nothing to it any more.
        let _ = setsid();
    }
    let mut start = match args.take_over {
        true => Start::of(take_over::ask(env)?),
        false => Start::new(args, everywhere, env)?,
    };
    loop {
        match serve_from(start, args, everywhere, env)? {
            Served::Ended(exit) => return Ok(exit),
            Served::NotTaken(again) => start = *again,
        }
    }
}

/// What came of serving.
enum Served {
    /// It is over here.
    Ended(Exit),
    /// Whoever wanted to take over is gone, when everything had ended for it: with this it begins anew.
    NotTaken(Box<Start>),
}

/// What can be asked over HTTP.
static CALLS: LazyLock<Vec<Described>> = LazyLock::new(|| [DESCRIBED, OWN_CALLS].concat());

/// Serves until a signal comes, or another process takes over.
fn serve_from(start: Start, args: &ServeArgs, everywhere: &EverywhereArgs, env: &Env) -> Result<Served, Failure> {
    let cannot = |error: std::io::Error| Failure::new(Exit::Failed, format!("the server can't be started: {error}"));
    let folder = run_folder(env);
    let Start { lock, listener, told, mut before } = start;
    let HandedOver { sessions, names, behind_proxy, tls, on_demand, settings } = told.clone();
    let run = RunArgs::default();
    let given = EverywhereArgs { overrides: settings, ..everywhere.clone() };
    let app = Arc::new(TerminalOpener::new(env, false, false).giving_notice()).program(&run, &given);
    let setup = HttpSetup {
        app: Arc::clone(&app) as _,
        calls: &CALLS,
        version: env!("CARGO_PKG_VERSION"),
        folder,
        names,
        behind_proxy,
        tls,
        idle: on_demand.then_some(IDLE),
        page: PAGE,
        sessions,
    };
    let runtime = compose::runtime()?;
    let (stop, stopped) = (CancellationToken::new(), Arc::<OnceLock<_>>::default());
    let mut signals = listen(&runtime, &InterruptMask::default())?;
    let (stops, heard) = (stop.clone(), Arc::clone(&stopped));
    runtime.spawn(async move {
        let _ = heard.set(signals.next().await);
        stops.cancel();
        compose::quit(signals.next().await);
    });
    let (ending, is_managed) = (Arc::new(SessionsEnd::new(Arc::clone(&app))), systemd::is_manager(env));
    // It listens as long as this is there, also while another process takes over.
    let kept = OwnedFd::from(listener.try_clone().map_err(cannot)?);
    let served = runtime.block_on(async {
        listener.set_nonblocking(true).map_err(cannot)?;
        let listener = TcpListener::from_std(listener).map_err(cannot)?;
        let address = listener.local_addr().map_err(cannot)?;
        let scheme = if setup.tls.is_some() { "https" } else { "http" };
        let url = format!("{scheme}://{address}");
        let found = Found { pid: std::process::id(), version: setup.version.to_owned(), url: url.clone() };
        if !args.detached {
            say::note(&format!("Serving at {url}; `neco serve link` signs a browser in, Ctrl-C ends it"));
        }
        let tells = || {
            lock.tell(&found)?;
            take_over::listens(&mut before);
            systemd::tell(env, "READY=1");
            Ok(())
        };
        let ended = stop.clone();
        let serving = async {
            let served = neco_server::http::serve(setup, listener, stop.clone(), &*ending, tells).await;
            ended.cancel();
            served
        };
        let hiding = async {
            ended.cancelled().await;
            systemd::tell(env, "STOPPING=1");
            // Nobody comes any more while agents end their turns: another server is started after this one.
            if !ending.hands_over() {
                lock.hide().err().iter().for_each(|error| tracing::warn!(%error, "others still find the server"));
            }
        };
        // Whoever runs it starts another one by itself.
        let asked = async {
            if !is_managed {
                heed(&ending, &stop, told.tls.as_ref(), env).await;
            }
            std::future::pending::<()>().await;
        };
        let work = async { tokio::join!(serving, hiding).0.map_err(cannot) };
        tokio::select! {
            served = work => served,
            () = asked => Ok(()),
        }
    });
    let exit = stopped.get().map_or(Exit::Done, |signal| Exit::Stopped(*signal));
    let ended = compose::stop(runtime, end(&app), served.map(|()| exit));
    // Last: the store is closed before another process goes on with what is in it.
    let given = ending.give(lock, &kept, HandedOver { sessions: Vec::new(), ..told });
    match given.map_err(|not_given| *not_given) {
        Err(NotGiven { lock, told, error }) if stopped.get().is_none() && ended.is_ok() => {
            tracing::error!(%error, "no other server takes over: this one goes on");
            Ok(Served::NotTaken(Box::new(Start { lock, listener: kept.into(), told, before: None })))
        }
        given => {
            drop(given);
            ended.map(Served::Ended)
        }
    }
}

/// Waits for a process that wants to take over, and ends this one for it. When this one is to end, nobody takes over.
async fn heed(ending: &SessionsEnd, stop: &CancellationToken, tls: Option<&TlsFiles>, env: &Env) {
    let door = match Handover::listen(&compose::sockets(env)) {
        Ok(door) => door,
        Err(error) => return tracing::warn!(%error, "no other server can take over from this one"),
    };
    let follows = async {
        loop {
            let successor = door.asked().await;
            if let Err(error) = checked(tls).await {
                tracing::error!(%error, "no other server takes over: it could not start");
                continue;
            }
            tracing::info!("another process wants to take over");
            // Everybody is served meanwhile. Nothing has ended yet: where nobody waits any more, this server goes on.
            ending.come_to_boundary().await;
            if successor.waits() {
                return successor;
            }
            ending.go_on();
            tracing::warn!("whoever wanted to take over is gone");
        }
    };
    let successor = tokio::select! {
        biased;
        () = stop.cancelled() => return ending.go_on(),
        successor = follows => successor,
    };
    tracing::info!("another process takes over");
    ending.follows(successor);
    stop.cancel();
}

/// Looks whether another server could use the certificate.
async fn checked(tls: Option<&TlsFiles>) -> std::io::Result<()> {
    let Some(files) = tls.cloned() else { return Ok(()) };
    tokio::task::spawn_blocking(move || files.check()).await.map_err(std::io::Error::other)?
}

/// What a server begins with.
struct Start {
    lock: Lock,
    listener: std::net::TcpListener,
    told: HandedOver,
    /// The server whose place it takes.
    before: Option<UnixStream>,
}

impl Start {
    /// In the place of another one.
    fn of(taken: Taken) -> Self {
        let (listener, lock, told, before) = taken.parts();
        Self { lock, listener, told, before: Some(before) }
    }

    /// Beside nobody, as the command line says, or at the socket of systemd.
    fn new(args: &ServeArgs, everywhere: &EverywhereArgs, env: &Env) -> Result<Self, Failure> {
        let cannot =
            |error: std::io::Error| Failure::new(Exit::Failed, format!("the server can't be started: {error}"));
        let passed = systemd::listener(env).map_err(cannot)?;
        let of_passed = passed.as_ref().map(std::net::TcpListener::local_addr).transpose().map_err(cannot)?;
        let bind = of_passed.or(args.bind).unwrap_or_else(usual);
        let tls = args.tls()?;
        if !bind.ip().is_loopback() && !args.behind_proxy && tls.is_none() {
            return Err(Failure::usage(format!(
                "{bind} can be reached from other machines, and what is said there is not encrypted"
            ))
            .hint(
                "Give it a certificate with --tls-cert and --tls-key, reach a server on 127.0.0.1 with `ssh -L`, or put a \
                 proxy with TLS before it and say --behind-proxy.",
            ));
        }
        let lock = Lock::take(&run_folder(env)).map_err(|error| match error {
            NotTheOne::Another(found) => already(found),
            NotTheOne::Failed(error) => cannot(error),
        })?;
        let listener = match passed {
            Some(passed) => passed,
            None => bound(bind, args)?,
        };
        let told = HandedOver {
            sessions: Vec::new(),
            names: args.hosts.clone(),
            behind_proxy: args.behind_proxy,
            tls,
            on_demand: args.on_demand,
            settings: [everywhere.overrides.clone(), args.box_args.overrides()].concat(),
        };
        Ok(Self { lock, listener, told, before: None })
    }
}

/// Listens; at a free port where the usual one is taken and nobody asked for it.
fn bound(bind: SocketAddr, args: &ServeArgs) -> Result<std::net::TcpListener, Failure> {
    let listening = match std::net::TcpListener::bind(bind) {
        Err(_) if args.bind.is_none() && args.on_demand => std::net::TcpListener::bind((bind.ip(), 0)),
        listening => listening,
    };
    listening.map_err(|error| {
        Failure::new(Exit::Failed, format!("nothing can listen at {bind}: {error}"))
            .hint("`neco serve --bind 127.0.0.1:0` takes a port that is free.")
    })
}
