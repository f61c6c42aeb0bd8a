//! A server at an address of the person's, before the settings know it.

use std::fs;
use std::time::Duration;

use neco_proto::app::{AppError, Trouble};
use toml_edit::{DocumentMut, Item};

use crate::app::StorelessApp;
use crate::own_settings;
use crate::workspace::keys;

/// How long a server has to take a call.
const LISTENS: Duration = Duration::from_secs(2);

/// A server that speaks as OpenAI's does.
pub(super) struct Server {
    /// What it is called from now on.
    pub name: String,
    base: String,
}

impl Server {
    /// The one at `base`, with a name that no other one has yet.
    pub(super) fn at(base: String, app: &StorelessApp) -> Result<Self, AppError> {
        if !is_address(&base) {
            let words = "that is no address: it begins with http:// or https://";
            return Err(AppError::new(Trouble::Invalid, words));
        }
        let present = fs::read_to_string(own_settings::file(&app.env)).unwrap_or_default();
        // Keys that can't be read are sent nowhere.
        let kept = keys::file(&app.env).read().unwrap_or_default();
        let name = free_name(&present, &base, |name| kept.contains_key(name));
        Ok(Self { name, base })
    }

    /// The settings that make it known, as `-c` takes them.
    pub(super) fn settings(&self) -> Vec<String> {
        let Self { name, base } = self;
        let base = toml_edit::Value::from(base);
        vec![format!("model_providers.{name}.type=openai"), format!("model_providers.{name}.base={base}")]
    }

    /// Whether somebody listens at its address.
    pub(super) async fn listens(&self) -> bool {
        let (port, rest) = match self.base.strip_prefix("https://") {
            Some(rest) => (443, rest),
            None => (80, self.base.trim_start_matches("http://")),
        };
        let host = rest.split('/').next().unwrap_or_default();
        let has_port = host.rsplit_once(':').is_some_and(|(_, port)| port.chars().all(|char| char.is_ascii_digit()));
        let place = if has_port { host.to_owned() } else { format!("{host}:{port}") };
        let connected = tokio::time::timeout(LISTENS, tokio::net::TcpStream::connect(place)).await;
        connected.is_ok_and(|connected| connected.is_ok())
    }
}

/// Whether something can be asked there.
fn is_address(base: &str) -> bool {
    let host = base.strip_prefix("http://").or_else(|| base.strip_prefix("https://"));
    host.is_some_and(|host| host.starts_with(|char: char| char.is_alphanumeric() || char == '['))
}

/// `mine`, or `mine-2` where that is another server already, or a key of another one is still kept under that name.
fn free_name(present: &str, base: &str, has_key: impl Fn(&str) -> bool) -> String {
    let present: DocumentMut = present.parse().unwrap_or_default();
    let of = |name: &String| present.get("model_providers").and_then(|providers| providers.get(name));
    let is_free = |name: &String| match of(name) {
        Some(known) => known.get("base").and_then(Item::as_str).is_some_and(|known| known == base),
        None => !has_key(name),
    };
    let names = std::iter::once("mine".to_owned()).chain((2..).map(|number| format!("mine-{number}")));
    names.into_iter().find(is_free).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_is_known_by_how_it_begins() {
        assert!(is_address("https://ai.example/v1") && is_address("http://[::1]:8000/v1"));
        for base in ["foo", "localhost:8000", "http://", "ftp://x"] {
            assert!(!is_address(base), "{base}");
        }
    }

    #[test]
    fn a_second_server_has_another_name() {
        let one = "[model_providers.mine]\nbase = \"http://localhost:1/v1\"\n";
        let no_key = |_: &str| false;
        assert_eq!(free_name("", "http://localhost:1/v1", no_key), "mine");
        assert_eq!(free_name(one, "http://localhost:2/v1", no_key), "mine-2");
        assert_eq!(free_name(one, "http://localhost:1/v1", |_| true), "mine", "the key is its own");
        let left = |name: &str| name == "mine";
        assert_eq!(free_name("", "http://localhost:1/v1", left), "mine-2", "a key goes to no other server");
    }
}
