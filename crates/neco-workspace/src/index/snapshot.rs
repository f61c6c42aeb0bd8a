//! The index as it was committed at one time: what questions are answered from.

use std::collections::HashMap;
use std::fs::File;
use std::path::Path;
use std::sync::Arc;

use neco_safety::Located;

use super::build::segment_path;
use super::manifest::{FileEntry, Manifest};
use super::segment::GONE;
use super::store::IndexError;
use super::table::Table;

/// The index as it was committed at one time.
#[derive(Debug)]
pub struct Snapshot {
    pub(super) root: Located,
    pub(super) manifest: Manifest,
    pub(super) segments: Vec<Segment>,
    pub(super) lengths: Lengths,
}

/// A segment that is open.
#[derive(Clone, Debug)]
pub(super) struct Segment {
    id: u64,
    pub(super) table: Arc<Table>,
    /// Which file of the manifest each of its numbers stands for.
    files: Vec<u32>,
}

/// How much text the files have, in the measure of weights: what every search asks of every file it finds.
#[derive(Debug)]
pub(super) struct Lengths {
    /// How many files can be searched.
    pub(super) count: u32,
    pub(super) average: f32,
    /// That of each file, by its number; zero for those that can't be searched.
    pub(super) each: Vec<u32>,
}

impl Lengths {
    fn of(manifest: &Manifest) -> Self {
        let each: Vec<u32> = manifest.files.iter().map(|file| file.place.map_or(0, |place| place.length)).collect();
        let count = manifest.files.iter().filter(|file| file.place.is_some()).count();
        let sum: f64 = each.iter().map(|length| f64::from(*length)).sum();
        let average = (sum / count.max(1) as f64) as f32;
        Self { count: u32::try_from(count).unwrap_or(u32::MAX), average, each }
    }
}

impl Segment {
    /// The file that a number stands for, if it still counts.
    pub(super) fn file(&self, doc: u32) -> Option<u32> {
        self.files.get(doc as usize).copied().filter(|file| *file != GONE)
    }
}

impl Snapshot {
    /// Opens all that a manifest names; what another snapshot has open is not opened again.
    pub(super) fn open(
        folder: &Path,
        root: Located,
        manifest: Manifest,
        known: Option<&Self>,
    ) -> Result<Self, IndexError> {
        let mut segments = Vec::with_capacity(manifest.segments.len());
        let mut position = HashMap::new();
        for entry in &manifest.segments {
            let open = known.and_then(|known| known.segments.iter().find(|segment| segment.id == entry.id));
            let table = match open {
                Some(segment) => Arc::clone(&segment.table),
                None => Arc::new(Table::open(File::open(segment_path(folder, entry.id))?)?),
            };
            position.insert(entry.id, segments.len());
            segments.push(Segment { id: entry.id, table, files: vec![GONE; entry.docs as usize] });
        }
        for (number, entry) in manifest.files.iter().enumerate() {
            let Some(place) = entry.place else { continue };
            let segment = position.get(&place.segment).and_then(|at| segments.get_mut(*at));
            let doc = segment.and_then(|segment| segment.files.get_mut(place.doc as usize));
            *doc.ok_or(IndexError::Damaged)? = u32::try_from(number).map_err(|_| IndexError::Damaged)?;
        }
        let lengths = Lengths::of(&manifest);
        Ok(Self { root, manifest, segments, lengths })
    }

    /// How many files can be searched.
    pub fn files(&self) -> usize {
        self.lengths.count as usize
    }

    /// Calls `each` with every key that begins like this, table by table: one that several tables have comes as often.
    pub(super) fn each_key(
        &self,
        beginning: &[u8],
        mut each: impl FnMut(&[u8]) -> Result<(), IndexError>,
    ) -> Result<(), IndexError> {
        for table in self.tables() {
            let mut cursor = table.seek(beginning)?;
            while let Some(key) = cursor.key().filter(|key| key.starts_with(beginning)) {
                each(key)?;
                cursor.advance()?;
            }
        }
        Ok(())
    }

    /// Grows with every commit; zero while nothing is indexed.
    pub(super) fn generation(&self) -> u64 {
        self.manifest.generation
    }

    pub(super) fn tables(&self) -> impl Iterator<Item = &Table> {
        self.segments.iter().map(|segment| &*segment.table)
    }

    pub(super) fn entry(&self, file: u32) -> Option<&FileEntry> {
        self.manifest.files.get(file as usize)
    }

    /// The path of a file, from the root.
    pub(super) fn path(&self, file: u32) -> &Path {
        self.entry(file).map_or(Path::new(""), |entry| &entry.path)
    }
}
