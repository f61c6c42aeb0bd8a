//! Tries which box can be had, by putting a tiny command into one. What worked is remembered.

use std::ffi::{CString, OsString};
use std::fs;
use std::io::{self, Read};
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use rustix::io::Errno;
use rustix::net::sockopt::{Timeout, set_socket_timeout};
use rustix::process::{Pid, Signal, WaitOptions, kill_process_group, waitpid};
use serde::{Deserialize, Serialize};

use crate::boxed::bwrap::{self, LAUNCHER_INSIDE};
use crate::boxed::order::{ASKED, CommandLine, Order, VERSION};
use crate::boxed::walls::{Covers, Walls};
use crate::launcher::NOT_CLOSED;
use crate::linux::channel::{self, Word};
use crate::linux::landlock::{self, Rules};
use crate::linux::seccomp;
use crate::linux::session_leader::{self, Boxed, Program, Streams};
use crate::report::Builder;
use crate::sandbox::Ask;

/// No box takes longer than this to start.
const PATIENCE: Duration = Duration::from_secs(10);
/// How long what failed may take to say why.
const LAST_WORDS: Duration = Duration::from_millis(500);

const LOOK_AGAIN: Duration = Duration::from_millis(1);

/// How much of what a box says about its failure is kept.
const MOST_WORDS: u64 = 400;

/// What is tried with.
pub(super) struct Candidates<'a> {
    pub(super) launcher: &'a Path,
    /// Whether the launcher may make namespaces.
    pub(super) namespaces: bool,
    pub(super) bwrap: Option<&'a Path>,
}

/// What can be had.
#[derive(Debug)]
pub(super) enum Answers {
    Strong(Builder),
    /// With why there is no strong one.
    Weaker(Unboxed),
    Nothing {
        strong: Unboxed,
        weaker: Unboxed,
    },
}

/// Why a box can't be had.
#[derive(Debug, thiserror::Error)]
pub(super) enum Unboxed {
    #[error("system calls can't be filtered on this machine")]
    NoFilter,
    #[error("namespaces can't be made here: {0}")]
    Namespaces(io::Error),
    #[error("bubblewrap (bwrap) is not installed")]
    NoBubblewrap,
    #[error("bubblewrap does not work here: {0}")]
    Bubblewrap(io::Error),
    #[error("{0}; {1}")]
    Both(Box<Self>, Box<Self>),
    #[error("the kernel has no Landlock")]
    NoLandlock,
    #[error("the kernel has Landlock {0} only")]
    OldLandlock(i32),
    #[error("Landlock does not work here: {0}")]
    Landlock(io::Error),
}

/// What worked, and with what. What did not work is tried again each time: it may have been mended.
#[derive(Debug, PartialEq, Eq, Serialize, Deserialize)]
struct Remembered {
    made_of: String,
    strong: Option<Builder>,
}

/// What can be had. The weaker one is tried only where the strong one can't be had.
pub(super) fn answers(candidates: &Candidates<'_>, file: &Path, ask: Ask) -> Answers {
    let made_of = made_of(candidates);
    let remembered = fs::read(file).ok().and_then(|text| serde_json::from_slice::<Remembered>(&text).ok());
    let known = remembered.filter(|known| known.made_of == made_of).and_then(|known| known.strong);
    if let Some(builder) = known.filter(|_| ask == Ask::IfChanged) {
        return Answers::Strong(builder);
    }
    let strong = strong(candidates);
    remember(file, &Remembered { made_of, strong: strong.as_ref().ok().copied() });
    match strong {
        Ok(builder) => Answers::Strong(builder),
        Err(strong) => match weaker(candidates) {
            Ok(()) => Answers::Weaker(strong),
            Err(weaker) => Answers::Nothing { strong, weaker },
        },
    }
}

fn remember(file: &Path, what: &Remembered) {
    let written = serde_json::to_vec(what).map_err(io::Error::from).and_then(|text| {
        let folder = file.parent().unwrap_or(Path::new("/"));
        fs::create_dir_all(folder)?;
        let fresh = tempfile::NamedTempFile::new_in(folder)?;
        fs::write(fresh.path(), text)?;
        fresh.persist(file).map_err(io::Error::from)
    });
    if let Err(error) = written {
        tracing::debug!(%error, "what kind of sandbox works is not remembered");
    }
}

