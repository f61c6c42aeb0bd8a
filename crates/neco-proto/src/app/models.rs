//! The models and groups that can be asked.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::error::known;
use super::known::Known;
use super::request::{Watch, request};
use crate::error_code::ErrorCode;
use crate::usage::Usage;

/// Which wire format a provider speaks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ProviderType {
    /// OpenAI chat completions, which most servers speak.
    #[default]
    Openai,
    /// OpenAI responses.
    Responses,
    /// Anthropic messages.
    Anthropic,
    /// Gemini `generateContent`.
    Gemini,
    /// Answers written beforehand in a file; no network.
    Scripted,
}

/// How a group chooses.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Strategy {
    /// In turn.
    #[default]
    RoundRobin,
    /// Always the first that works.
    First,
    /// The cheapest that works, by the price of input and output together; models on this machine cost
    /// nothing, and models whose price is not known come last.
    Cheapest,
}

/// Lists providers that can be asked, and their models. Nothing is sent to a vendor.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct ListModels {
    /// The folder whose settings count.
    pub folder: String,
    /// Whether those are listed, too, that can't be asked as things are.
    pub all: bool,
    /// Whether servers that the person set up are asked for what they have.
    pub own_servers: bool,
}

request!(ListModels => ModelList, "models.list", Get "/models", Read, repeatable);

/// Providers, their models, and groups of these.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ModelList {
    /// The groups.
    pub groups: BTreeMap<String, ModelGroup>,
    /// The providers; those that can be asked first.
    pub providers: Vec<ProviderRow>,
    /// Their models.
    pub models: Vec<ModelRow>,
    /// How many providers are left out, as they can't be asked.
    #[serde(default)]
    pub hidden: usize,
    /// What is not as it was meant in the settings.
    #[serde(default)]
    pub warnings: Vec<String>,
}

/// A group of models.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ModelGroup {
    /// The models, in order of preference.
    pub models: Vec<String>,
    /// How one is chosen.
    pub strategy: Known<Strategy>,
}

/// A provider in a list.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ProviderRow {
    /// Its name.
    pub name: String,
    /// What people call it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// Whether it can be asked.
    pub usable: bool,
    /// How it stands.
    pub standing: ProviderStanding,
}

/// How a provider stands.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum ProviderStanding {
    /// It plays a script.
    Script,
    /// It runs on this machine and answers.
    Answers {
        /// Where.
        base: String,
    },
    /// It would run on this machine and does not answer.
    Silent {
        /// Where; none when that is not set.
        base: Option<String>,
    },
    /// It has keys.
    Key {
        /// Where they come from.
        sources: Vec<String>,
    },
    /// It is asked without a key.
    NoKeyNeeded {
        /// Where; none when that is not set.
        base: Option<String>,
    },
    /// It has no key and needs one.
    KeyMissing {
        /// The variables that would bring it.
        variables: Vec<String>,
    },
    /// Something that only a newer version knows.
    #[serde(other)]
    Other,
}

/// What is known of a model. Prices are in dollars for a million tokens.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ModelFacts {
    /// Tokens that fit into one request and its answer.
    pub context_window: u64,
    /// Most tokens of one answer.
    pub max_output: u64,
    /// Whether the sizes are known rather than assumed.
    pub known: bool,
    /// Input that is read anew; none when the price is not known.
    pub input_price: Option<f64>,
    /// Output, thoughts included.
    pub output_price: Option<f64>,
    /// Input that the vendor had in its cache.
    pub cache_read_price: Option<f64>,
    /// Input that the vendor put into its cache.
    pub cache_write_price: Option<f64>,
    /// What long prompts cost more.
    pub long_prompt: Option<LongPrompt>,
    /// Whether it sees pictures.
    pub vision: bool,
    /// Whether it can call tools.
    pub tools: bool,
    /// Whether it thinks before it answers.
    pub reasoning: bool,
}

/// How many times as much a call with a long prompt costs.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct LongPrompt {
    /// More input tokens than this.
    pub over: u64,
    /// For all input, cached or not.
    pub input_times: f64,
    /// For all output.
    pub output_times: f64,
}

/// A model in a list.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ModelRow {
    /// What is known of it.
    #[serde(flatten)]
    pub facts: ModelFacts,
    /// `provider/model`.
    pub name: String,
    /// Whether its provider can be asked.
    pub usable: bool,
    /// Whether it is asked first when nobody says otherwise.
    pub default: bool,
}

/// Tells everything that is known of a model or a group. Nothing is sent to a vendor.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct ShowModel {
    /// The folder whose settings count.
    pub folder: String,
    /// The model or group; what is asked when nobody says otherwise where none is named.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
}

request!(ShowModel => ShownModel, "models.show", Get "/models/{name}", Read, repeatable);

/// What a name stands for.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ShownModel {
    /// The name.
    pub name: String,
    /// How the group chooses; none for a model.
    pub strategy: Option<Known<Strategy>>,
    /// The models, in the order in which they are asked.
    pub models: Vec<ModelDescription>,
    /// What is not as it was meant in the settings.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub warnings: Vec<String>,
}

