//! Where scripted tools come from: the user's settings, files in a folder of theirs, and those of a project.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use neco_config::section::{ScriptType, ScriptedToolSection, ToolsSection};
use neco_config::{Env, Loaded, Notice, ToolFile, read_small_file, tool_files, tool_files_in};
use neco_proto::visible::visible_line;
use neco_safety::tools::own_name;
use neco_toolkit::schema::ArgumentSchema;
use serde_json::{Value, json};

use super::interpreter;
use super::modules::{KnownModules, ModuleError, hash_of};
use super::script::{Code, Script};
use crate::plugins::ActivePlugin;

/// The longest name of a tool.
const LONGEST_NAME: usize = 64;

/// What the names of tools of servers begin with.
const OF_SERVERS: &str = "mcp__";

/// Bytes of a script: the system takes little more as one argument.
const LONGEST: usize = 100_000;

/// How paths of scripts end.
const ENDINGS: [&str; 8] = [".sh", ".bash", ".py", ".js", ".mjs", ".cjs", ".wasm", ".wat"];

/// The scripted tools that there are, trusted or not.
#[derive(Debug, Default)]
pub struct FoundScripts {
    /// The user's first, then the project's, the nearest first; of several with one name the first counts.
    pub scripts: Vec<FoundScript>,
    /// What is to be said about them.
    pub notices: Vec<String>,
}

/// A scripted tool that somebody wrote down.
#[derive(Clone, Debug)]
pub struct FoundScript {
    /// The tool.
    pub script: Script,
    /// The folder that brings it and has to be trusted; none for the user's own.
    pub folder: Option<PathBuf>,
    /// What trust in it is trust in: what is said of it, and what it runs.
    pub hash: String,
    /// What it says and runs, for the person who decides.
    pub says: String,
}

/// Why a tool can't be used as it is written.
#[derive(Debug, thiserror::Error)]
enum Flaw {
    #[error("a name has 1 to {LONGEST_NAME} letters, digits, `_` and `-`; give it another one")]
    Name,
    #[error("{0} is a tool that comes with Neco, or a name for one; give it another one")]
    Taken(String),
    #[error("another tool of that name counts, of {0}")]
    Shadowed(String),
    #[error("it has no `script`")]
    Nothing,
    #[error("its `script` {0} can't be read: {1}")]
    Read(String, std::io::Error),
    #[error("its `script` {0} leads out of the folder that brings it")]
    Outside(String),
    #[error("its `script` is longer than {LONGEST} bytes; have it call a program")]
    Long,
    #[error("its `script` is no text")]
    NoText,
    #[error("its `script` {0} {1}")]
    Module(String, ModuleError),
    #[error("its `parameters` are no JSON schema of an object: {0}")]
    Schema(String),
}

/// Looks for all scripted tools that there are for work in `folder`, with these plugins. Reads files; runs nothing.
pub fn find(env: &Env, folder: &Path, loaded: &Loaded, plugins: &[ActivePlugin]) -> FoundScripts {
    let settings = loaded.config.scripted_tools.iter().map(|section| Written::of_settings(env, section));
    let (files, said) = tool_files(env, folder, plugins.iter().flat_map(|plugin| &plugin.manifest.tools));
    let files = files.iter().map(|file| Written::of_file(file, plugins));
    let mut modules = KnownModules::new(env.data_dir());
    let found = FoundScripts::read(settings.chain(files), &said, env, &loaded.config.tools, &mut modules);
    modules.close();
    found
}

/// Those of one plugin alone, as [`find()`] reads them.
pub fn of_plugin(env: &Env, limits: &ToolsSection, plugin: &ActivePlugin) -> FoundScripts {
    let (files, said) = tool_files_in(env, &plugin.manifest.tools);
    let files = files.iter().map(|file| Written::of_file(file, std::slice::from_ref(plugin)));
    // Nothing is known of a plugin that is looked at before the yes, and nothing is kept.
    FoundScripts::read(files, &said, env, limits, &mut KnownModules::default())
}

