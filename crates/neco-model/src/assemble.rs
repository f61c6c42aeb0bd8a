//! Putting a model together: key, address, wire, lane.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use http::header::AUTHORIZATION;
use http::{HeaderMap, HeaderName, HeaderValue};
use neco_config::section::{NetworkSection, ProviderType};
use secrecy::{ExposeSecret, SecretString};

use crate::catalogue::{ModelInfo, makes_instead};
use crate::group::{AnswerLimits, Breaker, Breakers, Lane, Member, RetryPolicy, Turns};
use crate::http::{HttpModel, LoggedIn, Props};
use crate::provider::Provider;
use crate::route::sources::credentials;
use crate::route::{Address, Credential, Endpoint, Key, KeySources, ModelName, ProviderEntry, Providers, Timeouts};
use crate::scripted::{Script, ScriptedModel};
use crate::setup::SetupError;
use crate::wire::anthropic::Anthropic;
use crate::wire::format::{Auth, Wire};
use crate::wire::gemini::Gemini;
use crate::wire::openai_chat::OpenaiChat;
use crate::wire::openai_responses::OpenaiResponses;
use crate::wire::target::{Target, path_segment};

/// What is shorter in a header or an address is an ordinary word or a number.
const SHORTEST_SECRET: usize = 6;

/// What models are put together from, and what was put together before.
pub(crate) struct Workshop {
    network: NetworkSection,
    pub(crate) policy: RetryPolicy,
    pub(crate) limits: AnswerLimits,
    credentials: HashMap<String, Result<Vec<Credential>, SetupError>>,
    shelf: Mutex<Shelf>,
}

/// Made once and shared.
#[derive(Default)]
struct Shelf {
    endpoints: HashMap<String, Arc<Endpoint>>,
    /// Whose key is next, by provider.
    turns: HashMap<String, Arc<Turns>>,
    scripts: HashMap<String, Arc<Script>>,
    /// What rests a key, by its provider, or a key of a model, by the model: by name and number.
    breakers: HashMap<(String, Option<usize>), Arc<Breaker>>,
    /// By the whole name, parameters included.
    members: Vec<(ModelName, Arc<Member>)>,
}

impl Shelf {
    /// What rests the key of this number, for the model of this label and for all.
    fn breakers(&mut self, provider: &str, label: &str, number: Option<usize>) -> Breakers {
        let mut breaker = |name: &str| self.breakers.entry((name.to_owned(), number)).or_default().clone();
        Breakers { model: breaker(label), key: breaker(provider) }
    }
}

impl Workshop {
    pub(crate) fn new(providers: &Providers, network: &NetworkSection, sources: &dyn KeySources) -> Self {
        Self {
            network: network.clone(),
            policy: network.into(),
            limits: network.into(),
            credentials: providers.iter().map(|entry| (entry.name.clone(), credentials(entry, sources))).collect(),
            shelf: Mutex::default(),
        }
    }

    /// The first key of `provider`, if it has one that is no login.
    pub(crate) fn first_key(&self, provider: &str) -> Option<&Key> {
        let found = self.credentials.get(provider)?.as_ref().ok()?;
        found.iter().find_map(|credential| match credential {
            Credential::Key(key) => Some(key.as_ref()),
            Credential::Login(_) => None,
        })
    }

    /// Why keys that may be there can't be read.
    pub(crate) fn unreadable(&self) -> Option<SetupError> {
        let errors = self.credentials.values().filter_map(|found| found.as_ref().err());
        let unreadable = errors.filter(|error| matches!(error, SetupError::KeySource { .. }));
        // The same one each time.
        unreadable.min_by_key(ToString::to_string).cloned()
    }

    /// Where the keys of `provider` come from.
    pub(crate) fn key_sources(&self, provider: &str) -> Vec<String> {
        let found = self.credentials.get(provider).and_then(|found| found.as_ref().ok());
        found.into_iter().flatten().map(|credential| credential.key().source().to_owned()).collect()
    }

