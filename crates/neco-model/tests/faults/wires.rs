//! The same over real connections: every wire format, every byte as the place where it breaks.
//!
//! Many schedules run side by side, so that the waits for those that fall silent overlap. What must
//! come of a broken answer is asked of the reader alone, fed with the same bytes; that an answer is
//! right is asked of what was written.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use crate::served::Reply;
use futures::future::join_all;
use futures::{StreamExt, stream};
use neco_config::section::{
    Config, GroupSection, NetworkSection, ProviderSection, ProviderType, Strategy as Choice, TextToolCalls,
};
use neco_model::scripted::{Fault, Player, Turn};
use neco_model::wire::anthropic::Anthropic;
use neco_model::wire::format::Wire;
use neco_model::wire::gemini::Gemini;
use neco_model::wire::openai_chat::{Dialect, OpenaiChat};
use neco_model::wire::openai_responses::OpenaiResponses;
use neco_model::wire::reader::Reader;
use neco_model::wire::target::Target;
use neco_model::{Models, Script};
use proptest::prelude::*;
use proptest::strategy::ValueTree;
use proptest::test_runner::TestRunner;

use crate::policy::{After, Place, after_status, check};
use crate::reading::{Reading, read, request, says};
use crate::schedule::{MAX_RETRY_AFTER, RETRIES};
use crate::server::{End, Played, Server};

const KINDS: [ProviderType; 4] =
    [ProviderType::Openai, ProviderType::Responses, ProviderType::Anthropic, ProviderType::Gemini];
/// Schedules for each format, and how many run side by side.
const SCHEDULES: usize = 250;
const SIDE_BY_SIDE: usize = 40;
/// Long enough for a busy machine, short enough to be waited for.
const SILENCE: f64 = 1.5;
/// Bytes of an answer at which it is cut, one after the other.
const PLACES: usize = 200;
/// An answer that takes longer than all the waits of a schedule hangs.
const FOR_EVER: Duration = Duration::from_secs(120);

/// One attempt: what is written, and how it breaks.
#[derive(Clone, Debug)]
struct Attempt {
    turn: Turn,
    breaks: Break,
    write: usize,
}

#[derive(Clone, Debug)]
enum Break {
    Nowhere,
    Status {
        code: u16,
        retry_after: Option<f64>,
    },
    /// An error event after so many pieces.
    Error(usize),
    /// The body ends in this way at a share of its bytes.
    At(End, prop::sample::Index),
    /// Not even a head.
    Deaf,
}

/// Models with their keys, and who asks at once.
#[derive(Clone, Debug)]
struct Case {
    plans: Vec<Vec<Vec<Attempt>>>,
    callers: usize,
}

fn breaks() -> impl Strategy<Value = Break> {
    let code = prop::sample::select(vec![400, 401, 403, 404, 408, 413, 429, 429, 500, 503, 529]);
    let wait = prop_oneof![2 => Just(None), 1 => Just(Some(0.01)), 1 => Just(Some(3600.0))];
    let status = (code, wait).prop_map(|(code, wait)| Break::Status {
        code,
        retry_after: wait.filter(|_| [408, 429, 500, 503, 529].contains(&code)),
    });
    prop_oneof![
        6 => Just(Break::Nowhere),
        4 => status,
        3 => (0_usize..6).prop_map(Break::Error),
        6 => any::<prop::sample::Index>().prop_map(|at| Break::At(End::Cut, at)),
        1 => any::<prop::sample::Index>().prop_map(|at| Break::At(End::Stall, at)),
        1 => Just(Break::Deaf),
    ]
}

fn attempt() -> impl Strategy<Value = Attempt> {
    let say = prop::sample::select(vec!["", "one", "one two three four", "日本 語 text"]);
    let call = prop::sample::select(vec!["{}", "{\"path\":\"a b\"}"]);
    let calls = prop::collection::vec(("[a-c]{1,3}", call), 0..3);
    let write = prop::sample::select(vec![1, 3, 7, 4096]);
    (say, calls, breaks(), write).prop_map(|(say, calls, breaks, write)| {
        let mut script = Script::new().say(say).usage(10, 5);
        for (name, arguments) in calls {
            script = script.also_call(&name, serde_json::from_str(arguments).unwrap());
        }
        // An answer that says nothing is another matter.
        if say.is_empty() && script.turns[0].calls.is_empty() {
            script.turns[0].say = "something".to_owned();
        }
        Attempt { turn: script.turns.remove(0), breaks, write }
    })
}

fn case() -> impl Strategy<Value = Case> {
    let plan = prop::collection::vec(attempt(), 1..4);
    let plans = prop::collection::vec(prop::collection::vec(plan, 1..3), 1..3);
    (plans, prop_oneof![2 => Just(1_usize), 1 => Just(3)]).prop_map(|(plans, callers)| Case { plans, callers })
}

