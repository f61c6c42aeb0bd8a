//! What is asked of a person without a model, and tried for them.

use std::sync::Arc;
use std::time::Duration;

use neco_config::Env;
use neco_model::{LookedFor, Models, trial};
use neco_proto::event::NotificationLevel;
use neco_proto::{ErrorCode, ItemAnswer, QuestionItem, QuestionOption};

use super::offers::{self, Offer};
use super::stand_in::{Answers, StandIn};
use super::write;

/// How long servers on this machine have to answer.
const PROBE: Duration = Duration::from_millis(800);

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

/// The talk.
pub struct Talk {
    /// What the window sees.
    pub stand_in: Arc<StandIn>,
    /// What the person answers.
    pub answers: Answers,
    /// The models as the settings and keys have them now.
    pub models: Models,
    /// The environment.
    pub env: Env,
    /// Whether what was tried last was refused because of its key.
    pub not_accepted: bool,
}

impl Talk {
    /// Offers what there is until one works or the person leaves. `typed` is the provider whose key was just typed.
    pub async fn run(mut self, typed: Option<String>) -> Talked {
        if let Some(provider) = typed {
            if self.try_default(&provider).await {
                return Talked::Done;
            }
            if self.not_accepted && write::forget_key(&provider, &self.env) {
                let words = format!("the key of {provider} was not accepted, so it is not kept");
                self.stand_in.say(NotificationLevel::Warning, words);
                return Talked::Again;
            }
        }
        let servers = self.models.probe_local(PROBE).await;
        self.models.use_local(&servers);
        let mut looked = self.models.looked_for();
        looked.keys.sort_by_key(|(provider, _)| place(provider));
        self.stand_in.say(
            NotificationLevel::Info,
            "Neco has no model yet. What is chosen here is tried with one call and kept.",
        );
        let offers = offers::all(&servers, &looked);
        loop {
            let options = offers.iter().map(|(_, option)| option.clone()).collect();
            match self.choose("Which model should it ask? (Esc leaves Neco)", options).await {
                Some(label) => match offers.iter().find(|(_, option)| option.label == label).map(|(offer, _)| offer) {
                    Some(Offer::Model(name)) => {
                        if self.attempt(name, None).await {
                            return Talked::Done;
                        }
                    }
                    Some(Offer::Key(provider)) => return Talked::NeedsKey(provider.clone()),
                    Some(Offer::OtherKey) => {
                        if let Some(provider) = self.other_provider(&looked).await {
                            return Talked::NeedsKey(provider);
                        }
                    }
                    Some(Offer::Server) => {
                        if self.other_server().await {
                            return Talked::Done;
                        }
                    }
                    Some(Offer::Leave) => return Talked::Left,
                    // Words instead of a choice: the name of a model.
                    None => {
                        if self.attempt(&label, None).await {
                            return Talked::Done;
                        }
                    }
                },
                None => return Talked::Left,
            }
        }
    }

    async fn try_default(&mut self, provider: &str) -> bool {
        match self.models.default_name() {
            Ok(name) => {
                let label = self.models.members(&name).ok().and_then(|(members, _)| Some(members.first()?.label()));
                self.attempt(&label.unwrap_or(name), None).await
            }
            Err(error) => {
                self.stand_in.say(NotificationLevel::Warning, format!("{provider}: {error}"));
                false
            }
        }
    }

    /// Asks a model one tiny question and keeps it when it answers.
    async fn attempt(&mut self, name: &str, server: Option<&write::Server>) -> bool {
        self.stand_in.say(NotificationLevel::Info, format!("asking {name} one tiny question …"));
        let tried = match self.models.each_alone(name) {
            Ok(all) => match all.into_iter().next() {
                Some(alone) => match alone.provider {
                    Ok(provider) => trial::attempt(&*provider, alone.tools).await,
                    Err(error) => return self.failed(name, &error.to_string()),
                },
                None => return self.failed(name, "there is no such model"),
            },
            Err(error) => return self.failed(name, &error.to_string()),
        };
        self.not_accepted = tried.error.as_ref().is_some_and(|error| error.code() == ErrorCode::NotAuthorised);
        if let Some(error) = &tried.error {
            return self.failed(name, &error.to_string());
        }
        let slow = if tried.passed() { "" } else { ", but it did not call the tool that it was told to call" };
        match write::keep(name, server, &self.env) {
            Ok(file) => {
                let words = format!("{name} answers{slow}. It is kept in {}.", self.env.shown(&file));
                self.stand_in.say(NotificationLevel::Info, words);
                true
            }
            Err(words) => self.failed(name, &words),
        }
    }

    fn failed(&self, name: &str, words: &str) -> bool {
        self.stand_in.say(NotificationLevel::Warning, format!("{name} can't be used: {words}"));
        false
    }

    async fn other_provider(&mut self, looked: &LookedFor) -> Option<String> {
        let names: Vec<&str> = looked.keys.iter().map(|(name, _)| name.as_str()).collect();
        let name = self.words(&format!("Which one: {}?", names.join(", "))).await?;
        if names.contains(&name.as_str()) {
            return Some(name);
        }
        self.failed(&name, "there is no such provider");
        None
    }

    async fn other_server(&mut self) -> bool {
        let Some(base) = self.words("Its address, such as http://localhost:8000/v1").await else { return false };
        let Some(model) = self.words("The name of the model there").await else { return false };
        let server = write::Server::at(base, &self.env);
        match write::models_with(&server, &self.env) {
            Ok(models) => self.models = models,
            Err(words) => return self.failed(&server.base, &words),
        }
        let name = format!("{}/{model}", server.name);
        self.attempt(&name, Some(&server)).await
    }

    async fn choose(&mut self, text: &str, options: Vec<QuestionOption>) -> Option<String> {
        self.stand_in.ask(QuestionItem { title: "model".to_owned(), text: text.to_owned(), options, multiple: false });
        let ItemAnswer { chosen, text } = self.answers.next().await?;
        chosen.into_iter().next().or(text).map(|answer| answer.trim().to_owned()).filter(|answer| !answer.is_empty())
    }

    async fn words(&mut self, text: &str) -> Option<String> {
        self.choose(text, Vec::new()).await
    }
}

/// Those that most people have come first.
fn place(provider: &str) -> usize {
    const KNOWN: [&str; 6] = ["anthropic", "openai", "gemini", "google", "openrouter", "deepseek"];
    KNOWN.iter().position(|known| provider == *known).unwrap_or(KNOWN.len())
}
