//! A request that begins with a slash: a command of the person's own becomes what it says, a prompt of an MCP server
//! what the server makes of it, and one of the window or a misspelt one is not taken for a message.

use std::convert::Infallible;
use std::path::Path;
use std::sync::mpsc::{self, RecvTimeoutError};
use std::time::Duration;

use neco_app::persons_shell::PersonsShell;
use neco_app::workspace::Workspaces;
use neco_config::Env;
use neco_proto::app::commands::{CommandPart, CommandRow, ExpandCommand, ListCommands};
use neco_proto::app::mcp_use::FillPrompt;
use neco_proto::app::{AppError, Trouble};
use neco_proto::clean::clean_line;
use neco_proto::{CommandWants, ErrorCode, Message, MessagePiece};
use neco_tui::SaidByCommand;
use neco_tui::command_lines::{self, LONGEST, Watch, stopped_after};
use neco_tui::line::run::listen;
use neco_view::slash::{self, Custom, Outside, Slash};
use neco_view::wording::prompts;

use crate::args::{EverywhereArgs, RunArgs};
use crate::cmd::program::{ask, asked, folder, notes};
use crate::compose;
use crate::failure::Failure;
use crate::say;
use crate::signals::InterruptMask;

/// What the agent is told, and what a command of the person's own wants for it.
#[derive(Debug, Default)]
pub struct SpeltOut {
    /// What it is told.
    pub pieces: Vec<MessagePiece>,
    /// What the command wants while it is done.
    pub wants: CommandWants,
}

impl SpeltOut {
    fn said(text: String) -> Self {
        Self { pieces: vec![MessagePiece::said(text)], ..Self::default() }
    }

    /// The arguments of the run with what the command wants; what the person says themselves counts before it.
    pub fn wanted(&self, args: &RunArgs) -> RunArgs {
        let mut args = args.clone();
        args.model = args.model.or_else(|| self.wants.model.clone());
        args.rules.allow.extend_from_slice(&self.wants.allow);
        args
    }

    /// How `whole` is said, which is what the agent is told and more behind it.
    pub fn said_with(&self, whole: &str) -> SaidByCommand {
        let more = whole.get(MessagePiece::joined(&self.pieces).len()..).unwrap_or_default();
        let pieces = self.pieces.iter().cloned().chain([MessagePiece::said(more)]).collect();
        SaidByCommand { pieces, ..SaidByCommand::default() }
    }
}

/// What the agent is told where `text` is written. What is piped in with it stands behind that.
///
/// # Errors
/// When it is a command of the window, one of the person's own that can't be used, or none at all.
pub fn spelt_out(
    mut text: String,
    args: &RunArgs,
    everywhere: &EverywhereArgs,
    env: &Env,
) -> Result<SpeltOut, Failure> {
    let piped = text.split_off(text.find(Message::PIPED).unwrap_or(text.len()));
    let mut spelt_out = of_written(text, args, everywhere, env)?;
    spelt_out.pieces.extend((!piped.is_empty()).then(|| MessagePiece::said(piped)));
    Ok(spelt_out)
}

fn of_written(text: String, args: &RunArgs, everywhere: &EverywhereArgs, env: &Env) -> Result<SpeltOut, Failure> {
    let Some(rest) = text.trim().strip_prefix('/') else { return Ok(SpeltOut::said(text)) };
    let (name, argument) = rest.split_once(char::is_whitespace).unwrap_or((rest, ""));
    let (name, argument) = (name.to_owned(), argument.trim().to_owned());
    if slash::is_known(&text) {
        return match slash::parse(&text, &[]) {
            Ok(Slash::Outside(Outside::Init, what)) => Ok(SpeltOut::said(prompts::init(&what))),
            Ok(Slash::Outside(Outside::Review, what)) => Ok(SpeltOut::said(prompts::review(&what))),
            // A path or a sentence that happens to begin with the name of a command has more behind it.
            Err(_) if !argument.is_empty() => Ok(SpeltOut::said(text)),
            Ok(_) | Err(_) => {
                Err(Failure::usage(format!("/{name} is a command of the window; the model was not asked"))
                    .hint("`neco` opens the window; `neco --help` lists what the command line can do."))
            }
        };
    }
    let folder = folder(everywhere)?;
    let own = ask(&ListCommands { folder: folder.clone() }, everywhere, env)?.commands;
    if own.iter().any(|command| command.name == name || command.also.as_ref() == Some(&name)) {
        let expanded = ask(&ExpandCommand { folder, name, argument }, everywhere, env)?;
        notes(&expanded.notes);
        let pieces = match expanded.parts.is_empty() {
            true => vec![MessagePiece::said(expanded.text)],
            false => with_lines(expanded.parts, args, everywhere, env)?,
        };
        let wants = CommandWants { allow: expanded.allowed_tools, model: expanded.model };
        return Ok(SpeltOut { pieces, wants });
    }
    if !reads_as_command(&name) {
        return Ok(SpeltOut::said(text));
    }
    if let Some(filled) = filled(FillPrompt { folder, session: None, name, argument }, everywhere, env)? {
        return Ok(SpeltOut::said(filled));
    }
    let custom = |CommandRow { name, argument, help, is_skill, also, .. }: CommandRow| Custom {
        name,
        argument,
        help,
        is_skill,
        also,
    };
    match slash::parse(&text, &own.into_iter().map(custom).collect::<Vec<_>>()) {
        Ok(_) => Ok(SpeltOut::said(text)),
        Err(error) => Err(Failure::usage(error.to_string()).hint(
            "The model was not asked: put a word before the slash to say it to the model. `neco` opens the window, \
             where /help lists the commands.",
        )),
    }
}

