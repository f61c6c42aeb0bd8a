//! Other names of files that rules close: a file has several where it was linked, and each leads to the same content.

use std::collections::{BTreeMap, HashMap};
use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use super::closing::Shut;
use super::search::Identity;

/// So much is looked at for files with several names, and for those names.
const MOST_ENTRIES: usize = 200_000;

/// The other names, below these folders, of files that are closed. Boxes make none: what is closed lies on a mount of
/// its own there.
pub(super) fn other_names(places: &BTreeMap<PathBuf, Shut>, roots: &[PathBuf]) -> BTreeMap<PathBuf, Shut> {
    let mut several: HashMap<Identity, Shut> = HashMap::new();
    let is_shut = |(_, shut): &(&PathBuf, &Shut)| shut.reading || shut.changing;
    for (place, shut) in places.iter().filter(is_shut) {
        files_below(place, |_, found| {
            if found.nlink() > 1 {
                several.insert((found.dev(), found.ino()), *shut);
            }
        });
    }
    let mut others = BTreeMap::new();
    if several.is_empty() {
        return others;
    }
    for root in roots {
        files_below(root, |path, found| {
            let shut = several.get(&(found.dev(), found.ino())).filter(|_| found.nlink() > 1);
            if let Some(shut) = shut.filter(|_| !path.ancestors().any(|above| places.contains_key(above))) {
                others.insert(path.to_path_buf(), *shut);
            }
        });
    }
    others
}

fn files_below(start: &Path, mut each: impl FnMut(&Path, &fs::Metadata)) {
    let mut waiting = vec![start.to_path_buf()];
    let mut looked_at = 0;
    while let Some(path) = waiting.pop() {
        looked_at += 1;
        if looked_at > MOST_ENTRIES {
            tracing::warn!(folder = %start.display(), "too much to look through for other names of files that rules close");
            return;
        }
        let Ok(found) = fs::symlink_metadata(&path) else { continue };
        if found.is_file() {
            each(&path, &found);
        } else if found.is_dir() {
            waiting.extend(fs::read_dir(&path).into_iter().flatten().flatten().map(|entry| entry.path()));
        }
    }
}
