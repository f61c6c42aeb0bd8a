//! Pieces of files that fit a request: few of them, and only those that fit well. What fits less is not worth its
//! room: whoever works on the request finds it by asking.

use std::collections::{BTreeSet, HashMap};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use neco_safety::Located;

use super::code::Definition;
use super::language::Language;
use super::parse::Parsers;
use super::request::Request;
use super::scan::{self, Incurious, scan};
use super::search::rarity;
use super::snapshot::Snapshot;
use super::store::{IndexError, Watch};
use super::symbols::{Likeness, Place, qualified};
use super::terms::each_term;
use crate::rules::Rules;

/// Files of which a piece is given.
const MOST_FILES: usize = 3;
/// Lines of a piece.
const MOST_LINES: usize = 60;
/// Lines that are looked at together.
const TOGETHER: usize = 24;
/// Files that are read to find out how well they fit.
const MOST_READ: usize = 12;
/// A name that is defined in more places tells nothing.
const MOST_PLACES: usize = 3;
/// How many words of a request must stand together in a file: fewer do so by chance.
const LEAST_WORDS: usize = 4;
/// How much of a request, by what its words are worth, must stand together in a file.
const LEAST: f32 = 0.5;
/// And how much of what the best file has.
const BESIDE: f32 = 0.85;
/// A word that more of the files have than one in so many says nothing about one of them.
const COMMON: usize = 4;
/// Shorter names are names of files by chance.
const LEAST_LETTERS: usize = 4;

/// Lines of a file that fit a request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Piece {
    /// The file, from the root.
    pub path: PathBuf,
    /// The first of them, counted from one.
    pub first_line: u32,
    /// The last of them.
    pub last_line: u32,
    /// What stands there.
    pub text: String,
}

/// Something that a request speaks of: a word in the forms that it has in the files, and what it is worth.
struct Concept {
    forms: Vec<String>,
    worth: f32,
}

/// A file that may fit.
struct Candidate {
    path: PathBuf,
    /// Where in it, if that is known.
    lines: Option<(u32, u32)>,
    score: f32,
}

/// The pieces that fit a request, the best first, of files that are `wanted`.
pub fn fitting(snapshot: &Snapshot, request: &str, wanted: &dyn Fn(&Path) -> bool) -> Result<Vec<Piece>, IndexError> {
    let request = Request::of(request);
    let all = || snapshot.manifest.files.iter().map(|entry| entry.path.as_path());
    let wanted = |path: &Path| !is_named(path, &request.attached) && wanted(path);
    let mut found = named_files(&request, all(), &wanted);
    for name in &request.names {
        found.extend(defined_once(snapshot, name, &wanted)?);
    }
    let (concepts, total, ranked) = ranked(snapshot, &request, &wanted)?;
    found.extend(best(snapshot, &request, &concepts, total, ranked));
    Ok(pieces(&snapshot.root, found, &concepts))
}

/// Where a name is defined, if that is not in too many places.
fn defined_once(snapshot: &Snapshot, name: &str, wanted: &dyn Fn(&Path) -> bool) -> Result<Vec<Candidate>, IndexError> {
    let (container, name) = qualified(name);
    let mut places = snapshot.defined(name, Likeness::Same)?;
    let is_inside = |place: &Place| container.is_none_or(|of| place.definition.container.eq_ignore_ascii_case(of));
    places.retain(|place| is_inside(place) && Kind::of(&place.path) == Kind::Code);
    if places.len() > MOST_PLACES {
        return Ok(Vec::new());
    }
    places.retain(|place| wanted(&place.path));
    let candidate = |place: Place| {
        let Definition { line, end_line, .. } = place.definition;
        Candidate { path: place.path, lines: Some((line, end_line)), score: 2.0 }
    };
    Ok(places.into_iter().map(candidate).collect())
}

