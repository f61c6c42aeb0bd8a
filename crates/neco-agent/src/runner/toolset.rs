//! The tools that an agent has, which change only between turns.

use std::sync::Arc;

use neco_toolkit::{DynTool, Registry};

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
    pub(super) fn keep(&mut self, names: &[String], busy: bool) -> Option<Registry> {
        let kept = |tool: &&Arc<dyn DynTool>| names.iter().any(|name| name == tool.name());
        self.all = Registry::new(self.all.iter().filter(kept).cloned().collect());
        self.change(busy)
    }

    /// The tools of the turn that begins, if they are others than those of the last one.
    pub(super) fn begin_turn(&mut self) -> Option<Registry> {
        std::mem::take(&mut self.changed).then(|| self.registry())
    }

    fn change(&mut self, busy: bool) -> Option<Registry> {
        self.changed = busy;
        (!busy).then(|| self.registry())
    }
}
