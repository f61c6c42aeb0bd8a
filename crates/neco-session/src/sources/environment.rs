//! Where the agent works: gathered once a session, so that the prompt stays the same from turn to turn.

use neco_agent::context::{Layer, Situation, Source};
use neco_workspace::Head;

/// What is known of the place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Facts {
    /// The workspace.
    pub cwd: String,
    /// The operating system.
    pub os: String,
    /// The shell that runs commands.
    pub shell: String,
    /// What is checked out, when the workspace is in a git repository.
    pub head: Option<Head>,
    /// Today.
    pub date: String,
}

/// The source that tells them.
pub struct Environment(pub Facts);

impl Source for Environment {
    fn layer(&self) -> Layer {
        Layer::Environment
    }

    fn text(&self, _: &Situation) -> Option<String> {
        let Facts { cwd, os, shell, head, date } = &self.0;
        let git = match head {
            Some(Head::Branch(branch)) => format!("git, on branch {branch}"),
            Some(Head::Detached(commit)) => format!("git, at commit {commit} without a branch"),
            Some(Head::Unknown) => "git".to_owned(),
            None => "none".to_owned(),
        };
        Some(format!(
            "Environment\n- workspace: {cwd} (relative paths start here)\n- system: {os}; commands run in {shell}\n- \
             version control: {git}\n- today: {date}"
        ))
    }
}
