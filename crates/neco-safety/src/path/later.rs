//! Files that act later without being called: they run, decide what runs, or instruct agents. One list for the tools that
//! write files, for commands and for the box that commands run in.
//!
//! What counts is whether a file does something by itself. What a person calls as part of their project's own build
//! (`Makefile`, `package.json`, `build.rs`, `.bazelrc`) is ordinary code.

use std::borrow::Cow;
use std::collections::HashMap;
use std::ffi::OsStr;
use std::path::Path;
use std::sync::LazyLock;

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
    #[must_use]
    pub fn asks(self) -> Option<&'static str> {
        match self {
            Self::Runs(why) => Some(why),
            Self::RunsElsewhere | Self::Instructs => None,
        }
    }
}

/// Says what a file does later, by its names from `root` on and without regard to case.
#[must_use]
pub fn later(root: &Path, path: &Path) -> Option<Later> {
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
pub fn closed_folders() -> impl Iterator<Item = (&'static str, &'static [&'static str])> {
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

/// One kind of file.
struct Row {
    /// Its names, the last one last, in small letters. One that begins with `*` says how a name ends.
    parts: &'static [&'static str],
    kind: Kind,
    does: Later,
    /// Whether a box keeps commands from changing it, and what a home folder has where it would be followed without a
    /// question: there nothing can be made in its place while a command runs.
    closed: Option<&'static [&'static str]>,
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

    const fn closed(mut self, marks: &'static [&'static str]) -> Self {
        self.closed = Some(marks);
        self
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

const fn file(parts: &'static [&'static str], does: Later) -> Row {
    Row { parts, kind: Kind::File, does, closed: None }
}

const fn folder(parts: &'static [&'static str], does: Later) -> Row {
    Row { parts, kind: Kind::Folder, does, closed: None }
}

const fn agents(parts: &'static [&'static str], marks: &'static [&'static str]) -> Row {
    folder(parts, Later::Runs(AGENT)).closed(marks)
}

const CURSOR: &[&str] = &[".cursor", ".cursor-server", ".config/Cursor"];

/// The editors that read the same folder.
const CODE: &[&str] = &[
    ".vscode",
    ".vscode-server",
    ".vscode-oss",
    ".config/Code",
    ".config/VSCodium",
    ".cursor",
    ".cursor-server",
    ".config/Cursor",
    ".windsurf",
    ".config/Windsurf",
];

