//! Logging in at a server: in a browser, or with a code that is typed into a browser elsewhere; and logging out.

use std::sync::Arc;
use std::time::Duration;

use oauth2::TokenResponse;
use rmcp::transport::auth::{AuthorizationMetadata, OAuthClientConfig, OAuthTokenResponse};
use rmcp::transport::{AuthorizationManager, CredentialStore, InMemoryCredentialStore, StoredCredentials};
use secrecy::ExposeSecret;
use serde_json::{Value, json};
use tokio::time::{Instant, sleep, timeout};
use url::Url;

use super::auth::{Keeping, Login, OAuthWeb, failed, manager, now};
use super::callback::Callback;
use super::http::{Asks, Http};
use super::settings::LoginSettings;
use super::trouble::{Trouble, shown};

/// What we are called where clients register themselves.
const CLIENT: &str = "Neco";

/// What is sent in return for a code that was typed into a browser.
const DEVICE_GRANT: &str = "urn:ietf:params:oauth:grant-type:device_code";

/// How long a person may take to log in.
const PATIENCE: Duration = Duration::from_secs(10 * 60);

/// The wait between two questions whether a code was typed, where none is told, and the shortest.
const INTERVAL: Duration = Duration::from_secs(5);
const SHORTEST: Duration = Duration::from_millis(50);

/// A network that fails as often in a row is gone.
const FAILURES: u32 = 5;

/// What a person sees of a login.
///
/// ```
/// use neco_ext::mcp::{LoginStep, LoginUi};
///
/// struct Lines;
///
/// impl LoginUi for Lines {
///     fn show(&self, step: LoginStep) {
///         match step {
///             LoginStep::OpenBrowser(url) => println!("Open {url}"),
///             LoginStep::EnterCode { url, code } => println!("Open {url} and type {code}"),
///         }
///     }
/// }
/// ```
pub trait LoginUi: Send + Sync {
    /// Shows what is to be done now. It does not wait for it.
    fn show(&self, step: LoginStep);

    /// Whether a browser can be opened on this machine. Where not, a login with a code is taken if the server has one:
    /// after one in a browser elsewhere that browser would not find the way back.
    fn has_browser(&self) -> bool {
        true
    }
}

/// One step of a login.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum LoginStep {
    /// This address is to be opened in a browser; it is shown too, for where none opens.
    OpenBrowser(String),
    /// This code is to be typed in at this address, in a browser on any machine.
    EnterCode {
        /// Where.
        url: String,
        /// What.
        code: String,
    },
}

/// Logs in and keeps what that gives.
pub(super) async fn log_in(http: &Http, settings: &LoginSettings, ui: &dyn LoginUi) -> Result<(), Trouble> {
    let Some(keeping) = http.keeping() else {
        return Err(Trouble::Login("its token is in the settings; take that out to log in".to_owned()));
    };
    let (address, before) = (&keeping.address, keeping.load().await);
    let web = Arc::new(OAuthWeb::new(address.clone()));
    let asks = http.asks().await?;
    let mut manager = manager(address, web.clone()).await?;
    let found = manager.resolve_metadata_from_challenge(asks.challenge()).await.map_err(failed)?;
    if asks == Asks::Nothing && !found.source.is_discovered() {
        return Err(Trouble::Login("it asks for no login".to_owned()));
    }
    manager.set_metadata(found.metadata.clone());
    let scopes = scopes(&manager, settings, before.as_ref()).await;
    let mut attempt = Attempt { manager, metadata: found.metadata, web, settings, scopes, ui };
    let (credentials, client_secret) = match attempt.device_endpoint() {
        Some(endpoint) => attempt.with_code(&endpoint, address).await?,
        None => attempt.in_browser().await?,
    };
    let login = Login { address: address.to_string(), client_secret, credentials, wanted: Vec::new() };
    let kept = keeping.save(&login).await;
    kept.map_err(|error| Trouble::Login(format!("what the login gave can't be kept: {error}")))
}

