//! A simple command as it is judged, and what the judgement gathers.

use neco_proto::Risk;

use super::examined::{OnHistory, Opened, Reasons, Word};

/// Where a command's standard input comes from.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) enum Input {
    /// From whoever started the line.
    #[default]
    Inherited,
    /// From another command; with its text where that is a mere `echo`.
    Pipe(Option<String>),
    /// From the line itself: a here-document or here-string.
    Text(Word),
    File,
}

/// A simple command with its quotes taken away.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Command {
    /// The program and its arguments.
    pub(crate) words: Vec<Word>,
    /// The variables set for it alone.
    pub(crate) environment: Vec<(String, Word)>,
    pub(crate) input: Input,
    /// Whether another command gets what it prints.
    pub(crate) captured: bool,
    /// Whether it stands alone on the line.
    pub(crate) plain: bool,
    /// Whether the command that starts it names it, so that a rule for that one covers this one too.
    pub(crate) vouched: bool,
    /// Whether nobody knows that it is one: rules that deny look at it, and ratings seldom do.
    pub(crate) guess: bool,
}

impl Command {
    /// A command of certain words, started by another.
    pub(crate) fn of(words: &[Word]) -> Self {
        Self { words: words.to_vec(), ..Self::default() }
    }
}

/// What a command starts in its turn.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Inner {
    /// A program with its arguments.
    Command(Command),
    /// Text that a shell reads.
    Script { text: String, input: Input },
    /// Text that a shell may read: where it can't, it is something else.
    Guess(String),
    /// Text of which nobody knows that a shell reads it: rules that deny look at it, and ratings seldom do.
    Hunch(String),
}

impl Inner {
    /// Whether nobody knows that it is started at all.
    pub(crate) fn is_hunch(&self) -> bool {
        match self {
            Self::Command(command) => command.guess,
            Self::Hunch(_) => true,
            Self::Script { .. } | Self::Guess(_) => false,
        }
    }

    /// The same, started by what is itself no more than a guess.
    pub(crate) fn guessed(self) -> Self {
        match self {
            Self::Command(command) => Self::Command(Command { guess: true, vouched: true, ..command }),
            Self::Script { text, .. } | Self::Guess(text) | Self::Hunch(text) => Self::Hunch(text),
        }
    }
}

/// More guesses about one command are not followed.
const MOST_GUESSES: usize = 64;

/// What is known about one simple command.
#[derive(Debug)]
pub(crate) struct Finding {
    /// How much harm it could do.
    pub(crate) risk: Risk,
    pub(crate) because: Reasons,
    /// Why it is denied outright.
    pub(crate) never: Option<String>,
    /// Whether it is known to use the network.
    pub(crate) network: bool,
    /// Whether it publishes commits, or gives up some that were made.
    pub(crate) history: Option<OnHistory>,
    /// Whether it may tell or bring back what was committed.
    pub(crate) committed: bool,
    /// Whether all it does is to start what is in `inner`, unchanged.
    pub(crate) wrapper: bool,
    /// Whether no rule may cover it.
    pub(crate) uncoverable: bool,
    /// Whether an option makes it change files, whether its words name them or not.
    pub(crate) rewrites: bool,
    /// The sensitive files that it names, and files outside that it writes into.
    pub(crate) opens: Vec<Opened>,
    /// What it names beside its words.
    pub(crate) names: Vec<Word>,
    /// What it writes to or deletes.
    pub(crate) changes: Vec<Word>,
    pub(crate) inner: Vec<Inner>,
}

impl Finding {
    pub(crate) fn new() -> Self {
        Self {
            risk: Risk::High,
            because: Reasons::default(),
            never: None,
            network: false,
            history: None,
            committed: false,
            wrapper: false,
            uncoverable: false,
            rewrites: false,
            opens: Vec::new(),
            names: Vec::new(),
            changes: Vec::new(),
            inner: Vec::new(),
        }
    }

    pub(crate) fn critical(&mut self, why: impl Into<String>) {
        self.risk = Risk::Critical;
        self.because.add(&Reasons::of(&why.into()));
    }

    pub(crate) fn never(&mut self, why: impl Into<String>) {
        let why = why.into();
        self.risk = Risk::Critical;
        self.never.get_or_insert_with(|| why.clone());
        self.because = Reasons::of(self.never.as_deref().unwrap_or_default());
    }

    /// An option of it runs or writes something, or it acts elsewhere: no rule covers it.
    pub(crate) fn uncoverable(&mut self) {
        self.uncoverable = true;
    }

    /// An option of it changes files: no rule covers it.
    pub(crate) fn rewrites(&mut self) {
        self.rewrites = true;
        self.uncoverable();
    }

    /// It names, for this reason, what only a person may open to it.
    pub(crate) fn asks_for(&mut self, word: &Word, why: &str, opened: Vec<Opened>) {
        self.critical(format!("{}: {why}", word.text));
        self.opens.extend(opened);
    }

    /// It starts a program of these words, and a rule for what starts it covers that too.
    pub(crate) fn vouches_for(&mut self, words: &[Word]) {
        self.inner.push(Inner::Command(Command { vouched: true, ..Command::of(words) }));
    }

    /// It starts a program; does nothing when there is none.
    pub(crate) fn starts(&mut self, words: &[Word]) {
        if !words.is_empty() {
            self.inner.push(Inner::Command(Command::of(words)));
        }
    }

    /// It runs the file that the first of these words names: a rule for the one that runs it covers that too, and one
    /// that forbids the file forbids this.
    pub(crate) fn names_file<'a>(&mut self, words: impl Iterator<Item = &'a Word>) {
        let words: Vec<Word> = words.cloned().collect();
        // What looks like no file may be a subcommand.
        if words.first().is_some_and(|file| file.text.contains(['/', '.'])) {
            self.vouches_for(&words);
        }
    }

    /// It may start a program of these words, and it may just as well not: what can be no program is left out.
    pub(crate) fn may_start(&mut self, words: &[Word]) {
        let is_program = |word: &Word| {
            let is_graphic = !word.text.is_empty() && word.text.bytes().all(|byte| byte.is_ascii_graphic());
            word.exact && is_graphic && !word.text.starts_with('-') && !word.text.contains('=')
        };
        if words.first().is_some_and(is_program) && self.inner.len() < MOST_GUESSES {
            self.inner.push(Inner::Command(Command { vouched: true, guess: true, ..Command::of(words) }));
        }
    }

    /// A shell may be given this text, and it may just as well not.
    pub(crate) fn may_run(&mut self, text: &str) {
        if !text.trim().is_empty() && self.inner.len() < MOST_GUESSES {
            self.inner.push(Inner::Hunch(text.to_owned()));
        }
    }

    /// It gives text to a shell.
    pub(crate) fn runs(&mut self, script: &Word) {
        if !script.exact {
            self.critical("it runs text that only the shell will know");
        }
        self.inner.push(Inner::Script { text: script.text.clone(), input: Input::Inherited });
    }
}
