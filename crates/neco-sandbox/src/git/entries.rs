//! The entries of an index: those that are repositories by themselves, and those that stand for whole folders.
//!
//! They are read here and not by a library: whoever wrote the index may have written it so that git finds another
//! repository in it than a reader that is only nearly the same. gix takes names up to their first zero where git takes the
//! length that is said, leaves out the padding after very long names, and trusts a table of blocks only sometimes.

use std::fmt::Write as _;

/// What kind of entry it is, in the upper part of its mode.
const KIND: u32 = 0o170_000;
const REPOSITORY: u32 = 0o160_000;
const FOLDER: u32 = 0o040_000;

/// What stands before the name of an entry: times, numbers, mode and size, then the hash, then flags.
const NUMBERS: usize = 40;
const MODE_AT: usize = 24;

/// The length of a name is said up to this one.
const LONG_NAME: usize = 0xfff;

/// How long the last extension is besides its hash; it says where the first one begins.
const LAST_EXTENSION: usize = 12;

/// What an index names.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Entries {
    pub(crate) repositories: Vec<Vec<u8>>,
    /// Folders of which it does not say what is in them.
    pub(crate) folders: Vec<Vec<u8>>,
    /// Files beside it that hold more entries.
    pub(crate) shared: Vec<Vec<u8>>,
}

impl Entries {
    pub(crate) fn and(mut self, other: Self) -> Self {
        self.repositories.extend(other.repositories);
        self.folders.extend(other.folders);
        self.shared.extend(other.shared);
        self
    }
}

/// What an index names; nothing if it can't be read.
pub(crate) fn entries_in(index: &[u8]) -> Option<Entries> {
    // How long hashes are stands in the settings: whatever either way of reading gives is looked at.
    match (read(index, 20), read(index, 32)) {
        (Some(short), Some(long)) => Some(short.and(long)),
        (short, long) => short.or(long),
    }
}

fn read(index: &[u8], hash: usize) -> Option<Entries> {
    let version = number(index, 4)?;
    let count = number(index, 8)?;
    if index.get(..4)? != b"DIRC" || !(2..=4).contains(&version) {
        return None;
    }
    let reader = Reader { index, hash, version };
    let mut entries = Entries::default();
    let end = reader.block(12, count, &mut entries)?;
    // The extensions and the hash of it all.
    let extensions_end = index.len().checked_sub(hash).filter(|length| *length >= end)?;
    // Git may be led to the extensions, and by them to the entries, another way.
    let last = [20, 32].map(|hash| extensions_end.checked_sub(LAST_EXTENSION + hash));
    let last = last.into_iter().flatten().filter(|at| index.get(*at..).is_some_and(|rest| rest.starts_with(b"EOIE")));
    let begins = last.filter_map(|at| usize::try_from(number(index, at + 8)?).ok()).filter(|begin| *begin != end);
    for begin in begins.chain([end]) {
        reader.extensions(begin, extensions_end, count, &mut entries)?;
    }
    Some(entries)
}

struct Reader<'a> {
    index: &'a [u8],
    hash: usize,
    version: u32,
}

