//! What models were used for, over all sessions: looked up once for each session, and then only what is new in it.

use std::collections::{BTreeMap, HashMap};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use jiff::civil::Date;
use jiff::tz::TimeZone;
use jiff::{Timestamp, ToSpan, Zoned};
use neco_proto::app::AppError;
use neco_proto::app::usage::{ShowUsage, UsageReport, UsageRow};
use neco_proto::event::SidePurpose;
use neco_proto::{AgentId, Event, EventBody, Seq, SessionId, Usage};
use neco_store::{Catalog, SessionRecord, StoreError};

use crate::app::LocalApp;
use crate::error::{failed, of_session, of_store};
use crate::sessions::ALL_SESSIONS;

/// How long logs are read at most; what was read is known the next time.
const LONGEST: Duration = Duration::from_secs(2);

/// What is read of logs.
const KINDS: &[&str] = &["usage", "agent_update"];

/// The agent that a session begins with.
const ROOT: &str = "root";

/// What is known of sessions. Clones are the same.
#[derive(Clone, Default)]
pub(crate) struct KnownUsage(Arc<Mutex<HashMap<SessionId, Used>>>);

/// What a session used of its own.
#[derive(Clone, Default)]
struct Used {
    /// The last event that was looked at.
    seq: Seq,
    roles: HashMap<AgentId, String>,
    rows: BTreeMap<Row, (u64, Usage)>,
}

/// What a row is about.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Row {
    day: Date,
    model: String,
    agent: Option<String>,
    aside: Option<&'static str>,
}

pub(crate) async fn show(app: &LocalApp, request: ShowUsage) -> Result<UsageReport, AppError> {
    let zone = TimeZone::system();
    let to = Zoned::now().date();
    let days = i64::from(request.days.unwrap_or(ShowUsage::DAYS).clamp(1, ShowUsage::MOST_DAYS));
    let from = to.checked_sub((days - 1).days()).map_err(failed)?;
    let first_ms = from.to_zoned(zone.clone()).map_err(failed)?.timestamp().as_millisecond();
    let records = app.hub.list(None, ALL_SESSIONS).await.map_err(of_session)?;
    // What was not written to since then used nothing since.
    let is_wanted = |record: &SessionRecord| {
        record.updated_ms >= first_ms && (request.folder.is_empty() || record.cwd == request.folder)
    };
    let (mut sums, mut sessions, mut cut) = (BTreeMap::<Row, (u64, Usage)>::new(), 0, false);
    let begun = Instant::now();
    for record in records.into_iter().filter(is_wanted) {
        let known = app.used.of(record.id);
        if begun.elapsed() > LONGEST && known.seq < record.events {
            cut = true;
            continue;
        }
        let used = look(app, &record, known, &zone).await.map_err(of_store)?;
        let in_time = used.rows.iter().filter(|(row, _)| row.day >= from && row.day <= to);
        let mut is_used = false;
        for (row, (calls, usage)) in in_time {
            let sum = sums.entry(row.clone()).or_default();
            (sum.0, is_used) = (sum.0 + calls, true);
            sum.1 += *usage;
        }
        sessions += u64::from(is_used);
    }
    let mut total = Usage::default();
    sums.values().for_each(|(_, usage)| total += *usage);
    let rows = sums.into_iter().map(|(row, (calls, usage))| shown(row, calls, usage)).collect();
    Ok(UsageReport { from: from.to_string(), to: to.to_string(), rows, total, sessions, cut })
}

fn shown(Row { day, model, agent, aside }: Row, calls: u64, usage: Usage) -> UsageRow {
    let aside = aside.and_then(SidePurpose::named).map(Into::into);
    UsageRow { day: day.to_string(), model, agent, aside, calls, usage }
}

/// What a session used, with what is new in its log.
async fn look(app: &LocalApp, record: &SessionRecord, known: Used, zone: &TimeZone) -> Result<Used, StoreError> {
    if known.seq >= record.events {
        return Ok(known);
    }
    let mut used = known;
    for event in app.store.own_events(record.id, used.seq, KINDS).await? {
        used.note(&event, zone);
    }
    // What is written since the list was made is looked at the next time.
    used.seq = used.seq.max(record.events);
    app.used.know(record.id, used.clone());
    Ok(used)
}

impl KnownUsage {
    fn of(&self, session: SessionId) -> Used {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).get(&session).cloned().unwrap_or_default()
    }

    fn know(&self, session: SessionId, used: Used) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).insert(session, used);
    }
}

impl Used {
    fn note(&mut self, event: &Event, zone: &TimeZone) {
        self.seq = self.seq.max(event.seq);
        match &event.body {
            EventBody::AgentUpdate(update) => drop(self.roles.insert(update.node.id, update.node.role.clone())),
            EventBody::Usage(used) => {
                let role = || self.roles.get(&event.agent_id).map_or(ROOT, String::as_str).to_owned();
                let row = Row {
                    day: day_of(event.ts, zone),
                    model: used.model.clone(),
                    agent: used.aside.is_none().then(role),
                    aside: used.aside.map(SidePurpose::name),
                };
                let sum = self.rows.entry(row).or_default();
                sum.0 += 1;
                sum.1 += used.usage;
            }
            // Nothing else was asked for.
            _ => {}
        }
    }
}

fn day_of(ts: Timestamp, zone: &TimeZone) -> Date {
    ts.to_zoned(zone.clone()).date()
}
