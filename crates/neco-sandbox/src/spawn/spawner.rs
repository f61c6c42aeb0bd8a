//! Starts processes with the environment that children may see.

use std::ffi::{CString, OsStr, OsString};
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;
use std::{fmt, io};

use neco_safety::world::denial::Closed;
use neco_safety::world::{Allowance, BoxFuture, Freedom, Launch, Leftovers, Process, Processes, SpawnError, Stdin};
use neco_safety::{policy, secrets};
use rustix::net::sockopt::{Timeout, set_socket_timeout};
use rustix::process::Pid;
use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
use rustix::termios::{Winsize, tcsetwinsize};

use super::group::GroupGuard;
use super::running::Running;
use super::strays::Mark;
use super::watchdog::Watchdog;
use crate::boxed::confined::{Confined, InBox, Wanted};
use crate::boxed::order::{CommandLine, PUT_RIGHT};
use crate::linux::channel::{self, Word};
use crate::linux::session_leader::{self, Boxed, Program, Streams};
use crate::linux::waiting::Waiting;
use crate::plan::closing::Closing;
use crate::plan::layout::Missing;
use crate::{Roots, Sandbox};

/// What every child is told: whose child it is, and that nobody sits at a terminal.
const TOLD: &[(&str, &str)] = &[
    ("NECO", "1"),
    ("AI_AGENT", "neco"),
    ("PAGER", "cat"),
    ("GIT_PAGER", "cat"),
    ("GIT_EDITOR", "true"),
    ("GIT_TERMINAL_PROMPT", "0"),
    // Anyone can put the files of a bare repository into a folder; its settings name programs to run.
    ("GIT_CONFIG_COUNT", "1"),
    ("GIT_CONFIG_KEY_0", "safe.bareRepository"),
    ("GIT_CONFIG_VALUE_0", "explicit"),
    ("DEBIAN_FRONTEND", "noninteractive"),
];

/// How many settings of git everything is told.
const GIT_SETTINGS: usize = 1;

/// How long a box may take to be built.
const BOX_PATIENCE: Duration = Duration::from_secs(10);

/// Starts processes. Clones share one watchdog, so a session makes one and clones it for each agent.
#[derive(Clone)]
pub struct Spawner {
    environment: Arc<[(OsString, OsString)]>,
    watchdog: Arc<Watchdog>,
    confined: Option<Arc<Confined>>,
    /// What rules close to what it starts.
    closing: Option<Arc<Closing>>,
}

impl Spawner {
    /// A spawner whose children get `environment` without what fits the `hidden` globs or looks like a key.
    pub fn new(environment: Vec<(OsString, OsString)>, hidden: &[String]) -> Self {
        let told = |name: &OsStr| name == "TERM" || name == Mark::name() || TOLD.iter().any(|(told, _)| name == *told);
        let mut kept = secrets::scrub(environment, hidden).kept;
        kept.retain(|(name, _)| !told(name));
        kept.extend(TOLD.iter().map(|(name, value)| (OsString::from(name), OsString::from(value))));
        Self { environment: kept.into(), watchdog: Arc::new(Watchdog::default()), confined: None, closing: None }
    }

    /// The same spawner, but what it starts runs in a box from which these folders can be reached.
    /// Fails when the folders of the box can't be made.
    pub fn boxed(mut self, sandbox: &Sandbox, roots: Roots) -> io::Result<Self> {
        self.confined = sandbox.confine(roots)?.map(Arc::new);
        let words = [sandbox.0.setup.launcher.as_os_str().to_owned(), PUT_RIGHT.into(), sandbox.lists().into()];
        if let Ok(words) = words.iter().map(|word| c_string(word)).collect() {
            self.watchdog.run_afterwards(words);
        }
        Ok(self)
    }

    /// The same spawner, but what rules close is not in the boxes of what it starts, or stays as it is in there.
    #[must_use]
    pub fn closing(mut self, closed: &policy::Closed) -> Self {
        let roots = self.confined.as_ref().map(|confined| confined.worked_in()).unwrap_or_default();
        self.closing = Closing::new(closed, roots).map(Arc::new);
        self
    }

    /// Starts a process, in the box if there is one.
    /// Fails when there is no such program or folder, or the system refuses.
    pub async fn start(&self, launch: Launch) -> Result<Running, SpawnError> {
        self.start_freed(launch, Allowance::default()).await
    }

