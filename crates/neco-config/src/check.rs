//! Holds a layer against the known settings: names, types, choices, ranges.

use std::cmp::Reverse;

use crate::address::without_secrets;
use crate::layer::{Node, Value};
use crate::notice::{Findings, Notice};
use crate::origin::{Layer, Origin};
use crate::shape::Shape;
use crate::trail::{Trail, shortened};

/// What else settings are called: the tables they stand in (`*` is any name), the other name and ours.
const ALIASES: &[(&[&str], &str, &str)] = &[
    (&["model_providers", "*"], "base_url", "base"),
    (&["model_providers", "*"], "env_key", "api_key_env"),
    (&["model_providers", "*"], "env_keys", "api_key_envs"),
    (&["scripted_tools", "*"], "type", "script_type"),
    (&["mcp_servers", "*"], "httpUrl", "url"),
    (&["mcp_servers", "*"], "http_headers", "headers"),
    (&["mcp_servers", "*"], "startup_timeout_sec", "startup_timeout"),
    (&["mcp_servers", "*"], "tool_timeout_sec", "tool_timeout"),
    (&["mcp_servers", "*", "oauth"], "clientId", "client_id"),
    (&["mcp_servers", "*", "oauth"], "callbackPort", "callback_port"),
];

/// Checks a layer, and takes out of it what is unknown or wrong. What is there under another name gets ours.
pub(crate) fn check(layer: &mut Node, known: &Shape, findings: &mut Findings) {
    for (tables, theirs, ours) in ALIASES {
        rename(layer, tables, theirs, ours);
    }
    Check { known, findings }.fits(layer, known, &Way::Root);
}

/// What else the setting that these names lead to is called, in the same table.
pub fn other_names(names: &[&str]) -> Vec<&'static str> {
    let Some((last, tables)) = names.split_last() else { return Vec::new() };
    let stands_in =
        |of: &[&str]| of.len() == tables.len() && of.iter().zip(tables).all(|(of, is)| *of == "*" || of == is);
    let other = |(of, theirs, ours): &(&[&str], &'static str, &'static str)| match last {
        _ if !stands_in(of) => None,
        last if *last == *theirs => Some(*ours),
        last if *last == *ours => Some(*theirs),
        _ => None,
    };
    ALIASES.iter().filter_map(other).collect()
}

/// The way to a value; it becomes a text when something is to be said of the value.
#[derive(Clone, Copy)]
enum Way<'a> {
    Root,
    Name(&'a Way<'a>, &'a str),
    /// Counted from 1.
    Item(&'a Way<'a>, usize),
}

impl Way<'_> {
    fn trail(&self) -> Trail {
        match self {
            Self::Root => Trail::default(),
            Self::Name(above, name) => above.trail().child(name),
            Self::Item(above, number) => above.trail().item(*number),
        }
    }
}

struct Check<'a> {
    known: &'a Shape,
    findings: &'a mut Findings,
}

