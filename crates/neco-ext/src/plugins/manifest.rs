//! What a plugin says of itself: `plugin.json` of Neco, Claude Code and Codex, `gemini-extension.json`, or nothing, and
//! then its folders speak for it.

use std::io;
use std::path::{Component, Path, PathBuf};

use neco_config::read_small_file;
use serde_json::{Map, Value};

/// Where a manifest is, and whose kind it is; the first that is there counts.
const FILES: [(&str, Kind); 4] = [
    (".neco-plugin/plugin.json", Kind::Neco),
    (".claude-plugin/plugin.json", Kind::ClaudeCode),
    (".codex-plugin/plugin.json", Kind::Codex),
    ("gemini-extension.json", Kind::Gemini),
];

/// What others know and Neco does not have.
const WITHOUT_EFFECT: [&str; 6] = ["apps", "excludeTools", "lspServers", "outputStyles", "settings", "themes"];

/// The names by which a manifest tells where something is that a plugin brings.
const BROUGHT: [&str; 7] = ["skills", "commands", "agents", "tools", "workflows", "hooks", "mcpServers"];

/// Whose kind a plugin is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Neco's own.
    Neco,
    /// That of Claude Code.
    ClaudeCode,
    /// That of Codex.
    Codex,
    /// An extension of Gemini CLI.
    Gemini,
    /// It has no manifest.
    Plain,
}

/// Hooks or servers: in a file of the plugin, or in its manifest.
#[derive(Clone, Debug, PartialEq)]
pub enum Written {
    /// A file, below the plugin's folder.
    File(PathBuf),
    /// In the manifest itself.
    Here(Value),
}

/// What a plugin says of itself, and where what it brings is. All paths are whole and lie in its folder.
#[derive(Clone, Debug, PartialEq)]
pub struct Manifest {
    /// Its name.
    pub name: String,
    /// Its version, as it says.
    pub version: Option<String>,
    /// What it is for.
    pub description: Option<String>,
    /// Whose kind it is.
    pub kind: Kind,
    /// Folders of skills.
    pub skills: Vec<PathBuf>,
    /// Folders and files of commands.
    pub commands: Vec<PathBuf>,
    /// Folders of definitions of agents.
    pub agents: Vec<PathBuf>,
    /// Folders of scripted tools.
    pub tools: Vec<PathBuf>,
    /// Folders of workflows.
    pub workflows: Vec<PathBuf>,
    /// Hooks.
    pub hooks: Vec<Written>,
    /// MCP servers.
    pub servers: Vec<Written>,
    /// A file of rules for the model.
    pub rules: Option<PathBuf>,
    /// Names in the manifest that have no effect here.
    pub without_effect: Vec<String>,
}

/// Why a folder is no plugin.
#[derive(Debug, thiserror::Error)]
pub enum ManifestError {
    /// Nothing in it is what a plugin brings.
    #[error("{} is no plugin: it has no manifest, and neither skills nor commands, agents, hooks or servers", .0.display())]
    Nothing(PathBuf),
    /// The manifest can't be read.
    #[error("{}: {error}", file.display())]
    File {
        /// The manifest.
        file: PathBuf,
        /// Why not.
        error: io::Error,
    },
    /// The manifest is no JSON.
    #[error("{}: it is not JSON: {error}", file.display())]
    Json {
        /// The manifest.
        file: PathBuf,
        /// Why not.
        error: serde_json::Error,
    },
    /// It has no name that can be used.
    #[error("{0:?} is no name for a plugin: letters, digits, `-`, `_` and `.`, at most 64, the first no sign")]
    Name(String),
    /// It names a file that is not its own.
    #[error("{0:?} leads out of the plugin's folder")]
    LeadsOut(String),
}

/// What a manifest may say besides: it is for people and lists.
const ABOUT: [&str; 16] = [
    "$schema",
    "author",
    "category",
    "contextFileName",
    "description",
    "displayName",
    "homepage",
    "interface",
    "keywords",
    "license",
    "name",
    "repository",
    "source",
    "strict",
    "tags",
    "version",
];

