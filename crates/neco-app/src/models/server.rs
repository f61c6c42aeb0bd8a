//! A server at an address of the person's, before the settings know it.

use std::collections::BTreeMap;
use std::fs;
use std::time::Duration;

use neco_config::other_names;
use neco_model::route::Providers;
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

/// What the settings call the server already; else a name after its address, with a number where that is another server
/// already, or a built-in one, or a key of another one is still kept under that name.
fn free_name(present: &str, base: &str, has_key: impl Fn(&str) -> bool) -> String {
    let present: DocumentMut = present.parse().unwrap_or_default();
    let providers = present.get("model_providers").and_then(Item::as_table_like);
    let says = |known: &Item, key: &str| known.get(key).and_then(Item::as_str).map(str::to_owned);
    let is_it = |name: &str, known: &Item| {
        let mut keys = other_names(&["model_providers", name, "base"]).into_iter().chain(["base"]);
        keys.any(|key| says(known, key).as_deref() == Some(base)) && says(known, "type").as_deref() == Some("openai")
    };
    let mut known = providers.into_iter().flat_map(|providers| providers.iter());
    if let Some((name, _)) = known.find(|(name, known)| is_bare(name) && is_it(name, known)) {
        return name.to_owned();
    }
    let built_in = Providers::new(&BTreeMap::new()).ok();
    let is_built_in = |name: &String| built_in.iter().flat_map(Providers::iter).any(|entry| entry.name == *name);
    let is_free =
        |name: &String| providers.is_none_or(|known| !known.contains_key(name)) && !is_built_in(name) && !has_key(name);
    let first = named_after(base);
    let others = (2..).map(|number| format!("{first}-{number}"));
    std::iter::once(first.clone()).chain(others).find(is_free).unwrap_or_default()
}

/// `localhost-8081` for `http://127.0.0.1:8081/v1`, `ai-example` for `https://ai.example`: a name that needs no quotes.
fn named_after(base: &str) -> String {
    let socket = socket_of(base).unwrap_or_default();
    let (host, port) = socket.rsplit_once(':').unwrap_or((socket.as_str(), ""));
    let host = if matches!(host, "127.0.0.1" | "[::1]") { "localhost" } else { host };
    let is_usual = host.contains('.') && matches!(port, "80" | "443");
    let name = if is_usual { host.to_owned() } else { format!("{host}-{port}") };
    let parts = name.split(|char: char| !char.is_ascii_alphanumeric()).filter(|part| !part.is_empty());
    parts.collect::<Vec<_>>().join("-").to_ascii_lowercase()
}

/// Whether a key of settings needs no quotes.
fn is_bare(name: &str) -> bool {
    name.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_'))
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
    fn a_server_is_named_after_its_address_and_a_second_one_has_another_name() {
        for (base, name) in [
            ("http://127.0.0.1:8081/v1", "localhost-8081"),
            ("http://[::1]:8000", "localhost-8000"),
            ("https://AI.example/v1", "ai-example"),
            ("http://vllm/v1", "vllm-80"),
            ("http://10.0.0.7:1234/v1", "10-0-0-7-1234"),
        ] {
            assert_eq!(named_after(base), name, "{base}");
        }
        let no_key = |_: &str| false;
        let one = "[model_providers.mine]\ntype = \"openai\"\nbase = \"http://localhost:1/v1\"\n";
        assert_eq!(free_name(one, "http://localhost:1/v1", |_| true), "mine", "the key is its own");
        assert_eq!(free_name(one, "http://localhost:2/v1", no_key), "localhost-2");
        let other_name = one.replace("base =", "base_url =");
        assert_eq!(free_name(&other_name, "http://localhost:1/v1", no_key), "mine", "the address has two names");
        assert_eq!(free_name("", "https://azure.openai/v1", no_key), "azure-openai-2", "a built-in one has that name");
        let other = "[model_providers.localhost-1]\nbase = \"http://localhost:1/other\"\n";
        assert_eq!(free_name(other, "http://localhost:1/v1", no_key), "localhost-1-2");
        let left = |name: &str| name == "localhost-1";
        assert_eq!(free_name("", "http://localhost:1/v1", left), "localhost-1-2", "a key goes to no other server");
    }
}
