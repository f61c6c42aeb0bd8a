//! How a model is told to write calls, and how it sees its own calls and their results.

use neco_proto::{Message, Part, ToolCall};
use serde_json::{Map, Value};

use crate::request::{ACTIVATE, ToolDeclaration};
use crate::wire::arguments;

/// As much of a description as a small model reads. What stands further back are rules, such as to read
/// before a change, which it takes for the first step of every task; the tool says so when they are broken.
const LONGEST_DESCRIPTION: usize = 150;

/// Bare JSON is what small models get right most often; tags they forget, or repeat.
const HOW: &str = r#"
To use a tool, reply with only one JSON object and nothing else:
{"name": "TOOL", "arguments": {"ARGUMENT": VALUE}}
The next message is its result. There are no other tools than these. Do the steps of the task in the order of the user's words, each with a tool. After the last step answer in plain words."#;

/// Without it small models take the first result for the end of the task.
const GO_ON: &str = "Go on with the task: reply with the JSON object for the next tool. \
    Only if everything was done, answer in plain words.";
/// And the first failure too.
const TRY_AGAIN: &str = "If something is missing, make it first; otherwise do it another way. \
    Reply with the JSON object for the right tool.";
/// And some never see that they are done.
const ANSWER: &str = "This was done before. Use no tool now: answer the user in plain words.";

/// The system prompt with the tools described in it.
pub(in crate::wire) fn system(system: &str, tools: &[ToolDeclaration]) -> String {
    if tools.is_empty() {
        return system.to_owned();
    }
    let mut out = system.trim_end().to_owned();
    if !out.is_empty() {
        out.push_str("\n\n");
    }
    out.push_str("# Tools\n\n");
    for tool in tools {
        add_tool(tool, &mut out);
    }
    out.push_str(HOW);
    out
}

/// What the model said and called.
pub(in crate::wire) fn assistant(message: &Message) -> String {
    let mut out = message.text();
    for call in message.tool_calls() {
        if !out.is_empty() {
            out.push('\n');
        }
        add_call(call, &mut out);
    }
    out
}

/// What came of its calls, which it made before if that closes a circle.
pub(in crate::wire) fn results(message: &Message, closes_circle: bool) -> String {
    let mut out = String::new();
    let mut next = GO_ON;
    for part in &message.parts {
        let Part::ToolResult(result) = part else { continue };
        let head;
        (head, next) = match result.error_code {
            Some(_) => ("The tool failed:", TRY_AGAIN),
            None if closes_circle => ("Result of the tool:", ANSWER),
            None => ("Result of the tool:", GO_ON),
        };
        out.push_str(&format!("{head}\n{}\n\n", result.output.trim_end()));
    }
    out.push_str(next);
    out
}

fn add_call(call: &ToolCall, out: &mut String) {
    let arguments = arguments::as_object(&call.arguments);
    let name = Value::from(call.name.as_str());
    out.push_str(&format!("{{\"name\": {name}, \"arguments\": {arguments}}}"));
}

/// `- name(argument: type, optional?: type): what it does`, and what its arguments mean.
fn add_tool(tool: &ToolDeclaration, out: &mut String) {
    let none = Map::new();
    let properties = tool.schema.get("properties").and_then(Value::as_object).unwrap_or(&none);
    let required: Vec<&str> = tool
        .schema
        .get("required")
        .and_then(Value::as_array)
        .map(|names| names.iter().filter_map(Value::as_str).collect())
        .unwrap_or_default();
    let argument = |(name, schema): (&String, &Value)| {
        let optional = if required.contains(&name.as_str()) { "" } else { "?" };
        format!("{name}{optional}: {}", kind(schema))
    };
    let arguments: Vec<String> = properties.iter().map(argument).collect();
    // What it lists stays whole: these are tools, and no rules.
    let (words, list) = match tool.description.split_once('\n').filter(|_| tool.name == ACTIVATE) {
        Some((words, list)) => (words, list.lines().map(|line| format!("  {line}\n")).collect()),
        None => (tool.description.as_str(), String::new()),
    };
    out.push_str(&format!("- {}({}): {}\n{list}", tool.name, arguments.join(", "), short(words)));
    for (name, schema) in properties.iter().filter(|(name, _)| required.contains(&name.as_str())) {
        if let Some(meaning) = schema.get("description").and_then(Value::as_str) {
            out.push_str(&format!("  {name}: {}\n", short(meaning)));
        }
    }
}

