//! Session ids as people are shown them.

use std::collections::HashMap;

use neco_proto::SessionId;

/// The characters that hold the time and the first of the chance: two sessions that share them were
/// begun in the same millisecond, and even then hardly ever.
const SHOWN: usize = 18;

/// The fewest characters that are shown: they hold the minute, so that what is unique among sessions that
/// are older stays so.
const FEWEST: usize = 8;

/// The beginning of an id that stands for it wherever an id is asked for.
pub fn short_id(id: SessionId) -> String {
    id.to_string().chars().take(SHOWN).collect()
}

/// The shortest beginnings that tell all sessions apart.
#[derive(Clone, Debug, Default)]
pub struct ShortIds {
    lengths: HashMap<SessionId, usize>,
}

impl ShortIds {
    /// Of these sessions.
    pub fn of(ids: impl IntoIterator<Item = SessionId>) -> Self {
        let mut texts: Vec<(String, SessionId)> = ids.into_iter().map(|id| (id.to_string(), id)).collect();
        texts.sort();
        texts.dedup();
        let shared = |a: &str, b: &str| a.bytes().zip(b.bytes()).take_while(|(a, b)| a == b).count();
        let mut lengths = HashMap::new();
        for (at, (text, id)) in texts.iter().enumerate() {
            let before = at.checked_sub(1).and_then(|at| texts.get(at)).map_or(0, |(other, _)| shared(text, other));
            let after = texts.get(at + 1).map_or(0, |(other, _)| shared(text, other));
            lengths.insert(*id, before.max(after).saturating_add(1).max(FEWEST));
        }
        Self { lengths }
    }

    /// The beginning of an id.
    pub fn short(&self, id: SessionId) -> String {
        let length = self.lengths.get(&id).copied().unwrap_or(SHOWN);
        let short: String = id.to_string().chars().take(length).collect();
        short.trim_end_matches('-').to_owned()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn short_ids_tell_all_apart() {
        let ids = [
            "019a8000-0000-7000-8000-000000000001",
            "019a8001-0000-7000-8000-000000000001",
            "019a8001-0000-7000-8000-000000000002",
            "019a8001-1000-7000-8000-000000000002",
        ]
        .map(|id| id.parse::<SessionId>().unwrap());
        let short = ShortIds::of(ids);
        assert_eq!(short.short(ids[0]), "019a8000");
        assert_eq!(short.short(ids[3]), "019a8001-1");
        for id in ids {
            let text = short.short(id);
            assert_eq!(ids.iter().filter(|other| other.to_string().starts_with(&text)).count(), 1, "{text}");
        }
    }
}