/// The scopes that are asked for: those of the settings, or those that the server names, with what it wanted besides.
async fn scopes(manager: &AuthorizationManager, settings: &LoginSettings, before: Option<&Login>) -> Vec<String> {
    if !settings.scopes.is_empty() {
        return settings.scopes.clone();
    }
    let mut scopes = manager.select_initial_scopes(&[]).await;
    let Some(before) = before.filter(|before| !before.wanted.is_empty()) else { return scopes };
    for scope in before.credentials.granted_scopes.iter().chain(&before.wanted) {
        if !scopes.contains(scope) {
            scopes.push(scope.clone());
        }
    }
    scopes
}

/// What a login gave, and the secret of the client that it gave it to.
type Given = (StoredCredentials, Option<String>);

/// One try to log in.
struct Attempt<'a> {
    manager: AuthorizationManager,
    metadata: AuthorizationMetadata,
    web: Arc<OAuthWeb>,
    settings: &'a LoginSettings,
    scopes: Vec<String>,
    ui: &'a dyn LoginUi,
}

impl Attempt<'_> {
    /// Where a code is asked for, when that is the way to log in.
    fn device_endpoint(&self) -> Option<String> {
        let more = &self.metadata.additional_fields;
        let endpoint = more.get("device_authorization_endpoint").and_then(Value::as_str)?;
        let grants = more.get("grant_types_supported").and_then(Value::as_array);
        let is_only_way = grants.is_some_and(|grants| !grants.iter().any(|grant| grant == "authorization_code"));
        (is_only_way || !self.ui.has_browser()).then(|| endpoint.to_owned())
    }

    fn client_secret(&self) -> Option<String> {
        self.settings.client_secret.as_ref().map(|secret| secret.expose_secret().to_owned())
    }

    /// Where clients register themselves.
    fn registration(&self) -> Result<&str, Trouble> {
        self.metadata.registration_endpoint.as_deref().ok_or_else(|| {
            let words = "it takes only clients that are registered with it beforehand; register one there, and write \
                         its id as `oauth.client_id` into the settings of the server";
            Trouble::Login(words.to_owned())
        })
    }

    /// An address that the person is sent to.
    fn page(&self, address: &str) -> Result<Url, Trouble> {
        let page = Url::parse(address).ok().filter(|page| self.web.is_safe(page));
        page.ok_or_else(|| Trouble::Login(format!("its login leads to {}, which is not safe", shown(address))))
    }

    /// Logs in in a browser on this machine.
    async fn in_browser(&mut self) -> Result<Given, Trouble> {
        let callback = Callback::listen(self.settings.port).await?;
        let kept = InMemoryCredentialStore::new();
        self.manager.set_credential_store(kept.clone());
        let client_secret = self.register(&callback.address()).await?;
        let scopes: Vec<&str> = self.scopes.iter().map(String::as_str).collect();
        let page = self.manager.get_authorization_url(&scopes).await.map_err(failed)?;
        let page = self.page(&page)?;
        let state = page.query_pairs().find(|(name, _)| name == "state").map(|(_, value)| value.into_owned());
        let state = state.unwrap_or_default();
        self.ui.show(LoginStep::OpenBrowser(page.into()));
        let answer = timeout(PATIENCE, callback.wait(&state)).await.unwrap_or_else(|_| Err(too_late()))?;
        let issuer = answer.issuer.as_deref();
        self.manager.exchange_code_for_token_with_issuer(&answer.code, &state, issuer).await.map_err(failed)?;
        let credentials = kept.load().await.map_err(failed)?;
        let credentials = credentials.ok_or_else(|| Trouble::Login("the login gave nothing".to_owned()))?;
        Ok((credentials, client_secret))
    }

    /// Becomes a client that the browser comes back to at `redirect`; gives its secret, if it has one.
    async fn register(&mut self, redirect: &str) -> Result<Option<String>, Trouble> {
        let Some(id) = &self.settings.client_id else {
            self.registration()?;
            let scopes: Vec<&str> = self.scopes.iter().map(String::as_str).collect();
            let client = self.manager.register_client(CLIENT, redirect, &scopes).await.map_err(failed)?;
            return Ok(client.client_secret);
        };
        let secret = self.client_secret();
        let mut client = OAuthClientConfig::new(id.as_str(), redirect);
        client.client_secret.clone_from(&secret);
        self.manager.configure_client(client).map_err(failed)?;
        Ok(secret)
    }

    /// Logs in with a code that the person types into a browser on any machine.
    async fn with_code(&self, endpoint: &str, address: &Url) -> Result<Given, Trouble> {
        let (id, secret) = self.register_for_codes().await?;
        let scope = self.scopes.join(" ");
        let mut fields = vec![("client_id", id.as_str()), ("resource", address.as_str())];
        fields.extend(secret.as_deref().map(|secret| ("client_secret", secret)));
        let mut asking = fields.clone();
        asking.extend((!scope.is_empty()).then_some(("scope", scope.as_str())));
        let (_, code) = self.web.post_form(endpoint, &asking).await?;
        let text = |name: &str| code.get(name).and_then(Value::as_str);
        let (Some(device_code), Some(user_code)) = (text("device_code"), text("user_code")) else {
            return Err(refusal(&code));
        };
        let page = self.page(text("verification_uri").or_else(|| text("verification_url")).unwrap_or_default())?;
        self.ui.show(LoginStep::EnterCode { url: page.into(), code: shown(user_code) });
        fields.extend([("grant_type", DEVICE_GRANT), ("device_code", device_code)]);
        let waits = Waits::of(&code);
        let token = self.wait_for_code(&fields, waits).await?;
        let granted = token.scopes().map(|scopes| scopes.iter().map(|scope| scope.to_string()).collect());
        let granted = granted.unwrap_or_else(|| self.scopes.clone());
        let credentials = StoredCredentials::new(id, Some(token), granted, Some(now()));
        Ok((credentials.with_issuer(self.metadata.issuer.clone()), secret))
    }

    /// Becomes a client that logs in with codes; gives its id and its secret, if it has one.
    async fn register_for_codes(&self) -> Result<(String, Option<String>), Trouble> {
        if let Some(id) = &self.settings.client_id {
            return Ok((id.clone(), self.client_secret()));
        }
        let mut client = json!({
            "client_name": CLIENT,
            "application_type": "native",
            "grant_types": [DEVICE_GRANT, "refresh_token"],
            "redirect_uris": ["http://127.0.0.1/callback"],
            "response_types": [],
            "token_endpoint_auth_method": "none",
        });
        if !self.scopes.is_empty() {
            client["scope"] = self.scopes.join(" ").into();
        }
        let (_, registered) = self.web.post_json(self.registration()?, &client).await?;
        let text = |name: &str| registered.get(name).and_then(Value::as_str).filter(|text| !text.is_empty());
        let id = text("client_id").ok_or_else(|| refusal(&registered))?;
        Ok((id.to_owned(), text("client_secret").map(str::to_owned)))
    }

    async fn wait_for_code(&self, fields: &[(&str, &str)], waits: Waits) -> Result<OAuthTokenResponse, Trouble> {
        let Waits { until, mut interval } = waits;
        let mut failures = 0;
        while Instant::now() + interval < until {
            sleep(interval).await;
            let (status, answer) = match self.web.post_form(&self.metadata.token_endpoint, fields).await {
                Ok(answer) => answer,
                // A person takes minutes; a network that is away for a moment must not cost them the login.
                Err(_) if failures < FAILURES => {
                    failures += 1;
                    continue;
                }
                Err(trouble) => return Err(trouble),
            };
            failures = 0;
            if status.is_success() {
                // The words of the error may quote what was given.
                let token = serde_json::from_value(answer);
                return token.map_err(|_| Trouble::Login("what the login gave can't be read".to_owned()));
            }
            match answer.get("error").and_then(Value::as_str) {
                Some("authorization_pending") => {}
                Some("slow_down") => interval += INTERVAL,
                Some("expired_token") => break,
                Some("access_denied") => return Err(Trouble::Login("the login was denied in the browser".to_owned())),
                Some(_) | None => return Err(refusal(&answer)),
            }
        }
        Err(too_late())
    }
}

