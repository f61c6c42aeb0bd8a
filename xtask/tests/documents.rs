//! What the documents say must be so: the map names every room, links lead somewhere, recipes stay short.

#![allow(clippy::unwrap_used, clippy::disallowed_methods, reason = "a test reads the repository and may panic")]

mod support;

use std::collections::BTreeSet;
use std::path::Path;

use support::{crates, files, folders, none, read, root, short, stem};

/// Most steps of a recipe: what takes more is a design fault, not a recipe.
const MOST_STEPS: usize = 8;

#[test]
fn the_map_names_every_room_and_no_other() {
    let map = read("ARCHITECTURE.md");
    for each in crates() {
        let rooms: BTreeSet<String> = folders(&each.folder.join("src")).iter().map(|room| stem(room)).collect();
        assert_eq!(rooms_of(&map, &each.name), Some(rooms), "the rooms of {} in ARCHITECTURE.md", each.name);
    }
}

#[test]
fn every_central_type_is_where_the_map_says() {
    let central = central_types(&read("ARCHITECTURE.md"));
    assert!(central.len() >= 10, "the table of central types was not found");
    let mut absent = Vec::new();
    for (name, owner) in central {
        let folder = root().join("crates").join(&owner).join("src");
        let declared = files(&folder, "rs").iter().any(|path| declares(&std::fs::read_to_string(path).unwrap(), &name));
        absent.extend((!declared).then(|| format!("{name} in {owner}")));
    }
    none("central types that are not there", &absent);
}

#[test]
fn the_changelog_has_this_version() {
    let manifest: toml::Table = read("Cargo.toml").parse().unwrap();
    let version = manifest["workspace"]["package"]["version"].as_str().unwrap();
    assert!(tells_of(&read("CHANGELOG.md"), version), "CHANGELOG.md has no heading for {version}");
}

#[test]
fn every_link_leads_somewhere() {
    let mut broken = Vec::new();
    for path in documents() {
        let text = std::fs::read_to_string(&path).unwrap();
        let dead = links(&text).into_iter().filter(|link| !path.parent().unwrap().join(link).exists());
        broken.extend(dead.map(|link| format!("{}: {link}", short(&path))));
    }
    none("links to nothing", &broken);
}

#[test]
fn every_path_in_prose_exists() {
    let mut gone = Vec::new();
    for path in documents() {
        let text = std::fs::read_to_string(&path).unwrap();
        let absent = paths(&text).into_iter().filter(|named| !root().join(named).exists());
        gone.extend(absent.map(|named| format!("{}: {named}", short(&path))));
    }
    none("paths that are not there", &gone);
}

#[test]
fn the_book_has_every_document() {
    let summary = read("docs/SUMMARY.md");
    let inside: BTreeSet<String> = links(&summary).into_iter().collect();
    let docs = root().join("docs");
    let all = files(&docs, "md").into_iter().map(|path| path.strip_prefix(&docs).unwrap().display().to_string());
    let absent: Vec<String> = all.filter(|page| page != "SUMMARY.md" && !inside.contains(page)).collect();
    none("documents that docs/SUMMARY.md does not name", &absent);
}

#[test]
fn every_recipe_is_short_and_ends_with_the_tests() {
    let recipes = recipes(&read("CONTRIBUTING.md"));
    assert!(recipes.len() >= 5, "the recipes were not found");
    for (title, steps) in recipes {
        assert!((1..=MOST_STEPS).contains(&steps.len()), "{title}: {} steps", steps.len());
        assert!(steps.last().unwrap().contains("tells you what you forgot"), "{title} does not end with the tests");
    }
}

#[test]
fn every_decision_has_its_number_and_its_three_parts() {
    let mut numbers = BTreeSet::new();
    for path in files(&root().join("docs/decisions"), "md") {
        let name = short(&path);
        let number = stem(&path).split('-').next().unwrap().to_owned();
        assert!(number.len() == 4 && number.bytes().all(|byte| byte.is_ascii_digit()), "{name} has no number");
        assert!(numbers.insert(number), "{name}: the number is taken");
        let text = std::fs::read_to_string(&path).unwrap();
        for part in ["## Context", "## Choice", "## Given up"] {
            assert!(text.lines().any(|line| line == part), "{name} has no {part}");
        }
    }
    assert!(!numbers.is_empty(), "the decisions were not found");
}

