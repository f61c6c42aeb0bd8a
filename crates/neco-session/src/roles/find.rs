//! Where definitions are, and which counts when two have one name.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::{fmt, fs};

use neco_config::section::RoleSection;
use neco_config::with_plugin_root;
use neco_model::GROUPS;
use neco_proto::app::agents::{Level, Problem};
use neco_safety::policy::Telling;
use neco_safety::world::Files;
use neco_safety::{Policy, invisible};
use neco_workspace::GitFacts;

use super::builtin;
use super::definition::{Definition, Origin, RoleModel};
use super::read::read_definition;
use crate::sources::reader::{self, Reader, Unread, Whose};

/// Folders of definitions in every folder from the root of the repository to the workspace; the last one
/// counts. Of one that holds other texts too, only those that are definitions.
const FOLDERS: [(&str, Holds); 4] = [
    (".claude/agents", Holds::Definitions),
    (".agents", Holds::Anything),
    (".agents/agents", Holds::Definitions),
    (".neco/agents", Holds::Definitions),
];
/// Nobody has more of them in one folder.
const MOST_IN_FOLDER: usize = 200;
/// Files that can't be used and are told of.
const MOST_BROKEN: usize = 3;
const BIGGEST: usize = 256 * 1024;

#[derive(Clone, Copy, PartialEq, Eq)]
enum Holds {
    Definitions,
    Anything,
}

/// Whether a person trusts a file of the folder that is worked in, with this text.
pub type IsTrusted = Arc<dyn Fn(&DefinitionFile) -> bool + Send + Sync>;

/// Where definitions are besides the folder that is worked in.
#[derive(Clone)]
pub struct DefinitionPlaces {
    /// The person's own folders, and files; the last one counts.
    pub own: Vec<PathBuf>,
    /// Folders of plugins: in a definition that lies in one, the variables for it are replaced.
    pub plugins: Vec<PathBuf>,
    /// Whether a person trusts a file of the folder.
    pub trusted: IsTrusted,
    /// The home folder, for names.
    pub home: Option<PathBuf>,
    /// Judges which files of the folder may be told.
    pub telling: Telling,
    /// What the person's settings say of agents, by name; `-` and `_` are the same in it, as a variable has no `-`.
    pub roles: BTreeMap<String, RoleSection>,
}

impl fmt::Debug for DefinitionPlaces {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("DefinitionPlaces").field("own", &self.own).field("home", &self.home).finish_non_exhaustive()
    }
}

impl Default for DefinitionPlaces {
    fn default() -> Self {
        let telling = Policy::default().telling();
        Self {
            own: Vec::new(),
            plugins: Vec::new(),
            trusted: Arc::new(|_| false),
            home: None,
            telling,
            roles: BTreeMap::new(),
        }
    }
}

/// A file that may hold a definition.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DefinitionFile {
    /// Where it is.
    pub path: PathBuf,
    /// The folder that has to be trusted for it to count fully.
    pub folder: PathBuf,
    /// What it says.
    pub text: String,
}

/// All definitions that count in a folder.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Definitions {
    all: BTreeMap<String, Definition>,
    problems: Vec<Problem>,
    untrusted: Vec<(DefinitionFile, String)>,
    hidden: Vec<String>,
}

/// What other agents call those that come with them, and ours that do the same.
const ELSEWHERE: [(&str, &str); 1] = [("general-purpose", "general")];

/// There is no definition of a name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnknownDefinition {
    /// The name as it was given.
    pub name: String,
    /// What may have been meant.
    pub near: Option<String>,
    /// The names that there are.
    pub known: Vec<String>,
}

impl fmt::Display for UnknownDefinition {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "there is no agent {:?}", self.name)?;
        match &self.near {
            Some(near) => write!(f, "; did you mean {near}?"),
            None => write!(f, "; there are: {}", self.known.join(", ")),
        }
    }
}

impl std::error::Error for UnknownDefinition {}

impl Definitions {
    /// Those that come with the program.
    pub fn built_in() -> Self {
        let all = builtin::definitions().iter().map(|definition| (definition.name.clone(), definition.clone()));
        Self { all: all.collect(), ..Self::default() }
    }

    /// All that count for work in `cwd`. Reads files.
    pub fn load(places: &DefinitionPlaces, cwd: &Path) -> Self {
        let mut found = Self::load_own(places, cwd);
        found.of_folders(places, cwd);
        found.set(&places.roles);
        found
    }

