//! Which repositories git enters from another: those that its index names.

/// The mode of what is a repository by itself.
const REPOSITORY: u32 = 0o160_000;

/// The names of repositories in an index; nothing if it can't be read.
pub(super) fn repositories_in(index: &[u8]) -> Option<Vec<Vec<u8>>> {
    // How long hashes are stands in the settings: whatever either way of reading gives is looked at.
    match (read(index, 20), read(index, 32)) {
        (Some(short), Some(long)) => Some([short, long].concat()),
        (short, long) => short.or(long),
    }
}

/// What stands before the name of an entry: times, numbers, mode and size, then the hash, then flags.
const NUMBERS: usize = 40;
const MODE_AT: usize = 24;

fn read(index: &[u8], hash: usize) -> Option<Vec<Vec<u8>>> {
    let version = number(index, 4)?;
    let count = number(index, 8)?;
    if index.get(..4)? != b"DIRC" || !(2..=4).contains(&version) {
        return None;
    }
    let mut found = Vec::new();
    let mut at = 12;
    let mut name: Vec<u8> = Vec::new();
    for _ in 0..count {
        let begin = at;
        let mode = number(index, at + MODE_AT)?;
        let flags = index.get(at + NUMBERS + hash..)?.first_chunk::<2>()?;
        at += NUMBERS + hash + 2;
        if flags[0] & 0x40 != 0 {
            at += 2;
        }
        let kept = match version {
            4 => name.len().checked_sub(distance(index, &mut at)?)?,
            _ => 0,
        };
        let rest = index.get(at..)?;
        let length = rest.iter().position(|byte| *byte == 0)?;
        name.truncate(kept);
        name.extend_from_slice(rest.get(..length)?);
        at += length + 1;
        if version < 4 {
            // Filled up with zeros to a multiple of eight.
            at = begin + (at - begin).div_ceil(8) * 8;
        }
        if mode == REPOSITORY {
            found.push(name.clone());
        }
    }
    // The extensions and the hash of it all.
    (index.len() >= at + hash).then_some(found)
}

/// How much of the name before is not part of this one.
fn distance(index: &[u8], at: &mut usize) -> Option<usize> {
    let mut value: usize = 0;
    loop {
        let byte = *index.get(*at)?;
        *at += 1;
        value = value.checked_shl(7)?.checked_add(usize::from(byte & 0x7f))?;
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

    #[test]
    fn repositories_in_a_repository_are_found_in_every_version_of_the_index() {
        for (format, version) in [("sha1", "2"), ("sha1", "4"), ("sha256", "2"), ("sha256", "4")] {
            let folder = tempfile::tempdir().unwrap();
            let script = format!(
                "git init -q --object-format={format} . && git config index.version {version} && \
                 for i in a/sub z; do git init -q --object-format={format} $i && \
                 git -C $i -c user.name=a -c user.email=a@b commit -q --allow-empty -m x; done && \
                 echo 1 >aa && echo 2 >long-name-of-a-file && git add -A 2>/dev/null && git add -N aa"
            );
            assert!(Command::new("sh").args(["-c", &script]).current_dir(folder.path()).status().unwrap().success());
            let index = fs::read(folder.path().join(".git/index")).unwrap();
            let found = repositories_in(&index).unwrap();
            assert!(found.ends_with(&[b"a/sub".to_vec(), b"z".to_vec()]), "{format} {version}: {found:?}");
            assert_eq!(repositories_in(&index[..index.len() / 2]), None);
        }
        assert_eq!(repositories_in(b""), None);
    }

    proptest::proptest! {
        #[test]
        fn any_bytes_are_read_without_harm(bytes in proptest::collection::vec(proptest::num::u8::ANY, 0..400)) {
            let index = [b"DIRC\0\0\0\x04\0\0\0\x09".as_slice(), &bytes].concat();
            let _ = repositories_in(&index);
        }
    }
}
