//! What is known of models: built in, overridden by `[models."provider/model"]`.

use std::collections::BTreeMap;

use neco_config::section::ModelSection;
use serde::Deserialize;

use crate::cost::Price;
use crate::route::ModelName;
use crate::setup::SetupError;

const BUILT_IN: &str = include_str!("catalogue.toml");

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
    /// Whether the sizes are known rather than assumed.
    pub known: bool,
}

/// What is known of all models.
#[derive(Clone, Debug)]
pub struct Catalogue {
    models: Vec<Entry>,
    overrides: BTreeMap<String, ModelSection>,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Entry {
    name: String,
    /// Where the price holds.
    provider: String,
    context_window: u64,
    max_output: u64,
    input: Option<f64>,
    output: Option<f64>,
    cache_read: Option<f64>,
}

#[derive(Deserialize)]
struct Table {
    model: Vec<Entry>,
}

impl Catalogue {
    /// The built-in catalogue under `overrides`.
    ///
    /// # Errors
    /// When the built-in table is broken.
    pub fn new(overrides: &BTreeMap<String, ModelSection>) -> Result<Self, SetupError> {
        let table: Table = toml::from_str(BUILT_IN)
            .map_err(|error| SetupError::BuiltInTable { table: "catalogue.toml", reason: error.to_string() })?;
        Ok(Self { models: table.model, overrides: overrides.clone() })
    }

    /// What is known of `name`; `local` says whether it runs on this machine.
    #[must_use]
    pub fn info(&self, name: &ModelName, local: bool) -> ModelInfo {
        let entry = self.models.iter().find(|entry| entry.is(&name.model));
        let price = entry.filter(|entry| entry.provider == name.provider).and_then(Entry::price);
        let unknown_window = if local { UNKNOWN_LOCAL_WINDOW } else { UNKNOWN_WINDOW };
        let mut info = ModelInfo {
            context_window: entry.map_or(unknown_window, |entry| entry.context_window),
            max_output: entry.map_or(UNKNOWN_OUTPUT, |entry| entry.max_output),
            price,
            known: entry.is_some(),
        };
        if let Some(section) = self.overrides.get(&name.label()) {
            info.lay_over(section);
        }
        info
    }
}

impl ModelInfo {
    fn lay_over(&mut self, section: &ModelSection) {
        self.known |= section.context_window.is_some();
        self.context_window = section.context_window.unwrap_or(self.context_window);
        self.max_output = section.max_output.unwrap_or(self.max_output);
        let input = section.input_price.or(self.price.map(|price| price.input));
        let output = section.output_price.or(self.price.map(|price| price.output));
        if let (Some(input), Some(output)) = (input, output) {
            // A new input price makes the old price of cached input meaningless.
            let old = self.price.filter(|_| section.input_price.is_none()).map(|price| price.cache_read);
            let cache_read = section.cache_read_price.or(old).unwrap_or(input);
            self.price = Some(Price { input, output, cache_read });
        }
    }
}

impl Entry {
    /// The vendor's name, perhaps with a path before it and a date or `latest` after it.
    fn is(&self, model: &str) -> bool {
        let last = model.rsplit('/').next().unwrap_or(model);
        let bare = last.split_once(':').map_or(last, |(bare, _)| bare);
        let Some((begin, rest)) = bare.split_at_checked(self.name.len()) else { return false };
        begin.eq_ignore_ascii_case(&self.name) && is_version(rest)
    }

    fn price(&self) -> Option<Price> {
        let (input, output) = (self.input?, self.output?);
        Some(Price { input, output, cache_read: self.cache_read.unwrap_or(input) })
    }
}

fn is_version(rest: &str) -> bool {
    rest.is_empty()
        || rest.strip_prefix(['-', '@']).is_some_and(|version| {
            version == "latest" || version.chars().all(|c| c.is_ascii_digit() || c == '-') && version.len() >= 4
        })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn info(catalogue: &Catalogue, name: &str) -> ModelInfo {
        catalogue.info(&name.parse().unwrap(), false)
    }

    #[test]
    fn dates_paths_and_tags_do_not_hide_a_model() {
        let catalogue = Catalogue::new(&BTreeMap::new()).unwrap();
        let plain = info(&catalogue, "openai/gpt-5");
        assert!(plain.known && plain.price.is_some());
        assert_eq!(info(&catalogue, "openai/gpt-5-2025-08-07"), plain);
        assert_eq!(info(&catalogue, "openrouter/openai/gpt-5").context_window, plain.context_window);
        assert_eq!(info(&catalogue, "openrouter/openai/gpt-5").price, None);
        assert_eq!(info(&catalogue, "openrouter/moonshotai/kimi-k2-thinking:free").context_window, 262_144);
        assert!(info(&catalogue, "mistral/devstral-medium-latest").known);
    }

    #[test]
    fn a_longer_name_is_another_model() {
        let catalogue = Catalogue::new(&BTreeMap::new()).unwrap();
        let unknown = info(&catalogue, "openai/gpt-5-pro");
        assert!(!unknown.known && unknown.price.is_none());
        assert_eq!(unknown.context_window, UNKNOWN_WINDOW);
        assert_eq!(catalogue.info(&"ollama/mine".parse().unwrap(), true).context_window, UNKNOWN_LOCAL_WINDOW);
    }

    #[test]
    fn the_configuration_wins() {
        let section = ModelSection {
            context_window: Some(5),
            input_price: Some(1.0),
            output_price: Some(2.0),
            ..ModelSection::default()
        };
        let catalogue = Catalogue::new(&[("mine/m".to_owned(), section)].into()).unwrap();
        let info = info(&catalogue, "mine/m?temperature=1");
        assert_eq!((info.context_window, info.max_output, info.known), (5, UNKNOWN_OUTPUT, true));
        assert_eq!(info.price, Some(Price { input: 1.0, output: 2.0, cache_read: 1.0 }));
    }
}
