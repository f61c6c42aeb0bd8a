//! The subcommands of git that only look, with the options that only look.

use super::check::may_be_option;
use crate::command::examined::Word;
use crate::command::option;
use crate::command::program::{Case, invocation};
use crate::listed::{is_listed, row};

/// Options of log, diff, show and their like that choose what is shown and how.
const SHOWING: &str = "oneline graph decorate no-decorate stat shortstat numstat name-only name-status patch no-patch pretty format date \
    abbrev-commit no-abbrev-commit abbrev all branches tags remotes author committer grep since until after before max-count skip follow \
    first-parent merges no-merges reverse cached staged color no-color word-diff word-diff-regex color-words unified ignore-all-space \
    ignore-space-change ignore-blank-lines ignore-space-at-eol minimal patience histogram diff-algorithm summary dirstat compact-summary \
    diff-filter find-renames find-copies no-renames full-index raw exit-code quiet check no-ext-diff text no-textconv relative topo-order \
    date-order left-right cherry-pick cherry-mark boundary not pickaxe-regex pickaxe-all function-context inter-hunk-context \
    no-prefix merge-base simplify-by-decoration no-show-signature notes no-notes source children parents root cc combined-all-paths \
    stdin-none regexp-ignore-case invert-grep extended-regexp fixed-strings perl-regexp grep-reflog walk-reflogs encoding full-history \
    ignore-submodules submodule src-prefix dst-prefix line-prefix no-indent-heuristic indent-heuristic shortstat";

/// A subcommand that only looks.
struct Looking {
    letters: &'static str,
    long: &'static str,
    /// Whether it also takes all options that choose what is shown.
    shows: bool,
    /// The most operands before it does more than look.
    operands: usize,
}

/// The subcommands, a row each: letters of options, then long ones; `-` where there are none. Each table says whether
/// they take the options that choose what is shown, and how many operands.
const TABLES: [(bool, usize, &str); 3] = [
    (
        true,
        usize::MAX,
        "log pnusigcmLSGzwbMCDBEFP0123456789UtW
         diff puUswbMCDBzRSGaW0123456789
         show psnuUswbMCzmc
         whatchanged pnusm
         diff-tree prtzmsvuMC no-commit-id
         diff-index prtzmsuMC
         diff-files pqsuz
         shortlog snecw summary numbered email
         rev-list n count objects all",
    ),
    (
        false,
        usize::MAX,
        "status sbvuz short branch porcelain long verbose untracked-files ignored null column no-column ahead-behind \
           show-stash no-renames find-renames ignore-submodules
         rev-parse q abbrev-ref show-toplevel show-prefix show-cdup git-dir is-inside-work-tree verify short \
           symbolic symbolic-full-name absolute-git-dir is-bare-repository show-superproject-working-tree all \
           branches remotes tags quiet
         ls-files cdmoistuvzkf cached deleted modified others ignored stage unmerged killed exclude-standard exclude \
           full-name error-unmatch directory no-empty-directory abbrev eol deduplicate
         ls-tree drtlz name-only name-status long full-name full-tree abbrev object-only format
         cat-file tspe batch-check
         blame LlstfnewcMCb0123456789 line-porcelain porcelain show-name show-number show-email date root since \
           abbrev color-lines
         annotate Lt
         describe - tags all long always dirty abbrev candidates exact-match match exclude contains first-parent \
           broken
         merge-base a all is-ancestor octopus independent fork-point
         name-rev - name-only tags refs always
         show-ref qsd heads tags branches verify hash head abbrev exists
         show-branch ar all remotes current topics sha1-name
         for-each-ref - count sort format points-at merged no-merged contains no-contains
         grep nilLcwvEFGPhHqeaIzpWABC0123456789 line-number ignore-case files-with-matches files-without-match count \
           word-regexp invert-match extended-regexp fixed-strings basic-regexp perl-regexp heading break \
           show-function cached and or not all-match quiet max-depth column only-matching context after-context \
           before-context color no-color text untracked-none
         cherry v abbrev
         check-ignore vqnz verbose quiet non-matching no-index
         check-attr az all cached",
    ),
    (
        false,
        0,
        "branch avrlqi all list remotes verbose show-current contains merged no-merged no-contains points-at sort \
           format column no-column color no-color ignore-case abbrev no-abbrev
         tag lni list sort contains merged no-merged points-at format column ignore-case
         remote v verbose
         count-objects vH verbose human-readable
         version - build-options
         var -",
    ),
];

