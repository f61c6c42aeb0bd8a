//! Putting a model together: key, address, wire, lane.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use http::header::AUTHORIZATION;
use http::{HeaderMap, HeaderName, HeaderValue};
use neco_config::section::{NetworkSection, ProviderType};
use secrecy::ExposeSecret;

use crate::catalogue::ModelInfo;
use crate::cost::Price;
use crate::group::{Lane, Member, RetryPolicy, Turns};
use crate::http::HttpModel;
use crate::provider::Provider;
use crate::route::{Endpoint, Key, ModelName, ProviderEntry, Providers, Timeouts};
use crate::scripted::{Script, ScriptedModel};
use crate::setup::SetupError;
use crate::wire::anthropic::Anthropic;
use crate::wire::format::{Auth, Wire};
use crate::wire::gemini::Gemini;
use crate::wire::openai_chat::OpenaiChat;
use crate::wire::openai_responses::OpenaiResponses;
use crate::wire::target::{Target, path_segment};

/// What models are put together from, and what was put together before.
pub(crate) struct Workshop {
    timeouts: Timeouts,
    pub(crate) policy: RetryPolicy,
    keys: HashMap<String, Result<Vec<Arc<Key>>, SetupError>>,
    shelf: Mutex<Shelf>,
}

/// Made once and shared.
#[derive(Default)]
struct Shelf {
    endpoints: HashMap<String, Arc<Endpoint>>,
    /// Whose key is next, by provider.
    turns: HashMap<String, Arc<Turns>>,
    scripts: HashMap<String, Arc<Script>>,
    /// By the whole name, parameters included.
    members: Vec<(ModelName, Arc<Member>)>,
}

impl Workshop {
    pub(crate) fn new(providers: &Providers, network: &NetworkSection, env: &dyn Fn(&str) -> Option<String>) -> Self {
        Self {
            timeouts: network.into(),
            policy: network.into(),
            keys: providers.iter().map(|entry| (entry.name.clone(), keys(entry, env))).collect(),
            shelf: Mutex::default(),
        }
    }

    pub(crate) fn has_key(&self, provider: &str) -> bool {
        self.keys.get(provider).is_some_and(|keys| keys.as_ref().is_ok_and(|keys| !keys.is_empty()))
    }

    /// One model with its keys.
    pub(crate) fn member(
        &self,
        entry: &ProviderEntry,
        name: &ModelName,
        info: ModelInfo,
    ) -> Result<Arc<Member>, SetupError> {
        refuse_what_does_not_chat(name)?;
        let mut shelf = self.shelf.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((_, member)) = shelf.members.iter().find(|(made, _)| made == name) {
            return Ok(member.clone());
        }
        let lanes = match wire(entry, name, info) {
            Some(wire) => self.http_lanes(&mut shelf, entry, name, wire, info.price)?,
            None => vec![self.scripted_lane(&mut shelf, entry, name)?],
        };
        let turns = shelf.turns.entry(entry.name.clone()).or_default().clone();
        let member = Arc::new(Member::new(lanes, turns));
        shelf.members.push((name.clone(), member.clone()));
        Ok(member)
    }

    fn http_lanes(
        &self,
        shelf: &mut Shelf,
        entry: &ProviderEntry,
        name: &ModelName,
        wire: Arc<dyn Wire>,
        price: Option<Price>,
    ) -> Result<Vec<Lane>, SetupError> {
        let keys = match self.keys.get(&entry.name) {
            Some(keys) => keys.clone()?,
            None => Vec::new(),
        };
        if keys.is_empty() && entry.needs_key() {
            let (provider, variables) = (entry.name.clone(), entry.api_key_envs.clone());
            return Err(SetupError::MissingKey { provider, variables });
        }
        let label = name.label();
        let endpoint = self.endpoint(shelf, entry)?;
        let model = HttpModel {
            label: label.as_str().into(),
            model: name.model.as_str().into(),
            url: address(entry, &endpoint.base, wire.as_ref(), &name.model)?.into(),
            auth: auth(entry, wire.as_ref())?,
            endpoint,
            key: None,
            wire,
            price,
        };
        if keys.is_empty() {
            return Ok(vec![Lane::new(label, Arc::new(model))]);
        }
        let lane = |key: Arc<Key>| {
            let lane = key.number().map_or_else(|| label.clone(), |number| format!("{label} (key {number})"));
            let provider: Arc<dyn Provider> = Arc::new(HttpModel { key: Some(key), ..model.clone() });
            Lane::new(lane, provider)
        };
        Ok(keys.into_iter().map(lane).collect())
    }

    fn endpoint(&self, shelf: &mut Shelf, entry: &ProviderEntry) -> Result<Arc<Endpoint>, SetupError> {
        if let Some(endpoint) = shelf.endpoints.get(&entry.name) {
            return Ok(endpoint.clone());
        }
        let endpoint = Arc::new(Endpoint {
            provider: entry.name.clone(),
            base: base(entry)?,
            headers: headers(entry)?,
            timeouts: self.timeouts,
            start: entry.start.clone(),
            pull: entry.pull.clone(),
            client: tokio::sync::OnceCell::new(),
        });
        shelf.endpoints.insert(entry.name.clone(), endpoint.clone());
        Ok(endpoint)
    }

