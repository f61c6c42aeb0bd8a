//! What is wrong with a plugin, for whoever writes one: its manifest and all that it brings, with files and lines. What
//! reads it here is what reads it when it is installed.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use neco_config::front_matter::{Parted, Reading, part};
use neco_config::{Config, ROOT_VARIABLES};
use neco_ext::folder_files::FolderFiles;
use neco_ext::hooks::{self, Origin};
use neco_ext::plugins::{ActivePlugin, LIMITS, Manifest, Marketplace, Written, is_known, is_name};
use neco_ext::{mcp, scripts, skills};
use neco_proto::app::AppError;
use neco_proto::app::agents::{Level, Problem};
use neco_proto::app::plugins::{CheckPlugin, CheckedPlugin};
use neco_session::roles::{DefinitionPlaces, Definitions};
use neco_session::workflow::WorkflowPlaces;
use serde_json::{Map, Value};

use super::brings::Brings;
use crate::app::StorelessApp;
use crate::error::invalid;
use crate::opening::on_thread;
use crate::skills::{is_of_skill, wrong};
use crate::workspace::own_commands;

pub(crate) async fn check(app: &StorelessApp, request: CheckPlugin) -> Result<CheckedPlugin, AppError> {
    let app = app.clone();
    on_thread(move || checked(&app, &Path::new(&request.folder).join(&request.at))).await
}

fn checked(app: &StorelessApp, folder: &Path) -> Result<CheckedPlugin, AppError> {
    let folder = folder.canonicalize().map_err(|error| invalid(format!("{}: {error}", folder.display())))?;
    let mut found = Problems { folder: &folder, all: Vec::new() };
    found.manifest();
    let manifest = match Manifest::read(&folder, &Map::new()) {
        Ok(manifest) => manifest,
        Err(error) if Manifest::file(&folder).is_none() && Marketplace::read(&folder).is_ok() => {
            let hint = "It is a marketplace; name the folder of one of its plugins.";
            return Err(invalid(error).hint(hint));
        }
        Err(error) if Manifest::file(&folder).is_none() => return Err(invalid(error)),
        Err(error) => {
            if !found.has_errors() {
                let file = Manifest::file(&folder).unwrap_or_default();
                found.error(&file, 1, error.to_string());
            }
            return Ok(CheckedPlugin { problems: found.all, brings: Vec::new() });
        }
    };
    if let Err(error) = FolderFiles::of(&folder, LIMITS).and_then(|files| files.hash()) {
        found.error(&folder, 1, format!("it can't be installed: {error}"));
    }
    let plugin = ActivePlugin { name: manifest.name.clone(), folder: folder.clone(), manifest };
    found.skills(app, &plugin);
    found.commands(&plugin);
    found.agents(&plugin);
    found.workflows(&plugin);
    found.hooks(&plugin);
    found.tools_and_servers(app, &plugin);
    let brings = Brings::of_plugin(&app.env, &plugin).all;
    if brings.is_empty() && !found.has_errors() {
        found.error(&folder, 1, "it brings nothing that Neco can use".to_owned());
    }
    found.all.sort_by(|one, other| (&one.file, one.line).cmp(&(&other.file, other.line)));
    Ok(CheckedPlugin { problems: found.all, brings })
}

struct Problems<'a> {
    folder: &'a Path,
    all: Vec<Problem>,
}