/// How long a code is good, and how often it is asked whether it was typed.
struct Waits {
    until: Instant,
    interval: Duration,
}

impl Waits {
    fn of(code: &Value) -> Self {
        let seconds = |name: &str| Duration::try_from_secs_f64(code.get(name).and_then(Value::as_f64)?).ok();
        let good_for = seconds("expires_in").unwrap_or(PATIENCE).min(PATIENCE);
        let interval = seconds("interval").unwrap_or(INTERVAL).max(SHORTEST);
        Self { until: Instant::now() + good_for, interval }
    }
}

fn too_late() -> Trouble {
    Trouble::Login("nobody logged in in time; start the login again".to_owned())
}

/// What a server that gives out tokens says when it gives none.
fn refusal(answer: &Value) -> Trouble {
    let said = ["error_description", "error"].into_iter().find_map(|name| answer.get(name)?.as_str());
    Trouble::Login(format!("the login is refused: {}", said.map_or("without a word".to_owned(), shown)))
}

/// What came of logging out.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum LoggedOut {
    /// There was no login.
    Nothing,
    /// It is forgotten here and, where the server offers that, there.
    Forgotten,
    /// It is forgotten here; the server could not be told, with why.
    HereOnly(String),
}

/// Forgets a login, here and, where it offers that, at the server.
pub(super) async fn log_out(keeping: &Keeping) -> Result<LoggedOut, Trouble> {
    let login = keeping.load().await;
    let removed = keeping.remove().await;
    removed.map_err(|error| Trouble::Login(format!("what the login gave can't be removed: {error}")))?;
    let Some(login) = login else { return Ok(LoggedOut::Nothing) };
    Ok(match revoke(&login, &keeping.address).await {
        Ok(()) => LoggedOut::Forgotten,
        Err(trouble) => LoggedOut::HereOnly(trouble.to_string()),
    })
}

