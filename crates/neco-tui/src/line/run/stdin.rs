//! What the agent is asked: the message of the command line and what is piped in.

use std::io::Read;
use std::os::fd::AsFd;
use std::time::Duration;

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::fs::FileType;
use rustix::io::Errno;

use crate::line::say;
use neco_proto::Message as Said;
use neco_proto::app::{AppError, Trouble};

/// The most that is read from stdin.
const MOST_BYTES: usize = 10 * 1024 * 1024;
/// What stands for stdin as the message.
const STDIN: &str = "-";

/// What the agent is asked, and what the person should know about it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Message {
    /// The whole message.
    pub text: String,
    /// What should be said about it.
    pub warnings: Vec<String>,
}

/// Nothing can be asked so.
fn invalid(words: impl Into<String>) -> AppError {
    AppError::new(Trouble::Invalid, words)
}

/// How long a stdin that says nothing is waited for.
#[derive(Clone, Copy, Debug)]
struct Patience {
    /// Until it is said that something is waited for.
    until_said: Duration,
    /// Until nobody believes in it any more; `None` where a person can end the waiting.
    until_given_up: Option<Duration>,
}

impl Patience {
    /// A command in front of a pipe may well take minutes to its first line, and going on without what
    /// was piped in would be wrong. A pipe that nobody will ever write to or close must not hang a
    /// machine for ever either.
    fn new(attended: bool) -> Self {
        let given_up = Duration::from_secs(10 * 60);
        Self { until_said: Duration::from_secs(5), until_given_up: (!attended).then_some(given_up) }
    }
}

/// Puts the message together. `attended` says that a person at a terminal can end the waiting;
/// `goes_on`, that the message is for an earlier session.
pub fn gather(written: Option<String>, attended: bool, goes_on: bool) -> Result<Message, AppError> {
    let from_stdin = written.as_deref() == Some(STDIN);
    let written = written.filter(|text| !from_stdin && !text.trim().is_empty());
    let mut warnings = Vec::new();
    let bytes = match stdin_kind() {
        Some(FileType::Fifo | FileType::RegularFile) => Some(read_all(std::io::stdin(), Patience::new(attended))?),
        Some(_) if from_stdin => Some(read_all(std::io::stdin(), Patience::new(attended))?),
        // Nothing is expected from a terminal, a device or a socket.
        Some(_) | None => None,
    };
    let piped = bytes.map(|bytes| decoded(bytes, &mut warnings));
    let text = joined(written, piped).ok_or_else(|| nothing_asked(goes_on))?;
    Ok(Message { text, warnings })
}

fn stdin_kind() -> Option<FileType> {
    rustix::fs::fstat(rustix::stdio::stdin()).map(|stat| FileType::from_raw_mode(stat.st_mode)).ok()
}

/// Everything up to the end of `source`, which may be silent only so long at a time.
fn read_all(mut source: impl Read + AsFd, patience: Patience) -> Result<Vec<u8>, AppError> {
    let mut bytes = Vec::new();
    let mut piece = vec![0; 64 * 1024];
    let mut said = false;
    loop {
        wait_for(&source, patience, &mut said)?;
        let length = match source.read(&mut piece) {
            Ok(length) => length,
            Err(error) if error.kind() == std::io::ErrorKind::Interrupted => continue,
            Err(error) => return Err(invalid(format!("stdin can't be read: {error}"))),
        };
        bytes.extend_from_slice(piece.get(..length).unwrap_or_default());
        if length == 0 {
            return Ok(bytes);
        }
        if bytes.len() > MOST_BYTES {
            return Err(invalid(format!("stdin has more than {} MB", MOST_BYTES / 1024 / 1024))
                .hint("Save it to a file in the workspace and name the file in the message."));
        }
    }
}

/// Waits until there is something to read, or the end; says once that it does.
fn wait_for(source: &impl AsFd, patience: Patience, said: &mut bool) -> Result<(), AppError> {
    if speaks_within(source, Some(patience.until_said)) {
        return Ok(());
    }
    if !std::mem::replace(said, true) {
        let (so_far, end) = (patience.until_said.as_secs(), "its end; add </dev/null when nothing is piped in");
        say::note(&format!("stdin is open but silent for {so_far} s; waiting for {end}"));
    }
    let rest = patience.until_given_up.map(|limit| limit.saturating_sub(patience.until_said));
    if speaks_within(source, rest) {
        return Ok(());
    }
    let limit = patience.until_given_up.unwrap_or_default().as_secs();
    Err(invalid(format!("stdin stayed open and silent for {limit} s, so what is piped in is not known"))
        .hint("Close it, or add </dev/null when nothing is piped in."))
}

