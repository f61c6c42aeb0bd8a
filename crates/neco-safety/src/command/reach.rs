//! Every path that a line names, wherever it stands: read as the sensitive ones are, for rules about paths.

use std::path::PathBuf;

use super::examined::{Examined, Word};
use super::ground::{Ground, is_elsewhere};
use super::judge::{is_about_names, takes_pattern};
use super::named::program_name;
use super::place::Place;
use super::program::invocation;
use crate::listed::is_listed;
use crate::path::Shape;

/// More paths of one line are not told apart: who needs to know must take it that any may be meant.
const MOST_PATHS: usize = 4096;

/// A path that a line names.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Reached {
    pub(crate) named: Named,
    /// Whether it is surely written to or deleted.
    pub(crate) changes: bool,
    /// Whether the word surely names a file, and is no text, no pattern, and nothing that a program is to do.
    pub(crate) surely: bool,
}

/// What a word names.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Named {
    Path(PathBuf),
    /// What the shell finds for this pattern.
    Pattern(Shape),
}

impl Examined {
    /// The paths that the line surely writes to or deletes, as far as its words tell.
    pub fn changed(&self, place: &Place) -> Vec<PathBuf> {
        let changed = self.reached(place).into_iter().filter(|reached| reached.changes);
        let path = |reached: Reached| match reached.named {
            Named::Path(path) => Some(path),
            Named::Pattern(_) => None,
        };
        changed.filter_map(path).collect()
    }

    /// The paths outside that the line surely writes to or deletes, and that a yes to it does not open.
    pub(crate) fn kept_closed(&self, place: &Place) -> Vec<PathBuf> {
        let is_opened = |path: &PathBuf| self.opens.iter().any(|opened| opened.changes && opened.path == *path);
        let mut closed = self.changed(place);
        closed.retain(|path| is_elsewhere(place, path) && !is_opened(path));
        closed.sort();
        closed.dedup();
        closed
    }

    /// Every path that the line names, as far as its words tell. What a word hides (a variable, a substitution, a
    /// script) and what lies below a folder that it names is not among them.
    pub(crate) fn reached(&self, place: &Place) -> Vec<Reached> {
        let of_parts = self.parts.iter().flat_map(|part| {
            let words = part.words.iter().zip(surely_paths(&part.words));
            words.map(|(word, surely)| (word, false, surely, part.standing))
        });
        let mentions = self.mentions.iter().map(|mention| {
            let surely = mention.surely || looks_like_path(&mention.word);
            (&mention.word, mention.changes, surely, mention.standing)
        });
        let mut reached = Vec::new();
        for (word, changes, surely, standing) in of_parts.chain(mentions) {
            if reached.len() >= MOST_PATHS {
                break;
            }
            let folders = self.standings.get(standing).map(Vec::as_slice).unwrap_or_default();
            let ground = Ground { place, folders, adrift: false };
            let paths = ground.paths_in(word).filter_map(|path| named(word, path));
            reached.extend(paths.map(|named| Reached { named, changes, surely }));
        }
        reached
    }

    /// Whether all that the line tells of files is that they are there. What it names and what it writes is another matter.
    pub(crate) fn tells_names_only(&self) -> bool {
        self.clean
            && self.parts.iter().all(|part| {
                let text = |at: usize| part.words.get(at).map_or("", |word| word.text.as_str());
                part.words.iter().all(|word| word.exact || word.pattern)
                    && (is_about_names(text(0), text(1)) || is_about_nothing(text(0)))
            })
    }
}

/// Every path that a text may be which is no word of a line, meant from the folder of the place on.
pub(crate) fn paths_named(text: &str, place: &Place) -> impl Iterator<Item = PathBuf> {
    let folders = [place.absolute(".")];
    let ground = Ground { place, folders: &folders, adrift: false };
    ground.paths_in(&Word::exact(text)).collect::<Vec<_>>().into_iter()
}

/// What such a text means as a pattern of file names, if it may be one.
pub(crate) fn pattern_named(text: &str, place: &Place) -> Option<Named> {
    text.contains(WILD).then(|| Named::Pattern(Shape::of_word(&place.absolute(text))))
}

/// What makes a pattern of a file name.
pub(super) const WILD: [char; 3] = ['*', '?', '['];

/// Whether a program looks at no file at all.
pub(super) fn is_about_nothing(program: &str) -> bool {
    matches!(program, "echo" | "printf" | "true" | "false" | ":" | "pwd" | "date" | "sleep" | "whoami" | "uname" | "id")
}

fn named(word: &Word, path: PathBuf) -> Option<Named> {
    let text = path.to_string_lossy();
    // What only the shell will know can't be compared with anything.
    if !word.exact && text.contains(['$', '`']) {
        return None;
    }
    // The folder that the line went to may be a pattern, whatever the word is.
    let is_literal = word.exact && word.text.contains(WILD) || !text.contains(WILD);
    Some(if is_literal { Named::Path(path) } else { Named::Pattern(Shape::of_word(&path)) })
}

