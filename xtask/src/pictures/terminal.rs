//! The binary in a terminal that answers what programs ask of one.

use std::io::{Read, Write};
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};
use portable_pty::{Child, CommandBuilder, MasterPty, PtySize, native_pty_system};

use super::Colours;

const ROWS: u16 = 40;
const COLUMNS: u16 = 100;

/// How long anything may take.
const PATIENCE: Duration = Duration::from_secs(60);

/// How long the screen has to stay as it is to be at rest.
const REST: Duration = Duration::from_millis(1500);

type Shared<T> = Arc<Mutex<T>>;

/// A terminal with the window in it.
pub struct Terminal {
    parser: Shared<vt100::Parser>,
    keys: Shared<Box<dyn Write + Send>>,
    program: Box<dyn Child + Send + Sync>,
    _pair: Box<dyn MasterPty + Send>,
}

impl Terminal {
    /// Starts the window in a project, with nothing of whoever calls this.
    pub fn start(binary: &Path, home: &Path, project: &Path, colours: &Colours) -> Result<Self> {
        let size = PtySize { rows: ROWS, cols: COLUMNS, pixel_width: 0, pixel_height: 0 };
        let pair = native_pty_system().openpty(size)?;
        let mut command = CommandBuilder::new(binary);
        command.env_clear();
        command.cwd(project);
        for (name, value) in [("TERM", "xterm-256color"), ("COLORTERM", "truecolor"), ("LANG", "C.UTF-8")] {
            command.env(name, value);
        }
        command.env("HOME", home);
        command.env("PATH", std::env::var_os("PATH").unwrap_or_default());
        let program = pair.slave.spawn_command(command)?;
        let parser = Arc::new(Mutex::new(vt100::Parser::new(ROWS, COLUMNS, 0)));
        let keys = Arc::new(Mutex::new(pair.master.take_writer()?));
        let mut output = pair.master.try_clone_reader()?;
        let (drawn, answers) = (Arc::clone(&parser), Arc::clone(&keys));
        let ground = ground_in_words(colours.ground);
        std::thread::spawn(move || {
            let mut bytes = [0; 8192];
            while let Ok(count @ 1..) = output.read(&mut bytes) {
                let mut parser = drawn.lock().unwrap_or_else(PoisonError::into_inner);
                parser.process(&bytes[..count]);
                let (row, column) = parser.screen().cursor_position();
                drop(parser);
                let told = String::from_utf8_lossy(&bytes[..count]).into_owned();
                let mut answers = answers.lock().unwrap_or_else(PoisonError::into_inner);
                let known = [
                    ("\x1b]11;?", format!("\x1b]11;{ground}\x1b\\")),
                    ("\x1b[6n", format!("\x1b[{};{}R", row + 1, column + 1)),
                    ("\x1b[c", "\x1b[?62c".to_owned()),
                ];
                for (_, answer) in known.iter().filter(|(question, _)| told.contains(question)) {
                    let _ = answers.write_all(answer.as_bytes());
                }
            }
        });
        Ok(Self { parser, keys, program, _pair: pair.master })
    }

    /// What is on the screen.
    pub fn screen(&self) -> vt100::Screen {
        self.parser.lock().unwrap_or_else(PoisonError::into_inner).screen().clone()
    }

    /// Types something, and waits for what comes of it.
    pub fn press(&mut self, keys: &str) -> Result<&mut Self> {
        self.keys.lock().unwrap_or_else(PoisonError::into_inner).write_all(keys.as_bytes())?;
        self.rest();
        Ok(self)
    }

    /// Waits until these words are on the screen.
    pub fn wait_for(&mut self, words: &str) -> Result<()> {
        let begun = Instant::now();
        while !self.screen().contents().contains(words) {
            if begun.elapsed() > PATIENCE {
                bail!("the window does not show `{words}`:\n{}", self.screen().contents());
            }
            if let Some(status) = self.program.try_wait().context("the window")? {
                bail!("the window ended ({status:?}):\n{}", self.screen().contents());
            }
            std::thread::sleep(Duration::from_millis(50));
        }
        Ok(())
    }

    /// Waits until nothing changes.
    pub fn rest(&self) {
        let (begun, mut seen, mut since) = (Instant::now(), self.screen().contents(), Instant::now());
        while since.elapsed() < REST && begun.elapsed() < PATIENCE {
            std::thread::sleep(Duration::from_millis(50));
            let now = self.screen().contents();
            if now != seen {
                (seen, since) = (now, Instant::now());
            }
        }
    }
}

impl Drop for Terminal {
    fn drop(&mut self) {
        let _ = self.program.kill();
        let _ = self.program.wait();
    }
}

/// `#14110f` as terminals tell it.
fn ground_in_words(colour: &str) -> String {
    let pairs: Vec<&str> = [1..3, 3..5, 5..7].into_iter().filter_map(|part| colour.get(part)).collect();
    format!("rgb:{}", pairs.iter().map(|pair| format!("{pair}{pair}")).collect::<Vec<_>>().join("/"))
}
