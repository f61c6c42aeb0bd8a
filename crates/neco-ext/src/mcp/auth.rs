//! What logins gave: kept for one address, and renewed before it is too old.

use std::collections::HashMap;
use std::io;
use std::net::Ipv4Addr;
use std::sync::Arc;
use std::time::Duration;

use http::header::{ACCEPT, CONTENT_TYPE};
use http::{Request, Response, StatusCode};
use neco_model::build_client;
use neco_safety::secrets::{KnownSecret, Redactor};
use oauth2::TokenResponse;
use rmcp::transport::auth::{OAuthClientConfig, OAuthTokenResponse};
use rmcp::transport::{
    AuthError, AuthorizationManager, CredentialStore, InMemoryCredentialStore, OAuthHttpClient, OAuthHttpClientError,
    OAuthHttpClientFuture, OAuthHttpRequest, StoredCredentials,
};
use secrecy::{ExposeSecret, SecretString};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use tokio::sync::Mutex;
use tokio::time::timeout;
use url::form_urlencoded::Serializer;
use url::{Host, Url};

use super::answers::whole;
use super::trouble::{Trouble, shown};

/// How long before its end a token is renewed, where it lives long enough.
const MARGIN: Duration = Duration::from_secs(30);

/// How long a server that gives out tokens has to answer.
const PATIENCE: Duration = Duration::from_secs(30);

/// Bytes of an answer of such a server.
const LARGEST: usize = 1024 * 1024;

/// Scopes that are remembered for the next login.
const MOST_SCOPES: usize = 50;

/// Keeps what logins gave, by the name of the server. Calls may wait for a disk, a keyring or a person.
///
/// ```
/// use neco_ext::mcp::TokenStore;
///
/// let nowhere: &dyn TokenStore = &();
/// assert!(nowhere.load("docs")?.is_none());
/// # Ok::<(), std::io::Error>(())
/// ```
pub trait TokenStore: Send + Sync {
    /// What is kept of a server.
    ///
    /// # Errors
    /// When it can't be read.
    fn load(&self, server: &str) -> io::Result<Option<SecretString>>;

    /// Keeps this of a server, in place of what was kept.
    ///
    /// # Errors
    /// When it can't be kept.
    fn save(&self, server: &str, login: &SecretString) -> io::Result<()>;

    /// Forgets what is kept of a server, if anything is.
    ///
    /// # Errors
    /// When it is still there.
    fn remove(&self, server: &str) -> io::Result<()>;
}

/// Keeps nothing.
impl TokenStore for () {
    fn load(&self, _: &str) -> io::Result<Option<SecretString>> {
        Ok(None)
    }

    fn save(&self, _: &str, _: &SecretString) -> io::Result<()> {
        Ok(())
    }

    fn remove(&self, _: &str) -> io::Result<()> {
        Ok(())
    }
}

/// What a login gave, as it is kept.
#[derive(Clone, Serialize, Deserialize)]
pub(super) struct Login {
    /// The address that it is for; no other gets it.
    pub address: String,
    /// The secret of the client that it was given to.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub client_secret: Option<String>,
    pub credentials: StoredCredentials,
    /// Scopes that the server wanted besides; the next login asks for them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub wanted: Vec<String>,
}

impl Login {
    fn token(&self) -> Option<&OAuthTokenResponse> {
        self.credentials.token_response.as_ref()
    }

    /// The token that is shown to the server.
    pub(super) fn access(&self) -> Option<SecretString> {
        self.token().map(|token| token.access_token().secret().as_str().into())
    }

    /// The token that gets another one.
    pub(super) fn refresh(&self) -> Option<SecretString> {
        self.token().and_then(TokenResponse::refresh_token).map(|token| token.secret().as_str().into())
    }

