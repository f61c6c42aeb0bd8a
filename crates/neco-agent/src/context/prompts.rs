//! The prompts: markdown files that are compiled in, each with its named variables. A file of the same
//! name takes the place of one; what such a file gets wrong is an error before anything is asked.

use std::collections::BTreeMap;

use minijinja::{Environment, UndefinedBehavior, Value};

/// Variables that every prompt may use.
const EVERYWHERE: [&str; 4] = ["version", "workspace", "os", "shell"];

/// A prompt that is compiled in.
struct BuiltIn {
    name: &'static str,
    text: &'static str,
    /// Variables of its own.
    variables: &'static [&'static str],
}

const BUILT_IN: &[BuiltIn] = &[
    BuiltIn { name: "base", text: include_str!("../../prompts/base.md"), variables: &[] },
    BuiltIn { name: "mode_agent", text: include_str!("../../prompts/mode_agent.md"), variables: &[] },
    BuiltIn { name: "mode_plan", text: include_str!("../../prompts/mode_plan.md"), variables: &[] },
    BuiltIn { name: "mode_ask", text: include_str!("../../prompts/mode_ask.md"), variables: &[] },
    BuiltIn { name: "mode_debug", text: include_str!("../../prompts/mode_debug.md"), variables: &[] },
    BuiltIn {
        name: "compact",
        text: include_str!("../../prompts/compact.md"),
        variables: &["focus", "stays", "words"],
    },
];

/// A file that takes the place of a prompt.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PromptFile {
    /// The prompt, such as `base`.
    pub name: String,
    /// Where it lies, for people.
    pub file: String,
    /// What it says.
    pub text: String,
}

/// What a file of prompts gets wrong.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[allow(missing_docs, reason = "the message says what each field is")]
pub enum PromptError {
    /// There is no prompt of that name.
    #[error("{file}: there is no prompt {name}; there are {}", Prompts::names().collect::<Vec<_>>().join(", "))]
    Unknown { file: String, name: String },
    /// It names a variable that does not exist.
    #[error("{file}: there is no variable {variable}; this prompt has {variables}")]
    Variable { file: String, variable: String, variables: String },
    /// It is no template.
    #[error("{file}: {reason}")]
    Template { file: String, reason: String },
    /// It can't be read.
    #[error("{file}: {reason}")]
    Unreadable { file: String, reason: String },
}

/// The prompts of a session.
#[derive(Clone, Debug)]
pub struct Prompts {
    /// Those that files took the place of.
    texts: BTreeMap<&'static str, String>,
    values: BTreeMap<&'static str, String>,
}

impl Default for Prompts {
    fn default() -> Self {
        let values = EVERYWHERE.into_iter().map(|name| (name, String::new())).collect();
        Self { texts: BTreeMap::new(), values }
    }
}

/// What every prompt may say about the session.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PromptValues {
    /// The version of Neco.
    pub version: String,
    /// The workspace.
    pub workspace: String,
    /// The operating system.
    pub os: String,
    /// The shell that runs commands.
    pub shell: String,
}

