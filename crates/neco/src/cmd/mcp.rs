//! `neco mcp`: which MCP servers there are, how they are added and taken out, whether they work, and what they printed.
//!
//! Invariants: nothing but `add` and `test` starts a server, and `login` reaches one at an address; no value of a
//! variable or a header is ever shown.

use std::io::{self, Write};

use clap::Subcommand;
use futures::StreamExt;
use neco_config::Env;
use neco_proto::app::mcp::{
    GetServer, ListServers, LogInServer, LogOutServer, ReadServerLog, RemoveServer, ServerScope, ServerState,
    ServerTest, SetServerEnabled, TestServer,
};
use neco_proto::app::Caller;
use neco_view::paint::lists::servers;

use super::mcp_add::{ADD, ADD_JSON, AddArgs, HowArgs, add};
use super::mcp_conformance;
use super::mcp_login;
use super::mcp_serve::{self, SERVE, ServeArgs};
use super::model::waited_for;
use super::program::{ask, folder, notes, print, without_store_or_server};
use crate::args::{Choices, EverywhereArgs, JsonArg, one_of};
use crate::exit::Exit;
use crate::failure::Failure;
use crate::print::clean::{clean, clean_line};
use crate::{compose, say, terminal};

/// Whose settings a server is written in.
pub(super) const SCOPES: &Choices<Scope> = &[
    (Scope::User, "user", "Your settings; it is there in every folder"),
    (Scope::Project, "project", ".mcp.json of this folder, for everybody who works in it"),
    (Scope::Local, "local", ""),
];

/// `neco mcp …`
#[derive(Debug, Subcommand)]
pub enum McpCommand {
    /// Lists the servers, how they stand, and how much they offer
    #[command(alias = "ls")]
    List {
        #[command(flatten)]
        json: JsonArg,
    },
    /// Shows a server with its tools, prompts and resources
    #[command(alias = "show")]
    Get {
        /// The server
        name: String,
        #[command(flatten)]
        json: JsonArg,
    },
    /// Adds a server and tests it
    #[command(after_help = ADD, override_usage = "neco mcp add [OPTIONS] NAME [--] COMMAND [ARGS]…\n       \
                                                  neco mcp add [OPTIONS] NAME --url URL")]
    Add(Box<AddArgs>),
    /// Adds a server that is written as JSON, as other agents have it
    #[command(after_help = ADD_JSON)]
    AddJson {
        /// What it is called: letters, digits, - and _
        name: String,
        /// The server
        #[arg(value_name = "JSON")]
        server: String,
        #[command(flatten)]
        how: HowArgs,
    },
    /// Takes a server out of the settings
    #[command(alias = "rm")]
    Remove {
        /// The server
        name: String,
        /// Whose settings are meant
        #[arg(short, long, value_parser = one_of(SCOPES))]
        scope: Option<Scope>,
    },
    /// Switches a server on
    Enable {
        /// The server
        name: String,
    },
    /// Switches a server off, in your settings, whoever brings it
    Disable {
        /// The server
        name: String,
    },
    /// Tests a server: does it start or answer, how fast, what does it offer?
    Test {
        /// The server
        name: String,
        #[command(flatten)]
        json: JsonArg,
    },
    /// Logs in at a server with an address, in a browser or with a code, and keeps what that gives
    Login {
        /// The server
        name: String,
        /// Opens no browser; takes a login with a code where the server has one
        #[arg(long)]
        no_browser: bool,
    },
    /// Forgets the login at a server
    Logout {
        /// The server
        name: String,
    },
    /// Shows what a server printed, and when it was started
    #[command(alias = "log")]
    Logs {
        /// The server
        name: String,
        /// Goes on with what is added, until Ctrl-C
        #[arg(short, long)]
        follow: bool,
        /// The most lines to show
        #[arg(short = 'n', long, value_name = "N", default_value_t = 100)]
        lines: usize,
    },
    /// Offers Neco's own tools and tasks to other agents, on stdin and stdout
    #[command(after_help = SERVE)]
    Serve(Box<ServeArgs>),
    /// Is the client of the official conformance suite
    #[command(hide = true)]
    Conformance {
        /// The address of the suite's server
        url: String,
    },
}

/// Whose settings are meant, as the flag names them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scope {
    /// The person's own.
    User,
    /// The folder's.
    Project,
    /// The person's own in one folder, as other agents have it; Neco has no such settings.
    Local,
}

impl From<Scope> for ServerScope {
    fn from(scope: Scope) -> Self {
        match scope {
            Scope::User | Scope::Local => Self::User,
            Scope::Project => Self::Project,
        }
    }
}

