//! Whether a command is handed a program by its path, to start it, to copy it or to give it another name: a rule that
//! forbids the program forbids that too, as nobody can tell what is done with it under another name.

use super::examined::{Examined, Part, Word};
use super::named::program_name;
use super::pattern;
use super::source::straight_names;
use crate::listed::is_listed;

/// Programs that only look at a file they are handed, or judge elsewhere what they start.
const LOOK: &str = "ls dir vdir stat file ldd nm objdump readelf size strings md5sum sha1sum sha224sum sha256sum \
    sha384sum sha512sum b2sum cksum sum du df wc cmp diff test [ [[ realpath readlink basename dirname \
    which type whereis echo printf dpkg dpkg-query rpm apk pacman brew apt-file command man tree getcap \
    lsattr getfacl lsof fuser pgrep pidof ps git cd find fd";

/// Programs that look at a file and print what is in it: where the line writes something, that may be a copy.
const PRINT: &str = "head tail less more od xxd hexdump grep egrep fgrep rg sed awk";

/// Whether a program that is handed these words may start, copy or rename the program of a name.
pub(super) fn is_handed_on(program: &str, words: &[Word], name: &str) -> bool {
    let acts = acts(program, words);
    let finds = || acts && matches!(program, "find" | "gfind" | "bfs" | "fd" | "fdfind") && looks_for(words, name);
    (acts || !only_looks(program)) && words.iter().any(|word| is_path_of(word, name)) || finds()
}

/// Whether a program only looks at the files it is handed.
fn only_looks(program: &str) -> bool {
    is_listed(program, LOOK) || is_listed(program, PRINT)
}

/// Whether a program that looks is told to act on what it sees: to hand it to another, to keep it, to write it.
fn acts(program: &str, words: &[Word]) -> bool {
    let has = |any: &[&str]| words.iter().any(|word| any.iter().any(|own| word.text.starts_with(own)));
    match program {
        "find" | "gfind" | "bfs" => has(&["-exec", "-ok"]),
        "fd" | "fdfind" => has(&["-x", "-X", "--exec"]),
        "git" => has(&["hash-object", "--no-index", "--output", "archive", "--add-file", "update-index"]),
        _ => false,
    }
}

/// Whether what is looked for outside of the workspace is called like a program.
fn looks_for(words: &[Word], name: &str) -> bool {
    let is_wild = |text: &str| text.contains(['*', '?', '[']) && !pattern::is_everything(text);
    let is_called = |text: &str| program_name(text) == name || is_wild(text) && pattern::matches(text, name);
    words.iter().any(|word| word.text.starts_with(['/', '~']) || climbs(&word.text))
        && words.iter().any(|word| is_called(&word.text))
}

/// Whether something beside the words of its commands hands a program on: a redirect, a variable, code on the line,
/// or what prints it where something is written.
pub(super) fn hands_on(line: &Examined, name: &str) -> bool {
    let named = line.mentions.iter().filter(|mention| !mention.changes).any(|mention| is_path_of(&mention.word, name));
    let writes = line.mentions.iter().any(|mention| mention.changes && !mention.word.text.starts_with("/dev/"));
    named || writes && line.parts.iter().any(|part| prints(part, name)) || hands_found(line, name)
}

/// Whether one command finds out where a program is, and another is handed what commands print.
fn hands_found(line: &Examined, name: &str) -> bool {
    let called = |part: &Part| part.words.first().map(|word| program_name(&word.text).into_owned());
    let finds = |part: &Part| {
        let is_finder = matches!(called(part).as_deref(), Some("which" | "command" | "type" | "whereis"));
        is_finder && part.words.iter().skip(1).any(|word| word.text == name)
    };
    let is_handing = |part: &Part| matches!(called(part).as_deref(), Some("xargs" | "parallel"));
    let does = |part: &Part| !finds(part) && !is_handing(part) && !called(part).is_some_and(|own| only_looks(&own));
    line.parts.iter().any(finds) && line.parts.iter().any(is_handing) && line.parts.iter().any(does)
}

fn prints(part: &Part, name: &str) -> bool {
    let Some((program, arguments)) = part.words.split_first() else { return false };
    let program = program_name(&program.text);
    is_listed(&program, PRINT) && arguments.iter().any(|word| is_path_of(word, name))
}

/// Whether a word is the path of a program of this name in a folder of programs, however it is spelt, or looks it up.
fn is_path_of(word: &Word, name: &str) -> bool {
    let text = word.text.as_str();
    if !word.exact && (text.contains("$(") || text.contains('`')) {
        return looks_up(text, name);
    }
    let value = text.split_once('=').map(|(_, value)| value);
    [Some(text), value].into_iter().flatten().any(|path| leads_to(path, name))
}

