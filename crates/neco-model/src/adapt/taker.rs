//! What a vendor takes.

use crate::route::name::family;
use crate::wire::target::Target;

/// Forms of pictures that all vendors know.
const PICTURES: [&str; 3] = ["image/png", "image/jpeg", "image/webp"];
const GIF: &str = "image/gif";

/// Who a conversation is made fit for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Taker {
    /// The provider's name in the configuration.
    pub provider: String,
    /// The vendor's name of the model.
    pub model: String,
    /// Whether it sees pictures.
    pub vision: bool,
    /// Whether that holds for GIF too.
    pub gif: bool,
    /// Which ids of calls it accepts.
    pub call_ids: CallIds,
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

/// How the author of a message is related to who is asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kin {
    /// The same model: it gets back what it signed or encrypted.
    Author,
    /// Another model of the same provider: plain thoughts may go to it.
    Sibling,
    /// Someone else, or nobody knows who.
    Stranger,
}

impl Taker {
    /// What `target` takes.
    pub fn new(target: &Target, call_ids: CallIds) -> Self {
        let Target { provider, model, info, .. } = target;
        Self { provider: provider.clone(), model: model.clone(), vision: info.vision, gif: true, call_ids }
    }

    /// Whether it sees pictures of this kind.
    pub(crate) fn sees(&self, media_type: &str) -> bool {
        self.vision && (PICTURES.contains(&media_type) || self.gif && media_type == GIF)
    }

    /// What `author` (`provider/model`) is to this taker.
    pub(super) fn kin(&self, author: Option<&str>) -> Kin {
        let Some((provider, model)) = author.and_then(|author| author.split_once('/')) else { return Kin::Stranger };
        if provider != self.provider {
            Kin::Stranger
        } else if family(model) == family(&self.model) {
            Kin::Author
        } else {
            Kin::Sibling
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn thoughts_go_back_to_their_author_only() {
        let taker = Taker::new(&Target::new("anthropic", "claude-sonnet-4-5"), CallIds::Words(64));
        for (author, kin) in [
            (None, Kin::Stranger),
            (Some("anthropic/claude-sonnet-4-5"), Kin::Author),
            (Some("anthropic/claude-sonnet-4-5-20250929"), Kin::Author),
            (Some("anthropic/claude-opus-4-5"), Kin::Sibling),
            (Some("anthropic-two/claude-sonnet-4-5"), Kin::Stranger),
        ] {
            assert_eq!(taker.kin(author), kin, "{author:?}");
        }
    }
}
