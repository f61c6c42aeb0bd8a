//! `neco session`: which sessions there are, and what was said in them.

use std::fmt::Write;
use std::path::Path;
use std::sync::Arc;

use jiff::Timestamp;
use neco_config::{Config, Env};
use neco_proto::{Event, EventBody, Role};
use neco_session::Hub;
use neco_store::SessionRecord;
use serde_json::json;

use crate::args::{EverywhereArgs, SessionCommand};
use crate::cmd::when::ago;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::print::clean::{clean, clean_line};
use crate::print::paint::Paint;
use crate::print::{card, figures};
use crate::say;
use crate::short_id::short_id;
use crate::terminal::Terminal;
use crate::wire::{self, ServiceSetup, Services};

/// The most sessions that are listed.
const MOST: usize = 1000;

/// Runs `neco session …`. A broken configuration is no reason not to show what was said.
///
/// # Errors
/// When there is no such session or the store can't be read.
pub fn run(command: &SessionCommand, everywhere: &EverywhereArgs, env: &Env) -> Result<Exit, Failure> {
    let runtime = wire::runtime()?;
    runtime.block_on(async {
        let setup = ServiceSetup {
            config: &Config::built_in(),
            tools: Vec::new(),
            environment: Vec::new(),
            data_dir: env.data_dir().to_owned(),
            find_model: Arc::new(|name| Err(name.to_owned())),
        };
        let services = Services::start(wire::open_store(env.data_dir()).await?, setup)?;
        let answered = answer(command, everywhere, env, &services.hub).await;
        services.stop().await?;
        answered
    })?;
    Ok(Exit::Done)
}

async fn answer(command: &SessionCommand, everywhere: &EverywhereArgs, env: &Env, hub: &Hub) -> Result<(), Failure> {
    match command {
        SessionCommand::List { all, json } => {
            let folder = crate::folder(everywhere)?;
            let records = hub.list((!all).then_some(folder.as_path()), MOST).await?;
            say::out(&if *json { list_json(&records) } else { list(&records, *all, env.home()) })
        }
        SessionCommand::Show { id, json } => show(&hub.find(id).await?, *json, env, hub).await,
    }
}

/// Event by event: a long session is never in memory as a whole.
async fn show(record: &SessionRecord, json: bool, env: &Env, hub: &Hub) -> Result<(), Failure> {
    let paint = Terminal::look_at(env).stdout_paint();
    let mut written = if json { Ok(()) } else { say::out(&heading(record, paint)) };
    hub.each_event(record.id, |event| {
        let text = match json {
            true => serde_json::to_string(event).unwrap_or_default() + "\n",
            false => shown(event, paint),
        };
        if written.is_ok() && !text.is_empty() {
            written = say::out(&text);
        }
    })
    .await?;
    written
}

fn list(records: &[SessionRecord], all: bool, home: &Path) -> String {
    if records.is_empty() {
        let more = if all { "" } else { " in this folder; --all lists those of all folders" };
        return format!("no sessions{more}\n");
    }
    let now = Timestamp::now();
    let mut text = String::new();
    for record in records {
        let id = short_id(record.id);
        let title = if record.title.is_empty() { "(nothing was said)".to_owned() } else { clean_line(&record.title) };
        let folder = if all { format!("  {}", below_home(&record.cwd, home)) } else { String::new() };
        let _ = writeln!(text, "{id}  {:<12}  {title}{folder}", ago(record.updated_ms, now));
    }
    text
}

fn below_home(folder: &str, home: &Path) -> String {
    match Path::new(folder).strip_prefix(home) {
        Ok(rest) if home.parent().is_some() => clean_line(&Path::new("~").join(rest).display().to_string()),
        _ => clean_line(folder),
    }
}

fn list_json(records: &[SessionRecord]) -> String {
    let entry = |record: &SessionRecord| {
        let time = |millis: i64| Timestamp::from_millisecond(millis).map(|time| time.to_string()).ok();
        json!({
            "id": record.id,
            "title": record.title,
            "cwd": record.cwd,
            "created": time(record.created_ms),
            "updated": time(record.updated_ms),
            "events": record.events,
        })
    };
    format!("{:#}\n", json!(records.iter().map(entry).collect::<Vec<_>>()))
}

fn heading(record: &SessionRecord, paint: Paint) -> String {
    let line = format!("session {} · {} · {} events", record.id, clean_line(&record.cwd), record.events);
    format!("{}\n", paint.dim(&line))
}

/// An event as a reader of the conversation wants it; most are not wanted.
fn shown(event: &Event, paint: Paint) -> String {
    let mut text = String::new();
    let mut line = |line: String| {
        text.push_str(&line);
        text.push('\n');
    };
    match &event.body {
        EventBody::Message(message) => {
            let said = clean(&message.text());
            match message.role {
                Role::User => line(format!("\n{}", paint.bold(&quoted(&said)))),
                Role::Assistant if !said.trim().is_empty() => line(format!("\n{}\n", said.trim())),
                Role::Assistant | Role::Tool => {}
            }
        }
        EventBody::ToolCallEnd(end) => {
            line(card::end(end, paint));
            card::body(end, false, false, paint).into_iter().for_each(line);
        }
        EventBody::Notification(notification) => line(paint.yellow(&format!("! {}", clean_line(&notification.text)))),
        EventBody::Error(error) => line(paint.red(&format!("✗ error {}: {}", error.code, clean_line(&error.message)))),
        EventBody::AgentComplete(complete) => {
            let mut parts = vec![complete.reason.to_string(), figures::count(complete.turns.into(), "turn")];
            parts.extend(figures::usage(&complete.usage));
            line(paint.dim(&parts.join(" · ")));
        }
        EventBody::SessionStart(start) => {
            let scripted = if start.scripted { " (scripted)" } else { "" };
            line(paint.dim(&format!("{} · {}{scripted}", event.ts, clean_line(&start.model))));
        }
        EventBody::StateChange(_)
        | EventBody::TurnStart(_)
        | EventBody::StreamChunk(_)
        | EventBody::ReasoningChunk(_)
        | EventBody::StreamToolCallStart(_)
        | EventBody::StreamToolCallDelta(_)
        | EventBody::ModelRetry(_)
        | EventBody::ModelSwitch(_)
        | EventBody::ToolCallUpdate(_)
        | EventBody::ToolOutputChunk(_)
        | EventBody::PermissionRequest(_)
        | EventBody::PermissionDecision(_)
        | EventBody::ModeChange(_)
        | EventBody::Usage(_)
        | EventBody::MessageQueued(_)
        | EventBody::TurnEnd(_) => {}
    }
    text
}

fn quoted(said: &str) -> String {
    said.trim().lines().map(|line| format!("> {line}")).collect::<Vec<_>>().join("\n")
}
