//! Hundreds of turns: memory grows with the conversation and hardly beside it.

use std::io::Write;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex};

use serde_json::json;

use crate::format::{Format, Piece};
use crate::server::{Server, head};
use crate::watched::{house, now};

/// Turns before which a process grows into its work.
const WARM: usize = 100;
const TURNS: usize = 400;
/// The conversation is kept as messages and as what is sent of them.
const TIMES_THE_CONVERSATION: u64 = 3;
/// Growth for each turn that is none, in bytes.
const BESIDE: u64 = 5_000;
/// What an allocator may hold back or give back at any moment.
const NOISE: u64 = 1_500_000;

/// One turn reads a file that no other did, so that no result is a note about another.
fn turn(number: usize, out: &mut dyn Write) -> std::io::Result<()> {
    head(out, 200, "text/event-stream")?;
    let arguments = format!("\"path\":\"f{number}.txt\"}}");
    let pieces = match number {
        TURNS => [Piece::Text("Done."), Piece::Text(" All of it."), Piece::End("stop")],
        _ => [Piece::Call(0, "read_file"), Piece::Arguments(0, &arguments), Piece::End("tool_calls")],
    };
    pieces.iter().try_for_each(|piece| {
        // Ids are used once.
        let event = Format::Openai.events(*piece).replace("\"c0\"", &format!("\"call-{number}\""));
        out.write_all(event.as_bytes())
    })
}

#[test]
fn memory_grows_with_the_conversation_alone() {
    let process = Arc::new(AtomicU32::new(0));
    let marks: Arc<Mutex<Vec<(u64, u64)>>> = Arc::default();
    let (seen, noted) = (Arc::clone(&process), Arc::clone(&marks));
    let server = Server::start(move |number, body, out| {
        if number == WARM || number == TURNS {
            noted.lock().unwrap().push((now(seen.load(Ordering::SeqCst)), body.len() as u64));
        }
        turn(number, out)
    });
    let house = house(Format::Openai, &server.base, "");
    let config = std::fs::read_to_string(house.path("home/config.toml")).unwrap();
    house.configure(&config.replace("[agent.guards]", "[agent]\nmax_turns = 1000\n[agent.guards]\nfindings = false"));
    for number in 0..TURNS {
        std::fs::write(house.project().join(format!("f{number}.txt")), format!("{}\n", json!(number))).unwrap();
    }
    let mut child = house.start(&["-m", "read all of it"]);
    process.store(child.id(), Ordering::SeqCst);
    assert!(child.wait().unwrap().success());
    let marks = marks.lock().unwrap().clone();
    let [(memory, request), (later_memory, later_request)] = marks[..] else { panic!("{marks:?}") };
    let grown = later_memory.saturating_sub(memory);
    let conversation = later_request - request;
    let turns = (TURNS - WARM) as u64;
    let most = conversation * TIMES_THE_CONVERSATION + turns * BESIDE + NOISE;
    assert!(grown <= most, "{grown} bytes for {turns} turns of a conversation that grew by {conversation}");
}