    /// Whether it is time to get another token, and that can be done.
    fn is_due(&self) -> bool {
        let life = self.token().and_then(TokenResponse::expires_in);
        let (Some(life), Some(since), Some(_)) = (life, self.credentials.token_received_at, self.refresh()) else {
            return false;
        };
        let age = Duration::from_secs(now().saturating_sub(since));
        age + MARGIN.min(life / 10) >= life
    }

    fn is_shown_as(&self, token: Option<&SecretString>) -> bool {
        let own = self.access();
        own.as_ref().map(|own| own.expose_secret()) == token.map(|token| token.expose_secret())
    }

    fn teach(&self, server: &str, redactor: &Redactor) {
        let of_tokens = [self.access(), self.refresh()];
        let of_tokens = of_tokens.iter().flatten().map(|token| token.expose_secret().to_owned());
        let values = of_tokens.chain(self.client_secret.clone());
        redactor.learn(values.map(|value| KnownSecret { what: format!("login of the MCP server {server}"), value }));
    }
}

/// Seconds since 1970.
pub(super) fn now() -> u64 {
    u64::try_from(jiff::Timestamp::now().as_second()).unwrap_or_default()
}

/// Where the login of one server is kept.
#[derive(Clone)]
pub(super) struct Keeping {
    pub server: String,
    pub address: Url,
    pub store: Arc<dyn TokenStore>,
    pub redactor: Redactor,
}

impl Keeping {
    /// The login at this address, if there is one. What can't be read counts as none: many servers need no login.
    pub(super) async fn load(&self) -> Option<Login> {
        let read = self.ask(|store, server| store.load(server)).await;
        let text = read.unwrap_or_else(|error| {
            tracing::warn!(server = self.server, %error, "what a login gave can't be read");
            None
        })?;
        let login: Login = serde_json::from_str(text.expose_secret()).ok()?;
        login.teach(&self.server, &self.redactor);
        (login.address == self.address.as_str()).then_some(login)
    }

    /// Keeps a login.
    pub(super) async fn save(&self, login: &Login) -> io::Result<()> {
        login.teach(&self.server, &self.redactor);
        let text = SecretString::from(serde_json::to_string(login)?);
        self.ask(move |store, server| store.save(server, &text)).await
    }

    /// Forgets whatever is kept of the server, also where it is for another address.
    pub(super) async fn remove(&self) -> io::Result<()> {
        self.ask(|store, server| store.remove(server)).await
    }

    async fn ask<T: Send + 'static>(
        &self,
        ask: impl FnOnce(&dyn TokenStore, &str) -> io::Result<T> + Send + 'static,
    ) -> io::Result<T> {
        let (store, server) = (Arc::clone(&self.store), self.server.clone());
        tokio::task::spawn_blocking(move || ask(&*store, &server)).await.map_err(io::Error::other)?
    }
}

/// The tokens that a server is shown. A renewal goes on to its end, also where the call is gone that began it: the old
/// token may be worth nothing by then, and the new one must be kept.
pub(super) struct Tokens {
    pub keeping: Keeping,
    held: Mutex<Option<Login>>,
}

impl Tokens {
    /// The tokens of the login that is kept.
    pub(super) async fn load(keeping: Keeping) -> Arc<Self> {
        let held = Mutex::new(keeping.load().await);
        Arc::new(Self { keeping, held })
    }

    /// The token to show; renewed where it is about to end.
    pub(super) async fn current(self: &Arc<Self>) -> Option<SecretString> {
        let held = self.held.lock().await;
        if !held.as_ref().is_some_and(Login::is_due) {
            return held.as_ref().and_then(Login::access);
        }
        drop(held);
        let tokens = Arc::clone(self);
        tokio::spawn(async move { tokens.renew_if_due().await }).await.ok().flatten()
    }

    async fn renew_if_due(&self) -> Option<SecretString> {
        let mut held = self.held.lock().await;
        let due = held.as_ref().filter(|login| login.is_due()).cloned();
        if let Some(login) = due {
            match self.renew(&login).await {
                Ok(Some(newer)) => *held = Some(newer),
                // The server says whether the old one is still good.
                Ok(None) => {}
                Err(error) => tracing::debug!(server = self.keeping.server, %error, "a login can't be renewed"),
            }
        }
        held.as_ref().and_then(Login::access)
    }

