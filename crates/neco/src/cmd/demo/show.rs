//! The demo, from the sample project to the proof.

use std::fs;
use std::path::Path;
use std::sync::Arc;

use neco_agent::{Budget, CapabilityLevel};
use neco_app::services::{self, ServiceSetup, Services};
use neco_app::workspace::sandbox;
use neco_config::{Config, Env};
use neco_model::Provider;
use neco_model::route::Timeouts;
use neco_model::scripted::ScriptedModel;
use neco_proto::{ApprovalMode, Command, Mode};
use neco_safety::Policy;
use neco_safety::command::Place;
use neco_sandbox::Ask;
use neco_session::SessionOptions;
use tempfile::TempDir;

use super::project::Project;
use super::script;
use crate::args::{EverywhereArgs, OutputFormat, RunArgs};
use crate::compose;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::print::diff::coloured;
use crate::print::paint::Paint;
use crate::run::drive::{Run, RunUi, see_through};
use crate::run::ends::Ends;
use crate::say;
use crate::terminal::Terminal;
use crate::tui;

/// Milliseconds that the scripted model takes to begin an answer when somebody watches.
const PACE: u64 = 120;

/// The same in the window, where it is read as it comes.
const WINDOW_PACE: u64 = 400;

/// Runs `neco demo`: in the window where there is a terminal for it and `plain` is not asked for.
///
/// # Errors
/// When the sample project can't be made or the demo can't begin.
pub fn run(keep: bool, plain: bool, env: &Env) -> Result<Exit, Failure> {
    let failed = |what: &str, error: std::io::Error| Failure::new(Exit::Failed, format!("{what}: {error}"));
    let terminal = Terminal::look_at(env);
    let folder = tempfile::Builder::new()
        .prefix("neco-demo-")
        .tempdir()
        .map_err(|error| failed("no temporary folder can be made", error))?;
    let project = Project::make(folder.path().join("project"), env.find_program("git"))
        .map_err(|error| failed("the sample project can't be written", error))?;
    let args = RunArgs { words: vec![script::TASK.to_owned()], ..RunArgs::default() };
    let window = !plain && tui::is_wanted(&args, env) && terminal.is_capable();
    let exit = if window {
        let home = folder.path().join("home");
        configure(&home).map_err(|error| failed("the settings of the demo can't be written", error))?;
        let place = project.folder().to_owned();
        let everywhere = EverywhereArgs { cwd: Some(place.clone()), ..EverywhereArgs::default() };
        tui::show(&args, &everywhere, place, Vec::new(), &env.moved_to(&home))?.1?
    } else {
        say::out(&opening(&project, terminal.stdout_paint()))?;
        work(&project, folder.path(), &terminal, env)?
    };
    let (printed, passed) = project.test().map_err(|error| failed("sh can't be run", error))?;
    say::out(&proof(&project, &printed, passed, terminal.stdout_paint()))?;
    if exit != Exit::Done {
        return Ok(exit);
    }
    say::out(&closing(folder, keep))?;
    // In the window a person may have left early, or said no.
    Ok(if passed || window { Exit::Done } else { Exit::Failed })
}

/// Writes the settings that the window of the demo has: the script, and no call beside it.
fn configure(home: &Path) -> std::io::Result<()> {
    fs::create_dir_all(home)?;
    let script = home.join("script.json");
    fs::write(&script, serde_json::to_string(&script::for_window(WINDOW_PACE))?)?;
    let settings = format!(
        "model = \"scripted/demo\"\n[model_providers.scripted]\nscript = {:?}\n[sessions]\nmodel_title = false\n\
         [memory]\nextract = false\n",
        script.display().to_string()
    );
    fs::write(home.join("config.toml"), settings)
}

/// The real loop, tools, policy and store, driven by a script.
fn work(project: &Project, folder: &Path, terminal: &Terminal, env: &Env) -> Result<Exit, Failure> {
    let pace = if terminal.stderr { PACE } else { 0 };
    let script = Arc::new(script::script(pace));
    let model: Arc<dyn Provider> = Arc::new(ScriptedModel::new("scripted", "demo", script, Timeouts::default()));
    let runtime = compose::runtime()?;
    let config = Config::built_in();
    let max_turns = config.agent.max_turns;
    let (services, session) = runtime.block_on(async {
        let data_dir = folder.join("data");
        let setup = ServiceSetup {
            policy: Policy::new(Place::new(project.folder()), Vec::new()),
            sandbox: Some(sandbox::open_with(&config, env, &data_dir, Ask::IfChanged)?),
            environment: services::environment(env),
            index_dir: services::index_dir(&data_dir),
            data_dir: data_dir.clone(),
            find_model: Arc::new(move |_| Ok(Arc::clone(&model))),
            ..ServiceSetup::bare(env, &config)
        };
        let services = Services::start(compose::open_store(&data_dir).await?, setup)?;
        let options = SessionOptions {
            model: None,
            default_model: "scripted/demo".to_owned(),
            mode: None,
            default_mode: Mode::Agent,
            generation: None,
            default_generation: CapabilityLevel::highest(),
            approval: ApprovalMode::Auto,
            person_present: false,
            interactive: false,
            max_turns,
            budget: Budget::default(),
        };
        let session = services.hub.create(project.folder(), options).await?;
        Ok::<_, Failure>((services, session))
    })?;
    let printer = terminal.printer(OutputFormat::Text);
    let asked = Command::UserMessage { content: script::TASK.to_owned(), attachments: Vec::new() };
    let (id, since, client) = (session.id(), session.first_seq(), Arc::new(session.clone()));
    let run = Run { id, client, since, write_all: std::future::ready(()) };
    let ui = RunUi { printer, person: None, ends: Ends::default() };
    let seen = see_through(&runtime, run, ui, asked, || false);
    let ends = async {
        session.close().await;
        services.leave().await
    };
    compose::stop(runtime, ends, seen)
}

fn opening(project: &Project, paint: Paint) -> String {
    let lines = [
        paint.bold("Neco demo: a sample project with a failing test, fixed in front of you."),
        paint.yellow(
            "The model is scripted: what it says was written beforehand. Loop, tools, policy and store are real.",
        ),
        paint.dim(&format!("project: {}", project.folder().display())),
        String::new(),
        paint.bold(&format!("> {}", script::TASK)),
    ];
    format!("{}\n", lines.join("\n"))
}

fn proof(project: &Project, printed: &str, passed: bool, paint: Paint) -> String {
    let mut text = String::new();
    if let Some(diff) = project.diff() {
        text.push_str(&format!("\n{}\n", paint.bold("What changed (git diff):")));
        diff.lines().for_each(|line| text.push_str(&format!("  {}\n", coloured(line, paint))));
    }
    text.push_str(&format!("\n{}\n", paint.bold("The test, run once more by the demo itself (sh test.sh):")));
    printed.lines().for_each(|line| text.push_str(&format!("  {line}\n")));
    text.push_str(&match passed {
        true => paint.green("  passes"),
        false => paint.red("  fails"),
    });
    text.push('\n');
    text
}

fn closing(folder: TempDir, keep: bool) -> String {
    let place = if keep {
        format!("The project is kept in {}.", folder.keep().join("project").display())
    } else {
        "The sample project was deleted; --keep keeps it.".to_owned()
    };
    format!(
        "\n{place}\n\nNow with a real model:\n  \
         neco login openai     adds a key (or anthropic, deepseek, …); OPENAI_API_KEY=… works too\n  \
         neco doctor           shows what is found: keys, and local servers such as Ollama\n  \
         cd your/project\n  \
         neco                  opens the window; neco -m \"…\" runs one task\n",
    )
}
