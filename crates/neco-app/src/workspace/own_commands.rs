//! Commands after a slash that a person or a folder brings along: a file of Markdown each, which is what is said
//! to the agent. Those of a folder count only when they were seen and trusted.

use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};

use neco_config::Env;
use neco_config::front_matter::{Field, Parted, Reading, part};
use neco_proto::app::commands::CommandPart;
use neco_proto::clean::clean_line;
use neco_safety::invisible;
use neco_view::slash::Custom;
use neco_workspace::GitFacts;
use sha2::{Digest, Sha256};

/// Bytes of one file.
const MOST_BYTES: u64 = 64 * 1024;

/// Commands that are looked for.
const MOST: usize = 500;

/// Folders within folders.
const DEPTH: usize = 4;

/// The folders of commands in a project, and in the home folder for those of others.
const PLACES: [&str; 2] = [".neco/commands", ".claude/commands"];

/// Fields that other agents know and that have no effect here.
const WITHOUT_EFFECT: [&str; 3] = ["allowed_tools", "model", "disable_model_invocation"];

/// A command of a person or a folder.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OwnCommand {
    /// What a window shows of it.
    pub custom: Custom,
    /// What it says.
    text: String,
    /// Its file.
    pub file: PathBuf,
    /// The folder that has to be trusted; none for the person's own.
    pub folder: Option<PathBuf>,
    /// What trust in it is trust in.
    pub hash: String,
    /// The fields at its top that have no effect, as they are written.
    ignored: Vec<String>,
}

impl OwnCommand {
    /// What it says, as it is written.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// What is said to the agent, with `argument` in its places; behind it when it has none.
    pub fn say(&self, argument: &str) -> String {
        let (said, used) = put_in(&self.text, argument, &words(argument));
        if used || argument.is_empty() { said } else { format!("{}\n\n{argument}", said.trim_end()) }
    }

    /// The same in parts, with its command lines to run; none where it has no such line.
    pub fn parts(&self, argument: &str) -> Vec<CommandPart> {
        let (words, pieces) = (words(argument), pieces(&self.text));
        if !pieces.iter().any(|piece| matches!(piece, Piece::Run(_))) {
            return Vec::new();
        }
        let mut used = false;
        let part = |piece: Piece<'_>| match piece {
            Piece::Said(text) => {
                let (said, uses) = put_in(text, argument, &words);
                used |= uses;
                CommandPart { text: said, run: None }
            }
            Piece::Run(line) => {
                let uses = put_in(line, "", &[]).1;
                used |= uses;
                let set = if uses { settings(argument, &words) } else { String::new() };
                CommandPart { text: line.to_owned(), run: Some(format!("{set}{line}")) }
            }
        };
        let mut parts: Vec<CommandPart> = pieces.into_iter().map(part).collect();
        if !used && !argument.is_empty() {
            parts.push(CommandPart { text: format!("\n\n{argument}"), run: None });
        }
        parts
    }

    /// Its command lines, as they are written.
    pub fn lines(&self) -> Vec<&str> {
        let mut lines = Vec::new();
        for piece in pieces(&self.text) {
            if let Piece::Run(line) = piece {
                lines.push(line);
            }
        }
        lines
    }

    /// What a person should know of its file.
    pub fn notes(&self) -> Vec<String> {
        let note = |field: &String| format!("/{}: `{field}` at the top of its file has no effect", self.custom.name);
        self.ignored.iter().map(note).collect()
    }
}

/// A piece of what a command says.
enum Piece<'a> {
    Said(&'a str),
    /// A command line, without its marks.
    Run(&'a str),
}

/// A text, with its command lines apart: each stands between `` !` `` and `` ` `` on one line, behind a blank or at the
/// beginning.
fn pieces(text: &str) -> Vec<Piece<'_>> {
    const OPENS: &str = "!`";
    let (mut pieces, mut from) = (Vec::new(), 0);
    for (at, _) in text.match_indices(OPENS) {
        // One inside a line that was found is none of its own.
        let (Some(said), Some(after)) = (text.get(from..at), text.get(at + OPENS.len()..)) else { continue };
        let is_apart = text.get(..at).and_then(|before| before.chars().next_back()).is_none_or(char::is_whitespace);
        let line = after.split_once('`').map(|(line, _)| line);
        let Some(line) = line.filter(|line| is_apart && !line.trim().is_empty() && !line.contains('\n')) else {
            continue;
        };
        pieces.extend([Piece::Said(said), Piece::Run(line)]);
        from = at + OPENS.len() + line.len() + 1;
    }
    pieces.push(Piece::Said(text.get(from..).unwrap_or_default()));
    pieces
}

