//! Commands after a slash that a person or a folder brings along: a file each, of ours or in the way of another agent,
//! which is what is said to the agent. Those of a folder count only when they were seen and trusted.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};

use neco_config::Env;
use neco_config::front_matter::{Field, Parted, Reading, part};
use neco_config::{stays_in, with_plugin_root};
use neco_ext::arguments::Given;
use neco_ext::plugins::{ActivePlugin, PluginStore};
use neco_ext::skills::{argument_names, tools};
use neco_proto::app::AppError;
use neco_proto::app::commands::CommandPart;
use neco_proto::clean::clean_line;
use neco_safety::invisible;
use neco_view::slash::Custom;
use neco_workspace::GitFacts;
use sha2::{Digest, Sha256};
use toml_edit::{DocumentMut, TomlError};

use crate::error::invalid;
use crate::workspace::command_text::{self, Marks};
use crate::workspace::opencode_commands;

/// Bytes of one file.
const MOST_BYTES: u64 = 64 * 1024;

/// Commands that are looked for.
const MOST: usize = 500;

/// Folders within folders, and entries of all of them that are looked at.
const DEPTH: usize = 4;
const MOST_ENTRIES: usize = 10_000;

/// Where commands are.
struct Place {
    /// Below a project; none where another agent has them at home alone.
    project: Option<&'static str>,
    /// Below the home folder; ours are in the folder of settings.
    home: Option<&'static str>,
    /// How the names of files end.
    ending: &'static str,
    marks: Marks,
    /// What another agent puts before their names, which works as well.
    before: Option<&'static str>,
}

impl Place {
    const fn new(project: &'static str, home: Option<&'static str>, ending: &'static str, marks: Marks) -> Self {
        Self { project: Some(project), home, ending, marks, before: None }
    }
}

/// All places, those that count first first.
const PLACES: [Place; 6] = [
    Place::new(".neco/commands", None, ".md", Marks::OURS),
    Place::new(".claude/commands", Some(".claude/commands"), ".md", Marks::DOLLARS),
    Place::new(".opencode/command", Some(".config/opencode/command"), ".md", Marks::DOLLARS),
    Place::new(".opencode/commands", Some(".config/opencode/commands"), ".md", Marks::DOLLARS),
    Place::new(".gemini/commands", Some(".gemini/commands"), ".toml", Marks::BRACES),
    Place { project: None, before: Some("prompts:"), ..Place::new("", Some(".codex/prompts"), ".md", Marks::KEYS) },
];

/// Fields that other agents know and that have no effect here.
const WITHOUT_EFFECT: [&str; 1] = ["disable_model_invocation"];

/// What a model is called that is the one of the session.
const SAME_MODEL: &str = "inherit";

/// A command of a person or a folder.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OwnCommand {
    /// What a window shows of it.
    pub custom: Custom,
    /// What it says.
    text: String,
    marks: Marks,
    /// The names that its file has for what is written behind it, in their order.
    arguments: Vec<String>,
    /// The model that it wants.
    pub model: Option<String>,
    /// What its file allows an agent that does what it says.
    pub allowed_tools: Vec<String>,
    /// The agent that is to do it, by the name that its file has for it.
    pub agent: Option<String>,
    /// Whether another agent is to do it.
    is_subtask: bool,
    /// Its file.
    pub file: PathBuf,
    /// The folder that has to be trusted; none for the person's own.
    pub folder: Option<PathBuf>,
    /// What trust in it is trust in.
    pub hash: String,
    /// The fields at its top that have no effect, as they are written.
    ignored: Vec<String>,
    /// Why it can't be used, where its file can't be read.
    pub broken: Option<String>,
}

impl OwnCommand {
    /// A command of a file, with what that says of it.
    pub(super) fn new(
        name: &str,
        head: Head,
        marks: Marks,
        (file, folder): (&Path, Option<&Path>),
        hash: String,
    ) -> Self {
        let first = || head.body.lines().map(|line| line.trim_start_matches(['#', ' '])).find(|line| !line.is_empty());
        let help = head.help.clone().unwrap_or_else(|| first().unwrap_or_default().chars().take(72).collect());
        Self {
            custom: Custom {
                name: name.to_owned(),
                argument: clean_line(&head.argument),
                help: clean_line(&help),
                is_skill: false,
                also: None,
            },
            // What is said in the person's place, they see.
            text: invisible::seen(head.body.trim()).text.into_owned(),
            marks,
            arguments: head.arguments,
            model: head.model,
            allowed_tools: head.allowed_tools,
            agent: head.agent,
            is_subtask: head.is_subtask,
            file: file.to_owned(),
            folder: folder.map(Path::to_owned),
            hash,
            ignored: head.ignored,
            broken: None,
        }
    }

