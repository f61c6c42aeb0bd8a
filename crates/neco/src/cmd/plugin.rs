//! `neco plugin`: plugins, which bring skills, commands, agents, hooks, MCP servers and tools as one thing.

use std::path::Path;

use clap::Subcommand;
use neco_config::Env;
use neco_proto::app::AppError;
use neco_proto::app::agents::Level;
use neco_proto::app::plugins::{
    AddMarketplace, CheckPlugin, CheckedPlugin, FoundPlugin, FoundPlugins, InstallPlugin, ListPlugins, LookAtPlugin,
    MarketplaceRow, NewPlugin, PluginRow, RemoveMarketplace, RemovePlugin, SearchPlugins, ShowMarketplace, ShowPlugin,
    ShownMarketplace, ShownPlugin, SwitchPlugin,
};
use neco_proto::app::setups::PluginToAdd;
use neco_proto::visible::visible_line;
use neco_view::figures::count;
use neco_view::paint::lists::{agents, plugins};

use super::confirm::{agrees, person};
use super::program::{ask, asked, folder, notes, print};
use crate::args::{EverywhereArgs, JsonArg};
use crate::exit::Exit;
use crate::failure::Failure;
use crate::say;

const ADD: &str = "\
SOURCE is a folder, the address of a git repository (with #BRANCH, #TAG or #COMMIT), OWNER/REPOSITORY on
GitHub, or PLUGIN@MARKETPLACE. Plugins of Neco, Claude Code and Codex and extensions of Gemini CLI are read.
You are shown all that it brings before anything of it counts. What you say yes to is pinned: a plugin
whose files change is off until you have seen the change.";

/// `neco plugin …`
#[derive(Debug, Subcommand)]
pub enum PluginCommand {
    /// Lists your plugins, and the marketplaces you added
    List {
        #[command(flatten)]
        json: JsonArg,
    },
    /// Shows what a plugin brings
    Show {
        /// Its name
        name: String,
        #[command(flatten)]
        json: JsonArg,
    },
    /// Installs a plugin, after showing all that it brings
    #[command(after_help = ADD, visible_alias = "install")]
    Add {
        /// Where it comes from
        source: String,
        /// For this folder alone
        #[arg(long)]
        project: bool,
        /// Installs it without asking
        #[arg(long)]
        yes: bool,
    },
    /// Fetches plugins anew, and asks before it takes over what changed
    Update {
        /// Its name; all of them without it
        name: Option<String>,
        /// Takes over what changed without asking
        #[arg(long)]
        yes: bool,
    },
    /// Switches a plugin on
    Enable {
        /// Its name
        name: String,
        /// In this folder alone
        #[arg(long)]
        project: bool,
    },
    /// Switches a plugin off
    Disable {
        /// Its name
        name: String,
        /// In this folder, where it is on for single folders
        #[arg(long)]
        project: bool,
    },
    /// Removes a plugin and its files
    #[command(visible_alias = "uninstall")]
    Remove {
        /// Its name
        name: String,
        /// Removes it without asking
        #[arg(long)]
        yes: bool,
    },
    /// Checks a plugin that you write: its manifest and all that it brings
    Validate {
        /// Its folder; this one without it
        #[arg(value_name = "FOLDER")]
        at: Option<String>,
        #[command(flatten)]
        json: JsonArg,
    },
    /// Writes a new plugin into a folder of its name: a manifest, a skill and a command
    New {
        /// Its name
        name: String,
        /// What it is for
        #[arg(long, value_name = "TEXT")]
        description: Option<String>,
    },
    /// Looks for plugins in the marketplaces you added
    Search {
        /// Words that all stand in what is said of a plugin; all plugins without any
        words: Vec<String>,
        #[command(flatten)]
        json: JsonArg,
    },
    /// Lists of plugins that others keep
    #[command(subcommand)]
    Marketplace(MarketplaceCommand),
}

