//! `neco mcp`: which MCP servers there are, how they are added and taken out, whether they work, and what they printed.
//!
//! Invariants: nothing but `add` and `test` starts a server, and `login` reaches one at an address; no value of a
//! variable or a header is ever shown.

use std::io::{self, Write};

use clap::{ArgAction, Args, Parser, Subcommand};
use futures::StreamExt;
use neco_config::Env;
use neco_proto::app::mcp::{
    AddServer, GetServer, ListServers, LogInServer, LogOutServer, ReadServerLog, RemoveServer, ServerRow, ServerScope,
    ServerState, ServerTest, SetServerEnabled, TestServer,
};
use neco_proto::app::{App, Caller};
use neco_safety::secrets::scrub;
use neco_view::paint::lists::servers;
use serde_json::{Map, Value, json};

use super::mcp_conformance;
use super::mcp_login;
use super::mcp_serve::{self, SERVE, ServeArgs};
use super::model::waited_for;
use super::program::{ask, folder, notes, print, without_store};
use crate::args::{Choices, EverywhereArgs, JsonArg, one_of};
use crate::exit::Exit;
use crate::failure::Failure;
use crate::print::clean::{clean, clean_line};
use crate::{compose, say, terminal};

/// Whose settings a server is written in.
const SCOPES: &Choices<Scope> = &[
    (Scope::User, "user", "Your settings; it is there in every folder"),
    (Scope::Project, "project", ".mcp.json of this folder, for everybody who works in it"),
    (Scope::Local, "local", ""),
];

/// How a server is reached.
const TRANSPORTS: &Choices<Transport> = &[
    (Transport::Stdio, "stdio", "A program that is started"),
    (Transport::Http, "http", "An address, by streamable HTTP"),
    (Transport::Http, "streamable-http", ""),
    (Transport::Sse, "sse", ""),
];

const ADD: &str = "\
Examples:
  neco mcp add files -- npx -y @modelcontextprotocol/server-filesystem .
  neco mcp add github -e GITHUB_TOKEN='${GITHUB_TOKEN}' -- github-mcp-server stdio
  neco mcp add docs --url https://example.com/mcp --bearer-env DOCS_TOKEN
${NAME} stands for a variable of your environment and is filled in when the server starts, so that no
secret is written down. The server is tested at once; what it prints is in `neco mcp logs NAME`.";

const ADD_JSON: &str = "\
Examples:
  neco mcp add-json time '{\"command\": \"uvx\", \"args\": [\"mcp-server-time\"]}'
  neco mcp add-json docs '{\"type\": \"http\", \"url\": \"https://example.com/mcp\"}'";

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

/// Where a server is written, and whether it is tested.
#[derive(Clone, Copy, Debug, Args)]
pub struct HowArgs {
    /// Whose settings it is written in
    #[arg(short, long, value_parser = one_of(SCOPES), default_value = "user")]
    pub scope: Scope,
    /// Adds it without a test
    #[arg(long)]
    pub no_test: bool,
}

/// `neco mcp add …`
#[derive(Clone, Debug, Args)]
pub struct AddArgs {
    /// What it is called: letters, digits, - and _
    pub name: String,
    /// The program and its arguments, or an address
    #[arg(value_name = "COMMAND", trailing_var_arg = true)]
    pub command: Vec<String>,
    /// The address of a server that runs already
    #[arg(long, value_name = "URL", conflicts_with = "command")]
    pub url: Option<String>,
    #[command(flatten)]
    pub flags: AddFlags,
}

