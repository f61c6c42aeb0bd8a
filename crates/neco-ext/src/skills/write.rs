//! A new skill: written from nothing, or taken over from a folder of somebody else's.

use std::fs;
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

use super::check;
use super::head::{Head, HeadError, is_name, named};
use super::skill_hooks::text_of;
use super::{FILE, LIMITS};
use crate::folder_files::{FolderError, FolderFiles};

/// Why there is no new skill.
#[derive(Debug, thiserror::Error)]
pub enum SkillWriteError {
    /// Its name is none.
    #[error("{0:?} is no name for a skill: small letters, digits and single hyphens, at most 64")]
    Name(String),
    /// There is one of this name.
    #[error("{} is there already", .0.display())]
    Exists(PathBuf),
    /// What would be written is not as it should be.
    #[error("{0}")]
    Wrong(String),
    /// What is to be taken over is no skill.
    #[error("{}: {error}", file.display())]
    NoSkill {
        /// The file.
        file: PathBuf,
        /// Why not.
        error: HeadError,
    },
    /// Its folder can't be taken over.
    #[error("{}: {error}", folder.display())]
    Folder {
        /// The folder.
        folder: PathBuf,
        /// Why not.
        error: FolderError,
    },
    /// It is not what was looked at.
    #[error("{} is not what was looked at any more: look at it again", .0.display())]
    Changed(PathBuf),
    /// The disk does not let it.
    #[error("{}: {error}", path.display())]
    Io {
        /// Where.
        path: PathBuf,
        /// Why not.
        error: io::Error,
    },
}

/// Writes a new skill below a folder of skills; gives its file.
///
/// # Errors
/// When its name is none, it is there already, or can't be written.
pub fn new_in(place: &Path, name: &str, description: Option<&str>) -> Result<PathBuf, SkillWriteError> {
    if !is_name(name) {
        return Err(SkillWriteError::Name(name.to_owned()));
    }
    let folder = place.join(name);
    if folder.exists() {
        return Err(SkillWriteError::Exists(folder));
    }
    let usual = format!("What {name} does, in one sentence. Use when the user asks for it.");
    let description = description.unwrap_or(&usual).split_whitespace().collect::<Vec<_>>().join(" ");
    let text = format!(
        "---\nname: {name}\ndescription: {}\n---\n\n# {name}\n\n1. What is done first.\n2. What is done then.\n\n\
         Longer texts, scripts and templates lie beside this file; name them here, so that they are read when they are \
         needed.\n",
        serde_json::Value::from(description)
    );
    if let Some(wrong) = check(&folder, &text).into_iter().find(|problem| problem.is_error) {
        return Err(SkillWriteError::Wrong(wrong.what));
    }
    let file = folder.join(FILE);
    let at = |error| SkillWriteError::Io { path: file.clone(), error };
    fs::create_dir_all(&folder).map_err(at)?;
    let mut created = fs::File::create_new(&file).map_err(at)?;
    created.write_all(text.as_bytes()).map_err(at)?;
    Ok(file)
}

/// Copies the skill of a folder below a folder of skills; gives its name. Files alone are copied, and no link is
/// followed out of the folder.
///
/// # Errors
/// When it is no skill, is not what was `seen`, or one of its name is there.
pub fn copy_to(place: &Path, folder: &Path, seen: &str) -> Result<String, SkillWriteError> {
    let file = folder.join(FILE);
    let text = text_of(&file).map_err(|error| SkillWriteError::Io { path: file.clone(), error })?;
    let (head, _) = Head::read(&text).map_err(|error| SkillWriteError::NoSkill { file: file.clone(), error })?;
    let own = folder.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    let name = head.name.or_else(|| named(&own)).ok_or_else(|| SkillWriteError::Name(own.clone()))?;
    let to = place.join(&name);
    if to.exists() {
        return Err(SkillWriteError::Exists(to));
    }
    let half = copied(place, folder, seen)?;
    // Whole or not at all.
    fs::rename(half.path(), &to).map_err(|error| SkillWriteError::Io { path: to.clone(), error })?;
    Ok(name)
}

