//! How many tokens a conversation has: estimated message by message, made exact by what vendors count.
//!
//! No tokenizer files: vendors change theirs with their models, and every answer brings the exact
//! count of what was asked. The estimate only has to bridge what was added since, and errs on the
//! high side, because a request that is too long fails while one that is too short costs nothing.

use neco_proto::{Message, Part, ToolCall, ToolResult, Usage};

/// Thousandths of a token.
type Milli = u64;

/// What stands around a message or a call on the wire.
const MESSAGE: Milli = 4_000;
const CALL: Milli = 8_000;

/// Vendors whose tokenizers cut text alike.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Family {
    /// Claude: the shortest tokens.
    Anthropic,
    /// Gemini: digits one by one.
    Gemini,
    /// GPT and the models that borrowed its tokenizer.
    Openai,
    /// DeepSeek, GLM, Qwen, Kimi, MiniMax: long tokens for Chinese.
    Chinese,
    /// Everybody else.
    #[default]
    Other,
}

impl Family {
    /// The family of `provider/model`, by the model's name wherever it is served.
    pub fn of(label: &str) -> Self {
        let label = label.to_lowercase();
        let model = label.rsplit('/').next().unwrap_or(&label);
        let has = |marks: &[&str]| marks.iter().any(|mark| model.contains(mark));
        if has(&["claude"]) {
            Self::Anthropic
        } else if has(&["gemini", "gemma"]) {
            Self::Gemini
        } else if has(&["gpt", "codex"]) || model.starts_with("o3") || model.starts_with("o4") {
            Self::Openai
        } else if has(&["deepseek", "glm", "qwen", "kimi", "minimax"]) {
            Self::Chinese
        } else {
            Self::Other
        }
    }

    fn rates(self) -> Rates {
        match self {
            Self::Anthropic => Rates { letters: 4, digits: 3, ideograph: 1_200, letter: 650, picture: 1_600 },
            Self::Gemini => Rates { letters: 5, digits: 1, ideograph: 750, letter: 450, picture: 1_100 },
            Self::Openai => Rates { letters: 6, digits: 3, ideograph: 850, letter: 450, picture: 1_100 },
            Self::Chinese => Rates { letters: 5, digits: 1, ideograph: 650, letter: 500, picture: 1_300 },
            Self::Other => Rates { letters: 4, digits: 1, ideograph: 1_200, letter: 650, picture: 1_600 },
        }
    }
}

/// How a family cuts text.
#[derive(Clone, Copy)]
struct Rates {
    /// Letters of a word that one token holds.
    letters: u64,
    /// Digits that one token holds.
    digits: u64,
    /// For a Chinese, Japanese or Korean character.
    ideograph: Milli,
    /// For a letter of another script that is not Latin.
    letter: Milli,
    /// Tokens of a picture.
    picture: u64,
}

/// A running count. Adding a message costs the length of that message; nothing is counted twice.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TokenCount {
    family: Family,
    /// What a vendor counted.
    exact: u64,
    /// What was added since.
    estimate: Milli,
    /// The part of `estimate` that the request under way holds.
    asked: Option<Milli>,
}

impl TokenCount {
    /// Nothing yet, for a model of `family`.
    pub fn new(family: Family) -> Self {
        Self { family, ..Self::default() }
    }

    /// Adds text that is no message: the system prompt, the declarations of tools.
    pub fn add_text(&mut self, text: &str) {
        self.estimate = self.estimate.saturating_add(of_text(text, &self.family.rates()));
    }

    /// Adds what was counted elsewhere.
    pub fn add_tokens(&mut self, tokens: u64) {
        self.estimate = self.estimate.saturating_add(tokens.saturating_mul(1000));
    }

    /// Adds the next message.
    pub fn add(&mut self, message: &Message) {
        self.estimate = self.estimate.saturating_add(of_message(message, &self.family.rates()));
    }

    /// Everything added so far is in the request that is sent now: its usage will be of that, and not
    /// of what is added meanwhile.
    pub fn asked(&mut self) {
        self.asked = Some(self.estimate);
    }

    /// The usage of the last call: its input is the exact count of what was asked. Without
    /// [`TokenCount::asked`] that is everything added so far. A vendor that counts nothing corrects
    /// nothing.
    pub fn corrected_by(&mut self, usage: &Usage) {
        let asked = self.asked.take().unwrap_or(self.estimate);
        if usage.input > 0 {
            self.exact = usage.input;
            self.estimate = self.estimate.saturating_sub(asked);
        }
    }

