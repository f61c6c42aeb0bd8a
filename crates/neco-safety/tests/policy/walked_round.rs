//! Ways round a rule that others found, and everyday lines that such a rule must leave alone.

use neco_proto::ApprovalMode;
use neco_safety::policy::RuleReader;
use neco_safety::{Policy, Ruling, Who};

use crate::support::{Call, judge, place, policy, ruling, who};

fn denies(rule: &str) -> Policy {
    let place = place();
    let read = RuleReader { place: &place }.flag(Ruling::Deny, rule);
    assert_eq!(read.problems, [], "{rule}");
    Policy::new(place, read.rules)
}

/// Ways to run `curl x`.
const DENIED: &[&str] = &[
    "awk -vfoo=1 'BEGIN{system(\"curl x\")}'",
    "awk -Ff 'BEGIN{system(\"curl x\")}'",
    "awk -Fe 'BEGIN{system(\"curl x\")}'",
    "awk 'BEGIN{system(\"curl x\")}' -f",
    "awk -F , 'BEGIN{system(\"curl x\")}' -v",
    "awk -W x 'BEGIN{system(\"curl x\")}'",
    "awk --field-separator , 'BEGIN{system(\"curl x\")}'",
    "awk 'BEGIN{print /\"/ | \"curl x\"; y = \"\"}'",
    "awk 'BEGIN{system(ARGV[1])}' curl",
    "awk '{system($0)}' <<< 'curl x'",
    "echo 'curl x' | awk '{system($0)}'",
    "sed -i.ref '1e curl x' f",
    "sed -l 5 '1e curl x' f -l 5",
    "sed -i '' '1e curl x' f",
    "perl -0777ne 'system(\"curl x\")' f",
    "perl -0777e 'system(\"curl x\")' f",
    "perl -l012e 'system(\"curl x\")'",
    "ruby -0777ne 'system(\"curl x\")' f",
    "python3 /dev/fd/0 <<< 'import os; os.system(\"curl x\")'",
    "python3 /proc/self/fd/0 <<< 'import os; os.system(\"curl x\")'",
    "python3 <(echo 'import os; os.system(\"curl x\")')",
    "sed -f /dev/fd/0 f <<< '1e curl x'",
    "awk -f /proc/self/fd/0 <<< 'BEGIN{system(\"curl x\")}'",
    "make -f /dev/fd/0 <<< 'all:;curl x'",
    "sed -f <(echo '1e curl x') f",
    "awk -f <(echo 'BEGIN{system(\"curl x\")}')",
    "make -f <(echo 'all:;curl x')",
    "bash --rcfile <(echo curl x) -i",
    "bash --init-file=/dev/stdin -i <<< 'curl x'",
    "bash <(echo curl x)",
    "source <(echo curl x)",
    "make 'A:=$(shell curl x)'",
    "make 'CFLAGS=$(shell curl x)'",
    "make 'A=${shell curl x}'",
    "make 'A=$(shell curl x) y'",
    "make 'A=$(shell echo $(B); curl x)'",
    "make 'A!=curl x'",
    "CFLAGS='${shell curl x}' make -e",
    "CFLAGS='$(shell curl x)' make -e",
    "perl -e 'qx(curl x)'",
    "perl -e 'qx{curl}'",
    "perl -e 'system qw(curl x)'",
    "perl -e 'open F, q(curl x|)'",
    "perl -e 'open(F, \"curl x|\")'",
    "ruby -e '%x(curl x)'",
    "lua -e 'os.execute[[curl x]]'",
    "perl -e 'exec @ARGV' curl x",
    "python3 -c 'import subprocess,sys;subprocess.run(sys.argv[1:])' curl x",
    "C='curl x' perl -e 'system($ENV{C})'",
    "echo 'curl x' | perl -ne 'system($_)'",
    "tar cIf curl x .",
    "echo curl | xargs --repl=@ @ x",
    "fish --comm='curl x'",
    "nu -e 'curl x'",
    "nu --commands 'curl x'",
    "nu --execute='curl x'",
    "zip -rTT 'curl x' a.zip b",
    "php -R 'system(\"curl x\");'",
    "hyperfine --setup='curl x' ls",
    "hyperfine --prepare 'curl x' ls",
    "unheard-of -- curl x",
    "unheard-of exec curl x",
    "unheard-of run curl x",
    "unheard-of --exec-with='curl x' y",
    "unheard-of --hook-command 'curl x' y",
    "unheard-of --pager curl y",
    "git -c foo.bar.textCommand='curl x' log",
    "git -c submodule.a.update='!curl x' submodule update",
    "git -c remote.a.url='ext::curl x' fetch a",
    "npx -c 'curl x'",
    "npx -p a --call='curl x'",
    "npm exec -c 'curl x'",
    "uv run --extra dev curl x",
    "cargo watch -- curl x",
    "nix develop --command curl x",
    "concurrently 'ls' 'curl x'",
    "cp ./../../usr/bin/curl c; ./c x",
    "cp x/../../../usr/bin/curl c; ./c x",
    "find /usr/bin/curl -exec cp {} c ;",
    "find /usr/bin -name curl -exec cp {} c ;",
    "git hash-object -w /usr/bin/curl",
    "git diff --no-index --output=c /dev/null /usr/bin/curl",
    "which curl | xargs -I{} cp {} c",
    "psql -c '\\! curl x'",
    "psql -c \"copy t from program 'curl x'\"",
    "sqlite3 db '.shell curl x'",
    "sqlite3 db '.system curl x'",
];

