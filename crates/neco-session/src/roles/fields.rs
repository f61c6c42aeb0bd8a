//! The values of fields: lists of names, tools, rules, schemas, numbers and times.

use std::collections::{BTreeMap, HashSet};
use std::time::Duration;

use neco_agent::CapabilityLevel;
use neco_config::front_matter::Field;
use neco_proto::app::agents::{DeclaredInput, InputType};
use neco_proto::event::{NodeType, SubtreeBudget};
use neco_safety::{is_listed, tools};
use neco_toolkit::schema::ArgumentSchema;
use serde_json::{Map, Value};

use super::definition::Narrowing;
use super::inputs::schema_of;
use super::read::{LONGEST_DESCRIPTION, Reader};
use crate::tree::tools::OF_CHILDREN;
use crate::workflow::template;

/// The most inputs of an agent.
const MOST_INPUTS: usize = 32;

impl Reader<'_> {
    /// What a field holds; what is no YAML is an error.
    pub(super) fn value(&mut self, field: &Field) -> Option<Value> {
        match field.value() {
            Ok(value) => Some(value),
            Err((line, words)) => {
                self.error(line, format!("{} can't be read: {words}", field.written));
                None
            }
        }
    }

    /// Texts that are written as a list, as one text with commas, or one only.
    pub(super) fn texts(&mut self, field: &Field) -> Vec<(String, usize)> {
        let commas = |text: &str| {
            let parts = split_outside_braces(text).into_iter();
            parts.filter(|part| !part.is_empty()).map(|part| (part, field.line)).collect()
        };
        match field.value() {
            Ok(Value::String(text)) => commas(&text),
            Ok(Value::Null) => Vec::new(),
            Ok(Value::Array(items)) => {
                let mut texts = Vec::new();
                for (index, item) in items.iter().enumerate() {
                    let line = if field.text.starts_with('[') { field.line } else { field.line + index + 1 };
                    match item.as_str() {
                        Some(text) => texts.push((text.trim().to_owned(), line)),
                        None => self.error(line, format!("{}: {item} is no text", field.written)),
                    }
                }
                texts
            }
            // `Read, *, Bash(git:*)` is no YAML, and is what people write.
            Err(_) if !field.text.contains('\n') && !field.text.starts_with('[') => commas(&field.text),
            Err((line, words)) => {
                self.error(line, format!("{} can't be read: {words}", field.written));
                Vec::new()
            }
            Ok(Value::Bool(_) | Value::Number(_) | Value::Object(_)) => {
                self.error(field.line, format!("{} is a list of names, or names with commas", field.written));
                Vec::new()
            }
        }
    }

    /// `tools: {bash: false}`: those that are off are left out, and those that are on don't matter.
    pub(super) fn switches(field: &Field) -> Option<Vec<(String, bool)>> {
        let Ok(Value::Object(switches)) = field.value() else { return None };
        let is_on = |value: &Value| match value.as_str().map(str::to_lowercase).as_deref() {
            Some("yes" | "on" | "y") => Some(true),
            Some("no" | "off" | "n") => Some(false),
            Some(_) => None,
            None => value.as_bool(),
        };
        switches.into_iter().map(|(name, on)| Some((name, is_on(&on)?))).collect()
    }

    pub(super) fn tools(&mut self, field: &Field) -> Option<Vec<String>> {
        if let Some(switches) = Self::switches(field) {
            // With everything off but some, the some are all there is.
            let all_off = switches.iter().any(|(name, on)| name == "*" && !on);
            let on = switches.into_iter().filter(|(_, on)| *on).map(|(name, _)| (name, field.line)).collect();
            return all_off.then(|| self.tool_names(on).unwrap_or_default());
        }
        let texts = self.texts(field);
        self.tool_names(texts)
    }

    pub(super) fn except(&mut self, field: Option<&Field>, tools: Option<&Field>) -> Vec<String> {
        let mut texts = field.map(|field| self.texts(field)).unwrap_or_default();
        if let Some((tools, switches)) = tools.and_then(|tools| Some((tools, Self::switches(tools)?))) {
            let off = switches.into_iter().filter(|(name, on)| !on && name != "*");
            texts.extend(off.map(|(name, _)| (name, tools.line)));
        }
        self.tool_names(texts).unwrap_or_else(|| vec!["*".to_owned()])
    }

    /// Our names for these tools; nothing when all are meant.
    pub(super) fn tool_names(&mut self, texts: Vec<(String, usize)>) -> Option<Vec<String>> {
        let (mut names, mut all) = (Vec::new(), false);
        for (text, line) in texts {
            match named(&text) {
                Named::All => all = true,
                Named::Tools(tools) => names.extend(tools),
                Named::Foreign => {
                    self.warning(line, format!("there is no tool {text} here; the agent goes without it"))
                }
                Named::Wrong(words) => self.error(line, words),
            }
        }
        let mut seen = HashSet::new();
        names.retain(|name| seen.insert(name.clone()));
        (!all).then_some(names)
    }

    pub(super) fn rules(&mut self, field: &Field) -> Vec<String> {
        let texts = self.texts(field);
        let mut rules = Vec::new();
        for (text, line) in texts {
            let alone = Narrowing { deny: vec![text.clone()], ..Narrowing::default() };
            let problems = alone.problems();
            if problems.is_empty() {
                rules.push(text);
            }
            problems.into_iter().for_each(|words| self.error(line, format!("{}: {words}", field.written)));
        }
        rules
    }

    /// `permission: {edit: deny, bash: {"git push": ask}}`: what is allowed there is allowed by the parent or not at all.
    pub(super) fn permissions(&mut self, field: &Field, narrowing: &mut Narrowing) {
        let Some(Value::Object(tools)) = self.value(field) else {
            return self.error(field.line, format!("{} names tools, each with allow, ask or deny", field.written));
        };
        for (tool, said) in &tools {
            let calls: Vec<(String, &Value)> = match said {
                Value::Object(calls) => calls
                    .iter()
                    .map(|(call, said)| (if call == "*" { tool.clone() } else { format!("{tool}({call})") }, said))
                    .collect(),
                said => vec![(tool.clone(), said)],
            };
            for (call, said) in calls {
                match said.as_str() {
                    Some("deny") => narrowing.deny.push(call),
                    Some("ask") => narrowing.ask.push(call),
                    Some("allow") => {}
                    Some(_) | None => self.error(field.line, format!("{call}: {said} is none of allow, ask and deny")),
                }
            }
        }
        for words in narrowing.problems() {
            self.error(field.line, format!("{}: {words}", field.written));
        }
    }

    pub(super) fn schema(&mut self, field: &Field) -> Option<Value> {
        let value = self.value(field)?;
        let value = match value {
            // A schema may be pasted as JSON below `|`.
            Value::String(text) => serde_json::from_str(&text).unwrap_or(Value::Null),
            other => other,
        };
        if !value.is_object() {
            self.error(field.line, format!("{} must be a JSON schema, as YAML or JSON", field.written));
            return None;
        }
        let problem = if self.is_built_in { None } else { ArgumentSchema::new(value.clone()).problem() };
        match problem {
            Some(why) => {
                self.error(field.line, format!("{} is no valid JSON schema: {why}", field.written));
                None
            }
            None => Some(value),
        }
    }

    /// `table: string`, or with a description, a default and whether it may be left out.
    pub(super) fn inputs(&mut self, field: &Field) -> BTreeMap<String, DeclaredInput> {
        let Some(value) = self.value(field) else { return BTreeMap::new() };
        let Value::Object(declared) = value else {
            self.error(field.line, "inputs names what the agent is started with, each with its type");
            return BTreeMap::new();
        };
        if declared.len() > MOST_INPUTS {
            self.error(field.line, format!("inputs has {}; at most {MOST_INPUTS} can be told of", declared.len()));
            return BTreeMap::new();
        }
        declared.into_iter().filter_map(|(name, said)| Some((name.clone(), self.input(field, &name, &said)?))).collect()
    }

    fn input(&mut self, field: &Field, name: &str, said: &Value) -> Option<DeclaredInput> {
        let mut wrong = |words: String| {
            self.error(field.line, format!("inputs: {name} {words}"));
            None
        };
        if !template::is_name(name) {
            return wrong("is no name: letters, digits and _, a letter first".to_owned());
        }
        let said = match said {
            Value::String(kind) => Map::from_iter([("type".to_owned(), Value::from(kind.as_str()))]),
            Value::Object(said) => said.clone(),
            other => return wrong(format!("is {other}: write its type, or type, description, default and required")),
        };
        let known = ["type", "description", "default", "required"];
        if let Some(other) = said.keys().find(|key| !known.contains(&key.as_str())) {
            return wrong(format!("has no {other}; it may have {}", known.join(", ")));
        }
        let Some(kind) = said.get("type").and_then(Value::as_str).and_then(InputType::named) else {
            let types: Vec<&str> = InputType::ALL.iter().map(|kind| kind.name()).collect();
            return wrong(format!("needs a type, one of {}", types.join(", ")));
        };
        let default = said.get("default").filter(|value| !value.is_null()).cloned();
        if default.as_ref().is_some_and(|default| ArgumentSchema::new(schema_of(kind)).check(default).is_err()) {
            return wrong(format!("has a default that is no {kind}"));
        }
        if default.as_ref().is_some_and(|default| default.to_string().chars().count() > LONGEST_DESCRIPTION) {
            return wrong(format!("has a default of more than {LONGEST_DESCRIPTION} characters"));
        }
        let required = match said.get("required").map(Value::as_bool) {
            None => default.is_none(),
            Some(Some(true)) if default.is_some() => return wrong("has a default, so it is not required".to_owned()),
            Some(Some(required)) => required,
            Some(None) => return wrong("required is true or false".to_owned()),
        };
        let description = said.get("description").and_then(Value::as_str).unwrap_or_default();
        let description = description.chars().take(LONGEST_DESCRIPTION).collect();
        Some(DeclaredInput { kind: kind.into(), description, default, required })
    }

    /// The template of the task, which reads what is declared and nothing else.
    pub(super) fn query(
        &mut self,
        field: Option<&Field>,
        declared: &BTreeMap<String, DeclaredInput>,
        inputs: Option<&Field>,
    ) -> Option<String> {
        let Some(field) = field else {
            if let Some(inputs) = inputs {
                self.error(inputs.line, "inputs without query: nothing would be made of them");
            }
            return None;
        };
        let Some(Value::String(query)) = self.value(field).filter(|value| value.as_str() != Some("")) else {
            self.error(field.line, "query is the text of the task, with {{ inputs.NAME }} where an input goes");
            return None;
        };
        let read = match template::reads_alone(&query) {
            Ok(read) => read,
            Err(error) => {
                self.error(field.line, format!("query can't be read: {}", template::reason(&error)));
                return None;
            }
        };
        if let Some(filter) = template::unknown_filter(&query) {
            self.error(field.line, format!("query can't be read: there is no filter {filter}"));
        }
        let name =
            |read: &str| read.strip_prefix("inputs.").map(|rest| rest.split('.').next().unwrap_or(rest).to_owned());
        for wrong in read.iter().filter(|read| name(read).is_none_or(|name| !declared.contains_key(&name))) {
            self.error(field.line, format!("query reads {wrong}, which is not declared under inputs"));
        }
        for unread in declared.keys().filter(|input| !read.iter().any(|read| name(read).as_ref() == Some(input))) {
            self.warning(field.line, format!("query does not read the input {unread}"));
        }
        Some(query)
    }

    pub(super) fn number(&mut self, field: &Field, least: f64, most: f64) -> Option<f64> {
        let found = self.value(field)?.as_f64().filter(|number| (least..=most).contains(number));
        self.needed(field, found, || format!(" must be a number from {least} to {most}"))
    }

    pub(super) fn whole(&mut self, field: &Field) -> Option<u32> {
        let number = self.value(field)?.as_u64().and_then(|number| u32::try_from(number).ok());
        self.needed(field, number.filter(|number| *number > 0), || " must be a whole number above 0".to_owned())
    }

    pub(super) fn timeout(&mut self, seconds: Option<&Field>, minutes: Option<&Field>) -> Option<Duration> {
        let (field, unit) = seconds.map(|field| (field, 1.0)).or_else(|| minutes.map(|field| (field, 60.0)))?;
        let value = self.value(field)?;
        let found = value.as_f64().map(|number| number * unit).or_else(|| value.as_str().and_then(duration));
        let found =
            found.filter(|seconds| *seconds > 0.0).and_then(|seconds| Duration::try_from_secs_f64(seconds).ok());
        self.needed(field, found, || " must be seconds, or a time such as 90s, 5m or 1h".to_owned())
    }

    pub(super) fn budget(
        &mut self,
        both: Option<&Field>,
        cost: Option<&Field>,
        tokens: Option<&Field>,
    ) -> SubtreeBudget {
        let mut budget = SubtreeBudget::default();
        if let Some(field) = both
            && let Some(value) = self.value(field)
        {
            match value.as_object() {
                Some(parts) => self.budget_parts(field, parts, &mut budget),
                None => self.error(field.line, "budget has the fields cost (US dollars) and tokens"),
            }
        }
        if let Some(field) = cost {
            budget.cost = self.value(field).and_then(|value| self.dollars(field, &value));
        }
        if let Some(field) = tokens {
            budget.tokens = self.value(field).and_then(|value| self.tokens(field, &value));
        }
        budget
    }

    fn budget_parts(&mut self, field: &Field, parts: &Map<String, Value>, budget: &mut SubtreeBudget) {
        for (name, value) in parts {
            match name.as_str() {
                "cost" => budget.cost = self.dollars(field, value),
                "tokens" => budget.tokens = self.tokens(field, value),
                _ => {
                    self.error(field.line, format!("budget has the fields cost (US dollars) and tokens, and no {name}"))
                }
            }
        }
    }

    fn dollars(&mut self, field: &Field, value: &Value) -> Option<f64> {
        let found = value.as_f64().filter(|amount| amount.is_finite() && *amount > 0.0);
        self.needed(field, found, || ": a cost is an amount in US dollars above 0".to_owned())
    }

    fn tokens(&mut self, field: &Field, value: &Value) -> Option<u64> {
        let found = value.as_u64().filter(|count| *count > 0);
        self.needed(field, found, || ": tokens are a whole number above 0".to_owned())
    }

    /// What was found; where nothing was, the words after the field's name say what is needed.
    fn needed<T>(&mut self, field: &Field, found: Option<T>, words: impl FnOnce() -> String) -> Option<T> {
        if found.is_none() {
            self.error(field.line, format!("{}{}", field.written, words()));
        }
        found
    }

    pub(super) fn node_type(&mut self, field: &Field) -> NodeType {
        let name = field.words().to_lowercase().replace('-', "_");
        match name.as_str() {
            "child" | "subagent" => NodeType::Child,
            "act_only" | "leaf" => NodeType::ActOnly,
            _ => {
                self.error(field.line, format!("there is no type {name:?}; there are child and act_only"));
                NodeType::ActOnly
            }
        }
    }
}

