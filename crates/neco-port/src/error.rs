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
    #[error("{0} is a folder")]
    IntoFolder(String),
    /// The file is there.
    #[error("{0} is there already")]
    There(String),
    /// The folder of the file is not there.
    #[error("there is no folder {0}")]
    NoFolder(String),
    /// The file can't be written.
    #[error("{0} can't be written: {1}")]
    NotWritten(String, io::Error),
    /// A folder is named where a file is wanted.
    #[error("{0} is a folder")]
    IsFolder(String),
    /// The file can't be opened.
    #[error("{0} can't be read: {1}")]
    NotOpened(String, io::Error),
    /// The file can't be read to its end.
    #[error("{0} can't be read: {1}")]
    NotRead(String, io::Error),
    /// What is piped in has more bytes than any session.
    #[error("{0} can't be read: it does not end")]
    Endless(String),
    /// No program that is known writes such files.
    #[error("{0} is no session of Neco, {others}", others = Program::FOREIGN.map(Program::name).join(", "))]
    Nobodys(String),
    /// Nothing was said in it.
    #[error("{0} holds nothing that was said to {1} or by it")]
    Empty(String, &'static str),
    /// What Neco exported is not whole.
    #[error("{0} {1}")]
    Broken(String, JsonlError),
    /// An entry of a database is not there any more.
    #[error("{0} can't be read any more")]
    Gone(String),
    /// The database of opencode can't be read.
    #[error("the database of opencode can't be read: {0}")]
    Opencode(sqlx::Error),
    /// A database can't be read.
    #[error("the database {0} can't be read: {1}")]
    Database(String, sqlx::Error),
    /// A big output of a call can't be kept.
    #[error("a big output can't be kept in {0}: {1}")]
    Output(String, io::Error),
}
