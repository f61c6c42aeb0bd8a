//! What a server offers, as it said the last time: its tools can be declared without starting it.

use std::io;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use sha2::{Digest, Sha256};

use super::settings::{ServerSettings, half_of};

/// The version of the file; another one is not read.
const VERSION: u32 = 1;

/// Files that are kept of servers of one name: in each folder it may be another one.
const MOST_FILES: usize = 16;

/// Most entries of a list.
const MOST_ENTRIES: usize = 1000;

/// Characters of a description that are kept.
const LONGEST_TEXT: usize = 4096;

/// Bytes of a schema that is taken as it is.
const BIGGEST_SCHEMA: usize = 64 * 1024;

/// How deep a schema may be nested.
const DEEPEST_SCHEMA: usize = 64;

/// What a server offers.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Manifest {
    version: u32,
    /// The version of the protocol that was agreed on.
    pub protocol: String,
    /// What the server calls itself, with its version.
    pub server: String,
    /// What it says about its use.
    pub instructions: Option<String>,
    /// Its tools.
    pub tools: Vec<ToolInfo>,
    /// Its prompts.
    pub prompts: Vec<PromptInfo>,
    /// Its resources.
    pub resources: Vec<ResourceInfo>,
    /// Patterns of addresses of resources.
    pub templates: Vec<ResourceInfo>,
    /// What was left out, and why.
    pub left_out: Vec<String>,
}

/// A tool of a server.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct ToolInfo {
    /// What the server calls it.
    pub name: String,
    /// What people call it.
    pub title: Option<String>,
    /// What it does.
    pub description: String,
    /// The JSON schema of its arguments.
    pub schema: Value,
    /// What the server says of it; shown, and never a reason to ask less.
    pub hints: Hints,
}

/// What a server says that a tool does.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub struct Hints {
    /// Whether it changes nothing.
    pub read_only_hint: Option<bool>,
    /// Whether it destroys something.
    pub destructive_hint: Option<bool>,
    /// Whether calling it twice does no more than once.
    pub idempotent_hint: Option<bool>,
    /// Whether it reaches beyond the server.
    pub open_world_hint: Option<bool>,
}

/// A prompt of a server.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct PromptInfo {
    /// What the server calls it.
    pub name: String,
    /// What people call it.
    pub title: Option<String>,
    /// What it is for.
    pub description: String,
    /// What it takes.
    pub arguments: Vec<PromptArgument>,
}

/// An argument of a prompt.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct PromptArgument {
    /// What it is called.
    pub name: String,
    /// What it is for.
    pub description: String,
    /// Whether the prompt needs it.
    pub required: bool,
}

/// A resource of a server, or a pattern of addresses.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct ResourceInfo {
    /// Its address.
    pub uri: String,
    /// What it is called.
    pub name: String,
    /// What it is.
    pub description: String,
    /// Such as `text/csv`.
    pub media_type: Option<String>,
}

impl ToolInfo {
    /// What tells whether it is still what was seen: its name, description and schema.
    pub(super) fn hash(&self) -> String {
        let said = json!([self.name, self.title, self.description, self.schema]).to_string();
        half_of(&Sha256::digest(said.as_bytes()))
    }
}

impl Hints {
    /// The hints as words for a person; nothing when the server says nothing.
    pub fn words(self) -> Option<String> {
        let said = [
            (self.read_only_hint, "changes nothing"),
            (self.destructive_hint, "may destroy something"),
            (self.open_world_hint, "reaches beyond the server"),
        ];
        let said: Vec<&str> =
            said.into_iter().filter(|(hint, _)| *hint == Some(true)).map(|(_, words)| words).collect();
        (!said.is_empty()).then(|| said.join(", "))
    }
}

impl Manifest {
    /// What the server calls itself, and the version that was agreed on.
    pub(super) fn of(protocol: String, server: String, instructions: Option<String>) -> Self {
        let instructions = instructions.map(|text| cut(&text, LONGEST_TEXT));
        Self { version: VERSION, protocol, server: cut(&server, 100), instructions, ..Self::default() }
    }

    /// Adds a page of a list, entry by entry: what can't be used is left out and told.
    pub(super) fn add(&mut self, list: List, page: &Value) {
        let entries = page.get(list.field()).and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
        for entry in entries {
            if self.count(list) >= MOST_ENTRIES {
                self.leave_out(format!("more than {MOST_ENTRIES} {}", list.words()));
                return;
            }
            match list {
                List::Tools if self.tools.iter().any(|known| entry["name"] == known.name) => {
                    self.leave_out(format!("a second tool {}", cut(entry["name"].as_str().unwrap_or_default(), 60)));
                }
                List::Tools => match read_tool(entry) {
                    Ok(tool) => self.tools.push(tool),
                    Err(unfit) => self.leave_out(unfit.to_string()),
                },
                List::Prompts => match read_prompt(entry) {
                    Some(prompt) => self.prompts.push(prompt),
                    None => self.leave_out("a prompt without a name".to_owned()),
                },
                List::Resources => self.resources.extend(read_resource(entry, "uri")),
                List::Templates => self.templates.extend(read_resource(entry, "uriTemplate")),
            }
        }
    }

