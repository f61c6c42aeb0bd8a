//! The reference of all settings as Markdown, written from doc comments and built-in values.

use std::fmt::Write;

use crate::derivation::derived;
use crate::layer::Node;
use crate::load::built_in;
use crate::reserved::{Leave, RESERVED};
use crate::shape::{Choice, Field, Shape, known};
use crate::trail::Trail;
use crate::variables::NOT_SETTINGS;

/// What `docs/reference/config.md` says.
pub fn reference() -> String {
    let mut page = Page { text: HEAD.to_owned(), built_in: built_in() };
    let Shape::Table(fields) = derived() else { return page.text };
    let (sections, single): (Vec<_>, Vec<_>) = fields.iter().partition(|(_, field)| is_section(&field.shape));
    page.section("At the top", "", &single, &[]);
    for (name, field) in sections {
        page.sections_of(name, field);
    }
    page.reserved();
    page.variables();
    page.text
}

/// What a setting is for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Meaning {
    /// The dotted key.
    pub key: String,
    /// What it can be set to, in words.
    pub takes: String,
    /// What it means.
    pub meaning: String,
}

/// What the settings are for whose names are fixed, in the order of the reference.
pub fn meanings() -> Vec<Meaning> {
    fn walk(shape: &Shape, trail: &Trail, found: &mut Vec<Meaning>) {
        let Shape::Table(fields) = shape else { return };
        for (name, field) in *fields {
            let trail = trail.child(name);
            match &field.shape {
                Shape::Table(_) => walk(&field.shape, &trail, found),
                Shape::Map(_) => {}
                shape => {
                    let (key, takes) = (trail.to_string(), kind(shape));
                    found.push(Meaning { key, takes, meaning: meaning(field) });
                }
            }
        }
    }
    let mut found = Vec::new();
    walk(known(), &Trail::default(), &mut found);
    found
}

const HEAD: &str = "# Settings\n\n\
    Written by the program from its own settings; do not edit.\n\n\
    Later layers win: built-in, user (`~/.config/neco/config.toml`), project (`.neco/config.toml`, then \
    `.agents/config.toml`), local (`.neco/config.local.toml`), environment (`NECO_MODEL`, `NECO_AGENT__MAX_TURNS`), \
    flags (`-c agent.max_turns=5`). Tables are merged, lists are replaced; an item written `\"+item\"` is added to \
    the list of the layers below.\n";

/// Where a map's own names go.
const ANY_NAME: &str = "NAME";

struct Page {
    text: String,
    built_in: Node,
}

impl Page {
    fn sections_of(&mut self, name: &str, field: &Field) {
        let (title, fields, at) = match &field.shape {
            Shape::Map(inner) => (format!("`[{name}.{ANY_NAME}]`"), inner.fields(), vec![name, ANY_NAME]),
            shape => (format!("`[{name}]`"), shape.fields(), vec![name]),
        };
        self.section(&title, field.doc, &fields.iter().collect::<Vec<_>>(), &at);
    }

    fn section(&mut self, title: &str, doc: &str, fields: &[&(&str, Field)], at: &[&str]) {
        self.line(&format!("\n## {title}\n"));
        if !doc.is_empty() {
            self.line(&format!("{doc}\n"));
        }
        self.line("| setting | type | default | meaning |\n|---|---|---|---|");
        self.rows(fields, at);
    }

    fn rows(&mut self, fields: &[&(&str, Field)], at: &[&str]) {
        for (name, field) in fields {
            let names = [at, &[*name]].concat();
            match &field.shape {
                // A table in a section: its settings stand among the section's.
                Shape::Table(inner) => self.rows(&inner.iter().collect::<Vec<_>>(), &names),
                Shape::Map(each) if each.is_table() => {
                    let own = Field { shape: **each, ..*field };
                    self.rows(&[&(ANY_NAME, own)], &names);
                }
                shape => {
                    let key = Trail::of(&names);
                    let default = self.default_of(field, &names);
                    let (kind, meaning) = (kind(shape), meaning(field));
                    self.row(&[&format!("`{key}`"), &kind, &default, &meaning]);
                }
            }
        }
    }

    fn default_of(&self, field: &Field, names: &[&str]) -> String {
        let built_in = self.built_in.get(names).map(|node| node.value.to_string());
        let of_type = field.default.filter(|default| !is_empty(default)).map(str::to_owned);
        built_in.or(of_type).map_or_else(|| "–".to_owned(), |value| format!("`{value}`"))
    }

