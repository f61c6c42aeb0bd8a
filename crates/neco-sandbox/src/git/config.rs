//! The settings of a repository that a command made: which of them start no program, and what is left of a file
//! when all others are taken out.
//!
//! Git's way to write settings has many corners. Only lines of the plainest form count; what is written otherwise
//! is taken out, so that nothing is read here otherwise than git reads it.

use neco_safety::is_listed;

/// The sections and keys that start nothing and lead nowhere; `*` is any name, also none.
const HARMLESS: &[(&str, &str)] = &[
    (
        "core",
        "repositoryformatversion filemode bare logallrefupdates ignorecase precomposeunicode symlinks autocrlf \
         eol safecrlf abbrev quotepath compression bigfilethreshold longpaths protecthfs protectntfs sparsecheckout \
         sparsecheckoutcone splitindex untrackedcache preloadindex commentchar whitespace",
    ),
    ("user", "name email useconfigonly"),
    ("author", "name email"),
    ("committer", "name email"),
    ("init", "defaultbranch"),
    ("remote", "url pushurl fetch push tagopt mirror prune prunetags skipdefaultupdate"),
    ("branch", "remote merge rebase pushremote description autosetuprebase autosetupmerge"),
    ("submodule", "url active branch ignore fetchrecursesubmodules shallow recurse"),
    ("extensions", "objectformat compatobjectformat refstorage worktreeconfig relativeworktrees noop"),
    ("index", "version sparse"),
    ("pull", "rebase ff"),
    ("push", "default autosetupremote followtags"),
    ("fetch", "prune prunetags parallel recursesubmodules"),
    ("merge", "conflictstyle ff renamelimit renames log stat"),
    ("rebase", "autosquash autostash updaterefs stat"),
    ("diff", "renames renamelimit algorithm colormoved mnemonicprefix noprefix ignoresubmodules"),
    ("commit", "verbose status cleanup"),
    ("status", "short branch showuntrackedfiles submodulesummary"),
    ("log", "date decorate follow"),
    ("gc", "auto autopacklimit autodetach pruneexpire reflogexpire"),
    ("maintenance", "auto strategy"),
    ("pack", "threads window depth windowmemory"),
    ("rerere", "enabled autoupdate"),
    ("feature", "manyfiles experimental"),
    ("lfs", "repositoryformatversion"),
    ("color", "*"),
    ("advice", "*"),
];

/// What is left of settings when all that could start a program is taken out; nothing if all of them are harmless.
/// A folder to work in stays if it may.
pub(crate) fn without_programs(text: &[u8], may_work_in: impl Fn(&str) -> bool) -> Option<Vec<u8>> {
    let Ok(text) = std::str::from_utf8(text) else { return Some(Vec::new()) };
    let mut kept = String::new();
    let mut harmless = true;
    // Before the first header git takes no key at all.
    let mut section = None;
    for line in text.lines() {
        let keep = match read(line) {
            Line::Nothing => true,
            Line::Section(name) => {
                section = Some(name);
                true
            }
            Line::Setting(key, value) => {
                section.as_deref().is_some_and(|section| match (section, key.to_ascii_lowercase().as_str()) {
                    ("core", "worktree") => may_work_in(value),
                    (section, key) => starts_nothing(section, key, value),
                })
            }
            Line::Unclear => {
                // It may be a header: what follows belongs to nobody knows which section.
                section = None;
                false
            }
        };
        harmless &= keep;
        if keep {
            kept.push_str(line.trim_end());
            kept.push('\n');
        }
    }
    (!harmless).then(|| kept.into_bytes())
}

enum Line<'a> {
    Nothing,
    /// The section, in small letters and without what is in quotes behind it.
    Section(String),
    Setting(&'a str, &'a str),
    Unclear,
}

fn read(line: &str) -> Line<'_> {
    let line = line.strip_suffix('\r').unwrap_or(line);
    let is_odd = |letter: char| (letter.is_control() && letter != '\t') || letter == '\u{feff}';
    if line.contains(is_odd) {
        return Line::Unclear;
    }
    let line = line.trim_matches([' ', '\t']);
    if line.is_empty() || line.starts_with(['#', ';']) {
        // A comment goes to the end of the line, whatever that is.
        return Line::Nothing;
    }
    match line.strip_prefix('[') {
        Some(rest) => header(rest),
        None => setting(line),
    }
}

fn header(rest: &str) -> Line<'_> {
    let Some(inside) = rest.strip_suffix(']') else { return Line::Unclear };
    let is_name = |name: &str| !name.is_empty() && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '-');
    let (name, of) = match inside.split_once(' ') {
        Some((name, of)) => (name, of.trim_matches(' ')),
        None => (inside, "\"\""),
    };
    let quoted = of.strip_prefix('"').and_then(|of| of.strip_suffix('"'));
    match quoted {
        Some(of) if is_name(name) && !of.contains(['"', '\\', '[', ']']) => Line::Section(name.to_ascii_lowercase()),
        Some(_) | None => Line::Unclear,
    }
}

