//! What rules compare: names of tools, arguments, commands, paths, hosts.

use std::fmt;
use std::path::{Path, PathBuf};

use globset::{GlobBuilder, GlobMatcher};
use regex::Regex;
use serde_json::Value;

use super::canonical::canonical_marked;
use super::facts::{Facts, Told};
use super::rule::Ruling;
use crate::command::{Examined, Named, Part, uncovered};
use crate::path::Shape;
use crate::tools::{self, Effects, their_arguments};

/// What the names of tools from MCP servers begin with.
pub(super) const MCP: &str = "mcp__";

/// What the same begin with for Gemini CLI, which puts one line between the server and its tool.
const THEIR_MCP: &str = "mcp_";

/// A name of tools, in which `*` stands for anything.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ToolPattern {
    text: String,
    kind: ToolKind,
    /// What a rule means by it that asks or denies.
    meant: Effects,
}

/// How a name is compared: told once, as every rule compares its name with the tool of every call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum ToolKind {
    Any,
    Exact,
    /// It is another agent's word for several of our tools.
    Several(&'static [&'static str]),
    /// It has wildcards, or may be that of a server's tool without what those begin with.
    Wild,
    /// It is that of a server's tool as Gemini CLI writes it.
    TheirServer,
}

impl ToolPattern {
    /// The pattern of a name, however it is spelt.
    pub fn new(name: &str) -> Self {
        let name = name.trim();
        let (text, kind) = match (tools::kind(name), tools::spelling(name)) {
            (Some(several), _) => (name.to_ascii_lowercase(), ToolKind::Several(several)),
            (None, text) if text == "*" => (text.into_owned(), ToolKind::Any),
            (None, text) if text.starts_with(THEIR_MCP) && !text.starts_with(MCP) => {
                (text.into_owned(), ToolKind::TheirServer)
            }
            (None, text) if text.contains('*') || text.contains("__") => (text.into_owned(), ToolKind::Wild),
            (None, text) => (text.into_owned(), ToolKind::Exact),
        };
        let pattern = Self { text, kind, meant: Effects::NONE };
        let named = tools::TABLE.iter().filter(|tool| pattern.fits_own(tool.name));
        let meant = named.fold(Effects::NONE, |meant, tool| meant.and(tool.meant));
        Self { meant, ..pattern }
    }

    /// Whether a tool has such a name. Tools of servers are meant with and without `mcp__`.
    pub fn fits(&self, tool: &str) -> bool {
        self.fits_own(&tools::spelling(tool))
    }

    /// The same for the one spelling of a name.
    pub(super) fn fits_own(&self, tool: &str) -> bool {
        match self.kind {
            ToolKind::Any => true,
            ToolKind::Exact => self.text == tool,
            ToolKind::Several(tools) => tools.contains(&tool),
            ToolKind::Wild => {
                wildcard(&self.text, tool) || tool.strip_prefix(MCP).is_some_and(|tool| wildcard(&self.text, tool))
            }
            ToolKind::TheirServer => tool
                .strip_prefix(MCP)
                .is_some_and(|tool| wildcard(&self.text, &format!("{THEIR_MCP}{}", tool.replacen("__", "_", 1)))),
        }
    }

    /// What a rule means by it that asks or denies, whatever tool does it.
    pub(super) fn meant(&self) -> Effects {
        self.meant
    }

    /// The name, where it is that of one tool.
    pub fn name(&self) -> Option<&str> {
        (self.kind == ToolKind::Exact).then_some(&self.text)
    }

    /// Whether it is about the tools that are about files.
    pub(super) fn is_about_files(&self) -> bool {
        self.meant.overlap(Effects::READS.and(Effects::WRITES))
    }

    /// Whether it is about tools that run a command line.
    pub(super) fn is_about_commands(&self) -> bool {
        self.meant.overlap(Effects::RUNS.and(Effects::GIT)) || self.fits_own("diagnostics")
    }
}

