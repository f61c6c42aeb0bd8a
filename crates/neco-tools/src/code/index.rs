//! code_index: names, outlines and the map.

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use neco_proto::ErrorCode;
use neco_proto::event::OutputStream;
use neco_safety::path::{Access, Located};
use neco_safety::policy::Closed;
use neco_safety::world::Files;
use neco_toolkit::{LiveOutput, Plan, ToolContext, ToolError, ToolOutput, counted};
use neco_workspace::index::{
    Definitions, Index, IndexError, Indexes, Likeness, Place, Snapshot, SymbolKind, UsesOfFile, Watch,
};
use schemars::JsonSchema;
use serde::Deserialize;
use tokio_util::sync::CancellationToken;

use super::outline;
use super::page::{Page, rest};
use super::search::LONGEST;
use crate::files::call::{FileCall, FileTool, cancelled, folder};
use crate::files::near;
use crate::files::pattern::Pattern;

const DEFAULT_DEFINITIONS: u32 = 30;
const DEFAULT_REFERENCES: u32 = 100;
const DEFAULT_TOKENS: u32 = 2000;
const MOST_TOKENS: u32 = 20_000;

pub struct CodeIndex(pub Arc<Indexes>);

#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Args {
    action: Action,
    /// The name, for definitions and references.
    name: Option<String>,
    /// The file, for outline; otherwise the folder or file to stay in.
    path: Option<String>,
    /// Only definitions of this kind.
    kind: Option<Kind>,
    /// Size of the map.
    tokens: Option<u32>,
    /// Results to skip.
    skip: Option<u32>,
    /// Results to show.
    limit: Option<u32>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Action {
    Outline,
    Definitions,
    References,
    Map,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Kind {
    Function,
    Method,
    Class,
    Struct,
    Enum,
    Variant,
    Interface,
    Type,
    Constant,
    Module,
    Macro,
    Variable,
    Field,
}

impl Kind {
    fn symbol(self) -> Option<SymbolKind> {
        SymbolKind::from_name(&format!("{self:?}").to_lowercase())
    }
}

impl Args {
    fn path(&self) -> &str {
        folder(self.path.as_deref())
    }

    fn name(&self) -> &str {
        self.name.as_deref().unwrap_or_default().trim()
    }

    fn skip(&self) -> usize {
        self.skip.unwrap_or(0) as usize
    }

    fn limit(&self, usual: u32) -> usize {
        self.limit.unwrap_or(usual).max(1) as usize
    }

    /// What is missing for the action.
    fn check(&self) -> Result<(), ToolError> {
        let missing = match self.action {
            Action::Outline if self.path() == "." => "outline needs path: the file",
            Action::Definitions | Action::References if self.name().is_empty() => "this action needs name",
            Action::Outline | Action::Definitions | Action::References | Action::Map => return Ok(()),
        };
        Err(ToolError::new(ErrorCode::InvalidArguments, missing))
    }
}

impl FileTool for CodeIndex {
    type Args = Args;
    const NAME: &'static str = "code_index";
    const DESCRIPTION: &'static str = include_str!("code_index.md");
    const LONGEST: Option<Duration> = Some(LONGEST);

    fn summary(args: &Args) -> String {
        let place = match args.path() {
            "." => String::new(),
            path => format!(" in {path}"),
        };
        match args.action {
            Action::Outline if args.path() == "." => "Outline".to_owned(),
            Action::Outline => format!("Outline {}", args.path()),
            Action::Definitions if args.name().is_empty() => "Definitions".to_owned(),
            Action::Definitions => format!("Definitions of {}{place}", args.name()),
            Action::References if args.name().is_empty() => "References".to_owned(),
            Action::References => format!("References to {}{place}", args.name()),
            Action::Map => format!("Map of the code{place}"),
        }
    }

    fn plan(&self, args: &Args, call: &FileCall) -> Result<Plan, ToolError> {
        args.check()?;
        let narrow = Narrow::new(call.files(), args.path.as_deref(), None)?;
        Ok(call.judge.judge(args.path(), &narrow.place, Access::Read)?.plan())
    }

    fn run(&self, args: &Args, call: &FileCall) -> Result<ToolOutput, ToolError> {
        args.check()?;
        let narrow = Narrow::new(call.files(), args.path.as_deref(), None)?;
        call.judge.judge(args.path(), &narrow.place, Access::Read)?;
        let (bytes, fits) = (call.ctx.max_output, |path: &Path| narrow.fits(path));
        if args.action == Action::Outline {
            return outline::show(&narrow.place, bytes);
        }
        let answered = index_of(&self.0, call.files())?.ask(&Progress::of(&call.ctx), |snapshot| match args.action {
            Action::Definitions => {
                let found = snapshot.definitions(args.name(), args.kind.and_then(Kind::symbol), &fits)?;
                Ok(definitions(args, snapshot, &found, bytes))
            }
            Action::References => Ok(references(args, snapshot, &snapshot.references(args.name(), &fits)?, bytes)),
            Action::Outline | Action::Map => map(args, snapshot, &fits),
        });
        answered.map_err(failed)
    }
}

fn definitions(args: &Args, snapshot: &Snapshot, found: &Definitions, bytes: usize) -> ToolOutput {
    let mut page = Page::new(bytes);
    let asked = found.places.iter().skip(args.skip()).take(args.limit(DEFAULT_DEFINITIONS));
    let shown = asked.take_while(|place| page.add(&place.path, &[defined(snapshot, place)])).count();
    let total = found.places.len();
    let mut note = match (total, found.likeness) {
        (0, _) => format!("Nothing is defined under a name like {}; try code_search or grep.\n", args.name()),
        (_, Likeness::Same) => String::new(),
        (_, Likeness::AnyCase) => "(no name is written exactly so; these differ in capital letters)\n".to_owned(),
        (_, Likeness::Beginning) => "(no name is exactly this; these begin with it)\n".to_owned(),
        (_, Likeness::Inside) => "(no name is exactly this; these contain it)\n".to_owned(),
        (_, Likeness::Similar) => "(no name is exactly this; these resemble it)\n".to_owned(),
    };
    note.push_str(&rest(shown, args.skip(), total, "definition", ""));
    page.finish("code_index", args.name().to_owned(), total, &note)
}

fn defined(snapshot: &Snapshot, place: &Place) -> String {
    let definition = &place.definition;
    let text = snapshot.lines_of(&place.path, &[definition.line]).concat();
    let container = match definition.container.as_str() {
        "" => String::new(),
        container => format!(" in {container}"),
    };
    let (line, end) = (definition.line, definition.end_line);
    let lines = if end > line { format!(", lines {line}–{end}") } else { String::new() };
    format!("{line}: {text}  [{}{container}{lines}]", definition.kind.name())
}

fn references(args: &Args, snapshot: &Snapshot, found: &[UsesOfFile], bytes: usize) -> ToolOutput {
    let mut page = Page::new(bytes);
    let total: usize = found.iter().map(|file| file.lines.len()).sum();
    let (mut skip, mut left) = (args.skip(), args.limit(DEFAULT_REFERENCES));
    let (mut shown, mut doubtful) = (0, false);
    'files: for file in found {
        let skipped = skip.min(file.lines.len());
        skip -= skipped;
        let lines: Vec<(u32, bool)> = file.lines.iter().copied().skip(skipped).take(left).collect();
        let numbers: Vec<u32> = lines.iter().map(|(number, _)| *number).collect();
        let texts = snapshot.lines_of(&file.path, &numbers);
        for ((number, certain), text) in lines.iter().zip(texts) {
            let sign = if *certain { ':' } else { '~' };
            if !page.add(&file.path, &[format!("{number}{sign} {text}")]) {
                break 'files;
            }
            doubtful |= !certain;
            shown += 1;
            left -= 1;
        }
        if left == 0 {
            break;
        }
    }
    let mut note = if total == 0 {
        format!("No code uses the name {}; grep also searches comments and other files.\n", args.name())
    } else {
        rest(shown, args.skip(), total, "line", &format!(" in {}", counted(found.len(), "file", "files")))
    };
    if doubtful {
        note.push_str("(~ marks lines where it may be a local variable of that name)\n");
    }
    page.finish("code_index", args.name().to_owned(), total, &note)
}