impl Check<'_> {
    /// Whether the node may stay.
    fn fits(&mut self, node: &mut Node, shape: &Shape, way: &Way<'_>) -> bool {
        let fits = match (&mut node.value, shape) {
            (Value::Table(entries), Shape::Table(_) | Shape::Map(_)) => {
                entries.retain(|name, child| self.entry_fits(name, child, shape, way));
                true
            }
            (Value::List(items), Shape::List(inner)) => {
                self.warn_of_mixed_items(items, way, &node.origin);
                let mut number = 0;
                items.retain_mut(|item| {
                    number += 1;
                    self.fits(item, inner, &Way::Item(way, number))
                });
                true
            }
            (Value::Text(text), Shape::Text { may_be_empty }) => *may_be_empty || !text.is_empty(),
            (Value::Text(text), Shape::OneOf(choices)) => choices.iter().any(|choice| choice.name == *text),
            (Value::Whole(number), Shape::Whole(range) | Shape::Number(range)) => range.holds(*number as f64),
            (Value::Number(number), Shape::Number(range)) => range.holds(*number),
            (Value::Switch(_), Shape::Switch) => true,
            (_, Shape::Any) => true,
            _ => false,
        };
        if !fits {
            let trail = way.trail();
            let message = format!("expected {}, found {}", shape.expected(), found(&node.value, &trail));
            self.findings.problems.push(Notice::about_key(&node.origin, &trail, message));
        }
        fits
    }

    fn entry_fits(&mut self, name: &str, child: &mut Node, parent: &Shape, way: &Way<'_>) -> bool {
        let way_to_child = Way::Name(way, name);
        match parent.child(name) {
            Some(shape) => self.fits(child, shape, &way_to_child),
            None => {
                let message = match nearest(name, child, parent, &way.trail(), self.known) {
                    Some(nearest) => format!("unknown setting; did you mean `{nearest}`?"),
                    None => "unknown setting".to_owned(),
                };
                let notice = Notice::about_key(&child.name_origin, &way_to_child.trail(), message);
                // Whoever types a flag means this run, which must not go on with something else.
                let of_this_run = child.name_origin.layer == Layer::Flags;
                let Findings { problems, warnings } = &mut *self.findings;
                if of_this_run { problems } else { warnings }.push(notice);
                false
            }
        }
    }

    fn warn_of_mixed_items(&mut self, items: &[Node], way: &Way<'_>, origin: &Origin) {
        let added = items.iter().filter(|item| added_item(&item.value).is_some()).count();
        if added > 0 && added < items.len() {
            let message = "items with and without \"+\": those without replace what other layers say";
            self.findings.warnings.push(Notice::about_key(origin, &way.trail(), message));
        }
    }
}

/// Gives a setting its usual name in all tables that these names lead to. One that is there under both names keeps its
/// own, and is told of as unknown.
fn rename(node: &mut Node, tables: &[&str], theirs: &str, ours: &str) {
    match (tables, &mut node.value) {
        ([], Value::Table(entries)) => {
            if !entries.contains_key(ours)
                && let Some(value) = entries.remove(theirs)
            {
                entries.insert(ours.to_owned(), value);
            }
        }
        (["*", rest @ ..], Value::Table(entries)) => {
            entries.values_mut().for_each(|entry| rename(entry, rest, theirs, ours));
        }
        (["*", rest @ ..], Value::List(items)) => items.iter_mut().for_each(|item| rename(item, rest, theirs, ours)),
        ([name, rest @ ..], Value::Table(entries)) => {
            if let Some(entry) = entries.get_mut(*name) {
                rename(entry, rest, theirs, ours);
            }
        }
        (_, _) => {}
    }
}

/// What `"+item"` adds to a list; `None` for items that are meant as they are.
pub(crate) fn added_item(value: &Value) -> Option<&str> {
    let Value::Text(text) = value else { return None };
    text.strip_prefix('+').filter(|item| !item.is_empty())
}

/// What is there, in words; secrets are only named by their kind.
fn found(value: &Value, trail: &Trail) -> String {
    let kind = match value {
        Value::Table(_) => return "a table".to_owned(),
        Value::List(_) => return "a list".to_owned(),
        Value::Text(_) => "string",
        Value::Whole(_) => "whole number",
        Value::Number(_) => "number",
        Value::Switch(_) => "switch",
        Value::Date(_) => "date",
    };
    match value {
        _ if trail.is_secret() || trail.is_command() => format!("a {kind}"),
        Value::Text(text) => format!("the string {:?}", shortened(&without_secrets(text))),
        Value::Switch(switch) => switch.to_string(),
        _ => format!("the {kind} {value}"),
    }
}

