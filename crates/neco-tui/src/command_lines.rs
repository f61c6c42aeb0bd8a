//! Command lines in a command of the person's own: each is run as what they write behind `!` is, and what it prints
//! takes its place.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use neco_proto::app::AppError;
use neco_proto::app::commands::CommandPart;
use tokio::time::timeout;

use crate::host::Printed;
use crate::told::Output;

/// How long one of them may take; it is stopped then, and what it printed so far counts.
const LONGEST: Duration = Duration::from_secs(60);

/// What such a command says, with the output of its lines, which `run` runs one after the other.
///
/// # Errors
/// When the rules deny one of them, or it can't be run.
pub async fn filled<Run, Ran>(parts: Vec<CommandPart>, run: Run) -> Result<String, AppError>
where
    Run: Fn(String, Printed) -> Ran,
    Ran: Future<Output = Result<Option<i32>, AppError>>,
{
    filled_within(LONGEST, parts, run).await
}

async fn filled_within<Run, Ran>(longest: Duration, parts: Vec<CommandPart>, run: Run) -> Result<String, AppError>
where
    Run: Fn(String, Printed) -> Ran,
    Ran: Future<Output = Result<Option<i32>, AppError>>,
{
    let mut text = String::new();
    for part in parts {
        let CommandPart { text: written, run: Some(line) } = part else {
            text.push_str(&part.text);
            continue;
        };
        let output = Arc::new(Mutex::new(Output::default()));
        let kept = Arc::clone(&output);
        let printed = move |piece: String| kept.lock().unwrap_or_else(PoisonError::into_inner).push(&piece);
        let ended = match timeout(longest, run(line, Arc::new(printed))).await {
            Ok(Ok(Some(0))) => String::new(),
            Ok(Ok(Some(code))) => format!("(exit code {code})"),
            Ok(Ok(None)) => "(stopped)".to_owned(),
            Err(_) => format!("(stopped after {} s)", longest.as_secs()),
            Ok(Err(error)) => return Err(AppError { message: format!("`{written}`: {}", error.message), ..error }),
        };
        let told = output.lock().unwrap_or_else(PoisonError::into_inner).alone(&ended);
        // One that printed nothing leaves no empty line.
        text.push_str(told.trim_start_matches('\n'));
    }
    Ok(text)
}

#[cfg(test)]
mod tests {
    use neco_proto::app::Trouble;

    use super::*;

    fn parts() -> Vec<CommandPart> {
        let said = |text: &str| CommandPart { text: text.to_owned(), run: None };
        let shell = |line: &str| CommandPart { text: line.to_owned(), run: Some(line.to_owned()) };
        vec![said("Status: "), shell("ok"), said("; "), shell("bad")]
    }

    #[tokio::test]
    async fn what_lines_print_takes_their_places() {
        let run = async |line: String, printed: Printed| {
            printed(format!("{line} \x1b[31mran\x1b[0m\n"));
            Ok(Some(if line == "ok" { 0 } else { 3 }))
        };
        assert_eq!(filled(parts(), run).await.unwrap(), "Status: ok ran; bad ran\n(exit code 3)");
    }

    #[tokio::test]
    async fn nothing_is_said_when_one_may_not_run() {
        let run = async |line: String, _: Printed| match line.as_str() {
            "ok" => Ok(Some(0)),
            _ => Err(AppError::new(Trouble::NotAllowed, "not run: it is denied")),
        };
        assert_eq!(filled(parts(), run).await.unwrap_err().message, "`bad`: not run: it is denied");
    }

    #[tokio::test]
    async fn one_that_does_not_end_is_stopped() {
        let run = async |_: String, printed: Printed| {
            printed("so far\n".to_owned());
            std::future::pending().await
        };
        let text = filled_within(Duration::ZERO, parts(), run).await.unwrap();
        assert!(text.starts_with("Status: so far\n(stopped after 0 s); "), "{text}");
    }
}