fn map(args: &Args, snapshot: &Snapshot, fits: &dyn Fn(&Path) -> bool) -> Result<ToolOutput, IndexError> {
    let tokens = args.tokens.unwrap_or(DEFAULT_TOKENS).min(MOST_TOKENS) as usize;
    let map = snapshot.map(tokens, fits)?;
    if map.definitions == 0 {
        return Ok(ToolOutput::text("There is no code here in a language that is known; list the folder instead."));
    }
    let (end, mut text) = (map.text.len(), map.text);
    text.push_str(&format!(
        "({} in {} of {}, those that others use most; path narrows the map to a folder)\n",
        counted(map.definitions, "definition", "definitions"),
        map.files,
        counted(snapshot.files(), "file", "files")
    ));
    Ok(ToolOutput::text(text).outside(..end, "code_index"))
}

/// The folder, file and pattern that a call is narrowed to.
pub struct Narrow {
    pub place: Located,
    /// The place, from the workspace.
    below: PathBuf,
    pattern: Option<Pattern>,
    workspace: PathBuf,
    closed: Closed,
}

impl Narrow {
    /// From what a call says.
    /// Fails when the place does not exist or is not in the workspace, or the pattern is none.
    pub fn new(files: &Files, path: Option<&str>, glob: Option<&str>) -> Result<Self, ToolError> {
        let place = match path.filter(|path| !path.is_empty()) {
            Some(path) => near::existing(files, path)?,
            None => files.locate(".", Access::Read)?,
        };
        let Ok(below) = place.path().strip_prefix(files.workspace()) else {
            let words = format!("only the workspace is indexed; search {} with grep", place.shown());
            return Err(ToolError::failed(words));
        };
        let below = below.to_path_buf();
        let pattern = glob.filter(|glob| !glob.is_empty()).map(Pattern::new).transpose()?;
        let (workspace, closed) = (files.workspace().to_path_buf(), files.closed().clone());
        Ok(Self { place, below, pattern, workspace, closed })
    }

