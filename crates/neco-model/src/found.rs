//! The groups that are made of what is found when no model is configured: keys, else local servers.

use std::collections::BTreeMap;

use neco_config::section::{GroupSection, Strategy};

use crate::models::GROUPS;
use crate::probe::LocalServer;
use crate::route::ProviderEntry;

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
