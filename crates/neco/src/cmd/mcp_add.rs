//! `neco mcp add` and `neco mcp add-json`: a server as people write it elsewhere, written to the settings and tested.

use clap::{ArgAction, Args, Parser};
use neco_config::Env;
use neco_proto::app::mcp::{AddServer, ServerRow, ServerState};
use neco_safety::secrets::scrub;
use serde_json::{Map, Value, json};

use super::mcp::{SCOPES, Scope, test};
use super::program::{ask, notes};
use crate::args::{Choices, EverywhereArgs, JsonArg, one_of};
use crate::exit::Exit;
use crate::failure::Failure;
use crate::say;

/// How a server is reached.
const TRANSPORTS: &Choices<Transport> = &[
    (Transport::Stdio, "stdio", "A program that is started"),
    (Transport::Http, "http", "An address, by streamable HTTP"),
    (Transport::Http, "streamable-http", ""),
    (Transport::Sse, "sse", ""),
];

/// How `add` is used.
pub(super) const ADD: &str = "\
Examples:
  neco mcp add files -- npx -y @modelcontextprotocol/server-filesystem .
  neco mcp add github -e GITHUB_TOKEN='${GITHUB_TOKEN}' -- github-mcp-server stdio
  neco mcp add docs --url https://example.com/mcp --bearer-env DOCS_TOKEN
${NAME} stands for a variable of your environment and is filled in when the server starts, so that no
secret is written down. The server is tested at once; what it prints is in `neco mcp logs NAME`.";

/// How `add-json` is used.
pub(super) const ADD_JSON: &str = "\
Examples:
  neco mcp add-json time '{\"command\": \"uvx\", \"args\": [\"mcp-server-time\"]}'
  neco mcp add-json docs '{\"type\": \"http\", \"url\": \"https://example.com/mcp\"}'";

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

impl AddArgs {
    /// The same with the flags that stand behind an address.
    pub(super) fn with_flags_behind_address(&self) -> Result<Self, Failure> {
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
    pub(super) fn server(&self) -> Result<Value, Failure> {
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
pub(super) fn add(
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

#[cfg(test)]
mod tests {
    use neco_proto::app::mcp::ServerScope;

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
