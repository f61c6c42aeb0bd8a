//! Programs that start the program that follows them.

use super::Case;
use crate::command::examined::Word;
use crate::command::finding::{Command, Finding, Inner, Input};
use crate::command::option;
use crate::command::scan::is_name;
use crate::listed::{is_listed, row};

/// How a wrapper's own words end and the other program begins.
#[derive(Default)]
struct Wrapper {
    /// How many words of its own follow the options.
    own_words: usize,
    /// Whether it adds nothing to what the other program does.
    transparent: bool,
    /// Letters of options that stand alone.
    flags: &'static str,
    /// Letters of options that take the next word.
    valued: &'static str,
    /// Long options that take a value, with commas between them.
    long_valued: &'static str,
    /// Long options that stand alone. Others, and abbreviations, are not understood.
    long_flags: &'static str,
}

impl Wrapper {
    fn find(name: &str) -> Option<Self> {
        let [own_words, transparent, flags, valued, long_valued, long_flags] = row(WRAPPERS, name)?;
        let (own_words, transparent) = (usize::from(own_words == "1"), transparent == "+");
        Some(Self { own_words, transparent, flags, valued, long_valued, long_flags })
    }
}

/// The wrappers, a row each: how many words of their own follow the options, `+` for those that add nothing, letters that
/// stand alone and that take the next word, long options that take a value and that stand alone.
const WRAPPERS: &str = "env 0 + i0v u --unset --ignore-environment,--null,--debug
    command 0 + p
    builtin,nohup 0 +
    exec 0 - cl a
    coproc,busybox,toybox,rlwrap,dbus-run-session,systemd-inhibit,noglob,nocorrect 0
    time 0 + pvq - - --portability,--verbose,--quiet
    nice 0 + 0123456789- n --adjustment
    ionice 0 + t0123 cnp --class,--classdata
    timeout 1 + v sk --signal,--kill-after --preserve-status,--foreground,--verbose
    gtimeout 1 + v sk
    stdbuf 0 + - ioe --input,--output,--error
    setsid 0 - cfw
    strace 0 - cCdfFhiqrtTvVxyzk abeEIoOpPsSuX
    ltrace 0 - cCfhiLrStTvV aAeDFlnosuwxX
    taskset 1 - ac p
    chrt 1 - abfiomRrv TPD
    unbuffer 0 - p
    caffeinate 0 - disum tw
    chronic 0 - ve
    fakeroot 0 - uv lsib
    valgrind 0 - qv
    xvfb-run 0 - a efnps
    flock 1 - enosuxF wE
    prlimit 0 - - p";

/// Programs that start another with more rights, or in another world, a row each: how many words of their own follow the
/// options, and letters of options that take the next word.
const ELEVATORS: &str = "sudo 0 CDghpRrTtUu
    doas 0 Cu
    pkexec,run0,setpriv,bwrap,firejail 0 -
    runuser 0 uglcsw
    gosu,su-exec,chroot 1 -
    unshare 0 SGRw
    nsenter 0 tSG";

/// Programs whose words end in another program and its words, behind options and words of their own: windows, sessions,
/// tracers, and what sends the traffic of programs elsewhere.
const LAUNCHERS: &str = "aa-exec abduco alacritty apptainer byobu capsh catatonit catchsegv cgexec chpst \
    concurrently coreutils cpulimit cross-env daemonize dbus-launch direnv distrobox-host-exec dotenv dotenvx dtach \
    dumb-init dvtm eatmydata envdir execlineb fakechroot faketime flatpak-spawn foreman gdb gnome-terminal heaptrack \
    host-spawn kcov kitty konsole linux32 linux64 lldb memusage minijail0 nix-shell nocache nodemon nsjail numactl \
    perf proot proxychains proxychains4 rr runcon sandbox-exec schedtool screen setarch setlock setuidgid sg \
    singularity softlimit sotruss ssh-agent start-stop-daemon systemd-nspawn systemd-run tini tmux torify torsocks \
    trickle tsocks uftrace watchexec wine xfce4-terminal xterm";

/// How the names of programs begin that load others.
const LOADERS: &str = "ld- ld.so ld64.so box64 box86 qemu-x86_64 qemu-i386 qemu-aarch64 qemu-arm qemu-riscv64";

