//! The settings of a first model.

use std::fs::{self, File};
use std::io::Write;
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::time::Duration;

use neco_config::{Env, LoadOptions};
use neco_model::Models;
use neco_model::route::KeptKeys;
use toml_edit::{DocumentMut, Item, Table, value};

use neco_app::workspace::keys::{self, Keys};

/// How long a server has to take a call.
const LISTENS: Duration = Duration::from_secs(2);

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
    /// One at `base`, with a name that no other one has yet.
    #[must_use]
    pub fn at(base: String, env: &Env) -> Self {
        let present = fs::read_to_string(env.config_dir().join(FILE)).unwrap_or_default();
        Self { name: free_name(&present, &base), base }
    }

    /// Whether something can be asked there.
    #[must_use]
    pub fn is_address(&self) -> bool {
        let host = self.base.strip_prefix("http://").or_else(|| self.base.strip_prefix("https://"));
        host.is_some_and(|host| host.starts_with(|char: char| char.is_alphanumeric() || char == '['))
    }
}

impl Server {
    /// Whether somebody listens at its address.
    pub async fn listens(&self) -> bool {
        let (port, rest) = match self.base.strip_prefix("https://") {
            Some(rest) => (443, rest),
            None => (80, self.base.trim_start_matches("http://")),
        };
        let host = rest.split('/').next().unwrap_or_default();
        let has_port = host.rsplit_once(':').is_some_and(|(_, port)| port.chars().all(|char| char.is_ascii_digit()));
        let place = if has_port { host.to_owned() } else { format!("{host}:{port}") };
        let connected = tokio::time::timeout(LISTENS, tokio::net::TcpStream::connect(place)).await;
        connected.is_ok_and(|connected| connected.is_ok())
    }
}

/// `mine`, or `mine-2` where that is another server already.
fn free_name(present: &str, base: &str) -> String {
    let present: DocumentMut = present.parse().unwrap_or_default();
    let of = |name: &String| present.get("model_providers").and_then(|providers| providers.get(name));
    let is_free = |name: &String| {
        of(name).is_none_or(|known| known.get("base").and_then(Item::as_str).is_some_and(|known| known == base))
    };
    let names = std::iter::once("mine".to_owned()).chain((2..).map(|number| format!("mine-{number}")));
    names.into_iter().find(is_free).unwrap_or_default()
}

/// Makes `model` the one that is asked; `server` is where it is, when that is not known yet.
///
/// # Errors
/// In words, when the settings can't be written.
pub fn keep(model: &str, server: Option<&Server>, env: &Env) -> Result<PathBuf, String> {
    change(env, |present| settings(present, Some(model), server))
}

/// Keeps where a server is, before there is a model.
///
/// # Errors
/// In words, when the settings can't be written.
pub fn keep_server(server: &Server, env: &Env) -> Result<PathBuf, String> {
    change(env, |present| settings(present, None, Some(server)))
}

fn change(env: &Env, with: impl Fn(&str) -> Result<String, toml_edit::TomlError>) -> Result<PathBuf, String> {
    let file = env.config_dir().join(FILE);
    let present = match fs::read_to_string(&file) {
        Ok(text) => text,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => String::new(),
        Err(error) => return Err(format!("{}: {error}", env.shown(&file))),
    };
    let new = with(&present).map_err(|error| format!("{}: {error}", env.shown(&file)))?;
    write(&file, &new).map_err(|error| format!("{}: {error}", env.shown(&file)))?;
    Ok(file)
}

/// Writes the file whole or not at all. One that is a link stays one, and its mode stays as well.
fn write(file: &Path, text: &str) -> std::io::Result<()> {
    if let Some(folder) = file.parent() {
        fs::create_dir_all(folder)?;
    }
    let file = fs::canonicalize(file).unwrap_or_else(|_| file.to_owned());
    let beside = file.with_extension("toml.new");
    let mut out = File::options().create(true).write(true).truncate(true).mode(0o600).open(&beside)?;
    if let Ok(present) = fs::metadata(&file) {
        out.set_permissions(present.permissions())?;
    }
    out.write_all(text.as_bytes())?;
    out.sync_all()?;
    fs::rename(&beside, &file)
}

/// Forgets the key of `provider` that was kept last; false when that can't be done.
#[must_use]
pub fn forget_key(provider: &str, env: &Env) -> bool {
    let forget = |kept: &mut KeptKeys| {
        if let Some(of_provider) = kept.get_mut(provider) {
            of_provider.keys.pop();
            if of_provider.is_empty() {
                kept.remove(provider);
            }
        }
    };
    keys::file(env).change(forget).is_ok()
}

