//! Whether an option that a rule names is among the words of a command, however it is spelt: abbreviated, by its letter,
//! by its long name, among other letters.

use super::examined::Word;
use super::pattern;

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
    form("git", "push", "--force", "f"),
    form("git", "push", "--delete", "d"),
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
const WHOLE: [&str; 8] = ["--force", "--save", "--all", "--output", "--delete", "--config", "--include", "--no-verify"];

/// Whether an option of a program is among the words.
pub(super) fn has_option(program: &str, option: &str, words: &[Word]) -> bool {
    let is = |word: &Word| word.text == option || abbreviates(&word.text, option);
    let is_message = |at: usize| {
        let before = at.checked_sub(1).and_then(|at| words.get(at));
        before.is_some_and(|before| before.exact && matches!(before.text.as_str(), "-m" | "-am" | "-sm" | "--message"))
    };
    let may_be = |at: usize, word: &Word| (!is_message(at) || word.splits) && may_be_option(word, option);
    if words.iter().enumerate().any(|(at, word)| is(word) || may_be(at, word)) {
        return true;
    }
    let forms = move || {
        let has =
            move |form: &&Form| form.subcommand.is_empty() || words.iter().any(|word| word.text == form.subcommand);
        FORMS.iter().filter(move |form| form.program == program).filter(has)
    };
    let Some(wanted) = letters_of(option) else {
        return forms().any(|form| form.long == option && form.is_given(words));
    };
    let given: String = words.iter().filter_map(|word| letters_of(&word.text)).collect();
    let is_spelled = |letter: char| {
        let mut same = forms().filter(|form| form.letters.contains(letter)).peekable();
        same.peek().is_some() && same.all(|form| form.is_given(words))
    };
    !wanted.is_empty() && wanted.chars().all(|letter| given.contains(letter) || is_spelled(letter))
}

impl Form {
    /// Whether it is among the words, in one of its spellings.
    fn is_given(&self, words: &[Word]) -> bool {
        words.iter().any(|word| match letters_of(&word.text) {
            Some(letters) => {
                let end = letters.find(|letter: char| self.valued.contains(letter)).map_or(letters.len(), |at| at + 1);
                letters.chars().take(end).any(|letter| self.letters.contains(letter))
            }
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
    name == option || name.len() > 2 && name.starts_with("--") && option.starts_with(name) && !WHOLE.contains(&name)
}

/// Whether a word that only the shell will know may be this option. What begins with other letters is none, and of a
/// variable between quotes nobody writes that it is one; what the line works out may be anything.
fn may_be_option(word: &Word, option: &str) -> bool {
    if word.exact {
        return false;
    }
    let text = word.text.as_str();
    if text.starts_with('-') {
        return true;
    }
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
