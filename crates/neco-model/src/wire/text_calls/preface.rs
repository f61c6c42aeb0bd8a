//! What may stand before a call: a few words of the model's about what it is going to do.

/// From this many characters on it is no preface any more.
const LONGEST: usize = 280;
/// What people and models write before an example.
const SHOWS: [&str; 13] = [
    "example",
    "e.g.",
    "for instance",
    "such as",
    "like this",
    "like so",
    "you can",
    "you could",
    "you would",
    "would look",
    "looks like",
    "the format",
    "not run",
];

/// The text before what may be a call.
#[derive(Debug, Default)]
pub(super) struct Preface {
    /// Its end, in lower case: an example is announced right before it.
    text: String,
    count: usize,
    last: Option<char>,
    /// Since the last line break, all spaces.
    line_is_blank: bool,
    /// Backticks at the beginning of the line.
    ticks: usize,
    in_fence: bool,
    had_fence: bool,
}

/// What may begin a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Opening {
    /// `{` or `[`.
    Json,
    /// A backtick that may become a fence.
    Fence,
    /// `<`.
    Tag,
}

impl Preface {
    pub(super) fn new() -> Self {
        Self { line_is_blank: true, ..Self::default() }
    }

    /// Whether nothing but spaces was written.
    pub(super) fn is_empty(&self) -> bool {
        self.text.trim().is_empty()
    }

    /// Whether it is too long, or shows code, so that only tags that stand alone mean something.
    pub(super) fn is_over(&self) -> bool {
        self.count > LONGEST || self.had_fence
    }

    /// Whether `opening` may begin a call here.
    pub(super) fn admits(&self, opening: Opening) -> bool {
        if self.in_fence || SHOWS.iter().any(|words| self.text.contains(words)) {
            return false;
        }
        match opening {
            Opening::Json | Opening::Fence => self.line_is_blank && !self.is_over(),
            Opening::Tag if self.is_over() => self.line_is_blank,
            Opening::Tag => !matches!(self.last, Some('`' | '"' | '\'')),
        }
    }

    pub(super) fn add(&mut self, text: &str) {
        text.chars().for_each(|character| self.add_character(character));
    }

    fn add_character(&mut self, character: char) {
        self.text.extend(character.to_lowercase());
        if self.text.len() > 8 * LONGEST {
            let from = self.text.char_indices().map(|(at, _)| at).find(|at| *at >= 4 * LONGEST);
            self.text.drain(..from.unwrap_or(0));
        }
        self.count += 1;
        self.last = Some(character);
        match character {
            '\n' => (self.line_is_blank, self.ticks) = (true, 0),
            '`' if self.line_is_blank || self.ticks > 0 => {
                (self.line_is_blank, self.ticks) = (false, self.ticks + 1);
                if self.ticks == 3 {
                    self.in_fence = !self.in_fence;
                    self.had_fence = true;
                }
            }
            character => {
                self.line_is_blank &= character.is_whitespace();
                self.ticks = 0;
            }
        }
    }
}
