//! Whether an option that a rule names is among the words of a command, however it is spelt: abbreviated, by its letter,
//! by its long name, among other letters.

use super::examined::Word;
use super::pattern;
use crate::listed::is_listed;

/// A long option and the letters that mean the same.
struct Form {
    program: &'static str,
    /// The subcommand that has it; empty where the program itself does.
    subcommand: &'static str,
    long: &'static str,
    letters: &'static str,
    /// Letters that take what follows them, so that it is no option.
    valued: &'static str,
}

const fn form(program: &'static str, subcommand: &'static str, long: &'static str, letters: &'static str) -> Form {
    Form { program, subcommand, long, letters, valued: "" }
}

/// What takes a value among the letters of `git commit`, and of curl.
const COMMIT: &str = "mFCcSut";
const CURL: &str = "AbCcDdeEFhHKmoPQrtTuUwxXyYz";

const FORMS: &[Form] = &[
    Form { valued: COMMIT, ..form("git", "commit", "--no-verify", "n") },
    Form { valued: COMMIT, ..form("git", "commit", "--all", "a") },
    Form { valued: "o", ..form("git", "push", "--force", "f") },
    Form { valued: "o", ..form("git", "push", "--delete", "d") },
    form("git", "branch", "--delete", "dD"),
    form("git", "branch", "--force", "fDMC"),
    form("git", "branch", "--move", "mM"),
    Form { valued: "mFu", ..form("git", "tag", "--delete", "d") },
    Form { valued: "mFu", ..form("git", "tag", "--force", "f") },
    Form { valued: "bB", ..form("git", "checkout", "--force", "f") },
    Form { valued: "cC", ..form("git", "switch", "--force", "f") },
    form("git", "switch", "--force-create", "C"),
    form("git", "clean", "--force", "f"),
    form("git", "add", "--all", "A"),
    form("git", "add", "--force", "f"),
    form("git", "rm", "--force", "f"),
    form("git", "pull", "--rebase", "r"),
    form("rm", "", "--recursive", "rR"),
    form("rm", "", "--force", "f"),
    Form { valued: "tS", ..form("cp", "", "--recursive", "rR") },
    Form { valued: "tS", ..form("cp", "", "--force", "f") },
    Form { valued: "tS", ..form("mv", "", "--force", "f") },
    form("chmod", "", "--recursive", "R"),
    form("chown", "", "--recursive", "R"),
    form("chgrp", "", "--recursive", "R"),
    Form { valued: "ef", ..form("sed", "", "--in-place", "i") },
    Form { valued: CURL, ..form("curl", "", "--insecure", "k") },
    Form { valued: CURL, ..form("curl", "", "--upload-file", "T") },
    Form { valued: CURL, ..form("curl", "", "--data", "d") },
    Form { valued: CURL, ..form("curl", "", "--output", "o") },
    Form { valued: CURL, ..form("curl", "", "--request", "X") },
    form("npm", "", "--global", "g"),
    form("npm", "", "--force", "f"),
    form("docker", "", "--volume", "v"),
    form("make", "", "--file", "f"),
    form("make", "", "--directory", "C"),
    form("kubectl", "", "--all-namespaces", "A"),
];

/// Options that are whole, though longer ones begin with them: whoever writes them means them.
const WHOLE: &str = "--force --save --all --output --delete --config --include --no-verify";

/// Programs whose options are words behind one dash, which can't be joined as letters can.
const WORDED: &str = "find gfind bfs go java javac terraform tofu gcc g++ cc c++ clang clang++ openssl ffmpeg";

