//! What was found out about a command line.

use std::path::PathBuf;

use neco_proto::Risk;

use super::handed::hands_on;
use super::named::program_name;
use super::rule::{for_part, rest_is_harmless, uncovered};

/// A word of a command as the program would get it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Word {
    /// Its text without quotes. What only the shell will know (a variable, a substitution, a
    /// pattern) stands as it is written, or as the best guess.
    pub text: String,
    /// Whether the program gets exactly this text.
    pub exact: bool,
    /// Whether it is inexact only for being a pattern of file names.
    pub(crate) pattern: bool,
    /// Whether the shell may make several words of it, or none: it is worked out outside of quotes.
    pub(crate) splits: bool,
}

impl Word {
    /// A word that is known exactly.
    pub fn exact(text: impl Into<String>) -> Self {
        Self::of(text, true)
    }

    /// A word of which only a guess is known.
    pub(crate) fn guess(text: impl Into<String>) -> Self {
        Self::of(text, false)
    }

    /// A word that is known exactly or not.
    pub(crate) fn of(text: impl Into<String>, exact: bool) -> Self {
        Self { text: text.into(), exact, pattern: false, splits: false }
    }
}

/// One simple command of a line, wrappers such as `env` and `timeout` among them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Part {
    /// The program and its arguments.
    pub words: Vec<Word>,
    /// Whether nothing else touches it: no operator, redirect, environment prefix, substitution or wrapper.
    pub plain: bool,
    /// How much harm this one could do.
    pub risk: Risk,
    /// Why, where it is more than being a command.
    pub because: Option<String>,
    /// Whether it only serves to start other parts of the line, as `timeout` and `sh -c` do.
    pub(crate) wrapper: bool,
    /// Whether no rule for a prefix may cover it: an option of it runs or writes something.
    pub(crate) uncoverable: bool,
    /// Whether an option makes it change files, whether its words name them or not: `-i` of `sed`, `-delete` of `find`.
    pub(crate) rewrites: bool,
    /// Which of the line's standings it runs in.
    pub(crate) standing: usize,
}

/// A word beside those of the commands that may name a file, or one that surely names what is changed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Mention {
    pub(crate) word: Word,
    /// Whether what it names is written to.
    pub(crate) changes: bool,
    /// Whether it surely names a file, whatever it looks like.
    pub(crate) surely: bool,
    /// Which of the line's standings it stands in.
    pub(crate) standing: usize,
}

/// A file that a command line names and that is closed to commands unless a person opens it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Opened {
    /// Absolute; it may be a pattern.
    pub path: PathBuf,
    /// Whether it is to be changed, and not only read.
    pub changes: bool,
}

/// Why something is as risky as it is: a yes is to all of it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Reasons {
    told: Vec<String>,
    /// Whether there are others: whoever writes the line chooses what comes first.
    more: bool,
}

impl Reasons {
    /// More reasons than these are told to nobody.
    const MOST: usize = 4;

    /// One reason; none when there is nothing to say.
    pub(crate) fn of(why: &str) -> Self {
        Self { told: Some(why).filter(|why| !why.is_empty()).map(str::to_owned).into_iter().collect(), more: false }
    }

    /// Adds those that are not there yet.
    pub(crate) fn add(&mut self, others: &Self) {
        self.more |= others.more;
        for why in &others.told {
            if !self.told.contains(why) {
                match self.told.len() < Self::MOST {
                    true => self.told.push(why.clone()),
                    false => self.more = true,
                }
            }
        }
    }

    /// Each of them in words.
    pub(crate) fn lines(&self) -> Vec<String> {
        let more = self.more.then(|| "there is more of high risk in it".to_owned());
        self.told.iter().cloned().chain(more).collect()
    }

    /// All of them in words, if there are any.
    pub fn told(&self) -> Option<String> {
        let more = if self.more { "; and more of high risk" } else { "" };
        (!self.told.is_empty()).then(|| format!("{}{more}", self.told.join("; also ")))
    }
}

/// What a command does to commits that were made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OnHistory {
    /// Others get them.
    Publishes,
    /// Others take their place.
    Rewrites,
}

impl OnHistory {
    /// What it does, in words.
    pub(crate) fn words(self) -> &'static str {
        match self {
            Self::Publishes => "it publishes commits",
            Self::Rewrites => "it replaces commits that were made",
        }
    }
}