    /// Those that come with the program and the person's own, whatever the folder brings.
    pub fn load_own(places: &DefinitionPlaces, cwd: &Path) -> Self {
        let mut found = Self::built_in();
        for folder in &places.own {
            for path in markdown_in(folder) {
                // The person's own files may be links to wherever they keep them.
                let Ok(bytes) = fs::read(&path) else { continue };
                let text = String::from_utf8_lossy(&bytes);
                let seen = invisible::seen(&text);
                found.note(&shown(&path, cwd, places.home.as_deref()), reader::hidden(&seen.found));
                let root = places.plugins.iter().find(|root| path.starts_with(root));
                let text = root.map_or_else(|| seen.text.to_string(), |root| with_plugin_root(&seen.text, root));
                let file = DefinitionFile { path: path.clone(), folder: folder.clone(), text };
                found.take(places, cwd, file, Origin::Person(path));
            }
        }
        found
    }

    /// What the settings say comes before what files say; what they say of nobody is told.
    fn set(&mut self, roles: &BTreeMap<String, RoleSection>) {
        let plain = |name: &str| name.to_lowercase().replace('-', "_");
        let is_known = |role: &str| self.all.keys().any(|name| plain(name) == plain(role));
        let unknown =
            roles.keys().filter(|role| !is_known(role)).filter_map(|role| Some((role, self.find(role).err()?)));
        let unknown: Vec<Problem> = unknown.map(|(role, why)| nobody(role, &why)).collect();
        self.problems.extend(unknown);
        for definition in self.all.values_mut() {
            let name = plain(&definition.name);
            roles.iter().filter(|(role, _)| plain(role) == name).for_each(|(_, role)| definition.set(role));
        }
    }

    /// The definition of a name.
    /// Fails when there is none; names what may have been meant.
    pub fn find(&self, name: &str) -> Result<&Definition, UnknownDefinition> {
        let wanted = name.trim().to_lowercase();
        let same = || ELSEWHERE.iter().find(|(theirs, _)| *theirs == wanted).and_then(|(_, own)| self.all.get(*own));
        self.all.get(&wanted).or_else(same).ok_or_else(|| {
            let score = |known: &String| strsim::jaro_winkler(known, &wanted);
            let near = self.all.keys().max_by(|one, other| score(one).total_cmp(&score(other)));
            UnknownDefinition {
                name: name.to_owned(),
                near: near.filter(|near| score(near) > 0.75).cloned(),
                known: self.all.keys().cloned().collect(),
            }
        })
    }

    /// All of them, by name.
    pub fn iter(&self) -> impl Iterator<Item = &Definition> {
        self.all.values()
    }

    /// What is wrong with files.
    pub fn problems(&self) -> &[Problem] {
        &self.problems
    }

    /// Files that would do something that only a person's trust lets them, with what that is.
    pub fn untrusted(&self) -> &[(DefinitionFile, String)] {
        &self.untrusted
    }