/// Whether Neco or another agent knows a name in a manifest.
pub fn is_known(name: &str) -> bool {
    [&BROUGHT[..], &WITHOUT_EFFECT, &ABOUT].iter().any(|known| known.contains(&name))
}

impl Manifest {
    /// The manifest of a folder, where it has one.
    pub fn file(folder: &Path) -> Option<PathBuf> {
        FILES.iter().map(|(name, _)| folder.join(name)).find(|file| file.is_file())
    }

    /// The places in its folder that a manifest names, as they are written, each with the name that it has there.
    pub fn named_places(said: &Map<String, Value>) -> Vec<(&str, &str)> {
        BROUGHT.iter().flat_map(|name| texts(said.get(*name)).into_iter().map(move |place| (*name, place))).collect()
    }

    /// Reads what a folder says; `entry` is what a marketplace says of it besides.
    ///
    /// # Errors
    /// When it is no plugin, or names what is not its own.
    pub fn read(folder: &Path, entry: &Map<String, Value>) -> Result<Self, ManifestError> {
        let (mut said, kind) = match FILES.iter().map(|(name, kind)| (folder.join(name), *kind)).find(|f| f.0.is_file())
        {
            Some((file, kind)) => (object(&file)?, kind),
            None => (Map::new(), Kind::Plain),
        };
        for (name, value) in entry.iter().filter(|(name, _)| name.as_str() != "source") {
            said.entry(name).or_insert_with(|| value.clone());
        }
        let usual = folder.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
        let name = said.get("name").and_then(Value::as_str).unwrap_or(&usual).to_owned();
        if !is_name(&name) {
            return Err(ManifestError::Name(name));
        }
        let text = |name: &str| said.get(name).and_then(Value::as_str).map(str::to_owned);
        // A list that names what a plugin without a manifest brings means that alone: several of them share a folder.
        let is_named = kind == Kind::Plain && BROUGHT.iter().any(|name| entry.contains_key(*name));
        let root = Root { folder, said: &said, usual: !is_named };
        let manifest = Self {
            version: text("version"),
            description: text("description"),
            kind,
            skills: root.places("skills", "skills")?,
            commands: root.places("commands", "commands")?,
            agents: root.places("agents", "agents")?,
            tools: root.places("tools", "tools")?,
            workflows: root.places("workflows", "workflows")?,
            hooks: root.written("hooks", "hooks/hooks.json")?,
            servers: root.written("mcpServers", ".mcp.json")?,
            rules: root.rules(kind)?,
            without_effect: said.keys().filter(|name| WITHOUT_EFFECT.contains(&name.as_str())).cloned().collect(),
            name,
        };
        if kind == Kind::Plain && entry.is_empty() && manifest.is_empty() {
            return Err(ManifestError::Nothing(folder.to_owned()));
        }
        Ok(manifest)
    }

    fn is_empty(&self) -> bool {
        let places = [&self.skills, &self.commands, &self.agents, &self.tools, &self.workflows];
        places.iter().all(|places| places.is_empty()) && self.hooks.is_empty() && self.servers.is_empty()
    }
}

/// Whether a plugin, a marketplace or a folder of theirs can be called so.
pub fn is_name(name: &str) -> bool {
    let is_part = |char: char| char.is_ascii_alphanumeric() || "-_.".contains(char);
    name.len() <= 64 && name.chars().all(is_part) && name.starts_with(|char: char| char.is_ascii_alphanumeric())
}

/// The object in a small file of JSON.
pub(super) fn object(file: &Path) -> Result<Map<String, Value>, ManifestError> {
    let failed = |error| ManifestError::File { file: file.to_owned(), error };
    let missing = || failed(io::ErrorKind::NotFound.into());
    let bytes = read_small_file(file, false).map_err(failed)?.ok_or_else(missing)?;
    let bytes = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(&bytes);
    serde_json::from_slice(bytes).map_err(|error| ManifestError::Json { file: file.to_owned(), error })
}

