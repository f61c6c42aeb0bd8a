//! An MCP server as the settings describe it, checked.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fmt;
use std::path::PathBuf;
use std::time::Duration;

use neco_config::section::{McpSampling, McpServerSection};
use neco_config::{without_secrets, words_without_secrets};
use neco_safety::secrets::{KnownSecret, scrub};
use neco_safety::world::Freedom;
use secrecy::{ExposeSecret, SecretString};
use sha2::{Digest, Sha256};
use url::Url;

use super::pinned_files::PinnedFiles;

/// A server that can be reached, and what it may do. Two are equal when they say the same in every point.
#[derive(Clone, Debug, PartialEq)]
pub struct ServerSettings {
    /// What it is called in the settings; part of the names of its tools.
    pub name: String,
    /// How it is reached.
    pub reach: Reach,
    /// Whether it may be used.
    pub enabled: bool,
    /// Whether it is started with the session, rather than at its first call.
    pub auto_start: bool,
    /// Only these of its tools exist, by globs; all where there are none.
    pub include: Vec<String>,
    /// These of its tools don't exist, by globs.
    pub exclude: Vec<String>,
    /// How long it may take to answer for the first time.
    pub start_timeout: Duration,
    /// How long a call may go without a sign of life.
    pub call_timeout: Duration,
    /// After how long without a call it is stopped.
    pub idle: Duration,
    /// Whether it may ask the session's model.
    pub sampling: McpSampling,
    /// The file that says so, as it is shown.
    pub file: String,
}

/// How a server is reached.
#[derive(Clone, Debug, PartialEq)]
pub enum Reach {
    /// A program that is started; it speaks on its standard input and output.
    Program(ServerProgram),
    /// A server that runs already, over streamable HTTP.
    Address(ServerAddress),
}

/// The program of a server.
#[derive(Clone)]
pub struct ServerProgram {
    /// The program: an absolute path, or a name to be found in the `PATH`.
    pub program: String,
    /// Its arguments.
    pub arguments: Vec<String>,
    /// Variables that only this server sees.
    pub variables: BTreeMap<String, SecretString>,
    /// The folder it starts in; that of the session where nothing is said.
    pub folder: Option<PathBuf>,
    /// Whether it reaches the network.
    pub network: bool,
    /// Whether it runs without a box.
    pub unboxed: bool,
    /// Folders that it may write besides the workspace.
    pub writable: Vec<PathBuf>,
    /// The folder of the plugin that brings it, which it may read.
    pub plugin: Option<PathBuf>,
    /// The files of the repository that brings it, as a person trusted them; nothing for the user's own.
    pub pinned: Option<PinnedFiles>,
}

impl ServerProgram {
    /// A program as the settings mean it that say nothing more.
    pub fn new(program: impl Into<String>, arguments: Vec<String>) -> Self {
        let section = McpServerSection::default();
        Self {
            program: program.into(),
            arguments,
            variables: BTreeMap::new(),
            folder: None,
            network: section.network,
            unboxed: !section.sandbox,
            writable: Vec::new(),
            plugin: None,
            pinned: None,
        }
    }

    /// How its box differs from that of commands.
    pub fn freedom(&self) -> Freedom {
        match (self.unboxed, self.network) {
            (true, _) => Freedom::Unboxed,
            (false, true) => Freedom::Network,
            (false, false) => Freedom::AsConfigured,
        }
    }
}

/// Without the values of variables: what is printed for debugging ends up in logs.
impl fmt::Debug for ServerProgram {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ServerProgram")
            .field("program", &self.program)
            .field("variables", &self.variables.keys())
            .field("network", &self.network)
            .finish_non_exhaustive()
    }
}

impl PartialEq for ServerProgram {
    fn eq(&self, other: &Self) -> bool {
        let Self { program, arguments, variables, folder, network, unboxed, writable, plugin, pinned } = self;
        *program == other.program
            && *arguments == other.arguments
            && same_values(variables, &other.variables)
            && *folder == other.folder
            && *network == other.network
            && *unboxed == other.unboxed
            && *writable == other.writable
            && *plugin == other.plugin
            && *pinned == other.pinned
    }
}

/// The address of a server.
#[derive(Clone)]
pub struct ServerAddress {
    /// Where it is.
    pub url: String,
    /// Headers that are sent to it.
    pub headers: BTreeMap<String, SecretString>,
    /// The token that is sent as `Authorization: Bearer`.
    pub bearer: Option<SecretString>,
    /// What a login asks for.
    pub login: LoginSettings,
}

