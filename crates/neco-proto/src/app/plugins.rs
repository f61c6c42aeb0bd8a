//! Plugins: which there are, what one brings, installing, switching and removing them, and lists of them.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::agents::Problem;
use super::request::request;

/// Lists the plugins that the person has, and the lists of plugins.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct ListPlugins {
    /// The folder that is worked in.
    pub folder: String,
}

request!(ListPlugins => PluginList, "plugins.list", Get "/plugins", Read, repeatable);

/// Plugins and lists of them.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct PluginList {
    /// The plugins, by name.
    pub plugins: Vec<PluginRow>,
    /// The names of the marketplaces, each with where it comes from.
    pub marketplaces: Vec<MarketplaceRow>,
    /// What is to be said of them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub warnings: Vec<String>,
}

/// A plugin.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct PluginRow {
    /// Its name.
    pub name: String,
    /// What it is for.
    pub description: String,
    /// Its version, as it says.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub version: Option<String>,
    /// Where it comes from.
    pub source: String,
    /// The commit that was taken.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub commit: Option<String>,
    /// Whether it is on.
    pub enabled: bool,
    /// Whether it counts in the folder: it is on, for that folder, and what was said yes to.
    pub active: bool,
    /// The folders that it is for; everywhere without any.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub projects: Vec<String>,
    /// Why it does not count although it is on, and what to do about it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub off: Option<String>,
    /// Its skills that can't be used, each with why.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub broken: Vec<Problem>,
}

/// A list of plugins.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct MarketplaceRow {
    /// Its name.
    pub name: String,
    /// Where it comes from.
    pub source: String,
}

/// Shows a plugin that the person has.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct ShowPlugin {
    /// The folder that is worked in.
    pub folder: String,
    /// Its name.
    pub name: String,
}

request!(ShowPlugin => ShownPlugin, "plugins.show", Get "/plugins/{name}", Read, repeatable);

/// All that a plugin brings.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ShownPlugin {
    /// What it is.
    #[serde(flatten)]
    pub plugin: PluginRow,
    /// What it brings.
    pub brings: Vec<BroughtRow>,
    /// What it is, to the byte: a yes is a yes to this.
    pub seen: String,
    /// What is other than in the one of its name that is there, where one is, with the lines of files that changed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub changes: Option<Vec<String>>,
    /// What is to be said of it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub warnings: Vec<String>,
}

/// Something that a plugin brings.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct BroughtRow {
    /// What kind of thing, such as `skill`.
    pub kind: String,
    /// Its name; for a hook its moment.
    pub name: String,
    /// What it runs or reaches.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub runs: String,
    /// The first lines of what is run, what it is given, and what it asks for.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub says: String,
}

/// Fetches a plugin and says what it brings; nothing of it counts yet.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct LookAtPlugin {
    /// The folder that is worked in.
    pub folder: String,
    /// A folder, the address of a git repository, `plugin@marketplace`, or the name of one that is there.
    pub from: String,
}

// It reads any path and asks any address.
request!(LookAtPlugin => ShownPlugin, "plugins.look", Post "/plugins/look", Manage, repeatable);

/// Installs a plugin that was looked at, or takes over what changed in one that is there.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct InstallPlugin {
    /// The folder that is worked in.
    pub folder: String,
    /// Where it comes from, as it was looked at.
    pub from: String,
    /// What was seen: nothing else is installed.
    pub seen: String,
    /// Whether it is for this folder alone.
    pub project: bool,
}

request!(InstallPlugin => PluginRow, "plugins.install", Post "/plugins", Manage, once);

/// Switches a plugin on or off.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct SwitchPlugin {
    /// The folder that is worked in.
    pub folder: String,
    /// Its name.
    pub name: String,
    /// Whether it is on.
    pub enabled: bool,
    /// Whether that is said of this folder alone.
    pub project: bool,
}

request!(SwitchPlugin => PluginRow, "plugins.switch", Post "/plugins/{name}/switch", Manage, once);

/// Removes a plugin.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct RemovePlugin {
    /// Its name.
    pub name: String,
}

request!(RemovePlugin => RemovedPlugin, "plugins.remove", Delete "/plugins/{name}", Manage, once);

/// Whether something was removed.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct RemovedPlugin {
    /// Whether there was one.
    pub known: bool,
}

/// Looks for what is wrong with a plugin that somebody writes.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct CheckPlugin {
    /// The folder that is worked in.
    pub folder: String,
    /// The folder of the plugin, from there on.
    pub at: String,
}

// It reads any path.
request!(CheckPlugin => CheckedPlugin, "plugins.check", Post "/plugins/check", Manage, repeatable);

/// What is wrong with a plugin, and what it brings.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct CheckedPlugin {
    /// What is wrong, file by file.
    pub problems: Vec<Problem>,
    /// What it brings.
    pub brings: Vec<BroughtRow>,
}

/// Writes a new plugin.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct NewPlugin {
    /// The folder that it is written into, in one of its own.
    pub folder: String,
    /// Its name.
    pub name: String,
    /// What it is for.
    pub description: Option<String>,
}

request!(NewPlugin => WrittenPlugin, "plugins.new", Post "/plugins/new", Manage, once);

/// A plugin that was written.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct WrittenPlugin {
    /// Its files.
    pub files: Vec<String>,
}

/// Looks for plugins in the lists that the person added, as they were fetched last.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct SearchPlugins {
    /// Words that all stand in what is said of a plugin; all plugins without any.
    pub words: String,
}

request!(SearchPlugins => FoundPlugins, "plugins.search", Post "/plugins/search", Read, repeatable);

/// Plugins of lists.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct FoundPlugins {
    /// The plugins; those with the words in their name first.
    pub plugins: Vec<FoundPlugin>,
    /// How many lists were looked at.
    pub marketplaces: usize,
    /// What is to be said of lists that can't be read.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub warnings: Vec<String>,
}

/// A plugin of a list.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct FoundPlugin {
    /// Its name.
    pub name: String,
    /// The list.
    pub marketplace: String,
    /// What it is for.
    pub description: String,
    /// Whether the person has it.
    pub installed: bool,
}

/// Adds a list of plugins, or fetches one anew.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct AddMarketplace {
    /// The folder that is worked in.
    pub folder: String,
    /// A folder, or the address of a git repository.
    pub from: String,
}

// It reads any path and asks any address.
request!(AddMarketplace => ShownMarketplace, "plugins.marketplaces.add", Post "/marketplaces", Manage, once);

/// Shows the plugins of a list.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct ShowMarketplace {
    /// Its name.
    pub name: String,
}

request!(ShowMarketplace => ShownMarketplace, "plugins.marketplaces.show", Get "/marketplaces/{name}", Read, repeatable);

/// The plugins of a list.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ShownMarketplace {
    /// What it is.
    #[serde(flatten)]
    pub marketplace: MarketplaceRow,
    /// Its plugins.
    pub plugins: Vec<ListedPlugin>,
    /// The plugins that it did not list when it was fetched before.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub added: Vec<String>,
    /// The plugins that it lists no more.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub removed: Vec<String>,
    /// What is to be said of it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub warnings: Vec<String>,
}

/// A plugin of a list.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ListedPlugin {
    /// Its name.
    pub name: String,
    /// What it is for.
    pub description: String,
}

/// Takes a list of plugins away; the plugins stay.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct RemoveMarketplace {
    /// Its name.
    pub name: String,
}

request!(
    RemoveMarketplace => RemovedPlugin,
    "plugins.marketplaces.remove", Delete "/marketplaces/{name}", Manage, once
);
