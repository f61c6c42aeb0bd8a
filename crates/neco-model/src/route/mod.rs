//! Whom to ask: from `provider/model?param=value` to an address, a key and a dialect.
//!
//! Providers are data: the built-in table is `providers.toml`, and what the configuration says is
//! laid over it. Adding a provider that speaks a known format takes an entry, no code.
//!
//! Reading order: [`name`] (what people write), [`table`] (providers), [`keys`], [`endpoint`].

pub mod endpoint;
pub mod keys;
pub mod name;
pub mod table;

pub use endpoint::{Endpoint, Timeouts};
pub use keys::Key;
pub use name::{ModelName, Parameters};
pub use table::{ProviderEntry, Providers};