    /// What the person should know of files in which something can't be seen.
    pub fn hidden(&self) -> impl Iterator<Item = String> + '_ {
        self.hidden.iter().cloned()
    }

    /// That files of agents can't be used, for the person; nothing when all can.
    pub(crate) fn broken(&self) -> Option<String> {
        let broken: Vec<String> =
            self.problems.iter().filter(|problem| problem.level == Level::Error).map(ToString::to_string).collect();
        let more = match broken.len().saturating_sub(MOST_BROKEN) {
            0 => String::new(),
            more => format!("; and {more} more"),
        };
        let first = broken.get(..MOST_BROKEN.min(broken.len()))?.join("; ");
        let text = format!("Agents that can't be used: {first}{more} (`neco agents validate` lists them)");
        (!broken.is_empty()).then_some(text)
    }

    fn of_folders(&mut self, places: &DefinitionPlaces, cwd: &Path) {
        let root = GitFacts::of(cwd).map_or_else(|| cwd.to_path_buf(), |facts| facts.root);
        let Ok(files) = Files::new(&root, Vec::new()) else { return };
        let reader = Reader::new(&files, &places.telling, Whose::Project);
        let mut folders: Vec<&Path> = cwd.ancestors().take_while(|folder| folder.starts_with(&root)).collect();
        folders.reverse();
        for folder in folders {
            for (name, holds) in FOLDERS {
                for path in markdown_in(&folder.join(name)) {
                    // A link of a repository could lead to what is not its own, or may not be told.
                    let shown = shown(&path, cwd, places.home.as_deref());
                    let (text, warnings) = match reader.read(&path, BIGGEST) {
                        Ok(read) => (read.text, read.warnings),
                        Err(Unread::Missing | Unread::Outside) => continue,
                        Err(Unread::Refused(why)) => {
                            let what = format!("it is not read: {why}");
                            self.problems.push(Problem { file: shown, line: 1, level: Level::Error, what });
                            continue;
                        }
                    };
                    if holds == Holds::Anything && !looks_like_one(&text) {
                        continue;
                    }
                    self.note(&shown, warnings);
                    let file = DefinitionFile { path: path.clone(), folder: folder.to_path_buf(), text };
                    self.take(places, cwd, file, Origin::Folder(path));
                }
            }
        }
    }

    /// The person is to know something of a file.
    fn note(&mut self, shown: &str, warnings: impl IntoIterator<Item = String>) {
        self.hidden.extend(warnings.into_iter().map(|warning| format!("File {shown}: {warning}")));
    }

    fn take(&mut self, places: &DefinitionPlaces, cwd: &Path, file: DefinitionFile, origin: Origin) {
        let shown = shown(&file.path, cwd, places.home.as_deref());
        let stem = file.path.file_stem().map(|stem| stem.to_string_lossy().into_owned()).unwrap_or_default();
        let (definition, problems) = read_definition(&file.text, &shown, &stem, origin);
        self.problems.extend(problems);
        let Some(definition) = definition else { return };
        match definition.origin {
            Origin::BuiltIn | Origin::Person(_) => self.put(definition),
            Origin::Folder(_) => self.put_of_folder(places, file, &shown, definition),
        }
    }

    /// A folder's definition does what trust lets it: without it, nobody else's is replaced and no model is
    /// chosen but by its group.
    fn put_of_folder(
        &mut self,
        places: &DefinitionPlaces,
        file: DefinitionFile,
        shown: &str,
        mut definition: Definition,
    ) {
        let replaces = self.all.get(&definition.name).filter(|other| !matches!(other.origin, Origin::Folder(_)));
        let replaces = replaces.map(|other| format!("replaces the agent {} ({})", other.name, other.origin.name()));
        let chooses = match &definition.model {
            RoleModel::Named(model) if !GROUPS.contains(&model.as_str()) => Some(format!("asks the model {model}")),
            RoleModel::Named(_) | RoleModel::OfType | RoleModel::OfParent | RoleModel::Set(_) => None,
        };
        if replaces.is_none() && chooses.is_none() {
            return self.put(definition);
        }
        let wants = [replaces.clone(), chooses.clone()].into_iter().flatten().collect::<Vec<_>>().join(" and ");
        let trusted = (places.trusted)(&file);
        self.untrusted.push((file, wants.clone()));
        if trusted {
            return self.put(definition);
        }
        let what = format!("it {wants}, which counts only when the folder is trusted: `neco trust` or /trust");
        self.problems.push(Problem { file: shown.to_owned(), line: 1, level: Level::Warning, what });
        if replaces.is_none() {
            definition.model = RoleModel::OfType;
            self.put(definition);
        }
    }

    fn put(&mut self, definition: Definition) {
        self.all.insert(definition.name.clone(), definition);
    }
}

/// That settings are for an agent that is not there.
fn nobody(role: &str, why: &UnknownDefinition) -> Problem {
    let variable = role.to_uppercase().replace('-', "_");
    let what = format!("agents.roles.{role} (or AGENT_MODEL_{variable} in the environment) counts for nobody: {why}");
    Problem { file: "settings".to_owned(), line: 1, level: Level::Warning, what }
}

/// Whether a text in a folder of many things is a definition: it has a head with a description.
fn looks_like_one(text: &str) -> bool {
    let has = |name: &str| {
        text.lines().skip(1).take_while(|line| line.trim_end() != "---").any(|line| line.starts_with(name))
    };
    text.trim_start_matches('\u{feff}').starts_with("---") && has("description:") && has("name:")
}

fn shown(path: &Path, cwd: &Path, home: Option<&Path>) -> String {
    match (path.strip_prefix(cwd), home.and_then(|home| path.strip_prefix(home).ok())) {
        (Ok(inside), _) => inside.display().to_string(),
        (Err(_), Some(inside)) => format!("~/{}", inside.display()),
        (Err(_), None) => path.display().to_string(),
    }
}

/// The Markdown files of a folder, in the order of their names; a file stands for itself.
fn markdown_in(folder: &Path) -> Vec<PathBuf> {
    if folder.is_file() {
        return vec![folder.to_owned()];
    }
    reader::files_in(folder, MOST_IN_FOLDER, |path| reader::ends_with(path, &["md"]) && path.is_file())
}
