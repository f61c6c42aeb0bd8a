//! Where values come from, and the list of all settings with their origins.

use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};

use crate::address::without_secrets;
use crate::command_line::{line_without_secrets, words_without_secrets};
use crate::layer::{Node, Value};
use crate::trail::{Trail, is_secret_name, visible};

/// What is shown in place of a secret.
const HIDDEN: &str = "***";

/// One of the places that settings come from; later ones win.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Layer {
    /// Compiled in.
    BuiltIn,
    /// `config.toml` in the user's config folder.
    User,
    /// `.neco/config.toml` of the project.
    Project,
    /// `.agents/config.toml` of the project.
    Agents,
    /// `.neco/config.local.toml` of the project, which is not checked in.
    Local,
    /// Variables such as `NECO_MODEL`.
    Environment,
    /// `-c key=value`.
    Flags,
}

impl Layer {
    /// The name that listings print.
    pub fn name(self) -> &'static str {
        match self {
            Self::BuiltIn => "built-in",
            Self::User => "user",
            Self::Project => "project",
            Self::Agents => "agents",
            Self::Local => "local",
            Self::Environment => "environment",
            Self::Flags => "flags",
        }
    }

    /// Whether a repository brings this layer, so that nobody vouches for it.
    pub fn is_from_repository(self) -> bool {
        match self {
            Self::Project | Self::Agents | Self::Local => true,
            Self::BuiltIn | Self::User | Self::Environment | Self::Flags => false,
        }
    }
}

impl fmt::Display for Layer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

/// What a value was written in.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Source {
    /// Compiled in.
    BuiltIn,
    /// A file, and how its path is shown to people.
    File {
        /// The path.
        path: PathBuf,
        /// The path with `~` for the home folder.
        shown: String,
    },
    /// An environment variable, by name.
    Variable(String),
    /// A flag as it was written; the value is `***` when it may be a secret.
    Flag(String),
}

impl Source {
    /// It as people are told of it: `~/.config/neco/config.toml`, `NECO_MODEL`, `-c model=x` or `built-in`.
    pub fn shown(&self) -> &str {
        match self {
            Self::BuiltIn => "built-in",
            Self::File { shown, .. } => shown,
            Self::Variable(name) => name,
            Self::Flag(text) => text,
        }
    }
}

/// A place in a file; lines and columns count from 1, columns in characters.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Position {
    /// The line.
    pub line: u32,
    /// The column.
    pub column: u32,
}

impl Position {
    /// A place; settings have no more lines than can be counted so.
    pub(crate) fn new(line: usize, column: usize) -> Self {
        let counted = |number: usize| u32::try_from(number).unwrap_or(u32::MAX);
        Self { line: counted(line), column: counted(column) }
    }
}

/// Where a value comes from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Origin {
    /// The layer.
    pub layer: Layer,
    /// What it was written in.
    pub source: Arc<Source>,
    /// Where in the file, for files.
    pub position: Option<Position>,
}

impl Origin {
    pub(crate) fn new(layer: Layer, source: Source) -> Self {
        Self { layer, source: Arc::new(source), position: None }
    }

    /// The same source, at this place of it.
    pub(crate) fn at(&self, position: Option<Position>) -> Self {
        Self { position, ..self.clone() }
    }

    /// The file, when it is one.
    pub fn file(&self) -> Option<&Path> {
        match &*self.source {
            Source::File { path, .. } => Some(path),
            Source::BuiltIn | Source::Variable(_) | Source::Flag(_) => None,
        }
    }
}

/// `~/.config/neco/config.toml:3:12`, `NECO_MODEL`, `-c model=x` or `built-in`.
impl fmt::Display for Origin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.source.shown())?;
        match self.position {
            Some(Position { line, column }) => write!(f, ":{line}:{column}"),
            None => Ok(()),
        }
    }
}