/// `neco plugin marketplace …`
#[derive(Debug, Subcommand)]
pub enum MarketplaceCommand {
    /// Adds a marketplace
    Add {
        /// A folder, the address of a git repository, or OWNER/REPOSITORY on GitHub
        source: String,
    },
    /// Lists the plugins of a marketplace, or the marketplaces
    List {
        /// Its name
        name: Option<String>,
        #[command(flatten)]
        json: JsonArg,
    },
    /// Fetches marketplaces anew, and says what is new and what is gone
    Update {
        /// Its name; all of them without it
        name: Option<String>,
    },
    /// Takes a marketplace away; its plugins stay
    Remove {
        /// Its name
        name: String,
    },
}

/// Runs `neco plugin …`.
pub fn run(command: &PluginCommand, everywhere: &EverywhereArgs, env: &Env) -> Result<Exit, Failure> {
    let folder = folder(everywhere)?;
    match command {
        PluginCommand::List { json } => {
            let list = ask(&ListPlugins { folder }, everywhere, env)?;
            if !json.json {
                notes(&list.warnings);
            }
            print(*json, &list, || plugins::as_lines(&list))
        }
        PluginCommand::Show { name, json } => {
            let shown = ask(&ShowPlugin { folder, name: name.clone() }, everywhere, env)?;
            if !json.json {
                notes(&shown.warnings);
            }
            print(*json, &shown, || plugins::described(&shown))
        }
        PluginCommand::Add { source, project, yes } => add(source, (*project, *yes), everywhere, env),
        PluginCommand::Update { name, yes } => update(name.as_deref(), *yes, everywhere, env),
        PluginCommand::Enable { name, project } => {
            let request = SwitchPlugin { folder, name: name.clone(), enabled: true, project: *project };
            switched(&ask(&request, everywhere, env)?)
        }
        PluginCommand::Disable { name, project } => {
            let request = SwitchPlugin { folder, name: name.clone(), enabled: false, project: *project };
            switched(&ask(&request, everywhere, env)?)
        }
        PluginCommand::Remove { name, yes } => remove(folder, name, *yes, everywhere, env),
        PluginCommand::Validate { at, json } => {
            let request = CheckPlugin { folder, at: at.clone().unwrap_or_else(|| ".".to_owned()) };
            validated(&ask(&request, everywhere, env)?, *json)
        }
        PluginCommand::New { name, description } => {
            let request = NewPlugin { folder, name: name.clone(), description: description.clone() };
            let files = ask(&request, everywhere, env)?.files;
            files.iter().try_for_each(|file| say::out(&format!("{file}\n")))?;
            say::out(&format!("Next: `neco plugin validate {name}`, then `neco plugin add ./{name}`\n"))?;
            Ok(Exit::Done)
        }
        PluginCommand::Search { words, json } => {
            let found = ask(&SearchPlugins { words: words.join(" ") }, everywhere, env)?;
            if !json.json {
                notes(&found.warnings);
            }
            print(*json, &found, || found_plugins(&found))
        }
        PluginCommand::Marketplace(command) => marketplace(command, everywhere, env),
    }
}

fn validated(checked: &CheckedPlugin, json: JsonArg) -> Result<Exit, Failure> {
    let broken = checked.problems.iter().any(|problem| problem.level == Level::Error);
    print(json, checked, || {
        let brings = if checked.brings.is_empty() {
            String::new()
        } else {
            format!("\nIt brings:\n{}", plugins::brought(&checked.brings))
        };
        format!("{}{brings}", agents::problems(&checked.problems))
    })?;
    Ok(if broken { Exit::Failed } else { Exit::Done })
}

fn found_plugins(found: &FoundPlugins) -> String {
    if found.marketplaces == 0 {
        return "You added no marketplace: `neco plugin marketplace add OWNER/REPOSITORY` adds one\n".to_owned();
    }
    if found.plugins.is_empty() {
        let lists = count(found.marketplaces as u64, "marketplace");
        return format!("No plugin in {lists}; `neco plugin marketplace update` fetches lists anew\n");
    }
    let line = |one: &FoundPlugin| {
        let installed = if one.installed { " (installed)" } else { "" };
        format!("{}@{}{installed}  {}\n", one.name, one.marketplace, one.description)
    };
    found.plugins.iter().map(line).collect()
}

