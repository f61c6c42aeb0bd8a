//! All providers: the built-in table with the configuration laid over it.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::OnceLock;

use neco_config::section::{ProviderSection, ProviderType, RetrySection, TextToolCalls};
use serde::Deserialize;

use crate::catalogue::ModelInfo;
use crate::http::is_loopback;
use crate::route::auth::LoginSettings;
use crate::route::endpoint::Address;
use crate::setup::SetupError;
use crate::wire::openai_chat::Dialect;

const BUILT_IN: &str = include_str!("providers.toml");

/// One provider.
#[derive(Clone, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ProviderEntry {
    /// Its name in `provider/model`.
    pub name: String,
    /// Which wire format it speaks.
    #[serde(rename = "type")]
    pub kind: ProviderType,
    /// The address that paths are added to.
    #[serde(default, deserialize_with = "address")]
    pub base: Option<Address>,
    /// The path that is added instead of the format's own; `{model}` stands for the model.
    pub path: Option<String>,
    /// The header that carries the key instead of the format's own.
    pub key_header: Option<String>,
    /// Variables that hold its keys.
    #[serde(default)]
    pub api_key_envs: Vec<String>,
    /// Variables of another provider whose keys it takes where it has none of its own.
    #[serde(default)]
    pub shared_key_envs: Vec<String>,
    /// The key itself, from the configuration.
    #[serde(skip)]
    pub api_key: Option<secrecy::SecretString>,
    /// What its key is filed under in the system's keyring.
    #[serde(skip)]
    pub keyring: Option<String>,
    /// How one logs in, where one can.
    pub login: Option<LoginSettings>,
    /// Whether it runs on this machine.
    #[serde(default)]
    pub local: bool,
    /// Whether calls that its models write into their text are run.
    pub text_tool_calls: Option<TextToolCalls>,
    /// What is asked when only its key is known.
    pub default_model: Option<String>,
    /// The same for hard thought, if that is another model.
    pub strong_model: Option<String>,
    /// The same for small steps, if that is another model.
    pub fast_model: Option<String>,
    /// The same for pictures; without it the provider has none.
    pub vision_model: Option<String>,
    /// How it is started, for a person.
    pub start: Option<String>,
    /// The command that gets a missing model, without the model.
    pub pull: Option<String>,
    /// Headers sent with every request.
    #[serde(default)]
    pub headers: BTreeMap<String, String>,
    /// The script to play.
    #[serde(skip)]
    pub script: Option<String>,
    /// Parts of the names of models that it serves in the responses format only.
    #[serde(default)]
    pub responses_only: Vec<String>,
    /// How it differs from others that speak the same format.
    #[serde(default)]
    pub dialect: Dialect,
    /// What people call it, from the configuration.
    #[serde(skip)]
    pub title: Option<String>,
    /// How failed calls of it are tried again, from the configuration.
    #[serde(skip)]
    pub retry: Option<RetrySection>,
}

fn address<'de, D: serde::Deserializer<'de>>(from: D) -> Result<Option<Address>, D::Error> {
    let text: Option<String> = Deserialize::deserialize(from)?;
    Ok(text.as_deref().map(Address::new))
}

impl fmt::Debug for ProviderEntry {
    /// Without the headers and what the address holds: people put keys into them.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let base = self.base.as_ref().map(Address::shown);
        f.debug_struct("ProviderEntry").field("name", &self.name).field("base", &base).finish_non_exhaustive()
    }
}

impl ProviderEntry {
    /// Which wire format it speaks for `model`.
    pub fn kind_for(&self, model: &str) -> ProviderType {
        let only = self.kind == ProviderType::Openai && self.responses_only.iter().any(|part| model.contains(part));
        if only { ProviderType::Responses } else { self.kind }
    }

    /// The model that it usually gives to `group`, one of [`crate::models::GROUPS`].
    pub fn usual_model(&self, group: &str) -> Option<&str> {
        let default = self.default_model.as_deref();
        match group {
            "think" => self.strong_model.as_deref().or(default),
            "act" => self.fast_model.as_deref().or(default),
            "image" => self.vision_model.as_deref(),
            _ => default,
        }
    }

    /// Whether it can't be asked without a key.
    pub fn needs_key(&self) -> bool {
        !self.is_here() && !self.api_key_envs.is_empty()
    }

    /// Whether it runs on this machine, or is said to.
    pub fn is_here(&self) -> bool {
        self.local || self.is_on_loopback()
    }