/// The flags of `neco mcp add` that may stand behind an address, too.
#[derive(Clone, Debug, Args)]
pub struct AddFlags {
    /// How it is reached; known from the rest, as a rule
    #[arg(short, long, value_parser = one_of(TRANSPORTS))]
    pub transport: Option<Transport>,
    /// A variable that the program sees; may be repeated
    #[arg(short, long = "env", value_name = "NAME=VALUE", action = ArgAction::Append)]
    pub env: Vec<String>,
    /// A header that is sent to the address, also as "NAME: VALUE"; may be repeated
    #[arg(short = 'H', long = "header", value_name = "NAME=VALUE", action = ArgAction::Append)]
    pub headers: Vec<String>,
    /// The variable that holds the token for the address
    #[arg(long, alias = "bearer-token-env-var", value_name = "VAR")]
    pub bearer_env: Option<String>,
    #[command(flatten)]
    pub how: HowArgs,
}

/// What stands behind an address, which takes no arguments of its own.
#[derive(Parser)]
#[command(no_binary_name = true, disable_help_flag = true)]
struct BehindAddress {
    #[command(flatten)]
    flags: AddFlags,
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

/// How a server is reached, as the flag names it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Transport {
    /// By a program's standard input and output.
    Stdio,
    /// By streamable HTTP.
    Http,
    /// In the old way with two addresses.
    Sse,
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

impl AddArgs {
    /// The same with the flags that stand behind an address.
    fn with_flags_behind_address(&self) -> Result<Self, Failure> {
        let mut args = self.clone();
        let is_program = self.flags.transport == Some(Transport::Stdio);
        if is_program || self.command.first().is_none_or(|word| !is_address(word)) {
            return Ok(args);
        }
        let behind = args.command.split_off(1);
        let BehindAddress { flags } = BehindAddress::try_parse_from(behind).map_err(|error| {
            let words = error.to_string();
            let first = words.lines().next().unwrap_or_default();
            Failure::usage(format!("an address takes no arguments: {}", first.trim_start_matches("error: ")))
        })?;
        args.flags.add(flags);
        Ok(args)
    }

    /// The server as settings have it.
    fn server(&self) -> Result<Value, Failure> {
        let given = match (&self.url, self.command.as_slice(), self.flags.transport) {
            (_, _, Some(Transport::Sse)) => {
                return Err(Failure::usage("the old transport sse is not supported").hint(
                    "Most of these servers answer at another address too, often with /mcp in place of /sse: --url URL.",
                ));
            }
            (None, [], _) => {
                return Err(Failure::usage(format!("what is {} to be?", self.name)).hint(ADD));
            }
            (Some(url), _, _) => Some(url),
            (None, [url], Some(Transport::Http)) => Some(url),
            (None, [url], None) if is_address(url) => Some(url),
            (None, [_, ..], _) => None,
        };
        match given {
            Some(_) if self.flags.transport == Some(Transport::Stdio) => {
                Err(Failure::usage("--transport stdio is for a program, --url for an address"))
            }
            Some(url) if !is_address(url) => {
                Err(Failure::usage(format!("{url} is no address: it begins with http:// or https://")))
            }
            Some(_) if !self.flags.env.is_empty() => {
                Err(Failure::usage("--env is for a program; --header sends something to an address"))
            }
            Some(url) => self.address(url),
            None if !self.flags.headers.is_empty() || self.flags.bearer_env.is_some() => {
                Err(Failure::usage("--header and --bearer-env are for an address; --env gives a program something"))
            }
            None => self.program(),
        }
    }

    fn address(&self, url: &str) -> Result<Value, Failure> {
        let mut server = Map::from_iter([("url".to_owned(), json!(url))]);
        let headers = pairs(&self.flags.headers, &['=', ':'], "--header")?;
        if !headers.is_empty() {
            server.insert("headers".to_owned(), Value::Object(headers));
        }
        if let Some(variable) = &self.flags.bearer_env {
            server.insert("bearer_token_env_var".to_owned(), json!(variable));
        }
        Ok(Value::Object(server))
    }

