//! This machine as an editor shows it: what is typed there and not saved is what is read, and edits land there.
//!
//! Paths are resolved and judged on this machine all the same, and a text that the editor and the disk agree about is
//! the disk's: whoever looks at files in other ways sees the same one. An editor is handed a file only where a local edit
//! would be made, and never one with several names, which it might save in place.

use std::fmt;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use futures::executor::block_on;
use futures::future::{BoxFuture, Either, select};
use neco_proto::CallId;
use neco_proto::app::{AppError, Trouble};
use neco_safety::World;
use neco_safety::path::{Attributes, Located, PathError, Replaced, Stamp};
use neco_safety::policy::Closed;
use neco_safety::world::{Content, Processes};
use tokio_util::sync::CancellationToken;

use crate::call_processes::CallProcesses;
use crate::open_texts::{OpenTexts, leads_to, plain};

/// Files with more bytes are read from the disk alone: no editor has them open.
const MOST_BYTES: u64 = 4 * 1024 * 1024;

/// This machine, with the files that an editor has open.
#[derive(Clone)]
pub(crate) struct EditorWorld {
    local: Arc<dyn World>,
    texts: Arc<OpenTexts>,
    /// Set when whoever waits for the editor is to stop.
    stopped: CancellationToken,
    /// The processes of the call that it is for.
    processes: Option<CallProcesses>,
}

impl fmt::Debug for EditorWorld {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("EditorWorld").field("local", &self.local).finish_non_exhaustive()
    }
}

/// A file, as it is on the disk and in the editor.
struct Seen {
    saved: String,
    /// The state of the file; nothing where something is typed that was never saved.
    stamp: Option<Stamp>,
    typed: Option<Typed>,
}

/// What is typed in a file and not saved.
struct Typed {
    text: String,
    /// The name that the editor has for the file.
    name: PathBuf,
}

impl Seen {
    fn stamp(&self) -> Option<Stamp> {
        self.typed.as_ref().map(|typed| Stamp::of_text(&typed.text)).or(self.stamp)
    }

    fn text(&self) -> &str {
        self.typed.as_ref().map_or(&self.saved, |typed| &typed.text)
    }
}

impl EditorWorld {
    /// The world that an editor shows, if there is one.
    pub fn around(local: Arc<dyn World>, texts: Option<&Arc<OpenTexts>>) -> Arc<dyn World> {
        match texts {
            Some(texts) => {
                let (texts, stopped) = (Arc::clone(texts), CancellationToken::new());
                Arc::new(Self { local, texts, stopped, processes: None })
            }
            None => local,
        }
    }

    /// Waits for the editor; nothing where that is to stop.
    fn wait<T>(&self, file: &Located, asked: BoxFuture<'static, T>) -> Result<T, PathError> {
        let stopped = std::pin::pin!(self.stopped.cancelled());
        match block_on(select(asked, stopped)) {
            Either::Left((answer, _)) => Ok(answer),
            Either::Right(_) => Err(PathError::Io { path: file.shown(), message: "the call was stopped".to_owned() }),
        }
    }

    /// A text, as it is on the disk and in the editor; what is no text, or long, is no editor's.
    fn look(&self, file: &Located) -> Result<Result<Seen, (Content, Stamp)>, PathError> {
        let (mut content, stamp) = match self.local.open(file) {
            Err(PathError::NotFound(shown)) => {
                let typed = self.typed(file, "")?.ok_or(PathError::NotFound(shown))?;
                return Ok(Ok(Seen { saved: String::new(), stamp: None, typed: Some(typed) }));
            }
            opened => opened?,
        };
        if stamp.size() > MOST_BYTES {
            return Ok(Err((content, stamp)));
        }
        let mut saved = Vec::with_capacity(usize::try_from(stamp.size()).unwrap_or(0));
        let read = content.by_ref().take(MOST_BYTES + 1).read_to_end(&mut saved);
        read.map_err(|error| PathError::Io { path: file.shown(), message: error.to_string() })?;
        if saved.len() as u64 > MOST_BYTES {
            return self.local.open(file).map(Err);
        }
        let saved = match String::from_utf8(saved) {
            Ok(saved) => saved,
            Err(error) => return Ok(Err((Content::bytes(error.into_bytes()), stamp))),
        };
        let typed = self.typed(file, &saved)?;
        Ok(Ok(Seen { saved, stamp: Some(stamp), typed }))
    }

