//! Every command of the documents, run as it stands there: in a home of its own, with a scripted model, without a network.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::json;

use crate::support::{House, Ran, call, say};

/// The commands that are not run here, by how they begin, and why. All of them are parsed by a test of the binary.
const NOT_RUN: &[(&str, &str)] = &[
    ("neco serve", "the tests of the server start it, and end it"),
    ("neco logs", "it follows what works in the background"),
    ("neco stop", "nothing works in the background"),
    ("neco -m \"update the dependencies", "it goes on in a server"),
    ("neco resume", "the list needs a terminal; tests of the window choose from it"),
    ("neco --model ollama/qwen3:8b --mode plan", "the window needs a terminal, and the model a server"),
    ("neco eval --only python", "the model needs a server"),
    ("neco eval eval-tasks.yaml", "the tests of evaluations run the example of its page"),
    ("neco workflow run delivery", "five agents answer in it; the tests of workflows play them"),
    ("neco workflow cancel", "the run of the line before it is completed, so nothing is left to cancel"),
    ("neco mcp serve --http", "it starts a server; the tests of servers at an address start one"),
    ("neco mcp login docs", "a server that wants a login; the tests of servers at an address log in"),
    ("neco mcp logout docs", "the same"),
    ("neco plugin", "none is there; the tests of plugins install, update, switch and remove one"),
    ("neco [OPTIONS]", "a synopsis"),
    ("neco COMMAND", "a synopsis"),
];

/// The commands that end otherwise than with 0 in the house of this test, with the exit code and the reason.
const ENDS_WITH: &[(&str, i32, &str)] = &[
    ("neco model test", 5, "the script answers, and does not call the tool of the test"),
    ("neco workflow resume", 2, "the run of the line before it is completed"),
];

/// What is added to commands that ask a person, by how they begin: nobody is there.
const ASKS: &[(&str, &str)] = &[("neco session rewind", " --yes")];

/// A house in which what the documents name exists: a repository, a session with two messages and its checkpoints, files.
struct Place {
    house: House,
    session: String,
    revisions: Vec<String>,
}

impl Place {
    fn new() -> Self {
        let house = House::empty();
        let turns = json!([
            call("write_file", json!({ "path": "a.txt", "content": "one\n" })),
            say("Written."),
            call("write_file", json!({ "path": "b.txt", "content": "two\n" })),
            say("Done."),
        ]);
        let script = house.path("script.json");
        fs::write(&script, json!({ "turns": turns, "loop_last": true }).to_string()).unwrap();
        house.configure(&format!(
            "model = \"play/a\"\napproval = \"auto\"\n[model_providers.play]\ntype = \"scripted\"\nscript = {script:?}\n[sessions]\nmodel_title = \
             false\n[memory]\nextract = false\n",
        ));
        let project = house.project();
        let case = "[[case]]\ntool = \"bash\"\ncommand = \"git push\"\nexpect = \"ask\"\n";
        fs::write(project.join("my-cases.toml"), case).unwrap();
        fs::write(project.join("ci.yaml"), "name: ci\ntasks:\n  - id: greet\n    command: echo hello\n").unwrap();
        let git = |words: &[&str]| {
            let who = ["-c", "user.name=Neco", "-c", "user.email=neco@localhost"];
            let ran = Command::new("git").args(who).args(words).current_dir(&project).envs(house.variables()).output();
            assert!(ran.unwrap().status.success(), "git {words:?}");
        };
        git(&["init", "-q"]);
        git(&["add", "."]);
        git(&["commit", "-q", "-m", "first"]);
        house.run(&["-m", "write a.txt"]).ended_with(0);
        house.run(&["-c", "-m", "and b.txt"]).ended_with(0);
        let session = house.run(&["session", "list", "--json"]).json()[0]["id"].as_str().unwrap().to_owned();
        let log = house.run(&["session", "log", &session, "--json"]);
        let revisions = log.events().iter().filter_map(|event| event["rev"].as_str().map(str::to_owned)).collect();
        Self { house, session, revisions }
    }