    /// One whose file can't be read: it is listed, and whoever uses it is told.
    pub(super) fn broken(name: &str, marks: Marks, at: (&Path, Option<&Path>), why: &str) -> Self {
        let why = clean_line(why);
        let head = Head { help: Some(format!("can't be used: {why}")), ..Head::default() };
        Self { broken: Some(why), ..Self::new(name, head, marks, at, String::new()) }
    }

    /// What it says, as it is written.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// What is said to the agent, with `argument` in its places; behind it when it has none.
    pub fn say(&self, argument: &str, by: &Doer<'_>) -> String {
        format!("{}{}", self.beginning(by), command_text::say(&self.text, self.marks, &self.given(argument)))
    }

    fn given(&self, argument: &str) -> Given {
        command_text::given(&self.text, self.marks, &self.arguments, argument)
    }

    /// The keys that its text has places for and that nothing was written for, as Codex has them.
    pub fn missing(&self, argument: &str) -> Vec<String> {
        let given = self.given(argument);
        let missing = given.named().filter(|(_, value)| self.marks.keys && value.is_none());
        missing.map(|(name, _)| name.to_owned()).collect()
    }

    /// Whether it is called so, or otherwise so as well.
    pub fn is_called(&self, name: &str) -> bool {
        self.custom.name == name || self.custom.also.as_deref() == Some(name)
    }

    /// The same in parts, with its command lines to run; none where it has no such line.
    pub fn parts(&self, argument: &str, by: &Doer<'_>) -> Vec<CommandPart> {
        let mut parts = command_text::parts(&self.text, self.marks, &self.given(argument));
        if let Some(first) = parts.first_mut().filter(|first| first.run.is_none()) {
            first.text.insert_str(0, &self.beginning(by));
        }
        parts
    }

    /// Its command lines, as they are written.
    pub fn lines(&self) -> Vec<&str> {
        command_text::lines(&self.text, self.marks)
    }

    /// Who does it, where `is_known` says whether an agent of a name is there.
    pub fn doer(&self, is_known: impl Fn(&str) -> bool) -> Doer<'_> {
        match self.agent.as_deref() {
            None => Doer::Session,
            Some(agent) if is_known(agent) => Doer::Agent(agent),
            // The agents of opencode that every session has.
            Some("build") => Doer::Session,
            Some("plan") => Doer::Plan,
            Some(agent) => Doer::Unknown(agent),
        }
    }

    /// What stands before a command that the session's own agent is not just to do.
    fn beginning(&self, by: &Doer<'_>) -> String {
        match by {
            Doer::Agent(agent) => {
                format!("Have the agent {agent:?} do this with the task tool, and tell me its result:\n\n")
            }
            Doer::Plan => "Make a plan for this, and change nothing:\n\n".to_owned(),
            Doer::Session | Doer::Unknown(_) if self.is_subtask => {
                "Have another agent do this with the task tool, and tell me its result:\n\n".to_owned()
            }
            Doer::Session | Doer::Unknown(_) => String::new(),
        }
    }

    /// What a person should know of its file.
    pub fn notes(&self) -> Vec<String> {
        let name = &self.custom.name;
        let note = |field: &String| format!("/{name}: `{field}` at the top of its file has no effect");
        let mut notes: Vec<String> = self.ignored.iter().map(note).collect();
        if self.folder.is_some() && !self.allowed_tools.is_empty() {
            notes.push(format!("/{name}: what its file allows has no effect: a project can't allow"));
        }
        notes
    }
}

/// Who does what a command says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Doer<'a> {
    /// The agent of the session.
    Session,
    /// The agent of the session, which only plans.
    Plan,
    /// An agent of this name.
    Agent(&'a str),
    /// The agent of the session, as there is none of this name.
    Unknown(&'a str),
}

impl Doer<'_> {
    /// What a person should know of it.
    pub fn note(&self, command: &str) -> Option<String> {
        match self {
            Self::Session | Self::Agent(_) => None,
            Self::Plan => {
                Some(format!("/{command}: `agent: plan` asks for a plan; --mode plan, or Shift-Tab, keeps to it"))
            }
            Self::Unknown(agent) => {
                Some(format!("/{command}: there is no agent {agent:?} here, so that of the session does it"))
            }
        }
    }
}