/// The dotted key that was probably meant: a name like it in the same table, or the same name elsewhere.
fn nearest(name: &str, node: &Node, parent: &Shape, trail: &Trail, known: &Shape) -> Option<String> {
    // Comparing costs memory by length, and no setting has such a name.
    if name.len() > 64 {
        return None;
    }
    let Shape::Table(fields) = parent else { return None };
    let wanted = name.to_lowercase();
    let is_table = matches!(node.value, Value::Table(_));
    let names = || fields.iter().map(|(known, _)| *known);
    let of_its_kind = fields.iter().filter(|(_, field)| field.shape.is_table() == is_table);
    let here = typed(&wanted, of_its_kind.map(|(known, _)| *known))
        .or_else(|| typed(&wanted, names()))
        .or_else(|| remembered(&wanted, names()));
    here.map(|known| trail.child(known).to_string()).or_else(|| elsewhere(&wanted, known, &Trail::default()))
}

/// Typing errors change few letters, and seldom their number.
fn typed<'a>(wanted: &str, names: impl Iterator<Item = &'a str>) -> Option<&'a str> {
    let scored = names.map(|name| {
        let likeness = strsim::normalized_damerau_levenshtein(wanted, name);
        (likeness, Reverse(wanted.len().abs_diff(name.len())), name)
    });
    let best = scored.max_by(|one, other| one.0.total_cmp(&other.0).then(one.1.cmp(&other.1)));
    best.filter(|(likeness, ..)| *likeness >= 0.6).map(|(.., name)| name)
}

/// Half-remembered names share their beginning.
fn remembered<'a>(wanted: &str, names: impl Iterator<Item = &'a str>) -> Option<&'a str> {
    let scored = names.map(|name| (strsim::jaro_winkler(wanted, name), name));
    let best = scored.max_by(|one, other| one.0.total_cmp(&other.0));
    best.filter(|(likeness, _)| *likeness >= 0.88).map(|(_, name)| name)
}

