//! The least a client can do: the same requests to the same server, over one bare socket.
//!
//! Its times are the floor of the machine. A figure divided by them can be compared between machines.

use std::io::{Read as _, Write as _};
use std::net::TcpStream;

use anyhow::Context as _;

use crate::server::{Exchange, Server};

/// Sends bodies of these sizes, one after the other, and waits for each answer.
pub fn run(answers: Vec<Vec<u8>>, sizes: &[usize]) -> anyhow::Result<Vec<Exchange>> {
    let server = Server::start(answers)?;
    let mut stream = TcpStream::connect(server.address())?;
    stream.set_nodelay(true)?;
    let body = vec![b' '; sizes.iter().copied().max().unwrap_or_default()];
    let mut answer = vec![0; 256 * 1024];
    for size in sizes {
        let head = format!("POST /v1/chat/completions HTTP/1.1\r\nhost: localhost\r\ncontent-length: {size}\r\n\r\n");
        stream.write_all(head.as_bytes())?;
        stream.write_all(body.get(..*size).unwrap_or_default())?;
        read_answer(&mut stream, &mut answer)?;
    }
    server.finish()
}

/// Reads up to the end mark of a chunked body.
fn read_answer(stream: &mut TcpStream, buffer: &mut [u8]) -> anyhow::Result<()> {
    let mut filled = 0;
    while !buffer.get(..filled).unwrap_or_default().ends_with(b"\r\n0\r\n\r\n") {
        let room = buffer.get_mut(filled..).filter(|room| !room.is_empty()).context("an answer is too long")?;
        let read = stream.read(room)?;
        anyhow::ensure!(read > 0, "the server went away");
        filled += read;
    }
    Ok(())
}