fn add(source: &str, (project, yes): (bool, bool), everywhere: &EverywhereArgs, env: &Env) -> Result<Exit, Failure> {
    let folder = folder(everywhere)?;
    fetching(source, &folder);
    let found = ask(&LookAtPlugin { folder: folder.clone(), from: source.to_owned() }, everywhere, env)?;
    notes(&found.warnings);
    let on_here = SwitchPlugin { folder: folder.clone(), name: found.plugin.name.clone(), enabled: true, project };
    if found.changes.as_ref().is_some_and(Vec::is_empty) {
        say::out(&format!("{} is there already, and nothing changed\n", found.plugin.name))?;
        return if project { switched(&ask(&on_here, everywhere, env)?) } else { Ok(Exit::Done) };
    }
    let request = InstallPlugin { folder, from: source.to_owned(), seen: found.seen.clone(), project };
    match install(&found, request, yes, everywhere, env)? {
        // One that was there stays on or off as it was.
        Exit::Done if project && found.changes.is_some() => switched(&ask(&on_here, everywhere, env)?),
        exit => Ok(exit),
    }
}

/// Adds a plugin that another agent has on, with its marketplace where that is not known; the person sees what it brings
/// and says yes or no.
pub(super) fn add_wanted(wanted: &PluginToAdd, everywhere: &EverywhereArgs, env: &Env) -> Result<Exit, Failure> {
    let list = ask(&ListPlugins { folder: folder(everywhere)? }, everywhere, env)?.marketplaces;
    let name = wanted.from.split_once('@').map(|(_, name)| name);
    let is_known = list.iter().any(|known| Some(known.name.as_str()) == name);
    if let Some(from) = wanted.marketplace.as_ref().filter(|_| !is_known) {
        let shown = ask(&AddMarketplace { folder: folder(everywhere)?, from: from.clone() }, everywhere, env)?;
        notes(&shown.warnings);
    }
    add(&wanted.from, (wanted.project, false), everywhere, env)
}

/// Says that something is fetched, which may take long; a folder of this machine is there.
pub(super) fn fetching(source: &str, folder: &str) {
    if !Path::new(folder).join(source).is_dir() {
        say::note(&format!("Fetching {} …", visible_line(&neco_config::without_secrets(source))));
    }
}

/// Shows what a plugin brings or what changed in it, asks, and installs it.
fn install(
    found: &ShownPlugin,
    request: InstallPlugin,
    yes: bool,
    everywhere: &EverywhereArgs,
    env: &Env,
) -> Result<Exit, Failure> {
    let (shown, question) = match &found.changes {
        Some(changes) => (changed(found, changes), "Take this over?"),
        None => (plugins::described(found), "Install it?"),
    };
    let tty = person(env).filter(|_| !yes);
    if tty.is_none() {
        say::out(&shown)?;
    }
    if !yes && !agrees(tty, &shown, question, "Read the list, then pass --yes.")? {
        say::out("Nothing was installed\n")?;
        return Ok(Exit::Refused);
    }
    let row = ask(&request, everywhere, env)?;
    let place =
        if row.projects.is_empty() { "everywhere".to_owned() } else { format!("in {}", row.projects.join(", ")) };
    let on = if row.enabled { format!("on {place}") } else { "off".to_owned() };
    say::out(&format!("{} is installed and {on}; open sessions have it from their next message on\n", row.name))?;
    Ok(Exit::Done)
}