    fn scripted_lane(&self, shelf: &mut Shelf, entry: &ProviderEntry, name: &ModelName) -> Result<Lane, SetupError> {
        let script = match shelf.scripts.get(&entry.name) {
            Some(script) => script.clone(),
            None => shelf.scripts.entry(entry.name.clone()).or_insert(Arc::new(script(entry)?)).clone(),
        };
        let model = ScriptedModel::new(&entry.name, &name.model, script, self.timeouts);
        Ok(Lane::new(name.label(), Arc::new(model)))
    }
}

/// The format that the provider speaks, bound to the model; none for one that plays a script.
fn wire(entry: &ProviderEntry, name: &ModelName, info: ModelInfo) -> Option<Arc<dyn Wire>> {
    let ModelName { provider, model, parameters } = name.clone();
    let target = Target { provider, model, parameters, info };
    match entry.kind_for(&name.model) {
        ProviderType::Openai => Some(Arc::new(OpenaiChat::bound_to(target, entry.dialect.clone()))),
        ProviderType::Responses => Some(Arc::new(OpenaiResponses::bound_to(target))),
        ProviderType::Anthropic => Some(Arc::new(Anthropic::bound_to(target))),
        ProviderType::Gemini => Some(Arc::new(Gemini::bound_to(target))),
        ProviderType::Scripted => None,
    }
}

/// Where the model is asked.
fn address(entry: &ProviderEntry, base: &str, wire: &dyn Wire, model: &str) -> Result<String, SetupError> {
    let Some(path) = entry.path.as_deref().map(str::trim).filter(|path| !path.is_empty()) else {
        return Ok(format!("{base}{}", wire.path()));
    };
    // Without its slash a path could change the host that the key is sent to.
    if !path.starts_with('/') {
        return Err(SetupError::BadPath { provider: entry.name.clone(), path: path.to_owned() });
    }
    Ok(format!("{base}{}", path.replace("{model}", &path_segment(model))))
}

fn auth(entry: &ProviderEntry, wire: &dyn Wire) -> Result<Auth, SetupError> {
    let Some(header) = &entry.key_header else { return Ok(wire.auth()) };
    let name = HeaderName::try_from(header.trim());
    match name.map_err(|_| SetupError::BadHeader { provider: entry.name.clone(), header: header.clone() })? {
        AUTHORIZATION => Ok(Auth::Bearer),
        name => Ok(Auth::Header(name)),
    }
}

fn refuse_what_does_not_chat(name: &ModelName) -> Result<(), SetupError> {
    let model = name.model.to_lowercase();
    let makes = [("embed", "embeddings"), ("rerank", "rankings")].into_iter().find(|(mark, _)| model.contains(mark));
    match makes {
        Some((_, makes)) => Err(SetupError::NotForChat { model: name.label(), makes }),
        None => Ok(()),
    }
}

fn keys(entry: &ProviderEntry, env: &dyn Fn(&str) -> Option<String>) -> Result<Vec<Arc<Key>>, SetupError> {
    let from_variables = entry.api_key_envs.iter().filter_map(|name| Some((env(name)?, name.as_str())));
    let configured = entry.api_key.iter().map(|key| (key.expose_secret().to_owned(), "the configuration"));
    let mut keys = Vec::new();
    for (secret, source) in from_variables.chain(configured).filter(|(secret, _)| !secret.trim().is_empty()) {
        let key = Key::new(&secret, source)
            .ok_or_else(|| SetupError::BadKey { provider: entry.name.clone(), source_name: source.to_owned() })?;
        keys.push(key);
    }
    let count = keys.len();
    for (at, key) in keys.iter_mut().enumerate() {
        key.set_place(at + 1, count);
    }
    Ok(keys.into_iter().map(Arc::new).collect())
}

fn base(entry: &ProviderEntry) -> Result<String, SetupError> {
    let provider = entry.name.clone();
    let base = entry.base.as_deref().map(str::trim).filter(|base| !base.is_empty());
    let base = base.ok_or_else(|| SetupError::NoBase { provider: provider.clone() })?.trim_end_matches('/');
    let url = reqwest::Url::parse(base).ok().filter(|url| ["http", "https"].contains(&url.scheme()) && url.has_host());
    match url {
        Some(_) => Ok(base.to_owned()),
        None => Err(SetupError::BadBase { provider, base: base.to_owned() }),
    }
}

fn headers(entry: &ProviderEntry) -> Result<HeaderMap, SetupError> {
    let mut headers = HeaderMap::new();
    for (name, value) in &entry.headers {
        let header = HeaderName::try_from(name).ok().zip(HeaderValue::from_str(value).ok());
        let (name, mut value) =
            header.ok_or_else(|| SetupError::BadHeader { provider: entry.name.clone(), header: name.clone() })?;
        // People put keys into headers too.
        value.set_sensitive(true);
        headers.insert(name, value);
    }
    Ok(headers)
}

fn script(entry: &ProviderEntry) -> Result<Script, SetupError> {
    let path = entry.script.as_ref().ok_or_else(|| SetupError::NoScript { provider: entry.name.clone() })?;
    let bad = |reason: String| SetupError::BadScript { path: path.clone(), reason };
    // Read while the session is being set up: nothing else waits for this thread.
    let json = std::fs::read_to_string(path).map_err(|error| bad(error.to_string()))?;
    Script::parse(&json).map_err(bad)
}
