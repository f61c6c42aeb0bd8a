//! grep: text in files.

use std::fmt::Write;
use std::path::Path;

use neco_proto::{Display, ErrorCode};
use neco_safety::path::Located;
use neco_safety::untrusted;
use neco_safety::world::Files;
use neco_toolkit::{Plan, ToolError, ToolOutput, counted};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Map, Value};

use super::call::{FileCall, FileTool, folder};
use super::foreign;
use super::list_directory::scope;
use super::pattern::Pattern;
use super::search::{self, Found, Mode, Query};

const DEFAULT_LINES: u32 = 200;
const DEFAULT_FILES: u32 = 500;
/// Results that are kept at most to leaf through; more are counted.
const MOST_RESULTS: usize = 100_000;
/// Nobody reads more than this around a match.
const MOST_CONTEXT: u32 = 50;

pub struct Grep;

#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Args {
    pattern: String,
    /// Default: the workspace.
    path: Option<String>,
    glob: Option<String>,
    #[serde(rename = "type")]
    kind: Option<String>,
    /// Plain text.
    literal: Option<bool>,
    ignore_case: Option<bool>,
    word: Option<bool>,
    multiline: Option<bool>,
    context: Option<u32>,
    before: Option<u32>,
    after: Option<u32>,
    #[serde(default)]
    output: Output,
    all: Option<bool>,
    skip: Option<u32>,
    limit: Option<u32>,
}

#[derive(Debug, Clone, Copy, Default, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Output {
    #[default]
    Content,
    Files,
    Count,
}

impl Args {
    fn path(&self) -> &str {
        folder(self.path.as_deref())
    }

    fn skip(&self) -> usize {
        self.skip.unwrap_or(0) as usize
    }

    fn limit(&self) -> usize {
        let usual = match self.output {
            Output::Content => DEFAULT_LINES,
            Output::Files | Output::Count => DEFAULT_FILES,
        };
        self.limit.unwrap_or(usual).max(1) as usize
    }

    /// The pattern of names, from the workspace where it begins with that.
    fn names(&self, workspace: &Path) -> Option<String> {
        let glob = self.glob.as_deref().filter(|glob| !glob.is_empty())?;
        let (sign, path) = glob.strip_prefix('!').map_or(("", glob), |path| ("!", path));
        let below = Path::new(path).strip_prefix(workspace).ok().and_then(Path::to_str);
        Some(below.filter(|below| !below.is_empty()).map_or(glob.to_owned(), |below| format!("{sign}{below}")))
    }

    fn query(&self, root: &Located, files: &Files) -> Result<Query, ToolError> {
        let yes = |option: Option<bool>| option.unwrap_or(false);
        let around = self.context.unwrap_or(0);
        let lines = |own: Option<u32>| own.unwrap_or(around).min(MOST_CONTEXT) as usize;
        let mode = match self.output {
            Output::Content => Mode::Lines { before: lines(self.before), after: lines(self.after) },
            Output::Files => Mode::Files,
            Output::Count => Mode::Count,
        };
        let multiline = yes(self.multiline);
        Ok(Query {
            matcher: search::matcher(
                // It may be copied from what was shown, where markers of templates are broken.
                &untrusted::restored_pattern(&self.pattern),
                yes(self.literal),
                yes(self.ignore_case),
                yes(self.word),
                multiline,
            )?,
            types: self.kind.as_deref().filter(|kind| !kind.is_empty()).map(search::types).transpose()?,
            glob: self.names(files.workspace()).as_deref().map(Pattern::new).transpose()?,
            multiline,
            mode,
            scope: scope(self.all),
            // A sensitive place that was asked for by name was approved by name.
            sensitive_too: root.sensitive_to_read().is_some(),
            closed: files.closed().clone(),
            most: self.skip().saturating_add(self.limit()).min(MOST_RESULTS),
        })
    }
}

impl FileTool for Grep {
    type Args = Args;
    const NAME: &'static str = "grep";
    const DESCRIPTION: &'static str = include_str!("grep.md");
    const FOREIGN: &'static [foreign::Names] = &[foreign::FOLDER, foreign::FILE, foreign::SEARCH];

    /// Lines always have their numbers, and others have the opposite of a switch, or another word for what is shown.
    fn adapt(arguments: &mut Map<String, Value>) {
        arguments.remove("-n");
        if let Some(Value::Bool(sensitive)) = arguments.remove("case_sensitive") {
            arguments.entry("ignore_case").or_insert(Value::Bool(!sensitive));
        }
        if let Some(output) = arguments.get_mut("output")
            && output == "files_with_matches"
        {
            *output = Value::from("files");
        }
    }

    fn summary(args: &Args) -> String {
        match args.path() {
            "." => format!("Search {:?}", args.pattern),
            path => format!("Search {:?} in {path}", args.pattern),
        }
    }

    fn plan(&self, args: &Args, call: &FileCall) -> Result<Plan, ToolError> {
        let (root, judgement) = call.existing(args.path())?;
        args.query(&root, call.files())?;
        Ok(judgement.plan())
    }

