//! The process that builds and asks an index, so that its memory and processor time are its own.

use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use anyhow::Context as _;
use neco_safety::path::Access;
use neco_safety::world::Files;
use neco_workspace::index::{Index, Patient, Snapshot};
use nix::sys::resource::{UsageWho, getrusage};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::clock::milliseconds;
use crate::code_tree;
use neco_bench::toolbox::Toolbox;

/// The first argument that makes this program be that process.
pub const MARK: &str = "--indexing";

const ROUNDS: u64 = 7;
const CHANGED: usize = 10;

const QUESTIONS: [&str; 12] = [
    "session",
    "where is the session cache restored",
    "invoice payment refund",
    "verify_signature",
    "renderWidgetLayout",
    "cluster replica journal segment",
    "parser",
    "socket server client packet stream channel worker",
    "payments",
    "migrate schema column",
    "no_such_word_anywhere",
    "cipher secret",
];

/// What was measured.
#[derive(Debug, Serialize, Deserialize)]
pub struct Indexed {
    /// Seconds.
    pub first_build: f64,
    /// Milliseconds each.
    pub unchanged: Vec<f64>,
    /// Milliseconds each, after some files changed.
    pub changed: Vec<f64>,
    /// Milliseconds for a process that opens the index and looks at the workspace.
    pub opened: f64,
    /// Milliseconds each.
    pub search: Vec<f64>,
    /// Milliseconds each.
    pub names: Vec<f64>,
    /// Milliseconds for the first search with the tool in a process.
    pub tool_first: f64,
    /// Milliseconds each, for a search with the tool.
    pub tool_search: Vec<f64>,
    /// Milliseconds each, for a search with the tool after some files changed.
    pub tool_changed: Vec<f64>,
    /// Milliseconds each, for definitions or references with the tool.
    pub tool_names: Vec<f64>,
    /// Milliseconds.
    pub map: f64,
    /// Bytes at most.
    pub peak: u64,
    /// Bytes at the end.
    pub resident: u64,
    /// Bytes on the disk.
    pub size: u64,
    /// Milliseconds of processor time in a second in which nobody asked.
    pub idle: f64,
    /// Files in the index.
    pub files: usize,
}

/// Runs what `arguments` say: a workspace, a folder for indexes, a file for the figures.
pub fn main(mut arguments: impl Iterator<Item = OsString>) -> anyhow::Result<()> {
    let mut next = || arguments.next().map(PathBuf::from).context("an argument is missing");
    let (workspace, indexes, figures) = (next()?, next()?, next()?);
    Ok(fs::write(figures, serde_json::to_vec(&measure(&workspace, &indexes)?)?)?)
}

fn measure(workspace: &Path, indexes: &Path) -> anyhow::Result<Indexed> {
    let open = || -> anyhow::Result<Index> {
        Ok(Index::new(indexes, Files::new(workspace, Vec::new())?.locate(".", Access::Read)?))
    };
    let index = open()?;
    let begun = Instant::now();
    index.refresh(&Patient)?;
    let first_build = begun.elapsed().as_secs_f64();
    let peak = status("VmHWM")?;
    // Files that were written a moment ago are looked into once more.
    std::thread::sleep(Duration::from_millis(2100));
    index.refresh(&Patient)?;
    let mut unchanged = Vec::new();
    for _ in 0..ROUNDS {
        unchanged.push(timed(|| Ok(index.refresh(&Patient).map(drop)?))?);
    }
    let mut changed = Vec::new();
    for round in 1..=ROUNDS {
        code_tree::change(workspace, CHANGED, round)?;
        changed.push(timed(|| Ok(index.refresh(&Patient).map(drop)?))?);
    }
    let fresh = open()?;
    let opened = timed(|| Ok(fresh.refresh(&Patient).map(drop)?))?;
    let snapshot = index.refresh(&Patient)?;
    let (search, names) = (searches(&snapshot)?, names(&snapshot)?);
    let map = timed(|| Ok(snapshot.map(2000, &|_| true).map(drop)?))?;
    let toolbox = Toolbox::with_indexes(workspace, indexes)?;
    let with_tool = WithTool::measure(&toolbox, workspace)?;
    let idle = idle()?;
    let (resident, size, files) = (status("VmRSS")?, folder_size(indexes)?, snapshot.files());
    let peak = peak.max(status("VmHWM")?);
    let WithTool { first: tool_first, search: tool_search, changed: tool_changed, names: tool_names } = with_tool;
    Ok(Indexed {
        first_build,
        unchanged,
        changed,
        opened,
        search,
        names,
        tool_first,
        tool_search,
        tool_changed,
        tool_names,
        map,
        peak,
        resident,
        size,
        idle,
        files,
    })
}

