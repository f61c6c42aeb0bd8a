//! Permissions of other agents as rules of a policy file.

use std::path::Path;

use neco_proto::app::setups::SetupKind;
use neco_proto::{ApprovalMode, Mode, Risk, ToolOrigin};
use neco_safety::command::Place;
use neco_safety::policy::{
    Action, Confinement, Policy, ReadRules, Rule, RuleReader, Ruling as OurRuling, SideEffect, Source as RuleSource,
    When, Who,
};
use neco_safety::tools::{self, Effects};
use neco_safety::world::Freedom;
use serde_json::json;

use super::piece::{Level, Take};
use super::reading::{HOLDS_KEY, Reading, Source};
use super::references;

/// What a permission says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Ruling {
    Allow,
    Ask,
    Deny,
}

impl Ruling {
    pub(super) const fn name(self) -> &'static str {
        match self {
            Self::Allow => "allow",
            Self::Ask => "ask",
            Self::Deny => "deny",
        }
    }

    /// What others call them.
    pub(super) fn named(name: &str) -> Option<Self> {
        Some(match name {
            "allow" => Self::Allow,
            "ask" | "ask_user" | "prompt" => Self::Ask,
            "deny" | "forbidden" => Self::Deny,
            _ => return None,
        })
    }
}

/// Why a permission of a project that allows something is not taken.
const PROJECT_ALLOWS: &str = "a project can only ask and deny here; `neco policy` and --allow are for you";
/// Why one that allows everything is not taken.
const ALLOWS_ALL: &str = "it would allow every call without a question; --yes, or `approval = \"auto\"`, comes close";

/// Why one that can't be written as a rule is not taken.
pub(super) const UNREADABLE: &str = "it can't be said as a rule of Neco";

/// What makes a pattern of a path.
const WILD: [char; 4] = ['*', '?', '[', '{'];
/// What a shell treats specially, so that it is no plain word of a command.
const NOT_PLAIN: &str = "|&;<>()$`\\\"'*?";

/// Adds a permission as Claude Code writes it: `Bash(git log:*)`, `Read(./src/**)`, `WebFetch(domain:docs.rs)`.
pub(super) fn add(reading: &mut Reading, written: &str, ruling: Ruling, from: Source<'_>, base: &Path) {
    add_at(reading, (written, 0), ruling, from, base);
}

/// The same with the priority that the rule has among those of its list.
pub(super) fn add_at(
    reading: &mut Reading,
    (written, priority): (&str, i64),
    ruling: Ruling,
    from: Source<'_>,
    base: &Path,
) {
    let name = format!("{} {}", ruling.name(), references::shown(written));
    if references::holds_secret(written.trim_end_matches(')').trim_end_matches(":*")) {
        return reading.leave(SetupKind::Permission, name, from, HOLDS_KEY);
    }
    match rule(written, ruling, base) {
        Ok(text) if priority == 0 => add_rule(reading, name, text, from),
        Ok(text) => add_rule(reading, name, format!("{text}priority = {priority}\n"), from),
        Err(why) => reading.refuse(SetupKind::Permission, name, from, why),
    }
}

/// Adds a rule as a policy file has it. Nothing may be written that the next start could not read: it would not begin at
/// all.
pub(super) fn add_rule(reading: &mut Reading, name: String, text: String, from: Source<'_>) {
    let read = read(&text);
    let allows = read.rules.iter().any(|rule| rule.decision == OurRuling::Allow);
    let words = read.warnings.iter().map(|warning| warning.message.clone()).collect();
    if !read.problems.is_empty() || read.rules.is_empty() {
        reading.refuse(SetupKind::Permission, name, from, UNREADABLE);
    } else if allows && from.level == Level::Project {
        reading.refuse(SetupKind::Permission, name, from, PROJECT_ALLOWS);
    } else if allows_all(read.rules) {
        reading.leave(SetupKind::Permission, name, from, ALLOWS_ALL);
    } else {
        reading.add(SetupKind::Permission, name, from, Take::Rule(from.level, text), words);
    }
}

fn read(rules: &str) -> ReadRules {
    let place = Place { home: Some("/".into()), ..Place::default() };
    RuleReader { place: &place }.file(rules, "", RuleSource::User)
}

