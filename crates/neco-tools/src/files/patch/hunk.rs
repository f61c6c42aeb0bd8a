//! What a patch says, whichever way it was written.

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FilePatch {
    /// The file as it is named in the patch.
    pub path: String,
    /// What becomes of it.
    pub act: Act,
    /// What the patch asks for that is not done, in words.
    pub notes: Vec<String>,
}

/// What becomes of a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Act {
    /// It gets this content, whether it is there or not.
    Add(String),
    /// It is removed; the hunks, if there are any, say what must be in it.
    Delete(Vec<Hunk>),
    /// Parts of it are changed, and it may get another name.
    Update {
        /// The changes.
        hunks: Vec<Hunk>,
        /// Its new name.
        move_to: Option<String>,
        /// Whether the old one stays as it is.
        copy: bool,
    },
}

/// One change in a file.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Hunk {
    /// Lines that it must stand below, the outermost first.
    pub hints: Vec<String>,
    /// A line that it may stand below: it decides only where several places fit.
    pub heading: Option<String>,
    /// The line of the old file that it begins at, counted from one; with nothing old in it, the line before it.
    pub line: Option<usize>,
    /// Its lines, in order.
    pub lines: Vec<HunkLine>,
    /// How many empty lines at its end may have been left there by chance.
    pub loose_end: usize,
    /// Whether it must reach to the end of the file.
    pub at_end: bool,
    /// Whether the old text's last line is said to have no newline.
    pub old_unended: bool,
    /// Whether the new text's last line is said to have no newline.
    pub new_unended: bool,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HunkLine {
    pub side: Side,
    /// Its text without a newline.
    pub text: String,
}

/// Which side a line is on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Side {
    /// It stays.
    Both,
    /// It goes.
    Old,
    /// It comes.
    New,
}

impl Hunk {
    /// The lines that must be in the file.
    pub fn old_lines(&self) -> Vec<&[u8]> {
        self.lines.iter().filter(|line| line.side != Side::New).map(|line| line.text.as_bytes()).collect()
    }

    /// The lines that will be in the file.
    pub fn new_lines(&self) -> Vec<&[u8]> {
        self.lines.iter().filter(|line| line.side != Side::Old).map(|line| line.text.as_bytes()).collect()
    }

    /// Whether it changes anything.
    pub fn changes(&self) -> bool {
        self.lines.iter().any(|line| line.side != Side::Both)
    }

    /// The same without the empty lines at its end that may be there by chance.
    pub fn without_loose_end(&self) -> Option<Self> {
        let kept = self.lines.len().checked_sub(self.loose_end).filter(|_| self.loose_end > 0)?;
        let mut hunk = self.clone();
        hunk.lines.truncate(kept);
        hunk.loose_end = 0;
        Some(hunk)
    }

    /// Adds a line; one that a text has by chance, an empty one without its sign, may be no line at all.
    pub fn push(&mut self, side: Side, text: &str, bare: bool) {
        self.loose_end = if bare { self.loose_end + 1 } else { 0 };
        self.lines.push(HunkLine { side, text: text.to_owned() });
    }
}
