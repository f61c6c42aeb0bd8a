//! What a person without a model can choose from.

use std::time::Duration;

use neco_proto::app::AppError;
use neco_proto::app::models::{LocalModels, ModelOffers, OfferModels, ProviderOffer};

use super::here::Here;
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
