//! What an editor's terminal runs for a command: it prints what comes by a socket, and ends as the command ends.

use std::io::{self, BufRead, BufReader, Write};
use std::os::unix::net::UnixStream;
use std::process::ExitCode;

use serde_json::Value;

/// The variable that names the socket. The program and its arguments are what the terminal is called.
pub(crate) const ASKED: &str = "NECO_TERMINAL_SHOWS";

/// What nobody told the end of has failed.
const LOST: u8 = 1;

/// Prints a command if this process was started for that, and says how to end then. To be called before anything is set up;
/// otherwise it costs one look at the environment.
pub fn print_command_if_asked() -> Option<ExitCode> {
    let socket = std::env::var_os(ASKED)?;
    let code = UnixStream::connect(socket).and_then(|stream| print(BufReader::new(stream), io::stdout()));
    Some(ExitCode::from(code.unwrap_or(LOST)))
}

fn print(lines: impl BufRead, mut output: impl Write) -> io::Result<u8> {
    for line in lines.lines() {
        let told: Value = serde_json::from_str(&line?)?;
        if let Some(text) = told["print"].as_str() {
            output.write_all(text.as_bytes())?;
            output.flush()?;
        }
        if let Some(code) = told["exit"].as_i64() {
            return Ok(u8::try_from(code).unwrap_or(LOST));
        }
    }
    Ok(LOST)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_told_is_printed_and_the_end_is_the_commands() {
        let mut printed = Vec::new();
        let lines = "{\"print\":\"one\\n\"}\n{\"print\":\"two\"}\n{\"exit\":3}\n{\"print\":\"more\"}\n";
        assert_eq!(print(lines.as_bytes(), &mut printed).unwrap(), 3);
        assert_eq!(printed, b"one\ntwo");
        assert_eq!(print("{\"print\":\"cut off\"}\n".as_bytes(), io::sink()).unwrap(), LOST);
    }
}