pub(super) fn look(case: &Case<'_>, finding: &mut Finding) {
    let loads = LOADERS.split_whitespace().any(|start| case.name.starts_with(start));
    if loads || is_listed(case.name, LAUNCHERS) {
        return launches(case, finding);
    }
    if let Some(wrapper) = Wrapper::find(case.name) {
        return unwrap(&wrapper, case, finding);
    }
    if let Some([own_words, valued]) = row(ELEVATORS, case.name) {
        finding.critical(match case.name {
            "chroot" | "unshare" | "nsenter" | "bwrap" | "firejail" => "it leaves the sandbox or builds another",
            _ => "it runs with the rights of another user",
        });
        let own_words = usize::from(own_words == "1");
        let elevator = Wrapper { own_words, flags: "ABEHKNPSVbeiklnsv", valued, ..Wrapper::default() };
        every_suffix(case.arguments, finding);
        return unwrap(&elevator, case, finding);
    }
    match case.name {
        "su" => switch_user(case, finding),
        "xargs" => xargs(case, finding),
        "parallel" | "sem" => parallel(case, finding),
        "watch" | "hyperfine" | "entr" => watch(case, finding),
        "npx" | "bunx" | "pnpx" | "uvx" => runner(case.arguments, finding),
        name if is_listed(name, PACKAGE_MANAGERS) => package_runner(case, finding),
        "script" => {
            option::values(case.arguments, Some('c'), "--command").iter().for_each(|text| finding.runs(text));
            // Some have the command behind the file that they write.
            let behind: Vec<Word> = option::operands(case.arguments).skip(1).cloned().collect();
            if !option::has(case.arguments, 'c', "--command") {
                finding.starts(&behind);
            }
        }
        _ => {}
    }
}

fn unwrap(wrapper: &Wrapper, case: &Case<'_>, finding: &mut Finding) {
    let arguments = case.arguments;
    if case.name == "command" && option::has_word(arguments, "-v -V") {
        return;
    }
    let scripts = match case.name {
        "env" => option::values(arguments, Some('S'), "--split-string"),
        "flock" => option::values(arguments, Some('c'), "--command"),
        _ => Vec::new(),
    };
    if !scripts.is_empty() {
        finding.uncoverable();
        scripts.iter().for_each(|text| finding.runs(text));
    }
    let (start, mut understood) = own_end(wrapper, arguments);
    let mut rest = arguments.get(start..).unwrap_or_default();
    let mut environment = Vec::new();
    if matches!(case.name, "env" | "sudo" | "doas") {
        while let Some((word, others)) = rest.split_first()
            && let Some((name, value)) = word.text.split_once('=').filter(|(name, _)| is_name(name))
        {
            environment.push((name.to_owned(), Word::of(value.to_owned(), word.exact)));
            understood &= word.exact || !word.splits;
            rest = others;
        }
    }
    // A word of its own that only the shell will know may be several, the program among them.
    understood &= rest.iter().take(wrapper.own_words).all(|word| word.exact);
    let rest = rest.get(wrapper.own_words..).unwrap_or_default();
    if !understood {
        finding.uncoverable();
        every_suffix(arguments, finding);
    }
    if rest.is_empty() {
        return;
    }
    finding.wrapper = wrapper.transparent && understood && scripts.is_empty();
    finding.uncoverable |= !wrapper.transparent;
    let input = case.command.input.clone();
    let captured = case.command.captured;
    finding.inner.push(Inner::Command(Command {
        words: rest.to_vec(),
        environment,
        input,
        captured,
        ..Command::default()
    }));
}

/// Where the wrapper's own options end, and whether all of them are known.
fn own_end(wrapper: &Wrapper, arguments: &[Word]) -> (usize, bool) {
    let mut at = 0;
    let mut understood = true;
    while let Some(word) = arguments.get(at) {
        let text = word.text.as_str();
        if text == "--" {
            return (at + 1, understood);
        }
        if text.starts_with("--") {
            let is_among = |name: &str, options: &str| options.split(',').any(|own| own == name);
            let name = text.split_once('=').map(|(name, _)| name);
            let takes_next = is_among(text, wrapper.long_valued);
            let has_value = name.is_some_and(|name| is_among(name, wrapper.long_valued));
            understood &= takes_next || has_value || is_among(text, wrapper.long_flags);
            at += 1 + usize::from(takes_next);
        } else if let Some(letters) = text.strip_prefix('-').filter(|letters| !letters.is_empty()) {
            let (own, takes_next) = short_options(wrapper, letters);
            understood &= own;
            at += 1 + usize::from(takes_next);
        } else {
            break;
        }
    }
    understood &= arguments.iter().take(at).all(|word| word.exact);
    (at, understood)
}

