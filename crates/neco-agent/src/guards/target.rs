//! What a call is about, and whether it failed.

use neco_proto::ToolResult;
use neco_safety::untrusted;
use serde_json::Value;

use super::guard::Failure;

/// Arguments that say what a call is about, the plainest first.
const SUBJECTS: &[&str] = &["path", "file_path", "url", "pattern", "query", "name", "id", "title", "action"];

/// Characters of a target.
const LONGEST: usize = 120;

/// What a call is about: a file, an address, or the program of a command with its first word.
pub(super) fn target(tool: &str, arguments: &Value) -> String {
    let text = |name: &str| arguments.get(name).and_then(Value::as_str);
    if let Some(command) = text("command") {
        return short(&program(command));
    }
    let subject = SUBJECTS.iter().find_map(|name| text(name));
    short(subject.map(str::trim).filter(|subject| !subject.is_empty()).unwrap_or(tool))
}

/// `cargo test` of `cd a && RUST_LOG=x cargo test --all`: what tells one command from another.
fn program(command: &str) -> String {
    let last = command.lines().map(str::trim).rfind(|line| !line.is_empty()).unwrap_or_default();
    let after_cd = last.rsplit("&&").map(str::trim).find(|part| !part.starts_with("cd ")).unwrap_or(last);
    let words = after_cd.split_whitespace().skip_while(|word| word.contains('=') && !word.starts_with('-'));
    words.take(2).collect::<Vec<_>>().join(" ")
}

/// Why a call failed. A command that ran is a success of its tool whatever its exit code, which the tool
/// tells in brackets at the end.
pub(super) fn failure(result: &ToolResult) -> Option<Failure> {
    if let Some(code) = result.error_code {
        return Some(Failure::Code(code));
    }
    let mut notes = result.output.lines().rev().map(str::trim).skip_while(|line| line.is_empty());
    let code =
        notes.by_ref().take_while(|line| line.starts_with('[')).find_map(|line| line.split_once("exit code "))?.1;
    let digits: String = code.chars().take_while(|char| char.is_ascii_digit() || *char == '-').collect();
    digits.parse().ok().filter(|code| *code != 0).map(Failure::Exit)
}

/// What a call gave, without what is another each time: the tags around text from outside, and how long
/// a command took.
pub(super) fn told(output: &str) -> String {
    let text = untrusted::unwrapped(output);
    let timeless = |line: &str| match line.split_once(" after ") {
        Some((word, _)) if line.starts_with('[') => format!("{word}]"),
        Some(_) | None => line.to_owned(),
    };
    text.lines().map(timeless).collect::<Vec<_>>().join("\n")
}

fn short(text: &str) -> String {
    let line = text.split_whitespace().collect::<Vec<_>>().join(" ");
    line.chars().take(LONGEST).collect()
}

#[cfg(test)]
mod tests {
    use neco_proto::ErrorCode;
    use serde_json::json;

    use super::*;

    #[test]
    fn a_call_is_about_something() {
        for (tool, arguments, expected) in [
            ("read_file", json!({ "path": "src/a.rs", "limit": 5 }), "src/a.rs"),
            ("bash", json!({ "command": "cd a && RUST_LOG=x cargo test --all" }), "cargo test"),
            ("bash", json!({ "command": "make" }), "make"),
            ("grep", json!({ "pattern": "fn main" }), "fn main"),
            ("web_fetch", json!({ "url": "http://x/y" }), "http://x/y"),
            ("todo_write", json!({ "todos": [] }), "todo_write"),
            ("memory_store", json!({ "title": "Build order", "summary": "x" }), "Build order"),
            ("bash", json!({ "command": "" }), ""),
        ] {
            assert_eq!(target(tool, &arguments), expected, "{tool} {arguments}");
        }
    }

    #[test]
    fn a_command_fails_by_its_exit_code() {
        let result =
            |output: &str, error_code| ToolResult { call_id: "c".into(), output: output.to_owned(), error_code };
        for (output, code, expected) in [
            ("ok", None, None),
            ("text\n[exit code 101]", None, Some(Failure::Exit(101))),
            ("text\n[exit code 0]", None, None),
            ("[exit code 2]\nmore", None, None),
            ("text\n[exit code 1 after 0.3 s]\n[note: mended]\n", None, Some(Failure::Exit(1))),
            ("[no output, exit code 2 after 0.1 s]", None, Some(Failure::Exit(2))),
            ("x", Some(ErrorCode::EditTextNotFound), Some(Failure::Code(ErrorCode::EditTextNotFound))),
        ] {
            assert_eq!(failure(&result(output, code)), expected, "{output}");
        }
    }

    #[test]
    fn the_same_result_reads_the_same_whenever_it_comes() {
        let of =
            |id: &str, took: &str| format!("{}\n[exit code 1 after {took} s]", untrusted::wrap(id, "command", "no"));
        assert_ne!(of("a", "0.3"), of("b", "0.4"));
        assert_eq!(told(&of("a", "0.3")), told(&of("b", "0.4")));
        assert_eq!(told(&of("a", "0.3")), "no\n[exit code 1]");
        assert_eq!(told("one after two"), "one after two");
    }
}
