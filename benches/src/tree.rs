//! A tree of files to search: always the same, from a fixed seed.

use std::fs;
use std::path::Path;

/// How many files there are.
pub const FILES: usize = 20_000;
/// In how many of them the needle is, once each.
pub const NEEDLES: usize = 40;

const FOLDERS: usize = 20;
const PER_FOLDER: usize = 50;
const SIZE: usize = 5000;
const SEED: u64 = 0x6e65_636f;

const WORDS: [&str; 32] = [
    "let", "return", "value", "self", "match", "struct", "buffer", "length", "index", "result", "error", "option",
    "string", "vector", "while", "break", "public", "module", "config", "session", "request", "response", "stream",
    "channel", "thread", "future", "poll", "ready", "pending", "waker", "context", "task",
];

/// Writes the tree below `folder`: about 100 MB of words in lines, in two levels of folders.
pub fn write(folder: &Path) -> anyhow::Result<()> {
    fs::write(folder.join(".gitignore"), "/target/\n*.log\n")?;
    let mut random = Random(SEED);
    let mut text = String::with_capacity(SIZE + 100);
    for number in 0..FILES {
        let (outer, inner) = (number / (FOLDERS * PER_FOLDER), number / PER_FOLDER % FOLDERS);
        let parent = folder.join(format!("part{outer:02}/room{inner:02}"));
        if number % PER_FOLDER == 0 {
            fs::create_dir_all(&parent)?;
        }
        text.clear();
        fill(&mut text, number, &mut random);
        fs::write(parent.join(format!("file{number:05}.rs")), &text)?;
    }
    Ok(())
}

fn fill(text: &mut String, number: usize, random: &mut Random) {
    let needle = (number % (FILES / NEEDLES) == 7).then_some(SIZE / 2);
    let mut due = needle;
    while text.len() < SIZE {
        for _ in 0..4 + random.below(8) {
            text.push_str(WORDS[random.below(WORDS.len())]);
            text.push(' ');
        }
        if due.is_some_and(|at| text.len() >= at) {
            text.push_str(&format!("needle_{:04}", number % 10_000));
            due = None;
        }
        text.push('\n');
    }
}

/// Numbers that look random and are the same every time (SplitMix64).
struct Random(u64);

impl Random {
    fn below(&mut self, limit: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((mixed ^ (mixed >> 31)) % limit as u64) as usize
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_needles_are_where_they_should_be_and_nowhere_else() {
        let mut random = Random(SEED);
        let mut found = 0;
        for number in 0..FILES / NEEDLES * 2 {
            let mut text = String::new();
            fill(&mut text, number, &mut random);
            assert!(text.len() >= SIZE && text.len() < SIZE + 200);
            found += text.matches("needle_").count();
        }
        assert_eq!(found, 2);
    }
}
