//! The words of a command that may name a file, found without running it.
//!
//! Rather a word too many than one too few: a file that is looked at needlessly costs nothing, one
//! that is overlooked could be swapped. So every word counts, wherever it stands, and what is quoted
//! as a whole is taken for a command as well, as `sh -c` would. Only what the hook itself writes to does
//! not count, or every run would make it another hook: targets of `>`, `>>`, `2>` and `&>`, and files of `tee`.

use neco_safety::command::{Part, Place, examine};

/// Variables that stand for the folder that the hook belongs to.
const FOLDER: [&str; 3] = ["CLAUDE_PROJECT_DIR", "NECO_PROJECT_DIR", "PWD"];

/// Commands in commands that are followed.
const DEEPEST: usize = 4;

/// The program that writes to the files that it names.
const TEE: &str = "tee";

/// What may put something else in the place of that program.
const REDEFINES: [&str; 6] = ["tee(", "tee (", "function", "alias", "PATH=", "hash"];

/// Words that are looked at.
const MOST_WORDS: usize = 4096;

/// The words of a command.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Words {
    /// Words that stand as they are, without their quotes.
    pub known: Vec<String>,
    /// Words that only the shell will know, as they are written: variables, substitutions, patterns.
    pub unknown: Vec<String>,
    /// Whether all of the command could be read.
    pub whole: bool,
}

/// Takes a command apart; the folder of the hook stands in it as `.`.
pub(super) fn of(command: &str) -> Words {
    let plain = with_folder(command);
    let examined = examine(&plain, &Place::new("/"));
    let mut words = Words { whole: examined.clean && !sets_folder(command), ..Words::default() };
    let tees = !REDEFINES.iter().any(|text| command.contains(text));
    let is_tee = |part: &Part| tees && part.words.first().is_some_and(|program| program.exact && program.text == TEE);
    for word in examined.parts.into_iter().filter(|part| !is_tee(part)).flat_map(|part| part.words) {
        let list = if word.exact { &mut words.known } else { &mut words.unknown };
        list.push(word.text);
    }
    collect(cut(&plain, tees), 0, &mut words);
    words.whole &= words.known.len() + words.unknown.len() <= MOST_WORDS;
    for list in [&mut words.known, &mut words.unknown] {
        list.retain(|word| !word.is_empty());
        list.sort();
        list.dedup();
        list.truncate(MOST_WORDS);
    }
    words
}

fn collect(cuts: Vec<Cut>, depth: usize, words: &mut Words) {
    // What is quoted may be a program of another language, in which these signs say something else.
    for Cut { text, exact, .. } in cuts.into_iter().filter(|cut| depth > 0 || !cut.written) {
        if words.known.len() + words.unknown.len() > MOST_WORDS {
            return;
        }
        let is_script = text.contains(|char: char| char.is_whitespace() || ends_word(char));
        if is_script && depth < DEEPEST {
            collect(cut(&text, false), depth + 1, words);
        }
        // `--file=NAME` and `NAME=VALUE` name what comes after the sign.
        words.known.extend(text.split('=').skip(1).map(str::to_owned));
        // What is quoted in a program of another language is no word of the shell.
        match exact || depth > 0 {
            true => words.known.push(text),
            false => words.unknown.push(text),
        }
    }
}

struct Cut {
    text: String,
    exact: bool,
    /// Whether the shell, or `tee`, writes to the file of that name and does nothing else with it.
    written: bool,
}

/// Cuts at what ends a word outside of quotes; `tees` says that `tee` is what it usually is.
fn cut(script: &str, tees: bool) -> Vec<Cut> {
    let mut cuts = Vec::new();
    let (mut text, mut exact, mut quote) = (String::new(), true, None);
    let mut around = Around::default();
    let mut chars = script.chars();
    while let Some(char) = chars.next() {
        match (char, quote) {
            ('\\', None | Some('"')) => text.extend(chars.next().filter(|next| *next != '\n')),
            ('\'' | '"', None) => quote = Some(char),
            (end, Some(begun)) if end == begun => quote = None,
            (char, None) if char.is_whitespace() || ends_word(char) => {
                let written = around.take(&text, tees);
                cuts.push(Cut { text: std::mem::take(&mut text), exact: std::mem::replace(&mut exact, true), written });
                around.pass(char);
            }
            (char, within) => {
                exact &= match within {
                    Some('\'') => true,
                    Some(_) => !matches!(char, '$' | '`'),
                    None => !(matches!(char, '$' | '*' | '?' | '[' | '{') || char == '~' && text.is_empty()),
                };
                text.push(char);
            }
        }
    }
    let written = around.take(&text, tees);
    cuts.push(Cut { text, exact, written });
    cuts
}

/// What stands before a word.
#[derive(Default)]
struct Around {
    /// The sign right before it.
    last: Option<char>,
    /// Whether the next word is the target of a redirect that writes.
    is_target: bool,
    /// Whether a command has begun, and whether that is `tee`.
    begun: bool,
    in_tee: bool,
}

impl Around {
    /// Whether a word is only written to. An empty one is none.
    fn take(&mut self, text: &str, tees: bool) -> bool {
        if text.is_empty() {
            return false;
        }
        self.last = None;
        if std::mem::take(&mut self.is_target) {
            return true;
        }
        let written = self.in_tee;
        if !std::mem::replace(&mut self.begun, true) {
            self.in_tee = tees && text == TEE;
        }
        written
    }

