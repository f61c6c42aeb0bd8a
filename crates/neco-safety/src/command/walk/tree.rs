//! From a text to its tree, and through it.

use std::cell::RefCell;
use std::collections::HashMap;
use std::ops::Range;
use std::path::Path;

use tree_sitter::{Node, Parser, Tree};

use crate::command::examined::Word;
use crate::command::expand::{self, Known};
use crate::command::finding::{Command, Input};
use crate::command::reader::{self, Places};
use crate::command::scan::is_name;
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

    fn pipeline<'t>(&mut self, node: Node<'t>, stance: Stance, stack: &mut Vec<Waiting<'t>>) {
        let mut cursor = node.walk();
        let members: Vec<Node<'t>> = node.named_children(&mut cursor).filter(|child| !child.is_extra()).collect();
        let mut waiting = Vec::new();
        let mut input = stance.input.clone();
        for (index, member) in members.iter().enumerate() {
            let captured = stance.captured || index + 1 < members.len();
            let said = self.said(*member);
            waiting.push(Waiting { node: *member, stance: Stance { input, captured, ..Stance::default() } });
            input = Input::Pipe(said);
        }
        stack.extend(waiting.into_iter().rev());
    }

    /// `((…))`: arithmetic for bash, but two subshells for other shells, so its words are judged as commands too.
    fn arithmetic(&mut self, node: Node<'_>) {
        let text = self.text(node);
        self.clean &= !text.contains(['\'', '"', '\\']);
        self.embedded(text);
        for command in text.split([';', '|', '&', '\n', '(', ')', ',']) {
            self.set_in_arithmetic(command);
            let words = command.split_whitespace().skip_while(|word| is_listed(word, RESERVED));
            let words: Vec<Word> = words.take(MOST_WORDS).map(Word::exact).collect();
            if !words.is_empty() {
                self.steps.push(Step::Command { command: Command { words, ..Command::default() }, moves: false });
            }
        }
    }

    /// What a piece of arithmetic, or of what another shell takes for a command, sets.
    fn set_in_arithmetic(&mut self, piece: &str) {
        let words = piece.split_whitespace().filter_map(|word| word.split_once('='));
        for (name, value) in words.chain(piece.split_once('=')) {
            let name = name.trim().trim_end_matches(['+', '-', '*', '/', '%', '|', '&', '^', '<', '>']).trim_end();
            if is_name(name) && !value.starts_with('=') {
                self.steps.push(Step::Assign { name: name.to_owned(), value: Word::exact(value.trim()) });
            }
        }
    }

    fn function<'t>(&mut self, node: Node<'t>, stance: Stance, stack: &mut Vec<Waiting<'t>>) {
        let name = node.child_by_field_name("name").map_or("", |name| self.text(name));
        let body = node.child_by_field_name("body");
        let bomb = body.is_some_and(|body| starts_itself(self.text(body), name));
        self.steps.push(Step::Function { bomb });
        if let Some(body) = body {
            stack.push(Waiting { node: body, stance: stance.within() });
        }
    }

    fn for_statement<'t>(&mut self, node: Node<'t>, stance: &Stance, stack: &mut Vec<Waiting<'t>>) {
        if let Some(name) = node.child_by_field_name("variable") {
            self.set(self.text(name).to_owned());
        }
        let mut cursor = node.walk();
        for child in node.named_children(&mut cursor).collect::<Vec<_>>() {
            match child.kind() {
                "variable_name" => {}
                "do_group" | "compound_statement" => stack.push(Waiting { node: child, stance: stance.within() }),
                _ => {
                    let word = self.word(child);
                    self.steps.push(Step::Mention { word });
                }
            }
        }
    }

    fn c_style_for<'t>(&mut self, node: Node<'t>, stance: &Stance, stack: &mut Vec<Waiting<'t>>) {
        let body = node.child_by_field_name("body");
        let head = node.start_byte()..body.map_or(node.end_byte(), |body| body.start_byte());
        let head = self.source.get(head).unwrap_or_default();
        self.clean &= !head.contains(['\'', '"', '\\']);
        self.embedded(head);
        stack.extend(body.map(|node| Waiting { node, stance: stance.within() }));
    }

    /// The value and the patterns of `case` are words; the rest are statements.
    fn case<'t>(&mut self, node: Node<'t>, stance: &Stance, stack: &mut Vec<Waiting<'t>>) {
        let mut cursor = node.walk();
        let children: Vec<_> = node.named_children(&mut cursor).collect();
        for child in children.into_iter().rev() {
            match child.kind() {
                "extglob_pattern" | "regex" => self.embedded(self.text(child)),
                kind if is_word(kind) => {
                    self.word(child);
                }
                _ => stack.push(Waiting { node: child, stance: stance.within() }),
            }
        }
    }

    /// The grammar sees comments only where a word may begin, as the shell does; other lines would hide commands.
    fn comment(&mut self, node: Node<'_>) {
        let before = self.source.get(..node.start_byte()).and_then(|before| before.chars().next_back());
        self.clean &= before.is_none_or(|before| " \t\n;&|()".contains(before)) && !self.text(node).contains('\n');
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

/// Words that stand before a command and are none.
const RESERVED: &str = "! { if then elif else while until do time";

/// Whether a function starts itself more than once, or without waiting: a fork bomb.
fn starts_itself(body: &str, name: &str) -> bool {
    let is_border = |character: char| character.is_whitespace() || "{}()|&;$\"'`".contains(character);
    let calls = body.split(is_border).filter(|word| *word == name).count();
    !name.is_empty() && calls > 0 && body.replace("&&", "").replace(">&", "").contains(['|', '&'])
}

/// One thing that a script does.
#[derive(Debug)]
pub(crate) enum Step {
    /// It runs a command; `moves` tells whether a change of folder in it surely holds for what follows.
    Command { command: Command, moves: bool },
    /// It redirects to or from a file.
    Redirect { operator: String, target: Word },
    /// It sets a variable.
    Assign { name: String, value: Word },
    /// It runs text: the inside of a substitution.
    Script { text: String },
    /// It names words that a loop will use.
    Mention { word: Word },
    /// It works out a value in which commands may hide.
    Computes,
    /// It defines a function; `bomb` when that starts itself twice at once.
    Function { bomb: bool },
    /// It may now be in any folder it named so far.
    StatementEnd,
}

#[derive(Debug, Default)]
pub(crate) struct Walked {
    pub(crate) steps: Vec<Step>,
    /// Whether all of it was understood.
    pub(crate) clean: bool,
    /// Whether both readers found the same words.
    pub(crate) agreed: bool,
}

/// How a script as a whole stands.
#[derive(Debug, Default)]
pub(crate) struct Standing {
    pub(crate) input: Input,
    /// Whether what it prints becomes part of another command.
    pub(crate) captured: bool,
    /// Whether it is the line itself.
    pub(crate) outermost: bool,
}
