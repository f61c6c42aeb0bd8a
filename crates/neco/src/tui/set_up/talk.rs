//! What is asked of a person without a model, and tried for them.

use std::sync::Arc;
use std::time::Duration;

use neco_config::Env;
use neco_model::{LookedFor, Models, Served, trial};
use neco_proto::event::NotificationLevel;
use neco_proto::{ErrorCode, ItemAnswer, QuestionItem, QuestionOption};

use super::offers::{self, Offer};
use super::stand_in::{Answers, StandIn};
use super::write;

/// How long servers on this machine have to answer.
const PROBE: Duration = Duration::from_millis(800);

/// How long a server has to say what it serves.
const LIST: Duration = Duration::from_secs(5);

/// Models of one server that are offered; the name of any other can be written.
const OF_ONE: usize = 8;

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
    /// It can't be used, and the person was told why.
    Failed,
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
}

impl Talk {
    /// Offers what there is until one works or the person leaves. `typed` is the provider whose key was just typed.
    pub async fn run(mut self, typed: Option<String>) -> Talked {
        if let Some(provider) = typed
            && let Some(talked) = self.with_key(&provider).await
        {
            return talked;
        }
        let servers = self.models.probe_local(PROBE).await;
        self.models.use_local(&servers);
        let mut looked = self.models.looked_for();
        looked.keys.sort_by_key(|(provider, _)| place(provider));
        self.stand_in.say(
            NotificationLevel::Info,
            "Neco has no model yet. What is chosen here is tried with one call and kept.",
        );
        loop {
            let offers = offers::all(&servers, &looked, |provider| !self.models.key_sources(provider).is_empty());
            let options = offers.iter().map(|(_, option)| option.clone()).collect();
            let Some(label) = self.choose("Which model should it ask? (Esc leaves Neco)", options).await else {
                return Talked::Left;
            };
            let offer = offers.into_iter().find(|(_, option)| option.label == label).map(|(offer, _)| offer);
            // Words instead of a choice are the name of a model.
            if let Some(talked) = self.chosen(offer.unwrap_or(Offer::Model(label)), &looked).await {
                return talked;
            }
        }
    }

    /// What a choice came to; none when the person is to choose again.
    async fn chosen(&mut self, offer: Offer, looked: &LookedFor) -> Option<Talked> {
        match offer {
            Offer::Model(name) => match self.attempt(&name, None).await {
                Tried::Works => Some(Talked::Done),
                Tried::NotAccepted => {
                    self.failed(&name, "it wants a key; choose its provider to type one");
                    None
                }
                Tried::Failed => None,
            },
            Offer::Key(provider) => Some(Talked::NeedsKey(provider)),
            Offer::OfProvider(provider) => self.one_of(&provider, None).await,
            Offer::OtherKey => Some(Talked::NeedsKey(self.other_provider(looked).await?)),
            Offer::Server => self.other_server().await,
            Offer::Leave => Some(Talked::Left),
        }
    }

    /// The key of `provider` was just typed: its usual model is tried, else one that the person chooses.
    async fn with_key(&mut self, provider: &str) -> Option<Talked> {
        let usual = self.models.default_name().ok().and_then(|name| {
            let (members, _) = self.models.members(&name).ok()?;
            members.into_iter().find(|member| member.provider == provider).map(|member| member.label())
        });
        let tried = match usual {
            Some(name) => self.attempt(&name, None).await,
            None => Tried::Failed,
        };
        let talked = match tried {
            Tried::Works => Some(Talked::Done),
            Tried::NotAccepted => Some(Talked::NeedsKey(provider.to_owned())),
            Tried::Failed => self.one_of(provider, None).await,
        };
        let is_refused = talked == Some(Talked::NeedsKey(provider.to_owned()));
        if let Some(first) = self.models.key_sources(provider).first().filter(|_| is_refused && self.has_more(provider))
        {
            self.failed(provider, &format!("its key in {first} goes first, and is not accepted"));
            return Some(Talked::Again);
        }
        if is_refused && write::forget_key(provider, &self.env) {
            let words = format!("the key of {provider} was not accepted, so it is not kept after all; type it again");
            self.stand_in.say(NotificationLevel::Warning, words);
        }
        // Whoever mistyped a key types it again; everything else stays as it was chosen.
        talked
    }

    /// Whether another key goes before the one that was just typed, or stands behind it.
    fn has_more(&self, provider: &str) -> bool {
        self.models.key_sources(provider).len() > 1
    }

    /// Lets the person choose among the models of a provider until one answers; none when they want none of them.
    /// `server` is where it is, when that is not in the settings yet.
    async fn one_of(&mut self, provider: &str, server: Option<&write::Server>) -> Option<Talked> {
        let asked = self.models.served(provider, LIST);
        let names = match unless_stopped(&self.stand_in, &mut self.answers, asked).await? {
            Served::Models(names) => names,
            Served::NeedsKey => return Some(self.wants_key(provider, server)),
            Served::Unknown => {
                let entry = self.models.providers().get(provider).ok();
                entry.map(|entry| self.models.known_models(entry)).unwrap_or_default()
            }
        };
        if let Some(server) = server.filter(|_| names.is_empty())
            && !server.listens().await
        {
            let words = format!("nothing answers at {}: is that the address?", server.base);
            self.stand_in.say(NotificationLevel::Warning, words);
        }
        let text = match names.len() {
            0 => "The name of the model there (Esc goes back)".to_owned(),
            count if count > OF_ONE => format!("Which of its {count} models? Any other can be written (Esc goes back)"),
            _ => "Which of its models? (Esc goes back)".to_owned(),
        };
        loop {
            let option = |name: &String| QuestionOption { label: name.clone(), description: String::new() };
            let model = self.choose(&text, names.iter().take(OF_ONE).map(option).collect()).await?;
            match self.attempt(&format!("{provider}/{model}"), server).await {
                Tried::Works => return Some(Talked::Done),
                Tried::NotAccepted => return Some(self.wants_key(provider, server)),
                Tried::Failed => {}
            }
        }
    }

