//! Reading rules: from policy files, from settings, from flags.

use std::path::PathBuf;

use neco_proto::{ApprovalMode, Mode, Risk};
use regex::{Regex, RegexBuilder};
use serde_json::{Map, Value};

use super::action::{Confinement, SideEffect};
use super::fields::{Entry, Fields, Problem, Table, parse};
use super::foreign::{claude, gemini};
use super::grant::KEPT_PRIORITY;
use super::pattern::{ArgsPattern, CommandPattern, HostPattern, PathPattern, PatternError, ToolPattern};
use super::rule::{Rule, Ruling, Source, When};
use crate::command::{Place, straighten};

/// The largest pattern, compiled: a rule must not be able to use up the memory.
const PATTERN_BYTES: usize = 1 << 20;
/// Priorities lie between this and its negative.
const MOST_PRIORITY: i64 = 999;

const RISKS: [Risk; 5] = [Risk::Safe, Risk::Low, Risk::Medium, Risk::High, Risk::Critical];
const TOUCHES: [SideEffect; 4] = [SideEffect::Reads, SideEffect::Network, SideEffect::Writes, SideEffect::Runs];
const CONFINEMENTS: [Confinement; 3] = [Confinement::Boxed, Confinement::ChosenNone, Confinement::Unavailable];
pub(super) const RULINGS: [Ruling; 3] = [Ruling::Allow, Ruling::Ask, Ruling::Deny];
pub(super) const MODES: [Mode; 4] = [Mode::Agent, Mode::Plan, Mode::Ask, Mode::Debug];
pub(super) const APPROVALS: [ApprovalMode; 4] =
    [ApprovalMode::Auto, ApprovalMode::AcceptEdits, ApprovalMode::AskFirst, ApprovalMode::Manual];

/// Reads rules for a workspace.
#[derive(Clone, Debug)]
pub struct RuleReader<'a> {
    /// The workspace and the home folder that patterns of paths start from.
    pub place: &'a Place,
}

/// What was read.
#[derive(Clone, Debug, Default)]
pub struct ReadRules {
    /// The rules, in the order of the file.
    pub rules: Vec<Rule>,
    /// What makes some of it unusable.
    pub problems: Vec<Problem>,
    /// What is only said.
    pub warnings: Vec<Problem>,
}

