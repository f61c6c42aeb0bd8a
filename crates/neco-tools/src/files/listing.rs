//! What is in a folder, for a model and for a person.

use std::collections::HashSet;
use std::ffi::OsString;
use std::fmt::Write;
use std::fs::{self, FileType};
use std::path::Path;

use neco_proto::Display;
use neco_safety::path::Located;
use neco_safety::world::Files;
use neco_toolkit::{ToolError, ToolOutput};
use neco_workspace::{Scope, walker};

/// Which part of a listing is wanted.
#[derive(Clone, Copy, Debug)]
pub struct Page {
    /// Entries to leave out at the beginning.
    pub skip: usize,
    /// Entries to show at most.
    pub limit: usize,
    /// Bytes to show at most.
    pub bytes: usize,
}

struct Entry {
    name: OsString,
    kind: FileType,
}

impl Entry {
    /// The entry as a line; only what is shown is looked at more closely.
    fn line(&self, folder: &Path) -> String {
        let name = self.name.to_string_lossy();
        let path = folder.join(&self.name);
        if self.kind.is_dir() {
            return format!("{name}/");
        }
        if self.kind.is_symlink() {
            let target = fs::read_link(path).map(|target| format!(" -> {}", target.to_string_lossy()));
            return format!("{name}{}", target.unwrap_or_default());
        }
        let size = fs::symlink_metadata(path).ok().filter(|_| self.kind.is_file()).map(|facts| size(facts.len()));
        size.map_or_else(|| name.to_string(), |size| format!("{name}  {size}"))
    }
}

/// Lists a folder: folders first, then files, each by name.
pub fn list(files: &Files, folder: &Located, scope: Scope, page: Page) -> Result<ToolOutput, ToolError> {
    let mut all = entries(folder)?;
    // What rules close is not even counted.
    all.retain(|entry| !files.leaves_out(&folder.path().join(&entry.name), entry.kind));
    let seen: HashSet<OsString> = walker(files.workspace(), folder.path(), scope)
        .max_depth(Some(1))
        .build()
        .flatten()
        .filter(|entry| entry.depth() == 1)
        .map(|entry| entry.file_name().to_owned())
        .collect();
    let total = all.len();
    let mut entries: Vec<Entry> = all.into_iter().filter(|entry| seen.contains(&entry.name)).collect();
    entries.sort_by(|a, b| b.kind.is_dir().cmp(&a.kind.is_dir()).then_with(|| a.name.cmp(&b.name)));
    Ok(print(folder, &entries, total - entries.len(), page))
}

fn entries(folder: &Located) -> Result<Vec<Entry>, ToolError> {
    let failed = |error: std::io::Error| ToolError::failed(format!("{} can't be listed: {error}", folder.shown()));
    let mut entries = Vec::new();
    for entry in fs::read_dir(folder.path()).map_err(failed)? {
        let entry = entry.map_err(failed)?;
        entries.push(Entry { name: entry.file_name(), kind: entry.file_type().map_err(failed)? });
    }
    Ok(entries)
}

fn print(folder: &Located, entries: &[Entry], left_out: usize, page: Page) -> ToolOutput {
    let shown = folder.shown();
    let mut text = format!("{}/\n", shown.trim_end_matches('/'));
    let mut items = Vec::new();
    for entry in entries.iter().skip(page.skip).take(page.limit) {
        let line = entry.line(folder.path());
        if text.len() + line.len() > page.bytes {
            break;
        }
        let _ = writeln!(text, "{line}");
        items.push(line);
    }
    let last = page.skip + items.len();
    if entries.is_empty() {
        text.push_str("(empty)\n");
    } else if items.len() < entries.len() {
        let _ = write!(text, "({}–{last} of {} entries", (page.skip + 1).min(last), entries.len());
        text.push_str(&if last < entries.len() { format!("; go on with skip={last})\n") } else { ")\n".to_owned() });
    }
    if left_out > 0 {
        let _ = writeln!(text, "({left_out} hidden or ignored left out; all=true shows them, but never .git)");
    }
    ToolOutput::text(text).outside(.., shown.clone()).with_display(Display::List {
        title: shown,
        items,
        total: entries.len() as u64,
    })
}

/// A number of bytes as people say it.
pub fn size(bytes: u64) -> String {
    const UNITS: [&str; 4] = ["KB", "MB", "GB", "TB"];
    if bytes < 1024 {
        return format!("{bytes} B");
    }
    let mut value = bytes as f64 / 1024.0;
    let mut unit = 0;
    while value >= 1024.0 && unit + 1 < UNITS.len() {
        value /= 1024.0;
        unit += 1;
    }
    format!("{value:.1} {}", UNITS.get(unit).copied().unwrap_or_default())
}
