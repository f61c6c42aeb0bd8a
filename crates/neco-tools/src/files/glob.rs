//! glob: files by name.

use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};
use std::time::SystemTime;

use ignore::{DirEntry, WalkState};
use neco_proto::Display;
use neco_safety::path::{Access, Located};
use neco_toolkit::{Plan, ToolError, ToolOutput};
use neco_workspace::{Scope, walker};
use schemars::JsonSchema;
use serde::Deserialize;

use super::call::{FileCall, FileTool, folder};
use super::foreign;
use super::list_directory::scope;
use super::pattern::{Pattern, names_hidden, split};

const DEFAULT_LIMIT: u32 = 200;

pub struct Glob;

#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Args {
    pattern: String,
    /// Default: the workspace.
    path: Option<String>,
    all: Option<bool>,
    skip: Option<u32>,
    limit: Option<u32>,
}

impl FileTool for Glob {
    type Args = Args;
    const NAME: &'static str = "glob";
    const DESCRIPTION: &'static str = include_str!("glob.md");
    const FOREIGN: &'static [foreign::Names] = &[foreign::FOLDER, foreign::FIND];

    fn summary(args: &Args) -> String {
        match args.path.as_deref() {
            None | Some("" | ".") => format!("Find {}", args.pattern),
            Some(path) => format!("Find {} in {path}", args.pattern),
        }
    }

    fn plan(&self, args: &Args, call: &FileCall) -> Result<Plan, ToolError> {
        let (folder, _) = start(args, call)?;
        Ok(call.judge.judge(&args.pattern, &folder, Access::Read)?.plan())
    }

    fn run(&self, args: &Args, call: &FileCall) -> Result<ToolOutput, ToolError> {
        let (folder, pattern) = start(args, call)?;
        call.judge.judge(&args.pattern, &folder, Access::Read)?;
        let found = find(&folder, &pattern, args, call)?;
        Ok(print(args, &found, call.ctx.max_output))
    }
}

/// Where the walk starts and what it looks for from there.
fn start(args: &Args, call: &FileCall) -> Result<(Located, Pattern), ToolError> {
    let (named, rest) = split(&args.pattern);
    let base = Path::new(folder(args.path.as_deref()));
    if named.as_os_str().is_empty() {
        return Ok((call.files().locate(base, Access::Read)?, Pattern::new(&rest)?));
    }
    Ok((call.files().locate(base.join(named), Access::Read)?, Pattern::anchored(&rest)?))
}

type Found = (SystemTime, PathBuf);

/// The files that fit, newest first.
fn find(folder: &Located, pattern: &Pattern, args: &Args, call: &FileCall) -> Result<Vec<PathBuf>, ToolError> {
    let (files, cancel) = (call.files(), &call.ctx.cancel);
    let found: Mutex<Vec<Found>> = Mutex::default();
    let scope = match scope(args.all) {
        Scope::Visible if names_hidden(&args.pattern) => Scope::Hidden,
        scope => scope,
    };
    walker(files.workspace(), folder.path(), scope).build_parallel().run(|| {
        Box::new(|entry| {
            if cancel.is_cancelled() {
                return WalkState::Quit;
            }
            let Ok(entry) = entry else { return WalkState::Continue };
            let is_closed = |kind| entry.depth() > 0 && files.leaves_out(entry.path(), kind);
            if entry.file_type().is_some_and(is_closed) {
                return WalkState::Skip;
            }
            if let Some(one) = fitting(entry, folder.path(), pattern) {
                found.lock().unwrap_or_else(PoisonError::into_inner).push(one);
            }
            WalkState::Continue
        })
    });
    call.go_on()?;
    let mut found = found.into_inner().unwrap_or_else(PoisonError::into_inner);
    found.sort_unstable_by(|a, b| b.0.cmp(&a.0).then_with(|| a.1.cmp(&b.1)));
    let workspace = files.workspace();
    let shown = |path: PathBuf| path.strip_prefix(workspace).map(Path::to_path_buf).unwrap_or(path);
    Ok(found.into_iter().map(|(_, path)| shown(path)).collect())
}

fn fitting(entry: DirEntry, folder: &Path, pattern: &Pattern) -> Option<Found> {
    if entry.depth() == 0 || entry.file_type().is_none_or(|kind| kind.is_dir()) {
        return None;
    }
    if !pattern.fits(entry.path().strip_prefix(folder).ok()?) {
        return None;
    }
    let modified = entry.metadata().ok().and_then(|facts| facts.modified().ok()).unwrap_or(SystemTime::UNIX_EPOCH);
    Some((modified, entry.into_path()))
}

fn print(args: &Args, found: &[PathBuf], bytes: usize) -> ToolOutput {
    let skip = args.skip.unwrap_or(0) as usize;
    let limit = args.limit.unwrap_or(DEFAULT_LIMIT) as usize;
    let mut text = String::new();
    let mut items = Vec::new();
    for path in found.iter().skip(skip).take(limit) {
        let path = path.to_string_lossy();
        if text.len() + path.len() > bytes {
            break;
        }
        text.push_str(&path);
        text.push('\n');
        items.push(path.into_owned());
    }
    let (last, end) = (skip + items.len(), text.len());
    if found.is_empty() {
        text.push_str(&format!("No file fits {}.", args.pattern));
    } else if last < found.len() {
        let words = format!(
            "({} of {} files, newest first; go on with skip={last}, or narrow the pattern)",
            items.len(),
            found.len()
        );
        text.push_str(&words);
    } else if items.is_empty() {
        text.push_str(&format!("(there are only {} files)", found.len()));
    }
    let total = found.len() as u64;
    ToolOutput::text(text).outside(..end, "glob").with_display(Display::List {
        title: args.pattern.clone(),
        items,
        total,
    })
}
