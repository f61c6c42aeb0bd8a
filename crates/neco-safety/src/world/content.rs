//! The content of a file, wherever it is.

use std::fs::File;
use std::io::{self, Cursor, Read, Seek, SeekFrom};

use crate::path::Stamp;

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
