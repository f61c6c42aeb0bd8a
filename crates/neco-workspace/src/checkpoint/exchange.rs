//! An exchange as it is stored: a git commit that holds the conversation so far, a file an exchange, and the files of the
//! workspace as the exchange left them.
//!
//! The same exchange gives the same commit, whenever it is written: what is lost is written again under the same name.

use gix::ObjectId;
use gix::objs::Kind;
use neco_proto::clean::{clean, clean_line};
use neco_proto::{Seq, SessionId};

use super::error::CheckpointError;
use super::point::{StoredPoint, commit_object};
use super::tree::{Item, ItemKind, parse_tree, tree_object};
use super::vault::Vault;

/// Lines at the end of a message.
const SESSION: &str = "Neco-Session: ";
const EXCHANGE: &str = "Neco-Exchange: ";
const EVENTS: &str = "Neco-Events: ";
const FILES: &str = "Neco-Files: ";

/// Characters of the first line of a message.
const SUBJECT: usize = 72;

/// Characters of what was said that are kept below it.
const BODY: usize = 4000;

/// The folders of an exchange.
const CONVERSATION: &[u8] = b"conversation";
const WORKSPACE: &[u8] = b"files";

/// An exchange that is to be kept: what a person said, and all that was done about it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NewExchange {
    /// What the person said.
    pub message: String,
    /// The first and the last of its events.
    pub events: (Seq, Seq),
    /// When it came to its end, in milliseconds since 1970.
    pub time_ms: i64,
    /// The state that it left the files in, as far as one was kept.
    pub files: Option<String>,
    /// Its file.
    pub conversation: Vec<u8>,
}

/// An exchange that is kept.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KeptExchange {
    /// Its name.
    pub rev: String,
    /// The exchange before it.
    pub parent: Option<String>,
    /// The session that it was kept in; a fork shares those of the session it comes from.
    pub session: SessionId,
    /// Its number, from 1.
    pub number: u64,
    /// The first and the last of its events.
    pub events: (Seq, Seq),
    /// What the person said, in one line.
    pub message: String,
    /// When it came to its end, in milliseconds since 1970; git keeps whole seconds.
    pub time_ms: i64,
    /// The state that it left the files in.
    pub files: Option<String>,
}

/// The same with what only the store needs.
#[derive(Clone, Debug)]
pub(super) struct StoredExchange {
    pub id: ObjectId,
    pub tree: ObjectId,
    pub parent: Option<ObjectId>,
    pub kept: KeptExchange,
}

impl StoredExchange {
    /// Reads a commit.
    /// Fails when it is missing, not whole, or no exchange.
    pub fn read<V: Vault>(vault: &V, id: ObjectId) -> Result<Self, CheckpointError> {
        Self::parse(id, &vault.get_private(id)?)
            .ok_or_else(|| CheckpointError::Damaged(format!("{id} is no exchange of a session")))
    }

    pub fn parse(id: ObjectId, bytes: &[u8]) -> Option<Self> {
        let text = String::from_utf8_lossy(bytes);
        let (head, message) = text.split_once("\n\n")?;
        let of_head = |name: &str| head.lines().find_map(|line| line.strip_prefix(name));
        // What a person said stands above it, and may be anything.
        let ours = message.trim_end().rsplit("\n\n").next()?;
        let of_message = |name: &str| ours.lines().find_map(|line| line.strip_prefix(name));
        let seconds: i64 = of_head("committer ")?.rsplit(' ').nth(1)?.parse().ok()?;
        let parent: Option<ObjectId> = of_head("parent ").and_then(|id| id.parse().ok());
        let (first, last) = of_message(EVENTS)?.split_once('-')?;
        Some(Self {
            id,
            tree: of_head("tree ")?.parse().ok()?,
            parent,
            kept: KeptExchange {
                rev: id.to_string(),
                parent: parent.map(|parent| parent.to_string()),
                session: of_message(SESSION)?.parse().ok()?,
                number: of_message(EXCHANGE)?.parse().ok()?,
                events: (first.parse().ok()?, last.parse().ok()?),
                message: message.lines().next().unwrap_or_default().to_owned(),
                time_ms: seconds.saturating_mul(1000),
                files: of_message(FILES).map(str::to_owned),
            },
        })
    }

    /// Writes an exchange after another one.
    pub fn write<V: Vault>(
        vault: &mut V,
        session: SessionId,
        before: Option<&Self>,
        new: &NewExchange,
    ) -> Result<Self, CheckpointError> {
        let number = before.map_or(1, |before| before.kept.number.saturating_add(1));
        let (mut said, mut workspace) = match before {
            Some(before) => folders(vault, before.tree)?,
            None => (Vec::new(), None),
        };
        let blob = vault.put_private(Kind::Blob, &new.conversation)?;
        said.push((format!("{number:04}.jsonl").into_bytes(), Item { kind: ItemKind::File, id: blob }));
        let conversation = vault.put_private(Kind::Tree, &tree_object(&mut said))?;
        // A state that was pruned meanwhile leaves the files as the exchange before it has them.
        if let Some(state) = new.files.as_ref().and_then(|rev| state(vault, rev)) {
            workspace = Some(state);
        }
        let folder = |name: &'static [u8], id| (name, Item { kind: ItemKind::Folder, id });
        let mut root = vec![folder(CONVERSATION, conversation)];
        root.extend(workspace.map(|id| folder(WORKSPACE, id)));
        let tree = vault.put_private(Kind::Tree, &tree_object(&mut root))?;
        let seconds = new.time_ms.div_euclid(1000);
        let commit = commit_object(tree, before.map(|before| before.id), &message(session, number, new), seconds);
        let id = vault.put_private(Kind::Commit, &commit)?;
        Self::parse(id, &commit).ok_or_else(|| CheckpointError::Damaged(format!("{id} can't be read again")))
    }
}

