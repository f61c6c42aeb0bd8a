//! Hooks, rules, files in the place of prompts, plugins, MCP servers, and whether the folder is trusted.

use std::path::Path;

use neco_agent::context::{PromptValues, Prompts};
use neco_config::{Env, Loaded};
use neco_ext::mcp::{ServerStatus, find};
use neco_ext::plugins::{self, PluginStore};
use neco_proto::app::agents::Problem;
use neco_proto::app::doctor::Finding;
use neco_safety::policy::Source;
use neco_view::slash;

use super::servers;
use crate::plugins::marketplaces::marketplace;
use crate::skills::broken;
use crate::workspace::own_commands;
use crate::workspace::plugged::Plugged;
use crate::workspace::rules::{self, RuleFlags};
use crate::workspace::told_files::ToldFiles;

/// How many hooks there are, and how it stands with what the folder would switch on; `statuses` say how servers stand.
pub fn check(folder: &Path, env: &Env, loaded: &Loaded, statuses: &[ServerStatus]) -> Vec<Finding> {
    let plugged = Plugged::look(env, folder, loaded);
    let (own, on, off) = plugged.counts();
    let mut found = find(env, folder, loaded, plugged.plugins());
    let replacing = found.replacing(&plugged.servers());
    found.notices.extend(replacing);
    let of_plugins = plugins(env, folder);
    let is_told = |notice: &String| of_plugins.iter().any(|finding| finding.words == *notice);
    let notices = plugged.notices.iter().filter(|notice| !found.notices.contains(notice) && !is_told(notice));
    let mut findings: Vec<Finding> = notices.map(|notice| Finding::warn("hooks", notice)).collect();
    findings
        .push(Finding::ok("hooks", format!("{own} of yours, {on} of this folder, {off} of this folder that are off")));
    findings.push(rules(folder, env, loaded, &plugged));
    findings.extend(prompts(env, &plugged));
    findings.extend(commands(folder, env));
    findings.extend(skills(env, &plugged));
    findings.extend(of_plugins);
    findings.extend(servers::check(env, found, &plugged.servers(), statuses));
    findings.push(match plugged.note() {
        Some(note) => Finding::warn("trust", note),
        None if plugged.is_empty() => Finding::ok("trust", "this folder would switch on nothing by itself"),
        None if plugged.is_all_on() => Finding::ok("trust", "this folder is trusted, and all it switches on was seen"),
        // Nobody is asked about commands beforehand.
        None => {
            let fix = Some("`neco trust` or /trust shows them and switches them on".to_owned());
            let words = "commands of this folder are off: they are not trusted as they are";
            Finding { fix, ..Finding::info("trust", words) }
        }
    });
    findings
}

/// Nothing runs with rules that can't be used.
fn rules(folder: &Path, env: &Env, loaded: &Loaded, plugged: &Plugged) -> Finding {
    match rules::load(&RuleFlags::default(), env, folder, loaded, plugged) {
        Ok(rules) => {
            let written = rules.policy.rules().iter().filter(|rule| rule.source > Source::BuiltIn).count();
            let warned = rules.warnings.iter().map(ToString::to_string).collect::<Vec<_>>().join("; ");
            match warned.is_empty() {
                true => Finding::ok("rules", format!("{written} beside the built-in ones")),
                false => Finding::warn("rules", warned),
            }
        }
        Err(failure) => {
            Finding::fail("rules", failure.message, "correct them or take them out: nothing runs until then")
        }
    }
}

/// Plugins that are off although they are on, and those whose marketplace is gone.
fn plugins(env: &Env, folder: &Path) -> Vec<Finding> {
    let store = PluginStore::new(env.config_dir());
    let (active, off) = store.active(folder);
    let mut findings: Vec<Finding> = off.iter().map(|off| Finding::warn("plugins", off.to_string())).collect();
    let installed = store.plugins().unwrap_or_default();
    for plugin in &installed {
        let plugins::Source::Listed { marketplace: list, .. } = &plugin.source else { continue };
        if let Err(error) = marketplace(&store, list) {
            let name = &plugin.name;
            let fix = format!("add the marketplace again, or take the plugin away with `neco plugin remove {name}`");
            let words = format!("the plugin {name} can't be updated: {}", error.message);
            findings.push(Finding { fix: Some(fix), ..Finding::warn("plugins", words) });
        }
    }
    if !installed.is_empty() {
        findings
            .push(Finding::ok("plugins", format!("{} installed, {} of them on here", installed.len(), active.len())));
    }
    findings
}

/// How many skills there are, and those that can't be used.
fn skills(env: &Env, plugged: &Plugged) -> Vec<Finding> {
    let found = plugged.found_skills();
    let mut findings = Vec::new();
    for Problem { file, line, what, .. } in broken(env, &found.notices) {
        let fix = Some("correct it: `neco skill validate` says all that is wrong".to_owned());
        findings.push(Finding { fix, ..Finding::warn("skills", format!("{file}:{line} can't be used: {what}")) });
    }
    let off = found.skills.iter().filter(|skill| !plugged.may_use(skill)).count();
    let broken = findings.len();
    if broken > 0 || !found.skills.is_empty() {
        let on = plugged.skills().skills.len();
        let words = format!("{on} can be used here, {off} are off, {broken} can't be used");
        findings.insert(0, Finding::ok("skills", words));
    }
    findings
}

/// What is written in files of commands and never used.
fn commands(folder: &Path, env: &Env) -> Vec<Finding> {
    let mut findings = Vec::new();
    for command in own_commands::find(env, folder, |_| true) {
        let name = &command.custom.name;
        if slash::is_known(name) {
            let words = format!("{} is never used: /{name} is a built-in command", env.shown(&command.file));
            let fix = Some("rename the file".to_owned());
            findings.push(Finding { fix, ..Finding::warn("commands", words) });
        }
        if let Some(why) = &command.broken {
            let words = format!("/{name} can't be used: {}: {why}", env.shown(&command.file));
            let fix = Some("correct the file, or remove it".to_owned());
            findings.push(Finding { fix, ..Finding::warn("commands", words) });
        }
        findings.extend(command.notes().into_iter().map(|note| Finding::info("commands", note)));
    }
    findings
}

/// Nothing runs with a file in the place of a prompt that can't be used.
fn prompts(env: &Env, plugged: &Plugged) -> Option<Finding> {
    let fix = "correct the file, or remove it: then Neco's own text is used";
    let files = match ToldFiles::find(env, plugged) {
        Ok(told) => told.prompts,
        Err(failure) => return Some(Finding::fail("prompts", failure.message, fix)),
    };
    let count = files.len();
    if let Some(empty) = files.iter().find(|file| file.text.trim().is_empty()) {
        let words = format!("{} is empty, so the prompt {} is left out", empty.file, empty.name);
        return Some(Finding {
            fix: Some("remove the file to restore the built-in one".to_owned()),
            ..Finding::warn("prompts", words)
        });
    }
    match Prompts::new(files, PromptValues::default()) {
        Err(error) => Some(Finding::fail("prompts", error.to_string(), fix)),
        Ok(_) if count == 0 => None,
        Ok(_) => Some(Finding::ok("prompts", format!("{count} of them are replaced by files"))),
    }
}
