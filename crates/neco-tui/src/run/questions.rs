//! What the window asks of the whole program.

use jiff::Timestamp;
use neco_proto::SessionId;
use neco_proto::app::sessions::{ListSessions, SessionRow};
use neco_proto::app::workflows::ListWorkflows;
use neco_proto::app::{App as Program, AppError, Caller};
use neco_proto::clean::clean_line;

use crate::host::{Argument, Host, SessionEntry};
use crate::text::figures::ago;

/// Sessions that are listed at most.
const SESSIONS: usize = 200;

/// Characters of an id that tell sessions apart.
const SHORT_ID: usize = 18;

/// The sessions of a folder, newest first.
pub(super) async fn sessions(program: &dyn Program, folder: String) -> Result<Vec<SessionEntry>, AppError> {
    let request = ListSessions { folder: Some(folder), limit: SESSIONS, ..ListSessions::default() };
    let page = program.ask(&Caller::person(), &request).await?;
    let now = Timestamp::now();
    let short = |id: SessionId| id.to_string().chars().take(SHORT_ID).collect::<String>();
    let entry = |session: &SessionRow| {
        let fork = session.forked_from.map(|from| format!(" · fork of {}", short(from.session_id)));
        SessionEntry {
            id: session.id.to_string(),
            title: clean_line(&session.title),
            when: ago(session.updated.as_millisecond(), now),
            about: format!("{} events · {}{}", session.events, short(session.id), fork.unwrap_or_default()),
        }
    };
    // What a process left that was killed before anything was said is nothing to go on with.
    Ok(page.sessions.iter().map(entry).filter(|entry| !entry.title.is_empty()).collect())
}

/// What may be written next behind a command after a slash: `line` ends where it would begin.
pub(super) async fn arguments(program: &dyn Program, host: &dyn Host, line: &str) -> Vec<Argument> {
    let words: Vec<&str> = line.split_whitespace().collect();
    match words.as_slice() {
        ["/model" | "/models"] => {
            let models = host.models().await.unwrap_or_default();
            models.into_iter().map(|model| Argument { text: model.name, about: model.about }).collect()
        }
        ["/resume" | "/sessions"] => {
            let sessions = sessions(program, host.folder()).await.unwrap_or_default();
            let argument = |one: &SessionEntry| Argument {
                text: one.id.chars().take(SHORT_ID).collect(),
                about: format!("{}  {}", one.title, one.when),
            };
            sessions.iter().map(argument).collect()
        }
        ["/workflow" | "/workflows", "run" | "show"] => {
            let request = ListWorkflows { folder: host.folder(), all: false };
            let found = program.ask(&Caller::person(), &request).await.unwrap_or_default().workflows;
            let about = |text: Option<String>| text.unwrap_or_default();
            found.into_iter().map(|one| Argument { text: one.name, about: about(one.description) }).collect()
        }
        _ => Vec::new(),
    }
}
