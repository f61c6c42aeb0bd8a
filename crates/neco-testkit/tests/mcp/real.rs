//! Real servers from npm and PyPI, each in the strong box. `cargo xtask test` installs them below the target folder;
//! where that was not possible, they are left out, which is said.

use std::fs;
use std::io::{Read, Write};
use std::net::{Ipv4Addr, TcpListener};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;
use std::thread;
use std::time::Duration;

use neco_ext::mcp::{Caller, Manifest, McpError, ServerSettings, Servers};
use neco_proto::{EmptyAnswer, ErrorCode, ItemAnswer, QuestionItem, ResultPart};
use neco_toolkit::{AskPerson, Intent, ToolContext, ToolError};
use secrecy::SecretString;
use serde_json::{Map, Value, json};
use tokio_util::sync::CancellationToken;

use crate::stage::{Heard, SERVER, Stage, call_with, program_of, running, skipped, tool, until};

/// How long a server may take to start: Node.js and Python are not quick on a busy machine.
const PATIENCE: Duration = Duration::from_secs(120);

/// A real server that runs in its box.
struct Real {
    stage: Stage,
    servers: Servers,
    manifest: Arc<Manifest>,
}

impl Real {
    /// Starts a server; nothing where it or the box can't be had.
    async fn start(program: &str, arguments: &[&str], change: impl FnOnce(&mut ServerSettings)) -> Option<Self> {
        Self::start_on(Stage::new(), program, arguments, change).await
    }

    async fn start_on(
        stage: Stage,
        program: &str,
        arguments: &[&str],
        change: impl FnOnce(&mut ServerSettings),
    ) -> Option<Self> {
        let folder = installed();
        let program = folder.join(program);
        if !program.exists() {
            skipped(&format!("{} is not installed: `cargo xtask test` does that", program.display()));
            return None;
        }
        let runtime = if program.starts_with(folder.join("python")) {
            Some(folder.join("python/bin/python3"))
        } else {
            on_path("node")
        };
        let runtime = runtime.and_then(|program| fs::canonicalize(program).ok());
        let arguments = arguments.iter().map(|argument| (*argument).to_owned()).collect();
        let settings = stage.program(&program.display().to_string(), arguments);
        let mut settings = ServerSettings { start_timeout: PATIENCE, call_timeout: PATIENCE, ..settings };
        if let Some(folder) = runtime.as_deref().and_then(Path::parent) {
            let path = SecretString::from(format!("{}:/usr/local/bin:/usr/bin:/bin", folder.display()));
            program_of(&mut settings).variables.insert("PATH".to_owned(), path);
        }
        change(&mut settings);
        let readable = runtime.as_deref().and_then(apart_from_the_system).into_iter().chain([folder]).collect();
        let servers = stage.boxed_beside(settings, readable)?;
        let manifest = servers.learn(SERVER).await.unwrap_or_else(|error| panic!("{error}\n{}", stage.log()));
        Some(Self { stage, servers, manifest })
    }

    async fn said(&self, tool: &str, arguments: Value) -> String {
        let output = self.stage.call(&self.servers, tool, arguments).await.unwrap();
        assert_eq!(output.error_code, None, "{}", output.model);
        output.model
    }

    fn has(&self, tools: &[&str]) {
        for name in tools {
            assert!(tool(&self.servers, name).is_ok(), "{name} is missing");
        }
    }

    /// Stops it; nothing of it is left.
    async fn ends(self) {
        assert!(running(&self.stage.record) > 0, "it does not run");
        self.servers.close().await;
        self.stage.until_none_runs().await;
    }
}

/// Where `cargo xtask test` puts them.
fn installed() -> PathBuf {
    Path::new(env!("CARGO_TARGET_TMPDIR")).parent().unwrap().join("mcp-servers")
}

/// A program that this process would start by this name.
fn on_path(name: &str) -> Option<PathBuf> {
    let path = std::env::var_os("PATH")?;
    std::env::split_paths(&path).map(|folder| folder.join(name)).find(|program| program.is_file())
}

/// What a program that is not the system's is installed in; a box shows the system anyway.
fn apart_from_the_system(program: &Path) -> Option<PathBuf> {
    let folder = program.parent()?.parent()?;
    (!program.starts_with("/usr") && !program.starts_with("/bin")).then(|| folder.to_path_buf())
}

fn silent() -> Caller {
    Caller::silent(CancellationToken::new())
}

