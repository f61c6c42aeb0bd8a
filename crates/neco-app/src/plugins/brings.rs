//! What a plugin or a skill brings, in lines that a person reads before the first yes. The code that reads it here is the
//! code that uses it later, so that nothing counts that was not listed.

use std::path::Path;

use neco_config::{Config, Env};
use neco_ext::Hook;
use neco_ext::folder_files::FolderFiles;
use neco_ext::mcp;
use neco_ext::plugins::{ActivePlugin, LIMITS, files_of};
use neco_ext::scripts;
use neco_ext::skills::{self, FILE, Skill, SkillNotice, hooks_of, text_of};
use neco_proto::app::plugins::BroughtRow;
use neco_proto::visible::visible_line;
use neco_session::roles::{DefinitionPlaces, Definitions, Origin};
use neco_session::workflow::WorkflowPlaces;

use crate::workspace::own_commands;
use crate::workspace::plugged_item::{excerpt, text_of_file};
use crate::workspace::told_files::workflow_places;

/// What an MCP server is called in the list.
pub(super) const SERVER: &str = "MCP server";

/// Lines of one script or text that are shown.
const SHOWN_LINES: usize = 200;

/// What git keeps of a folder, which nobody misses in a skill.
const GIT: &str = ".git";

/// Files of a skill that are named.
const MOST_FILES: usize = 20;

/// What something brings, and what of it is left out.
#[derive(Debug, Default)]
pub(crate) struct Brings {
    pub all: Vec<BroughtRow>,
    /// Skills that can't be used.
    pub broken: Vec<SkillNotice>,
    /// What else is left out.
    pub other_notices: Vec<String>,
}

impl Brings {
    /// All that a plugin brings.
    pub(crate) fn of_plugin(env: &Env, plugin: &ActivePlugin) -> Self {
        let mut brings = Self::default();
        brings.skills(plugin);
        brings.commands(plugin);
        brings.agents(plugin);
        brings.workflows(env, plugin);
        brings.tools(env, plugin);
        brings.rules(plugin);
        brings.hooks(plugin);
        brings.servers(env, plugin);
        let without_effect = plugin.manifest.without_effect.iter();
        brings
            .other_notices
            .extend(without_effect.map(|name| format!("`{name}` of {} has no effect in Neco", plugin.name)));
        brings
    }

    /// What is left out, in words.
    pub(crate) fn notices(&self) -> Vec<String> {
        self.broken.iter().map(ToString::to_string).chain(self.other_notices.iter().cloned()).collect()
    }

    fn skills(&mut self, plugin: &ActivePlugin) {
        let found = skills::look(&plugin.skill_places());
        self.all.extend(found.skills.iter().flat_map(|skill| of_skill(skill, Some(plugin))));
        self.broken = found.notices;
    }

    fn commands(&mut self, plugin: &ActivePlugin) {
        let mut commands = own_commands::of_plugin(plugin);
        commands.sort_by(|one, other| one.custom.name.cmp(&other.custom.name));
        for command in &commands {
            let lines = command.lines().into_iter().map(|line| format!("`{}`", visible_line(line)));
            let model = command.model.iter().map(|model| format!("asks the model {}", visible_line(model)));
            let runs: Vec<String> = lines.chain(model).collect();
            let name = format!("/{}", command.custom.name);
            self.all.push(BroughtRow { runs: runs.join(", "), ..row("command", &name) });
            self.other_notices.extend(command.notes());
        }
    }

    fn agents(&mut self, plugin: &ActivePlugin) {
        let places = DefinitionPlaces { own: plugin.manifest.agents.clone(), ..DefinitionPlaces::default() };
        let found = Definitions::load_own(&places, &plugin.folder);
        let built_in = Definitions::built_in();
        for agent in found.iter().filter(|agent| matches!(agent.origin, Origin::Person(_))) {
            let replaces = built_in.find(&agent.name).is_ok();
            let runs = if replaces { "takes the place of the agent that comes with Neco" } else { "" };
            self.all.push(BroughtRow { runs: runs.to_owned(), ..row("agent", &agent.name) });
        }
        self.other_notices.extend(found.problems().iter().map(ToString::to_string));
    }