/// Whether all letters are known, and whether the last one takes the next word.
fn short_options(wrapper: &Wrapper, letters: &str) -> (bool, bool) {
    let mut rest = letters.chars();
    while let Some(letter) = rest.next() {
        if wrapper.valued.contains(letter) {
            return (true, rest.as_str().is_empty());
        }
        if !wrapper.flags.contains(letter) {
            return (false, false);
        }
    }
    (true, false)
}

/// Why nobody can tell what is started.
const UNTOLD: &str = "which program is run can't be told from the line";

/// Where options are not known, anything that follows may be the program. What only the shell will know may be any.
pub(super) fn every_suffix(arguments: &[Word], finding: &mut Finding) {
    for start in 0..arguments.len().min(16) {
        finding.may_start(arguments.get(start..).unwrap_or_default());
    }
    let is_unknown = |word: &Word| !word.exact && !word.text.starts_with('-') && !word.text.contains('=');
    if arguments.iter().take(16).any(is_unknown) {
        finding.critical(UNTOLD);
    }
}

/// Behind options that are not known, the program is at the latest the first word that does not follow one of them.
pub(super) fn behind_options(arguments: &[Word], finding: &mut Finding) {
    let is_option = |word: &Word| word.text.starts_with('-');
    let mut follows = false;
    for (at, word) in arguments.iter().enumerate().take(16) {
        let sets = word.exact && word.text.contains('=');
        if !is_option(word) && !sets {
            finding.may_start(arguments.get(at..).unwrap_or_default());
            if !word.exact {
                finding.critical(UNTOLD);
            }
            if !follows {
                return;
            }
        }
        follows = is_option(word) && !word.text.contains('=') || sets;
    }
}

/// Nobody knows where the words of the other program begin; one that has spaces is a line for a shell.
fn launches(case: &Case<'_>, finding: &mut Finding) {
    finding.uncoverable();
    every_suffix(case.arguments, finding);
    let lines = case.arguments.iter().filter(|word| word.text.contains(' '));
    finding.inner.extend(lines.map(|word| Inner::Guess(word.text.clone())));
}

fn switch_user(case: &Case<'_>, finding: &mut Finding) {
    finding.critical("it runs with the rights of another user");
    for script in option::values(case.arguments, Some('c'), "--command") {
        finding.runs(&script);
    }
}

fn xargs(case: &Case<'_>, finding: &mut Finding) {
    let xargs = Wrapper {
        flags: "0rtpxo",
        valued: "adEILnPsJRS",
        long_valued: "--arg-file,--delimiter,--max-lines,--max-args,--max-procs,--max-chars,--replace",
        ..Wrapper::default()
    };
    let (start, understood) = own_end(&xargs, case.arguments);
    if !understood {
        every_suffix(case.arguments, finding);
    }
    let mut words = case.arguments.get(start..).unwrap_or_default().to_vec();
    if words.is_empty() {
        return;
    }
    // What it reads is added, or put where a mark of the caller's stands, and nobody knows what that is.
    let own = case.arguments.get(..start).unwrap_or_default();
    let attached = own.iter().filter_map(|word| {
        let long = word.text.split_once('=').filter(|(name, _)| name.len() > 2 && "--replace".starts_with(*name));
        let mark = long.map(|(_, mark)| mark).or_else(|| word.text.strip_prefix("-i"))?;
        Some(mark.to_owned()).filter(|mark| !mark.is_empty())
    });
    let apart = ['I', 'J'].map(|letter| option::values(own, Some(letter), "")).concat();
    let marks: Vec<String> = apart.into_iter().map(|mark| mark.text).chain(attached).chain(["{}".to_owned()]).collect();
    words.push(Word::guess("{}"));
    let is_marked = |word: &&mut Word| marks.iter().any(|mark| word.text.contains(mark.as_str()));
    words.iter_mut().filter(is_marked).for_each(|word| word.exact = false);
    make_unknown(&mut words, &marks);
    finding.starts(&words);
    finding.uncoverable();
}

