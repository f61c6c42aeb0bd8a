//! Pipelines, functions, loops and the other compound statements.

use tree_sitter::Node;

use super::step::Step;
use super::tree::{MOST_WORDS, Stance, Waiting, Walk, is_word};
use crate::command::examined::Word;
use crate::command::finding::{Command, Input};
use crate::command::scan::is_name;
use crate::listed::is_listed;

/// Words that stand before a command and are none.
const RESERVED: &str = "! { if then elif else while until do time";

impl<'s> Walk<'s, '_> {
    pub(super) fn pipeline<'t>(&mut self, node: Node<'t>, stance: Stance, stack: &mut Vec<Waiting<'t>>) {
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
    pub(super) fn arithmetic(&mut self, node: Node<'_>) {
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

    pub(super) fn function<'t>(&mut self, node: Node<'t>, stance: Stance, stack: &mut Vec<Waiting<'t>>) {
        let name = node.child_by_field_name("name").map_or("", |name| self.text(name));
        let body = node.child_by_field_name("body");
        let bomb = body.is_some_and(|body| starts_itself(self.text(body), name));
        self.steps.push(Step::Function { bomb });
        if let Some(body) = body {
            stack.push(Waiting { node: body, stance: stance.within() });
        }
    }

    pub(super) fn for_statement<'t>(&mut self, node: Node<'t>, stance: &Stance, stack: &mut Vec<Waiting<'t>>) {
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

    pub(super) fn c_style_for<'t>(&mut self, node: Node<'t>, stance: &Stance, stack: &mut Vec<Waiting<'t>>) {
        let body = node.child_by_field_name("body");
        let head = node.start_byte()..body.map_or(node.end_byte(), |body| body.start_byte());
        let head = self.source.get(head).unwrap_or_default();
        self.clean &= !head.contains(['\'', '"', '\\']);
        self.embedded(head);
        stack.extend(body.map(|node| Waiting { node, stance: stance.within() }));
    }

    /// The value and the patterns of `case` are words; the rest are statements.
    pub(super) fn case<'t>(&mut self, node: Node<'t>, stance: &Stance, stack: &mut Vec<Waiting<'t>>) {
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
    pub(super) fn comment(&mut self, node: Node<'_>) {
        let before = self.source.get(..node.start_byte()).and_then(|before| before.chars().next_back());
        self.clean &= before.is_none_or(|before| " \t\n;&|()".contains(before)) && !self.text(node).contains('\n');
    }
}

/// Whether a function starts itself more than once, or without waiting: a fork bomb.
pub(super) fn starts_itself(body: &str, name: &str) -> bool {
    let is_border = |character: char| character.is_whitespace() || "{}()|&;$\"'`".contains(character);
    let calls = body.split(is_border).filter(|word| *word == name).count();
    !name.is_empty() && calls > 0 && body.replace("&&", "").replace(">&", "").contains(['|', '&'])
}
