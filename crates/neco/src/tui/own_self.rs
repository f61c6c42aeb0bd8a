//! What subcommands of this program print: a window shows it as it is.

use std::ffi::OsString;
use std::path::Path;
use std::process::Stdio;
use std::time::Duration;

use tokio::io::AsyncReadExt;
use tokio::process::Command;

use neco_app::workspace::sandbox;

/// How long a subcommand may take.
const PATIENCE: Duration = Duration::from_secs(60);

/// Bytes of output that are shown at most.
const MOST_BYTES: u64 = 512 * 1024;

/// What came of a subcommand.
pub struct Told {
    /// What it printed.
    pub out: String,
    /// What it said besides.
    pub err: String,
    /// Whether it did what it was asked.
    pub done: bool,
}

impl Told {
    /// Why it did not, without the name before it.
    #[must_use]
    pub fn words(&self) -> String {
        self.err.trim().trim_start_matches("neco: ").to_owned()
    }
}

/// Runs this program with `arguments` in `folder`, with nobody to ask.
///
/// # Errors
/// In words, when it can't be run.
pub async fn run(arguments: &[&str], overrides: &[String], folder: &Path) -> Result<Told, String> {
    let settings = overrides.iter().flat_map(|text| [OsString::from("-c"), OsString::from(text)]);
    let mut command = Command::new(sandbox::own_program());
    command.args(arguments).args(settings).current_dir(folder).env("NO_COLOR", "1").env("CI", "1");
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).kill_on_drop(true);
    let told = async {
        let mut child = command.spawn()?;
        let (out, err) = (child.stdout.take(), child.stderr.take());
        let (out, err) = tokio::join!(text(out), text(err));
        let status = child.wait().await?;
        std::io::Result::Ok(Told { out, err, done: status.success() })
    };
    match tokio::time::timeout(PATIENCE, told).await {
        Ok(told) => told.map_err(|error| format!("{}: {error}", arguments.join(" "))),
        Err(_) => Err(format!("{} takes too long", arguments.join(" "))),
    }
}

async fn text(stream: Option<impl tokio::io::AsyncRead + Unpin>) -> String {
    let mut bytes = Vec::new();
    if let Some(mut stream) = stream {
        let mut few = (&mut stream).take(MOST_BYTES);
        let _ = few.read_to_end(&mut bytes).await;
        // What is beyond is read away, so that nobody is stopped by a full pipe.
        let _ = tokio::io::copy(&mut stream, &mut tokio::io::sink()).await;
    }
    String::from_utf8_lossy(&bytes).into_owned()
}
