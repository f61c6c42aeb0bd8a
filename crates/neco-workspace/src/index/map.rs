//! The map: the definitions that the rest of the repository leans on most, within a budget.
//!
//! A file that uses a name points to the files that define it. Standing flows along these arrows as
//! a reader would who follows them at random; what flows to a file through a name is the standing of
//! that definition.

use std::collections::{BTreeMap, HashMap};
use std::ffi::OsStr;
use std::fmt::Write;
use std::path::{Path, PathBuf};

use super::code::Definition;
use super::kind::SymbolKind;
use super::language::Language;
use super::postings::{Key, Postings, definitions, name_in, uses};
use super::segment::Together;
use super::snapshot::Snapshot;
use super::store::IndexError;
use super::terms::{Share, each_term};

/// A name that more files define says nothing about which of them is meant.
const MOST_DEFINING: usize = 6;
const ROUNDS: usize = 20;
/// How much of its standing a file passes on.
const PASSED_ON: f64 = 0.85;
/// Definitions shown of one file.
const MOST_OF_FILE: usize = 12;
/// Folders of code that only tries the rest: what it defines is not what the rest uses.
const TESTS: [&str; 7] = ["tests", "test", "examples", "benches", "__tests__", "testdata", "fixtures"];
/// What it counts when the rest uses a name that only such code defines.
const BY_CHANCE: f64 = 0.02;
/// Files that are read to fill what is left of the budget.
const MOST_FILLED: usize = 300;
/// What a definition must count to be shown although nobody uses it.
const MAIN: f64 = 0.5;
/// Characters of a line that are shown.
const LONGEST_LINE: usize = 110;

/// The map of a repository.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RepoMap {
    /// The map as text: files, and under each the definitions that matter.
    pub text: String,
    /// How many files are on it.
    pub files: usize,
    /// How many definitions are on it.
    pub definitions: usize,
}

/// An arrow from a file that uses a name to one that defines it.
struct Arrow {
    from: u32,
    to: u32,
    name: u32,
    weight: f64,
}

impl Snapshot {
    /// The map of the files that are `wanted`, in about `tokens` tokens.
    pub fn map(&self, tokens: usize, wanted: &dyn Fn(&Path) -> bool) -> Result<RepoMap, IndexError> {
        let (names, arrows) = self.arrows()?;
        let standing = standing(self.manifest.files.len(), &arrows);
        let mut ranked: Vec<((u32, u32), f64)> =
            of_definitions(&arrows, &standing).into_iter().filter(|((file, _), _)| wanted(self.path(*file))).collect();
        ranked.sort_unstable_by(|a, b| {
            let order = |(file, name): (u32, u32)| (self.path(file), names.get(name as usize));
            b.1.total_cmp(&a.1).then_with(|| order(a.0).cmp(&order(b.0)))
        });
        let mut drawing = Drawing { left: tokens, ..Drawing::default() };
        let mut is_full = false;
        for ((file, name), _) in ranked {
            let Some(name) = names.get(name as usize) else { continue };
            if !self.put(&mut drawing, file, name) {
                is_full = true;
                break;
            }
        }
        if !is_full {
            self.fill(&mut drawing, &standing, wanted);
        }
        Ok(self.drawn(&drawing))
    }

    /// Puts what else is defined into the room that is left: a small repository is shown as a whole.
    fn fill(&self, drawing: &mut Drawing, standing: &[f64], wanted: &dyn Fn(&Path) -> bool) {
        let is_code = |file: &u32| {
            let entry = self.entry(*file).filter(|entry| entry.place.is_some());
            entry.is_some_and(|entry| Language::of(&entry.path).is_some() && wanted(&entry.path))
        };
        let mut files: Vec<u32> = (0..self.manifest.files.len() as u32).filter(is_code).collect();
        let of = |file: u32| standing.get(file as usize).copied().unwrap_or(0.0);
        files.sort_by(|a, b| self.is_test(*a).cmp(&self.is_test(*b)).then(of(*b).total_cmp(&of(*a))).then(a.cmp(b)));
        for file in files.into_iter().take(MOST_FILLED) {
            for name in self.sheet(drawing, file).main_names() {
                if !self.put(drawing, file, &name) {
                    return;
                }
            }
        }
    }

