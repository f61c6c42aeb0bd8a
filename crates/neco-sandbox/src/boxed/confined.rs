//! The box of one session: turns a program to start into a program that starts it in a box.

use std::collections::BTreeSet;
use std::ffi::OsString;
use std::os::fd::OwnedFd;
use std::os::unix::fs::{DirBuilderExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::{fs, io};

use tempfile::TempDir;

use crate::after::keep::{Keep, PutRight};
use crate::after::masks::{MaskGuard, hands_for};
use crate::after::watch::Watch;
use crate::boxed::bwrap::{self, LAUNCHER_INSIDE};
use crate::boxed::order::{ASKED, Order, VERSION};
use crate::boxed::rules::{Open, ReadyRules};
use crate::boxed::walls::{Covers, Walls};
use crate::caches;
use crate::git::view::{GitView, Shown};
use crate::level::{Level, Network};
use crate::linux::channel;
use crate::linux::landlock::Rules;
use crate::linux::waiting::Waiting;
use crate::plan::closing::{Closing, ShutPlaces};
use crate::plan::layout::{Layout, Machine, Missing, Roots, Seen, can_be_worked_in};
use crate::plan::named::Named;
use crate::report::{Builder, Strength};
use crate::sandbox::Sandbox;
use crate::survey::facts::Facts;
use crate::survey::search::Found;
use neco_safety::world::denial::Closed;
use neco_safety::world::{Allowance, Freedom};

/// What is put where nothing is.
const STAND_INS: [Seen; 2] = [Seen::StandIn, Seen::StandInFile];

/// How often a plan is drawn anew because something was made meanwhile.
const MOST_ATTEMPTS: usize = 3;

/// The box of one session.
#[derive(Debug)]
pub(crate) struct Confined {
    sandbox: Sandbox,
    roots: Roots,
    watch: Arc<Watch>,
    folders: Folders,
    caches: PathBuf,
    git: GitView,
    rules: ReadyRules,
}

/// What is to be started.
pub(crate) struct Wanted<'a> {
    /// Absolute.
    pub(crate) program: &'a Path,
    /// Absolute.
    pub(crate) folder: &'a Path,
    /// Whether it gets a terminal.
    pub(crate) terminal: bool,
    /// What becomes of settings that are not there; where they are not put aside, others work beside it.
    pub(crate) missing: Missing,
    /// What a person allowed it.
    pub(crate) allowance: &'a Allowance,
    /// What rules close to it.
    pub(crate) closing: Option<&'a Arc<Closing>>,
    pub(crate) git: &'a dyn Fn() -> Option<PathBuf>,
}

impl<'a> Wanted<'a> {
    /// What rules close, where what is made of it meanwhile is put aside at the end. Beside a server it is as likely
    /// the person's.
    fn put_aside(&self) -> Option<&'a Arc<Closing>> {
        self.closing.filter(|_| self.missing != Missing::Left)
    }
}

/// What is started instead.
pub(crate) struct InBox {
    /// Absolute.
    pub(crate) program: PathBuf,
    /// The first is the name it sees for itself.
    pub(crate) arguments: Vec<OsString>,
    /// What the launcher reads.
    pub(crate) order: Order,
    /// What splits off a launcher, where none has to be started.
    pub(crate) waiting: Option<Arc<Waiting>>,
    /// Both ends of the line to the launcher, where it has one: ours, and the launcher's.
    pub(crate) channel: Option<(OwnedFd, OwnedFd)>,
    /// Rules that it is handed over.
    pub(crate) rules: Option<Arc<OwnedFd>>,
    /// Hosts that a proxy lets through.
    pub(crate) hosts: Option<Vec<String>>,
    /// Settings of git that hold in the box.
    pub(crate) git_settings: Vec<(String, PathBuf)>,
    /// What must stay until the box is gone.
    pub(crate) keep: Keep,
}

/// Folders of ours that every box of a session uses.
#[derive(Debug)]
struct Folders {
    /// Removed with everything in it at the end.
    base: TempDir,
    covers: Covers,
}