/// What calls of the tools cost, which bring the index up to date themselves.
struct WithTool {
    first: f64,
    search: Vec<f64>,
    changed: Vec<f64>,
    names: Vec<f64>,
}

impl WithTool {
    fn measure(toolbox: &Toolbox, workspace: &Path) -> anyhow::Result<Self> {
        let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build()?;
        let call = |tool: &str, arguments: Value| {
            timed(|| {
                let output =
                    runtime.block_on(toolbox.call(tool, arguments)).map_err(|error| anyhow::anyhow!("{error}"))?;
                anyhow::ensure!(!output.model.is_empty(), "{tool} said nothing");
                Ok(())
            })
        };
        let ask = |question: &str| call("code_search", json!({ "query": question }));
        let first = ask("session")?;
        let (mut search, mut changed, mut names) = (Vec::new(), Vec::new(), Vec::new());
        for round in 1..=ROUNDS {
            code_tree::change(workspace, CHANGED, ROUNDS + round)?;
            changed.push(ask("session cache")?);
            for question in QUESTIONS {
                search.push(ask(question)?);
            }
            let name = code_tree::function(usize::try_from(round)? * 97, 2);
            for action in ["definitions", "references"] {
                names.push(call("code_index", json!({ "action": action, "name": name }))?);
            }
        }
        Ok(Self { first, search, changed, names })
    }
}

fn searches(snapshot: &Snapshot) -> anyhow::Result<Vec<f64>> {
    let mut times = Vec::new();
    for _ in 0..ROUNDS {
        for question in QUESTIONS {
            times.push(timed(|| Ok(snapshot.search(question, &|_| true, 0, 10).map(drop)?))?);
        }
    }
    Ok(times)
}

fn names(snapshot: &Snapshot) -> anyhow::Result<Vec<f64>> {
    let mut times = Vec::new();
    for number in 0..20 {
        let name = code_tree::function(number * 97, 2);
        times.push(timed(|| {
            let found = snapshot.definitions(&name, None, &|_| true)?;
            anyhow::ensure!(number * 97 % 800 >= 760 || !found.places.is_empty(), "{name} is not found");
            snapshot.references(&name, &|_| true)?;
            Ok(())
        })?);
    }
    Ok(times)
}

fn timed(work: impl FnOnce() -> anyhow::Result<()>) -> anyhow::Result<f64> {
    let begun = Instant::now();
    work()?;
    Ok(milliseconds(begun.elapsed()))
}

fn idle() -> anyhow::Result<f64> {
    let before = processor()?;
    std::thread::sleep(Duration::from_secs(1));
    Ok(processor()? - before)
}

/// Milliseconds of processor time so far.
fn processor() -> anyhow::Result<f64> {
    let usage = getrusage(UsageWho::RUSAGE_SELF)?;
    let time = |time: nix::sys::time::TimeVal| time.tv_sec() as f64 * 1e3 + time.tv_usec() as f64 / 1e3;
    Ok(time(usage.user_time()) + time(usage.system_time()))
}

fn status(name: &str) -> anyhow::Result<u64> {
    let text = fs::read_to_string("/proc/self/status")?;
    let line = text.lines().find_map(|line| line.strip_prefix(name)).context("the kernel does not say")?;
    let number = line.trim_start_matches(':').split_whitespace().next().context("no number")?;
    Ok(number.parse::<u64>()? * 1024)
}

fn folder_size(folder: &Path) -> anyhow::Result<u64> {
    let mut size = 0;
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        let facts = entry.metadata()?;
        size += if facts.is_dir() { folder_size(&entry.path())? } else { facts.len() };
    }
    Ok(size)
}
