//! The checkers that are known: the built-in ones and those of the settings.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::time::Duration;

use neco_config::section::{CheckerSection, ToolsSection};
use neco_safety::world::Processes;
use neco_toolkit::ToolError;
use regex::Regex;

use super::parse::Format;
use crate::shell::interpreter::Interpreter;

/// A checker, wherever it is run.
#[derive(Clone, Debug)]
pub(super) struct Checker {
    pub(super) name: String,
    /// Files that mark a project that it is for; none stands for the workspace.
    pub(super) markers: Vec<String>,
    /// Endings of files that it is for; none stands for all.
    pub(super) endings: Vec<String>,
    pub(super) command: Command,
    /// How its output reads.
    pub(super) format: Format,
}

#[derive(Clone, Debug)]
pub(super) enum Command {
    /// A program, with where it may be found besides the path, and how it is got.
    Program {
        program: &'static str,
        /// Folders below that of the project, or of one above it, that it may be in.
        inside: &'static [&'static str],
        arguments: &'static [&'static str],
        /// Whether a single file can be checked; then it stands behind the arguments, and else `.` does.
        one_file: bool,
        /// What to do when it is not there.
        install: &'static str,
    },
    /// A line for the shell.
    Line(String),
}

/// All of them, with what holds for all.
#[derive(Debug)]
pub(super) struct Checkers {
    /// In the order in which they run.
    pub(super) list: Vec<Checker>,
    /// How long one may take.
    pub(super) time: Duration,
    /// What is wrong with the settings.
    pub(super) mistakes: Vec<String>,
    shell: String,
}

/// A checker in a project.
#[derive(Clone, Debug)]
pub(super) struct Check {
    pub(super) name: String,
    /// The folder of the project.
    pub(super) folder: PathBuf,
    /// What is run: a program and its arguments.
    pub(super) words: Vec<OsString>,
    /// The same as a line that a person and the policy read.
    pub(super) line: String,
    /// How its output reads.
    pub(super) format: Format,
}

impl Checkers {
    pub(super) fn new(settings: &ToolsSection) -> Self {
        let own = &settings.diagnostics;
        let mut list: Vec<Checker> =
            built_in().into_iter().filter(|one| !own.checkers.contains_key(&one.name)).collect();
        let mut mistakes = Vec::new();
        for (name, section) in &own.checkers {
            match of_section(name, section) {
                Ok(checker) => list.push(checker),
                Err(mistake) => mistakes.push(mistake.to_string()),
            }
        }
        list.retain(|checker| !own.off.contains(&checker.name));
        let time = Duration::try_from_secs_f64(own.timeout).ok().filter(|time| !time.is_zero());
        let shell = if settings.shell.is_empty() { "bash" } else { &settings.shell };
        Self { list, time: time.unwrap_or(Duration::from_secs(300)), mistakes, shell: shell.to_owned() }
    }

    /// A checker, ready to run in a folder; `file` is the one that is asked about, from that folder on.
    /// Fails when it is not installed, with what to do.
    pub(super) fn in_folder(
        &self,
        checker: &Checker,
        folder: &Path,
        roots: &[&Path],
        file: Option<&Path>,
        processes: &dyn Processes,
    ) -> Result<Check, ToolError> {
        let (words, line) = match &checker.command {
            Command::Program { program, inside, arguments, one_file, install } => {
                let found = find_program(program, inside, folder, roots, processes).ok_or_else(|| {
                    let marker = checker.markers.first().map_or("this project", String::as_str);
                    ToolError::failed(format!("{program} is not installed, but {marker} asks for it; {install}"))
                })?;
                let mut words = vec![found.clone().into_os_string()];
                words.extend(arguments.iter().map(OsString::from));
                if *one_file {
                    // With `./` no name is taken for an option.
                    words.push(
                        file.map_or_else(|| OsString::from("."), |file| Path::new(".").join(file).into_os_string()),
                    );
                }
                let line = shown(program, &found, folder, &words);
                (words, line)
            }
            Command::Line(line) => {
                let shell = Interpreter::find(&self.shell, processes)
                    .ok_or_else(|| ToolError::failed("there is no shell to run the checker"))?;
                (vec![shell.program.into_os_string(), OsString::from("-c"), OsString::from(line)], line.clone())
            }
        };
        let (name, format) = (checker.name.clone(), checker.format.clone());
        Ok(Check { name, folder: folder.to_path_buf(), words, line, format })
    }
}

