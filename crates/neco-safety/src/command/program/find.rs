//! `find` and `fd`: they look, unless they are told to act on what they find.

use super::Case;
use super::wrapper::make_unknown;
use crate::command::examined::Word;
use crate::command::finding::Finding;
use crate::command::named::program_name;
use crate::command::option;

pub(super) fn look(case: &Case<'_>, finding: &mut Finding) {
    match case.name {
        "find" | "gfind" | "bfs" => find(case, finding),
        "fd" | "fdfind" => fd(case, finding),
        _ => {}
    }
}

fn find(case: &Case<'_>, finding: &mut Finding) {
    let starts_at_vital = || starting_points(case.arguments).any(|word| case.ground.is_vital(word));
    for (index, word) in case.arguments.iter().enumerate() {
        let rest = case.arguments.get(index + 1..).unwrap_or_default();
        match word.text.as_str() {
            "-exec" | "-execdir" | "-ok" | "-okdir" => {
                let words = until_end(rest);
                if starts_at_vital() && words.first().is_some_and(|word| is_deleter(&word.text)) {
                    finding.never("it deletes the root or the home folder");
                }
                finding.starts(&words);
                acts(case, finding);
            }
            "-delete" if starts_at_vital() => finding.never("it deletes the root or the home folder"),
            "-delete" => {
                finding.critical("it deletes everything it finds");
                finding.rewrites();
                acts(case, finding);
            }
            "-fprint" | "-fprint0" | "-fprintf" | "-fls" => {
                finding.rewrites();
                acts(case, finding);
                if let Some(target) = rest.first() {
                    if case.ground.is_device(target) {
                        finding.never("it overwrites a device");
                    } else if case.ground.guarded(target).is_some() || case.ground.is_outside(target) {
                        finding.critical(format!("it writes {}", target.text));
                        finding.opens.extend(case.ground.changed_by(target));
                    }
                }
            }
            _ => {}
        }
    }
}

/// What it finds is acted on, so what it looks for counts.
fn acts(case: &Case<'_>, finding: &mut Finding) {
    finding.uncoverable();
    if let Some((word, why)) = case.arguments.iter().find_map(|word| Some((word, case.ground.sensitive(word)?))) {
        finding.asks_for(word, why, case.ground.read_by(word));
    }
}

fn starting_points(arguments: &[Word]) -> impl Iterator<Item = &Word> {
    let flags = arguments.iter().skip_while(|word| matches!(word.text.as_str(), "-H" | "-L" | "-P"));
    flags.take_while(|word| !word.text.starts_with(['-', '(', '!']))
}

/// The command up to `;` or `+`, with `{}` as what nobody knows.
fn until_end(rest: &[Word]) -> Vec<Word> {
    let own = rest.iter().take_while(|word| !matches!(word.text.as_str(), ";" | "+" | "\\;"));
    let guess = |word: &Word| if word.text.contains("{}") { Word::guess(word.text.clone()) } else { word.clone() };
    let mut words: Vec<Word> = own.map(guess).collect();
    make_unknown(&mut words, &["{}".to_owned()]);
    words
}

fn is_deleter(program: &str) -> bool {
    matches!(&*program_name(program), "rm" | "unlink" | "shred" | "rmdir" | "truncate" | "chmod" | "chown")
}

fn fd(case: &Case<'_>, finding: &mut Finding) {
    let position = case.arguments.iter().position(|word| {
        let text = word.text.as_str();
        matches!(text, "-x" | "-X")
            || text.len() > 3 && ("--exec".starts_with(text) || "--exec-batch".starts_with(text))
    });
    if let Some(index) = position {
        let mut words = until_end(case.arguments.get(index + 1..).unwrap_or_default());
        words.push(Word::guess("{}"));
        finding.starts(&words);
        acts(case, finding);
    } else if option::has(case.arguments, 'x', "--exec") || option::has(case.arguments, 'X', "--exec-batch") {
        finding.critical("it runs a command on what it finds");
    }
}