#[test]
fn the_rules_can_fail() {
    let map = "| `neco-a` | `one/` `two/` then three |\n| `neco-b` | none |\n";
    assert_eq!(rooms_of(map, "neco-a"), Some(BTreeSet::from(["one".to_owned(), "two".to_owned()])));
    assert_eq!(rooms_of(map, "neco-b"), Some(BTreeSet::new()));
    assert_eq!(rooms_of(map, "neco"), None);
    assert_eq!(central_types("| `A` | `neco-b` | x |\n| `c` | `neco-d` |\n"), [("A".to_owned(), "neco-b".to_owned())]);
    assert!(declares("    pub trait Tool: Send {", "Tool") && !declares("pub struct Tools;", "Tool"));
    assert!(tells_of("# Changes\n\n## 0.1.0, unreleased\n", "0.1.0") && !tells_of("## 0.1.0\n", "0.2.0"));
    let text = "[a](b.md) [c](d.md#e) [f](https://g) [h](#i) `[j](k)`\n```\n[l](m)\n```\n";
    assert_eq!(links(text), ["b.md", "d.md"]);
    assert_eq!(paths("`crates/a.rs` `docs/NNNN.md` `cargo doc` `xtask/x *`, `docs/b`"), ["crates/a.rs", "docs/b"]);
    let text = "### Add a tool\n1. Write.\n2. Run.\n   More.\n## Other\n1. No recipe.\n";
    assert_eq!(recipes(text), [("Add a tool".to_owned(), vec!["Write.".to_owned(), "Run. More.".to_owned()])]);
}

/// The `room/`s of a crate's row in the table of rooms.
fn rooms_of(map: &str, name: &str) -> Option<BTreeSet<String>> {
    let start = format!("| `{name}` |");
    let row = map.lines().find_map(|line| line.strip_prefix(&start))?;
    Some(row.split('`').filter_map(|word| word.strip_suffix('/')).map(str::to_owned).collect())
}

/// Rows `| `Type` | `crate` | … |`.
fn central_types(map: &str) -> Vec<(String, String)> {
    let rows = map.lines().filter_map(|line| {
        let mut cells = line.split('|').map(str::trim).skip(1).map(|cell| cell.trim_matches('`'));
        Some((cells.next()?.to_owned(), cells.next()?.to_owned()))
    });
    rows.filter(|(name, owner)| name.starts_with(char::is_uppercase) && owner.starts_with("neco-")).collect()
}

fn declares(source: &str, name: &str) -> bool {
    let kinds = ["pub struct ", "pub enum ", "pub trait "];
    let declared = source.lines().filter_map(|line| kinds.iter().find_map(|kind| line.trim_start().strip_prefix(kind)));
    declared
        .filter_map(|rest| rest.strip_prefix(name))
        .any(|rest| !rest.starts_with(|c: char| c.is_alphanumeric() || c == '_'))
}

fn tells_of(changelog: &str, version: &str) -> bool {
    let headings = changelog.lines().filter_map(|line| line.strip_prefix("## "));
    headings.map(|heading| heading.split([',', ' ']).next()).any(|word| word == Some(version))
}

fn documents() -> Vec<std::path::PathBuf> {
    let at_the_top = std::fs::read_dir(root()).unwrap().map(|entry| entry.unwrap().path());
    let at_the_top = at_the_top.filter(|path| path.extension().is_some_and(|end| end == "md"));
    at_the_top.chain(files(Path::new(&root().join("docs")), "md")).collect()
}

/// The files that a document links to, code left out.
fn links(text: &str) -> Vec<String> {
    let mut in_code = false;
    let mut links = Vec::new();
    for line in text.lines() {
        in_code ^= line.trim_start().starts_with("```");
        let prose: String = if in_code { String::new() } else { line.split('`').step_by(2).collect() };
        let targets = prose.split("](").skip(1).filter_map(|rest| rest.split(')').next());
        let files = targets.filter(|target| !target.contains("://") && !target.starts_with('#'));
        links.extend(files.map(|target| target.split('#').next().unwrap_or_default().to_owned()));
    }
    links
}

/// What is written as code and looks like a path from the top of the repository. Capitals stand for
/// names that whoever follows a recipe chooses.
fn paths(text: &str) -> Vec<String> {
    let tops = ["crates/", "docs/", "xtask/", "benches/", "scenarios/", "fixtures/", ".ci/", ".github/"];
    let code = text.lines().flat_map(|line| line.split('`').skip(1).step_by(2));
    let named = code.filter(|code| tops.iter().any(|top| code.starts_with(top)));
    let plain = |code: &&str| !code.contains(|c: char| c.is_uppercase() || c.is_whitespace() || c == '*');
    named.filter(plain).map(str::to_owned).collect()
}

/// The numbered steps below every `### Add …`.
fn recipes(text: &str) -> Vec<(String, Vec<String>)> {
    let mut recipes: Vec<(String, Vec<String>)> = Vec::new();
    let mut inside = false;
    for line in text.lines() {
        if line.starts_with('#') {
            let title = line.strip_prefix("### ").filter(|title| title.starts_with("Add "));
            inside = title.is_some();
            recipes.extend(title.map(|title| (title.to_owned(), Vec::new())));
        } else if let (true, Some((_, steps))) = (inside, recipes.last_mut()) {
            match line.split_once(". ") {
                Some((number, step)) if number.parse::<u8>().is_ok() => steps.push(step.to_owned()),
                _ => {
                    if let (Some(step), false) = (steps.last_mut(), line.trim().is_empty()) {
                        step.push(' ');
                        step.push_str(line.trim());
                    }
                }
            }
        }
    }
    recipes
}
