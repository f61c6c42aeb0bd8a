//! What the server does wrong apart from its answers: crashes, floods, junk, and processes left behind.

use std::io::{self, Write};
use std::os::unix::process::CommandExt;
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::time::Duration;
use std::{env, fs, process, thread};

use crate::options::{Fault, Options};
use crate::protocol::Failure;
use crate::server::Server;

/// What stands in a message for a schema that is too deep to be built as a value.
pub const DEEP_SCHEMA: &str = "@deep-schema@";

const DEPTH: usize = 5_000;

const MEGABYTE: usize = 1 << 20;

/// A flood comes in this many pieces a second.
const PIECES: usize = 10;

const JUNK: &[u8] = b"The server is starting...\n\n{not json\n\xff\xfe no text at all\n\x1b[31mred\x1b[0m\n";

/// Ends the server with a line on stderr.
pub fn die(code: i32, message: &str) -> ! {
    // Nobody may read it; the code is there in any case.
    let _ = io::stderr().write_all(format!("fake-mcp: {message}\n").as_bytes());
    process::exit(code)
}

/// Starts the same program in the same process with SIGTERM ignored, which only a shell can do without unsafe code.
pub fn start_again_without_term() -> ! {
    let program = env::current_exe().unwrap_or_else(|error| die(2, &error.to_string()));
    let mut shell = Command::new("/bin/sh");
    shell.args(["-c", r#"trap '' TERM; exec "$0" "$@""#]).arg(program).args(env::args_os().skip(1));
    let error = shell.arg("--term-ignored").exec();
    die(2, &format!("/bin/sh: {error}"))
}

/// Does what is wrong before the first line is read.
pub fn begin(server: &Arc<Server>) {
    let options = &server.options;
    if options.has(Fault::Junk) {
        server.write(JUNK);
    }
    if options.has(Fault::CrashStart) {
        die(3, "crashed at the start, as asked");
    }
    crash_first(options);
    if options.has(Fault::Fork) {
        leave_process(server);
    }
    if options.has(Fault::StderrFlood) {
        // Who does not read stderr does not get an answer either; who has closed it loses nothing.
        let _ = io::stderr().write_all(&noise(MEGABYTE));
        flood(|noise| io::stderr().write_all(noise).is_ok());
    }
    if options.has(Fault::Flood) {
        let server = Arc::clone(server);
        flood(move |noise| {
            server.write(noise);
            true
        });
    }
}

/// Does what is wrong with a call before it is carried out; a call that gets no answer fails silently.
pub fn before_call(server: &Server) -> Result<(), Failure> {
    if server.options.has(Fault::CrashCall) {
        server.write(br#"{"jsonrpc":"2.0","id":"#);
        die(4, "crashed in a call, as asked");
    }
    if server.options.has(Fault::NoNewline) {
        let piece = vec![b'x'; MEGABYTE];
        for _ in 0..100 {
            server.write(&piece);
        }
        return Err(Failure::Silence);
    }
    if server.options.has(Fault::HangCall) { Err(Failure::Silence) } else { Ok(()) }
}

/// The bytes of a message, with what is wrong in front of it and in it.
pub fn line(options: &Options, mut message: String) -> Vec<u8> {
    if options.has(Fault::SchemaDeep) {
        message = message.replace(&format!("\"{DEEP_SCHEMA}\""), &deep_schema());
    }
    let mut bytes = if options.has(Fault::Junk) { JUNK.to_vec() } else { Vec::new() };
    bytes.extend_from_slice(message.as_bytes());
    bytes.push(b'\n');
    bytes
}

fn deep_schema() -> String {
    let open = r#"{"type":"object","properties":{"a":"#.repeat(DEPTH);
    let close = "}}".repeat(DEPTH);
    format!(r#"{open}{{"type":"string"}}{close}"#)
}

fn crash_first(options: &Options) {
    let crashes = options.crashes();
    if crashes == 0 {
        return;
    }
    let Some(path) = &options.state else { die(2, "crash-first needs --state") };
    let before = fs::read_to_string(path).ok().and_then(|text| text.trim().parse::<usize>().ok()).unwrap_or(0);
    if before < crashes {
        if let Err(error) = fs::write(path, (before + 1).to_string()) {
            die(2, &format!("--state: {error}"));
        }
        die(3, "crashed at one of the first starts, as asked");
    }
}

#[allow(clippy::zombie_processes, reason = "it is left behind on purpose")]
fn leave_process(server: &Server) {
    match Command::new("sleep").arg("1000").stdin(Stdio::null()).process_group(0).spawn() {
        Ok(child) => server.record(&format!("forked {}", child.id())),
        Err(error) => die(2, &format!("sleep: {error}")),
    }
}

/// Writes a megabyte a second for as long as it can be written.
fn flood(mut write: impl FnMut(&[u8]) -> bool + Send + 'static) {
    let noise = noise(MEGABYTE / PIECES);
    thread::spawn(move || {
        while write(&noise) {
            thread::sleep(Duration::from_secs(1) / PIECES as u32);
        }
    });
}

fn noise(size: usize) -> Vec<u8> {
    b"noise that nobody asked for, and more of it in the next line\n".iter().copied().cycle().take(size).collect()
}
