//! Asks web addresses.

use std::collections::BTreeMap;
use std::error::Error;
use std::fmt;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use neco_safety::world::BoxFuture;
use neco_safety::world::net::{Answer, KeyHeader, Method, Net, NetError, Request};
use reqwest::header::{CONTENT_TYPE, HeaderMap, HeaderName, HeaderValue, LOCATION, RETRY_AFTER};
use reqwest::redirect::Policy;
use reqwest::{Client, Proxy, Response};
use rustls::ClientConfig;
use rustls::crypto::ring;
use rustls_platform_verifier::BuilderVerifierExt;
use secrecy::{ExposeSecret, SecretString};
use tokio::sync::OnceCell;
use url::Url;

use super::check::{check, resolve, told};
use super::hosts::{OpenHosts, bare};
use super::proxy::ProxyRules;

/// Redirects within one host that are followed.
const MOST_REDIRECTS: usize = 10;

/// The longest wait for a connection.
const CONNECT: Duration = Duration::from_secs(10);

/// What the network of tools is made of.
#[derive(Default)]
pub struct NetSettings {
    /// Hosts on this machine or in private networks that the person opened.
    pub private_hosts: Vec<String>,
    /// The proxy of the environment.
    pub proxy: ProxyRules,
    /// Keys by name.
    pub keys: BTreeMap<String, SecretString>,
}

/// The network, as tools reach it. Clones share it; nothing is made before the first request.
#[derive(Clone, Default)]
pub struct LocalNet(Arc<Shared>);

#[derive(Default)]
struct Shared {
    open: OpenHosts,
    proxy: ProxyRules,
    keys: BTreeMap<String, SecretString>,
    tls: OnceCell<ClientConfig>,
}

impl fmt::Debug for LocalNet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("LocalNet").field("open", &self.0.open).finish_non_exhaustive()
    }
}

impl LocalNet {
    /// A network of these settings.
    pub fn new(settings: NetSettings) -> Self {
        let NetSettings { private_hosts, proxy, keys } = settings;
        Self(Arc::new(Shared { open: OpenHosts::new(private_hosts), proxy, keys, tls: OnceCell::new() }))
    }

    async fn follow(&self, request: Request) -> Result<Answer, NetError> {
        let mut url = request.url.clone();
        let mut method = request.method;
        for _ in 0..=MOST_REDIRECTS {
            let response = self.ask(&request, &url, method).await?;
            let Some(next) = redirection(&response, &url) else { return answer(response, url, request.bytes).await };
            if !is_followed(&request, &url, &next) {
                return Ok(elsewhere(&response, url, next));
            }
            // Only these two keep the method, and the body with it.
            if !matches!(response.status().as_u16(), 307 | 308) {
                method = Method::Get;
            }
            url = next;
        }
        Err(NetError::Circle(told(&request.url)))
    }

    /// One request to one address, which is looked at first.
    async fn ask(&self, request: &Request, url: &Url, method: Method) -> Result<Response, NetError> {
        let open = self.0.open.hold(url) || OpenHosts::new(&request.open_host).hold(url);
        check(url, open)?;
        let client = self.client(url, open).await?;
        let builder = match method {
            Method::Get => client.get(url.clone()),
            Method::Post => client.post(url.clone()),
        };
        let mut builder = builder.headers(self.headers(request)?);
        if let (Method::Post, Some(body)) = (method, &request.body) {
            builder = builder.body(body.clone());
        }
        builder.send().await.map_err(|error| unreachable(url, error))
    }

    async fn client(&self, url: &Url, open: bool) -> Result<Client, NetError> {
        let tls = self.0.tls.get_or_try_init(load_tls).await?.clone();
        let Some(proxy) = self.0.proxy.of(url) else {
            let addresses = tokio::time::timeout(CONNECT, resolve(url, open)).await;
            let addresses = addresses.unwrap_or_else(|_| Err(NetError::UnknownHost(told(url))))?;
            return direct(tls, url.host_str().unwrap_or_default(), &addresses);
        };
        // The proxy looks the name up itself; what this machine knows of it counts all the same.
        match tokio::time::timeout(CONNECT, resolve(url, open)).await {
            Ok(Err(refused @ NetError::Private { .. })) => Err(refused),
            Ok(_) | Err(_) => by_proxy(tls, proxy),
        }
    }

    fn headers(&self, request: &Request) -> Result<HeaderMap, NetError> {
        let mut headers = HeaderMap::new();
        for (name, value) in &request.headers {
            let value = HeaderValue::from_str(value).map_err(|error| NetError::Setup(error.to_string()))?;
            headers.insert(HeaderName::from_static(name), value);
        }
        if let Some(KeyHeader { key, header, before }) = &request.key {
            let key = self.0.keys.get(*key).ok_or(NetError::NoKey)?;
            let text = format!("{before}{}", key.expose_secret().trim());
            let mut value = HeaderValue::from_str(&text).map_err(|_| NetError::NoKey)?;
            value.set_sensitive(true);
            headers.insert(HeaderName::from_static(header), value);
        }
        Ok(headers)
    }
}

impl Net for LocalNet {
    fn has_key(&self, name: &str) -> bool {
        self.0.keys.contains_key(name)
    }

