//! Trees in git's format, and what is different between two of them.

use std::collections::{BTreeSet, HashMap, HashSet};

use gix::ObjectId;
use gix::objs::Kind;

use super::checkpoints::ChangeKind;
use super::details::Details;
use super::error::CheckpointError;
use super::vault::Vault;

/// So many files are looked for one by one.
const FEW: usize = 8;

/// What stands at a place in a tree.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Item {
    pub kind: ItemKind,
    /// Its content.
    pub id: ObjectId,
}

/// What something is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ItemKind {
    File,
    /// A file that can be run.
    Program,
    /// A link; its content is where it leads.
    Link,
    Folder,
}

impl ItemKind {
    fn mode(self) -> &'static [u8] {
        match self {
            Self::File => b"100644",
            Self::Program => b"100755",
            Self::Link => b"120000",
            Self::Folder => b"40000",
        }
    }

    fn of_mode(mode: &[u8]) -> Option<Self> {
        match mode {
            b"100644" | b"100664" => Some(Self::File),
            b"100755" => Some(Self::Program),
            b"120000" => Some(Self::Link),
            b"40000" => Some(Self::Folder),
            _ => None,
        }
    }
}

/// The bytes of a tree. Sorts what it is given in git's way, where a folder's name counts as ending with `/`.
pub fn tree_object<N: AsRef<[u8]>>(items: &mut [(N, Item)]) -> Vec<u8> {
    fn key<N: AsRef<[u8]>>((name, item): &(N, Item)) -> impl Iterator<Item = u8> + '_ {
        name.as_ref().iter().copied().chain((item.kind == ItemKind::Folder).then_some(b'/'))
    }
    // Names come sorted from the walk: only a folder beside a longer name is out of place.
    if !items.is_sorted_by(|one, other| key(one).le(key(other))) {
        items.sort_by(|one, other| key(one).cmp(key(other)));
    }
    let mut bytes = Vec::with_capacity(items.iter().map(|(name, _)| name.as_ref().len() + 28).sum());
    for (name, item) in items {
        bytes.extend_from_slice(item.kind.mode());
        bytes.push(b' ');
        bytes.extend_from_slice(name.as_ref());
        bytes.push(0);
        bytes.extend_from_slice(item.id.as_bytes());
    }
    bytes
}

/// Reads a tree. Entries of a kind that is never written here (a submodule's) are passed over.
pub fn parse_tree(mut bytes: &[u8]) -> Result<Vec<(Vec<u8>, Item)>, CheckpointError> {
    let broken = || CheckpointError::Damaged("a tree can't be read".to_owned());
    let mut items = Vec::new();
    while !bytes.is_empty() {
        let space = memchr::memchr(b' ', bytes).ok_or_else(broken)?;
        let end = memchr::memchr(0, bytes).filter(|end| *end > space).ok_or_else(broken)?;
        let (mode, name) = (bytes.get(..space).ok_or_else(broken)?, bytes.get(space + 1..end).ok_or_else(broken)?);
        let id = bytes.get(end + 1..end + 21).ok_or_else(broken)?;
        let is_name = !name.is_empty() && name != b"." && name != b".." && !name.contains(&b'/');
        if !is_name || name.eq_ignore_ascii_case(b".git") {
            return Err(broken());
        }
        if let Some(kind) = ItemKind::of_mode(mode) {
            items.push((name.to_vec(), Item { kind, id: ObjectId::from_bytes_or_panic(id) }));
        }
        bytes = bytes.get(end + 21..).unwrap_or_default();
    }
    Ok(items)
}

/// A file that is different between two states.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TreeChange {
    /// From the top, with `/` between names.
    pub path: Vec<u8>,
    pub before: Option<Item>,
    pub after: Option<Item>,
    /// Permissions that are others than usual, before and after.
    pub modes: (Option<u32>, Option<u32>),
}

impl TreeChange {
    /// In a word.
    pub fn kind(&self) -> ChangeKind {
        match (&self.before, &self.after) {
            (None, _) => ChangeKind::Added,
            (Some(_), None) => ChangeKind::Deleted,
            (Some(_), Some(_)) => ChangeKind::Modified,
        }
    }
}

/// Every file that is different, by path. `None` stands for an empty tree.
pub fn changes<V: Vault>(
    vault: &V,
    before: Option<ObjectId>,
    after: Option<ObjectId>,
) -> Result<Vec<TreeChange>, CheckpointError> {
    let mut found = Vec::new();
    compare(vault, &[], before, after, &mut found)?;
    found.sort_by(|one, other| one.path.cmp(&other.path));
    Ok(found)
}

/// A state: its tree, and what that can't say.
pub type State<'a> = (ObjectId, &'a Details);