    fn program(&self) -> Result<Value, Failure> {
        let mut server = Map::new();
        if let Some((program, arguments)) = self.command.split_first() {
            server.insert("command".to_owned(), json!(program));
            // One word with blanks in it is a whole command line.
            if !arguments.is_empty() || !program.contains(char::is_whitespace) {
                server.insert("args".to_owned(), json!(arguments));
            }
        }
        let variables = pairs(&self.flags.env, &['='], "--env")?;
        if !variables.is_empty() {
            server.insert("env".to_owned(), Value::Object(variables));
        }
        Ok(Value::Object(server))
    }
}

impl AddFlags {
    /// Takes in flags that stand behind these.
    fn add(&mut self, behind: Self) {
        self.transport = behind.transport.or(self.transport);
        self.env.extend(behind.env);
        self.headers.extend(behind.headers);
        self.bearer_env = behind.bearer_env.or(self.bearer_env.take());
        self.how.no_test |= behind.how.no_test;
        if behind.how.scope != Scope::User {
            self.how.scope = behind.how.scope;
        }
    }
}

fn is_address(word: &str) -> bool {
    word.starts_with("http://") || word.starts_with("https://")
}

/// Names and values. A secret that is written out is told of: it is in the shell's history by now.
fn pairs(written: &[String], signs: &[char], flag: &str) -> Result<Map<String, Value>, Failure> {
    let mut pairs = Map::new();
    for text in written {
        let Some((name, value)) = text.split_once(signs).filter(|(name, _)| !name.trim().is_empty()) else {
            return Err(Failure::usage(format!("{flag} takes NAME=VALUE")));
        };
        let (name, value) = (name.trim(), value.trim());
        if !scrub(vec![(name.into(), value.into())], &[]).hidden.is_empty() {
            say::note(&format!(
                "the value of {name} reads like a secret: it is written down as it is, and in your shell's history; \
                 '{name}=${{VARIABLE}}' takes it from your environment instead"
            ));
        }
        pairs.insert(name.to_owned(), json!(value));
    }
    Ok(pairs)
}

/// Writes a server to the settings and tests it, unless it has to be trusted first.
fn add(
    folder: String,
    name: &str,
    server: Value,
    how: HowArgs,
    everywhere: &EverywhereArgs,
    env: &Env,
) -> Result<Exit, Failure> {
    let request = AddServer { folder: folder.clone(), name: name.to_owned(), scope: how.scope.into(), server };
    let written = ask(&request, everywhere, env)?;
    say::out(&format!("{name} added to {}\n", written.file))?;
    if how.scope == Scope::Local {
        say::note("--scope local means the same as user here: the server is there in every folder");
    }
    notes(&written.warnings);
    match written.server {
        // Why was told.
        None => Ok(Exit::Failed),
        Some(ServerRow { state: ServerState::Untrusted, .. }) => {
            say::note("It is off until you trust it: `neco trust` shows it and switches it on");
            Ok(Exit::Done)
        }
        Some(ServerRow { state: ServerState::Disabled, .. }) => Ok(Exit::Done),
        Some(_) if how.no_test => Ok(Exit::Done),
        Some(_) => {
            let exit = test(folder, name, JsonArg::default(), everywhere, env)?;
            if exit != Exit::Done {
                say::note(&format!(
                    "It stays in the settings. `neco mcp logs {name}` shows what it printed, `neco mcp test {name}` tests \
                     it again, `neco mcp remove {name}` takes it out"
                ));
            }
            Ok(exit)
        }
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

fn test(folder: String, name: &str, json: JsonArg, everywhere: &EverywhereArgs, env: &Env) -> Result<Exit, Failure> {
    let terminal = terminal::look_at(env);
    let app: &dyn App = &without_store(everywhere, env);
    let (runtime, caller) = (compose::runtime()?, Caller::person());
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
    let app: &dyn App = &without_store(everywhere, env);
    let (runtime, caller) = (compose::runtime()?, Caller::person());
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

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Parser)]
    struct Line {
        #[command(flatten)]
        args: AddArgs,
    }

    fn server(line: &str) -> Result<Value, String> {
        let words = std::iter::once("add").chain(line.split(' '));
        let line = Line::try_parse_from(words).map_err(|error| error.to_string())?;
        let args = line.args.with_flags_behind_address().map_err(|failure| failure.message)?;
        args.server().map_err(|failure| failure.message)
    }

    #[test]
    fn a_server_is_written_as_people_write_it_elsewhere() {
        let npx = json!({ "command": "npx", "args": ["-y", "server", "--port", "80"] });
        for line in [
            "x -- npx -y server --port 80",
            "x npx -y server --port 80",
            "--transport stdio x -- npx -y server --port 80",
            "-s local x -t stdio npx -y server --port 80",
        ] {
            assert_eq!(server(line), Ok(npx.clone()), "{line}");
        }
        let with = json!({ "command": "npx", "args": [], "env": { "A": "1=2", "B": "" } });
        for line in ["x --env A=1=2 -e B= -- npx", "-e A=1=2 --env B= x npx"] {
            assert_eq!(server(line), Ok(with.clone()), "{line}");
        }
        let url = json!({ "url": "https://h/mcp" });
        for line in ["x --url https://h/mcp", "-t http x https://h/mcp", "x https://h/mcp"] {
            assert_eq!(server(line), Ok(url.clone()), "{line}");
        }
        let whole = json!({ "url": "https://h", "headers": { "A": "b", "C": "d:e" }, "bearer_token_env_var": "TOKEN" });
        for line in [
            "x --url https://h -H A=b --header C:d:e --bearer-env TOKEN",
            "x -H A:b -H C=d:e --bearer-token-env-var TOKEN https://h",
            "x -H A:b https://h -H C=d:e --bearer-env TOKEN --no-test",
        ] {
            assert_eq!(server(line), Ok(whole.clone()), "{line}");
        }
        let args = Line::try_parse_from(["add", "x", "npx -y server"]).unwrap().args;
        assert_eq!(args.server().unwrap(), json!({ "command": "npx -y server" }), "a whole command line");
    }

    #[test]
    fn flags_behind_an_address_are_ours_and_those_behind_a_program_are_not() {
        let parsed = |words: &[&str]| {
            let line = Line::try_parse_from(std::iter::once("add").chain(words.iter().copied())).unwrap();
            line.args.with_flags_behind_address().unwrap().flags.how
        };
        let how = parsed(&["x", "http://127.0.0.1:1/mcp", "--no-test", "-s", "project"]);
        assert_eq!((how.no_test, how.scope), (true, Scope::Project));
        let how = parsed(&["-s", "project", "x", "http://127.0.0.1:1/mcp", "--no-test"]);
        assert_eq!((how.no_test, how.scope), (true, Scope::Project));
        assert!(!parsed(&["x", "npx", "--no-test"]).no_test);
        assert_eq!(ServerScope::from(parsed(&["-s", "local", "x", "npx"]).scope), ServerScope::User);
    }

    #[test]
    fn what_does_not_fit_together_is_told() {
        for (line, words) in [
            ("x", "what is x to be?"),
            ("x -t sse https://h/sse", "the old transport sse is not supported"),
            ("x --url ftp://h", "ftp://h is no address"),
            ("x -t http npx", "npx is no address"),
            ("x -t stdio --url https://h", "--transport stdio is for a program"),
            ("x -e A=1 https://h", "--env is for a program"),
            ("x -H A=1 npx", "--header and --bearer-env are for an address"),
            ("x -e A npx", "--env takes NAME=VALUE"),
            ("x --url https://h -- npx", "cannot be used with"),
            ("x --no-such-flag npx", "--no-such-flag"),
            ("x https://h --no-such-flag", "an address takes no arguments: unexpected argument '--no-such-flag'"),
            ("x https://h word", "an address takes no arguments: unexpected argument 'word'"),
            ("x https://h -e A=1", "--env is for a program"),
        ] {
            let told = server(line).unwrap_err();
            assert!(told.contains(words), "{line}: {told}");
        }
    }
}