    /// The line with what is there in the place of what stands for it.
    fn filled(&self, line: &str) -> String {
        let (first, last) = (&self.revisions[0], self.revisions.last().unwrap());
        let filled = line.replace("ID A B", &format!("ID {first} {last}")).replace("51e6ceffb0", first);
        let filled = filled.replace(" ID", &format!(" {}", self.session));
        let agreed = ASKS.iter().find(|(begin, _)| line.starts_with(begin)).map_or("", |(_, yes)| yes);
        filled.replace(" c41f2", &format!(" {}", self.session)) + agreed
    }

    /// Runs a line in a shell whose `neco` is the binary.
    fn run(&self, line: &str) -> Ran {
        let bin = self.house.path("bin");
        if !bin.exists() {
            fs::create_dir(&bin).unwrap();
            symlink(env!("CARGO_BIN_EXE_neco"), bin.join("neco")).unwrap();
        }
        let mut command = assert_cmd::Command::new("sh");
        command.env_clear().envs(self.house.variables()).env("CI", "1").current_dir(self.house.project());
        command.env("PATH", format!("{}:{}", bin.display(), std::env::var("PATH").unwrap()));
        command.args(["-c", line]).write_stdin("sk-of-nobody-0123456789\n");
        Ran::of(&mut command)
    }
}

#[test]
fn every_command_of_the_documents_runs() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let works: Vec<_> = documents(&root).into_iter().map(|file| std::thread::spawn(move || play(&file))).collect();
    let (mut ran, mut failed) = (0, Vec::new());
    for work in works {
        let (lines, wrong) = work.join().unwrap();
        ran += lines;
        failed.extend(wrong);
    }
    assert!(failed.is_empty(), "{}", failed.join("\n\n"));
    assert!(ran >= 25, "only {ran} commands were run");
}

/// Runs the commands of a document, one after the other; gives how many, and those that went wrong.
fn play(file: &Path) -> (usize, Vec<String>) {
    let mut lines = commands(&fs::read_to_string(file).unwrap());
    lines.retain(|line| !NOT_RUN.iter().any(|(begin, _)| line.starts_with(begin)));
    if lines.is_empty() {
        return (0, Vec::new());
    }
    let mut wrong = Vec::new();
    let mut place = Place::new();
    for line in &lines {
        let code = ENDS_WITH.iter().find(|(begin, ..)| line.starts_with(begin)).map_or(0, |(_, code, _)| *code);
        // Removed again: what a line of a document sets is not for the next one.
        let config = fs::read_to_string(place.house.path("home/config.toml")).unwrap();
        let ran = place.run(&place.filled(line));
        place.house.configure(&config);
        if let Some(run) = ran.stdout.lines().find_map(|line| line.strip_prefix("{\"workflow_id\":\"")) {
            place.session = run.split('"').next().unwrap().to_owned();
        }
        if ran.code != code {
            wrong.push(format!("{}: {line}: {}\n{}{}", file.display(), ran.code, ran.stdout, ran.stderr));
        }
    }
    (lines.len(), wrong)
}

#[test]
fn commands_are_found_in_documents() {
    let text = "`neco a b`\n```\nneco -m \"x y\"   says so\ngit diff | neco -p z # ok\nls\nneco -m x > y.md\nneco      opens it\n```\n";
    assert_eq!(commands(text), ["neco -m \"x y\"", "git diff | neco -p z", "neco -m x > y.md", "neco"]);
}

fn documents(root: &Path) -> Vec<PathBuf> {
    let mut found = vec![root.join("README.md")];
    for folder in ["docs", "docs/reference", "docs/safety"] {
        let entries = fs::read_dir(root.join(folder)).unwrap().map(|entry| entry.unwrap().path());
        found.extend(entries.filter(|path| path.extension().is_some_and(|ending| ending == "md")));
    }
    found
}

/// The command lines in the code blocks of a document, without what is said of them behind two blanks or a `#`.
fn commands(text: &str) -> Vec<String> {
    let (mut in_code, mut found) = (false, Vec::new());
    for line in text.lines() {
        if line.trim_start().starts_with("```") {
            in_code = !in_code;
            continue;
        }
        let line = line.split("  ").next().unwrap().split(" # ").next().unwrap().trim();
        // What is not on every machine is left out.
        let line = line.split(" | jq").next().unwrap();
        let is_ours = line == "neco" || line.starts_with("neco ") || line.contains("| neco ");
        found.extend((in_code && is_ours).then(|| line.to_owned()));
    }
    found
}
