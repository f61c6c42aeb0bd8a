//! What is measured: one file a topic.
//!
//! A topic adds its figures to the report as it gets them; an error means that the rest could not be
//! measured. What a script asks for is rehearsed first, so that no figure is the time of a refusal.
//!
//! Reading order: [`size`], [`start`], [`turns`], [`boxes`], [`calls`], [`deltas`], [`long`], [`parallel`], [`mcp`],
//! [`skills`], [`editors`], [`mod@server`], [`grep`], [`index`], [`checkpoints`], [`peers`].

mod boxes;
mod calls;
mod checkpoints;
mod deltas;
mod editors;
mod grep;
mod index;
mod long;
mod mcp;
mod parallel;
mod peers;
mod server;
mod size;
mod skills;
mod start;
pub mod turns;

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
    /// What the box of commands costs a turn.
    Boxes,
    /// System calls of a turn.
    Calls,
    /// An answer of 4,000 pieces.
    Deltas,
    /// A run of 200 turns.
    Long,
    /// Eight reads in one turn.
    Parallel,
    /// MCP servers: a hundred that nobody needs, and a call of one.
    Mcp,
    /// Five hundred skills and two hundred commands that nobody uses.
    Skills,
    /// Neco in an editor: its first answer, and a session of 5,000 messages that is loaded.
    Editors,
    /// `neco serve` with 10,000 sessions kept, 200 of them at work, and 1,000 clients that follow.
    Server,
    /// Searching 20,000 files, beside ripgrep.
    Grep,
    /// The index of 50,000 files.
    Index,
    /// Keeping a workspace of 5,000 files, beside git.
    Checkpoints,
    /// Other agents with the same model; npm installs them, so this is only measured when it is asked for.
    Peers,
}

impl Topic {
    /// All that need nothing from the network, cheapest first.
    pub const ALL: &'static [Self] = &[
        Self::Size,
        Self::Start,
        Self::Turns,
        Self::Boxes,
        Self::Calls,
        Self::Deltas,
        Self::Parallel,
        Self::Mcp,
        Self::Skills,
        Self::Editors,
        Self::Server,
        Self::Long,
        Self::Grep,
        Self::Checkpoints,
        Self::Index,
    ];

    /// Its name on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Self::Size => "size",
            Self::Start => "start",
            Self::Turns => "turns",
            Self::Boxes => "boxes",
            Self::Calls => "calls",
            Self::Deltas => "deltas",
            Self::Long => "long",
            Self::Parallel => "parallel",
            Self::Mcp => "mcp",
            Self::Skills => "skills",
            Self::Editors => "editors",
            Self::Server => "server",
            Self::Grep => "grep",
            Self::Index => "index",
            Self::Checkpoints => "checkpoints",
            Self::Peers => "peers",
        }
    }

    /// Measures it.
    pub fn measure(self, setting: &Setting<'_>, report: &mut Report) -> anyhow::Result<()> {
        match self {
            Self::Size => size::measure(setting, report),
            Self::Start => start::measure(setting, report),
            Self::Turns => turns::measure(setting, report),
            Self::Boxes => boxes::measure(setting, report),
            Self::Calls => calls::measure(setting, report),
            Self::Deltas => deltas::measure(setting, report),
            Self::Long => long::measure(setting, report),
            Self::Parallel => parallel::measure(setting, report),
            Self::Mcp => mcp::measure(setting, report),
            Self::Skills => skills::measure(setting, report),
            Self::Editors => editors::measure(setting, report),
            Self::Server => server::measure(setting, report),
            Self::Grep => grep::measure(setting, report),
            Self::Index => index::measure(setting, report),
            Self::Checkpoints => checkpoints::measure(setting, report),
            Self::Peers => peers::measure(setting, report),
        }
    }
}
