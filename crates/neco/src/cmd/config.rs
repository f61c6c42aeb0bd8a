//! `neco config`: every setting and where it comes from, and one of them changed.

use std::path::PathBuf;

use clap::Subcommand;
use neco_app::error::unusable;
use neco_config::{Env, Layer, is_setting};
use neco_proto::app::settings::{
    CheckSettings, FindSettings, ListSettings, NewSetting, SetSettings, SettingList, SettingRow,
};
use neco_view::paint::lists::settings;
use serde_json::{Value, json};

use crate::args::{EverywhereArgs, JsonArg};
use crate::cmd::editor::edit;
use crate::cmd::program::{ask, folder, notes, print};
use crate::exit::Exit;
use crate::failure::Failure;
use crate::say;

/// `neco config …`
#[derive(Debug, Subcommand)]
pub enum ConfigCommand {
    /// Prints every setting that has a value
    #[command(alias = "list", alias = "ls")]
    Show {
        /// Adds where each value comes from
        #[arg(long)]
        origin: bool,
        #[command(flatten)]
        json: JsonArg,
    },
    /// Sets a setting in your config.toml; comments and the rest of the file stay
    #[command(after_help = SET)]
    Set {
        /// The setting, such as model or agent.max_turns
        key: String,
        /// Its value
        #[arg(allow_hyphen_values = true)]
        value: String,
    },
    /// Takes a setting out of your config.toml
    Unset {
        /// The setting, such as model or agent.max_turns
        key: String,
    },
    /// Opens your config.toml in $VISUAL or $EDITOR
    Edit,
    /// Prints the value of one setting, or all of a section
    Get {
        /// The setting, such as model, or a section, such as agent
        key: String,
    },
    /// Prints the files that settings are read from
    Path,
}

const SET: &str = "\
Examples:
  neco config set model ollama/qwen3:8b
  neco config set approval manual
  neco config set tools.only '[\"read_file\", \"grep\"]'
Unknown settings and values that do not fit are refused, and nothing is written.
docs/reference/config.md lists all settings; -c KEY=VALUE sets one for a single run.";

/// Runs `neco config …`.
pub fn run(command: &ConfigCommand, everywhere: &EverywhereArgs, env: &Env) -> Result<Exit, Failure> {
    let folder = folder(everywhere)?;
    match command {
        ConfigCommand::Show { origin, json } => {
            let list = list(folder, everywhere, env)?;
            notes(&list.warnings);
            print(*json, &as_json(&list.settings), || settings::as_lines(&list.settings, *origin))
        }
        ConfigCommand::Set { key, value } => set(folder, key.trim(), value, everywhere, env),
        ConfigCommand::Unset { key } => unset(folder, key.trim(), everywhere, env),
        ConfigCommand::Edit => {
            let own = PathBuf::from(ask(&FindSettings { folder: folder.clone() }, everywhere, env)?.own);
            // An editor makes the file, and not the folder that it lies in; what is wrong with that it tells.
            let _ = own.parent().map(std::fs::create_dir_all);
            edit(&own, env)?;
            notes(&list(folder, everywhere, env)?.warnings);
            Ok(Exit::Done)
        }
        ConfigCommand::Get { key } => get(folder, key.trim(), everywhere, env),
        ConfigCommand::Path => {
            let found = ask(&FindSettings { folder }, everywhere, env)?;
            say::out(&settings::paths(&found.files))?;
            Ok(Exit::Done)
        }
    }
}

/// The settings that hold; a failure where they can't be used.
fn list(folder: String, everywhere: &EverywhereArgs, env: &Env) -> Result<SettingList, Failure> {
    let list = ask(&ListSettings { folder }, everywhere, env)?;
    match list.problems.as_slice() {
        [] => Ok(list),
        problems => {
            let in_file = problems.iter().any(|problem| problem.file.is_some());
            Err(unusable(problems.iter().map(|problem| &problem.words), in_file).into())
        }
    }
}

