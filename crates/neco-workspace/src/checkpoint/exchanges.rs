//! The exchanges of sessions, each a commit beside the states of the files.
//!
//! A session is the branch `session/ID`. What is gone back over in it stays on a branch `rewound/ID-N`, and a fork begins
//! at a commit of the session that it comes from. A branch that ends in `-old` is no part of a session's history: a session
//! was restored from it, or it was about to be removed. The log of events is the truth: a branch that is lost or damaged is
//! taken for one that was never there, and is written again.

use std::collections::{BTreeMap, HashSet};
use std::path::{Path, PathBuf};

use gix::ObjectId;
use neco_proto::SessionId;

use super::error::CheckpointError;
use super::exchange::{KeptExchange, NewExchange, StoredExchange, conversation};
use super::jj::JjVault;
use super::keeper::Keeper;
use super::lock::StoreLock;
use super::open::sign;
use super::vault::Vault;

/// The branches of sessions.
pub(super) const SESSIONS: &str = "session";

/// The branches of what was gone back over.
pub(super) const REWOUND: &str = "rewound";

/// How the names of branches end that are no part of a session's history any more.
pub(super) const OLD: &str = "-old";

/// Where a store of exchanges lies when states are kept in the person's repository.
pub(super) const IN_GIT: &str = "in-git";

/// The exchanges of one session, oldest first.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SessionExchanges {
    /// Those that its conversation consists of.
    pub present: Vec<KeptExchange>,
    /// Those that were gone back over.
    pub rewound: Vec<KeptExchange>,
}

/// The exchanges of sessions in one workspace. Everything here blocks: async callers go aside for it.
pub trait Exchanges {
    /// The repository that they are in, for git.
    fn repository(&self) -> PathBuf;

    /// The newest exchange of each session. That of a fork without exchanges of its own is one of another session.
    fn sessions(&self) -> Result<Vec<(SessionId, KeptExchange)>, CheckpointError>;

    /// The newest exchange of a session.
    fn newest_exchange(&self, session: SessionId) -> Result<Option<KeptExchange>, CheckpointError>;

    /// All exchanges of a session, as far as they are kept.
    fn exchanges(&self, session: SessionId) -> Result<SessionExchanges, CheckpointError>;

    /// Adds exchanges to a session after one that is kept, also one of another session; without one they are its first.
    /// What came after it is gone back over. Gives the newest one.
    /// Fails when that one is not there, or the store can't be written; nothing that is kept is lost then.
    fn keep_exchanges(
        &self,
        session: SessionId,
        after: Option<&str>,
        new: &[NewExchange],
    ) -> Result<Option<String>, CheckpointError>;

    /// Puts the branch of a session aside, whose exchanges are written again.
    fn begin_anew(&self, session: SessionId) -> Result<(), CheckpointError>;

    /// The files of the conversation up to an exchange, which is named or begins so, oldest first; and the exchange.
    /// Fails when there is none, or several begin so.
    fn conversation(&self, rev: &str) -> Result<(KeptExchange, Vec<Vec<u8>>), CheckpointError>;
}

impl<V: Vault> Exchanges for Keeper<V> {
    fn repository(&self) -> PathBuf {
        self.place().store.join("git")
    }

    fn sessions(&self) -> Result<Vec<(SessionId, KeptExchange)>, CheckpointError> {
        self.read_vault(|vault| {
            let mut found = Vec::new();
            for (name, id) in vault.branches(SESSIONS)? {
                let session = name.rsplit('/').next().and_then(|id| id.parse().ok());
                found.extend(session.zip(StoredExchange::read(vault, id).ok().map(|newest| newest.kept)));
            }
            Ok(found)
        })
    }

    fn newest_exchange(&self, session: SessionId) -> Result<Option<KeptExchange>, CheckpointError> {
        self.read_vault(|vault| {
            let tip = vault.branch(&branch(session))?;
            Ok(tip.and_then(|id| whole(vault, id)).map(|tip| tip.kept))
        })
    }

