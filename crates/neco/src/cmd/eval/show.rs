//! An evaluation, from its tasks to the exit code.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use neco_app::eval::verify::Verdict;
use neco_app::eval::{Bench, Outcome, Progress, Results, RunKey, RunResult, SETTINGS, Summary, Task, TaskFile};
use neco_config::Env;
use neco_tui::line::run::listen;
use tokio::runtime::Runtime;
use tokio_util::sync::CancellationToken;

use super::arguments::EvalArgs;
use super::table;
use crate::args::{EverywhereArgs, RunArgs};
use crate::cmd::program::print;
use crate::compose;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::run::opener::TerminalOpener;
use crate::say;
use crate::signals::{InterruptMask, Signal};

/// So many runs in a row that a model could not be had for are enough: the rest would fail the same way.
const ENOUGH_ERRORS: u32 = 3;

/// Runs `neco eval …`.
pub fn run(args: &EvalArgs, everywhere: &EverywhereArgs, env: &Env) -> Result<Exit, Failure> {
    let tasks = tasks(args)?;
    if args.list {
        return print(args.json, &tasks, || table::tasks(&tasks, env));
    }
    let own = SETTINGS.iter().map(ToString::to_string);
    let overrides: Vec<String> = own.chain(everywhere.overrides.clone()).chain(args.box_args.overrides()).collect();
    let everywhere = EverywhereArgs { overrides, ..everywhere.clone() };
    let runtime = compose::runtime()?;
    let app = Arc::new(TerminalOpener::new(env, false, false)).program(&RunArgs::default(), &everywhere);
    let stopped = Arc::new(OnceLock::new());
    let stop = stops_at_a_signal(&runtime, &stopped)?;
    let bench = Bench { app: &app, overrides: &everywhere.overrides, keep: args.keep, stop };
    let seen = match args.verify {
        true => runtime.block_on(verify(&tasks, &bench)),
        false => evaluate(&runtime, args, &tasks, &bench),
    };
    let seen = seen.map(|exit| stopped.get().map_or(exit, |signal| Exit::Stopped(*signal)));
    compose::stop(runtime, app.stop(), seen)
}

/// The tasks that are meant, with the limits that hold.
fn tasks(args: &EvalArgs) -> Result<Vec<Task>, Failure> {
    let file = match &args.file {
        None => TaskFile::built_in()?,
        Some(path) => {
            let wrong = |why: String| Failure::usage(format!("{} can't be used: {why}", path.display()));
            let text = std::fs::read_to_string(path).map_err(|error| wrong(error.to_string()))?;
            TaskFile::read(&text).map_err(|error| wrong(error.message))?
        }
    };
    let all = file.with_limits().into_iter();
    let tasks: Vec<Task> = all
        .filter(|task| task.is_meant(&args.only))
        .map(|task| Task { limits: args.limits().or(task.limits), ..task })
        .collect();
    match tasks.is_empty() {
        true => Err(Failure::usage("no task has such a name or language").hint("`neco eval --list` lists them.")),
        false => Ok(tasks),
    }
}

/// Ctrl-C and its like stop what is under way; the second one quits.
fn stops_at_a_signal(runtime: &Runtime, stopped: &Arc<OnceLock<Signal>>) -> Result<CancellationToken, Failure> {
    let mut signals = listen(runtime, &InterruptMask::default())?;
    let stop = CancellationToken::new();
    let (told, stopped) = (stop.clone(), Arc::clone(stopped));
    runtime.spawn(async move {
        let signal = signals.next().await;
        let _ = stopped.set(signal);
        say::note("stopping… press Ctrl-C again to quit at once");
        told.cancel();
        compose::quit(signals.next().await);
    });
    Ok(stop)
}

/// Runs what is not done yet, and prints what all of it came to.
fn evaluate(runtime: &Runtime, args: &EvalArgs, tasks: &[Task], bench: &Bench<'_>) -> Result<Exit, Failure> {
    let runs = args.grid(runtime.block_on(models(args, bench))?).runs(tasks);
    let mut results = Results::open(&args.results)?;
    let done = runs.iter().filter(|(_, key)| is_done(&results, key)).count();
    if done > 0 {
        say::note(&format!("{done} of {} runs are in {} already", runs.len(), args.results.display()));
    }
    run_all(runtime, &runs, &mut results, bench)?;
    let summary = Summary::of(runs.iter().map(|(_, key)| (key, results.of(key))));
    print(args.json, &summary, || table::summary(&summary))?;
    let errors: u32 = summary.groups.iter().map(|group| group.errors).sum();
    let file = args.results.display();
    if errors > 0 {
        say::note(&format!("{errors} of {} runs could not be run; the same command tries them again", runs.len()));
    }
    if summary.left > 0 {
        let words = format!("{} of {} runs are left; the same command goes on", summary.left, runs.len());
        say::note(&format!("{words} where it was (results: {file})"));
    }
    Ok(if summary.left == 0 && errors == 0 { Exit::Done } else { Exit::Failed })
}

