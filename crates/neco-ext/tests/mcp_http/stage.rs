//! Servers at addresses, and somebody who asks them.

use std::collections::BTreeMap;
use std::io;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use neco_ext::mcp::{
    Caller, McpError, McpSetup, Reach, ServerAddress, ServerProgram, ServerSettings, ServerState, Servers, TokenStore,
};
use neco_safety::secrets::Redactor;
use secrecy::{ExposeSecret, SecretString};
use serde_json::{Map, Value, json};
use tempfile::TempDir;
use tokio_util::sync::CancellationToken;

/// What the server is called.
pub const SERVER: &str = "docs";

/// How long anything may take: what never comes is a failure and not a hang.
const PATIENCE: Duration = Duration::from_secs(20);

/// A place for what is known of servers, and for what logins gave.
pub struct Stage {
    folder: TempDir,
    pub logins: Arc<Kept>,
    pub redactor: Redactor,
}

impl Stage {
    pub fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        Self { folder, logins: Arc::default(), redactor: Redactor::default() }
    }

    /// The server at this address.
    pub fn at(&self, url: &str) -> Servers {
        self.with(url, |_| ())
    }

    /// The same with other settings.
    pub fn with(&self, url: &str, change: impl FnOnce(&mut ServerAddress)) -> Servers {
        let mut address = ServerAddress::new(url);
        change(&mut address);
        let settings = ServerSettings {
            start_timeout: PATIENCE,
            call_timeout: PATIENCE,
            ..ServerSettings::new(SERVER, Reach::Address(address))
        };
        let setup = McpSetup {
            folder: self.folder.path().to_owned(),
            data_dir: self.folder.path().join("data"),
            processes: Arc::new(|_: &ServerProgram| Err(io::Error::other("nothing is started here"))),
            redactor: self.redactor.clone(),
            logins: self.logins.clone(),
        };
        Servers::new(setup, vec![settings])
    }
}

/// Asks for something and gives the words of the answer.
pub async fn greet(servers: &Servers, who: &str) -> Result<String, McpError> {
    ask(servers, json!({ "who": who })).await
}

/// The same with other arguments.
pub async fn ask(servers: &Servers, arguments: Value) -> Result<String, McpError> {
    let arguments: Map<String, Value> = arguments.as_object().cloned().unwrap();
    servers.prompt(SERVER, "greet", arguments, &Caller::silent(CancellationToken::new())).await
}

pub fn state(servers: &Servers) -> ServerState {
    servers.status()[0].state.clone()
}

/// Logins in memory.
#[derive(Default)]
pub struct Kept(Mutex<BTreeMap<String, String>>);

impl Kept {
    /// What is kept of the server.
    pub fn login(&self) -> Option<Value> {
        self.0.lock().unwrap().get(SERVER).map(|text| serde_json::from_str(text).unwrap())
    }

    pub fn put(&self, login: &Value) {
        self.0.lock().unwrap().insert(SERVER.to_owned(), login.to_string());
    }
}

impl TokenStore for Kept {
    fn load(&self, server: &str) -> io::Result<Option<SecretString>> {
        Ok(self.0.lock().unwrap().get(server).map(|text| text.as_str().into()))
    }

    fn save(&self, server: &str, login: &SecretString) -> io::Result<()> {
        self.0.lock().unwrap().insert(server.to_owned(), login.expose_secret().to_owned());
        Ok(())
    }

    fn remove(&self, server: &str) -> io::Result<()> {
        self.0.lock().unwrap().remove(server);
        Ok(())
    }
}