/// One setting that has a value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Setting {
    /// The dotted key.
    pub key: String,
    /// The value as TOML; `***` for keys and headers, and for the secrets in addresses and command lines.
    pub value: String,
    /// Who had the last word.
    pub origin: Origin,
    /// Whose items come before, when the last word was `"+item"`.
    pub earlier: Vec<Origin>,
}

/// Every setting that has a value, and where it comes from. The list is made when somebody first wants to see it.
#[derive(Clone)]
pub struct Origins {
    /// Without what is secret by its name.
    tree: Node,
    settings: OnceLock<Vec<Setting>>,
}

impl Origins {
    pub(crate) fn of_tree(mut tree: Node) -> Self {
        forget_secrets(&mut tree);
        Self { tree, settings: OnceLock::new() }
    }

    /// Every setting, sorted by key.
    pub fn settings(&self) -> &[Setting] {
        self.settings.get_or_init(|| {
            let mut settings = Vec::new();
            collect(&self.tree, &Trail::default(), &mut settings);
            settings.sort_by(|one, other| one.key.cmp(&other.key));
            settings
        })
    }

    /// One setting by its dotted key.
    pub fn get(&self, key: &str) -> Option<&Setting> {
        let settings = self.settings();
        let index = settings.binary_search_by(|setting| setting.key.as_str().cmp(key)).ok()?;
        settings.get(index)
    }

    /// Where the value below these names comes from, without a list of all.
    pub fn origin(&self, names: &[&str]) -> Option<&Origin> {
        self.tree.get(names).map(|node| &node.origin)
    }
}

impl PartialEq for Origins {
    fn eq(&self, other: &Self) -> bool {
        self.tree == other.tree
    }
}

/// As the settings are shown: what is printed for debugging ends up in logs.
impl fmt::Debug for Origins {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.settings()).finish()
    }
}

/// Takes out the values that nobody is shown.
fn forget_secrets(node: &mut Node) {
    match &mut node.value {
        Value::Table(entries) => {
            for (name, child) in entries {
                if is_secret_name(name) { blank(child) } else { forget_secrets(child) }
            }
        }
        Value::List(items) => items.iter_mut().for_each(forget_secrets),
        Value::Text(_) | Value::Whole(_) | Value::Number(_) | Value::Switch(_) | Value::Date(_) => {}
    }
}

fn blank(node: &mut Node) {
    match &mut node.value {
        Value::Table(entries) => entries.values_mut().for_each(|node| blank(node)),
        value => *value = Value::Text(HIDDEN.to_owned()),
    }
}

/// A value as it may be shown.
fn shown(value: &Value, trail: &Trail) -> String {
    match value {
        Value::Text(line) if trail.is_command() => Value::Text(line_without_secrets(line)).to_string(),
        Value::List(items) if trail.is_command() => {
            let words = items.iter().map(|item| match &item.value {
                Value::Text(word) => word.as_str(),
                _ => "",
            });
            let shown = words_without_secrets(words).into_iter().zip(items);
            let item = |(word, item): (String, &Node)| match &item.value {
                Value::Text(_) => Value::Text(word).to_string(),
                other => other.to_string(),
            };
            format!("[{}]", shown.map(item).collect::<Vec<_>>().join(", "))
        }
        other => without_secrets(&other.to_string()),
    }
}

fn collect(node: &Node, trail: &Trail, settings: &mut Vec<Setting>) {
    match &node.value {
        Value::Table(entries) => {
            for (name, child) in entries {
                collect(child, &trail.child(name), settings);
            }
        }
        Value::List(_) | Value::Text(_) | Value::Whole(_) | Value::Number(_) | Value::Switch(_) | Value::Date(_) => {
            let value = if trail.is_secret() { HIDDEN.to_owned() } else { visible(&shown(&node.value, trail)) };
            let (origin, earlier) = (node.origin.clone(), node.earlier.clone());
            settings.push(Setting { key: trail.to_string(), value, origin, earlier });
        }
    }
}
