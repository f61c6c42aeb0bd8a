//! What Neco stands on: files, programs, the sandbox, and whether the work in a folder can be undone.

use std::fmt::Write;
use std::path::Path;

use neco_config::{Config, ConfigError, Env, Loaded};
use neco_proto::app::doctor::Finding;
use neco_sandbox::{Ask, Level, Strength};
use neco_store::{Catalog, SetAside, SqliteStore, StoreError, StoreSizes};
use neco_workspace::checkpoint::{Backend, Unsaved, bytes_on_disk};

use crate::disk;
use crate::services::{self, STORE_FILE};
use crate::workspace::{checkpoints, keys, sandbox};

/// The configuration files and what is to be said about them.
pub fn configuration(loaded: &Result<Loaded, ConfigError>, env: &Env) -> Vec<Finding> {
    match loaded {
        Ok(loaded) => {
            let read: Vec<String> =
                loaded.files.iter().filter(|file| file.exists).map(|file| file.path.display().to_string()).collect();
            let words = match read.as_slice() {
                [] => format!("no file; {} would be read", env.config_dir().join("config.toml").display()),
                read => read.join(", "),
            };
            let warnings = loaded.warnings.iter().map(|warning| Finding::warn("config", warning.to_string()));
            let keys = keys::warnings(loaded).into_iter().map(|warning| Finding::warn("config", warning));
            std::iter::once(Finding::ok("config", words)).chain(warnings).chain(keys).collect()
        }
        Err(error) => error
            .problems
            .iter()
            .map(|problem| {
                Finding::fail(
                    "config",
                    problem.to_string(),
                    "correct the file; the checks below use the built-in settings",
                )
            })
            .collect(),
    }
}

/// The store: where, what it holds, how big it is, and whether it opens.
pub async fn store(env: &Env) -> Vec<Finding> {
    let path = env.data_dir().join(STORE_FILE);
    match look_into(&path).await {
        Ok(Looked { sizes, set_aside, damage: None }) => {
            let told = set_aside.map(|aside| Finding::warn("store", aside.to_string()));
            let kept = damaged_before(&path).map(|words| Finding::warn("store", words));
            let room = room(env.data_dir());
            let words = format!("{}{}", in_words(&path, &sizes), room.as_ref().map_or("", |(_, words)| words));
            let found = match room {
                Some((free, _)) if free < LITTLE_ROOM => Finding::warn("store", words),
                Some(_) | None => Finding::ok("store", words),
            };
            told.into_iter().chain(kept).chain([found]).collect()
        }
        Ok(Looked { damage: Some(reason), .. }) => {
            let reason = reason.split_whitespace().collect::<Vec<_>>().join(" ");
            let words = format!("{} is damaged: {reason}", path.display());
            let fix = "any other command sets it aside and saves what can be read; nothing is deleted";
            vec![Finding::fail("store", words, fix)]
        }
        Err(error) => {
            let fix = match disk::is_full(env.data_dir()) {
                true => disk::store_advice(env.data_dir()).to_owned(),
                false => format!("make {} writable, or set NECO_HOME", env.data_dir().display()),
            };
            vec![Finding::fail("store", error.to_string(), fix)]
        }
    }
}

/// What was found in a store.
struct Looked {
    sizes: StoreSizes,
    /// The one before it, which was damaged.
    set_aside: Option<SetAside>,
    /// What is wrong with it now.
    damage: Option<String>,
}

async fn look_into(path: &Path) -> Result<Looked, StoreError> {
    // Whoever only looks sets nothing aside.
    if let Some(damage) = SqliteStore::damage(path).await {
        return Ok(Looked { sizes: StoreSizes::default(), set_aside: None, damage: Some(damage) });
    }
    let store = SqliteStore::open(path).await?;
    let damage = store.check().await?;
    let sizes = if damage.is_none() { store.sizes().await? } else { StoreSizes::default() };
    let set_aside = store.set_aside().cloned();
    store.close().await?;
    Ok(Looked { sizes, set_aside, damage })
}

/// Stores that were damaged before and are still there.
fn damaged_before(path: &Path) -> Option<String> {
    let files = std::fs::read_dir(path.parent()?).ok()?.flatten().map(|entry| entry.file_name());
    let is_old = |name: &String| name.contains("-damaged-") && name.ends_with(".db");
    let names: Vec<String> = files.map(|name| name.to_string_lossy().into_owned()).filter(is_old).collect();
    let words = "was damaged and set aside; delete it if you miss nothing in it";
    (!names.is_empty()).then(|| format!("{} {words}", names.join(", ")))
}

/// With less room than this on a disk, something soon can't be kept.
const LITTLE_ROOM: u64 = 100_000_000;

/// Bytes that are free on the disk of a folder, and how that is said.
fn room(folder: &Path) -> Option<(u64, String)> {
    let disk = rustix::fs::statvfs(folder).ok()?;
    let free = disk.f_bavail.saturating_mul(disk.f_frsize);
    Some((free, format!("; {} free on its disk", size(free))))
}

