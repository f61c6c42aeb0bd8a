//! From everywhere that rules are written to the rules in force.

use neco_config::section::OtherAgents;
use neco_config::{Layer, Loaded, PolicyFile, PolicyFormat};
use serde_json::{Map, Value};

use super::fields::Problem;
use super::judge::Policy;
use super::pattern::PathPattern;
use super::read::{ReadRules, RuleReader};
use super::rule::{Rule, Ruling, Source};
use crate::command::Place;

/// Everywhere that rules are written.
#[derive(Clone, Debug)]
pub struct RuleSources<'a> {
    /// Where the work is done.
    pub place: Place,
    /// The files that hold rules.
    pub files: &'a [PolicyFile],
    /// The settings.
    pub loaded: &'a Loaded,
    /// `--allow`, `--ask` and `--deny`, in their order.
    pub flags: &'a [(Ruling, String)],
    /// Whether the folder is trusted: without that its files say nothing.
    pub trusted: bool,
}

/// Rules of settings, each with its place.
type PlacedRules = Vec<(Map<String, Value>, String)>;

/// The rules in force, and what there is to say about them.
#[derive(Clone, Debug)]
pub struct LoadedPolicy {
    /// The rules.
    pub policy: Policy,
    /// What is left out, and why.
    pub warnings: Vec<Problem>,
    /// Files of a folder that is not trusted.
    pub untrusted: Vec<String>,
}

/// Rules of the user that can't be used: everything that is wrong with them, one problem a line.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{}", problems.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n"))]
pub struct PolicyError {
    /// What is wrong; never empty.
    pub problems: Vec<Problem>,
}

impl RuleSources<'_> {
    /// Reads everything.
    /// Fails when a rule of the user's can't be understood: it may be the one that forbids something. What is wrong in
    /// a project's files is warned about: it must not keep the program from starting.
    pub fn load(&self) -> Result<LoadedPolicy, PolicyError> {
        let mut all = ReadRules::default();
        let mut untrusted = Vec::new();
        for file in self.files {
            match (source_of(file.layer), self.trusted) {
                (Source::Project, false) => untrusted.push(file.shown.clone()),
                (source, _) => add(&mut all, self.file(file, source), source),
            }
        }
        for (rules, source) in self.settings() {
            add(&mut all, self.reader().settings(&rules, source), source);
        }
        for (decision, text) in self.flags {
            add(&mut all, self.reader().flag(*decision, text), Source::CommandLine);
        }
        if !all.problems.is_empty() {
            return Err(PolicyError { problems: all.problems });
        }
        all.rules.iter_mut().for_each(follow_links);
        let policy = Policy::new(self.place.clone(), all.rules);
        Ok(LoadedPolicy { policy, warnings: all.warnings, untrusted })
    }

    fn reader(&self) -> RuleReader<'_> {
        RuleReader { place: &self.place }
    }

    fn file(&self, file: &PolicyFile, source: Source) -> ReadRules {
        let text = match &file.text {
            Ok(text) => text,
            Err(error) => {
                let problem = Problem { place: file.shown.clone(), message: error.to_string() };
                return ReadRules { problems: vec![problem], ..ReadRules::default() };
            }
        };
        match file.format {
            PolicyFormat::Toml => self.reader().file(text, &file.shown, source),
            PolicyFormat::ClaudeSettings => {
                let mut read = self.reader().claude_settings(text, &file.shown, source, &file.folder);
                if source == Source::User {
                    read.rules.retain(|rule| counts(rule.decision, self.loaded.config.policy.other_agents));
                }
                read
            }
        }
    }

    /// The rules of the settings, those of flags and variables apart from those of the user's file.
    fn settings(&self) -> [(PlacedRules, Source); 2] {
        let mut user = Vec::new();
        let mut command_line = Vec::new();
        let rules = self.loaded.config.policy.rules.iter().zip(&self.loaded.rule_origins);
        for (fields, origin) in rules {
            let fields = fields.iter().map(|(name, value)| (name.clone(), value.clone())).collect();
            let list = if origin.layer >= Layer::Environment { &mut command_line } else { &mut user };
            list.push((fields, origin.to_string()));
        }
        [(user, Source::User), (command_line, Source::CommandLine)]
    }
}

/// A rule that asks or denies and names a link means what it leads to as well: paths of calls are resolved.
fn follow_links(rule: &mut Rule) {
    if rule.decision == Ruling::Allow {
        return;
    }
    let named = rule.when.paths.iter().filter_map(|pattern| Some((pattern.base()?, pattern)));
    let linked = named.filter_map(|(base, pattern)| {
        let path = std::fs::canonicalize(base).ok().filter(|path| path != base)?;
        PathPattern::all_of(&path, &pattern.to_string()).ok()
    });
    let linked: Vec<PathPattern> = linked.flatten().collect();
    rule.when.paths.extend(linked);
}

fn add(all: &mut ReadRules, read: ReadRules, source: Source) {
    all.rules.extend(read.rules);
    all.warnings.extend(read.warnings);
    match source {
        Source::Project => {
            let ignored = |problem: Problem| Problem { message: format!("ignored: {}", problem.message), ..problem };
            all.warnings.extend(read.problems.into_iter().map(ignored));
        }
        Source::BuiltIn | Source::User | Source::CommandLine | Source::Session => all.problems.extend(read.problems),
    }
}

fn source_of(layer: Layer) -> Source {
    if layer.is_from_repository() { Source::Project } else { Source::User }
}

fn counts(decision: Ruling, other_agents: OtherAgents) -> bool {
    match (other_agents, decision) {
        (OtherAgents::Off, _) | (OtherAgents::Narrow, Ruling::Allow) => false,
        (OtherAgents::All, _) | (OtherAgents::Narrow, Ruling::Ask | Ruling::Deny) => true,
    }
}
