//! `neco config`: every setting and where it comes from.

use std::fmt::Write;

use neco_config::{Env, LoadOptions, Loaded, Setting};
use serde_json::{Value, json};

use crate::args::{ConfigCommand, EverywhereArgs};
use crate::exit::Exit;
use crate::failure::Failure;
use crate::say;

/// Runs `neco config …`.
///
/// # Errors
/// When the configuration can't be used.
pub fn run(command: &ConfigCommand, everywhere: &EverywhereArgs, env: &Env) -> Result<Exit, Failure> {
    let folder = crate::folder(everywhere)?;
    let options = LoadOptions { env, cwd: &folder, overrides: &everywhere.overrides };
    match command {
        ConfigCommand::Show { origin, json } => {
            let loaded = neco_config::load(options)?;
            loaded.warnings.iter().for_each(|warning| say::note(&warning.to_string()));
            say::out(&if *json { as_json(&loaded) } else { as_lines(loaded.origins.settings(), *origin) })?;
        }
        // Where the files are is worth knowing most when one of them is broken.
        ConfigCommand::Path => say::out(&match neco_config::load(options) {
            Ok(loaded) => paths(&loaded),
            Err(_) => format!("{}\n", env.config_dir().join("config.toml").display()),
        })?,
    }
    Ok(Exit::Done)
}

fn as_lines(settings: &[Setting], with_origin: bool) -> String {
    let width =
        settings.iter().map(|setting| setting.key.len() + setting.value.len() + 3).max().unwrap_or_default().min(60);
    let mut text = String::new();
    for setting in settings {
        let value = format!("{} = {}", setting.key, setting.value);
        let _ = match with_origin {
            true => writeln!(text, "{value:<width$}  # {}", origins(setting).join(", ")),
            false => writeln!(text, "{value}"),
        };
    }
    text
}

fn origins(setting: &Setting) -> Vec<String> {
    std::iter::once(&setting.origin).chain(&setting.earlier).map(ToString::to_string).collect()
}

fn as_json(loaded: &Loaded) -> String {
    let setting = |setting: &Setting| {
        json!({
            "key": setting.key,
            "value": setting.value,
            "layer": setting.origin.layer.name(),
            "origins": origins(setting),
        })
    };
    let settings: Vec<Value> = loaded.origins.settings().iter().map(setting).collect();
    format!("{:#}\n", json!({ "settings": settings }))
}

fn paths(loaded: &Loaded) -> String {
    let mut text = String::new();
    for file in &loaded.files {
        let there = if file.exists { "" } else { "  (not there)" };
        let _ = writeln!(text, "{:<8} {}{there}", file.layer, file.path.display());
    }
    text
}
