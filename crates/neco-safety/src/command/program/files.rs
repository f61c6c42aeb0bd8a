//! Programs that delete, move, overwrite or change files.

use super::Case;
use crate::command::examined::Word;
use crate::command::finding::Finding;
use crate::command::{option, pattern, reaching};

/// As many named files as a person still reads one by one.
const FEW: usize = 10;

pub(super) fn look(case: &Case<'_>, finding: &mut Finding) {
    match case.name {
        "rm" | "unlink" | "rmdir" | "srm" | "trash" | "rimraf" | "del" => delete(case, finding),
        "shred" | "truncate" => overwrite_all(case, finding),
        "mv" | "cp" | "install" | "ln" | "rsync" | "scp" | "gcp" | "gmv" => transfer(case, finding),
        "tee" | "sponge" | "touch" | "mkdir" | "mkfifo" | "mknod" | "split" | "csplit" | "patch" => {
            writes(case, finding)
        }
        "chmod" | "chown" | "chgrp" | "setfacl" | "chattr" | "xattr" => change(case, finding),
        "dd" => dd(case, finding),
        "tar" | "bsdtar" | "gtar" => tar(case, finding),
        "zip" | "7z" | "unzip" | "cpio" | "ar" | "gzip" | "gunzip" | "xz" | "zstd" => archive(case, finding),
        "sed" | "gsed" | "perl" | "ruby" if has_in_place(case) => in_place(case, finding),
        _ => {}
    }
    for target in reaching::written(case.name, case.arguments) {
        destroys(&target, case, finding);
    }
}

fn delete(case: &Case<'_>, finding: &mut Finding) {
    let recursive = option::has(case.arguments, 'r', "--recursive")
        || option::has(case.arguments, 'R', "--recursive")
        || matches!(case.name, "rimraf" | "trash" | "srm");
    let targets: Vec<&Word> = option::operands(case.arguments).collect();
    for target in &targets {
        destroys(target, case, finding);
    }
    if recursive {
        let named: Vec<&str> = targets.iter().map(|target| target.text.as_str()).collect();
        let colon = if named.is_empty() { "" } else { ": " };
        finding.critical(format!("it deletes files, and folders with all that is in them{colon}{}", named.join(", ")));
    } else if targets.len() > FEW || targets.iter().any(|target| is_sweeping(target)) {
        finding.critical("it deletes many files at once");
    } else if targets.iter().any(|target| !target.exact && !is_pattern_of_some(target)) {
        finding.critical("it deletes what only the shell will know");
    }
}

/// A pattern that names at least something of what it finds.
fn is_pattern_of_some(word: &Word) -> bool {
    word.text.contains(['*', '?', '[']) && !word.text.contains(['$', '`', '{', '~'])
}

fn is_sweeping(word: &Word) -> bool {
    let last = word.text.trim_end_matches('/').rsplit('/').next().unwrap_or_default();
    !word.exact && (pattern::is_everything(last) || !word.text.contains('/') && last.starts_with('*'))
}

/// What losing or overwriting a target means.
fn destroys(target: &Word, case: &Case<'_>, finding: &mut Finding) {
    let ground = case.ground;
    finding.changes.push(target.clone());
    if ground.is_vital(target) {
        finding.never(format!("it would destroy {}, which a system or a person can't do without", target.text));
    } else if ground.is_device(target) {
        finding.never(format!("it overwrites the device {}", target.text));
    } else if ground.is_history(target) {
        finding.never("it tampers with the history of the shell");
    } else if ground.is_own_settings(target) {
        finding.never("it changes Neco's own settings");
    } else if let Some(why) = ground.guarded(target) {
        finding.asks_for(target, why, case.ground.changed_by(target));
    } else if ground.is_outside(target) {
        finding.critical(format!("{} is outside the workspace", target.text));
    }
}

fn overwrite_all(case: &Case<'_>, finding: &mut Finding) {
    for target in option::operands(case.arguments) {
        destroys(target, case, finding);
    }
    if case.name == "shred" {
        finding.critical("it destroys files beyond repair");
    }
}

fn writes(case: &Case<'_>, finding: &mut Finding) {
    for target in option::operands(case.arguments) {
        if matches!(case.name, "tee" | "sponge" | "split") || !case.ground.is_vital(target) {
            destroys(target, case, finding);
        }
        // It writes into the file as a redirect does; others put another one in its place, or make a folder.
        if case.name == "tee" {
            finding.opens.extend(case.ground.file_outside(target));
        }
    }
}

