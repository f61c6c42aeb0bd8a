//! A line of about a thousand bytes a second: what is on its way in front of a key is counted, not the time.

use std::io::{Read, Write};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use portable_pty::{CommandBuilder, NativePtySystem, PtySize, PtySystem};
use serde_json::json;

use crate::support::{House, say};
use crate::tmux::house;

/// How long anything may take.
const PATIENCE: Duration = Duration::from_secs(60);

/// Bytes that come through at a time, and how long that takes.
const PIECE: (usize, Duration) = (20, Duration::from_millis(20));

/// A terminal at the end of a slow line. What it shows is not of interest, only what came through.
struct Line {
    came: Arc<Mutex<Vec<u8>>>,
    keys: Arc<Mutex<Box<dyn Write + Send>>>,
    neco: Box<dyn portable_pty::Child + Send + Sync>,
}

impl Line {
    fn with_neco(house: &House) -> Self {
        let pair = NativePtySystem::default().openpty(PtySize { rows: 24, cols: 80, ..PtySize::default() }).unwrap();
        let mut command = CommandBuilder::new(env!("CARGO_BIN_EXE_neco"));
        command.env_clear();
        house.variables().into_iter().for_each(|(name, value)| command.env(name, value));
        command.env("TERM", "xterm-256color");
        command.cwd(house.project());
        let neco = pair.slave.spawn_command(command).unwrap();
        drop(pair.slave);
        let mut out = pair.master.try_clone_reader().unwrap();
        let keys = Arc::new(Mutex::new(pair.master.take_writer().unwrap()));
        let came = Arc::new(Mutex::new(Vec::new()));
        let line = Self { came: Arc::clone(&came), keys: Arc::clone(&keys), neco };
        std::thread::spawn(move || {
            let _master = pair.master;
            let mut piece = [0; PIECE.0];
            while let Ok(read @ 1..) = out.read(&mut piece) {
                std::thread::sleep(PIECE.1);
                let mut came = came.lock().unwrap();
                let before = came.len().saturating_sub(3);
                came.extend_from_slice(&piece[..read]);
                let asked = came[before..].windows(4).filter(|bytes| bytes == b"\x1b[6n").count();
                drop(came);
                (0..asked).for_each(|_| write(&keys, b"\x1b[24;1R"));
            }
        });
        line
    }

    fn types(&self, keys: &str) -> usize {
        let before = self.came.lock().unwrap().len();
        write(&self.keys, keys.as_bytes());
        before
    }

    /// How many bytes came from `since` on until `text` did.
    #[track_caller]
    fn until(&self, text: &str, since: usize) -> usize {
        let begun = Instant::now();
        loop {
            let came = self.came.lock().unwrap();
            let found = came[since..].windows(text.len()).position(|bytes| bytes == text.as_bytes());
            if let Some(found) = found {
                return found;
            }
            let last = String::from_utf8_lossy(&came[since..]).into_owned();
            drop(came);
            assert!(begun.elapsed() < PATIENCE, "waited for {text:?}; there came {last:?}");
            std::thread::sleep(Duration::from_millis(5));
        }
    }
}

fn write(keys: &Mutex<Box<dyn Write + Send>>, bytes: &[u8]) {
    let mut keys = keys.lock().unwrap();
    // The window may be gone.
    let _ = keys.write_all(bytes).and_then(|()| keys.flush());
}

#[test]
fn keys_and_answers_to_them_do_not_wait_behind_what_streams() {
    let paragraph = |number: usize| (0..30).map(|word| format!("p{number}w{word}")).collect::<Vec<_>>().join(" ");
    let text = (0..60).map(paragraph).collect::<Vec<_>>().join("\n\n");
    let house = house(json!([{ "say": text, "between_ms": 4 }, say("unused")]));
    let mut line = Line::with_neco(&house);
    line.until("Ask, or say", 0);
    line.types("go");
    line.until("o", 0);
    line.until("p1w", line.types("\r"));
    for key in ["Ж", "Ю", "Я"] {
        // More than ten thousand would be on their way if they were not counted.
        let ahead = line.until(key, line.types(key));
        assert!(ahead < 3000, "{ahead} bytes came before the key");
    }
    let ahead = line.until("Stopped", line.types("\x1b"));
    assert!(ahead < 4000, "{ahead} bytes came before it was said that it stopped");
    // The first Ctrl-C empties the field, the next two leave.
    line.until("restores it", line.types("\x03"));
    let ahead = line.until("\x1b[?2004l", line.types("\x03\x03"));
    assert!(ahead < 6000, "{ahead} bytes came before the end");
    let begun = Instant::now();
    while line.neco.try_wait().unwrap().is_none() {
        assert!(begun.elapsed() < PATIENCE, "the window does not end");
        std::thread::sleep(Duration::from_millis(20));
    }
}