async fn everything() -> Option<Real> {
    Real::start("node_modules/.bin/mcp-server-everything", &["stdio"], |_| {}).await
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn everything_answers_with_every_kind_of_content() {
    let Some(real) = everything().await else { return };
    assert_eq!(real.manifest.protocol, "2025-11-25");
    real.has(&["echo", "get-sum", "get-roots-list", "trigger-elicitation-request"]);
    assert_eq!(real.said("echo", json!({ "message": "good day" })).await, "Echo: good day");
    assert_eq!(real.said("get-sum", json!({ "a": 2, "b": 40 })).await, "The sum of 2 and 40 is 42.");
    let picture = real.stage.call(&real.servers, "get-tiny-image", json!({})).await.unwrap();
    assert!(matches!(picture.intents.as_slice(), [Intent::OfferPicture(_)]), "{:?}", picture.intents);
    let weather = json!({ "location": "Chicago" });
    let weather = real.stage.call(&real.servers, "get-structured-content", weather).await.unwrap();
    let value = json!({ "temperature": 36, "conditions": "Light rain / drizzle", "humidity": 82 });
    assert!(weather.parts.contains(&ResultPart::Data { value }), "{:?}", weather.parts);
    let wrong = real.stage.call(&real.servers, "get-sum", json!({ "a": "two", "b": 1 })).await;
    assert!(wrong.map_or(true, |output| output.error_code.is_some()), "a sum of words");
    let roots = real.said("get-roots-list", json!({})).await;
    assert!(roots.contains(&format!("file://{}", real.stage.workspace.display())), "{roots}");
    real.ends().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn everything_has_resources_and_prompts() {
    let Some(real) = everything().await else { return };
    let uri = &real.manifest.resources.first().unwrap().uri;
    assert!(!real.servers.read(SERVER, uri, &silent()).await.unwrap().model.is_empty());
    let made = "demo://resource/dynamic/text/7";
    let made = real.servers.read(SERVER, made, &silent()).await.unwrap();
    assert!(made.model.contains("Resource 7"), "{}", made.model);
    assert_eq!(real.manifest.templates.len(), 2);
    let simple = real.servers.prompt(SERVER, "simple-prompt", Map::new(), &silent()).await.unwrap();
    assert_eq!(simple, "This is a simple prompt without arguments.");
    let arguments = Map::from_iter([("city".to_owned(), json!("Oslo")), ("state".to_owned(), json!("Norway"))]);
    let filled = real.servers.prompt(SERVER, "args-prompt", arguments, &silent()).await.unwrap();
    assert_eq!(filled, "What's weather in Oslo, Norway?");
    let missing = real.servers.prompt(SERVER, "args-prompt", Map::new(), &silent()).await;
    assert!(matches!(missing, Err(McpError::Refused { .. })), "{missing:?}");
    real.ends().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn everything_says_how_far_it_is_and_is_stopped() {
    let Some(real) = everything().await else { return };
    let heard = Arc::new(Heard::default());
    let ctx = ToolContext { live: heard.clone(), ..real.stage.context() };
    let name = "trigger-long-running-operation";
    let quick = call_with(ctx, &real.servers, name, json!({ "duration": 0.2, "steps": 4 })).await.unwrap();
    assert!(quick.model.contains("Steps: 4"), "{}", quick.model);
    let lines = heard.0.lock().unwrap().clone();
    assert!(lines.lines().any(|line| line == "2 of 4"), "{lines}");
    let (cancel, heard) = (CancellationToken::new(), Arc::new(Heard::default()));
    let ctx = ToolContext { cancel: cancel.clone(), live: heard.clone(), ..real.stage.context() };
    let slow = json!({ "duration": 6_000, "steps": 60_000 });
    let (stopped, ()) = tokio::join!(call_with(ctx, &real.servers, name, slow), async {
        until("it does not begin", || !heard.0.lock().unwrap().is_empty()).await;
        cancel.cancel();
    });
    assert_eq!(stopped, Err(ToolError::from(McpError::Stopped)));
    assert_eq!(real.said("echo", json!({ "message": "next" })).await, "Echo: next");
    real.ends().await;
}

/// A person who types a name where an answer is needed and leaves the rest as it is.
struct Ada;

impl AskPerson for Ada {
    fn ask(&self, items: Vec<QuestionItem>) -> futures::future::BoxFuture<'static, Option<Vec<ItemAnswer>>> {
        let answer = |item: &QuestionItem| match item.empty {
            EmptyAnswer::Refused => ItemAnswer { text: Some("Ada".to_owned()), ..ItemAnswer::default() },
            EmptyAnswer::Allowed | EmptyAnswer::Default => ItemAnswer::default(),
        };
        let answers = items.iter().map(answer).collect();
        Box::pin(std::future::ready(Some(answers)))
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn everything_asks_the_person() {
    let Some(real) = everything().await else { return };
    let ctx = ToolContext { person: Arc::new(Ada), ..real.stage.context() };
    let asked = call_with(ctx, &real.servers, "trigger-elicitation-request", json!({})).await.unwrap();
    assert!(asked.model.contains("- Name: Ada"), "{}", asked.model);
    let nobody = real.said("trigger-elicitation-request", json!({})).await;
    assert!(nobody.contains("declined") || nobody.contains("cancelled"), "{nobody}");
    real.ends().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_server_of_files_works_in_the_workspace_alone() {
    let stage = Stage::new();
    let (inside, outside) = (stage.workspace.join("notes.txt"), stage.root.join("notes.txt"));
    let workspace = stage.workspace.display().to_string();
    let real = Real::start_on(stage, "node_modules/.bin/mcp-server-filesystem", &[&workspace], |_| {}).await;
    let Some(real) = real else { return };
    real.said("write_file", json!({ "path": inside, "content": "one\ntwo\n" })).await;
    assert_eq!(fs::read_to_string(&inside).unwrap(), "one\ntwo\n");
    let read = real.said("read_text_file", json!({ "path": inside, "head": 1 })).await;
    assert!(read.contains("one") && !read.contains("two"), "{read}");
    let listed = real.said("list_directory", json!({ "path": real.stage.workspace })).await;
    assert!(listed.contains("[FILE] notes.txt"), "{listed}");
    let refused = json!({ "path": outside, "content": "a" });
    let refused = real.stage.call(&real.servers, "write_file", refused).await.unwrap();
    assert_eq!((refused.error_code, outside.exists()), (Some(ErrorCode::ToolFailed), false), "{}", refused.model);
    real.ends().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_server_of_memories_remembers() {
    let stage = Stage::new();
    let file = stage.workspace.join("memory.jsonl");
    let kept = SecretString::from(file.display().to_string());
    let real = Real::start_on(stage, "node_modules/.bin/mcp-server-memory", &[], |settings| {
        program_of(settings).variables.insert("MEMORY_FILE_PATH".to_owned(), kept);
    });
    let Some(real) = real.await else { return };
    let ada = json!({ "name": "Ada", "entityType": "person", "observations": ["writes programs"] });
    real.said("create_entities", json!({ "entities": [ada] })).await;
    let found = real.said("search_nodes", json!({ "query": "programs" })).await;
    assert!(found.contains("Ada") && fs::read_to_string(&file).unwrap().contains("Ada"), "{found}");
    // It is started anew and still knows.
    real.servers.stop(SERVER).await.unwrap();
    assert!(real.said("read_graph", json!({})).await.contains("writes programs"));
    real.ends().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_server_of_times_knows_them() {
    let arguments = ["--local-timezone", "UTC"];
    let Some(real) = Real::start("python/bin/mcp-server-time", &arguments, |_| {}).await else { return };
    assert_eq!(real.manifest.protocol, "2026-07-28");
    let tokyo = json!({ "source_timezone": "UTC", "time": "12:00", "target_timezone": "Asia/Tokyo" });
    let said = real.said("convert_time", tokyo).await;
    assert!(said.contains("T21:00:00+09:00"), "{said}");
    let nowhere = json!({ "timezone": "Nowhere/Land" });
    let nowhere = real.stage.call(&real.servers, "get_current_time", nowhere).await;
    assert!(nowhere.map_or(true, |output| output.error_code.is_some()), "there is no such place");
    real.ends().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_server_of_git_looks_at_the_workspace() {
    let stage = Stage::new();
    let init = Command::new("git").args(["init", "--quiet", "--initial-branch", "main"]).arg(&stage.workspace).status();
    assert!(init.unwrap().success());
    fs::write(stage.workspace.join("new.txt"), "new\n").unwrap();
    let folder = stage.workspace.clone();
    let arguments = ["--repository", &folder.display().to_string()];
    let Some(real) = Real::start_on(stage, "python/bin/mcp-server-git", &arguments, |_| {}).await else { return };
    let status = real.said("git_status", json!({ "repo_path": folder })).await;
    assert!(status.contains("new.txt") && status.contains("main"), "{status}");
    real.ends().await;
}

/// Answers everybody with one page, for as long as this process lives; gives the port.
fn page() -> u16 {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
    let port = listener.local_addr().unwrap().port();
    thread::spawn(move || {
        for mut stream in listener.incoming().flatten() {
            let _ = stream.read(&mut [0; 4096]);
            let html = "<html><body><article><h1>Moon</h1><p>It is full today.</p></article></body></html>";
            let head = format!("Content-Type: text/html\r\nContent-Length: {}\r\nConnection: close", html.len());
            let _ = write!(stream, "HTTP/1.1 200 OK\r\n{head}\r\n\r\n{html}");
        }
    });
    port
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_server_of_pages_reads_one_where_it_may_use_the_network() {
    let url = json!({ "url": format!("http://127.0.0.1:{}/", page()), "raw": true });
    let arguments = ["--ignore-robots-txt", "--allow-private-ips"];
    for network in [true, false] {
        let real = Real::start("python/bin/mcp-server-fetch", &arguments, |settings| {
            program_of(settings).network = network;
        });
        let Some(real) = real.await else { return };
        let fetched = real.stage.call(&real.servers, "fetch", url.clone()).await;
        let read = fetched.is_ok_and(|output| output.model.contains("It is full today."));
        assert_eq!(read, network, "with network = {network}");
        real.ends().await;
    }
}
