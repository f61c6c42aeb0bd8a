//! A webhook, as Standard Webhooks have it: what is sent, how it is signed, how often it is tried.

use std::ffi::OsString;
use std::time::Duration;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use hmac::{Hmac, KeyInit, Mac};
use jiff::Timestamp;
use neco_proto::app::AppError;
use neco_safety::world::net::{Answer, Method, Net, NetError, Request};
use neco_sandbox::{LocalNet, NetSettings, ProxyRules};
use secrecy::{ExposeSecret, SecretSlice};
use serde_json::json;
use sha2::Sha256;
use url::Url;
use uuid::Uuid;

use super::watch::Notice;
use crate::error::failed;

/// How long is waited before it is tried again, each time.
const PAUSES: [Duration; 5] = [
    Duration::from_secs(1),
    Duration::from_secs(5),
    Duration::from_secs(30),
    Duration::from_secs(120),
    Duration::from_secs(600),
];

/// How long an answer may take.
const PATIENCE: Duration = Duration::from_secs(15);

/// Bytes of an answer that are read: nobody looks at them.
const MOST: usize = 1024;

/// What stands before a secret.
const PREFIX: &str = "whsec_";

/// An address that is told, and the secret that signs what it gets.
pub(super) struct Webhook {
    url: Url,
    secret: Option<SecretSlice<u8>>,
    net: LocalNet,
}

impl Webhook {
    /// An address as the settings have it; the secret stands in a variable.
    pub fn new(
        address: &str,
        secret_env: Option<&str>,
        is_private: bool,
        environment: &[(OsString, OsString)],
    ) -> Result<Self, AppError> {
        let url = Url::parse(address).map_err(|error| failed(format!("its address can't be read: {error}")))?;
        let host = url.host_str().unwrap_or_default().to_owned();
        let secret = secret_env.map(|name| secret(name, environment)).transpose()?;
        let net = LocalNet::new(NetSettings {
            private_hosts: if is_private { vec![host] } else { Vec::new() },
            proxy: ProxyRules::of_variables(environment),
            ..NetSettings::default()
        });
        Ok(Self { url, secret, net })
    }

    /// Tells it, and again where nobody took it, for a while.
    pub async fn tell(&self, notice: &Notice) -> Result<(), AppError> {
        let id = format!("msg_{}", Uuid::now_v7().simple());
        let body = json!({ "type": notice.what.event(), "timestamp": Timestamp::now(), "data": notice }).to_string();
        let mut pauses = PAUSES.into_iter();
        loop {
            let error = match self.net.send(self.request(&id, &body)).await {
                Ok(Answer { status: 200..=299, .. }) => return Ok(()),
                Ok(answer) if !is_worth_a_try(answer.status) => return Err(answered(answer.status)),
                Ok(answer) => answered(answer.status),
                Err(NetError::Private { host }) => {
                    let words = format!("{host} is on this machine or in a private network, which is not told");
                    return Err(failed(words).hint("`webhook_private = true` under [notifications] allows it."));
                }
                Err(error @ (NetError::Scheme(_) | NetError::Login | NetError::NoHost)) => return Err(failed(error)),
                Err(error) => failed(error),
            };
            let Some(pause) = pauses.next() else { return Err(error) };
            tracing::debug!(%error, "the webhook is tried again");
            tokio::time::sleep(pause).await;
        }
    }

    /// Every try is signed for its own moment, and has the same id.
    fn request(&self, id: &str, body: &str) -> Request {
        let at = Timestamp::now().as_second();
        let mut headers = vec![
            ("content-type", "application/json".to_owned()),
            ("webhook-id", id.to_owned()),
            ("webhook-timestamp", at.to_string()),
        ];
        if let Some(secret) = &self.secret {
            headers.push(("webhook-signature", signature(secret.expose_secret(), id, at, body)));
        }
        let mut request = Request::get(self.url.clone(), PATIENCE, MOST);
        (request.method, request.headers, request.body) = (Method::Post, headers, Some(body.to_owned()));
        request
    }
}

fn answered(status: u16) -> AppError {
    failed(format!("it answers {status}"))
}

/// Whether an answer says that it may be taken another time.
fn is_worth_a_try(status: u16) -> bool {
    matches!(status, 408 | 425 | 429 | 500..)
}

fn secret(name: &str, environment: &[(OsString, OsString)]) -> Result<SecretSlice<u8>, AppError> {
    let found = environment.iter().find(|(own, _)| own.to_str() == Some(name)).and_then(|(_, value)| value.to_str());
    let found = found.map(str::trim).filter(|value| !value.is_empty());
    let found = found.ok_or_else(|| failed(format!("the variable {name} with its secret is not set")))?;
    let coded = found.strip_prefix(PREFIX).unwrap_or(found);
    let secret =
        STANDARD.decode(coded).map_err(|_| failed(format!("the secret in {name} is not {PREFIX} and base64")))?;
    Ok(secret.into())
}

fn signature(secret: &[u8], id: &str, at: i64, body: &str) -> String {
    // Keys of any length are good.
    let Ok(mut mac) = Hmac::<Sha256>::new_from_slice(secret) else { return String::new() };
    mac.update(format!("{id}.{at}.{body}").as_bytes());
    format!("v1,{}", STANDARD.encode(mac.finalize().into_bytes()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_sent_is_signed_as_the_standard_says() {
        let environment = [("HOOK".into(), "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw".into())];
        let secret = secret("HOOK", &environment).unwrap();
        let body = r#"{"test": 2432232314}"#;
        let signed = signature(secret.expose_secret(), "msg_p5jXN8AQM9LWM0D4loKWxJek", 1_614_265_330, body);
        assert_eq!(signed, "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=");
    }

    #[test]
    fn a_secret_that_is_not_there_is_said_by_its_name() {
        let said = |name| {
            let hook = Webhook::new("https://example.com/x", Some(name), false, &[("BAD".into(), "a b".into())]);
            hook.err().unwrap().message
        };
        assert_eq!(said("NONE"), "the variable NONE with its secret is not set");
        assert!(said("BAD").contains("BAD") && !said("BAD").contains("a b"));
    }

    #[tokio::test]
    async fn nobody_of_this_machine_is_told_unless_that_was_opened() {
        let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        let address = format!("http://{}/", listener.local_addr().unwrap());
        let notice = Notice {
            what: super::super::watch::What::Done,
            session: neco_proto::SessionId::new(),
            title: String::new(),
            folder: String::new(),
            text: "is done".to_owned(),
        };
        let told = Webhook::new(&address, None, false, &[]).unwrap().tell(&notice).await;
        assert!(told.unwrap_err().message.contains("127.0.0.1"));
        listener.set_nonblocking(true).unwrap();
        assert!(listener.accept().is_err(), "nobody came");
    }
}
