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
    /// A server at an address of the person's, which is asked for.
    Server,
    /// The server at this address.
    At(String),
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
    for provider in found.providers.iter().take(PROVIDERS) {
        let says = match provider.sources.is_empty() {
            true => "needs a key; you type it next, hidden",
            false => "has a key; you choose a model next",
        };
        offers.push((of(provider), option(&provider.name, says)));
    }
    if found.providers.len() > PROVIDERS {
        let more = found.providers.len() - PROVIDERS;
        offers.push((Offer::OtherKey, option("another provider", &format!("{more} more"))));
    }
    offers.push((Offer::Server, option("another server", "any OpenAI-compatible one")));
    offers.push((Offer::Leave, option("not now", "`neco demo` works without a model")));
    offers
}

/// A provider: its key comes first.
fn of(provider: &ProviderOffer) -> Offer {
    let name = provider.name.clone();
    if provider.sources.is_empty() { Offer::Key(name) } else { Offer::OfProvider(name) }
}

/// What words mean that were written instead of a choice: the model of this name, the server at this address, or each
/// provider and model whose name begins so; nothing when none does.
pub fn meant(words: &str, found: &ModelOffers) -> Vec<Offer> {
    let behind = words.split_once(':').filter(|(host, _)| !host.contains('/')).map(|(_, rest)| rest);
    let port = behind.map(|rest| rest.split('/').next().unwrap_or_default());
    if words.contains("://") || port.is_some_and(|port| port.parse::<u16>().is_ok()) {
        return vec![Offer::At(words.to_owned())];
    }
    if words.contains('/') {
        return vec![Offer::Model(words.to_owned())];
    }
    let wanted = words.to_lowercase();
    let providers = found.providers.iter().map(|provider| (provider.name.as_str(), of(provider)));
    let models = found.servers.iter().flat_map(|server| {
        server.models.iter().map(move |model| (model.as_str(), Offer::Model(format!("{}/{model}", server.provider))))
    });
    let named: Vec<(&str, Offer)> =
        providers.chain(models).filter(|(name, _)| name.to_lowercase().starts_with(&wanted)).collect();
    // A whole name is meant, whatever else begins with it.
    let whole = named.iter().find(|(name, _)| name.to_lowercase() == wanted).map(|(_, offer)| offer.clone());
    whole.map_or_else(|| named.into_iter().map(|(_, offer)| offer).collect(), |whole| vec![whole])
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

    #[test]
    fn the_beginning_of_a_name_is_enough() {
        let provider = |name: &str| ProviderOffer { name: name.into(), ..ProviderOffer::default() };
        let servers = vec![LocalModels {
            provider: "ollama".into(),
            base: "http://localhost:11434/v1".into(),
            models: vec!["qwen3:8b".into()],
        }];
        let providers = vec![provider("openai"), provider("openrouter"), provider("deepseek"), provider("zhipuai")];
        let found = ModelOffers {
            servers,
            providers: [providers, vec![provider("zhipuai-plan")]].concat(),
            ..ModelOffers::default()
        };
        let key = |name: &str| Offer::Key(name.into());
        assert_eq!(meant("Deep", &found), [key("deepseek")]);
        assert_eq!(meant("open", &found), [key("openai"), key("openrouter")]);
        assert_eq!(meant("zhipuai", &found), [key("zhipuai")], "a whole name");
        assert_eq!(meant("qwen3:8b", &found), [Offer::Model("ollama/qwen3:8b".into())]);
        assert_eq!(meant("openai/gpt", &found), [Offer::Model("openai/gpt".into())]);
        assert_eq!(meant("gpu-box:8000/v1", &found), [Offer::At("gpu-box:8000/v1".into())]);
        assert_eq!(meant("nobody", &found), []);
    }
}
