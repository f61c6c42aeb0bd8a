//! The official client library of the protocol, from npm, as the editor that everything is done by. `cargo xtask test`
//! installs it below the target folder; where that was not possible, which is said, the messages are our own.

use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, OnceLock};

use serde_json::Value;
use tempfile::TempDir;
use tokio::io::{AsyncBufReadExt, AsyncRead, AsyncWrite, AsyncWriteExt, DuplexStream, split};
use tokio::net::{UnixListener, UnixStream};

use crate::protocol::{Side, check};

/// Where the library begins, below the folder of what is installed for tests.
const LIBRARY: &str = "node_modules/@agentclientprotocol/sdk/dist/v1/stable/acp.js";

/// The library, in a process that ends with this one.
pub struct Library {
    folder: TempDir,
    editors: AtomicUsize,
    _node: Child,
}

/// The library, where it is there.
pub fn library() -> Option<&'static Library> {
    static STARTED: OnceLock<Option<Library>> = OnceLock::new();
    let start = || match Library::start() {
        Ok(library) => Some(library),
        Err(why) => {
            assert!(std::env::var_os("CI").is_none(), "not played by the official library: {why}");
            // Past what captures the output of tests that pass.
            let _ = writeln!(std::io::stderr(), "skipped: scenarios are not played by the official library: {why}");
            None
        }
    };
    STARTED.get_or_init(start).as_ref()
}

impl Library {
    fn start() -> Result<Self, String> {
        let library = Path::new(env!("CARGO_TARGET_TMPDIR")).parent().unwrap().join("mcp-servers").join(LIBRARY);
        if !library.exists() {
            return Err(format!("{} is not installed: `cargo xtask test` does that", library.display()));
        }
        let folder = tempfile::tempdir().unwrap();
        let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/acp/library.mjs");
        let mut node = Command::new("node");
        node.arg(script).arg(library).arg(folder.path().join("editors")).stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut node = node.spawn().map_err(|error| format!("there is no Node.js: {error}"))?;
        let mut line = String::new();
        BufReader::new(node.stdout.take().unwrap()).read_line(&mut line).unwrap();
        assert_eq!(line, "listening\n");
        Ok(Self { folder, editors: AtomicUsize::new(0), _node: node })
    }

    /// An editor of an agent; whoever plays it speaks on the stream. Ready when it has gone.
    pub async fn editor(&self, agent: DuplexStream) -> (UnixStream, impl Future<Output = ()> + use<>) {
        let number = self.editors.fetch_add(1, Ordering::Relaxed);
        let address = self.folder.path().join(number.to_string());
        let listener = UnixListener::bind(&address).unwrap();
        let mut person = UnixStream::connect(self.folder.path().join("editors")).await.unwrap();
        person.write_all(format!("{}\n", address.display()).as_bytes()).await.unwrap();
        let (editor, _) = listener.accept().await.unwrap();
        (person, carry_between(editor, agent))
    }
}

/// Requests that may be answered.
type Asked = Mutex<Vec<(Value, String)>>;

/// Carries messages between an editor and an agent, each held against the schema as it stands on the wire.
async fn carry_between(editor: UnixStream, agent: DuplexStream) {
    let ((from_editor, to_editor), (from_agent, to_agent)) = (split(editor), split(agent));
    let (of_agent, of_editor) = (Asked::default(), Asked::default());
    tokio::join!(
        carry(Side::Agent, (from_editor, to_agent), &of_agent, &of_editor),
        carry(Side::Client, (from_agent, to_editor), &of_editor, &of_agent),
    );
}

async fn carry(
    calls: Side,
    (from, mut to): (impl AsyncRead + Unpin, impl AsyncWrite + Unpin),
    asks: &Asked,
    answers: &Asked,
) {
    let mut lines = tokio::io::BufReader::new(from).lines();
    while let Ok(Some(line)) = lines.next_line().await {
        let message: Value = serde_json::from_str(&line).unwrap();
        check(calls, &message, &answers.lock().unwrap());
        if let (Some(id), Some(method)) = (message.get("id"), message["method"].as_str()) {
            asks.lock().unwrap().push((id.clone(), method.to_owned()));
        }
        if to.write_all(format!("{line}\n").as_bytes()).await.is_err() {
            break;
        }
    }
    // Whoever hears it may have gone.
    let _ = to.shutdown().await;
}
