//! Whom to ask: from `provider/model?param=value` to an address, a key and a dialect.
//!
//! Providers are data: the built-in table is `providers.toml`, and what the configuration says is
//! laid over it. Adding a provider that speaks a known format takes an entry, no code.
//!
//! Reading order: [`name`] (what people write), [`table`] (providers), [`keys`], [`keys_file`] and
//! [`sources`] (where they come from), [`auth`] and [`login`] (keys that must be fetched), [`endpoint`].

pub mod auth;
pub mod endpoint;
pub mod keys;
pub mod keys_file;
pub mod login;
pub mod name;
pub mod sources;
pub mod table;

pub use auth::{Credential, Login, LoginSettings};
pub use endpoint::Address;
pub use endpoint::{Endpoint, Timeouts};
pub use keys::Key;
pub use keys_file::{Kept, KeptKeys, KeysFile, KeysFileError};
pub use login::{DeviceLogin, LoginError};
pub use name::{ModelName, Parameters};
pub use sources::{KeySourceError, KeySources, NoKeys, credentials_in};
pub use table::{ProviderEntry, Providers};
