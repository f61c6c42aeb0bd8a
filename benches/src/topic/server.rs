//! `neco serve`: many sessions, many who follow them, and how long a word of a model takes to reach them.

use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::time::{Duration, Instant};

use anyhow::{Context as _, bail, ensure};
use neco_proto::{AgentId, Event, EventBody, Message, SessionId};
use neco_store::{Catalog as _, Durability, EventLog as _, SessionRecord, SqliteStore, lease_and_append};
use rustix::process::{Pid, Resource, Signal, getrlimit, kill_process, setrlimit};
use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt as _, AsyncReadExt as _, AsyncWriteExt as _, BufReader};
use tokio::net::TcpStream;
use tokio::sync::mpsc::{self, UnboundedReceiver, UnboundedSender};
use tokio::task::JoinSet;

use super::Setting;
use crate::clock::{Moment, milliseconds};
use crate::figure::{Figure, Target, Unit};
use crate::report::Report;
use crate::samples::{Samples, p99};
use crate::speaker::{Speaker, moments, request};
use crate::stage::Stage;

/// Sessions that are kept and not open.
const KEPT: i64 = 10_000;

/// Sessions that are open, and how many of them are there before memory is looked at.
const OPEN: usize = 200;
const BEFORE: usize = 20;

/// Who follows a session.
const CLIENTS: usize = 1000;

/// Words that are said in one session, in all of them, and to all clients at once.
const WORDS: usize = 200;
const ROUNDS: usize = 5;
const LOUD: usize = 50;

/// How often the list is asked for.
const LISTS: usize = 30;

/// How long anything may take.
const PATIENCE: Duration = Duration::from_secs(120);

/// Files that a process may need: a connection for every client, and what sessions have open.
const FILES: u64 = 8192;

/// Measures it.
pub fn measure(setting: &Setting<'_>, report: &mut Report) -> anyhow::Result<()> {
    let Some(_) = memory(std::process::id()) else {
        report.skip("server", "how much memory a process has can't be read here");
        return Ok(());
    };
    let mut most = getrlimit(Resource::Nofile);
    most.current = most.current.max(most.maximum.map_or(Some(FILES), |maximum| Some(maximum.min(FILES))));
    setrlimit(Resource::Nofile, most)?;
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build()?;
    runtime.block_on(async { tokio::time::timeout(PATIENCE * 4, measured(setting, report)).await? })
}

async fn measured(setting: &Setting<'_>, report: &mut Report) -> anyhow::Result<()> {
    let mut stage = Stage::new(setting.folder)?;
    // A title would be asked of the model while it is busy.
    stage.also_configure("\n[sessions]\nmodel_title = false\n".to_owned());
    keep_sessions(&stage).await?;
    let speaker = Arc::new(Speaker::start()?);
    stage.configure(speaker.address())?;
    let server = Serving::start(setting.program.path(), &stage).await?;
    let (page, all) = (lists(&server, 50).await?, lists(&server, 10_000).await?);
    report.add(Figure::median("server_list_page_of_10000", Unit::Milliseconds, page).promised(Target::Below(50.0)));
    report.add(Figure::median("server_list_10000", Unit::Milliseconds, all));
    let sessions = open_sessions(&server, &stage, report).await?;
    let mut clients = Clients::default();
    let began = Instant::now();
    clients.follow(&server, (0..CLIENTS).map(|number| sessions[number % OPEN].as_str())).await?;
    report.add(Figure::info("server_1000_clients_come", Unit::Seconds, began.elapsed().as_secs_f64()));
    for (number, id) in sessions.iter().enumerate() {
        let said = json!({ "type": "user_message", "content": request(number) });
        server.post(&format!("/api/v1/sessions/{id}/commands"), &said).await?;
    }
    until("every session asks its model", || speaker.waiting() == OPEN).await?;
    let one = (0..WORDS).map(|_| 0).collect();
    let waits = clients.hear(&speaker, one, CLIENTS / OPEN, Duration::from_millis(15)).await?;
    report.add(ninety_nine("server_token_to_client", waits)?.promised(Target::Below(10.0)));
    let every = (0..ROUNDS * OPEN).map(|word| word % OPEN).collect();
    let waits = clients.hear(&speaker, every, CLIENTS / OPEN, Duration::from_millis(5)).await?;
    report.add(ninety_nine("server_fan_out", waits)?.promised(Target::Below(20.0)));
    let held = memory(server.child.id()).context("the server is gone")?;
    report.add(Figure::info("server_memory", Unit::Megabytes, held as f64 / 1e6).promised(Target::Below(400.0)));
    drop(clients);
    let mut clients = Clients::default();
    clients.follow(&server, (0..CLIENTS).map(|_| sessions[0].as_str())).await?;
    let waits = clients.hear(&speaker, vec![0; LOUD], CLIENTS, Duration::from_millis(100)).await?;
    report.add(ninety_nine("server_fan_out_of_one", waits)?.promised(Target::Below(20.0)));
    speaker.end();
    server.end().await
}

