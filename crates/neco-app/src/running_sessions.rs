//! The sessions that a process has open, for what must reach them at once.

use std::sync::{Arc, Mutex, PoisonError, Weak};

use neco_session::Session;

use crate::workspace::Workspace;
use crate::workspace::rules::{RuleFlags, load};

/// The sessions that a process has open. Clones are the same ones.
#[derive(Clone, Default)]
pub struct RunningSessions(Arc<Mutex<Vec<Weak<RunningSession>>>>);

/// One of them, as long as what it stands on is there.
pub(crate) struct RunningSession {
    session: Session,
    workspace: Arc<Workspace>,
    /// Rules of its opening.
    flags: RuleFlags,
}

impl RunningSession {
    pub(crate) fn new(session: Session, workspace: Arc<Workspace>, flags: RuleFlags) -> Arc<Self> {
        Arc::new(Self { session, workspace, flags })
    }

    /// The rules that are kept for good changed: those that hold in its folder hold in it at once. Where they can't be
    /// read, its next turn says so.
    async fn renew_kept(&self) {
        let (workspace, env) = (&self.workspace, self.workspace.env());
        let Ok(state) = workspace.look_again() else { return };
        if let Ok(rules) = load(&self.flags, env, workspace.folder(), &state.loaded, &state.plugged) {
            let kept = rules.policy.rules().iter().filter(|rule| rule.kept).cloned().collect();
            self.session.renew_kept(kept).await;
        }
    }
}

impl RunningSessions {
    pub(crate) fn add(&self, open: &Arc<RunningSession>) {
        let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        all.retain(|open| open.strong_count() > 0);
        all.push(Arc::downgrade(open));
    }

    /// The rules that are kept for good changed: they hold in all sessions at once.
    pub(crate) async fn renew_kept(&self) {
        let all = self.0.lock().unwrap_or_else(PoisonError::into_inner).clone();
        for open in all.iter().filter_map(Weak::upgrade) {
            open.renew_kept().await;
        }
    }
}
