//! Options and words by which programs that are for something else are told to run a command.

use super::Case;
use super::wrapper::{every_suffix, is_package_manager};
use crate::command::environment;
use crate::command::examined::Word;
use crate::command::finding::{Command, Finding, Inner, Input};
use crate::command::{option, reaching};

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
    (&["npm", "npx", "pnpx"], "-c --call"),
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
];

/// Programs that run what follows one of these words.
const SUBCOMMANDS: &[(&str, &str)] = &[
    ("asdf", "exec"),
    ("aws-vault", "exec"),
    ("bun", "x"),
    ("bundle", "exec"),
    ("chamber", "exec"),
    ("cmake", "env time"),
    ("conda", "run"),
    ("devbox", "run"),
    ("doppler", "run"),
    ("fnm", "exec"),
    ("guix", "shell environment"),
    ("hatch", "run"),
    ("ip", "exec"),
    ("mamba", "run"),
    ("meson", "devenv"),
    ("mise", "exec x"),
    ("nix", "run shell develop"),
    ("npm", "exec x explore"),
    ("nvm", "exec run"),
    ("op", "run"),
    ("pdm", "run"),
    ("pipenv", "run"),
    ("pixi", "run"),
    ("pnpm", "exec dlx"),
    ("poetry", "run"),
    ("pyenv", "exec"),
    ("rbenv", "exec"),
    ("rustup", "run"),
    ("rye", "run"),
    ("toolbox", "run"),
    ("uv", "run"),
    ("volta", "run"),
    ("yarn", "exec dlx"),
    ("zellij", "run"),
];

pub(super) fn look(case: &Case<'_>, finding: &mut Finding) {
    for (_, options) in OPTIONS.iter().filter(|(programs, _)| programs.contains(&case.name)) {
        let values = options.split_whitespace().flat_map(|option| reaching::values(option, case.arguments));
        values.collect::<Vec<Word>>().iter().for_each(|command| told(command, finding));
    }
    if let Some((_, words)) = SUBCOMMANDS.iter().find(|(program, _)| *program == case.name) {
        behind_subcommand(words, case, finding);
    }
    match case.name {
        "less" | "more" | "most" | "zless" => pager(case, finding),
        "make" | "gmake" | "bmake" => make(case, finding),
        "gcc" | "g++" | "cc" | "c++" | "clang" | "clang++" => {
            for command in reaching::values("-wrapper", case.arguments) {
                told(&Word::of(command.text.replace(',', " "), command.exact), finding);
            }
        }
        "apt" | "apt-get" | "aptitude" | "sshfs" | "hg" => settings(case, finding),
        "gh" | "glab" if option::has_word(case.arguments, &["alias"]) => guesses(case.arguments, finding),
        "cargo" if option::has_word(case.arguments, &["watch"]) => {
            option::values(case.arguments, Some('s'), "--shell").iter().for_each(|command| told(command, finding));
            every_suffix(case.arguments, finding);
        }
        "jobs" if option::has(case.arguments, 'x', "") => every_suffix(case.arguments, finding),
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

/// What follows a subcommand that runs something: behind options, nobody knows where the other program begins. Whoever
/// allows the one that runs it allows what it starts. Where nothing stands before the subcommand of a package manager,
/// that is judged as a runner.
fn behind_subcommand(subcommands: &str, case: &Case<'_>, finding: &mut Finding) {
    let is_option = |word: Option<&Word>| word.is_some_and(|word| word.text.starts_with('-'));
    let before = |at: usize| at.checked_sub(1).and_then(|at| case.arguments.get(at));
    let is_own = |at: usize| case.name == "ip" || is_option(case.arguments.get(at)) || is_option(before(at));
    let is_one = |word: &Word| subcommands.split_whitespace().any(|own| own == word.text);
    let found = case.arguments.iter().enumerate().find(|(at, word)| is_one(word) && (0..*at).all(is_own));
    let Some((at, subcommand)) = found else { return };
    // Some take a version or a place before the program.
    let takes_name = subcommand.text == "explore"
        || matches!(case.name, "rustup" | "mise" | "ip" | "aws-vault" | "chamber" | "nvm" | "fnm");
    if at == 0 && !takes_name && is_package_manager(case.name) {
        return;
    }
    let rest = case.arguments.get(at + 1..).unwrap_or_default();
    let most = match rest.first() {
        Some(word) if word.text.starts_with('-') || word.text.contains('=') => 16,
        Some(_) if takes_name => 3,
        Some(_) => 1,
        None => 0,
    };
    for start in 0..rest.len().min(most) {
        let words = rest.get(start..).unwrap_or_default();
        if words.first().is_some_and(|word| !word.text.starts_with('-') && !word.text.contains('=')) {
            finding.inner.push(Inner::Command(Command { vouched: true, ..Command::of(words) }));
        }
    }
    guesses(rest, finding);
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

/// Recipes on the line or fed to it, and variables that are programs.
fn make(case: &Case<'_>, finding: &mut Finding) {
    let files =
        [option::values(case.arguments, Some('f'), "--file"), option::values(case.arguments, None, "--makefile")];
    let is_fed =
        files.iter().flatten().any(|file| matches!(file.text.as_str(), "-" | "/dev/stdin" | "/proc/self/fd/0"));
    if is_fed {
        finding.critical("it runs what it is fed");
        recipes(&fed(case), finding);
    }
    for text in option::values(case.arguments, Some('E'), "--eval") {
        finding.critical("an option makes it run a command");
        recipes(&text.text, finding);
    }
    for word in option::operands(case.arguments) {
        let Some((name, value)) = word.text.split_once('=') else { continue };
        if environment::is_command(name.trim_end_matches([':', '+', '?', '!'])) {
            finding.inner.push(Inner::Guess(value.to_owned()));
        }
    }
}

/// What is fed to a command, as far as the line says it.
fn fed(case: &Case<'_>) -> String {
    match &case.command.input {
        Input::Text(text) => text.text.clone(),
        Input::Pipe(said) => said.clone().unwrap_or_default(),
        Input::Inherited | Input::File => String::new(),
    }
}

/// The commands of a makefile: lines that begin with a tab, what follows `;`, and what `$(shell …)` holds.
fn recipes(makefile: &str, finding: &mut Finding) {
    for line in makefile.lines().take(256) {
        let recipe = line.strip_prefix('\t').or_else(|| line.split_once(';').map(|(_, recipe)| recipe));
        let called = line.split_once("$(shell ").map(|(_, call)| call.trim_end_matches(')'));
        for command in recipe.into_iter().chain(called) {
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
