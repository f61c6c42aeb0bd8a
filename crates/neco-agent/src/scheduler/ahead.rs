//! What waits behind a call: a person who is asked about one sees what they will be asked about next.

use std::panic::AssertUnwindSafe;
use std::sync::Arc;
use std::time::Duration;

use futures::FutureExt;
use futures::future::join_all;
use neco_proto::event::{AskedAhead, Says};
use neco_proto::{ErrorCode, EventBody};
use neco_safety::{Ruling, SideEffect, Who};
use neco_toolkit::{Plan, PreparedCall, ToolContext};

use super::approve;
use super::call::Phase;
use super::gated::{Question, ended_by_hook, rule};
use super::progress::{Record, Work};
use super::schedule::Scheduler;

/// Calls that are looked at; nobody reads a longer list.
const MOST: usize = 8;

/// How long one may be looked at: the person waits for the question meanwhile.
const AT_MOST: Duration = Duration::from_millis(500);

/// A call that waits for its turn, and what it would do as things stand now.
pub(super) struct Behind {
    index: usize,
    prepared: Box<dyn PreparedCall>,
    plan: Look,
}

/// What a look at a call came to.
enum Look {
    Plan(Plan),
    /// That shows when its turn comes: it stands on what is done before it, or could not be looked at in time.
    Later,
    /// It would fail, so nobody is asked about it.
    Fails,
}

impl Scheduler {
    /// Asks about a call, once it is known what else will be asked about.
    pub(super) fn ask(&mut self, index: usize, question: Question) -> Vec<Record> {
        let behind = self.behind(index);
        let (Some(call), Some(prepared), false) =
            (self.calls.get_mut(index), question.waits.prepared(), behind.is_empty())
        else {
            return self.question(index, question);
        };
        call.phase = Phase::AtGate { touch: prepared.touch() };
        let question = Box::new(question);
        self.spawn(index, async move {
            Work::Ahead { index, question, behind: join_all(behind.into_iter().map(look)).await }
        });
        Vec::new()
    }

    /// Takes in what waits behind a call, and asks about it.
    pub(super) fn looked_ahead(
        &mut self,
        index: usize,
        mut question: Question,
        behind: &[Behind],
        who: &Who<'_>,
    ) -> Vec<Record> {
        if let Some(reason) = &self.stop {
            return self.finish(index, ended_by_hook(reason));
        }
        let ahead: Vec<AskedAhead> = behind.iter().filter_map(|behind| self.asked_ahead(behind, who)).collect();
        for record in &mut question.records {
            if let Record::Commit(EventBody::PermissionRequest(request)) = record {
                request.ahead.clone_from(&ahead);
            }
        }
        self.question(index, question)
    }

    /// Whether calls that write wait behind this one.
    pub(super) fn more_writes(&self, index: usize) -> bool {
        self.calls.iter().skip(index + 1).any(|call| call.touch() == Some(SideEffect::Writes))
    }

    /// The calls behind this one that wait for their turn, made ready once more: what is made here never runs.
    fn behind(&self, index: usize) -> Vec<(Behind, ToolContext)> {
        let later = self.calls.iter().enumerate().skip(index + 1);
        let waiting = later.filter_map(|(index, call)| {
            let Phase::Scheduled { prepared, .. } = &call.phase else { return None };
            let tool = Arc::clone(self.registry.find(&call.tool).ok()?);
            let prepared = tool.prepare(prepared.arguments().clone()).ok()?;
            Some((Behind { index, prepared, plan: Look::Later }, self.context(index)))
        });
        waiting.take(MOST).collect()
    }

    /// The call, if a person will be asked about it. One that can't be told about yet, since it stands on what is done
    /// before it, may be one.
    fn asked_ahead(&self, behind: &Behind, who: &Who<'_>) -> Option<AskedAhead> {
        let Behind { index, prepared, plan } = behind;
        let call = self.calls.get(*index)?;
        let (risk, says) = match plan {
            Look::Fails => return None,
            Look::Later if prepared.touch().changes_nothing() => return None,
            Look::Later => (None, Says::default()),
            Look::Plan(plan) => {
                let action = approve::action((&call.tool, &call.origin), prepared.as_ref(), plan);
                let verdict = rule(&self.policy, call.ruling.as_ref(), &action, who);
                if verdict.ruling != Ruling::Ask {
                    return None;
                }
                (Some(verdict.risk), Says::of(&call.summary, plan.command.as_deref(), plan.diff.len()))
            }
        };
        Some(AskedAhead { call_id: call.id.clone(), summary: call.summary.clone(), risk, says })
    }
}

async fn look((behind, ctx): (Behind, ToolContext)) -> Behind {
    let plan = AssertUnwindSafe(behind.prepared.plan(&ctx)).catch_unwind();
    // A defect of its tool is told when its turn comes.
    let plan = tokio::time::timeout(AT_MOST, plan).await;
    let plan = match plan {
        Ok(Ok(Ok(plan))) => Look::Plan(plan),
        // A call before it may make the file, or the text that is to be replaced.
        Ok(Ok(Err(error))) if !is_of_content(error.code) => Look::Fails,
        Ok(Ok(Err(_)) | Err(_)) | Err(_) => Look::Later,
    };
    Behind { plan, ..behind }
}

/// Whether another content of files would change the matter.
fn is_of_content(code: ErrorCode) -> bool {
    let of_content = [
        ErrorCode::FileNotFound,
        ErrorCode::FileChanged,
        ErrorCode::EditTextNotFound,
        ErrorCode::EditTextNotUnique,
        ErrorCode::ToolTimedOut,
    ];
    of_content.contains(&code)
}
