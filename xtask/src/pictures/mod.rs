//! `cargo xtask pictures`: the pictures of the window in the documents, made from a real run.
//!
//! Reading order: [`terminal`] (the binary in a terminal), [`svg`] (a screen as a picture).

mod svg;
mod terminal;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};

use anyhow::{Context, Result, bail};
use serde_json::json;

use crate::cargo::{cargo, target};
use terminal::Terminal;

/// Where they are kept.
const FOLDER: &str = "docs/pictures";

/// What is asked for on the picture.
const TASK: &str = "Uploads of empty files fail. Find out why and fix it.";

/// The file with the defect.
const SOURCE: &str = "\
use crate::store::{Part, Store};

/// Sends a file in parts.
pub fn upload(store: &Store, name: &str, bytes: &[u8]) -> Result<(), Error> {
    let parts: Vec<&[u8]> = bytes.chunks(PART_SIZE).collect();
    let last = parts.len() - 1;
    for (number, part) in parts.iter().enumerate() {
        store.put_part(name, Part::new(number, part, number == last))?;
    }
    Ok(())
}
";

/// The colours of a terminal: its name, and what it answers when it is asked for its ground.
pub struct Colours {
    name: &'static str,
    ground: &'static str,
    ink: &'static str,
}

const COLOURS: [Colours; 2] = [
    Colours { name: "dark", ground: "#14110f", ink: "#ece9e5" },
    Colours { name: "light", ground: "#fdfbf8", ink: "#22201d" },
];

/// Builds the release binary, unless one is given, and writes every picture.
pub fn write(root: &Path, binary: Option<&str>) -> Result<ExitCode> {
    let binary = match binary {
        Some(path) => fs::canonicalize(path).with_context(|| path.to_owned())?,
        None => built(root)?,
    };
    for colours in &COLOURS {
        let screen = approval(&binary, colours)?;
        let path = root.join(FOLDER).join(format!("window-{}.svg", colours.name));
        fs::create_dir_all(root.join(FOLDER))?;
        fs::write(&path, svg::picture(&screen, colours.ground, colours.ink))?;
        println!("{}", path.display());
    }
    Ok(ExitCode::SUCCESS)
}

fn built(root: &Path) -> Result<PathBuf> {
    if !cargo(root).args(["build", "--release", "--package", "neco"]).status()?.success() {
        bail!("the release binary was not built");
    }
    Ok(target(root)?.join("release/neco"))
}

/// A request, what was done for it, and a question.
fn approval(binary: &Path, colours: &Colours) -> Result<vt100::Screen> {
    let house = tempfile::tempdir()?;
    let home = house.path().join("home");
    let project = home.join("uploader");
    fs::create_dir_all(home.join(".config/neco"))?;
    fs::create_dir_all(project.join("src"))?;
    fs::write(project.join("src/upload.rs"), SOURCE)?;
    let git = |words: &[&str]| {
        let who = ["-c", "user.name=Neco", "-c", "user.email=neco@localhost"];
        Command::new("git").args(who).args(words).current_dir(&project).output()
    };
    for words in [&["init", "-q", "-b", "main"][..], &["add", "."], &["commit", "-q", "-m", "uploads in parts"]] {
        git(words).context("git is needed for the picture")?;
    }
    let script = house.path().join("script.json");
    fs::write(&script, script_of_the_model().to_string())?;
    let settings = format!(
        "model = \"demo/coder\"\n[model_providers.demo]\ntype = \"scripted\"\nscript = {script:?}\n[sessions]\n\
         model_title = false\n[memory]\nextract = false\n"
    );
    fs::write(home.join(".config/neco/config.toml"), settings)?;
    let mut window = Terminal::start(binary, &home, &project, colours)?;
    window.wait_for("Ask, or say")?;
    window.press(TASK)?.press("\r")?;
    window.wait_for("checked_sub")?;
    window.rest();
    window.press("y")?;
    window.wait_for("cargo test upload")?;
    window.rest();
    Ok(window.screen())
}

fn script_of_the_model() -> serde_json::Value {
    let call = |name: &str, arguments: serde_json::Value| json!({ "name": name, "arguments": arguments });
    let edit = json!({
        "path": "src/upload.rs",
        "old_string": "    let last = parts.len() - 1;\n",
        "new_string": "    let Some(last) = parts.len().checked_sub(1) else {\n        return store.put_empty(name);\n    };\n",
    });
    let turns = json!([
        {
            "say": "I look at how files are cut into parts.",
            "calls": [
                call("read_file", json!({ "path": "src/upload.rs" })),
                call("grep", json!({ "pattern": "fn put_", "path": "src" })),
            ],
        },
        {
            "say": "An empty file has no parts, so `parts.len() - 1` overflows. It needs an upload of its own.",
            "calls": [call("edit_file", edit)],
        },
        { "say": "Now the tests.", "calls": [call("bash", json!({ "command": "cargo test upload" }))] },
        { "say": "Fixed." },
    ]);
    json!({ "turns": turns })
}