/// Runs `neco mcp …`.
pub fn run(command: &McpCommand, everywhere: &EverywhereArgs, env: &Env) -> Result<Exit, Failure> {
    let (folder, paint) = (folder(everywhere)?, terminal::look_at(env).stdout_paint());
    match command {
        McpCommand::List { json } => {
            let list = ask(&ListServers { folder }, everywhere, env)?;
            notes(&list.warnings);
            print(*json, &list, || servers::as_lines(&list, paint))
        }
        McpCommand::Get { name, json } => {
            let shown = ask(&GetServer { folder, name: name.clone() }, everywhere, env)?;
            print(*json, &shown, || servers::one(&shown, paint))
        }
        McpCommand::Add(args) => {
            let args = args.with_flags_behind_address()?;
            add(folder, &args.name, args.server()?, args.flags.how, everywhere, env)
        }
        McpCommand::AddJson { name, server, how } => {
            let server = serde_json::from_str(server)
                .map_err(|error| Failure::usage(format!("that is no JSON: {error}")).hint(ADD_JSON))?;
            add(folder, name, server, *how, everywhere, env)
        }
        McpCommand::Remove { name, scope } => {
            let request = RemoveServer { folder, name: name.clone(), scope: scope.map(ServerScope::from) };
            let written = ask(&request, everywhere, env)?;
            say::out(&format!("{name} removed from {}\n", written.file))?;
            if let Some(other) = written.server {
                say::note(&format!("there is still a server {name}: {} has it, too", other.file));
            }
            Ok(Exit::Done)
        }
        McpCommand::Enable { name } => switch(folder, name, true, everywhere, env),
        McpCommand::Disable { name } => switch(folder, name, false, everywhere, env),
        McpCommand::Test { name, json } => test(folder, name, *json, everywhere, env),
        McpCommand::Login { name, no_browser } => {
            let request = LogInServer { folder, name: name.clone(), no_browser: *no_browser };
            mcp_login::log_in(request, everywhere, env)
        }
        McpCommand::Logout { name } => {
            mcp_login::log_out(&LogOutServer { folder, name: name.clone() }, everywhere, env)
        }
        McpCommand::Logs { name, follow, lines } => {
            let request = ReadServerLog { folder, name: name.clone(), lines: *lines };
            logs(&request, *follow, everywhere, env)
        }
        McpCommand::Serve(args) => mcp_serve::run(args, everywhere, env),
        McpCommand::Conformance { url } => mcp_conformance::run(url, env),
    }
}

fn switch(folder: String, name: &str, enabled: bool, everywhere: &EverywhereArgs, env: &Env) -> Result<Exit, Failure> {
    let written = ask(&SetServerEnabled { folder, name: name.to_owned(), enabled }, everywhere, env)?;
    match (enabled, written.server) {
        (true, Some(row)) if row.state == ServerState::Disabled => {
            Err(Failure::usage(format!("{name} is still disabled: {} says so", row.file)))
        }
        (true, Some(row)) => {
            say::out(&format!("{name} enabled in {}: {}\n", written.file, servers::standing(&row)))?;
            Ok(Exit::Done)
        }
        (true, None) => {
            notes(&written.warnings);
            Err(Failure::new(Exit::Failed, format!("{name} is enabled, and left out all the same")))
        }
        (false, _) => {
            say::out(&format!("{name} disabled in {}\n", written.file))?;
            Ok(Exit::Done)
        }
    }
}

/// Tests a server and says what came of it.
pub(super) fn test(
    folder: String,
    name: &str,
    json: JsonArg,
    everywhere: &EverywhereArgs,
    env: &Env,
) -> Result<Exit, Failure> {
    let terminal = terminal::look_at(env);
    let (runtime, caller) = (compose::runtime()?, Caller::person());
    let app = without_store_or_server(everywhere, env, &runtime)?;
    let mut steps = app.watch(&caller, &TestServer { folder, name: name.to_owned() });
    while let Some(step) = runtime.block_on(waited_for(&clean_line(name), terminal.look(), steps.next())) {
        match step.inspect_err(|error| notes(&error.warnings))? {
            ServerTest::Begins { warnings, .. } => notes(&warnings),
            ServerTest::Tested(tested) => {
                if json.json {
                    print(json, &tested, String::new)?;
                } else {
                    say::lines(&servers::tested(&tested, terminal.stdout_paint()), servers::HANGING)?;
                }
                return Ok(if tested.ok { Exit::Done } else { Exit::Failed });
            }
            ServerTest::Other(_) => {}
        }
    }
    Ok(Exit::Failed)
}

fn logs(request: &ReadServerLog, follow: bool, everywhere: &EverywhereArgs, env: &Env) -> Result<Exit, Failure> {
    if !follow {
        let log = ask(request, everywhere, env)?;
        if log.text.is_empty() {
            say::note(&format!("{} printed nothing yet; its log would be {}", clean_line(&request.name), log.file));
        }
        say::out(&clean(&log.text))?;
        return Ok(Exit::Done);
    }
    let (runtime, caller) = (compose::runtime()?, Caller::person());
    let app = without_store_or_server(everywhere, env, &runtime)?;
    let mut pieces = app.watch(&caller, request);
    while let Some(piece) = runtime.block_on(pieces.next()) {
        let text = clean(&piece?.text);
        match io::stdout().write_all(text.as_bytes()).and_then(|()| io::stdout().flush()) {
            Ok(()) => {}
            // Nobody reads on.
            Err(error) if error.kind() == io::ErrorKind::BrokenPipe => return Ok(Exit::Unread),
            Err(error) => return Err(say::unwritten(&error)),
        }
    }
    Ok(Exit::Done)
}