    /// Starts a process that may do more than others, because a person said so.
    /// Fails when there is no such program or folder, or the system refuses.
    pub async fn start_freed(&self, launch: Launch, allowance: impl Into<Allowance>) -> Result<Running, SpawnError> {
        let allowance = allowance.into();
        let spawner = self.clone();
        let name = launch.program.clone();
        let refused = |error: io::Error| SpawnError::System(name, error);
        // Starting waits for the disk and for the child to be off: not for a thread of the runtime.
        match tokio::task::spawn_blocking(move || spawner.start_here(&launch, &allowance)).await {
            Ok(started) => Running::new(started?).map_err(refused),
            Err(error) => Err(refused(io::Error::other(error))),
        }
    }

    fn start_here(&self, launch: &Launch, allowance: &Allowance) -> Result<Started, SpawnError> {
        let mark = Mark::fresh();
        let _beginning = self.watchdog.begin(&mark);
        let path = self.find_program(&launch.program).ok_or_else(|| SpawnError::NoProgram(launch.program.clone()))?;
        let words: Vec<OsString> = [&launch.program].into_iter().chain(&launch.arguments).cloned().collect();
        if launch.folder.as_os_str().as_bytes().contains(&0) || words.iter().any(|word| word.as_bytes().contains(&0)) {
            return Err(SpawnError::ZeroByte);
        }
        let boxed = self.put_in_box(launch, allowance, &path)?;
        let c_strings = |words: &[OsString]| words.iter().map(|word| c_string(word)).collect::<Result<Vec<_>, _>>();
        let environment = self.environment_for(launch, &launch.variables, &mark, boxed.as_ref());
        let line = CommandLine { arguments: c_strings(&words)?, environment };
        let order = boxed.as_ref().map(|boxed| boxed.order.written(&line)).transpose().map_err(SpawnError::Sandbox)?;
        let (path, arguments, environment) = match &boxed {
            Some(boxed) => {
                // What builds the box is outside of it: a library that it is told to load would be as well.
                let environment = self.environment_for(launch, &[], &mark, Some(boxed));
                (&boxed.program, c_strings(&boxed.arguments)?, environment)
            }
            None => (&path, line.arguments, line.environment),
        };
        let exact = Exact {
            path: c_string(path.as_os_str())?,
            arguments,
            environment,
            folder: c_string(launch.folder.as_os_str())?,
            channel: boxed.as_ref().and_then(|boxed| boxed.channel.as_ref()).map(|(_, theirs)| theirs),
            order: order.as_ref(),
            rules: boxed.as_ref().and_then(|boxed| boxed.rules.as_deref()),
            waiting: boxed.as_ref().and_then(|boxed| boxed.waiting.as_deref()),
        };
        let wired = if launch.terminal { on_terminal(&exact) } else { on_pipes(&exact, launch) };
        let wired = wired.map_err(|error| why(launch, error))?;
        let (line, hosts, keep) = match boxed {
            Some(boxed) => (boxed.channel.map(|(ours, _)| ours), boxed.hosts, Some(boxed.keep)),
            None => (None, None, None),
        };
        let guard = GroupGuard::new(wired.leader, mark, Arc::clone(&self.watchdog), (line.is_some(), keep));
        let way_out = match (&line, hosts) {
            (Some(line), Some(hosts)) => Some(way_out(line, hosts).map_err(SpawnError::Sandbox)?),
            (_, _) => None,
        };
        Ok(Started { guard, output: wired.output, input: wired.input, leftovers: launch.leftovers, line, way_out })
    }

    fn put_in_box(&self, launch: &Launch, allowance: &Allowance, program: &Path) -> Result<Option<InBox>, SpawnError> {
        let Some(confined) = &self.confined else { return Ok(None) };
        let wanted = Wanted {
            program,
            folder: &launch.folder,
            terminal: launch.terminal,
            missing: match launch.leftovers {
                Leftovers::End => Missing::PutAside,
                Leftovers::WaitFor => Missing::StandIn,
                Leftovers::EndAll => Missing::Left,
            },
            allowance,
            closing: self.closing.as_ref(),
            git: &|| self.find_program(OsStr::new("git")),
        };
        confined.put_in_box(&wanted).map_err(SpawnError::Sandbox)
    }

