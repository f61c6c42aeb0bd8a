//! A GitHub on loopback: codes, logins, tokens, and a Copilot that answers those who have one.

use std::collections::VecDeque;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use serde_json::json;

use crate::server::{self, Asked};

const LOGIN: &str = "gho_kept_secret_0123456789";
const ANSWER: &str = concat!(
    "data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":\"Hello from the other side.\"},",
    "\"finish_reason\":\"stop\"}]}\n\ndata: [DONE]\n\n",
);

pub struct GitHub {
    base: String,
    state: Arc<State>,
}

struct State {
    /// What is answered before the login is granted.
    refusals: Mutex<VecDeque<String>>,
    asked: AtomicUsize,
    traded: AtomicUsize,
}

impl GitHub {
    /// One that answers so before it grants a login.
    pub fn start(refusals: &[&str]) -> Self {
        let state = Arc::new(State {
            refusals: Mutex::new(refusals.iter().map(|error| (*error).to_owned()).collect()),
            asked: AtomicUsize::new(0),
            traded: AtomicUsize::new(0),
        });
        let answering = Arc::clone(&state);
        Self { base: server::start(move |asked| answering.answer(asked)), state }
    }

    /// Settings that lead here.
    pub fn config(&self) -> String {
        let base = &self.base;
        format!(
            "[model_providers.github-copilot]\nbase = \"{base}\"\nlogin = {{ site = \"{base}\", api = \"{base}\" }}\n\
             text_tool_calls = \"never\"\n"
        )
    }

    pub fn login_token(&self) -> &'static str {
        LOGIN
    }

    /// How often it was asked for the login.
    pub fn asked(&self) -> usize {
        self.state.asked.load(Ordering::SeqCst)
    }

    /// How many tokens it gave.
    pub fn traded(&self) -> usize {
        self.state.traded.load(Ordering::SeqCst)
    }
}

impl State {
    fn answer(&self, asked: &Asked) -> (u16, String) {
        if asked.path.ends_with("/login/device/code") {
            return (
                200,
                json!({
                    "device_code": "device", "user_code": "AB12-CD34", "interval": 0, "expires_in": 900,
                    "verification_uri": "https://github.example/login/device",
                })
                .to_string(),
            );
        }
        if asked.path.ends_with("/login/oauth/access_token") {
            self.asked.fetch_add(1, Ordering::SeqCst);
            let refusal = self.refusals.lock().unwrap().pop_front();
            return (
                200,
                match refusal {
                    Some(error) => json!({ "error": error, "interval": 0 }).to_string(),
                    None => json!({ "access_token": LOGIN }).to_string(),
                },
            );
        }
        let shown = asked.header("authorization").unwrap_or_default();
        if asked.path.ends_with("/copilot_internal/v2/token") {
            assert_eq!(shown, format!("token {LOGIN}"));
            let number = self.traded.fetch_add(1, Ordering::SeqCst) + 1;
            return (200, json!({ "token": format!("tid={number};secret"), "refresh_in": 1500 }).to_string());
        }
        // The second token is the first of the run that asks.
        match shown {
            "Bearer tid=3;secret" => (200, ANSWER.to_owned()),
            shown => (401, json!({ "error": { "message": format!("{shown} is not accepted") } }).to_string()),
        }
    }
}
