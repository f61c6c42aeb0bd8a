//! Writes the table of command lines as the corpus that the fuzzer starts from.

use std::path::Path;
use std::{fs, io};

const TABLE: &str = include_str!("../../crates/neco-safety/tests/command/table.txt");

fn main() -> io::Result<()> {
    let corpus = Path::new(env!("CARGO_MANIFEST_DIR")).join("corpus/command");
    fs::create_dir_all(&corpus)?;
    let lines = TABLE.lines().filter(|line| !line.is_empty() && !line.starts_with('#'));
    for (number, line) in lines.enumerate() {
        let command = line.split_once(' ').map_or("", |(_, command)| command.trim_start()).replace('␤', "\n");
        // The first byte chooses what the line is put beside.
        fs::write(corpus.join(format!("{number:04}")), format!("{}{command}", number % 8))?;
    }
    Ok(())
}