/// Copies the skill of a folder in the place of one that is there.
///
/// # Errors
/// When it is no skill, or is not what was `seen`; then what was there is there.
pub fn replace(there: &Path, folder: &Path, seen: &str) -> Result<(), SkillWriteError> {
    let file = folder.join(FILE);
    let text = text_of(&file).map_err(|error| SkillWriteError::Io { path: file.clone(), error })?;
    Head::read(&text).map_err(|error| SkillWriteError::NoSkill { file, error })?;
    let place = there.parent().unwrap_or(Path::new("."));
    let at = |error| SkillWriteError::Io { path: there.to_owned(), error };
    let half = copied(place, folder, seen)?;
    let before = tempfile::tempdir_in(place).map_err(at)?;
    let kept = before.path().join("skill");
    fs::rename(there, &kept).map_err(at)?;
    if let Err(error) = fs::rename(half.path(), there) {
        fs::rename(&kept, there).map_err(at)?;
        return Err(at(error));
    }
    Ok(())
}

/// A copy of a folder's files beside the skills of a place, gone with what is given unless it is moved.
fn copied(place: &Path, folder: &Path, seen: &str) -> Result<tempfile::TempDir, SkillWriteError> {
    let wrong = |error| SkillWriteError::Folder { folder: folder.to_owned(), error };
    let resolved = fs::canonicalize(folder).map_err(|error| wrong(error.into()))?;
    let files = FolderFiles::of(&resolved, LIMITS).map_err(wrong)?;
    let at = |error| SkillWriteError::Io { path: place.to_owned(), error };
    fs::create_dir_all(place).map_err(at)?;
    let half = tempfile::tempdir_in(place).map_err(at)?;
    files.copy_to(half.path()).map_err(|(path, error)| SkillWriteError::Io { path, error })?;
    if FolderFiles::of(half.path(), LIMITS).and_then(|files| files.hash()).map_err(wrong)? != seen {
        return Err(SkillWriteError::Changed(folder.to_owned()));
    }
    Ok(half)
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;

    use super::*;

    #[test]
    fn what_is_written_is_right() {
        let place = tempfile::tempdir().unwrap();
        for description in [None, Some("Says: \"hello\" — to #everybody, {a} [b]\nand: more")] {
            let name = if description.is_some() { "greets" } else { "new-one" };
            let file = new_in(place.path(), name, description).unwrap();
            let text = fs::read_to_string(&file).unwrap();
            assert_eq!(check(&place.path().join(name), &text), [], "{text}");
        }
        assert!(matches!(new_in(place.path(), "greets", None), Err(SkillWriteError::Exists(_))));
        for name in ["", "..", "a/b", "A", "a--b", "-a", "$(id)"] {
            assert!(matches!(new_in(place.path(), name, None), Err(SkillWriteError::Name(_))), "{name}");
        }
    }

    #[test]
    fn a_skill_is_taken_over_whole_or_not_at_all() {
        let place = tempfile::tempdir().unwrap();
        let from = place.path().join("from/pdf");
        fs::create_dir_all(from.join("scripts")).unwrap();
        fs::write(from.join(FILE), "---\nname: pdf\ndescription: d\n---\nx").unwrap();
        fs::write(from.join("scripts/a.sh"), "echo").unwrap();
        let to = place.path().join("to");
        let seen = FolderFiles::of(&from, LIMITS).unwrap().hash().unwrap();
        assert!(matches!(copy_to(&to, &from, "other"), Err(SkillWriteError::Changed(_))));
        assert_eq!(copy_to(&to, &from, &seen).unwrap(), "pdf");
        assert_eq!(fs::read_to_string(to.join("pdf/scripts/a.sh")).unwrap(), "echo");
        assert!(matches!(copy_to(&to, &from, &seen), Err(SkillWriteError::Exists(_))));
        fs::write(from.join("new.md"), "new").unwrap();
        assert!(matches!(replace(&to.join("pdf"), &from, &seen), Err(SkillWriteError::Changed(_))));
        assert!(!to.join("pdf/new.md").exists() && to.join("pdf/scripts/a.sh").exists());
        let now = FolderFiles::of(&from, LIMITS).unwrap().hash().unwrap();
        replace(&to.join("pdf"), &from, &now).unwrap();
        assert!(to.join("pdf/new.md").exists() && fs::read_dir(&to).unwrap().count() == 1);
        symlink("/etc/passwd", from.join("scripts/out")).unwrap();
        let other = place.path().join("other");
        assert!(matches!(copy_to(&other, &from, &seen), Err(SkillWriteError::Folder { .. })));
        assert!(!other.join("pdf").exists());
        fs::write(from.join(FILE), "x").unwrap();
        assert!(matches!(copy_to(&other, &from, &seen), Err(SkillWriteError::NoSkill { .. })));
    }
}
