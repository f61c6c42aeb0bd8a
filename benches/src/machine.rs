//! What the figures were taken on.

use std::fs::{self, File};
use std::io::Write as _;
use std::path::Path;
use std::thread;
use std::time::Duration;

use anyhow::Context as _;
use serde::Serialize;

use crate::clock::{Moment, milliseconds};
use crate::samples::Samples;

const SYNCS: usize = 21;
const LOOK: Duration = Duration::from_secs(1);

/// What the figures were taken on: enough to tell which ones can be compared.
#[derive(Clone, Debug, Serialize)]
pub struct Machine {
    /// The processor's name.
    pub processor: String,
    /// Processors that this process may use.
    pub processors: usize,
    /// Memory in megabytes.
    pub memory_mb: u64,
    /// The kernel's version.
    pub kernel: String,
    /// The kind of file system that the runs write to.
    pub file_system: String,
    /// Milliseconds that one small write takes to be on that disk: a part of every durable step.
    pub sync_ms: f64,
    /// The share of processor time that was in use right before the first measurement.
    pub busy: f64,
    /// The load average of the last minute before the first measurement.
    pub load_before: f64,
    /// The same after the last one.
    pub load_after: f64,
}

impl Machine {
    /// Looks at the machine; `folder` is where the runs write.
    pub fn look(folder: &Path) -> anyhow::Result<Self> {
        let processors = thread::available_parallelism().map_or(1, usize::from);
        Ok(Self {
            processor: entry("/proc/cpuinfo", "model name").unwrap_or_else(|| std::env::consts::ARCH.to_owned()),
            processors,
            memory_mb: memory_mb().unwrap_or_default(),
            kernel: fs::read_to_string("/proc/sys/kernel/osrelease").unwrap_or_default().trim().to_owned(),
            file_system: file_system(folder).unwrap_or_else(|| "unknown".to_owned()),
            sync_ms: sync_ms(folder).context("can't time a durable write")?,
            busy: busy(),
            load_before: load(),
            load_after: 0.0,
        })
    }

    /// Whether something else was at work, so that times say little.
    pub fn is_busy(&self) -> bool {
        self.busy > 0.1
    }
}

/// The share of processor time in use, over a moment. The load average would still tell of what
/// ended a minute ago, such as the build of the program under test.
fn busy() -> f64 {
    let (total, idle) = processor_time();
    thread::sleep(LOOK);
    let (total_after, idle_after) = processor_time();
    let passed = total_after.saturating_sub(total).max(1) as f64;
    1.0 - idle_after.saturating_sub(idle) as f64 / passed
}

/// All processor time since the start of the machine, and how much of it was idle, in ticks.
fn processor_time() -> (u64, u64) {
    let text = fs::read_to_string("/proc/stat").unwrap_or_default();
    let line = text.lines().next().unwrap_or_default();
    // user nice system idle iowait irq softirq steal; what follows is contained in the first two.
    let ticks: Vec<u64> = line.split_whitespace().skip(1).take(8).filter_map(|tick| tick.parse().ok()).collect();
    (ticks.iter().sum(), ticks.iter().skip(3).take(2).sum())
}

/// The load average of the last minute.
pub fn load() -> f64 {
    let text = fs::read_to_string("/proc/loadavg").unwrap_or_default();
    text.split_whitespace().next().and_then(|first| first.parse().ok()).unwrap_or_default()
}

fn entry(file: &str, name: &str) -> Option<String> {
    let text = fs::read_to_string(file).ok()?;
    let line = text.lines().find(|line| line.starts_with(name))?;
    Some(line.split_once(':')?.1.trim().to_owned())
}

fn memory_mb() -> Option<u64> {
    let kilobytes: u64 = entry("/proc/meminfo", "MemTotal")?.split_whitespace().next()?.parse().ok()?;
    Some(kilobytes / 1024)
}

fn file_system(folder: &Path) -> Option<String> {
    let folder = fs::canonicalize(folder).ok()?;
    let mounts = fs::read_to_string("/proc/self/mounts").ok()?;
    let fields = mounts.lines().filter_map(|line| {
        let mut fields = line.split_whitespace().skip(1);
        Some((Path::new(fields.next()?), fields.next()?))
    });
    let deepest = fields.filter(|(at, _)| folder.starts_with(at)).max_by_key(|(at, _)| at.components().count())?;
    Some(deepest.1.to_owned())
}

fn sync_ms(folder: &Path) -> anyhow::Result<f64> {
    let path = folder.join("sync");
    let mut file = File::create(&path)?;
    let mut times = Vec::with_capacity(SYNCS);
    for _ in 0..SYNCS {
        let begun = Moment::now();
        file.write_all(&[0; 4096])?;
        file.sync_data()?;
        times.push(milliseconds(Moment::now().since(begun)));
    }
    fs::remove_file(&path)?;
    Ok(Samples::of(times).map_or(0.0, |samples| samples.median))
}
