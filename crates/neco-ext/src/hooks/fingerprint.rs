//! What trust in a hook is trust in: a hash of the hook and of the files that its command names.
//!
//! A command that names a script in its own folder is only as trustworthy as that script, so the
//! script's bytes count. What those files run in turn does not: nobody can know that beforehand.

use std::io::Read;
use std::path::{Path, PathBuf};

use sha2::{Digest, Sha256};

use super::hook::Hook;

/// Larger files count by their size and first bytes: a hash at every run must stay cheap.
const MOST_BYTES: u64 = 8 << 20;

/// Files of one command that are looked at.
const MOST_FILES: usize = 32;

pub(super) fn of(hook: &Hook) -> String {
    let mut hash = Sha256::new();
    let limit = hook.limit().as_millis().to_string();
    for part in [hook.event.name(), hook.matcher.pattern(), &hook.command, &limit] {
        add(&mut hash, part.as_bytes());
    }
    if let Some(folder) = hook.origin.folder() {
        for (name, path) in named_files(&hook.command, folder) {
            add(&mut hash, name.as_bytes());
            add_file(&mut hash, &path);
        }
    }
    hash.finalize().iter().map(|byte| format!("{byte:02x}")).collect()
}

/// Length first, so that no two lists of parts look the same.
fn add(hash: &mut Sha256, bytes: &[u8]) {
    hash.update((bytes.len() as u64).to_le_bytes());
    hash.update(bytes);
}

fn add_file(hash: &mut Sha256, path: &Path) {
    let read = || -> std::io::Result<Vec<u8>> {
        let file = std::fs::File::open(path)?;
        let mut bytes = file.metadata()?.len().to_le_bytes().to_vec();
        file.take(MOST_BYTES).read_to_end(&mut bytes)?;
        Ok(bytes)
    };
    match read() {
        Ok(bytes) => add(hash, &bytes),
        Err(_) => add(hash, b"unreadable"),
    }
}

/// The words of a command that are files in its folder. Words are cut at everything that can end
/// one in a shell: a file too many costs nothing, one too few could be swapped.
fn named_files(command: &str, folder: &Path) -> Vec<(String, PathBuf)> {
    let folder = folder.canonicalize().unwrap_or_else(|_| folder.to_owned());
    let plain = ["${CLAUDE_PROJECT_DIR}", "$CLAUDE_PROJECT_DIR", "${NECO_PROJECT_DIR}", "$NECO_PROJECT_DIR", "$PWD"]
        .iter()
        .fold(command.to_owned(), |text, variable| text.replace(variable, "."));
    let plain: String = plain.chars().filter(|char| !matches!(char, '"' | '\'' | '\\')).collect();
    let ends = |char: char| char.is_whitespace() || matches!(char, ';' | '|' | '&' | '(' | ')' | '<' | '>' | '=' | '`');
    let inside = |word: &str| {
        let path = folder.join(word);
        let climbs = word.split('/').any(|name| name == "..");
        // A link in the folder that leads out of it counts by where it leads; a path that climbs out does not.
        let inside = if climbs { path.canonicalize().ok()?.starts_with(&folder) } else { path.starts_with(&folder) };
        (inside && path.is_file()).then(|| (word.to_owned(), path))
    };
    plain.split(ends).filter(|word| !word.is_empty()).filter_map(inside).take(MOST_FILES).collect()
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

    #[test]
    fn a_hook_is_another_when_it_or_its_script_changes() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path();
        fs::create_dir(root.join("hooks")).unwrap();
        fs::write(root.join("hooks/a b.sh"), "one").unwrap();
        fs::write(root.join("hooks/check.sh"), "one").unwrap();
        let commands = [
            "hooks/check.sh",
            "\"$CLAUDE_PROJECT_DIR\"/hooks/check.sh --fast",
            "$CLAUDE_PROJECT_DIR/hooks/check.sh",
            "python3 ${CLAUDE_PROJECT_DIR}/hooks/check.sh>/dev/null 2>&1",
            "cat x|./hooks/check.sh;true",
            "sh ./hooks/../hooks/check.sh",
        ];
        let before: Vec<String> = commands.iter().map(|command| of(&hook(root, command))).collect();
        let again: Vec<String> = commands.iter().map(|command| of(&hook(root, command))).collect();
        assert_eq!(before, again);
        fs::write(root.join("hooks/check.sh"), "two").unwrap();
        for (command, before) in commands.iter().zip(before) {
            assert_ne!(of(&hook(root, command)), before, "{command}");
        }
        let plain = hook(root, "true");
        let other = |change: fn(&mut Hook)| {
            let mut other = plain.clone();
            change(&mut other);
            of(&other)
        };
        assert_ne!(other(|hook| hook.command.push(' ')), of(&plain));
        assert_ne!(other(|hook| hook.event = HookEvent::Stop), of(&plain));
        assert_ne!(other(|hook| hook.matcher = Matcher::new("*").unwrap()), of(&plain));
        assert_ne!(other(|hook| hook.timeout = Some(std::time::Duration::from_secs(1))), of(&plain));
    }

    #[test]
    fn files_elsewhere_do_not_count() {
        let folder = tempfile::tempdir().unwrap();
        assert!(named_files("/bin/sh -c /etc/passwd ../x", folder.path()).is_empty());
    }
}
