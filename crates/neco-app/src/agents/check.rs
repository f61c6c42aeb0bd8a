//! What is wrong with definitions of agents.

use std::path::Path;

use neco_proto::app::agents::{CheckAgents, CheckedAgents, Problem};
use neco_proto::app::{AppError, Trouble};
use neco_session::roles::{Origin, read_definition};

use super::definitions::of_folder;
use crate::app::LocalApp;

pub(crate) async fn check(app: &LocalApp, request: CheckAgents) -> Result<CheckedAgents, AppError> {
    if request.files.is_empty() {
        return Ok(CheckedAgents { problems: of_folder(app, &request.folder)?.problems().to_vec() });
    }
    let mut problems = Vec::new();
    for file in &request.files {
        problems.extend(of_file(Path::new(&request.folder), file)?);
    }
    Ok(CheckedAgents { problems })
}

fn of_file(folder: &Path, file: &str) -> Result<Vec<Problem>, AppError> {
    let path = folder.join(file);
    let text = std::fs::read_to_string(&path)
        .map_err(|error| AppError::new(Trouble::Invalid, format!("{file} can't be read: {error}")))?;
    let stem = path.file_stem().map(|stem| stem.to_string_lossy().into_owned()).unwrap_or_default();
    Ok(read_definition(&text, file, &stem, Origin::Person(path)).1)
}
