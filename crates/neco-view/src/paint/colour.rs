//! Colours, where they are wanted.

/// Colours text, or leaves it as it is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Paint {
    colour: bool,
}

impl Paint {
    /// Colours when `colour` is set.
    pub fn new(colour: bool) -> Self {
        Self { colour }
    }

    /// Of less weight.
    pub fn dim(self, text: &str) -> String {
        self.with("2", text)
    }

    /// Of more weight.
    pub fn bold(self, text: &str) -> String {
        self.with("1", text)
    }

    /// Added, or well done.
    pub fn green(self, text: &str) -> String {
        self.with("32", text)
    }

    /// Removed, or failed.
    pub fn red(self, text: &str) -> String {
        self.with("31", text)
    }

    /// To be looked at.
    pub fn yellow(self, text: &str) -> String {
        self.with("33", text)
    }

    /// A place or a name.
    pub fn cyan(self, text: &str) -> String {
        self.with("36", text)
    }

    fn with(self, code: &str, text: &str) -> String {
        if self.colour && !text.is_empty() { format!("\u{1b}[{code}m{text}\u{1b}[0m") } else { text.to_owned() }
    }
}
