//! Brings the index up to date: reads what changed in several threads, each with a segment of its own.
//!
//! What a thread has indexed is committed whenever its segment is full, so that neither a cancelled
//! call nor a killed process loses more than that.

use std::collections::HashSet;
use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{SystemTime, UNIX_EPOCH};

use neco_safety::Located;

use super::language::{Language, holds_no_text};
use super::manifest::{FileEntry, FileStamp, Manifest, Place, SegmentEntry};
use super::parse::Parsers;
use super::scan::{self, Changes, Seen, threads};
use super::segment::SegmentBuilder;
use super::store::{IndexError, Watch};
use crate::bytes::fingerprint;

/// Memory that the segment of one thread takes before it is written.
const MOST_MEMORY: usize = 32 << 20;
/// Fewer files than this are not worth a second thread.
const FEW: usize = 24;
/// How long a file must have been left alone for its stamp to tell of every change.
const SETTLED: i64 = 2_000_000_000;

pub(super) fn segment_path(folder: &Path, id: u64) -> PathBuf {
    folder.join(format!("segment-{id}"))
}

pub(super) fn create_segment(folder: &Path, id: u64) -> io::Result<File> {
    let path = segment_path(folder, id);
    // Left by a process that was killed: it was never committed, or its name would not be free.
    let _ = fs::remove_file(&path);
    let mut options = File::options();
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options.write(true).create_new(true).open(path)
}

/// Indexes what changed. Whoever calls this holds the lock of the folder and saves the manifest that
/// comes back; on the way it is saved whenever a segment is full.
pub(super) fn build(
    root: &Located,
    folder: &Path,
    manifest: Manifest,
    changes: &Changes,
    watch: &dyn Watch,
) -> Result<Manifest, IndexError> {
    let total = changes.read.len();
    let work = Work {
        root,
        folder,
        watch,
        before: &manifest,
        files: &changes.read,
        next: AtomicUsize::new(0),
        done: AtomicUsize::new(0),
        next_segment: AtomicU64::new(manifest.next_segment),
        manifest: Mutex::new(manifest.clone()),
    };
    let threads = if total < FEW { 1 } else { threads() };
    if threads == 1 {
        work.run()?;
    } else {
        std::thread::scope(|scope| {
            let workers: Vec<_> = (0..threads).map(|_| scope.spawn(|| work.run())).collect();
            let broken = || Err(IndexError::Io(io::Error::other("a thread of the index broke off")));
            let ends = workers.into_iter().map(|worker| worker.join().unwrap_or_else(|_| broken()));
            // All are waited for, whatever one of them says.
            ends.collect::<Vec<_>>().into_iter().collect::<Result<Vec<()>, _>>().map(drop)
        })?;
    }
    let mut manifest = work.manifest.into_inner().unwrap_or_else(PoisonError::into_inner);
    forget(&mut manifest, &changes.gone);
    Ok(manifest)
}

fn forget(manifest: &mut Manifest, gone: &[PathBuf]) {
    if !gone.is_empty() {
        let gone: HashSet<&Path> = gone.iter().map(PathBuf::as_path).collect();
        manifest.files.retain(|entry| !gone.contains(entry.path.as_path()));
    }
}

/// What the threads share.
struct Work<'a> {
    root: &'a Located,
    folder: &'a Path,
    watch: &'a dyn Watch,
    before: &'a Manifest,
    files: &'a [Seen],
    next: AtomicUsize,
    done: AtomicUsize,
    next_segment: AtomicU64,
    manifest: Mutex<Manifest>,
}

