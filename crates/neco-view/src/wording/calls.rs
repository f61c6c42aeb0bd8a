//! Why a call failed, for the person: what is written for the model alone is left out; and what is said of one without
//! an end.

use neco_proto::ErrorCode;
use neco_proto::clean::without_marks;
use neco_proto::event::{CallStatus, ToolCallEnd};

/// Lines of an error that belong to what it says, when each but the last ends with a colon.
const ERROR_LINES: usize = 3;

/// What is said of a call that ran when nobody followed it any more.
pub const INTERRUPTED: &str = "interrupted, not known whether it took effect";

/// What is said of a call that runs in another process.
pub const RUNS: &str = "still runs";

/// What is said of a call that had not begun to run when Neco was stopped, and will not.
pub const NOT_RUN: &str = "interrupted, not run";

/// What is said of a call that had not begun to run by then.
pub const NOT_STARTED: &str = "not started";

/// The mark of both.
pub const UNKNOWN: &str = "?";

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
    to_person(&happened(end, bare.unwrap_or(&words)))
}

/// What a tool gave that does not come with the program, which shows nothing else of it; none where it did not do what
/// it should.
pub fn given(end: &ToolCallEnd) -> Option<String> {
    let is_shown = end.status == CallStatus::Success && end.display.is_none() && !end.origin.is_built_in();
    is_shown.then(|| without_marks(&end.output).into_owned())
}

/// What happened, of `words` that a failed call came to: without what the model alone is advised to do, without how a
/// tool is called, and without the list of all tools where there is none of that name.
pub fn happened(end: &ToolCallEnd, words: &str) -> String {
    // Words of people, rules, hooks and commands stay whole.
    let ours = [ErrorCode::ToolNotFound, ErrorCode::InvalidArguments, ErrorCode::ToolFailed];
    let Some(code) = end.error_code.filter(|code| ours.contains(code)) else { return words.to_owned() };
    let mut lines = words.lines().take_while(|line| *line != code.for_model());
    let first = lines.next().unwrap_or_default();
    if code == ErrorCode::ToolNotFound {
        return first.split("; ").next().unwrap_or(first).to_owned();
    }
    let bare = match &end.advice {
        Some(advice) => first.replacen(&format!("; {advice}"), "", 1),
        None => first.to_owned(),
    };
    std::iter::once(bare).chain(lines.map(str::to_owned)).collect::<Vec<_>>().join("\n")
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
            advice: None,
            agent: None,
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
        let advised = ToolCallEnd { advice: Some("read it".into()), ..end.clone() };
        let output = "Error 1005: a.rs is new; read it".to_owned();
        assert_eq!(error_words(&ToolCallEnd { output: output.clone(), ..advised.clone() }), "a.rs is new");
        assert_eq!(happened(&advised, "a.rs is new; read it. It\nprinted"), "a.rs is new. It\nprinted");
        assert_eq!(words(&output), "a.rs is new; read it", "nobody said that it is advice");
        assert_eq!(words("Error 1005: it is closed; the user can open it"), "it is closed; you can open it");
        let schema = format!("no field\n{}\nArguments: {{}}", ErrorCode::ToolFailed.for_model());
        assert_eq!(happened(&end, &schema), "no field");
        let half = "a hunk failed; what was written before was put back, except for: a.rs";
        assert_eq!(words(&format!("Error 1005: {half}")), half);
        let unknown = ToolCallEnd { error_code: Some(ErrorCode::ToolNotFound), ..end.clone() };
        let unknown = ToolCallEnd { output: "Error 1001: there is no tool \"x\"; there are: y, z".into(), ..unknown };
        assert_eq!(error_words(&unknown), "there is no tool \"x\"");
        let rejected = ToolCallEnd { error_code: Some(ErrorCode::RejectedByUser), ..end.clone() };
        assert_eq!(happened(&rejected, "no; answer in words"), "no; answer in words");
        let advice = ErrorCode::ToolFailed.for_model();
        assert_eq!(words(&format!("Error 1005: none such, not file:\n{advice}")), "none such, not file:");
        let server = ToolOrigin::Mcp { server: "demo".into() };
        let did = ToolCallEnd { status: CallStatus::Success, error_code: None, output: "hi".into(), ..end.clone() };
        assert_eq!(given(&ToolCallEnd { origin: server.clone(), ..did.clone() }).as_deref(), Some("hi"));
        assert_eq!(given(&did), None, "our own tools show what is worth it");
        assert_eq!(given(&ToolCallEnd { origin: server, ..end }), None);
    }
}
