//! Where MCP servers come from: the user's settings, those of the project, and its files `.mcp.json`.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use neco_config::section::{McpSampling, McpServerSection, McpTransport};
use neco_config::{
    Env, Filling, Loaded, Origin, ROOT_VARIABLES, RepositoryServer, plugin_servers, shared_servers, without_secrets,
    words,
};
use neco_proto::visible::visible_line;
use secrecy::SecretString;
use sha2::{Digest, Sha256};

use super::pinned_files::PinnedFiles;
use super::settings::{LoginSettings, Reach, ServerAddress, ServerProgram, ServerSettings};
use crate::plugins::ActivePlugin;

/// The longest name of a server.
const LONGEST_NAME: usize = 64;

/// What parts the name of a server from that of a tool.
const PARTS_NAMES: &str = "__";

/// Variables that stand for the folder that brings a server, or that of the session.
const FOLDER: [&str; 2] = ["CLAUDE_PROJECT_DIR", "NECO_PROJECT_DIR"];

/// The servers that there are, trusted or not.
#[derive(Debug, Default)]
pub struct FoundServers {
    /// The user's first, then the project's; of several with one name the last that may be used counts.
    pub servers: Vec<FoundServer>,
    /// What is to be said about the settings.
    pub notices: Vec<String>,
}

/// A server that somebody wrote down.
#[derive(Clone, Debug)]
pub struct FoundServer {
    /// The server.
    pub settings: ServerSettings,
    /// The folder that brings it and has to be trusted; none for the user's own.
    pub folder: Option<PathBuf>,
    /// What trust in it is trust in: the server as it is written, before variables are filled in, and the files of the
    /// folder that its start names. Empty for the user's own.
    pub hash: String,
    /// What it runs or reaches and what it is given, as it is written, for the person who decides: one line each. Empty
    /// for what the user wrote.
    pub says: String,
    /// What it runs that is not known beforehand or not watched, in words.
    pub unwatched: Vec<String>,
}

/// Why a server can't be used as it is written.
#[derive(Debug, thiserror::Error)]
enum Flaw {
    #[error("a name has 1 to {LONGEST_NAME} letters, digits, `_` and `-`, and no `{PARTS_NAMES}`; give it another one")]
    Name,
    #[error("it has neither a `command` nor a `url`")]
    Neither,
    #[error("it has both a `command` and a `url`; `type` says which of them counts")]
    Both,
    #[error("its `type` needs a `{0}`")]
    Lacks(&'static str),
    #[error("a quote or a `${{` in its `command` never ends")]
    Open,
    #[error("its `url` does not begin with http:// or https://")]
    Url,
    #[error(
        "`sse`, the old transport with two addresses, is not supported; most of these servers answer at another address \
         too, often with /mcp in place of /sse: write that one as `url`, with \"http\" as `type`"
    )]
    Sse,
    #[error("the variable {0} is not set; set it, or give it a default as in `${{{0}:-default}}`")]
    Variable(String),
}

/// Looks for all servers that there are for work in `folder`, with these plugins. Reads files; starts nothing.
pub fn find(env: &Env, folder: &Path, loaded: &Loaded, plugins: &[ActivePlugin]) -> FoundServers {
    let (shared, said) = shared_servers(env, folder);
    let (given, mut notices) = given_by(env, plugins);
    notices.extend(said.iter().map(ToString::to_string));
    let own = loaded.config.mcp_servers.iter().map(|(name, section)| Written::own(env, loaded, name, section));
    // What the person wrote comes behind what a plugin brings, and counts.
    let own: Vec<Written<'_>> = given.iter().map(Written::of_plugin).chain(own).collect();
    let theirs: Vec<Written<'_>> =
        loaded.repository_servers.iter().chain(&shared).map(Written::of_repository).collect();
    let (off, off_there) = (switched_off(&own), switched_off(&theirs));
    let mut found = FoundServers { notices, ..FoundServers::default() };
    for written in own.iter().chain(&theirs).filter(|written| !written.only_switches_off()) {
        // A repository switches off its own, and none of the user's.
        let is_off = off.contains(written.name) || (written.folder.is_some() && off_there.contains(written.name));
        found.add(env, folder, written, written.section.enabled && !is_off);
    }
    found
}

/// Those of one plugin alone, for who decides about it: one that lacks a variable is told of and shown.
pub fn of_plugin(env: &Env, session: &Path, plugin: &ActivePlugin) -> FoundServers {
    let (servers, notices) = given_by(env, std::slice::from_ref(plugin));
    let mut found = FoundServers { notices, ..FoundServers::default() };
    for written in servers.iter().map(Written::of_plugin).filter(|written| !written.only_switches_off()) {
        let before = found.servers.len();
        found.add(env, session, &written, written.section.enabled);
        if before == found.servers.len() {
            found.servers.extend(written.read(env, session, false));
        }
    }
    found
}

