//! The way to a server elsewhere: a WebSocket with a token, over TLS where its address says so.

use std::fmt;
use std::io;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use http::{HeaderValue, Request, header};
use http_body_util::{BodyExt, Full};
use hyper::client::conn::http1;
use hyper_util::rt::TokioIo;
use neco_proto::SessionId;
use rustls::CertificateError;
use rustls::pki_types::ServerName;
use serde_json::Value;
use tokio::net::TcpStream;
use tokio::sync::OnceCell;
use tokio_rustls::TlsConnector;
use tokio_tungstenite::client_async_with_config;
use tokio_tungstenite::tungstenite::Error;
use tokio_tungstenite::tungstenite::client::IntoClientRequest;
use tokio_tungstenite::tungstenite::error::ProtocolError;
use url::{Host, Url};

use super::trust::Trust;
use crate::remote::address::{Address, not_reached};
use crate::remote::desk::LONGEST_REPLY;
use crate::remote::transport::{Duplex, Reader, Writer, config, halves};
use crate::remote::{AttachError, RemoteClient};

/// How long a server may take to answer.
const PATIENCE: Duration = Duration::from_secs(20);

/// Where a server is, and what lets somebody in.
#[derive(Clone)]
pub(crate) struct WebAddress {
    host: String,
    port: u16,
    /// How TLS is spoken, where it is.
    tls: Option<Tls>,
    token: Arc<str>,
    /// The session that is talked about, if it is only one.
    pub session: Option<SessionId>,
}

/// How TLS is spoken with a server.
#[derive(Clone)]
struct Tls {
    trust: Trust,
    name: ServerName<'static>,
    /// Made by the first connection: it reads files.
    connector: Arc<OnceCell<TlsConnector>>,
}

/// Without the token.
impl fmt::Debug for WebAddress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("WebAddress").field("host", &self.host).field("port", &self.port).finish_non_exhaustive()
    }
}

/// Reaches the program of a server at `url` with a token; what it shows for TLS this machine has to trust.
///
/// # Errors
/// When it can't be reached, or the token is wrong.
pub async fn connect(url: &str, token: &str) -> Result<RemoteClient, AttachError> {
    connect_trusting(url, token, Trust::System).await
}

/// The same with others who are trusted.
///
/// # Errors
/// When it can't be reached, is not trusted, or the token is wrong.
pub async fn connect_trusting(url: &str, token: &str, trust: Trust) -> Result<RemoteClient, AttachError> {
    RemoteClient::at(Address::Web(WebAddress::read(url, token, trust)?)).await
}

/// Whether others can read on the way what is said to `url`: it leaves this machine as it is.
#[must_use]
pub fn can_be_read(url: &str) -> bool {
    let Ok(url) = Url::parse(url) else { return false };
    let stays_here = match url.host() {
        Some(Host::Ipv4(address)) => address.is_loopback(),
        Some(Host::Ipv6(address)) => address.is_loopback(),
        Some(Host::Domain(name)) => name.eq_ignore_ascii_case("localhost"),
        None => false,
    };
    matches!(url.scheme(), "http" | "ws") && !stays_here
}

/// Asks a server something over HTTP.
///
/// # Errors
/// When it can't be reached, or does not do it.
pub async fn post(url: &str, token: &str, trust: Trust, path: &str, body: &Value) -> io::Result<Value> {
    let late = || io::Error::new(io::ErrorKind::TimedOut, format!("{url} does not answer"));
    let web = WebAddress::read(url, token, trust).map_err(io::Error::other)?;
    tokio::time::timeout(PATIENCE, ask(&web, path, body)).await.map_err(|_| late())?
}

async fn ask(web: &WebAddress, path: &str, body: &Value) -> io::Result<Value> {
    let stream = web.stream().await.map_err(io::Error::other)?;
    let (mut sender, connection) = http1::handshake(TokioIo::new(stream)).await.map_err(io::Error::other)?;
    tokio::spawn(connection);
    let request = Request::post(path)
        .header(header::HOST, web.authority())
        .header(header::AUTHORIZATION, format!("Bearer {}", web.token))
        .header(header::CONTENT_TYPE, "application/json")
        .body(Full::new(Bytes::from(body.to_string())))
        .map_err(io::Error::other)?;
    let answer = sender.send_request(request).await.map_err(io::Error::other)?;
    let status = answer.status();
    let told = answer.into_body().collect().await.map_err(io::Error::other)?.to_bytes();
    let told: Value = serde_json::from_slice(&told)?;
    match status.is_success() {
        true => Ok(told),
        false => {
            Err(io::Error::other(told["detail"].as_str().unwrap_or("it answers nothing that is known").to_owned()))
        }
    }
}

impl WebAddress {
    fn read(url: &str, token: &str, trust: Trust) -> Result<Self, AttachError> {
        let unusable = |why: &str| AttachError::NotWelcome(format!("{url} can't be used: {why}"));
        let read = Url::parse(url).map_err(|error| unusable(&error.to_string()))?;
        let is_tls = match read.scheme() {
            "http" | "ws" => false,
            "https" | "wss" => true,
            _ => return Err(unusable("it begins with neither https:// nor http://")),
        };
        let host = read.host_str().ok_or_else(|| unusable("it names no server"))?.to_owned();
        let port = read.port_or_known_default().unwrap_or(if is_tls { 443 } else { 80 });
        let name = || ServerName::try_from(bare(&host).to_owned()).map_err(|error| unusable(&error.to_string()));
        let name = is_tls.then(name).transpose()?;
        let tls = name.map(|name| Tls { trust, name, connector: Arc::default() });
        Ok(Self { host, port, tls, token: token.into(), session: None })
    }

