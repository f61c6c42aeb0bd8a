//! Where keys come from, and which of them count.
//!
//! Precedence: the configuration, the environment, the keys file, the keyring of the system. The
//! first one that has keys counts, and all its keys take turns.

use std::sync::Arc;

use neco_proto::app::keys::KeyPlace;
use secrecy::{ExposeSecret, SecretString};

use super::auth::{Credential, Login};
use super::keys::Key;
use super::keys_file::{Kept, KeysFileError};
use super::table::ProviderEntry;
use crate::setup::SetupError;

/// Where keys are found besides the configuration. Whoever starts Neco knows: this crate reads no
/// environment and no home.
/// ```
/// use neco_model::KeySources;
/// use neco_model::route::{KeySourceError, Kept};
/// use secrecy::SecretString;
///
/// /// Only one variable, and no keyring.
/// struct OneVariable;
///
/// impl KeySources for OneVariable {
///     fn variable(&self, name: &str) -> Option<String> {
///         (name == "EXAMPLE_API_KEY").then(|| "sk-example".to_owned())
///     }
///
///     fn kept(&self, _: &str) -> Result<Kept, KeySourceError> {
///         Ok(Kept::default())
///     }
///
///     fn keyring(&self, _: &str) -> Result<Option<SecretString>, KeySourceError> {
///         Ok(None)
///     }
/// }
/// # assert!(OneVariable.variable("HOME").is_none());
/// ```
pub trait KeySources {
    /// The value of an environment variable.
    fn variable(&self, name: &str) -> Option<String>;

    /// What the keys file keeps for a provider.
    /// Fails when the file can't be used.
    fn kept(&self, provider: &str) -> Result<Kept, KeySourceError>;

    /// The key in the system's keyring that is filed under `entry`.
    /// Fails when there is no keyring or it does not answer.
    fn keyring(&self, entry: &str) -> Result<Option<SecretString>, KeySourceError>;
}

/// Why a place can't be looked at that may hold keys.
#[derive(Clone, Debug, thiserror::Error)]
#[allow(missing_docs, reason = "the message says what each field is")]
pub enum KeySourceError {
    /// The keys file can't be used.
    #[error(transparent)]
    File(#[from] Arc<KeysFileError>),
    /// What is filed there is no key.
    #[error("what the keyring has under `{0}` is not text")]
    NoText(String),
    /// There is no keyring.
    #[error("no keyring answers: {0}")]
    NoKeyring(String),
    /// There is one, and it fails.
    #[error("the keyring does not answer: {0}")]
    Silent(String),
    /// This program was built without keyrings.
    #[error(
        "keyring = \"{0}\" is set, but this build has no support for keyrings: use `neco login`, or build it with \
         --features keyring"
    )]
    Unsupported(String),
}

/// No keys anywhere.
#[derive(Clone, Copy, Debug, Default)]
pub struct NoKeys;

impl KeySources for NoKeys {
    fn variable(&self, _: &str) -> Option<String> {
        None
    }

    fn kept(&self, _: &str) -> Result<Kept, KeySourceError> {
        Ok(Kept::default())
    }

    fn keyring(&self, _: &str) -> Result<Option<SecretString>, KeySourceError> {
        Ok(None)
    }
}

/// Variables alone.
impl<F: Fn(&str) -> Option<String>> KeySources for F {
    fn variable(&self, name: &str) -> Option<String> {
        self(name)
    }

    fn kept(&self, provider: &str) -> Result<Kept, KeySourceError> {
        NoKeys.kept(provider)
    }

    fn keyring(&self, entry: &str) -> Result<Option<SecretString>, KeySourceError> {
        NoKeys.keyring(entry)
    }
}

/// What `entry` has in a place.
/// Fails when the place can't be looked at, or a key in it can't be sent.
pub fn credentials_in(
    place: KeyPlace,
    entry: &ProviderEntry,
    sources: &dyn KeySources,
) -> Result<Vec<Credential>, SetupError> {
    let unreadable =
        |error: KeySourceError| SetupError::KeySource { provider: entry.name.clone(), reason: error.to_string() };
    let mut found = match place {
        KeyPlace::Configuration => Found::keys(entry.api_key.clone(), "the configuration"),
        KeyPlace::Environment => {
            let variable = |name: &String| Some((sources.variable(name)?.into(), name.clone()));
            let mut keys: Vec<_> = entry.api_key_envs.iter().filter_map(variable).collect();
            if keys.is_empty() {
                keys.extend(entry.shared_key_envs.iter().filter_map(variable));
            }
            Found { keys, login: None }
        }
        KeyPlace::File => {
            let Kept { keys, login } = sources.kept(&entry.name).map_err(unreadable)?;
            Found { login, ..Found::keys(keys, "the keys file") }
        }
        KeyPlace::Keyring => {
            let key = entry.keyring.as_deref().map(|name| sources.keyring(name)).transpose().map_err(unreadable)?;
            Found::keys(key.flatten(), "the keyring")
        }
    };
    found.keys.retain(|(key, _)| !key.expose_secret().trim().is_empty());
    found.into_credentials(entry)
}