    fn exchanges(&self, session: SessionId) -> Result<SessionExchanges, CheckpointError> {
        self.read_vault(|vault| {
            let tip = vault.branch(&branch(session))?.and_then(|id| whole(vault, id));
            let present: Vec<StoredExchange> = tip.map(|tip| line(vault, tip)).unwrap_or_default();
            let mut seen: HashSet<ObjectId> = present.iter().map(|exchange| exchange.id).collect();
            let mut rewound = Vec::new();
            for (_, id) in rewound_of(vault, session)?.into_iter().filter(|(name, _)| !name.ends_with(OLD)) {
                let line = whole(vault, id).map(|tip| line(vault, tip)).unwrap_or_default();
                rewound.extend(line.into_iter().filter(|exchange| seen.insert(exchange.id)));
            }
            rewound.sort_by_key(|exchange| exchange.kept.events.1);
            let kept = |exchanges: Vec<StoredExchange>| exchanges.into_iter().map(|exchange| exchange.kept).collect();
            Ok(SessionExchanges { present: kept(present), rewound: kept(rewound) })
        })
    }

    fn keep_exchanges(
        &self,
        session: SessionId,
        after: Option<&str>,
        new: &[NewExchange],
    ) -> Result<Option<String>, CheckpointError> {
        self.write_vault(|vault| {
            vault.open_private()?;
            let mut last = match after {
                Some(rev) => Some(find(vault, rev)?),
                None => None,
            };
            let tip = vault.branch(&branch(session))?;
            if tip.is_none() {
                sign(&self.place().store, &self.place().root);
            }
            let goes_on = tip == last.as_ref().map(|last| last.id);
            for exchange in new {
                last = Some(StoredExchange::write(vault, session, last.as_ref(), exchange)?);
            }
            if !goes_on {
                put_aside(vault, session, tip, last.as_ref())?;
            }
            let now = last.as_ref().map(|last| last.id);
            if now != tip {
                vault.set_branch(&branch(session), now)?;
            }
            Ok(last.map(|last| last.kept.rev))
        })
    }

    fn begin_anew(&self, session: SessionId) -> Result<(), CheckpointError> {
        self.write_vault(|vault| {
            let Some(tip) = vault.branch(&branch(session))? else { return Ok(()) };
            let taken: HashSet<String> = rewound_of(vault, session)?.into_iter().map(|(name, _)| name).collect();
            let free = |name: &String| !taken.contains(name);
            if let Some(name) = (1..).map(|number| format!("{REWOUND}/{session}-{number}{OLD}")).find(free) {
                vault.set_branch(&name, Some(tip))?;
            }
            vault.set_branch(&branch(session), None)
        })
    }

    fn conversation(&self, rev: &str) -> Result<(KeptExchange, Vec<Vec<u8>>), CheckpointError> {
        self.read_vault(|vault| {
            let exchange = find(vault, rev)?;
            let files = conversation(vault, exchange.tree)?;
            Ok((exchange.kept, files))
        })
    }
}

/// Removes all that is kept of these sessions, in all stores of a folder, but for what forks of theirs share.
/// Fails when something can't be removed; everything else is gone then.
pub fn forget_sessions(stores: &Path, sessions: &[SessionId]) -> Result<(), CheckpointError> {
    let mut failed = Ok(());
    let stores = std::fs::read_dir(stores).into_iter().flatten().flatten().map(|entry| entry.path());
    for store in stores.flat_map(|store| [store.join(IN_GIT), store]).filter(|store| store.join("git").is_dir()) {
        // One that has nothing of them, or nothing at all, is in nobody's way, whatever else its state is.
        match branches_of(&mut JjVault::only_read(&store), sessions) {
            Ok(gone) if gone.is_empty() => continue,
            Err(error) if error.is_damage() => continue,
            Ok(_) | Err(_) => {}
        }
        let forgotten = StoreLock::acquire(&store).and_then(|_lock| {
            let mut vault = JjVault::new(&store);
            let gone = branches_of(&mut vault, sessions)?;
            if gone.is_empty() { Ok(()) } else { vault.forget(&gone) }
        });
        failed = failed.and(forgotten);
    }
    failed
}

fn branch(session: SessionId) -> String {
    format!("{SESSIONS}/{session}")
}