/// The servers that plugins bring. Two plugins may have the same name for one: what a person said of the first is not
/// said of the second.
fn given_by(env: &Env, plugins: &[ActivePlugin]) -> (Vec<RepositoryServer>, Vec<String>) {
    let (mut given, mut notices, mut names) = (Vec::new(), Vec::new(), BTreeMap::new());
    for plugin in plugins {
        let (mut servers, said) = plugin.servers();
        notices.extend(said);
        servers.retain(|(name, _)| {
            let first = *names.entry(name.clone()).or_insert(&plugin.name);
            if *first != plugin.name {
                let words = format!("one of the plugin {first} is called so already");
                notices.push(format!("The MCP server {name:?} of the plugin {} is left out: {words}", plugin.name));
            }
            *first == plugin.name
        });
        let (servers, said) = plugin_servers(env, (&plugin.folder, &plugin.servers_file()), &servers);
        given.extend(servers);
        notices.extend(said.iter().map(ToString::to_string));
    }
    (given, notices)
}

/// The names that are switched off, whoever brings the servers.
fn switched_off<'a>(written: &[Written<'a>]) -> BTreeSet<&'a str> {
    written.iter().filter(|written| written.only_switches_off()).map(|written| written.name).collect()
}

impl FoundServers {
    fn add(&mut self, env: &Env, session: &Path, written: &Written<'_>, enabled: bool) {
        match written.read(env, session, enabled) {
            Ok(server) => self.servers.push(server),
            Err(flaw) => {
                let name: String = visible_line(written.name).chars().take(LONGEST_NAME).collect();
                let place = written.origin.map_or_else(|| written.file.to_string(), ToString::to_string);
                self.notices.push(format!("The MCP server {name:?} of {place} is left out: {flaw}"));
            }
        }
    }

    /// Which of the servers that count, `on`, take the place of others of their name, in words.
    pub fn replacing(&self, on: &[ServerSettings]) -> Vec<String> {
        let told = on.iter().filter(|server| server.enabled).filter_map(|server| {
            let same = self.servers.iter().map(|found| &found.settings);
            let same = same.filter(|other| other.enabled && other.name == server.name).map(|other| other.file.as_str());
            let others: Vec<&str> = same.take_while(|file| *file != server.file).collect();
            let ServerSettings { name, file, .. } = server;
            let words = || format!("The MCP server {name} of {file} takes the place of that of {}", others.join(", "));
            (!others.is_empty()).then(words)
        });
        told.collect()
    }
}

/// A server as somebody wrote it down.
struct Written<'a> {
    name: &'a str,
    section: &'a McpServerSection,
    /// What is hashed of it.
    text: &'a str,
    /// The file as it is shown, and the place in it.
    file: Cow<'a, str>,
    origin: Option<&'a Origin>,
    /// The folder that brings it; none for the user's own.
    folder: Option<&'a Path>,
    /// The folder of the plugin that brings it.
    plugin: Option<&'a Path>,
}

impl<'a> Written<'a> {
    fn own(env: &Env, loaded: &'a Loaded, name: &'a str, section: &'a McpServerSection) -> Self {
        let origin = |key: &str| loaded.origins.origin(&["mcp_servers", name, key]);
        let origin = ["command", "url"].into_iter().find_map(origin);
        let file = match origin {
            Some(origin) => Cow::Borrowed(origin.source.shown()),
            None => Cow::Owned(env.shown(&env.config_dir().join("config.toml"))),
        };
        Self { name, section, text: "", file, origin, folder: None, plugin: None }
    }

    /// One of a plugin that is on: the person said yes to it, so it is one of their own.
    fn of_plugin(server: &'a RepositoryServer) -> Self {
        Self { text: "", folder: None, plugin: Some(&server.folder), ..Self::of_repository(server) }
    }

    fn of_repository(server: &'a RepositoryServer) -> Self {
        Self {
            name: &server.name,
            section: &server.section,
            text: &server.written,
            file: Cow::Borrowed(server.origin.source.shown()),
            origin: Some(&server.origin),
            folder: Some(&server.folder),
            plugin: None,
        }
    }

    /// Whether it is no server, but says that one of its name is off.
    fn only_switches_off(&self) -> bool {
        !self.section.enabled && self.section.command.is_none() && self.section.url.is_none()
    }

