//! Simple commands and assignments: the grammar says where their words are, the scanner what they say.

use std::ops::Range;

use tree_sitter::Node;

use super::tree::{MOST_WORDS, Stance, Step, Waiting, Walk, is_word, trimmed};
use crate::command::examined::Word;
use crate::command::finding::{Command, Input};
use crate::command::reader::Places;
use crate::command::scan::{self, Piece};
use crate::command::{expand, expansion};
use crate::listed::is_listed;

impl<'s> Walk<'s, '_> {
    /// The pieces of a word at a place; a word that both readers end differently is not understood.
    pub(super) fn pieces(&mut self, place: &Range<usize>) -> Vec<Piece> {
        let scanned = scan::word(self.source, place.start).filter(|scanned| scanned.end == place.end);
        let Some(scanned) = scanned else {
            self.clean = false;
            let raw = self.source.get(place.clone()).unwrap_or_default();
            return vec![Piece::Unknown { text: raw.to_owned(), quoted: false }];
        };
        for piece in &scanned.pieces {
            match piece {
                Piece::Command { script, .. } => self.steps.push(Step::Script { text: script.clone() }),
                Piece::Unknown { text, .. } => self.effects(text),
                Piece::Text { .. } | Piece::Variable { .. } => {}
            }
        }
        scanned.pieces
    }

    pub(super) fn word(&mut self, node: Node<'_>) -> Word {
        let pieces = self.pieces(&trimmed(self.source, node.byte_range()));
        expand::value(&pieces, &self.known)
    }

    pub(super) fn command(&mut self, node: Node<'_>, mut stance: Stance) {
        let mut command = Command::default();
        let mut places = Places::new();
        let mut cursor = node.walk();
        for child in node.children(&mut cursor) {
            match child.kind() {
                "variable_assignment" => {
                    let (name, value) = self.assigned(child);
                    command.environment.push((name, value));
                }
                "file_redirect" | "herestring_redirect" => {
                    self.redirect(child, &mut stance, &mut Vec::new());
                    stance.plain = false;
                }
                _ => places.push(trimmed(self.source, child.byte_range())),
            }
        }
        places.append(&mut stance.more);
        self.finish(command, places, stance, node);
    }

    /// Turns places into words. The steps of substitutions come before the command they are part of.
    pub(super) fn finish(&mut self, mut command: Command, places: Places, stance: Stance, node: Node<'_>) {
        let mut plain = stance.plain && command.environment.is_empty();
        self.clean &= places.len() <= MOST_WORDS;
        for place in places.iter().take(MOST_WORDS) {
            let pieces = self.pieces(place);
            plain &= !pieces.iter().any(|piece| matches!(piece, Piece::Command { .. }));
            command.words.extend(expand::expand(&pieces, &self.known));
        }
        self.clean &= self.are_apart(&places) && !places.first().is_some_and(|place| self.is_reserved(place));
        let is_move = matches!(command.words.first().map(|word| word.text.as_str()), Some("cd" | "pushd" | "chdir"));
        self.moves_left = self.moves_left.saturating_sub(usize::from(is_move));
        let moves = is_move && self.moves_left > 0 && stance.straight && !self.has_or && is_followed_by_and(node);
        self.places.push(places);
        command.input = stance.input;
        command.captured = stance.captured;
        command.plain = plain;
        self.steps.push(Step::Command { command, moves });
    }

    /// Whether words are apart, and on the same line: the grammar sometimes joins what the shell does not.
    pub(super) fn are_apart(&self, places: &Places) -> bool {
        places.windows(2).all(|pair| {
            let [first, second] = pair else { return true };
            let between = self.source.get(first.end..second.start).unwrap_or_default();
            !between.is_empty() && !between.replace("\\\n", " ").contains('\n')
        })
    }

    /// Whether the grammar took a word of the shell's own for the name of a program.
    pub(super) fn is_reserved(&self, place: &Range<usize>) -> bool {
        const RESERVED: &str = "{ } ! if then elif else fi for while until do done case esac function";
        self.source.get(place.clone()).is_some_and(|word| is_listed(word, RESERVED))
    }

    /// `export A=b` and its like: the words as any other, and the variables set for all that follows.
    pub(super) fn declaration(&mut self, node: Node<'_>, mut stance: Stance) {
        let mut cursor = node.walk();
        let mut places: Places = Vec::new();
        for child in node.children(&mut cursor) {
            if child.kind() == "variable_assignment" {
                self.assignment(child);
            }
            places.push(trimmed(self.source, child.byte_range()));
        }
        places.append(&mut stance.more);
        self.finish(Command::default(), places, stance, node);
    }

    /// `[ … ]` and `[[ … ]]`: judged by its words, whatever the grammar makes of them.
    pub(super) fn test(&mut self, node: Node<'_>, stance: Stance) {
        let place = trimmed(self.source, node.byte_range());
        self.places.push(vec![place.clone()]);
        let mut command = Command { input: stance.input, ..Command::default() };
        let is_double = self.source.get(place.clone()).is_some_and(|text| text.starts_with("[["));
        let mut at = place.start;
        while at < place.end {
            let rest = self.source.get(at..place.end).unwrap_or_default();
            let skipped = rest.len() - rest.trim_start_matches([' ', '\t', '\n', '&', '|', '<', '>', '(', ')']).len();
            // Operators between `[[` and `]]` are those of the line to a shell that has no such test.
            if is_double && rest.get(..skipped).is_some_and(|between| between.contains(['&', '|', '<', '>', '(', ')']))
            {
                self.steps.push(Step::Computes);
            }
            at += skipped;
            if at >= place.end {
                break;
            }
            let Some(end) = scan::word(self.source, at).map(|scanned| scanned.end).filter(|end| *end <= place.end)
            else {
                self.clean = false;
                break;
            };
            let pieces = self.pieces(&(at..end));
            let splits = !is_double && expand::splits(&pieces);
            command.words.push(Word { splits, ..expand::value(&pieces, &self.known) });
            at = end;
        }
        self.steps.push(Step::Command { command, moves: false });
    }

    /// What a mere `echo` or `printf` would print: enough of a guess to see what a shell behind it gets.
    pub(super) fn said(&mut self, node: Node<'_>) -> Option<String> {
        let mut cursor = node.walk();
        let places: Vec<_> = node.children(&mut cursor).map(|child| trimmed(self.source, child.byte_range())).collect();
        let (program, arguments) = places.split_first()?;
        let is_echo = matches!(self.source.get(program.clone()), Some("echo" | "printf" | "command" | "builtin"));
        if node.kind() != "command" || !is_echo {
            return None;
        }
        let mut said = Vec::new();
        for place in arguments {
            let scanned = scan::word(self.source, place.start)?;
            said.extend(expand::expand(&scanned.pieces, &self.known).into_iter().map(|word| word.text));
        }
        said.retain(|text| {
            !matches!(text.as_str(), "-e" | "-n" | "-en" | "-ne" | "-E" | "%s" | "%s\\n" | "%b" | "echo")
        });
        Some(said.join(" ").replace("\\n", "\n"))
    }

    pub(super) fn assigned(&mut self, node: Node<'_>) -> (String, Word) {
        let name = node.child_by_field_name("name").map_or("", |name| self.text(name));
        let plain_name = name.split('[').next().unwrap_or_default().to_owned();
        if plain_name.len() != name.len() {
            self.embedded(name);
        }
        let value = match node.child_by_field_name("value") {
            Some(value) if value.kind() == "array" => self.array(value),
            Some(value) => self.word(value),
            None => Word::exact(""),
        };
        (plain_name, value)
    }

    pub(super) fn assignment(&mut self, node: Node<'_>) {
        let (name, value) = self.assigned(node);
        self.known.assigned.insert(name.clone(), value.text.clone());
        self.steps.push(Step::Assign { name, value });
    }

    pub(super) fn array(&mut self, node: Node<'_>) -> Word {
        let mut cursor = node.walk();
        let members: Vec<_> = node.named_children(&mut cursor).collect();
        let texts: Vec<String> = members.into_iter().map(|member| self.word(member).text).collect();
        Word::guess(texts.join(" "))
    }

    /// What expansions do besides standing for text.
    pub(super) fn effects(&mut self, text: &str) {
        let effects = expansion::effects(text);
        if effects.computes {
            self.steps.push(Step::Computes);
        }
        effects.sets.into_iter().for_each(|name| self.set(name));
    }

    /// A variable gets a value that nobody knows.
    pub(super) fn set(&mut self, name: String) {
        self.known.assigned.remove(&name);
        let value = Word::guess(format!("${name}"));
        self.steps.push(Step::Assign { name, value });
    }

    /// Commands in text that is neither a word nor a statement.
    pub(super) fn embedded(&mut self, text: &str) {
        self.effects(text);
        match scan::commands_within(text) {
            Some(pieces) => {
                for piece in pieces {
                    if let Piece::Command { script, .. } = piece {
                        self.steps.push(Step::Script { text: script });
                    }
                }
            }
            None => self.clean = false,
        }
    }

    pub(super) fn redirected<'t>(&mut self, node: Node<'t>, mut stance: Stance, stack: &mut Vec<Waiting<'t>>) {
        let body = node.child_by_field_name("body");
        let mut cursor = node.walk();
        stance.plain = false;
        let mut behind = Vec::new();
        let mut end = node.start_byte();
        for child in node.children(&mut cursor) {
            self.lost_word(end, child.start_byte(), &mut stance);
            end = child.end_byte();
            if Some(child) != body {
                self.redirect(child, &mut stance, &mut behind);
            }
        }
        behind.reverse();
        stack.extend(behind);
        let Some(body) = body else {
            self.clean &= stance.more.is_empty();
            return;
        };
        if !matches!(body.kind(), "command" | "declaration_command" | "unset_command") && !stance.more.is_empty() {
            self.clean = false;
        }
        stack.push(Waiting { node: body, stance });
    }

    /// The grammar loses a lone `-` before a here-document. Anything else between its nodes is not understood.
    fn lost_word(&mut self, start: usize, end: usize, stance: &mut Stance) {
        let between = self.source.get(start..end).unwrap_or_default();
        let place = trimmed(self.source, start..end);
        match between.replace("\\\n", " ").trim_matches([' ', '\t']) {
            "" => {}
            "-" => stance.more.push(place.start..place.start + 1),
            _ => self.clean = false,
        }
    }

    /// A redirect. What the grammar puts behind it besides its target belongs to the command.
    pub(super) fn redirect<'t>(&mut self, node: Node<'t>, stance: &mut Stance, behind: &mut Vec<Waiting<'t>>) {
        if node.kind() != "heredoc_redirect" {
            self.clean &= is_on_one_line(self.source, node);
        }
        match node.kind() {
            "file_redirect" => self.file_redirect(node, stance),
            "herestring_redirect" => {
                let mut cursor = node.walk();
                for child in node.named_children(&mut cursor).collect::<Vec<_>>() {
                    if child.kind() != "file_descriptor" {
                        stance.input = Input::Text(self.word(child));
                    }
                }
            }
            "heredoc_redirect" => self.heredoc(node, stance, behind),
            _ => self.clean = false,
        }
    }

    fn file_redirect(&mut self, node: Node<'_>, stance: &mut Stance) {
        let mut operator = "";
        let mut target = None;
        let mut cursor = node.walk();
        for child in node.children(&mut cursor).collect::<Vec<_>>() {
            match child.kind() {
                "file_descriptor" => {}
                kind if !child.is_named() => operator = kind,
                _ if target.is_none() => target = Some(self.word(child)),
                _ => stance.more.push(trimmed(self.source, child.byte_range())),
            }
            self.clean &= !child.is_error();
        }
        if operator == "<" {
            stance.input = Input::File;
        }
        let target = target.unwrap_or_else(|| Word::exact("-"));
        self.steps.push(Step::Redirect { operator: operator.to_owned(), target });
    }

    /// A here-document, whose text is found by our own scanner: the grammar misses commands in it.
    fn heredoc<'t>(&mut self, node: Node<'t>, stance: &mut Stance, behind: &mut Vec<Waiting<'t>>) {
        let mut cursor = node.walk();
        let children: Vec<Node<'t>> = node.children(&mut cursor).collect();
        let strip_tabs = children.iter().any(|child| child.kind() == "<<-");
        let start = children.iter().find(|child| child.kind() == "heredoc_start").map(Node::start_byte);
        let end = children.iter().find(|child| child.kind() == "heredoc_end").map(Node::end_byte);
        let found = start.and_then(|start| self.heredoc_text(start, end?, strip_tabs));
        let Some((text, quoted)) = found else {
            self.clean = false;
            return;
        };
        let mut exact = true;
        if !quoted {
            self.effects(text);
            exact = !text.contains(['$', '`', '\\']);
            match scan::commands_within(text) {
                Some(pieces) => self.steps.extend(pieces.into_iter().filter_map(|piece| match piece {
                    Piece::Command { script, .. } => Some(Step::Script { text: script }),
                    Piece::Text { .. } | Piece::Variable { .. } | Piece::Unknown { .. } => None,
                })),
                None => self.clean = false,
            }
        }
        stance.input = Input::Text(Word::of(text, exact));
        for child in children {
            match child.kind() {
                "heredoc_start" | "heredoc_body" | "heredoc_end" | "file_descriptor" => {}
                "file_redirect" => self.file_redirect(child, stance),
                kind if is_word(kind) => {
                    stance.more.push(trimmed(self.source, child.byte_range()));
                }
                _ if child.is_named() => {
                    let input = Input::Pipe(Some(text.to_owned()));
                    behind.push(Waiting { node: child, stance: Stance { input, ..Stance::default() } });
                }
                _ => {}
            }
        }
    }

    fn heredoc_text(&self, start: usize, end: usize, strip_tabs: bool) -> Option<(&'s str, bool)> {
        let (announced, after) = scan::announced(self.source, start, strip_tabs)?;
        let rest = self.source.get(after..)?;
        let first_line = after + rest.find('\n')? + 1;
        // A quote that is still open here would carry the line on.
        if self.source.get(after..first_line)?.matches(['\'', '"', '`', '\\']).count() % 2 == 1 {
            return None;
        }
        let body = scan::body(self.source, first_line, &announced)?;
        let written = self.source.get(body.end_line..end)?;
        (written.trim_start_matches('\t') == announced.delimiter).then_some((body.text, announced.quoted))
    }
}

/// Whether what follows a command runs only if it went well.
pub(super) fn is_followed_by_and(node: Node<'_>) -> bool {
    let mut node = node;
    loop {
        match node.next_sibling() {
            Some(next) => return next.kind() == "&&",
            None => match node.parent() {
                Some(parent) if parent.kind() == "list" => node = parent,
                _ => return false,
            },
        }
    }
}

/// Whether a redirect and its words are on one line; the grammar looks for them on the next, the shell does not.
fn is_on_one_line(source: &str, node: Node<'_>) -> bool {
    let mut cursor = node.walk();
    let mut end = node.start_byte();
    node.children(&mut cursor).all(|child| {
        let between = source.get(end..child.start_byte()).unwrap_or_default().replace("\\\n", " ");
        let leading = source.get(child.byte_range()).is_some_and(|text| text.starts_with('\n'));
        end = child.end_byte();
        !between.contains('\n') && !leading
    })
}