fn setting(line: &str) -> Line<'_> {
    let (key, value) = match line.split_once('=') {
        Some((key, value)) => (key.trim_matches([' ', '\t']), value.trim_matches([' ', '\t'])),
        None => (line, ""),
    };
    let is_key = key.starts_with(|c: char| c.is_ascii_alphabetic())
        && key.chars().all(|c| c.is_ascii_alphanumeric() || c == '-');
    // A backslash goes on with the next line, quotes hide what ends a value.
    if is_key && !value.contains(['\\', '"']) { Line::Setting(key, value) } else { Line::Unclear }
}

fn starts_nothing(section: &str, key: &str, value: &str) -> bool {
    // Large files are no program of the repository's.
    let large_files = ["git-lfs clean -- %f", "git-lfs smudge -- %f", "git-lfs filter-process", "true"];
    match (section, key) {
        ("filter", "clean" | "smudge" | "process" | "required") => large_files.contains(&value),
        ("submodule", "update") => ["checkout", "rebase", "merge", "none"].contains(&value),
        ("core", "fsmonitor") => value == "false",
        // An address can name a program to speak with.
        ("remote" | "submodule", "url" | "pushurl") | ("branch", "remote" | "pushremote") if value.contains("::") => {
            false
        }
        (section, key) => HARMLESS.iter().any(|(own, keys)| *own == section && (*keys == "*" || is_listed(key, keys))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn left_of(text: &[u8]) -> Option<Vec<u8>> {
        without_programs(text, |_| false)
    }

    fn left(text: &str) -> Option<String> {
        without_programs(text.as_bytes(), |worktree| worktree == "../mine").map(|left| String::from_utf8(left).unwrap())
    }

    #[test]
    fn what_git_writes_by_itself_is_harmless() {
        let text = "[core]\n\trepositoryformatversion = 0\n\tfilemode = true\n\tbare = false\n\tlogallrefupdates = true\n\
            # mine\n[remote \"origin\"]\n\turl = https://example.com/a.git\n\tfetch = +refs/heads/*:refs/remotes/origin/*\n\
            [branch \"main\"]\n\tremote = origin\n\tmerge = refs/heads/main\n[user]\n\tname = A B\n\temail = a@b\n\
            [extensions]\r\n\tobjectformat = sha256\r\n\n[submodule \"x/y\"]\n\tactive = true\n\tupdate = checkout\n";
        assert_eq!(left(text), None);
        assert_eq!(left(""), None);
        assert_eq!(left("[core]\n\tworktree = ../mine\n"), None);
    }

    #[test]
    fn what_starts_a_program_is_taken_out_and_the_rest_stays() {
        let text = "[core]\n\tbare = false\n\tfsmonitor = /w/evil.sh\n[user]\n\tname = A\n";
        assert_eq!(left(text).unwrap(), "[core]\n\tbare = false\n[user]\n\tname = A\n");
        for evil in [
            "[core]\nhooksPath=x",
            "[CORE]\nFsMonitor = x",
            "[core] fsmonitor = x",
            "[core]\nbare = false \\\nfsmonitor = x",
            "[core]\nbare = \"a\nfsmonitor = x",
            "[core.x]\nfsmonitor = x",
            "[filter \"x\"]\nclean = evil",
            "[diff \"x\"]\ntextconv = evil",
            "[diff]\nexternal = evil",
            "[merge \"x\"]\ndriver = evil",
            "[alias]\nst = !evil",
            "[include]\npath = ../evil",
            "[includeIf \"gitdir:/\"]\npath = x",
            "[remote \"o\"]\nurl = ext::sh -c evil",
            "[branch \"o\"]\nremote = ext::sh -c evil",
            "[branch \"o\"]\npushRemote = ext::sh -c evil",
            "[submodule \"o\"]\nurl = ext::sh -c evil",
            "[core]\nworktree = ../evil",
            "[Core \"x\"]\nWorkTree=/evil",
            "[remote \"o\"]\nuploadpack = evil",
            "[submodule \"x\"]\nupdate = !evil",
            "[credential]\nhelper = !evil",
            "[url \"ext::sh\"]\ninsteadOf = https://",
            "[gpg]\nprogram = evil",
            "[sequence]\neditor = evil",
            "[core]\n\u{feff}fsmonitor = x",
            "[core \"\\\"]\nfsmonitor=x",
            "[pager]\nlog = evil",
            "bare = x",
        ] {
            let left = left(evil).unwrap_or_else(|| panic!("{evil:?} counts as harmless"));
            assert!(!left.contains("evil") && !left.contains("fsmonitor"), "{evil:?}: {left}");
            assert_eq!(left_of(left.as_bytes()), None, "what is left is harmless: {evil:?}");
        }
        assert_eq!(left_of(b"[core]\n\xff=1"), Some(Vec::new()));
    }

    proptest::proptest! {
        #[test]
        fn what_is_left_is_always_harmless(text in ".{0,200}") {
            if let Some(left) = left_of(text.as_bytes()) {
                proptest::prop_assert_eq!(left_of(&left), None);
            }
        }
    }
}
