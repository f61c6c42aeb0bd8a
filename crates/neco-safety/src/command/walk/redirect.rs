//! Redirects and here-documents.

use tree_sitter::Node;

use super::step::Step;
use super::tree::{Stance, Waiting, Walk, is_word, trimmed};
use crate::command::examined::Word;
use crate::command::finding::Input;
use crate::command::scan::{self, Piece};

impl<'s> Walk<'s, '_> {
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

    pub(super) fn file_redirect(&mut self, node: Node<'_>, stance: &mut Stance) {
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
    pub(super) fn heredoc<'t>(&mut self, node: Node<'t>, stance: &mut Stance, behind: &mut Vec<Waiting<'t>>) {
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

    pub(super) fn heredoc_text(&self, start: usize, end: usize, strip_tabs: bool) -> Option<(&'s str, bool)> {
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
