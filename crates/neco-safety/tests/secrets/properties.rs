//! However text comes in pieces, the same is taken out, and twice is as good as once.

use neco_safety::secrets::{KnownSecret, Redactor, Scope};
use proptest::prelude::*;

use crate::ordinary::ORDINARY;
use crate::secret::{SECRETS, case};

fn redactor() -> Redactor {
    Redactor::new([KnownSecret { what: "MINE".to_owned(), value: "kn0wn välue with spaces 1".to_owned() }])
}

/// Text with secrets and other things in it.
fn text() -> impl Strategy<Value = String> {
    let secret = (0..SECRETS.len()).prop_map(|at| case(SECRETS[at].0, SECRETS[at].1).0);
    let ordinary = (0..ORDINARY.len()).prop_map(|at| ORDINARY[at].to_owned());
    let words = "[ -~é漢\n]{0,40}".prop_map(|words| words);
    let known = Just("kn0wn välue with spaces 1".to_owned());
    let gap = prop_oneof![Just("\n"), Just(" "), Just(", "), Just("; ")];
    let piece = (prop_oneof![secret, ordinary, words, known], gap).prop_map(|(piece, gap)| piece + gap);
    prop::collection::vec(piece, 0..6).prop_map(|pieces| pieces.concat())
}

fn in_pieces(redactor: &Redactor, text: &str, sizes: &[usize], scope: Scope) -> (String, usize) {
    let mut stream = redactor.stream(scope);
    let (mut out, mut rest, mut most) = (String::new(), text, 0);
    for size in sizes.iter().cycle() {
        if rest.is_empty() {
            break;
        }
        let (piece, after) = rest.split_at(rest.floor_char_boundary((*size).max(4)));
        out.push_str(&stream.push_str(piece));
        rest = after;
        most = most.max(text.len() - rest.len() - out.len().min(text.len() - rest.len()));
    }
    out.push_str(&stream.finish_str());
    (out, most)
}

proptest! {
    #[test]
    fn pieces_and_the_whole_are_redacted_alike(text in text(), sizes in prop::collection::vec(1usize..50, 1..8)) {
        for scope in [Scope::Outside, Scope::Said] {
            let redactor = redactor();
            let whole = redactor.redact(&text, scope).into_owned();
            let (pieces, _) = in_pieces(&redactor, &text, &sizes, scope);
            prop_assert_eq!(&pieces, &whole);
        }
    }

    #[test]
    fn twice_is_as_good_as_once(text in text()) {
        let redactor = redactor();
        let once = redactor.redact(&text, Scope::Outside).into_owned();
        let twice = redactor.redact(&once, Scope::Outside).into_owned();
        prop_assert_eq!(twice, once);
    }

    #[test]
    fn any_bytes_in_any_pieces_end(bytes in prop::collection::vec(any::<u8>(), 0..300), size in 1usize..40) {
        let mut stream = Redactor::default().stream(Scope::Outside);
        let mut out: Vec<u8> = bytes.chunks(size).flat_map(|piece| stream.push(piece)).collect();
        out.extend(stream.finish());
        prop_assert!(out.len() <= bytes.len() + 1000);
    }
}

#[test]
fn a_secret_cut_anywhere_is_caught() {
    for (text, what) in SECRETS {
        let (before, expected) = case(text, what);
        for cut in (1..before.len()).filter(|at| before.is_char_boundary(*at)) {
            let mut stream = Redactor::default().stream(Scope::Outside);
            let (one, two) = before.split_at(cut);
            let out = stream.push_str(one) + &stream.push_str(two) + &stream.finish_str();
            assert_eq!(out, expected, "cut at {cut} of {before:?}");
        }
    }
}

#[test]
fn little_is_held_back() {
    let redactor = Redactor::default();
    let mut stream = redactor.stream(Scope::Outside);
    assert_eq!(stream.push_str("Compiling neco v0.1.0\nPassword: "), "Compiling neco v0.1.0\n");
    assert_eq!(stream.push_str("\nDownloading 10%"), "Password: \nDownloading 10%");
    assert_eq!(stream.push_str(" 20%"), " 20%");
    let endless = "x".repeat(100_000);
    let given = stream.push_str(&endless).len();
    assert!(given > 99_000, "{given}");
    let key = format!("-----BEGIN PRIVATE KEY-----\n{}", "MIIEvQIBADANBgkqhkiG9w0BAQEFAASCBKcwggSj\n".repeat(1000));
    assert!(!stream.push_str(&key).is_empty());
    assert!(stream.finish_str().len() < 40_000);
}
