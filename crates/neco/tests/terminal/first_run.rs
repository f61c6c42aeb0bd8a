//! The first start, without a model.

use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};

use crate::support::House;
use crate::tmux::{Pane, is_there};

/// What the model next door says to everything: the tool call of the trial when tools are there, words otherwise.
fn answer(body: &str) -> String {
    let piece = |delta: &str, finish: &str| {
        format!("data: {{\"choices\":[{{\"index\":0,\"delta\":{delta},\"finish_reason\":{finish}}}]}}\n\n")
    };
    let trial = body.contains("test of a connection");
    let said = if trial {
        piece(
            "{\"tool_calls\":[{\"index\":0,\"id\":\"c1\",\"function\":{\"name\":\"echo\",\"arguments\":\"{\\\"text\\\":\\\"neco\\\"}\"}}]}",
            "\"tool_calls\"",
        )
    } else {
        piece("{\"role\":\"assistant\",\"content\":\"Hello from next door.\"}", "\"stop\"")
    };
    format!("{said}data: [DONE]\n\n")
}

/// A server for whoever has this key; for everybody without one.
fn serve(key: Option<&'static str>) -> String {
    serve_to(key, false)
}

/// The same; one that `lists` says to everybody which models it has.
fn serve_to(key: Option<&'static str>, lists: bool) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let base = format!("http://{}/v1", listener.local_addr().unwrap());
    std::thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            std::thread::spawn(move || one(stream, key, lists));
        }
    });
    base
}

fn one(mut stream: TcpStream, key: Option<&str>, lists: bool) -> Option<()> {
    let mut reader = BufReader::new(stream.try_clone().ok()?);
    let mut line = String::new();
    reader.read_line(&mut line).ok()?;
    let (mut length, mut is_known) = (0, key.is_none() || (lists && line.starts_with("GET")));
    loop {
        let mut header = String::new();
        reader.read_line(&mut header).ok()?;
        if header.trim().is_empty() {
            break;
        }
        is_known |= key.is_some_and(|key| header.trim().ends_with(&format!("Bearer {key}")));
        if let Some(value) = header.to_ascii_lowercase().strip_prefix("content-length:") {
            length = value.trim().parse().ok()?;
        }
    }
    let mut body = vec![0; length];
    reader.read_exact(&mut body).ok()?;
    if !is_known {
        return write!(stream, "HTTP/1.1 401 Unauthorized\r\ncontent-length: 0\r\nconnection: close\r\n\r\n").ok();
    }
    let (kind, body) = match line.starts_with("GET") {
        true => ("application/json", "{\"data\":[{\"id\":\"small\"},{\"id\":\"large\"}]}".to_owned()),
        false => ("text/event-stream", answer(&String::from_utf8_lossy(&body))),
    };
    let head = format!("HTTP/1.1 200 OK\r\ncontent-type: {kind}\r\ncontent-length: {}", body.len());
    write!(stream, "{head}\r\nconnection: close\r\n\r\n{body}").ok()
}

/// No server of this machine's own is found.
const NOWHERE: &str = "[model_providers.lmstudio]\nbase = \"http://127.0.0.1:1/v1\"\n[model_providers.\"llama.cpp\"]\nbase = \
                       \"http://127.0.0.1:1/v1\"\n[model_providers.vllm]\nbase = \"http://127.0.0.1:1/v1\"\n";

#[test]
fn a_server_that_answers_is_offered_tried_and_kept() {
    if !is_there() {
        return;
    }
    let house = House::empty();
    house.configure(&format!("{NOWHERE}[model_providers.ollama]\nbase = \"{}\"\n", serve(None)));
    let pane = Pane::neco(&house, "", 100, 40);
    pane.shows("Search models and providers").shows("On this machine").shows("✓ ollama/small").answer("Enter");
    pane.showed("ollama/small answers").waits();
    let config = fs::read_to_string(house.path("home/config.toml")).unwrap();
    assert!(config.starts_with("model = \"ollama/small\"\n"), "{config}");
    pane.say("hello").shows("Hello from next door.");
}

/// Searches the list for the words of an entry, and chooses it.
fn choose(pane: &Pane, words: &str) {
    pane.shows(words).write(words).shows(&format!("› {words}")).answer("Enter");
}