/// The credentials of `entry` that count; none when it has none.
/// Fails when a place that might have some can't be looked at, or a key can't be sent.
pub(crate) fn credentials(entry: &ProviderEntry, sources: &dyn KeySources) -> Result<Vec<Credential>, SetupError> {
    for &place in KeyPlace::ALL {
        let found = credentials_in(place, entry, sources)?;
        if !found.is_empty() {
            return Ok(found);
        }
    }
    Ok(Vec::new())
}

struct Found {
    keys: Vec<(SecretString, String)>,
    login: Option<SecretString>,
}

impl Found {
    fn keys(keys: impl IntoIterator<Item = SecretString>, source: &str) -> Self {
        Self { keys: keys.into_iter().map(|key| (key, source.to_owned())).collect(), login: None }
    }

    fn into_credentials(self, entry: &ProviderEntry) -> Result<Vec<Credential>, SetupError> {
        // A login that the provider no longer has is of no use.
        let login = self.login.zip(entry.login.as_ref());
        let count = self.keys.len() + usize::from(login.is_some());
        let make = |secret: &SecretString, source: &str, number: usize| {
            let bad = || SetupError::BadKey { provider: entry.name.clone(), source_name: source.to_owned() };
            let mut key = Key::new(secret.expose_secret(), source).ok_or_else(bad)?;
            key.set_place(number, count);
            Ok(key)
        };
        let mut credentials = Vec::with_capacity(count);
        for (at, (secret, source)) in self.keys.iter().enumerate() {
            credentials.push(Credential::Key(Arc::new(make(secret, source, at + 1)?)));
        }
        if let Some((secret, settings)) = login {
            let key = make(&secret, "the login", count)?;
            credentials.push(Credential::Login(Arc::new(Login::new(&entry.name, settings, key))));
        }
        Ok(credentials)
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use neco_config::section::ProviderSection;

    use super::*;
    use crate::route::Providers;

    /// What each place has.
    #[derive(Default)]
    struct Places {
        variable: Option<&'static str>,
        file: Kept,
        refused: bool,
        keyring: Option<&'static str>,
    }

    impl KeySources for Places {
        fn variable(&self, name: &str) -> Option<String> {
            self.variable.filter(|_| name == "OPENAI_API_KEY").map(str::to_owned)
        }

        fn kept(&self, _: &str) -> Result<Kept, KeySourceError> {
            let refused = || Arc::new(KeysFileError::Open("it".to_owned()));
            if self.refused { Err(refused().into()) } else { Ok(self.file.clone()) }
        }

        fn keyring(&self, entry: &str) -> Result<Option<SecretString>, KeySourceError> {
            assert_eq!(entry, "work");
            Ok(self.keyring.map(Into::into))
        }
    }

    fn found(provider: &str, section: ProviderSection, places: &Places) -> Result<Vec<String>, SetupError> {
        let providers = Providers::new(&BTreeMap::from([(provider.to_owned(), section)])).unwrap();
        let credentials = credentials(providers.get(provider).unwrap(), places)?;
        Ok(credentials.iter().map(|credential| credential.key().to_string()).collect())
    }

    #[test]
    fn the_first_place_with_keys_counts() {
        let configured = ProviderSection {
            api_key: Some("sk-configured".to_owned()),
            keyring: Some("work".to_owned()),
            ..ProviderSection::default()
        };
        let mut places = Places {
            variable: Some("sk-variable"),
            file: Kept { keys: vec!["sk-one".into(), " ".into(), "sk-two".into()], login: None },
            refused: false,
            keyring: Some("sk-ring"),
        };
        let with_ring = ProviderSection { api_key: None, ..configured.clone() };
        assert_eq!(found("openai", configured, &places).unwrap(), ["the key in the configuration"]);
        assert_eq!(found("openai", with_ring.clone(), &places).unwrap(), ["the key in OPENAI_API_KEY"]);
        places.variable = Some(" ");
        let kept = ["key 1 of 2 (the keys file)", "key 2 of 2 (the keys file)"];
        assert_eq!(found("openai", with_ring.clone(), &places).unwrap(), kept);
        places.file = Kept::default();
        assert_eq!(found("openai", with_ring, &places).unwrap(), ["the key in the keyring"]);
        assert!(found("openai", ProviderSection::default(), &places).unwrap().is_empty());
    }

    #[test]
    fn a_place_that_can_not_be_looked_at_matters_only_when_it_is_reached() {
        let mut places = Places { variable: Some("sk-variable"), refused: true, ..Places::default() };
        assert!(found("openai", ProviderSection::default(), &places).is_ok());
        places.variable = None;
        let error = found("openai", ProviderSection::default(), &places).unwrap_err().to_string();
        assert!(error.contains("openai") && error.contains("chmod 600 it"), "{error}");
    }

    #[test]
    fn a_login_is_one_of_the_keys_where_there_is_one() {
        let file = Kept { keys: vec!["sk-one".into()], login: Some("gho_x".into()) };
        let places = Places { file, ..Places::default() };
        assert_eq!(
            found("github-copilot", ProviderSection::default(), &places).unwrap(),
            ["key 1 of 2 (the keys file)", "key 2 of 2 (the login)"]
        );
        assert_eq!(found("openai", ProviderSection::default(), &places).unwrap(), ["the key in the keys file"]);
    }
}
