//! Command lines in a command of the person's own: each is run as what they write behind `!` is, and what it prints
//! takes its place.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use neco_proto::MessagePiece;
use neco_proto::app::AppError;
use neco_proto::app::commands::CommandPart;
use tokio::time::timeout;

use crate::host::Printed;
use crate::told::Output;

/// How long one of them may take; it is stopped then, and what it printed so far counts.
pub const LONGEST: Duration = Duration::from_secs(60);

/// When a line is stopped that does not end.
pub fn stopped_after(longest: Duration) -> String {
    format!("stopped after {} s", longest.as_secs())
}

/// Lines of one that failed which the person sees.
const MOST_SHOWN: usize = 4;

/// What such a command says, with the output of its lines.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Filled {
    /// What it says.
    pub pieces: Vec<MessagePiece>,
    /// Which of its lines failed, for the person.
    pub failed: Vec<String>,
}

/// Who sees the lines while they run.
#[derive(Clone)]
pub struct Watch {
    /// A line begins, as it is written.
    pub begins: Arc<dyn Fn(&str) + Send + Sync>,
    /// It printed something.
    pub printed: Printed,
}

impl Watch {
    /// Tells that a line begins, and nothing of what it prints.
    pub fn beginnings(begins: impl Fn(&str) + Send + Sync + 'static) -> Self {
        Self { begins: Arc::new(begins), printed: Arc::new(|_| {}) }
    }
}

/// What such a command says, with the output of its lines, which `run` runs one after the other. Whoever drops this stops
/// the one that runs.
///
/// # Errors
/// When the rules deny one of them, or it can't be run.
pub async fn filled<Run, Ran>(parts: Vec<CommandPart>, watch: &Watch, run: Run) -> Result<Filled, AppError>
where
    Run: Fn(String, Printed) -> Ran,
    Ran: Future<Output = Result<Option<i32>, AppError>>,
{
    filled_within(LONGEST, parts, watch, run).await
}

async fn filled_within<Run, Ran>(
    longest: Duration,
    parts: Vec<CommandPart>,
    watch: &Watch,
    run: Run,
) -> Result<Filled, AppError>
where
    Run: Fn(String, Printed) -> Ran,
    Ran: Future<Output = Result<Option<i32>, AppError>>,
{
    let mut filled = Filled::default();
    for part in parts {
        let CommandPart { text: written, run: Some(line) } = part else {
            filled.pieces.push(MessagePiece::said(part.text));
            continue;
        };
        let output = Arc::new(Mutex::new(Output::default()));
        let kept = Arc::clone(&output);
        let seen = Arc::clone(&watch.printed);
        let printed = move |piece: String| {
            kept.lock().unwrap_or_else(PoisonError::into_inner).push(&piece);
            seen(piece);
        };
        (watch.begins)(&written);
        let failure = match timeout(longest, run(line, Arc::new(printed))).await {
            Ok(Ok(Some(0))) => None,
            Ok(Ok(Some(code))) => Some(format!("exit code {code}")),
            Ok(Ok(None)) => Some("stopped".to_owned()),
            Err(_) => Some(stopped_after(longest)),
            Ok(Err(error)) => return Err(AppError { message: format!("`{written}`: {}", error.message), ..error }),
        };
        // The model is told, too: what is missing looks like a command that had nothing to say.
        let ended = failure.map(|failure| format!("(`{written}` failed: {failure})")).unwrap_or_default();
        let told = output.lock().unwrap_or_else(PoisonError::into_inner).alone(&ended);
        // One that printed nothing leaves no empty line.
        let told = told.trim_start_matches('\n');
        filled.pieces.push(MessagePiece { text: told.to_owned(), printed: true });
        filled.failed.extend((!ended.is_empty()).then(|| last_lines(told)));
    }
    Ok(filled)
}

/// The end of what a line printed, with how it ended.
fn last_lines(told: &str) -> String {
    let lines: Vec<&str> = told.lines().collect();
    lines.get(lines.len().saturating_sub(MOST_SHOWN)..).unwrap_or_default().join("\n")
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

    fn nobody() -> Watch {
        Watch::beginnings(|_| {})
    }

    #[tokio::test]
    async fn whoever_watches_is_told_of_every_line_and_of_what_it_prints() {
        let seen = Arc::new(Mutex::new(String::new()));
        let (begun, printed) = (Arc::clone(&seen), Arc::clone(&seen));
        let begins = move |line: &str| begun.lock().unwrap().push_str(&format!("<{line}>"));
        let prints = move |text: String| printed.lock().unwrap().push_str(&text);
        let watch = Watch { begins: Arc::new(begins), printed: Arc::new(prints) };
        let run = async |line: String, printed: Printed| {
            printed(format!("{line} ran;"));
            Ok(Some(0))
        };
        filled(parts(), &watch, run).await.unwrap();
        assert_eq!(*seen.lock().unwrap(), "<ok>ok ran;<bad>bad ran;");
    }

    #[tokio::test]
    async fn what_lines_print_takes_their_places() {
        let run = async |line: String, printed: Printed| {
            printed(format!("{line} \x1b[31mran\x1b[0m\n"));
            Ok(Some(if line == "ok" { 0 } else { 3 }))
        };
        let failed = "bad ran\n(`bad` failed: exit code 3)";
        let printed = |text: &str| MessagePiece { text: text.to_owned(), printed: true };
        let said = MessagePiece::said;
        let pieces = vec![said("Status: "), printed("ok ran"), said("; "), printed(failed)];
        assert_eq!(filled(parts(), &nobody(), run).await.unwrap(), Filled { pieces, failed: vec![failed.to_owned()] });
        assert_eq!(last_lines("1\n2\n3\n4\n(x)"), "2\n3\n4\n(x)");
    }

    #[tokio::test]
    async fn nothing_is_said_when_one_may_not_run() {
        let run = async |line: String, _: Printed| match line.as_str() {
            "ok" => Ok(Some(0)),
            _ => Err(AppError::new(Trouble::NotAllowed, "not run: it is denied")),
        };
        assert_eq!(filled(parts(), &nobody(), run).await.unwrap_err().message, "`bad`: not run: it is denied");
    }

    #[tokio::test]
    async fn one_that_does_not_end_is_stopped() {
        let run = async |_: String, printed: Printed| {
            printed("so far\n".to_owned());
            std::future::pending().await
        };
        let text = MessagePiece::joined(&filled_within(Duration::ZERO, parts(), &nobody(), run).await.unwrap().pieces);
        assert!(text.starts_with("Status: so far\n(`ok` failed: stopped after 0 s); "), "{text}");
    }
}
