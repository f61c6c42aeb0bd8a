//! Files that act later without being called: they run, decide what runs, or instruct agents. One list for the tools that
//! write files, for commands and for the box that commands run in.
//!
//! What counts is whether a file does something by itself. What a person calls as part of their project's own build
//! (`Makefile`, `package.json`, `build.rs`, `.bazelrc`) is ordinary code.

use std::borrow::Cow;
use std::collections::HashMap;
use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::sync::{LazyLock, PoisonError, RwLock};

/// What a file does later.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Later {
    /// It runs on this machine, or decides what does: it is written only after asking, for this reason.
    Runs(&'static str),
    /// It runs on another machine that builds the project: it is written and told.
    RunsElsewhere,
    /// It tells agents what to do: it is written and told.
    Instructs,
}

impl Later {
    /// Why it is not written without asking.
    pub fn asks(self) -> Option<&'static str> {
        match self {
            Self::Runs(why) => Some(why),
            Self::RunsElsewhere | Self::Instructs => None,
        }
    }
}

/// Folders whose skills are the person's own, wherever they lie on this machine: hooks of theirs run outside of every
/// box. A process has one list of them, as of its settings: it only grows.
static SKILL_FOLDERS: RwLock<Vec<PathBuf>> = RwLock::new(Vec::new());

/// From now on what lies in this folder is changed only after asking, and not by commands in a box.
pub fn guard_skills(folder: PathBuf) {
    let mut guarded = SKILL_FOLDERS.write().unwrap_or_else(PoisonError::into_inner);
    if !guarded.iter().any(|known| folder.starts_with(known)) {
        guarded.push(folder);
    }
}

/// The folders that are guarded so.
pub fn skill_folders() -> Vec<PathBuf> {
    SKILL_FOLDERS.read().unwrap_or_else(PoisonError::into_inner).clone()
}

/// Says what a file does later, by its names from `root` on and without regard to case.
pub fn later(root: &Path, path: &Path) -> Option<Later> {
    if SKILL_FOLDERS.read().unwrap_or_else(PoisonError::into_inner).iter().any(|folder| path.starts_with(folder)) {
        return Some(Later::Runs(AGENT));
    }
    let below = path.strip_prefix(root).unwrap_or(path);
    let names: Vec<Cow<'_, str>> = below.iter().map(folded).collect();
    row_of(&names).map(|row| row.does)
}

/// Whether a file in a folder acts later. Most don't, which its name alone tells.
pub fn acts_later(root: &Path, folder: &Path, name: &OsStr, is_inside: bool) -> bool {
    let last = folded(name);
    let may = BY_LAST_PART.contains_key(last.as_ref()) || ENDINGS.iter().any(|row| row.fits_ending(&last));
    is_inside || may && later(root, &folder.join(name)).is_some()
}

/// Whether a folder of this name decides what an agent does.
pub(crate) fn is_agents_folder(name: &str) -> bool {
    let is_its = |row: &&Row| row.does == Later::Runs(AGENT) && row.is_folder() && row.parts.len() == 1;
    BY_LAST_PART.get(name).is_some_and(|rows| rows.iter().any(is_its))
}

/// The folders that a box closes, with what a home folder has where the program that reads them is used.
pub fn closed_folders() -> impl Iterator<Item = (&'static str, &'static str)> {
    ROWS.iter().filter(|row| row.is_folder()).filter_map(|row| Some((*row.parts.first()?, row.closed?)))
}

/// The files that it closes.
pub fn closed_files() -> impl Iterator<Item = &'static str> {
    ROWS.iter().filter(|row| !row.is_folder() && row.closed.is_some()).filter_map(|row| row.parts.first().copied())
}

/// Whether a box closes what has this name, at the top of a workspace and below.
pub fn is_closed(name: &OsStr) -> bool {
    let name = folded(name);
    let by_name = BY_LAST_PART.get(name.as_ref()).is_some_and(|rows| rows.iter().any(|row| row.closed.is_some()));
    by_name || ENDINGS.iter().any(|row| row.closed.is_some() && row.fits_ending(&name))
}

pub(super) const AGENT: &str = "it decides what an agent may do";
pub(super) const EDITOR: &str = "it decides what an editor runs";
pub(super) const BUILD: &str = "it decides what is run in this folder";
const HOOK: &str = "it runs when git is used";
const GIT: &str = "it decides where git looks";
const TOOL: &str = "it decides what another program runs";

