//! Plugins of Claude Code: those that its settings switch on, and the marketplaces that they come from.

use std::collections::BTreeMap;
use std::path::Path;

use neco_proto::app::setups::SetupKind;
use serde_json::Value;

use super::piece::{Level, Take, WantedPlugin};
use super::reading::{Reading, Source};
use super::taken;

/// The marketplace that everybody has there, and where it is.
const OFFICIAL: (&str, &str) = ("claude-plugins-official", "anthropics/claude-plugins-official");

/// Where marketplaces are, by their names.
pub(super) struct Marketplaces(BTreeMap<String, String>);

impl Marketplaces {
    /// Those that Claude Code has fetched.
    pub(super) fn known(reading: &mut Reading) -> Self {
        let file = reading.places.homes.claude_code.join("plugins/known_marketplaces.json");
        let said = reading.json(Source::person(&file)).unwrap_or_default();
        let home = reading.places.home.clone();
        let entries = said.as_object().into_iter().flatten();
        let found = entries.filter_map(|(name, entry)| Some((name.clone(), place(entry, &home).ok()?)));
        Self([(OFFICIAL.0.to_owned(), OFFICIAL.1.to_owned())].into_iter().chain(found).collect())
    }

    /// Tells which marketplaces and plugins settings want; what is not understood of them stays in the settings.
    pub(super) fn wanted(&mut self, reading: &mut Reading, settings: &mut Value, from: Source<'_>) {
        let base = match (from.level, &reading.project) {
            (Level::Project, Some(project)) => project.clone(),
            (Level::Project | Level::Person, _) => reading.places.home.clone(),
        };
        for (name, entry) in taken::entries(settings, "extraKnownMarketplaces") {
            let shown = format!("marketplace {name}");
            match place(&entry, &base) {
                _ if !is_name(&name) => reading.refuse(SetupKind::Plugin, shown, from, NO_NAME),
                Ok(place) => {
                    self.0.insert(name.clone(), place.clone());
                    reading.add(SetupKind::Plugin, shown, from, Take::Marketplace(name, place), Vec::new());
                }
                Err(why) => reading.refuse(SetupKind::Plugin, shown, from, &why.to_string()),
            }
        }
        for (name, on) in taken::entries(settings, "enabledPlugins") {
            match name.rsplit_once('@') {
                _ if on == Value::Bool(false) => {
                    reading.refuse(SetupKind::Plugin, name, from, "it is switched off there");
                }
                Some((plugin, marketplace)) if is_name(plugin) && is_name(marketplace) => {
                    let wanted = WantedPlugin {
                        plugin: plugin.to_owned(),
                        marketplace: marketplace.to_owned(),
                        from: self.0.get(marketplace).cloned(),
                        level: from.level,
                    };
                    reading.add(SetupKind::Plugin, name.clone(), from, Take::Plugin(wanted), Vec::new());
                }
                Some(_) => reading.refuse(SetupKind::Plugin, name, from, NO_NAME),
                None => reading.refuse(SetupKind::Plugin, name, from, "it does not say which marketplace it is of"),
            }
        }
    }
}

const NO_NAME: &str = "its name can't be that of a plugin here";

/// Whether a plugin or a marketplace can be called so.
fn is_name(name: &str) -> bool {
    let is_part = |char: char| char.is_ascii_alphanumeric() || "-_.".contains(char);
    name.len() <= 64 && name.chars().all(is_part) && name.starts_with(|char: char| char.is_ascii_alphanumeric())
}

/// Why a marketplace can't be had here.
#[derive(Debug, thiserror::Error)]
enum NoPlace {
    /// It comes from elsewhere.
    #[error("a marketplace from {0} can't be had here: only folders and git repositories")]
    Kind(String),
    /// It does not say where it is.
    #[error("it does not say where its {0} is")]
    Unsaid(String),
}

/// Where a marketplace is, as it is named to add it.
fn place(entry: &Value, base: &Path) -> Result<String, NoPlace> {
    let source = entry.get("source").unwrap_or(entry);
    let text = |name: &str| source.get(name).and_then(Value::as_str).filter(|text| is_plain(text));
    let at = |address: &str| match text("ref") {
        Some(reference) => format!("{address}#{reference}"),
        None => address.to_owned(),
    };
    let kind = source.get("source").and_then(Value::as_str).unwrap_or("nothing");
    let found = match kind {
        "github" => text("repo").map(at),
        "git" => text("url").map(at),
        "directory" | "local" => text("path").map(|path| match path.starts_with('~') {
            true => path.to_owned(),
            false => base.join(path).display().to_string(),
        }),
        _ => return Err(NoPlace::Kind(kind.to_owned())),
    };
    found.ok_or_else(|| NoPlace::Unsaid(kind.to_owned()))
}

/// Whether a text can be put into a command line that a person is told.
fn is_plain(text: &str) -> bool {
    !text.is_empty() && !text.starts_with('-') && !text.contains(|char: char| char.is_whitespace() || char.is_control())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn marketplaces_are_where_they_say() {
        let of = |source: Value| place(&json!({ "source": source }), Path::new("/home/me"));
        assert_eq!(of(json!({ "source": "github", "repo": "a/b", "ref": "v1" })).unwrap(), "a/b#v1");
        assert_eq!(of(json!({ "source": "git", "url": "https://h/x.git" })).unwrap(), "https://h/x.git");
        assert_eq!(of(json!({ "source": "directory", "path": "./list" })).unwrap(), "/home/me/./list");
        assert_eq!(of(json!({ "source": "directory", "path": "~/list" })).unwrap(), "~/list");
        for wrong in [
            json!({ "source": "npm", "package": "x" }),
            json!({ "source": "url", "url": "https://h/marketplace.json" }),
            json!({ "source": "github" }),
            json!({ "source": "git", "url": "https://h/x; rm -rf ~" }),
            json!("x"),
        ] {
            assert!(of(wrong.clone()).is_err(), "{wrong}");
        }
    }
}
