//! The texts that an editor has open and nobody saved, as far as the agents of a session came upon them: a checkpoint
//! keeps these, so that undoing an edit brings back what was typed before it.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use futures::executor::block_on;
use futures::future::join_all;
use neco_proto::app::opening::{Editor, EditorFiles};
use neco_workspace::checkpoint::{Typed, Unsaved};

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
        Unsaved::new(move |root| texts.typed_below(root))
    }

    /// What is typed in files of a folder now, and not saved. May wait.
    fn typed_below(&self, root: &Path) -> Vec<Typed> {
        let inside =
            |(path, name): (&PathBuf, &PathBuf)| Some((path.strip_prefix(root).ok()?.to_owned(), name.clone()));
        let files: Vec<(PathBuf, PathBuf)> = self.unsaved().iter().filter_map(inside).collect();
        let asked = files.into_iter().map(|(path, name)| async { (path, self.editor().read(name).await) });
        let mut typed = Vec::new();
        for (path, text) in block_on(join_all(asked)) {
            let saved = std::fs::read_to_string(root.join(&path));
            match (text, saved) {
                (Ok(text), Ok(saved)) if plain(&text) != plain(&saved) => {
                    typed.push((path, as_in(&saved, text).into_bytes()))
                }
                (Ok(_), Ok(_)) => self.note(&root.join(path), None),
                // Who does not answer has it as it was, for all that is known; what is gone is gone.
                (Err(_), _) | (_, Err(_)) => {}
            }
        }
        typed
    }

    fn unsaved(&self) -> MutexGuard<'_, BTreeMap<PathBuf, PathBuf>> {
        self.unsaved.lock().unwrap_or_else(PoisonError::into_inner)
    }
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
