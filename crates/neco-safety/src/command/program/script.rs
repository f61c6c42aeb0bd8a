//! The words of `sed` and `awk`, told apart from left to right as these programs do: which of them are scripts, and
//! which name files of scripts.

use super::Case;
use crate::command::examined::Word;
use crate::command::finding::{Finding, Input};
use crate::command::source::{is_input, is_pipe, printed};

/// How a program reads its options.
pub(super) struct Grammar {
    /// Letters of options that take the rest of their word, or the next one.
    valued: &'static str,
    /// Letters of options that take the rest of their word, if there is one.
    attached: &'static str,
    /// Letters of options that stand alone. With others, nobody knows where the script is.
    flags: &'static str,
    /// Long options that take a value, with the letters that mean the same.
    long: &'static [(&'static str, char)],
    /// Whether the first word that is no option ends them.
    stops: bool,
}

pub(super) const SED: Grammar = Grammar {
    valued: "efl",
    attached: "iI",
    flags: "nrEsuzab",
    long: &[("expression", 'e'), ("file", 'f'), ("line-length", 'l')],
    stops: false,
};

pub(super) const AWK: Grammar = Grammar {
    valued: "FvfeilE",
    attached: "dDLop",
    flags: "bcCghkMnNOPrsStVIY",
    long: &[
        ("field-separator", 'F'),
        ("assign", 'v'),
        ("file", 'f'),
        ("source", 'e'),
        ("include", 'i'),
        ("load", 'l'),
        ("exec", 'E'),
    ],
    stops: true,
};

/// A call of `sed` or `awk`, taken apart.
#[derive(Default)]
pub(super) struct Call {
    given: Vec<Word>,
    files: Vec<Word>,
    operands: Vec<Word>,
    /// What variables are set to.
    pub(super) sets: Vec<Word>,
    /// Whether an option was not understood.
    unsure: bool,
}

impl Call {
    /// Takes the words of a call apart.
    pub(super) fn read(arguments: &[Word], grammar: &Grammar) -> Self {
        let mut call = Self::default();
        let mut rest = arguments.iter();
        while let Some(word) = rest.next() {
            let text = word.text.as_str();
            let letters = text.strip_prefix('-').filter(|letters| !letters.is_empty());
            if text == "--" {
                call.operands.extend(rest.by_ref().cloned());
            } else if let Some(long) = text.strip_prefix("--") {
                let (name, value) = match long.split_once('=') {
                    Some((name, value)) => (name, Some(Word::of(value, word.exact))),
                    None => (long, None),
                };
                if let Some((_, letter)) = grammar.long.iter().find(|(own, _)| own.starts_with(name)) {
                    let value = value.or_else(|| rest.next().cloned());
                    call.give(*letter, value);
                }
                call.unsure |= !word.exact;
            } else if let Some(letters) = letters {
                let taken = call.letters(letters, word, grammar);
                if let Some(letter) = taken {
                    call.give(letter, rest.next().cloned());
                }
            } else {
                call.operands.push(word.clone());
                if grammar.stops {
                    call.operands.extend(rest.by_ref().cloned());
                }
            }
        }
        call
    }

    /// Reads letters; the one that takes the next word, if the last one does.
    fn letters(&mut self, letters: &str, word: &Word, grammar: &Grammar) -> Option<char> {
        let mut rest = letters.chars();
        while let Some(letter) = rest.next() {
            if grammar.valued.contains(letter) || grammar.attached.contains(letter) {
                self.unsure |= word.splits;
            }
            if grammar.valued.contains(letter) {
                let value = rest.as_str();
                if value.is_empty() {
                    return Some(letter);
                }
                self.give(letter, Some(Word::of(value, word.exact)));
                return None;
            }
            if grammar.attached.contains(letter) {
                return None;
            }
            self.unsure |= !grammar.flags.contains(letter);
        }
        self.unsure |= !word.exact;
        None
    }

    fn give(&mut self, letter: char, value: Option<Word>) {
        match letter {
            'e' => self.given.extend(value),
            'f' | 'E' => self.files.extend(value),
            'v' => self.sets.extend(value),
            _ => {}
        }
    }

    /// The scripts on the line: those that options give, or else the first operand. Where options are not understood,
    /// every operand may be one.
    pub(super) fn scripts(&self) -> Vec<Word> {
        if self.unsure {
            return self.given.iter().chain(&self.operands).cloned().collect();
        }
        if !self.given.is_empty() || !self.files.is_empty() {
            return self.given.clone();
        }
        // To some, what follows `-i` is what the names of copies end in.
        let is_ending = |word: &Word| word.text.is_empty() || word.text.starts_with('.');
        let count = if self.operands.first().is_some_and(is_ending) { 2 } else { 1 };
        self.operands.iter().take(count).cloned().collect()
    }

    /// What the script is handed: the words behind it.
    pub(super) fn behind(&self) -> &[Word] {
        let own = usize::from(self.given.is_empty() && self.files.is_empty());
        self.operands.get(own..).unwrap_or_default()
    }

    /// The scripts that are fed to it, by any name for its input or by what another command prints.
    pub(super) fn fed(&self, case: &Case<'_>, finding: &mut Finding) -> Vec<Word> {
        let mut found = Vec::new();
        for file in self.files.iter().filter(|file| is_input(file) || is_pipe(file)) {
            finding.uncoverable();
            match &case.command.input {
                _ if is_pipe(file) => {
                    finding.critical("it runs a script that another command prints");
                    found.push(Word::exact(printed(file)));
                }
                Input::Text(script) => found.push(script.clone()),
                Input::Pipe(said) => {
                    finding.critical("it runs a script that another command prints");
                    found.extend(said.iter().map(Word::guess));
                }
                Input::Inherited | Input::File => {}
            }
        }
        found
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn scripts(line: &str, grammar: &Grammar) -> String {
        let words: Vec<Word> = line.split(' ').map(Word::exact).collect();
        let found = Call::read(&words, grammar).scripts();
        found.iter().map(|word| word.text.as_str()).collect::<Vec<_>>().join(" ")
    }

    #[test]
    fn scripts_are_found_as_the_programs_find_them() {
        for (line, found) in [
            ("P f", "P"),
            ("-vfoo=1 P f", "P"),
            ("-Ff P f", "P"),
            ("-F , P -v", "P"),
            ("P -f", "P"),
            ("-f file P", ""),
            ("-e P f", "P"),
            ("--source=P f", "P"),
            ("--assign a=1 P f", "P"),
            ("-v a=1 -- P f", "P"),
            ("-W x P", "x P"),
        ] {
            assert_eq!(scripts(line, &AWK), found, "{line}");
        }
        for (line, found) in [
            ("P f", "P"),
            ("-i.ref P f", "P"),
            ("-l 5 P f -l 5", "P"),
            ("-n P f -e Q", "Q"),
            ("-ne P f", "P"),
            ("-nf file P", ""),
            ("--expression=P f", "P"),
            ("--expr P f", "P"),
            ("-i .bak P f", ".bak P"),
            ("-x P f", "P f"),
        ] {
            assert_eq!(scripts(line, &SED), found, "{line}");
        }
    }
}