    /// Whether nothing lies between it and us that could break: one that is only said to be local may be a machine in
    /// the network.
    pub fn is_on_loopback(&self) -> bool {
        self.base.as_ref().is_some_and(|base| is_loopback(base.shown()))
    }

    /// Whether calls that a model writes into its text are run. Where nobody says, only models that
    /// can't call otherwise and models on this machine are believed to mean them.
    pub fn text_tool_calls(&self, info: &ModelInfo) -> TextToolCalls {
        let usual = match (info.tools, self.is_here()) {
            (false, _) => TextToolCalls::Always,
            (true, true) => TextToolCalls::Auto,
            (true, false) => TextToolCalls::Never,
        };
        self.text_tool_calls.unwrap_or(usual)
    }

    fn lay_over(&mut self, section: &ProviderSection) {
        self.kind = section.kind.unwrap_or(self.kind);
        if let Some(base) = &section.base {
            self.base = Some(Address::new(base)).filter(|base| !base.shown().is_empty());
        }
        self.path = section.path.clone().or(self.path.take());
        self.key_header = section.key_header.clone().or(self.key_header.take());
        if section.api_key_env.is_some() || !section.api_key_envs.is_empty() {
            self.api_key_envs = section.api_key_env.iter().chain(&section.api_key_envs).cloned().collect();
            self.shared_key_envs.clear();
        }
        if let Some(key) = &section.api_key {
            self.api_key = Some(key.as_str().into());
        }
        self.keyring = section.keyring.clone().or(self.keyring.take());
        if let Some(login) = &section.login {
            self.login.get_or_insert_default().lay_over(login);
        }
        self.script = section.script.clone().or(self.script.take());
        self.local |= section.local;
        self.text_tool_calls = section.text_tool_calls.or(self.text_tool_calls);
        if !section.responses_only.is_empty() {
            self.responses_only.clone_from(&section.responses_only);
        }
        if let Some(dialect) = &section.dialect {
            self.dialect.lay_over(dialect);
        }
        self.headers.extend(section.headers.clone());
        self.title = section.name.clone().or(self.title.take());
        self.retry = section.retry.or(self.retry);
    }
}

/// All providers, in the order in which they are chosen from when nothing is configured.
#[derive(Clone, Debug)]
pub struct Providers {
    entries: Vec<ProviderEntry>,
}

#[derive(Deserialize)]
struct Table {
    provider: Vec<ProviderEntry>,
}

impl Providers {
    /// The built-in table with `sections` laid over it.
    /// Fails when a new provider lacks its type.
    pub fn new(sections: &BTreeMap<String, ProviderSection>) -> Result<Self, SetupError> {
        let mut entries = built_in()?;
        for (name, section) in sections {
            match entries.iter_mut().find(|entry| entry.name == *name) {
                Some(entry) => entry.lay_over(section),
                None => entries.push(new_entry(name, section)?),
            }
        }
        Ok(Self { entries })
    }

    /// The provider called `name`.
    /// Fails when there is none; says which one was probably meant.
    pub fn get(&self, name: &str) -> Result<&ProviderEntry, SetupError> {
        self.entries.iter().find(|entry| entry.name == name).ok_or_else(|| SetupError::UnknownProvider {
            name: name.to_owned(),
            nearest: crate::setup::nearest(name, self.entries.iter().map(|entry| entry.name.as_str())),
            known: self.entries.iter().map(|entry| entry.name.clone()).collect(),
        })
    }

    /// All of them, in order of choice.
    pub fn iter(&self) -> impl Iterator<Item = &ProviderEntry> {
        self.entries.iter()
    }
}

/// The built-in table. It is read once: whoever wants to know all providers' variables asks for it too.
fn built_in() -> Result<Vec<ProviderEntry>, SetupError> {
    static READ: OnceLock<Result<Vec<ProviderEntry>, toml::de::Error>> = OnceLock::new();
    let read = READ.get_or_init(|| toml::from_str(BUILT_IN).map(|table: Table| table.provider));
    read.clone().map_err(|error| SetupError::BuiltInTable { table: "providers.toml", reason: error.to_string() })
}

