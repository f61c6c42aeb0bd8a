//! The table: what models really write, and nasty things beside.

use neco_model::wire::text_calls::{Seen, Trust};

use crate::{call, calls, read};

const A: &str = r#"read_file {"path":"a"}"#;
const B: &str = r#"read_file {"path":"b"}"#;
const LIST: &str = "list {}";

/// What an answer is.
enum Is {
    /// Calls for everybody.
    Calls(&'static [&'static str]),
    /// Calls only of a model that was told to write them so; text of others.
    CallsIfTold(&'static [&'static str]),
    /// Text, unchanged.
    Text,
    /// A call that was begun and not finished.
    Half,
}

const CASES: &[(&str, Is)] = &[
    // Bare JSON.
    (r#"{"name":"read_file","arguments":{"path":"a"}}"#, Is::Calls(&[A])),
    ("  \n{\"name\": \"read_file\", \"arguments\": {\"path\": \"a\"}}\n\n", Is::Calls(&[A])),
    (r#"{"arguments":{"path":"a"},"name":"read_file"}"#, Is::Calls(&[A])),
    (r#"{"name":"read_file","parameters":{"path":"a"}}"#, Is::Calls(&[A])),
    (r#"{"tool":"read_file","args":{"path":"a"}}"#, Is::Calls(&[A])),
    (r#"{"function":"read_file","input":{"path":"a"}}"#, Is::Calls(&[A])),
    (r#"{"tool_name":"read_file","params":{"path":"a"}}"#, Is::Calls(&[A])),
    (r#"{"function_name":"read_file","arguments":{"path":"a"}}"#, Is::Calls(&[A])),
    (r#"{"type":"function","function":{"name":"read_file","arguments":{"path":"a"}}}"#, Is::Calls(&[A])),
    (r#"{"type":"function","name":"read_file","arguments":"{\"path\":\"a\"}"}"#, Is::Calls(&[A])),
    (r#"{"id":"call_1","name":"read_file","arguments":{"path":"a"}}"#, Is::Calls(&[A])),
    (r#"{"tool_call":{"name":"read_file","arguments":{"path":"a"}}}"#, Is::Calls(&[A])),
    (r#"{"tool_calls":[{"name":"read_file","arguments":{"path":"a"}},{"name":"list"}]}"#, Is::Calls(&[A, LIST])),
    (r#"{"name":"list"}"#, Is::Calls(&[LIST])),
    (r#"{"name":"list","arguments":{}}"#, Is::Calls(&[LIST])),
    (r#"{"name":"list","arguments":null}"#, Is::Calls(&[LIST])),
    // Several in a row.
    (
        "{\"name\":\"read_file\",\"arguments\":{\"path\":\"a\"}}\n{\"name\":\"read_file\",\"arguments\":{\"path\":\"b\"}}",
        Is::Calls(&[A, B]),
    ),
    (
        r#"{"name":"read_file","arguments":{"path":"a"}},{"name":"read_file","arguments":{"path":"b"}}"#,
        Is::Calls(&[A, B]),
    ),
    (r#"[{"name":"read_file","arguments":{"path":"a"}}, {"name":"list"}]"#, Is::Calls(&[A, LIST])),
    ("<tool_call>{\"name\":\"list\"}</tool_call>\n<tool_call>{\"name\":\"list\"}</tool_call>", Is::Calls(&[LIST])),
    (
        "<tool_call>\n{\"name\":\"read_file\",\"arguments\":{\"path\":\"a\"}}\n{\"name\":\"list\"}\n</tool_call>",
        Is::Calls(&[A, LIST]),
    ),
    // Fences.
    ("```json\n{\"name\":\"read_file\",\"arguments\":{\"path\":\"a\"}}\n```", Is::Calls(&[A])),
    ("```\n{\"name\":\"read_file\",\"arguments\":{\"path\":\"a\"}}\n```\n", Is::Calls(&[A])),
    ("```JSON {\"name\":\"read_file\",\"arguments\":{\"path\":\"a\"}} ```", Is::Calls(&[A])),
    ("```tool_call\n{\"name\":\"list\"}\n```", Is::Calls(&[LIST])),
    ("```xml\n<tool_call>\n{\"name\":\"list\"}\n</tool_call>\n```", Is::Calls(&[LIST])),
    ("<tool_call>\n```json\n{\"name\":\"list\"}\n```\n</tool_call>", Is::Calls(&[LIST])),
    ("```json\n{\"name\":\"list\"}", Is::Calls(&[LIST])),
    ("```json\n{\"name\":\"list\"}\n``", Is::Calls(&[LIST])),
    (
        "```json\n{\"name\":\"read_file\",\"arguments\":{\"path\":\"a\"}}\n```\n```json\n{\"name\":\"list\"}\n```",
        Is::Calls(&[A, LIST]),
    ),
    // Tags.
    ("<tool_call>\n{\"name\": \"read_file\", \"arguments\": {\"path\": \"a\"}}\n</tool_call>", Is::Calls(&[A])),
    ("<tools>\n{\"name\":\"list\"}\n</tools>", Is::Calls(&[LIST])),
    ("<tools>{\"name\":\"list\"}</tool_call>", Is::Calls(&[LIST])),
    ("<tool_call>{\"name\":\"list\"}", Is::Calls(&[LIST])),
    ("<tool_call>{\"name\":\"list\"}</tool_call><|im_end|>", Is::Calls(&[LIST])),
    ("<function_call>{\"name\":\"list\"}</function_call>", Is::Calls(&[LIST])),
    ("<function=read_file>{\"path\":\"a\"}</function>", Is::Calls(&[A])),
    ("<function=list></function>", Is::Calls(&[LIST])),
    ("<function=read_file>\n<parameter=path>\na\n</parameter>\n</function>", Is::Calls(&[A])),
    (
        "<tool_call>\n<function=read_file>\n<parameter=path>a</parameter>\n<parameter=limit>\n3\n</parameter>\n</function>\n</tool_call>",
        Is::Calls(&[r#"read_file {"limit":3,"path":"a"}"#]),
    ),
    ("<function=read_file>{\"path\":\"a\"}", Is::Calls(&[A])),
    (
        "<function=write_file><parameter=path>3</parameter><parameter=content>\n</function>\n  x\n\n</parameter></function>",
        Is::Calls(&[r#"write_file {"content":"</function>\n  x\n","path":"3"}"#]),
    ),
    // Braces as templates write them.
    (r#"{{"name": "read_file", "arguments": {"path": "a"}}}"#, Is::Calls(&[A])),
    ("{{\"name\": \"list\"}}\n{{\"name\": \"read_file\", \"arguments\": {\"path\": \"a\"}}}", Is::Calls(&[LIST, A])),
    ("{{name}}", Is::Text),
    // Elements with attributes.
    (r#"<function name="read_file" arguments='{"path": "a"}'/>"#, Is::Calls(&[A])),
    (r#"<function name="read_file" arguments="{'path': 'a'}"/>"#, Is::Calls(&[A])),
    (r#"<function name="read_file" arguments="{"path": "a"}" />"#, Is::Calls(&[A])),
    (r#"<function name="read_file" arguments="{&quot;path&quot;: &quot;a&quot;}"></function>"#, Is::Calls(&[A])),
    (r#"<function name="list"/>"#, Is::Calls(&[LIST])),
    (r#"<function name="read_file">{"path":"a"}</function>"#, Is::Calls(&[A])),
    (
        r#"<function_calls><invoke name="read_file"><parameter name="path">a</parameter></invoke></function_calls>"#,
        Is::Calls(&[A]),
    ),
    (
        r#"<function name="write_file" arguments='{"path": "a", "content": "<b>x</b>"}'/>"#,
        Is::Calls(&[r#"write_file {"content":"<b>x</b>","path":"a"}"#]),
    ),
    (
        "<tools>\n  <function name=\"read_file\" arguments='{\"path\": \"a\"}'/>\n  <function name=\"list\"/>\n</tools>\n\n```json\n{\"name\":\"list\"}\n```\n\nThe file says hello.",
        Is::Calls(&[A, LIST]),
    ),
    (r#"<function name="unknown" arguments='{}'/>"#, Is::CallsIfTold(&["unknown {}"])),
    (r#"<function name="read_file" arguments='{"path": "#, Is::Half),
    ("<function named after nobody>", Is::Text),
    // A short preface.
    ("I'll read it.\n{\"name\":\"read_file\",\"arguments\":{\"path\":\"a\"}}", Is::Calls(&[A])),
    ("Sure!\n\n```json\n{\"name\":\"list\"}\n```", Is::Calls(&[LIST])),
    ("Let me look: <tool_call>{\"name\":\"list\"}</tool_call>", Is::Calls(&[LIST])),
    // Nasty arguments.
    (
        r#"{"name":"write_file","arguments":{"path":"a","content":"fn main() { println!(\"}}{\"); }"}}"#,
        Is::Calls(&[r#"write_file {"content":"fn main() { println!(\"}}{\"); }","path":"a"}"#]),
    ),
    (
        "```json\n{\"name\":\"write_file\",\"arguments\":{\"path\":\"a.md\",\"content\":\"```rust\\nx\\n```\\n\"}}\n```",
        Is::Calls(&[r#"write_file {"content":"```rust\nx\n```\n","path":"a.md"}"#]),
    ),
    (
        "<tool_call>{\"name\":\"write_file\",\"arguments\":{\"path\":\"a\",\"content\":\"</tool_call>\"}}</tool_call>",
        Is::Calls(&[r#"write_file {"content":"</tool_call>","path":"a"}"#]),
    ),
    (
        "{\"name\":\"write_file\",\"arguments\":{\"path\":\"a\",\"content\":\"one\ntwo\"}}",
        Is::Calls(&[r#"write_file {"content":"one\ntwo","path":"a"}"#]),
    ),
    (r#"{"name":"read_file","arguments":{"path":"a",},}"#, Is::Calls(&[A])),
    (r#"{"name":"read_file","arguments":{"path":"日本 🐈"}}"#, Is::Calls(&[r#"read_file {"path":"日本 🐈"}"#])),
    (r#"{"name":"read_file","arguments":{"path":"a"}"#, Is::Calls(&[A])),
    (r#"{"name":"read_file","arguments":{"path":"a"}}}"#, Is::Calls(&[A])),
    (r#"{"name":"read_file","arguments":{"path":"a" "limit"}}"#, Is::Calls(&[r#"read_file {"path":"a" "limit"}"#])),
    // Calls of those only who were told to write them so.
    (r#"{"name":"list_directory","arguments":{"path":"a"}}"#, Is::CallsIfTold(&[r#"list_directory {"path":"a"}"#])),
    ("{\"name\":\"list\"}\nThis lists the files.", Is::Calls(&[LIST])),
    ("```json\n{\"name\":\"list\"}\n```\n\n**Response:**\n```\na.txt\n```", Is::Calls(&[LIST])),
    ("<tool_call>{\"name\":\"list\"}</tool_call>\n<tool_response>\na.txt\n</tool_response>", Is::Calls(&[LIST])),
    ("I look.\n<tool_call>\n{\"name\":\"list\"}\n</tool_call>\nNow I wait.", Is::CallsIfTold(&[LIST])),
    (
        r#"{"name":"read_file","arguments":{"file":"a","mode":"r"}}"#,
        Is::CallsIfTold(&[r#"read_file {"file":"a","mode":"r"}"#]),
    ),
    (r#"{"name":"read_file","arguments":{}}"#, Is::CallsIfTold(&["read_file {}"])),
    ("```python\nprint(1)\n```\nNow I run it.\n<tool_call>{\"name\":\"list\"}</tool_call>", Is::CallsIfTold(&[LIST])),
    // Text.
    ("", Is::Text),
    ("   \n", Is::Text),
    ("Hello.", Is::Text),
    ("The file says {hello} and [x](y), a < b, `c`.", Is::Text),
    (r#"{"name":"my-package","version":"1.0.0"}"#, Is::Text),
    (r#"{"name":"delete_everything"}"#, Is::Text),
    (r#"{"name":"my-package","version":"1.0.0","arguments":{}}"#, Is::Text),
    (r#"{"path":"a"}"#, Is::Text),
    (r#"{"name":"read_file","arguments":["a"]}"#, Is::Text),
    (r#"{"name":"read_file","arguments":"a"}"#, Is::Text),
    (r#"{"name":{"first":"read_file"}}"#, Is::Text),
    ("{}", Is::Text),
    ("[]", Is::Text),
    ("[1, 2]", Is::Text),
    ("{{ template }}", Is::Text),
    ("{'name': 'list'}", Is::Text),
    ("```rust\nfn main() {}\n```", Is::Text),
    ("```json\n{\"dependencies\": {}}\n```\n", Is::Text),
    ("```js\n{\"name\":\"list\"}\n```", Is::Text),
    ("```python\n```json\n{\"name\":\"list\"}\n```", Is::Text),
    ("```", Is::Text),
    ("<tool_call>", Is::Text),
    ("<tool_call></tool_call>", Is::Text),
    ("<tools>none</tools>", Is::Text),
    ("<tool>{\"name\":\"list\"}</tool>", Is::Text),
    ("<function=unknown>{}</function>", Is::Text),
    ("<div>{\"name\":\"list\"}</div>", Is::Text),
    ("</tool_call>", Is::Text),
    ("<|im_end|>", Is::Text),
    // Examples inside of prose.
    ("A call looks like this:\n{\"name\":\"list\"}", Is::Text),
    ("For example:\n```json\n{\"name\":\"list\"}\n```", Is::Text),
    ("You can write <tool_call>{\"name\":\"list\"}</tool_call> to list files.", Is::Text),
    ("Use `<tool_call>{\"name\":\"list\"}</tool_call>`.", Is::Text),
    ("To list files, send {\"name\":\"list\"} to me.", Is::Text),
    ("Here it is:\n{\"name\":\"list\"}\nThat is all you need.", Is::Text),
    ("Here it is:\n```json\n{\"name\":\"list\"}\n```\nThat is all you need.", Is::Text),
    ("```\nsome code\n```\n{\"name\":\"list\"}", Is::Text),
    // A result that the model repeats instead of an answer.
    ("<tool_response>\nno such file\n</tool_response>", Is::Half),
    ("It said <tool_response>no such file</tool_response> to me.", Is::Text),
    // Half calls.
    (r#"{"name":"write_file","arguments":{"path":"a","content":"on"#, Is::Half),
    (r#"{"name":"read_file","arguments":{"#, Is::Half),
    ("```json\n{\"name\":\"read_file\",\"argum", Is::Half),
    ("<tool_call>\n{\"na", Is::Half),
    ("<function=write_file>\n<parameter=path>\na\n</parameter>\n<parameter=content>\nhalf", Is::Half),
    ("{\"name\":\"list\"}\n{\"name\":\"read_file\",\"arguments\":{\"path\"", Is::Half),
];

#[test]
fn every_case_is_what_it_is() {
    assert!(CASES.len() >= 60, "{}", CASES.len());
    for (text, is) in CASES {
        for trust in [Trust::Guessed, Trust::Told] {
            let read = read([*text], trust);
            let wanted: &[&str] = match is {
                Is::Calls(calls) => calls,
                Is::CallsIfTold(calls) if trust == Trust::Told => calls,
                Is::CallsIfTold(_) | Is::Text => {
                    assert_eq!((read.shown.as_str(), &read.seen), (*text, &Seen::Text), "{trust:?} {text}");
                    continue;
                }
                Is::Half => {
                    assert!(matches!(read.seen, Seen::Half(_)), "{trust:?} {text}: {read:?}");
                    continue;
                }
            };
            let wanted: Vec<_> = wanted.iter().map(|text| call(text)).collect();
            assert_eq!(calls(&read), wanted, "{trust:?} {text}: {read:?}");
            assert!(text.starts_with(&read.shown) && !read.shown.contains(['{', '<']), "{trust:?} {text}: {read:?}");
        }
    }
}

#[test]
fn every_case_is_the_same_in_pieces() {
    for (text, _) in CASES {
        for trust in [Trust::Guessed, Trust::Told] {
            let single: Vec<String> = text.chars().map(String::from).collect();
            assert_eq!(read(single.iter().map(String::as_str), trust), read([*text], trust), "{trust:?} {text}");
        }
    }
}

#[test]
fn a_long_preface_is_prose() {
    let prose = "I think about the files of this project and what they hold. ".repeat(6);
    let text = format!("{prose}\n{{\"name\":\"list\"}}");
    for trust in [Trust::Guessed, Trust::Told] {
        assert_eq!(read([text.as_str()], trust).seen, Seen::Text);
    }
    let tagged = format!("{prose}\n<tool_call>{{\"name\":\"list\"}}</tool_call>");
    assert_eq!(read([tagged.as_str()], Trust::Guessed).seen, Seen::Text);
    assert_eq!(calls(&read([tagged.as_str()], Trust::Told)), [call(LIST)]);
}
