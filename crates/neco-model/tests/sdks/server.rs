//! A server that answers every POST with the next turn of a script.

use std::io::{BufRead, BufReader, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::Arc;
use std::thread;

use crate::served::Reply;
use neco_config::section::ProviderType;
use neco_model::Script;
use neco_model::scripted::Player;

/// Its address. It serves as long as the test runs.
pub fn start(kind: ProviderType, script: Script) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = format!("http://{}", listener.local_addr().unwrap());
    let player = Arc::new(Player::new(Arc::new(script), "m"));
    thread::spawn(move || {
        for socket in listener.incoming().flatten() {
            let player = player.clone();
            thread::spawn(move || serve(socket, kind, &player));
        }
    });
    address
}

fn serve(mut socket: TcpStream, kind: ProviderType, player: &Player) {
    let mut reader = BufReader::new(socket.try_clone().unwrap());
    while read_request(&mut reader).is_some() {
        let Ok(played) = player.next() else { return };
        let reply = Reply::speaking(kind, &played);
        let mut head = format!("HTTP/1.1 {} OK\r\ntransfer-encoding: chunked\r\n", reply.status);
        for (name, value) in &reply.headers {
            head.push_str(&format!("{name}: {value}\r\n"));
        }
        let chunk = |piece: &[u8]| [format!("{:x}\r\n", piece.len()).as_bytes(), piece, b"\r\n"].concat();
        let body: Vec<u8> =
            reply.pieces.iter().filter(|piece| !piece.is_empty()).flat_map(|piece| chunk(piece)).collect();
        if socket.write_all(&[head.as_bytes(), b"\r\n", &body, b"0\r\n\r\n"].concat()).is_err() {
            return;
        }
    }
}

fn read_request(reader: &mut impl BufRead) -> Option<()> {
    let mut length = 0;
    loop {
        let mut line = String::new();
        if reader.read_line(&mut line).ok()? == 0 {
            return None;
        }
        let line = line.trim_end().to_lowercase();
        if line.is_empty() {
            break;
        }
        if let Some(value) = line.strip_prefix("content-length:") {
            length = value.trim().parse().unwrap();
        }
    }
    let mut body = vec![0; length];
    reader.read_exact(&mut body).ok()
}
