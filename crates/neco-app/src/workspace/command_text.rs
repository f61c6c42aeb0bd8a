//! What a command of a person's own says: the places of its arguments, its command lines and its files, in the ways that
//! agents write them.

use neco_ext::arguments::{fill, slot, words};
use neco_proto::app::commands::CommandPart;

/// Which marks a text has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Marks {
    /// `$ARGUMENTS`, `$1` and `` !`line` ``, as Claude Code and opencode have them.
    pub dollars: bool,
    /// `{{args}}`, `!{line}` and `@{file}`, as Gemini CLI has them.
    pub braces: bool,
}

impl Marks {
    /// Both.
    pub(super) const OURS: Self = Self { dollars: true, braces: true };
    pub(super) const DOLLARS: Self = Self { dollars: true, braces: false };
    pub(super) const BRACES: Self = Self { dollars: false, braces: true };
}

/// Where all that was written behind a command goes.
const ARGS: &str = "{{args}}";

/// What opens a command line, and what ends it.
const QUOTED: &str = "!`";
const BRACED: &str = "!{";

/// What opens a file.
const FILE: &str = "@{";

/// A text with what was written behind its command in its places; behind it when it has none.
pub(super) fn say(text: &str, marks: Marks, argument: &str) -> String {
    let (said, used) = put_in(text, marks, argument, &words(argument));
    if used || argument.is_empty() { said } else { format!("{}\n\n{argument}", said.trim_end()) }
}

/// The same in parts, with its command lines to run; none where it has no such line.
pub(super) fn parts(text: &str, marks: Marks, argument: &str) -> Vec<CommandPart> {
    let (words, pieces) = (words(argument), pieces(text, marks));
    if !pieces.iter().any(|piece| matches!(piece, Piece::Run(_))) {
        return Vec::new();
    }
    let mut used = false;
    let part = |piece: Piece<'_>| match piece {
        Piece::Said(text) => {
            let (said, uses) = put_in(text, marks, argument, &words);
            used |= uses;
            CommandPart { text: said, run: None }
        }
        Piece::Run(written) => {
            let (line, has_args) = if marks.braces { shell_args(written) } else { (written.to_owned(), false) };
            let uses = has_args || put_in(written, Marks { braces: false, ..marks }, "", &[]).1;
            used |= uses;
            let set = if uses { settings(argument, &words) } else { String::new() };
            CommandPart { text: written.to_owned(), run: Some(format!("{set}{line}")) }
        }
    };
    let mut parts: Vec<CommandPart> = pieces.into_iter().map(part).collect();
    if !used && !argument.is_empty() {
        parts.push(CommandPart { text: format!("\n\n{argument}"), run: None });
    }
    parts
}

/// Its command lines, as they are written.
pub(super) fn lines(text: &str, marks: Marks) -> Vec<&str> {
    let mut lines = Vec::new();
    for piece in pieces(text, marks) {
        if let Piece::Run(line) = piece {
            lines.push(line);
        }
    }
    lines
}

/// A piece of what a command says.
enum Piece<'a> {
    Said(&'a str),
    /// A command line, without its marks.
    Run(&'a str),
}

/// A text, with its command lines apart. One between `` !` `` and `` ` `` stands on one line, behind a blank or at the
/// beginning; one between `!{` and `}` may stand anywhere, and braces in it are pairs.
fn pieces(text: &str, marks: Marks) -> Vec<Piece<'_>> {
    let (mut pieces, mut from) = (Vec::new(), 0);
    for (at, _) in text.match_indices('!') {
        // One inside a line that was found is none of its own.
        let (Some(said), Some(rest)) = (text.get(from..at), text.get(at..)) else { continue };
        let quoted = rest.strip_prefix(QUOTED).filter(|_| marks.dollars && is_apart(text, at)).and_then(quoted_line);
        let braced = || rest.strip_prefix(BRACED).filter(|_| marks.braces).and_then(braced_line);
        let Some(line) = quoted.or_else(braced).filter(|line| !line.trim().is_empty()) else { continue };
        pieces.extend([Piece::Said(said), Piece::Run(line)]);
        // Both kinds are opened by two bytes and ended by one.
        from = at + QUOTED.len() + line.len() + 1;
    }
    pieces.push(Piece::Said(text.get(from..).unwrap_or_default()));
    pieces
}

fn is_apart(text: &str, at: usize) -> bool {
    text.get(..at).and_then(|before| before.chars().next_back()).is_none_or(char::is_whitespace)
}

fn quoted_line(after: &str) -> Option<&str> {
    after.split_once('`').map(|(line, _)| line).filter(|line| !line.contains('\n'))
}

/// What stands before the brace that ends it.
fn braced_line(after: &str) -> Option<&str> {
    let mut open = 0_usize;
    for (at, char) in after.char_indices() {
        match char {
            '{' => open += 1,
            '}' if open == 0 => return after.get(..at),
            '}' => open -= 1,
            _ => {}
        }
    }
    None
}

/// A text with `argument` and its words in their places, and whether there are any.
fn put_in(text: &str, marks: Marks, argument: &str, words: &[String]) -> (String, bool) {
    let mut said = String::new();
    let (mut used, mut rest) = (false, text);
    while let Some(at) = rest.find(['$', '\\', '{', '@']) {
        let (before, after) = rest.split_at(at);
        said.push_str(before);
        let (put, uses, length) = mark_at(after, marks, argument, words);
        said.push_str(&put);
        used |= uses;
        rest = after.get(length..).unwrap_or_default();
    }
    said.push_str(rest);
    (said, used)
}

