//! Tools that are scripts, in files of their own: a script with a head in its comments, or a TOML file that names one.
//!
//! The head has the form of Python's inline metadata, so that programs which know that leave it alone:
//!
//! ```text
//! # /// tool
//! # description = "Counts lines"
//! # [parameters.properties.path]
//! # type = "string"
//! # ///
//! ```

use std::fs;
use std::path::{Path, PathBuf};

use crate::check::check;
use crate::decode::decode_section;
use crate::env::Env;
use crate::find::{origin_of, read_text, same_folder, stays_in};
use crate::layer::{Node, Value, parse};
use crate::notice::{Findings, Notice};
use crate::origin::{Layer, Origin};
use crate::policy_files::project_folders;
use crate::section::ScriptedToolSection;
use crate::shape::known;

/// The section of these tools in our own settings.
const SECTION: &str = "scripted_tools";

/// Where the files are, below the folder of settings and below `.neco`.
const FOLDER: &str = "tools";

/// The lines around a head, behind the mark of a comment.
const OPENS: &str = "/// tool";
const CLOSES: &str = "///";

/// Lines of a file within which a head begins.
const HEAD_LINES: usize = 50;

/// Files of one folder that are looked at.
const MOST: usize = 200;

/// How names of files end, what begins a comment in them, and what runs them.
const KINDS: [(&str, &str, &str); 6] = [
    ("sh", "#", "shell"),
    ("bash", "#", "shell"),
    ("py", "#", "python"),
    ("js", "//", "javascript"),
    ("mjs", "//", "javascript"),
    ("cjs", "//", "javascript"),
];

/// A file that describes a tool.
#[derive(Clone, Debug, PartialEq)]
pub struct ToolFile {
    /// The file.
    pub path: PathBuf,
    /// How its path is shown to people.
    pub shown: String,
    /// The whole text of it.
    pub text: String,
    /// What it says of the tool; without a `script` it is the script itself.
    pub section: ScriptedToolSection,
    /// The folder that brings it; none for the user's own.
    pub folder: Option<PathBuf>,
}

/// The files of tools for work in `cwd`: the user's own, those of `more` folders, then those of the nearest folder first;
/// and what is to be said of them. A script without a head is no tool.
pub fn tool_files<'a>(
    env: &Env,
    cwd: &Path,
    more: impl IntoIterator<Item = &'a PathBuf>,
) -> (Vec<ToolFile>, Vec<Notice>) {
    let (mut files, mut findings) = (Vec::new(), Findings::default());
    let own = env.config_dir().join(FOLDER);
    read_folder(env, &own, None, (&mut files, &mut findings));
    for place in more {
        read_folder(env, place, None, (&mut files, &mut findings));
    }
    for folder in project_folders(cwd).iter().rev() {
        let place = folder.join(".neco").join(FOLDER);
        // With `NECO_HOME=~/.neco` the user's own lie where a project's would.
        if !same_folder(&place, &own) {
            read_folder(env, &place, Some(folder), (&mut files, &mut findings));
        }
    }
    (files, told(findings))
}

/// The files of tools in these folders alone, which are the user's own.
pub fn tool_files_in<'a>(env: &Env, places: impl IntoIterator<Item = &'a PathBuf>) -> (Vec<ToolFile>, Vec<Notice>) {
    let (mut files, mut findings) = (Vec::new(), Findings::default());
    places.into_iter().for_each(|place| read_folder(env, place, None, (&mut files, &mut findings)));
    (files, told(findings))
}

fn told(findings: Findings) -> Vec<Notice> {
    let left_out = |problem: Notice| Notice { message: format!("left out: {}", problem.message), ..problem };
    findings.warnings.into_iter().chain(findings.problems.into_iter().map(left_out)).collect()
}

fn read_folder(env: &Env, place: &Path, folder: Option<&Path>, (files, findings): (&mut Vec<ToolFile>, &mut Findings)) {
    // A link of a repository may lead anywhere.
    if folder.is_some_and(|folder| !stays_in(place, folder)) {
        return;
    }
    let Ok(entries) = fs::read_dir(place) else { return };
    let counts = |entry: &fs::DirEntry| folder.is_none() || entry.file_type().is_ok_and(|kind| kind.is_file());
    let paths = entries.flatten().filter(counts).map(|entry| entry.path());
    let mut paths: Vec<PathBuf> = paths.filter(|path| kind(path).is_some()).collect();
    paths.sort();
    let layer = if folder.is_some() { Layer::Project } else { Layer::User };
    if paths.len() > MOST {
        let words =
            format!("has more than {MOST} files that may be tools: those after them in the alphabet are left out");
        findings.warnings.push(Notice::about(&origin_of(env, layer, place), words));
    }
    for path in paths.into_iter().take(MOST) {
        let origin = origin_of(env, layer, &path);
        let read = match read_text(&path, &origin) {
            Some(Ok(text)) => {
                read_tool(&path, &text, &origin, findings).map(|read| read.map(|section| (section, text)))
            }
            Some(Err(problem)) => Err(problem),
            None => Ok(None),
        };
        match read {
            Ok(Some((section, text))) => {
                let (shown, folder) = (env.shown(&path), folder.map(Path::to_owned));
                files.push(ToolFile { path, shown, text, section, folder });
            }
            Ok(None) => {}
            Err(problem) => findings.problems.push(problem),
        }
    }
}

/// What kind of file it is: what begins a comment in it and what runs it, or a file of TOML.
enum FileKind {
    Script(&'static str, &'static str),
    Toml,
}

fn kind(path: &Path) -> Option<FileKind> {
    let ending = path.extension()?.to_str()?;
    if ending == "toml" {
        return Some(FileKind::Toml);
    }
    KINDS.iter().find(|(known, ..)| *known == ending).map(|(_, comment, runs)| FileKind::Script(comment, runs))
}