    /// Everything that a process finds in its environment, each variable once. What it alone is `given` counts more than
    /// what others get.
    fn environment_for(
        &self,
        launch: &Launch,
        given: &[(OsString, OsString)],
        mark: &Mark,
        boxed: Option<&InBox>,
    ) -> Vec<CString> {
        let mut own: Vec<(OsString, OsString)> = self.environment.to_vec();
        let boxs = self.confined.as_ref().zip(boxed).map(|(confined, boxed)| variables(confined, boxed));
        let term = if launch.terminal { "xterm-256color" } else { "dumb" };
        let told = boxs.into_iter().flatten().chain([("TERM".to_owned(), term.into())]);
        told.for_each(|(name, value)| set(&mut own, name.into(), value));
        let given = given.iter().filter(|(name, _)| !is_fixed(name));
        given.for_each(|(name, value)| set(&mut own, name.clone(), value.clone()));
        let entries = own.iter().filter_map(|(name, value)| entry(name, value));
        entries.chain(CString::new(mark.entry()).ok()).collect()
    }
}

/// Sets a variable, whatever it was.
fn set(environment: &mut Vec<(OsString, OsString)>, name: OsString, value: OsString) {
    environment.retain(|(own, _)| *own != name);
    environment.push((name, value));
}

/// Whether nobody chooses what a variable holds: by one a process is found, and the others are settings of git that
/// hold only together.
fn is_fixed(name: &OsStr) -> bool {
    let of_git = ["GIT_CONFIG_COUNT", "GIT_CONFIG_KEY_", "GIT_CONFIG_VALUE_"];
    name == Mark::name() || of_git.iter().any(|own| name.as_bytes().starts_with(own.as_bytes()))
}

impl Processes for Spawner {
    fn run(&self, launch: Launch, allowance: Allowance) -> BoxFuture<'_, Result<Box<dyn Process>, SpawnError>> {
        Box::pin(async move {
            let running = self.start_freed(launch, allowance).await?;
            Ok(Box::new(running) as Box<dyn Process>)
        })
    }

    fn is_boxed(&self) -> bool {
        self.confined.is_some()
    }

    fn has_own_tmp(&self) -> bool {
        self.confined.as_deref().is_some_and(Confined::has_own_tmp)
    }

    fn closed(&self, freedom: Freedom) -> Option<Closed> {
        self.confined
            .as_ref()
            .filter(|_| freedom != Freedom::Unboxed)
            .map(|confined| confined.closed(freedom, self.closing.as_ref()))
    }

    fn variable(&self, name: &str) -> Option<&OsStr> {
        self.environment.iter().find(|(own, _)| own == name).map(|(_, value)| value.as_os_str())
    }

    fn temporary_folder(&self) -> PathBuf {
        if let Some(confined) = &self.confined {
            return confined.shared_folder();
        }
        let named = self.variable("TMPDIR").map(Path::new).filter(|folder| folder.is_absolute());
        named.unwrap_or(Path::new("/tmp")).to_path_buf()
    }

    fn find_program(&self, name: &OsStr) -> Option<PathBuf> {
        if name.as_bytes().contains(&b'/') {
            return Some(PathBuf::from(name)).filter(|path| path.is_absolute() && is_program(path));
        }
        let path = self.variable("PATH").unwrap_or(OsStr::new("/usr/local/bin:/usr/bin:/bin"));
        // A relative entry would make what runs depend on the folder.
        std::env::split_paths(path)
            .filter(|folder| folder.is_absolute())
            .map(|folder| folder.join(name))
            .find(|path| is_program(path))
    }
}

impl fmt::Debug for Spawner {
    /// Without the environment: what is left in it is still the user's own.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Spawner").field("watchdog", &self.watchdog).finish_non_exhaustive()
    }
}

/// A process that runs, not yet known to the runtime.
pub(super) struct Started {
    pub(super) guard: GroupGuard,
    pub(super) output: OwnedFd,
    pub(super) input: Option<OwnedFd>,
    pub(super) leftovers: Leftovers,
    /// The line to the launcher in a box.
    pub(super) line: Option<OwnedFd>,
    /// A socket that listens in the box, and the hosts it leads to.
    pub(super) way_out: Option<(OwnedFd, Vec<String>)>,
}

struct Exact<'a> {
    path: CString,
    arguments: Vec<CString>,
    environment: Vec<CString>,
    folder: CString,
    channel: Option<&'a OwnedFd>,
    order: Option<&'a OwnedFd>,
    rules: Option<&'a OwnedFd>,
    /// What splits off a launcher instead of starting one.
    waiting: Option<&'a Waiting>,
}

impl Exact<'_> {
    fn start(&self, streams: Streams<'_>) -> io::Result<Pid> {
        let program = Program {
            path: &self.path,
            arguments: &self.arguments,
            environment: &self.environment,
            folder: &self.folder,
            streams,
            boxed: self.order.map(|order| Boxed {
                channel: self.channel.map(AsFd::as_fd),
                order: order.as_fd(),
                rules: self.rules.map(AsFd::as_fd),
            }),
        };
        let split_off = self.waiting.map(|waiting| waiting.split_off(&program)).transpose()?.flatten();
        split_off.map_or_else(|| session_leader::start(&program), Ok)
    }
}

