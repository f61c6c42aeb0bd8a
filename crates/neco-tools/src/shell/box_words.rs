//! What a model is told of the box that a command ran in: what it kept a command from, and what it took away.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use neco_safety::command::{Place, examine};
use neco_safety::path::later::later;
use neco_safety::world::denial::{Denial, did_the_rest, refusals};
use neco_safety::world::{Exit, Files, Freedom};
use neco_toolkit::{ActingFile, ToolContext};

use super::bash::off_the_runtime;
use super::follow::{Followed, Outcome};

/// How many of the files that a command could not keep or reach are named.
const MOST_NAMED: usize = 20;

/// A name that stands for any other in a folder.
const ANY_NAME: &str = "\u{1}";

/// Folders for temporary files: a box may have its own.
const TMP: [&str; 2] = ["/tmp/", "/var/tmp/"];

/// What a server in the background must be known for.
pub(super) const OWN_NETWORK: &str = "other commands can't reach a server in it: each has a network of its own; \
    use the server in the same command, or start both with network: true";

/// What whoever keeps something in `/tmp` must know.
pub(super) const OWN_TMP: &str = "/tmp and /var/tmp are the sandbox's own: later commands see what is there, the user \
    and other programs do not, and it goes when Neco ends; write what is to be kept to the workspace";

/// What the person is told of a command that wrote there.
pub(super) const STAYS_IN_TMP: &str = "what was written to /tmp stays in the sandbox's own /tmp";

/// What the person is told of a command that probably failed for want of the network.
pub(super) const NO_NETWORK: &str = "the sandbox has no network";

/// Programs that may end without a word when they reach nobody, each with its exit codes for that.
const UNREACHED: [(&str, &[i32]); 6] =
    [("curl", &[6, 7, 28]), ("wget", &[4]), ("git", &[128]), ("ssh", &[255]), ("scp", &[255]), ("rsync", &[10, 255])];

/// What whoever looks for it from another command must know.
const OTHER_NETWORK: &str = "each command has a network of its own: a server in the background is not reached from \
    another command; use it in the command that starts it, or start both with network: true";

/// What the box of a command kept it from, in words for the model.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Stopped {
    /// Nothing was refused but to read what rules of the user close: the command did the rest, and its exit code
    /// decides.
    LeftOut(String),
    /// Something else was refused, nothing else was done, or what the command made was taken away: it did not do its
    /// work.
    Denied(String),
}

impl Stopped {
    /// What the model is told.
    pub(super) fn words(&self) -> &str {
        match self {
            Self::LeftOut(words) | Self::Denied(words) => words,
        }
    }
}

/// What the box of a command that ended probably kept it from.
pub(super) async fn stopped_by_box(followed: &Followed, freedom: Freedom, ctx: &ToolContext) -> Option<Stopped> {
    let files = ctx.world.files();
    let is_closed = |path: &PathBuf| files.closed().stops_commands(path);
    let (closed, taken): (Vec<PathBuf>, Vec<PathBuf>) = followed.taken_away.iter().cloned().partition(is_closed);
    let of_rules =
        (!closed.is_empty()).then(|| format!("{}; what it made there was put aside or removed", rule_words(&closed)));
    let words: Vec<String> = of_rules.into_iter().chain(aftermath_words(&taken, &followed.left_behind)).collect();
    if !words.is_empty() {
        return Some(Stopped::Denied(words.join("; ")));
    }
    let failed = matches!(followed.outcome, Outcome::Ended(end) if end.exit != Exit::Code(0));
    if !failed || !ctx.world.processes().is_boxed() {
        return None;
    }
    if let Some(host) = followed.refused_hosts.first() {
        return Some(Stopped::Denied(denial_words(&Denial::Host(host.clone()))));
    }
    let (world, text) = (Arc::clone(&ctx.world), followed.output.text.clone());
    let looked = off_the_runtime(move || {
        let closed = world.processes().closed(freedom)?;
        Some((refusals(&text, &closed), did_the_rest(&text, &closed)))
    });
    let (refusals, did_the_rest) = looked.await.ok().flatten()?;
    sorted(refusals, did_the_rest, files)
}

