//! Which tools are not declared, and what a model is told of them.

use std::sync::Arc;

use neco_model::ToolDeclaration;
use neco_proto::ErrorCode;
use neco_toolkit::{DynTool, Registry, ToolError};

use crate::capability_level::CapabilityLevel;

/// Fewer tools are declared outright: the way around them would take as much room as they do.
const FEWEST: usize = 3;

/// Characters of what is told of a tool that nobody here wrote a line about.
const LONGEST_LINE: usize = 100;

/// The tools that an agent has and that are not declared, as they would be declared.
#[derive(Clone, Debug, Default)]
pub struct ToolCatalogue(Arc<[ToolDeclaration]>);

impl ToolCatalogue {
    /// A catalogue of these tools; none where they are too few for one.
    pub(crate) fn new(tools: Vec<ToolDeclaration>) -> Option<Self> {
        (tools.len() >= FEWEST).then(|| Self(tools.into()))
    }

    /// The tools, in order.
    pub fn iter(&self) -> impl Iterator<Item = &ToolDeclaration> {
        self.0.iter()
    }

    /// Whether a tool is in it.
    pub fn has(&self, name: &str) -> bool {
        self.0.iter().any(|tool| tool.name == name)
    }

    /// A line for each tool, for the model.
    pub(crate) fn lines(&self) -> String {
        let line = |tool: &ToolDeclaration| format!("\n- {}: {}", tool.name, line_of(tool));
        self.0.iter().map(line).collect()
    }

    /// All that there is to know of a tool, for the model; nothing where it is not in it.
    pub(crate) fn told(&self, name: &str) -> Option<String> {
        let ToolDeclaration { name, description, schema } = self.0.iter().find(|tool| tool.name == name)?;
        Some(format!("{name}: {description}\nArguments of {name}, as a JSON schema: {schema}"))
    }

    /// What a model is told that looks up these tools, of which `declared` are declared.
    /// Fails where there is nothing to be told.
    pub(crate) fn look_up(
        &self,
        names: &[String],
        registry: &Registry,
        declared: &[ToolDeclaration],
    ) -> Result<String, ToolError> {
        let (mut told, mut missed) = (Vec::new(), Vec::new());
        for asked in names {
            let name = registry.own_name(asked.clone());
            if let Some(text) = self.told(&name) {
                told.push(text);
            } else if declared.iter().any(|tool| tool.name == name) {
                told.push(format!("{name} is declared already: call it by its own name."));
            } else {
                missed.push(match registry.find(asked) {
                    Ok(_) => format!("{name} can't be used now"),
                    Err(error) => error.message,
                });
            }
        }
        if told.is_empty() {
            return Err(ToolError::new(ErrorCode::ToolNotFound, missed.join("; ")));
        }
        told.extend(missed);
        Ok(told.join("\n\n"))
    }
}

/// Whether a tool of this program is declared whenever it exists; the others may stand in the catalogue.
pub(crate) fn is_everyday(tool: &dyn DynTool) -> bool {
    CapabilityLevel::line(tool.name()).is_none()
}

/// What a tool is for: the line of the table, or else its first sentence.
fn line_of(tool: &ToolDeclaration) -> String {
    if let Some(line) = CapabilityLevel::line(&tool.name) {
        return line.to_owned();
    }
    let words: Vec<&str> = tool.description.split_whitespace().collect();
    let text = words.join(" ");
    let sentence = text.split_once(". ").map_or(text.as_str(), |(first, _)| first).trim_end_matches('.');
    let mut line: String = sentence.chars().take(LONGEST_LINE).collect();
    if line.len() < sentence.len() {
        line.push('…');
    }
    line
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn tool(name: &str, description: &str) -> ToolDeclaration {
        let schema = json!({ "type": "object" });
        ToolDeclaration { name: name.to_owned(), description: description.to_owned(), schema }
    }

    fn catalogue() -> ToolCatalogue {
        let long = "word ".repeat(50);
        ToolCatalogue::new(vec![
            tool("git", "Works with git. In many ways."),
            tool("mine", "Finds\nissues. And more."),
            tool("long", &long),
        ])
        .unwrap()
    }

    #[test]
    fn a_line_is_the_table_s_or_the_first_sentence() {
        let lines = catalogue().lines();
        let lines: Vec<&str> = lines.lines().filter(|line| !line.is_empty()).collect();
        assert_eq!(lines[0], format!("- git: {}", CapabilityLevel::line("git").unwrap()));
        assert_eq!(lines[1], "- mine: Finds issues");
        assert!(lines[2].ends_with('…') && lines[2].chars().count() < LONGEST_LINE + 20, "{}", lines[2]);
        assert!(ToolCatalogue::new(vec![tool("git", ""), tool("mine", "")]).is_none(), "two are no catalogue");
    }

    #[test]
    fn what_is_looked_up_is_told_with_its_schema_and_what_is_missing_by_name() {
        let (catalogue, registry) = (catalogue(), Registry::default());
        let declared = [tool("bash", "Runs.")];
        let look_up = |names: &[&str]| {
            let names: Vec<String> = names.iter().map(|name| (*name).to_owned()).collect();
            catalogue.look_up(&names, &registry, &declared)
        };
        let told = look_up(&["git", "bash", "teleport"]).unwrap();
        assert!(told.starts_with("git: Works with git. In many ways.\nArguments of git"), "{told}");
        assert!(told.contains(r#"{"type":"object"}"#) && told.contains("bash is declared already"), "{told}");
        assert!(told.contains("there is no tool \"teleport\""), "{told}");
        assert_eq!(look_up(&["teleport"]).unwrap_err().code, ErrorCode::ToolNotFound);
    }
}
