//! The file of rules that were kept by "always": added to, never rewritten, so that what a person
//! writes in it stays.

use std::fs::{DirBuilder, File};
use std::io::{self, Write};
use std::os::unix::fs::{DirBuilderExt, PermissionsExt};
use std::path::Path;

/// What the file begins with.
const HEAD: &str = "\
# Rules that you allowed with \"always\". Change or remove them as you like: `neco policy list` shows
# what is in force. A rule holds in the folder named by `workspace`; without that line, everywhere.
";

/// Adds the text of a rule to the file at `path`, which need not be there. It is replaced at once or
/// not at all, and nobody else can read it.
///
/// # Errors
/// When it can't be read or written; then it is as it was.
pub fn keep(path: &Path, rule: &str) -> io::Result<()> {
    let folder = path.parent().unwrap_or(Path::new("."));
    DirBuilder::new().recursive(true).mode(0o700).create(folder)?;
    // Two who add at once must not lose what the other one added. The folder is locked since the
    // file itself is replaced.
    let lock = File::open(folder)?;
    lock.lock()?;
    // People link their settings to another folder; the link stays.
    let path = path.canonicalize().unwrap_or_else(|_| path.to_path_buf());
    let mut text = match std::fs::read_to_string(&path) {
        Ok(text) => text,
        Err(error) if error.kind() == io::ErrorKind::NotFound => HEAD.to_owned(),
        Err(error) => return Err(error),
    };
    if text.contains(rule.trim()) {
        return Ok(());
    }
    if !text.ends_with('\n') {
        text.push('\n');
    }
    text.push('\n');
    text.push_str(rule.trim_end());
    text.push('\n');
    let mut file = tempfile::NamedTempFile::new_in(path.parent().unwrap_or(Path::new(".")))?;
    file.as_file().set_permissions(std::fs::Permissions::from_mode(0o600))?;
    file.write_all(text.as_bytes())?;
    file.as_file().sync_all()?;
    file.persist(&path).map_err(|error| error.error)?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rules_are_added_and_what_a_person_wrote_stays() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("policy/always.toml");
        keep(&path, "[[rule]]\ntool = \"a\"\ndecision = \"allow\"\n").unwrap();
        let mut text = std::fs::read_to_string(&path).unwrap();
        assert!(text.starts_with("# Rules that you allowed"));
        text.push_str("# mine");
        std::fs::write(&path, &text).unwrap();
        keep(&path, "[[rule]]\ntool = \"b\"\ndecision = \"allow\"\n").unwrap();
        keep(&path, "[[rule]]\ntool = \"b\"\ndecision = \"allow\"\n").unwrap();
        let text = std::fs::read_to_string(&path).unwrap();
        assert!(text.contains("# mine\n\n[[rule]]\ntool = \"b\""), "{text}");
        assert_eq!(text.matches("[[rule]]").count(), 2, "the same rule is not added twice");
        assert_eq!(std::fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
    }

    #[test]
    fn a_file_that_can_t_be_read_is_left_alone() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("always.toml");
        std::fs::write(&path, b"\xff\xfe").unwrap();
        assert!(keep(&path, "[[rule]]").is_err());
        assert_eq!(std::fs::read(&path).unwrap(), b"\xff\xfe");
    }
}