fn elsewhere(name: &str, shape: &Shape, trail: &Trail) -> Option<String> {
    if let Shape::Map(inner) = shape {
        return elsewhere(name, inner, &trail.child("NAME"));
    }
    let Shape::Table(fields) = shape else { return None };
    fields.iter().find_map(|(known, field)| {
        let here = trail.child(known);
        if *known == name { Some(here.to_string()) } else { elsewhere(name, &field.shape, &here) }
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::layer::parse;
    use crate::origin::{Layer, Source};
    use crate::shape::known;

    fn said(text: &str) -> (Vec<String>, Vec<String>) {
        let origin = Origin::new(Layer::User, Source::File { path: "/c".into(), shown: "c".into() });
        let mut findings = Findings::default();
        check(&mut parse(text, &origin).unwrap(), known(), &mut findings);
        let lines = |notices: Vec<Notice>| notices.iter().map(ToString::to_string).collect();
        (lines(findings.problems), lines(findings.warnings))
    }

    #[test]
    fn wrong_values_are_named_with_what_was_expected() {
        for (text, expected) in [
            ("agent = 5", "c:1:9: agent: expected a table, found the whole number 5"),
            (
                "[agent]\nmax_turns = \"many\"",
                "c:2:13: agent.max_turns: expected a whole number of at least 1 and at most 100000, found the string \"many\"",
            ),
            (
                "agent.max_turns = 0",
                "c:1:19: agent.max_turns: expected a whole number of at least 1 and at most 100000, found the whole number 0",
            ),
            (
                "agent.max_turns = 100001",
                "c:1:19: agent.max_turns: expected a whole number of at least 1 and at most 100000, found the whole number 100001",
            ),
            (
                "approval = \"yes\"",
                "c:1:12: approval: expected one of `auto`, `accept_edits`, `ask_first`, `manual`, found the string \"yes\"",
            ),
            (
                "approval = true",
                "c:1:12: approval: expected one of `auto`, `accept_edits`, `ask_first`, `manual`, found true",
            ),
            ("model = 1979-05-27", "c:1:9: model: expected a string that is not empty, found the date 1979-05-27"),
            (
                "tools.only = \"x\"",
                "c:1:14: tools.only: expected a list, each item a string that is not empty, found the string \"x\"",
            ),
            (
                "tools.only = ['a', 2]",
                "c:1:20: tools.only[2]: expected a string that is not empty, found the whole number 2",
            ),
            (
                "network.idle_timeout = 0",
                "c:1:24: network.idle_timeout: expected a number more than 0 and at most 31536000, found the whole number 0",
            ),
            (
                "network.idle_timeout = inf",
                "c:1:24: network.idle_timeout: expected a number more than 0 and at most 31536000, found the number inf",
            ),
            (
                "tools.timeout = nan",
                "c:1:17: tools.timeout: expected a number more than 0 and at most 31536000, found the number nan",
            ),
            (
                "agent.parallel_reads = 0",
                "c:1:24: agent.parallel_reads: expected a whole number of at least 1 and at most 1000, found the whole number 0",
            ),
            (
                "tools.max_output_bytes = 999",
                "c:1:26: tools.max_output_bytes: expected a whole number of at least 1000 and at most 1000000, found the whole number 999",
            ),
            (
                "model_providers.x.local = 1",
                "c:1:27: model_providers.x.local: expected true or false, found the whole number 1",
            ),
            (
                "model_providers.x.api_key = 123",
                "c:1:29: model_providers.x.api_key: expected a string, found a whole number",
            ),
            (
                "model_providers.x.headers = { a = 1.5 }",
                "c:1:35: model_providers.x.headers.a: expected a string, found a number",
            ),
            (
                "models.'a/b'.input_price = -1",
                "c:1:28: models.\"a/b\".input_price: expected a number of at least 0, found the whole number -1",
            ),
        ] {
            assert_eq!(said(text), (vec![expected.to_owned()], vec![]), "{text}");
        }
    }

    #[test]
    fn all_wrong_values_are_named_at_once() {
        assert_eq!(said("agent.max_turns = 0\napproval = 1\ntools.only = [1, 2]").0.len(), 4);
    }

    #[test]
    fn unknown_names_are_warned_about_with_the_nearest() {
        for (text, expected) in [
            ("modle = 'x'", "c:1:1: modle: unknown setting; did you mean `model`?"),
            ("[agent]\nmax_turn = 1", "c:2:1: agent.max_turn: unknown setting; did you mean `agent.max_turns`?"),
            ("[agent]\nMax-Turns = 1", "c:2:1: agent.Max-Turns: unknown setting; did you mean `agent.max_turns`?"),
            ("[agnt]\nmax_turns = 1", "c:1:2: agnt: unknown setting; did you mean `agent`?"),
            ("max_turns = 1", "c:1:1: max_turns: unknown setting; did you mean `agent.max_turns`?"),
            ("strategy = 1", "c:1:1: strategy: unknown setting; did you mean `model_groups.NAME.strategy`?"),
            (
                "[tools]\ntimeout_seconds = 1",
                "c:2:1: tools.timeout_seconds: unknown setting; did you mean `tools.timeout`?",
            ),
            (
                "[model_providers.x]\nbas = 'y'",
                "c:2:1: model_providers.x.bas: unknown setting; did you mean `model_providers.x.base`?",
            ),
            ("zzz = 1", "c:1:1: zzz: unknown setting"),
            ("\"a\\u001b\" = 1", "c:1:1: \"a\\u{1b}\": unknown setting"),
            (
                "tools.only = ['+a', 'b']",
                "c:1:14: tools.only: items with and without \"+\": those without replace what other layers say",
            ),
        ] {
            assert_eq!(said(text), (vec![], vec![expected.to_owned()]), "{text}");
        }
        let long = format!("{} = 1", "x".repeat(100_000));
        assert_eq!(said(&long).1, [format!("c:1:1: {}…: unknown setting", "x".repeat(64))]);
    }

    #[test]
    fn what_is_right_passes_in_silence() {
        let text = "model = 'a/b'\ntools.timeout = 1\nnetwork.backoff = 0.5\n[models.'a/b']\ncontext_window = 100\n\
                    [model_providers.x]\ntype = 'openai'\nheaders.x = ''\n[model_groups.g]\nmodels = ['a', 'b']\nstrategy = 'first'";
        assert_eq!(said(text), (vec![], vec![]));
    }
}
