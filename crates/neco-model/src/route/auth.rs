//! What shows a provider who asks: a key as it is, or a login that is traded for tokens.
//!
//! The token that GitHub's login gives is good for months; Copilot wants one that it is traded for
//! and that is good for minutes. The long one is kept in the keys file, the short one in memory only.

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, SystemTime};

use http::header::{ACCEPT, AUTHORIZATION};
use neco_config::section::LoginSection;
use reqwest::{Client, Response};
use serde::Deserialize;
use tokio::sync::{Mutex, OnceCell};

use super::keys::Key;
use crate::error::{ErrorKind, ModelError, Place};
use crate::http::{build_client, read_answer};

/// GitHub's own number for Copilot in editors; the trade is refused to others.
const CLIENT_ID: &str = "Iv1.b507a08c87ecfe98";
/// How long GitHub may take.
const PATIENCE: Duration = Duration::from_secs(30);
/// A token that is good for a shorter time is renewed before it is used.
const MARGIN: u64 = 60;
/// Where no lifetime is told.
const LIFETIME: Duration = Duration::from_secs(20 * 60);
/// The largest answer that is read.
const LARGEST: usize = 64 * 1024;
/// GitHub wants to know which editor asks.
pub(super) const EDITOR: (&str, &str) = ("editor-version", concat!("Neco/", env!("CARGO_PKG_VERSION")));

/// Where GitHub is, and as whom it is asked.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct LoginSettings {
    /// Where a person confirms the login.
    pub site: String,
    /// Where tokens are traded.
    pub api: String,
    /// The number of the application that a person lets in.
    pub client_id: String,
}

impl Default for LoginSettings {
    fn default() -> Self {
        Self {
            site: "https://github.com".to_owned(),
            api: "https://api.github.com".to_owned(),
            client_id: CLIENT_ID.to_owned(),
        }
    }
}

impl LoginSettings {
    pub(super) fn lay_over(&mut self, section: &LoginSection) {
        let LoginSection { site, api, client_id } = section;
        for (mine, theirs) in [(&mut self.site, site), (&mut self.api, api), (&mut self.client_id, client_id)] {
            if let Some(theirs) = theirs {
                theirs.trim_end_matches('/').clone_into(mine);
            }
        }
    }
}

/// What shows a provider who asks.
#[derive(Clone, Debug)]
pub enum Credential {
    /// Sent as it is.
    Key(Arc<Key>),
    /// Traded for a token first.
    Login(Arc<Login>),
}

impl Credential {
    /// The key itself; for a login, what it was given.
    pub fn key(&self) -> &Key {
        match self {
            Self::Key(key) => key,
            Self::Login(login) => &login.key,
        }
    }
}

/// A login and the token that it was last traded for.
pub struct Login {
    provider: String,
    key: Key,
    url: String,
    base: String,
    client: OnceCell<Client>,
    last: Mutex<Last>,
    /// How often a token was asked for, whatever came of it.
    asked: AtomicU64,
}

/// What the last trade came to.
#[derive(Default)]
struct Last {
    token: Option<Token>,
    failed: Option<ModelError>,
}

/// A token, and for how long it is used.
struct Token {
    key: Arc<Key>,
    /// The clock of the wall: it goes on while the machine sleeps.
    since: SystemTime,
    lifetime: Duration,
}

impl Login {
    /// The login of `provider` that gave `key`.
    pub fn new(provider: &str, settings: &LoginSettings, key: Key) -> Self {
        Self {
            provider: provider.to_owned(),
            key,
            url: format!("{}/copilot_internal/v2/token", settings.api),
            base: settings.api.clone(),
            client: OnceCell::new(),
            last: Mutex::default(),
            asked: AtomicU64::new(0),
        }
    }

    /// A token that is good for a while; a new one when the last one no longer is.
    /// Fails when none is given; the text says what to do.
    pub async fn token(&self) -> Result<Arc<Key>, ModelError> {
        // Held while a token is fetched: all who wait use the same one, or hear of the same failure
        // rather than ask one after the other.
        let asked = self.asked.load(Ordering::Acquire);
        let held = tokio::time::timeout(PATIENCE + PATIENCE, self.last.lock()).await;
        let mut last = held.map_err(|_| self.silent())?;
        if let Some(token) = last.token.as_ref().filter(|token| token.is_good()) {
            return Ok(token.key.clone());
        }
        if let Some(failed) = last.failed.as_ref().filter(|_| self.asked.load(Ordering::Acquire) != asked) {
            return Err(failed.clone());
        }
        let fetched = self.fetch().await;
        self.asked.fetch_add(1, Ordering::Release);
        match fetched {
            Ok(token) => {
                last.failed = None;
                Ok(last.token.insert(token).key.clone())
            }
            Err(error) => {
                last.failed = Some(error.clone());
                Err(error)
            }
        }
    }

    /// A token other than `refused`, which was not accepted.
    /// Fails when none is given.
    pub async fn token_instead_of(&self, refused: &Arc<Key>) -> Result<Arc<Key>, ModelError> {
        {
            let mut last = self.last.lock().await;
            // Another call may have got a new one meanwhile.
            if last.token.as_ref().is_some_and(|token| Arc::ptr_eq(&token.key, refused)) {
                last.token = None;
            }
        }
        self.token().await
    }

