//! Where keys are found on this machine: the environment, the keys file, the keyring.

use neco_config::section::ProviderSection;
use neco_config::{Config, Env, Loaded};
use neco_model::KeySources;
use neco_model::route::{Kept, KeptKeys, KeysFile};
use secrecy::ExposeSecret;

use super::own_commands::hash;

/// The name of the keys file in the configuration's folder.
const FILE: &str = "keys.toml";

/// Keys of this machine.
pub struct Keys<'a> {
    env: &'a Env,
    kept: Result<KeptKeys, String>,
}

impl<'a> Keys<'a> {
    /// Looks at the keys file, once.
    pub fn find(env: &'a Env) -> Self {
        Self { env, kept: file(env).read().map_err(|error| error.to_string()) }
    }

    /// Everything that the keys file has.
    ///
    /// # Errors
    /// When it can't be used; says what to do.
    pub fn kept(&self) -> Result<&KeptKeys, &str> {
        self.kept.as_ref().map_err(String::as_str)
    }
}

impl KeySources for Keys<'_> {
    fn variable(&self, name: &str) -> Option<String> {
        self.env.var(name).map(str::to_owned)
    }

    fn kept(&self, provider: &str) -> Result<Kept, String> {
        match &self.kept {
            Ok(kept) => Ok(kept.get(provider).cloned().unwrap_or_default()),
            Err(reason) => Err(reason.clone()),
        }
    }

    fn keyring(&self, entry: &str) -> Result<Option<secrecy::SecretString>, String> {
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
        // A name with other characters than letters, digits and dashes is written in quotes.
        let keys = [format!("model_providers.{name}.api_key"), format!("model_providers.\"{name}\".api_key")];
        let mut settings = loaded.origins.settings().iter();
        let place = settings.find(|setting| keys.contains(&setting.key)).map(|setting| format!("{}: ", setting.origin));
        Some(format!(
            "{}api_key of {name}: a key among settings is easily shared; `neco login {name}` stores it more safely",
            place.unwrap_or_default()
        ))
    };
    loaded.config.model_providers.iter().filter_map(written).collect()
}

#[cfg(feature = "keyring")]
mod keyring {
    //! The system's keyring.

    use keyring::{Entry, Error};
    use secrecy::SecretString;

    /// What keys are filed under, together with the entry's name.
    const SERVICE: &str = "neco";

    pub(super) fn get(entry: &str) -> Result<Option<SecretString>, String> {
        match Entry::new(SERVICE, entry).and_then(|entry| entry.get_password()) {
            Ok(key) => Ok(Some(key.into())),
            Err(Error::NoEntry) => Ok(None),
            Err(Error::BadEncoding(_) | Error::BadDataFormat(..)) => {
                Err(format!("what the keyring has under `{entry}` is not text"))
            }
            Err(Error::NoDefaultStore) => {
                let cause = Entry::store_status().as_ref().err().map(ToString::to_string).unwrap_or_default();
                Err(format!("no keyring answers: {cause}"))
            }
            Err(error) => Err(format!("the keyring does not answer: {error}")),
        }
    }
}

#[cfg(not(feature = "keyring"))]
mod keyring {
    //! A build without the system's keyring.

    use secrecy::SecretString;

    pub(super) fn get(entry: &str) -> Result<Option<SecretString>, String> {
        Err(format!(
            "keyring = \"{entry}\" is set, but this build has no support for keyrings: use `neco login`, or build it \
             with --features keyring"
        ))
    }
}
