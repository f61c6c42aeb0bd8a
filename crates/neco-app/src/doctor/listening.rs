//! Whether somebody listens where a server on this machine should be.

use std::collections::BTreeSet;
use std::time::Duration;

use futures::future::join_all;
use neco_config::Config;
use neco_model::route::ProviderEntry;
use neco_model::{LocalServer, Models};
use tokio::net::TcpStream;
use tokio::time::timeout;

/// Providers of this machine that nobody listens for: the configured ones are knocked at, the
/// well-known ones are among `servers` when they answer.
pub async fn silent(models: &Models, config: &Config, servers: &[LocalServer], patience: Duration) -> BTreeSet<String> {
    let here = models.providers().iter().filter(|entry| entry.is_here() && entry.script.is_none());
    let (known, other): (Vec<_>, Vec<_>) = here.partition(|entry| entry.local);
    let answers = |entry: &&ProviderEntry| servers.iter().any(|server| server.provider == entry.name);
    let mut silent: BTreeSet<String> =
        known.into_iter().filter(|entry| !answers(entry)).map(|entry| entry.name.clone()).collect();
    let configured = other.into_iter().filter(|entry| config.model_providers.contains_key(&entry.name));
    let knocked = configured.map(|entry| async move { (entry.name.clone(), is_open(entry, patience).await) });
    let knocked = join_all(knocked).await;
    silent.extend(knocked.into_iter().filter(|(_, open)| !open).map(|(name, _)| name));
    silent
}

async fn is_open(entry: &ProviderEntry, patience: Duration) -> bool {
    let Some(address) = entry.base.as_ref().and_then(|base| socket_of(base.shown())) else { return false };
    timeout(patience, TcpStream::connect(address)).await.is_ok_and(|connected| connected.is_ok())
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
}
