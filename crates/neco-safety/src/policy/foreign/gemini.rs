//! Policy files of Gemini CLI: `[[rule]]` tables with `toolName`, `commandPrefix`, `argsPattern`, `modes`.

use neco_proto::{ApprovalMode, Mode};
use serde_json::Value;

use super::super::action::SideEffect;
use super::super::fields::{Entry, Fields, Problem, Table};
use super::super::pattern::{ArgsPattern, CommandPattern, MCP, ToolPattern};
use super::super::read::{ReadRules, prefix, regex};
use super::super::rule::{Rule, Ruling, Source, When};
use crate::listed::is_listed;

/// Fields that only such rules have.
const MARKS: &str = "toolName mcpName commandPrefix commandRegex argsPattern denyMessage toolAnnotations \
    allowRedirection interactive subagent modes safety_checker";
/// The checker that a path lies in the workspace: Neco always does that.
const PATH_CHECKER: &str = "allowed-path";
/// Priorities lie between 0 and this.
const MOST_PRIORITY: i64 = 999;

/// Their modes, which are both what we call a mode and what we call an approval mode.
#[derive(Clone, Copy, PartialEq, Eq)]
enum TheirMode {
    Default,
    AutoEdit,
    Yolo,
    Plan,
}

const MODES: &[(&str, TheirMode)] = &[
    ("default", TheirMode::Default),
    ("autoEdit", TheirMode::AutoEdit),
    ("yolo", TheirMode::Yolo),
    ("plan", TheirMode::Plan),
];

/// Whether a rule is one of theirs.
pub fn is_rule(table: &Table) -> bool {
    table.entries.iter().any(|entry| is_listed(&entry.name, MARKS))
}

/// Whether a section of a file is one of theirs.
pub fn is_section(name: &str) -> bool {
    matches!(name, "safety_checker" | "safety_checkers" | "modes" | "commands")
}

/// What is said about a section that means nothing here.
pub fn left_out(name: &str, entry: &Entry) -> Problem {
    let message = match name {
        "safety_checker" | "safety_checkers" => {
            "left out: safety checkers are programs inside Gemini CLI; write a rule that asks or denies instead"
        }
        _ => "left out: what commands may reach is set under [sandbox] in config.toml",
    };
    Problem { place: entry.place.clone(), message: format!("[{name}] {message}") }
}

/// Reads a rule; one whose modes are several of ours becomes several.
pub fn rules(table: Table, source: Source, read: &mut ReadRules) {
    let mut fields = Fields::of(table);
    let place = fields.place().to_owned();
    let name = fields.text("name");
    fields.text("description");
    let decision = decision(&mut fields);
    let mut when = when(&mut fields);
    let understood = annotations(&mut fields, &mut when);
    let checked = checker(&mut fields);
    // Who forbids something and does not say how much it counts means it.
    let unsaid = if decision == Some(Ruling::Deny) { MOST_PRIORITY } else { 0 };
    let priority = fields.whole("priority", 0, MOST_PRIORITY).unwrap_or(unsaid);
    let reason = fields.text("denyMessage");
    let modes = fields.choices("modes", MODES);
    // Every command of a line is judged here anyway.
    fields.switch("allowRedirection");
    // What others add to their rules must not keep the program from starting.
    let unknown = fields.left();
    let problems = fields.finish();
    let sound = problems.is_empty();
    read.problems.extend(problems);
    let Some(decision) = decision.filter(|_| sound) else { return };
    let decision = without(unknown, decision, read);
    if !understood {
        let message = "left out: of toolAnnotations only readOnlyHint = true is known here".to_owned();
        read.warnings.push(Problem { place, message });
        return;
    }
    let decision = match checked {
        Some(checker) if decision == Ruling::Allow => {
            let message = format!("asks instead of allowing: its safety checker {checker} does not exist here");
            read.warnings.push(Problem { place: place.clone(), message });
            Ruling::Ask
        }
        Some(_) | None => decision,
    };
    let priority = i32::try_from(priority).unwrap_or(0);
    for situation in situations(&modes) {
        let when = When { modes: situation.0, approvals: situation.1, ..when.clone() };
        let (name, reason, place) = (name.clone(), reason.clone(), place.clone());
        read.rules.push(Rule { decision, priority, name, reason, kept: false, lent: false, source, place, when });
    }
}

/// What a rule decides without the fields that are not known here: one may be a condition, so that it does not allow.
fn without(unknown: Vec<Problem>, decision: Ruling, read: &mut ReadRules) -> Ruling {
    let (instead, words) = match decision {
        Ruling::Allow if !unknown.is_empty() => (Ruling::Ask, "asks instead of allowing"),
        Ruling::Allow | Ruling::Ask | Ruling::Deny => (decision, "left out"),
    };
    let told = |field: Problem| Problem { message: format!("{words}: {}", field.message), ..field };
    read.warnings.extend(unknown.into_iter().map(told));
    instead
}