    fn run(&self, args: &Args, call: &FileCall) -> Result<ToolOutput, ToolError> {
        let (root, _) = call.existing(args.path())?;
        let is_file = !root.metadata()?.is_dir();
        if is_file {
            // Says what a pipe or a device is instead of finding nothing in it.
            root.open()?;
        }
        let query = args.query(&root, call.files())?;
        let found = search::search(call.files().workspace(), &root, &query, &call.ctx.cancel);
        call.go_on()?;
        if is_file && found.binary > 0 && found.total_matches == 0 {
            let message = format!("{} is a binary file; nothing was found in the text it begins with", root.shown());
            return Err(ToolError::new(ErrorCode::NotATextFile, message));
        }
        Ok(print(args, &found, call.ctx.max_output))
    }
}

fn print(args: &Args, found: &Found, bytes: usize) -> ToolOutput {
    let mut page = Page { text: String::new(), skip: args.skip(), left: args.limit(), bytes, shown: 0 };
    for file in &found.files {
        let more = match args.output {
            Output::Content => page.add_lines(&file.path.to_string_lossy(), &file.chunks()),
            Output::Files => page.add(|text| writeln!(text, "{}", file.path.display())),
            Output::Count => page.add(|text| writeln!(text, "{}: {}", file.path.display(), file.count)),
        };
        if !more {
            break;
        }
    }
    let (end, notes) = (page.text.len(), notes(args, found, page.shown));
    let items = found.files.iter().take(100).map(|file| match args.output {
        Output::Content | Output::Count => format!("{} ({})", file.path.display(), file.count),
        Output::Files => file.path.display().to_string(),
    });
    let display = Display::List { title: args.pattern.clone(), items: items.collect(), total: found.total_files };
    let touched = found.files.iter().map(|file| file.path.clone());
    ToolOutput::text(page.text + &notes).outside(..end, "grep").with_display(display).with_touched(touched)
}

/// The part of the results that is shown.
struct Page {
    text: String,
    skip: usize,
    left: usize,
    bytes: usize,
    shown: usize,
}

impl Page {
    /// Adds one result; gives whether there is room for another.
    fn add(&mut self, write: impl FnOnce(&mut String) -> std::fmt::Result) -> bool {
        if self.skip > 0 {
            self.skip -= 1;
            return true;
        }
        let before = self.text.len();
        if self.left == 0 || write(&mut self.text).is_err() || self.text.len() > self.bytes {
            self.text.truncate(before);
            return false;
        }
        self.left -= 1;
        self.shown += 1;
        true
    }

    fn add_lines(&mut self, path: &str, chunks: &[&[u8]]) -> bool {
        let mut headed = false;
        for chunk in chunks {
            let skipped = self.skip > 0;
            let gap = if self.text.is_empty() { "" } else { "\n" };
            let body = String::from_utf8_lossy(chunk);
            let more = self.add(|text| {
                if headed {
                    return text.write_str(&body);
                }
                // A page does not begin with the gap to what it does not show.
                write!(text, "{gap}{path}\n{}", body.strip_prefix("--\n").unwrap_or(&body))
            });
            if !more {
                return false;
            }
            headed = headed || !skipped;
        }
        true
    }
}

fn notes(args: &Args, found: &Found, shown: usize) -> String {
    let mut notes = String::new();
    let (all, what) = match args.output {
        Output::Content if found.total_matches == 1 => (1, "matching line"),
        Output::Content => (found.total_matches, "matching lines"),
        Output::Files | Output::Count if found.total_files == 1 => (1, "file"),
        Output::Files | Output::Count => (found.total_files, "files"),
    };
    let last = args.skip() + shown;
    if all == 0 {
        notes.push_str("No matches.\n");
    } else if (last as u64) < all {
        let files = if matches!(args.output, Output::Content) {
            format!(" in {}", counted(found.total_files, "file", "files"))
        } else {
            String::new()
        };
        let _ = writeln!(notes, "({shown} of {all} {what}{files} shown; go on with skip={last}, or narrow the search)");
    } else if shown == 0 {
        let are = if all == 1 { "is" } else { "are" };
        let _ = writeln!(notes, "(there {are} only {all} {what})");
    }
    if found.sensitive > 0 {
        let _ = writeln!(
            notes,
            "({} not searched; name one as path to ask for it)",
            counted(found.sensitive, "sensitive file or folder was", "sensitive files or folders were")
        );
    }
    if found.closed > 0 {
        let were = counted(
            found.closed,
            "file or folder that a rule closes to reading was",
            "files or folders that rules close to reading were",
        );
        let _ = writeln!(notes, "({were} not searched)");
    }
    if found.binary > 0 {
        let were = counted(found.binary, "binary file was", "binary files were");
        let _ = writeln!(notes, "({were} not searched to the end)");
    }
    if found.too_big > 0 {
        let _ = writeln!(
            notes,
            "({} of more than {} MB not searched: too big for matches across lines)",
            counted(found.too_big, "file", "files"),
            search::MOST_ACROSS_LINES / (1024 * 1024)
        );
    }
    if found.unreadable > 0 {
        let _ = writeln!(notes, "({} could not be read)", counted(found.unreadable, "file", "files"));
    }
    notes
}