impl Problems<'_> {
    fn push(&mut self, file: &Path, line: usize, level: Level, what: String) {
        let shown = match file.strip_prefix(self.folder) {
            Ok(inside) if inside.as_os_str().is_empty() => ".".to_owned(),
            Ok(inside) => inside.display().to_string(),
            Err(_) => file.display().to_string(),
        };
        self.all.push(Problem { file: shown, line, level, what });
    }

    fn error(&mut self, file: &Path, line: usize, what: String) {
        self.push(file, line, Level::Error, what);
    }

    fn warning(&mut self, file: &Path, line: usize, what: String) {
        self.push(file, line, Level::Warning, what);
    }

    fn has_errors(&self) -> bool {
        self.all.iter().any(|problem| problem.level == Level::Error)
    }

    /// What stands in the manifest.
    fn manifest(&mut self) {
        let Some(file) = Manifest::file(self.folder) else {
            let words = "it has no manifest: without .neco-plugin/plugin.json its folder is its name".to_owned();
            return self.warning(self.folder, 1, words);
        };
        let Some((text, said)) = self.json(&file) else { return };
        let at = |name: &str| line_of(&text, &Value::from(name).to_string());
        match said.get("name").map(|name| name.as_str().unwrap_or_default()) {
            None => self.error(&file, 1, "name is missing".to_owned()),
            Some(name) if !is_name(name) => {
                let words = "letters, digits, `-`, `_` and `.`, at most 64, the first no sign";
                self.error(&file, at("name"), format!("{name:?} is no name for a plugin: {words}"));
            }
            Some(_) => {}
        }
        for wanted in ["version", "description"] {
            match said.get(wanted) {
                None => self.warning(&file, 1, format!("{wanted} is missing: people choose and update by it")),
                Some(Value::String(_)) => {}
                Some(_) => self.error(&file, at(wanted), format!("{wanted} is no text")),
            }
        }
        for name in said.keys().filter(|name| !is_known(name)) {
            self.warning(&file, at(name), format!("{name} is known to no agent that Neco reads plugins of"));
        }
        for (name, place) in Manifest::named_places(&said) {
            let line = line_of(&text, &Value::from(place).to_string());
            let path = self.folder.join(place.trim_start_matches("./"));
            let is_inside = path.canonicalize().is_ok_and(|path| path.starts_with(self.folder));
            if path.symlink_metadata().is_err() {
                self.error(&file, line, format!("{name} names {place}, which is not there"));
            } else if !is_inside {
                self.error(&file, line, format!("{name} names {place}, which leads out of the plugin"));
            }
        }
    }

    /// The object in a file of JSON, with its text; what is wrong with it is told.
    fn json(&mut self, file: &Path) -> Option<(String, Map<String, Value>)> {
        let text = match fs::read_to_string(file) {
            Ok(text) => text,
            Err(error) => {
                self.error(file, 1, format!("it can't be read: {error}"));
                return None;
            }
        };
        match serde_json::from_str::<Value>(text.trim_start_matches('\u{feff}')) {
            Ok(Value::Object(said)) => Some((text, said)),
            Ok(_) => {
                self.error(file, 1, "it is no object of JSON".to_owned());
                None
            }
            Err(error) => {
                self.error(file, error.line().max(1), format!("it is not JSON: {error}"));
                None
            }
        }
    }

    fn skills(&mut self, app: &StorelessApp, plugin: &ActivePlugin) {
        let found = skills::look(&plugin.skill_places());
        let mut names: BTreeMap<&str, &Path> = BTreeMap::new();
        for skill in &found.skills {
            self.all.extend(wrong(app, self.folder, &skill.file, None));
            if let Some(other) = names.insert(&skill.name, &skill.file) {
                let other = other.strip_prefix(self.folder).unwrap_or(other).display();
                self.error(&skill.file, 1, format!("{other} has the name {} too", skill.name));
            }
        }
        for notice in &found.notices {
            if is_of_skill(notice) {
                self.all.extend(wrong(app, self.folder, &notice.file, Some(notice)));
            } else {
                self.error(&notice.file, 1, notice.why.clone());
            }
        }
    }

    fn commands(&mut self, plugin: &ActivePlugin) {
        for command in own_commands::of_plugin(plugin) {
            let file = &command.file;
            if let Some(why) = &command.broken {
                self.error(file, 1, why.clone());
                continue;
            }
            let text = fs::read_to_string(file).unwrap_or_default();
            match part(&text, Reading::Strict) {
                Parted::Open => {
                    self.error(file, 1, "the head that begins here has no end: a line --- is missing".to_owned());
                }
                Parted::Whole { fields, stray, .. } => {
                    for (line, _) in stray {
                        self.error(file, line, "this line belongs to no field".to_owned());
                    }
                    for field in fields {
                        if let Err((line, words)) = field.value() {
                            let words = format!("{} is no YAML, so others can't read it: {words}", field.written);
                            self.error(file, line, words);
                        }
                        if field.name == "allowed_tools" {
                            let words = format!("{} has no effect: a plugin's command can't allow", field.written);
                            self.warning(file, field.line, words);
                        }
                    }
                }
                Parted::None => {}
            }
            if command.text().trim().is_empty() {
                self.error(file, 1, "it says nothing".to_owned());
            }
            command.notes().into_iter().for_each(|note| self.warning(file, 1, note));
        }
    }

    fn agents(&mut self, plugin: &ActivePlugin) {
        let places = DefinitionPlaces { own: plugin.manifest.agents.clone(), ..DefinitionPlaces::default() };
        self.all.extend(Definitions::load_own(&places, self.folder).problems().iter().cloned());
    }

    fn workflows(&mut self, plugin: &ActivePlugin) {
        let places = WorkflowPlaces { own: plugin.manifest.workflows.clone(), ..WorkflowPlaces::default() };
        for found in places.list(self.folder) {
            let Some(file) = found.path.filter(|path| path.starts_with(self.folder)) else { continue };
            if let Err(error) = found.file {
                self.error(&file, 1, error.to_string());
            }
        }
    }

    fn hooks(&mut self, plugin: &ActivePlugin) {
        for written in &plugin.manifest.hooks {
            let (file, text) = match written {
                Written::File(file) => match self.json(file) {
                    Some((text, _)) => (file.clone(), text),
                    None => continue,
                },
                Written::Here(value) => {
                    let whole = if value.get("hooks").is_some() {
                        value.clone()
                    } else {
                        serde_json::json!({ "hooks": value })
                    };
                    (Manifest::file(self.folder).unwrap_or_default(), whole.to_string())
                }
            };
            let (found, said) = hooks::parse(text.as_bytes(), &Origin::User { file: file.clone() });
            said.into_iter().for_each(|words| self.error(&file, 1, words));
            let written = fs::read_to_string(&file).unwrap_or_default();
            for hook in found {
                for script in scripts_of(&hook.command).filter(|script| !self.folder.join(script).exists()) {
                    let line = line_of(&written, script);
                    self.error(&file, line, format!("a hook of {} runs {script}, which is not there", hook.event));
                }
            }
        }
    }

    fn tools_and_servers(&mut self, app: &StorelessApp, plugin: &ActivePlugin) {
        let found = scripts::of_plugin(&app.env, &Config::built_in().tools, plugin);
        let place = plugin.manifest.tools.first().cloned().unwrap_or_default();
        found.notices.into_iter().for_each(|words| self.error(&place, 1, words));
        let files: Vec<PathBuf> = plugin
            .manifest
            .servers
            .iter()
            .filter_map(|written| match written {
                Written::File(file) => Some(file.clone()),
                Written::Here(_) => None,
            })
            .collect();
        let before = self.all.len();
        files.iter().for_each(|file| drop(self.json(file)));
        if self.all.len() == before {
            // What is missing may be there for whoever installs it, such as a variable.
            let file = plugin.servers_file();
            let notices = mcp::of_plugin(&app.env, self.folder, plugin).notices;
            notices.into_iter().for_each(|words| self.warning(&file, 1, words));
        }
    }
}

