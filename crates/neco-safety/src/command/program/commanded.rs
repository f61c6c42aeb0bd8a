//! Options and words by which programs that are for something else are told to run a command.

use super::Case;
use super::wrapper::{PACKAGE_MANAGERS, behind_options, every_suffix};
use crate::command::examined::Word;
use crate::command::finding::{Finding, Inner, Input};
use crate::command::source::{fed, is_input, is_pipe, printed};
use crate::command::{environment, option, reaching};
use crate::listed::{is_listed, row};

/// Programs and the options whose value is a command or a program.
const OPTIONS: &[(&[&str], &str)] = &[
    (&["split", "gsplit"], "--filter"),
    (&["sort", "gsort"], "--compress-program"),
    (&["man"], "-P --pager"),
    (&["ag", "ack", "bat", "batcat", "delta"], "--pager"),
    (&["rg"], "--pre --hostname-bin"),
    (&["diff3", "sdiff"], "--diff-program"),
    (&["cpio"], "--rsh-command"),
    (&["tcpdump"], "-z"),
    (&["go"], "-exec -toolexec -vettool"),
    (&["npm", "pnpm", "yarn", "bun"], "--script-shell --shell"),
    (&["hg"], "--ssh --remotecmd"),
    (&["svn"], "--diff-cmd --diff3-cmd --editor-cmd"),
    (&["restic", "rclone"], "--password-command"),
    (&["borg"], "--rsh"),
    (&["mosh"], "--ssh --client"),
    (&["fzf"], "--preview"),
    (&["gpg", "gpg2"], "--photo-viewer --agent-program --dirmngr-program --pinentry-program"),
    (&["just"], "-c --command --shell"),
    (&["ctest"], "--test-command"),
    (&["ansible"], "-a --args"),
    (&["bpftrace"], "-c"),
    (&["wget"], "--use-askpass"),
    (&["su", "runuser"], "-C --session-command -s --shell"),
    (&["runuser"], "-c --command"),
    (&["coreutils"], "--coreutils-prog"),
    (&["hyperfine"], "-s --setup -p --prepare -c --cleanup --conclude --reference -S --shell"),
];

/// Programs that run what follows one of these words, a row each.
const SUBCOMMANDS: &str = "asdf,aws-vault,bundle,chamber,fnm,ip,pyenv,rbenv exec
    bun x
    cmake env time
    conda,devbox,doppler,hatch,mamba,op,pdm,pipenv,pixi,poetry,rustup,rye,toolbox,uv,volta,zellij run
    guix shell environment
    meson devenv
    mise exec x
    nix run shell develop
    npm exec x explore
    nvm exec run
    pnpm,yarn exec dlx";

pub(super) fn look(case: &Case<'_>, finding: &mut Finding) {
    for (_, options) in OPTIONS.iter().filter(|(programs, _)| programs.contains(&case.name)) {
        let values = options.split_whitespace().flat_map(|option| reaching::values(option, case.arguments));
        values.collect::<Vec<Word>>().iter().for_each(|command| told(command, finding));
    }
    if let Some([words]) = row(SUBCOMMANDS, case.name) {
        behind_subcommand(words, case, finding);
    }
    match case.name {
        "npm" | "npx" | "pnpx" => called(case, finding),
        "less" | "more" | "most" | "zless" => pager(case, finding),
        "make" | "gmake" | "bmake" => make(case, finding),
        "gcc" | "g++" | "cc" | "c++" | "clang" | "clang++" => {
            for command in reaching::values("-wrapper", case.arguments) {
                told(&Word::of(command.text.replace(',', " "), command.exact), finding);
            }
        }
        "apt" | "apt-get" | "aptitude" | "sshfs" | "hg" => settings(case, finding),
        "gh" | "glab" if option::has_word(case.arguments, "alias") => guesses(case.arguments, finding),
        "cargo" if option::has_word(case.arguments, "watch") => cargo_watch(case, finding),
        "jobs" if option::has(case.arguments, 'x', "") => {
            let words: Vec<Word> =
                case.arguments.iter().skip_while(|word| word.text.starts_with('-')).cloned().collect();
            finding.starts(&words);
        }
        "compgen" | "complete" | "mapfile" | "readarray" => {
            option::values(case.arguments, Some('C'), "").iter().for_each(|command| told(command, finding));
        }
        "at" | "batch" => from_input(case, finding),
        _ => {}
    }
}