/// Lets a line for a shell that begins with what is put in later be what nobody knows.
pub(super) fn make_unknown(words: &mut [Word], marks: &[String]) {
    let is_option =
        |word: &Word| word.text.starts_with('-') && !word.text.starts_with("--") && word.text.ends_with('c');
    let behind: Vec<bool> = words.iter().map(is_option).collect();
    for (word, _) in words.iter_mut().skip(1).zip(behind).filter(|(_, is_line)| *is_line) {
        let rest = marks.iter().find_map(|mark| word.text.trim_start().strip_prefix(mark.as_str()));
        if let Some(unknown) = rest.map(|rest| format!("$0{rest}")) {
            *word = Word::guess(unknown);
        }
    }
}

fn parallel(case: &Case<'_>, finding: &mut Finding) {
    let rest: Vec<Word> = case.arguments.iter().skip_while(|word| word.text.starts_with('-')).cloned().collect();
    let has_command = rest.first().is_some_and(|word| !word.text.starts_with(":::"));
    let mut words: Vec<Word> = rest.into_iter().filter(|word| !word.text.starts_with(":::")).collect();
    // What stands in braces is put in later: as the program, perhaps behind a number, it may be any.
    let is_number = |word: &Word| word.text.bytes().all(|byte| byte.is_ascii_digit());
    let program = usize::from(words.first().is_some_and(is_number));
    if let Some(word) = words.get_mut(program).filter(|word| word.text.contains('{')) {
        word.exact = false;
    }
    match words.first() {
        Some(first) => finding.runs(&Word::guess(first.text.clone())),
        None => finding.critical("it runs what it is fed"),
    }
    every_suffix(&words, finding);
    if let Input::Pipe(Some(said)) = &case.command.input {
        finding.inner.push(Inner::Guess(said.clone()));
    }
    // Without a command of its own, each of them is one.
    let lines = words.into_iter().skip(1).filter(|word| !has_command || word.text.contains(' '));
    finding.inner.extend(lines.take(16).map(|word| Inner::Guess(word.text)));
    finding.uncoverable();
}

/// Programs that manage packages, and run programs of the project or any other.
pub(super) const PACKAGE_MANAGERS: &str =
    "npm pnpm yarn bun uv poetry pipenv bundle conda mamba mise asdf rustup hatch pdm rye";

/// Package managers that run a program of the project, or any other.
fn package_runner(case: &Case<'_>, finding: &mut Finding) {
    let runs = case.arguments.first().is_some_and(|word| matches!(word.text.as_str(), "run" | "exec" | "x" | "dlx"));
    if runs && !matches!((case.name, case.arguments.first()), ("npm" | "pnpm", Some(word)) if word.text == "run") {
        runner(case.arguments.get(1..).unwrap_or_default(), finding);
    }
}

/// Options of runners that stand alone.
const RUNNER_FLAGS: &str = "-y --yes -q --quiet --silent --bun --no-install --offline --frozen --locked --no-sync \
    --isolated --no-project --";

/// The program may stand behind options of any kind.
fn runner(arguments: &[Word], finding: &mut Finding) {
    let is_flag = |word: &Word| word.exact && is_listed(&word.text, RUNNER_FLAGS);
    let start = arguments.iter().position(|word| !is_flag(word)).unwrap_or(arguments.len());
    let words = arguments.get(start..).unwrap_or_default().to_vec();
    let has_options = words.first().is_some_and(|word| word.text.starts_with('-'));
    if start > 0 || has_options {
        finding.uncoverable();
    }
    if has_options {
        behind_options(&words, finding);
    } else if !words.is_empty() {
        finding.vouches_for(&words);
    }
}

/// These give their words to a shell.
fn watch(case: &Case<'_>, finding: &mut Finding) {
    let script: Vec<&str> = case.arguments.iter().map(|word| word.text.as_str()).collect();
    let exact = case.arguments.iter().all(|word| word.exact);
    let start = script.iter().position(|text| !text.starts_with('-')).unwrap_or(script.len());
    for from in start..script.len().min(start + 3) {
        let text = script.get(from..).unwrap_or_default().join(" ");
        finding.runs(&Word::of(text, exact));
    }
    // Some of them take several lines.
    let lines = case.arguments.iter().skip(start).filter(|word| word.text.contains(' ')).take(16);
    finding.inner.extend(lines.map(|word| Inner::Guess(word.text.clone())));
    finding.uncoverable();
}