impl Prompts {
    /// The names of all prompts.
    pub fn names() -> impl Iterator<Item = &'static str> {
        BUILT_IN.iter().map(|prompt| prompt.name)
    }

    /// The prompts that are compiled in, with `files` in the place of some; of several files for one
    /// prompt the last one counts.
    /// Fails when a file is for no prompt, is no template, or names a variable that does not exist.
    pub fn new(files: Vec<PromptFile>, values: PromptValues) -> Result<Self, PromptError> {
        let PromptValues { version, workspace, os, shell } = values;
        let values = EVERYWHERE.into_iter().zip([version, workspace, os, shell]).collect();
        let mut prompts = Self { texts: BTreeMap::new(), values };
        for file in files {
            let Some(prompt) = BUILT_IN.iter().find(|prompt| prompt.name == file.name) else {
                return Err(PromptError::Unknown { file: file.file, name: file.name });
            };
            check(prompt, &file)?;
            prompts.texts.insert(prompt.name, file.text);
        }
        Ok(prompts)
    }

    /// A prompt without variables of its own; nothing when there is none of that name.
    pub fn text(&self, name: &str) -> Option<String> {
        self.with(name, &[])
    }

    /// A prompt with its own variables filled in; nothing when there is none of that name.
    pub fn with(&self, name: &str, own: &[(&'static str, String)]) -> Option<String> {
        let prompt = BUILT_IN.iter().find(|prompt| prompt.name == name)?;
        let text = self.texts.get(prompt.name).map_or(prompt.text, String::as_str);
        let values = self.values.iter().map(|(name, value)| (*name, value.clone())).chain(own.iter().cloned());
        match render(prompt.name, text, values) {
            Ok(text) => Some(text.trim().to_owned()),
            Err(error) => {
                // Files were tried when they were read, so this is a defect; it must not end the work.
                tracing::error!(prompt = prompt.name, %error, "a prompt can't be filled in");
                Some(text.trim().to_owned())
            }
        }
    }
}

fn check(prompt: &BuiltIn, file: &PromptFile) -> Result<(), PromptError> {
    let environment = environment();
    let failed = |error: minijinja::Error| PromptError::Template { file: file.file.clone(), reason: in_words(&error) };
    let template = environment.template_from_named_str(prompt.name, &file.text).map_err(failed)?;
    let known: Vec<&str> = EVERYWHERE.iter().chain(prompt.variables).copied().collect();
    let mut unknown: Vec<String> =
        template.undeclared_variables(false).into_iter().filter(|name| !known.contains(&name.as_str())).collect();
    unknown.sort();
    if let Some(variable) = unknown.into_iter().next() {
        return Err(PromptError::Variable { file: file.file.clone(), variable, variables: known.join(", ") });
    }
    let values = known.into_iter().map(|name| (name, String::new()));
    render(prompt.name, &file.text, values).map_err(failed)?;
    Ok(())
}

fn render<'a>(
    name: &str,
    text: &str,
    values: impl Iterator<Item = (&'a str, String)>,
) -> Result<String, minijinja::Error> {
    let values: BTreeMap<&str, Value> = values.map(|(name, value)| (name, Value::from(value))).collect();
    environment().template_from_named_str(name, text)?.render(Value::from(values))
}

fn environment<'a>() -> Environment<'a> {
    let mut environment = Environment::empty();
    environment.set_undefined_behavior(UndefinedBehavior::Strict);
    environment
}

fn in_words(error: &minijinja::Error) -> String {
    let line = error.line().map(|line| format!("line {line}: ")).unwrap_or_default();
    match error.detail() {
        Some(detail) => format!("{line}{}: {detail}", error.kind()),
        None => format!("{line}{}", error.kind()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn file(name: &str, text: &str) -> PromptFile {
        PromptFile { name: name.to_owned(), file: format!("~/prompts/{name}.md"), text: text.to_owned() }
    }

    fn with(name: &str, text: &str) -> Result<Prompts, PromptError> {
        let values = PromptValues { workspace: "/home/me/x".to_owned(), ..PromptValues::default() };
        Prompts::new(vec![file(name, text)], values)
    }

    #[test]
    fn every_built_in_prompt_is_sound() {
        for prompt in BUILT_IN {
            check(prompt, &file(prompt.name, prompt.text)).unwrap();
            assert!(!prompt.text.trim().is_empty(), "{}", prompt.name);
        }
    }

    #[test]
    fn a_file_takes_the_place_of_a_prompt_and_has_variables() {
        let prompts = with("base", "You work in {{ workspace }}.\n").unwrap();
        assert_eq!(prompts.text("base").as_deref(), Some("You work in /home/me/x."));
        assert_eq!(prompts.text("mode_ask"), Prompts::default().text("mode_ask"));
        assert_eq!(prompts.text("nothing"), None);
    }

    #[test]
    fn what_a_file_gets_wrong_is_said_with_the_file_and_the_name() {
        let unknown = with("base", "{{ workspce }}").unwrap_err().to_string();
        assert_eq!(
            unknown,
            "~/prompts/base.md: there is no variable workspce; this prompt has version, workspace, os, shell"
        );
        assert!(with("basis", "x").unwrap_err().to_string().contains("there is no prompt basis; there are base,"));
        let broken = with("base", "a\n{{ workspace ").unwrap_err().to_string();
        assert!(broken.starts_with("~/prompts/base.md: line 2: syntax error"), "{broken}");
        assert!(with("base", "{{ workspace.name }}").unwrap_err().to_string().contains("undefined"));
    }

    #[test]
    fn values_are_data_and_never_templates() {
        let prompts = Prompts::new(
            vec![file("base", "in {{ workspace }}")],
            PromptValues { workspace: "{{ version }}<&>".to_owned(), ..PromptValues::default() },
        );
        assert_eq!(prompts.unwrap().text("base").as_deref(), Some("in {{ version }}<&>"));
    }
}