/// The objects of an exchange that are its own, but for the files of the workspace: its two trees, and the files of the
/// conversation so far.
pub(super) fn own_objects<V: Vault>(
    vault: &V,
    exchange: &StoredExchange,
) -> Result<(Vec<ObjectId>, Vec<ObjectId>), CheckpointError> {
    let mut trees = vec![exchange.tree];
    let items = parse_tree(&vault.get_private(exchange.tree)?)?;
    trees.extend(items.iter().find(|(name, _)| name == CONVERSATION).map(|(_, item)| item.id));
    let (said, _) = folders(vault, exchange.tree)?;
    Ok((trees, said.into_iter().map(|(_, item)| item.id).collect()))
}

/// The files of the conversation up to an exchange, oldest first.
pub(super) fn conversation<V: Vault>(vault: &V, tree: ObjectId) -> Result<Vec<Vec<u8>>, CheckpointError> {
    let (mut said, _) = folders(vault, tree)?;
    said.sort_by_key(|(name, _)| (name.len(), name.clone()));
    said.into_iter().map(|(_, item)| vault.get_private(item.id)).collect()
}

type Said = Vec<(Vec<u8>, Item)>;

/// The files of the conversation in the tree of an exchange, and the tree of the workspace.
fn folders<V: Vault>(vault: &V, tree: ObjectId) -> Result<(Said, Option<ObjectId>), CheckpointError> {
    let items = parse_tree(&vault.get_private(tree)?)?;
    let of = |wanted: &[u8]| items.iter().find(|(name, _)| name == wanted).map(|(_, item)| item.id);
    let said = match of(CONVERSATION) {
        Some(conversation) => parse_tree(&vault.get_private(conversation)?)?,
        None => Vec::new(),
    };
    Ok((said, of(WORKSPACE)))
}

/// The tree of a state of the files.
fn state<V: Vault>(vault: &V, rev: &str) -> Option<ObjectId> {
    let id: ObjectId = rev.parse().ok()?;
    Some(StoredPoint::parse(id, &vault.get(id).ok()?).ok()?.tree)
}

/// A line that says what was asked, all of it where that is longer, and what the exchange is.
fn message(session: SessionId, number: u64, new: &NewExchange) -> String {
    let line = clean_line(&new.message);
    let line = if line.is_empty() { "(nothing was said)" } else { &line };
    let subject: String = match line.chars().count() > SUBJECT {
        true => line.chars().take(SUBJECT - 1).chain(['…']).collect(),
        false => line.to_owned(),
    };
    let body = match subject == new.message.trim() {
        true => String::new(),
        false => clean(new.message.trim()).chars().take(BODY).collect::<String>() + "\n\n",
    };
    let (first, last) = new.events;
    let files = new.files.as_ref().map(|rev| format!("{FILES}{rev}\n")).unwrap_or_default();
    format!("{subject}\n\n{body}{SESSION}{session}\n{EXCHANGE}{number}\n{EVENTS}{first}-{last}\n{files}")
}

#[cfg(test)]
mod tests {
    use super::super::vault::MemoryVault;
    use super::*;

    #[test]
    fn an_exchange_is_read_as_it_was_written_whatever_was_said() {
        let session = SessionId::new();
        let mut vault = MemoryVault::default();
        let messages = ["fix it", "  two\nlines", "", &"long ".repeat(40), "x\n\nNeco-Exchange: 7\nNeco-Events: 1-1"];
        let mut before: Option<StoredExchange> = None;
        for (said, number) in messages.iter().zip(1..) {
            let new = NewExchange {
                message: (*said).to_owned(),
                events: (number * 10, number * 10 + 9),
                time_ms: 1_700_000_000_999,
                files: None,
                conversation: format!("{number}\n").into_bytes(),
            };
            let written = StoredExchange::write(&mut vault, session, before.as_ref(), &new).unwrap();
            let read = StoredExchange::read(&vault, written.id).unwrap();
            assert_eq!(read.kept, written.kept);
            assert_eq!((read.kept.session, read.kept.number, read.kept.events), (session, number, new.events));
            assert_eq!(read.kept.time_ms, 1_700_000_000_000);
            assert!(read.kept.message.chars().count() <= SUBJECT && !read.kept.message.is_empty());
            let again = StoredExchange::write(&mut vault, session, before.as_ref(), &new).unwrap();
            assert_eq!(again.id, written.id, "what is lost can be written again");
            before = Some(written);
        }
        let files = conversation(&vault, before.unwrap().tree).unwrap();
        assert_eq!(files, [b"1\n", b"2\n", b"3\n", b"4\n", b"5\n"]);
    }
}
