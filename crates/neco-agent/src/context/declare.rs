//! The tools as a model is told of them.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use neco_model::ToolDeclaration;
use neco_model::tokens::{Family, estimate};
use neco_proto::ToolOrigin;
use neco_safety::{Policy, Who, invisible};
use neco_toolkit::{DynTool, Registry};
use serde_json::{Map, Value};

use crate::catalogue::{ACTIVATE, CALL, ToolCatalogue, Waiting, is_everyday};
use crate::mode::declares;

/// The tools of more MCP servers than these all stand in the catalogue: no request uses so many of them.
const MOST_SERVERS: usize = 20;

/// The tools that are declared, and those that stand in the catalogue. In ask mode tools that write or run do not even
/// exist for the model, in plan mode those that write; what the policy refuses whatever the arguments are does not exist
/// either. Tools that people plug in are declared as long as all of them take at most `most` tokens.
pub(super) fn declare(
    registry: &Registry,
    (policy, who): (&Policy, &Who<'_>),
    most: u64,
    family: Family,
) -> (Arc<[ToolDeclaration]>, ToolCatalogue) {
    let exists = |tool: &&Arc<dyn DynTool>| {
        declares(who.mode, tool.as_ref())
            && tool.is_offered()
            && !policy.refuses(tool.name(), tool.origin(), tool.most_touch(), who)
    };
    let (ways, tools): (Vec<_>, Vec<_>) = registry.iter().filter(exists).partition(|tool| is_way(tool.name()));
    let tools: Vec<(&Arc<dyn DynTool>, ToolDeclaration)> =
        tools.into_iter().map(|tool| (tool, declaration(tool.as_ref()))).collect();
    let mut taken: HashMap<&ToolOrigin, u64> = HashMap::new();
    for (tool, told) in tools.iter().filter(|(tool, _)| !tool.origin().is_built_in()) {
        *taken.entry(tool.origin()).or_default() += tool_tokens(told, family);
    }
    let outright = outright(taken, most);
    let waits = |tool: &dyn DynTool| match tool.origin().is_built_in() {
        true => !is_everyday(tool),
        false => !outright.contains(tool.origin()),
    };
    let waiting = tools.iter().filter(|(tool, _)| waits(tool.as_ref()));
    let waiting: Vec<Waiting> = match ways.as_slice() {
        [_, _] => {
            waiting.map(|(tool, told)| Waiting { told: told.clone(), server: server_of(tool.as_ref()) }).collect()
        }
        // There is no way to call what is not declared.
        _ => Vec::new(),
    };
    let Some(catalogue) = ToolCatalogue::new(waiting) else {
        return (tools.into_iter().map(|(_, told)| told).collect(), ToolCatalogue::default());
    };
    let declared = tools.into_iter().map(|(_, told)| told).filter(|told| !catalogue.has(&told.name));
    let ways = ways.into_iter().map(|tool| {
        let mut told = declaration(tool.as_ref());
        if told.name == ACTIVATE {
            told.description.push_str(&catalogue.lines());
        }
        told
    });
    (declared.chain(ways).collect(), catalogue)
}

/// Those of the origins that people plugged in whose tools are declared, by the tokens that they take: the smallest, as
/// long as all of them together take at most `most`.
fn outright(taken: HashMap<&ToolOrigin, u64>, most: u64) -> HashSet<&ToolOrigin> {
    let is_server = |origin: &ToolOrigin| matches!(origin, ToolOrigin::Mcp { .. });
    let too_many = taken.keys().filter(|origin| is_server(origin)).count() > MOST_SERVERS;
    let mut origins: Vec<_> = taken.into_iter().filter(|(origin, _)| !(too_many && is_server(origin))).collect();
    origins.sort_by_cached_key(|(origin, tokens)| (*tokens, origin.to_string()));
    let mut room = most;
    let fits = |(origin, tokens): (_, u64)| {
        room = room.checked_sub(tokens)?;
        Some(origin)
    };
    origins.into_iter().map_while(fits).collect()
}

/// The MCP server that offers a tool.
fn server_of(tool: &dyn DynTool) -> Option<String> {
    match tool.origin() {
        ToolOrigin::Mcp { server } => Some(server.clone()),
        ToolOrigin::BuiltIn | ToolOrigin::Plugin { .. } | ToolOrigin::Script { .. } | ToolOrigin::Editor => None,
    }
}

/// Whether a tool is one of the two by which those are called that are not declared.
fn is_way(name: &str) -> bool {
    [ACTIVATE, CALL].contains(&name)
}

fn declaration(tool: &dyn DynTool) -> ToolDeclaration {
    ToolDeclaration {
        name: tool.name().to_owned(),
        description: invisible::seen(tool.description().trim()).text.into_owned(),
        schema: seen_in(lean(tool.schema())),
    }
}

pub(super) fn tool_tokens(tool: &ToolDeclaration, family: Family) -> u64 {
    /// What stands around a declaration on the wire.
    const AROUND: u64 = 12;
    let words = estimate(&tool.name, family) + estimate(&tool.description, family);
    AROUND + words + estimate(&tool.schema.to_string(), family)
}

/// A schema in whose texts everything can be seen: whoever brings a tool along writes them.
fn seen_in(schema: Value) -> Value {
    match schema {
        Value::String(text) => Value::String(invisible::seen(&text).text.into_owned()),
        Value::Array(items) => items.into_iter().map(seen_in).collect(),
        Value::Object(fields) => fields.into_iter().map(|(name, value)| (name, seen_in(value))).collect(),
        other @ (Value::Null | Value::Bool(_) | Value::Number(_)) => other,
    }
}

/// The same schema in fewer words.
fn lean(schema: &Value) -> Value {
    let Value::Object(fields) = schema else { return schema.clone() };
    let required: Vec<&str> = match fields.get("required") {
        Some(Value::Array(names)) => names.iter().filter_map(Value::as_str).collect(),
        Some(_) | None => Vec::new(),
    };
    let mut told = Map::new();
    for (name, value) in fields {
        match (name.as_str(), value) {
            // What has a default is not required, and what is unknown is refused with the right names.
            ("default" | "additionalProperties", Value::Bool(_) | Value::Null | Value::String(_) | Value::Array(_)) => {
            }
            // Nobody asks for less than nothing, or for none of what is wanted.
            ("minimum" | "minItems", Value::Number(least))
                if least.as_f64().is_some_and(|least| (0.0..=1.0).contains(&least)) => {}
            ("properties", Value::Object(properties)) => {
                let property = |(name, value): (&String, &Value)| {
                    let value = lean(value);
                    (name.clone(), if required.contains(&name.as_str()) { value } else { without_null(value) })
                };
                told.insert(name.clone(), Value::Object(properties.iter().map(property).collect()));
            }
            ("items", items) => drop(told.insert(name.clone(), lean(items))),
            ("anyOf" | "oneOf", Value::Array(choices)) => match names_of(choices) {
                Some(names) => {
                    told.insert("type".to_owned(), Value::from("string"));
                    told.insert("enum".to_owned(), Value::Array(names));
                }
                None => drop(told.insert(name.clone(), Value::Array(choices.iter().map(lean).collect()))),
            },
            (_, value) => drop(told.insert(name.clone(), value.clone())),
        }
    }
    Value::Object(told)
}

/// The names that can be chosen, where every choice is a name, or nothing.
fn names_of(choices: &[Value]) -> Option<Vec<Value>> {
    let mut names = Vec::new();
    for choice in choices {
        match (choice.get("const"), choice.get("oneOf"), choice.get("enum"), choice.get("type")) {
            (Some(Value::String(name)), ..) => names.push(Value::from(name.as_str())),
            (None, Some(Value::Array(inner)), ..) => names.extend(names_of(inner)?),
            (None, None, Some(Value::Array(inner)), _) if inner.iter().all(Value::is_string) => {
                names.extend(inner.iter().cloned());
            }
            (None, None, None, Some(Value::String(kind))) if kind == "null" => {}
            (..) => return None,
        }
    }
    (!names.is_empty()).then_some(names)
}

/// What may be left out need not be told to be nothing.
fn without_null(mut schema: Value) -> Value {
    let Some(fields) = schema.as_object_mut() else { return schema };
    if let Some(Value::Array(kinds)) = fields.get_mut("type") {
        kinds.retain(|kind| kind != "null");
        if let [kind] = kinds.as_slice() {
            let kind = kind.clone();
            fields.insert("type".to_owned(), kind);
        }
    }
    if let Some(Value::Array(names)) = fields.get_mut("enum") {
        names.retain(|name| !name.is_null());
    }
    schema
}

#[cfg(test)]
mod tests {
    use neco_proto::{ApprovalMode, Mode};
    use neco_safety::{Confinement, SideEffect};
    use neco_toolkit::{PreparedCall, ToolError};
    use serde_json::json;

    use super::*;
    use crate::catalogue;

    struct Named {
        name: &'static str,
        origin: ToolOrigin,
        schema: Value,
    }

    impl DynTool for Named {
        fn name(&self) -> &str {
            self.name
        }

        fn description(&self) -> &str {
            "Does what its name says. And more."
        }

        fn schema(&self) -> &Value {
            &self.schema
        }

        fn most_touch(&self) -> SideEffect {
            SideEffect::Reads
        }

        fn origin(&self) -> &ToolOrigin {
            &self.origin
        }

        fn prepare(self: Arc<Self>, _: Value) -> Result<Box<dyn PreparedCall>, ToolError> {
            Err(ToolError::failed("nobody calls it"))
        }
    }

    fn tools(origin: &ToolOrigin, names: &[&'static str]) -> Vec<Arc<dyn DynTool>> {
        let tool = |name: &&'static str| -> Arc<dyn DynTool> {
            Arc::new(Named { name, origin: origin.clone(), schema: json!({ "type": "object" }) })
        };
        names.iter().map(tool).collect()
    }

    /// What is declared and what stands in the catalogue, where tools of one origin may take so many tokens.
    fn split(registry: &Registry, most: u64) -> (Vec<String>, Vec<String>, String) {
        let who = Who {
            mode: Mode::Agent,
            approval: ApprovalMode::Auto,
            person_present: true,
            role: Who::ROOT,
            confinement: Confinement::ChosenNone,
            network: false,
        };
        let (declared, catalogue) = declare(registry, (&Policy::default(), &who), most, Family::Other);
        let names = |told: &ToolDeclaration| told.name.clone();
        let told = declared.iter().find(|told| told.name == ACTIVATE).map(|told| told.description.clone());
        (declared.iter().map(names).collect(), catalogue.iter().map(names).collect(), told.unwrap_or_default())
    }

    #[test]
    fn tools_for_every_day_are_declared_and_the_others_wait_where_there_is_a_way_to_them() {
        let own = tools(ToolOrigin::BUILT_IN, &["process", "bash", "git", "task", "workflow"]);
        let (declared, waiting, told) = split(&Registry::new(own.clone()).with(catalogue::tools()), 0);
        assert_eq!(declared, ["bash", "task", ACTIVATE, CALL]);
        assert_eq!(waiting, ["process", "git", "workflow"]);
        assert_eq!(told.lines().filter(|line| line.starts_with("- ")).count(), 3, "{told}");
        let all = ["process", "bash", "git", "task", "workflow"];
        let (declared, waiting, _) = split(&Registry::new(own.clone()), 0);
        assert_eq!((declared, waiting.len()), (all.map(str::to_owned).to_vec(), 0), "nobody could call them");
        let few = Registry::new(own).with(catalogue::tools()).filtered(|tool| tool.name() != "git");
        let (declared, waiting, _) = split(&few, 0);
        assert_eq!(
            (declared.join(" "), waiting.len()),
            ("process bash task workflow".to_owned(), 0),
            "two are too few"
        );
    }

    #[test]
    fn plugged_in_tools_are_declared_while_those_of_their_origin_are_small() {
        let (big, small) = (ToolOrigin::Mcp { server: "big".into() }, ToolOrigin::Mcp { server: "small".into() });
        let registry = Registry::new(tools(ToolOrigin::BUILT_IN, &["bash"]))
            .with(catalogue::tools())
            .with(tools(&big, &["one", "two", "three", "four"]))
            .with(tools(&small, &["five"]));
        let one = tool_tokens(&declaration(tools(&big, &["three"])[0].as_ref()), Family::Other);
        let (declared, waiting, told) = split(&registry, 3 * one);
        assert_eq!(declared, ["bash", "five", ACTIVATE, CALL]);
        assert_eq!(waiting, ["one", "two", "three", "four"]);
        assert!(told.ends_with("\n- mcp__big__*: one, two, three, four"), "{told}");
        assert_eq!(split(&registry, 6 * one).1.len(), 0);
        assert_eq!(split(&registry, 4 * one).1.len(), 4, "together they are too much");
    }

    #[test]
    fn the_tools_of_a_hundred_servers_take_little_room() {
        let servers = (0..100).map(|number| ToolOrigin::Mcp { server: format!("s{number}") });
        let names: Vec<&'static str> = (0..100).map(|number| &*format!("mcp__s{number}__echo").leak()).collect();
        let theirs = servers.zip(names).flat_map(|(server, name)| tools(&server, &[name]));
        let registry = Registry::new(tools(ToolOrigin::BUILT_IN, &["bash"])).with(catalogue::tools()).with(theirs);
        let (declared, waiting, told) = split(&registry, u64::MAX);
        assert_eq!((declared.len(), waiting.len()), (3, 100));
        assert!(told.contains("\n- mcp__s99__*: echo") && told.len() < 3000, "{told}");
    }

    #[test]
    fn a_schema_hides_nothing() {
        let schema = serde_json::json!({ "properties": { "a": { "description": "x\u{200b}y", "enum": ["z", 1] } } });
        let seen = serde_json::json!({ "properties": { "a": { "description": "x⟨U+200B⟩y", "enum": ["z", 1] } } });
        assert_eq!(seen_in(schema), seen);
    }

    #[test]
    fn what_a_model_needs_is_left() {
        let whole = json!({
            "type": "object", "additionalProperties": false, "required": ["path", "old"],
            "properties": {
                "path": { "type": "string", "description": "Where." },
                "old": { "type": ["string", "null"] },
                "limit": { "type": ["integer", "null"], "minimum": 0, "maximum": 9 },
                "names": { "type": "array", "minItems": 1, "items": { "type": "number", "minimum": 2 } },
                "default": { "type": "boolean", "default": false },
                "signal": { "type": ["string", "null"], "enum": ["term", "kill", null] },
                "status": { "description": "How.", "anyOf": [
                    { "description": "x", "oneOf": [
                        { "description": "Not begun.", "type": "string", "const": "pending" },
                        { "description": "Done.", "type": "string", "const": "done" },
                    ] },
                    { "type": "null" },
                ] },
                "parts": { "type": "array", "default": [], "items": {
                    "type": "object", "additionalProperties": false,
                    "properties": { "id": { "type": ["string", "null"] } },
                } },
            },
        });
        let told = json!({
            "type": "object", "required": ["path", "old"],
            "properties": {
                "path": { "type": "string", "description": "Where." },
                "old": { "type": ["string", "null"] },
                "limit": { "type": "integer", "maximum": 9 },
                "names": { "type": "array", "items": { "type": "number", "minimum": 2 } },
                "default": { "type": "boolean" },
                "signal": { "type": "string", "enum": ["term", "kill"] },
                "status": { "description": "How.", "type": "string", "enum": ["pending", "done"] },
                "parts": { "type": "array", "items": { "type": "object", "properties": { "id": { "type": "string" } } } },
            },
        });
        assert_eq!(lean(&whole), told);
    }

    #[test]
    fn what_is_no_list_of_names_stays() {
        let choices = json!({ "anyOf": [{ "type": "string" }, { "type": "array", "items": { "type": "string" } }] });
        assert_eq!(lean(&choices), choices);
        let map = json!({ "type": "object", "additionalProperties": { "type": "string" } });
        assert_eq!(lean(&map), map);
        assert_eq!(lean(&json!(true)), json!(true));
    }
}
