//! Bytes of a session: big outputs of calls, and pictures of messages.

use std::io::{Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use neco_proto::app::blobs::{BlobPiece, ReadBytes};
use neco_proto::app::{AppError, Trouble};
use neco_proto::{EventBody, Part};
use neco_store::EventLog;

use crate::app::LocalApp;
use crate::error::{failed, of_store};

pub(crate) async fn bytes(app: &LocalApp, request: ReadBytes) -> Result<BlobPiece, AppError> {
    let id = request.id;
    let nothing =
        || AppError::new(Trouble::NotFound, format!("event {} of session {} has no such bytes", id.seq, id.session));
    let events = app.store.read(id.session, id.seq.saturating_sub(1), 1).await.map_err(of_store)?;
    let event = events.into_iter().find(|event| event.seq == id.seq).ok_or_else(nothing)?;
    let end = request.end.min(request.start.saturating_add(ReadBytes::MOST));
    let length = usize::try_from(end.saturating_sub(request.start)).unwrap_or_default();
    match event.body {
        EventBody::ToolCallEnd(call) => {
            let file = call.spilled_to.map(PathBuf::from).ok_or_else(nothing)?;
            let kept = app.env.data_dir().to_owned();
            let read = tokio::task::spawn_blocking(move || read_output(&file, &kept, request.start, length)).await;
            read.map_err(failed)?.ok_or_else(nothing)
        }
        EventBody::Message(message) => {
            let Some(Part::Image { data, .. }) = message.parts.get(id.part) else { return Err(nothing()) };
            let all = STANDARD.decode(data).map_err(failed)?;
            let start = usize::try_from(request.start).unwrap_or(usize::MAX);
            let bytes = all.iter().skip(start).take(length).copied().collect();
            Ok(BlobPiece { bytes, total: all.len() as u64 })
        }
        _ => Err(nothing()),
    }
}

/// A piece of a big output. A session may be imported, and what it names anywhere else is not read.
fn read_output(file: &Path, data_dir: &Path, start: u64, length: usize) -> Option<BlobPiece> {
    let (file, sessions) = (file.canonicalize().ok()?, data_dir.join("sessions").canonicalize().ok()?);
    let below = file.strip_prefix(&sessions).ok()?;
    if below.components().nth(1)?.as_os_str() != "outputs" {
        return None;
    }
    let mut file = std::fs::File::open(&file).ok()?;
    let total = file.metadata().ok()?.len();
    file.seek(SeekFrom::Start(start)).ok()?;
    let mut bytes = Vec::new();
    file.take(length as u64).read_to_end(&mut bytes).ok()?;
    Some(BlobPiece { bytes, total })
}
