//! What Neco stands on: files, programs, the terminal.

use std::path::Path;

use neco_config::{Config, ConfigError, Env, Loaded};
use neco_safety::sandbox::{Ask, Level, Strength};
use neco_store::SqliteStore;

use super::finding::Finding;
use crate::ask::editor::Programs;
use crate::keys;
use crate::sandbox;
use crate::terminal::Terminal;
use crate::wire::STORE_FILE;

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

/// The store: where, how big, and whether it opens.
pub async fn store(env: &Env) -> Finding {
    let path = env.data_dir().join(STORE_FILE);
    let opened = match SqliteStore::open(&path).await {
        Ok(store) => store.close().await,
        Err(error) => Err(error),
    };
    match opened {
        Ok(()) => Finding::ok("store", format!("{} ({})", path.display(), size(&path))),
        Err(error) => Finding::fail(
            "store",
            error.to_string(),
            format!("make {} writable, or set NECO_HOME", env.data_dir().display()),
        ),
    }
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
    let install = "install bubblewrap (Debian: apt install bubblewrap) and allow user namespaces";
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
    std::iter::once(first).chain(gaps).collect()
}

/// The streams, the colours and the editor.
pub fn terminal(env: &Env) -> Finding {
    let terminal = Terminal::look_at(env);
    let is = |is: bool| if is { "terminal" } else { "no terminal" };
    let editor = Programs::wanted(env).editor;
    Finding::ok(
        "terminal",
        format!(
            "stdin {}, stdout {}, stderr {}; TERM={}; editor: {}",
            is(terminal.stdin),
            is(terminal.stdout),
            is(terminal.stderr),
            env.var("TERM").unwrap_or("(not set)"),
            editor.display()
        ),
    )
}

fn size(path: &Path) -> String {
    let beside = |ending: &str| path.with_file_name(format!("{STORE_FILE}{ending}"));
    let bytes: u64 = [path.to_owned(), beside("-wal")]
        .iter()
        .filter_map(|file| std::fs::metadata(file).ok())
        .map(|file| file.len())
        .sum();
    match bytes {
        0..1_000_000 => format!("{} kB", bytes.div_ceil(1000)),
        _ => format!("{:.1} MB", bytes as f64 / 1e6),
    }
}
