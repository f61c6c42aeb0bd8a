//! What logins at MCP servers gave: kept in the keys file, beside the logins at providers.

use std::io;

use neco_config::Env;
use neco_ext::mcp::TokenStore;
use neco_model::route::KeysFile;
use secrecy::SecretString;

use super::keys;

/// What the names of servers begin with in the keys file, as no name of a provider does.
const PREFIX: &str = "mcp:";

/// The logins at MCP servers.
pub(crate) struct ServerLogins(KeysFile);

impl ServerLogins {
    /// Those of this machine.
    pub fn new(env: &Env) -> Self {
        Self(keys::file(env))
    }
}

/// Whether something in the keys file belongs to an MCP server rather than a provider.
pub(crate) fn is_of_server(name: &str) -> bool {
    name.starts_with(PREFIX)
}

fn key(server: &str) -> String {
    format!("{PREFIX}{server}")
}

impl TokenStore for ServerLogins {
    fn load(&self, server: &str) -> io::Result<Option<SecretString>> {
        let mut kept = self.0.read().map_err(io::Error::other)?;
        Ok(kept.remove(&key(server)).and_then(|kept| kept.login))
    }

    fn save(&self, server: &str, login: &SecretString) -> io::Result<()> {
        let login = Some(login.clone());
        self.0.change(|kept| kept.entry(key(server)).or_default().login = login).map_err(io::Error::other)
    }

    fn remove(&self, server: &str) -> io::Result<()> {
        // A file that does not name it is left as it is.
        if self.load(server)?.is_none() {
            return Ok(());
        }
        self.0.change(|kept| drop(kept.remove(&key(server)))).map_err(io::Error::other)
    }
}

#[cfg(test)]
mod tests {
    use secrecy::ExposeSecret;

    use super::*;

    #[test]
    fn a_login_is_kept_beside_the_keys_of_providers_and_forgotten_alone() {
        let home = tempfile::tempdir().unwrap();
        let folder = home.path().display().to_string();
        let env = Env::for_test([("NECO_HOME", folder.as_str())], home.path());
        let logins = ServerLogins::new(&env);
        logins.remove("docs").unwrap();
        assert!(!keys::file(&env).path().exists(), "nothing is written where nothing is kept");
        keys::file(&env).change(|kept| kept.entry("openai".to_owned()).or_default().keys.push("sk-1".into())).unwrap();
        logins.save("docs", &"{\"a\": \"b'\\n\"}".into()).unwrap();
        assert_eq!(logins.load("docs").unwrap().unwrap().expose_secret(), "{\"a\": \"b'\\n\"}");
        assert!(logins.load("other").unwrap().is_none());
        let names: Vec<String> = keys::file(&env).read().unwrap().into_keys().collect();
        assert_eq!(names, ["mcp:docs", "openai"]);
        assert!(is_of_server("mcp:docs") && !is_of_server("openai"));
        logins.remove("docs").unwrap();
        assert_eq!(keys::file(&env).read().unwrap().into_keys().collect::<Vec<_>>(), ["openai"]);
    }
}
