//! Folding a log where it is kept, page by page.

use neco_proto::{AgentId, Event, Seq, SessionId};
use neco_store::{EventLog, StoreError};

use super::conversation::Fold;
use neco_proto::rewinds::Rewinds;

/// How many events are read at a time.
const PAGE: usize = 2048;

/// Calls `take` with every event of a session after `since`, oldest first.
pub async fn each_event(
    log: &dyn EventLog,
    session: SessionId,
    mut since: Seq,
    mut take: impl FnMut(Event),
) -> Result<(), StoreError> {
    loop {
        let page = log.read(session, since, PAGE).await?;
        let last = page.last().map(|event| event.seq).filter(|_| page.len() == PAGE);
        page.into_iter().for_each(&mut take);
        match last {
            Some(last) => since = last,
            None => return Ok(()),
        }
    }
}

/// What the log of a session adds up to.
pub async fn fold_log(log: &dyn EventLog, session: SessionId) -> Result<Fold, StoreError> {
    fold_since(log, session, 0).await
}

/// The same as one agent below the root sees it. Going back in the conversation of the root is nothing that
/// happened to it.
pub async fn fold_agent(log: &dyn EventLog, session: SessionId, agent: AgentId) -> Result<Fold, StoreError> {
    let mut fold = Fold::of_agent(agent);
    each_event(log, session, 0, |event| fold.apply(&event)).await?;
    Ok(fold)
}

/// The same of the events after `since` alone.
pub async fn fold_since(log: &dyn EventLog, session: SessionId, since: Seq) -> Result<Fold, StoreError> {
    let (mut fold, mut rewinds) = (Fold::default(), Rewinds::default());
    each_event(log, session, since, |event| {
        rewinds.note(&event);
        fold.apply(&event);
    })
    .await?;
    if rewinds.is_empty() {
        return Ok(fold);
    }
    // Hardly any log has been gone back in, so only those are read twice.
    let effective = rewinds.effective(fold.standing.last_seq);
    let mut fold = Fold::default();
    each_event(log, session, since, |event| fold.take(&event, &effective)).await?;
    Ok(fold)
}
