//! What a command of a person's own says: the places of its arguments, its command lines and its files, in the ways that
//! agents write them.

use neco_ext::arguments::{Given, keys};
use neco_proto::app::commands::CommandPart;

/// Which marks a text has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Marks {
    /// `$ARGUMENTS`, `$1` and `` !`line` ``, as Claude Code and opencode have them.
    pub dollars: bool,
    /// `{{args}}`, `!{line}` and `@{file}`, as Gemini CLI has them.
    pub braces: bool,
    /// `$KEY` for what is written as `KEY=value`, and `$$` for a dollar, as Codex has them, which runs no lines.
    pub keys: bool,
}

impl Marks {
    /// Both.
    pub(super) const OURS: Self = Self { dollars: true, braces: true, keys: false };
    pub(super) const DOLLARS: Self = Self { braces: false, ..Self::OURS };
    pub(super) const BRACES: Self = Self { dollars: false, ..Self::OURS };
    pub(super) const KEYS: Self = Self { keys: true, ..Self::DOLLARS };
}

/// Where all that was written behind a command goes.
const ARGS: &str = "{{args}}";

/// What opens a command line, and what ends it.
const QUOTED: &str = "!`";
const BRACED: &str = "!{";

/// What stands around several of them, each on a line of its own: the first with `!` behind it.
const BLOCK: &str = "```";

/// What opens a file.
const FILE: &str = "@{";

/// What was written behind a command with this text, whose file has these names for the words of it.
pub(super) fn given(text: &str, marks: Marks, names: &[String], argument: &str) -> Given {
    let keys = if marks.keys { keys(text) } else { Vec::new() };
    if keys.is_empty() { Given::new(text, argument, names) } else { Given::by_keys(argument, keys) }
}

/// A text with what was written behind its command in its places; behind it when it has none.
pub(super) fn say(text: &str, marks: Marks, given: &Given) -> String {
    let (said, used) = put_in(text, marks, given);
    if used || given.all().is_empty() { said } else { format!("{}\n\n{}", said.trim_end(), given.all()) }
}

/// The same in parts, with its command lines to run; none where it has no such line.
pub(super) fn parts(text: &str, marks: Marks, given: &Given) -> Vec<CommandPart> {
    let pieces = pieces(text, marks);
    if !pieces.iter().any(|piece| matches!(piece, Piece::Run(_))) {
        return Vec::new();
    }
    let mut used = false;
    let part = |piece: Piece<'_>| match piece {
        Piece::Said(text) => {
            let (said, uses) = put_in(text, marks, given);
            used |= uses;
            CommandPart { text: said, run: None }
        }
        Piece::Run(written) => {
            let (line, has_args) = if marks.braces { shell_args(written) } else { (written.to_owned(), false) };
            let uses = has_args || put_in(written, Marks { braces: false, ..marks }, given).1;
            used |= uses;
            let set = if uses { settings(given) } else { String::new() };
            CommandPart { text: written.to_owned(), run: Some(format!("{set}{line}")) }
        }
    };
    let mut parts: Vec<CommandPart> = pieces.into_iter().map(part).collect();
    if !used && !given.all().is_empty() {
        parts.push(CommandPart { text: format!("\n\n{}", given.all()), run: None });
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
/// beginning; one between `!{` and `}` may stand anywhere, and braces in it are pairs. Several stand between a line
/// ```` ```! ```` and a line ```` ``` ````, and are run as one script.
fn pieces(text: &str, marks: Marks) -> Vec<Piece<'_>> {
    let (mut pieces, mut from) = (Vec::new(), 0);
    for (at, _) in text.match_indices('!') {
        // One inside a line that was found is none of its own.
        let (Some(said), Some(rest)) = (text.get(from..at), text.get(at..)) else { continue };
        if let Some((before, script, after)) = block(said, rest).filter(|_| marks.dollars && !marks.keys) {
            pieces.extend([Piece::Said(before), Piece::Run(script)]);
            from = text.len() - after.len();
            continue;
        }
        let runs = marks.dollars && !marks.keys && is_apart(text, at);
        let quoted = rest.strip_prefix(QUOTED).filter(|_| runs).and_then(quoted_line);
        let braced = || rest.strip_prefix(BRACED).filter(|_| marks.braces).and_then(braced_line);
        let Some(line) = quoted.or_else(braced).filter(|line| !line.trim().is_empty()) else { continue };
        pieces.extend([Piece::Said(said), Piece::Run(line)]);
        // Both kinds are opened by two bytes and ended by one.
        from = at + QUOTED.len() + line.len() + 1;
    }
    pieces.push(Piece::Said(text.get(from..).unwrap_or_default()));
    pieces
}