impl ServerAddress {
    /// An address as the settings mean it that say nothing more.
    pub fn new(url: impl Into<String>) -> Self {
        Self { url: url.into(), headers: BTreeMap::new(), bearer: None, login: LoginSettings::default() }
    }

    /// The machine that it is on, and the port where that is no usual one; nothing where the address is broken.
    pub fn host(&self) -> Option<String> {
        let url = Url::parse(&self.url).ok()?;
        let host = url.host_str()?;
        Some(url.port().map_or_else(|| host.to_owned(), |port| format!("{host}:{port}")))
    }
}

/// Without what is secret in the address, and the values of headers.
impl fmt::Debug for ServerAddress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ServerAddress")
            .field("url", &without_secrets(&self.url))
            .field("headers", &self.headers.keys())
            .finish_non_exhaustive()
    }
}

impl PartialEq for ServerAddress {
    fn eq(&self, other: &Self) -> bool {
        let Self { url, headers, bearer, login } = self;
        *url == other.url
            && same_values(headers, &other.headers)
            && exposed(bearer.as_ref()) == exposed(other.bearer.as_ref())
            && *login == other.login
    }
}

/// What a login at a server asks for; most servers need nothing of it.
#[derive(Clone, Debug, Default)]
pub struct LoginSettings {
    /// The id of a client that was registered beforehand.
    pub client_id: Option<String>,
    /// Its secret.
    pub client_secret: Option<SecretString>,
    /// The scopes that are asked for, instead of what the server says.
    pub scopes: Vec<String>,
    /// The port that the browser comes back to; any where nothing is said.
    pub port: Option<u16>,
}

impl PartialEq for LoginSettings {
    fn eq(&self, other: &Self) -> bool {
        let Self { client_id, client_secret, scopes, port } = self;
        *client_id == other.client_id
            && exposed(client_secret.as_ref()) == exposed(other.client_secret.as_ref())
            && *scopes == other.scopes
            && *port == other.port
    }
}

/// The first half of a hash, in 32 digits.
pub(super) fn half_of(hash: &[u8]) -> String {
    let half = hash.first_chunk().copied().unwrap_or_default();
    format!("{:032x}", u128::from_be_bytes(half))
}

fn exposed(secret: Option<&SecretString>) -> Option<&str> {
    secret.map(|secret| secret.expose_secret())
}

fn same_values(one: &BTreeMap<String, SecretString>, other: &BTreeMap<String, SecretString>) -> bool {
    fn pair<'a>((name, value): (&'a String, &'a SecretString)) -> (&'a str, &'a str) {
        (name, value.expose_secret())
    }
    one.iter().map(pair).eq(other.iter().map(pair))
}

impl ServerSettings {
    /// A server as the settings mean it that say nothing more.
    ///
    /// ```
    /// use neco_ext::mcp::{Reach, ServerAddress, ServerSettings};
    ///
    /// let docs = ServerSettings::new("docs", Reach::Address(ServerAddress::new("https://example.com/mcp")));
    /// assert!(docs.enabled && !docs.auto_start);
    /// ```
    pub fn new(name: impl Into<String>, reach: Reach) -> Self {
        Self::of(name.into(), reach, &McpServerSection::default())
    }

    /// A server of these settings; nothing says yet in which file they stand.
    pub(super) fn of(name: String, reach: Reach, section: &McpServerSection) -> Self {
        Self {
            name,
            reach,
            enabled: section.enabled,
            auto_start: section.auto_start,
            include: section.tools.include.clone(),
            exclude: section.tools.exclude.clone(),
            start_timeout: seconds(section.startup_timeout),
            call_timeout: seconds(section.tool_timeout),
            idle: seconds(section.idle_timeout),
            sampling: section.sampling,
            file: String::new(),
        }
    }

    /// What tells whether it is still the same server: another text when its program, address, arguments, variables or
    /// headers are others.
    pub fn hash(&self) -> String {
        let mut hash = Sha256::new();
        let mut add = |text: &str| {
            hash.update(text.len().to_le_bytes());
            hash.update(text.as_bytes());
        };
        let values = match &self.reach {
            Reach::Program(program) => {
                add("program");
                add(&program.program);
                program.arguments.iter().for_each(|argument| add(argument));
                program.folder.iter().for_each(|folder| add(&folder.display().to_string()));
                &program.variables
            }
            Reach::Address(address) => {
                add("address");
                add(&address.url);
                &address.headers
            }
        };
        for (name, value) in values {
            add(name);
            add(value.expose_secret());
        }
        half_of(&hash.finalize())
    }