/// A path below a folder, which a manifest names.
///
/// # Errors
/// When it leads out of the folder, by its words or by a link.
pub(super) fn inside(folder: &Path, named: &str) -> Result<PathBuf, ManifestError> {
    let leads_out = || ManifestError::LeadsOut(named.to_owned());
    let is_plain = |part: Component<'_>| matches!(part, Component::Normal(_) | Component::CurDir);
    if !Path::new(named).components().all(is_plain) {
        return Err(leads_out());
    }
    let parts = Path::new(named).components().filter(|part| matches!(part, Component::Normal(_)));
    let path = parts.fold(folder.to_owned(), |path, part| path.join(part));
    // Of what is not there, the folder above it must be inside.
    let there = path.ancestors().find(|above| above.symlink_metadata().is_ok()).unwrap_or(folder);
    match (there.canonicalize(), folder.canonicalize()) {
        (Ok(real), Ok(root)) if real.starts_with(&root) => Ok(path),
        (_, _) => Err(leads_out()),
    }
}

/// What a manifest says, and the folder that it says it of.
struct Root<'a> {
    folder: &'a Path,
    said: &'a Map<String, Value>,
    /// Whether what lies in the usual places counts.
    usual: bool,
}

impl Root<'_> {
    /// The usual folder where it is there, and those that are named besides.
    fn places(&self, name: &str, usual: &str) -> Result<Vec<PathBuf>, ManifestError> {
        let mut places: Vec<PathBuf> =
            Some(self.folder.join(usual)).filter(|place| self.usual && place.is_dir()).into_iter().collect();
        for named in texts(self.said.get(name)) {
            let place = inside(self.folder, named)?;
            if place.exists() && !places.contains(&place) {
                places.push(place);
            }
        }
        Ok(places)
    }

    /// What is written in the usual file, in those that are named, and in the manifest itself.
    fn written(&self, name: &str, usual: &str) -> Result<Vec<Written>, ManifestError> {
        let usual = Some(self.folder.join(usual)).filter(|file| self.usual && file.is_file());
        let mut found: Vec<Written> = usual.map(Written::File).into_iter().collect();
        let said = self.said.get(name);
        for value in said.map_or(&[][..], |said| said.as_array().map_or(std::slice::from_ref(said), Vec::as_slice)) {
            let one = match value {
                Value::String(named) => Written::File(inside(self.folder, named)?),
                Value::Object(_) => Written::Here(value.clone()),
                _ => continue,
            };
            if !found.contains(&one) {
                found.push(one);
            }
        }
        Ok(found)
    }

    /// The file that an extension of Gemini CLI tells the model.
    fn rules(&self, kind: Kind) -> Result<Option<PathBuf>, ManifestError> {
        if kind != Kind::Gemini {
            return Ok(None);
        }
        let named = texts(self.said.get("contextFileName"));
        let file = inside(self.folder, named.first().copied().unwrap_or("GEMINI.md"))?;
        Ok(Some(file).filter(|file| file.is_file()))
    }
}