/// All branches of these sessions.
fn branches_of(vault: &mut JjVault, sessions: &[SessionId]) -> Result<Vec<(String, ObjectId)>, CheckpointError> {
    let all = [vault.branches(SESSIONS)?, vault.branches(REWOUND)?].concat();
    let names: Vec<String> = sessions.iter().map(SessionId::to_string).collect();
    let is_of = |name: &str| name.split_once('/').is_some_and(|(_, rest)| names.iter().any(|id| rest.starts_with(id)));
    Ok(all.into_iter().filter(|(name, _)| is_of(name)).collect())
}

fn rewound_of<V: Vault>(vault: &mut V, session: SessionId) -> Result<Vec<(String, ObjectId)>, CheckpointError> {
    let begins = format!("{REWOUND}/{session}-");
    Ok(vault.branches(REWOUND)?.into_iter().filter(|(name, _)| name.starts_with(&begins)).collect())
}

/// An exchange that can be gone on from: all that was said up to it is there.
pub(super) fn whole<V: Vault>(vault: &V, id: ObjectId) -> Option<StoredExchange> {
    let exchange = StoredExchange::read(vault, id).ok()?;
    let is_whole = vault.trusts_private() || conversation(vault, exchange.tree).is_ok();
    is_whole.then_some(exchange)
}

/// An exchange and those before it, oldest first, as far as they are kept.
pub(super) fn line<V: Vault>(vault: &V, tip: StoredExchange) -> Vec<StoredExchange> {
    let before = |exchange: &StoredExchange| StoredExchange::read(vault, exchange.parent?).ok();
    let mut line: Vec<StoredExchange> = std::iter::successors(Some(tip), before).collect();
    line.reverse();
    line
}

/// The exchange of a name, or of the beginning of one.
fn find<V: Vault>(vault: &mut V, rev: &str) -> Result<StoredExchange, CheckpointError> {
    let unknown = || CheckpointError::UnknownExchange(rev.to_owned());
    if let Ok(id) = rev.parse::<ObjectId>() {
        return StoredExchange::read(vault, id).map_err(|_| unknown());
    }
    if rev.len() < super::shelf::SHORTEST {
        return Err(unknown());
    }
    let mut found = BTreeMap::new();
    for (_, id) in [vault.branches(SESSIONS)?, vault.branches(REWOUND)?].concat() {
        let line = whole(vault, id).map(|tip| line(vault, tip)).unwrap_or_default();
        found.extend(line.into_iter().filter(|one| one.kept.rev.starts_with(rev)).map(|one| (one.id, one)));
    }
    if found.len() > 1 {
        let matches = found.into_values().map(|one| one.kept.rev).collect();
        return Err(CheckpointError::Ambiguous { which: rev.to_owned(), matches });
    }
    found.pop_first().map(|(_, only)| only).ok_or_else(unknown)
}

/// Has the end of a session's branch on a branch of its own, unless `now` comes after it; and takes away those that `now`
/// comes after.
fn put_aside<V: Vault>(
    vault: &mut V,
    session: SessionId,
    tip: Option<ObjectId>,
    now: Option<&StoredExchange>,
) -> Result<(), CheckpointError> {
    let present: HashSet<ObjectId> =
        now.map(|now| line(vault, now.clone())).unwrap_or_default().iter().map(|exchange| exchange.id).collect();
    let mut aside = rewound_of(vault, session)?;
    aside.retain(|(name, _)| !name.ends_with(OLD));
    for (name, _) in aside.iter().filter(|(_, id)| present.contains(id)) {
        vault.set_branch(name, None)?;
    }
    let is_kept = |tip: &ObjectId| present.contains(tip) || aside.iter().any(|(_, id)| id == tip);
    // What can't be read any more is nothing that anybody goes back to.
    let Some(tip) = tip.filter(|tip| !is_kept(tip) && StoredExchange::read(vault, *tip).is_ok()) else { return Ok(()) };
    let taken: HashSet<&str> = aside.iter().map(|(name, _)| name.as_str()).collect();
    let name = (1..).map(|number| format!("{REWOUND}/{session}-{number}")).find(|name| !taken.contains(name.as_str()));
    match name {
        Some(name) => vault.set_branch(&name, Some(tip)),
        None => Ok(()),
    }
}
