//! Checkpoints of the workspace, so that work can be undone.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Where the checkpoints of a workspace are stored.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum CheckpointBackend {
    /// In a Jujutsu store of Neco's own, outside the workspace.
    #[default]
    Jj,
    /// In the workspace's own git repository, as commits under `refs/neco/`; branch, index and working
    /// tree stay as they are. Where there is no repository, `jj` is used.
    Git,
}

/// Checkpoints of the workspace, so that work can be undone.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct CheckpointsSection {
    /// Whether a checkpoint is made before the first call of a turn that writes or runs something, and
    /// after the turn.
    pub enabled: bool,
    /// Where checkpoints are stored.
    pub backend: CheckpointBackend,
    /// Whether what was said is stored with the checkpoints too, each message and all that was done about it as a
    /// commit: a session can be restored from that without the log. Always in a store of Neco's own.
    pub conversations: bool,
    /// Bytes of a file that is still in a checkpoint; longer ones are left out and named.
    #[schemars(range(min = 1))]
    pub max_file_bytes: u64,
    /// Most files of a workspace with checkpoints; in a larger one there are no checkpoints, and that is said.
    #[schemars(range(min = 1))]
    pub max_files: usize,
    /// Days that a checkpoint is kept at least; `neco session prune` removes older ones.
    #[schemars(range(min = 1, max = 36500))]
    pub keep_days: u32,
    /// Patterns in the way of `.gitignore`, seen from the workspace, of what is left out besides what git
    /// ignores, what is too long, and what holds secrets.
    #[schemars(inner(length(min = 1)))]
    pub leave_out: Vec<String>,
    /// The person's own ignore file for all repositories. Not set means the one that git uses:
    /// `core.excludesFile` of `~/.gitconfig`, else `~/.config/git/ignore`.
    #[schemars(length(min = 1))]
    pub excludes_file: Option<String>,
}
