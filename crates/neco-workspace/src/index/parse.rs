//! Reads code with its grammar.

use super::code::Code;
use super::language::Language;

#[cfg(feature = "grammars")]
pub(super) use with_grammars::Parsers;

/// Without grammars no code is understood; it is searched as text.
#[cfg(not(feature = "grammars"))]
#[derive(Default)]
pub(super) struct Parsers {}

#[cfg(not(feature = "grammars"))]
impl Parsers {
    pub(super) fn read<'a>(&mut self, _: Language, _: &'a str) -> Option<Code<'a>> {
        None
    }
}

#[cfg(feature = "grammars")]
mod with_grammars {
    use std::collections::HashMap;
    use std::ops::ControlFlow;
    use std::time::{Duration, Instant};

    use tree_sitter::{Node, ParseOptions, Parser, QueryCursor, QueryMatch, StreamingIterator, Tree};

    use super::super::code::Use;
    use super::super::declarator::declared;
    use super::super::gathered::Found;
    use super::super::grammar::{Grammar, Role};
    use super::{Code, Language};

    /// Some texts keep a parser busy for minutes; such a file is searched as text.
    const LONGEST: Duration = Duration::from_secs(5);
    /// Names are not longer; what is comes from data.
    const LONGEST_NAME: usize = 128;

    /// The parsers of one thread, made when they are first needed.
    #[derive(Default)]
    pub(in super::super) struct Parsers {
        parsers: HashMap<Language, Parser>,
        cursor: QueryCursor,
    }

    impl Parsers {
        /// Reads a text; nothing when it can't be read in this language.
        pub(in super::super) fn read<'a>(&mut self, language: Language, text: &'a str) -> Option<Code<'a>> {
            let grammar = Grammar::of(language)?;
            let parser = self.parsers.entry(language).or_default();
            parser.set_language(&grammar.language).ok()?;
            let tree = parse(parser, text)?;
            let (mut found, mut uses) = (Vec::new(), Vec::new());
            let mut matches = self.cursor.matches(&grammar.query, tree.root_node(), text.as_bytes());
            while let Some(one) = matches.next() {
                take(grammar, one, text, &mut found, &mut uses);
            }
            Some(Code::of(found, uses))
        }
    }

    fn parse(parser: &mut Parser, text: &str) -> Option<Tree> {
        let begun = Instant::now();
        let mut watch = |_: &_| {
            if begun.elapsed() > LONGEST { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        };
        let options = ParseOptions::new().progress_callback(&mut watch);
        let bytes = text.as_bytes();
        let tree = parser.parse_with_options(&mut |at, _| bytes.get(at..).unwrap_or_default(), None, Some(options));
        if tree.is_none() {
            // It would go on with the old text otherwise.
            parser.reset();
        }
        tree
    }

    fn take<'a>(
        grammar: &Grammar,
        one: &QueryMatch<'_, '_>,
        text: &'a str,
        found: &mut Vec<Found<'a>>,
        uses: &mut Vec<(usize, Use<'a>)>,
    ) {
        let (mut name, mut container, mut whole) = (None, None, None);
        for capture in one.captures() {
            match grammar.roles.get(capture.index as usize).copied().unwrap_or(Role::Unknown) {
                Role::Name => name = Some(capture.node),
                Role::Container => container = Some(capture.node),
                Role::Definition(kind) => whole = Some((capture.node, Some(kind))),
                Role::Scope => whole = Some((capture.node, None)),
                Role::Declared => {
                    let Some(declared) = declared(capture.node) else { continue };
                    (name, container) = (Some(declared.name), declared.container);
                    whole = Some((capture.node, Some(declared.kind)));
                }
                Role::Reference => uses.extend(used(capture.node, text, true)),
                Role::Identifier => uses.extend(used(capture.node, text, false)),
                Role::Unknown => {}
            }
        }
        if let (Some(name), Some((whole, kind))) = (name, whole) {
            let Some(text_of_name) = text_of(name, text).map(bare).filter(|name| !name.is_empty()) else { return };
            found.push(Found {
                name: text_of_name,
                name_at: name.start_byte(),
                line: line(name.start_position().row),
                end_line: last_line(whole),
                range: whole.byte_range(),
                kind,
                container: container.and_then(|node| text_of(node, text)).map(bare),
            });
        }
    }

    fn used<'a>(node: Node<'_>, text: &'a str, certain: bool) -> Option<(usize, Use<'a>)> {
        let name = text_of(node, text).filter(|name| name.len() > 1 && name.len() <= LONGEST_NAME)?;
        Some((node.start_byte(), Use { name, line: line(node.start_position().row), certain }))
    }

    fn text_of<'a>(node: Node<'_>, text: &'a str) -> Option<&'a str> {
        text.get(node.byte_range())
    }

    /// A name without what it is generic over and where it lives: `Table` of `index::Table<'a>`.
    fn bare(name: &str) -> &str {
        let name = name.split(['<', '\n']).next().unwrap_or(name);
        let name = name.rsplit("::").next().unwrap_or(name).trim();
        if name.len() > LONGEST_NAME { "" } else { name }
    }

    /// Some nodes end behind the newline of their last line.
    fn last_line(node: Node<'_>) -> u32 {
        let (start, end) = (node.start_position(), node.end_position());
        line(if end.column == 0 && end.row > start.row { end.row - 1 } else { end.row })
    }

    fn line(row: usize) -> u32 {
        u32::try_from(row + 1).unwrap_or(u32::MAX)
    }
}
