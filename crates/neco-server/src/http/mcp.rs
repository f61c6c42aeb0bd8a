//! `/mcp`: Neco's tools and tasks for MCP clients, for whoever passes the guard and may work in sessions.
//!
//! What a client wants stands in its address: the folder, which tools, how tasks are run. It may have what an opening of a
//! session may have that its token opens.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use axum::Router;
use axum::body::Body;
use axum::extract::Request;
use axum::response::Response;
use axum::routing::any;
use futures::future::{BoxFuture, join_all};
use futures::{FutureExt, StreamExt};
use http::StatusCode;
use http_body_util::Full;
use neco_proto::app::opening::OpenSession;
use neco_proto::app::{AppError, Caller, Scope, Trouble};
use neco_proto::{Actor, Client, Command, Receipt, SessionId};
use serde::de::DeserializeOwned;
use serde_json::Value;
use tokio::sync::OnceCell;
use tokio_util::sync::CancellationToken;
use url::form_urlencoded;

use super::House;
use super::access::Rights;
use super::audit::Line;
use super::calls::{LONGEST_BODY, ends, rights, taken};
use super::hall::{self, Hall};
use super::problem::Problem;
use super::sessions::answered;
use crate::mcp::http::HttpClients;
use crate::mcp::{McpSetup, Says};

/// Where clients come.
pub const PATH: &str = "/mcp";

/// How long nobody asks anything before the sessions for it are closed.
const REST: Duration = Duration::from_secs(15 * 60);

/// Different wishes at a time.
const MOST: usize = 64;

/// Those of one of those who may come.
const MOST_OF_ONE: usize = 16;

/// Clients by whose they are and what they want.
#[derive(Default)]
pub(crate) struct McpClients(Mutex<Places>);

#[derive(Default)]
struct Places {
    kept: HashMap<Key, Arc<Kept>>,
    /// Whether all have ended, and nobody has a place any more.
    is_closed: bool,
}

/// Who they are and what they may, and the query of their address.
type Key = (String, String);

struct Kept {
    clients: OnceCell<HttpClients>,
    asked: Mutex<Instant>,
}

impl Kept {
    fn asked(&self) -> MutexGuard<'_, Instant> {
        self.asked.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn is_at_work(&self) -> bool {
        self.clients.get().is_some_and(HttpClients::is_at_work)
    }
}

/// The clients of a request, until it is answered; where they could not be opened their place goes then.
struct Asked<'a> {
    all: &'a McpClients,
    key: Key,
    kept: Arc<Kept>,
}

impl Drop for Asked<'_> {
    fn drop(&mut self) {
        let mut all = self.all.all();
        // One is here, and one in its place: nobody else is just opening them.
        if self.kept.clients.get().is_none() && Arc::strong_count(&self.kept) == 2 {
            all.kept.remove(&self.key);
        }
    }
}

/// What clients say to their sessions, as whoever has their token may say it.
struct Said {
    hall: Arc<Hall>,
    caller: Caller,
}

impl Says for Said {
    fn say<'a>(
        &'a self,
        session: SessionId,
        client: &'a dyn Client,
        command: Command,
    ) -> BoxFuture<'a, Result<Receipt, AppError>> {
        self.hall.say(&self.caller, session, client, command).boxed()
    }
}

/// The route of MCP clients.
pub(crate) fn add(router: Router, house: &Arc<House>) -> Router {
    let house = Arc::clone(house);
    router.route(PATH, any(move |request: Request| async move { answered(answer(&house, request).await) }))
}