/// Tells refusals by rules of the user from all others. `did_the_rest` says whether the command went on without what it
/// could not read.
fn sorted(refusals: Vec<Denial>, did_the_rest: bool, files: &Files) -> Option<Stopped> {
    let by_rule = |denial: &Denial| denial.path().is_some_and(|path| files.closed().stops_commands(path));
    let (closed, others): (Vec<Denial>, Vec<Denial>) = refusals.into_iter().partition(by_rule);
    let closed: Vec<PathBuf> = closed.iter().filter_map(Denial::path).map(Path::to_path_buf).collect();
    let is_unread = |path: &PathBuf| {
        // A folder of which everything is closed is closed itself.
        [path.clone(), path.join(ANY_NAME)].iter().any(|path| files.closed().keeps_from_commands(path))
    };
    let only_unread = did_the_rest && others.is_empty() && closed.iter().all(is_unread);
    let shown = closed.iter().map(|path| path.strip_prefix(files.workspace()).unwrap_or(path).to_path_buf());
    let shown: Vec<PathBuf> = shown.collect();
    if only_unread && !shown.is_empty() {
        return Some(Stopped::LeftOut(format!(
            "left out, since a rule of the user closes it to commands: {}; nothing that you can ask for opens it",
            named(&shown)
        )));
    }
    let of_rules = (!shown.is_empty()).then(|| rule_words(&shown));
    let words: Vec<String> = others.first().map(denial_words).into_iter().chain(of_rules).collect();
    (!words.is_empty()).then(|| Stopped::Denied(words.join("; ")))
}

/// What the model is told of what rules of the user keep a command from.
fn rule_words(closed: &[PathBuf]) -> String {
    format!(
        "a rule of the user closes {} to commands; nothing that you can ask for opens it, and running without the \
         sandbox does not either: do without it",
        named(closed)
    )
}

/// The paths, as many as are worth reading.
fn named(paths: &[PathBuf]) -> String {
    let mut names: Vec<String> = paths.iter().take(MOST_NAMED).map(|path| path.display().to_string()).collect();
    let more = paths.len().saturating_sub(MOST_NAMED);
    names.extend((more > 0).then(|| format!("{more} others")));
    names.join(", ")
}

/// What is said of a command whose time was up and that plainly needs the network where there is none: what waits for it
/// seldom says so.
pub(super) async fn waited_words(line: &str, outcome: Outcome, freedom: Freedom, ctx: &ToolContext) -> Option<String> {
    let may_have = outcome == Outcome::TimedOut && examine(line, &Place::new("/")).network;
    (may_have && has_own_network(freedom, ctx).await).then(|| {
        "it may have waited for the network, which commands do not have here; if the task needs it, run it again with \
         network: true: the user is asked"
            .to_owned()
    })
}

/// What is said of a command that ended as programs do which reach nobody, where there is no network.
pub(super) async fn unreached_words(
    line: &str,
    outcome: Outcome,
    freedom: Freedom,
    ctx: &ToolContext,
) -> Option<String> {
    let Outcome::Ended(end) = outcome else { return None };
    (may_be_unreached(line, end.exit) && has_own_network(freedom, ctx).await).then(|| {
        "it may have failed as commands have no network here, and reach no server on this machine either; if the task \
         needs it, run it again with network: true: the user is asked"
            .to_owned()
    })
}

fn may_be_unreached(line: &str, exit: Exit) -> bool {
    let Exit::Code(code) = exit else { return false };
    let names = |program: &str| line.split(|char: char| !char.is_alphanumeric()).any(|word| word == program);
    let is_known = UNREACHED.iter().any(|(program, codes)| codes.contains(&code) && names(program));
    is_known && examine(line, &Place::new("/")).network
}

/// Whether a command did its work in a box that has a `/tmp` of its own.
pub(super) fn has_own_tmp(outcome: Outcome, freedom: Freedom, ctx: &ToolContext) -> bool {
    let worked = matches!(outcome, Outcome::Ended(end) if end.exit == Exit::Code(0));
    worked && freedom != Freedom::Unboxed && ctx.world.processes().has_own_tmp()
}

/// Whether a word of a command line begins with `/tmp/`; a workspace that lies there itself is named by every path.
pub(super) fn names_tmp(line: &str, workspace: &Path) -> bool {
    let mut words = line.split(|char: char| char.is_whitespace() || "=<>();|&".contains(char));
    let is_in_tmp = |word: &str| TMP.iter().any(|tmp| word.trim_start_matches(['"', '\'']).starts_with(tmp));
    words.any(is_in_tmp) && !TMP.iter().any(|tmp| workspace.starts_with(tmp))
}

/// Whether a command line that starts in `folder` surely writes below `/tmp`, outside of the folders that are worked in.
pub(super) fn writes_tmp(line: &str, folder: &Path, files: &Files) -> bool {
    let place = Place { folder: folder.to_path_buf(), ..Place::new(files.workspace()) };
    let is_in_tmp = |path: &PathBuf| TMP.iter().any(|tmp| path.starts_with(tmp));
    let is_worked_in = |path: &PathBuf| files.writable().any(|root| path.starts_with(root));
    examine(line, &place).changed(&place).iter().any(|path| is_in_tmp(path) && !is_worked_in(path))
}

