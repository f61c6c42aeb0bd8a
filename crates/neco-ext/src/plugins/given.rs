//! What a plugin that is on gives to the rest: its hooks, MCP servers and skills, which know where its folder is.

use std::path::{Path, PathBuf};

use neco_config::ROOT_VARIABLES;
use serde_json::Value;

use super::installed::ActivePlugin;
use super::manifest::{ManifestError, Written, object};
use crate::hooks::{Hook, Origin, parse};
use crate::skills::SkillPlace;

/// The folder of a skill, as hooks in its head name it.
const SKILL_VARIABLES: [&str; 2] = ["CLAUDE_SKILL_DIR", "SKILL_DIR"];

impl ActivePlugin {
    /// Its hooks, and what is to be said of those that can't be understood.
    pub fn hooks(&self) -> (Vec<Hook>, Vec<String>) {
        let (hooks, notices) = self.written_hooks();
        (hooks.into_iter().map(|hook| rooted(hook, &self.folder)).collect(), notices)
    }

    /// The same with their commands as they are written.
    pub fn written_hooks(&self) -> (Vec<Hook>, Vec<String>) {
        let (mut hooks, mut notices) = (Vec::new(), Vec::new());
        for written in &self.manifest.hooks {
            let (text, file) = match written {
                Written::File(file) => match object(file) {
                    Ok(said) => (Value::from(said).to_string(), file.clone()),
                    Err(error) => {
                        notices.push(format!("Hooks of the plugin {} are left out: {error}", self.name));
                        continue;
                    }
                },
                Written::Here(value) => (whole_hooks(value).to_string(), self.folder.join("plugin.json")),
            };
            let (found, said) = parse(text.as_bytes(), &Origin::User { file });
            hooks.extend(found);
            notices.extend(said);
        }
        (hooks, notices)
    }

    /// Where its skills are.
    pub fn skill_places(&self) -> Vec<SkillPlace> {
        self.manifest.skills.iter().map(|place| SkillPlace::of_plugin(place.clone(), &self.folder)).collect()
    }

    /// Its MCP servers, by name, as JSON: the name of the plugin is before that of the server. And what is to be said of
    /// those that can't be read.
    pub fn servers(&self) -> (Vec<(String, String)>, Vec<String>) {
        let (mut servers, mut notices) = (Vec::new(), Vec::new());
        for written in &self.manifest.servers {
            match servers_of(written) {
                Ok(found) => servers.extend(found),
                Err(error) => notices.push(format!("MCP servers of the plugin {} are left out: {error}", self.name)),
            }
        }
        let whole =
            |(name, server): (String, Value)| (self.name_of_server(&name), server.to_string().replace("${/}", "/"));
        (servers.into_iter().map(whole).collect(), notices)
    }

    fn name_of_server(&self, server: &str) -> String {
        let plugin = self.name.replace('.', "-").replace("__", "_");
        if plugin == server { plugin } else { format!("{plugin}-{server}") }
    }

    /// Where it says what servers there are.
    pub fn servers_file(&self) -> PathBuf {
        let file = self.manifest.servers.iter().find_map(|written| match written {
            Written::File(file) => Some(file),
            Written::Here(_) => None,
        });
        file.unwrap_or(&self.folder).to_owned()
    }
}

/// A hook that knows where its plugin is.
pub(crate) fn rooted(hook: Hook, folder: &Path) -> Hook {
    let folder = folder.display().to_string().replace('\'', r"'\''");
    let command = hook.command.replace("${extensionPath}", "${NECO_PLUGIN_ROOT}");
    let command = format!("export NECO_PLUGIN_ROOT='{folder}' CLAUDE_PLUGIN_ROOT='{folder}'; {command}");
    Hook { command, ..hook }
}

/// Hooks as a file of them has it, however the manifest writes them.
fn whole_hooks(value: &Value) -> Value {
    if value.get("hooks").is_some() { value.clone() } else { serde_json::json!({ "hooks": value }) }
}

/// The servers of a file or of the manifest, by name.
fn servers_of(written: &Written) -> Result<Vec<(String, Value)>, ManifestError> {
    let all = match written {
        Written::File(file) => Value::Object(object(file)?),
        Written::Here(value) => value.clone(),
    };
    let servers = all.get("mcpServers").unwrap_or(&all);
    let servers = servers.as_object().into_iter().flatten().filter(|(_, server)| server.is_object());
    Ok(servers.map(|(name, server)| (name.clone(), server.clone())).collect())
}

/// The files of a folder of its own that the command of a hook names: that of a plugin, or of a skill.
pub fn files_of(hook: &Hook, folder: &Path) -> Vec<PathBuf> {
    // The command starts in the folder then.
    let here =
        |command: String, name: &str| command.replace(&format!("${{{name}}}"), ".").replace(&format!("${name}"), ".");
    let command = ROOT_VARIABLES.iter().chain(&SKILL_VARIABLES).copied().fold(hook.command.clone(), here);
    let origin = Origin::Repository { file: hook.origin.file().to_owned(), folder: folder.to_owned() };
    let named = Hook { command, origin, ..hook.clone() }.fingerprint();
    named.map(|print| print.files).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use std::fs;

    use serde_json::{Map, json};

    use super::*;
    use crate::plugins::Manifest;

    #[test]
    fn hooks_and_servers_know_where_they_are() {
        let place = tempfile::tempdir().unwrap();
        let folder = place.path().join("it's");
        fs::create_dir_all(folder.join(".claude-plugin")).unwrap();
        let hook = json!([{ "hooks": [{ "type": "command", "command": "echo \"${CLAUDE_PLUGIN_ROOT}\"" }] }]);
        let said = json!({
            "name": "a.b", "hooks": { "Stop": hook },
            "mcpServers": { "db": { "command": "${extensionPath}${/}run" }, "a-b": { "url": "https://h" } },
        });
        fs::write(folder.join(".claude-plugin/plugin.json"), said.to_string()).unwrap();
        let manifest = Manifest::read(&folder, &Map::new()).unwrap();
        let plugin = ActivePlugin { name: "a.b".to_owned(), folder: folder.clone(), manifest };
        let (hooks, notices) = plugin.hooks();
        assert!(notices.is_empty() && hooks.len() == 1, "{notices:?}");
        let ran = std::process::Command::new("sh").args(["-c", &hooks[0].command]).output().unwrap();
        assert_eq!(String::from_utf8_lossy(&ran.stdout).trim(), folder.display().to_string());
        let (servers, notices) = plugin.servers();
        assert!(notices.is_empty(), "{notices:?}");
        let named: Vec<&str> = servers.iter().map(|(name, _)| name.as_str()).collect();
        assert_eq!(named, ["a-b-db", "a-b"]);
        assert!(servers[0].1.contains("${extensionPath}/run"), "{}", servers[0].1);
        fs::write(folder.join(".mcp.json"), "{ broken").unwrap();
        let manifest = Manifest::read(&folder, &Map::new()).unwrap();
        let (servers, notices) = ActivePlugin { manifest, ..plugin }.servers();
        assert_eq!((servers.len(), notices.len()), (2, 1), "the others count");
        assert!(notices[0].contains("MCP servers of the plugin a.b are left out") && notices[0].contains(".mcp.json"));
    }
}
