//! The rules in force in a folder.

use std::path::PathBuf;

use neco_config::Loaded;
use neco_config::section::SandboxLevel;
use neco_ext::scripts::Script;
use neco_proto::app::AppError;
use neco_proto::app::rules::{GivenRules, ListRules, RuleList, RuleRow};
use neco_safety::policy::{LoadedPolicy, Rule, Telling};

use crate::app::StorelessApp;
use crate::workspace::plugged::Plugged;
use crate::workspace::rules::{self, RuleFlags};

/// A folder, its settings and its rules.
pub(super) struct Here {
    pub folder: PathBuf,
    pub loaded: Loaded,
    pub rules: LoadedPolicy,
    /// The scripted tools that may be used.
    pub scripts: Vec<Script>,
    /// What is to be said of settings and rules.
    pub warnings: Vec<String>,
}

impl Here {
    pub(super) fn look(app: &StorelessApp, folder: &str, given: &GivenRules) -> Result<Self, AppError> {
        let folder = PathBuf::from(folder);
        let loaded = app.settings(&folder)?;
        let mut warnings: Vec<String> = loaded.warnings.iter().map(ToString::to_string).collect();
        let plugged = Plugged::look(&app.env, &folder, &loaded);
        let rules = rules::load(&RuleFlags::from(given), &app.env, &folder, &loaded, &plugged);
        let mut rules = rules.map_err(|error| error.after(&warnings))?;
        if loaded.config.sandbox.level == SandboxLevel::ReadOnly {
            rules.policy = rules.policy.reading_only();
        }
        warnings.extend(rules.warnings.iter().map(ToString::to_string));
        Ok(Self { folder, loaded, rules, scripts: plugged.scripts(), warnings })
    }
}

impl From<&GivenRules> for RuleFlags {
    fn from(given: &GivenRules) -> Self {
        use neco_safety::Ruling::{Allow, Ask, Deny};
        let all = [(Deny, &given.deny), (Ask, &given.ask), (Allow, &given.allow)];
        let rules = all.into_iter().flat_map(|(ruling, texts)| texts.iter().map(move |text| (ruling, text.clone())));
        Self { rules: rules.collect(), add_dir: given.add_dir.iter().map(PathBuf::from).collect() }
    }
}

/// What judges the files of a folder that are shown without a call.
pub(crate) fn telling(app: &StorelessApp, folder: &str) -> Result<Telling, AppError> {
    Ok(Here::look(app, folder, &GivenRules::default())?.rules.policy.telling())
}

pub(crate) async fn list(app: &StorelessApp, request: ListRules) -> Result<RuleList, AppError> {
    let Here { rules, warnings, .. } = Here::look(app, &request.folder, &request.given)?;
    let rows = rules.policy.rules().iter().map(row).collect();
    Ok(RuleList { rules: rows, untrusted: rules.untrusted, warnings })
}

fn row(rule: &Rule) -> RuleRow {
    RuleRow {
        decision: rule.decision,
        priority: rule.priority,
        source: rule.source,
        place: rule.place.clone(),
        name: rule.name.clone(),
        reason: rule.reason.clone(),
        about: rule.when.to_string(),
    }
}
