//! Looking for secrets costs little.

use std::time::Instant;

use neco_safety::secrets::{Redactor, Scope};

/// Plain text as tools print it, without a secret.
fn plain(bytes: usize) -> String {
    let lines = [
        "   Compiling serde v1.0.228 (registry+https://example.com/index)\n",
        "fn next_token(&mut self) -> Option<Token> { self.tokens.next() }\n",
        "test scheduler::live::tests::a_flood_is_thinned_out_and_says_so ... ok\n",
        "The quick brown fox jumps over the lazy dog, 1234567890 times or so.\n",
        "  \"resolved\": \"https://packages.example.com/left-pad/-/left-pad-1.3.0.tgz\",\n",
    ];
    lines.iter().cycle().flat_map(|line| line.chars()).take(bytes).collect()
}

/// Prints the figure; what it promises is measured by `cargo xtask bench` on an optimised build.
#[test]
fn plain_text_is_passed_quickly() {
    let text = plain(4 * 1024 * 1024);
    let redactor = Redactor::default();
    let begun = Instant::now();
    assert!(matches!(redactor.redact(&text, Scope::Outside), std::borrow::Cow::Borrowed(_)));
    let seconds = begun.elapsed().as_secs_f64();
    println!("{:.0} MB/s", text.len() as f64 / 1e6 / seconds);
    assert!(seconds < 5.0, "{seconds} s for 4 MB, even without optimisation");
}
