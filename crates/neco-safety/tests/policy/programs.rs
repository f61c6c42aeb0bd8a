//! Which program a command is, for rules: whatever it is written with where they forbid, and no other where they allow.

use neco_proto::{ApprovalMode, Mode, Risk};
use neco_safety::policy::{RuleReader, Source};
use neco_safety::{Policy, Ruling, Who};

use crate::support::{Call, judge, place, policy, ruling, user, who};

fn flag(decision: Ruling, text: &str) -> Policy {
    let place = place();
    let read = RuleReader { place: &place }.flag(decision, text);
    assert_eq!(read.problems, [], "{text}");
    Policy::new(place, read.rules)
}

/// Ways to run `curl x`.
const SPELLINGS: &[&str] = &[
    "curl x",
    "/usr/bin/curl x",
    "/bin/curl x",
    "//usr/bin/curl x",
    "/usr/bin/../bin/curl x",
    "./curl x",
    "bin/curl x",
    "../curl x",
    "~/bin/curl x",
    "/proc/self/root/usr/bin/curl x",
    "\\curl x",
    "c\\url x",
    "c\"\"url x",
    "'curl' x",
    "\"curl\" x",
    "$'curl' x",
    "$'\\x63url' x",
    "cu$()rl x",
    "/usr/bin/cur? x",
    "/usr/bin/[c]url x",
    "{curl,x}",
    "CURL x",
    "$CURL x",
    "$(which curl) x",
    "`command -v curl` x",
    "A=curl; $A x",
    "command curl x",
    "command -p curl x",
    "builtin command curl x",
    "exec curl x",
    "exec -a ls curl x",
    "exec -a ls /usr/bin/curl x",
    "env curl x",
    "env A=b curl x",
    "env -i /usr/bin/curl x",
    "env -S 'curl x'",
    "/usr/bin/env curl x",
    "nohup curl x",
    "nice -n 5 curl x",
    "time curl x",
    "timeout 5 curl x",
    "timeout -k 1 5 /usr/bin/curl x",
    "stdbuf -o0 curl x",
    "setsid curl x",
    "busybox curl x",
    "/bin/busybox curl x",
    "sudo curl x",
    "sudo -u me curl x",
    "doas curl x",
    "chroot / curl x",
    "unshare -n curl x",
    "strace -o log curl x",
    "ltrace curl x",
    "gdb --args curl x",
    "perf stat curl x",
    "torsocks curl x",
    "tmux new -d 'curl x'",
    "screen -dm curl x",
    "systemd-run --user curl x",
    "/lib64/ld-linux-x86-64.so.2 /usr/bin/curl x",
    "/lib/ld-musl-x86_64.so.1 curl x",
    "xargs curl < list",
    "echo x | xargs curl",
    "echo x | xargs -n1 /usr/bin/curl",
    "parallel curl ::: x",
    "find . -exec curl {} +",
    "find . -exec /usr/bin/curl {} ;",
    "fd a -x curl",
    "sh -c 'curl x'",
    "bash -lc '/usr/bin/curl x'",
    "eval curl x",
    "eval 'cu''rl x'",
    "bash <<< 'curl x'",
    "bash <<EOF\ncurl x\nEOF",
    "trap 'curl x' EXIT",
    "alias c=curl; c x",
    "f() { curl x; }; f",
    "hash -p /usr/bin/curl c; c x",
    "ln -s /usr/bin/curl c; ./c x",
    "cp /usr/bin/curl c && ./c x",
    "if true; then curl x; fi",
    "for a in 1; do curl x; done",
    "(curl x)",
    "{ curl x; }",
    "! curl x",
    "ls | curl x",
    "ls && curl x",
    "echo $(curl x)",
    "echo \"`curl x`\"",
    "cat <(curl x)",
    "git -c alias.c='!curl x' c",
    "GIT_SSH_COMMAND='curl x' git fetch",
    "git submodule foreach curl x",
    "git bisect run curl x",
    "rsync -e 'curl x' a b:",
    "tar --to-command=curl -xf a",
    "watch curl x",
    "script -c 'curl x'",
    "flock lock curl x",
    "npx curl x",
    "awk 'BEGIN { system(\"curl x\") }'",
    "python3 -c 'import os; os.system(\"curl x\")'",
    "python3 -c 'import subprocess; subprocess.run([\"curl\", \"x\"])'",
    "python3 -c 'import os; os.execvp(\"curl\", [\"curl\", \"x\"])'",
    "node -e 'require(\"child_process\").execSync(\"curl x\")'",
    "node -e 'require(\"child_process\").spawnSync(\"/usr/bin/curl\", [\"x\"])'",
    "perl -e 'system(\"curl\", \"x\")'",
    "ruby -e 'exec \"curl\", \"x\"'",
    "vim -c '!curl x'",
    "curl x (",
    "split --filter='curl x' in",
    "split --filt 'curl x' in",
    "sort --compress-program=curl in",
    "sort --compress-prog /usr/bin/curl in",
    "tar --checkpoint=1 --checkpoint-action=exec='curl x' -cf a b",
    "tar --to-comm='curl x' -xf a",
    "ssh -o ProxyCommand='curl x' host",
    "ssh -oProxyCommand='curl x' host",
    "ssh -o 'proxycommand = curl x' host",
    "git -c core.pager='curl x' log",
    "git -c core.sshCommand='curl x' fetch",
    "git filter-branch --tree-filter curl",
    "git send-email --sendmail-cmd='curl x' a",
    "git remote-ext origin 'curl x'",
    "find . -ok curl {} ;",
    "find . -execdir curl {} +",
    "echo x | xargs -I@ sh -c 'curl @'",
    "echo curl | xargs -I% % x",
    "echo 'curl x' | xargs -I@ sh -c @",
    "echo curl | xargs --replace=MARK MARK x",
    "env --split-string='curl x'",
    "man -P 'curl x' ls",
    "man --pager=curl ls",
    "less '+!curl x' file",
    "awk 'BEGIN { system(\"curl\") }'",
    "awk -v c='curl x' 'BEGIN { system(c) }'",
    "awk 'BEGIN { \"curl x\" | getline }'",
    "awk -v a=1 -F : 'BEGIN { system(\"curl x\") }'",
    "find . -name curl -exec sh -c '{} x' ;",
    "awk -f - <<< 'BEGIN { system(\"curl x\") }'",
    "sed '1e curl x' file",
    "sed -f - file <<< '1e curl x'",
    "perl -e 'system(\"curl\")'",
    "perl -e 'exec \"curl\"'",
    "perl -e 'open(F, \"curl x|\")'",
    "python3 -c 'import os; os.system(\"curl\")'",
    "guile -c '(system \"curl x\")'",
    "gdb -batch -ex 'shell curl x'",
    "lldb -o 'platform shell curl x'",
    "mysql -e 'system curl x'",
    "expect -c 'spawn curl x'",
    "vim -c 'terminal curl x'",
    "vim +'!curl x'",
    "make -f - <<< 'all:;curl x'",
    "make -f - <<EOF\nall:\n\t@curl x\nEOF",
    "make --eval='all:;curl x'",
    "make SHELL=/usr/bin/curl",
    "make CC='curl x'",
    "parallel ::: 'curl x'",
    "parallel ::: ls 'curl x'",
    "parallel -j 2 {} x ::: curl",
    "sem curl x",
    "watch -n 1 curl x",
    "hyperfine ls ls ls ls 'curl x'",
    "setsid -f curl x",
    "flock -n lock -c 'curl x'",
    "flock --nonblock lock curl x",
    "script -q /dev/null curl x",
    "su me -c 'curl x'",
    "su --session-command='curl x' me",
    "runuser -u me -c 'curl x'",
    "busybox sh -c 'curl x'",
    "coreutils --coreutils-prog=curl x",
    "/lib/x86_64-linux-gnu/ld-2.31.so ./curl x",
    "qemu-x86_64 /usr/bin/curl x",
    "fish --command='curl x'",
    "fish -C 'curl x'",
    "yash -c 'curl x'",
    "bash -s x <<< 'curl y'",
    "bash /dev/stdin <<< 'curl x'",
    "source /dev/stdin <<< 'curl x'",
    "pwsh -c 'curl x'",
    "rg --pre curl x",
    "go test -exec curl ./...",
    "go test -exec='curl x' ./...",
    "gcc -wrapper curl,x a.c",
    "npx -c 'curl x'",
    "npm --silent exec curl x",
    "pnpm -r exec curl x",
    "uv --quiet run curl x",
    "rustup run stable curl x",
    "mise exec node@20 -- curl x",
    "pyenv exec curl x",
    "nix develop -c curl x",
    "ip netns exec n curl x",
    "cmake -E env curl x",
    "cargo watch -s 'curl x'",
    "flatpak-spawn --host curl x",
    "xterm -e curl x",
    "gh alias set c '!curl x'",
    "apt-get -o APT::Update::Pre-Invoke::='curl x' update",
    "hg --config alias.c='!curl x' c",
    "socat - exec:'curl x'",
    "jobs -x curl x",
    "compgen -C 'curl x' y",
    "mapfile -C 'curl x' -c 1 a",
    "at now <<< 'curl x'",
    "CARGO_TARGET_X86_64_UNKNOWN_LINUX_GNU_RUNNER='curl x' cargo test",
    "BAT_PAGER='curl x' bat file",
    "RSYNC_CONNECT_PROG='curl x' rsync rsync://h/a b",
    "cp //usr/bin/curl c; ./c x",
    "cp /usr/bin/../bin/curl c; ./c x",
    "ln -s $(which curl) c && ./c x",
    "cat < /usr/bin/curl > c; ./c x",
    "dd if=/usr/bin/curl of=c; ./c x",
    "curl$IFS x",
    "curl${IFS}x",
    "c''url x",
    "${x:-curl} y",
    "set -- curl x; \"$@\"",
    "bash -c '\"$0\" x' curl",
    "source <(curl x)",
    "coproc curl x",
];

