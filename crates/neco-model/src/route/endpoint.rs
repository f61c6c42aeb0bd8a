//! Where a provider is reached, and the connection to it.

use std::fmt;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use http::HeaderMap;
use neco_config::section::NetworkSection;
use neco_config::without_secrets;
use reqwest::{Client, Url};
use secrecy::{ExposeSecret, SecretString};
use tokio::sync::OnceCell;

use super::keys::HIDDEN;
use crate::http::{BuildError, Props, build_client};

/// From here on a limit is none.
const LONGEST: Duration = Duration::from_secs(365 * 24 * 3600);

/// How long a call may take to get on. `None`: as long as it likes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Timeouts {
    /// To connect.
    pub connect: Option<Duration>,
    /// From asking to the first byte of the answer.
    pub first_byte: Option<Duration>,
    /// Between two pieces of an answer.
    pub idle: Option<Duration>,
    /// Between two pieces that say something: signs of life do not count.
    pub stalled: Option<Duration>,
}

/// Seconds to the first byte of an answer from elsewhere, where settings say nothing.
const FIRST_BYTE: f64 = 300.0;

/// Seconds of silence in an answer from elsewhere, where settings say nothing.
const IDLE: f64 = 120.0;

impl Timeouts {
    /// What settings say, for a server on this machine (`is_here`) or elsewhere. Zero means no limit.
    ///
    /// A connection within this machine does not break in silence, and a server here may read a long request for
    /// minutes before it says a word: as long as it may show nothing but signs of life, unless that has no limit.
    pub fn new(network: &NetworkSection, is_here: bool) -> Self {
        // A moment past this could not be told any more.
        let given = |seconds: f64| Duration::try_from_secs_f64(seconds).ok().filter(|limit| *limit < LONGEST);
        let limit = |seconds: f64| given(seconds).filter(|limit| !limit.is_zero());
        let stalled = limit(network.stall_timeout);
        let silence = |said: Option<f64>, elsewhere: f64| match said {
            Some(seconds) => limit(seconds),
            None => stalled.filter(|_| is_here).or(limit(elsewhere)),
        };
        Self {
            connect: limit(network.connect_timeout),
            first_byte: silence(network.first_byte_timeout, FIRST_BYTE),
            idle: silence(network.idle_timeout, IDLE),
            stalled,
        }
    }
}

/// Where a provider is reached. Shared by all its models and keys, so that they share connections.
pub struct Endpoint {
    /// The provider's name.
    pub provider: String,
    /// The address that paths are added to.
    pub base: Address,
    /// Sent with every request.
    pub headers: HeaderMap,
    /// How long a call may take to get on.
    pub timeouts: Timeouts,
    /// How a local server is started, for a person.
    pub start: Option<String>,
    /// The command that gets a missing model, without the model.
    pub pull: Option<String>,
    /// What a server on this machine says of itself; none is asked elsewhere.
    pub(crate) props: Option<Props>,
    /// What must not be in any message, whoever says it: the values of headers and what the address
    /// holds.
    pub(crate) secrets: Vec<SecretString>,
    pub(crate) client: OnceCell<Client>,
    /// Whether somebody has answered there since the program began.
    pub(crate) answered: AtomicBool,
}

impl Endpoint {
    /// The client, built at the first call.
    pub(crate) async fn client(&self) -> Result<&Client, BuildError> {
        self.client.get_or_try_init(|| build_client(self.base.shown(), self.timeouts.connect)).await
    }

    /// Somebody answered there.
    pub(crate) fn answers(&self) {
        self.answered.store(true, Ordering::Relaxed);
    }

    /// Whether somebody has answered there before.
    pub(crate) fn has_answered(&self) -> bool {
        self.answered.load(Ordering::Relaxed)
    }

    /// `text` without the secrets.
    pub(crate) fn redact(&self, text: String) -> String {
        self.secrets.iter().fold(text, |text, secret| text.replace(secret.expose_secret(), HIDDEN))
    }
}

impl fmt::Debug for Endpoint {
    /// Without the headers and what the address holds: people put keys into them.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Endpoint")
            .field("provider", &self.provider)
            .field("base", &self.base.shown())
            .finish_non_exhaustive()
    }
}

/// An address as it is written in the configuration.
/// A login or a query in the address is taken apart from it: what is shown, logged and compared never holds them,
/// and only the request that is sent gets them back.
#[derive(Clone, Debug, Default)]
pub struct Address {
    /// Without login and query, and without a slash at its end.
    shown: String,
    /// As it was written, where it holds more than is shown.
    whole: Option<SecretString>,
}

impl Address {
    /// Takes `text` apart. What is no address is kept as it may be shown.
    pub fn new(text: &str) -> Self {
        let text = text.trim().trim_end_matches('/');
        let Some(mut url) = parse(text) else { return Self { shown: masked(text), whole: None } };
        let plain = url.username().is_empty() && url.password().is_none() && url.query().is_none();
        if plain && url.fragment().is_none() {
            return Self { shown: text.to_owned(), whole: None };
        }
        // Only addresses without a host refuse this, and such are none here.
        let _ = url.set_username("").and_then(|()| url.set_password(None));
        url.set_query(None);
        url.set_fragment(None);
        Self { shown: url.as_str().trim_end_matches('/').to_owned(), whole: Some(text.into()) }
    }

    /// As it may be shown.
    pub fn shown(&self) -> &str {
        &self.shown
    }

