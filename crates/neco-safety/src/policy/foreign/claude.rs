//! Permission strings of Claude Code: `Bash(git log *)`, `Read(./src/**)`, `WebFetch(domain:example.com)`.

use std::path::Path;

use neco_config::Lines;
use regex::Regex;
use serde_json::Value;

use super::super::fields::Problem;
use super::super::pattern::{CommandPattern, HostPattern, MCP, PathPattern, PatternError, ToolPattern};
use super::super::read::{ReadRules, RuleReader, below, path_patterns, prefix};
use super::super::rule::{Rule, Ruling, Source, When};
use crate::tools;

/// What makes a pattern of a path.
const WILD: [char; 4] = ['*', '?', '[', '{'];

impl RuleReader<'_> {
    /// The permissions of a `settings.json`; `folder` is the one that `/…` starts from. What is not
    /// understood is warned about: it was written for somebody else.
    pub fn claude_settings(&self, text: &str, file: &str, source: Source, folder: &Path) -> ReadRules {
        let mut read = ReadRules::default();
        let settings: Value = match serde_json::from_str(text) {
            Ok(settings) => settings,
            Err(error) => {
                let place = format!("{file}:{}:{}", error.line(), error.column());
                read.warnings.push(Problem { place, message: format!("its permissions are not read: {error}") });
                return read;
            }
        };
        let lines = Lines::of(text);
        for decision in [Ruling::Deny, Ruling::Ask, Ruling::Allow] {
            let pointer = format!("/permissions/{decision}");
            let strings = settings.pointer(&pointer).and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
            for string in strings.iter().filter_map(Value::as_str) {
                let quoted = Value::from(string).to_string();
                let position = lines.position(text.find(&quoted).unwrap_or(0));
                let place = format!("{file}:{}:{}", position.line, position.column);
                let one = rule(self, string, decision, source, &place, folder);
                read.rules.extend(one.rules);
                read.warnings.extend(one.problems.into_iter().chain(one.warnings));
            }
        }
        read
    }
}

/// Reads one string.
pub fn rule(
    reader: &RuleReader<'_>,
    text: &str,
    decision: Ruling,
    source: Source,
    place: &str,
    folder: &Path,
) -> ReadRules {
    match when(reader, text.trim(), decision, folder) {
        Ok(when) => {
            let place = place.to_owned();
            // It is told as it was written; a flag's place is how it was written.
            let name = (source != Source::CommandLine).then(|| text.trim().to_owned());
            let (reason, kept, lent) = (None, false, false);
            let rule = Rule { decision, priority: 0, name, reason, kept, lent, source, place, when };
            ReadRules { rules: vec![rule], ..ReadRules::default() }
        }
        Err(error) => {
            let problem = Problem { place: place.to_owned(), message: error.to_string() };
            ReadRules { problems: vec![problem], ..ReadRules::default() }
        }
    }
}

/// Why a string is no rule.
#[derive(Debug, thiserror::Error)]
enum RuleError {
    #[error("{0:?}: the closing bracket is missing")]
    NotClosed(String),
    #[error("{0:?} is no rule; write a tool, as read_file, or bash(git log *)")]
    NoRule(String),
    #[error(
        "{0:?} is a path and no tool; write Read({0}) to mean reading it, Edit({0}) to mean changing it, or {{ tool = \
         \"*\", path = {0:?} }} for both"
    )]
    Path(String),
    #[error(
        "{text:?}: what is in the brackets may be a path or a command; write {{ tool = {name:?}, path = {inside:?} }} or \
         {{ tool = {name:?}, command = {inside:?} }}"
    )]
    PathOrCommand { text: String, name: String, inside: String },
    #[error(
        "{text:?}: only commands, files and domains can be in brackets; write a table instead, such as {{ tool = \
         {name:?}, args = '…' }}"
    )]
    Brackets { text: String, name: String },
    #[error("there is no tool {name}{hint}")]
    NoTool { name: String, hint: String },
    #[error("{inside:?}: {error}")]
    Regex { inside: String, error: regex::Error },
    #[error(transparent)]
    Pattern(#[from] PatternError),
}

