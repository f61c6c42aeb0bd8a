//! Cursor: `~/.cursor` and `.cursor` of a project.

use std::path::Path;

use neco_proto::app::setups::SetupKind;

use super::permissions::{self, Ruling};
use super::piece::Level;
use super::reading::{Reading, Source};
use super::{servers, taken, texts as copied};

/// Settings that have no meaning here, and why.
const NOT_HERE: [(&str, &str); 4] = [
    ("version", "it is that of Cursor's file"),
    ("authInfo", "a login of Cursor does not work here"),
    ("model", "it is one of Cursor's own service; `neco model` chooses one"),
    ("approvalMode", "`approval` in your settings says when you are asked"),
];

pub(super) fn read(reading: &mut Reading) {
    let folder = reading.places.cursor.clone();
    of_folder(reading, &folder, Level::Person);
    let settings = reading.places.cursor_settings.clone();
    permitted(reading, Source::person(&settings.join("cli-config.json")));
    let settings = folder.join("permissions.json");
    permitted_in_editor(reading, Source::person(&settings));
    let sandbox = folder.join("sandbox.json");
    if sandbox.is_file() {
        let words = "[sandbox] in your settings says what commands may reach and change";
        reading.leave(SetupKind::Setting, "sandbox.json", Source::person(&sandbox), words);
    }
    // Rules of a person live in the program's own database.
    copied::markdown(reading, SetupKind::Rules, Source::person(&folder.join("rules")), "rules");
    let Some(project) = reading.project.clone() else { return };
    let folder = project.join(".cursor");
    of_folder(reading, &folder, Level::Project);
    permitted(reading, Source::project(&folder.join("cli.json")));
    for name in [".cursor/rules", ".cursorrules", "AGENTS.md"] {
        reading.in_place(SetupKind::Rules, Source::project(&project.join(name)), "");
    }
    let ignored = project.join(".cursorignore");
    if ignored.is_file() {
        let words = "write a rule that denies reading, such as `deny read(secrets/**)`";
        reading.leave(SetupKind::Permission, ".cursorignore", Source::project(&ignored), words);
    }
}

fn of_folder(reading: &mut Reading, folder: &Path, level: Level) {
    let file = folder.join("mcp.json");
    let from = Source { file: &file, level };
    if let Some(mut settings) = reading.json(from) {
        for (name, server) in taken::entries(&mut settings, "mcpServers") {
            servers::add(reading, &name, server, from);
        }
        reading.rest(settings, &[], from);
    }
    copied::markdown(reading, SetupKind::Command, Source { file: &folder.join("commands"), level }, "commands");
    copied::markdown_with(reading, SetupKind::Agent, Source { file: &folder.join("agents"), level }, "agents", agent);
    copied::skills(reading, Source { file: &folder.join("skills"), level });
    let file = folder.join("hooks.json");
    let from = Source { file: &file, level };
    if let Some(mut settings) = reading.json(from) {
        for (event, _) in taken::entries(&mut settings, "hooks") {
            let words = "hooks of Cursor read and answer other JSON; write it anew as a hook of Neco";
            reading.refuse(SetupKind::Hook, event, from, words);
        }
        reading.rest(settings, &NOT_HERE, from);
    }
}

/// An agent that only reads is one that plans.
fn agent(text: String) -> (String, Option<&'static str>) {
    let reads_only = |line: &&str| {
        let field = line.split_once(':').map(|(name, value)| (name, value.trim()));
        field == Some(("readonly", "true"))
    };
    match text.lines().find(reads_only) {
        Some(line) => (text.replacen(line, "mode: plan", 1), Some("`readonly` is `mode: plan` here")),
        None => (text, None),
    }
}

/// `Shell(git)`, `Read(src/**)`, `Write(…)`, `WebFetch(host)`, `Mcp(server:tool)`.
fn permitted(reading: &mut Reading, from: Source<'_>) {
    let Some(mut settings) = reading.json(from) else { return };
    let base = reading.places.home.clone();
    for (list, ruling) in [("permissions.allow", Ruling::Allow), ("permissions.deny", Ruling::Deny)] {
        for written in taken::texts(&mut settings, list) {
            permissions::add(reading, &ours(&written), ruling, from, &base);
        }
    }
    reading.rest(settings, &NOT_HERE, from);
}

/// `permissions.json` of the editor: the beginnings of commands, and `server:tool`, that run unasked.
fn permitted_in_editor(reading: &mut Reading, from: Source<'_>) {
    let Some(mut settings) = reading.json(from) else { return };
    let base = reading.places.home.clone();
    for (list, tool) in [("terminalAllowlist", "Shell"), ("mcpAllowlist", "Mcp")] {
        for written in taken::texts(&mut settings, list) {
            permissions::add(reading, &ours(&format!("{tool}({written})")), Ruling::Allow, from, &base);
        }
    }
    let known = [("autoRun", "it tells Cursor's own reviewer in words what to let through; write rules instead")];
    reading.rest(settings, &known, from);
}

/// A permission of Cursor as Claude Code writes it.
fn ours(written: &str) -> String {
    let Some((tool, inside)) = written.trim().strip_suffix(')').and_then(|inside| inside.split_once('(')) else {
        return written.to_owned();
    };
    let inside = inside.trim();
    match tool.trim() {
        "Shell" if matches!(inside, "*" | "**") => "Bash".to_owned(),
        // `git` is any line of git, and `curl:*` says the same; what follows the colon are arguments.
        "Shell" => match inside.split_once(':') {
            Some((command, "*" | "**")) => format!("Bash({command}:*)"),
            Some((command, arguments)) => format!("Bash({command} {arguments})"),
            None => format!("Bash({inside}:*)"),
        },
        "WebFetch" => format!("WebFetch(domain:{inside})"),
        "Mcp" => {
            let (server, tool) = inside.split_once([':', ',']).unwrap_or((inside, "*"));
            format!("mcp__{}__{}", server.trim(), tool.trim())
        }
        "Write" => format!("Edit({inside})"),
        tool => format!("{tool}({inside})"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn permissions_are_called_as_elsewhere() {
        for (theirs, own) in [
            ("Shell(git)", "Bash(git:*)"),
            ("Shell(curl:*)", "Bash(curl:*)"),
            ("Shell(npm:run test)", "Bash(npm run test)"),
            ("Shell(**)", "Bash"),
            ("Read(src/**)", "Read(src/**)"),
            ("Write(docs/*.md)", "Edit(docs/*.md)"),
            ("WebFetch(docs.rs)", "WebFetch(domain:docs.rs)"),
            ("Mcp(github:list)", "mcp__github__list"),
            ("Mcp(github, *)", "mcp__github__*"),
            ("odd", "odd"),
        ] {
            assert_eq!(ours(theirs), own);
        }
    }
}