/// A text with `argument` and its words in their places, and whether there are any.
fn put_in(text: &str, argument: &str, words: &[String]) -> (String, bool) {
    let mut said = String::new();
    let mut used = false;
    let mut rest = text;
    while let Some((before, after)) = rest.split_once('$') {
        said.push_str(before);
        rest = after;
        if let Some(after) = rest.strip_prefix("ARGUMENTS") {
            said.push_str(argument);
            (used, rest) = (true, after);
        } else if let Some(digit) = rest.chars().next().and_then(|char| char.to_digit(10)).filter(|digit| *digit > 0) {
            said.push_str(words.get(digit as usize - 1).map_or("", String::as_str));
            (used, rest) = (true, rest.get(1..).unwrap_or_default());
        } else {
            said.push('$');
        }
    }
    said.push_str(rest);
    (said, used)
}

/// What stands before a command line that uses arguments. They are values to the shell, never part of the line: nothing
/// in them is run, however the line quotes them.
fn settings(argument: &str, words: &[String]) -> String {
    let quoted = |text: &str| format!("'{}'", text.replace('\'', r"'\''"));
    let words: String = words.iter().map(|word| format!(" {}", quoted(word))).collect();
    format!("ARGUMENTS={}; set --{words}; ", quoted(argument))
}

/// All commands of a person and of the project that `folder` lies in, by name; of two with one name the person's
/// own counts, then the nearer one.
pub fn find(env: &Env, folder: &Path) -> Vec<OwnCommand> {
    let own = [env.config_dir().join("commands"), env.home().join(PLACES[1])];
    let mut all: Vec<OwnCommand> = own.iter().flat_map(|place| read_all(place, None)).collect();
    all.extend(of_folder(folder));
    let mut found: Vec<OwnCommand> = Vec::new();
    for command in all {
        if !found.iter().any(|known| known.custom.name == command.custom.name) {
            found.push(command);
        }
    }
    found.sort_by(|one, other| one.custom.name.cmp(&other.custom.name));
    found
}

/// Those of the project that `folder` lies in, the nearest first.
pub fn of_folder(folder: &Path) -> Vec<OwnCommand> {
    let root = GitFacts::of(folder).map_or_else(|| folder.to_owned(), |facts| facts.root);
    let folders = folder.ancestors().take_while(|above| above.starts_with(&root));
    folders.flat_map(|above| PLACES.iter().flat_map(move |place| read_all(&above.join(place), Some(above)))).collect()
}

fn read_all(place: &Path, folder: Option<&Path>) -> Vec<OwnCommand> {
    let mut found = Vec::new();
    let mut open = vec![(place.to_owned(), String::new(), 0)];
    while let Some((here, before, depth)) = open.pop() {
        let Ok(entries) = std::fs::read_dir(&here) else { continue };
        for entry in entries.flatten() {
            let (Ok(kind), Some(name)) = (entry.file_type(), entry.file_name().to_str().map(str::to_owned)) else {
                continue;
            };
            let path = entry.path();
            if kind.is_dir() && depth < DEPTH {
                open.push((path, format!("{before}{name}:"), depth + 1));
            } else if let Some(name) = name.strip_suffix(".md").filter(|_| kind.is_file() && found.len() < MOST) {
                found.extend(read(&path, &format!("{before}{name}"), folder));
            }
        }
    }
    found
}

fn read(file: &Path, name: &str, folder: Option<&Path>) -> Option<OwnCommand> {
    if name.is_empty() || name.contains(|char: char| char.is_whitespace() || char.is_control()) || name.contains('/') {
        return None;
    }
    let mut text = String::new();
    File::open(file).ok()?.take(MOST_BYTES).read_to_string(&mut text).ok()?;
    let hash = hash(&format!("command\0{name}\0{text}"));
    let (about, body) = match part(&text, Reading::Loose) {
        Parted::Whole { fields, body, .. } => (fields, body),
        Parted::Open | Parted::None => (Vec::new(), text.as_str()),
    };
    let field = |name: &str| about.iter().find(|field| field.name == name).map(Field::one_line);
    let first = || body.lines().map(|line| line.trim_start_matches(['#', ' '])).find(|line| !line.is_empty());
    let help = field("description").unwrap_or_else(|| first().unwrap_or_default().chars().take(72).collect());
    let argument = field("argument_hint").unwrap_or_default();
    let ignored = about.iter().filter(|field| WITHOUT_EFFECT.contains(&field.name.as_str()));
    let ignored = ignored.map(|field| clean_line(&field.written)).collect();
    let custom = Custom { name: name.to_owned(), argument: clean_line(&argument), help: clean_line(&help) };
    Some(OwnCommand {
        custom,
        // What is said in the person's place, they see.
        text: invisible::seen(body.trim()).text.into_owned(),
        file: file.to_owned(),
        folder: folder.map(Path::to_owned),
        hash,
        ignored,
    })
}

