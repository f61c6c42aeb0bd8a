//! The tools of a folder, as lines.

use neco_proto::app::tools::OfferedTool;
use neco_proto::clean::clean_line;

use crate::paint::wrap::columns;

/// Columns of a name or an origin that those of other rows are brought into line with.
const WIDEST: usize = 40;

/// Characters of what is told of a tool.
const TOLD: usize = 80;

/// One line for each tool, below a heading: its name, where it comes from, and what it does.
pub fn as_lines(tools: &[OfferedTool]) -> String {
    let row = |tool: &OfferedTool| [clean_line(&tool.name), clean_line(&tool.origin), told(&tool.description)];
    let heading = ["TOOL", "FROM", "WHAT IT DOES"].map(str::to_owned);
    let rows: Vec<[String; 3]> = std::iter::once(heading).chain(tools.iter().map(row)).collect();
    let width = |at: usize| rows.iter().filter_map(|row| row.get(at)).map(|cell| columns(cell)).max().unwrap_or(0);
    let (names, origins) = (width(0).min(WIDEST), width(1).min(WIDEST));
    let padded = |cell: &str, width: usize| format!("{cell}{}", " ".repeat(width.saturating_sub(columns(cell)) + 2));
    let line = |[name, origin, told]: &[String; 3]| {
        let line = format!("{}{}{told}", padded(name, names), padded(origin, origins));
        format!("{}\n", line.trim_end())
    };
    rows.iter().map(line).collect()
}

/// The first sentence of a description, as far as it is short.
fn told(description: &str) -> String {
    let line = clean_line(description.lines().find(|line| !line.trim().is_empty()).unwrap_or_default());
    let sentence = line.split_once(". ").map_or(line.as_str(), |(first, _)| first);
    let mut told: String = sentence.chars().take(TOLD).collect();
    if told.len() < sentence.len() {
        told.push('…');
    }
    told
}

#[cfg(test)]
mod tests {
    use neco_proto::ToolOrigin;

    use super::*;

    #[test]
    fn a_tool_has_a_line_with_its_origin() {
        let tool = |name: &str, description: &str, origin: ToolOrigin| OfferedTool {
            name: name.to_owned(),
            description: description.to_owned(),
            origin: origin.to_string(),
            ..OfferedTool::default()
        };
        let script = ToolOrigin::Script { path: "~/x.py".to_owned() };
        let lines = as_lines(&[
            tool("bash", "Runs a command. And more.", ToolOrigin::BuiltIn),
            tool("count", "\u{1b}[31mCounts\nlines", script),
        ]);
        let expected = "TOOL   FROM           WHAT IT DOES\nbash   built-in       Runs a command\n\
            count  script:~/x.py  Counts\n";
        assert_eq!(lines, expected);
    }
}