    fn workflows(&mut self, env: &Env, plugin: &ActivePlugin) {
        let places = WorkflowPlaces { own: plugin.manifest.workflows.clone(), ..WorkflowPlaces::default() };
        let nearer = workflow_places(env, &[]).list(Path::new("/"));
        let is_its = |path: &Path| path.starts_with(&plugin.folder);
        for found in places.list(&plugin.folder) {
            let Some(file) = found.path.filter(|path| is_its(path)) else { continue };
            let whose = nearer.iter().find(|other| other.name == found.name).map(|other| match &other.path {
                Some(file) => format!("yours of {} has its name", env.shown(file)),
                None => "one that comes with Neco has its name".to_owned(),
            });
            match found.file.err().map(|error| error.to_string()).or(whose) {
                None => self.all.push(row("workflow", &found.name)),
                Some(why) => self.other_notices.push(format!("The workflow {} is left out: {why}", env.shown(&file))),
            }
        }
    }

    fn tools(&mut self, env: &Env, plugin: &ActivePlugin) {
        let found = scripts::of_plugin(env, &Config::built_in().tools, plugin);
        for tool in found.scripts {
            let runs = if tool.script.network { "reaches the network" } else { "" };
            let says = excerpt(&tool.says, SHOWN_LINES);
            self.all.push(BroughtRow { runs: runs.to_owned(), says, ..row("tool", &tool.script.name) });
        }
        self.other_notices.extend(found.notices);
    }

    fn rules(&mut self, plugin: &ActivePlugin) {
        let Some(file) = &plugin.manifest.rules else { return };
        let name = file.strip_prefix(&plugin.folder).unwrap_or(file).display().to_string();
        self.all.push(BroughtRow { says: excerpt(&text_of_file(file), SHOWN_LINES), ..row("rules", &name) });
    }

    fn hooks(&mut self, plugin: &ActivePlugin) {
        let (hooks, notices) = plugin.written_hooks();
        self.all.extend(hooks.iter().map(|hook| of_hook(hook, "", &plugin.folder)));
        self.other_notices.extend(notices);
    }

    fn servers(&mut self, env: &Env, plugin: &ActivePlugin) {
        let found = mcp::of_plugin(env, &plugin.folder, plugin);
        for server in found.servers {
            let (runs, given) = server.says.split_once('\n').unwrap_or((&server.says, ""));
            let says = excerpt(given, SHOWN_LINES);
            self.all.push(BroughtRow { runs: runs.to_owned(), says, ..row(SERVER, &server.settings.name) });
        }
        self.other_notices.extend(found.notices);
    }
}