impl Folders {
    fn new(beside: &Path) -> io::Result<Self> {
        // Without links on the way: a box is built with none.
        let base = tempfile::Builder::new().prefix("neco-").tempdir_in(fs::canonicalize(beside)?)?;
        let at = |name: &str| base.path().join(name);
        let covers = Covers { closed_folder: at("closed"), closed_file: at("closed-file"), empty_folder: at("empty") };
        for folder in [at("tmp"), at("shared"), at("told"), covers.empty_folder.clone(), covers.closed_folder.clone()] {
            fs::DirBuilder::new().mode(0o700).create(folder)?;
        }
        fs::write(&covers.closed_file, "")?;
        fs::set_permissions(&covers.closed_file, fs::Permissions::from_mode(0o000))?;
        fs::set_permissions(&covers.closed_folder, fs::Permissions::from_mode(0o000))?;
        Ok(Self { base, covers })
    }

    fn temporary(&self) -> PathBuf {
        self.base.path().join("tmp")
    }

    /// What boxes read and don't write.
    fn told(&self) -> PathBuf {
        self.base.path().join("told")
    }

    fn shared(&self) -> PathBuf {
        self.base.path().join("shared")
    }
}

impl Drop for Folders {
    /// What can't be looked into can't be removed either.
    fn drop(&mut self) {
        let _ = fs::set_permissions(&self.covers.closed_folder, fs::Permissions::from_mode(0o700));
    }
}

impl Confined {
    pub(crate) fn new(sandbox: Sandbox, roots: Roots) -> io::Result<Self> {
        let canonical = |path: &PathBuf| fs::canonicalize(path);
        let roots = Roots {
            writable: roots.writable.iter().map(canonical).collect::<Result<_, _>>()?,
            readable: roots.readable,
        };
        if let Some(root) = roots.writable.iter().find(|root| !can_be_worked_in(root)) {
            let words = format!("{} can't be worked in inside the sandbox", root.display());
            return Err(io::Error::other(words));
        }
        let writes = sandbox.settings().level == Level::WorkspaceWrite;
        let readable = match sandbox.settings().sees_workspace_secrets {
            true => vec![PathBuf::from("/")],
            false => sandbox.settings().readable.clone(),
        };
        let watch = Arc::new(Watch::new(&roots.writable, writes, &readable)?);
        let folders = Folders::new(&sandbox.0.setup.temporary)?;
        let caches = caches::folder_for(&sandbox.caches(), roots.writable.first())?;
        let home = sandbox.0.machine.home.clone();
        let git = GitView::new(folders.told(), folders.base.path().to_path_buf(), home);
        Ok(Self { sandbox, roots, watch, folders, caches, git, rules: ReadyRules::default() })
    }

    /// The folders that commands work in.
    pub(crate) fn worked_in(&self) -> &[PathBuf] {
        &self.roots.writable
    }

    /// A folder that is the same inside and outside.
    pub(crate) fn shared_folder(&self) -> PathBuf {
        self.folders.shared()
    }

    /// Whether commands see a `/tmp` of their own: the weaker box has the machine's.
    pub(crate) fn has_own_tmp(&self) -> bool {
        self.sandbox.report().strength == Strength::Strong
    }

    /// Variables that commands get instead of their own: temporary files and caches are the box's.
    pub(crate) fn variables(&self) -> Vec<(&'static str, PathBuf)> {
        let temporary = if self.has_own_tmp() { PathBuf::from("/tmp") } else { self.folders.temporary() };
        let cache = |name: &str| self.caches.join(name);
        vec![
            ("TMPDIR", temporary),
            ("GOCACHE", cache("go-build")),
            ("npm_config_cache", cache("npm")),
            ("PIP_CACHE_DIR", cache("pip")),
            ("UV_CACHE_DIR", cache("uv")),
            ("CCACHE_DIR", cache("ccache")),
        ]
    }

    /// What a box closes.
    pub(crate) fn closed(&self, freedom: Freedom, closing: Option<&Arc<Closing>>) -> Closed {
        let shut = self.shut(closing).unwrap_or_default();
        let planned = Planned { opened: Named::default(), shut, missing: Missing::PutAside };
        let layout = self.layout(&self.watch.remembered(), planned, &Facts::default());
        let temporary = self.variables().into_iter().take(1).map(|(_, path)| path);
        let closed = layout.places.iter().filter(|(_, seen)| !matches!(seen, Seen::Root | Seen::Writable));
        Closed {
            writable: layout.seen_as(&[Seen::Root]).cloned().chain(temporary).collect(),
            closed: closed.map(|(path, _)| path.clone()).collect(),
            network: freedom == Freedom::AsConfigured && self.sandbox.settings().network == Network::Off,
            read_only: self.sandbox.settings().level == Level::ReadOnly,
        }
    }

