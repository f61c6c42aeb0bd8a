//! `neco skill`: skills, which are guides for a kind of task.

use clap::Subcommand;
use neco_config::Env;
use neco_proto::app::agents::Level;
use neco_proto::app::skills::{
    AddSkills, CheckSkills, ListSkills, LookAtSkillRemoval, LookAtSkillUpdate, LookAtSkills, NewSkill, RemoveSkill,
    ShowSkill, SkillRemoval, SkillRow, SwitchSkill, UpdateSkill, WrittenSkills,
};
use neco_proto::visible::visible_line;
use neco_view::figures::count;
use neco_view::paint::lists::{agents, plugins, skills};

use super::confirm::{agrees, person};
use super::plugin::{all_of, fetching, not_updated};
use super::program::{ask, asked, folder, print};
use crate::args::{EverywhereArgs, JsonArg};
use crate::exit::Exit;
use crate::failure::Failure;
use crate::say;

const ADD: &str = "\
A skill that is yours is used in every folder. One of a project (--project) lies in .neco/skills and is
off until you trust it: `neco trust`. You are shown the calls that a skill allows, its hooks and its files
before it is there. Look at what you add: a skill tells the agent what to do.";

/// Files that are named before they are removed.
const MOST_FILES: usize = 40;

/// `neco skill …`
#[derive(Debug, Subcommand)]
pub enum SkillCommand {
    /// Lists the skills that can be used here, and where they are
    List {
        #[command(flatten)]
        json: JsonArg,
    },
    /// Shows a skill: its text, its files, and what holds while it is in use
    Show {
        /// Its name
        name: String,
        #[command(flatten)]
        json: JsonArg,
    },
    /// Checks skills against the format: those of this folder and yours, or those named
    Validate {
        /// Names of skills, their folders, or their SKILL.md
        #[arg(value_name = "SKILL")]
        skills: Vec<String>,
        #[command(flatten)]
        json: JsonArg,
    },
    /// Writes a new skill to begin with
    New {
        /// Its name: small letters, digits and hyphens
        name: String,
        /// What it does and when it is used
        #[arg(long, value_name = "TEXT")]
        description: Option<String>,
        /// Writes it into .neco/skills of this project
        #[arg(long)]
        project: bool,
    },
    /// Switches a skill on again
    Enable {
        /// Its name
        name: String,
    },
    /// Switches a skill off: neither the model nor you can have it used
    Disable {
        /// Its name
        name: String,
    },
    /// Removes a skill of yours, after showing its files
    #[command(visible_aliases = ["rm", "uninstall"])]
    Remove {
        /// Its name
        name: String,
        /// Removes it without asking
        #[arg(long)]
        yes: bool,
    },
    /// Fetches skills that you added anew, and asks before it takes over what changed
    Update {
        /// Its name; all of them without it
        name: Option<String>,
        /// Takes over what changed without asking
        #[arg(long)]
        yes: bool,
    },
    /// Copies skills from a folder or a git repository, after showing what they run
    #[command(after_help = ADD, visible_alias = "install")]
    Add {
        /// A folder, or the address of a git repository
        from: String,
        /// The skills that are wanted; may be left out where there is one
        names: Vec<String>,
        /// All of them
        #[arg(long)]
        all: bool,
        /// Copies them into .neco/skills of this project
        #[arg(long)]
        project: bool,
        /// Copies them without asking
        #[arg(long)]
        yes: bool,
    },
}

/// Runs `neco skill …`.
pub fn run(command: &SkillCommand, everywhere: &EverywhereArgs, env: &Env) -> Result<Exit, Failure> {
    let folder = folder(everywhere)?;
    match command {
        SkillCommand::List { json } => {
            let list = ask(&ListSkills { folder }, everywhere, env)?;
            if !json.json {
                list.warnings.iter().for_each(|warning| say::note(warning));
            }
            print(*json, &list, || skills::as_lines(&list, env.home()))
        }
        SkillCommand::Show { name, json } => {
            let shown = ask(&ShowSkill { folder, name: name.clone() }, everywhere, env)?;
            print(*json, &shown, || skills::whole(&shown, env.home()))
        }
        SkillCommand::Validate { skills, json } => {
            let files = skills.clone();
            let problems = ask(&CheckSkills { folder, files }, everywhere, env)?.problems;
            print(*json, &problems, || agents::problems(&problems))?;
            let broken = problems.iter().any(|problem| problem.level == Level::Error);
            Ok(if broken { Exit::Failed } else { Exit::Done })
        }
        SkillCommand::New { name, description, project } => {
            let (name, description) = (name.clone(), description.clone());
            written(&ask(&NewSkill { folder, name, description, project: *project }, everywhere, env)?)
        }
        SkillCommand::Enable { name } => switch(folder, name, true, everywhere, env),
        SkillCommand::Disable { name } => switch(folder, name, false, everywhere, env),
        SkillCommand::Remove { name, yes } => remove(folder, name, *yes, everywhere, env),
        SkillCommand::Update { name, yes } => update(folder, name.as_deref(), *yes, everywhere, env),
        SkillCommand::Add { from, names, all, project, yes } => {
            let (from, names) = (from.clone(), names.clone());
            let request = AddSkills { folder, from, names, all: *all, project: *project, ..AddSkills::default() };
            add(request, *yes, everywhere, env)
        }
    }
}

