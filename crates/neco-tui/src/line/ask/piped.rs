//! Answers of a program that feeds lines, where there is no terminal to ask at: the next line is the answer.

use std::io::{self, BufRead};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};

use super::desk::TakeTyped;
use super::question::{Typed, Want};
use super::tty::Number;

/// Reads a line, without its end; nothing when there are no more.
type ReadLine = dyn Fn() -> Option<String> + Send + Sync;

/// Lines that are messages and answers by turns. What was read for a question that is not asked any more is the next
/// line of whoever reads on.
pub struct PipedLines {
    read_line: Box<ReadLine>,
    state: Mutex<State>,
    /// Told when a line was read in the background.
    read: Condvar,
}

#[derive(Default)]
struct State {
    /// Whether a thread reads a line.
    is_reading: bool,
    /// Who wants that line.
    wanted: Option<(Number, Want, TakeTyped)>,
    /// A line that nobody wanted any more when it was read.
    left: Option<String>,
}

impl PipedLines {
    /// The lines of stdin.
    pub fn of_stdin() -> Arc<Self> {
        Self::new(stdin_line)
    }

    fn new(read_line: impl Fn() -> Option<String> + Send + Sync + 'static) -> Arc<Self> {
        Arc::new(Self { read_line: Box::new(read_line), state: Mutex::default(), read: Condvar::new() })
    }

    /// The next line, without its end; nothing when there are no more.
    pub fn next_line(&self) -> Option<String> {
        let mut state = self.state();
        while state.is_reading {
            state = self.read.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
        let left = state.left.take();
        drop(state);
        left.or_else(|| (self.read_line)())
    }

    /// Reads the next line in the background and hands it to `take` as what was typed. What was wanted before and not
    /// read yet is not wanted any more.
    ///
    /// # Errors
    /// When there can be no thread that reads.
    pub fn ask(self: &Arc<Self>, number: Number, want: Want, take: &TakeTyped) -> io::Result<()> {
        let mut state = self.state();
        if !state.is_reading {
            let lines = Arc::clone(self);
            std::thread::Builder::new().name("lines".to_owned()).spawn(move || lines.read_answer())?;
            state.is_reading = true;
        }
        state.wanted = Some((number, want, Arc::clone(take)));
        Ok(())
    }

    /// Nothing is asked any more.
    pub fn withdraw(&self) {
        self.state().wanted = None;
    }

    fn read_answer(&self) {
        let left = self.state().left.take();
        let line = left.or_else(|| (self.read_line)());
        let mut state = self.state();
        state.is_reading = false;
        self.read.notify_all();
        match state.wanted.take() {
            Some((number, want, take)) => {
                // Whoever takes it may want the next line.
                drop(state);
                take(number, typed(want, line));
            }
            None => state.left = line,
        }
    }

    /// Nobody who has it leaves it half changed.
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn stdin_line() -> Option<String> {
    loop {
        let mut line = String::new();
        match io::stdin().lock().read_line(&mut line) {
            Ok(0) => return None,
            Ok(_) => return Some(line.trim_end_matches(['\n', '\r']).to_owned()),
            Err(error) if error.kind() == io::ErrorKind::InvalidData => {}
            Err(_) => return None,
        }
    }
}

/// What a line is to a question: where a key is wanted, a line of one character is that key, and an empty one is Enter.
fn typed(want: Want, line: Option<String>) -> Typed {
    let Some(line) = line else { return Typed::End };
    if want == Want::Line {
        return Typed::Line(line);
    }
    let mut characters = line.trim().chars();
    match (characters.next(), characters.next()) {
        (None, _) => Typed::Key('\n'),
        (Some(key), None) => Typed::Key(key),
        (Some(_), Some(_)) => Typed::Words,
    }
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc;

    use super::*;

    type Lines = mpsc::Sender<&'static str>;
    type Answers = mpsc::Receiver<(Number, Typed)>;

    /// Lines that come through a channel, and what was typed.
    fn piped() -> (Lines, Arc<PipedLines>, TakeTyped, Answers) {
        let (lines, fed) = mpsc::channel::<&str>();
        let (told, typed) = mpsc::channel();
        let fed = Mutex::new(fed);
        let piped = PipedLines::new(move || fed.lock().unwrap().recv().ok().map(str::to_owned));
        let take: TakeTyped = Arc::new(move |number, typed| told.send((number, typed)).unwrap());
        (lines, piped, take, typed)
    }

    #[test]
    fn the_next_line_is_the_answer_and_the_end_is_one_too() {
        let (lines, piped, take, typed) = piped();
        for (line, want, expected) in [
            ("1", Want::Key, Typed::Key('1')),
            (" y ", Want::Key, Typed::Key('y')),
            ("", Want::Key, Typed::Key('\n')),
            ("run the tests", Want::Key, Typed::Words),
            ("run the tests", Want::Line, Typed::Line("run the tests".to_owned())),
        ] {
            lines.send(line).unwrap();
            piped.ask(7, want, &take).unwrap();
            assert_eq!(typed.recv().unwrap(), (7, expected), "{line:?}");
        }
        lines.send("a message").unwrap();
        assert_eq!(piped.next_line().as_deref(), Some("a message"));
        drop(lines);
        piped.ask(8, Want::Key, &take).unwrap();
        assert_eq!(typed.recv().unwrap(), (8, Typed::End));
        assert_eq!(piped.next_line(), None);
    }

    #[test]
    fn a_line_answers_only_what_is_asked_when_it_comes() {
        let (lines, piped, take, typed) = piped();
        piped.ask(1, Want::Key, &take).unwrap();
        piped.ask(2, Want::Line, &take).unwrap();
        lines.send("first").unwrap();
        assert_eq!(typed.recv().unwrap(), (2, Typed::Line("first".to_owned())), "the older one is not wanted any more");
        piped.ask(3, Want::Key, &take).unwrap();
        piped.withdraw();
        lines.send("second").unwrap();
        assert_eq!(piped.next_line().as_deref(), Some("second"), "it is a message");
        assert!(typed.try_recv().is_err());
    }
}
