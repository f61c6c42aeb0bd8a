//! Models and whom they are asked from, by the names that they have here.

use neco_proto::app::settings::NewSetting;
use neco_proto::app::setups::SetupKind;
use serde_json::{Value, json};

use super::piece::{Level, Take};
use super::reading::{Reading, Source};
use super::references::{told, upper, variable};
use super::taken;

/// Why a project's model is not taken.
const OF_PROJECT: &str = "a project can't choose your model; --model does";

/// What others call a provider that comes with Neco.
const PROVIDERS: &[(&str, &str)] = &[
    ("openai", "openai"),
    ("openai-codex", "openai"),
    ("codex", "openai"),
    ("anthropic", "anthropic"),
    ("claude", "anthropic"),
    ("gemini", "gemini"),
    ("google", "gemini"),
    ("openrouter", "openrouter"),
    ("deepseek", "deepseek"),
    ("zhipuai", "zhipuai"),
    ("zhipu", "zhipuai"),
    ("zai", "zhipuai"),
    ("z.ai", "zhipuai"),
    ("zhipuai-coding-plan", "zhipuai-coding-plan"),
    ("zai-coding-plan", "zhipuai-coding-plan"),
    ("moonshot", "moonshot"),
    ("moonshotai", "moonshot"),
    ("kimi", "moonshot"),
    ("qwen", "qwen"),
    ("alibaba", "qwen"),
    ("minimax-cn", "minimax-cn"),
    ("minimax", "minimax-cn"),
    ("xai", "xai"),
    ("mistral", "mistral"),
    ("groq", "groq"),
    ("together", "together"),
    ("togetherai", "together"),
    ("azure", "azure-openai"),
    ("github-copilot", "github-copilot"),
    ("ollama", "ollama"),
    ("lmstudio", "lmstudio"),
    ("vllm", "vllm"),
];

/// The name here of a provider that comes with Neco.
pub(super) fn provider(theirs: &str) -> Option<&'static str> {
    PROVIDERS.iter().find(|(name, _)| name.eq_ignore_ascii_case(theirs)).map(|(_, own)| *own)
}

/// `provider/model` as it is called here. The provider is told from the name where none stands before it.
pub(super) fn model(theirs: &str) -> Option<String> {
    let theirs = theirs.trim();
    match theirs.split_once('/') {
        Some((name, model)) => provider(name).map(|own| format!("{own}/{model}")),
        None => {
            let lower = theirs.to_ascii_lowercase();
            let begins = |words: &[&str]| words.iter().any(|word| lower.starts_with(word));
            let own = match () {
                () if begins(&["claude"]) => "anthropic",
                () if begins(&["gpt", "o1", "o3", "o4", "codex"]) => "openai",
                () if begins(&["gemini"]) => "gemini",
                () if begins(&["minimax-"]) => "minimax-cn",
                () if begins(&["glm"]) => "zhipuai",
                () if begins(&["deepseek"]) => "deepseek",
                () => return None,
            };
            Some(format!("{own}/{theirs}"))
        }
    }
}

/// The same in settings that describe providers: what one of those is called stays.
pub(super) fn own_model(described: &[String], theirs: &str) -> Option<String> {
    let is_described = |name: &str| described.iter().any(|described| described == name);
    let own = theirs.split_once('/').filter(|(name, _)| provider(name).is_none() && is_described(name));
    own.map(|_| theirs.to_owned()).or_else(|| model(theirs))
}

/// Adds the model that is asked, by its name here.
pub(super) fn choose(reading: &mut Reading, theirs: &str, own: Option<String>, from: Source<'_>) {
    match own {
        _ if from.level == Level::Project => reading.refuse(SetupKind::Model, theirs, from, OF_PROJECT),
        Some(own) => {
            let words = (own != theirs).then(|| format!("it is {own} here")).into_iter().collect();
            let set = vec![NewSetting { key: "model".to_owned(), value: own.into() }];
            reading.add(SetupKind::Model, theirs, from, Take::Set(set), words);
        }
        None => {
            let words = "no provider here is known by that name; `neco model list --all` has the names";
            reading.refuse(SetupKind::Model, theirs, from, words);
        }
    }
}

/// A provider as other agents describe it.
#[derive(Clone, Debug, Default)]
pub(super) struct TheirProvider {
    /// What it is called.
    pub(super) name: String,
    /// What people call it.
    pub(super) title: Option<String>,
    /// The wire format that it speaks, by our name for it.
    pub(super) kind: Option<&'static str>,
    /// Its address.
    pub(super) base: Option<String>,
    /// The variable that holds its key.
    pub(super) variable: Option<String>,
    /// Its key, or a reference to one.
    pub(super) key: Option<String>,
    /// Its other settings.
    pub(super) rest: Value,
}