impl RuleReader<'_> {
    /// The rules of a policy file, our own or Gemini CLI's.
    pub fn file(&self, text: &str, file: &str, source: Source) -> ReadRules {
        let mut read = ReadRules::default();
        match parse(text, file) {
            Ok(root) => self.root(root, source, &mut read),
            Err(problem) => read.problems.push(problem),
        }
        read
    }

    /// The rules of `[[policy.rules]]` in settings, each with its place.
    pub fn settings(&self, rules: &[(Map<String, Value>, String)], source: Source) -> ReadRules {
        let mut read = ReadRules::default();
        for (fields, place) in rules {
            let entries = fields.iter().map(|(name, value)| Entry {
                name: name.clone(),
                place: place.clone(),
                value: value.clone(),
                tables: Vec::new(),
            });
            self.rule(Table { place: place.clone(), entries: entries.collect() }, source, &mut read);
        }
        read
    }

    /// The rule of a flag such as `--allow RULE`: `bash(git log *)`, `read_file`, or a table in braces.
    pub fn flag(&self, decision: Ruling, text: &str) -> ReadRules {
        let flag = format!("--{decision} '{text}'");
        if !text.trim_start().starts_with('{') {
            return claude::rule(self, text, decision, Source::CommandLine, &flag, &self.place.workspace);
        }
        let mut read = ReadRules::default();
        match parse(&format!("rule = {}", text.trim()), "") {
            Ok(root) => {
                for mut table in root.entries.into_iter().flat_map(|entry| entry.tables) {
                    table.entries.push(Entry {
                        name: "decision".to_owned(),
                        place: String::new(),
                        value: Value::String(decision.name().to_owned()),
                        tables: Vec::new(),
                    });
                    self.rule(table, Source::CommandLine, &mut read);
                }
            }
            Err(problem) => read.problems.push(problem),
        }
        for place in read.rules.iter_mut().map(|rule| &mut rule.place) {
            place.clone_from(&flag);
        }
        for place in read.problems.iter_mut().map(|problem| &mut problem.place) {
            place.clone_from(&flag);
        }
        read
    }

    fn root(&self, root: Table, source: Source, read: &mut ReadRules) {
        let is_theirs = root.entries.iter().flat_map(|entry| &entry.tables).any(gemini::is_rule);
        for entry in root.entries {
            match entry.name.as_str() {
                "rule" | "rules" => {
                    if entry.tables.is_empty() {
                        let message = format!("{}: expected tables; write [[{}]]", entry.name, entry.name);
                        read.problems.push(Problem { place: entry.place, message });
                        continue;
                    }
                    for table in entry.tables {
                        self.rule(table, source, read);
                    }
                }
                name if gemini::is_section(name) => read.warnings.push(gemini::left_out(name, &entry)),
                name => {
                    let message = format!("there is no section {name:?} in a policy file; rules are [[rule]] tables");
                    let told = if is_theirs { &mut read.warnings } else { &mut read.problems };
                    told.push(Problem { place: entry.place, message });
                }
            }
        }
    }

    fn rule(&self, table: Table, source: Source, read: &mut ReadRules) {
        if gemini::is_rule(&table) {
            return gemini::rules(table, source, read);
        }
        let mut fields = Fields::of(table);
        let rule = self.own(&mut fields, source);
        let problems = fields.finish();
        if problems.is_empty() {
            read.rules.extend(rule);
        }
        read.problems.extend(problems);
    }

    fn own(&self, fields: &mut Fields, source: Source) -> Option<Rule> {
        let place = fields.place().to_owned();
        let name = fields.text("name");
        let mut when = self.when(fields);
        let reason = fields.text("reason");
        let kept = fields.switch("kept").unwrap_or(false);
        if kept {
            when.commands = std::mem::take(&mut when.commands).into_iter().map(CommandPattern::granted).collect();
        }
        let usual = if kept { i64::from(KEPT_PRIORITY) } else { 0 };
        let priority = fields.whole("priority", -MOST_PRIORITY, MOST_PRIORITY).unwrap_or(usual);
        let said = fields.has("decision");
        let decision = fields.named("decision", &RULINGS);
        match decision.as_slice() {
            [decision] => Some(Rule {
                decision: *decision,
                priority: i32::try_from(priority).unwrap_or(0),
                name,
                reason,
                kept,
                lent: false,
                source,
                place,
                when,
            }),
            _ => {
                if !said || decision.len() > 1 {
                    fields.wrong(&place, "the rule needs one decision: \"allow\", \"ask\" or \"deny\"");
                }
                None
            }
        }
    }

    fn when(&self, fields: &mut Fields) -> When {
        let tools = fields.texts("tool");
        if tools.is_empty() {
            let place = fields.place().to_owned();
            fields.wrong(&place, "the rule needs a tool: a name, a list of names, or \"*\" for all");
        }
        When {
            tools: tools.iter().map(|(_, name)| ToolPattern::new(name)).collect(),
            args: fields.texts("args").first().and_then(|(place, pattern)| {
                let regex = regex(fields, place, "args", pattern)?;
                Some(ArgsPattern { regex, gemini: false })
            }),
            commands: self.commands(fields),
            paths: self.paths(fields),
            hosts: fields.texts("host").iter().map(|(_, host)| HostPattern::new(host)).collect(),
            risks: fields.named("risk", &RISKS),
            touches: fields.choices("touch", &TOUCHES.map(|touch| (touch.name(), touch))),
            modes: fields.named("mode", &MODES),
            approvals: fields.named("approval", &APPROVALS),
            roles: fields.texts("role").into_iter().map(|(_, role)| role).collect(),
            origins: fields.texts("origin").into_iter().map(|(_, origin)| origin).collect(),
            confinements: fields.choices("confinement", &CONFINEMENTS.map(|one| (one.name(), one))),
            person: fields.switch("person"),
            known_safe: fields.switch("known_safe"),
            history: fields.switch("history"),
            network: fields.switch("network"),
            workspaces: fields.texts("workspace").iter().map(|(_, path)| self.workspace(path)).collect(),
            folders: fields.texts("folder").iter().map(|(_, path)| self.folder(path)).collect(),
        }
    }

    fn commands(&self, fields: &mut Fields) -> Vec<CommandPattern> {
        let mut commands = Vec::new();
        for (place, text) in fields.texts("command") {
            match prefix(&text) {
                Ok(words) => commands.push(CommandPattern::Prefix(words)),
                Err(error) => fields.wrong(&place, format!("command: {error}")),
            }
        }
        for (place, pattern) in fields.texts("command_regex") {
            commands.extend(regex(fields, &place, "command_regex", &pattern).map(CommandPattern::Matches));
        }
        commands.extend(fields.texts("line").into_iter().map(|(_, line)| CommandPattern::Line(line)));
        commands
    }

    fn paths(&self, fields: &mut Fields) -> Vec<PathPattern> {
        let mut patterns = Vec::new();
        for (place, text) in fields.texts("path") {
            match self.path(&text) {
                Ok(found) => patterns.extend(found),
                Err(error) => fields.wrong(&place, format!("path: {error}")),
            }
        }
        patterns
    }

    /// The patterns of a glob: relative to the workspace, to the home folder with `~/`, or absolute.
    pub(super) fn path(&self, text: &str) -> Result<Vec<PathPattern>, PatternError> {
        let glob = match (text.strip_prefix("~/"), &self.place.home) {
            (Some(rest), Some(home)) => below(&home.to_string_lossy(), rest),
            (Some(_), None) => return Err(PatternError::NoHome(text.to_owned())),
            (None, _) if text.starts_with('/') => text.to_owned(),
            (None, _) => below(&self.place.workspace.to_string_lossy(), text),
        };
        path_patterns(&glob, text)
    }

    /// A folder that commands start in: relative to the workspace, to the home folder with `~/`, or absolute.
    fn folder(&self, text: &str) -> PathBuf {
        straighten(self.place.workspace.join(self.workspace(text)))
    }

    fn workspace(&self, text: &str) -> PathBuf {
        match (text.strip_prefix("~/"), &self.place.home) {
            (Some(rest), Some(home)) => home.join(rest),
            (Some(_) | None, _) => PathBuf::from(text),
        }
    }
}