    /// All keys, each with the place where it was found.
    pub(crate) fn secrets(&self) -> impl Iterator<Item = (&str, &SecretString)> {
        let found = self.credentials.values().filter_map(|found| found.as_ref().ok()).flatten();
        found.map(|credential| (credential.key().source(), credential.key().secret()))
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
            Some(wire) => self.http_lanes(&mut shelf, entry, name, wire, info)?,
            None => vec![self.scripted_lane(&mut shelf, entry, name, info)?],
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
        info: ModelInfo,
    ) -> Result<Vec<Lane>, SetupError> {
        let credentials = self.credentials_of(entry)?;
        let label = name.label();
        let endpoint = self.endpoint(shelf, entry)?;
        let model = HttpModel {
            label: label.as_str().into(),
            model: name.model.as_str().into(),
            url: address(entry, &endpoint.base, wire.path(), &name.model)?.into(),
            url_whole: address(entry, &endpoint.base, wire.path_whole(), &name.model)?.into(),
            auth: auth(entry, wire.as_ref())?,
            endpoint,
            key: None,
            wire,
            price: info.price,
            context_window: info.context_window,
            window_is_known: info.known,
            window_is_set: info.window_is_set,
        };
        let retry = entry.retry.map(|own| self.policy.laid_over(own));
        if credentials.is_empty() {
            let breakers = shelf.breakers(&entry.name, &label, None);
            return Ok(vec![Lane::behind(label, Arc::new(model), breakers).retrying(retry)]);
        }
        refuse_clash(entry, &model)?;
        let lane = |credential: Credential| {
            let number = credential.key().number();
            let lane = number.map_or_else(|| label.clone(), |number| format!("{label} (key {number})"));
            let model = model.clone();
            let provider: Arc<dyn Provider> = match credential {
                Credential::Key(key) => Arc::new(HttpModel { key: Some(key), ..model }),
                Credential::Login(login) => Arc::new(LoggedIn { model, login }),
            };
            Lane::behind(lane, provider, shelf.breakers(&entry.name, &label, number)).retrying(retry)
        };
        Ok(credentials.into_iter().map(lane).collect())
    }

    fn credentials_of(&self, entry: &ProviderEntry) -> Result<Vec<Credential>, SetupError> {
        let found = match self.credentials.get(&entry.name) {
            // A server that works without a key is not kept from it by a keys file that can't be used.
            Some(Err(error @ SetupError::KeySource { .. })) if !entry.needs_key() => {
                tracing::warn!(provider = entry.name, %error, "asked without a key");
                Vec::new()
            }
            Some(found) => found.clone()?,
            None => Vec::new(),
        };
        if found.is_empty() && entry.needs_key() {
            let (provider, variables) = (entry.name.clone(), entry.api_key_envs.clone());
            return Err(SetupError::MissingKey { provider, variables });
        }
        Ok(found)
    }

    fn endpoint(&self, shelf: &mut Shelf, entry: &ProviderEntry) -> Result<Arc<Endpoint>, SetupError> {
        if let Some(endpoint) = shelf.endpoints.get(&entry.name) {
            return Ok(endpoint.clone());
        }
        let (base, headers) = (base(entry)?, headers(entry)?);
        let endpoint = Arc::new(Endpoint {
            provider: entry.name.clone(),
            secrets: secrets(entry, &base),
            base,
            headers,
            timeouts: Timeouts::new(&self.network, entry.is_on_loopback()),
            start: entry.start.clone(),
            pull: entry.pull.clone(),
            props: speaks_of_itself(entry).then(Props::default),
            client: tokio::sync::OnceCell::new(),
            answered: false.into(),
        });
        shelf.endpoints.insert(entry.name.clone(), endpoint.clone());
        Ok(endpoint)
    }

    fn scripted_lane(
        &self,
        shelf: &mut Shelf,
        entry: &ProviderEntry,
        name: &ModelName,
        info: ModelInfo,
    ) -> Result<Lane, SetupError> {
        let script = match shelf.scripts.get(&entry.name) {
            Some(script) => script.clone(),
            None => shelf.scripts.entry(entry.name.clone()).or_insert(Arc::new(script(entry)?)).clone(),
        };
        // Nothing is known of a script but what somebody set.
        let window = info.known.then_some(info.context_window);
        let model = ScriptedModel::new(&entry.name, &name.model, script, Timeouts::new(&self.network, false));
        let model = model.with_window(window).with_price(info.price);
        Ok(Lane::new(name.label(), Arc::new(model)))
    }
}

