//! `sed` and `awk`: harmless as filters, but both can write files and start programs.

use super::Case;
use super::interpreter::{handed, judge_code, mentions_sensitive};
use super::script::{AWK, Call, SED};
use crate::command::examined::Word;
use crate::command::finding::{Finding, Inner};
use crate::command::option;

pub(super) fn look(case: &Case<'_>, finding: &mut Finding) {
    match case.name {
        "sed" | "gsed" => sed(case, finding),
        "awk" | "gawk" | "mawk" | "nawk" | "original-awk" | "goawk" => awk(case, finding),
        _ => {}
    }
}

fn sed(case: &Case<'_>, finding: &mut Finding) {
    let call = Call::read(case.arguments, &SED);
    let fed = call.fed(case, finding);
    for script in call.scripts().into_iter().chain(fed) {
        if !script.exact {
            finding.uncoverable();
        }
        match commands(&script.text) {
            Some(commands) if !commands.iter().any(SedCommand::reaches_out) => {}
            Some(commands) => reaching(&commands, case, finding),
            None if script.text.contains(['e', 'w', 'W', 'r', 'R']) => {
                finding.uncoverable();
                finding.critical("the script may run a command or write a file");
            }
            None => finding.uncoverable(),
        }
    }
}

fn reaching(commands: &[SedCommand], case: &Case<'_>, finding: &mut Finding) {
    finding.uncoverable();
    finding.critical("the script runs a command or reaches other files");
    for command in commands.iter().filter(|command| command.reaches_out()) {
        let target = Word::guess(command.rest.trim());
        if command.letter == 'e' && !command.rest.is_empty() {
            finding.runs(&target);
        } else if matches!(command.letter, 'w' | 'W')
            && (case.ground.is_device(&target) || case.ground.is_own_settings(&target))
        {
            finding.never("it overwrites a device or Neco's settings");
        }
    }
}

/// Whether a script for `sed` only prints, deletes lines or substitutes.
pub(crate) fn is_harmless_script(script: &str) -> bool {
    commands(script).is_some_and(|commands| !commands.iter().any(SedCommand::reaches_out))
}

/// Commands that print, delete or keep lines, and take nothing behind them.
const PLAIN: &str = "pdqQ=nNgGhHxPDl";

struct SedCommand {
    letter: char,
    rest: String,
}

impl SedCommand {
    fn reaches_out(&self) -> bool {
        match self.letter {
            's' => self.rest.contains(['e', 'w', 'm', 'M']),
            letter => !PLAIN.contains(letter) && !"yaic".contains(letter),
        }
    }
}

/// The commands of a script; none where it is more than lines, substitutions and their like, or
/// where one `sed` reads it otherwise than another.
fn commands(script: &str) -> Option<Vec<SedCommand>> {
    if script.contains("\\c") {
        return None;
    }
    let mut found = Vec::new();
    let mut rest = script;
    loop {
        rest = rest.trim_start_matches([' ', '\t', '\n', ';', '}', '{']);
        if rest.is_empty() {
            return Some(found);
        }
        rest = skip_addresses(rest)?.trim_start_matches([' ', '!', '{']);
        let letter = rest.chars().next()?;
        rest = rest.get(letter.len_utf8()..)?;
        let argument = match letter {
            's' | 'y' => {
                let (_, after) = delimited(rest)?;
                let end = after.find([';', '\n', '}', ' ']).unwrap_or(after.len());
                let end = if after.get(..end)?.contains(['w', 'e']) { after.len() } else { end };
                let flags = after.get(..end)?.to_owned();
                rest = after.get(end..)?;
                flags
            }
            // Where several backslashes stand, one `sed` ends the text sooner than another.
            'a' | 'i' | 'c' if rest.contains("\\\\") && rest.contains('\n') => return None,
            'a' | 'i' | 'c' => {
                let end = end_of_text(rest);
                rest = rest.get(end..)?;
                String::new()
            }
            'e' | 'w' | 'W' | 'r' | 'R' => {
                let end = rest.find('\n').unwrap_or(rest.len());
                let text = rest.get(..end)?.to_owned();
                rest = rest.get(end..)?;
                text
            }
            letter if PLAIN.contains(letter) => String::new(),
            _ => return None,
        };
        found.push(SedCommand { letter, rest: argument });
    }
}

/// Where a text that is put between the lines ends: at the first end of a line that no backslash stands before.
fn end_of_text(text: &str) -> usize {
    let mut escaped = false;
    let end = text.find(|letter: char| {
        let ends = letter == '\n' && !escaped;
        escaped = letter == '\\' && !escaped;
        ends
    });
    end.unwrap_or(text.len())
}

