//! Options and words by which a program does more than it is for: by which it runs something else, or by which one that
//! reads writes a file.
//!
//! A rule that a person wrote for a program means all of its options but these. One that was given as an answer means
//! fewer: see [`allowed`](super::allowed).

use super::examined::Word;
use super::option;
use crate::listed::row;

/// What a program has that reaches further; options have commas between them.
struct Reaching {
    /// Options that run something, load code, or take settings that do.
    runs: &'static str,
    /// Options that name a file which is written, though the program is one that reads.
    writes: &'static str,
    /// Options that name the file which the program is there to make.
    makes: &'static str,
    /// From which operand on they are written to.
    written_from: usize,
    /// Letters of options that take the next word, where operands are counted.
    valued: &'static str,
}

/// The programs, a row each, with the fields in the same order; `hostname` and `date` set what they otherwise tell.
const TABLE: &str = "make,gmake -f,--file,--makefile,-C,--directory,-E,--eval,-I,--include-dir
    npm,pnpm,yarn,bun --script-shell,--shell,--prefix,-C,--dir,--cwd,--node-options,--userconfig,--globalconfig
    cargo --config,--manifest-path,-C,-Z
    go -exec,-toolexec,-vettool,-overlay,-modfile,-C - -o
    pytest -p,-c,-o,--override-ini,--rootdir,--confcutdir,--config-file --junitxml,--junit-xml,--log-file,--basetemp
    gcc,g++,cc,c++,clang,clang++ -wrapper,-fplugin,-specs,-iplugindir,-B - -o
    rustc -C,--codegen,-Z,--sysroot - -o
    eslint -c,--config,--parser,--rulesdir,-f,--format,--plugin,--resolve-plugins-relative-to -o,--output-file
    prettier,stylelint --plugin,--config,--custom-formatter
    jest,vitest -c,--config,--rootDir,--globalSetup,--setupFiles,--testRunner,--runner,--transform,--environment,--reporter --outputFile
    mypy --config-file,--python-executable --junit-xml
    ninja -C,-f
    cmake -P,-C,-E
    git --amend,-c,--config-env,--exec-path,--git-dir,--work-tree,--ext-diff,--textconv,--upload-pack,--receive-pack,--exec,-O,--open-files-in-pager,--template --output
    docker,podman,nerdctl -v,--volume,--mount,--privileged,--device,--cap-add,-H,--host
    pip,pip3,uv -t,--target,--prefix,--root,--src,-i,--index-url,--extra-index-url
    rg --pre,--hostname-bin
    ag,ack,bat,man -P,--pager
    awk,gawk,mawk,nawk -f,--file,-i,--include,-l,--load,-E,--exec -o,--pretty-print,-d,--dump-variables,-p,--profile
    sed,gsed -f,--file
    diff3 --diff-program
    sdiff --diff-program -o,--output
    sort --compress-program -o,--output
    shuf,iconv,xmllint - -o,--output
    tree - -o,-R
    file - -C,--compile
    less - -o,-O,--log-file,--LOG-FILE
    yq - -i,--inplace,--in-place
    base64 - -o,--output
    openssl - -out,-keyout
    tcpdump -z -w
    patch - -o,--output,-r,--reject-file
    pandoc,dot,ld,as - - -o,--output
    hostname -F,--file,-b,--boot - - 0
    date -s,--set
    uniq - - - 1 fsw
    xxd - - - 1 cglnosR
    ptx - - - 1 FgMSTw";

/// Why a rule for the first words of a program's command does not mean one of the words behind them.
pub(super) fn reaches(program: &str, arguments: &[Word], word: &Word) -> Option<String> {
    let text = word.text.as_str();
    let row = find(program)?;
    if any_is(row.runs, text) {
        return Some(format!("{text} makes it run something else, or do more than it is for"));
    }
    if any_is(row.writes, text) || operands(&row, arguments).skip(row.written_from).any(|own| own == word) {
        return Some(format!("{text} makes it write"));
    }
    let sets_clock = program == "date" && !text.starts_with(['-', '+']);
    sets_clock.then(|| format!("{text} makes it set the clock"))
}

/// The files that a program writes to by an option, or as a second operand.
pub(super) fn written(program: &str, arguments: &[Word]) -> Vec<Word> {
    let Some(row) = find(program) else { return Vec::new() };
    let named = options(row.writes).chain(options(row.makes));
    let mut found: Vec<Word> = named.flat_map(|option| values(option, arguments)).collect();
    found.extend(operands(&row, arguments).skip(row.written_from).cloned());
    found
}

fn find(program: &str) -> Option<Reaching> {
    let [runs, writes, makes, from, valued] = row(TABLE, program)?;
    Some(Reaching { runs, writes, makes, written_from: from.parse().unwrap_or(usize::MAX), valued })
}

