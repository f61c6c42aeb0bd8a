//! Taking secrets out of text: of output as commands print it, and of text that is made to cost much.
#![allow(clippy::unwrap_used, reason = "without its input a benchmark has nothing to go on with")]

#[path = "support/promise.rs"]
mod promise;

use divan::counter::BytesCount;
use divan::{Bencher, black_box};
use neco_safety::secrets::{KnownSecret, Redactor, Scope};

const BYTES: usize = 1024 * 1024;

/// Bytes that come at a time from a command.
const PIECE: usize = 8 * 1024;

/// Bytes a second of ordinary output, and of the worst.
const LIMIT: f64 = 200e6;
const WORST_LIMIT: f64 = 5e6;

const TEXTS: [&str; 6] = ["output", "secrets", "known", "tokens", "names", "signed"];

fn main() {
    divan::main();
    if promise::is_asked_for() {
        report();
    }
}

fn report() {
    let redactor = redactor();
    for name in TEXTS {
        let text = text(name);
        let whole = rate(&text, || whole(&redactor, &text));
        let pieces = rate(&text, || pieces(&redactor, &text));
        let (limit, words) = match name {
            "output" => (LIMIT, "at least 200 MB/s"),
            _ => (WORST_LIMIT, "at least 5 MB/s"),
        };
        let value = format!("{:.0} MB/s, in pieces {:.0} MB/s", whole / 1e6, pieces / 1e6);
        promise::report(name, &value, words, whole >= limit);
    }
}

fn rate(text: &str, mut redact: impl FnMut() -> usize) -> f64 {
    text.len() as f64 / promise::median(|| (), |()| redact()).as_secs_f64()
}

fn redactor() -> Redactor {
    Redactor::new([KnownSecret { what: "MINE".to_owned(), value: "kn0wn value 1".to_owned() }])
}

/// A megabyte of something.
fn text(name: &str) -> String {
    let piece = match name {
        "output" => {
            "   Compiling serde v1.0.228 (registry+https://example.com/index)\n\
             fn next_token(&mut self) -> Option<Token> { self.tokens.next() }\n\
             test scheduler::live::tests::a_flood_is_thinned_out_and_says_so ... ok\n\
             \x20 \"resolved\": \"https://packages.example.com/left-pad/-/left-pad-1.3.0.tgz\",\n"
        }
        "secrets" => "DB_PASSWORD=Tr0ub4dor.3x\npostgres://me:hunter2@db\n",
        "known" => "kn0wn value 1 ",
        "tokens" => "token=",
        "names" => "token",
        _ => "eyJ.",
    };
    piece.repeat(BYTES / piece.len())
}

#[divan::bench(args = TEXTS)]
fn at_once(bencher: Bencher<'_, '_>, name: &str) {
    let (redactor, text) = (redactor(), text(name));
    bencher.counter(BytesCount::of_str(&text)).bench(|| whole(&redactor, &text));
}

fn whole(redactor: &Redactor, text: &str) -> usize {
    black_box(redactor.redact(text, Scope::Outside)).len()
}

#[divan::bench(args = TEXTS)]
fn in_pieces(bencher: Bencher<'_, '_>, name: &str) {
    let (redactor, text) = (redactor(), text(name));
    bencher.counter(BytesCount::of_str(&text)).bench(|| pieces(&redactor, &text));
}

fn pieces(redactor: &Redactor, text: &str) -> usize {
    let mut stream = redactor.stream(Scope::Outside);
    let given: usize = text.as_bytes().chunks(PIECE).map(|piece| black_box(stream.push(piece)).len()).sum();
    given + stream.finish().len()
}
