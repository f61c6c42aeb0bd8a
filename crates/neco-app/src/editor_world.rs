//! This machine as an editor shows it: what is typed there and not saved is what is read, and edits land there.
//!
//! Paths are resolved and judged on this machine all the same, and a text that the editor and the disk agree about is
//! the disk's: whoever looks at files in other ways sees the same one.

use std::fmt;
use std::io::Read;
use std::sync::Arc;

use futures::executor::block_on;
use neco_proto::app::opening::Editor;
use neco_safety::World;
use neco_safety::path::{Access, Attributes, Located, PathError, Replaced, Stamp};
use neco_safety::policy::Closed;
use neco_safety::world::{Content, Files, Net, Processes};

/// Files with more bytes are read from the disk alone: no editor has them open.
const MOST_BYTES: u64 = 4 * 1024 * 1024;

/// This machine, with the files that an editor has open.
#[derive(Clone)]
pub(crate) struct EditorWorld {
    local: Arc<dyn World>,
    editor: Editor,
}

impl fmt::Debug for EditorWorld {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("EditorWorld").field("local", &self.local).finish_non_exhaustive()
    }
}

impl EditorWorld {
    /// The world that an editor shows, if there is one.
    pub fn around(local: Arc<dyn World>, editor: Option<&Editor>) -> Arc<dyn World> {
        match editor {
            Some(editor) => Arc::new(Self { local, editor: editor.clone() }),
            None => local,
        }
    }

    /// What the editor has of a file that is on the disk as `saved`; nothing where that is the same, or it has none.
    fn unsaved(&self, file: &Located, saved: &str) -> Option<String> {
        if !self.editor.0.reads() {
            return None;
        }
        match block_on(self.editor.0.read(file.path().to_owned())) {
            Ok(text) => (plain(&text) != plain(saved)).then_some(text),
            Err(error) => {
                tracing::debug!(file = %file.shown(), %error, "the editor does not have it");
                None
            }
        }
    }

    /// Hands a text to the editor; `false` where it goes to the disk instead.
    fn hand_over(&self, file: &Located, content: &[u8], before: Option<&Stamp>) -> Result<bool, PathError> {
        let Ok(text) = std::str::from_utf8(content) else { return Ok(false) };
        let is_in_folder = file.path().parent().is_some_and(|folder| folder.is_dir());
        if !self.editor.0.writes() || !is_in_folder || content.len() as u64 > MOST_BYTES {
            return Ok(false);
        }
        let now = match self.open(file) {
            Ok((_, stamp)) => Some(stamp),
            Err(PathError::NotFound(_)) => None,
            Err(error) => return Err(error),
        };
        if now.as_ref() != before {
            return Err(PathError::Changed(file.shown()));
        }
        match block_on(self.editor.0.write(file.path().to_owned(), text.to_owned())) {
            Ok(()) => Ok(true),
            Err(error) => {
                tracing::info!(file = %file.shown(), %error, "the editor did not take it");
                Ok(false)
            }
        }
    }
}

/// A text as it is in every editor: how lines end there is no change, nor is a mark before the first one.
fn plain(text: &str) -> String {
    text.trim_start_matches('\u{feff}').replace("\r\n", "\n")
}

impl World for EditorWorld {
    fn files(&self) -> &Files {
        self.local.files()
    }

    fn processes(&self) -> &dyn Processes {
        self.local.processes()
    }

    fn net(&self) -> &dyn Net {
        self.local.net()
    }

    fn closing(&self, closed: &Closed) -> Arc<dyn World> {
        Arc::new(Self { local: self.local.closing(closed), editor: self.editor.clone() })
    }

    fn open(&self, file: &Located) -> Result<(Content, Stamp), PathError> {
        let (mut content, stamp) = self.local.open(file)?;
        if stamp.size() > MOST_BYTES || !self.editor.0.reads() {
            return Ok((content, stamp));
        }
        let mut saved = String::new();
        // What is no text is no editor's.
        if content.by_ref().take(MOST_BYTES).read_to_string(&mut saved).is_err() {
            return self.local.open(file);
        }
        match self.unsaved(file, &saved) {
            Some(text) => Ok(Content::text(text)),
            None => self.local.open(file),
        }
    }

    fn write(
        &self,
        file: &Located,
        content: &[u8],
        before: Option<&Stamp>,
        like: Option<&Attributes>,
    ) -> Result<Replaced, PathError> {
        // A file that takes over what another one has is made on the disk.
        if like.is_some() || !self.hand_over(file, content, before)? {
            return self.local.write(file, content, before, like);
        }
        // The editor may have put the text in order as it saved it.
        let located = self.files().locate(file.path(), Access::Read)?;
        let (_, stamp) = self.open(&located)?;
        if before == Some(&stamp) {
            return Err(PathError::NotAsWritten(file.shown()));
        }
        Ok(Replaced { stamp, other_names: 0 })
    }
}
