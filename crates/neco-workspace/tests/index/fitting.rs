//! Pieces of files that fit a request.

use neco_safety::path::Access;
use neco_safety::world::Files;
use neco_workspace::index::{Patient, Piece, fitting, fitting_by_names};

use crate::desk::{Desk, anywhere};

fn desk() -> Desk {
    let desk = Desk::new();
    let body: String = (0..40).map(|line| format!("    let value_{line} = {line};\n")).collect();
    desk.put("src/billing/invoice.rs", format!("//! Invoices.\n\n/// Rounds.\npub fn round_half_up() {{\n{body}}}\n"));
    desk.put(
        "src/cache.rs",
        "pub struct Cache;\n\nimpl Cache {\n    /// An entry whose lease expired is evicted, unless a reader pinned it meanwhile.\n    pub fn evict(&self) {}\n}\n",
    );
    desk.put("src/lib.rs", "mod billing;\nmod cache;\n");
    desk.put("docs/cache.md", "An entry whose lease expired is evicted, unless a reader pinned it meanwhile.\n");
    for number in 0..30 {
        desk.put(&format!("src/other_{number}.rs"), format!("pub fn other_{number}() {{}}\n"));
    }
    desk
}

fn places(pieces: &[Piece]) -> Vec<String> {
    pieces.iter().map(|piece| format!("{}:{}-{}", piece.path.display(), piece.first_line, piece.last_line)).collect()
}

fn found(desk: &Desk, request: &str) -> Vec<String> {
    let pieces = desk.index().ask(&Patient, |snapshot| fitting(snapshot, request, &anywhere)).unwrap();
    for piece in &pieces {
        let lines = piece.text.lines().count() as u32;
        assert!(lines <= piece.last_line - piece.first_line + 1, "{piece:?}");
    }
    places(&pieces)
}

fn by_names(desk: &Desk, request: &str) -> Vec<String> {
    let root = Files::new(&desk.workspace, Vec::new()).unwrap().locate(".", Access::Read).unwrap();
    places(&fitting_by_names(&root, request, &anywhere, &Patient).unwrap())
}

#[test]
fn what_is_named_is_found_and_what_is_said_in_enough_words() {
    let desk = desk();
    assert_eq!(found(&desk, "why does `round_half_up` round wrongly?"), ["src/billing/invoice.rs:1-45"]);
    assert_eq!(found(&desk, "look at billing/invoice.rs").len(), 1);
    let words = "entries whose lease is expired should stay pinned while a reader evicts";
    assert_eq!(found(&desk, words), ["src/cache.rs:1-6"]);
}

#[test]
fn little_is_found_where_little_is_said() {
    let desk = desk();
    for request in ["hello", "fix the cache", "is the lease expired?", "write a poem about autumn", "other_3.txt", ""] {
        assert_eq!(found(&desk, request), [""; 0], "{request}");
        assert_eq!(by_names(&desk, request), [""; 0], "{request}");
    }
}

#[test]
fn what_goes_along_anyway_is_not_found() {
    let desk = desk();
    assert_eq!(found(&desk, "why does `round_half_up` in @src/billing/invoice.rs round wrongly?"), [""; 0]);
    assert_eq!(by_names(&desk, "see @src/billing/invoice.rs, and `invoice`"), [""; 0]);
}

#[test]
fn without_an_index_names_of_files_are_found() {
    let desk = desk();
    assert_eq!(by_names(&desk, "the totals in invoice.rs are wrong"), ["src/billing/invoice.rs:1-16"]);
    assert_eq!(by_names(&desk, "what is `Invoice` for, and `Other3`?").len(), 2);
    assert_eq!(by_names(&desk, "why does `round_half_up` round wrongly?"), [""; 0]);
}
