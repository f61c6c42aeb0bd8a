//! Building the HTTP client of one endpoint.
//!
//! Loading the machine's root certificates costs more than everything else before the first
//! request. So a client for a plain `http` address gets an empty set, and only one for `https`
//! loads them, off the runtime's threads.

use std::sync::Arc;
use std::time::Duration;

use reqwest::redirect::Policy;
use reqwest::{Client, ClientBuilder};
use rustls::crypto::{CryptoProvider, ring};

const USER_AGENT: &str = concat!("neco/", env!("CARGO_PKG_VERSION"));

/// Why there is no client: the machine's TLS set-up can't be used.
#[derive(Debug, thiserror::Error)]
pub enum BuildError {
    /// The client can't be made.
    #[error(transparent)]
    Http(#[from] reqwest::Error),
    /// Its encryption can't.
    #[error(transparent)]
    Tls(#[from] rustls::Error),
    /// What loads the certificates broke.
    #[error(transparent)]
    Task(#[from] tokio::task::JoinError),
}

/// A client for `base`. It follows no redirect, and asks no proxy for what is on this machine.
///
/// # Errors
/// When the machine's TLS set-up can't be used.
pub async fn build(base: &str, connect_timeout: Option<Duration>) -> Result<Client, BuildError> {
    let mut builder = Client::builder()
        .user_agent(USER_AGENT)
        .redirect(Policy::none())
        .referer(false)
        .tcp_nodelay(true)
        // Vendors that compress a stream hold its pieces back.
        .no_gzip()
        .no_brotli()
        .no_zstd();
    if let Some(timeout) = connect_timeout {
        builder = builder.connect_timeout(timeout);
    }
    if is_loopback(base) {
        builder = builder.no_proxy();
    }
    if base.starts_with("https:") { build_with_roots(builder).await } else { build_plain(builder) }
}

/// Whether the address is on this machine.
pub fn is_loopback(base: &str) -> bool {
    let Ok(url) = reqwest::Url::parse(base) else { return false };
    let host = url.host_str().unwrap_or("").trim_matches(['[', ']']);
    host == "localhost"
        || host.ends_with(".localhost")
        || host.parse::<std::net::IpAddr>().is_ok_and(|address| address.is_loopback())
}

async fn build_with_roots(builder: ClientBuilder) -> Result<Client, BuildError> {
    if CryptoProvider::get_default().is_none() {
        // Losing the race to another endpoint is fine: it installed the same one.
        let _ = ring::default_provider().install_default();
    }
    Ok(tokio::task::spawn_blocking(move || builder.build()).await??)
}

fn build_plain(builder: ClientBuilder) -> Result<Client, BuildError> {
    let config = rustls::ClientConfig::builder_with_provider(Arc::new(ring::default_provider()))
        .with_safe_default_protocol_versions()?
        .with_root_certificates(rustls::RootCertStore::empty())
        .with_no_client_auth();
    Ok(builder.tls_backend_preconfigured(config).build()?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn loopback_is_known_in_all_its_forms() {
        for base in ["http://127.0.0.1:1/v1", "http://localhost:11434", "http://[::1]:8080/v1", "http://127.3.2.1"] {
            assert!(is_loopback(base), "{base}");
        }
        for base in ["https://api.openai.com/v1", "http://10.0.0.1", "http://localhost.example.com", "nonsense"] {
            assert!(!is_loopback(base), "{base}");
        }
    }

    #[tokio::test]
    async fn both_kinds_of_client_can_be_built() {
        build("http://127.0.0.1:1", None).await.unwrap();
        build("https://127.0.0.1:1", Some(Duration::from_secs(1))).await.unwrap();
    }
}