fn skip_addresses(script: &str) -> Option<&str> {
    let mut rest = script;
    loop {
        rest = if let Some(pattern) = rest.strip_prefix('/') {
            let mut escaped = false;
            let end = pattern.find(|letter| {
                let ends = letter == '/' && !escaped;
                escaped = letter == '\\' && !escaped;
                ends
            })?;
            has_plain_brackets(pattern.get(..end)?).then_some(())?;
            pattern.get(end + 1..)?.trim_start_matches(['I', 'M'])
        } else {
            rest.trim_start_matches(|letter: char| letter.is_ascii_digit() || "$~+".contains(letter))
        };
        match rest.strip_prefix(',') {
            Some(second) => rest = second.trim_start(),
            None => return Some(rest),
        }
    }
}

/// The two texts between the delimiters of `s` and `y`, and what follows them.
fn delimited(script: &str) -> Option<(&str, &str)> {
    let delimiter = script
        .chars()
        .next()
        .filter(|letter| !letter.is_alphanumeric() && !letter.is_whitespace() && *letter != '\\')?;
    let mut escaped = false;
    let mut seen = 0;
    for (index, letter) in script.char_indices() {
        if letter == delimiter && !escaped {
            seen += 1;
            if seen == 2 && !has_plain_brackets(script.get(delimiter.len_utf8()..index)?) {
                return None;
            }
            if seen == 3 {
                return Some((script.get(..index)?, script.get(index + letter.len_utf8()..)?));
            }
        }
        escaped = letter == '\\' && !escaped;
    }
    None
}

/// Whether every bracket of a pattern ends within it beyond doubt. To some `sed` the delimiter
/// between brackets is a letter like any other, to others it ends the pattern.
fn has_plain_brackets(pattern: &str) -> bool {
    let mut rest = pattern;
    while let Some(at) = rest.find(['[', '\\']) {
        let (marked, after) = (rest.get(at..).unwrap_or_default(), rest.get(at + 1..).unwrap_or_default());
        if marked.starts_with('\\') {
            let mut letters = after.chars();
            letters.next();
            rest = letters.as_str();
            continue;
        }
        let after = after.strip_prefix('^').unwrap_or(after);
        let Some((inside, behind)) = plain_set(after) else { return false };
        if inside == 0 {
            return false;
        }
        rest = behind;
    }
    true
}

/// How much stands in a bracket of letters and classes such as `[:digit:]`, and what follows it.
fn plain_set(text: &str) -> Option<(usize, &str)> {
    let mut rest = text;
    let mut count = 0;
    loop {
        if let Some(behind) = rest.strip_prefix(']') {
            return Some((count, behind));
        }
        rest = match rest.strip_prefix("[:") {
            Some(class) => class.trim_start_matches(|letter: char| letter.is_ascii_lowercase()).strip_prefix(":]")?,
            None => {
                let mut letters = rest.chars();
                letters.next().filter(|letter| !matches!(letter, '[' | '\\'))?;
                letters.as_str()
            }
        };
        count += 1;
    }
}

fn awk(case: &Case<'_>, finding: &mut Finding) {
    let call = Call::read(case.arguments, &AWK);
    let fed = call.fed(case, finding);
    for program in call.scripts().into_iter().chain(fed) {
        let text = &program.text;
        if starts_programs(text) {
            finding.uncoverable();
            let quoted = text.split('"').skip(1).step_by(2).take(16);
            finding.inner.extend(quoted.map(|text| Inner::Guess(text.to_owned())));
            // A quote in a pattern makes strings of what stands between strings, and the other way round.
            text.split('"').skip(2).step_by(2).take(16).for_each(|text| finding.may_run(text));
            // A variable that is set on the line may be what it runs.
            let values = call.sets.iter().filter_map(|word| word.text.split_once('='));
            finding.inner.extend(values.map(|(_, value)| Inner::Guess(value.to_owned())));
            judge_code(&program, case, finding);
            handed(call.behind(), case, finding);
        }
        if let Some(why) = mentions_sensitive(text, case.ground) {
            finding.critical(format!("the program names a sensitive file: {why}"));
        }
        finding.uncoverable |= text.contains(['>', '|']) || text.contains("getline") || text.contains("system");
    }
    if option::has_word(case.arguments, "-i inplace") {
        finding.rewrites();
    }
}

/// Whether a program for `awk` starts others: it calls `system`, or has a pipe.
fn starts_programs(program: &str) -> bool {
    let Some(bare) = without_texts(program) else { return true };
    let bare = bare.replace("||", " ");
    bare.contains("system") || bare.contains(['|', '@'])
}