/// Whether an option of a program is among the words.
pub(super) fn has_option(program: &str, option: &str, words: &[Word]) -> bool {
    let forms: Vec<&Form> = FORMS.iter().filter(|form| form.program == program && form.is_of(words)).collect();
    let valued: String = forms.iter().map(|form| form.valued).collect();
    let has_letter = !option.starts_with("--") || forms.iter().any(|form| form.long == option);
    let is = |word: &Word| word.text == option || abbreviates(&word.text, option);
    let is_message = |at: usize| {
        let before = at.checked_sub(1).and_then(|at| words.get(at)).filter(|before| before.exact);
        before.is_some_and(|before| match letters_of(&before.text) {
            Some(letters) => program == "git" && letters.ends_with('m'),
            None => before.text == "--message",
        })
    };
    let may_be = |at: usize, word: &Word| match word.text.starts_with('-') {
        true => may_become_option(word, option, has_letter, &valued),
        false => (!is_message(at) || word.splits) && may_be_option(word, option),
    };
    if words.iter().enumerate().any(|(at, word)| is(word) || may_be(at, word)) {
        return true;
    }
    let Some(wanted) = letters_of(option) else {
        return forms.iter().any(|form| form.long == option && form.is_given(words));
    };
    if is_listed(program, WORDED) && wanted.chars().count() > 1 {
        return words.iter().any(|word| is_word(&word.text, wanted));
    }
    let given: String = words.iter().filter_map(|word| own_letters(word, &valued)).collect();
    let is_spelled = |letter: char| {
        let mut same = forms.iter().filter(|form| form.letters.contains(letter)).peekable();
        same.peek().is_some() && same.all(|form| form.is_given(words))
    };
    !wanted.is_empty() && wanted.chars().all(|letter| given.contains(letter) || is_spelled(letter))
}

/// Whether a word is an option of several letters behind one dash or two, also with a value.
fn is_word(text: &str, wanted: &str) -> bool {
    let name = text.split_once('=').map_or(text, |(name, _)| name);
    let bare = name.strip_prefix("--").or_else(|| name.strip_prefix('-'));
    bare == Some(wanted)
}

/// The text of a word up to what only the shell will know.
fn literal(word: &Word) -> &str {
    match word.exact {
        true => &word.text,
        false => word.text.split(['$', '`', '*', '?', '[', '{']).next().unwrap_or_default(),
    }
}

/// The letters of a word that gives options by letters, up to the one that takes what follows it.
fn own_letters<'a>(word: &'a Word, valued: &str) -> Option<&'a str> {
    let letters = letters_of(literal(word))?;
    let end = letters.char_indices().find(|(_, letter)| valued.contains(*letter));
    letters.get(..end.map_or(letters.len(), |(at, letter)| at + letter.len_utf8()))
}

/// Whether a word that begins with a dash, and whose rest only the shell will know, may become this option: the long
/// one where it begins like it, letters where none of those before takes the rest for its value.
fn may_become_option(word: &Word, option: &str, has_letter: bool, valued: &str) -> bool {
    if word.exact || word.splits {
        return !word.exact;
    }
    let known = literal(word);
    match known.strip_prefix('-').unwrap_or_default() {
        "" => true,
        long if long.starts_with('-') => option.starts_with(known),
        letters => has_letter && !letters.contains(|letter: char| valued.contains(letter)),
    }
}

impl Form {
    /// Whether the words are of the subcommand that has it.
    fn is_of(&self, words: &[Word]) -> bool {
        self.subcommand.is_empty() || words.iter().any(|word| word.text == self.subcommand)
    }

    /// Whether it is among the words, in one of its spellings.
    fn is_given(&self, words: &[Word]) -> bool {
        words.iter().any(|word| match own_letters(word, self.valued) {
            Some(letters) => letters.chars().any(|letter| self.letters.contains(letter)),
            None => abbreviates(&word.text, self.long),
        })
    }
}

/// The letters of a word that gives options by letters.
fn letters_of(text: &str) -> Option<&str> {
    text.strip_prefix('-').filter(|letters| !letters.starts_with('-'))
}

/// Whether a word is a long option, or the beginning of it that programs take for it, also with a value.
fn abbreviates(text: &str, option: &str) -> bool {
    let name = text.split_once('=').map_or(text, |(name, _)| name);
    name == option || name.len() > 2 && name.starts_with("--") && option.starts_with(name) && !is_listed(name, WHOLE)
}

/// Whether a word that only the shell will know may be this option. What begins with other letters is none, and of a
/// variable between quotes nobody writes that it is one; what the line works out may be anything.
fn may_be_option(word: &Word, option: &str) -> bool {
    if word.exact {
        return false;
    }
    let text = word.text.as_str();
    if word.pattern {
        return text.starts_with(['*', '?', '[']) && pattern::matches(text, option);
    }
    let works_out = text.contains(['`', '(', '@', '{']) && !is_plain_variable(text);
    let begins_with_letters = !text.starts_with(['$', '`', '*', '?', '[', '{', '~']);
    match begins_with_letters {
        true => word.splits && works_out,
        false => word.splits || works_out,
    }
}