/// A text, or the texts of a list.
fn texts(value: Option<&Value>) -> Vec<&str> {
    match value {
        Some(Value::String(text)) => vec![text],
        Some(Value::Array(items)) => items.iter().filter_map(Value::as_str).collect(),
        _ => Vec::new(),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;
    use std::fs;

    use super::*;

    fn folder(files: &[(&str, &str)]) -> (tempfile::TempDir, PathBuf) {
        let place = tempfile::tempdir().unwrap();
        let folder = place.path().join("given");
        for (name, text) in files {
            let file = folder.join(name);
            fs::create_dir_all(file.parent().unwrap()).unwrap();
            fs::write(file, text).unwrap();
        }
        (place, folder)
    }

    fn read(files: &[(&str, &str)]) -> Result<Manifest, ManifestError> {
        let (_place, folder) = folder(files);
        Manifest::read(&folder, &Map::new())
    }

    #[test]
    fn every_kind_is_read() {
        for (file, kind) in FILES {
            let manifest = read(&[(file, r#"{"name": "one", "version": "1.2"}"#), ("skills/a/SKILL.md", "")]).unwrap();
            assert_eq!((manifest.name.as_str(), manifest.kind), ("one", kind));
            assert_eq!((manifest.version.as_deref(), manifest.skills.len()), (Some("1.2"), 1));
        }
        let plain = read(&[("commands/a.md", "do"), (".mcp.json", "{}")]).unwrap();
        assert_eq!((plain.name.as_str(), plain.kind, plain.servers.len()), ("given", Kind::Plain, 1));
        assert!(matches!(read(&[("README.md", "")]), Err(ManifestError::Nothing(_))));
    }

    #[test]
    fn what_is_named_comes_to_what_is_usual() {
        let said = json!({
            "name": "one", "commands": ["./more/deploy.md", "./commands"], "agents": "./people",
            "hooks": {"hooks": {}}, "mcpServers": "./servers.json", "lspServers": {},
        });
        let manifest = read(&[
            (".claude-plugin/plugin.json", &said.to_string()),
            ("commands/a.md", ""),
            ("more/deploy.md", ""),
            ("people/a.md", ""),
            ("hooks/hooks.json", "{}"),
            ("servers.json", "{}"),
        ])
        .unwrap();
        assert_eq!((manifest.commands.len(), manifest.agents.len()), (2, 1));
        assert!(matches!(manifest.hooks.as_slice(), [Written::File(_), Written::Here(_)]));
        assert!(matches!(manifest.servers.as_slice(), [Written::File(file)] if file.ends_with("servers.json")));
        assert_eq!(manifest.without_effect, ["lspServers"]);
    }

    #[test]
    fn a_list_that_names_what_is_brought_means_that_alone() {
        let (_place, folder) = folder(&[("skills/a/SKILL.md", ""), ("skills/b/SKILL.md", ""), ("commands/x.md", "")]);
        let said = |said: Value| Manifest::read(&folder, said.as_object().unwrap()).unwrap();
        let named = said(json!({ "name": "one", "source": "./", "strict": false, "skills": ["./skills/b"] }));
        assert_eq!((named.skills, named.commands), (vec![folder.join("skills/b")], Vec::new()));
        let unnamed = said(json!({ "name": "one", "source": "./" }));
        assert_eq!((unnamed.skills.len(), unnamed.commands.len()), (1, 1));
    }

    #[test]
    fn nothing_leads_out_of_it() {
        for named in ["../x", "/etc", "a/../../x"] {
            let said = json!({ "name": "one", "skills": named }).to_string();
            let read = read(&[(".neco-plugin/plugin.json", &said)]);
            assert!(matches!(read, Err(ManifestError::LeadsOut(_))), "{named}: {read:?}");
        }
        let (place, folder) = folder(&[(".neco-plugin/plugin.json", r#"{"name": "one", "hooks": "./h.json"}"#)]);
        fs::write(place.path().join("h.json"), "{}").unwrap();
        std::os::unix::fs::symlink("../h.json", folder.join("h.json")).unwrap();
        assert!(matches!(Manifest::read(&folder, &Map::new()), Err(ManifestError::LeadsOut(_))));
    }

    #[test]
    fn a_name_is_a_name() {
        for name in ["", "../x", "a b", ".git", "-x", "a/b", "$(x)", &"a".repeat(65)] {
            let said = json!({ "name": name }).to_string();
            assert!(matches!(read(&[(".neco-plugin/plugin.json", &said)]), Err(ManifestError::Name(_))), "{name}");
        }
    }
}
