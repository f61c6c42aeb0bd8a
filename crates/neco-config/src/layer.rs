//! One layer as a tree: values of TOML, each with the place it was written at.

use std::collections::BTreeMap;
use std::fmt;
use std::ops::Range;

use toml::Spanned;
use toml::de::{DeTable, DeValue};

use crate::notice::Notice;
use crate::origin::{Origin, Position};

/// A value and where it was written.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Node {
    pub(crate) value: Value,
    /// Where the value starts.
    pub(crate) origin: Origin,
    /// Where its name starts, which is what a misspelt name points at.
    pub(crate) name_origin: Origin,
    /// Whose items come before, for a list that was added to.
    pub(crate) earlier: Vec<Origin>,
}

/// What is in a table. A map keeps room for more entries than there are, so that they stand elsewhere.
pub(crate) type Entries = BTreeMap<String, Box<Node>>;

#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Value {
    Table(Entries),
    List(Vec<Node>),
    Text(String),
    Whole(i64),
    Number(f64),
    Switch(bool),
    /// A date or time, as it was written.
    Date(String),
}

impl Node {
    /// A value without a name of its own.
    pub(crate) fn new(value: Value, origin: Origin) -> Self {
        Self { value, name_origin: origin.clone(), origin, earlier: Vec::new() }
    }

    /// A table with nothing in it.
    pub(crate) fn empty_table(origin: Origin) -> Self {
        Self::new(Value::Table(Entries::new()), origin)
    }

    /// This value as the only thing in a tree, below these names.
    pub(crate) fn below(self, names: &[String]) -> Self {
        names.iter().rev().fold(self, |node, name| {
            let origin = node.origin.clone();
            Self::new(Value::Table(Entries::from([(name.clone(), Box::new(node))])), origin)
        })
    }

    /// What is below these names.
    pub(crate) fn get(&self, names: &[&str]) -> Option<&Self> {
        names.iter().try_fold(self, |node, name| match &node.value {
            Value::Table(entries) => entries.get(*name).map(|node| &**node),
            _ => None,
        })
    }

    /// Takes out what is below these names.
    pub(crate) fn remove(&mut self, names: &[&str]) -> Option<Self> {
        let Value::Table(entries) = &mut self.value else { return None };
        match names {
            [] => None,
            [name] => entries.remove(*name).map(|node| *node),
            [name, rest @ ..] => entries.get_mut(*name)?.remove(rest),
        }
    }
}

/// What the reader of TOML says of a name that stands twice in a table.
const DUPLICATE: &str = "duplicate key";

/// Whether a piece of a file is a name as settings have them, and nothing that may be secret.
fn is_name(piece: &str) -> bool {
    piece.len() <= 60 && piece.chars().all(|char| char.is_alphanumeric() || "_-.\"'/ ".contains(char))
}

/// Reads the text of a file; `origin` names the file.
pub(crate) fn parse(text: &str, origin: &Origin) -> Result<Node, Notice> {
    let lines = Lines::of(text);
    match DeTable::parse(text) {
        Ok(table) => Reader { origin, lines: Some(&lines) }.table(table.into_inner(), origin.clone()),
        Err(error) => {
            let span = error.span().unwrap_or_default();
            let position = lines.position(span.start);
            // Only the first line: the rest would quote the file, secrets and all.
            let message = error.message().lines().next().unwrap_or("not TOML");
            // What stands there twice is a name, and one has to know which.
            let twice = text.get(span).filter(|name| message == DUPLICATE && is_name(name));
            let name = twice.map(|name| format!(": {name} is set above already")).unwrap_or_default();
            Err(Notice::about(&origin.at(Some(position)), format!("{message}{name}")))
        }
    }
}

/// The values of a text that is known to be right, without places.
pub(crate) fn parse_unplaced(text: &str, origin: &Origin) -> Option<Node> {
    let table = DeTable::parse(text).ok()?;
    Reader { origin, lines: None }.table(table.into_inner(), origin.clone()).ok()
}

/// A value given outside a file: TOML when it reads as TOML, else the text itself.
pub(crate) fn parse_value(text: &str, origin: &Origin) -> Node {
    let value = DeValue::parse(text.trim()).ok();
    let node = value.and_then(|value| Reader { origin, lines: None }.value(value.into_inner(), origin.clone()).ok());
    node.unwrap_or_else(|| Node::new(Value::Text(text.to_owned()), origin.clone()))
}