    /// Whether a file of the index is meant.
    pub fn fits(&self, path: &Path) -> bool {
        let inside = self.below.as_os_str().is_empty() || path.starts_with(&self.below);
        let closed = !self.closed.is_empty() && self.closed.holds(&self.workspace.join(path));
        inside && !closed && self.pattern.as_ref().is_none_or(|pattern| pattern.fits(path))
    }
}

/// The index of a workspace.
pub fn index_of(indexes: &Indexes, files: &Files) -> Result<Arc<Index>, ToolError> {
    Ok(indexes.of(files.locate(".", Access::Read)?))
}

/// Shorter work than this is not worth a word.
const PAUSE: Duration = Duration::from_secs(1);

/// Tells the person who waits for a call how far the index is.
pub struct Progress {
    live: Arc<dyn LiveOutput>,
    cancel: CancellationToken,
    told: Mutex<Instant>,
}

impl Progress {
    /// Of a call.
    pub fn of(ctx: &ToolContext) -> Self {
        Self { live: Arc::clone(&ctx.live), cancel: ctx.cancel.clone(), told: Mutex::new(Instant::now()) }
    }
}

impl Watch for Progress {
    fn is_cancelled(&self) -> bool {
        self.cancel.is_cancelled()
    }

    fn progress(&self, done: usize, total: usize) {
        let mut told = self.told.lock().unwrap_or_else(PoisonError::into_inner);
        if told.elapsed() >= PAUSE {
            *told = Instant::now();
            self.live.push(OutputStream::Output, &format!("indexed {done} of {total} files\n"));
        }
    }

    fn waiting(&self) {
        self.live.push(OutputStream::Output, "waiting for another process that indexes this folder\n");
    }
}

/// What a call says when the index could not answer.
pub fn failed(error: IndexError) -> ToolError {
    match error {
        IndexError::Cancelled => cancelled(),
        IndexError::Damaged | IndexError::Io(_) => ToolError::failed(format!("{error}; use grep and glob instead")),
    }
}