fn transfer(case: &Case<'_>, finding: &mut Finding) {
    let operands: Vec<&Word> = option::operands(case.arguments).collect();
    let target = option::values(case.arguments, Some('t'), "--target-directory");
    let (sources, destination) = match (target.first(), operands.split_last()) {
        (Some(target), _) => (operands.as_slice(), Some(target)),
        (None, Some((last, sources))) => (sources, Some(*last)),
        (None, None) => return,
    };
    let deletes = case.name == "rsync" && case.arguments.iter().any(|word| word.text.starts_with("--del"));
    if deletes {
        finding.critical("it deletes what is not in the source");
    }
    if case.name == "rsync" && option::has_long(case.arguments, "--remove-source-files") {
        finding.critical("it deletes what it copies");
    }
    let moves = matches!(case.name, "mv" | "gmv");
    if let Some(destination) = destination.filter(|_| moves) {
        gives_up(sources, destination, case, finding);
        // What xargs hands over may have been put in elsewhere: then the word before it is the last.
        if let Some((before, others)) = sources.split_last().filter(|_| is_handed(destination)) {
            gives_up(others, before, case, finding);
        }
    }
    for source in sources {
        if moves {
            destroys(source, case, finding);
        } else if let Some(why) = case.ground.sensitive(source) {
            finding.asks_for(source, why, case.ground.read_by(source));
        }
    }
    let Some(destination) = destination.filter(|word| !is_remote(word)) else { return };
    let inside = sources.iter().filter_map(|source| source.text.trim_end_matches('/').rsplit('/').next());
    for name in inside {
        let file = Word::of(format!("{}/{name}", destination.text.trim_end_matches('/')), destination.exact);
        if let Some(why) = case.ground.guarded(&file) {
            finding.asks_for(&file, why, case.ground.changed_by(&file));
        }
    }
    // Putting a file into a folder is not overwriting the folder, unless the rest of it goes.
    if deletes || !case.ground.is_vital(destination) || matches!(case.name, "ln") {
        destroys(destination, case, finding);
    } else {
        finding.critical(format!("{} is outside the workspace", destination.text));
    }
}

/// Whether another program puts something in its place.
fn is_handed(word: &Word) -> bool {
    !word.exact && word.text == "{}"
}

/// Moving files to where nothing is kept is deleting them.
fn gives_up(sources: &[&Word], destination: &Word, case: &Case<'_>, finding: &mut Finding) {
    let is_lost = |source: &&&Word| source.text != destination.text && !case.ground.is_surely_passing(source);
    let lost: Vec<&str> = sources.iter().filter(is_lost).map(|source| source.text.as_str()).collect();
    if !lost.is_empty() && case.ground.may_be_passing(destination) {
        finding.critical(format!(
            "it moves {} to {}, where nothing is kept (the sandbox has a /tmp of its own): that counts as deleting",
            lost.join(", "),
            destination.text
        ));
    }
}

/// `host:path`, which is a matter of the network.
fn is_remote(word: &Word) -> bool {
    word.text.split_once(':').is_some_and(|(host, _)| !host.contains('/') && !host.is_empty())
}

fn change(case: &Case<'_>, finding: &mut Finding) {
    let recursive = option::has(case.arguments, 'R', "--recursive");
    for target in option::operands(case.arguments).skip(1) {
        finding.changes.push(target.clone());
        if recursive && case.ground.is_vital(target) {
            finding.never(format!("it changes who may use all of {}", target.text));
        } else if case.ground.is_own_settings(target) || case.ground.is_device(target) {
            destroys(target, case, finding);
        } else if let Some(why) = case.ground.guarded(target) {
            finding.asks_for(target, why, case.ground.changed_by(target));
        } else if case.ground.is_outside(target) {
            finding.critical(format!("{} is outside the workspace", target.text));
        }
    }
    if case.name == "chmod" && case.arguments.iter().any(|word| is_set_id(&word.text)) {
        finding.critical("it lets a program run with the rights of another user");
    }
}

fn is_set_id(mode: &str) -> bool {
    mode.contains("+s")
        || mode.contains("=s")
        || mode.len() == 4 && mode.starts_with(['2', '4', '6', '7']) && mode.bytes().all(|byte| byte.is_ascii_digit())
}

