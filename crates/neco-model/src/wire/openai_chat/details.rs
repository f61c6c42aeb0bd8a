//! `reasoning_details`: thoughts as items that the vendor wants back unchanged, sent in pieces.

use serde_json::{Map, Value, json};

use crate::wire::format::ENTRY;

/// Collects the items of one answer.
#[derive(Debug, Default)]
pub(super) struct Details {
    items: Vec<Map<String, Value>>,
    kept: usize,
}

impl Details {
    /// Adds pieces; gives the readable text in them.
    pub(super) fn add(&mut self, pieces: Vec<Value>) -> String {
        let mut readable = String::new();
        for piece in pieces {
            let Value::Object(piece) = piece else { continue };
            for field in ["text", "summary"] {
                readable.push_str(piece.get(field).and_then(Value::as_str).unwrap_or(""));
            }
            self.kept += piece.values().filter_map(Value::as_str).map(str::len).sum::<usize>();
            match self.items.iter_mut().find(|item| same_item(item, &piece)) {
                Some(item) => merge(item, piece),
                None => {
                    self.kept += ENTRY;
                    self.items.push(piece);
                }
            }
        }
        readable
    }

    /// About how many bytes they have.
    pub(super) fn kept(&self) -> usize {
        self.kept
    }

    /// The whole items, in the form that is kept with the message.
    pub(super) fn take(&mut self) -> Option<Value> {
        let items = std::mem::take(&mut self.items);
        (!items.is_empty()).then(|| json!({ "reasoning_details": items }))
    }
}

/// Pieces of one item share type and index, and the id if both have one. Without an index every piece
/// stands alone; what is encrypted comes in one piece.
fn same_item(item: &Map<String, Value>, piece: &Map<String, Value>) -> bool {
    let given = |fields: &Map<String, Value>, name: &str| fields.get(name).filter(|value| !value.is_null()).cloned();
    let ids = given(item, "id").zip(given(piece, "id"));
    let both_encrypted = given(item, "data").is_some() && given(piece, "data").is_some();
    given(item, "index").is_some()
        && ["index", "type"].into_iter().all(|field| item.get(field) == piece.get(field))
        && ids.is_none_or(|(one, other)| one == other)
        && (!both_encrypted || item.get("data") == piece.get("data"))
}

/// Texts go on; everything else is given once, or again the same.
fn merge(item: &mut Map<String, Value>, piece: Map<String, Value>) {
    for (field, value) in piece {
        match (item.get_mut(&field), value) {
            (_, Value::Null) => {}
            (Some(Value::String(text)), Value::String(more)) if ["text", "summary"].contains(&&*field) => {
                text.push_str(&more);
            }
            (_, value) => {
                item.insert(field, value);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pieces_of_an_item_grow_together_and_keep_their_signature() {
        let mut details = Details::default();
        let readable = details.add(vec![json!({ "type": "reasoning.text", "text": "Th", "index": 0 })]);
        assert_eq!(readable, "Th");
        details.add(vec![json!({ "type": "reasoning.text", "text": "ink", "index": 0, "signature": null })]);
        details.add(vec![json!({ "type": "reasoning.text", "signature": "s", "index": 0 })]);
        details.add(vec![json!({ "type": "reasoning.encrypted", "data": "x", "index": 1 })]);
        assert_eq!(
            details.take(),
            Some(json!({ "reasoning_details": [
                { "type": "reasoning.text", "text": "Think", "index": 0, "signature": "s" },
                { "type": "reasoning.encrypted", "data": "x", "index": 1 },
            ]}))
        );
        assert_eq!(details.take(), None);
    }

    #[test]
    fn encrypted_items_are_not_joined() {
        let item = |id: &str, data: &str| json!({ "type": "reasoning.encrypted", "id": id, "data": data, "index": 0 });
        let mut details = Details::default();
        for piece in [item("a", "x"), item("a", "x"), item("b", "y"), item("b", "z")] {
            details.add(vec![piece]);
        }
        let items = [item("a", "x"), item("b", "y"), item("b", "z")];
        assert_eq!(details.take(), Some(json!({ "reasoning_details": items })));
    }
}
