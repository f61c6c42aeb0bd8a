//! What a call was judged by, kept until it runs: what is done must be what was judged.
//!
//! A path is located twice, when a call is planned and when it runs. In between a link may have come
//! to lead elsewhere, to a place that nobody was asked about; and a file that would be changed may have been
//! changed, removed, made or given other permissions, so that the change that was shown is not the one that would be
//! made.

use std::collections::VecDeque;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};

use neco_proto::{CallId, ErrorCode, Risk};
use neco_safety::path::{Access, Attributes, Located, PathError, Stamp};
use neco_toolkit::{Plan, ToolError};

use super::ledger::{HASHED, hash};

/// Paths of calls that are remembered, the latest.
const MOST: usize = 4096;

/// What the calls of one agent were judged by. Shared by its tools.
#[derive(Debug, Default)]
pub struct Judged {
    calls: Mutex<VecDeque<Noted>>,
}

/// A path of a call.
#[derive(Clone, Debug)]
struct Noted {
    call_id: CallId,
    asked: String,
    judgement: Judgement,
    /// What stood there, where the call would change it.
    seen: Option<Seen>,
}

/// A file as a call found it that would change it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Seen {
    /// There was none.
    Nothing,
    /// It had this besides its content, and this content.
    File(Option<Attributes>, Content),
}

/// What tells one content from another.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Content {
    /// Its sum.
    Hash([u8; 32]),
    /// The state of a file that is too big to be read for that.
    Stamp(Stamp),
}

impl Seen {
    /// A file that was read.
    pub fn file(attributes: Option<Attributes>, stamp: Stamp, bytes: &[u8]) -> Self {
        let content = if bytes.len() as u64 <= HASHED { Content::Hash(hash(bytes)) } else { Content::Stamp(stamp) };
        Self::File(attributes, content)
    }
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

/// The stages of a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stage {
    /// It is looked at.
    Planning,
    /// It is done.
    Running,
}

impl Judge {
    pub fn new(judged: &Arc<Judged>, call_id: CallId, stage: Stage) -> Self {
        Self { judged: Arc::clone(judged), call_id, stage }
    }

    /// Begins with what a call may mean: while it is planned, what another reading of it named counts no more.
    pub fn begin(&self) {
        match self.stage {
            Stage::Planning => self.judged.forget(&self.call_id),
            Stage::Running => {}
        }
    }

    /// Whether a path may be what the call is about: while it is planned any, and then those that were judged.
    pub fn may_name(&self, asked: &str) -> bool {
        match self.stage {
            Stage::Planning => true,
            Stage::Running => self.judged.get(&self.call_id, asked).is_some(),
        }
    }

    /// Judges where the path that was asked for leads.
    /// Fails when the call runs and it led elsewhere, or was less delicate, when the call was planned.
    pub fn judge(&self, asked: &str, located: &Located, access: Access) -> Result<Judgement, ToolError> {
        let judgement = Judgement::of(located, access);
        match self.stage {
            Stage::Planning => {
                let (call_id, asked) = (self.call_id.clone(), asked.to_owned());
                self.judged.note(Noted { call_id, asked, judgement: judgement.clone(), seen: None });
            }
            Stage::Running => match self.judged.get(&self.call_id, asked) {
                Some(planned) if planned.judgement == judgement => {}
                Some(planned) => return Err(elsewhere(asked, &planned.judgement, &judgement)),
                None => return Err(ToolError::failed(format!("{asked} was not judged; nothing was done, call again"))),
            },
        }
        Ok(judgement)
    }

    /// Takes in what stands at a path that was judged and would be changed.
    /// Fails with [`ErrorCode::FileChanged`] when the call runs and something else stood there when it was planned:
    /// what a person was shown is not what would be done.
    pub fn find(&self, asked: &str, shown: &str, seen: Seen) -> Result<(), ToolError> {
        match self.stage {
            Stage::Planning => self.judged.see(&self.call_id, asked, seen),
            Stage::Running => {
                let planned = self.judged.get(&self.call_id, asked).and_then(|noted| noted.seen);
                if let Some(planned) = planned.filter(|planned| *planned != seen) {
                    return Err(became_other(shown, &planned, &seen));
                }
            }
        }
        Ok(())
    }
}

/// The present state of a file that is to be read and changed.
/// Fails when it is none, or can't be read.
pub fn attributes_of(located: &Located) -> Result<Option<Attributes>, PathError> {
    match located.attributes() {
        // What somebody types is in no file yet.
        Err(PathError::NotFound(_)) if !located.exists() => Ok(None),
        Ok(attributes) => Ok(Some(attributes)),
        // Some of them can't be read by everybody.
        Err(PathError::Io { .. }) => Ok(None),
        Err(error) => Err(error),
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
    fn note(&self, noted: Noted) {
        let mut calls = self.calls.lock().unwrap_or_else(PoisonError::into_inner);
        calls.retain(|other| other.call_id != noted.call_id || other.asked != noted.asked);
        if calls.len() >= MOST {
            calls.pop_front();
        }
        calls.push_back(noted);
    }

    fn forget(&self, call_id: &CallId) {
        let mut calls = self.calls.lock().unwrap_or_else(PoisonError::into_inner);
        calls.retain(|noted| noted.call_id != *call_id);
    }

    fn see(&self, call_id: &CallId, asked: &str, seen: Seen) {
        let mut calls = self.calls.lock().unwrap_or_else(PoisonError::into_inner);
        let noted = calls.iter_mut().rfind(|noted| noted.call_id == *call_id && noted.asked == asked);
        if let Some(noted) = noted {
            noted.seen = Some(seen);
        }
    }

    fn get(&self, call_id: &CallId, asked: &str) -> Option<Noted> {
        let calls = self.calls.lock().unwrap_or_else(PoisonError::into_inner);
        calls.iter().rfind(|noted| noted.call_id == *call_id && noted.asked == asked).cloned()
    }
}

fn became_other(shown: &str, planned: &Seen, now: &Seen) -> ToolError {
    let what = match (planned, now) {
        (Seen::File(..), Seen::Nothing) => "was removed",
        (Seen::Nothing, Seen::Nothing | Seen::File(..)) => "was made by someone else",
        (Seen::File(_, before), Seen::File(_, after)) if before != after => "was changed by someone else",
        (Seen::File(..), Seen::File(..)) => "was given other permissions or attributes",
    };
    let words = format!(
        "{shown} {what} after this call was looked at and before it ran, so it would not do what was shown; nothing was \
         changed. Look at what is there now, and call again if that is still meant"
    );
    ToolError::new(ErrorCode::FileChanged, words)
}

fn elsewhere(asked: &str, planned: &Judgement, now: &Judgement) -> ToolError {
    ToolError::failed(format!(
        "{asked} led to {} when the call was judged and leads to {} now; nothing was done. Call again if that is meant",
        planned.path.display(),
        now.path.display()
    ))
}
