//! How an agent works now: its mode, when the person is asked, and as whom it is judged.

use std::sync::Arc;

use neco_proto::event::ModeChange;
use neco_proto::{Actor, ApprovalMode, EventBody, GrantedRule, Mode, SessionRules};
use neco_safety::{Policy, Who};
use neco_toolkit::Registry;

use super::reports::Reports;
use super::setup::Settings;
use crate::capability_level::CapabilityLevel;
use crate::ports::SinkError;

/// The settings of an agent, and those of them that hold for a whole turn.
pub(super) struct Terms {
    pub(super) settings: Settings,
    /// The mode in which the present turn's calls were asked for.
    pub(super) turn_mode: Mode,
    /// What the policy knows it as.
    pub(super) role: Arc<str>,
}

impl Terms {
    pub(super) fn new(settings: Settings, role: Arc<str>) -> Self {
        Self { settings, turn_mode: settings.mode, role }
    }

    /// On whose behalf the present turn's calls are made: another mode holds from the next turn on,
    /// another approval mode at once.
    pub(super) fn who(&self) -> Who<'_> {
        Who {
            mode: self.turn_mode,
            approval: self.settings.approval,
            person_present: self.settings.person_present,
            role: &self.role,
            confinement: self.settings.confinement,
            network: self.settings.network,
        }
    }

    /// What is done without asking because of these rules; another mode counts at once.
    pub(super) fn rules(&self, policy: &Policy) -> SessionRules {
        let who = Who { mode: self.settings.mode, ..self.who() };
        let granted = policy.granted().into_iter().map(|allows| GrantedRule { allows, agent: None }).collect();
        SessionRules { granted, allowing: policy.allowing(&who) as u64, edits: policy.edits_unasked(&who) }
    }

    pub(super) fn begin_turn(&mut self) {
        self.turn_mode = self.settings.mode;
    }

    /// The agent itself changes its mode, for a reason; `by` is who agreed to it, where somebody did.
    pub(super) async fn enter(
        &mut self,
        (mode, approval): (Mode, Option<ApprovalMode>),
        reason: String,
        by: Option<Actor>,
        reports: &Reports,
    ) -> Result<(), SinkError> {
        self.settings.mode = mode;
        self.settings.approval = approval.unwrap_or(self.settings.approval);
        let change = ModeChange { mode: Some(mode), approval, reason: Some(reason), by, ..ModeChange::default() };
        reports.commit(EventBody::ModeChange(change)).await
    }
}

/// All tools of an agent, of whatever level, and the level that it works at.
pub(super) struct Toolset {
    pub(super) level: CapabilityLevel,
    /// The level that it would work at if there were room enough.
    wanted: CapabilityLevel,
    /// Whether somebody chose that.
    is_chosen: bool,
    /// The window that the level was last made to fit, and the mode: another one has other tools.
    fitted: Option<(u64, Mode)>,
    all: Registry,
    /// Whether the next turn has other tools than this one.
    changed: bool,
}

impl Toolset {
    pub(super) fn new(level: CapabilityLevel, is_chosen: bool, all: Registry) -> Self {
        Self { level, wanted: level, is_chosen, fitted: None, all, changed: false }
    }

    /// The tools of its level.
    pub(super) fn registry(&self) -> Registry {
        self.level.narrow(&self.all)
    }

    /// Another level. The tools that hold at once, unless an answer is under way: its calls are those that it was told
    /// of.
    pub(super) fn set_level(&mut self, level: CapabilityLevel, busy: bool) -> Option<Registry> {
        (self.level, self.wanted, self.is_chosen) = (level, level, true);
        self.change(busy)
    }

    /// Takes the highest level that fits a window in a mode, as far as `fits` says of a level and its tools, or else the
    /// lowest, unless one was chosen. Its tools, where it is another one than before.
    pub(super) fn fit(
        &mut self,
        (window, mode): (u64, Mode),
        fits: impl Fn(CapabilityLevel, &Registry) -> bool,
    ) -> Option<Registry> {
        if self.is_chosen || self.fitted == Some((window, mode)) {
            return None;
        }
        self.fitted = Some((window, mode));
        let levels = std::iter::successors(Some(self.wanted), |level| level.below());
        let tools = levels.map(|level| (level, level.narrow(&self.all)));
        let mut tools = tools.filter(|(level, tools)| level.below().is_none() || fits(*level, tools));
        let (level, registry) = tools.next()?;
        let changes = level != self.level;
        self.level = level;
        changes.then_some(registry)
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
        if came_or_went || self.changed {
            self.fitted = None;
        }
        (std::mem::take(&mut self.changed) || came_or_went).then(|| self.registry())
    }

    fn change(&mut self, busy: bool) -> Option<Registry> {
        self.changed = busy;
        (!busy).then(|| self.registry())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_level_is_fitted_again_where_the_window_or_the_mode_is_another() {
        let highest = CapabilityLevel::highest();
        let below = highest.below().unwrap();
        let mut tools = Toolset::new(highest, false, Registry::default());
        assert!(tools.fit((8000, Mode::Plan), |_, _| true).is_none(), "it has room for all");
        assert!(tools.fit((8000, Mode::Plan), |_, _| panic!("it was looked at already")).is_none());
        assert!(tools.fit((8000, Mode::Agent), |level, _| level != highest).is_some());
        assert_eq!(tools.level, below);
        assert!(tools.fit((16_000, Mode::Agent), |_, _| true).is_some());
        assert_eq!(tools.level, highest);
        tools.set_level(highest, false);
        assert!(tools.fit((100, Mode::Agent), |_, _| false).is_none(), "it was chosen");
    }
}