/// It runs this, as a shell would: a rule for the program that is told does not allow what it is told.
fn told(command: &Word, finding: &mut Finding) {
    if !command.text.trim().is_empty() {
        finding.runs(command);
    }
}

/// `-c` and `--call` of npm and npx: before the first operand, which has options of its own, and before `--`.
fn called(case: &Case<'_>, finding: &mut Finding) {
    let mut rest = case.arguments.iter();
    while let Some(word) = rest.next() {
        match word.text.as_str() {
            "-c" | "--call" => rest.next().into_iter().for_each(|command| told(command, finding)),
            "-p" | "--package" | "-w" | "--workspace" => drop(rest.next()),
            "exec" | "x" if case.name == "npm" => {}
            "--" => return,
            text if text.starts_with('-') => {
                let value = text.strip_prefix("--call=").or_else(|| text.strip_prefix("-c"));
                value.into_iter().for_each(|command| told(&Word::of(command, word.exact), finding));
            }
            _ => return,
        }
    }
}

/// Lines for a shell, for cargo, and a program behind them.
fn cargo_watch(case: &Case<'_>, finding: &mut Finding) {
    option::values(case.arguments, Some('s'), "--shell").iter().for_each(|command| told(command, finding));
    for command in option::values(case.arguments, Some('x'), "--exec") {
        finding.inner.push(Inner::Guess(format!("cargo {}", command.text)));
    }
    let behind: Vec<Word> = case.arguments.iter().skip_while(|word| word.text != "watch").skip(1).cloned().collect();
    every_suffix(&behind, finding);
}

/// What follows a subcommand that runs something: behind options, nobody knows where the other program begins. Whoever
/// allows the one that runs it allows what it starts. Where nothing stands before the subcommand of a package manager,
/// that is judged as a runner.
fn behind_subcommand(subcommands: &str, case: &Case<'_>, finding: &mut Finding) {
    let is_option = |word: Option<&Word>| word.is_some_and(|word| word.text.starts_with('-'));
    let before = |at: usize| at.checked_sub(1).and_then(|at| case.arguments.get(at));
    let is_own = |at: usize| case.name == "ip" || is_option(case.arguments.get(at)) || is_option(before(at));
    let is_one = |word: &Word| is_listed(&word.text, subcommands);
    let found = case.arguments.iter().enumerate().find(|(at, word)| is_one(word) && (0..*at).all(is_own));
    let Some((at, subcommand)) = found else { return };
    // Some take a version or a place before the program.
    let takes_name = subcommand.text == "explore"
        || matches!(case.name, "rustup" | "mise" | "ip" | "aws-vault" | "chamber" | "nvm" | "fnm");
    if at == 0 && !takes_name && is_listed(case.name, PACKAGE_MANAGERS) {
        return;
    }
    let rest = case.arguments.get(at + 1..).unwrap_or_default();
    let own = usize::from(takes_name) + usize::from(takes_name && rest.get(1).is_some_and(|word| word.text == "--"));
    match rest.first() {
        Some(word) if word.text.starts_with('-') || word.text.contains('=') => behind_options(rest, finding),
        Some(_) => {
            (0..own).for_each(|start| finding.may_start(rest.get(start..).unwrap_or_default()));
            surely_starts(rest.get(own..).unwrap_or_default(), finding);
        }
        None => {}
    }
    if let Some(dashes) = rest.iter().position(|word| word.text == "--") {
        let behind = rest.get(dashes + 1..).unwrap_or_default();
        // Behind a program, those are its own words.
        match is_option(rest.first()) {
            true => surely_starts(behind, finding),
            false => finding.may_start(behind),
        }
    }
    guesses(rest, finding);
}

