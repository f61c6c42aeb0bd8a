//! Git in a box, for worktrees: what a command left in a working tree starts nothing outside, whoever looks at it.

use std::ffi::OsString;
use std::io::{self, Read};
use std::os::unix::ffi::OsStringExt;
use std::path::{Path, PathBuf};
use std::time::Duration;

use neco_config::{Config, Env, LoadOptions};
use neco_safety::path::open_without_links;
use neco_safety::world::{Exit, Launch, Leftovers, Process, Processes, Progress, Stdin};
use neco_sandbox::{Level, Roots, Spawner};
use neco_workspace::worktree_git::{LEADS_ELSEWHERE, Ran, look_in_box, run_plainly};

use crate::services;
use crate::workspace::sandbox;

/// How long git may take: a large tree is looked through, and filters of the person's may run.
const PATIENCE: Duration = Duration::from_secs(600);

/// More than this is no difference that anybody wants.
const MOST_OUTPUT: usize = 512 * 1024 * 1024;
const MOST_ERRORS: u64 = 16 * 1024;

/// Starts a program with its errors in a file: what a box gives back is one stream.
const APART: &str = r#"errors=$1; shift; exec "$@" 2>"$errors""#;

/// From now on git looks into working trees in a box, as the settings of this user want it.
pub fn install(env: &Env) {
    let env = env.clone();
    look_in_box(Box::new(move |folder, words| {
        // In a thread of its own: whoever asks may be one of a runtime, which must not wait.
        std::thread::scope(|scope| {
            let asked = scope.spawn(|| run(&env, folder, words));
            asked.join().unwrap_or_else(|_| Err(io::Error::other("git could not be run")))
        })
    }));
}

fn run(env: &Env, folder: &Path, words: &[OsString]) -> io::Result<Ran> {
    let loaded = neco_config::load(LoadOptions { env, cwd: folder, overrides: &[] }).map_err(io::Error::other)?;
    // Only looking needs nothing to write to.
    let level = if words.iter().any(|word| word == "status") { Level::ReadOnly } else { Level::WorkspaceWrite };
    let Some(spawner) = spawner(&loaded.config, env, folder, level)? else { return run_plainly(folder, words) };
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    runtime.block_on(async {
        let done = tokio::time::timeout(PATIENCE, in_box(&spawner, folder, words)).await;
        done.unwrap_or_else(|_| Err(io::ErrorKind::TimedOut.into()))
    })
}

/// What starts programs that change nothing but this folder and its repository; nothing where there is no box.
fn spawner(config: &Config, env: &Env, folder: &Path, level: Level) -> io::Result<Option<Spawner>> {
    let mut config = config.clone();
    // Where commands have no box by choice, git has none either.
    if config.sandbox.level != Level::Full {
        config.sandbox.level = level;
    }
    let sandbox = sandbox::open_for_git(&config, env).map_err(|failure| io::Error::other(failure.to_string()))?;
    let environment = services::environment(env).into_iter();
    let own = environment.filter(|(name, _)| !LEADS_ELSEWHERE.iter().any(|leads| name == *leads)).collect();
    // A worktree that is only looked at needs its repository all the same, which may lie where boxes see nothing.
    let readable = if level == Level::ReadOnly { repository_of(folder) } else { None };
    let roots = Roots { writable: vec![folder.to_path_buf()], readable: readable.into_iter().collect() };
    let spawner = Spawner::new(own, &services::hidden_variables(&config)).boxed(&sandbox, roots)?;
    Ok(spawner.is_boxed().then_some(spawner))
}

/// The git folder that a working tree shares with others. Asking for it looks into no working tree.
fn repository_of(folder: &Path) -> Option<PathBuf> {
    let words = ["rev-parse", "--path-format=absolute", "--git-common-dir"].map(OsString::from);
    let mut path = run_plainly(folder, &words).ok().filter(|ran| ran.succeeded)?.output;
    path.truncate(path.trim_ascii_end().len());
    Some(PathBuf::from(OsString::from_vec(path))).filter(|path| path.is_absolute())
}

async fn in_box(spawner: &Spawner, folder: &Path, words: &[OsString]) -> io::Result<Ran> {
    let errors: PathBuf = spawner.temporary_folder().join("git-errors");
    let before = [OsString::from("-c"), APART.into(), "git".into(), errors.clone().into(), "git".into()];
    let launch = Launch {
        program: "sh".into(),
        arguments: before.into_iter().chain(words.iter().cloned()).collect(),
        folder: folder.to_path_buf(),
        stdin: Stdin::Closed,
        terminal: false,
        leftovers: Leftovers::End,
        variables: Vec::new(),
        errors: None,
    };
    let mut running = spawner.start(launch).await.map_err(|error| io::Error::other(error.to_string()))?;
    let mut output = Vec::new();
    let exit = loop {
        match running.next().await {
            Progress::Output(_) if output.len() > MOST_OUTPUT => return Err(io::ErrorKind::FileTooLarge.into()),
            Progress::Output(bytes) => output.extend_from_slice(bytes),
            Progress::Ended(ending) => break ending.exit,
        }
    };
    Ok(Ran { succeeded: exit == Exit::Code(0), output, errors: beginning_of(&errors).unwrap_or_default() })
}

/// What runs in the box may have put anything in its place.
fn beginning_of(file: &Path) -> io::Result<Vec<u8>> {
    let mut text = Vec::new();
    open_without_links(file)?.take(MOST_ERRORS).read_to_end(&mut text)?;
    Ok(text)
}
