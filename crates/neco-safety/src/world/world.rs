//! The world as a trait.

use std::fmt;
use std::fs::File;
use std::io::{self, Cursor, Read, Seek, SeekFrom};
use std::sync::Arc;

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
/// A world that changes nothing about files but holds what an editor has open:
///
/// ```
/// use std::collections::HashMap;
/// use std::path::PathBuf;
/// use std::sync::Arc;
///
/// use neco_safety::World;
/// use neco_safety::path::{Access, Located, PathError, Stamp};
/// use neco_safety::policy::Closed;
/// use neco_safety::world::{Content, Files, Net, Processes};
///
/// #[derive(Clone, Debug)]
/// struct Buffers {
///     local: Arc<dyn World>,
///     unsaved: HashMap<PathBuf, String>,
/// }
///
/// impl World for Buffers {
///     fn files(&self) -> &Files {
///         self.local.files()
///     }
///     fn processes(&self) -> &dyn Processes {
///         self.local.processes()
///     }
///     fn net(&self) -> &dyn Net {
///         self.local.net()
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
    /// Where paths lead.
    fn files(&self) -> &Files;

    /// What starts processes.
    fn processes(&self) -> &dyn Processes;

    /// The network.
    fn net(&self) -> &dyn Net;

    /// The same world for an agent whose rules close this besides.
    fn closing(&self, closed: &Closed) -> Arc<dyn World>;

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
}

/// The content of a file, to be read from its beginning.
#[derive(Debug)]
pub enum Content {
    /// It is on this machine.
    File(File),
    /// Somebody else had it.
    Text(Cursor<Vec<u8>>),
}

impl Content {
    /// A text that somebody else has, and the stamp by which it is known again.
    pub fn text(text: String) -> (Self, Stamp) {
        let stamp = Stamp::of_text(&text);
        (Self::Text(Cursor::new(text.into_bytes())), stamp)
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
