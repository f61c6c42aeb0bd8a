//! `neco mcp conformance URL`: the client that the official conformance suite of MCP starts.
//!
//! It is the product's own client with a person who agrees to everything: what the server offers is learnt, its tools
//! are called, its resources read, its prompts filled in, and where it wants a login, one is made. The suite says by
//! variables which scenario it plays. `cargo xtask conformance` runs all of them.
//!
//! Invariant: nothing of the person's own is used or changed; what is kept meanwhile is gone with the process.

use std::collections::{BTreeMap, HashMap};
use std::io;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use futures::FutureExt;
use futures::future::BoxFuture;
use neco_config::Env;
use neco_config::section::McpSampling;
use neco_ext::mcp::{
    Caller, LoginSettings, LoginStep, LoginUi, Manifest, McpError, McpSetup, PromptInfo, Reach, ServerAddress,
    ServerSettings, ServerState, Servers, TokenStore, tool_name,
};
use neco_proto::event::OutputStream;
use neco_proto::{CallId, ErrorCode, ItemAnswer, QuestionItem};
use neco_safety::secrets::Redactor;
use neco_safety::world::Files;
use neco_sandbox::{LocalNet, LocalWorld, Spawner};
use neco_toolkit::bound::SpillFile;
use neco_toolkit::{AskPerson, LiveOutput, Registry, Spill, ToBackground, ToolContext, ToolError};
use secrecy::SecretString;
use serde_json::{Map, Value, json};
use tempfile::TempDir;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio_util::sync::CancellationToken;

use crate::exit::Exit;
use crate::failure::Failure;
use crate::{compose, say};

/// What the server is called.
const SERVER: &str = "conformance";

/// How long the server may take; the suite gives up after 30 seconds.
const PATIENCE: Duration = Duration::from_secs(20);

/// How often a login is made: a server that is never content is given up.
const MOST_LOGINS: usize = 3;

/// How often a browser is sent on, and how much of a page it reads.
const MOST_HOPS: usize = 5;
const MOST_OF_A_PAGE: u64 = 64 * 1024;

/// How deep arguments are nested.
const DEEPEST: usize = 5;

/// A client id that is the address of what is said of the client, which this scenario expects.
const DOCUMENT: (&str, &str) = ("auth/basic-cimd", "https://conformance-test.local/client-metadata.json");

/// Runs `neco mcp conformance URL`.
pub fn run(url: &str, env: &Env) -> Result<Exit, Failure> {
    let runtime = compose::runtime()?;
    let session = Session::new(url, env)?;
    runtime.block_on(async {
        let played = session.play().await;
        session.servers.close().await;
        played
    })?;
    Ok(Exit::Done)
}

/// What a person would do with one server.
struct Session {
    servers: Servers,
    folder: TempDir,
    scenario: String,
    /// What the scenario tells besides.
    told: Value,
    logins: AtomicUsize,
}

impl Session {
    fn new(url: &str, env: &Env) -> Result<Self, Failure> {
        let folder = tempfile::tempdir().map_err(|error| failed(format!("there is no folder to work in: {error}")))?;
        let scenario = env.var("MCP_CONFORMANCE_SCENARIO").unwrap_or_default().to_owned();
        let told = env.var("MCP_CONFORMANCE_CONTEXT").and_then(|text| serde_json::from_str(text).ok());
        let told: Value = told.unwrap_or_default();
        let setup = McpSetup {
            folder: folder.path().to_owned(),
            data_dir: folder.path().to_owned(),
            processes: Arc::new(|_| Err(io::Error::other("no program is started here"))),
            redactor: Redactor::default(),
            logins: Arc::new(Kept::default()),
        };
        let servers = Servers::new(setup, vec![settings(url, login(&scenario, &told))]);
        Ok(Self { servers, folder, scenario, told, logins: AtomicUsize::new(0) })
    }

