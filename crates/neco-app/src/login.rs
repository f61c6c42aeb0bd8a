//! A login in the browser instead of a key.

use neco_model::route::{DeviceLogin, Key, KeysFile, Login, LoginError, LoginSettings};
use neco_model::{ErrorKind, ModelError};
use neco_proto::app::{AppError, Trouble};
use secrecy::{ExposeSecret, SecretString};

use crate::app::StorelessApp;
use crate::error::{failed, invalid, of_setup};
use crate::keys::Here;

/// A login that a person can begin.
pub struct BrowserLogin {
    provider: String,
    settings: LoginSettings,
    file: KeysFile,
    /// What is to be said of the settings.
    pub warnings: Vec<String>,
}

/// What the person does in their browser.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InBrowser {
    /// The page to open.
    pub page: String,
    /// What is typed there.
    pub code: String,
    /// How long that can be done.
    pub minutes: u64,
}

impl BrowserLogin {
    /// The login of a provider.
    ///
    /// # Errors
    /// When it has none, or nothing could be kept of it.
    pub fn find(app: &StorelessApp, folder: &str, provider: &str) -> Result<Self, AppError> {
        let Here { providers, file, warnings } = Here::look(app, folder)?;
        let Some(settings) = providers.get(provider).map_err(of_setup)?.login.clone() else {
            let known = providers.iter().filter(|entry| entry.login.is_some()).map(|entry| entry.name.as_str());
            let known: Vec<&str> = known.collect();
            return Err(invalid(format!("{provider} has no login; there is one for {}", known.join(", ")))
                .hint(format!("`neco login {provider}` adds a key.")));
        };
        file.read().map_err(failed)?;
        Ok(Self { provider: provider.to_owned(), settings, file, warnings })
    }

    /// Logs in and keeps what that gives; `show` says what the person has to do meanwhile. Gives the file it is kept in.
    ///
    /// # Errors
    /// When it fails; then nothing is changed.
    pub async fn run(&self, show: impl FnOnce(InBrowser)) -> Result<String, AppError> {
        let login = DeviceLogin::begin(&self.settings).await.map_err(of_login)?;
        let minutes = login.good_for().as_secs().div_ceil(60);
        show(InBrowser { page: login.verification_uri.clone(), code: login.user_code.clone(), minutes });
        let token = login.wait().await.map_err(of_login)?;
        self.check(&token).await?;
        let provider = self.provider.clone();
        self.file.change(|kept| kept.entry(provider).or_default().login = Some(token)).map_err(failed)?;
        Ok(self.file.path().display().to_string())
    }

    /// Whether the account may use it at all is better known now than at the first question.
    async fn check(&self, token: &SecretString) -> Result<(), AppError> {
        let key = Key::new(token.expose_secret(), "the login")
            .ok_or_else(|| AppError::new(Trouble::NoModel, "the login gave a token that can't be used"))?;
        let traded = Login::new(&self.provider, &self.settings, key).token().await;
        traded.map(drop).map_err(|error| of_trade(&error))
    }
}

fn of_trade(error: &ModelError) -> AppError {
    let told = AppError::new(Trouble::NoModel, error.message.clone());
    match error.kind {
        ErrorKind::Permission => told.hint("github.com/settings/copilot shows whether Copilot is on for an account."),
        _ => told,
    }
}

fn of_login(error: LoginError) -> AppError {
    let trouble = match &error {
        LoginError::Denied => Trouble::NotAllowed,
        LoginError::Expired => Trouble::Failed,
        LoginError::Refused(_) | LoginError::Unreachable { .. } => Trouble::NoModel,
    };
    AppError::new(trouble, error.to_string())
}
