//! The entries of a list: what they say, and what they stand for.

use neco_proto::clean::{clean, clean_line};
use neco_proto::event::{NodeState, RewindWhat};
use neco_proto::{AgentId, CheckpointInfo, Command, QuestionId, Reply, RewindPoint, WorkflowId};
use neco_view::slash::Slash;
use neco_view::wording::Told;

use crate::host::SessionOrder;

/// Which sessions a list has.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Reach {
    /// Those of this folder.
    #[default]
    Folder,
    /// Those of all folders.
    Everywhere,
}

/// What an entry stands for.
#[derive(Clone, Debug, PartialEq)]
pub enum Picked {
    /// A message to go back to.
    Message(RewindPoint),
    /// What goes back.
    Rewind(RewindPoint, RewindWhat),
    /// The states of the files, to choose one.
    Checkpoints,
    /// A state of the files.
    Checkpoint(CheckpointInfo),
    /// Yes: this is to be done, and this message comes back into the field with it.
    Go(Box<Command>, Option<String>),
    /// No: nothing is.
    Leave,
    /// Work that was stopped goes on.
    GoOn,
    /// A session, by its id.
    Session(String),
    /// The letter that means it in the menu of the session with this id, and what is done to that: none goes back to the
    /// list.
    OfSession(char, Option<SessionOrder>, String),
    /// A model or group.
    Model(String),
    /// A rule; the id when it can be taken away.
    Rule(Option<String>),
    /// Another rule is to be written.
    NewRule,
    /// The rules that come with Neco, folded.
    BuiltInRules,
    /// An agent of the tree.
    Agent(AgentId),
    Workflow(WorkflowId),
    /// A command in the background: the agent that started it, and what it is called there.
    Background(AgentId, String),
    /// Something that can be done to an agent or a workflow, and the letter that means it in its menu.
    Order(char, Box<Command>),
    /// Something is to be written to an agent.
    Write(AgentId),
    /// Everything that the agent did which is looked at goes into the scrollback.
    Print(AgentId),
    /// A command after a slash.
    Slash(Box<Slash>),
    /// This is put into the field, to be gone on with.
    Fill(String),
    /// A file is to be changed in the editor.
    EditFile(String),
    /// An answer to a question that is asked with this list.
    Answer(QuestionId, Reply),
    /// Nothing: it is the name of what follows, or only tells something.
    Nothing,
}

/// What stands before an entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mark {
    /// How work stands, and whether it waits for an answer of the person.
    Work(NodeState, bool),
    /// It is what is used here.
    Used,
}

/// A column behind what the entries of a list are.
#[derive(Clone, Copy, Debug)]
pub struct Column {
    /// Whether its words end at its right edge, as numbers do.
    pub is_right: bool,
    /// Where there is no room for all columns those of the highest rank are left out first; rank 0 always stays.
    pub rank: u8,
}

#[derive(Clone, Debug, PartialEq)]
pub struct Entry {
    /// What stands before it.
    pub(super) mark: Option<Mark>,
    /// What it is.
    pub text: String,
    /// More about it.
    pub about: String,
    /// The same in the columns of its list.
    pub(super) cells: Vec<String>,
    /// What is told below the list while it is chosen.
    pub more: Vec<Told>,
    /// What it stands for.
    pub picked: Picked,
    /// Whether it is the name of what follows, and can't be chosen.
    pub(super) is_heading: bool,
    /// Whether it is listed only where something is searched for.
    pub(super) is_folded: bool,
}

impl Entry {
    /// An entry of these words.
    pub fn new(text: &str, about: &str, picked: Picked) -> Self {
        let (text, about) = (clean_line(text), clean_line(about));
        let (cells, more) = (Vec::new(), Vec::new());
        Self { mark: None, text, about, cells, more, picked, is_heading: false, is_folded: false }
    }

    /// An entry about which something is said in each column of its list.
    pub fn in_columns<const N: usize>(text: &str, cells: [String; N], picked: Picked) -> Self {
        Self { cells: cells.iter().map(|cell| clean_line(cell)).collect(), ..Self::new(text, "", picked) }
    }

    /// An entry about which something is said in columns: the blanks between those stay.
    pub fn aligned(text: &str, about: &str, picked: Picked) -> Self {
        Self { about: clean(about).replace(['\n', '\r', '\t'], " "), ..Self::new(text, "", picked) }
    }

    /// An entry whose first words are Neco's own and keep their blanks, which stand for columns.
    pub fn spaced(text: String, about: &str, picked: Picked) -> Self {
        Self { text, ..Self::new("", about, picked) }
    }

    /// The name of what follows.
    pub fn heading(text: &str) -> Self {
        Self { is_heading: true, ..Self::new(text, "", Picked::Nothing) }
    }

    /// The same, listed only where something is searched for.
    #[must_use]
    pub fn folded(mut self) -> Self {
        self.is_folded = true;
        self
    }

    /// The name of what follows, with those of the columns.
    pub fn heads<const N: usize>(text: &str, cells: [String; N]) -> Self {
        Self { is_heading: true, ..Self::in_columns(text, cells, Picked::Nothing) }
    }

    /// With what stands before it.
    #[must_use]
    pub fn marked(mut self, mark: Option<Mark>) -> Self {
        self.mark = mark;
        self
    }

    /// With what is told below the list while it is chosen.
    #[must_use]
    pub fn telling(mut self, more: Vec<Told>) -> Self {
        self.more = more;
        self
    }
}

/// What letters do in a list.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Letters {
    /// They narrow it down.
    #[default]
    Filter,
    /// They begin a message to the chosen agent; in the menu of one they choose.
    Command,
}
