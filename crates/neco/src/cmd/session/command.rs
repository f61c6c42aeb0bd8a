//! The two forms of `neco session`.

use std::sync::Arc;

use neco_config::{Config, Env};
use neco_safety::Policy;
use neco_session::Hub;
use neco_store::SessionRecord;

use super::list::{as_json, as_lines};
use super::show::{Reader, heading};
use crate::args::{EverywhereArgs, SessionCommand};
use crate::exit::Exit;
use crate::failure::Failure;
use crate::print::visible;
use crate::say;
use crate::terminal::Terminal;
use crate::told_files::ToldFiles;
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
            policy: Policy::default(),
            hooks: Vec::new(),
            rule_book: None,
            told: ToldFiles::default(),
            sandbox: None,
            secrets: Vec::new(),
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
            say::out(&if *json { as_json(&records) } else { as_lines(&records, *all, env.home()) })
        }
        SessionCommand::Show { id, json } => show(&hub.find(id).await?, *json, env, hub).await,
    }
}

/// Event by event: a long session is never in memory as a whole.
async fn show(record: &SessionRecord, json: bool, env: &Env, hub: &Hub) -> Result<(), Failure> {
    let mut reader = Reader::new(Terminal::look_at(env).stdout_paint());
    let mut written = if json { Ok(()) } else { say::out(&heading(record, reader.paint())) };
    let mut write = |text: String| {
        if written.is_ok() && !text.is_empty() {
            written = say::out(&text);
        }
    };
    hub.each_event(record.id, |event| {
        write(match json {
            true => visible::json(&serde_json::to_string(event).unwrap_or_default()).into_owned() + "\n",
            false => reader.shown(event),
        });
    })
    .await?;
    if !json {
        write(reader.left_open());
    }
    written
}
