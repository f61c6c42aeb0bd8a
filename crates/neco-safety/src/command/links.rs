//! Where links lead that a line names: the one thing about a line that its text can't tell. Looks at the disk.

use std::collections::HashSet;
use std::fs;
use std::path::{Path, PathBuf};

use neco_proto::Risk;

use super::examined::{Examined, Word};
use super::ground::{Ground, is_elsewhere, is_temporary};
use super::named::program_name;
use super::place::{Place, straighten};
use super::reach::{WILD, is_about_nothing};
use crate::path::name_fits;

/// More paths of one line are not looked at.
const MOST_LOOKS: usize = 1024;
/// More entries of folders are not read for the patterns of one line.
const MOST_ENTRIES: usize = 16 * 1024;

/// What a line reaches outside, though its words lie inside.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LedOut {
    /// How much harm that could do, as if the line named what is outside.
    pub risk: Risk,
    /// What leads where.
    pub because: String,
}

/// What a line reaches outside by links that are there now; the worst of it. Looks at the disk, a bounded number of
/// times: where that is not enough, nothing is known of a line that is safe otherwise.
#[must_use]
pub fn led_out(line: &Examined, place: &Place) -> Option<LedOut> {
    let mut look = Look::new(place);
    for folders in &line.standings {
        folders.iter().for_each(|folder| look.at(folder, &folder.to_string_lossy(), false));
    }
    for (word, changes, standing) in words_for_files(line) {
        let folders = line.standings.get(standing).map(Vec::as_slice).unwrap_or_default();
        let ground = Ground { place, folders, adrift: false };
        for path in ground.written_in(word) {
            let is_plain = word.exact || !path.to_string_lossy().contains(WILD);
            match is_plain {
                true => look.at(&path, &word.text, changes),
                false => look.behind(&path, &word.text, changes),
            }
        }
    }
    let unseen = || LedOut {
        risk: Risk::High,
        because: "it names more files than are looked at: one may be a link out of the workspace".to_owned(),
    };
    let gave_up = look.gave_up && line.risk == Risk::Safe;
    look.found.or_else(|| gave_up.then(unseen))
}

/// The words that may name files, whether they name what is changed, and where they stand. Of what is only printed
/// the patterns: the shell looks for those.
fn words_for_files(line: &Examined) -> impl Iterator<Item = (&Word, bool, usize)> {
    let of_parts = line.parts.iter().flat_map(|part| {
        let prints = part.words.first().is_some_and(|program| is_about_nothing(&program_name(&program.text)));
        let counts = move |word: &&Word| !prints || !word.exact;
        part.words.iter().skip(1).filter(counts).map(|word| (word, false, part.standing))
    });
    of_parts.chain(line.mentions.iter().map(|mention| (&mention.word, mention.changes, mention.standing)))
}

/// The looks that are taken for one line.
struct Look {
    place: Place,
    seen: HashSet<(PathBuf, Option<PathBuf>)>,
    entries_left: usize,
    gave_up: bool,
    found: Option<LedOut>,
}

impl Look {
    /// What is found is resolved, so the folders that the person opened have to be as well.
    fn new(place: &Place) -> Self {
        let resolved = |path: &PathBuf| fs::canonicalize(path).unwrap_or_else(|_| path.clone());
        let roots = place.roots.iter().flat_map(|root| [root.clone(), resolved(root)]);
        let roots = roots.chain([resolved(&place.workspace)]).collect();
        let place = Place { roots, ..place.clone() };
        Self { place, seen: HashSet::new(), entries_left: MOST_ENTRIES, gave_up: false, found: None }
    }

    /// Looks where a path leads.
    fn at(&mut self, path: &Path, word: &str, changes: bool) {
        // What is deleted or put in the place of a link is the link, unless a folder above it leads out.
        self.look(path, word, path.parent().filter(|_| changes));
    }

    /// Looks where a path leads, if its text says that it lies inside: what does not was judged by its text. What is
    /// changed lies in the folder `changed`.
    fn look(&mut self, path: &Path, word: &str, changed: Option<&Path>) {
        if !self.is_inside(path)
            || self.is_over()
            || !self.seen.insert((path.to_path_buf(), changed.map(Path::to_path_buf)))
        {
            return;
        }
        let Some(target) = self.outside(path) else { return };
        let changes = changed.is_some_and(|folder| self.outside(folder).is_some());
        self.note(&target, word, changes);
    }

    /// The same for all that a pattern finds.
    fn behind(&mut self, pattern: &Path, word: &str, changes: bool) {
        let mut open = vec![(PathBuf::new(), pattern.iter().collect::<Vec<_>>())];
        while let Some((mut front, names)) = open.pop() {
            let wild = names.iter().position(|name| name.to_string_lossy().contains(WILD));
            front.extend(names.iter().take(wild.unwrap_or(names.len())));
            let Some((name, rest)) = wild.and_then(|at| names.get(at..)?.split_first()) else {
                self.at(&front, word, changes);
                continue;
            };
            if !self.is_inside(&front) {
                continue;
            }
            self.look(&front, word, Some(front.as_path()).filter(|_| changes));
            let name = name.to_string_lossy();
            for entry in fs::read_dir(&front).into_iter().flatten().flatten() {
                if self.is_over() {
                    return;
                }
                self.entries_left = self.entries_left.saturating_sub(1);
                let (Ok(kind), true) = (entry.file_type(), name_fits(&name, &entry.file_name().to_string_lossy()))
                else {
                    continue;
                };
                if kind.is_symlink() {
                    self.at(&entry.path(), word, changes);
                }
                if !rest.is_empty() && !kind.is_file() {
                    open.push((entry.path(), rest.to_vec()));
                }
            }
        }
    }

    fn is_inside(&self, path: &Path) -> bool {
        let path = straighten(path.to_path_buf());
        self.place.root_of(&path).is_some() || is_temporary(&path)
    }

    fn is_over(&mut self) -> bool {
        self.gave_up |= self.seen.len() >= MOST_LOOKS || self.entries_left == 0;
        self.gave_up
    }

    /// Where a path leads, if that is outside.
    fn outside(&self, path: &Path) -> Option<PathBuf> {
        fs::canonicalize(path).ok().filter(|target| is_elsewhere(&self.place, target))
    }

    fn note(&mut self, target: &Path, word: &str, changes: bool) {
        let ground = Ground { place: &self.place, folders: &[], adrift: false };
        let (risk, why) = match ground.sensitive_path(target) {
            Some(why) => (Risk::Critical, format!(": {why}")),
            None if changes => (Risk::Critical, String::new()),
            None => (Risk::High, String::new()),
        };
        if self.found.as_ref().is_none_or(|found| found.risk < risk) {
            let because = format!("{word} leads to {}, outside the workspace{why}", target.display());
            self.found = Some(LedOut { risk, because });
        }
    }
}
