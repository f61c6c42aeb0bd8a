//! The resolved set: from the name of a model or group to something that can be asked.

use std::collections::BTreeMap;
use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use neco_config::section::{Config, GroupSection, Strategy};

use crate::assemble::Workshop;
use crate::catalogue::{Catalogue, ModelInfo};
use crate::group::Group;
use crate::probe::{self, LocalServer};
use crate::provider::Provider;
use crate::route::{ModelName, ProviderEntry, Providers};
use crate::setup::{LookedFor, SetupError, nearest};

/// Groups that `model` stands for when they are not given, in the order in which one of them
/// stands for the rest.
pub const GROUPS: [&str; 4] = ["think", "balanced", "act", "image"];

/// All models that can be asked.
pub struct Models {
    model: Option<String>,
    groups: BTreeMap<String, GroupSection>,
    providers: Providers,
    catalogue: Catalogue,
    workshop: Workshop,
    /// Made once for each name, so that turns, rests and connections are shared.
    made: Mutex<HashMap<String, Arc<dyn Provider>>>,
}

impl Models {
    /// What `config` says; keys are looked up with `env`.
    ///
    /// # Errors
    /// When a provider is described so that nothing could be asked of it.
    pub fn new(config: &Config, env: &dyn Fn(&str) -> Option<String>) -> Result<Self, SetupError> {
        let providers = Providers::new(&config.model_providers)?;
        Ok(Self {
            model: config.model.clone(),
            groups: config.model_groups.clone(),
            catalogue: Catalogue::new(&config.models)?,
            workshop: Workshop::new(&providers, &config.network, env),
            providers,
            made: Mutex::default(),
        })
    }

    /// What can be asked by `name`: a group, or `provider/model?param=value`. A well-known group
    /// that is not given is the default model.
    ///
    /// # Errors
    /// When it can't be asked; says what to do.
    pub fn provider_for(&self, name: &str) -> Result<Arc<dyn Provider>, SetupError> {
        if let Some(made) = self.made().get(name) {
            return Ok(made.clone());
        }
        let provider: Arc<dyn Provider> = Arc::new(self.make(name)?);
        // Another thread may have made it meanwhile; the first one stays.
        Ok(self.made().entry(name.to_owned()).or_insert(provider).clone())
    }

    /// The name of what is asked when nobody says otherwise: `model` of the configuration, else the
    /// first group of [`GROUPS`], else another group, else the first provider of the built-in table
    /// whose key is there, with its usual model.
    ///
    /// # Errors
    /// [`SetupError::NoModel`] when there is none.
    pub fn default_name(&self) -> Result<String, SetupError> {
        if let Some(model) = &self.model {
            return Ok(model.clone());
        }
        let known = GROUPS.into_iter().find(|name| self.groups.contains_key(*name));
        if let Some(group) = known.or_else(|| self.groups.keys().next().map(String::as_str)) {
            return Ok(group.to_owned());
        }
        let usual = self.providers.iter().find_map(|entry| {
            let model = entry.default_model.as_ref().filter(|_| self.workshop.has_key(&entry.name))?;
            Some(format!("{}/{model}", entry.name))
        });
        usual.ok_or_else(|| SetupError::NoModel(self.looked_for()))
    }

    /// Where a model is looked for when none is configured.
    #[must_use]
    pub fn looked_for(&self) -> LookedFor {
        let (local, remote): (Vec<_>, Vec<_>) = self.providers.iter().partition(|entry| entry.local);
        let address = |entry: &ProviderEntry| Some((entry.name.clone(), entry.base.clone()?));
        LookedFor {
            keys: remote
                .into_iter()
                .filter(|entry| entry.default_model.is_some() && !entry.api_key_envs.is_empty())
                .map(|entry| (entry.name.clone(), entry.api_key_envs.clone()))
                .collect(),
            local: local.into_iter().filter_map(address).collect(),
        }
    }

    /// What is known of a model; of a group, what holds for all its models.
    ///
    /// # Errors
    /// When there is no such model or group.
    pub fn info(&self, name: &str) -> Result<ModelInfo, SetupError> {
        let (names, _) = self.members(name)?;
        let mut infos = names.iter().map(|name| self.info_of(name)).collect::<Result<Vec<_>, _>>()?.into_iter();
        let first = infos.next().ok_or_else(|| SetupError::EmptyGroup { group: name.to_owned() })?;
        Ok(infos.fold(first, |all, one| ModelInfo {
            context_window: all.context_window.min(one.context_window),
            max_output: all.max_output.min(one.max_output),
            price: all.price.filter(|price| Some(*price) == one.price),
            vision: all.vision && one.vision,
            tools: all.tools && one.tools,
            reasoning: all.reasoning && one.reasoning,
            known: all.known && one.known,
        }))
    }

    /// All providers, built in and configured, in order of choice.
    #[must_use]
    pub fn providers(&self) -> &Providers {
        &self.providers
    }

    /// Local servers that answer on their usual ports within `timeout`, with their models.
    pub async fn probe_local(&self, timeout: std::time::Duration) -> Vec<LocalServer> {
        probe::probe(self.providers.iter().filter(|entry| entry.local), timeout).await
    }

    fn info_of(&self, name: &ModelName) -> Result<ModelInfo, SetupError> {
        Ok(self.catalogue.info(name, self.providers.get(&name.provider)?))
    }

    fn make(&self, name: &str) -> Result<Group, SetupError> {
        let (names, strategy) = self.members(name)?;
        let mut members = Vec::new();
        let mut missing = None;
        for model in &names {
            let entry = self.providers.get(&model.provider)?;
            match self.workshop.member(entry, model, self.info_of(model)?) {
                Ok(member) => members.push(member),
                // The others can stand in for a model without a key.
                Err(error @ SetupError::MissingKey { .. }) => {
                    tracing::warn!(%model, %error, "left out of its group");
                    missing.get_or_insert(error);
                }
                Err(error) => return Err(error),
            }
        }
        if members.is_empty() {
            return Err(missing.unwrap_or_else(|| SetupError::EmptyGroup { group: name.to_owned() }));
        }
        let label = names.first().filter(|_| names.len() == 1).map_or_else(|| name.to_owned(), ModelName::label);
        Ok(Group::new(label, members, strategy, self.workshop.policy))
    }

    /// The models that `name` stands for.
    fn members(&self, name: &str) -> Result<(Vec<ModelName>, Strategy), SetupError> {
        if let Some(group) = self.groups.get(name) {
            if group.models.is_empty() {
                return Err(SetupError::EmptyGroup { group: name.to_owned() });
            }
            let names = group.models.iter().map(|model| model.parse()).collect::<Result<_, _>>()?;
            return Ok((names, group.strategy));
        }
        if name.contains('/') {
            return Ok((vec![name.parse()?], Strategy::First));
        }
        if GROUPS.contains(&name) && self.model.as_deref() != Some(name) {
            return self.members(&self.default_name()?);
        }
        let known: Vec<String> = self.groups.keys().cloned().collect();
        let nearest = nearest(name, known.iter().map(String::as_str));
        Err(SetupError::UnknownGroup { name: name.to_owned(), nearest, known })
    }

    fn made(&self) -> std::sync::MutexGuard<'_, HashMap<String, Arc<dyn Provider>>> {
        self.made.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