    /// The server that is meant. One that is off needs no variables.
    fn read(&self, env: &Env, session: &Path, enabled: bool) -> Result<FoundServer, Flaw> {
        if !is_server_name(self.name) {
            return Err(Flaw::Name);
        }
        let base = self.plugin.or(self.folder).unwrap_or(session);
        let value_of = |name: &str| match name {
            name if FOLDER.contains(&name) => self.folder.unwrap_or(session).to_str().map(str::to_owned),
            name if ROOT_VARIABLES.contains(&name) && self.plugin.is_some() => base.to_str().map(str::to_owned),
            name => env.var(name).map(str::to_owned),
        };
        let section = self.section;
        let mut reading = Reading { env, section, base, folder: self.folder, filling: Filling::new(&value_of) };
        let mut reach = reading.reach()?;
        if let Reach::Program(program) = &mut reach {
            program.plugin = self.plugin.map(Path::to_owned);
        }
        let says = self.folder.or(self.plugin).map(|_| reading.says(&reach)).unwrap_or_default();
        if enabled && section.kind == Some(McpTransport::Sse) {
            return Err(Flaw::Sse);
        }
        if let Some(missing) = reading.filling.missing().filter(|_| enabled) {
            return Err(Flaw::Variable(missing.to_owned()));
        }
        let unwatched = self.folder.filter(|_| enabled).map(|folder| pin(&mut reach, folder)).unwrap_or_default();
        let hash = self.folder.map(|_| self.hash(&reach)).unwrap_or_default();
        let settings = ServerSettings::of(self.name.to_owned(), reach, section);
        let settings = ServerSettings { enabled, file: self.file.to_string(), ..settings };
        Ok(FoundServer { settings, folder: self.folder.map(Path::to_owned), hash, says, unwatched })
    }

    /// What trust in it is trust in.
    fn hash(&self, reach: &Reach) -> String {
        let files = match reach {
            Reach::Program(program) => program.pinned.as_ref().map(PinnedFiles::hash),
            Reach::Address(_) => None,
        };
        let files = files.map(|files| format!("\0{files}")).unwrap_or_default();
        let hash = Sha256::digest(format!("server\0{}\0{}{files}", self.name, self.text).as_bytes());
        hash.iter().map(|byte| format!("{byte:02x}")).collect()
    }
}

/// A program of a repository is what the files are that it is started with; gives what of them is not watched.
fn pin(reach: &mut Reach, folder: &Path) -> Vec<String> {
    match reach {
        Reach::Program(program) => {
            let (files, unwatched) = PinnedFiles::look(program, folder);
            program.pinned = Some(files);
            unwatched
        }
        Reach::Address(_) => Vec::new(),
    }
}

/// Whether names of tools can be made of it that can be taken apart again.
pub fn is_server_name(name: &str) -> bool {
    let fits = |char: char| char.is_ascii_alphanumeric() || matches!(char, '_' | '-');
    (1..=LONGEST_NAME).contains(&name.len()) && name.chars().all(fits) && !name.contains(PARTS_NAMES)
}

/// Makes of what is written what is meant.
struct Reading<'a> {
    env: &'a Env,
    section: &'a McpServerSection,
    /// The folder that paths lead on from.
    base: &'a Path,
    /// The folder that brings the server.
    folder: Option<&'a Path>,
    filling: Filling<'a>,
}