    /// Tokens in all, rounded up.
    pub fn total(&self) -> u64 {
        self.exact.saturating_add(self.estimate.div_ceil(1000))
    }
}

/// About how many tokens `text` has for a model of `family`.
pub fn estimate(text: &str, family: Family) -> u64 {
    of_text(text, &family.rates()).div_ceil(1000)
}

fn of_message(message: &Message, rates: &Rates) -> Milli {
    message.parts.iter().map(|part| of_part(part, rates)).fold(MESSAGE, Milli::saturating_add)
}

fn of_part(part: &Part, rates: &Rates) -> Milli {
    match part {
        Part::Text { text } => of_text(text, rates),
        // What is opaque is as long as the thought it stands for, or is not counted by the vendor.
        Part::Reasoning { text, .. } => of_text(text, rates),
        Part::Image { .. } => rates.picture * 1000,
        Part::ToolCall(ToolCall { name, arguments, .. }) => CALL + of_text(name, rates) + of_text(arguments, rates),
        Part::ToolResult(ToolResult { output, .. }) => CALL + of_text(output, rates),
    }
}

/// What a run of characters is made of.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Class {
    Word,
    Digits,
    /// Spaces and tabs: one belongs to the word after it, more are a token.
    Space,
    Newline,
    Sign,
}

/// Text in runs of one class, each of which is cut into tokens by itself.
fn of_text(text: &str, rates: &Rates) -> Milli {
    let mut total: Milli = 0;
    let mut run: Option<(Class, u64)> = None;
    for char in text.chars() {
        let class = match char {
            'a'..='z' | 'A'..='Z' => Class::Word,
            '0'..='9' => Class::Digits,
            ' ' | '\t' => Class::Space,
            '\n' | '\r' => Class::Newline,
            _ if char.is_ascii() => Class::Sign,
            // Letters with accents cut a word in two.
            'À'..='ɏ' => Class::Word,
            _ => {
                total += run.take().map_or(0, |(class, length)| of_run(class, length, rates));
                total += of_char(char, rates);
                continue;
            }
        };
        run = match run {
            Some((same, length)) if same == class => Some((class, length + 1)),
            before => {
                total += before.map_or(0, |(class, length)| of_run(class, length, rates));
                Some((class, 1))
            }
        };
    }
    total + run.map_or(0, |(class, length)| of_run(class, length, rates))
}

fn of_run(class: Class, length: u64, rates: &Rates) -> Milli {
    match class {
        Class::Word => length.div_ceil(rates.letters) * 1000,
        Class::Digits => length.div_ceil(rates.digits) * 1000,
        // Indentation comes in tokens of up to sixteen spaces.
        Class::Space if length == 1 => 0,
        Class::Space => length.div_ceil(16) * 1000,
        Class::Newline => length.div_ceil(2) * 1000,
        // `();` is one token, `}` is one too, rulers of dashes are a few.
        Class::Sign if length <= 4 => 500 + length * 250,
        Class::Sign => 1500 + (length - 4) * 150,
    }
}

fn of_char(char: char, rates: &Rates) -> Milli {
    match char {
        '\u{3040}'..='\u{30ff}' | '\u{3400}'..='\u{9fff}' | '\u{ac00}'..='\u{d7af}' | '\u{f900}'..='\u{faff}' => {
            rates.ideograph
        }
        // Punctuation of those scripts.
        '\u{3000}'..='\u{303f}' | '\u{ff00}'..='\u{ffef}' => rates.ideograph.min(1000),
        // Greek, Cyrillic, Hebrew, Arabic, Indian scripts, Thai and their neighbours.
        '\u{0250}'..='\u{1fff}' => rates.letter,
        // Dashes, quotes, arrows, box drawing, symbols.
        '\u{2000}'..='\u{2bff}' => 1_000,
        // Emoji and rare scripts are spelt out in bytes.
        _ => 2_500,
    }
}

#[cfg(test)]
mod tests {
    use neco_proto::{CallId, Role};
    use proptest::prelude::*;

    use super::*;

    const FAMILIES: [Family; 5] = [Family::Anthropic, Family::Gemini, Family::Openai, Family::Chinese, Family::Other];

