//! The arguments of earlier calls, as they go back.

use std::borrow::Cow;

use serde_json::{Value, json};

/// `text` if it is a JSON object. Vendors parse the arguments of earlier calls and refuse the whole
/// conversation when they are none, so the model then sees its own words again inside of one.
pub(crate) fn as_object(text: &str) -> Cow<'_, str> {
    if text.trim().is_empty() {
        return Cow::Borrowed("{}");
    }
    match serde_json::from_str(text) {
        Ok(Value::Object(_)) => Cow::Borrowed(text),
        Ok(_) | Err(_) => Cow::Owned(json!({ "not_json": text }).to_string()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_no_object_is_put_into_one() {
        assert_eq!(as_object("  "), "{}");
        assert_eq!(as_object("{\"a\": 1} "), "{\"a\": 1} ");
        assert_eq!(as_object("[1]"), "{\"not_json\":\"[1]\"}");
        assert_eq!(as_object("{\"a\":"), "{\"not_json\":\"{\\\"a\\\":\"}");
        // Half of a pair of surrogates is no text that JSON can carry.
        assert_eq!(as_object("{\"a\":\"\\ud800\"}"), "{\"not_json\":\"{\\\"a\\\":\\\"\\\\ud800\\\"}\"}");
    }
}
