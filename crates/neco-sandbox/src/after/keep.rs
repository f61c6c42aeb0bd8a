//! What must stay until a box is gone, and what is put right then.

use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::after::hands::Hands;
use crate::after::masks::MaskGuard;
use crate::after::traces::Note;
use crate::after::watch::{Watch, Watched};
use crate::git::bare::unmake;
pub(crate) use crate::git::check::Aftermath;
use crate::plan::closing::{Closing, ShutPlaces};
use crate::plan::listed::{Listed, SEVERAL};
use crate::survey::unreadable;

/// Ends when nothing runs in the box any more, also when it is dropped. Touches the disk.
#[derive(Debug)]
pub(crate) struct Keep(Option<Kept>);

#[derive(Debug)]
struct Kept {
    masks: MaskGuard,
    put_right: PutRight,
    watched: Watched,
}

/// What is put right at the end.
#[derive(Debug, Default)]
pub(crate) struct PutRight {
    /// What leads git elsewhere and was not there before: nobody but the command made it.
    pub(crate) unwanted: Vec<PathBuf>,
    /// Settings that were not there before.
    pub(crate) settings: Vec<PathBuf>,
    /// Folders that were no repositories by themselves.
    pub(crate) never_bare: Vec<PathBuf>,
    /// Settings that are links, and where they lead.
    pub(crate) links: Vec<(PathBuf, PathBuf)>,
    /// Folders that were missing, and all that may be in them now.
    pub(crate) only: Vec<(PathBuf, Vec<PathBuf>)>,
    /// Empty files of ours that a command was to fill.
    pub(crate) to_be_filled: Vec<PathBuf>,
    /// Hands for what lies outside of the folders that are worked in, opened before the command ran.
    pub(crate) outside: Vec<Hands>,
    /// What rules close, and what there was of it before the command ran.
    pub(crate) closing: Option<(Arc<Closing>, ShutPlaces)>,
}

impl PutRight {
    /// What is to be put right if this process is killed.
    pub(crate) fn notes(&self) -> Vec<Note> {
        let settings = self.settings.iter().cloned().map(Note::Settings);
        let unwanted = self.unwanted.iter().cloned().map(Note::Unwanted);
        settings.chain(unwanted).chain(self.never_bare.iter().cloned().map(Note::NeverBare)).collect()
    }

    /// The same, and what is made meanwhile of what rules let nobody make is put aside.
    pub(crate) fn after(self, closing: Option<&Arc<Closing>>, before: ShutPlaces) -> Self {
        Self { closing: closing.map(|closing| (Arc::clone(closing), before)), ..self }
    }

    /// Opens hands for what lies elsewhere.
    pub(crate) fn reach_outside(mut self, watch: &Watch) -> Self {
        let links = self.links.iter().map(|(path, _)| path);
        let only = self.only.iter().map(|(path, _)| path);
        let all = self.unwanted.iter().chain(&self.settings).chain(&self.never_bare).chain(&self.to_be_filled);
        let all = all.chain(links).chain(only);
        let mut folders: Vec<&Path> =
            all.filter(|path| watch.hands_for(path).is_none()).filter_map(|path| path.parent()).collect();
        folders.sort_unstable();
        folders.dedup();
        self.outside = folders.into_iter().filter_map(|folder| Hands::open(folder).ok()).collect();
        self
    }
}

impl Keep {
    pub(crate) fn new(masks: MaskGuard, put_right: PutRight, watched: Watched) -> Self {
        Self(Some(Kept { masks, put_right, watched }))
    }

    /// Puts everything right. Gives what the command had made, or someone else meanwhile, that must not be there.
    /// What those made that ended before, and nobody was there to be told, is told with it.
    pub(crate) fn end(mut self) -> Aftermath {
        self.0.take().map(|kept| kept.end(Heard::Now)).unwrap_or_default()
    }

    /// The same where nobody listens: whoever ends next is told.
    pub(crate) fn end_unheard(mut self) {
        drop(self.0.take().map(|kept| kept.end(Heard::Later)));
    }
}

impl Drop for Keep {
    fn drop(&mut self) {
        drop(self.0.take().map(|kept| kept.end(Heard::Later)));
    }
}

