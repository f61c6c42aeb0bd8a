//! Options that a rule for the first words of a command covers: those known to change only how much is
//! done and how much is told. No list of forbidden options could hold what a rule promises, so whatever
//! is not named here is not covered.

use crate::listed::is_listed;

/// The options of one program.
struct Allowed {
    program: &'static str,
    /// Whole words, options with `=value` by what stands before it; `--` where what follows it is judged alike.
    words: &'static str,
    /// Letters that stand alone, together or before digits.
    letters: &'static str,
    /// Letters behind which a value follows, in the same word or the next.
    valued: &'static str,
}

const fn allowed(program: &'static str, words: &'static str, letters: &'static str, valued: &'static str) -> Allowed {
    Allowed { program, words, letters, valued }
}

const TABLE: [Allowed; 34] = [
    allowed(
        "cargo",
        "-- --workspace --all --release --lib --bins --bin --examples --example --tests --test --benches --bench \
         --doc --all-targets --all-features --no-default-features --features --package --exclude --jobs --keep-going \
         --no-fail-fast --no-run --no-deps --locked --offline --frozen --quiet --verbose --profile --message-format \
         --nocapture --no-capture --ignored --include-ignored --exact --test-threads --show-output --skip --check \
         --color --dev",
        "qv",
        "pjFDWA",
    ),
    allowed(
        "git",
        "-- --all --no-edit --signoff --quiet --verbose --allow-empty --dry-run --update --set-upstream --tags \
         --follow-tags --porcelain --prune --no-rebase --ff-only --no-ff --squash --abort --continue --autostash \
         --include-untracked --keep-index --staged --cached --stat --oneline --graph --name-only --name-status --patch \
         --message --short --detach --track --onto --no-commit --intent-to-add --ours --theirs",
        "aAqvnpb0123456789",
        "m",
    ),
    allowed(
        "npm",
        "--silent --if-present --ignore-scripts --no-audit --no-fund --save-dev --save-exact --production \
         --legacy-peer-deps --prefer-offline --offline --quiet",
        "sDE",
        "",
    ),
    allowed("pnpm", "--frozen-lockfile --silent --save-dev --offline --prefer-offline --ignore-scripts", "", ""),
    allowed("yarn", "--frozen-lockfile --immutable --silent --dev --exact --offline --ignore-scripts", "", ""),
    allowed("bun", "--frozen-lockfile --silent --dev --exact --ignore-scripts", "", ""),
    allowed("make", "--jobs --keep-going --silent --quiet --dry-run --just-print --always-make", "jksnB", ""),
    allowed("gmake", "--jobs --keep-going --silent --quiet --dry-run --just-print --always-make", "jksnB", ""),
    allowed(
        "go",
        "-- -v -race -run -count -short -cover -bench -benchmem -benchtime -timeout -failfast -parallel -p -json -cpu \
         -list -skip -shuffle -u -d -tags -trimpath",
        "",
        "",
    ),
    allowed(
        "pytest",
        "-- --verbose --quiet --exitfirst --last-failed --failed-first --lf --ff --tb --maxfail --durations --co \
         --collect-only --no-header --no-summary --color --capture --stepwise --sw --nf",
        "xvqsl",
        "kmnr",
    ),
    allowed("unittest", "--verbose --quiet --failfast --buffer", "vqfb", "k"),
    allowed("pip", "--quiet --upgrade --user --no-cache-dir --no-deps", "qU", ""),
    allowed("pip3", "--quiet --upgrade --user --no-cache-dir --no-deps", "qU", ""),
    allowed("mkdir", "-- --parents --verbose", "pv", ""),
    allowed("touch", "-- --no-create", "acm", ""),
    allowed("eslint", "-- --quiet --max-warnings --fix --fix-dry-run --no-color --color", "", ""),
    allowed("prettier", "-- --check --write --list-different --no-color", "cwl", ""),
    allowed("tsc", "--noEmit --strict --pretty --skipLibCheck", "", ""),
    allowed("jest", "--runInBand --bail --verbose --silent --testNamePattern --ci --no-coverage", "i", "t"),
    allowed("vitest", "--run --bail --silent --testNamePattern --no-color", "", "t"),
    allowed("ruff", "-- --fix --diff --quiet --verbose --select --ignore --check --no-cache", "qv", ""),
    allowed("black", "-- --check --diff --quiet --verbose", "qv", ""),
    allowed("isort", "-- --check --check-only --diff --quiet", "cq", ""),
    allowed("flake8", "-- --max-line-length --select --ignore --quiet --statistics --count", "qv", ""),
    allowed("mypy", "-- --strict --ignore-missing-imports --no-error-summary --pretty", "", ""),
    allowed("gofmt", "", "ldsw", ""),
    allowed("rustfmt", "-- --check --quiet --verbose", "qv", ""),
    allowed("shellcheck", "-- --severity --shell --exclude", "", "sSe"),
    allowed("gcc", "-Wall -Wextra -Werror -pedantic -O0 -O1 -O2 -O3 -Os -g -c -fsyntax-only", "", ""),
    allowed("g++", "-Wall -Wextra -Werror -pedantic -O0 -O1 -O2 -O3 -Os -g -c -fsyntax-only", "", ""),
    allowed("clang", "-Wall -Wextra -Werror -pedantic -O0 -O1 -O2 -O3 -Os -g -c -fsyntax-only", "", ""),
    allowed("ninja", "--verbose --quiet", "jkvn", ""),
    allowed("cmake", "--parallel --verbose --clean-first", "jv", ""),
    allowed("docker", "--detach --quiet", "dq", ""),
];

