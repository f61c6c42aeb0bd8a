//! `cargo xtask test`: everything that must hold, in one command, with a table at the end.
//!
//! A failed step does not stop the ones after it: a run that took minutes should tell all it can.

use std::io;
use std::path::Path;
use std::process::ExitCode;

use crate::cargo::{cargo, has_subcommand, target};
use crate::step::{Outcome, Reports};
use crate::{machine, mcp_servers, page};

/// How much is checked.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Depth {
    /// Everything.
    Full,
    /// What changes from one edit to the next: format, lints, tests.
    Quick,
}

/// The `mod.rs` of a room names its private modules, and people who read these documents
/// work there: private items are documented, so links to them are fine.
const RUSTDOC: &str = "-D warnings -A rustdoc::private_intra_doc_links";

/// Runs the checks; the exit code is that of the whole.
pub fn run(root: &Path, depth: Depth) -> ExitCode {
    let mut reports = Reports::default();
    reports.measure("set-up", || machine::set_up(root));
    reports.measure("MCP servers", || mcp_servers::set_up(root));
    // The program that is built from here on has it.
    page::check(root, &mut reports);
    reports.run("format", cargo(root).args(["fmt", "--all", "--check"]));
    reports.run("lints", cargo(root).args(["clippy", "--workspace", "--all-targets", "--", "-D", "warnings"]));
    // Tests of the tools that it runs look for it.
    if matches!(depth, Depth::Full) {
        wasm(root, &mut reports);
    }
    tests(root, &mut reports);
    match depth {
        Depth::Full => {
            page::journeys(root, &mut reports);
            documents_and_licences(root, &mut reports);
        }
        Depth::Quick => reports.leave_out("WASM, journeys, documents", "--quick"),
    }
    println!("\n{}", reports.table());
    if reports.passed() { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

fn tests(root: &Path, reports: &mut Reports) {
    if has_subcommand(root, "nextest") {
        reports.run("tests", cargo(root).args(["nextest", "run", "--workspace", "--no-fail-fast"]));
    } else {
        let targets = ["--lib", "--bins", "--tests"];
        reports.run("tests", cargo(root).args(["test", "--workspace", "--no-fail-fast"]).args(targets));
    }
}

/// What runs WASM tools is a workspace of its own, built beside the others.
fn wasm(root: &Path, reports: &mut Reports) {
    let folder = root.join("wasm");
    reports.run("WASM format", cargo(&folder).args(["fmt", "--check"]));
    match target(root) {
        Ok(target) => reports.run("WASM", cargo(&folder).args(["test", "--target-dir"]).arg(target.join("wasm"))),
        Err(error) => reports.measure("WASM", || Outcome::Failed(format!("{error:#}"))),
    }
}

fn documents_and_licences(root: &Path, reports: &mut Reports) {
    let mut documents = cargo(root);
    documents.args(["doc", "--workspace", "--no-deps", "--document-private-items"]).env("RUSTDOCFLAGS", RUSTDOC);
    reports.run("documents", &mut documents);
    // What can't be looked through is run: cargo then says what is wrong with it.
    if has_examples_in_comments(&root.join("crates")).unwrap_or(true) {
        reports.run("examples", cargo(root).args(["test", "--workspace", "--doc", "--no-fail-fast"]));
    } else {
        reports.leave_out("examples", "no doc comment has one");
    }
    if has_subcommand(root, "deny") {
        reports.run("licences", cargo(root).args(["deny", "--workspace", "check", "bans", "licenses", "sources"]));
    } else {
        reports.leave_out("licences", "cargo-deny is not installed");
    }
}

/// Whether a doc comment below `folder` opens a code block: running none costs half a minute.
fn has_examples_in_comments(folder: &Path) -> io::Result<bool> {
    for entry in std::fs::read_dir(folder)? {
        let entry = entry?;
        let path = entry.path();
        let found = if entry.file_type()?.is_dir() {
            has_examples_in_comments(&path)?
        } else {
            path.extension().is_some_and(|end| end == "rs") && opens_code_block(&std::fs::read_to_string(&path)?)
        };
        if found {
            return Ok(true);
        }
    }
    Ok(false)
}

fn opens_code_block(source: &str) -> bool {
    source.lines().any(|line| {
        let line = line.trim_start();
        let comment = line.strip_prefix("///").or_else(|| line.strip_prefix("//!"));
        comment.is_some_and(|comment| comment.trim_start().starts_with("```"))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn examples_are_code_blocks_in_doc_comments() {
        assert!(opens_code_block("/// Text.\n///\n/// ```\n"));
        assert!(opens_code_block("    //! ```rust\n"));
        assert!(!opens_code_block("// ```\nlet fence = \"```\";\n/// Says ``` in a line.\n"));
    }

    #[test]
    fn folders_are_searched_to_the_bottom() {
        let folder = tempfile::tempdir().unwrap();
        let deep = folder.path().join("a/src/b");
        std::fs::create_dir_all(&deep).unwrap();
        std::fs::write(deep.join("notes.md"), "/// ```\n").unwrap();
        assert!(!has_examples_in_comments(folder.path()).unwrap());
        std::fs::write(deep.join("c.rs"), "/// ```\n").unwrap();
        assert!(has_examples_in_comments(folder.path()).unwrap());
    }
}
