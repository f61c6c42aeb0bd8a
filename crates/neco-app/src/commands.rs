//! What a person or a folder brings along: commands after a slash, and hooks.

use std::path::Path;

use neco_ext::hooks::Hook;
use neco_proto::app::commands::{
    CommandList, CommandRow, ExpandCommand, ExpandedCommand, HookList, HookRow, ListCommands, ListHooks,
};
use neco_proto::app::{AppError, Trouble};

use crate::app::StorelessApp;
use crate::workspace::own_commands::{self, OwnCommand};
use crate::workspace::plugged::Plugged;

pub(crate) async fn list(app: &StorelessApp, request: ListCommands) -> Result<CommandList, AppError> {
    let folder = Path::new(&request.folder);
    // With broken settings nothing is said of trust: whoever uses the command is told.
    let plugged = app.plugged(folder).ok();
    let row = |command: OwnCommand| CommandRow {
        trusted: plugged.as_ref().is_none_or(|plugged| plugged.may_run(&command)),
        name: command.custom.name,
        argument: command.custom.argument,
        help: with_origin(command.custom.help, command.folder.is_some()),
    };
    Ok(CommandList { commands: own_commands::find(&app.env, folder).into_iter().map(row).collect() })
}

/// What a command does, and who brought it along.
fn with_origin(help: String, of_folder: bool) -> String {
    let whose = if of_folder { "of this folder" } else { "yours" };
    if help.is_empty() { whose.to_owned() } else { format!("{help} · {whose}") }
}

pub(crate) async fn expand(app: &StorelessApp, request: ExpandCommand) -> Result<ExpandedCommand, AppError> {
    let (folder, name) = (Path::new(&request.folder), &request.name);
    let commands = own_commands::find(&app.env, folder);
    let command = commands.iter().find(|command| command.custom.name == *name);
    let gone = || AppError::new(Trouble::NotFound, format!("there is no /{name} any more"));
    let command = command.ok_or_else(gone)?;
    if !app.plugged(folder)?.may_run(command) {
        let words = format!(
            "/{name} comes from {}, which is not trusted as it is: `neco trust` or /trust shows what it \
             brings along and switches it on",
            app.env.shown(&command.file)
        );
        return Err(AppError::new(Trouble::NotAllowed, words));
    }
    let argument = &request.argument;
    Ok(ExpandedCommand { text: command.say(argument), parts: command.parts(argument), notes: command.notes() })
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
