//! The index as it was committed at one time: what questions are answered from.

use std::collections::HashMap;
use std::fs::File;
use std::path::Path;
use std::sync::Arc;

use neco_safety::Located;

use super::build::segment_path;
use super::error::IndexError;
use super::manifest::{FileEntry, Manifest};
use super::segment::GONE;
use super::table::Table;

/// The index as it was committed at one time.
#[derive(Debug)]
pub struct Snapshot {
    root: Located,
    manifest: Manifest,
    segments: Vec<Segment>,
}

/// A segment that is open.
#[derive(Clone, Debug)]
pub(super) struct Segment {
    id: u64,
    pub(super) table: Arc<Table>,
    /// Which file of the manifest each of its numbers stands for.
    files: Vec<u32>,
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
        Ok(Self { root, manifest, segments })
    }

    /// How many files can be searched.
    #[must_use]
    pub fn files(&self) -> usize {
        self.manifest.files.iter().filter(|file| file.place.is_some()).count()
    }

    /// Grows with every commit; zero while nothing is indexed.
    pub(super) fn generation(&self) -> u64 {
        self.manifest.generation
    }

    pub(super) fn manifest(&self) -> &Manifest {
        &self.manifest
    }

    pub(super) fn root(&self) -> &Located {
        &self.root
    }

    pub(super) fn segments(&self) -> &[Segment] {
        &self.segments
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
