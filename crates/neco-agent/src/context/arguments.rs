//! Arguments of earlier calls: what stands in their place.

use neco_proto::ToolCall;
use serde_json::Value;

/// Bytes of arguments that are long.
const LONG: usize = 1024;
/// Bytes of a value that stays as it is.
const SHORT: usize = 120;

/// The arguments of a call in one line: what is short stays, such as a path or a command, and a note stands for what
/// is long, such as the text of a file. Nothing for arguments that are not long or can't be made shorter.
pub(super) fn one_line(call: &ToolCall) -> Option<String> {
    // What the vendor wants back unchanged may vouch for the arguments.
    if call.arguments.len() <= LONG || call.opaque.is_some() {
        return None;
    }
    let Ok(Value::Object(fields)) = serde_json::from_str(&call.arguments) else { return None };
    let line = Value::Object(fields.into_iter().map(|(name, value)| (name, shorter(value))).collect()).to_string();
    (line.len() < call.arguments.len()).then_some(line)
}

fn shorter(value: Value) -> Value {
    let text = match &value {
        Value::String(text) => text.clone(),
        Value::Array(_) | Value::Object(_) => value.to_string(),
        Value::Null | Value::Bool(_) | Value::Number(_) => return value,
    };
    if text.len() <= SHORT {
        return value;
    }
    let lines = text.lines().count();
    let lines = if lines == 1 { "1 line".to_owned() } else { format!("{lines} lines") };
    Value::String(format!("[{lines} ({} bytes) were taken out to make room]", text.len()))
}

#[cfg(test)]
mod tests {
    use neco_proto::CallId;
    use serde_json::json;

    use super::*;

    fn call(arguments: String) -> ToolCall {
        ToolCall { id: CallId::generate(), name: "write_file".to_owned(), arguments, opaque: None }
    }

    #[test]
    fn what_is_short_stays_and_a_note_stands_for_what_is_long() {
        let written = call(json!({"path": "src/a.rs", "content": "a line\n".repeat(300), "backup": false}).to_string());
        let line = one_line(&written).unwrap();
        let expected = json!({
            "path": "src/a.rs",
            "content": "[300 lines (2100 bytes) were taken out to make room]",
            "backup": false
        });
        assert_eq!(serde_json::from_str::<Value>(&line).unwrap(), expected);
        assert_eq!(line.lines().count(), 1);
        assert_eq!(one_line(&call(line)), None, "once is enough");
        let edits = call(json!({"edits": vec![json!({"old": "x".repeat(90)}); 20]}).to_string());
        assert!(one_line(&edits).unwrap().contains("1 line ("));
    }

    #[test]
    fn what_is_short_no_json_or_vouched_for_stays() {
        assert_eq!(one_line(&call(json!({"path": "a", "content": "x".repeat(900)}).to_string())), None);
        assert_eq!(one_line(&call("x".repeat(5000))), None);
        let signed = ToolCall { opaque: Some(json!("signature")), ..call(json!({"a": "x".repeat(5000)}).to_string()) };
        assert_eq!(one_line(&signed), None);
    }
}
