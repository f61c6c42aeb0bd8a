//! The resolved set: from the name of a model or group to something that can be asked.

use std::collections::{BTreeMap, HashMap};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use neco_config::section::{Config, GroupSection, ProviderType, Strategy};

use crate::assemble::Workshop;
use crate::catalogue::{Catalogue, ModelInfo, Sources, makes_instead};
use crate::cost::Price;
use crate::group::{Group, by_price};
use crate::probe::{self, LocalServer, Served};
use crate::provider::Provider;
use crate::route::name::family;
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
    /// Fails when a provider is described so that nothing could be asked of it.
    pub fn new(config: &Config, sources: &dyn KeySources) -> Result<Self, SetupError> {
        let providers = Providers::new(&config.model_providers)?;
        let models = Self {
            model: config.model.clone(),
            groups: config.model_groups.clone(),
            found: OnceLock::new(),
            catalogue: Catalogue::new(&config.models),
            workshop: Workshop::new(&providers, &config.network, sources),
            providers,
            made: Mutex::default(),
        };
        // Whoever has only a key that is another's is asked by name alone.
        let is_own = |entry: &&ProviderEntry| {
            models.workshop.key_sources(&entry.name).iter().any(|source| !entry.shared_key_envs.contains(source))
        };
        let with_key: Vec<_> = models.providers.iter().filter(is_own).collect();
        models.settle(of_keys(&with_key));
        Ok(models)
    }

    /// What can be asked by `name`: a group, or `provider/model?param=value`. A well-known group
    /// that is not given is the default model.
    /// Fails when it can't be asked; says what to do.
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
    /// Fails with [`SetupError::NoModel`] when there is none.
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
        self.settle(of_servers(servers, |server, model| {
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
    /// Fails when there is no such model or group.
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
            window_is_set: all.window_is_set && one.window_is_set,
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
    /// Fails when there is no such model or group.
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
        // One that is used here is meant before one that is only known of.
        let used = self.groups().values().flat_map(|group| group.models.iter()).chain(self.model.as_ref());
        let used = used.map(|model| model.split_once('?').map_or(model.as_str(), |(model, _)| model));
        let used = used.filter(|model| model.split_once('/').is_some_and(|(_, model)| model == bare));
        let mut models: Vec<String> = used.map(str::to_owned).collect();
        models.sort();
        models.dedup();
        if models.is_empty() && nearest.is_none() {
            models.extend(self.catalogue.called(bare));
        }
        SetupError::UnknownGroup { models, name: name.to_owned(), nearest, known }
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

    /// The models that `name` stands for, in the order in which they are asked.
    /// Fails when there is no such model, provider or group.
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

pub(crate) type Groups = BTreeMap<String, GroupSection>;

/// The groups of `providers`, which are those with a key in order of choice: the first is asked, the
/// others stand in for it.
pub(crate) fn of_keys(providers: &[&ProviderEntry]) -> Groups {
    groups(|group| {
        let usual = |entry: &&ProviderEntry| Some(format!("{}/{}", entry.name, entry.usual_model(group)?));
        providers.iter().filter_map(usual).collect()
    })
}

/// The groups of local `servers`. What a server lists first it is asked by default; the largest of
/// its models thinks and the smallest acts, as far as their names tell.
pub(crate) fn of_servers(servers: &[LocalServer], sees: impl Fn(&LocalServer, &str) -> bool) -> Groups {
    let chosen = |server: &LocalServer, group: &str| -> Option<String> {
        let models = server.models.iter();
        let sized = || models.clone().filter_map(|model| Some((billions(model)?, model)));
        let by_size = |one: &(f64, &String), other: &(f64, &String)| one.0.total_cmp(&other.0);
        match group {
            "think" => sized().rev().max_by(by_size).map(|(_, model)| model).or(server.models.first()),
            "act" => sized().min_by(by_size).map(|(_, model)| model).or(server.models.first()),
            "image" => models.clone().find(|model| sees(server, model)),
            _ => server.models.first(),
        }
        .map(|model| format!("{}/{model}", server.provider))
    };
    groups(|group| servers.iter().filter_map(|server| chosen(server, group)).collect())
}

/// A group without models is none: another stands for it.
fn groups(models: impl Fn(&str) -> Vec<String>) -> Groups {
    GROUPS
        .iter()
        .map(|name| ((*name).to_owned(), GroupSection { models: models(name), strategy: Strategy::First }))
        .filter(|(_, group)| !group.models.is_empty())
        .collect()
}

/// The size that a model's name tells: `qwen3-coder:30b`, `Llama-3.1-8B-Instruct`.
fn billions(model: &str) -> Option<f64> {
    let words = model.split(|c: char| !c.is_ascii_alphanumeric() && c != '.');
    words.filter_map(|word| word.strip_suffix(['b', 'B'])?.parse::<f64>().ok()).find(|size| size.is_finite())
}

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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::route::Providers;

    fn models<'a>(groups: &'a Groups, name: &str) -> &'a [String] {
        groups.get(name).map_or(&[], |group| &group.models)
    }

    #[test]
    fn keys_make_groups_in_order_of_choice() {
        let providers = Providers::new(&BTreeMap::new()).unwrap();
        let with_key = ["anthropic", "deepseek"].map(|name| providers.get(name).unwrap());
        let groups = of_keys(&with_key);
        assert_eq!(models(&groups, "think"), ["anthropic/claude-opus-5-5", "deepseek/deepseek-reasoner"]);
        assert_eq!(models(&groups, "balanced"), ["anthropic/claude-sonnet-5-5", "deepseek/deepseek-chat"]);
        assert_eq!(models(&groups, "act"), ["anthropic/claude-haiku-5-5", "deepseek/deepseek-chat"]);
        assert_eq!(models(&groups, "image"), ["anthropic/claude-sonnet-5-5"]);
        assert!(groups.values().all(|group| group.strategy == Strategy::First));
        assert!(of_keys(&[]).is_empty());
    }

    #[test]
    fn local_models_are_chosen_by_what_their_names_tell() {
        let server = |models: &[&str]| LocalServer {
            provider: "ollama".into(),
            base: String::new(),
            models: models.iter().map(|model| (*model).to_owned()).collect(),
        };
        let several = server(&["mine", "qwen3:8b", "Qwen3-30B-A3B", "smollm:1.7b", "llava:13b"]);
        let groups = of_servers(&[several], |_, model| model.starts_with("llava"));
        assert_eq!(models(&groups, "think"), ["ollama/Qwen3-30B-A3B"]);
        assert_eq!(models(&groups, "balanced"), ["ollama/mine"]);
        assert_eq!(models(&groups, "act"), ["ollama/smollm:1.7b"]);
        assert_eq!(models(&groups, "image"), ["ollama/llava:13b"]);
        let groups = of_servers(&[server(&["small"])], |_, _| false);
        assert_eq!(models(&groups, "think"), models(&groups, "act"));
        assert_eq!(models(&groups, "image"), [""; 0]);
        assert!(of_servers(&[server(&[])], |_, _| true).is_empty());
    }

    #[test]
    fn sizes_in_names() {
        for (name, size) in [("qwen3:8b", Some(8.0)), ("m-1.5B-instruct", Some(1.5)), ("web", None), ("gpt-5", None)] {
            assert_eq!(billions(name), size, "{name}");
        }
    }
}