/// The list. Of two rows that fit, the one with more names counts.
static ROWS: &[Row] = &[
    // What agents may do, ours first.
    agents(&[".neco"], &[]),
    agents(&[".claude"], &[".claude", ".claude.json"]),
    agents(&[".codex"], &[".codex"]),
    agents(&[".gemini"], &[".gemini"]),
    agents(&[".cursor"], CURSOR),
    agents(&[".windsurf"], &[".windsurf", ".codeium", ".config/Windsurf"]),
    agents(&[".agents"], &[".agents"]),
    agents(&[".continue"], &[".continue"]),
    agents(&[".opencode"], &[".config/opencode", ".local/share/opencode"]),
    agents(&[".kiro"], &[".kiro"]),
    agents(&[".roo"], &[".roo"]),
    agents(&[".amazonq"], &[".amazonq", ".aws/amazonq"]),
    agents(&[".qwen"], &[".qwen"]),
    agents(&[".crush"], &[".config/crush", ".local/share/crush"]),
    agents(&[".augment"], &[".augment"]),
    agents(&[".trae"], &[".trae"]),
    agents(&[".junie"], &[".junie"]),
    agents(&[".goose"], &[".config/goose"]),
    file(&[".mcp.json"], Later::Runs(AGENT)).closed(&[]),
    file(&[".aider.conf.yml"], Later::Runs(AGENT)).closed(&[]),
    file(&["opencode.json"], Later::Runs(AGENT)).closed(&[]),
    file(&["opencode.jsonc"], Later::Runs(AGENT)).closed(&[]),
    file(&["crush.json"], Later::Runs(AGENT)).closed(&[]),
    file(&[".crush.json"], Later::Runs(AGENT)).closed(&[]),
    // What editors run.
    folder(&[".vscode"], Later::Runs(EDITOR)).closed(CODE),
    folder(&[".devcontainer"], Later::Runs(EDITOR)).closed(CODE),
    file(&[".devcontainer.json"], Later::Runs(EDITOR)).closed(&[]),
    folder(&[".idea"], Later::Runs(EDITOR)).closed(&[
        ".config/JetBrains",
        ".local/share/JetBrains",
        ".cache/JetBrains",
    ]),
    folder(&[".zed"], Later::Runs(EDITOR)).closed(&[".config/zed", ".local/share/zed"]),
    folder(&[".helix"], Later::Runs(EDITOR)),
    folder(&[".fleet"], Later::Runs(EDITOR)),
    file(&[".exrc"], Later::Runs(EDITOR)).closed(&[]),
    file(&[".nvimrc"], Later::Runs(EDITOR)).closed(&[]),
    file(&[".nvim.lua"], Later::Runs(EDITOR)).closed(&[]),
    file(&[".dir-locals.el"], Later::Runs(EDITOR)).closed(&[]),
    file(&["*.code-workspace"], Later::Runs(EDITOR)).closed(&[]),
    file(&["*.sublime-project"], Later::Runs(EDITOR)),
    // What runs when somebody enters the folder, or uses git in it.
    file(&[".envrc"], Later::Runs(BUILD)).closed(&[]),
    file(&["mise.toml"], Later::Runs(BUILD)),
    file(&[".mise.toml"], Later::Runs(BUILD)),
    file(&["mise.local.toml"], Later::Runs(BUILD)),
    file(&[".mise.local.toml"], Later::Runs(BUILD)),
    folder(&[".mise"], Later::Runs(BUILD)),
    folder(&[".husky"], Later::Runs(HOOK)),
    folder(&[".githooks"], Later::Runs(HOOK)),
    file(&[".huskyrc"], Later::Runs(HOOK)),
    file(&[".huskyrc.json"], Later::Runs(HOOK)),
    file(&[".pre-commit-config.yaml"], Later::Runs(HOOK)),
    file(&[".pre-commit-config.yml"], Later::Runs(HOOK)),
    file(&["lefthook.yml"], Later::Runs(HOOK)),
    file(&["lefthook.yaml"], Later::Runs(HOOK)),
    file(&["lefthook.toml"], Later::Runs(HOOK)),
    file(&["lefthook.json"], Later::Runs(HOOK)),
    file(&[".lefthook.yml"], Later::Runs(HOOK)),
    file(&[".lefthook.yaml"], Later::Runs(HOOK)),
    file(&["lefthook-local.yml"], Later::Runs(HOOK)),
    file(&[".lefthook-local.yml"], Later::Runs(HOOK)),
    folder(&[".lefthook"], Later::Runs(HOOK)),
    file(&[".overcommit.yml"], Later::Runs(HOOK)),
    file(&[".gitmodules"], Later::Runs(GIT)),
    // What other programs read by themselves, and run something because of it.
    file(&[".ripgreprc"], Later::Runs(TOOL)),
    file(&[".npmrc"], Later::Runs(TOOL)),
    file(&[".yarnrc"], Later::Runs(TOOL)),
    file(&[".yarnrc.yml"], Later::Runs(TOOL)),
    file(&[".pnpmfile.cjs"], Later::Runs(TOOL)),
    file(&["pip.conf"], Later::Runs(TOOL)),
    file(&["pip.ini"], Later::Runs(TOOL)),
    file(&["sitecustomize.py"], Later::Runs(TOOL)),
    file(&["usercustomize.py"], Later::Runs(TOOL)),
    file(&[".gdbinit"], Later::Runs(TOOL)),
    file(&[".lldbinit"], Later::Runs(TOOL)),
    file(&[".cargo", "config"], Later::Runs(TOOL)),
    file(&[".cargo", "config.toml"], Later::Runs(TOOL)),
    file(&[".bundle", "config"], Later::Runs(TOOL)),
    file(&[".mvn", "jvm.config"], Later::Runs(TOOL)),
    file(&[".mvn", "maven.config"], Later::Runs(TOOL)),
    file(&[".mvn", "extensions.xml"], Later::Runs(TOOL)),
    // What a machine elsewhere runs when the project is published.
    folder(&[".github", "workflows"], Later::RunsElsewhere),
    folder(&[".github", "actions"], Later::RunsElsewhere),
    folder(&[".gitea", "workflows"], Later::RunsElsewhere),
    folder(&[".forgejo", "workflows"], Later::RunsElsewhere),
    folder(&[".circleci"], Later::RunsElsewhere),
    folder(&[".buildkite"], Later::RunsElsewhere),
    folder(&[".gitlab", "ci"], Later::RunsElsewhere),
    folder(&[".woodpecker"], Later::RunsElsewhere),
    folder(&[".semaphore"], Later::RunsElsewhere),
    folder(&[".teamcity"], Later::RunsElsewhere),
    folder(&[".azure-pipelines"], Later::RunsElsewhere),
    folder(&[".tekton"], Later::RunsElsewhere),
    file(&["*.gitlab-ci.yml"], Later::RunsElsewhere),
    file(&[".gitlab-ci.yml"], Later::RunsElsewhere),
    file(&["jenkinsfile"], Later::RunsElsewhere),
    file(&["azure-pipelines.yml"], Later::RunsElsewhere),
    file(&["azure-pipelines.yaml"], Later::RunsElsewhere),
    file(&["bitbucket-pipelines.yml"], Later::RunsElsewhere),
    file(&[".travis.yml"], Later::RunsElsewhere),
    file(&["appveyor.yml"], Later::RunsElsewhere),
    file(&[".appveyor.yml"], Later::RunsElsewhere),
    file(&[".drone.yml"], Later::RunsElsewhere),
    file(&[".cirrus.yml"], Later::RunsElsewhere),
    file(&[".woodpecker.yml"], Later::RunsElsewhere),
    file(&["buildspec.yml"], Later::RunsElsewhere),
    file(&["cloudbuild.yaml"], Later::RunsElsewhere),
    file(&["cloudbuild.yml"], Later::RunsElsewhere),
    file(&["codemagic.yaml"], Later::RunsElsewhere),
    // What agents are told in every session.
    file(&["agents.md"], Later::Instructs),
    file(&["agents.override.md"], Later::Instructs),
    file(&["agents.local.md"], Later::Instructs),
    file(&["agent.md"], Later::Instructs),
    file(&["claude.md"], Later::Instructs),
    file(&["claude.local.md"], Later::Instructs),
    file(&["gemini.md"], Later::Instructs),
    file(&["qwen.md"], Later::Instructs),
    file(&["crush.md"], Later::Instructs),
    file(&["warp.md"], Later::Instructs),
    file(&["neco.md"], Later::Instructs),
    file(&[".cursorrules"], Later::Instructs),
    file(&[".windsurfrules"], Later::Instructs),
    file(&[".clinerules"], Later::Instructs),
    folder(&[".clinerules"], Later::Instructs),
    file(&[".roorules"], Later::Instructs),
    file(&[".goosehints"], Later::Instructs),
    file(&[".rules"], Later::Instructs),
    file(&[".augment-guidelines"], Later::Instructs),
    file(&["copilot-instructions.md"], Later::Instructs),
    file(&["*.instructions.md"], Later::Instructs),
    folder(&[".github", "instructions"], Later::Instructs),
    folder(&[".github", "prompts"], Later::Instructs),
    folder(&[".github", "chatmodes"], Later::Instructs),
    folder(&[".github", "agents"], Later::Instructs),
    folder(&[".aiassistant", "rules"], Later::Instructs),
    // The same in the folders of agents, all else in which is asked about.
    file(&[".claude", "claude.md"], Later::Instructs),
    folder(&[".claude", "rules"], Later::Instructs),
    file(&[".gemini", "gemini.md"], Later::Instructs),
    file(&[".codex", "agents.md"], Later::Instructs),
    file(&[".qwen", "qwen.md"], Later::Instructs),
    folder(&[".cursor", "rules"], Later::Instructs),
    folder(&[".windsurf", "rules"], Later::Instructs),
    folder(&[".continue", "rules"], Later::Instructs),
    folder(&[".kiro", "steering"], Later::Instructs),
    folder(&[".roo", "rules"], Later::Instructs),
    folder(&[".amazonq", "rules"], Later::Instructs),
    folder(&[".augment", "rules"], Later::Instructs),
    folder(&[".trae", "rules"], Later::Instructs),
    file(&[".junie", "guidelines.md"], Later::Instructs),
];

/// The rows by the last of their names.
static BY_LAST_PART: LazyLock<HashMap<&'static str, Vec<&'static Row>>> = LazyLock::new(|| {
    let mut rows: HashMap<&str, Vec<&Row>> = HashMap::new();
    for row in ROWS {
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

fn folded(name: &OsStr) -> Cow<'_, str> {
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
