//! Files of a set-up, copied to Neco's folders. Nothing is written over.

use std::borrow::Cow;
use std::fs::{self, Permissions};
use std::io::{self, Write as _};
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Component, Path, PathBuf};

use neco_ext::folder_files::{FolderError, FolderFiles};
use neco_ext::skills::LIMITS;
use neco_port::setups::Level;
use neco_port::setups::piece::NewFile;
use neco_proto::app::AppError;
use neco_proto::app::setups::SetupOutcome;
use neco_safety::path::sensitive::holds_secrets;
use neco_safety::secrets::{Redactor, Scope};

use super::take::{Done, Taking};
use crate::error::{failed, invalid};

/// What is said where something else is.
const STAYS: &str = "something else of that name is there, and stays";

/// Makes a file that is not there.
pub(super) fn file(taking: &Taking<'_>, level: Level, new: &NewFile) -> Result<Done, AppError> {
    let file = place(taking, level, &new.path)?;
    let to = taking.app.env.shown(&file);
    if fs::read(&file).is_ok_and(|present| present == new.content.as_bytes()) {
        return Ok(Done::already(to));
    }
    if file.symlink_metadata().is_ok() {
        return Ok(Done::stays(to, STAYS));
    }
    if taking.wanted.writes {
        make(&file, &new.content).map_err(|error| failed(format!("{to}: {error}")))?;
    }
    Ok(Done::taken(to))
}

/// Copies a skill that is not there.
pub(super) fn skill(taking: &Taking<'_>, level: Level, from: &Path) -> Result<Done, AppError> {
    let name = from.file_name().ok_or_else(|| invalid("it has no name"))?;
    let own = place(taking, level, &Path::new("skills").join(name))?;
    let to = taking.app.env.shown(&own);
    let redactor = taking.app.redactor(Path::new(&taking.wanted.folder));
    let copy = SkillCopy::of(from, &redactor).map_err(|error| failed(format!("{error}; copy it yourself")))?;
    let mut done = match own.symlink_metadata() {
        Ok(_) if copy.is_in(&own) => Done::already(to),
        Ok(_) => Done::stays(to, STAYS),
        Err(_) => {
            if taking.wanted.writes {
                copy.put(&own).map_err(|error| failed(format!("{to}: {error}")))?;
            }
            Done::taken(to)
        }
    };
    if done.outcome == SetupOutcome::Taken && !copy.words.is_empty() {
        done.outcome = SetupOutcome::Changed;
        done.words = Some(copy.words.join("; "));
    }
    Ok(done)
}

/// Where something goes. No link may lead elsewhere on the way there.
fn place(taking: &Taking<'_>, level: Level, path: &Path) -> Result<PathBuf, AppError> {
    let folder = taking.own_folder(level)?;
    match level {
        Level::Person => no_links(&folder, path)?,
        Level::Project => no_links(taking.project()?, &Path::new(".neco").join(path))?,
    }
    Ok(folder.join(path))
}

/// A skill as it is copied: without keys, files of secrets, and what programs and version control keep in it.
struct SkillCopy {
    /// Each file by its path in the skill, with what is in it.
    files: Vec<(PathBuf, Vec<u8>)>,
    /// Where they are now.
    from: PathBuf,
    /// What is different about it.
    words: Vec<String>,
}

impl SkillCopy {
    fn of(folder: &Path, redactor: &Redactor) -> Result<Self, FolderError> {
        let mut copy = Self { files: Vec::new(), from: folder.to_owned(), words: Vec::new() };
        let left_out = LIMITS.left_out.iter().filter(|name| folder.join(name).exists());
        copy.words.extend(left_out.map(|name| format!("without {name}")));
        FolderFiles::of(folder, LIMITS)?.read_all(|name, bytes| {
            if holds_secrets(name, false) || name.ancestors().skip(1).any(|above| holds_secrets(above, true)) {
                copy.words.push(format!("without {}, which may hold secrets", name.display()));
                return;
            }
            let clean = str::from_utf8(bytes).map(|text| redactor.redact(text, Scope::Outside));
            let bytes = match clean {
                Ok(Cow::Owned(clean)) => {
                    copy.words.push(format!("what looks like a key was taken out of {}", name.display()));
                    clean.into_bytes()
                }
                Ok(Cow::Borrowed(_)) | Err(_) => bytes.to_vec(),
            };
            copy.files.push((name.to_owned(), bytes));
        })?;
        Ok(copy)
    }

    fn is_in(&self, folder: &Path) -> bool {
        self.files.iter().all(|(name, bytes)| fs::read(folder.join(name)).is_ok_and(|present| present == *bytes))
    }