/// What stands before a block of command lines, the lines, and what stands behind it, where `rest` goes on with the `!`
/// that makes a block one of those.
fn block<'a>(said: &'a str, rest: &'a str) -> Option<(&'a str, &'a str, &'a str)> {
    let before = said.strip_suffix(BLOCK)?;
    let indent = before.rsplit('\n').next()?;
    let (line, lines) = rest.strip_prefix('!')?.split_once('\n')?;
    if !indent.trim().is_empty() || !line.trim().is_empty() {
        return None;
    }
    let mut at = 0;
    for line in lines.split_inclusive('\n') {
        if line.trim() == BLOCK {
            let script = lines.get(..at)?.trim_end();
            // What follows begins with the end of the line.
            let after = lines.get(at + line.trim_end_matches(['\r', '\n']).len()..)?;
            return (!script.trim().is_empty()).then_some((before, script, after));
        }
        at += line.len();
    }
    None
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

/// A text with what was written in its places, and whether there are any.
fn put_in(text: &str, marks: Marks, given: &Given) -> (String, bool) {
    let mut said = String::new();
    let (mut used, mut rest) = (false, text);
    while let Some(at) = rest.find(['$', '\\', '{', '@']) {
        let (before, after) = rest.split_at(at);
        said.push_str(before);
        let (put, uses, length) = mark_at(after, marks, given);
        said.push_str(&put);
        used |= uses;
        rest = after.get(length..).unwrap_or_default();
    }
    said.push_str(rest);
    (said, used)
}

/// What takes the place of the mark that a text begins with, whether that is an argument, and how long the mark is. What
/// is no mark stays, one sign of it.
fn mark_at(text: &str, marks: Marks, given: &Given) -> (String, bool, usize) {
    if text.starts_with("$$") && marks.keys {
        return ("$".to_owned(), false, 2);
    }
    if let Some((slot, length)) = given.slot(text).filter(|_| marks.dollars) {
        return (given.fill(slot).to_owned(), true, length);
    }
    // Behind a backslash it stays as it is.
    if let Some(stays) = text.strip_prefix('\\').filter(|_| marks.dollars)
        && let Some((_, length)) = given.slot(stays)
    {
        return (stays.get(..length).unwrap_or_default().to_owned(), false, 1 + length);
    }
    if text.starts_with(ARGS) && marks.braces {
        return (given.all().to_owned(), true, ARGS.len());
    }
    let file = text.strip_prefix(FILE).filter(|_| marks.braces).and_then(braced_line);
    if let Some(file) = file.filter(|file| !file.trim().is_empty() && !file.contains(['"', '\n'])) {
        let (path, uses) = put_in(file.trim(), Marks { dollars: false, ..marks }, given);
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
fn settings(given: &Given) -> String {
    let quoted = |text: &str| format!("'{}'", text.replace('\'', r"'\''"));
    let words: String = given.words().iter().map(|word| format!(" {}", quoted(word))).collect();
    // A shell has no names with hyphens.
    let named = given.named().filter(|(name, _)| !name.contains('-'));
    let named: String = named.map(|(name, value)| format!("{name}={}; ", quoted(value.unwrap_or_default()))).collect();
    format!("ARGUMENTS={}; {named}set --{words}; ", quoted(given.all()))
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

    fn say(text: &str, marks: Marks, argument: &str) -> String {
        super::say(text, marks, &given(text, marks, &[], argument))
    }

    fn parts(text: &str, marks: Marks, argument: &str) -> Vec<CommandPart> {
        super::parts(text, marks, &given(text, marks, &[], argument))
    }

    #[test]
    fn a_block_of_command_lines_is_one_script() {
        let script = "git status --short\n  git log -- \"$1\"";
        let written = format!("Here:\n```!\n{script}\n```\nThen\n  ```! \r\nls\r\n  ```\r\nend");
        let set = "ARGUMENTS='a'; set -- 'a'; ";
        assert_eq!(
            parts(&written, Marks::DOLLARS, "a"),
            [
                text("Here:\n"),
                shell(script, &format!("{set}{script}")),
                text("\nThen\n  "),
                shell("ls", "ls"),
                text("\r\nend"),
            ]
        );
        assert_eq!(lines(&written, Marks::DOLLARS), [script, "ls"]);
        for no in ["```!\nls", "x```!\nls\n```", "```!sh\nls\n```", "```\n!ls\n```", "```!\n\n```", "```!\nls\n``` x"] {
            assert_eq!(parts(no, Marks::OURS, ""), [], "{no}");
        }
        assert_eq!(parts(&written, Marks::BRACES, ""), [], "it is not Gemini's");
        let ours = parts("```!\necho {{args}}\n```", Marks::OURS, "a b");
        assert_eq!(ours[1].run.as_deref(), Some("ARGUMENTS='a b'; set -- 'a' 'b'; echo \"$ARGUMENTS\""));
    }

    #[test]
    fn arguments_have_names_where_the_file_gives_them() {
        let names = ["issue".to_owned(), "branch-name".to_owned()];
        let written = "Mend $issue on $branch-name, $issues: !`gh issue view \"$issue\"`";
        let given = given(written, Marks::DOLLARS, &names, "7 it's");
        assert_eq!(super::say("$issue on $branch-name", Marks::DOLLARS, &given), "7 on it's");
        let parts = super::parts(written, Marks::DOLLARS, &given);
        assert_eq!(parts[0].text, "Mend 7 on it's, $issues: ");
        let run = "ARGUMENTS='7 it'\\''s'; issue='7'; set -- '7' 'it'\\''s'; gh issue view \"$issue\"";
        assert_eq!(parts[1].run.as_deref(), Some(run));
    }

    #[test]
    fn codex_names_what_is_written_as_keys() {
        let written = "Look at $FILE in $DIR, $$HOME stays, !`ls` is not run.";
        assert_eq!(
            say(written, Marks::KEYS, "DIR=src FILE='a b.rs'"),
            "Look at a b.rs in src, $HOME stays, !`ls` is not run."
        );
        assert_eq!(parts(written, Marks::KEYS, ""), []);
        assert_eq!(say("Do $1 and $ARGUMENTS", Marks::KEYS, "a=b c"), "Do a=b and a=b c", "no key, so all are words");
    }

    #[test]
    fn command_lines_stand_apart_and_get_arguments_as_values() {
        let written =
            "Status: !`git status --short`\nWow!`no`, `!`x\n!`git log -- \"$1\"` of $1\n!` ` and !`open\nend`";
        let set = "ARGUMENTS='it'\\''s $(id)'; set -- 'it'\\''s' '$(id)'; ";
        assert_eq!(
            parts(written, Marks::DOLLARS, "it's $(id)"),
            [
                text("Status: "),
                shell("git status --short", "git status --short"),
                text("\nWow!`no`, `!`x\n"),
                shell("git log -- \"$1\"", &format!("{set}git log -- \"$1\"")),
                text(" of it's\n!` ` and !`open\nend`"),
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
