//! The person's editor, which has the terminal while a window waits.

use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::path::Path;
use std::sync::Arc;

use serde_json::Value;

use crate::host::Edited;
use crate::line::ask::edit::{Draft, Saved};
use crate::line::ask::editor::{self, Open};
use crate::line::ask::revision;
use crate::line::signals::InterruptMask;

/// The editor of one window.
pub struct Editing {
    editor: OsString,
    mask: InterruptMask,
    open: Arc<Open>,
}

impl Editing {
    /// With the person's editor; interrupts are meant for it while it is open.
    pub fn new(editor: OsString, mask: InterruptMask) -> Self {
        Self { editor, mask, open: Arc::default() }
    }

    /// Opens a message; none when it stays as it is.
    ///
    /// # Errors
    /// In words, when the editor can't be used.
    pub async fn text(&self, text: String) -> Result<Option<String>, String> {
        let saved = self.saved(text.clone(), "message.md".to_owned()).await?;
        let saved = saved.trim_end_matches('\n').to_owned();
        Ok((saved != text).then_some(saved))
    }

    /// Opens the arguments of a call of `tool` for work in `folder`; none when they stay as they are.
    ///
    /// # Errors
    /// In words, when the editor can't be used or what it saved can't be understood.
    pub async fn call(&self, tool: &str, arguments: Value, folder: &Path) -> Result<Option<Edited>, String> {
        let draft = Draft::of(tool, &arguments);
        let saved = self.saved(draft.text.clone(), draft.file_name.clone()).await?;
        match draft.saved(&arguments, &saved)? {
            Saved::Same => Ok(None),
            Saved::Empty => Err("it is empty; nothing changed".to_owned()),
            Saved::Changed(arguments) => {
                let (tool, folder) = (tool.to_owned(), folder.to_owned());
                let compared = tokio::task::spawn_blocking(move || {
                    let diff = revision::diff(&tool, &arguments, &folder);
                    Edited { arguments, diff }
                });
                compared.await.map(Some).map_err(|error| error.to_string())
            }
        }
    }

    /// Opens a file itself, so that nobody but the editor writes it; whether it is another one now.
    ///
    /// # Errors
    /// In words, when the file or the editor can't be used.
    pub async fn file(&self, path: &Path) -> Result<bool, String> {
        let path = path.to_owned();
        self.in_front(move |editor, terminal, open| editor::edit_file(&path, editor, terminal, open)).await
    }

    /// Tells an editor that is open to end; what it has saved comes back then.
    pub fn end(&self) {
        self.open.end();
    }

    async fn saved(&self, text: String, name: String) -> Result<String, String> {
        self.in_front(move |editor, terminal, open| editor::edit(&text, &name, editor, terminal, open)).await
    }

    /// Lets `edit` have the terminal.
    async fn in_front<T: Send + 'static>(
        &self,
        edit: impl FnOnce(&OsStr, &File, &Open) -> Result<T, String> + Send + 'static,
    ) -> Result<T, String> {
        let (editor, mask) = (self.editor.clone(), self.mask.clone());
        let open = Arc::clone(&self.open);
        let edited = tokio::task::spawn_blocking(move || {
            let terminal = File::options().read(true).write(true).open("/dev/tty");
            let terminal = terminal.map_err(|error| format!("the terminal can't be used: {error}"))?;
            mask.during(|| edit(&editor, &terminal, &open))
        });
        edited.await.map_err(|error| error.to_string())?
    }
}
