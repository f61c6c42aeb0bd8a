//! `neco init`: a rules file for the folder, written by the model from what is there, or a short one to begin with.

use std::path::Path;

use clap::Args;
use neco_config::Env;
use neco_view::wording::prompts;

use crate::args::{EverywhereArgs, RunArgs};
use crate::exit::Exit;
use crate::failure::Failure;
use crate::say;

/// The file that agents of all makers read.
const FILE: &str = "AGENTS.md";

/// What a folder is built with: a file that shows it, and the commands.
const BUILDS: &[(&str, &[&str])] = &[
    ("Cargo.toml", &["cargo build", "cargo test", "cargo clippy --all-targets", "cargo fmt"]),
    ("package.json", &["npm install", "npm test", "npm run build"]),
    ("pyproject.toml", &["pip install -e .", "pytest"]),
    ("go.mod", &["go build ./...", "go test ./...", "go vet ./..."]),
    ("pom.xml", &["mvn package", "mvn test"]),
    ("build.gradle", &["./gradlew build", "./gradlew test"]),
    ("CMakeLists.txt", &["cmake -B build", "cmake --build build", "ctest --test-dir build"]),
    ("Makefile", &["make", "make test"]),
];

/// `neco init …`
#[derive(Clone, Debug, Default, Args)]
pub struct InitArgs {
    /// Writes a short file to begin with, without a model
    #[arg(long)]
    pub starter: bool,
    /// How the model is asked
    #[command(flatten)]
    pub run: RunArgs,
}

/// Asks for a rules file, or writes the first lines of one.
///
/// # Errors
/// When it can't be written, or the request can't begin.
pub fn run(args: &InitArgs, everywhere: &EverywhereArgs, env: &Env) -> Result<Exit, Failure> {
    if args.starter {
        return start(&crate::folder(everywhere)?);
    }
    let asked = prompts::init(&args.run.message().unwrap_or_default());
    let mut run = RunArgs { words: vec![asked], message: None, ..args.run.clone() };
    // Who asks for this file has said yes to writing it.
    run.rules.allow.push(format!("edit({FILE})"));
    crate::converse(&run, everywhere, env)
}

fn start(folder: &Path) -> Result<Exit, Failure> {
    let file = folder.join(FILE);
    let written = std::fs::File::create_new(&file).and_then(|mut made| {
        let name = folder.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
        std::io::Write::write_all(&mut made, text(&name, |name| folder.join(name).exists()).as_bytes())
    });
    match written {
        Ok(()) => {
            say::out(&format!("{} written; fill in what is between < and >\n", file.display()))?;
            Ok(Exit::Done)
        }
        Err(error) if error.kind() == std::io::ErrorKind::AlreadyExists => {
            Err(Failure::usage(format!("{} is there already", file.display()))
                .hint("`neco init` lets the model improve it."))
        }
        Err(error) => Err(Failure::new(Exit::Failed, format!("{} can't be written: {error}", file.display()))),
    }
}

fn text(name: &str, has: impl Fn(&str) -> bool) -> String {
    let found = BUILDS.iter().filter(|(file, _)| has(file)).flat_map(|(_, commands)| commands.iter().copied());
    let commands: Vec<&str> = found.collect();
    let commands = if commands.is_empty() { "<how it is built and tested>".to_owned() } else { commands.join("\n") };
    format!(
        "# {name}\n\n<What it is, in a sentence or two.>\n\n## Commands\n\n```\n{commands}\n```\n\n\
         ## Layout\n\n- <folder>: <what is in it>\n\n## Conventions\n\n- <what is held here and is not plain from the code>\n"
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_commands_of_what_is_there_are_named() {
        let rust = text("a", |name| name == "Cargo.toml");
        assert!(rust.starts_with("# a\n") && rust.contains("cargo test") && !rust.contains("npm"), "{rust}");
        assert!(text("a", |_| false).contains("<how it is built and tested>"));
    }
}
