//! Rules for commands that begin with certain words: what they cover, and which one a line suggests.

use neco_safety::command::examine;

use crate::table::place;

fn covered(line: &str, rules: &[&str]) -> bool {
    let rules: Vec<Vec<String>> = rules.iter().map(|rule| rule.split(' ').map(str::to_owned).collect()).collect();
    examine(line, &place()).covered_by_any(&rules)
}

#[test]
fn arguments_pipes_and_harmless_prefixes_do_not_defeat_a_rule() {
    for line in [
        "cargo test",
        "cargo test --workspace -- --nocapture",
        "cargo test 2>&1 | tail -20",
        "cargo test > /dev/null",
        "RUST_LOG=debug RUST_BACKTRACE=1 cargo test",
        "timeout 60 cargo test",
        "time cargo test -p a",
        "env CI=1 cargo test",
        "cd /home/me/app && cargo test",
        "cd . && cargo test",
        "bash -c 'cargo test'",
        "cargo test && git status",
        "cargo test || echo failed",
        "if cargo test; then echo ok; fi",
        "cargo test 'a b'",
        "cargo test; cargo test --doc",
        "echo $(date); cargo test",
        "cargo test \\\n --all",
    ] {
        assert!(covered(line, &["cargo test"]), "{line}");
        assert!(!covered(line, &["cargo build"]), "{line}");
        assert!(!covered(line, &[]), "{line}");
    }
    assert!(covered("git commit -m \"$(cat <<'EOF'\ndon't (stop)\nEOF\n)\"", &["git commit"]));
    assert!(covered("npm run build && npm test", &["npm run build", "npm test"]));
    assert!(covered("uv run pytest -x", &["uv run pytest"]));
    assert!(covered("git commit -am \"$message\"", &["git commit"]));
    assert!(covered("make -j8 -k test", &["make"]));
    assert!(covered("npm install @types/node", &["npm install"]));
    assert!(covered("go test -race -run=X ./...", &["go test"]));
    assert!(covered("ls | wc -l", &[]), "what is safe needs no rule");
}

#[test]
fn what_changes_files_is_told_from_what_only_looks() {
    let changes = |line: &str| examine(line, &place()).changes_files();
    for line in [
        "sed -i s/a/b/ x.py",
        "git ls-files | xargs sed -i s/a/b/",
        "find . -name '*.py' -exec sed -i s/a/b/ {} +",
        "find . -name '*.pyc' -delete",
        "gawk -i inplace '{print}' x.txt",
        "cp a b",
        "echo 1 >> x.py",
    ] {
        assert!(changes(line), "{line}");
    }
    for line in ["find . -name '*.py' -exec grep -n main {} +", "find . -exec cat {} \\;", "cargo test 2>&1", "ls"] {
        assert!(!changes(line), "{line}");
    }
}

