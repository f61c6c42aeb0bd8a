//! The programs of a session that goes on, drawn while it is still being opened: the first one in a language takes as long
//! as reading thousands of messages, as all that is known of the language is made ready then.

use std::sync::Arc;

use neco_config::Env;
use neco_proto::{EventBody, Role};
use neco_store::{EventLog, SessionRecord, SqliteStore};
use neco_tui::text::streaming::Streaming;
use neco_tui::theme::{Theme, ThemeName};

use crate::terminal;

/// Events that are looked at, the last ones.
const EVENTS: usize = 60;

/// Messages with programs that are drawn.
const MESSAGES: usize = 6;

/// Looks at the end of a session that a window is being opened for.
pub fn look(store: &Arc<SqliteStore>, record: &SessionRecord, env: &Env) {
    if !terminal::look_at(env).is_capable() || env.is_set("NO_COLOR") {
        return;
    }
    let (store, session) = (Arc::clone(store), record.id);
    let since = record.events.saturating_sub(EVENTS as u64);
    tokio::spawn(async move {
        // Whoever opens the session says what is wrong with its log.
        let Ok(events) = store.read(session, since, EVENTS).await else { return };
        let answers = events.into_iter().rev().filter_map(|event| match event.body {
            EventBody::Message(message) if message.role == Role::Assistant => Some(message.text()),
            _ => None,
        });
        let programs: Vec<String> = answers.filter(|text| text.contains("```")).take(MESSAGES).collect();
        tokio::task::spawn_blocking(move || {
            let theme = Theme::new(ThemeName::Dark);
            programs.iter().for_each(|text| drop(Streaming::whole(text).finish(usize::from(u8::MAX), &theme)));
        });
    });
}