/// What takes the place of the mark that a text begins with, whether that is an argument, and how long the mark is. What
/// is no mark stays, one sign of it.
fn mark_at(text: &str, marks: Marks, argument: &str, words: &[String]) -> (String, bool, usize) {
    if let Some((slot, length)) = slot(text).filter(|_| marks.dollars) {
        return (fill(slot, argument, words).to_owned(), true, length);
    }
    // Behind a backslash it stays as it is.
    if let Some(stays) = text.strip_prefix('\\').filter(|_| marks.dollars)
        && let Some((_, length)) = slot(stays)
    {
        return (stays.get(..length).unwrap_or_default().to_owned(), false, 1 + length);
    }
    if text.starts_with(ARGS) && marks.braces {
        return (argument.to_owned(), true, ARGS.len());
    }
    let file = text.strip_prefix(FILE).filter(|_| marks.braces).and_then(braced_line);
    if let Some(file) = file.filter(|file| !file.trim().is_empty() && !file.contains(['"', '\n'])) {
        let (path, uses) = put_in(file.trim(), Marks { dollars: false, ..marks }, argument, words);
        let mention = if path.contains(char::is_whitespace) { format!("@\"{path}\"") } else { format!("@{path}") };
        return (mention, uses, FILE.len() + file.len() + 1);
    }
    (text.chars().take(1).collect(), false, 1)
}

/// A command line with its `{{args}}` as a value of the shell, and whether it has any. However the line quotes them,
/// nothing in them is run.
fn shell_args(line: &str) -> (String, bool) {
    let mut shell = String::new();
    let (mut quote, mut used, mut rest) = (None, false, line);
    while let Some(char) = rest.chars().next() {
        if let Some(after) = rest.strip_prefix(ARGS) {
            shell.push_str(match quote {
                Some('\'') => "'\"$ARGUMENTS\"'",
                Some(_) => "$ARGUMENTS",
                None => "\"$ARGUMENTS\"",
            });
            (used, rest) = (true, after);
            continue;
        }
        let escaped = char == '\\' && quote != Some('\'');
        match quote {
            None if matches!(char, '\'' | '"') => quote = Some(char),
            Some(open) if open == char => quote = None,
            Some(_) | None => {}
        }
        let taken: String = rest.chars().take(if escaped { 2 } else { 1 }).collect();
        shell.push_str(&taken);
        rest = rest.get(taken.len()..).unwrap_or_default();
    }
    (shell, used)
}

/// What stands before a command line that uses arguments. They are values to the shell, never part of the line: nothing
/// in them is run, however the line quotes them.
fn settings(argument: &str, words: &[String]) -> String {
    let quoted = |text: &str| format!("'{}'", text.replace('\'', r"'\''"));
    let words: String = words.iter().map(|word| format!(" {}", quoted(word))).collect();
    format!("ARGUMENTS={}; set --{words}; ", quoted(argument))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(text: &str) -> CommandPart {
        CommandPart { text: text.to_owned(), run: None }
    }

    fn shell(line: &str, run: &str) -> CommandPart {
        CommandPart { text: line.to_owned(), run: Some(run.to_owned()) }
    }

    #[test]
    fn command_lines_stand_apart_and_get_arguments_as_values() {
        let written =
            "Status: !`git status --short`\nWow!`no`, `!`x\n!`git log -- \"$1\"` of $1\n!` ` and !`open\nend`";
        let set = "ARGUMENTS='it'\\''s $(id)'; set -- 'its $(id)'; ";
        assert_eq!(
            parts(written, Marks::DOLLARS, "it's $(id)"),
            [
                text("Status: "),
                shell("git status --short", "git status --short"),
                text("\nWow!`no`, `!`x\n"),
                shell("git log -- \"$1\"", &format!("{set}git log -- \"$1\"")),
                text(" of its $(id)\n!` ` and !`open\nend`"),
            ]
        );
        assert_eq!(parts("Ship $ARGUMENTS", Marks::OURS, "!`id` !{id}"), [], "an argument is never run");
    }

    #[test]
    fn braces_mean_what_they_mean_to_gemini() {
        let written =
            "Look for {{args}} in @{docs/{{args}} notes.md}: !{grep -r {{args}} . | awk '{print \"{{args}}\"}'}";
        let set = "ARGUMENTS='a $(id)'; set -- 'a' '$(id)'; ";
        let line = "grep -r {{args}} . | awk '{print \"{{args}}\"}'";
        let run = "grep -r \"$ARGUMENTS\" . | awk '{print \"'\"$ARGUMENTS\"'\"}'";
        assert_eq!(
            parts(written, Marks::BRACES, "a $(id)"),
            [text("Look for a $(id) in @\"docs/a $(id) notes.md\": "), shell(line, &format!("{set}{run}")), text(""),]
        );
        assert_eq!(shell_args("echo \"say \\\"{{args}}\"").0, "echo \"say \\\"$ARGUMENTS\"");
        assert_eq!(say("@{a.md} $1 {{x}} @me", Marks::BRACES, ""), "@a.md $1 {{x}} @me");
        assert_eq!(say("Costs $ARGUMENTS {{args}}", Marks::DOLLARS, "5"), "Costs 5 {{args}}");
        assert_eq!(lines("!{open and !{a {b} c} é", Marks::BRACES), ["a {b} c"]);
    }

    #[test]
    fn arguments_stand_in_their_places_or_at_the_end() {
        assert_eq!(say("#$1 for $2, $5x $x", Marks::OURS, "7 'the whole team' x"), "#7 for the whole team, x $x");
        assert_eq!(say("Commit", Marks::BRACES, "now"), "Commit\n\nnow");
        assert_eq!(say(r"$ARGUMENTS[1], \$1 \x \$x at $5.00", Marks::OURS, "a b"), r"b, $1 \x \$x at $5.00");
    }
}