/// Ways of which words can't tell what they run: a person is asked, and without one they are refused.
const UNDECIDABLE: &[&str] = &[
    "sed 's/a/b/e' file",
    "source <(cat list)",
    "cat list | sh",
    "cat list | parallel",
    "cat list | make -f -",
    "cat list | sed -f - file",
    "git --config-env=core.pager=X log",
    "MAKEFLAGS='--eval=$(X)' make",
    "GOFLAGS=-toolexec=./x go build",
    "BASH_ENV=x bash -c ls",
    "PERL5OPT=-Mx perl a.pl",
    "enable -f ./x.so x",
];

#[test]
fn what_words_can_not_tell_is_asked_about_and_refused_without_a_person() {
    let denies = flag(Ruling::Deny, "bash(curl *)");
    for line in UNDECIDABLE {
        let present = Who { approval: ApprovalMode::Auto, ..who() };
        assert_ne!(judge(&denies, &Call::bash(line), &present).ruling, Ruling::Allow, "{line}");
        let alone = Who { person_present: false, ..present };
        assert_eq!(judge(&denies, &Call::bash(line), &alone).ruling, Ruling::Deny, "{line}");
    }
}

#[test]
fn a_program_is_denied_however_it_is_written() {
    for rule in ["bash(curl *)", "Bash(curl:*)", "run_shell_command(curl *)", "bash(/usr/bin/curl *)", "bash(./curl *)"]
    {
        let (denies, asks) = (flag(Ruling::Deny, rule), flag(Ruling::Ask, rule));
        for line in SPELLINGS {
            let verdict = judge(&denies, &Call::bash(line), &who());
            assert_eq!((verdict.ruling, verdict.rule.source), (Ruling::Deny, Source::CommandLine), "{rule}: {line}");
            let auto = Who { approval: ApprovalMode::Auto, ..who() };
            assert_ne!(judge(&asks, &Call::bash(line), &auto).ruling, Ruling::Allow, "{rule}: {line}");
        }
        for line in ["ls", "echo curl", "grep curl x", "make curl", "curls x", "ls -l /usr/bin/curl", "cat curl"] {
            assert_ne!(ruling(&denies, &Call::bash(line)), Ruling::Deny, "{rule}: {line}");
        }
    }
    let others = [
        "tool = 'bash'\ncommand = 'curl'",
        "tool = 'bash'\ncommand_regex = '^curl\\b'",
        "toolName = 'run_shell_command'\ncommandPrefix = 'curl'",
        "toolName = 'run_shell_command'\ncommandRegex = 'curl( |$)'",
    ];
    for rule in others {
        let policy = user(&format!("[[rule]]\n{rule}\ndecision = 'deny'\n"));
        for line in ["curl x", "/usr/bin/curl x", "./curl x", "env /usr/bin/curl x", "sh -c '/usr/bin/curl x'"] {
            assert_eq!(ruling(&policy, &Call::bash(line)), Ruling::Deny, "{rule}: {line}");
        }
    }
}

