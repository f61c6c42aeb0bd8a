//! What is known of models: built in, overridden by `[models."provider/model"]`.

use std::collections::BTreeMap;

use neco_config::section::{ModelSection, ProviderType};

use crate::catalogue_models::MODELS;
use crate::cost::{LongPrompt, Price};
use crate::route::{ModelName, ProviderEntry};

/// What an unknown model is taken to have room for.
const UNKNOWN_WINDOW: u64 = 128_000;
/// The same on this machine, where windows are set small to save memory.
const UNKNOWN_LOCAL_WINDOW: u64 = 32_768;
const UNKNOWN_OUTPUT: u64 = 8_192;

/// What is known of a model.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ModelInfo {
    /// Tokens that fit into one request and its answer.
    pub context_window: u64,
    /// Most tokens of one answer.
    pub max_output: u64,
    /// What it costs; `None` when that is not known or nothing.
    pub price: Option<Price>,
    /// Whether it sees pictures.
    pub vision: bool,
    /// Whether it can call tools.
    pub tools: bool,
    /// Whether it thinks before it answers.
    pub reasoning: bool,
    /// Whether it can be wished how freely it chooses its words. Models that think refuse to be told, and so may
    /// those of which nothing is known, unless they run on this machine.
    pub sampling: bool,
    /// Whether the sizes are known rather than assumed.
    pub known: bool,
    /// Whether the settings give the window: then no server is asked for it.
    pub window_is_set: bool,
}

impl Default for ModelInfo {
    /// What an unknown model is taken to be.
    fn default() -> Self {
        Self {
            context_window: UNKNOWN_WINDOW,
            max_output: UNKNOWN_OUTPUT,
            price: None,
            vision: false,
            tools: true,
            reasoning: false,
            sampling: false,
            known: false,
            window_is_set: false,
        }
    }
}

/// What is known of all models.
#[derive(Clone, Debug)]
pub struct Catalogue {
    overrides: BTreeMap<String, ModelSection>,
}

/// Where the facts about a model come from. What neither source has is assumed.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Sources {
    /// The entry of the built-in catalogue; another provider's, when that has the same model.
    pub built_in: Option<String>,
    /// Whether the configuration has something laid over it.
    pub overridden: bool,
}

/// A model that is built in.
#[derive(Debug)]
pub(crate) struct Entry {
    pub(crate) name: &'static str,
    /// Where the price holds.
    pub(crate) provider: &'static str,
    /// What that provider wants before the name.
    pub(crate) path: Option<&'static str>,
    pub(crate) context_window: u64,
    pub(crate) max_output: u64,
    pub(crate) input: Option<f64>,
    pub(crate) output: Option<f64>,
    pub(crate) cache_read: Option<f64>,
    pub(crate) cache_write: Option<f64>,
    pub(crate) long: Option<LongPrompt>,
    pub(crate) vision: bool,
    pub(crate) reasoning: bool,
}

impl Catalogue {
    /// The built-in catalogue under `overrides`.
    pub fn new(overrides: &BTreeMap<String, ModelSection>) -> Self {
        Self { overrides: overrides.clone() }
    }

    /// What is known of `name`, which `provider` serves.
    pub fn info(&self, name: &ModelName, provider: &ProviderEntry) -> ModelInfo {
        let mut info = match Self::entry(name) {
            Some(entry) => entry.info(&name.provider),
            None => unknown(provider, &name.model),
        };
        if let Some(section) = self.overrides.get(&name.label()) {
            info.lay_over(section);
        }
        info
    }

    /// Where [`Catalogue::info`] has it from.
    pub fn sources(&self, name: &ModelName) -> Sources {
        Sources {
            built_in: Self::entry(name).map(|entry| format!("{}/{}", entry.provider, entry.name)),
            overridden: self.overrides.contains_key(&name.label()),
        }
    }

    /// The models of `provider` that are known, as they are written after `provider/`: built in, then
    /// overridden.
    pub fn models_of(&self, provider: &str) -> impl Iterator<Item = String> {
        let built_in = MODELS.iter().filter(move |entry| entry.provider == provider).map(Entry::full_name);
        let written = self.overrides.keys().filter_map(move |label| label.split_once('/'));
        built_in.chain(written.filter(move |(of, _)| *of == provider).map(|(_, model)| model.to_owned()))
    }

    /// The models that are called `model`, as `provider/model`.
    pub fn called(&self, model: &str) -> impl Iterator<Item = String> {
        let named = MODELS.iter().filter(move |entry| entry.is(model));
        named.map(|entry| format!("{}/{}", entry.provider, entry.full_name()))
    }