impl Reader<'_> {
    /// So many entries from here on. Gives where they end.
    fn block(&self, mut at: usize, count: u32, entries: &mut Entries) -> Option<usize> {
        let mut name: Vec<u8> = Vec::new();
        for place in 0..count {
            let begin = at;
            let mode = number(self.index, at.checked_add(MODE_AT)?)?;
            at = at.checked_add(NUMBERS + self.hash)?;
            let flags = u16::from_be_bytes(*self.index.get(at..)?.first_chunk::<2>()?);
            at += if flags & 0x4000 == 0 { 2 } else { 4 };
            let kept = match self.version {
                4 => {
                    let gone = distance(self.index, &mut at)?;
                    // Before the first of a block no name counts.
                    if place == 0 { 0 } else { name.len().checked_sub(gone)? }
                }
                _ => 0,
            };
            let rest = self.index.get(at..)?;
            // The length that is said counts, whatever the name is.
            let length = match usize::from(flags) & LONG_NAME {
                LONG_NAME => rest.iter().position(|byte| *byte == 0)?,
                said => said.checked_sub(kept)?,
            };
            name.truncate(kept);
            name.extend_from_slice(rest.get(..length)?);
            at += match self.version {
                4 => length + 1,
                // Filled up with zeros to a multiple of eight, with one at least.
                _ => ((at - begin + length + 8) & !7) - (at - begin),
            };
            // To the system a name ends where a zero is.
            let used = || name.split(|byte| *byte == 0).next().unwrap_or_default().to_vec();
            match mode & KIND {
                REPOSITORY => entries.repositories.push(used()),
                FOLDER => entries.folders.push(used()),
                _ => {}
            }
        }
        Some(at)
    }

    fn extensions(&self, mut at: usize, end: usize, count: u32, entries: &mut Entries) -> Option<()> {
        while at.checked_add(8)? <= end {
            let name = self.index.get(at..at + 4)?;
            let size = usize::try_from(number(self.index, at + 4)?).ok()?;
            let inside = self.index.get(at + 8..(at + 8).checked_add(size)?);
            match (name, inside) {
                (b"link", Some(inside)) => entries.shared.push(shared_index(inside.get(..self.hash)?)),
                (b"IEOT", Some(inside)) => self.blocks(inside, count, entries)?,
                // Git would refuse it, too.
                (b"link" | b"IEOT", None) => return None,
                _ => {}
            }
            at = (at + 8).checked_add(size)?;
        }
        Some(())
    }

    /// Where blocks of entries begin, so that several can be read at once.
    fn blocks(&self, inside: &[u8], count: u32, entries: &mut Entries) -> Option<()> {
        let mut left = count;
        for block in inside.get(4..)?.chunks_exact(8) {
            let (begin, inside) = (usize::try_from(number(block, 0)?).ok()?, number(block, 4)?);
            left = left.checked_sub(inside)?;
            self.block(begin, inside, entries)?;
        }
        Some(())
    }
}

fn shared_index(hash: &[u8]) -> Vec<u8> {
    let mut name = "sharedindex.".to_owned();
    for byte in hash {
        let _ = write!(name, "{byte:02x}");
    }
    name.into_bytes()
}

/// How much of the name before is not part of this one.
fn distance(index: &[u8], at: &mut usize) -> Option<usize> {
    let mut value: usize = 0;
    loop {
        let byte = *index.get(*at)?;
        *at += 1;
        value = value.checked_mul(128)?.checked_add(usize::from(byte & 0x7f))?;
        if byte & 0x80 == 0 {
            return Some(value);
        }
        value = value.checked_add(1)?;
    }
}

