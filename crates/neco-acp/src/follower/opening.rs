//! How far the editor has opened a session: what is past is told first, then how it is set, then what happens.

use std::mem;

use agent_client_protocol::Error;
use futures::FutureExt;
use tokio::sync::oneshot;

use super::orders::{Done, Work};
use super::{Follower, Told};
use crate::options::Settings;
use crate::past::{Retelling, past_of};
use crate::window::Past;

/// Updates of what is past that are made at once.
const AT_ONCE: usize = 64;

/// Whoever opens a session: told how it is set when the past is told, and heard when what follows may be.
pub(super) struct Opens {
    pub shown: oneshot::Sender<Result<Settings, Error>>,
    pub begins: oneshot::Receiver<()>,
}

/// How far the editor has opened the session: what happens is told when it is [`Open`](Self::Open).
pub(super) enum Stage {
    /// It has not asked yet what there is to see.
    Unseen,
    /// The past is read.
    Reads(Opens),
    /// The past is told.
    Retells(Box<Retelling>, Opens),
    /// The past is told as soon as there is room for the rest of it.
    Told,
    /// The editor is just being told that the session is open.
    Begins(oneshot::Receiver<()>),
    /// The editor knows it.
    Open,
}

/// The editor opens the session: it is told what is past, as far as this has been followed.
pub(super) fn show(follower: &mut Follower, past: Past, opens: Opens) {
    let is_shown = past == Past::Shown;
    // Of work whose beginning was not seen it is to be known what stands there already.
    if !is_shown && (!follower.at_work || !follower.transcript.is_new()) {
        return shown(follower, opens);
    }
    follower.stage = Stage::Reads(opens);
    let (client, seen) = (follower.base.client.clone(), follower.seen);
    let done = async move {
        let past = past_of(client.as_ref(), seen).await;
        Done::Past(past.map(|past| Box::new(Retelling::new(past, is_shown))))
    };
    follower.work = Some(Work { reads: None, says: false, done: done.boxed() });
}

/// The next of what is past; at its end how the session is set.
pub(super) fn retell(follower: &mut Follower) {
    let Stage::Retells(retelling, _) = &mut follower.stage else { return };
    while follower.outbox.len() < AT_ONCE {
        let Some(updates) = retelling.next(&mut follower.transcript) else {
            let Stage::Retells(retelling, opens) = mem::replace(&mut follower.stage, Stage::Told) else { return };
            let updates = retelling.rest(&mut follower.transcript, follower.at_work);
            follower.outbox.extend(updates.into_iter().map(Told::Update));
            return shown(follower, opens);
        };
        follower.outbox.extend(updates.into_iter().map(Told::Update));
    }
}

/// The past is told.
fn shown(follower: &mut Follower, opens: Opens) {
    follower.stage = Stage::Told;
    follower.outbox.push_back(Told::Shown(opens));
    mem::take(&mut follower.waiting).into_iter().for_each(|asked| follower.wants(asked));
}

/// Ready when the editor knows that the session is open, or nobody will tell it.
pub(super) async fn begun(stage: &mut Stage) {
    if let Stage::Begins(begins) = stage {
        drop(begins.await);
    }
}