fn find(subcommand: &str) -> Option<Looking> {
    TABLES.iter().find_map(|(shows, operands, rows)| {
        let [letters, long] = row(rows, subcommand)?;
        Some(Looking { letters, long, shows: *shows, operands: *operands })
    })
}

pub(super) fn check(case: &Case<'_>) -> bool {
    let call = invocation(case.arguments);
    if !case.ground.is_root() || !case.arguments.iter().all(is_plain) || !global_is_harmless(call.global) {
        return false;
    }
    if matches!(case.arguments, [word] if word.text == "--version") {
        return true;
    }
    // Signatures are checked by a program that the settings name.
    if call.arguments.iter().any(|word| word.text.contains("%G")) {
        return false;
    }
    // Paths may be names of commits just as well; what is sensitive was judged before.
    if call.arguments.iter().any(|word| case.ground.looks_outside(word) || case.ground.sensitive(word).is_some()) {
        return false;
    }
    let first = call.arguments.first().map_or("", |word| word.text.as_str());
    let rest = call.arguments.get(1..).unwrap_or_default();
    match call.subcommand {
        "stash" => first == "list" && shown(rest) || first == "show" && shown(rest),
        "reflog" => {
            call.arguments.is_empty()
                || first == "show" && shown(rest)
                || first.starts_with('-') && shown(call.arguments)
        }
        "worktree" => first == "list" && rest.iter().all(|word| word.text == "--porcelain"),
        "submodule" => first == "status" && rest.is_empty(),
        "remote" if first == "get-url" => rest.len() == 1,
        "config" => {
            matches!(call.arguments, [get, key] if get.text == "--get" && (key.text.starts_with("user.") || key.text.starts_with("remote.origin.")))
        }
        "symbolic-ref" => {
            matches!(option::operands(call.arguments).count(), 1)
                && call.arguments.iter().all(|word| matches!(word.text.as_str(), "--short" | "-q" | "HEAD"))
        }
        name => find(name).is_some_and(|looking| listed(&looking, call.arguments)),
    }
}

fn is_plain(word: &Word) -> bool {
    word.exact || word.pattern && !word.text.starts_with('-') && !may_be_option(word)
}

/// Another folder may hold another repository, whose settings name programs to run: `-C` is not on the list.
fn global_is_harmless(global: &[Word]) -> bool {
    let mut rest = global.iter();
    while let Some(word) = rest.next() {
        match word.text.as_str() {
            "--no-pager" | "-P" | "--no-optional-locks" | "--literal-pathspecs" | "--version" => {}
            "-c" if rest.next().is_some_and(|setting| setting.exact && is_harmless_setting(&setting.text)) => {}
            _ => return false,
        }
    }
    true
}

fn is_harmless_setting(setting: &str) -> bool {
    let setting = setting.to_ascii_lowercase();
    setting == "core.pager=cat"
        || setting == "core.quotepath=false"
        || setting == "core.quotepath=off"
        || setting.starts_with("color.")
}

fn shown(arguments: &[Word]) -> bool {
    listed(&Looking { letters: "pnu0123456789", long: "", shows: true, operands: usize::MAX }, arguments)
}

fn listed(looking: &Looking, arguments: &[Word]) -> bool {
    let mut operands = 0;
    let lists = arguments.iter().any(|word| {
        matches!(word.text.as_str(), "--list" | "-l" | "--contains" | "--merged" | "--no-merged" | "--points-at")
    });
    let ends = arguments.iter().position(|word| word.text == "--").unwrap_or(arguments.len());
    for word in arguments.iter().take(ends) {
        let text = word.text.as_str();
        if let Some(long) = text.strip_prefix("--") {
            let name = long.split_once('=').map_or(long, |(name, _)| name);
            if !(is_listed(name, looking.long) || looking.shows && is_listed(name, SHOWING)) {
                return false;
            }
        } else if let Some(letters) = text.strip_prefix('-').filter(|letters| !letters.is_empty()) {
            let valued = letters.starts_with(['S', 'G', 'L', 'e', 'n', 'U', 'A', 'B', 'C', 'M', 'u']);
            let first_known = letters.chars().next().is_some_and(|letter| looking.letters.contains(letter));
            if !(valued && first_known || letters.chars().all(|letter| looking.letters.contains(letter))) {
                return false;
            }
        } else {
            operands += 1;
        }
    }
    // What stands behind `--` is an operand, whatever it looks like.
    operands += arguments.len().saturating_sub(ends + 1);
    operands <= looking.operands || lists
}
