//! What a person reads who has no model yet.

use std::fmt::Write;
use std::path::Path;

use neco_model::LookedFor;
use neco_proto::app::{AppError, Trouble};

/// The guide to a first model.
pub(crate) fn guide(looked: &LookedFor, config_dir: &Path) -> AppError {
    let mut text = String::from(
        "\nAny one of these is enough:\n\n  1. a key, added with `neco login PROVIDER` or in the environment\n",
    );
    for (provider, variables) in &looked.keys {
        let _ = writeln!(text, "       {:<28} {provider}", variables.join(", "));
    }
    text.push_str("\n  2. a local server that runs (none answered)\n");
    for (provider, address) in &looked.local {
        let _ = writeln!(text, "       {address:<28} {provider}");
    }
    let file = config_dir.join("config.toml");
    let _ = write!(
        text,
        "\n  3. any OpenAI-compatible server, in {}\n\n       \
         model = \"localhost-8000/the-model\"\n       \
         [model_providers.localhost-8000]\n       \
         type = \"openai\"\n       \
         base = \"http://localhost:8000/v1\"\n\n\
         `neco doctor` shows what was found; `neco demo` works without a model.",
        file.display()
    );
    AppError::new(Trouble::NoModel, "no model is configured yet").hint(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_guide_names_what_was_looked_for() {
        let looked = LookedFor {
            keys: vec![("openai".into(), vec!["OPENAI_API_KEY".into()])],
            local: vec![("ollama".into(), "http://localhost:11434/v1".into())],
        };
        let words = guide(&looked, Path::new("/home/me/.config/neco")).words();
        for line in [
            "no model is configured yet",
            "       OPENAI_API_KEY               openai",
            "       http://localhost:11434/v1    ollama",
            "  3. any OpenAI-compatible server, in /home/me/.config/neco/config.toml",
            "       base = \"http://localhost:8000/v1\"",
        ] {
            assert!(words.lines().any(|found| found == line), "{line:?} is not in {words}");
        }
    }
}