    fn leave_out(&mut self, why: String) {
        if self.left_out.len() < 20 && !self.left_out.contains(&why) {
            self.left_out.push(why);
        }
    }

    fn count(&self, list: List) -> usize {
        match list {
            List::Tools => self.tools.len(),
            List::Prompts => self.prompts.len(),
            List::Resources => self.resources.len(),
            List::Templates => self.templates.len(),
        }
    }

    /// What was kept of a server, if it is still the same one.
    pub(super) fn load(data_dir: &Path, settings: &ServerSettings) -> Option<Self> {
        let text = std::fs::read(file(data_dir, settings)).ok()?;
        serde_json::from_slice(&text).ok().filter(|manifest: &Self| manifest.version == VERSION)
    }

    /// Keeps it for the next start. Of what was kept of the same name with other settings, the oldest goes that is too
    /// much.
    pub(super) fn save(&self, data_dir: &Path, settings: &ServerSettings) -> io::Result<()> {
        let path = file(data_dir, settings);
        let folder = path.parent().unwrap_or(data_dir);
        std::fs::create_dir_all(folder)?;
        let others = files_of(data_dir, &settings.name).into_iter().filter(|file| *file != path);
        others.skip(MOST_FILES - 1).for_each(|file| drop(std::fs::remove_file(file)));
        let mut temporary = tempfile::NamedTempFile::new_in(folder)?;
        serde_json::to_writer(&mut temporary, self)?;
        temporary.persist(&path)?;
        Ok(())
    }
}

/// Forgets what is kept of a server.
pub(super) fn forget(data_dir: &Path, server: &str) {
    files_of(data_dir, server).iter().for_each(|file| drop(std::fs::remove_file(file)));
}

/// The files in which something is kept of servers of this name, the newest first.
fn files_of(data_dir: &Path, server: &str) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder_of_manifests(data_dir)).into_iter().flatten().flatten();
    let of_server = entries.filter(|entry| {
        let name = entry.file_name();
        let hash = name.to_str().and_then(|name| name.strip_prefix(server)?.strip_prefix('@')?.strip_suffix(".json"));
        hash.is_some()
    });
    let written = |entry: &std::fs::DirEntry| entry.metadata().and_then(|found| found.modified()).ok();
    let mut files: Vec<(Option<SystemTime>, PathBuf)> =
        of_server.map(|entry| (written(&entry), entry.path())).collect();
    files.sort_unstable_by(|one, other| other.cmp(one));
    files.into_iter().map(|(_, path)| path).collect()
}

/// Where all of them are.
pub(super) fn folder_of_manifests(data_dir: &Path) -> PathBuf {
    data_dir.join("mcp/manifests")
}

fn file(data_dir: &Path, settings: &ServerSettings) -> PathBuf {
    folder_of_manifests(data_dir).join(format!("{}@{}.json", settings.name, settings.hash()))
}

/// The lists that a server may have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum List {
    Tools,
    Prompts,
    Resources,
    Templates,
}

impl List {
    fn field(self) -> &'static str {
        match self {
            Self::Tools => "tools",
            Self::Prompts => "prompts",
            Self::Resources => "resources",
            Self::Templates => "resourceTemplates",
        }
    }

    fn words(self) -> &'static str {
        match self {
            Self::Templates => "patterns of resources",
            list => list.field(),
        }
    }
}

fn text(value: &Value, field: &str) -> Option<String> {
    value.get(field).and_then(Value::as_str).map(|text| cut(text, LONGEST_TEXT))
}

fn cut(text: &str, most: usize) -> String {
    match text.char_indices().nth(most) {
        Some((at, _)) => format!("{}…", text.get(..at).unwrap_or_default()),
        None => text.to_owned(),
    }
}

/// Why a tool can't be used.
#[derive(Debug, thiserror::Error)]
enum Unfit {
    #[error("a tool without a name")]
    Nameless,
    #[error("{0}: the schema of its arguments is none of an object")]
    NoObject(String),
    #[error("{0}: the schema of its arguments is too big")]
    TooBig(String),
    #[error("{0}: the schema of its arguments is broken: {1}")]
    Broken(String, String),
}

/// A tool, or why it can't be used.
fn read_tool(entry: &Value) -> Result<ToolInfo, Unfit> {
    let name = entry.get("name").and_then(Value::as_str).filter(|name| !name.is_empty() && name.len() <= 256);
    let name = name.ok_or(Unfit::Nameless)?;
    let shown = cut(name, 60);
    let schema = entry.get("inputSchema").cloned().unwrap_or_else(|| json!({ "type": "object" }));
    if !schema.is_object() || schema.get("type").is_some_and(|kind| kind != "object") {
        return Err(Unfit::NoObject(shown));
    }
    if depth(&schema, DEEPEST_SCHEMA) > DEEPEST_SCHEMA || schema.to_string().len() > BIGGEST_SCHEMA {
        return Err(Unfit::TooBig(shown));
    }
    if let Some(problem) = neco_toolkit::schema::ArgumentSchema::new(schema.clone()).problem() {
        return Err(Unfit::Broken(shown, cut(&problem, 200)));
    }
    let annotations = entry.get("annotations");
    let hints = annotations.and_then(|hints| serde_json::from_value(hints.clone()).ok()).unwrap_or_default();
    let title = text(entry, "title").or_else(|| text(annotations?, "title"));
    Ok(ToolInfo {
        name: name.to_owned(),
        title,
        description: text(entry, "description").unwrap_or_default(),
        schema,
        hints,
    })
}