fn ninety_nine(name: &'static str, waits: Vec<f64>) -> anyhow::Result<Figure> {
    let samples = Samples::of(waits.iter().copied()).context("nothing was heard")?;
    let value = p99(waits).context("nothing was heard")?;
    Ok(Figure { samples: Some(samples), ..Figure::info(name, Unit::Milliseconds, value) })
}

/// Sessions of earlier days, as a store of the stage's home has them.
async fn keep_sessions(stage: &Stage) -> anyhow::Result<()> {
    let data = stage.home().join("data");
    std::fs::create_dir_all(&data)?;
    let store = SqliteStore::open(&data.join("neco.db")).await?;
    let record = |number: i64| SessionRecord {
        title: format!("what was asked on day {number}"),
        messages: Some(2),
        ..SessionRecord::new(SessionId::new(), format!("/project/{}", number % 50), number)
    };
    let records: Vec<SessionRecord> = (0..KEPT).map(record).collect();
    futures::future::try_join_all(records.iter().map(|new| store.create(new.clone()))).await?;
    for (SessionRecord { id, title, .. }, number) in records.into_iter().zip(0..) {
        let at = jiff::Timestamp::from_millisecond(1_700_000_000_000 + number * 1000)?;
        let said = EventBody::Message(Message::user(title));
        let event = Event::new(1, at, id, AgentId::new(), None, said);
        lease_and_append(&store, vec![event], Durability::Soon).await?;
    }
    store.flush().await?;
    store.close().await?;
    Ok(())
}

/// Opens the sessions; what each costs that does nothing is reported.
async fn open_sessions(server: &Serving, stage: &Stage, report: &mut Report) -> anyhow::Result<Vec<String>> {
    let (mut ids, mut before, mut took) = (Vec::new(), 0, Vec::new());
    let wanted = json!({ "folder": stage.workspace(), "attended": true, "interactive": true });
    for number in 0..OPEN {
        if number == BEFORE {
            before = memory(server.child.id()).context("the server is gone")?;
        }
        let began = Instant::now();
        let opened = server.post("/api/v1/sessions", &wanted).await?;
        took.push(milliseconds(began.elapsed()));
        ids.push(opened["id"].as_str().context("a session without an id")?.to_owned());
    }
    let each =
        (memory(server.child.id()).context("the server is gone")? as f64 - before as f64) / (OPEN - BEFORE) as f64;
    let took = Samples::of(took).context("no session")?;
    report.add(Figure::median("server_session_opens", Unit::Milliseconds, took));
    report.add(Figure::info("server_idle_session", Unit::Kilobytes, each / 1e3).promised(Target::Below(100.0)));
    Ok(ids)
}

/// How long a list of so many sessions takes, over one connection.
async fn lists(server: &Serving, limit: usize) -> anyhow::Result<Samples> {
    let mut connection = BufReader::new(server.connect().await?);
    let mut took = Vec::new();
    for _ in 0..LISTS {
        let began = Instant::now();
        let head = server.head(&format!("GET /api/v1/sessions?limit={limit}"), "");
        connection.get_mut().write_all(head.as_bytes()).await?;
        let listed: Value = serde_json::from_slice(&answer(&mut connection).await?)?;
        took.push(milliseconds(began.elapsed()));
        let count = listed["sessions"].as_array().map_or(0, Vec::len);
        ensure!(count == limit, "{count} sessions are listed and not {limit}: {listed}");
    }
    Samples::of(took).context("no lists")
}

/// Bytes of memory that a process has, where that can be read.
fn memory(process: u32) -> Option<u64> {
    let status = std::fs::read_to_string(format!("/proc/{process}/status")).ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"))?;
    Some(line.trim().trim_end_matches(" kB").parse::<u64>().ok()? * 1024)
}

