//! A server at an address of the person's, before the settings know it.

use std::fs;
use std::time::Duration;

use neco_proto::app::AppError;
use tokio::net::TcpStream;
use tokio::time::timeout;
use toml_edit::{DocumentMut, Item};

use crate::app::StorelessApp;
use crate::error::invalid;
use crate::settings::own_file;
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
            let words = "Not an address: host or host:port";
            return Err(invalid(words));
        }
        let present = fs::read_to_string(own_file(&app.env)).unwrap_or_default();
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
        listens(&self.base, LISTENS).await
    }
}

/// Whether somebody listens at an address.
pub(crate) async fn listens(base: &str, patience: Duration) -> bool {
    let Some(socket) = socket_of(base) else { return false };
    timeout(patience, TcpStream::connect(socket)).await.is_ok_and(|connected| connected.is_ok())
}

/// `host:port` of an address.
fn socket_of(base: &str) -> Option<String> {
    let (scheme, rest) = base.split_once("://")?;
    let place = rest.split(['/', '?', '#']).next()?;
    // A colon inside brackets belongs to the host.
    let has_port = place.rsplit_once(':').is_some_and(|(_, port)| port.parse::<u16>().is_ok());
    let usual = if scheme == "https" { 443 } else { 80 };
    Some(if has_port { place.to_owned() } else { format!("{place}:{usual}") })
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
    fn an_address_leads_to_a_socket() {
        for (base, socket) in [
            ("http://127.0.0.1:8000/v1", Some("127.0.0.1:8000")),
            ("http://localhost/v1", Some("localhost:80")),
            ("https://[::1]:8443", Some("[::1]:8443")),
            ("https://[::1]", Some("[::1]:443")),
            ("localhost:8000", None),
        ] {
            assert_eq!(socket_of(base).as_deref(), socket, "{base}");
        }
    }

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