impl Reading<'_> {
    fn reach(&mut self) -> Result<Reach, Flaw> {
        let section = self.section;
        let kind = match (section.kind, section.command.is_some(), section.url.is_some()) {
            (Some(kind), _, _) => kind,
            (None, true, false) => McpTransport::Stdio,
            (None, false, true) => McpTransport::Http,
            (None, true, true) => return Err(Flaw::Both),
            (None, false, false) => return Err(Flaw::Neither),
        };
        match (kind, &section.command, &section.url) {
            (McpTransport::Stdio, Some(command), _) => self.program(command).map(Reach::Program),
            (McpTransport::Stdio, None, _) => Err(Flaw::Lacks("command")),
            (McpTransport::Http | McpTransport::Sse, _, Some(url)) => self.address(url).map(Reach::Address),
            (McpTransport::Http | McpTransport::Sse, _, None) => Err(Flaw::Lacks("url")),
        }
    }

    fn program(&mut self, command: &str) -> Result<ServerProgram, Flaw> {
        let section = self.section;
        let line: Vec<String> = match &section.args {
            Some(args) => std::iter::once(command.to_owned()).chain(args.iter().cloned()).collect(),
            None => words(command).ok_or(Flaw::Open)?,
        };
        let (program, arguments) = line.split_first().ok_or(Flaw::Neither)?;
        let of_settings = section.cwd.as_deref().map(|cwd| self.path(self.base, cwd));
        let folder = of_settings.or_else(|| self.folder.map(Path::to_owned));
        let at = folder.as_deref().unwrap_or(self.base);
        // A bare name is looked up in the PATH, wherever the server starts.
        let program = match program.contains('/') {
            true => self.path(at, program).display().to_string(),
            false => self.filling.fill(program),
        };
        let arguments = arguments.iter().map(|argument| self.filling.fill(argument)).collect();
        let mut variables = BTreeMap::new();
        for name in &section.env_vars {
            variables.extend(self.env.var(name).map(|value| (name.clone(), SecretString::from(value))));
        }
        variables.extend(self.filled(&section.env));
        let writable = section.writable.iter().map(|folder| self.path(self.base, folder)).collect();
        let (network, unboxed) = (section.network, !section.sandbox);
        Ok(ServerProgram {
            program,
            arguments,
            variables,
            folder,
            network,
            unboxed,
            writable,
            plugin: None,
            pinned: None,
        })
    }

    fn address(&mut self, url: &str) -> Result<ServerAddress, Flaw> {
        let section = self.section;
        let url = self.filling.fill(url);
        // Without its variables nobody knows how it begins.
        if self.filling.missing().is_none() && !url.starts_with("http://") && !url.starts_with("https://") {
            return Err(Flaw::Url);
        }
        let mut headers = self.filled(&section.headers);
        for (name, variable) in &section.env_http_headers {
            headers.extend(self.secret(variable).map(|value| (name.clone(), value)));
        }
        let bearer = section.bearer_token_env_var.as_deref().and_then(|name| self.secret(name));
        let oauth = &section.oauth;
        let login = LoginSettings {
            client_id: oauth.client_id.clone(),
            client_secret: oauth.client_secret_env.as_deref().and_then(|name| self.secret(name)),
            scopes: oauth.scopes.clone(),
            port: oauth.callback_port,
        };
        Ok(ServerAddress { url, headers, bearer, login })
    }

    /// The same names with the values that are meant.
    fn filled(&mut self, written: &BTreeMap<String, String>) -> BTreeMap<String, SecretString> {
        written.iter().map(|(name, value)| (name.clone(), SecretString::from(self.filling.fill(value)))).collect()
    }

    fn secret(&mut self, variable: &str) -> Option<SecretString> {
        self.filling.variable(variable).map(SecretString::from)
    }

    /// A path that is written, below `folder` where it is no whole one.
    fn path(&mut self, folder: &Path, written: &str) -> PathBuf {
        let path = self.filling.fill(written);
        let path = match path.strip_prefix("~/") {
            Some(rest) => self.env.home().join(rest),
            None => folder.join(&path),
        };
        // Without the `.` of `./server`.
        path.components().collect()
    }

    /// What somebody has to know who decides about the server, at most six lines, each on one line whatever is written.
    /// Variables that were filled in are named.
    fn says(&self, reach: &Reach) -> String {
        let section = self.section;
        let (first, given) = match reach {
            Reach::Program(_) => (command_line(section), listed("sets", section.env.keys())),
            Reach::Address(_) => {
                let url = section.url.as_deref().unwrap_or_default();
                (without_secrets(url), listed("sends headers", section.headers.keys()))
            }
        };
        let freedoms = [
            (!section.sandbox, "runs without a box"),
            (section.sampling == McpSampling::Allow, "may ask the model"),
            (section.auto_start, "starts with the session"),
        ];
        let freedoms: Vec<&str> = freedoms.into_iter().filter_map(|(is_so, words)| is_so.then_some(words)).collect();
        let of_the_user = self.filling.names().iter().chain(&section.env_vars);
        let of_the_user: BTreeSet<&String> = of_the_user.filter(|name| !is_folder(name)).collect();
        let lines = [
            Some(first),
            (!freedoms.is_empty()).then(|| freedoms.join("; ")),
            listed("may write", &section.writable),
            listed("gets from your environment", of_the_user),
            given,
            listed("starts in", &section.cwd),
        ];
        lines.iter().flatten().map(|line| visible_line(line)).collect::<Vec<_>>().join("\n")
    }
}

/// Whether a variable stands for a folder that Neco knows.
fn is_folder(name: &str) -> bool {
    FOLDER.contains(&name) || ROOT_VARIABLES.contains(&name)
}

/// The items behind what they are; nothing where there are none.
fn listed<'a>(what: &str, items: impl IntoIterator<Item = &'a String>) -> Option<String> {
    let items: Vec<&str> = items.into_iter().map(String::as_str).collect();
    (!items.is_empty()).then(|| format!("{what}: {}", items.join(", ")))
}

/// The command line as it is written; a word with a blank in it is quoted.
fn command_line(section: &McpServerSection) -> String {
    let command = section.command.as_deref().unwrap_or_default();
    let Some(args) = &section.args else { return command.to_owned() };
    let quoted = |word: &str| match word.is_empty() || word.contains(|char: char| char.is_whitespace() || char == '"') {
        true => format!("{word:?}"),
        false => word.to_owned(),
    };
    std::iter::once(command).chain(args.iter().map(String::as_str)).map(quoted).collect::<Vec<_>>().join(" ")
}
