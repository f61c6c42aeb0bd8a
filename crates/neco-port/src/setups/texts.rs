//! Commands, agents, skills, rules and memory: files of text that are copied where Neco does not read them in place.

use std::path::{Path, PathBuf};

use neco_proto::app::port::Program;
use neco_proto::app::setups::SetupKind;

use super::piece::{Level, NewFile, NewMemory, Take};
use super::reading::{Reading, Source, name_of};

/// Folders within folders.
const DEPTH: usize = 4;
/// Bytes of one text.
const MOST_TEXT: u64 = 64 * 1024;
/// Bytes of one file that is remembered.
const MOST_REMEMBERED: u64 = 128 * 1024;

/// Characters of one entry of the memory, so that it still grows there.
const LONGEST_ENTRY: usize = 12 * 1024;

/// Why a link is not followed.
const LINK: &str = "it is a link, which is not followed; copy what it leads to yourself";

/// Copies the Markdown files of a folder to a folder of Neco, such as `commands`.
pub(super) fn markdown(reading: &mut Reading, kind: SetupKind, from: Source<'_>, to: &str) {
    markdown_with(reading, kind, from, to, |text| (text, None));
}

/// The same with each text as it is here, and what is to be said of it.
pub(super) fn markdown_with(
    reading: &mut Reading,
    kind: SetupKind,
    from: Source<'_>,
    to: &str,
    here: fn(String) -> (String, Option<&'static str>),
) {
    for (file, relative) in files_below(reading, from, "md", DEPTH) {
        let source = Source { file: &file, ..from };
        let name = relative.with_extension("").to_string_lossy().replace('/', ":");
        let Some(content) = plain_text(reading, kind, &name, source, MOST_TEXT) else { continue };
        let (content, words) = here(content);
        copy(reading, kind, &name, source, (&Path::new(to).join(&relative), &content), words.as_slice());
    }
}

/// A text with fields at its top, those that are given.
pub(super) fn headed(fields: &[(&str, Option<&str>)], body: &str) -> String {
    let line = |(name, value): &(&str, Option<&str>)| {
        value.map(|value| format!("{name}: {}\n", serde_json::Value::from(value)))
    };
    let head: String = fields.iter().filter_map(line).collect();
    let body = format!("{}\n", body.trim_end());
    if head.is_empty() { body } else { format!("---\n{head}---\n{body}") }
}

/// Adds a text that is written inside of settings, as a file of Neco's.
pub(super) fn inline(
    reading: &mut Reading,
    kind: SetupKind,
    name: &str,
    from: Source<'_>,
    to: (&str, &str),
    words: &[&str],
) {
    let (folder, content) = to;
    if !is_file_name(name) {
        return reading.refuse(kind, name, from, "its name can't be that of a file");
    }
    copy(reading, kind, name, from, (&Path::new(folder).join(format!("{name}.md")), content), words);
}

/// Copies one file of rules for the model, under another name.
pub(super) fn rules(reading: &mut Reading, from: Source<'_>, name: &str) {
    if !from.file.exists() {
        return;
    }
    let shown = name_of(from.file);
    let Some(content) = plain_text(reading, SetupKind::Rules, &shown, from, MOST_TEXT) else { return };
    if !content.trim().is_empty() {
        let to = Path::new("rules").join(format!("{name}.md"));
        copy(reading, SetupKind::Rules, &shown, from, (&to, &content), &[]);
    }
}

/// Takes the skills of a folder, each a folder with `SKILL.md` in it.
pub(super) fn skills(reading: &mut Reading, from: Source<'_>) {
    for folder in reading.entries(from) {
        let name = name_of(&folder);
        let source = Source { file: &folder, ..from };
        // What an agent brings along itself begins with a dot.
        if name.starts_with('.') || !folder.join("SKILL.md").is_file() {
            continue;
        }
        if !is_link(&folder) {
            reading.add(SetupKind::Skill, name, source, Take::Skill(from.level, folder.clone()), Vec::new());
        } else if from.level == Level::Person && reading.reads_in_place(&folder) {
            reading.add(SetupKind::Skill, name, source, Take::InPlace, Vec::new());
        } else {
            reading.refuse(SetupKind::Skill, name, source, LINK);
        }
    }
}

/// The text of a file that something else is made of; what can't be read is told.
pub(super) fn text(reading: &mut Reading, kind: SetupKind, from: Source<'_>) -> Option<String> {
    plain_text(reading, kind, &name_of(from.file), from, MOST_TEXT)
}

/// A text in parts of at most so many characters, divided between lines where that is possible.
fn parts(text: &str, most: usize) -> Vec<String> {
    let (mut parts, mut part, mut count) = (Vec::new(), String::new(), 0);
    for line in text.split_inclusive('\n') {
        if count + line.chars().count() > most && !part.trim().is_empty() {
            parts.push(std::mem::take(&mut part));
            count = 0;
        }
        for char in line.chars() {
            if count == most {
                parts.push(std::mem::take(&mut part));
                count = 0;
            }
            part.push(char);
            count += 1;
        }
    }
    parts.push(part);
    parts.into_iter().map(|part| part.trim().to_owned()).filter(|part| !part.is_empty()).collect()
}

/// Remembers a file; what is longer than an entry can be becomes several.
pub(super) fn remember(reading: &mut Reading, from: Source<'_>, title: &str, folder: Option<&Path>) {
    let name = name_of(from.file);
    if !from.file.is_file() {
        return;
    }
    let Some(content) = plain_text(reading, SetupKind::Memory, &name, from, MOST_REMEMBERED) else { return };
    let parts = parts(&content, LONGEST_ENTRY);
    let count = parts.len();
    for (content, number) in parts.into_iter().zip(1..) {
        let part = if count > 1 { format!(" ({number} of {count})") } else { String::new() };
        let memory = NewMemory { title: format!("{title}{part}"), content, folder: folder.map(Path::to_owned) };
        reading.add(SetupKind::Memory, format!("{name}{part}"), from, Take::Remember(memory), Vec::new());
    }
}

/// Adds the sessions that an agent has, if there are any.
pub(super) fn sessions(reading: &mut Reading, program: Program) {
    let homes = &reading.places.homes;
    let files = Some(homes.files(program, None).len()).filter(|count| *count > 0).map(|count| count.to_string());
    let databases = homes.databases(program).iter().map(|file| name_of(file)).next();
    let folder = homes.folder(program);
    if let Some(name) = files.or(databases) {
        reading.add(SetupKind::Sessions, name, Source::person(&folder), Take::Sessions(program), Vec::new());
    }
}

/// Files of an ending, with their paths below the folder. What is not looked at is told.
pub(super) fn files_below(
    reading: &mut Reading,
    from: Source<'_>,
    ending: &str,
    depth: usize,
) -> Vec<(PathBuf, PathBuf)> {
    let mut found = Vec::new();
    for entry in reading.entries(from) {
        below(reading, Source { file: &entry, ..from }, depth, &mut found);
    }
    found.retain(|file| file.extension().is_some_and(|own| own.eq_ignore_ascii_case(ending)));
    let pair = |file: PathBuf| file.strip_prefix(from.file).ok().map(|relative| (file.clone(), relative.to_owned()));
    found.into_iter().filter_map(pair).collect()
}

/// All files below a folder, and links to files, which are not followed.
fn below(reading: &mut Reading, from: Source<'_>, depth: usize, found: &mut Vec<PathBuf>) {
    let path = from.file;
    if !path.is_dir() {
        found.push(path.to_owned());
    } else if is_link(path) {
        reading.refuse(SetupKind::File, name_of(path), from, LINK);
    } else if let Some(depth) = depth.checked_sub(1) {
        for entry in reading.entries(from) {
            below(reading, Source { file: &entry, ..from }, depth, found);
        }
    } else {
        reading.leave(SetupKind::File, name_of(path), from, "it lies too deep; copy what is in it yourself");
    }
}

fn is_link(path: &Path) -> bool {
    path.symlink_metadata().is_ok_and(|facts| facts.is_symlink())
}

/// Whether a text is not taken, which is told: it is a link, or has more than fits.
fn is_refused(reading: &mut Reading, kind: SetupKind, name: &str, from: Source<'_>, most: u64) -> bool {
    let why = match from.file.symlink_metadata() {
        Ok(facts) if facts.is_symlink() => LINK.to_owned(),
        Ok(facts) if facts.len() > most => format!("it has more than {} KB", most / 1024),
        Ok(_) | Err(_) => return false,
    };
    reading.refuse(kind, name, from, &why);
    true
}

fn plain_text(reading: &mut Reading, kind: SetupKind, name: &str, from: Source<'_>, most: u64) -> Option<String> {
    if is_refused(reading, kind, name, from, most) { None } else { reading.text(from) }
}

/// Adds a file with this text.
fn copy(reading: &mut Reading, kind: SetupKind, name: &str, from: Source<'_>, to: (&Path, &str), words: &[&str]) {
    let (path, content) = to;
    let file = NewFile { path: path.to_owned(), content: content.to_owned() };
    let words = words.iter().copied().map(str::to_owned).collect();
    reading.add(kind, name, from, Take::File(from.level, file), words);
}

/// Whether a name that somebody wrote can be that of a file.
fn is_file_name(name: &str) -> bool {
    let is_letter = |char: char| char.is_alphanumeric() || matches!(char, '-' | '_' | '.');
    !name.starts_with('.') && name.len() <= 100 && !name.is_empty() && name.chars().all(is_letter)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_text_is_divided_between_lines_and_nothing_is_lost() {
        assert_eq!(parts("a\nb\n", 10), ["a\nb"]);
        assert_eq!(parts("aaaa\nbbbb\ncc\n", 6), ["aaaa", "bbbb", "cc"]);
        assert_eq!(parts("äääääääää", 4), ["ääää", "ääää", "ä"]);
        assert_eq!(parts(" \n\n", 4), [""; 0]);
        let long = "words and words\n".repeat(1000);
        let parts = parts(&long, 500);
        assert!(parts.iter().all(|part| part.chars().count() <= 500));
        assert_eq!(parts.join("\n"), long.trim());
    }

    #[test]
    fn names_lead_nowhere() {
        for name in ["", ".", "..", "../x", "a/b", ".x", "a\nb", "a b"] {
            assert!(!is_file_name(name), "{name:?}");
        }
        assert!(is_file_name("fix-bug_2.v1"));
    }

    #[test]
    fn fields_that_are_given_stand_at_the_top() {
        assert_eq!(headed(&[("description", Some("a: b")), ("x", None)], "c"), "---\ndescription: \"a: b\"\n---\nc\n");
        assert_eq!(headed(&[("x", None)], "c\n\n"), "c\n");
    }
}