/// What a file says of its tool; nothing where it describes none.
fn read_tool(
    path: &Path,
    text: &str,
    origin: &Origin,
    findings: &mut Findings,
) -> Result<Option<ScriptedToolSection>, Notice> {
    let (head, runs) = match kind(path) {
        Some(FileKind::Toml) => (Some(text.to_owned()), None),
        Some(FileKind::Script(comment, runs)) => (head(text, comment, origin)?, Some(runs)),
        None => (None, None),
    };
    let Some(head) = head else { return Ok(None) };
    let mut tool = parse(&head, origin)?;
    let name = path.file_stem().and_then(|stem| stem.to_str()).unwrap_or_default();
    add(&mut tool, &["name"], name, origin);
    if let Some(runs) = runs {
        add(&mut tool, &["script_type", "type"], runs, origin);
    } else if tool.get(&["script"]).is_none() {
        return Err(Notice::about(origin, "it has no `script`"));
    }
    let mut layer = Node::new(Value::List(vec![tool]), origin.clone()).below(&[SECTION.to_owned()]);
    let mut own = Findings::default();
    check(&mut layer, known(), &mut own);
    findings.warnings.extend(own.warnings);
    if let Some(problem) = own.problems.into_iter().next() {
        return Err(problem);
    }
    match layer.get(&[SECTION]).map(|tools| &tools.value) {
        Some(Value::List(tools)) => tools.first().map(decode_section).transpose(),
        Some(_) | None => Ok(None),
    }
}

/// Says something that the file leaves unsaid under all of these names.
fn add(tool: &mut Node, names: &[&str], said: &str, origin: &Origin) {
    let Value::Table(entries) = &mut tool.value else { return };
    if let Some(name) = names.first().filter(|_| !names.iter().any(|name| entries.contains_key(*name))) {
        let node = Node::new(Value::Text(said.to_owned()), origin.clone());
        entries.insert((*name).to_owned(), Box::new(node));
    }
}

/// The head of a script as TOML, its lines where they are in the file; nothing where there is none.
/// Fails when it does not end.
fn head(text: &str, comment: &str, origin: &Origin) -> Result<Option<String>, Notice> {
    let said = |line: &str| line.strip_prefix(comment).map(str::trim).map(str::to_owned);
    let Some(first) = text.lines().take(HEAD_LINES).position(|line| said(line).as_deref() == Some(OPENS)) else {
        return Ok(None);
    };
    let mut head = "\n".repeat(first + 1);
    for line in text.lines().skip(first + 1) {
        match line.strip_prefix(comment) {
            Some(rest) if rest.trim() == CLOSES => return Ok(Some(head)),
            Some(rest) => head.push_str(rest.strip_prefix(' ').unwrap_or(rest)),
            None => break,
        }
        head.push('\n');
    }
    Err(Notice::about(origin, format!("its head has no end: a line `{comment} {CLOSES}`")))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::section::ScriptType;

    fn read(files: &[(&str, &str)]) -> (Vec<ToolFile>, Vec<String>) {
        let home = tempfile::tempdir().unwrap();
        let project = home.path().join("project");
        for (path, text) in files {
            let path = project.join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        }
        let env = Env::for_test([], home.path());
        let (files, notices) = tool_files(&env, &project, []);
        (files, notices.iter().map(ToString::to_string).collect())
    }

    #[test]
    fn a_script_with_a_head_is_a_tool_and_one_without_is_none() {
        let head = "#!/usr/bin/env python3\n# /// tool\n# description = \"Counts\"\n# [parameters.properties]\n\
            # zebra = { type = \"string\" }\n#\n# ant = { type = \"integer\" }\n# ///\nprint(1)\n";
        let (tools, notices) = read(&[(".neco/tools/count.py", head), (".neco/tools/helper.py", "x = 1\n")]);
        assert_eq!((tools.len(), notices), (1, Vec::new()));
        let section = &tools[0].section;
        assert_eq!((section.name.as_str(), section.description.as_str()), ("count", "Counts"));
        assert_eq!((section.script_type, tools[0].text.as_str()), (ScriptType::Python, head));
        let names: Vec<&String> = section.parameters["properties"].as_object().unwrap().keys().collect();
        assert_eq!(names, ["zebra", "ant"], "in the order in which they are written");
    }

    #[test]
    fn a_file_of_toml_names_its_script() {
        let text = "name = 'other'\ntype = 'wasm'\nscript = 'a.wasm'\n";
        let (tools, notices) = read(&[(".neco/tools/a.toml", text), (".neco/tools/b.toml", "description = 'x'")]);
        let section = &tools[0].section;
        assert_eq!((section.name.as_str(), section.script_type), ("other", ScriptType::Wasm));
        assert!(tools.len() == 1 && notices.len() == 1, "{notices:?}");
        assert!(notices[0].contains("b.toml") && notices[0].ends_with("left out: it has no `script`"), "{notices:?}");
    }

    #[test]
    fn what_is_wrong_names_its_line() {
        let (tools, notices) = read(&[
            (".neco/tools/a.sh", "#!/bin/sh\n# /// tool\n# description = 7\n# ///\n"),
            (".neco/tools/b.js", "// /// tool\n// description = 'x'\nlet a\n"),
            (".neco/tools/c.sh", "# /// tool\n# descripton = 'x'\n# ///\n"),
        ]);
        assert_eq!(tools.len(), 1, "{tools:?}");
        assert!(notices[0].contains("c.sh:2") && notices[0].contains("description"), "{notices:?}");
        assert!(notices[1].contains("a.sh:3") && notices[2].contains("its head has no end"), "{notices:?}");
    }
}
