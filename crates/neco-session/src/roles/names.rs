//! Tools by the names that other agents have for them.

use neco_agent::CapabilityLevel;
use neco_safety::tools;

use crate::tree::tools::OF_CHILDREN;

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
const FOREIGN: [&str; 12] = [
    "skill",
    "slashcommand",
    "notebookedit",
    "listmcpresources",
    "listmcpresourcestool",
    "readmcpresourcetool",
    "taskoutput",
    "taskstop",
    "toolsearch",
    "lsp",
    "execute_code",
    "save_file",
];

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
    if FOREIGN.contains(&lower.as_str()) {
        return Named::Foreign;
    }
    if let Some(meant) = tools::misspelt(&lower) {
        return Named::Wrong(format!("there is no tool {name:?}; did you mean {meant}?"));
    }
    let is_name = |char: char| char.is_alphanumeric() || matches!(char, '_' | '-' | '*' | '.' | ':' | '/');
    if lower.is_empty() || !lower.chars().all(is_name) {
        return Named::Wrong(format!("{name:?} is no name of a tool"));
    }
    let of_others =
        ["mcp__", "agent__"].iter().any(|begin| lower.starts_with(begin)) || lower.contains(['*', '.', ':', '/']);
    if !of_others && CapabilityLevel::of_tool(&lower).is_none() && !OF_CHILDREN.contains(&lower.as_str()) {
        return Named::Foreign;
    }
    // A server's tools keep the case they have.
    Named::Tools(vec![if lower.starts_with("mcp__") { name.to_owned() } else { lower }])
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
