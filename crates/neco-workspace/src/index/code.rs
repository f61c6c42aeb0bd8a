//! What a file of code defines and which names it uses.

use super::kind::SymbolKind;
use super::language::Language;

/// A definition.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Definition {
    /// Its name.
    pub name: String,
    /// What it is.
    pub kind: SymbolKind,
    /// The line that its name stands in, counted from one.
    pub line: u32,
    /// The line that it ends in.
    pub end_line: u32,
    /// The name of what it stands in, or nothing.
    pub container: String,
}

/// One line of an outline: a definition, or something that holds definitions, such as an `impl`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OutlineItem {
    /// What it is; nothing for what only holds definitions.
    pub kind: Option<SymbolKind>,
    /// Its name.
    pub name: String,
    /// The line that its name stands in, counted from one.
    pub line: u32,
    /// The line that it ends in.
    pub end_line: u32,
    /// In how many others it stands.
    pub depth: usize,
}

/// The use of a name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Use<'a> {
    pub(super) name: &'a str,
    pub(super) line: u32,
    /// Whether it is surely no local variable.
    pub(super) certain: bool,
}

/// What a file of code defines and which names it uses, in the order of the text.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Code<'a> {
    pub(super) definitions: Vec<Definition>,
    pub(super) outline: Vec<OutlineItem>,
    pub(super) uses: Vec<Use<'a>>,
}

/// The outline of a text in a language; nothing when it can't be read as such.
pub fn outline(language: Language, text: &str) -> Option<Vec<OutlineItem>> {
    super::parse::Parsers::default().read(language, text).map(|code| code.outline)
}
