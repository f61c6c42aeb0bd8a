//! What rules close, drawn into the plan of a box: after everything else, as nothing opens it but another rule.

use std::fs;
use std::path::{Path, PathBuf};

use crate::plan::closing::Shut;
use crate::plan::layout::{Drawing, Missing, Seen};

impl Drawing<'_> {
    /// Hides what rules close to reading, and keeps as it is what they close to changing.
    pub(crate) fn shut(&mut self) {
        let machine = self.machine;
        for (path, shut) in &machine.shut.places {
            // What only stands in for it in another box is not there.
            if machine.stand_ins.contains(path) {
                self.shut_to_making(path);
                continue;
            }
            // Those above come first.
            let above = path.ancestors().skip(1).find_map(|above| machine.shut.places.get(above)).copied();
            let above = above.unwrap_or_default();
            match shut.reading {
                true if above.reading => {}
                true => self.shut_to_reading(path),
                false => {
                    let seen = if shut.changing { Seen::ReadOnly } else { Seen::Writable };
                    match above.reading {
                        true => self.open_again(path, if self.is_in_root(path) { seen } else { Seen::ReadOnly }),
                        false if shut.changing == above.changing => {}
                        false if shut.changing => self.shut_to_changing(path),
                        false => self.open_again(path, Seen::Writable),
                    }
                }
            }
        }
        for path in &machine.shut.missing {
            self.shut_to_making(path);
        }
    }

    fn shut_to_reading(&mut self, path: &Path) {
        let Ok(found) = fs::symlink_metadata(path) else { return };
        // What boxes need of their own stays, in a folder that is empty but for it.
        self.clear_below(path, |seen| seen != Seen::Root);
        self.keep_in_place(path);
        let is_folder = found.is_dir();
        self.replace(path, if is_folder { Seen::HiddenFolder } else { Seen::HiddenFile });
        if !is_folder {
            self.layout.shut_files.insert(path.to_path_buf());
        }
    }

    fn shut_to_changing(&mut self, path: &Path) {
        // Nothing can be made in it, so nothing has to stand in.
        self.clear_below(path, |seen| matches!(seen, Seen::Writable | Seen::StandIn | Seen::StandInFile));
        for root in self.roots_within(path) {
            self.replace(&root, Seen::ReadOnly);
        }
        self.keep_in_place(path);
        self.put(path.to_path_buf(), Seen::ReadOnly);
    }

    /// What a rule opens in what another closes.
    fn open_again(&mut self, path: &Path, seen: Seen) {
        if !self.is_placed(path) {
            self.put(path.to_path_buf(), seen);
        }
    }

    /// A stand-in keeps it from being made; where there is no folder for one, it is put aside at the end. Beside a
    /// server there is neither: what is made is as likely the person's.
    fn shut_to_making(&mut self, path: &Path) {
        let nearest = path.ancestors().skip(1).find_map(|above| self.machine.shut.places.get(above));
        let is_shut = nearest.is_some_and(|shut: &Shut| shut.reading || shut.changing);
        let is_left = self.machine.missing == Missing::Left;
        if is_left || is_shut || !self.is_in_root(path) || self.is_placed(path) {
            return;
        }
        match path.parent().is_some_and(Path::is_dir) {
            true => {
                self.keep_in_place(path);
                self.put(path.to_path_buf(), Seen::StandIn);
            }
            false => self.layout.missing.push(path.to_path_buf()),
        }
    }

    /// The folders that are worked in among what is closed.
    fn roots_within(&self, path: &Path) -> Vec<PathBuf> {
        let is_root = |(own, seen): &(&PathBuf, &Seen)| **seen == Seen::Root && own.starts_with(path);
        let given = |own: &PathBuf| {
            self.machine.given.iter().any(|given| fs::canonicalize(given).is_ok_and(|given| given == *own))
        };
        self.places.iter().filter(is_root).map(|(own, _)| own.clone()).filter(|own| !given(own)).collect()
    }

    fn clear_below(&mut self, path: &Path, goes: impl Fn(Seen) -> bool) {
        let shown: Vec<PathBuf> = self.machine.shown.iter().filter_map(|path| fs::canonicalize(path).ok()).collect();
        self.places.retain(|own, seen| own == path || !own.starts_with(path) || shown.contains(own) || !goes(*seen));
        let is_inside = |own: &PathBuf| own.starts_with(path);
        self.layout.to_be_made.retain(|own| !is_inside(own));
        self.layout.missing.retain(|own| !is_inside(own));
    }
}
