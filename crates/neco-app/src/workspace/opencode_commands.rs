//! Commands that stand in the settings of opencode: `{"command": {NAME: {"template", "description", "agent", "model",
//! "subtask"}}}`.

use std::path::Path;

use neco_config::{Env, read_small_file};
use neco_port::setups::parse_relaxed;
use neco_proto::clean::clean_line;
use serde_json::Value;

use super::command_text::Marks;
use super::own_commands::{Head, OwnCommand, hash, is_name};

/// Its files below a project.
const IN_PROJECT: [&str; 4] =
    ["opencode.json", "opencode.jsonc", ".opencode/opencode.json", ".opencode/opencode.jsonc"];

/// Its files below the home folder.
const IN_HOME: [&str; 3] =
    [".config/opencode/opencode.json", ".config/opencode/opencode.jsonc", ".config/opencode/config.json"];

/// The person's own.
pub(super) fn of_person(env: &Env) -> Vec<OwnCommand> {
    IN_HOME.iter().flat_map(|name| read(&env.home().join(name), None)).collect()
}

/// Those of a project.
pub(super) fn of_project(folder: &Path) -> Vec<OwnCommand> {
    IN_PROJECT.iter().flat_map(|name| read(&folder.join(name), Some(folder))).collect()
}

fn read(file: &Path, folder: Option<&Path>) -> Vec<OwnCommand> {
    let name = || file.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    let broken = |why: &str| vec![OwnCommand::broken(&name(), Marks::DOLLARS, (file, folder), why)];
    let text = match read_small_file(file, folder.is_some()) {
        Ok(None) => return Vec::new(),
        Ok(Some(bytes)) => String::from_utf8_lossy(&bytes).into_owned(),
        Err(error) => return broken(&error.to_string()),
    };
    let settings = match parse_relaxed(&text) {
        Ok(settings) => settings,
        Err(error) => return broken(&error.to_string()),
    };
    let commands = settings.get("command").and_then(Value::as_object).into_iter().flatten();
    commands.filter(|(name, _)| is_name(name)).map(|(name, command)| one(name, command, (file, folder))).collect()
}

fn one(name: &str, command: &Value, at: (&Path, Option<&Path>)) -> OwnCommand {
    let field = |field: &str| command.get(field).and_then(Value::as_str).map(str::to_owned);
    let Some(body) = field("template") else {
        return OwnCommand::broken(name, Marks::DOLLARS, at, "it has no `template`");
    };
    let head = Head {
        body,
        help: field("description"),
        model: field("model"),
        agent: field("agent").map(|agent| clean_line(&agent)),
        is_subtask: command.get("subtask").and_then(Value::as_bool) == Some(true),
        ..Head::default()
    };
    OwnCommand::new(name, head, Marks::DOLLARS, at, hash(&format!("command\0{name}\0{command}")))
}

#[cfg(test)]
mod tests {
    use super::super::own_commands::Doer;
    use super::*;

    #[test]
    fn commands_in_the_settings_are_read_in_place() {
        let folder = tempfile::tempdir().unwrap();
        let text = r#"{ // mine
            "command": {
                "ship": { "template": "Ship $ARGUMENTS", "description": "Ships it", "agent": "build", "subtask": true },
                "none": {}, "../x": { "template": "y" },
            } }"#;
        std::fs::write(folder.path().join("opencode.jsonc"), text).unwrap();
        std::fs::write(folder.path().join("opencode.json"), "{").unwrap();
        let found = of_project(folder.path());
        let names: Vec<&str> = found.iter().map(|command| command.custom.name.as_str()).collect();
        assert_eq!(names, ["opencode.json", "ship", "none"]);
        assert!(found[0].broken.is_some() && found[2].broken.is_some());
        let ship = &found[1];
        assert_eq!((ship.custom.help.as_str(), ship.folder.as_deref()), ("Ships it", Some(folder.path())));
        assert!(ship.say("1.2", &ship.doer(|_| false)).ends_with("Ship 1.2"));
        assert_eq!(ship.doer(|_| false), Doer::Session);
    }
}
