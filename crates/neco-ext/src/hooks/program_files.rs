//! The files of a folder that the start of a program names. A server that a repository brings is trusted with them, as
//! its hooks are.

use std::path::Path;

use sha2::{Digest, Sha256};

use super::fingerprint::{Fingerprint, FingerprintError, Named, add, add_file, real};
use super::named_files::{self, Words};

/// The bytes of all of them: they are hashed when the program is started, and not at every call.
const MOST_BYTES: u64 = 64 << 20;

/// Programs that take an argument for a command.
const SHELLS: [&str; 6] = ["sh", "bash", "dash", "zsh", "ksh", "fish"];

/// Endings of files that programs write themselves or that people read: a program that is given one is still the same
/// when that changes.
const DATA: [&str; 16] = [
    "csv", "db", "db3", "duckdb", "htm", "html", "jsonl", "log", "md", "ndjson", "pdf", "rst", "sqlite", "sqlite3",
    "tsv", "txt",
];

/// The files of `folder` that a start names, as they are now; `at` is the folder that it starts in. A link out of the
/// folder counts as where it leads: what stands there is not the folder's.
pub(crate) fn of_start(line: &[String], at: &Path, folder: &Path) -> Result<Fingerprint, FingerprintError> {
    let root = real(folder);
    let mut named = Named::by(words(line), &root, at)?;
    let program = line.first().map(|program| at.join(program));
    named.files.retain(|path, _| Some(path) == program.as_ref() || !is_data(path));
    let (mut hash, mut left) = (Sha256::new(), MOST_BYTES);
    for (name, path) in &named.files {
        add(&mut hash, name.as_os_str().as_encoded_bytes());
        match path.canonicalize() {
            Ok(target) if !target.starts_with(&root) => add(&mut hash, target.as_os_str().as_encoded_bytes()),
            Ok(_) | Err(_) => add_file(&mut hash, path, &mut left)?,
        }
    }
    let mut fingerprint = named.fingerprint(hash);
    fingerprint.unknown.sort();
    fingerprint.unknown.dedup();
    Ok(fingerprint)
}

/// The words of a start, which go to the program as they are, and those in each of them. What a shell would make of
/// them is not known.
fn words(line: &[String]) -> Words {
    let has_shell = line.iter().any(|word| SHELLS.contains(&word.rsplit('/').next().unwrap_or(word)));
    let mut words = Words { known: line.to_vec(), unknown: Vec::new(), whole: true };
    for within in line.iter().map(|word| named_files::of(word)) {
        words.known.extend(within.known);
        if has_shell {
            words.unknown.extend(within.unknown);
            words.whole &= within.whole;
        }
    }
    words.known.retain(|word| !word.is_empty());
    words.known.sort();
    words.known.dedup();
    words
}

fn is_data(path: &Path) -> bool {
    let ending = path.extension().map(|ending| ending.to_string_lossy().to_lowercase());
    ending.is_some_and(|ending| DATA.contains(&ending.as_str()))
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    fn print(line: &[&str], at: &Path, folder: &Path) -> Fingerprint {
        let line: Vec<String> = line.iter().map(|word| (*word).to_owned()).collect();
        of_start(&line, at, folder).unwrap()
    }

    fn stage() -> tempfile::TempDir {
        let folder = tempfile::tempdir().unwrap();
        fs::create_dir(folder.path().join("tools")).unwrap();
        for name in ["tools/srv.py", "tools/a b.sh", "tools/kept.db", "settings.json"] {
            fs::write(folder.path().join(name), "one").unwrap();
        }
        folder
    }

    #[test]
    fn a_start_is_another_when_a_file_of_it_changes() {
        let folder = stage();
        let (root, tools) = (folder.path(), folder.path().join("tools"));
        let whole = tools.join("srv.py");
        let whole = whole.to_str().unwrap();
        for (line, at, file) in [
            (&["python3", "tools/srv.py"][..], root, "tools/srv.py"),
            (&["python3", "srv.py"], &tools, "tools/srv.py"),
            (&["python3", whole], Path::new("/"), "tools/srv.py"),
            (&[whole], root, "tools/srv.py"),
            (&["uv", "run", "--directory", "tools", "srv.py"], root, "tools/srv.py"),
            (&["run", "--settings=settings.json"], root, "settings.json"),
            (&["sh", "-c", "cd tools && exec './a b.sh'"], root, "tools/a b.sh"),
        ] {
            let before = print(line, at, root);
            assert_eq!(before.files.len(), 1, "{line:?}: {before:?}");
            assert_eq!(print(line, at, root), before, "{line:?}");
            fs::write(root.join(file), "two").unwrap();
            assert_ne!(print(line, at, root).hash, before.hash, "{line:?}");
            fs::write(root.join(file), "one").unwrap();
        }
    }

    #[test]
    fn what_a_program_writes_and_what_is_not_of_the_folder_does_not_count() {
        let folder = stage();
        let root = folder.path();
        let print = |line: &[&str]| print(line, root, root);
        assert!(print(&["serve", "--db", "tools/kept.db", "/bin/sh", "no-such-file"]).files.is_empty());
        assert_eq!(print(&["serve", "a b; c > $D * \"x"]).unknown, Vec::<String>::new());
        assert!(!print(&["sh", "-c", "$D/run"]).unknown.is_empty(), "only the shell knows what that is");
        let other = tempfile::tempdir().unwrap();
        fs::write(other.path().join("python"), "one").unwrap();
        std::os::unix::fs::symlink(other.path().join("python"), root.join("python")).unwrap();
        let before = print(&["./python", "tools/srv.py"]).hash;
        fs::write(other.path().join("python"), "two").unwrap();
        assert_eq!(print(&["./python", "tools/srv.py"]).hash, before, "it is not the folder's");
        fs::remove_file(root.join("python")).unwrap();
        std::os::unix::fs::symlink("/bin/sh", root.join("python")).unwrap();
        assert_ne!(print(&["./python", "tools/srv.py"]).hash, before, "the link is");
    }
}