    fn reserved(&mut self) {
        self.line("\n## Not taken from a repository\n");
        self.line("These are ignored in the files of a project, with a warning, but for what the last column says; they belong into the user's file or a flag.\n");
        self.line("| setting | why | what a project may do |\n|---|---|---|");
        for reserved in RESERVED {
            let leave = match reserved.leave {
                Leave::Nothing => "nothing",
                Leave::Narrow(_) => "narrow it",
                Leave::Bring => "bring its own, off until they are trusted",
            };
            self.row(&[&format!("`{}`", Trail::of(reserved.key)), reserved.reason, leave]);
        }
    }

    fn variables(&mut self) {
        self.line("\n## Variables that are no settings\n");
        self.line("| variable | meaning |\n|---|---|");
        for (name, meaning) in NOT_SETTINGS {
            self.row(&[&format!("`{name}`"), meaning]);
        }
    }

    fn row(&mut self, cells: &[&str]) {
        let cells: Vec<String> = cells.iter().map(|cell| cell.replace('|', "\\|").replace('\n', " ")).collect();
        self.line(&format!("| {} |", cells.join(" | ")));
    }

    fn line(&mut self, text: &str) {
        // Writing to a string does not fail.
        let _ = writeln!(self.text, "{text}");
    }
}

fn is_section(shape: &Shape) -> bool {
    matches!(shape, Shape::Table(_)) || matches!(shape, Shape::Map(inner) if matches!(**inner, Shape::Table(_)))
}

fn kind(shape: &Shape) -> String {
    let Shape::Map(inner) = shape else { return shape.expected() };
    format!("a table, each value {}", inner.expected())
}

/// The doc comment, and those of the choices.
fn meaning(field: &Field) -> String {
    let Shape::OneOf(choices) = &field.shape else { return field.doc.to_owned() };
    let told = choices.iter().filter(|choice| !choice.doc.is_empty());
    let told: Vec<String> = told.map(|Choice { name, doc }| format!("`{name}`: {doc}")).collect();
    format!("{} {}", field.doc, told.join(" ")).trim_end().to_owned()
}

/// Nothing, written as a value.
fn is_empty(json: &str) -> bool {
    matches!(json, "null" | "\"\"" | "[]" | "{}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_setting_has_its_row() {
        fn walk(shape: &Shape, trail: &Trail, text: &str) {
            match shape {
                Shape::Table(fields) => {
                    fields.iter().for_each(|(name, field)| walk(&field.shape, &trail.child(name), text));
                }
                Shape::Map(inner) if matches!(**inner, Shape::Table(_)) => walk(inner, &trail.child(ANY_NAME), text),
                _ => assert!(text.contains(&format!("\n| `{trail}` | ")), "{trail} is missing"),
            }
        }
        walk(known(), &Trail::default(), &reference());
    }

    #[test]
    fn a_setting_tells_what_it_is_for() {
        let all = meanings();
        let theme = all.iter().find(|one| one.key == "tui.theme").unwrap();
        assert!(theme.takes.starts_with("one of `auto`") && !theme.meaning.is_empty(), "{theme:?}");
        assert!(all.iter().any(|one| one.key == "model") && all.iter().all(|one| !one.key.contains(ANY_NAME)));
    }

    #[test]
    fn rows_tell_type_default_and_meaning() {
        let text = reference();
        for row in [
            "| `model` | a string that is not empty | – | `provider/model` used for every group that is not given. |",
            "| `agent.parallel_reads` | a whole number of at least 1 and at most 1000 | `8` | Most reading calls of one \
             turn that run at the same time. |",
            "| `model_providers.NAME.local` | true or false | `false` | Whether it runs on this machine and needs no key. |",
            "| `model_groups.NAME.strategy` | one of `round_robin`, `first`, `cheapest` | `\"round_robin\"` | How one is \
             chosen. `round_robin`: In turn. `first`: Always the first that works. `cheapest`: The cheapest that \
             works, by the price of input and output together; models on this machine cost nothing, and models whose price is not known come last. |",
            "| `approval` | it decides what happens without asking | nothing |",
        ] {
            assert!(text.contains(row), "no row\n{row}\nin\n{text}");
        }
    }
}