fn new_entry(name: &str, section: &ProviderSection) -> Result<ProviderEntry, SetupError> {
    let kind = section.kind.ok_or_else(|| SetupError::NoType(name.to_owned()))?;
    let mut entry = ProviderEntry { name: name.to_owned(), kind, ..ProviderEntry::default() };
    entry.lay_over(section);
    Ok(entry)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_built_in_table_is_sound() {
        let providers = Providers::new(&BTreeMap::new()).unwrap();
        for entry in providers.iter() {
            match entry.kind {
                ProviderType::Scripted => assert!(entry.base.is_none()),
                ProviderType::Openai | ProviderType::Responses | ProviderType::Anthropic | ProviderType::Gemini => {
                    assert_eq!(entry.local, entry.api_key_envs.is_empty(), "{}", entry.name);
                    let Some(base) = entry.base.as_ref().map(Address::shown) else {
                        // Where everybody has an address of his own, there is no usual model either.
                        assert!(entry.name == "azure-openai" && entry.default_model.is_none());
                        continue;
                    };
                    assert!(!base.ends_with('/'), "{base}");
                    assert_eq!(entry.local, is_loopback(base), "{base}");
                    assert_eq!(entry.local, entry.default_model.is_none(), "{}", entry.name);
                }
            }
        }
        for name in [
            "openai",
            "anthropic",
            "gemini",
            "azure-openai",
            "github-copilot",
            "deepseek",
            "groq",
            "zhipuai",
            "zhipuai-coding-plan",
            "qwen",
            "moonshot",
            "minimax-cn",
            "openrouter",
            "mistral",
            "xai",
            "together",
            "ollama",
            "lmstudio",
            "llama.cpp",
            "vllm",
            "scripted",
        ] {
            assert!(providers.get(name).is_ok(), "{name}");
        }
    }

    #[test]
    fn the_configuration_is_laid_over_the_table() {
        let section = ProviderSection {
            base: Some("http://127.0.0.1:9/v1".to_owned()),
            api_key_env: Some("A".to_owned()),
            api_key_envs: vec!["B".to_owned()],
            ..ProviderSection::default()
        };
        let providers = Providers::new(&[("openai".to_owned(), section)].into()).unwrap();
        let openai = providers.get("openai").unwrap();
        assert_eq!(openai.base.as_ref().map(Address::shown), Some("http://127.0.0.1:9/v1"));
        assert_eq!(openai.api_key_envs, ["A", "B"]);
        assert!(!openai.needs_key());
        assert_eq!(openai.dialect.max_tokens_field, "max_completion_tokens");
    }

    #[test]
    fn copilot_is_told_the_version_that_asks() {
        let providers = Providers::new(&BTreeMap::new()).unwrap();
        let (name, editor) = crate::route::auth::EDITOR;
        assert_eq!(providers.get("github-copilot").unwrap().headers[name], editor);
    }

    #[test]
    fn calls_in_the_text_are_for_local_models_and_those_that_can_not_call_otherwise() {
        let never = ProviderSection { text_tool_calls: Some(TextToolCalls::Never), ..ProviderSection::default() };
        let on_loopback = ProviderSection {
            kind: Some(ProviderType::Openai),
            base: Some("http://127.0.0.1:8081/v1".to_owned()),
            ..ProviderSection::default()
        };
        let sections = [("vllm".to_owned(), never), ("mine".to_owned(), on_loopback)].into();
        let providers = Providers::new(&sections).unwrap();
        let setting = |name: &str, tools| {
            let info = ModelInfo { tools, ..ModelInfo::default() };
            providers.get(name).unwrap().text_tool_calls(&info)
        };
        assert_eq!(setting("openai", true), TextToolCalls::Never);
        assert_eq!(setting("openai", false), TextToolCalls::Always);
        assert_eq!(setting("llama.cpp", true), TextToolCalls::Auto);
        assert_eq!(setting("mine", true), TextToolCalls::Auto);
        assert_eq!(setting("vllm", false), TextToolCalls::Never);
    }

    #[test]
    fn some_models_are_served_in_another_format() {
        let providers = Providers::new(&BTreeMap::new()).unwrap();
        let openai = providers.get("openai").unwrap();
        assert_eq!(openai.kind_for("gpt-5"), ProviderType::Openai);
        assert_eq!(openai.kind_for("gpt-5.1-codex"), ProviderType::Responses);
    }

    #[test]
    fn an_unknown_name_is_answered_with_the_nearest() {
        let providers = Providers::new(&BTreeMap::new()).unwrap();
        let error = providers.get("opnai").unwrap_err().to_string();
        assert!(error.contains("did you mean openai?"), "{error}");
    }

    #[test]
    fn a_new_provider_needs_a_type() {
        let error = Providers::new(&[("mine".to_owned(), ProviderSection::default())].into()).unwrap_err();
        assert!(error.to_string().contains("[model_providers.mine]"), "{error}");
    }
}
