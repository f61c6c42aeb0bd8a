//! What a provider says that it serves.

use std::time::Duration;

use neco_model::Served;
use neco_proto::app::AppError;
use neco_proto::app::models::{ListServed, ServedModels};

use super::here::Here;
use super::server::Server;
use crate::app::StorelessApp;

/// How long a server has to say what it serves.
const LIST: Duration = Duration::from_secs(5);

pub(crate) async fn served(app: &StorelessApp, request: ListServed) -> Result<ServedModels, AppError> {
    let server = request.base.map(|base| Server::at(base, app)).transpose()?;
    let Here { models, .. } = Here::with(app, &request.folder, server.as_ref())?;
    let provider = server.as_ref().map_or(request.provider, |server| server.name.clone());
    let (names, needs_key) = match models.served(&provider, LIST).await {
        Served::Models(names) => (names, false),
        Served::NeedsKey => (Vec::new(), true),
        Served::Unknown => {
            let entry = models.providers().get(&provider).ok();
            (entry.map(|entry| models.known_models(entry)).unwrap_or_default(), false)
        }
    };
    let silent = match &server {
        Some(server) if names.is_empty() && !needs_key => !server.listens().await,
        Some(_) | None => false,
    };
    Ok(ServedModels { provider, models: names, needs_key, silent })
}
