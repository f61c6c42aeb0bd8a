//! Properties: nothing panics, and no wrapping makes a dangerous command look harmless.

use neco_proto::Risk;
use neco_safety::command::examine;
use proptest::prelude::*;
use proptest::sample::select;

use crate::property::{DENIED, check};
use crate::table::{lines, place};

/// Ways to put a line into another one that runs it.
type Wrapping = fn(&str) -> String;

const WRAPPINGS: [Wrapping; 44] = [
    |line| format!("{line}; ls"),
    |line| format!("ls; {line}"),
    |line| format!("ls && {line}"),
    |line| format!("ls || {line}"),
    |line| format!("ls | {line}"),
    |line| format!("ls & {line}"),
    |line| format!("ls\n{line}\nls"),
    |line| format!("({line})"),
    |line| format!("{{ {line}\n}}"),
    |line| format!("! {line}"),
    |line| format!("if true; then {line}\nfi"),
    |line| format!("while true; do {line}\ndone"),
    |line| format!("until {line}\ndo ls; done"),
    |line| format!("for x in a b; do {line}\ndone"),
    |line| format!("case a in a) {line}\n;; esac"),
    |line| format!("f() {{ {line}\n}}; f"),
    |line| format!("echo $({line}\n)"),
    |line| format!("echo \"$({line}\n)\""),
    |line| format!("echo a${{x:-$({line}\n)}}"),
    |line| format!("cat <({line}\n)"),
    |line| format!("x=$({line}\n)"),
    |line| format!("x=$({line}\n) ls"),
    |line| format!("ls > $({line}\n)"),
    |line| format!("[ \"$({line}\n)\" ]"),
    |line| format!("ls <<< \"$({line}\n)\""),
    |line| format!("sh -c {}", quoted(line)),
    |line| format!("bash -lc {}", quoted(line)),
    |line| format!("/bin/sh -c {}", double_quoted(line)),
    |line| format!("zsh -c {}", quoted(line)),
    |line| format!("env A=b sh -c {}", quoted(line)),
    |line| format!("eval {}", quoted(line)),
    |line| format!("timeout 5 sh -c {}", quoted(line)),
    |line| format!("sudo -n sh -c {}", quoted(line)),
    |line| format!("xargs sh -c {}", quoted(line)),
    |line| format!("find . -exec sh -c {} \\;", quoted(line)),
    |line| format!("nohup nice -n 3 sh -c {}", quoted(line)),
    |line| format!("trap {} EXIT", quoted(line)),
    |line| format!("alias a={}", quoted(line)),
    |line| format!("git -c core.pager={} log", quoted(line)),
    |line| format!("git submodule foreach {}", quoted(line)),
    |line| format!("su -c {}", quoted(line)),
    |line| format!("echo {} | sh", quoted(line)),
    |line| format!("bash <<'END_OF_IT'\n{line}\nEND_OF_IT"),
    |line| format!("GIT_SSH_COMMAND={} git fetch", quoted(line)),
];

/// Ways to write the name of a program so that it does not look like it.
const SPELLINGS: [Wrapping; 8] = [
    |name| format!("\\{name}"),
    |name| format!("'{name}'"),
    |name| format!("\"{name}\""),
    |name| name.chars().map(|letter| format!("{letter}''")).collect(),
    |name| name.chars().map(|letter| format!("\\{letter}")).collect(),
    |name| format!("$'{}'", name.bytes().map(|byte| format!("\\x{byte:02x}")).collect::<String>()),
    |name| format!("$'{}'", name.bytes().map(|byte| format!("\\{byte:03o}")).collect::<String>()),
    |name| format!("/usr/bin/{name}"),
];

fn quoted(line: &str) -> String {
    format!("'{}'", line.replace('\'', "'\\''"))
}

fn double_quoted(line: &str) -> String {
    let mut text = line.to_owned();
    for special in ["\\", "\"", "$", "`"] {
        text = text.replace(special, &format!("\\{special}"));
    }
    format!("\"{text}\"")
}

fn rated(rating: &str) -> Vec<String> {
    lines().filter(|(found, _)| *found == rating).map(|(_, command)| command).collect()
}