fn when(reader: &RuleReader<'_>, text: &str, decision: Ruling, folder: &Path) -> Result<When, RuleError> {
    let (name, inside) = match text.split_once('(') {
        Some((name, rest)) => {
            let inside = rest.strip_suffix(')').ok_or_else(|| RuleError::NotClosed(text.to_owned()))?;
            (name.trim(), Some(inside.trim()))
        }
        None => (text, None),
    };
    if name.is_empty() || name.contains(char::is_whitespace) {
        return Err(RuleError::NoRule(text.to_owned()));
    }
    if name.contains('/') || name.starts_with('.') {
        return Err(RuleError::Path(text.to_owned()));
    }
    let (text, tool) = (text.to_owned(), tool(name));
    let (runs, files) = (tool.is_about_commands(), tool.is_about_files());
    let mut when = When { tools: vec![tool], ..When::default() };
    let Some(inside) = inside.filter(|inside| !inside.is_empty() && *inside != "*") else { return Ok(when) };
    if runs && files {
        return Err(RuleError::PathOrCommand { text, name: name.to_owned(), inside: inside.to_owned() });
    }
    if runs {
        when.commands = vec![command(inside, decision)?];
    } else if let Some(host) = inside.strip_prefix("domain:") {
        when.hosts = vec![HostPattern::new(host)];
    } else if files {
        when.paths = paths(reader, inside, folder)?;
        // What is closed by a pattern is closed with all that is in it.
        if decision != Ruling::Allow && inside.contains(WILD) && !inside.ends_with("**") {
            when.paths.extend(paths(reader, &format!("{}/**", inside.trim_end_matches('/')), folder)?);
        }
    } else if is_no_tool(name) {
        let hint = tools::misspelt(name).map(|meant| format!("; did you mean {meant}?")).unwrap_or_default();
        return Err(RuleError::NoTool { name: name.to_owned(), hint });
    } else {
        return Err(RuleError::Brackets { text, name: name.to_owned() });
    }
    Ok(when)
}

/// Whether a plain name is that of no tool; a server's tool may not be there yet.
fn is_no_tool(name: &str) -> bool {
    let is_plain = name.chars().all(|char| char.is_ascii_alphanumeric() || char == '_') && !name.contains("__");
    is_plain && !tools::is_known(&tools::spelling(name))
}

/// The tools of a name; that of a server alone stands for all of its tools.
fn tool(name: &str) -> ToolPattern {
    let server = name.to_ascii_lowercase().strip_prefix(MCP).is_some_and(|rest| !rest.contains("__"));
    if server { ToolPattern::new(&format!("{name}__*")) } else { ToolPattern::new(name) }
}

/// What the brackets of a rule say that allows commands.
pub fn allowed_command(inside: &str) -> Option<CommandPattern> {
    command(inside, Ruling::Allow).ok()
}

/// `git log:*` and `git log *` begin so, other stars stand for anything, everything else is meant as it is; but whoever
/// asks about or denies `git push` means it with whatever follows.
fn command(inside: &str, decision: Ruling) -> Result<CommandPattern, RuleError> {
    let begins = inside.strip_suffix(":*").or_else(|| inside.strip_suffix(" *"));
    if let Some(words) = begins.filter(|words| !words.contains('*')) {
        return match prefix(words) {
            Ok(words) => Ok(CommandPattern::Prefix(words)),
            Err(_) => pattern(inside),
        };
    }
    if inside.contains('*') {
        return pattern(inside);
    }
    Ok(match prefix(inside) {
        Ok(words) if decision == Ruling::Allow => CommandPattern::Exact(words),
        Ok(words) => CommandPattern::Prefix(words),
        Err(_) => CommandPattern::Line(inside.to_owned()),
    })
}

fn pattern(inside: &str) -> Result<CommandPattern, RuleError> {
    let pieces: Vec<String> = inside.split('*').map(regex::escape).collect();
    let regex = Regex::new(&format!("^{}$", pieces.join(".*")));
    regex.map(CommandPattern::Matches).map_err(|error| RuleError::Regex { inside: inside.to_owned(), error })
}

/// `//x` is absolute, `~/x` in the home folder, `/x` below the folder of the settings, `x/y` below the
/// workspace, and a bare name is meant wherever it is.
fn paths(reader: &RuleReader<'_>, inside: &str, folder: &Path) -> Result<Vec<PathPattern>, PatternError> {
    if let Some(absolute) = inside.strip_prefix("//") {
        return path_patterns(&format!("/{absolute}"), inside);
    }
    if let Some(rest) = inside.strip_prefix('/') {
        return path_patterns(&below(&folder.to_string_lossy(), rest), inside);
    }
    if inside.contains('/') {
        return reader.path(inside);
    }
    let mut patterns = reader.path(inside)?;
    patterns.extend(reader.path(&format!("**/{inside}"))?);
    Ok(patterns)
}