/// Adds a provider, and what is to be done about its key.
pub(super) fn provide(reading: &mut Reading, theirs: TheirProvider, from: Source<'_>) {
    let name = provider(&theirs.name).map_or_else(|| own_name(&theirs.name), str::to_owned);
    if from.level == Level::Project {
        let words = "a project can't say whom your models are asked from";
        return reading.refuse(SetupKind::Provider, theirs.name, from, words);
    }
    let section = |field: &str| format!("model_providers.{}.{field}", quoted_key(&name));
    let (mut set, mut words) = (Vec::new(), Vec::new());
    let mut add = |field: &str, value: Value| set.push(NewSetting { key: section(field), value });
    let is_known = provider(&theirs.name).is_some();
    if let Some(base) = &theirs.base {
        let (base, secrets) = reading.variables.of_address(&name, base);
        if let Some(words) = told(&secrets) {
            return reading.leave(
                SetupKind::Provider,
                theirs.name,
                from,
                &format!("its address holds a secret; {words}"),
            );
        }
        if let Some(title) = theirs.title.as_ref().filter(|_| !is_known) {
            add("name", json!(title));
        }
        if !is_known || theirs.kind.is_some() {
            add("type", json!(theirs.kind.unwrap_or("openai")));
        }
        add("base", json!(base));
    }
    let (variable, said) = key_of(&theirs, &name, is_known);
    if let Some(variable) = variable {
        add("api_key_env", json!(variable));
    }
    words.extend(said);
    if set.is_empty() && words.is_empty() {
        let paths = taken::paths(&theirs.rest);
        if !paths.is_empty() {
            let why = format!("Neco has no such settings: {}", paths.join(", "));
            reading.refuse(SetupKind::Provider, theirs.name, from, &why);
        }
        return;
    }
    words.extend(taken::without(&theirs.rest));
    if set.is_empty() {
        return reading.add(SetupKind::Key, name, from, Take::Yours, words);
    }
    if name != theirs.name {
        words.insert(0, format!("it is {name} here"));
    }
    reading.add(SetupKind::Provider, theirs.name, from, Take::Set(set), words);
}

/// The variable that a provider's key is read from, and what is to be said of the key.
fn key_of(theirs: &TheirProvider, name: &str, is_known: bool) -> (Option<String>, Option<String>) {
    let named = theirs.variable.clone().or_else(|| theirs.key.as_deref().and_then(variable));
    match (named, &theirs.key) {
        (Some(variable), _) => {
            let words = format!("its key is read from {variable}");
            (Some(variable), Some(words))
        }
        (None, Some(_)) if !is_known => {
            let variable = format!("{}_API_KEY", upper(name));
            let words = format!("its key is not copied: set {variable}, or run `neco login {name}`");
            (Some(variable), Some(words))
        }
        (None, Some(_)) => (None, Some(format!("its key is not copied: run `neco login {name}`"))),
        (None, None) => (None, None),
    }
}

/// Says what to do about a key or a login that lies in a file of its own.
pub(super) fn key(reading: &mut Reading, provider_name: &str, from: Source<'_>, is_login: bool) {
    let own = provider(provider_name).map_or_else(|| own_name(provider_name), str::to_owned);
    let words = match (is_login, own.as_str()) {
        (true, "github-copilot") => "a login is not copied: run `neco login github-copilot`".to_owned(),
        (true, _) => format!("a login with a subscription does not work here: run `neco login {own}` with an API key"),
        (false, _) => format!("keys are not copied: run `neco login {own}`"),
    };
    reading.leave(SetupKind::Key, provider_name, from, &words);
}

/// A part of a dotted key.
pub(super) fn quoted_key(name: &str) -> String {
    let is_bare =
        !name.is_empty() && name.chars().all(|char| char.is_ascii_alphanumeric() || matches!(char, '_' | '-'));
    if is_bare { name.to_owned() } else { Value::from(name).to_string() }
}

/// A name that providers can have here.
fn own_name(name: &str) -> String {
    let letter = |char: char| if char.is_ascii_alphanumeric() || "-_.".contains(char) { char } else { '-' };
    name.chars().take(64).map(letter).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn models_have_their_name_here() {
        for (theirs, own) in [
            ("anthropic/claude-sonnet-4-5", Some("anthropic/claude-sonnet-4-5")),
            ("google/gemini-2.5-pro", Some("gemini/gemini-2.5-pro")),
            ("zai/glm-4.7", Some("zhipuai/glm-4.7")),
            ("openrouter/openai/gpt-5", Some("openrouter/openai/gpt-5")),
            ("minimax-m2", Some("minimax-cn/minimax-m2")),
            ("gpt-5-codex", Some("openai/gpt-5-codex")),
            ("nobody/x", None),
            ("mystery", None),
        ] {
            assert_eq!(model(theirs).as_deref(), own, "{theirs}");
        }
    }
}
