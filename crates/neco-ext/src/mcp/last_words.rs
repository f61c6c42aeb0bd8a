//! What the program of a server prints on its standard error: put into its log, and the last of it kept for whoever wants
//! to know why it ended.

use std::io;
use std::os::fd::OwnedFd;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use neco_proto::visible::visible_line;
use neco_safety::secrets::{Redactor, Scope};
use tokio::io::AsyncReadExt;
use tokio::net::unix::pipe;
use tokio_util::sync::CancellationToken;

use super::log::ServerLog;

/// Bytes that are kept.
const KEPT: usize = 4096;

/// Lines and characters that are shown.
const LINES: usize = 3;
const SHOWN: usize = 400;

/// What lines have in them that say why a program ended.
const REASONS: &[&str] = &["error", "exception", "panicked", "fatal", "caused by"];

/// How long is waited for what is still on its way when a program has ended.
const SOON: Duration = Duration::from_millis(500);

/// The last words of a program. They are followed until it is gone, also when this is dropped.
pub(super) struct LastWords {
    kept: Arc<Mutex<String>>,
    /// Set when nothing more comes.
    is_over: CancellationToken,
}

impl LastWords {
    /// Follows what is printed, without secrets.
    pub(super) fn follow(errors: OwnedFd, log: ServerLog, redactor: &Redactor) -> io::Result<Self> {
        let mut errors = pipe::Receiver::from_owned_fd(errors)?;
        let kept = Arc::new(Mutex::new(String::new()));
        // A secret may come in two pieces.
        let mut clean = redactor.stream(Scope::Outside);
        let is_over = CancellationToken::new();
        let (keeping, over) = (Arc::clone(&kept), is_over.clone().drop_guard());
        tokio::spawn(async move {
            let _over = over;
            let add = |text: &str| {
                log.add(text);
                keep(&mut keeping.lock().unwrap_or_else(PoisonError::into_inner), text);
            };
            let mut piece = vec![0; 8 * 1024];
            while let Ok(length) = errors.read(&mut piece).await {
                let Some(piece) = piece.get(..length).filter(|piece| !piece.is_empty()) else { break };
                add(&clean.push_str(&String::from_utf8_lossy(piece)));
            }
            add(&clean.finish_str());
        });
        Ok(Self { kept, is_over })
    }

    /// What was printed last, once all of it is there or nothing more comes for a moment.
    pub(super) async fn said(&self) -> String {
        let _ = tokio::time::timeout(SOON, self.is_over.cancelled()).await;
        self.kept.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

/// Adds to what is kept; what is too much goes at the beginning.
fn keep(kept: &mut String, text: &str) {
    kept.push_str(text);
    if kept.len() > KEPT {
        let from = kept.ceil_char_boundary(kept.len() - KEPT);
        kept.drain(..from);
    }
}

/// The last lines of it in one, as far as they are shown: those that say why, if there are any. Nothing where nothing was
/// said.
pub(super) fn shown(said: &str) -> Option<String> {
    let all: Vec<&str> = said.lines().filter(|line| !line.trim().is_empty()).collect();
    let reasons = reasons(&all);
    let lines = if reasons.is_empty() { &all } else { &reasons };
    let lines = lines.get(lines.len().saturating_sub(LINES)..).unwrap_or_default();
    let line = visible_line(&lines.join("\n"));
    let cut: String = line.chars().take(SHOWN).collect();
    let ending = if cut.len() < line.len() { "…" } else { "" };
    (!line.is_empty()).then(|| format!("{cut}{ending}"))
}

/// The lines that say why, each with the next one where that says more.
fn reasons<'a>(lines: &[&'a str]) -> Vec<&'a str> {
    let is_reason = |line: &str| {
        // The calls that led there may be in files of such names.
        let is_frame = line.trim_start().starts_with("at ");
        let line = line.to_lowercase();
        !is_frame && REASONS.iter().any(|word| line.contains(word))
    };
    let before = std::iter::once("").chain(lines.iter().copied());
    let said = lines.iter().zip(before);
    let is_told = |before: &str| is_reason(before) && before.trim_end().ends_with(':');
    said.filter(|(line, before)| is_reason(line) || is_told(before)).map(|(line, _)| *line).collect()
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use neco_safety::secrets::KnownSecret;

    use super::*;

    #[tokio::test]
    async fn the_last_of_it_is_kept_without_secrets() {
        let folder = tempfile::tempdir().unwrap();
        let redactor = Redactor::default();
        redactor.learn(vec![KnownSecret { what: "KEY".to_owned(), value: "open-sesame-1".to_owned() }]);
        let log = ServerLog::new(folder.path(), "x", redactor.clone());
        let (errors, mut prints) = io::pipe().unwrap();
        let words = LastWords::follow(errors.into(), log, &redactor).unwrap();
        // More than is kept and less than a pipe takes.
        for _ in 0..1000 {
            prints.write_all("ä line\n".as_bytes()).unwrap();
        }
        prints.write_all(b"the key is open-sesame-1\n\nthe end\n").unwrap();
        drop(prints);
        let said = words.said().await;
        assert!(said.len() <= KEPT && said.ends_with("the end\n"), "{said}");
        assert_eq!(shown(&said).unwrap(), "ä line⏎the key is [redacted: KEY]⏎the end");
    }

    #[test]
    fn the_lines_that_say_why_are_preferred() {
        let node = "node:internal/modules/cjs/loader:1143\n  throw err;\n  ^\n\nError: Cannot find module '/x.js'\n    \
                    at Module._load (/srv/error.js:1)\n  code: 'MODULE_NOT_FOUND',\n  requireStack: []\n}\n\n\
                    Node.js v20.20.2\n";
        assert_eq!(shown(node).as_deref(), Some("Error: Cannot find module '/x.js'"));
        let rust = "starting\nthread 'main' panicked at src/main.rs:1:5:\nboom\nnote: run with RUST_BACKTRACE=1\n";
        assert_eq!(shown(rust).as_deref(), Some("thread 'main' panicked at src/main.rs:1:5:⏎boom"));
        let npm = "npm error code E404\nnpm error 404 Not Found\nnpm error a\nnpm error b\n";
        assert_eq!(shown(npm).as_deref(), Some("npm error 404 Not Found⏎npm error a⏎npm error b"));
    }

    #[test]
    fn what_is_shown_is_one_short_line() {
        assert_eq!(shown(" \n\n"), None);
        assert_eq!(shown("a\nb\nc\nd\u{1b}[31m\n").as_deref(), Some("b⏎c⏎d\\x1b[31m"));
        assert!(shown(&"x".repeat(10_000)).is_some_and(|shown| shown.chars().count() <= SHOWN + 1));
    }
}
