//! Names: where they are defined and where they are used.

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use super::code::Definition;
use super::kind::SymbolKind;
use super::language::Language;
use super::parse::Parsers;
use super::postings::{Key, Postings, definitions, name_in, uses};
use super::scan;
use super::snapshot::Snapshot;
use super::store::IndexError;

/// Names that are looked at when only a part of one is known.
const MOST_NAMES: usize = 500;

/// Says how far a name is off, if it fits.
type Fits<'a> = Box<dyn Fn(&str) -> Option<usize> + 'a>;

/// How the names that were found relate to the one that was asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Likeness {
    /// It is the same.
    Same,
    /// It is the same but for capital letters.
    AnyCase,
    /// They begin with it.
    Beginning,
    /// They have it inside.
    Inside,
    /// They resemble it.
    Similar,
}

/// A definition and the file that it stands in.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Place {
    /// The file, from the root.
    pub path: PathBuf,
    /// The definition.
    pub definition: Definition,
}

/// The definitions of a name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Definitions {
    /// How their names relate to the one that was asked for.
    pub likeness: Likeness,
    /// By likeness, then by path and line.
    pub places: Vec<Place>,
}

/// The uses of a name in one file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UsesOfFile {
    /// The file, from the root.
    pub path: PathBuf,
    /// The lines, and whether the use is certain: a call, a type, an import.
    pub lines: Vec<(u32, bool)>,
}

impl Snapshot {
    /// Where a name is defined. `Type::name`, `type.name` and the like ask for the one of that type.
    pub fn definitions(
        &self,
        name: &str,
        kind: Option<SymbolKind>,
        wanted: &dyn Fn(&Path) -> bool,
    ) -> Result<Definitions, IndexError> {
        let (container, name) = qualified(name);
        let fits = |place: &Place| kind.is_none_or(|kind| place.definition.kind == kind) && wanted(&place.path);
        for likeness in [Likeness::Same, Likeness::AnyCase, Likeness::Beginning, Likeness::Inside, Likeness::Similar] {
            let mut places = self.defined(name, likeness)?;
            places.retain(fits);
            if let Some(container) = container
                && places.iter().any(|place| place.definition.container.eq_ignore_ascii_case(container))
            {
                places.retain(|place| place.definition.container.eq_ignore_ascii_case(container));
            }
            if !places.is_empty() {
                return Ok(Definitions { likeness, places });
            }
        }
        Ok(Definitions { likeness: Likeness::Same, places: Vec::new() })
    }

    /// Where a name is used, by path. Its definitions are not among them.
    pub fn references(&self, name: &str, wanted: &dyn Fn(&Path) -> bool) -> Result<Vec<UsesOfFile>, IndexError> {
        let (_, name) = qualified(name);
        let mut found = Vec::new();
        self.each_body(&Key::Use.of_name(name), |path, body| {
            if wanted(path) {
                found.push(UsesOfFile { path: path.to_path_buf(), lines: uses(body)? });
            }
            Ok(())
        })?;
        found.sort_by(|a, b| a.path.cmp(&b.path));
        Ok(found)
    }

    /// The text of some lines of a file as it is now, without the space around it; nothing for a line
    /// that is no longer there.
    pub fn lines_of(&self, path: &Path, numbers: &[u32]) -> Vec<String> {
        let read = scan::read(&self.root, path).ok().and_then(|(_, bytes)| bytes).unwrap_or_default();
        let text = scan::decode(&read).unwrap_or_default();
        let lines: Vec<&str> = text.lines().collect();
        let line = |number: &u32| lines.get((*number as usize).wrapping_sub(1)).map_or("", |line| line.trim());
        numbers.iter().map(|number| line(number).to_owned()).collect()
    }

    /// The definitions of a file by name, and its lines, as it is now.
    pub(super) fn defined_now(&self, path: &Path) -> (HashMap<String, Vec<Definition>>, Vec<String>) {
        let read = scan::read(&self.root, path).ok().and_then(|(_, bytes)| bytes).unwrap_or_default();
        let text = scan::decode(&read).unwrap_or_default();
        let code = Language::of(path).and_then(|language| Parsers::default().read(language, &text));
        let mut defined: HashMap<String, Vec<Definition>> = HashMap::new();
        for definition in code.map(|code| code.definitions).unwrap_or_default() {
            defined.entry(definition.name.clone()).or_default().push(definition);
        }
        (defined, text.lines().map(str::to_owned).collect())
    }

