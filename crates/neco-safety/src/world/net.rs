//! The network as tools are handed it: what is asked, and what comes back.

use std::fmt;
use std::time::Duration;

use neco_proto::ErrorCode;
use url::Url;

use super::process::BoxFuture;

/// The network, as tools reach it: it looks at where an address leads before it asks there.
pub trait Net: fmt::Debug + Send + Sync {
    /// Whether there is a key of this name.
    fn has_key(&self, name: &str) -> bool;

    /// Looks at an address without asking anybody, so that nobody is bothered about one that would be refused.
    /// Fails when it can't be asked, whatever it would answer.
    fn check(&self, url: &Url) -> Result<(), NetError>;

    /// Whether the person opened the host of an address themselves, although it is a private one.
    fn is_opened(&self, url: &Url) -> bool;

    /// Asks. Dropping the future ends it.
    /// Fails when no answer came; an answer that says no is one.
    fn send(&self, request: Request) -> BoxFuture<'_, Result<Answer, NetError>>;
}

/// How something is asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Method {
    /// For what is there.
    Get,
    /// With a body.
    Post,
}

/// A key that goes along in a header; it is known by name and kept by the network.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KeyHeader {
    /// The name of the key.
    pub key: &'static str,
    /// The header it goes into.
    pub header: &'static str,
    /// What stands before it there, such as `Bearer `.
    pub before: &'static str,
}

/// What is asked.
#[derive(Clone, Debug)]
pub struct Request {
    /// How.
    pub method: Method,
    /// Where.
    pub url: Url,
    /// Headers besides those that every request has.
    pub headers: Vec<(&'static str, String)>,
    /// A key that goes along.
    pub key: Option<KeyHeader>,
    /// The body.
    pub body: Option<String>,
    /// A host that the person named for this very purpose, so that it may be a private one.
    pub open_host: Option<String>,
    /// How long it may take until the answer is there whole.
    pub time: Duration,
    /// Bytes of the answer that are read at most.
    pub bytes: usize,
}

/// What came back.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Answer {
    /// Where it came from in the end.
    pub url: Url,
    /// The status.
    pub status: u16,
    /// What kind of content the server says it is.
    pub content_type: Option<String>,
    /// How long the server asks to be left alone.
    pub retry_after: Option<String>,
    /// Where on another host it is instead; then there is no body.
    pub elsewhere: Option<Url>,
    /// The content.
    pub body: Vec<u8>,
    /// Whether there was more of it.
    pub cut: bool,
}

impl Request {
    /// A plain request for what is at an address.
    pub fn get(url: Url, time: Duration, bytes: usize) -> Self {
        let (headers, key, body, open_host) = (Vec::new(), None, None, None);
        Self { method: Method::Get, url, headers, key, body, open_host, time, bytes }
    }
}

/// Why an address could not be asked. The words hold no address in full: those may hold keys.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[allow(missing_docs, reason = "the message says what each field is")]
pub enum NetError {
    /// No web address.
    #[error("only http and https addresses can be fetched, not {0}")]
    Scheme(String),
    /// A name and a password in the address.
    #[error("the address holds a login; those are not sent: leave it out")]
    Login,
    /// No host in the address, or none that there could be.
    #[error("the address has no host that can be reached")]
    NoHost,
    /// This machine or a private network.
    #[error(
        "{host} is on this machine or in a private network, which is not reached; the user opens it with \
         `private_hosts = [\"{host}\"]` under [tools.web_fetch] in config.toml"
    )]
    Private {
        /// The host, with its port where that is not the usual one.
        host: String,
    },
    /// The name stands for nothing.
    #[error("there is no host {0}, or the network is down")]
    UnknownHost(String),
    /// No connection, or it broke.
    #[error("{host} can't be reached: {cause}")]
    Unreachable {
        host: String,
        /// Why, as far as it is known.
        cause: String,
    },
    /// It took too long.
    #[error("{host} did not answer within {seconds} s")]
    TimedOut { host: String, seconds: u64 },
    /// It sends from one place to the next without end.
    #[error("{0} redirects without end")]
    Circle(String),
    /// The key that is to be sent is not there, or can't be sent.
    #[error("there is no usable key for it")]
    NoKey,
    /// Certificates of this machine, or a proxy, that can't be used.
    #[error("the network can't be used: {0}")]
    Setup(String),
}

impl NetError {
    /// The stable code.
    pub fn code(&self) -> ErrorCode {
        match self {
            Self::Scheme(_) | Self::Login | Self::NoHost => ErrorCode::InvalidArguments,
            Self::Private { .. } => ErrorCode::BlockedByPolicy,
            Self::TimedOut { .. } => ErrorCode::ToolTimedOut,
            Self::UnknownHost(_) | Self::Unreachable { .. } | Self::Circle(_) | Self::NoKey | Self::Setup(_) => {
                ErrorCode::ToolFailed
            }
        }
    }
}
