//! Which rules files there are, from the most general to the nearest.

use std::collections::HashSet;
use std::path::{Path, PathBuf};

use neco_config::section::ContextSection;
use neco_safety::invisible;
use neco_safety::policy::Telling;
use neco_safety::world::Files;
use neco_workspace::{GitFacts, Watched};

use super::frontmatter::{self, Frontmatter};
use super::import::{Home, Importer};
use super::source::Rules;
use crate::sources::reader::{Reader, Unread, Whose, ends_with, files_in};

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
    /// What the person should know of it: what it names that may not be told, and what is hidden in it.
    pub warnings: Vec<String>,
}

/// Where rules files are looked for, and how much of them counts.
#[derive(Clone, Debug)]
pub struct RulesSearch {
    /// The folder that is worked in, resolved.
    pub cwd: PathBuf,
    /// Where the person's own rules are.
    pub own: RulesPlaces,
    pub settings: ContextSection,
    /// Judges what may be told.
    pub telling: Telling,
}

impl RulesSearch {
    /// Reads all rules files that hold from the beginning: the person's own, and those from the root of the
    /// repository to the folder that is worked in.
    pub fn find(&self) -> Rules {
        let found = self.search(|found| {
            found.of_person();
            found.of_project();
        });
        Rules::new(found.files).watching(if found.is_unsure { Watched::default() } else { found.watched })
    }

    /// Reads those in one folder below the one that is worked in.
    pub fn find_in(&self, folder: &Path) -> Vec<RulesFile> {
        self.search(|found| found.below(folder)).files
    }

    fn search(&self, look: impl FnOnce(&mut Found<'_>)) -> Found<'_> {
        let mut found = Found {
            search: self,
            cwd: &self.cwd,
            seen: HashSet::new(),
            files: Vec::new(),
            watched: Watched::default(),
            is_unsure: false,
        };
        if self.settings.rules {
            look(&mut found);
        }
        found
    }
}

/// The root of the repository, and the folders from there to the one that is worked in.
fn folders_to(cwd: &Path) -> (PathBuf, Vec<&Path>) {
    let root = GitFacts::of(cwd).map_or_else(|| cwd.to_path_buf(), |facts| facts.root);
    let mut folders: Vec<&Path> = cwd.ancestors().take_while(|folder| folder.starts_with(&root)).collect();
    folders.reverse();
    (root, folders)
}

/// The project's rules files that hold from the beginning, as they are called in the repository. None is read: what of
/// them may be told is judged when they are.
pub fn rules_files(cwd: &Path) -> Vec<String> {
    let (root, folders) = folders_to(cwd);
    let mut found = Vec::new();
    for folder in folders {
        let at_root = AT_ROOT.iter().filter(|_| folder == root || folder == cwd);
        found.extend(IN_FOLDERS.iter().chain(at_root).map(|name| folder.join(name)));
        for (name, endings) in FOLDERS {
            found.extend(files_in(&folder.join(name), MOST_IN_FOLDER, |path| ends_with(path, endings)));
        }
    }
    // One that leads to another says the same.
    let mut seen = HashSet::new();
    found.retain(|path| path.is_file() && path.canonicalize().is_ok_and(|path| seen.insert(path)));
    let name = |path: &PathBuf| Some(path.strip_prefix(&root).ok()?.display().to_string());
    found.iter().filter_map(name).collect()
}

/// Whose a rules file is.
#[derive(Clone, Copy)]
enum Owner<'a> {
    /// The person's own, with the files of their home.
    Person { home: Option<&'a Files> },
    /// The project's.
    Project,
}

struct Found<'a> {
    search: &'a RulesSearch,
    cwd: &'a Path,
    /// Texts that are there already.
    seen: HashSet<String>,
    files: Vec<RulesFile>,
    /// Where files were looked for.
    watched: Watched,
    /// Whether a file is there that could not be read.
    is_unsure: bool,
}

impl Found<'_> {
    fn of_person(&mut self) {
        let own = &self.search.own;
        let folders = own.folders.iter().flat_map(|folder| self.markdown_in(folder, &["md"]));
        let folders: Vec<PathBuf> = folders.collect();
        let home = own.home.as_ref().and_then(|home| Files::new(home, Vec::new()).ok());
        for path in own.files.iter().cloned().chain(folders) {
            self.watched.add(&path);
            let Some(folder) = path.parent() else { continue };
            // What the person's rules bring along lies beside them, but for what they themselves name in their home.
            let Ok(files) = Files::new(folder, Vec::new()) else { continue };
            self.take(&files, &path, Owner::Person { home: home.as_ref() });
        }
    }

    fn of_project(&mut self) {
        let (root, folders) = folders_to(self.cwd);
        let Ok(files) = Files::new(&root, Vec::new()) else { return };
        for folder in folders {
            self.of_folder(&files, folder, folder == root || folder == self.cwd);
        }
    }

    /// What lies deeper is as near to the work there as what lies here, and may bring along no more.
    fn below(&mut self, folder: &Path) {
        let Ok(files) = Files::new(self.cwd, Vec::new()) else { return };
        self.of_folder(&files, folder, false);
    }

    fn of_folder(&mut self, files: &Files, folder: &Path, is_root: bool) {
        for name in IN_FOLDERS {
            self.take(files, &folder.join(name), Owner::Project);
        }
        if is_root {
            AT_ROOT.iter().for_each(|name| self.take(files, &folder.join(name), Owner::Project));
        }
        for (name, endings) in FOLDERS {
            for path in self.markdown_in(&folder.join(name), endings) {
                self.take(files, &path, Owner::Project);
            }
        }
    }