    /// Another token than the one that the server refused; nothing where only a new login helps.
    pub(super) async fn after(
        self: &Arc<Self>,
        refused: Option<&SecretString>,
    ) -> Result<Option<SecretString>, Trouble> {
        let (tokens, refused) = (Arc::clone(self), refused.cloned());
        let renewed = tokio::spawn(async move { tokens.renew_after(refused.as_ref()).await }).await;
        renewed.unwrap_or_else(|error| Err(Trouble::Login(error.to_string())))
    }

    async fn renew_after(&self, refused: Option<&SecretString>) -> Result<Option<SecretString>, Trouble> {
        let mut held = self.held.lock().await;
        // Another call or another process may have been quicker.
        if held.as_ref().is_none_or(|login| login.is_shown_as(refused)) {
            *held = match self.keeping.load().await {
                Some(login) if login.is_shown_as(refused) => self.renew(&login).await?,
                login => login,
            };
        }
        Ok(held.as_ref().and_then(Login::access))
    }

    /// Remembers what the server wants besides, for the next login.
    pub(super) async fn want(&self, scopes: &str) {
        let mut held = self.held.lock().await;
        let Some(login) = held.as_mut() else { return };
        let known = login.wanted.len();
        for scope in scopes.split_whitespace().take(MOST_SCOPES.saturating_sub(known)) {
            if !login.wanted.iter().any(|wanted| wanted == scope) {
                login.wanted.push(scope.to_owned());
            }
        }
        if login.wanted.len() > known {
            self.save(login).await;
        }
    }

    /// Gets another token; nothing where the server does not give one for what we have.
    async fn renew(&self, login: &Login) -> Result<Option<Login>, Trouble> {
        let address = &self.keeping.address;
        let kept = InMemoryCredentialStore::new();
        kept.save(login.credentials.clone()).await.map_err(failed)?;
        let mut manager = manager(address, Arc::new(OAuthWeb::new(address.clone()))).await?;
        manager.set_credential_store(kept.clone());
        // What one gave out is shown to no other, nor to a server that names none any more.
        let found = manager.resolve_metadata().await.map_err(failed)?.metadata;
        if found.issuer != login.credentials.issuer {
            return Ok(None);
        }
        manager.set_metadata(found);
        if !manager.initialize_from_store().await.map_err(failed)? {
            return Ok(None);
        }
        if let Some(secret) = &login.client_secret {
            let client = OAuthClientConfig::new(login.credentials.client_id.as_str(), address.as_str());
            manager.configure_client(client.with_client_secret(secret.as_str())).map_err(failed)?;
        }
        match manager.refresh_token().await {
            Ok(_) => {}
            Err(AuthError::TokenRefreshRejected(_) | AuthError::AuthorizationRequired) => {
                let newer = self.keeping.load().await;
                return Ok(newer.filter(|newer| !newer.is_shown_as(login.access().as_ref())));
            }
            Err(error) => return Err(failed(error)),
        }
        let Some(credentials) = kept.load().await.map_err(failed)? else { return Ok(None) };
        let login = Login { credentials, ..login.clone() };
        self.save(&login).await;
        Ok(Some(login))
    }

    /// Keeps a login; what can't be kept is still good for this conversation.
    async fn save(&self, login: &Login) {
        if let Err(error) = self.keeping.save(login).await {
            tracing::warn!(server = self.keeping.server, %error, "what a login gave can't be kept");
        }
    }
}

/// What speaks OAuth for a server.
pub(super) async fn manager(address: &Url, web: Arc<OAuthWeb>) -> Result<AuthorizationManager, Trouble> {
    AuthorizationManager::new_with_oauth_http_client(address.clone(), web).await.map_err(failed)
}

