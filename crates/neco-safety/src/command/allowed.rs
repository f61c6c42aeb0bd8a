//! Options that a rule for the first words of a command covers: those known to change only how much is
//! done and how much is told. No list of forbidden options could hold what a rule promises, so whatever
//! is not named here is not covered.

use crate::listed::{is_listed, row};

/// The options of programs, a row each: letters that stand alone, together or before digits; letters behind which a value
/// follows, in the same word or the next; whole words, options with `=value` by what stands before it, and `--` where
/// what follows it is judged alike.
const TABLE: &str =
    "cargo qv pjFDWA -- --workspace --all --release --lib --bins --bin --examples --example --tests --test --benches \
      --bench --doc --all-targets --all-features --no-default-features --features --package --exclude --jobs \
      --keep-going --no-fail-fast --no-run --no-deps --locked --offline --frozen --quiet --verbose --profile \
      --message-format --nocapture --no-capture --ignored --include-ignored --exact --test-threads --show-output \
      --skip --check --color --dev
    git aAqvnpb0123456789 m -- --all --no-edit --signoff --quiet --verbose --allow-empty --dry-run --update \
      --set-upstream --tags --follow-tags --porcelain --prune --no-rebase --ff-only --no-ff --squash --abort \
      --continue --autostash --include-untracked --keep-index --staged --cached --stat --oneline --graph --name-only \
      --name-status --patch --message --short --detach --track --onto --no-commit --intent-to-add --ours --theirs
    npm sDE - --silent --if-present --ignore-scripts --no-audit --no-fund --save-dev --save-exact --production \
      --legacy-peer-deps --prefer-offline --offline --quiet
    pnpm - - --frozen-lockfile --silent --save-dev --offline --prefer-offline --ignore-scripts
    yarn - - --frozen-lockfile --immutable --silent --dev --exact --offline --ignore-scripts
    bun - - --frozen-lockfile --silent --dev --exact --ignore-scripts
    make,gmake jksnB - --jobs --keep-going --silent --quiet --dry-run --just-print --always-make
    go - - -- -v -race -run -count -short -cover -bench -benchmem -benchtime -timeout -failfast -parallel -p -json \
      -cpu -list -skip -shuffle -u -d -tags -trimpath
    pytest xvqsl kmnr -- --verbose --quiet --exitfirst --last-failed --failed-first --lf --ff --tb --maxfail \
      --durations --co --collect-only --no-header --no-summary --color --capture --stepwise --sw --nf
    unittest vqfb k --verbose --quiet --failfast --buffer
    pip,pip3 qU - --quiet --upgrade --user --no-cache-dir --no-deps
    mkdir pv - -- --parents --verbose
    touch acm - -- --no-create
    eslint - - -- --quiet --max-warnings --fix --fix-dry-run --no-color --color
    prettier cwl - -- --check --write --list-different --no-color
    tsc - - --noEmit --strict --pretty --skipLibCheck
    jest i t --runInBand --bail --verbose --silent --testNamePattern --ci --no-coverage
    vitest - t --run --bail --silent --testNamePattern --no-color
    ruff qv - -- --fix --diff --quiet --verbose --select --ignore --check --no-cache
    black qv - -- --check --diff --quiet --verbose
    isort cq - -- --check --check-only --diff --quiet
    flake8 qv - -- --max-line-length --select --ignore --quiet --statistics --count
    mypy - - -- --strict --ignore-missing-imports --no-error-summary --pretty
    gofmt ldsw -
    rustfmt qv - -- --check --quiet --verbose
    shellcheck - sSe -- --severity --shell --exclude
    gcc,g++,clang - - -Wall -Wextra -Werror -pedantic -O0 -O1 -O2 -O3 -Os -g -c -fsyntax-only
    ninja jkvn - --verbose --quiet
    cmake jv - --parallel --verbose --clean-first
    docker dq - --detach --quiet";

/// Whether options of a program are named here.
pub(super) fn is_known(program: &str) -> bool {
    row::<3>(TABLE, program).is_some()
}

/// Whether a rule for the first words of a program's command covers an option.
pub(super) fn is_allowed(program: &str, option: &str) -> bool {
    let Some([known, valued, words]) = row(TABLE, program) else { return false };
    let name = option.split_once('=').map_or(option, |(name, _)| name);
    if is_listed(name, words) {
        return true;
    }
    let Some(letters) = option.strip_prefix('-').filter(|letters| !letters.starts_with('-')) else { return false };
    let mut rest = letters.chars();
    let mut some = false;
    while let Some(letter) = rest.next() {
        if valued.contains(letter) {
            return true;
        }
        if !known.contains(letter) {
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