/// A glob below a folder, whose own name is no pattern.
pub(super) fn below(folder: &str, glob: &str) -> String {
    let glob = glob.strip_prefix("./").unwrap_or(glob);
    format!("{}/{glob}", globset::escape(folder.trim_end_matches('/')))
}

/// The patterns of an absolute glob; a plain path means all that is below it too.
pub(super) fn path_patterns(glob: &str, shown: &str) -> Result<Vec<PathPattern>, PatternError> {
    let glob = glob.trim_end_matches('/');
    let mut patterns = vec![PathPattern::new(glob, shown)?];
    if !shown.contains(['*', '?', '[', '{']) {
        let below = format!("{}/**", shown.trim_end_matches('/'));
        patterns.push(PathPattern::new(&format!("{glob}/**"), &below)?);
    }
    Ok(patterns)
}

/// The words of a prefix; what a shell would treat specially is no word.
pub(super) fn prefix(text: &str) -> Result<Vec<String>, PatternError> {
    let words: Vec<String> = text.split_whitespace().map(str::to_owned).collect();
    if words.is_empty() {
        return Err(PatternError::NoWords);
    }
    if let Some(char) = text.chars().find(|char| "|&;<>()$`\\\"'*?".contains(*char)) {
        return Err(PatternError::NotPlain(char));
    }
    Ok(words)
}

/// A pattern, bounded in size.
pub(super) fn regex(fields: &mut Fields, place: &str, name: &str, pattern: &str) -> Option<Regex> {
    match RegexBuilder::new(pattern).size_limit(PATTERN_BYTES).build() {
        Ok(regex) => Some(regex),
        Err(error) => {
            let error = error.to_string();
            let last = error.lines().last().unwrap_or("not a pattern").trim_start_matches("error: ").to_owned();
            fields.wrong(place, format!("{name}: {last}; patterns are those of the regex crate, without look-around"));
            None
        }
    }
}
