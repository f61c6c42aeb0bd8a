//! What is found for requests as people write them, judged on this repository.

use std::collections::HashMap;
use std::path::Path;
use std::process::Command;
use std::time::Instant;

use neco_safety::path::{Access, Located};
use neco_safety::world::Files;
use neco_workspace::index::{Index, Patient, Piece, fitting, fitting_by_names};

/// This file has the requests word by word.
fn elsewhere(path: &Path) -> bool {
    !path.ends_with("judged.rs")
}

/// Requests, and the files that whoever works on them reads or edits; none for those that are about no file.
const REQUESTS: &[(&str, &[&str])] = &[
    (
        "The guard against loops flags calls that are only alike. Make the likeness of arguments stricter for paths.",
        &["guards/likeness.rs", "guards/loops.rs"],
    ),
    (
        "When a rewind goes back past a compaction, are the rules of folders told again?",
        &["fold/conversation.rs", "runner/conversation.rs", "rewind/history.rs"],
    ),
    ("Why does `parse_line` treat a trailing backslash as an error?", &[]),
    (
        "Add a retry-after header with fractions of a second to how 429 answers are read",
        &["http/retry_after.rs", "http/failure.rs", "group/retry.rs", "neco-model/src/http", "neco-model/src/group"],
    ),
    ("fix the typo in crates/neco-session/src/memory/recall.rs", &["memory/recall.rs"]),
    (
        "The status line shows the wrong percentage of the context window after switching the model",
        &["neco-tui/src/view", "neco-tui/src/app", "status"],
    ),
    ("Rename Telling::refuses_path to Telling::closes", &["policy/closed.rs"]),
    (
        "background processes should be killed when the session ends, also those that started others",
        &["spawn", "shell/background.rs", "shell/process.rs"],
    ),
    (
        "export a session to Markdown without the outputs of tools",
        &["neco-port/src/export", "paint/markdown", "cmd/session", "paint/document.rs"],
    ),
    ("where is the bash command line parsed and how are here-documents handled?", &["neco-safety/src/command"]),
    ("hello! what can you do?", &[]),
    ("write me a poem about autumn in Vienna", &[]),
    ("Now do the same for the other one, please, and run the tests", &[]),
];

fn repository() -> Located {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize().unwrap();
    Files::new(&root, Vec::new()).unwrap().locate(".", Access::Read).unwrap()
}

/// Below the folder of the build, so that it is built once.
fn index(root: &Located) -> Index {
    let index = Index::new(&Path::new(env!("CARGO_TARGET_TMPDIR")).join("judged"), root.clone()).followed();
    index.refresh(&Patient).unwrap();
    index
}

fn shown(piece: &Piece) -> String {
    format!("{}:{}-{}", piece.path.display(), piece.first_line, piece.last_line)
}

/// How many requests got something, how many pieces there were, and how many of these are right.
#[derive(Debug, Default)]
struct Figures {
    answered: usize,
    right_requests: usize,
    pieces: usize,
    right: usize,
    lines: usize,
    slowest_ms: u128,
}

impl Figures {
    fn take(&mut self, pieces: &[Piece], is_right: &dyn Fn(&Path) -> bool, began: Instant) {
        self.slowest_ms = self.slowest_ms.max(began.elapsed().as_millis());
        let right = pieces.iter().filter(|piece| is_right(&piece.path)).count();
        self.answered += usize::from(!pieces.is_empty());
        self.right_requests += usize::from(right > 0);
        self.pieces += pieces.len();
        self.right += right;
        self.lines += pieces.iter().map(|piece| (piece.last_line - piece.first_line) as usize + 1).sum::<usize>();
    }
}

#[test]
#[ignore = "prints figures"]
fn requests_on_this_repository() {
    let root = repository();
    let index = index(&root);
    let (mut by_index, mut by_names) = (Figures::default(), Figures::default());
    for (request, right) in REQUESTS {
        let is_right = |path: &Path| right.iter().any(|part| path.to_string_lossy().contains(part));
        let began = Instant::now();
        let pieces = index.ask(&Patient, |snapshot| fitting(snapshot, request, &elsewhere)).unwrap();
        by_index.take(&pieces, &is_right, began);
        println!("{request}\n  index: {}", pieces.iter().map(shown).collect::<Vec<_>>().join(", "));
        let began = Instant::now();
        let pieces = fitting_by_names(&root, request, &elsewhere, &Patient).unwrap();
        by_names.take(&pieces, &is_right, began);
        println!("  names: {}", pieces.iter().map(shown).collect::<Vec<_>>().join(", "));
    }
    println!("by index {by_index:?}\nby names {by_names:?}");
}

/// What commits say was asked for, and what they changed is what was meant.
#[test]
#[ignore = "prints figures"]
fn messages_of_commits_on_this_repository() {
    let root = repository();
    let index = index(&root);
    let log = Command::new("git")
        .args(["log", "--no-merges", "--name-only", "--format=%x01%s%x02", "-n", "400"])
        .current_dir(root.path())
        .output()
        .unwrap();
    let log = String::from_utf8_lossy(&log.stdout).into_owned();
    let mut commits: HashMap<String, Vec<String>> = HashMap::new();
    for commit in log.split('\u{1}').skip(1) {
        let (subject, files) = commit.split_once('\u{2}').unwrap();
        let files: Vec<String> = files.lines().filter(|line| !line.is_empty()).map(str::to_owned).collect();
        let still = files.iter().any(|file| file.ends_with(".rs") && root.path().join(file).exists());
        if still && files.len() <= 25 {
            let asked = subject.split_once(": ").map_or(subject, |(_, asked)| asked);
            commits.insert(asked.to_owned(), files);
        }
    }
    let (mut by_index, mut by_names) = (Figures::default(), Figures::default());
    for (request, files) in &commits {
        let is_right = |path: &Path| files.iter().any(|file| Path::new(file) == path);
        let began = Instant::now();
        let pieces = index.ask(&Patient, |snapshot| fitting(snapshot, request, &elsewhere)).unwrap();
        by_index.take(&pieces, &is_right, began);
        if !pieces.is_empty() {
            let marked = |piece: &Piece| format!("{}{}", if is_right(&piece.path) { "+" } else { "-" }, shown(piece));
            println!("{request}\n  {}", pieces.iter().map(marked).collect::<Vec<_>>().join(", "));
        }
        let began = Instant::now();
        let pieces = fitting_by_names(&root, request, &elsewhere, &Patient).unwrap();
        by_names.take(&pieces, &is_right, began);
    }
    println!("{} commits\nby index {by_index:?}\nby names {by_names:?}", commits.len());
}
