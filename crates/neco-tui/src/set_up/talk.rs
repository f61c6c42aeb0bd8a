//! What is asked of a person without a model, and tried for them.

use std::sync::Arc;
use std::time::Duration;

use neco_proto::app::keys::{RemoveKeys, SetKey};
use neco_proto::app::models::{
    ListModels, ListServed, ModelOffers, OfferModels, ProviderStanding, ShowModel, TestModel,
};
use neco_proto::app::settings::{FindSettings, NewSetting, SetSettings};
use neco_proto::app::{App, AppError, Caller, Request, Trouble};
use neco_proto::event::NotificationLevel;
use neco_proto::{ErrorCode, ItemAnswer, QuestionItem, QuestionOption};

use super::offers::{self, Group, Offer};
use super::stand_in::{Answers, StandIn};
use crate::transcript::start::shortened;

/// The keys of every list.
const KEYS: &str = "↑↓ Enter choose   letters search";

/// How long something has to answer.
const LONGEST: Duration = Duration::from_secs(60);

/// How long a model has whose server is the person's own: it may have to be loaded first.
const LOADS: Duration = Duration::from_secs(5 * 60);

/// What the talk came to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Talked {
    /// There is a model now.
    Done,
    /// A key of this provider is to be typed.
    NeedsKey(String),
    /// A key was not accepted and is forgotten again: everything is asked anew.
    Again,
    /// The person left.
    Left,
}

/// What came of trying a model.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Tried {
    /// It answers, and is kept.
    Works,
    /// It wants a key, or another one.
    NotAccepted,
    /// It did not answer, and the person was told so.
    Unreachable,
    /// It can't be used, and the person was told why.
    Failed,
}

/// The talk.
pub struct Talk {
    /// What the window sees.
    pub stand_in: Arc<StandIn>,
    /// What the person answers.
    pub answers: Answers,
    /// The program, which knows models, keys and settings.
    pub app: Arc<dyn App>,
    /// The folder whose settings count.
    pub folder: String,
    /// The person's home folder, which is shown as `~`.
    pub home: Option<String>,
}

impl Talk {
    /// Offers what there is until one works or the person leaves. `typed` is the provider whose key was just typed.
    pub async fn run(mut self, typed: Option<String>) -> Talked {
        if let Some(provider) = typed
            && let Some(talked) = self.with_key(&provider).await
        {
            return talked;
        }
        let found = match self.asks(&OfferModels { folder: self.folder.clone() }).await {
            Ok(found) => found,
            Err(error) => {
                self.stand_in.say(NotificationLevel::Warning, format!("No models can be offered: {}", error.words()));
                return Talked::Left;
            }
        };
        let kept = self.asks(&FindSettings { folder: self.folder.clone() }).await.map(|files| files.own);
        let kept =
            kept.map(|file| format!("   kept in {}", shortened(&file, self.home.as_deref()))).unwrap_or_default();
        let groups = offers::all(&found);
        let mut items: Vec<QuestionItem> = groups.iter().map(Group::item).collect();
        let text = format!("Search models and providers, or type an address\n{KEYS}   Esc leave{kept}");
        items.iter_mut().take(1).for_each(|first| first.text.clone_from(&text));
        loop {
            let Some(label) = self.answer_to(items.clone()).await else {
                return Talked::Left;
            };
            let offer = match groups.iter().find_map(|group| group.find(&label)).cloned() {
                Some(offer) => Some(offer),
                None => self.meant(label, &found).await,
            };
            if let Some(offer) = offer
                && let Some(talked) = self.chosen(offer, &found).await
            {
                return talked;
            }
        }
    }

    /// What the person means who writes instead of choosing; none where that can't be told, and they are told so.
    async fn meant(&self, words: String, found: &ModelOffers) -> Option<Offer> {
        let mut offers = offers::meant(&words, found);
        if offers.len() == 1 {
            return offers.pop();
        }
        let request = ListModels { folder: self.folder.clone(), all: false, own_servers: false };
        let groups = self.asks(&request).await.map(|list| list.groups).unwrap_or_default();
        if groups.contains_key(&words) {
            return Some(Offer::Model(words));
        }
        let named = |offer: &Offer| match offer {
            Offer::Model(name) | Offer::Key(name) | Offer::OfProvider(name) | Offer::At(name) => Some(name.clone()),
            Offer::OtherKey | Offer::Server | Offer::Leave => None,
        };
        let told = match offers.is_empty() {
            true => {
                let all: Vec<&str> = found.providers.iter().map(|provider| provider.name.as_str()).collect();
                format!("No provider begins with “{words}”. There are {}; a model is provider/model", all.join(", "))
            }
            false => {
                let several: Vec<String> = offers.iter().filter_map(named).collect();
                format!("Several begin with “{words}”: {}. Write more of the name", several.join(", "))
            }
        };
        self.stand_in.say(NotificationLevel::Warning, told);
        None
    }

