//! From a text to its tree, and through it.

use std::cell::RefCell;
use std::collections::HashMap;
use std::ops::Range;
use std::path::Path;

use tree_sitter::{Node, Parser, Tree};

use super::step::{Standing, Step, Walked};
use crate::command::expand::{self, Known};
use crate::command::finding::{Command, Input};
use crate::command::reader::{self, Places};
use crate::listed::is_listed;

/// A script that does more is not followed to its end.
const MOST_STEPS: usize = 1024;
/// A command with more words is not judged.
pub(super) const MOST_WORDS: usize = 1024;
/// A line that changes its folder more often is not followed.
const MOST_MOVES: usize = 16;

pub(crate) fn walk(source: &str, standing: Standing, home: Option<&Path>, folder: Option<&Path>) -> Walked {
    let Some(tree) = parse(source) else { return Walked::default() };
    let known = Known { home, folder, assigned: HashMap::new() };
    let clean = !tree.root_node().has_error();
    let has_or = source.contains("||");
    let mut walk = Walk { source, known, steps: Vec::new(), clean, places: Vec::new(), has_or, moves_left: MOST_MOVES };
    walk.run(&tree, standing);
    let agreed = walk.compare();
    Walked { steps: walk.steps, clean: walk.clean, agreed }
}

/// Statements whose parts run apart from the line.
const WITHIN: &str = "variable_assignments compound_statement subshell if_statement elif_clause else_clause \
    while_statement do_group ERROR";

thread_local! {
    /// What reads scripts: it keeps its memory from one to the next, and is made for the first.
    static PARSER: RefCell<Option<Parser>> = const { RefCell::new(None) };
}

fn parse(source: &str) -> Option<Tree> {
    // The grammar's own scanner reads past its tables at characters beyond ASCII and crashes. The shell
    // takes each byte of them for a letter like any other, so a letter stands in for it: places stay the same.
    let letters: Vec<u8> = source.bytes().map(|byte| if byte.is_ascii() { byte } else { b'x' }).collect();
    PARSER.with_borrow_mut(|kept| {
        if kept.is_none() {
            let mut parser = Parser::new();
            parser.set_language(&tree_sitter_bash::LANGUAGE.into()).ok()?;
            *kept = Some(parser);
        }
        kept.as_mut()?.parse(letters, None)
    })
}

/// A node that waits to be looked at, and how it stands on the line.
pub(super) struct Waiting<'t> {
    pub(super) node: Node<'t>,
    pub(super) stance: Stance,
}

/// What is on the list of what waits.
enum Next<'t> {
    Look(Waiting<'t>),
    StatementEnd,
}

#[derive(Clone, Default)]
pub(super) struct Stance {
    pub(super) input: Input,
    pub(super) captured: bool,
    pub(super) plain: bool,
    /// Whether it surely runs, in the shell of the line itself.
    pub(super) straight: bool,
    /// Words that belong to the command though the grammar puts them behind a redirect.
    pub(super) more: Vec<Range<usize>>,
}

impl Stance {
    pub(super) fn within(&self) -> Self {
        Self { input: self.input.clone(), captured: self.captured, ..Self::default() }
    }
}

pub(super) struct Walk<'s, 'k> {
    pub(super) source: &'s str,
    pub(super) known: Known<'k>,
    pub(super) steps: Vec<Step>,
    pub(super) clean: bool,
    pub(super) places: Vec<Places>,
    pub(super) has_or: bool,
    pub(super) moves_left: usize,
}