/// A program for `awk` without its strings, patterns and remarks; none where one of them does not end on its line.
fn without_texts(program: &str) -> Option<String> {
    let mut bare = String::new();
    let mut letters = program.chars();
    while let Some(letter) = letters.next() {
        match letter {
            '"' => {
                skip_string(&mut letters)?;
                bare.push('"');
            }
            // Behind these it may divide or begin a pattern.
            '/' if bare.trim_end().ends_with("++") || bare.trim_end().ends_with("--") => return None,
            '/' if may_be_pattern(&bare) => {
                skip_pattern(&mut letters)?;
                bare.push('"');
            }
            '#' => letters = letters.as_str().trim_start_matches(|letter: char| letter != '\n').chars(),
            letter => bare.push(letter),
        }
    }
    Some(bare)
}

/// Goes behind the end of a string.
fn skip_string(letters: &mut std::str::Chars<'_>) -> Option<()> {
    let mut escaped = false;
    loop {
        match letters.next()? {
            '\n' => return None,
            '"' if !escaped => return Some(()),
            letter => escaped = letter == '\\' && !escaped,
        }
    }
}

/// Goes behind the end of a pattern; none where a slash stands between brackets, which some take for its end.
fn skip_pattern(letters: &mut std::str::Chars<'_>) -> Option<()> {
    let (mut escaped, mut in_set, mut before) = (false, false, '/');
    loop {
        let letter = letters.next()?;
        match letter {
            '\n' => return None,
            '/' if !escaped && in_set => return None,
            '/' if !escaped => return Some(()),
            ']' if in_set && matches!(before, '[' | '^') => return None,
            '[' if !escaped => in_set = true,
            ']' if !escaped => in_set = false,
            _ => {}
        }
        escaped = letter == '\\' && !escaped;
        before = letter;
    }
}

/// Whether a slash behind this begins a pattern: behind a value, it divides.
fn may_be_pattern(before: &str) -> bool {
    let before = before.trim_end();
    let word = before.rsplit(|letter: char| !letter.is_alphanumeric() && letter != '_').next().unwrap_or_default();
    let is_own = matches!(word, "print" | "printf" | "return" | "getline" | "case" | "else" | "do" | "in" | "exit");
    let divides = before.ends_with(|letter: char| letter.is_alphanumeric() || "_)]\"".contains(letter));
    is_own || !divides
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn filters_are_told_from_scripts_that_reach_out() {
        for script in [
            "1,5p",
            "s/a/b/",
            "s|a|b|g",
            "/x/d",
            "$d",
            "1,/end/p;q",
            "s/a\\/b/c/gI",
            "/a/,/b/{p}",
            "2q",
            "y/ab/cd/",
            "/a/!d",
            "s/[0-9]*//",
            "/[^[:space:]]x/p",
            "s/\\[a/b/g",
            "2a text",
            "$a end",
            "/x/c new where",
            "1i\\\nwe are here\np",
            "",
        ] {
            assert!(is_harmless_script(script), "{script}");
        }
        for script in [
            "1e id",
            "e",
            "s/a/b/e",
            "w out",
            "s/a/b/w out",
            "r /etc/passwd",
            "1!e",
            "s/a/b/gew x",
            "z",
            "b",
            "s/a",
            "s/^[/]*/ p;/e;s/x/x/p",
            "/[/]/p;e",
            "s/[]/]/x/",
            "s/[a\\]/]/x/",
            "s/[[.a.]]/x/",
            "s/\\cx/y/",
            "1,3w x",
            "2a text\n1e id",
            "2a\\\\\n1e id",
        ] {
            assert!(!is_harmless_script(script), "{script}");
        }
    }

    #[test]
    fn a_program_starts_others_by_a_call_or_a_pipe() {
        for program in [
            "BEGIN{system(\"x\")}",
            "{print | \"sh\"}",
            "{\"id\" | getline}",
            "BEGIN{print /\"/ | \"curl x\"; y = \"\"}",
            "{ x = a / b | \"sh\" }",
            "BEGIN { f = \"sys\" \"tem\"; @f(\"x\") }",
            "{ print \"a",
        ] {
            assert!(starts_programs(program), "{program}");
        }
        for program in [
            "$1 == \"curl\" || $2 == \"x\"",
            "/a|b/ { print \"c|d\" }",
            "$1 ~ /a|b/",
            "{ n += $1 / 2 } # a | b",
            "/system/ { print }",
        ] {
            assert!(!starts_programs(program), "{program}");
        }
    }
}
