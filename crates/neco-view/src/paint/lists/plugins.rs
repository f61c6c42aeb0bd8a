//! Plugins as lines, and all that one of them brings.

use std::fmt::Write;

use neco_proto::app::plugins::{BroughtRow, PluginList, PluginRow, ShownPlugin};

use super::skills;

/// Whether it counts, and where.
pub fn standing(row: &PluginRow) -> String {
    match (row.enabled, row.active, row.projects.is_empty()) {
        (false, ..) => "off".to_owned(),
        (true, true, true) => "on".to_owned(),
        (true, true, false) => "on here".to_owned(),
        (true, false, false) => format!("on in {}", row.projects.join(", ")),
        (true, false, true) => "off".to_owned(),
    }
}

/// One line for each plugin.
pub fn as_lines(list: &PluginList) -> String {
    if list.plugins.is_empty() {
        return "No plugins. `neco plugin add SOURCE` installs one.\n".to_owned();
    }
    let line = |row: &PluginRow| {
        let version = row.version.as_deref().unwrap_or("-");
        let off = row.off.as_ref().map(|off| format!("    {off}\n")).unwrap_or_default();
        let broken = skills::broken(&row.broken, "    ");
        format!("{:<24} {:<10} {:<9} {}\n{off}{broken}", row.name, version, standing(row), row.description)
    };
    list.plugins.iter().map(line).collect()
}

/// A plugin with all that it brings.
pub fn described(shown: &ShownPlugin) -> String {
    let PluginRow { name, description, version, source, commit, .. } = &shown.plugin;
    let version = version.as_ref().map(|version| format!(" {version}")).unwrap_or_default();
    let mut text = format!("{name}{version}\n");
    // Writing to a string does not fail.
    if !description.is_empty() {
        let _ = writeln!(text, "{description}");
    }
    let commit = commit.as_ref().map(|commit| format!(", commit {commit}")).unwrap_or_default();
    let _ = writeln!(text, "from {source}{commit}\n");
    if shown.brings.is_empty() {
        text.push_str("It brings nothing that Neco knows.\n");
    }
    text.push_str(&brought(&shown.brings));
    text
}

/// What is brought, each with what it runs and the first lines of that.
pub fn brought(rows: &[BroughtRow]) -> String {
    let mut text = String::new();
    for BroughtRow { kind, name, runs, says } in rows {
        // Writing to a string does not fail.
        let _ = writeln!(text, "  {kind:<11} {name}");
        if !runs.is_empty() {
            let _ = writeln!(text, "              {runs}");
        }
        for line in says.lines() {
            let _ = writeln!(text, "          {line}");
        }
    }
    if rows.iter().any(|one| one.kind == "hook") {
        text.push_str("\nHooks run commands with your rights, outside the sandbox.\n");
    }
    text
}