    /// What to start so that the program runs in a box; nothing if it is to run without one.
    pub(crate) fn put_in_box(&self, wanted: &Wanted<'_>) -> io::Result<Option<InBox>> {
        let free = wanted.allowance.freedom == Freedom::Unboxed || self.sandbox.settings().level == Level::Full;
        match self.sandbox.report().strength {
            Strength::Strong if !free => self.strong(wanted).map(Some),
            Strength::Weaker if !free => self.weaker(wanted).map(Some),
            Strength::Strong | Strength::Weaker | Strength::None => Ok(None),
        }
    }

    fn strong(&self, wanted: &Wanted<'_>) -> io::Result<InBox> {
        let (found, facts, watched) = self.watch.begin(wanted.missing != Missing::PutAside)?;
        let shut = self.shut(wanted.closing)?;
        let (mut layout, mut masks) = self.masked_layout(wanted, &found, &shut, facts)?;
        watched.protects(&layout.git_folders);
        layout.places.retain(|(path, seen)| !STAND_INS.contains(seen) || masks.holds(path));
        let network = self.network_for(wanted);
        // Before the rules are drawn: files that are made here are among what may be changed.
        let put_right = put_right(&mut layout)?.after(wanted.put_aside(), shut).reach_outside(&self.watch);
        self.note(&mut masks, &put_right)?;
        let files = self.sandbox.0.landlock.then(|| self.rules_inside(&layout));
        let order = self.order(wanted, Files { rules: files, in_namespaces: true, internet: true });
        let proxy = matches!(network, Network::Hosts(_));
        let mut order = Order { proxy, never_bare: put_right.never_bare.clone(), ..order };
        let Shown { instead, settings } = self.shown_to_git(&layout, &found, wanted);
        let identities = std::mem::take(&mut layout.identities);
        let walls = Walls {
            places: layout.places.into_iter().map(|(path, seen)| (path.into(), seen)).collect(),
            identities: identities.into_iter().map(|(path, identity)| (path.into(), identity)).collect(),
            covers: self.folders.covers.clone(),
            instead: instead.into_iter().map(|(path, other)| (path.into(), other)).collect(),
            temporary: self.folders.temporary(),
            network: network == Network::On,
            from_run: self.sandbox.0.seen_of_run.clone(),
            folder: wanted.folder.to_path_buf(),
        };
        let launcher = self.sandbox.0.setup.launcher.as_path();
        let mut waiting = None;
        let (program, mut arguments) = match self.sandbox.report().builder {
            Some(Builder::Bubblewrap) => {
                let mut arguments = vec![OsString::from("bwrap")];
                arguments.extend(bwrap::arguments(&walls, launcher));
                arguments.push(LAUNCHER_INSIDE.into());
                (self.sandbox.bwrap()?, arguments)
            }
            Some(Builder::Launcher) | None => {
                order.walls = Some(walls);
                waiting = Some(Arc::clone(&self.sandbox.0.waiting));
                (launcher, vec![OsString::from("neco")])
            }
        };
        arguments.push(ASKED.into());
        Ok(InBox {
            program: program.to_path_buf(),
            arguments,
            order,
            waiting,
            channel: Some(channel::pair()?),
            rules: None,
            hosts: match network {
                Network::Hosts(hosts) => Some(hosts),
                Network::Off | Network::On => None,
            },
            git_settings: settings,
            keep: Keep::new(masks, put_right, watched),
        })
    }