async fn answer(house: &Arc<House>, request: Request) -> Result<Response, Problem> {
    let (rights, ends) = (rights(&request)?, ends(&request)?);
    if rights.scope < Scope::Work {
        let refused = AppError::new(Trouble::NotAllowed, "MCP clients need a token with the scope steer");
        house.hall.audit.note(Line::of(&rights.own(), "mcp", &Err::<(), _>(refused.clone()))).await;
        return Err(refused.into());
    }
    if !house.hall.is_ready() {
        return Err(ending());
    }
    let (parts, body) = taken(request).await?;
    let query = parts.uri.query().unwrap_or_default().to_owned();
    let wish = Wish::read(&query)?;
    let asked = house.mcp.of((format!("{rights:?}"), query))?;
    let clients = asked.kept.clients.get_or_try_init(|| async {
        let setup = wish.setup(house, &rights);
        let caller = Caller { scope: rights.scope, ..setup.caller.clone() };
        let says = Arc::new(Said { hall: Arc::clone(&house.hall), caller });
        HttpClients::open(setup, says, LONGEST_BODY).await.map_err(Problem::from)
    });
    let clients = clients.await?;
    // Everything may have ended while they were opened.
    if house.mcp.all().is_closed {
        clients.end().await;
        return Err(ending());
    }
    let told = clients.answer(http::Request::from_parts(parts, Full::new(body))).await;
    Ok(told.map(|body| as_long_as(Body::new(body), ends, Arc::clone(&asked.kept))))
}

fn ending() -> Problem {
    hall::ending().into()
}

/// A body that ends when whoever reads it may do so no longer; as long as it is read, its clients are there.
fn as_long_as(body: Body, ends: CancellationToken, kept: Arc<Kept>) -> Body {
    let pieces = body.into_data_stream().take_until(ends.cancelled_owned());
    Body::from_stream(pieces.inspect(move |_| *kept.asked() = Instant::now()))
}

impl McpClients {
    fn all(&self) -> MutexGuard<'_, Places> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn of(&self, key: Key) -> Result<Asked<'_>, Problem> {
        let mut all = self.all();
        if all.is_closed {
            return Err(ending());
        }
        let own = all.kept.keys().filter(|(who, _)| *who == key.0).count();
        let most = if own >= MOST_OF_ONE { MOST_OF_ONE } else { MOST };
        if (own >= MOST_OF_ONE || all.kept.len() >= MOST) && !all.kept.contains_key(&key) {
            let words =
                format!("{most} different addresses for MCP clients are in use; wait until one is not any more");
            return Err(Problem::new(StatusCode::SERVICE_UNAVAILABLE, words));
        }
        let fresh = || Arc::new(Kept { clients: OnceCell::new(), asked: Mutex::new(Instant::now()) });
        let kept = Arc::clone(all.kept.entry(key.clone()).or_insert_with(fresh));
        *kept.asked() = Instant::now();
        Ok(Asked { all: self, key, kept })
    }

    /// Ends what nobody needs; tells how many are left.
    pub async fn tidy(&self) -> usize {
        let is_over = |kept: &Arc<Kept>| {
            // Nobody asks or reads, and nothing was begun that goes on.
            Arc::strong_count(kept) == 1 && kept.asked().elapsed() > REST && !kept.is_at_work()
        };
        let over: Vec<Arc<Kept>> = self.all().kept.extract_if(|_, kept| is_over(kept)).map(|(_, kept)| kept).collect();
        end(over).await;
        self.all().kept.len()
    }

    /// Ready when nothing is done for anybody.
    pub async fn rest(&self) {
        let is_at_work = || self.all().kept.values().any(|kept| kept.is_at_work());
        while is_at_work() {
            tokio::time::sleep(hall::LOOK).await;
        }
    }

    /// Ends all of them; nobody comes any more.
    pub async fn end(&self) {
        let all = {
            let mut all = self.all();
            all.is_closed = true;
            std::mem::take(&mut all.kept)
        };
        end(all.into_values().collect()).await;
    }
}

async fn end(all: Vec<Arc<Kept>>) {
    join_all(all.iter().filter_map(|kept| Some(kept.clients.get()?.end()))).await;
}

/// What the address of a client asks for.
#[derive(Debug, PartialEq)]
struct Wish {
    wanted: OpenSession,
    only: Vec<String>,
    tasks: bool,
}

