//! Which rules are in force, and where those are kept that a person allows for good.

use std::io;
use std::path::{Path, PathBuf};

use futures::future::BoxFuture;
use neco_agent::RuleBook;
use neco_config::section::SandboxLevel;
use neco_config::{Env, Loaded, policy_folder};
use neco_safety::command::Place;
use neco_safety::policy::{LoadedPolicy, Problem, RuleSources, Source, ToolPattern, keep};
use neco_safety::{Policy, Ruling, tools};
use neco_sandbox::can_be_worked_in;
use neco_session::folder::why_closed;

use crate::error::invalid;
use crate::workspace::plugged::Plugged;
use neco_proto::app::AppError;

/// Rules of one opening, and folders that are open in it.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct RuleFlags {
    /// The rules, with what each says.
    pub rules: Vec<(Ruling, String)>,
    /// Folders besides the one worked in.
    pub add_dir: Vec<PathBuf>,
}

/// The file of rules that were allowed with "always".
const ALWAYS_FILE: &str = "always.toml";

/// The rules for work in `folder`; its own count as far as they are trusted.
///
/// # Errors
/// When a rule of the user's can't be understood, or a folder to open can't be used.
pub fn load(
    args: &RuleFlags,
    env: &Env,
    folder: &Path,
    loaded: &Loaded,
    plugged: &Plugged,
) -> Result<LoadedPolicy, AppError> {
    let place = Place {
        workspace: folder.to_owned(),
        folder: folder.to_owned(),
        home: Some(env.home().to_owned()),
        roots: roots(args, env, folder, loaded)?,
        readable: plugged.readable(),
    };
    let sources =
        RuleSources { place, files: plugged.rules(), loaded, flags: &args.rules, trusted: plugged.rules_count() };
    let mut rules = sources.load().map_err(|error| {
        invalid(format!("the rules can't be used:\n{error}"))
            .hint("Correct them or take them out: one of them may be the rule that forbids something.")
    })?;
    for (problem, forbids) in unknown_tools(&rules.policy) {
        // Whoever forbids something on the command line must not believe that it is forbidden.
        if forbids {
            return Err(invalid(format!("nothing was done: {problem}")));
        }
        rules.warnings.push(problem);
    }
    Ok(rules)
}

/// Rules about tools that do not exist: such a rule says nothing. Files may have rules for tools that only other agents
/// have, so there a name counts that is nearly one of ours; who writes a flag means something. With each, whether a flag
/// would forbid something with it.
fn unknown_tools(policy: &Policy) -> Vec<(Problem, bool)> {
    let mut found = Vec::new();
    for rule in policy.rules().iter().filter(|rule| rule.source > Source::BuiltIn) {
        for name in rule.when.tools.iter().filter_map(ToolPattern::name) {
            let hint = match tools::misspelt(name) {
                Some(meant) => format!("did you mean {meant:?}?"),
                // A server's tool has such a name, and may not be there yet.
                None if rule.source == Source::CommandLine && !tools::is_known(name) && !name.contains("__") => {
                    format!("a file is meant by 'Read({name})' or 'Edit({name})', a program by 'bash({name} *)'")
                }
                None => continue,
            };
            let message = format!("there is no tool {name:?}, so the rule says nothing; {hint}");
            let forbids = rule.source == Source::CommandLine && rule.decision != Ruling::Allow;
            found.push((Problem { place: rule.place.clone(), message }, forbids));
        }
    }
    found
}

/// The folders that are open besides the workspace: those of the settings, then those of the flags.
fn roots(args: &RuleFlags, env: &Env, folder: &Path, loaded: &Loaded) -> Result<Vec<PathBuf>, AppError> {
    let home = |text: &String| match text.strip_prefix("~/") {
        Some(rest) => env.home().join(rest),
        None => PathBuf::from(text),
    };
    let configured = loaded.config.roots.iter().map(|text| (home(text), "roots in the settings"));
    let given = args.add_dir.iter().map(|path| (path.clone(), "--add-dir"));
    let is_boxed = loaded.config.sandbox.level != SandboxLevel::Full;
    let resolve = |(path, whence): (PathBuf, &str)| {
        let resolved = folder.join(&path).canonicalize();
        match resolved {
            Ok(resolved) if is_boxed && !can_be_worked_in(&resolved) => {
                let words = format!("{whence}: {} can't be worked in inside the sandbox", path.display());
                Err(invalid(words).hint("Name the folders in it that you mean; `--sandbox full` has no box."))
            }
            Ok(resolved) if resolved.is_dir() => Ok(resolved),
            Ok(_) => Err(invalid(format!("{whence}: {} is not a folder", path.display()))),
            Err(error) => Err(invalid(format!("{whence}: {} can't be used: {}", path.display(), why_closed(&error)))),
        }
    };
    let mut roots: Vec<PathBuf> = configured.chain(given).map(resolve).collect::<Result<_, _>>()?;
    roots.dedup();
    roots.retain(|root| root != folder);
    Ok(roots)
}

/// The user's file of rules that were allowed with "always".
pub struct AlwaysFile {
    path: PathBuf,
    shown: String,
}

impl AlwaysFile {
    /// The file of the user.
    pub fn of(env: &Env) -> Self {
        let path = policy_folder(env).join(ALWAYS_FILE);
        let shown = env.shown(&path);
        Self { path, shown }
    }

    /// Where it is, whether it exists or not.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The same for a person.
    pub fn shown(&self) -> &str {
        &self.shown
    }
}

impl RuleBook for AlwaysFile {
    fn file(&self) -> String {
        self.shown.clone()
    }

    fn keep(&self, rule: String) -> BoxFuture<'_, io::Result<()>> {
        let path = self.path.clone();
        Box::pin(async move { tokio::task::spawn_blocking(move || keep(&path, &rule)).await? })
    }
}