/// How deep a value is nested, looked at no deeper than `most` and one more.
fn depth(value: &Value, most: usize) -> usize {
    if most == 0 {
        return 1;
    }
    let below = match value {
        Value::Array(items) => items.iter().map(|item| depth(item, most - 1)).max(),
        Value::Object(fields) => fields.values().map(|item| depth(item, most - 1)).max(),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => return 0,
    };
    1 + below.unwrap_or(0)
}

fn read_prompt(entry: &Value) -> Option<PromptInfo> {
    let argument = |argument: &Value| {
        Some(PromptArgument {
            name: text(argument, "name")?,
            description: text(argument, "description").unwrap_or_default(),
            required: argument.get("required").and_then(Value::as_bool).unwrap_or(false),
        })
    };
    let arguments = entry.get("arguments").and_then(Value::as_array);
    Some(PromptInfo {
        name: text(entry, "name").filter(|name| !name.is_empty())?,
        title: text(entry, "title"),
        description: text(entry, "description").unwrap_or_default(),
        arguments: arguments.into_iter().flatten().filter_map(argument).collect(),
    })
}

fn read_resource(entry: &Value, address: &str) -> Option<ResourceInfo> {
    Some(ResourceInfo {
        uri: text(entry, address).filter(|uri| !uri.is_empty())?,
        name: text(entry, "title").or_else(|| text(entry, "name")).unwrap_or_default(),
        description: text(entry, "description").unwrap_or_default(),
        media_type: text(entry, "mimeType"),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mcp::settings::{Reach, ServerAddress};

    fn deep(levels: usize) -> Value {
        (0..levels).fold(json!({}), |inner, _| json!({ "properties": { "a": inner } }))
    }

    #[test]
    fn what_can_t_be_used_is_left_out_and_the_rest_is_there() {
        let mut manifest = Manifest::default();
        manifest.add(
            List::Tools,
            &json!({ "tools": [
                { "name": "good", "description": "Does it.", "inputSchema": { "type": "object" }, "annotations": { "readOnlyHint": true } },
                { "name": "bare" },
                { "name": "array", "inputSchema": [1] },
                { "name": "seven", "inputSchema": { "type": "object", "properties": { "a": { "type": 7 } } } },
                { "name": "deep", "inputSchema": deep(60) },
                { "name": "good", "inputSchema": { "type": "object" } },
                { "description": "nameless" },
                "no tool",
            ] }),
        );
        let names: Vec<&str> = manifest.tools.iter().map(|tool| tool.name.as_str()).collect();
        assert_eq!(names, ["good", "bare"]);
        assert_eq!(manifest.tools[0].hints.words().as_deref(), Some("changes nothing"));
        assert_eq!(manifest.left_out.len(), 5, "{:?}", manifest.left_out);
    }

    #[test]
    fn servers_of_one_name_keep_their_files_beside_each_other_up_to_a_limit() {
        let folder = tempfile::tempdir().unwrap();
        let at = |port: usize| {
            let url = format!("http://127.0.0.1:{port}/mcp");
            ServerSettings::new("x", Reach::Address(ServerAddress::new(url)))
        };
        let manifest = Manifest::of("2025-11-25".to_owned(), "x 1".to_owned(), None);
        for port in 0..MOST_FILES + 3 {
            manifest.save(folder.path(), &at(port)).unwrap();
            assert!(Manifest::load(folder.path(), &at(port)).is_some());
        }
        assert_eq!(files_of(folder.path(), "x").len(), MOST_FILES);
        assert!(files_of(folder.path(), "y").is_empty());
        forget(folder.path(), "x");
        assert!(files_of(folder.path(), "x").is_empty());
    }

    #[test]
    fn a_list_without_end_is_bounded() {
        let mut manifest = Manifest::default();
        let tools: Vec<Value> = (0..MOST_ENTRIES + 5).map(|number| json!({ "name": format!("t{number}") })).collect();
        manifest.add(List::Tools, &json!({ "tools": tools }));
        assert_eq!((manifest.tools.len(), manifest.left_out.len()), (MOST_ENTRIES, 1));
    }

    #[test]
    fn another_description_is_another_tool() {
        let tool = ToolInfo { name: "a".to_owned(), description: "one".to_owned(), ..ToolInfo::default() };
        let other = ToolInfo { description: "two".to_owned(), ..tool.clone() };
        assert_ne!(tool.hash(), other.hash());
        assert_eq!(tool.hash(), tool.clone().hash());
    }
}
