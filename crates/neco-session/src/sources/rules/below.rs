//! Rules files of folders below the workspace: looked for when something in their folder is first touched.

use std::collections::{BTreeSet, HashSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use futures::future::BoxFuture;
use neco_agent::ports::{FolderRules, FoundRules, RulesTouch};
use neco_workspace::is_ignored;

use super::find::RulesSearch;
use super::source::Rules;

/// Folders that are looked at after one turn; a search may touch any number.
const MOST_FOLDERS: usize = 200;
/// Files that are told after one turn.
const MOST_FILES: usize = 20;

/// Finds the rules files of folders below the workspace.
pub struct RulesBelow {
    search: Arc<RulesSearch>,
    /// What was told when the session began.
    at_start: Arc<HashSet<String>>,
}

impl RulesBelow {
    /// Besides `rules`, which are told anyway.
    pub fn new(search: RulesSearch, rules: &Rules) -> Self {
        Self { search: Arc::new(search), at_start: Arc::new(rules.texts().map(str::to_owned).collect()) }
    }
}

impl FolderRules for RulesBelow {
    fn touched(&self, touch: RulesTouch) -> BoxFuture<'static, Option<FoundRules>> {
        let (search, at_start) = (Arc::clone(&self.search), Arc::clone(&self.at_start));
        let look = tokio::task::spawn_blocking(move || look(&search, &at_start, &touch));
        Box::pin(async move { look.await.ok().flatten() })
    }
}

fn look(search: &RulesSearch, at_start: &HashSet<String>, touch: &RulesTouch) -> Option<FoundRules> {
    let Touched { project, mut looked } = folders_of(&search.cwd, touch);
    if project.is_empty() && looked.is_empty() {
        return None;
    }
    let mut seen = HashSet::new();
    let mut files = Vec::new();
    for folder in project {
        let mut here = search.find_in(&folder);
        here.retain(|file| {
            let is_new = !touch.told.contains(&file.name) && !at_start.contains(&file.text);
            is_new && (file.text.is_empty() || seen.insert(file.text.clone()))
        });
        let is_whole = here.len() <= MOST_FILES - files.len();
        here.truncate(MOST_FILES - files.len());
        files.extend(here);
        // What there was no room for is told when something there is touched again.
        if !is_whole {
            break;
        }
        looked.push(folder);
    }
    if files.is_empty() {
        return Some(FoundRules { looked, ..FoundRules::default() });
    }
    let names = |is_read: bool| -> Vec<String> {
        let fitting = files.iter().filter(|file| file.text.is_empty() != is_read);
        fitting.map(|file| file.name.clone()).collect()
    };
    let (told, unread) = (names(true), names(false));
    let rules = Rules::new(files);
    let (text, notices) = (rules.told_below(touch.room), rules.notices());
    Some(FoundRules { looked, files: told, unread, text, notices })
}

/// Folders in which something was touched.
struct Touched {
    /// Those whose rules hold.
    project: Vec<PathBuf>,
    /// Those that have nothing to tell.
    looked: Vec<PathBuf>,
}

/// The folders below the workspace in which something was touched, and those around them, the outermost first.
/// What git ignores is not the project's, and says nothing of how it is worked on.
fn folders_of(cwd: &Path, touch: &RulesTouch) -> Touched {
    let mut folders = BTreeSet::new();
    for path in touch.paths.iter().map(|path| cwd.join(path)).filter(|path| path.starts_with(cwd)) {
        let folder = if path.is_dir() { path.as_path() } else { path.parent().unwrap_or(cwd) };
        let around = folder.ancestors().take_while(|around| *around != cwd && around.starts_with(cwd));
        folders.extend(around.filter(|around| !touch.looked.contains(*around)).map(Path::to_path_buf));
    }
    let is_project = |folder: &PathBuf| !folder.iter().any(|name| name == ".git") && !is_ignored(cwd, folder);
    let mut touched = Touched { project: Vec::new(), looked: Vec::new() };
    // What is below a folder comes right after it.
    let mut ignored: Option<PathBuf> = None;
    for folder in folders {
        if ignored.as_ref().is_some_and(|above| folder.starts_with(above)) {
            touched.looked.push(folder);
        } else if !is_project(&folder) {
            ignored = Some(folder.clone());
            touched.looked.push(folder);
        } else if touched.project.len() < MOST_FOLDERS {
            touched.project.push(folder);
        } else {
            break;
        }
    }
    touched
}

#[cfg(test)]
mod tests {
    use std::fs;

    use neco_config::section::ContextSection;
    use neco_safety::Policy;

    use super::super::find::RulesPlaces;
    use super::*;

