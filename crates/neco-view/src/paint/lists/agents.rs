//! The agents that there can be, as lines and as JSON.

use std::fmt::Write;
use std::path::Path;

use neco_proto::app::agents::{AgentDefinition, AgentList, DeclaredInput, Problem, ShownAgent};
use neco_proto::clean::{clean, clean_line};
use serde_json::{Value, json};

use super::sessions::below_home;
use crate::paint::wrap::{columns, fitting};
use crate::wording::agents::{kind, model_or_group};

/// Columns of a description in the list.
const DESCRIPTION: usize = 90;

/// One line for each agent; `home` is shown as `~`.
pub fn all(list: &AgentList, home: &Path) -> String {
    let widest = list.agents.iter().map(|one| columns(&one.name)).max().unwrap_or_default();
    let mut text = String::new();
    for one in &list.agents {
        let gap = " ".repeat(widest.saturating_sub(columns(&one.name)) + 2);
        let from = one.file.as_ref().map(|file| format!("  ({})", below_home(file, home)));
        let description = fitting(&clean_line(&one.description), DESCRIPTION);
        let _ = writeln!(text, "{}{gap}{description}{}", one.name, from.unwrap_or_default());
    }
    text
}

/// The same as JSON.
pub fn all_json(list: &AgentList) -> String {
    let agents: Vec<Value> = list.agents.iter().map(|one| with_model(json!(one))).collect();
    let problems: Vec<String> = list.problems.iter().map(ToString::to_string).collect();
    format!("{:#}\n", json!({ "agents": agents, "problems": problems }))
}

/// All of an agent.
pub fn one(shown: &ShownAgent, home: &Path) -> String {
    let definition = &shown.definition;
    let mut text = format!("{}\n{}\n", definition.name, clean(&definition.description));
    let mut line = |name: &str, value: String| {
        if !value.is_empty() {
            let _ = writeln!(text, "{name:<9} {}", clean_line(&value));
        }
    };
    let from = definition.file.as_ref().map_or_else(|| "built-in".to_owned(), |file| below_home(file, home));
    line("from", from);
    line("type", kind(definition.node_type));
    line("model", model(definition));
    line("tools", tools(definition));
    line("mode", definition.mode.map(|mode| mode.to_string()).unwrap_or_default());
    line("deny", definition.deny.join(", "));
    line("ask", definition.ask.join(", "));
    line("limits", limits(definition));
    for (name, input) in &definition.inputs {
        line("input", self::input(name, input));
    }
    line("query", shown.query.as_deref().unwrap_or_default().trim().to_owned());
    if let Some(schema) = &shown.output_schema {
        let _ = writeln!(text, "output    {schema}");
    }
    let _ = write!(text, "\n{}\n", clean(&shown.prompt));
    text
}

/// The same as JSON.
pub fn one_json(shown: &ShownAgent) -> String {
    format!("{:#}\n", with_model(json!(shown)))
}

/// In files and here, an agent that asks the model of whoever starts it has the model `inherit`.
fn with_model(mut definition: Value) -> Value {
    if definition["model"].is_null() {
        definition["model"] = json!("inherit");
    }
    definition
}

fn model(definition: &AgentDefinition) -> String {
    let temperature = definition.temperature.map(|value| format!(", temperature {value}")).unwrap_or_default();
    let name = definition.model.as_deref().map_or_else(|| "the same as its parent".to_owned(), model_or_group);
    format!("{name}{temperature}")
}

fn input(name: &str, input: &DeclaredInput) -> String {
    let value = match (&input.default, input.required) {
        (Some(default), _) => format!(", {default} when left out"),
        (None, true) => String::new(),
        (None, false) => ", may be left out".to_owned(),
    };
    let about = if input.description.is_empty() { String::new() } else { format!(": {}", input.description) };
    format!("{name} ({}{value}){about}", input.kind)
}

fn tools(definition: &AgentDefinition) -> String {
    let only = definition.tools.as_ref().map_or_else(|| "the same as its parent".to_owned(), |only| only.join(", "));
    match definition.disallowed_tools.is_empty() {
        true => only,
        false => format!("{only}, without {}", definition.disallowed_tools.join(", ")),
    }
}

fn limits(definition: &AgentDefinition) -> String {
    let turns = definition.max_turns.map(|turns| format!("{turns} turns"));
    let time = definition.timeout.map(|time| format!("{time} s"));
    let cost = definition.budget.cost.map(|cost| format!("${cost}"));
    let tokens = definition.budget.tokens.map(|tokens| format!("{tokens} tokens"));
    let answer = definition.max_output.map(|tokens| format!("{tokens} tokens an answer"));
    [turns, time, cost, tokens, answer].into_iter().flatten().collect::<Vec<_>>().join(", ")
}

/// What is wrong with their files, a line each.
pub fn problems(problems: &[Problem]) -> String {
    if problems.is_empty() {
        return "No problems\n".to_owned();
    }
    let line = |problem: &Problem| {
        let Problem { file, line, level, what } = problem;
        format!("{}:{line}: {level}: {}\n", clean_line(file), clean_line(what))
    };
    problems.iter().map(line).collect()
}