/// Every file that is different between two states, by path, those included of which only the permissions are.
pub fn state_changes<V: Vault>(
    vault: &V,
    before: State<'_>,
    after: State<'_>,
) -> Result<Vec<TreeChange>, CheckpointError> {
    let mut found = changes(vault, Some(before.0), Some(after.0))?;
    let modes = |path: &[u8]| (before.1.modes.get(path).copied(), after.1.modes.get(path).copied());
    found.iter_mut().for_each(|change| change.modes = modes(&change.path));
    let named: BTreeSet<&Vec<u8>> = before.1.modes.keys().chain(after.1.modes.keys()).collect();
    // Where its content is different too, or it is there once only, that was found.
    let is_found = |path: &Vec<u8>| found.binary_search_by(|change| change.path.cmp(path)).is_ok();
    let changed: Vec<&Vec<u8>> =
        named.into_iter().filter(|path| modes(path).0 != modes(path).1 && !is_found(path)).collect();
    // Many are looked for together: one by one every tree above them would be read once for each.
    let all: Option<HashMap<Vec<u8>, Item>> = match changed.len() > FEW {
        true => Some(files(vault, after.0)?.into_iter().collect()),
        false => None,
    };
    let mut others = Vec::new();
    for path in changed {
        let item = match &all {
            Some(all) => all.get(path).copied(),
            None => item_at(vault, after.0, path)?,
        };
        let modes = modes(path);
        let item = item.filter(|item| item.kind != ItemKind::Folder);
        others.extend(item.map(|item| TreeChange { path: path.clone(), before: Some(item), after: Some(item), modes }));
    }
    found.extend(others);
    found.sort_by(|one, other| one.path.cmp(&other.path));
    Ok(found)
}

/// What stands at a path.
pub fn item_at<V: Vault>(vault: &V, tree: ObjectId, path: &[u8]) -> Result<Option<Item>, CheckpointError> {
    let mut at = Item { kind: ItemKind::Folder, id: tree };
    for name in path.split(|byte| *byte == b'/') {
        if at.kind != ItemKind::Folder {
            return Ok(None);
        }
        let items = parse_tree(&vault.get(at.id)?)?;
        let Some((_, item)) = items.into_iter().find(|(own, _)| own == name) else { return Ok(None) };
        at = item;
    }
    Ok(Some(at))
}

/// A tree in which a file holds a text. One that has no such file stays as it is: what is left out of a state is left out
/// whatever is typed in it.
pub fn with_text<V: Vault>(
    vault: &mut V,
    tree: ObjectId,
    path: &[u8],
    text: &[u8],
) -> Result<ObjectId, CheckpointError> {
    let (name, below) = first_name(path);
    let mut items = parse_tree(&vault.get(tree)?)?;
    let Some((_, item)) = items.iter_mut().find(|(own, _)| own == name) else { return Ok(tree) };
    let id = match (below, item.kind) {
        (Some(below), ItemKind::Folder) => with_text(vault, item.id, below, text)?,
        (None, ItemKind::File | ItemKind::Program) => vault.put(Kind::Blob, text)?,
        _ => return Ok(tree),
    };
    if id == item.id {
        return Ok(tree);
    }
    item.id = id;
    vault.put(Kind::Tree, &tree_object(&mut items))
}

/// A tree with a file that is not in it, and with its folders.
pub fn with_file<V: Vault>(
    vault: &mut V,
    tree: Option<ObjectId>,
    path: &[u8],
    text: &[u8],
) -> Result<ObjectId, CheckpointError> {
    let (name, below) = first_name(path);
    let mut items =
        tree.map(|tree| vault.get(tree)).transpose()?.map_or_else(|| Ok(Vec::new()), |tree| parse_tree(&tree))?;
    let own = items.iter().position(|(own, _)| own == name).map(|at| items.remove(at).1);
    let folder = own.filter(|own| own.kind == ItemKind::Folder).map(|own| own.id);
    let item = match below {
        Some(below) => Item { kind: ItemKind::Folder, id: with_file(vault, folder, below, text)? },
        None => Item { kind: ItemKind::File, id: vault.put(Kind::Blob, text)? },
    };
    items.push((name.to_vec(), item));
    vault.put(Kind::Tree, &tree_object(&mut items))
}

/// The first name of a path, and what comes behind it.
fn first_name(path: &[u8]) -> (&[u8], Option<&[u8]>) {
    match path.iter().position(|byte| *byte == b'/') {
        Some(at) => (path.get(..at).unwrap_or_default(), path.get(at + 1..)),
        None => (path, None),
    }
}

