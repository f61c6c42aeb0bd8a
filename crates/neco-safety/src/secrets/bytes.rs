//! What stretches of bytes look like.

use super::cost::looked_at;

/// The shortest stretch of letters and digits that no word of a natural name reaches.
const RANDOM_RUN: usize = 10;

/// Letters, digits, `_` and `-`.
pub(super) fn is_word_byte(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-')
}

/// How many bytes at the beginning are `allowed`, counted up to `most`: without that limit a text that
/// is one long run would be counted anew at each of its words.
pub(super) fn run_of(text: &[u8], most: usize, allowed: impl Fn(u8) -> bool) -> usize {
    let length = text.iter().take(most).take_while(|byte| allowed(**byte)).count();
    looked_at(length);
    length
}

/// How many bytes at the end are `allowed`, counted up to `most`.
pub(super) fn run_before(text: &[u8], most: usize, allowed: impl Fn(u8) -> bool) -> usize {
    text.iter().rev().take(most).take_while(|byte| allowed(**byte)).count()
}

/// Whether the letter before `at` belongs to `\n`, `\r` or `\t` as they are written in JSON.
pub(super) fn escaped_before(text: &[u8], at: usize) -> bool {
    let before = at.checked_sub(2).and_then(|start| text.get(start..at));
    matches!(before, Some([b'\\', b'n' | b'r' | b't']))
}

/// Whether a stretch of letters and digits is too long and too mixed for a word.
pub(super) fn random_run(text: &[u8]) -> bool {
    let mut runs = text.split(|byte| !byte.is_ascii_alphanumeric());
    runs.any(|run| run.len() >= RANDOM_RUN && run.iter().any(u8::is_ascii_digit))
}

/// How often letters and digits follow each other: words have one number at most.
pub(super) fn changes(text: &[u8]) -> usize {
    let kind = |byte: u8| (byte.is_ascii_alphabetic(), byte.is_ascii_digit());
    let pairs = text.iter().zip(text.iter().skip(1)).map(|(one, next)| (kind(*one), kind(*next)));
    pairs.filter(|(one, next)| matches!((one, next), ((true, _), (_, true)) | ((_, true), (true, _)))).count()
}

/// Bits of information in each byte, were they drawn one by one.
pub(super) fn entropy(text: &[u8]) -> f64 {
    let mut counts = [0_u32; 256];
    text.iter().for_each(|byte| counts[usize::from(*byte)] += 1);
    let total = text.len().max(1) as f64;
    let share = |count: &u32| f64::from(*count) / total;
    counts.iter().filter(|count| **count > 0).map(share).map(|share| -share * share.log2()).sum()
}

/// How many of lower case, upper case, digits and other signs there are.
pub(super) fn classes(text: &[u8]) -> usize {
    let has = |is: fn(&u8) -> bool| usize::from(text.iter().any(is));
    has(u8::is_ascii_lowercase)
        + has(u8::is_ascii_uppercase)
        + has(u8::is_ascii_digit)
        + has(|byte| !byte.is_ascii_alphanumeric())
}

/// Whether a text contains `wanted`, which is in lower case, in any case.
pub(super) fn contains_folded(text: &[u8], wanted: &str) -> bool {
    text.windows(wanted.len()).any(|window| window.eq_ignore_ascii_case(wanted.as_bytes()))
}
