//! `git`: settings that run commands, subcommands that start others, and those that lose work.

use super::{Case, committed};
use crate::command::examined::{OnHistory, Word};
use crate::command::finding::Finding;
use crate::command::option;
use crate::listed::is_listed;

/// A call of git, taken apart.
pub(crate) struct Invocation<'a> {
    /// The subcommand; empty where there is none or it is not known.
    pub(crate) subcommand: &'a str,
    pub(crate) arguments: &'a [Word],
    /// What stands before it.
    pub(crate) global: &'a [Word],
}

pub(crate) fn invocation(arguments: &[Word]) -> Invocation<'_> {
    let mut at = 0;
    while let Some(word) = arguments.get(at) {
        match word.text.as_str() {
            "-C" | "-c" | "--git-dir" | "--work-tree" | "--namespace" | "--exec-path" | "--config-env"
            | "--super-prefix" | "--attr-source" => at += 2,
            option if option.starts_with('-') => at += 1,
            _ => break,
        }
    }
    let at = at.min(arguments.len());
    let (global, rest) = arguments.split_at(at);
    let subcommand = rest.first().filter(|word| word.exact).map_or("", |word| word.text.as_str());
    Invocation { subcommand, arguments: rest.get(1..).unwrap_or_default(), global }
}

pub(super) fn look(case: &Case<'_>, finding: &mut Finding) {
    if case.name != "git" {
        return;
    }
    finding.committed |= !committed::is_kept(&invocation(case.arguments), case.arguments.len());
    let call = invocation(case.arguments);
    global(&call, case, finding);
    starts(&call, finding);
    if let Some(why) = loses_work(&call) {
        finding.critical(why);
    }
    finding.history = finding.history.or(on_history(&call));
    if call.subcommand.is_empty() && case.arguments.iter().any(|word| !word.exact) {
        finding.critical("what git is to do can't be told");
    }
    if matches!(
        call.subcommand,
        "clone" | "fetch" | "pull" | "push" | "ls-remote" | "send-email" | "lfs" | "svn" | "p4" | "fetch-pack"
    ) || call.subcommand == "remote" && option::has_word(call.arguments, "update show prune")
        || call.subcommand == "submodule" && option::has_word(call.arguments, "update add")
        || call.subcommand == "archive" && option::has_long(call.arguments, "--remote")
    {
        finding.network = true;
    }
}

fn global(call: &Invocation<'_>, case: &Case<'_>, finding: &mut Finding) {
    for setting in option::values(call.global, Some('c'), "--config") {
        configured(&setting, finding);
    }
    for word in call.global {
        let text = word.text.as_str();
        if text.starts_with("--exec-path=")
            || text.starts_with("--config-env")
            || text == "--exec-path" && call.global.len() > 1
        {
            finding.critical("it changes which programs git runs");
        }
        if !word.exact || text.starts_with("--git-dir") || text.starts_with("--work-tree") {
            finding.uncoverable();
        }
    }
    let elsewhere = option::values(call.global, Some('C'), "--git-dir");
    if elsewhere.iter().any(|folder| case.ground.is_outside(folder)) {
        finding.uncoverable();
    }
}

/// A setting given on the line or stored.
fn configured(setting: &Word, finding: &mut Finding) {
    let (key, value) = setting.text.split_once('=').unwrap_or((&setting.text, "true"));
    let key = key.to_ascii_lowercase();
    let is_plain = matches!(value, "cat" | "less" | "true" | "false" | "" | "always" | "never" | "auto");
    if is_harmless_setting(&key) && setting.exact || key.ends_with("pager") && is_plain {
        return;
    }
    finding.uncoverable();
    let (is_script, address) = (value.strip_prefix('!'), setting.text.split_once("ext::").map(|(_, command)| command));
    if runs_command(&key) || !setting.exact || is_script.is_some() || address.is_some() {
        finding.critical(format!("the setting {key} makes git run something"));
        let script = match is_script.or(address) {
            Some(script) => script.to_owned(),
            None if key.starts_with("alias.") => format!("git {value}"),
            None => value.to_owned(),
        };
        finding.runs(&Word::of(script, setting.exact));
    }
}