/// Goes on with the others where one can't be updated, and ends with a failure then.
fn update(name: Option<&str>, yes: bool, everywhere: &EverywhereArgs, env: &Env) -> Result<Exit, Failure> {
    let folder = folder(everywhere)?;
    let list = ask(&ListPlugins { folder: folder.clone() }, everywhere, env)?;
    let mut failed: Vec<String> = Vec::new();
    let plugins = named(list.plugins, name, |plugin| &plugin.name, "plugin")?;
    let lists = |marketplace: &&MarketplaceRow| {
        let is_of_it =
            |plugin: &PluginRow| plugin.source.rsplit_once('@').is_some_and(|(_, of)| of == marketplace.name);
        name.is_none() || plugins.iter().any(is_of_it)
    };
    for marketplace in list.marketplaces.iter().filter(lists) {
        failed.extend(fetched_anew(marketplace, &folder, everywhere, env)?);
    }
    let mut exit = Exit::Done;
    for plugin in plugins {
        fetching(&plugin.source, &folder);
        let look = LookAtPlugin { folder: folder.clone(), from: plugin.name.clone() };
        let found = match asked(&look, everywhere, env)? {
            Ok(found) => found,
            Err(error) => {
                notes(&error.warnings);
                failed.push(not_updated(&plugin.name, &error));
                continue;
            }
        };
        notes(&found.warnings);
        if found.changes.as_ref().is_some_and(Vec::is_empty) {
            say::out(&format!("{}: nothing changed\n", plugin.name))?;
            continue;
        }
        let (from, seen) = (plugin.name.clone(), found.seen.clone());
        let request = InstallPlugin { folder: folder.clone(), from, seen, project: false };
        match install(&found, request, yes, everywhere, env) {
            Ok(Exit::Refused) => exit = Exit::Refused,
            Ok(_) => {}
            // Without a word from the person none of them is taken over.
            Err(failure) if failure.exit == Exit::Usage => return Err(failure),
            Err(failure) => failed.push(format!("{} is not updated: {}", plugin.name, failure.message)),
        }
    }
    all_of(&failed, exit)
}

/// The one of a name, or all of them.
fn named<T>(all: Vec<T>, name: Option<&str>, name_of: fn(&T) -> &String, kind: &str) -> Result<Vec<T>, Failure> {
    let Some(name) = name else { return Ok(all) };
    let found: Vec<T> = all.into_iter().filter(|one| name_of(one) == name).collect();
    if found.is_empty() {
        return Err(Failure::usage(format!("there is no {kind} {name}")).hint("`neco plugin list` lists them."));
    }
    Ok(found)
}

pub(super) fn not_updated(name: &str, error: &AppError) -> String {
    let hint = error.hint.as_ref().map(|hint| format!(" ({hint})")).unwrap_or_default();
    format!("{name} was not updated: {}{hint}", error.message)
}

/// How it ends when all was tried, with what failed on the way.
pub(super) fn all_of(failed: &[String], exit: Exit) -> Result<Exit, Failure> {
    notes(failed);
    Ok(if failed.is_empty() { exit } else { Exit::Failed })
}

/// Fetches a marketplace anew, and says what is other in it; gives why it could not be fetched, in words.
fn fetched_anew(
    marketplace: &MarketplaceRow,
    folder: &str,
    everywhere: &EverywhereArgs,
    env: &Env,
) -> Result<Option<String>, Failure> {
    let name = &marketplace.name;
    fetching(&marketplace.source, folder);
    let shown = match asked(&AddMarketplace { folder: folder.to_owned(), from: name.clone() }, everywhere, env)? {
        Ok(shown) => shown,
        Err(error) => return Ok(Some(not_updated(&format!("The marketplace {name}"), &error))),
    };
    notes(&shown.warnings);
    let line = |sign: &str, plugins: &[String]| plugins.iter().map(|one| format!("  {sign} {one}@{name}\n")).collect();
    let (added, removed): (String, String) = (line("+", &shown.added), line("-", &shown.removed));
    let news = if shown.added.is_empty() && shown.removed.is_empty() { "lists the same plugins" } else { "changed" };
    say::out(&format!("{name} {news}\n{added}{removed}"))?;
    Ok(None)
}

