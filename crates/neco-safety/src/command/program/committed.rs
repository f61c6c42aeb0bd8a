//! Which calls of git tell nothing of what files hold, and bring nothing of it back: whatever is not known here may.

use super::git::Invocation;
use crate::command::examined::Word;
use crate::listed::{is_listed, row};

/// A subcommand that deals with names, commits and settings alone.
struct Kept<'a> {
    name: &'a str,
    /// Letters of options with which it stays so; `*` for all there are.
    letters: &'static str,
    /// Long options with which it stays so; `*` for all there are, `+` for those that choose commits.
    long: &'static str,
}

/// Options that choose commits, and say of files no more than their names and how much of them changed.
const COMMITS: &str = "oneline graph decorate no-decorate stat shortstat numstat name-only name-status no-patch pretty \
    format date abbrev-commit no-abbrev-commit abbrev all branches tags remotes author committer grep since until after \
    before max-count skip follow first-parent merges no-merges reverse color no-color summary dirstat compact-summary \
    diff-filter find-renames find-copies no-renames topo-order date-order left-right cherry-pick cherry-mark boundary \
    not merge-base simplify-by-decoration notes no-notes source children parents regexp-ignore-case invert-grep \
    extended-regexp fixed-strings perl-regexp grep-reflog walk-reflogs encoding full-history relative count objects \
    summary numbered email";

/// The subcommands, a row each: letters, then long options.
const TABLE: &str =
    "status sbuz short branch porcelain long untracked-files ignored null column no-column ahead-behind show-stash \
      no-renames find-renames ignore-submodules
    log nisgzEFP0123456789 +
    shortlog snec0123456789 +
    rev-list nig0123456789 +
    reflog ng0123456789 +
    add AnNufv all dry-run verbose force update intent-to-add ignore-removal no-ignore-removal ignore-errors chmod \
      refresh renormalize
    commit amqnsFCcS all message quiet amend no-edit signoff no-verify allow-empty allow-empty-message author date \
      file fixup squash reset-author dry-run short porcelain only include trailer no-gpg-sign gpg-sign
    branch,remote,fetch,push,init,rev-parse,ls-files,ls-tree,ls-remote,merge-base,name-rev,describe * *
    show-ref,show-branch,symbolic-ref,check-ignore,check-attr,count-objects,rm,mv,gc,version,help * *
    tag ldfamnsi list delete force annotate message sign sort contains merged no-merged points-at column ignore-case
    config lez global local system get get-all get-regexp unset unset-all list add type name-only show-origin null \
      edit replace-all
    for-each-ref * count sort points-at merged no-merged contains no-contains";

/// Whether a call with so many words tells and brings back nothing of what files hold.
pub(super) fn is_kept(call: &Invocation<'_>, words: usize) -> bool {
    let first = call.arguments.first().map_or("", |word| word.text.as_str());
    match (call.subcommand, first) {
        // Without a subcommand there is nothing to do but to tell about git itself.
        ("", _) => call.global.len() == words && call.global.iter().all(|word| word.exact),
        ("worktree", "list") => true,
        ("stash", "list") => {
            // An operand may be any commit, and what is shown of it is what options say.
            let rest = call.arguments.get(1..).unwrap_or_default();
            let is_number = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
            rest.iter().all(|word| word.exact && (word.text.starts_with('-') || is_number(&word.text)))
                && !rest.iter().any(|word| word.text == "--")
                && Kept { name: "stash", letters: "ng0123456789", long: "+" }.holds_for(rest)
        }
        ("submodule", "status") => true,
        // A new branch where one is leaves the files as they are.
        ("switch", "-c" | "--create") | ("checkout", "-b") => call.arguments.len() == 2,
        (name, _) => {
            row(TABLE, name).is_some_and(|[letters, long]| Kept { name, letters, long }.holds_for(call.arguments))
        }
    }
}

impl Kept<'_> {
    fn holds_for(&self, arguments: &[Word]) -> bool {
        let options = arguments.iter().take_while(|word| word.text != "--");
        options.filter(|word| !word.exact || word.text.starts_with('-')).all(|word| self.has(word))
    }

    fn has(&self, word: &Word) -> bool {
        if let Some(long) = word.text.strip_prefix("--") {
            let name = long.split_once('=').map_or(long, |(name, _)| name);
            let own = if self.long == "+" { COMMITS } else { self.long };
            return own == "*" || is_listed(name, own);
        }
        match word.text.strip_prefix('-') {
            // What only the shell will know may be any option.
            None => word.pattern,
            Some(letters) => {
                // What follows the letter of a message, a file or a number is no option.
                let with_value: &[char] = match self.name {
                    "commit" => &['m', 'F', 'C', 'c'],
                    "tag" => &['m', 'F', 'n'],
                    "add" | "status" | "config" => &[],
                    _ => &['n'],
                };
                let own = letters.split(with_value).next().unwrap_or_default();
                let first = letters.chars().next();
                self.letters == "*" || own.chars().chain(first).all(|letter| self.letters.contains(letter))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::command::{Place, examine};

    fn tells(line: &str) -> bool {
        examine(line, &Place::new("/w")).committed
    }

    #[test]
    fn what_deals_with_names_and_commits_tells_nothing() {
        for line in [
            "git status -sb",
            "git log --oneline -5",
            "git log -n3 --stat --format='%h %s'",
            "git add -A && git commit -am 'vendor: text'",
            "git commit -m pup",
            "git commit -nm pup",
            "git commit -mverbose",
            "git push origin main",
            "git branch -a",
            "git checkout -b topic",
            "git switch -c topic",
            "git stash list",
            "git stash list -n 3 --oneline",
            "git --version",
            "git ls-files | wc -l",
            "git rev-parse HEAD",
            "git fetch",
            "git worktree list",
            "ls",
        ] {
            assert!(!tells(line), "{line}");
        }
    }

    #[test]
    fn whatever_else_it_does_may_tell() {
        for line in [
            "git show HEAD",
            "git diff",
            "git diff --stat",
            "git log -p",
            "git log -Sx",
            "git log -L1,2:a",
            "git log --patch --oneline",
            "git log --pat",
            "git log $x",
            "git status -v",
            "git add -p",
            "git commit -v",
            "git commit -vm x",
            "git commit -nv",
            "git add -np",
            "git checkout main",
            "git checkout -- .",
            "git restore .",
            "git reset --hard",
            "git stash",
            "git stash show -p",
            "git stash list -p",
            "git stash list -p HEAD",
            "git stash list --patch",
            "git stash list HEAD",
            "git stash list -- a",
            "git stash list $x",
            "git stash pop",
            "git cat-file -p HEAD:a",
            "git grep x HEAD",
            "git blame a",
            "git archive HEAD",
            "git bundle create x --all",
            "git format-patch -1",
            "git worktree add ../x",
            "git clone . ../x",
            "git checkout-index -a",
            "git read-tree HEAD",
            "git merge x",
            "git pull",
            "git -c alias.x='log -p' x",
            "git x",
            "git config --blob=abc -l",
            "git for-each-ref --format='%(raw)'",
            "git $x",
            "git-show HEAD",
            "/usr/lib/git-core/git-cat-file -p HEAD",
            "sh -c 'git show'",
            "echo HEAD | xargs git show",
            "find . -exec git show {} +",
        ] {
            assert!(tells(line), "{line}");
        }
    }
}
