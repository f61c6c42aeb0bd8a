//! The way to a server elsewhere: a WebSocket with a token.

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
use serde_json::Value;
use tokio::net::TcpStream;
use tokio_tungstenite::client_async_with_config;
use tokio_tungstenite::tungstenite::Error;
use tokio_tungstenite::tungstenite::client::IntoClientRequest;
use url::{Host, Url};

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
    token: Arc<str>,
    /// The session that is talked about, if it is only one.
    pub session: Option<SessionId>,
}

/// Without the token.
impl fmt::Debug for WebAddress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("WebAddress").field("host", &self.host).field("port", &self.port).finish_non_exhaustive()
    }
}

/// Reaches the program of a server at `url` with a token.
///
/// # Errors
/// When it can't be reached, or the token is wrong.
pub async fn connect(url: &str, token: &str) -> Result<RemoteClient, AttachError> {
    RemoteClient::at(Address::Web(WebAddress::read(url, token)?)).await
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
pub async fn post(url: &str, token: &str, path: &str, body: &Value) -> io::Result<Value> {
    let late = || io::Error::new(io::ErrorKind::TimedOut, format!("{url} does not answer"));
    tokio::time::timeout(PATIENCE, ask(url, token, path, body)).await.map_err(|_| late())?
}

async fn ask(url: &str, token: &str, path: &str, body: &Value) -> io::Result<Value> {
    let web = WebAddress::read(url, token).map_err(io::Error::other)?;
    let stream = TcpStream::connect((web.host.trim_matches(['[', ']']), web.port)).await?;
    let (mut sender, connection) = http1::handshake(TokioIo::new(stream)).await.map_err(io::Error::other)?;
    tokio::spawn(connection);
    let request = Request::post(path)
        .header(header::HOST, format!("{}:{}", web.host, web.port))
        .header(header::AUTHORIZATION, format!("Bearer {token}"))
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
    fn read(url: &str, token: &str) -> Result<Self, AttachError> {
        let unusable = |why: &str| AttachError::NotWelcome(format!("{url} can't be used: {why}"));
        let read = Url::parse(url).map_err(|error| unusable(&error.to_string()))?;
        if !matches!(read.scheme(), "http" | "ws") {
            return Err(unusable(
                "only http:// is spoken; reach a server elsewhere with `ssh -L 7420:127.0.0.1:7420 HOST`",
            ));
        }
        let host = read.host_str().ok_or_else(|| unusable("it names no server"))?.to_owned();
        let port = read.port_or_known_default().unwrap_or(80);
        Ok(Self { host, port, token: token.into(), session: None })
    }

    /// The same for one session.
    pub fn with(&self, session: SessionId) -> Self {
        Self { session: Some(session), ..self.clone() }
    }

    /// A connection before its hello.
    pub async fn connect(&self) -> Result<(Reader, Writer), AttachError> {
        let broken = |error: &dyn fmt::Display| AttachError::Broken(error.to_string());
        let mut request = format!("ws://{}:{}/api/v1/ws", self.host, self.port)
            .into_client_request()
            .map_err(|error| broken(&error))?;
        let mut token = HeaderValue::from_str(&format!("Bearer {}", self.token)).map_err(|error| broken(&error))?;
        token.set_sensitive(true);
        request.headers_mut().insert(header::AUTHORIZATION, token);
        let address = (self.host.trim_matches(['[', ']']), self.port);
        let stream = TcpStream::connect(address).await.map_err(|error| not_reached(&error))?;
        let _ = stream.set_nodelay(true);
        let stream: Box<dyn Duplex> = Box::new(stream);
        match client_async_with_config(request, stream, Some(config(LONGEST_REPLY))).await {
            Ok((web, _)) => Ok(halves(web)),
            Err(Error::Http(refused)) => Err(AttachError::NotWelcome(match refused.status().as_u16() {
                401 => "it does not know this token; `neco serve token` prints the one of its machine".to_owned(),
                421 => "it does not go by this name; `neco serve --host NAME` tells it".to_owned(),
                status => format!("it answers {status}"),
            })),
            Err(Error::Io(error)) => Err(not_reached(&error)),
            Err(error) => Err(not_reached(&io::Error::other(error))),
        }
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