/// It starts a program of these words; one word with spaces in it is a line for a shell, and judged as that.
fn surely_starts(words: &[Word], finding: &mut Finding) {
    let is_line = |word: &Word| word.exact && word.text.contains(' ');
    if words.first().is_some_and(|word| !is_line(word) && !word.text.starts_with('-')) {
        finding.vouches_for(words);
    }
}

/// Words that hold spaces may be lines for a shell; a mark before them says so.
fn guesses(words: &[Word], finding: &mut Finding) {
    let lines = words.iter().filter(|word| word.text.contains(' ') || word.text.starts_with('!'));
    finding.inner.extend(lines.map(|word| Inner::Guess(word.text.trim_start_matches('!').to_owned())));
}

/// `+!command` is done as if it had been typed.
fn pager(case: &Case<'_>, finding: &mut Finding) {
    for word in case.arguments.iter().filter(|word| word.text.starts_with('+')) {
        // What is looked for is no command.
        let looks = (word.text.starts_with("+/") || word.text.starts_with("+?")) && !word.text.contains('\n');
        if let Some((_, command)) = word.text.split_once('!').filter(|_| !looks) {
            finding.critical("it is told to run a command");
            told(&Word::of(command, word.exact), finding);
        }
    }
}

/// Recipes on the line or fed to it, and variables that are programs or are worked out by one.
fn make(case: &Case<'_>, finding: &mut Finding) {
    let files =
        [option::values(case.arguments, Some('f'), "--file"), option::values(case.arguments, None, "--makefile")];
    for file in files.iter().flatten().filter(|file| is_input(file) || is_pipe(file)) {
        finding.critical("it runs what it is fed");
        let makefile = if is_pipe(file) { printed(file) } else { fed(case.command).to_owned() };
        recipes(&makefile, finding);
    }
    for text in option::values(case.arguments, Some('E'), "--eval") {
        finding.critical("an option makes it run a command");
        recipes(&text.text, finding);
    }
    for word in option::operands(case.arguments) {
        let Some((name, value)) = word.text.split_once('=') else { continue };
        if name.ends_with('!') {
            finding.critical("a variable makes it run a command");
            told(&Word::of(value, word.exact), finding);
        } else if environment::is_command(name.trim_end_matches([':', '+', '?'])) {
            finding.inner.push(Inner::Guess(value.to_owned()));
        }
        if !environment::shell_calls(value).is_empty() {
            finding.critical("a variable makes it run a command");
            recipes(value, finding);
        }
    }
}

/// The commands of a makefile: lines that begin with a tab, what follows `;`, and what `$(shell …)` holds.
fn recipes(makefile: &str, finding: &mut Finding) {
    for line in makefile.lines().take(256) {
        let recipe = line.strip_prefix('\t').or_else(|| line.split_once(';').map(|(_, recipe)| recipe));
        let called = environment::shell_calls(line);
        for command in recipe.into_iter().chain(called.iter().map(String::as_str)) {
            let command = command.trim_start_matches(['@', '-', '+', ' ']);
            finding.inner.push(Inner::Guess(command.to_owned()));
        }
    }
}

/// Settings on the line whose value is a command: `-o APT::Update::Pre-Invoke::=…`, `-o ssh_command=…`,
/// `--config alias.x=!…`.
fn settings(case: &Case<'_>, finding: &mut Finding) {
    let settings =
        [option::values(case.arguments, Some('o'), "--option"), option::values(case.arguments, None, "--config")];
    for setting in settings.iter().flatten() {
        let Some((name, value)) = setting.text.split_once('=') else { continue };
        let name = name.to_ascii_lowercase();
        if name.contains("invoke") || name.contains("command") || value.starts_with('!') {
            finding.critical("an option makes it run a command");
            told(&Word::of(value.trim_start_matches('!'), setting.exact), finding);
        }
    }
}

/// What is put off runs all the same.
fn from_input(case: &Case<'_>, finding: &mut Finding) {
    if let Input::Text(text) = &case.command.input {
        finding.runs(text);
    } else if let Input::Pipe(Some(said)) = &case.command.input {
        finding.runs(&Word::guess(said.clone()));
    }
}
