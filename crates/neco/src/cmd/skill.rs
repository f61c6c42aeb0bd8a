//! `neco skill`: skills, which are guides for a kind of task.

use clap::Subcommand;
use neco_config::Env;
use neco_proto::app::agents::Level;
use neco_proto::app::skills::{AddSkills, CheckSkills, ListSkills, LookAtSkills, NewSkill, ShowSkill, WrittenSkills};
use neco_proto::visible::visible_line;
use neco_view::paint::lists::{agents, skills};

use super::confirm::{agrees, person};
use super::plugin::{brought, fetching};
use super::program::{ask, folder, print};
use crate::args::{EverywhereArgs, JsonArg};
use crate::exit::Exit;
use crate::failure::Failure;
use crate::say;

const ADD: &str = "\
A skill that is yours is used in every folder. One of a project (--project) lies in .neco/skills and is
off until you trust it: `neco trust`. You are shown the calls that a skill allows, its hooks and its files
before it is there. Look at what you add: a skill tells the agent what to do.";

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
        SkillCommand::Add { from, names, all, project, yes } => {
            let (from, names) = (from.clone(), names.clone());
            let request = AddSkills { folder, from, names, all: *all, project: *project, ..AddSkills::default() };
            add(request, *yes, everywhere, env)
        }
    }
}

/// Shows what skills run, asks, and takes them over.
fn add(request: AddSkills, yes: bool, everywhere: &EverywhereArgs, env: &Env) -> Result<Exit, Failure> {
    fetching(&request.from, &request.folder);
    let AddSkills { folder, from, names, all, .. } = request.clone();
    let found = ask(&LookAtSkills { folder, from, names, all }, everywhere, env)?;
    let shown = format!("From {}\n{}", visible_line(&request.from), brought(&found.brings));
    let tty = person(env).filter(|_| !yes);
    if tty.is_none() {
        say::out(&shown)?;
    }
    if !yes && !agrees(tty, &shown, "Take this over?", "Read the list, then pass --yes.")? {
        say::out("Nothing was taken over\n")?;
        return Ok(Exit::Refused);
    }
    written(&ask(&AddSkills { seen: found.seen, ..request }, everywhere, env)?)
}

fn written(skills: &WrittenSkills) -> Result<Exit, Failure> {
    skills.files.iter().try_for_each(|file| say::out(&format!("{file}\n")))?;
    Ok(Exit::Done)
}