    fn take(&mut self, files: &Files, path: &Path, owner: Owner<'_>) {
        self.watched.add(path);
        let settings = &self.search.settings;
        let (whose, own, home) = match owner {
            Owner::Person { home } => (Whose::Person, true, home),
            Owner::Project => (Whose::Project, false, None),
        };
        let reader = Reader::new(files, &self.search.telling, whose);
        let read = match reader.read(path, settings.max_rules_file) {
            Ok(read) => read,
            Err(Unread::Missing) => return self.is_unsure |= path.is_file(),
            Err(Unread::Outside) => return self.unread(path, own, "it leads out of the repository"),
            Err(Unread::Refused(why)) => return self.unread(path, own, &why),
        };
        let (says, rest) = frontmatter::part(&read.text);
        let broken = says.broken.clone();
        let scope = scope_of(says, path);
        if rest.trim().is_empty() || !self.seen.insert(rest.trim().to_owned()) {
            return;
        }
        let name = self.name(path, own);
        // Whoever wrote it, what it brings along is no file of secrets.
        let telling = &self.search.telling;
        let home = home.map(|home| Home { path: home.workspace(), reader: Reader::new(home, telling, Whose::Project) });
        let reader = Reader::new(files, telling, Whose::Project);
        let mut importer = Importer::new(reader, home, settings, read.path);
        importer.follow(rest, path);
        self.watched.extend(std::mem::take(&mut importer.watched));
        let at_hand = path.starts_with(self.cwd);
        let notes = broken.into_iter().chain(read.notes).chain(importer.notes).collect();
        let warnings = read.warnings.into_iter().chain(importer.warnings).collect();
        let text = rest.trim().to_owned();
        let (found, scope_of_imports) = (importer.found, scope.clone());
        self.files.push(RulesFile { name, own, at_hand, scope, imported_by: None, text, notes, warnings });
        for import in found {
            if !self.seen.insert(import.read.text.trim().to_owned()) {
                continue;
            }
            self.files.push(RulesFile {
                name: self.name(&import.read.path, own),
                own,
                at_hand: import.read.path.starts_with(self.cwd),
                scope: scope_of_imports.clone(),
                imported_by: Some(self.name(&import.by, own)),
                text: import.read.text.trim().to_owned(),
                notes: import.read.notes,
                warnings: import.read.warnings,
            });
        }
    }

    /// The files of a folder with one of these endings, in the order of their names.
    fn markdown_in(&mut self, folder: &Path, endings: &[&str]) -> Vec<PathBuf> {
        self.watched.add(folder);
        files_in(folder, MOST_IN_FOLDER, |path| ends_with(path, endings))
    }

    /// A file of which nothing is told but why.
    fn unread(&mut self, path: &Path, own: bool, why: &str) {
        let (name, at_hand) = (self.name(path, own), path.starts_with(self.cwd));
        let notes = vec![format!("it was not read: {why}")];
        let (scope, text, warnings) = (Scope::Always, String::new(), notes.clone());
        self.files.push(RulesFile { name, own, at_hand, scope, imported_by: None, text, notes, warnings });
    }

    fn name(&self, path: &Path, own: bool) -> String {
        let in_home = self.search.own.home.as_ref().filter(|_| own).and_then(|home| path.strip_prefix(home).ok());
        let name = match (in_home, path.strip_prefix(self.cwd)) {
            (Some(in_home), _) => format!("~/{}", in_home.display()),
            (None, Ok(inside)) => inside.display().to_string(),
            (None, Err(_)) => path.display().to_string(),
        };
        invisible::seen(&name).text.into_owned()
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

#[cfg(test)]
mod tests {
    use neco_safety::Policy;

    use super::*;

    fn write(path: &Path, text: &str) {
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    }

    #[test]
    fn a_tilde_is_the_home_in_files_of_the_person_alone() {
        let folder = tempfile::tempdir().unwrap();
        let at = folder.path().canonicalize().unwrap();
        let (home, cwd) = (at.join("home"), at.join("project"));
        let mine = "Mine. @~/.claude/extra.md @~/notes/all.md @~/.ssh/id_rsa @~/gone/x.md\n";
        write(&home.join(".claude/CLAUDE.md"), mine);
        write(&home.join(".claude/extra.md"), "Beside it. @~/.claude/more.md @~/notes/other.md\n");
        write(&home.join(".claude/more.md"), "Beside that.\n");
        write(&home.join("notes/all.md"), "Notes.\n");
        write(&home.join("notes/other.md"), "HUSH\n");
        write(&home.join(".ssh/id_rsa"), "HUSH\n");
        write(&cwd.join("CLAUDE.md"), "Its own. @~/.claude/extra.md\n");
        let settings =
            ContextSection { rules: true, max_rules_file: 64_000, import_depth: 5, ..ContextSection::default() };
        let own =
            RulesPlaces { files: vec![home.join(".claude/CLAUDE.md")], folders: Vec::new(), home: Some(home.clone()) };
        let rules = RulesSearch { cwd, own, settings, telling: Policy::default().telling() }.find();
        let texts: Vec<&str> = rules.texts().filter_map(|text| text.split(" @").next()).collect();
        assert_eq!(texts, ["Mine.", "Beside it.", "Beside that.", "Notes.", "Its own."]);
        let notices = rules.notices().join("\n");
        assert!(notices.contains("@~/.ssh/id_rsa was not read: ") && !notices.contains("gone"), "{notices}");
        assert!(notices.contains("@~/notes/other.md was not read: it leads out of the folder"), "{notices}");
        assert!(notices.contains("CLAUDE.md: @~/.claude/extra.md was not read: it leads out of"), "{notices}");
    }
}