#[test]
fn what_is_done_is_denied_behind_options_and_in_any_order() {
    for (rule, line, denied) in [
        ("bash(git push *)", "git -C . push", true),
        ("bash(git push *)", "git --no-pager -c color.ui=never push origin", true),
        ("bash(git push *)", "/usr/bin/git push", true),
        ("bash(git push *)", "git log --grep push", false),
        ("bash(git push)", "/usr/bin/git push", true),
        ("bash(git push *)", "/usr/lib/git-core/git-push origin", true),
        ("bash(git push *)", "git-push", true),
        ("bash(git-push *)", "git push origin", true),
        ("bash(git commit --no-verify *)", "git commit -m \"$MSG\"", false),
        ("bash(git push --force *)", "git push origin \"$BRANCH\"", false),
        ("bash(git push --force *)", "git push origin $BRANCH", true),
        ("bash(rm -rf *)", "rm build/*.o", false),
        ("bash(rm *)", "sha256sum /usr/bin/rm", false),
        ("{ tool = 'bash', command_regex = '^rm' }", "$x y", true),
        ("{ tool = 'bash', command_regex = '^rm' }", "rm x (", true),
        ("{ tool = 'bash', command_regex = '^rm' }", "ls x", false),
        ("bash(git push --force *)", "git push origin main --force", true),
        ("bash(git push --force *)", "git push origin main", false),
        ("bash(cargo publish *)", "cargo +nightly publish", true),
        ("bash(npm run build *)", "npm --silent run build", true),
        ("bash(rm -rf *)", "rm -f -r x", true),
        ("bash(rm -rf *)", "rm -fr x", true),
        ("bash(rm -rf *)", "rm --recursive --force x", true),
        ("bash(rm -rf *)", "rm -R --for x", true),
        ("bash(git commit --no-verify *)", "git commit --no-verif -m x", true),
        ("bash(git commit --no-verify *)", "git commit --no-veri -m x", true),
        ("bash(git commit --no-verify *)", "git commit -n -m x", true),
        ("bash(git commit --no-verify *)", "git commit -anm x", true),
        ("bash(git commit -n *)", "git commit --no-verify -m x", true),
        ("bash(git commit --no-verify *)", "git commit --no-edit --amend", false),
        ("bash(git push --force *)", "git push -f", true),
        ("bash(git push --force *)", "git push --forc origin", true),
        ("bash(rm -rf *)", "rm x", false),
        ("bash(./deploy.sh *)", "bash deploy.sh", true),
        ("bash(./deploy.sh *)", "sh ./deploy.sh now", true),
        ("bash(deploy.sh *)", ". ./deploy.sh", true),
        ("bash(./deploy.py *)", "python3 deploy.py", true),
        ("bash(./deploy.sh *)", "bash build.sh", false),
    ] {
        assert_eq!(ruling(&flag(Ruling::Deny, rule), &Call::bash(line)) == Ruling::Deny, denied, "{rule}: {line}");
    }
}