    /// What the editor has of a file that is on the disk as `saved`; nothing where that is the same, or it has none.
    fn typed(&self, file: &Located, saved: &str) -> Result<Option<Typed>, PathError> {
        if !self.texts.editor().reads() {
            return Ok(None);
        }
        let saved = plain(saved);
        let mut has_answered = false;
        for name in self.texts.names(file.path(), Some(file.named())) {
            match self.wait(file, self.texts.editor().read(name.clone()))? {
                Ok(text) if plain(&text) != saved => {
                    still_leads_to(&name, file)?;
                    self.texts.note(file.path(), Some(&name));
                    return Ok(Some(Typed { text, name }));
                }
                Ok(_) => has_answered = true,
                Err(error) => tracing::debug!(file = %file.shown(), %error, "the editor does not have it"),
            }
        }
        if has_answered {
            self.texts.note(file.path(), None);
        }
        Ok(None)
    }

    /// Whether something is typed in a file and not saved.
    fn has_typed(&self, file: &Located) -> bool {
        matches!(self.look(file), Ok(Ok(Seen { typed: Some(_), .. })))
    }

    /// Hands a text to the editor.
    /// The error is what the editor said.
    fn hand_over(&self, file: &Located, seen: Option<&Seen>, text: &str) -> Result<Result<(), AppError>, PathError> {
        let names = match seen.and_then(|seen| seen.typed.as_ref()) {
            Some(typed) => vec![typed.name.clone()],
            None => self.texts.names(file.path(), Some(file.named())),
        };
        let mut refused = None;
        for name in names {
            still_leads_to(&name, file)?;
            match self.wait(file, self.texts.editor().write(name.clone(), text.to_owned()))? {
                // It went wherever the link led by then.
                Ok(()) => return still_leads_to(&name, file).map(Ok),
                // What was written elsewhere now would be lost when it is.
                Err(error) if error.trouble == Trouble::InUse => {
                    let message = "the editor has not said whether it saved the edit, and may still save it; ask the \
                                   user to look at it there, and read the file before you edit it again";
                    return Err(PathError::Io { path: file.shown(), message: message.to_owned() });
                }
                Err(error) => refused = Some(error),
            }
        }
        Ok(refused.map_or(Ok(()), Err))
    }
}

/// The refusal of what would take what is typed and not saved, with what else there is to say.
fn unsaved(file: &Located, more: &str) -> PathError {
    let message = format!("the user has changes of it in the editor that are not saved{more}; ask the user to save it");
    PathError::Io { path: file.shown(), message }
}

/// Fails where a link was made to lead elsewhere since the file was found by it: the editor goes wherever it leads.
fn still_leads_to(name: &Path, file: &Located) -> Result<(), PathError> {
    if leads_to(name, file.path()) { Ok(()) } else { Err(PathError::Swapped(file.shown())) }
}

impl World for EditorWorld {
    fn local(&self) -> &dyn World {
        self.local.as_ref()
    }

    fn processes(&self) -> &dyn Processes {
        self.processes.as_ref().map_or(self.local.processes(), |own| own)
    }

    fn closing(&self, closed: &Closed) -> Arc<dyn World> {
        let local = self.local.closing(closed);
        let processes = self.processes.as_ref().map(|own| CallProcesses { local: Arc::clone(&local), ..own.clone() });
        Arc::new(Self { local, processes, ..self.clone() })
    }