fn dd(case: &Case<'_>, finding: &mut Finding) {
    for word in case.arguments {
        let part = |text: &str| Word::of(text.to_owned(), word.exact);
        if let Some(target) = word.text.strip_prefix("of=") {
            destroys(&part(target), case, finding);
        } else if let Some(source) = word.text.strip_prefix("if=").map(part)
            && let Some(why) = case.ground.sensitive(&source)
        {
            finding.asks_for(&source, why, case.ground.read_by(&source));
        }
    }
}

fn tar(case: &Case<'_>, finding: &mut Finding) {
    let actions = option::values(case.arguments, None, "--checkpoint-action");
    let commands = [
        option::values(case.arguments, None, "--to-command"),
        option::values(case.arguments, None, "--use-compress-program"),
        option::values(case.arguments, Some('I'), "--use-compress-program"),
        option::values(case.arguments, None, "--info-script"),
        option::values(case.arguments, Some('F'), "--new-volume-script"),
        option::values(case.arguments, None, "--rmt-command"),
        option::values(case.arguments, None, "--rsh-command"),
        actions
            .iter()
            .filter_map(|word| Some(Word::of(word.text.strip_prefix("exec=")?.to_owned(), word.exact)))
            .collect(),
        old_style(case.arguments),
    ]
    .concat();
    let compressors = ["gzip", "bzip2", "xz", "zstd", "lz4", "pigz", "pixz", "lzip", "pbzip2"];
    for command in commands.iter().filter(|word| !compressors.contains(&word.text.as_str())) {
        finding.critical("an option makes it run a command");
        finding.runs(command);
    }
    finding.uncoverable |= !commands.is_empty() || !actions.is_empty();
    if option::has_long(case.arguments, "--remove-files") {
        finding.critical("it deletes what it packs");
    }
    archive(case, finding);
}

/// The programs that letters without a dash name, as in `tar cIf PROGRAM FILE`: each letter that takes a value takes the
/// next word.
fn old_style(arguments: &[Word]) -> Vec<Word> {
    let letters = arguments.first().map(|word| word.text.as_str()).filter(|text| !text.starts_with('-'));
    let mut values = arguments.iter().skip(1);
    let mut found = Vec::new();
    for letter in letters.unwrap_or_default().chars().filter(|letter| "bCfFgHIKLNTVX".contains(*letter)) {
        let value = values.next();
        found.extend(value.filter(|_| matches!(letter, 'I' | 'F')).cloned());
    }
    found
}

/// Unpacking somewhere else, or over what was there.
fn archive(case: &Case<'_>, finding: &mut Finding) {
    for folder in option::values(case.arguments, Some('C'), "--directory") {
        if case.ground.is_outside(&folder) {
            finding.critical(format!("{} is outside the workspace", folder.text));
        }
    }
    if option::has_long(case.arguments, "--absolute-names")
        || matches!(case.name, "tar" | "bsdtar") && option::has_word(case.arguments, "-P")
    {
        finding.critical("it may write outside the workspace");
    }
    if case.name == "zip" {
        tested(case, finding);
    }
}

/// Whether and how `zip` has its archive tested: by a program that an option names.
fn tested(case: &Case<'_>, finding: &mut Finding) {
    let letters = |word: &Word| {
        let letters = word.text.strip_prefix('-').filter(|letters| !letters.starts_with('-'))?;
        letters.contains('T').then(|| letters.split_once("TT").map(|(_, value)| value.to_owned()))
    };
    for (at, word) in case.arguments.iter().enumerate() {
        let Some(program) = letters(word) else { continue };
        finding.critical("an option makes it run a command");
        match program.as_deref() {
            Some("") => case.arguments.get(at + 1).into_iter().for_each(|text| finding.runs(text)),
            Some(program) => finding.runs(&Word::of(program, word.exact)),
            None => {}
        }
    }
    if option::has_long(case.arguments, "--unzip-command") {
        finding.critical("an option makes it run a command");
        option::values(case.arguments, None, "--unzip-command").iter().for_each(|text| finding.runs(text));
    }
}

fn has_in_place(case: &Case<'_>) -> bool {
    case.arguments.iter().any(|word| {
        let text = word.text.as_str();
        text.starts_with('-') && !text.starts_with("--") && text.contains('i')
    }) || option::has_long(case.arguments, "--in-place")
}

fn in_place(case: &Case<'_>, finding: &mut Finding) {
    finding.rewrites();
    for target in option::operands(case.arguments).skip(1) {
        destroys(target, case, finding);
    }
}