/// What takes longer is spoken of.
const SOON: Duration = Duration::from_millis(700);

/// What a command says whose command lines are run: as the person's own in the window are. A signal that comes meanwhile
/// ends the process, and the line with it.
fn with_lines(
    parts: Vec<CommandPart>,
    args: &RunArgs,
    everywhere: &EverywhereArgs,
    env: &Env,
) -> Result<Vec<MessagePiece>, Failure> {
    let folder = crate::folder(everywhere)?;
    let overrides = [everywhere.overrides.clone(), args.box_args.overrides()].concat();
    let (rules, own) = (args.rules.flags(&folder), env.clone());
    let runtime = compose::runtime()?;
    let mut signals = listen(&runtime, &InterruptMask::default())?;
    let work = async {
        let state = Workspaces::new(env.clone()).at(&folder, &overrides).await?.now();
        let mode = args.mode.unwrap_or(state.loaded.config.mode);
        let opened = tokio::task::spawn_blocking(move || PersonsShell::open(&folder, &rules, &state, &own)).await;
        let shell = opened.map_err(|error| AppError::new(Trouble::Failed, error.to_string()))??;
        let shell = &shell;
        let run = |line: String, printed| async move {
            let told = async {
                tokio::time::sleep(SOON).await;
                let ends = stopped_after(LONGEST);
                say::note(&format!("Running `{}`; it is {ends}, Ctrl-C stops it now", clean_line(&line)));
                std::future::pending::<Infallible>().await
            };
            tokio::select! {
                ran = shell.run_of_file(&line, mode, printed) => ran.map(|ran| ran.code),
                never = told => match never {},
            }
        };
        Ok(command_lines::filled(parts, &Watch::beginnings(|_| {}), run).await?)
    };
    let filled: Result<_, Failure> = runtime.block_on(async {
        tokio::select! {
            biased;
            signal = signals.next() => {
                say::note("Stopped; the model was not asked");
                compose::quit(signal);
                // That was the last of it.
                std::future::pending().await
            }
            filled = work => filled,
        }
    });
    runtime.shutdown_background();
    let filled = filled?;
    notes(&filled.failed);
    Ok(filled.pieces)
}

/// What a prompt of an MCP server says; nothing where it is none.
fn filled(prompt: FillPrompt, everywhere: &EverywhereArgs, env: &Env) -> Result<Option<String>, Failure> {
    let is_prompt = slash::is_prompt(&prompt.name);
    if !is_prompt && !prompt.name.contains(':') {
        return Ok(None);
    }
    let (_over, waits) = mpsc::channel::<()>();
    let name = prompt.name.clone();
    std::thread::spawn(move || {
        if waits.recv_timeout(SOON) == Err(RecvTimeoutError::Timeout) {
            say::note(&format!("Waiting for the MCP server of /{}", clean_line(&name)));
        }
    });
    match asked(&prompt, everywhere, env)? {
        Ok(filled) => Ok(Some(filled.text)),
        // A name with a colon may be a misspelt command of the person's own.
        Err(error) if !is_prompt && error.code == Some(ErrorCode::ServerNotFound) => Ok(None),
        Err(error) => {
            notes(&error.warnings);
            Err(error.into())
        }
    }
}

/// Whether what stands behind a slash has the shape of a command's name; a path that there is, such as `/tmp`, is
/// something to speak of.
fn reads_as_command(name: &str) -> bool {
    let is_name = |char: char| char.is_alphanumeric() || matches!(char, '-' | '_' | ':');
    !name.is_empty() && name.chars().all(is_name) && !Path::new("/").join(name).exists()
}
