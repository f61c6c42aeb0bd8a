//! Files that are put before the model without a call of its own: rules files and what they bring along, definitions,
//! maps. They are judged as a reading of them would be, with nobody to ask.

use std::path::{Path, PathBuf};

use neco_proto::ToolOrigin;
use serde_json::json;

use super::action::{Action, Confinement, SideEffect, Who};
use super::facts::Facts;
use super::judge::Policy;
use super::read::{APPROVALS, MODES};
use super::rule::{Rule, Ruling, Source};
use crate::path::Located;
use crate::path::sensitive::is_in_git_folder;

/// The tool that stands for everything that reads files.
const READS: &str = "read_file";

/// Judges files that are told without a call. What is told is told to every agent of a session in every mode, so
/// what one of them may not read none of them is told.
#[derive(Clone, Debug)]
pub struct Telling {
    policy: Policy,
    roles: Vec<String>,
}

impl Policy {
    /// What judges the files that are told without a call.
    pub fn telling(&self) -> Telling {
        let mut policy = self.clone();
        // A rule against reading as such is about a tool, and these are not read with it.
        let about_tools =
            |rule: &Rule| rule.source > Source::BuiltIn && rule.decision > Ruling::Allow && rule.holds_for_every_call();
        policy.retain(|rule| !about_tools(rule));
        let mut roles: Vec<String> = policy.rules().iter().flat_map(|rule| rule.when.roles.iter().cloned()).collect();
        roles.push(Who::ROOT.to_owned());
        roles.sort_unstable();
        roles.dedup();
        Telling { policy, roles }
    }
}

impl Telling {
    /// Why a file is not told, in words; nothing where it may be.
    #[must_use]
    pub fn refuses(&self, located: &Located) -> Option<String> {
        let sensitive = located.sensitive_to_read().or_else(|| is_in_git_folder(located.below_root()));
        sensitive.map(str::to_owned).or_else(|| self.refuses_path(located.path()))
    }

    /// The same for a resolved path of which nothing but rules matters.
    pub fn refuses_path(&self, path: &Path) -> Option<String> {
        let (paths, arguments) = ([path.to_path_buf()], json!({ "path": self.named(path) }));
        self.everybody().find_map(|who| self.refuses_who(&paths, &arguments, &who))
    }

    /// As a call would name it.
    fn named<'p>(&self, path: &'p Path) -> std::borrow::Cow<'p, str> {
        path.strip_prefix(&self.policy.place().workspace).unwrap_or(path).to_string_lossy()
    }

    fn everybody(&self) -> impl Iterator<Item = Who<'_>> {
        let ways = MODES.into_iter().flat_map(|mode| APPROVALS.map(|approval| (mode, approval)));
        ways.flat_map(|(mode, approval)| {
            self.roles.iter().map(move |role| Who {
                mode,
                approval,
                person_present: false,
                role,
                confinement: Confinement::Boxed,
                network: false,
            })
        })
    }

    fn refuses_who(&self, paths: &[PathBuf], arguments: &serde_json::Value, who: &Who<'_>) -> Option<String> {
        let action = Action { paths, ..Action::plain(READS, ToolOrigin::BUILT_IN, arguments, SideEffect::Reads) };
        let facts = Facts::of(&action, who, self.policy.place());
        let decided = self.policy.decide(&facts, None);
        match (decided.ruling, decided.rule) {
            (Ruling::Allow, _) => None,
            (Ruling::Ask, Some(rule)) => Some(format!("a rule asks before it is read ({})", rule.origin())),
            (Ruling::Deny, Some(rule)) => Some(format!("a rule denies reading it ({})", rule.origin())),
            (Ruling::Ask | Ruling::Deny, None) => Some("it may not be read".to_owned()),
        }
    }
}
