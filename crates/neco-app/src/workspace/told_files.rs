//! Files that tell the model something: the person's own rules, and files in the place of prompts.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use neco_agent::context::PromptFile;
use neco_config::{Env, Loaded};
use neco_ext::plugins::ActivePlugin;
use neco_ext::skills::Skill;
use neco_session::roles::{DefinitionPlaces, Definitions};
use neco_session::sources::{RulesPlaces, prompt_files};
use neco_session::workflow::WorkflowPlaces;
use neco_workspace::GitFacts;

use crate::error::failed;
use crate::workspace::plugged::Plugged;
use neco_proto::app::AppError;

/// Where other agents keep what a person tells them everywhere, in the home folder.
const OF_OTHERS: [&str; 3] = [".claude/CLAUDE.md", ".codex/AGENTS.md", ".gemini/GEMINI.md"];

/// Files that tell the model something.
#[derive(Clone, Debug, Default)]
pub struct ToldFiles {
    /// Where the person's own rules are.
    pub rules: RulesPlaces,
    /// Files in the place of prompts; the last of one name counts.
    pub prompts: Vec<PromptFile>,
    /// Where definitions of agents are.
    pub agents: DefinitionPlaces,
    /// Where the person's own workflows are.
    pub workflows: WorkflowPlaces,
    /// The skills that may be used.
    pub skills: Arc<[Skill]>,
}

impl ToldFiles {
    /// Those of the person, and those of the folder that are trusted.
    ///
    /// # Errors
    /// When a file can't be read.
    pub fn find(env: &Env, plugged: &Plugged) -> Result<Self, AppError> {
        let own = prompt_files(&env.config_dir().join("prompts")).map_err(failed)?;
        Ok(Self {
            rules: rules(env, plugged.plugins()),
            prompts: own.into_iter().chain(plugged.prompts()).collect(),
            agents: DefinitionPlaces { trusted: plugged.trusted_agents(), ..agent_places(env, plugged.plugins()) },
            workflows: workflow_places(env, plugged.plugins()),
            skills: plugged.skills().skills.into(),
        })
    }
}

/// Where the person's own definitions of agents are, and those of plugins; no folder is trusted.
pub fn agent_places(env: &Env, plugins: &[ActivePlugin]) -> DefinitionPlaces {
    let of_plugins = plugins.iter().flat_map(|plugin| plugin.manifest.agents.iter().cloned());
    let of_others = [".claude/agents", ".agents/agents"].map(|name| env.home().join(name));
    DefinitionPlaces {
        own: of_plugins.chain(of_others).chain([env.config_dir().join("agents")]).collect(),
        plugins: plugins.iter().map(|plugin| plugin.folder.clone()).collect(),
        home: Some(env.home().to_owned()),
        ..DefinitionPlaces::default()
    }
}

/// The definitions of agents that count in a folder, as a session there would have them.
pub fn definitions(env: &Env, folder: &Path, loaded: &Loaded) -> Definitions {
    let plugged = Plugged::look(env, folder, loaded);
    let (trusted, roles) = (plugged.trusted_agents(), loaded.config.agents.roles.clone());
    Definitions::load(&DefinitionPlaces { trusted, roles, ..agent_places(env, plugged.plugins()) }, folder)
}

/// Where the person's own workflows are, and those of plugins.
pub fn workflow_places(env: &Env, plugins: &[ActivePlugin]) -> WorkflowPlaces {
    let plugins = plugins.iter().flat_map(|plugin| plugin.manifest.workflows.iter().cloned()).collect();
    WorkflowPlaces { own: vec![env.config_dir().join("workflows")], plugins, ..WorkflowPlaces::default() }
}

fn rules(env: &Env, plugins: &[ActivePlugin]) -> RulesPlaces {
    let of_plugins = plugins.iter().filter_map(|plugin| plugin.manifest.rules.clone());
    let of_others = OF_OTHERS.iter().map(|name| env.home().join(name));
    RulesPlaces {
        files: of_plugins.chain(of_others).chain([env.config_dir().join("AGENTS.md")]).collect(),
        folders: vec![env.config_dir().join("rules")],
        home: Some(env.home().to_owned()),
    }
}

/// The folders that may bring prompts, the nearest last: from the root of the repository to `folder`.
pub fn folders_with_prompts(folder: &Path) -> Vec<PathBuf> {
    let root = GitFacts::of(folder).map_or_else(|| folder.to_owned(), |facts| facts.root);
    let mut folders: Vec<PathBuf> = folder
        .ancestors()
        .take_while(|above| above.starts_with(&root))
        .filter(|above| above.join(".neco/prompts").is_dir())
        .map(Path::to_owned)
        .collect();
    folders.reverse();
    folders
}