#[test]
fn for_a_rule_that_allows_a_path_is_a_path() {
    for rule in ["bash(gizmo *)", "Bash(gizmo:*)", "bash(gizmo x)", "bash(g*mo x)"] {
        let policy = flag(Ruling::Allow, rule);
        for line in ["gizmo x", "/usr/bin/gizmo x", "/usr/local/bin/gizmo x", "\\gizmo x"] {
            assert_eq!(ruling(&policy, &Call::bash(line)), Ruling::Allow, "{rule}: {line}");
        }
        for line in ["./gizmo x", "/tmp/gizmo x", "bin/gizmo x", "~/gizmo x", "../gizmo x", "GIZMO x", "$gizmo x"] {
            assert_eq!(ruling(&policy, &Call::bash(line)), Ruling::Ask, "{rule}: {line}");
        }
    }
    let path = flag(Ruling::Allow, "bash(./gizmo *)");
    assert_eq!(ruling(&path, &Call::bash("./gizmo x")), Ruling::Allow);
    assert_eq!(ruling(&path, &Call::bash("gizmo x")), Ruling::Ask);
}

#[test]
fn what_a_person_allowed_runs() {
    for (rule, line) in [
        ("bash(grep *)", "grep -rn one ."),
        ("bash(grep *)", "grep -R one src"),
        ("bash(grep *)", "grep --recursive one"),
        ("bash(grep *)", "grep -rnI --include='*.rs' one . | head -5"),
        ("bash(grep *)", "/usr/bin/grep -rn one ."),
        ("bash(rg *)", "rg --hidden -uu one"),
        ("bash(ls *)", "ls -laR --hyperlink"),
        ("bash(tail *)", "tail -F log.txt"),
        ("bash(sort *)", "sort -S 1M --parallel=2 in"),
        ("bash(uniq *)", "uniq -c -f 1 in"),
        ("bash(xxd *)", "xxd -l 16 in"),
        ("bash(wc *)", "wc --files0-from=list"),
        ("bash(diff *)", "diff -rN a b"),
        ("bash(find *)", "find . -newermt yesterday"),
        ("bash(pytest *)", "pytest --cov=app -n4"),
        ("bash(./run.sh *)", "./run.sh --fast"),
        ("bash(cargo test *)", "cargo test --target-dir out"),
        ("bash(gcc *)", "gcc -o main main.c"),
        ("bash(docker *)", "docker ps -a"),
        ("bash(python3 *)", "python3 -c 'print(1)'"),
        ("bash(node *)", "node -e 'require(\"child_process\").execSync(\"make test\")'"),
    ] {
        let verdict = judge(&flag(Ruling::Allow, rule), &Call::bash(line), &who());
        assert_eq!(verdict.ruling, Ruling::Allow, "{rule}: {line}: {}", verdict.reason);
    }
}