proptest! {
    #[test]
    fn nothing_panics_and_nothing_beside_a_denied_command_is_safe(line in "\\PC{0,60}", denied in select(&DENIED[..])) {
        check(&line, denied);
    }

    #[test]
    fn shell_like_text_neither(line in "[a-z $(){}|&;<>'\"`#\\\\\n=*~/.\\[\\]!-]{0,40}", denied in select(&DENIED[..])) {
        check(&line, denied);
    }

    #[test]
    fn lines_of_the_table_mixed_neither(
        first in select(lines().map(|(_, line)| line).collect::<Vec<_>>()),
        second in select(lines().map(|(_, line)| line).collect::<Vec<_>>()),
        cut in 0usize..40,
        denied in select(&DENIED[..]),
    ) {
        let start: String = first.chars().take(cut).collect();
        let end: String = second.chars().skip(cut / 2).collect();
        check(&format!("{start}{end}"), denied);
    }

    #[test]
    fn mutations_of_the_table_neither(
        line in select(lines().map(|(_, line)| line).collect::<Vec<_>>()),
        changes in prop::collection::vec((0usize..60, "[a-z $(){}|&;<>'\"`#\\\\\n=*~/.-]{0,2}", prop::bool::ANY), 1..4),
        denied in select(&DENIED[..]),
    ) {
        let mut letters: Vec<char> = line.chars().collect();
        for (place, text, replace) in changes {
            let place = place.min(letters.len());
            let end = if replace { (place + 1).min(letters.len()) } else { place };
            letters.splice(place..end, text.chars());
        }
        check(&letters.into_iter().collect::<String>(), denied);
    }

    #[test]
    fn a_denied_line_stays_critical_however_it_is_wrapped(
        line in select(rated("never")),
        wrappings in prop::collection::vec(select(&WRAPPINGS[..]), 0..4),
    ) {
        let wrapped = wrappings.iter().fold(line.clone(), |line, wrap| wrap(&line));
        // Two brackets that meet are arithmetic to every shell, which runs nothing of what is in them.
        prop_assume!(line.contains("$((") || !wrapped.contains("$(("));
        let examined = examine(&wrapped, &place());
        prop_assert!(examined.risk == Risk::Critical, "{wrapped:?}: {examined:?}");
    }

    #[test]
    fn nothing_but_the_safe_becomes_safe_by_wrapping(
        line in select([rated("high"), rated("critical")].concat()),
        wrappings in prop::collection::vec(select(&WRAPPINGS[..]), 0..4),
    ) {
        // A bracket too many ends what the line is put into: then only a part of it is run.
        prop_assume!(line.matches(')').count() <= line.matches('(').count());
        // What is not safe for what it is told here may be harmless where another folder or input is given.
        let wrapped = wrappings.iter().fold(line, |line, wrap| wrap(&line));
        let examined = examine(&wrapped, &place());
        prop_assert!(examined.risk >= Risk::High, "{wrapped:?}: {examined:?}");
    }

    #[test]
    fn a_denied_program_is_known_in_any_spelling(
        line in select(&DENIED[..]),
        spell in select(&SPELLINGS[..]),
        wrappings in prop::collection::vec(select(&WRAPPINGS[..]), 0..3),
    ) {
        let (program, rest) = line.split_once(' ').unwrap();
        let spelled = format!("{} {rest}", spell(program));
        prop_assert!(examine(&spelled, &place()).never.is_some() || program == "cat", "{spelled:?}");
        let wrapped = wrappings.iter().fold(spelled, |line, wrap| wrap(&line));
        let examined = examine(&wrapped, &place());
        prop_assert!(examined.risk == Risk::Critical, "{wrapped:?}: {examined:?}");
    }
}

#[test]
fn every_denied_line_stays_denied_in_plain_compositions() {
    for line in rated("never") {
        for wrap in &WRAPPINGS[..29] {
            let wrapped = wrap(&line);
            let examined = examine(&wrapped, &place());
            assert!(examined.risk == Risk::Critical, "{wrapped:?}: {examined:?}");
        }
    }
}

#[test]
fn huge_and_deep_lines_are_answered() {
    let deep = |open: &str, inside: &str, close: &str| format!("{}{inside}{}", open.repeat(2_000), close.repeat(2_000));
    let lines = [
        "a ".repeat(500_000),
        "a ".repeat(30_000),
        "ls;".repeat(2_000),
        "ls | ".repeat(3_000) + "ls",
        "ls && ".repeat(2_500) + "ls",
        deep("(", "ls", ")"),
        deep("{ ", "ls;", " };"),
        deep("$(", "ls", ")"),
        deep("\"$(", "ls", ")\""),
        deep("${x:-", "a", "}"),
        deep("$((", "1", "))"),
        deep("if ", "ls", "; then ls; fi"),
        "`".repeat(60_000),
        "'".repeat(60_001),
        "<<a ".repeat(2_500),
        "{a,b}".repeat(3_000),
        "f() { ".repeat(2_500),
        "sh -c '".repeat(2_000),
        "env ".repeat(4_000) + "rm -rf /",
        "sudo ".repeat(2_500) + "rm -rf /",
        format!("cat {}", "*".repeat(60_000)),
        format!("cd {}", "a && cd ".repeat(2_000)),
        format!("eval {}", "eval ".repeat(2_500)),
        "watch ".repeat(2_000),
        "cat $x.key ".repeat(2_000),
    ];
    for line in lines {
        let start: String = line.chars().take(20).collect();
        let before = std::time::Instant::now();
        let examined = examine(&line, &place());
        let took = before.elapsed();
        println!("{start:?} ({} bytes) took {took:?}: {} clean {}", line.len(), examined.risk, examined.clean);
        assert!(took.as_secs() < 10, "{start:?} took {took:?}");
    }
}

#[test]
fn what_one_shell_takes_for_arithmetic_another_runs() {
    for line in ["((! rm -rf /proc/self/root))", "sh -c '((! rm -rf /home/someone))'", "((rm -rf /proc/self/root))"] {
        let examined = examine(line, &place());
        assert_eq!(examined.risk, Risk::Critical, "{line}: {examined:?}");
    }
}