/// All commands for work in `folder`, by name; of two with one name the nearest that may be run counts, as of skills:
/// the project's, then the person's own, then a plugin's.
pub fn find(env: &Env, folder: &Path, may_run: impl Fn(&OwnCommand) -> bool) -> Vec<OwnCommand> {
    let mut found = BTreeMap::new();
    let (on, off): (Vec<OwnCommand>, Vec<OwnCommand>) = of_folder(folder).into_iter().partition(may_run);
    add_all(&mut found, on);
    add_all(&mut found, of_person(env));
    for plugin in PluginStore::new(env.config_dir()).active(folder).0 {
        let mut commands = of_plugin(&plugin);
        commands.iter_mut().for_each(|command| command.text = with_plugin_root(&command.text, &plugin.folder));
        add_all(&mut found, commands);
    }
    add_all(&mut found, off);
    found.into_values().collect()
}

/// The person's own.
pub fn of_person(env: &Env) -> Vec<OwnCommand> {
    let place_of = |place: &Place| match place.home {
        Some(home) => env.home().join(home),
        None => env.config_dir().join("commands"),
    };
    let of_files = PLACES.iter().flat_map(|place| read_all(&place_of(place), place, None));
    of_files.chain(opencode_commands::of_person(env)).collect()
}

/// Those of a plugin as they are written, with its name before theirs. The person said yes to them, so they are their
/// own.
pub(crate) fn of_plugin(plugin: &ActivePlugin) -> Vec<OwnCommand> {
    let mut found = Vec::new();
    for root in &plugin.manifest.commands {
        for place in [&PLACES[1], &PLACES[4]] {
            let (name, ending) = (root.file_name().and_then(|name| name.to_str()), place.ending);
            match name.and_then(|name| name.strip_suffix(ending)).filter(|_| root.is_file()) {
                Some(name) => found.extend(read(root, name, place, None)),
                None => found.extend(read_all(root, place, None)),
            }
        }
    }
    for command in &mut found {
        command.custom.name = format!("{}:{}", plugin.name, command.custom.name);
        // Who installs a plugin is not shown what its commands would allow.
        command.allowed_tools.clear();
    }
    found
}

fn add_all(found: &mut BTreeMap<String, OwnCommand>, commands: Vec<OwnCommand>) {
    for command in commands {
        found.entry(command.custom.name.clone()).or_insert(command);
    }
}

/// Those of the project that `folder` lies in, the nearest first.
pub fn of_folder(folder: &Path) -> Vec<OwnCommand> {
    let root = GitFacts::of(folder).map_or_else(|| folder.to_owned(), |facts| facts.root);
    let folders = folder.ancestors().take_while(|above| above.starts_with(&root));
    let of = |above: &Path| {
        let places = PLACES.iter().filter_map(|place| Some((place, above.join(place.project?))));
        places.flat_map(|(place, root)| read_all(&root, place, Some(above))).collect::<Vec<_>>()
    };
    folders.flat_map(|above| of(above).into_iter().chain(opencode_commands::of_project(above))).collect()
}

fn read_all(root: &Path, place: &Place, folder: Option<&Path>) -> Vec<OwnCommand> {
    let (mut found, mut looked_at) = (Vec::new(), 0);
    // A link of the person's own leads where they like, as those who keep their settings together make them; one of a
    // folder could lead anywhere.
    if folder.is_some_and(|folder| !stays_in(root, folder)) {
        return found;
    }
    let mut open = vec![(root.to_owned(), String::new(), 0)];
    while let Some((here, before, depth)) = open.pop() {
        let Ok(entries) = std::fs::read_dir(&here) else { continue };
        for entry in entries.flatten() {
            looked_at += 1;
            if looked_at > MOST_ENTRIES {
                return found;
            }
            let (Ok(kind), Some(name)) = (entry.file_type(), entry.file_name().to_str().map(str::to_owned)) else {
                continue;
            };
            let path = entry.path();
            if kind.is_dir() && depth < DEPTH {
                open.push((path, format!("{before}{name}:"), depth + 1));
            } else if let Some(name) = name.strip_suffix(place.ending).filter(|_| kind.is_file() && found.len() < MOST)
            {
                found.extend(read(&path, &format!("{before}{name}"), place, folder));
            }
        }
    }
    found
}