async fn until(what: &str, is_so: impl Fn() -> bool) -> anyhow::Result<()> {
    let began = Instant::now();
    while !is_so() {
        ensure!(began.elapsed() < PATIENCE, "waited in vain: {what}");
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    Ok(())
}

/// A server that runs.
struct Serving {
    child: Child,
    address: String,
    token: String,
}

impl Serving {
    async fn start(program: &Path, stage: &Stage) -> anyhow::Result<Self> {
        let child = Command::new(program)
            .args(["serve", "--bind", "127.0.0.1:0"])
            .env_clear()
            .envs(stage.environment())
            .current_dir(stage.workspace())
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(std::fs::File::create(stage.notes("server.log"))?)
            .spawn()?;
        let mut server = Self { child, address: String::new(), token: String::new() };
        let run = stage.home().join("data/run");
        until("the server listens", || run.join("server.json").exists()).await?;
        let found: Value = serde_json::from_slice(&std::fs::read(run.join("server.json"))?)?;
        let url = found["url"].as_str().context("the server says not where it is")?;
        server.address = url.trim_start_matches("http://").to_owned();
        server.token = std::fs::read_to_string(run.join("token"))?.trim().to_owned();
        Ok(server)
    }

    async fn connect(&self) -> anyhow::Result<TcpStream> {
        let stream = TcpStream::connect(&self.address).await?;
        stream.set_nodelay(true)?;
        Ok(stream)
    }

    fn head(&self, line: &str, more: &str) -> String {
        format!("{line} HTTP/1.1\r\nHost: {}\r\nAuthorization: Bearer {}\r\n{more}\r\n", self.address, self.token)
    }

    async fn post(&self, path: &str, body: &Value) -> anyhow::Result<Value> {
        let mut connection = BufReader::new(self.connect().await?);
        let body = body.to_string();
        let more = format!("Content-Type: application/json\r\nContent-Length: {}\r\n", body.len());
        let head = self.head(&format!("POST {path}"), &more);
        connection.get_mut().write_all(format!("{head}{body}").as_bytes()).await?;
        Ok(serde_json::from_slice(&answer(&mut connection).await?)?)
    }

    async fn end(mut self) -> anyhow::Result<()> {
        let pid = i32::try_from(self.child.id()).ok().and_then(Pid::from_raw).context("no process")?;
        kill_process(pid, Signal::TERM)?;
        let began = Instant::now();
        while self.child.try_wait()?.is_none() {
            ensure!(began.elapsed() < PATIENCE, "the server does not end");
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
        Ok(())
    }
}

impl Drop for Serving {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// The body of an answer whose length is told.
async fn answer(connection: &mut BufReader<TcpStream>) -> anyhow::Result<Vec<u8>> {
    let head = answer_head(connection).await?;
    let length = head.lines().find_map(|line| line.strip_prefix("content-length:"));
    let length: usize = length.context("an answer without a length")?.trim().parse()?;
    let mut body = vec![0; length];
    connection.read_exact(&mut body).await?;
    ensure!(head.starts_with("http/1.1 2"), "{head}{}", String::from_utf8_lossy(&body));
    Ok(body)
}

async fn answer_head(connection: &mut BufReader<TcpStream>) -> anyhow::Result<String> {
    let mut head = String::new();
    while !head.ends_with("\r\n\r\n") {
        ensure!(connection.read_line(&mut head).await? > 0, "the server hung up: {head}");
    }
    Ok(head.to_ascii_lowercase())
}

/// Those who follow sessions, until this is dropped.
struct Clients {
    tasks: JoinSet<anyhow::Result<()>>,
    tells: UnboundedSender<Heard>,
    // Unbounded: as many as words are said to those who are there.
    heard: UnboundedReceiver<Heard>,
}

/// A word that somebody heard: when it was said, and when it was there.
struct Heard {
    said: Moment,
    there: Moment,
}

impl Default for Clients {
    fn default() -> Self {
        // Unbounded: as many as words are said to those who are there.
        let (tells, heard) = mpsc::unbounded_channel();
        Self { tasks: JoinSet::new(), tells, heard }
    }
}

impl Clients {
    /// One more client for each of these sessions; all listen when this is ready.
    async fn follow<'a>(&mut self, server: &Serving, ids: impl Iterator<Item = &'a str>) -> anyhow::Result<()> {
        for id in ids {
            let mut connection = BufReader::new(server.connect().await?);
            let head = server.head(&format!("GET /api/v1/sessions/{id}/events"), "Accept: text/event-stream\r\n");
            connection.get_mut().write_all(head.as_bytes()).await?;
            let head = answer_head(&mut connection).await?;
            ensure!(head.starts_with("http/1.1 200"), "{head}");
            let tells = self.tells.clone();
            self.tasks.spawn(async move { listen(connection, &tells).await });
        }
        Ok(())
    }

    /// How long it took, in milliseconds, until the clients of these sessions heard a word of each: `by` for each word,
    /// which are said one every `pause`.
    async fn hear(
        &mut self,
        speaker: &Arc<Speaker>,
        words: Vec<usize>,
        by: usize,
        pause: Duration,
    ) -> anyhow::Result<Vec<f64>> {
        let (began, wanted, speaker) = (Moment::now(), words.len() * by, Arc::clone(speaker));
        let saying = std::thread::spawn(move || {
            words.into_iter().try_for_each(|number| {
                std::thread::sleep(pause);
                speaker.say(number)
            })
        });
        let mut waits = Vec::with_capacity(wanted);
        while waits.len() < wanted {
            match tokio::time::timeout(PATIENCE, self.heard.recv()).await {
                // What was said before others came is no word of now.
                Ok(Some(Heard { said, there })) if said >= began => waits.push(milliseconds(there.since(said))),
                Ok(Some(_)) => {}
                Ok(None) | Err(_) => bail!("{} of {wanted} words were heard", waits.len()),
            }
        }
        saying.join().map_err(|_| anyhow::anyhow!("the model failed"))??;
        Ok(waits)
    }
}

/// Reads events and tells of their words, each once: the whole answer has them again.
async fn listen(mut connection: BufReader<TcpStream>, tells: &UnboundedSender<Heard>) -> anyhow::Result<()> {
    let (mut line, mut last) = (String::new(), None);
    while connection.read_line(&mut line).await? > 0 {
        let there = Moment::now();
        for said in moments(&line) {
            if last.is_none_or(|last| said > last) {
                last = Some(said);
                tells.send(Heard { said, there })?;
            }
        }
        line.clear();
    }
    Ok(())
}