/// For each word of a command, whether it surely names a file.
/// Others may be text, patterns, or what a program is to do: where the box has nothing of what is closed, those
/// are left to it.
pub(super) fn surely_paths(words: &[Word]) -> Vec<bool> {
    let Some((program, arguments)) = words.split_first() else { return Vec::new() };
    let name = program_name(&program.text);
    let subcommand = if *name == *"git" { invocation(arguments).subcommand } else { "" };
    let searches = is_search(&name);
    let mut patterns = match subcommand {
        // The subcommand itself, and what it looks for.
        "grep" => 2,
        _ => usize::from(takes_pattern(&name, arguments)),
    };
    let names_no_files = matches!(&*name, "echo" | "printf") || is_about_commits(subcommand);
    let mut in_expression = false;
    // Behind this, git is told files and nothing else.
    let mut behind_dashes = false;
    let mut before = "";
    let mut surely = vec![looks_like_path(program)];
    for word in arguments {
        let text = word.text.as_str();
        let is_option = text.starts_with('-');
        let is_value = takes_text(before) || searches && takes_search_text(before) || is_message(subcommand, before);
        let is_number = text.bytes().all(|byte| byte.is_ascii_digit());
        let is_operand = !is_option && !is_value && !is_number;
        let is_pattern = is_operand && patterns > 0;
        patterns -= usize::from(is_pattern);
        let begins_expression = is_option && !matches!(text, "-L" | "-H" | "-P") || matches!(text, "(" | "!");
        in_expression |= *name == *"find" && begins_expression;
        let is_text = is_value || is_pattern || in_expression || holds_text(text) || holds_message(subcommand, text);
        let is_folder = matches!(before, "-C" | "--directory" | "--target-directory");
        let is_file = looks_like_path(word) && !names_no_files
            || is_operand && takes_files(&name) && !text.contains('=')
            || behind_dashes && !subcommand.is_empty()
            || ["--target-directory=", "--directory=", "--file="].iter().any(|option| text.starts_with(option));
        surely.push(is_folder || is_file && !is_text);
        behind_dashes |= text == "--";
        before = text;
    }
    surely
}

/// Whether a word has folders in it, and is no web address.
pub(super) fn looks_like_path(word: &Word) -> bool {
    let is_address = word.text.contains("://") && !word.text.contains("file://");
    word.text.contains('/') && !is_address
}

/// Programs whose operands are files, but for a pattern that comes first.
fn takes_files(program: &str) -> bool {
    const PROGRAMS: &str = "bat cat cd chdir cmp cp diff du egrep fgrep file find grep head hexdump install less ln \
        ls mkdir more mv nl od pushd rg rm rmdir rsync scp sed shred sort source stat strings tac tail tar tee touch \
        truncate unlink wc xxd";
    is_listed(program, PROGRAMS)
}

/// Programs that look for a pattern.
fn is_search(program: &str) -> bool {
    matches!(program, "grep" | "egrep" | "fgrep" | "rg" | "ag" | "ack" | "sed")
}

/// Options of those whose value is no file.
fn takes_search_text(option: &str) -> bool {
    matches!(option, "-e" | "--regexp" | "--expression" | "--include" | "-g" | "--glob" | "--iglob" | "-t" | "--type")
}

/// Options whose value is text, or what is to be left out.
fn takes_text(option: &str) -> bool {
    matches!(option, "-m" | "--message" | "--title" | "--body" | "--grep" | "--exclude" | "--exclude-dir" | "--ignore")
}

/// The same in one word.
fn holds_text(word: &str) -> bool {
    ["--message=", "--title=", "--body=", "--grep=", "--exclude", "--ignore"]
        .iter()
        .any(|start| word.starts_with(start))
}

/// Whether the value behind an option of git is the message of a commit, as in `-am text`.
fn is_message(subcommand: &str, option: &str) -> bool {
    let takes_one = matches!(subcommand, "commit" | "tag" | "merge" | "stash" | "notes");
    takes_one && option.starts_with('-') && !option.starts_with("--") && option.ends_with('m')
}

/// The same in one word.
fn holds_message(subcommand: &str, word: &str) -> bool {
    matches!(subcommand, "commit" | "tag" | "merge" | "stash" | "notes") && word.starts_with("-m")
}

/// Subcommands of git that are told names of branches, which look like paths.
fn is_about_commits(subcommand: &str) -> bool {
    matches!(subcommand, "branch" | "switch" | "push" | "fetch" | "pull" | "tag" | "merge" | "rebase" | "remote")
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The words of a line that surely are paths.
    fn surely(line: &str) -> Vec<String> {
        let words: Vec<Word> = line.split(' ').map(Word::exact).collect();
        let found = words.iter().zip(surely_paths(&words)).filter(|(_, surely)| *surely);
        found.map(|(word, _)| word.text.clone()).collect()
    }

    #[test]
    fn what_surely_is_a_path_is_told_from_what_may_be_anything() {
        for (line, paths) in [
            ("cargo build", ""),
            ("cargo test a/b", "a/b"),
            ("npm run build", ""),
            ("make -C build", "build"),
            ("make build", ""),
            ("bin/run build", "bin/run"),
            ("cat build", "build"),
            ("head -n 3 build", "build"),
            ("cp -t build f", "build f"),
            ("cp --target-directory=build f", "--target-directory=build f"),
            ("grep -rn secrets src", "src"),
            ("grep -e secrets/x src", "src"),
            ("grep -A 3 secrets/x src", "src"),
            ("sed -i s/a/b/ x", "x"),
            ("echo secrets/", ""),
            ("tar --exclude=secrets/x -cf a.tar b", "a.tar b"),
            ("rsync --exclude secrets/ a/ b", "a/ b"),
            ("find . -path ./secrets -prune", "."),
            ("find -L secrets -name x", "secrets"),
            ("git commit -m vendor/x", ""),
            ("git commit -am vendor/x", ""),
            ("git commit vendor/x", "vendor/x"),
            ("git show :secrets/x", ":secrets/x"),
            ("git switch vendor/x", ""),
            ("git checkout HEAD -- vendor", "vendor"),
            ("git -C vendor push", "vendor"),
            ("git grep secrets/x", ""),
            ("curl https://a/b", ""),
            ("curl file:///a/b", "file:///a/b"),
            ("gcc -ovendor/x a.c", "-ovendor/x"),
        ] {
            assert_eq!(surely(line).join(" "), paths, "{line}");
        }
    }
}