/// Runs what is not done yet, until somebody stops it. A result is on the disk before the next run begins.
fn run_all(
    runtime: &Runtime,
    runs: &[(&Task, RunKey)],
    results: &mut Results,
    bench: &Bench<'_>,
) -> Result<(), Failure> {
    let told = Mutex::new(BTreeSet::new());
    let (mut in_a_row, mut skipped) = (BTreeMap::<&str, u32>::new(), BTreeSet::new());
    for (number, (task, key)) in runs.iter().enumerate() {
        let errors = in_a_row.entry(&key.model).or_default();
        if is_done(results, key) || *errors >= ENOUGH_ERRORS {
            continue;
        }
        let at = format!("[{}/{}] {} ({})", number + 1, runs.len(), task.name, key.with());
        let heard = |progress: Progress| match progress {
            Progress::Note(words) => {
                if told.lock().unwrap_or_else(PoisonError::into_inner).insert(words.clone()) {
                    say::note(&words);
                }
            }
            Progress::Turn(1) => say::wrapped(&format!("{at} …")),
            Progress::Turn(_) => {}
        };
        let Some(result) = runtime.block_on(bench.attempt(task, key, &heard)) else { return Ok(()) };
        match result.outcome {
            // It is the same with every model.
            Outcome::Skipped if !skipped.insert(&task.name) => {}
            Outcome::Skipped => say::wrapped(&format!("{} {}", task.name, table::ended(&result))),
            Outcome::Passed | Outcome::Failed | Outcome::Error => {
                say::wrapped(&format!("{at} {}", table::ended(&result)));
                // A set-up that fails says nothing of the model.
                match result.outcome {
                    Outcome::Error => *errors += u32::from(result.is_unreached),
                    _ => *errors = 0,
                }
            }
        }
        if *errors == ENOUGH_ERRORS {
            let words = format!("{errors} runs in a row could not be run with {}", key.model);
            say::note(&format!("{words}; the rest of its runs are left out for now"));
        }
        if result.outcome != Outcome::Skipped || results.of(key).is_none() {
            results.add(result)?;
        }
    }
    Ok(())
}

/// Whether a run need not be run again.
fn is_done(results: &Results, key: &RunKey) -> bool {
    results.of(key).is_some_and(RunResult::is_final)
}

/// The models that are named, else the person's own. One that can't be had is told before anything is run.
async fn models(args: &EvalArgs, bench: &Bench<'_>) -> Result<Vec<String>, Failure> {
    let state = bench.app.workspaces().at(&std::env::temp_dir(), bench.overrides).await?.now();
    let named = match args.models.as_slice() {
        [] => vec![state.models.default_name()?],
        named => named.to_vec(),
    };
    for name in &named {
        state.models.provider_for(name)?;
    }
    Ok(named)
}

/// Looks whether tasks are sound, and says so of each.
async fn verify(tasks: &[Task], bench: &Bench<'_>) -> Result<Exit, Failure> {
    let mut wrong = 0;
    for task in tasks {
        let verdict = bench.verify(task).await;
        if bench.stop.is_cancelled() {
            break;
        }
        let words = match &verdict {
            Verdict::Sound => "sound".to_owned(),
            Verdict::Untried => "the check fails at first, as it should; there is no solution to try".to_owned(),
            Verdict::Skipped(missing) => format!("skipped: needs {missing}, which is not installed"),
            Verdict::PassesUndone => "WRONG: the check passes although nothing was done".to_owned(),
            Verdict::FailsSolved(tail) => format!("WRONG: the check fails with the solution: {tail}"),
            Verdict::Error(why) => format!("WRONG: {why}"),
        };
        wrong += u32::from(matches!(verdict, Verdict::PassesUndone | Verdict::FailsSolved(_) | Verdict::Error(_)));
        say::out(&format!("{}: {words}\n", task.name))?;
    }
    Ok(if wrong == 0 { Exit::Done } else { Exit::Failed })
}