/// Settings that only change how things are told or kept.
const HARMLESS: &str = "core.quotepath commit.gpgsign tag.gpgsign init.defaultbranch diff.noprefix diff.renames \
    core.abbrev pull.rebase core.autocrlf gc.auto diff.algorithm core.longpaths";

fn is_harmless_setting(key: &str) -> bool {
    ["color.", "user.", "advice.", "column.", "log.", "format.", "i18n."].iter().any(|start| key.starts_with(start))
        || is_listed(key, HARMLESS)
}

fn runs_command(key: &str) -> bool {
    const ENDS: &str = "command cmd hook .textconv .helper .clean .smudge .process .driver program .filter .path \
        pager editor .external askpass hookspath fsmonitor gitproxy proxy .insteadof .pushinsteadof .uploadpack \
        .receivepack .vcs uploadpackfilter .trustexitcode include .allow worktree attributesfile excludesfile \
        templatedir";
    key.starts_with("alias.")
        || key.starts_with("pager.")
        || key.starts_with("include")
        || ENDS.split_whitespace().any(|end| key.ends_with(end))
}

/// Subcommands and options that start other programs or write files.
fn starts(call: &Invocation<'_>, finding: &mut Finding) {
    let arguments = call.arguments;
    let after = |name: &str| {
        arguments.iter().position(|word| word.text == name).map(|index| arguments.get(index + 1..).unwrap_or_default())
    };
    match call.subcommand {
        "submodule" => {
            if let Some(rest) = after("foreach") {
                let rest: Vec<Word> = rest.iter().skip_while(|word| word.text.starts_with('-')).cloned().collect();
                run_joined(&rest, finding);
            }
        }
        "bisect" => {
            if let Some(rest) = after("run") {
                finding.starts(rest);
                finding.uncoverable();
            }
        }
        "rebase" => {
            let scripts = option::values(arguments, Some('x'), "--exec");
            finding.uncoverable |= !scripts.is_empty();
            scripts.iter().for_each(|script| finding.runs(script));
        }
        "filter-branch" => {
            finding.critical("it rewrites history");
            arguments.iter().filter(|word| word.text.contains(' ')).for_each(|script| finding.runs(script));
            let behind = arguments.windows(2).filter_map(|pair| match pair {
                [option, script] if option.text.ends_with("-filter") => Some(script),
                _ => None,
            });
            behind.for_each(|script| finding.runs(script));
        }
        "send-email" => {
            // These are whole, and no abbreviations of what runs something.
            let is_whole = |word: &Word| matches!(word.text.split('=').next(), Some("--to" | "--cc"));
            let given: Vec<Word> = arguments.iter().filter(|word| !is_whole(word)).cloned().collect();
            let options = ["--sendmail-cmd", "--to-cmd", "--cc-cmd", "--header-cmd"];
            let scripts = options.iter().flat_map(|name| option::values(&given, None, name));
            // A server that is a path is a program.
            let servers = option::values(&given, None, "--smtp-server").into_iter();
            for script in scripts.chain(servers.filter(|server| server.text.starts_with('/'))) {
                finding.critical("an option makes it run a command");
                finding.runs(&script);
            }
        }
        "remote-ext" => {
            finding.critical("the address runs a command");
            arguments.iter().skip(1).for_each(|script| finding.runs(script));
        }
        "for-each-repo" => {
            let words = arguments.iter().skip_while(|word| word.text.starts_with('-')).cloned();
            let words: Vec<Word> = [Word::exact("git")].into_iter().chain(words).collect();
            finding.starts(&words);
            finding.uncoverable();
        }
        "difftool" | "mergetool" => {
            let scripts = option::values(arguments, Some('x'), "--extcmd");
            finding.uncoverable();
            scripts.iter().for_each(|script| finding.runs(script));
        }
        "config" => config(arguments, finding),
        "clone" | "init" => {
            for setting in option::values(arguments, Some('c'), "--config") {
                configured(&setting, finding);
            }
            finding.uncoverable |= option::has_long(arguments, "--template");
        }
        "hook" | "daemon" | "instaweb" | "shell" | "http-backend" | "credential" | "credential-store" => {
            finding.critical("it runs other programs or hands out secrets");
        }
        _ => {}
    }
    packs(call, finding);
}

