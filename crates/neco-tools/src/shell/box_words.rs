//! What a model is told of the box that a command ran in: what it kept a command from, and what it took away.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use neco_safety::command::{Place, examine};
use neco_safety::path::later::later;
use neco_safety::sandbox::Freedom;
use neco_safety::sandbox::denial::{Denial, recognise};
use neco_safety::world::{Exit, Files};
use neco_toolkit::{ActingFile, ToolContext};

use super::bash::off_the_runtime;
use super::follow::{Followed, Outcome};

/// How many of the files that a command made and could not keep are named.
const MOST_NAMED: usize = 20;

/// What a server in the background must be known for.
pub(super) const OWN_NETWORK: &str = "other commands can't reach a server in it: each has a network of its own; \
    use the server in the same command, or start both with network: true";

/// What whoever looks for it from another command must know.
const OTHER_NETWORK: &str = "each command has a network of its own: a server in the background is not reached from \
    another command; use it in the command that starts it, or start both with network: true";

/// What the model is told when a command probably failed because of its box.
pub(super) async fn stopped_by_box(followed: &Followed, freedom: Freedom, ctx: &ToolContext) -> Option<String> {
    let is_closed = |path: &PathBuf| ctx.world.files.closed().stops_commands(path);
    let (closed, taken): (Vec<PathBuf>, Vec<PathBuf>) = followed.taken_away.iter().cloned().partition(is_closed);
    let of_rules =
        closed.first().map(|path| format!("{}; what it made there was put aside or removed", closed_words(path)));
    let words: Vec<String> = of_rules.into_iter().chain(aftermath_words(&taken, &followed.left_behind)).collect();
    if !words.is_empty() {
        return Some(words.join("; "));
    }
    let failed = matches!(followed.outcome, Outcome::Ended(end) if end.exit != Exit::Code(0));
    if !failed || !ctx.world.spawn.is_boxed() {
        return None;
    }
    if let Some(host) = followed.refused_hosts.first() {
        return Some(denial_words(&Denial::Host(host.clone())));
    }
    let (world, text) = (Arc::clone(&ctx.world), followed.output.text.clone());
    let looked = off_the_runtime(move || recognise(&text, &world.spawn.closed(freedom)?));
    let denial = looked.await.ok().flatten()?;
    match &denial {
        Denial::Path(path) if ctx.world.files.closed().stops_commands(path) => Some(closed_words(path)),
        Denial::Path(_) | Denial::Network | Denial::Host(_) => Some(denial_words(&denial)),
    }
}

/// What is said of a path that a rule closes: no wish of the model opens it.
fn closed_words(path: &Path) -> String {
    format!(
        "a rule of the user closes {} to commands; nothing that you can ask for opens it, and running without the \
         sandbox does not either: do without it",
        path.display()
    )
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
    let names = |paths: &[PathBuf]| {
        let mut names: Vec<String> = paths.iter().take(MOST_NAMED).map(|path| path.display().to_string()).collect();
        let more = paths.len().saturating_sub(MOST_NAMED);
        names.extend((more > 0).then(|| format!("{more} others")));
        names.join(", ")
    };
    let taken = (!taken.is_empty()).then(|| {
        format!(
            "the sandbox does not let commands make {}: it was put aside or removed; if the task needs it, write it \
             with a file tool or run the command again with unsandboxed: true: the user is asked",
            names(taken)
        )
    });
    let left = (!left.is_empty()).then(|| {
        format!(
            "the sandbox does not let commands make {}, and it COULD NOT be put aside: no other command runs until it \
             is gone; tell the user",
            names(left)
        )
    });
    let words: Vec<String> = taken.into_iter().chain(left).collect();
    (!words.is_empty()).then(|| words.join("; "))
}

/// Whether nothing outside of a command's box reaches it.
pub(super) async fn has_own_network(freedom: Freedom, ctx: &ToolContext) -> bool {
    let world = Arc::clone(&ctx.world);
    let closed = off_the_runtime(move || world.spawn.closed(freedom).is_some_and(|closed| closed.network));
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
        Denial::Path(path) => {
            format!("the sandbox does not let commands at {}; {}", path.display(), ask("unsandboxed: true"))
        }
        Denial::Network => format!("the sandbox has no network; {}", ask("network: true")),
        Denial::Host(host) => format!("the sandbox does not let commands reach {host}; {}", ask("network: true")),
    }
}