    fn weaker(&self, wanted: &Wanted<'_>) -> io::Result<InBox> {
        let (found, facts, watched) = self.watch.begin(wanted.missing != Missing::PutAside)?;
        let shut = self.shut(wanted.closing)?;
        let opened = Named::new(&wanted.allowance.opens);
        // There are no stand-ins here.
        let missing = if wanted.missing == Missing::Left { Missing::Left } else { Missing::PutAside };
        let mut layout = self.layout(&found, Planned { opened, shut: shut.clone(), missing }, &facts);
        // Nothing is held in its place here: what is changed is put back at the end.
        watched.protects(&BTreeSet::new());
        let network = self.network_for(wanted) == Network::On;
        // Before the rules are drawn: files that are made here are among what may be changed.
        let mut put_right = put_right(&mut layout)?;
        let rules = self.rules.of(self.open_outside(&layout, network))?;
        let order = self.order(wanted, Files { rules: None, in_namespaces: false, internet: network });
        let order = Order { has_rules: true, ..order };
        let arguments = ["neco", ASKED].map(OsString::from).to_vec();
        put_right.unwanted.extend(layout.seen_as(&[Seen::StandInFile]).cloned());
        // Nothing can stand in for them here.
        put_right.settings.extend(layout.seen_as(&[Seen::StandIn]).cloned());
        let mut masks = self.sandbox.0.masks.put(std::iter::empty())?;
        let put_right = put_right.after(wanted.put_aside(), shut).reach_outside(&self.watch);
        self.note(&mut masks, &put_right)?;
        let keep = Keep::new(masks, put_right, watched);
        let (program, waiting) = (self.sandbox.0.setup.launcher.clone(), Some(Arc::clone(&self.sandbox.0.waiting)));
        // Nothing is hidden from git here.
        let git_settings = self.git.of(&[], &[], found.put_aside, wanted.git).settings;
        let rules = Some(rules);
        Ok(InBox { program, arguments, order, waiting, channel: None, rules, hosts: None, git_settings, keep })
    }

    /// Whoever comes after a killed process puts right what its commands left.
    fn note(&self, masks: &mut MaskGuard, put_right: &PutRight) -> io::Result<()> {
        let notes = [put_right.notes(), self.watch.notes()].concat();
        self.sandbox.0.masks.note(masks, &notes)
    }

    fn shown_to_git(&self, layout: &Layout, found: &Found, wanted: &Wanted<'_>) -> Shown {
        let hidden: Vec<PathBuf> = layout.seen_as(&[Seen::HiddenFile]).cloned().collect();
        let at_the_top = self.roots.writable.iter().map(|root| root.join(".git"));
        let all: BTreeSet<PathBuf> =
            at_the_top.chain(found.repositories.iter().map(|(path, _)| path.clone())).collect();
        let hides = |git: &PathBuf| git.parent().is_some_and(|top| hidden.iter().any(|path| path.starts_with(top)));
        // Of those that a command made nothing is asked.
        let is_asked = |git: &PathBuf| hides(git) && self.watch.is_persons(git);
        let asked: Vec<PathBuf> = all.into_iter().filter(is_asked).collect();
        let mut shown = self.git.of(&hidden, &asked, found.put_aside, wanted.git);
        shown.instead.retain(|(path, _)| !layout.shut_files.contains(path));
        shown
    }

    /// What rules close to a command.
    /// Fails when that is more than can be closed.
    fn shut(&self, closing: Option<&Arc<Closing>>) -> io::Result<ShutPlaces> {
        let Some(closing) = closing else { return Ok(ShutPlaces::default()) };
        let shut = closing.places()?;
        let is_shut = |root: &&PathBuf| {
            root.ancestors().find_map(|above| shut.places.get(above)).is_some_and(|nearest| nearest.reading)
        };
        match self.roots.writable.iter().find(is_shut) {
            Some(root) => {
                let words = "a rule closes the folder that commands work in to reading, so none is run";
                Err(io::Error::other(format!("{}: {words}", root.display())))
            }
            None => Ok(shut),
        }
    }

    fn network_for(&self, wanted: &Wanted<'_>) -> Network {
        match wanted.allowance.freedom {
            Freedom::Network | Freedom::Unboxed => Network::On,
            Freedom::AsConfigured => self.sandbox.settings().network.clone(),
        }
    }

    fn order(&self, wanted: &Wanted<'_>, files: Files) -> Order {
        Order {
            version: VERSION.to_owned(),
            in_namespaces: files.in_namespaces,
            terminal: wanted.terminal && files.in_namespaces,
            files: files.rules,
            internet: files.internet,
            unix_sockets: self.sandbox.settings().unix_sockets,
            program: wanted.program.to_path_buf(),
            ..Order::default()
        }
    }