fn built_in() -> Vec<Checker> {
    let words = |text: &str| text.split(' ').map(str::to_owned).collect();
    let checker = |name: &str, markers: &str, endings: &str, command, format| Checker {
        name: name.to_owned(),
        markers: words(markers),
        endings: words(endings),
        command,
        format,
    };
    const NODE: &[&str] = &["node_modules/.bin"];
    let cargo = Command::Program {
        program: "cargo",
        inside: &[],
        arguments: &["check", "--quiet", "--all-targets", "--message-format=json"],
        one_file: false,
        install: "install Rust, see https://rustup.rs",
    };
    let tsc = Command::Program {
        program: "tsc",
        inside: NODE,
        arguments: &["--noEmit", "--pretty", "false", "--project", "tsconfig.json"],
        one_file: false,
        install: "install it in the project with `npm install --save-dev typescript`, or all it depends on with `npm install`",
    };
    let eslint = Command::Program {
        program: "eslint",
        inside: NODE,
        arguments: &["--format", "json"],
        one_file: true,
        install: "install it in the project with `npm install --save-dev eslint`, or all it depends on with `npm install`",
    };
    let ruff = Command::Program {
        program: "ruff",
        inside: &[".venv/bin", "venv/bin"],
        arguments: &["check", "--output-format", "json-lines"],
        one_file: true,
        install: "install it with `pip install ruff` or `uv tool install ruff`",
    };
    let go = Command::Program {
        program: "go",
        inside: &[],
        arguments: &["vet", "-json", "./..."],
        one_file: false,
        install: "install Go, see https://go.dev/dl",
    };
    vec![
        checker("cargo", "Cargo.toml", "rs toml", cargo, Format::Cargo),
        checker("tsc", "tsconfig.json", "ts tsx mts cts json", tsc, Format::Tsc),
        checker(
            "eslint",
            "eslint.config.js eslint.config.mjs eslint.config.cjs eslint.config.ts .eslintrc.json .eslintrc.js \
             .eslintrc.cjs .eslintrc.yml .eslintrc.yaml .eslintrc",
            "js jsx mjs cjs ts tsx mts cts vue svelte",
            eslint,
            Format::Eslint,
        ),
        checker("ruff", "pyproject.toml ruff.toml .ruff.toml", "py pyi ipynb", ruff, Format::Ruff),
        checker("go", "go.mod", "go mod", go, Format::GoVet),
    ]
}

fn of_section(name: &str, section: &CheckerSection) -> Result<Checker, PatternError> {
    let named = built_in().into_iter().find(|one| one.name == name);
    let format = match (&section.pattern, &named) {
        (Some(pattern), _) => Format::Pattern(pattern_of(name, pattern)?),
        (None, Some(named)) => named.format.clone(),
        (None, None) => Format::Usual,
    };
    let or_named = |own: &[String], named: Option<&Vec<String>>| match (own.is_empty(), named) {
        (true, Some(named)) => named.clone(),
        (true, None) | (false, _) => own.to_vec(),
    };
    Ok(Checker {
        name: name.to_owned(),
        markers: or_named(&section.markers, named.as_ref().map(|named| &named.markers)),
        endings: or_named(&section.endings, named.as_ref().map(|named| &named.endings)),
        command: Command::Line(section.command.clone()),
        format,
    })
}

/// What is wrong with the pattern of a checker.
#[derive(Debug, thiserror::Error)]
enum PatternError {
    #[error("tools.diagnostics.checkers.{name}.pattern is no regular expression: {error}")]
    NotRegex { name: String, error: regex::Error },
    #[error("tools.diagnostics.checkers.{name}.pattern has no group (?<message>…)")]
    NoMessage { name: String },
}

fn pattern_of(name: &str, pattern: &str) -> Result<Regex, PatternError> {
    let regex = Regex::new(pattern).map_err(|error| PatternError::NotRegex { name: name.to_owned(), error })?;
    if regex.capture_names().flatten().any(|group| group == "message") {
        return Ok(regex);
    }
    Err(PatternError::NoMessage { name: name.to_owned() })
}

/// A program inside the project or one above it, else in the path.
fn find_program(
    program: &str,
    inside: &[&str],
    folder: &Path,
    roots: &[&Path],
    processes: &dyn Processes,
) -> Option<PathBuf> {
    let above = folder.ancestors().take_while(|above| roots.iter().any(|root| above.starts_with(root)));
    let local = above.flat_map(|above| inside.iter().map(move |place| above.join(place).join(program)));
    let mut local = local.filter_map(|path| processes.find_program(path.as_os_str()));
    local.next().or_else(|| processes.find_program(program.as_ref()))
}

/// The line that a person would type.
fn shown(program: &str, found: &Path, folder: &Path, words: &[OsString]) -> String {
    let first = found.strip_prefix(folder).map_or_else(
        |_| if is_local(found) { found.display().to_string() } else { program.to_owned() },
        |below| below.display().to_string(),
    );
    let rest = words.iter().skip(1).map(|word| word.to_string_lossy().into_owned());
    std::iter::once(first).chain(rest).map(|word| quoted(&word)).collect::<Vec<_>>().join(" ")
}

/// Whether a program belongs to a project and not to the machine.
fn is_local(found: &Path) -> bool {
    found.components().any(|part| matches!(part.as_os_str().to_str(), Some("node_modules" | ".venv" | "venv")))
}

/// A word as the shell reads it.
pub(super) fn quoted(word: &str) -> String {
    let plain = |char: char| char.is_ascii_alphanumeric() || "-_./=:,@%+".contains(char);
    if !word.is_empty() && word.chars().all(plain) {
        word.to_owned()
    } else {
        format!("'{}'", word.replace('\'', r"'\''"))
    }
}