/// The format that the provider speaks, bound to the model; none for one that plays a script.
fn wire(entry: &ProviderEntry, name: &ModelName, info: ModelInfo) -> Option<Arc<dyn Wire>> {
    let ModelName { provider, model, parameters } = name.clone();
    let target = Target { provider, model, parameters, info };
    match entry.kind_for(&name.model) {
        ProviderType::Openai => Some(Arc::new(chat(entry, target))),
        ProviderType::Responses => {
            Some(Arc::new(OpenaiResponses::bound_to(target).with_initiator(entry.dialect.initiator)))
        }
        ProviderType::Anthropic => Some(Arc::new(Anthropic::bound_to(target))),
        ProviderType::Gemini => Some(Arc::new(Gemini::bound_to(target))),
        ProviderType::Scripted => None,
    }
}

fn chat(entry: &ProviderEntry, target: Target) -> OpenaiChat {
    let text_calls = entry.text_tool_calls(&target.info);
    OpenaiChat::bound_to(target, entry.dialect.clone()).with_text_calls(text_calls)
}

/// Where the model is asked.
fn address(entry: &ProviderEntry, base: &Address, usual: &str, model: &str) -> Result<String, SetupError> {
    let Some(path) = entry.path.as_deref().map(str::trim).filter(|path| !path.is_empty()) else {
        return Ok(base.join(usual));
    };
    // Without its slash a path could change the host that the key is sent to.
    if !path.starts_with('/') {
        return Err(SetupError::BadPath { provider: entry.name.clone(), path: path.to_owned() });
    }
    Ok(base.join(&path.replace("{model}", &path_segment(model))))
}

fn auth(entry: &ProviderEntry, wire: &dyn Wire) -> Result<Auth, SetupError> {
    let Some(header) = &entry.key_header else { return Ok(wire.auth()) };
    let name = HeaderName::try_from(header.trim());
    match name.map_err(|_| SetupError::BadHeader { provider: entry.name.clone(), header: header.clone() })? {
        AUTHORIZATION => Ok(Auth::Bearer),
        name => Ok(Auth::Header(name)),
    }
}

/// Whether a server may be asked what it is started with: one on this machine, which costs no time.
fn speaks_of_itself(entry: &ProviderEntry) -> bool {
    entry.local || entry.is_here() && entry.kind == ProviderType::Openai
}

fn refuse_what_does_not_chat(name: &ModelName) -> Result<(), SetupError> {
    match makes_instead(&name.model) {
        Some(makes) => Err(SetupError::NotForChat { model: name.label(), makes, group: None }),
        None => Ok(()),
    }
}

fn base(entry: &ProviderEntry) -> Result<Address, SetupError> {
    let provider = entry.name.clone();
    let base = entry.base.clone().ok_or_else(|| SetupError::NoBase(provider.clone()))?;
    if base.is_sound() { Ok(base) } else { Err(SetupError::BadBase { provider, base: base.shown().to_owned() }) }
}

/// Two who write the same header would both be sent, or one of them not.
fn refuse_clash(entry: &ProviderEntry, model: &HttpModel) -> Result<(), SetupError> {
    let header = match &model.auth {
        Auth::Bearer => &AUTHORIZATION,
        Auth::Header(name) => name,
    };
    let login = header == AUTHORIZATION && model.endpoint.base.has_login();
    if login || model.endpoint.headers.contains_key(header) {
        let (provider, header) = (entry.name.clone(), header.to_string());
        return Err(SetupError::KeyHeaderTaken { provider, header, login });
    }
    Ok(())
}

/// What vendors and servers in between must not be quoted with.
fn secrets(entry: &ProviderEntry, base: &Address) -> Vec<SecretString> {
    let bare = |value: &str| value.trim().split_once(' ').map_or(value, |(_, token)| token).trim().to_owned();
    let in_headers = entry.headers.values().map(|value| SecretString::from(bare(value)));
    let all = base.secrets().into_iter().chain(in_headers);
    all.filter(|secret| secret.expose_secret().len() >= SHORTEST_SECRET).collect()
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
    let path = entry.script.as_ref().ok_or_else(|| SetupError::NoScript(entry.name.clone()))?;
    let bad = |reason: String| SetupError::BadScript { path: path.clone(), reason };
    // Read while the session is being set up: nothing else waits for this thread.
    let json = std::fs::read_to_string(path).map_err(|error| bad(error.to_string()))?;
    Script::parse(&json).map_err(bad)
}