/// The line of a text that something stands in, from 1; the first where it does not.
fn line_of(text: &str, part: &str) -> usize {
    text.lines().position(|line| line.contains(part)).map_or(1, |at| at + 1)
}

/// The files of a plugin that a command line names by the variable of its folder.
fn scripts_of(command: &str) -> impl Iterator<Item = &str> {
    let after = move |name: &'static str| {
        let braced = command.split("${").skip(1).filter_map(move |rest| rest.strip_prefix(name)?.strip_prefix("}"));
        let plain = command.split('$').skip(1).filter_map(move |rest| rest.strip_prefix(name));
        braced.chain(plain)
    };
    let ends = |char: char| char.is_whitespace() || "\"'`;|&<>()$*".contains(char);
    // A quote may end between the variable and the path.
    let named =
        ROOT_VARIABLES.into_iter().flat_map(after).filter_map(|rest| rest.trim_start_matches('"').strip_prefix('/'));
    named.filter_map(move |rest| rest.split(ends).next().filter(|path| !path.is_empty()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scripts_that_a_hook_names_are_found_however_it_quotes_them() {
        let of = |command: &str| scripts_of(command).map(str::to_owned).collect::<Vec<_>>();
        assert_eq!(of("bash \"${CLAUDE_PLUGIN_ROOT}/hooks/a.sh\" x; $NECO_PLUGIN_ROOT/b.py"), ["b.py", "hooks/a.sh"]);
        assert_eq!(of("\"$CLAUDE_PLUGIN_ROOT\"/c.sh && ${extensionPath}/d"), ["c.sh", "d"]);
        assert_eq!(of("echo ${OTHER}/x $CLAUDE_PLUGIN_ROOT"), Vec::<String>::new());
    }
}