fn packs(call: &Invocation<'_>, finding: &mut Finding) {
    let arguments = call.arguments;
    for name in ["--upload-pack", "--receive-pack", "--exec"] {
        if !matches!(call.subcommand, "rebase") && option::has_long(arguments, name) {
            finding.critical("an option makes it run a command");
            option::values(arguments, None, name).iter().for_each(|command| finding.runs(command));
        }
    }
    if matches!(call.subcommand, "ls-remote" | "clone" | "fetch-pack") {
        for command in option::values(arguments, Some('u'), "--upload-pack") {
            finding.critical("an option makes it run a command");
            finding.runs(&command);
        }
    }
    for word in arguments {
        if let Some((_, command)) = word.text.split_once("ext::") {
            finding.critical("the address runs a command");
            finding.runs(&Word::of(command.to_owned(), word.exact));
        }
    }
    let opens_files = call.subcommand == "grep" && (option::has(arguments, 'O', "--open-files-in-pager"));
    if opens_files || option::has_long(arguments, "--ext-diff") || option::has_long(arguments, "--output") {
        finding.uncoverable();
    }
    if opens_files {
        finding.critical("an option makes it run a command");
        option::values(arguments, Some('O'), "--open-files-in-pager").iter().for_each(|command| finding.runs(command));
    }
}

fn run_joined(words: &[Word], finding: &mut Finding) {
    finding.uncoverable();
    let texts: Vec<&str> = words.iter().map(|word| word.text.as_str()).collect();
    if !texts.is_empty() {
        finding.runs(&Word::of(texts.join(" "), words.iter().all(|word| word.exact)));
    }
}

fn config(arguments: &[Word], finding: &mut Finding) {
    finding.uncoverable();
    if option::has_word(arguments, "--get --get-all --get-regexp --list -l get list --get-urlmatch") {
        return;
    }
    let operands: Vec<&Word> =
        option::operands(arguments).filter(|word| !matches!(word.text.as_str(), "set" | "add" | "unset")).collect();
    if option::has_word(arguments, "--global --system --file -f -e --edit edit") {
        finding.critical("it changes settings of git beyond this repository");
    }
    if let [key, value, ..] = operands.as_slice() {
        let setting = Word::of(format!("{}={}", key.text, value.text), key.exact && value.exact);
        configured(&setting, finding);
    }
    if !operands.first().is_some_and(|key| is_harmless_setting(&key.text.to_ascii_lowercase())) && operands.len() > 1 {
        finding.critical("it changes what git runs in this repository");
    }
}

