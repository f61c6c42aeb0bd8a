//! What trust in a hook is trust in: a hash of the hook and of the files that its command names.
//!
//! A command that names a script in its own folder is only as trustworthy as that script, so the
//! script's bytes count. What those files run in turn does not: nobody can know that beforehand. Nor
//! can anybody know what the shell makes of a variable; such words are told, so that a person decides.

use std::collections::{BTreeMap, BTreeSet};
use std::io::Read;
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

use rustix::fs::OFlags;
use sha2::{Digest, Sha256};

use super::hook::Hook;
use super::named_files::{self, Words};

/// The bytes of a command's files: they are hashed at every run, which must stay cheap.
const MOST_BYTES: u64 = 16 << 20;

/// Files of one command.
const MOST_FILES: usize = 256;

/// Folders that a command may be in.
const MOST_FOLDERS: usize = 64;

/// Why a hook can't be looked at before every run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum FingerprintError {
    /// Too much stands in the files that it names.
    #[error("the files that it names are larger than {} MB", MOST_BYTES >> 20)]
    Bytes,
    /// It names too many files.
    #[error("it names more than {MOST_FILES} files")]
    Files,
    /// It names too many folders.
    #[error("it names more than {MOST_FOLDERS} folders")]
    Folders,
}

/// What a hook is, to the byte.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fingerprint {
    /// The hash of the hook as it is written and of all that it names.
    pub hash: String,
    /// The files of its folder that its command names.
    pub files: Vec<PathBuf>,
    /// What of the command names files that are not known before it runs, as it is written.
    pub unknown: Vec<String>,
}

pub(super) fn of(hook: &Hook) -> Result<Fingerprint, FingerprintError> {
    let mut hash = Sha256::new();
    let limit = hook.limit().as_millis().to_string();
    for part in [hook.event.name(), hook.matcher.pattern(), &hook.command, &limit] {
        add(&mut hash, part.as_bytes());
    }
    let mut named = Named::default();
    if let Some(folder) = hook.origin.folder() {
        let root = real(folder);
        named = Named::by(named_files::of(&hook.command), &root, &root)?;
        let mut left = MOST_BYTES;
        for (name, path) in &named.files {
            add(&mut hash, name.as_os_str().as_encoded_bytes());
            add_file(&mut hash, path, &mut left)?;
        }
    }
    Ok(named.fingerprint(hash))
}

/// Where a folder lies, whatever links lead there.
pub(super) fn real(folder: &Path) -> PathBuf {
    folder.canonicalize().unwrap_or_else(|_| folder.to_owned())
}

/// Length first, so that no two lists of parts look the same.
pub(super) fn add(hash: &mut Sha256, bytes: &[u8]) {
    hash.update((bytes.len() as u64).to_le_bytes());
    hash.update(bytes);
}

pub(super) fn add_file(hash: &mut Sha256, path: &Path, left: &mut u64) -> Result<(), FingerprintError> {
    let read = |most: u64| -> std::io::Result<Vec<u8>> {
        // A pipe in the place of a file must not keep us waiting.
        let flags = i32::try_from(OFlags::NONBLOCK.bits()).unwrap_or_default();
        let file = std::fs::OpenOptions::new().read(true).custom_flags(flags).open(path)?;
        if !file.metadata()?.is_file() {
            return Err(std::io::ErrorKind::InvalidInput.into());
        }
        let mut bytes = Vec::new();
        file.take(most.saturating_add(1)).read_to_end(&mut bytes)?;
        Ok(bytes)
    };
    let Ok(bytes) = read(*left) else {
        add(hash, b"unreadable");
        return Ok(());
    };
    *left = left.checked_sub(bytes.len() as u64).ok_or(FingerprintError::Bytes)?;
    add(hash, b"file");
    add(hash, &bytes);
    Ok(())
}

/// The files that a command names.
#[derive(Default)]
pub(super) struct Named {
    /// By their path in the folder as it is named.
    pub files: BTreeMap<PathBuf, PathBuf>,
    unknown: Vec<String>,
}

impl Named {
    /// Those of the folder `root` that words name, of a command that starts in `at`.
    pub fn by(words: Words, root: &Path, at: &Path) -> Result<Self, FingerprintError> {
        let folders = folders(&words, root, at)?;
        let mut named = Self::default();
        for word in &words.known {
            for folder in &folders {
                named.add(root, folder.join(word))?;
            }
        }
        for word in words.unknown {
            if !named.add_pattern(root, &folders, &word)? {
                named.unknown.push(word);
            }
        }
        if !words.whole {
            named.unknown.push("(not all of it can be read)".to_owned());
        }
        Ok(named)
    }

    /// What they and the rest that was hashed come to.
    pub fn fingerprint(self, hash: Sha256) -> Fingerprint {
        let hash = hash.finalize().iter().map(|byte| format!("{byte:02x}")).collect();
        Fingerprint { hash, files: self.files.into_values().collect(), unknown: self.unknown }
    }