    /// Goes over a sign that ends a word.
    fn pass(&mut self, char: char) {
        let before = self.last.replace(char);
        match char {
            '>' => {
                // `<>` opens for reading too.
                self.is_target = before != Some('<');
                // `&>` ends no command.
                self.begun |= before == Some('&');
            }
            // `>&` and `>|` write as well.
            '&' | '|' if before == Some('>') => {}
            '\n' | ';' | '|' | '&' | '(' => *self = Self { last: Some(char), ..Self::default() },
            // More words of the command around it may follow.
            ')' | '`' => *self = Self { last: Some(char), begun: true, ..Self::default() },
            '<' => self.is_target = false,
            _ => {}
        }
    }
}

fn ends_word(char: char) -> bool {
    matches!(char, ';' | '|' | '&' | '(' | ')' | '<' | '>' | '`')
}

/// The command with `.` in the place of every variable that stands for the folder.
fn with_folder(command: &str) -> String {
    let mut plain = String::with_capacity(command.len());
    let mut rest = command;
    while let Some((before, after)) = rest.split_once('$') {
        plain.push_str(before);
        match after_variable(after) {
            Some(next) => {
                plain.push('.');
                rest = next;
            }
            None => {
                plain.push('$');
                rest = after;
            }
        }
    }
    plain + rest
}

/// What comes after a variable that stands for the folder, also `${NAME:-elsewhere}`: it is set.
fn after_variable(text: &str) -> Option<&str> {
    let braced = text.strip_prefix('{');
    let rest = FOLDER.iter().find_map(|name| braced.unwrap_or(text).strip_prefix(name))?;
    if braced.is_none() {
        let goes_on = rest.starts_with(|char: char| char.is_ascii_alphanumeric() || char == '_');
        return (!goes_on).then_some(rest);
    }
    let (inside, after) = rest.split_once('}')?;
    let is_default = [":-", "-", ":?", "?"].iter().any(|sign| inside.starts_with(sign));
    ((inside.is_empty() || is_default) && !inside.contains('{')).then_some(after)
}

/// Whether a command gives such a variable another value.
fn sets_folder(command: &str) -> bool {
    FOLDER.iter().any(|name| command.contains(&format!("{name}=")))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn knows(command: &str, word: &str) -> bool {
        of(command).known.iter().any(|known| known == word)
    }

    #[test]
    fn words_are_found_wherever_they_stand() {
        for (command, word) in [
            ("sh \"hooks/a b.sh\"", "hooks/a b.sh"),
            ("sh hooks/a\\ b.sh", "hooks/a b.sh"),
            ("cat <'a b'|sh", "a b"),
            ("sh -c \"sh 'hooks/a b.sh'\"", "hooks/a b.sh"),
            ("bash --rcfile='a b.sh' -i", "a b.sh"),
            ("${CLAUDE_PROJECT_DIR:-.}/x.sh", "./x.sh"),
            ("\"${NECO_PROJECT_DIR}\"/x.sh", "./x.sh"),
            ("\"$CLAUDE_PROJECT_DIR/a b.sh\"", "./a b.sh"),
            ("echo $(./x.sh)", "./x.sh"),
            ("echo `./x.sh`", "./x.sh"),
            ("if true; then ./x.sh; fi", "./x.sh"),
        ] {
            assert!(knows(command, word), "{command}: {:?}", of(command));
        }
    }

    #[test]
    fn what_is_only_written_to_is_no_file_of_the_hook() {
        for command in [
            "echo ran >> a.log; exit 0",
            "echo ran >a.log",
            "make 2> a.log",
            "make &>a.log",
            "make >|a.log 2>&1",
            "make >& 'a.log'",
            "make 2>&1 | tee -a a.log",
            "tee a.log <in",
        ] {
            assert!(!knows(command, "a.log"), "{command}: {:?}", of(command));
        }
        for (command, word) in [
            ("echo x >a.sh; sh a.sh", "a.sh"),
            ("make 2>&1 a.sh", "a.sh"),
            ("make <>a.sh", "a.sh"),
            ("make > >(sh a.sh)", "a.sh"),
            ("make >log <a.sh", "a.sh"),
            ("make | tee log | sh a.sh", "a.sh"),
            ("sh &>log tee a.sh", "a.sh"),
            ("sh $(echo -e) tee a.sh", "a.sh"),
            ("tee() { sh $1; }; tee a.sh", "a.sh"),
            ("echo '>' a.sh", "a.sh"),
            ("ruby -e 'load({ f: 1, g=>\"a.rb\" })'", "a.rb"),
        ] {
            assert!(knows(command, word), "{command}: {:?}", of(command));
        }
        assert!(of("echo ran >> \"$LOG\"").unknown.is_empty());
    }

    #[test]
    fn what_only_the_shell_knows_is_said() {
        for (command, word) in [
            ("sh $F", "$F"),
            ("sh hooks/*.sh", "hooks/*.sh"),
            ("sh ~/x.sh", "~/x.sh"),
            ("sh <\"$F\"", "$F"),
            ("$PWDX/a", "$PWDX/a"),
        ] {
            assert!(of(command).unknown.iter().any(|unknown| unknown == word), "{command}: {:?}", of(command));
        }
        assert!(!of("PWD=/tmp; sh $PWD/x").whole && !of("sh \"x").whole);
        let usual = of("jq -r '.tool_input | select(.a == \"$b\")' && ./check.sh --fast");
        assert!(usual.whole && usual.unknown.is_empty(), "{usual:?}");
    }

    proptest! {
        #[test]
        fn any_text_is_taken_apart(command in "[\\PC\n]{0,80}") {
            let _ = of(&command);
        }
    }
}