/// Why work may be lost that was not committed, or that only a reference keeps.
fn loses_work(call: &Invocation<'_>) -> Option<&'static str> {
    let arguments = call.arguments;
    let has = |short: char, long: &str| option::has(arguments, short, long);
    let word = |any: &str| option::has_word(arguments, any);
    let paths_follow =
        || word("-- .") || arguments.iter().any(|word| word.text.starts_with("./") || word.text.contains('*'));
    match call.subcommand {
        "reset" if ["--hard", "--merge", "--keep"].iter().any(|long| option::has_long(arguments, long)) => {
            Some("it throws away changes")
        }
        "clean" if !has('n', "--dry-run") || has('f', "--force") => Some("it deletes files that git does not know"),
        "checkout" if paths_follow() || has('f', "--force") || word("-B -p") || checks_out_paths(arguments) => {
            Some("it throws away changes")
        }
        "switch"
            if has('f', "--force")
                || option::has_long(arguments, "--discard-changes")
                || option::has_long(arguments, "--force-create")
                || word("-C") =>
        {
            Some("it throws away changes")
        }
        "restore"
            if !option::has_long(arguments, "--staged") && !word("-S")
                || option::has_long(arguments, "--worktree")
                || word("-W") =>
        {
            Some("it throws away changes")
        }
        "branch"
            if has('D', "--delete")
                || has('d', "--delete") && has('f', "--force")
                || has('f', "--force")
                || word("-M -C") =>
        {
            Some("it deletes or moves branches")
        }
        "tag" if has('d', "--delete") || has('f', "--force") => Some("it deletes or moves tags"),
        "push" if pushes_over(arguments) => Some("it overwrites or deletes what is on the server"),
        "stash" if word("drop clear pop") && !word("pop") => Some("it throws away stashed changes"),
        "reflog" if word("expire delete") => Some("it forgets where branches were"),
        "gc" if ["--prune", "--aggressive"].iter().any(|long| option::has_long(arguments, long)) => {
            Some("it deletes what nothing points to")
        }
        "prune" => Some("it deletes what nothing points to"),
        "filter-branch" | "filter-repo" | "replace" => Some("it rewrites history"),
        "update-ref" => Some("it moves or deletes references"),
        "symbolic-ref" if has('d', "--delete") => Some("it moves or deletes references"),
        "worktree" if word("remove prune") => Some("it deletes a working folder"),
        "remote" if word("remove rm set-url add rename") => Some("it changes where this repository goes"),
        "rm" if has('r', "--recursive") || has('f', "--force") || arguments.iter().any(|word| !word.exact) => {
            Some("it deletes many files")
        }
        "submodule" if word("deinit") => Some("it deletes the files of submodules"),
        "read-tree" | "checkout-index"
            if has('f', "--force") || word("-u") || option::has_long(arguments, "--reset") =>
        {
            Some("it throws away changes")
        }
        "rebase" | "merge" | "cherry-pick" | "am" | "revert"
            if option::has_long(arguments, "--abort") && call.subcommand == "am" =>
        {
            Some("it throws away changes")
        }
        _ => None,
    }
}

/// Whether it publishes commits, or puts others in the place of some that were made. They can be found again, so this
/// is less than losing work; but it is for a person to say that it is time for it.
fn on_history(call: &Invocation<'_>) -> Option<OnHistory> {
    let arguments = call.arguments;
    let has_long = |long: &str| option::has_long(arguments, long);
    let moves_on = || ["--abort", "--quit", "--show-current-patch", "--edit-todo"].into_iter().any(has_long);
    let publishes = match call.subcommand {
        "push" => !option::has(arguments, 'n', "--dry-run"),
        "send-pack" | "http-push" | "send-email" => true,
        "subtree" => option::has_word(arguments, "push"),
        _ => false,
    };
    let rewrites = match call.subcommand {
        "commit" => has_long("--amend"),
        "rebase" => !moves_on(),
        "pull" => option::has(arguments, 'r', "--rebase"),
        "reset" => option::operands(arguments).any(|word| !word.exact || word.text != "HEAD" && is_older(&word.text)),
        _ => false,
    };
    let publishes = publishes.then_some(OnHistory::Publishes);
    publishes.or(rewrites.then_some(OnHistory::Rewrites))
}

/// Whether a word names a commit that is not the newest: `HEAD~2`, `main^`, `1f2e3d4`.
fn is_older(word: &str) -> bool {
    let is_number = (7..=64).contains(&word.len()) && word.bytes().all(|byte| byte.is_ascii_hexdigit());
    is_number || word.contains(['~', '^']) || word.contains("@{")
}

/// A commit and a path: the path is overwritten. With `-b` the second word is where the branch starts.
fn checks_out_paths(arguments: &[Word]) -> bool {
    let makes_branch = arguments.iter().any(|word| matches!(word.text.as_str(), "-b" | "--orphan" | "-t" | "--track"));
    !makes_branch && option::operands(arguments).count() > 1
}

fn pushes_over(arguments: &[Word]) -> bool {
    option::has(arguments, 'f', "--force")
        || arguments.iter().any(|word| word.text.starts_with("--force"))
        || option::has(arguments, 'd', "--delete")
        || ["--mirror", "--prune"].iter().any(|long| option::has_long(arguments, long))
        || option::operands(arguments).any(|word| word.text.starts_with(['+', ':']))
}
