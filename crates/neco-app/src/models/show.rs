//! Everything that is known of a model or a group.

use neco_model::route::Parameters;
use neco_model::{Description, State};
use neco_proto::app::AppError;
use neco_proto::app::models::{ModelDescription, ModelState, Readiness, ShowModel, ShownModel};

use super::here::{Here, facts};
use crate::app::StorelessApp;
use crate::error::of_setup;

pub(crate) async fn show(app: &StorelessApp, request: ShowModel) -> Result<ShownModel, AppError> {
    let here = Here::look(app, &request.folder)?;
    here.probe().await;
    let models = &here.models;
    let found = request.name.map_or_else(|| models.default_name(), Ok).and_then(|name| {
        let (_, strategy) = models.members(&name)?;
        let strategy = (!name.contains('/')).then_some(strategy.into());
        let models = models.describe(&name)?.into_iter().map(description).collect();
        Ok(ShownModel { name, strategy, models, warnings: here.warnings.clone() })
    });
    found.map_err(|error| of_setup(error).after(&here.warnings))
}

fn description(model: Description) -> ModelDescription {
    ModelDescription {
        facts: facts(&model.info),
        name: model.name.label(),
        parameters: parameters(&model.name.parameters),
        provider: model.name.provider,
        base: model.base,
        wire: model.wire.into(),
        key_sources: model.keys,
        catalogue_entry: model.sources.built_in,
        overridden: model.sources.overridden,
        states: model.states.into_iter().map(|(name, state)| standing(name, state)).collect(),
        local: model.local,
    }
}

fn standing(name: String, state: State) -> ModelState {
    let (state, reason) = match state {
        State::Ready => (Readiness::Ready, None),
        State::Rests => (Readiness::Rests, None),
        State::Unusable(error) => (Readiness::Unusable, Some(error.to_string())),
    };
    ModelState { name, state, reason }
}

fn parameters(parameters: &Parameters) -> Vec<String> {
    let Parameters { temperature, top_p, max_tokens, reasoning, seed } = parameters;
    let set = |name: &str, value: Option<String>| value.map(|value| format!("{name}={value}"));
    [
        set("temperature", temperature.map(|value| value.to_string())),
        set("top_p", top_p.map(|value| value.to_string())),
        set("max_tokens", max_tokens.map(|value| value.to_string())),
        set("reasoning", reasoning.clone()),
        set("seed", seed.map(|value| value.to_string())),
    ]
    .into_iter()
    .flatten()
    .collect()
}