/// Whether a text is `${name}` and nothing else.
fn is_plain_variable(text: &str) -> bool {
    let name = text.strip_prefix("${").and_then(|rest| rest.strip_suffix('}'));
    name.is_some_and(|name| name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_'))
}

#[cfg(test)]
mod tests {
    use crate::command::{Place, examine};

    fn words(text: &str) -> Vec<String> {
        text.split(' ').map(str::to_owned).collect()
    }

    #[test]
    fn what_can_be_no_option_is_none() {
        let place = Place::new("/w");
        for (line, rule, may) in [
            ("git commit -m \"$MSG\"", "git commit --no-verify", false),
            ("git commit -m \"$(cat x)\"", "git commit --no-verify", false),
            ("git commit --no-verify -m \"$MSG\"", "git commit --no-verify", true),
            ("rm build/*.o", "rm -rf", false),
            ("rm *.o", "rm -rf", false),
            ("rm \"$f\"", "rm -rf", false),
            ("rm \"${f}\"", "rm -rf", false),
            ("rm $f", "rm -rf", true),
            ("rm -$f x", "rm -rf", true),
            ("rm \"$(echo -rf)\" x", "rm -rf", true),
            ("rm [-]rf x", "rm -rf", true),
            ("git push origin \"$BRANCH\"", "git push --force", false),
            ("git push \"$@\"", "git push --force", true),
            ("git push {origin,--force}", "git push --force", true),
            ("git commit -m\"$MSG\"", "git commit --no-verify", false),
            ("git commit -m$MSG", "git commit --no-verify", true),
            ("git commit --message=\"$MSG\"", "git commit --no-verify", false),
            ("git commit -asm \"$(cat x)\"", "git commit --no-verify", false),
            ("git commit -a\"$x\"", "git commit --no-verify", true),
            ("git commit --no\"$x\"", "git commit --no-verify", true),
            ("git push --push-option=\"$x\"", "git push --force", false),
            ("git push -o\"$x\"", "git push --force", false),
            ("find . -maxdepth 2 -type f -ls", "find -delete", false),
            ("find . -delete", "find -delete", true),
            ("go test --exec=x", "go test -exec", true),
            ("go test -c -x -e", "go test -exec", false),
        ] {
            assert_eq!(examine(line, &place).mentions(&words(rule)), may, "{line} {rule}");
        }
    }

    #[test]
    fn an_option_is_the_same_abbreviated_and_by_its_letter() {
        let place = Place::new("/w");
        for (line, rule, is) in [
            ("git commit --no-verif -m x", "git commit --no-verify", true),
            ("git commit --no-v", "git commit --no-verify", true),
            ("git commit -n -m x", "git commit --no-verify", true),
            ("git commit -anm x", "git commit --no-verify", true),
            ("git commit --no-verify", "git commit -n", true),
            ("git commit --no-veri", "git commit -n", true),
            ("git commit -mnot", "git commit --no-verify", false),
            ("git commit -uno", "git commit --no-verify", false),
            ("git commit --no-edit", "git commit --no-verify", false),
            ("git commit --amend -m x", "git commit --no-verify", false),
            ("git push -n", "git push --no-verify", false),
            ("git push -f", "git push --force", true),
            ("git push --forc", "git push --force", true),
            ("git push --force", "git push --force-with-lease", false),
            ("git push --force-w", "git push --force-with-lease", true),
            ("git push --follow-tags", "git push --force", false),
            ("git branch --delete --force x", "git branch -D", true),
            ("git branch --delete x", "git branch -D", false),
            ("git branch -D x", "git branch --delete", true),
            ("rm --recursive --force x", "rm -rf", true),
            ("rm --rec -f x", "rm -rf", true),
            ("rm -R --for x", "rm -fr", true),
            ("rm -r x", "rm -rf", false),
            ("rm -f x", "rm --recursive", false),
            ("curl -sk x", "curl --insecure", true),
            ("curl -ok x", "curl --insecure", false),
            ("npm i -g x", "npm --global", true),
        ] {
            assert_eq!(examine(line, &place).mentions(&words(rule)), is, "{line} {rule}");
        }
    }
}
