//! Keys of providers. A value goes in and never comes back.

use std::fmt;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::known::Known;
use super::request::request;
use crate::mode::names;

/// A key on its way in, which nothing prints.
#[derive(Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(transparent)]
pub struct NewKey(pub String);

impl fmt::Debug for NewKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("NewKey(***)")
    }
}

/// Lists which providers have keys, and where.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct ListKeys {
    /// The folder whose settings count.
    pub folder: String,
}

request!(ListKeys => KeyList, "keys.list", Get "/keys", Read, repeatable);

/// Which providers have keys.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct KeyList {
    /// What each has in each place, the place that counts first in front.
    pub keys: Vec<KeyRow>,
    /// The file of keys.
    pub file: String,
    /// Why that can't be used.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub problem: Option<String>,
    /// What is not as it was meant in the settings.
    #[serde(default)]
    pub warnings: Vec<String>,
}

/// What one provider has in one place.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct KeyRow {
    /// The provider.
    pub provider: String,
    /// The place.
    pub source: Known<KeyPlace>,
    /// What a person would call it: variables by name, a login as such.
    pub names: Vec<String>,
    /// How many keys there are.
    pub keys: usize,
    /// The last characters of each, where they may be shown.
    pub endings: Vec<Option<String>>,
    /// Whether these keys are the ones that are sent.
    pub used: bool,
    /// Why there is nothing to be seen.
    pub problem: Option<String>,
    /// Whether one of them is a login.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub login: bool,
}

names! {
    /// One of the places that keys come from.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
    pub enum KeyPlace {
        /// `api_key`.
        Configuration = "configuration",
        /// `api_key_env` and `api_key_envs`.
        Environment = "environment",
        /// What `neco auth` keeps.
        File = "keys file",
        /// `keyring`.
        Keyring = "keyring",
    }
}

names! {
    /// What came of testing a key that is kept.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
    pub enum KeyTest {
        /// The provider takes it.
        Works = "works",
        /// The provider did not answer.
        Unreachable = "unreachable",
    }
}

/// Keeps a key of a provider.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct SetKey {
    /// The folder whose settings count.
    pub folder: String,
    /// The provider.
    pub provider: String,
    /// The key; without one it is only looked whether one could be kept.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub key: Option<NewKey>,
    /// Whether it takes the place of those that are kept already.
    pub replace: bool,
    /// Whether the provider is asked first: a key that it refuses is not kept.
    pub check: bool,
}

request!(SetKey => KeptKey, "keys.set", Put "/keys/{provider}", Manage, repeatable);

/// What is kept now.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct KeptKey {
    /// How many keys of the provider are kept.
    pub keys: usize,
    /// Whether this one was not kept before.
    pub new: bool,
    /// How many it took the place of.
    pub replaced: usize,
    /// The file of keys.
    pub file: String,
    /// The place whose key is sent instead.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hidden_by: Option<Known<KeyPlace>>,
    /// Whether the provider has a login with a browser.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub has_login: bool,
    /// What the provider said of it, where it was asked and the answer says something.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub test: Option<Known<KeyTest>>,
    /// What is not as it was meant in the settings.
    #[serde(default)]
    pub warnings: Vec<String>,
}

/// Forgets what is kept for a provider, or one key of it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct RemoveKeys {
    /// The folder whose settings count.
    pub folder: String,
    /// The provider.
    pub provider: String,
    /// The number of the key, from 1, as a person writes it; all and the login without one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub number: Option<String>,
}

request!(RemoveKeys => RemovedKeys, "keys.remove", Delete "/keys/{provider}", Manage, once);

/// What was forgotten.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct RemovedKeys {
    /// How many keys.
    pub keys: usize,
    /// Whether a login went with them.
    pub login: bool,
    /// The file of keys.
    pub file: String,
    /// What is not as it was meant in the settings.
    #[serde(default)]
    pub warnings: Vec<String>,
}