    /// What nobody may be told of it: headers, tokens, and variables that look like keys or fit the `hidden` globs.
    pub fn secrets(&self, hidden: &[String]) -> Vec<KnownSecret> {
        let known = |what: String, value: &SecretString| KnownSecret { what, value: value.expose_secret().to_owned() };
        match &self.reach {
            Reach::Program(program) => {
                let pairs = program.variables.iter();
                let pairs = pairs.map(|(name, value)| (OsString::from(name), OsString::from(value.expose_secret())));
                scrub(pairs.collect(), hidden).hidden
            }
            Reach::Address(address) => {
                let headers = address.headers.iter().map(|(name, value)| known(name.clone(), value));
                // Without the word that says what kind of secret it is.
                let bare = headers.clone().filter_map(|KnownSecret { what, value }| {
                    Some(KnownSecret { what, value: value.split_once(' ')?.1.trim().to_owned() })
                });
                let bearer = address.bearer.iter().map(|token| known(format!("token of {}", self.name), token));
                let login = address.login.client_secret.iter();
                let login = login.map(|secret| known(format!("client secret of {}", self.name), secret));
                let all = headers.chain(bare).chain(bearer).chain(login);
                all.chain(self.secrets_of_url(&address.url)).collect()
            }
        }
    }

    /// The password of an address, and what stands behind its question mark.
    fn secrets_of_url(&self, url: &str) -> Vec<KnownSecret> {
        let Ok(url) = Url::parse(url) else { return Vec::new() };
        let known =
            |what: &str, value: &str| KnownSecret { what: format!("{what} of {}", self.name), value: value.to_owned() };
        let password = url.password().map(|password| known("password", password));
        password.into_iter().chain(url.query_pairs().map(|(name, value)| known(&name, &value))).collect()
    }

    /// The server in one line, without secrets: its command line or its address.
    pub fn in_short(&self) -> String {
        match &self.reach {
            Reach::Program(program) => {
                let words = std::iter::once(&program.program).chain(&program.arguments);
                let words = words_without_secrets(words.map(String::as_str));
                words.iter().map(|word| quoted(word)).collect::<Vec<_>>().join(" ")
            }
            Reach::Address(address) => without_secrets(&address.url),
        }
    }
}

/// The settings let no other numbers through than those of a time.
fn seconds(number: f64) -> Duration {
    Duration::try_from_secs_f64(number).unwrap_or_default()
}

/// A word of a command line as a shell would take it for one.
fn quoted(word: &str) -> String {
    let parts = |char: char| char.is_whitespace() || "'\"\\`;&|<>()#".contains(char);
    if !word.is_empty() && !word.contains(parts) {
        return word.to_owned();
    }
    format!("'{}'", word.replace('\'', r"'\''"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_server_that_differs_in_a_secret_is_another() {
        let with = |change: fn(&mut ServerAddress)| {
            let mut address = ServerAddress::new("https://example.com/mcp");
            change(&mut address);
            ServerSettings::new("x", Reach::Address(address))
        };
        let plain = with(|_| ());
        assert_eq!(plain, plain.clone());
        let header: fn(&mut ServerAddress) = |address| drop(address.headers.insert("A".to_owned(), "one".into()));
        let other: fn(&mut ServerAddress) = |address| drop(address.headers.insert("A".to_owned(), "two".into()));
        let bearer: fn(&mut ServerAddress) = |address| address.bearer = Some("one".into());
        let secret: fn(&mut ServerAddress) = |address| address.login.client_secret = Some("one".into());
        let all = [plain, with(header), with(other), with(bearer), with(secret)];
        for (at, one) in all.iter().enumerate() {
            assert_eq!(all.iter().position(|other| other == one), Some(at), "{one:?}");
        }
    }

    #[test]
    fn words_that_a_shell_would_part_stand_in_quotes() {
        for (word, shown) in [
            ("npx", "npx"),
            ("--root=/srv/a", "--root=/srv/a"),
            ("***", "***"),
            ("", "''"),
            ("sleep 20; exec python3 s.py", "'sleep 20; exec python3 s.py'"),
            ("it's", r"'it'\''s'"),
        ] {
            assert_eq!(quoted(word), shown);
        }
    }
}