impl fmt::Display for ToolPattern {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

/// Whether a text is what a pattern says, in which `*` stands for anything.
pub(super) fn wildcard(pattern: &str, text: &str) -> bool {
    let mut pieces = pattern.split('*');
    let Some(mut rest) = pieces.next().and_then(|first| text.strip_prefix(first)) else { return false };
    let mut pieces = pieces.peekable();
    if pieces.peek().is_none() {
        return rest.is_empty();
    }
    while let Some(piece) = pieces.next() {
        if pieces.peek().is_none() {
            return rest.ends_with(piece);
        }
        match rest.split_once(piece) {
            Some((_, after)) => rest = after,
            None => return false,
        }
    }
    true
}

/// A pattern over the arguments as canonical JSON.
#[derive(Clone, Debug)]
pub struct ArgsPattern {
    /// The pattern.
    pub regex: Regex,
    /// Whether it was written for Gemini CLI: over its names of arguments, pairs marked with NUL.
    pub gemini: bool,
}

impl ArgsPattern {
    /// Whether it fits the arguments of a call; for a rule that asks or denies also the files, as the tool that the rule
    /// names would be told of them: another tool has other arguments for the same.
    pub(super) fn fits(&self, decision: Ruling, facts: &Facts<'_>) -> bool {
        let arguments = facts.action.arguments;
        let as_written = match self.gemini {
            true => {
                self.regex.is_match(&canonical_marked(&their_arguments(&facts.tool, arguments)))
                    || self.regex.is_match(&canonical_marked(arguments))
            }
            false => self.regex.is_match(facts.canonical()),
        };
        let told = |files: Told| facts.told(files, self.gemini).iter().any(|text| self.regex.is_match(text));
        let by_files = || told(Told::Files) || self.names_paths() && told(Told::CommandFiles);
        as_written || decision != Ruling::Allow && by_files()
    }

    /// Whether it speaks of the files of a call.
    pub(super) fn names_paths(&self) -> bool {
        self.regex.as_str().contains("path")
    }
}

/// What a command must be.
#[derive(Clone, Debug)]
pub enum CommandPattern {
    /// It begins with these words, as a person wrote.
    Prefix(Vec<String>),
    /// It begins with these words, as a person answered: what follows them is known to be harmless.
    Granted(Vec<String>),
    /// It is these words and no more.
    Exact(Vec<String>),
    /// Its words, joined by spaces, match.
    Matches(Regex),
    /// The whole line is this.
    Line(String),
}

impl CommandPattern {
    /// The same as an answer and not as a person's own words, which mean more.
    pub(super) fn granted(self) -> Self {
        match self {
            Self::Prefix(words) => Self::Granted(words),
            Self::Granted(_) | Self::Exact(_) | Self::Matches(_) | Self::Line(_) => self,
        }
    }

    /// The words that it begins with, where it is known by them.
    pub(super) fn words(&self) -> Option<&[String]> {
        match self {
            Self::Prefix(words) | Self::Granted(words) => Some(words),
            Self::Exact(_) | Self::Matches(_) | Self::Line(_) => None,
        }
    }

    /// Whether it is the whole line.
    pub(super) fn is_line(&self, line: &str) -> bool {
        matches!(self, Self::Line(wanted) if wanted.trim() == line.trim())
    }

    /// Whether a rule that allows covers a command of a line.
    pub(super) fn covers(&self, part: &Part) -> bool {
        match self {
            Self::Prefix(prefix) => {
                !part.uncoverable && part.begins_with(prefix) && uncovered(prefix, &part.words).is_none()
            }
            Self::Granted(prefix) => !part.uncoverable && part.is_granted(prefix),
            Self::Exact(words) => part.is_as_long_as(words) && part.begins_with(words),
            Self::Matches(regex) => {
                let is_known = !part.uncoverable && part.words.iter().all(|word| word.exact);
                is_known && part.sure_texts().any(|text| regex.is_match(&text))
            }
            Self::Line(_) => false,
        }
    }

