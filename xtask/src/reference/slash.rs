//! The page of the commands that begin with a slash.

use neco_view::slash::{Row, TABLE};

use super::markdown::Markdown;

/// What `slash.md` says.
pub fn page() -> String {
    let mut page = Markdown::titled("Slash commands");
    page.paragraph("Written by `cargo xtask reference` from `neco_view::slash`; do not edit.");
    page.paragraph(
        "What can be written after a slash in the terminal window and in `neco repl`. Your own come beside them: \
         [the terminal](../terminal.md) says how.",
    );
    let rows: Vec<_> = TABLE.iter().map(row).collect();
    page.table(["command", "also", "what it does"], &rows);
    page.into_text()
}

fn row(row: &Row) -> [String; 3] {
    let command = format!("/{} {}", row.name, row.argument);
    let aliases: Vec<String> = row.aliases.iter().map(|alias| format!("`/{alias}`")).collect();
    [format!("`{}`", command.trim()), aliases.join(", "), row.help.to_owned()]
}