/// Why a login did not work out.
pub(super) fn failed(error: AuthError) -> Trouble {
    Trouble::Login(match error {
        AuthError::NoAuthorizationSupport => "it offers no login".to_owned(),
        AuthError::PkceUnsupported => "its login has no protection against theft on this machine (PKCE)".to_owned(),
        error => format!("the login failed: {}", shown(&error.to_string())),
    })
}

/// How far away an address is, as far as it says so itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Distance {
    /// On this machine.
    Here,
    /// In this network.
    Near,
    /// Anywhere.
    Far,
}

impl Distance {
    fn of(url: &Url) -> Self {
        match url.host() {
            Some(Host::Ipv4(address)) => Self::of_v4(address),
            Some(Host::Ipv6(address)) => match address.to_ipv4() {
                Some(inside) if !address.is_loopback() => Self::of_v4(inside),
                _ if address.is_loopback() || address.is_unspecified() => Self::Here,
                _ if address.is_unique_local() || address.is_unicast_link_local() => Self::Near,
                _ => Self::Far,
            },
            Some(Host::Domain(name)) => {
                let name = name.trim_end_matches('.');
                let is_here = name == "localhost" || name.ends_with(".localhost");
                if is_here { Self::Here } else { Self::Far }
            }
            None => Self::Far,
        }
    }

    fn of_v4(address: Ipv4Addr) -> Self {
        if address.is_loopback() || address.octets().starts_with(&[0]) {
            return Self::Here;
        }
        let is_near = address.is_private() || address.is_link_local() || address.is_broadcast();
        if is_near { Self::Near } else { Self::Far }
    }
}

/// Asks the servers that give out tokens. Where they are is said by the server that wants the login, so that only
/// encrypted addresses are asked, those of this machine or this network only for a server that is there too, and no
/// redirect to another server is followed.
pub(super) struct OAuthWeb {
    server: Url,
    clients: Mutex<HashMap<String, reqwest::Client>>,
}

impl OAuthWeb {
    /// For the logins of the server at this address.
    pub(super) fn new(server: Url) -> Self {
        Self { server, clients: Mutex::default() }
    }

    /// Whether an address that the server names may be asked, or shown to the person.
    pub(super) fn is_safe(&self, url: &Url) -> bool {
        let (far, is_own) = (Distance::of(url), url.origin() == self.server.origin());
        let is_private = url.scheme() == "https" || url.scheme() == "http" && far == Distance::Here;
        is_own || is_private && far >= Distance::of(&self.server)
    }

    /// Sends the fields of a form; gives the JSON that came back.
    pub(super) async fn post_form(&self, url: &str, fields: &[(&str, &str)]) -> Result<(StatusCode, Value), Trouble> {
        let body = Serializer::new(String::new()).extend_pairs(fields).finish();
        self.post(url, "application/x-www-form-urlencoded", body).await
    }

    /// Sends JSON; gives the JSON that came back.
    pub(super) async fn post_json(&self, url: &str, body: &Value) -> Result<(StatusCode, Value), Trouble> {
        self.post(url, "application/json", body.to_string()).await
    }

    async fn post(&self, url: &str, kind: &str, body: String) -> Result<(StatusCode, Value), Trouble> {
        let request = Request::post(url).header(CONTENT_TYPE, kind).header(ACCEPT, "application/json");
        let request = request.body(body.into_bytes()).map_err(|error| Trouble::Login(shown(&error.to_string())))?;
        let response = self.ask(request).await?;
        Ok((response.status(), serde_json::from_slice(response.body()).unwrap_or_default()))
    }

