//! Files for outputs that are too big for the model. They belong to the session.

use std::hash::{DefaultHasher, Hash, Hasher};
use std::path::{Path, PathBuf};

use futures::future::BoxFuture;
use neco_proto::CallId;
use neco_safety::secrets::Redactor;
use neco_toolkit::ToolError;
use neco_toolkit::bound::{Spill, SpillFile};
use tokio::fs::{File, OpenOptions};
use tokio::io::AsyncWriteExt;

/// The folder of a session's big outputs.
pub struct SpillFolder {
    folder: PathBuf,
    redactor: Redactor,
}

impl SpillFolder {
    /// Big outputs go to `folder`, which is made when the first one comes, without the secrets that
    /// `redactor` finds.
    pub fn new(folder: PathBuf, redactor: Redactor) -> Self {
        Self { folder, redactor }
    }
}

impl Spill for SpillFolder {
    fn open(&self, call_id: &CallId) -> BoxFuture<'_, Result<Box<dyn SpillFile>, ToolError>> {
        let path = self.folder.join(file_name(call_id));
        Box::pin(async move {
            make_private(&self.folder).await.map_err(|error| failed(&self.folder, &error))?;
            let file = create_private(&path).await.map_err(|error| failed(&path, &error))?;
            Ok(Box::new(OpenSpill { path, file }) as Box<dyn SpillFile>)
        })
    }

    fn redactor(&self) -> Redactor {
        self.redactor.clone()
    }
}

/// Keeps a big output that comes from elsewhere, and says where.
pub async fn keep_output(folder: &Path, call_id: &CallId, bytes: &[u8]) -> std::io::Result<PathBuf> {
    make_private(folder).await?;
    let path = folder.join(file_name(call_id));
    let mut file = create_private(&path).await?;
    file.write_all(bytes).await?;
    file.flush().await?;
    Ok(path)
}

struct OpenSpill {
    path: PathBuf,
    file: File,
}

impl SpillFile for OpenSpill {
    fn write<'a>(&'a mut self, bytes: &'a [u8]) -> BoxFuture<'a, Result<(), ToolError>> {
        Box::pin(async move { self.file.write_all(bytes).await.map_err(|error| failed(&self.path, &error)) })
    }

    fn finish(mut self: Box<Self>) -> BoxFuture<'static, Result<String, ToolError>> {
        Box::pin(async move {
            self.file.flush().await.map_err(|error| failed(&self.path, &error))?;
            Ok(self.path.display().to_string())
        })
    }
}

/// For its owner alone, also where the folder was made by somebody else.
pub(crate) async fn create_private(path: &Path) -> std::io::Result<File> {
    let mut options = OpenOptions::new();
    options.create(true).truncate(true).write(true);
    options.mode(0o600);
    options.open(path).await
}

pub(crate) async fn make_private(folder: &Path) -> std::io::Result<()> {
    let mut builder = tokio::fs::DirBuilder::new();
    builder.recursive(true);
    builder.mode(0o700);
    builder.create(folder).await
}

/// A model's call id may hold anything; a file name may not. Two ids never share a file.
fn file_name(call_id: &CallId) -> String {
    let mut hasher = DefaultHasher::new();
    call_id.hash(&mut hasher);
    let safe: String = call_id
        .as_str()
        .chars()
        .take(40)
        .map(|char| if char.is_ascii_alphanumeric() || char == '-' || char == '_' { char } else { '_' })
        .collect();
    format!("{safe}-{:016x}.txt", hasher.finish())
}

fn failed(path: &Path, error: &std::io::Error) -> ToolError {
    ToolError::failed(format!("the output was too big, and {} could not be written: {error}", path.display()))
}
