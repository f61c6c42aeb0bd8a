//! Live output of a command: the first lines as they come, the last ones at the end.

use std::collections::VecDeque;

use neco_proto::clean::{Cleaner, clean};

/// Lines that are shown as they come.
const HEAD: usize = 10;
/// Lines that are shown at the end of an output that is longer.
const TAIL: usize = 10;
/// Characters of one line; the rest of it is left out.
const LONGEST_LINE: usize = 400;

/// The output of one call.
#[derive(Debug, Default)]
pub struct Tail {
    cleaner: Cleaner,
    line: String,
    /// Characters in `line`, which never grows far beyond what is shown of it.
    length: usize,
    /// A carriage return came: what follows stands over the line, unless it is a line end.
    returned: bool,
    shown: usize,
    held: VecDeque<String>,
    left_out: usize,
}

impl Tail {
    /// Takes the next piece; gives the lines to show now.
    pub fn push(&mut self, piece: &str) -> Vec<String> {
        let mut lines = Vec::new();
        for char in self.cleaner.push(piece).chars() {
            match char {
                '\n' => {
                    (self.returned, self.length) = (false, 0);
                    let line = std::mem::take(&mut self.line);
                    lines.extend(self.take(line));
                }
                '\r' => self.returned = true,
                char => {
                    if std::mem::take(&mut self.returned) {
                        self.line.clear();
                        self.length = 0;
                    }
                    if self.length <= LONGEST_LINE {
                        self.line.push(char);
                        self.length += 1;
                    }
                }
            }
        }
        lines
    }

    /// The lines to show at the end.
    pub fn finish(&mut self) -> Vec<String> {
        self.length = 0;
        let last = std::mem::take(&mut self.line);
        let mut lines: Vec<String> = if last.trim().is_empty() { None } else { self.take(last) }.into_iter().collect();
        if self.left_out > 0 {
            lines.push(format!("… {} lines left out …", self.left_out));
        }
        lines.extend(self.held.drain(..));
        lines
    }

    /// The lines to show at the end of an output that ends with `end`: where what came stops before that, its last lines
    /// are those of the end.
    pub fn finish_with(&mut self, end: &str) -> Vec<String> {
        let rest = self.finish();
        let end = clean(end);
        let mut last: Vec<String> = end.trim_end().lines().rev().take(TAIL).map(shortened).collect();
        if self.shown < HEAD || last.is_empty() || rest.last() == last.first() {
            return rest;
        }
        last.push("… lines left out …".to_owned());
        last.reverse();
        last
    }

    /// Whether nothing has come.
    pub fn is_empty(&self) -> bool {
        self.shown == 0 && self.line.trim().is_empty()
    }

    /// Now, or held back.
    fn take(&mut self, line: String) -> Option<String> {
        let line = shortened(&line);
        if self.shown < HEAD {
            self.shown += 1;
            return Some(line);
        }
        self.held.push_back(line);
        if self.held.len() > TAIL {
            self.held.pop_front();
            self.left_out += 1;
        }
        None
    }
}

fn shortened(line: &str) -> String {
    let line = line.trim_end();
    match line.char_indices().nth(LONGEST_LINE) {
        Some((at, _)) => format!("{}…", line.get(..at).unwrap_or_default()),
        None => line.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn short_output_is_shown_as_it_comes() {
        let mut tail = Tail::default();
        assert!(tail.is_empty());
        assert_eq!(tail.push("one\ntw"), ["one"]);
        assert_eq!(tail.push("o\n\u{1b}[31mthr"), ["two"]);
        assert_eq!(tail.push("ee"), Vec::<String>::new());
        assert_eq!(tail.finish(), ["three"]);
    }

    #[test]
    fn long_output_shows_its_ends() {
        let mut tail = Tail::default();
        let mut lines = tail.push(&(1..=1000).map(|number| format!("{number}\n")).collect::<String>());
        lines.extend(tail.finish());
        assert_eq!(lines.len(), HEAD + TAIL + 1);
        assert_eq!(lines[HEAD], "… 980 lines left out …");
        assert_eq!(lines.last().unwrap(), "1000");
    }

    #[test]
    fn what_did_not_come_live_still_ends_with_its_end() {
        let numbers = |from: u32, to: u32| (from..=to).map(|number| format!("{number}\n")).collect::<String>();
        let mut tail = Tail::default();
        tail.push(&numbers(1, 500));
        let lines = tail.finish_with(&numbers(900, 1000));
        assert_eq!((lines[0].as_str(), lines.len()), ("… lines left out …", TAIL + 1));
        assert_eq!((lines[1].as_str(), lines[TAIL].as_str()), ("991", "1000"));
        let mut whole = Tail::default();
        whole.push(&numbers(1, 1000));
        assert_eq!(whole.finish_with(&numbers(900, 1000))[0], "… 980 lines left out …");
        let mut short = Tail::default();
        short.push("one\ntwo");
        assert_eq!(short.finish_with("one\ntwo"), ["two"]);
    }

    #[test]
    fn a_line_that_never_ends_takes_no_memory() {
        let mut tail = Tail::default();
        for _ in 0..100 {
            tail.push(&"x".repeat(10_000));
        }
        assert!(tail.line.len() <= LONGEST_LINE + 1);
        assert_eq!(tail.push("\rnew\n"), ["new"]);
        assert_eq!(tail.push("next\n"), ["next"]);
    }

    #[test]
    fn a_progress_line_counts_once() {
        let mut tail = Tail::default();
        assert_eq!(tail.push("10%\r50%\r100%\r\ndone\r\n"), ["100%", "done"]);
        assert_eq!(tail.push(&format!("{}\n", "x".repeat(2000)))[0].chars().count(), LONGEST_LINE + 1);
    }
}
