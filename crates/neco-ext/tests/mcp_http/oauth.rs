//! An MCP server that wants a login, the server that gives out its tokens, and a person with a browser.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use neco_ext::mcp::{LoginStep, LoginUi};
use neco_model::build_client;
use serde_json::{Value, json};

use crate::fake::Fake;
use crate::web::{Asked, Reply, Web};

/// Gives out tokens: `access-token-1`, then `access-token-2` and so on, each with its `refresh-token-1`.
#[derive(Default)]
pub struct Issuer {
    /// How many were given.
    pub given: AtomicUsize,
    /// How long they are good, in seconds.
    pub life: u64,
    /// Whether it gives nothing for a refresh token.
    pub refuses: AtomicBool,
    /// Whether people say no in their browser.
    pub is_denied: AtomicBool,
    /// Whether it takes nothing back.
    pub keeps: bool,
    /// Whether a code can be typed in.
    pub has_codes: bool,
    /// How often it is asked before the code was typed.
    pub pending: AtomicUsize,
}

/// The two servers.
pub struct Place {
    pub fake: Arc<Fake>,
    pub issuer: Arc<Issuer>,
    pub mcp: Web,
    pub tokens: Web,
}

impl Place {
    pub async fn new(issuer: Issuer) -> Self {
        let issuer = Arc::new(issuer);
        let answering = Arc::clone(&issuer);
        let tokens = Web::knowing_itself(|base| {
            let base = base.to_owned();
            move |asked: &Asked| answering.answer(&base, asked)
        })
        .await;
        let fake = Arc::new(Mutex::new(None));
        let (known, login) = (Arc::clone(&fake), tokens.base.clone());
        let mcp = Web::knowing_itself(|base| {
            let metadata = format!("{base}/.well-known/oauth-protected-resource/mcp");
            let challenge = format!("Bearer resource_metadata=\"{metadata}\", scope=\"read\"");
            let server = Arc::new(Fake { challenge, ..Fake::default() });
            server.take("access-token-1");
            *known.lock().unwrap() = Some(Arc::clone(&server));
            let resource = json!({ "resource": format!("{base}/mcp"), "authorization_servers": [login] });
            move |asked: &Asked| match asked.path() {
                "/mcp" => server.answer(asked),
                "/.well-known/oauth-protected-resource/mcp" => Reply::json(200, &resource),
                _ => Reply::bare(404),
            }
        })
        .await;
        let fake = fake.lock().unwrap().take().unwrap();
        Self { fake, issuer, mcp, tokens }
    }

    /// A login as it is kept, whose token was given so many seconds ago.
    pub fn login(&self, age: i64) -> Value {
        let token = json!({
            "access_token": "access-token-0",
            "refresh_token": "refresh-token-0",
            "token_type": "bearer",
            "expires_in": 60,
        });
        let since = jiff::Timestamp::now().as_second() - age;
        let issuer = &self.tokens.base;
        let credentials =
            json!({ "client_id": "client-1", "token_received_at": since, "issuer": issuer, "token_response": token });
        json!({ "address": self.mcp.mcp(), "credentials": credentials })
    }

    /// The tokens that the MCP server was shown.
    pub fn shown(&self) -> Vec<String> {
        let mut shown: Vec<String> = Vec::new();
        for token in self.mcp.asked().iter().filter_map(|asked| asked.header("authorization")) {
            if shown.last().is_none_or(|last| last != token) {
                shown.push(token.to_owned());
            }
        }
        shown
    }

    /// What was sent for tokens, by the kind of grant.
    pub fn grants(&self) -> Vec<String> {
        self.tokens.at("/token").iter().filter_map(|asked| asked.field("grant_type")).collect()
    }
}

impl Issuer {
    fn answer(&self, base: &str, asked: &Asked) -> Reply {
        match asked.path() {
            "/.well-known/oauth-authorization-server" => Reply::json(200, &self.metadata(base)),
            "/register" => {
                let wanted = asked.json();
                Reply::json(201, &json!({ "client_id": "client-1", "redirect_uris": wanted["redirect_uris"] }))
            }
            "/authorize" => self.authorize(asked),
            "/device" => {
                let page = format!("{base}/type-it-here");
                let code = json!({ "device_code": "device-1", "user_code": "ABCD-1234", "verification_uri": page });
                Reply::json(200, &with(code, "interval", json!(0.05)))
            }
            "/token" => self.token(asked),
            "/revoke" => Reply::bare(if self.keeps { 503 } else { 200 }),
            _ => Reply::bare(404),
        }
    }

    fn metadata(&self, base: &str) -> Value {
        let metadata = json!({
            "issuer": base,
            "authorization_endpoint": format!("{base}/authorize"),
            "token_endpoint": format!("{base}/token"),
            "registration_endpoint": format!("{base}/register"),
            "revocation_endpoint": format!("{base}/revoke"),
            "response_types_supported": ["code"],
            "code_challenge_methods_supported": ["S256"],
        });
        match self.has_codes {
            true => with(metadata, "device_authorization_endpoint", json!(format!("{base}/device"))),
            false => metadata,
        }
    }

    fn authorize(&self, asked: &Asked) -> Reply {
        let (back, state) = (asked.query("redirect_uri").unwrap(), asked.query("state").unwrap());
        let said = if self.is_denied.load(Ordering::SeqCst) { "error=access_denied" } else { "code=code-1" };
        Reply::moved(302, &format!("{back}?{said}&state={state}"))
    }

    fn token(&self, asked: &Asked) -> Reply {
        let refused = |error: &str| Reply::json(400, &json!({ "error": error }));
        match asked.field("grant_type").unwrap().as_str() {
            "authorization_code" if asked.field("code_verifier").is_none() => refused("invalid_request"),
            "refresh_token" if self.refuses.load(Ordering::SeqCst) => refused("invalid_grant"),
            "urn:ietf:params:oauth:grant-type:device_code" if self.pending.fetch_add(1, Ordering::SeqCst) == 0 => {
                refused("authorization_pending")
            }
            _ => {
                let number = self.given.fetch_add(1, Ordering::SeqCst) + 1;
                let (access, refresh) = (format!("access-token-{number}"), format!("refresh-token-{number}"));
                let token = json!({ "access_token": access, "refresh_token": refresh, "token_type": "Bearer" });
                Reply::json(200, &with(token, "expires_in", json!(self.life)))
            }
        }
    }
}

fn with(mut object: Value, name: &str, value: Value) -> Value {
    object[name] = value;
    object
}

/// A person who opens every page that they are shown.
#[derive(Default)]
pub struct Person {
    pub has_no_browser: bool,
    pub shown: Mutex<Vec<LoginStep>>,
}

impl LoginUi for Person {
    fn show(&self, step: LoginStep) {
        if let LoginStep::OpenBrowser(page) = &step {
            tokio::spawn(visit(page.clone()));
        }
        self.shown.lock().unwrap().push(step);
    }

    fn has_browser(&self) -> bool {
        !self.has_no_browser
    }
}

/// Opens a page and goes wherever it leads.
async fn visit(mut page: String) {
    loop {
        let response = build_client(&page, None).await.unwrap().get(&page).send().await.unwrap();
        match response.headers().get("location") {
            Some(next) => page = next.to_str().unwrap().to_owned(),
            None => return,
        }
    }
}
