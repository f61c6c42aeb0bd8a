//! Files in the place of prompts: `NAME.md` in a folder of prompts.

use std::fs;
use std::path::Path;

use neco_agent::context::{PromptError, PromptFile, Prompts};
use neco_safety::invisible;
use neco_safety::path::Access;
use neco_safety::world::Files;

/// No prompt is nearly as long.
const MOST_BYTES: u64 = 256 * 1024;

/// The files of a folder that are in the place of prompts; none when there is no such folder. A file of
/// another name is one too, so that a misspelt name is told and not ignored.
/// Fails when a file can't be read; says which.
pub fn prompt_files(folder: &Path) -> Result<Vec<PromptFile>, PromptError> {
    let Ok(entries) = fs::read_dir(folder) else { return Ok(Vec::new()) };
    let failed = |path: &Path, reason: String| PromptError::Unreadable { file: path.display().to_string(), reason };
    let files = Files::new(folder, Vec::new()).map_err(|error| failed(folder, error.to_string()))?;
    let mut found = Vec::new();
    for path in entries.filter_map(Result::ok).map(|entry| entry.path()) {
        let Some(name) = path.file_stem().and_then(|name| name.to_str()) else { continue };
        if path.extension().is_none_or(|ending| ending != "md") || name.eq_ignore_ascii_case("readme") {
            continue;
        }
        let read = files.locate(&path, Access::Read).and_then(|located| located.read(MOST_BYTES + 1));
        let (bytes, _) = read.map_err(|error| failed(&path, error.to_string()))?;
        if bytes.len() as u64 > MOST_BYTES {
            return Err(failed(&path, format!("a prompt has at most {MOST_BYTES} bytes")));
        }
        let text = String::from_utf8(bytes).map_err(|_| failed(&path, "it is not UTF-8".to_owned()))?;
        // Whoever is asked to trust it sees all of it.
        let text = invisible::seen(&text).text.into_owned();
        found.push(PromptFile { name: name.to_owned(), file: path.display().to_string(), text });
    }
    found.sort_by_key(|file| (Prompts::names().position(|name| name == file.name), file.name.clone()));
    Ok(found)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_folder_of_prompts_is_read_in_their_order() {
        let folder = tempfile::tempdir().unwrap();
        assert_eq!(prompt_files(&folder.path().join("none")), Ok(Vec::new()));
        for (name, text) in [("mode_ask.md", "b"), ("base.md", "a"), ("notes.txt", "c"), ("README.md", "d")] {
            fs::write(folder.path().join(name), text).unwrap();
        }
        let found = prompt_files(folder.path()).unwrap();
        assert_eq!(found.iter().map(|file| file.name.as_str()).collect::<Vec<_>>(), ["base", "mode_ask"]);
        std::os::unix::fs::symlink("/etc/passwd", folder.path().join("mode_plan.md")).unwrap();
        assert!(prompt_files(folder.path()).unwrap_err().to_string().contains("mode_plan.md"));
    }
}