/// Whether somebody is told of what became of what a command made.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Heard {
    Now,
    Later,
}

impl Kept {
    fn end(self, heard: Heard) -> Aftermath {
        let mut aftermath = Aftermath::default();
        let watch = Arc::clone(&self.watched.watch);
        let lasting = self.watched.lasting;
        self.put_right.carry_out(&watch, &self.masks.masks.known(), &mut aftermath);
        aftermath.add(self.watched.end());
        drop(self.masks);
        Watched::hold_up(&watch, &aftermath.left);
        match heard {
            Heard::Now => {
                let mut untold = watch.take_untold();
                // Who hears of one that lasts hears that it is over: what it changed is told with the next.
                let acting = if lasting { std::mem::take(&mut untold.acting) } else { Vec::new() };
                watch.leave_untold(Aftermath { acting, ..Aftermath::default() });
                aftermath.add(untold);
            }
            Heard::Later => {
                if !aftermath.taken.is_empty() {
                    tracing::warn!(taken = ?aftermath.taken, "a command made what it must not make: it was put aside");
                }
                let left = std::mem::take(&mut aftermath.left);
                watch.leave_untold(std::mem::replace(&mut aftermath, Aftermath { left, ..Aftermath::default() }));
            }
        }
        aftermath
    }
}

impl PutRight {
    /// The folders in which several things must not be, as they are now.
    fn listed<'a>(&self, hands_for: impl Fn(&Path) -> Option<&'a Hands>) -> Listed {
        let mut looked_for: BTreeMap<&Path, (usize, &Path)> = BTreeMap::new();
        for path in self.unwanted.iter().chain(&self.settings) {
            if let Some(folder) = path.parent() {
                looked_for.entry(folder).or_insert((0, path)).0 += 1;
            }
        }
        let listed = Listed::default();
        for (folder, (_, path)) in looked_for.into_iter().filter(|(_, (count, _))| *count >= SEVERAL) {
            if let Some(Ok(entries)) = hands_for(path).map(|hands| hands.entries_in(folder)) {
                listed.take(folder, entries);
            }
        }
        listed
    }

    fn carry_out(self, watch: &Watch, stand_ins: &BTreeSet<PathBuf>, aftermath: &mut Aftermath) {
        let outside = &self.outside;
        let hands_for = |path: &Path| watch.hands_for(path).or_else(|| outside.iter().find(|hands| hands.reach(path)));
        let listed = self.listed(hands_for);
        let may_be_there = |path: &&PathBuf| listed.holds(path) != Some(false);
        for path in self.unwanted.iter().filter(may_be_there) {
            if let Some(hands) = hands_for(path).filter(|hands| hands.is_there(path)) {
                aftermath.note(path, hands.remove(path));
            }
        }
        // They get other names: someone else may have made them, and nothing of theirs is to be lost.
        // What only stands in for them in another box is left to it.
        let stands_in = |path: &PathBuf| stand_ins.contains(path) && is_empty_folder(path);
        let mut made = Vec::new();
        if let Some((closing, before)) = &self.closing {
            match closing.made_since(before) {
                Ok(found) => made.extend(found.into_iter().filter(|path| !self.settings.contains(path))),
                Err(error) => {
                    tracing::error!(%error, "what a command made can't be told, so no other one is run");
                    aftermath.left.extend_from_slice(closing.roots());
                }
            }
        }
        // What was made is known from a look of its own, which is newer than the list.
        let settings = self.settings.iter().filter(may_be_there);
        for path in settings.chain(&made).filter(|path| !stands_in(path)) {
            if let Some(hands) = hands_for(path).filter(|hands| hands.is_there(path)) {
                aftermath.note(path, hands.put_aside(path, "refused"));
            }
        }
        for (folder, allowed) in &self.only {
            let is_allowed = |path: &Path| allowed.iter().any(|allowed| allowed.starts_with(path));
            let Ok(inside) = unreadable::entries(folder) else {
                aftermath.left.push(folder.clone());
                continue;
            };
            let inside = inside.into_iter().map(|entry| folder.join(entry.name));
            for path in inside.filter(|path| !is_allowed(path)) {
                if let Some(hands) = hands_for(&path) {
                    aftermath.note(&path, hands.put_aside(&path, "refused"));
                }
            }
        }
        for path in self.to_be_filled.iter().filter(|path| is_empty_file(path)) {
            drop(hands_for(path).map(|hands| hands.remove(path)));
        }
        for folder in &self.never_bare {
            let head = folder.join("HEAD");
            if listed.holds(&head) == Some(false) {
                continue;
            }
            if let Some(done) = hands_for(&head).and_then(|hands| unmake(hands, folder)) {
                aftermath.note(&head, done);
            }
        }
        for (path, text) in &self.links {
            if let Some(done) = hands_for(path).and_then(|hands| put_back(hands, path, text)) {
                aftermath.note(path, done);
            }
        }
    }
}