    /// A plan, and the stand-ins that it wants. Someone may make what was missing while the plan is drawn: then it is
    /// looked at again.
    fn masked_layout(
        &self,
        wanted: &Wanted<'_>,
        found: &Found,
        shut: &ShutPlaces,
        mut facts: Facts,
    ) -> io::Result<(Layout, MaskGuard)> {
        let mut attempts = 0;
        loop {
            attempts += 1;
            let opened = Named::new(&wanted.allowance.opens);
            let layout = self.layout(found, Planned { opened, shut: shut.clone(), missing: wanted.missing }, &facts);
            match self.sandbox.0.masks.put(layout.seen_as(&STAND_INS).cloned()) {
                Ok(masks) => return Ok((layout, masks)),
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists && attempts < MOST_ATTEMPTS => {
                    facts = Facts::default();
                }
                Err(error) => return Err(error),
            }
        }
    }

    fn layout(&self, found: &Found, planned: Planned, facts: &Facts) -> Layout {
        let Planned { opened, shut, missing } = planned;
        let given = vec![self.folders.shared(), self.caches.clone()];
        let shown = vec![self.folders.told()];
        let stand_ins = self.sandbox.0.masks.known();
        let machine = Machine { given, shown, stand_ins, opened, shut, missing, ..self.sandbox.0.machine.clone() };
        Layout::new(self.sandbox.settings(), &machine, &self.roots, found, facts)
    }

    /// Behind the mounts everything may be read; this is the second lock on what may be changed.
    fn rules_inside(&self, layout: &Layout) -> Rules {
        let own = ["/tmp", "/var/tmp", "/dev/shm"].map(PathBuf::from);
        let writable: Vec<PathBuf> = layout.seen_as(&[Seen::Root, Seen::Writable]).cloned().chain(own).collect();
        // A rule holds for everything below.
        let is_below = |path: &&PathBuf| writable.iter().any(|other| other != *path && path.starts_with(other));
        Rules {
            readable: vec![PathBuf::from("/")],
            writable: writable.iter().filter(|path| !is_below(path)).cloned().collect(),
            devices: devices(),
            no_tcp: false,
        }
    }

    fn open_outside(&self, layout: &Layout, network: bool) -> Open {
        let own = [self.folders.temporary(), PathBuf::from("/dev/shm")];
        let writable: Vec<PathBuf> = layout.seen_as(&[Seen::Root, Seen::Writable]).cloned().chain(own).collect();
        let hidden = layout.seen_as(&[Seen::HiddenFile, Seen::HiddenFolder, Seen::Emptied]);
        // What can be changed can be read, here: nothing can be hidden in it.
        let hidden = hidden.filter(|path| !writable.iter().any(|open| path.starts_with(open)));
        // Root owns the disks.
        let holes: Vec<PathBuf> = hidden.cloned().chain([PathBuf::from("/dev")]).collect();
        let is_in_a_hole = |path: &&PathBuf| holes.iter().any(|hole| path.starts_with(hole));
        let shown = layout.seen_as(&[Seen::ReadOnly]).filter(is_in_a_hole).cloned().collect();
        Open { holes, shown, writable, devices: devices(), no_tcp: !network }
    }
}

/// What is put right after a command. Files that a person lets it make are made here, for it to fill.
fn put_right(layout: &mut Layout) -> io::Result<PutRight> {
    let to_be_filled = std::mem::take(&mut layout.to_be_made);
    for path in &to_be_filled {
        hands_for(path)?.make_file(path, b"")?;
        layout.places.push((path.clone(), Seen::Writable));
    }
    layout.places.sort_by_key(|(path, _)| path.components().count());
    Ok(PutRight {
        unwanted: std::mem::take(&mut layout.unwanted),
        settings: std::mem::take(&mut layout.missing),
        never_bare: std::mem::take(&mut layout.never_bare),
        links: std::mem::take(&mut layout.links),
        only: std::mem::take(&mut layout.only),
        to_be_filled,
        ..PutRight::default()
    })
}

/// What is special about one plan.
struct Planned {
    /// What a person opened.
    opened: Named,
    /// What rules close.
    shut: ShutPlaces,
    /// What becomes of settings that are not there.
    missing: Missing,
}

/// How files and sockets are closed.
struct Files {
    rules: Option<Rules>,
    in_namespaces: bool,
    internet: bool,
}

fn devices() -> Vec<PathBuf> {
    ["null", "zero", "full", "random", "urandom", "tty", "console", "ptmx", "pts"]
        .iter()
        .map(|name| Path::new("/dev").join(name))
        .collect()
}
