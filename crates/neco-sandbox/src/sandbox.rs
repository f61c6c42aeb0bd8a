//! The sandbox of a process: what it was made with, and what was got.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::{fs, io};

use crate::after::masks::Masks;
use crate::boxed::confined::Confined;
use crate::level::{Level, Settings};
use crate::linux::landlock;
use crate::linux::waiting::Waiting;
use crate::plan::layout::{Machine, Roots};
use crate::probe::{self, Answers, Candidates};
use crate::report::{BUILT_BY_PATHS, Builder, NO_SECOND_LOCK, Report, Strength, WEAKER_GAPS};

/// What a sandbox is made with.
#[derive(Clone, Debug)]
pub struct SandboxSetup {
    /// What is wanted.
    pub settings: Settings,
    /// Our own program: it is started again as the launcher.
    pub launcher: PathBuf,
    /// Whether the launcher may make namespaces itself, which is faster than bubblewrap.
    pub namespaces: bool,
    /// Bubblewrap, if it is installed: some machines let it make namespaces and not us.
    pub bwrap: Option<PathBuf>,
    /// The home folder.
    pub home: Option<PathBuf>,
    /// Folders with what is ours: settings, keys, sessions. Commands don't see them.
    pub own: Vec<PathBuf>,
    /// Where things about boxes are kept between runs.
    pub state: PathBuf,
    /// Where temporary folders are made.
    pub temporary: PathBuf,
}

/// Why there is no sandbox although there must be one.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("sandbox.required is set, and the strong sandbox can't be had: {0}")]
pub struct Unmet(pub String);

/// Whether an answer from an earlier run counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ask {
    /// If nothing that it depends on has changed.
    IfChanged,
    /// Everything is tried again.
    Anew,
}

/// The sandbox of a process. Clones are the same one.
#[derive(Clone, Debug)]
pub struct Sandbox(pub(crate) Arc<Inner>);

#[derive(Debug)]
pub(crate) struct Inner {
    pub(crate) setup: SandboxSetup,
    pub(crate) machine: Machine,
    pub(crate) report: Report,
    pub(crate) landlock: bool,
    pub(crate) seen_of_run: Vec<PathBuf>,
    pub(crate) masks: Arc<Masks>,
    pub(crate) waiting: Arc<Waiting>,
}

impl Sandbox {
    /// Finds out what can be had, strongest first.
    /// Fails when the strong one is required and can't be had.
    pub fn probe(setup: SandboxSetup, ask: Ask) -> Result<Self, Unmet> {
        let landlock = landlock::version() > 0;
        let report = find_out(&setup, landlock, ask);
        if setup.settings.required && report.strength != Strength::Strong {
            let chosen = "sandbox.level is full".to_owned();
            let why = if setup.settings.level == Level::Full { chosen } else { report.why.join("; ") };
            return Err(Unmet(why));
        }
        let home = setup.home.as_ref().and_then(|home| fs::canonicalize(home).ok());
        let other_homes = other_homes(home.as_deref());
        let machine = Machine { home, other_homes, own: setup.own.clone(), ..Machine::default() };
        let masks = Arc::new(Masks::new(lists_in(&setup.state)));
        let waiting = Arc::new(Waiting::new(&setup.launcher));
        Ok(Self(Arc::new(Inner { setup, machine, report, landlock, seen_of_run: seen_of_run(), masks, waiting })))
    }

    /// What was got.
    pub fn report(&self) -> &Report {
        &self.0.report
    }

    /// The box of a session that works in these folders; nothing where there is to be none.
    pub(crate) fn confine(&self, roots: Roots) -> io::Result<Option<Confined>> {
        if self.report().strength == Strength::None || self.settings().level == Level::Full {
            return Ok(None);
        }
        Confined::new(self.clone(), roots).map(Some)
    }

    pub(crate) fn settings(&self) -> &Settings {
        &self.0.setup.settings
    }

    /// Where it is written down what to put right after a killed process.
    pub(crate) fn lists(&self) -> PathBuf {
        lists_in(&self.0.setup.state)
    }

    pub(super) fn bwrap(&self) -> io::Result<&Path> {
        self.0.setup.bwrap.as_deref().ok_or_else(|| io::Error::from(io::ErrorKind::NotFound))
    }

    /// Where the caches of all workspaces are.
    pub(super) fn caches(&self) -> PathBuf {
        self.0.setup.state.join("cache")
    }
}

/// The home folders of others, where whoever runs us may read them.
fn other_homes(own: Option<&Path>) -> Vec<PathBuf> {
    let as_root = rustix::process::geteuid().is_root();
    let entries = as_root.then(|| fs::read_dir("/home")).into_iter().flatten().flatten().flatten();
    let homes = entries.filter_map(|entry| fs::canonicalize(entry.path()).ok()).chain([PathBuf::from("/root")]);
    homes.filter(|home| as_root && home.is_dir() && Some(home.as_path()) != own).collect()
}

fn lists_in(state: &Path) -> PathBuf {
    state.join("masks")
}

fn find_out(setup: &SandboxSetup, landlock: bool, ask: Ask) -> Report {
    let settings = &setup.settings;
    if settings.level == Level::Full {
        return Report::new(settings, Strength::None, vec!["sandbox.level is full".to_owned()], Vec::new());
    }
    let candidates =
        Candidates { launcher: &setup.launcher, namespaces: setup.namespaces, bwrap: setup.bwrap.as_deref() };
    match probe::answers(&candidates, &setup.state.join("probe.json"), ask) {
        Answers::Strong(builder) => {
            let no_second_lock = (!landlock).then_some(NO_SECOND_LOCK);
            let by_paths = (builder == Builder::Bubblewrap).then_some(BUILT_BY_PATHS);
            let gaps = no_second_lock.into_iter().chain(by_paths).collect();
            Report { builder: Some(builder), ..Report::new(settings, Strength::Strong, Vec::new(), gaps) }
        }
        Answers::Weaker(why) => Report::new(settings, Strength::Weaker, vec![why.to_string()], WEAKER_GAPS.to_vec()),
        Answers::Nothing { strong, weaker } => {
            Report::new(settings, Strength::None, vec![strong.to_string(), weaker.to_string()], Vec::new())
        }
    }
}

/// What programs need below `/run`, where otherwise the sockets of the system are: how names are
/// resolved, and on some systems the programs themselves.
fn seen_of_run() -> Vec<PathBuf> {
    ["/etc/resolv.conf", "/run/current-system", "/run/wrappers"]
        .iter()
        .filter_map(|path| fs::canonicalize(path).ok())
        .filter(|path| path.starts_with("/run"))
        .collect()
}