fn options(list: &str) -> impl Iterator<Item = &str> {
    list.split(',').filter(|option| !option.is_empty())
}

fn any_is(list: &str, text: &str) -> bool {
    text.starts_with('-') && options(list).any(|option| is(option, text))
}

/// Whether a word gives an option: abbreviated, with a value, among other letters.
fn is(option: &str, text: &str) -> bool {
    let bare = |text: &str| text.trim_start_matches('-').split('=').next().unwrap_or_default().to_owned();
    match option.strip_prefix('-').unwrap_or(option) {
        long if long.starts_with('-') => {
            text.starts_with("--") && text.len() > 2 && option.starts_with(&format!("--{}", bare(text)))
        }
        // Those who have words behind one dash take them behind two as well.
        word if word.len() > 1 => bare(text) == word || text.starts_with(&format!("{option}=")),
        letter => !text.starts_with("--") && text.contains(letter),
    }
}

/// The values of an option as it is written here: `-o`, `-out` or `--output`.
pub(super) fn values(option: &str, arguments: &[Word]) -> Vec<Word> {
    match option.strip_prefix('-').unwrap_or(option) {
        long if long.starts_with('-') => option::values(arguments, None, option),
        word if word.len() > 1 => {
            let behind =
                arguments.iter().skip_while(|own| own.text != option && own.text != format!("-{option}")).nth(1);
            let attached = arguments.iter().filter_map(|own| {
                let value = own.text.trim_start_matches('-').strip_prefix(word)?.strip_prefix('=')?;
                own.text.starts_with('-').then(|| Word::of(value, own.exact))
            });
            behind.cloned().into_iter().chain(attached).collect()
        }
        letter => option::values(arguments, letter.chars().next(), ""),
    }
}

/// The words that are neither options nor their values.
fn operands<'a>(row: &Reaching, arguments: &'a [Word]) -> impl Iterator<Item = &'a Word> {
    let mut is_value = false;
    let mut ended = false;
    arguments.iter().filter(move |word| {
        let letters = word.text.strip_prefix('-').filter(|letters| !letters.is_empty() && !ended);
        if std::mem::take(&mut is_value) {
            return false;
        }
        ended |= letters == Some("-");
        is_value = letters.is_some_and(|letters| {
            let last = letters.chars().next_back().is_some_and(|letter| row.valued.contains(letter));
            !letters.starts_with('-') && last
        });
        letters.is_none()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_runs_or_writes_is_known_in_all_spellings() {
        for (line, reached) in [
            ("uniq in OUT", "OUT"),
            ("uniq -c -f 2 in OUT", "OUT"),
            ("uniq -f 2 in", ""),
            ("xxd in OUT", "OUT"),
            ("xxd -r -p in OUT", "OUT"),
            ("xxd -l 16 in", ""),
            ("xxd -- in OUT", "OUT"),
            ("sort -o x in", "-o"),
            ("sort -nox in", "-nox"),
            ("sort --outp=x in", "--outp=x"),
            ("sort --compress-program=./x in", "--compress-program=./x"),
            ("sort -rn in", ""),
            ("tree -o x", "-o"),
            ("date -s now", "-s"),
            ("date 010100002030", "010100002030"),
            ("date +%s", ""),
            ("hostname new", "new"),
            ("file -C -m x", "-C"),
            ("go test -exec ./x", "-exec"),
            ("go test --exec=./x", "--exec=./x"),
            ("go test -v", ""),
            ("gcc -fplugin=x a.c", "-fplugin=x"),
            ("gcc -o b a.c", ""),
            ("npm test --script-sh=./x", "--script-sh=./x"),
            ("cargo test --target-dir x", ""),
            ("git commit --amend", "--amend"),
            ("grep -rn one .", ""),
            ("foo --anything", ""),
        ] {
            let words: Vec<Word> = line.split(' ').map(Word::exact).collect();
            let (program, arguments) = words.split_first().unwrap();
            let found = arguments.iter().find(|word| reaches(&program.text, arguments, word).is_some());
            assert_eq!(found.map_or("", |word| word.text.as_str()), reached, "{line}");
        }
        let written = |line: &str| {
            let words: Vec<Word> = line.split(' ').map(Word::exact).collect();
            written(&words[0].text, &words[1..]).into_iter().map(|word| word.text).collect::<Vec<_>>()
        };
        assert_eq!(written("sort -o .env in"), [".env"]);
        assert_eq!(written("sort --output=.env in"), [".env"]);
        assert_eq!(written("uniq in .env"), [".env"]);
        assert_eq!(written("gcc a.c -o x"), ["x"]);
        assert_eq!(written("openssl rand -out x 5"), ["x"]);
        assert_eq!(written("openssl rand --out=x 5"), ["x"]);
    }
}