    async fn play(&self) -> Result<(), Failure> {
        let learn = async || self.servers.learn(SERVER).await.map_err(ToolError::from);
        let manifest = self.logged_in(learn).await?.ok_or_else(|| failed("nothing is known of it".to_owned()))?;
        for (tool, arguments) in self.calls(&manifest) {
            self.logged_in(async || self.call(&tool, arguments.clone()).await).await?;
        }
        let caller = Caller { person: Arc::new(Agreeable::default()), ..Caller::silent(CancellationToken::new()) };
        for resource in &manifest.resources {
            let read = async || self.servers.read(SERVER, &resource.uri, &caller).await.map_err(ToolError::from);
            self.logged_in(read).await?;
        }
        for prompt in &manifest.prompts {
            let arguments = filled(prompt);
            let fill = async || {
                let filled = self.servers.prompt(SERVER, &prompt.name, arguments.clone(), &caller).await;
                filled.map_err(ToolError::from)
            };
            self.logged_in(fill).await?;
        }
        Ok(())
    }

    /// What is called: what the scenario tells, or every tool.
    fn calls(&self, manifest: &Manifest) -> Vec<(String, Value)> {
        let all = || manifest.tools.iter().map(|tool| (tool.name.clone(), plausible(&tool.schema, DEEPEST))).collect();
        let told = |call: &Value| Some((call["name"].as_str()?.to_owned(), call["arguments"].clone()));
        match (self.scenario.as_str(), self.told["toolCalls"].as_array()) {
            (_, Some(calls)) => calls.iter().filter_map(told).collect(),
            // Its only tool can't be called.
            ("json-schema-ref-no-deref", None) => Vec::new(),
            ("json-schema-2020-12-preservation", None) => {
                let seen = manifest.tools.iter().find(|tool| tool.name == "json_schema_2020_12_tool");
                let schema = seen.map(|tool| &tool.schema);
                vec![("json_schema_echo".to_owned(), json!({ "schema": schema }))]
            }
            _ => all(),
        }
    }

    /// Calls a tool as an agent would; a tool that agents don't have is passed over.
    async fn call(&self, tool: &str, arguments: Value) -> Result<(), ToolError> {
        let registry = Registry::default().following(self.servers.plugged());
        let Ok(tool) = registry.find(&tool_name(SERVER, tool)) else { return Ok(()) };
        let files = Files::new(self.folder.path(), Vec::new()).map_err(|error| ToolError::failed(error.to_string()))?;
        let ctx = ToolContext {
            call_id: CallId::from("call"),
            world: Arc::new(LocalWorld { files, spawn: Spawner::new(Vec::new(), &[]), net: LocalNet::default() }),
            live: Arc::new(Nowhere),
            cancel: CancellationToken::new(),
            person: Arc::new(Agreeable::default()),
            model: Arc::new(()),
            background: ToBackground::default(),
            spill: Arc::new(Nowhere),
            max_output: 50_000,
            more_writes: false,
            approved: true,
        };
        Arc::clone(tool).prepare(arguments)?.run(ctx).await.map(drop)
    }

    /// Wants something of the server, with a login where it wants one. What it refuses is told, and passed over.
    async fn logged_in<T>(&self, want: impl AsyncFn() -> Result<T, ToolError>) -> Result<Option<T>, Failure> {
        loop {
            match want().await {
                Ok(given) => return Ok(Some(given)),
                Err(_) if self.wants_login() => self.log_in().await?,
                Err(error) if error.code == ErrorCode::ServerUnreachable => return Err(failed(error.message)),
                Err(error) => {
                    say::note(&error.message);
                    return Ok(None);
                }
            }
        }
    }

    fn wants_login(&self) -> bool {
        self.servers.status().iter().any(|status| status.state == ServerState::NeedsLogin)
    }

    async fn log_in(&self) -> Result<(), Failure> {
        if self.logins.fetch_add(1, Ordering::Relaxed) >= MOST_LOGINS {
            return Err(failed(format!("it is not content with {MOST_LOGINS} logins")));
        }
        self.servers.log_in(SERVER, &Browser).await.map_err(|error: McpError| failed(error.to_string()))
    }
}

fn failed(message: String) -> Failure {
    Failure::new(Exit::Failed, message)
}