    /// What a choice came to; none when the person is to choose again.
    async fn chosen(&mut self, offer: Offer, found: &ModelOffers) -> Option<Talked> {
        match offer {
            Offer::Model(name) => match self.attempt(&name, None, longest(&name, found)).await {
                Tried::Works => Some(Talked::Done),
                Tried::NotAccepted => {
                    self.failed(&name, "it wants a key; choose its provider to type one");
                    None
                }
                Tried::Unreachable | Tried::Failed => None,
            },
            Offer::Key(provider) => Some(Talked::NeedsKey(provider)),
            Offer::OfProvider(provider) => self.one_of(&provider, None).await,
            Offer::OtherKey => Some(Talked::NeedsKey(self.other_provider(found).await?)),
            Offer::Server => self.other_server().await,
            Offer::At(address) => self.one_of("", Some(&with_scheme(address))).await,
            Offer::Leave => Some(Talked::Left),
        }
    }

    /// The key of `provider` was just typed: its usual model is tried, else one that the person chooses.
    async fn with_key(&mut self, provider: &str) -> Option<Talked> {
        let shown = self.asks(&ShowModel { folder: self.folder.clone(), name: None }).await;
        let mut models = shown.map(|shown| shown.models).unwrap_or_default().into_iter();
        let usual = models.find(|model| model.provider == provider).map(|model| model.name);
        let tried = match usual {
            Some(name) => self.attempt(&name, None, LONGEST).await,
            None => Tried::Failed,
        };
        let talked = match tried {
            Tried::Works => Some(Talked::Done),
            Tried::NotAccepted => Some(Talked::NeedsKey(provider.to_owned())),
            Tried::Unreachable => {
                let words = format!("The key of {provider} is kept, untested: `neco model test` tries it later");
                self.stand_in.say(NotificationLevel::Warning, words);
                None
            }
            Tried::Failed => self.one_of(provider, None).await,
        };
        // Whoever mistyped a key types it again; everything else stays as it was chosen.
        if talked == Some(Talked::NeedsKey(provider.to_owned())) {
            return Some(self.refused(provider).await);
        }
        talked
    }

    /// The key that was just typed was not accepted, or another one that goes before it.
    async fn refused(&mut self, provider: &str) -> Talked {
        let sources = self.key_sources(provider).await;
        if let [first, _, ..] = sources.as_slice() {
            self.failed(provider, &format!("its key in {first} comes first, and was rejected"));
            return Talked::Again;
        }
        let option = |label: &str, description: &str| QuestionOption {
            label: label.to_owned(),
            description: description.to_owned(),
        };
        let ways = [
            (Talked::NeedsKey(provider.to_owned()), option("type it again", "this one is forgotten")),
            (Talked::Again, option("keep it", "as it is; `neco model test` tries it later")),
        ];
        let options = ways.iter().map(|(_, option)| option.clone()).collect();
        let label = self.choose(&format!("{provider} rejected this key. What now?"), options).await;
        let way = ways.into_iter().find(|(_, option)| Some(&option.label) == label.as_ref()).map(|(way, _)| way);
        if way != Some(Talked::Again)
            && let Err(error) = self.forget_key(provider).await
        {
            self.failed(provider, &error.message);
        }
        way.unwrap_or(Talked::Again)
    }

    /// Where the keys of a provider come from, the one that is asked first in front.
    async fn key_sources(&self, provider: &str) -> Vec<String> {
        let request = ListModels { folder: self.folder.clone(), all: true, own_servers: false };
        let rows = self.asks(&request).await.map(|list| list.providers).unwrap_or_default();
        match rows.into_iter().find(|row| row.name == provider).map(|row| row.standing) {
            Some(ProviderStanding::Key { sources }) => sources,
            Some(_) | None => Vec::new(),
        }
    }

