//! Who may import whom: the floors and arrows of ARCHITECTURE.md held against every Cargo.toml.

#![allow(clippy::unwrap_used, clippy::disallowed_methods, reason = "a test reads the repository and may panic")]

mod support;

use std::collections::{BTreeMap, BTreeSet};

use support::{crates, none, read};

/// The crate for tests, which no product code may see.
const TESTKIT: &str = "neco-testkit";

/// What ARCHITECTURE.md says.
struct Map {
    floors: BTreeMap<String, u32>,
    arrows: BTreeMap<String, BTreeSet<String>>,
}

#[test]
fn every_dependency_follows_an_arrow() {
    let map = map(&read("ARCHITECTURE.md"));
    let seen: Vec<_> = crates().iter().map(|each| (each.name.clone(), uses(&each.manifest))).collect();
    none("dependencies without an arrow in ARCHITECTURE.md", &without_arrow(&map, &seen));
}

#[test]
fn every_arrow_goes_down() {
    none("arrows that do not go to a lower floor", &going_up(&map(&read("ARCHITECTURE.md"))));
}

#[test]
fn every_crate_has_a_floor_and_arrows_and_the_map_names_no_other() {
    let map = map(&read("ARCHITECTURE.md"));
    let product: BTreeSet<_> = crates().into_iter().map(|each| each.name).filter(|name| name != TESTKIT).collect();
    assert_eq!(map.floors.keys().cloned().collect::<BTreeSet<_>>(), product, "the table of floors");
    assert_eq!(map.arrows.keys().cloned().collect::<BTreeSet<_>>(), product, "the arrows");
}

#[test]
fn automation_sees_only_words_and_settings() {
    let manifest: toml::Table = read("xtask/Cargo.toml").parse().unwrap();
    let allowed = BTreeSet::from(["neco-proto", "neco-view", "neco-config"].map(str::to_owned));
    assert!(uses(&manifest).is_subset(&allowed), "xtask must build in seconds: {:?}", uses(&manifest));
}

#[test]
fn the_rules_can_fail() {
    let map = map("| 0 | `neco-a` | x |\n| 1 | `neco-b` | x |\n| 2 | `neco` | x |\n\
         ```\nneco -> everything\nneco-b -> a\nneco-a -> b\n```\n");
    assert_eq!(going_up(&map), ["neco-a -> neco-b"]);
    let manifest = |text: &str| uses(&text.parse::<toml::Table>().unwrap());
    let seen = [
        ("neco".to_owned(), manifest("[dependencies]\nneco-a = {}\nneco-b = {}\nneco-testkit = {}")),
        (
            "neco-b".to_owned(),
            manifest("[dependencies]\nserde = {}\nneco-a = {}\n[dev-dependencies]\nneco-testkit = {}"),
        ),
        ("neco-a".to_owned(), manifest("[target.'cfg(unix)'.dependencies]\nother = { package = \"neco\" }")),
        ("neco-c".to_owned(), manifest("[build-dependencies]\nneco-a = {}")),
    ];
    assert_eq!(without_arrow(&map, &seen), ["neco -> neco-testkit", "neco-a -> neco", "neco-c -> neco-a"]);
}

/// Reads rows `| floor | `crate` | … |` and lines `crate -> crates`.
fn map(text: &str) -> Map {
    let floors = text.lines().filter_map(|line| {
        let mut cells = line.split('|').map(str::trim).skip(1);
        let floor = cells.next()?.parse().ok()?;
        Some((cells.next()?.trim_matches('`').to_owned(), floor))
    });
    let floors: BTreeMap<String, u32> = floors.collect();
    let arrows = text.lines().filter_map(|line| {
        let (from, to) = line.split_once("->")?;
        let from = from.trim();
        from.starts_with("neco").then(|| (from.to_owned(), targets(to, from, &floors)))
    });
    Map { arrows: arrows.collect(), floors }
}

fn targets(words: &str, from: &str, floors: &BTreeMap<String, u32>) -> BTreeSet<String> {
    let words = words.split('(').next().unwrap_or_default();
    if words.trim() == "everything" {
        return floors.keys().filter(|name| *name != from).cloned().collect();
    }
    words.split_whitespace().map(|word| format!("neco-{word}")).filter(|name| name != "neco-nothing").collect()
}

/// The crates of ours that product code of a crate is built with.
fn uses(manifest: &toml::Table) -> BTreeSet<String> {
    let for_targets = manifest.get("target").and_then(toml::Value::as_table).into_iter().flatten();
    let tables = std::iter::once(manifest).chain(for_targets.filter_map(|(_, table)| table.as_table()));
    tables
        .flat_map(|table| ["dependencies", "build-dependencies"].into_iter().filter_map(|kind| table.get(kind)))
        .filter_map(toml::Value::as_table)
        .flatten()
        .map(|(name, entry)| entry.get("package").and_then(toml::Value::as_str).unwrap_or(name).to_owned())
        .filter(|name| name == "neco" || name.starts_with("neco-"))
        .collect()
}

fn without_arrow(map: &Map, seen: &[(String, BTreeSet<String>)]) -> Vec<String> {
    let nothing = BTreeSet::new();
    seen.iter()
        .filter(|(name, _)| name != TESTKIT)
        .flat_map(|(name, uses)| {
            uses.difference(map.arrows.get(name).unwrap_or(&nothing)).map(move |to| format!("{name} -> {to}"))
        })
        .collect()
}

fn going_up(map: &Map) -> Vec<String> {
    let pairs = map.arrows.iter().flat_map(|(from, to)| to.iter().map(move |to| (from, to)));
    let down = |(from, to): &(&String, &String)| matches!((map.floors.get(*from), map.floors.get(*to)), (Some(high), Some(low)) if low < high);
    pairs.filter(|pair| !down(pair)).map(|(from, to)| format!("{from} -> {to}")).collect()
}
