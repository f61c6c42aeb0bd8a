//! How much room everything takes that the model would be told.

use std::collections::{BTreeMap, HashMap};

use neco_model::tokens::Family;
use neco_model::{Entry, History, ToolDeclaration};
use neco_proto::{
    CallId, ContextReport, Layer, LayerSize, LayerText, Message, MessageSize, Part, PromptReport, Role,
    ServerToolsSize, ToolText, ToolsSize,
};
use neco_safety::untrusted::unwrapped;

use super::assemble::Assembled;
use super::cut::is_summary;
use super::declare::tool_tokens;
use super::meter::tokens_of;
use super::space::Space;

/// Characters of a message that are shown of it.
const BEGINS: usize = 80;

/// The report of a prompt and a conversation.
pub fn report(model: &str, assembled: &Assembled, history: &History, space: &Space, family: Family) -> ContextReport {
    let counted: Vec<(&Message, u64)> =
        history.iter().map(Entry::message).map(|message| (message, tokens_of(message, family))).collect();
    let sum = |summary: bool| -> u64 {
        counted.iter().filter(|(message, _)| is_summary(message) == summary).map(|(_, tokens)| tokens).sum()
    };
    let said = [(Layer::Summary, sum(true)), (Layer::Messages, sum(false))];
    let tokens = assembled.tokens() + said.iter().map(|(_, tokens)| tokens).sum::<u64>();
    let share = |part: u64| percent(part, tokens);
    let told = assembled.layers.iter().map(|layer| LayerSize {
        layer: layer.layer,
        tokens: layer.tokens,
        share: share(layer.tokens),
        notes: layer.notes.clone(),
    });
    let said = said.into_iter().filter(|(_, tokens)| *tokens > 0);
    let said = said.map(|(layer, tokens)| LayerSize { layer, tokens, share: share(tokens), notes: Vec::new() });
    let names = names(history);
    ContextReport {
        model: model.to_owned(),
        window: space.window(),
        window_is_assumed: false,
        reserve: space.reserve(),
        compact_at: space.compact_at(),
        tokens,
        tools: ToolsSize {
            count: assembled.tools.len() as u64,
            tokens: assembled.tool_tokens,
            catalogue: assembled.catalogue.names().map(str::to_owned).collect(),
            servers: of_servers(&assembled.tools, family),
        },
        layers: told.chain(said).collect(),
        messages: counted.iter().map(|(message, tokens)| size(message, *tokens, share(*tokens), &names)).collect(),
        given: None,
    }
}

/// Everything that the model would be told.
pub fn prompt_report(context: ContextReport, assembled: &Assembled, history: &History, family: Family) -> PromptReport {
    let layers = assembled.layers.iter();
    let tools = assembled.tools.iter();
    PromptReport {
        context,
        system: layers.map(|told| LayerText { layer: told.layer, text: told.text.clone() }).collect(),
        tools: tools
            .map(|tool| ToolText {
                name: tool.name.clone(),
                description: tool.description.clone(),
                schema: tool.schema.clone(),
                tokens: tool_tokens(tool, family),
            })
            .collect(),
        messages: history.iter().map(|entry| entry.message().clone()).collect(),
    }
}

/// The tools that MCP servers bring, by the names of the servers.
fn of_servers(tools: &[ToolDeclaration], family: Family) -> Vec<ServerToolsSize> {
    let mut servers: BTreeMap<&str, (u64, u64)> = BTreeMap::new();
    for tool in tools {
        // `mcp__SERVER__TOOL`: two lines part the names, and there are none in that of a server.
        let parted = tool.name.strip_prefix("mcp__").and_then(|rest| rest.split_once("__"));
        let Some((server, _)) = parted else { continue };
        let (count, tokens) = servers.entry(server).or_default();
        *count += 1;
        *tokens += tool_tokens(tool, family);
    }
    let size =
        |(server, (count, tokens)): (&str, (u64, u64))| ServerToolsSize { server: server.to_owned(), count, tokens };
    servers.into_iter().map(size).collect()
}

/// With one digit after the point.
fn percent(part: u64, all: u64) -> f64 {
    if all == 0 { 0.0 } else { (part as f64 * 1000.0 / all as f64).round() / 10.0 }
}

fn names(history: &History) -> HashMap<&CallId, &str> {
    history.iter().flat_map(|entry| entry.message().tool_calls()).map(|call| (&call.id, call.name.as_str())).collect()
}

fn size(message: &Message, tokens: u64, share: f64, names: &HashMap<&CallId, &str>) -> MessageSize {
    let tool = |part: &Part| match part {
        Part::ToolCall(call) => Some(call.name.clone()),
        Part::ToolResult(result) => names.get(&result.call_id).map(|name| (*name).to_owned()),
        Part::Text { .. } | Part::Image { .. } | Part::Reasoning { .. } => None,
    };
    MessageSize {
        id: message.id,
        role: message.role,
        author: message.author,
        tokens,
        share,
        begins: begins(message),
        tools: message.parts.iter().filter_map(tool).collect(),
    }
}

fn begins(message: &Message) -> String {
    let first_result = message.parts.iter().find_map(|part| match part {
        Part::ToolResult(result) => Some(result.output.as_str()),
        Part::Text { .. } | Part::Image { .. } | Part::Reasoning { .. } | Part::ToolCall(_) => None,
    });
    let text = match message.role {
        // What the model is told around a result is not how it begins for people.
        Role::Tool => unwrapped(first_result.unwrap_or_default()).into_owned(),
        Role::User | Role::Assistant => message.text(),
    };
    let mut chars = text.split_whitespace().flat_map(|word| word.chars().chain([' '])).take(BEGINS + 1);
    let line: String = chars.by_ref().take(BEGINS).collect();
    if chars.next().is_some() { format!("{}…", line.trim_end()) } else { line.trim_end().to_owned() }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn the_tools_of_servers_are_counted_by_server() {
        let tool = |name: &str| ToolDeclaration {
            name: name.to_owned(),
            description: "Does something.".to_owned(),
            schema: json!({ "type": "object" }),
        };
        let tools = ["read_file", "mcp__py__echo", "mcp__git__log", "mcp__py__sum"].map(tool);
        let sizes = of_servers(&tools, Family::default());
        let told: Vec<_> = sizes.iter().map(|size| (size.server.as_str(), size.count, size.tokens > 0)).collect();
        assert_eq!(told, [("git", 1, true), ("py", 2, true)]);
    }
}
