//! Which rules files there are, from the most general to the nearest.

use std::collections::HashSet;
use std::fs;
use std::path::{Path, PathBuf};

use neco_config::section::ContextSection;
use neco_safety::path::{Access, Located, PathError};
use neco_safety::world::Files;
use neco_workspace::GitFacts;

use super::frontmatter::{self, Frontmatter};
use super::import::Importer;

/// Files of this name stand in every folder from the root of the repository to the workspace.
const IN_FOLDERS: [&str; 4] = ["AGENTS.md", "CLAUDE.md", "GEMINI.md", ".cursorrules"];
/// These stand at the root of the repository and in the workspace.
const AT_ROOT: [&str; 1] = [".github/copilot-instructions.md"];
/// Folders of rules, with the endings of their files.
const FOLDERS: [(&str, &[&str]); 2] = [(".cursor/rules", &["md", "mdc"]), (".neco/rules", &["md"])];
/// Nobody has more rules than that in one folder.
const MOST_IN_FOLDER: usize = 100;

/// Where the person's own rules are.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RulesPlaces {
    /// Files.
    pub files: Vec<PathBuf>,
    /// Folders of Markdown files.
    pub folders: Vec<PathBuf>,
    /// The home folder, for names.
    pub home: Option<PathBuf>,
}

/// When a rule holds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Scope {
    /// Always.
    Always,
    /// For files that fit one of these patterns.
    Files(Vec<String>),
    /// When the model finds that it is about what it does: only its description is told.
    OnRequest(String),
}

/// A rules file, read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RulesFile {
    /// What it is called in the prompt.
    pub name: String,
    /// Whether it is the person's own and not the project's.
    pub own: bool,
    /// Whether it lies in the workspace, where the model can read it itself.
    pub at_hand: bool,
    /// When it holds.
    pub scope: Scope,
    /// The file that brings it along.
    pub imported_by: Option<String>,
    /// What it says.
    pub text: String,
    /// What was left out of it, in words.
    pub notes: Vec<String>,
}

/// Reads all rules files for work in `cwd`.
#[must_use]
pub fn find(cwd: &Path, own: &RulesPlaces, settings: &ContextSection) -> Vec<RulesFile> {
    if !settings.rules {
        return Vec::new();
    }
    let root = GitFacts::of(cwd).map_or_else(|| cwd.to_path_buf(), |facts| facts.root);
    let mut found = Found { cwd, root: &root, own, settings, seen: HashSet::new(), files: Vec::new() };
    found.of_person();
    found.of_project();
    found.files
}

struct Found<'a> {
    cwd: &'a Path,
    root: &'a Path,
    own: &'a RulesPlaces,
    settings: &'a ContextSection,
    /// Texts that are there already.
    seen: HashSet<String>,
    files: Vec<RulesFile>,
}

impl Found<'_> {
    fn of_person(&mut self) {
        let folders = self.own.folders.iter().flat_map(|folder| markdown_in(folder, &["md"]));
        let paths: Vec<PathBuf> = self.own.files.iter().cloned().chain(folders).collect();
        for path in paths {
            let Some(folder) = path.parent() else { continue };
            // What the person's rules bring along lies beside them.
            let Ok(files) = Files::new(folder, Vec::new()) else { continue };
            self.take(&files, &path, true);
        }
    }

    fn of_project(&mut self) {
        let Ok(files) = Files::new(self.root, Vec::new()) else { return };
        let mut folders: Vec<PathBuf> =
            self.cwd.ancestors().take_while(|folder| folder.starts_with(self.root)).map(Path::to_path_buf).collect();
        folders.reverse();
        for folder in &folders {
            for name in IN_FOLDERS {
                self.take(&files, &folder.join(name), false);
            }
            if folder == self.root || folder == self.cwd {
                AT_ROOT.iter().for_each(|name| self.take(&files, &folder.join(name), false));
            }
            for (name, endings) in FOLDERS {
                for path in markdown_in(&folder.join(name), endings) {
                    self.take(&files, &path, false);
                }
            }
        }
    }

    fn take(&mut self, files: &Files, path: &Path, own: bool) {
        let located = match files.locate(path, Access::Read) {
            Ok(located) => located,
            Err(PathError::Outside { .. }) if path.exists() => {
                return self.unread(path, own, "it leads out of the repository");
            }
            Err(_) => return,
        };
        if !located.exists() || (!own && located.sensitive_to_read().is_some()) {
            return;
        }
        let Some((text, cut)) = read_text(&located, self.settings.max_rules_file) else { return };
        if !is_text(&text) {
            return self.unread(path, own, "it is not text");
        }
        let (says, rest) = frontmatter::part(&text);
        let broken = says.broken.clone();
        let scope = scope_of(says, path);
        if rest.trim().is_empty() || !self.seen.insert(rest.trim().to_owned()) {
            return;
        }
        let name = self.name(path, own);
        let mut importer = Importer::new(files, self.settings, located.path().to_path_buf());
        importer.follow(rest, path);
        let notes = broken.into_iter().chain(cut).chain(importer.notes).collect();
        let text = rest.trim().to_owned();
        self.files.push(RulesFile {
            name,
            own,
            at_hand: path.starts_with(self.cwd),
            scope: scope.clone(),
            imported_by: None,
            text,
            notes,
        });
        for import in importer.found {
            if !self.seen.insert(import.text.trim().to_owned()) {
                continue;
            }
            self.files.push(RulesFile {
                name: self.name(&import.path, own),
                own,
                at_hand: import.path.starts_with(self.cwd),
                scope: scope.clone(),
                imported_by: Some(self.name(&import.by, own)),
                text: import.text.trim().to_owned(),
                notes: import.notes,
            });
        }
    }

    /// A file of which nothing is told but why.
    fn unread(&mut self, path: &Path, own: bool, why: &str) {
        let (name, at_hand) = (self.name(path, own), path.starts_with(self.cwd));
        let notes = vec![format!("it was not read: {why}")];
        let (scope, text) = (Scope::Always, String::new());
        self.files.push(RulesFile { name, own, at_hand, scope, imported_by: None, text, notes });
    }

    fn name(&self, path: &Path, own: bool) -> String {
        let in_home = self.own.home.as_ref().filter(|_| own).and_then(|home| path.strip_prefix(home).ok());
        match (in_home, path.strip_prefix(self.cwd)) {
            (Some(in_home), _) => format!("~/{}", in_home.display()),
            (None, Ok(inside)) => inside.display().to_string(),
            (None, Err(_)) => path.display().to_string(),
        }
    }
}

