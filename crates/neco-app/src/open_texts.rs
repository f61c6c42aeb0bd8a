//! The texts that an editor has open and nobody saved, as far as the agents of a session came upon them: a checkpoint
//! keeps these, so that undoing an edit brings back what was typed before it.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{ErrorKind, Read};
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

/// Files with more bytes are no editor's: it is not asked about them, as it is not where agents read them.
const MOST_BYTES: u64 = 4 * 1024 * 1024;

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
        let hearing = Arc::clone(&texts);
        Unsaved::new(move |root, files| texts.typed_below(root, files))
            .hearing(move |root, files| hearing.put_back(root, files))
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
        let is_asked = |path: &Path| may_be_open(&root.join(path));
        let known = self.unsaved().iter().filter_map(inside).collect::<BTreeMap<PathBuf, Vec<PathBuf>>>();
        // What was never saved is known to the editor alone.
        let may_have = |path: &Path| is_asked(path) || is_nowhere(&root.join(path));
        let mut known: BTreeMap<_, _> = known.into_iter().filter(|(path, _)| may_have(path)).collect();
        for file in files.iter().filter(|file| is_asked(file)).take(MOST_ASKED) {
            known.entry(file.clone()).or_insert_with(|| self.names(&root.join(file), None));
        }
        let asked = known.into_iter().map(|(path, names)| self.read(path, names));
        let asked = futures::stream::iter(asked).buffered(AT_ONCE).collect::<Vec<_>>();
        let mut typed = Vec::new();
        for (path, text) in block_on(asked) {
            let file = root.join(&path);
            // Who does not answer has it as it was, for all that is known; what can't be read stays.
            let Ok((name, text)) = text else { continue };
            let saved = if is_nowhere(&file) { Some(String::new()) } else { text_of(&file) };
            let Some(saved) = saved else { continue };
            if plain(&text) == plain(&saved) {
                self.note(&file, None);
            } else {
                self.note(&file, Some(&name));
                typed.push((path, as_in(&saved, text).into_bytes()));
            }
        }
        typed
    }

    /// Files were put back on the disk: in those where something was typed, the editor has what stands there now. What was
    /// typed is in the state before that. May wait.
    fn put_back(&self, root: &Path, files: &[PathBuf]) {
        for file in files.iter().map(|file| root.join(file)) {
            let name =
                self.unsaved().get(&file).cloned().filter(|name| self.editor().writes() && leads_to(name, &file));
            let (Some(name), Some(text)) = (name, text_of(&file)) else { continue };
            match block_on(self.editor().write(name, text)) {
                Ok(()) => self.note(&file, None),
                Err(error) => tracing::info!(file = %file.display(), %error, "the editor keeps what is typed"),
            }
        }
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

/// Whether an editor may have this open: whatever is no file could keep us waiting for ever, or never end.
fn may_be_open(path: &Path) -> bool {
    path.symlink_metadata().is_ok_and(|facts| facts.is_file() && facts.len() <= MOST_BYTES)
}

/// Whether there is nothing of a name on this machine.
fn is_nowhere(path: &Path) -> bool {
    path.symlink_metadata().is_err_and(|error| error.kind() == ErrorKind::NotFound)
}

/// The text of a file that an editor may have open.
fn text_of(path: &Path) -> Option<String> {
    let file = if may_be_open(path) { File::open(path).ok()? } else { return None };
    let mut text = String::new();
    file.take(MOST_BYTES + 1).read_to_string(&mut text).ok()?;
    (text.len() as u64 <= MOST_BYTES).then_some(text)
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
    fn nothing_is_read_but_files_of_some_size() {
        let folder = tempfile::tempdir().unwrap();
        let (file, link) = (folder.path().join("a"), folder.path().join("b"));
        std::fs::write(&file, "a\n").unwrap();
        std::os::unix::fs::symlink("/dev/zero", &link).unwrap();
        assert_eq!(text_of(&file).as_deref(), Some("a\n"));
        File::options().write(true).open(&file).unwrap().set_len(MOST_BYTES + 1).unwrap();
        for path in [file.as_path(), &link, folder.path(), Path::new("/dev/zero"), Path::new("/no/such")] {
            assert_eq!(text_of(path), None, "{}", path.display());
        }
    }

    #[test]
    fn what_is_typed_would_be_saved_as_the_file_is() {
        assert_eq!(as_in("\u{feff}a\r\nb\r\n", "a\nc\n".to_owned()), "\u{feff}a\r\nc\r\n");
        assert_eq!(as_in("a\n", "b\n".to_owned()), "b\n");
        assert_eq!(plain("\u{feff}a\r\n"), plain("a\n"));
    }
}
