//! Why a session can't be written or taken in.

use std::io;

use neco_proto::app::port::Program;
use neco_session::SessionError;
use neco_store::StoreError;

use crate::export::jsonl::JsonlError;

/// Why a session can't be written or taken in.
#[derive(Debug, thiserror::Error)]
pub enum PortError {
    /// The store failed.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// The session can't be had.
    #[error(transparent)]
    Session(#[from] SessionError),
    /// A folder is where the file should be.
    #[error("{file} is a folder")]
    IntoFolder {
        /// The folder.
        file: String,
    },
    /// The file is there.
    #[error("{file} is there already")]
    There {
        /// The file.
        file: String,
    },
    /// The folder of the file is not there.
    #[error("there is no folder {folder}")]
    NoFolder {
        /// The folder.
        folder: String,
    },
    /// The file can't be written.
    #[error("{file} can't be written: {error}")]
    NotWritten {
        /// The file.
        file: String,
        /// Why.
        error: io::Error,
    },
    /// A folder is named where a file is wanted.
    #[error("{file} is a folder")]
    IsFolder {
        /// The folder.
        file: String,
    },
    /// The file can't be opened.
    #[error("{file} can't be read: {error}")]
    NotOpened {
        /// The file.
        file: String,
        /// Why.
        error: io::Error,
    },
    /// The file can't be read to its end.
    #[error("{file} can't be read: {error}")]
    NotRead {
        /// The file.
        file: String,
        /// Why.
        error: io::Error,
    },
    /// What is piped in has more bytes than any session.
    #[error("{file} can't be read: it does not end")]
    Endless {
        /// What it is called.
        file: String,
    },
    /// No program that is known writes such files.
    #[error("{file} is no session of Neco, {}", Program::FOREIGN.map(Program::name).join(", "))]
    Nobodys {
        /// The file.
        file: String,
    },
    /// Nothing was said in it.
    #[error("{file} holds nothing that was said to {program} or by it")]
    Empty {
        /// The file.
        file: String,
        /// The program that wrote it.
        program: &'static str,
    },
    /// What Neco exported is not whole.
    #[error("{file} {error}")]
    Broken {
        /// The file.
        file: String,
        /// What is wrong with it.
        error: JsonlError,
    },
    /// An entry of a database is not there any more.
    #[error("{file} can't be read any more")]
    Gone {
        /// The database and the entry.
        file: String,
    },
    /// The database of opencode can't be read.
    #[error("the database of opencode can't be read: {0}")]
    Opencode(sqlx::Error),
    /// A database can't be read.
    #[error("the database {file} can't be read: {error}")]
    Database {
        /// The database.
        file: String,
        /// Why.
        error: sqlx::Error,
    },
    /// A big output of a call can't be kept.
    #[error("a big output can't be kept in {folder}: {error}")]
    Output {
        /// Where.
        folder: String,
        /// Why.
        error: io::Error,
    },
}