    fn entry(name: &ModelName) -> Option<&'static Entry> {
        let mut named = MODELS.iter().filter(|entry| entry.is(&name.model));
        let any = named.clone().next();
        named.find(|entry| entry.provider == name.provider).or(any)
    }
}

/// What a model makes that does not hold conversations, as far as its name tells.
pub fn makes_instead(model: &str) -> Option<&'static str> {
    let model = model.to_lowercase();
    let last = model.rsplit('/').next().unwrap_or(&model);
    let mut words = last.split(|c: char| !c.is_ascii_alphanumeric());
    let family = words.clone().next().unwrap_or_default();
    if model.contains("rerank") {
        Some("rankings")
    } else if model.contains("embed") || ["bge", "gte", "e5", "voyage", "minilm"].contains(&family) {
        Some("embeddings")
    } else if words.any(|word| word.ends_with("apply")) || family == "morph" {
        Some("edits out of snippets")
    } else {
        None
    }
}

impl ModelInfo {
    fn lay_over(&mut self, section: &ModelSection) {
        self.window_is_set = section.context_window.is_some();
        self.known |= self.window_is_set;
        self.context_window = section.context_window.unwrap_or(self.context_window);
        self.max_output = section.max_output.unwrap_or(self.max_output);
        self.vision = section.vision.unwrap_or(self.vision);
        self.tools = section.tools.unwrap_or(self.tools);
        self.reasoning = section.reasoning.unwrap_or(self.reasoning);
        self.sampling = section.reasoning.map_or(self.sampling, |reasoning| !reasoning);
        let input = section.input_price.or(self.price.map(|price| price.input));
        let output = section.output_price.or(self.price.map(|price| price.output));
        if let (Some(input), Some(output)) = (input, output) {
            // A new input price makes the old prices of the cache meaningless.
            let old = self.price.filter(|_| section.input_price.is_none());
            let cache_read = section.cache_read_price.or(old.map(|price| price.cache_read)).unwrap_or(input);
            let cache_write = section.cache_write_price.or(old.map(|price| price.cache_write)).unwrap_or(input);
            let long = old.and_then(|price| price.long);
            self.price = Some(Price { input, output, cache_read, cache_write, long });
        }
    }
}

impl Entry {
    /// The vendor's name, perhaps with a path before it and a date or `latest` after it. Some write
    /// versions with dots, some with dashes.
    fn is(&self, model: &str) -> bool {
        let last = model.rsplit('/').next().unwrap_or(model);
        let bare = last.split_once(':').map_or(last, |(bare, _)| bare);
        let Some((begin, rest)) = bare.split_at_checked(self.name.len()) else { return false };
        let same = |(one, other): (u8, u8)| one.eq_ignore_ascii_case(&other) || (is_joint(one) && is_joint(other));
        begin.bytes().zip(self.name.bytes()).all(same) && is_version(rest)
    }

    fn full_name(&self) -> String {
        match self.path {
            Some(path) => format!("{path}/{}", self.name),
            None => self.name.to_owned(),
        }
    }

    fn info(&self, provider: &str) -> ModelInfo {
        ModelInfo {
            context_window: self.context_window,
            max_output: self.max_output,
            price: self.price().filter(|_| self.provider == provider),
            vision: self.vision,
            tools: true,
            reasoning: self.reasoning,
            sampling: !self.reasoning,
            known: true,
            window_is_set: false,
        }
    }

    fn price(&self) -> Option<Price> {
        let (input, output) = (self.input?, self.output?);
        let cache_read = self.cache_read.unwrap_or(input);
        Some(Price { input, output, cache_read, cache_write: self.cache_write.unwrap_or(input), long: self.long })
    }
}

fn unknown(provider: &ProviderEntry, model: &str) -> ModelInfo {
    let info = ModelInfo::default();
    // Behind the formats of these vendors every current model sees; elsewhere most do not, and a
    // picture too many is an error that no retry mends.
    let vision = match provider.kind_for(model) {
        ProviderType::Responses | ProviderType::Anthropic | ProviderType::Gemini => true,
        ProviderType::Openai | ProviderType::Scripted => false,
    };
    let context_window = if provider.local { UNKNOWN_LOCAL_WINDOW } else { info.context_window };
    ModelInfo { context_window, vision, sampling: provider.local, ..info }
}

fn is_joint(byte: u8) -> bool {
    byte == b'.' || byte == b'-'
}