#[test]
fn a_rule_never_covers_what_else_is_on_the_line() {
    for line in [
        "git log; cargo build",
        "git log && rm x",
        "git log | sh",
        "git log | tee x",
        "git log > x",
        "git log >> x",
        "git log &> x",
        "git log --output=x",
        "git log --ext-diff",
        "git log \"$(touch x)\"",
        "git log $(touch x)",
        "git log `touch x`",
        "git log <(touch x)",
        "git -c core.pager=x log",
        "git -C /tmp log",
        "GIT_PAGER='touch x' git log",
        "PAGER=./x git log",
        "GIT_DIR=/tmp/x git log",
        "PATH=/tmp/x git log",
        "LD_PRELOAD=./x git log",
        "FOO=bar git log",
        "export PATH=/tmp/x; git log",
        "git() { touch x; }; git log",
        "alias git=x; git log",
        "cd /tmp/x && git log",
        "cd \"$X\" && git log",
        "sudo git log",
        "git log $X",
        "git log /etc/passwd",
        "git log .env",
        "git log\ntouch x",
        "git log & touch x",
        "git log <<< $(touch x)",
        "git logs",
        "git  lo''gs",
        "./git log",
        "/tmp/git log",
        "git lоg",
        "$GIT log",
        "git log (",
        "eval git log",
        "xargs git log",
        "",
        "x=1",
    ] {
        assert!(!covered(line, &["git log"]), "{line}");
    }
    for (line, rule) in [
        ("cargo test --config 'target.x.runner=\"y\"'", "cargo test"),
        ("go test -exec ./x", "go test"),
        ("make SHELL=./x", "make"),
        ("make -f /tmp/x", "make"),
        ("cargo test --manifest-path /tmp/x/Cargo.toml", "cargo test"),
        ("npm run build --script-shell ./x", "npm run build"),
        ("git push --force", "git push"),
        ("git push", "git"),
        ("rm -rf src", "rm"),
        ("rm -rf /", "rm"),
        ("find . -exec touch {} +", "find"),
        ("rg --pre ./x a", "rg"),
        ("cargo test *", "cargo test"),
        ("uv run python -c 1", "uv run python"),
        ("make test -E '$(shell id)'", "make test"),
        ("make test --eva x", "make test"),
        ("make test --eval=x", "make test"),
        ("make test -fevil.mk", "make test"),
        ("make test -Cevil", "make test"),
        ("make test -j8f evil.mk", "make test"),
        ("make test SHELL=./x", "make test"),
        ("make test SHELL:=./x", "make test"),
        ("npm test --script-sh=./evil", "npm test"),
        ("npm test --script-shell=./evil", "npm test"),
        ("npm test --pref=evil", "npm test"),
        ("npm test -C evil", "npm test"),
        ("npm test -- --config evil.js", "npm test"),
        ("gcc -wrapper ./x a.c", "gcc"),
        ("gcc -fplugin=./x.so a.c", "gcc"),
        ("gcc @options a.c", "gcc"),
        ("gcc a.c -o b", "gcc"),
        ("rustc -C linker=./x a.rs", "rustc"),
        ("rustc -Clinker=./x a.rs", "rustc"),
        ("eslint --parser ./x a.js", "eslint"),
        ("eslint -c ./x a.js", "eslint"),
        ("eslint --format ./x a.js", "eslint"),
        ("go vet -vettool=./x", "go vet"),
        ("go test --exec ./x", "go test"),
        ("pytest -p evil", "pytest"),
        ("pytest -c evil.ini", "pytest"),
        ("./run.sh --anything", "./run.sh"),
        ("git clone -u ./x a", "git clone"),
        ("cd evil && make test", "make test"),
        ("cd evil; make test", "make test"),
        ("(cd evil && make test)", "make test"),
        ("pushd evil && make test", "make test"),
        ("git commit -m $(cat f)", "git commit"),
        ("git commit -m $x", "git commit"),
        ("git commit -m a$x", "git commit"),
        ("git commit -m \"$@\"", "git commit"),
        ("gcc -m \"$x\"", "gcc"),
        ("cargo test $((x))", "cargo test"),
        ("echo $((x)); cargo test", "cargo test"),
        ("[[ $x -eq 1 ]] && cargo test", "cargo test"),
        ("echo ${!x}; cargo test", "cargo test"),
        ("export \"PATH=/w/evil\"; cargo test", "cargo test"),
        ("export $x; cargo test", "cargo test"),
        ("read -r PATH < x; cargo test", "cargo test"),
        ("for PATH in evil; do cargo test; done", "cargo test"),
        (": ${PATH:=evil}; cargo test", "cargo test"),
        ("printf -v PATH evil; cargo test", "cargo test"),
        ("env --s='touch x' cargo test", "cargo test"),
        ("timeout $x cargo test", "cargo test"),
        ("env A=$x cargo test", "cargo test"),
        ("time --output=x cargo test", "cargo test"),
        ("cargo test {PATH}</dev/null", "cargo test"),
    ] {
        assert_eq!(covered(line, &[rule]), line == "git push", "{line}");
    }
}