/// Whether rules allow what nobody can have had in mind: a command of no meaning, or a tool of a server that does not
/// exist. However it is written, such a rule is about every one of them. In which situations it holds does not matter.
fn allows_all(rules: Vec<Rule>) -> bool {
    let everywhere = |mut rule: Rule| {
        let When { tools, args, commands, paths, hosts, risks, touches, .. } = rule.when;
        rule.when = When { tools, args, commands, paths, hosts, risks, touches, ..When::default() };
        rule
    };
    let policy = Policy::new(Place::default(), rules.into_iter().map(everywhere).collect());
    let who = Who {
        mode: Mode::Agent,
        approval: ApprovalMode::AskFirst,
        person_present: true,
        role: Who::ROOT,
        confinement: Confinement::ChosenNone,
        network: false,
    };
    let line = "zq-probe one two";
    let server = ToolOrigin::Mcp { server: "zq".to_owned() };
    let call = |tool, origin, arguments, command| Action {
        tool,
        origin,
        arguments,
        touch: SideEffect::Runs,
        risk: Risk::Medium,
        command,
        folder: None,
        paths: &[],
        because: None,
        freedom: Freedom::AsConfigured,
    };
    let (command, nothing) = (json!({ "command": line }), json!({}));
    [call("bash", &ToolOrigin::BuiltIn, &command, Some(line)), call("mcp__zq__probe", &server, &nothing, None)]
        .iter()
        .any(|action| policy.judge(action, &who).ruling == OurRuling::Allow)
}

/// The rule that a permission means.
pub(super) fn rule(written: &str, ruling: Ruling, base: &Path) -> Result<String, &'static str> {
    let written = written.trim();
    let (tool, inside) = match written.split_once('(') {
        Some((tool, rest)) => (tool.trim(), rest.strip_suffix(')').ok_or("its bracket is not closed")?.trim()),
        None => (written, ""),
    };
    if written.contains(char::is_control) || tool.is_empty() || tool.contains(char::is_whitespace) {
        return Err("it is no rule");
    }
    let own = tools::spelling(tool);
    let (runs, reaches_server) = (own == "bash", tool.starts_with("mcp__"));
    let is_whole = inside.chars().all(|char| matches!(char, '*' | ':' | ' '));
    if tool != "*" && !reaches_server && !tools::is_known(&own) {
        return Err("no tool here is called so");
    }
    let about = match inside {
        _ if is_whole => String::new(),
        command if runs => command_of(command, ruling),
        host if host.starts_with("domain:") => line("host", host.trim_start_matches("domain:")),
        _ if reaches_server => return Err("rules about what a server's tool is told are not supported"),
        path if is_about_files(&own) => paths(path, ruling, base),
        _ => return Err("only commands, files and domains can stand in brackets"),
    };
    let tool = match reaches_server && tool.matches("__").count() == 1 {
        true => format!("{tool}__*"),
        false => tool.to_owned(),
    };
    Ok(format!("[[rule]]\n{}{}{about}{}", line("name", written), line("tool", &tool), line("decision", ruling.name())))
}

fn is_about_files(own: &str) -> bool {
    tools::effects(own).overlap(Effects::READS.and(Effects::WRITES))
}

/// `git log:*` and `git log *` begin so, other stars stand for anything, everything else is meant as it is; but who asks
/// about or denies `git push` means it with whatever follows.
fn command_of(inside: &str, ruling: Ruling) -> String {
    let begins = inside.strip_suffix(":*").or_else(|| inside.strip_suffix(" *"));
    let is_plain = |words: &str| !words.contains(|char| NOT_PLAIN.contains(char)) && !words.trim().is_empty();
    match begins.filter(|words| is_plain(words)) {
        Some(words) => line("command", words),
        None if inside.contains('*') => {
            let inside = begins.map_or_else(|| inside.to_owned(), |words| format!("{words}*"));
            let pieces: Vec<String> = inside.split('*').map(escaped).collect();
            line("command_regex", &format!("^{}$", pieces.join(".*")))
        }
        None if ruling != Ruling::Allow && is_plain(inside) => line("command", inside),
        None => line("line", inside),
    }
}

/// `//x` is absolute, `~/x` in the home folder, `/x` below the folder of the settings, `x/y` below the workspace, and a
/// bare name is meant wherever it is.
fn paths(inside: &str, ruling: Ruling, base: &Path) -> String {
    let mut paths = match (inside.strip_prefix("//"), inside.strip_prefix('/')) {
        (Some(absolute), _) => vec![format!("/{absolute}")],
        (None, Some(rest)) => vec![base.join(rest).to_string_lossy().into_owned()],
        (None, None) if inside.contains('/') => vec![inside.trim_start_matches("./").to_owned()],
        (None, None) => vec![inside.to_owned(), format!("**/{inside}")],
    };
    // What is closed by a pattern is closed with all that is in it.
    if ruling != Ruling::Allow && inside.contains(WILD) && !inside.ends_with("**") {
        let below: Vec<String> = paths.iter().map(|path| format!("{}/**", path.trim_end_matches('/'))).collect();
        paths.extend(below);
    }
    let quoted: Vec<String> = paths.iter().map(|path| quoted(path)).collect();
    format!("path = [{}]\n", quoted.join(", "))
}

