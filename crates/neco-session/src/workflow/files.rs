//! Which runs of workflows there are: a small file each, so that one is found by its id without reading
//! every session. The log of its session is what counts.

use std::io;
use std::path::{Path, PathBuf};

use neco_proto::app::workflows::WorkflowRun;
use neco_proto::{SessionId, WorkflowId};

/// The files.
#[derive(Clone, Debug)]
pub struct RunFiles {
    folder: PathBuf,
}

impl RunFiles {
    /// Those of the data folder.
    pub fn new(data_dir: &Path) -> Self {
        Self { folder: data_dir.join("workflows") }
    }

    /// All runs, or those of one folder, the newest first. What can't be read is none.
    pub async fn list(&self, cwd: Option<&str>) -> Vec<WorkflowRun> {
        let mut found = Vec::new();
        let Ok(mut folder) = tokio::fs::read_dir(&self.folder).await else { return found };
        while let Ok(Some(entry)) = folder.next_entry().await {
            let Ok(bytes) = tokio::fs::read(entry.path()).await else { continue };
            let Ok(note) = serde_json::from_slice::<WorkflowRun>(&bytes) else { continue };
            if cwd.is_none_or(|cwd| note.cwd == cwd) {
                found.push(note);
            }
        }
        found.sort_by_key(|note| std::cmp::Reverse((note.began_ms, note.workflow_id.to_string())));
        found
    }

    /// A run.
    pub async fn one(&self, id: WorkflowId) -> Option<WorkflowRun> {
        let bytes = tokio::fs::read(self.file(id)).await.ok()?;
        serde_json::from_slice(&bytes).ok()
    }

    /// The runs whose id begins with `id`.
    pub async fn find(&self, id: &str) -> Vec<WorkflowRun> {
        let wanted = id.trim().to_lowercase();
        let mut all = self.list(None).await;
        all.retain(|note| note.workflow_id.to_string().starts_with(&wanted));
        all
    }

    /// The sessions are gone, and what is said of their runs with them. What can't be removed is listed, and leads
    /// nowhere.
    pub async fn forget(&self, sessions: &[SessionId]) {
        for note in self.list(None).await.into_iter().filter(|note| sessions.contains(&note.session)) {
            let _ = tokio::fs::remove_file(self.file(note.workflow_id)).await;
        }
    }

    /// Notes how a run stands. A note that can't be kept is no reason to stop: the log has it.
    pub async fn keep(&self, note: &WorkflowRun) -> io::Result<()> {
        tokio::fs::create_dir_all(&self.folder).await?;
        let file = self.file(note.workflow_id);
        let part = file.with_extension("part");
        let bytes = serde_json::to_vec(note).map_err(io::Error::other)?;
        tokio::fs::write(&part, bytes).await?;
        tokio::fs::rename(&part, &file).await
    }

    fn file(&self, id: WorkflowId) -> PathBuf {
        self.folder.join(format!("{id}.json"))
    }
}
