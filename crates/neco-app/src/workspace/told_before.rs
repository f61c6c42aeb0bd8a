//! Warnings that a person was told already: each is told once, and again when it is another one, or was gone meanwhile.
//! Whoever looks for them (`neco doctor`, lists) is told of all.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use crate::workspace::own_commands::hash;

/// The warnings of one kind in one folder.
#[derive(Clone, Debug)]
pub struct ToldBefore {
    /// A hash of each that was told, in a line; nowhere where all are always told.
    file: Option<PathBuf>,
}

impl ToldBefore {
    /// What was told of `kind` in work in a folder.
    pub fn of(data_dir: &Path, folder: &Path, kind: &str) -> Self {
        let folder: String = hash(&folder.display().to_string()).chars().take(16).collect();
        Self { file: Some(data_dir.join("told").join(format!("{kind}-{folder}"))) }
    }

    /// Everything is told, always.
    pub fn nothing() -> Self {
        Self { file: None }
    }

    /// Those of these warnings that were not told yet, which are told from now on.
    pub async fn news(&self, warnings: Vec<String>) -> Vec<String> {
        let (this, all) = (self.clone(), warnings.clone());
        // Where it can't be looked up, it is told.
        tokio::task::spawn_blocking(move || this.look(warnings)).await.unwrap_or(all)
    }

    fn look(&self, mut warnings: Vec<String>) -> Vec<String> {
        let Some(file) = &self.file else { return warnings };
        let read = fs::read_to_string(file).unwrap_or_default();
        let before: BTreeSet<String> = read.lines().map(str::to_owned).collect();
        let now: BTreeSet<String> = warnings.iter().map(|warning| hash(warning)).collect();
        if now != before {
            let lines: String = now.iter().map(|hash| format!("{hash}\n")).collect();
            let made = file.parent().map_or(Ok(()), fs::create_dir_all);
            if let Err(error) = made.and_then(|()| fs::write(file, lines)) {
                tracing::debug!(%error, "which warnings were told is not kept");
            }
        }
        warnings.retain(|warning| !before.contains(&hash(warning)));
        warnings
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_warning_is_told_once_until_it_changes_or_was_gone() {
        let home = tempfile::tempdir().unwrap();
        let of = |folder: &str| ToldBefore::of(home.path(), Path::new(folder), "plugged");
        let told = of("/a");
        let warnings = |words: &[&str]| words.iter().map(|words| (*words).to_owned()).collect::<Vec<_>>();
        assert_eq!(told.news(warnings(&["one", "two"])).await, ["one", "two"]);
        assert!(told.news(warnings(&["two", "one"])).await.is_empty());
        assert_eq!(told.news(warnings(&["one", "three"])).await, ["three"]);
        assert_eq!(told.news(warnings(&["one", "two"])).await, ["two"], "it was gone meanwhile");
        assert_eq!(of("/b").news(warnings(&["one"])).await, ["one"], "it is another folder");
        assert_eq!(ToldBefore::nothing().news(warnings(&["one"])).await, ["one"]);
    }
}
