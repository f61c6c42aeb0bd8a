//! The client of one request: it can connect to the addresses that were looked at and to no others.

use std::net::SocketAddr;
use std::sync::Arc;

use neco_safety::world::net::NetError;
use reqwest::redirect::Policy;
use reqwest::{Client, Proxy};
use rustls::ClientConfig;
use rustls::crypto::ring;
use rustls_platform_verifier::BuilderVerifierExt;

/// Says who asks, and nothing about the person.
const USER_AGENT: &str = concat!("neco/", env!("CARGO_PKG_VERSION"));

/// A client that connects to these addresses of a host.
pub(super) fn direct(tls: ClientConfig, host: &str, addresses: &[SocketAddr]) -> Result<Client, NetError> {
    build(Client::builder().no_proxy().resolve_to_addrs(host, addresses), tls)
}

/// A client that leaves connecting to a proxy.
pub(super) fn by_proxy(tls: ClientConfig, proxy: &str) -> Result<Client, NetError> {
    let proxy =
        Proxy::all(proxy).map_err(|_| NetError::Setup("the proxy of the environment is no address".to_owned()))?;
    build(Client::builder().no_proxy().proxy(proxy), tls)
}

/// How https is spoken. Loading the machine's certificates takes a while: not for a thread of the runtime.
pub(super) fn tls() -> Result<ClientConfig, NetError> {
    let failed = |error: rustls::Error| NetError::Setup(error.to_string());
    Ok(ClientConfig::builder_with_provider(Arc::new(ring::default_provider()))
        .with_safe_default_protocol_versions()
        .map_err(failed)?
        .with_platform_verifier()
        .map_err(failed)?
        .with_no_client_auth())
}

fn build(builder: reqwest::ClientBuilder, tls: ClientConfig) -> Result<Client, NetError> {
    let builder = builder
        .user_agent(USER_AGENT)
        .redirect(Policy::none())
        .referer(false)
        .pool_max_idle_per_host(0)
        .tls_backend_preconfigured(tls);
    builder.build().map_err(|error| NetError::Setup(error.without_url().to_string()))
}
