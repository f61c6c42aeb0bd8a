//! The settings of a first model.

use std::fs::{self, File};
use std::io::Write;
use std::os::unix::fs::OpenOptionsExt;
use std::path::PathBuf;

use neco_config::{Env, LoadOptions};
use neco_model::Models;

use crate::keys::Keys;

/// The file of the person's settings.
const FILE: &str = "config.toml";

/// A server at an address of the person's.
pub struct Server {
    /// What it is called from now on.
    pub name: String,
    /// Its address.
    pub base: String,
}

impl Server {
    fn toml(&self) -> String {
        format!("[model_providers.{}]\ntype = \"openai\"\nbase = {}\n", self.name, quoted(&self.base))
    }
}

/// Makes `model` the one that is asked; `server` is where it is, when that is not known yet.
///
/// # Errors
/// In words, when the settings can't be written.
pub fn keep(model: &str, server: Option<&Server>, env: &Env) -> Result<PathBuf, String> {
    let file = env.config_dir().join(FILE);
    let present = match fs::read_to_string(&file) {
        Ok(text) => text,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => String::new(),
        Err(error) => return Err(format!("{}: {error}", env.shown(&file))),
    };
    let new = settings(&present, model, server);
    let written = || {
        fs::create_dir_all(env.config_dir())?;
        let beside = file.with_extension("toml.new");
        let mut out = File::options().create(true).write(true).truncate(true).mode(0o600).open(&beside)?;
        out.write_all(new.as_bytes())?;
        out.sync_all()?;
        fs::rename(&beside, &file)
    };
    written().map_err(|error: std::io::Error| format!("{}: {error}", env.shown(&file)))?;
    Ok(file)
}

/// The settings with the model: at the top, before any section; the server at the end.
fn settings(present: &str, model: &str, server: Option<&Server>) -> String {
    let is_model = |line: &&str| line.split_once('=').is_some_and(|(key, _)| key.trim() == "model");
    let top = present.lines().take_while(|line| !line.trim_start().starts_with('['));
    let old: Vec<&str> = top.filter(is_model).collect();
    let kept: Vec<&str> = present.lines().filter(|line| !old.contains(line)).collect();
    let mut text = format!("model = {}\n", quoted(model));
    if !kept.is_empty() {
        text.push_str(&kept.join("\n"));
        text.push('\n');
    }
    if let Some(server) = server {
        text.push('\n');
        text.push_str(&server.toml());
    }
    text
}

/// The models as they would be with `server`.
///
/// # Errors
/// In words, when that is no address.
pub fn models_with(server: &Server, env: &Env) -> Result<Models, String> {
    let overrides = [
        format!("model_providers.{}.type=openai", server.name),
        format!("model_providers.{}.base={}", server.name, quoted(&server.base)),
    ];
    let home = env.home().to_owned();
    let loaded = neco_config::load(LoadOptions { env, cwd: &home, overrides: &overrides });
    let loaded = loaded.map_err(|error| error.to_string())?;
    Models::new(&loaded.config, &Keys::find(env)).map_err(|error| error.to_string())
}

fn quoted(text: &str) -> String {
    toml::Value::String(text.to_owned()).to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_model_stands_before_every_section_and_nothing_else_changes() {
        let present = "# mine\napproval = \"auto\"\nmodel = \"old/one\"\n\n[agent]\nmodel = 3\n";
        let server = Server { name: "mine".into(), base: "http://localhost:8000/v1".into() };
        let new = settings(present, "mine/a\"b", Some(&server));
        let read: toml::Table = new.parse().unwrap();
        assert_eq!(read["model"].as_str(), Some("mine/a\"b"));
        assert_eq!(read["approval"].as_str(), Some("auto"));
        assert_eq!(read["agent"]["model"].as_integer(), Some(3));
        assert_eq!(read["model_providers"]["mine"]["base"].as_str(), Some("http://localhost:8000/v1"));
        assert!(new.contains("# mine"));
        assert_eq!(settings("", "a/b", None), "model = \"a/b\"\n");
    }
}
