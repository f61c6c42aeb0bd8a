//! How a module or component runs: without rights, and within its limits.

use std::fs;
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

use wasmtime::component::{Component, ResourceTable};
use wasmtime::{Config, Engine, Error, Linker, Module, ResourceLimiter, Result, Store, Trap};
use wasmtime_wasi::p1::WasiP1Ctx;
use wasmtime_wasi::p2::bindings::sync::Command;
use wasmtime_wasi::{I32Exit, WasiCtx, WasiCtxBuilder, WasiCtxView, WasiView};

use crate::options::Options;

/// What the variables of arguments begin with.
const PREFIX: &str = "ARG_";

/// Elements of all tables together, and how many tables, memories and instances there may be.
const ELEMENTS: usize = 1 << 20;
const TABLES: usize = 1000;
const MEMORIES: usize = 100;
const INSTANCES: usize = 1000;

/// The function that a module begins with.
const START: &str = "_start";

/// Runs what is asked for; gives its exit code.
///
/// # Errors
/// When it can't be run, traps, or comes to a limit.
pub fn run(options: &Options) -> Result<i32> {
    let bytes = fs::read(&options.file).map_err(|error| said(&format!("can't read the file: {error}")))?;
    let engine = engine()?;
    let _watch = Watch::new(&engine, options.timeout);
    let binary = wat::parse_bytes(&bytes).map_err(|error| said(&format!("it is no WASM: {error}")))?;
    let ran = match is_component(&binary) {
        true => run_component(&engine, &binary, options),
        false => run_module(&engine, &binary, options),
    };
    exit_code(ran)
}

fn engine() -> Result<Engine> {
    let mut config = Config::new();
    config.consume_fuel(true).epoch_interruption(true).wasm_component_model(true);
    Engine::new(&config)
}

/// Whether the version behind the magic number is that of components.
fn is_component(binary: &[u8]) -> bool {
    binary.get(6..8) == Some(&[1, 0])
}

fn run_module(engine: &Engine, binary: &[u8], options: &Options) -> Result<()> {
    struct State {
        wasi: WasiP1Ctx,
        room: Room,
    }
    let module = Module::new(engine, binary)?;
    let mut linker: Linker<State> = Linker::new(engine);
    wasmtime_wasi::p1::add_to_linker_sync(&mut linker, |state| &mut state.wasi)?;
    let state = State { wasi: context(options).build_p1(), room: Room::of(options) };
    let mut store = Store::new(engine, state);
    store.limiter(|state| &mut state.room);
    fill(&mut store, options)?;
    let instance = linker.instantiate(&mut store, &module)?;
    let start = instance.get_typed_func::<(), ()>(&mut store, START);
    let start = start.map_err(|_| said("it exports no `_start`: build it as a program, for wasm32-wasip1"))?;
    start.call(&mut store, ())
}

fn run_component(engine: &Engine, binary: &[u8], options: &Options) -> Result<()> {
    struct State {
        wasi: WasiCtx,
        table: ResourceTable,
        room: Room,
    }
    impl WasiView for State {
        fn ctx(&mut self) -> WasiCtxView<'_> {
            WasiCtxView { ctx: &mut self.wasi, table: &mut self.table }
        }
    }
    let component = Component::new(engine, binary)?;
    let mut linker: wasmtime::component::Linker<State> = wasmtime::component::Linker::new(engine);
    wasmtime_wasi::p2::add_to_linker_sync(&mut linker)?;
    let state = State { wasi: context(options).build(), table: ResourceTable::new(), room: Room::of(options) };
    let mut store = Store::new(engine, state);
    store.limiter(|state| &mut state.room);
    fill(&mut store, options)?;
    let command = Command::instantiate(&mut store, &component, &linker)?;
    command.wasi_cli_run().call_run(&mut store)?.map_err(|()| Error::from(I32Exit(1)))
}

/// What it sees: no folder is opened and no address is let through.
fn context(options: &Options) -> WasiCtxBuilder {
    let mut context = WasiCtxBuilder::new();
    let called = options.file.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    context.inherit_stdio().arg(called).args(&options.arguments);
    // One that is no text can't be told.
    let texts = std::env::vars_os().filter_map(|(name, value)| name.into_string().ok().zip(value.into_string().ok()));
    for (name, value) in texts.filter(|(name, _)| name.starts_with(PREFIX)) {
        context.env(name, value);
    }
    context
}

/// What is left for all memories together, in bytes, and for all tables, in elements. Whoever wants more is ended.
struct Room {
    memory: usize,
    elements: usize,
}

impl Room {
    fn of(options: &Options) -> Self {
        Self { memory: options.memory, elements: ELEMENTS }
    }
}

impl ResourceLimiter for Room {
    fn memory_growing(&mut self, current: usize, desired: usize, _: Option<usize>) -> Result<bool> {
        let left = self.memory.checked_sub(desired.saturating_sub(current));
        self.memory = left.ok_or_else(|| said("it wants more memory than it may have"))?;
        Ok(true)
    }

    fn memory_grow_failed(&mut self, error: Error) -> Result<()> {
        Err(error)
    }

    fn table_growing(&mut self, current: usize, desired: usize, _: Option<usize>) -> Result<bool> {
        let left = self.elements.checked_sub(desired.saturating_sub(current));
        self.elements = left.ok_or_else(|| said("it wants bigger tables than it may have"))?;
        Ok(true)
    }

    fn table_grow_failed(&mut self, error: Error) -> Result<()> {
        Err(error)
    }

    fn instances(&self) -> usize {
        INSTANCES
    }

    fn tables(&self) -> usize {
        TABLES
    }

    fn memories(&self) -> usize {
        MEMORIES
    }
}

fn fill<T>(store: &mut Store<T>, options: &Options) -> Result<()> {
    store.set_epoch_deadline(1);
    store.set_fuel(options.fuel)
}

/// What an end means to whoever started it.
fn exit_code(ran: Result<()>) -> Result<i32> {
    let Err(error) = ran else { return Ok(0) };
    if let Some(I32Exit(code)) = error.downcast_ref::<I32Exit>() {
        return Ok(*code);
    }
    match error.downcast_ref::<Trap>() {
        Some(Trap::OutOfFuel) => Err(said("it ran more instructions than it may")),
        Some(Trap::Interrupt) => Err(said("it took longer than it may")),
        Some(trap) => Err(said(&format!("it trapped: {trap}"))),
        // Around it is only where in the module that was.
        None => Err(said(&error.root_cause().to_string())),
    }
}

fn said(words: &str) -> Error {
    Error::msg(words.to_owned())
}

/// Ends what runs when its time is up.
struct Watch {
    /// Dropped when it is over before that.
    _over: mpsc::Sender<()>,
}

impl Watch {
    fn new(engine: &Engine, timeout: Duration) -> Self {
        let (over, is_over) = mpsc::channel::<()>();
        let engine = engine.weak();
        thread::spawn(move || {
            let waited = is_over.recv_timeout(timeout);
            if waited == Err(mpsc::RecvTimeoutError::Timeout)
                && let Some(engine) = engine.upgrade()
            {
                engine.increment_epoch();
            }
        });
        Self { _over: over }
    }
}
