//! Which program a command is: decided once, for ratings, for rules, and for what is never done.
//!
//! To a rule that asks or denies, and to every rating, a program is what it is called, whatever path it is written
//! with. To a rule that allows, a path is a path: only a bare name, and the same in a folder of the system, is the
//! program of that name.

use std::borrow::Cow;

use super::examined::{Part, Word};

/// Folders whose programs are what their names say.
const USUAL_FOLDERS: [&str; 7] =
    ["/bin", "/usr/bin", "/usr/local/bin", "/sbin", "/usr/sbin", "/usr/local/sbin", "/opt/homebrew/bin"];

/// What a program is called, whatever path it is written with: without folders, in small letters.
pub(crate) fn program_name(text: &str) -> Cow<'_, str> {
    let name = text.rsplit('/').next().unwrap_or(text);
    if name.bytes().any(|byte| byte.is_ascii_uppercase()) {
        return Cow::Owned(name.to_ascii_lowercase());
    }
    Cow::Borrowed(name)
}

/// The name of the program that a word surely is: a bare name, or one in a folder of the system.
pub(crate) fn usual_name(word: &Word) -> Option<&str> {
    if !word.exact || word.text.bytes().any(|byte| byte.is_ascii_uppercase()) {
        return None;
    }
    match word.text.rsplit_once('/') {
        None => Some(&word.text),
        Some((folder, name)) => USUAL_FOLDERS.contains(&folder).then_some(name),
    }
}

impl Part {
    /// Whether it surely is a command of these words and others behind them: for rules that allow.
    pub(crate) fn begins_with(&self, prefix: &[String]) -> bool {
        let Some(((program, own), rest)) = prefix.first().zip(self.words.first()).zip(self.words.get(1..)) else {
            return false;
        };
        let is_program = own.exact && own.text == *program || usual_name(own) == Some(program);
        let others = prefix.get(1..).unwrap_or_default();
        is_program
            && others.len() <= rest.len()
            && others.iter().zip(rest).all(|(text, word)| word.exact && word.text == *text)
    }

    /// Whether it is a command of these words, or may be: for rules that ask or deny. Options may stand anywhere.
    pub(crate) fn may_begin_with(&self, prefix: &[String]) -> bool {
        let Some((program, others)) = prefix.split_first() else { return true };
        let Some((own, rest)) = self.words.split_first() else { return false };
        let name = program_name(program);
        if own.exact && program_name(&own.text) != name {
            // Whoever is handed a program by its path may start it, copy it, or give it another name.
            let hands_on = |word: &Word| word.text.contains('/') && usual_name(word) == Some(&*name);
            return others.is_empty() && !tells_of(&program_name(&own.text)) && rest.iter().any(hands_on);
        }
        let (options, names): (Vec<&String>, Vec<&String>) = others.iter().partition(|word| word.starts_with('-'));
        follow(&names, rest) && options.iter().all(|option| has_option(option, rest))
    }

    /// Its words, joined by spaces, as it is written; and as it is called, where that is another text.
    pub(crate) fn texts(&self) -> impl Iterator<Item = String> {
        let joined = |program: &str| {
            let rest = self.words.iter().skip(1).map(|word| word.text.as_str());
            [program].into_iter().chain(rest).collect::<Vec<_>>().join(" ")
        };
        let written = self.words.first().map_or("", |word| word.text.as_str());
        let called = Some(program_name(written)).filter(|called| called != written);
        [Some(joined(written)), called.map(|called| joined(&called))].into_iter().flatten()
    }

    /// The same for a rule that allows: what it is called counts only where it surely is that program.
    pub(crate) fn sure_texts(&self) -> impl Iterator<Item = String> {
        let surely = self.words.first().is_some_and(|word| usual_name(word).is_some());
        self.texts().take(if surely { 2 } else { 1 })
    }
}

/// Programs that do no more with a program than to tell of it.
fn tells_of(program: &str) -> bool {
    matches!(
        program,
        "ls" | "stat"
            | "file"
            | "which"
            | "whereis"
            | "type"
            | "command"
            | "realpath"
            | "readlink"
            | "basename"
            | "dirname"
            | "test"
            | "["
            | "[["
            | "du"
            | "echo"
            | "printf"
            | "grep"
            | "man"
    )
}

