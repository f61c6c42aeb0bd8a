//! Why a call failed, for the person: what is written for the model alone is left out.

use neco_proto::ErrorCode;
use neco_proto::clean::without_marks;
use neco_proto::event::ToolCallEnd;

/// Lines of an error that belong to what it says, when each but the last ends with a colon.
const ERROR_LINES: usize = 3;

/// What a failed call says in its first line, without the code before it, and what follows a colon.
pub fn error_words(end: &ToolCallEnd) -> String {
    let output = without_marks(&end.output);
    let mut words: Vec<&str> = Vec::new();
    // What the model is advised to do is not for the person.
    let advice = |line: &&str| end.error_code.is_some_and(|code| code.for_model() == *line);
    let lines = output.lines().map(str::trim).filter(|line| !line.is_empty() && !advice(line));
    for line in lines.take(ERROR_LINES) {
        words.push(line);
        if !line.ends_with(':') {
            break;
        }
    }
    let words = words.join(" ");
    let bare = end.error_code.and_then(|code| words.strip_prefix(&format!("Error {code}: ")));
    to_person(happened(end, bare.unwrap_or(&words)))
}

/// What happened, of `words` that a failed call came to. Our own tools say in their first line what happened, and behind
/// a semicolon what the model should do about it; what the person can do is told them. The words of hooks, rules, people
/// and servers stay whole.
pub fn happened<'a>(end: &ToolCallEnd, words: &'a str) -> &'a str {
    let first = words.lines().next().unwrap_or_default();
    let is_ours = end.origin.is_built_in() && end.error_code.is_some_and(is_for_model);
    let is_for_person = |advice: &str| SPOKEN.iter().any(|(model, _)| advice.contains(model));
    let cut = first.split_once("; ").filter(|(_, advice)| is_ours && !is_for_person(advice));
    cut.map_or(words, |(what, _)| what)
}

/// Whether what a tool of ours says with such a code is written for the model that called it.
fn is_for_model(code: ErrorCode) -> bool {
    matches!(
        code,
        ErrorCode::ToolNotFound
            | ErrorCode::InvalidArguments
            | ErrorCode::ToolFailed
            | ErrorCode::FileNotFound
            | ErrorCode::PathOutsideWorkspace
            | ErrorCode::FileTooLarge
            | ErrorCode::EditTextNotUnique
            | ErrorCode::EditTextNotFound
            | ErrorCode::FileChanged
            | ErrorCode::NotATextFile
    )
}

/// How errors speak of the person to the model, and how to the person.
const SPOKEN: &[(&str, &str)] = &[
    ("Tell the user that they can ", "You can "),
    ("tell the user that they can ", "you can "),
    ("have the user open ", "open "),
    ("the user can ", "you can "),
    ("The user can ", "You can "),
    (" in their config.toml", " in your config.toml"),
];

/// Words that are written for the model, as they are said to the person.
fn to_person(words: &str) -> String {
    SPOKEN.iter().fold(words.to_owned(), |words, (model, person)| words.replace(model, person))
}

#[cfg(test)]
mod tests {
    use neco_proto::ToolOrigin;
    use neco_proto::event::CallStatus;

    use super::*;

    #[test]
    fn words_after_a_colon_belong_to_the_error() {
        let end = ToolCallEnd {
            call_id: "c".into(),
            tool: "bash".into(),
            summary: "Run make".into(),
            status: CallStatus::Error,
            output: String::new(),
            error_code: Some(ErrorCode::ToolFailed),
            duration_ms: 0,
            display: None,
            spilled_to: None,
            known: Vec::new(),
            origin: ToolOrigin::default(),
            parts: Vec::new(),
        };
        let words = |output: &str| error_words(&ToolCallEnd { output: output.into(), ..end.clone() });
        assert_eq!(words("Error 1005: two problems:\n\n  first:\n  second\nadvice"), "two problems: first: second");
        assert_eq!(words("Error 1005: one problem\nadvice"), "one problem");
        let told = "Error 1005: no engine. Tell the user that they can choose one in their config.toml.";
        assert_eq!(words(told), "no engine. You can choose one in your config.toml.");
        assert_eq!(words("Error 1005: a.rs is new; read it first"), "a.rs is new");
        assert_eq!(words("Error 1005: it is closed; the user can open it"), "it is closed; you can open it");
        let of_server = ToolCallEnd { origin: ToolOrigin::Mcp { server: "s".into() }, ..end.clone() };
        let of_server = ToolCallEnd { output: "Error 1005: one; two".into(), ..of_server };
        assert_eq!(error_words(&of_server), "one; two");
        let blocked = ToolCallEnd { error_code: Some(ErrorCode::BlockedByPolicy), ..end.clone() };
        assert_eq!(error_words(&ToolCallEnd { output: "Error 1003: one; two".into(), ..blocked }), "one; two");
        let advice = ErrorCode::ToolFailed.for_model();
        assert_eq!(words(&format!("Error 1005: none such, not file:\n{advice}")), "none such, not file:");
    }
}