    /// Forgets the key that was kept last.
    async fn forget_key(&self, provider: &str) -> Result<(), AppError> {
        let (folder, provider) = (self.folder.clone(), provider.to_owned());
        let look = SetKey { folder: folder.clone(), provider: provider.clone(), ..SetKey::default() };
        let number = Some(self.asks(&look).await?.keys.to_string());
        self.asks(&RemoveKeys { folder, provider, number }).await.map(drop)
    }

    async fn asks<R: Request>(&self, request: &R) -> Result<R::Answer, AppError> {
        self.app.ask(&Caller::person(), request).await
    }

    /// Lets the person choose among the models of a provider until one answers; none when they want none of them.
    /// `base` is where it is, when that is not in the settings yet.
    async fn one_of(&mut self, provider: &str, base: Option<&str>) -> Option<Talked> {
        let (folder, base) = (self.folder.clone(), base.map(str::to_owned));
        let request = ListServed { folder, provider: provider.to_owned(), base };
        let served = match self.unless_stopped(&request, LONGEST).await? {
            Ok(served) => served,
            Err(error) => {
                self.failed(request.base.as_deref().unwrap_or(provider), &error.message);
                return None;
            }
        };
        let (provider, names, base) = (served.provider.as_str(), served.models, request.base.as_deref());
        if served.needs_key {
            return Some(self.wants_key(provider, base).await);
        }
        if let Some(base) = base.filter(|_| served.silent) {
            let words = format!("No answer from {base}: start the server there, or write another address");
            self.stand_in.say(NotificationLevel::Warning, words);
            return None;
        }
        let text = match names.is_empty() {
            true => "It names no models. Write the name of one it serves",
            false => "Which of its models? Search, or write the name of another",
        };
        loop {
            let option = |name: &String| QuestionOption { label: name.clone(), description: String::new() };
            let model = self.choose(text, names.iter().map(option).collect()).await?;
            let longest = if base.is_some() { LOADS } else { LONGEST };
            match self.attempt(&format!("{provider}/{model}"), base, longest).await {
                Tried::Works => return Some(Talked::Done),
                Tried::NotAccepted => return Some(self.wants_key(provider, base).await),
                // Nothing it said speaks for the address.
                Tried::Unreachable if base.is_some() && names.is_empty() => return None,
                Tried::Unreachable | Tried::Failed => {}
            }
        }
    }

    /// A key is typed at the bare terminal, for a provider that the settings know.
    async fn wants_key(&self, provider: &str, base: Option<&str>) -> Talked {
        if base.is_some()
            && let Err(error) = self.keep(server_settings(provider, base)).await
        {
            self.failed(provider, &error.message);
            return Talked::Again;
        }
        Talked::NeedsKey(provider.to_owned())
    }

    /// Asks a model one tiny question and keeps it when it answers.
    async fn attempt(&mut self, name: &str, base: Option<&str>, longest: Duration) -> Tried {
        self.stand_in.say(NotificationLevel::Info, format!("Trying {name} …"));
        let folder = self.folder.clone();
        let request = TestModel { folder, name: name.to_owned(), number: 0, base: base.map(str::to_owned) };
        let tested = match self.unless_stopped(&request, longest).await {
            Some(Ok(tested)) => tested,
            Some(Err(error)) => return self.failed_with(name, error.code, &error.message),
            None => return self.failed(name, "cancelled before it answered"),
        };
        if tested.code == Some(ErrorCode::NotAuthorised) {
            return Tried::NotAccepted;
        }
        if tested.code.is_some() || tested.duration_ms.is_none() {
            return self.failed_with(name, tested.code, tested.problem.as_deref().unwrap_or_default());
        }
        let slow = if tested.ok { "" } else { ", but did not call a tool when told to; work with files may fail" };
        let provider = name.split('/').next().unwrap_or_default();
        let model = NewSetting { key: "model".to_owned(), value: name.into() };
        match self.keep([vec![model], server_settings(provider, base)].concat()).await {
            Ok(file) => {
                self.stand_in.say(NotificationLevel::Info, format!("Model {name} answers{slow}. Saved in {file}."));
                Tried::Works
            }
            Err(error) => self.failed(name, &error.message),
        }
    }

    /// Writes settings; gives the file that they are in.
    async fn keep(&self, settings: Vec<NewSetting>) -> Result<String, AppError> {
        Ok(self.asks(&SetSettings { folder: self.folder.clone(), settings }).await?.file)
    }

    fn failed(&self, name: &str, words: &str) -> Tried {
        self.stand_in.say(NotificationLevel::Warning, format!("Can't use {name}: {words}"));
        Tried::Failed
    }