#[test]
fn a_server_of_ones_own_says_what_it_serves_and_gets_its_key() {
    if !is_there() {
        return;
    }
    let house = House::empty();
    house.configure(&format!("{NOWHERE}[model_providers.ollama]\nbase = \"http://127.0.0.1:1/v1\"\n"));
    let pane = Pane::neco(&house, "", 100, 40);
    choose(&pane, "a server of yours");
    pane.shows("◆ The server's address").say("not one").showed("Not an address");
    pane.shows("◆ The server's address").say("127.0.0.1:1/v1").showed("No answer from http://127.0.0.1:1/v1");
    pane.shows("◆ The server's address");
    assert!(!pane.everything().contains("It names no models"), "{}", pane.everything());
    let base = serve(Some("sesame"));
    let name = format!("localhost-{}", base.trim_start_matches("http://127.0.0.1:").trim_end_matches("/v1"));
    pane.say(&base).shows(&format!("Key of {name}"));
    pane.write("wrong").press("Enter").showed("refuses this key; it was not saved");
    pane.until("the second question for the key", |pane| pane.everything().matches("Key of localhost-").count() == 2);
    pane.write("sesame").press("Enter").shows("Which of its models?").shows("small").answer("Enter");
    pane.showed(&format!("{name}/small answers")).waits();
    let config = fs::read_to_string(house.path("home/config.toml")).unwrap();
    assert!(config.contains(&format!("model = \"{name}/small\"")) && config.contains(&base), "{config}");
    pane.say("hello").shows("Hello from next door.");
    assert!(!pane.everything().contains("sesame"), "{}", pane.everything());
    let mut list = std::process::Command::new(env!("CARGO_BIN_EXE_neco"));
    let listed = list.env_clear().envs(house.variables()).args(["model", "list"]).output().unwrap();
    let listed = String::from_utf8_lossy(&listed.stdout).into_owned();
    assert!(listed.contains("* small") && listed.contains("  large"), "what it serves stays known:\n{listed}");
}

#[test]
fn esc_goes_back_from_every_step_and_each_says_so() {
    if !is_there() {
        return;
    }
    let house = House::empty();
    house.configure(&format!("{NOWHERE}[model_providers.ollama]\nbase = \"http://127.0.0.1:1/v1\"\n"));
    let pane = Pane::neco(&house, "", 100, 40);
    pane.shows("Search models and providers").shows("Esc leave").shows("kept in");
    choose(&pane, "a server of yours");
    pane.shows("◆ The server's address").shows("Esc back");
    assert!(!pane.screen().contains("Esc no answer"), "{}", pane.screen());
    pane.answer("Escape");
    choose(&pane, "anthropic");
    pane.shows("Key of anthropic").write("sk-half").press("Escape").showed("   No key was saved");
    assert_eq!(pane.everything().matches("▙▖").count(), 1, "who asks is said once:\n{}", pane.everything());
    pane.shows("no model yet").answer("Escape").is_given_back();
    assert!(!house.path("home/keys.toml").exists());
}

#[test]
fn a_key_that_only_the_model_refuses_is_asked_about() {
    if !is_there() {
        return;
    }
    let house = House::empty();
    house.configure(&format!("{NOWHERE}[model_providers.ollama]\nbase = \"http://127.0.0.1:1/v1\"\n"));
    let pane = Pane::neco(&house, "", 100, 40);
    choose(&pane, "a server of yours");
    pane.shows("◆ The server's address").say(&serve_to(Some("sesame"), true));
    pane.shows("Which of its models?").shows("small").answer("Enter").shows("Key of localhost-");
    pane.write("wrong").press("Enter").shows("Which of its models?").answer("Enter");
    choose(&pane, "type it again");
    pane.until("the second question for the key", |pane| pane.everything().matches("Key of localhost-").count() == 2);
    assert!(!fs::read_to_string(house.path("home/keys.toml")).unwrap().contains("wrong"));
    pane.write("sesame").press("Enter").shows("Which of its models?").answer("Enter");
    pane.showed("/small answers").waits();
    pane.say("hello").shows("Hello from next door.");
}

#[test]
fn a_key_is_tested_where_it_is_typed() {
    if !is_there() {
        return;
    }
    let house = House::empty();
    let at = |base: &str| {
        house.configure(&format!("[model_providers.mine]\ntype = \"openai\"\nbase = \"{base}\"\n"));
        Pane::neco(&house, "login mine", 120, 40)
    };
    let pane = at(&serve(Some("sesame")));
    pane.shows("Key of mine").write("wrong").press("Enter").showed("or the same once more to keep it anyway");
    pane.write("wrong").press("Enter").showed("the key of mine is saved (");
    let pane = at(&serve(Some("sesame")));
    pane.shows("Key of mine").write("sesame").press("Enter").showed("mine accepts it");
    fs::remove_file(house.path("home/keys.toml")).unwrap();
    let pane = at("http://127.0.0.1:1/v1");
    pane.shows("Key of mine")
        .write("sesame")
        .press("Enter")
        .showed("mine can't be reached, so the key is not tested yet");
    assert!(fs::read_to_string(house.path("home/keys.toml")).unwrap().contains("sesame"));
}

