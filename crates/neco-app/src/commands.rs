//! What a person or a folder brings along: commands after a slash, and hooks.

use std::path::Path;

use neco_ext::hooks::Hook;
use neco_ext::skills::Skill;
use neco_model::GROUPS;
use neco_proto::app::commands::{
    CommandList, CommandRow, ExpandCommand, ExpandedCommand, HookList, HookRow, ListCommands, ListHooks,
};
use neco_proto::app::{AppError, Trouble};

use crate::app::StorelessApp;
use crate::error::invalid;
use crate::opening::on_thread;
use crate::workspace::own_commands::{self, OwnCommand};
use crate::workspace::plugged::Plugged;
use crate::workspace::told_files;

pub(crate) async fn list(app: &StorelessApp, request: ListCommands) -> Result<CommandList, AppError> {
    let app = app.clone();
    on_thread(move || Ok(listed(&app, Path::new(&request.folder)))).await
}

fn listed(app: &StorelessApp, folder: &Path) -> CommandList {
    // With broken settings nothing is said of trust: whoever uses the command is told.
    let plugged = app.plugged(folder).ok();
    let row = |command: OwnCommand| CommandRow {
        trusted: command.broken.is_some() || plugged.as_ref().is_none_or(|plugged| plugged.may_run(&command)),
        name: command.custom.name,
        also: command.custom.also,
        argument: command.custom.argument,
        help: with_origin(command.custom.help, command.folder.is_some()),
        is_skill: false,
    };
    let may_run = |command: &OwnCommand| plugged.as_ref().is_some_and(|plugged| plugged.may_run(command));
    let found = own_commands::find(&app.env, folder, may_run);
    let mut commands: Vec<CommandRow> = found.into_iter().map(row).collect();
    let skills = plugged.iter().flat_map(skill_rows);
    let skills: Vec<CommandRow> = skills.filter(|skill| !commands.iter().any(|own| own.name == skill.name)).collect();
    commands.extend(skills);
    CommandList { commands }
}

/// The skills that a person can have used, as commands.
fn skill_rows(plugged: &Plugged) -> Vec<CommandRow> {
    let off = plugged.found_skills().skills.iter().filter(|skill| !plugged.is_off(skill) && !plugged.is_trusted(skill));
    let skills = plugged.skills().skills.into_iter().chain(off.cloned()).filter(|skill| !skill.head.only_model);
    let row = |skill: Skill| CommandRow {
        trusted: plugged.may_use(&skill),
        help: format!("{} · skill", skill.head.description),
        also: skill.full_name().filter(|full| *full != skill.name),
        argument: skill.head.argument_hint,
        name: skill.name,
        is_skill: true,
    };
    skills.map(row).collect()
}

/// What is said to the agent for a skill, which is brought in by its name.
fn expanded_skill(plugged: &Plugged, name: &str, argument: &str) -> Option<Result<ExpandedCommand, AppError>> {
    let is_meant = |skill: &&Skill| skill.is_called(name) && !skill.head.only_model;
    if plugged.skills().skills.iter().any(|skill| is_meant(&skill)) {
        let text = format!("${name} {argument}").trim_end().to_owned();
        return Some(Ok(ExpandedCommand { text, ..ExpandedCommand::default() }));
    }
    let skill = plugged.found_skills().skills.iter().find(is_meant)?;
    if plugged.is_off(skill) {
        let words = format!("the skill {} is off: `neco skill enable {name}` switches it on", skill.name);
        return Some(Err(AppError::new(Trouble::NotAllowed, words)));
    }
    Some(Err(not_trusted(name, &skill.file.display().to_string())))
}

fn not_trusted(name: &str, file: &str) -> AppError {
    let words = format!(
        "/{name} comes from {file}, which is not trusted as it is: `neco trust` or /trust shows what it brings along and \
         switches it on"
    );
    AppError::new(Trouble::NotAllowed, words)
}

/// Whether a model is named as Neco names it: `provider/model`, or one of its groups.
fn is_model(name: &str) -> bool {
    name.contains('/') || GROUPS.contains(&name)
}

/// What a command does, and who brought it along.
fn with_origin(help: String, of_folder: bool) -> String {
    let whose = if of_folder { "of this folder" } else { "yours" };
    if help.is_empty() { whose.to_owned() } else { format!("{help} · {whose}") }
}

pub(crate) async fn expand(app: &StorelessApp, request: ExpandCommand) -> Result<ExpandedCommand, AppError> {
    let app = app.clone();
    on_thread(move || expanded(&app, &request)).await
}

fn expanded(app: &StorelessApp, request: &ExpandCommand) -> Result<ExpandedCommand, AppError> {
    let (folder, name) = (Path::new(&request.folder), &request.name);
    let plugged = app.plugged(folder)?;
    let commands = own_commands::find(&app.env, folder, |command| plugged.may_run(command));
    let by_name = commands.iter().find(|command| command.custom.name == *name);
    let command = by_name.or_else(|| commands.iter().find(|command| command.is_called(name)));
    let gone = || AppError::new(Trouble::NotFound, format!("there is no /{name} any more"));
    let Some(command) = command else {
        return expanded_skill(&plugged, name, &request.argument).unwrap_or_else(|| Err(gone()));
    };
    if let Some(why) = &command.broken {
        return Err(invalid(format!("/{name} can't be used: {}: {why}", app.env.shown(&command.file))));
    }
    if !plugged.may_run(command) {
        return Err(not_trusted(name, &app.env.shown(&command.file)));
    }
    let argument = &request.argument;
    let missing = command.missing(argument);
    if !missing.is_empty() {
        let wanted: Vec<String> = missing.iter().map(|key| format!("{key}=…")).collect();
        let hint = format!("Write /{name} {}; `$$` in its file is a dollar that needs nothing.", wanted.join(" "));
        return Err(invalid(format!("/{name} needs {}", missing.join(", "))).hint(hint));
    }
    let agents = match &command.agent {
        Some(_) => Some(told_files::definitions(&app.env, folder, &app.settings(folder)?)),
        None => None,
    };
    let doer = command.doer(|agent| agents.as_ref().is_some_and(|agents| agents.find(agent).is_ok()));
    Ok(ExpandedCommand {
        text: command.say(argument, &doer),
        parts: command.parts(argument, &doer),
        notes: noted(command).into_iter().chain(doer.note(name)).collect(),
        // Other agents have names of their own, such as `opus`.
        model: command.model.clone().filter(|model| is_model(model)),
        // A project can't allow.
        allowed_tools: if command.folder.is_none() { command.allowed_tools.clone() } else { Vec::new() },
    })
}

/// What a person should know of a command's file.
fn noted(command: &OwnCommand) -> Vec<String> {
    let other = command.model.as_ref().filter(|model| !is_model(model));
    let words = |model: &String| {
        format!("/{}: `model: {model}` names no model here, so the session's own is asked", command.custom.name)
    };
    command.notes().into_iter().chain(other.map(words)).collect()
}

pub(crate) async fn hooks(app: &StorelessApp, request: ListHooks) -> Result<HookList, AppError> {
    let folder = Path::new(&request.folder);
    let (loaded, problems) = app.settings_to_show(folder);
    let plugged = Plugged::look(&app.env, folder, &loaded);
    let row = |hook: Hook| HookRow {
        event: hook.event.to_string(),
        matcher: hook.matcher.pattern().to_owned(),
        file: hook.origin.file().display().to_string(),
        command: hook.command,
    };
    Ok(HookList { hooks: plugged.hooks().into_iter().map(row).collect(), note: plugged.note(), problems })
}
