//! The resolved set: from the name of a model or group to something that can be asked.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use neco_config::section::{Config, ProviderType, Strategy};

use crate::assemble::Workshop;
use crate::catalogue::{Catalogue, ModelInfo};
use crate::cost::Price;
use crate::found::{self, Groups};
use crate::group::{Group, by_price};
use crate::probe::{self, LocalServer, Served};
use crate::provider::Provider;
use crate::route::{KeySources, ModelName, ProviderEntry, Providers};
use crate::setup::{LookedFor, SetupError, nearest};

/// Groups that `model` stands for when they are not given, in the order in which one of them
/// stands for the rest.
pub const GROUPS: [&str; 4] = ["think", "balanced", "act", "image"];

/// All models that can be asked.
pub struct Models {
    model: Option<String>,
    groups: Groups,
    /// What stands for the groups when nothing is configured: of keys, else of local servers.
    found: OnceLock<Groups>,
    pub(crate) providers: Providers,
    pub(crate) catalogue: Catalogue,
    pub(crate) workshop: Workshop,
    /// Made once for each name, so that turns, rests and connections are shared.
    made: Mutex<HashMap<String, Arc<dyn Provider>>>,
}

impl Models {
    /// What `config` says, with the keys of `sources`.
    ///
    /// # Errors
    /// When a provider is described so that nothing could be asked of it.
    pub fn new(config: &Config, sources: &dyn KeySources) -> Result<Self, SetupError> {
        let providers = Providers::new(&config.model_providers)?;
        let models = Self {
            model: config.model.clone(),
            groups: config.model_groups.clone(),
            found: OnceLock::new(),
            catalogue: Catalogue::new(&config.models)?,
            workshop: Workshop::new(&providers, &config.network, sources),
            providers,
            made: Mutex::default(),
        };
        let with_key: Vec<_> = models.providers.iter().filter(|entry| models.workshop.has_key(&entry.name)).collect();
        models.settle(found::of_keys(&with_key));
        Ok(models)
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
    /// first group of [`GROUPS`], else another group, else the first group of what was found.
    ///
    /// # Errors
    /// [`SetupError::NoModel`] when there is none.
    pub fn default_name(&self) -> Result<String, SetupError> {
        if let Some(model) = &self.model {
            return Ok(model.clone());
        }
        let groups = self.groups();
        let known = GROUPS.into_iter().find(|name| groups.contains_key(*name));
        let any = known.or_else(|| groups.keys().next().map(String::as_str));
        any.map(str::to_owned).ok_or_else(|| {
            // Keys that can't be read are another matter than none.
            self.workshop.unreadable().unwrap_or_else(|| SetupError::NoModel(self.looked_for()))
        })
    }

    /// The groups that were given, or those that were found when none was given and no model either.
    pub fn groups(&self) -> &Groups {
        match self.found.get() {
            Some(found) if self.groups.is_empty() && self.model.is_none() => found,
            Some(_) | None => &self.groups,
        }
    }

    /// Makes the groups of `servers` when nothing is configured and no key was found.
    pub fn use_local(&self, servers: &[LocalServer]) {
        self.settle(found::of_servers(servers, |server, model| {
            let name = format!("{}/{model}", server.provider);
            self.info(&name).is_ok_and(|info| info.vision)
        }));
    }

    /// Where a model is looked for when none is configured.
    pub fn looked_for(&self) -> LookedFor {
        let (local, remote): (Vec<_>, Vec<_>) = self.providers.iter().partition(|entry| entry.local);
        let address = |entry: &ProviderEntry| Some((entry.name.clone(), entry.base.as_ref()?.shown().to_owned()));
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
        let first = infos.next().ok_or_else(|| SetupError::EmptyGroup(name.to_owned()))?;
        Ok(infos.fold(first, |all, one| ModelInfo {
            context_window: all.context_window.min(one.context_window),
            max_output: all.max_output.min(one.max_output),
            price: all.price.filter(|price| Some(*price) == one.price),
            vision: all.vision && one.vision,
            tools: all.tools && one.tools,
            reasoning: all.reasoning && one.reasoning,
            sampling: all.sampling && one.sampling,
            known: all.known && one.known,
        }))
    }

    /// All keys that were found, each with the place where it was: what must not be in anything that
    /// is stored or shown.
    pub fn secrets(&self) -> impl Iterator<Item = (&str, &secrecy::SecretString)> {
        self.workshop.secrets()
    }

    /// All providers, built in and configured, in order of choice.
    pub fn providers(&self) -> &Providers {
        &self.providers
    }

    /// Local servers that answer on their usual ports within `timeout`, with their models.
    pub async fn probe_local(&self, timeout: std::time::Duration) -> Vec<LocalServer> {
        probe::probe(self.providers.iter().filter(|entry| entry.local), timeout).await
    }

    /// What a provider that speaks as OpenAI's does says that it serves, asked with its key where there is one.
    pub async fn served(&self, provider: &str, timeout: std::time::Duration) -> Served {
        let Ok(entry) = self.providers.get(provider) else { return Served::Unknown };
        match entry.kind {
            ProviderType::Openai | ProviderType::Responses => {
                probe::served(entry, self.workshop.first_key(provider), timeout).await
            }
            ProviderType::Anthropic | ProviderType::Gemini | ProviderType::Scripted => Served::Unknown,
        }
    }

    /// The models that `name` stands for, in the order in which they are asked if each fails.
    ///
    /// # Errors
    /// When there is no such model or group.
    pub fn members(&self, name: &str) -> Result<(Vec<ModelName>, Strategy), SetupError> {
        if let Some(group) = self.groups().get(name) {
            if group.models.is_empty() {
                return Err(SetupError::EmptyGroup(name.to_owned()));
            }
            let member = |model: &String| self.member(model).map_err(|error| error.in_group(name));
            let mut names = group.models.iter().map(member).collect::<Result<Vec<_>, _>>()?;
            if group.strategy == Strategy::Cheapest {
                by_price(&mut names, |name| self.price_of(name));
            }
            return Ok((names, group.strategy));
        }
        if name.contains('/') {
            return Ok((vec![name.parse()?], Strategy::First));
        }
        if GROUPS.contains(&name) && self.model.as_deref() != Some(name) {
            return self.members(&self.default_name()?);
        }
        Err(self.unknown(name))
    }

    /// A model as a group lists it.
    fn member(&self, model: &str) -> Result<ModelName, SetupError> {
        if self.groups().contains_key(model) || GROUPS.contains(&model) {
            return Err(SetupError::NestedGroup(model.to_owned()));
        }
        let name: ModelName = model.parse()?;
        self.providers.get(&name.provider)?;
        Ok(name)
    }

    /// What was probably meant by a name that is neither a group nor a model.
    fn unknown(&self, name: &str) -> SetupError {
        let is_group = |name: &str| self.groups().contains_key(name) || GROUPS.contains(&name);
        if let Some((group, _)) = name.split_once('?').filter(|(group, _)| is_group(group)) {
            return SetupError::GroupParameters { name: name.to_owned(), group: group.to_owned() };
        }
        let bare = name.split_once('?').map_or(name, |(bare, _)| bare);
        if let Ok(entry) = self.providers.get(bare) {
            let model = entry.default_model.clone().or_else(|| self.known_models(entry).into_iter().next());
            return SetupError::ProviderAlone { name: bare.to_owned(), model };
        }
        let mut known: Vec<String> = self.groups().keys().cloned().collect();
        if self.default_name().is_ok() {
            // Another one stands for those that are not given.
            known.extend(
                GROUPS.iter().filter(|group| !self.groups().contains_key(**group)).map(|group| (*group).to_owned()),
            );
        }
        let nearest = nearest(bare, known.iter().map(String::as_str));
        let models = self.catalogue.called(bare).filter(|_| nearest.is_none());
        SetupError::UnknownGroup { models: models.collect(), name: name.to_owned(), nearest, known }
    }

    pub(crate) fn info_of(&self, name: &ModelName) -> Result<ModelInfo, SetupError> {
        Ok(self.catalogue.info(name, self.providers.get(&name.provider)?))
    }

    /// A model on this machine costs nothing, unless the configuration says otherwise.
    fn price_of(&self, name: &ModelName) -> Option<Price> {
        let free = self.providers.get(&name.provider).is_ok_and(|entry| entry.local).then_some(Price::FREE);
        self.info_of(name).ok()?.price.or(free)
    }

    /// What was found first stays.
    fn settle(&self, found: Groups) {
        if !found.is_empty() {
            let _ = self.found.set(found);
        }
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
                Err(error) => return Err(error.in_group(name)),
            }
        }
        if members.is_empty() {
            return Err(missing.unwrap_or_else(|| SetupError::EmptyGroup(name.to_owned())));
        }
        let label = names.first().filter(|_| names.len() == 1).map_or_else(|| name.to_owned(), ModelName::label);
        Ok(Group::new(label, members, strategy, self.workshop.policy).limited(self.workshop.limits))
    }

    fn made(&self) -> std::sync::MutexGuard<'_, HashMap<String, Arc<dyn Provider>>> {
        self.made.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
