//! The file of rules that were kept by "always": rules are added to it and taken out of it, and what a
//! person writes in it besides stays.

use std::fs::{DirBuilder, File};
use std::io::{self, Write};
use std::os::unix::fs::{DirBuilderExt, PermissionsExt};
use std::path::Path;

use toml_edit::{ArrayOfTables, DocumentMut, Item, Table};

/// What the file begins with.
const HEAD: &str = "\
# Rules that you allowed with \"always\". Change them as you like; `neco policy remove` deletes them.
# A rule holds in the folder named by `workspace`; without that line, everywhere.
";

/// Adds the text of a rule to the file at `path`, which need not be there. It is replaced at once or
/// not at all, and nobody else can read it.
/// Fails when it can't be read or written; then it is as it was.
pub fn keep(path: &Path, rule: &str) -> io::Result<()> {
    keep_below(path, HEAD, rule)
}

/// The same for another file of rules, which begins with `head`.
/// Fails as [`keep`] does.
pub fn keep_below(path: &Path, head: &str, rule: &str) -> io::Result<()> {
    let folder = path.parent().unwrap_or(Path::new("."));
    DirBuilder::new().recursive(true).mode(0o700).create(folder)?;
    rewrite(path, |text| {
        let mut text = if text.is_empty() { head.to_owned() } else { text };
        if text.contains(rule.trim()) {
            return Ok(text);
        }
        if !text.ends_with('\n') {
            text.push('\n');
        }
        text.push('\n');
        text.push_str(rule.trim_end());
        text.push('\n');
        Ok(text)
    })
}

/// The rules of the file at `path`, each as its own text, in their order; none when there is no file.
/// Fails when it can't be read or understood.
pub fn kept(path: &Path) -> io::Result<Vec<String>> {
    let document = parsed(&read(path)?)?;
    let rules = document.get("rule").and_then(Item::as_array_of_tables).into_iter().flat_map(ArrayOfTables::iter);
    Ok(rules.map(text_of).collect())
}

fn text_of(rule: &Table) -> String {
    format!("[[rule]]\n{}", rule.to_string().trim_start())
}

/// Takes these rules out of the file, each by its text as [`kept`] gives it: numbers would mean others once
/// somebody else took one out.
/// Fails when one of them is not there (any more), or the file can't be read, understood or written; then it is as it
/// was.
pub fn forget(path: &Path, wanted: &[&str]) -> io::Result<()> {
    rewrite(path, |text| {
        let mut document = parsed(&text)?;
        let mut rules = document.get_mut("rule").and_then(Item::as_array_of_tables_mut);
        for wanted in wanted {
            let place = rules.as_ref().and_then(|rules| rules.iter().position(|rule| text_of(rule) == *wanted));
            match (&mut rules, place) {
                (Some(rules), Some(place)) => {
                    rules.remove(place);
                }
                (Some(_) | None, _) => {
                    let words = "the rules were changed in the meantime; nothing was deleted, look at them again";
                    return Err(io::Error::new(io::ErrorKind::NotFound, words));
                }
            }
        }
        let rest = document.to_string();
        // The head of the file belongs to its first rule, as the file is written, but not to what it says.
        Ok(if text.starts_with(HEAD) && !rest.starts_with(HEAD) { format!("{HEAD}{rest}") } else { rest })
    })
}

fn parsed(text: &str) -> io::Result<DocumentMut> {
    text.parse().map_err(|error: toml_edit::TomlError| io::Error::new(io::ErrorKind::InvalidData, error.to_string()))
}

fn read(path: &Path) -> io::Result<String> {
    match std::fs::read_to_string(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(String::new()),
        read => read,
    }
}

/// Replaces the file's text, at once or not at all.
fn rewrite(path: &Path, change: impl FnOnce(String) -> io::Result<String>) -> io::Result<()> {
    // Two who change it at once must not lose what the other one did. The folder is locked since the
    // file itself is replaced.
    let lock = File::open(path.parent().unwrap_or(Path::new(".")))?;
    lock.lock()?;
    // People link their settings to another folder; the link stays.
    let path = path.canonicalize().unwrap_or_else(|_| path.to_path_buf());
    let before = read(&path)?;
    let text = change(before.clone())?;
    if text == before {
        return Ok(());
    }
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
    fn rules_are_taken_out_and_what_a_person_wrote_stays() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("always.toml");
        assert!(kept(&path).unwrap().is_empty());
        for tool in ["a", "b", "c"] {
            keep(&path, &format!("[[rule]]\ntool = \"{tool}\"\ndecision = \"allow\"\n")).unwrap();
        }
        let text = std::fs::read_to_string(&path).unwrap().replace("tool = \"b\"", "# mine\ntool = \"b\"");
        std::fs::write(&path, &text).unwrap();
        assert_eq!(kept(&path).unwrap().len(), 3);
        assert_eq!(kept(&path).unwrap()[2], "[[rule]]\ntool = \"c\"\ndecision = \"allow\"\n");
        let rules = kept(&path).unwrap();
        assert!(forget(&path, &[&rules[0], "[[rule]]\ntool = \"x\"\n"]).unwrap_err().to_string().contains("meantime"));
        assert_eq!(std::fs::read_to_string(&path).unwrap(), text);
        forget(&path, &[&rules[0], &rules[2]]).unwrap();
        assert!(forget(&path, &[&rules[0]]).is_err(), "somebody else took it out: no other one goes in its place");
        let text = std::fs::read_to_string(&path).unwrap();
        assert!(text.contains("# mine\ntool = \"b\"") && text.matches("[[rule]]").count() == 1, "{text}");
        assert!(text.starts_with(HEAD), "{text}");
        keep(&path, "[[rule]]\ntool = \"a\"\n").unwrap();
        assert_eq!(kept(&path).unwrap().len(), 2);
    }

    #[test]
    fn a_file_that_can_t_be_read_is_left_alone() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("always.toml");
        std::fs::write(&path, b"\xff\xfe").unwrap();
        assert!(keep(&path, "[[rule]]").is_err() && forget(&path, &[]).is_err());
        assert_eq!(std::fs::read(&path).unwrap(), b"\xff\xfe");
    }
}
