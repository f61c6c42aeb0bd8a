//! What is asked, and what comes back.

use std::time::Duration;

use url::Url;

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
    #[must_use]
    pub fn get(url: Url, time: Duration, bytes: usize) -> Self {
        let (headers, key, body, open_host) = (Vec::new(), None, None, None);
        Self { method: Method::Get, url, headers, key, body, open_host, time, bytes }
    }
}