fn kind(schema: &Value) -> String {
    if let Some(choices) = schema.get("enum").and_then(Value::as_array) {
        return choices.iter().map(Value::to_string).collect::<Vec<_>>().join("|");
    }
    match schema.get("type") {
        Some(Value::String(name)) if name == "array" => {
            format!("[{}]", schema.get("items").map_or_else(|| "any".to_owned(), kind))
        }
        Some(Value::String(name)) => name.clone(),
        Some(Value::Array(names)) => {
            let names = names.iter().filter_map(Value::as_str).filter(|name| *name != "null");
            names.collect::<Vec<_>>().join("|")
        }
        _ => "any".to_owned(),
    }
}

/// The first lines, in one, up to the end of a sentence where there is one.
fn short(text: &str) -> String {
    let words: Vec<&str> = text.split_whitespace().collect();
    let text = words.join(" ");
    if text.chars().count() <= LONGEST_DESCRIPTION {
        return text;
    }
    let cut: String = text.chars().take(LONGEST_DESCRIPTION).collect();
    match cut.rsplit_once(". ") {
        Some((sentences, _)) => format!("{sentences}."),
        None => cut,
    }
}

#[cfg(test)]
mod tests {
    use neco_proto::{Role, ToolResult};
    use serde_json::json;

    use super::*;

    #[test]
    fn a_tool_is_told_in_a_line() {
        let tool = ToolDeclaration {
            name: "read_file".to_owned(),
            description: "Reads a file.\nWith its lines.".to_owned(),
            schema: json!({
                "type": "object",
                "properties": {
                    "path": { "type": "string", "description": "Where it lies." },
                    "limit": { "type": ["integer", "null"] },
                    "how": { "enum": ["raw", "hex"] },
                    "lines": { "type": "array", "items": { "type": "integer" } },
                    "else": {},
                },
                "required": ["path"],
            }),
        };
        let told = system("You are Neco.\n", &[tool]);
        assert!(told.starts_with("You are Neco.\n\n# Tools\n\n- read_file("), "{told}");
        for part in [
            "path: string",
            "limit?: integer",
            "how?: \"raw\"|\"hex\"",
            "lines?: [integer]",
            "else?: any",
            "  path: Where it lies.\n",
        ] {
            assert!(told.contains(part), "{part}: {told}");
        }
        assert!(told.contains("): Reads a file. With its lines.\n"), "{told}");
        assert_eq!(system("You are Neco.", &[]), "You are Neco.");
    }

    #[test]
    fn the_list_of_more_tools_is_told_whole() {
        let lines: Vec<String> = (0..20).map(|number| format!("- tool_{number}: does this and that")).collect();
        let description = format!("Shows more tools.\n{}", lines.join("\n"));
        let schema = json!({ "type": "object", "properties": {} });
        let told = system("", &[ToolDeclaration { name: ACTIVATE.to_owned(), description, schema }]);
        assert!(told.contains("- activate(): Shows more tools.\n  - tool_0: does"), "{told}");
        assert!(told.contains("\n  - tool_19: does this and that\n"), "{told}");
    }

    #[test]
    fn long_descriptions_end_with_a_sentence() {
        let long = "One thing. ".repeat(100);
        let short = short(&long);
        assert!(short.ends_with("thing.") && short.chars().count() <= LONGEST_DESCRIPTION, "{short}");
    }

    #[test]
    fn calls_and_results_are_text() {
        let call = ToolCall {
            id: "a".into(),
            name: "read_file".to_owned(),
            arguments: "{\"path\":\"a\"}".to_owned(),
            opaque: None,
        };
        let parts = vec![Part::Text { text: "I look.".to_owned() }, Part::ToolCall(call)];
        let message = Message::new(Role::Assistant, parts);
        let wanted = "I look.\n{\"name\": \"read_file\", \"arguments\": {\"path\":\"a\"}}";
        assert_eq!(assistant(&message), wanted);
        let result = |text: &str| ToolResult { call_id: "a".into(), output: text.to_owned(), error_code: None };
        let message = Message::tool_results(vec![result("one"), result("two")]);
        let wanted = format!("Result of the tool:\none\n\nResult of the tool:\ntwo\n\n{GO_ON}");
        assert_eq!(results(&message, false), wanted);
        assert_eq!(results(&message, true), wanted.replace(GO_ON, ANSWER));
        let failed = ToolResult { error_code: Some(neco_proto::ErrorCode::FileNotFound), ..result("no") };
        let message = Message::tool_results(vec![failed]);
        assert_eq!(results(&message, false), format!("The tool failed:\nno\n\n{TRY_AGAIN}"));
    }
}
