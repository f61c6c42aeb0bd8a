//! Hooks, and whether the folder is trusted.

use std::path::Path;

use neco_config::{Env, Loaded};

use super::finding::Finding;
use crate::plugged::Plugged;

/// How many hooks there are, and how it stands with what the folder would switch on.
pub fn check(folder: &Path, env: &Env, loaded: &Loaded) -> Vec<Finding> {
    let plugged = Plugged::look(env, folder, loaded);
    let (own, on, off) = plugged.counts();
    let mut findings: Vec<Finding> = plugged.notices.iter().map(|notice| Finding::warn("hooks", notice)).collect();
    findings
        .push(Finding::ok("hooks", format!("{own} of yours, {on} of this folder, {off} of this folder that are off")));
    findings.push(match plugged.note() {
        Some(note) => Finding::warn("trust", note),
        None if plugged.is_empty() => Finding::ok("trust", "this folder would switch on nothing by itself"),
        None => Finding::ok("trust", "this folder is trusted, and all it switches on was seen"),
    });
    findings
}