struct Row {
    /// Its names, the last one last, in small letters. One that begins with `*` says how a name ends.
    parts: Vec<&'static str>,
    kind: Kind,
    does: Later,
    /// Whether a box keeps commands from changing it, and what a home folder has where it would be followed without a
    /// question: there nothing can be made in its place while a command runs.
    closed: Option<&'static str>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    File,
    /// A folder, with everything in it.
    Folder,
}

impl Row {
    fn is_folder(&self) -> bool {
        self.kind == Kind::Folder
    }

    fn fits_ending(&self, name: &str) -> bool {
        let ending = self.parts.last().and_then(|last| last.strip_prefix('*'));
        ending.is_some_and(|ending| name.len() > ending.len() && name.ends_with(ending))
    }

    /// Whether the last of these names is the last of its own, behind its others.
    fn fits(&self, names: &[Cow<'_, str>]) -> bool {
        let Some(start) = names.len().checked_sub(self.parts.len()) else { return false };
        let mut above = self.parts.iter().zip(names.iter().skip(start)).take(self.parts.len() - 1);
        above.all(|(own, name)| own == name)
    }
}

/// Kinds of files that do the same; their names stand apart, those of folders and what is in them with `/` between.
struct Group {
    names: &'static str,
    kind: Kind,
    does: Later,
    closed: Option<&'static str>,
}

impl Group {
    const fn closed(mut self, marks: &'static str) -> Self {
        self.closed = Some(marks);
        self
    }
}

const fn files(does: Later, names: &'static str) -> Group {
    Group { names, kind: Kind::File, does, closed: None }
}

const fn folders(does: Later, names: &'static str) -> Group {
    Group { names, kind: Kind::Folder, does, closed: None }
}

const fn agents(name: &'static str, marks: &'static str) -> Group {
    folders(Later::Runs(AGENT), name).closed(marks)
}

/// The editors that read the same folder.
const CODE: &str = ".vscode .vscode-server .vscode-oss .config/Code .config/VSCodium .cursor .cursor-server \
    .config/Cursor .windsurf .config/Windsurf";

/// The list. Of two rows that fit, the one with more names counts.
const GROUPS: &[Group] = &[
    // What agents may do, ours first.
    agents(".neco", ""),
    agents(".claude", ".claude .claude.json"),
    agents(".codex", ".codex"),
    agents(".gemini", ".gemini"),
    agents(".cursor", ".cursor .cursor-server .config/Cursor"),
    agents(".windsurf", ".windsurf .codeium .config/Windsurf"),
    agents(".agents", ".agents"),
    agents(".continue", ".continue"),
    agents(".opencode", ".config/opencode .local/share/opencode"),
    agents(".kiro", ".kiro"),
    agents(".roo", ".roo"),
    agents(".amazonq", ".amazonq .aws/amazonq"),
    agents(".qwen", ".qwen"),
    agents(".crush", ".config/crush .local/share/crush"),
    agents(".augment", ".augment"),
    agents(".trae", ".trae"),
    agents(".junie", ".junie"),
    agents(".goose", ".config/goose"),
    files(Later::Runs(AGENT), ".mcp.json .aider.conf.yml opencode.json opencode.jsonc crush.json .crush.json")
        .closed(""),
    // What editors run.
    folders(Later::Runs(EDITOR), ".vscode .devcontainer").closed(CODE),
    folders(Later::Runs(EDITOR), ".idea").closed(".config/JetBrains .local/share/JetBrains .cache/JetBrains"),
    folders(Later::Runs(EDITOR), ".zed").closed(".config/zed .local/share/zed"),
    folders(Later::Runs(EDITOR), ".helix .fleet"),
    files(Later::Runs(EDITOR), ".devcontainer.json .exrc .nvimrc .nvim.lua .dir-locals.el *.code-workspace").closed(""),
    files(Later::Runs(EDITOR), "*.sublime-project"),
    // What runs when somebody enters the folder, or uses git in it.
    files(Later::Runs(BUILD), ".envrc").closed(""),
    files(Later::Runs(BUILD), "mise.toml .mise.toml mise.local.toml .mise.local.toml"),
    folders(Later::Runs(BUILD), ".mise"),
    folders(Later::Runs(HOOK), ".husky .githooks .lefthook"),
    files(
        Later::Runs(HOOK),
        ".huskyrc .huskyrc.json .pre-commit-config.yaml .pre-commit-config.yml lefthook.yml lefthook.yaml lefthook.toml \
         lefthook.json .lefthook.yml .lefthook.yaml lefthook-local.yml .lefthook-local.yml .overcommit.yml",
    ),
    files(Later::Runs(GIT), ".gitmodules"),
    // What other programs read by themselves, and run something because of it.
    files(
        Later::Runs(TOOL),
        ".ripgreprc .npmrc .yarnrc .yarnrc.yml .pnpmfile.cjs pip.conf pip.ini sitecustomize.py usercustomize.py .gdbinit \
         .lldbinit .cargo/config .cargo/config.toml .bundle/config .mvn/jvm.config .mvn/maven.config .mvn/extensions.xml",
    ),
    // What a machine elsewhere runs when the project is published.
    folders(
        Later::RunsElsewhere,
        ".github/workflows .github/actions .gitea/workflows .forgejo/workflows .circleci .buildkite .gitlab/ci \
         .woodpecker .semaphore .teamcity .azure-pipelines .tekton",
    ),
    files(
        Later::RunsElsewhere,
        "*.gitlab-ci.yml .gitlab-ci.yml jenkinsfile azure-pipelines.yml azure-pipelines.yaml bitbucket-pipelines.yml \
         .travis.yml appveyor.yml .appveyor.yml .drone.yml .cirrus.yml .woodpecker.yml buildspec.yml cloudbuild.yaml \
         cloudbuild.yml codemagic.yaml",
    ),
    // What agents are told in every session.
    files(
        Later::Instructs,
        "agents.md agents.override.md agents.local.md agent.md claude.md claude.local.md gemini.md qwen.md crush.md \
         warp.md neco.md .cursorrules .windsurfrules .clinerules .roorules .goosehints .rules .augment-guidelines \
         copilot-instructions.md *.instructions.md",
    ),
    folders(
        Later::Instructs,
        ".clinerules .github/instructions .github/prompts .github/chatmodes .github/agents .aiassistant/rules",
    ),
    // The same in the folders of agents, all else in which is asked about.
    files(Later::Instructs, ".claude/claude.md .gemini/gemini.md .codex/agents.md .qwen/qwen.md .junie/guidelines.md"),
    folders(
        Later::Instructs,
        ".claude/rules .cursor/rules .windsurf/rules .continue/rules .kiro/steering .roo/rules .amazonq/rules \
         .augment/rules .trae/rules",
    ),
];

static ROWS: LazyLock<Vec<Row>> = LazyLock::new(|| {
    let rows = GROUPS.iter().flat_map(|Group { names, kind, does, closed }| {
        let row =
            |name: &'static str| Row { parts: name.split('/').collect(), kind: *kind, does: *does, closed: *closed };
        names.split_whitespace().map(row)
    });
    rows.collect()
});

/// The rows by the last of their names.
static BY_LAST_PART: LazyLock<HashMap<&'static str, Vec<&'static Row>>> = LazyLock::new(|| {
    let mut rows: HashMap<&str, Vec<&Row>> = HashMap::new();
    for row in ROWS.iter() {
        rows.entry(row.parts.last().copied().unwrap_or_default()).or_default().push(row);
    }
    rows
});

/// Those that say how a name ends.
static ENDINGS: LazyLock<Vec<&'static Row>> =
    LazyLock::new(|| ROWS.iter().filter(|row| row.parts.last().is_some_and(|last| last.starts_with('*'))).collect());

/// The row that fits these names best.
fn row_of(names: &[Cow<'_, str>]) -> Option<&'static Row> {
    let mut best: Option<&Row> = None;
    for (at, name) in names.iter().enumerate() {
        let (up_to, is_last) = (names.get(..=at).unwrap_or_default(), at + 1 == names.len());
        let exact = BY_LAST_PART.get(name.as_ref()).into_iter().flatten().copied().filter(|row| row.fits(up_to));
        let by_ending = ENDINGS.iter().copied().filter(|row| is_last && row.fits_ending(name));
        for row in exact.chain(by_ending).filter(|row| is_last || row.is_folder()) {
            if best.is_none_or(|best| row.parts.len() > best.parts.len()) {
                best = Some(row);
            }
        }
    }
    best
}

/// A name in small letters.
pub(super) fn folded(name: &OsStr) -> Cow<'_, str> {
    let name = name.to_string_lossy();
    if name.bytes().any(|byte| byte.is_ascii_uppercase()) { name.to_ascii_lowercase().into() } else { name }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(path: &str) -> Option<Later> {
        later(Path::new("/r"), &Path::new("/r").join(path))
    }

    #[test]
    fn what_runs_by_itself_is_asked_about() {
        for path in [
            ".husky/pre-commit",
            "packages/a/.husky/_/husky.sh",
            ".devcontainer/devcontainer.json",
            ".gitmodules",
            ".ripgreprc",
            ".neco/rules.md",
            ".neco/memory/a.md",
            ".neco/skills/x/SKILL.md",
            ".claude/commands/x.md",
            ".cursor/mcp.json",
            ".CURSOR/mcp.json",
            ".windsurf/x",
            ".mcp.json",
            "a/.envrc",
            ".vscode/tasks.json",
            ".vscode/notes.md",
            "x.code-workspace",
            ".pre-commit-config.yaml",
            "lefthook.yml",
            ".npmrc",
            ".yarnrc.yml",
            ".cargo/config.toml",
            ".mise.toml",
            ".gdbinit",
        ] {
            assert!(matches!(of(path), Some(Later::Runs(_))), "{path}: {:?}", of(path));
        }
    }

    #[test]
    fn what_runs_elsewhere_or_instructs_is_told() {
        for path in [
            ".github/workflows/ci.yml",
            ".gitlab-ci.yml",
            "Jenkinsfile",
            ".circleci/config.yml",
            "a/azure-pipelines.yml",
        ] {
            assert_eq!(of(path), Some(Later::RunsElsewhere), "{path}");
        }
        for path in [
            "AGENTS.md",
            "sub/agents.md",
            "CLAUDE.md",
            "GEMINI.md",
            ".cursor/rules/a.mdc",
            ".cursorrules",
            ".windsurfrules",
            ".clinerules",
            ".clinerules/a.md",
            ".github/copilot-instructions.md",
            ".github/instructions/a.instructions.md",
            ".claude/CLAUDE.md",
            ".kiro/steering/x.md",
        ] {
            assert_eq!(of(path), Some(Later::Instructs), "{path}");
        }
    }

    #[test]
    fn what_is_called_as_part_of_a_build_is_ordinary() {
        for path in [
            "Makefile",
            "package.json",
            "build.rs",
            "Cargo.toml",
            ".gitattributes",
            ".gitignore",
            ".bazelrc",
            ".tool-versions",
            "rust-toolchain.toml",
            "src/agents/mod.rs",
            "docs/workflows/ci.yml",
            ".github/CODEOWNERS",
            "cargo/config.toml",
            "README.md",
            "",
        ] {
            assert_eq!(of(path), None, "{path}");
        }
        // The folder that the person chose is no reason.
        assert_eq!(later(Path::new("/home/me/.claude"), Path::new("/home/me/.claude/notes.md")), None);
        let acts = |folder: &str, name: &str| acts_later(Path::new("/r"), Path::new(folder), OsStr::new(name), false);
        assert!(acts("/r/a", "AGENTS.md") && acts("/r/.cargo", "config.toml") && !acts("/r/a", "config.toml"));
    }

    #[test]
    fn a_folder_of_skills_is_guarded_wherever_it_lies() {
        let of = |path: &str| later(Path::new("/srv/guarded"), Path::new(path));
        assert_eq!(of("/srv/guarded/own/x/SKILL.md"), None);
        guard_skills(PathBuf::from("/srv/guarded/own"));
        assert_eq!(of("/srv/guarded/own/x/SKILL.md"), Some(Later::Runs(AGENT)));
        assert_eq!(
            later(Path::new("/srv/guarded/own/x"), Path::new("/srv/guarded/own/x/a.sh")),
            of("/srv/guarded/own")
        );
        assert_eq!(of("/srv/guarded/owner/SKILL.md"), None);
    }

    #[test]
    fn what_a_box_closes_is_of_the_same_list() {
        for name in [".neco", ".claude", ".vscode", ".devcontainer", ".mcp.json", ".envrc", "a.code-workspace"] {
            assert!(is_closed(OsStr::new(name)), "{name}");
        }
        for name in [".husky", ".gitmodules", "agents.md", ".github"] {
            assert!(!is_closed(OsStr::new(name)), "{name}: git and others write it themselves, which is told");
        }
        assert!(is_agents_folder(".kiro") && !is_agents_folder(".vscode") && !is_agents_folder(".mcp.json"));
    }
}
