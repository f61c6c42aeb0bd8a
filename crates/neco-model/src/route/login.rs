//! Logging in at GitHub with a code that a person types into a browser, on this machine or another.

use std::time::Duration;

use http::header::{ACCEPT, CONTENT_TYPE};
use reqwest::Client;
use secrecy::{ExposeSecret, SecretString};
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};
use tokio::time::{Instant, sleep, timeout};

use super::auth::LoginSettings;
use crate::http::{build_client, read_answer};

const GRANT: &str = "urn:ietf:params:oauth:grant-type:device_code";
/// Enough to see whether the account may use Copilot.
const SCOPE: &str = "read:user";
/// How long GitHub may take for one answer.
const PATIENCE: Duration = Duration::from_secs(30);
/// The wait between two questions where none is told.
const INTERVAL: Duration = Duration::from_secs(5);
/// How much longer it becomes when we ask too often.
const SLOWER: Duration = Duration::from_secs(5);
/// Asking without any wait would be rude to any server.
const SHORTEST: Duration = Duration::from_millis(50);
/// No code is good for longer.
const LONGEST: Duration = Duration::from_secs(3600);
/// A network that fails as often in a row is gone.
const FAILURES: u32 = 5;
const LARGEST: usize = 64 * 1024;

/// Why a login failed. The text never holds a secret.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[allow(missing_docs, reason = "the message says what each field is")]
pub enum LoginError {
    /// The person said no.
    #[error("the login was denied in the browser")]
    Denied,
    /// The person took too long.
    #[error("the code is no longer good: start the login again")]
    Expired,
    /// GitHub does not want this login.
    #[error("the login is refused: {0}")]
    Refused(String),
    /// GitHub does not answer.
    #[error("{address} can't be reached: {cause}")]
    Unreachable { address: String, cause: String },
}

/// A login that waits for a person.
pub struct DeviceLogin {
    /// What the person types.
    pub user_code: String,
    /// Where.
    pub verification_uri: String,
    device_code: SecretString,
    until: Instant,
    interval: Duration,
    site: Site,
}

/// Where GitHub is.
struct Site {
    client: Client,
    settings: LoginSettings,
}

/// What one question came to.
#[derive(Debug, PartialEq)]
enum Poll {
    Pending,
    SlowDown(Option<Duration>),
}

impl DeviceLogin {
    /// Asks for a code.
    /// Fails when GitHub gives none.
    pub async fn begin(settings: &LoginSettings) -> Result<Self, LoginError> {
        let client = build_client(&settings.site, Some(PATIENCE)).await;
        let client = client
            .map_err(|error| LoginError::Unreachable { address: settings.site.clone(), cause: error.to_string() })?;
        let site = Site { client, settings: settings.clone() };
        let body = json!({ "client_id": settings.client_id, "scope": SCOPE });
        let code: Code = match site.ask("/login/device/code", &body).await? {
            Answer::Given(code) => code,
            Answer::Refused(refusal) => return Err(LoginError::Refused(refusal.words())),
        };
        Ok(Self {
            user_code: code.user_code,
            verification_uri: code.verification_uri,
            device_code: code.device_code.into(),
            until: Instant::now() + seconds(code.expires_in).unwrap_or(LONGEST).min(LONGEST),
            interval: code.interval.and_then(seconds).unwrap_or(INTERVAL),
            site,
        })
    }

    /// For how long the code is good.
    pub fn good_for(&self) -> Duration {
        self.until.saturating_duration_since(Instant::now())
    }

    /// Waits for the person; gives GitHub's token. Dropping it ends the login.
    /// Fails when the person says no or takes too long, or GitHub does.
    pub async fn wait(self) -> Result<SecretString, LoginError> {
        let body = json!({
            "client_id": self.site.settings.client_id,
            "device_code": self.device_code.expose_secret(),
            "grant_type": GRANT,
        });
        let (mut interval, mut failures) = (self.interval, 0);
        loop {
            sleep(interval.max(SHORTEST).min(self.good_for())).await;
            if self.good_for().is_zero() {
                return Err(LoginError::Expired);
            }
            match self.site.ask::<Granted>("/login/oauth/access_token", &body).await {
                Ok(Answer::Given(granted)) => return Ok(granted.access_token.into()),
                Ok(Answer::Refused(refusal)) => {
                    failures = 0;
                    interval = after(&refusal.poll()?, interval);
                }
                // A person takes minutes; a network that is away for a moment must not cost them the login.
                Err(error @ LoginError::Unreachable { .. }) => {
                    failures += 1;
                    if failures >= FAILURES {
                        return Err(error);
                    }
                }
                Err(error) => return Err(error),
            }
        }
    }
}

