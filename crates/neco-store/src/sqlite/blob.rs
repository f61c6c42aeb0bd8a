//! Big strings of events, kept once however often they occur.
//!
//! The JSON text of an event never has a bare control character, so one of them followed by a hash says
//! without doubt that a string's content is kept elsewhere. What is cut out is the content as it stands in
//! the JSON text, so putting it back gives the same bytes.

use std::borrow::Cow;
use std::collections::{BTreeSet, HashMap};
use std::fmt::Write as _;

use sha2::{Digest, Sha256};
use sqlx::SqliteConnection;

/// From how many bytes on a string is kept apart. Below, a row of its own would gain nothing.
pub(super) const BIG: usize = 2048;
/// What stands before a hash.
const MARK: char = '\u{1}';
/// How many characters a hash has.
const HASH: usize = 64;
/// How much smaller packing must make a string to be worth the unpacking, in hundredths.
const WORTH: usize = 90;
/// zstd's quickest usual level: the writer waits for it.
const LEVEL: i32 = 1;

const AS_IT_IS: i64 = 0;
const ZSTD: i64 = 1;

/// The SHA-256 of a string in hex.
pub(super) type Hash = String;

/// A string that is kept apart.
pub(super) struct Blob<'a> {
    pub(super) hash: Hash,
    pub(super) content: &'a str,
}

/// Cuts the big strings out of the JSON text of an event.
pub(super) fn cut_out(body: &str) -> (Cow<'_, str>, Vec<Blob<'_>>) {
    let mut blobs = Vec::new();
    if body.len() < BIG {
        return (Cow::Borrowed(body), blobs);
    }
    let mut short = String::new();
    let mut rest = body;
    while let Some((before, content, after)) = next_big_string(rest) {
        let hash = hash_of(content);
        short.extend([before, MARK.encode_utf8(&mut [0; 4]), &hash]);
        blobs.push(Blob { hash, content });
        short.push('"');
        rest = after;
    }
    if blobs.is_empty() {
        return (Cow::Borrowed(body), blobs);
    }
    short.push_str(rest);
    (Cow::Owned(short), blobs)
}

/// What stands before the next big string, its content, and what stands behind its closing quote.
fn next_big_string(text: &str) -> Option<(&str, &str, &str)> {
    let bytes = text.as_bytes();
    let mut from = 0;
    loop {
        let start = from + memchr::memchr(b'"', bytes.get(from..)?)? + 1;
        let end = end_of_string(bytes, start)?;
        if end - start >= BIG {
            return Some((text.get(..start)?, text.get(start..end)?, text.get(end + 1..)?));
        }
        from = end + 1;
    }
}

/// Where the quote stands that ends the string whose content begins at `at`.
fn end_of_string(bytes: &[u8], mut at: usize) -> Option<usize> {
    loop {
        at += memchr::memchr2(b'"', b'\\', bytes.get(at..)?)?;
        if bytes.get(at) == Some(&b'"') {
            return Some(at);
        }
        at += 2;
    }
}

fn hash_of(content: &str) -> Hash {
    let mut hex = String::with_capacity(HASH);
    for byte in Sha256::digest(content.as_bytes()) {
        let _ = write!(hex, "{byte:02x}");
    }
    hex
}

/// The hashes that stand in `bodies`.
pub(super) fn hashes_in(bodies: &str) -> BTreeSet<&str> {
    bodies.split(MARK).skip(1).filter_map(|after| after.get(..HASH)).collect()
}

/// What stands in the place of a string that is lost.
const LOST: &str = "[lost: the session store was damaged]";

/// The JSON text with its big strings in it again, or with words in their place that say they are lost.
pub(super) fn put_back<'a>(body: &'a str, contents: &HashMap<Hash, String>) -> Cow<'a, str> {
    let mut pieces = body.split(MARK);
    let first = pieces.next().unwrap_or_default();
    if first.len() == body.len() {
        return Cow::Borrowed(body);
    }
    let mut whole = first.to_owned();
    for piece in pieces {
        // Cut off, it is no JSON either, and whoever reads it says so.
        let (hash, rest) = piece.split_at_checked(HASH).unwrap_or((piece, ""));
        whole.push_str(contents.get(hash).map_or(LOST, String::as_str));
        whole.push_str(rest);
    }
    Cow::Owned(whole)
}