/// A command line, examined.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Examined {
    /// How much harm the worst of its parts could do.
    pub risk: Risk,
    /// Why it is denied outright, if it is.
    pub never: Option<String>,
    /// What makes it as risky as it is.
    pub because: Reasons,
    /// Whether all of it was understood. What was not is never safe.
    pub clean: bool,
    /// Whether a program in it is known to need the network.
    pub network: bool,
    /// Whether a command in it publishes commits, or gives up some that were made.
    pub history: Option<OnHistory>,
    /// Whether git may tell or bring back the content of any file that was committed, whatever is hidden of the tree.
    pub committed: bool,
    /// The sensitive files that it names, and files outside that it writes into: what a yes to it opens.
    pub opens: Vec<Opened>,
    /// Every simple command in it, wherever it stands.
    pub parts: Vec<Part>,
    /// Whether something around the parts keeps any rule from covering them: a redirect that
    /// writes, an environment that changes what is run, a function.
    pub(crate) uncoverable: bool,
    /// The folders that words of the line are meant from, as it goes from one to the other.
    pub(crate) standings: Vec<Vec<PathBuf>>,
    /// What redirects, variables, loops and code on the line name, and what programs are known to change.
    pub(crate) mentions: Vec<Mention>,
}

impl Examined {
    /// Whether every part of the line is covered by one of the rules or known to be safe. Never for
    /// what is critical or denied, for redirects that write, for environment prefixes that change
    /// what is run, and for options that execute or write.
    pub fn covered_by_any<P: AsRef<[String]>>(&self, prefixes: &[P]) -> bool {
        self.clean
            && !self.uncoverable
            && self.never.is_none()
            && self.risk < Risk::Critical
            && !self.parts.is_empty()
            && self.parts.iter().all(|part| part.is_covered(prefixes))
    }

    /// Whether it changes files, as far as the line alone tells: by a redirect, by a program that is known to change what
    /// it names, or by an option as `-i` of `sed`. What other programs do is not known.
    #[must_use]
    pub fn changes_files(&self) -> bool {
        let is_file =
            |text: &str| !text.starts_with("/dev/") && !text.bytes().all(|byte| byte.is_ascii_digit() || byte == b'-');
        self.mentions.iter().any(|mention| mention.changes && is_file(&mention.word.text))
            || self.parts.iter().any(|part| part.rewrites)
    }

    /// Whether a part of the line begins with `prefix`, or might: for rules that ask or deny.
    pub fn mentions(&self, prefix: &[String]) -> bool {
        let hands_on = || match prefix {
            [program] => hands_on(self, &program_name(program)),
            _ => false,
        };
        !self.clean || self.parts.iter().any(|part| part.may_begin_with(prefix)) || hands_on()
    }

    /// The rules that "always allow" would store for this line, each by the words that a command must begin with: none
    /// when a rule can't cover it.
    pub fn rules(&self) -> Vec<Vec<String>> {
        let mut rules = Vec::new();
        for part in self.parts.iter().filter(|part| !part.needs_no_rule()) {
            match for_part(part) {
                Some(rule) if rules.contains(&rule) => {}
                Some(rule) => rules.push(rule),
                None => return Vec::new(),
            }
        }
        if self.covered_by_any(&rules) { rules } else { Vec::new() }
    }
}

impl Part {
    /// Whether it is known to be safe, or only starts other parts.
    pub(crate) fn needs_no_rule(&self) -> bool {
        self.risk == Risk::Safe || self.wrapper && !self.uncoverable
    }

    fn is_covered<P: AsRef<[String]>>(&self, prefixes: &[P]) -> bool {
        self.needs_no_rule()
            || !self.uncoverable
                && self.risk < Risk::Critical
                && prefixes.iter().any(|prefix| self.is_granted(prefix.as_ref()))
    }

    /// Whether a rule that was given as an answer, for commands that begin with these words, means it: what follows
    /// them is known to be harmless.
    pub(crate) fn is_granted(&self, prefix: &[String]) -> bool {
        self.begins_with(prefix) && rest_is_harmless(prefix, &self.words) && uncovered(prefix, &self.words).is_none()
    }
}
