//! What is measured: one file a topic.
//!
//! A topic adds its figures to the report as it gets them; an error means that the rest could not be
//! measured. What a script asks for is rehearsed first, so that no figure is the time of a refusal.
//!
//! Reading order: [`size`], [`start`], [`turns`], [`long`], [`parallel`], [`grep`], [`index`], [`checkpoints`].

mod checkpoints;
mod grep;
mod index;
mod long;
mod parallel;
mod size;
mod start;
mod turns;

use std::path::Path;

use crate::program::Program;
use crate::report::Report;

/// What every topic is given.
pub struct Setting<'a> {
    /// The program under test.
    pub program: &'a Program,
    /// Where runs write.
    pub folder: &'a Path,
}

/// What can be measured on its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub enum Topic {
    /// The size of the binary.
    Size,
    /// From the start of the process to the first request, and what that takes.
    Start,
    /// What one small turn costs besides the model.
    Turns,
    /// A run of 200 turns.
    Long,
    /// Eight reads in one turn.
    Parallel,
    /// Searching 20,000 files, beside ripgrep.
    Grep,
    /// The index of 50,000 files.
    Index,
    /// Keeping a workspace of 5,000 files, beside git.
    Checkpoints,
}

impl Topic {
    /// All of them, cheapest first.
    pub const ALL: &'static [Self] =
        &[Self::Size, Self::Start, Self::Turns, Self::Parallel, Self::Long, Self::Grep, Self::Checkpoints, Self::Index];

    /// Its name on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Self::Size => "size",
            Self::Start => "start",
            Self::Turns => "turns",
            Self::Long => "long",
            Self::Parallel => "parallel",
            Self::Grep => "grep",
            Self::Index => "index",
            Self::Checkpoints => "checkpoints",
        }
    }

    /// Measures it.
    pub fn measure(self, setting: &Setting<'_>, report: &mut Report) -> anyhow::Result<()> {
        match self {
            Self::Size => size::measure(setting, report),
            Self::Start => start::measure(setting, report),
            Self::Turns => turns::measure(setting, report),
            Self::Long => long::measure(setting, report),
            Self::Parallel => parallel::measure(setting, report),
            Self::Grep => grep::measure(setting, report),
            Self::Index => index::measure(setting, report),
            Self::Checkpoints => checkpoints::measure(setting, report),
        }
    }
}