fn read(file: &Path, name: &str, place: &Place, folder: Option<&Path>) -> Option<OwnCommand> {
    if !is_name(name) {
        return None;
    }
    let marks = place.marks;
    let broken = |why: &str| Some(OwnCommand::broken(name, marks, (file, folder), why));
    let mut bytes = Vec::new();
    if let Err(error) = File::open(file).and_then(|file| file.take(MOST_BYTES + 1).read_to_end(&mut bytes)) {
        return broken(&error.to_string());
    }
    if bytes.len() as u64 > MOST_BYTES {
        return broken(&format!("it has more than {} KB", MOST_BYTES / 1024));
    }
    let Ok(text) = String::from_utf8(bytes) else { return broken("it is not UTF-8") };
    // In another place the same text may run what was words here.
    let hash = hash(&format!("command\0{marks:?}\0{name}\0{text}"));
    let head = match marks == Marks::BRACES {
        true => Head::of_toml(&text),
        false => Ok(Head::of_markdown(&text)),
    };
    match head {
        Ok(head) => {
            let mut command = OwnCommand::new(name, head, marks, (file, folder), hash);
            command.custom.also = place.before.map(|before| format!("{before}{name}"));
            Some(command)
        }
        Err(why) => broken(&why.message),
    }
}

/// Whether a command can be called so.
pub(super) fn is_name(name: &str) -> bool {
    !name.is_empty() && !name.contains(|char: char| char.is_whitespace() || char.is_control() || char == '/')
}

/// What a file says of its command.
#[derive(Default)]
pub(super) struct Head {
    pub(super) body: String,
    pub(super) help: Option<String>,
    pub(super) argument: String,
    pub(super) arguments: Vec<String>,
    pub(super) model: Option<String>,
    pub(super) allowed_tools: Vec<String>,
    pub(super) agent: Option<String>,
    pub(super) is_subtask: bool,
    pub(super) ignored: Vec<String>,
}

impl Head {
    fn of_markdown(text: &str) -> Self {
        let (about, body) = match part(text, Reading::Loose) {
            Parted::Whole { fields, body, .. } => (fields, body),
            Parted::Open | Parted::None => (Vec::new(), text),
        };
        let field = |name: &str| about.iter().find(|field| field.name == name);
        let line = |name: &str| field(name).map(Field::one_line).filter(|line| !line.is_empty());
        let ignored = about.iter().filter(|field| WITHOUT_EFFECT.contains(&field.name.as_str()));
        let agent = line("agent").map(|agent| clean_line(&agent));
        let arguments = field("arguments").map(argument_names).unwrap_or_default();
        let is_fork = line("context").is_some_and(|context| context == "fork");
        Self {
            body: body.to_owned(),
            help: line("description"),
            argument: line("argument_hint").unwrap_or_else(|| arguments.join(" ")),
            arguments,
            model: line("model").filter(|model| model != SAME_MODEL),
            allowed_tools: field("allowed_tools").map(tools).unwrap_or_default(),
            agent,
            is_subtask: is_fork || line("subtask").is_some_and(|is| is == "true"),
            ignored: ignored.map(|field| clean_line(&field.written)).collect(),
        }
    }

    /// Fails with why the file is none of a command.
    fn of_toml(text: &str) -> Result<Self, AppError> {
        let not_toml = |error: TomlError| invalid(format!("it is not TOML: {}", error.message()));
        let table: DocumentMut = text.parse().map_err(not_toml)?;
        let field = |name: &str| table.get(name).and_then(|item| item.as_str()).map(str::to_owned);
        let body = field("prompt").ok_or_else(|| invalid("it has no `prompt`"))?;
        Ok(Self { body, help: field("description"), ..Self::default() })
    }
}

