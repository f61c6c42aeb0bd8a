//! What a person should know who sets a budget for models whose price nobody knows.

use neco_config::section::ProviderType;
use neco_model::Models;

/// What is said of the models of `name` that a budget of money can't stop; `limit` is what set it.
#[must_use]
pub fn warning(models: &Models, name: &str, limit: &str) -> Option<String> {
    let described = models.describe(name).unwrap_or_default();
    // A script and a model on this machine cost nothing.
    let costs = described.iter().filter(|model| !model.local && model.wire != ProviderType::Scripted);
    let unknown: Vec<String> =
        costs.filter(|model| model.info.price.is_none()).map(|model| model.name.label()).collect();
    let first = unknown.first()?;
    Some(format!(
        "the price of {} is not known, so {limit} can't stop it: set input_price and output_price in [models.\"{first}\"]",
        unknown.join(", ")
    ))
}
