//! What the agent is asked: the message of the command line and what is piped in.

use std::io::Read;
use std::time::Duration;

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::fs::FileType;

use crate::failure::Failure;
use crate::say;

/// The most that is read from stdin.
const MOST_BYTES: usize = 10 * 1024 * 1024;
/// How long a silent pipe is waited for when no terminal is there and there is a message already.
const SILENCE: Duration = Duration::from_secs(5);

/// What the agent is asked, and what the person should know about it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Message {
    /// The whole message.
    pub text: String,
    /// What should be said about it.
    pub warnings: Vec<String>,
}

/// Puts the message together. `attended` says that a person at a terminal can end the waiting.
///
/// # Errors
/// When there is no message or too much of it.
pub fn gather(written: Option<String>, attended: bool) -> Result<Message, Failure> {
    let written = written.filter(|text| !text.trim().is_empty());
    let mut warnings = Vec::new();
    let mut readable = readable_stdin();
    if readable && !speaks_within(SILENCE) {
        let silence = format!("stdin is open but silent for {} s", SILENCE.as_secs());
        if written.is_none() || attended {
            say::note(&format!("{silence}; still waiting for its end"));
        } else {
            warnings.push(format!("{silence}, so Neco goes on without it; add </dev/null to skip the wait"));
            readable = false;
        }
    }
    let piped = match readable {
        true => Some(decoded(read_all(std::io::stdin())?, &mut warnings)),
        false => None,
    };
    let text = joined(written, piped).ok_or_else(nothing_asked)?;
    Ok(Message { text, warnings })
}

/// A pipe or a file; nothing is expected from a terminal, a device or a socket.
fn readable_stdin() -> bool {
    let kind = rustix::fs::fstat(rustix::stdio::stdin()).map(|stat| FileType::from_raw_mode(stat.st_mode));
    matches!(kind, Ok(FileType::Fifo | FileType::RegularFile))
}

/// Whether stdin has something to read, or its end, within `patience`.
fn speaks_within(patience: Duration) -> bool {
    let stdin = rustix::stdio::stdin();
    let mut waited = [PollFd::new(&stdin, PollFlags::IN)];
    let Ok(limit) = Timespec::try_from(patience) else { return true };
    // When the system does not say, reading is what was meant.
    poll(&mut waited, Some(&limit)).map_or(true, |ready| ready > 0)
}

fn read_all(source: impl Read) -> Result<Vec<u8>, Failure> {
    let mut bytes = Vec::new();
    let most = u64::try_from(MOST_BYTES).unwrap_or(u64::MAX);
    source
        .take(most + 1)
        .read_to_end(&mut bytes)
        .map_err(|error| Failure::usage(format!("stdin can't be read: {error}")))?;
    if bytes.len() > MOST_BYTES {
        return Err(Failure::usage(format!("stdin has more than {} MB", MOST_BYTES / 1024 / 1024))
            .hint("Save it to a file in the workspace and name the file in the message."));
    }
    Ok(bytes)
}

fn decoded(bytes: Vec<u8>, warnings: &mut Vec<String>) -> String {
    String::from_utf8(bytes).unwrap_or_else(|error| {
        warnings.push("stdin is not UTF-8 text; what could not be read is replaced by \u{fffd}".to_owned());
        String::from_utf8_lossy(error.as_bytes()).into_owned()
    })
}

fn joined(written: Option<String>, piped: Option<String>) -> Option<String> {
    let piped = piped.filter(|text| !text.trim().is_empty());
    match (written, piped) {
        (Some(written), Some(piped)) => {
            let fence = fence(&piped);
            Some(format!("{written}\n\n{fence}\n{}\n{fence}", piped.trim_end_matches('\n')))
        }
        (written, piped) => written.or(piped),
    }
}

/// Longer than any fence inside.
fn fence(text: &str) -> String {
    let longest = text.lines().map(|line| line.trim_start().chars().take_while(|char| *char == '`').count()).max();
    "`".repeat(longest.unwrap_or_default().max(2) + 1)
}

fn nothing_asked() -> Failure {
    Failure::usage("there is nothing to do: no message was given").hint(
        "  neco -m \"fix the failing test\"     asks the agent\n  \
           neco demo                          shows what it does, offline\n  \
           neco doctor                        checks models and keys\n  \
           neco --help                        explains the rest",
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn piped_text_stands_behind_the_message() {
        let join = |written: Option<&str>, piped: Option<&str>| joined(written.map(Into::into), piped.map(Into::into));
        assert_eq!(join(Some("review"), Some("a\nb\n")).unwrap(), "review\n\n```\na\nb\n```");
        assert_eq!(join(Some("review"), Some("```rust\nx\n```\n")).unwrap(), "review\n\n````\n```rust\nx\n```\n````");
        assert_eq!(join(Some("review"), Some(" \n")).unwrap(), "review");
        assert_eq!(join(None, Some("do it\n")).unwrap(), "do it\n");
        assert_eq!(join(None, None), None);
    }

    #[test]
    fn too_much_is_refused_and_bytes_that_are_no_text_are_told() {
        assert!(read_all(std::io::repeat(b'x')).unwrap_err().message.contains("more than 10 MB"));
        let mut warnings = Vec::new();
        assert_eq!(decoded(b"a\xffb".to_vec(), &mut warnings), "a\u{fffd}b");
        assert_eq!(warnings.len(), 1);
    }
}