fn number(bytes: &[u8], at: usize) -> Option<u32> {
    Some(u32::from_be_bytes(*bytes.get(at..)?.first_chunk()?))
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::process::Command;

    use super::*;

    fn index(script: &str) -> Vec<u8> {
        let folder = tempfile::tempdir().unwrap();
        assert!(Command::new("sh").args(["-c", script]).current_dir(folder.path()).status().unwrap().success());
        fs::read(folder.path().join(".git/index")).unwrap()
    }

    #[test]
    fn repositories_in_a_repository_are_found_in_every_version_of_the_index() {
        for (format, version, threads) in
            [("sha1", "2", "1"), ("sha1", "4", "2"), ("sha256", "2", "2"), ("sha256", "4", "1"), ("sha1", "2", "2")]
        {
            let index = index(&format!(
                "git init -q --object-format={format} . && git config index.version {version} && \
                 git config index.threads {threads} && \
                 for i in a/sub z; do git init -q --object-format={format} $i && \
                 git -C $i -c user.name=a -c user.email=a@b commit -q --allow-empty -m x; done && \
                 echo 1 >aa && echo 2 >long-name-of-a-file && git add -A 2>/dev/null && git add -N aa"
            ));
            let found = entries_in(&index).unwrap();
            assert!(found.repositories.ends_with(&[b"a/sub".to_vec(), b"z".to_vec()]), "{format} {version}: {found:?}");
            assert_eq!((found.folders.len(), found.shared.len()), (0, 0));
            assert_eq!(entries_in(&index[..index.len() / 2]), None);
        }
        assert_eq!(entries_in(b""), None);
    }

    /// One entry as git writes it.
    fn entry(mode: u32, length: u16, name: &[u8]) -> Vec<u8> {
        let mut entry = [[0; MODE_AT].as_slice(), &mode.to_be_bytes(), &[0; 12], &[7; 20]].concat();
        entry.extend(length.to_be_bytes());
        entry.extend_from_slice(name);
        entry
    }

    fn whole(entries: &[Vec<u8>], extensions: &[u8]) -> Vec<u8> {
        let head = [b"DIRC".as_slice(), &2u32.to_be_bytes(), &u32::try_from(entries.len()).unwrap().to_be_bytes()];
        [head.concat(), entries.concat(), extensions.to_vec(), vec![0; 20]].concat()
    }

    #[test]
    fn odd_entries_are_read_as_git_reads_them() {
        // A name that says to be longer than it is hides what follows from whoever looks for its end.
        let hides = entry(0o100_644, 3, b"a\0b\0\0\0\0\0\0\0");
        let plain = entry(0o160_000, 3, b"sub\0\0\0\0\0\0\0");
        assert_eq!(entries_in(&whole(&[hides, plain], b"")).unwrap().repositories, [b"sub"]);
        let odd_mode = entry(0o160_755, 3, b"sub\0\0\0\0\0\0\0");
        let folder = entry(0o040_000, 2, b"n/\0\0\0\0\0\0\0\0");
        let found = entries_in(&whole(&[folder, odd_mode], b"")).unwrap();
        assert_eq!((found.repositories, found.folders), (vec![b"sub".to_vec()], vec![b"n/".to_vec()]));
        let link = [b"link".as_slice(), &20u32.to_be_bytes(), &[0xab; 20]].concat();
        let found = entries_in(&whole(&[], &link)).unwrap();
        assert_eq!(found.shared, [format!("sharedindex.{}", "ab".repeat(20)).into_bytes()]);
    }

    #[test]
    fn entries_behind_a_table_of_blocks_are_found_too() {
        let seen = entry(0o100_644, 1, b"a\0");
        let hidden = entry(0o160_000, 3, b"sub\0\0\0\0\0\0\0");
        let inside_at = u32::try_from(12 + seen.len() + 8).unwrap();
        let odd = [b"ODDX".as_slice(), &u32::try_from(hidden.len()).unwrap().to_be_bytes(), &hidden].concat();
        let table_at = u32::try_from(12 + seen.len() + odd.len()).unwrap();
        let blocks = [1u32, inside_at, 1].map(u32::to_be_bytes).concat();
        let table = [b"IEOT".as_slice(), &12u32.to_be_bytes(), &blocks].concat();
        let last = [b"EOIE".as_slice(), &24u32.to_be_bytes(), &table_at.to_be_bytes(), &[0; 20]].concat();
        let index = whole(&[seen], &[odd, table, last].concat());
        assert!(entries_in(&index).unwrap().repositories.contains(&b"sub".to_vec()));
    }

    #[test]
    fn a_repository_behind_a_name_with_a_zero_in_it_is_found_as_git_finds_it() {
        // To git the first name goes on behind its zero; to others another entry and an extension begin there.
        let seen_by_others = entry(0o100_644, 1, b"\x01b\0");
        let sub_with = |distance: &[u8]| entry(0o160_000, 3, &[distance, b"sub\0"].concat());
        let length = u8::try_from(1 + 1 + seen_by_others.len() + 8).unwrap();
        let sub = sub_with(&[length]);
        let extension = [b"ODDX".as_slice(), &u32::try_from(1 + sub.len()).unwrap().to_be_bytes()].concat();
        let name = [b"a\0".as_slice(), &seen_by_others, &extension].concat();
        assert_eq!((name.len(), length < 128), (usize::from(length), true));
        let first = entry(0o100_644, u16::from(length), &[b"\0".as_slice(), &name, b"\0"].concat());
        let index = [b"DIRC\0\0\0\x04\0\0\0\x02".as_slice(), &first, &sub, &[0; 20]].concat();
        assert_eq!(entries_in(&index).unwrap().repositories, [b"sub"]);
        let folder = tempfile::tempdir().unwrap();
        let git = |arguments: &[&str]| Command::new("git").args(arguments).current_dir(folder.path()).output().unwrap();
        git(&["init", "-q"]);
        fs::write(folder.path().join(".git/index"), &index).unwrap();
        let listed = String::from_utf8(git(&["ls-files", "-s"]).stdout).unwrap();
        assert!(listed.lines().any(|line| line.starts_with("160000 ") && line.ends_with("\tsub")), "{listed}");
    }

    proptest::proptest! {
        #[test]
        fn any_bytes_are_read_without_harm(bytes in proptest::collection::vec(proptest::num::u8::ANY, 0..400)) {
            let index = [b"DIRC\0\0\0\x04\0\0\0\x09".as_slice(), &bytes].concat();
            let _ = entries_in(&index);
        }
    }
}