    fn check(&self, url: &Url) -> Result<(), NetError> {
        check(url, self.0.open.hold(url))
    }

    fn is_opened(&self, url: &Url) -> bool {
        self.0.open.hold(url)
    }

    fn send(&self, request: Request) -> BoxFuture<'_, Result<Answer, NetError>> {
        let (host, seconds) = (told(&request.url), request.time.as_secs());
        let answered = tokio::time::timeout(request.time, self.follow(request));
        Box::pin(async move { answered.await.unwrap_or(Err(NetError::TimedOut { host, seconds })) })
    }
}

async fn load_tls() -> Result<ClientConfig, NetError> {
    let loaded = tokio::task::spawn_blocking(tls).await;
    loaded.unwrap_or_else(|error| Err(NetError::Setup(error.to_string())))
}

/// Where an answer sends to.
fn redirection(response: &Response, url: &Url) -> Option<Url> {
    if !matches!(response.status().as_u16(), 301 | 302 | 303 | 307 | 308) {
        return None;
    }
    let location = response.headers().get(LOCATION)?;
    url.join(std::str::from_utf8(location.as_bytes()).ok()?).ok()
}

/// Whether a redirect is gone along with: on one host, and with a key only where the key belongs, which no
/// other port is and nothing that sends it in the clear.
fn is_followed(request: &Request, from: &Url, to: &Url) -> bool {
    let same_host = from.host_str().map(bare) == to.host_str().map(bare);
    let place = |url: &Url| (url.scheme().to_owned(), url.port_or_known_default());
    let is_upgrade = from.scheme() == "http" && to.scheme() == "https" && from.port().is_none() && to.port().is_none();
    same_host && (request.key.is_none() || place(from) == place(to) || is_upgrade)
}

fn elsewhere(response: &Response, url: Url, next: Url) -> Answer {
    let status = response.status().as_u16();
    Answer { url, status, content_type: None, retry_after: None, elsewhere: Some(next), body: Vec::new(), cut: false }
}

async fn answer(mut response: Response, url: Url, most: usize) -> Result<Answer, NetError> {
    let text = |name| {
        response.headers().get(name).map(|value: &HeaderValue| String::from_utf8_lossy(value.as_bytes()).into_owned())
    };
    let (content_type, retry_after, status) = (text(CONTENT_TYPE), text(RETRY_AFTER), response.status().as_u16());
    let mut body = Vec::new();
    let mut cut = false;
    while let Some(piece) = response.chunk().await.map_err(|error| unreachable(&url, error))? {
        let room = most.saturating_sub(body.len());
        body.extend_from_slice(piece.get(..room).unwrap_or(&piece));
        if piece.len() > room {
            cut = true;
            break;
        }
    }
    Ok(Answer { url, status, content_type, retry_after, elsewhere: None, body, cut })
}

/// The innermost cause says most; the address is left out, as it may hold a key.
fn unreachable(url: &Url, error: reqwest::Error) -> NetError {
    let error = error.without_url();
    let mut cause: &dyn Error = &error;
    while let Some(inner) = cause.source() {
        cause = inner;
    }
    NetError::Unreachable { host: told(url), cause: cause.to_string() }
}

/// Says who asks, and nothing about the person.
const USER_AGENT: &str = concat!("neco/", env!("CARGO_PKG_VERSION"));

/// A client that connects to these addresses of a host.
fn direct(tls: ClientConfig, host: &str, addresses: &[SocketAddr]) -> Result<Client, NetError> {
    build(Client::builder().no_proxy().resolve_to_addrs(host, addresses), tls)
}

/// A client that leaves connecting to a proxy.
fn by_proxy(tls: ClientConfig, proxy: &str) -> Result<Client, NetError> {
    let proxy =
        Proxy::all(proxy).map_err(|_| NetError::Setup("the proxy of the environment is no address".to_owned()))?;
    build(Client::builder().no_proxy().proxy(proxy), tls)
}

/// How https is spoken. Loading the machine's certificates takes a while: not for a thread of the runtime.
fn tls() -> Result<ClientConfig, NetError> {
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_goes_to_no_other_port_and_never_in_the_clear() {
        let url = |text: &str| Url::parse(text).unwrap();
        let mut request = Request::get(url("https://a.example/"), Duration::from_secs(1), 1);
        for (from, to, plain, with_key) in [
            ("https://a.example/", "https://a.example/x", true, true),
            ("http://a.example/", "https://a.example/", true, true),
            ("https://a.example/", "http://a.example/", true, false),
            ("https://a.example/", "https://a.example:8443/", true, false),
            ("http://a.example:8080/", "https://a.example/", true, false),
            ("https://a.example:443/", "https://a.example/", true, true),
            ("https://a.example/", "https://b.example/", false, false),
        ] {
            request.key = None;
            assert_eq!(is_followed(&request, &url(from), &url(to)), plain, "{from} {to}");
            request.key = Some(KeyHeader { key: "k", header: "x-key", before: "" });
            assert_eq!(is_followed(&request, &url(from), &url(to)), with_key, "{from} {to}");
        }
    }
}