    /// The names that are both defined and used, and who uses whose.
    fn arrows(&self) -> Result<(Vec<String>, Vec<Arrow>), IndexError> {
        let (mut names, mut arrows) = (Vec::new(), Vec::new());
        let mut defined = Together::seek(self.tables(), &[Key::Definition.letter()])?;
        let mut used = Together::seek(self.tables(), &[Key::Use.letter()])?;
        while let Some(key) = defined.key().filter(|key| key.first() == Some(&Key::Definition.letter())) {
            let rest = key.get(1..).unwrap_or_default();
            while used.key().is_some_and(|key| key.get(1..).unwrap_or_default() < rest) {
                used.advance()?;
            }
            if used.key().is_some_and(|key| key.get(1..) == Some(rest)) {
                let number = u32::try_from(names.len()).map_err(|_| IndexError::Damaged)?;
                if self.arrows_of(number, &defined, &used, &mut arrows)? {
                    names.push(name_in(key)?.to_owned());
                }
            }
            defined.advance()?;
        }
        Ok((names, arrows))
    }

    fn arrows_of(
        &self,
        name: u32,
        defined: &Together<'_>,
        used: &Together<'_>,
        arrows: &mut Vec<Arrow>,
    ) -> Result<bool, IndexError> {
        let to = self.files_of(defined, &|body| {
            Ok(definitions("", body)?.iter().map(worth_of_definition).fold(0.0, f64::max))
        })?;
        if to.is_empty() || to.len() > MOST_DEFINING {
            return Ok(false);
        }
        let from =
            self.files_of(used, &|body| Ok(uses(body)?.iter().filter(|(_, certain)| *certain).count() as f64))?;
        // What every other file uses is most likely a name of the language's own library.
        let all = self.manifest.files.len() as f64;
        let rarity = (1.0 + all / (1.0 + 4.0 * from.len() as f64)).ln() / (1.0 + all).ln();
        let name_in_key = name_in(defined.key().unwrap_or_default())?;
        let worth = worth_of_name(name_in_key) * rarity / to.len() as f64;
        let before = arrows.len();
        for (user, count) in &from {
            // A name that a file defines itself is its own in that file.
            if to.iter().any(|(file, _)| file == user) {
                continue;
            }
            let weight = count.sqrt() * worth;
            let trusted = |file: u32| if self.is_test(file) && !self.is_test(*user) { BY_CHANCE } else { 1.0 };
            arrows.extend(to.iter().map(|(file, of_file)| {
                let weight = weight * of_file * trusted(*file);
                Arrow { from: *user, to: *file, name, weight }
            }));
        }
        Ok(arrows.len() > before)
    }

    fn is_test(&self, file: u32) -> bool {
        let path = self.path(file);
        let in_folder = path.iter().any(|name| TESTS.iter().any(|known| name == OsStr::new(known)));
        in_folder || path.file_stem().is_some_and(|stem| stem.to_string_lossy().ends_with("test"))
    }

    /// The files that stand under a key, with what was counted in each, where that is something.
    fn files_of(
        &self,
        together: &Together<'_>,
        count: &dyn Fn(&[u8]) -> Result<f64, IndexError>,
    ) -> Result<Vec<(u32, f64)>, IndexError> {
        let mut files = Vec::new();
        for (table, value) in together.values() {
            let Some(segment) = self.segments.get(table) else { continue };
            let mut bodies = Postings::new(value);
            while let Some((doc, body)) = bodies.body()? {
                let Some(file) = segment.file(doc) else { continue };
                let counted = count(body)?;
                files.extend((counted > 0.0).then_some((file, counted)));
            }
        }
        files.sort_unstable_by_key(|(file, _)| *file);
        Ok(files)
    }

