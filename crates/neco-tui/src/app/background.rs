//! The commands in the background of the session's agents, as they were when the session was asked last.

use neco_proto::BackgroundCommand;

/// What runs in the background, and what of that is over.
#[derive(Clone, Debug, Default)]
pub struct Background {
    /// Those of the root first.
    pub commands: Vec<BackgroundCommand>,
    /// Whether the person asked for the list, which opens when it comes.
    pub is_wanted: bool,
}

impl Background {
    /// Those that still run.
    pub fn running(&self) -> impl Iterator<Item = &BackgroundCommand> {
        self.commands.iter().filter(|command| command.runs())
    }
}