fn wire(kind: ProviderType) -> Box<dyn Wire> {
    let target = Target::new("m0", "m");
    match kind {
        ProviderType::Openai | ProviderType::Scripted => Box::new(OpenaiChat::bound_to(target, Dialect::default())),
        ProviderType::Responses => Box::new(OpenaiResponses::bound_to(target)),
        ProviderType::Anthropic => Box::new(Anthropic::bound_to(target)),
        ProviderType::Gemini => Box::new(Gemini::bound_to(target)),
    }
}

impl Attempt {
    fn reply(&self, kind: ProviderType) -> Reply {
        let fault = match self.breaks {
            Break::Error(after) => Some(Fault::ErrorAfter(after)),
            Break::Status { code, retry_after } => Some(Fault::Status { code, retry_after, message: None }),
            Break::Nowhere | Break::At(..) | Break::Deaf => None,
        };
        let turn = Turn { fault, ..self.turn.clone() };
        Reply::speaking(kind, &Player::new(Arc::new(Script::new().turn(turn)), "m").next().unwrap())
    }

    fn played(&self, kind: ProviderType) -> Played {
        let mut played = Played::of(&self.reply(kind), self.write);
        match self.breaks {
            Break::Nowhere | Break::Status { .. } | Break::Error(_) => {}
            Break::At(end, at) => {
                played.body.truncate(at.index(played.body.len() + 1));
                played.end = end;
            }
            Break::Deaf => played.end = End::Deaf,
        }
        played
    }

    /// What the attempt must come to.
    fn after(&self, kind: ProviderType) -> After {
        if let Break::Status { code, retry_after } = self.breaks {
            return after_status(code, retry_after);
        }
        let played = self.played(kind);
        if played.end == End::Deaf { After::Again } else { after_bytes(kind, &played.body) }
    }
}

/// What an answer comes to that ends after `body`.
fn after_bytes(kind: ProviderType, body: &[u8]) -> After {
    let mut reader = Reader::new(wire(kind).decoder());
    let mut deltas = Vec::new();
    let read = reader.push(body, &mut deltas);
    let whole = read.and_then(|()| if reader.is_over() { Ok(()) } else { reader.end(&mut deltas) });
    if whole.is_ok() { After::Answer } else { After::Again }
}

/// Where an attempt of one case is made.
fn key(case: usize, (model, key): Place) -> String {
    format!("key-of-case-{case}-model-{model}-number-{key}")
}

fn places(case: &Case) -> Vec<Place> {
    let keys = |(model, keys): (usize, &Vec<Vec<Attempt>>)| (0..keys.len()).map(move |number| (model, number));
    case.plans.iter().enumerate().flat_map(keys).collect()
}

fn network(silence: f64) -> NetworkSection {
    NetworkSection {
        connect_timeout: 60.0,
        first_byte_timeout: Some(silence),
        idle_timeout: Some(silence),
        stall_timeout: 60.0,
        retries: u32::try_from(RETRIES).unwrap(),
        backoff: 0.001,
        max_retry_after: MAX_RETRY_AFTER,
        ..NetworkSection::default()
    }
}

/// All cases behind one server, each with providers and a group of its own.
fn models(kind: ProviderType, cases: &[Case], server: &Server, silence: f64) -> Models {
    let mut config = Config { network: network(silence), ..Config::default() };
    for (number, case) in cases.iter().enumerate() {
        for (model, keys) in case.plans.iter().enumerate() {
            let section = ProviderSection {
                text_tool_calls: Some(TextToolCalls::Never),
                kind: Some(kind),
                base: Some(server.base.clone()),
                api_key_envs: (0..keys.len()).map(|at| key(number, (model, at))).collect(),
                ..ProviderSection::default()
            };
            config.model_providers.insert(format!("c{number}m{model}"), section);
        }
        let models = (0..case.plans.len()).map(|model| format!("c{number}m{model}/m")).collect();
        config.model_groups.insert(format!("c{number}"), GroupSection { models, strategy: Choice::First });
    }
    Models::new(&config, &|name: &str| name.starts_with("key-of-").then(|| name.to_owned())).unwrap()
}