fn marketplace(command: &MarketplaceCommand, everywhere: &EverywhereArgs, env: &Env) -> Result<Exit, Failure> {
    let folder = folder(everywhere)?;
    match command {
        MarketplaceCommand::Add { source } => {
            fetching(source, &folder);
            let shown = ask(&AddMarketplace { folder, from: source.clone() }, everywhere, env)?;
            notes(&shown.warnings);
            say::out(&entries(&shown))?;
            Ok(Exit::Done)
        }
        MarketplaceCommand::List { name: Some(name), json } => {
            let shown = ask(&ShowMarketplace { name: name.clone() }, everywhere, env)?;
            print(*json, &shown, || entries(&shown))
        }
        MarketplaceCommand::List { name: None, json } => {
            let list = ask(&ListPlugins { folder }, everywhere, env)?.marketplaces;
            let lines = || list.iter().map(|one| format!("{:<20} {}\n", one.name, one.source)).collect();
            print(*json, &list, lines)
        }
        MarketplaceCommand::Update { name } => {
            let all = ask(&ListPlugins { folder: folder.clone() }, everywhere, env)?.marketplaces;
            let mut failed = Vec::new();
            for marketplace in named(all, name.as_deref(), |one| &one.name, "marketplace")? {
                failed.extend(fetched_anew(&marketplace, &folder, everywhere, env)?);
            }
            all_of(&failed, Exit::Done)
        }
        MarketplaceCommand::Remove { name } => {
            let known = ask(&RemoveMarketplace { name: name.clone() }, everywhere, env)?.known;
            removed(known, &format!("marketplace {name}"))
        }
    }
}

/// Shows what goes, asks, and removes it. One that can't be read goes, too.
fn remove(folder: String, name: &str, yes: bool, everywhere: &EverywhereArgs, env: &Env) -> Result<Exit, Failure> {
    let plugins = ask(&ListPlugins { folder }, everywhere, env)?.plugins;
    let Some(plugin) = plugins.iter().find(|plugin| plugin.name == name) else {
        return Err(Failure::usage(format!("there is no plugin {name}")).hint("`neco plugin list` lists them."));
    };
    let shown = format!("{name} from {}, and all that it brings\n", visible_line(&plugin.source));
    let tty = person(env).filter(|_| !yes);
    if !yes && !agrees(tty, &shown, "Remove it?", "Pass --yes.")? {
        say::out("Nothing was removed\n")?;
        return Ok(Exit::Refused);
    }
    let known = ask(&RemovePlugin { name: name.to_owned() }, everywhere, env)?.known;
    removed(known, &format!("plugin {name}"))
}

fn removed(known: bool, what: &str) -> Result<Exit, Failure> {
    if !known {
        return Err(Failure::usage(format!("there is no {what}")));
    }
    say::out(&format!("{what} is removed\n"))?;
    Ok(Exit::Done)
}

fn switched(row: &PluginRow) -> Result<Exit, Failure> {
    say::out(&format!("{} is {}\n", row.name, plugins::standing(row)))?;
    Ok(Exit::Done)
}

fn entries(shown: &ShownMarketplace) -> String {
    let name = &shown.marketplace.name;
    let lines = shown.plugins.iter().map(|plugin| format!("{}@{name}  {}\n", plugin.name, plugin.description));
    lines.collect()
}

/// What changed in a plugin.
fn changed(shown: &ShownPlugin, changes: &[String]) -> String {
    let PluginRow { name, version, commit, .. } = &shown.plugin;
    let version = version.as_ref().map(|version| format!(" {version}")).unwrap_or_default();
    let commit = commit.as_ref().map(|commit| format!(", commit {commit}")).unwrap_or_default();
    let lines: String = changes.iter().map(|change| format!("  {change}\n")).collect();
    format!("{name}{version}{commit} changes:\n{lines}")
}