/// A text in which nothing is a pattern.
fn escaped(text: &str) -> String {
    let escape = |char: char| match char.is_alphanumeric() || matches!(char, ' ' | '_' | '/' | '-' | ':' | '=' | ',') {
        true => char.to_string(),
        false => format!("\\{char}"),
    };
    text.chars().map(escape).collect()
}

fn line(name: &str, value: &str) -> String {
    format!("{name} = {}\n", quoted(value))
}

fn quoted(text: &str) -> String {
    serde_json::Value::from(text).to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn permissions_are_rules_that_can_be_read() {
        for (written, ruling, about) in [
            ("Bash(git log:*)", Ruling::Allow, "command = \"git log\""),
            ("Bash(npm run test)", Ruling::Allow, "line = \"npm run test\""),
            ("Bash(git push)", Ruling::Deny, "command = \"git push\""),
            ("Bash(git * main)", Ruling::Allow, "command_regex = \"^git .* main$\""),
            ("Bash(echo $HOME *)", Ruling::Ask, "command_regex = \"^echo \\\\$HOME.*$\""),
            ("Read(./.env)", Ruling::Deny, "path = [\".env\"]"),
            ("Read(.env.*)", Ruling::Deny, "path = [\".env.*\", \"**/.env.*\", \".env.*/**\", \"**/.env.*/**\"]"),
            ("Edit(/src/**)", Ruling::Allow, "path = [\"/home/me/src/**\"]"),
            ("Read(//etc/x)", Ruling::Ask, "path = [\"/etc/x\"]"),
            ("WebFetch(domain:docs.rs)", Ruling::Allow, "host = \"docs.rs\""),
            ("mcp__github", Ruling::Allow, "tool = \"mcp__github__*\""),
            ("Bash", Ruling::Deny, "tool = \"Bash\""),
        ] {
            let text = rule(written, ruling, Path::new("/home/me")).unwrap();
            assert!(text.contains(about), "{written}: {text}");
            let place = Place::default();
            let read = RuleReader { place: &place }.file(&text, "", RuleSource::User);
            assert_eq!((read.rules.len(), read.problems.len()), (1, 0), "{text} {:?}", read.problems);
        }
    }

    #[test]
    fn what_is_no_rule_is_refused() {
        for written in ["Teleport(x)", "Bash(open", "", "a b", "mcp__a__b(x)", "Skill(pdf)"] {
            assert!(rule(written, Ruling::Allow, Path::new("/")).is_err(), "{written}");
        }
    }

    #[test]
    fn what_allows_everything_is_known_however_it_is_written() {
        let is_all = |written: &str| {
            let text = rule(written, Ruling::Allow, Path::new("/")).unwrap();
            allows_all(read(&text).rules)
        };
        for written in [
            "Bash",
            "Bash()",
            "Bash(*)",
            "Bash(**)",
            "Bash(:*)",
            "Bash(*:*)",
            "Bash(* *)",
            "Bash(***)",
            "Bash(* * :*)",
            "Shell",
            "*",
            "mcp__*",
            "mcp__*__*",
            "mcp__**",
        ] {
            assert!(is_all(written), "{written}");
        }
        for written in ["Bash(git:*)", "Bash(git *)", "Bash(* --version)", "Read", "Edit", "mcp__a", "mcp__a__*"] {
            assert!(!is_all(written), "{written}");
        }
        for (theirs, expected) in [
            ("toolName = '*'", true),
            ("toolName = '*'\nmodes = ['yolo']", true),
            ("toolName = 'run_shell_command'", true),
            ("toolName = ['read_file', 'run_shell_command']", true),
            ("commandRegex = '[a-z]'", true),
            ("mcpName = '*'\ntoolName = '*'", true),
            ("mcpName = 'docs'", false),
            ("commandPrefix = 'git'", false),
            ("toolName = 'read_file'", false),
        ] {
            let text = format!("[[rule]]\n{theirs}\ndecision = 'allow'\npriority = 100\n");
            let read = read(&text);
            assert_eq!(read.problems.len(), 0, "{theirs}: {:?}", read.problems);
            assert_eq!(allows_all(read.rules), expected, "{theirs}");
        }
    }
}