    /// Whether a line has such a command in it, or may have: for rules that ask or deny.
    pub(super) fn mentions(&self, examined: &Examined, line: &str) -> bool {
        match self {
            Self::Prefix(words) | Self::Granted(words) => examined.mentions(words),
            Self::Exact(words) => {
                let is = |part: &Part| part.is_as_long_as(words) && part.may_begin_with(words);
                !examined.clean || examined.parts.iter().any(is)
            }
            Self::Matches(regex) => {
                // Of what can't be read, and of a program that can't be told, nobody knows that it does not match.
                let is_unknown = |part: &Part| part.words.first().is_some_and(|program| !program.exact);
                let matches = |part: &Part| is_unknown(part) || part.texts().any(|text| regex.is_match(&text));
                !examined.clean || regex.is_match(line) || examined.parts.iter().any(matches)
            }
            Self::Line(wanted) => wanted.split_whitespace().eq(line.split_whitespace()),
        }
    }
}

impl fmt::Display for CommandPattern {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Prefix(words) | Self::Granted(words) => write!(f, "`{} …`", words.join(" ")),
            Self::Exact(words) => write!(f, "`{}`", words.join(" ")),
            Self::Matches(regex) => write!(f, "/{regex}/"),
            Self::Line(line) => write!(f, "exactly `{}`", line.trim()),
        }
    }
}

/// Why a pattern of a rule can't be read.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[allow(missing_docs, reason = "the message says what each field is")]
pub enum PatternError {
    /// It is no glob.
    #[error("{shown:?} is no glob: {kind}")]
    Glob { shown: String, kind: globset::ErrorKind },
    /// It is in a home folder that nobody knows.
    #[error("{0:?}: the home folder is not known here")]
    NoHome(String),
    /// A command without words.
    #[error("the words a command begins with are missing; leave the field out for any command")]
    NoWords,
    /// A sign that a shell would treat specially.
    #[error(
        "{0:?} is not a plain word; a prefix is compared with the parsed command, such as \"git log\"; use \
         command_regex for a pattern, or line for a whole line"
    )]
    NotPlain(char),
}

/// A glob over resolved paths.
#[derive(Clone, Debug)]
pub struct PathPattern {
    glob: GlobMatcher,
    /// As it was written.
    shown: String,
    /// The same, to be compared with other patterns.
    shapes: Vec<Shape>,
    /// The one path that it means, or the folder of which it means everything below.
    base: Option<PathBuf>,
}

impl PathPattern {
    /// The pattern of an absolute glob; `shown` is how it was written. A folder means all that is in it.
    pub fn new(glob: &str, shown: &str) -> Result<Self, PatternError> {
        let shapes = Shape::of_glob(glob);
        let base = shapes.first().filter(|_| shapes.len() == 1).and_then(Shape::base);
        let glob = GlobBuilder::new(glob).literal_separator(true).backslash_escape(true).build();
        let glob = glob.map_err(|error| PatternError::Glob { shown: shown.to_owned(), kind: error.kind().clone() })?;
        Ok(Self { glob: glob.compile_matcher(), shown: shown.to_owned(), shapes, base })
    }

    /// The patterns of one path and all that is below it.
    pub(super) fn all_of(path: &Path, shown: &str) -> Result<[Self; 2], PatternError> {
        let glob = globset::escape(&path.to_string_lossy());
        Ok([Self::new(&glob, shown)?, Self::new(&format!("{glob}/**"), shown)?])
    }

    /// Whether a path is meant.
    pub fn fits(&self, path: &Path) -> bool {
        match &self.base {
            // Most are none of it, which needs no look at the whole.
            Some(base) if !path.starts_with(base) => false,
            Some(_) | None => self.glob.is_match(path),
        }
    }

    /// Whether a word of a command may mean what it means, or the folder of which it means everything.
    pub(super) fn is_named_by(&self, named: &Named) -> bool {
        match named {
            Named::Path(path) => match &self.base {
                Some(base) => path == base || self.fits(path),
                None => self.glob.is_match(path) || self.glob.is_match(path.join(ANY_NAME)),
            },
            Named::Pattern(word) => self.shapes.iter().any(|shape| word.may_mean(shape)),
        }
    }