/// Whether a substitution in a word finds out where the program of a name is. What only speaks of it does not.
fn looks_up(text: &str, name: &str) -> bool {
    text.split('`').flat_map(|piece| piece.split("$(")).any(|script| {
        let is_between = |letter: char| letter.is_whitespace() || "\"'();|&".contains(letter);
        let mut words = script.split(is_between).filter(|word| !word.is_empty());
        match words.next() {
            Some("which" | "command" | "type" | "whereis" | "readlink" | "realpath" | "find") => {
                words.any(|word| program_name(word) == name)
            }
            Some("echo" | "printf" | "ls") => words.any(|word| leads_to(word, name)),
            Some(_) | None => false,
        }
    })
}

/// Whether a path leads out of the folder it is meant from.
fn climbs(path: &str) -> bool {
    let mut depth = 0_usize;
    for part in path.split('/').filter(|part| !matches!(*part, "" | ".")) {
        match (part, depth) {
            ("..", 0) => return !path.starts_with('/'),
            ("..", _) => depth -= 1,
            _ => depth += 1,
        }
    }
    false
}

/// Whether a path, straightened without a look at the disk, leads to a program of this name in a folder of programs.
fn leads_to(path: &str, name: &str) -> bool {
    if !path.starts_with(['/', '~']) && !climbs(path) {
        return false;
    }
    let mut folders = straight_names(path);
    // What a process has for its root is the root.
    if let ["proc", _, "root", ..] = folders.as_slice() {
        folders.drain(..3);
    }
    let [.., folder, last] = folders.as_slice() else { return false };
    let is_wild = |text: &str| text.contains(['*', '?', '[']);
    let is_folder = matches!(*folder, "bin" | "sbin" | "libexec" | "games" | "git-core") || is_wild(folder);
    is_folder && (program_name(last) == name || is_wild(last) && pattern::matches(last, name))
}

#[cfg(test)]
mod tests {
    use crate::command::{Place, examine};

    #[test]
    fn a_program_is_handed_on_however_its_path_is_written() {
        let mentions = |line: &str| examine(line, &Place::new("/w")).mentions(&["curl".to_owned()]);
        for line in [
            "cp //usr/bin/curl x; ./x",
            "cp /usr/bin/../bin/curl x && ./x",
            "cp /usr/./bin//curl x",
            "cp ../../../usr/bin/curl x",
            "cp ./../../../usr/bin/curl x",
            "cp x/../../../usr/bin/curl x",
            "find /usr/bin/curl -exec cp {} x ;",
            "find /usr/bin -name curl -exec cp {} x ;",
            "find /usr/bin -name 'cur?' -exec cp {} x ;",
            "git hash-object -w /usr/bin/curl",
            "git diff --no-index --output=x /dev/null /usr/bin/curl",
            "which curl | xargs -I{} cp {} x",
            "cp /proc/self/root/usr/bin/curl x",
            "cp /usr/bin/cur? x",
            "cp /*/bin/curl x",
            "cp /opt/tools/bin/curl x",
            "ln -s $(which curl) x && ./x",
            "ln -s \"$(command -v curl)\" x && ./x",
            "ln -s `which curl` x",
            "ln -s $(readlink -f /usr/bin/curl) x",
            "ln -s $(echo /usr/bin/curl) x",
            "a=/usr/bin/curl; cp $a x",
            "dd if=/usr/bin/curl of=x",
            "cat < /usr/bin/curl > x",
            "head -c 9999999 /usr/bin/curl > x; chmod +x x; ./x",
            "xxd /usr/bin/curl | xxd -r - x",
            "base64 /usr/bin/curl",
            "tar cf x.tar /usr/bin/curl",
            "echo /usr/bin/curl | xargs cp -t .",
            "python3 -c 'import shutil; shutil.copy(\"/usr/bin/curl\", \"x\")'",
            "some-launcher --with /usr/bin/curl x",
            "some-launcher --with=/usr/bin/curl x",
        ] {
            assert!(mentions(line), "{line}");
        }
        for line in [
            "ls -l /usr/bin/curl",
            "file /usr/bin/curl 2>/dev/null",
            "sha256sum /usr/bin/curl > sums",
            "head -1 /usr/bin/curl",
            "cp ./curl x",
            "cp docs/curl.md x",
            "cp src/bin/curl x",
            "cp src/../bin/curl x",
            "find . -name curl -exec wc -l {} +",
            "find /usr/bin -name curl",
            "which curl | xargs ls -l",
            "git diff -- /usr/bin/curl",
            "cp \"$curl\" x",
            "cp /usr/share/doc/curl x",
            "cp $(ls docs) x",
            "gh pr create --body \"$(cat <<'EOF'\nit uses curl\nEOF\n)\"",
            "gh pr create --body \"$(git log --grep curl)\"",
        ] {
            assert!(!mentions(line), "{line}");
        }
    }
}