    /// Shows the definitions of a name in a file; false when there is no room for them.
    fn put(&self, drawing: &mut Drawing, file: u32, name: &str) -> bool {
        let left = drawing.left;
        let sheet = self.sheet(drawing, file);
        let Some(cost) = sheet.take(name, &self.manifest.files, file) else { return true };
        let Some(rest) = left.checked_sub(cost) else {
            sheet.give_back();
            return false;
        };
        drawing.left = rest;
        true
    }

    /// What was drawn, under its files, those that stand highest first.
    fn drawn(&self, drawing: &Drawing) -> RepoMap {
        let mut map = RepoMap { text: String::new(), files: 0, definitions: 0 };
        for file in &drawing.order {
            let Some(sheet) = drawing.sheets.get(file).filter(|sheet| !sheet.shown.is_empty()) else { continue };
            let _ = writeln!(map.text, "{}", self.path(*file).display());
            for (line, text) in &sheet.shown {
                let _ = writeln!(map.text, "  {line}: {text}");
            }
            map.files += 1;
            map.definitions += sheet.shown.len();
        }
        map
    }

    /// The sheet of a file: its definitions by name, read from the file as it is now.
    fn sheet<'d>(&self, drawing: &'d mut Drawing, file: u32) -> &'d mut Sheet {
        let Drawing { sheets, order, .. } = drawing;
        sheets.entry(file).or_insert_with(|| {
            order.push(file);
            let path: PathBuf = self.path(file).to_path_buf();
            let (defined, lines) = self.defined_now(&path);
            Sheet { defined, lines, shown: BTreeMap::new(), last: Vec::new() }
        })
    }
}

/// A map in the making.
#[derive(Default)]
struct Drawing {
    sheets: BTreeMap<u32, Sheet>,
    /// In the order in which the files came.
    order: Vec<u32>,
    /// Tokens.
    left: usize,
}

/// What a definition counts by its kind, and by where it stands: types inside others are often only
/// what a trait asks for.
fn worth_of_definition(definition: &Definition) -> f64 {
    match definition.kind {
        SymbolKind::Type if !definition.container.is_empty() => 0.1,
        SymbolKind::Function
        | SymbolKind::Class
        | SymbolKind::Struct
        | SymbolKind::Enum
        | SymbolKind::Interface
        | SymbolKind::Macro
        | SymbolKind::Type => 1.0,
        SymbolKind::Method => 0.6,
        SymbolKind::Constant => 0.5,
        SymbolKind::Declaration => 0.4,
        SymbolKind::Variable => 0.2,
        SymbolKind::Module => 0.05,
        SymbolKind::Variant | SymbolKind::Field => 0.0,
    }
}

/// What a name counts by how much it tells: `resume_session` is surely this repository's own, `map`
/// may be anyone's.
fn worth_of_name(name: &str) -> f64 {
    let mut parts = 0;
    each_term(name, |_, share| parts += usize::from(share == Share::Part));
    let is_type = name.chars().next().is_some_and(char::is_uppercase);
    match (parts, is_type) {
        (2.., _) => 1.0,
        (_, true) if name.len() > 4 => 0.6,
        (_, false) if name.len() > 7 => 0.3,
        (_, true) => 0.2,
        (_, false) => 0.05,
    }
}

/// What is shown of a file.
struct Sheet {
    defined: HashMap<String, Vec<Definition>>,
    lines: Vec<String>,
    shown: BTreeMap<u32, String>,
    last: Vec<u32>,
}