impl Work<'_> {
    /// Works until nothing is left or the call is cancelled; what was indexed is kept either way.
    fn run(&self) -> Result<(), IndexError> {
        let mut worker =
            Worker { parsers: Parsers::default(), builder: SegmentBuilder::default(), entries: Vec::new() };
        while !self.watch.is_cancelled() {
            let Some(seen) = self.files.get(self.next.fetch_add(1, Ordering::Relaxed)) else { break };
            worker.index(self, seen);
            if worker.builder.memory > MOST_MEMORY {
                self.commit(&mut worker)?;
            }
            self.watch.progress(self.done.fetch_add(1, Ordering::Relaxed) + 1, self.files.len());
        }
        self.take(&mut worker).map(drop)
    }

    fn commit(&self, worker: &mut Worker) -> Result<(), IndexError> {
        Ok(self.take(worker)?.save(self.folder)?)
    }

    /// Writes the segment of a worker and takes what it has into the manifest.
    fn take(&self, worker: &mut Worker) -> Result<MutexGuard<'_, Manifest>, IndexError> {
        let docs = worker.builder.docs;
        let id = self.next_segment.fetch_add(1, Ordering::Relaxed);
        if docs > 0 {
            worker.builder.write(create_segment(self.folder, id)?)?;
        }
        let mut entries = std::mem::take(&mut worker.entries);
        for place in entries.iter_mut().filter_map(|(entry, is_new)| entry.place.as_mut().filter(|_| *is_new)) {
            place.segment = id;
        }
        let mut manifest = self.manifest.lock().unwrap_or_else(PoisonError::into_inner);
        manifest.put(entries.into_iter().map(|(entry, _)| entry).collect());
        manifest.next_segment = manifest.next_segment.max(id + 1);
        if docs > 0 {
            manifest.segments.push(SegmentEntry { id, docs });
        }
        manifest.generation += 1;
        Ok(manifest)
    }
}

struct Worker {
    parsers: Parsers,
    builder: SegmentBuilder,
    /// What is not committed yet, and whether it is in the segment in the making.
    entries: Vec<(FileEntry, bool)>,
}

impl Worker {
    fn index(&mut self, work: &Work<'_>, seen: &Seen) {
        let known = work.before.file(&seen.path);
        let entry = |stamp, fingerprint, settled, place| FileEntry {
            path: seen.path.clone(),
            stamp,
            fingerprint,
            settled,
            place,
        };
        if holds_no_text(&seen.path) {
            return self.entries.push((entry(seen.stamp, 0, true, None), false));
        }
        let (stamp, bytes, certain) = match scan::read(work.root, &seen.path) {
            Ok((stamp, bytes)) => (stamp, bytes, true),
            Err(error) => (seen.stamp, None, stays(&error)),
        };
        let settled = certain && is_settled(stamp);
        let Some(bytes) = bytes else { return self.entries.push((entry(stamp, 0, settled, None), false)) };
        let fingerprint = fingerprint(&bytes);
        if let Some(known) = known.filter(|known| known.fingerprint == fingerprint && known.stamp.size == stamp.size) {
            return self.entries.push((entry(stamp, fingerprint, settled, known.place), false));
        }
        let place = self.add(&seen.path, &bytes);
        self.entries.push((entry(stamp, fingerprint, settled, place), true));
    }

    fn add(&mut self, path: &Path, bytes: &[u8]) -> Option<Place> {
        let text = scan::decode(bytes)?;
        let code = Language::of(path).and_then(|language| self.parsers.read(language, &text));
        let added = self.builder.add(&path.to_string_lossy(), &text, code.as_ref());
        Some(Place { segment: 0, doc: added.doc, length: added.length })
    }
}

/// Whether what a file can't be read for stays so until it changes: it is gone again, or not for us to read.
/// Anything else, such as too many open files, is looked at again.
fn stays(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::PermissionDenied)
}

/// Whether a file was left alone long enough for its stamp to tell of every change to come.
fn is_settled(stamp: FileStamp) -> bool {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_nanos());
    let now = i64::try_from(now).unwrap_or(i64::MAX);
    stamp.modified.max(stamp.changed).saturating_add(SETTLED) < now
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_passing_failure_settles_nothing() {
        for (error, expected) in [
            (io::Error::from_raw_os_error(2), true),
            (io::Error::from_raw_os_error(13), true),
            // Too many open files, an input or output error, no memory, a stale handle.
            (io::Error::from_raw_os_error(24), false),
            (io::Error::from_raw_os_error(5), false),
            (io::Error::from_raw_os_error(12), false),
            (io::Error::from_raw_os_error(116), false),
        ] {
            assert_eq!(stays(&error), expected, "{error}");
        }
    }
}
