//! The tools that an agent has, which change only between turns.

use neco_toolkit::Registry;

use crate::capability_level::CapabilityLevel;

/// All tools of an agent, of whatever level, and the level that it works at.
pub(super) struct Toolset {
    pub(super) level: CapabilityLevel,
    all: Registry,
    /// Whether the next turn has other tools than this one.
    changed: bool,
}

impl Toolset {
    pub(super) fn new(level: CapabilityLevel, all: Registry) -> Self {
        Self { level, all, changed: false }
    }

    /// The tools of its level.
    pub(super) fn registry(&self) -> Registry {
        self.level.narrow(&self.all)
    }

    /// Another level. The tools that hold at once, unless an answer is under way: its calls are those that it was told
    /// of.
    pub(super) fn set_level(&mut self, level: CapabilityLevel, busy: bool) -> Option<Registry> {
        self.level = level;
        self.change(busy)
    }

    /// Only these of its tools exist. The tools that hold at once, as above.
    pub(super) fn keep(&mut self, names: Vec<String>, busy: bool) -> Option<Registry> {
        self.all = self.all.filtered(move |tool| names.iter().any(|name| name == tool.name()));
        self.change(busy)
    }

    /// These are its tools from the next turn on.
    pub(super) fn replace(&mut self, all: Registry) {
        (self.all, self.changed) = (all, true);
    }

    /// The tools of the turn that begins, if they are others than those of the last one.
    pub(super) fn begin_turn(&mut self) -> Option<Registry> {
        let came_or_went = self.all.refresh();
        (std::mem::take(&mut self.changed) || came_or_went).then(|| self.registry())
    }

    fn change(&mut self, busy: bool) -> Option<Registry> {
        self.changed = busy;
        (!busy).then(|| self.registry())
    }
}
