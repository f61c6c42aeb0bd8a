//! What is asked on the command line.

use std::ffi::OsString;
use std::fmt;
use std::path::PathBuf;
use std::time::Duration;

/// How it is called.
pub const USAGE: &str = "\
Runs a WASM module (WASI preview 1, `_start`) or component (`wasi:cli/run`), as .wasm or as .wat.

Usage: neco-wasm [OPTIONS] FILE [ARGUMENT]...

Options:
  --fuel N         Instructions that it may run, about; 20000000000 without it
  --memory MB      Memory that it may have; 256 without it
  --timeout S      Seconds that it may take; 600 without it

It reads its standard input, prints, and sees its arguments and the variables ARG_...: no files, no network.";

/// What is asked.
#[derive(Debug, PartialEq)]
pub enum Asked {
    /// To run something.
    Run(Options),
    /// How it is called.
    Help,
    /// Which one it is.
    Version,
}

/// What is run, and its limits.
#[derive(Debug, PartialEq)]
pub struct Options {
    /// Instructions, about.
    pub fuel: u64,
    /// Bytes of memory.
    pub memory: usize,
    /// How long it may take.
    pub timeout: Duration,
    /// The module or component.
    pub file: PathBuf,
    /// What it is told.
    pub arguments: Vec<String>,
}

/// Why nothing can be run.
#[derive(Debug, PartialEq, Eq)]
pub enum Misuse {
    /// Nothing is named.
    NoFile,
    /// An option that there is not.
    Unknown(String),
    /// An option without a number that it can have.
    NoNumber(String),
    /// An argument that is no text.
    NoText,
}

impl fmt::Display for Misuse {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoFile => f.write_str("there is no file to run"),
            Self::Unknown(option) => write!(f, "there is no option {option}"),
            Self::NoNumber(option) => write!(f, "{option} needs a whole number above 0"),
            Self::NoText => f.write_str("an argument is no text"),
        }
    }
}

/// Reads the command line without the name of the program. Options stand before the file; all behind it is the file's.
pub fn read(words: impl IntoIterator<Item = OsString>) -> Result<Asked, Misuse> {
    let mut words = words.into_iter();
    let (mut fuel, mut memory, mut seconds) = (20_000_000_000, 256, 600);
    loop {
        let word = words.next().ok_or(Misuse::NoFile)?;
        match word.to_str() {
            Some("--help" | "-h") => return Ok(Asked::Help),
            Some("--version" | "-V") => return Ok(Asked::Version),
            Some("--fuel") => fuel = number("--fuel", words.next())?,
            Some("--memory") => memory = number("--memory", words.next())?,
            Some("--timeout") => seconds = number("--timeout", words.next())?,
            Some(option) if option.starts_with('-') => return Err(Misuse::Unknown(option.to_owned())),
            Some(_) | None => {
                let arguments = words.map(|word| word.into_string().map_err(|_| Misuse::NoText));
                return Ok(Asked::Run(Options {
                    fuel,
                    memory: usize::try_from(memory).unwrap_or(usize::MAX).saturating_mul(1024 * 1024),
                    timeout: Duration::from_secs(seconds),
                    file: PathBuf::from(word),
                    arguments: arguments.collect::<Result<_, _>>()?,
                }));
            }
        }
    }
}

fn number(option: &str, word: Option<OsString>) -> Result<u64, Misuse> {
    let number = word.and_then(|word| word.to_str()?.parse().ok()).filter(|number| *number > 0);
    number.ok_or_else(|| Misuse::NoNumber(option.to_owned()))
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test that panics fails")]

    use super::*;

    fn read_words(line: &str) -> Result<Asked, Misuse> {
        read(line.split(' ').filter(|word| !word.is_empty()).map(OsString::from))
    }

    #[test]
    fn options_end_at_the_file() {
        let Asked::Run(options) = read_words("--memory 1 --fuel 5 a.wasm --timeout 3").unwrap() else { panic!() };
        assert_eq!((options.memory, options.fuel, options.timeout.as_secs()), (1024 * 1024, 5, 600));
        assert_eq!(options.arguments, ["--timeout", "3"]);
    }

    #[test]
    fn what_can_t_be_meant_is_refused() {
        assert_eq!(read_words(""), Err(Misuse::NoFile));
        assert_eq!(read_words("--fuel 0 a"), Err(Misuse::NoNumber("--fuel".to_owned())));
        assert_eq!(read_words("--fuel"), Err(Misuse::NoNumber("--fuel".to_owned())));
        assert_eq!(read_words("--dir / a"), Err(Misuse::Unknown("--dir".to_owned())));
    }
}