/// What the request speaks of, what all of that is worth, and the files that have most of it.
fn ranked(
    snapshot: &Snapshot,
    request: &Request,
    wanted: &dyn Fn(&Path) -> bool,
) -> Result<(Vec<Concept>, f32, Vec<u32>), IndexError> {
    let count = snapshot.lengths.count;
    let (mut concepts, mut scores, mut total) = (Vec::new(), HashMap::<u32, f32>::new(), 0.0);
    for word in &request.words {
        let (mut forms, mut files) = (Vec::new(), HashMap::<u32, u32>::new());
        for form in forms_of(word) {
            let weights = snapshot.weights(&form)?;
            if weights.is_empty() {
                continue;
            }
            forms.push(form);
            for (file, weight) in weights {
                *files.entry(file).or_default() += weight;
            }
        }
        if files.is_empty() || files.len() > (count as usize / COMMON).max(3) {
            continue;
        }
        let worth = rarity(count, files.len());
        total += worth;
        for (file, weight) in files {
            *scores.entry(file).or_default() += worth * weight as f32 / (weight as f32 + 4.0);
        }
        concepts.push(Concept { forms, worth });
    }
    let mut ranked: Vec<(u32, f32)> = scores.into_iter().collect();
    let is_read = |file: &u32| Kind::of(snapshot.path(*file)) != Kind::Data && wanted(snapshot.path(*file));
    for (file, score) in &mut ranked {
        *score *= Kind::of(snapshot.path(*file)).factor(request);
    }
    ranked.sort_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0)));
    let best = ranked.into_iter().map(|(file, _)| file).filter(is_read).take(MOST_READ).collect();
    Ok((concepts, total, best))
}

/// Those of the files in which enough of the request stands together; none where it does so in many.
fn best(snapshot: &Snapshot, request: &Request, concepts: &[Concept], total: f32, ranked: Vec<u32>) -> Vec<Candidate> {
    if concepts.len() < LEAST_WORDS {
        return Vec::new();
    }
    let mut fitting: Vec<Candidate> = Vec::new();
    for path in ranked.into_iter().map(|file| snapshot.path(file)) {
        let Some(text) = text_of(&snapshot.root, path) else { continue };
        let (lines, mut has) = densest(&text, concepts);
        let count_of_lines = has.len();
        has.extend(in_path(path, concepts));
        let worth: f32 = has.iter().filter_map(|at| concepts.get(*at)).map(|concept| concept.worth).sum();
        let score = worth / total * Kind::of(path).factor(request);
        if count_of_lines >= LEAST_WORDS && score >= LEAST {
            fitting.push(Candidate { path: path.to_path_buf(), lines: Some(lines), score });
        }
    }
    fitting.sort_by(|a, b| b.score.total_cmp(&a.score));
    let best = fitting.first().map_or(0.0, |first| first.score);
    fitting.retain(|one| one.score >= best * BESIDE);
    // Several that fit alike are a guess.
    if fitting.len() > MOST_FILES { Vec::new() } else { fitting }
}

/// The pieces of a folder without an index that fit a request by the names of its files, of those that are `wanted`.
/// Plain words are no names: most of the files that are called like one are not meant.
pub fn fitting_by_names(
    root: &Located,
    request: &str,
    wanted: &dyn Fn(&Path) -> bool,
    watch: &dyn Watch,
) -> Result<Vec<Piece>, IndexError> {
    let request = Request::of(request);
    if request.files.is_empty() && request.names.is_empty() {
        return Ok(Vec::new());
    }
    let rules = Arc::new(Rules::noted(root.path(), root.path()));
    let seen = scan(root, &rules, &Incurious, watch)?;
    let paths: Vec<&Path> = seen.iter().map(|seen| seen.path.as_path()).collect();
    let wanted = |path: &Path| !is_named(path, &request.attached) && wanted(path);
    let concept = |word: &String| Concept { forms: forms_of(word), worth: 1.0 };
    let concepts: Vec<Concept> = request.words.iter().map(concept).collect();
    let mut found = named_files(&request, paths.iter().copied(), &wanted);
    found.extend(called_like(&request, &paths, &wanted));
    Ok(pieces(root, found, &concepts))
}