/// What the person is told of the files that a command changed and that act later.
pub(super) fn acting_files(changed: &[PathBuf], files: &Files) -> Vec<ActingFile> {
    let acting = |path: &PathBuf| {
        let root = files.writable().find(|root| path.starts_with(root))?;
        let shown = path.strip_prefix(files.workspace()).unwrap_or(path).display().to_string();
        Some(ActingFile { path: shown, does: later(root, path)? })
    };
    changed.iter().filter_map(acting).collect()
}

/// What the model is told of what a command made and could not keep.
pub(super) fn aftermath_words(taken: &[PathBuf], left: &[PathBuf]) -> Option<String> {
    let taken = (!taken.is_empty()).then(|| {
        format!(
            "the sandbox does not let commands make {}: it was put aside or removed; if the task needs it, write it \
             with a file tool or run the command again with unsandboxed: true: the user is asked",
            named(taken)
        )
    });
    let left = (!left.is_empty()).then(|| {
        format!(
            "the sandbox does not let commands make {}, and it COULD NOT be put aside: no other command runs until it \
             is gone; tell the user",
            named(left)
        )
    });
    let words: Vec<String> = taken.into_iter().chain(left).collect();
    (!words.is_empty()).then(|| words.join("; "))
}

/// Whether nothing outside of a command's box reaches it.
pub(super) async fn has_own_network(freedom: Freedom, ctx: &ToolContext) -> bool {
    let world = Arc::clone(&ctx.world);
    let closed = off_the_runtime(move || world.processes().closed(freedom).is_some_and(|closed| closed.network));
    closed.await.unwrap_or(false)
}

/// What is said of a command that wanted to reach this machine and failed, while a server may run in another box.
pub(super) async fn own_network_words(
    line: &str,
    followed: &Followed,
    freedom: Freedom,
    ctx: &ToolContext,
) -> Option<String> {
    let names_this_machine = ["localhost", "127.0.0.1", "[::1]", "0.0.0.0"].iter().any(|name| line.contains(name));
    let failed = matches!(followed.outcome, Outcome::Ended(end) if end.exit != Exit::Code(0));
    (names_this_machine && failed && has_own_network(freedom, ctx).await).then(|| OTHER_NETWORK.to_owned())
}

/// What the model is told of what a box did not let through.
pub(crate) fn denial_words(denial: &Denial) -> String {
    let ask = |wish: &str| format!("if the task needs it, run it again with {wish}: the user is asked");
    match denial {
        Denial::Open(path) => {
            format!("the sandbox does not let commands open {}; {}", path.display(), ask("unsandboxed: true"))
        }
        Denial::Change(Some(path)) => {
            format!("the sandbox does not let commands write {}; {}", path.display(), ask("unsandboxed: true"))
        }
        Denial::Change(None) => {
            format!("the sandbox does not let commands write outside the workspace; {}", ask("unsandboxed: true"))
        }
        Denial::ReadOnly(_) => format!("the sandbox is read-only; {}", ask("unsandboxed: true")),
        Denial::Network => format!("the sandbox has no network; {}", ask("network: true")),
        Denial::Host(host) => format!("the sandbox does not let commands reach {host}; {}", ask("network: true")),
    }
}

#[cfg(test)]
mod tests {
    use neco_safety::policy::RuleReader;
    use neco_safety::{Policy, Ruling};

    use super::*;

    #[test]
    fn a_workspace_in_tmp_is_not_the_sandbox_s_own() {
        assert!(names_tmp("make > /tmp/log", Path::new("/home/me/project")));
        assert!(!names_tmp("make > log", Path::new("/home/me/project")));
        assert!(!names_tmp("cat /tmp/project/a", Path::new("/tmp/project")));
    }

    #[test]
    fn only_a_path_that_begins_there_is_in_tmp() {
        let project = Path::new("/home/me/project");
        for line in ["make >/tmp/log", "dd of=/tmp/a", "cat '/tmp/a b'", "x --out=\"/tmp/a\"", "(cd /var/tmp/a; ls)"] {
            assert!(names_tmp(line, project), "{line}");
        }
        for line in
            ["rm -r ./tmp/cache", "cat app/tmp/pids", "ls /home/me/project/tmp/x", "cat \"$HOME\"/tmp/x", "du /tmpfs/a"]
        {
            assert!(!names_tmp(line, project), "{line}");
        }
    }

