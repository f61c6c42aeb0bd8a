//! Programs that no table knows: what looks as if they were told to start it is a guess, for rules that deny.

use super::Case;
use crate::command::examined::Word;
use crate::command::finding::Finding;
use crate::listed::is_listed;

/// Programs that are known: others look at what they start, or they start nothing that is on their line.
const KNOWN: &str = "[ [[ ag apt apt-get awk b2sum base64 basename bash bat brew cargo cat cd chgrp chmod chown cksum cmp \
    command cp curl cut date dd declare deno df diff dig dirname docker du echo egrep env eval exec export expr false fd \
    fgrep file find gawk gh git glab go grep gzip head hexdump id install jq kill kubectl ln local ls make man mawk \
    md5sum mkdir mv nl node npm npx od pgrep ping pip pip3 pkill pnpm podman printf ps pwd python python3 read readlink \
    readonly realpath rg rm rmdir rsync sed seq set sh sha1sum sha256sum shred sleep sort ssh stat strings tac tail tar \
    tee test touch tr tree true type typeset uname uniq unset unzip wc wget which whoami xargs xxd yarn yq zip zsh";

/// What options are called whose value is a command.
const TOLD: [&str; 10] = ["exec", "cmd", "command", "program", "pager", "editor", "shell", "filter", "hook", "runner"];

pub(super) fn look(case: &Case<'_>, finding: &mut Finding) {
    if is_listed(case.name, KNOWN) || case.command.guess {
        return;
    }
    for (at, word) in case.arguments.iter().enumerate().take(64) {
        let behind = case.arguments.get(at + 1..).unwrap_or_default();
        match word.text.as_str() {
            "--" | "exec" | "run" => finding.may_start(behind),
            option if option.starts_with('-') => value(option, behind.first(), finding),
            _ => {}
        }
    }
}

/// The value of an option that is called as if it were a command.
fn value(option: &str, next: Option<&Word>, finding: &mut Finding) {
    let (name, attached) = match option.split_once('=') {
        Some((name, value)) => (name, Some(value)),
        None => (option, None),
    };
    let name = name.to_ascii_lowercase();
    if TOLD.iter().any(|told| name.contains(told)) {
        let apart = next.filter(|word| word.exact && !word.text.starts_with('-')).map(|word| word.text.as_str());
        attached.or(apart).into_iter().for_each(|text| finding.may_run(text));
    }
}
