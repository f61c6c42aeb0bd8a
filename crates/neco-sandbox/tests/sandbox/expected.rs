//! What is known to be open or broken in each kind of box. A gap that closes fails the test as one
//! that opens does: the list is what people are told.

use std::collections::BTreeMap;

/// What stays open in the weaker box, whoever runs it.
const OPEN_IN_WEAKER: &[&str] = &[
    "chmod outside",
    "chown outside",
    "set times outside",
    "set an attribute outside",
    "write a git hook",
    "write git's config",
    "replace git's config",
    "move .git away",
    "move .git/hooks away",
    "move the submodules of git away",
    "move a submodule of git away",
    "write the config of a submodule",
    "move the worktrees of git away",
    "move a worktree of git away",
    "lead a worktree of git elsewhere",
    "lead git elsewhere",
    "make a second config of git",
    "make the workspace itself a repository",
    "write the settings of an editor",
    "read .env in the workspace",
    "move .env in the workspace",
    "see the process outside",
    "a daemon that survives",
];

/// What does not work in the weaker box.
const BROKEN_IN_WEAKER: &[&str] = &["a server on loopback"];

/// Where a box of this name is not as it is said to be.
pub fn differences(name: &str, findings: &BTreeMap<(String, String), bool>) -> Vec<String> {
    let weaker = name.starts_with("weaker");
    let mut wrong = Vec::new();
    for ((kind, attempt), succeeded) in findings {
        let expected = match kind.as_str() {
            "escape" => weaker && OPEN_IN_WEAKER.contains(&attempt.as_str()),
            _ => !(weaker && BROKEN_IN_WEAKER.contains(&attempt.as_str())),
        };
        if *succeeded != expected {
            wrong.push(format!("{name}: {kind}: {attempt}: {}", if *succeeded { "succeeded" } else { "failed" }));
        }
    }
    wrong
}

/// Whether enough was tried.
pub fn counts(findings: &BTreeMap<(String, String), bool>) -> bool {
    let of = |kind: &str| findings.keys().filter(|(own, _)| own == kind).count();
    findings.is_empty() || (of("escape") >= 40 && of("works") >= 10)
}