    /// Whether it is one that can be asked.
    pub fn is_sound(&self) -> bool {
        parse(&self.shown).is_some()
    }

    /// Whether it brings a login, which is sent as an `authorization` header.
    pub fn has_login(&self) -> bool {
        self.whole().is_some_and(|url| !url.username().is_empty() || url.password().is_some())
    }

    /// `path` at this address, with the secrets. Not to be shown.
    pub(crate) fn join(&self, path: &str) -> String {
        let plain = format!("{}{path}", self.shown);
        let (Some(whole), Ok(mut url)) = (self.whole(), Url::parse(&plain)) else { return plain };
        // The parts are as they stood in the whole address, so they are escaped already.
        let _ = url.set_username(whole.username()).and_then(|()| url.set_password(whole.password()));
        let queries: Vec<&str> = [url.query(), whole.query()].into_iter().flatten().collect();
        let query = queries.join("&");
        url.set_query(Some(query.as_str()).filter(|query| !query.is_empty()));
        url.into()
    }

    /// The same without `end`, if it ends so.
    pub(crate) fn beside(&self, end: &str) -> Self {
        let shown = self.shown.strip_suffix(end).unwrap_or(&self.shown).to_owned();
        Self { shown, whole: self.whole.clone() }
    }

    /// What must not be in any message.
    pub(crate) fn secrets(&self) -> Vec<SecretString> {
        let Some(url) = self.whole() else { return Vec::new() };
        let mut found: Vec<String> = url.password().map(str::to_owned).into_iter().collect();
        // A login without a password is a token.
        if url.password().is_none() && !url.username().is_empty() {
            found.push(url.username().to_owned());
        }
        for pair in url.query().unwrap_or_default().split('&') {
            found.push(pair.split_once('=').map_or(pair, |(_, value)| value).to_owned());
        }
        found.extend(url.query_pairs().map(|(_, value)| value.into_owned()).collect::<Vec<_>>());
        found.into_iter().filter(|secret| !secret.is_empty()).map(Into::into).collect()
    }

    fn whole(&self) -> Option<Url> {
        parse(self.whole.as_ref()?.expose_secret())
    }
}

fn parse(text: &str) -> Option<Url> {
    Url::parse(text).ok().filter(|url| ["http", "https"].contains(&url.scheme()) && url.has_host())
}

/// What is no address may still be one with a password, but for its beginning.
fn masked(text: &str) -> String {
    match text.rsplit_once('@') {
        Some((_, host)) if !text.contains("://") => without_secrets(&format!("***@{host}")),
        Some(_) | None => without_secrets(text),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn secrets_are_taken_apart_and_put_back() {
        for (written, shown, joined) in [
            ("http://h/v1/", "http://h/v1", "http://h/v1/chat?a=1"),
            ("http://h:80/v1", "http://h:80/v1", "http://h:80/v1/chat?a=1"),
            ("https://me:p%40ss@h/v1", "https://h/v1", "https://me:p%40ss@h/v1/chat?a=1"),
            ("https://token@h", "https://h", "https://token@h/chat?a=1"),
            ("https://h/v1?key=sk%2F1", "https://h/v1", "https://h/v1/chat?a=1&key=sk%2F1"),
        ] {
            let address = Address::new(written);
            assert_eq!((address.shown(), address.join("/chat?a=1").as_str()), (shown, joined));
            assert!(address.is_sound());
            assert_eq!(address.has_login(), written.contains('@'), "{written}");
            assert!(!format!("{address:?}").contains("sk%2F1") && !format!("{address:?}").contains("p%40ss"));
        }
        let found = |written: &str| -> Vec<String> {
            Address::new(written).secrets().iter().map(|secret| secret.expose_secret().to_owned()).collect()
        };
        assert_eq!(found("https://me:pw@h/v1?key=sk%2F1&v"), ["pw", "sk%2F1", "v", "sk/1"]);
        assert_eq!(found("https://token@h"), ["token"]);
        assert!(found("https://h/v1").is_empty());
    }

    #[test]
    fn a_server_on_this_machine_may_be_silent_for_longer_unless_settings_say_otherwise() {
        let network = NetworkSection { stall_timeout: 900.0, ..NetworkSection::default() };
        let silences = |network: &NetworkSection, is_here| {
            let Timeouts { first_byte, idle, .. } = Timeouts::new(network, is_here);
            [first_byte, idle].map(|limit| limit.unwrap().as_secs())
        };
        assert_eq!(silences(&network, false), [300, 120]);
        assert_eq!(silences(&network, true), [900, 900]);
        let endless = NetworkSection { stall_timeout: 0.0, ..network.clone() };
        assert_eq!(silences(&endless, true), [300, 120], "a server that is gone is found out all the same");
        assert_eq!(Timeouts::new(&endless, true).stalled, None);
        let network = NetworkSection { first_byte_timeout: Some(7.0), idle_timeout: Some(8.0), ..network };
        assert_eq!(silences(&network, true), [7, 8]);
    }

    #[test]
    fn what_is_no_address_shows_no_password_either() {
        for written in ["me:pw@host/v1", "ftp://me:pw@host", "http://me:pw@", "host?key=pw@x"] {
            let address = Address::new(written);
            assert!(!address.is_sound() && !address.shown().contains("pw"), "{written}: {}", address.shown());
        }
    }
}