/// What tells whether a text is the one that was seen.
pub(crate) fn hash(text: &str) -> String {
    Sha256::digest(text.as_bytes()).iter().map(|byte| format!("{byte:02x}")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn house() -> (tempfile::TempDir, Env, PathBuf) {
        let folder = tempfile::tempdir().unwrap();
        let home = folder.path().join("home");
        let project = folder.path().join("project");
        let write = |path: PathBuf, text: &str| {
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, text).unwrap();
        };
        write(home.join(".claude/commands/ship.md"), "Ship it: $ARGUMENTS");
        write(
            project.join(".neco/commands/issue.md"),
            "---\ndescription: \"Mends an issue\"\nargument-hint: NUMBER [WHO]\n---\nMend issue #$1 for $2, cost $5x $x.\n",
        );
        write(project.join(".claude/commands/git/commit.md"), "# Commit\nwith a good message");
        write(project.join(".claude/commands/ship.md"), "the folder's");
        let env = Env::for_test([], &home);
        (folder, env, project)
    }

    #[test]
    fn the_nearest_that_may_be_run_counts() {
        let (_kept, env, project) = house();
        let trusted = find(&env, &project, |_| true);
        assert_eq!(
            (trusted[2].folder.as_deref(), trusted[2].say("", &Doer::Session)),
            (Some(project.as_path()), "the folder's".into())
        );
        let found = find(&env, &project, |_| false);
        let names: Vec<&str> = found.iter().map(|command| command.custom.name.as_str()).collect();
        assert_eq!(names, ["git:commit", "issue", "ship"]);
        assert_eq!(found[2].folder, None);
        assert_eq!(found[2].say("today", &Doer::Session), "Ship it: today");
        assert_eq!(found[0].folder.as_deref(), Some(project.as_path()));
        assert_eq!(found[0].custom.help, "Commit");
        assert_eq!(found[0].say("now", &Doer::Session), "# Commit\nwith a good message\n\nnow");
    }

    fn named(env: &Env, project: &Path, name: &str) -> OwnCommand {
        find(env, project, |_| false).into_iter().find(|command| command.custom.name == name).unwrap()
    }

    #[test]
    fn a_head_says_who_does_it_with_which_model_and_what_is_allowed() {
        let (_kept, env, project) = house();
        let write = |path: &str, text: &str| {
            let path = project.join(path);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, text).unwrap();
        };
        let issue = named(&env, &project, "issue");
        assert_eq!((issue.custom.help.as_str(), issue.custom.argument.as_str()), ("Mends an issue", "NUMBER [WHO]"));
        write(
            ".opencode/command/look.md",
            "---\nagent: explore\nmodel: openai/gpt-5\nallowed-tools: Bash(git add:*), Read Bash(ls, -l)\n---\nLook: !`ls`",
        );
        let look = named(&env, &project, "look");
        let explore = look.doer(|_| true);
        let said = look.say("x", &explore);
        assert!(said.starts_with("Have the agent \"explore\" do this with the task tool"), "{said}");
        assert!(look.parts("", &explore)[0].text.ends_with("result:\n\nLook: "), "{:?}", look.parts("", &explore));
        let unknown = look.doer(|_| false);
        assert!(
            unknown.note("look").unwrap().contains("no agent \"explore\"") && look.say("", &unknown) == "Look: !`ls`"
        );
        assert_eq!(look.model.as_deref(), Some("openai/gpt-5"));
        assert_eq!(look.allowed_tools, ["Bash(git add:*)", "Read", "Bash(ls, -l)"]);
        assert_eq!(look.notes(), ["/look: what its file allows has no effect: a project can't allow"]);
        write(".claude/commands/same.md", "---\nmodel: inherit\nsubtask: true\n---\nx");
        let same = named(&env, &project, "same");
        assert!(same.model.is_none() && same.say("", &Doer::Session).starts_with("Have another agent"));
        write(".opencode/command/ship.md", "---\nagent: build\n---\nShip");
        write(".opencode/command/think.md", "---\nagent: plan\n---\nThink");
        let think = named(&env, &project, "think");
        assert_eq!((think.doer(|_| false), think.doer(|_| true)), (Doer::Plan, Doer::Agent("plan")));
        assert_eq!(think.say("", &Doer::Plan), "Make a plan for this, and change nothing:\n\nThink");
        assert_eq!(of_folder(&project).iter().find(|one| one.text == "Ship").unwrap().doer(|_| false), Doer::Session);
    }

    #[test]
    fn a_folder_of_commands_that_is_a_link_is_the_projects_only_inside_of_it() {
        let (_kept, env, project) = house();
        let link = |from: &Path, to: &Path| {
            std::fs::create_dir_all(to.parent().unwrap()).unwrap();
            std::os::unix::fs::symlink(from, to).unwrap();
        };
        link(&env.home().join(".claude/commands"), &project.join(".opencode/commands"));
        let of_project = || of_folder(&project).into_iter().map(|one| one.custom.name).collect::<Vec<_>>();
        assert!(of_project().iter().filter(|name| *name == "ship").count() == 1, "{:?}", of_project());
        link(&project.join(".neco/commands"), &project.join(".opencode/command"));
        assert!(of_project().iter().filter(|name| *name == "issue").count() == 2, "{:?}", of_project());
        link(&project.join(".claude/commands"), &env.home().join(".config/opencode/commands"));
        assert!(
            of_person(&env).iter().any(|one| one.custom.name == "git:commit"),
            "the person's own lead where they like"
        );
    }

    #[test]
    fn prompts_of_codex_are_commands_with_keys_and_its_names() {
        let (_kept, env, project) = house();
        let write = |folder: &Path, name: &str, text: &str| {
            std::fs::create_dir_all(folder.join(".codex/prompts")).unwrap();
            std::fs::write(folder.join(".codex/prompts").join(name), text).unwrap();
        };
        let text =
            "---\ndescription: Drafts a PR\nargument-hint: FILE=<path> [DRAFT=x]\n---\nDraft $FILE, cost $$5: !`id`";
        write(env.home(), "draft.md", text);
        write(&project, "theirs.md", "only at home");
        let draft = named(&env, &project, "draft");
        assert_eq!((draft.custom.help.as_str(), draft.custom.also.as_deref()), ("Drafts a PR", Some("prompts:draft")));
        assert!(draft.is_called("prompts:draft") && draft.custom.argument.starts_with("FILE=<path>"));
        assert_eq!(draft.say("FILE='a b'", &Doer::Session), "Draft a b, cost $5: !`id`");
        assert_eq!(
            (draft.missing(""), draft.missing("FILE=x"), draft.lines()),
            (vec!["FILE".to_owned()], vec![], vec![])
        );
        assert!(of_folder(&project).iter().all(|one| one.custom.name != "theirs"));
    }

    #[test]
    fn arguments_of_a_file_have_names() {
        let (_kept, env, project) = house();
        std::fs::write(
            project.join(".neco/commands/pick.md"),
            "---\narguments: [issue, branch]\n---\nPick $issue onto $branch: !`git log \"$branch\"`",
        )
        .unwrap();
        let pick = named(&env, &project, "pick");
        assert_eq!(pick.custom.argument, "issue branch");
        assert!(pick.say("7 main", &Doer::Session).starts_with("Pick 7 onto main: "));
        let parts = pick.parts("7 main", &Doer::Session);
        assert!(parts[1].run.as_ref().unwrap().contains("branch='main'; set -- '7' 'main'; git log \"$branch\""));
    }

    #[test]
    fn gemini_writes_commands_in_toml() {
        let (_kept, env, project) = house();
        let folder = project.join(".gemini/commands/git");
        std::fs::create_dir_all(&folder).unwrap();
        let text = "description = \"Says it\"\nprompt = \"\"\"\nDiff of {{args}}: !{git diff {{args}}}\n\"\"\"\n";
        std::fs::write(folder.join("say.toml"), text).unwrap();
        std::fs::write(folder.join("broken.toml"), "prompt = ").unwrap();
        std::fs::write(folder.join("none.toml"), "description = 'x'").unwrap();
        let say = named(&env, &project, "git:say");
        assert_eq!((say.custom.help.as_str(), say.lines()), ("Says it", vec!["git diff {{args}}"]));
        assert_eq!(say.parts("a", &Doer::Session)[0].text, "Diff of a: ");
        let names: Vec<String> =
            find(&env, &project, |_| false).into_iter().map(|command| command.custom.name).collect();
        assert_eq!(names, ["git:broken", "git:commit", "git:none", "git:say", "issue", "ship"]);
        let (broken, none) = (named(&env, &project, "git:broken"), named(&env, &project, "git:none"));
        assert!(broken.broken.as_deref().unwrap().starts_with("it is not TOML: "), "{broken:?}");
        assert_eq!(none.custom.help, "can't be used: it has no `prompt`");
    }
}
