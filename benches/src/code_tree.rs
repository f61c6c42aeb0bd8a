//! A repository of 50,000 files in nine languages and some prose: always the same, from a fixed seed.

use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};

/// How many files there are.
pub const FILES: usize = 50_000;

const PER_FOLDER: usize = 40;
const FUNCTIONS: usize = 9;
const LINES: usize = 7;

const WORDS: [&str; 64] = [
    "session",
    "index",
    "buffer",
    "parser",
    "token",
    "stream",
    "channel",
    "worker",
    "cache",
    "router",
    "request",
    "response",
    "handler",
    "config",
    "policy",
    "ledger",
    "account",
    "invoice",
    "order",
    "price",
    "stock",
    "shelf",
    "customer",
    "address",
    "payment",
    "refund",
    "report",
    "summary",
    "window",
    "layout",
    "render",
    "cursor",
    "widget",
    "screen",
    "color",
    "shape",
    "matrix",
    "vector",
    "kernel",
    "driver",
    "device",
    "packet",
    "socket",
    "server",
    "client",
    "cluster",
    "replica",
    "journal",
    "segment",
    "bucket",
    "archive",
    "backup",
    "restore",
    "migrate",
    "schema",
    "column",
    "record",
    "cipher",
    "secret",
    "signature",
    "verify",
    "commit",
    "branch",
    "merge",
];

/// Writes the repository below `folder`.
pub fn write(folder: &Path) -> anyhow::Result<()> {
    fs::write(folder.join(".gitignore"), "/target/\n*.log\n")?;
    let mut text = String::new();
    for number in 0..FILES {
        let path = folder.join(path(number));
        if number % PER_FOLDER == 0
            && let Some(parent) = path.parent()
        {
            fs::create_dir_all(parent)?;
        }
        text.clear();
        fill(&mut text, number, 0);
        fs::write(path, &text)?;
    }
    Ok(())
}

/// Writes some files anew, with other content.
pub fn change(folder: &Path, count: usize, round: u64) -> anyhow::Result<()> {
    for step in 0..count {
        let number = (step * 4801 + round as usize * 37) % FILES;
        let mut text = String::new();
        fill(&mut text, number, round);
        fs::write(folder.join(path(number)), text)?;
    }
    Ok(())
}

/// The path of a file.
pub fn path(number: usize) -> PathBuf {
    let folder = number / PER_FOLDER;
    let language = Language::of(number);
    let name = format!("{}_{}_{number}", word(number), word(number / 7));
    PathBuf::from(format!("part{:02}/{}_{folder}/{name}.{}", folder / 30, word(folder), language.extension()))
}

/// The name of a function of a file.
pub fn function(number: usize, which: usize) -> String {
    format!("{}_{}_{number}", word(number + which * 3), word(number / 3 + which))
}

fn word(number: usize) -> &'static str {
    WORDS[number.wrapping_mul(31) % WORDS.len()]
}

#[derive(Clone, Copy)]
enum Language {
    Rust,
    Python,
    TypeScript,
    JavaScript,
    Go,
    Java,
    C,
    Cpp,
    Bash,
    Prose,
}

impl Language {
    fn of(number: usize) -> Self {
        match number / PER_FOLDER % 20 {
            0..=4 => Self::Rust,
            5..=7 => Self::Python,
            8..=10 => Self::TypeScript,
            11 => Self::JavaScript,
            12..=13 => Self::Go,
            14..=15 => Self::Java,
            16 => Self::C,
            17 => Self::Cpp,
            18 => Self::Bash,
            _ => Self::Prose,
        }
    }

    fn extension(self) -> &'static str {
        match self {
            Self::Rust => "rs",
            Self::Python => "py",
            Self::TypeScript => "ts",
            Self::JavaScript => "js",
            Self::Go => "go",
            Self::Java => "java",
            Self::C => "c",
            Self::Cpp => "cpp",
            Self::Bash => "sh",
            Self::Prose => "md",
        }
    }

    /// How a function begins and ends, how a line in it looks, and a comment.
    fn frame(self, name: &str) -> (String, &'static str) {
        match self {
            Self::Rust => (format!("pub fn {name}(input: &str, limit: usize) -> Option<u64> {{"), "}"),
            Self::Python | Self::Prose => (format!("def {name}(input, limit=10):"), "    return limit"),
            Self::TypeScript => (format!("export function {name}(input: string, limit: number): number {{"), "}"),
            Self::JavaScript => (format!("export function {name}(input, limit) {{"), "}"),
            Self::Go => (format!("func {name}(input string, limit int) int {{"), "}"),
            Self::Java => (format!("    public static int {name}(String input, int limit) {{"), "    }"),
            Self::C | Self::Cpp => (format!("int {name}(const char *input, int limit)\n{{"), "}"),
            Self::Bash => (format!("{name}() {{"), "}"),
        }
    }

    fn line(self, variable: &str, called: &str, number: usize) -> String {
        match self {
            Self::Rust => format!("    let {variable} = {called}(input, limit + {number})?;"),
            Self::Python => format!("    {variable} = {called}(input, limit + {number})"),
            Self::TypeScript | Self::JavaScript => {
                format!("  const {variable} = {called}(input.trim(), limit + {number});")
            }
            Self::Go => format!("\t{variable} := {called}(input, limit+{number})"),
            Self::Java => format!("        int {variable} = Other.{called}(input, limit + {number});"),
            Self::C | Self::Cpp => format!("    int {variable} = {called}(input, limit + {number});"),
            Self::Bash => format!("  {variable}=$({called} \"$1\" {number})"),
            Self::Prose => format!("The {variable} comes from `{called}` in step {number}."),
        }
    }

    fn comment(self) -> &'static str {
        match self {
            Self::Python | Self::Bash => "#",
            Self::Prose => "##",
            Self::Rust | Self::TypeScript | Self::JavaScript | Self::Go | Self::Java | Self::C | Self::Cpp => "//",
        }
    }
}

fn fill(text: &mut String, number: usize, round: u64) {
    let language = Language::of(number);
    let mut random = Random(number as u64 ^ (round << 32));
    if let Language::Java = language {
        let _ = writeln!(text, "public class Class{number} {{");
    }
    for which in 0..FUNCTIONS {
        let _ = write!(text, "{}", language.comment());
        for _ in 0..10 {
            let _ = write!(text, " {}", WORDS[random.below(WORDS.len())]);
        }
        let (begin, end) = language.frame(&function(number, which));
        let _ = writeln!(text, "\n{begin}");
        for line in 0..LINES {
            // Some files are leaned on by many others.
            let far = random.below(FILES);
            let called = function(far * far / FILES, random.below(FUNCTIONS));
            let variable = format!("{}_{line}", WORDS[random.below(WORDS.len())]);
            let _ = writeln!(text, "{}", language.line(&variable, &called, random.below(1000)));
        }
        let _ = writeln!(text, "{end}\n");
    }
    if let Language::Java = language {
        text.push_str("}\n");
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