/// Where lines start, to turn an offset into a place.
pub struct Lines<'a> {
    text: &'a str,
    starts: Vec<usize>,
}

impl<'a> Lines<'a> {
    /// Finds the lines of a text.
    pub fn of(text: &'a str) -> Self {
        let starts = std::iter::once(0).chain(text.match_indices('\n').map(|(index, _)| index + 1)).collect();
        Self { text, starts }
    }

    /// The place of a byte offset.
    pub fn position(&self, offset: usize) -> Position {
        let line = self.starts.partition_point(|start| *start <= offset).max(1);
        let start = self.starts.get(line - 1).copied().unwrap_or(0);
        let before = self.text.get(start..offset).unwrap_or_default();
        // A byte order mark takes no column in an editor.
        let before = before.strip_prefix('\u{feff}').unwrap_or(before);
        Position::new(line, before.chars().count() + 1)
    }
}

/// Turns what was read as TOML into nodes.
struct Reader<'a> {
    origin: &'a Origin,
    lines: Option<&'a Lines<'a>>,
}

impl Reader<'_> {
    fn at(&self, span: Range<usize>) -> Origin {
        match self.lines {
            Some(lines) => self.origin.at(Some(lines.position(span.start))),
            None => self.origin.clone(),
        }
    }

    fn table(&self, table: DeTable<'_>, origin: Origin) -> Result<Node, Notice> {
        let entries = table.into_iter().map(|(name, value)| {
            let name_origin = self.at(name.span());
            let mut node = self.placed(value)?;
            node.name_origin = name_origin;
            Ok((name.into_inner().into_owned(), Box::new(node)))
        });
        Ok(Node::new(Value::Table(entries.collect::<Result<_, _>>()?), origin))
    }

    fn placed(&self, value: Spanned<DeValue<'_>>) -> Result<Node, Notice> {
        let origin = self.at(value.span());
        self.value(value.into_inner(), origin)
    }

    /// Fails for a number that is too big.
    fn value(&self, value: DeValue<'_>, origin: Origin) -> Result<Node, Notice> {
        let too_big = |origin: &Origin| Notice::about(origin, "the number is too big");
        let value = match value {
            DeValue::String(text) => Value::Text(text.into_owned()),
            DeValue::Integer(number) => match i64::from_str_radix(number.as_str(), number.radix()) {
                Ok(number) => Value::Whole(number),
                Err(_) => return Err(too_big(&origin)),
            },
            DeValue::Float(number) => match number.as_str().parse::<f64>() {
                Ok(float) if float.is_finite() || !number.as_str().contains(|char: char| char.is_ascii_digit()) => {
                    Value::Number(float)
                }
                _ => return Err(too_big(&origin)),
            },
            DeValue::Boolean(switch) => Value::Switch(switch),
            DeValue::Datetime(date) => Value::Date(date.to_string()),
            DeValue::Table(table) => return self.table(table, origin),
            DeValue::Array(items) => {
                Value::List(items.into_iter().map(|item| self.placed(item)).collect::<Result<_, _>>()?)
            }
        };
        Ok(Node::new(value, origin))
    }
}