fn settings(url: &str, login: LoginSettings) -> ServerSettings {
    let address = ServerAddress { url: url.to_owned(), headers: BTreeMap::new(), bearer: None, login };
    ServerSettings {
        name: SERVER.to_owned(),
        reach: Reach::Address(address),
        enabled: true,
        auto_start: false,
        include: Vec::new(),
        exclude: Vec::new(),
        start_timeout: PATIENCE,
        call_timeout: PATIENCE,
        idle: PATIENCE,
        sampling: McpSampling::Deny,
        file: String::new(),
    }
}

/// The client that is registered beforehand, where a scenario has one.
fn login(scenario: &str, told: &Value) -> LoginSettings {
    let text = |field: &str| told[field].as_str().map(str::to_owned);
    let document = (scenario == DOCUMENT.0).then(|| DOCUMENT.1.to_owned());
    LoginSettings {
        client_id: text("client_id").or(document),
        client_secret: text("client_secret").map(SecretString::from),
        ..LoginSettings::default()
    }
}

/// Keeps logins for as long as the process lives.
#[derive(Default)]
struct Kept(Mutex<HashMap<String, SecretString>>);

impl TokenStore for Kept {
    fn load(&self, server: &str) -> io::Result<Option<SecretString>> {
        Ok(self.0.lock().unwrap_or_else(PoisonError::into_inner).get(server).cloned())
    }

    fn save(&self, server: &str, login: &SecretString) -> io::Result<()> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).insert(server.to_owned(), login.clone());
        Ok(())
    }

    fn remove(&self, server: &str) -> io::Result<()> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).remove(server);
        Ok(())
    }
}

/// A person who takes the first of what can be chosen and leaves the rest as it is; asked again, they type a number.
#[derive(Default)]
struct Agreeable(AtomicUsize);

impl AskPerson for Agreeable {
    fn ask(&self, items: Vec<QuestionItem>) -> BoxFuture<'static, Option<Vec<ItemAnswer>>> {
        let again = self.0.fetch_add(1, Ordering::Relaxed) > 0;
        let answer = |item: &QuestionItem| ItemAnswer {
            chosen: item.options.first().map(|option| option.label.clone()).into_iter().collect(),
            text: (again && item.options.is_empty()).then(|| "1".to_owned()),
        };
        std::future::ready(Some(items.iter().map(answer).collect())).boxed()
    }
}

/// Nobody listens, and nothing is too big.
struct Nowhere;

impl LiveOutput for Nowhere {
    fn push(&self, _: OutputStream, _: &str) {}
}

impl Spill for Nowhere {
    fn open(&self, _: &CallId) -> BoxFuture<'_, Result<Box<dyn SpillFile>, ToolError>> {
        std::future::ready(Err(ToolError::failed("there is no file for it"))).boxed()
    }
}

/// A browser whose person agrees: it opens what it is sent to.
struct Browser;

impl LoginUi for Browser {
    fn show(&self, step: LoginStep) {
        if let LoginStep::OpenBrowser(url) = step {
            tokio::spawn(async move {
                if let Err(error) = visit(url).await {
                    say::note(&format!("the browser fails: {error}"));
                }
            });
        }
    }
}

/// Opens a page on this machine, and those that it is sent on to.
async fn visit(mut url: String) -> io::Result<()> {
    for _ in 0..MOST_HOPS {
        let Some((host, path)) = parts(&url) else {
            return Err(io::Error::other(format!("{url} is not on this machine")));
        };
        let mut stream = TcpStream::connect(host).await?;
        let request = format!("GET {path} HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n\r\n");
        stream.write_all(request.as_bytes()).await?;
        let mut page = Vec::new();
        stream.take(MOST_OF_A_PAGE).read_to_end(&mut page).await?;
        match location(&String::from_utf8_lossy(&page)) {
            Some(next) => url = next,
            None => return Ok(()),
        }
    }
    Err(io::Error::other("it is sent on and on"))
}

/// The host with its port, and the path of an address without encryption.
fn parts(url: &str) -> Option<(&str, &str)> {
    let rest = url.strip_prefix("http://")?;
    let (host, path) = rest.split_at(rest.find('/')?);
    host.contains(':').then_some((host, path))
}

