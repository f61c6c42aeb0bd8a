//! A scripted tool, as an agent has it.

use std::ffi::OsString;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use futures::future::BoxFuture;
use neco_proto::clean::clean;
use neco_proto::{Display, ErrorCode, ResultPart, Risk, ToolOrigin};
use neco_safety::world::{Allowance, Ending, Exit, Freedom, Launch, Leftovers, Processes, Stdin};
use neco_safety::{SideEffect, untrusted};
use neco_toolkit::schema::ArgumentSchema;
use neco_toolkit::{DynTool, OutputPart, Plan, PreparedCall, ToolContext, ToolError, ToolOutput};
use serde_json::{Value, json};
use tempfile::TempDir;

use super::arguments::ScriptArguments;
use super::error::ScriptError;
use super::interpreter;
use super::modules::{self, hash_of};
use super::run::{GRACE, NotRun, Outcome, Ran, run};
use super::script::{Code, Script};

/// What the scheduler's clock leaves us beyond our own, so that it is never first.
const SLACK: Duration = Duration::from_secs(15);

/// Lines of an output that a person is shown.
const SHOWN_LINES: usize = 20;

/// Characters of an argument in the line that tells of a call.
const SHOWN: usize = 60;

/// The tools of these scripts; `beside` is the folder of this program, where what runs WASM may lie.
pub fn tools(scripts: Vec<Script>, beside: Option<&Path>) -> Vec<Arc<dyn DynTool>> {
    let tool = |script: Script| -> Arc<dyn DynTool> {
        Arc::new(ScriptTool {
            origin: ToolOrigin::Script { path: script.file.clone() },
            description: untrusted::neutral(&script.description).into_owned(),
            schema: OnceLock::new(),
            beside: beside.map(Path::to_owned),
            script,
        })
    };
    scripts.into_iter().map(tool).collect()
}

/// A scripted tool.
struct ScriptTool {
    script: Script,
    origin: ToolOrigin,
    description: String,
    /// Its schema, once somebody asked.
    schema: OnceLock<ArgumentSchema>,
    beside: Option<PathBuf>,
}

impl ScriptTool {
    fn fitted(&self) -> &ArgumentSchema {
        self.schema.get_or_init(|| ArgumentSchema::new(self.script.parameters.clone()))
    }

    fn name(&self) -> String {
        self.script.name.clone()
    }

    /// What runs it. It asks the system.
    fn program(&self, processes: &dyn Processes) -> Result<PathBuf, ScriptError> {
        let (kind, text) = (self.script.kind, self.text());
        let found = interpreter::program(kind, text, &self.called(), processes, self.beside.as_deref());
        let needs = interpreter::named(kind);
        found.ok_or_else(|| ScriptError::NoInterpreter { tool: self.name(), needs, kind })
    }

    fn text(&self) -> &str {
        match &self.script.code {
            Code::Text { text, .. } => text,
            Code::Module { .. } => "",
        }
    }

    /// What it calls itself: its file, or its name.
    fn called(&self) -> OsString {
        match &self.script.code {
            Code::Text { path: Some(path), .. } | Code::Module { path, .. } => path.into(),
            Code::Text { path: None, .. } => OsString::from(&self.script.name),
        }
    }

    /// What is started, and the copy of a module that has to stay until it is over. Reads and writes files.
    fn launch(&self, told: &ScriptArguments, ctx: &ToolContext) -> Result<(Launch, Option<TempDir>), ScriptError> {
        let program = self.program(ctx.world.processes())?;
        let (called, copy) = match &self.script.code {
            Code::Text { .. } => (self.called(), None),
            Code::Module { path, hash } => {
                let (file, folder) = self.copied(path, hash, ctx.world.processes())?;
                (file.into_os_string(), Some(folder))
            }
        };
        let mut arguments = interpreter::given(self.script.kind, self.text(), &called, self.script.timeout + GRACE);
        arguments.extend(told.words.iter().cloned());
        let root = self.script.plugin.iter();
        let root = root.flat_map(|folder| ["NECO_PLUGIN_ROOT", "CLAUDE_PLUGIN_ROOT"].map(|name| (name, folder)));
        let root = root.map(|(name, folder)| (OsString::from(name), folder.clone().into_os_string()));
        let launch = Launch {
            program: program.into_os_string(),
            arguments,
            folder: ctx.world.files().workspace().to_path_buf(),
            stdin: Stdin::Piped,
            terminal: false,
            leftovers: Leftovers::End,
            variables: told.variables.iter().cloned().chain(root).collect(),
            errors: None,
        };
        Ok((launch, copy))
    }