/// Such as `/home/me/.local/share/neco/neco.db: 12 sessions (2 forks), 3.4 MB and 0.5 MB for search`.
fn in_words(path: &Path, sizes: &StoreSizes) -> String {
    let StoreSizes { sessions, forks, free_bytes, .. } = *sizes;
    let counted = |number: u64, what: &str| format!("{number} {what}{}", if number == 1 { "" } else { "s" });
    let mut words = format!("{}: {}", path.display(), counted(sessions, "session"));
    if forks > 0 {
        let _ = write!(words, " ({})", counted(forks, "fork"));
    }
    let _ = write!(words, ", {}", size(sizes.file_bytes));
    if sizes.search_bytes > 0 {
        let _ = write!(words, " and {} for search", size(sizes.search_bytes));
    }
    if sizes.reserve_bytes > 0 {
        let _ = write!(words, "; {} held in reserve for a full disk", size(sizes.reserve_bytes));
    }
    if free_bytes > sizes.file_bytes / 4 && free_bytes > 10_000_000 {
        let _ = write!(words, "; {} of it is unused, `neco session prune` frees it", size(free_bytes));
    }
    words
}

/// Programs that tools use.
pub fn programs(config: &Config, env: &Env) -> Vec<Finding> {
    let shell = &config.tools.shell;
    let shell = match (env.find_program(shell), env.find_program("sh")) {
        (Some(path), _) => Finding::ok("shell", path.display().to_string()),
        (None, Some(path)) => {
            Finding::warn("shell", format!("{shell} is not there; commands run in {}", path.display()))
        }
        (None, None) => {
            Finding::fail("shell", format!("neither {shell} nor sh is there"), "install one, or set tools.shell")
        }
    };
    let git = match env.find_program("git") {
        Some(path) => Finding::ok("git", path.display().to_string()),
        None => Finding::warn("git", "not there; Neco works, but can't show you what changed"),
    };
    vec![shell, git]
}

/// What stands between commands and the machine, and what it leaves open.
pub fn sandbox(config: &Config, env: &Env) -> Vec<Finding> {
    let install = "allow user namespaces, or install bubblewrap (Debian: apt install bubblewrap)";
    let report = match sandbox::open(config, env, Ask::Anew) {
        Ok(sandbox) => sandbox.report().clone(),
        Err(failure) => return vec![Finding::fail("sandbox", failure.message, install)],
    };
    let words = report.in_short();
    let first = match (report.level, report.strength) {
        (Level::Full, _) => Finding::warn("sandbox", words),
        (_, Strength::Strong) => Finding::ok("sandbox", words),
        (_, Strength::Weaker | Strength::None) => {
            Finding { fix: Some(install.to_owned()), ..Finding::warn("sandbox", words) }
        }
    };
    let gaps = report.gaps.iter().map(|gap| Finding::warn("sandbox", format!("open: {gap}")));
    let unseen = (report.level != Level::Full && report.strength != Strength::None).then(|| unseen_home(env)).flatten();
    std::iter::once(first).chain(gaps).chain(unseen).collect()
}

/// Commands have a folder of their own in the place of `/tmp`, so that they do not see what lies there.
fn unseen_home(env: &Env) -> Option<Finding> {
    let inside = env.home().starts_with("/tmp") || env.home().starts_with("/var/tmp");
    inside.then(|| {
        let words = "your home lies in a temporary folder, of which commands have one of their own: they do not see \
                     ~/.gitconfig and the like, and git does not know who commits";
        Finding { fix: Some("set HOME to a folder elsewhere".to_owned()), ..Finding::warn("sandbox", words) }
    })
}

fn size(bytes: u64) -> String {
    match bytes {
        0..1_000_000 => format!("{} kB", bytes.div_ceil(1000)),
        1_000_000..1_000_000_000 => format!("{:.1} MB", bytes as f64 / 1e6),
        _ => format!("{:.1} GB", bytes as f64 / 1e9),
    }
}

/// The checkpoints of a folder.
pub fn checkpoints(folder: &Path, config: &Config, env: &Env) -> Finding {
    let section = &config.checkpoints;
    let open = checkpoints::opener(section, &services::environment(env), env.data_dir(), Unsaved::default());
    let Some(here) = open(folder) else {
        return Finding::warn("checkpoints", "off (checkpoints.enabled): what is changed can't be undone");
    };
    let stores = checkpoints::stores(env.data_dir());
    let all = match bytes_on_disk(&stores) {
        Ok(bytes) => bytes,
        Err(error) => return Finding::fail("checkpoints", error.to_string(), "make the folder readable"),
    };
    let own = here.size().map_or_else(|error| error.to_string(), size);
    let backend = here.backend();
    let words = format!("{backend}; {own} for this folder, {} in all ({})", size(all), stores.display());
    if section.backend == Backend::Git && backend != "git" {
        return Finding::warn(
            "checkpoints",
            format!("{words}; not in git, as there is no repository that can be used"),
        );
    }
    Finding::ok("checkpoints", words)
}