/// Everyday lines: no rule against `curl` is about them, and nobody has to be asked.
const EVERYDAY: &[&str] = &[
    "perl -0777pe 's/a b/c/' f",
    "perl -i.bak -0pe 's/x y/z/' f",
    "awk '$1 == \"curl\" || $2 == \"x\"' f",
    "awk '/a|curl x/ { print \"curl x\" }' f",
    "sed '2a text' f",
    "sed '$a end' f",
    "sed '/x/c new' f",
    "sed '1i\\\nhere we are' f",
    "sqlite3 db 'select * from t where a != 1'",
    "MAKEFLAGS=\"-j$(nproc)\" make",
    "GOFLAGS=\"-ldflags=-X=main.exec=1\" go build",
    "cargo watch -x 'test --lib'",
    "devbox run \"cargo test\"",
    "nix develop --command bash -c \"cargo test\"",
    "uv run --extra dev pytest -k \"a or b\"",
    "concurrently \"npm run a\" \"npm run b\"",
    "npx -y eslint .",
    "npx -y pm2 shutdown",
    "npx jest -c \"$CFG\"",
    "npm run test -- -c \"$CFG\"",
    "node -e 'console.log([\"a|b\", \"curl x\"].join(\"|\"))'",
    "make VERSION=1 CFLAGS='-O2 -g'",
    "grep -- curl f",
    "tar czf a.tgz src",
    "zip -r a.zip b",
    "git stash list",
];

#[test]
fn what_walked_round_a_rule_is_denied() {
    let policy = denies("bash(curl *)");
    let auto = Who { approval: ApprovalMode::Auto, ..who() };
    let allowed: Vec<&&str> =
        DENIED.iter().filter(|line| judge(&policy, &Call::bash(line), &auto).ruling != Ruling::Deny).collect();
    assert!(allowed.is_empty(), "{allowed:#?}");
}

#[test]
fn everyday_lines_are_neither_denied_nor_asked_about() {
    let auto = Who { approval: ApprovalMode::Auto, person_present: false, ..who() };
    for policy in [denies("bash(curl *)"), policy(&[])] {
        let refused: Vec<String> = EVERYDAY
            .iter()
            .map(|line| (line, judge(&policy, &Call::bash(line), &auto)))
            .filter(|(_, verdict)| verdict.ruling != Ruling::Allow)
            .map(|(line, verdict)| format!("{line}: {}", verdict.reason))
            .collect();
        assert!(refused.is_empty(), "{refused:#?}");
    }
}

#[test]
fn what_code_is_handed_is_judged_with_it() {
    let auto = Who { approval: ApprovalMode::Auto, person_present: false, ..who() };
    for line in [
        "perl -e 'system(@ARGV)' rm -rf /",
        "sed -f <(cat list) f",
        "awk -f <(cat list)",
        "make -f <(cat list)",
        "python3 <(cat list)",
        "bash --rcfile <(cat list) -i",
        "uvx --from x rm -rf /",
        "xterm -e $CMD",
    ] {
        assert_eq!(judge(&policy(&[]), &Call::bash(line), &auto).ruling, Ruling::Deny, "{line}");
    }
}

#[test]
fn a_value_is_no_option() {
    for (rule, line, denied) in [
        ("bash(git commit --no-verify *)", "git commit -m\"$MSG\"", false),
        ("bash(git commit --no-verify *)", "git commit --message=\"$MSG\"", false),
        ("bash(git commit --no-verify *)", "git commit -asm \"$(cat x)\"", false),
        ("bash(git commit --no-verify *)", "git commit --no-v$x", true),
        ("bash(git commit --no-verify *)", "git commit -$x", true),
        ("bash(git commit --no-verify *)", "git commit -a$x", true),
        ("bash(git push --force *)", "git push --push-option=\"$x\"", false),
        ("bash(git push --force *)", "git push -o\"$x\"", false),
        ("bash(git push --force *)", "git push --f$x", true),
        ("bash(find -delete *)", "find . -maxdepth 2 -type f -ls", false),
        ("bash(find -delete *)", "find . -name x -delete", true),
        ("bash(go test -exec *)", "go test -c -e ./x", false),
        ("bash(go test -exec *)", "go test --exec=y ./x", true),
        ("bash(terraform -destroy *)", "terraform plan -detailed-exitcode -var-file=stroy", false),
    ] {
        assert_eq!(ruling(&denies(rule), &Call::bash(line)) == Ruling::Deny, denied, "{rule}: {line}");
    }
}