    /// A copy of the module that was found, where what runs it sees it.
    fn copied(&self, path: &Path, hash: &str, processes: &dyn Processes) -> Result<(PathBuf, TempDir), ScriptError> {
        let prepare = |error| ScriptError::Prepare { tool: self.name(), error };
        let bytes = modules::read(path, false).map_err(|error| prepare(io::Error::other(error)))?;
        if hash_of(&bytes) != hash {
            return Err(ScriptError::Changed { tool: self.name(), path: path.display().to_string() });
        }
        let folder = tempfile::Builder::new().prefix("neco-tool-").tempdir_in(processes.temporary_folder());
        let folder = folder.map_err(prepare)?;
        let ending = path.extension().unwrap_or_default();
        let file = folder.path().join(&self.script.name).with_extension(ending);
        std::fs::write(&file, bytes).map_err(prepare)?;
        Ok((file, folder))
    }

    /// What came of a run, for the model and the person.
    fn output(&self, ran: Ran, summary: String) -> ToolOutput {
        let name = &self.script.name;
        let printed = clean(ran.printed.text.trim_end_matches('\n'));
        let errors = clean(&ran.errors);
        let (problem, exit_code) = match ran.outcome {
            Outcome::Ended(Ending { exit: Exit::Code(0), .. }) => (None, Some(0)),
            Outcome::Ended(Ending { exit, .. }) => {
                let words = format!("{name} {}{}", ending(exit), refused(&ran.refused_hosts));
                let code = if let Exit::Code(code) = exit { Some(code) } else { None };
                (Some(ToolError::failed(words)), code)
            }
            Outcome::TimedOut => {
                let (tool, file, limit) = (self.name(), self.script.file.clone(), self.script.timeout);
                (Some(ScriptError::TimedOut { tool, file, limit }.into()), None)
            }
            Outcome::Cancelled => (Some(ScriptError::Cancelled { tool: self.name() }.into()), None),
        };
        // Of one that failed its errors tell more, of one that did its work what it printed.
        let [first, second] = if problem.is_some() { [&errors, &printed] } else { [&printed, &errors] };
        let tail = last_lines(if first.is_empty() { second } else { first });
        let output = match problem {
            Some(error) => failure(error, name, &printed, &errors),
            None => success(name, printed, &errors),
        };
        let display = Display::Terminal { command: summary, tail, exit_code, background: None };
        let (spilled_to, acting) = (ran.printed.spilled_to, ran.acting);
        ToolOutput { display: Some(display), spilled_to, acting, ..output }
    }
}

/// What a script printed that did its work. JSON is kept as such for windows and programs.
fn success(name: &str, printed: String, errors: &str) -> ToolOutput {
    if printed.trim().is_empty() {
        return match errors.is_empty() {
            true => ToolOutput::text(format!("[{name} printed nothing]")),
            false => {
                let head = format!("[{name} printed nothing but this as errors]\n");
                let from = head.len();
                ToolOutput::text(head + errors).outside(from.., name)
            }
        };
    }
    let data = serde_json::from_str::<Value>(&printed).ok().filter(|value| value.is_object() || value.is_array());
    let data = data.map(|value| OutputPart::More(ResultPart::Data { value }));
    ToolOutput::of_parts(std::iter::once(OutputPart::Text(printed)).chain(data), name)
}

/// A failure with what the script said: what it printed, and at the end its errors.
fn failure(error: ToolError, name: &str, printed: &str, errors: &str) -> ToolOutput {
    let said = [printed, errors].into_iter().filter(|text| !text.is_empty()).collect::<Vec<_>>().join("\n");
    match said.is_empty() {
        true => {
            let words = format!("Error {}: {}", error.code, error.message);
            ToolOutput { error_code: Some(error.code), ..ToolOutput::text(words) }
        }
        false => ToolOutput::failure(&ToolError { message: format!("{}:", error.message), ..error }, &said, name),
    }
}

/// What a person is shown of an output: its end.
fn last_lines(text: &str) -> String {
    let lines: Vec<&str> = text.lines().collect();
    lines.get(lines.len().saturating_sub(SHOWN_LINES)..).unwrap_or_default().join("\n")
}

fn ending(exit: Exit) -> String {
    match exit {
        Exit::Code(code) => format!("failed with exit code {code}"),
        Exit::Signal(signal) => format!("was killed by signal {signal}"),
        Exit::Unknown => "ended, nobody knows how".to_owned(),
    }
}

