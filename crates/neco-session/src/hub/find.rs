//! Finding sessions: by id, by folder, also when the folder was moved.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use neco_proto::app::history::PlaceNote;
use neco_proto::clean::clean_line;
use neco_proto::{AgentId, Event, EventBody, Role};
use neco_store::{Catalog, EventLog, SessionRecord};
use neco_workspace::GitFacts;
use neco_workspace::worktree::{self, Worktree};

use super::hub::usable_folder;
use crate::error::{SHORTEST_PART, SessionError, short};
use crate::folder::identity;

/// Sessions of one folder, or of a moved one, that are looked at.
const LOOKED_AT: usize = 1000;

/// A session that was found, and where it goes on.
#[derive(Clone, Debug, PartialEq)]
pub struct Found {
    /// The session, with the folder that it goes on in.
    pub record: SessionRecord,
    /// What is to be known of its folder.
    pub note: Option<PlaceNote>,
}

impl Found {
    /// In the folder that it has; that may be another one than it was, at the same place.
    fn here(record: SessionRecord) -> Self {
        let now = identity(Path::new(&record.cwd));
        let replaced = record.folder.is_some() && now.is_some() && record.folder != now;
        let note = replaced.then(|| PlaceNote::Replaced { folder: record.cwd.clone() });
        Self { record, note }
    }

    fn moved(record: SessionRecord, cwd: &Path) -> Self {
        let (from, folder) = (record.cwd.clone(), cwd.display().to_string());
        let record = SessionRecord { cwd: folder.clone(), folder: identity(cwd), ..record };
        Self { record, note: Some(PlaceNote::Moved { from, folder }) }
    }

    /// Whether its folder is a worktree that is not there now.
    pub fn is_removed(&self) -> bool {
        matches!(self.note, Some(PlaceNote::Removed { .. }))
    }
}

/// Finds sessions, which needs no more than the list of them.
#[derive(Clone)]
pub struct Finder {
    catalog: Arc<dyn Catalog>,
    data_dir: PathBuf,
}

impl Finder {
    /// Finds sessions in a list; worktrees of theirs lie in the folder of everything that is kept.
    pub fn new(catalog: Arc<dyn Catalog>, data_dir: PathBuf) -> Self {
        Self { catalog, data_dir }
    }

    /// The one session whose id begins with `prefix`; if there is none, or several, the one whose id ends so, as it is
    /// shown; else the one that has it anywhere.
    pub async fn find(&self, prefix: &str) -> Result<SessionRecord, SessionError> {
        // Nothing is the beginning of every id, and nobody means that.
        let nothing = prefix.chars().all(|char| char == '-' || char.is_whitespace());
        let mut found = if nothing { Vec::new() } else { self.catalog.find(prefix, 5).await? };
        if found.len() != 1
            && let Some(part) = part_of_id(prefix)
        {
            let all = self.catalog.list(None, usize::MAX).await?;
            let with = |is: &dyn Fn(&str) -> bool| -> Vec<&SessionRecord> {
                all.iter().filter(|record| is(&hex(record))).take(5).collect()
            };
            let ending = with(&|id| id.ends_with(&part));
            let anywhere = if ending.is_empty() { with(&|id| id.contains(&part)) } else { ending };
            if found.is_empty() || anywhere.len() == 1 {
                found = anywhere.into_iter().cloned().collect();
            }
        }
        match found.len() {
            0 => Err(SessionError::NotFound(prefix.to_owned())),
            1 => Ok(found.remove(0)),
            _ => Err(SessionError::Ambiguous {
                prefix: prefix.to_owned(),
                matches: found.iter().map(known_by).collect(),
            }),
        }
    }