/// The value as TOML on one line.
impl fmt::Display for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Table(entries) => {
                f.write_str("{")?;
                for (index, (name, node)) in entries.iter().enumerate() {
                    let separator = if index == 0 { " " } else { ", " };
                    write!(f, "{separator}{} = {}", toml_edit::Key::new(name), node.value)?;
                }
                f.write_str(if entries.is_empty() { "}" } else { " }" })
            }
            Self::List(items) => {
                f.write_str("[")?;
                for (index, node) in items.iter().enumerate() {
                    let separator = if index == 0 { "" } else { ", " };
                    write!(f, "{separator}{}", node.value)?;
                }
                f.write_str("]")
            }
            // One line is the point, so no multi-line string is chosen.
            Self::Text(text) if text.contains(['\n', '\r']) => write!(f, "{text:?}"),
            Self::Text(text) => toml_edit::Value::from(text.as_str()).fmt(f),
            Self::Whole(number) => number.fmt(f),
            Self::Number(number) => toml_edit::Value::from(*number).fmt(f),
            Self::Switch(switch) => switch.fmt(f),
            Self::Date(date) => date.fmt(f),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::origin::{Layer, Source};

    fn origin() -> Origin {
        let source = Source::File { path: "/c.toml".into(), shown: "/c.toml".into() };
        Origin::new(Layer::User, source)
    }

    #[test]
    fn a_name_that_stands_twice_is_named() {
        for (text, name) in [("model = 'a'\nmodel = 'b'\n", "model"), ("[tui]\nx = 1\n[tui]\ny = 1\n", "tui")] {
            let notice = parse(text, &origin()).unwrap_err().to_string();
            assert!(notice.contains(&format!("duplicate key: {name} is set above already")), "{notice}");
        }
        let secret = parse("key = 'sk-1' 'sk-2'\n", &origin()).unwrap_err().to_string();
        assert!(!secret.contains("sk-"), "{secret}");
    }

    #[test]
    fn every_value_and_name_knows_its_place() {
        let text = "model = 'a'\n[tools]\nonly = [\n  'é', 'b',\n]\n[a.b]\nc.d = 1\n[[l]]\nx = { y = true }\n";
        let root = parse(text, &origin()).unwrap();
        let place = |names: &[&str]| {
            let node = root.get(names).unwrap();
            format!("{} {}", node.name_origin, node.origin)
        };
        assert_eq!(place(&["model"]), "/c.toml:1:1 /c.toml:1:9");
        assert_eq!(place(&["tools"]), "/c.toml:2:2 /c.toml:2:1");
        assert_eq!(place(&["tools", "only"]), "/c.toml:3:1 /c.toml:3:8");
        assert_eq!(place(&["a", "b", "c", "d"]), "/c.toml:7:3 /c.toml:7:7");
        assert_eq!(place(&["a"]), "/c.toml:6:2 /c.toml:6:2");
        let Value::List(items) = &root.get(&["tools", "only"]).unwrap().value else { panic!("not a list") };
        assert_eq!(
            items.iter().map(|item| item.origin.to_string()).collect::<Vec<_>>(),
            ["/c.toml:4:3", "/c.toml:4:8"]
        );
    }

    #[test]
    fn marks_and_line_ends_of_other_systems_are_no_matter() {
        let root = parse("\u{feff}mode = 'ask'\r\n[agent]\r\nmax_turns = 1\r\n", &origin()).unwrap();
        assert_eq!(root.get(&["agent", "max_turns"]).unwrap().origin.to_string(), "/c.toml:3:13");
        assert_eq!(root.get(&["mode"]).unwrap().value, Value::Text("ask".into()));
        assert_eq!(root.get(&["mode"]).unwrap().origin.to_string(), "/c.toml:1:8");
    }

    #[test]
    fn broken_text_points_at_the_place_and_quotes_nothing() {
        for (text, place) in [
            ("a = 1\nb = ", "/c.toml:2:5"),
            ("a = 1\na = 2", "/c.toml:2:1"),
            ("api_key = \"sk-secret", "/c.toml:1:21"),
            ("[a\n", "/c.toml:1:3"),
        ] {
            let notice = parse(text, &origin()).unwrap_err();
            assert_eq!(notice.origin.to_string(), place, "{text:?}: {notice}");
            assert!(!notice.to_string().contains("sk-secret"), "{notice}");
        }
    }

    #[test]
    fn values_print_as_toml_on_one_line() {
        for text in ["[1, 2.5, true, \"a\\nb\", 'x\"y', {}, { a-b = 1, \"c d\" = [] }, 1979-05-27]", "inf", "\"\""] {
            let value = parse_value(text, &origin()).value;
            let printed = value.to_string();
            assert!(!printed.contains('\n'), "{printed}");
            assert_eq!(parse_value(&printed, &origin()).value, value, "{printed}");
        }
    }

    #[test]
    fn deep_nesting_is_refused_rather_than_followed() {
        let dotted = format!("{} = 1", vec!["a"; 100_000].join("."));
        let nested = format!("a = {}{}", "[".repeat(100_000), "]".repeat(100_000));
        for text in [dotted, nested] {
            assert!(parse(&text, &origin()).is_err());
        }
    }
}
