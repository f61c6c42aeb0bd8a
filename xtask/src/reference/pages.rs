//! The pages, and bringing the files in line with them.

use std::path::Path;
use std::process::ExitCode;

use anyhow::{Context, Result, bail};

use super::{errors, slash, vocabulary};

/// A page, or a table of the code that is derived from the rest of it: its file and what it says.
struct Page {
    file: &'static str,
    text: fn() -> String,
}

const PAGES: &[Page] = &[
    Page { file: "docs/reference/commands.md", text: vocabulary::commands },
    Page { file: "docs/reference/config.md", text: neco_config::reference },
    Page { file: "docs/reference/errors.md", text: errors::page },
    Page { file: "docs/reference/events.md", text: vocabulary::events },
    Page { file: "docs/reference/slash.md", text: slash::page },
    Page { file: "crates/neco-config/src/known.rs", text: neco_config::source },
];

/// Writes the pages that are not as they should be.
pub fn write(root: &Path) -> Result<ExitCode> {
    for page in differing(root) {
        let file = root.join(page.file);
        file.parent().map_or(Ok(()), std::fs::create_dir_all)?;
        std::fs::write(file, (page.text)()).with_context(|| format!("writing {}", page.file))?;
        println!("wrote {}", page.file);
    }
    Ok(ExitCode::SUCCESS)
}

/// Fails when a page is not as it should be.
pub fn check(root: &Path) -> Result<ExitCode> {
    let files: Vec<&str> = differing(root).map(|page| page.file).collect();
    if !files.is_empty() {
        bail!("these do not say what the code says: {}; run cargo xtask reference", files.join(", "));
    }
    Ok(ExitCode::SUCCESS)
}

fn differing(root: &Path) -> impl Iterator<Item = &'static Page> {
    PAGES.iter().filter(|page| std::fs::read_to_string(root.join(page.file)).ok() != Some((page.text)()))
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
        let all = check(root.path()).unwrap_err().to_string();
        assert!(PAGES.iter().all(|page| all.contains(page.file)), "{all}");
        write(root.path()).unwrap();
        check(root.path()).unwrap();
        std::fs::write(root.path().join("docs/reference/errors.md"), "by hand").unwrap();
        let told = check(root.path()).unwrap_err().to_string();
        assert!(told.contains("says: docs/reference/errors.md; run cargo xtask reference"), "{told}");
        write(root.path()).unwrap();
        check(root.path()).unwrap();
    }
}
