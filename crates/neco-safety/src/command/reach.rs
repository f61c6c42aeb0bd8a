//! Every path that a line names, wherever it stands: read as the sensitive ones are, for rules about paths.

use std::path::PathBuf;

use super::examined::{Examined, Word};
use super::ground::Ground;
use super::judge::is_about_names;
use super::place::Place;
use super::surely::{looks_like_path, surely_paths};
use crate::path::Shape;

/// More paths of one line are not told apart: who needs to know must take it that any may be meant.
const MOST_PATHS: usize = 4096;

/// A path that a line names.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Reached {
    pub(crate) named: Named,
    /// Whether it is surely written to or deleted.
    pub(crate) changes: bool,
    /// Whether the word surely names a file, and is no text, no pattern, and nothing that a program is to do.
    pub(crate) surely: bool,
}

/// What a word names.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Named {
    Path(PathBuf),
    /// What the shell finds for this pattern.
    Pattern(Shape),
}

impl Examined {
    /// Every path that the line names, as far as its words tell. What a word hides (a variable, a substitution, a
    /// script) and what lies below a folder that it names is not among them.
    pub(crate) fn reached(&self, place: &Place) -> Vec<Reached> {
        let of_parts = self.parts.iter().flat_map(|part| {
            let words = part.words.iter().zip(surely_paths(&part.words));
            words.map(|(word, surely)| (word, false, surely, part.standing))
        });
        let mentions = self.mentions.iter().map(|mention| {
            let surely = mention.surely || looks_like_path(&mention.word);
            (&mention.word, mention.changes, surely, mention.standing)
        });
        let mut reached = Vec::new();
        for (word, changes, surely, standing) in of_parts.chain(mentions) {
            if reached.len() >= MOST_PATHS {
                break;
            }
            let folders = self.standings.get(standing).map(Vec::as_slice).unwrap_or_default();
            let ground = Ground { place, folders, adrift: false };
            let paths = ground.paths_in(word).filter_map(|path| named(word, path));
            reached.extend(paths.map(|named| Reached { named, changes, surely }));
        }
        reached
    }

    /// Whether all that the line tells of files is that they are there. What it names and what it writes is another matter.
    pub(crate) fn tells_names_only(&self) -> bool {
        self.clean
            && self.parts.iter().all(|part| {
                let text = |at: usize| part.words.get(at).map_or("", |word| word.text.as_str());
                part.words.iter().all(|word| word.exact || word.pattern)
                    && (is_about_names(text(0), text(1)) || is_about_nothing(text(0)))
            })
    }
}

/// Whether a program looks at no file at all.
fn is_about_nothing(program: &str) -> bool {
    matches!(program, "echo" | "printf" | "true" | "false" | ":" | "pwd" | "date" | "sleep" | "whoami" | "uname" | "id")
}

fn named(word: &Word, path: PathBuf) -> Option<Named> {
    const WILD: [char; 3] = ['*', '?', '['];
    let text = path.to_string_lossy();
    // What only the shell will know can't be compared with anything.
    if !word.exact && text.contains(['$', '`']) {
        return None;
    }
    // The folder that the line went to may be a pattern, whatever the word is.
    let is_literal = word.exact && word.text.contains(WILD) || !text.contains(WILD);
    Some(if is_literal { Named::Path(path) } else { Named::Pattern(Shape::of_word(&path)) })
}
