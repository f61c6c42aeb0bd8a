//! What an agent does before it asks the model in turn 200: the prompt, how full the context is, what is
//! outdated in it.

#[path = "support/promise.rs"]
mod promise;

use std::sync::Arc;
use std::time::Duration;

use divan::Bencher;
use neco_agent::CapabilityLevel;
use neco_agent::context::{
    Assembled, Context, ContextSettings, Meter, Prompts, Situation, Source, Space, recent_from, used_up,
};
use neco_config::Config;
use neco_model::tokens::Family;
use neco_model::{History, Request};
use neco_proto::{ApprovalMode, CallId, Message, Mode, Part, Role, ToolCall, ToolResult};
use neco_safety::command::Place;
use neco_safety::{Confinement, Policy, Who};
use neco_session::sources::{Rules, RulesFile, Scope};
use neco_toolkit::Registry;

const TURNS: usize = 200;

/// What is done in one turn before the model is asked.
const LIMIT: Duration = Duration::from_millis(2);

fn main() {
    divan::main();
    if promise::is_asked_for() {
        report();
    }
}

/// What was promised: the context of turn 200 is assembled in at most [`LIMIT`].
fn report() {
    let stage = Stage::new();
    let next = promise::median(|| stage.turn(), |turn| turn.ask());
    let anew = promise::median(|| stage.first(), |turn| turn.ask());
    let value = format!("{next:?}, {anew:?} when all of it is made and counted anew");
    promise::report("the context of turn 200", &value, "at most 2 ms", next <= LIMIT);
}

#[divan::bench]
fn next_turn(bencher: Bencher<'_, '_>) {
    let stage = Stage::new();
    bencher.with_inputs(|| stage.turn()).bench_local_values(|mut turn| turn.ask());
}

#[divan::bench]
fn anew(bencher: Bencher<'_, '_>) {
    let stage = Stage::new();
    bencher.with_inputs(|| stage.first()).bench_local_values(|mut turn| turn.ask());
}

struct Stage {
    registry: Registry,
    policy: Policy,
    history: History,
}

/// An agent about to ask.
struct Turn<'a> {
    stage: &'a Stage,
    context: Context,
    meter: Meter,
    history: History,
}

impl Stage {
    fn new() -> Self {
        let indexes = Arc::new(neco_tools::code::Indexes::new(std::env::temp_dir().join("neco-bench-no-index")));
        let registry = neco_tools::builtin::registry(&Config::built_in().tools, &indexes);
        let mut history = History::default();
        history.push(Message::user("Do what the script says."));
        (0..TURNS).for_each(|number| add_turn(&mut history, number));
        Self { registry, policy: Policy::new(Place::new(std::path::Path::new("/tmp")), Vec::new()), history }
    }

    /// Nothing is known yet, as when a session is opened again.
    fn first(&self) -> Turn<'_> {
        let rules = RulesFile {
            name: "AGENTS.md".to_owned(),
            own: false,
            at_hand: true,
            scope: Scope::Always,
            imported_by: None,
            text: "A rule of the project that goes on for a while.\n".repeat(200),
            notes: Vec::new(),
            warnings: Vec::new(),
        };
        let sources: Vec<Arc<dyn Source>> = vec![Arc::new(Rules::new(vec![rules]))];
        let context = Context::new(Arc::new(Prompts::default()), sources);
        Turn { stage: self, context, meter: Meter::default(), history: self.history.clone() }
    }

    /// The turn after one that was asked already.
    fn turn(&self) -> Turn<'_> {
        let mut turn = self.first();
        turn.ask();
        add_turn(&mut turn.history, TURNS);
        turn
    }
}

impl Turn<'_> {
    fn ask(&mut self) -> Request {
        let family = Family::Anthropic;
        // So small that outdated outputs are looked for each time, though never enough to be worth it.
        let space = Space::new(ContextSettings::from(&Config::built_in().context), Some(600_000));
        let situation = Situation { mode: Mode::Agent, generation: CapabilityLevel::highest(), rooms: space.rooms() };
        let assembled: Arc<Assembled> =
            self.context.assemble(situation, (&self.stage.registry, &self.stage.policy), &who(), family);
        divan::black_box(self.meter.measure(&assembled, &self.history, family));
        let outputs = used_up(&self.history, recent_from(&self.history, 5).unwrap_or(0));
        divan::black_box(outputs.saves(family));
        Request {
            system: Arc::clone(&assembled.system),
            tools: Arc::clone(&assembled.tools),
            history: self.history.clone(),
            cache_key: String::new(),
            output: None,
            temperature: None,
            max_output: None,
            agent: None,
        }
    }
}

fn who() -> Who<'static> {
    Who {
        mode: Mode::Agent,
        approval: ApprovalMode::Auto,
        person_present: false,
        role: Who::ROOT,
        confinement: Confinement::ChosenNone,
        network: false,
    }
}

/// A call whose result has 5 KB.
fn add_turn(history: &mut History, number: usize) {
    let id = CallId::from(format!("call_{number}"));
    let arguments = format!(r#"{{"path":"src/file{number}.rs"}}"#);
    let call = ToolCall { id: id.clone(), name: "read_file".to_owned(), arguments, opaque: None };
    let parts = vec![Part::ToolCall(call)];
    history.push(Message { model: Some("bench/model".to_owned()), ..Message::new(Role::Assistant, parts) });
    let output = "a line of \"text\" as it stands in a file\n".repeat(125);
    history.push(Message::tool_results(vec![ToolResult { call_id: id, output, error_code: None }]));
}
