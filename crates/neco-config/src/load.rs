//! The whole way: find, read, strip, check, merge, decode.

use std::path::{Path, PathBuf};

use crate::check::check;
use crate::decode::decode;
use crate::env::Env;
use crate::find::{ConfigFile, Found, find};
use crate::hook_groups::take_apart;
use crate::layer::{Node, Value, parse, parse_unplaced};
use crate::merge::merge;
use crate::notice::{ConfigError, Findings, Notice};
use crate::origin::{Layer, Origin, Origins, Source};
use crate::section::{Config, HooksSection};
use crate::shape::known;
use crate::{flags, reserved, variables};

/// What loading depends on.
#[derive(Clone, Copy, Debug)]
pub struct LoadOptions<'a> {
    /// The environment.
    pub env: &'a Env,
    /// The folder that the project is looked for from.
    pub cwd: &'a Path,
    /// What `-c` was given, each as `key=value`.
    pub overrides: &'a [String],
}

/// A configuration and how it came about.
#[derive(Clone, Debug, PartialEq)]
pub struct Loaded {
    /// The values.
    pub config: Config,
    /// Where each of them comes from.
    pub origins: Origins,
    /// What should be said about them.
    pub warnings: Vec<Notice>,
    /// Every file that was looked at, in the order of the layers.
    pub files: Vec<ConfigFile>,
    /// Where each of the `policy.rules` was written.
    pub rule_origins: Vec<Origin>,
    /// The hooks of the repository's files. They are not in `config`: nobody runs them unasked.
    pub repository_hooks: Vec<RepositoryHooks>,
}

/// The hooks of one of a repository's files.
#[derive(Clone, Debug, PartialEq)]
pub struct RepositoryHooks {
    /// The file.
    pub file: PathBuf,
    /// Its hooks.
    pub hooks: HooksSection,
}

/// Reads all layers.
///
/// # Errors
/// When a value has the wrong type or is out of range, the user's file is not TOML or can't be read,
/// or an override is not `key=value`; all such problems at once. What is wrong in a repository's
/// files is warned about and left out: it must not keep the program from starting.
pub fn load(options: LoadOptions<'_>) -> Result<Loaded, ConfigError> {
    let (files, found) = find(options.env, options.cwd);
    let mut stack = Stack { tree: built_in(), findings: Findings::default(), hooks: Vec::new() };
    stack.add_files(found, options.env);
    for layer in variables::layers(options.env, &mut stack.findings) {
        stack.add(layer);
    }
    for text in options.overrides {
        match flags::layer(text) {
            Ok(layer) => stack.add(layer),
            Err(problem) => stack.findings.problems.push(problem),
        }
    }
    stack.finish(files)
}

impl Config {
    /// What holds when nobody says otherwise.
    pub fn built_in() -> Self {
        decode(&built_in()).unwrap_or_default()
    }
}

/// The tree of what is compiled in. It is not checked at run time; a test does.
pub(crate) fn built_in() -> Node {
    let origin = Origin::new(Layer::BuiltIn, Source::BuiltIn);
    let text = include_str!("../defaults/config.toml");
    parse_unplaced(text, &origin).unwrap_or_else(|| Node::empty_table(origin))
}

/// The layers laid over each other so far.
struct Stack {
    tree: Node,
    findings: Findings,
    hooks: Vec<RepositoryHooks>,
}

impl Stack {
    fn add(&mut self, mut layer: Node) {
        take_apart(&mut layer, &mut self.findings);
        check(&mut layer, known(), &mut self.findings);
        merge(&mut self.tree, layer);
    }

    fn add_files(&mut self, found: Vec<Found>, env: &Env) {
        let (repository, user): (Vec<Found>, Vec<Found>) =
            found.into_iter().partition(|file| file.origin.layer.is_from_repository());
        for file in user {
            match file.text.and_then(|text| parse(&text, &file.origin)) {
                Ok(layer) => self.add(layer),
                Err(problem) => self.findings.problems.push(problem),
            }
        }
        if !repository.is_empty() {
            self.add_repository(repository, env);
        }
    }

    fn add_repository(&mut self, found: Vec<Found>, env: &Env) {
        let user = self.tree.clone();
        let user_file = env.shown(&env.config_dir().join("config.toml"));
        for file in found {
            let mut findings = Findings::default();
            match file.text.and_then(|text| parse(&text, &file.origin)) {
                Ok(mut layer) => {
                    self.hooks.extend(take_hooks(&mut layer, &file.origin, &mut findings));
                    reserved::strip(&mut layer, &user, &self.tree, &user_file, &mut findings);
                    check(&mut layer, known(), &mut findings);
                    merge(&mut self.tree, layer);
                }
                Err(problem) => findings.problems.push(problem),
            }
            let ignored = |problem: Notice| Notice { message: format!("ignored: {}", problem.message), ..problem };
            self.findings.warnings.extend(findings.warnings);
            self.findings.warnings.extend(findings.problems.into_iter().map(ignored));
        }
    }

    fn finish(self, files: Vec<ConfigFile>) -> Result<Loaded, ConfigError> {
        let Findings { problems, mut warnings } = self.findings;
        if !problems.is_empty() {
            return Err(ConfigError { problems });
        }
        let config = decode(&self.tree).map_err(|problem| ConfigError { problems: vec![problem] })?;
        warnings.retain(|warning| !about_a_key_variable(warning, &config));
        let origins = Origins::of_tree(&self.tree);
        let rule_origins = match self.tree.get(&["policy", "rules"]).map(|node| &node.value) {
            Some(Value::List(rules)) => rules.iter().map(|rule| rule.origin.clone()).collect(),
            Some(_) | None => Vec::new(),
        };
        Ok(Loaded { config, origins, warnings, files, rule_origins, repository_hooks: self.hooks })
    }
}

/// Takes the hooks out of a repository's layer: laid over the user's they would replace them, and
/// whether they run is not decided here.
fn take_hooks(layer: &mut Node, origin: &Origin, findings: &mut Findings) -> Option<RepositoryHooks> {
    let hooks = layer.get(&["hooks"])?.clone();
    layer.remove(&["hooks"]);
    let mut alone = Node::new(Value::Table([("hooks".to_owned(), hooks)].into()), origin.clone());
    take_apart(&mut alone, findings);
    check(&mut alone, known(), findings);
    let hooks = match decode(&alone) {
        Ok(config) => config.hooks,
        Err(problem) => {
            findings.problems.push(problem);
            return None;
        }
    };
    let file = origin.file()?.to_owned();
    (!hooks.is_empty()).then_some(RepositoryHooks { file, hooks })
}

/// Whether the warning is about a variable that holds a provider's key, and so is no misspelt setting.
fn about_a_key_variable(warning: &Notice, config: &Config) -> bool {
    match &*warning.origin.source {
        Source::Variable(name) => config
            .model_providers
            .values()
            .any(|provider| provider.api_key_env.as_ref() == Some(name) || provider.api_key_envs.contains(name)),
        Source::BuiltIn | Source::File { .. } | Source::Flag(_) => false,
    }
}
