//! Lists of plugins: `marketplace.json` of a folder.

use std::path::{Path, PathBuf};

use serde_json::{Map, Value};

use super::manifest::{ManifestError, is_name, object};
use super::source::{Source, SourceError};

/// Where the list is; the first that is there counts.
const FILES: [&str; 4] = [
    ".neco-plugin/marketplace.json",
    ".claude-plugin/marketplace.json",
    ".agents/plugins/marketplace.json",
    "marketplace.json",
];

/// A list of plugins.
#[derive(Clone, Debug)]
pub struct Marketplace {
    /// Its name.
    pub name: String,
    /// Its plugins, as they are listed.
    pub plugins: Vec<Entry>,
    /// What is left out of it, and why.
    pub notices: Vec<String>,
}

/// A plugin that a marketplace lists.
#[derive(Clone, Debug)]
pub struct Entry {
    /// Its name.
    pub name: String,
    /// What it is for.
    pub description: String,
    /// Where it is.
    pub source: Source,
    /// All that the list says of it.
    pub said: Map<String, Value>,
}

impl Marketplace {
    /// Reads the list of a folder.
    ///
    /// # Errors
    /// When there is none, or it can't be read.
    pub fn read(folder: &Path) -> Result<Self, ManifestError> {
        let file = FILES.iter().map(|name| folder.join(name)).find(|file| file.is_file());
        let file: PathBuf = file.ok_or_else(|| ManifestError::Nothing(folder.to_owned()))?;
        let said = object(&file)?;
        let usual = folder.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
        let name = said.get("name").and_then(Value::as_str).unwrap_or(&usual).to_owned();
        if !is_name(&name) {
            return Err(ManifestError::Name(name));
        }
        let below = said.get("metadata").and_then(|metadata| metadata.get("pluginRoot")).and_then(Value::as_str);
        let mut list = Self { name, plugins: Vec::new(), notices: Vec::new() };
        for entry in said.get("plugins").and_then(Value::as_array).into_iter().flatten() {
            match entry_of(entry, folder, below.unwrap_or_default()) {
                Ok(entry) => list.plugins.push(entry),
                Err(error) => list.notices.push(format!("A plugin of {} is left out: {error}", list.name)),
            }
        }
        Ok(list)
    }

    /// The plugin of a name.
    pub fn find(&self, name: &str) -> Option<&Entry> {
        self.plugins.iter().find(|entry| entry.name == name)
    }
}

fn entry_of(entry: &Value, folder: &Path, below: &str) -> Result<Entry, SourceError> {
    let said = entry.as_object().cloned().unwrap_or_default();
    let text = |name: &str| said.get(name).and_then(Value::as_str).unwrap_or_default().to_owned();
    let (name, description) = (text("name"), text("description"));
    if !is_name(&name) {
        return Err(ManifestError::Name(name).into());
    }
    let source = Source::of_entry(said.get("source").unwrap_or(&Value::Null), folder, below)?;
    Ok(Entry { name, description, source, said })
}

#[cfg(test)]
mod tests {
    use std::fs;

    use serde_json::json;

    use super::*;

    #[test]
    fn a_list_is_read_without_what_is_wrong_in_it() {
        let place = tempfile::tempdir().unwrap();
        for (number, file) in FILES.iter().enumerate() {
            let folder = place.path().join(number.to_string());
            let file = folder.join(file);
            fs::create_dir_all(file.parent().unwrap()).unwrap();
            let list = json!({ "name": "tools", "owner": { "name": "o" }, "plugins": [
                { "name": "one", "source": "./one", "description": "first" },
                { "name": "../two", "source": "./two" },
                { "name": "three", "source": "../../three" },
            ]});
            fs::write(&file, list.to_string()).unwrap();
            let read = Marketplace::read(&folder).unwrap();
            assert_eq!((read.name.as_str(), read.plugins.len(), read.notices.len()), ("tools", 1, 2));
            assert_eq!(read.find("one").unwrap().description, "first");
        }
        assert!(Marketplace::read(place.path()).is_err());
    }
}