fn switch(folder: String, name: &str, enabled: bool, everywhere: &EverywhereArgs, env: &Env) -> Result<Exit, Failure> {
    let switched = ask(&SwitchSkill { folder, name: name.to_owned(), enabled }, everywhere, env)?;
    let now = if enabled { "on" } else { "off" };
    say::out(&format!("{} is {now}: skills.off in {}\n", switched.name, switched.file))?;
    Ok(Exit::Done)
}

/// Shows what skills run, asks, and takes them over.
fn add(request: AddSkills, yes: bool, everywhere: &EverywhereArgs, env: &Env) -> Result<Exit, Failure> {
    fetching(&request.from, &request.folder);
    let AddSkills { folder, from, names, all, .. } = request.clone();
    let found = ask(&LookAtSkills { folder, from, names, all }, everywhere, env)?;
    let shown = format!("From {}\n{}", visible_line(&request.from), plugins::brought(&found.brings));
    if !is_agreed(&shown, "Take this over?", yes, env)? {
        say::out("Nothing was taken over\n")?;
        return Ok(Exit::Refused);
    }
    written(&ask(&AddSkills { seen: found.seen, ..request }, everywhere, env)?)
}

/// Shows what goes, asks, and removes it.
fn remove(folder: String, name: &str, yes: bool, everywhere: &EverywhereArgs, env: &Env) -> Result<Exit, Failure> {
    let look = LookAtSkillRemoval { folder: folder.clone(), name: name.to_owned() };
    let SkillRemoval { at, leads_to, files, seen } = ask(&look, everywhere, env)?;
    let at = visible_line(&at);
    let shown = match leads_to {
        Some(leads_to) => format!("{at} is a link to {}, whose files stay\n", visible_line(&leads_to)),
        None => {
            let more = match files.len().saturating_sub(MOST_FILES) {
                0 => String::new(),
                more => format!("  … and {}\n", count(more as u64, "more file")),
            };
            let lines: String =
                files.iter().take(MOST_FILES).map(|file| format!("  {}\n", visible_line(file))).collect();
            format!("{at}\n{lines}{more}")
        }
    };
    if !is_agreed(&shown, "Remove it?", yes, env)? {
        say::out("Nothing was removed\n")?;
        return Ok(Exit::Refused);
    }
    ask(&RemoveSkill { folder, name: name.to_owned(), seen }, everywhere, env)?;
    say::out(&format!("{at} is removed\n"))?;
    Ok(Exit::Done)
}

/// Goes on with the others where one can't be updated, and ends with a failure then.
fn update(
    folder: String,
    name: Option<&str>,
    yes: bool,
    everywhere: &EverywhereArgs,
    env: &Env,
) -> Result<Exit, Failure> {
    let list = ask(&ListSkills { folder: folder.clone() }, everywhere, env)?.skills;
    let of_name = |row: &&SkillRow| name.is_none_or(|name| row.name == name.trim_start_matches(['$', '/']));
    let named: Vec<&SkillRow> = list.iter().filter(of_name).collect();
    let added: Vec<&&SkillRow> = named.iter().filter(|row| row.source.is_some()).collect();
    if added.is_empty() {
        return match name {
            None => {
                say::out("No skill was added from elsewhere: nothing to update\n")?;
                Ok(Exit::Done)
            }
            Some(name) if named.is_empty() => {
                Err(Failure::usage(format!("there is no skill {name}")).hint("`neco skill list` lists them."))
            }
            Some(name) => Err(Failure::usage(format!("nothing is known of where {name} comes from")).hint(
                "Only what `neco skill add` copied can be fetched anew; a plugin's comes with `neco plugin update`.",
            )),
        };
    }
    let (mut exit, mut failed) = (Exit::Done, Vec::new());
    for row in added {
        let source = row.source.clone().unwrap_or_default();
        fetching(&source, &folder);
        let found = match asked(&LookAtSkillUpdate { file: row.file.clone() }, everywhere, env)? {
            Ok(found) => found,
            Err(error) => {
                failed.push(not_updated(&row.name, &error));
                continue;
            }
        };
        if found.changes.is_empty() {
            say::out(&format!("{}: nothing changed\n", row.name))?;
            continue;
        }
        let edited =
            if found.edited { "You changed it here since it was added; an update takes that back.\n" } else { "" };
        let lines: String = found.changes.iter().map(|line| format!("  {line}\n")).collect();
        let shown = format!("{} from {}\n{edited}{lines}", row.name, visible_line(&source));
        if !is_agreed(&shown, "Take this over?", yes, env)? {
            say::out("Nothing was taken over\n")?;
            exit = Exit::Refused;
            continue;
        }
        written(&ask(&UpdateSkill { file: row.file.clone(), seen: found.seen }, everywhere, env)?)?;
    }
    all_of(&failed, exit)
}

/// Shows something and asks about it; with `yes` it is only shown.
fn is_agreed(shown: &str, question: &str, yes: bool, env: &Env) -> Result<bool, Failure> {
    let tty = person(env).filter(|_| !yes);
    if tty.is_none() {
        say::out(shown)?;
    }
    Ok(yes || agrees(tty, shown, question, "Read the list, then pass --yes.")?)
}

fn written(skills: &WrittenSkills) -> Result<Exit, Failure> {
    skills.files.iter().try_for_each(|file| say::out(&format!("{file}\n")))?;
    Ok(Exit::Done)
}