/// Has the server forget a login, where it offers that.
async fn revoke(login: &Login, address: &Url) -> Result<(), Trouble> {
    let web = Arc::new(OAuthWeb::new(address.clone()));
    let found = manager(address, web.clone()).await?.resolve_metadata().await.map_err(failed)?;
    // Whoever gives out tokens for it now may not be who gave out these.
    if found.metadata.issuer != login.credentials.issuer {
        return Ok(());
    }
    let Some(endpoint) = found.metadata.additional_fields.get("revocation_endpoint").and_then(Value::as_str) else {
        return Ok(());
    };
    let tokens = [(login.refresh(), "refresh_token"), (login.access(), "access_token")];
    for (token, kind) in tokens.iter().filter_map(|(token, kind)| Some((token.as_ref()?, *kind))) {
        let id = login.credentials.client_id.as_str();
        let mut fields = vec![("token", token.expose_secret()), ("token_type_hint", kind), ("client_id", id)];
        fields.extend(login.client_secret.as_deref().map(|secret| ("client_secret", secret)));
        let (status, answer) = web.post_form(endpoint, &fields).await?;
        // Not every kind of token can be taken back everywhere.
        let is_unknown = answer.get("error").and_then(Value::as_str) == Some("unsupported_token_type");
        if !status.is_success() && !is_unknown {
            return Err(Trouble::Status { status: status.as_u16(), said: String::new() });
        }
    }
    Ok(())
}