impl FoundScripts {
    fn read<'a>(
        all: impl Iterator<Item = Written<'a>>,
        said: &[Notice],
        env: &Env,
        limits: &ToolsSection,
        modules: &mut KnownModules,
    ) -> Self {
        let mut found = Self { notices: said.iter().map(ToString::to_string).collect(), ..Self::default() };
        let mut names: BTreeSet<String> = BTreeSet::new();
        for written in all {
            match written.read(env, limits, modules) {
                Ok(script) if !names.insert(script.script.name.to_lowercase()) => {
                    let is_same = |one: &&FoundScript| one.script.name.eq_ignore_ascii_case(&script.script.name);
                    let other = found.scripts.iter().find(is_same).map(|one| one.script.file.clone());
                    found.notices.push(written.left_out(&Flaw::Shadowed(other.unwrap_or_default())));
                }
                Ok(script) => {
                    if script.script.description.trim().is_empty() {
                        let (name, file) = (&script.script.name, &written.file);
                        let words =
                            format!("The scripted tool {name} of {file} has no `description`: no model knows its use");
                        found.notices.push(words);
                    }
                    found.scripts.push(script);
                }
                Err(flaw) => found.notices.push(written.left_out(&flaw)),
            }
        }
        found
    }
}

/// A tool as somebody wrote it down.
struct Written<'a> {
    section: &'a ScriptedToolSection,
    /// The file that it stands in, as people are shown it.
    file: String,
    /// The folder that a path in it leads on from.
    base: PathBuf,
    /// The whole file, where the tool has one of its own.
    own: Option<&'a ToolFile>,
    /// The folder of the plugin that brings it.
    plugin: Option<&'a Path>,
}

impl<'a> Written<'a> {
    fn of_settings(env: &Env, section: &'a ScriptedToolSection) -> Self {
        let base = env.config_dir().to_owned();
        Self { section, file: env.shown(&base.join("config.toml")), base, own: None, plugin: None }
    }

    fn of_file(file: &'a ToolFile, plugins: &'a [ActivePlugin]) -> Self {
        let base = file.path.parent().unwrap_or(Path::new("/")).to_owned();
        let brings = |plugin: &&ActivePlugin| file.folder.is_none() && file.path.starts_with(&plugin.folder);
        let plugin = plugins.iter().find(brings).map(|plugin| plugin.folder.as_path());
        Self { section: &file.section, file: file.shown.clone(), base, own: Some(file), plugin }
    }

    fn folder(&self) -> Option<&Path> {
        self.own.and_then(|file| file.folder.as_deref())
    }

    fn left_out(&self, flaw: &Flaw) -> String {
        let name: String = visible_line(&self.section.name).chars().take(LONGEST_NAME).collect();
        format!("The scripted tool {name:?} of {} is left out: {flaw}", self.file)
    }

    /// The tool that is meant.
    fn read(&self, env: &Env, limits: &ToolsSection, modules: &mut KnownModules) -> Result<FoundScript, Flaw> {
        let section = self.section;
        check_name(&section.name)?;
        let parameters = parameters(&section.parameters)?;
        let code = self.code(env, modules)?;
        let folder = self.folder().map(Path::to_owned);
        let hash = folder.as_ref().map(|_| self.hash(&code)).unwrap_or_default();
        let says = folder.as_deref().or(self.plugin).map(|_| self.says(&code)).unwrap_or_default();
        let script = Script {
            name: section.name.clone(),
            description: section.description.clone(),
            kind: section.script_type,
            code,
            parameters,
            timeout: timeout(section, limits),
            network: section.network,
            file: self.file.clone(),
            plugin: self.plugin.map(Path::to_owned),
        };
        Ok(FoundScript { script, folder, hash, says })
    }

