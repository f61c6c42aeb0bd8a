//! What a person without a model can choose from.

use neco_proto::app::models::{ModelOffers, ProviderOffer};
use neco_proto::{QuestionItem, QuestionOption};

/// Models of one local server that are listed before anything is searched for.
const OF_ONE: usize = 6;

/// Providers that are: all of it is to fit a small terminal.
pub const PROVIDERS: usize = 6;

/// Columns of the first of two things that are said about an offer.
const FIRST: usize = 34;

/// One thing to choose.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Offer {
    /// A model of a server that answers.
    Model(String),
    /// A provider, once a key is typed.
    Key(String),
    /// A model of a provider whose key is there.
    OfProvider(String),
    /// A provider that is not listed at first.
    OtherKey,
    /// A server at an address of the person's, which is asked for.
    Server,
    /// The server at this address.
    At(String),
    /// Not now.
    Leave,
}

/// Offers that stand together below a name; without one they are found by searching alone.
pub struct Group {
    name: &'static str,
    offers: Vec<(Offer, QuestionOption)>,
}

impl Group {
    /// The offer of a label.
    pub fn find(&self, label: &str) -> Option<&Offer> {
        self.offers.iter().find(|(_, option)| option.label == label).map(|(offer, _)| offer)
    }

    /// The group as a part of a question.
    pub fn item(&self) -> QuestionItem {
        let options = self.offers.iter().map(|(_, option)| option.clone()).collect();
        QuestionItem {
            title: self.name.to_owned(),
            text: String::new(),
            options,
            multiple: false,
            empty: Default::default(),
            field: None,
        }
    }
}

/// What there is: what answers comes first.
pub fn all(found: &ModelOffers) -> Vec<Group> {
    let (mut here, mut further) = (Vec::new(), Vec::new());
    for server in &found.servers {
        for (number, model) in server.models.iter().enumerate() {
            let name = format!("{}/{model}", server.provider);
            let offer = (Offer::Model(name.clone()), option(true, &name, format!("answers at {}", server.base)));
            if number < OF_ONE { here.push(offer) } else { further.push(offer) }
        }
    }
    let provider = |provider: &ProviderOffer| {
        let about = match provider.sources.as_slice() {
            [] => "type or paste a key, hidden".to_owned(),
            sources => format!("has a key: {}", sources.join(", ")),
        };
        (of(provider), option(!provider.sources.is_empty(), &provider.name, about))
    };
    let mut keys: Vec<(Offer, QuestionOption)> = found.providers.iter().map(provider).collect();
    let more = keys.split_off(keys.len().min(PROVIDERS));
    if !more.is_empty() {
        let label = format!("… {} more providers", more.len());
        keys.push((Offer::OtherKey, QuestionOption { label, description: "letters find them, too".to_owned() }));
    }
    further.extend(more);
    let both = |first: &str, second: &str| format!("{first:<FIRST$}{second}");
    let server = both("an address such as gpu-box:8000", "anything that speaks OpenAI's API");
    let demo = both("see it work first: neco demo", "offline, one minute");
    let elsewhere = vec![
        (Offer::Server, option(false, "a server of yours", server)),
        (Offer::Leave, option(false, "no model yet", demo)),
    ];
    let groups = [("On this machine", here), ("With a key", keys), ("Elsewhere", elsewhere), ("", further)];
    groups.into_iter().filter(|(_, offers)| !offers.is_empty()).map(|(name, offers)| Group { name, offers }).collect()
}

/// An option, marked when nothing is missing to use it.
fn option(ready: bool, name: &str, description: String) -> QuestionOption {
    QuestionOption { label: format!("{} {name}", if ready { "✓" } else { "○" }), description }
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

    fn ollama(models: Vec<String>) -> Vec<LocalModels> {
        vec![LocalModels { provider: "ollama".into(), base: "http://localhost:11434/v1".into(), models }]
    }

    fn provider(name: &str) -> ProviderOffer {
        ProviderOffer { name: name.into(), ..ProviderOffer::default() }
    }

    #[test]
    fn what_answers_comes_first() {
        let with_key = ProviderOffer { sources: vec!["ANTHROPIC_API_KEY".into()], ..provider("anthropic") };
        let found = ModelOffers {
            servers: ollama(vec!["qwen3:8b".into()]),
            providers: vec![with_key, provider("openai")],
            ..ModelOffers::default()
        };
        let told = |group: &Group| group.offers.iter().map(|(_, option)| option.label.clone()).collect::<Vec<_>>();
        let groups = all(&found);
        let told: Vec<(&str, Vec<String>)> = groups.iter().map(|group| (group.name, told(group))).collect();
        let expected = [
            ("On this machine", vec!["✓ ollama/qwen3:8b".to_owned()]),
            ("With a key", vec!["✓ anthropic".to_owned(), "○ openai".to_owned()]),
            ("Elsewhere", vec!["○ a server of yours".to_owned(), "○ no model yet".to_owned()]),
        ];
        assert_eq!(told, expected);
        let find = |label: &str| groups.iter().find_map(|group| group.find(label)).cloned();
        assert_eq!(find("✓ ollama/qwen3:8b"), Some(Offer::Model("ollama/qwen3:8b".into())));
        assert_eq!(find("✓ anthropic"), Some(Offer::OfProvider("anthropic".into())));
        assert_eq!(find("○ openai"), Some(Offer::Key("openai".into())));
        assert_eq!(find("openai"), None, "that is written, and not chosen");
    }

    #[test]
    fn what_does_not_fit_is_found_by_searching() {
        let found = ModelOffers {
            servers: ollama((0..9).map(|number| format!("m{number}")).collect()),
            providers: (0..8).map(|number| provider(&format!("p{number}"))).collect(),
            ..ModelOffers::default()
        };
        let groups = all(&found);
        let counts: Vec<(&str, usize)> = groups.iter().map(|group| (group.name, group.offers.len())).collect();
        let expected = [("On this machine", OF_ONE), ("With a key", PROVIDERS + 1), ("Elsewhere", 2), ("", 3 + 2)];
        assert_eq!(counts, expected);
        assert_eq!(groups[1].find("… 2 more providers"), Some(&Offer::OtherKey));
        assert_eq!(groups[3].find("○ p7"), Some(&Offer::Key("p7".into())));
    }

    #[test]
    fn the_beginning_of_a_name_is_enough() {
        let names = ["openai", "openrouter", "deepseek", "zhipuai", "zhipuai-plan"];
        let found = ModelOffers {
            servers: ollama(vec!["qwen3:8b".into()]),
            providers: names.map(provider).to_vec(),
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
