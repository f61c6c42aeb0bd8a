//! `cargo xtask weight`: what each part of a binary weighs and takes to build.

use std::collections::{BTreeMap, HashSet};
use std::path::Path;
use std::process::{Command, ExitCode};

use anyhow::{Context, Result, bail};
use serde_json::Value;

use crate::cargo::target;

/// Parts with less than this are summed up.
const LEAST: u64 = 100_000;

/// Where the report of a build lies, below the folder that is built in.
const TIMINGS: &str = "cargo-timings/cargo-timing.html";

/// Bytes and build seconds by part.
type Weights = BTreeMap<String, (u64, f64)>;

/// Prints the table for a binary that has its symbols, with the seconds of the last build that was timed.
pub fn run(root: &Path, binary: &str) -> Result<ExitCode> {
    let output = Command::new("nm").args(["-p", "-a", "-S", binary]).output().context("nm can't be started")?;
    if !output.status.success() {
        bail!("nm: {}", String::from_utf8_lossy(&output.stderr).trim());
    }
    let mut weights = sizes(&String::from_utf8_lossy(&output.stdout));
    if weights.is_empty() {
        bail!("{binary} has no symbols: docs/weight.md says how one with symbols is built");
    }
    let timings = target(root)?.join(TIMINGS);
    match std::fs::read_to_string(&timings) {
        Ok(page) => seconds(&page, &mut weights)?,
        Err(_) => {
            let file = timings.display();
            eprintln!("there is no {file}, so all seconds are 0: build with `--timings` to have them");
        }
    }
    println!("{}", table(&weights));
    Ok(ExitCode::SUCCESS)
}

/// Bytes by part, from what `nm -p -a -S` prints. Code that several names share is counted once.
fn sizes(symbols: &str) -> Weights {
    let (mut weights, mut seen, mut file) = (Weights::new(), HashSet::new(), "");
    for line in symbols.lines() {
        match line.split_whitespace().collect::<Vec<_>>().as_slice() {
            // The file whose own names follow.
            [_, "a", name] => file = name,
            [at, size, kind, name] if !kind.eq_ignore_ascii_case("b") => {
                let bytes = u64::from_str_radix(size, 16).unwrap_or_default();
                if seen.insert((*at, bytes)) {
                    weights.entry(part_of(name, file)).or_default().0 += bytes;
                }
            }
            _ => {}
        }
    }
    weights
}

/// The part a name belongs to: a crate, by the name itself, or what a file in another language is of.
fn part_of(name: &str, file: &str) -> String {
    if let Some(path) = name.strip_prefix("_ZN") {
        return crate_of(path).unwrap_or("core").to_owned();
    }
    // The standard library comes built, with names of the newer kind.
    if name.starts_with("_R") {
        return "std".to_owned();
    }
    match file {
        "parser.c" | "scanner.c" | "lib.c" => "tree_sitter and its grammars".to_owned(),
        "sqlite3.c" => "libsqlite3_sys".to_owned(),
        _ if ["zstd", "huf", "fse", "xxhash"].iter().any(|start| file.starts_with(start)) => "zstd_sys".to_owned(),
        _ => match file.split_once('.') {
            Some((name, rest)) if rest.contains("-cgu.") => name.to_owned(),
            _ => "others, not in Rust".to_owned(),
        },
    }
}

/// The crate in a mangled path: that of the type, where the path is of a type's trait or of its end.
fn crate_of(path: &str) -> Option<&str> {
    let (first, rest) = segment(path)?;
    if first == "core"
        && let Some((_, rest)) = segment(rest)
        && let Some((last, _)) = segment(rest)
        && let Some(inner) = last.strip_prefix("drop_in_place$LT$")
    {
        return named(inner);
    }
    named(first)
}

/// The first name of a mangled path, and what follows it.
fn segment(path: &str) -> Option<(&str, &str)> {
    let digits = path.find(|letter: char| !letter.is_ascii_digit())?;
    let (length, rest) = path.split_at_checked(digits)?;
    rest.split_at_checked(length.parse().ok()?)
}

fn named(name: &str) -> Option<&str> {
    let name = name.trim_start_matches('_').trim_start_matches("$LT$");
    let name = name.split_once("$u20$for$u20$").map_or(name, |(_, of)| of);
    let (mut of, rest) = name.split_once("$u20$as$u20$").unwrap_or((name, ""));
    // References, pointers, tuples and slices stand before what they are of.
    while let Some(inner) = ["$RF$", "$BP$", "$LP$", "$u5b$", "$LT$", "_$LT$", "mut$u20$", "const$u20$", "dyn$u20$"]
        .iter()
        .find_map(|mark| of.strip_prefix(mark))
    {
        of = inner;
    }
    let end = of.find("..").or_else(|| (!of.contains('$')).then_some(of.len()));
    let found = end.and_then(|end| of.get(..end)).filter(|name| {
        !name.is_empty()
            && name.chars().all(|letter| letter.is_ascii_lowercase() || letter.is_ascii_digit() || letter == '_')
    });
    found.or_else(|| (!rest.is_empty()).then(|| named(rest)).flatten())
}

