//! What a vendor takes.

use crate::route::name::family;
use crate::wire::target::Target;

/// Who a conversation is made fit for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Taker {
    /// The provider's name in the configuration.
    pub provider: String,
    /// The vendor's name of the model.
    pub model: String,
    /// Whether it sees pictures.
    pub vision: bool,
    /// Which ids of calls it accepts.
    pub call_ids: CallIds,
    /// Whose thoughts it takes back.
    pub thoughts: Thoughts,
}

/// Which ids of calls a vendor accepts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CallIds {
    /// Anything without spaces, at most so long. Some models give their ids a meaning.
    Text(usize),
    /// Letters, digits, `_` and `-`, at most so many.
    Words(usize),
    /// Nine letters and digits, no more and no less.
    Nine,
}

/// Whose thoughts a vendor takes back.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Thoughts {
    /// Those of all its models: they are text.
    OfProvider,
    /// Only those of the model that is asked: they are signed or encrypted.
    OfModel,
}

impl Taker {
    /// What `target` takes.
    #[must_use]
    pub fn new(target: &Target, call_ids: CallIds, thoughts: Thoughts) -> Self {
        let Target { provider, model, info, .. } = target;
        Self { provider: provider.clone(), model: model.clone(), vision: info.vision, call_ids, thoughts }
    }

    /// Whether what `author` (`provider/model`) thought goes back to this taker; what nobody is known
    /// to have thought goes to nobody.
    pub(super) fn takes_thoughts_of(&self, author: Option<&str>) -> bool {
        let Some((provider, model)) = author.and_then(|author| author.split_once('/')) else { return false };
        provider == self.provider
            && match self.thoughts {
                Thoughts::OfProvider => true,
                Thoughts::OfModel => family(model) == family(&self.model),
            }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn thoughts_go_back_to_their_author_only() {
        let taker = |thoughts| Taker::new(&Target::new("anthropic", "claude-sonnet-4-5"), CallIds::Words(64), thoughts);
        let text = taker(Thoughts::OfProvider);
        assert!(!text.takes_thoughts_of(None));
        assert!(text.takes_thoughts_of(Some("anthropic/other")));
        assert!(!text.takes_thoughts_of(Some("anthropic-two/claude-sonnet-4-5")));
        let signed = taker(Thoughts::OfModel);
        assert!(!signed.takes_thoughts_of(None));
        assert!(signed.takes_thoughts_of(Some("anthropic/claude-sonnet-4-5")));
        assert!(signed.takes_thoughts_of(Some("anthropic/claude-sonnet-4-5-20250929")));
        assert!(!signed.takes_thoughts_of(Some("anthropic/claude-opus-4-5")));
    }
}
