//! What a rebase that was stopped has yet to do: its list may name programs, which run when someone goes on with it.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use crate::git::linked::bytes_of;

/// No list is longer.
const MOST_BYTES: u64 = 4 * 1024 * 1024;

/// What starts nothing, by its name and by its letter.
const HARMLESS: &str = "pick p reword r edit e squash s fixup f drop d label l reset t merge m update-ref u break b \
    noop";

pub(crate) fn list_of(git: &Path) -> PathBuf {
    git.join("rebase-merge/git-rebase-todo")
}

/// The lines of its list that start programs; nothing if there is no list.
pub(crate) fn programs_in(git: &Path) -> Option<(PathBuf, BTreeSet<Vec<u8>>)> {
    let list = list_of(git);
    fs::symlink_metadata(&list).ok()?;
    let text = bytes_of(&list, MOST_BYTES).unwrap_or_default();
    let programs = lines(&text).filter(|line| !is_harmless(line)).map(<[u8]>::to_vec).collect();
    Some((list, programs))
}

/// What is left of a list without the programs that were not `known`; nothing if there are none. What can't be read
/// leaves nothing.
pub(crate) fn without_new_programs(list: &Path, known: Option<&BTreeSet<Vec<u8>>>) -> Option<Vec<u8>> {
    let Some(text) = bytes_of(list, MOST_BYTES) else { return Some(Vec::new()) };
    let stays = |line: &&[u8]| is_harmless(line) || known.is_some_and(|known| known.contains(*line));
    if lines(&text).all(|line| stays(&line)) {
        return None;
    }
    Some(lines(&text).filter(stays).flat_map(|line| [line, b"\n"].concat()).collect())
}

fn lines(text: &[u8]) -> impl Iterator<Item = &[u8]> {
    text.strip_suffix(b"\n").unwrap_or(text).split(|byte| *byte == b'\n')
}

fn is_harmless(line: &[u8]) -> bool {
    let line = line.trim_ascii();
    let word = line.split(|byte| byte.is_ascii_whitespace()).next().unwrap_or_default();
    word.is_empty() || word.starts_with(b"#") || HARMLESS.split_whitespace().any(|own| own.as_bytes() == word)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn programs_go_and_what_was_to_run_before_stays() {
        let folder = tempfile::tempdir().unwrap();
        fs::create_dir(folder.path().join("rebase-merge")).unwrap();
        assert!(programs_in(folder.path()).is_none());
        let list = list_of(folder.path());
        fs::write(&list, "pick 1 a\n\n# exec no\nexec make test\nx evil\n\texec\tevil\nbreak\n").unwrap();
        let known = BTreeSet::from([b"exec make test".to_vec()]);
        let left = without_new_programs(&list, Some(&known)).unwrap();
        assert_eq!(left, b"pick 1 a\n\n# exec no\nexec make test\nbreak\n");
        fs::write(&list, &left).unwrap();
        assert_eq!(without_new_programs(&list, Some(&known)), None);
        assert_eq!(programs_in(folder.path()).unwrap().1, known);
        fs::remove_file(&list).unwrap();
        std::os::unix::fs::symlink("/elsewhere", &list).unwrap();
        assert_eq!(without_new_programs(&list, None), Some(Vec::new()), "a link is not followed");
    }
}
