//! The whole way: find, read, strip, check, merge, decode.

use std::path::{Path, PathBuf};

use crate::check::check;
use crate::decode::decode;
use crate::env::Env;
use crate::find::{ConfigFile, Found, find, user_file};
use crate::layer::{Node, Value, parse, parse_unplaced};
use crate::merge::merge;
use crate::notice::{ConfigError, Findings, Notice};
use crate::origin::{Layer, Origin, Origins, Source};
use crate::section::{Config, HooksSection};
use crate::servers::{RepositoryServer, settle, take_servers};
use crate::shape::known;
use crate::trail::Trail;
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
    /// The MCP servers of the repository's files, in the order of the layers. They are not in `config` either.
    pub repository_servers: Vec<RepositoryServer>,
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
/// Fails when a value has the wrong type or is out of range, the user's file is not TOML or can't be read, or an
/// override is not `key=value`; all such problems at once. What is wrong in a repository's files is warned about and
/// left out: it must not keep the program from starting.
pub fn load(options: LoadOptions<'_>) -> Result<Loaded, ConfigError> {
    let (loaded, problems) = load_around(options);
    if problems.is_empty() { Ok(loaded) } else { Err(ConfigError { problems }) }
}

/// Reads all layers without what is wrong in them, and tells what that is: for whoever shows settings, which are worth
/// seeing most when one of them is broken. Nobody works with these.
pub fn load_around(options: LoadOptions<'_>) -> (Loaded, Vec<Notice>) {
    let (files, found) = find(options.env, options.cwd);
    let mut stack = Stack::of_files(found, options.env);
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

/// The overrides of these options without what makes work in the folder freer than its settings do by themselves, and the
/// keys of what was left out.
pub fn without_freeing(options: LoadOptions<'_>) -> (Vec<String>, Vec<String>) {
    let mut stack = Stack::of_files(find(options.env, options.cwd).1, options.env);
    for layer in variables::layers(options.env, &mut stack.findings) {
        stack.add(layer);
    }
    let (mut kept, mut left_out) = (Vec::new(), Vec::new());
    for text in options.overrides {
        // What can't be understood is the load's to refuse.
        let Ok(mut layer) = flags::layer(text) else {
            kept.push(text.clone());
            continue;
        };
        let freeing = reserved::take_freeing(&mut layer, &stack.tree);
        match freeing.is_empty() {
            true => kept.push(text.clone()),
            false => kept.extend(flags::texts(&layer)),
        }
        left_out.extend(freeing.iter().map(ToString::to_string));
    }
    (kept, left_out)
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
    servers: Vec<RepositoryServer>,
}

impl Stack {
    /// The built-in layer and those of files.
    fn of_files(found: Vec<Found>, env: &Env) -> Self {
        let (repository, user): (Vec<Found>, Vec<Found>) =
            found.into_iter().partition(|file| file.origin.layer.is_from_repository());
        let text = user.first().and_then(|file| file.text.as_deref().ok());
        let ahead = env.ahead.take().map(|ahead| ahead.layers(text));
        let (tree, mut ahead) = ahead.unwrap_or_else(|| (built_in(), None));
        let mut stack = Self { tree, findings: Findings::default(), hooks: Vec::new(), servers: Vec::new() };
        for file in user {
            match ahead.take().unwrap_or_else(|| file.text.and_then(|text| parse(&text, &file.origin))) {
                Ok(layer) => stack.add(layer),
                Err(problem) => stack.findings.problems.push(problem),
            }
        }
        if !repository.is_empty() {
            stack.add_repository(repository, env);
        }
        stack
    }

    fn add(&mut self, mut layer: Node) {
        take_apart(&mut layer, &mut self.findings);
        settle(&mut layer);
        check(&mut layer, known(), &mut self.findings);
        merge(&mut self.tree, layer);
    }

    fn add_repository(&mut self, found: Vec<Found>, env: &Env) {
        let user = self.tree.clone();
        let user_file = env.shown(&user_file(env));
        for file in found {
            let mut findings = Findings::default();
            match file.text.and_then(|text| parse(&text, &file.origin)) {
                Ok(mut layer) => {
                    self.hooks.extend(take_hooks(&mut layer, &file.origin, &mut findings));
                    self.servers.extend(take_servers(&mut layer, &file.origin, &mut findings));
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

    fn finish(self, files: Vec<ConfigFile>) -> (Loaded, Vec<Notice>) {
        let Findings { mut problems, mut warnings } = self.findings;
        let config = decode(&self.tree).unwrap_or_else(|problem| {
            problems.push(problem);
            Config::built_in()
        });
        let key_variables = config.key_variables();
        warnings.retain(|warning| !about_one_of(warning, &key_variables));
        let rule_origins = match self.tree.get(&["policy", "rules"]).map(|node| &node.value) {
            Some(Value::List(rules)) => rules.iter().map(|rule| rule.origin.clone()).collect(),
            Some(_) | None => Vec::new(),
        };
        let origins = Origins::of_tree(self.tree);
        let (repository_hooks, repository_servers) = (self.hooks, self.servers);
        (Loaded { config, origins, warnings, files, rule_origins, repository_hooks, repository_servers }, problems)
    }
}

/// Takes the hooks out of a repository's layer: laid over the user's they would replace them, and
/// whether they run is not decided here.
fn take_hooks(layer: &mut Node, origin: &Origin, findings: &mut Findings) -> Option<RepositoryHooks> {
    let hooks = layer.get(&["hooks"])?.clone();
    layer.remove(&["hooks"]);
    let mut alone = Node::new(Value::Table([("hooks".to_owned(), Box::new(hooks))].into()), origin.clone());
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

/// Whether the warning is about a variable of these, which hold keys and so are no misspelt settings.
fn about_one_of(warning: &Notice, key_variables: &[String]) -> bool {
    match &*warning.origin.source {
        Source::Variable(name) => key_variables.contains(name),
        Source::BuiltIn | Source::File { .. } | Source::Flag(_) => false,
    }
}

/// The only kind of hook that there is.
const COMMAND: &str = "command";

/// Makes of every group of hooks in a layer the hooks that it means.
fn take_apart(layer: &mut Node, findings: &mut Findings) {
    let Value::Table(settings) = &mut layer.value else { return };
    let Some(Value::Table(events)) = settings.get_mut("hooks").map(|hooks| &mut hooks.value) else { return };
    for (event, node) in events {
        let trail = Trail::default().child("hooks").child(event);
        if let Value::List(entries) = &mut node.value {
            let all = std::mem::take(entries).into_iter();
            *entries = all.flat_map(hooks_of).filter_map(|hook| command_of(hook, &trail, findings)).collect();
        }
    }
}

/// What the hooks of a group have from it.
const SHARED: [&str; 2] = ["matcher", "timeout"];

/// The hooks of an entry: itself, where it has a command or is no group, and those in its group.
fn hooks_of(mut entry: Node) -> Vec<Node> {
    let Some(Node { value: Value::List(group), .. }) = entry.get(&["hooks"]) else { return vec![entry] };
    let mut group = group.clone();
    entry.remove(&["hooks"]);
    for hook in &mut group {
        let Value::Table(own) = &mut hook.value else { continue };
        for name in SHARED {
            if let Some(shared) = entry.get(&[name]) {
                own.entry(name.to_owned()).or_insert_with(|| Box::new(shared.clone()));
            }
        }
    }
    let is_one = group.is_empty() || entry.get(&[COMMAND]).is_some();
    is_one.then_some(entry).into_iter().chain(group).collect()
}

/// A hook without the word that says that it is a command; nothing, which is told, if it is something else.
fn command_of(mut hook: Node, trail: &Trail, findings: &mut Findings) -> Option<Node> {
    let mut left_out = |origin: &Origin, message: &str| {
        findings.warnings.push(Notice::about_key(origin, trail, format!("left out: {message}")));
        None
    };
    match hook.remove(&["type"]) {
        Some(Node { value: Value::Text(kind), .. }) if kind == COMMAND => {}
        Some(other) => return left_out(&other.origin, "only hooks of type \"command\" exist"),
        None => {}
    }
    let is_table = matches!(hook.value, Value::Table(_));
    if is_table && hook.get(&[COMMAND]).is_none() {
        return left_out(&hook.origin, "a hook needs a command");
    }
    Some(hook)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::check::check;
    use crate::decode::decode;
    use crate::layer::parse;
    use crate::origin::{Layer, Source};
    use crate::section::HooksSection;
    use crate::shape::known;

    fn read(text: &str) -> (HooksSection, Vec<String>) {
        let mut layer = parse(text, &Origin::new(Layer::User, Source::BuiltIn)).unwrap();
        let mut findings = Findings::default();
        take_apart(&mut layer, &mut findings);
        check(&mut layer, known(), &mut findings);
        let said = findings.problems.iter().chain(&findings.warnings).map(|notice| notice.message.clone());
        (decode(&layer).unwrap().hooks, said.collect())
    }

    #[test]
    fn a_group_is_the_hooks_in_it_with_its_matcher() {
        let grouped = "[[hooks.PreToolUse]]\nmatcher = 'Bash'\nhooks = [\n{ type = 'command', command = 'a', timeout = 5 },\n\
                       { command = 'b', matcher = 'Edit' },\n]\n[[hooks.PreToolUse]]\ntype = 'command'\ncommand = 'c'\n";
        let flat = "[[hooks.PreToolUse]]\nmatcher = 'Bash'\ncommand = 'a'\ntimeout = 5\n[[hooks.PreToolUse]]\n\
                    matcher = 'Edit'\ncommand = 'b'\n[[hooks.PreToolUse]]\ncommand = 'c'\n";
        assert_eq!(read(grouped), read(flat));
        assert_eq!(read(grouped).0.pre_tool_use.len(), 3);
        assert_eq!(read(grouped).1, Vec::<String>::new());
    }

    #[test]
    fn what_is_no_command_is_left_out_and_told() {
        let text = "[[hooks.Stop]]\nhooks = [{ type = 'prompt', prompt = 'x' }, { type = 'command', command = 'a' }]\n";
        let (hooks, said) = read(text);
        assert_eq!((hooks.stop.len(), hooks.stop[0].command.as_str()), (1, "a"));
        assert!(said.len() == 1 && said[0].contains("only hooks of type"), "{said:?}");
        let (hooks, said) = read("[[hooks.Stop]]\nhooks = 'x'\n");
        assert!(hooks.stop.is_empty() && said == ["left out: a hook needs a command"], "{said:?}");
        assert_eq!(read("hooks = 3\n").1.len(), 1);
        let (hooks, said) = read("[[hooks.Stop]]\nmatcher = 'x'\nhooks = []\n");
        assert!(hooks.stop.is_empty() && said.len() == 1, "{said:?}");
        let (hooks, said) = read("[[hooks.Stop]]\ncommand = 'guard'\nhooks = [{ command = 'a' }, { timeout = 3 }]\n");
        let commands: Vec<&str> = hooks.stop.iter().map(|hook| hook.command.as_str()).collect();
        assert!(commands == ["guard", "a"] && said.len() == 1, "{commands:?} {said:?}");
    }
}