#[test]
fn a_key_is_typed_unseen_in_the_window_and_used_from_then_on() {
    if !is_there() {
        return;
    }
    let house = House::empty();
    let base = serve(Some("sesame"));
    house.configure(&format!(
        "model = \"mine/small\"\n{NOWHERE}[model_providers.mine]\ntype = \"openai\"\nbase = \"{base}\"\n"
    ));
    let pane = Pane::neco(&house, "", 100, 40);
    pane.waits().say("/login opnai").showed("there is no");
    pane.say("/login mine").shows("the key of mine; it is shown as dots");
    pane.write("wrong").shows("•••••").press("Enter").showed("mine refuses this key; it was not saved");
    pane.shows("it is shown as dots").write("sesame").shows("••••••").press("Enter").showed("The key of mine is saved");
    assert!(fs::read_to_string(house.path("home/keys.toml")).unwrap().contains("sesame"));
    pane.say("hello").shows("Hello from next door.");
    pane.say("/login mine").shows("it is shown as dots").press("Escape").shows("No key was saved");
    assert!(!pane.everything().contains("sesame") && !pane.everything().contains("wrong"), "{}", pane.everything());
}

#[test]
fn a_server_that_never_answers_is_left_with_esc_and_a_signal_ends_it() {
    if !is_there() {
        return;
    }
    let house = House::empty();
    house.configure(&format!("{NOWHERE}[model_providers.ollama]\nbase = \"http://127.0.0.1:1/v1\"\n"));
    let silent = TcpListener::bind("127.0.0.1:0").unwrap();
    let pane = Pane::neco(&house, "", 100, 40);
    choose(&pane, "a server of yours");
    pane.shows("◆ The server's address").say(&format!("http://{}/v1", silent.local_addr().unwrap())).shows("Esc stops");
    pane.press("Escape").hides("Esc stops");
    let pid = pane.neco_pid().unwrap().to_string();
    assert!(std::process::Command::new("kill").args(["-TERM", &pid]).status().unwrap().success());
    pane.until("the window to end", |pane| pane.neco_pid().is_none());
    pane.write("echo ended with $?").press("Enter").shows("ended with 143").is_given_back();
}

#[test]
fn who_does_not_want_to_leaves_without_harm() {
    if !is_there() {
        return;
    }
    let house = House::empty();
    house.configure(&format!("{NOWHERE}[model_providers.ollama]\nbase = \"http://127.0.0.1:1/v1\"\n"));
    let pane = Pane::neco(&house, "", 100, 40);
    pane.shows("Search models and providers").answer("Escape").is_given_back();
}

/// A house where Codex is set up, with an MCP server.
fn beside_codex() -> House {
    let house = crate::tmux::house(serde_json::json!([crate::support::say("Hello.")]));
    fs::create_dir_all(house.path("home/.codex")).unwrap();
    fs::write(house.path("home/.codex/config.toml"), "[mcp_servers.docs]\ncommand = \"no-such-docs\"\n").unwrap();
    house
}

const OFFER: &str = "Found settings of Codex. Take them over?";

#[test]
fn what_other_agents_have_is_offered_until_the_answer_is_never() {
    if !is_there() {
        return;
    }
    for (arguments, ready) in [("", "Ask, or say"), ("repl", "line by line")] {
        let house = beside_codex();
        for key in ["l", "Escape", "n"] {
            let pane = Pane::neco(&house, arguments, 100, 30);
            pane.showed(OFFER).answer(key).showed(ready);
        }
        let pane = Pane::neco(&house, arguments, 100, 30);
        pane.showed(ready);
        assert!(!pane.everything().contains("Found settings"), "{}", pane.everything());
        assert!(!fs::read_to_string(house.path("home/config.toml")).unwrap().contains("no-such-docs"));
    }
}

#[test]
fn what_would_be_taken_over_is_shown_before_it_is() {
    if !is_there() {
        return;
    }
    let house = beside_codex();
    let config = || fs::read_to_string(house.path("home/config.toml")).unwrap();
    let pane = Pane::neco(&house, "", 100, 30);
    pane.showed(OFFER).answer("y").shows("server       docs").showed("Take this over?");
    assert!(!config().contains("no-such-docs"), "nothing is written before the second yes");
    pane.answer("n").waits();
    let pane = Pane::neco(&house, "", 100, 30);
    pane.showed(OFFER).answer("y").showed("Take this over?").answer("y").showed("Codex: 1 piece: 1 taken").waits();
    assert!(config().contains("no-such-docs"), "{}", config());
    let pane = Pane::ready(&house, "");
    assert!(!pane.everything().contains("Found settings"), "{}", pane.everything());
}
