//! Whether a model goes in circles: the same calls with the same results, over and over.

use neco_proto::{Message, Part, Role, ToolCall, ToolResult};

/// The longest circle, in rounds: calls and their results.
const LONGEST: usize = 3;

/// Whether the newest message closes a circle: it holds results that were there before, and the calls of the
/// last rounds are those of the rounds before them. What failed is no circle: the way out is another call.
pub(in crate::wire) fn closes<'a>(mut newest_first: impl Iterator<Item = &'a Message>) -> bool {
    let mut rounds = Vec::with_capacity(2 * LONGEST);
    while rounds.len() < 2 * LONGEST
        && let (Some(results), Some(calls)) = (newest_first.next(), newest_first.next())
        && (results.role, calls.role) == (Role::Tool, Role::Assistant)
    {
        rounds.push((calls, results));
    }
    let Some((_, newest)) = rounds.first() else { return false };
    let closes = |length: usize| {
        let before = rounds.get(length..2 * length).unwrap_or_default();
        let same = before.iter().zip(&rounds).all(|((before, _), (calls, _))| same_calls(before, calls));
        same && before.first().is_some_and(|(_, results)| same_results(results, newest))
    };
    results(newest).all(|result| result.error_code.is_none()) && (1..=LONGEST).any(closes)
}

fn same_calls(one: &Message, other: &Message) -> bool {
    one.tool_calls().map(call).eq(other.tool_calls().map(call))
}

fn call(call: &ToolCall) -> (&str, &str) {
    (&call.name, &call.arguments)
}

fn same_results(one: &Message, other: &Message) -> bool {
    results(one).map(|result| &result.output).eq(results(other).map(|result| &result.output))
}

fn results(message: &Message) -> impl Iterator<Item = &ToolResult> {
    message.parts.iter().filter_map(|part| if let Part::ToolResult(result) = part { Some(result) } else { None })
}

#[cfg(test)]
mod tests {
    use neco_proto::ErrorCode;

    use super::*;

    /// A round for each letter; a capital one fails. The same letter is the same call, and the number after
    /// it its result.
    fn closes_after(rounds: &[(char, u32)]) -> bool {
        let mut messages = vec![Message::user("go")];
        for (number, (letter, result)) in rounds.iter().enumerate() {
            let (id, name) = (format!("call{number}"), letter.to_lowercase().to_string());
            let call = ToolCall { id: id.as_str().into(), name, arguments: "{}".to_owned(), opaque: None };
            let parts = vec![Part::ToolCall(call)];
            messages.push(Message::new(Role::Assistant, parts));
            let error_code = letter.is_uppercase().then_some(ErrorCode::FileNotFound);
            let result = ToolResult { call_id: id.as_str().into(), output: result.to_string(), error_code };
            messages.push(Message::tool_results(vec![result]));
        }
        closes(messages.iter().rev())
    }

    #[test]
    fn the_same_again_is_a_circle() {
        assert!(closes_after(&[('a', 1), ('a', 1)]));
        assert!(closes_after(&[('a', 1), ('b', 2), ('a', 3), ('b', 2)]));
        assert!(closes_after(&[('x', 0), ('a', 1), ('b', 2), ('c', 3), ('a', 1), ('b', 2), ('c', 3)]));
    }

    #[test]
    fn what_leads_on_is_none() {
        assert!(!closes_after(&[]));
        assert!(!closes_after(&[('a', 1)]));
        assert!(!closes_after(&[('a', 1), ('a', 2)]), "another result");
        assert!(!closes_after(&[('a', 1), ('b', 2), ('a', 1)]), "a check after a change");
        assert!(!closes_after(&[('a', 1), ('b', 2), ('c', 2), ('b', 2)]));
        assert!(!closes_after(&[('A', 1), ('A', 1)]), "what failed is done another way");
    }
}