/// Writes one setting to the person's own file, of the kind that it has.
fn set(folder: String, key: &str, value: &str, everywhere: &EverywhereArgs, env: &Env) -> Result<Exit, Failure> {
    if let Some(provider) = key.strip_prefix("model_providers.").and_then(|rest| rest.strip_suffix(".api_key")) {
        let words = "a key is never an argument: if that was one, it is in your shell's history now";
        return Err(Failure::usage(words).hint(format!("`neco login {provider}` asks for it and saves it.")));
    }
    // What is written is what the flag would mean: text where text is wanted, whatever it looks like.
    let written = vec![format!("{key}={value}")];
    let meant = ask(&CheckSettings { folder: folder.clone(), written }, everywhere, env)?;
    let Some(new) = meant.settings.into_iter().next() else { return Ok(Exit::Done) };
    let shown = new.value.to_string();
    let written = ask(&SetSettings { folder: folder.clone(), settings: vec![new] }, everywhere, env)?;
    say::out(&format!("{key} = {shown} written to {}\n", written.file))?;
    let now = list(folder, everywhere, env)?;
    if let Some(row) = now.settings.iter().find(|row| row.key == key && row.layer != Layer::User.name()) {
        let origin = row.origins.first().map(String::as_str).unwrap_or_default();
        say::note(&format!("here it is still {}: {origin} comes before your file", row.value));
    }
    Ok(Exit::Done)
}

/// Takes one setting out of the person's own file, and tells what holds instead.
fn unset(folder: String, key: &str, everywhere: &EverywhereArgs, env: &Env) -> Result<Exit, Failure> {
    let gone = NewSetting { key: key.to_owned(), value: Value::Null };
    let written = ask(&SetSettings { folder: folder.clone(), settings: vec![gone] }, everywhere, env)?;
    say::out(&format!("{key} taken out of {}\n", written.file))?;
    let now = list(folder, everywhere, env)?;
    if let Some(row) = now.settings.iter().find(|row| row.key == key) {
        let origin = row.origins.first().map(String::as_str).unwrap_or_default();
        say::note(&format!("here it is {} now: {origin}", row.value));
    }
    Ok(Exit::Done)
}

/// Prints the value of one setting, or all that a section has.
fn get(folder: String, key: &str, everywhere: &EverywhereArgs, env: &Env) -> Result<Exit, Failure> {
    let list = list(folder.clone(), everywhere, env)?;
    notes(&list.warnings);
    if let Some(row) = list.settings.iter().find(|row| row.key == key) {
        say::out(&match as_value(&row.value) {
            Value::String(text) => format!("{text}\n"),
            _ => format!("{}\n", row.value),
        })?;
        return Ok(Exit::Done);
    }
    let is_inside = |row: &SettingRow| row.key.strip_prefix(key).is_some_and(|rest| rest.starts_with('.'));
    let section: Vec<SettingRow> = list.settings.into_iter().filter(is_inside).collect();
    if !section.is_empty() {
        say::out(&settings::as_lines(&section, false))?;
        return Ok(Exit::Done);
    }
    if !is_setting(key) {
        // What there is not is told as where it would be set.
        ask(&CheckSettings { folder, written: vec![format!("{key}=")] }, everywhere, env)?;
    }
    Err(Failure::usage(format!("{key} has no value")).hint("`neco config show` lists all that have one."))
}

fn as_json(settings: &[SettingRow]) -> Value {
    let setting = |setting: &SettingRow| {
        json!({
            "key": setting.key,
            "value": as_value(&setting.value),
            "layer": setting.layer,
            "origins": setting.origins,
        })
    };
    json!({ "settings": settings.iter().map(setting).collect::<Vec<_>>() })
}

/// The value itself; what is hidden stays the text that says so.
fn as_value(written: &str) -> Value {
    let table: Option<toml::Table> = toml::from_str(&format!("value = {written}")).ok();
    let value = table.and_then(|table| serde_json::to_value(table.get("value")?).ok());
    value.unwrap_or_else(|| Value::String(written.to_owned()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_what_they_are() {
        assert_eq!(as_value("\"play/a\""), json!("play/a"));
        assert_eq!(as_value("7"), json!(7));
        assert_eq!((as_value("0.5"), as_value("true")), (json!(0.5), json!(true)));
        assert_eq!(as_value("[\"a\", 'b']"), json!(["a", "b"]));
        assert_eq!(as_value("***"), json!("***"));
    }
}
