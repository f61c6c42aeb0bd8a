//! Which messages of a context are shown, and in which order: what stands behind `/context`.

use neco_proto::{Author, MessageSize, Role};

/// How many are shown when nobody says.
const USUAL: usize = 5;

/// Who said a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Speaker {
    /// The person.
    You,
    /// The model.
    Model,
    /// Tools, by what they gave.
    Tools,
    /// Neco, or a hook.
    Neco,
}

/// Which messages are shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ContextView {
    /// Only those of one.
    pub speaker: Option<Speaker>,
    /// As they were said, and not the biggest first.
    pub in_order: bool,
    /// How many.
    pub most: usize,
}

impl Default for ContextView {
    fn default() -> Self {
        Self { speaker: None, in_order: false, most: USUAL }
    }
}

impl Speaker {
    /// Whoever said it.
    pub fn of(message: &MessageSize) -> Self {
        match (message.role, message.author) {
            (Role::Assistant, _) => Self::Model,
            (Role::Tool, _) => Self::Tools,
            (Role::User, Some(Author::Neco | Author::Hook)) => Self::Neco,
            (Role::User, Some(Author::Person) | None) => Self::You,
        }
    }

    /// In words.
    pub fn words(self) -> &'static str {
        match self {
            Self::You => "you",
            Self::Model => "the model",
            Self::Tools => "a tool",
            Self::Neco => "Neco",
        }
    }

    fn named(name: &str) -> Option<Self> {
        match name {
            "you" | "user" => Some(Self::You),
            "model" | "assistant" => Some(Self::Model),
            "tool" | "tools" => Some(Self::Tools),
            "neco" => Some(Self::Neco),
            _ => None,
        }
    }
}

impl ContextView {
    /// What may be written behind the command.
    pub const ARGUMENT: &'static str = "[you|model|tools|neco] [order] [NUMBER|all]";

    /// What is written behind it, if all of it says something about this.
    pub fn parse(text: &str) -> Option<Self> {
        let mut view = Self::default();
        for word in text.split_whitespace() {
            match (word, Speaker::named(word), word.parse()) {
                ("all", ..) => view.most = usize::MAX,
                ("order", ..) => view.in_order = true,
                ("size", ..) => view.in_order = false,
                (_, Some(speaker), _) => view.speaker = Some(speaker),
                (_, None, Ok(most)) if most > 0 => view.most = most,
                _ => return None,
            }
        }
        Some(view)
    }

    /// The messages that are shown, each with its number from one, and how many others there are of the same kind.
    pub fn of<'a>(&self, messages: &'a [MessageSize]) -> (Vec<(usize, &'a MessageSize)>, usize) {
        let fits = |message: &MessageSize| self.speaker.is_none_or(|speaker| Speaker::of(message) == speaker);
        let mut chosen: Vec<_> = (1..).zip(messages).filter(|(_, message)| fits(message)).collect();
        let all = chosen.len();
        chosen.sort_by_key(|(_, message)| std::cmp::Reverse(message.tokens));
        chosen.truncate(self.most);
        if self.in_order {
            chosen.sort_by_key(|(number, _)| *number);
        }
        let left = all - chosen.len();
        (chosen, left)
    }
}

#[cfg(test)]
mod tests {
    use neco_proto::MessageId;

    use super::*;

    fn message(role: Role, author: Option<Author>, tokens: u64) -> MessageSize {
        let (begins, tools) = (String::new(), Vec::new());
        MessageSize { id: MessageId::new(), role, author, tokens, share: 0.0, begins, tools }
    }

    fn shown(words: &str) -> (Vec<usize>, usize) {
        let messages = [
            message(Role::User, None, 10),
            message(Role::User, Some(Author::Neco), 20),
            message(Role::Assistant, None, 30),
            message(Role::Tool, None, 500),
            message(Role::Assistant, None, 40),
            message(Role::User, Some(Author::Person), 60),
        ];
        let (chosen, left) = ContextView::parse(words).unwrap().of(&messages);
        (chosen.into_iter().map(|(number, _)| number).collect(), left)
    }

    #[test]
    fn messages_are_chosen_by_speaker_and_put_into_order() {
        for (words, numbers, left) in [
            ("", &[4, 6, 5, 3, 2][..], 1),
            ("all", &[4, 6, 5, 3, 2, 1], 0),
            ("order all", &[1, 2, 3, 4, 5, 6], 0),
            ("order 2", &[4, 6], 4),
            ("you", &[6, 1], 0),
            ("model 1", &[5], 1),
            ("tools order", &[4], 0),
            ("neco", &[2], 0),
        ] {
            assert_eq!(shown(words), (numbers.to_vec(), left), "{words}");
        }
        for wrong in ["0", "everything", "model -1"] {
            assert_eq!(ContextView::parse(wrong), None, "{wrong}");
        }
    }
}