/// What tells whether a text is the one that was seen.
pub(super) fn hash(text: &str) -> String {
    Sha256::digest(text.as_bytes()).iter().map(|byte| format!("{byte:02x}")).collect()
}

/// The words of an argument; quotes keep some together.
pub(crate) fn words(argument: &str) -> Vec<String> {
    let mut words = Vec::new();
    let mut word: Option<String> = None;
    let mut quote: Option<char> = None;
    for char in argument.chars() {
        match quote {
            Some(open) if char == open => quote = None,
            Some(_) => word.get_or_insert_default().push(char),
            None if char == '"' || char == '\'' => {
                quote = Some(char);
                word.get_or_insert_default();
            }
            None if char.is_whitespace() => words.extend(word.take()),
            None => word.get_or_insert_default().push(char),
        }
    }
    words.extend(word);
    words
}

#[cfg(test)]
mod tests {
    use super::*;

    fn house() -> (tempfile::TempDir, Env, PathBuf) {
        let folder = tempfile::tempdir().unwrap();
        let home = folder.path().join("home");
        let project = folder.path().join("project");
        let write = |path: PathBuf, text: &str| {
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, text).unwrap();
        };
        write(home.join(".claude/commands/ship.md"), "Ship it: $ARGUMENTS");
        write(
            project.join(".neco/commands/issue.md"),
            "---\ndescription: \"Mends an issue\"\nargument-hint: NUMBER [WHO]\n---\nMend issue #$1 for $2, cost $5x $x.\n",
        );
        write(project.join(".claude/commands/git/commit.md"), "# Commit\nwith a good message");
        write(project.join(".claude/commands/ship.md"), "the folder's");
        let env = Env::for_test([], &home);
        (folder, env, project)
    }

    #[test]
    fn a_folder_never_stands_in_for_the_persons_own() {
        let (_kept, env, project) = house();
        let found = find(&env, &project);
        let names: Vec<&str> = found.iter().map(|command| command.custom.name.as_str()).collect();
        assert_eq!(names, ["git:commit", "issue", "ship"]);
        assert_eq!(found[2].folder, None);
        assert_eq!(found[2].say("today"), "Ship it: today");
        assert_eq!(found[0].folder.as_deref(), Some(project.as_path()));
        assert_eq!(found[0].custom.help, "Commit");
        assert_eq!(found[0].say("now"), "# Commit\nwith a good message\n\nnow");
    }

    #[test]
    fn arguments_stand_in_their_places() {
        let (_kept, env, project) = house();
        let issue = find(&env, &project).remove(1);
        assert_eq!((issue.custom.help.as_str(), issue.custom.argument.as_str()), ("Mends an issue", "NUMBER [WHO]"));
        assert_eq!(issue.say("7 'the whole team' x"), "Mend issue #7 for the whole team, cost x $x.");
        assert_eq!(words("a \"b c\"  '' d"), ["a", "b c", "", "d"]);
    }

    #[test]
    fn command_lines_stand_apart_and_get_arguments_as_values() {
        let (_kept, env, project) = house();
        let text = "---\nallowed-tools: Bash(git:*)\n---\nStatus: !`git status --short`\nWow!`no`, `!`x\n\
            !`git log -- \"$1\"` of $1\n!` ` and !`open\nend`";
        std::fs::write(project.join(".neco/commands/look.md"), text).unwrap();
        let look = find(&env, &project).into_iter().find(|command| command.custom.name == "look").unwrap();
        let text = |text: &str| CommandPart { text: text.to_owned(), run: None };
        let shell = |line: &str, set: &str| CommandPart { text: line.to_owned(), run: Some(format!("{set}{line}")) };
        assert_eq!(
            look.parts("it's $(id)"),
            [
                text("Status: "),
                shell("git status --short", ""),
                text("\nWow!`no`, `!`x\n"),
                shell("git log -- \"$1\"", "ARGUMENTS='it'\\''s $(id)'; set -- 'its $(id)'; "),
                text(" of its $(id)\n!` ` and !`open\nend`"),
            ]
        );
        assert_eq!(look.notes(), ["/look: `allowed-tools` at the top of its file has no effect"]);
        let ship = find(&env, &project).into_iter().find(|command| command.custom.name == "ship").unwrap();
        assert_eq!((ship.parts("!`id`"), ship.notes()), (Vec::new(), Vec::new()), "an argument is never run");
    }
}