/// The settings with the model, and with the server; everything else stays as it is written.
fn settings(present: &str, model: Option<&str>, server: Option<&Server>) -> Result<String, toml_edit::TomlError> {
    let mut document: DocumentMut = present.parse()?;
    match (model, document.get_mut("model")) {
        // What is written about it stays beside it.
        (Some(model), Some(Item::Value(old))) => {
            let around = old.decor().clone();
            *old = model.into();
            *old.decor_mut() = around;
        }
        (Some(model), _) => drop(document.insert("model", value(model))),
        (None, _) => {}
    }
    if let Some(server) = server {
        let providers = document.entry("model_providers").or_insert_with(implicit);
        if let Some(providers) = providers.as_table_like_mut() {
            let mut table = Table::new();
            table.insert("type", value("openai"));
            table.insert("base", value(&server.base));
            providers.insert(&server.name, Item::Table(table));
        }
    }
    let text = document.to_string();
    // Nothing is written that the next start could not read: it would not begin at all.
    text.parse::<DocumentMut>().map(|_| text)
}

/// A section that has only others in it.
fn implicit() -> Item {
    let mut table = Table::new();
    table.set_implicit(true);
    Item::Table(table)
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
    fn the_model_is_another_one_and_nothing_else_changes() {
        let present = "# mine\napproval = \"auto\"\nmodel = \"old/one\" # the best\n\n[agent]\nmodel = 3\n\n[profiles.x]\nmodel = \"old/one\" # the best\n";
        let server = Server { name: "mine".into(), base: "http://localhost:8000/v1".into() };
        let new = settings(present, Some("mine/a\"b"), Some(&server)).unwrap();
        let read: toml::Table = new.parse().unwrap();
        assert_eq!(read["model"].as_str(), Some("mine/a\"b"));
        assert_eq!(read["approval"].as_str(), Some("auto"));
        assert_eq!(read["agent"]["model"].as_integer(), Some(3));
        assert_eq!(read["profiles"]["x"]["model"].as_str(), Some("old/one"), "{new}");
        assert_eq!(read["model_providers"]["mine"]["base"].as_str(), Some("http://localhost:8000/v1"));
        assert!(new.contains("# mine") && new.matches("# the best").count() == 2, "{new}");
        assert_eq!(settings("", Some("a/b"), None).unwrap(), "model = \"a/b\"\n");
        let only_sections = settings("[agent]\nmax_turns = 3\n", Some("a/b"), None).unwrap();
        assert!(only_sections.parse::<toml::Table>().unwrap()["model"].is_str(), "{only_sections}");
        assert!(settings("model = \n", Some("a/b"), None).is_err(), "what can't be read is left alone");
    }

    #[test]
    fn a_server_is_kept_before_there_is_a_model() {
        let server = Server { name: "mine".into(), base: "https://ai.example/v1".into() };
        let read: toml::Table = settings("", None, Some(&server)).unwrap().parse().unwrap();
        assert!(read.get("model").is_none());
        assert_eq!(read["model_providers"]["mine"]["base"].as_str(), Some("https://ai.example/v1"));
        assert!(server.is_address());
        for base in ["foo", "localhost:8000", "http://", "ftp://x"] {
            assert!(!Server { name: "mine".into(), base: base.into() }.is_address(), "{base}");
        }
    }

    #[test]
    fn a_second_server_has_another_name() {
        let add = |present: &str, base: &str| {
            let server = Server { name: free_name(present, base), base: base.into() };
            settings(present, Some("a/b"), Some(&server)).unwrap()
        };
        let one = add("", "http://localhost:1/v1");
        let two = add(&one, "http://localhost:2/v1");
        let again = add(&two, "http://localhost:1/v1");
        let providers = again.parse::<toml::Table>().unwrap()["model_providers"].clone();
        assert_eq!(providers["mine"]["base"].as_str(), Some("http://localhost:1/v1"));
        assert_eq!(providers["mine-2"]["base"].as_str(), Some("http://localhost:2/v1"));
        assert_eq!(providers.as_table().unwrap().len(), 2);
    }

    #[test]
    fn a_link_stays_a_link_and_the_mode_stays() {
        use std::os::unix::fs::PermissionsExt;
        let folder = tempfile::tempdir().unwrap();
        let (real, link) = (folder.path().join("dotfiles.toml"), folder.path().join("config.toml"));
        fs::write(&real, "a = 1\n").unwrap();
        fs::set_permissions(&real, fs::Permissions::from_mode(0o640)).unwrap();
        std::os::unix::fs::symlink(&real, &link).unwrap();
        write(&link, "a = 2\n").unwrap();
        assert!(fs::symlink_metadata(&link).unwrap().is_symlink());
        assert_eq!(fs::read_to_string(&real).unwrap(), "a = 2\n");
        assert_eq!(fs::metadata(&real).unwrap().permissions().mode() & 0o777, 0o640);
    }
}