    /// The session last used in `cwd`, or in the same folder when it lay elsewhere; else in the nearest folder
    /// above it in its repository.
    pub async fn latest(&self, cwd: &Path) -> Result<Found, SessionError> {
        let cwd = usable_folder(cwd)?;
        let none = || SessionError::NoneHere(cwd.display().to_string());
        for folder in above(&cwd) {
            let records = self.of_folder(folder, 16).await?;
            // What a process left that was killed before anything was said is nothing to go on with.
            let said = records.iter().position(|record| !record.title.is_empty());
            if let Some(record) = records.into_iter().nth(said.unwrap_or_default()) {
                return match Path::new(&record.cwd) == folder {
                    true => Ok(Found::here(record)),
                    false if self.worktree_of(&record).is_some() => self.place_of(record, folder, false),
                    false => Ok(Found::moved(record, folder)),
                };
            }
        }
        Err(none())
    }

    /// The nearest folder above `cwd` in its repository that has sessions.
    pub async fn nearest(&self, cwd: &Path) -> Result<Option<PathBuf>, SessionError> {
        let cwd = usable_folder(cwd)?;
        for folder in above(&cwd).skip(1) {
            if !self.of_folder(folder, 1).await?.is_empty() {
                return Ok(Some(folder.to_owned()));
            }
        }
        Ok(None)
    }

    /// Where a session goes on. When its folder is gone, or another one is in its place, that is `here` if
    /// this is the same folder. When it is gone it is `here`, too, if a person `chose` it. A worktree of ours that was
    /// removed stays away until somebody works in it: [`Finder::with_folder`].
    /// Fails when its folder is gone and nothing takes its place.
    pub fn place_of(&self, record: SessionRecord, here: &Path, chose: bool) -> Result<Found, SessionError> {
        let is_there = usable_folder(Path::new(&record.cwd)).is_ok();
        let found = Found::here(record.clone());
        if is_there && found.note.is_none() {
            return Ok(found);
        }
        if !is_there && self.worktree_of(&record).is_some_and(|tree| tree.can_be_made_again()) {
            let note = Some(PlaceNote::Removed { folder: record.cwd.clone() });
            return Ok(Found { record, note });
        }
        let here = usable_folder(here)?;
        let same = record.folder.is_some() && record.folder == identity(&here);
        if same || (chose && !is_there) {
            return Ok(Found::moved(record, &here));
        }
        if is_there { Ok(found) } else { Err(SessionError::FolderGone { id: record.id, path: record.cwd }) }
    }

    /// Makes the worktree of ours again that a session works in, should it have been removed.
    /// Fails when it can't be made.
    pub async fn with_folder(&self, mut found: Found) -> Result<Found, SessionError> {
        let Some(PlaceNote::Removed { folder }) = found.note else { return Ok(found) };
        let (tree, inside) = (self.worktree_of(&found.record), PathBuf::from(&folder));
        let made = tokio::task::spawn_blocking(move || make_again(&tree?, &inside)).await;
        if made.ok().flatten().is_none() {
            return Err(SessionError::FolderGone { id: found.record.id, path: folder });
        }
        found.note = Some(PlaceNote::MadeAgain { folder });
        Ok(found)
    }

    /// Keeps where a session works now.
    pub async fn settle(&self, found: Found) -> Result<SessionRecord, SessionError> {
        let Found { record, note } = self.with_folder(found).await?;
        if matches!(note, Some(PlaceNote::Moved { .. })) {
            self.catalog.set_folder(record.id, &record.cwd, record.folder.as_deref()).await?;
        }
        Ok(record)
    }

    /// Sessions by last use, newest first; of one folder those of the time when it lay elsewhere too.
    pub async fn list(&self, cwd: Option<&Path>, limit: usize) -> Result<Vec<SessionRecord>, SessionError> {
        match cwd.map(usable_folder).transpose()? {
            Some(cwd) => self.of_folder(&cwd, limit).await,
            None => {
                let all = self.catalog.list(None, limit.saturating_add(LOOKED_AT)).await?;
                Ok(all.into_iter().filter(has_begun).take(limit).collect())
            }
        }
    }

