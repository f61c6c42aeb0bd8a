//! Commands that are about this machine: whoever names a server is told so, and never answered for the wrong one.

use neco_config::Env;

use crate::args::{CommandLine, Subcommands};
use crate::cmd::agents::AgentsCommand;
use crate::cmd::auth::AuthCommand;
use crate::cmd::config::ConfigCommand;
use crate::cmd::mcp::McpCommand;
use crate::cmd::memory::MemoryCommand;
use crate::cmd::workflow::WorkflowCommand;
use crate::failure::Failure;
use crate::say;
use crate::server;

/// Refuses a command that no server can do where one is named on the command line. A variable is there for all commands:
/// that it does not count for this one is said.
pub fn look(line: &CommandLine, env: &Env) -> Result<(), Failure> {
    let Some(command) = command(line).filter(|_| server::named(&line.everywhere, env).is_some()) else { return Ok(()) };
    if line.everywhere.server.is_none() {
        say::note(&format!("neco {command} is about this machine; NECO_SERVER does not count for it"));
        return Ok(());
    }
    let words = format!("neco {command} is about this machine, and --server names another");
    Err(Failure::usage(words).hint("Leave --server out, or run it on the machine of the server."))
}

/// The command that a line asks for, if only this machine can do it.
fn command(line: &CommandLine) -> Option<&'static str> {
    Some(match line.command.as_ref() {
        None if line.acp => "--acp",
        Some(Subcommands::Acp(_)) => "acp",
        Some(Subcommands::Serve(_)) => "serve",
        Some(Subcommands::Doctor(_)) => "doctor",
        Some(Subcommands::Prompt(_)) => "prompt",
        Some(Subcommands::Demo { .. }) => "demo",
        Some(Subcommands::Eval(_)) => "eval",
        Some(Subcommands::Init(args)) if args.starter => "init --starter",
        Some(Subcommands::Config(ConfigCommand::Edit)) => "config edit",
        Some(Subcommands::Memory(MemoryCommand::Edit { .. })) => "memory edit",
        Some(Subcommands::Login { .. } | Subcommands::Auth(AuthCommand::Login { .. })) => "login",
        Some(Subcommands::Mcp(McpCommand::Serve { .. })) => "mcp serve",
        Some(Subcommands::Mcp(McpCommand::Login { .. })) => "mcp login",
        Some(Subcommands::Mcp(McpCommand::Conformance { .. })) => "mcp conformance",
        Some(Subcommands::Workflow(command)) => match command.as_ref() {
            WorkflowCommand::Run { .. } => "workflow run",
            WorkflowCommand::Resume { .. } => "workflow resume",
            _ => return None,
        },
        Some(Subcommands::Agents(command)) => match command {
            AgentsCommand::List { .. } | AgentsCommand::Show { .. } | AgentsCommand::Validate { .. } => return None,
            _ => "agents, for those that are at work",
        },
        _ => return None,
    })
}
