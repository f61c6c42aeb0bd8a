//! The one model that a wire is bound to.

use crate::catalogue::ModelInfo;
use crate::route::Parameters;

/// One model, what is known of it, and how it is to be called.
#[derive(Clone, Debug, PartialEq)]
pub struct Target {
    /// The provider's name in the configuration.
    pub provider: String,
    /// The vendor's name of the model.
    pub model: String,
    /// How it is to be called.
    pub parameters: Parameters,
    /// What is known of it.
    pub info: ModelInfo,
}

impl Target {
    /// A model of which nothing is known, called as the vendor likes.
    #[must_use]
    pub fn new(provider: &str, model: &str) -> Self {
        Self {
            provider: provider.to_owned(),
            model: model.to_owned(),
            parameters: Parameters::default(),
            info: ModelInfo::default(),
        }
    }
}

/// A model's name as one segment of a path.
pub(crate) fn path_segment(model: &str) -> String {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-._~:".contains(&byte);
    let write = |byte: u8| if plain(byte) { char::from(byte).to_string() } else { format!("%{byte:02X}") };
    model.bytes().map(write).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_stays_one_segment() {
        assert_eq!(path_segment("gemini-2.5-pro"), "gemini-2.5-pro");
        assert_eq!(path_segment("a/b?c#d é"), "a%2Fb%3Fc%23d%20%C3%A9");
    }
}
