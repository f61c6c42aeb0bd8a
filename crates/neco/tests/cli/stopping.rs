//! A stopped run asks no model any more: over real HTTP, every question is counted.

use std::io::{BufRead, BufReader, Read, Write};
use std::process::{Child, Stdio};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value, json};

use crate::server;
use crate::support::{House, eventually};

/// What the root does once its three agents are at it.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Root {
    /// It waits for them in a call.
    Waits,
    /// It is done with its own work.
    Rests,
}

/// A server whose root starts three agents, each of which runs a command that does not end; and what is asked of it.
struct Vendor {
    asked: Arc<AtomicUsize>,
    house: House,
}

impl Vendor {
    fn new(root: Root) -> Self {
        let asked = Arc::new(AtomicUsize::new(0));
        let count = Arc::clone(&asked);
        let base = server::start(move |request| {
            if !request.path.ends_with("/chat/completions") {
                return (200, json!({ "data": [{ "id": "m" }] }).to_string());
            }
            count.fetch_add(1, Ordering::SeqCst);
            (200, answer(&serde_json::from_str(&request.body).unwrap(), root))
        });
        let house = House::empty();
        // A title and a look at what is worth keeping are wanted: after a stop they are not made.
        house.configure(&format!(
            "model = \"mine/m\"\n[model_providers.mine]\ntype = \"openai\"\nbase = \"{base}\"\n[sessions]\nmodel_title = \
             true\n[memory]\nextract = true\n"
        ));
        Self { asked, house }
    }

    fn times(&self) -> usize {
        self.asked.load(Ordering::SeqCst)
    }

    /// All commands run, and the root has asked for the last time.
    fn at_work(&self, root: Root) -> usize {
        let begun = |number: usize| self.house.project().join(format!("begun-{number}")).exists();
        eventually("the commands run", || (1..=3).all(begun));
        // Two questions of the root, one of each agent; a root that is done gets a title.
        let expected = match root {
            Root::Waits => 5,
            Root::Rests => 6,
        };
        eventually("the root has asked", || self.times() == expected);
        expected
    }
}

fn answer(request: &Value, root: Root) -> String {
    let messages = request["messages"].as_array().cloned().unwrap_or_default();
    let system = messages.first().map(|message| message["content"].to_string()).unwrap_or_default();
    let results = messages.iter().filter(|message| message["role"] == "tool").count();
    if system.contains("You are the agent") {
        let task = messages.iter().map(|message| message["content"].to_string()).collect::<String>();
        let number = (1..=3).find(|number| task.contains(&format!("part {number}"))).unwrap_or(9);
        return calls(&[(
            "bash",
            json!({ "command": format!("touch begun-{number}; until [ -e go ]; do sleep 0.02; done"), "timeout": 300 }),
        )]);
    }
    match (request["tools"].is_array(), results, root) {
        (false, ..) => {
            let message = json!({ "role": "assistant", "content": "A title" });
            json!({ "choices": [{ "index": 0, "message": message, "finish_reason": "stop" }] }).to_string()
        }
        (true, 0, _) => {
            let spawn = |number: usize| ("spawn_agent", json!({ "agent": "coder", "task": format!("part {number}") }));
            calls(&[spawn(1), spawn(2), spawn(3)])
        }
        (true, _, Root::Waits) => calls(&[("agent_wait", json!({}))]),
        (true, _, Root::Rests) => says("They are at it."),
    }
}

fn says(words: &str) -> String {
    stream(&json!({ "content": words }), "stop")
}

fn calls(all: &[(&str, Value)]) -> String {
    let one = |(index, (name, arguments)): (usize, &(&str, Value))| {
        json!({ "index": index, "id": format!("c{index}-{name}"), "type": "function",
                "function": { "name": name, "arguments": arguments.to_string() } })
    };
    stream(&json!({ "tool_calls": all.iter().enumerate().map(one).collect::<Vec<_>>() }), "tool_calls")
}

fn stream(delta: &Value, finish: &str) -> String {
    let chunk = json!({ "choices": [{ "index": 0, "delta": delta, "finish_reason": finish }] });
    format!("data: {chunk}\n\ndata: [DONE]\n\n")
}

fn signal(child: &Child, signal: Signal) {
    kill_process(Pid::from_child(child), signal).unwrap();
}

const RUN: [&str; 4] = ["-m", "split it up", "--yes", "--sandbox=full"];

fn states(house: &House) -> Vec<String> {
    let tree = house.run(&["session", "tree", "--json"]).ended_with(0).json();
    let nodes = tree["nodes"].as_array().unwrap().iter().skip(1);
    nodes.map(|node| node["state"].as_str().unwrap().to_owned()).collect()
}