impl Sheet {
    /// Shows the definitions of a name; says what they cost, or nothing when there is nothing new.
    fn take(&mut self, name: &str, files: &[super::manifest::FileEntry], file: u32) -> Option<usize> {
        let mut cost = 0;
        if self.shown.is_empty() {
            cost += files.get(file as usize).map_or(0, |entry| token_count(&entry.path.to_string_lossy()) + 1);
        }
        self.last.clear();
        for definition in self.defined.get(name)?.iter().filter(|one| one.kind.is_shape()) {
            if self.shown.len() >= MOST_OF_FILE || self.shown.contains_key(&definition.line) {
                continue;
            }
            let line = self.lines.get((definition.line as usize).wrapping_sub(1))?.trim();
            let text: String = line.chars().take(LONGEST_LINE).collect();
            let text = text.trim_end_matches(['{', ' ']).to_owned();
            cost += token_count(&format!("  {}: {text}", definition.line)) + 1;
            self.shown.insert(definition.line, text);
            self.last.push(definition.line);
        }
        (!self.last.is_empty()).then_some(cost)
    }

    /// The names that matter without anybody using them, in the order of the text.
    fn main_names(&self) -> Vec<String> {
        let is_main = |one: &Definition| one.container.is_empty() && worth_of_definition(one) >= MAIN;
        let all = self.defined.iter().filter_map(|(name, definitions)| {
            definitions.iter().filter(|one| is_main(one)).map(|one| one.line).min().map(|line| (line, name.clone()))
        });
        let mut all: Vec<(u32, String)> = all.collect();
        all.sort();
        all.into_iter().map(|(_, name)| name).collect()
    }

    /// Takes away what was shown last.
    fn give_back(&mut self) {
        for line in self.last.drain(..) {
            self.shown.remove(&line);
        }
    }
}

/// About how many tokens a text is, rather too many: code is full of short words and signs, and each sign is one.
fn token_count(text: &str) -> usize {
    let (mut tokens, mut letters) = (0, 0_usize);
    for char in text.chars() {
        if char.is_ascii_alphabetic() {
            letters += 1;
            continue;
        }
        tokens += std::mem::take(&mut letters).div_ceil(LETTERS);
        tokens += match char {
            ' ' => 0,
            char if char.is_ascii() => 1,
            _ => 2,
        };
    }
    tokens + letters.div_ceil(LETTERS)
}

/// Letters of a word that are one token.
const LETTERS: usize = 4;

fn standing(files: usize, arrows: &[Arrow]) -> Vec<f64> {
    let start = 1.0 / files.max(1) as f64;
    let mut standing = vec![start; files];
    let out = outgoing(files, arrows);
    for _ in 0..ROUNDS {
        let mut next = vec![0.0; files];
        let mut passed = 0.0;
        for arrow in arrows {
            let part = flow(arrow, &standing, &out);
            if let Some(to) = next.get_mut(arrow.to as usize) {
                *to += PASSED_ON * part;
                passed += PASSED_ON * part;
            }
        }
        // What is not passed on along an arrow comes back to all alike.
        let rest = (1.0 - passed) / files.max(1) as f64;
        next.iter_mut().for_each(|value| *value += rest);
        standing = next;
    }
    standing
}

fn outgoing(files: usize, arrows: &[Arrow]) -> Vec<f64> {
    let mut out = vec![0.0; files];
    for arrow in arrows {
        if let Some(sum) = out.get_mut(arrow.from as usize) {
            *sum += arrow.weight;
        }
    }
    out
}

fn flow(arrow: &Arrow, standing: &[f64], out: &[f64]) -> f64 {
    let of = |values: &[f64]| values.get(arrow.from as usize).copied().unwrap_or(0.0);
    let sum = of(out);
    if sum > 0.0 { of(standing) * arrow.weight / sum } else { 0.0 }
}

/// The standing of every definition: what flows to its file through its name.
fn of_definitions(arrows: &[Arrow], standing: &[f64]) -> HashMap<(u32, u32), f64> {
    let out = outgoing(standing.len(), arrows);
    let mut found = HashMap::new();
    for arrow in arrows {
        *found.entry((arrow.to, arrow.name)).or_insert(0.0) += flow(arrow, standing, &out);
    }
    found
}
