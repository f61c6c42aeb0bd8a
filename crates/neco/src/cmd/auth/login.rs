//! `neco auth login`: a login in the browser instead of a key.

use neco_app::workspace::keys;
use neco_config::{Env, LoadOptions};
use neco_model::route::{DeviceLogin, Key, Login, LoginError, LoginSettings, Providers};
use neco_model::{ErrorKind, ModelError};
use secrecy::{ExposeSecret, SecretString};

use crate::args::EverywhereArgs;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::print::clean::clean_line;
use crate::signals::{InterruptMask, Signals};
use crate::{compose, say};

/// Logs in at `provider` and keeps what that gives.
///
/// # Errors
/// When there is no such login, or it fails; then nothing is changed.
pub fn run(provider: &str, everywhere: &EverywhereArgs, env: &Env) -> Result<Exit, Failure> {
    let folder = crate::folder(everywhere)?;
    let loaded = neco_config::load(LoadOptions { env, cwd: &folder, overrides: &everywhere.overrides })?;
    let notes = loaded.warnings.iter().map(ToString::to_string).chain(keys::warnings(&loaded));
    notes.for_each(|note| say::note(&note));
    let providers = Providers::new(&loaded.config.model_providers)?;
    let entry = providers.get(provider)?;
    let Some(settings) = &entry.login else {
        let known: Vec<&str> =
            providers.iter().filter(|entry| entry.login.is_some()).map(|entry| entry.name.as_str()).collect();
        return Err(Failure::usage(format!("{provider} has no login; there is one for {}", known.join(", ")))
            .hint(format!("`neco login {provider}` adds a key.")));
    };
    let file = keys::file(env);
    file.read()?;
    let runtime = compose::runtime()?;
    let login = runtime.block_on(async {
        let mut signals = Signals::listen(InterruptMask::default())
            .map_err(|error| Failure::new(Exit::Failed, format!("signals can't be received: {error}")))?;
        tokio::select! {
            login = log_in(provider, settings) => login.map(Ok),
            signal = signals.next() => Ok(Err(signal)),
        }
    })?;
    let token = match login {
        Ok(token) => token,
        Err(signal) => {
            say::note("cancelled; nothing was changed");
            return Ok(Exit::Stopped(signal));
        }
    };
    file.change(|kept| kept.entry(provider.to_owned()).or_default().login = Some(token))?;
    say::out(&format!("logged in; the login of {provider} is saved in {}\n", file.path().display()))?;
    Ok(Exit::Done)
}

async fn log_in(provider: &str, settings: &LoginSettings) -> Result<SecretString, Failure> {
    let login = DeviceLogin::begin(settings).await?;
    say::out(&format!(
        "Open  {}\nType  {}\n\nThe code is valid for {} minutes. Waiting for you (Ctrl-C cancels)…\n",
        clean_line(&login.verification_uri),
        clean_line(&login.user_code),
        login.good_for().as_secs().div_ceil(60),
    ))?;
    let token = login.wait().await?;
    // Whether the account may use it at all is better known now than at the first question.
    let key = Key::new(token.expose_secret(), "the login")
        .ok_or_else(|| Failure::new(Exit::Provider, "the login gave a token that can't be used"))?;
    match Login::new(provider, settings, key).token().await {
        Ok(_) => Ok(token),
        Err(error) => Err(of_trade(&error)),
    }
}

fn of_trade(error: &ModelError) -> Failure {
    let failure = Failure::new(Exit::Provider, error.message.clone());
    match error.kind {
        ErrorKind::Permission => {
            failure.hint("github.com/settings/copilot shows whether Copilot is on for an account.")
        }
        _ => failure,
    }
}

impl From<LoginError> for Failure {
    fn from(error: LoginError) -> Self {
        let exit = match &error {
            LoginError::Denied => Exit::Refused,
            LoginError::Expired => Exit::Failed,
            LoginError::Refused(_) | LoginError::Unreachable { .. } => Exit::Provider,
        };
        Self::new(exit, error.to_string())
    }
}
