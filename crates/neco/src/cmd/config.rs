//! `neco config`: every setting and where it comes from.

use clap::Subcommand;
use neco_config::Env;
use neco_proto::app::settings::{FindSettings, ListSettings, SettingRow};
use neco_view::paint::lists::settings;
use serde_json::{Value, json};

use crate::args::{EverywhereArgs, JsonArg};
use crate::cmd::program::{ask, folder, notes, print};
use crate::exit::Exit;
use crate::failure::Failure;
use crate::say;

/// `neco config …`
#[derive(Debug, Subcommand)]
pub enum ConfigCommand {
    /// Prints every setting that has a value
    Show {
        /// Adds where each value comes from
        #[arg(long)]
        origin: bool,
        #[command(flatten)]
        json: JsonArg,
    },
    /// Prints the files that settings are read from
    Path,
}

/// Runs `neco config …`.
///
/// # Errors
/// When the configuration can't be used.
pub fn run(command: &ConfigCommand, everywhere: &EverywhereArgs, env: &Env) -> Result<Exit, Failure> {
    let folder = folder(everywhere)?;
    match command {
        ConfigCommand::Show { origin, json } => {
            let list = ask(&ListSettings { folder }, everywhere, env)?;
            notes(&list.warnings);
            print(*json, &as_json(&list.settings), || settings::as_lines(&list.settings, *origin))
        }
        ConfigCommand::Path => {
            let found = ask(&FindSettings { folder }, everywhere, env)?;
            say::out(&if found.files.is_empty() { format!("{}\n", found.own) } else { settings::paths(&found.files) })?;
            Ok(Exit::Done)
        }
    }
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