/// Adds the seconds of each package, its build script included, from the report of `cargo build --timings`.
fn seconds(page: &str, weights: &mut Weights) -> Result<()> {
    let (_, units) = page.split_once("UNIT_DATA = ").context("the report of the build has no UNIT_DATA")?;
    let units = serde_json::Deserializer::from_str(units).into_iter::<Value>().next();
    let units = units.context("UNIT_DATA is empty")??;
    for unit in units.as_array().context("UNIT_DATA is no list")? {
        let name = unit["name"].as_str().unwrap_or_default().replace('-', "_");
        let name = if name.starts_with("tree_sitter") { "tree_sitter and its grammars".to_owned() } else { name };
        weights.entry(name).or_default().1 += unit["duration"].as_f64().unwrap_or_default();
    }
    Ok(())
}

/// The table, heaviest first.
fn table(weights: &Weights) -> String {
    let mut rows: Vec<_> = weights.iter().collect();
    rows.sort_by_key(|(_, weight)| std::cmp::Reverse(weight.0));
    let mut out = "| part | MB | build seconds |\n|---|---:|---:|".to_owned();
    let (mut count, mut small) = (0, (0, 0.0));
    for (name, (bytes, seconds)) in rows {
        if *bytes < LEAST {
            (count, small) = (count + 1, (small.0 + bytes, small.1 + seconds));
        } else {
            out += &format!("\n| {name} | {:.2} | {seconds:.0} |", *bytes as f64 / 1e6);
        }
    }
    out + &format!("\n| {count} others | {:.2} | {:.0} |", small.0 as f64 / 1e6, small.1)
}

#[cfg(test)]
mod tests {
    use super::*;

    const SYMBOLS: &str = "\
        0000000000000000 a sqlite3.c\n\
        0000000000001000 0000000000000010 t balance\n\
        0000000000000000 a serde.7f-cgu.0\n\
        0000000000002000 0000000000000020 r anon\n\
        0000000000003000 0000000000000100 T _ZN9neco_tool4read17h0E\n\
        0000000000003000 0000000000000100 T _ZN9neco_tool4twin17h1E\n\
        0000000000004000 0000000000000200 t _ZN4core3ptr35drop_in_place$LT$tokio..task..T$GT$17h2E\n\
        0000000000005000 0000000000000300 t _ZN53_$LT$$RF$regex..Regex$u20$as$u20$core..fmt..Debug$GT$3fmt17h3E\n\
        0000000000006000 0000000000000400 t _ZN31_$LT$T$u20$as$u20$url..Into$GT$4into17h4E\n\
        0000000000007000 0000000000000500 t _RNvNtCs1_3std2io4read\n\
        0000000000008000 0000000000000600 b _ZN3url5ZEROS17h5E\n";

    #[test]
    fn bytes_go_to_the_crate_of_the_type_and_shared_code_is_counted_once() {
        let weights = sizes(SYMBOLS);
        let bytes: Vec<(&str, u64)> = weights.iter().map(|(name, weight)| (name.as_str(), weight.0)).collect();
        let expected = [
            ("libsqlite3_sys", 0x10),
            ("neco_tool", 0x100),
            ("regex", 0x300),
            ("serde", 0x20),
            ("std", 0x500),
            ("tokio", 0x200),
            ("url", 0x400),
        ];
        assert_eq!(bytes, expected);
    }

    #[test]
    fn seconds_of_a_package_are_added_up_and_small_parts_too() {
        let page = r#"<script>const UNIT_DATA = [
            {"name": "neco-tool", "target": "", "duration": 2.0},
            {"name": "neco-tool", "target": " build-script", "duration": 1.5},
            {"name": "small", "target": "", "duration": 4.0}];
            const CONCURRENCY_DATA = [];</script>"#;
        let mut weights = Weights::from([("neco_tool".to_owned(), (1_200_000, 0.0))]);
        seconds(page, &mut weights).unwrap();
        let expected =
            "| part | MB | build seconds |\n|---|---:|---:|\n| neco_tool | 1.20 | 4 |\n| 1 others | 0.00 | 4 |";
        assert_eq!(table(&weights), expected);
        assert!(seconds("nothing", &mut weights).is_err());
    }
}