/// Where an answer sends a browser.
fn location(answer: &str) -> Option<String> {
    let head = answer.lines().take_while(|line| !line.is_empty());
    let mut pairs = head.filter_map(|line| line.split_once(':'));
    pairs.find_map(|(name, value)| name.eq_ignore_ascii_case("location").then(|| value.trim().to_owned()))
}

/// Arguments of a prompt: texts.
fn filled(prompt: &PromptInfo) -> Map<String, Value> {
    prompt.arguments.iter().map(|argument| (argument.name.clone(), json!("text"))).collect()
}

/// A value that fits a schema, as far as that can be seen at a glance.
fn plausible(schema: &Value, depth: usize) -> Value {
    let given = [&schema["default"], &schema["const"], &schema["enum"][0]];
    if let Some(value) = given.into_iter().find(|value| !value.is_null()) {
        return value.clone();
    }
    if let Some(first) = [&schema["anyOf"][0], &schema["oneOf"][0]].into_iter().find(|schema| schema.is_object()) {
        return plausible(first, depth.saturating_sub(1));
    }
    let kind = schema["type"].as_str().or_else(|| schema["type"][0].as_str());
    match kind {
        Some("boolean") => json!(true),
        Some("integer" | "number") => schema.get("minimum").cloned().unwrap_or(json!(1)),
        Some("null") => Value::Null,
        Some("array") if depth == 0 || schema["minItems"].as_u64().unwrap_or_default() == 0 => json!([]),
        Some("array") => json!([plausible(&schema["items"], depth - 1)]),
        Some("object") if depth == 0 => json!({}),
        Some("object") => {
            let fields = schema["properties"].as_object().into_iter().flatten();
            fields.map(|(name, schema)| (name.clone(), plausible(schema, depth - 1))).collect()
        }
        Some(_) | None => json!("text"),
    }
}

#[cfg(test)]
mod tests {
    use tokio::net::TcpListener;

    use super::*;

    #[test]
    fn arguments_fit_what_is_asked_for() {
        let schema = json!({ "type": "object", "properties": {
            "a": { "type": "integer", "minimum": 3 },
            "b": { "type": ["string", "null"] },
            "c": { "enum": ["x", "y"] },
            "d": { "type": "array", "minItems": 1, "items": { "type": "boolean" } },
            "e": { "anyOf": [{ "type": "number" }, { "type": "null" }] },
            "f": { "type": "object", "properties": { "g": { "default": 7 } } },
        } });
        let wanted = json!({ "a": 3, "b": "text", "c": "x", "d": [true], "e": 1, "f": { "g": 7 } });
        assert_eq!(plausible(&schema, DEEPEST), wanted);
        assert_eq!(plausible(&schema, 0), json!({}));
    }

    #[test]
    fn a_scenario_may_bring_its_client() {
        let told = json!({ "client_id": "me", "client_secret": "hush" });
        let known = login("auth/pre-registration", &told);
        assert_eq!((known.client_id.as_deref(), known.client_secret.is_some()), (Some("me"), true));
        assert_eq!(login(DOCUMENT.0, &Value::Null).client_id.as_deref(), Some(DOCUMENT.1));
        assert_eq!(login("initialize", &Value::Null).client_id, None);
    }

    #[tokio::test]
    async fn the_browser_follows_where_it_is_sent() {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let host = listener.local_addr().unwrap();
        let server = async {
            let mut asked = Vec::new();
            let sent_on = format!("302 Found\r\nlocation: http://{host}/back?code=1");
            for status in [sent_on.as_str(), "200 OK"] {
                let (mut stream, _) = listener.accept().await.unwrap();
                let mut request = vec![0; 1024];
                let read = stream.read(&mut request).await.unwrap();
                asked.push(String::from_utf8_lossy(&request[..read]).lines().next().unwrap().to_owned());
                stream.write_all(format!("HTTP/1.1 {status}\r\n\r\nbody: x").as_bytes()).await.unwrap();
            }
            asked
        };
        let (visited, asked) = tokio::join!(visit(format!("http://{host}/login?a=b")), server);
        visited.unwrap();
        assert_eq!(asked, ["GET /login?a=b HTTP/1.1", "GET /back?code=1 HTTP/1.1"]);
        assert!(visit("https://example.com/".to_owned()).await.is_err());
    }
}
