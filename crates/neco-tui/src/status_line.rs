//! The person's own command for the status line.

use std::path::Path;
use std::process::Stdio;
use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process_group};
use serde_json::Value;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::process::Command;

/// How long the command may take; a status line is nothing to wait for.
const PATIENCE: Duration = Duration::from_secs(2);

/// Bytes of its output that are looked at.
const MOST_BYTES: u64 = 4096;

/// The first line that `command` prints when it is given `standing` on stdin; none when it fails.
pub async fn line(command: &str, standing: &Value, folder: &Path) -> Option<String> {
    tokio::time::timeout(PATIENCE, run(command, standing, folder)).await.ok()?.ok()?
}

async fn run(line: &str, standing: &Value, folder: &Path) -> std::io::Result<Option<String>> {
    let mut command = Command::new("sh");
    command.args(["-c", line]).current_dir(folder).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
    let mut child = command.process_group(0).kill_on_drop(true).spawn()?;
    let _group = child.id().and_then(|id| i32::try_from(id).ok()).and_then(Pid::from_raw).map(Group);
    if let Some(mut stdin) = child.stdin.take() {
        // Who does not want to know how things are reads nothing.
        let _ = stdin.write_all(standing.to_string().as_bytes()).await;
    }
    let mut bytes = Vec::new();
    if let Some(out) = child.stdout.take() {
        out.take(MOST_BYTES).read_to_end(&mut bytes).await?;
    }
    let text = String::from_utf8_lossy(&bytes);
    let first = text.lines().next().map(str::trim_end).filter(|line| !line.is_empty());
    Ok(first.map(str::to_owned))
}

/// A command and all that it started: none of them outlives the line.
struct Group(Pid);

impl Drop for Group {
    fn drop(&mut self) {
        // There may be nobody left.
        let _ = kill_process_group(self.0, Signal::KILL);
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[tokio::test]
    async fn the_first_line_counts_and_a_failure_is_none() {
        let standing = json!({ "model": "a/b" });
        let told = async |command: &str| line(command, &standing, Path::new("/")).await;
        assert_eq!(told("grep -o a/b; echo more").await.as_deref(), Some("a/b"));
        assert_eq!(told("true").await, None);
        assert_eq!(told("exit 3").await, None);
    }

    #[tokio::test]
    async fn what_it_started_is_gone_with_it() {
        let started = std::time::Instant::now();
        let told = line("sleep 47.11 & echo now", &json!({}), Path::new("/")).await;
        assert_eq!(told, None, "the line is not complete while somebody may write to it");
        assert!(started.elapsed() < Duration::from_secs(30));
        let lives = || {
            let listed = std::process::Command::new("ps").args(["-eo", "args"]).output().unwrap();
            String::from_utf8_lossy(&listed.stdout).contains("sleep 47.11")
        };
        while lives() {
            assert!(started.elapsed() < Duration::from_secs(30));
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    }
}