    fn failed_with(&self, name: &str, code: Option<ErrorCode>, words: &str) -> Tried {
        let failed = self.failed(name, words);
        let is_silent = matches!(code, Some(ErrorCode::ModelTimedOut | ErrorCode::ProviderUnavailable));
        if is_silent { Tried::Unreachable } else { failed }
    }

    async fn other_provider(&mut self, found: &ModelOffers) -> Option<String> {
        let names: Vec<&str> = found.providers.iter().map(|offer| offer.name.as_str()).collect();
        let option = |name: &&str| QuestionOption { label: (*name).to_owned(), description: String::new() };
        let further = names.iter().skip(offers::PROVIDERS).map(option).collect();
        let name = self.choose("Which provider?", further).await?;
        if names.contains(&name.as_str()) {
            return Some(name);
        }
        self.failed(&name, "there is no such provider");
        None
    }

    async fn other_server(&mut self) -> Option<Talked> {
        loop {
            let base = with_scheme(self.words("The server's address, such as localhost:8000/v1").await?);
            // Whoever goes back from the models goes back to the address.
            if let Some(talked) = self.one_of("", Some(&base)).await {
                return Some(talked);
            }
        }
    }

    /// Asks for one of the options, or words, behind the first list.
    async fn choose(&mut self, text: &str, options: Vec<QuestionOption>) -> Option<String> {
        let text = if options.is_empty() { text.to_owned() } else { format!("{text}\n{KEYS}   Esc back") };
        let (title, multiple, empty) = (String::new(), false, Default::default());
        self.answer_to(vec![QuestionItem { title, text, options, multiple, empty, field: None }]).await
    }

    /// The answer to a question: the label of an option, or words.
    async fn answer_to(&mut self, items: Vec<QuestionItem>) -> Option<String> {
        self.answers.forget();
        self.stand_in.ask(items);
        let ItemAnswer { chosen, text } = self.answers.next().await?;
        chosen.into_iter().next().or(text).map(|answer| answer.trim().to_owned()).filter(|answer| !answer.is_empty())
    }

    async fn words(&mut self, text: &str) -> Option<String> {
        self.choose(text, Vec::new()).await
    }

    /// What the program answers, unless the person stops it.
    async fn unless_stopped<R: Request>(
        &mut self,
        request: &R,
        longest: Duration,
    ) -> Option<Result<R::Answer, AppError>> {
        self.answers.forget();
        self.stand_in.works(true);
        let (app, caller) = (Arc::clone(&self.app), Caller::person());
        let done = tokio::select! {
            done = app.ask(&caller, request) => Some(done),
            () = tokio::time::sleep(longest) => Some(Err(too_late(longest))),
            _ = self.answers.next() => None,
        };
        self.stand_in.works(false);
        done
    }
}

/// How long a model of this name has.
fn longest(name: &str, found: &ModelOffers) -> Duration {
    let provider = name.split('/').next().unwrap_or_default();
    if found.servers.iter().any(|server| server.provider == provider) { LOADS } else { LONGEST }
}

fn too_late(longest: Duration) -> AppError {
    let words = format!("there was no answer in {} s", longest.as_secs());
    AppError { code: Some(ErrorCode::ModelTimedOut), ..AppError::new(Trouble::Failed, words) }
}

/// An address as people write it: a host alone is one of this network.
fn with_scheme(base: String) -> String {
    let is_bare = !base.contains("://") && !base.contains(char::is_whitespace);
    if is_bare { format!("http://{base}") } else { base }
}

/// What makes a server known that the settings do not have yet.
fn server_settings(name: &str, base: Option<&str>) -> Vec<NewSetting> {
    let setting =
        |key: &str, value: &str| NewSetting { key: format!("model_providers.{name}.{key}"), value: value.into() };
    base.map_or_else(Vec::new, |base| vec![setting("type", "openai"), setting("base", base)])
}

#[cfg(test)]
mod tests {
    use neco_proto::app::models::LocalModels;

    use super::*;

    #[test]
    fn a_model_of_this_machine_has_time_to_be_loaded() {
        let servers = vec![LocalModels { provider: "ollama".into(), ..LocalModels::default() }];
        let found = ModelOffers { servers, ..ModelOffers::default() };
        assert_eq!(longest("ollama/qwen3:8b", &found), LOADS);
        assert_eq!(longest("openai/gpt", &found), LONGEST);
    }
}