fn decision(fields: &mut Fields) -> Option<Ruling> {
    let all = [("allow", Ruling::Allow), ("ask_user", Ruling::Ask), ("deny", Ruling::Deny)];
    let said = fields.has("decision");
    let decision = fields.choices("decision", &all);
    if !said {
        let place = fields.place().to_owned();
        fields.wrong(&place, "the rule needs a decision: \"allow\", \"ask_user\" or \"deny\"");
    }
    decision.first().copied()
}

fn when(fields: &mut Fields) -> When {
    let tools = fields.texts("toolName");
    let server = fields.text("mcpName");
    let commands = commands(fields);
    let args = fields.texts("argsPattern").first().and_then(|(place, pattern)| {
        let regex = regex(fields, place, "argsPattern", pattern)?;
        Some(ArgsPattern { regex, gemini: true })
    });
    let tools = match (server, tools.is_empty()) {
        (Some(server), true) => vec![of_server(&server, "*")],
        (Some(server), false) => tools.iter().map(|(_, tool)| of_server(&server, tool)).collect(),
        (None, true) if !commands.is_empty() => vec![ToolPattern::new("bash")],
        (None, _) => tools.iter().map(|(_, tool)| ToolPattern::new(tool)).collect(),
    };
    let roles = fields.text("subagent").into_iter().collect();
    When { tools, commands, args, roles, person: fields.switch("interactive"), ..When::default() }
}

/// A tool of a server, which may be named with the server before it.
fn of_server(server: &str, tool: &str) -> ToolPattern {
    let begins = [format!("{MCP}{server}__"), format!("mcp_{server}_"), format!("{server}__")];
    let tool = begins.iter().find_map(|begin| tool.strip_prefix(begin.as_str())).unwrap_or(tool);
    match (server, tool) {
        ("*", "*") => ToolPattern::new("mcp__*"),
        (server, tool) => ToolPattern::new(&format!("{MCP}{server}__{tool}")),
    }
}

fn commands(fields: &mut Fields) -> Vec<CommandPattern> {
    let mut commands = Vec::new();
    for (place, text) in fields.texts("commandPrefix") {
        match prefix(&text) {
            Ok(words) => commands.push(CommandPattern::Prefix(words)),
            Err(error) => fields.wrong(&place, format!("commandPrefix: {error}")),
        }
    }
    for (place, text) in fields.texts("commandRegex") {
        // Theirs begins where the command does.
        let pattern = regex(fields, &place, "commandRegex", &format!("^(?:{text})"));
        commands.extend(pattern.map(CommandPattern::Matches));
    }
    commands
}

/// Of what a tool says of itself only that it reads is known here; says whether there is nothing else.
fn annotations(fields: &mut Fields, when: &mut When) -> bool {
    let Some(entry) = fields.take("toolAnnotations") else { return true };
    let known = |(name, value): (&String, &Value)| name == "readOnlyHint" && value == &Value::Bool(true);
    let reads = entry.value.as_object().is_some_and(|hints| !hints.is_empty() && hints.iter().all(known));
    if reads {
        when.touches = vec![SideEffect::Reads];
    }
    reads
}

/// The name of a checker that does not exist here.
fn checker(fields: &mut Fields) -> Option<String> {
    let entry = fields.take("safety_checker")?;
    let name = entry.value.get("name").and_then(Value::as_str).unwrap_or("without a name").to_owned();
    (name != PATH_CHECKER).then_some(name)
}

/// Our modes and approval modes for theirs; none at all are all of them.
fn situations(modes: &[TheirMode]) -> Vec<(Vec<Mode>, Vec<ApprovalMode>)> {
    if modes.is_empty() {
        return vec![(Vec::new(), Vec::new())];
    }
    let mut situations = Vec::new();
    if modes.contains(&TheirMode::Plan) {
        situations.push((vec![Mode::Plan], Vec::new()));
    }
    let mut approvals = Vec::new();
    if modes.contains(&TheirMode::Default) {
        approvals.extend([ApprovalMode::AskFirst, ApprovalMode::Manual]);
    }
    if modes.contains(&TheirMode::AutoEdit) {
        approvals.push(ApprovalMode::AcceptEdits);
    }
    if modes.contains(&TheirMode::AutoEdit) || modes.contains(&TheirMode::Yolo) {
        approvals.push(ApprovalMode::Auto);
    }
    if !approvals.is_empty() {
        situations.push((vec![Mode::Agent, Mode::Debug], approvals));
    }
    situations
}
