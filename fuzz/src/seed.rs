//! Writes what the targets start from: the table of command lines, and fixtures.

use std::path::Path;
use std::{fs, io};

const TABLE: &str = include_str!("../../crates/neco-safety/tests/command/table.txt");

fn main() -> io::Result<()> {
    let lines = TABLE.lines().filter(|line| !line.is_empty() && !line.starts_with('#'));
    for (number, line) in lines.enumerate() {
        let command = line.split_once(' ').map_or("", |(_, command)| command.trim_start()).replace('␤', "\n");
        // The first byte chooses what the line is put beside.
        write("command", number, format!("{}{command}", number % 8).as_bytes())?;
    }
    each("../crates/neco-session/src/roles/builtin", |number, text| write("front_matter", number, text))?;
    // The first byte says where the stream is cut.
    each("../fixtures/llm/openai-chat", |number, text| write("sse", number, &[b"7", text].concat()))?;
    each("../fixtures/view/logs", |number, log| {
        let events = log.split(|byte| *byte == b'\n').filter(|event| !event.is_empty()).take(20);
        let frames = events.map(|event| [br#"{"id":1,"says":{"event":"#, event, b"}}\n"].concat());
        write("frames", number, &frames.collect::<Vec<_>>().concat())
    })
}

/// Does something with every file of a folder.
fn each(folder: &str, mut act: impl FnMut(usize, &[u8]) -> io::Result<()>) -> io::Result<()> {
    let entries = fs::read_dir(Path::new(env!("CARGO_MANIFEST_DIR")).join(folder))?;
    for (number, entry) in entries.enumerate() {
        let path = entry?.path();
        if path.is_file() {
            act(number, &fs::read(path)?)?;
        }
    }
    Ok(())
}

fn write(target: &str, number: usize, content: &[u8]) -> io::Result<()> {
    let corpus = Path::new(env!("CARGO_MANIFEST_DIR")).join("corpus").join(target);
    fs::create_dir_all(&corpus)?;
    fs::write(corpus.join(format!("{number:04}")), content)
}