/// The parts between commas, those in braces aside.
fn split_outside_braces(text: &str) -> Vec<String> {
    let mut depth = 0_usize;
    let parts = text.split(|char| {
        match char {
            '(' => depth += 1,
            ')' => depth = depth.saturating_sub(1),
            _ => {}
        }
        char == ',' && depth == 0
    });
    parts.map(|part| part.trim().trim_matches(['"', '\'']).to_owned()).collect()
}

/// Seconds of `90s`, `5m` or `1h`.
fn duration(text: &str) -> Option<f64> {
    let text = text.trim().to_lowercase();
    let units = [("s", 1.0), ("m", 60.0), ("min", 60.0), ("h", 3600.0)];
    units.iter().find_map(|(unit, seconds)| text.strip_suffix(unit)?.trim().parse::<f64>().ok().map(|n| n * seconds))
}

/// What a name in a list of tools comes to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Named {
    /// These tools of ours.
    Tools(Vec<String>),
    /// Everything.
    All,
    /// A tool that only others have; it does not exist here.
    Foreign,
    /// It is no name of a tool; in words.
    Wrong(String),
}

/// Tools of other agents that Neco has no counterpart of.
const FOREIGN: &str = "\
    slashcommand notebookedit listmcpresources listmcpresourcestool readmcpresourcetool taskoutput taskstop \
    toolsearch lsp execute_code save_file";