/// A skill, with what holds while it is in use, and its hooks.
pub(crate) fn of_skill(skill: &Skill, plugin: Option<&ActivePlugin>) -> Vec<BroughtRow> {
    let head = &skill.head;
    let limits = if plugin.is_some() { LIMITS } else { skills::LIMITS };
    let shown = |name: &Path| name.display().to_string();
    let (names, left_out): (Vec<String>, Vec<String>) = match FolderFiles::of(&skill.folder, limits) {
        Ok(files) => (
            files.names().map(shown).filter(|name| name != FILE).collect(),
            files.left_out().map(shown).filter(|name| name != GIT).collect(),
        ),
        Err(error) => (vec![error.to_string()], Vec::new()),
    };
    let more = match names.len().saturating_sub(MOST_FILES) {
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    let named = names.iter().take(MOST_FILES).map(String::as_str).collect::<Vec<_>>().join(", ");
    let lines = [
        Some(visible_line(&head.description)),
        head.allowed_tools.as_ref().map(|tools| format!("allows only these calls: {}", tools.join(", "))),
        head.model.as_ref().map(|model| format!("asks the model {model}")),
        head.fork.then(|| format!("is done by the agent {}", head.agent.as_deref().unwrap_or("general"))),
        (!names.is_empty()).then(|| format!("files: {named}{more}")),
        (!left_out.is_empty()).then(|| format!("without the folders {}", left_out.join(", "))),
    ];
    let says = excerpt(&lines.into_iter().flatten().collect::<Vec<_>>().join("\n"), SHOWN_LINES);
    let text = if head.has_hooks { text_of(&skill.file).unwrap_or_default() } else { String::new() };
    // Only what a repository's hooks run is looked at, and this is no repository's.
    let hooks = hooks_of(&text, &skill.file, &skill.origin).unwrap_or_default();
    let while_used = format!(" while the skill {} is in use", skill.name);
    let folder = plugin.map_or(&skill.folder, |plugin| &plugin.folder);
    let hooks = hooks.iter().map(|hook| of_hook(hook, &while_used, folder));
    std::iter::once(BroughtRow { says, ..row("skill", &skill.name) }).chain(hooks).collect()
}

/// A hook, with the scripts of its folder that it names.
fn of_hook(hook: &Hook, when: &str, folder: &Path) -> BroughtRow {
    let matcher = hook.matcher.pattern();
    let of = if matcher.is_empty() { "" } else { " " };
    let mut says = String::new();
    for file in files_of(hook, folder) {
        let name = folder.canonicalize().ok().and_then(|folder| file.strip_prefix(folder).ok());
        says.push_str(&excerpt(&format!("{}:", name.unwrap_or(&file).display()), 1));
        says.push_str(&excerpt(&text_of_file(&file), SHOWN_LINES));
    }
    let name = format!("{}{of}{matcher}{when}", hook.event);
    BroughtRow { runs: visible_line(&hook.command), says, ..row("hook", &name) }
}

fn row(kind: &str, name: &str) -> BroughtRow {
    BroughtRow { kind: kind.to_owned(), name: visible_line(name), ..BroughtRow::default() }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use neco_ext::plugins::Manifest;
    use serde_json::{Map, json};

    use super::*;

    fn plugin(folder: &Path, files: &[(&str, &str)]) -> ActivePlugin {
        for (name, text) in files {
            let file = folder.join(name);
            fs::create_dir_all(file.parent().unwrap()).unwrap();
            fs::write(file, text).unwrap();
        }
        let manifest = Manifest::read(folder, &Map::new()).unwrap();
        ActivePlugin { name: manifest.name.clone(), folder: folder.to_owned(), manifest }
    }

    #[test]
    fn what_runs_is_shown_as_it_is_written() {
        let place = tempfile::tempdir().unwrap();
        let env = Env::for_test([("TOKEN", "value-of-token")], place.path());
        let folder = place.path().canonicalize().unwrap().join("one");
        let command = "bash \"${CLAUDE_PLUGIN_ROOT}/hooks/check.sh\" \u{202e}";
        let hook = json!([{ "matcher": "Bash", "hooks": [{ "type": "command", "command": command }] }]);
        let server = json!({ "command": "npx", "args": ["-y", "x"], "env": { "KEY": "${TOKEN}" } });
        let manifest = json!({ "name": "one", "hooks": { "PreToolUse": hook }, "mcpServers": { "db": server } });
        let long = "echo line\n".repeat(SHOWN_LINES + 2);
        let head = "name: a\ndescription: d\nallowed-tools: Read";
        let skill = format!("---\n{head}\nhooks:\n  Stop:\n    - hooks:\n        - command: secret\n---\n");
        let plugin = plugin(
            &folder,
            &[
                (".claude-plugin/plugin.json", &manifest.to_string()),
                ("hooks/check.sh", &long),
                ("skills/group/a/SKILL.md", &skill),
                ("skills/group/a/run.py", ""),
                ("commands/b/c.md", "See !`git log`."),
                ("agents/general.md", "---\nname: general\ndescription: d\n---\nx"),
                ("tools/e.sh", "# /// tool\n# name = \"hello\"\n# description = \"d\"\n# ///\necho hello\n"),
                ("tools/f.sh", "# /// tool\n# name = \"read_file\"\n# description = \"d\"\n# ///\necho\n"),
                ("tools/none.sh", "echo"),
            ],
        );
        let brings = Brings::of_plugin(&env, &plugin);
        let (notices, all) = (brings.notices(), brings.all);
        let lines: Vec<String> = all.iter().map(|one| format!("{} {} {}", one.kind, one.name, one.runs)).collect();
        let lines: Vec<&str> = lines.iter().map(|line| line.trim_end()).collect();
        assert_eq!(
            lines,
            [
                "skill a",
                "hook Stop while the skill a is in use secret",
                "command /one:b:c `git log`",
                "agent general takes the place of the agent that comes with Neco",
                "tool hello",
                "hook PreToolUse Bash bash \"${CLAUDE_PLUGIN_ROOT}/hooks/check.sh\" \\u{202e}",
                "MCP server one-db npx -y x",
            ]
        );
        let says: String = all.iter().map(|one| one.says.as_str()).collect();
        for part in ["only these calls: Read", "files: run.py", "echo hello", "2 more lines", "sets: KEY", "TOKEN"] {
            assert!(says.contains(part), "{part} in {says}");
        }
        assert!(!says.contains("value-of-token"), "{says}");
        assert!(
            notices.iter().any(|notice| notice.contains("read_file is a tool that comes with Neco")),
            "{notices:?}"
        );
    }
}