/// Rules in folders of rules may be for some files only, or wait until they are asked for.
fn scope_of(says: Frontmatter, path: &Path) -> Scope {
    let in_folder = path.parent().is_some_and(|folder| folder.ends_with("rules"));
    match (says.always, says.description) {
        (Some(true), _) => Scope::Always,
        (_, _) if !says.globs.is_empty() => Scope::Files(says.globs),
        (Some(false), description) => Scope::OnRequest(description.unwrap_or_default()),
        (None, Some(description)) if in_folder => Scope::OnRequest(description),
        (None, _) => Scope::Always,
    }
}

/// The files of a folder with one of these endings, in the order of their names.
fn markdown_in(folder: &Path, endings: &[&str]) -> Vec<PathBuf> {
    let Ok(entries) = fs::read_dir(folder) else { return Vec::new() };
    let fits = |path: &PathBuf| path.extension().is_some_and(|ending| endings.iter().any(|wanted| ending == *wanted));
    let mut paths: Vec<PathBuf> =
        entries.filter_map(Result::ok).map(|entry| entry.path()).filter(fits).take(MOST_IN_FOLDER).collect();
    paths.sort();
    paths
}

/// Whether what was read is text: no NUL, and hardly anything in it that could not be read.
pub(super) fn is_text(text: &str) -> bool {
    let unread = text.chars().filter(|char| *char == char::REPLACEMENT_CHARACTER).count();
    !text.contains('\0') && unread <= text.chars().count() / 50
}

/// The text of a file, of which no more than `most` bytes count, and a note when there are more.
pub(super) fn read_text(located: &Located, most: usize) -> Option<(String, Option<String>)> {
    let (bytes, _) = located.read(most as u64 + 1).ok()?;
    let more = bytes.len() > most;
    let bytes = bytes.get(..most).unwrap_or(&bytes);
    let text = match bytes {
        [0xff, 0xfe, rest @ ..] => utf16(rest, u16::from_le_bytes),
        [0xfe, 0xff, rest @ ..] => utf16(rest, u16::from_be_bytes),
        [0xef, 0xbb, 0xbf, rest @ ..] => utf8(rest),
        bytes => utf8(bytes),
    };
    if !more {
        return Some((text, None));
    }
    let note = format!("only its first {most} bytes are here; read the file for the rest");
    Some((whole_lines(&text).to_owned(), Some(note)))
}

/// A character that the end of the bytes cuts in two is left out; others that can't be read are marked.
fn utf8(bytes: &[u8]) -> String {
    let cut = match std::str::from_utf8(bytes) {
        Err(error) if error.error_len().is_none() => error.valid_up_to(),
        Ok(_) | Err(_) => bytes.len(),
    };
    String::from_utf8_lossy(bytes.get(..cut).unwrap_or(bytes)).into_owned()
}

fn utf16(bytes: &[u8], unit: fn([u8; 2]) -> u16) -> String {
    let units = bytes.chunks_exact(2).filter_map(|pair| pair.try_into().ok().map(unit));
    char::decode_utf16(units).map(|char| char.unwrap_or(char::REPLACEMENT_CHARACTER)).collect()
}

/// The text up to the end of its last whole line; all of it where that would be less than half.
pub(super) fn whole_lines(text: &str) -> &str {
    let end = text.rfind('\n').map_or(0, |at| at + 1);
    text.get(..end).filter(|whole| whole.len() >= text.len() / 2).unwrap_or(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(bytes: &[u8], most: usize) -> (String, bool) {
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join("AGENTS.md"), bytes).unwrap();
        let files = Files::new(folder.path(), Vec::new()).unwrap();
        let located = files.locate(folder.path().join("AGENTS.md"), Access::Read).unwrap();
        let (text, note) = read_text(&located, most).unwrap();
        (text, note.is_some())
    }

    #[test]
    fn a_long_file_is_cut_after_a_line_or_else_after_a_character() {
        assert_eq!(read(b"one\ntwo\nthree\n", 10), ("one\ntwo\n".to_owned(), true));
        assert_eq!(read("一二三四".as_bytes(), 7), ("一二".to_owned(), true));
        assert_eq!(read(b"short", 5), ("short".to_owned(), false));
    }

    #[test]
    fn what_windows_writes_is_text() {
        let utf16: Vec<u8> = "\u{feff}Tabs é\n".encode_utf16().flat_map(u16::to_le_bytes).collect();
        assert_eq!(read(&utf16, 100), ("Tabs é\n".to_owned(), false));
        assert_eq!(read("\u{feff}Tabs".as_bytes(), 100), ("Tabs".to_owned(), false));
    }
}