    async fn fetch(&self) -> Result<Token, ModelError> {
        let fetched = tokio::time::timeout(PATIENCE, self.ask()).await;
        let (status, body) = fetched.unwrap_or_else(|_| Err(self.silent()))?;
        if status != 200 {
            return Err(self.refused(status, &body));
        }
        let given: Option<Given> = serde_json::from_slice(&body).ok();
        let token = given.and_then(|given| Some((self.key.with_secret(&given.token)?, given.lifetime())));
        let (key, lifetime) = token.ok_or_else(|| {
            let text = format!("{} gave no token for the login of {}", self.base, self.provider);
            ModelError::new(ErrorKind::ServerError, Place::Http, text)
        })?;
        Ok(Token { key: Arc::new(key), since: SystemTime::now(), lifetime })
    }

    fn silent(&self) -> ModelError {
        let text = format!("{} did not answer for {} seconds", self.base, PATIENCE.as_secs());
        ModelError::new(ErrorKind::Timeout, Place::Http, text)
    }

    async fn ask(&self) -> Result<(u16, Vec<u8>), ModelError> {
        let unreachable = |cause: &str| {
            let text = format!("{} can't be reached for a token ({cause}): check the network", self.base);
            ModelError::new(ErrorKind::Unreachable, Place::Http, self.key.redact(&text))
        };
        let client = self.client.get_or_try_init(|| build_client(&self.base, Some(PATIENCE))).await;
        let request = client.map_err(|error| unreachable(&error.to_string()))?.get(&self.url);
        let (name, editor) = EDITOR;
        let request = request
            .header(AUTHORIZATION, self.key.header_with("token"))
            .header(ACCEPT, "application/json")
            .header(name, editor);
        let sent: Result<Response, reqwest::Error> = request.send().await;
        let response = sent.map_err(|error| unreachable(&error.without_url().to_string()))?;
        Ok((response.status().as_u16(), read_answer(response, LARGEST).await))
    }

    fn refused(&self, status: u16, body: &[u8]) -> ModelError {
        let again = format!("log in again with `neco auth login {}`", self.provider);
        let (kind, text) = match status {
            401 => (ErrorKind::Auth, format!("GitHub no longer accepts the login of {}: {again}", self.provider)),
            403 | 404 => (ErrorKind::Permission, format!("this GitHub account may not use Copilot, or {again}")),
            429 => (ErrorKind::RateLimit, "GitHub limits the rate of tokens".to_owned()),
            500.. => (ErrorKind::ServerError, "GitHub failed to give a token".to_owned()),
            _ => (ErrorKind::InvalidRequest, "GitHub gave no token".to_owned()),
        };
        let text = format!("{text} (HTTP {status}{})", said(body).map(|said| format!(": {said}")).unwrap_or_default());
        let mut error = ModelError::new(kind, Place::Http, self.key.redact(&text));
        error.status = Some(status);
        error
    }
}

impl fmt::Debug for Login {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Login({} of {})", self.key, self.provider)
    }
}

impl Token {
    /// A clock that was set back tells nothing; then it is not.
    fn is_good(&self) -> bool {
        self.since.elapsed().is_ok_and(|age| age < self.lifetime)
    }
}

#[derive(Deserialize)]
struct Given {
    token: String,
    /// Seconds until a new one should be fetched, by nobody's clock.
    refresh_in: Option<f64>,
    /// Seconds of the clock of the wall.
    expires_at: Option<f64>,
}

impl Given {
    fn lifetime(&self) -> Duration {
        let until = |moment: f64| {
            let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
            moment - now.as_secs_f64() - MARGIN as f64
        };
        let seconds = self.refresh_in.or_else(|| self.expires_at.map(until));
        seconds.map_or(LIFETIME, |seconds| Duration::try_from_secs_f64(seconds).unwrap_or_default())
    }
}

/// GitHub's own words.
fn said(body: &[u8]) -> Option<String> {
    let body: serde_json::Value = serde_json::from_slice(body).ok()?;
    let words = body.pointer("/error_details/message").or_else(|| body.get("message"))?.as_str()?;
    Some(words.chars().take(300).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_token_lives_as_long_as_is_told() {
        let given = |text: &str| serde_json::from_str::<Given>(text).unwrap().lifetime();
        assert_eq!(given(r#"{"token":"t","refresh_in":1500,"expires_at":1}"#), Duration::from_secs(1500));
        assert_eq!(given(r#"{"token":"t","expires_at":1}"#), Duration::ZERO);
        assert_eq!(given(r#"{"token":"t"}"#), LIFETIME);
        let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap().as_secs();
        let lifetime = given(&format!(r#"{{"token":"t","expires_at":{}}}"#, now + 1000)).as_secs();
        assert!((900..=940).contains(&lifetime), "{lifetime}");
    }

    #[test]
    fn what_github_says_is_told_without_the_token() {
        let key = Key::new("gho_secret_secret", "the login").unwrap();
        let login = Login::new("github-copilot", &LoginSettings::default(), key);
        let body = br#"{"message":"no","error_details":{"message":"gho_secret_secret has no seat"}}"#;
        let error = login.refused(403, body);
        assert_eq!(
            error.message,
            "this GitHub account may not use Copilot, or log in again with `neco auth login github-copilot` (HTTP 403: [key] has no seat)"
        );
        assert!(!error.retryable() && login.refused(503, b"").retryable());
        assert_eq!(format!("{login:?}"), "Login(the key in the login of github-copilot)");
    }
}
