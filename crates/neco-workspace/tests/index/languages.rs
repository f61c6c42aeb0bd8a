//! What is understood of each language: its outline, its definitions and the uses of its names.

use std::fmt::Write;
use std::fs;
use std::path::{Path, PathBuf};

use neco_workspace::index::{Language, Patient, outline};

use crate::desk::{Desk, anywhere};

fn samples() -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/index/samples");
    let mut samples: Vec<_> = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    samples.sort();
    samples
}

#[test]
fn every_language_has_a_sample() {
    for language in Language::ALL {
        assert!(samples().iter().any(|path| Language::of(path) == Some(language)), "{}", language.name());
    }
}

#[test]
fn samples_are_understood() {
    for sample in samples() {
        let name = sample.file_name().unwrap().to_str().unwrap();
        let text = fs::read_to_string(&sample).unwrap();
        let desk = Desk::new();
        desk.put(name, &text);
        let mut seen = String::new();
        for item in outline(Language::of(&sample).unwrap(), &text).unwrap() {
            let kind = item.kind.map_or("scope", |kind| kind.name());
            let indent = "  ".repeat(item.depth);
            writeln!(seen, "{:>3}–{:<3} {indent}{kind} {}", item.line, item.end_line, item.name).unwrap();
        }
        seen.push('\n');
        // Every sample speaks of a shop, in its own way of writing names.
        let names = [
            "Shop",
            "Order",
            "order",
            "total_price",
            "totalPrice",
            "TotalPrice",
            "MAX_ITEMS",
            "add_item",
            "addItem",
            "AddItem",
        ];
        let snapshot = desk.index().refresh(&Patient).unwrap();
        for name in names {
            let places = snapshot.definitions(name, None, &anywhere).unwrap().places;
            for definition in places.iter().map(|place| &place.definition).filter(|definition| definition.name == name)
            {
                let (kind, line) = (definition.kind.name(), definition.line);
                writeln!(seen, "{name}: {kind} in {:?} at {line}", definition.container).unwrap();
            }
            for uses in snapshot.references(name, &anywhere).unwrap() {
                let line = |(line, certain): &(u32, bool)| format!("{line}{}", if *certain { "" } else { "?" });
                let lines: Vec<String> = uses.lines.iter().map(line).collect();
                writeln!(seen, "{name}: used at {}", lines.join(" ")).unwrap();
            }
        }
        insta::with_settings!({ snapshot_path => "snapshots", prepend_module_to_snapshot => false }, {
            insta::assert_snapshot!(name, seen);
        });
    }
}