#[test]
fn a_rule_for_a_command_does_not_cover_what_a_link_on_its_line_leads_to() {
    let because = Some("n.txt leads to /etc/passwd, outside the workspace".to_owned());
    let led = |line: &str| Call { because: because.clone(), ..Call::bash(line).risky(Risk::High) };
    let (none, cat) = (Policy::new(place(), Vec::new()), flag(Ruling::Allow, "bash(cat *)"));
    let asked = judge(&none, &led("cat n.txt"), &who());
    assert_eq!(asked.ruling, Ruling::Ask, "{}", asked.reason);
    assert!(asked.reason.starts_with("n.txt leads to /etc/passwd"), "{}", asked.reason);
    assert_eq!(ruling(&cat, &led("cat n.txt")), Ruling::Ask);
    assert_eq!(ruling(&cat, &Call::bash("cat n.txt")), Ruling::Allow);
    let line = flag(Ruling::Allow, "{ tool = 'bash', line = 'cat n.txt' }");
    assert_eq!(ruling(&line, &led("cat n.txt")), Ruling::Allow);
    let planning = Who { mode: Mode::Plan, ..who() };
    assert_eq!(judge(&none, &led("cat n.txt"), &planning).ruling, Ruling::Deny);
    assert_eq!(judge(&none, &Call::bash("cat n.txt"), &planning).ruling, Ruling::Allow);
}