fn is_empty_folder(path: &Path) -> bool {
    std::fs::read_dir(path).is_ok_and(|mut entries| entries.next().is_none())
}

fn is_empty_file(path: &Path) -> bool {
    std::fs::symlink_metadata(path).is_ok_and(|found| found.is_file() && found.len() == 0)
}

/// Puts a link back where something else is now, which is put aside; nothing where there was no need.
fn put_back(hands: &Hands, path: &Path, text: &Path) -> Option<io::Result<()>> {
    if !hands.is_there(path) || hands.link_text(path).is_some_and(|now| now == text) {
        return None;
    }
    Some(hands.put_aside(path, "replaced").and_then(|_| hands.make_link(path, text)))
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::fs::symlink;

    use super::*;

    #[test]
    fn a_replaced_link_is_put_back_and_what_replaced_it_is_kept() {
        let folder = tempfile::tempdir_in(fs::canonicalize(std::env::temp_dir()).unwrap()).unwrap();
        let (link, text) = (folder.path().join(".vscode"), Path::new("../shared"));
        let hands = Hands::open(folder.path()).unwrap();
        symlink(text, &link).unwrap();
        assert!(put_back(&hands, &link, text).is_none(), "nothing happened to it");
        fs::remove_file(&link).unwrap();
        assert!(put_back(&hands, &link, text).is_none(), "what is gone does no harm");
        fs::create_dir(&link).unwrap();
        fs::write(link.join("tasks.json"), "{}").unwrap();
        put_back(&hands, &link, text).unwrap().unwrap();
        assert_eq!(fs::read_link(&link).unwrap(), text);
        assert!(folder.path().join(".vscode.replaced-1/tasks.json").is_file());
        fs::remove_file(&link).unwrap();
        symlink("elsewhere", &link).unwrap();
        put_back(&hands, &link, text).unwrap().unwrap();
        assert_eq!(fs::read_link(folder.path().join(".vscode.replaced-2")).unwrap(), Path::new("elsewhere"));
    }

    #[test]
    fn what_must_not_be_there_is_found_among_much_that_is_not_also_in_a_folder_that_can_not_be_read() {
        use std::os::unix::fs::PermissionsExt;
        for mode in [0o755, 0o311] {
            let folder = tempfile::tempdir_in(fs::canonicalize(std::env::temp_dir()).unwrap()).unwrap();
            let at = |name: &str| folder.path().join(name);
            let watch = Watch::new(&[folder.path().to_path_buf()], true, &[]).unwrap();
            let settings = [".a", ".b", ".c", ".d", ".e"].map(at).to_vec();
            let put_right = PutRight { settings, unwanted: vec![at("x")], ..PutRight::default() };
            fs::create_dir(at(".d")).unwrap();
            symlink("/nowhere", at("x")).unwrap();
            fs::set_permissions(folder.path(), fs::Permissions::from_mode(mode)).unwrap();
            let mut aftermath = Aftermath::default();
            put_right.carry_out(&watch, &BTreeSet::new(), &mut aftermath);
            fs::set_permissions(folder.path(), fs::Permissions::from_mode(0o755)).unwrap();
            assert_eq!(aftermath.taken, [at("x"), at(".d")], "{mode:o}");
            assert!(aftermath.left.is_empty() && at(".d.refused-1").is_dir());
        }
    }
}