    /// The sessions of one folder: those that work in it, those of the time when it lay elsewhere, and those in
    /// worktrees of it. What worked in a folder that was here before it counts only when nothing else does.
    async fn of_folder(&self, cwd: &Path, limit: usize) -> Result<Vec<SessionRecord>, SessionError> {
        let own = identity(cwd);
        let mut found = self.catalog.list(Some(&cwd.display().to_string()), limit.max(LOOKED_AT)).await?;
        let is_own = |record: &SessionRecord| record.folder.is_none() || own.is_none() || record.folder == own;
        let moved = self.moved_to(cwd).await?;
        if !moved.is_empty() || found.iter().any(is_own) {
            found.retain(is_own);
        }
        found.extend(moved);
        found.extend(self.in_worktrees(cwd).await?);
        found.retain(has_begun);
        found.sort_by_key(|record| std::cmp::Reverse(record.updated_ms));
        found.truncate(limit);
        Ok(found)
    }

    /// The worktree of ours that a session works in, which may be gone.
    fn worktree_of(&self, record: &SessionRecord) -> Option<Worktree> {
        Worktree::around(Path::new(&record.cwd), &worktree_folder(&self.data_dir))
    }

    /// The sessions in worktrees of the repository of `cwd`, in the folder that stands for it.
    async fn in_worktrees(&self, cwd: &Path) -> Result<Vec<SessionRecord>, SessionError> {
        let mut found = Vec::new();
        for tree in worktree::all(&worktree_folder(&self.data_dir)) {
            let Ok(below) = cwd.strip_prefix(&tree.repository) else { continue };
            let path = tree.path.canonicalize().unwrap_or_else(|_| tree.path.clone());
            // Nothing below is the folder itself, and no path ends with a slash.
            let folder = if below.as_os_str().is_empty() { path } else { path.join(below) };
            found.extend(self.catalog.list(Some(&folder.display().to_string()), LOOKED_AT).await?);
        }
        Ok(found)
    }

    /// The sessions of the folder at `cwd` from when it lay elsewhere.
    async fn moved_to(&self, cwd: &Path) -> Result<Vec<SessionRecord>, SessionError> {
        let Some(folder) = identity(cwd) else { return Ok(Vec::new()) };
        let found = self.catalog.of_folder(&folder, LOOKED_AT).await?;
        let gone = |record: &SessionRecord| {
            let path = PathBuf::from(&record.cwd);
            path != cwd && identity(&path).as_ref() != Some(&folder)
        };
        Ok(found.into_iter().filter(gone).collect())
    }
}

/// Makes a worktree again with a folder in it; nothing when that fails.
fn make_again(tree: &Worktree, inside: &Path) -> Option<()> {
    // A folder that holds nothing that is committed is not there.
    let made = tree.make_again().map_err(|error| error.to_string());
    let made = made.and_then(|()| std::fs::create_dir_all(inside).map_err(|error| error.to_string()));
    made.inspect_err(|error| tracing::warn!(%error, folder = %inside.display(), "the worktree can't be made again"))
        .ok()
}

/// A session whose first event could not be written, as on a full disk, is none.
fn has_begun(record: &SessionRecord) -> bool {
    record.events > 0
}

/// A folder, and those above it as far as its repository goes; a repository in another one is for itself.
fn above(cwd: &Path) -> impl Iterator<Item = &Path> {
    let top = GitFacts::of(cwd).map_or_else(|| cwd.to_owned(), |facts| facts.root);
    cwd.ancestors().take_while(move |folder| folder.starts_with(&top))
}

/// Where the worktrees of sessions are, below the folder of everything that is kept.
pub fn worktree_folder(data_dir: &Path) -> PathBuf {
    data_dir.join("worktrees")
}

/// A part of an id as it is compared: long enough to mean one, and nothing but digits.
fn part_of_id(text: &str) -> Option<String> {
    let part: String = text.chars().filter(|char| *char != '-').map(|char| char.to_ascii_lowercase()).collect();
    (part.len() >= SHORTEST_PART && part.chars().all(|char| char.is_ascii_hexdigit())).then_some(part)
}