    /// What it runs: the file itself, the file that is named, or the text.
    fn code(&self, env: &Env, modules: &mut KnownModules) -> Result<Code, Flaw> {
        let script = self.section.script.trim();
        match self.own {
            Some(file) if script.is_empty() => return text(file.text.clone(), Some(file.path.clone())),
            Some(_) | None if script.is_empty() => return Err(Flaw::Nothing),
            Some(_) | None => {}
        }
        let Some(path) = self.path(env, script) else { return text(self.section.script.clone(), None) };
        if let Some(folder) = self.folder().or(self.plugin) {
            let root = folder.canonicalize();
            match (root, path.canonicalize()) {
                (Ok(root), Ok(path)) if path.starts_with(&root) => {}
                // What is not there now may be when it is read.
                (Ok(_), Err(error)) => return Err(Flaw::Read(script.to_owned(), error)),
                (_, _) => return Err(Flaw::Outside(script.to_owned())),
            }
        }
        let read = |error| Flaw::Read(script.to_owned(), error);
        if self.section.script_type == ScriptType::Wasm {
            let hash = modules.hash(&path, self.folder().is_some());
            let hash = hash.map_err(|error| Flaw::Module(script.to_owned(), error))?;
            return Ok(Code::Module { path, hash });
        }
        let missing = || read(std::io::Error::from(std::io::ErrorKind::NotFound));
        let bytes = read_small_file(&path, self.folder().is_some()).map_err(read)?.ok_or_else(missing)?;
        text(String::from_utf8(bytes).map_err(|_| Flaw::NoText)?, Some(path))
    }

    /// The file that a script is; nothing where it is a text. A bare name is one where there is such a file.
    fn path(&self, env: &Env, script: &str) -> Option<PathBuf> {
        if script.contains('\n') {
            return None;
        }
        let path = match script.strip_prefix("~/") {
            Some(rest) => env.home().join(rest),
            None => self.base.join(script),
        };
        let is_word = !script.contains(char::is_whitespace);
        let is_meant = self.section.script_type == ScriptType::Wasm
            || is_word && ENDINGS.iter().any(|ending| script.ends_with(ending));
        (is_meant || path.is_file()).then_some(path)
    }

    /// What trust in it is trust in.
    fn hash(&self, code: &Code) -> String {
        let own = self.own.map(|file| file.text.as_str()).unwrap_or_default();
        let code = match code {
            Code::Text { text, .. } => text,
            Code::Module { hash, .. } => hash.as_str(),
        };
        hash_of(format!("script\0{}\0{own}\0{code}", self.section.name).as_bytes())
    }

    /// What somebody reads who decides about it.
    fn says(&self, code: &Code) -> String {
        let own = self.own.map(|file| file.text.as_str()).unwrap_or_default();
        match code {
            Code::Text { text, .. } if **text == *own => own.to_owned(),
            Code::Text { text, .. } => format!("{own}\n{text}"),
            Code::Module { path, .. } => {
                format!("{own}\nruns {} with {}", path.display(), interpreter::named(ScriptType::Wasm))
            }
        }
    }
}

fn check_name(name: &str) -> Result<(), Flaw> {
    let fits = |char: char| char.is_ascii_alphanumeric() || matches!(char, '_' | '-');
    if !(1..=LONGEST_NAME).contains(&name.len()) || !name.chars().all(fits) || name.starts_with(OF_SERVERS) {
        return Err(Flaw::Name);
    }
    own_name(name).map_or(Ok(()), |own| Err(Flaw::Taken(own.to_owned())))
}

/// The schema of an object; without one any object will do.
fn parameters(written: &Value) -> Result<Value, Flaw> {
    let mut schema = if written.is_null() { json!({}) } else { written.clone() };
    let Some(fields) = schema.as_object_mut() else { return Err(Flaw::Schema("it is no table".to_owned())) };
    fields.entry("type").or_insert_with(|| json!("object"));
    if fields.get("type") != Some(&json!("object")) {
        return Err(Flaw::Schema("its type is not \"object\"".to_owned()));
    }
    fields.entry("properties").or_insert_with(|| json!({}));
    match ArgumentSchema::new(schema.clone()).problem() {
        Some(problem) => Err(Flaw::Schema(problem)),
        None => Ok(schema),
    }
}

fn text(text: String, path: Option<PathBuf>) -> Result<Code, Flaw> {
    match text.len() > LONGEST {
        true => Err(Flaw::Long),
        false if text.contains('\0') => Err(Flaw::NoText),
        false => Ok(Code::Text { text: Arc::from(text), path }),
    }
}

/// How long a call may take.
fn timeout(section: &ScriptedToolSection, limits: &ToolsSection) -> Duration {
    let seconds = section.timeout.unwrap_or(limits.command_timeout).min(limits.max_command_timeout);
    Duration::try_from_secs_f64(seconds).ok().filter(|time| !time.is_zero()).unwrap_or(Duration::from_secs(120))
}
