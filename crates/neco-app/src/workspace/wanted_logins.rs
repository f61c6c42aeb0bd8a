//! Which MCP servers wanted a login when they were last reached. That is kept, so that a list says it without reaching
//! them.

use std::fs;
use std::path::{Path, PathBuf};

use neco_ext::mcp::{Reach, ServerSettings, ServerState};

/// Keeps which of these servers want a login now, and forgets it of those that were reached. It writes files.
pub(crate) fn keep(data_dir: &Path, servers: &[(ServerSettings, ServerState)]) {
    for (settings, state) in servers {
        match state {
            ServerState::NeedsLogin => {
                let file = file(data_dir, &settings.name);
                let made = file.parent().map_or(Ok(()), fs::create_dir_all);
                if let Err(error) = made.and_then(|()| fs::write(file, settings.hash())) {
                    tracing::debug!(%error, server = settings.name, "that it wants a login is not kept");
                }
            }
            ServerState::Running => forget(data_dir, &settings.name),
            ServerState::Disabled
            | ServerState::Configured
            | ServerState::Known
            | ServerState::Starting
            | ServerState::Failed(_) => {}
        }
    }
}

/// Whether a server wanted a login that is still as it was then.
pub(crate) fn is_kept(data_dir: &Path, settings: &ServerSettings) -> bool {
    let has_token = match &settings.reach {
        Reach::Program(_) => return false,
        Reach::Address(address) => address.bearer.is_some(),
    };
    !has_token && fs::read_to_string(file(data_dir, &settings.name)).is_ok_and(|hash| hash == settings.hash())
}

/// Forgets that a server wanted a login.
pub(crate) fn forget(data_dir: &Path, server: &str) {
    // As a rule there is nothing to forget.
    let _ = fs::remove_file(file(data_dir, server));
}

fn file(data_dir: &Path, server: &str) -> PathBuf {
    data_dir.join("mcp/wanted_logins").join(server)
}

#[cfg(test)]
mod tests {
    use neco_config::{Env, LoadOptions, load};
    use neco_ext::mcp::find;

    use super::*;

    fn settings(home: &Path, url: &str) -> ServerSettings {
        fs::write(home.join("config.toml"), format!("[mcp_servers.docs]\nurl = '{url}'\n")).unwrap();
        let env = Env::for_test([("NECO_HOME", home.to_str().unwrap())], home);
        let loaded = load(LoadOptions { env: &env, cwd: home, overrides: &[] }).unwrap();
        find(&env, home, &loaded, &[]).servers.remove(0).settings
    }

    #[test]
    fn that_a_server_wants_a_login_is_kept_until_it_is_reached_or_another_one() {
        let home = tempfile::tempdir().unwrap();
        let (home, one) = (home.path(), settings(home.path(), "https://one.example/mcp"));
        assert!(!is_kept(home, &one));
        keep(home, &[(one.clone(), ServerState::NeedsLogin)]);
        assert!(is_kept(home, &one));
        assert!(!is_kept(home, &settings(home, "https://two.example/mcp")), "it is another server");
        keep(home, &[(one.clone(), ServerState::Configured)]);
        assert!(is_kept(home, &one), "nobody asked it since");
        keep(home, &[(one.clone(), ServerState::Running)]);
        assert!(!is_kept(home, &one));
    }
}
