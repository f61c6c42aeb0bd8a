//! The texts that an editor has open and nobody saved, as far as the agents of a session came upon them: a checkpoint
//! keeps these, so that undoing an edit brings back what was typed before it.

use std::collections::BTreeMap;
use std::path::{Component, Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use futures::StreamExt;
use futures::executor::block_on;
use neco_proto::app::opening::{Editor, EditorFiles};
use neco_proto::app::{AppError, Trouble};
use neco_workspace::checkpoint::{Typed, Unsaved};

/// Names in a folder that are looked at for links to a file.
const MOST_NAMES: usize = 2000;

/// Files that the editor is asked for at once, and because of one step back.
const AT_ONCE: usize = 16;
const MOST_ASKED: usize = 500;

/// What an editor has open.
pub(crate) struct OpenTexts {
    editor: Editor,
    /// The files in which something was typed and not saved when the editor was asked last, with its name for each.
    unsaved: Mutex<BTreeMap<PathBuf, PathBuf>>,
}

impl OpenTexts {
    /// Nobody was asked for anything yet.
    pub fn of(editor: Editor) -> Arc<Self> {
        Arc::new(Self { editor, unsaved: Mutex::default() })
    }

    /// The editor.
    pub fn editor(&self) -> &dyn EditorFiles {
        self.editor.0.as_ref()
    }

    /// Notes the editor's name of a file in which something is typed that is not saved, or that all of it is saved.
    pub fn note(&self, path: &Path, name: Option<&Path>) {
        let mut unsaved = self.unsaved();
        match name {
            Some(name) => drop(unsaved.insert(path.to_owned(), name.to_owned())),
            None => drop(unsaved.remove(path)),
        }
    }

    /// The same, as checkpoints are told of it.
    pub fn for_checkpoints(this: Option<&Arc<Self>>) -> Unsaved {
        let Some(texts) = this.cloned() else { return Unsaved::default() };
        Unsaved::new(move |root, files| texts.typed_below(root, files))
    }

    /// The names by which the editor may know a file: as it names its folders, as the file was `asked` for, as it is, and
    /// through a link beside it.
    pub fn names(&self, path: &Path, asked: Option<&Path>) -> Vec<PathBuf> {
        let is_plain = |path: &&Path| path.components().all(|part| part != Component::ParentDir);
        let asked = asked.filter(is_plain).map(Path::to_owned);
        let own: Vec<PathBuf> = asked.into_iter().chain([path.to_owned()]).chain(links_beside(path)).collect();
        let theirs: Vec<PathBuf> = own.iter().flat_map(|own| self.editor().names(own)).collect();
        let mut names: Vec<PathBuf> = Vec::new();
        for name in theirs.into_iter().chain(own) {
            if !names.contains(&name) && leads_to(&name, path) {
                names.push(name);
            }
        }
        names
    }

    /// What is typed and not saved now in files of a folder: in those that are known for that, and in these. May wait.
    fn typed_below(&self, root: &Path, files: &[PathBuf]) -> Vec<Typed> {
        if !self.editor().reads() {
            return Vec::new();
        }
        let inside =
            |(path, name): (&PathBuf, &PathBuf)| Some((path.strip_prefix(root).ok()?.to_owned(), vec![name.clone()]));
        let mut known: BTreeMap<PathBuf, Vec<PathBuf>> = self.unsaved().iter().filter_map(inside).collect();
        for file in files.iter().take(MOST_ASKED) {
            known.entry(file.clone()).or_insert_with(|| self.names(&root.join(file), None));
        }
        let asked = known.into_iter().map(|(path, names)| self.read(path, names));
        let asked = futures::stream::iter(asked).buffered(AT_ONCE).collect::<Vec<_>>();
        let mut typed = Vec::new();
        for (path, text) in block_on(asked) {
            let saved = std::fs::read_to_string(root.join(&path));
            match (text, saved) {
                (Ok((name, text)), Ok(saved)) if plain(&text) != plain(&saved) => {
                    self.note(&root.join(&path), Some(&name));
                    typed.push((path, as_in(&saved, text).into_bytes()));
                }
                (Ok(_), Ok(_)) => self.note(&root.join(path), None),
                // Who does not answer has it as it was, for all that is known; what is gone is gone.
                (Err(_), _) | (_, Err(_)) => {}
            }
        }
        typed
    }

    /// The text that the editor has of a file by one of these names, the first that it knows.
    async fn read(&self, path: PathBuf, names: Vec<PathBuf>) -> (PathBuf, Result<(PathBuf, String), AppError>) {
        let mut read = Err(AppError::new(Trouble::NotFound, "it has no name for it"));
        for name in names {
            read = self.editor().read(name.clone()).await.map(|text| (name, text));
            if read.is_ok() {
                break;
            }
        }
        (path, read)
    }

    fn unsaved(&self) -> MutexGuard<'_, BTreeMap<PathBuf, PathBuf>> {
        self.unsaved.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Links in a file's folder that lead to it.
fn links_beside(path: &Path) -> Vec<PathBuf> {
    let entries = path.parent().and_then(|folder| folder.read_dir().ok()).into_iter().flatten().take(MOST_NAMES);
    let links = entries.flatten().filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_symlink()));
    links.map(|link| link.path()).filter(|link| leads_to(link, path)).collect()
}

/// Whether a name is one of a resolved path, which may not exist yet.
pub(crate) fn leads_to(name: &Path, path: &Path) -> bool {
    let resolved = |name: &Path| name.canonicalize().ok();
    let in_folder = || Some(resolved(name.parent()?)?.join(name.file_name()?));
    name == path || resolved(name).or_else(in_folder).is_some_and(|resolved| resolved == path)
}

/// The mark that may stand before a text.
const MARK: char = '\u{feff}';

/// A text as it is in every editor: how lines end there is no change, nor is a mark before the first one.
pub(crate) fn plain(text: &str) -> String {
    text.trim_start_matches(MARK).replace("\r\n", "\n")
}

/// A text as it would be saved in the place of another one.
fn as_in(saved: &str, text: String) -> String {
    let marked = saved.starts_with(MARK) && !text.starts_with(MARK);
    let text = match saved.contains("\r\n") && !text.contains("\r\n") {
        true => text.replace('\n', "\r\n"),
        false => text,
    };
    if marked { format!("{MARK}{text}") } else { text }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_typed_would_be_saved_as_the_file_is() {
        assert_eq!(as_in("\u{feff}a\r\nb\r\n", "a\nc\n".to_owned()), "\u{feff}a\r\nc\r\n");
        assert_eq!(as_in("a\n", "b\n".to_owned()), "b\n");
        assert_eq!(plain("\u{feff}a\r\n"), plain("a\n"));
    }
}
