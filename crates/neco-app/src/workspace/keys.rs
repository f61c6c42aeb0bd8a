//! Where keys are found on this machine: the environment, the keys file, the keyring.

use std::sync::Arc;

use neco_config::section::ProviderSection;
use neco_config::{Config, Env, Loaded};
use neco_model::KeySources;
use neco_model::route::{Kept, KeptKeys, KeySourceError, KeysFile, KeysFileError};
use secrecy::ExposeSecret;

use super::own_commands::hash;

/// The name of the keys file in the configuration's folder.
const FILE: &str = "keys.toml";

/// Keys of this machine.
pub struct Keys<'a> {
    env: &'a Env,
    kept: Result<KeptKeys, Arc<KeysFileError>>,
}

impl<'a> Keys<'a> {
    /// Looks at the keys file, once.
    pub fn find(env: &'a Env) -> Self {
        Self { env, kept: file(env).read().map_err(Arc::new) }
    }

    /// Everything that the keys file has.
    ///
    /// # Errors
    /// When it can't be used; says what to do.
    pub fn kept(&self) -> Result<&KeptKeys, &KeysFileError> {
        self.kept.as_ref().map_err(Arc::as_ref)
    }
}

impl KeySources for Keys<'_> {
    fn variable(&self, name: &str) -> Option<String> {
        self.env.var(name).map(str::to_owned)
    }

    fn kept(&self, provider: &str) -> Result<Kept, KeySourceError> {
        let kept = self.kept.as_ref().map_err(Arc::clone)?;
        Ok(kept.get(provider).cloned().unwrap_or_default())
    }

    fn keyring(&self, entry: &str) -> Result<Option<secrecy::SecretString>, KeySourceError> {
        keyring::get(entry)
    }
}

/// The file that `neco auth` writes.
pub fn file(env: &Env) -> KeysFile {
    KeysFile::new(env.config_dir().join(FILE))
}

/// What tells whether the keys are others that settings name in the keyring; nothing where they name none. No key can be
/// read from it.
pub(crate) fn in_keyring(config: &Config) -> Option<String> {
    let mut entries = config.model_providers.values().filter_map(|section| section.keyring.as_deref()).peekable();
    entries.peek()?;
    let key = |entry: &str| {
        let key = keyring::get(entry).ok().flatten();
        format!("{entry}\0{}\0", key.as_ref().map_or("", |key| key.expose_secret()))
    };
    Some(hash(&entries.map(key).collect::<String>()))
}

/// A key without the quotes around it that belong to a file or a shell.
pub fn unquoted(key: &str) -> &str {
    let within = |quote: char| key.strip_prefix(quote).and_then(|key| key.strip_suffix(quote));
    within('"').or_else(|| within('\'')).unwrap_or(key)
}

/// What is to be said about keys that stand among the settings.
pub fn warnings(loaded: &Loaded) -> Vec<String> {
    let written = |(name, section): (&String, &ProviderSection)| {
        section.api_key.as_ref()?;
        let place = loaded.origins.origin(&["model_providers", name, "api_key"]).map(|origin| format!(" ({origin})"));
        Some(format!(
            "A key among settings is easily shared: api_key of {name}{}; `neco login {name}` stores it more safely",
            place.unwrap_or_default()
        ))
    };
    loaded.config.model_providers.iter().filter_map(written).collect()
}

#[cfg(feature = "keyring")]
mod keyring {
    //! The system's keyring.

    use keyring::{Entry, Error};
    use neco_model::route::KeySourceError;
    use secrecy::SecretString;

    /// What keys are filed under, together with the entry's name.
    const SERVICE: &str = "neco";

    pub(super) fn get(entry: &str) -> Result<Option<SecretString>, KeySourceError> {
        match Entry::new(SERVICE, entry).and_then(|entry| entry.get_password()) {
            Ok(key) => Ok(Some(key.into())),
            Err(Error::NoEntry) => Ok(None),
            Err(Error::BadEncoding(_) | Error::BadDataFormat(..)) => Err(KeySourceError::NoText(entry.to_owned())),
            Err(Error::NoDefaultStore) => {
                let cause = Entry::store_status().as_ref().err().map(ToString::to_string).unwrap_or_default();
                Err(KeySourceError::NoKeyring(cause))
            }
            Err(error) => Err(KeySourceError::Silent(error.to_string())),
        }
    }
}

#[cfg(not(feature = "keyring"))]
mod keyring {
    //! A build without the system's keyring.

    use neco_model::route::KeySourceError;
    use secrecy::SecretString;

    pub(super) fn get(entry: &str) -> Result<Option<SecretString>, KeySourceError> {
        Err(KeySourceError::Unsupported(entry.to_owned()))
    }
}