    /// A key is typed at the bare terminal, for a provider that the settings know.
    fn wants_key(&self, provider: &str, server: Option<&write::Server>) -> Talked {
        if let Some(server) = server
            && let Err(words) = write::keep_server(server, &self.env)
        {
            self.failed(provider, &words);
            return Talked::Again;
        }
        Talked::NeedsKey(provider.to_owned())
    }

    /// Asks a model one tiny question and keeps it when it answers.
    async fn attempt(&mut self, name: &str, server: Option<&write::Server>) -> Tried {
        self.stand_in.say(NotificationLevel::Info, format!("asking {name} one tiny question …"));
        let tried = match self.models.each_alone(name) {
            Ok(all) => match all.into_iter().next() {
                Some(alone) => match alone.provider {
                    Ok(provider) => {
                        let asked = trial::attempt(&*provider, alone.tools);
                        match unless_stopped(&self.stand_in, &mut self.answers, asked).await {
                            Some(tried) => tried,
                            None => return self.failed(name, "you did not wait for its answer"),
                        }
                    }
                    Err(error) => return self.failed(name, &error.to_string()),
                },
                None => return self.failed(name, "there is no such model"),
            },
            Err(error) => return self.failed(name, &error.to_string()),
        };
        match &tried.error {
            Some(error) if error.code() == ErrorCode::NotAuthorised => return Tried::NotAccepted,
            Some(error) => return self.failed(name, &error.to_string()),
            None => {}
        }
        let slow = if tried.passed() { "" } else { ", but it did not call the tool that it was told to call" };
        match write::keep(name, server, &self.env) {
            Ok(file) => {
                let words = format!("{name} answers{slow}. It is kept in {}.", self.env.shown(&file));
                self.stand_in.say(NotificationLevel::Info, words);
                Tried::Works
            }
            Err(words) => self.failed(name, &words),
        }
    }

    fn failed(&self, name: &str, words: &str) -> Tried {
        self.stand_in.say(NotificationLevel::Warning, format!("{name} can't be used: {words}"));
        Tried::Failed
    }

    async fn other_provider(&mut self, looked: &LookedFor) -> Option<String> {
        let names: Vec<&str> = looked.keys.iter().map(|(name, _)| name.as_str()).collect();
        let option = |name: &&str| QuestionOption { label: (*name).to_owned(), description: String::new() };
        let further = names.iter().skip(offers::PROVIDERS).map(option).collect();
        let name = self.choose("Which provider? (Esc goes back)", further).await?;
        if names.contains(&name.as_str()) {
            return Some(name);
        }
        self.failed(&name, "there is no such provider");
        None
    }

    async fn other_server(&mut self) -> Option<Talked> {
        loop {
            let base = self.words("Its address, such as http://localhost:8000/v1 (Esc goes back)").await?;
            let server = write::Server::at(base, &self.env);
            if !server.is_address() {
                self.failed(&server.base, "that is no address: it begins with http:// or https://");
                continue;
            }
            match write::models_with(&server, &self.env) {
                Ok(models) => self.models = models,
                Err(words) => {
                    self.failed(&server.base, &words);
                    continue;
                }
            }
            // Whoever goes back from the models goes back to the address.
            if let Some(talked) = self.one_of(&server.name.clone(), Some(&server)).await {
                return Some(talked);
            }
        }
    }

    async fn choose(&mut self, text: &str, options: Vec<QuestionOption>) -> Option<String> {
        self.answers.forget();
        self.stand_in.ask(QuestionItem { title: "model".to_owned(), text: text.to_owned(), options, multiple: false });
        let ItemAnswer { chosen, text } = self.answers.next().await?;
        chosen.into_iter().next().or(text).map(|answer| answer.trim().to_owned()).filter(|answer| !answer.is_empty())
    }

    async fn words(&mut self, text: &str) -> Option<String> {
        self.choose(text, Vec::new()).await
    }
}

/// What is waited for, unless the person stops it.
async fn unless_stopped<T>(stand_in: &StandIn, answers: &mut Answers, work: impl Future<Output = T>) -> Option<T> {
    answers.forget();
    stand_in.works(true);
    let done = tokio::select! {
        done = work => Some(done),
        _ = answers.next() => None,
    };
    stand_in.works(false);
    done
}

/// Those that most people have come first.
fn place(provider: &str) -> usize {
    const KNOWN: [&str; 6] = ["anthropic", "openai", "gemini", "google", "openrouter", "deepseek"];
    KNOWN.iter().position(|known| provider == *known).unwrap_or(KNOWN.len())
}
