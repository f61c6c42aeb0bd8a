//! Settings that a command sets: what each can be set to, said once.

use neco_proto::{ApprovalMode, Mode};

use crate::slash::{Outside, Slash, SlashError};

/// A setting that a command sets; without anything behind it, the command tells of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Setting {
    /// The mode.
    Mode,
    /// The approval mode.
    Approval,
    /// The generation.
    Generation,
    /// The colours.
    Theme,
    /// What commands run in.
    Sandbox,
}

impl Setting {
    /// What it can be set to: the word, and what that means.
    pub fn words(self) -> &'static [(&'static str, &'static str)] {
        match self {
            Self::Mode => &[
                ("agent", "all tools"),
                ("plan", "reads, then shows a plan; changes nothing"),
                ("ask", "answers; nothing is written or run"),
                ("debug", "a bug is reproduced before it is fixed"),
            ],
            Self::Approval => &[
                ("ask_first", "asks first: before edits and commands"),
                ("accept_edits", "accepts edits, asks before commands"),
                ("manual", "asks before everything but reading"),
                ("auto", "asks only about what is high risk"),
            ],
            Self::Generation => &[
                ("1", "runs commands, reads and edits files"),
                ("2", "and searches, git, patches, tools you plug in"),
                ("3", "and plans, todos, questions"),
                ("4", "and the web"),
                ("5", "and memory, and an index of the code"),
                ("6", "as 5, until screens can be seen"),
                ("7", "and agents and workflows"),
                ("8", "as 7, until tools can be made"),
            ],
            Self::Theme => &[
                ("auto", "as the ground of your terminal is, dark or light"),
                ("dark", "for dark terminals"),
                ("light", "for light terminals"),
                ("16", "your terminal's own sixteen"),
                ("none", "no colours"),
            ],
            Self::Sandbox => &[
                ("read_only", "commands write nowhere"),
                ("workspace_write", "commands write in this folder, without the network"),
                ("full", "no sandbox: commands do whatever you could do"),
            ],
        }
    }

    /// The same, each with what sets it.
    pub fn choices(self) -> Vec<(&'static str, &'static str, Slash)> {
        self.words().iter().filter_map(|(word, about)| Some((*word, *about, self.set(word)?))).collect()
    }

    /// What a list of these is called.
    pub fn title(self) -> &'static str {
        match self {
            Self::Mode => "Mode of this session",
            Self::Approval => "When it asks",
            Self::Generation => "Tool level",
            Self::Theme => "Colours",
            Self::Sandbox => "Sandbox of the agent's commands, in this session",
        }
    }

    /// The setting in words: what it is called, how it is set, and how it is set otherwise.
    pub fn told(self, present: &str) -> String {
        let name = match self {
            Self::Mode => "mode",
            Self::Approval => "approval",
            Self::Generation => "tool level",
            Self::Theme => "theme",
            Self::Sandbox => "sandbox",
        };
        format!("{name} is {present}; {}", self.how())
    }

    /// What a word behind the command sets; without one, the command tells of the setting.
    pub(crate) fn read(self, text: &str) -> Result<Slash, SlashError> {
        match self.set(text) {
            Some(slash) => Ok(slash),
            None if text.is_empty() => Ok(Slash::How(self)),
            None => Err(SlashError::NoSuchWord { word: text.to_owned(), choices: self.how() }),
        }
    }

    /// How it is set: `/mode agent, plan, ask or debug`.
    fn how(self) -> String {
        let command = match self {
            Self::Mode => "mode",
            Self::Approval => "approval",
            Self::Generation => return "/gen takes a number from 1 to 8".to_owned(),
            Self::Theme => "theme",
            Self::Sandbox => "sandbox",
        };
        let words: Vec<&str> = self.words().iter().map(|(word, _)| *word).collect();
        let (last, others) = words.split_last().map_or(("", [].as_slice()), |(last, others)| (*last, others));
        format!("/{command} {} or {last}", others.join(", "))
    }

    fn set(self, word: &str) -> Option<Slash> {
        let known = |word: &str| self.words().iter().any(|(known, _)| *known == word).then(|| word.to_owned());
        match self {
            Self::Mode => Mode::named(word).map(Slash::Mode),
            Self::Approval => ApprovalMode::named(&word.replace('-', "_")).map(Slash::Approval),
            Self::Generation => known(word)?.parse().ok().map(Slash::Generation),
            Self::Theme => known(word).map(Slash::Theme),
            Self::Sandbox => known(&word.replace('-', "_")).map(|level| Slash::Outside(Outside::Sandbox, level)),
        }
    }
}
