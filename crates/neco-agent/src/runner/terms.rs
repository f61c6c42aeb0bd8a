//! How an agent works now: its mode, when the person is asked, and as whom it is judged.

use std::sync::Arc;

use neco_proto::event::ModeChange;
use neco_proto::{Actor, ApprovalMode, EventBody, Mode};
use neco_safety::Who;

use super::reports::Reports;
use super::setup::Settings;
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