#[test]
fn what_a_rule_does_not_cover_is_told_with_the_way_to_allow_it() {
    let alone = Who { person_present: false, ..who() };
    for (rule, line, why) in [
        ("bash(grep *)", "grep -rn one /etc", "/etc is outside the workspace"),
        ("bash(grep *)", "grep -rn one ..", ".. is outside the workspace"),
        ("bash(grep *)", "grep one .env", ".env: "),
        ("bash(grep *)", "grep one x > y", "it writes to a file"),
        ("bash(grep *)", "grep one x; make", "it does not allow `make`"),
        ("bash(grep *)", "grep one $x", "only the shell will know what $x is"),
        ("bash(uniq *)", "uniq in OUT", "OUT makes it write"),
        ("bash(xxd *)", "xxd in OUT", "OUT makes it write"),
        ("bash(xxd *)", "xxd -r in OUT", "OUT makes it write"),
        ("bash(sort *)", "sort -o OUT in", "-o makes it write"),
        ("bash(sort *)", "sort --output=OUT in", "--output=OUT makes it write"),
        ("bash(shuf *)", "shuf in -o OUT", "-o makes it write"),
        ("bash(tree *)", "tree -o OUT", "-o makes it write"),
        ("bash(file *)", "file -C -m x", "-C makes it write"),
        ("bash(date *)", "date -s 2030-01-01", "-s makes it run something else, or do more"),
        ("bash(date *)", "date 010100002030", "010100002030 makes it set the clock"),
        ("bash(hostname *)", "hostname x", "x makes it write"),
        ("bash(awk *)", "awk -f x.awk in", "-f makes it run something else"),
        ("bash(gawk *)", "gawk -o x in", "-o makes it write"),
        ("bash(find *)", "find . -fprint x", "an option of it runs or writes something"),
        ("bash(less *)", "less -o x in", "-o makes it write"),
        ("bash(rg *)", "rg --pre ./x one", "--pre makes it run something else"),
        ("bash(sort *)", "sort --compress-program=./x in", "--compress-program=./x makes it run"),
        ("bash(make *)", "make SHELL=./x", "SHELL=./x changes what it runs"),
        ("bash(cargo test *)", "cargo test --config x", "--config makes it run something else"),
        ("bash(git commit *)", "git commit --amend", "--amend makes it run something else, or do more"),
    ] {
        let verdict = judge(&flag(Ruling::Allow, rule), &Call::bash(line), &alone);
        assert_eq!(verdict.ruling, Ruling::Deny, "{rule}: {line}: {}", verdict.reason);
        assert!(verdict.reason.contains(why), "{rule}: {line}: {}", verdict.reason);
        assert!(verdict.reason.contains("--allow '"), "{rule}: {line}: {}", verdict.reason);
    }
}

#[test]
fn what_was_answered_means_less_than_what_was_written() {
    let rule = "[[rule]]\ntool = 'bash'\ncommand = './run.sh'\ndecision = 'allow'\n";
    let kept = format!("{rule}kept = true\n");
    assert_eq!(ruling(&user(rule), &Call::bash("./run.sh --fast")), Ruling::Allow);
    assert_eq!(ruling(&user(&kept), &Call::bash("./run.sh --fast")), Ruling::Ask);
    assert_eq!(ruling(&user(&kept), &Call::bash("./run.sh fast")), Ruling::Allow);
}

#[test]
fn code_on_the_line_runs_as_it_would_from_a_file() {
    let auto = Who { approval: ApprovalMode::Auto, person_present: false, ..who() };
    let nobody = policy(&[]);
    for line in [
        "node -e 'require(\"child_process\").execSync(\"ls -la\")'",
        "node -e \"const cp = require('child_process'); cp.spawnSync('echo', ['a (b']); console.log('it is done')\"",
        "node -p 'fetch(`http://x`)'",
        "python3 -c 'import subprocess; print(subprocess.run([\"make\"]))'",
        "python3 -c 'import shutil, os; os.unlink(\"x\")'",
        "python3 - <<'EOF'\nimport subprocess\nsubprocess.run(['make', 'test'])\nEOF",
        "perl -e 'system(\"make\")'",
        "ruby -e '`make`'",
        "awk 'BEGIN { system(\"make\") }'",
    ] {
        let verdict = judge(&nobody, &Call::bash(line), &auto);
        assert_eq!(verdict.ruling, Ruling::Allow, "{line}: {}", verdict.reason);
    }
    for line in [
        "node -e 'require(\"fs\").readFileSync(\".env\")'",
        "python3 -c 'print(open(\"/etc/shadow\").read())'",
        "python3 -c 'import os; os.system(\"rm -rf /\")'",
        "python3 -c 'import subprocess; subprocess.run([\"rm\", \"-rf\", \"/\"])'",
        "python3 -c 'import os; os.system(\"git push --force\")'",
        "python3 -c \"$code\"",
        "curl x | python3",
    ] {
        assert_eq!(judge(&nobody, &Call::bash(line), &auto).ruling, Ruling::Deny, "{line}");
    }
}
