//! Which program a command is: decided once, for ratings, for rules, and for what is never done.
//!
//! To a rule that asks or denies, and to every rating, a program is what it is called, whatever path it is written
//! with. To a rule that allows, a path is a path: only a bare name, and the same in a folder of the system, is the
//! program of that name.

use std::borrow::Cow;

use super::examined::{Part, Word};
use super::{handed, spelled};

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

/// Every command of git is a program of its own, too: `git-push x` is `git push x`, wherever it lies.
pub(super) fn call_git(words: &mut Vec<Word>) {
    let Some(program) = words.first().filter(|word| word.exact) else { return };
    if let Some((program, subcommand)) = git_call(&program.text) {
        drop(words.splice(..1, [Word::exact(program), Word::exact(subcommand)]));
    }
}

/// The program and the subcommand that a program of git's own stands for.
fn git_call(program: &str) -> Option<(String, String)> {
    let (folder, name) = program.split_at(program.rfind('/').map_or(0, |at| at + 1));
    let (git, subcommand) = name.split_once('-')?;
    let is_git = git.eq_ignore_ascii_case("git") && !subcommand.is_empty();
    is_git.then(|| (format!("{folder}{git}"), subcommand.to_ascii_lowercase()))
}

/// The words of a rule as the words of a command are kept.
fn as_kept(prefix: &[String]) -> Cow<'_, [String]> {
    match prefix.first().and_then(|program| git_call(program)) {
        Some((program, subcommand)) => {
            Cow::Owned([program, subcommand].into_iter().chain(prefix.iter().skip(1).cloned()).collect())
        }
        None => Cow::Borrowed(prefix),
    }
}

impl Part {
    /// Whether it has as many words as a rule.
    pub(crate) fn is_as_long_as(&self, words: &[String]) -> bool {
        self.words.len() == as_kept(words).len()
    }

    /// Whether it surely is a command of these words and others behind them: for rules that allow.
    pub(crate) fn begins_with(&self, prefix: &[String]) -> bool {
        let prefix = as_kept(prefix);
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
        let prefix = as_kept(prefix);
        let Some((program, others)) = prefix.split_first() else { return true };
        let Some((own, rest)) = self.words.split_first() else { return false };
        let name = program_name(program);
        if own.exact && program_name(&own.text) != name {
            return others.is_empty() && handed::is_handed_on(&program_name(&own.text), rest, &name);
        }
        let (options, names): (Vec<&String>, Vec<&String>) = others.iter().partition(|word| word.starts_with('-'));
        follow(&names, rest) && options.iter().all(|option| spelled::has_option(&name, option, rest))
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

#[cfg(test)]
mod tests {
    use neco_proto::Risk;

    use super::*;

    fn part(line: &str) -> Part {
        let words = line.split(' ').map(Word::exact).collect();
        Part {
            words,
            plain: true,
            risk: Risk::High,
            because: None,
            wrapper: false,
            uncoverable: false,
            rewrites: false,
            standing: 0,
        }
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
            ("cp //usr//bin/curl x", "curl", true, false),
            ("cp /usr/bin/../bin/./curl x", "curl", true, false),
            ("dd if=/usr/bin/curl of=x", "curl", true, false),
            ("unheard-of /usr/bin/curl x", "curl", true, false),
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
            ("rm -Rf x", "rm -rf", true, false),
            ("rm --recursive --force x", "rm -rf", true, false),
            ("git commit --no-veri", "git commit --no-verify", true, false),
            ("git commit -nm x", "git commit --no-verify", true, false),
            ("npm run", "npm run build", false, false),
        ] {
            let (part, prefix) = (part(line), words(prefix));
            assert_eq!(part.may_begin_with(&prefix), may, "{line} {prefix:?}");
            assert_eq!(part.begins_with(&prefix), surely, "{line} {prefix:?}");
        }
        for line in ["sha256sum /usr/bin/rm", "ldd /bin/rm", "dpkg -S /bin/rm", "head -1 /bin/rm"] {
            assert!(!part(line).may_begin_with(&words("rm")), "{line}");
        }
        for line in ["cat /bin/rm", "sudo /bin/rm x", "/lib64/ld-linux-x86-64.so.2 /bin/rm x"] {
            assert!(part(line).may_begin_with(&words("rm")), "{line}");
        }
    }

    #[test]
    fn the_programs_of_git_are_git() {
        for (line, called) in [
            ("git-push origin", "git push origin"),
            ("/usr/lib/git-core/git-push origin", "/usr/lib/git-core/git push origin"),
            ("./git-status", "./git status"),
            ("GIT-Push", "GIT push"),
            ("git push", "git push"),
            ("git- x", "git- x"),
            ("gitk", "gitk"),
            ("git/x-y", "git/x-y"),
        ] {
            let mut kept = part(line).words;
            call_git(&mut kept);
            let texts: Vec<&str> = kept.iter().map(|word| word.text.as_str()).collect();
            assert_eq!(texts.join(" "), called, "{line}");
        }
        let kept = part("git lfs pull");
        assert!(kept.begins_with(&words("git-lfs")) && kept.may_begin_with(&words("git-lfs pull")));
        assert!(kept.is_as_long_as(&words("git-lfs pull")));
        assert!(!part("./git status").begins_with(&words("git status")), "it may be another program");
    }
}