/// Whether these names follow one another, with nothing between them but options and what may be their values. A value
/// may be called like a name, so that every way of reading is followed at once.
fn follow(names: &[&String], words: &[Word]) -> bool {
    let mut plain = vec![false; names.len() + 1];
    plain[0] = true;
    let mut after_option = vec![false; names.len() + 1];
    for word in words {
        let is_option = word.text.starts_with(['-', '+']);
        let reached: Vec<bool> = plain.iter().zip(&after_option).map(|(one, other)| *one || *other).collect();
        if reached.last() == Some(&true) || !reached.contains(&true) {
            return reached.last() == Some(&true);
        }
        let mut next = if is_option { vec![false; reached.len()] } else { after_option };
        for ((name, reached), next) in names.iter().zip(&reached).zip(next.iter_mut().skip(1)) {
            *next |= *reached && (!word.exact || word.text == **name);
        }
        after_option = if is_option { reached } else { vec![false; names.len() + 1] };
        plain = next;
    }
    plain.last() == Some(&true)
}

/// Whether an option is among the words: as it is, or letter by letter.
fn has_option(option: &str, words: &[Word]) -> bool {
    let is = |word: &Word| {
        !word.exact || word.text == option || word.text.strip_prefix(option).is_some_and(|rest| rest.starts_with('='))
    };
    if words.iter().any(is) {
        return true;
    }
    let letters_of = |text: &str| text.strip_prefix('-').filter(|letters| !letters.starts_with('-')).map(str::to_owned);
    let Some(wanted) = letters_of(option).filter(|letters| !letters.is_empty()) else { return false };
    let given: String = words.iter().filter_map(|word| letters_of(&word.text)).collect();
    wanted.chars().all(|letter| given.contains(letter))
}

#[cfg(test)]
mod tests {
    use neco_proto::Risk;

    use super::*;

    fn part(line: &str) -> Part {
        let words = line.split(' ').map(Word::exact).collect();
        Part { words, plain: true, risk: Risk::High, because: None, wrapper: false, uncoverable: false, standing: 0 }
    }

    fn words(text: &str) -> Vec<String> {
        text.split(' ').map(str::to_owned).collect()
    }

    #[test]
    fn a_path_is_the_program_to_those_who_forbid_and_a_path_to_those_who_allow() {
        for (line, prefix, may, surely) in [
            ("curl x", "curl", true, true),
            ("/usr/bin/curl x", "curl", true, true),
            ("/bin/curl x", "curl", true, true),
            ("./curl x", "curl", true, false),
            ("/tmp/curl x", "curl", true, false),
            ("/usr/bin/../curl x", "curl", true, false),
            ("CURL x", "curl", true, false),
            ("curl x", "/usr/bin/curl", true, false),
            ("curl x", "./curl", true, false),
            ("./curl x", "./curl", true, true),
            ("curls x", "curl", false, false),
            ("cp /usr/bin/curl x", "curl", true, false),
            ("cp ./curl x", "curl", false, false),
            ("git -C a push", "git push", true, false),
            ("/usr/bin/git --no-pager -c a=b push -f", "git push", true, false),
            ("cargo +nightly publish", "cargo publish", true, false),
            ("git log push", "git push", false, false),
            ("git push origin --force", "git push --force", true, false),
            ("git push --force=x", "git push --force", true, false),
            ("git push origin", "git push --force", false, false),
            ("rm -fr x", "rm -rf", true, false),
            ("rm -r -f x", "rm -rf", true, false),
            ("rm -r x", "rm -rf", false, false),
            ("npm run", "npm run build", false, false),
        ] {
            let (part, prefix) = (part(line), words(prefix));
            assert_eq!(part.may_begin_with(&prefix), may, "{line} {prefix:?}");
            assert_eq!(part.begins_with(&prefix), surely, "{line} {prefix:?}");
        }
    }
}