/// Everything that decides whether a box works.
fn made_of(candidates: &Candidates<'_>) -> String {
    let kernel = rustix::system::uname();
    let user = rustix::process::geteuid().as_raw();
    let file = |path: &Path| match fs::metadata(path) {
        Ok(found) => format!("{} {} {}.{}", path.display(), found.len(), found.mtime(), found.mtime_nsec()),
        Err(_) => path.display().to_string(),
    };
    let bwrap = candidates.bwrap.map(file).unwrap_or_default();
    let kernel = kernel.release().to_string_lossy().into_owned();
    let own = if candidates.namespaces { "own" } else { "" };
    [VERSION, &kernel, &user.to_string(), &file(candidates.launcher), own, &bwrap].join("\n")
}

/// Our own launcher first: it is faster, and nothing has to be installed for it.
fn strong(candidates: &Candidates<'_>) -> Result<Builder, Unboxed> {
    if !seccomp::is_there() {
        return Err(Unboxed::NoFilter);
    }
    let own = match candidates.namespaces.then(|| by_launcher(candidates.launcher)) {
        Some(Ok(())) => return Ok(Builder::Launcher),
        Some(Err(own)) => Some(Box::new(own)),
        None => None,
    };
    by_bubblewrap(candidates).map(|()| Builder::Bubblewrap).map_err(|error| match own {
        Some(own) => Unboxed::Both(own, Box::new(error)),
        None => error,
    })
}

fn by_launcher(launcher: &Path) -> Result<(), Unboxed> {
    let arguments = ["neco", ASKED].map(OsString::from);
    let order = Order { walls: Some(bare_walls()), ..order_in_namespaces() };
    attempt(launcher, &arguments, &order).map_err(Unboxed::Namespaces)
}

fn by_bubblewrap(candidates: &Candidates<'_>) -> Result<(), Unboxed> {
    let bwrap = candidates.bwrap.ok_or(Unboxed::NoBubblewrap)?;
    let mut arguments = vec![OsString::from("bwrap")];
    arguments.extend(bwrap::arguments(&bare_walls(), candidates.launcher));
    arguments.extend([LAUNCHER_INSIDE, ASKED].map(OsString::from));
    attempt(bwrap, &arguments, &order_in_namespaces()).map_err(Unboxed::Bubblewrap)
}

/// Walls around nothing in particular.
fn bare_walls() -> Walls {
    let nowhere = PathBuf::from("/dev/null");
    Walls {
        places: Vec::new(),
        identities: Vec::new(),
        covers: Covers { closed_folder: nowhere.clone(), closed_file: nowhere.clone(), empty_folder: nowhere },
        instead: Vec::new(),
        // Nothing is written there.
        temporary: "/etc".into(),
        network: false,
        from_run: Vec::new(),
        folder: "/".into(),
    }
}

fn order_in_namespaces() -> Order {
    let inside = Rules { readable: vec!["/".into()], ..Rules::default() };
    let files = (landlock::version() > 0).then_some(inside);
    Order { in_namespaces: true, internet: true, ..empty_order(files) }
}

fn weaker(candidates: &Candidates<'_>) -> Result<(), Unboxed> {
    let version = landlock::version();
    if version < landlock::OLDEST_OF_USE {
        return Err(if version == 0 { Unboxed::NoLandlock } else { Unboxed::OldLandlock(version) });
    }
    if !seccomp::is_there() {
        return Err(Unboxed::NoFilter);
    }
    let rules = Rules { readable: vec!["/".into()], ..Rules::default() };
    let arguments = ["neco", ASKED].map(OsString::from);
    attempt(candidates.launcher, &arguments, &empty_order(Some(rules))).map_err(Unboxed::Landlock)
}

fn empty_order(files: Option<Rules>) -> Order {
    Order { version: VERSION.to_owned(), files, program: "/bin/sh".into(), ..Order::default() }
}

