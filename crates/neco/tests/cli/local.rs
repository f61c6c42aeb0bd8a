//! A local server that answers is found and used, over real HTTP.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Mutex};

use crate::server;
use crate::support::House;

const ANSWER: &str = concat!(
    "data: {\"choices\":[{\"index\":0,\"delta\":{\"role\":\"assistant\",\"content\":\"Hello from \"}}]}\n\n",
    "data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":\"next door.\"},\"finish_reason\":\"stop\"}]}\n\n",
    "data: {\"choices\":[],\"usage\":{\"prompt_tokens\":7,\"completion_tokens\":3}}\n\n",
    "data: [DONE]\n\n",
);

/// A server that lists one model and always says the same.
fn serve() -> String {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let base = format!("http://{}/v1", listener.local_addr().unwrap());
    std::thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            std::thread::spawn(move || answer(stream));
        }
    });
    base
}

/// A client that hangs up is its own business.
fn answer(mut stream: TcpStream) -> Option<()> {
    let mut reader = BufReader::new(stream.try_clone().ok()?);
    let mut line = String::new();
    reader.read_line(&mut line).ok()?;
    let mut length = 0;
    loop {
        let mut header = String::new();
        reader.read_line(&mut header).ok()?;
        if header.trim().is_empty() {
            break;
        }
        if let Some(value) = header.to_ascii_lowercase().strip_prefix("content-length:") {
            length = value.trim().parse().ok()?;
        }
    }
    reader.read_exact(&mut vec![0; length]).ok()?;
    let (kind, body) = match line.starts_with("GET /v1/models") {
        true => ("application/json", "{\"data\":[{\"id\":\"small\"}]}"),
        false => ("text/event-stream", ANSWER),
    };
    let head =
        format!("HTTP/1.1 200 OK\r\ncontent-type: {kind}\r\ncontent-length: {}\r\nconnection: close", body.len());
    write!(stream, "{head}\r\n\r\n{body}").ok()
}

#[test]
fn a_local_server_is_used_when_nothing_else_is_configured() {
    let house = House::empty();
    let nowhere = ["lmstudio", "\"llama.cpp\"", "vllm"]
        .map(|name| format!("[model_providers.{name}]\nbase = \"http://127.0.0.1:1/v1\"\n"));
    house.configure(&format!("[model_providers.ollama]\nbase = \"{}\"\n{}", serve(), nowhere.concat()));
    let ran = house.run(&["-m", "hello"]).ended_with(0);
    assert_eq!(ran.stdout, "Hello from next door.\n");
    ran.says("No model is set; using ollama/small").says("7 in · 3 out");
    house.run(&["doctor"]).ended_with(0).says("ollama/small (think)").says("ollama answers at");
}

/// A server that was started with a window, and how many bytes it was asked each time.
fn with_window(tokens: u64) -> (House, Arc<Mutex<Vec<usize>>>) {
    let sizes = Arc::new(Mutex::new(Vec::new()));
    let asked = Arc::clone(&sizes);
    let base = server::start(move |request| match request.path.as_str() {
        "/props" => (200, format!("{{\"default_generation_settings\":{{\"n_ctx\":{tokens}}}}}")),
        "/v1/chat/completions" => {
            asked.lock().unwrap().push(request.body.len());
            (200, ANSWER.to_owned())
        }
        _ => (404, String::new()),
    });
    let house = House::empty();
    house.configure(&format!("model = \"mine/m\"\n[model_providers.mine]\ntype = \"openai\"\nbase = \"{base}\"\n"));
    (house, sizes)
}

#[test]
fn the_first_request_is_short() {
    let (house, sizes) = with_window(131_072);
    let ran = house.run(&["-m", "hello"]).ended_with(0);
    assert!(!ran.stderr.contains("tool level"), "{}", ran.stderr);
    let sizes = sizes.lock().unwrap();
    assert!(sizes[0] < 12 * 1024, "{sizes:?}");
}

#[test]
fn a_server_with_a_small_window_gets_fewer_tools() {
    let (house, sizes) = with_window(5_000);
    house.run(&["-m", "hello"]).ended_with(0).says("window is 5000 tokens: tool level 1 of 8");
    let sizes = sizes.lock().unwrap();
    assert!(sizes[0] < 8 * 1024, "{sizes:?}");
}
