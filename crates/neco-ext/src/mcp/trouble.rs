//! What goes wrong between us and the address of a server, in plain words.

use std::error::Error;
use std::io;
use std::time::Duration;

use http::StatusCode;
use neco_proto::visible::visible_line;
use url::{Host, Url};

use super::error::McpError;

/// Bytes of an answer that is read.
pub(super) const LONGEST: usize = 8 * 1024 * 1024;

/// Characters of what a server says that are shown.
const SHOWN: usize = 300;

/// What goes wrong between us and the address of a server.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub(super) enum Trouble {
    #[error("no machine is known by the name {0}")]
    UnknownHost(String),
    #[error("nothing answers at {address} ({cause})")]
    Unreachable { address: String, cause: String },
    #[error("the certificate of {address} is not trusted: {cause}")]
    Certificate { address: String, cause: String },
    #[error("what answers at {0} does not speak TLS; an address that begins with http:// may be meant")]
    NoTls(String),
    #[error("the connection broke before the answer was whole ({0})")]
    Broken(String),
    #[error("it did not answer within {} s", .0.as_secs())]
    Silent(Duration),
    #[error("it wants a login")]
    NeedsLogin,
    #[error("it does not accept the token or the headers of the settings (HTTP 401)")]
    TokenRefused,
    #[error("it does not allow this (HTTP 403){0}")]
    Forbidden(String),
    #[error("there is no MCP server at this address (HTTP {0})")]
    NoServer(u16),
    #[error("what answers at this address is a web page, not an MCP server")]
    WebPage,
    #[error("it has moved to {0}; write that as its `url`")]
    Moved(String),
    #[error(
        "it speaks only the old transport with two addresses (HTTP+SSE), which is not supported; most of these servers \
         answer at another address too, often with /mcp in place of /sse"
    )]
    OldTransport,
    #[error("its answer is longer than {} MB", LONGEST / 1024 / 1024)]
    TooLong,
    #[error("its answer can't be understood: {0}")]
    Unreadable(String),
    #[error("it failed (HTTP {status}){said}")]
    Status { status: u16, said: String },
    /// The server does not know the session any more.
    #[error("it has forgotten the session")]
    Forgotten,
    /// A login did not work out; says why.
    #[error("{0}")]
    Login(String),
    /// The settings can't be used; says why.
    #[error("{0}")]
    Setup(String),
}

impl Trouble {
    /// An answer that is no success; `said` is what stands in it.
    pub(super) fn of_status(status: StatusCode, said: &str) -> Self {
        let said = if said.is_empty() { String::new() } else { format!(": {said}") };
        match status.as_u16() {
            403 => Self::Forbidden(said),
            status @ (404 | 405 | 410) => Self::NoServer(status),
            status => Self::Status { status, said },
        }
    }

    /// A request that could not be sent to `url`, or got no answer.
    pub(super) async fn unsent(error: reqwest::Error, url: &Url) -> Self {
        let error = error.without_url();
        let (address, cause) = (url.origin().ascii_serialization(), root_cause(&error));
        match tls_error(&error) {
            Some(rustls::Error::InvalidCertificate(_)) => return Self::Certificate { address, cause },
            Some(rustls::Error::InvalidMessage(_)) => return Self::NoTls(address),
            Some(_) | None if error.is_connect() => {}
            Some(_) | None => return Self::Broken(cause),
        }
        if let (Some(Host::Domain(name)), Some(port)) = (url.host(), url.port_or_known_default())
            && tokio::net::lookup_host((name, port)).await.is_err()
        {
            return Self::UnknownHost(name.to_owned());
        }
        Self::Unreachable { address, cause }
    }

    /// Whether it says nothing against a server that does not know the question.
    pub(super) fn may_be_of_the_question(&self) -> bool {
        match self {
            Self::Broken(_)
            | Self::Silent(_)
            | Self::NoServer(_)
            | Self::Moved(_)
            | Self::TooLong
            | Self::Unreadable(_)
            | Self::Status { .. }
            | Self::Forgotten => true,
            Self::UnknownHost(_)
            | Self::Unreachable { .. }
            | Self::Certificate { .. }
            | Self::NoTls(_)
            | Self::NeedsLogin
            | Self::TokenRefused
            | Self::Forbidden(_)
            | Self::WebPage
            | Self::OldTransport
            | Self::Login(_)
            | Self::Setup(_) => false,
        }
    }

    /// The same as what came of what was wanted of a server.
    pub(super) fn of(self, server: &str) -> McpError {
        let server = server.to_owned();
        match self {
            Self::NeedsLogin => McpError::NeedsLogin(server),
            Self::Login(why) => McpError::Refused { server, why },
            trouble => McpError::Connection { server, why: trouble.to_string() },
        }
    }
}

/// Words from outside in one line, no longer than they may be.
pub(super) fn shown(text: &str) -> String {
    let beginning: String = text.chars().take(SHOWN).collect();
    let ending = if beginning.len() < text.len() { "…" } else { "" };
    format!("{}{ending}", visible_line(&beginning))
}

fn root_cause(error: &(dyn Error + 'static)) -> String {
    let last = std::iter::successors(Some(error), |error| (*error).source()).last();
    shown(&last.unwrap_or(error).to_string())
}

/// What went wrong with the encryption, if that is it.
fn tls_error<'a>(error: &'a (dyn Error + 'static)) -> Option<&'a rustls::Error> {
    std::iter::successors(Some(error), |error| (*error).source()).find_map(|error| {
        // What an error of the system holds is not its source.
        let held = error.downcast_ref::<io::Error>().and_then(io::Error::get_ref);
        held.and_then(|held| held.downcast_ref()).or_else(|| error.downcast_ref())
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_broken_certificate_is_found_inside_an_error_of_the_system() {
        let tls = rustls::Error::InvalidCertificate(rustls::CertificateError::UnknownIssuer);
        let error = io::Error::new(io::ErrorKind::InvalidData, tls);
        assert!(matches!(tls_error(&error), Some(rustls::Error::InvalidCertificate(_))));
        assert!(tls_error(&io::Error::other("another")).is_none());
    }

    #[test]
    fn words_from_outside_are_one_short_line() {
        assert_eq!(shown("a\nb\u{1b}[31m"), "a⏎b\\x1b[31m");
        assert!(shown(&"x".repeat(1000)).chars().count() <= SHOWN + 1);
    }

    #[test]
    fn each_kind_of_refusal_has_its_words() {
        let words = |status: u16| Trouble::of_status(StatusCode::from_u16(status).unwrap(), "no").to_string();
        assert_eq!(words(404), "there is no MCP server at this address (HTTP 404)");
        assert_eq!(words(403), "it does not allow this (HTTP 403): no");
        assert_eq!(words(500), "it failed (HTTP 500): no");
    }
}