    /// The one path that it means, or the folder of which it means everything below.
    pub fn base(&self) -> Option<&Path> {
        self.base.as_deref()
    }

    /// The folders that all it means lies in.
    pub fn starts(&self) -> impl Iterator<Item = PathBuf> {
        self.shapes.iter().map(Shape::start)
    }
}

/// A name that nothing has: what means it in a folder means everything there.
pub(super) const ANY_NAME: &str = "\u{1}";

impl fmt::Display for PathPattern {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.shown)
    }
}

/// The host of a web address, `*.example.com` for all below one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HostPattern(String);

impl HostPattern {
    /// The pattern of a host.
    pub fn new(host: &str) -> Self {
        Self(host.trim().trim_end_matches('.').to_lowercase())
    }

    /// Whether the `url` of a call has this host.
    pub fn fits(&self, arguments: &Value) -> bool {
        Self::of_url(arguments).is_some_and(|host| wildcard(&self.0, &host.0))
    }

    /// The pattern that fits the host of the `url` of a call and no other.
    pub(super) fn of_url(arguments: &Value) -> Option<Self> {
        let url = url::Url::parse(arguments.get("url")?.as_str()?).ok()?;
        url.host_str().map(Self::new)
    }
}

impl fmt::Display for HostPattern {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn names_of_tools_have_wildcards() {
        for (pattern, tool, fits) in [
            ("*", "bash", true),
            ("bash", "bash", true),
            ("bash", "bash2", false),
            ("github__*", "mcp__github__create_issue", true),
            ("mcp__github__*", "mcp__github__create_issue", true),
            ("github__create_issue", "mcp__GitHub__create_issue", true),
            ("github__*", "mcp__gitlab__x", false),
            ("mcp_github_*", "mcp__github__create_issue", true),
            ("mcp_github_create_issue", "mcp__GitHub__create_issue", true),
            ("mcp_my_server_*", "mcp__my_server__x", true),
            ("mcp_*", "mcp__gitlab__x", true),
            ("mcp_*_read", "mcp__files__read", true),
            ("mcp_github_*", "mcp__gitlab__x", false),
            ("mcp_github_*", "mcp_github_x", false),
            ("Edit", "apply_patch", true),
            ("edit_file", "apply_patch", false),
            (" BASH ", "bash", true),
            ("discovered_tool_*", "discovered_tool_x", true),
            ("*_file", "read_file", true),
            ("a*b*c", "axxbyyc", true),
            ("a*b*c", "axxcyyb", false),
        ] {
            assert_eq!(ToolPattern::new(pattern).fits(tool), fits, "{pattern} {tool}");
        }
    }

    #[test]
    fn a_host_is_that_of_the_address_and_no_other() {
        for (pattern, url, fits) in [
            ("example.com", "https://example.com/x", true),
            ("example.com", "https://EXAMPLE.com:8080/x", true),
            ("example.com", "https://www.example.com", false),
            ("*.example.com", "https://www.example.com", true),
            ("example.com", "https://example.com@evil.org/", false),
            ("example.com", "https://example.com.evil.org/", false),
            ("example.com", "https://evil.org/example.com", false),
            ("example.com", "no address", false),
        ] {
            assert_eq!(HostPattern::new(pattern).fits(&json!({ "url": url })), fits, "{pattern} {url}");
        }
    }

    #[test]
    fn globs_do_not_leave_their_folder() {
        let pattern = PathPattern::new("/w/src/*.rs", "src/*.rs").unwrap();
        assert!(pattern.fits(Path::new("/w/src/a.rs")) && !pattern.fits(Path::new("/w/src/b/a.rs")));
        let pattern = PathPattern::new("/w/src/**", "src/**").unwrap();
        assert!(pattern.fits(Path::new("/w/src/b/a.rs")) && !pattern.fits(Path::new("/w/srcs/a")));
        assert!(PathPattern::new("/w/[", "[").unwrap_err().to_string().contains("is no glob"));
    }
}