#[test]
fn a_rule_of_options_covers_just_those() {
    assert!(covered("cargo --config x test", &["cargo --config x"]));
    assert!(!covered("cargo --config y test", &["cargo --config x"]));
    assert!(!covered("cargo --config x test --config y", &["cargo --config x"]));
}

#[test]
fn the_rule_a_line_suggests_says_what_is_done() {
    for (line, expected) in [
        ("cargo test --workspace", "cargo test"),
        ("cargo", "cargo"),
        ("npm run build -- --watch", "npm run build -- --watch"),
        ("npm run build", "npm run build"),
        ("gcc -fplugin=a.so b.c", "gcc -fplugin=a.so b.c"),
        ("gcc -Wall b.c", "gcc"),
        ("npm test", "npm test"),
        ("git commit -m x", "git commit"),
        ("RUST_LOG=x cargo test 2>&1 | tail -5", "cargo test"),
        ("timeout 5 cargo test", "cargo test"),
        ("make", "make"),
        ("make test", "make test"),
        ("mkdir -p a/b", "mkdir"),
        ("pytest tests/a.py -x", "pytest"),
        ("python3 -m pytest -q", "python3 -m pytest"),
        ("./run.sh a.txt", "./run.sh"),
        ("./run.sh fast", "./run.sh fast"),
        ("./run.sh --fast", "./run.sh --fast"),
        ("uniq in OUT", "uniq in OUT"),
        ("xxd in OUT", "xxd in OUT"),
        ("/usr/bin/make all", "make all"),
        ("docker compose up -d", "docker compose up"),
        ("uv run pytest", "uv run pytest"),
        ("cargo fmt && cargo fmt --check", "cargo fmt"),
        ("bash -c 'cargo test'", "cargo test"),
    ] {
        let examined = examine(line, &place());
        let [rule] = examined.rules().try_into().unwrap_or_else(|_| panic!("{line}: {examined:?}"));
        assert_eq!(rule.join(" "), expected, "{line}");
        assert!(examined.covered_by_any(&[rule]), "{line}");
    }
    let both = examine("cargo build && npm test", &place()).rules();
    assert_eq!(both.iter().map(|rule| rule.join(" ")).collect::<Vec<_>>(), ["cargo build", "npm test"]);
}

#[test]
fn some_lines_suggest_no_rule() {
    for line in [
        "python3 x.py",
        "node x.js",
        "bash x.sh",
        "sudo cargo test",
        "rm x",
        "rm -rf src",
        "git reset --hard",
        "git -c a.b=c log",
        "cargo build > x",
        "FOO=1 cargo build",
        "curl https://example.com",
        "xargs cargo test",
        "eval cargo test",
        "$x test",
        "cargo test (",
        "cargo test && node x.js",
        "ls",
        "",
    ] {
        assert!(examine(line, &place()).rules().len() != 1, "{line}");
    }
}

#[test]
fn rules_that_forbid_see_every_part() {
    let mentions = |line: &str, prefix: &[&str]| {
        let prefix: Vec<String> = prefix.iter().map(|word| (*word).to_owned()).collect();
        examine(line, &place()).mentions(&prefix)
    };
    for line in [
        "npm publish",
        "ls && npm publish",
        "sh -c 'npm publish'",
        "echo $(npm publish)",
        "env npm publish --x",
        "$x publish",
        "npm publish (",
    ] {
        assert!(mentions(line, &["npm", "publish"]), "{line}");
    }
    assert!(!mentions("npm test", &["npm", "publish"]));
    assert!(!mentions("echo npm publish", &["npm", "publish"]));
}

#[test]
fn parts_tell_whether_they_stand_alone() {
    let plain = |line: &str| examine(line, &place()).parts.iter().any(|part| part.plain);
    for line in ["ls -la", "cargo test 'a b'"] {
        assert!(plain(line), "{line}");
    }
    for line in ["ls | cat", "ls; ls", "A=b ls", "ls > x", "ls $(x)", "sh -c ls && x", "ls <<< x", "! ls", "(ls)"] {
        assert!(!plain(line), "{line}: {:?}", examine(line, &place()).parts);
    }
}