/// Whether there is something to read, or the end, within `limit`.
fn speaks_within(source: &impl AsFd, limit: Option<Duration>) -> bool {
    let limit = limit.and_then(|limit| Timespec::try_from(limit).ok());
    loop {
        let mut waited = [PollFd::new(source, PollFlags::IN)];
        match poll(&mut waited, limit.as_ref()) {
            Err(Errno::INTR) => {}
            Ok(ready) => return ready > 0,
            // When the system does not say, reading is what was meant.
            Err(_) => return true,
        }
    }
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
            Some(format!("{written}{}{fence}\n{}\n{fence}", Said::PIPED, piped.trim_end_matches('\n')))
        }
        (written, piped) => written.or(piped),
    }
}

/// Longer than any fence inside.
pub fn fence(text: &str) -> String {
    let longest = text.lines().map(|line| line.trim_start().chars().take_while(|char| *char == '`').count()).max();
    "`".repeat(longest.unwrap_or_default().max(2) + 1)
}

fn nothing_asked(goes_on: bool) -> AppError {
    if goes_on {
        return invalid("no message was given").hint(
            "  neco -c -m \"and now the docs\"      continues the last session of this folder\n  \
               neco -c -m continue                when it was interrupted or stopped at a limit",
        );
    }
    invalid("no message was given").hint(
        "  neco -m \"fix the failing test\"     asks the agent\n  \
           neco demo                          shows what it does, offline\n  \
           neco doctor                        checks models and keys\n  \
           neco --help                        explains the rest",
    )
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use super::*;

    #[test]
    fn piped_text_stands_behind_the_message() {
        let join = |written: Option<&str>, piped: Option<&str>| joined(written.map(Into::into), piped.map(Into::into));
        let review = |piped: &str| join(Some("review"), Some(piped)).unwrap();
        assert_eq!(review("a\nb\n"), "review\n\nThis is piped in:\n\n```\na\nb\n```");
        assert!(review("```rust\nx\n```\n").ends_with("\n\n````\n```rust\nx\n```\n````"));
        assert_eq!(Said::written(&review("$ship @secret.txt")), "review");
        assert_eq!(join(Some("review"), Some(" \n")).unwrap(), "review");
        assert_eq!(join(None, Some("do it\n")).unwrap(), "do it\n");
        assert_eq!(join(None, None), None);
    }

    #[test]
    fn too_much_is_refused_and_bytes_that_are_no_text_are_told() {
        let endless = std::fs::File::open("/dev/zero").unwrap();
        assert!(read_all(endless, Patience::new(true)).unwrap_err().message.contains("more than 10 MB"));
        let mut warnings = Vec::new();
        assert_eq!(decoded(b"a\xffb".to_vec(), &mut warnings), "a\u{fffd}b");
        assert_eq!(warnings.len(), 1);
    }

    #[test]
    fn a_pipe_that_speaks_late_is_read_and_one_that_stalls_is_an_error() {
        let patience =
            Patience { until_said: Duration::from_millis(1), until_given_up: Some(Duration::from_millis(50)) };
        let (source, mut pipe) = std::io::pipe().unwrap();
        pipe.write_all(b"one byte, then nothing").unwrap();
        let failure = read_all(source, patience).unwrap_err();
        assert!(failure.message.contains("silent") && failure.hint.unwrap().contains("</dev/null"));
        let (source, mut pipe) = std::io::pipe().unwrap();
        let writer = std::thread::spawn(move || {
            std::thread::sleep(Duration::from_millis(20));
            pipe.write_all(b"late").unwrap();
        });
        let long = Patience { until_given_up: Some(Duration::from_secs(30)), ..patience };
        assert_eq!(read_all(source, long).unwrap(), b"late");
        writer.join().unwrap();
    }

    #[test]
    fn who_goes_on_is_told_how() {
        assert!(nothing_asked(true).words().contains("neco -c -m continue"));
    }
}