fn compare<V: Vault>(
    vault: &V,
    path: &[u8],
    before: Option<ObjectId>,
    after: Option<ObjectId>,
    found: &mut Vec<TreeChange>,
) -> Result<(), CheckpointError> {
    if before == after {
        return Ok(());
    }
    let read = |id: Option<ObjectId>| match id {
        Some(id) => vault.get(id).and_then(|bytes| parse_tree(&bytes)),
        None => Ok(Vec::new()),
    };
    let (mut old, mut new) = (read(before)?, read(after)?);
    old.sort_by(|one, other| one.0.cmp(&other.0));
    new.sort_by(|one, other| one.0.cmp(&other.0));
    let (mut old, mut new) = (old.into_iter().peekable(), new.into_iter().peekable());
    loop {
        let order = match (old.peek(), new.peek()) {
            (Some(one), Some(other)) => one.0.cmp(&other.0),
            (Some(_), None) => std::cmp::Ordering::Less,
            (None, Some(_)) => std::cmp::Ordering::Greater,
            (None, None) => return Ok(()),
        };
        let before = if order.is_le() { old.next() } else { None };
        let after = if order.is_ge() { new.next() } else { None };
        let Some(name) = before.as_ref().or(after.as_ref()).map(|(name, _)| name) else { return Ok(()) };
        let path = joined(path, name);
        note(vault, path, before.map(|(_, item)| item), after.map(|(_, item)| item), found)?;
    }
}

/// What is different at one place. A file where a folder was is two changes: the folder's files go.
fn note<V: Vault>(
    vault: &V,
    path: Vec<u8>,
    before: Option<Item>,
    after: Option<Item>,
    found: &mut Vec<TreeChange>,
) -> Result<(), CheckpointError> {
    let folder = |item: Option<Item>| item.filter(|item| item.kind == ItemKind::Folder).map(|item| item.id);
    let file = |item: Option<Item>| item.filter(|item| item.kind != ItemKind::Folder);
    compare(vault, &path, folder(before), folder(after), found)?;
    let (before, after) = (file(before), file(after));
    if before != after {
        found.push(TreeChange { path, before, after, modes: (None, None) });
    }
    Ok(())
}

/// Every file of a tree.
pub fn files<V: Vault>(vault: &V, tree: ObjectId) -> Result<Vec<(Vec<u8>, Item)>, CheckpointError> {
    let all = changes(vault, None, Some(tree))?;
    Ok(all.into_iter().filter_map(|change| change.after.map(|item| (change.path, item))).collect())
}

/// Adds the ids of everything in a tree, itself included; what is known already is not read again.
pub fn files_and_trees<V: Vault>(
    vault: &V,
    tree: ObjectId,
    all: &mut HashSet<ObjectId>,
) -> Result<(), CheckpointError> {
    if !all.insert(tree) {
        return Ok(());
    }
    for (_, item) in parse_tree(&vault.get(tree)?)? {
        match item.kind {
            ItemKind::Folder => files_and_trees(vault, item.id, all)?,
            ItemKind::File | ItemKind::Program | ItemKind::Link => drop(all.insert(item.id)),
        }
    }
    Ok(())
}

/// A path and a name below it.
pub fn joined(path: &[u8], name: &[u8]) -> Vec<u8> {
    let mut joined = Vec::with_capacity(path.len() + 1 + name.len());
    joined.extend_from_slice(path);
    if !path.is_empty() {
        joined.push(b'/');
    }
    joined.extend_from_slice(name);
    joined
}

/// The id that an object would have.
/// Fails when its bytes make a hash that somebody prepared to collide.
pub fn id_of(kind: Kind, bytes: &[u8]) -> Result<ObjectId, CheckpointError> {
    gix::objs::compute_hash(gix::hash::Kind::Sha1, kind, bytes)
        .map_err(|error| CheckpointError::Damaged(format!("an object can't be named: {error}")))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn a_tree_is_read_as_it_was_written(
            names in prop::collection::btree_set("[a-c.0/-]{1,4}".prop_filter("a name", |name| !name.contains('/') && name != "." && name != ".."), 0..8),
            kinds in prop::collection::vec(0usize..4, 8),
        ) {
            let all = [ItemKind::File, ItemKind::Program, ItemKind::Link, ItemKind::Folder];
            let id = ObjectId::empty_tree(gix::hash::Kind::Sha1);
            let mut items: Vec<_> = names.into_iter().zip(&kinds)
                .map(|(name, kind)| (name.into_bytes(), Item { kind: all[*kind], id })).collect();
            let bytes = tree_object(&mut items);
            prop_assert_eq!(parse_tree(&bytes).unwrap(), items);
        }

        #[test]
        fn any_bytes_are_no_harm(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
            let _ = parse_tree(&bytes);
        }
    }

    #[test]
    fn names_that_lead_elsewhere_are_damage() {
        let id = ObjectId::empty_tree(gix::hash::Kind::Sha1);
        for name in ["..", ".", "a/b", ".git", ".GIT", ""] {
            let bytes = tree_object(&mut [(name.as_bytes().to_vec(), Item { kind: ItemKind::File, id })]);
            assert!(parse_tree(&bytes).unwrap_err().is_damage(), "{name}");
        }
    }
}
