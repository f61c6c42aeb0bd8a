//! What the terminal says of itself before anybody listens to the keys: the colour of its ground, and whether it has an
//! alternate screen.
//!
//! Behind the questions stands one that every terminal answers: nobody waits for an answer that does not come. What is
//! typed or pasted meanwhile comes with the answers, and is kept.

use std::io::{self, Write};
use std::os::fd::AsFd;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use crossterm::event::Event;
use rustix::event::{PollFd, PollFlags, Timespec, poll};

use super::early::{Early, Open};
use crate::theme::ThemeName;

/// Asks for the colour of the ground, for the mode of the alternate screen, what kind of terminal it is, and then where
/// the cursor is. Terminal.app writes a letter of the second question, which is erased. The third is asked for the sake of
/// answers that come too late: crossterm takes the second for the beginning of something, and keeps every key behind it
/// until it has read the third.
const QUESTION: &str = "\x1b]11;?\x1b\\\x1b[?1049$p\r\x1b[K\x1b[c\x1b[6n";

/// How long the next part of a paste, and of a key that is several bytes, may take.
const PASTE: Duration = Duration::from_secs(1);
const SEQUENCE: Duration = Duration::from_millis(30);

/// What is known of the alternate screen of a terminal.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Alternate {
    /// Nobody asked.
    #[default]
    NotAsked,
    /// It was asked and did not say. mosh has none, and says nothing; tmux has one, and says nothing either.
    Untold,
    /// It said whether it has one.
    Told(bool),
}

/// What the terminal of this process said of its alternate screen when it was asked last.
static ALTERNATE: Mutex<Alternate> = Mutex::new(Alternate::NotAsked);

/// What is known of the alternate screen of this process's terminal.
pub fn alternate() -> Alternate {
    *ALTERNATE.lock().unwrap_or_else(PoisonError::into_inner)
}

/// What a terminal told when it was asked for its ground.
#[derive(Debug, Default)]
pub struct Told {
    /// The colour, where it told one.
    pub colour: Option<[u8; 3]>,
    /// What it told of its alternate screen.
    pub alternate: Alternate,
    /// What was typed and pasted meanwhile.
    pub events: Vec<Event>,
}

impl Told {
    /// The theme that fits; the one of sixteen colours where nothing was told.
    pub fn theme(&self) -> ThemeName {
        self.colour.map_or(ThemeName::Sixteen, ThemeName::fitting)
    }
}

/// Asks the terminal of this process for its ground and its alternate screen. `patience` is how long the answers may
/// take.
pub fn ask(patience: Duration) -> Told {
    let told = ask_at(&io::stdin(), &mut io::stdout(), patience);
    *ALTERNATE.lock().unwrap_or_else(PoisonError::into_inner) = told.alternate;
    told
}

fn ask_at(from: &impl AsFd, out: &mut impl Write, patience: Duration) -> Told {
    if out.write_all(QUESTION.as_bytes()).and_then(|()| out.flush()).is_err() {
        return Told::default();
    }
    let by = Instant::now() + patience;
    let (mut bytes, mut early) = (Vec::new(), Early::default());
    loop {
        let wait = match early.open {
            Some(Open::Paste) => PASTE,
            Some(Open::Sequence) if early.is_answered => SEQUENCE,
            None if early.is_answered => break,
            Some(Open::Sequence) | None => by.saturating_duration_since(Instant::now()),
        };
        let mut some = [0; 4096];
        if !has_bytes(from, wait) {
            break;
        }
        let Some(count) = rustix::io::read(from, &mut some).ok().filter(|count| *count > 0) else { break };
        bytes.extend(some.into_iter().take(count));
        // Of a long paste only the end tells something new.
        if early.open != Some(Open::Paste) || some.contains(&b'~') {
            early = Early::read(&bytes);
        }
    }
    // What never came to its end was written all the same.
    if early.open == Some(Open::Paste) {
        early = Early::read(&[bytes.as_slice(), b"\x1b[201~"].concat());
    }
    let alternate = early.has_alternate.map_or(Alternate::Untold, Alternate::Told);
    Told { colour: early.colour, alternate, events: early.events }
}

fn has_bytes(from: &impl AsFd, within: Duration) -> bool {
    let Ok(within) = Timespec::try_from(within) else { return false };
    let mut fds = [PollFd::new(from, PollFlags::IN)];
    poll(&mut fds, Some(&within)).is_ok_and(|ready| ready > 0)
}

#[cfg(test)]
mod tests {
    use std::os::unix::net::UnixStream;

    use crossterm::event::{KeyCode, KeyEvent, KeyModifiers};

    use super::*;

    /// What is told when these parts come one after the other.
    fn told(parts: &'static [&'static [u8]]) -> Told {
        let (mut theirs, ours) = UnixStream::pair().unwrap();
        let writes = std::thread::spawn(move || {
            for part in parts {
                theirs.write_all(part).unwrap();
                std::thread::sleep(Duration::from_millis(5));
            }
            theirs
        });
        let told = ask_at(&ours, &mut Vec::new(), Duration::from_secs(20));
        drop(writes.join());
        told
    }

    #[test]
    fn what_is_typed_and_pasted_while_it_answers_is_kept() {
        let told = told(&[
            b"f\xc3",
            b"\xa9\x1b[200~a long",
            b" paste\r~ 24;1R\r",
            b"of lines\x1b[20",
            b"1~\x1b]11;rgb:fd/fb/f8\x1b\\\x1b[24;",
            b"1R\x1b[13;2",
            b"u",
        ]);
        let key = |code, modifiers| Event::Key(KeyEvent::new(code, modifiers));
        let expected = [
            key(KeyCode::Char('f'), KeyModifiers::NONE),
            key(KeyCode::Char('é'), KeyModifiers::NONE),
            Event::Paste("a long paste\r~ 24;1R\rof lines".to_owned()),
            key(KeyCode::Enter, KeyModifiers::SHIFT),
        ];
        assert_eq!((told.events.as_slice(), told.theme()), (expected.as_slice(), ThemeName::Light));
    }

    #[test]
    fn what_it_says_of_its_alternate_screen_is_known() {
        assert_eq!(told(&[b"\x1b[?1049;2$y", b"\x1b[?62;4c\x1b[1;1R"]).alternate, Alternate::Told(true));
        assert_eq!(told(&[b"\x1b[?1049;0$y\x1b[1;1R"]).alternate, Alternate::Told(false));
        let silent = told(&[b"\x1b[?62;4c\x1b[1;1Rx"]);
        assert_eq!((silent.alternate, silent.events.len()), (Alternate::Untold, 1));
    }

    #[test]
    fn a_terminal_that_says_nothing_of_its_ground_has_sixteen_colours() {
        assert_eq!(told(&[b"\x1b[1;1R"]).theme(), ThemeName::Sixteen);
        assert_eq!(told(&[b"\x1b]11;rgb:1414/1111/0e0e\x07\x1b[1;1R"]).theme(), ThemeName::Dark);
    }
}