    /// Puts it there, whole or not at all.
    fn put(&self, to: &Path) -> io::Result<()> {
        let place = to.parent().unwrap_or(to);
        fs::create_dir_all(place)?;
        let half = tempfile::tempdir_in(place)?;
        for (name, bytes) in &self.files {
            let target = half.path().join(name);
            target.parent().map_or(Ok(()), fs::create_dir_all)?;
            fs::write(&target, bytes)?;
            // Scripts stay scripts.
            fs::set_permissions(&target, fs::metadata(self.from.join(name))?.permissions())?;
        }
        fs::rename(half.path(), to)
    }
}

/// Makes a file, whole or not at all.
fn make(path: &Path, content: &str) -> io::Result<()> {
    let folder = path.parent().unwrap_or(path);
    fs::create_dir_all(folder)?;
    let mut half = tempfile::Builder::new().permissions(Permissions::from_mode(0o644)).tempfile_in(folder)?;
    half.write_all(content.as_bytes())?;
    half.persist_noclobber(path)?;
    Ok(())
}

/// Refuses a path below `root` that leaves it, or has a link on its way.
pub(super) fn no_links(root: &Path, relative: &Path) -> Result<(), AppError> {
    let mut path = root.to_owned();
    for part in relative.components() {
        let Component::Normal(name) = part else { return Err(invalid("its path leads elsewhere")) };
        path.push(name);
        if path.symlink_metadata().is_ok_and(|facts| facts.is_symlink()) {
            return Err(invalid(format!("{} is a link, which is not followed", path.display())));
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_is_written_through_a_link_or_above() {
        let folder = tempfile::tempdir().unwrap();
        fs::create_dir(folder.path().join("real")).unwrap();
        std::os::unix::fs::symlink("/etc", folder.path().join("link")).unwrap();
        assert!(no_links(folder.path(), Path::new("real/new/x.md")).is_ok());
        for path in ["link/x.md", "link", "../x.md", "/etc/x", "real/../../x"] {
            assert!(no_links(folder.path(), Path::new(path)).is_err(), "{path}");
        }
    }

    #[test]
    fn a_file_is_never_written_over() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a/x.md");
        make(&path, "new").unwrap();
        assert!(make(&path, "other").is_err());
        assert_eq!(fs::read(&path).unwrap(), b"new");
        assert_eq!(fs::read_dir(folder.path().join("a")).unwrap().count(), 1, "nothing is left beside it");
    }

    #[test]
    fn a_skill_comes_whole_and_without_secrets_or_not_at_all() {
        let place = tempfile::tempdir().unwrap();
        let from = place.path().join("from/pdf");
        for (name, text) in [
            ("SKILL.md", "---\nname: pdf\n---\n"),
            ("scripts/a/b/c/deep.sh", "echo"),
            ("scripts/key.sh", "T=ghp_HUSHa7Zq0Wm3Xc9Vb2Nn5Ll8Kj4Hg1Fd6Sa"),
            (".env", "A=HUSH"),
            (".env.example", "A="),
            ("certs/id_rsa", "HUSH"),
            (".aws/credentials", "HUSH"),
            (".git/config", "HUSH"),
            ("node_modules/x/index.js", "x"),
        ] {
            let file = from.join(name);
            fs::create_dir_all(file.parent().unwrap()).unwrap();
            fs::write(&file, text).unwrap();
        }
        fs::write(from.join("icon.png"), [0xff, 0xd8, 0]).unwrap();
        fs::set_permissions(from.join("scripts/a/b/c/deep.sh"), Permissions::from_mode(0o755)).unwrap();
        let copy = SkillCopy::of(&from, &Redactor::default()).unwrap();
        let to = place.path().join("to/pdf");
        copy.put(&to).unwrap();
        assert!(copy.is_in(&to));
        let names: Vec<PathBuf> = FolderFiles::of(&to, LIMITS).unwrap().names().map(Path::to_owned).collect();
        let expected = [".env.example", "SKILL.md", "icon.png", "scripts/a/b/c/deep.sh", "scripts/key.sh"];
        assert_eq!(names, expected.map(PathBuf::from));
        assert_eq!(fs::metadata(to.join("scripts/a/b/c/deep.sh")).unwrap().permissions().mode() & 0o111, 0o111);
        let words = copy.words.join("; ");
        for told in [".git", "node_modules", ".env,", "certs/id_rsa", ".aws/credentials", "key was taken out"] {
            assert!(words.contains(told), "{told}: {words}");
        }
        let deep = from.join("a/b/c/d/e/f/g");
        fs::create_dir_all(&deep).unwrap();
        assert!(SkillCopy::of(&from, &Redactor::default()).is_err(), "nothing is cut off in silence");
    }
}
