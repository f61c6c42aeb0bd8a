//! Trees of HTML, walked without recursion: a page may be nested as deep as it is long.

use std::rc::Rc;
use std::time::{Duration, Instant};

use html5ever::tendril::TendrilSink;
use html5ever::tree_builder::TreeBuilderOpts;
use html5ever::{ParseOpts, parse_document};
use markup5ever_rcdom::{Handle, Node, NodeData, RcDom};

/// How long a page may take to be parsed. The work grows with the nesting times the length, so a page
/// that is nothing but nesting would never end.
const TIME: Duration = Duration::from_secs(2);

/// Bytes that are parsed between two looks at the clock.
const PIECE: usize = 16 * 1024;

pub(super) struct Parsed {
    pub(super) document: Handle,
    /// Whether the time was up before its end.
    pub(super) cut: bool,
}

/// The tree of a page, as a browser without scripts would have it.
pub(super) fn parse(html: &str) -> Parsed {
    let tree_builder = TreeBuilderOpts { scripting_enabled: false, ..TreeBuilderOpts::default() };
    let options = ParseOpts { tree_builder, ..ParseOpts::default() };
    let mut parser = parse_document(RcDom::default(), options);
    let started = Instant::now();
    let mut rest = html;
    while !rest.is_empty() && started.elapsed() < TIME {
        let (piece, after) = rest.split_at_checked(rest.floor_char_boundary(PIECE)).unwrap_or((rest, ""));
        parser.process(piece.into());
        rest = after;
    }
    Parsed { document: parser.finish().document, cut: !rest.is_empty() }
}

/// All nodes below one, in the order of the page.
pub(super) fn below(root: &Handle) -> impl Iterator<Item = Handle> + use<> {
    let mut waiting: Vec<Handle> = reversed(root);
    std::iter::from_fn(move || {
        let next = waiting.pop()?;
        waiting.extend(reversed(&next));
        Some(next)
    })
}

fn reversed(node: &Handle) -> Vec<Handle> {
    node.children.borrow().iter().rev().map(Rc::clone).collect()
}

/// The name of an element; nothing for what is none.
pub(super) fn tag(node: &Node) -> Option<&str> {
    match &node.data {
        NodeData::Element { name, .. } => Some(&name.local),
        NodeData::Document
        | NodeData::Doctype { .. }
        | NodeData::Text { .. }
        | NodeData::Comment { .. }
        | NodeData::ProcessingInstruction { .. } => None,
    }
}

/// An attribute of an element.
pub(super) fn attribute(node: &Node, name: &str) -> Option<String> {
    let NodeData::Element { attrs, .. } = &node.data else { return None };
    attrs.borrow().iter().find(|one| &*one.name.local == name).map(|one| one.value.to_string())
}

/// Gives an attribute another value, or takes it away.
pub(super) fn set_attribute(node: &Node, name: &str, value: Option<&str>) {
    let NodeData::Element { attrs, .. } = &node.data else { return };
    let mut attrs = attrs.borrow_mut();
    match value {
        Some(value) => {
            if let Some(one) = attrs.iter_mut().find(|one| &*one.name.local == name) {
                one.value = value.into();
            }
        }
        None => attrs.retain(|one| &*one.name.local != name),
    }
}

/// Whether an element is of a class.
pub(super) fn has_class(node: &Node, class: &str) -> bool {
    attribute(node, "class").is_some_and(|classes| classes.split_ascii_whitespace().any(|one| one == class))
}

/// The text in a node, its white space made single spaces.
pub(super) fn text(root: &Handle) -> String {
    let mut text = String::new();
    for node in below(root) {
        if let NodeData::Text { contents } = &node.data {
            text.push_str(&contents.borrow());
        }
    }
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// The text of a piece of HTML, such as a snippet with `<b>` in it.
pub(super) fn plain(html: &str) -> String {
    if !html.contains(['<', '&']) {
        return html.split_whitespace().collect::<Vec<_>>().join(" ");
    }
    text(&parse(html).document)
}