    /// What the server is called in a request: nobody says the port that goes without saying.
    fn authority(&self) -> String {
        match (&self.tls, self.port) {
            (Some(_), 443) => self.host.clone(),
            (_, port) => format!("{}:{port}", self.host),
        }
    }

    /// A stream to the server, over TLS where that is spoken.
    async fn stream(&self) -> Result<Box<dyn Duplex>, AttachError> {
        let stream = TcpStream::connect((bare(&self.host), self.port)).await.map_err(|error| not_reached(&error))?;
        let _ = stream.set_nodelay(true);
        let Some(tls) = &self.tls else { return Ok(Box::new(stream)) };
        let connector = tls.connector.get_or_try_init(|| async {
            let trust = tls.trust.clone();
            let made = tokio::task::spawn_blocking(move || trust.connector()).await.map_err(io::Error::other);
            made.and_then(|made| made).map_err(|error| AttachError::NotWelcome(error.to_string()))
        });
        let stream = connector.await?.connect(tls.name.clone(), stream).await;
        Ok(Box::new(stream.map_err(|error| not_trusted(&error))?))
    }

    /// The same for one session.
    pub fn with(&self, session: SessionId) -> Self {
        Self { session: Some(session), ..self.clone() }
    }

    /// A connection before its hello.
    pub async fn connect(&self) -> Result<(Reader, Writer), AttachError> {
        let broken = |error: &dyn fmt::Display| AttachError::Broken(error.to_string());
        let mut request =
            format!("ws://{}/api/v1/ws", self.authority()).into_client_request().map_err(|error| broken(&error))?;
        let mut token = HeaderValue::from_str(&format!("Bearer {}", self.token)).map_err(|error| broken(&error))?;
        token.set_sensitive(true);
        request.headers_mut().insert(header::AUTHORIZATION, token);
        let stream = self.stream().await?;
        match client_async_with_config(request, stream, Some(config(LONGEST_REPLY))).await {
            Ok((web, _)) => Ok(halves(web)),
            Err(Error::Http(refused)) => Err(AttachError::NotWelcome(match refused.status().as_u16() {
                401 => "it does not know this token; `neco serve token` prints the one of its machine".to_owned(),
                421 => "it does not go by this name; `neco serve --host NAME` tells it".to_owned(),
                status => format!("it answers {status}"),
            })),
            Err(Error::Io(error)) => Err(not_reached(&error)),
            Err(Error::Protocol(ProtocolError::HttparseError(_))) => Err(AttachError::NotWelcome(
                "it does not answer as a server of Neco does: is it https:// and not http://?".to_owned(),
            )),
            Err(error) => Err(not_reached(&io::Error::other(error))),
        }
    }
}

/// The name of a host, or its address, without brackets.
fn bare(host: &str) -> &str {
    host.trim_matches(['[', ']'])
}

/// Why TLS was not spoken.
fn not_trusted(error: &io::Error) -> AttachError {
    match error.get_ref().and_then(|error| error.downcast_ref::<rustls::Error>()) {
        Some(rustls::Error::InvalidCertificate(why)) => {
            AttachError::NotWelcome(format!("its certificate is not trusted: {}", distrust(why)))
        }
        Some(rustls::Error::InvalidMessage(_)) => {
            AttachError::NotWelcome("it does not speak TLS: is it http:// and not https://?".to_owned())
        }
        Some(_) | None => not_reached(error),
    }
}

/// Why a certificate is not trusted, and what helps.
fn distrust(why: &CertificateError) -> String {
    match why {
        CertificateError::Expired | CertificateError::ExpiredContext { .. } => "it has expired".to_owned(),
        CertificateError::NotValidYet | CertificateError::NotValidYetContext { .. } => {
            "it is not valid yet by the clock of this machine".to_owned()
        }
        CertificateError::NotValidForName | CertificateError::NotValidForNameContext { .. } => {
            "it is for another name than the one in the address".to_owned()
        }
        CertificateError::UnknownIssuer => {
            "nobody signed it whom this machine knows; NECO_SERVER_CA names a file with an authority of your own"
                .to_owned()
        }
        // The library has no variant for it.
        other if format!("{other:?}").contains("CaUsedAsEndEntity") => {
            "it is an authority and the server's at once: have an authority sign one for the server".to_owned()
        }
        other => other.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_leaves_the_machine_is_told_from_what_stays() {
        for url in
            ["http://127.0.0.1:7420", "http://127.8.0.1/", "http://[::1]:7420", "ws://localhost:7420", "https://a"]
        {
            assert!(!can_be_read(url), "{url}");
        }
        for url in ["http://10.0.0.1:7420", "ws://[2001:db8::1]", "http://a.example:1", "http://localhost.example"] {
            assert!(can_be_read(url), "{url}");
        }
    }
}