/// Files that are called like a name of code that the request has.
fn called_like(request: &Request, paths: &[&Path], wanted: &dyn Fn(&Path) -> bool) -> Vec<Candidate> {
    let last = |name: &String| name.rsplit("::").next().unwrap_or_default().to_lowercase();
    let names: Vec<String> = request.names.iter().map(last).collect();
    let is_called = |path: &Path, name: &str| {
        let stem = path.file_stem().and_then(|stem| stem.to_str()).unwrap_or_default();
        stem.eq_ignore_ascii_case(name) || stem.replace(['_', '-'], "").eq_ignore_ascii_case(name)
    };
    let mut found: Vec<&Path> = Vec::new();
    for name in names.iter().filter(|name| name.len() >= LEAST_LETTERS) {
        let is_code = |path: &&&Path| Kind::of(path) == Kind::Code && is_called(path, name);
        let called: Vec<&Path> = paths.iter().filter(is_code).copied().collect();
        if called.len() <= MOST_PLACES {
            found.extend(called.into_iter().filter(|path| wanted(path)));
        }
    }
    found.into_iter().map(|path| Candidate { path: path.to_path_buf(), lines: None, score: 2.0 }).collect()
}

/// Files that the request names as such.
fn named_files<'a>(
    request: &Request,
    paths: impl Iterator<Item = &'a Path>,
    wanted: &dyn Fn(&Path) -> bool,
) -> Vec<Candidate> {
    if request.files.is_empty() {
        return Vec::new();
    }
    let mut of_name: HashMap<&String, Vec<&Path>> = HashMap::new();
    for path in paths {
        for name in request.files.iter().filter(|name| path.ends_with(name)) {
            of_name.entry(name).or_default().push(path);
        }
    }
    let few = request.files.iter().filter_map(|name| of_name.get(name)).filter(|paths| paths.len() <= MOST_PLACES);
    let few = few.flatten().filter(|path| wanted(path));
    few.map(|path| Candidate { path: path.to_path_buf(), lines: None, score: 3.0 }).collect()
}

fn is_named(path: &Path, names: &[String]) -> bool {
    names.iter().any(|name| path.ends_with(name))
}

/// What kind of file it is, by its path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Code,
    /// A test, or what tests use.
    Test,
    Text,
    Data,
}

impl Kind {
    fn of(path: &Path) -> Self {
        let is_test = path.components().filter_map(|part| part.as_os_str().to_str()).any(|part| {
            let stem = part.split('.').next().unwrap_or(part).to_lowercase();
            matches!(stem.as_str(), "test" | "tests" | "spec" | "fixtures" | "testdata" | "snapshots" | "benches")
                || stem.ends_with("_test")
                || stem.ends_with("_tests")
                || stem.starts_with("test_")
        });
        let ending = path.extension().and_then(|ending| ending.to_str()).unwrap_or_default();
        match ending {
            "md" | "rst" | "txt" | "adoc" => Self::Text,
            _ if Language::of(path).is_none() => Self::Data,
            _ if is_test => Self::Test,
            _ => Self::Code,
        }
    }

    /// Texts and tests have many of the words that requests have, and are seldom what is meant.
    fn factor(self, request: &Request) -> f32 {
        let speaks_of = |words: &[&str]| request.words.iter().any(|word| words.contains(&word.as_str()));
        match self {
            Self::Code => 1.0,
            Self::Test => 0.8,
            Self::Text if speaks_of(&["docs", "documentation", "readme", "changelog", "document"]) => 1.0,
            Self::Text => 0.5,
            Self::Data => 0.0,
        }
    }
}

/// A word in the forms that it may have in a text.
fn forms_of(word: &str) -> Vec<String> {
    let mut forms = vec![word.to_owned()];
    if !word.is_ascii() || word.len() < 4 {
        return forms;
    }
    let bare = ["ing", "ed", "es", "s"].iter().find_map(|end| word.strip_suffix(end).filter(|bare| bare.len() >= 3));
    let mut stems = vec![word];
    stems.extend(bare);
    stems.extend(word.strip_suffix('e'));
    stems.extend(word.strip_suffix("es").map(|_| word.strip_suffix('s').unwrap_or(word)));
    for stem in stems {
        for end in ["", "s", "e", "es", "ed", "ing"] {
            let form = format!("{stem}{end}");
            if !forms.contains(&form) {
                forms.push(form);
            }
        }
    }
    forms
}