    async fn ask(&self, request: Request<Vec<u8>>) -> Result<Response<Vec<u8>>, Trouble> {
        let request = reqwest::Request::try_from(request).map_err(|error| Trouble::Login(shown(&error.to_string())))?;
        let url = request.url().clone();
        if !self.is_safe(&url) {
            return Err(Trouble::Login(format!("its login leads to {}, which is not safe", shown(url.as_str()))));
        }
        let client = self.client(&url).await?;
        let asked = async {
            let response = match client.execute(request).await {
                Ok(response) => response,
                Err(error) => return Err(Trouble::unsent(error, &url).await),
            };
            let (status, headers) = (response.status(), response.headers().clone());
            let mut answer = Response::new(whole(response, LARGEST).await?);
            (*answer.status_mut(), *answer.headers_mut()) = (status, headers);
            Ok(answer)
        };
        timeout(PATIENCE, asked).await.unwrap_or(Err(Trouble::Silent(PATIENCE)))
    }

    async fn client(&self, url: &Url) -> Result<reqwest::Client, Trouble> {
        let mut clients = self.clients.lock().await;
        let origin = url.origin().ascii_serialization();
        if let Some(client) = clients.get(&origin) {
            return Ok(client.clone());
        }
        let client = build_client(url.as_str(), Some(PATIENCE)).await;
        let client = client.map_err(|error| Trouble::Setup(format!("the connection can't be set up: {error}")))?;
        clients.insert(origin, client.clone());
        Ok(client)
    }
}

impl OAuthHttpClient for OAuthWeb {
    fn execute(&self, request: OAuthHttpRequest) -> OAuthHttpClientFuture<'_> {
        Box::pin(async move {
            let answer = self.ask(request.request).await;
            answer.map_err(|trouble| Box::new(trouble) as OAuthHttpClientError)
        })
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn login(life: u64, age: u64) -> Login {
        let login = json!({
            "address": "https://example.com/mcp",
            "credentials": {
                "client_id": "neco",
                "token_received_at": now() - age,
                "token_response": {
                    "access_token": "access-1",
                    "refresh_token": "refresh-1",
                    "token_type": "bearer",
                    "expires_in": life,
                },
            },
        });
        serde_json::from_value(login).unwrap()
    }

    #[test]
    fn a_token_is_renewed_before_it_ends() {
        assert!(!login(3600, 0).is_due());
        assert!(login(3600, 3590).is_due());
        assert!(login(60, 55).is_due() && !login(60, 40).is_due());
    }

    #[test]
    fn only_safe_addresses_are_asked() {
        let far = OAuthWeb::new(Url::parse("https://example.com/mcp").unwrap());
        let near = OAuthWeb::new(Url::parse("http://127.0.0.1:9/mcp").unwrap());
        let is_safe = |web: &OAuthWeb, url: &str| web.is_safe(&Url::parse(url).unwrap());
        assert!(is_safe(&far, "https://login.example.org/token"));
        for url in [
            "http://login.example.org/token",
            "http://127.0.0.1:6379/",
            "https://localhost/",
            "https://localhost./",
            "https://0.0.0.0/",
            "https://[::1]/",
            "https://[::ffff:127.0.0.1]/",
            "https://10.0.0.1/token",
            "https://169.254.169.254/latest/meta-data",
            "https://[fd00::1]/",
            "https://[fe80::1]/",
            "file:///etc/passwd",
        ] {
            assert!(!is_safe(&far, url), "{url}");
        }
        assert!(is_safe(&near, "http://127.0.0.1:8/token") && !is_safe(&near, "http://example.com/token"));
        let inside = OAuthWeb::new(Url::parse("http://10.0.0.1/mcp").unwrap());
        assert!(is_safe(&inside, "http://10.0.0.1/token") && is_safe(&inside, "https://10.0.0.2/token"));
        assert!(!is_safe(&inside, "http://10.0.0.2/token") && !is_safe(&inside, "http://127.0.0.1/token"));
    }

    #[test]
    fn what_is_kept_is_no_secret_in_the_log() {
        let redactor = Redactor::default();
        login(60, 0).teach("docs", &redactor);
        let said = redactor.redact("it is access-1, then refresh-1", neco_safety::secrets::Scope::Said);
        assert_eq!(said.matches("[redacted: login of the MCP server docs]").count(), 2, "{said}");
    }
}