/// What is said of hosts that the box did not let through.
fn refused(hosts: &[String]) -> String {
    match hosts.is_empty() {
        true => String::new(),
        false => format!(
            " (the sandbox did not let it reach {}; `network = true` where it is defined asks the user for that)",
            hosts.join(", ")
        ),
    }
}

impl DynTool for ScriptTool {
    fn name(&self) -> &str {
        &self.script.name
    }

    fn description(&self) -> &str {
        &self.description
    }

    fn schema(&self) -> &Value {
        self.fitted().declared()
    }

    fn most_touch(&self) -> SideEffect {
        SideEffect::Runs
    }

    fn origin(&self) -> &ToolOrigin {
        &self.origin
    }

    fn prepare(self: Arc<Self>, mut arguments: Value) -> Result<Box<dyn PreparedCall>, ToolError> {
        if arguments.is_null() {
            arguments = json!({});
        }
        let notes = self.fitted().fit(&mut arguments)?;
        if !arguments.is_object() {
            return Err(ToolError::new(ErrorCode::InvalidArguments, "the arguments must be an object"));
        }
        Ok(Box::new(ScriptCall { tool: self, arguments, notes }))
    }
}

/// A call of a scripted tool.
struct ScriptCall {
    tool: Arc<ScriptTool>,
    arguments: Value,
    notes: Vec<String>,
}

impl PreparedCall for ScriptCall {
    fn touch(&self) -> SideEffect {
        SideEffect::Runs
    }

    fn timeout(&self) -> Option<Duration> {
        Some(self.tool.script.timeout + GRACE + SLACK)
    }

    fn summary(&self) -> String {
        let arguments = self.arguments.as_object().into_iter().flatten();
        let shown = |value: &Value| {
            let text = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
            let cut: String = text.chars().take(SHOWN).collect();
            if cut.len() < text.len() { format!("{cut}…") } else { text }
        };
        let arguments: Vec<String> = arguments.map(|(name, value)| format!("{name}: {}", shown(value))).collect();
        format!("{} {}", self.tool.script.name, arguments.join(", ")).trim_end().to_owned()
    }

    fn arguments(&self) -> &Value {
        &self.arguments
    }

    fn notes(&self) -> &[String] {
        &self.notes
    }

    fn plan<'a>(&'a self, ctx: &'a ToolContext) -> BoxFuture<'a, Result<Plan, ToolError>> {
        Box::pin(async move {
            let (tool, world) = (Arc::clone(&self.tool), Arc::clone(&ctx.world));
            // Nobody is asked about what can't run.
            blocking(move || tool.program(world.processes())).await??;
            let script = &self.tool.script;
            let remarks = vec![format!("it is a script for {}, of {}", interpreter::named(script.kind), script.file)];
            if script.network && ctx.world.processes().is_boxed() {
                let because = Some("it reaches the network".to_owned());
                return Ok(Plan { because, freedom: Freedom::Network, remarks, ..Plan::of(Risk::Critical) });
            }
            Ok(Plan { remarks, ..Plan::of(Risk::Medium) })
        })
    }

    fn run(self: Box<Self>, ctx: ToolContext) -> BoxFuture<'static, Result<ToolOutput, ToolError>> {
        Box::pin(async move {
            let summary = self.summary();
            let ScriptCall { tool, arguments, .. } = *self;
            let told = ScriptArguments::new(&tool.script.parameters, &arguments);
            let (starting, context) = (Arc::clone(&tool), ctx.clone());
            let (told, launched) = blocking(move || {
                let launched = starting.launch(&told, &context);
                (told, launched)
            })
            .await?;
            let (launch, copy) = launched?;
            let freedom = if tool.script.network { Freedom::Network } else { Freedom::AsConfigured };
            let ran = run(launch, Allowance::from(freedom), told.json, tool.script.timeout, &ctx).await;
            if let Some(copy) = copy {
                // What can't be removed lies in a folder for temporary files.
                let _ = blocking(move || copy.close()).await;
            }
            let ran = ran.map_err(|error| match error {
                NotRun::Pipe(error) => ScriptError::Prepare { tool: tool.name(), error },
                NotRun::Spawn(error) => ScriptError::Start { tool: tool.name(), error },
            })?;
            Ok(tool.output(ran, summary))
        })
    }
}

async fn blocking<T: Send + 'static>(work: impl FnOnce() -> T + Send + 'static) -> Result<T, ToolError> {
    tokio::task::spawn_blocking(work).await.map_err(|error| ToolError::failed(error.to_string()))
}