    pub(super) fn defined(&self, name: &str, likeness: Likeness) -> Result<Vec<Place>, IndexError> {
        if name.is_empty() {
            return Ok(Vec::new());
        }
        let small = name.to_lowercase();
        let (prefix, fits): (Vec<u8>, Fits<'_>) = match likeness {
            Likeness::Same => (Key::Definition.of_name(name), Box::new(|other| (other == name).then_some(0))),
            Likeness::AnyCase => {
                let mut prefix = Key::Definition.of_beginning(name);
                prefix.push(0);
                (prefix, Box::new(|_| Some(0)))
            }
            Likeness::Beginning => (Key::Definition.of_beginning(name), Box::new(|other| Some(other.len()))),
            Likeness::Inside => {
                let fits = move |other: &str| other.to_lowercase().contains(&small).then_some(other.len());
                (Key::Definition.of_beginning(""), Box::new(fits))
            }
            Likeness::Similar => {
                let most = if name.chars().count() < 6 { 1 } else { 2 };
                let first: String = small.chars().take(1).collect();
                let fits = move |other: &str| Like::new(&small, most).of(&other.to_lowercase());
                (Key::Definition.of_beginning(&first), Box::new(fits))
            }
        };
        let names = self.names(&prefix, &*fits)?;
        let mut places = Vec::new();
        for (_, name) in names.into_iter().take(MOST_NAMES) {
            let mut of_name = self.definitions_of(&name)?;
            of_name.sort_by(|a, b| a.path.cmp(&b.path).then(a.definition.line.cmp(&b.definition.line)));
            places.append(&mut of_name);
        }
        Ok(places)
    }

    /// The names with definitions whose keys begin like this and that fit, with how far they are off, the nearest
    /// first.
    fn names(&self, prefix: &[u8], fits: &dyn Fn(&str) -> Option<usize>) -> Result<Vec<(usize, String)>, IndexError> {
        let mut names = Vec::new();
        self.each_key(prefix, |key| {
            let name = name_in(key)?;
            names.extend(fits(name).map(|far| (far, name.to_owned())));
            Ok(())
        })?;
        names.sort();
        names.dedup();
        Ok(names)
    }

    fn definitions_of(&self, name: &str) -> Result<Vec<Place>, IndexError> {
        let mut places = Vec::new();
        self.each_body(&Key::Definition.of_name(name), |path, body| {
            let of_file = definitions(name, body)?.into_iter();
            places.extend(of_file.map(|definition| Place { path: path.to_path_buf(), definition }));
            Ok(())
        })?;
        Ok(places)
    }

    /// Calls `each` with every file that stands under a key and still counts, and what stands there about it.
    fn each_body(
        &self,
        key: &[u8],
        mut each: impl FnMut(&Path, &[u8]) -> Result<(), IndexError>,
    ) -> Result<(), IndexError> {
        for segment in &self.segments {
            let Some(value) = segment.table.get(key)? else { continue };
            let mut bodies = Postings::new(&value);
            while let Some((doc, body)) = bodies.body()? {
                if let Some(file) = segment.file(doc) {
                    each(self.path(file), body)?;
                }
            }
        }
        Ok(())
    }
}

/// A name and what stands before it: `Table` and `open` of `index::Table::open`.
pub(super) fn qualified(name: &str) -> (Option<&str>, &str) {
    let name = name.trim().trim_end_matches("()").trim_start_matches(['.', '#', ':', '@', '$']);
    let parts = |separator: &str| {
        let (before, name) = name.rsplit_once(separator)?;
        let container = before.rsplit(separator).next().filter(|container| !container.is_empty())?;
        Some((Some(container), name))
    };
    ["::", "->", "#", "."].into_iter().find_map(parts).unwrap_or((None, name))
}

/// A word that others are compared with. Most are told apart without comparing them letter by letter.
pub(super) struct Like<'a> {
    word: &'a str,
    letters: u64,
    /// The farthest that counts.
    most: usize,
}

impl<'a> Like<'a> {
    /// To `word`, from which others are at most so far.
    pub(super) fn new(word: &'a str, most: usize) -> Self {
        Self { word, letters: letters(word), most }
    }

    /// How many letters have to be put in, taken away, changed or swapped to make one word of the other.
    pub(super) fn of(&self, other: &str) -> Option<usize> {
        // Of other scripts a letter has up to four bytes.
        let bytes = if self.word.is_ascii() && other.is_ascii() { 1 } else { 4 };
        if self.word.len().abs_diff(other.len()) > bytes * self.most {
            return None;
        }
        // A change replaces one letter by another, so that at most two letters come or go.
        if (self.letters ^ letters(other)).count_ones() as usize > 2 * bytes * self.most {
            return None;
        }
        Some(strsim::osa_distance(self.word, other)).filter(|distance| *distance <= self.most)
    }
}

/// Which letters a word has, as bits.
fn letters(word: &str) -> u64 {
    word.bytes().fold(0, |bits, byte| bits | 1 << (byte & 63))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn names_may_be_qualified() {
        for (name, expected) in [
            ("open", (None, "open")),
            ("Table::open", (Some("Table"), "open")),
            ("index::Table::open()", (Some("Table"), "open")),
            ("a.b.c", (Some("b"), "c")),
            ("Foo#bar", (Some("Foo"), "bar")),
            (".open", (None, "open")),
        ] {
            assert_eq!(qualified(name), expected, "{name}");
        }
    }

    proptest! {
        #[test]
        fn it_is_what_a_full_comparison_says(one in "[a-dé文_]{0,8}", other in "[a-dé文_]{0,8}", most in 1_usize..3) {
            let full = strsim::osa_distance(&one, &other);
            prop_assert_eq!(Like::new(&one, most).of(&other), (full <= most).then_some(full));
        }
    }
}