    #[test]
    fn families_are_known_by_the_model_wherever_it_is_served() {
        for (label, family) in [
            ("anthropic/claude-opus-5-5", Family::Anthropic),
            ("openrouter/anthropic/claude-sonnet-4.5", Family::Anthropic),
            ("gemini/gemini-2.5-pro", Family::Gemini),
            ("groq/openai/gpt-oss-120b", Family::Openai),
            ("openai/o4-mini", Family::Openai),
            ("zhipuai/GLM-4.7", Family::Chinese),
            ("ollama/qwen3:8b", Family::Chinese),
            ("mistral/devstral-medium-latest", Family::Other),
        ] {
            assert_eq!(Family::of(label), family, "{label}");
        }
    }

    /// The counts are those of Qwen's tokenizer.
    #[test]
    fn estimates_are_near_what_is_counted() {
        for (text, counted) in [
            ("The quick brown fox jumps over the lazy dog. It was not amused, and said so at length.", 21),
            (
                "fn main() {\n    let values: Vec<u32> = (0..10).map(|n| n * 2).collect();\n    \
                 println!(\"{values:?}\");\n}\n",
                38,
            ),
            ("人工智能正在改变我们编写软件的方式，但是好的设计仍然来自人。", 15),
            (r#"{"path":"src/main.rs","old_string":"let x = 1;","count":12345}"#, 25),
            ("Быстрая коричневая лиса прыгает через ленивую собаку.", 23),
        ] {
            let estimated = estimate(text, Family::Chinese);
            assert!((counted * 9 / 10..=counted * 3 / 2).contains(&estimated), "{estimated} for {counted}: {text}");
        }
        assert_eq!(estimate("", Family::Other), 0);
    }

    #[test]
    fn a_picture_counts_as_a_picture_and_not_as_its_bytes() {
        let image = Part::Image { media_type: "image/png".into(), data: "A".repeat(1_000_000) };
        let mut count = TokenCount::new(Family::Anthropic);
        count.add(&Message { parts: vec![image], ..Message::user("") });
        assert!(count.total() < 2_000, "{}", count.total());
    }

    #[test]
    fn what_is_added_while_an_answer_comes_stays_an_estimate() {
        let mut count = TokenCount::new(Family::Openai);
        count.add_text("You are a coding agent.");
        count.add(&Message::user("hello"));
        count.asked();
        count.add(&Message::user("and by the way"));
        let later = TokenCount { exact: 0, ..count }.estimate - count.asked.unwrap();
        count.corrected_by(&Usage { input: 1234, output: 7, ..Usage::default() });
        assert_eq!(count.total(), 1234 + later.div_ceil(1000));
        let before = count.total();
        count.corrected_by(&Usage { output: 7, ..Usage::default() });
        assert_eq!(count.total(), before, "a vendor that counts nothing corrects nothing");
    }

    fn message() -> impl Strategy<Value = Message> {
        let part = prop_oneof![
            "\\PC{0,60}".prop_map(|text| Part::Text { text }),
            "[a-z \n]{0,60}".prop_map(|text| Part::Reasoning { text, opaque: None }),
            "\\PC{0,40}".prop_map(|arguments| Part::ToolCall(ToolCall {
                id: CallId::from("c"),
                name: "read_file".into(),
                arguments,
                opaque: None
            })),
            "\\PC{0,80}".prop_map(|output| Part::ToolResult(ToolResult {
                call_id: CallId::from("c"),
                output,
                error_code: None
            })),
        ];
        prop::collection::vec(part, 0..4).prop_map(|parts| Message::new(Role::Assistant, parts))
    }

    proptest! {
        #[test]
        fn adding_never_lowers_the_count_and_a_correction_makes_the_prefix_exact(
            family in prop::sample::select(FAMILIES.to_vec()),
            messages in prop::collection::vec(message(), 0..12),
            at in 0_usize..12,
            input in 1_u64..1_000_000,
        ) {
            let mut count = TokenCount::new(family);
            let mut after = TokenCount::new(family);
            for (place, message) in messages.iter().enumerate() {
                if place == at {
                    count.corrected_by(&Usage { input, ..Usage::default() });
                    prop_assert_eq!(count.total(), input);
                    after = TokenCount::new(family);
                }
                let before = count.total();
                count.add(message);
                after.add(message);
                prop_assert!(count.total() >= before);
            }
            let exact = if at < messages.len() { input } else { 0 };
            prop_assert_eq!(count.total(), exact + after.total());
        }

        #[test]
        fn no_text_has_more_tokens_than_bytes(text in "\\PC{0,200}", family in prop::sample::select(FAMILIES.to_vec())) {
            prop_assert!(estimate(&text, family) <= 1 + text.len() as u64);
        }
    }
}