impl<'s> Walk<'s, '_> {
    /// A list of what waits instead of recursion: nesting costs no stack.
    pub(super) fn run(&mut self, tree: &Tree, standing: Standing) {
        let root = tree.root_node();
        let Standing { input, captured, outermost } = standing;
        let plain = outermost && root.named_child_count() == 1;
        let stance = Stance { input, captured, plain, straight: true, ..Stance::default() };
        let mut cursor = root.walk();
        let mut stack: Vec<Next<'_>> = Vec::new();
        for node in children(root, &mut cursor).into_iter().rev() {
            stack.push(Next::StatementEnd);
            stack.push(Next::Look(Waiting { node, stance: stance.clone() }));
        }
        let mut found = Vec::new();
        while let Some(next) = stack.pop() {
            if self.steps.len() > MOST_STEPS {
                self.clean = false;
                return;
            }
            match next {
                Next::StatementEnd => self.steps.push(Step::StatementEnd),
                Next::Look(Waiting { node, stance }) => {
                    self.clean &= !node.is_error() && !node.is_missing();
                    self.visit(node, stance, &mut found);
                    stack.extend(found.drain(..).map(Next::Look));
                }
            }
        }
    }

    /// Asks the second reader. Where it finds other commands, those are judged too.
    pub(super) fn compare(&mut self) -> bool {
        let Some(mut found) = reader::read(self.source) else { return false };
        found.sort_by_key(|places| places.first().map(|place| place.start));
        self.places.sort_by_key(|places| places.first().map(|place| place.start));
        if found == self.places {
            return self.clean;
        }
        self.clean = false;
        for places in
            found.into_iter().filter(|places| !self.places.contains(places)).take(MOST_WORDS).collect::<Vec<_>>()
        {
            let mut command = Command::default();
            for place in places.iter().take(MOST_WORDS) {
                let pieces = self.pieces(place);
                command.words.extend(expand::expand(&pieces, &self.known));
            }
            self.steps.push(Step::Command { command, moves: false });
        }
        false
    }

    pub(super) fn visit<'t>(&mut self, node: Node<'t>, stance: Stance, stack: &mut Vec<Waiting<'t>>) {
        match node.kind() {
            "list" => push_all(node, stack, &Stance { plain: false, more: Vec::new(), ..stance }),
            "negated_command" => push_all(node, stack, &Stance { straight: false, plain: false, ..stance }),
            "command" => self.command(node, stance),
            "declaration_command" | "unset_command" => self.declaration(node, stance),
            "test_command" => self.test(node, stance),
            "redirected_statement" => self.redirected(node, stance, stack),
            "pipeline" => self.pipeline(node, stance, stack),
            "variable_assignment" => self.assignment(node),
            "function_definition" => self.function(node, stance, stack),
            "for_statement" => self.for_statement(node, &stance, stack),
            "case_statement" | "case_item" => self.case(node, &stance, stack),
            "compound_statement" if self.text(node).starts_with("((") => self.arithmetic(node),
            "c_style_for_statement" => self.c_style_for(node, &stance, stack),
            kind if is_listed(kind, WITHIN) => push_all(node, stack, &stance.within()),
            "comment" => self.comment(node),
            "file_redirect" | "herestring_redirect" | "heredoc_redirect" => {
                self.redirect(node, &mut Stance::default(), stack);
            }
            // Outside of `case` it is an error, which the grammar forgives.
            ";;" | ";&" | ";;&" => self.clean = false,
            _ if node.is_named() => self.clean = false,
            _ => {}
        }
    }

    pub(super) fn text(&self, node: Node<'_>) -> &'s str {
        self.source.get(node.byte_range()).unwrap_or_default()
    }
}

pub(super) fn children<'t>(node: Node<'t>, cursor: &mut tree_sitter::TreeCursor<'t>) -> Vec<Node<'t>> {
    node.children(cursor).collect()
}

pub(super) fn push_all<'t>(node: Node<'t>, stack: &mut Vec<Waiting<'t>>, stance: &Stance) {
    let mut cursor = node.walk();
    let all = children(node, &mut cursor);
    stack.extend(all.into_iter().rev().map(|node| Waiting { node, stance: stance.clone() }));
}

/// Whether a node of this kind stands where a word may.
pub(super) fn is_word(kind: &str) -> bool {
    const WORDS: &str = "word string raw_string concatenation number simple_expansion expansion command_substitution \
        ansi_c_string";
    is_listed(kind, WORDS)
}

/// A place without the white space that the grammar sometimes puts into its words.
pub(super) fn trimmed(source: &str, place: Range<usize>) -> Range<usize> {
    let text = source.get(place.clone()).unwrap_or_default();
    let start = place.end - text.trim_start_matches([' ', '\t', '\n']).len();
    start..start.max(place.end)
}
