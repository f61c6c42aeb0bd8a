//! A terminal of which only the bytes are of interest: those that came to it, and what it answers to them.

use std::io::{Read, Write};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use portable_pty::{CommandBuilder, NativePtySystem, PtySize, PtySystem};

use crate::support::House;

/// How long anything may take.
pub const PATIENCE: Duration = Duration::from_secs(60);

/// Where the cursor is, which every terminal says.
pub const PLACE: (&str, &str) = ("\x1b[6n", "\x1b[24;1R");

/// The line to a terminal, and what that answers.
pub struct Line {
    /// What is behind `neco` on the command line.
    pub arguments: &'static [&'static str],
    /// Bytes that come through at a time, and how long that takes.
    pub piece: (usize, Duration),
    /// Questions, each with the answer to it, in the order in which the answers come.
    pub answers: &'static [(&'static str, &'static str)],
}

/// A terminal with `neco` in it.
pub struct Far {
    came: Arc<Mutex<Vec<u8>>>,
    keys: Arc<Mutex<Box<dyn Write + Send>>>,
    pub neco: Box<dyn portable_pty::Child + Send + Sync>,
}

impl Far {
    pub fn with_neco(house: &House, line: Line) -> Self {
        let pair = NativePtySystem::default().openpty(PtySize { rows: 24, cols: 80, ..PtySize::default() }).unwrap();
        let mut command = CommandBuilder::new(env!("CARGO_BIN_EXE_neco"));
        command.env_clear();
        house.variables().into_iter().for_each(|(name, value)| command.env(name, value));
        // Whoever is far away is waited for.
        command.env("SSH_TTY", "/dev/pts/1");
        command.env("TERM", "xterm-256color");
        command.args(line.arguments);
        command.cwd(house.project());
        let neco = pair.slave.spawn_command(command).unwrap();
        drop(pair.slave);
        let mut out = pair.master.try_clone_reader().unwrap();
        let keys = Arc::new(Mutex::new(pair.master.take_writer().unwrap()));
        let came = Arc::new(Mutex::new(Vec::new()));
        let far = Self { came: Arc::clone(&came), keys: Arc::clone(&keys), neco };
        std::thread::spawn(move || {
            let _master = pair.master;
            let (most, takes) = line.piece;
            let mut piece = vec![0; most];
            while let Ok(read @ 1..) = out.read(&mut piece) {
                std::thread::sleep(takes);
                let mut came = came.lock().unwrap();
                let before = came.len();
                came.extend_from_slice(&piece[..read]);
                let asked = |question: &str| {
                    let since = (before + 1).saturating_sub(question.len());
                    came[since..].windows(question.len()).filter(|bytes| *bytes == question.as_bytes()).count()
                };
                let answers = line.answers.iter().map(|&(question, answer)| answer.repeat(asked(question)));
                let answers: String = answers.collect();
                drop(came);
                write(&keys, answers.as_bytes());
            }
        });
        far
    }

    /// Presses keys; gives how many bytes came before them.
    pub fn types(&self, keys: &str) -> usize {
        let before = self.came.lock().unwrap().len();
        write(&self.keys, keys.as_bytes());
        before
    }

    /// How many bytes came from `since` on until `text` did.
    #[track_caller]
    pub fn until(&self, text: &str, since: usize) -> usize {
        let begun = Instant::now();
        loop {
            if let Some(found) = self.find(text, since) {
                return found;
            }
            let last = String::from_utf8_lossy(&self.came.lock().unwrap()[since..]).into_owned();
            assert!(begun.elapsed() < PATIENCE, "waited for {text:?}; there came {last:?}");
            std::thread::sleep(Duration::from_millis(5));
        }
    }

    /// How many bytes came from `since` on before `text`, if that has come.
    pub fn find(&self, text: &str, since: usize) -> Option<usize> {
        let came = self.came.lock().unwrap();
        came[since..].windows(text.len()).position(|bytes| bytes == text.as_bytes())
    }
}

impl Drop for Far {
    fn drop(&mut self) {
        // It may have ended.
        let _ = self.neco.kill();
    }
}

fn write(keys: &Mutex<Box<dyn Write + Send>>, bytes: &[u8]) {
    let mut keys = keys.lock().unwrap();
    // The window may be gone.
    let _ = keys.write_all(bytes).and_then(|()| keys.flush());
}