fn is_version(rest: &str) -> bool {
    rest.is_empty()
        || rest.strip_prefix(['-', '@']).is_some_and(|version| {
            version == "latest" || version.chars().all(|c| c.is_ascii_digit() || c == '-') && version.len() >= 4
        })
}

#[cfg(test)]
mod tests {
    use neco_config::section::ProviderSection;

    use super::*;
    use crate::route::Providers;

    fn info(catalogue: &Catalogue, name: &str) -> ModelInfo {
        let name: ModelName = name.parse().unwrap();
        let section = ProviderSection { kind: Some(ProviderType::Openai), ..ProviderSection::default() };
        let providers = Providers::new(&[("mine".to_owned(), section)].into()).unwrap();
        catalogue.info(&name, providers.get(&name.provider).unwrap())
    }

    #[test]
    fn dates_paths_and_tags_do_not_hide_a_model() {
        let catalogue = Catalogue::new(&BTreeMap::new());
        let plain = info(&catalogue, "openai/gpt-5");
        assert!(plain.known && plain.price.is_some());
        assert_eq!(info(&catalogue, "openai/gpt-5-2025-08-07"), plain);
        assert_eq!(info(&catalogue, "openrouter/openai/gpt-5").context_window, plain.context_window);
        assert_eq!(info(&catalogue, "openrouter/openai/gpt-5").price, None);
        assert_eq!(info(&catalogue, "openrouter/moonshotai/kimi-k2-thinking:free").context_window, 262_144);
        assert!(info(&catalogue, "mistral/devstral-medium-latest").known);
    }

    #[test]
    fn a_price_is_that_of_the_provider_that_is_asked() {
        let catalogue = Catalogue::new(&BTreeMap::new());
        let native = info(&catalogue, "anthropic/claude-sonnet-4-5-20250929");
        assert!(native.vision && native.tools && native.reasoning);
        assert_eq!(native.price.map(|price| (price.cache_read, price.cache_write)), Some((0.3, 3.75)));
        assert!(info(&catalogue, "openrouter/anthropic/claude-sonnet-4.5").price.is_some());
        assert_eq!(info(&catalogue, "github-copilot/claude-sonnet-5.5").context_window, 1_000_000);
        assert!(info(&catalogue, "gemini/gemini-2.5-pro").price.is_some_and(|price| price.long.is_some()));
        assert!(info(&catalogue, "gemini/gemini-9").vision && !info(&catalogue, "groq/llama-9").vision);
    }

    #[test]
    fn what_does_not_chat_is_known_by_its_name() {
        for (model, makes) in [
            ("nomic-embed-text:latest", Some("embeddings")),
            ("text-embedding-3-large", Some("embeddings")),
            ("BAAI/bge-m3", Some("embeddings")),
            ("Qwen/Qwen3-Embedding-8B", Some("embeddings")),
            ("bge-reranker-v2-m3", Some("rankings")),
            ("jina-reranker-v3", Some("rankings")),
            ("morph/morph-v3-fast", Some("edits out of snippets")),
            ("Kortix/FastApply-1.5B-v1.0", Some("edits out of snippets")),
            ("relace/relace-apply-3", Some("edits out of snippets")),
            ("applied-qwen3", None),
            ("gpt-5", None),
            ("qwen3-coder:30b", None),
            ("gemini-3.6-flash", None),
        ] {
            assert_eq!(makes_instead(model), makes, "{model}");
        }
    }

    #[test]
    fn a_longer_name_is_another_model() {
        let catalogue = Catalogue::new(&BTreeMap::new());
        let unknown = info(&catalogue, "openai/gpt-5-pro");
        assert!(!unknown.known && unknown.price.is_none());
        assert_eq!(unknown.context_window, UNKNOWN_WINDOW);
        assert_eq!(info(&catalogue, "ollama/mine").context_window, UNKNOWN_LOCAL_WINDOW);
    }

    #[test]
    fn the_configuration_wins() {
        let section = ModelSection {
            context_window: Some(5),
            input_price: Some(1.0),
            output_price: Some(2.0),
            ..ModelSection::default()
        };
        let catalogue = Catalogue::new(&[("mine/m".to_owned(), section)].into());
        let info = info(&catalogue, "mine/m?temperature=1");
        assert_eq!((info.context_window, info.max_output, info.known), (5, UNKNOWN_OUTPUT, true));
        assert_eq!(info.price, Some(Price { input: 1.0, output: 2.0, cache_read: 1.0, cache_write: 1.0, long: None }));
    }
}
