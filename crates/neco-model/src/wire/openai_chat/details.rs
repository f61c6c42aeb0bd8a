//! `reasoning_details`: thoughts as items that the vendor wants back unchanged, sent in pieces.

use serde_json::{Map, Value, json};

/// Collects the items of one answer.
#[derive(Debug, Default)]
pub(super) struct Details {
    items: Vec<Map<String, Value>>,
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
            match self.items.iter_mut().find(|item| same_item(item, &piece)) {
                Some(item) => merge(item, piece),
                None => self.items.push(piece),
            }
        }
        readable
    }

    /// The whole items, in the form that is kept with the message.
    pub(super) fn take(&mut self) -> Option<Value> {
        let items = std::mem::take(&mut self.items);
        (!items.is_empty()).then(|| json!({ "reasoning_details": items }))
    }
}

/// Pieces of one item share type and index. Without an index every piece stands alone.
fn same_item(item: &Map<String, Value>, piece: &Map<String, Value>) -> bool {
    item.get("index").is_some_and(|index| !index.is_null())
        && ["index", "type"].into_iter().all(|field| item.get(field) == piece.get(field))
}

/// Texts go on; everything else is given once, or again the same.
fn merge(item: &mut Map<String, Value>, piece: Map<String, Value>) {
    for (field, value) in piece {
        match (item.get_mut(&field), value) {
            (_, Value::Null) => {}
            (Some(Value::String(text)), Value::String(more)) if ["text", "summary", "data"].contains(&&*field) => {
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
}