    fn add(&mut self, root: &Path, path: PathBuf) -> Result<(), FingerprintError> {
        if path.is_file() && is_inside(root, &path) {
            let is_link = |above: &&Path| above.starts_with(root) && *above != root && above.is_symlink();
            // A link can be turned elsewhere while the hook starts.
            self.unknown.extend(path.ancestors().find(is_link).map(|link| format!("{} is a link", link.display())));
            self.files.insert(path.clone(), path);
        }
        match self.files.len() > MOST_FILES {
            true => Err(FingerprintError::Files),
            false => Ok(()),
        }
    }

    /// All that a pattern of names can mean is below the folder that it begins with. False when that
    /// is not known: another folder, the whole of this one, or a variable, which can lead anywhere.
    fn add_pattern(&mut self, root: &Path, folders: &BTreeSet<PathBuf>, word: &str) -> Result<bool, FingerprintError> {
        let start: String =
            word.chars().take_while(|char| !matches!(char, '*' | '?' | '[' | '{' | '$' | '`')).collect();
        let Some((start, _)) = start.rsplit_once('/') else { return Ok(false) };
        let mut found = false;
        for below in folders.iter().map(|folder| folder.join(start)) {
            let Ok(real) = below.canonicalize() else { continue };
            if real != *root && real.starts_with(root) {
                self.add_tree(root, &below)?;
                found = true;
            }
        }
        Ok(found && !word.contains(['$', '`', '~']) && !word.contains(".."))
    }

    fn add_tree(&mut self, root: &Path, folder: &Path) -> Result<(), FingerprintError> {
        let Ok(entries) = std::fs::read_dir(folder) else { return Ok(()) };
        for entry in entries.filter_map(Result::ok) {
            // A link to a folder could lead in a circle.
            match entry.file_type().is_ok_and(|kind| kind.is_dir()) {
                true => self.add_tree(root, &entry.path())?,
                false => self.add(root, entry.path())?,
            }
        }
        Ok(())
    }
}

/// The folders that a command may go to before it names a file: every one that it names, and the one it starts in.
fn folders(words: &Words, root: &Path, at: &Path) -> Result<BTreeSet<PathBuf>, FingerprintError> {
    let start = at.canonicalize().ok().filter(|start| start.starts_with(root));
    let mut folders: BTreeSet<PathBuf> = [root.to_owned()].into_iter().chain(start).collect();
    let mut last: Vec<PathBuf> = folders.iter().cloned().collect();
    while let Some(folder) = last.pop() {
        for word in words.known.iter().filter(|word| !is_here(word)) {
            let next = folder.join(word);
            let Some(real) = next.canonicalize().ok().filter(|real| real.is_dir() && real.starts_with(root)) else {
                continue;
            };
            if folders.insert(real.clone()) {
                last.push(real);
            }
            if folders.len() > MOST_FOLDERS {
                return Err(FingerprintError::Folders);
            }
        }
    }
    Ok(folders)
}

fn is_here(word: &str) -> bool {
    word.split('/').all(|name| name.is_empty() || name == ".") && !word.starts_with('/')
}

/// Whether a path is the folder's, by its name or by where it leads.
fn is_inside(root: &Path, path: &Path) -> bool {
    let climbs = path.iter().any(|name| name == "..");
    (path.starts_with(root) && !climbs) || path.canonicalize().is_ok_and(|real| real.starts_with(root))
}

#[cfg(test)]
mod tests {
    use std::fs;

    use neco_proto::event::HookEvent;

    use super::super::hook::Origin;
    use super::super::matcher::Matcher;
    use super::*;

    fn hook(folder: &Path, command: &str) -> Hook {
        Hook {
            event: HookEvent::PreToolUse,
            matcher: Matcher::new("Bash").unwrap(),
            command: command.to_owned(),
            timeout: None,
            origin: Origin::Repository { file: folder.join("x"), folder: folder.to_owned() },
            trusted_as: None,
        }
    }

    fn hash(hook: &Hook) -> String {
        of(hook).unwrap().hash
    }

    fn stage() -> tempfile::TempDir {
        let folder = tempfile::tempdir().unwrap();
        fs::create_dir_all(folder.path().join("hooks/deep")).unwrap();
        for name in ["hooks/a b.sh", "hooks/check.sh", "hooks/deep/x.sh", "root.sh"] {
            fs::write(folder.path().join(name), "one").unwrap();
        }
        folder
    }