    #[test]
    fn what_is_written_beside_a_workspace_in_tmp_stays_in_the_box() {
        let folder = tempfile::tempdir_in("/tmp").unwrap();
        let workspace = folder.path().join("work");
        std::fs::create_dir(&workspace).unwrap();
        let files = Files::new(&workspace, Vec::new()).unwrap();
        let writes = |line: &str, below: &str| writes_tmp(line, &files.workspace().join(below), &files);
        assert!(writes("echo x > ../out.txt", "") && writes("echo x > /tmp/out.txt", ""));
        assert!(writes("echo x >> ../../out.txt", "sub"));
        assert!(!writes("echo x > out.txt", "") && !writes("echo x > ../out.txt", "sub"));
        assert!(!writes("cat ../out.txt", "") && !writes("echo x > /etc/out.txt", ""));
    }

    #[test]
    fn what_the_box_stops_is_said_in_words_of_what_was_wanted() {
        for (denial, words) in [
            (Denial::Change(Some("l/f3".into())), "the sandbox does not let commands write l/f3; "),
            (Denial::Change(None), "the sandbox does not let commands write outside the workspace; "),
            (Denial::ReadOnly(Some("made.txt".into())), "the sandbox is read-only; "),
            (Denial::Open("/h/.ssh".into()), "the sandbox does not let commands open /h/.ssh; "),
        ] {
            assert!(denial_words(&denial).starts_with(words), "{denial:?}");
        }
    }

    #[test]
    fn a_program_that_reaches_nobody_is_known_by_its_exit_code() {
        for (line, code, unreached) in [
            ("curl -s https://example.com", 6, true),
            ("cd a && curl -fsS -o x https://example.com", 7, true),
            ("wget -q https://example.com", 4, true),
            ("git push -q", 128, true),
            ("ssh -q host true", 255, true),
            ("curl -s https://example.com", 22, false),
            ("git status", 128, false),
            ("make curl", 7, false),
        ] {
            assert_eq!(may_be_unreached(line, Exit::Code(code)), unreached, "{line} {code}");
        }
        assert!(!may_be_unreached("curl -s https://example.com", Exit::Signal(6)));
    }

    fn told(workspace: &Path, refused: &[&str], did_the_rest: bool) -> Option<Stopped> {
        let files = Files::new(workspace, Vec::new()).unwrap();
        let place = Place::new(files.workspace());
        let mut rules = Vec::new();
        for rule in ["Read(secrets/)", "Edit(vendor/)"] {
            let read = RuleReader { place: &place }.flag(Ruling::Deny, rule);
            assert_eq!(read.problems, []);
            rules.extend(read.rules);
        }
        let files = files.with_closed(Policy::new(place, rules).closed());
        let refusals = refused.iter().map(|name| match *name {
            "network" => Denial::Network,
            name => Denial::Open(files.workspace().join(name)),
        });
        sorted(refusals.collect(), did_the_rest, &files)
    }

    #[test]
    fn what_only_the_users_rules_close_is_a_note_and_anything_else_is_a_refusal() {
        let folder = tempfile::tempdir().unwrap();
        let workspace = folder.path();
        let note = told(workspace, &["secrets", "secrets/x"], true).unwrap();
        assert!(
            matches!(&note, Stopped::LeftOut(words) if words.contains("commands: secrets, secrets/x; ")),
            "{note:?}"
        );
        for refused in [&["secrets", ".git/hooks"][..], &["network", "secrets"], &[".git/hooks"], &["network"]] {
            let told = told(workspace, refused, true).unwrap();
            assert!(matches!(&told, Stopped::Denied(_)), "{refused:?}: {told:?}");
            assert_eq!(told.words().contains("a rule of the user"), refused.contains(&"secrets"), "{refused:?}");
        }
        assert_eq!(told(workspace, &[], true), None);
    }

    #[test]
    fn what_could_do_nothing_without_what_a_rule_closes_was_refused() {
        let folder = tempfile::tempdir().unwrap();
        // `cat secrets/x` prints nothing else; `cp a vendor/` would have written, whatever it printed.
        for (refused, did_the_rest) in
            [(&["secrets/x"][..], false), (&["vendor/a"][..], true), (&["secrets", "vendor"][..], true)]
        {
            let told = told(folder.path(), refused, did_the_rest).unwrap();
            assert!(matches!(&told, Stopped::Denied(_)), "{refused:?}: {told:?}");
            assert!(told.words().contains("running without the sandbox does not either"), "{}", told.words());
            assert!(!told.words().contains("unsandboxed: true"), "{}", told.words());
        }
    }
}