/// Everything that is known of one model.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ModelDescription {
    /// What is known of it.
    #[serde(flatten)]
    pub facts: ModelFacts,
    /// `provider/model`.
    pub name: String,
    /// Its provider.
    pub provider: String,
    /// The provider's address, without login and query.
    pub base: Option<String>,
    /// The format it is asked in.
    #[serde(rename = "type")]
    pub wire: Known<ProviderType>,
    /// What it is asked with, such as `temperature=0`.
    pub parameters: Vec<String>,
    /// Where its keys come from.
    pub key_sources: Vec<String>,
    /// The entry of the built-in catalogue.
    pub catalogue_entry: Option<String>,
    /// Whether the settings have something laid over that.
    pub overridden: bool,
    /// How it stands, one for each key.
    pub states: Vec<ModelState>,
    /// Whether it runs on this machine.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub local: bool,
}

/// How one key of a model stands.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ModelState {
    /// `provider/model`, with the number of the key where there are several.
    pub name: String,
    /// How it stands.
    pub state: Readiness,
    /// Why it can't be asked.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
}

/// Whether something can be asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Readiness {
    /// It can be asked.
    Ready,
    /// It failed and is asked last for a while.
    Rests,
    /// It can't be asked.
    Unusable,
    /// Something that only a newer version knows.
    #[serde(other)]
    Other,
}

/// Sends one tiny question to one key of a model.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct TestModel {
    /// The folder whose settings count.
    pub folder: String,
    /// The model or group.
    pub name: String,
    /// Which of all the keys of all its models, as [`ShowModel`] tells them, from 0.
    pub number: usize,
    /// Where its provider is, when that is a server that the settings do not have yet.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub base: Option<String>,
}

request!(TestModel => TestedModel, "models.test", Post "/models/{name}/test", Work, once);

/// What came of a question.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct TestedModel {
    /// `provider/model`, with the number of the key where there are several.
    pub name: String,
    /// Whether it can be worked with.
    pub ok: bool,
    /// Why not.
    pub problem: Option<String>,
    /// What kind of failure that was, when the question failed.
    #[serde(default, deserialize_with = "known", skip_serializing_if = "Option::is_none")]
    pub code: Option<ErrorCode>,
    /// How long until the first piece of the answer came.
    pub first_byte_ms: Option<u64>,
    /// How long the answer took in all; none when nothing could be asked.
    pub duration_ms: Option<u64>,
    /// Output tokens a second from the first piece on.
    pub tokens_per_second: Option<f64>,
    /// What the vendor counted.
    pub usage: Option<Usage>,
    /// Whether it called the tool as it was told; none when it was given none.
    pub called_tool: Option<bool>,
}

/// Sends one tiny question to each key of each model that a name stands for, one after the other.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct TestModels {
    /// The folder whose settings count.
    pub folder: String,
    /// The model or group; without it the default model.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
}

request!(TestModels => TestedModels, "models.test_all", Post "/models/test", Work, once);

impl Watch for TestModels {
    type Item = ModelTest;
}

/// What came of the questions.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct TestedModels {
    /// The model or group.
    pub name: String,
    /// What came of each.
    pub models: Vec<TestedModel>,
}

/// What happens while models are tested.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ModelTest {
    /// It begins.
    Begins {
        /// The model or group.
        name: String,
        /// What is not as it was meant in the settings.
        warnings: Vec<String>,
    },
    /// A question is sent.
    Asked {
        /// To which model, as [`TestedModel::name`] says it.
        name: String,
    },
    /// This came of it.
    Tested(Box<TestedModel>),
    /// Something that only a newer version knows.
    #[serde(untagged)]
    Other(Value),
}

/// Finds what a person who has no model can choose from: servers of this machine that answer, and providers that a key
/// opens.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct OfferModels {
    /// The folder whose settings count.
    pub folder: String,
}

request!(OfferModels => ModelOffers, "models.offers", Get "/models/offers", Read, repeatable);

/// What there is to choose from.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ModelOffers {
    /// Servers of this machine that answer.
    pub servers: Vec<LocalModels>,
    /// Providers elsewhere; those that most people have first.
    pub providers: Vec<ProviderOffer>,
    /// What is not as it was meant in the settings.
    #[serde(default)]
    pub warnings: Vec<String>,
}

/// A server of this machine that answers.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct LocalModels {
    /// Its provider.
    pub provider: String,
    /// Its address, without login and query.
    pub base: String,
    /// The models that it serves, as they are written after `provider/`.
    pub models: Vec<String>,
}

/// A provider that a key opens.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ProviderOffer {
    /// Its name.
    pub name: String,
    /// The variables that would bring a key.
    pub variables: Vec<String>,
    /// Where its keys come from; none without a key.
    pub sources: Vec<String>,
}

/// Asks a provider which models it serves, with its key where it has one.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct ListServed {
    /// The folder whose settings count.
    pub folder: String,
    /// The provider; not read where an address is given.
    pub provider: String,
    /// The address of a server that the settings do not have yet, and which speaks as OpenAI's does.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub base: Option<String>,
}

request!(ListServed => ServedModels, "models.served", Post "/models/served", Work, repeatable);

/// What a provider serves.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ServedModels {
    /// The provider; a server that the settings do not have yet is given a name that is free.
    pub provider: String,
    /// Its models, as they are written after `provider/`: what it says, or what is known where it does not tell.
    pub models: Vec<String>,
    /// Whether it tells nobody without a key, or without another one.
    pub needs_key: bool,
    /// Whether nobody listens at the address that was given.
    pub silent: bool,
}
