//! Session ids as people are shown them.

use std::collections::HashMap;

use neco_proto::SessionId;

/// The fewest characters that are shown. Ids begin with the time, so those of one day look alike; their ends are chance,
/// and of a thousand sessions hardly ever two share these.
const FEWEST: usize = 6;

/// The end of an id, which stands for it wherever an id is asked for.
pub fn short_id(id: SessionId) -> String {
    end(id, FEWEST)
}

/// The shortest ends that tell all sessions apart.
#[derive(Clone, Debug, Default)]
pub struct ShortIds {
    lengths: HashMap<SessionId, usize>,
}

impl ShortIds {
    /// Of these sessions.
    pub fn of(ids: impl IntoIterator<Item = SessionId>) -> Self {
        let mut texts: Vec<(String, SessionId)> =
            ids.into_iter().map(|id| (id.to_string().chars().rev().collect(), id)).collect();
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

    /// The end of an id.
    pub fn short(&self, id: SessionId) -> String {
        end(id, self.lengths.get(&id).copied().unwrap_or(FEWEST))
    }
}

fn end(id: SessionId, length: usize) -> String {
    let text = id.to_string();
    let skipped = text.chars().count().saturating_sub(length);
    text.chars().skip(skipped).collect::<String>().trim_start_matches('-').to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn short_ids_tell_all_apart() {
        let ids = [
            "019a8000-0000-7000-8000-0000000a0001",
            "019a8001-0000-7000-8000-0000000b0001",
            "019a8001-0000-7000-8000-0000001b0001",
            "019a8001-1000-7000-9000-0000001b0001",
        ]
        .map(|id| id.parse::<SessionId>().unwrap());
        let short = ShortIds::of(ids);
        assert_eq!((short.short(ids[0]), short_id(ids[0])), ("0a0001".to_owned(), "0a0001".to_owned()));
        assert_eq!(short.short(ids[1]), "0b0001");
        assert_eq!(short.short(ids[3]), "9000-0000001b0001");
        for id in ids {
            let text = short.short(id);
            assert_eq!(ids.iter().filter(|other| other.to_string().ends_with(&text)).count(), 1, "{text}");
        }
    }
}
