//! The models that a person is shown: each can be asked for as it is written.

#![allow(missing_docs, clippy::unwrap_used)]

use neco_config::section::Config;
use neco_model::route::ModelName;
use neco_model::{Models, NoKeys};

#[test]
fn models_are_listed_as_they_are_written_with_the_path_their_provider_wants() {
    let models = Models::new(&Config::default(), &NoKeys).unwrap();
    let known = |name: &str| models.known_models(models.providers().iter().find(|entry| entry.name == name).unwrap());
    let (groq, openrouter) = (known("groq"), known("openrouter"));
    assert!(groq.contains(&"openai/gpt-oss-120b".to_owned()), "{groq:?}");
    assert!(groq.contains(&"llama-3.3-70b-versatile".to_owned()), "{groq:?}");
    assert!(openrouter.contains(&"anthropic/claude-opus-4.5".to_owned()), "{openrouter:?}");
    assert!(known("together")[0].starts_with("Qwen/"));
    for entry in models.providers().iter() {
        let known = models.known_models(entry);
        for model in &known {
            // Nothing is listed twice, with its path and without.
            let (_, bare) = model.rsplit_once('/').unwrap_or(("", model));
            let same = known.iter().filter(|other| other.rsplit('/').next() == Some(bare)).count();
            assert_eq!(same, 1, "{} {known:?}", entry.name);
            // What is listed can be asked for as it is written.
            let name: ModelName = format!("{}/{model}", entry.name).parse().unwrap();
            assert_eq!((&name.provider, &name.model), (&entry.name, model));
            assert!(models.info(&name.label()).unwrap().known, "{}", name.label());
        }
    }
}
