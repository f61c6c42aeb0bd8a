//! Settings, and where they come from.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::Known;
use super::request::request;
use crate::mode::names;

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
    /// What makes the files unusable, each with its place. What is told then is what the open session of this folder
    /// works with, or what is left without that.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub problems: Vec<SettingProblem>,
    /// The settings that have no value.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub unset: Vec<SettingRow>,
}

/// Something that makes a file of settings unusable.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct SettingProblem {
    /// The place and what is wrong there, for a person.
    pub words: String,
    /// The file, where it is one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub file: Option<String>,
}

/// A setting.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct SettingRow {
    /// The dotted key.
    pub key: String,
    /// The value as TOML; `***` for keys and headers, and for the secrets in addresses and command lines.
    pub value: String,
    /// The layer that had the last word, by its name.
    pub layer: String,
    /// Where it is written, and before that whose items come before.
    pub origins: Vec<String>,
    /// What it can be set to, for a person; empty for names that people give themselves.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub takes: String,
    /// What it means.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub meaning: String,
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
    /// All that are read, later ones over earlier ones.
    pub files: Vec<SettingFile>,
    /// What makes them unusable.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub problems: Vec<SettingProblem>,
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

/// Reads settings as people write them, and writes nothing.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct CheckSettings {
    /// The folder whose settings they must fit to.
    pub folder: String,
    /// Each as `key=value`.
    pub written: Vec<String>,
}

request!(CheckSettings => CheckedSettings, "settings.check", Get "/settings/check", Read, repeatable);

/// What settings mean.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct CheckedSettings {
    /// The settings with values of the kind that each takes.
    pub settings: Vec<NewSetting>,
    /// Whether agents would be freer with them than they are.
    pub loosens: bool,
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

/// Shows what [`SetSettings`] would write, and writes nothing.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct PreviewSettings {
    /// The folder whose settings they must fit to.
    pub folder: String,
    /// The settings.
    pub settings: Vec<NewSetting>,
}

request!(PreviewSettings => SettingsPreview, "settings.preview", Post "/settings/preview", Manage, repeatable);

/// What would be written.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct SettingsPreview {
    /// The file, as people write it.
    pub file: String,
    /// Whether it is there already.
    pub exists: bool,
    /// What would be different in it, as a unified diff without a head; `***` for what settings are not shown of. Empty
    /// where nothing would be.
    pub diff: String,
    /// Whether a secret would be another one, which is not shown.
    #[serde(default)]
    pub hides_change: bool,
    /// From when on the settings would hold.
    #[serde(default)]
    pub from: Known<HoldsFrom>,
}

/// A setting that is to be written.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct NewSetting {
    /// The dotted key.
    pub key: String,
    /// Its value: text, a number, yes or no, or a list of these; null takes the setting out of the file.
    pub value: Value,
}

/// Where settings were written.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct WrittenSettings {
    /// The file, as people write it.
    pub file: String,
    /// From when on they hold.
    #[serde(default)]
    pub from: Known<HoldsFrom>,
}

names! {
    /// From when on a setting holds that was written.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
    pub enum HoldsFrom {
        /// The next turn of every session.
        #[default]
        Turn = "turn",
        /// The next session.
        Session = "session",
        /// The next window.
        Window = "window",
    }
}
