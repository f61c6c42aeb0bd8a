//! The layers, in the order the model reads them: what changes least comes first.

/// One layer of the system prompt.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Layer {
    /// Who the agent is and the rules that always hold.
    Base,
    /// What the mode asks of it.
    Mode,
    /// Where it works.
    Environment,
}
