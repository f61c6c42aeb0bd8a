//! Which agents are set up, by files that only they have.

use std::path::{Path, PathBuf};

use neco_config::Env;
use neco_proto::app::setups::SetupAgent;

use crate::import::places::{Homes, absolute_variable};

/// Where the set-ups of other agents are.
#[derive(Clone, Debug)]
pub struct Places {
    /// The home folder.
    pub home: PathBuf,
    /// Where the agents are at home, with their sessions.
    pub homes: Homes,
    /// `~/.config/opencode`.
    pub opencode: PathBuf,
    /// `~/.cursor`.
    pub cursor: PathBuf,
    /// Where the settings of Cursor's command line are: `~/.cursor`, too.
    pub cursor_settings: PathBuf,
}

impl Places {
    /// The usual places, or where the agents' own variables put them.
    #[must_use]
    pub fn of(env: &Env) -> Self {
        let home = env.home().to_owned();
        let config = absolute_variable(env, "XDG_CONFIG_HOME");
        let cursor = home.join(".cursor");
        let of_config = config.as_ref().map(|config| config.join("cursor")).filter(|folder| folder.is_dir());
        let cursor_settings = absolute_variable(env, "CURSOR_CONFIG_DIR").or(of_config);
        Self {
            homes: Homes::of(env),
            opencode: config.unwrap_or_else(|| home.join(".config")).join("opencode"),
            cursor_settings: cursor_settings.unwrap_or_else(|| cursor.clone()),
            cursor,
            home,
        }
    }

    /// Files and folders of an agent, of which one that is there says that it is set up.
    fn marks(&self, agent: SetupAgent) -> Vec<PathBuf> {
        let homes = &self.homes;
        match agent {
            SetupAgent::ClaudeCode => vec![homes.claude_code.clone(), self.home.join(".claude.json")],
            SetupAgent::Codex => vec![homes.codex.clone()],
            SetupAgent::Gemini => vec![homes.gemini_cli.clone()],
            SetupAgent::Opencode => vec![self.opencode.clone(), homes.opencode.clone()],
            SetupAgent::Cursor => vec![self.cursor.clone()],
            SetupAgent::Openclaw => vec![homes.openclaw.clone()],
        }
    }
}

/// The same in a project.
fn marks_in(project: &Path, agent: SetupAgent) -> Vec<PathBuf> {
    let names: &[&str] = match agent {
        SetupAgent::ClaudeCode => &[".claude", "CLAUDE.md"],
        SetupAgent::Codex => &[".codex"],
        SetupAgent::Gemini => &[".gemini", "GEMINI.md"],
        SetupAgent::Opencode => &[".opencode", "opencode.json", "opencode.jsonc"],
        SetupAgent::Cursor => &[".cursor", ".cursorrules"],
        SetupAgent::Openclaw => &[],
    };
    names.iter().map(|name| project.join(name)).collect()
}

/// The agents that are set up for a person or in a folder, each with its places that are there. No file is read.
#[must_use]
pub fn found(env: &Env, folder: &Path) -> Vec<(SetupAgent, Vec<PathBuf>)> {
    let places = Places::of(env);
    let project = project_of(env, folder);
    let of = |agent: &SetupAgent| {
        let in_project = project.iter().flat_map(|project| marks_in(project, *agent));
        let there = places.marks(*agent).into_iter().chain(in_project).filter(|place| place.exists());
        (*agent, there.collect::<Vec<_>>())
    };
    SetupAgent::ALL.iter().map(of).filter(|(_, places)| !places.is_empty()).collect()
}

/// The agents that a person has set up for themselves, whatever folder they are in.
#[must_use]
pub fn of_person(env: &Env) -> Vec<SetupAgent> {
    let places = Places::of(env);
    let is_there = |agent: &SetupAgent| places.marks(*agent).iter().any(|place| place.exists());
    SetupAgent::ALL.iter().copied().filter(is_there).collect()
}

/// The root of the repository that a folder lies in, or the folder itself; none where that is the home folder, whose
/// files are the person's own.
#[must_use]
pub fn project_of(env: &Env, folder: &Path) -> Option<PathBuf> {
    let folder = std::path::absolute(folder).ok()?;
    let folder = folder.canonicalize().unwrap_or(folder);
    let home = env.home().canonicalize().unwrap_or_else(|_| env.home().to_owned());
    let mut inside = folder.ancestors().take_while(|above| *above != home);
    let root = inside.find(|above| above.join(".git").exists()).unwrap_or(&folder);
    (!home.starts_with(root)).then(|| root.to_owned())
}
