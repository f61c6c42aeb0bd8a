//! Files, and what comes of each.

use std::fs::File;
use std::io::{BufReader, Cursor, Read};
use std::path::Path;

use neco_proto::app::port::{ImportedSession, Program};

use super::format::{Record, records, written_by};
use super::found::{load, loaded};
use super::keep::Keeper;
use super::ours;
use crate::error::PortError;

/// Bytes of a file that tell its format: the first lines.
const LOOK: usize = 1024 * 1024;

/// Bytes that are taken from what is no file.
const MOST_PIPED: u64 = 256 * 1024 * 1024;

/// A file that is taken in.
#[derive(Clone, Copy, Debug)]
pub struct Taken<'a> {
    /// Where it lies.
    pub path: &'a Path,
    /// What it is called where that is not its path.
    pub name: Option<&'a str>,
    /// The program that wrote it; the file tells when nobody does.
    pub program: Option<Program>,
}

impl Keeper<'_> {
    /// Takes in a file. What is no file on a disk, as a pipe, can be read once.
    /// Fails when it can't be read or is nobody's session, or the store can't be written.
    pub async fn file(&self, taken: Taken<'_>) -> Result<ImportedSession, PortError> {
        let (path, program) = (taken.path, taken.program);
        let shown = taken.name.map_or_else(|| self.env.shown(path), str::to_owned);
        if !opened(path, &shown)?.metadata().is_ok_and(|facts| facts.is_file()) {
            return self.piped(opened(path, &shown)?, &shown, program).await;
        }
        let head = opened(path, &shown)?.take(LOOK as u64);
        let program = program.or_else(|| written_by(&records(BufReader::new(head)).unwrap_or_default()));
        if program == Some(Program::Neco) {
            return ours::take(self, &shown, || opened(path, &shown).map(BufReader::new)).await;
        }
        let lines = lines(BufReader::new(opened(path, &shown)?), &shown)?;
        let path = taken.name.is_none().then_some(path);
        self.of_lines(program.or_else(|| written_by(&lines)), lines, &shown, path).await
    }

    /// Takes in an entry of another program's database.
    /// Fails when it can't be read, or the store can't be written.
    pub async fn entry(&self, program: Program, file: &Path, entry: &str) -> Result<ImportedSession, PortError> {
        let shown = format!("{}#{entry}", file.display());
        let foreign = load(program, file, Some(entry)).await?;
        let foreign = foreign.ok_or_else(|| PortError::Gone(shown.clone()))?;
        self.foreign(program, foreign, &shown).await
    }

    async fn piped(
        &self,
        input: impl Read,
        shown: &str,
        program: Option<Program>,
    ) -> Result<ImportedSession, PortError> {
        let mut bytes = Vec::new();
        let read = input.take(MOST_PIPED + 1).read_to_end(&mut bytes);
        read.map_err(|error| PortError::NotRead(shown.to_owned(), error))?;
        if bytes.len() as u64 > MOST_PIPED {
            return Err(PortError::Endless(shown.to_owned()));
        }
        let lines = lines(Cursor::new(bytes.as_slice()), shown)?;
        match program.or_else(|| written_by(&lines)) {
            Some(Program::Neco) => ours::take(self, shown, || Ok(Cursor::new(bytes.as_slice()))).await,
            program => self.of_lines(program, lines, shown, None).await,
        }
    }

    async fn of_lines(
        &self,
        program: Option<Program>,
        lines: Vec<Record>,
        shown: &str,
        path: Option<&Path>,
    ) -> Result<ImportedSession, PortError> {
        let program = program.ok_or_else(|| PortError::Nobodys(shown.to_owned()))?;
        let foreign = loaded(program, lines, path).filter(|foreign| foreign.messages() > 0);
        let foreign = foreign.ok_or_else(|| PortError::Empty(shown.to_owned(), program.name()))?;
        let file =
            path.and_then(|path| path.canonicalize().ok()).map_or(shown.to_owned(), |path| path.display().to_string());
        self.foreign(program, foreign, &file).await
    }
}

fn opened(path: &Path, shown: &str) -> Result<File, PortError> {
    let file = File::open(path).and_then(|file| file.metadata().map(|data| (file, data.is_dir())));
    match file {
        Ok((file, false)) => Ok(file),
        Ok((_, true)) => Err(PortError::IsFolder(shown.to_owned())),
        Err(error) => Err(PortError::NotOpened(shown.to_owned(), error)),
    }
}

fn lines(input: impl std::io::BufRead, shown: &str) -> Result<Vec<Record>, PortError> {
    records(input).map_err(|error| PortError::NotRead(shown.to_owned(), error))
}
