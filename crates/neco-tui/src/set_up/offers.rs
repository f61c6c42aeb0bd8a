//! What a person without a model can choose from.

use neco_proto::QuestionOption;
use neco_proto::app::models::{ModelOffers, ProviderOffer};

/// Models of one local server that are offered.
const OF_ONE: usize = 6;

/// Providers that are offered by name: all of it is to fit a small terminal.
pub const PROVIDERS: usize = 6;

/// One thing to choose.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Offer {
    /// A model of a server that answers.
    Model(String),
    /// A provider, once a key is typed.
    Key(String),
    /// A model of a provider whose key is there.
    OfProvider(String),
    /// A provider that is not named here.
    OtherKey,
    /// A server at an address of the person's.
    Server,
    /// Not now.
    Leave,
}

/// What there is, with how it is shown.
pub fn all(found: &ModelOffers) -> Vec<(Offer, QuestionOption)> {
    let mut offers = Vec::new();
    for server in &found.servers {
        for model in server.models.iter().take(OF_ONE) {
            let name = format!("{}/{model}", server.provider);
            let description = format!("answers at {}", server.base);
            offers.push((Offer::Model(name.clone()), QuestionOption { label: name, description }));
        }
    }
    let option = |label: &str, description: &str| QuestionOption {
        label: label.to_owned(),
        description: description.to_owned(),
    };
    for ProviderOffer { name, sources, .. } in found.providers.iter().take(PROVIDERS) {
        offers.push(if sources.is_empty() {
            (Offer::Key(name.clone()), option(name, "needs a key; you type it next, hidden"))
        } else {
            (Offer::OfProvider(name.clone()), option(name, "has a key; you choose a model next"))
        });
    }
    if found.providers.len() > PROVIDERS {
        let more = found.providers.len() - PROVIDERS;
        offers.push((Offer::OtherKey, option("another provider", &format!("{more} more"))));
    }
    offers.push((Offer::Server, option("another server", "any OpenAI-compatible one")));
    offers.push((Offer::Leave, option("not now", "`neco demo` works without a model")));
    offers
}

#[cfg(test)]
mod tests {
    use neco_proto::app::models::LocalModels;

    use super::*;

    #[test]
    fn what_answers_comes_first() {
        let servers = vec![LocalModels {
            provider: "ollama".into(),
            base: "http://localhost:11434/v1".into(),
            models: vec!["qwen3:8b".into()],
        }];
        let providers = vec![ProviderOffer { name: "openai".into(), ..ProviderOffer::default() }];
        let found = ModelOffers { servers, providers, ..ModelOffers::default() };
        let offers: Vec<Offer> = all(&found).into_iter().map(|(offer, _)| offer).collect();
        let expected =
            [Offer::Model("ollama/qwen3:8b".into()), Offer::Key("openai".into()), Offer::Server, Offer::Leave];
        assert_eq!(offers, expected);
    }
}