/// Keeps the blobs of a session's events, inside a transaction.
pub(super) async fn keep(
    connection: &mut SqliteConnection,
    session: uuid::Uuid,
    blobs: &[Blob<'_>],
) -> Result<(), sqlx::Error> {
    for blob in blobs {
        let found: Option<i64> = sql!(
            query_scalar.fetch_optional(&mut *connection),
            "SELECT id FROM blobs WHERE hash = unhex(?)",
            (blob.hash.as_str())
        )?;
        let id = match found {
            Some(id) => id,
            None => insert(connection, blob).await?,
        };
        use_by(connection, session, id).await?;
    }
    Ok(())
}

async fn insert(connection: &mut SqliteConnection, blob: &Blob<'_>) -> Result<i64, sqlx::Error> {
    let (packing, content) = pack(blob.content);
    let inserted = sql!(
        query.execute(connection),
        "INSERT INTO blobs (hash, size, packing, content) VALUES (unhex(?), ?, ?, ?)",
        (blob.hash.as_str(), i64::try_from(blob.content.len()).unwrap_or(i64::MAX), packing, content.into_owned())
    )?;
    Ok(inserted.last_insert_rowid())
}

/// Notes that the session has the blob.
pub(super) async fn use_by(
    connection: &mut SqliteConnection,
    session: uuid::Uuid,
    blob: i64,
) -> Result<(), sqlx::Error> {
    sql!(
        query.execute(connection),
        "INSERT INTO blob_uses (session_id, blob) VALUES (?, ?) ON CONFLICT DO NOTHING",
        (session, blob)
    )
    .map(drop)
}

fn pack(content: &str) -> (i64, Cow<'_, [u8]>) {
    match zstd::bulk::compress(content.as_bytes(), LEVEL) {
        Ok(packed) if packed.len() * 100 < content.len() * WORTH => (ZSTD, Cow::Owned(packed)),
        // It packs into memory of the right size, so it does not fail; unpacked is right in any case.
        Ok(_) | Err(_) => (AS_IT_IS, Cow::Borrowed(content.as_bytes())),
    }
}

/// The contents of the blobs that `bodies` have; those that are not there are left out.
pub(super) async fn contents(
    connection: &mut SqliteConnection,
    bodies: &str,
) -> Result<HashMap<Hash, String>, sqlx::Error> {
    let hashes = hashes_in(bodies);
    if hashes.is_empty() {
        return Ok(HashMap::new());
    }
    let wanted = serde_json::Value::from_iter(hashes).to_string();
    let rows: Vec<(String, i64, i64, Vec<u8>)> = sql!(
        query_as.fetch_all(connection),
        "SELECT lower(hex(hash)), size, packing, content FROM blobs
            WHERE hash IN (SELECT unhex(value) FROM json_each(?))",
        (wanted)
    )?;
    Ok(rows
        .into_iter()
        .filter_map(|(hash, size, packing, content)| {
            // What is not what was kept is lost, and shown as such.
            let text = unpack(size, packing, content).filter(|text| hash_of(text) == hash)?;
            Some((hash, text))
        })
        .collect())
}

/// Whether the JSON text of an event is one, with or without its big strings.
pub(super) fn is_json(body: &[u8]) -> bool {
    let plain: Vec<u8> = body.iter().map(|byte| if *byte == MARK as u8 { b' ' } else { *byte }).collect();
    std::str::from_utf8(&plain).is_ok_and(|text| serde_json::from_str::<serde::de::IgnoredAny>(text).is_ok())
}

/// Whether what is kept under a hash is what it was when it was kept.
pub(super) fn is_sound(hash: &[u8], size: i64, packing: i64, content: &[u8]) -> bool {
    unpack(size, packing, content.to_vec()).is_some_and(|text| Sha256::digest(text.as_bytes()).as_slice() == hash)
}

/// `None` when it is damaged.
fn unpack(size: i64, packing: i64, content: Vec<u8>) -> Option<String> {
    let size = usize::try_from(size).ok()?;
    let bytes = match packing {
        AS_IT_IS => content,
        ZSTD => zstd::bulk::decompress(&content, size).ok()?,
        _ => return None,
    };
    String::from_utf8(bytes).ok().filter(|text| text.len() == size)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn contents_of(blobs: &[Blob<'_>]) -> HashMap<Hash, String> {
        blobs
            .iter()
            .map(|blob| {
                let (packing, packed) = pack(blob.content);
                let unpacked = unpack(blob.content.len() as i64, packing, packed.into_owned()).unwrap();
                (blob.hash.clone(), unpacked)
            })
            .collect()
    }

    proptest! {
        #[test]
        fn what_is_cut_out_can_be_put_back(strings in prop::collection::vec((".{0,40}", 0usize..200), 0..6)) {
            let strings: Vec<String> = strings.iter().map(|(text, times)| text.repeat(*times)).collect();
            let body = serde_json::json!({ "a": strings, "b\"": { "c\\": strings.last() } }).to_string();
            let (short, blobs) = cut_out(&body);
            prop_assert!(blobs.iter().all(|blob| blob.content.len() >= BIG));
            prop_assert!(short.len() < (strings.len() + 1) * (BIG + 10) + 100);
            prop_assert!(hashes_in(&short).len() <= blobs.len());
            prop_assert_eq!(put_back(&short, &contents_of(&blobs)), body.as_str());
        }
    }

    #[test]
    fn a_string_that_is_gone_is_named() {
        let body = format!("{{\"a\":\"{}\"}}", "x".repeat(BIG));
        let (short, blobs) = cut_out(&body);
        assert_eq!((short.len(), blobs.len()), (8 + 1 + HASH, 1));
        assert!(put_back(&short, &HashMap::new()).contains(LOST), "what is lost is said");
    }
}
