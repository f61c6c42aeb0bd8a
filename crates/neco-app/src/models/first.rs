//! A first model: what a person without one can choose from, and what a provider says that it serves.

use std::time::Duration;

use neco_model::Served;
use neco_proto::app::AppError;
use neco_proto::app::models::{ListServed, LocalModels, ModelOffers, OfferModels, ProviderOffer, ServedModels};

use super::here::Here;
use super::server::Server;
use crate::app::StorelessApp;

/// How long servers on this machine have to answer.
const PROBE: Duration = Duration::from_millis(800);

/// The providers that most people have, in front of all others.
const KNOWN: [&str; 6] = ["anthropic", "openai", "gemini", "google", "openrouter", "deepseek"];

pub(crate) async fn offers(app: &StorelessApp, request: OfferModels) -> Result<ModelOffers, AppError> {
    let Here { models, warnings } = Here::look(app, &request.folder)?;
    let servers = models.probe_local(PROBE).await.into_iter();
    let offer = |(name, variables): (String, Vec<String>)| {
        let sources = models.key_sources(&name);
        ProviderOffer { name, variables, sources }
    };
    let mut providers: Vec<ProviderOffer> = models.looked_for().keys.into_iter().map(offer).collect();
    providers.sort_by_key(|offer| KNOWN.iter().position(|known| offer.name == *known).unwrap_or(KNOWN.len()));
    Ok(ModelOffers {
        servers: servers
            .map(|found| LocalModels { provider: found.provider, base: found.base, models: found.models })
            .collect(),
        providers,
        warnings,
    })
}

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