async fn run(kind: ProviderType, number: usize, case: &Case, models: &Models, server: &Server) {
    let provider = models.provider_for(&format!("c{number}")).unwrap();
    let readings = join_all((0..case.callers).map(|_| read(provider.stream(request()))));
    let readings =
        tokio::time::timeout(FOR_EVER, readings).await.unwrap_or_else(|_| panic!("{kind:?} hangs: {case:#?}"));
    for reading in &readings {
        is_proper(kind, case, reading);
    }
    let [reading] = readings.as_slice() else { return };
    let places = places(case);
    let place_of = |asked: &String| places.iter().copied().find(|place| key(number, *place) == *asked);
    let attempts: Vec<Place> = server.asked().iter().filter_map(place_of).collect();
    let attempt = |(model, at): Place, number: usize| {
        let plan = &case.plans[model][at];
        plan.get(number).unwrap_or(plan.last().unwrap())
    };
    let answered = check(&places, &attempts, |place, number| attempt(place, number).after(kind));
    match answered.unwrap_or_else(|problem| panic!("{kind:?}: {problem}: {reading:?} {case:#?}")) {
        Some((place, number)) => {
            assert!(says(&reading.answer, &attempt(place, number).turn), "{kind:?} {reading:?} {case:#?}");
        }
        None => assert!(reading.failed.is_some(), "{kind:?} {reading:?} {case:#?}"),
    }
}

/// A whole answer that somebody wrote, or an error that says something and shows no key.
fn is_proper(kind: ProviderType, case: &Case, reading: &Reading) {
    match &reading.failed {
        Some(error) => {
            let shown = format!("{error} {error:?}");
            assert!(!error.message.is_empty() && !shown.contains("Bearer"), "{shown}");
        }
        None => {
            let mut turns = case.plans.iter().flatten().flatten().map(|attempt| &attempt.turn);
            assert!(turns.any(|turn| says(&reading.answer, turn)), "{kind:?} {reading:?} {case:#?}");
            for call in &reading.answer.calls {
                assert!(serde_json::from_str::<serde_json::Value>(&call.arguments).is_ok(), "{call:?}");
            }
        }
    }
}

async fn run_all(kind: ProviderType) {
    let mut runner = TestRunner::default();
    let cases: Vec<Case> = (0..SCHEDULES).map(|_| case().new_tree(&mut runner).unwrap().current()).collect();
    let mut plans = HashMap::new();
    for (number, case) in cases.iter().enumerate() {
        for place @ (model, at) in places(case) {
            let plan = case.plans[model][at].iter().map(|attempt| attempt.played(kind)).collect();
            plans.insert(key(number, place), plan);
        }
    }
    let server = Server::start(plans).await;
    let models = models(kind, &cases, &server, SILENCE);
    let run = |(number, case)| run(kind, number, case, &models, &server);
    stream::iter(cases.iter().enumerate()).for_each_concurrent(SIDE_BY_SIDE, run).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn chat_completions() {
    run_all(ProviderType::Openai).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn responses() {
    run_all(ProviderType::Responses).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn anthropic() {
    run_all(ProviderType::Anthropic).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn gemini() {
    run_all(ProviderType::Gemini).await;
}

/// Every byte of one answer as the last one: what is not whole is asked for again, what is whole is not.
#[tokio::test]
async fn at_every_byte() {
    for kind in KINDS {
        let script = Script::new().say("one two").also_call("read", serde_json::json!({ "path": "a" }));
        let whole = Attempt { turn: script.turns[0].clone(), breaks: Break::Nowhere, write: 4096 };
        let length = whole.played(kind).body.len();
        let cut = |at: usize| {
            let mut played = whole.played(kind);
            played.body.truncate(at);
            played.end = End::Cut;
            played
        };
        let is_whole = |at: &usize| after_bytes(kind, &cut(*at).body) == After::Answer;
        // From this byte on the answer is whole.
        let enough = (0..=length).find(is_whole).unwrap();
        assert!((enough..=length).all(|at| is_whole(&at)), "{kind:?}");
        // Of a long answer some are left out, but none where it becomes whole.
        let step = length / PLACES + 1;
        let near = |at: &usize| at.is_multiple_of(step) || at.abs_diff(enough) < 20 || *at == length;
        let places: Vec<usize> = (0..=length).filter(near).collect();
        let played = |at: &usize| if *at < enough { vec![cut(*at), whole.played(kind)] } else { vec![cut(*at)] };
        let plan = places.iter().flat_map(played).collect();
        let server = Server::start([(key(0, (0, 0)), plan)].into()).await;
        let case = Case { plans: vec![vec![vec![whole.clone()]]], callers: 1 };
        let provider = models(kind, &[case], &server, 60.0).provider_for("c0").unwrap();
        for at in places {
            let before = server.times();
            let reading = tokio::time::timeout(FOR_EVER, read(provider.stream(request()))).await.unwrap();
            assert!(says(&reading.answer, &whole.turn), "{kind:?} at {at}: {reading:?}");
            assert_eq!(server.times() - before, if at < enough { 2 } else { 1 }, "{kind:?} at {at}");
        }
    }
}