/// A session by its id as lists show it, and what it is called.
fn known_by(record: &SessionRecord) -> String {
    let (id, title) = (short(record.id), clean_line(&record.title));
    if title.is_empty() { id } else { format!("{id} ({title})") }
}

fn hex(record: &SessionRecord) -> String {
    record.id.to_string().replace('-', "")
}

/// Events that are read at a time, from the end of a log back.
const PAGE: u64 = 64;

/// And how often: what other agents do while the root waits for them says nothing about its own work.
const MOST_PAGES: u64 = 32;

/// Whether a session that nobody has open was stopped in the middle of its work, by the end of its log; `None`
/// when that can't be told.
pub(super) async fn is_unfinished(log: &dyn EventLog, record: &SessionRecord) -> Option<bool> {
    let root = log.read(record.id, 0, 1).await.ok()?.first()?.agent_id;
    let mut end = record.events;
    for _ in 0..MOST_PAGES {
        let since = end.saturating_sub(PAGE);
        let count = usize::try_from(end - since).unwrap_or_default();
        let page = log.read(record.id, since, count).await.ok()?;
        if let Some(is_unfinished) = verdict(&page, root) {
            return Some(is_unfinished);
        }
        end = since;
        if end == 0 {
            break;
        }
    }
    Some(false)
}

/// Whether something was asked of an agent and its work on it has no end; `None` where these events do not say.
fn verdict(events: &[Event], agent: AgentId) -> Option<bool> {
    events.iter().rev().filter(|event| event.agent_id == agent).find_map(|event| match &event.body {
        EventBody::AgentComplete(_) | EventBody::SessionStart(_) | EventBody::Rewind(_) => Some(false),
        EventBody::TurnStart(_) | EventBody::ToolCallUpdate(_) | EventBody::ToolCallEnd(_) => Some(true),
        EventBody::StreamChunk(_) | EventBody::ReasoningChunk(_) | EventBody::ToolOutputChunk(_) => Some(true),
        EventBody::Message(message) if message.role == Role::User && message.is_neco() => None,
        EventBody::Message(_) => Some(true),
        _ => None,
    })
}

#[cfg(test)]
mod tests {
    use jiff::Timestamp;
    use neco_proto::event::{Notification, NotificationLevel, StreamChunk, TurnStart};
    use neco_proto::{Message, SessionId};

    use super::*;

    #[test]
    fn a_log_without_an_end_is_unfinished() {
        let (session_id, agent_id) = (SessionId::new(), AgentId::new());
        let events = |bodies: Vec<EventBody>| -> Vec<Event> {
            let event = |(seq, body)| Event::new(seq, Timestamp::UNIX_EPOCH, session_id, agent_id, None, body);
            (1..).zip(bodies).map(event).collect()
        };
        let turn = || EventBody::TurnStart(TurnStart { iteration: 1, model: String::new() });
        let chunk = || EventBody::StreamChunk(StreamChunk { text: "a".to_owned() });
        let told = || EventBody::Notification(Notification::new(NotificationLevel::Info, String::new()));
        let unfinished = |events: &[Event]| verdict(events, agent_id);
        assert_eq!(unfinished(&[]), None);
        assert_eq!(unfinished(&events(vec![EventBody::Message(Message::user("x")), told()])), Some(true));
        assert_eq!(unfinished(&events(vec![turn(), chunk()])), Some(true));
        assert_eq!(unfinished(&events(vec![told(), EventBody::Message(Message::neco("by the way"))])), None);
        let mut of_a_child = events(vec![turn(), chunk()]);
        of_a_child.iter_mut().for_each(|event| event.agent_id = AgentId::new());
        assert_eq!(unfinished(&of_a_child), None, "what a child does says nothing of the root");
    }
}
