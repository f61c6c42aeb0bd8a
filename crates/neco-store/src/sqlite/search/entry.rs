//! One text of the index: its number and its words.

use std::collections::HashMap;
use std::sync::LazyLock;

use neco_proto::{Event, Seq};
use sqlx::SqliteConnection;

use crate::recall::segment::words_of;
use crate::search::text::text_of;

/// How many bits tell texts of one second apart.
const BITS: u32 = 12;
/// How many seconds a text may stand after its own, when its own second is full.
pub(super) const LATE: i64 = 64;

/// A text that goes into the index.
pub(super) struct Entry {
    seq: Seq,
    ts_ms: i64,
    words: String,
}

/// The first number of the second that `ts_ms` lies in.
pub(super) fn number_at(ts_ms: i64) -> i64 {
    ts_ms.clamp(0, i64::MAX >> BITS).div_euclid(1000) << BITS
}

impl Entry {
    /// What of `event` is searched.
    pub(super) fn of(event: &Event) -> Option<Self> {
        let (_, text) = text_of(&event.body)?;
        Some(Self { seq: event.seq, ts_ms: event.ts.as_millisecond(), words: words_of(&text) })
    }

    pub(super) fn bytes(&self) -> usize {
        self.words.len()
    }
}

/// Gives every text a number that no other one has. Knows the seconds it has looked at, inside one transaction.
#[derive(Default)]
pub(super) struct Numbers(HashMap<i64, i64>);

impl Numbers {
    async fn next(&mut self, connection: &mut SqliteConnection, ts_ms: i64) -> Result<i64, sqlx::Error> {
        let mut first = number_at(ts_ms);
        loop {
            let end = first + (1 << BITS);
            let free = match self.0.get(&first) {
                Some(free) => *free,
                None => {
                    let last: Option<i64> = sql!(
                        query_scalar.fetch_one(&mut *connection),
                        "SELECT max(number) FROM said WHERE number >= ? AND number < ?",
                        (first, end)
                    )?;
                    last.map_or(first, |last| last + 1)
                }
            };
            self.0.insert(first, free + 1);
            if free < end {
                return Ok(free);
            }
            first = end;
        }
    }
}

/// How many rows one statement inserts. A few fixed sizes, so that all of them stay prepared.
static INSERTS: LazyLock<[(usize, String, String); 3]> = LazyLock::new(|| {
    [64, 8, 1].map(|size| {
        let said = vec!["(?, ?, ?, ?)"; size].join(", ");
        let words = vec!["(?, ?, ?)"; size].join(", ");
        (
            size,
            format!("INSERT INTO said (number, session, seq, ts_ms) VALUES {said}"),
            format!("INSERT INTO words (rowid, text, place) VALUES {words}"),
        )
    })
});

/// Puts the texts of one session into the index.
pub(super) async fn insert(
    connection: &mut SqliteConnection,
    numbers: &mut Numbers,
    session: i64,
    place: &str,
    entries: Vec<Entry>,
) -> Result<(), sqlx::Error> {
    let mut numbered = Vec::with_capacity(entries.len());
    for entry in entries {
        numbered.push((numbers.next(connection, entry.ts_ms).await?, entry));
    }
    // SQLite keeps what is new in memory as long as the numbers rise.
    numbered.sort_by_key(|(number, _)| *number);
    let mut rows = numbered.as_slice();
    for (size, said, words) in INSERTS.iter() {
        while let Some((some, rest)) = rows.split_at_checked(*size) {
            let mut query = sqlx::query(said.as_str());
            for (number, entry) in some {
                query = query.bind(number).bind(session).bind(entry.seq.cast_signed()).bind(entry.ts_ms);
            }
            query.execute(&mut *connection).await?;
            let mut query = sqlx::query(words.as_str());
            for (number, entry) in some {
                query = query.bind(number).bind(entry.words.as_str()).bind(place);
            }
            query.execute(&mut *connection).await?;
            rows = rest;
        }
    }
    Ok(())
}
