//! Where questions are written and their answers are read.

use std::fs::File;
use std::io;
use std::sync::Arc;

use super::desk::TakeTyped;
use super::piped::PipedLines;
use super::question::{Typed, Want};
use super::tty::{Number, Tty};
use crate::line::say::out;

/// The way to whoever answers.
pub enum Channel {
    /// A person at a terminal.
    Terminal(Tty),
    /// A program that reads stdout and feeds lines.
    Lines(Arc<PipedLines>),
}

impl Channel {
    /// Reads a key or a line in the background and hands it to `take`.
    pub(super) fn read(&mut self, number: Number, want: Want, take: &TakeTyped) -> io::Result<()> {
        match self {
            Self::Terminal(tty) => tty.read(number, want, take),
            Self::Lines(lines) => lines.ask(number, want, take),
        }
    }

    /// Ends the line of the prompt, where nothing shows what was typed.
    pub(super) fn answered(&mut self, typed: &Typed) {
        if matches!((&*self, typed), (Self::Lines(_), Typed::Line(_))) {
            self.write("\n");
        }
    }

    pub(super) fn write(&mut self, text: &str) {
        match self {
            Self::Terminal(tty) => tty.write(text),
            // Whoever does not read what is asked still answers it, or ends its lines.
            Self::Lines(_) => drop(out(text)),
        }
    }

    /// Rows and columns, where there are any.
    pub(super) fn size(&self) -> Option<(usize, usize)> {
        match self {
            Self::Terminal(tty) => tty.size(),
            Self::Lines(_) => None,
        }
    }

    /// What a person typed before a question is shown is no answer to it; what a program sent is.
    pub(super) fn forget_typed(&self) {
        match self {
            Self::Terminal(tty) => tty.forget_typed(),
            Self::Lines(_) => {}
        }
    }

    /// The terminal for a program in the foreground.
    pub(super) fn lend(&self) -> io::Result<File> {
        match self {
            Self::Terminal(tty) => tty.lend(),
            Self::Lines(_) => Err(io::Error::other("there is none")),
        }
    }

    /// Nothing is asked: a terminal is left as it was found, and the next line is no answer.
    pub(super) fn restore(&self) {
        match self {
            Self::Terminal(tty) => tty.restore(),
            Self::Lines(lines) => lines.withdraw(),
        }
    }
}

impl Drop for Channel {
    fn drop(&mut self) {
        if let Self::Lines(lines) = self {
            lines.withdraw();
        }
    }
}