    fn write(folder: &Path, name: &str, text: &str) {
        let path = folder.join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    fn found(cwd: &Path, paths: &[&str], told: &[&str]) -> Option<FoundRules> {
        let search = RulesSearch {
            cwd: cwd.to_path_buf(),
            own: RulesPlaces::default(),
            settings: ContextSection {
                rules: true,
                max_rules_file: 64_000,
                import_depth: 5,
                ..ContextSection::default()
            },
            telling: Policy::default().telling(),
        };
        let touch = RulesTouch {
            paths: paths.iter().map(PathBuf::from).collect(),
            told: Arc::new(told.iter().map(ToString::to_string).collect()),
            room: 10_000,
            ..RulesTouch::default()
        };
        look(&search, &HashSet::from(["At the start.".to_owned()]), &touch)
    }

    #[test]
    fn rules_are_found_from_the_outside_to_what_was_touched() {
        let folder = tempfile::tempdir().unwrap();
        let cwd = folder.path().canonicalize().unwrap();
        fs::create_dir(cwd.join(".git")).unwrap();
        write(&cwd, "AGENTS.md", "At the start.");
        write(&cwd, "a/AGENTS.md", "Of a.");
        write(&cwd, "a/b/CLAUDE.md", "Of b. See @../AGENTS.md and @../../.git/config");
        write(&cwd, "a/b/.neco/rules/x.md", "At the start.");
        write(&cwd, ".git/config", "[core]");
        write(&cwd, "other/AGENTS.md", "Of another.");
        write(&cwd, ".gitignore", "vendor/\n");
        write(&cwd, "vendor/AGENTS.md", "Of somebody else.");
        let all = found(&cwd, &["a/b/new.rs", "vendor/x", "/etc/passwd"], &[]).unwrap();
        assert_eq!(all.files, ["a/AGENTS.md", "a/b/CLAUDE.md"]);
        let (outer, inner) = (all.text.find("Of a.").unwrap(), all.text.find("Of b.").unwrap());
        assert!(outer < inner && !all.text.contains("somebody") && !all.text.contains("another"), "{}", all.text);
        assert!(all.text.contains("@../../.git/config was not read") && !all.text.contains("[core]"), "{}", all.text);
        assert_eq!(all.notices.len(), 1, "{:?}", all.notices);
        let again = found(&cwd, &["a"], &["a/AGENTS.md"]).unwrap();
        assert_eq!((again.files.len(), again.text.is_empty(), again.looked.len()), (0, true, 1));
        assert_eq!(found(&cwd, &["x.rs", "."], &[]), None, "the workspace itself was told");
    }

    #[test]
    fn a_file_that_may_not_be_read_is_not_among_those_that_are_told() {
        let folder = tempfile::tempdir().unwrap();
        let cwd = folder.path().canonicalize().unwrap();
        write(&cwd, "a/CLAUDE.md", "Of a.");
        // A file that lies outside may not be told.
        std::os::unix::fs::symlink("/etc/passwd", cwd.join("a/AGENTS.md")).unwrap();
        let all = found(&cwd, &["a/x.rs"], &[]).unwrap();
        assert_eq!((all.files, all.unread), (vec!["a/CLAUDE.md".to_owned()], vec!["a/AGENTS.md".to_owned()]));
        assert!(all.text.contains("it was not read") && all.notices.len() == 1, "{}, {:?}", all.text, all.notices);
    }

    #[test]
    fn what_there_is_no_room_for_is_told_the_next_time() {
        let folder = tempfile::tempdir().unwrap();
        let cwd = folder.path().canonicalize().unwrap();
        fs::create_dir(cwd.join(".git")).unwrap();
        write(&cwd, ".gitignore", "ignored/\n");
        write(&cwd, "ignored/AGENTS.md", "Of somebody else.");
        let names: Vec<String> = (0..MOST_FILES + 5).map(|number| format!("f{number:02}/x.rs")).collect();
        for name in &names {
            write(&cwd, &name.replace("x.rs", "AGENTS.md"), &format!("Of {name}."));
        }
        let mut paths: Vec<&str> = names.iter().map(String::as_str).collect();
        paths.push("ignored/x.rs");
        let first = found(&cwd, &paths, &[]).unwrap();
        assert_eq!(first.files.len(), MOST_FILES);
        assert_eq!(first.looked.len(), MOST_FILES + 1, "those that were told, and the one that is ignored");
        let told: Vec<&str> = first.files.iter().map(String::as_str).collect();
        let second = found(&cwd, &paths, &told).unwrap();
        assert_eq!((second.files.len(), second.looked.len()), (5, names.len() + 1));
        let ignored = found(&cwd, &["ignored/x.rs"], &[]).unwrap();
        assert_eq!((ignored.files.len(), ignored.looked.len()), (0, 1));
    }
}
