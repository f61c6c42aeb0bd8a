//! Keeps the segments few: small ones become one, those that hold little that counts are written anew.

use std::collections::{HashMap, HashSet};
use std::fs::{self, File};
use std::path::Path;

use super::build::{create_segment, segment_path};
use super::manifest::{Manifest, SegmentEntry};
use super::segment::{GONE, merge};
use super::store::IndexError;
use super::table::Table;

/// Segments of one tier that become one.
const MANY: usize = 8;
/// Files below which a segment is in the tier; larger ones stay as they are.
const TIERS: [u32; 3] = [64, 512, 4096];

/// Merges what should be merged; the manifest is not saved. Says whether it changed.
pub(super) fn tidy(folder: &Path, manifest: &mut Manifest) -> Result<bool, IndexError> {
    let mut changed = drop_empty(manifest);
    while let Some(group) = group(manifest) {
        merge_group(folder, manifest, &group)?;
        changed = true;
    }
    Ok(changed)
}

/// Removes the files of the folder that are no part of the index. Whoever calls this holds the lock.
pub(super) fn sweep(folder: &Path, manifest: &Manifest) {
    let kept: HashSet<String> = manifest.segments.iter().map(|segment| format!("segment-{}", segment.id)).collect();
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        let name = entry.file_name();
        let Some(name) = name.to_str() else { continue };
        if (name.starts_with("segment-") && !kept.contains(name)) || name.starts_with("new-") {
            // What can't be removed now is tried again the next time.
            let _ = fs::remove_file(entry.path());
        }
    }
}

/// How many files of each segment count.
fn live(manifest: &Manifest) -> HashMap<u64, u32> {
    let mut live = HashMap::new();
    for place in manifest.files.iter().filter_map(|file| file.place) {
        *live.entry(place.segment).or_insert(0) += 1;
    }
    live
}

fn drop_empty(manifest: &mut Manifest) -> bool {
    let live = live(manifest);
    let before = manifest.segments.len();
    manifest.segments.retain(|segment| live.contains_key(&segment.id));
    before != manifest.segments.len()
}

/// Segments that should become one.
fn group(manifest: &Manifest) -> Option<Vec<u64>> {
    let live = live(manifest);
    let of = |segment: &SegmentEntry| live.get(&segment.id).copied().unwrap_or(0);
    let is_hollow = |segment: &&SegmentEntry| segment.docs > 64 && of(segment) * 2 < segment.docs;
    if let Some(hollow) = manifest.segments.iter().find(is_hollow) {
        return Some(vec![hollow.id]);
    }
    let mut from = 0;
    TIERS.iter().find_map(|to| {
        let tier = from..*to;
        from = *to;
        let group: Vec<u64> =
            manifest.segments.iter().filter(|segment| tier.contains(&of(segment))).map(|segment| segment.id).collect();
        (group.len() >= MANY).then_some(group)
    })
}

fn merge_group(folder: &Path, manifest: &mut Manifest, group: &[u64]) -> Result<(), IndexError> {
    let merged: Vec<SegmentEntry> =
        manifest.segments.iter().copied().filter(|segment| group.contains(&segment.id)).collect();
    let mut numbers: Vec<Vec<u32>> = merged.iter().map(|segment| vec![GONE; segment.docs as usize]).collect();
    let position: HashMap<u64, usize> = merged.iter().enumerate().map(|(at, segment)| (segment.id, at)).collect();
    for place in manifest.files.iter().filter_map(|file| file.place) {
        let numbers = position.get(&place.segment).and_then(|at| numbers.get_mut(*at));
        if let Some(number) = numbers.and_then(|numbers| numbers.get_mut(place.doc as usize)) {
            *number = 0;
        }
    }
    let mut docs = 0;
    for number in numbers.iter_mut().flatten().filter(|number| **number != GONE) {
        *number = docs;
        docs += 1;
    }
    let opened = merged.iter().map(|segment| Table::open(File::open(segment_path(folder, segment.id))?));
    let tables = opened.collect::<Result<Vec<_>, IndexError>>()?;
    let id = manifest.next_segment;
    merge(&tables.iter().collect::<Vec<_>>(), &numbers, create_segment(folder, id)?)?;
    manifest.next_segment += 1;
    manifest.segments.retain(|segment| !group.contains(&segment.id));
    manifest.segments.push(SegmentEntry { id, docs });
    for place in manifest.files.iter_mut().filter_map(|file| file.place.as_mut()) {
        let Some(at) = position.get(&place.segment) else { continue };
        let new = numbers.get(*at).and_then(|numbers| numbers.get(place.doc as usize));
        place.doc = *new.ok_or(IndexError::Damaged)?;
        place.segment = id;
    }
    Ok(())
}