/// Whether options of a program are named here.
pub(super) fn is_known(program: &str) -> bool {
    TABLE.iter().any(|allowed| allowed.program == program)
}

/// Whether a rule for the first words of a program's command covers an option.
pub(super) fn is_allowed(program: &str, option: &str) -> bool {
    let Some(allowed) = TABLE.iter().find(|allowed| allowed.program == program) else { return false };
    let name = option.split_once('=').map_or(option, |(name, _)| name);
    if is_listed(name, allowed.words) {
        return true;
    }
    let Some(letters) = option.strip_prefix('-').filter(|letters| !letters.starts_with('-')) else { return false };
    letters_are_allowed(allowed, letters)
}

fn letters_are_allowed(allowed: &Allowed, letters: &str) -> bool {
    let mut rest = letters.chars();
    let mut some = false;
    while let Some(letter) = rest.next() {
        if allowed.valued.contains(letter) {
            return true;
        }
        if !allowed.letters.contains(letter) {
            return some && letter.is_ascii_digit() && rest.all(|letter| letter.is_ascii_digit());
        }
        some = true;
    }
    some
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_is_named_is_allowed() {
        for (program, option) in [
            ("make", "-j8"),
            ("make", "-kj"),
            ("make", "--jobs=4"),
            ("cargo", "--package=a"),
            ("cargo", "-pa"),
            ("git", "-am"),
            ("git", "-mtext"),
            ("go", "-count=1"),
            ("pytest", "-xvs"),
            ("gcc", "-O2"),
        ] {
            assert!(is_allowed(program, option), "{program} {option}");
        }
        for (program, option) in [
            ("make", "-f"),
            ("make", "-fevil.mk"),
            ("make", "-E"),
            ("make", "--eva"),
            ("make", "-jf"),
            ("make", "-j8f"),
            ("make", "-"),
            ("make", "--"),
            ("npm", "--script-sh=./x"),
            ("npm", "-C"),
            ("gcc", "-wrapper"),
            ("gcc", "-fplugin=x"),
            ("gcc", "-cx"),
            ("rustc", "-C"),
            ("eslint", "--parser"),
            ("go", "-vettool"),
            ("go", "-vx"),
            ("git", "-C"),
            ("cargo", "--config"),
            ("./make", "-j8"),
            ("unknown", "-v"),
        ] {
            assert!(!is_allowed(program, option), "{program} {option}");
        }
    }
}
