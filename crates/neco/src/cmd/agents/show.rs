//! Definitions as lines and as JSON.

use std::fmt::Write;

use neco_config::Env;
use neco_session::roles::{Definition, Definitions, RoleModel};
use serde_json::{Value, json};

use crate::print::clean::{clean, clean_line};
use crate::print::wrap::{columns, fitting};

/// Columns of a description in the list.
const DESCRIPTION: usize = 90;

/// One line for each agent.
#[must_use]
pub fn all(found: &Definitions, env: &Env) -> String {
    let widest = found.iter().map(|one| columns(&one.name)).max().unwrap_or_default();
    let mut text = String::new();
    for one in found.iter() {
        let gap = " ".repeat(widest.saturating_sub(columns(&one.name)) + 2);
        let from = one.origin.file().map(|file| format!("  ({})", clean_line(&env.shown(file)))).unwrap_or_default();
        let description = fitting(&clean_line(&one.description), DESCRIPTION);
        let _ = writeln!(text, "{}{gap}{description}{from}", one.name);
    }
    text
}

/// The same as JSON.
#[must_use]
pub fn all_json(found: &Definitions) -> String {
    let agents: Vec<Value> = found.iter().map(value).collect();
    let problems: Vec<String> = found.problems().iter().map(ToString::to_string).collect();
    format!("{:#}\n", json!({ "agents": agents, "problems": problems }))
}

/// All of an agent.
#[must_use]
pub fn one(definition: &Definition, env: &Env) -> String {
    let mut text = format!("{}\n{}\n", definition.name, clean(&definition.description));
    let mut line = |name: &str, value: String| {
        if !value.is_empty() {
            let _ = writeln!(text, "{name:<9} {}", clean_line(&value));
        }
    };
    let from = definition.origin.file().map_or_else(|| "built-in".to_owned(), |file| env.shown(file));
    line("from", from);
    line("type", definition.node_type.to_string());
    line("model", model(definition));
    line("tools", tools(definition));
    line("mode", definition.narrowing.mode.map(|mode| mode.to_string()).unwrap_or_default());
    line("deny", definition.narrowing.deny.join(", "));
    line("ask", definition.narrowing.ask.join(", "));
    line("limits", limits(definition));
    if let Some(schema) = &definition.output_schema {
        let _ = writeln!(text, "output    {schema}");
    }
    let _ = write!(text, "\n{}\n", clean(&definition.prompt));
    text
}

/// The same as JSON.
#[must_use]
pub fn one_json(definition: &Definition) -> String {
    let mut value = value(definition);
    if let Some(fields) = value.as_object_mut() {
        fields.insert("prompt".to_owned(), json!(definition.prompt));
        fields.insert("output_schema".to_owned(), json!(definition.output_schema));
    }
    format!("{value:#}\n")
}

fn model(definition: &Definition) -> String {
    let temperature = definition.temperature.map(|value| format!(", temperature {value}")).unwrap_or_default();
    let name = match &definition.model {
        RoleModel::OfParent => "that of whoever starts it",
        RoleModel::OfType | RoleModel::Named(_) => definition.model_name("", None),
    };
    format!("{name}{temperature}")
}

fn tools(definition: &Definition) -> String {
    let only =
        definition.tools.only.as_ref().map_or_else(|| "all of whoever starts it".to_owned(), |only| only.join(", "));
    match definition.tools.except.is_empty() {
        true => only,
        false => format!("{only}, without {}", definition.tools.except.join(", ")),
    }
}

fn limits(definition: &Definition) -> String {
    let turns = definition.max_turns.map(|turns| format!("{turns} turns"));
    let time = definition.timeout.map(|time| format!("{} s", time.as_secs_f64()));
    let cost = definition.budget.cost.map(|cost| format!("${cost}"));
    let tokens = definition.budget.tokens.map(|tokens| format!("{tokens} tokens"));
    [turns, time, cost, tokens].into_iter().flatten().collect::<Vec<_>>().join(", ")
}

fn value(definition: &Definition) -> Value {
    json!({
        "name": definition.name,
        "description": definition.description,
        "origin": definition.origin.name(),
        "file": definition.origin.file(),
        "type": definition.node_type,
        "model": match &definition.model {
            RoleModel::OfParent => "inherit",
            RoleModel::OfType | RoleModel::Named(_) => definition.model_name("", None),
        },
        "temperature": definition.temperature,
        "tools": definition.tools.only,
        "disallowed_tools": definition.tools.except,
        "mode": definition.narrowing.mode,
        "deny": definition.narrowing.deny,
        "ask": definition.narrowing.ask,
        "max_turns": definition.max_turns,
        "timeout": definition.timeout.map(|time| time.as_secs_f64()),
        "budget": definition.budget,
    })
}