fn concept_of(term: &str, concepts: &[Concept]) -> Option<usize> {
    concepts.iter().position(|concept| concept.forms.iter().any(|form| form == term))
}

/// Which of the concepts a path names.
fn in_path(path: &Path, concepts: &[Concept]) -> BTreeSet<usize> {
    let mut has = BTreeSet::new();
    each_term(&path.to_string_lossy(), |term, _| has.extend(concept_of(term, concepts)));
    has
}

/// The lines that stand together and have most of the concepts, and which they have.
fn densest(text: &str, concepts: &[Concept]) -> ((u32, u32), BTreeSet<usize>) {
    let numbers: HashMap<&str, usize> = (0..)
        .zip(concepts)
        .flat_map(|(at, concept)| concept.forms.iter().map(move |form| (form.as_str(), at)))
        .collect();
    let mut lines: Vec<(u32, Vec<usize>)> = Vec::new();
    for (number, line) in (1..).zip(text.lines()) {
        let mut has = Vec::new();
        each_term(line, |term, _| has.extend(numbers.get(term)));
        if !has.is_empty() {
            lines.push((number, has));
        }
    }
    let (mut best, mut most) = (((1, 1), BTreeSet::new()), 0.0);
    for (at, (first, _)) in lines.iter().enumerate() {
        let together = || lines.iter().skip(at).take_while(|(line, _)| *line < first + TOGETHER as u32);
        let has: BTreeSet<usize> = together().flat_map(|(_, has)| has.iter().copied()).collect();
        let worth: f32 = has.iter().filter_map(|at| concepts.get(*at)).map(|concept| concept.worth).sum();
        if worth > most {
            let last = together().last().map_or(*first, |(line, _)| *line);
            (best, most) = (((*first, last), has), worth);
        }
    }
    best
}

/// The pieces of the best files, each file once.
fn pieces(root: &Located, mut found: Vec<Candidate>, concepts: &[Concept]) -> Vec<Piece> {
    found.sort_by(|a, b| b.score.total_cmp(&a.score));
    let mut pieces: Vec<Piece> = Vec::new();
    for Candidate { path, lines, .. } in found {
        if pieces.len() >= MOST_FILES {
            break;
        }
        if pieces.iter().any(|known| known.path == path) {
            continue;
        }
        let Some(text) = text_of(root, &path) else { continue };
        let (first, last) = lines.unwrap_or_else(|| densest(&text, concepts).0);
        let (first, last) = widened(&path, &text, first, last);
        let count = (last - first) as usize + 1;
        let text: Vec<&str> = text.lines().skip(first as usize - 1).take(count).collect();
        let last_line = first + (text.len().max(1) - 1) as u32;
        pieces.push(Piece { path, first_line: first, last_line, text: text.join("\n") });
    }
    pieces
}

/// These lines with what belongs to them: the definition that they stand in, where it is not too long, or the lines
/// around them.
fn widened(path: &Path, text: &str, first: u32, last: u32) -> (u32, u32) {
    let most = MOST_LINES as u32;
    let code = Language::of(path).and_then(|language| Parsers::default().read(language, text));
    let around = code.iter().flat_map(|code| &code.definitions).filter(|one| one.line <= first && one.end_line >= last);
    let fitting = around.filter(|one| one.end_line - one.line < most).max_by_key(|one| one.end_line - one.line);
    let (first, last) = fitting.map_or((first, last), |one| (one.line, one.end_line));
    // What a definition says of itself stands above it.
    let (above, lines) = (8.min(first - 1), text.lines().count().max(1) as u32);
    let first = first - above;
    let last = last.min(first + most - 1).max((first + 15).min(lines));
    (first.min(lines), last.min(lines))
}

fn text_of(root: &Located, path: &Path) -> Option<String> {
    let (_, bytes) = scan::read(root, path).ok()?;
    scan::decode(&bytes?).map(|text| text.into_owned())
}
