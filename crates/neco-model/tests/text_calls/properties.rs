//! What holds for every text.

use neco_model::wire::text_calls::{Declared, Seen, Spotter, Trust};
use proptest::prelude::*;

use crate::{calls, read, tools};

/// Pieces that calls are made of, and others.
const WORDS: [&str; 30] = [
    "{",
    "}",
    "[",
    "]",
    "\"",
    ":",
    ",",
    "\n",
    " ",
    "```",
    "```json\n",
    "```rust\n",
    "<tool_call>",
    "</tool_call>",
    "<tools>",
    "<function=",
    "list>",
    "</function>",
    "\"name\"",
    "\"list\"",
    "\"arguments\"",
    "{}",
    "\\",
    "`",
    "<",
    "é",
    "word",
    "For example",
    "<parameter=",
    "{\"name\":\"list\"}",
];

fn soup() -> impl Strategy<Value = String> {
    prop::collection::vec(prop::sample::select(&WORDS[..]), 0..14).prop_map(|words| words.concat())
}

fn trust() -> impl Strategy<Value = Trust> {
    prop::sample::select(&[Trust::Guessed, Trust::Told][..])
}

fn prose() -> impl Strategy<Value = String> {
    prop::collection::vec("[A-Za-zé.,;:!?'()*#-]{1,9}", 1..60).prop_map(|words| words.join(" "))
}

/// The same text in pieces of different lengths.
fn cut(text: &str, lengths: &[usize]) -> Vec<String> {
    let characters: Vec<char> = text.chars().collect();
    let mut pieces = Vec::new();
    let mut rest = characters.as_slice();
    for length in lengths.iter().cycle() {
        if rest.is_empty() || lengths.is_empty() {
            break;
        }
        let (piece, after) = rest.split_at((*length).min(rest.len()));
        pieces.push(piece.iter().collect());
        rest = after;
    }
    pieces.push(rest.iter().collect());
    pieces
}

proptest! {
    #[test]
    fn any_cut_gives_the_same(text in soup(), lengths in prop::collection::vec(1_usize..6, 0..8), trust in trust()) {
        let pieces = cut(&text, &lengths);
        prop_assert_eq!(read(pieces.iter().map(String::as_str), trust), read([text.as_str()], trust));
    }

    #[test]
    fn what_is_no_call_comes_out_unchanged(text in soup(), trust in trust()) {
        let read = read([text.as_str()], trust);
        match &read.seen {
            Seen::Text => prop_assert_eq!(read.shown, text),
            Seen::Half(held) => prop_assert_eq!(format!("{}{held}", read.shown), text),
            Seen::Calls(_) => prop_assert!(text.starts_with(&read.shown), "{:?}", read),
        }
    }

    #[test]
    fn prose_passes_at_once(words in prop::collection::vec("[A-Za-zé.,;:!?'()*#-]{1,9} ?", 1..60), trust in trust()) {
        let mut spotter = Spotter::new(Declared::new(tools()), trust);
        let (mut shown, mut given) = (String::new(), String::new());
        for word in &words {
            given.push_str(word);
            spotter.push(word, &mut shown);
            // Only spaces may wait for what follows them.
            prop_assert!(given.starts_with(&shown) && shown.len() >= given.trim_end().len(), "{shown:?} {given:?}");
        }
    }

    #[test]
    fn prose_is_never_a_call(before in prose(), inside in soup(), after in prose(), trust in trust()) {
        // A call in the midst of a line is an example, and so is one that words follow.
        let text = format!("{before} {}{after}", inside.replace('<', ""));
        prop_assert_eq!(calls(&read([text.as_str()], trust)), vec![]);
        let text = format!("{before}\n{{\"name\":\"list\"}}\nso {after}");
        prop_assert_eq!(calls(&read([text.as_str()], trust)), vec![]);
    }

    #[test]
    fn a_call_is_a_call_whatever_its_arguments_hold(content in "\\PC{0,40}|[`<>{}\"\\\\/a\n]{0,30}", form in 0..4, trust in trust()) {
        let arguments = serde_json::json!({ "path": "a", "content": content });
        let call = serde_json::json!({ "name": "write_file", "arguments": arguments });
        let text = match form {
            0 => call.to_string(),
            1 => format!("```json\n{call:#}\n```"),
            2 => format!("<tool_call>\n{call}\n</tool_call>"),
            _ => format!("<function=write_file>{arguments}</function>"),
        };
        // A tag of our own inside of the arguments ends them: such a call is text, and never half of one.
        if form < 3 || !content.contains("</function>") {
            prop_assert_eq!(calls(&read([text.as_str()], trust)), vec![("write_file".to_owned(), arguments)]);
        }
    }

    #[test]
    fn half_a_call_is_never_run(content in "[a-z {}`\n]{1,20}", cut in 1_usize..200, trust in trust()) {
        let text = serde_json::json!({ "name": "write_file", "arguments": { "content": content, "path": "a" } }).to_string();
        // Only its last brace may be missing.
        let half: String = text.chars().take(text.chars().count() - 1 - cut.min(text.chars().count() - 2)).collect();
        prop_assert_eq!(calls(&read([half.as_str()], trust)), vec![]);
    }
}

#[test]
fn a_code_fence_is_released_with_its_language() {
    let mut spotter = Spotter::new(Declared::new(tools()), Trust::Guessed);
    let mut shown = String::new();
    spotter.push("```", &mut shown);
    assert_eq!(shown, "");
    spotter.push("py", &mut shown);
    assert_eq!(shown, "```py");
    let mut spotter = Spotter::new(Declared::new(tools()), Trust::Guessed);
    let mut shown = String::new();
    spotter.push("```json\n{\"dependencies\"", &mut shown);
    assert_eq!(shown, "```json\n{\"dependencies\"");
    spotter.push(": 1", &mut shown);
    assert_eq!(shown, "```json\n{\"dependencies\": 1");
}

#[test]
fn without_tools_nothing_is_held() {
    let mut spotter = Spotter::new(Declared::new(Vec::new().into()), Trust::Told);
    let mut shown = String::new();
    spotter.push("{\"name\"", &mut shown);
    assert_eq!(shown, "{\"name\"");
}