    fn for_call(&self, call: &CallId, stopped: &CancellationToken) -> Option<Arc<dyn World>> {
        let (local, texts) = (Arc::clone(&self.local), Arc::clone(&self.texts));
        let processes = Some(CallProcesses { local, texts, call: call.clone() });
        Some(Arc::new(Self { stopped: stopped.clone(), processes, ..self.clone() }))
    }

    fn has(&self, file: &Located) -> bool {
        file.exists() || self.look(file).is_ok()
    }

    fn check_remove(&self, file: &Located) -> Result<(), PathError> {
        if self.has_typed(file) { Err(unsaved(file, "")) } else { Ok(()) }
    }

    fn open(&self, file: &Located) -> Result<(Content, Stamp), PathError> {
        if !self.texts.editor().reads() {
            return self.local.open(file);
        }
        match self.look(file)? {
            Ok(Seen { typed: None, stamp: Some(stamp), saved }) => Ok((Content::bytes(saved.into_bytes()), stamp)),
            Ok(Seen { typed, .. }) => Ok(Content::text(typed.map(|typed| typed.text).unwrap_or_default())),
            Err(on_disk) => Ok(on_disk),
        }
    }

    fn write(
        &self,
        file: &Located,
        content: &[u8],
        before: Option<&Stamp>,
        like: Option<&Attributes>,
    ) -> Result<Replaced, PathError> {
        let locally = |before: Option<&Stamp>| match self.local.write(file, content, before, like) {
            Err(PathError::Changed(_)) if self.has_typed(file) => Err(unsaved(file, "")),
            written => written,
        };
        let Ok(text) = std::str::from_utf8(content) else { return locally(before) };
        let is_in_folder = file.path().parent().is_some_and(Path::is_dir);
        // A file that takes over what another one has is made on the disk.
        if like.is_some() || !self.texts.editor().writes() || !is_in_folder || content.len() as u64 > MOST_BYTES {
            return locally(before);
        }
        let seen = match self.look(file) {
            Ok(Ok(seen)) => Some(seen),
            Ok(Err(_)) => return locally(before),
            Err(PathError::NotFound(_)) => None,
            Err(error) => return Err(error),
        };
        if seen.as_ref().and_then(Seen::stamp).as_ref() != before {
            return Err(PathError::Changed(file.shown()));
        }
        let mut on_disk = seen.as_ref().and_then(|seen| seen.stamp);
        let other_names = file.check_replace(on_disk.as_ref())?;
        if let Some(seen) = seen.as_ref().filter(|_| other_names > 0) {
            // It becomes a file of its own first: the others may lie anywhere.
            on_disk = Some(self.local.write(file, seen.saved.as_bytes(), on_disk.as_ref(), None)?.stamp);
        }
        match self.hand_over(file, seen.as_ref(), text)? {
            Ok(()) => {}
            Err(error) if seen.as_ref().is_some_and(|seen| seen.typed.is_some()) => {
                return Err(unsaved(file, &format!(", and the editor did not take the edit ({error})")));
            }
            Err(error) if error.trouble == Trouble::NotAllowed && self.texts.editor().has_folder_of(file.path()) => {
                return Err(PathError::Io {
                    path: file.shown(),
                    message: format!("the editor did not take it: {error}"),
                });
            }
            Err(error) => {
                tracing::info!(file = %file.shown(), %error, "the editor did not take it");
                return Ok(Replaced { other_names, ..locally(on_disk.as_ref())? });
            }
        }
        // The editor may have put the text in order as it saved it.
        match self.look(file)? {
            Ok(now) => {
                let is_as_before = before.is_some() && before == now.stamp().as_ref();
                let stamp = now.stamp().filter(|_| !is_as_before || plain(now.text()) == plain(text));
                let stamp = stamp.ok_or_else(|| PathError::NotAsWritten(file.shown()))?;
                let instead = (now.text() != text).then(|| now.text().as_bytes().to_vec());
                Ok(Replaced { stamp, other_names, instead })
            }
            Err((_, stamp)) => Ok(Replaced { stamp, other_names, instead: None }),
        }
    }
}
