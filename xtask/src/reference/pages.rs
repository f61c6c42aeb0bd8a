//! The pages, and bringing the files in line with them.

use std::path::Path;
use std::process::ExitCode;

use anyhow::{Context, Result, bail};

use super::{errors, slash, vocabulary};

/// A page: its file and what it says.
struct Page {
    file: &'static str,
    text: fn() -> String,
}

const PAGES: &[Page] = &[
    Page { file: "commands.md", text: vocabulary::commands },
    Page { file: "config.md", text: neco_config::reference },
    Page { file: "errors.md", text: errors::page },
    Page { file: "events.md", text: vocabulary::events },
    Page { file: "slash.md", text: slash::page },
];

const FOLDER: &str = "docs/reference";

/// Writes the pages that are not as they should be.
pub fn write(root: &Path) -> Result<ExitCode> {
    let folder = root.join(FOLDER);
    std::fs::create_dir_all(&folder)?;
    for page in differing(&folder) {
        std::fs::write(folder.join(page.file), (page.text)())
            .with_context(|| format!("writing {FOLDER}/{}", page.file))?;
        println!("wrote {FOLDER}/{}", page.file);
    }
    Ok(ExitCode::SUCCESS)
}

/// Fails when a page is not as it should be.
pub fn check(root: &Path) -> Result<ExitCode> {
    let files: Vec<&str> = differing(&root.join(FOLDER)).map(|page| page.file).collect();
    if !files.is_empty() {
        bail!("{FOLDER} does not say what the code says ({}): run cargo xtask reference", files.join(", "));
    }
    Ok(ExitCode::SUCCESS)
}

fn differing(folder: &Path) -> impl Iterator<Item = &'static Page> {
    PAGES.iter().filter(|page| std::fs::read_to_string(folder.join(page.file)).ok() != Some((page.text)()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_reference_says_what_the_code_says() {
        let outcome = check(&crate::root().unwrap());
        assert!(outcome.is_ok(), "{:#}", outcome.unwrap_err());
    }

    #[test]
    fn a_page_that_differs_or_is_missing_is_named_and_written() {
        let root = tempfile::tempdir().unwrap();
        assert!(check(root.path()).unwrap_err().to_string().contains("commands.md, config.md, errors.md, events.md"));
        write(root.path()).unwrap();
        check(root.path()).unwrap();
        std::fs::write(root.path().join(FOLDER).join("errors.md"), "by hand").unwrap();
        let told = check(root.path()).unwrap_err().to_string();
        assert!(told.contains("(errors.md): run cargo xtask reference"), "{told}");
        write(root.path()).unwrap();
        check(root.path()).unwrap();
    }
}