    #[test]
    fn a_hook_is_another_when_a_script_of_it_changes() {
        let folder = stage();
        let root = folder.path();
        let link = tempfile::tempdir().unwrap();
        std::os::unix::fs::symlink(root, link.path().join("home")).unwrap();
        let by_link = format!("sh {}/hooks/check.sh", link.path().join("home").display());
        for (command, file) in [
            ("hooks/check.sh", "hooks/check.sh"),
            ("\"$CLAUDE_PROJECT_DIR\"/hooks/check.sh --fast", "hooks/check.sh"),
            ("python3 ${CLAUDE_PROJECT_DIR}/hooks/check.sh>/dev/null 2>&1", "hooks/check.sh"),
            ("${CLAUDE_PROJECT_DIR:-.}/hooks/check.sh", "hooks/check.sh"),
            ("cat x|./hooks/check.sh;true", "hooks/check.sh"),
            ("sh ./hooks/../hooks/check.sh", "hooks/check.sh"),
            ("sh \"hooks/a b.sh\"", "hooks/a b.sh"),
            ("sh hooks/a\\ b.sh", "hooks/a b.sh"),
            ("cd hooks && ./check.sh", "hooks/check.sh"),
            ("cd hooks; cd deep; sh x.sh", "hooks/deep/x.sh"),
            ("(cd hooks/deep && sh ../check.sh)", "hooks/check.sh"),
            ("env -C hooks ./check.sh", "hooks/check.sh"),
            ("for hook in hooks/*.sh; do sh \"$hook\"; done", "hooks/check.sh"),
            ("sh hooks/{check,other}.sh", "hooks/check.sh"),
            ("sh -c \"sh 'hooks/a b.sh'\"", "hooks/a b.sh"),
            (&by_link, "hooks/check.sh"),
        ] {
            let hook = hook(root, command);
            let before = hash(&hook);
            assert_eq!(before, hash(&hook), "{command}");
            fs::write(root.join(file), "two").unwrap();
            assert_ne!(hash(&hook), before, "{command}");
            fs::write(root.join(file), "one").unwrap();
            assert_eq!(hash(&hook), before, "{command}");
        }
        let new = hook(root, "sh hooks/new.sh");
        let before = hash(&new);
        fs::write(root.join("hooks/new.sh"), "").unwrap();
        assert_ne!(hash(&new), before, "a file that was not there counts when it is");
    }

    #[test]
    fn a_hook_that_writes_to_a_file_stays_the_same() {
        let folder = stage();
        let log = folder.path().join("hook.log");
        for command in [
            format!("echo ran >> {}; exit 0", log.display()),
            "hooks/check.sh 2>&1 | tee -a hook.log".to_owned(),
            "echo ran >>\"$CLAUDE_PROJECT_DIR/hook.log\"".to_owned(),
        ] {
            let hook = hook(folder.path(), &command);
            let before = hash(&hook);
            fs::write(&log, "ran").unwrap();
            assert_eq!(hash(&hook), before, "{command}");
            fs::remove_file(&log).unwrap();
        }
    }

    #[test]
    fn a_hook_is_another_when_it_is_written_otherwise() {
        let folder = stage();
        let plain = hook(folder.path(), "true");
        let other = |change: fn(&mut Hook)| {
            let mut other = plain.clone();
            change(&mut other);
            hash(&other)
        };
        assert_ne!(other(|hook| hook.command.push(' ')), hash(&plain));
        assert_ne!(other(|hook| hook.event = HookEvent::Stop), hash(&plain));
        assert_ne!(other(|hook| hook.matcher = Matcher::new("*").unwrap()), hash(&plain));
        assert_ne!(other(|hook| hook.timeout = Some(std::time::Duration::from_secs(1))), hash(&plain));
    }

    #[test]
    fn what_can_not_be_known_is_told_and_what_is_too_much_is_refused() {
        let folder = stage();
        let root = folder.path();
        let unknown = |command: &str| of(&hook(root, command)).unwrap().unknown;
        for command in ["sh $F", "sh *.sh", "sh hooks/$F", "sh ~/x.sh", "sh \"unfinished", "PWD=/tmp sh $PWD/x.sh"] {
            assert!(!unknown(command).is_empty(), "{command}");
        }
        for command in ["./root.sh --fast", "sh hooks/*.sh", "make -s test", "jq -r '.a | .b[]' | grep -v x"] {
            assert_eq!(unknown(command), Vec::<String>::new(), "{command}");
        }
        let big = fs::File::create(root.join("big")).unwrap();
        big.set_len(MOST_BYTES - 10).unwrap();
        let before = hash(&hook(root, "./big"));
        fs::write(root.join("end"), "0123456789").unwrap();
        assert!(of(&hook(root, "cat end big root.sh")).is_err());
        std::os::unix::fs::FileExt::write_at(&big, b"x", MOST_BYTES - 20).unwrap();
        assert_ne!(hash(&hook(root, "./big")), before, "the end of a large file counts");
        fs::create_dir(root.join("many")).unwrap();
        (0..=MOST_FILES).for_each(|index| fs::write(root.join(format!("many/{index}")), "").unwrap());
        assert!(of(&hook(root, "sh many/*")).is_err());
    }

    #[test]
    fn files_elsewhere_do_not_count() {
        let folder = stage();
        assert!(of(&hook(folder.path(), "/bin/sh -c /etc/passwd ../x")).unwrap().files.is_empty());
    }
}
