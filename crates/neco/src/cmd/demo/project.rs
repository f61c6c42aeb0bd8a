//! The sample project: a script with a defect and a test that finds it.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

/// The script with the defect.
const SLUG: &str = r#"#!/bin/sh
# Prints a title as a slug: lower case, words joined by single hyphens.
printf '%s\n' "$1" | tr 'A-Z' 'a-z' | tr ' ' '-'
"#;

/// Its test.
const TEST: &str = r#"#!/bin/sh
failed=0
check() {
  got=$(sh slug.sh "$1")
  if [ "$got" = "$2" ]; then
    echo "ok    $2"
  else
    echo "FAIL  slug of '$1' is '$got', expected '$2'"
    failed=1
  fi
}
check "Hello World" "hello-world"
check "Neco  in two seconds!" "neco-in-two-seconds"
exit $failed
"#;

/// A sample project on the disk.
pub struct Project {
    folder: PathBuf,
    git: Option<PathBuf>,
}

impl Project {
    /// Makes the project in `folder`, as a repository if there is a `git`.
    ///
    /// # Errors
    /// When its files can't be written.
    pub fn make(folder: PathBuf, git: Option<PathBuf>) -> io::Result<Self> {
        fs::create_dir_all(&folder)?;
        fs::write(folder.join("slug.sh"), SLUG)?;
        fs::write(folder.join("test.sh"), TEST)?;
        let mut project = Self { folder, git };
        let commits = [&["init", "-q"][..], &["add", "."], &["commit", "-q", "-m", "a slug, and a test that fails"]];
        if !commits.iter().all(|arguments| project.git(arguments).is_some_and(|output| output.status.success())) {
            project.git = None;
        }
        Ok(project)
    }

    /// Where it is.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// What was changed since it was made, if git can tell.
    pub fn diff(&self) -> Option<String> {
        let output = self.git(&["--no-pager", "diff", "--no-color"])?;
        Some(String::from_utf8_lossy(&output.stdout).into_owned()).filter(|diff| !diff.is_empty())
    }

    /// Runs the test; gives what it printed and whether it passed.
    ///
    /// # Errors
    /// When there is no `sh`.
    pub fn test(&self) -> io::Result<(String, bool)> {
        let output = Command::new("sh").arg("test.sh").current_dir(&self.folder).output()?;
        Ok((String::from_utf8_lossy(&output.stdout).into_owned(), output.status.success()))
    }

    /// Without the person's settings: no hooks, no signatures, no templates.
    fn git(&self, arguments: &[&str]) -> Option<Output> {
        let mut command = Command::new(self.git.as_ref()?);
        command.args(["-c", "user.name=Neco", "-c", "user.email=demo@localhost"]).args(arguments);
        command.current_dir(&self.folder).env("GIT_CONFIG_GLOBAL", "/dev/null").env("GIT_CONFIG_NOSYSTEM", "1");
        for own in ["GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE"] {
            command.env_remove(own);
        }
        command.output().ok()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cmd::demo::script;

    #[test]
    fn the_test_fails_before_the_change_and_passes_after_it() {
        let folder = tempfile::tempdir().unwrap();
        let project = Project::make(folder.path().join("project"), None).unwrap();
        let (printed, passed) = project.test().unwrap();
        assert!(!passed && printed.contains("ok    hello-world") && printed.contains("FAIL"), "{printed}");
        let file = project.folder().join("slug.sh");
        let old = fs::read_to_string(&file).unwrap();
        assert_eq!(old.matches(script::OLD).count(), 1);
        fs::write(&file, old.replace(script::OLD, script::NEW)).unwrap();
        let (printed, passed) = project.test().unwrap();
        assert!(passed, "{printed}");
        assert_eq!(project.diff(), None);
    }
}