impl Wish {
    fn read(query: &str) -> Result<Self, Problem> {
        let mut wish = Self { wanted: OpenSession::default(), only: Vec::new(), tasks: true };
        for (name, words) in form_urlencoded::parse(query.as_bytes()) {
            let wanted = &mut wish.wanted;
            match name.as_ref() {
                "folder" => wanted.folder = words.into_owned(),
                "tools" => wish.only = words.split(',').map(|glob| glob.trim().to_owned()).collect(),
                "run_task" => wish.tasks = value(&name, &words, "true or false")?,
                "model" => wanted.model = Some(words.into_owned()),
                "approval" => {
                    let modes = "manual, ask_first, accept_edits or auto";
                    wanted.approval = Some(text(&words).ok_or_else(|| Problem::bad(format!("approval is {modes}")))?);
                }
                "max_turns" => wanted.max_turns = Some(value(&name, &words, "a whole number")?),
                "max_cost" => wanted.max_cost = Some(value(&name, &words, "a number of US dollars")?),
                _ => {
                    let known = "folder, tools, run_task, model, approval, max_turns and max_cost";
                    return Err(Problem::bad(format!("there is no {name}; there are {known}")));
                }
            }
        }
        if !wish.wanted.folder.starts_with('/') {
            return Err(Problem::bad(format!("name the folder that is worked in: {PATH}?folder=/srv/project")));
        }
        Ok(wish)
    }

    /// The same for whoever has these rights.
    fn setup(self, house: &House, rights: &Rights) -> McpSetup {
        let (opens_as, calls_as) = (rights.own(), McpSetup::callers().1);
        let caller = match &rights.actor {
            // The person's own token is in the hands of a program.
            Actor::Person => calls_as,
            actor => Caller { actor: actor.clone(), ..calls_as },
        };
        McpSetup {
            app: Arc::clone(&house.hall.app),
            wanted: self.wanted,
            only: self.only,
            tasks: self.tasks,
            version: house.version,
            opens_as,
            caller,
        }
    }
}

fn value<T: DeserializeOwned>(name: &str, words: &str, what: &str) -> Result<T, Problem> {
    serde_json::from_str(words).map_err(|_| Problem::bad(format!("{name} is {what}")))
}

fn text<T: DeserializeOwned>(words: &str) -> Option<T> {
    serde_json::from_value(Value::String(words.to_owned())).ok()
}

#[cfg(test)]
mod tests {
    use neco_proto::ApprovalMode;

    use super::*;

    #[test]
    fn nobody_takes_all_places_and_who_opens_nothing_keeps_none() {
        let all = McpClients::default();
        let of = |who: &str, at: usize| all.of((who.to_owned(), at.to_string()));
        let places: Vec<_> = (0..MOST_OF_ONE).map(|at| of("one", at).unwrap()).collect();
        assert!(of("one", MOST_OF_ONE).is_err() && of("other", 0).is_ok());
        assert!(of("one", 0).is_ok(), "it has this one");
        drop(places);
        assert!(all.all().kept.is_empty());
        all.all().is_closed = true;
        assert!(of("one", 0).is_err());
    }

    #[test]
    fn an_address_says_what_is_wanted_and_nothing_else() {
        let read =
            Wish::read("folder=%2Fsrv%2Fa%20b&tools=read_*,grep&run_task=false&approval=auto&max_turns=3").unwrap();
        let wanted = OpenSession {
            folder: "/srv/a b".to_owned(),
            approval: Some(ApprovalMode::Auto),
            max_turns: Some(3),
            ..OpenSession::default()
        };
        assert_eq!(read, Wish { wanted, only: vec!["read_*".to_owned(), "grep".to_owned()], tasks: false });
        for wrong in ["", "folder=srv", "folder=/a&x=1", "folder=/a&run_task=2", "folder=/a&approval=never"] {
            assert!(Wish::read(wrong).is_err(), "{wrong}");
        }
    }
}
