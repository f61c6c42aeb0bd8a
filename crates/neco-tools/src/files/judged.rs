//! What a call was judged by, kept until it runs: what is done must be what was judged.
//!
//! A path is located twice, when a call is planned and when it runs. In between a link may have come
//! to lead elsewhere, to a place that nobody was asked about.

use std::collections::VecDeque;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};

use neco_proto::{CallId, Risk};
use neco_safety::path::{Access, Located};
use neco_toolkit::{Plan, ToolContext, ToolError};

/// Calls that are remembered; most are forgotten as they run, those that were refused are not.
const MOST_CALLS: usize = 4096;

/// What the calls of one agent were judged by. Shared by its tools.
#[derive(Debug, Default)]
pub struct Judged {
    calls: Mutex<VecDeque<(CallId, String, Judgement)>>,
}

/// What a path is for the policy.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Judgement {
    /// Where it leads.
    path: PathBuf,
    access: Access,
    /// Why a person is asked.
    because: Option<&'static str>,
}

/// Judges the path of one call, at one of its two stages.
#[derive(Clone, Debug)]
pub struct Judge {
    judged: Arc<Judged>,
    call_id: CallId,
    stage: Stage,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Stage {
    Planning,
    Running,
}

impl Judge {
    /// For a call that is planned.
    pub fn planning(judged: &Arc<Judged>, ctx: &ToolContext) -> Self {
        Self { judged: Arc::clone(judged), call_id: ctx.call_id.clone(), stage: Stage::Planning }
    }

    /// For a call that runs.
    pub fn running(judged: &Arc<Judged>, ctx: &ToolContext) -> Self {
        Self { judged: Arc::clone(judged), call_id: ctx.call_id.clone(), stage: Stage::Running }
    }

    /// Judges where the path that was asked for leads.
    ///
    /// # Errors
    /// When the call runs and it led elsewhere, or was less delicate, when the call was planned.
    pub fn judge(&self, asked: &str, located: &Located, access: Access) -> Result<Judgement, ToolError> {
        let judgement = Judgement::of(located, access);
        match self.stage {
            Stage::Planning => self.judged.note(&self.call_id, asked, judgement.clone()),
            Stage::Running => match self.judged.take(&self.call_id, asked) {
                Some(planned) if planned == judgement => {}
                Some(planned) => return Err(elsewhere(asked, &planned, &judgement)),
                None => return Err(ToolError::failed(format!("{asked} was not judged; nothing was done, call again"))),
            },
        }
        Ok(judgement)
    }
}

impl Judgement {
    fn of(located: &Located, access: Access) -> Self {
        let because = match access {
            Access::Read => located.sensitive_to_read(),
            Access::Write => located.sensitive_to_write(),
        };
        Self { path: located.path().to_path_buf(), access, because }
    }

    /// The plan of a call that does nothing but this.
    pub fn plan(&self) -> Plan {
        let risk = match (self.because, self.access) {
            (Some(_), _) => Risk::Critical,
            (None, Access::Read) => Risk::Safe,
            (None, Access::Write) => Risk::Medium,
        };
        Plan { because: self.because.map(str::to_owned), paths: vec![self.path.clone()], ..Plan::of(risk) }
    }
}

impl Judged {
    fn note(&self, call_id: &CallId, asked: &str, judgement: Judgement) {
        let mut calls = self.calls.lock().unwrap_or_else(PoisonError::into_inner);
        calls.retain(|(id, path, _)| id != call_id || path != asked);
        if calls.len() >= MOST_CALLS {
            calls.pop_front();
        }
        calls.push_back((call_id.clone(), asked.to_owned(), judgement));
    }

    fn take(&self, call_id: &CallId, asked: &str) -> Option<Judgement> {
        let mut calls = self.calls.lock().unwrap_or_else(PoisonError::into_inner);
        let at = calls.iter().rposition(|(id, path, _)| id == call_id && path == asked)?;
        calls.remove(at).map(|(_, _, judgement)| judgement)
    }
}

fn elsewhere(asked: &str, planned: &Judgement, now: &Judgement) -> ToolError {
    ToolError::failed(format!(
        "{asked} led to {} when the call was judged and leads to {} now; nothing was done. Call again if that is meant",
        planned.path.display(),
        now.path.display()
    ))
}