#[test]
fn a_signal_stops_a_run_with_all_its_agents_and_nothing_is_asked_after_it() {
    for (root, signals, code) in [
        (Root::Waits, vec![Signal::INT], 130),
        (Root::Rests, vec![Signal::INT], 130),
        (Root::Waits, vec![Signal::TERM], 143),
        (Root::Rests, vec![Signal::TERM], 143),
        (Root::Waits, vec![Signal::INT, Signal::INT], 130),
        (Root::Rests, vec![Signal::INT, Signal::INT], 130),
    ] {
        let vendor = Vendor::new(root);
        let run = vendor.house.start(&RUN);
        let asked = vendor.at_work(root);
        for one in &signals {
            signal(&run, *one);
        }
        let ended = run.wait_with_output().unwrap();
        let said = String::from_utf8_lossy(&ended.stderr).into_owned();
        assert_eq!(ended.status.code(), Some(code), "{signals:?}: {said}");
        assert_eq!(vendor.times(), asked, "{signals:?}: a model was asked after the signal\n{said}");
        if signals.len() == 1 {
            assert!(said.contains("paused, nothing is lost: coder-1, coder-2, coder-3"), "{said}");
            assert_eq!(states(&vendor.house), ["paused"; 3], "{said}");
        }
        assert_eq!(vendor.times(), asked);
    }
}

#[test]
fn an_interrupted_wait_is_shown_as_interrupted_everywhere() {
    let vendor = Vendor::new(Root::Waits);
    let run = vendor.house.start(&RUN);
    vendor.at_work(Root::Waits);
    signal(&run, Signal::INT);
    let said = String::from_utf8_lossy(&run.wait_with_output().unwrap().stderr).into_owned();
    assert!(said.contains("⊘ Wait for the agents") && !said.contains("✓ Wait for"), "{said}");
    let id = vendor.house.run(&["session", "list", "--json"]).json()[0]["id"].as_str().unwrap().to_owned();
    let markdown = vendor.house.run(&["session", "export", &id, "--format", "markdown"]).ended_with(0).stdout;
    let html = vendor.house.run(&["session", "export", &id, "--format", "html"]).ended_with(0).stdout;
    let shown = vendor.house.run(&["session", "show", &id]).ended_with(0).stdout;
    for (what, text) in [("markdown", markdown), ("html", html), ("show", shown)] {
        let line = text.lines().find(|line| line.contains("Wait for the agents")).unwrap_or_default().to_owned();
        assert!(line.contains('⊘') && !line.contains('✓'), "{what}: {line}");
        assert!(text.contains("3 agents are paused"), "{what}: {text}");
    }
}

/// What a process wrote so far.
struct Heard(Arc<Mutex<String>>);

impl Heard {
    fn of(stream: impl Read + Send + 'static) -> Self {
        let heard = Arc::new(Mutex::new(String::new()));
        let into = Arc::clone(&heard);
        std::thread::spawn(move || {
            for line in BufReader::new(stream).lines().map_while(Result::ok) {
                into.lock().unwrap().push_str(&format!("{line}\n"));
            }
        });
        Self(heard)
    }

    fn says(&self, words: &str) -> bool {
        self.0.lock().unwrap().contains(words)
    }
}

#[test]
fn lines_are_stopped_by_ctrl_c_and_with_the_next_one_whoever_still_works() {
    for root in [Root::Waits, Root::Rests] {
        let vendor = Vendor::new(root);
        let mut repl = std::process::Command::new(env!("CARGO_BIN_EXE_neco"))
            .env_clear()
            .envs(vendor.house.variables())
            .env("CI", "1")
            .current_dir(vendor.house.project())
            .args(["repl", "--yes", "--sandbox=full"])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let (out, err) = (Heard::of(repl.stdout.take().unwrap()), Heard::of(repl.stderr.take().unwrap()));
        let mut stdin = repl.stdin.take().unwrap();
        writeln!(stdin, "split it up").unwrap();
        let asked = vendor.at_work(root);
        if root == Root::Waits {
            signal(&repl, Signal::INT);
        }
        eventually("it says who still works", || out.says("Working: coder-1, coder-2, coder-3. Ctrl-C pauses them"));
        signal(&repl, Signal::INT);
        eventually("it says who is paused", || err.says("paused: coder-1, coder-2, coder-3"));
        writeln!(stdin, "/tree").unwrap();
        eventually("they are", || out.says("coder-3, paused"));
        assert_eq!(out.says("⊘ Wait for the agents") || err.says("⊘ Wait for the agents"), root == Root::Waits);
        drop(stdin);
        let begun = Instant::now();
        assert!(repl.wait().unwrap().success());
        assert!(begun.elapsed() < Duration::from_secs(20));
        assert_eq!(vendor.times(), asked, "a model was asked after the stop");
    }
}