/// Runs a command that does nothing; says what was said if it fails.
fn attempt(program: &Path, arguments: &[OsString], order: &Order) -> io::Result<()> {
    let in_box = order.in_namespaces;
    let text = |text: &[u8]| CString::new(text).map_err(io::Error::other);
    let arguments = arguments.iter().map(|word| text(word.as_bytes())).collect::<Result<Vec<_>, _>>()?;
    let (mut output, theirs) = io::pipe()?;
    let (line, launchers) = channel::pair()?;
    let environment = vec![CString::from(c"PATH=/usr/bin:/bin")];
    let tiny = CommandLine { arguments: [c"sh", c"-c", c":"].map(CString::from).to_vec(), environment };
    let order = order.written(&tiny)?;
    let leader = session_leader::start(&Program {
        path: &text(program.as_os_str().as_bytes())?,
        arguments: &arguments,
        environment: &tiny.environment,
        folder: c"/",
        streams: Streams::Closed(theirs.as_fd()),
        boxed: Some(Boxed { channel: in_box.then_some(launchers.as_fd()), order: order.as_fd(), rules: None }),
    })?;
    drop((theirs, launchers));
    let worked = if in_box { hear_success(&line) } else { exits_well(leader, PATIENCE) };
    if in_box && worked {
        end(leader);
    }
    if worked {
        return Ok(());
    }
    // It says why before it ends; nothing of it stays to hold the pipe.
    if in_box {
        exits_well(leader, LAST_WORDS);
        let _ = kill_process_group(leader, Signal::KILL);
    }
    let mut said = String::new();
    let _ = Read::take(&mut output, MOST_WORDS).read_to_string(&mut said);
    let said = said.trim();
    let said = said.strip_prefix(NOT_CLOSED).unwrap_or(said);
    let said = said.strip_prefix("namespaces can't be had: ").unwrap_or(said);
    Err(io::Error::other(if said.is_empty() { "it ends without a word" } else { said }.to_owned()))
}

fn hear_success(line: &OwnedFd) -> bool {
    let patient = set_socket_timeout(line, Timeout::Recv, Some(PATIENCE)).is_ok();
    patient && matches!(channel::hear(line), Ok(Some(Word::Ended { status: 0, .. })))
}

fn exits_well(leader: Pid, patience: Duration) -> bool {
    let begun = Instant::now();
    while begun.elapsed() < patience {
        match waitpid(Some(leader), WaitOptions::NOHANG) {
            Ok(Some((_, status))) => return status.exit_status() == Some(0),
            Ok(None) => std::thread::sleep(LOOK_AGAIN),
            Err(Errno::INTR) => {}
            Err(_) => return false,
        }
    }
    end(leader);
    false
}

fn end(leader: Pid) {
    let _ = kill_process_group(leader, Signal::KILL);
    let _ = waitpid(Some(leader), WaitOptions::empty());
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_hangs_is_not_waited_for_and_does_not_stay() {
        let (_output, theirs) = io::pipe().unwrap();
        let leader = session_leader::start(&Program {
            path: c"/bin/sleep",
            arguments: &[c"sleep".into(), c"600".into()],
            environment: &[],
            folder: c"/",
            streams: Streams::Closed(theirs.as_fd()),
            boxed: None,
        })
        .unwrap();
        assert!(!exits_well(leader, Duration::from_millis(20)));
        assert_eq!(waitpid(Some(leader), WaitOptions::NOHANG).unwrap_err(), Errno::CHILD, "it is gone");
    }

    #[test]
    fn what_can_not_be_had_says_why_and_is_not_remembered_as_working() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("state/probe.json");
        let candidates = Candidates { launcher: Path::new("/bin/false"), namespaces: true, bwrap: None };
        let Answers::Nothing { strong, weaker } = answers(&candidates, &file, Ask::IfChanged) else { panic!() };
        let why = strong.to_string();
        assert!(why.starts_with("namespaces can't be made here: "), "{why}");
        assert!(why.ends_with("; bubblewrap (bwrap) is not installed"), "{why}");
        assert!(weaker.to_string().contains("Landlock"), "{weaker}");
        let remembered: Remembered = serde_json::from_slice(&fs::read(&file).unwrap()).unwrap();
        assert_eq!(remembered.strong, None);
        // What is remembered as working counts until something changes.
        let worked = Remembered { strong: Some(Builder::Launcher), ..remembered };
        fs::write(&file, serde_json::to_vec(&worked).unwrap()).unwrap();
        let had = |ask| matches!(answers(&candidates, &file, ask), Answers::Strong(Builder::Launcher));
        assert!(had(Ask::IfChanged) && !had(Ask::Anew));
        fs::write(
            &file,
            serde_json::to_vec(&Remembered { made_of: "else".into(), strong: Some(Builder::Launcher) }).unwrap(),
        )
        .unwrap();
        assert!(!had(Ask::IfChanged));
    }
}
