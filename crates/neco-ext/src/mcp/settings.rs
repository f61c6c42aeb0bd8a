//! An MCP server as the settings describe it, checked.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fmt;
use std::path::PathBuf;
use std::time::Duration;

use neco_config::section::McpSampling;
use neco_config::{without_secrets, words_without_secrets};
use neco_safety::secrets::{KnownSecret, scrub};
use neco_safety::world::Freedom;
use secrecy::{ExposeSecret, SecretString};
use sha2::{Digest, Sha256};
use url::Url;

use super::pinned_files::PinnedFiles;

/// A server that can be reached, and what it may do.
#[derive(Clone, Debug)]
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
#[derive(Clone, Debug)]
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
    /// The files of the repository that brings it, as a person trusted them; nothing for the user's own.
    pub pinned: Option<PinnedFiles>,
}

impl ServerProgram {
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

impl ServerSettings {
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
        hash.finalize().iter().take(16).map(|byte| format!("{byte:02x}")).collect()
    }

    /// Whether both say the same in every point.
    pub(super) fn is_same_as(&self, other: &Self) -> bool {
        fn shown(settings: &ServerSettings) -> (String, Vec<String>) {
            let secret = |value: &SecretString| value.expose_secret().to_owned();
            match &settings.reach {
                Reach::Program(program) => {
                    let box_of = (&program.folder, program.network, program.unboxed, &program.writable);
                    let box_of = format!("{:?}", (box_of, &program.pinned));
                    let pairs = program.variables.iter().flat_map(|(name, value)| [name.clone(), secret(value)]);
                    (box_of, program.arguments.iter().cloned().chain(pairs).collect())
                }
                Reach::Address(address) => {
                    let login = &address.login;
                    let shown = format!("{:?}", (&login.client_id, &login.scopes, login.port));
                    let pairs = address.headers.iter().flat_map(|(name, value)| [name.clone(), secret(value)]);
                    let secrets = address.bearer.iter().chain(&login.client_secret).map(secret);
                    (shown, pairs.chain(secrets).collect())
                }
            }
        }
        format!("{self:?}") == format!("{other:?}") && shown(self) == shown(other)
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
