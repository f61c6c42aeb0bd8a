//! Commands after a slash that a person or a folder brings along, and the hooks that are plugged in.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::request::request;
use super::settings::SettingProblem;

/// Lists the commands that the person and the folder bring along.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct ListCommands {
    /// The folder.
    pub folder: String,
}

request!(ListCommands => CommandList, "commands.list", Get "/commands", Read, repeatable);

/// Commands that were brought along.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct CommandList {
    /// The commands.
    pub commands: Vec<CommandRow>,
}

/// A command that was brought along.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct CommandRow {
    /// Its name, without the slash.
    pub name: String,
    /// What may follow it.
    pub argument: String,
    /// What it does.
    pub help: String,
    /// Whether it can be used: one of a folder that is not trusted can't.
    pub trusted: bool,
    /// Whether it is a skill, which `$name` in a message brings in too.
    #[serde(default)]
    pub is_skill: bool,
    /// Another name of it, such as `plugin:name` of a skill that a plugin brings.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub also: Option<String>,
}

/// Tells what such a command says to the agent.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct ExpandCommand {
    /// The folder.
    pub folder: String,
    /// The command, by its name.
    pub name: String,
    /// What follows it.
    pub argument: String,
}

request!(ExpandCommand => ExpandedCommand, "commands.expand", Get "/commands/{name}", Read, repeatable);

/// What a command says.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ExpandedCommand {
    /// The message to the agent, with its command lines as they are written.
    pub text: String,
    /// The same in parts where it has command lines: whoever asked runs them as the person's own, and puts in what they
    /// print. Empty where it has none.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub parts: Vec<CommandPart>,
    /// What a person should know of its file, such as a field that has no effect.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<String>,
    /// The model that the command wants; whoever asked decides what comes of it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    /// What the person's own file allows while it is done, as rules; empty for one of a folder.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub allowed_tools: Vec<String>,
}

/// A part of what a command says.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct CommandPart {
    /// What is said as it is; of a command line, the line as the file has it.
    pub text: String,
    /// The line to run where what it prints is said, which knows what follows the command as `$1` to `$9` and
    /// `$ARGUMENTS`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub run: Option<String>,
}

/// Lists the hooks that run in a folder.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct ListHooks {
    /// The folder.
    pub folder: String,
}

request!(ListHooks => HookList, "hooks.list", Get "/hooks", Read, repeatable);

/// The hooks that run.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct HookList {
    /// The hooks.
    pub hooks: Vec<HookRow>,
    /// What the folder brings that is not switched on, for a person.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub note: Option<String>,
    /// What makes the settings unusable; those that are told are the ones that hold all the same.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub problems: Vec<SettingProblem>,
}

/// A hook.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct HookRow {
    /// The moment that it runs at, by its name.
    pub event: String,
    /// Which tools, sources or reasons it is for.
    pub matcher: String,
    /// The command line.
    pub command: String,
    /// The file that it is written in.
    pub file: String,
}
