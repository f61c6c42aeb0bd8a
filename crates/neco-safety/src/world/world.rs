//! The world as a trait.

use std::fmt;
use std::fs::File;
use std::io::{self, Cursor, Read, Seek, SeekFrom};
use std::sync::Arc;

use neco_proto::CallId;
use tokio_util::sync::CancellationToken;

use super::files::Files;
use super::net::Net;
use super::process::Processes;
use crate::path::{Attributes, Located, PathError, Replaced, Stamp};
use crate::policy::Closed;

/// What one agent's tools can touch: this machine, or the files and terminals of an editor.
///
/// A path comes in as a [`Located`] only, which was resolved on this machine and lies inside a root, so path safety and
/// policy hold whoever has the text of the file. What no editor could provide (folders, searches, checkpoints) is not
/// here: tools do that on this machine.
///
/// A world of somebody else's has only what is different there; [`World::local`] has the rest. One that holds what an
/// editor has open:
///
/// ```
/// use std::collections::HashMap;
/// use std::path::PathBuf;
/// use std::sync::Arc;
///
/// use neco_safety::World;
/// use neco_safety::path::{Access, Located, PathError, Stamp};
/// use neco_safety::policy::Closed;
/// use neco_safety::world::Content;
///
/// #[derive(Clone, Debug)]
/// struct Buffers {
///     local: Arc<dyn World>,
///     unsaved: HashMap<PathBuf, String>,
/// }
///
/// impl World for Buffers {
///     fn local(&self) -> &dyn World {
///         self.local.as_ref()
///     }
///     fn open(&self, file: &Located) -> Result<(Content, Stamp), PathError> {
///         match self.unsaved.get(file.path()) {
///             Some(text) => Ok(Content::text(text.clone())),
///             None => self.local.open(file),
///         }
///     }
///     fn closing(&self, closed: &Closed) -> Arc<dyn World> {
///         Arc::new(Self { local: self.local.closing(closed), ..self.clone() })
///     }
/// }
///
/// fn shows_what_is_typed(local: Arc<dyn World>) -> Result<(), PathError> {
///     let file = local.files().locate("a.txt", Access::Read)?;
///     let unsaved = HashMap::from([(file.path().to_owned(), "being typed".to_owned())]);
///     let editor = Buffers { local, unsaved };
///     assert_eq!(editor.read(&file, 5)?.0, b"being");
///     Ok(())
/// }
/// ```
pub trait World: fmt::Debug + Send + Sync {
    /// The world that has everything which is not different here. This machine is its own, and has all of it.
    fn local(&self) -> &dyn World;

    /// Where paths lead.
    fn files(&self) -> &Files {
        self.local().files()
    }

    /// What starts processes.
    fn processes(&self) -> &dyn Processes {
        self.local().processes()
    }

    /// The network.
    fn net(&self) -> &dyn Net {
        self.local().net()
    }

    /// The same world for an agent whose rules close this besides.
    fn closing(&self, closed: &Closed) -> Arc<dyn World>;

    /// The same world for one call, which waits for nobody any more once that is stopped; nothing where it is the same
    /// for all calls.
    fn for_call(&self, _call: &CallId, _stopped: &CancellationToken) -> Option<Arc<dyn World>> {
        None
    }

    /// Whether a path leads to something: on this machine, or in what somebody else has. May wait.
    fn has(&self, file: &Located) -> bool {
        file.exists()
    }

    /// The content of a file and its state. May wait: not for a thread of the runtime.
    /// Fails as [`Located::open`].
    fn open(&self, file: &Located) -> Result<(Content, Stamp), PathError> {
        let opened = file.open()?;
        let metadata = opened.metadata().map_err(|error| PathError::from_io(file.shown(), &error))?;
        Ok((Content::File(opened), Stamp::of(&metadata)))
    }

    /// All of a file and its state before it was read. At most `limit` bytes are read, so a result longer than the
    /// caller accepts can be told apart by asking for one byte more. May wait.
    /// Fails as [`Located::open`].
    fn read(&self, file: &Located, limit: u64) -> Result<(Vec<u8>, Stamp), PathError> {
        let (content, stamp) = self.open(file)?;
        let mut bytes = Vec::with_capacity(usize::try_from(stamp.size().min(limit)).unwrap_or(0));
        let read = content.take(limit).read_to_end(&mut bytes);
        read.map_err(|error| PathError::from_io(file.shown(), &error))?;
        Ok((bytes, stamp))
    }

    /// Makes `content` the content of a file that is in the state `before`, `None` for no file at all; a new file gets
    /// the attributes of the one that it is `like`. May wait.
    /// Fails as [`Located::replace_like`].
    fn write(
        &self,
        file: &Located,
        content: &[u8],
        before: Option<&Stamp>,
        like: Option<&Attributes>,
    ) -> Result<Replaced, PathError> {
        file.replace_like(content, before, like)
    }

    /// Looks whether a file may go: somebody else may have what is not on this machine. May wait.
    /// The error is why it may not.
    fn check_remove(&self, _file: &Located) -> Result<(), PathError> {
        Ok(())
    }

    /// Removes a file that is in the state `before`. May wait.
    /// Fails as [`World::check_remove`] and [`Located::remove`].
    fn remove(&self, file: &Located, before: &Stamp) -> Result<(), PathError> {
        self.check_remove(file)?;
        file.remove(before)
    }
}

/// The content of a file, to be read from its beginning.
#[derive(Debug)]
pub enum Content {
    /// It is on this machine.
    File(File),
    /// It was read already, or somebody else had it.
    Text(Cursor<Vec<u8>>),
}

impl Content {
    /// A text that somebody else has, and the stamp by which it is known again.
    pub fn text(text: String) -> (Self, Stamp) {
        let stamp = Stamp::of_text(&text);
        (Self::bytes(text.into_bytes()), stamp)
    }

    /// What was read already.
    pub fn bytes(bytes: Vec<u8>) -> Self {
        Self::Text(Cursor::new(bytes))
    }
}

impl Read for Content {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        match self {
            Self::File(file) => file.read(buffer),
            Self::Text(text) => text.read(buffer),
        }
    }
}

impl Seek for Content {
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        match self {
            Self::File(file) => file.seek(to),
            Self::Text(text) => text.seek(to),
        }
    }
}
