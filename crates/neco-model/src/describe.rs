//! What a person is told of a model: where it is asked, what is known of it, and how it stands.

use neco_config::section::ProviderType;

use crate::catalogue::{ModelInfo, Sources, makes_instead};
use crate::models::Models;
use crate::route::name::family;
use crate::route::{ModelName, ProviderEntry};
use crate::setup::SetupError;

/// One model as a person is told of it. Never holds a key.
#[derive(Clone, Debug, PartialEq)]
pub struct Description {
    /// Its name and parameters.
    pub name: ModelName,
    /// The format it is asked in.
    pub wire: ProviderType,
    /// The provider's address, without login and query.
    pub base: Option<String>,
    /// Whether it runs on this machine.
    pub local: bool,
    /// What is known of it.
    pub info: ModelInfo,
    /// Where that comes from.
    pub sources: Sources,
    /// Where its keys come from.
    pub keys: Vec<String>,
    /// How it stands, one for each key; a model that can't be asked has one.
    pub states: Vec<(String, State)>,
}

/// How a model stands.
#[derive(Clone, Debug, PartialEq)]
pub enum State {
    /// It can be asked.
    Ready,
    /// It failed and is asked last for a while.
    Rests,
    /// It can't be asked.
    Unusable(SetupError),
}

impl Models {
    /// The models that `name` stands for, in the order in which they are asked.
    ///
    /// # Errors
    /// When there is no such model, provider or group.
    pub fn describe(&self, name: &str) -> Result<Vec<Description>, SetupError> {
        self.members(name)?.0.into_iter().map(|name| self.description(name)).collect()
    }

    /// The vendor's names of the models of `provider` that are known and hold conversations, without
    /// asking it.
    pub fn known_models(&self, provider: &ProviderEntry) -> Vec<String> {
        let usual = [&provider.strong_model, &provider.default_model, &provider.fast_model, &provider.vision_model];
        let mut known: Vec<String> = Vec::new();
        // An edition is not listed beside its family.
        let usual = usual.into_iter().flatten().map(|model| family(model).to_owned());
        for model in self.catalogue.models_of(&provider.name).chain(usual) {
            if !known.contains(&model) && makes_instead(&model).is_none() {
                known.push(model);
            }
        }
        known
    }

    /// Where the keys of `provider` come from; empty when it has none.
    pub fn key_sources(&self, provider: &str) -> Vec<String> {
        self.workshop.key_sources(provider)
    }

    fn description(&self, name: ModelName) -> Result<Description, SetupError> {
        let entry = self.providers.get(&name.provider)?;
        let info = self.info_of(&name)?;
        let states = match self.workshop.member(entry, &name, info) {
            Ok(member) => {
                let state = |rests: bool| if rests { State::Rests } else { State::Ready };
                member.lanes().map(|lane| (lane.name.clone(), state(lane.rests()))).collect()
            }
            Err(error) => vec![(name.label(), State::Unusable(error))],
        };
        Ok(Description {
            wire: entry.kind_for(&name.model),
            base: entry.base.as_ref().map(|base| base.shown().to_owned()),
            local: entry.local,
            info,
            sources: self.catalogue.sources(&name),
            keys: self.key_sources(&entry.name),
            states,
            name,
        })
    }
}