/// Groups of tools, as some agents name them.
const GROUPS: [(&str, &[&str]); 3] =
    [("execute", &["bash", "process"]), ("web", &["web_fetch", "web_search"]), ("todo", &["todo_write"])];

/// What starts an agent, by the names of other agents.
const STARTS_AGENTS: [&str; 3] = ["task", "agent", "agents"];

/// What a name in a list of tools comes to.
pub(super) fn named(name: &str) -> Named {
    let name = name.trim();
    let lower = name.to_lowercase();
    if matches!(lower.as_str(), "*" | "all") {
        return Named::All;
    }
    if let Some((tool, inside)) = lower.strip_suffix(')').and_then(|rest| rest.split_once('(')) {
        return called(tool.trim(), inside);
    }
    if STARTS_AGENTS.contains(&lower.as_str()) {
        return Named::Tools(vec!["task".to_owned()]);
    }
    if let Some((_, tools)) = GROUPS.iter().find(|(group, _)| *group == lower) {
        return Named::Tools(tools.iter().map(ToString::to_string).collect());
    }
    if let Some(own) = tools::own_name(&lower) {
        return Named::Tools(vec![own.to_owned()]);
    }
    if is_listed(&lower, FOREIGN) {
        return Named::Foreign;
    }
    if let Some(meant) = tools::misspelt(&lower) {
        return Named::Wrong(format!("there is no tool {name:?}; did you mean {meant}?"));
    }
    let is_name = |char: char| char.is_alphanumeric() || matches!(char, '_' | '-' | '*' | '.' | ':' | '/');
    if lower.is_empty() || !lower.chars().all(is_name) {
        return Named::Wrong(format!("{name:?} is no name of a tool"));
    }
    // `mcp__SERVER__TOOL`, `SERVER__TOOL` and `agent__NAME`.
    let of_others = lower.contains("__") || lower.contains(['*', '.', ':', '/']);
    if !of_others && CapabilityLevel::of_tool(&lower).is_none() && !OF_CHILDREN.contains(&lower.as_str()) {
        return Named::Foreign;
    }
    // A server's tools keep the case they have.
    let of_server = lower.contains("__") && !lower.starts_with("agent__");
    Named::Tools(vec![if of_server { name.to_owned() } else { lower }])
}

/// `Agent(a, b)` names agents; all else in braces names calls, which a list of tools can't choose among.
fn called(tool: &str, inside: &str) -> Named {
    if STARTS_AGENTS.contains(&tool) {
        let agents = inside.split(',').map(|name| format!("agent__{}", name.trim()));
        return Named::Tools(agents.collect());
    }
    let words =
        format!("{tool}({inside}) names calls and no tool; name the tool here, and under deny what it may not do");
    Named::Wrong(words)
}