impl Site {
    async fn ask<T: DeserializeOwned>(&self, path: &str, body: &Value) -> Result<Answer<T>, LoginError> {
        let unreachable = |cause: String| LoginError::Unreachable { address: self.settings.site.clone(), cause };
        let request = self
            .client
            .post(format!("{}{path}", self.settings.site))
            .header(ACCEPT, "application/json")
            .header(CONTENT_TYPE, "application/json")
            .body(body.to_string());
        let asked = async {
            let response = request.send().await.map_err(|error| error.without_url().to_string())?;
            Ok((response.status(), read_answer(response, LARGEST).await))
        };
        let answer = timeout(PATIENCE, asked).await.unwrap_or_else(|_| Err("no answer".to_owned()));
        let (status, body) = answer.map_err(unreachable)?;
        if let Ok(given) = serde_json::from_slice(&body) {
            return Ok(Answer::Given(given));
        }
        match serde_json::from_slice(&body) {
            Ok(refusal) => Ok(Answer::Refused(refusal)),
            Err(_) => Err(unreachable(format!("it answers with HTTP {}", status.as_u16()))),
        }
    }
}

enum Answer<T> {
    Given(T),
    Refused(Refusal),
}

#[derive(Deserialize)]
struct Code {
    device_code: String,
    user_code: String,
    verification_uri: String,
    expires_in: f64,
    interval: Option<f64>,
}

#[derive(Deserialize)]
struct Granted {
    access_token: String,
}

#[derive(Deserialize)]
struct Refusal {
    error: String,
    error_description: Option<String>,
    interval: Option<f64>,
}

impl Refusal {
    /// Whether to ask again.
    fn poll(&self) -> Result<Poll, LoginError> {
        match self.error.as_str() {
            "authorization_pending" => Ok(Poll::Pending),
            "slow_down" => Ok(Poll::SlowDown(self.interval.and_then(seconds))),
            "expired_token" | "token_expired" => Err(LoginError::Expired),
            "access_denied" => Err(LoginError::Denied),
            _ => Err(LoginError::Refused(self.words())),
        }
    }

    fn words(&self) -> String {
        self.error_description.as_deref().unwrap_or(&self.error).chars().take(300).collect()
    }
}

fn after(poll: &Poll, interval: Duration) -> Duration {
    match poll {
        Poll::Pending => interval,
        Poll::SlowDown(told) => told.unwrap_or(interval + SLOWER),
    }
}

fn seconds(number: f64) -> Option<Duration> {
    Duration::try_from_secs_f64(number).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn poll(error: &str, interval: Option<f64>) -> Result<Poll, LoginError> {
        Refusal { error: error.to_owned(), error_description: Some("why".to_owned()), interval }.poll()
    }

    #[test]
    fn every_refusal_has_its_meaning() {
        assert_eq!(poll("authorization_pending", None), Ok(Poll::Pending));
        assert_eq!(poll("expired_token", None), Err(LoginError::Expired));
        assert_eq!(poll("access_denied", None), Err(LoginError::Denied));
        assert_eq!(poll("device_flow_disabled", None), Err(LoginError::Refused("why".to_owned())));
        let interval = |poll| after(&poll, Duration::from_secs(5));
        assert_eq!(interval(poll("slow_down", None).unwrap()), Duration::from_secs(10));
        assert_eq!(interval(poll("slow_down", Some(12.0)).unwrap()), Duration::from_secs(12));
        assert_eq!(interval(poll("authorization_pending", None).unwrap()), Duration::from_secs(5));
    }
}
