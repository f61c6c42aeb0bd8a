//! Where a provider is reached, and the connection to it.

use std::fmt;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use http::HeaderMap;
use neco_config::section::NetworkSection;
use reqwest::Client;
use secrecy::{ExposeSecret, SecretString};
use tokio::sync::OnceCell;

use super::address::Address;
use super::keys::HIDDEN;
use crate::http::{Props, build_client};

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

impl From<&NetworkSection> for Timeouts {
    /// Zero means no limit.
    fn from(network: &NetworkSection) -> Self {
        // A moment past this could not be told any more.
        let given = |seconds: f64| Duration::try_from_secs_f64(seconds).ok().filter(|limit| *limit < LONGEST);
        let limit = |seconds: f64| given(seconds).filter(|limit| !limit.is_zero());
        Self {
            connect: limit(network.connect_timeout),
            first_byte: limit(network.first_byte_timeout),
            idle: limit(network.idle_timeout),
            stalled: limit(network.stall_timeout),
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
    pub(crate) async fn client(&self) -> Result<&Client, String> {
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
