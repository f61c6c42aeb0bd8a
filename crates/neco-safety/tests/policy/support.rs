//! Calls and rules for tests.

use std::path::{Path, PathBuf};

use neco_proto::{ApprovalMode, Mode, Risk, ToolOrigin};
use neco_safety::command::Place;
use neco_safety::policy::{ReadRules, RuleReader, Source};
use neco_safety::world::Freedom;
use neco_safety::{Action, Confinement, Policy, Ruling, SideEffect, Verdict, Who};
use serde_json::{Value, json};

/// The workspace of every test.
pub const WORKSPACE: &str = "/srv/app";

/// A call.
#[derive(Clone, Debug)]
pub struct Call {
    pub tool: String,
    pub origin: ToolOrigin,
    pub arguments: Value,
    pub touch: SideEffect,
    pub risk: Risk,
    pub command: Option<String>,
    pub folder: Option<PathBuf>,
    pub paths: Vec<PathBuf>,
    pub because: Option<String>,
    pub freedom: Freedom,
}

impl Call {
    fn of(tool: &str, arguments: Value, touch: SideEffect, risk: Risk) -> Self {
        let (tool, command, paths, because) = (tool.to_owned(), None, Vec::new(), None);
        let (origin, freedom) = (ToolOrigin::BuiltIn, Freedom::AsConfigured);
        Self { tool, origin, arguments, touch, risk, command, folder: None, paths, because, freedom }
    }

    pub fn bash(command: &str) -> Self {
        let call = Self::of("bash", json!({ "command": command }), SideEffect::Runs, Risk::Low);
        Self { command: Some(command.to_owned()), ..call }
    }

    pub fn from(self, folder: &str) -> Self {
        Self { folder: Some(Path::new(WORKSPACE).join(folder)), ..self }
    }

    pub fn read(path: &str) -> Self {
        let call = Self::of("read_file", json!({ "path": path }), SideEffect::Reads, Risk::Safe);
        Self { paths: vec![Path::new(WORKSPACE).join(path)], ..call }
    }

    pub fn write(path: &str) -> Self {
        let arguments = json!({ "path": path, "content": "x" });
        let call = Self::of("write_file", arguments, SideEffect::Writes, Risk::Medium);
        Self { paths: vec![Path::new(WORKSPACE).join(path)], ..call }
    }

    pub fn other(tool: &str, arguments: Value) -> Self {
        Self::of(tool, arguments, SideEffect::Runs, Risk::High)
    }

    pub fn risky(self, risk: Risk) -> Self {
        Self { risk, ..self }
    }

    pub fn reads(self) -> Self {
        Self { touch: SideEffect::Reads, risk: Risk::Safe, ..self }
    }

    pub fn of_server(self, server: &str) -> Self {
        Self { origin: ToolOrigin::Mcp { server: server.to_owned() }, ..self }
    }

    pub fn action(&self) -> Action<'_> {
        Action {
            tool: &self.tool,
            origin: &self.origin,
            arguments: &self.arguments,
            touch: self.touch,
            risk: self.risk,
            command: self.command.as_deref(),
            folder: self.folder.as_deref(),
            paths: &self.paths,
            because: self.because.as_deref(),
            freedom: self.freedom,
        }
    }
}

pub fn who() -> Who<'static> {
    Who {
        mode: Mode::Agent,
        approval: ApprovalMode::AskFirst,
        person_present: true,
        role: Who::ROOT,
        confinement: Confinement::Boxed,
        network: true,
    }
}

pub fn place() -> Place {
    Place::new(WORKSPACE).with_home("/home/me")
}

pub fn read(text: &str, source: Source) -> ReadRules {
    let place = place();
    RuleReader { place: &place }.file(text, "rules.toml", source)
}

/// A policy of rules that are known to be sound.
pub fn policy(sources: &[(Source, &str)]) -> Policy {
    let mut rules = Vec::new();
    for (source, text) in sources {
        let read = read(text, *source);
        assert_eq!(read.problems, [], "{text}");
        rules.extend(read.rules);
    }
    Policy::new(place(), rules)
}

/// The rules of the flags that a reason proposes, as a shell would hand them over.
pub fn flags_in(reason: &str) -> Vec<String> {
    let proposed = reason.split("--allow '").skip(1).map(|rest| {
        let (mut rule, mut rest) = (String::new(), rest);
        while let Some((piece, behind)) = rest.split_once('\'') {
            rule.push_str(piece);
            let Some(quoted) = behind.strip_prefix(r"\''") else { break };
            rule.push('\'');
            rest = quoted;
        }
        rule
    });
    proposed.collect()
}

/// The policy of a run with these rules behind `--allow`.
pub fn allowing(rules: &[String]) -> Policy {
    let place = place();
    let read = rules.iter().flat_map(|rule| RuleReader { place: &place }.flag(Ruling::Allow, rule).rules).collect();
    Policy::new(place.clone(), read)
}

pub fn user(text: &str) -> Policy {
    policy(&[(Source::User, text)])
}

pub fn judge(policy: &Policy, call: &Call, who: &Who<'_>) -> Verdict {
    policy.judge(&call.action(), who)
}

pub fn ruling(policy: &Policy, call: &Call) -> Ruling {
    judge(policy, call, &who()).ruling
}
