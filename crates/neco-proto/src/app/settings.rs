//! Settings, and where they come from.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::request::request;

/// Lists the settings that hold in a folder.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct ListSettings {
    /// The folder.
    pub folder: String,
}

request!(ListSettings => SettingList, "settings.list", Get "/settings", Read, repeatable);

/// The settings that hold.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct SettingList {
    /// Every setting that has a value, sorted by key.
    pub settings: Vec<SettingRow>,
    /// What is not as it was meant in the settings.
    #[serde(default)]
    pub warnings: Vec<String>,
}

/// A setting.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct SettingRow {
    /// The dotted key.
    pub key: String,
    /// The value as TOML; `***` for keys and headers, and for the secrets in addresses.
    pub value: String,
    /// The layer that had the last word, by its name.
    pub layer: String,
    /// Where it is written, and before that whose items come before.
    pub origins: Vec<String>,
}

/// Tells which files settings are read from.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct FindSettings {
    /// The folder.
    pub folder: String,
}

request!(FindSettings => SettingFiles, "settings.files", Get "/settings/files", Read, repeatable);

/// The files of settings.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct SettingFiles {
    /// The user's own file, whether it exists or not.
    pub own: String,
    /// All that are read, later ones over earlier ones; none when one of them can't be understood.
    pub files: Vec<SettingFile>,
}

/// A file of settings.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct SettingFile {
    /// The layer that it is, by its name.
    pub layer: String,
    /// Where it is.
    pub path: String,
    /// Whether it is there.
    pub exists: bool,
}

/// Writes settings to the user's own file; everything else in it stays as it is written.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct SetSettings {
    /// The folder whose settings they must fit to.
    pub folder: String,
    /// The settings.
    pub settings: Vec<NewSetting>,
}

request!(SetSettings => WrittenSettings, "settings.set", Put "/settings", Manage, repeatable);

/// A setting that is to be written.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct NewSetting {
    /// The dotted key.
    pub key: String,
    /// Its value: text, a number, yes or no, or a list of these.
    pub value: Value,
}

/// Where settings were written.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct WrittenSettings {
    /// The file, as people write it.
    pub file: String,
}
