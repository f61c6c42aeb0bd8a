//! Servers that are not ready, or not any more.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpListener;
use std::sync::mpsc;

use crate::format::{Format, Piece};
use crate::server::{Server, head, refuse};
use crate::support::Ran;
use crate::watched::{house, of, run};

const LOADING: [(u16, &str); 4] = [
    (503, r#"{"error":{"code":503,"message":"Loading model","type":"unavailable_error"}}"#),
    (500, r#"{"error":"unexpected server status: llm server loading model"}"#),
    (503, r#"{"error":"Model is loading, please try again"}"#),
    (503, r#"{"error":"Model m is currently loading","estimated_time":20.0}"#),
];

fn hello(out: &mut dyn std::io::Write) -> std::io::Result<()> {
    head(out, 200, "text/event-stream")?;
    out.write_all(Format::Openai.events(Piece::Text("Hello.")).as_bytes())?;
    out.write_all(Format::Openai.events(Piece::End("stop")).as_bytes())
}

#[test]
fn a_model_that_is_being_loaded_is_waited_for_and_that_is_shown() {
    for (status, body) in LOADING {
        let loads = move |number: usize, _: &str, out: &mut dyn std::io::Write| match number {
            0..6 => refuse(out, status, body),
            _ => hello(out),
        };
        let server = Server::start(loads);
        let settings = "retries = 2\nload_timeout = 60";
        let ran =
            run(&house(Format::Openai, &server.base, settings), &["-m", "hello", "--output-format", "stream-json"]);
        let events = ran.0.ended_with(0).events();
        let retries = of(&events, "model_retry");
        assert_eq!(retries.len(), 6, "{body}");
        assert!(
            retries.iter().all(|retry| retry["message"].as_str().unwrap().contains("still loads m")),
            "{retries:?}"
        );
        for impatient in ["retries = 0\nload_timeout = 60", "retries = 2\nload_timeout = 0"] {
            let server = Server::start(loads);
            run(&house(Format::Openai, &server.base, impatient), &["-m", "hello"]).0.ended_with(5).says("load_timeout");
            assert_eq!(server.asked(), 1, "{impatient}");
        }
    }
}

#[test]
fn nobody_at_the_address_fails_at_once_before_anybody_answered_and_is_waited_for_after() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    let house = house(Format::Openai, &format!("http://{address}/v1"), "retries = 4");
    house.configure(&std::fs::read_to_string(house.path("home/config.toml")).unwrap().replace("0.01", "0.3"));
    drop(listener);
    let ran = run(&house, &["-m", "hello", "--output-format", "stream-json"]).0.ended_with(5).says("no answer from");
    assert!(of(&ran.events(), "model_retry").is_empty());

    // A server that answers once, is away until somebody misses it, and is there again.
    let listener = TcpListener::bind(address).unwrap();
    let (missed, is_missed) = mpsc::channel();
    std::thread::spawn(move || {
        let mut stream = loop {
            let (mut stream, _) = listener.accept().unwrap();
            let mut asked = vec![0; 100_000];
            let _ = stream.read(&mut asked);
            if asked.starts_with(b"POST") {
                break stream;
            }
            // It says nothing of itself.
            refuse(&mut stream, 404, "{}").unwrap();
        };
        drop(listener);
        head(&mut stream, 200, "text/event-stream").unwrap();
        for piece in
            [Piece::Call(0, "list_directory"), Piece::Arguments(0, "\"path\":\".\"}"), Piece::End("tool_calls")]
        {
            stream.write_all(Format::Openai.events(piece).as_bytes()).unwrap();
        }
        drop(stream);
        is_missed.recv().unwrap();
        Server::on(TcpListener::bind(address).unwrap(), |_, _, out| hello(out));
    });
    let mut child = house.start(&["-m", "hello", "--output-format", "stream-json"]);
    let mut ran = Ran { code: -1, stdout: String::new(), stderr: String::new() };
    for line in BufReader::new(child.stdout.take().unwrap()).lines() {
        let line = line.unwrap();
        if line.contains("\"model_retry\"") {
            let _ = missed.send(());
        }
        ran.stdout.push_str(&line);
        ran.stdout.push('\n');
    }
    ran.code = child.wait().unwrap().code().unwrap();
    let events = ran.ended_with(0).events();
    let retries = of(&events, "model_retry");
    assert!(
        !retries.is_empty() && retries[0]["message"].as_str().unwrap().contains("connection refused"),
        "{retries:?}"
    );
}