struct Wired {
    leader: Pid,
    output: OwnedFd,
    input: Option<OwnedFd>,
}

fn on_pipes(exact: &Exact<'_>, launch: &Launch) -> io::Result<Wired> {
    let (output, child_output) = io::pipe()?;
    match launch.stdin {
        Stdin::Closed => {
            let leader = exact.start(Streams::Closed(child_output.as_fd()))?;
            Ok(Wired { leader, output: output.into(), input: None })
        }
        Stdin::Piped => {
            let (child_input, input) = io::pipe()?;
            let (reads, prints) = (child_input.as_fd(), child_output.as_fd());
            let leader = exact.start(match &launch.errors {
                Some(errors) => Streams::Apart(reads, prints, errors.as_fd()),
                None => Streams::Piped(reads, prints),
            })?;
            Ok(Wired { leader, output: output.into(), input: Some(input.into()) })
        }
    }
}

fn on_terminal(exact: &Exact<'_>) -> io::Result<Wired> {
    let terminal = open()?;
    let input = terminal.master.try_clone()?;
    let streams = match exact.channel {
        Some(_) => Streams::TerminalForBox(&terminal.path),
        None => Streams::Terminal(&terminal.path),
    };
    let leader = exact.start(streams)?;
    Ok(Wired { leader, output: terminal.master, input: Some(input) })
}

/// Takes over the socket on which the box waits for what wants out.
fn way_out(line: &OwnedFd, hosts: Vec<String>) -> io::Result<(OwnedFd, Vec<String>)> {
    set_socket_timeout(line, Timeout::Recv, Some(BOX_PATIENCE))?;
    match channel::hear(line)? {
        Some(Word::Listener(listener)) => Ok((listener, hosts)),
        Some(Word::Ended { .. }) | None => Err(io::Error::other("it gave no way out to the allowed hosts")),
    }
}

/// What a command gets in a box instead of what it would get otherwise.
fn variables(confined: &Confined, boxed: &InBox) -> Vec<(String, OsString)> {
    let own = confined.variables().into_iter().map(|(name, value)| (name.to_owned(), value.into_os_string()));
    let of_git = boxed.git_settings.iter().zip(GIT_SETTINGS..).flat_map(|((name, value), number)| {
        let key = (format!("GIT_CONFIG_KEY_{number}"), OsString::from(name));
        [key, (format!("GIT_CONFIG_VALUE_{number}"), value.clone().into_os_string())]
    });
    let count = GIT_SETTINGS + boxed.git_settings.len();
    own.chain(of_git).chain([("GIT_CONFIG_COUNT".to_owned(), count.to_string().into())]).collect()
}

/// The system gives one number for a missing program and for a missing folder.
fn why(launch: &Launch, error: io::Error) -> SpawnError {
    match std::fs::metadata(&launch.folder) {
        Ok(found) if found.is_dir() => SpawnError::System(launch.program.clone(), error),
        Ok(_) => SpawnError::Folder(launch.folder.clone(), io::ErrorKind::NotADirectory.into()),
        Err(error) => SpawnError::Folder(launch.folder.clone(), error),
    }
}

fn is_program(path: &Path) -> bool {
    path.is_file() && rustix::fs::access(path, rustix::fs::Access::EXEC_OK).is_ok()
}

fn c_string(text: &OsStr) -> Result<CString, SpawnError> {
    CString::new(text.as_bytes()).map_err(|_| SpawnError::ZeroByte)
}

/// The system never hands out a variable with a zero byte, so leaving one out loses nothing.
fn entry(name: &OsStr, value: &OsStr) -> Option<CString> {
    let mut text = name.to_owned().into_vec();
    text.push(b'=');
    text.extend_from_slice(value.as_bytes());
    CString::new(text).ok()
}

const SIZE: Winsize = Winsize { ws_row: 40, ws_col: 120, ws_xpixel: 0, ws_ypixel: 0 };

struct Terminal {
    /// Our side.
    master: OwnedFd,
    /// The path by which the process opens its side.
    path: CString,
}

/// Opens a pseudo-terminal of a fixed size.
fn open() -> io::Result<Terminal> {
    let master = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY | OpenptFlags::CLOEXEC)?;
    grantpt(&master)?;
    unlockpt(&master)?;
    tcsetwinsize(&master, SIZE)?;
    let path = ptsname(&master, Vec::new())?;
    Ok(Terminal { master, path })
}
